/** \file ar_step.h
 * One training step: the task graph (ar_graph.h) that a strategy makes of a model, timed by an
 * engine; and how well it scales.
 *
 * The model is a transformer laid out on a mesh, or the layers of a trace, of which every rank has
 * a replica. The graph says what a GPU computes on one stream, what it sends beside that on
 * another, and what waits for what. Where an engine has to put times on it:
 *
 * - Buckets of gradients of a trace are a *series*: the engine runs their all-reduces as one stream
 *   (ar_trial.h), each on each rank as soon as it is ready there and the one before has finished.
 *   So are, where ranks differ, all collectives beside the computations.
 * - All else that is sent is run once, alone, in all groups along its axes, so that groups share
 *   links; a message from the GPUs of one stage to those of the next. Collectives take the step's
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
 * **Terms of a framework** (ar_framework.h) that enter here, not the trace; with
 * one rank there is nobody to exchange with, and all but the input limit are off:
 *
 * - Buckets that are negotiated in cycles may be sent later than their last gradient is there, and
 *   hold other tensors (ar_workload.h). A negotiation ends when the slowest rank has taken part:
 *   where ranks differ, all start a bucket when it is ready on the last of them, with the tensors
 *   and after the wait of the even step. Without cycles each rank starts as soon as it can.
 * - A bucket of several tensors is copied in and out on the communication stream (ar_trial.h): of
 *   each `copy_s` = fusion.passes * bytes / rate + 2 * tensors * fusion.tensor. Bytes are those on
 *   the wire, also where the gradients are wider or narrower.
 * - While the second stream is busy computations run at 1 - contention.sms * channels / gpu.sms of
 *   their speed, with the channels of the command line or the cluster. Times of both depend on each
 *   other; they are iterated on even ranks (step_contention.c), and ranks that differ scale the
 *   stretched times. contention_s is how much longer computations take; it is part of exposed_s.
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
#ifndef AR_STEP_H
#define AR_STEP_H

#include "ar_arena.h"
#include "ar_async.h"
#include "ar_engines.h"
#include "ar_framework.h"
#include "ar_graph_trial.h"
#include "ar_mesh.h"
#include "ar_operators.h"
#include "ar_strategy.h"
#include "ar_work_units.h"

/** A rank that takes `factor` (at least 1) times as long to compute. */
struct ar_straggler {
    uint32_t rank;
    double factor;
};

enum ar_baseline { AR_BASELINE_GPU, AR_BASELINE_NODE };
extern const char *const ar_baseline_names[]; /**< NULL ends them */

struct ar_step {
    /* Parameters. */
    const struct ar_trace *trace; /**< NULL: the transformer of the layout */
    struct ar_layout layout;    /**< checked; of a trace only `strategy` (NULL: data) and `prefetch`
                                     count, the rest follows when the step is run */
    struct ar_async async;      /**< of a strategy with servers: these; run: its results */
    struct ar_units units;      /**< of one that deals units */
    struct ar_part_times times; /**< of a transformer */
    struct ar_collective collective; /**< of a trace: of its gradients. Else its cluster, window and
                                          bytes of an element, its algorithm (NULL: the first of
                                          each operation) and channels count */
    struct ar_fusion fusion;         /**< of a trace */
    uint32_t fused_bytes;            /**< of a gradient as it is fused; 0: as on the wire */
    const struct ar_engine *engine;
    enum ar_baseline baseline;
    double jitter_frac;        /**< coefficient of variation of compute times (ar_draw.h) */
    uint64_t seed;             /**< of the jitter */
    uint32_t iterations_count; /**< steps simulated, at least 1; results are their means */
    const struct ar_straggler *stragglers; /**< of the step; the baseline has none */
    uint32_t stragglers_count;
    struct ar_timeline *timeline;     /**< of the last step, marks for each bucket of a trace with
                                           strategy `data`; NULL: none */
    const struct ar_library *library; /**< for engines that need one; else NULL */
    enum ar_band band;                /**< of the library's times */
    const struct ar_framework *framework; /**< NULL: all terms off. Its wire.precision is that of
                                               collective.element_bytes, its compute terms are in
                                               the trace already */

