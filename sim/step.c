#include "ar_step.h"

#include <stdlib.h>

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

static void sum_up(struct ar_step *step)
{
    const struct ar_workload *workload = step->workload;
    const struct ar_trial *trial = &step->trial;
    double busy_s = 0;
    double last_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        /* The first rank may begin a bucket before the last rank has finished the one before. */
        double start_s = trial->times[i].start_s > last_s ? trial->times[i].start_s : last_s;
        busy_s += trial->times[i].finish_s - start_s;
        last_s = trial->times[i].finish_s;
    }
    step->exposed_s = last_s > workload->backward_end_s ? last_s - workload->backward_end_s : 0;
    step->compute_s = ar_trace_compute_s(step->trace);
    step->iteration_s = step->compute_s + step->exposed_s;
    step->allreduce_s = busy_s;
    step->payload_bytes = ar_trace_gradient_elements(step->trace) * step->collective.element_bytes;
    step->images_per_s =
        (double)step->trace->batch * ar_shape_ranks(&step->collective.shape) / step->iteration_s;
}

static enum ar_status run_alone(struct ar_step *step, struct ar_error *err)
{
    enum ar_status status = prepare(step, err);
    if (status == AR_OK) {
        status = ar_trial_run(&step->trial, step->engine, err);
    }
    if (status == AR_OK) {
        sum_up(step);
    } else {
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
