#include "cost.h"

#include <string.h>

/* Measured on sweeps of abci-v100 with two cores, 16 to 4096 GPUs. `ranks` is where a message
 * begins to cost more, in proportion: the lists that SimGrid walks through grow with the ranks. */
static const struct rate {
    const char *engine;
    double point_s;   /* constant part of a run */
    double message_s; /* per message */
    double rank_s;    /* per rank, channel and all-reduce */
    double ranks;
} rates[] = {
    {"simgrid", 25e-3, 5e-6, 30e-6, 1280},
    {"recurrence", 50e-6, 1.1e-9, 400e-9, 1e9},
    {"closed", 30e-6, 0, 100e-9, 1e9},
    {"library", 50e-6, 0, 100e-9, 1e9}, /* a formula per all-reduce, */
    {"nccl", 50e-6, 0, 100e-9, 1e9},    /* both */
};

static const struct rate *find_rate(const struct ar_engine *engine)
{
    enum { RATES_COUNT = sizeof rates / sizeof rates[0] };
    for (size_t i = 0; i < RATES_COUNT; i++) {
        if (strcmp(engine->name, rates[i].engine) == 0) {
            return &rates[i];
        }
    }
    return &rates[0]; /* an engine that nobody measured yet */
}

static double run_s(const struct rate *rate, const struct plan *plan, const struct point *point)
{
    double ranks = ar_shape_ranks(&point->shape);
    double all_reduces =
        point->payload_bytes > 0 ? 1 : (double)plan_buckets(plan, point) * plan->iterations_count;
    double growth = ranks > rate->ranks ? ranks / rate->ranks : 1;
    return rate->point_s + (double)plan_messages(plan, point) * rate->message_s * growth +
           all_reduces * ranks * plan->channels * rate->rank_s;
}

double cost_s(const struct plan *plan, const struct point *point)
{
    const struct rate *rate = find_rate(point->engine);
    double time_s = run_s(rate, plan, point);
    if (point->payload_bytes == 0 && plan->baseline == AR_BASELINE_NODE) {
        struct point base = *point; /* a ring of one node */
        base.shape = (struct ar_shape){.x = ar_cluster_facts(plan->cluster)->gpus_per_node, .y = 1};
        base.algorithm = &ar_algorithm_ring;
        time_s += run_s(rate, plan, &base);
    }
    return time_s;
}
