/* ZeRO-3, as FSDP does it: parameters, gradients and optimizer are in parts. The parameters of a
 * layer are gathered before it goes forward and again before it goes backward, some layers ahead;
 * its gradients are reduce-scattered behind the next gather, for each micro-batch. */
#include "build.h"

static uint32_t run_layers(const struct ar_build *build, bool is_backward, bool is_last)
{
    (void)build, (void)is_backward, (void)is_last;
    return 1;
}

/* Sends the gradients of the run that waits. */
static void send_waiting(struct ar_build *build)
{
    if (build->waiting_for == AR_NO_TASK) {
        return;
    }
    (void)build_gradients(build, build->waiting.stage, &ar_operation_reduce_scatter,
                          build_run_parameters(build, &build->waiting),
                          ar_precision_bytes(build->layout->gradients), &build->waiting.action,
                          build->waiting_for);
    build->waiting_for = AR_NO_TASK;
}

/* With one layer ahead the gather begins when the run before the last one has ended: so two layers
 * are there at most. */
static uint32_t before(struct ar_build *build, const struct ar_run *run)
{
    uint32_t gathered = build_gradients(
        build, run->stage, &ar_operation_all_gather, build_run_parameters(build, run),
        ar_precision_bytes(ar_precision_stored(build->layout->precision)), &run->action,
        build->ends[build->layout->prefetch]);
    send_waiting(build);
    return gathered;
}

static void after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    if (run->action.is_backward) {
        build->waiting = *run;
        build->waiting_for = task;
    }
}

static void end(struct ar_build *build, uint32_t stage)
{
    send_waiting(build);
    (void)build_optimizer(build, stage, ar_layout_replicas(build->layout),
                          build->graph->last[stage * AR_STREAMS_COUNT + AR_STREAM_GRADIENTS]);
}

const struct ar_strategy ar_strategy_zero3 = {
    .name = "zero3",
    .title = "replicas share parameters, gradients and optimizer (FSDP), layers gathered ahead",
    .shards_optimizer = true,
    .shards_all = true,
    .run_layers = run_layers,
    .before = before,
    .after = after,
    .end = end,
};
