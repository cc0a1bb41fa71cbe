/** \file ar_page.h
 * One HTML file of the files that a command left in a directory: the answer in three bullets (what,
 * why, how sure), the main picture or a timeline, and, folded, other pictures, tables, parameters,
 * and the command that makes it again.
 *
 * The page needs nothing but itself: no network, no other file. Pictures are those of ar_plot.h,
 * whose points tell their values. Every number in the words is that of a row. Names, titles and
 * paths are escaped wherever they stand.
 *
 * | file            | becomes                                                          |
 * |-----------------|------------------------------------------------------------------|
 * | report.html     | the frame; `{{name}}` stands for a part that page.c writes       |
 * | report.css, .js | how it looks; sorting, filters, values under the pointer, zoom   |
 *
 * | in the directory                          | left by                              |
 * |-------------------------------------------|--------------------------------------|
 * | sweep.csv, payload.csv, layouts.csv       | sweep                                |
 * | step.csv                                  | predict, one collective              |
 * | step.csv, pipeline.csv, sent.csv          | explain                              |
 * | advice.csv, layouts.csv                   | advise, train of a model             |
 * | diagnose.csv                              | diagnose                             |
 * | train.csv                                 | train of a run file                  |
 * | reproduce.csv                              | reproduce                           |
 * | compare.csv, accuracy.csv                 | compare, of collectives              |
 * | layers.csv, kinds.csv                     | compare, of a trace                  |
 * | sets.csv                                  | accuracy                             |
 * | parameters.csv, command.txt               | any of them                          |
 */
#pragma once

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_record.h"

/** A published result, for readers of predictions of the same work on the same cluster. */
struct ar_page_run {
    const char *title, *cluster, *work; /**< work: a trace, a workload, or a run of `train` */
    const char *quantity;               /**< a column, such as `efficiency_frac` */
    double measured;                    /**< in the unit of the quantity */
    double gpus;                        /**< as many as no row has: not known */
};

struct ar_page_request {
    const char *directory;
    const char *out;                  /**< the page; replaced if it is there */
    const char *page_dir;             /**< where report.html and what belongs to it lie */
    const char *template_dir;         /**< templates of pictures (ar_plot.h) */
    const char *where;                /**< rows to show (ar_plot.h); NULL: all */
    const char *made_by;              /**< a comment in the page */
    const struct ar_columns *columns; /**< explain columns of the files; others have no help */
    size_t columns_count;
    const struct ar_page_run *runs;
    size_t runs_count;
};

struct ar_page {
    const char *answer;  /**< the bullets, one in a line, the arena's */
    const char *reasons; /**< why there are fewer pictures (ar_plot.h); NULL: all are there */
};

/** Writes the page, whole or not at all. Errors: AR_NO_INPUT (no directory, nothing in it that is
 * known), AR_BAD_DATA (a broken file), AR_USAGE (`where`), AR_IO, AR_NO_MEMORY, AR_INTERNAL. */
enum ar_status ar_page_write(const struct ar_page_request *request, struct ar_arena *arena,
                             struct ar_page *page, struct ar_error *err);
