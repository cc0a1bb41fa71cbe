/* The step of a trace: medians over its steps, layers with their gradients. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ar_quantile.h"
#include "ar_text.h"
#include "collectives.h"
#include "sizes.h"

const char *const ar_kineto_times_names[] = {"recorded", "kernels", NULL};

/* What is made, and from what. */
struct making {
    const struct ar_kineto *kineto;
    const struct ar_kineto_request *request;
    struct ar_arena *arena;
    const struct kineto_steps *steps;
    const struct kineto_step *last;  /* what all used steps are like */
    const struct kineto_step **used; /* in order */
    size_t used_count;
    uint64_t *elements; /* of the arrivals of `last` */
    enum kineto_sizes sizes;
    double *ready_s; /* when each of its nodes was done, from the begin of the backward pass on */
    double *values;  /* room for one of each step */
    struct ar_kineto_step *made;
};

static enum ar_status no_memory(const struct making *making, struct ar_error *err)
{
    return ar_error_no_memory(err, making->kineto->path);
}

static void __attribute__((format(printf, 2, 3)))
note(struct making *making, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = ar_arena_text(making->arena, text);
    if (copy != NULL && making->made->notes_count < AR_KINETO_NOTES_MAX) {
        making->made->notes[making->made->notes_count++] = copy;
    }
}

/* --- which steps -------------------------------------------------------------------------------
 */

static bool is_complete(const struct kineto_step *step)
{
    return step->has_optimizer && step->nodes_count > 0 && step->kernels_count > 0;
}

/* Whether two steps ran the same nodes and got the same gradients. */
static bool is_like(const struct kineto_steps *steps, const struct kineto_step *a,
                    const struct kineto_step *b)
{
    const struct kineto_op *ops = steps->kineto->ops;
    bool is_same = a->nodes_count == b->nodes_count && a->arrivals_count == b->arrivals_count;
    for (size_t i = 0; is_same && i < a->nodes_count; i++) {
        is_same = ops[steps->nodes[a->nodes_first + i]].name ==
                  ops[steps->nodes[b->nodes_first + i]].name;
    }
    return is_same;
}

static enum ar_status refuse_waits(const struct making *making, double idle, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA,
                        "%.300s: the GPU waits for %.0f %% of a step or more: bound by the "
                        "processor, so the times say little of the GPU; expected at most %.0f %%, "
                        "or --times kernels",
                        making->kineto->path, 100 * idle, 100 * AR_KINETO_IDLE_MAX);
}

/* Those like the last complete one; of recorded times only where the GPU did not wait long. */
static enum ar_status choose_steps(struct making *making, struct ar_error *err)
{
    const struct kineto_steps *steps = making->steps;
    double least_idle = INFINITY;
    making->used = ar_arena_alloc(making->arena, steps->count + 1, sizeof(void *));
    making->values = ar_arena_alloc(making->arena, steps->count + 1, sizeof *making->values);
    if (making->used == NULL || making->values == NULL) {
        return no_memory(making, err);
    }
    for (size_t i = 0; i < steps->count; i++) {
        making->last = is_complete(&steps->list[i]) ? &steps->list[i] : making->last;
    }
    if (making->last == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: none of %zu steps has a backward pass, an optimizer and what "
                            "the GPU did; expected a whole training step",
                            making->kineto->path, steps->count);
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct kineto_step *step = &steps->list[i];
        if (is_complete(step) && is_like(steps, step, making->last)) {
            double idle = kineto_step_idle(step);
            least_idle = fmin(least_idle, idle);
            if (making->request->times == AR_KINETO_KERNELS || idle <= AR_KINETO_IDLE_MAX) {
                making->used[making->used_count++] = step;
            }
        }
    }
    return making->used_count > 0 ? AR_OK : refuse_waits(making, least_idle, err);
}

static double median(const struct making *making)
{
    ar_sort(making->values, making->used_count);
    return ar_quantile(making->values, making->used_count, 0.5);
}

static double node_median(const struct making *making, const double *times_s, size_t node)
{
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[i] = times_s[making->used[i]->nodes_first + node];
    }
    return median(making);
}

