#include <math.h>
#include <string.h>

#include "ar_exchange.h"

/* Who uses a link, in all exchanges so far: one more than their place; 0: nobody yet. */
struct users {
    uint32_t sender, receiver;
};

enum { SEVERAL = UINT32_MAX };

/* A place of the table that finds a kind again. */
struct slot {
    uint32_t stamp; /* of the step that has filled it */
    uint32_t kind;
};

struct exchange_scratch {
    const struct ar_collective *collective;
    struct flow_rates *rates;
    uint32_t positions, lanes;
    uint32_t period;  /* positions after which the ranks and their paths repeat */
    uint32_t folded;  /* those that stand for all, if all do the same: `period`; else all */
    uint32_t *ranks;  /* [lane][position] */
    uint32_t *peers;  /* [position]: the present step */
    uint32_t *pieces; /* [position] */
    struct ar_flow *flows;
    uint32_t *places; /* [flow]: who sends it */
    uint32_t flows_count;
    uint32_t *kind_of;   /* [place] */
    double *loads;       /* [link]: buffers of a channel, in the phase */
    struct users *users; /* [link] */
    bool is_private;     /* so far */
    struct slot *slots;
    uint32_t slots_mask;
    uint32_t stamp;
    uint32_t kinds_room;
};

static enum ar_status no_memory(struct ar_error *err)
{
    return ar_error_no_memory(err, "the messages of an exchange");
}

/* Ranks of groups stand for no others; nor does any whose lane has an order of its own. */
static uint32_t find_period(const struct exchange_scratch *scratch)
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

enum ar_status exchange_scratch_create(struct ar_arena *arena,
                                       const struct ar_collective *collective,
                                       struct flow_rates *rates, struct exchange_scratch **scratch,
                                       struct ar_error *err)
{
    struct exchange_scratch *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_order order = ar_collective_order(collective);
    uint32_t lanes = ar_collective_lanes(collective);
    size_t places = (size_t)lanes * order.ranks;
    size_t links = ar_cluster_links_count(collective->cluster);
    uint32_t slots = 16;
    while (slots < 2 * places) {
        slots *= 2;
    }
    if (made == NULL) {
        return no_memory(err);
    }
    *made = (struct exchange_scratch){
        .collective = collective,
        .rates = rates,
        .positions = order.ranks,
        .lanes = lanes,
        .ranks = ar_arena_alloc(arena, places, sizeof *made->ranks),
        .peers = ar_arena_alloc(arena, order.ranks, sizeof *made->peers),
        .pieces = ar_arena_alloc(arena, order.ranks, sizeof *made->pieces),
        .flows = ar_arena_alloc(arena, places, sizeof *made->flows),
        .places = ar_arena_alloc(arena, places, sizeof *made->places),
        .kind_of = ar_arena_alloc(arena, places, sizeof *made->kind_of),
        .loads = ar_arena_alloc(arena, links, sizeof *made->loads),
        .users = ar_arena_alloc(arena, links, sizeof *made->users),
        .is_private = true,
        .slots = ar_arena_alloc(arena, slots, sizeof *made->slots),
        .slots_mask = slots - 1,
    };
    if (made->ranks == NULL || made->peers == NULL || made->pieces == NULL || made->flows == NULL ||
        made->places == NULL || made->kind_of == NULL || made->loads == NULL ||
        made->users == NULL || made->slots == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < places; i++) {
        made->ranks[i] =
            ar_order_rank(&order, (uint32_t)(i / order.ranks), (uint32_t)(i % order.ranks));
    }
    made->period = find_period(made);
    *scratch = made;
    return AR_OK;
}

static void find_moves(struct exchange_scratch *scratch, const struct ar_phase *phase,
                       uint32_t step)
{
    const struct ar_collective *collective = scratch->collective;
    uint32_t positions = scratch->positions;
    uint32_t asked = phase->is_shift ? 1 : positions;
    for (uint32_t position = 0; position < asked; position++) {
        /* Of a buffer with one element to a piece, elements are pieces. */
        struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                phase->pieces, position, step);
        scratch->peers[position] = move.sends ? move.send_to : AR_NEVER;
        scratch->pieces[position] = move.sends ? (uint32_t)move.send_span.count : 0;
    }
    uint32_t ahead = scratch->peers[0];
    for (uint32_t position = asked; position < scratch->folded; position++) {
        uint32_t to_end = positions - position;
        scratch->peers[position] = ahead < to_end ? position + ahead : ahead - to_end;
        scratch->pieces[position] = scratch->pieces[0];
    }
}

