/** \file sweep_files.h
 * What a sweep leaves: DIR/sweep.csv with the steps, DIR/payload.csv with bare all-reduces, and the
 * rows on stdout. Rows come from the journal, in the order of the points.
 */
#ifndef AR_SWEEP_FILES_H
#define AR_SWEEP_FILES_H

#include <stdbool.h>

#include "journal.h"
#include "space.h"

/** Writes the files, each whole or not at all and on the disk. payload.csv goes if it would have no
 * rows. */
enum ar_status sweep_files_write(const char *directory, const struct space *space,
                                 const struct journal *journal, struct ar_error *err);

/** The fastest steps, one for each GPU count and combination of conditions (variants.h). */
struct sweep_bests {
    const uint32_t *points;
    size_t count;
};

enum ar_status sweep_find_bests(const struct space *space, const struct journal *journal,
                                struct ar_arena *arena, struct sweep_bests *bests,
                                struct ar_error *err);

/** Writes all rows to stdout, or the best. A table has a column in front for every axis with
 * several values, but for the engine, which it has anyway. */
enum ar_status sweep_print(const struct space *space, const struct journal *journal,
                           const struct ar_view *view, const struct sweep_bests *bests,
                           struct ar_error *err);

#endif
