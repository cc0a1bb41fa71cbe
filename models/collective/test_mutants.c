/* Algorithms broken on purpose, each in one way; the verification must notice, and say what. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_verify.h"
#include "blocks.h"

/* The ring on 4 ranks with 5 elements: one part of 2, three of 1. */
enum { RANKS = 4, ELEMENTS = 5, HALF = RANKS - 1 };

#define RING ar_algorithm_ring

typedef struct ar_move move_function(const struct ar_shape *, uint64_t, uint32_t, uint32_t);
typedef uint32_t phases_function(const struct ar_shape *, struct ar_phase[AR_PHASES_MAX]);

static void expect_caught(move_function *move, phases_function *phases, const char *what)
{
    struct ar_algorithm mutant = RING;
    struct ar_shape shape = {.x = RANKS, .y = 1};
    struct ar_error err = {.text = ""};
    mutant.move = move != NULL ? move : mutant.move;
    mutant.phases = phases != NULL ? phases : mutant.phases;
    cr_assert_eq(ar_verify(&mutant, &shape, ELEMENTS, &err), AR_INTERNAL, "not noticed");
    cr_expect_not_null(strstr(err.text, what), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "4x1, 5 elements, step "), "%s", err.text);
    uint64_t cases = 0;
    cr_expect_eq(ar_verify_ranks(&mutant, RANKS, &cases, &err), AR_INTERNAL);
}

Test(mutants, the_ring_itself_passes_where_its_mutants_must_fail)
{
    struct ar_shape shape = {.x = RANKS, .y = 1};
    struct ar_error err = {.text = ""};
    cr_assert_eq(ar_verify(&RING, &shape, ELEMENTS, &err), AR_OK, "%s", err.text);
}

/* --- moves ----------------------------------------------------------------------------------- */

static struct ar_move dropping(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                               uint32_t step)
{
    return ar_algorithm_move(&RING, shape, elements - elements % RANKS, position, step);
}

Test(mutants, one_that_drops_the_remainder_of_a_division_is_caught)
{
    expect_caught(dropping, NULL, "lacks a contribution at the end");
}

static struct ar_move misaddressed(const struct ar_shape *shape, uint64_t elements,
                                   uint32_t position, uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.send_to = (position + 2) % RANKS;
    return move;
}

Test(mutants, one_that_sends_to_the_wrong_peer_is_caught)
{
    expect_caught(misaddressed, NULL, "sends to a rank that does not receive from it");
}

static struct ar_move to_itself(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.send_to = move.receive_from = position;
    return move;
}

Test(mutants, one_that_sends_to_itself_is_caught)
{
    expect_caught(to_itself, NULL, "sends to a rank that is not there, or to itself");
}

static struct ar_move deaf(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.receive = step == HALF && position == 2 ? AR_RECEIVE_NONE : move.receive;
    return move;
}

Test(mutants, one_whose_rank_misses_a_receive_is_caught)
{
    expect_caught(deaf, NULL, "sends to a rank that does not receive from it");
}

static struct ar_move mute(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.sends = move.sends && !(step == 1 && position == 3);
    return move;
}

Test(mutants, one_whose_rank_misses_a_send_is_caught)
{
    expect_caught(mute, NULL, "receives from a rank that does not send to it");
}

static struct ar_move wrong_span(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                 uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    struct ar_span whole = {.first = 0, .count = elements};
    move.send_span = ar_slice_all(ar_span_part(whole, RANKS, (position + step) % RANKS));
    return move;
}

Test(mutants, one_that_sends_another_span_than_its_peer_expects_is_caught)
{
    expect_caught(wrong_span, NULL, "sends another span than its peer receives");
}

/* Send and receive agree, but on the parts of another step. */
static struct ar_move wrong_order(const struct ar_shape *shape, uint64_t elements,
                                  uint32_t position, uint32_t step)
{
    return ar_algorithm_move(&RING, shape, elements, position,
                             step < HALF ? step : HALF + 2 * HALF - 1 - step);
}

Test(mutants, one_that_gathers_parts_before_it_has_them_is_caught)
{
    expect_caught(wrong_order, NULL, "does not send what it received in the step before");
}

static struct ar_move beyond(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                             uint32_t step)
{
    return ar_algorithm_move(&RING, shape, elements + 1, position, step);
}

