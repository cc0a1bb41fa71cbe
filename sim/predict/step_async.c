#include <math.h>

#include "ar_draw.h"
#include "step_parts.h"

_Static_assert(AR_STALENESS_FREE == AR_ASYNC_FREE, "a strategy without bound is a run without");

/* --- what a worker computes and sends --------------------------------------------------------- */

static struct ar_async_slice *make_slices(struct ar_step *step, uint32_t count)
{
    struct ar_async_slice *slices = ar_arena_alloc(&step->memory, count, sizeof *slices);
    step->async.slices = slices;
    step->async.slices_count = count;
    return slices;
}

/* Gradients are there in the last part of the backward pass. */
static void set_times(struct ar_step *step, double forward_s, double backward_s, double last_s,
                      double optimizer_s)
{
    step->split = (struct ar_graph_split){.bubble_s = 0};
    step->split.duty_s[AR_DUTY_FORWARD] = forward_s;
    step->split.duty_s[AR_DUTY_BACKWARD] = backward_s;
    step->split.duty_s[AR_DUTY_OPTIMIZER] = optimizer_s;
    step->async.backward_s = last_s;
    step->async.forward_s = forward_s + backward_s - last_s + optimizer_s;
}

/* Buckets of a trace. Nobody negotiates about them. */
static enum ar_status slice_trace(struct ar_step *step, struct ar_error *err)
{
    const struct ar_workload_request request = {
        .trace = step->trace, .fusion = &step->fusion, .element_bytes = step_fused_bytes(step)};
    struct ar_workload *workload;
    AR_TRY(ar_workload_make(&request, &step->memory, &workload, err));
    struct ar_async_slice *slices = make_slices(step, workload->buckets_count);
    AR_NEED(slices, err, "the gradients of a step");
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        slices[i] = (struct ar_async_slice){
            .ready_s = workload->buckets[i].ready_s - workload->forward_end_s,
            .bytes = workload->buckets[i].elements * step->collective.element_bytes};
    }
    double backward_s = workload->backward_end_s - workload->forward_end_s;
    double optimizer_s = step->trace->optimizer_s;
    set_times(step, ar_trace_compute_s(step->trace) - backward_s - optimizer_s, backward_s,
              backward_s, optimizer_s);
    return AR_OK;
}

static double parameters_of(const struct ar_layout *layout, enum ar_transformer_part part)
{
    double experts = 0;
    double dense = ar_transformer_part_parameters(layout->model, 1, 1, part, &experts);
    return dense + experts;
}

/* A slice for each layer of a transformer, the first with the head, the last with the embedding; or
 * one for all. */
static enum ar_status slice_layout(struct ar_step *step, struct ar_error *err)
{
    const struct ar_layout *layout = &step->layout;
    const struct ar_part_times *times = &step->times;
    uint32_t layers = layout->model->layers;
    double batches = ar_layout_batches(layout);
    double forward_s = 0, backward_s = 0, parameters = 0;
    double gradient_bytes = ar_precision_bytes(layout->gradients);
    struct ar_async_slice *slices = make_slices(step, layers);
    AR_NEED(slices, err, "the gradients of a step");
    for (uint32_t i = 0; i < layers; i++) {
        double before = parameters;
        for (int p = 0; p < AR_PARTS_COUNT; p++) {
            enum ar_transformer_part part = (enum ar_transformer_part)p;
            bool is_in = part == AR_PART_LAYER || (part == AR_PART_HEAD && i == 0) ||
                         (part == AR_PART_EMBEDDING && i == layers - 1);
            forward_s += is_in ? times->forward_s[part] : 0;
            backward_s += is_in ? times->backward_s[part] : 0;
            parameters += is_in ? parameters_of(layout, part) : 0;
        }
        slices[i] = (struct ar_async_slice){
            .ready_s = backward_s, .bytes = (uint64_t)((parameters - before) * gradient_bytes)};
    }
    if (!layout->overlaps) {
        slices[0] = (struct ar_async_slice){.ready_s = backward_s,
                                            .bytes = (uint64_t)(parameters * gradient_bytes)};
        step->async.slices_count = 1;
    }
    set_times(step, batches * forward_s, batches * backward_s, backward_s,
              parameters * times->optimizer_s);
    return AR_OK;
}

/* --- how long workers take -------------------------------------------------------------------- */

static void apply_stragglers(const struct ar_step *step, double *factors)
{
    for (uint32_t i = 0; i < step->stragglers_count; i++) {
        factors[step->stragglers[i].rank] *= step->stragglers[i].factor;
    }
}

