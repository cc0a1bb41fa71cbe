/* A step of a strategy with servers: workers exchange with parameter servers, each as it gets round
 * to it. There is no graph, but an asynchronous run (ar_async.h). */
#include <inttypes.h>
#include <math.h>

#include "ar_draw.h"
#include "ar_row.h"
#include "kinds.h"

enum { STEPS_STANDARD = 20, UNITS_STANDARD = 10 };

bool ar_scenario_draws(const struct ar_scenario *scenario)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    const struct ar_async run = {.staleness = scenario->async.staleness,
                                 .every = scenario->async.every};
    bool is_loose = strategy != NULL && strategy->is_asynchronous && ar_async_is_loose(&run);
    return scenario->jitter_frac > 0 || is_loose || (strategy != NULL && strategy->deals_units);
}

static enum ar_status servers_load(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_layout *layout = &scenario->layout;
    AR_TRY(ar_scenario_kind(scenario)->has_layout ? transformer_load(scenario, err)
                                                  : trace_load_buckets(scenario, err));
    bool is_split = layout->model != NULL && layout->sizes[AR_AXIS_DP] != ar_layout_gpus(layout);
    const struct ar_key_check checks[] = {
        {ar_scenario_has(scenario, AR_KEY_ALGORITHM), AR_KEY_ALGORITHM,
         "none where workers send to servers"},
        {ar_scenario_has(scenario, AR_KEY_SHAPE), AR_KEY_SHAPE,
         "none where workers send to servers"},
        {!ar_engine_has_timeline(scenario->engine), AR_KEY_ENGINE,
         "recurrence or simgrid, which say when ranks do what"},
        {is_split, AR_KEY_MESH, "dp alone, since each GPU is a worker with all parameters"},
    };
    AR_TRY(ar_scenario_check_strategy(scenario, checks, sizeof checks / sizeof checks[0], err));
    if (!ar_scenario_has(scenario, AR_KEY_ITERATIONS)) {
        scenario->iterations_count = STEPS_STANDARD;
    }
    scenario->algorithm = &ar_algorithm_ring; /* of the node that is 100 % */
    return scenario->gpus > 0 ? ar_scenario_settle_servers(scenario, err) : AR_OK;
}

/* The run, and the units, with what follows where no key says; `gpus` is set. */
static struct ar_async scenario_async(const struct ar_scenario *scenario)
{
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    struct ar_async run = scenario->async;
    run.cluster = scenario->cluster;
    run.gpus_each = 1;
    if (run.worker == AR_WORKER_NODE) {
        run.gpus_each = scenario->gpus < per_node ? scenario->gpus : per_node;
    }
    run.workers = scenario->gpus / run.gpus_each;
    if (!ar_scenario_has(scenario, AR_KEY_SERVERS)) {
        run.servers = (scenario->gpus - 1) / per_node + 1;
    }
    return run;
}

static struct ar_units scenario_units(const struct ar_scenario *scenario)
{
    struct ar_units units = scenario->units;
    if (!ar_scenario_has(scenario, AR_KEY_UNITS)) {
        units.count = UNITS_STANDARD * scenario_async(scenario).workers;
    }
    return units;
}

enum ar_status ar_scenario_settle_servers(struct ar_scenario *scenario, struct ar_error *err)
{
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    scenario->shape = (struct ar_shape){.x = scenario->gpus, .y = 1};
    const struct ar_origin *origin = &scenario->origins[AR_KEY_SERVERS];
    const struct ar_async run = scenario_async(scenario);
    AR_SCENARIO_REFUSE(scenario->gpus % run.gpus_each != 0, scenario, AR_KEY_WORKER, err,
                       "found node with %" PRIu32 " GPUs; expected whole nodes of %" PRIu32,
                       scenario->gpus, run.gpus_each);
    return ar_error_blame(ar_async_check(ar_scenario_where(scenario, AR_KEY_SERVERS), &run, err),
                          origin->where != NULL ? origin->status : AR_USAGE, err);
}

static void servers_note(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_async run = scenario_async(scenario);
    if (scenario->trace != NULL) {
        ar_note_trace(notes, scenario);
    } else {
        transformer_note(notes, scenario);
    }
    ar_note(notes,
            "%" PRIu32 " worker%s, one on each %s (--worker); %" PRIu32 " server%s (--servers) at "
            "%s (--servers-at), which add and store in no time; the optimizer's time counts at the "
            "workers; means of %" PRIu32 " steps (--iterations)",
            run.workers, run.workers == 1 ? "" : "s", ar_worker_names[run.worker], run.servers,
            run.servers == 1 ? "" : "s", ar_servers_at_names[run.servers_at],
            scenario->iterations_count);
    if (scenario->layout.strategy->deals_units) {
        ar_note(notes,
                "%" PRIu32 " units of a batch each (--units), %s (--backups); a step ends when "
                "all workers have pushed and pulled",
                scenario_units(scenario).count,
                scenario->units.has_backups ? "the slowest are done twice" : "none is done twice");
    } else if (ar_async_is_loose(&run)) {
        ar_note(notes, "workers begin scattered over the computation of %s, drawn from --seed",
                run.every == 1 ? "a step" : "an exchange");
    }
}

