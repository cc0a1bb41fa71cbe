/* The graph of a step: stage by stage in the order of the schedule, run by run. First single tasks,
 * then what becomes of parameters and gradients, the tasks of a run of layers, and the pipeline. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_recorded.h"
#include "build.h"

/* Appends a task of a stage, or a message to another one. */
static uint32_t build_task(struct ar_build *build, const struct ar_work *work, uint32_t stage,
                           uint32_t to, enum ar_stream stream, enum ar_duty duty, uint32_t count,
                           const struct ar_action *action)
{
    const struct ar_task task = {.work = ar_graph_work(build->graph, work),
                                 .count = count,
                                 .role = stage,
                                 .to = to,
                                 .stream = stream,
                                 .duty = duty,
                                 .batch = action->batch,
                                 .chunk = action->chunk};
    return ar_graph_add(build->graph, &task);
}

uint32_t build_collective(struct ar_build *build, uint32_t stage, enum ar_stream stream,
                          const struct ar_operation *operation, uint32_t axes, double bytes,
                          uint32_t count, const struct ar_action *action)
{
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) { /* axes of one GPU are dropped */
        axes &= build->layout->sizes[axis] > 1 ? ~0u : ~(1u << axis);
    }
    if (build->graph
            ->has_series) { /* buckets are sent also where there is nobody to send them to */
        axes = 1 << AR_AXIS_DP;
    }
    if (axes == 0 || !(bytes >= 1) || count == 0) {
        return AR_NO_TASK;
    }
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = operation,
                                 .axes = axes,
                                 .bytes = (uint64_t)bytes,
                                 .share = build->share};
    return build_task(build, &work, stage, stage, stream, build_duty(action), count, action);
}

uint32_t build_compute(struct ar_build *build, uint32_t stage, double time_s, enum ar_duty duty,
                       const struct ar_action *action)
{
    const struct ar_work work = {.kind = AR_TASK_COMPUTE, .time_s = time_s};
    return build_task(build, &work, stage, stage, AR_STREAM_COMPUTE, duty, 1, action);
}

static uint32_t build_message(struct ar_build *build, const struct ar_action *action,
                              uint32_t stage, uint32_t to, enum ar_stream stream, double bytes)
{
    const struct ar_work work = {.kind = AR_TASK_MESSAGE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = &ar_operation_send,
                                 .axes = 1 << AR_AXIS_PP,
                                 .bytes = (uint64_t)bytes};
    return build_task(build, &work, stage, to, stream, build_duty(action), 1, action);
}

/* --- parameters and gradients ----------------------------------------------------------------- */

/* Parameters that a GPU works with in a run, or only those that are trained. */
static struct ar_parameters build_run_parameters(const struct ar_build *build,
                                                 const struct ar_run *run, bool is_trained)
{
    const struct ar_trace *trace = build->layout->trace;
    double experts;
    if (trace != NULL) {
        uint64_t elements = 0;
        for (uint32_t i = run->first; i < run->first + run->layers; i++) {
            elements += ar_trace_layer_elements(trace, i);
        }
        return (struct ar_parameters){.dense = (double)elements};
    }
    double dense = ar_layout_parameters(build->layout, run->layers, run->has_embedding,
                                        run->has_head, is_trained, &experts);
    return (struct ar_parameters){.dense = dense, .experts = experts};
}

struct ar_parameters build_stage_parameters(const struct ar_build *build, uint32_t stage)
{
    const struct ar_run all = {.layers = ar_layout_stage_layers(build->layout, stage),
                               .has_embedding = stage == 0,
                               .has_head = stage == build->pipeline.stages - 1};
    return build_run_parameters(build, &all, true);
}

uint32_t build_again_layers(const struct ar_build *build, const struct ar_run *run)
{
    const struct ar_layout *layout = build->layout;
    if (layout->model == NULL || !run->action.is_backward) {
        return 0;
    }
    uint32_t place = run->action.chunk * build->pipeline.stages + run->stage;
    uint32_t again = ar_layout_again_layers(layout, place); /* the first ones of the chunk */
    uint32_t left = again > run->first ? again - run->first : 0;
    return left < run->layers ? left : run->layers;
}

