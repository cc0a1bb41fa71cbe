/* Steps and positions that are like others. Gains over 50 times on pairwise all-to-alls of 4096
 * ranks on nodes of 8, 20 times on rings of a million. The results are the same without this file.
 *
 * - Where ranks and paths look the same some positions further on, the first positions stand for
 *   all in a shift; and in all phases, also in engines, if the others do what they do in each.
 * - In a shift on racks of which the last is not full, the messages of a node stand for those of
 *   the nodes behind it whose paths are like its own. Links of all nodes carry equally many, and
 *   so do those of all full racks. Gains 20 times on pairwise all-to-alls of 16,384 ranks.
 * - A step with the messages of another one is copied: phases mirror each other, pairs swap.
 * - Where paths move along with ranks one by one, all nodes are as far from each other: shifts take
 *   like links, and two distances show who uses these. Gains 1.5 times on a million ranks.
 * - Of a step with one message, of a linear gather, only the sender is looked at: 200 times. */
#include "flows.h"

/* Ranks of groups are like no others, nor are those of one that stands for others unless it has the
 * first ranks; nor is any whose lane has an order of its own. */
uint32_t fast_steps_period(const struct ar_collective *collective, uint32_t period)
{
    struct ar_order order = ar_collective_order(collective);
    bool repeats =
        order.ranks % period == 0 && period % order.node_members == 0 &&
        ar_collective_groups(collective) == 1 && !order.has_root && order.mirror_group == 0 &&
        (order.mesh == NULL || ar_mesh_rank(order.mesh, 0, order.ranks - 1) == order.ranks - 1);
    return repeats ? period : order.ranks;
}

/* Senders of a step, if what all positions send is what those of the first period do: as far ahead
 * or, where nodes are alike, to the same GPU of their own or of another node. 0: it is not. */
static uint32_t senders_that_repeat(const struct ar_sends *sends, uint32_t period, uint32_t node)
{
    uint32_t positions = sends->end, senders = 0;
    for (uint32_t i = 0; i < positions; i++) {
        uint32_t before = i < period ? i : i - period;
        uint32_t from = sends->peers[before], to = sends->peers[i];
        uint32_t was_ahead = from - before + (from < before ? positions : 0);
        if (sends->counts[i] != sends->counts[before] || (to == AR_NEVER) != (from == AR_NEVER) ||
            (to != AR_NEVER && to - i + (to < i ? positions : 0) != was_ahead &&
             (period != node || to % node != from % node ||
              (to / node == i / node) != (from / node == before / node)))) {
            return 0;
        }
        senders += to != AR_NEVER;
    }
    return senders;
}

uint32_t fast_steps_period_of_all(const struct ar_flows *flows)
{
    const struct ar_collective *collective = &flows->collective;
    const struct ar_algorithm *algorithm = collective->algorithm;
    uint32_t positions = ar_shape_ranks(&collective->shape);
    uint32_t node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t period =
        fast_steps_period(collective, ar_cluster_period(collective->cluster, positions));
    if (period == positions || algorithm->move != NULL || algorithm->wants_sums) {
        return positions;
    }
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_sends sends = {.end = positions,
                             .peers = ar_arena_room(&arena, positions, sizeof *sends.peers),
                             .counts = ar_arena_room(&arena, positions, sizeof *sends.counts)};
    for (uint32_t i = 0, step = 0, end; i < flows->phases_count; i++, step = end) {
        const struct ar_phase *phase = &flows->phases[i];
        for (end = step + phase->steps; step < end && !phase->is_shift; step++) {
            if (ar_algorithm_like_step(algorithm, &collective->shape, step) == step) {
                ar_algorithm_sends(algorithm, &collective->shape, phase->pieces, step, &sends);
                uint64_t senders = senders_that_repeat(&sends, period, node);
                if (senders == 0) {
                    return positions;
                }
                bool go_on = phase->kind == AR_PHASE_WALK; /* the same ones in each step */
                step = go_on && senders * phase->steps == phase->messages ? end : step;
            }
        }
    }
    return period;
}

/* The first and the last GPU of the node send to all nodes that any of them sends to. */
uint32_t fast_steps_repeats(const struct exchange_scratch *scratch, uint32_t position)
{
    const struct ar_cluster *cluster = scratch->collective->cluster;
    const uint32_t *peers = scratch->sent.peers, positions = scratch->positions;
    uint32_t last = position + scratch->node - 1;
    uint32_t a = ar_cluster_path_repeats(cluster, positions, position, peers[position]);
    uint32_t b = ar_cluster_path_repeats(cluster, positions, last, peers[last]);
    return a < b ? a : b;
}

bool fast_steps_have_path(struct flows_scratch *all, const struct ar_phase *phase)
{
    struct exchange_scratch *scratch = all->exchange;
    uint32_t ahead = scratch->sent.peers[0], *seen = scratch->aheads;
    bool has_two = seen[1] > 0;
    seen[1] = has_two || seen[0] == 0 || seen[0] == ahead ? seen[1] : ahead;
    seen[0] = seen[0] == 0 ? ahead : seen[0];
    return has_two && phase->is_shift && scratch->folded == 1 && scratch->lanes == 1 &&
           all->kept == NULL && !all->flows->is_plain;
}

/* Roots are position 0: it sends the only message, or receives it. */
uint32_t fast_steps_sender(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                           uint32_t step)
{
    const struct ar_collective *collective = scratch->collective;
    struct ar_move root =
        ar_algorithm_move(collective->algorithm, &collective->shape, phase->pieces, 0, step);
    return root.sends ? 0 : root.receive_from;
}

void fast_steps_find(struct exchange_scratch *scratch, uint32_t steps)
{
    const struct ar_algorithm *algorithm = scratch->collective->algorithm;
    const struct ar_shape *shape = &scratch->collective->shape;
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t first = ar_algorithm_like_step(algorithm, shape, step);
        scratch->like[step].first = first;
        scratch->like[first].count++;
    }
}