_Static_assert(AR_STALENESS_FREE == AR_ASYNC_FREE, "a strategy without bound is a run without");

/* --- what a worker computes and sends --------------------------------------------------------- */

static struct ar_async_slice *make_slices(struct ar_timing *timing, uint32_t count)
{
    struct ar_async_slice *slices = ar_arena_alloc(timing->arena, count, sizeof *slices);
    timing->async.slices = slices;
    timing->async.slices_count = count;
    return slices;
}

/* Gradients are there in the last part of the backward pass. */
static void set_times(struct ar_timing *timing, double forward_s, double backward_s, double last_s,
                      double optimizer_s)
{
    timing->split.duty_s[AR_DUTY_FORWARD] = forward_s;
    timing->split.duty_s[AR_DUTY_BACKWARD] = backward_s;
    timing->split.duty_s[AR_DUTY_OPTIMIZER] = optimizer_s;
    timing->async.backward_s = last_s;
    timing->async.forward_s = forward_s + backward_s - last_s + optimizer_s;
}

/* Buckets of a trace. Nobody negotiates about them. */
static enum ar_status slice_trace(const struct ar_job *job, struct ar_timing *timing,
                                  struct ar_error *err)
{
    const struct ar_workload_request request = {
        .trace = job->trace, .fusion = &job->fusion, .element_bytes = job->fused_bytes};
    struct ar_workload *workload;
    AR_TRY(ar_workload_make(&request, timing->arena, &workload, err));
    struct ar_async_slice *slices = make_slices(timing, workload->buckets_count);
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        slices[i] = (struct ar_async_slice){
            .ready_s = workload->buckets[i].ready_s - workload->forward_end_s,
            .bytes = ar_precision_fill(job->layout.gradients, workload->buckets[i].elements)};
    }
    double backward_s = workload->backward_end_s - workload->forward_end_s;
    double optimizer_s = job->trace->optimizer_s;
    set_times(timing, ar_trace_compute_s(job->trace) - backward_s - optimizer_s, backward_s,
              backward_s, optimizer_s);
    return AR_OK;
}

/* A slice for each layer of a transformer, first with head, last with embedding; or one for all. */
static void slice_layout(const struct ar_job *job, struct ar_timing *timing)
{
    const struct ar_layout *layout = &timing->layout;
    const struct ar_part_times *times = &job->times;
    uint32_t layers = layout->model->layers;
    double batches = ar_layout_batches(layout);
    double forward_s = 0, backward_s = 0, parameters = 0;
    double gradient_bytes = ar_precisions[layout->gradients].bytes;
    struct ar_async_slice *slices = make_slices(timing, layers);
    for (uint32_t i = 0; i < layers; i++) {
        double before = parameters;
        for (int p = 0; p < AR_PARTS_COUNT; p++) {
            enum ar_transformer_part part = (enum ar_transformer_part)p;
            bool is_in = part == AR_PART_LAYER || (part == AR_PART_HEAD && i == 0) ||
                         (part == AR_PART_EMBEDDING && i == layers - 1);
            forward_s += is_in ? times->forward_s[part] : 0;
            bool is_again =
                part == AR_PART_LAYER && layers - 1 - i < ar_layout_again_layers(layout, 0);
            backward_s += is_again ? times->again_s : is_in ? times->backward_s[part] : 0;
            double experts = 0;
            double dense = ar_transformer_trained_parameters(layout->model, 1, 1, part, &experts);
            parameters += is_in ? dense + experts : 0;
        }
        slices[i] = (struct ar_async_slice){
            .ready_s = backward_s, .bytes = (uint64_t)ceil((parameters - before) * gradient_bytes)};
    }
    if (!layout->overlaps) {
        slices[0] = (struct ar_async_slice){.ready_s = backward_s,
                                            .bytes = (uint64_t)(parameters * gradient_bytes)};
        timing->async.slices_count = 1;
    }
    set_times(timing, batches * forward_s, batches * backward_s, backward_s,
              parameters * times->optimizer_s);
}

/* --- how long workers take -------------------------------------------------------------------- */

/* Slows down the GPUs that are stragglers, and makes factors of GPUs, in place, those of workers: a
 * worker is as slow as its slowest GPU. */
