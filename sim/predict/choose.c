/* The fastest shape of an algorithm (`--shape best`), and the fastest algorithm (`auto`). */
#include <inttypes.h>
#include <math.h>

#include "ar_row.h"
#include "ar_units.h"
#include "kinds.h"

/* The scenarios tried so far, and the fastest of them. */
struct choice {
    uint32_t count;
    struct ar_scenario best;
    double best_s;
    /* The fastest that NCCL runs by itself; NULL: none. */
    const struct ar_algorithm *called;
    double called_s;
};

/* Whether NCCL runs it by itself, in its newest release. */
static bool is_of_nccl(const struct ar_scenario *scenario)
{
    static const struct ar_runner nccl = {"nccl", 4, UINT32_MAX};
    return ar_runner_runs(&nccl, scenario->algorithm,
                          ar_scenario_spread(scenario, scenario->algorithm));
}

static double time_of(const struct ar_row *row)
{
    return isnan(row->iteration_s) ? row->allreduce_s : row->iteration_s;
}

/* A time that a collective takes at least. What goes around all ranks enters each node but its
 * first, or each NVLink domain of several nodes, by a message over the network. */
static double least_time_s(const struct ar_scenario *candidate)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(candidate->cluster);
    uint32_t ranks = ar_scenario_group_ranks(candidate);
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(candidate->algorithm, &candidate->shape, phases);
    for (uint32_t i = 0; i < count && ar_scenario_kind(candidate)->is_collective; i++) {
        if (phases[i].kind == AR_PHASE_WALK && phases[i].line == ranks) {
            return (ranks - 1) / (facts->gpus_per_node * facts->nvlink_domain_nodes) *
                   facts->message.path_s[AR_TIER_RACK];
        }
    }
    return 0;
}

/* Whether a candidate may be faster than those before it. Steps with jitter or stragglers last
 * longer, in the mean, than one without: where they take long to compute, that one is run first. */
static bool may_be_faster(const struct ar_scenario *candidate, const struct choice *choice)
{
    static const double long_s = 0.05;
    struct ar_row row;
    struct ar_scenario even = *candidate;
    double limit_s = is_of_nccl(candidate) ? choice->called_s : choice->best_s;
    bool is_slower = least_time_s(candidate) > limit_s;
    if (is_slower || choice->count == 0 || candidate->iterations_count == 1 ||
        ar_run_cost_s(candidate) < long_s) {
        return !is_slower;
    }
    even.jitter_frac = 0;
    even.stragglers_count = 0;
    even.iterations_count = 1;
    return ar_run(&even, &row, AR_IGNORED) != AR_OK || time_of(&row) < limit_s;
}

/* Runs one candidate; one that cannot run is left out, and the error says why. */
static enum ar_status try_one(const struct ar_scenario *candidate, struct choice *choice,
                              struct ar_error *err)
{
    struct ar_row row;
    struct ar_collective collective = ar_scenario_collective(candidate);
    if (ar_scenario_check_runner(candidate, candidate->algorithm, err) != AR_OK ||
        ar_scenario_check_runs(candidate, err) != AR_OK ||
        ar_engine_check(candidate->engine, &collective, ar_scenario_library(candidate), err) !=
            AR_OK) {
        return AR_OK;
    }
    bool is_run = may_be_faster(candidate, choice);
    AR_TRY(is_run ? ar_run(candidate, &row, err) : AR_OK);
    double time_s = is_run ? time_of(&row) : HUGE_VAL;
    if (choice->count == 0 || time_s < choice->best_s) {
        choice->best = *candidate;
        choice->best_s = time_s;
    }
    if (is_of_nccl(candidate) && time_s < choice->called_s) {
        choice->called = candidate->algorithm;
        choice->called_s = time_s;
    }
    choice->count++;
    return AR_OK;
}

/* An algorithm in the shape that is given, or in its own and, if it has grids, in all of them.
 * Simulations leave the choice to the engine that checks them. */
