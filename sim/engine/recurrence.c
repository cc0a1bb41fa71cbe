/* The moves as a dataflow recurrence over ranks: step by step, the time at which each rank may go
 * on is the latest of what it waits for. Semantics as in ar_trial.h; the rate of a message is its
 * max-min share among all messages of its phase, on all lanes together; in trees, among
 * those that are under way with it (flows_tree.c). So it equals the simulation where sharing
 * is static, and neglects that ranks drift apart and phases overlap. */
#include "recurrence.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

/* Messages from which on it is worth to look whether a ring is steady: it takes milliseconds. */
#define JUMPS_FROM 4e6

/* --- room ------------------------------------------------------------------------------------ */

void recurrence_create(struct ar_arena *arena, struct recurrence *recurrence)
{
    const struct ar_flows *flows = recurrence->flows;
    size_t positions = recurrence->positions, ranks = recurrence->ranks;
    uint32_t window = recurrence->collective->window;
    size_t lanes = ar_collective_lanes(&flows->resolved);
    size_t room = (4 + 2 * lanes) * positions; /* of an exchange */
    recurrence->flights_each = 1;
    AR_EACH(const struct ar_pattern, pattern, flows->patterns, flows->phases_count) {
        const struct ar_line_sums *sums = pattern->line_sums;
        size_t hops = pattern->hops_count / lanes;
        size_t lines = sums != NULL ? sums->first[sums->stages] : 0; /* on each lane */
        size_t own = positions + (hops > lines ? hops : lines) * ((size_t)1 + window);
        room = own > room ? own : room;
        recurrence->flights_each = pattern->walks_count > 0 ? window : recurrence->flights_each;
    }
    recurrence->jumps_from = flows->is_plain ? HUGE_VAL : JUMPS_FROM;
    recurrence->like = ar_arena_alloc(arena, lanes, sizeof *recurrence->like);
    recurrence->states = ar_arena_alloc(arena, positions, sizeof *recurrence->states);
    recurrence->lane_ranks = ar_arena_alloc(arena, ranks * recurrence->collective->channels,
                                            sizeof *recurrence->lane_ranks);
    recurrence->now_s = ar_arena_alloc(arena, positions, sizeof *recurrence->now_s);
    recurrence->begins_s = ar_arena_alloc(arena, 2 * positions, sizeof *recurrence->begins_s);
    recurrence->flights_s =
        ar_arena_alloc(arena, positions * recurrence->flights_each, sizeof *recurrence->flights_s);
    recurrence->rank_ready_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->rank_ready_s);
    recurrence->finish_s = ar_arena_alloc(arena, ranks, sizeof *recurrence->finish_s);
    recurrence->sends.end = recurrence->positions;
    recurrence->sends.peers = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.peers);
    recurrence->sends.counts = ar_arena_alloc(arena, positions, sizeof *recurrence->sends.counts);
    /* Pages that nobody writes to cost nothing. */
    recurrence->room_s = ar_arena_alloc(arena, room, sizeof *recurrence->room_s);
    bundles_create(arena, recurrence);
}

/* --- one call on one lane --------------------------------------------------------------------- */

/* All positions wait until what they have sent has arrived, and have no connection any more. */
static void recurrence_finish(struct recurrence *recurrence)
{
    size_t positions = recurrence->positions, flights = recurrence->flights_each * positions;
    if (recurrence->has_flights) {
        for (size_t first = 0; first < flights; first += positions) {
            for (size_t i = 0; i < positions; i++) {
                recurrence->now_s[i] =
                    ar_later_s(recurrence->now_s[i], recurrence->flights_s[first + i]);
            }
        }
        memset(recurrence->flights_s, 0, flights * sizeof *recurrence->flights_s);
        memset(recurrence->states, 0, positions * sizeof *recurrence->states);
        recurrence->has_flights = false;
    }
}

/* Writes a mark of the present call: where the observed ranks on the lane are in time. */
static void recurrence_mark(const struct recurrence *recurrence, uint32_t lane, uint32_t mark)
{
    const struct ar_timeline *timeline = recurrence->trial->timeline;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        uint32_t rank = timeline->ranks[i];
        uint32_t channel = lane % recurrence->collective->channels;
        if (ar_order_lane(&recurrence->order, channel, rank) == lane) {
            uint32_t position = ar_order_position(&recurrence->order, lane, rank);
            ar_timeline_marks(recurrence->trial, recurrence->call, i, channel)[mark] =
                recurrence->now_s[position];
        }
    }
}

