/* Layers with their gradients: nodes of the backward pass that ran kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "steps.h"

/* --- names ---------------------------------------------------------------------------------- */

enum { BARE_NAME = 48 };

struct named {
    char name[BARE_NAME];
    uint32_t layer;
};

/* "ConvolutionBackward0" is of a layer "Convolution". */
static void cut_name(const char *node, char name[BARE_NAME])
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

static int compare_names(const void *a, const void *b)
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
static void take_names(struct ar_trace *trace, const struct ar_trace *parameters)
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
static bool is_aligned(const struct ar_trace *trace, const struct ar_trace *like)
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
static void align(struct ar_trace *trace, const struct ar_trace *like)
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

static bool are_unique(const struct ar_trace *trace, const char **sorted)
{
    bool is_unique = true;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sorted[i] = trace->layers[i].name;
    }
    qsort(sorted, trace->layers_count, sizeof *sorted, compare_names);
    for (uint32_t i = 1; i < trace->layers_count; i++) {
        is_unique = is_unique && strcmp(sorted[i - 1], sorted[i]) != 0;
    }
    return is_unique;
}

/* `nodes` are the ops of the layers. */
static enum ar_status name_layers(struct making *making, const uint32_t *nodes,
                                  struct ar_error *err)
{
    struct ar_trace *trace = &making->made->trace;
    struct named *names = ar_arena_alloc(making->arena, trace->layers_count, sizeof *names);
    const char **sorted = ar_arena_alloc(making->arena, trace->layers_count, sizeof *sorted);
    AR_NEED(names && sorted, err, making->kineto->path);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        cut_name(making->kineto->ops[nodes[i]].name, names[i].name);
        names[i].layer = i;
    }
    number_layers(trace, names);
    const struct ar_trace *parameters = making->request->parameters;
    if (parameters != NULL && is_aligned(trace, parameters)) {
        align(trace, parameters);
        trace->work = parameters->is_timed ? NULL : parameters->name;
        return AR_OK;
    }
    if (parameters != NULL) {
        take_names(trace, parameters);
    }
    if (!are_unique(trace, sorted)) {
        number_layers(trace, names);
    }
    return AR_OK;
}

/* --- times and tensors ---------------------------------------------------------------------- */

static double node_median(const struct making *making, const double *times_s, size_t node)
{
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[i] = times_s[making->used[i]->nodes_first + node];
    }
    return kineto_median(making, making->used_count);
}

/* Tensors of the arrivals at nodes from `first` on, the last one first, down from `*end`. */
static void take_tensors(struct making *making, size_t first, size_t *end, struct ar_layer *layer)
{
    const struct kineto_arrival *arrivals = making->steps->arrivals + making->last->arrivals_first;
    struct ar_trace *trace = &making->made->trace;
    layer->tensors_first = trace->tensors_count;
    for (; *end > 0 && arrivals[*end - 1].node >= first; (*end)--) {
        if (making->elements[*end - 1] > 0) {
            trace->tensor_elements[trace->tensors_count++] = making->elements[*end - 1];
            layer->tensors_count++;
        }
    }
}

/* Nodes that ran kernels, the last one first; what others did belongs to the one before. */
static void add_layers(struct making *making, uint32_t *nodes)
{
    const struct kineto_step *step = making->last;
    struct ar_trace *trace = &making->made->trace;
    size_t arrivals = step->arrivals_count;
    double forward_s = 0, backward_s = 0;
    for (size_t node = step->nodes_count; node-- > 0;) {
        making->ready_s[node] = node_median(making, making->steps->backward_s, node);
        forward_s += node_median(making, making->steps->forward_s, node);
        backward_s += making->ready_s[node];
        if (making->steps->has_kernels[step->nodes_first + node] || node == 0) {
            struct ar_layer *layer = &trace->layers[trace->layers_count];
            *layer = (struct ar_layer){.forward_s = forward_s, .backward_s = backward_s};
            take_tensors(making, node, &arrivals, layer);
            nodes[trace->layers_count++] = making->steps->nodes[step->nodes_first + node];
            forward_s = backward_s = 0;
        }
    }
    for (size_t node = 1; node < step->nodes_count; node++) {
        making->ready_s[node] += making->ready_s[node - 1];
    }
}

enum ar_status kineto_layers_make(struct making *making, struct ar_error *err)
{
    struct ar_trace *trace = &making->made->trace;
    size_t count = making->last->nodes_count;
    uint32_t *nodes = ar_arena_alloc(making->arena, count, sizeof *nodes);
    making->ready_s = ar_arena_alloc(making->arena, count, sizeof *making->ready_s);
    trace->layers = ar_arena_alloc(making->arena, count, sizeof *trace->layers);
    trace->tensor_elements = ar_arena_alloc(making->arena, making->last->arrivals_count + 1,
                                            sizeof *trace->tensor_elements);
    AR_NEED(nodes && making->ready_s && trace->layers && trace->tensor_elements, err,
            making->kineto->path);
    add_layers(making, nodes);
    return name_layers(making, nodes, err);
}
