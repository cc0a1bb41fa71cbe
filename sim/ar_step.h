/** \file ar_step.h
 * One training step: a workload on a collective, and how well it scales.
 *
 * The all-reduces of the buckets run on one communication stream beside the backward pass, each as
 * soon as its bucket is ready and the one before has finished. The optimizer starts when the
 * backward pass and the last all-reduce are done on all ranks:
 *
 *     iteration_s = max(backward end, last all-reduce end) + optimizer_s
 *                 = compute_s + exposed_s
 *
 * With jitter, compute times are multiplied by a random factor in each of several steps; the
 * slowest rank sets the pace, since a bucket is ready when it is ready on all ranks.
 *
 * Scaling efficiency is images per second and GPU, over that of the baseline: one GPU (compute
 * only), or one node (all its GPUs, flat ring, same engine, buckets, channels and window).
 */
#ifndef AR_STEP_H
#define AR_STEP_H

#include "ar_trial.h"
#include "ar_workload.h"

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

    /* Results. */
    double iteration_s;
    double iteration_ci95_s; /**< half the 95 % confidence interval of the mean; 0 for one step */
    double compute_s;        /**< overhead, forward, backward, optimizer; the mean of a GPU */
    double allreduce_s;      /**< some rank's communication stream is busy, all buckets */
    double exposed_s; /**< the part of it that the backward pass does not hide; with jitter also
                           the wait for the slowest rank */
    double images_per_s;
    double efficiency_frac;
    uint64_t payload_bytes;       /**< all buckets */
    struct ar_workload *workload; /**< owned by the step */
    struct ar_trial trial; /**< of the last step; its jobs and times, one for each bucket, are
                                the step's */
};

/** Runs a step and its baseline. On success the step is freed with ar_step_destroy(). */
enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err);

void ar_step_destroy(struct ar_step *step);

#endif
