/* The shipped factors of new machines. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_new_machine.h"
#include "test_outcome.h"

static const struct ar_learnt_factor *find_factor(const struct ar_learnt_factor *rows, size_t count,
                                                  const char *parameter, const char *class)
{
    size_t i = 0;
    while (i < count &&
           (strcmp(rows[i].parameter, parameter) != 0 || strcmp(rows[i].class, class) != 0)) {
        i++;
    }
    cr_assert_lt(i, count, "%s of %s", parameter, class);
    return &rows[i];
}

Test(new_machine, shipped_factors_are_those_of_the_gpus)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv *csv;
    const char *path = AR_TEST_SOURCE_DIR "/validate/data/factors.csv";
    TEST_OK(ar_csv_load(path, &arena, &csv, &why));
    struct ar_learnt_factor *rows = ar_arena_alloc(&arena, csv->rows_count + 1, sizeof *rows);
    TEST_OK(ar_csv_read_rows(csv, ar_learnt_factor_columns, rows, sizeof *rows, &why));
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        bool is_of_net = ar_library_parameter_is_of_net((enum ar_library_parameter)i);
        bool is_of_kernel = i == AR_RAMP || i == AR_HALF || i == AR_FILL || i == AR_FILL_HALF;
        const char *class = is_of_kernel ? "nccl from 2.19" : is_of_net ? "infiniband" : "hopper";
        (void)find_factor(rows, csv->rows_count, ar_library_parameters[i].name, class);
    }
    const char *rings = ar_library_parameters[AR_NODE_BANDWIDTH].name;
    double hopper = find_factor(rows, csv->rows_count, rings, "hopper")->factor;
    cr_expect_float_eq(hopper, 1, 0.1, "NCCL's rings are reached");
    cr_expect_lt(find_factor(rows, csv->rows_count, rings, "blackwell")->factor, hopper);
    const char *ramp = ar_library_parameters[AR_RAMP].name;
    double old = find_factor(rows, csv->rows_count, ramp, "nccl below 2.19")->factor;
    cr_expect_lt(find_factor(rows, csv->rows_count, ramp, "nccl from 2.19")->factor, old);
}

Test(new_machine, shipped_factors_are_read_for_a_machine_and_its_kinds_of_rows)
{
    struct ar_error err = {.text = ""};
    struct ar_machine_factors factors;
    struct ar_cluster_facts facts = {.gpu_generation = AR_GPU_BLACKWELL};
    TEST_OK(ar_machine_factors_read(AR_TEST_SOURCE_DIR "/validate/data/", &facts,
                                    ar_release_default, &factors, &why));
    cr_expect_lt(factors.calls[AR_NODE_BANDWIDTH], 0);
    cr_expect_lt(factors.messages[AR_LINK_NVLINK_BANDWIDTH], 0);
    cr_expect_eq(factors.sets_count, 37);
    for (size_t k = 0; k < AR_MACHINE_KINDS; k++) {
        cr_expect_gt(factors.kinds[k].reach, 0, "%s", ar_learnt_kind_names[k]);
    }
    struct ar_measured_row row = {.is_call = false, .call.run = {.nodes = 1, .bytes = 1 << 20}};
    cr_expect(factors.kinds[ar_measured_kind(&row, AR_HCA_INFINIBAND)].has_factors,
              "all-to-all in a node");
    row.call.run.bytes /= 2;
    cr_expect_not(factors.kinds[ar_measured_kind(&row, AR_HCA_INFINIBAND)].has_factors,
                  "small all-to-all in a node");
    cr_expect_neq(ar_machine_factors_read("nowhere/", &facts, ar_release_default, &factors, &err),
                  AR_OK);
}
