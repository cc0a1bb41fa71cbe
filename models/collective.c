#include "ar_collective.h"

#include <inttypes.h>

#include "ar_pattern.h"
#include "ar_platform.h"

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
    uint32_t channels_max = AR_CHANNELS_MAX * collective->algorithm->lanes;
    if (collective->channels < 1 || collective->channels > channels_max) {
        return ar_error_set(err, AR_USAGE, "%" PRIu32 " channels; expected 1 to %" PRIu32,
                            collective->channels, channels_max);
    }
    if (collective->window < 1 || collective->window > AR_WINDOW_MAX) {
        return ar_error_set(err, AR_USAGE, "window of %" PRIu32 " messages; expected 1 to %d",
                            collective->window, AR_WINDOW_MAX);
    }
    enum ar_status status = collective->algorithm->check(&collective->shape, err);
    if (status != AR_OK) {
        return status;
    }
    return ar_cluster_platform_path(collective->cluster) != NULL
               ? ar_pattern_prepare(collective, err)
               : ar_cluster_check_reach(collective->cluster, (uint32_t)ranks, err);
}

struct ar_order ar_collective_order(const struct ar_collective *collective)
{
    return (struct ar_order){
        .ranks = ar_shape_ranks(&collective->shape),
        .gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node,
        .channels = collective->channels,
        .mirror_group = collective->algorithm->lanes > 1 ? collective->shape.x : 0,
        .walks = collective->has_plain_orders ? NULL : ar_cluster_walks(collective->cluster)};
}

uint64_t ar_collective_messages(const struct ar_collective *collective)
{
    return collective->channels * ar_algorithm_messages(collective->algorithm, &collective->shape);
}
