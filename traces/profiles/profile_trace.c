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

double kineto_median(const struct kineto_import *import, size_t count)
{
    ar_sort(import->values, count);
    return ar_quantile(import->values, count, 0.5);
}

double kineto_step_median(const struct kineto_import *import, size_t offset)
{
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[i] = *(const double *)((const char *)import->used[i] + offset);
    }
    return kineto_median(import, import->used_count);
}

/* The wait between steps, of those that had one before them. */
static double find_lead_s(const struct kineto_import *import)
{
    size_t count = 0;
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[count] = import->used[i]->lead_s;
        count += isnan(import->values[count]) ? 0 : 1;
    }
    bool is_known = count > 0 && import->request->times == AR_KINETO_RECORDED;
    return is_known ? kineto_median(import, count) : 0;
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
        is_same = ops[steps->nodes[a->nodes_first + i]].name ==
                  ops[steps->nodes[b->nodes_first + i]].name;
    }
    return is_same;
}

/* Part of the time of a step in which the GPU waited, 0 to 1. */
static double find_idle_frac(const struct kineto_step *step)
{
    double all_s = step->work_s + step->wait_s;
    return all_s > 0 ? step->wait_s / all_s : 1;
}

static enum ar_status refuse_waits(const struct kineto_import *import, double idle,
                                   struct ar_error *err)
{
    return ar_error_set(
        err, AR_BAD_DATA,
        "%.300s: the GPU waits for %.0f %% of a step or more: bound by the "
        "processor, so the times say little about the GPU; expected at most %.0f %%, "
        "or --times kernels",
        import->kineto->path, 100 * idle, 100 * AR_KINETO_IDLE_MAX);
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
    if (import->last == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: none of %zu steps has a backward pass, an optimizer and "
                            "events of the GPU; expected a whole training step",
                            import->kineto->path, steps->count);
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct kineto_step *step = &steps->list[i];
        if (is_complete(step) && is_step_like(steps, step, import->last)) {
            double idle = find_idle_frac(step);
            least_idle = fmin(least_idle, idle);
            if (import->request->times == AR_KINETO_KERNELS || idle <= AR_KINETO_IDLE_MAX) {
                import->used[import->used_count++] = step;
            }
        }
    }
    return import->used_count > 0 ? AR_OK : refuse_waits(import, least_idle, err);
}

/* --- sizes of gradients -------------------------------------------------------------------- */

/* Takes the tensors of a trace in the order of arrival: backwards. Sums of buckets must agree. */
static enum ar_status take_parameters(struct kineto_import *import, struct ar_error *err)
{
    uint64_t sum = 0;
    const char *path = import->kineto->path;
    const struct ar_trace *parameters = import->request->parameters;
    size_t first = import->first_arrival, count = import->last->arrivals_count - first;
    if (count != parameters->tensors_count) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: %zu gradients arrive in a step, and %.63s has %u tensors; "
                            "expected the parameters of the same model",
                            path, count, parameters->name, parameters->tensors_count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = kineto_arrival_op(&import->steps, import->last, first + i);
        uint64_t elements = parameters->tensor_elements[count - 1 - i];
        import->elements[first + i] = elements;
        sum += elements;
        if (op->elements > 0 && op->elements != elements) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: gradient %zu has %" PRIu64 " elements, and %.63s %" PRIu64
                                "; expected the parameters of the same model",
                                path, i + 1, op->elements, parameters->name, elements);
        }
        if (op->bucket_elements > 0 && op->bucket_elements != sum) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: the bucket that gradient %zu completes has %" PRIu64
                                " elements, and in %.63s %" PRIu64
                                "; expected the parameters of the same model",
                                path, i + 1, op->bucket_elements, parameters->name, sum);
        }
        sum = op->bucket_elements > 0 ? 0 : sum;
    }
    return AR_OK;
}

/* Takes recorded shapes, or if some are missing the sums of the buckets. */
static enum ar_status take_recorded(struct kineto_import *import, struct ar_error *err)
{
    uint64_t sum = 0;
    const struct kineto_step *step = import->last;
    import->sizes = KINETO_SIZES_SHAPES;
    for (size_t i = import->first_arrival; i < step->arrivals_count; i++) {
        if (kineto_arrival_op(&import->steps, step, i)->elements == 0) {
            import->sizes = KINETO_SIZES_BUCKETS;
        }
    }
    for (size_t i = import->first_arrival; i < step->arrivals_count; i++) {
        const struct kineto_op *op = kineto_arrival_op(&import->steps, step, i);
        uint64_t elements =
            import->sizes == KINETO_SIZES_SHAPES ? op->elements : op->bucket_elements;
        import->elements[i] = elements;
        if (elements > AR_TRACE_ELEMENTS_MAX - sum) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: more than 2^50 elements of gradients; expected fewer",
                                import->kineto->path);
        }
        sum += elements;
    }
    return sum > 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "%.300s: neither shapes nor collectives say how large the %zu "
                              "gradients are; expected a profile with record_shapes=True, or "
                              "--parameters TRACE",
                              import->kineto->path, step->arrivals_count - import->first_arrival);
}