/* Times of the parts of a run in sum; `again_s`: of a layer that computes something again. */
static double sum_parts_s(const struct ar_build *build, const struct ar_run *run,
                          const double parts_s[AR_PARTS_COUNT], double again_s)
{
    uint32_t again = build_again_layers(build, run);
    return (run->layers - again) * parts_s[AR_PART_LAYER] + again * again_s +
           (run->has_embedding ? parts_s[AR_PART_EMBEDDING] : 0) +
           (run->has_head ? parts_s[AR_PART_HEAD] : 0);
}

/* How long a run is computed. */
static double run_time_s(const struct ar_build *build, const struct ar_run *run)
{
    const struct ar_trace *trace = build->layout->trace;
    bool is_backward = run->action.is_backward;
    if (trace == NULL) {
        const struct ar_part_times *times = build->times;
        return sum_parts_s(build, run, is_backward ? times->backward_s : times->forward_s,
                           times->again_s);
    }
    double time_s = 0;
    for (uint32_t i = run->first; i < run->first + run->layers; i++) {
        time_s += is_backward ? trace->layers[i].backward_s : trace->layers[i].forward_s;
    }
    return time_s;
}

/* All that would go at once if nothing ran beside it: the parameters of a stage, but gradients that
 * are sent for each micro-batch are those of a chunk. */
static struct ar_parameters find_whole(const struct ar_build *build, const struct ar_run *run,
                                       const struct ar_operation *operation)
{
    if (operation == &ar_operation_all_gather || !build->layout->strategy->shards_gradients) {
        return build_stage_parameters(build, run->stage);
    }
    uint32_t stages = build->pipeline.stages;
    uint32_t place = run->action.chunk * stages + run->stage;
    const struct ar_run chunk = {.layers = ar_layout_place_layers(build->layout, place),
                                 .has_embedding = place == 0,
                                 .has_head = place == stages * build->pipeline.chunks - 1};
    return build_run_parameters(build, &chunk, true);
}

uint32_t build_gradients(struct ar_build *build, uint32_t stage,
                         const struct ar_operation *operation, struct ar_parameters parameters,
                         struct ar_parameters whole, const struct ar_action *action, uint32_t after)
{
    const struct ar_layout *layout = build->layout;
    const struct {
        uint32_t axes;
        double elements, whole;
    } parts[] = {{BUILD_REPLICAS, parameters.dense, whole.dense},
                 {BUILD_EXPERT_REPLICAS, parameters.experts, whole.experts}};
    enum ar_precision precision = operation == &ar_operation_all_gather
                                      ? ar_precisions[layout->precision].stored
                                      : layout->gradients;
    double element_bytes = ar_precisions[precision].bytes;
    uint32_t first = AR_NO_TASK, last = AR_NO_TASK;
    for (int i = 0; i < 2; i++) {
        const struct ar_operation *sent = operation;
        double elements = parts[i].elements, bytes = elements * element_bytes, ranks = 1;
        for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
            ranks *= (parts[i].axes >> axis & 1) != 0 ? layout->sizes[axis] : 1;
        }
        if (layout->sparse_frac > 0 && ranks > 1 && operation == &ar_operation_all_reduce) {
            /* Each rank gathers the sparse gradients of all, values and places, and adds them. */
            sent = &ar_operation_all_gather;
            bytes = ranks * ceil(layout->sparse_frac * elements) * (element_bytes + AR_PLACE_BYTES);
        }
        /* The layers of a bucket go one by one, each for its share of the time of the whole bucket;
         * those that are larger are a bucket each. Collectives beside computations are fused, so
         * that rings of many replicas are not all latency (NVIDIA/Megatron-LM,
         * DistributedDataParallel in megatron/core/distributed/distributed_data_parallel.py). */
        double bucket = fmin(parts[i].whole, fmax(40e6, 1e6 * ar_layout_replicas(layout)));
        build->share = elements < bucket ? elements / bucket : 0;
        uint32_t task = build_collective(build, stage, AR_STREAM_GRADIENTS, sent, parts[i].axes,
                                         bytes, 1, action);
        if (operation == &ar_operation_reduce_scatter) { /* its shard of all copies */
            uint32_t sum =
                build_collective(build, stage, AR_STREAM_COPIES, &ar_operation_all_reduce,
                                 1 << AR_AXIS_REP, bytes / ranks, 1, action);
            ar_graph_need(build->graph, sum, task != AR_NO_TASK ? task : after);
        }
        first = first == AR_NO_TASK ? task : first;
        last = task != AR_NO_TASK ? task : last;
    }
    build->share = 0;
    ar_graph_need(build->graph, first, after);
    return last;
}

