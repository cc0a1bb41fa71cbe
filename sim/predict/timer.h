/** \file timer.h
 * A job that is being timed: its graph, what the works of it take, and the schedule of a step.
 */
#pragma once

#include "ar_link_load.h"
#include "kinds.h"

/** A work, and what it takes alone. */
struct work_known {
    struct ar_work work;
    const struct ar_flows *flows; /**< also of those that differ in their bytes; NULL: none yet, or
                                       another one has them */
    double time_s;                /**< AR_GRAPH_UNTIMED: not known yet */
    uint64_t messages_count;
    bool exact;
    struct ar_link_load *loads; /**< [link]: what it sends; NULL: not known yet */
};

/** Slowdowns of computations and messages by what runs beside them. */
struct overlap {
    struct ar_slowdown *slowdowns; /**< [role], of computations; NULL: none */
    struct ar_sendings *sendings;  /**< [role]; NULL: nothing that is sent does */
    const double *const *speeds;   /**< as in struct ar_graph_request */
    bool is_scheduled;             /**< even ranks are, with what is found here */
};

struct timer {
    const struct ar_job *job;
    struct ar_timing *timing;     /**< what is found out; all lies in its arena */
    const struct ar_flows *flows; /**< of the job's own collective; NULL: none is needed */
    struct ar_known *known;       /**< the job's, or `own_known` */
    struct ar_known own_known;
    uint32_t role_ranks;     /**< ranks of each role of the graph */
    bool runs_ranks;         /**< the engine runs the whole graph, rank by rank */
    uint64_t works_messages; /**< of works that were timed once */
    struct ar_call *calls;   /**< [task]: room for a series, */
    struct ar_call_time *call_times;
    double *series_start_s; /**< and [rank] for its ranks */
    double *series_factor;
    double *rank_finish_s;
    struct overlap overlap;
    struct ar_timeline *timeline; /**< of the series; NULL: none */
    bool is_unsteady; /**< its graph leaves out periods that are not equal: nothing is known */
    double *agreed_s; /**< [call]: all ranks agreed to it; NULL: nothing is negotiated */
};

/** Answers a job, but for its baseline and bands. */
enum ar_status job_time(const struct ar_job *job, struct ar_arena *arena, struct ar_timing *timing,
                        struct ar_error *err);

/** Makes the graph; with a slowdown, or NULL: buckets are negotiated beside it. */
enum ar_status timer_make_graph(struct timer *timer, const struct ar_slowdown *slowdown,
                                struct ar_error *err);

/** Times what is sent, schedules the graph; `has_ranks`: on ranks with starts and factors. */
enum ar_status timer_schedule(struct timer *timer, bool has_ranks, struct ar_error *err);

/** Finds what goes slower because of what runs beside it: the slowdowns with which even ranks find
 * the times that make them; the graph is made with them. Nothing where the engine runs all ranks.
 * AR_BAD_DATA if times do not settle. */
enum ar_status timer_find_overlap(struct timer *timer, struct ar_error *err);

/** How long the busiest link is busy in a step of works that were timed one by one, an estimate
 * from above where stages differ, and the energy of all links; NAN by engines without links. */
double timer_busiest_s(const struct timer *timer, double *moved_j);

/** The entry of a work among known ones, new where it has none; valid until the next call. */
struct work_known *timer_find_known(struct timer *timer, const struct ar_work *work);

/** The flows of a work, by its number, for an engine that has them; else NULL. */
enum ar_status timer_find_flows(struct timer *timer, uint32_t work, const struct ar_flows **flows,
                                struct ar_error *err);

/** Whether flows that were made for one work are those of another, which may differ in bytes. */
bool work_has_flows_of(const struct ar_work *known, const struct ar_work *work);

/** The engine that times a work. */
const struct ar_engine *work_engine(const struct ar_job *job, const struct ar_work *work);

/** The collective of a work. */
struct ar_collective work_collective(const struct ar_job *job, const struct ar_layout *layout,
                                     const struct ar_work *work);
uint64_t work_elements(const struct ar_work *work, const struct ar_collective *collective);
