/* Algorithms broken on purpose, each in one way; the verification must notice, and say what. */
#include <stdio.h>

#include "ar_verify.h"
#include "blocks.h"
#include "test_outcome.h"

/* The ring runs on 4 ranks with 5 elements: one part of 2, three of 1. The tree has four groups of
 * two ranks and 8 parts of 2 and 3 elements. */
enum { RANKS = 4, HALF = RANKS - 1, X = 2, Y = 4, PARTS = 8, PERIOD = 3 };

/* Ways to break moves, of the ring and of the tree; the verification knows nothing of them. */
enum way {
    ORIGINAL,
    SENDS_ELSEWHERE,
    SENDS_TO_ITSELF,
    MISSES_SEND,
    SENDS_OTHER_SPAN,
    GATHERS_TOO_EARLY,
    WRITES_BEYOND,
    ALWAYS_REDUCES,
    SENDS_IN_THE_MIDDLE,
    SWAPS_PARTS,
    SKIPS_LAST_PART,
    HURRIES_UP,
    USES_TWO_PLACES,
    SENDS_AGAIN,
};

/* How a broken algorithm misstates its phases; TRUTH: it states them as they are. */
enum saying {
    TRUTH,
    REDUCE,
    COPY,
    LESS_STEPS,
    MORE_MESSAGES,
    MORE_PARTS,
    JOINED_PHASES,
    ONE_MESSAGE,
    UP_FOR_EVER,
    WALK,
    LONG_PERIOD,
};

struct mutant {
    const char *what;
    const struct ar_algorithm *of;
    struct ar_shape shape;
    uint64_t elements;
    const char *caught; /* part of the error */
    enum way way;
    enum saying says;
    uint32_t phases_count; /* 0: the original's */
};

static const struct mutant *mutant; /* that is verified */

/* Parts 2k and 2k + 1 change places: all ranks agree, and the sums are right. */
static struct ar_move swap_parts(uint64_t elements, struct ar_move move)
{
    struct ar_move swapped = move;
    struct ar_span whole = {.first = 0, .count = elements};
    for (uint32_t part = 0; part < PARTS; part++) {
        uint64_t first = ar_span_part(whole, PARTS, part).first;
        struct ar_slice other = ar_slice_all(ar_span_part(whole, PARTS, part ^ 1));
        swapped.send_span = move.send_span.whole.first == first ? other : swapped.send_span;
        swapped.receive_span =
            move.receive_span.whole.first == first ? other : swapped.receive_span;
    }
    return swapped;
}

/* One rank sends a slice to another, or nothing. */
static struct ar_move send_one(bool sends, uint32_t position, uint32_t from, struct ar_slice slice)
{
    return (struct ar_move){.sends = sends && position == from,
                            .receive =
                                sends && position == 1 - from ? AR_RECEIVE_REDUCE : AR_RECEIVE_NONE,
                            .send_to = 1 - from,
                            .receive_from = from,
                            .send_span = slice,
                            .receive_span = slice};
}