uint32_t build_run_shards(struct ar_build *build, const struct ar_run *run,
                          const struct ar_operation *operation, enum build_edge edge,
                          uint32_t after)
{
    const struct ar_workload *workload = build->layout->workload;
    bool shares_all = build->layout->strategy->shards_all;
    bool is_sum = operation != &ar_operation_all_gather;
    uint32_t last = AR_NO_TASK;
    if (workload == NULL) {
        struct ar_parameters own = build_run_parameters(build, run, is_sum || !shares_all);
        struct ar_parameters whole = shares_all ? own : find_whole(build, run, operation);
        return build_gradients(build, run->stage, operation, own, whole, &run->action, after);
    }
    AR_EACH(const struct ar_bucket, bucket, workload->buckets, workload->buckets_count) {
        if (edge != BUILD_ANYWHERE &&
            run->first != (edge == BUILD_ENDS ? bucket->layer : bucket->first_layer)) {
            continue;
        }
        const struct ar_parameters fused = {.dense = (double)bucket->elements};
        uint32_t task =
            build_gradients(build, run->stage, operation, fused, fused, &run->action, after);
        if (task != AR_NO_TASK) {
            struct ar_task *made = &build->graph->tasks[last = task];
            made->layer = bucket->layer;
            made->tensors = bucket->tensors_count;
            made->wait_s = is_sum ? bucket->wait_s : 0;
            made->copy_s = is_sum ? bucket->copy_s : 0;
        }
    }
    return last;
}

/* Time of the host that launches the optimizer of a stage tensor by tensor. A GPU that has a part
 * of each tensor launches all; one that has a part of the whole has so many fewer. */
static double launch_optimizer_s(const struct ar_build *build, uint32_t stage, double parts)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_transformer *model = layout->model;
    uint32_t ep = layout->sizes[AR_AXIS_EP];
    double tensors =
        ar_layout_stage_layers(layout, stage) * ar_transformer_tensors(model, ep, AR_PART_LAYER) +
        (stage == 0 ? ar_transformer_tensors(model, ep, AR_PART_EMBEDDING) : 0) +
        (stage == build->pipeline.stages - 1 ? ar_transformer_tensors(model, ep, AR_PART_HEAD) : 0);
    return tensors / (layout->strategy->shards_all ? 1 : parts) * build->times->host.tensor_s;
}

