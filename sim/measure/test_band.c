/* The band of a published run whose prediction is linear in its unknown parameter. */
#include <stdio.h>

#include "reproduce.h"
#include "test_outcome.h"
#include "test_scenarios.h"

static void enter(void)
{
    scenarios_enter();
    test_write_file(scenarios_trace, "# batch = 10\n# precision = fp32\n"
                                     "layer,forward_s,backward_s,gradient_elements\n"
                                     "a,0.001,0.002,1000000\n"); /* no optimizer */
}

TestSuite(band, .init = enter, .fini = scenarios_leave);

/* One row, drawn as often as told: a ring of two on one switch, so that the step takes 2 latencies
 * and something else. */
static struct published reproduce_as(const char *quantity, const char *framework,
                                     const char *measured, const char *assume,
                                     uint32_t samples_count)
{
    struct ar_arena arena = {0};
    char text[2 * SCENARIOS_PATH];
    const struct ar_scenario given = ar_scenario_begin(&arena, ar_inputs_create(&arena));
    struct reproduction reproduction = {
        .arena = &arena, .samples_count = samples_count, .jobs = 1, .seed = 1};
    snprintf(text, sizeof text,
             "row,quantity,measured,measured_error,source,cluster,gpus,algorithm,engine,bucket,"
             "baseline,trace,framework,assume\n"
             "a,%s,%s,by hand,flat,2,ring,closed,one,gpu,%s,%s,%s\n",
             quantity, measured, scenarios_trace, framework, assume);
    test_write_file(scenarios_run, text);
    TEST_OK(published_read_file(scenarios_run, &given, &reproduction.rows, &why));
    TEST_OK(reproduce_run(&reproduction, &why));
    struct published result = reproduction.rows.rows[0]; /* its numbers */
    ar_arena_end(&arena);
    return result;
}

static struct published reproduce(const char *measured, const char *assume, uint32_t samples_count)
{
    return reproduce_as("iteration_s", "", measured, assume, samples_count);
}

/* The 2.5th percentile of 4000 draws has a standard deviation of 0.25 % of the range: four of them
 * are less than half of what lies between it and the 5th, or the 1st. */
Test(band, its_ends_are_the_percentiles_of_the_draws)
{
    double low_s = 3e-3 + 2 * 2e6 / 10e9; /* without latency; twice the row's at the other end */
    struct published result = reproduce("0.00342,0", "set.net.latency=0us..20us", 4000);
    double low_frac = (result.low - low_s) / 40e-6;
    double high_frac = (result.high - low_s) / 40e-6;
    cr_expect(fabs(low_frac - 0.025) < 0.01, "low end at %.4f", low_frac);
    cr_expect(fabs(high_frac - 0.975) < 0.01, "high end at %.4f", high_frac);
    cr_expect_float_eq(result.predicted, low_s + 2 * 10e-6, 1e-12);
    cr_expect_str_eq(result.inside, "yes");
}

Test(band, choices_are_drawn_alike)
{
    struct published result = reproduce("0.5,0", "set.net.latency=0s|1s", 400);
    double low_s = 3e-3 + 2 * 2e6 / 10e9;
    cr_expect_float_eq(result.low, low_s, 1e-9);
    cr_expect_float_eq(result.high, low_s + 2, 1e-9);
}

/* The row's own 10 us of latency lie below the range. */
Test(band, it_holds_the_prediction_of_a_row_that_takes_an_end)
{
    struct published low = reproduce("0.5,0", "set.net.latency=0.5s..1s", 40);
    struct published all = reproduce("0.5,0", "set.net.latency=0us..10us", 40);
    cr_expect_eq(low.low, low.predicted);
    cr_expect_gt(low.high, 1);
    cr_expect_eq(all.high, all.predicted);
    cr_expect_lt(all.low, all.predicted);
}

/* The prediction is 3 ms and 2 (10 us + 0.2 ms), without a band. */
Test(band, a_measured_value_is_inside_if_its_error_bar_reaches_the_band)
{
    cr_expect_str_eq(reproduce("0.00340,0.00005", "", 2).inside, "yes");
    cr_expect_str_eq(reproduce("0.00344,0.00005", "", 2).inside, "yes");
    cr_expect_str_eq(reproduce("0.00340,0.00001", "", 2).inside, "no");
    cr_expect_str_eq(reproduce("0.00344,0.00001", "", 2).inside, "no");
}

/* The shipped errors are of times; of a table's own rows those without them. */
Test(band, it_is_as_wide_as_published_steps_were_off)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_step_errors of_sony, all;
    TEST_OK(ar_step_errors_read(AR_STEP_OF_TRACE, "sony", &arena, &of_sony, &why));
    TEST_OK(ar_step_errors_read(AR_STEP_OF_TRACE, "mine", &arena, &all, &why));
    cr_expect_str_eq(of_sony.without, "sony");
    struct published step = reproduce_as("iteration_s", "typical", "1,0", "", 1);
    struct published rate = reproduce_as("samples_per_s", "typical", "1,0", "", 1);
    cr_expect_float_eq(step.high, step.predicted * all.high, 1e-9);
    cr_expect_float_eq(step.low, step.predicted * all.low, 1e-9);
    cr_expect_float_eq(rate.low, rate.predicted / all.high, 1e-6 * rate.predicted);
}

/* 39 rows of a table are 1 %, 2 %, ... slower than predicted, one of another 100 % faster, and what
 * was fitted or is of another class does not count. */
Test(band, tables_tell_of_each_others_errors_by_class)
{
    enum { ROWS = 39 };
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct published rows[ROWS + 3];
    for (int i = 0; i < ROWS + 3; i++) {
        rows[i] = (struct published){.table = i < ROWS ? "slow" : "fast",
                                     .gpu = i < ROWS ? "v100" : "a100",
                                     .class = AR_STEP_ON_V100,
                                     .predicted_s = 1,
                                     .measured_s = i < ROWS ? exp(0.01 * (i + 1)) : 0.5};
    }
    rows[ROWS + 1].fitted = "it";
    rows[ROWS + 2].class = AR_STEP_OF_TRACE;
    struct ar_step_errors *errors;
    size_t count;
    reproduce_errors(&(struct published_rows){.rows = rows, .count = ROWS + 3}, &arena, &errors,
                     &count);
    const struct ar_step_errors *all = &errors[count - 3], *slow = all + 2;
    cr_assert_str_eq(slow->without, "fast");
    cr_expect_eq(all->rows, ROWS + 1);
    cr_expect_eq(all->tables, 2);
    cr_expect_str_eq(all->gpus, "v100 a100");
    cr_expect_str_eq(slow->gpus, "v100");
    cr_expect_eq(all->low, 0.5, "each table counts alike");
    cr_expect_float_eq(slow->high, exp(0.39), 1e-9);
    cr_expect_float_eq(slow->half_high, exp(0.30), 1e-9);
    cr_expect_float_eq(slow->half_low, exp(0.10), 1e-9);
    cr_expect_float_eq(slow->low, exp(0.01), 1e-9);
    cr_expect(isnan(all[1].low), "one row");
}