/* From GPUs to workers, in place: a worker is as slow as its slowest GPU. */
static void take_slowest(const struct ar_async *run, double *factors)
{
    for (uint32_t i = 0; i < run->workers; i++) {
        double slowest = 0;
        for (uint32_t j = 0; j < run->gpus_each; j++) {
            slowest = fmax(slowest, factors[(size_t)i * run->gpus_each + j]);
        }
        factors[i] = slowest;
    }
}

/* [step][worker]. */
static enum ar_status draw_factors(struct ar_step *step, struct ar_draw *draw, struct ar_error *err)
{
    struct ar_async *run = &step->async;
    uint32_t gpus = run->workers * run->gpus_each;
    double *factors = ar_arena_alloc(&step->memory, (size_t)run->steps_count * run->workers + gpus,
                                     sizeof *factors);
    AR_NEED(factors, err, "the jitter of a step");
    for (uint32_t i = 0; i < run->steps_count; i++) {
        double *own = factors + (size_t)i * run->workers; /* the next step's room is drawn over */
        ar_jitter_factors(draw, step->jitter_frac, gpus, own);
        apply_stragglers(step, own);
        take_slowest(run, own);
    }
    run->factors = factors;
    return AR_OK;
}

/* Times of units: lognormal, or Pareto of mean 1. */
static void draw_units(const struct ar_step *step, struct ar_draw *draw, uint32_t count,
                       double *factors)
{
    double tail = step->units.tail;
    if (tail == 0) {
        ar_jitter_factors(draw, step->jitter_frac, count, factors);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        factors[i] = (tail - 1) / tail * pow(1 - ar_draw_uniform(draw, 0, 1), -1 / tail);
    }
}

/* Workers compute for as long as they have units, and push the sum of what they found. */
static enum ar_status deal(struct ar_step *step, struct ar_draw *draw, struct ar_error *err)
{
    struct ar_async *run = &step->async;
    uint32_t draws = step->units.count * AR_UNIT_COPIES;
    double *factors =
        ar_arena_alloc(&step->memory, (size_t)run->steps_count * run->workers, sizeof *factors);
    uint32_t gpus = run->workers * run->gpus_each;
    double *speeds = ar_arena_alloc(&step->memory, gpus, sizeof *speeds);
    double *times = ar_arena_alloc(&step->memory, draws, sizeof *times);
    double *ends_s = ar_arena_alloc(&step->memory, run->workers, sizeof *ends_s);
    struct ar_async_slice *all = make_slices(step, 1);
    AR_NEED(factors && speeds && times && ends_s && all, err, "the units of a step");
    for (uint32_t i = 0; i < gpus; i++) {
        speeds[i] = 1;
    }
    apply_stragglers(step, speeds);
    take_slowest(run, speeds);
    struct ar_work_units pass = {.workers = run->workers,
                                 .units = step->units.count,
                                 .unit_s = run->forward_s + run->backward_s,
                                 .deal_s = ar_async_deal_s(run),
                                 .has_backups = step->units.has_backups,
                                 .factors = times,
                                 .speeds = speeds,
                                 .end_s = ends_s};
    step->units.backups_count = step->units.won_count = 0;
    for (uint32_t i = 0; i < run->steps_count; i++) {
        draw_units(step, draw, draws, times);
        AR_TRY(ar_work_units_deal(&pass, err));
        step->units.backups_count += pass.backups_count;
        step->units.won_count += pass.won_count;
        for (uint32_t j = 0; j < run->workers; j++) {
            factors[(size_t)i * run->workers + j] = ends_s[j] / pass.unit_s;
        }
    }
    *all = (struct ar_async_slice){.ready_s = pass.unit_s, .bytes = step->payload_bytes};
    run->forward_s = 0;
    run->backward_s = pass.unit_s;
    run->factors = factors;
    return AR_OK;
}

static enum ar_status make_factors(struct ar_step *step, struct ar_error *err)
{
    struct ar_draw *draw;
    bool deals = step->layout.strategy->deals_units;
    if (!deals && step->jitter_frac == 0 && step->stragglers_count == 0) {
        return AR_OK;
    }
    AR_TRY(ar_draw_create(step->seed, NULL, &step->memory, &draw, err));
    return deals ? deal(step, draw, err) : draw_factors(step, draw, err);
}

/* Workers that do not wait for each other begin as their programs do. */
static enum ar_status scatter_starts(struct ar_step *step, struct ar_error *err)
{
    struct ar_draw *draw;
    struct ar_async *run = &step->async;
    if (!ar_async_is_loose(run)) {
        return AR_OK;
    }
    double *starts_s = ar_arena_alloc(&step->memory, run->workers, sizeof *starts_s);
    AR_NEED(starts_s, err, "the starts of workers");
    AR_TRY(ar_draw_create(step->seed, "starts", &step->memory, &draw, err));
    for (uint32_t i = 0; i < run->workers; i++) {
        starts_s[i] = ar_draw_uniform(draw, 0, run->every * (run->forward_s + run->backward_s));
    }
    run->starts_s = starts_s;
    return AR_OK;
}

