/* The reference engine, parent side: writes the platform, or takes the user's own, forks the
 * simulation, reads its results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_phase_flows.h"
#include "ar_platform.h"
#include "ar_simgrid_xml.h"
#include "simgrid_child.h"

size_t trial_list_parts(struct ar_trial *trial, struct iovec parts[TRIAL_PARTS])
{
    uint32_t ranks = trial->rank_finish_s != NULL ? ar_collective_ranks(&trial->collective) : 0;
    struct ar_timeline *timeline = trial->timeline;
    size_t marks = timeline != NULL ? ar_timeline_size(trial) : 0;
    parts[0] = (struct iovec){&trial->memory_bytes, sizeof trial->memory_bytes};
    parts[1] = (struct iovec){trial->times, trial->jobs_count * sizeof *trial->times};
    parts[2] = (struct iovec){trial->rank_finish_s, ranks * sizeof *trial->rank_finish_s};
    parts[3] = (struct iovec){marks > 0 ? timeline->marks_s : NULL, marks * sizeof(double)};
    size_t size = 0;
    for (int i = 0; i < TRIAL_PARTS; i++) {
        size += parts[i].iov_len;
    }
    return size;
}

/* The pairs of ranks that send to each other, and of ranks and switches: a platform need not have
 * other routes. */
static enum ar_status find_pairs(const struct ar_collective *collective, struct ar_arena *arena,
                                 struct ar_flow **pairs, size_t *count, struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_phase_flows flows;
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    uint32_t first_step = 0;
    size_t patterns = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        patterns += ar_phase_patterns(&phases[i]);
    }
    AR_TRY(ar_phase_flows_create(arena, collective, phases, phases_count, &flows, err));
    *pairs = ar_arena_alloc(arena, patterns * flows.flows_max, sizeof **pairs);
    *count = 0;
    if (*pairs == NULL) {
        return ar_error_no_memory(err, "the routes of the platform");
    }
    for (uint32_t i = 0; i < phases_count; i++) {
        for (uint32_t j = 0; j < ar_phase_patterns(&phases[i]); j++) {
            ar_phase_flows_find(collective, &phases[i], first_step + j, &flows);
            memcpy(*pairs + *count, flows.flows, flows.flows_count * sizeof **pairs);
            *count += flows.flows_count;
        }
        first_step += phases[i].steps;
    }
    return AR_OK;
}

static enum ar_status write_routes(const struct ar_collective *collective, FILE *file,
                                   struct ar_error *err)
{
    uint32_t gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t nodes = (ar_collective_ranks(collective) - 1) / gpus_per_node + 1;
    struct ar_arena arena = {.last = NULL};
    struct ar_flow *pairs = NULL;
    size_t count = 0;
    enum ar_status status = AR_OK;
    if (!ar_cluster_is_nested(collective->cluster) || collective->algorithm->wants_sums) {
        status = find_pairs(collective, &arena, &pairs, &count, err);
    }
    if (status == AR_OK) {
        status = ar_cluster_write_simgrid(collective->cluster, nodes, pairs, count, file, err);
    }
    ar_arena_end(&arena);
    return status;
}

static enum ar_status write_platform(const struct ar_collective *collective, int *platform,
                                     struct ar_error *err)
{
    AR_TRY(simgrid_open("platform", platform, err));
    int copy = dup(*platform);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    enum ar_status status = file != NULL ? write_routes(collective, file, err) : AR_OK;
    bool has_failed = file == NULL || ferror(file) != 0;
    if ((file != NULL && fclose(file) != 0) || has_failed) {
        status = ar_error_set(err, AR_NO_MEMORY, "cannot hold the platform in memory: %s",
                              strerror(errno));
    }
    if (status != AR_OK) {
        close(*platform);
    }
    return status;
}

static enum ar_status fork_child(struct ar_trial *trial, const char *platform_path,
                                 struct ar_error *err)
{
    struct trial_task own = {
        .task = {.kind = SIMGRID_TRIAL,
                 .actors_count = (uint64_t)ar_collective_ranks(&trial->collective) *
                                 trial->collective.channels *
                                 (trial->collective.algorithm->wants_sums ? 1 + AR_PERIOD_MAX : 1)},
        .trial = trial,
        .platform_path = platform_path,
    };
    struct simgrid_answer answer;
    struct iovec parts[TRIAL_PARTS];
    enum ar_status status = simgrid_fork(&own.task, &answer, err);
    size_t expected = trial_list_parts(trial, parts);
    const char *data = answer.data;
    if (status == AR_OK && answer.size != expected) {
        status = ar_error_set(err, AR_INTERNAL, "the simulation answered %zu bytes; expected %zu",
                              answer.size, expected);
    }
    for (int i = 0; status == AR_OK && i < TRIAL_PARTS; data += parts[i++].iov_len) {
        if (parts[i].iov_len > 0) {
            memcpy(parts[i].iov_base, data, parts[i].iov_len);
        }
    }
    free(answer.data);
    return status;
}

/* Writes the platform of a cluster file and simulates on it. */
static enum ar_status run_on_written(struct ar_trial *trial, struct ar_error *err)
{
    int platform = -1;
    char path[64];
    AR_TRY(write_platform(&trial->collective, &platform, err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", platform);
    enum ar_status status = fork_child(trial, path, err);
    close(platform);
    return status;
}

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    const struct simgrid_module *module;
    const char *own_path = ar_cluster_platform_path(trial->collective.cluster);
    AR_TRY(simgrid_module_get(&module, err));
    AR_TRY(own_path != NULL ? fork_child(trial, own_path, err) : run_on_written(trial, err));
    int major;
    int minor;
    int patch;
    module->version(&major, &minor, &patch);
#define X(option) " " option
    snprintf(trial->options, sizeof trial->options, "simgrid %d.%d.%d" AR_SIMGRID_OPTIONS(X), major,
             minor, patch);
#undef X
    trial->messages_count = trial->jobs_count * ar_collective_messages(&trial->collective);
    trial->exact = true;
    return AR_OK;
}

const struct ar_engine ar_engine_simgrid = {
    .name = "simgrid",
    .title = "SimGrid: every rank an actor, every message a communication; the reference",
    .has_messages = true,
    .has_timeline = true,
    .is_simulation = true,
    /* The lists that SimGrid walks through grow with the ranks. */
    .cost = {.trial_s = 25e-3, .message_s = 5e-6, .rank_s = 30e-6, .ranks = 1280},
    .run = run,
};
