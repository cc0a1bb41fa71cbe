/** \file test_logs.h
 * For tests: logs from fixtures and from texts.
 */
#pragma once

#include <criterion/criterion.h>
#include <string.h>

#include "ar_log.h"
#include "test_outcome.h"

#define FIXTURE(file) AR_TEST_SOURCE_DIR "/traces/logs/fixtures/" file

static struct ar_arena test_arena;

/* Loads a fixture, which must be read without an error. */
static inline struct ar_logs *test_load(const char *path)
{
    struct ar_logs *logs = NULL;
    TEST_OK(ar_logs_load(path, &test_arena, &logs, &why));
    return logs;
}

/* Reads a text of `bytes` bytes as the file `x.log`, which must succeed. */
static inline struct ar_logs *test_parse(const char *text, size_t bytes)
{
    struct ar_logs *logs = NULL;
    TEST_OK(ar_logs_parse("x.log", text, bytes, &test_arena, &logs, &why));
    return logs;
}

/* An error is one line that holds `expected`. */
static inline void test_is_error(enum ar_status status, enum ar_status wanted,
                                 const struct ar_error *err, const char *expected)
{
    cr_assert_eq(status, wanted, "status %d instead of \"%s\"", (int)status, expected);
    cr_expect_eq(err->status, status);
    cr_expect_not_null(strstr(err->text, expected), "found \"%s\"\nwant  \"%s\"", err->text,
                       expected);
    cr_expect_null(strchr(err->text, '\n'));
}
