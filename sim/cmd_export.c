/* export: what other programs read. */
#include <stdio.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_output.h"
#include "commands.h"
#include "plan.h"
#include "signals.h"

static enum ar_status write_platform(const struct ar_cluster *cluster, uint32_t nodes,
                                     const char *out, struct ar_error *err)
{
    struct ar_output output;
    struct signals before;
    if (out == NULL) {
        ar_cluster_write_simgrid(cluster, nodes, stdout);
        return AR_OK;
    }
    if (out[0] == '\0') {
        return ar_error_set(err, AR_USAGE, "--out: found \"\"; expected a file name");
    }
    signals_hold(NULL, &before);
    enum ar_status status = ar_output_open(out, &output, err);
    if (status == AR_OK) {
        ar_cluster_write_simgrid(cluster, nodes, output.file);
        status = ar_output_commit(&output, err);
    }
    signals_restore(&before);
    return status;
}

enum ar_status command_export(const struct options *options, struct ar_error *err)
{
    struct ar_cluster *cluster;
    uint32_t gpus;
    enum ar_status status = option_required(options, "format", options->format, err);
    if (status == AR_OK && strcmp(options->format, "simgrid-xml") != 0) {
        return ar_error_set(err, AR_USAGE, "--format: found \"%s\"; expected simgrid-xml",
                            options->format);
    }
    if (status == AR_OK) {
        status = option_required(options, "cluster", options->cluster, err);
    }
    if (status == AR_OK) {
        status = option_required(options, "gpus", options->gpus, err);
    }
    if (status == AR_OK) {
        status = plan_load_cluster(options, &cluster, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = plan_gpus(cluster, options->gpus, &gpus, err);
    uint32_t per_node = ar_cluster_facts(cluster)->gpus_per_node;
    uint32_t nodes = status == AR_OK ? (gpus + per_node - 1) / per_node : 0;
    if (status == AR_OK) {
        status = ar_cluster_check_reach(cluster, nodes * per_node, err);
    }
    if (status == AR_OK) {
        status = write_platform(cluster, nodes, options->out, err);
    }
    ar_cluster_destroy(cluster);
    return status;
}
