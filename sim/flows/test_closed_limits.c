/* Where the closed form is exact, and what it refuses. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_support.h"

static void expect_why(const struct ar_collective *collective, uint64_t elements, const char *why)
{
    struct ar_closed_time time = support_closed(collective, elements);
    cr_expect_str_eq(time.why, why, "%s %ux%u, %u channels, %lu elements: \"%s\"",
                     collective->algorithm->name, collective->shape.x, collective->shape.y,
                     collective->channels, (unsigned long)elements, time.why);
    cr_expect_eq(time.exact, why[0] == '\0');
}

Test(closed_limits, it_is_exact_where_all_hops_are_alike)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective collective = support_collective(abci, "ring", 4, 1);
    expect_why(&collective, 1001, "");
    collective = support_collective(abci, "hierarchical", 4, 8);
    expect_why(&collective, 1001, "");
    collective = support_collective(abci, "torus2d", 4, 8);
    expect_why(&collective, 320, "");
}

Test(closed_limits, it_says_that_the_hops_of_a_ring_across_nodes_differ)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    static const char *const why = "the hops of a phase differ";
    struct ar_collective collective = support_collective(abci, "ring", 16, 1);
    expect_why(&collective, 1600, why);
    collective = support_collective(abci, "torus2d", 8, 4);
    expect_why(&collective, 3200, why);
    collective = support_collective(abci, "hierarchical", 8, 4);
    expect_why(&collective, 3200, why);
}

Test(closed_limits, it_says_that_messages_of_different_sizes_share_a_link)
{
    static const char *const why = "messages of different sizes share a link";
    struct ar_collective collective = support_on("abci-v100", "torus2d", 4, 8);
    expect_why(&collective, 321, why);
    collective = support_on("flat", "ring", 8, 1);
    collective.channels = 2;
    expect_why(&collective, 17, why);
    expect_why(&collective, 16, "");
    collective.channels = 1;
    expect_why(&collective, 17, "");
}

static void expect_refused(const struct ar_collective *collective, const char *expected)
{
    struct ar_flows *plan = NULL;
    struct ar_error err = {.text = ""};
    cr_expect_eq(ar_flows_create(collective, &plan, &err), AR_USAGE);
    cr_expect_null(plan);
    cr_expect_not_null(strstr(err.text, expected), "%s", err.text);
}

Test(closed_limits, a_collective_that_cannot_be_is_refused_with_what_was_expected)
{
    struct ar_collective good = support_on("abci-v100", "ring", 16, 1);
    struct ar_collective bad = good;
    bad.shape.y = 2;
    expect_refused(&bad, "expected Nx1");
    bad.shape = (struct ar_shape){.x = 4353, .y = 1};
    expect_refused(&bad, "4353 GPUs asked for; expected at most 4352, all that cluster abci-v100");
    bad.shape = (struct ar_shape){.x = 65536, .y = 65536};
    expect_refused(&bad, "4294967296 GPUs asked for");
    bad = good;
    bad.channels = 0;
    expect_refused(&bad, "0 channels; expected 1 to 32");
    bad.channels = 33;
    expect_refused(&bad, "33 channels");
    bad = good;
    bad.window = 0;
    expect_refused(&bad, "window of 0 messages; expected 1 to 64");
    bad.window = 65;
    expect_refused(&bad, "window of 65 messages");
}

Test(closed_limits, one_rank_takes_the_setup_and_nothing_else)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        struct ar_collective one = support_collective_of(abci, ar_algorithms[i], 1, 1);
        struct ar_closed_time time = support_closed(&one, 1000);
        cr_expect_eq(time.time_s, time.setup_s);
        cr_expect(support_near(time.setup_s, 8.4e-6, 1e-12));
    }
}
