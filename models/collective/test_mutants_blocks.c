/* Each algorithm of each operation, broken in several ways; the verification must notice. */
#include <criterion/criterion.h>

#include "ar_verify.h"
#include "blocks.h"

/* Elements that do not divide by 6 ranks, which are folded by what wants powers of two. */
enum { ELEMENTS = 101, RANKS = 6 };

/* The message that is broken. */
static const struct ar_algorithm *original;
static uint32_t broken_step;
static uint32_t broken_sender;

enum way { SHORTER, LOST, ELSEWHERE, ADDED, WAYS };
static enum way way;

static void break_one(struct ar_slice *slice, uint32_t *peer, uint32_t ranks)
{
    if (way == SHORTER) { /* its first element is left out */
        uint32_t part = 0;
        struct ar_span span;
        while (ar_slice_next(slice, &part, &span) && span.count == 0) {
        }
        *slice = ar_slice_all((struct ar_span){.first = span.first + 1, .count = span.count - 1});
    } else if (way == ELSEWHERE) {
        *peer = (*peer + 1) % ranks;
    }
}

/* Sender and receiver agree on what is broken, but for who sends elsewhere. */
static struct ar_move broken(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                             uint32_t step)
{
    struct ar_move move = ar_algorithm_move(original, shape, elements, position, step);
    struct ar_move of_sender = ar_algorithm_move(original, shape, elements, broken_sender, step);
    if (step != broken_step) {
        return move;
    }
    if (position == broken_sender) { /* the peer of who sends to a switch is its line */
        break_one(&move.send_span, move.line.count > 0 ? &move.line.first : &move.send_to,
                  ar_shape_ranks(shape));
        move.sends = way != LOST;
    }
    if (position == of_sender.send_to && way != ELSEWHERE) {
        uint32_t ignored = 0;
        break_one(&move.receive_span, &ignored, ar_shape_ranks(shape));
        move.receive = way == LOST                       ? AR_RECEIVE_NONE
                       : way != ADDED                    ? move.receive
                       : move.receive == AR_RECEIVE_COPY ? AR_RECEIVE_REDUCE
                                                         : AR_RECEIVE_COPY;
    }
    return move;
}

/* The first message of the step that carries more than one element. */
static bool find_message(const struct ar_shape *shape)
{
    for (uint32_t rank = 0; rank < ar_shape_ranks(shape); rank++) {
        struct ar_move move = ar_algorithm_move(original, shape, ELEMENTS, rank, broken_step);
        if (move.sends && move.send_span.count > 1) {
            broken_sender = rank;
            return true;
        }
    }
    return false;
}

static void expect_mutants_caught(const struct ar_shape *shape)
{
    uint32_t mutants = 0;
    for (broken_step = 0; broken_step < ar_algorithm_steps(original, shape); broken_step++) {
        if (!find_message(shape)) {
            continue;
        }
        for (way = 0; way < WAYS; way++) {
            mutants++;
            struct ar_algorithm mutant = *original;
            mutant.move = broken;
            cr_expect(ar_verify(&mutant, shape, ELEMENTS, AR_IGNORED) == AR_INTERNAL,
                      "%s of %s: way %d in step %u by %u", original->name,
                      original->operation->name, (int)way, broken_step, broken_sender);
        }
    }
    cr_expect(mutants >= WAYS, "%s of %s has no mutant", original->name, original->operation->name);
}

Test(mutants_blocks, of_every_algorithm_are_caught)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        original = ar_algorithms[i];
        struct ar_shape shape = ar_algorithm_default_shape(original, RANKS, 2);
        expect_mutants_caught(&shape);
    }
}

/* --- switches that sum ------------------------------------------------------------------------ */

/* Moves on a 3x2 grid: a member that gets nothing of the sum of the column; a column that sums
 * twice, its sums coming again in the place of the row's; a column that one member counts to the
 * neighbour's; a part that runs ahead of the pipeline, so the row hands out what is not there. */
static enum { DEAF, TWICE, STRAY, AHEAD, WRONGS } wrong;

static struct ar_move wrong_move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                 uint32_t step)
{
    uint32_t taken = wrong == TWICE && step == 2                        ? 1
                     : wrong == AHEAD && step % 3 == 0 && step + 3 < 24 ? step + 3
                                                                        : step;
    struct ar_move move =
        ar_algorithm_move(&ar_algorithm_in_network, shape, elements, position, taken);
    if (wrong == DEAF && position == 4 && step == 4) {
        move.receive = AR_RECEIVE_NONE;
    }
    move.line.first += wrong == STRAY && position == 4 && step == 1;
    return move;
}

Test(mutants_blocks, of_switches_that_sum_are_caught)
{
    struct ar_shape grid = {.x = 3, .y = 2};
    for (wrong = 0; wrong < WRONGS; wrong++) {
        struct ar_algorithm mutant = ar_algorithm_in_network;
        mutant.move = wrong_move;
        cr_expect_eq(ar_verify(&mutant, &grid, ELEMENTS, AR_IGNORED), AR_INTERNAL, "mutant %d",
                     (int)wrong);
    }
}
