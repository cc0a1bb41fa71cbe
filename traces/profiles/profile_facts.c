/* The facts of an imported step: batch, precision, source, notes; and its collectives. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "profile.h"

/* --- types --------------------------------------------------------------------------------- */

/* Collectives say "Float", inputs of operators "float" or "c10::Half". */
static const struct {
    const char *name;
    uint32_t bytes;
    const char *precision; /* its name here, "" if it is no precision of training */
} types[] = {{"Float", 4, "fp32"},     {"float", 4, "fp32"},    {"Half", 2, "fp16"},
             {"c10::Half", 2, "fp16"}, {"BFloat16", 2, "bf16"}, {"c10::BFloat16", 2, "bf16"},
             {"Double", 8, ""},        {"double", 8, ""},       {"Long", 8, ""},
             {"Int", 4, ""},           {"Short", 2, ""},        {"Byte", 1, ""},
             {"Char", 1, ""},          {"Bool", 1, ""}};

/* Bytes of a type, 0 if it is not known. */
static uint32_t find_type_bytes(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

/* The precision of a type; false if it has none here. */
static bool find_type_precision(const char *type, enum ar_precision *precision)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (unsigned k = 0; strcmp(types[i].name, type) == 0 && ar_precision_names[k] != NULL;
             k++) {
            if (strcmp(types[i].precision, ar_precision_names[k]) == 0) {
                *precision = (enum ar_precision)k;
                return true;
            }
        }
    }
    return false;
}

/* --- facts and notes ----------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
add_note(struct kineto_import *import, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (import->made->notes_count < AR_KINETO_NOTES_MAX) {
        import->made->notes[import->made->notes_count++] = ar_arena_text(import->arena, text);
    }
}

static void find_batch(struct kineto_import *import)
{
    struct ar_trace *trace = &import->made->trace;
    const struct ar_kineto *kineto = import->kineto;
    const struct kineto_op *reader = NULL;
    for (size_t i = 0; i < kineto->ops_count; i++) {
        const struct kineto_op *op = &kineto->ops[i];
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
                 "the batch is not recorded: 1 is written, so that a sample is a step; --batch "
                 "sets it");
    }
}

static void find_recorded_precision(struct kineto_import *import)
{
    struct ar_trace *trace = &import->made->trace;
    const struct ar_kineto *kineto = import->kineto;
    const struct kineto_step *step = import->last;
    bool is_known = import->request->has_precision;
    trace->precision = import->request->precision;
    for (size_t i = 0; !is_known && i < step->arrivals_count; i++) {
        const struct kineto_op *op = kineto_arrival_op(&import->steps, step, i);
        const char *type = op->comm != KINETO_NONE ? kineto->comms[op->comm].dtype : op->name;
        is_known = type != NULL && find_type_precision(type, &trace->precision);
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

static void describe_trace(struct kineto_import *import)
{
    char steps[100];
    struct ar_trace *trace = &import->made->trace;
    bool is_recorded = import->request->times == AR_KINETO_RECORDED;
    write_steps(import, steps);
    ar_copy_stem(trace->name, sizeof trace->name, import->kineto->path, ".json");
    trace->source =
        ar_arena_format(import->arena, "PyTorch profiler, %.127s; %s; times %s", import->made->gpu,
                        steps, is_recorded ? "as recorded" : "of kernels without waits");
    trace->cost_table = import->request->cost_table;
    if (trace->cost_table != NULL && trace->work == NULL) {
        add_note(import,
                 "the layers are not those of a table of work, so 'allreckon compare' cannot "
                 "put them beside computed ones; --parameters names one");
    }
}

static void note_times(struct kineto_import *import)
{
    char steps[100];
    double work_s = KINETO_STEP_MEDIAN(import, work_s), wait_s = KINETO_STEP_MEDIAN(import, wait_s);
    double copies_s = KINETO_STEP_MEDIAN(import, copies_s);
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
    if (import->kineto->world_size > 1) {
        add_note(import,
                 "recorded with %" PRId64
                 " ranks: collectives are left out; kernels that they slowed "
                 "down stay slower",
                 import->kineto->world_size);
    }
    if (copies_s > 0) {
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
    if (import->sizes == KINETO_SIZES_BUCKETS) {
        add_note(
            import,
            "shapes were not recorded (record_shapes): sizes of %zu gradients are not known, so "
            "each of %u buckets is written as one tensor of the layer that completes it; "
            "--parameters TRACE takes the sizes of another trace",
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

void kineto_facts_find(struct kineto_import *import)
{
    import->made->gpu = import->kineto->gpu;
    note_times(import);
    note_sizes(import);
    find_batch(import);
    find_recorded_precision(import);
    describe_trace(import);
}

/* --- collectives --------------------------------------------------------------------------- */