uint32_t build_optimizer(struct ar_build *build, uint32_t stage, double parts, uint32_t task)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_statistics *statistics = &layout->statistics;
    const struct ar_action action = {.is_backward = true};
    /* Nothing hides the statistics that replicas exchange after the gradients: compute stream. */
    if (task != AR_NO_TASK && statistics->interval > 0 && statistics->elements > 0 &&
        layout->sizes[AR_AXIS_DP] > 1) {
        const uint32_t element_bytes = ar_precisions[AR_FP32].unit_bytes;
        const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                     .time_s = AR_GRAPH_UNTIMED,
                                     .operation = &ar_operation_all_reduce,
                                     .axes = 1 << AR_AXIS_DP,
                                     .bytes = statistics->elements * element_bytes,
                                     .element_bytes = element_bytes,
                                     .every = statistics->interval};
        uint32_t exchange =
            build_task(build, &work, stage, stage, AR_STREAM_COMPUTE, AR_DUTY_BACKWARD, 1, &action);
        ar_graph_need(build->graph, exchange, task);
        task = exchange;
    }
    /* An embedding that is tied to the head has a copy on either end of the pipeline: their
     * gradients are added, each end sending its own to the other one. */
    uint32_t last = build->pipeline.stages - 1, sent = AR_NO_TASK;
    bool is_tied = last > 0 && (stage == 0 || stage == last) && !layout->model->is_untied &&
                   layout->model->lora == 0;
    if (is_tied) {
        double bytes = (double)layout->model->hidden * layout->model->vocab /
                       layout->sizes[AR_AXIS_TP] * ar_precisions[layout->gradients].bytes;
        sent = build_message(build, &action, stage, last - stage, AR_STREAM_GRADIENTS, bytes);
        ar_graph_need(build->graph, sent, build->ends[0]);
        ar_graph_need(build->graph, sent, task);
    }
    struct ar_parameters all = build_stage_parameters(build, stage);
    double time_s = layout->trace != NULL
                        ? layout->trace->optimizer_s / parts
                        : (all.dense + all.experts) / parts * build->times->optimizer_s;
    double launched_s = layout->model != NULL ? launch_optimizer_s(build, stage, parts) : 0;
    time_s = build->times->host.is_blocking ? time_s + launched_s : fmax(time_s, launched_s);
    uint32_t optimizer = build_compute(build, stage, time_s, AR_DUTY_OPTIMIZER, &action);
    ar_graph_need(build->graph, optimizer, task);
    ar_graph_need(build->graph, optimizer, build_last(build, stage, AR_STREAM_COPIES));
    if (is_tied && stage == 0) {
        build->tied_sent = sent;
        build->tied_optimizer = optimizer;
    } else if (is_tied) {
        ar_graph_need(build->graph, optimizer, build->tied_sent);
        ar_graph_need(build->graph, build->tied_optimizer, sent);
    }
    return optimizer;
}

/* --- runs of layers --------------------------------------------------------------------------- */

/* Collectives of tensor parallelism for `count` places where partial sums are added: all-reduces,
 * or reduce-scatters and all-gathers of the sequence. */
static void add_tensor(struct ar_build *build, const struct ar_run *run, enum ar_stream stream,
                       double part, uint32_t count)
{
    static const struct ar_operation *const whole[] = {&ar_operation_all_reduce, NULL};
    static const struct ar_operation *const split[] = {&ar_operation_all_gather,
                                                       &ar_operation_reduce_scatter, NULL};
    const struct ar_layout *layout = build->layout;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    double bytes = part * ar_transformer_state_bytes(layout->model, &slice);
    const struct ar_operation *const *operation = layout->is_sequence_parallel ? split : whole;
    build->share = part < 1 ? part : 0;
    for (; *operation != NULL; operation++) {
        build_collective(build, run->stage, stream, *operation, 1 << AR_AXIS_TP, bytes, count,
                         &run->action);
    }
    build->share = 0;
}

/* Tokens go to their experts and back. */
static void add_experts(struct ar_build *build, const struct ar_run *run, enum ar_stream stream,
                        uint32_t count)
{
    build_collective(build, run->stage, stream, &ar_operation_all_to_all, 1 << AR_AXIS_EP,
                     ar_layout_expert_bytes(build->layout), 2 * count, &run->action);
}

