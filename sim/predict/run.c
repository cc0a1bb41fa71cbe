#include "ar_run.h"

#include "ar_text.h"

static void describe_step(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_trace *trace = scenario->trace;
    ar_copy_text(row->trace, sizeof row->trace, trace->name);
    row->batch_per_gpu = trace->batch;
    row->gradient_scale = scenario->gradient_scale;
    ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_names[scenario->baseline]);
    ar_copy_text(row->bucket, sizeof row->bucket, scenario->fusion.text);
    row->buckets_count = scenario->buckets_count;
    ar_copy_text(row->framework, sizeof row->framework, scenario->framework->name);
    ar_copy_text(row->wire, sizeof row->wire, ar_precision_names[scenario->wire]);
    row->jitter_frac = scenario->jitter_frac;
    row->seed = scenario->seed;
    row->iterations_count = scenario->iterations_count;
    row->forward_s = ar_trace_forward_s(trace);
    row->backward_s = ar_trace_backward_s(trace);
    row->optimizer_s = trace->optimizer_s;
    row->overhead_s = trace->step_overhead_s;
    row->compute_s = ar_trace_compute_s(trace);
    if (scenario->layout.strategy->ends_runs) { /* which sends all at once */
        row->buckets_count = AR_ROW_NO_COUNT;
        row->bucket[0] = '\0';
    }
}

static void describe_groups(const struct ar_scenario *scenario, struct ar_row *row)
{
    ar_copy_text(row->operation, sizeof row->operation, scenario->operation->command);
    if (scenario->mesh.axes_count > 0) {
        ar_mesh_format(&scenario->mesh, row->mesh);
        ar_mesh_format_along(&scenario->mesh, row->along);
        row->groups = ar_scenario_groups(scenario);
    }
    if (scenario->operation->has_root) {
        row->root = scenario->root;
    }
}

static void describe_algorithm(const struct ar_scenario *scenario, struct ar_row *row)
{
    bool is_laid_out = ar_scenario_is_laid_out(scenario);
    if (!is_laid_out || scenario->algorithm != NULL) {
        ar_copy_text(row->algorithm, sizeof row->algorithm, ar_algorithm_name(scenario->algorithm));
    }
    if (!is_laid_out && ar_algorithm_has_shapes(scenario->algorithm)) {
        ar_shape_format(&scenario->shape, row->shape);
    }
    if (!scenario->engine->needs_library) {
        row->channels = scenario->channels;
        row->window = scenario->window;
    }
}

void ar_run_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    bool is_laid_out = ar_scenario_is_laid_out(scenario);
    uint32_t ranks = is_laid_out ? scenario->gpus : ar_scenario_ranks(scenario);
    ar_row_clear(row);
    ar_copy_text(row->cluster, sizeof row->cluster, facts->name);
    ar_copy_text(row->precision, sizeof row->precision, ar_precision_names[scenario->precision]);
    row->gpus = ranks;
    row->nodes = (ranks + facts->gpus_per_node - 1) / facts->gpus_per_node;
    if (!is_laid_out) {
        describe_groups(scenario, row);
    }
    if (!scenario->layout.strategy->is_asynchronous) {
        describe_algorithm(scenario, row);
    }
    ar_copy_text(row->engine, sizeof row->engine, scenario->engine->name);
    ar_copy_text(row->version, sizeof row->version, AR_VERSION);
    ar_copy_text(row->settings, sizeof row->settings, scenario->settings_text);
    if (is_laid_out || scenario->trace != NULL) {
        char text[AR_STRATEGY_TEXT];
        ar_copy_text(
            row->strategy, sizeof row->strategy,
            ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, text));
    }
    if (ar_scenario_is_placed(scenario)) {
        ar_run_describe_placed(scenario, row);
    } else if (is_laid_out) {
        ar_run_describe_layout(scenario, row);
    } else if (ar_scenario_is_bare(scenario)) {
        row->payload_bytes = scenario->payload_bytes;
    } else {
        describe_step(scenario, row);
    }
}

/* The closed form's split of all jobs of a trial. */
static void fill_split(const struct ar_trial *trial, struct ar_row *row)
{
    bool is_alone = ar_shape_ranks(&trial->collective.shape) == 1;
    if (trial->library != NULL || (trial->plan == NULL && !is_alone)) {
        return; /* no closed form: the parts are not known */
    }
    row->setup_s = row->latency_s = row->bandwidth_s = row->reduction_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count && !is_alone; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(trial->plan, trial->jobs[i].elements, &time);
        row->setup_s += time.setup_s;
        for (uint32_t phase = 0; phase < time.phases_count; phase++) {
            row->reduction_s += time.phases[phase].reduction_s;
            for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
                row->latency_s += time.phases[phase].latency_s[tier];
                row->bandwidth_s += time.phases[phase].bandwidth_s[tier];
            }
        }
    }
}

static void fill_trial(const struct ar_trial *trial, struct ar_row *row)
{
    row->messages_count = trial->library == NULL ? trial->messages_count : AR_ROW_NO_COUNT;
    row->wall_s = trial->wall_s;
    row->exact = trial->library == NULL ? trial->exact : AR_NO_FLAG;
    ar_copy_text(row->engine_options, sizeof row->engine_options, trial->options);
    fill_split(trial, row);
}

