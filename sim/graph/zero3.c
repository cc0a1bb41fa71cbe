/* ZeRO-3, as FSDP does it: parameters, gradients and optimizer are in parts. The parameters of a
 * layer are gathered before it goes forward and again before it goes backward, some layers ahead;
 * its gradients are reduce-scattered behind the next gather, for each micro-batch. Of a trace the
 * buckets are what FSDP wraps: layers of which one has its parameters all have them. */
#include "build.h"

/* Sends the gradients of the run that waits. */
static void send_waiting(struct ar_build *build)
{
    if (build->waiting_for != AR_NO_TASK) {
        (void)build_run_shards(build, &build->waiting, &ar_operation_reduce_scatter, BUILD_ENDS,
                               build->waiting_for);
        build->waiting_for = AR_NO_TASK;
    }
}

/* With one layer ahead the gather begins when the run before the last one has ended: so two layers
 * are there at most. */
static uint32_t before(struct ar_build *build, const struct ar_run *run)
{
    /* A bucket ends at the layer that is its first going forward. */
    enum build_edge edge = run->action.is_backward ? BUILD_BEGINS : BUILD_ENDS;
    uint32_t gathered = build_run_shards(build, run, &ar_operation_all_gather, edge,
                                         build->ends[build->layout->prefetch]);
    build->goes_on = build->layout->trace != NULL && gathered == AR_NO_TASK;
    if (!build->goes_on) {
        send_waiting(build);
    }
    return gathered;
}

static bool ends_bucket(const struct ar_build *build, uint32_t layer)
{
    const struct ar_workload *workload = build->layout->workload;
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        if (workload->buckets[i].layer == layer) {
            return true;
        }
    }
    return false;
}

static void after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    if (run->action.is_backward &&
        (build->layout->trace == NULL || ends_bucket(build, run->first))) {
        send_waiting(build);
        build->waiting = *run;
        build->waiting_for = task;
    }
}

static void end(struct ar_build *build, uint32_t stage)
{
    send_waiting(build);
    (void)build_optimizer(build, stage, ar_layout_replicas(build->layout),
                          build_last(build, stage, AR_STREAM_GRADIENTS));
}

const struct ar_strategy ar_strategy_zero3 = {
    .name = "zero3",
    .title = "replicas share parameters, gradients and optimizer (FSDP), layers gathered ahead",
    .shards_optimizer = true,
    .shards_all = true,
    .before = before,
    .after = after,
    .end = end,
};
