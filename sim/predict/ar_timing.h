/** \file ar_timing.h
 * A timing: the answer to a job. When each task of its graph starts and ends, and where the time
 * goes.
 *
 * A job becomes a task graph (ar_graph.h), which says what a GPU computes on one stream, what it
 * sends beside that on others, and what waits for what; a bare collective is a graph of one task.
 * The graph is scheduled with the engine's times of what is sent:
 *
 * - Buckets of gradients of a trace are a *series*: the engine runs their all-reduces as one stream
 *   (ar_trial.h), each on each rank as soon as it is ready there and the one before has finished.
 *   So are, where ranks differ, all collectives beside the computations.
 * - All else that is sent is run once, alone, in all groups along its axes, so that groups share
 *   links; a message from the GPUs of one stage to those of the next. Collectives take the job's
 *   algorithm if it is of their operation, else the first one of the operation (ring; all-to-all:
 *   all messages at once); the choice of a library if the engine leaves it to one.
 *
 *     iteration_s = end of the last task = compute_s + exposed_s + bubble_s (+ input_wait_s)
 *
 * **Ranks that differ.** Compute times of a rank are multiplied by its factor: that of a straggler,
 * times the jitter's, which is drawn anew for each rank and step. Several steps run back to back: a
 * rank begins the next one when it has ended its own; with a pipeline all ranks begin it together,
 * since the norm of all gradients is summed over its stages. A step lasts from the end of the step
 * before to its own, both on the last rank.
 *
 * **Terms of a framework** (traces/layers/ar_framework.h) that enter here, not the trace; with
 * one rank there is nobody to exchange with, and all but the input limit are off:
 *
 * - Buckets that are negotiated in cycles may be sent later than their last gradient is there, and
 *   hold other tensors (ar_workload.h). A negotiation ends when the slowest rank has taken part:
 *   where ranks differ, all start a bucket when it is ready on the last of them, with the tensors
 *   and after the wait of the even step. Without cycles each rank starts as soon as it can.
 * - A bucket of several tensors is copied in and out on the communication stream (ar_trial.h),
 * which takes `copy_s` = fusion.passes * bytes / rate + 2 * tensors * fusion.tensor. Bytes are
 * those on the wire, also where the gradients are wider or narrower.
 * - While the second stream is busy computations run at 1 - contention.sms * channels / gpu.sms of
 *   their speed, with the channels of the command line or the cluster. Times of both depend on each
 *   other; they are iterated on even ranks (overlap.c), and ranks that differ scale the stretched
 *   times. contention_s is how much longer computations take; it is part of exposed_s.
 * - Batch-norm statistics are one more all-reduce by the same collective, in fp32, between the last
 *   one and the optimizer, every bn.interval steps: its time over the interval is part of
 *   allreduce_s and exposed_s. Nothing hides it.
 * - A step lasts at least batch * GPUs / input.rate, with the GPUs of the fullest node: what is
 *   missing is input_wait_s, of the mean step, since frameworks read ahead. Not so one GPU as a
 *   baseline, which is compute only.
 *
 * **Strategies with servers** have no graph: their steps are an asynchronous run (ar_async.h) of
 * buckets, or of layers, in which compute_s and what is exposed are parts of a worker's time, and
 * bubble_s is waiting for slower workers.
 *
 * Scaling efficiency, of traces, is samples per second and GPU, over that of the baseline: one GPU
 * (compute only), or one node (all its GPUs, flat ring, same engine, buckets, channels and window).
 */
#pragma once

#include "ar_graph_trial.h"
#include "ar_job.h"

struct ar_timing {
    const struct ar_job *job; /**< the question; the caller's */
    struct ar_arena *arena;   /**< all else that it points to lies there */
    double iteration_s;       /**< of a step; of a collective its time */
    double iteration_ci95_s;  /**< half the 95 % confidence interval of the mean; 0 for one step */
    double compute_s;         /**< overhead, forward, backward, optimizer; the mean of a GPU */
    double exposed_s;     /**< what a step takes beyond compute_s and bubble_s: messages not hidden,
                               contention_s; with jitter or stragglers waits for the slowest rank */
    double bubble_s;      /**< waiting for other stages of a pipeline, or for slower GPUs */
    double bubble_frac;   /**< bubble_s / compute_s, without slowest_s */
    double slowest_s;     /**< part of bubble_s: what the slowest GPU of a step is expected to
                               compute longer than the mean (spread_frac of the job) */
    double allreduce_s;   /**< some rank's second stream is busy, and the statistics; of one role */
    double copy_s;        /**< packing and unpacking on the communication stream, all buckets */
    double contention_s;  /**< how much longer computations take beside communication */
    double statistics_s;  /**< exchange of batch-norm statistics, per step */
    double busiest_s;     /**< the busiest link is busy, of transformers; else NAN */
    double moved_j;       /**< energy of links, likewise */
    double input_wait_s;  /**< the step waits for its input, beside compute_s and exposed_s */
    double samples_per_s; /**< of a trace; else NAN, as is */
    double efficiency_frac; /**< over that of the baseline */
    /** iteration_s with all collectives at the low and at the high end of their 95 % bands, which
     * takes all errors to go the same way; NAN by engines without bands. */
    double low_s, high_s;
    uint64_t payload_bytes;      /**< of all gradients */
    struct ar_graph_split split; /**< mean over the stages and steps */
    uint64_t messages_count;     /**< works count once, series each time; 0: none is known */
    double wall_s;               /**< real time that the run took, without baseline and bands */
    bool exact;                  /**< the engine neglects nothing */
    struct ar_layout layout;     /**< the job's; of a trace what became of it */
    struct ar_graph *graph;      /**< of the last step, scheduled; NULL: servers */
    const struct ar_workload *workload; /**< buckets of a trace */
    struct ar_trial trial; /**< the last series of the last step, or the collective. No calls: there
                                was none. Times are from when the first rank began the step */
    double *rank_start_s, *rank_factor; /**< [rank]: of the last step; NULL where all are alike, */
    double *rank_end_s;                 /**< as is when each ended it */
    struct ar_async async;              /**< of servers: the run with its results */
    struct ar_units units;              /**< of work units, likewise */
};

/** Answers a job, its baseline and bands included. The timing lies in the arena. */
enum ar_status ar_predict(const struct ar_job *job, struct ar_arena *arena,
                          struct ar_timing *timing, struct ar_error *err);

/** The graph of a job with what its works send, rank by rank; of one that was timed, with the
 * factors of its last step. */
void ar_timing_graph_trial(const struct ar_timing *timing, struct ar_graph_trial *trial);

/** Messages of all ranks in all steps where the engine runs the whole graph at once, rank by rank
 * (ar_graph_trial.h), weighed by the time that they take; 0 where it does not. Those that repeat a
 * period (ar_graph.h) do not count. */
double ar_job_ranks_messages(const struct ar_job *job);