static void fill_traced(const struct ar_step *step, struct ar_row *row)
{
    row->payload_bytes = step->payload_bytes;
    row->iteration_ci95_s = step->iteration_ci95_s;
    row->allreduce_s = step->allreduce_s;
    row->exposed_s = step->exposed_s;
    row->copy_s = step->copy_s;
    row->contention_s = step->contention_s;
    row->input_wait_s = step->input_wait_s;
    row->samples_per_s = step->samples_per_s;
    row->efficiency_frac = step->efficiency_frac;
    row->low_s = step->low_s;
    row->high_s = step->high_s;
    if (step->graph == NULL) {
        row->bubble_s = step->bubble_s;
        row->bubble_frac = step->bubble_frac;
        row->exposed_dp_s = step->exposed_s;
    }
    if (step->graph != NULL && !step->layout.strategy->ends_runs) {
        row->buckets_count = step->workload->buckets_count;
    }
    if (step->graph != NULL && step->graph->has_series) {
        fill_trial(&step->trial, row);
    } else {
        row->compute_s = step->compute_s;
        row->optimizer_s = step->split.duty_s[AR_DUTY_OPTIMIZER];
    }
}

static void fill_step(const struct ar_scenario *scenario, const struct ar_step *step,
                      struct ar_row *row)
{
    row->iteration_s = step->iteration_s;
    if (step->trace != NULL) {
        fill_traced(step, row);
    } else {
        ar_run_fill_layout(scenario, step, row);
    }
    row->messages_count = step->library == NULL ? step->messages_count : AR_ROW_NO_COUNT;
    row->exact = step->library == NULL ? step->exact : AR_NO_FLAG;
    row->wall_s = step->wall_s;
    if (step->layout.placed != NULL) {
        ar_run_fill_placed(scenario, step, row);
    }
}

/* Says in the row how it went. */
static enum ar_status end(enum ar_status status, struct ar_row *row, const struct ar_error *err)
{
    ar_copy_text(row->status, sizeof row->status, status == AR_OK ? "ok" : err->text);
    return status;
}

enum ar_status ar_run_step(const struct ar_scenario *scenario, struct ar_step *step,
                           struct ar_row *row, struct ar_error *err)
{
    ar_run_describe(scenario, row);
    enum ar_status status = ar_step_run(step, err);
    if (status == AR_OK) {
        fill_step(scenario, step, row);
    }
    return end(status, row, err);
}

static void fill_collective(const struct ar_trial *trial, uint64_t payload_bytes,
                            struct ar_row *row)
{
    uint32_t ranks = ar_shape_ranks(&trial->collective.shape);
    row->allreduce_s = trial->times[0].finish_s - trial->times[0].start_s;
    if (row->allreduce_s > 0) {
        row->algbw_Bps = (double)payload_bytes / row->allreduce_s;
        row->busbw_Bps = ar_operation_busbw_Bps(trial->collective.operation, row->algbw_Bps, ranks);
    }
    fill_trial(trial, row);
}

/* The time of a trial at an end of its band, NAN by an engine without one. */
static enum ar_status run_band(struct ar_trial trial, const struct ar_engine *engine,
                               enum ar_band band, double *time_s, struct ar_error *err)
{
    struct ar_call_time time;
    trial.times = &time;
    trial.band = band;
    AR_TRY(ar_trial_run(&trial, engine, err));
    *time_s = time.finish_s - time.start_s;
    return AR_OK;
}

static enum ar_status run_trial(const struct ar_scenario *scenario, struct ar_trial *trial,
                                struct ar_row *row, struct ar_error *err)
{
    const struct ar_engine *engine = scenario->engine;
    if (engine->is_fitted) {
        AR_TRY(run_band(*trial, engine, AR_BAND_LOW, &row->low_s, err));
        AR_TRY(run_band(*trial, engine, AR_BAND_HIGH, &row->high_s, err));
    }
    AR_TRY(ar_trial_run(trial, engine, err));
    fill_collective(trial, scenario->payload_bytes, row);
    return AR_OK;
}

void ar_bare_run_end(struct ar_bare_run *run)
{
    ar_closed_destroy(run->closed);
}

static enum ar_status run_bare(const struct ar_scenario *scenario, struct ar_closed **kept,
                               struct ar_bare_run *run, struct ar_row *row, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    run->job.elements = scenario->payload_bytes / ar_precision_bytes(scenario->precision);
    run->trial = (struct ar_trial){.collective = ar_scenario_collective(scenario),
                                   .jobs = &run->job,
                                   .jobs_count = 1,
                                   .times = &run->time};
    ar_run_describe(scenario, row);
    if (scenario->engine->needs_library) {
        run->trial.library = ar_scenario_library(scenario);
    } else if (*kept == NULL) {
        status = ar_closed_create(&run->trial.collective, kept, err);
    }
    run->trial.plan = scenario->engine->needs_library ? NULL : *kept;
    status = status == AR_OK ? run_trial(scenario, &run->trial, row, err) : status;
    return end(status, row, err);
}

enum ar_status ar_run_bare(const struct ar_scenario *scenario, struct ar_bare_run *run,
                           struct ar_row *row, struct ar_error *err)
{
    *run = (struct ar_bare_run){.closed = NULL};
    enum ar_status status = run_bare(scenario, &run->closed, run, row, err);
    if (status != AR_OK) {
        ar_bare_run_end(run);
    }
    return status;
}

enum ar_status ar_run_kept(const struct ar_scenario *scenario, struct ar_closed **kept,
                           struct ar_row *row, struct ar_error *err)
{
    if (ar_scenario_is_bare(scenario)) {
        struct ar_bare_run run = {.closed = NULL};
        return run_bare(scenario, kept, &run, row, err);
    }
    struct ar_step step AR_STEP_ENDS_HERE = ar_scenario_step(scenario);
    return ar_run_step(scenario, &step, row, err);
}

enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err)
{
    struct ar_closed *kept = NULL;
    enum ar_status status = ar_run_kept(scenario, &kept, row, err);
    ar_closed_destroy(kept);
    return status;
}
