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

enum ar_status ar_predict(const struct ar_job *job, struct ar_arena *arena,
                          struct ar_timing *timing, struct ar_error *err)
{
    double full = NAN; /* samples per second and GPU at 100 % */
    double band_s[2] = {NAN, NAN};
    if (job->trace != NULL) {
        AR_TRY(ar_engine_check(job->engine, &job->collective, job->library, err));
        full = job->trace->batch / ar_trace_compute_s(job->trace);
    }
    if (job->trace != NULL && job->baseline == AR_BASELINE_NODE) {
        struct ar_arena scratch AR_ENDS_HERE = {NULL};
        const struct ar_job base = make_baseline(job);
        AR_TRY(job_time(&base, &scratch, timing, err));
        full = timing->samples_per_s / ar_job_ranks(&base);
    }
    bool has_band = !job->kind->has_layout && ar_engine_has_band(job->engine);
    for (int i = 0; i < 2 && has_band; i++) { /* all collectives at one end of their bands */
        struct ar_arena scratch AR_ENDS_HERE = {NULL};
        struct ar_job end = *job;
        end.band = i == 0 ? AR_BAND_LOW : AR_BAND_HIGH;
        end.timeline = NULL;
        AR_TRY(job_time(&end, &scratch, timing, err));
        band_s[i] = timing->iteration_s;
    }
    AR_TRY(job_time(job, arena, timing, err));
    timing->low_s = band_s[0];
    timing->high_s = band_s[1];
    timing->efficiency_frac = timing->samples_per_s / ar_job_ranks(job) / full;
    return AR_OK;
}
