/** \file ar_graph.h
 * The task graph of a training step: what is computed and sent, and what each of it waits for.
 *
 * A graph has roles: groups of ranks that do the same, such as the stages of a pipeline. A task
 * belongs to a role and to one of its streams, on which tasks run in the order in which they were
 * added, and is one of
 *
 * - a **computation**, whose time is known when the graph is made;
 * - a **collective** along axes of the mesh, in all groups at once;
 * - a **message** to another role, from every rank of the one to its counterpart.
 *
 * What a task does is a *work*; works that are equal are one, so that an engine times each once. A
 * task may do its work several times, one after the other: layers that are alike.
 *
 * A task starts when the one before it on its stream, and all tasks that it needs, have ended
 * (list scheduling): start = max(end of those) + wait, end = start + copies + count * time of the
 * work. A computation that needs a message starts the latency of that later.
 *
 * **Ranks.** Where the ranks of a role are alike one stands for all. Else each has a time at which
 * it begins and a factor of its computations, and a task starts on a rank when what it waits for
 * has ended there:
 *
 * - Whole collectives that follow each other on a stream, wait for computations alone, and of which
 *   only the last is waited for, are a *series*: whoever times the graph runs them at once, each
 * rank beginning one when it is ready there (ar_trial.h).
 * - Other collectives begin when the last rank of their group is ready, and end on all at once; in
 *   truth the parts of ranks that are ready go ahead, so that this is an estimate from above.
 * - A message goes from each rank to its counterpart as soon as it is ready.
 *
 * Times of tasks are then those of the last rank; those of a series begin on the first one.
 *
 * **Slowdown.** Computations beside communication go slower (ar_workload.h), but not the optimizer.
 * **Sharing.** What is sent goes slower while a role that sends it, or gets it, sends or gets
 * something else on another stream, one of the two not on a compute stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_operation.h"
#include "ar_workload.h"

/** The streams of a role: computations with what they wait for, and one for each group of GPUs that
 * exchanges something beside them, as each has a communicator, and so a stream, of its own. */
enum ar_stream {
    AR_STREAM_COMPUTE,
    AR_STREAM_GRADIENTS, /**< gradients and parameters that replicas exchange */
    AR_STREAM_PARTS,     /**< collectives of a part of a product, or of the samples */
    AR_STREAM_MESSAGES,  /**< messages to other stages of a pipeline */
    AR_STREAM_COPIES,    /**< sums of gradients over the copies of a sharded model */
    AR_STREAM_HOST,      /**< computations of the host, which launches all the others */
    AR_STREAMS_COUNT
};

enum ar_task_kind { AR_TASK_COMPUTE, AR_TASK_COLLECTIVE, AR_TASK_MESSAGE };

/** Axes of the mesh of a training step, outermost first. */
#define AR_AXIS_LIST(X)                                                                            \
    X(AR_AXIS_PP, "pp")                                                                            \
    X(AR_AXIS_REP, "rep")                                                                          \
    X(AR_AXIS_DP, "dp")                                                                            \
    X(AR_AXIS_EP, "ep")                                                                            \
    X(AR_AXIS_CP, "cp")                                                                            \
    X(AR_AXIS_TP, "tp")

enum ar_axis { AR_AXIS_LIST(AR_LIST_FIRST) AR_AXES_COUNT };
extern const char *const ar_axis_names[]; /**< NULL ends them */

struct ar_work {
    enum ar_task_kind kind;
    double time_s; /**< of a computation; of others AR_GRAPH_UNTIMED until an engine has run them */
    const struct ar_operation *operation; /**< of collectives and messages, */
    uint32_t axes;                        /**< bits 1 << ar_axis along which it runs, */
    uint64_t bytes;                       /**< and its payload, as nccl-tests counts it */
    uint32_t element_bytes;               /**< of the payload; 0: as all else that is sent */
    double share; /**< of the pieces of a larger collective, which go one by one: its time is that
                       share of the time of the whole; 0: it is whole */
    double every; /**< steps of which one does it; time_s is the part of each, which no rank waits
                       for another to spend; 0: all steps do */
    uint32_t from, to; /**< of a message: roles that stand for all between which it takes as long;
                            the same: any two that follow each other */
    double latency_s;  /**< of a message that was timed when the graph was made: what it brings is
                            there so much later than it has left its stream */
};

#define AR_GRAPH_UNTIMED (-1.0)

