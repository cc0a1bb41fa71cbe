#include "recurrence.h"

#include <math.h>

#include "ring_jump.h"
#include "ring_kernel.h"

/* Places of a tile whose arrays fit a first-level cache beside each other. */
enum { TILE_PLACES = 256 };

/* Slot of the messages with this number; the last of the phase before has number -1. */
static uint32_t slot_of(const struct bundle_run *run, int64_t message)
{
    return (uint32_t)((message + run->lanes->slots) % run->lanes->slots);
}

double *bundle_flights(const struct bundle_run *run, int64_t message)
{
    return run->lanes->flights_s + slot_of(run, message) * run->lanes->stride;
}

/* The flights of a rank into slots from `slot` on, those of its place. No division in here: steps
 * of uneven ranks are short, and spent half of their time on it. */
static void load_flights(const struct bundle_run *run, const struct rank_state *state,
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
static void store_flights(const struct bundle_run *run, double *flights_s, size_t place,
                          uint32_t slot)
{
    const struct lanes *lanes = run->lanes;
    for (uint32_t i = 0; i < run->window; i++) {
        flights_s[i] = lanes->flights_s[slot * lanes->stride + place];
        slot = slot + 1 < lanes->slots ? slot + 1 : 0;
    }
}

/* The position that a place sends to; UINT32_MAX for the last row of a chain. */
static uint32_t peer_of(const struct bundle *bundle, size_t place)
{
    size_t next = place + bundle->walks;
    return next < bundle->places_count ? bundle->positions[next]
           : bundle->is_ring           ? bundle->positions[next - bundle->places_count]
                                       : UINT32_MAX;
}

/* From the states of the ranks into the arrays of their places. */
static void load(const struct bundle_run *run)
{
    const struct recurrence *recurrence = run->recurrence;
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    uint32_t slot = slot_of(run, -(int64_t)run->window);
    for (size_t place = 0; place < bundle->places_count; place++) {
        uint32_t position = bundle->positions[place];
        const struct rank_state *state = &recurrence->states[position];
        lanes->now_s[place] = state->now_s;
        lanes->free_s[place] = state->peer == peer_of(bundle, place) ? state->free_s : 0;
        load_flights(run, state, recurrence->flights_s + (size_t)position * run->window, place,
                     slot);
    }
}

/* Back into the states; `sent` messages have gone from these places, from `first` on. */
static void store(const struct bundle_run *run, size_t first, size_t count, uint32_t sent)
{
    const struct recurrence *recurrence = run->recurrence;
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    uint32_t slot = slot_of(run, (int64_t)sent - run->window);
    for (size_t place = first; place < first + count; place++) {
        uint32_t position = bundle->positions[place];
        struct rank_state *state = &recurrence->states[position];
        state->now_s = lanes->now_s[place];
        if (sent > 0) {
            state->free_s = lanes->free_s[place];
            state->peer = peer_of(bundle, place);
            state->oldest = 0;
            store_flights(run, recurrence->flights_s + (size_t)position * run->window, place, slot);
        }
    }
}

typedef void ring_kernel(size_t count, const struct ring_step *step);

/* A step of all places; `arrived_s` is by sender, see run_places(). */
static struct ring_step ring_step(const struct bundle_run *run, uint32_t step)
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
static void run_span(const struct ring_step *all, ring_kernel *kernel, size_t first, size_t sender,
                     size_t count)
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
static void run_places(const struct bundle *bundle, const struct ring_step *all,
                       ring_kernel *kernel, size_t first, size_t end)
{
    size_t walks = bundle->walks;
    if (first < walks) {
        size_t count = (end < walks ? end : walks) - first;
        run_span(all, kernel, first, first + bundle->places_count - walks, count);
        first = walks;
    }
    if (first < end) {
        run_span(all, kernel, first, first - walks, end - first);
    }
}

/* Several steps of all places, tile after tile; tiles begin at cache lines. What a place needs lies
 * one row before it in the step before, so each tile finds its left neighbour done; the first tile
 * leaves out one row more in each step, and these come at the end, when the last row is done. */
static void run_tiles(const struct bundle_run *run, ring_kernel *kernel, uint32_t step,
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
        all[i] = ring_step(run, step + i);
    }
    for (size_t first = 0; first < places; first = end, end += TILE_PLACES) {
        end = end < places ? end : places;
        for (uint32_t i = 0; i < steps; i++) {
            run_places(bundle, &all[i], kernel, first == 0 ? i * walks : first, end);
        }
    }
    for (uint32_t i = 1; i < steps; i++) {
        run_places(bundle, &all[i], kernel, 0, i * walks);
    }
}

/* Every hop needs longer for the smallest message than it takes to reduce the largest. */
static bool is_reducing_hidden(const struct bundle_run *run)
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

