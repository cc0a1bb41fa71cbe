/* Properties of the double binary tree besides a right sum. */
#include <stdlib.h>

#include "ar_verify.h"
#include "test_outcome.h"
#include "test_support.h"

enum { PARTS = 8 };

/* --- the trees ------------------------------------------------------------------------------- */

/* Hops from a position to the root, followed through the moves of the first phase. */
static uint32_t depth_of(const struct ar_shape *shape, uint32_t position)
{
    const struct ar_algorithm *tree = support_algorithm("tree");
    struct ar_phase phases[AR_PHASES_MAX];
    ar_algorithm_phases(tree, shape, phases);
    uint32_t depth = 0;
    for (uint32_t place = 0; place < phases[0].period; place++) {
        struct ar_move move;
        if (ar_algorithm_find_step(tree, shape, &phases[0], 0, position, place, true, &move) !=
            AR_NEVER) {
            cr_assert_eq(depth, 0, "position %u has two parents", position);
            depth = 1 + depth_of(shape, move.send_to);
        }
    }
    return depth;
}

/* NCCL counts 2 (GPUs of a node - 1) hops within nodes and 2 log2(nodes) between them. */
Test(tree, is_as_deep_as_the_chain_of_a_group_and_the_logarithm_of_the_groups)
{
    for (uint32_t x = 1; x <= 5; x++) {
        for (uint32_t y = 1; y <= 70; y++) {
            struct ar_shape shape = {.x = x, .y = y};
            uint32_t deepest = 0, logarithm = 0;
            while (1u << logarithm < y) {
                logarithm++;
            }
            for (uint32_t position = 0; position < x * y; position++) {
                uint32_t depth = depth_of(&shape, position);
                cr_assert_eq(depth == 0, position == 0, "one root");
                deepest = depth > deepest ? depth : deepest;
            }
            cr_assert_leq(deepest, x - 1 + logarithm, "%ux%u", x, y);
            if ((y & (y - 1)) == 0) {
                cr_assert_eq(deepest, x - 1 + logarithm, "%ux%u", x, y);
            }
        }
    }
}

/* --- what is sent ---------------------------------------------------------------------------- */

Test(tree, sends_the_buffer_up_and_down_every_hop_in_eight_parts)
{
    struct ar_shape shape = {.x = 3, .y = 7};
    const struct ar_algorithm *tree = support_algorithm("tree");
    cr_expect_eq(ar_algorithm_messages(tree, &shape), 2 * PARTS * 20);
    for (uint64_t elements = 0; elements < 40; elements += 13) {
        uint64_t sent = 0;
        for (uint32_t step = 0; step < ar_algorithm_steps(tree, &shape); step++) {
            for (uint32_t position = 0; position < 21; position++) {
                struct ar_move move = ar_algorithm_move(tree, &shape, elements, position, step);
                sent += move.sends ? move.send_span.count : 0;
            }
        }
        cr_expect_eq(sent, 2 * 20 * elements);
    }
}

/* Depth 5, eight channels. 64 MiB: 128 KiB are the first chunk of which there are 40 in a channel's
 * 8 MiB; 512 MiB have them at once; 1 KiB is less than the least. */
Test(tree, has_the_chunks_of_nccl)
{
    struct ar_shape shape = {.x = 4, .y = 4};
    const struct ar_algorithm *tree = support_algorithm("tree");
    cr_expect_eq(tree->nccl_chunks(&shape, 64ull << 20, 8), 64);
    cr_expect_eq(tree->nccl_chunks(&shape, 512ull << 20, 8), 128);
    cr_expect_eq(tree->nccl_chunks(&shape, 1 << 20, 8), 4);
    cr_expect_eq(tree->nccl_chunks(&shape, 1024, 8), 1);
    cr_expect_eq(tree->nccl_chunks(&shape, 1ull << 40, 8), AR_PARTS_MAX);
    for (shape.parts = 1; shape.parts < 20; shape.parts += 9) {
        cr_expect_eq(ar_algorithm_messages(tree, &shape), 2 * shape.parts * 15);
        TEST_OK(ar_verify(tree, &shape, 1001, &why));
    }
}

/* With n/2 on each tree, who has two children receives n from them and n/2 from its parent, and n/2
 * as a leaf of the other tree; a ring has 2n (N-1)/N on every port. */
Test(tree, loads_no_port_with_more_than_twice_the_buffer)
{
    struct ar_cluster *flat = support_cluster("flat", NULL);
    for (uint32_t ranks = 2; ranks <= 40; ranks++) {
        uint64_t elements = 2 * PARTS * 100;
        struct ar_collective tree = support_collective(flat, "tree", 1, ranks);
        tree.channels = 2;
        struct ar_link_load *loads = support_loads(&tree, &elements, 1);
        for (uint32_t i = 0; i < ar_cluster_links_count(flat); i++) {
            uint64_t max = 2 * elements * tree.element_bytes;
            /* The root of one of an odd number of trees rests in none. */
            max += ranks % 2 == 1 ? elements * tree.element_bytes / 2 : 0;
            cr_expect_leq(loads[i].bytes, max, "%u ranks", ranks);
        }
        free(loads);
    }
}

