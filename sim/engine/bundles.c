/* Phases of rings as array arithmetic. */
#include "recurrence.h"

#include <math.h>
#include <string.h>

#include "ring_kernel.h"

/* --- layout ---------------------------------------------------------------------------------- */

/* Doubles in a cache line, 64 bytes on x86-64. */
enum { LINE_NUMBERS = 8 };

/* Zeros that begin at a cache line, where wide vectors load fastest. */
static double *numbers_create(struct ar_arena *arena, size_t count)
{
    double *numbers = ar_arena_alloc(arena, count + LINE_NUMBERS, sizeof *numbers);
    size_t beyond = (uintptr_t)numbers / sizeof *numbers % LINE_NUMBERS;
    return numbers + (LINE_NUMBERS - beyond);
}

static void bundle_create(struct ar_arena *arena, const struct ar_flows *flows, uint32_t index,
                          uint32_t lane, struct bundle *bundle)
{
    const struct ar_phase *phase = &flows->phases[index];
    const struct ar_pattern *pattern = &flows->patterns[index];
    const struct ar_message_cost *cost = &ar_cluster_facts(flows->collective.cluster)->message;
    uint32_t each = ar_shape_ranks(&flows->collective.shape) / flows->period;
    if (pattern->walks_count == 0) {
        return;
    }
    const struct ar_walk *walks = pattern->walks + pattern->lane_walks[lane];
    bundle->walks = pattern->lane_walks[lane + 1] - pattern->lane_walks[lane];
    bundle->rows = bundle->walks > 0 ? walks[0].period : 0;
    bundle->places_count = bundle->walks * bundle->rows;
    for (uint32_t i = 0; i < bundle->walks; i++) {
        if (!walks[i].is_ring || walks[i].period != bundle->rows) {
            return;
        }
    }
    if (phase->messages != (uint64_t)phase->steps * bundle->places_count * each) {
        return;
    }
    /* One piece for all, since there may be many thousands of lanes. */
    size_t places = bundle->places_count;
    size_t line = (places + LINE_NUMBERS - 1) / LINE_NUMBERS * LINE_NUMBERS;
    bundle->latency_s = numbers_create(arena, 3 * line);
    bundle->s_per_byte = bundle->latency_s + line;
    bundle->positions = (void *)(bundle->s_per_byte + line);
    bundle->peers = bundle->positions + line;
    bundle->hops = pattern->hops + walks[0].first;
    const struct ar_hop *hop = bundle->hops; /* of the place, with few divisions */
    double rate_Bps = 0, s_per_byte = 0;
    for (size_t first = 0; first < bundle->walks; first++) {
        for (size_t place = first; place < places; place += bundle->walks, hop++) {
            s_per_byte = hop->kind->rate_Bps == rate_Bps ? s_per_byte : 1 / hop->kind->rate_Bps;
            rate_Bps = hop->kind->rate_Bps;
            bundle->positions[place] = hop->from;
            bundle->peers[place] = hop->to;
            bundle->latency_s[place] = ar_message_latency_s(hop->kind, cost, 0);
            bundle->s_per_byte[place] = s_per_byte;
        }
    }
    bundle->is_regular = true;
}

void bundles_create(struct ar_arena *arena, struct recurrence *recurrence)
{
    const struct ar_flows *flows = recurrence->flows;
    struct bundle_arrays *arrays = &recurrence->arrays;
    uint32_t window = recurrence->collective->window, positions = recurrence->positions;
    uint32_t lanes_count = ar_collective_lanes(&flows->resolved), walks = 0;
    recurrence->bundles = ar_arena_alloc(arena, (size_t)flows->phases_count * lanes_count,
                                         sizeof *recurrence->bundles);
    for (uint32_t i = 0; i < flows->phases_count * lanes_count; i++) {
        struct bundle *bundle = &recurrence->bundles[i];
        bundle_create(arena, flows, i / lanes_count, i % lanes_count, bundle);
        walks = bundle->walks > walks ? bundle->walks : walks;
    }
    arrays->slots = (window > RECURRENCE_TILE_STEPS ? window : RECURRENCE_TILE_STEPS) + 1;
    /* Numbers of the same place must not lie whole pages apart, as they would for powers of two:
     * caches and the queue of stores would take them for each other. */
    arrays->stride = ((positions + walks) / LINE_NUMBERS + 5) * LINE_NUMBERS;
    arrays->now_s = numbers_create(arena, (3 + arrays->slots) * arrays->stride + 2 * positions);
    arrays->free_s = arrays->now_s + arrays->stride;
    arrays->start_s = arrays->free_s + arrays->stride;
    arrays->flights_s = arrays->start_s + arrays->stride;
    arrays->bytes = arrays->flights_s + arrays->slots * arrays->stride;
    if (recurrence->cost->is_any) {
        arrays->latency_s = numbers_create(arena, 2 * arrays->stride);
        arrays->s_per_byte = arrays->latency_s + arrays->stride;
    }
}

