/** \file test_setting_terms.h
 * For tests: terms of texts.
 */
#ifndef AR_TEST_SETTING_TERMS_H
#define AR_TEST_SETTING_TERMS_H

#include <criterion/criterion.h>

#include "ar_framework.h"

/* Sets the term of a text `KEY=VALUE`. */
static inline void test_set_term(struct ar_framework *framework, const char *text)
{
    const struct ar_setting setting = {text, "--term", AR_USAGE};
    struct ar_arena arena = {NULL};
    struct ar_framework *made = NULL;
    struct ar_error err = {.text = ""};
    cr_assert_eq(
        ar_framework_create(framework, (struct ar_settings){&setting, 1}, &arena, &made, &err),
        AR_OK, "%s", err.text);
    *framework = *made;
    ar_arena_end(&arena);
}

#endif
