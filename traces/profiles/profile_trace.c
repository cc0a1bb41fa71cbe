/* The step that is made of a profile: which of its steps are used, how large its gradients are, and
 * its layers, the nodes of the backward pass that ran kernels. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "ar_text.h"
#include "profile.h"

const char *const ar_kineto_times_names[] = {"recorded", "kernels", NULL};

/* The import of a profile: inputs, intermediate results, the step that is made. */
struct kineto_import {
    const struct ar_kineto *kineto;
    const struct ar_kineto_request *request;
    struct ar_arena *arena;
    struct kineto_steps steps;
    const struct kineto_step *last;  /* all used steps are like it */
    const struct kineto_step **used; /* in order */
    size_t used_count;
    uint64_t *elements;   /* [arrival of `last`]: size; 0: not in its last backward pass */
    size_t first_arrival; /* the first one of the last backward pass */
    bool has_shapes;      /* else sizes are those of buckets */
    double *values;       /* room for one of each step */
    struct ar_kineto_step *made;
};

/* The median of the first `count` values, which are sorted. */
static double find_median(const struct kineto_import *import, size_t count)
{
    ar_sort(import->values, count);
    return ar_quantile(import->values, count, 0.5);
}

/* The median of a field of the used steps, a double at `offset`. */
static double find_step_median(const struct kineto_import *import, size_t offset)
{
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[i] = *(const double *)((const char *)import->used[i] + offset);
    }
    return find_median(import, import->used_count);
}
#define STEP_MEDIAN(import, field) find_step_median((import), offsetof(struct kineto_step, field))

/* The wait between steps, of those that had one before them. */
static double find_lead_s(const struct kineto_import *import)
{
    size_t count = 0;
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[count] = import->used[i]->lead_s;
        count += isnan(import->values[count]) ? 0 : 1;
    }
    bool is_known = count > 0 && import->request->times == AR_KINETO_RECORDED;
    return is_known ? find_median(import, count) : 0;
}

/* --- which steps --------------------------------------------------------------------------- */

static bool is_complete(const struct kineto_step *step)
{
    return step->has_optimizer && step->nodes_count > 0 && step->kernels_count > 0;
}

/* Whether two steps ran the same nodes and got the same gradients. */
static bool is_step_like(const struct kineto_steps *steps, const struct kineto_step *a,
                         const struct kineto_step *b)
{
    const struct kineto_op *ops = steps->kineto->ops;
    bool is_same = a->nodes_count == b->nodes_count && a->arrivals_count == b->arrivals_count;
    for (size_t i = 0; is_same && i < a->nodes_count; i++) {
        is_same = strcmp(ops[steps->nodes[a->nodes_first + i]].name,
                         ops[steps->nodes[b->nodes_first + i]].name) == 0;
    }
    return is_same;
}

/* Uses the steps that are like the last complete one; for recorded times only those in which the
 * GPU did not wait long. */
static enum ar_status choose_steps(struct kineto_import *import, struct ar_error *err)
{
    const struct kineto_steps *steps = &import->steps;
    double least_idle = INFINITY;
    import->used = ar_arena_alloc(import->arena, steps->count + 1, sizeof(void *));
    import->values = ar_arena_alloc(import->arena, steps->count + 1, sizeof *import->values);
    for (size_t i = 0; i < steps->count; i++) {
        import->last = is_complete(&steps->list[i]) ? &steps->list[i] : import->last;
    }
    AR_REFUSE(import->last == NULL, err, AR_BAD_DATA,
              "%.300s: none of %zu steps has a backward pass, an optimizer and events of the GPU; "
              "expected a whole training step",
              import->kineto->path, steps->count);
    AR_EACH(const struct kineto_step, step, steps->list, steps->count) {
        if (is_complete(step) && is_step_like(steps, step, import->last)) {
            double all_s = step->work_s + step->wait_s;
            double idle = all_s > 0 ? step->wait_s / all_s : 1; /* part in which the GPU waited */
            least_idle = fmin(least_idle, idle);
            if (import->request->times == AR_KINETO_KERNELS || idle <= AR_KINETO_IDLE_MAX) {
                import->used[import->used_count++] = step;
            }
        }
    }
    AR_REFUSE(import->used_count == 0, err, AR_BAD_DATA,
              "%.300s: the GPU waits for %.0f %% of a step or more: bound by the processor, so the "
              "times say little about the GPU; expected at most %.0f %%, or --times kernels",
              import->kineto->path, 100 * least_idle, 100 * AR_KINETO_IDLE_MAX);
    return AR_OK;
}

/* --- sizes of gradients -------------------------------------------------------------------- */