/* The tasks of a run; returns the first one, which waits for what comes before. */
static uint32_t build_run(struct ar_build *build, const struct ar_run *run)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_transformer *model = layout->model;
    const struct ar_strategy *strategy = layout->strategy;
    struct ar_graph *graph = build->graph;
    bool is_backward = run->action.is_backward;
    enum ar_duty duty = build_duty(&run->action);
    uint32_t ready = strategy->before != NULL ? strategy->before(build, run) : AR_NO_TASK;
    uint32_t hidden = AR_NO_TASK, task = AR_NO_TASK;
    /* Tensor parallelism adds partial sums behind attention and behind the feed-forward network,
     * once where these are parallel, in each pass of a layer, and where they are computed again.
     * The embedding is split by its rows, and the head by its columns. */
    const unsigned networks = AR_AGAIN_LAYER | AR_AGAIN_MLP | AR_AGAIN_MOE;
    unsigned modules = layout->recompute.modules;
    uint32_t again = build_again_layers(build, run);
    uint32_t attentions = run->layers + ((modules & AR_AGAIN_LAYER) != 0 ? again : 0);
    uint32_t feeds = run->layers + ((modules & networks) != 0 ? again : 0);
    bool has_end = is_backward ? run->has_head : run->has_embedding;
    bool is_parallel = model != NULL && model->is_parallel;
    uint32_t places = (is_parallel ? 0 : attentions) + feeds + (has_end ? 1 : 0);
    double shards = layout->sizes[AR_AXIS_TP];
    if (layout->overlaps_tensor || layout->overlaps_experts) {
        /* A mark says when what is sent and what is computed begin. */
        task = build_compute(build, run->stage, 0, duty, &run->action);
        uint32_t first = graph->tasks_count;
        if (layout->overlaps_experts) {
            add_experts(build, run, AR_STREAM_PARTS, feeds);
        }
        if (layout->overlaps_tensor) {
            /* A product and its collective go in tp pieces, so that all but one piece of the
             * shorter of the two are hidden (NVIDIA, TransformerEngine, overlap of GEMMs and
             * communication; Wang et al., ASPLOS 2023). Pieces are what a ring sends step by step,
             * and cost no more messages than the whole. */
            add_tensor(build, run, AR_STREAM_PARTS, 1 - 1.0 / shards, places);
        }
        if (first < graph->tasks_count) {
            ar_graph_need(graph, first, task);
            hidden = build_last(build, run->stage, AR_STREAM_PARTS);
        }
    }
    uint32_t computed =
        build_compute(build, run->stage, run_time_s(build, run), duty, &run->action);
    task = task != AR_NO_TASK ? task : computed;
    ar_graph_need(graph, task, ready);
    graph->tasks[computed].layer = run->first;
    if (!layout->overlaps_experts) {
        add_experts(build, run, AR_STREAM_COMPUTE, feeds);
    }
    if (model != NULL) {
        /* Context parallelism gathers keys and values for each attention, and backward
         * reduce-scatters their gradients. */
        struct ar_transformer_slice slice = ar_layout_slice(layout);
        double bytes = ar_transformer_keys_bytes(model, &slice);
        build_collective(build, run->stage, AR_STREAM_COMPUTE, &ar_operation_all_gather,
                         1 << AR_AXIS_CP, bytes, attentions, &run->action);
        build_collective(build, run->stage, AR_STREAM_COMPUTE, &ar_operation_reduce_scatter,
                         1 << AR_AXIS_CP, bytes, is_backward ? run->layers : 0, &run->action);
        uint32_t first = graph->tasks_count;
        add_tensor(build, run, AR_STREAM_COMPUTE, layout->overlaps_tensor ? 1.0 / shards : 1,
                   places);
        if (hidden != AR_NO_TASK && first == graph->tasks_count) { /* all is hidden */
            build_compute(build, run->stage, 0, duty, &run->action);
        }
        ar_graph_need(graph, hidden != AR_NO_TASK ? first : AR_NO_TASK, hidden);
    }
    if (model != NULL && run->has_head && !is_backward) {
        /* A head that is split by its columns finds the maximum of each token's logits, the sum of
         * their exponentials and the logit of its target together: one fp32 number of each. */
        double tokens = (double)layout->micro_batch * model->seq / layout->sizes[AR_AXIS_CP];
        build_collective(build, run->stage, AR_STREAM_COMPUTE, &ar_operation_all_reduce,
                         1 << AR_AXIS_TP, tokens * ar_precisions[AR_FP32].bytes, 3, &run->action);
    }
    if (!build->goes_on) {
        memmove(build->ends + 1, build->ends, sizeof build->ends - sizeof build->ends[0]);
    }
    build->ends[0] = build_last(build, run->stage, AR_STREAM_COMPUTE);
    if (strategy->after != NULL) {
        strategy->after(build, run, build->ends[0]);
    }
    return task;
}

