#include "ar_collective.h"

#include <inttypes.h>

#include "ar_phase_flows.h"

/* On a platform file, which routes there are is known to SimGrid alone. */
static enum ar_status prepare_paths(const struct ar_collective *collective, struct ar_arena *arena,
                                    struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    struct ar_phase_flows flows;
    uint32_t first_step = 0;
    AR_TRY(ar_phase_flows_create(arena, collective, phases, phases_count, &flows, err));
    for (uint32_t i = 0; i < phases_count; i++) {
        if (phases[i].steps > 0) {
            ar_phase_flows_find(collective, &phases[i], first_step, &flows);
            AR_TRY(
                ar_cluster_prepare_paths(collective->cluster, flows.flows, flows.flows_count, err));
        }
        first_step += phases[i].steps;
    }
    return AR_OK;
}

static enum ar_status check_reach(const struct ar_collective *collective, struct ar_error *err)
{
    if (ar_cluster_platform_path(collective->cluster) == NULL) {
        return ar_cluster_check_reach(collective->cluster, ar_shape_ranks(&collective->shape), err);
    }
    struct ar_arena arena = {NULL};
    enum ar_status status = prepare_paths(collective, &arena, err);
    ar_arena_end(&arena);
    return status;
}

enum ar_status ar_collective_check(const struct ar_collective *collective, struct ar_error *err)
{
    uint64_t exist = ar_cluster_gpus_count(collective->cluster);
    uint64_t ranks = (uint64_t)collective->shape.x * collective->shape.y;
    if (ranks > exist) {
        return ar_error_set(err, AR_USAGE,
                            "%" PRIu64 " GPUs asked for; expected at most %" PRIu64
                            ", all that cluster %s has",
                            ranks, exist, ar_cluster_facts(collective->cluster)->name);
    }
    uint32_t channels_max = AR_CHANNELS_MAX * ar_algorithm_channels(collective->algorithm);
    if (collective->channels < 1 || collective->channels > channels_max) {
        return ar_error_set(err, AR_USAGE, "%" PRIu32 " channels; expected 1 to %" PRIu32,
                            collective->channels, channels_max);
    }
    if (collective->window < 1 || collective->window > AR_WINDOW_MAX) {
        return ar_error_set(err, AR_USAGE, "window of %" PRIu32 " messages; expected 1 to %d",
                            collective->window, AR_WINDOW_MAX);
    }
    if (collective->algorithm != NULL &&
        collective->algorithm->operation != collective->operation) {
        return ar_error_set(err, AR_USAGE, "algorithm %s: found %s; expected %s, which it is for",
                            collective->algorithm->name, collective->operation->name,
                            collective->algorithm->operation->name);
    }
    AR_TRY(ar_algorithm_check_shape(collective->algorithm, &collective->shape, err));
    return check_reach(collective, err);
}

struct ar_order ar_collective_order(const struct ar_collective *collective)
{
    return (struct ar_order){
        .ranks = ar_shape_ranks(&collective->shape),
        .gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node,
        .channels = collective->channels,
        .mirror_group = ar_algorithm_channels(collective->algorithm) > 1 ? collective->shape.x : 0,
        .gpu_orders =
            collective->has_plain_orders ? NULL : ar_cluster_gpu_orders(collective->cluster)};
}

uint64_t ar_collective_messages(const struct ar_collective *collective)
{
    return collective->channels * ar_algorithm_messages(collective->algorithm, &collective->shape);
}
