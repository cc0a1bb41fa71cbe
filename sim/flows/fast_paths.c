/* Paths that are those of nodes before, moved on. The results are the same without this file: a
 * path that is not moved along is asked of the cluster. */
#include "flows.h"

void fast_paths_begin(const struct ar_cluster *cluster, const struct ar_flow *flows,
                      struct fast_paths *fast)
{
    fast->nodes = ar_cluster_alike(cluster, flows[0].source);
    uint32_t slots = FAST_NODES_ON * fast->nodes.node_ranks;
    fast->slots = fast->nodes.end > 0 && slots <= FAST_SLOTS_MAX ? slots : 0;
}

bool fast_paths_move(const struct fast_paths *fast, const struct ar_flow *flows, size_t index,
                     struct ar_arena *arena, struct ar_paths *paths)
{
    if (fast->slots == 0 || index < fast->slots) {
        return false;
    }
    size_t from = index - fast->slots, slot = index % fast->slots;
    const struct ar_flow *flow = &flows[index], *before = &flows[from];
    if (flow->source != before->source + fast->slots ||
        flow->destination != before->destination + fast->slots ||
        flow->source >= fast->source_end[slot] ||
        flow->destination >= fast->destination_end[slot]) {
        return false;
    }
    size_t used = paths->begin[index], count = paths->begin[from + 1] - paths->begin[from];
    paths_make_links_room(arena, used, count, paths);
    const uint32_t *known = paths->links + paths->begin[from];
    paths->latency_s[index] = paths->latency_s[from];
    paths->bandwidth_Bps[index] = paths->bandwidth_Bps[from];
    paths->tiers[index] = paths->tiers[from];
    for (size_t i = 0; i < count; i++) { /* links of nodes move on, others stay */
        uint32_t on = known[i] < fast->nodes.links_end ? FAST_NODES_ON * fast->nodes.node_links : 0;
        paths->links[used + i] = known[i] + on;
    }
    paths->begin[index + 1] = used + count;
    return true;
}

void fast_paths_note(struct fast_paths *fast, const struct ar_cluster *cluster,
                     const struct ar_flow *flows, size_t index)
{
    if (fast->slots > 0) {
        size_t slot = index % fast->slots;
        fast->source_end[slot] = ar_cluster_alike(cluster, flows[index].source).end;
        fast->destination_end[slot] = ar_cluster_alike(cluster, flows[index].destination).end;
    }
}
