/** \file ar_step.h
 * One training step: a workload on a collective, and how well it scales.
 *
 * The all-reduces of the buckets run on one communication stream beside the backward pass, on each
 * rank as soon as its bucket is ready and the one before has finished there. The optimizer of a
 * rank starts when its backward pass and its last all-reduce are done:
 *
 *     iteration_s = max(backward end, last all-reduce end) + optimizer_s
 *                 = compute_s + exposed_s (+ input_wait_s)
 *
 * Compute times of a rank are multiplied by its factor: that of a straggler, times the jitter's,
 * which is drawn anew for each rank and step. Several steps run back to back: a rank begins the
 * next one when it has finished its optimizer. A step lasts from the end of the step before to its
 * own, both on the last rank.
 *
 * **Terms of a framework** (traces/frameworks/ar_framework.h) that enter here, not the trace; with
 * one rank there is nobody to exchange with, and all but the input limit are off:
 *
 * - Buckets that are negotiated in cycles may be sent later than their last gradient is there, and
 *   hold other tensors (ar_workload.h). A negotiation ends when the slowest rank has taken part:
 *   where ranks differ, all start a bucket when it is ready on the last of them, with the tensors
 *   and after the wait of the even step. Without cycles each rank starts as soon as it can.
 * - A bucket of several tensors is copied in and out on the communication stream (ar_trial.h): of
 *   each `copy_s` = fusion.passes * bytes / rate + 2 * tensors * fusion.tensor. Bytes are those on
 *   the wire, also where the gradients are wider or narrower.
 * - While an all-reduce is under way the backward pass runs at 1 - contention.sms * channels /
 *   gpu.sms of its speed, with the channels of the command line or the cluster. The times at which
 *   gradients are there and those of the all-reduces depend on each other; they are iterated on
 *   even ranks (step_jobs.h), and ranks that differ scale the stretched times. contention_s is how
 *   much longer the backward pass takes; it is part of exposed_s.
 * - Batch-norm statistics are one more all-reduce by the same collective, in fp32, between the last
 *   one and the optimizer, every bn.interval steps: its time over the interval is part of
 *   allreduce_s and exposed_s. Nothing hides it.
 * - A step lasts at least batch * GPUs / input.rate, with the GPUs of the fullest node: what is
 *   missing is input_wait_s, of the mean step, since frameworks read ahead. Not so one GPU as a
 *   baseline, which is compute only.
 *
 * Scaling efficiency is samples per second and GPU, over that of the baseline: one GPU (compute
 * only), or one node (all its GPUs, flat ring, same engine, buckets, channels and window).
 */
#ifndef AR_STEP_H
#define AR_STEP_H

#include "ar_arena.h"
#include "ar_engines.h"
#include "ar_framework.h"
#include "ar_workload.h"

/** A rank that takes `factor` (at least 1) times as long to compute. */
struct ar_straggler {
    uint32_t rank;
    double factor;
};

enum ar_baseline { AR_BASELINE_GPU, AR_BASELINE_NODE };
extern const char *const ar_baseline_names[]; /**< NULL ends them */

struct ar_step {
    /* Parameters. */
    struct ar_collective collective;
    const struct ar_trace *trace;
    struct ar_fusion fusion;
    const struct ar_engine *engine;
    enum ar_baseline baseline;
    double jitter_frac;        /**< coefficient of variation of compute times (ar_draw.h) */
    uint64_t seed;             /**< of the jitter */
    uint32_t iterations_count; /**< steps simulated, at least 1; results are their means */
    const struct ar_straggler *stragglers; /**< of the step; the baseline has none */
    uint32_t stragglers_count;
    struct ar_timeline *timeline;     /**< of the last step, marks for each bucket; NULL: none */
    const struct ar_library *library; /**< for engines that need one; else NULL */
    enum ar_band band;                /**< of the library's times */
    const struct ar_framework *framework; /**< NULL: all terms off. Its wire.precision is that of
                                               collective.element_bytes, its compute terms are in
                                               the trace already */

    /* Results. */
    double iteration_s;
    double iteration_ci95_s; /**< half the 95 % confidence interval of the mean; 0 for one step */
    double compute_s;        /**< overhead, forward, backward, optimizer; the mean of a GPU */
    double allreduce_s;      /**< some rank's communication stream is busy, all buckets */
    double exposed_s; /**< what a step takes beyond compute_s: the part of it that the backward pass
                           does not hide, contention_s; with jitter or stragglers also the wait for
                           the slowest rank */
    double copy_s;    /**< packing and unpacking on the communication stream, all buckets */
    double contention_s; /**< how much longer the backward pass takes beside the all-reduces */
    double statistics_s; /**< exchange of batch-norm statistics, per step */
    double input_wait_s; /**< the step waits for its input, beside compute_s and exposed_s */
    double samples_per_s;
    double efficiency_frac;
    /** iteration_s with all all-reduces at the low and at the high end of their 95 % bands, which
     * takes all errors to go the same way; NAN by engines without bands. */
    double low_s, high_s;
    uint64_t payload_bytes;       /**< all buckets */
    struct ar_workload *workload; /**< owned by the step */
    struct ar_trial trial; /**< of the last step; its jobs and times, one for each bucket, its
                                plan (NULL for one rank) and its arrays of ranks are the step's.
                                Times are from when the first rank began the step */
    double *rank_end_s;    /**< [rank]: end of its optimizer in the last step; NULL where all
                                ranks are alike. The step's */

    /* Private: what the step owns of its trial. */
    struct ar_arena memory;
    double *rank_start_s;
    double *rank_factor;
    double *agreed_s;
};

/** Runs a step and its baseline. On success the step is freed with ar_step_destroy(). */
enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err);

void ar_step_destroy(struct ar_step *step);

#endif
