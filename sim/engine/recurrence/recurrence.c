#include "recurrence.h"

#include <stdlib.h>

#include "ring_kernel.h"

/* Places of a tile whose arrays fit a first-level cache beside each other, and steps that it runs
 * at a time: then what it needs is still there. */
enum { TILE_PLACES = 256, TILE_STEPS = 8 };

/* What a bundle does in a phase of a job. */
struct run {
    const struct recurrence *recurrence;
    const struct ar_phase *phase;
    const struct bundle *bundle;
    const struct lanes *lanes;
    uint32_t window;
    const double *bytes; /* of the first step, by place */
};

/* Slot of the messages with this number; the last of the phase before has number -1. */
static uint32_t slot_of(const struct run *run, int64_t message)
{
    return (uint32_t)((message + run->lanes->slots) % run->lanes->slots);
}

/* Their arrivals. */
static double *flights_of(const struct run *run, int64_t message)
{
    return run->lanes->flights_s + (size_t)slot_of(run, message) * run->bundle->places_count;
}

/* The flights of a rank into slots from `slot` on, those of its place. No division in here: steps
 * of uneven ranks are short, and spent half of their time on it. */
static void load_flights(const struct run *run, const struct rank_state *state,
                         const double *flights_s, size_t place, uint32_t slot)
{
    const struct lanes *lanes = run->lanes;
    uint32_t from = state->oldest;
    for (uint32_t i = 0; i < run->window; i++) {
        lanes->flights_s[(size_t)slot * run->bundle->places_count + place] = flights_s[from];
        from = from + 1 < run->window ? from + 1 : 0;
        slot = slot + 1 < lanes->slots ? slot + 1 : 0;
    }
}

/* Back again; the oldest comes first then. */
static void store_flights(const struct run *run, double *flights_s, size_t place, uint32_t slot)
{
    const struct lanes *lanes = run->lanes;
    for (uint32_t i = 0; i < run->window; i++) {
        flights_s[i] = lanes->flights_s[(size_t)slot * run->bundle->places_count + place];
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
static void load(const struct run *run)
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
static void store(const struct run *run, size_t first, size_t count, uint32_t sent)
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

static struct ring_step ring_step(const struct run *run, uint32_t step, size_t first)
{
    const struct bundle *bundle = run->bundle;
    size_t walks = bundle->walks;
    bool reduces = step - 1 < run->phase->copies_from;
    /* Round the ring: a place of the first row hears from the last row. */
    size_t sender = first >= walks ? first - walks : first + bundle->places_count - walks;
    return (struct ring_step){
        .arrived_s = flights_of(run, (int64_t)step - 1) + sender,
        .oldest_s = flights_of(run, (int64_t)step - run->window) + first,
        .bytes_before = run->bytes + first - (step - 1) % bundle->rows * walks,
        .bytes = run->bytes + first - step % bundle->rows * walks,
        .s_per_byte = bundle->s_per_byte + first,
        .latency_s = bundle->latency_s + first,
        .reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0,
        .start_s = run->lanes->start_s + first,
        .arrival_s = flights_of(run, step) + first,
    };
}

/* A step of the places from `first` to `end`. */
static void run_places(const struct run *run, uint32_t step, size_t first, size_t end)
{
    size_t walks = run->bundle->walks;
    if (first < walks) {
        struct ring_step wrapped = ring_step(run, step, first);
        ring_kernel_step((end < walks ? end : walks) - first, &wrapped);
        first = walks;
    }
    if (first < end) {
        struct ring_step straight = ring_step(run, step, first);
        ring_kernel_step(end - first, &straight);
    }
}

/* Several steps of all places, tile after tile. What a place needs lies one row before it in the
 * step before, so each tile finds its left neighbour done; the first tile leaves out one row more
 * in each step, and these come at the end, when the last row is done. */
static void run_tiles(const struct run *run, uint32_t step, uint32_t steps)
{
    size_t walks = run->bundle->walks;
    size_t places = run->bundle->places_count;
    size_t left_out = (steps - 1) * walks;
    size_t end = left_out + TILE_PLACES < places ? left_out + TILE_PLACES : places;
    for (size_t first = 0; first < places; first = end, end += TILE_PLACES) {
        end = end < places ? end : places;
        for (uint32_t i = 0; i < steps; i++) {
            run_places(run, step + i, first == 0 ? i * walks : first, end);
        }
    }
    for (uint32_t i = 1; i < steps; i++) {
        run_places(run, step + i, 0, i * walks);
    }
}

static void run_ring(const struct run *run)
{
    const struct bundle *bundle = run->bundle;
    const struct lanes *lanes = run->lanes;
    uint32_t steps = run->phase->steps;
    uint32_t at_a_time = lanes->slots - 1 < TILE_STEPS ? lanes->slots - 1 : TILE_STEPS;
    at_a_time = at_a_time < bundle->rows ? at_a_time : bundle->rows;
    ring_kernel_begin(bundle->places_count, lanes->now_s, lanes->free_s,
                      flights_of(run, -(int64_t)run->window), run->bytes, bundle->s_per_byte,
                      bundle->latency_s, lanes->start_s, flights_of(run, 0));
    for (uint32_t step = 1; step < steps; step += at_a_time) {
        run_tiles(run, step, steps - step < at_a_time ? steps - step : at_a_time);
    }
    struct ring_step last = ring_step(run, steps, 0);
    ring_kernel_end(bundle->walks, &last, lanes->now_s, lanes->free_s);
    last = ring_step(run, steps, bundle->walks);
    ring_kernel_end(bundle->places_count - bundle->walks, &last, lanes->now_s + bundle->walks,
                    lanes->free_s + bundle->walks);
    store(run, 0, bundle->places_count, steps);
}

/* The rows that send in a step, the last one first: a row sends before it receives. */
static void run_chain_step(const struct run *run, uint32_t step)
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
            .oldest_s = flights_of(run, message - run->window) + first,
            .bytes = run->bytes + first - step * walks,
            .s_per_byte = bundle->s_per_byte + first,
            .latency_s = bundle->latency_s + first,
            .reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0,
            .now_s = lanes->now_s + first,
            .free_s = lanes->free_s + first,
            .arrival_s = flights_of(run, message) + first,
            .next_now_s = lanes->now_s + first + walks,
        };
        ring_kernel_chain(walks, &chain);
    }
}

