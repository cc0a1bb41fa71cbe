/* Computing a row of a plan. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "plan.h"

void plan_row(const struct plan *plan, const struct point *point, struct ar_row *row)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(plan->cluster);
    uint32_t ranks = ar_shape_ranks(&point->shape);
    ar_row_clear(row);
    ar_copy_text(row->cluster, sizeof row->cluster, facts->name);
    ar_copy_text(row->precision, sizeof row->precision, ar_precision_name(plan->precision));
    row->gpus = ranks;
    row->nodes = (ranks + facts->gpus_per_node - 1) / facts->gpus_per_node;
    ar_copy_text(row->algorithm, sizeof row->algorithm, ar_algorithm_name(point->algorithm));
    if (ar_algorithm_shapes(point->algorithm) != AR_SHAPES_FLAT) {
        ar_shape_format(&point->shape, row->shape);
    }
    if (!point->engine->needs_library) {
        row->channels = plan->channels;
        row->window = plan->window;
    }
    ar_copy_text(row->engine, sizeof row->engine, point->engine->name);
    ar_copy_text(row->version, sizeof row->version, AR_VERSION);
    ar_copy_text(row->settings, sizeof row->settings, plan->settings);
    if (point->payload_bytes > 0) {
        row->payload_bytes = point->payload_bytes;
        return;
    }
    ar_copy_text(row->trace, sizeof row->trace, plan->trace->name);
    row->batch_per_gpu = plan->trace->batch;
    row->gradient_scale = plan->gradient_scale;
    ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_name(plan->baseline));
    ar_copy_text(row->bucket, sizeof row->bucket, plan->fusion.text);
    row->buckets_count = plan_buckets(plan, point);
    ar_copy_text(row->framework, sizeof row->framework, plan->framework->name);
    ar_copy_text(row->wire, sizeof row->wire, ar_precision_name(plan->wire));
    row->jitter_frac = plan->jitter_frac;
    row->seed = plan->seed;
    row->iterations_count = plan->iterations_count;
    row->forward_s = ar_trace_forward_s(plan->trace);
    row->backward_s = ar_trace_backward_s(plan->trace);
    row->optimizer_s = plan->trace->optimizer_s;
    row->overhead_s = plan->trace->step_overhead_s;
    row->compute_s = ar_trace_compute_s(plan->trace);
}

/* The closed form's split of all jobs of a trial. */
static void fill_split(const struct ar_trial *trial, struct ar_row *row)
{
    if (trial->library != NULL) {
        return; /* no closed form: the parts are not known */
    }
    row->setup_s = row->latency_s = row->bandwidth_s = row->reduction_s = 0;
    if (ar_shape_ranks(&trial->collective.shape) == 1) {
        return;
    }
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
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
    ar_copy_text(row->engine_options, sizeof row->engine_options, trial->options);
    row->exact = trial->library == NULL ? trial->exact : AR_NO_FLAG;
    fill_split(trial, row);
}

static void fill_step(const struct ar_step *step, struct ar_row *row)
{
    row->payload_bytes = step->payload_bytes;
    row->iteration_s = step->iteration_s;
    row->iteration_ci95_s = step->iteration_ci95_s;
    row->allreduce_s = step->allreduce_s;
    row->exposed_s = step->exposed_s;
    row->copy_s = step->copy_s;
    row->contention_s = step->contention_s;
    row->input_wait_s = step->input_wait_s;
    row->buckets_count = step->workload->buckets_count;
    row->images_per_s = step->images_per_s;
    row->efficiency_frac = step->efficiency_frac;
    row->low_s = step->low_s;
    row->high_s = step->high_s;
    fill_trial(&step->trial, row);
}

enum ar_status plan_run_step(const struct plan *plan, const struct point *point,
                             struct ar_step *step, struct ar_row *row, struct ar_error *err)
{
    plan_row(plan, point, row);
    enum ar_status status = ar_step_run(step, err);
    if (status != AR_OK) {
        return status;
    }
    fill_step(step, row);
    ar_copy_text(row->status, sizeof row->status, "ok");
    return AR_OK;
}

static enum ar_status run_step(const struct plan *plan, const struct point *point,
                               struct ar_row *row, struct ar_error *err)
{
    struct ar_step step = plan_step(plan, point);
    enum ar_status status = plan_run_step(plan, point, &step, row, err);
    if (status == AR_OK) {
        ar_step_destroy(&step);
    }
    return status;
}

/* Times of the low and the high end of the band. */
static enum ar_status run_band(struct ar_trial trial, const struct ar_engine *engine,
                               struct ar_row *row, struct ar_error *err)
{
    struct ar_job_time time;
    trial.times = &time;
    trial.band = AR_BAND_LOW;
    enum ar_status status = ar_trial_run(&trial, engine, err);
    if (status == AR_OK) {
        row->low_s = time.finish_s - time.start_s;
        trial.band = AR_BAND_HIGH;
        status = ar_trial_run(&trial, engine, err);
    }
    if (status == AR_OK) {
        row->high_s = time.finish_s - time.start_s;
    }
    return status;
}

static void fill_allreduce(const struct ar_trial *trial, uint64_t payload_bytes, struct ar_row *row)
{
    uint32_t ranks = ar_shape_ranks(&trial->collective.shape);
    row->allreduce_s = trial->times[0].finish_s - trial->times[0].start_s;
    if (row->allreduce_s > 0) {
        row->algbw_Bps = (double)payload_bytes / row->allreduce_s;
        row->busbw_Bps = trial->collective.operation->busbw_Bps(row->algbw_Bps, ranks);
    }
    fill_trial(trial, row);
}

static enum ar_status run_allreduce(const struct plan *plan, const struct point *point,
                                    struct ar_row *row, struct ar_error *err)
{
    struct ar_job job = {.elements = point->payload_bytes / ar_precision_bytes(plan->precision)};
    struct ar_job_time time;
    struct ar_closed *closed = NULL;
    struct ar_trial trial = {
        .collective = plan_collective(plan, point), .jobs = &job, .jobs_count = 1, .times = &time};
    enum ar_status status = AR_OK;
    if (point->engine->needs_library) {
        trial.library = plan_library(plan);
        status = point->engine->is_fitted ? run_band(trial, point->engine, row, err) : AR_OK;
    } else {
        status = ar_closed_create(&trial.collective, &closed, err);
        trial.plan = closed;
    }
    if (status == AR_OK) {
        status = ar_trial_run(&trial, point->engine, err);
    }
    if (status == AR_OK) {
        fill_allreduce(&trial, point->payload_bytes, row);
    }
    ar_closed_destroy(closed);
    return status;
}

enum ar_status plan_run(const struct plan *plan, const struct point *point, struct ar_row *row,
                        struct ar_error *err)
{
    plan_row(plan, point, row);
    enum ar_status status = point->payload_bytes > 0 ? run_allreduce(plan, point, row, err)
                                                     : run_step(plan, point, row, err);
    ar_copy_text(row->status, sizeof row->status, status == AR_OK ? "ok" : err->text);
    return status;
}

enum ar_status plan_run_checked(const struct options *options, const struct plan *plan,
                                struct point point, struct ar_row *rows, size_t *rows_count,
                                struct ar_error *err)
{
    enum ar_status status = plan_run(plan, &point, &rows[*rows_count], err);
    *rows_count += status == AR_OK;
    if (status == AR_OK && options->check) {
        point.engine = ar_engine_checker(point.engine);
        status = plan_run(plan, &point, &rows[*rows_count], err);
        *rows_count += status == AR_OK;
    }
    return status;
}