/* The messages of a step that stand for all. */
static void find_flows(struct exchange_scratch *scratch, const struct ar_phase *phase,
                       uint32_t step)
{
    find_moves(scratch, phase, step);
    scratch->flows_count = 0;
    for (uint32_t lane = 0; lane < scratch->lanes; lane++) {
        const uint32_t *ranks = scratch->ranks + (size_t)lane * scratch->positions;
        for (uint32_t position = 0; position < scratch->folded; position++) {
            if (scratch->peers[position] != AR_NEVER) {
                uint32_t flow = scratch->flows_count++;
                scratch->places[flow] = lane * scratch->positions + position;
                scratch->flows[flow] =
                    (struct ar_flow){ranks[position], ranks[scratch->peers[position]]};
            }
        }
    }
}

static void use(uint32_t *user, uint32_t who)
{
    *user = *user == 0 || *user == who ? who : SEVERAL;
}

/* The place that a message comes to or goes to, seen from where its link stands in the first
 * period. */
static uint32_t seen_from(const struct exchange_scratch *scratch, uint32_t first, uint32_t position,
                          uint32_t turns)
{
    uint32_t back = turns * scratch->folded;
    return first + (position >= back ? position - back : position + scratch->positions - back);
}

/* Whether every link is still used by one sender or one receiver only. */
static bool stays_private(struct exchange_scratch *scratch)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    bool is_folded = scratch->folded < scratch->positions;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t position = scratch->places[flow] % scratch->positions;
        uint32_t first = scratch->places[flow] - position;
        uint32_t to = scratch->peers[position];
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            struct users *users = &scratch->users[paths->links[i]];
            uint32_t turns = is_folded ? paths->turns[i] : 0;
            use(&users->sender, 1 + seen_from(scratch, first, position, turns));
            use(&users->receiver, 1 + seen_from(scratch, first, to, turns));
            if (users->sender == SEVERAL && users->receiver == SEVERAL &&
                ar_maxmin_know(&scratch->rates->maxmin, paths->links[i])->is_shared) {
                return false;
            }
        }
    }
    return true;
}

/* What the messages of a step, whose paths are known, do to the links. */
static void add_loads(struct exchange_scratch *scratch, const struct ar_phase *phase,
                      struct link_sums *sums)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    double *carried = scratch->folded < scratch->positions ? sums->folded : sums->carried;
    sums->period = scratch->period;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t position = scratch->places[flow] % scratch->positions;
        double buffers = (double)scratch->pieces[position] / phase->pieces;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            carried[paths->links[i]] += buffers;
            if (phase->is_at_once) {
                scratch->loads[paths->links[i]] += buffers;
                ar_maxmin_know(&scratch->rates->maxmin, paths->links[i]);
            }
        }
    }
    scratch->is_private = scratch->is_private && stays_private(scratch);
}

/* The kind that a message is, one of those of the step from `first` on, or a new one. */
static uint32_t find_kind(struct exchange_scratch *scratch, struct ar_exchange *exchange,
                          uint32_t first, const struct ar_message_kind *kind)
{
    uint64_t bits[2];
    memcpy(&bits[0], &kind->rate_Bps, sizeof bits[0]);
    memcpy(&bits[1], &kind->latency_s, sizeof bits[1]);
    uint64_t hash = (bits[0] ^ bits[1] * 31 ^ kind->pieces) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct slot *slot = &scratch->slots[i & scratch->slots_mask];
        if (slot->stamp != scratch->stamp) {
            *slot = (struct slot){scratch->stamp, exchange->kinds_count - first};
            exchange->kinds[exchange->kinds_count++] = *kind;
            return slot->kind;
        }
        const struct ar_message_kind *known = &exchange->kinds[first + slot->kind];
        if (known->rate_Bps == kind->rate_Bps && known->latency_s == kind->latency_s &&
            known->pieces == kind->pieces) {
            return slot->kind;
        }
    }
}

/* The rate at which a message goes that leaves the busiest link of its path as the last
 * one. */
