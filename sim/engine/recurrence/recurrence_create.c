/* Room for the jobs of a recurrence. */
#include "recurrence.h"
#include "ring_jump.h"

/* Messages from which on it is worth to look whether a ring is steady: it takes some milliseconds.
 */
#define JUMPS_FROM 4e6

/* All bundles, and how many numbers the largest needs for its messages and for jumps. */
static enum ar_status create_bundles(struct ar_arena *arena, struct recurrence *recurrence,
                                     size_t *bytes_capacity, size_t *jump_capacity,
                                     struct ar_error *err)
{
    uint32_t lanes = ar_collective_lanes(recurrence->collective);
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        for (uint32_t lane = 0; lane < lanes; lane++) {
            struct bundle *bundle = &recurrence->bundles[i * lanes + lane];
            AR_TRY(bundle_create(arena, phase, &recurrence->patterns[i], lane, bundle, err));
            size_t capacity = bundle_bytes_capacity(bundle, phase);
            *bytes_capacity = capacity > *bytes_capacity ? capacity : *bytes_capacity;
            size_t jumps = ring_jump_capacity(bundle, recurrence->collective->window);
            *jump_capacity = jumps > *jump_capacity ? jumps : *jump_capacity;
        }
    }
    return AR_OK;
}

/* Hops of the largest tree on a lane, at least 1. */
static size_t tree_hops_max(const struct recurrence *recurrence)
{
    size_t max = 1;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        bool is_tree = phase->kind == AR_PHASE_TREE && phase->steps > 0;
        size_t hops = is_tree ? recurrence->patterns[i].step_hops[phase->steps] : 0;
        max = hops > max ? hops : max;
    }
    return max;
}

/* Numbers of the same place must not lie whole pages apart, as they would for powers of two: caches
 * and the queue of stores would take them for each other. */
static size_t stride_of(size_t ranks)
{
    return (ranks / BUNDLE_LINE_NUMBERS + 5) * BUNDLE_LINE_NUMBERS;
}

static enum ar_status create_lanes(struct ar_arena *arena, size_t bytes_capacity,
                                   struct recurrence *recurrence, struct ar_error *err)
{
    struct lanes *lanes = &recurrence->lanes;
    uint32_t window = recurrence->collective->window;
    lanes->slots = (window > RECURRENCE_TILE_STEPS ? window : RECURRENCE_TILE_STEPS) + 1;
    lanes->stride = stride_of(recurrence->positions);
    lanes->now_s = bundle_lane(arena, (3 + lanes->slots) * lanes->stride + bytes_capacity);
    AR_NEED(lanes->now_s, err, "the messages of a recurrence");
    lanes->free_s = lanes->now_s + lanes->stride;
    lanes->start_s = lanes->free_s + lanes->stride;
    lanes->flights_s = lanes->start_s + lanes->stride;
    lanes->bytes = lanes->flights_s + lanes->slots * lanes->stride;
    if (recurrence->cost->is_any) {
        lanes->latency_s = bundle_lane(arena, 2 * lanes->stride);
        lanes->s_per_byte = lanes->latency_s + lanes->stride;
        return lanes->latency_s != NULL ? AR_OK
                                        : ar_error_no_memory(err, "the messages of a recurrence");
    }
    return AR_OK;
}

enum ar_status recurrence_create(struct ar_arena *arena, struct recurrence *recurrence,
                                 struct ar_error *err)
{
    size_t positions = recurrence->positions;
    size_t ranks = recurrence->ranks;
    size_t window = recurrence->collective->window;
    size_t bytes_capacity = 0;
    size_t jump_capacity = 1;
    recurrence->jumps_from = JUMPS_FROM;
    recurrence->bundles = ar_arena_alloc(
        arena, (size_t)recurrence->phases_count * ar_collective_lanes(recurrence->collective),
        sizeof *recurrence->bundles);
    recurrence->states = ar_arena_alloc(arena, positions, sizeof *recurrence->states);
    recurrence->flights_s =
        ar_arena_alloc(arena, positions * window, sizeof *recurrence->flights_s);
    recurrence->rank_ready_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->rank_ready_s);
    recurrence->finish_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->finish_s);
    size_t places = positions * ar_collective_lanes(recurrence->collective);
    recurrence->exchange_s =
        ar_arena_alloc(arena, 5 * positions + 2 * places, sizeof *recurrence->exchange_s);
    recurrence->sends.peers = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.peers);
    recurrence->sends.counts = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.counts);
    recurrence->sums_s =
        ar_arena_alloc(arena, recurrence_sums_room(recurrence), sizeof *recurrence->sums_s);
    recurrence->moves = ar_arena_alloc(arena, positions, sizeof *recurrence->moves);
    recurrence->connections_s = ar_arena_alloc(arena, tree_hops_max(recurrence) * (1 + window),
                                               sizeof *recurrence->connections_s);
    AR_NEED(recurrence->bundles && recurrence->states && recurrence->flights_s &&
                recurrence->exchange_s && recurrence->sums_s && recurrence->rank_ready_s &&
                recurrence->finish_s && recurrence->moves && recurrence->connections_s &&
                recurrence->sends.peers && recurrence->sends.counts,
            err, "the ranks of a recurrence");
    AR_TRY(create_bundles(arena, recurrence, &bytes_capacity, &jump_capacity, err));
    /* Pages that nobody writes to cost nothing. */
    recurrence->jump_room = ar_arena_alloc(arena, jump_capacity, sizeof *recurrence->jump_room);
    AR_NEED(recurrence->jump_room, err, "the messages of a recurrence");
    return create_lanes(arena, bytes_capacity, recurrence, err);
}