/* --- a phase on its way ----------------------------------------------------------------------- */

double *bundle_flights(const struct bundle_run *run, int64_t message)
{
    size_t slot = (uint32_t)(message + run->arrays->slots) % run->arrays->slots;
    return run->arrays->flights_s + slot * run->arrays->stride;
}

/* From the states of the ranks into the arrays of their places. */
static void bundle_load(const struct bundle_run *run)
{
    const struct recurrence *recurrence = run->all;
    const struct bundle_arrays *arrays = run->arrays;
    const uint32_t *positions = run->bundle->positions;
    bool is_first = recurrence->first_step == 0; /* nothing was sent before */
    for (size_t place = 0; place < run->bundle->places_count; place++) {
        const struct rank_state *state = &recurrence->states[positions[place]];
        arrays->now_s[place] = recurrence->now_s[positions[place]];
        arrays->free_s[place] = state->peer == run->bundle->peers[place] + 1 ? state->free_s : 0;
    }
    for (uint32_t i = 0; i < run->window; i++) {
        const double *from_s = recurrence->flights_s + (size_t)i * recurrence->positions;
        double *to_s = bundle_flights(run, (int64_t)i - run->window);
        for (size_t place = 0; place < run->bundle->places_count; place++) {
            to_s[place] = is_first ? 0 : from_s[positions[place]];
        }
    }
}

/* Back into the states. */
static void bundle_store(const struct bundle_run *run)
{
    const struct recurrence *recurrence = run->all;
    const struct bundle_arrays *arrays = run->arrays;
    const uint32_t *positions = run->bundle->positions;
    for (size_t place = 0; place < run->bundle->places_count; place++) {
        recurrence->now_s[positions[place]] = arrays->now_s[place];
        recurrence->states[positions[place]] = (struct rank_state){
            .free_s = arrays->free_s[place], .peer = run->bundle->peers[place] + 1};
    }
    for (uint32_t i = 0; i < run->window; i++) {
        int64_t message = (int64_t)run->all->phase->steps - run->window + i;
        const double *from_s = bundle_flights(run, message);
        double *to_s = recurrence->flights_s + (size_t)i * recurrence->positions;
        for (size_t place = 0; place < run->bundle->places_count; place++) {
            to_s[positions[place]] = from_s[place];
        }
    }
}

/* --- arithmetic ------------------------------------------------------------------------------ */

/* Places of a tile whose arrays fit a first-level cache beside each other. */
enum { TILE_PLACES = 256 };

typedef void ring_kernel(const struct ring_step *step, size_t first, size_t count);

/* Makes a step of all places. */
static void ring_step_make(const struct bundle_run *run, uint32_t step, struct ring_step *made)
{
    const struct bundle_arrays *arrays = run->arrays;
    bool reduces = step > 0 && step - 1 < run->all->phase->copies_from;
    *made = (struct ring_step){
        .arrived_s = bundle_flights(run, (int64_t)step - 1) - run->bundle->walks,
        .oldest_s = bundle_flights(run, (int64_t)step - run->window),
        .bytes = run->bytes - step % run->bundle->rows * (size_t)run->bundle->walks,
        .s_per_byte = run->s_per_byte,
        .latency_s = run->latency_s,
        .reduce_s_per_byte = reduces ? run->all->reduce_s_per_byte : 0,
        .now_s = arrays->now_s,
        .start_s = arrays->start_s,
        .free_s = arrays->free_s,
        .arrival_s = bundle_flights(run, step),
    };
}

/* Round the ring, the first row hears from the last one, in the next step. */
static void ring_close(const struct bundle *bundle, const struct ring_step *step)
{
    double *row_s = step->arrival_s - bundle->walks;
    memcpy(row_s, row_s + bundle->places_count, bundle->walks * sizeof *row_s);
}

/* Several steps of all places, tile after tile; tiles begin at cache lines. What a place needs lies
 * one row before it in the step before, so each tile finds its left neighbour done; the first tile
 * leaves out one row more in each step, and these come at the end, when the last row is done. */
