/** \file test_kineto.h
 * Fixtures as texts, whole or changed.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "ar_file.h"
#include "test_outcome.h"

static inline const char *test_fixture(struct ar_arena *arena, const char *name)
{
    char *text;
    size_t bytes;
    char *path = ar_arena_format(arena, "%s/traces/profiles/fixtures/%s", AR_TEST_SOURCE_DIR, name);
    TEST_OK(ar_file_read(path, 1 << 20, "a fixture", arena, &text, &bytes, &why));
    return text;
}

/** A text in which every `from` is `to`. */
static inline char *test_changed(struct ar_arena *arena, const char *text, const char *from,
                                 const char *to)
{
    char *made = NULL;
    size_t bytes;
    FILE *file = open_memstream(&made, &bytes);
    for (const char *at; (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
        fwrite(text, 1, (size_t)(at - text), file);
        fputs(to, file);
    }
    fputs(text, file);
    fclose(file);
    return ar_arena_own(arena, made, free);
}
