/* Promises of all-reduce algorithms; test_blocks.c proves all, test_mutants.c shows that the
 * verification notices broken ones. */

#include "ar_verify.h"
#include "test_outcome.h"

static const struct ar_algorithm *all_reduce_by(const char *name)
{
    const struct ar_algorithm *algorithm = NULL;
    TEST_OK(ar_algorithm_find("test", &ar_operation_all_reduce, name, &algorithm, &why));
    return algorithm;
}

/* --- proofs ---------------------------------------------------------------------------------- */

static void verify_one(const char *name, uint32_t x, uint32_t y, uint64_t elements)
{
    struct ar_shape shape = {.x = x, .y = y};
    TEST_OK(ar_verify(all_reduce_by(name), &shape, elements, &why));
}

Test(algorithm, a_thousand_ranks_and_more_all_reduce_a_few_elements_correctly)
{
    verify_one("torus2d", 34, 32, 5);
    verify_one("hierarchical", 4, 272, 5);
    verify_one("torus2d", 48, 72, 2);
    verify_one("hierarchical", 4, 257, 3);
    verify_one("torus2d", 1, 257, 3);
    verify_one("tree", 4, 257, 9);
    verify_one("tree", 129, 2, 17);
    verify_one("ring", 257, 1, 3);
}

/* --- counts ---------------------------------------------------------------------------------- */

struct volume {
    uint64_t total, of_rank_0, messages;
};

static struct volume volume_of(const char *name, uint32_t x, uint32_t y, uint64_t elements)
{
    const struct ar_algorithm *algorithm = all_reduce_by(name);
    struct ar_shape shape = {.x = x, .y = y};
    struct volume volume = {.total = 0};
    for (uint32_t step = 0; step < ar_algorithm_steps(algorithm, &shape); step++) {
        for (uint32_t rank = 0; rank < x * y; rank++) {
            struct ar_move move = ar_algorithm_move(algorithm, &shape, elements, rank, step);
            volume.messages += move.sends;
            volume.total += move.sends ? move.send_span.count : 0;
            volume.of_rank_0 += move.sends && rank == 0 ? move.send_span.count : 0;
        }
    }
    cr_expect_eq(volume.messages, ar_algorithm_messages(algorithm, &shape));
    return volume;
}

static uint32_t steps_of(const char *name, uint32_t x, uint32_t y)
{
    struct ar_shape shape = {.x = x, .y = y};
    return ar_algorithm_steps(all_reduce_by(name), &shape);
}

Test(algorithm, steps_are_those_of_the_formulas)
{
    for (uint32_t x = 1; x <= 64; x++) {
        cr_expect_eq(steps_of("ring", x, 1), 2 * (x - 1));
        for (uint32_t y = 1; y <= 64; y++) {
            cr_expect_eq(steps_of("torus2d", x, y), 2 * (x - 1) + 2 * (y - 1));
            cr_expect_eq(steps_of("hierarchical", x, y), 4 * (x - 1) + 2 * (y - 1));
        }
    }
}

Test(algorithm, a_rank_of_a_torus_sends_as_many_bytes_as_one_of_a_ring)
{
    for (uint32_t x = 1; x <= 12; x++) {
        for (uint32_t y = 1; y <= 12; y++) {
            uint32_t ranks = x * y;
            uint64_t elements = 6ull * ranks;
            uint64_t each = 2 * elements * (ranks - 1) / ranks;
            cr_expect_eq(volume_of("ring", ranks, 1, elements).of_rank_0, each);
            cr_expect_eq(volume_of("torus2d", x, y, elements).of_rank_0, each);
        }
    }
}

/* Each part travels N-1 hops to be summed and N-1 to be spread, whatever its size. */
Test(algorithm, all_ranks_of_a_torus_send_2n_times_N_minus_1_also_with_a_remainder)
{
    for (uint64_t elements = 0; elements <= 131; elements += 1 + elements / 3) {
        for (uint32_t x = 1; x <= 9; x++) {
            for (uint32_t y = 1; y <= 5; y++) {
                uint64_t expected = 2 * elements * (x * y - 1);
                cr_expect_eq(volume_of("ring", x * y, 1, elements).total, expected);
                cr_expect_eq(volume_of("torus2d", x, y, elements).total, expected);
            }
        }
    }
}

/* Up and down the chain, member i passes X - i parts; around the ring everyone passes X - 1. */
Test(algorithm, the_leaders_of_a_hierarchy_ring_the_whole_buffer)
{
    for (uint32_t x = 2; x <= 6; x++) {
        for (uint32_t y = 1; y <= 6; y++) {
            uint64_t elements = 60ull * x * y;
            uint64_t in_group = (2 * (x - 1) + (x - 1)) * (elements / x);
            uint64_t among_leaders = 2 * (y - 1) * (elements / y);
            cr_expect_eq(volume_of("hierarchical", x, y, elements).of_rank_0,
                         in_group + among_leaders);
            cr_expect_eq(volume_of("hierarchical", x, y, elements).total,
                         y * 3ull * (x - 1) * elements + among_leaders * y);
        }
    }
}

/* --- shapes ---------------------------------------------------------------------------------- */