void recurrence_run_lane(struct recurrence *recurrence, uint32_t lane, uint64_t elements)
{
    const struct ar_flows *flows = recurrence->flows;
    uint32_t lanes = ar_collective_lanes(&flows->resolved), own = ar_flows_lane(flows, lane);
    recurrence->resolved_lane = own;
    recurrence->elements = elements;
    recurrence->first_step = 0;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        const struct ar_phase *phase = recurrence->phase = &flows->phases[i];
        const struct bundle *bundle = &recurrence->bundles[i * lanes + own];
        /* Arrays know the hops of one price: messages with costs besides paths must be alike. */
        bool are_alike =
            recurrence->arrays.latency_s == NULL || (elements > 0 && elements % phase->parts == 0);
        recurrence->pattern = &flows->patterns[i];
        recurrence_mark(recurrence, lane, AR_MARK_PHASES + i);
        bool waits = phase->kind == AR_PHASE_EXCHANGE || phase->kind == AR_PHASE_SUMS;
        if (phase->steps > 0 && waits) {
            recurrence_finish(recurrence);
            (phase->kind == AR_PHASE_SUMS ? recurrence_run_sums
                                          : recurrence_run_exchange)(recurrence);
        } else if (bundle->is_regular && are_alike) {
            recurrence_run_bundle(recurrence, bundle);
        } else if (phase->steps > 0) {
            (phase->kind == AR_PHASE_TREE ? recurrence_run_tree : recurrence_run_moves)(recurrence);
        }
        recurrence->has_flights = recurrence->has_flights || !waits;
        recurrence->first_step += phase->steps;
    }
    recurrence_mark(recurrence, lane, AR_MARK_PHASES + flows->phases_count);
}

/* --- a trial --------------------------------------------------------------------------------- */

/* Times closer than this part of them are the same: sums in another order may differ so. */
#define SAME_FRAC 1e-12

/* Whether the same happens on both lanes, groups of a mesh or channels of a group, from states that
 * are alike; false where it is not known. */
static bool are_lanes_alike(const struct recurrence *recurrence, uint32_t lane, uint32_t other)
{
    uint32_t lanes = ar_collective_lanes(&recurrence->flows->resolved);
    lane = ar_flows_lane(recurrence->flows, lane);
    other = ar_flows_lane(recurrence->flows, other);
    bool are = true, is_known = lane == other || recurrence->like[lane] == other + 1;
    for (uint32_t i = 0; i < recurrence->flows->phases_count && are && !is_known; i++) {
        const struct bundle *a = &recurrence->bundles[i * lanes + lane];
        const struct bundle *b = &recurrence->bundles[i * lanes + other];
        size_t places = a->places_count;
        const struct ar_exchange *exchange = recurrence->flows->patterns[i].exchange;
        bool is_sure = recurrence->flows->phases[i].steps == 0 ||
                       (exchange != NULL && exchange->has_lanes_alike);
        are = is_sure ||
              (a->is_regular && b->is_regular && a->rows == b->rows && a->walks == b->walks &&
               memcmp(a->positions, b->positions, places * sizeof *a->positions) == 0 &&
               memcmp(a->latency_s, b->latency_s, places * sizeof *a->latency_s) == 0 &&
               memcmp(a->s_per_byte, b->s_per_byte, places * sizeof *a->s_per_byte) == 0);
        for (size_t k = 0; k < places && are && !is_sure; k++) { /* costs besides those of paths */
            are = a->hops[k].kind->tier == b->hops[k].kind->tier &&
                  a->hops[k].kind->turns == b->hops[k].kind->turns;
        }
    }
    recurrence->like[lane] = are ? other + 1 : 0;
    return are;
}

/* Finds out what all channels of a group have in common. */
static void channels_compare(struct recurrence *recurrence)
{
    const struct ar_order *order = &recurrence->order;
    uint32_t channels = recurrence->collective->channels;
    bool are = order->node_members == 1 && order->uneven_node == 0 && order->mirror_group == 0;
    recurrence->has_same_ranks = are;
    for (uint32_t lane = 0; lane < recurrence->flows->lanes_count; lane++) {
        are = are && are_lanes_alike(recurrence, lane, lane / channels * channels);
    }
    recurrence->has_like_channels = are && !recurrence->flows->is_plain;
}

/* Rates cannot change while messages are under way where no link is shared and there is one phase
 * or exchanges only, or where all ranks start together and move in step, which is when the closed
 * form is exact. */