/* --- workers of several GPUs ------------------------------------------------------------------ */

/* A collective of the GPUs of a worker. */
static enum ar_status time_within(const struct ar_step *step, const struct ar_operation *operation,
                                  uint64_t bytes, double *time_s, struct ar_error *err)
{
    struct ar_call_time time;
    struct ar_trial trial = {.collective = step->collective, .jobs_count = 1, .times = &time};
    struct ar_collective *collective = &trial.collective;
    const struct ar_call job = {.elements = bytes / collective->element_bytes};
    trial.jobs = &job;
    collective->operation = operation;
    collective->mesh = (struct ar_mesh){.axes_count = 0};
    for (size_t i = ar_algorithms_count; i-- > 0;) {
        collective->algorithm =
            ar_algorithms[i]->operation == operation ? ar_algorithms[i] : collective->algorithm;
    }
    uint32_t gpus = step->async.gpus_each;
    collective->shape = ar_algorithm_default_shape(collective->algorithm, gpus, gpus);
    AR_TRY(ar_trial_run(&trial, step->engine, err));
    *time_s = time.finish_s - time.start_s;
    return AR_OK;
}

/* Gradients are summed by a reduce-scatter, parameters handed out by an all-gather. */
static enum ar_status time_sums(struct ar_step *step, struct ar_error *err)
{
    uint32_t count = step->async.slices_count;
    const struct ar_async_slice *even = step->async.slices;
    if (step->async.gpus_each == 1) {
        return AR_OK;
    }
    struct ar_async_slice *slices = make_slices(step, count);
    AR_NEED(slices, err, "the gradients of a step");
    for (uint32_t i = 0; i < count; i++) {
        slices[i] = even[i];
        AR_TRY(time_within(step, &ar_operation_reduce_scatter, slices[i].bytes, &slices[i].sum_s,
                           err));
        AR_TRY(
            time_within(step, &ar_operation_all_gather, slices[i].bytes, &slices[i].hand_s, err));
    }
    return AR_OK;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void fill(struct ar_step *step)
{
    const struct ar_async *run = &step->async;
    struct ar_async_split split = ar_async_split_mean(run);
    double rounds = step->layout.strategy->deals_units ? step->units.count : run->workers;
    double batches = rounds * run->gpus_each;
    step->iteration_s = ar_async_iteration_s(run);
    step->iteration_ci95_s = NAN;
    step->compute_s = split.compute_s;
    step->exposed_s = split.push_s + split.pull_s;
    step->bubble_s = split.wait_s;
    step->split.bubble_s = split.wait_s;
    step->split.axis_s[AR_AXIS_DP] = step->exposed_s;
    double even_s = 0;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        even_s += step->split.duty_s[i];
    }
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        step->split.duty_s[i] *= split.compute_s / even_s;
    }
    step->bubble_frac = split.wait_s / split.compute_s;
    step->allreduce_s = step->copy_s = step->contention_s = NAN;
    step->statistics_s = step->input_wait_s = 0;
    step->samples_per_s =
        step->trace != NULL ? batches * step->trace->batch / step->iteration_s : NAN;
    step->messages_count = run->messages_count / run->steps_count;
    bool is_alike = run->servers_at == AR_SERVERS_AT_NODES && run->slices_count == 1;
    step->exact = step->engine->is_simulation || is_alike;
    step->wall_s = run->wall_s;
}

enum ar_status step_async_run(struct ar_step *step, struct ar_error *err)
{
    struct ar_async *run = &step->async;
    run->cluster = step->collective.cluster;
    run->workers = ar_step_ranks(step) / run->gpus_each;
    run->steps_count = (step->iterations_count + run->every - 1) / run->every * run->every;
    AR_TRY(step->trace != NULL ? slice_trace(step, err) : slice_layout(step, err));
    step->payload_bytes = 0;
    for (uint32_t i = 0; i < run->slices_count; i++) {
        step->payload_bytes += run->slices[i].bytes;
    }
    AR_TRY(make_factors(step, err));
    AR_TRY(scatter_starts(step, err));
    AR_TRY(time_sums(step, err));
    AR_TRY(ar_async_prepare(run, &step->memory, err));
    AR_TRY(step->engine->is_simulation ? ar_async_run_actors(run, err)
                                       : ar_async_run_events(run, err));
    fill(step);
    return AR_OK;
}