static struct ar_move mutant_move(const struct ar_shape *shape, uint64_t elements,
                                  uint32_t position, uint32_t step)
{
    const struct ar_algorithm *of = mutant->of;
    const struct ar_span whole = {.first = 0, .count = elements};
    struct ar_move none = {.sends = false, .receive = AR_RECEIVE_NONE}, move = none;
    uint32_t steps = ar_algorithm_steps(of, shape), period = step / PERIOD;
    if (step < steps) {
        move = ar_algorithm_move(of, shape, elements, position, step);
    }
    switch (mutant->way) {
    case ORIGINAL:
        break;
    case SENDS_ELSEWHERE:
        move.send_to = (position + 2) % RANKS;
        break;
    case SENDS_TO_ITSELF:
        move.send_to = move.receive_from = position;
        break;
    case MISSES_SEND:
        move.sends = move.sends && !(step == 1 && position == 3);
        break;
    case SENDS_OTHER_SPAN:
        move.send_span = ar_slice_all(ar_span_part(whole, RANKS, (position + step) % RANKS));
        break;
    case GATHERS_TOO_EARLY: /* send and receive agree, but on the parts of another step */
        return step < HALF ? move
                           : ar_algorithm_move(of, shape, elements, position, 3 * HALF - 1 - step);
    case WRITES_BEYOND:
        return ar_algorithm_move(of, shape, elements + 1, position, step);
    case ALWAYS_REDUCES:
        move.receive = AR_RECEIVE_REDUCE;
        break;
    case SENDS_IN_THE_MIDDLE: /* rank 0 sends once, in the second of three steps */
        return send_one(step == 1, position, 0, ar_slice_all(whole));
    case SWAPS_PARTS:
        return swap_parts(elements, move);
    case SKIPS_LAST_PART: /* the ranks agree to leave out the last period of the way up */
        return step + PERIOD >= steps / 2 && step < steps / 2 ? none : move;
    case HURRIES_UP: /* parents pass on what they have before their children have given theirs */
        return step < steps / 2
                   ? ar_algorithm_move(of, shape, elements, position, steps / 2 - 1 - step)
                   : move;
    case USES_TWO_PLACES: /* two parts up in steps 0 and 3, then two elsewhere in the period */
        return send_one(step % PERIOD < 2, position, 1,
                        ar_slice_all(ar_span_part(whole, 2, period % 2)));
    case SENDS_AGAIN: /* two parts, a pause, two parts */
        return send_one(
            step % PERIOD == 0 && period != 2, position, 1,
            ar_slice_all(ar_span_part(whole, 2, (period < 2 ? period : period - 3) % 2)));
    }
    return move;
}

static uint32_t mutant_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(mutant->of, shape, phases);
    uint32_t steps = phases[0].steps + phases[1].steps + phases[2].steps; /* of the torus */
    switch (mutant->says) {
    case TRUTH:
        break;
    case REDUCE:
        phases->copies_from = phases->steps;
        break;
    case COPY:
        phases->copies_from = 0;
        break;
    case LESS_STEPS:
        phases->steps--;
        phases->messages -= RANKS;
        break;
    case MORE_MESSAGES:
        phases->messages++;
        break;
    case MORE_PARTS:
        phases->parts = 5;
        break;
    case JOINED_PHASES: /* the three of the torus are one */
        *phases = (struct ar_phase){.name = "joined",
                                    .steps = steps,
                                    .parts = 1,
                                    .messages = (uint64_t)steps * 6,
                                    .copies_from = steps / 2};
        break;
    case ONE_MESSAGE:
        *phases = (struct ar_phase){
            .name = "one message", .steps = 3, .parts = 1, .messages = 1, .copies_from = 3};
        break;
    case UP_FOR_EVER: /* over one hop */
        *phases = (struct ar_phase){.name = "pair",
                                    .kind = AR_PHASE_TREE,
                                    .steps = 15,
                                    .parts = 2,
                                    .messages = 4,
                                    .copies_from = 15,
                                    .period = PERIOD};
        break;
    case WALK:
        phases[0].period = phases[1].period = 0;
        phases[0].kind = phases[1].kind = AR_PHASE_WALK;
        break;
    case LONG_PERIOD:
        phases->period = AR_PERIOD_MAX + 1;
        break;
    }
    return mutant->phases_count > 0 ? mutant->phases_count : count;
}

/* --- all of them ------------------------------------------------------------------------------ */

#define RING(what, caught, ...)                                                                    \
    {                                                                                              \
        what, &ar_algorithm_ring, {.x = RANKS, .y = 1}, 5, caught, __VA_ARGS__                     \
    }
#define TREE(what, caught, ...)                                                                    \
    {                                                                                              \
        what, &ar_algorithm_tree, {.x = X, .y = Y}, 19, caught, __VA_ARGS__                        \
    }
