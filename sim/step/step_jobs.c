#include "step_jobs.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 50 };

/* Times that change by less than this part of the backward pass stay. */
#define SETTLED_FRAC 1e-9

static double term(const struct ar_step *step, enum ar_term which)
{
    return step->framework != NULL ? ar_framework_number(step->framework, which) : 0;
}

static uint32_t ranks_of(const struct ar_step *step)
{
    return ar_shape_ranks(&step->collective.shape);
}

struct ar_workload_request step_workload(const struct ar_step *step, uint32_t ranks)
{
    struct ar_workload_request request = {.trace = step->trace,
                                          .fusion = &step->fusion,
                                          .element_bytes = step->collective.element_bytes};
    if (ranks > 1 && term(step, AR_TERM_CYCLE_TIME) > 0) {
        request.cycle = (struct ar_cycle){
            .time_s = term(step, AR_TERM_CYCLE_TIME),
            .phase_frac = term(step, AR_TERM_CYCLE_PHASE),
            .negotiate_s = ar_framework_negotiation_s(step->framework, ranks),
        };
    }
    return request;
}

/* Rate of the copies of a step; 0 if nothing is copied. */
static enum ar_status find_copy_rate(const struct ar_step *step, double *rate_Bps,
                                     struct ar_error *err)
{
    *rate_Bps = 0;
    return term(step, AR_TERM_FUSION_PASSES) > 0
               ? ar_framework_memory_rate(step->framework, step->trace, AR_TERM_FUSION_PASSES,
                                          rate_Bps, err)
               : AR_OK;
}

/* Time to pack a bucket and to unpack it. */
static double copy_time(const struct ar_step *step, const struct ar_bucket *bucket, double rate_Bps)
{
    double bytes = (double)bucket->elements * step->collective.element_bytes;
    if (bucket->tensors_count < 2 || ranks_of(step) == 1) {
        return 0;
    }
    double moved_s = rate_Bps > 0 ? term(step, AR_TERM_FUSION_PASSES) * bytes / rate_Bps : 0;
    return moved_s + 2 * bucket->tensors_count * term(step, AR_TERM_FUSION_TENSOR);
}

static enum ar_status make(struct ar_step *step, const struct ar_workload_request *request,
                           struct ar_error *err)
{
    double rate_Bps = 0;
    struct ar_workload *workload;
    AR_TRY(find_copy_rate(step, &rate_Bps, err));
    AR_TRY(ar_workload_make(request, &workload, err));
    step->workload = ar_arena_own(&step->memory, workload, free);
    if (step->workload == NULL) {
        return ar_error_no_memory(err, "the all-reduces of a step");
    }
    uint32_t count = step->workload->buckets_count;
    struct ar_job *jobs = ar_arena_alloc(&step->memory, count, sizeof *jobs);
    step->trial.jobs = jobs;
    step->trial.times = ar_arena_alloc(&step->memory, count, sizeof *step->trial.times);
    if (jobs == NULL || step->trial.times == NULL) {
        return ar_error_no_memory(err, "the all-reduces of a step");
    }
    step->trial.jobs_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ar_bucket *bucket = &step->workload->buckets[i];
        jobs[i] = (struct ar_job){.ready_s = bucket->ready_s,
                                  .elements = bucket->elements,
                                  .wait_s = bucket->wait_s,
                                  .copy_s = copy_time(step, bucket, rate_Bps)};
    }
    return AR_OK;
}

enum ar_status step_jobs_make(struct ar_step *step, struct ar_error *err)
{
    struct ar_workload_request request = step_workload(step, ranks_of(step));
    return make(step, &request, err);
}

/* What the communication leaves of the speed of the backward pass. */
static enum ar_status find_speed(const struct ar_step *step, double *speed_frac,
                                 struct ar_error *err)
{
    uint32_t channels =
        step->collective.channels / ar_algorithm_channels(step->collective.algorithm);
    double taken = term(step, AR_TERM_CONTENTION_SMS) * channels;
    double there = term(step, AR_TERM_GPU_SMS);
    if (taken >= there) {
        return ar_error_set(err, AR_USAGE,
                            "term contention.sms: %u channels take %g of the %g multiprocessors of "
                            "gpu.sms; expected fewer",
                            channels, taken, there);
    }
    *speed_frac = 1 - taken / there;
    return AR_OK;
}

