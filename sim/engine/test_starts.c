/* Ranks that start at different times: stragglers, jitter, steps back to back. */

#include "test_outcome.h"
#include "test_trials.h"

/* Beyond the time of the largest call, so that some ranks wait for long. */
#define SPREAD_S 0.002

static const struct ar_call calls[] = {{.ready_s = 0, .elements = 25557},
                                       {.ready_s = 0.0004, .elements = 1048576},
                                       {.ready_s = 0.0005, .elements = 2049},
                                       {.ready_s = 1, .elements = 300000}};

enum { JOBS = sizeof calls / sizeof calls[0] };

static void starts_run(struct test_trial *test, const struct ar_collective *collective,
                       const struct ar_engine *engine, struct ar_timeline *timeline)
{
    trials_prepare(collective, calls, JOBS, test);
    trials_scatter(SPREAD_S, test);
    test->trial.timeline = timeline;
    TEST_OK(ar_trial_run(&test->trial, engine, &why));
}

static struct test_trial simulated;
static struct test_trial computed;

static void expect_equal_finishes(const struct ar_collective *collective)
{
    cr_expect(trials_compare(collective, calls, JOBS, SPREAD_S, 1e-6), "not called exact");
}

Test(starts, of_each_rank_are_those_of_the_simulation_where_sharing_is_static,
     .disabled = AR_TEST_STRIDE > 1)
{
    static const uint32_t windows[] = {1, 8};
    static const uint32_t ranks[] = {2, 5, 16, 67};
    struct ar_cluster *flat = support_cluster("flat", NULL);
    struct ar_cluster *abci = support_cluster("abci-v100", "nodes=24 rack.nodes=4");
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += AR_TEST_STRIDE) {
        for (size_t j = 0; j < sizeof windows / sizeof windows[0]; j += AR_TEST_STRIDE) {
            struct ar_collective ring = support_collective(flat, "ring", ranks[i], 1);
            ring.window = windows[j];
            expect_equal_finishes(&ring);
            ring.cluster = abci;
            ring.channels = ranks[i] < 16 ? 1 : 2; /* two would share the HCA of a lone GPU */
            expect_equal_finishes(&ring);
        }
    }
    /* One row or one column: a grid with one phase, or with phases on the same hops. */
    struct ar_collective column = support_collective(flat, "torus2d", 1, 24);
    expect_equal_finishes(&column);
    column = support_collective(abci, "hierarchical", 1, 24);
    expect_equal_finishes(&column);
}

Test(starts, that_differ_are_estimates_where_phases_may_overlap)
{
    struct ar_collective torus = support_on("flat", "torus2d", 8, 8);
    starts_run(&simulated, &torus, &ar_engine_simgrid, NULL);
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i]) || ar_engine_simulates(ar_engines[i])) {
            continue;
        }
        starts_run(&computed, &torus, ar_engines[i], NULL);
        cr_expect_not(computed.trial.exact, "%s", ar_engines[i]->name);
        cr_expect_neq(computed.trial.note[0], '\0');
        double off = computed.times[1].finish_s / simulated.times[1].finish_s - 1;
        cr_expect(off > -0.15 && off < 0.15, "%s: off by %g", ar_engines[i]->name, off);
    }
}

enum { OBSERVED = 3, MARKS = JOBS * OBSERVED * 2 * AR_MARKS_COUNT };

static void expect_equal_marks(const struct ar_collective *collective, double relative)
{
    static const uint32_t observed[OBSERVED] = {0, 5, 11};
    static double marks_simulated[MARKS];
    static double marks_computed[MARKS];
    struct ar_timeline first = {observed, OBSERVED, marks_simulated};
    struct ar_timeline second = {observed, OBSERVED, marks_computed};
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    starts_run(&simulated, collective, &ar_engine_simgrid, &first);
    starts_run(&computed, collective, &ar_engine_recurrence, &second);
    for (uint32_t place = 0; place < JOBS * OBSERVED * collective->channels; place++) {
        const double *a = marks_simulated + (size_t)place * AR_MARKS_COUNT;
        const double *b = marks_computed + (size_t)place * AR_MARKS_COUNT;
        for (uint32_t mark = 0; mark < AR_MARKS_COUNT; mark++) {
            if (mark > AR_MARK_PHASES + phases_count && mark < AR_MARK_DONE) {
                continue;
            }
            SUPPORT_NEAR(b[mark], a[mark], relative, "%s: mark %u", collective->algorithm->name,
                         mark);
        }
        cr_expect(a[AR_MARK_START] <= a[AR_MARK_PHASES]);
        cr_expect(a[AR_MARK_DONE] >= a[AR_MARK_PHASES + phases_count]);
    }
}

Test(starts, of_phases_are_those_of_the_simulation)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective ring = support_collective(abci, "ring", 12, 1);
    ring.channels = 2;
    expect_equal_marks(&ring, 1e-6);
    struct ar_collective torus = support_collective(abci, "torus2d", 4, 3);
    expect_equal_marks(&torus, 0.1); /* an estimate */
    struct ar_collective groups = support_collective(abci, "hierarchical", 4, 3);
    expect_equal_marks(&groups, 0.1);
}
