/** \file ar_job.h
 * A job: the question that a prediction answers, loaded and constant.
 *
 * The keys of a scenario (ar_scenario.h) are texts; a job holds the values read from them, and the
 * code that works on a job parses no text. A job is a small value that points to what others own,
 * so that a copy with another field is another question: the baseline of an efficiency is the same
 * job on one node with a ring, the two ends of a band are the same job with other times of a
 * library (predict.c).
 */
#pragma once

#include "ar_async.h"
#include "ar_framework.h"
#include "ar_strategy.h"
#include "ar_trial.h"
#include "ar_work_units.h"

struct ar_kind;

/** A rank that takes `factor` (at least 1) times as long to compute. */
struct ar_straggler {
    uint32_t rank;
    double factor;
};

enum ar_baseline { AR_BASELINE_GPU, AR_BASELINE_NODE };
extern const char *const ar_baseline_names[]; /**< NULL ends them */

/** Flows and times found so far, shared by jobs whose collectives are the same, or whose layouts
 * have the same mesh and elements, on one cluster by one engine. All of it is the arena's. */
struct ar_known {
    struct ar_arena *arena;
    const struct ar_flows *flows; /**< of the collective of the jobs; NULL: not yet */
    struct work_known *works;     /**< (kinds.h) */
    size_t works_count;
};

struct ar_job {
    const struct ar_kind *kind;   /**< which kind of question it is (ar_kind.h) */
    const struct ar_trace *trace; /**< layers of which each rank has a replica; NULL: none */
    struct ar_layout layout;      /**< checked; of a trace only `strategy` (NULL: data), `prefetch`
                                       and `sparse_frac` count, the rest follows from the trace */
    struct ar_part_times times;   /**< of the parts of a transformer */
    struct ar_async async;        /**< of a strategy with servers */
    struct ar_units units;        /**< of a strategy that deals work units */
    /** The collective itself; of a trace that of its gradients. Of other steps its cluster, window
     * and bytes of an element, channels, and its algorithm (NULL: the first of each operation). */
    struct ar_collective collective;
    struct ar_known *known;  /**< what other jobs found out, and this one adds to; NULL: nothing */
    uint64_t elements;       /**< of the payload: of a collective, or all gradients of a trace */
    struct ar_fusion fusion; /**< how gradients of a trace become buckets */
    double fused_bytes;      /**< of a gradient as it is fused */
    const struct ar_framework *framework; /**< NULL: all terms off. Its wire.precision is that of
                                               collective.element_bytes, its compute terms are in
                                               the trace already */
    double jitter_frac;        /**< coefficient of variation of compute times (ar_draw.h) */
    double spread_frac;        /**< the same of jitter that is not drawn: the step is longer by
                                    what the slowest GPU is expected to compute longer */
    uint64_t seed;             /**< of the jitter */
    uint32_t iterations_count; /**< steps simulated, at least 1; results are their means */
    const struct ar_straggler *stragglers; /**< of the step; the baseline has none */
    uint32_t stragglers_count;
    enum ar_baseline baseline;
    const struct ar_engine *engine;
    const struct ar_library *library; /**< for engines that need one; else NULL */
    enum ar_band band;                /**< of the library's times */
    bool is_row_alone; /**< nobody reads the graph of the timing, which may leave out equal periods
                            of a pipeline (ar_graph.h) */
    struct ar_usage *usage;       /**< of the last step, where the engine simulates; NULL: none */
    struct ar_timeline *timeline; /**< of the last step, marks for each bucket of a trace with
                                       strategy `data`; NULL: none */
};

/** GPUs of a job. */
uint32_t ar_job_ranks(const struct ar_job *job);

/** The mesh of a layout: those of pp, rep, dp, ep, cp, tp above 1, along the axes of the bits. */
struct ar_mesh ar_layout_mesh(const struct ar_layout *layout, uint32_t axes);

/** Messages between any two GPUs of a cluster, alone: what placed operators send (ar_operators.h).
 *
 *     time_s = bytes / bandwidth of the narrowest link + gap
 *     latency_s = setup + latency of the path + what the message costs besides
 *
 * Their sum is the time of a send by every engine that knows messages (test_placed_step). They
 * refer to the cluster. */
struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster);

/** The buckets of a step of a trace; computations are slowed down (NULL: are not). */
enum ar_status ar_job_workload(const struct ar_job *job, const struct ar_slowdown *slowdown,
                               struct ar_arena *arena, struct ar_workload **workload,
                               struct ar_error *err);
