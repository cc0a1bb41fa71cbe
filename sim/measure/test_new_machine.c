/* The shipped factors of new machines. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ar_new_machine.h"

#define SHIPPED AR_TEST_SOURCE_DIR "/validate/data/factors.csv"

static const struct ar_cluster_facts hopper = {.gpu_generation = AR_GPU_HOPPER,
                                               .hca_kind = AR_HCA_INFINIBAND};

Test(new_machine, shipped_factors_are_those_of_the_gpus)
{
    struct ar_cluster_facts blackwell = {.gpu_generation = AR_GPU_BLACKWELL};
    struct ar_machine_factors found, other;
    struct ar_error err = {.text = ""};
    cr_assert_eq(ar_machine_factors_read(SHIPPED, &hopper, &found, &err), AR_OK, "%s", err.text);
    cr_assert_eq(ar_machine_factors_read(SHIPPED, &blackwell, &other, &err), AR_OK);
    cr_expect_float_eq(found.calls.logs[AR_NODE_BANDWIDTH], 0, 0.1, "NCCL's rings are reached");
    cr_expect_lt(other.calls.logs[AR_NODE_BANDWIDTH], found.calls.logs[AR_NODE_BANDWIDTH]);
    cr_expect_float_eq(found.calls.logs[AR_NET_LATENCY], other.calls.logs[AR_NET_LATENCY], 1e-12,
                       "of the HCAs, not of the GPUs");
    cr_expect_gt(found.calls.spreads[AR_NET_LATENCY], 0);
}

Test(new_machine, a_file_without_a_factor_is_one_clear_line)
{
    char path[256];
    struct ar_machine_factors found;
    struct ar_error err = {.text = ""};
    snprintf(path, sizeof path, "%s/%d-factors.csv", AR_TEST_BINARY_DIR, (int)getpid());
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("part,parameter,class,factor,relative_standard_error,sets\n"
          "calls,ll.base,hopper,1,0.1,3\n",
          file);
    cr_assert_eq(fclose(file), 0);
    cr_expect_eq(ar_machine_factors_read(path, &hopper, &found, &err), AR_BAD_DATA);
    cr_expect_not_null(strstr(err.text, "found no factor of calls ll128.base for hopper"), "%s",
                       err.text);
    remove(path);
}
