#include <criterion/criterion.h>

#include <pthread.h>

#include "ar_gsl.h"
#include "ar_hierarchy.h"

Test(gsl, codes_become_statuses_with_what_was_done)
{
    struct ar_error err = {.text = ""};
    cr_expect_eq(ar_gsl_status(GSL_SUCCESS, "a sum", &err), AR_OK);
    cr_expect_str_empty(err.text);
    cr_expect_eq(ar_gsl_status(GSL_EDOM, "a sum", &err), AR_INTERNAL);
    cr_expect_str_eq(err.text, "a sum: input domain error");
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { ROUNDS = 20000 };

static _Thread_local uint32_t calls_of_host;

static void handle_as_host(const char *reason, const char *file, int line, int code)
{
    (void)reason;
    (void)file;
    (void)line;
    (void)code;
    calls_of_host++;
}

/* A generator, and a covariance that has no root. Returns how often that was not found out. */
static void *fail_often(void *failures)
{
    const double number = -1, spread = 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        struct ar_hierarchy_group group = {.classes = {0}};
        ar_gsl_generator(&arena, 1);
        *(uint32_t *)failures += ar_hierarchy_group(1, &number, &number, &spread, NULL, &group,
                                                    AR_IGNORED) != AR_INTERNAL;
    }
    *(uint32_t *)failures += calls_of_host;
    return NULL;
}

/* A program with a handler of its own has two threads with predictions, and an error meanwhile. */
Test(gsl, threads_leave_the_handler_of_a_program_alone)
{
    pthread_t threads[2];
    uint32_t failures[2] = {0, 0};
    gsl_error_handler_t *before = gsl_set_error_handler(handle_as_host);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, fail_often, &failures[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(failures[i], 0);
    }
    cr_expect_eq(gsl_set_error_handler(before), handle_as_host);
}

static void *fail_beside(void *calls)
{
    gsl_error("beside", __FILE__, __LINE__, GSL_EDOM);
    *(uint32_t *)calls = calls_of_host;
    return NULL;
}

Test(gsl, errors_of_other_threads_go_to_the_handler_that_was_set)
{
    pthread_t thread;
    uint32_t calls = 0;
    gsl_set_error_handler(handle_as_host);
    struct ar_arena arena = {NULL};
    ar_gsl_hold(&arena);
    ar_gsl_begin();
    gsl_error("own", __FILE__, __LINE__, GSL_EDOM);
    cr_assert_eq(pthread_create(&thread, NULL, fail_beside, &calls), 0);
    pthread_join(thread, NULL);
    ar_gsl_end();
    ar_arena_end(&arena);
    cr_expect_eq(calls, 1);
    cr_expect_eq(calls_of_host, 0, "codes only");
    gsl_error("own", __FILE__, __LINE__, GSL_EDOM);
    cr_expect_eq(calls_of_host, 1, "back again");
    /* A handler that is set meanwhile stays. */
    ar_gsl_begin();
    gsl_set_error_handler(handle_as_host);
    ar_gsl_end();
    cr_expect_eq(gsl_set_error_handler(NULL), handle_as_host);
}