static double rate_at_once(const struct exchange_scratch *scratch, uint32_t flow, double buffers)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    double slowest_Bps = paths->bandwidth_Bps[flow];
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        const struct ar_maxmin_link *link = &scratch->rates->maxmin.links[paths->links[i]];
        double rate_Bps = link->bandwidth_Bps * buffers / scratch->loads[paths->links[i]];
        slowest_Bps = link->is_shared && rate_Bps < slowest_Bps ? rate_Bps : slowest_Bps;
    }
    return slowest_Bps;
}

/* The kinds of the messages of a step, whose rates are known. */
static void find_kinds(struct exchange_scratch *scratch, const struct ar_phase *phase,
                       struct ar_exchange *exchange, struct ar_exchange_step *step)
{
    const struct flow_rates *rates = scratch->rates;
    const struct ar_message_kind *last = NULL;
    step->first_kind = exchange->kinds_count;
    scratch->stamp++;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t pieces = scratch->pieces[scratch->places[flow] % scratch->positions];
        struct ar_message_kind kind = {
            .latency_s = rates->paths.latency_s[flow],
            .rate_Bps = phase->is_at_once
                            ? rate_at_once(scratch, flow, (double)pieces / phase->pieces)
                            : rates->rates_Bps[flow],
            .pieces = pieces,
            .tier = rates->paths.tiers[flow],
        };
        bool is_last = last != NULL && last->rate_Bps == kind.rate_Bps &&
                       last->latency_s == kind.latency_s && last->pieces == kind.pieces;
        uint32_t before = exchange->kinds_count;
        uint32_t index = is_last ? (uint32_t)(last - exchange->kinds) - step->first_kind
                                 : find_kind(scratch, exchange, step->first_kind, &kind);
        scratch->kind_of[scratch->places[flow]] = index;
        last = &exchange->kinds[step->first_kind + index];
        if (exchange->kinds_count > before) {
            struct ar_message_kind *made = &exchange->kinds[before];
            made->link = flow_rates_narrowest(rates, flow, &made->flows);
            exchange->is_shared |= kind.rate_Bps < rates->paths.bandwidth_Bps[flow] * (1 - 1e-9);
        }
    }
    step->kinds_count = exchange->kinds_count - step->first_kind;
    for (uint32_t i = step->first_kind; i < exchange->kinds_count; i++) {
        uint32_t pieces = exchange->kinds[i].pieces;
        exchange->smallest = pieces < exchange->smallest ? pieces : exchange->smallest;
        exchange->largest = pieces > exchange->largest ? pieces : exchange->largest;
    }
}

static bool are_alike(const struct ar_exchange *exchange, const struct ar_exchange_step *step)
{
    const struct ar_message_kind *first = &exchange->kinds[step->first_kind];
    for (uint32_t i = 1; i < step->kinds_count; i++) {
        if (first[i].latency_s != first->latency_s || first[i].pieces != first->pieces ||
            fabs(first[i].rate_Bps - first->rate_Bps) > 1e-9 * first->rate_Bps) {
            return false;
        }
    }
    return true;
}

/* Room for as many kinds as a step may have. */
static enum ar_status make_kinds_room(struct ar_arena *arena, struct exchange_scratch *scratch,
                                      struct ar_exchange *exchange, struct ar_error *err)
{
    uint32_t needed = exchange->kinds_count + scratch->flows_count;
    if (needed <= scratch->kinds_room) {
        return AR_OK;
    }
    scratch->kinds_room = 2 * needed;
    struct ar_message_kind *kinds = ar_arena_alloc(arena, scratch->kinds_room, sizeof *kinds);
    if (kinds == NULL) {
        return no_memory(err);
    }
    if (exchange->kinds_count > 0) {
        memcpy(kinds, exchange->kinds, exchange->kinds_count * sizeof *kinds);
    }
    exchange->kinds = kinds;
    return AR_OK;
}

