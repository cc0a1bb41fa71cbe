/* Phases of walks as array arithmetic. */
#include "recurrence.h"

#include <math.h>
#include <string.h>

#include "ring_kernel.h"

/* --- layout ---------------------------------------------------------------------------------- */

double *bundle_lane(struct ar_arena *arena, size_t count)
{
    double *numbers = ar_arena_alloc(arena, count + BUNDLE_LINE_NUMBERS, sizeof *numbers);
    size_t beyond = (uintptr_t)numbers / sizeof *numbers % BUNDLE_LINE_NUMBERS;
    return numbers + (BUNDLE_LINE_NUMBERS - beyond);
}

static double move_bytes(const struct ar_collective *collective, uint64_t elements,
                         uint32_t position, uint32_t step)
{
    struct ar_move move =
        ar_algorithm_move(collective->algorithm, &collective->shape, elements, position, step);
    return (double)(move.send_span.count * collective->element_bytes);
}

/* All sends of the phase are those of the rows, and each row passes on what it has just got. */
static bool bundle_has_whole_rows(const struct bundle *bundle, const struct ar_phase *phase)
{
    uint64_t messages = 0;
    for (uint32_t row = 0; row < bundle->rows; row++) {
        const struct bundle_row *send = &bundle->send[row];
        messages += (uint64_t)(send->end - send->first) * bundle->walks;
        uint32_t passes_from = send->first > 0 ? send->first : 1;
        if (row > 0 && send->end > passes_from &&
            (passes_from - 1 < bundle->send[row - 1].first ||
             send->end - 1 > bundle->send[row - 1].end)) {
            return false;
        }
    }
    return messages == phase->messages;
}

/* The first walk of a lane; walks lie lane after lane. */
static uint32_t lane_first_walk(const struct ar_pattern *pattern, uint32_t lane)
{
    uint32_t low = 0, high = pattern->walks_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pattern->walks[middle].lane < lane) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Counts the walks of a lane; false if they are not all alike. */
static bool bundle_count_walks(const struct ar_pattern *pattern, uint32_t lane,
                               struct bundle *bundle)
{
    for (uint32_t i = lane_first_walk(pattern, lane);
         i < pattern->walks_count && pattern->walks[i].lane == lane; i++) {
        const struct ar_walk *walk = &pattern->walks[i];
        if (bundle->walks == 0) {
            bundle->rows = walk->count;
            bundle->is_ring = walk->is_ring;
        }
        if (walk->count != bundle->rows || walk->is_ring != bundle->is_ring) {
            return false;
        }
        bundle->walks++;
    }
    return bundle->walks > 0;
}

static void bundle_lay_out(const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle)
{
    uint32_t index = 0;
    for (uint32_t i = lane_first_walk(pattern, lane);
         i < pattern->walks_count && pattern->walks[i].lane == lane; i++) {
        const struct ar_walk *walk = &pattern->walks[i];
        const struct ar_hop *hops = pattern->hops + walk->first;
        for (uint32_t row = 0; row < walk->count; row++) {
            size_t place = (size_t)row * bundle->walks + index;
            bundle->positions[place] = hops[row].from;
            bundle->latency_s[place] = hops[row].latency_s;
            bundle->s_per_byte[place] = 1 / hops[row].rate_Bps;
            bundle->tiers[place] = hops[row].tier;
            bundle->send[row].first = hops[row].first_step;
            bundle->send[row].end = hops[row].first_step + hops[row].sends;
        }
        if (!walk->is_ring) {
            bundle->positions[(size_t)walk->count * bundle->walks + index] =
                hops[walk->count - 1].to;
        }
        index++;
    }
}