static void run_ring(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    uint32_t steps = run->phase->steps;
    uint32_t at_a_time = run->lanes->slots - 1 < RECURRENCE_TILE_STEPS ? run->lanes->slots - 1
                                                                       : RECURRENCE_TILE_STEPS;
    at_a_time = at_a_time < bundle->rows ? at_a_time : bundle->rows;
    bool is_hidden = is_reducing_hidden(run);
    struct ring_step all = ring_step(run, 0);
    ring_kernel_begin(bundle->places_count, &all);
    for (uint32_t step = 1; step < steps; step += at_a_time) {
        bool is_last = steps - step <= at_a_time;
        run_tiles(run, is_hidden && !is_last ? ring_kernel_hidden : ring_kernel_step, step,
                  is_last ? steps - step : at_a_time);
    }
    all = ring_step(run, steps);
    run_places(bundle, &all, ring_kernel_end, 0, bundle->places_count);
    store(run, 0, bundle->places_count, steps);
}

/* The rows that send in a step, the last one first: a row sends before it receives. */
static void run_chain_step(const struct bundle_run *run, uint32_t step)
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

static void run_chains(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        run_chain_step(run, step);
    }
    for (uint32_t row = 0; row <= bundle->rows; row++) {
        uint32_t sent = row < bundle->rows ? bundle->send[row].end - bundle->send[row].first : 0;
        store(run, (size_t)row * bundle->walks, bundle->walks, sent);
    }
}

/* Arrays know the hops of one price: messages that cost something besides their paths must be
 * alike.
 */
static bool has_arrays(const struct recurrence *recurrence, const struct ar_phase *phase,
                       const struct bundle *bundle, uint64_t elements)
{
    return bundle->is_regular &&
           (recurrence->lanes.latency_s == NULL || (elements > 0 && elements % phase->parts == 0));
}

/* A bundle whose hops have what messages cost besides their paths. */
static struct bundle priced(const struct recurrence *recurrence, const struct ar_phase *phase,
                            const struct bundle *bundle, uint64_t elements)
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

static void run_bundle(struct recurrence *recurrence, const struct ar_phase *phase,
                       const struct bundle *free_bundle, uint64_t elements, uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    struct bundle made = priced(recurrence, phase, free_bundle, elements);
    const struct bundle *bundle = &made;
    struct bundle_run run = {.recurrence = recurrence,
                             .phase = phase,
                             .bundle = bundle,
                             .lanes = &recurrence->lanes,
                             .window = collective->window};
    run.bytes = recurrence->lanes.bytes + bundle_bytes(collective, bundle, phase, first_step,
                                                       elements, recurrence->lanes.bytes);
    load(&run);
    bool may_jump = (double)phase->steps * (double)bundle->places_count >= recurrence->jumps_from;
    if (bundle->is_ring && may_jump && ring_jump_run(&run, recurrence->jump_room)) {
        store(&run, 0, bundle->places_count, phase->steps);
        recurrence->rings_jumped++;
    } else if (bundle->is_ring) {
        run_ring(&run);
    } else {
        run_chains(&run);
    }
}

void recurrence_mark(const struct recurrence *recurrence, uint32_t lane, uint32_t mark)
{
    const struct ar_timeline *timeline = recurrence->trial->timeline;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        uint32_t rank = timeline->ranks[i];
        uint32_t channel = lane % recurrence->collective->channels;
        if (ar_order_lane(&recurrence->order, channel, rank) == lane) {
            uint32_t position = ar_order_position(&recurrence->order, lane, rank);
            ar_timeline_marks(recurrence->trial, recurrence->job, i, channel)[mark] =
                recurrence->states[position].now_s;
        }
    }
}

/* Rates of the parts of a tree in the present job: messages differ by an element at most, and the
 * largest decide. */
static const double *find_part_rates(const struct recurrence *recurrence, uint32_t phase)
{
    uint64_t elements = recurrence->trial->jobs[recurrence->job].elements;
    uint64_t bytes = ar_flows_message_bytes(recurrence->flows, phase, elements);
    return ar_flows_tree_shares(recurrence->flows, phase, (double)bytes)->rates_Bps;
}

void recurrence_run_lane(struct recurrence *recurrence, uint32_t lane, uint64_t elements)
{
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        const struct bundle *bundle =
            &recurrence->bundles[i * ar_collective_lanes(recurrence->collective) + lane];
        recurrence_mark(recurrence, lane, AR_MARK_PHASES + i);
        if (recurrence->patterns[i].exchange != NULL) {
            recurrence_run_exchange(recurrence, phase, recurrence->patterns[i].exchange, lane,
                                    elements, first_step);
        } else if (recurrence->patterns[i].line_sums != NULL) {
            recurrence_run_sums(recurrence, phase, recurrence->patterns[i].line_sums, lane,
                                elements, first_step);
        } else if (has_arrays(recurrence, phase, bundle, elements)) {
            run_bundle(recurrence, phase, bundle, elements, first_step);
        } else if (phase->kind == AR_PHASE_TREE && phase->steps > 0) {
            recurrence_run_tree(recurrence, phase, &recurrence->patterns[i],
                                find_part_rates(recurrence, i), lane, elements);
        } else if (phase->steps > 0) {
            recurrence_run_moves(recurrence, phase, &recurrence->patterns[i], lane, elements,
                                 first_step);
        }
        first_step += phase->steps;
    }
    recurrence_mark(recurrence, lane, AR_MARK_PHASES + recurrence->phases_count);
}
