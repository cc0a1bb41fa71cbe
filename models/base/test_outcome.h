/** \file test_outcome.h
 * For tests: calls that must succeed, and calls that must be refused with a line that says why.
 */
#pragma once

#include <criterion/criterion.h>
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
