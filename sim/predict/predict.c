/* The way of a prediction.
 *
 *     keys -> ar_scenario_load() -> job -> kind->graph() -> schedule with the engine's times ->
 * timing
 *          -> columns of a row
 *
 * This file is the middle: a job, and the further jobs that its answer needs. */
#include <math.h>

#include "ar_kind.h"
#include "timer.h"

/* The job that is 100 %: one node, all its GPUs in a flat ring, without stragglers. */
static struct ar_job make_baseline(const struct ar_job *job)
{
    struct ar_job base = *job;
    uint32_t gpus = ar_cluster_facts(job->collective.cluster)->gpus_per_node;
    uint32_t channels_each = ar_algorithm_channels(job->collective.algorithm);
    base.kind = &ar_kind_trace;
    if (job->kind != &ar_kind_trace) {
        base.layout.strategy = &ar_strategy_data;
    }
    base.stragglers_count = 0;
    base.timeline = NULL;
    base.flows = NULL;
    base.collective.algorithm = &ar_algorithm_ring;
    base.collective.shape = (struct ar_shape){.x = gpus, .y = 1};
    base.collective.channels = (job->collective.channels + channels_each - 1) / channels_each;
    return base;
}

/* Samples per second and GPU at 100 %. */
static enum ar_status time_baseline(const struct ar_job *job, double *samples_per_s_gpu,
                                    struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    if (job->baseline == AR_BASELINE_GPU) {
        *samples_per_s_gpu = job->trace->batch / ar_trace_compute_s(job->trace);
        return AR_OK;
    }
    const struct ar_job base = make_baseline(job);
    AR_TRY(job_time(&base, &arena, &timing, err));
    *samples_per_s_gpu = timing.samples_per_s / ar_job_ranks(&base);
    return AR_OK;
}

/* The time of a job with all collectives at one end of their bands. */
static enum ar_status time_in_band(const struct ar_job *job, enum ar_band band, double *iteration_s,
                                   struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job end = *job;
    end.band = band;
    end.timeline = NULL;
    AR_TRY(job_time(&end, &arena, &timing, err));
    *iteration_s = timing.iteration_s;
    return AR_OK;
}

enum ar_status ar_predict(const struct ar_job *job, struct ar_arena *arena,
                          struct ar_timing *timing, struct ar_error *err)
{
    double full = NAN, low_s = NAN, high_s = NAN;
    if (job->trace != NULL) {
        AR_TRY(ar_engine_check(job->engine, &job->collective, job->library, err));
        AR_TRY(time_baseline(job, &full, err));
    }
    if (!job->kind->has_layout && ar_engine_has_band(job->engine)) {
        AR_TRY(time_in_band(job, AR_BAND_LOW, &low_s, err));
        AR_TRY(time_in_band(job, AR_BAND_HIGH, &high_s, err));
    }
    AR_TRY(job_time(job, arena, timing, err));
    timing->low_s = low_s;
    timing->high_s = high_s;
    timing->efficiency_frac = timing->samples_per_s / ar_job_ranks(job) / full;
    return AR_OK;
}
