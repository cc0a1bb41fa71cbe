/* The moves as a dataflow recurrence over ranks: step by step, the time at which each rank may go
 * on is the latest of what it waits for. Semantics as in ar_trial.h; the rate of a message is its
 * max-min share among all messages of its phase, on all lanes together; in trees, its share
 * among those that are under way with it (flows_tree.c). So it equals the simulation where sharing
 * is static, and neglects that ranks drift apart and phases overlap. */
#include "recurrence.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

/* --- room ------------------------------------------------------------------------------------ */

/* All bundles, and how many numbers the largest needs for its messages. */
static void recurrence_create_bundles(struct ar_arena *arena, struct recurrence *recurrence,
                                      size_t *bytes_capacity)
{
    uint32_t lanes = ar_collective_lanes(recurrence->collective);
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        for (uint32_t lane = 0; lane < lanes; lane++) {
            struct bundle *bundle = &recurrence->bundles[i * lanes + lane];
            bundle_create(arena, phase, &recurrence->patterns[i], lane, bundle);
            size_t capacity = bundle_bytes_capacity(bundle, phase);
            *bytes_capacity = capacity > *bytes_capacity ? capacity : *bytes_capacity;
        }
    }
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
static size_t lanes_stride(size_t ranks)
{
    return (ranks / BUNDLE_LINE_NUMBERS + 5) * BUNDLE_LINE_NUMBERS;
}

static void recurrence_create_lanes(struct ar_arena *arena, size_t bytes_capacity,
                                    struct recurrence *recurrence)
{
    struct lanes *lanes = &recurrence->lanes;
    uint32_t window = recurrence->collective->window;
    lanes->slots = (window > RECURRENCE_TILE_STEPS ? window : RECURRENCE_TILE_STEPS) + 1;
    lanes->stride = lanes_stride(recurrence->positions);
    lanes->now_s = bundle_lane(arena, (3 + lanes->slots) * lanes->stride + bytes_capacity);
    lanes->free_s = lanes->now_s + lanes->stride;
    lanes->start_s = lanes->free_s + lanes->stride;
    lanes->flights_s = lanes->start_s + lanes->stride;
    lanes->bytes = lanes->flights_s + lanes->slots * lanes->stride;
    if (recurrence->cost->is_any) {
        lanes->latency_s = bundle_lane(arena, 2 * lanes->stride);
        lanes->s_per_byte = lanes->latency_s + lanes->stride;
    }
}

void recurrence_create(struct ar_arena *arena, struct recurrence *recurrence)
{
    size_t positions = recurrence->positions;
    size_t ranks = recurrence->ranks;
    size_t window = recurrence->collective->window;
    size_t lanes = ar_collective_lanes(recurrence->collective);
    size_t bytes_capacity = 0;
    recurrence->phases_count = recurrence->flows->phases_count;
    recurrence->phases = recurrence->flows->phases;
    recurrence->patterns = recurrence->flows->patterns;
    recurrence->bundles =
        ar_arena_alloc(arena, recurrence->phases_count * lanes, sizeof *recurrence->bundles);
    recurrence->states = ar_arena_alloc(arena, positions, sizeof *recurrence->states);
    recurrence->flights_s =
        ar_arena_alloc(arena, positions * window, sizeof *recurrence->flights_s);
    recurrence->rank_ready_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->rank_ready_s);
    recurrence->finish_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->finish_s);
    recurrence->exchange_s =
        ar_arena_alloc(arena, (5 + 2 * lanes) * positions, sizeof *recurrence->exchange_s);
    recurrence->sends.peers = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.peers);
    recurrence->sends.counts = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.counts);
    recurrence->sums_s =
        ar_arena_alloc(arena, recurrence_sums_room(recurrence), sizeof *recurrence->sums_s);
    recurrence->moves = ar_arena_alloc(arena, positions, sizeof *recurrence->moves);
    recurrence->connections_s = ar_arena_alloc(arena, tree_hops_max(recurrence) * (1 + window),
                                               sizeof *recurrence->connections_s);
    recurrence_create_bundles(arena, recurrence, &bytes_capacity);
    recurrence_create_lanes(arena, bytes_capacity, recurrence);
}

/* --- one job on one lane --------------------------------------------------------------------- */

/* Arrays know the hops of one price: messages that cost something besides their paths must be
 * alike.
 */
static bool has_arrays(const struct recurrence *recurrence, const struct ar_phase *phase,
                       const struct bundle *bundle, uint64_t elements)
{
    return bundle->is_regular &&
           (recurrence->lanes.latency_s == NULL || (elements > 0 && elements % phase->parts == 0));
}

