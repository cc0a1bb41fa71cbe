/* The way of a prediction.
 *
 *     keys -> ar_scenario_load() -> job -> kind->graph() -> schedule with the engine's times
 *          -> timing -> columns of a row
 *
 * This file has both ends of it: the further jobs that the answer to a job needs, and the row of a
 * loaded scenario. */
#include <math.h>

#include "ar_text.h"
#include "timer.h"

enum ar_status ar_predict(const struct ar_job *job, struct ar_arena *arena,
                          struct ar_timing *timing, struct ar_error *err)
{
    double full = NAN; /* samples per second and GPU at 100 % */
    double band_s[2] = {NAN, NAN};
    if (job->kind->has_baseline || job->kind->is_collective) {
        AR_TRY(ar_engine_check(job->engine, &job->collective, job->library, err));
    }
    if (job->kind->has_baseline) {
        full = job->trace->batch / ar_trace_compute_s(job->trace);
    }
    if (job->kind->has_baseline && job->baseline == AR_BASELINE_NODE) {
        struct ar_arena scratch AR_ENDS_HERE = {NULL};
        /* The job that is 100 %: one node, all its GPUs in a flat ring, without stragglers. */
        struct ar_job base = *job;
        uint32_t gpus = ar_cluster_facts(job->collective.cluster)->gpus_per_node;
        uint32_t channels_each = ar_algorithm_channels(job->collective.algorithm);
        base.kind = &ar_kind_trace;
        if (job->kind != &ar_kind_trace) {
            base.layout.strategy = &ar_strategy_data;
        }
        base.stragglers_count = 0;
        base.timeline = NULL;
        base.usage = NULL;
        base.known = NULL;
        base.collective.algorithm = &ar_algorithm_ring;
        base.collective.shape = (struct ar_shape){.x = gpus, .y = 1};
        base.collective.channels = (job->collective.channels + channels_each - 1) / channels_each;
        AR_TRY(job_time(&base, &scratch, timing, err));
        full = timing->samples_per_s / ar_job_ranks(&base);
    }
    bool has_band = ar_shape_ranks(&job->collective.shape) > 0 && ar_engine_is_fitted(job->engine);
    for (int i = 0; i < 2 && has_band; i++) { /* all collectives at one end of their bands */
        struct ar_arena scratch AR_ENDS_HERE = {NULL};
        struct ar_job end = *job;
        end.band = i == 0 ? AR_BAND_LOW : AR_BAND_HIGH;
        end.timeline = NULL;
        end.known = NULL; /* times at the end of the band */
        AR_TRY(job_time(&end, &scratch, timing, err));
        band_s[i] = timing->iteration_s;
    }
    AR_TRY(job_time(job, arena, timing, err));
    timing->low_s = band_s[0];
    timing->high_s = band_s[1];
    timing->efficiency_frac = timing->samples_per_s / ar_job_ranks(job) / full;
    return AR_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

void ar_run_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    const struct ar_kind *kind = ar_scenario_kind(scenario);
    bool has_shape = ar_shape_ranks(&scenario->shape) > 0;
    ar_record_clear(ar_row_columns, row);
    ar_copy_text(row->cluster, sizeof row->cluster, facts->name);
    ar_copy_text(row->precision, sizeof row->precision, ar_precision_names[scenario->precision]);
    row->gpus = scenario->gpus;
    row->nodes = (scenario->gpus + facts->gpus_per_node - 1) / facts->gpus_per_node;
    ar_copy_text(row->engine, sizeof row->engine, scenario->engine->name);
    ar_copy_text(row->version, sizeof row->version, AR_VERSION);
    ar_copy_text(row->settings, sizeof row->settings, scenario->settings_text);
    if (kind->graph != NULL && (has_shape || scenario->algorithm != NULL)) {
        const struct ar_algorithm *algorithm = scenario->algorithm;
        ar_copy_text(row->algorithm, sizeof row->algorithm, ar_algorithm_name(algorithm));
        ar_runners_format(algorithm, ar_scenario_spread(scenario, algorithm), row->runnable_by);
    }
    if (kind->graph != NULL && has_shape &&
        ar_algorithm_shapes(scenario->algorithm) >= AR_SHAPES_GROUPS) {
        ar_shape_format(&scenario->shape, row->shape);
    }
    if (kind->graph != NULL && !ar_engine_times_calls(scenario->engine)) {
        row->channels = scenario->channels;
        row->window = scenario->window;
    }
    kind->describe(scenario, row);
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

enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    job.is_row_alone = true;
    return ar_run_job(scenario, &job, &arena, &timing, row, err);
}