#define STEP_MEDIAN(making, field)                                                                 \
    (step_values((making), offsetof(struct kineto_step, field)), median(making))

static void step_values(const struct making *making, size_t offset)
{
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[i] = *(const double *)((const char *)making->used[i] + offset);
    }
}

/* The wait between steps, of those that had one before them. */
static double lead_s(const struct making *making)
{
    size_t count = 0;
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[count] = making->used[i]->lead_s;
        count += isnan(making->values[count]) ? 0 : 1;
    }
    ar_sort(making->values, count);
    bool is_known = count > 0 && making->request->times == AR_KINETO_RECORDED;
    return is_known ? ar_quantile(making->values, count, 0.5) : 0;
}

/* --- layers ------------------------------------------------------------------------------------
 */

/* "ConvolutionBackward0" is of a layer "Convolution". */
static void cut_name(const char *node, char name[64])
{
    ar_copy_text(name, 48, node);
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') {
        length--;
    }
    static const char suffix[] = "Backward";
    size_t bare = length - (sizeof suffix - 1);
    if (length > sizeof suffix - 1 && strncmp(name + bare, suffix, sizeof suffix - 1) == 0) {
        name[bare] = '\0';
    }
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = *letter == ',' || *letter == '"' || (unsigned char)*letter < ' ' ? '_' : *letter;
    }
}

/* Names with the count of layers so far that are called the same. */
static enum ar_status name_layers(struct making *making, const uint32_t *nodes,
                                  struct ar_error *err)
{
    struct ar_trace *trace = &making->made->trace;
    size_t capacity = 0, count = 0;
    struct seen {
        char name[64];
        unsigned times;
    } *seen = NULL;
    capacity = trace->layers_count;
    seen = ar_arena_alloc(making->arena, capacity + 1, sizeof *seen);
    if (seen == NULL) {
        return no_memory(making, err);
    }
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        size_t k = 0;
        char name[64];
        cut_name(making->kineto->ops[nodes[i]].name, name);
        while (k < count && strcmp(seen[k].name, name) != 0) {
            k++;
        }
        if (k == count) {
            ar_copy_text(seen[count++].name, sizeof seen[0].name, name);
        }
        seen[k].times++;
        snprintf(trace->layers[i].name, sizeof trace->layers[i].name, "%.47s.%u", name,
                 seen[k].times);
    }
    return AR_OK;
}

/* Tensors of the arrivals at nodes from `first` up to before `end`, the last one first. */
static void take_tensors(struct making *making, size_t first, size_t end, struct ar_layer *layer)
{
    const struct kineto_step *step = making->last;
    struct ar_trace *trace = &making->made->trace;
    layer->tensors_first = trace->tensors_count;
    for (size_t i = step->arrivals_count; i-- > 0;) {
        size_t node = making->steps->arrivals[step->arrivals_first + i].node;
        if (node >= first && node < end && making->elements[i] > 0) {
            trace->tensor_elements[trace->tensors_count++] = making->elements[i];
            layer->tensors_count++;
        }
    }
}

/* Nodes that ran kernels, the last one first; what arrives at others belongs to the one before. */
static enum ar_status make_layers(struct making *making, struct ar_error *err)
{
    const struct kineto_step *step = making->last;
    struct ar_trace *trace = &making->made->trace;
    size_t count = step->nodes_count, end = count;
    uint32_t *nodes = ar_arena_alloc(making->arena, count, sizeof *nodes);
    making->ready_s = ar_arena_alloc(making->arena, count, sizeof *making->ready_s);
    trace->layers = ar_arena_alloc(making->arena, count, sizeof *trace->layers);
    trace->tensor_elements =
        ar_arena_alloc(making->arena, step->arrivals_count + 1, sizeof *trace->tensor_elements);
    if (nodes == NULL || making->ready_s == NULL || trace->layers == NULL ||
        trace->tensor_elements == NULL) {
        return no_memory(making, err);
    }
    double forward_s = 0, backward_s = 0;
    for (size_t node = count; node-- > 0;) {
        making->ready_s[node] = node_median(making, making->steps->backward_s, node);
        forward_s += node_median(making, making->steps->forward_s, node);
        backward_s += making->ready_s[node];
        if (making->steps->has_kernels[step->nodes_first + node] || node == 0) {
            struct ar_layer *layer = &trace->layers[trace->layers_count];
            *layer = (struct ar_layer){.forward_s = forward_s, .backward_s = backward_s};
            take_tensors(making, node, end, layer);
            nodes[trace->layers_count++] = making->steps->nodes[step->nodes_first + node];
            end = node;
            forward_s = backward_s = 0;
        }
    }
    for (size_t node = 1; node < count; node++) {
        making->ready_s[node] += making->ready_s[node - 1];
    }
    return name_layers(making, nodes, err);
}

