/** \file cmd_export.h
 * The formats of `export`.
 */
#ifndef AR_CMD_EXPORT_H
#define AR_CMD_EXPORT_H

#include "ar_graph_trial.h"
#include "ar_row.h"
#include "ar_scenario.h"
#include "options.h"

/** What is exported, and what writes it; of the rest each format has what it needs. */
struct export
{
    enum ar_status (*write)(FILE * file, const struct export *export, struct ar_error *err);
    const char *mark; /**< made_by.h */
    struct ar_arena *arena;
    const struct ar_cluster *cluster;
    uint32_t nodes;
    const struct ar_step *step;
    const uint32_t *workers; /**< of a step with servers */
    uint32_t workers_count;
    const struct ar_row *row;
    const struct ar_graph_trial *trial;
    const struct ar_scenario *scenario;
    FILE *notes;
};

/** Writes to --out, a file that appears whole or not at all, or to stdout. */
enum ar_status export_write(const struct options *options, const struct export *export,
                            struct ar_error *err);

enum ar_status export_goal(const struct options *options, struct ar_error *err);
enum ar_status export_astra(const struct options *options, struct ar_error *err);
enum ar_status export_msccl(const struct options *options, struct ar_error *err);
enum ar_status export_tuner(const struct options *options, struct ar_error *err);

#endif