/* Finds the elements of each arrival of the last step. AR_BAD_DATA if nothing is known, or the
 * parameters that were given are others. */
static enum ar_status find_gradient_sizes(struct kineto_import *import, struct ar_error *err)
{
    const struct kineto_step *step = import->last;
    size_t count = step->arrivals_count;
    import->elements = ar_arena_alloc(import->arena, count + 1, sizeof *import->elements);
    while (import->first_arrival < count &&
           kineto_arrival_op(&import->steps, step, import->first_arrival)->start_s <=
               step->last_forward_s) {
        import->first_arrival++;
    }
    if (import->request->parameters == NULL) {
        return take_recorded(import, err);
    }
    import->sizes = KINETO_SIZES_PARAMETERS;
    return take_parameters(import, err);
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

static int compare_named(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->layer > right->layer) - (left->layer < right->layer);
}

static int compare_layer_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Layers called the same are counted in forward order. */
static void number_layers(struct ar_trace *trace, struct named *names)
{
    unsigned number = 0;
    qsort(names, trace->layers_count, sizeof *names, compare_named);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        char *name = trace->layers[names[i].layer].name;
        number = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0 ? number + 1 : 1;
        snprintf(name, sizeof trace->layers[0].name, "%s.%u", names[i].name, number);
    }
}

/* Layers with the same tensors as one of the parameters' trace are called as that one. */
static void take_known_names(struct ar_trace *trace, const struct ar_trace *parameters)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        struct ar_layer *layer = &trace->layers[i];
        while (known < parameters->layers_count &&
               (parameters->layers[known].tensors_count == 0 ||
                parameters->layers[known].tensors_first < layer->tensors_first)) {
            known++;
        }
        const struct ar_layer *like =
            known < parameters->layers_count ? &parameters->layers[known] : NULL;
        if (like != NULL && layer->tensors_first == like->tensors_first &&
            layer->tensors_count == like->tensors_count) {
            ar_copy_text(layer->name, sizeof layer->name, like->name);
        }
    }
}

/* The first layer with tensors from `layer` on, or their count. */
static uint32_t next_with_tensors(const struct ar_trace *trace, uint32_t layer)
{
    while (layer < trace->layers_count && trace->layers[layer].tensors_count == 0) {
        layer++;
    }
    return layer;
}

/* Whether the layers are those of the parameters' trace: the same with tensors, and between them as
 * many without, or more in place of one, as a loss has. */
static bool can_be_aligned(const struct ar_trace *trace, const struct ar_trace *like)
{
    for (uint32_t layer = 0, known = 0;; layer++, known++) {
        uint32_t end = next_with_tensors(trace, layer);
        uint32_t known_end = next_with_tensors(like, known);
        bool is_equal =
            end - layer == known_end - known || (known_end - known == 1 && end - layer > 1);
        if (end == trace->layers_count || known_end == like->layers_count) {
            return is_equal && end == trace->layers_count && known_end == like->layers_count;
        }
        if (!is_equal ||
            trace->layers[end].tensors_count != like->layers[known_end].tensors_count) {
            return false;
        }
        layer = end;
        known = known_end;
    }
}

/* Makes aligned layers those of the parameters' trace. */
static void align_layers(struct ar_trace *trace, const struct ar_trace *like)
{
    uint32_t layer = 0;
    for (uint32_t known = 0; known < like->layers_count; known++) {
        uint32_t ours = next_with_tensors(trace, layer) - layer;
        uint32_t theirs = next_with_tensors(like, known) - known;
        uint32_t joined = theirs == 1 ? ours : 1;
        struct ar_layer made = trace->layers[layer++];
        for (; joined > 1; joined--) {
            made.forward_s += trace->layers[layer].forward_s;
            made.backward_s += trace->layers[layer++].backward_s;
        }
        ar_copy_text(made.name, sizeof made.name, like->layers[known].name);
        trace->layers[known] = made;
    }
    trace->layers_count = like->layers_count;
}

static bool are_names_unique(const struct ar_trace *trace, const char **sorted)
{
    bool is_unique = true;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sorted[i] = trace->layers[i].name;
    }
    qsort(sorted, trace->layers_count, sizeof *sorted, compare_layer_texts);
    for (uint32_t i = 1; i < trace->layers_count; i++) {
        is_unique = is_unique && strcmp(sorted[i - 1], sorted[i]) != 0;
    }
    return is_unique;
}

