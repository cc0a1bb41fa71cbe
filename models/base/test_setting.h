/** \file test_setting.h
 * For tests: settings of texts.
 */
#pragma once

#include <string.h>

#include "ar_arena.h"
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

/** The words of a text, with characters of `gaps` between them, as settings of an option. */
static inline struct ar_settings test_settings(const char *where, const char *words,
                                               const char *gaps, struct ar_arena *arena)
{
    struct ar_setting *list = ar_arena_alloc(arena, 1 + strlen(words), sizeof *list);
    char *rest = ar_arena_text(arena, words);
    size_t count = 0;
    for (char *word; (word = strtok_r(NULL, gaps, &rest)) != NULL;) {
        list[count++] = (struct ar_setting){word, where, AR_USAGE};
    }
    return (struct ar_settings){list, count};
}
