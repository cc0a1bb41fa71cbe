/* Strategies of replicas: who holds which part of parameters, gradients and optimizer, and what is
 * sent when layers have gone forward or backward. */
#include "build.h"

/* --- data, zero1, zero2 -------------------------------------------------------------------------
 *
 * Data-parallel: all replicas have everything, and sum all gradients. They do so beside the last
 * backward pass, layer by layer, or after it at once; those of a trace in the buckets that a
 * framework makes of them.
 *
 * ZeRO-1: each replica gets its part of the summed gradients, updates its part of the parameters,
 * and gathers the others'; of a trace bucket by bucket.
 *
 * ZeRO-2: each replica keeps its part of the gradients alone, so that those of every micro-batch
 * are sent, beside its backward pass or at once after it, when the next run waits for them. */

/* Whether replicas gather the parameters that the step before has updated beside the first forward
 * pass, layer by layer. */
static bool gathers_beside(const struct ar_build *build)
{
    return build->layout->overlaps_gather && build->layout->strategy->shards_optimizer;
}

/* Layers of a run: one each of the last backward pass, or of every one, if its gradients are sent
 * beside it, and of the first forward pass, if parameters are; else those of a chunk. */
static uint32_t build_data_layers(const struct ar_build *build, bool is_backward, bool is_edge)
{
    bool has_others = ar_layout_replicas(build->layout) > 1 || build->layout->workload != NULL;
    const struct ar_strategy *strategy = build->layout->strategy;
    bool is_beside = is_backward ? build->layout->overlaps : gathers_beside(build);
    bool is_each = is_backward && strategy->shards_gradients;
    return is_beside && (is_edge || is_each) && has_others && !strategy->ends_runs ? 1 : 0;
}

static uint32_t zero1_before(struct ar_build *build, const struct ar_run *run)
{
    bool is_gathered = gathers_beside(build) && run->is_edge && !run->action.is_backward;
    return is_gathered
               ? build_run_shards(build, run, &ar_operation_all_gather, BUILD_BEGINS, AR_NO_TASK)
               : AR_NO_TASK;
}

static const struct ar_operation *sum_of(const struct ar_build *build)
{
    return build->layout->strategy->shards_optimizer ? &ar_operation_reduce_scatter
                                                     : &ar_operation_all_reduce;
}

static void data_after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    const struct ar_layout *layout = build->layout;
    bool is_each = layout->workload != NULL || layout->strategy->shards_gradients;
    bool is_sent = run->action.is_backward && (is_each || (layout->overlaps && run->is_edge));
    if (is_sent) {
        (void)build_run_shards(build, run, sum_of(build), BUILD_ENDS, task);
    }
}

static void data_end(struct ar_build *build, uint32_t stage)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_run step = {.stage = stage, .action = {.is_backward = true}};
    struct ar_parameters all = build_stage_parameters(build, stage);
    bool shards = layout->strategy->shards_optimizer;
    if (!layout->overlaps && !layout->strategy->shards_gradients) {
        (void)build_gradients(build, stage, sum_of(build), all, all, &step.action, build->ends[0]);
    }
    uint32_t optimizer = build_optimizer(build, stage, shards ? ar_layout_shards(layout) : 1,
                                         build_last(build, stage, AR_STREAM_GRADIENTS));
    if (shards && layout->workload != NULL) {
        (void)build_run_shards(build, &step, &ar_operation_all_gather, BUILD_ANYWHERE, optimizer);
    } else if (shards && !gathers_beside(build)) {
        (void)build_gradients(build, stage, &ar_operation_all_gather, all, all, &step.action,
                              optimizer);
    }
}

const struct ar_strategy ar_strategy_data = {
    .name = "data",
    .alias = "ddp",
    .title = "replicas have all parameters and sum their gradients",
    .sends_buckets = true,
    .run_layers = build_data_layers,
    .after = data_after,
    .end = data_end,
};

const struct ar_strategy ar_strategy_zero1 = {
    .name = "zero1",
    .title = "replicas share the optimizer: reduce-scatter of gradients, all-gather of parameters",
    .shards_optimizer = true,
    .run_layers = build_data_layers,
    .before = zero1_before,
    .after = data_after,
    .end = data_end,
};

