#include "ar_step.h"

#include <assert.h>
#include <stdlib.h>

#include "ar_jitter.h"

const char *ar_baseline_name(enum ar_baseline baseline)
{
    return baseline == AR_BASELINE_GPU ? "gpu" : "node";
}

static enum ar_status prepare(struct ar_step *step, struct ar_error *err)
{
    step->trial = (struct ar_trial){.collective = step->collective};
    enum ar_status status = ar_workload_create(
        step->trace, &step->fusion, step->collective.element_bytes, &step->workload, err);
    if (status != AR_OK) {
        return status;
    }
    uint32_t count = step->workload->buckets_count;
    struct ar_job *jobs = calloc(count, sizeof *jobs);
    step->trial.jobs = jobs;
    step->trial.times = calloc(count, sizeof *step->trial.times);
    if (jobs == NULL || step->trial.times == NULL) {
        return ar_error_no_memory(err, "the all-reduces of a step");
    }
    step->trial.jobs_count = count;
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (struct ar_job){.ready_s = step->workload->buckets[i].ready_s,
                                  .elements = step->workload->buckets[i].elements};
    }
    return AR_OK;
}

/* Runs one step in which the slowest rank takes `factor` times as long as traced. What the step
 * takes beyond the compute time is exposed: all-reduce and waiting for the slowest. */
static enum ar_status run_once(struct ar_step *step, double factor, double *exposed_s,
                               double *busy_s, struct ar_error *err)
{
    const struct ar_workload *workload = step->workload;
    struct ar_trial *trial = &step->trial;
    struct ar_job *jobs = (struct ar_job *)trial->jobs; /* the step's own */
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        jobs[i].ready_s = factor * workload->buckets[i].ready_s;
    }
    enum ar_status status = ar_trial_run(trial, step->engine, err);
    if (status != AR_OK) {
        return status;
    }
    double last_s = 0;
    *busy_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        /* The first rank may begin a bucket before the last rank has finished the one before. */
        double start_s = trial->times[i].start_s > last_s ? trial->times[i].start_s : last_s;
        *busy_s += trial->times[i].finish_s - start_s;
        last_s = trial->times[i].finish_s;
    }
    double backward_end_s = factor * workload->backward_end_s;
    double compute_s = ar_trace_compute_s(step->trace);
    *exposed_s = factor * compute_s - compute_s;
    *exposed_s += last_s > backward_end_s ? last_s - backward_end_s : 0;
    return AR_OK;
}

static enum ar_status run_iterations(struct ar_step *step, struct ar_jitter *jitter,
                                     struct ar_error *err)
{
    uint32_t ranks = ar_shape_ranks(&step->collective.shape);
    double mean_s = 0; /* of exposed_s, and the squared deviations from it, after Welford */
    double deviations = 0;
    double busy_sum_s = 0;
    double wall_s = 0;
    for (uint32_t i = 0; i < step->iterations_count; i++) {
        double exposed_s;
        double busy_s;
        double factor = step->jitter_frac > 0 ? ar_jitter_slowest(jitter, ranks) : 1;
        enum ar_status status = run_once(step, factor, &exposed_s, &busy_s, err);
        if (status != AR_OK) {
            return status;
        }
        double before_s = exposed_s - mean_s;
        mean_s += before_s / (i + 1);
        deviations += before_s * (exposed_s - mean_s);
        busy_sum_s += busy_s;
        wall_s += step->trial.wall_s;
    }
    step->trial.wall_s = wall_s;
    step->compute_s = ar_trace_compute_s(step->trace);
    step->exposed_s = mean_s;
    step->iteration_s = step->compute_s + step->exposed_s;
    step->iteration_ci95_s = ar_confidence95(deviations, step->iterations_count);
    step->allreduce_s = busy_sum_s / step->iterations_count;
    step->payload_bytes = ar_trace_gradient_elements(step->trace) * step->collective.element_bytes;
    step->images_per_s = (double)step->trace->batch * ranks / step->iteration_s;
    return AR_OK;
}

static enum ar_status run_alone(struct ar_step *step, struct ar_error *err)
{
    struct ar_jitter *jitter = NULL;
    enum ar_status status = prepare(step, err);
    if (status == AR_OK) {
        status = ar_jitter_create(step->jitter_frac, step->seed, &jitter, err);
    }
    if (status == AR_OK) {
        status = run_iterations(step, jitter, err);
    }
    ar_jitter_destroy(jitter);
    if (status != AR_OK) {
        ar_step_destroy(step);
    }
    return status;
}

/* Images per second and GPU at 100 %. */
static enum ar_status run_baseline(const struct ar_step *step, double *images_per_s_gpu,
                                   struct ar_error *err)
{
    struct ar_step base = *step;
    enum ar_status status = AR_OK;
    if (step->baseline == AR_BASELINE_NODE) {
        uint32_t gpus = ar_cluster_facts(step->collective.cluster)->gpus_per_node;
        status = ar_algorithm_find("baseline", "ring", &base.collective.algorithm, err);
        if (status == AR_OK) {
            base.collective.shape = (struct ar_shape){.x = gpus, .y = 1};
            status = run_alone(&base, err);
        }
        if (status == AR_OK) {
            *images_per_s_gpu = base.images_per_s / gpus;
            ar_step_destroy(&base);
        }
        return status;
    }
    *images_per_s_gpu = step->trace->batch / ar_trace_compute_s(step->trace);
    return AR_OK;
}

enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err)
{
    double full = 0;
    assert(step->iterations_count > 0);
    enum ar_status status = run_baseline(step, &full, err);
    if (status == AR_OK) {
        status = run_alone(step, err);
    }
    if (status == AR_OK) {
        step->efficiency_frac = step->images_per_s / ar_shape_ranks(&step->collective.shape) / full;
    }
    return status;
}

void ar_step_destroy(struct ar_step *step)
{
    ar_workload_destroy(step->workload);
    free((void *)step->trial.jobs);
    free(step->trial.times);
    step->workload = NULL;
    step->trial.jobs = NULL;
    step->trial.times = NULL;
}
