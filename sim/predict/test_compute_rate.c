/* Compute times scaled to measured rates. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_scenario.h"

static struct ar_arena arena;

static struct compute_rates parsed(const char *text)
{
    struct compute_rates *rates;
    struct ar_error err;
    cr_assert_eq(compute_rates_parse("--x", text, &arena, &rates, &err), AR_OK, "%s", err.text);
    return *rates;
}

Test(compute_rate, a_list_is_read_in_any_order)
{
    struct compute_rates rates = parsed("64=1100.5,8=400,32=950");
    cr_assert_eq(rates.count, 3);
    cr_expect_eq(rates.list[0].batch, 8);
    cr_expect_eq(rates.list[1].batch, 32);
    cr_expect_eq(rates.list[2].batch, 64);
    cr_expect_eq(rates.list[2].samples_per_s, 1100.5);
}

Test(compute_rate, what_is_wrong_is_said_in_one_line)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", "--x: found \"\"; expected BATCH=SAMPLES_PER_S"},
        {"950", "found \"950\"; expected BATCH=SAMPLES_PER_S"},
        {"32=", "found \"32=\""},
        {"32=0", "found \"32=0\"; expected BATCH=SAMPLES_PER_S above zero"},
        {"32=-5", "found \"32=-5\""},
        {"32=many", "found \"32=many\""},
        {"32=nan", "found \"32=nan\""},
        {"32=1e999", "found \"32=1e999\""},
        {"0=950", "found \"0=950\""},
        {"3.5=950", "found \"3.5=950\""},
        {"32=950,", "found \"\""},
        {"32=950,,64=1100", "found \"\""},
        {"32=950,64=1100,32=951", "found batch 32 twice; expected it once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct compute_rates *rates = NULL;
        struct ar_error err = {.text = ""};
        cr_expect_eq(compute_rates_parse("--x", cases[i].text, &arena, &rates, &err), AR_USAGE,
                     "%s", cases[i].text);
        cr_expect_not_null(strstr(err.text, cases[i].expected), "found \"%s\"", err.text);
        cr_expect_null(strchr(err.text, '\n'));
        cr_expect_null(rates);
    }
}

Test(compute_rate, between_two_batches_the_factor_is_linear_in_the_logarithm_of_the_batch)
{
    struct compute_rates rates = parsed("16=1,64=1,256=1");
    rates.list[0].factor = 2;
    rates.list[1].factor = 1;
    rates.list[2].factor = 3;
    static const struct {
        uint32_t batch;
        double factor;
    } cases[] = {{1, 2}, {16, 2}, {32, 1.5}, {64, 1}, {128, 2}, {256, 3}, {1000, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_float_eq(compute_rates_factor(&rates, cases[i].batch), cases[i].factor, 1e-12,
                           "batch %u", cases[i].batch);
    }
}

Test(compute_rate, the_factor_makes_the_model_as_fast_as_what_was_measured)
{
    struct compute_rate rate = {.batch = 32, .samples_per_s = 800};
    compute_rate_set(&rate, 0.02); /* the model has 1600 samples/s */
    cr_expect_float_eq(rate.factor, 2, 1e-12);
    cr_expect_float_eq(32 / (rate.factor * 0.02), 800, 1e-9);
}
