/* The messages of a step of an exchange, told apart. */
#include <math.h>
#include <string.h>

#include "exchange_scratch.h"

static bool is_same(const struct ar_message_kind *a, const struct ar_message_kind *b)
{
    return a->rate_Bps == b->rate_Bps && a->latency_s == b->latency_s && a->pieces == b->pieces &&
           ar_tier_is_network(a->tier) == ar_tier_is_network(b->tier);
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
        if (is_same(known, kind)) {
            return slot->kind;
        }
    }
}

/* The rate at which a message of so many buffers goes that leaves the busiest link of its path as
 * the last one of the phase. */
static double rate_at_once(const struct exchange_scratch *scratch, uint32_t flow, double buffers)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    double longest_s = 0;
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        double busy_s = scratch->loads[paths->links[i]];
        longest_s = busy_s > longest_s ? busy_s : longest_s;
    }
    double rate_Bps = longest_s > 0 ? buffers / longest_s : HUGE_VAL;
    return rate_Bps < paths->bandwidth_Bps[flow] ? rate_Bps : paths->bandwidth_Bps[flow];
}

static void find_rates(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                       uint32_t flow, struct ar_message_kind *kind)
{
    double buffers = phase->is_at_once ? (double)kind->pieces / phase->pieces : 0;
    kind->rate_Bps =
        phase->is_at_once ? rate_at_once(scratch, flow, buffers) : scratch->rates->rates_Bps[flow];
    kind->turns = phase->is_at_once ? phase->steps : 1; /* some rank takes part in every step */
}

/* The kinds of the messages of a step, whose rates are known. */
void exchange_find_kinds(struct exchange_scratch *scratch, const struct ar_phase *phase,
                         struct ar_exchange *exchange, struct ar_exchange_step *step)
{
    const struct ar_maxmin *rates = scratch->rates;
    const struct ar_message_kind *last = NULL;
    step->first_kind = exchange->kinds_count;
    scratch->stamp++;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t pieces = (uint32_t)scratch->pieces[scratch->senders[flow]];
        struct ar_message_kind kind = {
            .latency_s = rates->paths.latency_s[flow],
            .pieces = pieces,
            .tier = rates->paths.tiers[flow],
        };
        find_rates(scratch, phase, flow, &kind);
        bool is_last = last != NULL && is_same(last, &kind);
        uint32_t before = exchange->kinds_count;
        uint32_t index = is_last ? (uint32_t)(last - exchange->kinds) - step->first_kind
                                 : find_kind(scratch, exchange, step->first_kind, &kind);
        scratch->kind_of[scratch->places[flow]] = index;
        last = &exchange->kinds[step->first_kind + index];
        if (exchange->kinds_count > before) {
            struct ar_message_kind *made = &exchange->kinds[before];
            made->link = ar_maxmin_narrowest(rates, flow, &made->flows);
            step->is_shared |= kind.rate_Bps < rates->paths.bandwidth_Bps[flow] * (1 - 1e-9);
        }
    }
    step->kinds_count = exchange->kinds_count - step->first_kind;
}

/* Are all messages of a step alike? */
static bool is_alike(const struct ar_exchange *exchange, const struct ar_exchange_step *step)
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

void exchange_add_step(struct ar_exchange *exchange, const struct ar_exchange_step *step)
{
    exchange->is_uniform &= is_alike(exchange, step);
    exchange->is_shared |= step->is_shared;
    for (uint32_t i = 0; i < step->kinds_count; i++) {
        uint32_t pieces = exchange->kinds[step->first_kind + i].pieces;
        exchange->smallest = pieces < exchange->smallest ? pieces : exchange->smallest;
        exchange->largest = pieces > exchange->largest ? pieces : exchange->largest;
    }
}

enum ar_status exchange_make_kinds_room(struct ar_arena *arena, struct exchange_scratch *scratch,
                                        struct ar_exchange *exchange, uint32_t count,
                                        struct ar_error *err)
{
    uint32_t needed = exchange->kinds_count + count;
    if (needed <= scratch->kinds_room) {
        return AR_OK;
    }
    struct ar_message_kind *kinds = ar_arena_grow(arena, exchange->kinds, scratch->kinds_room,
                                                  needed - scratch->kinds_room, sizeof *kinds);
    AR_NEED(kinds, err, "the messages of an exchange");
    exchange->kinds = kinds;
    scratch->kinds_room = needed;
    return AR_OK;
}

/* Which kinds the messages of a step are. */
static enum ar_status keep_kinds(struct ar_arena *arena, const struct exchange_scratch *scratch,
                                 struct ar_exchange_step *step, struct ar_error *err)
{
    size_t places = (size_t)scratch->lanes * step->count;
    uint16_t *narrow = NULL;
    uint32_t *wide = NULL;
    if (step->kinds_count <= UINT16_MAX) {
        step->narrow = narrow = ar_arena_alloc(arena, places, sizeof *narrow);
    } else {
        step->wide = wide = ar_arena_alloc(arena, places, sizeof *wide);
    }
    if (narrow == NULL && wide == NULL) {
        return ar_error_no_memory(err, "the messages of an exchange");
    }
    for (uint32_t lane = 0; lane < scratch->lanes; lane++) {
        const uint32_t *kinds = scratch->kind_of + (size_t)lane * scratch->positions + step->first;
        size_t place = (size_t)lane * step->count;
        for (uint32_t i = 0, k = 0; i < step->count; i++, k = k + 1 < scratch->folded ? k + 1 : 0) {
            if (narrow != NULL) {
                narrow[place + i] = (uint16_t)kinds[k];
            } else {
                wide[place + i] = kinds[k];
            }
        }
    }
    return AR_OK;
}

/* Keeps what a step cannot do without. */
enum ar_status exchange_keep(struct ar_arena *arena, const struct exchange_scratch *scratch,
                             bool is_shift, struct ar_exchange_step *step, struct ar_error *err)
{
    uint32_t end = scratch->positions;
    if (is_shift) {
        step->ahead = scratch->peers[0];
        step->count = end;
    } else {
        while (end > 0 && scratch->peers[end - 1] == AR_NEVER) {
            end--;
        }
        while (step->first < end && scratch->peers[step->first] == AR_NEVER) {
            step->first++;
        }
        step->count = end - step->first;
        uint32_t *peers = ar_arena_alloc(arena, step->count, sizeof *peers);
        AR_NEED(peers, err, "the messages of an exchange");
        step->peers =
            memcpy(peers, scratch->peers + step->first, step->count * sizeof *step->peers);
    }
    return step->kinds_count > 1 ? keep_kinds(arena, scratch, step, err) : AR_OK;
}
