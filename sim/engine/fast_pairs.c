/* Steps of exchanges in which positions swap in pairs: where steps of training that differ by
 * chance follow each other, a message takes as long in each of them, so its time is found once.
 * Results are the same without this file, by exchange.c alone (test_fast.c). */
#include <string.h>

#include "recurrence.h"
#include "ring_kernel.h"

/* BLOCK positions beside each other are run in one loop; the number of a class is a byte. */
enum { BLOCK = 32, CLASSES_MAX = 256 };

enum way {
    MIXED, /* some take longer than others */
    ALIKE, /* all take as long */
    BESIDE /* and have partners that lie beside each other, too */
};

/* A position goes on when the later one of it and its partner has come, a message has taken its
 * time, and what it got is added up. Positions with the same two times are a class. */
struct pair_step {
    uint8_t *classes;         /* [position]; NULL: nobody has looked at the step yet */
    uint8_t *ways;            /* [position / BLOCK]; NULL: no pairs, or too many classes */
    const uint32_t *partners; /* [position], for messages of any size; itself: it has none */
    uint32_t classes_count;
    double times_s[CLASSES_MAX], sums_s[CLASSES_MAX];
};

/* The steps of a phase, and all that their times depend on. */
struct pairs {
    struct pairs_key {
        const struct ar_phase *phase;
        uint64_t lane, elements;
        double reduce_s_per_byte;
    } key;
    struct pair_step *steps;
    struct pairs *next;
};

struct pairs *pairs_find(struct recurrence *recurrence)
{
    const struct ar_phase *phase = recurrence->phase;
    bool has_lanes_alike = recurrence->pattern->exchange->has_lanes_alike;
    struct ar_arena *arena = &recurrence->flows->kept->memory;
    struct pairs *at = recurrence->pairs;
    struct pairs_key key = {phase, has_lanes_alike ? 0 : recurrence->resolved_lane,
                            recurrence->elements, recurrence->reduce_s_per_byte};
    if (recurrence->trial->rank_factor == NULL || recurrence->flows->is_plain ||
        phase->is_at_once || phase->is_shift) {
        return NULL;
    }
    while (at != NULL && memcmp(&at->key, &key, sizeof key) != 0) {
        at = at->next;
    }
    if (at == NULL) {
        at = ar_arena_alloc(arena, 1, sizeof *at);
        *at = (struct pairs){key, ar_arena_alloc(arena, phase->steps, sizeof *at->steps),
                             recurrence->pairs};
        recurrence->pairs = at;
    }
    return at;
}

/* The class of positions with these times; CLASSES_MAX: there are too many. */
static uint32_t class_find(struct pair_step *step, double time_s, double sum_s)
{
    uint32_t found = 0;
    while (found < step->classes_count &&
           (step->times_s[found] != time_s || step->sums_s[found] != sum_s)) {
        found++;
    }
    if (found == step->classes_count && found < CLASSES_MAX) {
        step->times_s[found] = time_s;
        step->sums_s[found] = sum_s;
        step->classes_count++;
    }
    return found;
}

void pairs_remember(const struct recurrence *recurrence, uint32_t at, const double *times_s,
                    const double *sums_s, struct pairs *pairs)
{
    struct ar_arena *arena = &recurrence->flows->kept->memory;
    const struct ar_exchange *exchange = recurrence->pattern->exchange;
    const uint32_t *peers = exchange->steps[at].peers;
    const struct pairs *other = pairs;
    uint32_t count = recurrence->positions;
    if (pairs == NULL || pairs->steps[at].classes != NULL || exchange->steps[at].count < count) {
        return;
    }
    struct pair_step *step = &pairs->steps[at];
    step->classes = ar_arena_room(arena, count, sizeof *step->classes);
    while (other != NULL &&
           (other->key.phase != pairs->key.phase || other->steps[at].partners == NULL)) {
        other = other->next;
    }
    step->partners = other != NULL ? other->steps[at].partners : exchange->is_full ? peers : NULL;
    if (step->partners == NULL) {
        uint32_t *partners = ar_arena_room(arena, count, sizeof *partners);
        for (uint32_t i = 0; i < count; i++) {
            partners[i] = peers[i] != AR_NEVER ? peers[i] : i;
        }
        step->partners = partners;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t partner = step->partners[i];
        bool sends = peers[i] != AR_NEVER;
        uint32_t number = class_find(step, sends ? ar_later_s(times_s[i], times_s[partner]) : 0,
                                     sends ? sums_s[partner] : 0);
        if (step->partners[partner] != i || number == CLASSES_MAX) {
            return;
        }
        step->classes[i] = (uint8_t)number;
    }
    step->ways = ar_arena_alloc(arena, (count - 1) / BLOCK + 1, sizeof *step->ways);
    for (uint32_t first = 0; first < count; first += BLOCK) {
        bool are_alike = true, are_beside = true;
        for (uint32_t i = first + 1; i < first + BLOCK && i < count; i++) {
            are_alike = are_alike && step->classes[i] == step->classes[first];
            are_beside = are_beside && step->partners[i] == step->partners[i - 1] + 1;
        }
        step->ways[first / BLOCK] = !are_alike ? MIXED : are_beside ? BESIDE : ALIKE;
    }
}

VECTOR_CODE
static void blocks_run(size_t count, const struct pair_step *step, const double *restrict now_s,
                       double *restrict next_s)
{
    const uint32_t *partners = step->partners;
    const uint8_t *classes = step->classes;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t end = first + BLOCK < count ? first + BLOCK : count;
        const double *partner_s = now_s + partners[first];
        double time_s = step->times_s[classes[first]], sum_s = step->sums_s[classes[first]];
        enum way way = step->ways[first / BLOCK];
        for (size_t i = first; i < end && way == BESIDE; i++) {
            next_s[i] = ar_later_s(now_s[i], partner_s[i - first]) + time_s + sum_s;
        }
        for (size_t i = first; i < end && way == ALIKE; i++) {
            next_s[i] = ar_later_s(now_s[i], now_s[partners[i]]) + time_s + sum_s;
        }
        for (size_t i = first; i < end && way == MIXED; i++) {
            next_s[i] = ar_later_s(now_s[i], now_s[partners[i]]) + step->times_s[classes[i]] +
                        step->sums_s[classes[i]];
        }
    }
}

bool pairs_run(const struct pairs *pairs, uint32_t at, struct recurrence *recurrence)
{
    double *now_s = recurrence->now_s, *next_s = recurrence->next_s;
    bool is_known = pairs != NULL && pairs->steps[at].ways != NULL;
    if (is_known) {
        blocks_run(recurrence->positions, &pairs->steps[at], now_s, next_s);
        recurrence->now_s = next_s;
        recurrence->next_s = now_s;
    }
    return is_known;
}
