/** \file test_scenarios.h
 * For tests of scenarios: scenarios made of texts, and a small trace.
 */
#pragma once

#include <criterion/criterion.h>
#include <math.h>

#include "ar_scenario.h"

enum { SCENARIOS_PATH = 1024 };

/** Begun by scenarios_enter(), which writes the trace, and ended by scenarios_leave(); to be the
 * `.init` and `.fini` of a suite. */
extern struct ar_arena scenarios_arena;
extern struct ar_inputs *scenarios_inputs;
void scenarios_enter(void);
void scenarios_leave(void);

/** A measured trace of one layer: batch 10 in fp32, 1 ms forward, 2 ms backward, 0.5 ms optimizer,
 * 1,000,000 elements. */
extern char scenarios_trace[SCENARIOS_PATH];

/** A file beside it, which a test may write: a run. */
extern char scenarios_run[SCENARIOS_PATH];

/** The keys of `KEY=VALUE;KEY=VALUE`, set as on a command line or in a file; must succeed. */
void scenarios_set(struct ar_scenario *scenario, const char *text);
struct ar_scenario scenarios_of(const char *text);

/** The same, loaded. */
void scenarios_load(struct ar_scenario *scenario);
struct ar_scenario scenarios_loaded(const char *text);

/** Expects a number, but for rounding. */
#define SCENARIOS_NEAR(found, expected)                                                            \
    cr_expect(fabs((found) - (expected)) <= 1e-12 * fabs((double)(expected)),                      \
              "%s is %.17g, not %.17g", #found, (double)(found), (double)(expected))
