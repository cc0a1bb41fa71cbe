#include "allreckon.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* One collective, whose time is asked for. */
static struct allreckon *begin(void)
{
    struct allreckon *prediction = allreckon_create();
    cr_assert_not_null(prediction);
    cr_assert_eq(allreckon_set(prediction, "cluster", "flat"), 0);
    cr_assert_eq(allreckon_set(prediction, "gpus", "8"), 0);
    cr_assert_eq(allreckon_set(prediction, "algorithm", "ring"), 0);
    cr_assert_eq(allreckon_set(prediction, "payload", "64MiB"), 0);
    return prediction;
}

Test(api, a_row_has_the_numbers_of_the_engine)
{
    struct allreckon *prediction = begin();
    cr_assert_eq(allreckon_run(prediction), 0, "%s", allreckon_error(prediction));
    double recurrence_s = allreckon_number(prediction, "allreduce_s");
    cr_assert_eq(allreckon_number(prediction, "gpus"), 8);
    cr_assert_str_eq(allreckon_text(prediction, "engine"), "recurrence");
    cr_assert_eq(allreckon_set(prediction, "engine", "simgrid"), 0);
    cr_assert_eq(allreckon_run(prediction), 0, "%s", allreckon_error(prediction));
    cr_assert_str_eq(allreckon_text(prediction, "engine"), "simgrid");
    cr_assert_float_eq(allreckon_number(prediction, "allreduce_s"), recurrence_s,
                       1e-6 * recurrence_s);
    allreckon_destroy(prediction);
}

Test(api, a_key_is_replaced_taken_back_or_repeated)
{
    struct allreckon *prediction = begin();
    cr_assert_eq(allreckon_run(prediction), 0);
    double one_s = allreckon_number(prediction, "allreduce_s");
    allreckon_set(prediction, "set", "hca.bandwidth=1GB/s");
    allreckon_set(prediction, "set", "net.latency=1ms");
    cr_assert_eq(allreckon_run(prediction), 0, "%s", allreckon_error(prediction));
    cr_assert_str_eq(allreckon_text(prediction, "settings"), "hca.bandwidth=1GB/s net.latency=1ms");
    cr_assert_gt(allreckon_number(prediction, "allreduce_s"), one_s);
    allreckon_set(prediction, "set", NULL);
    cr_assert_eq(allreckon_run(prediction), 0);
    cr_assert_eq(allreckon_number(prediction, "allreduce_s"), one_s);
    allreckon_set(prediction, "gpus", "16");
    cr_assert_eq(allreckon_run(prediction), 0);
    cr_assert_eq(allreckon_number(prediction, "gpus"), 16);
    allreckon_destroy(prediction);
}

Test(api, what_is_wrong_is_said_in_one_line)
{
    struct allreckon *prediction = begin();
    cr_assert_eq(allreckon_set(prediction, "gpu", "8"), 64);
    cr_assert_not_null(strstr(allreckon_error(prediction), "gpus"), "the nearest name");
    cr_assert_eq(allreckon_set(prediction, NULL, "8"), 64);
    cr_assert_not_null(strstr(allreckon_error(prediction), "found no key"));
    cr_assert(isnan(allreckon_number(prediction, NULL)));
    cr_assert_str_eq(allreckon_text(prediction, NULL), "");
    static const struct {
        const char *key, *text;
        int code;
        const char *fragment;
    } rows[] = {{"gpus", "8x", 64, "--gpus"},
                {"gpus", NULL, 64, "--gpus is missing"}, /* a caller is not ended */
                {"workload", "gpt3-175b", 64, "--"},
                {"cluster", "./no/such.topo", 66, "no/such.topo"},
                {"cluster", NULL, 64, "--cluster is missing"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(allreckon_set(prediction, rows[i].key, rows[i].text), 0);
        cr_expect_eq(allreckon_run(prediction), rows[i].code, "%zu", i);
        cr_expect_not_null(strstr(allreckon_error(prediction), rows[i].fragment), "%s",
                           allreckon_error(prediction));
        cr_expect(isnan(allreckon_number(prediction, "allreduce_s")), "no row of an earlier run");
    }
    allreckon_destroy(prediction);
}

Test(api, no_prediction_is_an_error_of_the_caller)
{
    cr_expect_eq(allreckon_set(NULL, "gpus", "8"), 64);
    cr_expect_eq(allreckon_run(NULL), 64);
    cr_expect_not_null(strstr(allreckon_error(NULL), "allreckon_create"));
    cr_expect_str_empty(allreckon_notes(NULL));
    cr_expect(isnan(allreckon_number(NULL, "gpus")));
    cr_expect_str_empty(allreckon_text(NULL, "cluster"));
    allreckon_destroy(NULL);
}

Test(api, names_can_be_listed)
{
    cr_assert_str_eq(allreckon_key(0), "cluster");
    size_t i = 0;
    while (allreckon_column(i) != NULL && strcmp(allreckon_column(i), "iteration_s") != 0) {
        i++;
    }
    cr_expect_not_null(allreckon_column(i));
    cr_expect_str_eq(ALLRECKON_VERSION, PROJECT_RELEASE, "of the header");
    cr_expect_str_eq(allreckon_version(), PROJECT_RELEASE, "of the library");
}

Test(api, notes_say_what_decides)
{
    struct allreckon *prediction = begin();
    allreckon_set(prediction, "payload", NULL);
    allreckon_set(prediction, "trace", "resnet50-v1.5");
    cr_assert_str_eq(allreckon_notes(prediction), "");
    cr_assert_eq(allreckon_run(prediction), 0, "%s", allreckon_error(prediction));
    cr_assert_not_null(strstr(allreckon_notes(prediction), "--framework typical"));
    cr_assert_gt(allreckon_number(prediction, "efficiency_frac"), 0);
    cr_assert(isnan(allreckon_number(prediction, "busbw_Bps")));
    cr_assert(isnan(allreckon_number(prediction, "no_such_column")));
    allreckon_destroy(prediction);
}
