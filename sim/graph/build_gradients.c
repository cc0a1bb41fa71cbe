/* What becomes of parameters and gradients: how many there are, what sums them, and what follows
 * until they are updated. */
#include <math.h>

#include "build.h"

static double trace_parameters(const struct ar_trace *trace, uint32_t first, uint32_t layers)
{
    uint64_t elements = 0;
    for (uint32_t i = first; i < first + layers; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        for (uint32_t tensor = 0; tensor < layer->tensors_count; tensor++) {
            elements += trace->tensor_elements[layer->tensors_first + tensor];
        }
    }
    return (double)elements;
}

static struct ar_parameters parameters_of(const struct ar_build *build, uint32_t first,
                                          uint32_t layers, bool has_embedding, bool has_head)
{
    const struct ar_layout *layout = build->layout;
    if (layout->trace != NULL) {
        return (struct ar_parameters){.dense = trace_parameters(layout->trace, first, layers)};
    }
    uint32_t tp = layout->sizes[AR_AXIS_TP], ep = layout->sizes[AR_AXIS_EP];
    double experts, none;
    double dense =
        ar_transformer_part_parameters(layout->model, tp, ep, AR_PART_LAYER, &experts) * layers;
    dense += has_embedding
                 ? ar_transformer_part_parameters(layout->model, tp, ep, AR_PART_EMBEDDING, &none)
                 : 0;
    dense +=
        has_head ? ar_transformer_part_parameters(layout->model, tp, ep, AR_PART_HEAD, &none) : 0;
    return (struct ar_parameters){.dense = dense, .experts = experts * layers};
}

struct ar_parameters build_run_parameters(const struct ar_build *build, const struct ar_run *run)
{
    return parameters_of(build, run->first, run->layers, run->has_embedding, run->has_head);
}

struct ar_parameters build_stage_parameters(const struct ar_build *build, uint32_t stage)
{
    uint32_t layers = ar_layout_chunk_layers(build->layout) * build->pipeline.chunks;
    return parameters_of(build, 0, layers, stage == 0, stage == build->pipeline.stages - 1);
}

/* What sums gradients along axes: of sparse ones every rank gathers those of all, values and
 * places, and adds them up itself. */
static struct ar_work sum_of(const struct ar_layout *layout, const struct ar_operation *operation,
                             uint32_t axes, double elements, double element_bytes)
{
    double ranks = 1;
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        ranks *= (axes >> axis & 1) != 0 ? layout->sizes[axis] : 1;
    }
    if (layout->sparse_frac == 0 || ranks == 1 || operation != &ar_operation_all_reduce) {
        return (struct ar_work){
            .operation = operation, .axes = axes, .bytes = (uint64_t)(elements * element_bytes)};
    }
    double sent = ceil(layout->sparse_frac * elements);
    return (struct ar_work){.operation = &ar_operation_all_gather,
                            .axes = axes,
                            .bytes = (uint64_t)(ranks * sent * (element_bytes + AR_PLACE_BYTES))};
}

/* Appends a collective of parameters, or a sum of gradients. */
static uint32_t add_sum(struct ar_build *build, uint32_t stage,
                        const struct ar_operation *operation, uint32_t axes, double elements,
                        const struct ar_action *action)
{
    const struct ar_layout *layout = build->layout;
    enum ar_precision precision = operation == &ar_operation_all_gather
                                      ? ar_precision_stored(layout->precision)
                                      : layout->gradients;
    struct ar_work work = sum_of(layout, operation, axes, elements, ar_precision_bytes(precision));
    return build_collective(build, stage, AR_STREAM_GRADIENTS, work.operation, work.axes,
                            (double)work.bytes, 1, action);
}

uint32_t build_gradients(struct ar_build *build, uint32_t stage,
                         const struct ar_operation *operation, struct ar_parameters parameters,
                         const struct ar_action *action, uint32_t after)
{
    uint32_t dense = add_sum(build, stage, operation, BUILD_REPLICAS, parameters.dense, action);
    uint32_t experts =
        add_sum(build, stage, operation, 1 << AR_AXIS_DP, parameters.experts, action);
    ar_graph_need(build->graph, dense != AR_NO_TASK ? dense : experts, after);
    return experts != AR_NO_TASK ? experts : dense;
}

/* An embedding that is tied to the head has a copy on either end of the pipeline: their gradients
 * are added, each end sending its own to the other one. */
static void exchange_tied(struct ar_build *build, uint32_t stage, uint32_t optimizer, uint32_t sent)
{
    if (stage == 0) {
        build->tied_sent = sent;
        build->tied_optimizer = optimizer;
    } else {
        ar_graph_need(build->graph, optimizer, build->tied_sent);
        ar_graph_need(build->graph, build->tied_optimizer, sent);
    }
}