void bundle_create(struct ar_arena *arena, const struct ar_phase *phase,
                   const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle)
{
    *bundle = (struct bundle){.is_regular = false};
    if (phase->steps == 0 || !bundle_count_walks(pattern, lane, bundle)) {
        return;
    }
    bundle->places_count = bundle->walks * (bundle->rows + !bundle->is_ring);
    /* One piece for all, since there may be many thousands of lanes. */
    size_t places = bundle->places_count;
    size_t line = (places + BUNDLE_LINE_NUMBERS - 1) / BUNDLE_LINE_NUMBERS * BUNDLE_LINE_NUMBERS;
    size_t each = sizeof *bundle->positions + sizeof *bundle->tiers;
    size_t rest = places * each + bundle->rows * sizeof *bundle->send;
    bundle->latency_s = bundle_lane(arena, 2 * line + rest / sizeof(double) + 1);
    bundle->s_per_byte = bundle->latency_s + line;
    bundle->send = (void *)(bundle->s_per_byte + line);
    bundle->positions = (void *)(bundle->send + bundle->rows);
    bundle->tiers = (void *)(bundle->positions + places);
    bundle_lay_out(pattern, lane, bundle);
    bundle->is_regular = bundle->is_ring
                             ? phase->messages == (uint64_t)phase->steps * bundle->places_count
                             : bundle_has_whole_rows(bundle, phase);
}

bool bundle_is_alike(const struct bundle *one, const struct bundle *other)
{
    size_t places = one->places_count;
    return one->is_regular && other->is_regular && one->is_ring == other->is_ring &&
           one->rows == other->rows && one->walks == other->walks &&
           memcmp(one->positions, other->positions, places * sizeof *one->positions) == 0 &&
           memcmp(one->latency_s, other->latency_s, places * sizeof *one->latency_s) == 0 &&
           memcmp(one->s_per_byte, other->s_per_byte, places * sizeof *one->s_per_byte) == 0 &&
           memcmp(one->tiers, other->tiers, places * sizeof *one->tiers) == 0 &&
           memcmp(one->send, other->send, one->rows * sizeof *one->send) == 0;
}

size_t bundle_bytes_capacity(const struct bundle *bundle, const struct ar_phase *phase)
{
    /* A ring is written twice; into a chain come the messages of its first row. */
    size_t rows =
        bundle->is_ring ? 2 * (size_t)bundle->rows : bundle->rows + 1 + (size_t)phase->steps;
    return rows * bundle->walks;
}

/* A place receives what the one before it sends, so every other row gives the bytes of two. */
static void ring_fill_bytes(const struct ar_collective *collective, const struct bundle *bundle,
                            uint32_t first_step, uint64_t elements, double *bytes)
{
    size_t walks = bundle->walks;
    size_t places = bundle->places_count;
    for (uint32_t row = 0; row < bundle->rows; row += 2) {
        for (size_t place = row * walks; place < (row + 1) * walks; place++) {
            size_t sender = (row > 0 ? place : place + places) - walks;
            struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                    elements, bundle->positions[place], first_step);
            bytes[place] = (double)(move.send_span.count * collective->element_bytes);
            bytes[sender] = (double)(move.receive_span.count * collective->element_bytes);
        }
    }
    memcpy(bytes + places, bytes, places * sizeof *bytes);
}

size_t bundle_bytes(const struct ar_collective *collective, const struct bundle *bundle,
                    const struct ar_phase *phase, uint32_t first_step, uint64_t elements,
                    double *bytes)
{
    size_t walks = bundle->walks;
    if (bundle->is_ring) {
        ring_fill_bytes(collective, bundle, first_step, elements, bytes);
        return bundle->places_count;
    }
    size_t origin = phase->steps * walks;
    for (size_t place = 0; place < bundle->rows * walks; place++) {
        bytes[origin + place] =
            move_bytes(collective, elements, bundle->positions[place], first_step);
    }
    for (uint32_t step = 1; step < bundle->send[0].end; step++) {
        for (size_t index = 0; index < walks; index++) {
            bytes[origin - step * walks + index] =
                move_bytes(collective, elements, bundle->positions[index], first_step + step);
        }
    }
    return origin;
}

