/* Algorithms broken on purpose, each in one way; the verification must notice, and say what. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_verify.h"
#include "blocks.h"

/* The ring runs on 4 ranks with 5 elements: one part of 2, three of 1. The tree has four groups of
 * two ranks and 8 parts of 2 and 3 elements. */
enum { RANKS = 4, HALF = RANKS - 1, X = 2, Y = 4, PARTS = 8, PERIOD = 3 };

/* A move that is asked for. */
struct at {
    const struct ar_shape *shape;
    uint64_t elements;
    uint32_t position, step;
};

struct mutant {
    const char *what;
    const struct ar_algorithm *of;
    struct ar_shape shape;
    uint64_t elements;
    const char *caught;                                                   /* part of the error */
    struct ar_move (*move)(const struct at *at, struct ar_move original); /* NULL: the original */
    void (*phases)(struct ar_phase *original);                            /* the same */
    uint32_t phases_count;                                                /* 0: the original's */
};

static const struct mutant *mutant; /* that is verified */

static struct ar_move move_at(const struct at *at, uint64_t elements, uint32_t step)
{
    return ar_algorithm_move(mutant->of, at->shape, elements, at->position, step);
}

static struct ar_move mutant_move(const struct ar_shape *shape, uint64_t elements,
                                  uint32_t position, uint32_t step)
{
    const struct at at = {shape, elements, position, step};
    const struct ar_move none = {.sends = false, .receive = AR_RECEIVE_NONE};
    uint32_t steps = ar_algorithm_steps(mutant->of, shape);
    return mutant->move(&at, step < steps ? move_at(&at, elements, step) : none);
}

static uint32_t mutant_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(mutant->of, shape, phases);
    mutant->phases(phases);
    return mutant->phases_count > 0 ? mutant->phases_count : count;
}

/* --- moves of the ring ------------------------------------------------------------------------ */

static struct ar_move send_elsewhere(const struct at *at, struct ar_move move)
{
    move.send_to = (at->position + 2) % RANKS;
    return move;
}

static struct ar_move send_to_itself(const struct at *at, struct ar_move move)
{
    move.send_to = move.receive_from = at->position;
    return move;
}

static struct ar_move miss_send(const struct at *at, struct ar_move move)
{
    move.sends = move.sends && !(at->step == 1 && at->position == 3);
    return move;
}

static struct ar_move send_other_span(const struct at *at, struct ar_move move)
{
    struct ar_span whole = {.first = 0, .count = at->elements};
    move.send_span = ar_slice_all(ar_span_part(whole, RANKS, (at->position + at->step) % RANKS));
    return move;
}

/* Send and receive agree, but on the parts of another step. */
static struct ar_move gather_too_early(const struct at *at, struct ar_move move)
{
    return at->step < HALF ? move : move_at(at, at->elements, 3 * HALF - 1 - at->step);
}

static struct ar_move write_beyond(const struct at *at, struct ar_move move)
{
    (void)move;
    return move_at(at, at->elements + 1, at->step);
}

static struct ar_move always_reduce(const struct at *at, struct ar_move move)
{
    (void)at;
    move.receive = AR_RECEIVE_REDUCE;
    return move;
}

/* Rank 0 sends once, in the second of three steps. */
static struct ar_move send_in_the_middle(const struct at *at, struct ar_move move)
{
    move = (struct ar_move){.sends = at->step == 1 && at->position == 0, .send_to = 1};
    move.receive = at->step == 1 && at->position == 1 ? AR_RECEIVE_REDUCE : AR_RECEIVE_NONE;
    move.send_span = move.receive_span =
        ar_slice_all((struct ar_span){.first = 0, .count = at->elements});
    return move;
}

/* --- phases of the ring ----------------------------------------------------------------------- */

static void say_reduce(struct ar_phase *phase)
{
    phase->copies_from = phase->steps;
}

static void say_copy(struct ar_phase *phase)
{
    phase->copies_from = 0;
}

static void say_less_steps(struct ar_phase *phase)
{
    phase->steps--;
    phase->messages -= RANKS;
}

static void say_more_messages(struct ar_phase *phase)
{
    phase->messages++;
}

static void say_more_parts(struct ar_phase *phase)
{
    phase->parts = 5;
}

/* The three phases of the torus are one. */
static void join_phases(struct ar_phase *phases)
{
    uint32_t steps = phases[0].steps + phases[1].steps + phases[2].steps;
    phases[0] = (struct ar_phase){.name = "joined",
                                  .steps = steps,
                                  .parts = 1,
                                  .messages = (uint64_t)steps * 6,
                                  .copies_from = steps / 2};
}

static void say_one_message(struct ar_phase *phase)
{
    *phase = (struct ar_phase){
        .name = "one message", .steps = 3, .parts = 1, .messages = 1, .copies_from = 3};
}

/* --- moves of the tree ------------------------------------------------------------------------ */

static uint32_t steps_up(const struct at *at)
{
    return ar_algorithm_steps(mutant->of, at->shape) / 2;
}

/* Parts 2k and 2k + 1 change places: all ranks agree, and the sums are right. */
static struct ar_move swap_parts(const struct at *at, struct ar_move move)
{
    struct ar_move swapped = move;
    struct ar_span whole = {.first = 0, .count = at->elements};
    for (uint32_t part = 0; part < PARTS; part++) {
        uint64_t first = ar_span_part(whole, PARTS, part).first;
        struct ar_slice other = ar_slice_all(ar_span_part(whole, PARTS, part ^ 1));
        swapped.send_span = move.send_span.whole.first == first ? other : swapped.send_span;
        swapped.receive_span =
            move.receive_span.whole.first == first ? other : swapped.receive_span;
    }
    return swapped;
}