/* `nodes` are the ops of the layers. */
static void name_layers(struct kineto_import *import, const uint32_t *nodes)
{
    struct ar_trace *trace = &import->made->trace;
    struct named *names = ar_arena_alloc(import->arena, trace->layers_count, sizeof *names);
    const char **sorted = ar_arena_alloc(import->arena, trace->layers_count, sizeof *sorted);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        cut_node_name(import->kineto->ops[nodes[i]].name, names[i].name);
        names[i].layer = i;
    }
    number_layers(trace, names);
    const struct ar_trace *parameters = import->request->parameters;
    if (parameters != NULL && can_be_aligned(trace, parameters)) {
        align_layers(trace, parameters);
        trace->work = parameters->is_timed ? NULL : parameters->name;
        return;
    }
    if (parameters != NULL) {
        take_known_names(trace, parameters);
    }
    if (!are_names_unique(trace, sorted)) {
        number_layers(trace, names);
    }
}

/* --- times and tensors --------------------------------------------------------------------- */

static double node_median(const struct kineto_import *import, const double *times_s, size_t node)
{
    for (size_t i = 0; i < import->used_count; i++) {
        import->values[i] = times_s[import->used[i]->nodes_first + node];
    }
    return kineto_median(import, import->used_count);
}

/* Tensors of the arrivals at nodes from `first` on, the last one first, down from `*end`. */
static void take_tensors(struct kineto_import *import, size_t first, size_t *end,
                         struct ar_layer *layer)
{
    const struct kineto_arrival *arrivals = import->steps.arrivals + import->last->arrivals_first;
    struct ar_trace *trace = &import->made->trace;
    layer->tensors_first = trace->tensors_count;
    for (; *end > 0 && arrivals[*end - 1].node >= first; (*end)--) {
        if (import->elements[*end - 1] > 0) {
            trace->tensor_elements[trace->tensors_count++] = import->elements[*end - 1];
            layer->tensors_count++;
        }
    }
}

/* Makes layers of the nodes that ran kernels, the last one first; the time of other nodes belongs
 * to the node before. */
static void add_layers(struct kineto_import *import, uint32_t *nodes)
{
    const struct kineto_step *step = import->last;
    struct ar_trace *trace = &import->made->trace;
    size_t arrivals = step->arrivals_count;
    double forward_s = 0, backward_s = 0;
    for (size_t node = step->nodes_count; node-- > 0;) {
        import->ready_s[node] = node_median(import, import->steps.backward_s, node);
        forward_s += node_median(import, import->steps.forward_s, node);
        backward_s += import->ready_s[node];
        if (import->steps.has_kernels[step->nodes_first + node] || node == 0) {
            struct ar_layer *layer = &trace->layers[trace->layers_count];
            *layer = (struct ar_layer){.forward_s = forward_s, .backward_s = backward_s};
            take_tensors(import, node, &arrivals, layer);
            nodes[trace->layers_count++] = import->steps.nodes[step->nodes_first + node];
            forward_s = backward_s = 0;
        }
    }
    for (size_t node = 1; node < step->nodes_count; node++) {
        import->ready_s[node] += import->ready_s[node - 1];
    }
}

/* Makes the layers of the trace, and says when the nodes were ready. */
static void make_profile_layers(struct kineto_import *import)
{
    struct ar_trace *trace = &import->made->trace;
    size_t count = import->last->nodes_count;
    uint32_t *nodes = ar_arena_alloc(import->arena, count, sizeof *nodes);
    import->ready_s = ar_arena_alloc(import->arena, count, sizeof *import->ready_s);
    trace->layers = ar_arena_alloc(import->arena, count, sizeof *trace->layers);
    trace->tensor_elements = ar_arena_alloc(import->arena, import->last->arrivals_count + 1,
                                            sizeof *trace->tensor_elements);
    add_layers(import, nodes);
    name_layers(import, nodes);
}

/* --- the whole ----------------------------------------------------------------------------- */

enum ar_status ar_kineto_step_create(const struct ar_kineto *kineto,
                                     const struct ar_kineto_request *request,
                                     struct ar_arena *arena, struct ar_kineto_step **step,
                                     struct ar_error *err)
{
    struct kineto_import import = {.kineto = kineto, .request = request, .arena = arena};
    import.made = ar_arena_alloc(arena, 1, sizeof *import.made);
    struct ar_trace *trace = &import.made->trace;
    AR_TRY(kineto_steps_find(kineto, request->times, arena, &import.steps, err));
    AR_TRY(choose_steps(&import, err));
    AR_TRY(find_gradient_sizes(&import, err));
    make_profile_layers(&import);
    trace->step_overhead_s = KINETO_STEP_MEDIAN(&import, overhead_s) + find_lead_s(&import);
    trace->optimizer_s = KINETO_STEP_MEDIAN(&import, optimizer_s);
    trace->is_timed = true;
    double compute_s = ar_trace_compute_s(trace);
    if (!(compute_s > 0) || compute_s > AR_TRACE_SECONDS_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%.300s: a step takes %g s; expected more than 0",
                            kineto->path, compute_s);
    }
    kineto_facts_find(&import);
    kineto_collectives_find(&import);
    *step = import.made;
    return AR_OK;
}
