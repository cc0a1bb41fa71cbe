/** \file ar_scratch.h
 * A directory for the files of another program, such as gnuplot, which want names.
 *
 * It goes with the arena, and so it does when SIGINT, SIGTERM or SIGHUP come meanwhile: they are
 * caught (ar_signals.h) until then. What a process left that was killed, the next one removes that
 * makes a directory in the same folder: while its process lives a directory is locked (flock).
 * Where the file system has no such locks of directories (NFS), it stays.
 */
#ifndef AR_BASE_SCRATCH_H
#define AR_BASE_SCRATCH_H

#include "ar_arena.h"
#include "ar_error.h"

/** Makes a directory in a folder. Directories are removed in the opposite order. */
enum ar_status ar_scratch_make(const char *folder, struct ar_arena *arena, const char **path,
                               struct ar_error *err);

#endif
