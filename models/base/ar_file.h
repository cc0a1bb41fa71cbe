/** \file ar_file.h
 * Reading a whole file; where the program's own files are.
 */
#ifndef AR_BASE_FILE_H
#define AR_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_arena.h"
#include "ar_error.h"

/** Reads a file, also a pipe, of at most `max_bytes`; more is AR_BAD_DATA. `expected` ("a CSV
 * file") completes error lines. The text is the arena's; it has no byte-order mark of UTF-8 and is
 * terminated. */
enum ar_status ar_file_read(const char *path, size_t max_bytes, const char *expected,
                            struct ar_arena *arena, char **text, size_t *bytes,
                            struct ar_error *err);

/** Whether a name that a file gives for another one stays in its folder or below: no file makes the
 * program read elsewhere. */
bool ar_file_is_below(const char *name);

/** Writes the folder of the program, or of liballreckon if this code is in it, as far as it can be
 * told: "." if the program was found by PATH where there is no /proc. */
enum { AR_OWN_FOLDER = 1024 };
void ar_own_folder(char folder[AR_OWN_FOLDER]);

#endif
