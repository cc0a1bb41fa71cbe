/* Strategies that put parts of one model on GPUs, which send them to each other. */
#include <math.h>

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
    AR_REFUSE(request->devices < 2, err, AR_USAGE,
              "%s: found star on 1 GPU; expected a scheduler and at least one worker",
              request->where);
    AR_TRY(ar_operators_create(request->where, rounds * each, arena, &made, err));
    const struct ar_operator end = {.duty = AR_DUTY_OPTIMIZER};
    struct ar_operator begin = {
        .output_bytes =
            ar_precision_fill(request->sent, ar_trace_gradient_elements(request->trace)) / rounds};
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
    struct ar_operator visit = {
        .time_s = ar_trace_compute_s(request->trace) / (double)parts,
        .output_bytes =
            ar_precision_fill(request->sent, ar_trace_gradient_elements(request->trace)) / parts,
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
 * One model lies on several GPUs. Each operator of a file lies where its placement says
 * (ar_operators.h). The activations of every layer of a trace are cut into tiles, one on each GPU,
 * as in DistBelief (Dean et al., NIPS 2012) and on GPUs in COTS HPC (Coates et al., ICML 2013):
 * strips of rows while every strip is as tall as what its neighbours need of it, else a grid as
 * square as their number allows. A layer whose kernel reaches over a border needs rows and columns
 * of other tiles (a halo); a message is as large as that across the longer border, corners
 * included. A classifier is cut by its outputs, and needs all of its input. Kernels that all tiles
 * share have gradients that are summed, in a ring, before the optimizer; weights of fully and of
 * locally connected layers lie where they are used. Times of layers are divided by the tiles:
 * neither what a kernel takes at least nor the statistics of batch norm over all tiles count. */

/* The tiles of the layer before whose outputs a tile needs: its own, and those that lie up to so
 * many rows or columns away, or all. */
struct reach {
    uint32_t down, across;
    bool is_all;
};

struct tiles {
    const struct ar_parts_request *request;
    struct ar_operators *operators;
    uint32_t down, across; /* tiles of a column, of a row */
    uint32_t before;       /* the first of the last layer's operators, one for each device */
};

static uint32_t count_between(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The tiles before send `bytes` to those that these reach. `op` is one tile's. */
static void add_tiles(struct tiles *tiles, struct ar_operator op, const struct reach *reach,
                      uint64_t bytes)
{
    struct ar_operators *operators = tiles->operators;
    uint32_t devices = tiles->request->devices, first = operators->count;
    bool has_before = first > 0, is_sent = reach->is_all || reach->down > 0 || reach->across > 0;
    for (uint32_t i = 0; has_before && i < devices; i++) {
        operators->list[tiles->before + i].output_bytes = is_sent ? bytes : 0;
    }
    for (uint32_t i = 0; i < devices; i++) {
        op.device = i;
        ar_operators_add(operators, &op);
        for (uint32_t j = 0; has_before && j < devices; j++) {
            /* Corners come with the message of the tile between. */
            uint32_t down = count_between(i / tiles->across, j / tiles->across);
            uint32_t across = count_between(i % tiles->across, j % tiles->across);
            if (reach->is_all || (across == 0 && down <= reach->down) ||
                (down == 0 && across <= reach->across)) {
                ar_operators_need(operators, tiles->before + j);
            }
        }
    }
    tiles->before = first;
}

static bool has_kernel(const struct ar_layer_work *work)
{
    return work->kernel > 1 && work->stride > 0 &&
           work->kind != AR_LAYER_AVGPOOL; /* which takes the mean of all */
}

/* Whether all tiles have the weights of a layer. */
static bool is_shared(const struct ar_layer_work *work)
{
    return work->kind != AR_LAYER_FC && work->kind != AR_LAYER_LOCAL;
}

/* Elements of a message of `halo` rows or columns of an activation of `width`, and their tiles. */
static double halo_elements(const struct tiles *tiles, double elements, uint32_t width,
                            uint32_t halo, struct reach *reach)
{
    double rows = (double)width / tiles->down, columns = (double)width / tiles->across;
    double down = tiles->down > 1 ? fmin(halo, rows) : 0;
    double across = tiles->across > 1 ? fmin(halo, columns) : 0;
    reach->down = tiles->down > 1 ? (uint32_t)ceil(halo / rows) : 0;
    reach->across = tiles->across > 1 ? (uint32_t)ceil(halo / columns) : 0;
    double pixels = fmax(down * (columns + across), across * (rows + down));
    return width > 0 ? elements / width * (pixels / width) : 0;
}

/* Weights and gradients of a tile, and the activations that are kept for the backward pass. */
static uint64_t tile_bytes(const struct tiles *tiles, uint32_t layer)
{
    const struct ar_parts_request *request = tiles->request;
    const struct ar_layer_work *work = &request->work[layer];
    double weights = 2 * (double)ar_trace_layer_elements(request->trace, layer);
    bool is_kept = ar_layer_has_macs(work->kind) || work->kind == AR_LAYER_RELU;
    double kept = is_kept ? (double)work->output_elements * request->trace->batch : 0;
    double whole = is_shared(work) ? weights : weights / request->devices;
    return (uint64_t)((whole + kept / request->devices) *
                      ar_stored_bytes(request->trace->precision));
}

static void add_tile(struct tiles *tiles, uint32_t layer, enum ar_duty duty)
{
    const struct ar_parts_request *request = tiles->request;
    const struct ar_layer_work *work = &request->work[layer];
    const struct ar_layer *of_trace = &request->trace->layers[layer];
    bool is_backward = duty == AR_DUTY_BACKWARD,
         is_last = layer + 1 == request->trace->layers_count;
    /* A mean over all places: every tile has a part of it. */
    bool is_mean = is_backward ? work->kind == AR_LAYER_AVGPOOL
                               : layer > 0 && work[-1].kind == AR_LAYER_AVGPOOL;
    struct reach reach = {0, 0, false};
    double elements = 0;
    if (!is_backward && work->kind == AR_LAYER_FC) {
        reach.is_all = true;
        elements = (double)work->input_elements / (is_mean ? 1 : request->devices);
    } else if (is_backward && !is_last && work[1].kind == AR_LAYER_FC) {
        reach.is_all = true; /* every part has sums of its outputs alone */
        elements = (double)work[1].input_elements / (is_mean ? 1 : request->devices);
    } else if (!is_backward && work->kind == AR_LAYER_LOSS) {
        reach.is_all = true;
        elements = (double)work->input_elements / request->devices;
    } else if (has_kernel(work) && !(is_backward && work->is_first)) {
        elements = is_backward ? halo_elements(tiles, (double)work->output_elements,
                                               work->width / work->stride, work->kernel / 2, &reach)
                               : halo_elements(tiles, (double)work->input_elements, work->width,
                                               work->kernel / 2, &reach);
    }
    const struct ar_operator op = {
        .time_s = (is_backward ? of_trace->backward_s : of_trace->forward_s) / request->devices,
        .memory_bytes = is_backward ? 0 : tile_bytes(tiles, layer),
        .duty = duty};
    add_tiles(tiles, op, &reach,
              (uint64_t)(elements * tiles->request->trace->batch *
                         ar_precisions[tiles->request->sent].bytes));
}

/* The gradients of what all tiles share: a ring of 2 (p - 1) steps, if there are any; then each
 * updates the parameters that it has. */
static void add_sums(struct tiles *tiles)
{
    const struct ar_parts_request *request = tiles->request;
    uint32_t devices = request->devices;
    double shared = 0, all = (double)ar_trace_gradient_elements(request->trace);
    for (uint32_t layer = 0; layer < request->trace->layers_count; layer++) {
        shared += is_shared(&request->work[layer])
                      ? (double)ar_trace_layer_elements(request->trace, layer)
                      : 0;
    }
    for (uint32_t step = 0; shared > 0 && step < 2 * (devices - 1); step++) {
        uint32_t first = tiles->operators->count;
        for (uint32_t i = 0; i < devices; i++) {
            uint32_t from = tiles->before + (i + devices - 1) % devices;
            tiles->operators->list[from].output_bytes =
                ar_precision_fill(request->sent, (uint64_t)(shared / devices));
            ar_operators_add(tiles->operators,
                             &(struct ar_operator){.duty = AR_DUTY_BACKWARD, .device = i});
            ar_operators_need(tiles->operators, from);
            ar_operators_need(tiles->operators, tiles->before + i);
        }
        tiles->before = first;
    }
    double held = shared + (all - shared) / devices;
    const struct ar_operator optimizer = {.time_s = request->trace->optimizer_s * held / all,
                                          .duty = AR_DUTY_OPTIMIZER};
    add_tiles(tiles, optimizer, &(struct reach){0, 0, false}, 0);
}

/* The layer whose output has the fewest rows of those that have a kernel, and the most strips of
 * which each is as tall as what its neighbours need of it. */
static uint32_t fewest_rows(const struct ar_parts_request *request, uint32_t *layer,
                            uint32_t *strips)
{
    uint32_t fewest = UINT32_MAX;
    *strips = UINT32_MAX;
    for (uint32_t i = 0; i < request->trace->layers_count; i++) {
        const struct ar_layer_work *work = &request->work[i];
        if (has_kernel(work)) {
            uint32_t rows = work->width / work->stride, most = rows / (work->kernel / 2);
            *layer = rows < fewest ? i : *layer;
            fewest = rows < fewest ? rows : fewest;
            *strips = most < *strips ? most : *strips;
        }
    }
    return fewest;
}

static enum ar_status choose_tiles(struct tiles *tiles, struct ar_error *err)
{
    const struct ar_parts_request *request = tiles->request;
    uint32_t layer = 0, strips, fewest = fewest_rows(request, &layer, &strips);
    uint32_t devices = request->devices;
    tiles->across = 1;
    for (uint32_t i = 2; devices > strips && (uint64_t)i * i <= devices; i++) {
        tiles->across = devices % i == 0 ? i : tiles->across;
    }
    tiles->down = devices / tiles->across;
    AR_REFUSE(tiles->down > fewest, err, AR_USAGE,
              "%s: found %u GPUs, at best %u x %u tiles, for layer %s, whose output has %u rows; "
              "expected a row for each tile at least",
              request->where, devices, tiles->down, tiles->across,
              request->trace->layers[layer].name, fewest);
    return AR_OK;
}

static enum ar_status make_tiles(const struct ar_parts_request *request, struct ar_arena *arena,
                                 struct ar_operators **operators, struct ar_error *err)
{
    struct tiles tiles = {.request = request};
    uint64_t devices = request->devices, layers = request->trace->layers_count;
    AR_REFUSE(request->work == NULL, err, AR_USAGE,
              "%s: found trace %s, which does not say what its layers hand on; expected a table of "
              "their work, such as resnet50-v1.5, or --operators",
              request->where, request->trace->name);
    AR_TRY(choose_tiles(&tiles, err));
    uint64_t rows = 1 + 2 * layers + 2 * (devices - 1) + 1;
    AR_TRY(ar_operators_create(request->where, rows * devices, arena, &tiles.operators, err));
    if (tiles.across > 1) {
        tiles.operators->cut = ar_arena_format(arena, "tiles=%ux%u", tiles.down, tiles.across);
    }
    const struct ar_operator overhead = {.time_s = request->trace->step_overhead_s,
                                         .duty = AR_DUTY_FORWARD};
    add_tiles(&tiles, overhead, &(struct reach){0, 0, false}, 0);
    for (uint32_t i = 0; i < layers; i++) {
        add_tile(&tiles, i, AR_DUTY_FORWARD);
    }
    for (uint32_t i = (uint32_t)layers; i-- > 0;) {
        add_tile(&tiles, i, AR_DUTY_BACKWARD);
    }
    add_sums(&tiles);
    *operators = tiles.operators;
    return AR_OK;
}

const struct ar_strategy ar_strategy_partitioned = {
    .name = "partitioned",
    .title = "one model over all GPUs: strips or tiles of its layers, or placed operators",
    .operators = make_tiles,
    .sends = "messages",
    .takes_operators = true,
};
