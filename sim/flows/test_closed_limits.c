/* Where the closed form is exact, and what it refuses. */

#include "test_outcome.h"
#include "test_support.h"

#define DIFFER "the hops of a phase differ"
#define SIZES  "messages of different sizes share a link"

Test(closed_limits, it_is_exact_where_all_hops_are_alike_and_says_why_it_is_not)
{
    static const struct {
        const char *cluster, *algorithm;
        uint32_t x, y, channels;
        uint64_t elements;
        const char *why; /* "": it is exact */
    } cases[] = {
        {"abci-v100", "ring", 4, 1, 1, 1001, ""},
        {"abci-v100", "hierarchical", 4, 8, 1, 1001, ""},
        {"abci-v100", "torus2d", 4, 8, 1, 320, ""},
        {"abci-v100", "ring", 16, 1, 1, 1600, DIFFER},
        {"abci-v100", "torus2d", 8, 4, 1, 3200, DIFFER},
        {"abci-v100", "hierarchical", 8, 4, 1, 3200, DIFFER},
        {"abci-v100", "torus2d", 4, 8, 1, 321, SIZES},
        {"flat", "ring", 8, 1, 2, 17, SIZES},
        {"flat", "ring", 8, 1, 2, 16, ""},
        {"flat", "ring", 8, 1, 1, 17, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_collective collective =
            support_on(cases[i].cluster, cases[i].algorithm, cases[i].x, cases[i].y);
        collective.channels = cases[i].channels;
        struct ar_closed_time time = support_closed(&collective, cases[i].elements);
        cr_expect_str_eq(time.why, cases[i].why, "case %zu: \"%s\"", i, time.why);
        cr_expect_eq(time.exact, cases[i].why[0] == '\0', "case %zu", i);
    }
}

static void expect_refused(const struct ar_collective *collective, const char *expected)
{
    struct ar_flows *plan = NULL;
    TEST_FAILS(AR_USAGE, expected, ar_flows_create(collective, &plan, &why));
    cr_expect_null(plan);
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
        SUPPORT_NEAR(time.setup_s, 8.4e-6, 1e-12);
    }
}
