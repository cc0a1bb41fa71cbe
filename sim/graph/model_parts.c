/* Strategies that put parts of one model on GPUs, which send them to each other. */
#include "ar_strategy.h"

/* --- star ---------------------------------------------------------------------------------------
 *
 * Star: a scheduler on GPU 0 and P workers, as the engine of STRADS (Lee et al., NIPS 2014; Kim et
 * al., EuroSys 2016). A step has K rounds. In each the scheduler sends every worker the b bytes of
 * parameters that are to be updated, each computes on its data and answers with as many. With D
 * rounds under way a round begins when the one D before has ended. One at a time, over hops
 * alpha + n / B:
 *
 *     round_s = 2 alpha + P b / B + t + b / B
 *
 * where b / B is the answer of the worker that was served last; without it 2 alpha + P b / B. */

static enum ar_status make_star(const struct ar_parts_request *request, struct ar_arena *arena,
                                struct ar_operators **operators, struct ar_error *err)
{
    uint64_t rounds = request->rounds;
    uint32_t workers = request->devices - 1, each = workers + 2;
    struct ar_operators *made;
    if (request->devices < 2) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found star on 1 GPU; expected a scheduler and at least one worker",
                            request->where);
    }
    AR_TRY(ar_operators_create(request->where, rounds * each, arena, &made, err));
    const struct ar_operator end = {.duty = AR_DUTY_OPTIMIZER};
    struct ar_operator begin = {.output_bytes = ar_trace_gradient_elements(request->trace) *
                                                request->element_bytes / rounds};
    struct ar_operator work = {.time_s = ar_trace_compute_s(request->trace) / (double)rounds,
                               .output_bytes = begin.output_bytes,
                               .duty = AR_DUTY_BACKWARD};
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t first = ar_operators_add(made, &begin);
        if (round >= request->depth) {
            ar_operators_need(made, first - request->depth * each + each - 1);
        }
        for (uint32_t i = 1; i <= workers; i++) {
            work.device = i;
            ar_operators_add(made, &work);
            ar_operators_need(made, first);
        }
        ar_operators_add(made, &end);
        for (uint32_t i = 1; i <= workers; i++) {
            ar_operators_need(made, first + i);
        }
    }
    *operators = made;
    return AR_OK;
}

const struct ar_strategy ar_strategy_star = {
    .name = "star",
    .title = "a scheduler sends workers what to update, round by round",
    .operators = make_star,
    .sends = "updates",
    .has_replicas = true,
    .schedulers = 1,
};

/* --- rotate -------------------------------------------------------------------------------------
 *
 * Rotation: W workers keep their data, and W parts of the parameters go round the ring of them, as
 * in STRADS (Kim et al., EuroSys 2016): nobody changes a parameter that another one works with. In
 * a step every part visits every worker. With D parts per worker, D of a W-th each, one is on its
 * way while another one is worked on. One at a time:
 *
 *     iteration_s = T + M / B + W alpha
 *
 * of T of computation and M bytes of parameters, over hops alpha + n / B. */

static enum ar_status make_rotation(const struct ar_parts_request *request, struct ar_arena *arena,
                                    struct ar_operators **operators, struct ar_error *err)
{
    uint64_t workers = request->devices, parts = workers * request->depth;
    uint64_t rounds = workers > 1 ? workers + 1 : 1; /* in the last one parts are home again */
    struct ar_operators *made;
    AR_TRY(ar_operators_create(request->where, rounds * parts, arena, &made, err));
    struct ar_operator visit = {.time_s = ar_trace_compute_s(request->trace) / (double)parts,
                                .output_bytes = ar_trace_gradient_elements(request->trace) *
                                                request->element_bytes / parts,
                                .duty = AR_DUTY_BACKWARD};
    for (uint64_t i = 0; i < rounds * parts; i++) {
        uint64_t round = i / parts, worker = i % workers;
        visit.device = (uint32_t)worker;
        visit.time_s = round < workers ? visit.time_s : 0;
        ar_operators_add(made, &visit);
        if (round > 0) { /* the part comes from the next worker */
            ar_operators_need(made, (uint32_t)(i - worker + (worker + 1) % workers - parts));
        }
    }
    *operators = made;
    return AR_OK;
}

