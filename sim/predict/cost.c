/* How long the answer to a scenario takes to compute, for the order of a sweep and its estimates of
 * time. */
#include "kinds.h"

/* Cycles depend on the number of ranks; other rules of fusion do not. */
static uint32_t count_buckets(const struct ar_scenario *scenario)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_workload *workload;
    struct ar_error ignored;
    if (!ar_framework_is_on(scenario->framework, AR_TERM_CYCLE_TIME) ||
        ar_scenario_workload(scenario, &arena, &workload, &ignored) != AR_OK) {
        return scenario->buckets_count;
    }
    return workload->buckets_count;
}

/* Messages times what each takes the engine. But for jitter and stragglers, ranks start together.
 */
static double messages_cost_s(const struct ar_scenario *scenario, double collectives)
{
    struct ar_collective collective = ar_scenario_collective(scenario);
    bool is_even = scenario->jitter_frac == 0 && scenario->stragglers_count == 0;
    return ar_engine_cost_s(scenario->engine, ar_scenario_ranks(scenario), scenario->channels,
                            collectives, collectives * (double)ar_collective_messages(&collective),
                            is_even);
}

static double steps_cost_s(const struct ar_scenario *scenario)
{
    return messages_cost_s(scenario, (double)count_buckets(scenario) * scenario->iterations_count);
}

/* All messages where the engine runs all ranks at once. Else each work once; where ranks differ a
 * few collectives of each layer in each step, as rings. */
double layout_cost_s(const struct ar_scenario *scenario)
{
    double replicas = ar_layout_replicas(&scenario->layout);
    const struct ar_layout *layout = &scenario->layout;
    double tasks =
        layout->recorded != NULL ? layout->recorded->tasks_count : 3.0 * layout->model->layers;
    double jobs = tasks * scenario->iterations_count;
    if (ar_engine_simulates(scenario->engine)) {
        struct ar_job job = ar_scenario_job(scenario);
        return ar_engine_cost_s(scenario->engine, scenario->gpus, scenario->channels, 0,
                                ar_job_ranks_messages(&job), false);
    }
    return ar_scenario_is_uneven(scenario)
               ? ar_engine_cost_s(scenario->engine, scenario->gpus, scenario->channels, jobs,
                                  jobs * scenario->gpus * replicas, false)
               : ar_engine_cost_s(scenario->engine, 0, 0, 0, 0, true);
}

double collective_cost_s(const struct ar_scenario *scenario)
{
    return messages_cost_s(scenario, 1);
}

double trace_cost_s(const struct ar_scenario *scenario)
{
    double time_s = steps_cost_s(scenario);
    if (scenario->baseline == AR_BASELINE_NODE) {
        struct ar_scenario base = *scenario;
        base.shape =
            (struct ar_shape){.x = ar_cluster_facts(scenario->cluster)->gpus_per_node, .y = 1};
        base.algorithm = &ar_algorithm_ring;
        time_s += steps_cost_s(&base);
    }
    return time_s;
}

double ar_run_cost_s(const struct ar_scenario *scenario)
{
    return ar_scenario_kind(scenario)->cost_s(scenario);
}