/** The pass of a step that a computation belongs to. */
#define AR_DUTY_LIST(X)                                                                            \
    X(AR_DUTY_FORWARD, "forward")                                                                  \
    X(AR_DUTY_BACKWARD, "backward")                                                                \
    X(AR_DUTY_OPTIMIZER, "optimizer")

enum ar_duty { AR_DUTY_LIST(AR_LIST_FIRST) AR_DUTIES_COUNT };
extern const char *const ar_duty_names[]; /**< NULL ends them */

#define AR_NO_TASK UINT32_MAX

struct ar_task {
    uint32_t work;
    uint32_t count; /**< times that the work is done */
    uint32_t role;
    uint32_t to; /**< role that a message goes to; else `role` */
    enum ar_stream stream;
    enum ar_duty duty;     /**< of a computation, or of the one that a collective belongs to */
    uint32_t batch;        /**< number of the micro-batch */
    uint32_t chunk;        /**< of the model, from the first layers on */
    uint32_t layer;        /**< of the chunk, the first one */
    uint32_t tensors;      /**< of a bucket of gradients */
    double wait_s;         /**< from when it could start until it may, such as a negotiation */
    double copy_s;         /**< copies into and out of a buffer, in front of a collective */
    uint32_t need;         /**< first of its needs; AR_NO_TASK: none */
    uint32_t after;        /**< the next one on its stream; AR_NO_TASK: none */
    const char *name;      /**< for people; NULL: duty, batch and chunk say what it is */
    double start_s, end_s; /**< result of ar_graph_schedule() */
    double longer_s;       /**< result: of a computation, beyond what it takes alone */
    uint32_t waited_for;   /**< result: which task ended at start_s, the last one; AR_NO_TASK */
};

struct ar_need {
    uint32_t task; /**< that must have ended */
    uint32_t next; /**< AR_NO_TASK: the last one */
};

/** Equal periods that are left out of the graph of a pipeline (ar_periods_graph()). A pipeline
 * warms up, goes through period after period, which are equal but for their begin, and drains. The
 * graph has fewer micro-batches than the layout; some tasks of each role stand for those of the
 * periods that are left out. Sums over a step count them as often as they are done; tasks after
 * them start and end `left_out * period_s` later than they do in the graph. */
struct ar_periods {
    uint32_t left_out;     /**< periods */
    uint32_t batches;      /**< micro-batches of these */
    double period_s;       /**< result of ar_periods_find() or of a simulation: how long one takes;
                                NAN: the simulation is not steady */
    const uint32_t *warm;  /**< [role]: first task that is compared with one a period later */
    const uint32_t *begin; /**< [role]: first task of a period that stands for those left out, */
    const uint32_t *end;   /**< [role]: and the first one after it */
};

struct ar_graph {
    uint32_t roles_count;
    struct ar_arena *arena; /**< of all of it */
    struct ar_work *works;
    uint32_t works_count, works_room;
    uint32_t *places; /**< hash table of works: their numbers, 2 * works_room */
    struct ar_task *tasks;
    uint32_t tasks_count;
    struct ar_need *needs;
    uint32_t needs_count;
    uint32_t *first, *last;     /**< [role][stream]: its tasks; AR_NO_TASK: none */
    uint32_t *steps;            /**< of a pipeline: [role][step of its schedule]: the first task */
    uint32_t steps_count;       /**< of a role */
    struct ar_periods *periods; /**< which it leaves out; NULL: none */
    bool has_series; /**< its collectives are unlike, timed as series where ranks are alike, too */
};

/** The stream of a task, among those of all roles. */
static inline uint32_t ar_task_from(const struct ar_task *task)
{
    return task->role * AR_STREAMS_COUNT + (uint32_t)task->stream;
}

/** How often a task is done in a step. */
double ar_task_times(const struct ar_graph *graph, uint32_t task);

/** How much later a task is than the graph says: the last of those it stands for. */
static inline double ar_task_late_s(const struct ar_graph *graph, uint32_t task)
{
    const struct ar_periods *periods = graph->periods;
    bool is_late = periods != NULL && task >= periods->begin[graph->tasks[task].role];
    return is_late ? periods->left_out * periods->period_s : 0;
}

/** An empty graph, which is the arena's, as all that is added to it. */
struct ar_graph *ar_graph_create(struct ar_arena *arena, uint32_t roles_count);

/** A work, that of an equal one if there is. */
uint32_t ar_graph_work(struct ar_graph *graph, const struct ar_work *work);

/** Appends a task to its stream: of what is given `work`, `count`, `role`, `to`, `stream`, `duty`,
 * `batch`, `chunk`, `layer`, `tensors`, `wait_s` and `copy_s` count. Returns its number. */
