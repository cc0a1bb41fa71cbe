/* The reference engine, parent side: a trial becomes a simulation. */
#include <string.h>

#include "ar_phase_flows.h"
#include "ar_simgrid_xml.h"
#include "simgrid_child.h"

/* What a child answers of a trial: the job times and, if asked for, the finish of each rank and the
 * timeline. */
enum { TRIAL_PARTS = 3 };

static void list_results(struct ar_trial *trial, struct iovec parts[TRIAL_PARTS])
{
    uint32_t ranks = trial->rank_finish_s != NULL ? ar_collective_ranks(&trial->collective) : 0;
    struct ar_timeline *timeline = trial->timeline;
    size_t marks = timeline != NULL ? ar_timeline_size(trial) : 0;
    parts[0] = (struct iovec){trial->times, trial->jobs_count * sizeof *trial->times};
    parts[1] = (struct iovec){trial->rank_finish_s, ranks * sizeof *trial->rank_finish_s};
    parts[2] = (struct iovec){marks > 0 ? timeline->marks_s : NULL, marks * sizeof(double)};
}

enum ar_status simgrid_find_pairs(const struct ar_collective *collective, struct ar_arena *arena,
                                  struct ar_flow **pairs, size_t *count, struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_phase_flows flows;
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    uint32_t first_step = 0;
    size_t patterns = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        patterns += ar_phase_patterns(&phases[i]);
    }
    AR_TRY(ar_phase_flows_create(arena, collective, phases, phases_count, &flows, err));
    *pairs = ar_arena_alloc(arena, patterns * flows.flows_max, sizeof **pairs);
    *count = 0;
    AR_NEED(*pairs, err, "the routes of the platform");
    for (uint32_t i = 0; i < phases_count; i++) {
        for (uint32_t j = 0; j < ar_phase_patterns(&phases[i]); j++) {
            ar_phase_flows_find(collective, &phases[i], first_step + j, &flows);
            memcpy(*pairs + *count, flows.flows, flows.flows_count * sizeof **pairs);
            *count += flows.flows_count;
        }
        first_step += phases[i].steps;
    }
    return AR_OK;
}

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {.last = NULL};
    const struct ar_collective *collective = &trial->collective;
    struct iovec results[TRIAL_PARTS];
    uint32_t ranks = ar_collective_ranks(collective);
    uint32_t actors_each = collective->algorithm->wants_sums ? 1 + AR_PERIOD_MAX : 1;
    struct trial_task own = {
        .simulation = {.task = {.kind = SIMGRID_TRIAL,
                                .actors_count =
                                    (uint64_t)ranks * collective->channels * actors_each},
                       .cluster = collective->cluster,
                       .ranks = ranks,
                       .results = results,
                       .results_count = TRIAL_PARTS},
        .trial = trial,
    };
    list_results(trial, results);
    if (!ar_cluster_is_nested(collective->cluster) || collective->algorithm->wants_sums) {
        struct ar_flow *pairs;
        AR_TRY(simgrid_find_pairs(collective, &arena, &pairs, &own.simulation.pairs_count, err));
        own.simulation.pairs = pairs;
    }
    AR_TRY(simgrid_simulate(&own.simulation, err));
    trial->memory_bytes = own.simulation.memory_bytes;
    trial->messages_count = trial->jobs_count * ar_collective_messages(&trial->collective);
    trial->exact = true;
    return simgrid_describe(trial->options, sizeof trial->options, err);
}

const struct ar_engine ar_engine_simgrid = {
    .name = "simgrid",
    .title = "SimGrid: every rank an actor, every message a communication; the reference",
    .has_messages = true,
    .has_timeline = true,
    .is_simulation = true,
    /* The lists that SimGrid walks through grow with the ranks. */
    .cost = {.trial_s = 25e-3, .message_s = 5e-6, .rank_s = 30e-6, .ranks = 1280},
    .run = run,
    .run_graph = engine_graph_run,
};