static void expect_same_moves(const char *name, struct ar_shape shape, uint64_t elements)
{
    const struct ar_algorithm *ring = all_reduce_by("ring");
    const struct ar_algorithm *other = all_reduce_by(name);
    struct ar_shape ring_shape = {.x = shape.x * shape.y, .y = 1};
    uint32_t steps = ar_algorithm_steps(ring, &ring_shape);
    cr_assert_eq(ar_algorithm_steps(other, &shape), steps);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t rank = 0; rank < ring_shape.x; rank++) {
            struct ar_move a = ar_algorithm_move(ring, &ring_shape, elements, rank, step);
            struct ar_move b = ar_algorithm_move(other, &shape, elements, rank, step);
            cr_assert(a.sends == b.sends && a.receive == b.receive && a.send_to == b.send_to &&
                          a.receive_from == b.receive_from,
                      "%s %ux%u, step %u, rank %u", name, shape.x, shape.y, step, rank);
            cr_assert(a.send_span.whole.first == b.send_span.whole.first &&
                      a.send_span.count == b.send_span.count);
            cr_assert(a.receive_span.whole.first == b.receive_span.whole.first &&
                      a.receive_span.count == b.receive_span.count);
        }
    }
}

Test(algorithm, a_torus_of_one_row_or_one_column_is_the_ring_move_by_move)
{
    cr_assert(all_reduce_by("torus2d")->is_ring_in_line);
    for (uint32_t ranks = 1; ranks <= 20; ranks++) {
        for (uint64_t elements = 0; elements < 50; elements += 7) {
            for (size_t i = 0; i < ar_algorithms_count; i++) {
                const char *name = ar_algorithms[i]->name;
                if (ar_algorithms[i]->is_ring_in_line) {
                    expect_same_moves(name, (struct ar_shape){.x = ranks, .y = 1}, elements);
                    expect_same_moves(name, (struct ar_shape){.x = 1, .y = ranks}, elements);
                }
            }
            expect_same_moves("hierarchical", (struct ar_shape){.x = 1, .y = ranks}, elements);
        }
    }
}

Test(algorithm, a_ring_refuses_a_second_row_and_names_the_shape_it_expects)
{
    struct ar_shape shape = {.x = 8, .y = 2};
    TEST_FAILS(AR_USAGE, "shape 8x2: expected Nx1, ring has one row",
               ar_algorithm_check_shape(all_reduce_by("ring"), &shape, &why));
    TEST_FAILS(AR_USAGE, "", ar_verify(all_reduce_by("ring"), &shape, 1, &why));
    TEST_FAILS(AR_USAGE, "shape 8x2: expected Nx1, the library makes its own choice",
               ar_algorithm_check_shape(NULL, &shape, &why));
    TEST_OK(ar_algorithm_check_shape(all_reduce_by("torus2d"), &shape, &why));
    TEST_OK(ar_algorithm_check_shape(all_reduce_by("hierarchical"), &shape, &why));
}

static void expect_default(const char *name, uint32_t ranks, uint32_t gpus, uint32_t x, uint32_t y)
{
    struct ar_shape shape = ar_algorithm_default_shape(all_reduce_by(name), ranks, gpus);
    cr_expect(shape.x == x && shape.y == y, "%s of %u: %ux%u", name, ranks, shape.x, shape.y);
}

Test(algorithm, default_shapes_are_one_row_one_group_per_node_and_the_squarest_grid)
{
    expect_default("ring", 1024, 4, 1024, 1);
    expect_default("torus2d", 1024, 4, 32, 32);
    expect_default("torus2d", 1088, 4, 32, 34);
    expect_default("torus2d", 7, 4, 1, 7);
    expect_default("hierarchical", 1024, 4, 4, 256);
    expect_default("hierarchical", 6, 4, 3, 2);
    expect_default("hierarchical", 2, 4, 2, 1);
    expect_default("hierarchical", 7, 4, 1, 7);
    expect_default("tree", 3, 4, 3, 1);
}

Test(algorithm, a_name_that_is_nearly_right_is_named_in_the_error)
{
    const struct ar_algorithm *algorithm = NULL;
    TEST_FAILS(
        AR_USAGE, "--algorithm: unknown algorithm \"torus\"; did you mean \"torus2d\"",
        ar_algorithm_find("--algorithm", &ar_operation_all_reduce, "torus", &algorithm, &why));
    cr_expect_null(algorithm);
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        TEST_OK(ar_algorithm_find("x", ar_algorithms[i]->operation, ar_algorithms[i]->name,
                                  &algorithm, &why));
        cr_expect_eq(algorithm, ar_algorithms[i]);
    }
}

/* --- operations ------------------------------------------------------------------------------ */

Test(operation, the_bus_bandwidth_of_an_all_reduce_is_that_of_nccl_tests)
{
    static const struct {
        uint32_t ranks;
        double factor; /* doc/PERFORMANCE.md of nccl-tests: 2 (n-1)/n */
    } rows[] = {{1, 0}, {2, 1}, {4, 1.5}, {8, 1.75}, {1024, 2 * 1023 / 1024.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(ar_operation_busbw_Bps(&ar_operation_all_reduce, 4e9, rows[i].ranks),
                     4e9 * rows[i].factor, "%u ranks", rows[i].ranks);
    }
}