/* --- the pipeline ----------------------------------------------------------------------------- */

/* Index of a chunk by its place in the pipeline, a batch and a direction. */
static size_t chunk_index(const struct ar_build *build, uint32_t place,
                          const struct ar_action *action)
{
    return ((size_t)place * build->pipeline.batches + action->batch) * 2 +
           (action->is_backward ? 1 : 0);
}

/* Adds the time of the host that launches the tasks of a chunk for one micro-batch, from `first`
 * on, and its messages: it begins with them and runs ahead, so that the chunk takes as long as the
 * slower one of GPU and host. It does not run ahead into the next chunk, as the timers of
 * Megatron-LM v2 (megatron/global_vars.py) and its messages wait for the GPU. A host that waits for
 * each kernel launches while the GPU does nothing. */
static void add_host(struct ar_build *build, const struct ar_run *all, uint32_t first,
                     uint32_t messages)
{
    const struct ar_host_times *host = &build->times->host;
    const struct ar_action *action = &all->action;
    struct ar_graph *graph = build->graph;
    uint32_t sent = messages;
    for (uint32_t i = first; i < graph->tasks_count; i++) {
        bool is_sent = graph->works[graph->tasks[i].work].kind != AR_TASK_COMPUTE;
        sent += is_sent ? graph->tasks[i].count : 0;
    }
    double batch_s = action->is_backward ? 0 : host->batch_s / build->pipeline.chunks;
    double launched_s = sum_parts_s(
        build, all, action->is_backward ? host->backward_s : host->forward_s, host->again_s);
    const struct ar_work work = {.kind = AR_TASK_COMPUTE,
                                 .time_s = launched_s + sent * host->collective_s + batch_s};
    enum ar_stream stream = host->is_blocking ? AR_STREAM_COMPUTE : AR_STREAM_HOST;
    uint32_t task =
        build_task(build, &work, all->stage, all->stage, stream, build_duty(action), 1, action);
    if (!host->is_blocking) {
        ar_graph_need(graph, task, first);
        ar_graph_need(graph, build_compute(build, all->stage, 0, build_duty(action), action), task);
    }
}

/* The tasks of a chunk for one micro-batch. `first` notes the task that waits for the message.
 * Ranks of a tensor-parallel group send a part of the hidden states each, and gather it there. */
