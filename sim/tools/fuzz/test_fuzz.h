/** \file test_fuzz.h
 * What every reader of a user's file is fuzzed by: a row of a table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

#define FUZZ_TEXT(text) text, sizeof(text) - 1

/** An input: in memory, with a zero behind it, and as a file. */
struct fuzz_input {
    const char *path;
    const char *directory; /**< that the file is in */
    char *bytes;           /**< the arena's */
    size_t size;
    struct ar_arena *arena; /**< ends with the input */
};

/** Reads an input, and asserts what holds of all that is read. */
typedef enum ar_status fuzz_reader(const struct fuzz_input *input, struct ar_error *err);

struct fuzz_target {
    const char *name;
    const char *file;    /**< name of the input; NULL: it needs no file */
    fuzz_reader *read;   /**< NULL: the command runs */
    const char *command; /**< words with blanks between: `@` is the file,
                            `%` another one */
    const char *seeds;   /**< files, or with `*`, from the source folder on; blanks between */
};

/** Writes a file; makes a directory, or empties it. */
void fuzz_write(const char *path, const char *bytes, size_t size);
void fuzz_make_directory(const char *path);

/** Ended by a row without a name. */
extern const struct fuzz_target fuzz_targets[];
