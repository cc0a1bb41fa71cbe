#include <string.h>

#include "exchange_scratch.h"

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

static void find_like_steps(struct exchange_scratch *scratch, uint32_t steps)
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

enum ar_status exchange_scratch_create(struct ar_arena *arena,
                                       const struct ar_collective *collective,
                                       struct ar_maxmin *rates, struct exchange_scratch **scratch,
                                       struct ar_error *err)
{
    struct exchange_scratch *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_order order = ar_collective_order(collective);
    uint32_t lanes = ar_collective_lanes(collective);
    size_t places = (size_t)lanes * order.ranks;
    size_t links = ar_cluster_links_count(collective->cluster);
    uint32_t steps = ar_algorithm_steps(collective->algorithm, &collective->shape);
    uint32_t slots = 16;
    while (slots < 2 * places) {
        slots *= 2;
    }
    AR_NEED(made, err, "the messages of an exchange");
    *made = (struct exchange_scratch){
        .collective = collective,
        .rates = rates,
        .positions = order.ranks,
        .lanes = lanes,
        .ranks = ar_arena_alloc(arena, places, sizeof *made->ranks),
        .peers = ar_arena_alloc(arena, order.ranks, sizeof *made->peers),
        .pieces = ar_arena_alloc(arena, order.ranks, sizeof *made->pieces),
        .like = ar_arena_alloc(arena, steps, sizeof *made->like),
        .flows = ar_arena_alloc(arena, places, sizeof *made->flows),
        .places = ar_arena_alloc(arena, places, sizeof *made->places),
        .senders = ar_arena_alloc(arena, places, sizeof *made->senders),
        .kind_of = ar_arena_alloc(arena, places, sizeof *made->kind_of),
        .loads = ar_arena_alloc(arena, links, sizeof *made->loads),
        .users = ar_arena_alloc(arena, links, sizeof *made->users),
        .is_private = true,
        .slots = ar_arena_alloc(arena, slots, sizeof *made->slots),
        .slots_mask = slots - 1,
    };
    AR_NEED(!arena->is_broken, err, "the messages of an exchange");
    for (size_t i = 0; i < places; i++) {
        made->ranks[i] =
            ar_order_rank(&order, (uint32_t)(i / order.ranks), (uint32_t)(i % order.ranks));
    }
    made->period = find_period(made);
    find_like_steps(made, steps);
    *scratch = made;
    return AR_OK;
}

/* Of a buffer with one element to a piece, elements are pieces. */
static void find_moves(struct exchange_scratch *scratch, const struct ar_phase *phase,
                       uint32_t step)
{
    const struct ar_collective *collective = scratch->collective;
    uint32_t positions = scratch->positions;
    struct ar_sends sends = {
        .end = phase->is_shift ? 1 : positions, .peers = scratch->peers, .counts = scratch->pieces};
    ar_algorithm_sends(collective->algorithm, &collective->shape, phase->pieces, step, &sends);
    uint32_t ahead = scratch->peers[0];
    for (uint32_t position = sends.end; position < scratch->folded; position++) {
        uint32_t to_end = positions - position;
        scratch->peers[position] = ahead < to_end ? position + ahead : ahead - to_end;
        scratch->pieces[position] = scratch->pieces[0];
    }
}

/* The messages of a step that stand for all. */
static void find_flows(struct exchange_scratch *scratch)
{
    uint32_t flow = 0, first = AR_NEVER;
    scratch->is_even = true;
    for (uint32_t lane = 0; lane < scratch->lanes; lane++) {
        const uint32_t *ranks = scratch->ranks + (size_t)lane * scratch->positions;
        for (uint32_t position = 0; position < scratch->folded; position++) {
            if (scratch->peers[position] != AR_NEVER) {
                first = first == AR_NEVER ? position : first;
                scratch->is_even &= scratch->pieces[position] == scratch->pieces[first];
                scratch->places[flow] = lane * scratch->positions + position;
                scratch->senders[flow] = position;
                scratch->flows[flow++] =
                    (struct ar_flow){ranks[position], ranks[scratch->peers[position]]};
            }
        }
    }
    scratch->flows_count = flow;
}

/* The peers of a step and which kinds their messages are, the other way round: what somebody sends
 * is like what comes from the same peer in the other. */
static enum ar_status mirror_step(struct ar_arena *arena, const struct exchange_scratch *scratch,
                                  struct ar_exchange_step *step, struct ar_error *err)
{
    uint32_t positions = scratch->positions;
    const struct ar_exchange_step from = *step;
    uint32_t *peers = scratch->peers;
    if (from.ahead > 0 && from.kinds_count <= 1) {
        step->ahead = positions - from.ahead;
        return AR_OK;
    }
    for (uint32_t i = 0; i < positions; i++) {
        uint32_t to_end = positions - i;
        uint32_t to = from.ahead == 0       ? from.peers[i]
                      : from.ahead < to_end ? i + from.ahead
                                            : from.ahead - to_end;
        peers[to] = i;
    }
    for (uint32_t lane = 0; lane < scratch->lanes && from.kinds_count > 1; lane++) {
        size_t first = (size_t)lane * positions;
        for (uint32_t i = 0; i < positions; i++) {
            size_t place = first + peers[i];
            scratch->kind_of[first + i] =
                from.narrow != NULL ? from.narrow[place] : from.wide[place];
        }
    }
    return exchange_keep(arena, scratch, from.ahead > 0, step, err);
}