/* Finds the elements of each arrival of the last step: recorded shapes, or if some are missing the
 * sums of the buckets. AR_BAD_DATA if nothing is known. */
static enum ar_status find_gradient_sizes(struct kineto_import *import, struct ar_error *err)
{
    const struct kineto_step *step = import->last;
    size_t count = step->arrivals_count;
    uint64_t sum = 0;
    import->elements = ar_arena_alloc(import->arena, count + 1, sizeof *import->elements);
    while (import->first_arrival < count &&
           kineto_arrival_op(&import->steps, step, import->first_arrival)->start_s <=
               step->last_forward_s) {
        import->first_arrival++;
    }
    import->has_shapes = true;
    for (size_t i = import->first_arrival; i < count; i++) {
        import->has_shapes =
            import->has_shapes && kineto_arrival_op(&import->steps, step, i)->elements > 0;
    }
    for (size_t i = import->first_arrival; i < count; i++) {
        const struct kineto_op *op = kineto_arrival_op(&import->steps, step, i);
        import->elements[i] = import->has_shapes ? op->elements : op->bucket_elements;
        AR_REFUSE(import->elements[i] > AR_TRACE_ELEMENTS_MAX - sum, err, AR_BAD_DATA,
                  "%.300s: more than 2^50 elements of gradients; expected fewer",
                  import->kineto->path);
        sum += import->elements[i];
    }
    AR_REFUSE(!(sum > 0), err, AR_BAD_DATA,
              "%.300s: neither shapes nor collectives say how large the %zu gradients are; "
              "expected a profile with record_shapes=True",
              import->kineto->path, count - import->first_arrival);
    return AR_OK;
}

/* --- names of layers ----------------------------------------------------------------------- */

enum { BARE_NAME = 48 };

struct named {
    char name[BARE_NAME];
    uint32_t layer;
};

/* "ConvolutionBackward0" is of a layer "Convolution". */
static void cut_node_name(const char *node, char name[BARE_NAME])
{
    static const char suffix[] = "Backward";
    ar_copy_text(name, BARE_NAME, node);
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') {
        length--;
    }
    size_t bare = length - (sizeof suffix - 1);
    if (length > sizeof suffix - 1 && strncmp(name + bare, suffix, sizeof suffix - 1) == 0) {
        name[bare] = '\0';
    }
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = *letter == ',' || *letter == '"' || (unsigned char)*letter < ' ' ? '_' : *letter;
    }
}

AR_ORDER(compare_named, struct named, AR_SPELLS(name), AR_RISES(layer))

/* --- times and tensors --------------------------------------------------------------------- */

static double node_median(const struct kineto_import *import, const double *times_s, size_t node)
{
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[i] = times_s[import->used[i]->nodes_first + node];
    }
    return find_median(import, import->used_count);
}

/* Makes layers of the nodes that ran kernels, the last one first; the time of other nodes belongs
 * to the node before. */
static void make_profile_layers(struct kineto_import *import)
{
    const struct kineto_step *step = import->last;
    struct ar_trace *trace = &import->made->trace;
    size_t arrivals = step->arrivals_count;
    const struct kineto_arrival *list = import->steps.arrivals + step->arrivals_first;
    uint32_t *nodes = ar_arena_alloc(import->arena, step->nodes_count, sizeof *nodes);
    double forward_s = 0, backward_s = 0;
    trace->layers = ar_arena_alloc(import->arena, step->nodes_count, sizeof *trace->layers);
    trace->tensor_elements =
        ar_arena_alloc(import->arena, arrivals + 1, sizeof *trace->tensor_elements);
    for (size_t node = step->nodes_count; node-- > 0;) {
        forward_s += node_median(import, import->steps.forward_s, node);
        backward_s += node_median(import, import->steps.backward_s, node);
        if (import->steps.has_kernels[step->nodes_first + node] || node == 0) {
            struct ar_layer *layer = &trace->layers[trace->layers_count];
            *layer = (struct ar_layer){.forward_s = forward_s, .backward_s = backward_s};
            layer->tensors_first = trace->tensors_count;
            for (; arrivals > 0 && list[arrivals - 1].node >= node; arrivals--) {
                if (import->elements[arrivals - 1] > 0) { /* the last one first */
                    trace->tensor_elements[trace->tensors_count++] = import->elements[arrivals - 1];
                    layer->tensors_count++;
                }
            }
            nodes[trace->layers_count++] = import->steps.nodes[step->nodes_first + node];
            forward_s = backward_s = 0;
        }
    }
    /* Names the layers of these nodes; those called the same are counted in forward order. */
    struct named *names = ar_arena_alloc(import->arena, trace->layers_count, sizeof *names);
    unsigned number = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        cut_node_name(import->kineto->ops[nodes[i]].name, names[i].name);
        names[i].layer = i;
    }
    qsort(names, trace->layers_count, sizeof *names, compare_named);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        char *name = trace->layers[names[i].layer].name;
        number = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0 ? number + 1 : 1;
        snprintf(name, sizeof trace->layers[0].name, "%s.%u", names[i].name, number);
    }
}