static enum ar_status try_shapes(const struct ar_scenario *scenario,
                                 const struct ar_algorithm *algorithm, struct choice *choice,
                                 struct ar_error *err)
{
    const struct ar_engine *engine = scenario->engine;
    struct ar_scenario candidate = *scenario;
    uint32_t ranks = ar_scenario_group_ranks(scenario);
    bool is_free = scenario->has_best_shape || !ar_scenario_has(scenario, AR_KEY_SHAPE);
    bool has_grids = is_free && ar_algorithm_shapes(algorithm) == AR_SHAPES_GRIDS;
    const struct ar_shape own =
        is_free ? ar_scenario_default_shape(scenario, algorithm) : scenario->shape;
    candidate.algorithm = algorithm;
    candidate.engine = ar_engine_simulates(engine) ? ar_engine_checker(engine) : engine;
    candidate.baseline = AR_BASELINE_GPU;
    for (uint32_t x = 1; x <= ranks; x++) {
        if (x == own.x || (has_grids && ranks % x == 0)) {
            candidate.shape = x == own.x ? own : (struct ar_shape){.x = x, .y = ranks / x};
            AR_TRY(try_one(&candidate, choice, err));
        }
    }
    return AR_OK;
}

/* Says which is the fastest and, if NCCL does not run it, which of its own is. */
static const char *describe_choice(const struct ar_scenario *scenario, const struct choice *choice)
{
    const struct ar_algorithm *best = choice->best.algorithm;
    bool has_payload = scenario->payload_bytes > 0,
         has_shape = ar_algorithm_shapes(best) >= AR_SHAPES_GROUPS;
    bool is_limited = scenario->runner.text != NULL;
    const char *text = ar_arena_format(
        scenario->arena, "%s%s%s%s%s is the fastest of %" PRIu32 "%s%s%s by engine %s",
        has_payload ? AR_SHOW_BYTES(scenario->payload_bytes) : "", has_payload ? ": " : "",
        ar_algorithm_name(best), has_shape ? " " : "",
        has_shape ? AR_SHOW_SHAPE(&choice->best.shape) : "", choice->count,
        is_limited ? " that " : "", is_limited ? scenario->runner.text : "",
        is_limited ? " runs" : "", choice->best.engine->name);
    if (choice->called == NULL || is_of_nccl(&choice->best) || is_limited) {
        return text;
    }
    return ar_arena_format(scenario->arena,
                           "%s (%s), which NCCL and RCCL have no call for; of those that they have "
                           "%s is (%s): --runnable-by nccl",
                           text, AR_SHOW_SECONDS(choice->best_s), choice->called->name,
                           AR_SHOW_SECONDS(choice->called_s));
}

enum ar_status ar_scenario_settle(struct ar_scenario *scenario, struct ar_error *err)
{
    struct choice choice = {.best_s = HUGE_VAL, .called_s = HUGE_VAL};
    bool is_free = scenario->algorithm == NULL && /* and no library chooses */
                   ar_engine_algorithm(scenario->engine, scenario->operation) != NULL;
    if (!scenario->has_best_shape && !is_free) {
        return ar_scenario_check(scenario, err);
    }
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    if (ar_scenario_kind(scenario)->is_collective && scenario->payload_bytes == 0) {
        return AR_OK; /* there is nothing to be fast at yet */
    }
    AR_SCENARIO_REFUSE(scenario->algorithm == NULL && !is_free, scenario, AR_KEY_SHAPE, err,
                       "found best with the algorithm that engine %s chooses; expected it with "
                       "another --algorithm or --engine",
                       scenario->engine->name);
    (void)ar_error_set(err, AR_USAGE, "%s: no algorithm of it is known",
                       scenario->operation->command);
    for (size_t i = 0; i < (is_free ? ar_algorithms_count : 1); i++) {
        const struct ar_algorithm *algorithm = is_free ? ar_algorithms[i] : scenario->algorithm;
        if (algorithm->operation == scenario->operation) {
            AR_TRY(try_shapes(scenario, algorithm, &choice, err));
        }
    }
    AR_SCENARIO_REFUSE(choice.count == 0 && is_free && scenario->runner.text != NULL, scenario,
                       AR_KEY_RUNNABLE_BY, err,
                       "found %s, which by itself runs no algorithm of %s that can run here; "
                       "expected another library, or none",
                       scenario->runner.text, scenario->operation->command);
    if (choice.count == 0) {
        return err->status;
    }
    bool is_choice = choice.count > 1 || scenario->has_best_shape;
    scenario->choice = is_choice ? describe_choice(scenario, &choice) : NULL;
    scenario->algorithm = choice.best.algorithm;
    scenario->shape = choice.best.shape;
    return AR_OK;
}

void ar_note_choice(FILE *notes, const struct ar_scenario *scenario)
{
    if (scenario->choice != NULL) {
        ar_note(notes, "%s", scenario->choice);
    }
}
