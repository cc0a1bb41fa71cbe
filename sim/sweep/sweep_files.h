/** \file sweep_files.h
 * What a sweep leaves: DIR/sweep.csv with the steps, DIR/payload.csv with bare all-reduces, of
 * layouts DIR/layouts.csv, and the rows on stdout. Rows come from the journal, in the order of the
 * points; layouts by number of GPUs, the fastest first.
 */
#ifndef AR_SWEEP_FILES_H
#define AR_SWEEP_FILES_H

#include <stdbool.h>

#include "journal.h"
#include "space.h"

/** Points in the order of their rows. */
struct sweep_order {
    const uint32_t *points; /**< NULL: all, as they are */
    size_t count;
};

/** Of layouts all, sorted; else all as they are. */
enum ar_status sweep_sort(const struct space *space, const struct journal *journal,
                          struct ar_arena *arena, struct sweep_order *all, struct ar_error *err);

/** The fastest steps, one for each GPU count and combination of conditions (variants.h); of `all`
 * layouts, sorted, one for each GPU count. */
enum ar_status sweep_find_bests(const struct space *space, const struct journal *journal,
                                const struct sweep_order *all, struct ar_arena *arena,
                                struct sweep_order *bests, struct ar_error *err);

/** Writes the files, each whole or not at all and on the disk. A file of another sweep, of
 * which this one has no rows, goes. */
enum ar_status sweep_files_write(const char *directory, const struct space *space,
                                 const struct journal *journal, const struct sweep_order *all,
                                 struct ar_error *err);

/** Whether the files have a row for every point, each of which can be read and is no failure. */
bool sweep_files_are_whole(const char *directory, const struct space *space);

/** Writes rows to stdout. A table has a column in front for every axis with several values, but for
 * the engine, which it has anyway; of layouts the columns of these axes stay if it is too wide. */
enum ar_status sweep_print(const struct space *space, const struct journal *journal,
                           const struct ar_view *view, const struct sweep_order *order,
                           struct ar_error *err);

#endif
