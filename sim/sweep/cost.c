#include "cost.h"

static double run_s(const struct plan *plan, const struct point *point)
{
    bool is_step = point->payload_bytes == 0;
    double all_reduces = is_step ? (double)plan_buckets(plan, point) * plan->iterations_count : 1;
    return ar_engine_cost_s(point->engine, ar_shape_ranks(&point->shape), plan->channels,
                            all_reduces, (double)plan_messages(plan, point));
}

double cost_s(const struct plan *plan, const struct point *point)
{
    double time_s = run_s(plan, point);
    if (point->payload_bytes == 0 && plan->baseline == AR_BASELINE_NODE) {
        struct point base = *point; /* a ring of one node */
        base.shape = (struct ar_shape){.x = ar_cluster_facts(plan->cluster)->gpus_per_node, .y = 1};
        base.algorithm = &ar_algorithm_ring;
        time_s += run_s(plan, &base);
    }
    return time_s;
}