static bool is_sharing_static(const struct recurrence *recurrence)
{
    uint32_t phases_with_steps = 0;
    bool is_shared = false, are_exchanges = true;
    const struct ar_exchange *last = NULL;
    for (uint32_t i = 0; i < recurrence->flows->phases_count; i++) {
        const struct ar_pattern *pattern = &recurrence->flows->patterns[i];
        if (recurrence->flows->phases[i].steps > 0) {
            phases_with_steps++;
            last = pattern->exchange;
            are_exchanges = are_exchanges && last != NULL;
            is_shared = is_shared || pattern->is_shared;
        }
    }
    return are_exchanges ? last != NULL && last->is_private : phases_with_steps == 1 && !is_shared;
}

/* No call ends before the busiest link can have carried it, behind those before it: what an
 * estimate lacks comes at its end, on all ranks; marks stay as estimated. Returns how much. */
static double call_wait_for_links(struct recurrence *recurrence, double start_s, double finish_s)
{
    const struct ar_call *call = &recurrence->trial->calls[recurrence->call];
    double begin_s = start_s + recurrence->setup_s + call->copy_s;
    recurrence->links_free_s = fmax(recurrence->links_free_s, begin_s) +
                               ar_flows_least_s(recurrence->flows, call->elements);
    double missing_s = recurrence->links_free_s - finish_s;
    if (is_sharing_static(recurrence) || missing_s <= SAME_FRAC * finish_s) {
        return 0;
    }
    for (uint32_t rank = 0; rank < recurrence->ranks; rank++) {
        recurrence->finish_s[rank] += missing_s;
    }
    return missing_s;
}

static void call_run(struct recurrence *recurrence, uint32_t index)
{
    const struct ar_trial *trial = recurrence->trial;
    const struct ar_call *call = &trial->calls[index];
    uint32_t ranks = recurrence->ranks;
    double *ready_s = recurrence->rank_ready_s;
    double *finish_s = recurrence->finish_s;
    struct ar_call_time time = {.start_s = HUGE_VAL, .finish_s = 0};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        ready_s[rank] = ar_later_s(ready_s[rank], ar_trial_ready(trial, index, rank));
        time.start_s = ready_s[rank] < time.start_s ? ready_s[rank] : time.start_s;
        finish_s[rank] = 0;
    }
    recurrence->call = index;
    recurrence->walked = NULL;
    recurrence->reduce_s_per_byte =
        ar_cluster_reduce_cost(recurrence->collective->cluster,
                               (double)(call->elements * recurrence->collective->element_bytes));
    recurrence->setup_s = ar_collective_setup_s(recurrence->collective, call->elements);
    uint32_t positions = recurrence->positions, channels = recurrence->collective->channels;
    /* Groups that do the same as others end as these do, where nobody asks when their ranks do. */
    bool is_alone = trial->calls_count == 1 && trial->rank_finish_s == NULL &&
                    trial->timeline == NULL && trial->rank_start_s == NULL &&
                    trial->rank_factor == NULL;
    uint32_t lanes =
        is_alone ? recurrence->flows->lanes_count : ar_collective_lanes(recurrence->collective);
    uint64_t elements = 0;
    bool may_skip = trial->timeline == NULL && recurrence->has_like_channels;
    uint32_t each = may_skip && call->elements % channels == 0 ? channels : 1;
    for (uint32_t lane = 0, run = 0; lane < lanes; lane += each) {
        struct ar_span part = ar_collective_part(recurrence->collective, call->elements, lane);
        if (may_skip && lane % channels > 0 && part.count == elements) {
            continue; /* it ends as the channel before */
        }
        double *begins_s = recurrence->begins_s, *next_s = begins_s + positions;
        uint32_t *lane_ranks =
            &recurrence->lane_ranks[(size_t)positions *
                                    (recurrence->has_same_ranks ? lane / channels : lane)];
        for (uint32_t position = 0; position < positions && !recurrence->has_lane_ranks;
             position++) {
            lane_ranks[position] = ar_order_rank(&recurrence->order, lane, position);
        }
        for (uint32_t position = 0; position < positions; position++) {
            next_s[position] = ready_s[lane_ranks[position]];
        }
        /* A lane that is like the one that was run before ends with its states. */
        bool is_like = lane > 0 && trial->timeline == NULL && !recurrence->flows->is_plain &&
                       part.count == elements &&
                       memcmp(begins_s, next_s, positions * sizeof *begins_s) == 0 &&
                       are_lanes_alike(recurrence, lane, run);
        if (!is_like) {
            memcpy(begins_s, next_s, positions * sizeof *begins_s);
            memcpy(recurrence->now_s, begins_s, positions * sizeof *begins_s);
            recurrence_mark(recurrence, lane, AR_MARK_START);
            double begin_s = recurrence->setup_s + call->copy_s;
            for (uint32_t position = 0; position < positions; position++) {
                recurrence->now_s[position] += begin_s;
            }
            recurrence_run_lane(recurrence, lane, part.count);
            recurrence_finish(recurrence);
            recurrence_mark(recurrence, lane, AR_MARK_DONE);
            run = lane;
            elements = part.count;
        }
        for (uint32_t position = 0; position < positions; position++) {
            double *finish = &finish_s[lane_ranks[position]];
            *finish = ar_later_s(recurrence->now_s[position], *finish);
        }
    }
    recurrence->has_lane_ranks = true;
    time.finish_s = ar_last_s(finish_s, ranks);
    time.finish_s += call_wait_for_links(recurrence, time.start_s, time.finish_s);
    memcpy(ready_s, finish_s, ranks * sizeof *ready_s);
    trial->times[index] = time;
}