void bundle_price(const struct bundle *bundle, const struct ar_message_cost *cost, double bytes,
                  double *latency_s, double *s_per_byte)
{
    for (size_t place = 0; place < bundle->places_count; place++) {
        enum ar_tier tier = bundle->tiers[place];
        latency_s[place] = bundle->latency_s[place] + ar_message_extra_s(cost, tier, bytes);
        s_per_byte[place] = bundle->s_per_byte[place] + ar_message_gap_s(cost, tier) / bytes;
    }
}

/* --- arithmetic ------------------------------------------------------------------------------ */

/* Places of a tile whose arrays fit a first-level cache beside each other. */
enum { TILE_PLACES = 256 };

/* Slot of the messages with this number; the last of the phase before has number -1. */
static uint32_t message_slot(const struct bundle_run *run, int64_t message)
{
    return (uint32_t)((message + run->lanes->slots) % run->lanes->slots);
}

static double *bundle_flights(const struct bundle_run *run, int64_t message)
{
    return run->lanes->flights_s + message_slot(run, message) * run->lanes->stride;
}

/* The flights of a rank into slots from `slot` on, those of its place. No division in here: steps
 * of uneven ranks are short, and spent half of their time on it. */
static void flights_load(const struct bundle_run *run, const struct rank_state *state,
                         const double *flights_s, size_t place, uint32_t slot)
{
    const struct lanes *lanes = run->lanes;
    uint32_t from = state->oldest;
    for (uint32_t i = 0; i < run->window; i++) {
        lanes->flights_s[slot * lanes->stride + place] = flights_s[from];
        from = from + 1 < run->window ? from + 1 : 0;
        slot = slot + 1 < lanes->slots ? slot + 1 : 0;
    }
}

/* Back again; the oldest comes first then. */
static void flights_store(const struct bundle_run *run, double *flights_s, size_t place,
                          uint32_t slot)
{
    const struct lanes *lanes = run->lanes;
    for (uint32_t i = 0; i < run->window; i++) {
        flights_s[i] = lanes->flights_s[slot * lanes->stride + place];
        slot = slot + 1 < lanes->slots ? slot + 1 : 0;
    }
}

/* The position that a place sends to; UINT32_MAX for the last row of a chain. */
static uint32_t place_peer(const struct bundle *bundle, size_t place)
{
    size_t next = place + bundle->walks;
    return next < bundle->places_count ? bundle->positions[next]
           : bundle->is_ring           ? bundle->positions[next - bundle->places_count]
                                       : UINT32_MAX;
}

/* From the states of the ranks into the arrays of their places. */
static void bundle_load(const struct bundle_run *run)
{
    const struct recurrence *recurrence = run->recurrence;
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    uint32_t slot = message_slot(run, -(int64_t)run->window);
    for (size_t place = 0; place < bundle->places_count; place++) {
        uint32_t position = bundle->positions[place];
        const struct rank_state *state = &recurrence->states[position];
        lanes->now_s[place] = state->now_s;
        lanes->free_s[place] = state->peer == place_peer(bundle, place) ? state->free_s : 0;
        flights_load(run, state, recurrence->flights_s + (size_t)position * run->window, place,
                     slot);
    }
}

/* Back into the states; `sent` messages have gone from these places, from `first` on. */
static void bundle_store(const struct bundle_run *run, size_t first, size_t count, uint32_t sent)
{
    const struct recurrence *recurrence = run->recurrence;
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    uint32_t slot = message_slot(run, (int64_t)sent - run->window);
    for (size_t place = first; place < first + count; place++) {
        uint32_t position = bundle->positions[place];
        struct rank_state *state = &recurrence->states[position];
        state->now_s = lanes->now_s[place];
        if (sent > 0) {
            state->free_s = lanes->free_s[place];
            state->peer = place_peer(bundle, place);
            state->oldest = 0;
            flights_store(run, recurrence->flights_s + (size_t)position * run->window, place, slot);
        }
    }
}

typedef void ring_kernel(size_t count, const struct ring_step *step);