/* Without overlap a run waits for the gradients of the one before. */
static uint32_t zero2_before(struct ar_build *build, const struct ar_run *run)
{
    uint32_t gathered = zero1_before(build, run);
    bool has_copies = build->layout->sizes[AR_AXIS_REP] > 1; /* which sum after that */
    return gathered != AR_NO_TASK || build->layout->overlaps
               ? gathered
               : build_last(build, run->stage, has_copies ? AR_STREAM_COPIES : AR_STREAM_GRADIENTS);
}

const struct ar_strategy ar_strategy_zero2 = {
    .name = "zero2",
    .title = "replicas share optimizer and gradients: the latter reduce-scattered for each "
             "micro-batch",
    .shards_optimizer = true,
    .shards_gradients = true,
    .run_layers = build_data_layers,
    .before = zero2_before,
    .after = data_after,
    .end = data_end,
};

/* --- zero3 --------------------------------------------------------------------------------------
 *
 * ZeRO-3, as FSDP does it: parameters, gradients and optimizer are in parts. The parameters of a
 * layer are gathered before it goes forward and again before it goes backward, some layers ahead;
 * its gradients are reduce-scattered behind the next gather, for each micro-batch. Of a trace the
 * buckets are what FSDP wraps: layers of which one has its parameters all have them. */

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
static uint32_t zero3_before(struct ar_build *build, const struct ar_run *run)
{
    /* A bucket ends at the layer that is its first going forward. */
    enum build_edge edge = run->action.is_backward ? BUILD_BEGINS : BUILD_ENDS;
    uint32_t gathered = build_run_shards(build, run, &ar_operation_all_gather, edge,
                                         build->ends[build->layout->prefetch]);
    build->goes_on = build->layout->workload != NULL && gathered == AR_NO_TASK;
    if (!build->goes_on) {
        send_waiting(build);
    }
    return gathered;
}

static void zero3_after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    const struct ar_workload *workload = build->layout->workload;
    bool has_gradients = workload == NULL; /* of a trace at the layers where buckets end */
    for (uint32_t i = 0; workload != NULL && i < workload->buckets_count; i++) {
        has_gradients = has_gradients || workload->buckets[i].layer == run->first;
    }
    if (run->action.is_backward && has_gradients) {
        send_waiting(build);
        build->waiting = *run;
        build->waiting_for = task;
    }
}

static void zero3_end(struct ar_build *build, uint32_t stage)
{
    send_waiting(build);
    (void)build_optimizer(build, stage, ar_layout_shards(build->layout),
                          build_last(build, stage, AR_STREAM_GRADIENTS));
}

const struct ar_strategy ar_strategy_zero3 = {
    .name = "zero3",
    .alias = "fsdp",
    .title = "replicas share parameters, gradients and optimizer (FSDP), layers gathered ahead",
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_all = true,
    .gathers_layers = true,
    .before = zero3_before,
    .after = zero3_after,
    .end = zero3_end,
};

/* --- independent --------------------------------------------------------------------------------
 *
 * Independent: replicas send each other nothing until the end, when one gathers what all have, as
 * chains of a Monte Carlo method that run side by side (Neiswanger et al., arXiv:1311.4780). */

static void independent_end(struct ar_build *build, uint32_t stage)
{
    const struct ar_layout *layout = build->layout;
    struct ar_parameters all = build_stage_parameters(build, stage);
    uint32_t optimizer = build_optimizer(build, stage, 1, AR_NO_TASK);
    uint32_t gather = build_collective(
        build, stage, AR_STREAM_GRADIENTS, &ar_operation_gather, BUILD_REPLICAS,
        (all.dense + all.experts) * ar_stored_bytes(layout->precision) * ar_layout_replicas(layout),
        1, &(struct ar_action){.is_backward = true});
    ar_graph_need(build->graph, gather, optimizer);
}

const struct ar_strategy ar_strategy_independent = {
    .name = "independent",
    .title = "replicas send nothing until one gathers the parameters of all at the end",
    .ends_runs = true,
    .run_layers = build_data_layers,
    .end = independent_end,
};
