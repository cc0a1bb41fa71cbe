/* export: what other programs read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_output.h"
#include "ar_units.h"
#include "commands.h"
#include "resource.h"

static enum ar_status write_platform(const struct ar_cluster *cluster, uint32_t nodes,
                                     const char *out, struct ar_error *err)
{
    struct ar_output output;
    if (out == NULL) {
        ar_cluster_write_simgrid(cluster, nodes, stdout);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            return ar_error_set(err, AR_IO, "cannot write to stdout: %s", strerror(errno));
        }
        return AR_OK;
    }
    enum ar_status status = ar_output_open(out, &output, err);
    if (status != AR_OK) {
        return status;
    }
    ar_cluster_write_simgrid(cluster, nodes, output.file);
    return ar_output_commit(&output, err);
}

static enum ar_status count_nodes(const struct ar_cluster *cluster, const char *gpus_text,
                                  uint32_t *nodes, struct ar_error *err)
{
    uint64_t gpus;
    uint32_t per_node = ar_cluster_facts(cluster)->gpus_per_node;
    enum ar_status status =
        ar_parse_count("--gpus", gpus_text, 1, ar_cluster_gpus_count(cluster), &gpus, err);
    if (status == AR_OK) {
        *nodes = (uint32_t)((gpus + per_node - 1) / per_node);
    }
    return status;
}

enum ar_status command_export(const struct options *options, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_cluster *cluster;
    uint32_t nodes = 0;
    enum ar_status status = option_required("format", options->format, err);
    if (status == AR_OK && strcmp(options->format, "simgrid-xml") != 0) {
        return ar_error_set(err, AR_USAGE, "--format: found \"%s\"; expected simgrid-xml",
                            options->format);
    }
    if (status == AR_OK) {
        status = option_required("cluster", options->cluster, err);
    }
    if (status == AR_OK) {
        status = option_required("gpus", options->gpus, err);
    }
    if (status == AR_OK) {
        status = resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, path, err);
    }
    if (status == AR_OK) {
        status = ar_cluster_load(path, options->settings, options->settings_count, &cluster, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = count_nodes(cluster, options->gpus, &nodes, err);
    if (status == AR_OK) {
        status = write_platform(cluster, nodes, options->out, err);
    }
    ar_cluster_destroy(cluster);
    return status;
}