    /* Results. */
    double iteration_s;
    double iteration_ci95_s; /**< half the 95 % confidence interval of the mean; 0 for one step */
    double compute_s;        /**< overhead, forward, backward, optimizer; the mean of a GPU */
    double exposed_s;     /**< what a step takes beyond compute_s and bubble_s: what is sent and not
                               hidden, contention_s; with jitter or stragglers also the wait for the
                               slowest rank */
    double bubble_s;      /**< waiting for other stages of a pipeline, or for slower workers */
    double bubble_frac;   /**< bubble_s / compute_s */
    double allreduce_s;   /**< some rank's second stream is busy, and the statistics; of one role */
    double copy_s;        /**< packing and unpacking on the communication stream, all buckets */
    double contention_s;  /**< how much longer computations take beside communication */
    double statistics_s;  /**< exchange of batch-norm statistics, per step */
    double input_wait_s;  /**< the step waits for its input, beside compute_s and exposed_s */
    double samples_per_s; /**< of a trace, as are the four below */
    double efficiency_frac;
    /** iteration_s with all all-reduces at the low and at the high end of their 95 % bands, which
     * takes all errors to go the same way; NAN by engines without bands. */
    double low_s, high_s;
    uint64_t payload_bytes;      /**< of all gradients */
    struct ar_graph_split split; /**< mean over the stages and steps */
    uint64_t messages_count;     /**< works each once, series as often as they are; 0 if the engine
                                      knows of none */
    double wall_s;
    bool exact;                   /**< the engine neglects nothing */
    struct ar_graph *graph;       /**< of the last step, scheduled; the step's. NULL: servers */
    struct ar_workload *workload; /**< of a trace; the step's */
    struct ar_trial trial; /**< the last series of the last step; its jobs and times, its plan (NULL
                                for one rank) and its arrays of ranks are the step's. No jobs: there
                                was no series. Times are from when the first rank began the step */
    double *rank_end_s;    /**< [rank]: end of the last step; NULL where all ranks are alike. The
                                step's */

    /* Private: what the step owns. */
    struct ar_arena memory;
    uint64_t works_messages;
    const struct ar_closed *plan;
    struct step_plan *plans; /* of works of the graph */
    size_t plans_count;
    struct ar_call *jobs;
    struct ar_call_time *job_times;
    double *rank_start_s;
    double *rank_factor;
    double *series_start_s;
    double *series_factor;
    double *rank_finish_s;
    double *agreed_s;
};

/** GPUs of a step. */
uint32_t ar_step_ranks(const struct ar_step *step);

/** The mesh of a layout: pp, dp, ep, tp, without those of size 1, along the axes of the bits. */
struct ar_mesh ar_step_mesh(const struct ar_layout *layout, uint32_t axes);

/** Messages between any two GPUs of a cluster, alone: what placed operators send (ar_operators.h).
 *
 *     time_s = bytes / bandwidth of the narrowest link + gap
 *     latency_s = setup + latency of the path + what the message costs besides
 *
 * Their sum is the time of a send by every engine that knows messages (test_placed_step). They
 * refer to the cluster, whose GPUs reach each other (ar_cluster_check_reach()). */
struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster);

/** The buckets of a step of a trace, without slowdown. */
enum ar_status ar_step_workload(const struct ar_step *step, struct ar_arena *arena,
                                struct ar_workload **workload, struct ar_error *err);

/** Messages of all ranks in all steps where the engine runs the whole graph at once, rank by rank
 * (ar_graph_trial.h); 0 where it does not. */
double ar_step_ranks_messages(const struct ar_step *step);

/** The graph of a step with what its works send, rank by rank; of one that was run, with the
 * factors of its last step. It lies in the step. */
enum ar_status ar_step_graph_trial(struct ar_step *step, struct ar_graph_trial *trial,
                                   struct ar_error *err);

/** Runs a step and its baseline. On success the step is freed with ar_step_destroy(). */
enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err);

void ar_step_destroy(struct ar_step *step);

/** Of a step that ends with its block: `struct ar_step step AR_STEP_ENDS_HERE = ...;` */
#define AR_STEP_ENDS_HERE __attribute__((cleanup(ar_step_destroy)))

#endif