/* The ranks agree to leave out the last period of the way up. */
static struct ar_move skip_last_part(const struct at *at, struct ar_move move)
{
    bool is_last = at->step + PERIOD >= steps_up(at) && at->step < steps_up(at);
    return is_last ? (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE} : move;
}

/* Parents pass on what they have before their children have given theirs. */
static struct ar_move hurry_up(const struct at *at, struct ar_move move)
{
    uint32_t steps = steps_up(at);
    return at->step < steps ? move_at(at, at->elements, steps - 1 - at->step) : move;
}

/* On two ranks, position 1 sends one of two parts. */
static struct ar_move send_up(const struct at *at, uint32_t part, bool sends)
{
    struct ar_span span = {.first = 0, .count = at->elements};
    struct ar_move move = {.sends = sends && at->position == 1, .send_to = 0, .receive_from = 1};
    move.receive = sends && at->position == 0 ? AR_RECEIVE_REDUCE : AR_RECEIVE_NONE;
    move.send_span = move.receive_span = ar_slice_all(ar_span_part(span, 2, part % 2));
    return move;
}

/* Two parts up in steps 0 and 3; then two more at another place of the period. */
static struct ar_move use_two_places(const struct at *at, struct ar_move move)
{
    (void)move;
    return send_up(at, at->step / PERIOD, at->step % PERIOD < 2);
}

/* Two parts, a pause, two parts. */
static struct ar_move send_again(const struct at *at, struct ar_move move)
{
    (void)move;
    uint32_t period = at->step / PERIOD;
    return send_up(at, period < 2 ? period : period - 3, at->step % PERIOD == 0 && period != 2);
}

/* --- phases of the tree ----------------------------------------------------------------------- */

/* Up over one hop, for ever. */
static void go_up_for_ever(struct ar_phase *phase)
{
    *phase = (struct ar_phase){.name = "pair",
                               .kind = AR_PHASE_TREE,
                               .steps = 15,
                               .parts = 2,
                               .messages = 4,
                               .copies_from = 15,
                               .period = PERIOD};
}

static void say_walk(struct ar_phase *phases)
{
    phases[0].period = phases[1].period = 0;
    phases[0].kind = phases[1].kind = AR_PHASE_WALK;
}

static void say_long_period(struct ar_phase *phases)
{
    phases[0].period = AR_PERIOD_MAX + 1;
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
         .move = send_elsewhere),
    RING("sends to itself", "sends to a rank that is not there, or to itself",
         .move = send_to_itself),
    RING("misses a send", "receives from a rank that does not send to it", .move = miss_send),
    RING("sends another span than its peer expects", "sends another span than its peer receives",
         .move = send_other_span),
    RING("gathers parts before it has them", "does not send what it received in the step before",
         .move = gather_too_early),
    RING("writes beyond the buffer", "receives beyond the end of the buffer", .move = write_beyond),
    RING("adds twice", "adds a contribution a second time", .move = always_reduce,
         .phases = say_reduce),
    RING("misses its last step", "lacks a contribution at the end", .phases = say_less_steps),
    RING("miscounts messages", "another number of messages than it says",
         .phases = say_more_messages),
    RING("says copy where it reduces", "receive is not of the kind its phase says",
         .phases = say_copy),
    RING("sends more than its share", "sends more than the share its phase says",
         .phases = say_more_parts),
    RING("sends in the middle of a phase only",
         "sends, but not in one run from the first or to the last step of its phase",
         .move = send_in_the_middle, .phases = say_one_message, .phases_count = 1),
    {"changes its peer within a phase",
     &ar_algorithm_torus2d,
     {.x = 2, .y = 3},
     5,
     "changes its peer within a phase",
     .phases = join_phases,
     .phases_count = 1},
    TREE("sends its parts in another order", OUT_OF_ORDER, .move = swap_parts),
    TREE("does not send the last part", OUT_OF_ORDER, .move = skip_last_part),
    TREE("goes up before the children have come", OUT_OF_ORDER, .move = hurry_up),
    TREE("calls a tree a walk", "sends, but not in one run", .phases = say_walk),
    TREE("has a longer period than may be", "phase has a period that it may not have",
         .phases = say_long_period),
    PAIR("has two hops between the same ranks", "sends to the same rank at two places of a period",
         .move = use_two_places, .phases = go_up_for_ever, .phases_count = 1),
    PAIR("sends the buffer over a hop again", "sends the buffer twice over a hop",
         .move = send_again, .phases = go_up_for_ever, .phases_count = 1),
};

Test(mutants, each_is_caught_where_its_original_passes)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        mutant = &mutants[i];
        struct ar_algorithm broken = *mutant->of;
        struct ar_error err = {.text = ""};
        char where[AR_SHAPE_TEXT];
        uint64_t cases = 0;
        cr_expect_eq(ar_verify(mutant->of, &mutant->shape, mutant->elements, &err), AR_OK, "%s: %s",
                     mutant->what, err.text);
        broken.move = mutant->move != NULL ? mutant_move : broken.move;
        broken.phases = mutant->phases != NULL ? mutant_phases : broken.phases;
        cr_assert_eq(ar_verify(&broken, &mutant->shape, mutant->elements, &err), AR_INTERNAL,
                     "%s: not noticed", mutant->what);
        cr_expect_not_null(strstr(err.text, mutant->caught), "%s: %s", mutant->what, err.text);
        cr_expect_not_null(strstr(err.text, ar_shape_format(&mutant->shape, where)), "%s",
                           err.text);
        cr_expect_not_null(strstr(err.text, " elements, step "), "%s", err.text);
        if (mutant->of == &ar_algorithm_ring) {
            cr_expect_eq(ar_verify_ranks(&broken, RANKS, &cases, &err), AR_INTERNAL);
        }
    }
}