/* --- the closed form ------------------------------------------------------------------------- */

/* Two children share a port, and so do the ways up of a rank in both trees: hops have half the
 * bandwidth, for 1/16 of the buffer each time. The root has one child, whose own leaf is done when
 * it sends the last part up, and not begun when it gets the first part down: these have all of it.
 * A rank adds a part of each of its children: 2 depth - 2 sums on
 * the way up are waited for. */
Test(tree, takes_the_time_of_the_textbook_on_identical_links)
{
    struct ar_cluster *flat = support_textbook();
    for (uint32_t depth = 2; depth <= 10; depth++) {
        for (uint64_t elements = 1600; elements < 2000000; elements *= 11) {
            struct ar_collective tree = support_collective(flat, "tree", 1, 1u << depth);
            tree.channels = 2;
            double bytes = 4 * (double)elements;
            double hop_s = 5e-6 + bytes / 8 / 25e9;
            double expected_s = 7e-6 + 2 * depth * hop_s + 13 * bytes / 8 / 25e9 +
                                (2 * depth - 2) * 4e-12 * bytes / 16;
            struct ar_closed_time time = support_closed(&tree, elements);
            SUPPORT_NEAR(time.time_s, expected_s, 1e-12);
            cr_expect_not(time.exact);
            cr_expect_neq(time.why[0], '\0');
        }
    }
}

/* With a window of W, part W waits until the first one has arrived. */
Test(tree, pays_a_latency_more_for_every_window_that_is_full)
{
    struct ar_collective tree = support_collective(support_textbook(), "tree", 1, 16);
    double free_s = support_closed(&tree, 0).time_s;
    for (tree.window = 1; tree.window <= 8; tree.window++) {
        double waits = (PARTS - 1) / tree.window;
        SUPPORT_NEAR(support_closed(&tree, 0).time_s, free_s + 2 * waits * 5e-6, 1e-12, "window %u",
                     tree.window);
    }
}

/* Large messages fill the pipeline, small ones travel alone. */
Test(tree, leaves_more_rate_to_small_messages_and_mixes_up_no_sizes)
{
    struct ar_collective tree = support_on("dgx2-v100", "tree", 16, 1);
    struct ar_flows *flows;
    tree.channels = 16;
    TEST_OK(ar_flows_create(&tree, &flows, &why));
    double small_Bps = ar_flows_tree_shares(flows, 0, 100)->slowest_Bps;
    double large_Bps = ar_flows_tree_shares(flows, 0, 1e6)->slowest_Bps;
    cr_expect_gt(small_Bps, 1.5 * large_Bps);
    for (double bytes = 200; bytes < 1e5; bytes *= 1.3) {
        cr_expect_eq(ar_flows_tree_shares(flows, 0, 100)->slowest_Bps, small_Bps);
        const struct ar_tree_shares *shares = ar_flows_tree_shares(flows, 0, bytes);
        cr_expect_geq(shares->slowest_Bps, large_Bps);
        cr_expect_eq(shares, ar_flows_tree_shares(flows, 0, bytes), "the same answer again");
    }
    cr_expect_eq(ar_flows_tree_shares(flows, 0, 1e6)->slowest_Bps, large_Bps);
    ar_flows_destroy(flows);
}

/* --- first steps ----------------------------------------------------------------------------- */

static void expect_first_steps(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(algorithm, shape, phases);
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < ar_shape_ranks(shape) * phases[i].period * 2; j++) {
            uint32_t position = j / 2 / phases[i].period;
            uint32_t place = j / 2 % phases[i].period;
            struct ar_move move = {0}, other = {0};
            uint32_t found = ar_algorithm_find_step(algorithm, shape, &phases[i], first_step,
                                                    position, place, j % 2 == 0, &move);
            uint32_t step = place;
            for (; step < phases[i].steps; step += phases[i].period) {
                other = ar_algorithm_move(algorithm, shape, 0, position, first_step + step);
                if (j % 2 == 0 ? other.sends : other.receive != AR_RECEIVE_NONE) {
                    break;
                }
            }
            cr_expect_eq(found, step < phases[i].steps ? step : AR_NEVER,
                         "%s %ux%u, phase %u, position %u, place %u", algorithm->operation->name,
                         shape->x, shape->y, i, position, place);
            cr_expect(found == AR_NEVER || (j % 2 == 0 ? move.send_to == other.send_to
                                                       : move.receive_from == other.receive_from));
        }
        first_step += phases[i].steps;
    }
}

Test(tree, first_steps_are_those_that_trying_finds)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (uint32_t ranks = 1; ranks <= 24 && ar_algorithms[i]->phases != NULL; ranks++) {
            for (uint32_t x = 1; x <= ranks; x++) {
                struct ar_shape shape = {.x = x, .y = ranks / x};
                if (ranks % x == 0 &&
                    ar_algorithm_check_shape(ar_algorithms[i], &shape, AR_IGNORED) == AR_OK) {
                    expect_first_steps(ar_algorithms[i], &shape);
                }
            }
        }
    }
}