static enum ar_status recurrence_run(struct ar_trial *trial, struct ar_error *err)
{
    const struct ar_flows *flows;
    const struct ar_cluster_facts *facts = ar_cluster_facts(trial->collective.cluster);
    AR_TRY(ar_trial_flows(trial, &flows, err));
    /* Do ranks differ in nothing but their flows? */
    bool are_alike =
        trial->rank_start_s == NULL && trial->rank_factor == NULL && trial->timeline == NULL;
    for (uint32_t i = 0; i < trial->calls_count && are_alike; i++) {
        uint64_t all = flows->even_elements * trial->collective.channels;
        are_alike = trial->calls[i].elements % all == 0; /* messages have equal sizes */
    }
    flows = are_alike ? flows : ar_flows_whole(flows);
    for (uint32_t i = 0; i < flows->phases_count; i++) { /* while other arrays are not there yet */
        if (flows->patterns[i].tree != NULL) {
            uint64_t bytes = ar_flows_message_bytes(flows, i, trial->calls[0].elements);
            (void)ar_flows_tree_shares(flows, i, (double)bytes);
        }
    }
    struct ar_kept *kept = flows->kept;
    if (kept->memory.last == NULL) { /* nothing is laid out, or memory failed since */
        kept->recurrence = ar_arena_alloc(&kept->memory, 1, sizeof *kept->recurrence);
        *kept->recurrence = (struct recurrence){
            .flows = flows,
            .collective = &flows->collective,
            .order = ar_collective_order(&flows->collective),
            .positions = flows->period,
            .ranks = ar_collective_groups(&flows->collective) * flows->period,
            .copy_s_per_byte = facts->copy_s_per_byte,
            .cost = &facts->message,
        };
        recurrence_create(&kept->memory, kept->recurrence);
        channels_compare(kept->recurrence);
    }
    struct recurrence *recurrence = kept->recurrence;
    recurrence->trial = trial;
    recurrence->collective = &trial->collective;
    recurrence->links_free_s = 0;
    memset(recurrence->rank_ready_s, 0, recurrence->ranks * sizeof(double));
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        call_run(recurrence, i);
    }
    trial->exact = is_sharing_static(recurrence);
    if (!trial->exact && trial->rank_start_s == NULL && trial->rank_factor == NULL) {
        trial->exact = true;
        for (uint32_t i = 0; i < trial->calls_count && trial->exact; i++) {
            bool is_queued = i > 0 && trial->times[i - 1].finish_s > ar_trial_ready(trial, i, 0);
            trial->exact = ar_flows_why_not_exact(flows, trial->calls[i].elements)[0] == '\0' &&
                           !(is_queued && ar_flows_are_ragged(flows));
        }
    }
    ar_copy_text(trial->note, sizeof trial->note,
                 trial->exact ? "" : "ranks that drift apart share links");
    ar_copy_text(trial->options, sizeof trial->options,
                 trial->exact ? "recurrence exact" : "recurrence approximate");
    uint32_t ranks = ar_collective_ranks(&flows->collective);
    uint32_t run = recurrence->ranks; /* they stand for all */
    for (uint32_t rank = 0; trial->rank_finish_s != NULL && rank < ranks; rank += run) {
        memcpy(trial->rank_finish_s + rank, recurrence->rank_ready_s, run * sizeof(double));
    }
    trial->messages_count = trial->calls_count * ar_collective_messages(&trial->collective);
    if (trial->rank_factor == NULL) { /* steps that differ by chance follow each other */
        ar_arena_end(&kept->memory);
    }
    return AR_OK;
}

const struct ar_engine ar_engine_recurrence = {
    .name = "recurrence",
    .title = "dataflow recurrence over ranks: the same moves as array arithmetic; equal to simgrid "
             "where sharing is static",
    .cost = {.trial_s = 50e-6, .message_s = 1.1e-9, .rank_s = 100e-9, .messages = 1000},
    .run = recurrence_run,
};
