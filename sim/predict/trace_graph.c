/* From a trace and the terms of a framework to buckets and a layout. */
#include <assert.h>

#include "timer.h"

double job_term(const struct ar_job *job, enum ar_term which)
{
    return job->framework != NULL ? ar_framework_number(job->framework, which) : 0;
}

bool job_has_cycles(const struct ar_job *job)
{
    return job->trace != NULL && ar_job_ranks(job) > 1 && job_term(job, AR_TERM_CYCLE_TIME) > 0;
}

uint32_t job_fused_bytes(const struct ar_job *job)
{
    return job->fused_bytes > 0 ? job->fused_bytes : job->collective.element_bytes;
}

static struct ar_workload_request make_request(const struct ar_job *job,
                                               const struct ar_slowdown *slowdown)
{
    struct ar_workload_request request = {
        .trace = job->trace, .fusion = &job->fusion, .element_bytes = job_fused_bytes(job)};
    if (slowdown != NULL) {
        request.slowdown = *slowdown;
    }
    if (job_has_cycles(job)) {
        request.cycle = (struct ar_cycle){
            .time_s = job_term(job, AR_TERM_CYCLE_TIME),
            .phase_frac = job_term(job, AR_TERM_CYCLE_PHASE),
            .negotiate_s = ar_framework_negotiation_s(job->framework, ar_job_ranks(job)),
        };
    }
    return request;
}

enum ar_status ar_job_workload(const struct ar_job *job, struct ar_arena *arena,
                               struct ar_workload **workload, struct ar_error *err)
{
    struct ar_workload_request request = make_request(job, NULL);
    return ar_workload_make(&request, arena, workload, err);
}

/* Rate of the copies of a step; 0 if nothing is copied. */
static enum ar_status find_copy_rate(const struct ar_job *job, double *rate_Bps,
                                     struct ar_error *err)
{
    *rate_Bps = 0;
    return job_term(job, AR_TERM_FUSION_PASSES) > 0
               ? ar_framework_memory_rate(job->framework, job->trace, AR_TERM_FUSION_PASSES,
                                          rate_Bps, err)
               : AR_OK;
}

/* Time to pack a bucket and to unpack it. */
static double copy_time(const struct ar_job *job, const struct ar_bucket *bucket, double rate_Bps)
{
    double bytes = (double)bucket->elements * job->collective.element_bytes;
    if (bucket->tensors_count < 2 || ar_job_ranks(job) == 1) {
        return 0;
    }
    double moved_s = rate_Bps > 0 ? job_term(job, AR_TERM_FUSION_PASSES) * bytes / rate_Bps : 0;
    return moved_s + 2 * bucket->tensors_count * job_term(job, AR_TERM_FUSION_TENSOR);
}

/* One of as many bytes; which does not matter. */
static enum ar_precision find_precision(uint32_t bytes)
{
    int precision = 0;
    while (precision < AR_PRECISIONS_COUNT &&
           ar_precision_bytes((enum ar_precision)precision) != bytes) {
        precision++;
    }
    assert(precision < AR_PRECISIONS_COUNT);
    return (enum ar_precision)precision;
}

/* A replica on each rank. */
static void lay_out_replicas(const struct ar_job *job, struct ar_layout *layout)
{
    uint32_t ranks = ar_job_ranks(job);
    *layout = (struct ar_layout){
        .trace = job->trace,
        .workload = layout->workload,
        .statistics = {.elements = (uint64_t)job_term(job, AR_TERM_BN_ELEMENTS),
                       .interval = job_term(job, AR_TERM_BN_INTERVAL)},
        .sizes = {[AR_AXIS_PP] = 1, [AR_AXIS_DP] = ranks, [AR_AXIS_EP] = 1, [AR_AXIS_TP] = 1},
        .global_batch = ranks,
        .micro_batch = 1,
        .schedule = ar_schedules[0],
        .chunks = 1,
        .strategy = job->layout.strategy != NULL ? job->layout.strategy : &ar_strategy_data,
        .overlaps = true,
        .prefetch = job->layout.prefetch,
        .sparse_frac = job->layout.sparse_frac,
        .precision = job->trace->precision,
        .gradients = find_precision(job->collective.element_bytes)};
}

enum ar_status trace_lay_out(const struct ar_job *job, const struct ar_slowdown *slowdown,
                             struct ar_timing *timing, struct ar_error *err)
{
    double rate_Bps = 0;
    struct ar_workload *workload;
    struct ar_workload_request request = make_request(job, slowdown);
    AR_TRY(find_copy_rate(job, &rate_Bps, err));
    AR_TRY(ar_workload_make(&request, timing->arena, &workload, err));
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        workload->buckets[i].copy_s = copy_time(job, &workload->buckets[i], rate_Bps);
    }
    timing->workload = timing->layout.workload = workload;
    lay_out_replicas(job, &timing->layout);
    return AR_OK;
}

enum ar_status job_find_speed(const struct ar_job *job, double *speed_frac, struct ar_error *err)
{
    uint32_t channels = job->collective.channels / ar_algorithm_channels(job->collective.algorithm);
    double taken = job_term(job, AR_TERM_CONTENTION_SMS) * channels;
    double there = job_term(job, AR_TERM_GPU_SMS);
    *speed_frac = 1;
    if (ar_job_ranks(job) == 1 || taken == 0) {
        return AR_OK;
    }
    if (taken >= there) {
        return ar_error_set(err, AR_USAGE,
                            "term contention.sms: %u channels take %g of the %g multiprocessors of "
                            "gpu.sms; expected fewer",
                            channels, taken, there);
    }
    *speed_frac = 1 - taken / there;
    return AR_OK;
}

double job_input_s(const struct ar_job *job)
{
    double samples_per_s = job_term(job, AR_TERM_INPUT_RATE);
    uint32_t gpus = ar_cluster_facts(job->collective.cluster)->gpus_per_node;
    uint32_t ranks = ar_job_ranks(job);
    return job->trace != NULL && samples_per_s > 0
               ? job->trace->batch * (double)(ranks < gpus ? ranks : gpus) / samples_per_s
               : 0;
}