/* A step that was resolved, here or in a phase before. */
static enum ar_status copy_step(struct ar_arena *arena, struct exchange_scratch *scratch,
                                const struct like_steps *known, bool is_mirror,
                                struct ar_exchange *exchange, struct ar_exchange_step *step,
                                struct ar_error *err)
{
    *step = *known->made;
    if (known->exchange != exchange) {
        AR_TRY(exchange_make_kinds_room(arena, scratch, exchange, step->kinds_count, err));
        memcpy(exchange->kinds + exchange->kinds_count, known->exchange->kinds + step->first_kind,
               step->kinds_count * sizeof *exchange->kinds);
        step->first_kind = exchange->kinds_count;
        exchange->kinds_count += step->kinds_count;
    }
    return is_mirror ? mirror_step(arena, scratch, step, err) : AR_OK;
}

static enum ar_status resolve_step(struct ar_arena *arena, struct exchange_scratch *scratch,
                                   const struct ar_phase *phase, uint32_t first_step, uint32_t step,
                                   struct link_sums *sums, struct ar_exchange *exchange,
                                   struct ar_error *err)
{
    struct like_steps *known = &scratch->like[first_step + step];
    struct ar_exchange_step *made = &exchange->steps[step];
    struct ar_maxmin *rates = scratch->rates;
    uint32_t period = scratch->folded < scratch->positions ? scratch->folded : 0;
    find_moves(scratch, phase, first_step + step);
    find_flows(scratch);
    scratch->present = known;
    if (phase->is_at_once) { /* its paths have been added */
        AR_TRY(ar_maxmin_find_paths(rates, scratch->flows, scratch->flows_count, period, err));
    } else {
        AR_TRY(ar_maxmin_find(rates, scratch->flows, scratch->flows_count, period, err));
        exchange_add_loads(scratch, phase, sums);
    }
    AR_TRY(exchange_make_kinds_room(arena, scratch, exchange, scratch->flows_count, err));
    memset(scratch->kind_of, 0,
           (size_t)scratch->lanes * scratch->positions * sizeof *scratch->kind_of);
    exchange_find_kinds(scratch, phase, exchange, made);
    known->exchange = exchange;
    known->made = made;
    return exchange_keep(arena, scratch, phase->is_shift, made, err);
}

/* How many steps of its phase the present step stands for. */
static uint32_t times_in_phase(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                               uint32_t step)
{
    return scratch->present->goes_both_ways && 2 * step + 1 != phase->steps ? 2 : 1;
}

/* All messages of a phase that goes at once, on the links together. */
static enum ar_status add_all(struct exchange_scratch *scratch, const struct ar_phase *phase,
                              uint32_t first_step, struct link_sums *sums, struct ar_error *err)
{
    const struct ar_maxmin *maxmin = scratch->rates;
    uint32_t period = scratch->folded < scratch->positions ? scratch->folded : 0;
    uint32_t phases = 0;
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        scratch->loads[maxmin->known[i]] = 0;
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        if (scratch->like[first_step + step].first == first_step + step) {
            scratch->present = &scratch->like[first_step + step];
            uint32_t times = times_in_phase(scratch, phase, step);
            phases = scratch->present->count / times;
            find_moves(scratch, phase, first_step + step);
            find_flows(scratch);
            AR_TRY(ar_maxmin_find_paths(scratch->rates, scratch->flows, scratch->flows_count,
                                        period, err));
            exchange_add_loads_at_once(scratch, phase, times);
        }
    }
    exchange_end_loads(scratch, phases, sums);
    return AR_OK;
}

enum ar_status exchange_resolve(struct ar_arena *arena, struct exchange_scratch *scratch,
                                const struct ar_phase *phase, uint32_t first_step,
                                struct link_sums *sums, struct ar_exchange **exchange,
                                struct ar_error *err)
{
    struct ar_exchange *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, "the messages of an exchange");
    *made = (struct ar_exchange){
        .positions = scratch->positions,
        .steps = ar_arena_alloc(arena, phase->steps, sizeof *made->steps),
        .smallest = UINT32_MAX,
        .is_uniform = true,
        .is_full = phase->messages == (uint64_t)phase->steps * scratch->positions,
    };
    AR_NEED(made->steps, err, "the messages of an exchange");
    scratch->kinds_room = 0;
    scratch->folded = phase->is_shift ? scratch->period : scratch->positions;
    bool is_new = scratch->like[first_step].first >= first_step;
    if (phase->is_at_once && is_new) { /* all steps are, or all are like those of one phase */
        AR_TRY(add_all(scratch, phase, first_step, sums, err));
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        const struct like_steps *own = &scratch->like[first_step + step];
        struct like_steps *first = &scratch->like[own->first];
        if (first->made == NULL) {
            AR_TRY(resolve_step(arena, scratch, phase, first_step, own->first - first_step, sums,
                                made, err));
        }
        if (first != own) {
            AR_TRY(copy_step(arena, scratch, first, own->is_mirror, made, &made->steps[step], err));
        }
        exchange_add_step(made, &made->steps[step]);
    }
    scratch->is_private &= !phase->is_at_once || phase->steps == 1;
    made->is_private = scratch->is_private;
    *exchange = made;
    return AR_OK;
}
