/* The paths of flows, asked of the cluster or moved on from those of nodes before. */
#include "ar_maxmin.h"

static enum ar_status make_flows_room(struct ar_arena *arena, size_t count, struct ar_paths *paths,
                                      struct ar_error *err)
{
    if (count <= paths->flows_room) {
        return AR_OK;
    }
    paths->flows_room = count;
    paths->begin = ar_arena_alloc(arena, count + 1, sizeof *paths->begin);
    paths->latency_s = ar_arena_alloc(arena, count, sizeof *paths->latency_s);
    paths->bandwidth_Bps = ar_arena_alloc(arena, count, sizeof *paths->bandwidth_Bps);
    paths->tiers = ar_arena_alloc(arena, count, sizeof *paths->tiers);
    AR_NEED(!arena->is_broken, err, "the sharing of links");
    return AR_OK;
}

static enum ar_status make_links_room(struct ar_arena *arena, size_t used, size_t more,
                                      struct ar_paths *paths, struct ar_error *err)
{
    if (used + more <= paths->links_room) {
        return AR_OK;
    }
    size_t before = paths->links_room, added = used + more + 8 * paths->flows_room - before;
    paths->links = ar_arena_grow(arena, paths->links, before, added, sizeof *paths->links);
    paths->turns = ar_arena_grow(arena, paths->turns, before, added, sizeof *paths->turns);
    AR_NEED(paths->links && paths->turns, err, "the sharing of links");
    paths->links_room = before + added;
    return AR_OK;
}

/* A path is that of as many flows before, moved on: two nodes, as neighbours may swap. */
enum { NODES_ON = 2, SLOTS_MAX = 128 };

/* Up to which source and destination the last paths move along. */
struct alike_ends {
    struct ar_alike nodes;
    uint32_t slots; /* ranks of NODES_ON nodes */
    uint32_t source[SLOTS_MAX], destination[SLOTS_MAX];
};

/* Appends the path of a flow. */
static enum ar_status ask_path(struct ar_arena *arena, const struct ar_cluster *cluster,
                               struct ar_flow flow, size_t index, struct ar_paths *paths,
                               struct ar_error *err)
{
    size_t used = paths->begin[index];
    struct ar_path path;
    ar_cluster_path(cluster, flow.source, flow.destination, &path);
    AR_TRY(make_links_room(arena, used, path.links_count, paths, err));
    paths->latency_s[index] = path.latency_s;
    paths->bandwidth_Bps[index] = path.bandwidth_Bps;
    paths->tiers[index] = path.tier;
    for (uint32_t j = 0; j < path.links_count; j++) {
        paths->links[used++] = path.links[j];
    }
    paths->begin[index + 1] = used;
    return AR_OK;
}

/* Appends that of the same GPUs of nodes before, moved on. */
static enum ar_status move_path(struct ar_arena *arena, const struct ar_alike *nodes, size_t index,
                                struct ar_paths *paths, struct ar_error *err)
{
    size_t from = index - (size_t)NODES_ON * nodes->node_ranks;
    size_t used = paths->begin[index], count = paths->begin[from + 1] - paths->begin[from];
    AR_TRY(make_links_room(arena, used, count, paths, err));
    const uint32_t *before = paths->links + paths->begin[from];
    paths->latency_s[index] = paths->latency_s[from];
    paths->bandwidth_Bps[index] = paths->bandwidth_Bps[from];
    paths->tiers[index] = paths->tiers[from];
    for (size_t j = 0; j < count; j++) {
        uint32_t on = before[j] < nodes->links_end ? NODES_ON * nodes->node_links : 0;
        paths->links[used + j] = before[j] + on;
    }
    paths->begin[index + 1] = used + count;
    return AR_OK;
}

static bool moves_along(const struct alike_ends *ends, const struct ar_flow *flows, size_t index,
                        uint32_t slot)
{
    const struct ar_flow *flow = &flows[index];
    const struct ar_flow *before = flow - ends->slots;
    return flow->source == before->source + ends->slots &&
           flow->destination == before->destination + ends->slots &&
           flow->source < ends->source[slot] && flow->destination < ends->destination[slot];
}

enum ar_status ar_paths_find(struct ar_arena *arena, const struct ar_cluster *cluster,
                             const struct ar_flow *flows, size_t count, struct ar_paths *paths,
                             struct ar_error *err)
{
    struct alike_ends ends = {.nodes = {.end = 0}};
    AR_TRY(make_flows_room(arena, count, paths, err));
    paths->count = count;
    paths->begin[0] = 0;
    ends.nodes = count > 0 ? ar_cluster_alike(cluster, flows[0].source) : ends.nodes;
    ends.slots = NODES_ON * ends.nodes.node_ranks;
    bool may_move = ends.nodes.end > 0 && ends.slots <= SLOTS_MAX;
    for (size_t i = 0, slot = 0; i < count; i++) {
        if (may_move && i >= ends.slots && moves_along(&ends, flows, i, (uint32_t)slot)) {
            AR_TRY(move_path(arena, &ends.nodes, i, paths, err));
        } else {
            AR_TRY(ask_path(arena, cluster, flows[i], i, paths, err));
            if (may_move) {
                ends.source[slot] = ar_cluster_alike(cluster, flows[i].source).end;
                ends.destination[slot] = ar_cluster_alike(cluster, flows[i].destination).end;
            }
        }
        slot = slot + 1 < ends.slots ? slot + 1 : 0;
    }
    return AR_OK;
}

void ar_paths_fold(struct ar_paths *paths, const struct ar_cluster *cluster, uint32_t period)
{
    for (size_t i = 0; i < paths->begin[paths->count]; i++) {
        paths->links[i] = ar_cluster_first_link(cluster, period, paths->links[i], &paths->turns[i]);
    }
}
