/* Steps of exchanges that are like others. The results are the same without this file: every step
 * is then resolved by itself, with the messages of all positions.
 *
 * - Where all positions do the same and ranks and paths look the same some positions further on,
 *   the messages of the first positions stand for all.
 * - A step with the same messages as another one is copied: phases mirror each other, pairs swap.
 * - So is one whose messages go the other way round, where paths do, too. */
#include "flows.h"

#include <string.h>

/* Ranks of groups are like no others; nor is any whose lane has an order of its own. */
uint32_t fast_steps_period(const struct exchange_scratch *scratch)
{
    uint32_t positions = scratch->positions;
    uint32_t period = ar_cluster_period(scratch->collective->cluster, positions);
    if (period == positions || ar_collective_groups(scratch->collective) > 1) {
        return positions;
    }
    for (size_t i = 0; i < (size_t)scratch->lanes * positions; i++) {
        uint32_t position = (uint32_t)(i % positions);
        size_t next = i - position + (position + period) % positions;
        if (scratch->ranks[next] != (scratch->ranks[i] + period) % positions) {
            return positions;
        }
    }
    return period;
}

void fast_steps_find(struct exchange_scratch *scratch, uint32_t steps)
{
    const struct ar_algorithm *algorithm = scratch->collective->algorithm;
    const struct ar_shape *shape = &scratch->collective->shape;
    bool is_reversible = ar_cluster_is_reversible(scratch->collective->cluster);
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t like = ar_algorithm_like_step(algorithm, shape, step), mirror = like;
        bool has_mirror =
            is_reversible && ar_algorithm_mirror_step(algorithm, shape, like, &mirror);
        uint32_t first = has_mirror && mirror < like ? mirror : like;
        scratch->like[step].first = first;
        scratch->like[step].is_mirror = first != like;
        scratch->like[first].goes_both_ways = has_mirror;
        scratch->like[first].count++;
    }
}

/* The peers of a step and the kinds of their messages, the other way round: what somebody sends is
 * like what comes from the same peer in the other step. */
static void step_mirror(struct ar_arena *arena, const struct exchange_scratch *scratch,
                        struct ar_exchange_step *step)
{
    uint32_t positions = scratch->positions;
    const struct ar_exchange_step from = *step;
    uint32_t *peers = scratch->peers;
    if (from.ahead > 0 && from.kinds_count <= 1) {
        step->ahead = positions - from.ahead;
        return;
    }
    for (uint32_t i = 0; i < from.period; i++) {
        peers[from.ahead == 0 ? from.peers[i] : (i + from.ahead) % from.period] = i;
    }
    for (uint32_t lane = 0; lane < scratch->lanes && from.kinds_count > 1; lane++) {
        for (uint32_t i = 0; i < from.period; i++) {
            scratch->kind_of[(size_t)lane * positions + i] =
                from.kind_of[(size_t)lane * from.period + peers[i]];
        }
    }
    exchange_keep_step(arena, scratch, from.ahead > 0, step);
    step->ahead = from.ahead > 0 ? positions - from.ahead : 0;
}

void fast_steps_copy(struct ar_arena *arena, struct exchange_scratch *scratch,
                     const struct like_steps *known, bool is_mirror, struct ar_exchange *exchange,
                     struct ar_exchange_step *step)
{
    *step = *known->made;
    if (known->exchange != exchange) {
        exchange_make_kinds_room(arena, scratch, exchange, step->kinds_count);
        memcpy(exchange->kinds + exchange->kinds_count, known->exchange->kinds + step->first_kind,
               step->kinds_count * sizeof *exchange->kinds);
        step->first_kind = exchange->kinds_count;
        exchange->kinds_count += step->kinds_count;
    }
    if (is_mirror) {
        step_mirror(arena, scratch, step);
    }
}
