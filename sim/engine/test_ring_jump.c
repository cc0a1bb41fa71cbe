/* Rings that jump beside the same rings step by step: equal to 1e-12. */

#include "test_outcome.h"
#include "test_recurrence.h"
#include "test_support.h"

/* When the ranks of a ring begin. */
enum starts { EVEN, LATE_ONE, LATE_NODES, SCATTERED };

static double start_of(enum starts starts, uint32_t position, uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
    switch (starts) {
    case LATE_ONE:
        return 1.25 + (position == 7 ? 3e-4 : 0);
    case LATE_NODES:
        return 1.25 + 1e-5 * (position / 4 % 2);
    case SCATTERED:
        return 1.25 + 1e-4 * (*state >> 8) / 16777216.0;
    default:
        return 1.25;
    }
}

static void ring_run_lane(struct ar_arena *arena, const struct ar_flows *flows,
                          struct ar_trial *trial, uint32_t channel, enum starts starts,
                          double jumps_from, uint64_t elements, struct recurrence *recurrence)
{
    test_recurrence_create(arena, flows, trial, recurrence);
    recurrence->jumps_from = jumps_from;
    uint32_t state = 99 + channel;
    for (uint32_t position = 0; position < recurrence->positions; position++) {
        recurrence->now_s[position] = start_of(starts, position, &state);
    }
    recurrence_run_lane(recurrence, channel, elements);
}

/* Returns how many rings jumped. */
static uint32_t compare(const struct ar_collective *collective, uint64_t elements,
                        enum starts starts)
{
    struct ar_trial trial = {.collective = *collective};
    struct ar_flows *flows;
    struct recurrence jumps, walks;
    uint32_t rings_jumped = 0;
    TEST_OK(ar_flows_create(collective, &flows, &why));
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        ring_run_lane(&arena, flows, &trial, channel, starts, 0, elements, &jumps);
        ring_run_lane(&arena, flows, &trial, channel, starts, INFINITY, elements, &walks);
        test_expect_same_states(&jumps, &walks, 1e-12, support_name(collective));
        rings_jumped += jumps.rings_jumped;
    }
    ar_flows_destroy(flows);
    return rings_jumped;
}

/* All windows, with messages of equal sizes and with remainders, few and many. */
static void compare_all(struct ar_collective collective, enum starts starts, uint32_t at_least)
{
    static const uint32_t windows[] = {1, 2, 3, 8, 13};
    uint64_t whole = (uint64_t)ar_shape_ranks(&collective.shape) * collective.channels;
    const uint64_t elements[] = {whole,
                                 40 * whole,
                                 40 * whole + 1,
                                 40 * whole + whole / 3,
                                 41 * whole - 1,
                                 8000 * whole,
                                 8000 * whole + whole / 2 + 1,
                                 whole / 2};
    uint32_t jumped = 0;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        collective.window = windows[i];
        for (size_t j = 0; j < sizeof elements / sizeof elements[0]; j++) {
            jumped += compare(&collective, elements[j], starts);
        }
    }
    cr_expect(jumped >= at_least, "%s %ux%u, starts %d: %u of %zu jumped",
              collective.algorithm->name, collective.shape.x, collective.shape.y, (int)starts,
              jumped, sizeof windows / sizeof windows[0] * sizeof elements / sizeof elements[0]);
}

static struct ar_collective ring_on(const char *machine, uint32_t ranks, uint32_t channels)
{
    struct ar_collective ring =
        support_collective(support_cluster(machine, NULL), "ring", ranks, 1);
    ring.channels = channels;
    return ring;
}

Test(ring_jump, is_what_steps_give_where_hops_are_alike)
{
    static const uint32_t at_least[] = {40, 18, 20, 18};
    for (int starts = EVEN; starts <= SCATTERED; starts++) {
        compare_all(ring_on("flat", 997, 1), (enum starts)starts, at_least[starts]);
    }
}

Test(ring_jump, is_what_steps_give_on_nodes)
{
    compare_all(ring_on("abci-v100", 1024, 2), EVEN, 50);
    compare_all(ring_on("abci-v100", 1023, 1), EVEN, 1);
    compare_all(ring_on("abci-v100", 1024, 1), LATE_ONE, 6);
    compare_all(ring_on("abci-v100", 1024, 1), LATE_NODES, 16);
    compare_all(ring_on("dgx1-v100", 1024, 4), EVEN, 100);
}

Test(ring_jump, is_what_steps_give_in_columns_and_rows)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    compare_all(support_collective(abci, "torus2d", 4, 700), EVEN, 36);
    compare_all(support_collective(abci, "torus2d", 700, 4), EVEN, 30);
    compare_all(support_collective(abci, "hierarchical", 4, 600), EVEN, 36);
}
