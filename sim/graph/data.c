/* Data-parallel: all replicas have everything, and sum all gradients. They do so beside the last
 * backward pass, layer by layer, or after it at once; those of a trace in the buckets that a
 * framework makes of them. */
#include "build.h"

uint32_t build_data_layers(const struct ar_build *build, bool is_backward, bool is_last)
{
    bool has_others = ar_layout_replicas(build->layout) > 1 || build->layout->trace != NULL;
    bool is_single = build->layout->overlaps && is_backward && is_last && has_others;
    return is_single ? 1 : ar_layout_chunk_layers(build->layout);
}

/* Sends the buckets whose last gradient is of the layer that has gone backward. */
static void send_buckets(struct ar_build *build, const struct ar_run *run)
{
    const struct ar_workload *workload = build->layout->workload;
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        if (workload->buckets[i].layer == run->first) {
            build_bucket(build, &workload->buckets[i], &run->action);
        }
    }
}

static void after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    if (build->layout->trace != NULL && run->action.is_backward) {
        send_buckets(build, run);
        return;
    }
    if (!build->layout->overlaps || !run->ends_batches) {
        return;
    }
    (void)build_gradients(build, run->stage, &ar_operation_all_reduce,
                          build_run_parameters(build, run), &run->action, task);
}

static void end(struct ar_build *build, uint32_t stage)
{
    const struct ar_action action = {.is_backward = true};
    if (!build->layout->overlaps) {
        (void)build_gradients(build, stage, &ar_operation_all_reduce,
                              build_stage_parameters(build, stage), &action, build->ends[0]);
    }
    (void)build_optimizer(build, stage, 1, build_last(build, stage, AR_STREAM_GRADIENTS));
}

const struct ar_strategy ar_strategy_data = {
    .name = "data",
    .title = "replicas have all parameters and sum their gradients",
    .sends_buckets = true,
    .run_layers = build_data_layers,
    .after = after,
    .end = end,
};