static void add_chunk(struct ar_build *build, uint32_t stage, const struct ar_action *action,
                      bool is_edge, uint32_t *first)
{
    const struct ar_layout *layout = build->layout;
    uint32_t stages = build->pipeline.stages, places = stages * build->pipeline.chunks;
    uint32_t place = action->chunk * stages + stage;
    bool is_backward = action->is_backward;
    bool begins = place == (is_backward ? places - 1 : 0);
    bool ends = place == (is_backward ? 0 : places - 1);
    double bytes = 0; /* of the hidden states */
    if (!begins || !ends) {
        struct ar_transformer_slice slice = ar_layout_slice(layout);
        bytes = ar_transformer_state_bytes(layout->model, &slice);
    }
    *first = begins || layout->is_sequence_parallel
                 ? AR_NO_TASK
                 : build_collective(build, stage, AR_STREAM_COMPUTE, &ar_operation_all_gather,
                                    1 << AR_AXIS_TP, bytes, 1, action);
    if (build->times->host.is_on && *first == AR_NO_TASK) { /* a mark: host and GPU begin */
        *first = build_compute(build, stage, 0, build_duty(action), action);
    }
    uint32_t layers = ar_layout_place_layers(layout, place);
    uint32_t each = layout->strategy->run_layers != NULL
                        ? layout->strategy->run_layers(build, is_backward, is_edge)
                        : 1;
    each = each == 0 || layers == 0 ? layers : each;
    uint32_t done = 0;
    do { /* once, too, where a place has the embedding or the head alone */
        uint32_t from = is_backward ? layers - each - done : done;
        const struct ar_run run = {.stage = stage,
                                   .action = *action,
                                   .first = from,
                                   .layers = each,
                                   .has_embedding = from == 0 && place == 0,
                                   .has_head = from + each == layers && place == places - 1,
                                   .is_edge = is_edge};
        uint32_t task = build_run(build, &run);
        *first = *first == AR_NO_TASK ? task : *first;
        done += each;
    } while (done < layers);
    if (build->times->host.is_on) {
        const struct ar_run all = {.stage = stage,
                                   .action = *action,
                                   .layers = layers,
                                   .has_embedding = place == 0,
                                   .has_head = place == places - 1};
        add_host(build, &all, *first, (begins ? 0u : 1u) + (ends ? 0u : 1u));
    }
    if (!ends) { /* unless it is hidden, the stage waits until the result has left */
        uint32_t next = is_backward ? place - 1 : place + 1;
        enum ar_stream stream = layout->overlaps_pipeline ? AR_STREAM_MESSAGES : AR_STREAM_COMPUTE;
        uint32_t message = build_message(build, action, stage, next % stages, stream,
                                         bytes / layout->sizes[AR_AXIS_TP]);
        ar_graph_need(build->graph, layout->overlaps_pipeline ? message : AR_NO_TASK,
                      build_last(build, stage, AR_STREAM_COMPUTE));
        build->arrivals[chunk_index(build, next, action)] = message;
    }
}

/* --- a step that another program wrote down: one role, as all GPUs do the same ---------------- */

uint32_t ar_recorded_axes(unsigned groups)
{
    return ((groups & AR_RECORDED_DP) != 0 ? 1u << AR_AXIS_DP : 0) |
           ((groups & AR_RECORDED_EP) != 0 ? 1u << AR_AXIS_EP : 0) |
           ((groups & AR_RECORDED_TP) != 0 ? 1u << AR_AXIS_TP : 0);
}

/* Tasks that a task stands for when others need it: itself, or, if it is left out, all that it
 * would have waited for; of each stream the last one. */
struct recorded_ends {
    uint32_t tasks[AR_STREAMS_COUNT];
};

static void note_last(uint32_t *last, uint32_t task)
{
    if (task != AR_NO_TASK && (*last == AR_NO_TASK || *last < task)) {
        *last = task;
    }
}

static void build_recorded(struct ar_build *build)
{
    static const enum ar_duty duties[] = {[AR_RECORDED_FORWARD] = AR_DUTY_FORWARD,
                                          [AR_RECORDED_BACKWARD] = AR_DUTY_BACKWARD,
                                          [AR_RECORDED_UPDATE] = AR_DUTY_OPTIMIZER};
    const struct ar_recorded *recorded = build->layout->recorded;
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct recorded_ends *ends = ar_arena_alloc(&scratch, recorded->tasks_count, sizeof *ends);
    for (uint32_t number = 0; number < recorded->tasks_count; number++) {
        const struct ar_recorded_task *task = &recorded->tasks[number];
        const struct ar_action action = {.is_backward = task->duty != AR_RECORDED_FORWARD};
        enum ar_stream stream = task->is_beside ? AR_STREAM_GRADIENTS : AR_STREAM_COMPUTE;
        struct recorded_ends *own = &ends[number];
        uint32_t added;
        if (task->operation == NULL) {
            added = build_compute(build, 0, task->time_s, duties[task->duty], &action);
        } else { /* a collective, unless its groups have one GPU each */
            uint32_t axes = ar_recorded_axes(task->groups);
            double bytes = (double)task->bytes;
            size_t operation = 0;
            while (strcmp(ar_operations[operation]->command, task->operation) != 0) {
                operation++; /* readers write no other names */
                assert(operation < ar_operations_count);
            }
            for (int axis = 0; task->is_part && axis < AR_AXES_COUNT; axis++) {
                bytes *= (axes >> axis & 1) != 0 ? build->layout->sizes[axis] : 1;
            }
            added = build_collective(build, 0, stream, ar_operations[operation], axes, bytes, 1,
                                     &action);
        }
        memset(own, 0xff, sizeof *own); /* AR_NO_TASK */
        for (uint32_t i = 0; i < task->needs_count; i++) {
            const struct recorded_ends *need = &ends[recorded->needs[task->needs_first + i]];
            for (int other = 0; other < AR_STREAMS_COUNT; other++) {
                ar_graph_need(build->graph, added, need->tasks[other]);
                note_last(&own->tasks[other], need->tasks[other]);
            }
        }
        if (added != AR_NO_TASK) {
            memset(own, 0xff, sizeof *own);
        }
        note_last(&own->tasks[stream], build->graph->last[stream]);
    }
}

