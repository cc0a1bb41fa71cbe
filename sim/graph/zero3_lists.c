/* ZeRO-3 as DeepSpeed did it until version 0.4 (deepspeed/runtime/zero/stage3.py and
 * partition_parameters.py of spring 2021, with their defaults): each matrix is gathered on its own
 * when its module begins, and each gradient reduce-scattered on its own, while nothing is computed.
 *
 * PyTorch of that time has these collectives for lists of tensors, one for each rank: the list is
 * made of views of one buffer, and copied tensor by tensor from or to another one. So each
 * collective costs the host a view (two for a gradient) and a copy for each rank, whatever their
 * size. What is recomputed is gathered for itself; a matrix is kept from there to its backward pass
 * if fewer than 1e9 parameters are used in between (stage3_max_reuse_distance). Tensors of less
 * than 1e5 elements, such as biases, are not gathered (stage3_param_persistence_threshold). */
#include <math.h>

#include "build.h"

/* PyTorch's benchmark of a split into two views: 2.26 us (pytorch/pytorch pull 32194, 2020). */
#define VIEW_S 2.26e-6
/* An addmm with a copy_ of 100 x 100 after it takes 10.8 us more than without (pytorch/pytorch
 * issue 37048, 2020: "fully exposed overheads and cuda launch latency"). */
#define COPY_S 10.8e-6

#define REUSE_MAX 1e9 /* parameters */
#define KEPT_MAX  1e5 /* elements */

enum { MATRICES_MAX = 8 };

/* Tensors of a run: matrices in the order in which they are used, and how often each is there. */
struct tensors {
    double sizes[MATRICES_MAX], times[MATRICES_MAX];
    bool is_of_layer[MATRICES_MAX]; /* and made again with it; the embedding and the head are not */
    uint32_t count;
    double vectors; /* that are not gathered, */
    double vector_elements;
};

static void add_matrix(struct tensors *tensors, double elements, double times, bool is_of_layer)
{
    if (elements >= KEPT_MAX) {
        tensors->is_of_layer[tensors->count] = is_of_layer;
        tensors->sizes[tensors->count] = elements;
        tensors->times[tensors->count++] = times;
    } else {
        tensors->vectors += times;
        tensors->vector_elements += times * elements;
    }
}

/* Other parameters are biases and norms: eight vectors of a layer with biases, else two. */
static struct tensors list_tensors(const struct ar_build *build, const struct ar_run *run,
                                   bool is_trained)
{
    const struct ar_transformer *model = build->layout->model;
    double h = model->hidden, q = (double)model->heads * model->head_dim;
    double g = (double)model->kv_heads * model->head_dim;
    double tp = build->layout->sizes[AR_AXIS_TP];
    double networks =
        model->experts > 0 ? (double)model->experts / build->layout->sizes[AR_AXIS_EP] : 1;
    struct tensors tensors = {.count = 0};
    if (is_trained && model->lora > 0) {
        const double sides[] = {h, q + 2 * g, q, h};
        for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
            add_matrix(&tensors, model->lora * sides[i] / tp, run->layers, true);
        }
        return tensors;
    }
    if (run->has_embedding) {
        add_matrix(&tensors, h * model->vocab / tp, 1, false);
        add_matrix(&tensors, h * model->seq, model->has_positions ? 1 : 0, false);
    }
    add_matrix(&tensors, h * (q + 2 * g) / tp, run->layers, true);
    add_matrix(&tensors, h * q / tp, run->layers, true);
    add_matrix(&tensors, (model->is_gated ? 2 : 1) * h * model->ffn / tp, run->layers * networks,
               true);
    add_matrix(&tensors, h * model->ffn / tp, run->layers * networks, true);
    if (run->has_head) { /* a tied one is the embedding's matrix */
        add_matrix(&tensors, h * model->vocab / tp, 1, false);
    }
    tensors.vectors += run->layers * (model->has_positions ? 8 : 2);
    tensors.vector_elements += run->layers * (model->has_positions ? 13 : 2) * h;
    return tensors;
}

/* Some collectives of a tensor, and the copies of its parts from or to the list: the host launches
 * one for each rank while those before it run. */
static void add_lists(struct ar_build *build, const struct ar_run *run,
                      const struct ar_operation *operation, double bytes, double times,
                      uint32_t views)
{
    uint32_t ranks = ar_layout_replicas(build->layout);
    if (ranks == 1 || !(times >= 1)) {
        return;
    }
    double moved_s = 2 * bytes * build->times->memory_s;
    double list_s = ranks * views * VIEW_S + fmax(ranks * COPY_S, moved_s);
    build_collective(build, run->stage, AR_STREAM_COMPUTE, operation, BUILD_REPLICAS, bytes,
                     (uint32_t)times, &run->action);
    build_compute(build, run->stage, times * list_s, build_duty(&run->action), &run->action);
}

static uint32_t zero3_lists_before(struct ar_build *build, const struct ar_run *run)
{
    const struct tensors tensors = list_tensors(build, run, false);
    bool is_again = (build->layout->recompute.modules & AR_AGAIN_LAYER) != 0 &&
                    build_again_layers(build, run) > 0; /* a run is one layer */
    double later = 0; /* parameters of layers that are used after this one */
    for (uint32_t i = tensors.count; i-- > 0;) {
        bool is_twice = is_again && tensors.is_of_layer[i] && 2 * later >= REUSE_MAX;
        double times = tensors.times[i] * (is_twice ? 2 : 1);
        double bytes = tensors.sizes[i] * ar_stored_bytes(build->layout->precision);
        add_lists(build, run, &ar_operation_all_gather, bytes, times, 1);
        if (ar_layout_replicas(build->layout) > 1) { /* its buffer is set to zero before */
            build_compute(build, run->stage, times * bytes * build->times->memory_s,
                          build_duty(&run->action), &run->action);
        }
        later += tensors.is_of_layer[i] ? tensors.sizes[i] * tensors.times[i] : 0;
    }
    return AR_NO_TASK;
}

/* A gradient is moved to a buffer and divided, two passes each, then reduce-scattered. */
static void scatter_gradient(struct ar_build *build, const struct ar_run *run, double elements,
                             double times)
{
    double bytes = elements * ar_precisions[build->layout->gradients].bytes;
    build_compute(build, run->stage, times * 4 * bytes * build->times->memory_s, AR_DUTY_BACKWARD,
                  &run->action);
    add_lists(build, run, &ar_operation_reduce_scatter, bytes, times, 2);
}

static void zero3_lists_after(struct ar_build *build, const struct ar_run *run, uint32_t task)
{
    (void)task;
    const struct tensors tensors = list_tensors(build, run, true);
    if (!run->action.is_backward || ar_layout_replicas(build->layout) == 1) {
        return;
    }
    for (uint32_t i = 0; i < tensors.count; i++) {
        scatter_gradient(build, run, tensors.sizes[i], tensors.times[i]);
    }
    if (tensors.vectors > 0) {
        scatter_gradient(build, run, tensors.vector_elements / tensors.vectors, tensors.vectors);
    }
}

static void zero3_lists_end(struct ar_build *build, uint32_t stage)
{
    (void)build_optimizer(build, stage, ar_layout_replicas(build->layout),
                          build_last(build, stage, AR_STREAM_COMPUTE));
}

const struct ar_strategy ar_strategy_zero3_lists = {
    .name = "zero3-lists",
    .title = "the same as DeepSpeed did it until 2021: matrix by matrix, rank by rank, not hidden",
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_all = true,
    .needs_transformer = true,
    .before = zero3_lists_before,
    .after = zero3_lists_after,
    .end = zero3_lists_end,
};
