/* Phases as array arithmetic beside the same phases move by move: the same digits. */

#include "test_outcome.h"
#include "test_recurrence.h"
#include "test_support.h"

static void bundles_make(struct ar_arena *arena, const struct ar_flows *flows,
                         struct ar_trial *trial, uint32_t channel, struct recurrence *recurrence)
{
    test_recurrence_create(arena, flows, trial, recurrence);
    uint32_t state = 99 + channel;
    for (uint32_t position = 0; position < recurrence->positions; position++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
        recurrence->now_s[position] = 3e-4 * (state >> 8) / 16777216.0;
    }
}

static void compare(const struct ar_collective *collective, uint64_t elements)
{
    struct ar_trial trial = {.collective = *collective};
    struct ar_flows *flows;
    struct recurrence arrays, moves;
    TEST_OK(ar_flows_create_plain(collective, &flows, &why));
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        bundles_make(&arena, flows, &trial, channel, &arrays);
        bundles_make(&arena, flows, &trial, channel, &moves);
        uint32_t regular = 0, rings = 0;
        for (uint32_t i = 0; i < flows->phases_count * collective->channels; i++) {
            regular += arrays.bundles[i].is_regular;
            moves.bundles[i].is_regular = false;
        }
        /* In a hierarchical all-reduce only the middle phases are rings. */
        AR_EACH(const struct ar_pattern, pattern, flows->patterns, flows->phases_count) {
            rings += pattern->walks_count > 0 && pattern->walks[0].is_ring;
        }
        cr_expect_eq(regular, rings * collective->channels, "%s", support_name(collective));
        recurrence_run_lane(&arrays, channel, elements);
        recurrence_run_lane(&moves, channel, elements);
        test_expect_same_states(&arrays, &moves, 0, support_name(collective));
    }
    ar_flows_destroy(flows);
}

static void compare_windows(struct ar_collective collective)
{
    static const uint32_t windows[] = {1, 2, 3, 7, 8, 9, 13, 64};
    uint64_t ranks = ar_shape_ranks(&collective.shape);
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        collective.window = windows[i];
        compare(&collective, 7 * ranks + 3);
        compare(&collective, 1000003);
        compare(&collective, ranks / 2);
    }
}

Test(bundle, of_rings_gives_the_digits_of_single_moves)
{
    static const uint32_t ranks[] = {2, 3, 5, 8, 31, 300, 601};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += AR_TEST_STRIDE) {
        struct ar_collective ring = support_collective(abci, "ring", ranks[i], 1);
        ring.channels = 2;
        compare_windows(ring);
    }
}

Test(bundle, of_grids_and_groups_gives_the_digits_of_single_moves)
{
    static const struct ar_shape shapes[] = {
        {.x = 4, .y = 4},   {.x = 2, .y = 3},   {.x = 3, .y = 2},  {.x = 1, .y = 9},
        {.x = 9, .y = 1},   {.x = 17, .y = 19}, {.x = 32, .y = 8}, {.x = 8, .y = 40},
        {.x = 2, .y = 150}, {.x = 150, .y = 2}};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i += AR_TEST_STRIDE) {
        compare_windows(support_collective(abci, "torus2d", shapes[i].x, shapes[i].y));
        compare_windows(support_collective(abci, "hierarchical", shapes[i].x, shapes[i].y));
    }
}
