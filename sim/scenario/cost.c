/* What a scenario costs to compute, for the order of a sweep and its estimates of time. */
#include "ar_run.h"

/* Messages times what each takes the engine. */
static double run_s(const struct ar_scenario *scenario)
{
    double collectives = 1;
    if (!ar_scenario_is_bare(scenario)) {
        collectives = (double)ar_scenario_buckets(scenario) * scenario->iterations_count;
    }
    return ar_engine_cost_s(scenario->engine, ar_shape_ranks(&scenario->shape), scenario->channels,
                            collectives, (double)ar_scenario_messages(scenario));
}

double ar_run_cost_s(const struct ar_scenario *scenario)
{
    double time_s = run_s(scenario);
    if (!ar_scenario_is_bare(scenario) && scenario->baseline == AR_BASELINE_NODE) {
        struct ar_scenario base = *scenario;
        base.shape =
            (struct ar_shape){.x = ar_cluster_facts(scenario->cluster)->gpus_per_node, .y = 1};
        base.algorithm = &ar_algorithm_ring;
        time_s += run_s(&base);
    }
    return time_s;
}