static void find_worker_factors(const struct ar_job *job, const struct ar_async *run,
                                double *factors)
{
    for (uint32_t i = 0; i < job->stragglers_count; i++) {
        factors[job->stragglers[i].rank] *= job->stragglers[i].factor;
    }
    for (uint32_t i = 0; i < run->workers; i++) {
        double slowest = 0;
        for (uint32_t j = 0; j < run->gpus_each; j++) {
            slowest = fmax(slowest, factors[(size_t)i * run->gpus_each + j]);
        }
        factors[i] = slowest;
    }
}

/* Workers compute for as long as they have units, and push the sum of what they found. */
static void deal_units(const struct ar_job *job, struct ar_timing *timing, struct ar_draw *draw)
{
    struct ar_async *run = &timing->async;
    uint32_t draws = timing->units.count * AR_UNIT_COPIES;
    double tail = timing->units.tail; /* of Pareto times; else they are lognormal */
    double *factors =
        ar_arena_alloc(timing->arena, (size_t)run->steps_count * run->workers, sizeof *factors);
    uint32_t gpus = run->workers * run->gpus_each;
    double *speeds = ar_arena_alloc(timing->arena, gpus, sizeof *speeds);
    double *times = ar_arena_alloc(timing->arena, draws, sizeof *times);
    double *ends_s = ar_arena_alloc(timing->arena, run->workers, sizeof *ends_s);
    struct ar_async_slice *all = make_slices(timing, 1);
    for (uint32_t i = 0; i < gpus; i++) {
        speeds[i] = 1;
    }
    find_worker_factors(job, run, speeds);
    struct ar_work_units pass = {.workers = run->workers,
                                 .units = timing->units.count,
                                 .unit_s = run->forward_s + run->backward_s,
                                 .deal_s = ar_async_deal_s(run),
                                 .has_backups = timing->units.has_backups,
                                 .factors = times,
                                 .speeds = speeds,
                                 .end_s = ends_s};
    for (uint32_t i = 0; i < run->steps_count; i++) {
        if (tail == 0) {
            ar_jitter_factors(draw, job->jitter_frac, draws, times);
        }
        for (uint32_t j = 0; j < draws && tail > 0; j++) { /* of mean 1 */
            times[j] = (tail - 1) / tail * pow(1 - ar_draw_uniform(draw, 0, 1), -1 / tail);
        }
        ar_work_units_deal(&pass);
        timing->units.backups_count += pass.backups_count;
        timing->units.won_count += pass.won_count;
        for (uint32_t j = 0; j < run->workers; j++) {
            factors[(size_t)i * run->workers + j] = ends_s[j] / pass.unit_s;
        }
    }
    *all = (struct ar_async_slice){.ready_s = pass.unit_s, .bytes = timing->payload_bytes};
    run->forward_s = 0;
    run->backward_s = pass.unit_s;
    run->factors = factors;
}

/* --- workers of several GPUs ------------------------------------------------------------------ */

/* A collective of the GPUs of a worker. */
static enum ar_status time_within(const struct ar_job *job, const struct ar_timing *timing,
                                  const struct ar_operation *operation, uint64_t bytes,
                                  double *time_s, struct ar_error *err)
{
    struct ar_call_time time;
    struct ar_trial trial = {.collective = job->collective, .calls_count = 1, .times = &time};
    struct ar_collective *collective = &trial.collective;
    const struct ar_call call = {.elements = bytes / collective->element_bytes};
    trial.calls = &call;
    collective->operation = operation;
    collective->mesh = (struct ar_mesh){.axes_count = 0};
    collective->algorithm = ar_engine_algorithm(job->engine, operation);
    uint32_t gpus = timing->async.gpus_each;
    collective->shape = ar_algorithm_default_shape(collective->algorithm, gpus, gpus);
    AR_TRY(ar_trial_run(&trial, job->engine, err));
    *time_s = time.finish_s - time.start_s;
    return AR_OK;
}

/* --- the run ---------------------------------------------------------------------------------- */