uint32_t ar_graph_add(struct ar_graph *graph, const struct ar_task *task);

/** Lets a task wait for another one, of any role; with AR_NO_TASK for nothing. */
void ar_graph_need(struct ar_graph *graph, uint32_t task, uint32_t other);

/** Collectives that are timed at once, and when they are ready on the ranks of their role: at
 * start_s[rank] + factor[rank] * ready_s[i] + wait of the task. */
struct ar_graph_series {
    const uint32_t *tasks;
    uint32_t count;
    const double *start_s; /**< [rank of the role]; NULL: 0 */
    const double *factor;  /**< [rank of the role]; NULL: 1 */
    const double *ready_s; /**< [task], not decreasing */
};

/** When something is sent. */
struct ar_sending {
    double begin_s, end_s;
    double last_s;  /**< latest end of all up to here */
    uint32_t work;  /**< its number among those that are sent */
    uint32_t role;  /**< that sends or gets it */
    uint32_t from;  /**< role * AR_STREAMS_COUNT + stream of the one that sends it */
    uint32_t place; /**< in the order of tasks */
};

/** All that a role sends and gets, in the order of begins. */
struct ar_sendings {
    const struct ar_sending *list;
    uint32_t count;
};

/** Whether two streams share: not one with itself, nor the compute streams of two roles. */
static inline int ar_sending_shares(uint32_t from, uint32_t other)
{
    return from != other && (from % AR_STREAMS_COUNT != AR_STREAM_COMPUTE ||
                             other % AR_STREAMS_COUNT != AR_STREAM_COMPUTE);
}

/** How a graph is scheduled. All zeros: ranks are alike, and nothing slows computations down. */
struct ar_graph_request {
    const struct ar_slowdown *slowdowns; /**< [role], of computations; NULL: none */
    const struct ar_sendings *sendings;  /**< [role], what it sends and gets; NULL: nothing is
                                              shared. Else there are no series */
    /** [work][other one], of the one beside the other; 0, NULL: 1. Others are numbered
     * as in `sendings`. */
    const double *const *speeds;
    uint32_t ranks_count;  /**< of a role, looked at one by one; 0: they are alike */
    const uint32_t *sizes; /**< [ar_axis], of the mesh; pp are the roles */
    const double *start_s; /**< [rank], those of a role follow each other; NULL: 0 */
    const double *factor;  /**< [rank]; NULL: 1 */
    double *end_s;         /**< result: [rank], of its last task; or NULL */
    /** Times a series: start_s and end_s of its tasks, and when each rank of the role has ended the
     * last one. With ranks_count. */
    enum ar_status (*time_series)(void *context, const struct ar_graph_series *series,
                                  double *finish_s, struct ar_error *err);
    void *context;
};

/** Works out when each task starts and ends, where ranks are alike. AR_BAD_DATA, with the tasks of
 * one circle, if tasks wait for each other. All works are timed. */
enum ar_status ar_graph_schedule(struct ar_graph *graph, struct ar_error *err);

/** The same as a request has it; works of series need no time. */
enum ar_status ar_graph_schedule_with(struct ar_graph *graph,
                                      const struct ar_graph_request *request, struct ar_error *err);

/** The axis that the time of a work is put down to: its innermost one, but cp only if alone. */
enum ar_axis ar_work_axis(const struct ar_work *work);

/** Whether a task may be timed with those around it, rank by rank, as a series of collectives. */
bool ar_task_may_be_of_series(const struct ar_graph *graph, const struct ar_task *task);

/** Where the time of a role goes until the last task of all has ended; the parts add up to it. A
 * wait is put down to what was waited for: a collective of the role or a message to it to its
 * axis (ar_work_axis()), the host to the pass that it launches, all else to the bubble. */
struct ar_graph_split {
    double duty_s[AR_DUTIES_COUNT]; /**< computations, as long as they take alone */
    double longer_s;              /**< what they take beyond: beside communication, on slow ranks */
    double axis_s[AR_AXES_COUNT]; /**< exposed collectives and messages */
    double bubble_s;
    double compute_end_s; /**< the role's compute stream has ended */
};

/** End of the last task; of a scheduled graph. */
double ar_graph_end_s(const struct ar_graph *graph);

/** The splits of all roles, room for which is the caller's. */
void ar_graph_split(const struct ar_graph *graph, struct ar_graph_split *splits);

/** Their mean. */
struct ar_graph_split ar_graph_split_mean(const struct ar_graph_split *splits, uint32_t count);
