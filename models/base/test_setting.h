/** \file test_setting.h
 * For tests: settings of texts.
 */
#pragma once

#include "ar_text.h"

/** Settings of the command line option `where`, written to `list`, which has room for them. */
static inline struct ar_settings ar_settings_of_option(const char *where, const char *const *texts,
                                                       size_t count, struct ar_setting *list)
{
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct ar_setting){texts[i], where, AR_USAGE};
    }
    return (struct ar_settings){list, count};
}
