/* The tasks of a run of layers: its computation, and what tensor and expert parallelism send. */
#include <string.h>

#include "build.h"

/* Places of a layer where tensor parallelism meets: twice in each pass, and twice in what is
 * recomputed in full. The embedding is split by its rows, and the head by its columns. */
static uint32_t tensor_places(const struct ar_build *build, const struct ar_run *run)
{
    bool is_again = run->action.is_backward && build->layout->recompute == AR_RECOMPUTE_FULL;
    bool has_end = run->action.is_backward ? run->has_head : run->has_embedding;
    return run->layers * (is_again ? 4 : 2) + (has_end ? 1 : 0);
}

/* Collectives of tensor parallelism for `count` places where partial sums meet: all-reduces, or
 * reduce-scatters and all-gathers of the sequence. */
static void add_tensor(struct ar_build *build, const struct ar_run *run, enum ar_stream stream,
                       double part, uint32_t count)
{
    const struct ar_layout *layout = build->layout;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    double bytes = part * ar_transformer_state_bytes(layout->model, &slice);
    const uint32_t axes = 1 << AR_AXIS_TP;
    if (layout->is_sequence_parallel) {
        build_collective(build, run->stage, stream, &ar_operation_all_gather, axes, bytes, count,
                         &run->action);
        build_collective(build, run->stage, stream, &ar_operation_reduce_scatter, axes, bytes,
                         count, &run->action);
    } else {
        build_collective(build, run->stage, stream, &ar_operation_all_reduce, axes, bytes, count,
                         &run->action);
    }
}

/* What of tensor parallelism runs beside the computation of a run: a product and its collective go
 * in tp pieces, so that all but one piece of the shorter of the two are hidden (NVIDIA,
 * TransformerEngine, overlap of GEMMs and communication; Wang et al., ASPLOS 2023). It begins with
 * the task `begins`. Returns its last task; AR_NO_TASK: nothing is hidden. */
static uint32_t add_hidden_tensor(struct ar_build *build, const struct ar_run *run, uint32_t begins)
{
    uint32_t first = build->graph->tasks_count;
    add_tensor(build, run, AR_STREAM_GRADIENTS, 1 - 1.0 / build->layout->sizes[AR_AXIS_TP],
               tensor_places(build, run));
    if (first == build->graph->tasks_count) {
        return AR_NO_TASK;
    }
    ar_graph_need(build->graph, first, begins);
    return build_last(build, run->stage, AR_STREAM_GRADIENTS);
}

/* Tokens go to their experts and back. */
static void add_experts(struct ar_build *build, const struct ar_run *run, uint32_t count)
{
    const struct ar_layout *layout = build->layout;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    double bytes = ar_transformer_state_bytes(layout->model, &slice) * layout->model->top_k *
                   layout->model->imbalance;
    if (layout->model->experts > 0) {
        build_collective(build, run->stage, AR_STREAM_COMPUTE, &ar_operation_all_to_all,
                         1 << AR_AXIS_EP, bytes, count, &run->action);
    }
}

static double run_time(const struct ar_build *build, const struct ar_run *run)
{
    double time_s = 0;
    for (uint32_t i = 0; build->layout->trace != NULL && i < run->layers; i++) {
        const struct ar_layer *layer = &build->layout->trace->layers[run->first + i];
        time_s += run->action.is_backward ? layer->backward_s : layer->forward_s;
    }
    if (build->layout->trace != NULL) {
        return time_s;
    }
    const double *times =
        run->action.is_backward ? build->times->backward_s : build->times->forward_s;
    return run->layers * times[AR_PART_LAYER] +
           (run->has_embedding ? times[AR_PART_EMBEDDING] : 0) +
           (run->has_head ? times[AR_PART_HEAD] : 0);
}

/* A head that is split by its columns finds the maximum of each token's logits, the sum of their
 * exponentials and the logit of its target together: one fp32 number of each. */
static void add_loss(struct ar_build *build, const struct ar_run *run)
{
    const struct ar_layout *layout = build->layout;
    double tokens = (double)layout->micro_batch * layout->model->seq;
    if (run->has_head && !run->action.is_backward) {
        build_collective(build, run->stage, AR_STREAM_COMPUTE, &ar_operation_all_reduce,
                         1 << AR_AXIS_TP, tokens * ar_precision_bytes(AR_FP32), 3, &run->action);
    }
}

/* The tasks of a run; returns the first one, which waits for what comes before. */
uint32_t build_run(struct ar_build *build, const struct ar_run *run)
{
    const struct ar_strategy *strategy = build->layout->strategy;
    uint32_t ready = strategy->before != NULL ? strategy->before(build, run) : AR_NO_TASK;
    enum ar_duty duty = build_duty(&run->action);
    uint32_t hidden = AR_NO_TASK;
    uint32_t task = AR_NO_TASK;
    if (build->layout->overlaps_tensor) { /* a mark for what begins with the computation */
        task = build_compute(build, run->stage, 0, duty, &run->action);
        hidden = add_hidden_tensor(build, run, task);
    }
    uint32_t computed = build_compute(build, run->stage, run_time(build, run), duty, &run->action);
    task = task != AR_NO_TASK ? task : computed;
    ar_graph_need(build->graph, task, ready);
    if (computed != AR_NO_TASK) {
        build->graph->tasks[computed].layer = run->first;
    }
    if (build->layout->model != NULL) {
        uint32_t places = tensor_places(build, run);
        add_experts(build, run, places / 2 * 2);
        double part = hidden != AR_NO_TASK ? 1.0 / build->layout->sizes[AR_AXIS_TP] : 1;
        uint32_t first = build->graph->tasks_count;
        add_tensor(build, run, AR_STREAM_COMPUTE, part, places);
        ar_graph_need(build->graph, first < build->graph->tasks_count ? first : AR_NO_TASK, hidden);
        add_loss(build, run);
    }
    if (!build->goes_on) {
        memmove(build->ends + 1, build->ends, sizeof build->ends - sizeof build->ends[0]);
    }
    build->ends[0] = build->graph->last[run->stage * AR_STREAMS_COUNT + AR_STREAM_COMPUTE];
    if (strategy->after != NULL) {
        strategy->after(build, run, build->ends[0]);
    }
    return task;
}
