/* Trees broken on purpose, each in one way; the verification must notice, and say what. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_verify.h"
#include "blocks.h"

/* Four groups of two ranks, parts of 2 and 3 elements. */
enum { X = 2, Y = 4, ELEMENTS = 19, PARTS = 8, PERIOD = 3 };

#define TREE ar_algorithm_tree

typedef struct ar_move move_function(const struct ar_shape *, uint64_t, uint32_t, uint32_t);
typedef uint32_t phases_function(const struct ar_shape *, struct ar_phase[AR_PHASES_MAX]);

static void expect_caught(move_function *move, phases_function *phases, const char *what)
{
    struct ar_algorithm mutant = TREE;
    struct ar_shape shape = {.x = X, .y = Y};
    struct ar_error err = {.text = ""};
    mutant.move = move != NULL ? move : mutant.move;
    mutant.phases = phases != NULL ? phases : mutant.phases;
    cr_assert_eq(ar_verify(&mutant, &shape, ELEMENTS, &err), AR_INTERNAL, "not noticed");
    cr_expect_not_null(strstr(err.text, what), "%s", err.text);
}

Test(mutants_tree, the_tree_itself_passes_where_its_mutants_must_fail)
{
    struct ar_shape shape = {.x = X, .y = Y};
    struct ar_error err = {.text = ""};
    cr_assert_eq(ar_verify(&TREE, &shape, ELEMENTS, &err), AR_OK, "%s", err.text);
}

/* --- moves ----------------------------------------------------------------------------------- */

static uint32_t steps_of_phase(const struct ar_shape *shape)
{
    return ar_algorithm_steps(&TREE, shape) / 2;
}

/* Parts 2k and 2k + 1 change places: all ranks agree, and the sums are right. */
static struct ar_move swapping(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                               uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&TREE, shape, elements, position, step);
    struct ar_span whole = {.first = 0, .count = elements};
    for (uint32_t part = 0; part < PARTS; part++) {
        struct ar_span span = ar_span_part(whole, PARTS, part);
        struct ar_slice other = ar_slice_all(ar_span_part(whole, PARTS, part ^ 1));
        struct ar_move plain = ar_algorithm_move(&TREE, shape, elements, position, step);
        move.send_span = plain.send_span.whole.first == span.first ? other : move.send_span;
        move.receive_span =
            plain.receive_span.whole.first == span.first ? other : move.receive_span;
    }
    return move;
}

Test(mutants_tree, one_that_sends_its_parts_in_another_order_is_caught)
{
    expect_caught(swapping, NULL, "does not send all parts one after the other");
}

/* What a leaf has at first goes up a second time instead of its second part. */
static struct ar_move repeating(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    uint32_t from = step >= PERIOD && step < steps_of_phase(shape) ? step - PERIOD : step;
    struct ar_move move = ar_algorithm_move(&TREE, shape, elements, position, step);
    struct ar_move before = ar_algorithm_move(&TREE, shape, elements, position, from);
    return move.sends == before.sends && move.receive == before.receive ? before : move;
}

Test(mutants_tree, one_that_repeats_a_part_is_caught)
{
    expect_caught(repeating, NULL, "does not send all parts one after the other");
}

/* The ranks agree to leave out the last period of the way up. */
static struct ar_move stopping(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                               uint32_t step)
{
    uint32_t steps = steps_of_phase(shape);
    if (step + PERIOD >= steps && step < steps) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    return ar_algorithm_move(&TREE, shape, elements, position, step);
}

Test(mutants_tree, one_that_does_not_send_the_last_part_is_caught)
{
    expect_caught(stopping, NULL, "does not send all parts one after the other");
}

/* Two ranks: the parts go up as they should, but the last half over the other place of the period,
 * or once more. */
static struct ar_move pair_move(uint64_t elements, uint32_t position, uint32_t part, bool sends)
{
    struct ar_span span = {.first = 0, .count = elements};
    struct ar_move move = {.sends = sends && position == 1};
    move.receive = sends && position == 0 ? AR_RECEIVE_REDUCE : AR_RECEIVE_NONE;
    move.send_to = 0;
    move.receive_from = 1;
    move.send_span = move.receive_span = ar_slice_all(ar_span_part(span, 2, part % 2));
    return move;
}

/* Two parts up in steps 0 and 3; then two more at another place of the period. */
static struct ar_move doubling(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                               uint32_t step)
{
    (void)shape;
    return pair_move(elements, position, step / PERIOD, step % PERIOD < 2);
}