/* --- facts and notes ----------------------------------------------------------------------- */

static void keep_note(struct kineto_import *import, const char *text)
{
    if (import->made->notes_count < AR_KINETO_NOTES_MAX) {
        import->made->notes[import->made->notes_count++] = text;
    }
}

#define add_note(import, ...) keep_note(import, ar_arena_format((import)->arena, __VA_ARGS__))

static void find_batch(struct kineto_import *import)
{
    struct ar_trace *trace = &import->made->trace;
    const struct ar_kineto *kineto = import->kineto;
    const struct kineto_op *reader = NULL;
    AR_EACH(const struct kineto_op, op, kineto->ops, kineto->ops_count) {
        bool is_earlier = reader == NULL || op->start_s < reader->start_s;
        if (op->batch > 0 && op->batch <= AR_TRACE_BATCH_MAX && is_earlier &&
            op->start_s >= import->last->start_s) {
            reader = op;
        }
    }
    trace->batch = import->request->batch;
    unsigned passes = import->last->passes_count > 1 ? import->last->passes_count : 1;
    if (trace->batch == 0 && reader != NULL && reader->batch * passes <= AR_TRACE_BATCH_MAX) {
        trace->batch = (uint32_t)reader->batch * passes;
        add_note(import,
                 "batch %u: the first dimension of the first operator's input, in %u pass%s of a "
                 "step; --batch sets another one",
                 trace->batch, passes, passes > 1 ? "es" : "");
    } else if (trace->batch == 0) {
        trace->batch = 1;
        add_note(import,
                 "the batch is not recorded: 1 is written, a sample is a step; --batch sets it");
    }
}

bool kineto_find_type(const char *name, enum ar_precision *precision)
{
    static const struct {
        const char *name;
        enum ar_precision precision;
    } types[] = {{"Float", AR_FP32},     {"float", AR_FP32},    {"Half", AR_FP16},
                 {"c10::Half", AR_FP16}, {"BFloat16", AR_BF16}, {"c10::BFloat16", AR_BF16}};
    size_t i = 0, count = sizeof types / sizeof types[0];
    while (i < count && strcmp(types[i].name, name) != 0) {
        i++;
    }
    *precision = i < count ? types[i].precision : *precision;
    return i < count;
}

/* The type of the first gradient that has a known one. */
static void find_recorded_precision(struct kineto_import *import)
{
    struct ar_trace *trace = &import->made->trace;
    bool is_known = import->request->has_precision;
    trace->precision = import->request->precision;
    for (size_t i = 0; !is_known && i < import->last->arrivals_count; i++) {
        const char *type = kineto_arrival_op(&import->steps, import->last, i)->type;
        is_known = type != NULL && kineto_find_type(type, &trace->precision);
    }
    if (!is_known) {
        trace->precision = AR_FP32;
        add_note(import, "the type of the gradients is not recorded: fp32 is written; --precision "
                         "sets it");
    }
}

/* "steps 103 to 105, 3 of 5". */
static void write_steps(const struct kineto_import *import, char text[100])
{
    const struct kineto_step *first = import->used[0];
    const struct kineto_step *last = import->used[import->used_count - 1];
    if (first->number >= 0 && first == last) {
        snprintf(text, 100, "step %" PRId64 ", 1 of %zu", first->number, import->steps.count);
    } else if (first->number >= 0) {
        snprintf(text, 100, "steps %" PRId64 " to %" PRId64 ", %zu of %zu", first->number,
                 last->number, import->used_count, import->steps.count);
    } else {
        snprintf(text, 100, "%zu of %zu steps", import->used_count, import->steps.count);
    }
}