/* --- the graph -------------------------------------------------------------------------------- */

struct ar_graph *ar_strategy_graph(const struct ar_layout *layout,
                                   const struct ar_part_times *times, struct ar_arena *arena)
{
    const struct ar_placed *placed = layout->placed;
    struct ar_build build = {.layout = layout, .times = times};
    if (placed != NULL) {
        return ar_operators_graph(placed->operators, placed->devices, placed->devices_count,
                                  &placed->hops, arena);
    }
    if (layout->recorded != NULL) {
        build.graph = ar_graph_create(arena, 1);
        build_recorded(&build);
    } else {
        build.pipeline = ar_layout_pipeline(layout);
        build.graph = ar_graph_create(arena, build.pipeline.stages);
        build.graph->has_series = layout->workload != NULL && layout->strategy->sends_buckets;
        const struct ar_pipeline *pipeline = &build.pipeline;
        size_t count = (size_t)pipeline->stages * pipeline->chunks * pipeline->batches * 2;
        struct ar_arena scratch AR_ENDS_HERE = {NULL};
        uint32_t *firsts = ar_arena_alloc(&scratch, 2 * count + pipeline->chunks, sizeof *firsts);
        build.arrivals = firsts + count;
        memset(firsts, 0xff, 2 * count * sizeof *firsts); /* AR_NO_TASK */
        build.graph->steps = ar_arena_alloc(arena, count, sizeof *build.graph->steps);
        build.graph->steps_count = (uint32_t)(count / pipeline->stages);
        for (uint32_t stage = 0; stage < pipeline->stages; stage++) {
            uint32_t *left = firsts + 2 * count; /* [chunk]: micro-batches */
            build.waiting_for = AR_NO_TASK;
            memset(build.ends, 0xff, sizeof build.ends); /* AR_NO_TASK */
            for (uint32_t chunk = 0; chunk < pipeline->chunks; chunk++) {
                left[chunk] = pipeline->batches;
            }
            if (layout->trace != NULL) { /* the time of a step outside layers */
                (void)build_compute(&build, stage, layout->trace->step_overhead_s, AR_DUTY_FORWARD,
                                    &(struct ar_action){.is_backward = false});
            }
            for (uint32_t step = 0; step < build.graph->steps_count; step++) {
                struct ar_action action = layout->schedule->action(pipeline, stage, step);
                build.graph->steps[stage * build.graph->steps_count + step] =
                    build.graph->tasks_count;
                bool is_edge = action.is_backward ? --left[action.chunk] == 0 : action.batch == 0;
                uint32_t place = action.chunk * pipeline->stages + stage;
                add_chunk(&build, stage, &action, is_edge,
                          &firsts[chunk_index(&build, place, &action)]);
            }
            layout->strategy->end(&build, stage);
        }
        for (size_t i = 0; i < count; i++) {
            ar_graph_need(build.graph, firsts[i], build.arrivals[i]);
        }
    }
    return build.graph;
}
