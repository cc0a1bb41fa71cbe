/* Steps of exchanges that are like others; gains over 50 times on pairwise all-to-alls of 4096
 * ranks on nodes of 8. The results are the same without this file: each step by itself, in full.
 *
 * - Where all positions do the same and ranks and paths look the same some positions further on,
 *   the messages of the first positions stand for all.
 * - Where all send to all at once, but racks are not alike, the messages of a node stand for those
 *   of the nodes behind it, up to the end of a rack. Links of all nodes carry the same.
 * - A step with the messages of another one is copied: phases mirror each other, pairs swap.
 * - Of a step with one message, as of a linear gather, only its sender is looked at. Gains 200
 *   times on 65,536 ranks. */
#include "flows.h"

#include <string.h>

/* Ranks of groups are like no others; nor is any whose lane has an order of its own. */
uint32_t fast_steps_period(const struct exchange_scratch *scratch, uint32_t period)
{
    uint32_t positions = scratch->positions;
    if (positions % period != 0 || ar_collective_groups(scratch->collective) > 1) {
        return positions;
    }
    for (size_t i = 0; i < (size_t)scratch->lanes * positions; i++) {
        uint32_t position = (uint32_t)(i % positions);
        size_t next = i - position + (position + period) % positions;
        if (scratch->ranks[next] != (scratch->ranks[i] + period) % positions ||
            (position < period && scratch->ranks[i] >= period)) {
            return positions;
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

void fast_steps_copy(struct ar_arena *arena, const struct like_steps *known,
                     struct ar_exchange *exchange, struct ar_exchange_step *step)
{
    *step = *known->made;
    if (known->exchange != exchange) {
        exchange->kinds = ar_arena_grow(arena, exchange->kinds, exchange->kinds_count,
                                        step->kinds_count, sizeof *exchange->kinds);
        memcpy(exchange->kinds + exchange->kinds_count, known->exchange->kinds + step->first_kind,
               step->kinds_count * sizeof *exchange->kinds);
        step->first_kind = exchange->kinds_count;
        exchange->kinds_count += step->kinds_count;
    }
}
