/* Asynchronous runs as events beside the same as actors. */
#include <math.h>

#include "ar_async.h"
#include "ar_draw.h"
#include "test_outcome.h"
#include "test_support.h"

enum { STEPS = 6, WORKERS_MAX = 16, SLICES_MAX = 4 };

static struct ar_arena arena; /* of a test, which is a process */
static double factors[STEPS * WORKERS_MAX];
static double starts_s[WORKERS_MAX]; /* of those with a bound above 0 */

struct test_case {
    const char *cluster;
    uint32_t workers, servers;
    enum ar_servers_at at;
    uint32_t staleness, slices;
    enum ar_pull pull;
    uint32_t every, gpus_each;
    double jitter_frac;
    double max_frac; /* difference that is expected at most */
};

/* With one slice and servers that are alike they are equal. Actors wait a latency between slices;
 * and where shards differ, or one is in the worker's node, its messages are not done together. */
static const struct test_case cases[] = {
    {"v100-8gpu-1edr", 8, 1, AR_SERVERS_AT_NODES, 0, 1, AR_PULL_WHOLE, 1, 1, 0, 1e-6},
    {"v100-8gpu-1edr", 16, 4, AR_SERVERS_AT_NODES, 0, 1, AR_PULL_WHOLE, 1, 1, 0, 1e-6},
    {"v100-8gpu-1edr", 16, 4, AR_SERVERS_AT_NODES, 2, 1, AR_PULL_WHOLE, 1, 1, 0.2, 1e-6},
    {"v100-8gpu-1edr", 16, 2, AR_SERVERS_AT_NODES, AR_ASYNC_FREE, 1, AR_PULL_WHOLE, 1, 1, 0.2,
     1e-6},
    {"v100-8gpu-1edr", 16, 3, AR_SERVERS_AT_NODES, 1, 1, AR_PULL_WHOLE, 2, 1, 0.2, 1e-6},
    {"v100-8gpu-1edr", 16, 4, AR_SERVERS_AT_NODES, 0, 4, AR_PULL_WHOLE, 1, 1, 0.2, 1e-3},
    {"v100-8gpu-1edr", 16, 4, AR_SERVERS_AT_NODES, 3, 4, AR_PULL_SLICED, 1, 1, 0.2, 1e-3},
    {"v100-8gpu-1edr", 16, 2, AR_SERVERS_AT_WORKERS, 0, 1, AR_PULL_WHOLE, 1, 1, 0, 1e-6},
    {"v100-8gpu-1edr", 16, 4, AR_SERVERS_AT_WORKERS, 2, 1, AR_PULL_WHOLE, 1, 1, 0.2, 0.01},
    {"v100-8gpu-1edr", 16, 1, AR_SERVERS_AT_BOTH, 0, 1, AR_PULL_WHOLE, 1, 1, 0.2, 0.05},
    {"v100-8gpu-1edr", 16, 2, AR_SERVERS_AT_NODES, 1, 1, AR_PULL_WHOLE, 1, 8, 0.2, 1e-3},
    {"abci-v100", 16, 2, AR_SERVERS_AT_NODES, 0, 2, AR_PULL_WHOLE, 1, 4, 0.2, 1e-2},
    {"abci-v100", 16, 4, AR_SERVERS_AT_NODES, 2, 2, AR_PULL_WHOLE, 1, 1, 0.2, 1e-3},
};

static double iterate(struct ar_async *run, bool has_actors)
{
    ar_async_prepare(run, &arena);
    if (has_actors) {
        TEST_OK(ar_async_run_actors(run, &why));
    } else {
        ar_async_run_events(run);
    }
    return ar_async_iteration_s(run);
}

Test(async_actors, take_about_as_long_as_events)
{
    AR_EACH(const struct test_case, test, cases, sizeof cases / sizeof cases[0]) {
        struct ar_async_slice slices[SLICES_MAX];
        double sum_s = test->gpus_each > 1 ? 0.001 : 0;
        for (uint32_t i = 0; i < test->slices; i++) {
            slices[i] = (struct ar_async_slice){0.02 * (i + 1) / test->slices,
                                                51100000 / test->slices, sum_s, 2 * sum_s};
        }
        struct ar_async run = {.cluster = support_cluster(test->cluster, NULL),
                               .workers = test->workers / test->gpus_each,
                               .gpus_each = test->gpus_each,
                               .servers = test->servers,
                               .servers_at = test->at,
                               .staleness = test->staleness,
                               .every = test->every,
                               .pull = test->pull,
                               .steps_count = STEPS,
                               .forward_s = 0.01,
                               .backward_s = 0.02,
                               .slices = slices,
                               .slices_count = test->slices,
                               .factors = factors};
        struct ar_draw *draw = ar_draw_create(5, NULL, &arena);
        ar_jitter_factors(draw, test->jitter_frac, STEPS * run.workers, factors);
        for (uint32_t i = 0; i < run.workers && ar_async_is_loose(&run); i++) {
            starts_s[i] = ar_draw_uniform(draw, 0, 0.03);
            run.starts_s = starts_s;
        }
        double events_s = iterate(&run, false);
        uint64_t messages = run.messages_count;
        double actors_s = iterate(&run, true);
        cr_expect(fabs(events_s / actors_s - 1) <= test->max_frac,
                  "%u workers, %u servers at %s, %u slices: %g s, actors %g s", test->workers,
                  test->servers, ar_servers_at_names[test->at], test->slices, events_s, actors_s);
        cr_expect(run.messages_count == messages);
    }
}
