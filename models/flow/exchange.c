#include <math.h>
#include <string.h>

#include "ar_exchange.h"

/* Who uses a link, in all exchanges so far. */
struct users {
    uint32_t sender, receiver;       /* one more than their place; 0: nobody yet */
    bool has_senders, has_receivers; /* several */
};

/* A place of the table that finds a kind again. */
struct slot {
    uint32_t stamp; /* of the step that has filled it */
    uint32_t kind;
};

struct exchange_scratch {
    const struct ar_collective *collective;
    struct flow_rates *rates;
    uint32_t positions, lanes;
    uint32_t *ranks;  /* [lane][position] */
    uint32_t *peers;  /* [position]: the present step */
    uint32_t *pieces; /* [position] */
    struct ar_flow *flows;
    uint32_t *places; /* [flow]: who sends it */
    uint32_t flows_count;
    uint32_t *kind_of;   /* [place] */
    double *loads;       /* [link]: pieces, of a phase that goes at once */
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
    *scratch = made;
    return AR_OK;
}

/* The messages of a step. Of a buffer with one element to a piece, elements are pieces. */
static void find_flows(struct exchange_scratch *scratch, const struct ar_phase *phase,
                       uint32_t step)
{
    const struct ar_collective *collective = scratch->collective;
    for (uint32_t position = 0; position < scratch->positions; position++) {
        struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                phase->pieces, position, step);
        scratch->peers[position] = move.sends ? move.send_to : AR_NEVER;
        scratch->pieces[position] = move.sends ? (uint32_t)move.send_span.count : 0;
    }
    scratch->flows_count = 0;
    for (uint32_t lane = 0; lane < scratch->lanes; lane++) {
        const uint32_t *ranks = scratch->ranks + (size_t)lane * scratch->positions;
        for (uint32_t position = 0; position < scratch->positions; position++) {
            if (scratch->peers[position] != AR_NEVER) {
                uint32_t flow = scratch->flows_count++;
                scratch->places[flow] = lane * scratch->positions + position;
                scratch->flows[flow] =
                    (struct ar_flow){ranks[position], ranks[scratch->peers[position]]};
            }
        }
    }
}

static void use(struct users *users, uint32_t sender, uint32_t receiver)
{
    users->has_senders |= users->sender != 0 && users->sender != sender;
    users->has_receivers |= users->receiver != 0 && users->receiver != receiver;
    users->sender = sender;
    users->receiver = receiver;
}

/* What the messages of a step, whose paths are known, do to the links. */
static void add_loads(struct exchange_scratch *scratch, const struct ar_phase *phase,
                      double *carried)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    const struct ar_maxmin_link *links = scratch->rates->maxmin.links;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t place = scratch->places[flow];
        uint32_t position = place % scratch->positions;
        uint32_t receiver = place - position + scratch->peers[position];
        double pieces = scratch->pieces[position];
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            struct users *users = &scratch->users[paths->links[i]];
            carried[paths->links[i]] += pieces / phase->pieces;
            scratch->loads[paths->links[i]] += pieces;
            use(users, place + 1, receiver + 1);
            scratch->is_private &=
                !links[paths->links[i]].is_shared || !(users->has_senders && users->has_receivers);
        }
    }
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

/* The rate at which a message of pieces goes that leaves the busiest link of its path as the last
 * one. */
static double rate_at_once(const struct exchange_scratch *scratch, uint32_t flow, uint32_t pieces)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    double slowest_Bps = paths->bandwidth_Bps[flow];
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        const struct ar_maxmin_link *link = &scratch->rates->maxmin.links[paths->links[i]];
        double load = scratch->loads[paths->links[i]];
        double rate_Bps = link->bandwidth_Bps * pieces / load;
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
            .rate_Bps =
                phase->is_at_once ? rate_at_once(scratch, flow, pieces) : rates->rates_Bps[flow],
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
                           struct ar_exchange_step *step, struct ar_error *err)
{
    uint32_t positions = scratch->positions;
    size_t places = (size_t)scratch->lanes * positions;
    bool is_shift = scratch->flows_count == places;
    for (uint32_t i = 0; i < positions && is_shift; i++) {
        is_shift = (scratch->peers[i] + positions - i) % positions == scratch->peers[0];
    }
    if (is_shift) {
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
    for (size_t i = 0; narrow != NULL && i < places; i++) {
        narrow[i] = (uint16_t)scratch->kind_of[i];
    }
    if (wide != NULL) {
        memcpy(wide, scratch->kind_of, places * sizeof *wide);
    }
    return AR_OK;
}

static enum ar_status resolve_step(struct ar_arena *arena, struct exchange_scratch *scratch,
                                   const struct ar_phase *phase, uint32_t step, double *carried,
                                   struct ar_exchange *exchange, struct ar_exchange_step *made,
                                   struct ar_error *err)
{
    struct flow_rates *rates = scratch->rates;
    find_flows(scratch, phase, step);
    if (phase->is_at_once) { /* its paths have been added */
        AR_TRY(ar_paths_find(rates->arena, rates->cluster, scratch->flows, scratch->flows_count,
                             &rates->paths, err));
    } else {
        AR_TRY(flow_rates_find(rates, scratch->flows, scratch->flows_count, err));
        add_loads(scratch, phase, carried);
    }
    AR_TRY(make_kinds_room(arena, scratch, exchange, err));
    memset(scratch->kind_of, 0,
           (size_t)scratch->lanes * scratch->positions * sizeof *scratch->kind_of);
    find_kinds(scratch, phase, exchange, made);
    exchange->is_uniform &= are_alike(exchange, made);
    return keep(arena, scratch, made, err);
}

/* All messages of a phase that goes at once, on the links together. */
static enum ar_status add_all(struct exchange_scratch *scratch, const struct ar_phase *phase,
                              uint32_t first_step, double *carried, struct ar_error *err)
{
    struct flow_rates *rates = scratch->rates;
    for (uint32_t step = 0; step < phase->steps; step++) {
        find_flows(scratch, phase, first_step + step);
        AR_TRY(ar_paths_find(rates->arena, rates->cluster, scratch->flows, scratch->flows_count,
                             &rates->paths, err));
        add_loads(scratch, phase, carried);
    }
    return AR_OK;
}

enum ar_status exchange_resolve(struct ar_arena *arena, struct exchange_scratch *scratch,
                                const struct ar_phase *phase, uint32_t first_step, double *carried,
                                struct ar_exchange **exchange, struct ar_error *err)
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
    if (phase->is_at_once) {
        memset(scratch->loads, 0,
               ar_cluster_links_count(scratch->collective->cluster) * sizeof *scratch->loads);
        AR_TRY(add_all(scratch, phase, first_step, carried, err));
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        AR_TRY(resolve_step(arena, scratch, phase, first_step + step, carried, made,
                            &made->steps[step], err));
    }
    scratch->is_private &= !phase->is_at_once || phase->steps == 1;
    made->is_private = scratch->is_private;
    *exchange = made;
    return AR_OK;
}