const struct ar_strategy ar_strategy_rotate = {
    .name = "rotate",
    .title = "parts of the parameters go round a ring of workers",
    .operators = make_rotation,
    .sends = "blocks",
    .has_replicas = true,
};

/* --- partitioned --------------------------------------------------------------------------------
 *
 * One model over several GPUs. Of a file each operator lies where its placement says
 * (ar_operators.h). Of a trace the activations of every layer are cut into strips of rows, one on
 * each GPU, as in DistBelief (Dean et al., NIPS 2012) and on GPUs in COTS HPC (Coates et al., ICML
 * 2013): a layer whose kernel reaches over the border needs rows of both neighbours (a halo), the
 * classifier, which is cut by its outputs, all of its input. Kernels are shared by all strips, so
 * that their gradients are summed, in a ring, before the optimizer; those of the classifier lie
 * where they are used. Times of layers are divided by the strips: neither what a kernel takes at
 * least nor the statistics of batch norm over all strips count. */

/* The rows that an operator needs of the outputs of the one before it on other devices. */
enum reach { REACH_OWN, REACH_NEIGHBOURS, REACH_ALL };

struct strips {
    const struct ar_parts_request *request;
    struct ar_operators *operators;
    uint32_t before; /* the first of the last row of operators, one for each device */
};

static uint64_t bytes_of(const struct strips *strips, double elements)
{
    return (uint64_t)(elements * strips->request->trace->batch * strips->request->element_bytes);
}

/* The rows before send `bytes` to those that these reach. */
static void add_row(struct strips *strips, double time_s, enum ar_duty duty, enum reach reach,
                    uint64_t bytes)
{
    struct ar_operators *operators = strips->operators;
    uint32_t devices = strips->request->devices, first = operators->count;
    bool has_before = first > 0;
    for (uint32_t i = 0; has_before && i < devices; i++) {
        operators->list[strips->before + i].output_bytes = reach == REACH_OWN ? 0 : bytes;
    }
    for (uint32_t i = 0; i < devices; i++) {
        ar_operators_add(operators, &(struct ar_operator){
                                        .time_s = time_s / devices, .duty = duty, .device = i});
        for (uint32_t j = 0; has_before && j < devices; j++) {
            bool is_near = j == i || (reach == REACH_NEIGHBOURS && (j + 1 == i || i + 1 == j));
            if (is_near || reach == REACH_ALL) {
                ar_operators_need(operators, strips->before + j);
            }
        }
    }
    strips->before = first;
}

static bool has_kernel(const struct ar_layer_work *work)
{
    return work->kernel > 1 && work->stride > 0 &&
           work->kind != AR_LAYER_AVGPOOL; /* which takes the mean of all */
}

static double row_elements(uint64_t elements, uint32_t width)
{
    return width > 0 ? (double)elements / width : 0;
}

static void add_layer(struct strips *strips, uint32_t layer, enum ar_duty duty)
{
    const struct ar_parts_request *request = strips->request;
    const struct ar_layer_work *work = &request->work[layer];
    const struct ar_layer *of_trace = &request->trace->layers[layer];
    bool is_backward = duty == AR_DUTY_BACKWARD,
         is_last = layer + 1 == request->trace->layers_count;
    enum reach reach = REACH_OWN;
    double elements = 0;
    if (!is_backward && work->kind == AR_LAYER_FC) { /* every strip has a part of each mean */
        reach = REACH_ALL;
        elements = (double)work->input_elements;
    } else if (is_backward && !is_last && work[1].kind == AR_LAYER_FC) {
        reach = REACH_ALL; /* every part has sums of its outputs alone */
        elements = (double)work[1].input_elements;
    } else if (!is_backward && work->kind == AR_LAYER_LOSS) {
        reach = REACH_ALL;
        elements = (double)work->input_elements / request->devices;
    } else if (has_kernel(work) && !(is_backward && work->is_first)) {
        reach = REACH_NEIGHBOURS; /* which send a halo */
        elements = (is_backward ? row_elements(work->output_elements, work->width / work->stride)
                                : row_elements(work->input_elements, work->width)) *
                   (work->kernel / 2);
    }
    add_row(strips, is_backward ? of_trace->backward_s : of_trace->forward_s, duty, reach,
            bytes_of(strips, elements));
}