static void ring_run_tiles(const struct bundle_run *run, ring_kernel *kernel, uint32_t step,
                           uint32_t steps)
{
    const struct bundle *bundle = run->bundle;
    size_t walks = bundle->walks, places = bundle->places_count;
    size_t left_out = (steps - 1) * walks;
    size_t end = (left_out + TILE_PLACES) / LINE_NUMBERS * LINE_NUMBERS;
    struct ring_step all[RECURRENCE_TILE_STEPS];
    for (uint32_t i = 0; i < steps; i++) {
        ring_step_make(run, step + i, &all[i]);
    }
    for (size_t first = 0; first < places; first = end, end += TILE_PLACES) {
        end = end < places ? end : places;
        for (uint32_t i = 0; i < steps; i++) {
            size_t from = first == 0 ? i * walks : first;
            kernel(&all[i], from, end - from);
        }
    }
    ring_close(bundle, &all[0]);
    for (uint32_t i = 1; i < steps; i++) {
        kernel(&all[i], 0, i * walks);
        ring_close(bundle, &all[i]);
    }
}

static void ring_run(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    uint32_t steps = run->all->phase->steps;
    uint32_t at_a_time = bundle->places_count <= 2 * TILE_PLACES ? 1 : RECURRENCE_TILE_STEPS;
    at_a_time = bundle->rows < at_a_time ? bundle->rows : at_a_time;
    double min_bytes = INFINITY, max_bytes = 0, min_s_per_byte = INFINITY;
    for (size_t place = 0; place < bundle->places_count; place++) {
        double bytes = run->bytes[place], s_per_byte = run->s_per_byte[place];
        min_bytes = bytes < min_bytes ? bytes : min_bytes;
        max_bytes = bytes > max_bytes ? bytes : max_bytes;
        min_s_per_byte = s_per_byte < min_s_per_byte ? s_per_byte : min_s_per_byte;
    }
    /* Every hop needs longer for the smallest message than it takes to reduce the largest. */
    bool is_hidden = max_bytes * run->all->reduce_s_per_byte <= min_bytes * min_s_per_byte;
    struct ring_step all;
    ring_step_make(run, 0, &all);
    ring_kernel_begin(&all, bundle->places_count);
    ring_close(bundle, &all);
    for (uint32_t step = 1; step < steps; step += at_a_time) {
        bool is_last = steps - step <= at_a_time;
        ring_run_tiles(run, is_hidden && !is_last ? ring_kernel_hidden : ring_kernel_step, step,
                       is_last ? steps - step : at_a_time);
    }
    ring_step_make(run, steps, &all);
    ring_kernel_end(&all, bundle->places_count);
}

void recurrence_run_bundle(struct recurrence *recurrence, const struct bundle *bundle)
{
    const struct bundle_arrays *arrays = &recurrence->arrays;
    struct bundle_run run = {.all = recurrence,
                             .bundle = bundle,
                             .arrays = arrays,
                             .window = recurrence->collective->window,
                             .bytes = arrays->bytes + bundle->places_count,
                             .latency_s = bundle->latency_s,
                             .s_per_byte = bundle->s_per_byte};
    if (arrays->latency_s != NULL) { /* what messages cost besides their paths */
        double bytes = (double)(recurrence->elements / recurrence->phase->parts *
                                recurrence->collective->element_bytes);
        for (size_t place = 0; place < bundle->places_count; place++) {
            const struct ar_hop *hop =
                &bundle->hops[place % bundle->walks * bundle->rows + place / bundle->walks];
            arrays->latency_s[place] = ar_message_latency_s(hop->kind, recurrence->cost, bytes);
            arrays->s_per_byte[place] =
                bundle->s_per_byte[place] +
                hop->kind->turns * ar_message_gap_s(recurrence->cost, hop->kind->tier) / bytes;
        }
        run.latency_s = arrays->latency_s;
        run.s_per_byte = arrays->s_per_byte;
    }
    /* The bytes that each place sends in the first step, twice round. */
    const struct ar_collective *collective = recurrence->collective;
    size_t places = bundle->places_count;
    ar_algorithm_sends(collective->algorithm, &collective->shape, recurrence->elements,
                       recurrence->first_step, &recurrence->sends);
    for (size_t place = 0; place < places; place++) {
        uint64_t elements = recurrence->sends.counts[bundle->positions[place]];
        arrays->bytes[place] = (double)(elements * collective->element_bytes);
    }
    memcpy(arrays->bytes + places, arrays->bytes, places * sizeof *arrays->bytes);
    bundle_load(&run);
    bool may_jump = (double)recurrence->phase->messages >= recurrence->jumps_from &&
                    recurrence->walked != recurrence->phase;
    if (may_jump && ring_jump_run(&run)) {
        recurrence->rings_jumped++;
    } else {
        recurrence->walked = recurrence->phase;
        ring_run(&run);
    }
    bundle_store(&run);
}