/* Two parts, a pause, two parts. */
static struct ar_move pausing(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                              uint32_t step)
{
    (void)shape;
    uint32_t period = step / PERIOD;
    return pair_move(elements, position, period < 2 ? period : period - 3,
                     step % PERIOD == 0 && period != 2);
}

/* Up over one hop, for ever. */
static uint32_t phases_of_pair(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    (void)shape;
    phases[0] = (struct ar_phase){.name = "pair",
                                  .kind = AR_PHASE_TREE,
                                  .steps = 15,
                                  .parts = 2,
                                  .messages = 4,
                                  .copies_from = 15,
                                  .period = PERIOD};
    return 1;
}

static void expect_pair_caught(move_function *move, const char *what)
{
    struct ar_algorithm mutant = TREE;
    struct ar_shape shape = {.x = 1, .y = 2};
    struct ar_error err = {.text = ""};
    mutant.move = move;
    mutant.phases = phases_of_pair;
    /* Without elements nothing is added twice; what is left is what the phase promises. */
    cr_assert_eq(ar_verify(&mutant, &shape, 0, &err), AR_INTERNAL, "not noticed");
    cr_expect_not_null(strstr(err.text, what), "%s", err.text);
}

Test(mutants_tree, one_with_two_hops_between_the_same_ranks_is_caught)
{
    expect_pair_caught(doubling, "sends to the same rank at two places of a period");
}

Test(mutants_tree, one_that_sends_the_buffer_over_a_hop_again_is_caught)
{
    expect_pair_caught(pausing, "sends the buffer twice over a hop");
}

/* The ways of two leaves to their parents are exchanged in one period. */
static struct ar_move wandering(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&TREE, shape, elements, position, step);
    uint32_t steps = steps_of_phase(shape);
    if (step >= steps && step < steps + 6 * PERIOD) {
        return move;
    }
    if (move.sends && move.send_to % X == 1) {
        move.send_to = (move.send_to + 2 * X) % (X * Y);
    }
    if (move.receive != AR_RECEIVE_NONE && position % X == 1) {
        move.receive_from = (move.receive_from + 2 * X) % (X * Y);
    }
    return move;
}

Test(mutants_tree, one_that_changes_its_peer_within_a_phase_is_caught)
{
    expect_caught(wandering, NULL, "changes its peer within a phase");
}

/* --- phases ---------------------------------------------------------------------------------- */

/* Parents pass on what they have before their children have given theirs. */
static struct ar_move hasty(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                            uint32_t step)
{
    uint32_t steps = steps_of_phase(shape);
    return ar_algorithm_move(&TREE, shape, elements, position,
                             step < steps ? steps - 1 - step : step);
}

Test(mutants_tree, one_that_goes_up_before_the_children_have_come_is_caught)
{
    expect_caught(hasty, NULL, "does not send all parts one after the other");
}

static uint32_t phases_of_walks(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&TREE, shape, phases);
    phases[0].period = phases[1].period = 0;
    phases[0].kind = phases[1].kind = AR_PHASE_WALK;
    return count;
}

Test(mutants_tree, one_that_calls_a_tree_a_walk_is_caught)
{
    expect_caught(NULL, phases_of_walks, "sends, but not in one run");
}

static uint32_t phases_of_period_2(const struct ar_shape *shape,
                                   struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&TREE, shape, phases);
    phases[0].period = phases[1].period = PERIOD - 1;
    return count;
}

Test(mutants_tree, one_that_says_another_period_is_caught)
{
    expect_caught(NULL, phases_of_period_2, "does not send all parts one after the other");
}

static uint32_t phases_of_period_5(const struct ar_shape *shape,
                                   struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&TREE, shape, phases);
    phases[0].period = AR_PERIOD_MAX + 1;
    return count;
}

Test(mutants_tree, one_with_a_longer_period_than_there_may_be_is_caught)
{
    expect_caught(NULL, phases_of_period_5, "phase has a period that it may not have");
}

static uint32_t phases_miscounted(const struct ar_shape *shape,
                                  struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&TREE, shape, phases);
    phases[1].messages++;
    return count;
}

Test(mutants_tree, one_that_miscounts_its_messages_is_caught)
{
    expect_caught(NULL, phases_miscounted, "another number of messages than it says");
}
