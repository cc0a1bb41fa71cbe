/** \file ar_file.h
 * Files that are read whole, and output files that appear whole or not at all.
 *
 * ar_output_begin() opens a temporary file beside it, without a name, so that a process that is
 * killed leaves nothing; ar_output_commit() checks every write, copies it to PATH.PROCESS.tmp and
 * renames that; ar_output_abort() drops it.
 *
 * A full disk or an unwritable directory becomes one error line and leaves an existing file as it
 * was. What exists and is no regular file (a directory, a device, a pipe) is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_error.h"

/** Reads a file, also a pipe, of at most `max_bytes`; more is AR_BAD_DATA. `expected` ("a CSV
 * file") completes error lines. The text is the arena's, terminated, without a byte-order mark. */
enum ar_status ar_file_read(const char *path, size_t max_bytes, const char *expected,
                            struct ar_arena *arena, char **text, size_t *bytes,
                            struct ar_error *err);

/** Whether a name that a file gives is in its folder or below, so that none reads elsewhere. */
bool ar_file_is_below(const char *name);

/** The folder of the program, or of liballreckon if this code is in it, as far as it can be told:
 * "." if the program was found by PATH where there is no /proc. */
const char *ar_own_folder(void);

/** Finds a symbol of a module, a shared object beside the program or where it is installed, which
 * is loaded for itself and never unloaded. `what` begins error lines. */
enum ar_status ar_module_load(const char *what, const char *name, const char *symbol,
                              const void **found, struct ar_error *err);

/* --- writing ---------------------------------------------------------------------------------- */

struct ar_output {
    FILE *file; /**< where the caller writes; NULL: committed or aborted */
    char path[3800];
};

/** Opens a temporary file for `path`. What is not committed when the arena ends is dropped. */
enum ar_status ar_output_begin(const char *path, struct ar_arena *arena, struct ar_output **output,
                               struct ar_error *err);
/** The same in a directory, which is made if it is not there. */
enum ar_status ar_output_begin_in(const char *directory, const char *name, struct ar_arena *arena,
                                  struct ar_output **output, struct ar_error *err);

/** Finishes the file, while signals wait (ar_signals.h). */
enum ar_status ar_output_commit(struct ar_output *output, struct ar_error *err);

/** Drops the file, unless that or commit was done before. */
void ar_output_abort(struct ar_output *output);

/** Makes a directory and its missing parents; an existing directory is no error. */
enum ar_status ar_make_directory(const char *path, struct ar_error *err);

/* --- scratch directories ---------------------------------------------------------------------- */

/** Makes a directory in a folder, removed with the arena, the last one first. */
enum ar_status ar_scratch_make(const char *folder, struct ar_arena *arena, const char **path,
                               struct ar_error *err);
