/** \file ar_measured.h
 * The measured collectives of the logs of a command line, checked against each other and against a
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

/** A measured collective: the call of a library that chooses how, or the messages of an algorithm
 * that the row names. */
struct ar_measured_row {
    const struct ar_log *run;
    const struct ar_log_row *row;
    const struct ar_operation *operation;
    bool is_call;
    /** Nodes, ranks, bytes and time, of messages too. */
    struct ar_library_row call;
    struct ar_link_row messages; /**< those of an algorithm; NULL: it is a call */
    size_t path;                 /**< place of its file among those of the request */
};

/** A cluster as some rows have it: so many GPUs of each node take part, and nodes are a torus of
 * these lengths (`4x4x4`); empty: as in the file. */
struct ar_measured_machine {
    struct ar_cluster *cluster;
    uint32_t gpus_per_node;
    const char *grid;
};

/** What becomes of a run: why its rows are left out, or calls, messages. */
enum measured_kind {
    MEASURED_NO_OPERATION,
    MEASURED_NO_ALGORITHM,
    MEASURED_ON_GPUS,      /**< buffers of MPI that the cluster does not have */
    MEASURED_OTHER_RANKS,  /**< the algorithm is not modelled on so many */
    MEASURED_OTHER_SYSTEM, /**< another machine, or other ranks per node */
    MEASURED_REASONS,
    MEASURED_CALL = MEASURED_REASONS,
    MEASURED_MESSAGES,
    MEASURED_UNUSED /**< the harness ran something else */
};
/** What is left out for a reason, in words. */
extern const char *const ar_measured_left_texts[MEASURED_REASONS];

/** Rows that are left out for one reason. */
struct ar_measured_left {
    size_t rows_count;
    const struct ar_log *first; /**< run of them */
};

struct ar_measured {
    const struct ar_logs **logs; /**< of the paths of the request */
    bool is_pair;                /**< they are of messages between two processes */
    size_t rows_capacity;        /**< rows of all logs */
    struct ar_measured_row *rows;
    size_t rows_count;
    size_t calls_count; /**< of the rows; the others are messages */
    /** Rows left out, by why; behind known paths, of the others. */
    struct ar_measured_left left[MEASURED_REASONS];
    size_t empty_count; /**< rows left out, since they are of no bytes */
    struct ar_measured_run *runs;
    size_t runs_count;
    struct ar_measured_machine *machines; /**< of messages; the first one is the cluster */
    size_t machines_count;
    struct ar_library_nodes nodes; /**< node counts of the rows */
    struct ar_library_nodes gpus;  /**< GPU counts */
    /** Rows are told apart by their GPU counts, since they are of one node count and all are
     * messages; else by their node counts. */
    bool is_by_gpus;
    const struct ar_library_nodes *groups; /**< those counts */
    const char *unit;                      /**< what they are of: `GPU` or `node` */
    char backend[AR_LOG_TEXT];             /**< of the harness: what ran them */
    char library[AR_LOG_TEXT];             /**< `NCCL 2.8.4`; empty if no log says it */
    char gpu[AR_LOG_TEXT];
    const char *time; /**< `out-of-place`, ... */
};

/** Loads the logs that are the command's arguments, once, since they may be pipes; no rows or runs
 * are taken yet. All is the arena's. */
enum ar_status ar_measured_load(const struct ar_calibrate_request *request, struct ar_arena *arena,
                                struct ar_measured **measured, struct ar_error *err);

/** Takes the collectives of the logs. A run that cannot be used is an error, whatever else there
 * is: wrong results, a log that is cut off, ranks or nodes that it does not say or that the cluster
 * cannot have, GPUs or libraries that differ from those of other runs. A run of a library is a call
 * if the library has a model of its operation (ar_library_call_find()) and the request names no
 * algorithm; all else are messages: of the request's algorithm, of the one that the row names, by
 * our name or by that of `request->called`, else of what grouped sends do at once (`linear`). What
 * nobody models (links that were probed, algorithms without a name here) is left out and noted, as
 * is what the request's system and ranks per node leave out. */
enum ar_status ar_measured_take(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_measured *measured, struct ar_error *err);

/** Adds the rows of a run to those that are left out for a reason. */
void ar_measured_leave(struct ar_measured_left *left, const struct ar_log *run);

/** Notes how many rows are left out for a reason, if any are, and the first run of them. */
void ar_measured_note_left(const char *command, enum measured_kind reason,
                           const struct ar_measured_left *left, FILE *notes);

/** Whether a run is of the request's system and ranks per node. Beside the rows of a set it has to
 * say so, else it may name no system. */
bool ar_measured_takes(const struct ar_calibrate_request *request, const struct ar_log *run);

/** The count of a row that tells it apart. */
uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_measured_row *row);

enum { AR_MEASURED_ALGORITHM = 80 };

/** The operation and algorithm of messages, `allreduce/ring`; returns `text`. */
const char *ar_measured_algorithm(const struct ar_measured_row *row,
                                  char text[AR_MEASURED_ALGORITHM]);

/** What a row ran, `torus2d 4x2`; NULL of a call. The arena's. */
const char *ar_measured_choice(const struct ar_measured_row *row, struct ar_arena *arena);

/** Notes which runs are used, and if they are not of the release of NCCL that choices and priors
 * are of; `release` may be NULL. */
void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes);

/* --- for measured.c ------------------------------------------------------------------------ */

/** Sorts a run; of messages writes the collective, on a machine that `measured` then has. */
enum ar_status measured_collective(const struct ar_calibrate_request *request,
                                   const struct ar_logs *logs, const struct ar_log *run,
                                   struct ar_cluster *cluster, struct ar_arena *arena,
                                   struct ar_measured *measured, enum measured_kind *kind,
                                   struct ar_collective *collective, struct ar_error *err);

/** Refuses rows of several machines, which are not of one cluster. */
enum ar_status measured_check_systems(const struct ar_calibrate_request *request,
                                      const struct ar_measured *measured, struct ar_error *err);

/** Where no row was taken: says why. */
enum ar_status measured_refuse_all(const struct ar_calibrate_request *request,
                                   const struct ar_measured *measured, struct ar_error *err);

/** The operation of a run; NULL: of none that is modelled. */
const struct ar_operation *measured_operation(const struct ar_log *run);

/** The HCAs of a node that so many of its GPUs (or processes) use. */
uint32_t measured_hcas(const struct ar_cluster_facts *facts, uint32_t gpus);

#endif
