/** \file sweep.h
 * A sweep: the rows of all points of a space, computed by a pool, kept in a journal, then written.
 */
#pragma once

#include "ar_pool.h"
#include "journal.h"
#include "ranks.h"
#include "space.h"

/** How the points are computed, and where their rows go. */
struct sweep_request {
    FILE *notes;           /**< ar_row.h */
    bool shows_progress;   /**< ar_pool.h */
    const char *directory; /**< of the files; NULL: none are written */
    const char *mark;      /**< same for same rows; with a directory */
    bool resumes;          /**< what an earlier sweep left there */
    bool forces;           /**< the journal of another sweep gives way */
    bool is_complete;      /**< all rows are in the files: there is nothing to do */
    bool is_best;          /**< stdout gets the best rows only */
    struct ar_view view;   /**< of stdout */
    const char **known;    /**< [point]: a row that an earlier round computed, or NULL; NULL: there
                                was no earlier round */
    size_t planned_count;  /**< layouts of the first rounds of a plan */
    size_t slow_count;     /**< of them: not looked at, since they compute longer than the
                                fastest steps take */
    uint32_t jobs;         /**< worker processes of this process */
    struct launcher launcher;
    /** Adds to the files, when they are there and before rows are printed. */
    enum ar_status (*sign)(void *context, struct ar_error *err);
    void *context;
    /** Takes the rows in place of stdout, in their order and before files are written, with the
     * scenario of each, which lasts as long as the call; NULL: they are printed. */
    enum ar_status (*take)(void *taker, const struct ar_row *row,
                           const struct ar_scenario *scenario, struct ar_error *err);
    void *taker;
};

/** A sweep while it runs, in the one process or the rank 0 that keeps its rows. */
struct sweep {
    const struct sweep_request *request;
    struct space *space;
    struct ar_pool_work
        work; /**< the points; an answer is a status, as a byte, and a row as a line */
    struct ar_pool_queue queue;
    size_t missing_count; /**< points without a row when it began */
    struct journal journal;
    struct ranks *ranks; /**< NULL: there is one process */
    /** In a worker: what is known of the messages of the point that was computed last. */
    struct ar_arena known_arena;
    struct ar_known known;
    struct point known_of;
    struct ar_layout known_layout;
    uint32_t known_cluster; /**< number of its variants */
    struct ar_arena arena;
};

/** Computes and writes the rows of a space. With a launcher every rank calls it, also one whose
 * space failed (`status` and `err`): see ranks_run(). */
enum ar_status sweep_run(const struct sweep_request *request, struct space *space,
                         enum ar_status status, struct ar_error *err);

/** Computes the rows of a space in this process and its workers, and keeps them in the sweep's
 * journal. Freed with sweep_close(), also after a failure. */
enum ar_status sweep_compute(const struct sweep_request *request, struct space *space,
                             struct sweep *sweep, struct ar_error *err);

/** Computes all rounds of a plan but the last one. The space has a layout of each mesh before, and
 * more layouts of the fast meshes behind each round. Rows that are known then are put into the
 * request; their memory is the arena's. */
enum ar_status sweep_plan(struct sweep_request *request, struct space_request *points,
                          struct space *space, struct ar_arena *arena, struct ar_error *err);

/** Opens the journal, finds out which points are missing, and says how long they will take on so
 * many processes. Freed with sweep_close(), also after a failure. */
enum ar_status sweep_open(struct sweep *sweep, uint32_t processes, struct ar_error *err);

/** Prints the rows that are there of an interrupted sweep, and reports what is left of it. */
enum ar_status sweep_report_interrupt(struct sweep *sweep, struct ar_error *err);

/** Writes files and output when all points have their row; fails if a point failed. Steps go to
 * DIR/sweep.csv and bare collectives beside them to DIR/payload.csv, in the order of the points;
 * layouts to DIR/layouts.csv, by number of GPUs, the fastest first. A file is whole or not there;
 * one that this sweep has no rows for is removed. The journal goes before rows are printed, unless
 * a point failed. */
enum ar_status sweep_finish(struct sweep *sweep, struct ar_error *err);

void sweep_close(struct sweep *sweep, bool is_finished);
