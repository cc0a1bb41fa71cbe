/** \file test_shipped.h
 * For tests: shipped files, and files with given bytes.
 */
#ifndef AR_TRACES_TEST_SHIPPED_H
#define AR_TRACES_TEST_SHIPPED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ar_arena.h"

/* Ends with the test, which is a process. */
static struct ar_arena test_arena;

#define SHIPPED(file) AR_TEST_SOURCE_DIR "/traces/" file

/* Tests run in parallel processes, hence the process number in the name. */
static inline const char *test_write(const char *name, const char *text, size_t bytes)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%d-%s", AR_TEST_BINARY_DIR, (int)getpid(), name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, bytes, file), bytes);
    cr_assert_eq(fclose(file), 0);
    return path;
}

#endif