static void note_times(struct kineto_import *import)
{
    char steps[100];
    double work_s = STEP_MEDIAN(import, work_s), wait_s = STEP_MEDIAN(import, wait_s);
    double copies_s = STEP_MEDIAN(import, copies_s);
    double waits_percent = work_s > 0 ? 100 * wait_s / (work_s + wait_s) : 0;
    write_steps(import, steps);
    if (import->request->times == AR_KINETO_RECORDED) {
        add_note(import,
                 "%s: times as recorded, without communication; the GPU waits %.1f %% of a step",
                 steps, waits_percent);
    } else {
        add_note(
            import,
            "%s: re-timed from durations of kernels; as recorded the GPU waits %.1f %% of a step, "
            "which is left out",
            steps, waits_percent);
    }
    if (import->kineto->world_size > 1 && import->kineto->is_fake) {
        add_note(import,
                 "recorded with a fake process group of %" PRId64 " ranks, which sends nothing%s",
                 import->kineto->world_size,
                 import->request->is_rank ? ""
                                          : "; --workload with the profile predicts its "
                                            "collectives on a mesh");
    } else if (import->kineto->world_size > 1) {
        add_note(import,
                 "recorded with %" PRId64
                 " ranks: collectives are left out; kernels that they slowed "
                 "down stay slower",
                 import->kineto->world_size);
    }
    if (copies_s > 0 && !import->request->is_rank) {
        add_note(import,
                 "the backward pass has %.3f ms of copies of gradients into buckets and the like; "
                 "--framework pytorch-ddp adds such copies once more",
                 1e3 * copies_s);
    }
    if (import->steps.unknown_s > 0) {
        add_note(import,
                 "%.3f ms of the GPU's work was launched outside of all steps and is left out",
                 1e3 * import->steps.unknown_s);
    }
}

static void note_sizes(struct kineto_import *import)
{
    const struct kineto_step *step = import->last;
    size_t kept = step->arrivals_count - import->first_arrival;
    if (!import->has_shapes) {
        add_note(
            import,
            "shapes were not recorded (record_shapes): sizes of %zu gradients are not known, so "
            "each of %u buckets is written as one tensor of the layer that completes it",
            kept, import->made->trace.tensors_count);
    }
    if (kept < step->arrivals_count) {
        add_note(
            import,
            "gradients are accumulated: %zu of %zu arrive in the last backward pass of a step, "
            "the others are not summed over GPUs",
            kept, step->arrivals_count);
    }
}

/* --- the whole ----------------------------------------------------------------------------- */

enum ar_status ar_kineto_parse(const char *path, char *text, size_t bytes,
                               const struct ar_kineto_request *request, struct ar_arena *arena,
                               struct ar_kineto_step **step, struct ar_error *err)
{
    struct ar_kineto kineto;
    char steps[100];
    bool is_recorded = request->times == AR_KINETO_RECORDED;
    AR_TRY(kineto_read(path, text, bytes, arena, &kineto, err));
    struct kineto_import import = {.kineto = &kineto, .request = request, .arena = arena};
    import.made = ar_arena_alloc(arena, 1, sizeof *import.made);
    struct ar_trace *trace = &import.made->trace;
    AR_TRY(kineto_steps_find(&kineto, request->times, arena, &import.steps, err));
    AR_TRY(choose_steps(&import, err));
    if (request->is_rank) {
        struct ar_recorded *made;
        find_recorded_precision(&import);
        note_times(&import);
        AR_TRY(kineto_make_recorded(&kineto, import.used[import.used_count - 1], trace->precision,
                                    arena, &made, err));
        memcpy(made->notes, import.made->notes, import.made->notes_count * sizeof *made->notes);
        import.made->recorded = made;
        *step = import.made;
        return AR_OK;
    }
    AR_TRY(find_gradient_sizes(&import, err));
    make_profile_layers(&import);
    trace->step_overhead_s = STEP_MEDIAN(&import, overhead_s) + find_lead_s(&import);
    trace->optimizer_s = STEP_MEDIAN(&import, optimizer_s);
    trace->is_timed = true;
    double compute_s = ar_trace_compute_s(trace);
    AR_REFUSE(!(compute_s > 0) || compute_s > AR_TRACE_SECONDS_MAX, err, AR_BAD_DATA,
              "%.300s: a step takes %g s; expected more than 0", kineto.path, compute_s);
    import.made->gpu = kineto.gpu;
    note_times(&import);
    note_sizes(&import);
    find_batch(&import);
    find_recorded_precision(&import);
    write_steps(&import, steps);
    ar_copy_stem(trace->name, sizeof trace->name, kineto.path, ".json");
    trace->source =
        ar_arena_format(arena, "PyTorch profiler, %.127s; %s; times %s", kineto.gpu, steps,
                        is_recorded ? "as recorded" : "of kernels without waits");
    *step = import.made;
    return AR_OK;
}

enum ar_status ar_kineto_load(const char *path, const struct ar_kineto_request *request,
                              struct ar_arena *arena, struct ar_kineto_step **step,
                              struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    char *text = NULL;
    size_t bytes = 0;
    AR_TRY(kineto_read_text(path, &scratch, &text, &bytes, err));
    return ar_kineto_parse(path, text, bytes, request, arena, step, err);
}
