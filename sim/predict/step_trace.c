/* From a trace and the terms of a framework to buckets and a layout. */
#include <assert.h>

#include "step_parts.h"

double step_term(const struct ar_step *step, enum ar_term which)
{
    return step->framework != NULL ? ar_framework_number(step->framework, which) : 0;
}

bool step_has_cycles(const struct ar_step *step)
{
    return step->trace != NULL && ar_step_ranks(step) > 1 &&
           step_term(step, AR_TERM_CYCLE_TIME) > 0;
}

uint32_t step_fused_bytes(const struct ar_step *step)
{
    return step->fused_bytes > 0 ? step->fused_bytes : step->collective.element_bytes;
}

static struct ar_workload_request request_of(const struct ar_step *step,
                                             const struct ar_slowdown *slowdown)
{
    struct ar_workload_request request = {
        .trace = step->trace, .fusion = &step->fusion, .element_bytes = step_fused_bytes(step)};
    if (slowdown != NULL) {
        request.slowdown = *slowdown;
    }
    if (step_has_cycles(step)) {
        request.cycle = (struct ar_cycle){
            .time_s = step_term(step, AR_TERM_CYCLE_TIME),
            .phase_frac = step_term(step, AR_TERM_CYCLE_PHASE),
            .negotiate_s = ar_framework_negotiation_s(step->framework, ar_step_ranks(step)),
        };
    }
    return request;
}

enum ar_status ar_step_workload(const struct ar_step *step, struct ar_arena *arena,
                                struct ar_workload **workload, struct ar_error *err)
{
    struct ar_workload_request request = request_of(step, NULL);
    return ar_workload_make(&request, arena, workload, err);
}

/* Rate of the copies of a step; 0 if nothing is copied. */
static enum ar_status find_copy_rate(const struct ar_step *step, double *rate_Bps,
                                     struct ar_error *err)
{
    *rate_Bps = 0;
    return step_term(step, AR_TERM_FUSION_PASSES) > 0
               ? ar_framework_memory_rate(step->framework, step->trace, AR_TERM_FUSION_PASSES,
                                          rate_Bps, err)
               : AR_OK;
}

/* Time to pack a bucket and to unpack it. */
static double copy_time(const struct ar_step *step, const struct ar_bucket *bucket, double rate_Bps)
{
    double bytes = (double)bucket->elements * step->collective.element_bytes;
    if (bucket->tensors_count < 2 || ar_step_ranks(step) == 1) {
        return 0;
    }
    double moved_s = rate_Bps > 0 ? step_term(step, AR_TERM_FUSION_PASSES) * bytes / rate_Bps : 0;
    return moved_s + 2 * bucket->tensors_count * step_term(step, AR_TERM_FUSION_TENSOR);
}

/* One of as many bytes; which does not matter. */
static enum ar_precision precision_of(uint32_t bytes)
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
static void lay_out(struct ar_step *step)
{
    const struct ar_strategy *strategy = step->layout.strategy;
    uint32_t ranks = ar_step_ranks(step);
    step->layout = (struct ar_layout){
        .trace = step->trace,
        .workload = step->workload,
        .statistics = {.elements = (uint64_t)step_term(step, AR_TERM_BN_ELEMENTS),
                       .interval = step_term(step, AR_TERM_BN_INTERVAL)},
        .sizes = {[AR_AXIS_PP] = 1, [AR_AXIS_DP] = ranks, [AR_AXIS_EP] = 1, [AR_AXIS_TP] = 1},
        .global_batch = ranks,
        .micro_batch = 1,
        .schedule = ar_schedules[0],
        .chunks = 1,
        .strategy = strategy != NULL ? strategy : &ar_strategy_data,
        .overlaps = true,
        .prefetch = step->layout.prefetch,
        .sparse_frac = step->layout.sparse_frac,
        .precision = step->trace->precision,
        .gradients = precision_of(step->collective.element_bytes)};
}

enum ar_status step_take_trace(struct ar_step *step, const struct ar_slowdown *slowdown,
                               struct ar_error *err)
{
    double rate_Bps = 0;
    struct ar_workload *workload;
    struct ar_workload_request request = request_of(step, slowdown);
    AR_TRY(find_copy_rate(step, &rate_Bps, err));
    AR_TRY(ar_workload_make(&request, &step->memory, &workload, err));
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        workload->buckets[i].copy_s = copy_time(step, &workload->buckets[i], rate_Bps);
    }
    step->workload = workload;
    lay_out(step);
    return AR_OK;
}

enum ar_status step_find_speed(const struct ar_step *step, double *speed_frac, struct ar_error *err)
{
    uint32_t channels =
        step->collective.channels / ar_algorithm_channels(step->collective.algorithm);
    double taken = step_term(step, AR_TERM_CONTENTION_SMS) * channels;
    double there = step_term(step, AR_TERM_GPU_SMS);
    *speed_frac = 1;
    if (ar_step_ranks(step) == 1 || taken == 0) {
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

double step_input_s(const struct ar_step *step)
{
    double samples_per_s = step_term(step, AR_TERM_INPUT_RATE);
    uint32_t gpus = ar_cluster_facts(step->collective.cluster)->gpus_per_node;
    uint32_t ranks = ar_step_ranks(step);
    return step->trace != NULL && samples_per_s > 0
               ? step->trace->batch * (double)(ranks < gpus ? ranks : gpus) / samples_per_s
               : 0;
}