/* Keeps what a step cannot do without. */
static enum ar_status keep(struct ar_arena *arena, const struct exchange_scratch *scratch,
                           const struct ar_phase *phase, struct ar_exchange_step *step,
                           struct ar_error *err)
{
    uint32_t positions = scratch->positions;
    size_t places = (size_t)scratch->lanes * positions;
    if (phase->is_shift) {
        step->ahead = scratch->peers[0];
    } else {
        uint32_t *peers = ar_arena_alloc(arena, positions, sizeof *peers);
        if (peers == NULL) {
            return no_memory(err);
        }
        step->peers = memcpy(peers, scratch->peers, positions * sizeof *peers);
    }
    if (step->kinds_count <= 1) {
        return AR_OK;
    }
    uint16_t *narrow = NULL;
    uint32_t *wide = NULL;
    if (step->kinds_count <= UINT16_MAX) {
        step->narrow = narrow = ar_arena_alloc(arena, places, sizeof *narrow);
    } else {
        step->wide = wide = ar_arena_alloc(arena, places, sizeof *wide);
    }
    if (narrow == NULL && wide == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < places; i += positions) {
        for (uint32_t j = 0, k = 0; j < positions; j++, k = k + 1 < scratch->folded ? k + 1 : 0) {
            if (narrow != NULL) {
                narrow[i + j] = (uint16_t)scratch->kind_of[i + k];
            } else {
                wide[i + j] = scratch->kind_of[i + k];
            }
        }
    }
    return AR_OK;
}

static enum ar_status resolve_step(struct ar_arena *arena, struct exchange_scratch *scratch,
                                   const struct ar_phase *phase, uint32_t step,
                                   struct link_sums *sums, struct ar_exchange *exchange,
                                   struct ar_exchange_step *made, struct ar_error *err)
{
    struct flow_rates *rates = scratch->rates;
    uint32_t period = scratch->folded < scratch->positions ? scratch->folded : 0;
    find_flows(scratch, phase, step);
    if (phase->is_at_once) { /* its paths have been added */
        AR_TRY(flow_rates_find_paths(rates, scratch->flows, scratch->flows_count, period, err));
    } else {
        AR_TRY(flow_rates_find(rates, scratch->flows, scratch->flows_count, period, err));
        add_loads(scratch, phase, sums);
    }
    AR_TRY(make_kinds_room(arena, scratch, exchange, err));
    memset(scratch->kind_of, 0,
           (size_t)scratch->lanes * scratch->positions * sizeof *scratch->kind_of);
    find_kinds(scratch, phase, exchange, made);
    exchange->is_uniform &= are_alike(exchange, made);
    return keep(arena, scratch, phase, made, err);
}

/* All messages of a phase that goes at once, on the links together. */
static enum ar_status add_all(struct exchange_scratch *scratch, const struct ar_phase *phase,
                              uint32_t first_step, struct link_sums *sums, struct ar_error *err)
{
    const struct ar_maxmin *maxmin = &scratch->rates->maxmin;
    uint32_t period = scratch->folded < scratch->positions ? scratch->folded : 0;
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        scratch->loads[maxmin->known[i]] = 0;
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        find_flows(scratch, phase, first_step + step);
        AR_TRY(flow_rates_find_paths(scratch->rates, scratch->flows, scratch->flows_count, period,
                                     err));
        add_loads(scratch, phase, sums);
    }
    return AR_OK;
}

enum ar_status exchange_resolve(struct ar_arena *arena, struct exchange_scratch *scratch,
                                const struct ar_phase *phase, uint32_t first_step,
                                struct link_sums *sums, struct ar_exchange **exchange,
                                struct ar_error *err)
{
    struct ar_exchange *made = ar_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) {
        return no_memory(err);
    }
    *made = (struct ar_exchange){
        .positions = scratch->positions,
        .steps = ar_arena_alloc(arena, phase->steps, sizeof *made->steps),
        .smallest = UINT32_MAX,
        .is_uniform = true,
        .is_full = phase->messages == (uint64_t)phase->steps * scratch->positions,
    };
    if (made->steps == NULL) {
        return no_memory(err);
    }
    scratch->kinds_room = 0;
    scratch->folded = phase->is_shift ? scratch->period : scratch->positions;
    if (phase->is_at_once) {
        AR_TRY(add_all(scratch, phase, first_step, sums, err));
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        AR_TRY(resolve_step(arena, scratch, phase, first_step + step, sums, made,
                            &made->steps[step], err));
    }
    scratch->is_private &= !phase->is_at_once || phase->steps == 1;
    made->is_private = scratch->is_private;
    *exchange = made;
    return AR_OK;
}