/* Writes a mark of the present job: where the observed ranks on the lane are in time. */
static void recurrence_mark(const struct recurrence *recurrence, uint32_t lane, uint32_t mark)
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
    uint64_t elements = recurrence->trial->calls[recurrence->job].elements;
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
            recurrence_run_bundle(recurrence, phase, bundle, elements, first_step);
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

/* --- a trial --------------------------------------------------------------------------------- */

/* Times closer than this part of them are the same: sums in another order may differ so. */
#define SAME_FRAC 1e-12

/* From states that are alike these lanes end alike: groups of a mesh, channels of a group. */
static bool are_lanes_alike(const struct recurrence *recurrence, uint32_t lane, uint32_t other)
{
    uint32_t lanes = ar_collective_lanes(recurrence->collective);
    bool are = true;
    for (uint32_t i = 0; i < recurrence->phases_count && are; i++) {
        are = recurrence->phases[i].steps == 0 ||
              bundle_is_alike(&recurrence->bundles[i * lanes + lane],
                              &recurrence->bundles[i * lanes + other]);
    }
    return are;
}

/* Runs a job on one lane; states are then those at its end. */
static void job_run_lane(struct recurrence *recurrence, uint32_t lane, uint64_t elements)
{
    double begin_s = recurrence->setup_s + recurrence->trial->calls[recurrence->job].copy_s;
    struct rank_state *states = recurrence->states;
    uint32_t window = recurrence->collective->window;
    memset(recurrence->flights_s, 0,
           (size_t)recurrence->positions * window * sizeof *recurrence->flights_s);
    for (uint32_t position = 0; position < recurrence->positions; position++) {
        uint32_t rank = ar_order_rank(&recurrence->order, lane, position);
        states[position] = (struct rank_state){.now_s = recurrence->rank_ready_s[rank] + begin_s,
                                               .peer = UINT32_MAX};
    }
    recurrence_run_lane(recurrence, lane, elements);
    for (uint32_t position = 0; position < recurrence->positions; position++) {
        states[position].now_s = recurrence_finish(recurrence, position);
    }
    recurrence_mark(recurrence, lane, AR_MARK_DONE);
}

/* Runs a job on all lanes and notes when each rank has finished. */
static void job_run_lanes(struct recurrence *recurrence, const struct ar_call *job)
{
    const struct ar_trial *trial = recurrence->trial;
    bool is_even = trial->rank_start_s == NULL && trial->rank_factor == NULL &&
                   recurrence->job == 0 && trial->timeline == NULL;
    uint64_t elements = 0;
    for (uint32_t lane = 0, run = 0; lane < ar_collective_lanes(recurrence->collective); lane++) {
        struct ar_span part = ar_collective_part(recurrence->collective, job->elements, lane);
        if (lane == 0 || !is_even || part.count != elements ||
            !are_lanes_alike(recurrence, lane, run)) {
            job_run_lane(recurrence, lane, part.count);
            run = lane;
            elements = part.count;
        }
        for (uint32_t position = 0; position < recurrence->positions; position++) {
            uint32_t rank = ar_order_rank(&recurrence->order, lane, position);
            double done_s = recurrence->states[position].now_s;
            recurrence->finish_s[rank] = fmax(done_s, recurrence->finish_s[rank]);
        }
    }
}

static void job_mark_start(const struct recurrence *recurrence)
{
    const struct ar_timeline *timeline = recurrence->trial->timeline;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        for (uint32_t channel = 0; channel < recurrence->collective->channels; channel++) {
            ar_timeline_marks(recurrence->trial, recurrence->job, i, channel)[AR_MARK_START] =
                recurrence->rank_ready_s[timeline->ranks[i]];
        }
    }
}

/* Rates cannot change while messages are under way where no link is shared and there is one phase
 * or exchanges only, or where all ranks start together and move in step, which is when the closed
 * form is exact. */
static bool is_sharing_static(const struct recurrence *recurrence)
{
    uint32_t phases_with_steps = 0;
    bool is_shared = false;
    bool are_exchanges = true;
    const struct ar_exchange *last = NULL;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_pattern *pattern = &recurrence->patterns[i];
        if (recurrence->phases[i].steps > 0) {
            phases_with_steps++;
            last = pattern->exchange;
            are_exchanges = are_exchanges && last != NULL;
            is_shared = is_shared || pattern->is_shared;
        }
    }
    return are_exchanges ? last != NULL && last->is_private : phases_with_steps == 1 && !is_shared;
}

/* No job ends before the busiest link can have carried it, behind those before it: what an estimate
 * lacks comes at its end, on all ranks; marks stay as estimated. Returns how much. */
