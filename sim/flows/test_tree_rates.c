/* The rates that the hops of a tree have left, by sizes of messages. */
#include <criterion/criterion.h>

#include "flows.h"
#include "test_outcome.h"
#include "test_support.h"

/* The first phase of a tree, with as many parts as asked for. */
struct bed {
    struct ar_flows *flows;
    struct ar_phase phase;
    const struct ar_pattern *pattern;
    struct ar_tree_rates *rates;
    struct ar_arena arena;
};

static struct bed tree_make(const struct ar_collective *tree, uint32_t parts)
{
    struct bed bed = {.arena = {NULL}};
    TEST_OK(ar_flows_create(tree, &bed.flows, &why));
    bed.pattern = bed.flows->patterns;
    bed.phase = bed.flows->phases[0];
    bed.phase.parts = parts;
    bed.rates = flows_tree_create(&bed.arena, bed.flows, &bed.phase, bed.pattern);
    return bed;
}

static void drop(struct bed *bed)
{
    ar_arena_end(&bed->arena);
    ar_flows_destroy(bed->flows);
}

/* Large messages fill the pipeline, small ones travel alone. */
Test(tree_rates, leave_more_to_small_messages_and_mix_up_no_sizes)
{
    struct ar_collective tree = support_on("dgx2-v100", "tree", 16, 1);
    tree.channels = 16;
    struct bed bed = tree_make(&tree, 8);
    double small_Bps = flows_tree_find(bed.rates, 100)->slowest_Bps;
    double large_Bps = flows_tree_find(bed.rates, 1e6)->slowest_Bps;
    cr_expect_gt(small_Bps, 1.5 * large_Bps);
    for (double bytes = 200; bytes < 1e5; bytes *= 1.3) {
        cr_expect_eq(flows_tree_find(bed.rates, 100)->slowest_Bps, small_Bps);
        const struct ar_tree_shares *shares = flows_tree_find(bed.rates, bytes);
        cr_expect_geq(shares->slowest_Bps, large_Bps);
        cr_expect_eq(shares, flows_tree_find(bed.rates, bytes), "the same answer again");
    }
    cr_expect_eq(flows_tree_find(bed.rates, 1e6)->slowest_Bps, large_Bps);
    drop(&bed);
}