Test(mutants, one_that_writes_beyond_the_buffer_is_caught)
{
    expect_caught(beyond, NULL, "receives beyond the end of the buffer");
}

static struct ar_move always_reducing(const struct ar_shape *shape, uint64_t elements,
                                      uint32_t position, uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.receive = AR_RECEIVE_REDUCE;
    return move;
}

static uint32_t phases_reducing(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&RING, shape, phases);
    phases[0].copies_from = phases[0].steps;
    return count;
}

Test(mutants, one_that_adds_a_contribution_twice_is_caught)
{
    expect_caught(always_reducing, phases_reducing, "adds a contribution a second time");
}

static struct ar_move always_copying(const struct ar_shape *shape, uint64_t elements,
                                     uint32_t position, uint32_t step)
{
    struct ar_move move = ar_algorithm_move(&RING, shape, elements, position, step);
    move.receive = AR_RECEIVE_COPY;
    return move;
}

static uint32_t phases_copying(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&RING, shape, phases);
    phases[0].copies_from = 0;
    return count;
}

Test(mutants, one_that_overwrites_instead_of_adding_is_caught)
{
    expect_caught(always_copying, phases_copying, "lacks a contribution at the end");
}

/* --- phases ---------------------------------------------------------------------------------- */

static uint32_t phases_short(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&RING, shape, phases);
    phases[0].steps--;
    phases[0].messages -= RANKS;
    return count;
}

Test(mutants, one_that_misses_its_last_step_is_caught)
{
    expect_caught(NULL, phases_short, "lacks a contribution at the end");
}

static uint32_t phases_miscounted(const struct ar_shape *shape,
                                  struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&RING, shape, phases);
    phases[0].messages++;
    return count;
}

Test(mutants, one_that_miscounts_its_messages_is_caught)
{
    expect_caught(NULL, phases_miscounted, "another number of messages than it says");
}

Test(mutants, one_that_says_copy_where_it_reduces_is_caught)
{
    expect_caught(NULL, phases_copying, "receive is not of the kind its phase says");
}

static uint32_t phases_overpromising(const struct ar_shape *shape,
                                     struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = ar_algorithm_phases(&RING, shape, phases);
    phases[0].parts = ELEMENTS;
    return count;
}

Test(mutants, one_that_sends_more_than_its_share_is_caught)
{
    expect_caught(NULL, phases_overpromising, "sends more than the share its phase says");
}

/* The phases of the torus in one. */
static uint32_t phases_merged(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t steps = ar_algorithm_steps(&ar_algorithm_torus2d, shape);
    phases[0] = (struct ar_phase){.name = "merged",
                                  .steps = steps,
                                  .parts = 1,
                                  .messages = (uint64_t)steps * ar_shape_ranks(shape),
                                  .copies_from = steps / 2};
    return 1;
}

Test(mutants, one_that_changes_its_peer_within_a_phase_is_caught)
{
    struct ar_algorithm mutant = ar_algorithm_torus2d;
    struct ar_shape shape = {.x = 2, .y = 3};
    struct ar_error err = {.text = ""};
    mutant.phases = phases_merged;
    cr_assert_eq(ar_verify(&mutant, &shape, ELEMENTS, &err), AR_INTERNAL, "not noticed");
    cr_expect_not_null(strstr(err.text, "changes its peer within a phase"), "%s", err.text);
}

/* Rank 0 sends once, in the second of three steps. */
static struct ar_move bursty(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                             uint32_t step)
{
    (void)shape;
    struct ar_move move = {.sends = step == 1 && position == 0};
    struct ar_span whole = {.first = 0, .count = elements};
    move.receive = step == 1 && position == 1 ? AR_RECEIVE_REDUCE : AR_RECEIVE_NONE;
    move.send_to = 1;
    move.send_span = move.receive_span = ar_slice_all(whole);
    return move;
}

static uint32_t phases_bursty(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    (void)shape;
    phases[0] =
        (struct ar_phase){.name = "burst", .steps = 3, .parts = 1, .messages = 1, .copies_from = 3};
    return 1;
}

Test(mutants, one_that_sends_in_the_middle_of_a_phase_only_is_caught)
{
    expect_caught(bursty, phases_bursty,
                  "sends, but not in one run from the first or to the last step of its phase");
}