/* --- what is not in the events of a step -------------------------------------------------------
 */

static void find_batch(struct making *making)
{
    struct ar_trace *trace = &making->made->trace;
    const struct ar_kineto *kineto = making->kineto;
    const struct kineto_op *reader = NULL;
    for (size_t i = 0; i < kineto->ops_count; i++) {
        const struct kineto_op *op = &kineto->ops[i];
        bool is_earlier = reader == NULL || op->start_s < reader->start_s;
        if (op->batch > 0 && op->batch <= AR_TRACE_BATCH_MAX && is_earlier &&
            op->start_s >= making->last->start_s) {
            reader = op;
        }
    }
    trace->batch = making->request->batch;
    if (trace->batch == 0 && reader != NULL) {
        trace->batch = (uint32_t)reader->batch;
        note(making,
             "batch %u: the first dimension of what the step's first operator reads; --batch says "
             "another one",
             trace->batch);
    } else if (trace->batch == 0) {
        trace->batch = 1;
        note(making, "the batch is not recorded: 1 is written, so that images are steps; --batch "
                     "says it");
    }
}

static void find_precision(struct making *making)
{
    struct ar_trace *trace = &making->made->trace;
    const struct ar_kineto *kineto = making->kineto;
    const struct kineto_step *step = making->last;
    bool is_known = making->request->has_precision;
    trace->precision = making->request->precision;
    for (size_t i = 0; !is_known && i < step->arrivals_count; i++) {
        const struct kineto_op *op =
            &kineto->ops[making->steps->arrivals[step->arrivals_first + i].op];
        const char *type = op->comm != KINETO_NONE ? kineto->comms[op->comm].dtype : op->name;
        is_known = type != NULL && kineto_type_precision(type, &trace->precision);
    }
    if (!is_known) {
        trace->precision = AR_FP32;
        note(making, "the type of the gradients is not recorded: fp32 is written; --precision "
                     "says it");
    }
}

static void find_gpu(struct making *making)
{
    const struct ar_kineto *kineto = making->kineto;
    making->made->gpu = "a GPU without a name";
    for (size_t i = 0; i < kineto->gpus_count; i++) {
        if (kineto->gpus[i].id == kineto->kernels[0].device) {
            making->made->gpu = kineto->gpus[i].name;
        }
    }
}

/* "steps 103 to 105, 3 of 5". */
static void say_steps(const struct making *making, char text[100])
{
    const struct kineto_step *first = making->used[0];
    const struct kineto_step *last = making->used[making->used_count - 1];
    if (first->number >= 0 && first == last) {
        snprintf(text, 100, "step %" PRId64 ", 1 of %zu", first->number, making->steps->count);
    } else if (first->number >= 0) {
        snprintf(text, 100, "steps %" PRId64 " to %" PRId64 ", %zu of %zu", first->number,
                 last->number, making->used_count, making->steps->count);
    } else {
        snprintf(text, 100, "%zu of %zu steps", making->used_count, making->steps->count);
    }
}

static enum ar_status describe(struct making *making, struct ar_error *err)
{
    char steps[100];
    struct ar_trace *trace = &making->made->trace;
    bool is_recorded = making->request->times == AR_KINETO_RECORDED;
    say_steps(making, steps);
    ar_copy_stem(trace->name, sizeof trace->name, making->kineto->path, ".json");
    trace->source =
        ar_arena_format(making->arena, "PyTorch profiler, %.127s; %s; times %s", making->made->gpu,
                        steps, is_recorded ? "as recorded" : "of kernels without waits");
    return trace->source != NULL ? AR_OK : no_memory(making, err);
}