enum ar_status servers_run(const struct ar_job *job, struct ar_timing *timing, struct ar_error *err)
{
    struct ar_async *run = &timing->async;
    *run = job->async;
    timing->units = job->units;
    run->cluster = job->collective.cluster;
    run->workers = ar_job_ranks(job) / run->gpus_each;
    run->steps_count = (job->iterations_count + run->every - 1) / run->every * run->every;
    if (job->trace != NULL) {
        AR_TRY(slice_trace(job, timing, err));
    } else {
        slice_layout(job, timing);
    }
    for (uint32_t i = 0; i < run->slices_count; i++) {
        timing->payload_bytes += run->slices[i].bytes;
    }
    bool deals = timing->layout.strategy->deals_units;
    struct ar_draw *draw = ar_draw_create(job->seed, NULL, timing->arena);
    if (deals) {
        deal_units(job, timing, draw);
    } else if (job->jitter_frac > 0 || job->stragglers_count > 0) { /* factors [step][worker] */
        uint32_t gpus = run->workers * run->gpus_each;
        double *factors = ar_arena_alloc(
            timing->arena, (size_t)run->steps_count * run->workers + gpus, sizeof *factors);
        for (uint32_t i = 0; i < run->steps_count; i++) {
            double *own =
                factors + (size_t)i * run->workers; /* the next step's room is drawn over */
            ar_jitter_factors(draw, job->jitter_frac, gpus, own);
            find_worker_factors(job, run, own);
        }
        run->factors = factors;
    }
    if (ar_async_is_loose(run)) { /* workers that do not wait for each other begin as programs do */
        double *starts_s = ar_arena_alloc(timing->arena, run->workers, sizeof *starts_s);
        struct ar_draw *scatter = ar_draw_create(job->seed, "starts", timing->arena);
        for (uint32_t i = 0; i < run->workers; i++) {
            starts_s[i] =
                ar_draw_uniform(scatter, 0, run->every * (run->forward_s + run->backward_s));
        }
        run->starts_s = starts_s;
    }
    if (run->gpus_each > 1) {
        /* GPUs of a worker sum gradients by reduce-scatter, and give parameters by all-gather. */
        uint32_t count = run->slices_count;
        const struct ar_async_slice *even = run->slices;
        struct ar_async_slice *slices = make_slices(timing, count);
        for (uint32_t i = 0; i < count; i++) {
            slices[i] = even[i];
            AR_TRY(time_within(job, timing, &ar_operation_reduce_scatter, slices[i].bytes,
                               &slices[i].sum_s, err));
            AR_TRY(time_within(job, timing, &ar_operation_all_gather, slices[i].bytes,
                               &slices[i].hand_s, err));
        }
    }
    ar_async_prepare(run, timing->arena);
    if (ar_engine_simulates(job->engine)) {
        AR_TRY(ar_async_run_actors(run, err));
    } else {
        ar_async_run_events(run);
    }
    struct ar_async_split split = ar_async_split_mean(run);
    double even_s = 0;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        even_s += timing->split.duty_s[i];
    }
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        timing->split.duty_s[i] *= split.compute_s / even_s;
    }
    timing->iteration_s = ar_async_iteration_s(run);
    timing->iteration_ci95_s = NAN;
    timing->compute_s = split.compute_s;
    timing->exposed_s = timing->split.axis_s[AR_AXIS_DP] = split.push_s + split.pull_s;
    timing->bubble_s = timing->split.bubble_s = split.wait_s;
    timing->bubble_frac = split.wait_s / split.compute_s;
    timing->allreduce_s = timing->copy_s = timing->contention_s = NAN;
    double batches = (double)(deals ? timing->units.count : run->workers) * run->gpus_each;
    timing->samples_per_s =
        job->trace != NULL ? batches * job->trace->batch / timing->iteration_s : NAN;
    timing->messages_count = run->messages_count / run->steps_count;
    bool is_alike = run->servers_at == AR_SERVERS_AT_NODES && run->slices_count == 1;
    timing->exact = ar_engine_simulates(job->engine) || is_alike;
    timing->wall_s = run->wall_s;
    return AR_OK;
}

/* --- the kinds -------------------------------------------------------------------------------- */

static void servers_complete_job(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->async = scenario_async(scenario);
    job->units = scenario_units(scenario);
    if (scenario->trace != NULL) {
        trace_complete_job(scenario, job);
    } else {
        transformer_complete_job(scenario, job);
    }
}

const struct ar_kind ar_kind_servers_of_trace = {.name = "servers",
                                                 .keys = AR_KEY_OF_STEP,
                                                 .has_wire = true,
                                                 .has_baseline = true,
                                                 .load = servers_load,
                                                 .job = servers_complete_job,
                                                 .describe = trace_describe,
                                                 .fill = trace_fill,
                                                 .note = servers_note,
                                                 .cost_s = trace_cost_s};

const struct ar_kind ar_kind_servers_of_layout = {.name = "servers",
                                                  .keys = AR_KEY_OF_LAYOUT,
                                                  .has_layout = true,
                                                  .load = servers_load,
                                                  .job = servers_complete_job,
                                                  .describe = layout_describe,
                                                  .fill = layout_fill,
                                                  .note = servers_note,
                                                  .cost_s = layout_cost_s};
