#include "ar_run.h"

#include <math.h>

#include "ar_kind.h"
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

/* The closed form's split of all calls of a trial. */
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
    ar_copy_text(row->engine_options, sizeof row->engine_options, trial->options);
    fill_split(trial, row);
}

void ar_run_fill_collective(const struct ar_scenario *scenario, const struct ar_timing *timing,
                            struct ar_row *row)
{
    row->allreduce_s = timing->iteration_s;
    row->low_s = timing->low_s;
    row->high_s = timing->high_s;
    if (row->allreduce_s > 0) {
        row->algbw_Bps = (double)scenario->payload_bytes / row->allreduce_s;
        row->busbw_Bps = ar_operation_busbw_Bps(scenario->operation, row->algbw_Bps,
                                                ar_shape_ranks(&timing->trial.collective.shape));
    }
    fill_trial(&timing->trial, row);
}

void ar_run_fill_traced(const struct ar_scenario *scenario, const struct ar_timing *timing,
                        struct ar_row *row)
{
    (void)scenario;
    row->iteration_s = timing->iteration_s;
    row->payload_bytes = timing->payload_bytes;
    row->iteration_ci95_s = timing->iteration_ci95_s;
    row->allreduce_s = timing->allreduce_s;
    row->exposed_s = timing->exposed_s;
    row->copy_s = timing->copy_s;
    row->contention_s = timing->contention_s;
    row->input_wait_s = timing->input_wait_s;
    row->samples_per_s = timing->samples_per_s;
    row->efficiency_frac = timing->efficiency_frac;
    row->low_s = timing->low_s;
    row->high_s = timing->high_s;
    if (timing->graph == NULL) {
        row->bubble_s = timing->bubble_s;
        row->bubble_frac = timing->bubble_frac;
        row->exposed_dp_s = timing->exposed_s;
    } else if (!timing->layout.strategy->ends_runs) {
        row->buckets_count = timing->workload->buckets_count;
    }
    if (timing->graph != NULL && timing->graph->has_series) {
        fill_trial(&timing->trial, row);
    } else {
        row->compute_s = timing->compute_s;
        row->optimizer_s = timing->split.duty_s[AR_DUTY_OPTIMIZER];
    }
}

enum ar_status ar_run_job(const struct ar_scenario *scenario, const struct ar_job *job,
                          struct ar_arena *arena, struct ar_timing *timing, struct ar_row *row,
                          struct ar_error *err)
{
    ar_run_describe(scenario, row);
    enum ar_status status = ar_predict(job, arena, timing, err);
    if (status == AR_OK) {
        row->messages_count = job->library == NULL ? timing->messages_count : AR_ROW_NO_COUNT;
        row->exact = job->library == NULL ? timing->exact : AR_NO_FLAG;
        row->wall_s = timing->wall_s;
        job->kind->fill(scenario, timing, row);
    }
    ar_copy_text(row->status, sizeof row->status, status == AR_OK ? "ok" : err->text);
    return status;
}

enum ar_status ar_run_kept(const struct ar_scenario *scenario, struct ar_closed **kept,
                           struct ar_row *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    if (job.kind->is_collective && !job.engine->needs_library && *kept == NULL &&
        ar_closed_create(&job.collective, kept, err) != AR_OK) {
        ar_run_describe(scenario, row);
        ar_copy_text(row->status, sizeof row->status, err->text);
        return err->status;
    }
    job.plan = job.kind->is_collective ? *kept : NULL;
    return ar_run_job(scenario, &job, &arena, &timing, row, err);
}

enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err)
{
    struct ar_closed *kept = NULL;
    enum ar_status status = ar_run_kept(scenario, &kept, row, err);
    ar_closed_destroy(kept);
    return status;
}
