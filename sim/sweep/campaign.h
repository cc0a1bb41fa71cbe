/** \file campaign.h
 * The measured all-reduces of the logs of a command line, checked against each other and against a
 * cluster.
 */
#ifndef AR_CAMPAIGN_H
#define AR_CAMPAIGN_H

#include "ar_cluster.h"
#include "ar_library_table.h"
#include "ar_link_fit.h"
#include "ar_log.h"
#include "options.h"

/** One run that is used. */
struct campaign_run {
    const char *path;
    uint64_t line;
    uint32_t nodes;
    uint32_t ranks;
    size_t rows_count;
};

struct campaign {
    struct ar_library_row *rows;
    size_t rows_count;
    struct campaign_run *runs;
    size_t runs_count;
    /** The rows are of our own algorithms, and this is what each of them ran; else NULL. */
    struct ar_link_row *own;
    bool is_own;
    struct ar_library_nodes nodes; /**< node counts of the rows */
    struct ar_library_nodes gpus;  /**< of own algorithms: GPU counts of the rows */
    char backend[AR_LOG_TEXT];     /**< of own algorithms: what ran them */
    char library[AR_LOG_TEXT];     /**< `NCCL 2.8.4`; empty if no log says it */
    char gpu[AR_LOG_TEXT];
    const char *time; /**< `out-of-place`, ... */
};

/** Reads the logs that are the command's arguments. A run that cannot be used is an error, whatever
 * else there is: another collective, wrong results, a log that is cut off, ranks or nodes that it
 * does not say or that the cluster cannot have, GPUs or libraries that differ from those of other
 * runs. Files of the harness hold NCCL's own all-reduces (backend `nccl`) or our own algorithms
 * (all other backends); a campaign is of one kind, and the rest, links that were probed and
 * algorithms that NCCL was made to run, is named in a note. Freed with campaign_destroy(). */
enum ar_status campaign_read(const struct options *options, const struct ar_cluster *cluster,
                             struct campaign *campaign, struct ar_error *err);

void campaign_destroy(struct campaign *campaign);

/** Whether rows are told apart by their GPU counts, since they are of one node count and of our own
 * algorithms; else by their node counts. */
bool campaign_is_by_gpus(const struct campaign *campaign);

/** The counts that tell rows apart, and that of a row. */
const struct ar_library_nodes *campaign_groups(const struct campaign *campaign);
uint32_t campaign_group(const struct campaign *campaign, const struct ar_library_run *run);

/** Whether a run is of our own algorithms. */
bool campaign_run_is_own(const struct ar_log *run);

/** The collective of a run of our own algorithms. `window` is that of the log, 0 if it does not say
 * (then it is that of the options, or the standard one). AR_BAD_DATA for one that the cluster
 * cannot run as it ran. */
enum ar_status campaign_own_collective(const struct ar_log *run, uint32_t window,
                                       const struct options *options,
                                       const struct ar_cluster *cluster,
                                       struct ar_collective *collective, struct ar_error *err);

/** The window that a file of the harness says in its head; 0 if it does not. */
uint32_t campaign_own_window(const struct ar_logs *logs);

/** Writes to stdout which runs are used, as the member `runs` of a JSON object: a comma, the name,
 * an array. */
void campaign_write_json(const struct campaign *campaign);

/** Says on stderr which runs are used, unless `--quiet`. */
void campaign_note(const struct campaign *campaign, const char *release,
                   const struct options *options);

#endif
