/* The graph of a step: stage by stage in the order of the schedule, run by run. */
#include "build.h"

/* Those of the axes that have more than one GPU. */
static uint32_t real_axes(const struct ar_layout *layout, uint32_t axes)
{
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        axes &= layout->sizes[axis] > 1 ? ~0u : ~(1u << axis);
    }
    return axes;
}

uint32_t build_task(struct ar_build *build, const struct ar_work *work, uint32_t stage, uint32_t to,
                    enum ar_stream stream, enum ar_duty duty, uint32_t count,
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
    axes = real_axes(build->layout, axes);
    if (axes == 0 || !(bytes >= 1) || count == 0) {
        return AR_NO_TASK;
    }
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = operation,
                                 .axes = axes,
                                 .bytes = (uint64_t)bytes};
    return build_task(build, &work, stage, stage, stream, build_duty(action), count, action);
}

uint32_t build_compute(struct ar_build *build, uint32_t stage, double time_s, enum ar_duty duty,
                       const struct ar_action *action)
{
    const struct ar_work work = {.kind = AR_TASK_COMPUTE, .time_s = time_s};
    return build_task(build, &work, stage, stage, AR_STREAM_COMPUTE, duty, 1, action);
}

uint32_t build_message(struct ar_build *build, const struct ar_action *action, uint32_t stage,
                       uint32_t to, enum ar_stream stream, double bytes)
{
    const struct ar_work work = {.kind = AR_TASK_MESSAGE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = &ar_operation_send,
                                 .axes = 1 << AR_AXIS_PP,
                                 .bytes = (uint64_t)bytes};
    return build_task(build, &work, stage, to, stream, build_duty(action), 1, action);
}

/* --- the pipeline ----------------------------------------------------------------------------- */

/* Of a chunk, by its place in the pipeline, a batch and a direction. */
static size_t chunk_index(const struct ar_build *build, uint32_t place,
                          const struct ar_action *action)
{
    return ((size_t)place * build->pipeline.batches + action->batch) * 2 +
           (action->is_backward ? 1 : 0);
}

/* Hands the result of a chunk to the next place, unless it is the last one. Ranks of a
 * tensor-parallel group send a part each, and gather it where they are. A stage waits until they
 * have left. */
static void pass_on(struct ar_build *build, uint32_t stage, const struct ar_action *action)
{
    uint32_t stages = build->pipeline.stages;
    uint32_t place = action->chunk * stages + stage;
    uint32_t end = action->is_backward ? 0 : stages * build->pipeline.chunks - 1;
    if (place == end) {
        return;
    }
    uint32_t next = action->is_backward ? place - 1 : place + 1;
    struct ar_transformer_slice slice = ar_layout_slice(build->layout);
    double bytes = ar_transformer_state_bytes(build->layout->model, &slice);
    build->arrivals[chunk_index(build, next, action)] =
        build_message(build, action, stage, next % stages, AR_STREAM_COMPUTE,
                      bytes / build->layout->sizes[AR_AXIS_TP]);
}

/* What a chunk begins with: parts of the hidden states that came are gathered. */
static uint32_t take(struct ar_build *build, uint32_t stage, const struct ar_action *action,
                     bool is_end)
{
    const struct ar_layout *layout = build->layout;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    if (is_end || layout->is_sequence_parallel) {
        return AR_NO_TASK;
    }
    return build_collective(build, stage, AR_STREAM_COMPUTE, &ar_operation_all_gather,
                            1 << AR_AXIS_TP, ar_transformer_state_bytes(layout->model, &slice), 1,
                            action);
}