/* Copies when the stream was busy, for the next round, and when buckets were ready. */
static void note_times(const struct ar_step *step, struct ar_interval *busy, double *ready_s)
{
    for (uint32_t i = 0; i < step->trial.jobs_count; i++) {
        busy[i] = (struct ar_interval){step->trial.times[i].start_s, step->trial.times[i].finish_s};
        ready_s[i] = ar_trial_ready(&step->trial, i, 0);
    }
}

static bool has_settled(const struct ar_step *step, uint32_t jobs_count, const double *ready_s,
                        double backward_end_s)
{
    double min_s = SETTLED_FRAC * backward_end_s;
    bool stays = step->trial.jobs_count == jobs_count &&
                 fabs(step->workload->backward_end_s - backward_end_s) < min_s;
    for (uint32_t i = 0; stays && i < jobs_count; i++) {
        stays = fabs(ar_trial_ready(&step->trial, i, 0) - ready_s[i]) < min_s;
    }
    return stays;
}

/* Runs the jobs and makes them anew. What a job slows down comes after it, so that in each round at
 * least one more job finds its final time, and most find it at once. */
static enum ar_status contend_once(struct ar_step *step, struct ar_workload_request *request,
                                   struct ar_interval *busy, double *ready_s, bool *is_settled,
                                   struct ar_error *err)
{
    double wall_s = step->trial.wall_s;
    uint32_t jobs_count = step->trial.jobs_count;
    double backward_end_s = step->workload->backward_end_s;
    AR_TRY(ar_trial_run(&step->trial, step->engine, err));
    step->trial.wall_s += wall_s;
    note_times(step, busy, ready_s);
    request->slowdown.intervals = busy;
    request->slowdown.intervals_count = jobs_count;
    AR_TRY(make(step, request, err));
    *is_settled = has_settled(step, jobs_count, ready_s, backward_end_s);
    return AR_OK;
}

enum ar_status step_jobs_contend(struct ar_step *step, struct ar_error *err)
{
    if (ranks_of(step) == 1 || term(step, AR_TERM_CONTENTION_SMS) == 0) {
        return AR_OK;
    }
    uint32_t count = step->trace->tensors_count;
    struct ar_workload_request request = step_workload(step, ranks_of(step));
    struct ar_interval *busy = ar_arena_alloc(&step->memory, count, sizeof *busy);
    double *ready_s = ar_arena_alloc(&step->memory, count, sizeof *ready_s);
    bool is_settled = false;
    if (busy == NULL || ready_s == NULL) {
        return ar_error_no_memory(err, "the times of a step");
    }
    AR_TRY(find_speed(step, &request.slowdown.speed_frac, err));
    step->trial.timeline = NULL;
    for (int i = 0; !is_settled && i < ROUNDS_MAX; i++) {
        AR_TRY(contend_once(step, &request, busy, ready_s, &is_settled, err));
    }
    step->trial.timeline = step->timeline;
    return is_settled
               ? AR_OK
               : ar_error_set(err, AR_INTERNAL,
                              "term contention.sms: the times of %s still change after %d rounds; "
                              "expected fewer, or larger buckets",
                              step->trace->name, ROUNDS_MAX);
}

enum ar_status step_statistics(const struct ar_step *step, double *time_s, struct ar_error *err)
{
    double interval = term(step, AR_TERM_BN_INTERVAL);
    struct ar_job job = {.elements = (uint64_t)term(step, AR_TERM_BN_ELEMENTS)};
    struct ar_job_time time;
    struct ar_trial trial = {.collective = step->collective,
                             .jobs = &job,
                             .jobs_count = 1,
                             .times = &time,
                             .library = step->library,
                             .band = step->band};
    *time_s = 0;
    if (interval == 0 || job.elements == 0 || ranks_of(step) == 1) {
        return AR_OK;
    }
    trial.collective.element_bytes = ar_precision_bytes(AR_FP32);
    AR_TRY(ar_trial_run(&trial, step->engine, err));
    *time_s = (time.finish_s - time.start_s) / interval;
    return AR_OK;
}

double step_input_s(const struct ar_step *step)
{
    double samples_per_s = term(step, AR_TERM_INPUT_RATE);
    uint32_t gpus = ar_cluster_facts(step->collective.cluster)->gpus_per_node;
    uint32_t ranks = ranks_of(step);
    return samples_per_s > 0
               ? step->trace->batch * (double)(ranks < gpus ? ranks : gpus) / samples_per_s
               : 0;
}
