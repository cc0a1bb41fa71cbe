/* What the trace says of itself, and what has to be said of it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ar_text.h"
#include "steps.h"

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
    unsigned passes = making->last->passes_count > 1 ? making->last->passes_count : 1;
    if (trace->batch == 0 && reader != NULL && reader->batch * passes <= AR_TRACE_BATCH_MAX) {
        trace->batch = (uint32_t)reader->batch * passes;
        note(making,
             "batch %u: the first dimension of what the first operator reads, in %u pass%s of a "
             "step; --batch says another one",
             trace->batch, passes, passes > 1 ? "es" : "");
    } else if (trace->batch == 0) {
        trace->batch = 1;
        note(making, "the batch is not recorded: 1 is written, so that samples are steps; --batch "
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
    trace->cost_table = making->request->cost_table;
    if (trace->cost_table != NULL && trace->work == NULL) {
        note(making, "the layers are not those of a table of work, so 'allreckon compare' cannot "
                     "put them beside computed ones; --parameters names one");
    }
    return trace->source != NULL ? AR_OK : ar_error_no_memory(err, making->kineto->path);
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

enum ar_status kineto_facts_find(struct making *making, struct ar_error *err)
{
    find_gpu(making);
    note_times(making);
    note_sizes(making);
    find_batch(making);
    find_precision(making);
    return describe(making, err);
}
