/** \file test_load.h
 * For tests: traces of shipped files and of given bytes.
 */
#ifndef AR_TRACES_TEST_LOAD_H
#define AR_TRACES_TEST_LOAD_H

#include "ar_trace.h"
#include "test_shipped.h"

/* A trace of a file and, if one is named, a cost table. */
static inline enum ar_status test_trace(const char *path, const char *cost_path,
                                        struct ar_trace_request request, struct ar_trace **trace,
                                        struct ar_error *err)
{
    struct ar_trace_file *file = NULL;
    struct ar_device_cost *cost = NULL;
    AR_TRY(ar_trace_file_load(path, &test_arena, &file, err));
    if (cost_path != NULL) {
        AR_TRY(ar_device_cost_load(cost_path, &test_arena, &cost, err));
    }
    return ar_trace_create(file, cost, &request, &test_arena, trace, err);
}

static inline enum ar_status test_load(const char *text, size_t bytes, struct ar_trace **trace,
                                       struct ar_error *err)
{
    const char *path = test_write("trace.csv", text, bytes);
    enum ar_status status = test_trace(path, SHIPPED("device/v100-sxm2.cost.csv"),
                                       (struct ar_trace_request){0}, trace, err);
    remove(path);
    return status;
}

/* Text that must be refused as bad data with `expected` in the error line. */
static inline void test_refused(const char *text, size_t bytes, const char *expected)
{
    struct ar_trace *trace = NULL;
    struct ar_error err = {.status = AR_OK};
    enum ar_status status = test_load(text, bytes, &trace, &err);
    cr_expect_eq(status, AR_BAD_DATA, "accepted, though \"%s\" was expected", expected);
    cr_expect_eq(err.status, status);
    cr_expect_null(trace);
    cr_expect_not_null(strstr(err.text, expected), "found \"%s\"\nwant  \"%s\"", err.text,
                       expected);
    cr_expect_null(strchr(err.text, '\n'));
}

#endif