/* A step of all places; `arrived_s` is by sender, see ring_run_places(). */
static struct ring_step ring_step_of(const struct bundle_run *run, uint32_t step)
{
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    bool reduces = step > 0 && step - 1 < run->phase->copies_from;
    return (struct ring_step){
        .arrived_s = bundle_flights(run, (int64_t)step - 1),
        .oldest_s = bundle_flights(run, (int64_t)step - run->window),
        .bytes = run->bytes - step % bundle->rows * (size_t)bundle->walks,
        .s_per_byte = bundle->s_per_byte,
        .latency_s = bundle->latency_s,
        .reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0,
        .now_s = lanes->now_s,
        .start_s = lanes->start_s,
        .free_s = lanes->free_s,
        .arrival_s = bundle_flights(run, step),
    };
}

/* The kernel on places from `first` on, which hear from those from `sender` on. */
static void ring_run_span(const struct ring_step *all, ring_kernel *kernel, size_t first,
                          size_t sender, size_t count)
{
    struct ring_step span = {
        .arrived_s = all->arrived_s + sender,
        .oldest_s = all->oldest_s + first,
        .bytes = all->bytes + first,
        .s_per_byte = all->s_per_byte + first,
        .latency_s = all->latency_s + first,
        .reduce_s_per_byte = all->reduce_s_per_byte,
        .now_s = all->now_s + first,
        .start_s = all->start_s + first,
        .free_s = all->free_s + first,
        .arrival_s = all->arrival_s + first,
    };
    kernel(count, &span);
}

/* The places from `first` to `end`. Round the ring, the first row hears from the last one. */
static void ring_run_places(const struct bundle *bundle, const struct ring_step *all,
                            ring_kernel *kernel, size_t first, size_t end)
{
    size_t walks = bundle->walks;
    if (first < walks) {
        size_t count = (end < walks ? end : walks) - first;
        ring_run_span(all, kernel, first, first + bundle->places_count - walks, count);
        first = walks;
    }
    if (first < end) {
        ring_run_span(all, kernel, first, first - walks, end - first);
    }
}

/* Several steps of all places, tile after tile; tiles begin at cache lines. What a place needs lies
 * one row before it in the step before, so each tile finds its left neighbour done; the first tile
 * leaves out one row more in each step, and these come at the end, when the last row is done. */
static void ring_run_tiles(const struct bundle_run *run, ring_kernel *kernel, uint32_t step,
                           uint32_t steps)
{
    const struct bundle *bundle = run->bundle;
    size_t walks = bundle->walks;
    size_t places = bundle->places_count;
    size_t left_out = (steps - 1) * walks;
    size_t end = (left_out + TILE_PLACES) / BUNDLE_LINE_NUMBERS * BUNDLE_LINE_NUMBERS;
    end = end < places ? end : places;
    struct ring_step all[RECURRENCE_TILE_STEPS];
    for (uint32_t i = 0; i < steps; i++) {
        all[i] = ring_step_of(run, step + i);
    }
    for (size_t first = 0; first < places; first = end, end += TILE_PLACES) {
        end = end < places ? end : places;
        for (uint32_t i = 0; i < steps; i++) {
            ring_run_places(bundle, &all[i], kernel, first == 0 ? i * walks : first, end);
        }
    }
    for (uint32_t i = 1; i < steps; i++) {
        ring_run_places(bundle, &all[i], kernel, 0, i * walks);
    }
}

/* Every hop needs longer for the smallest message than it takes to reduce the largest. */
static bool ring_hides_reducing(const struct bundle_run *run)
{
    double min_bytes = INFINITY;
    double max_bytes = 0;
    double min_s_per_byte = INFINITY;
    for (size_t place = 0; place < run->bundle->places_count; place++) {
        double bytes = run->bytes[place];
        double s_per_byte = run->bundle->s_per_byte[place];
        min_bytes = bytes < min_bytes ? bytes : min_bytes;
        max_bytes = bytes > max_bytes ? bytes : max_bytes;
        min_s_per_byte = s_per_byte < min_s_per_byte ? s_per_byte : min_s_per_byte;
    }
    return max_bytes * run->recurrence->reduce_s_per_byte <= min_bytes * min_s_per_byte;
}