static double job_wait_for_links(struct recurrence *recurrence, double start_s, double finish_s)
{
    const struct ar_call *job = &recurrence->trial->calls[recurrence->job];
    double begin_s = start_s + recurrence->setup_s + job->copy_s;
    recurrence->links_free_s = fmax(recurrence->links_free_s, begin_s) +
                               ar_flows_least_s(recurrence->flows, job->elements);
    double missing_s = recurrence->links_free_s - finish_s;
    if (is_sharing_static(recurrence) || missing_s <= SAME_FRAC * finish_s) {
        return 0;
    }
    for (uint32_t rank = 0; rank < recurrence->ranks; rank++) {
        recurrence->finish_s[rank] += missing_s;
    }
    return missing_s;
}

static void job_run(struct recurrence *recurrence, uint32_t index)
{
    const struct ar_call *job = &recurrence->trial->calls[index];
    uint32_t ranks = recurrence->ranks;
    double *ready_s = recurrence->rank_ready_s;
    double *finish_s = recurrence->finish_s;
    struct ar_call_time time = {.start_s = -1, .finish_s = 0};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double job_ready_s = ar_trial_ready(recurrence->trial, index, rank);
        ready_s[rank] = ready_s[rank] > job_ready_s ? ready_s[rank] : job_ready_s;
        time.start_s =
            time.start_s < 0 || ready_s[rank] < time.start_s ? ready_s[rank] : time.start_s;
        finish_s[rank] = 0;
    }
    recurrence->job = index;
    recurrence->reduce_s_per_byte =
        ar_cluster_reduce_cost(recurrence->collective->cluster,
                               (double)(job->elements * recurrence->collective->element_bytes));
    recurrence->setup_s = ar_collective_setup_s(recurrence->collective, job->elements);
    job_mark_start(recurrence);
    job_run_lanes(recurrence, job);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        time.finish_s = finish_s[rank] > time.finish_s ? finish_s[rank] : time.finish_s;
    }
    time.finish_s += job_wait_for_links(recurrence, time.start_s, time.finish_s);
    memcpy(ready_s, finish_s, ranks * sizeof *ready_s);
    recurrence->trial->times[index] = time;
}

static void recurrence_find_exactness(const struct recurrence *recurrence)
{
    struct ar_trial *trial = recurrence->trial;
    trial->exact = is_sharing_static(recurrence);
    if (!trial->exact && trial->rank_start_s == NULL && trial->rank_factor == NULL) {
        trial->exact = true;
        for (uint32_t i = 0; i < trial->calls_count && trial->exact; i++) {
            bool is_queued = i > 0 && trial->times[i - 1].finish_s > ar_trial_ready(trial, i, 0);
            trial->exact =
                ar_flows_why_not_exact(recurrence->flows, trial->calls[i].elements)[0] == '\0' &&
                !(is_queued && ar_flows_are_ragged(recurrence->flows));
        }
    }
    ar_copy_text(trial->note, sizeof trial->note,
                 trial->exact ? "" : "ranks that drift apart share links");
    ar_copy_text(trial->options, sizeof trial->options,
                 trial->exact ? "recurrence exact" : "recurrence approximate");
}

static enum ar_status recurrence_run(struct ar_trial *trial, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_cluster_facts *facts = ar_cluster_facts(trial->collective.cluster);
    struct recurrence recurrence = {
        .trial = trial,
        .collective = &trial->collective,
        .order = ar_collective_order(&trial->collective),
        .positions = ar_shape_ranks(&trial->collective.shape),
        .ranks = ar_collective_ranks(&trial->collective),
        .copy_s_per_byte = facts->copy_s_per_byte,
        .cost = &facts->message,
    };
    AR_TRY(ar_trial_flows(trial, &recurrence.flows, err));
    recurrence_create(&arena, &recurrence);
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        job_run(&recurrence, i);
    }
    recurrence_find_exactness(&recurrence);
    if (trial->rank_finish_s != NULL) {
        memcpy(trial->rank_finish_s, recurrence.rank_ready_s, recurrence.ranks * sizeof(double));
    }
    trial->messages_count = trial->calls_count * ar_collective_messages(&trial->collective);
    return AR_OK;
}

const struct ar_engine ar_engine_recurrence = {
    .name = "recurrence",
    .title = "dataflow recurrence over ranks: the same moves as array arithmetic; equal to simgrid "
             "where sharing is static",
    .estimates = "0 to 2.6 % in the median, 82 % at worst", /* sim/engine/README.md */
    .cost = {.trial_s = 50e-6, .message_s = 1.1e-9, .rank_s = 400e-9},
    .run = recurrence_run,
};
