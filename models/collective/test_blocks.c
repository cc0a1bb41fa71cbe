/* Every algorithm of every operation is proved, on all shapes of many numbers of ranks. */

#include "ar_verify.h"
#include "test_outcome.h"

static const uint32_t rank_counts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11, 12, 13, 14, 15, 16, 17, 24, 34, 64};

Test(blocks, each_algorithm_achieves_its_operation)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (size_t j = 0; j < sizeof rank_counts / sizeof rank_counts[0]; j++) {
            uint32_t ranks = rank_counts[j];
            uint64_t cases = 0;
            TEST_OK(ar_verify_ranks(ar_algorithms[i], ranks, &cases, &why));
            bool may_refuse =
                ar_algorithms[i]->shapes == AR_SHAPES_EVEN && ranks % 2 == 1 && ranks > 1;
            cr_expect(may_refuse ? cases == 0 : cases >= 6, "%s of %s, %u ranks",
                      ar_algorithms[i]->name, ar_algorithms[i]->operation->name, ranks);
        }
    }
}

/* Compares a step with the moves of all positions. */
static void check_sends(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                        uint64_t elements, uint32_t step, uint32_t first)
{
    uint32_t peers[64];
    uint64_t counts[64];
    struct ar_sends sends = {first, ar_shape_ranks(shape), peers, counts};
    ar_algorithm_sends(algorithm, shape, elements, step, &sends);
    for (uint32_t i = first; i < sends.end; i++) {
        struct ar_move move = ar_algorithm_move(algorithm, shape, elements, i, step);
        cr_expect_eq(peers[i], move.sends ? move.send_to : AR_NEVER);
        cr_expect_eq(counts[i], move.sends ? move.send_span.count : 0, "%s of %s, step %u, %u",
                     algorithm->name, algorithm->operation->name, step, i);
    }
}

/* Steps that are said to be alike send as many pieces to the same peers. */
static void check_like(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                       const struct ar_phase *phase, uint32_t step, uint32_t *others)
{
    uint32_t like = ar_algorithm_like_step(algorithm, shape, step);
    cr_expect_eq(ar_algorithm_like_step(algorithm, shape, like), like);
    *others += like != step;
    for (uint32_t i = 0; i < ar_shape_ranks(shape); i++) {
        struct ar_move move = ar_algorithm_move(algorithm, shape, phase->pieces, i, step);
        struct ar_move other = ar_algorithm_move(algorithm, shape, phase->pieces, i, like);
        cr_expect(move.sends == other.sends && move.send_to == other.send_to &&
                      move.send_span.count == other.send_span.count,
                  "%s of %s, steps %u and %u, %u", algorithm->name, algorithm->operation->name,
                  step, like, i);
    }
}

static void check_all_sends(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                            uint32_t *others)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(algorithm, shape, phases);
    for (uint32_t i = 0, step = 0; i < count; i++) {
        for (uint32_t end = step + phases[i].steps; step < end; step++) {
            if (phases[i].kind == AR_PHASE_EXCHANGE) {
                check_like(algorithm, shape, &phases[i], step, others);
            }
            bool has_peers = phases[i].kind == AR_PHASE_EXCHANGE || phases[i].kind == AR_PHASE_WALK;
            for (uint32_t first = 0; first < 2 && has_peers; first++) {
                check_sends(algorithm, shape, phases[i].pieces, step, first);
                check_sends(algorithm, shape, 3, step, first);
                check_sends(algorithm, shape, 1009, step, first);
                check_sends(algorithm, shape, 1ull << 40, step, first);
            }
        }
    }
}

Test(blocks, what_a_step_sends_is_what_its_moves_send)
{
    static const uint32_t counts[] = {2, 5, 6, 12, 16, 34, 64};
    uint32_t others = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            for (uint32_t gpus = 1; gpus <= 4; gpus++) {
                struct ar_shape shape =
                    ar_algorithm_default_shape(ar_algorithms[i], counts[j], gpus);
                if (ar_algorithm_check_shape(ar_algorithms[i], &shape, AR_IGNORED) == AR_OK) {
                    check_all_sends(ar_algorithms[i], &shape, &others);
                }
            }
        }
    }
    cr_expect(others > 1000, "%u", others);
}
