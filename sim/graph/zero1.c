/* ZeRO-1: each replica gets its part of the summed gradients, updates its part of the parameters,
 * and gathers the others'; of a trace bucket by bucket. */
#include "build.h"

static void after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    bool is_sent = build->layout->trace != NULL ? run->action.is_backward
                                                : build->layout->overlaps && run->ends_batches;
    if (is_sent) {
        (void)build_run_shards(build, run, &ar_operation_reduce_scatter, BUILD_ENDS, task);
    }
}

static void end(struct ar_build *build, uint32_t stage)
{
    const struct ar_action action = {.is_backward = true};
    struct ar_parameters all = build_stage_parameters(build, stage);
    if (!build->layout->overlaps) {
        (void)build_gradients(build, stage, &ar_operation_reduce_scatter, all, &action,
                              build->ends[0]);
    }
    uint32_t optimizer = build_optimizer(build, stage, ar_layout_replicas(build->layout),
                                         build_last(build, stage, AR_STREAM_GRADIENTS));
    if (build->layout->trace != NULL) {
        (void)build_shards(build, &ar_operation_all_gather, 0, BUILD_ANYWHERE, &action, optimizer);
    } else {
        (void)build_gradients(build, stage, &ar_operation_all_gather, all, &action, optimizer);
    }
}

const struct ar_strategy ar_strategy_zero1 = {
    .name = "zero1",
    .title = "replicas share the optimizer: reduce-scatter of gradients, all-gather of parameters",
    .shards_optimizer = true,
    .run_layers = build_data_layers,
    .after = after,
    .end = end,
};
