#include <criterion/criterion.h>

#include "ar_gsl.h"

Test(gsl, codes_become_statuses_with_what_was_done)
{
    struct ar_error err = {.text = ""};
    cr_expect_eq(ar_gsl_status(GSL_SUCCESS, "a sum", &err), AR_OK);
    cr_expect_str_empty(err.text);
    cr_expect_eq(ar_gsl_status(GSL_EDOM, "a sum", &err), AR_INTERNAL);
    cr_expect_str_eq(err.text, "a sum: input domain error");
}

Test(gsl, the_same_seed_gives_the_same_draws)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    gsl_rng *a = ar_gsl_generator(&arena, 7), *b = ar_gsl_generator(&arena, 7);
    for (int i = 0; i < 100; i++) {
        cr_expect_eq(gsl_rng_get(a), gsl_rng_get(b));
    }
}