void build_bucket(struct ar_build *build, const struct ar_bucket *bucket,
                  const struct ar_action *action)
{
    struct ar_work work =
        sum_of(build->layout, &ar_operation_all_reduce, 1 << AR_AXIS_DP, (double)bucket->elements,
               ar_precision_bytes(build->layout->gradients));
    work.kind = AR_TASK_COLLECTIVE;
    work.time_s = AR_GRAPH_UNTIMED;
    const struct ar_task task = {.work = ar_graph_work(build->graph, &work),
                                 .count = 1,
                                 .stream = AR_STREAM_GRADIENTS,
                                 .duty = build_duty(action),
                                 .layer = bucket->layer,
                                 .tensors = bucket->tensors_count,
                                 .wait_s = bucket->wait_s,
                                 .copy_s = bucket->copy_s};
    ar_graph_need(build->graph, ar_graph_add(build->graph, &task), build->ends[0]);
}

uint32_t build_shards(struct ar_build *build, const struct ar_operation *operation, uint32_t layer,
                      enum build_edge edge, const struct ar_action *action, uint32_t after)
{
    const struct ar_layout *layout = build->layout;
    bool is_sum = operation == &ar_operation_reduce_scatter;
    uint32_t last = AR_NO_TASK;
    for (uint32_t i = 0; i < layout->workload->buckets_count; i++) {
        const struct ar_bucket *bucket = &layout->workload->buckets[i];
        if (edge != BUILD_ANYWHERE &&
            layer != (edge == BUILD_ENDS ? bucket->layer : bucket->first_layer)) {
            continue;
        }
        uint32_t task = build_gradients(build, 0, operation,
                                        (struct ar_parameters){.dense = (double)bucket->elements},
                                        action, after);
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

uint32_t build_run_shards(struct ar_build *build, const struct ar_run *run,
                          const struct ar_operation *operation, enum build_edge edge,
                          uint32_t after)
{
    return build->layout->trace != NULL
               ? build_shards(build, operation, run->first, edge, &run->action, after)
               : build_gradients(build, run->stage, operation, build_run_parameters(build, run),
                                 &run->action, after);
}

/* What replicas exchange after the gradients, on the compute stream since nothing hides it. */
static uint32_t add_statistics(struct ar_build *build, uint32_t stage, uint32_t task)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_statistics *statistics = &layout->statistics;
    const uint32_t element_bytes = ar_precision_bytes(AR_FP32);
    if (statistics->interval == 0 || statistics->elements == 0 || layout->sizes[AR_AXIS_DP] == 1) {
        return task;
    }
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = &ar_operation_all_reduce,
                                 .axes = 1 << AR_AXIS_DP,
                                 .bytes = statistics->elements * element_bytes,
                                 .element_bytes = element_bytes,
                                 .every = statistics->interval};
    uint32_t exchange = build_task(build, &work, stage, stage, AR_STREAM_COMPUTE, AR_DUTY_BACKWARD,
                                   1, &(struct ar_action){.is_backward = true});
    ar_graph_need(build->graph, exchange, task);
    return exchange;
}

static double optimizer_time(const struct ar_build *build, uint32_t stage, double parts)
{
    if (build->layout->trace != NULL) {
        return build->layout->trace->optimizer_s / parts;
    }
    struct ar_parameters all = build_stage_parameters(build, stage);
    return (all.dense + all.experts) / parts * build->times->optimizer_s;
}

uint32_t build_optimizer(struct ar_build *build, uint32_t stage, double parts, uint32_t task)
{
    const struct ar_transformer *model = build->layout->model;
    const struct ar_action action = {.is_backward = true};
    uint32_t last = build->pipeline.stages - 1;
    bool is_tied = last > 0 && (stage == 0 || stage == last) && !model->is_untied;
    uint32_t sent = AR_NO_TASK;
    task = task != AR_NO_TASK ? add_statistics(build, stage, task) : task;
    if (is_tied) {
        double bytes = (double)model->hidden * model->vocab / build->layout->sizes[AR_AXIS_TP] *
                       ar_precision_bytes(build->layout->gradients);
        sent = build_message(build, &action, stage, last - stage, AR_STREAM_GRADIENTS, bytes);
        ar_graph_need(build->graph, sent, build->ends[0]);
        ar_graph_need(build->graph, sent, task);
    }
    uint32_t optimizer = build_compute(build, stage, optimizer_time(build, stage, parts),
                                       AR_DUTY_OPTIMIZER, &action);
    ar_graph_need(build->graph, optimizer, task);
    if (is_tied) {
        exchange_tied(build, stage, optimizer, sent);
    }
    return optimizer;
}