/* The tasks of a chunk for one micro-batch. `first` notes the task that waits for the message. */
static void add_chunk(struct ar_build *build, uint32_t stage, const struct ar_action *action,
                      bool ends_batches, uint32_t *first)
{
    const struct ar_layout *layout = build->layout;
    uint32_t places = build->pipeline.stages * build->pipeline.chunks;
    uint32_t place = action->chunk * build->pipeline.stages + stage;
    uint32_t layers = ar_layout_chunk_layers(layout);
    uint32_t each = layout->strategy->run_layers != NULL
                        ? layout->strategy->run_layers(build, action->is_backward, ends_batches)
                        : 1;
    bool is_end = place == (action->is_backward ? places - 1 : 0);
    *first = take(build, stage, action, is_end);
    for (uint32_t done = 0; done < layers; done += each) {
        uint32_t from = action->is_backward ? layers - each - done : done;
        struct ar_run run = {.stage = stage,
                             .action = *action,
                             .first = from,
                             .layers = each,
                             .has_embedding = from == 0 && place == 0,
                             .has_head = from + each == layers && place == places - 1,
                             .ends_batches = ends_batches};
        uint32_t task = build_run(build, &run);
        *first = *first == AR_NO_TASK ? task : *first;
    }
    pass_on(build, stage, action);
}

/* First tasks of chunks, by place, batch and direction, as arrivals. */
static void link_arrivals(struct ar_build *build, const uint32_t *firsts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ar_graph_need(build->graph, firsts[i], build->arrivals[i]);
    }
}

static void add_stage(struct ar_build *build, uint32_t stage, uint32_t *firsts, uint32_t *left)
{
    const struct ar_layout *layout = build->layout;
    const struct ar_pipeline *pipeline = &build->pipeline;
    build->waiting_for = AR_NO_TASK;
    for (int i = 0; i <= AR_PREFETCH_MAX; i++) {
        build->ends[i] = AR_NO_TASK;
    }
    for (uint32_t chunk = 0; chunk < pipeline->chunks; chunk++) {
        left[chunk] = pipeline->batches;
    }
    if (layout->trace != NULL) {
        (void)build_compute(build, stage, layout->trace->step_overhead_s, AR_DUTY_FORWARD,
                            &(struct ar_action){.is_backward = false});
    }
    for (uint32_t step = 0; step < 2 * pipeline->batches * pipeline->chunks; step++) {
        struct ar_action action = layout->schedule->action(pipeline, stage, step);
        bool ends = action.is_backward && --left[action.chunk] == 0;
        uint32_t place = action.chunk * pipeline->stages + stage;
        add_chunk(build, stage, &action, ends, &firsts[chunk_index(build, place, &action)]);
    }
    layout->strategy->end(build, stage);
}

static enum ar_status fill(struct ar_build *build, struct ar_error *err)
{
    const struct ar_pipeline *pipeline = &build->pipeline;
    size_t count = (size_t)pipeline->stages * pipeline->chunks * pipeline->batches * 2;
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    uint32_t *firsts = ar_arena_alloc(&scratch, 2 * count + pipeline->chunks, sizeof *firsts);
    AR_NEED(firsts, err, "the tasks of a step");
    build->arrivals = firsts + count;
    for (size_t i = 0; i < 2 * count; i++) {
        firsts[i] = AR_NO_TASK;
    }
    for (uint32_t stage = 0; stage < pipeline->stages; stage++) {
        add_stage(build, stage, firsts, firsts + 2 * count);
    }
    link_arrivals(build, firsts, count);
    return AR_OK;
}

enum ar_status ar_strategy_graph(const struct ar_layout *layout, const struct ar_part_times *times,
                                 struct ar_arena *arena, struct ar_graph **graph,
                                 struct ar_error *err)
{
    const struct ar_placed *placed = layout->placed;
    if (placed != NULL) {
        return ar_operators_graph(placed->operators, placed->devices, placed->devices_count,
                                  &placed->hops, arena, graph, err);
    }
    struct ar_build build = {.layout = layout, .times = times};
    bool is_recorded = layout->recorded != NULL;
    if (!is_recorded) {
        build.pipeline = ar_layout_pipeline(layout);
    }
    AR_TRY(ar_graph_create(arena, is_recorded ? 1 : build.pipeline.stages, &build.graph, err));
    build.graph->has_series = layout->trace != NULL && layout->strategy->sends_buckets;
    AR_TRY(is_recorded ? build_recorded(&build, err) : fill(&build, err));
    AR_NEED(!arena->is_broken, err, "the tasks of a step");
    *graph = build.graph;
    return AR_OK;
}
