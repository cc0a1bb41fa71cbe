/** \file step_parts.h
 * What the sources of a step share.
 */
#ifndef AR_STEP_PARTS_H
#define AR_STEP_PARTS_H

#include "ar_link_load.h"
#include "ar_step.h"

/** A term of the framework; 0 without one. */
double step_term(const struct ar_step *step, enum ar_term which);

/** The buckets of a trace and its layout, which become the step's. */
enum ar_status step_take_trace(struct ar_step *step, const struct ar_slowdown *slowdown,
                               struct ar_error *err);

/** Bytes of a gradient as it is fused. */
uint32_t step_fused_bytes(const struct ar_step *step);

/** Whether buckets are negotiated in cycles. */
bool step_has_cycles(const struct ar_step *step);

/** What the communication leaves of the speed of computations; 1 without contention. */
enum ar_status step_find_speed(const struct ar_step *step, double *speed_frac,
                               struct ar_error *err);

/** What a step lasts at least because of its input. */
double step_input_s(const struct ar_step *step);

/** Makes the graph. With a slowdown, or NULL: buckets of a trace are negotiated beside it. */
enum ar_status step_make_graph(struct ar_step *step, const struct ar_slowdown *slowdown,
                               struct ar_error *err);

/** Parts the messages of a graph by the stages between which they go: a work for each two that are
 * unlike. */
enum ar_status step_part_messages(struct ar_step *step, struct ar_error *err);

/** What goes slower because of what runs beside it. */
struct step_overlap {
    struct ar_slowdown *slowdowns; /**< [role], of computations; NULL: none */
    struct ar_sendings *sendings;  /**< [role]; NULL: nothing that is sent does */
    const double *const *speeds;   /**< as in struct ar_graph_request */
    bool is_scheduled;             /**< even ranks are, with what is found here */
};

/** How a step is timed. */
struct step_clocks {
    struct step_overlap overlap;
    bool has_ranks; /**< of the step, with their starts and factors */
    struct ar_timeline *timeline;
};

/** Whether the engine runs the whole graph, rank by rank. */
bool step_runs_ranks(const struct ar_step *step);

/** Times all that is sent and schedules the graph. */
enum ar_status step_schedule(struct ar_step *step, const struct step_clocks *clocks,
                             struct ar_error *err);

/** What goes slower because of what runs beside it: the slowdowns with which even ranks find the
 * times that make them; the graph is made with them. None where the engine runs all ranks.
 * AR_INTERNAL if times do not stay. */
enum ar_status step_find_overlap(struct ar_step *step, struct step_overlap *overlap,
                                 struct ar_error *err);

/** Speeds of works beside each other (step_sharing.c). */
struct step_sharing {
    uint32_t *works;              /**< [sent]: those that are sent, */
    uint32_t *numbers;            /**< [work]: and which of them it is */
    size_t count;                 /**< of them */
    double **speeds;              /**< [work][other sent]; 0, NULL: not known */
    struct ar_link_load **loads;  /**< [sent]; NULL: not asked for yet */
    struct ar_sendings *sendings; /**< [role] */
    struct ar_interval *windows;  /**< [role]: its second stream is busy */
    struct ar_sending *list;      /**< of all roles */
    bool is_needed;               /**< some speeds are below 1 */
};

/** Whether works of two streams may be under way at once and share links that the engine knows. */
bool step_can_share(const struct ar_step *step);

enum ar_status step_sharing_begin(struct ar_step *step, struct step_sharing *sharing,
                                  struct ar_error *err);

/** Lists what roles send and get in the graph as it is scheduled, and finds the speeds of the works
 * that are under way at once. */
enum ar_status step_sharing_find(struct ar_step *step, struct step_sharing *sharing,
                                 struct ar_error *err);

/** A step of a strategy with servers: an asynchronous run (ar_async.h) in place of a graph, all
 * iterations at once, in the memory of the step; fills in its results but for those of the
 * baseline. */
enum ar_status step_async_run(struct ar_step *step, struct ar_error *err);

/** A plan, which becomes the step's. */
enum ar_status step_create_plan(struct ar_step *step, const struct ar_collective *collective,
                                const struct ar_closed **plan, struct ar_error *err);

/** The plan of a work, by its number, for an engine that needs one; else NULL. */
enum ar_status step_find_plan(struct ar_step *step, uint32_t work, const struct ar_closed **plan,
                              struct ar_error *err);

/** The collective of a work. */
struct ar_collective step_collective(const struct ar_step *step, const struct ar_work *work);
uint64_t step_elements(const struct ar_work *work, const struct ar_collective *collective);

#endif