static void ring_run(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    uint32_t steps = run->phase->steps;
    uint32_t at_a_time = run->lanes->slots - 1 < RECURRENCE_TILE_STEPS ? run->lanes->slots - 1
                                                                       : RECURRENCE_TILE_STEPS;
    at_a_time = at_a_time < bundle->rows ? at_a_time : bundle->rows;
    bool is_hidden = ring_hides_reducing(run);
    struct ring_step all = ring_step_of(run, 0);
    ring_kernel_begin(bundle->places_count, &all);
    for (uint32_t step = 1; step < steps; step += at_a_time) {
        bool is_last = steps - step <= at_a_time;
        ring_run_tiles(run, is_hidden && !is_last ? ring_kernel_hidden : ring_kernel_step, step,
                       is_last ? steps - step : at_a_time);
    }
    all = ring_step_of(run, steps);
    ring_run_places(bundle, &all, ring_kernel_end, 0, bundle->places_count);
    bundle_store(run, 0, bundle->places_count, steps);
}

/* The rows that send in a step, the last one first: a row sends before it receives. */
static void chains_run_step(const struct bundle_run *run, uint32_t step)
{
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    size_t walks = bundle->walks;
    for (uint32_t row = bundle->rows; row-- > 0;) {
        if (step < bundle->send[row].first || step >= bundle->send[row].end) {
            continue;
        }
        size_t first = row * walks;
        int64_t message = step - bundle->send[row].first;
        bool reduces = step < run->phase->copies_from;
        struct chain_step chain = {
            .oldest_s = bundle_flights(run, message - run->window) + first,
            .bytes = run->bytes + first - step * walks,
            .s_per_byte = bundle->s_per_byte + first,
            .latency_s = bundle->latency_s + first,
            .reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0,
            .now_s = lanes->now_s + first,
            .free_s = lanes->free_s + first,
            .arrival_s = bundle_flights(run, message) + first,
            .next_now_s = lanes->now_s + first + walks,
        };
        ring_kernel_chain(walks, &chain);
    }
}

static void chains_run(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        chains_run_step(run, step);
    }
    for (uint32_t row = 0; row <= bundle->rows; row++) {
        uint32_t sent = row < bundle->rows ? bundle->send[row].end - bundle->send[row].first : 0;
        bundle_store(run, (size_t)row * bundle->walks, bundle->walks, sent);
    }
}

/* A bundle whose hops have what messages cost besides their paths. */
static struct bundle bundle_with_prices(const struct recurrence *recurrence,
                                        const struct ar_phase *phase, const struct bundle *bundle,
                                        uint64_t elements)
{
    struct bundle made = *bundle;
    if (recurrence->lanes.latency_s != NULL) {
        made.latency_s = recurrence->lanes.latency_s;
        made.s_per_byte = recurrence->lanes.s_per_byte;
        bundle_price(bundle, recurrence->cost,
                     (double)(elements / phase->parts * recurrence->collective->element_bytes),
                     made.latency_s, made.s_per_byte);
    }
    return made;
}

void recurrence_run_bundle(struct recurrence *recurrence, const struct ar_phase *phase,
                           const struct bundle *free_bundle, uint64_t elements, uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    struct bundle made = bundle_with_prices(recurrence, phase, free_bundle, elements);
    const struct bundle *bundle = &made;
    struct bundle_run run = {.recurrence = recurrence,
                             .phase = phase,
                             .bundle = bundle,
                             .lanes = &recurrence->lanes,
                             .window = collective->window};
    run.bytes = recurrence->lanes.bytes + bundle_bytes(collective, bundle, phase, first_step,
                                                       elements, recurrence->lanes.bytes);
    bundle_load(&run);
    if (bundle->is_ring) {
        ring_run(&run);
    } else {
        chains_run(&run);
    }
}
