/** \file timer.h
 * What the sources of a timing share: a job that is being timed.
 */
#ifndef AR_TIMER_H
#define AR_TIMER_H

#include "ar_link_load.h"
#include "ar_timing.h"

/** The flows of works that differ in their bytes alone. */
struct timer_flows {
    struct ar_work work; /**< the first one that has it */
    const struct ar_flows *flows;
};

struct timer {
    const struct ar_job *job;
    struct ar_timing *timing;        /**< what is found out; all lies in its arena */
    const struct ar_flows *flows;    /**< of the job's own collective; NULL: none is needed */
    struct timer_flows *flows_known; /**< of works of the graph */
    size_t flows_count;
    uint64_t works_messages; /**< of works that were timed once */
    struct ar_call *calls;   /**< [task]: room for a series, */
    struct ar_call_time *call_times;
    double *series_start_s; /**< and [rank] for its ranks */
    double *series_factor;
    double *rank_finish_s;
    double *agreed_s; /**< [call]: all ranks agreed to it; NULL: nothing is negotiated */
};

/** Answers a job, but for its baseline and bands. */
enum ar_status job_time(const struct ar_job *job, struct ar_arena *arena, struct ar_timing *timing,
                        struct ar_error *err);

/** Bytes of a gradient of a trace as it is fused. */
uint32_t job_fused_bytes(const struct ar_job *job);

/** Whether buckets are negotiated in cycles. */
bool job_has_cycles(const struct ar_job *job);

/** The fraction of their speed that communication leaves to computations; 1 without contention. */
enum ar_status job_find_speed(const struct ar_job *job, double *speed_frac, struct ar_error *err);

/** Least time of a step that its input allows. */
double job_input_s(const struct ar_job *job);

/** Makes the graph; with a slowdown, or NULL: buckets are negotiated beside it. */
enum ar_status timer_make_graph(struct timer *timer, const struct ar_slowdown *slowdown,
                                struct ar_error *err);

/** Slowdowns of computations and messages by what runs beside them. */
struct overlap {
    struct ar_slowdown *slowdowns; /**< [role], of computations; NULL: none */
    struct ar_sendings *sendings;  /**< [role]; NULL: nothing that is sent does */
    const double *const *speeds;   /**< as in struct ar_graph_request */
    bool is_scheduled;             /**< even ranks are, with what is found here */
};

/** Whether the engine runs the whole graph, rank by rank. */
bool timer_runs_ranks(const struct timer *timer);

/** Times all that is sent and schedules the graph; `has_ranks`: on ranks with their starts and
 * factors. */
enum ar_status timer_schedule(struct timer *timer, const struct overlap *overlap, bool has_ranks,
                              struct ar_timeline *timeline, struct ar_error *err);

/** Finds what goes slower because of what runs beside it: the slowdowns with which even ranks find
 * the times that make them; the graph is made with them. Nothing where the engine runs all ranks.
 * AR_BAD_DATA if times do not settle. */
enum ar_status timer_find_overlap(struct timer *timer, struct overlap *overlap,
                                  struct ar_error *err);

/** Times a strategy with servers: an asynchronous run (ar_async.h) in place of a graph, all
 * iterations at once; fills in all but what the baseline decides. */
enum ar_status servers_run(const struct ar_job *job, struct ar_timing *timing,
                           struct ar_error *err);

/** The flows of a work, by its number, for an engine that has them; else NULL. */
enum ar_status timer_find_flows(struct timer *timer, uint32_t work, const struct ar_flows **flows,
                                struct ar_error *err);

/** The collective of a work. */
struct ar_collective work_collective(const struct ar_job *job, const struct ar_layout *layout,
                                     const struct ar_work *work);
uint64_t work_elements(const struct ar_work *work, const struct ar_collective *collective);

#endif