static void run_chains(const struct run *run)
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

static void run_bundle(struct recurrence *recurrence, const struct ar_phase *phase,
                       const struct bundle *bundle, uint64_t elements, uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    struct run run = {.recurrence = recurrence,
                      .phase = phase,
                      .bundle = bundle,
                      .lanes = &recurrence->lanes,
                      .window = collective->window};
    run.bytes = recurrence->lanes.bytes + bundle_bytes(collective, bundle, phase, first_step,
                                                       elements, recurrence->lanes.bytes);
    load(&run);
    if (bundle->is_ring) {
        run_ring(&run);
    } else {
        run_chains(&run);
    }
}

void recurrence_mark(const struct recurrence *recurrence, uint32_t channel, uint32_t mark)
{
    const struct ar_timeline *timeline = recurrence->trial->timeline;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        uint32_t position = ar_order_position(&recurrence->order, channel, timeline->ranks[i]);
        ar_timeline_marks(recurrence->trial, recurrence->job, i, channel)[mark] =
            recurrence->states[position].now_s;
    }
}

/* Of the present job: messages differ by an element at most, and the largest decide. */
static const double *tree_rates_of(const struct recurrence *recurrence, uint32_t phase)
{
    const struct ar_closed *plan = recurrence->trial->plan;
    uint64_t elements = recurrence->trial->jobs[recurrence->job].elements;
    return ar_closed_part_rates(plan, phase,
                                (double)ar_closed_message_bytes(plan, phase, elements));
}

void recurrence_run_channel(struct recurrence *recurrence, uint32_t channel, uint64_t elements)
{
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        const struct bundle *bundle =
            &recurrence->bundles[i * recurrence->collective->channels + channel];
        recurrence_mark(recurrence, channel, AR_MARK_PHASES + i);
        if (bundle->is_regular) {
            run_bundle(recurrence, phase, bundle, elements, first_step);
        } else if (phase->period > 0 && phase->steps > 0) {
            recurrence_run_tree(recurrence, phase, &recurrence->patterns[i],
                                tree_rates_of(recurrence, i), channel, elements);
        } else if (phase->steps > 0) {
            recurrence_run_moves(recurrence, phase, &recurrence->patterns[i], channel, elements,
                                 first_step);
        }
        first_step += phase->steps;
    }
    recurrence_mark(recurrence, channel, AR_MARK_PHASES + recurrence->phases_count);
}

