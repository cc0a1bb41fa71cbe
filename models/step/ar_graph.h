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
 * (list scheduling): start = max(end of those), end = start + count * time of the work. A
 * computation that needs a message starts the latency of that later.
 */
#ifndef AR_GRAPH_H
#define AR_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_operation.h"

enum ar_task_kind { AR_TASK_COMPUTE, AR_TASK_COLLECTIVE, AR_TASK_MESSAGE };

/** Axes of the mesh of a training step, outermost first. */
#define AR_AXIS_LIST(X)                                                                            \
    X(AR_AXIS_PP, "pp")                                                                            \
    X(AR_AXIS_DP, "dp")                                                                            \
    X(AR_AXIS_EP, "ep")                                                                            \
    X(AR_AXIS_TP, "tp")

enum ar_axis {
#define X(symbol, name) symbol,
    AR_AXIS_LIST(X)
#undef X
        AR_AXES_COUNT
};
extern const char *const ar_axis_names[]; /**< NULL ends them */

struct ar_work {
    enum ar_task_kind kind;
    double time_s; /**< of a computation; of others AR_GRAPH_UNTIMED until an engine has run them */
    const struct ar_operation *operation; /**< of collectives and messages, */
    uint32_t axes;                        /**< bits 1 << ar_axis along which it runs, */
    uint64_t bytes;                       /**< and its payload, as nccl-tests counts it */
    double latency_s; /**< of a message that was timed when the graph was made: what it brings is
                           there so much later than it has left its stream */
};

#define AR_GRAPH_UNTIMED (-1.0)

/** What a computation is for. */
#define AR_DUTY_LIST(X)                                                                            \
    X(AR_DUTY_FORWARD, "forward")                                                                  \
    X(AR_DUTY_BACKWARD, "backward")                                                                \
    X(AR_DUTY_OPTIMIZER, "optimizer")

enum ar_duty {
#define X(symbol, name) symbol,
    AR_DUTY_LIST(X)
#undef X
        AR_DUTIES_COUNT
};
extern const char *const ar_duty_names[]; /**< NULL ends them */

/** The streams of a role. */
enum ar_stream { AR_STREAM_COMPUTE, AR_STREAM_GRADIENTS, AR_STREAMS_COUNT };

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
    uint32_t need;         /**< first of its needs; AR_NO_TASK: none */
    uint32_t before;       /**< the task before it on its stream; AR_NO_TASK: none */
    const char *name;      /**< for people; NULL: duty, batch and chunk say what it is */
    double start_s, end_s; /**< result of ar_graph_schedule() */
    uint32_t waited_for;   /**< result: which task ended at start_s, the last one; AR_NO_TASK */
};

struct ar_need {
    uint32_t task; /**< that must have ended */
    uint32_t next; /**< AR_NO_TASK: the last one */
};

struct ar_graph {
    uint32_t roles_count;
    struct ar_work *works;
    uint32_t works_count, works_room;
    struct ar_task *tasks;
    uint32_t tasks_count, tasks_room;
    struct ar_need *needs;
    uint32_t needs_count, needs_room;
    uint32_t *last; /**< [role][stream]: last task; AR_NO_TASK */
    bool is_broken; /**< there was no memory, or too many tasks: said by ar_graph_check() */
};

/** An empty graph, which the caller ends with ar_graph_destroy(); NULL if there is no memory. */
struct ar_graph *ar_graph_create(uint32_t roles_count);
void ar_graph_destroy(struct ar_graph *graph);

/** A work, that of an equal one if there is. */
uint32_t ar_graph_work(struct ar_graph *graph, const struct ar_work *work);

/** Appends a task to its stream: of what is given `work`, `count`, `role`, `to`, `stream`, `duty`,
 * `batch` and `chunk` count. Returns its number. Without memory the graph is broken and later calls
 * do nothing. */
uint32_t ar_graph_add(struct ar_graph *graph, const struct ar_task *task);

/** Lets a task wait for another one, of any role; with AR_NO_TASK for nothing. */
void ar_graph_need(struct ar_graph *graph, uint32_t task, uint32_t other);

/** Works out when each task starts and ends. AR_BAD_DATA, with the tasks of one circle, if tasks
 * wait for each other; AR_NO_MEMORY if the graph is broken. All works are timed. */
enum ar_status ar_graph_schedule(struct ar_graph *graph, struct ar_error *err);

/** The innermost axis of a work that is sent. */
enum ar_axis ar_work_axis(const struct ar_work *work);

/** Where the time of a role goes until the last task of all has ended; the parts add up to it. A
 * wait is put down to what was waited for: a collective of the role or a message to it to its
 * innermost axis, all else to the bubble. */
struct ar_graph_split {
    double duty_s[AR_DUTIES_COUNT]; /**< computations */
    double axis_s[AR_AXES_COUNT];   /**< exposed collectives and messages */
    double bubble_s;
    double compute_end_s; /**< the role's compute stream has ended */
};

/** End of the last task; of a scheduled graph. */
double ar_graph_end_s(const struct ar_graph *graph);

/** The splits of all roles, room for which is the caller's. */
void ar_graph_split(const struct ar_graph *graph, struct ar_graph_split *splits);

/** Their mean. */
struct ar_graph_split ar_graph_split_mean(const struct ar_graph_split *splits, uint32_t count);

#endif
