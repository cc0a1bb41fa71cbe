/* Steps of exchanges in which each position has one peer, which it swaps with, sends to or gets
 * from: where steps of training that differ by chance follow each other, a message takes as long in
 * each of them, so its time is found once. Results are the same without this file (test_fast.c). */
#include <string.h>

#include "recurrence.h"
#include "ring_kernel.h"

/* Pairs that are worth a call of vector code; the number of a class is a byte. */
enum { VECTOR = 8, CLASSES_MAX = 256 };

/* Both of a pair go on when the later one has come, a message has taken its time, and each has
 * added up what it got, if anything. Pairs that take as long are a class. */
struct pair_class {
    double time_s, sums_s[2]; /* the first one's, the other one's */
};

/* Pairs that lie a stride from each other on both sides. Those beside each other are of two classes
 * at most, which differ in the time of a message alone. */
struct pair_run {
    uint32_t first, other, count, stride, one, two;
};

struct pair_step {
    uint8_t *classes;      /* [position of the first]; NULL: nobody has looked at the step yet */
    struct pair_run *runs; /* NULL: some have several peers, or there are too many classes */
    uint32_t runs_count, known_count;
    struct pair_class known[CLASSES_MAX];
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

/* The number of a class; CLASSES_MAX: there are too many. */
static uint32_t class_find(const struct pair_class *class, struct pair_step *step)
{
    uint32_t found = 0;
    while (found < step->known_count && memcmp(&step->known[found], class, sizeof *class) != 0) {
        found++;
    }
    if (found == step->known_count && found < CLASSES_MAX) {
        step->known[step->known_count++] = *class;
    }
    return found;
}

/* Adds a pair to a run, if it goes on there. */
static bool run_takes(const struct pair_step *step, uint32_t first, uint32_t other, uint32_t number,
                      struct pair_run *run)
{
    uint32_t stride = run->count > 1 ? run->stride : first - run->first;
    const struct pair_class *one = &step->known[run->one], *class = &step->known[number];
    if (first != run->first + run->count * stride || other != run->other + run->count * stride ||
        (stride == 1 && (memcmp(one->sums_s, class->sums_s, sizeof one->sums_s) != 0 ||
                         (number != run->one && number != run->two && run->one != run->two)))) {
        return false;
    }
    run->stride = stride;
    run->two = number != run->one ? number : run->two;
    run->count++;
    return true;
}

void pairs_remember(const struct recurrence *recurrence, uint32_t at, const double *times_s,
                    const double *sums_s, struct pairs *pairs)
{
    struct ar_arena *arena = &recurrence->flows->kept->memory, room AR_ENDS_HERE = {NULL};
    const struct ar_exchange_step *flows = &recurrence->pattern->exchange->steps[at];
    uint32_t count = recurrence->positions;
    if (pairs == NULL || pairs->steps[at].classes != NULL) {
        return;
    }
    struct pair_step *step = &pairs->steps[at];
    struct pair_run *runs = ar_arena_room(&room, count, sizeof *runs);
    uint32_t *others = ar_arena_room(&room, count, sizeof *others);
    struct pair_class *classes = ar_arena_alloc(&room, count, sizeof *classes);
    step->classes = ar_arena_room(arena, count, sizeof *step->classes);
    for (uint32_t i = 0; i < count; i++) {
        others[i] = i;
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        if (flows->peers[i] != AR_NEVER) {
            uint32_t from = flows->first + i * flows->stride, to = flows->peers[i];
            bool are_free = others[from] == from && others[to] == to;
            if (!are_free && others[from] != to) { /* one has another peer, too */
                return;
            }
            others[from] = to;
            others[to] = from;
            classes[from].time_s = classes[to].time_s = ar_later_s(classes[to].time_s, times_s[i]);
            classes[to].sums_s[0] = classes[from].sums_s[1] = sums_s[i];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (others[i] <= i) { /* nothing to do, or done */
            continue;
        }
        uint32_t number = class_find(&classes[i], step);
        if (number == CLASSES_MAX) {
            return;
        }
        step->classes[i] = (uint8_t)number;
        uint32_t made = step->runs_count; /* the last two go on in turn, as in a swing */
        if ((made < 1 || !run_takes(step, i, others[i], number, &runs[made - 1])) &&
            (made < 2 || !run_takes(step, i, others[i], number, &runs[made - 2]))) {
            runs[step->runs_count++] = (struct pair_run){i, others[i], 1, 1, number, number};
        }
    }
    step->runs = ar_arena_alloc(arena, step->runs_count + 1, sizeof *runs);
    memcpy(step->runs, runs, step->runs_count * sizeof *runs);
}

VECTOR_CODE
static void run_long(const struct pair_run *run, const struct pair_step *step,
                     double *restrict now_s, double *restrict other_s)
{
    const uint8_t *restrict classes = step->classes + run->first;
    const struct pair_class one = step->known[run->one];
    double two_s = step->known[run->two].time_s;
    uint8_t first = classes[0];
    size_t count = run->count;
    for (size_t i = 0; i < count; i++) {
        double there_s = ar_later_s(now_s[i], other_s[i]);
        there_s += classes[i] == first ? one.time_s : two_s;
        now_s[i] = there_s + one.sums_s[0];
        other_s[i] = there_s + one.sums_s[1];
    }
}

/* The same of a few pairs, or of some that lie apart. */
static inline void run_short(const struct pair_run *run, const struct pair_step *step,
                             double *now_s, double *other_s)
{
    const uint8_t *classes = step->classes + run->first;
    for (size_t i = 0, end = (size_t)run->count * run->stride; i < end; i += run->stride) {
        const struct pair_class *class = &step->known[classes[i]];
        double there_s = ar_later_s(now_s[i], other_s[i]) + class->time_s;
        now_s[i] = there_s + class->sums_s[0];
        other_s[i] = there_s + class->sums_s[1];
    }
}

bool pairs_run(const struct pairs *pairs, uint32_t at, double *now_s)
{
    bool is_known = pairs != NULL && pairs->steps[at].runs != NULL;
    const struct pair_step *step = is_known ? &pairs->steps[at] : NULL;
    for (uint32_t i = 0; is_known && i < step->runs_count; i++) {
        const struct pair_run *run = &step->runs[i];
        (run->count < VECTOR || run->stride > 1 ? run_short : run_long)(
            run, step, now_s + run->first, now_s + run->other);
    }
    return is_known;
}