/* The gradients of what all strips share: a ring of 2 (p - 1) steps, then the optimizer. */
static void add_sums(struct strips *strips)
{
    const struct ar_parts_request *request = strips->request;
    uint32_t devices = request->devices;
    double shared = 0;
    for (uint32_t layer = 0; layer < request->trace->layers_count; layer++) {
        const struct ar_layer *at = &request->trace->layers[layer];
        for (uint32_t i = 0; request->work[layer].kind != AR_LAYER_FC && i < at->tensors_count;
             i++) {
            shared += (double)request->trace->tensor_elements[at->tensors_first + i];
        }
    }
    for (uint32_t step = 0; step < 2 * (devices - 1); step++) {
        uint32_t first = strips->operators->count;
        for (uint32_t i = 0; i < devices; i++) {
            uint32_t from = strips->before + (i + devices - 1) % devices;
            strips->operators->list[from].output_bytes =
                (uint64_t)(shared / devices) * request->element_bytes;
            ar_operators_add(strips->operators,
                             &(struct ar_operator){.duty = AR_DUTY_BACKWARD, .device = i});
            ar_operators_need(strips->operators, from);
            ar_operators_need(strips->operators, strips->before + i);
        }
        strips->before = first;
    }
    add_row(strips, request->trace->optimizer_s * devices, AR_DUTY_OPTIMIZER, REACH_OWN, 0);
}

static enum ar_status make_strips(const struct ar_parts_request *request, struct ar_arena *arena,
                                  struct ar_operators **operators, struct ar_error *err)
{
    struct strips strips = {.request = request};
    uint64_t devices = request->devices, layers = request->trace->layers_count;
    if (request->work == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found trace %s, which does not say what its layers hand on; "
                            "expected a table of their work, such as resnet50-v1.5, or --operators",
                            request->where, request->trace->name);
    }
    for (uint32_t i = 0; i < layers; i++) {
        const struct ar_layer_work *work = &request->work[i];
        if (has_kernel(work) && work->width / work->stride < devices) {
            return ar_error_set(err, AR_USAGE,
                                "%s: found %u GPUs for layer %s, whose output has %u rows; "
                                "expected a row for each GPU at least",
                                request->where, request->devices, request->trace->layers[i].name,
                                work->width / work->stride);
        }
    }
    uint64_t rows = 1 + 2 * layers + 2 * (devices - 1) + 1;
    AR_TRY(ar_operators_create(request->where, rows * devices, arena, &strips.operators, err));
    add_row(&strips, request->trace->step_overhead_s * (double)devices, AR_DUTY_FORWARD, REACH_OWN,
            0);
    for (uint32_t i = 0; i < layers; i++) {
        add_layer(&strips, i, AR_DUTY_FORWARD);
    }
    for (uint32_t i = (uint32_t)layers; i-- > 0;) {
        add_layer(&strips, i, AR_DUTY_BACKWARD);
    }
    add_sums(&strips);
    *operators = strips.operators;
    return AR_OK;
}

const struct ar_strategy ar_strategy_partitioned = {
    .name = "partitioned",
    .title = "one model over all GPUs: strips of its layers, or placed operators",
    .operators = make_strips,
    .sends = "messages",
    .takes_operators = true,
};
