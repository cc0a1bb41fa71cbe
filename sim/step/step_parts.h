/** \file step_parts.h
 * What the sources of a step share.
 */
#ifndef AR_STEP_PARTS_H
#define AR_STEP_PARTS_H

#include "ar_step.h"

/** A term of the framework; 0 without one. */
double step_term(const struct ar_step *step, enum ar_term which);

/** The buckets of a trace and its layout, which become the step's. */
enum ar_status step_take_trace(struct ar_step *step, const struct ar_slowdown *slowdown,
                               struct ar_error *err);

/** Whether buckets are negotiated in cycles. */
bool step_has_cycles(const struct ar_step *step);

/** What the communication leaves of the speed of computations; 1 without contention. */
enum ar_status step_find_speed(const struct ar_step *step, double *speed_frac,
                               struct ar_error *err);

/** What a step lasts at least because of its input. */
double step_input_s(const struct ar_step *step);

/** Makes the graph. With slowdowns, [role], or NULL: buckets are negotiated beside them. */
enum ar_status step_make_graph(struct ar_step *step, const struct ar_slowdown *slowdowns,
                               struct ar_error *err);

/** How a step is timed. */
struct step_clocks {
    const struct ar_slowdown *slowdowns; /**< [role]; NULL: none */
    bool has_ranks;                      /**< of the step, with their starts and factors */
    struct ar_timeline *timeline;
};

/** Whether the engine runs the whole graph, rank by rank. */
bool step_runs_ranks(const struct ar_step *step);

/** Times all that is sent and schedules the graph. */
enum ar_status step_schedule(struct ar_step *step, const struct step_clocks *clocks,
                             struct ar_error *err);

/** With contention: the slowdowns, [role], with which even ranks find the times that make them; the
 * graph is made with them. NULL without, and where the engine runs all ranks. AR_INTERNAL if times
 * do not stay. */
enum ar_status step_contend(struct ar_step *step, struct ar_slowdown **slowdowns,
                            struct ar_error *err);

#endif
