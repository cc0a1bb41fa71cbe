/** \file test_outcome.h
 * For tests, which have Criterion from here: calls that must succeed, calls that must be refused
 * with a line that says why, texts that are written, and files.
 */
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ar_error.h"

/** A call that must succeed; else the test ends with the error line. It is given `&why`, which is
 * declared here. */
#define TEST_OK(call)                                                                              \
    do {                                                                                           \
        struct ar_error why = {.text = ""};                                                        \
        cr_assert_eq(call, AR_OK, "%s", why.text);                                                 \
    } while (0)

/** The same of a call that must be refused by one line that has a fragment. */
#define TEST_FAILS(code, fragment, call)                                                           \
    do {                                                                                           \
        struct ar_error why = {.text = ""};                                                        \
        cr_expect_eq(call, code, "expected: %s", fragment);                                        \
        cr_expect_not_null(strstr(why.text, fragment), "found \"%s\"\nwant  \"%s\"", why.text,     \
                           fragment);                                                              \
        cr_expect_null(strchr(why.text, '\n'), "%s", why.text);                                    \
    } while (0)

/** The same of all texts of a list, each of which the call has as `given`. */
#define TEST_EACH_FAILS(code, fragment, texts, call)                                               \
    for (size_t text_at = 0; text_at < sizeof(texts) / sizeof *(texts); text_at++) {               \
        const char *given = (texts)[text_at];                                                      \
        TEST_FAILS(code, fragment, call);                                                          \
    }

/** The same of pairs of a text and the fragment of its line. */
#define TEST_PAIRS_FAIL(code, pairs, call)                                                         \
    for (size_t pair_at = 0; pair_at < sizeof(pairs) / sizeof *(pairs); pair_at++) {               \
        const char *given = (pairs)[pair_at][0];                                                   \
        TEST_FAILS(code, (pairs)[pair_at][1], call);                                               \
    }

/** The text that a call writes to `stream`, which is declared here; the test frees it. */
#define TEST_TEXT(text, call)                                                                      \
    do {                                                                                           \
        size_t text_bytes;                                                                         \
        FILE *stream = open_memstream(&(text), &text_bytes);                                       \
        cr_assert_not_null(stream);                                                                \
        call;                                                                                      \
        cr_assert_eq(fclose(stream), 0);                                                           \
    } while (0)

/** Writes a file. */
static inline void test_write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert(fputs(content, file) >= 0 && fclose(file) == 0);
}