static const struct ar_column columns[] = {
#define X(kind, field, ...)                                                                        \
    AR_COLUMN(kind, struct ar_kineto_collective, field, #field, __VA_ARGS__),
    AR_KINETO_COLLECTIVE_LIST(X)
#undef X
};
const struct ar_columns ar_kineto_collective_columns = {columns,
                                                        sizeof columns / sizeof columns[0]};

/* Collectives of a profile that move something, in the order of their begin. */
struct found {
    const struct kineto_import *import;
    uint32_t *ops;
    size_t count;
};

static struct kineto_comm *find_comm(const struct found *found, size_t i)
{
    const struct ar_kineto *kineto = found->import->kineto;
    return &kineto->comms[kineto->ops[found->ops[i]].comm];
}

static struct found find_moving(const struct kineto_import *import)
{
    struct found found = {.import = import};
    size_t count;
    found.ops =
        kineto_list_ops(import->kineto, KINETO_BIT(KINETO_COLLECTIVE), import->arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct kineto_comm *comm = find_comm(&found, i);
        if (comm->in_elements > 0 || comm->out_elements > 0 || comm->recorded_s > 0) {
            found.ops[found.count++] = found.ops[i];
        }
    }
    return found;
}

/* Finds the collective of a step at a place; `count` of the list if there is none. */
static size_t find_nth(const struct found *found, const struct kineto_step *step, size_t place)
{
    const struct ar_kineto *kineto = found->import->kineto;
    double before_s = nextafter(step->start_s, -INFINITY);
    size_t at = kineto_count_begun(kineto, found->ops, found->count, before_s) + place;
    return at < found->count && kineto->ops[found->ops[at]].start_s < step->end_s ? at
                                                                                  : found->count;
}

/* Finds the least time over the used steps that have the same collective at this place. */
static double find_least_s(const struct found *found, size_t place, const struct kineto_comm *like)
{
    double least_s = INFINITY;
    for (size_t i = 0; i < found->import->used_count; i++) {
        size_t at = find_nth(found, found->import->used[i], place);
        const struct kineto_comm *comm = at < found->count ? find_comm(found, at) : NULL;
        if (comm != NULL && comm->name == like->name && comm->in_elements == like->in_elements &&
            comm->recorded_s > 0) {
            least_s = fmin(least_s, comm->recorded_s);
        }
    }
    return isfinite(least_s) ? least_s : NAN;
}

/* Counts arrivals of a step that began after `from_s` and no later than `until_s`. */
static uint64_t count_arrivals(const struct kineto_steps *steps, const struct kineto_step *step,
                               double from_s, double until_s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < step->arrivals_count; i++) {
        double start_s = kineto_arrival_op(steps, step, i)->start_s;
        count += start_s > from_s && start_s <= until_s;
    }
    return count;
}

static void describe_collective(const struct kineto_comm *comm, struct ar_kineto_collective *row)
{
    uint32_t bytes = find_type_bytes(comm->dtype);
    uint64_t elements =
        comm->in_elements > comm->out_elements ? comm->in_elements : comm->out_elements;
    bool is_known = elements > 0 && elements <= AR_TRACE_ELEMENTS_MAX;
    ar_record_clear(ar_kineto_collective_columns, row);
    ar_copy_text(row->operation, sizeof row->operation, comm->name);
    ar_copy_text(row->datatype, sizeof row->datatype, comm->dtype);
    ar_copy_text(row->group, sizeof row->group, comm->ranks);
    row->elements = is_known ? elements : AR_NO_COUNT;
    row->payload_bytes = is_known && bytes > 0 ? elements * bytes : AR_NO_COUNT;
    row->group_size = comm->group_size > 0 ? comm->group_size : AR_NO_COUNT;
}

/* Says in which pass of the step a collective was begun, and when it was ready in the backward one.
 */
static void place_collective(const struct kineto_import *import, const struct kineto_step *step,
                             const struct kineto_op *op, struct ar_kineto_collective *row)
{
    unsigned backward = KINETO_BIT(KINETO_NODE) | KINETO_BIT(KINETO_ACCUMULATE);
    size_t before = kineto_count_begun(import->kineto, import->steps.nodes + step->nodes_first,
                                       step->nodes_count, op->start_s);
    bool is_behind = before == step->nodes_count &&
                     kineto_around(import->kineto, op->parent, backward) == KINETO_NONE;
    const char *phase = before == 0 ? "forward" : is_behind ? "optimizer" : "backward";
    ar_copy_text(row->phase, sizeof row->phase, phase);
    row->ready_s = before == 0 || is_behind ? NAN : import->ready_s[before - 1];
}

void kineto_collectives_find(struct kineto_import *import)
{
    const struct kineto_step *step = import->used[import->used_count - 1];
    struct found found = find_moving(import);
    struct ar_kineto_step *made = import->made;
    made->collectives = ar_arena_alloc(import->arena, found.count + 1, sizeof *made->collectives);
    double before_s = -INFINITY;
    for (size_t i; (i = find_nth(&found, step, made->collectives_count)) < found.count;) {
        const struct kineto_op *op = &import->kineto->ops[found.ops[i]];
        const struct kineto_comm *comm = find_comm(&found, i);
        size_t place = made->collectives_count++;
        struct ar_kineto_collective *row = &made->collectives[place];
        describe_collective(comm, row);
        row->order = place + 1;
        row->gradients = count_arrivals(&import->steps, step, before_s, op->start_s);
        place_collective(import, step, op, row);
        row->recorded_s = find_least_s(&found, place, comm);
        before_s = op->start_s;
    }
}
