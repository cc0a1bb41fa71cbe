/** \file campaign.h
 * The measured all-reduces of the logs of a command line, checked against each other and against a
 * cluster.
 */
#ifndef AR_CAMPAIGN_H
#define AR_CAMPAIGN_H

#include "ar_cluster.h"
#include "ar_library_table.h"
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
    struct ar_library_nodes nodes; /**< node counts of the rows */
    char library[AR_LOG_TEXT];     /**< `NCCL 2.8.4`; empty if no log says it */
    char gpu[AR_LOG_TEXT];
    const char *time; /**< `out-of-place`, ... */
};

/** Reads the logs that are the command's arguments. A run that cannot be used is an error, whatever
 * else there is: another collective, wrong results, a log that is cut off, ranks or nodes that it
 * does not say or that the cluster cannot have, GPUs or libraries that differ from those of other
 * runs. Of files of the harness only NCCL's own all-reduces are used, the rest is named in a note.
 * Freed with campaign_destroy(). */
enum ar_status campaign_read(const struct options *options, const struct ar_cluster *cluster,
                             struct campaign *campaign, struct ar_error *err);

void campaign_destroy(struct campaign *campaign);

/** Says on stderr which runs are used, unless `--quiet`. */
void campaign_note(const struct campaign *campaign, const struct options *options);

#endif
