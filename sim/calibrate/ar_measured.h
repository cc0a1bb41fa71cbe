/** \file ar_measured.h
 * The measured all-reduces of the logs of a command line, checked against each other and against a
 * cluster.
 */
#ifndef AR_MEASURED_H
#define AR_MEASURED_H

#include "ar_arena.h"
#include "ar_calibrate.h"
#include "ar_cluster.h"
#include "ar_library_table.h"
#include "ar_link_fit.h"
#include "ar_log.h"

/** One run that is used. */
struct ar_measured_run {
    const char *path;
    uint64_t line;
    uint32_t nodes;
    uint32_t ranks;
    size_t rows_count;
};

struct ar_measured {
    const struct ar_logs **logs; /**< of the paths of the request */
    bool is_pair;                /**< they are of messages between two processes */
    size_t rows_capacity;        /**< rows of all logs */
    struct ar_library_row *rows;
    size_t rows_count;
    struct ar_measured_run *runs;
    size_t runs_count;
    bool is_own;                   /**< the rows are of our own algorithms, */
    struct ar_link_row *own;       /**< and this is what each of them ran */
    struct ar_library_nodes nodes; /**< node counts of the rows */
    struct ar_library_nodes gpus;  /**< of own algorithms: GPU counts of the rows */
    /** Rows are told apart by their GPU counts, since they are of one node count and of our own
     * algorithms; else by their node counts. */
    bool is_by_gpus;
    const struct ar_library_nodes *groups; /**< those counts */
    const char *unit;                      /**< what they are of: `GPU` or `node` */
    char backend[AR_LOG_TEXT];             /**< of own algorithms: what ran them */
    char library[AR_LOG_TEXT];             /**< `NCCL 2.8.4`; empty if no log says it */
    char gpu[AR_LOG_TEXT];
    const char *time; /**< `out-of-place`, ... */
};

/** Loads the logs that are the command's arguments, once, since they may be pipes; no rows or runs
 * are taken yet. All is the arena's. */
enum ar_status ar_measured_load(const struct ar_calibrate_request *request, struct ar_arena *arena,
                                struct ar_measured **measured, struct ar_error *err);

/** Takes the all-reduces of the logs. A run that cannot be used is an error, whatever else there
 * is: another collective, wrong results, a log that is cut off, ranks or nodes that it does not say
 * or that the cluster cannot have, GPUs or libraries that differ from those of other runs. Files of
 * the harness hold NCCL's own all-reduces (backend `nccl`) or our own algorithms (all other
 * backends); they are of one kind, and the rest, links that were probed and algorithms that NCCL
 * was made to run, is named in a note. */
enum ar_status ar_measured_take(const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_measured *measured,
                                struct ar_error *err);

/** The count of a row that tells it apart. */
uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_library_run *run);

/** Whether a run is of our own algorithms. */
bool measured_run_is_own(const struct ar_log *run);

/** The collective of a run of our own algorithms. AR_BAD_DATA for one that the cluster cannot run
 * as it ran. */
enum ar_status measured_own_collective(const struct ar_log *run, uint32_t window,
                                       const struct ar_cluster *cluster,
                                       struct ar_collective *collective, struct ar_error *err);

/** The window that a file of the harness says in its head; 0 if it does not. */
uint32_t measured_own_window(const struct ar_logs *logs);

/** Notes which runs are used, and if they are not of the release of NCCL that choices and priors
 * are of; `release` may be NULL. */
void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes);

#endif
