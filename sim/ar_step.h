/** \file ar_step.h
 * One training step: a workload on a collective, and how well it scales.
 *
 * The all-reduces of the buckets run on one communication stream beside the backward pass, on each
 * rank as soon as its bucket is ready and the one before has finished there. The optimizer of a
 * rank starts when its backward pass and its last all-reduce are done:
 *
 *     iteration_s = max(backward end, last all-reduce end) + optimizer_s
 *                 = compute_s + exposed_s
 *
 * Compute times of a rank are multiplied by its factor: that of a straggler, times the jitter's,
 * which is drawn anew for each rank and step. Several steps run back to back: a rank begins the
 * next one when it has finished its optimizer. A step lasts from the end of the step before to its
 * own, both on the last rank.
 *
 * Scaling efficiency is images per second and GPU, over that of the baseline: one GPU (compute
 * only), or one node (all its GPUs, flat ring, same engine, buckets, channels and window).
 */
#ifndef AR_STEP_H
#define AR_STEP_H

#include "ar_trial.h"
#include "ar_workload.h"

/** A rank that takes `factor` (at least 1) times as long to compute. */
struct ar_straggler {
    uint32_t rank;
    double factor;
};

enum ar_baseline { AR_BASELINE_GPU, AR_BASELINE_NODE };

/** `gpu` or `node`. */
const char *ar_baseline_name(enum ar_baseline baseline);

struct ar_step {
    /* Parameters. */
    struct ar_collective collective;
    const struct ar_trace *trace;
    struct ar_fusion fusion;
    const struct ar_engine *engine;
    enum ar_baseline baseline;
    double jitter_frac;        /**< coefficient of variation of compute times (ar_jitter.h) */
    uint64_t seed;             /**< of the jitter */
    uint32_t iterations_count; /**< steps simulated, at least 1; results are their means */
    const struct ar_straggler *stragglers; /**< of the step; the baseline has none */
    uint32_t stragglers_count;
    struct ar_timeline *timeline;     /**< of the last step, marks for each bucket; NULL: none */
    const struct ar_library *library; /**< for engines that need one; else NULL */
    enum ar_band band;                /**< of the library's times */

    /* Results. */
    double iteration_s;
    double iteration_ci95_s; /**< half the 95 % confidence interval of the mean; 0 for one step */
    double compute_s;        /**< overhead, forward, backward, optimizer; the mean of a GPU */
    double allreduce_s;      /**< some rank's communication stream is busy, all buckets */
    double exposed_s; /**< the part of it that the backward pass does not hide; with jitter or
                           stragglers also the wait for the slowest rank */
    double images_per_s;
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
};

/** Runs a step and its baseline. On success the step is freed with ar_step_destroy(). */
enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err);

void ar_step_destroy(struct ar_step *step);

#endif