/* Without elements nothing is added twice; what is left is what the phase promises. */
#define PAIR(what, caught, ...)                                                                    \
    {                                                                                              \
        what, &ar_algorithm_tree, {.x = 1, .y = 2}, 0, caught, __VA_ARGS__                         \
    }
#define OUT_OF_ORDER "does not send all parts one after the other"

static const struct mutant mutants[] = {
    RING("sends to the wrong peer", "sends to a rank that does not receive from it",
         .way = SENDS_ELSEWHERE),
    RING("sends to itself", "sends to a rank that is not there, or to itself",
         .way = SENDS_TO_ITSELF),
    RING("misses a send", "receives from a rank that does not send to it", .way = MISSES_SEND),
    RING("sends another span than its peer expects", "sends another span than its peer receives",
         .way = SENDS_OTHER_SPAN),
    RING("gathers parts before it has them", "does not send what it received in the step before",
         .way = GATHERS_TOO_EARLY),
    RING("writes beyond the buffer", "receives beyond the end of the buffer", .way = WRITES_BEYOND),
    RING("adds twice", "adds a contribution a second time", .way = ALWAYS_REDUCES, .says = REDUCE),
    RING("misses its last step", "lacks a contribution at the end", .says = LESS_STEPS),
    RING("miscounts messages", "another number of messages than it says", .says = MORE_MESSAGES),
    RING("says copy where it reduces", "receive is not of the kind its phase says", .says = COPY),
    RING("sends more than its share", "sends more than the share its phase says",
         .says = MORE_PARTS),
    RING("sends in the middle of a phase only",
         "sends, but not in one run from the first or to the last step of its phase",
         .way = SENDS_IN_THE_MIDDLE, .says = ONE_MESSAGE, .phases_count = 1),
    {"changes its peer within a phase",
     &ar_algorithm_torus2d,
     {.x = 2, .y = 3},
     5,
     "changes its peer within a phase",
     .says = JOINED_PHASES,
     .phases_count = 1},
    TREE("sends its parts in another order", OUT_OF_ORDER, .way = SWAPS_PARTS),
    TREE("does not send the last part", OUT_OF_ORDER, .way = SKIPS_LAST_PART),
    TREE("goes up before the children have come", OUT_OF_ORDER, .way = HURRIES_UP),
    TREE("calls a tree a walk", "sends, but not in one run", .says = WALK),
    TREE("has a longer period than may be", "phase has a period that it may not have",
         .says = LONG_PERIOD),
    PAIR("has two hops between the same ranks", "sends to the same rank at two places of a period",
         .way = USES_TWO_PLACES, .says = UP_FOR_EVER, .phases_count = 1),
    PAIR("sends the buffer over a hop again", "sends the buffer twice over a hop",
         .way = SENDS_AGAIN, .says = UP_FOR_EVER, .phases_count = 1),
};

Test(mutants, each_is_caught_where_its_original_passes)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        mutant = &mutants[i];
        struct ar_algorithm broken = *mutant->of;
        char shape[AR_SHAPE_TEXT], where[64];
        uint64_t cases = 0;
        TEST_OK(ar_verify(mutant->of, &mutant->shape, mutant->elements, &why));
        broken.move = mutant->way != ORIGINAL ? mutant_move : broken.move;
        broken.phases = mutant->says != TRUTH ? mutant_phases : broken.phases;
        TEST_FAILS(AR_INTERNAL, mutant->caught,
                   ar_verify(&broken, &mutant->shape, mutant->elements, &why));
        snprintf(where, sizeof where, "shape %s, %u elements, step ",
                 ar_shape_format(&mutant->shape, shape), (unsigned)mutant->elements);
        TEST_FAILS(AR_INTERNAL, where, ar_verify(&broken, &mutant->shape, mutant->elements, &why));
        if (mutant->of == &ar_algorithm_ring) {
            cr_expect_eq(ar_verify_ranks(&broken, RANKS, &cases, AR_IGNORED), AR_INTERNAL);
        }
    }
}
