/** \file ar_measured.h
 * Measured collectives: the rows of logs that are used, what each of them ran, and on which
 * machine.
 *
 * A run of a log is the call of a library, which chooses how, or the messages of an algorithm that
 * the run or the request names. Runs that nobody models (links that were probed, algorithms without
 * a name here) and those of other machines are left out, counted by reason.
 */
#pragma once

#include "ar_arena.h"
#include "ar_cluster.h"
#include "ar_library_table.h"
#include "ar_link_fit.h"
#include "ar_log.h"
#include "ar_machine_factors.h"
#include "ar_scenario.h"

/** Asks for rows, and has the parameters of their predictions. Texts and lists are the caller's. */
struct ar_measured_request {
    const char *command; /**< begins error lines: `calibrate`, `compare` or the name of a set */
    const char *const *paths; /**< of the logs */
    size_t paths_count;
    size_t known_count; /**< the first of them are those of a measured set */
    FILE *notes;        /**< ar_row.h */
    const struct ar_called_list
        *called;                /**< names that libraries have for our algorithms; NULL: as here */
    const char *algorithm_name; /**< of runs that name none; NULL: the library's choice */
    bool is_messages;           /**< these are messages of that algorithm, not calls of a library */
    const char *system;         /**< runs of other systems are left out; NULL: none */
    uint32_t nodes;             /**< of runs that do not say theirs, and if they do not say their
                                     ranks either all GPUs of these; 0: not known */
    const uint64_t *log_nodes;  /**< the same, one for each path; NULL: `nodes` of all */
    uint32_t ranks_per_node;    /**< the same of other numbers; 0: none */
    uint32_t fitted_nodes_max;  /**< larger node counts are held out; 0: the largest one */
    const struct ar_machine_factors *factors; /**< of other machines; NULL: none */
    const struct ar_link_fit *links;          /**< of a fit to the same messages; NULL: none yet */
    const struct ar_scenario *scenario; /**< its cluster, settings and release; its window where it
                                             is set or the log has none; engine, algorithm and
                                             channels of a comparison */
};

/** A measured collective. */
struct ar_measured_row {
    const struct ar_log *run;
    const struct ar_operation *operation;
    bool is_call;                /**< of a library; else messages of an algorithm */
    bool is_known;               /**< of a measured set, not of the further files beside it */
    struct ar_library_row call;  /**< nodes, ranks, bytes and time, of messages too */
    struct ar_link_row messages; /**< without a collective: it is a call */
};

/** A cluster as some rows have it: so many GPUs of each node take part, and nodes are a torus of
 * these lengths (`4x4x4`); empty: as in the file. */
struct ar_measured_machine {
    struct ar_cluster *cluster;
    uint32_t gpus_per_node;
    const char *grid;
};

/** Why rows are left out. */
enum ar_measured_reason {
    AR_LEFT_OPERATION, /**< no operation here */
    AR_LEFT_ALGORITHM, /**< no algorithm here */
    AR_LEFT_ON_GPUS,   /**< buffers of MPI that the cluster does not have */
    AR_LEFT_RANKS,     /**< the algorithm is not modelled on so many */
    AR_LEFT_MACHINE,   /**< a shape of the nodes that no cluster here can have */
    AR_LEFT_SYSTEM,    /**< another machine, or other ranks per node */
    AR_LEFT_REASONS
};

/** The reasons in words. */
extern const char *const ar_measured_left_texts[AR_LEFT_REASONS];

/** Rows that are left out for one reason. */
struct ar_measured_left {
    size_t rows_count;
    const struct ar_log *first; /**< run of them */
    const char *why;            /**< what refused that run; NULL: nothing more is known */
};

struct ar_measured {
    const struct ar_measured_request *request; /**< that its rows are predicted by */
    const struct ar_logs **logs;               /**< of the paths of the request */
    size_t rows_capacity;                      /**< rows of all logs */
    struct ar_measured_row *rows;
    size_t rows_count;
    size_t calls_count;                            /**< of the rows; the others are messages */
    struct ar_measured_left left[AR_LEFT_REASONS]; /**< beside a set: of its further files */
    size_t empty_count;                            /**< rows left out, since they are of no bytes */
    struct ar_measured_machine *machines;          /**< of messages; the first one is the cluster */
    size_t machines_count;
    struct ar_library_nodes nodes, gpus; /**< node and GPU counts of the rows */
    bool is_by_gpus; /**< rows differ in their GPU counts: all are messages on one node count */
    char backend[AR_LOG_TEXT]; /**< of the harness, which ran them */
    char library[AR_LOG_TEXT]; /**< `NCCL 2.8.4`; empty if no log names it */
    char gpu[AR_LOG_TEXT];
};

/** Reads the logs and takes their collectives, by their times out of place. All is the arena's. A
 * run that cannot be used is an error, whatever else there is: wrong results, ranks or nodes that
 * are not known or that the cluster cannot have, GPUs or libraries that differ from those of other
 * runs. A run that names no algorithm is a call if the library has a model of its operation and the
 * request does not ask for messages; else messages of the request's algorithm, or of `linear`. */
enum ar_status ar_measured_load(const struct ar_measured_request *request,
                                struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_measured **measured, struct ar_error *err);

/** The counts by which rows are grouped, the count of a row, and the unit: `GPU` or `node`. */
const struct ar_library_nodes *ar_measured_groups(const struct ar_measured *measured);
uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_measured_row *row);
const char *ar_measured_unit(const struct ar_measured *measured);

/** The operation and algorithm of messages, `allreduce/ring`; returns `text`. */
enum { AR_MEASURED_ALGORITHM = 80 };
const char *ar_measured_algorithm(const struct ar_measured_row *row,
                                  char text[AR_MEASURED_ALGORITHM]);

/** Notes if runs are not of the release (may be NULL) of NCCL that choices and priors are of. */
void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes);