/* All bundles, and how many numbers the largest needs for its messages. */
static enum ar_status create_bundles(struct recurrence *recurrence, size_t *bytes_capacity,
                                     struct ar_error *err)
{
    uint32_t channels = recurrence->collective->channels;
    uint32_t first_step = 0;
    *bytes_capacity = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        for (uint32_t channel = 0; channel < channels; channel++) {
            struct bundle *bundle = &recurrence->bundles[i * channels + channel];
            enum ar_status status =
                bundle_create(recurrence->collective, phase, &recurrence->patterns[i], channel,
                              first_step, bundle, err);
            if (status != AR_OK) {
                return status;
            }
            size_t capacity = bundle_bytes_capacity(bundle, phase);
            *bytes_capacity = capacity > *bytes_capacity ? capacity : *bytes_capacity;
        }
        first_step += phase->steps;
    }
    return AR_OK;
}

/* Hops of the largest tree on a channel, at least 1. */
static size_t tree_hops_max(const struct recurrence *recurrence)
{
    size_t max = 1;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        bool is_tree = phase->period > 0 && phase->steps > 0;
        size_t hops = is_tree ? recurrence->patterns[i].step_hops[phase->steps] : 0;
        max = hops > max ? hops : max;
    }
    return max;
}

enum ar_status recurrence_create(struct recurrence *recurrence, struct ar_error *err)
{
    size_t ranks = recurrence->ranks;
    size_t window = recurrence->collective->window;
    size_t bytes_capacity = 0;
    struct lanes *lanes = &recurrence->lanes;
    lanes->slots = (window > TILE_STEPS ? (uint32_t)window : TILE_STEPS) + 1;
    recurrence->bundles =
        calloc((size_t)recurrence->phases_count * recurrence->collective->channels,
               sizeof *recurrence->bundles);
    if (recurrence->bundles == NULL) {
        return ar_error_no_memory(err, "the phases of a recurrence");
    }
    enum ar_status status = create_bundles(recurrence, &bytes_capacity, err);
    if (status != AR_OK) {
        return status;
    }
    recurrence->states = calloc(ranks, sizeof *recurrence->states);
    recurrence->flights_s = calloc(ranks * window, sizeof *recurrence->flights_s);
    recurrence->rank_ready_s = calloc(ranks, sizeof *recurrence->rank_ready_s);
    recurrence->finish_s = calloc(ranks, sizeof *recurrence->finish_s);
    recurrence->moves = calloc(ranks, sizeof *recurrence->moves);
    recurrence->connections_s =
        calloc(tree_hops_max(recurrence) * (1 + window), sizeof *recurrence->connections_s);
    lanes->now_s = calloc((3 + lanes->slots) * ranks + bytes_capacity, sizeof *lanes->now_s);
    if (recurrence->states == NULL || recurrence->flights_s == NULL ||
        recurrence->rank_ready_s == NULL || recurrence->finish_s == NULL ||
        recurrence->moves == NULL || recurrence->connections_s == NULL || lanes->now_s == NULL) {
        return ar_error_no_memory(err, "the ranks of a recurrence");
    }
    lanes->free_s = lanes->now_s + ranks;
    lanes->start_s = lanes->free_s + ranks;
    lanes->flights_s = lanes->start_s + ranks;
    lanes->bytes = lanes->flights_s + lanes->slots * ranks;
    return AR_OK;
}

void recurrence_destroy(struct recurrence *recurrence)
{
    size_t bundles_count = (size_t)recurrence->phases_count * recurrence->collective->channels;
    for (size_t i = 0; recurrence->bundles != NULL && i < bundles_count; i++) {
        bundle_destroy(&recurrence->bundles[i]);
    }
    free(recurrence->bundles);
    free(recurrence->states);
    free(recurrence->flights_s);
    free(recurrence->rank_ready_s);
    free(recurrence->finish_s);
    free(recurrence->moves);
    free(recurrence->connections_s);
    free(recurrence->lanes.now_s);
}
