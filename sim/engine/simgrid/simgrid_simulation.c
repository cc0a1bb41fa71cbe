/* Parent side of a simulation: writes its platform, forks, and reads the results. */
#include "simgrid_simulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_cluster.h"
#include "ar_simgrid_xml.h"

static enum ar_status write_platform(const struct simgrid_simulation *simulation, int *platform,
                                     struct ar_error *err)
{
    const struct ar_cluster *cluster = simulation->cluster;
    uint32_t nodes = (simulation->ranks - 1) / ar_cluster_facts(cluster)->gpus_per_node + 1;
    AR_TRY(simgrid_open("platform", platform, err));
    int copy = dup(*platform);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file != NULL) {
        ar_cluster_write_simgrid(cluster, nodes, simulation->pairs, simulation->pairs_count, file);
    }
    bool has_failed = file == NULL || ferror(file) != 0;
    if ((file == NULL || fclose(file) == 0) && !has_failed) {
        return AR_OK;
    }
    close(*platform);
    return ar_error_set(err, AR_NO_MEMORY, "cannot hold the platform in memory: %s",
                        strerror(errno));
}

/* The memory comes first, then the results one after the other. */
static enum ar_status take_answer(struct simgrid_simulation *simulation,
                                  const struct simgrid_answer *answer, struct ar_error *err)
{
    size_t expected = sizeof simulation->memory_bytes;
    for (int i = 0; i < simulation->results_count; i++) {
        expected += simulation->results[i].iov_len;
    }
    if (answer->size != expected) {
        return ar_error_set(err, AR_INTERNAL, "the simulation answered %zu bytes; expected %zu",
                            answer->size, expected);
    }
    const char *data = answer->data;
    memcpy(&simulation->memory_bytes, data, sizeof simulation->memory_bytes);
    data += sizeof simulation->memory_bytes;
    for (int i = 0; i < simulation->results_count; i++) {
        const struct iovec *part = &simulation->results[i];
        if (part->iov_len > 0) {
            memcpy(part->iov_base, data, part->iov_len);
            data += part->iov_len;
        }
    }
    return AR_OK;
}

enum ar_status simgrid_simulate(struct simgrid_simulation *simulation, struct ar_error *err)
{
    const struct simgrid_module *module;
    int platform = -1;
    char path[64];
    AR_TRY(simgrid_module_get(&module, err));
    AR_TRY(write_platform(simulation, &platform, err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", platform);
    simulation->platform_path = path;
    struct simgrid_answer answer;
    enum ar_status status = simgrid_fork(&simulation->task, &answer, err);
    if (status == AR_OK) {
        status = take_answer(simulation, &answer, err);
    }
    free(answer.data);
    close(platform);
    return status;
}

enum ar_status simgrid_describe(char *text, size_t size, struct ar_error *err)
{
    const struct simgrid_module *module;
    int major;
    int minor;
    int patch;
    AR_TRY(simgrid_module_get(&module, err));
    module->version(&major, &minor, &patch);
#define X(option) " " option
    snprintf(text, size, "simgrid %d.%d.%d" AR_SIMGRID_OPTIONS(X), major, minor, patch);
#undef X
    return AR_OK;
}
