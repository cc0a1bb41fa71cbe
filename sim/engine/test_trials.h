/** \file test_trials.h
 * For tests: trials run by an engine in one line. An engine that fails, fails the test.
 */
#pragma once

#include "ar_trial.h"
#include "test_support.h"

enum { TRIALS_CALLS = 16, TRIALS_PARTS = 3, TRIALS_RANKS = 1024 };

/** Even parts, parts that differ by an element, and large ones. */
#define TRIALS_CALLS_OF_PARTS                                                                      \
    {                                                                                              \
        {.ready_s = 0, .elements = 96 * 2520}, {.ready_s = 0.01, .elements = 25557},               \
            {.ready_s = 0.02, .elements = 48 * 25200},                                             \
    }

/** A trial and its results. */
struct test_trial {
    struct ar_trial trial;
    struct ar_call calls[TRIALS_CALLS];
    struct ar_call_time times[TRIALS_CALLS];
    double rank_start_s[TRIALS_RANKS];
    double rank_factor[TRIALS_RANKS];
    double rank_finish_s[TRIALS_RANKS];
};

/** Prepares a trial of calls; does not run it. The trial must not be moved afterwards. */
void trials_prepare(const struct ar_collective *collective, const struct ar_call *calls,
                    uint32_t calls_count, struct test_trial *test);

/** Gives every rank a start of its own up to `spread_s`, and a factor from 1 to 1.5: a fixed
 * pseudo-random sequence. For a trial that is prepared. */
void trials_scatter(double spread_s, struct test_trial *test);

/** Prepares and runs; expects the last call to end when the last rank does. */
void trials_run(const struct ar_collective *collective, const struct ar_engine *engine,
                const struct ar_call *calls, uint32_t calls_count, struct test_trial *test);

/** Runs calls by `simgrid` and by `recurrence`, which are the two tests; scattered if `spread_s` is
 * above 0. */
void trials_run_both(const struct ar_collective *collective, const struct ar_call *calls,
                     uint32_t calls_count, double spread_s, struct test_trial tests[2]);

/** The same; expects that both say the same, but for `tolerance`: when each call and each rank
 * ends; with 1e-3 and more, how long after it was ready each call ends. Returns whether
 * `recurrence` calls that exact. */
bool trials_compare(const struct ar_collective *collective, const struct ar_call *calls,
                    uint32_t calls_count, double spread_s, double tolerance);

/** The engine after `engine` (NULL: the first one) that follows messages; NULL: there is none. */
const struct ar_engine *trials_next(const struct ar_engine *engine);
#define TRIALS_EACH(engine)                                                                        \
    for (const struct ar_engine *engine = trials_next(NULL); engine != NULL;                       \
         engine = trials_next(engine))

/** Time of one collective that starts at 0. */
double trials_time(const struct ar_collective *collective, const struct ar_engine *engine,
                   uint64_t elements);

/** Time of one collective by the `simgrid` engine. */
double trials_simulate(const struct ar_collective *collective, uint64_t elements);

/** The same; expects that `recurrence` says so, too, but for `tolerance`. */
double trials_agree(const struct ar_collective *collective, uint64_t elements, double tolerance);
