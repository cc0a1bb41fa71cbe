/* Independent: replicas send each other nothing until the end, when one gathers what all have, as
 * chains of a Monte Carlo method that run side by side (Neiswanger et al., arXiv:1311.4780). */
#include "build.h"

static uint32_t run_layers(const struct ar_build *build, bool is_backward, bool is_last)
{
    (void)is_backward, (void)is_last;
    return ar_layout_chunk_layers(build->layout);
}

static void end(struct ar_build *build, uint32_t stage)
{
    const struct ar_layout *layout = build->layout;
    struct ar_parameters all = build_stage_parameters(build, stage);
    uint32_t optimizer = build_optimizer(build, stage, 1, AR_NO_TASK);
    uint32_t gather = build_collective(
        build, stage, AR_STREAM_GRADIENTS, &ar_operation_gather, BUILD_REPLICAS,
        (all.dense + all.experts) * ar_precision_bytes(ar_precision_stored(layout->precision)) *
            ar_layout_replicas(layout),
        1, &(struct ar_action){.is_backward = true});
    ar_graph_need(build->graph, gather, optimizer);
}

const struct ar_strategy ar_strategy_independent = {
    .name = "independent",
    .title = "replicas send nothing until one gathers the parameters of all at the end",
    .ends_runs = true,
    .run_layers = run_layers,
    .end = end,
};