static void note_times(struct making *making)
{
    char steps[100];
    double work_s = STEP_MEDIAN(making, work_s), wait_s = STEP_MEDIAN(making, wait_s);
    double copies_s = STEP_MEDIAN(making, copies_s);
    double waits_percent = work_s > 0 ? 100 * wait_s / (work_s + wait_s) : 0;
    say_steps(making, steps);
    if (making->request->times == AR_KINETO_RECORDED) {
        note(making,
             "%s: times as recorded, without communication; the GPU waits %.1f %% of a step", steps,
             waits_percent);
    } else {
        note(making,
             "%s: re-timed from durations of kernels; as recorded the GPU waits %.1f %% of a step, "
             "which is left out",
             steps, waits_percent);
    }
    if (making->kineto->world_size > 1) {
        note(making,
             "recorded with %" PRId64 " ranks: collectives are taken out, not what they slowed "
             "down beside them",
             making->kineto->world_size);
    }
    if (copies_s > 0) {
        note(making,
             "the backward pass has %.3f ms of copies of gradients into buckets and the like; "
             "--framework pytorch-ddp adds such copies once more",
             1e3 * copies_s);
    }
    if (making->steps->unknown_s > 0) {
        note(making, "%.3f ms of the GPU's work was launched outside of all steps and is left out",
             1e3 * making->steps->unknown_s);
    }
}

static void note_sizes(struct making *making)
{
    const struct kineto_step *step = making->last;
    size_t kept = kineto_sizes_count(making->steps, step);
    if (making->sizes == KINETO_SIZES_BUCKETS) {
        note(making,
             "shapes were not recorded (record_shapes): sizes of %zu gradients are not known, so "
             "each of %u buckets stands as one tensor at the layer that completes it; "
             "--parameters TRACE has the sizes of another trace",
             kept, making->made->trace.tensors_count);
    }
    if (kept < step->arrivals_count) {
        note(making,
             "gradients are accumulated: %zu of %zu arrive in the last backward pass of a step, "
             "the others are not summed over GPUs",
             kept, step->arrivals_count);
    }
}

static enum ar_status check_trace(const struct making *making, struct ar_error *err)
{
    double compute_s = ar_trace_compute_s(&making->made->trace);
    if (compute_s > 0 && compute_s <= AR_TRACE_SECONDS_MAX) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA, "%.300s: a step takes %g s; expected more than 0",
                        making->kineto->path, compute_s);
}

static enum ar_status make(struct making *making, struct ar_error *err)
{
    struct ar_trace *trace = &making->made->trace;
    AR_TRY(choose_steps(making, err));
    AR_TRY(kineto_sizes_find(making->steps, making->last, making->request->parameters,
                             making->arena, &making->elements, &making->sizes, err));
    AR_TRY(make_layers(making, err));
    trace->step_overhead_s = STEP_MEDIAN(making, overhead_s) + lead_s(making);
    trace->optimizer_s = STEP_MEDIAN(making, optimizer_s);
    trace->is_timed = true;
    AR_TRY(check_trace(making, err));
    find_gpu(making);
    note_times(making);
    note_sizes(making);
    find_batch(making);
    find_precision(making);
    AR_TRY(describe(making, err));
    return kineto_collectives_find(making->steps, making->used, making->used_count, making->ready_s,
                                   making->arena, making->made, err);
}

enum ar_status ar_kineto_step_create(const struct ar_kineto *kineto,
                                     const struct ar_kineto_request *request,
                                     struct ar_arena *arena, struct ar_kineto_step **step,
                                     struct ar_error *err)
{
    struct kineto_steps *steps;
    struct making making = {.kineto = kineto, .request = request, .arena = arena};
    making.made = ar_arena_alloc(arena, 1, sizeof *making.made);
    if (making.made == NULL) {
        return no_memory(&making, err);
    }
    AR_TRY(kineto_steps_create(kineto, request->times, arena, &steps, err));
    making.steps = steps;
    AR_TRY(make(&making, err));
    *step = making.made;
    return AR_OK;
}
