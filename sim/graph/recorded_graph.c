/* The graph of a step that another program wrote down: one role, as all GPUs do the same. */
#include <string.h>

#include "ar_recorded.h"
#include "build.h"

static const enum ar_duty duties[] = {[AR_RECORDED_FORWARD] = AR_DUTY_FORWARD,
                                      [AR_RECORDED_BACKWARD] = AR_DUTY_BACKWARD,
                                      [AR_RECORDED_UPDATE] = AR_DUTY_OPTIMIZER};

uint32_t ar_recorded_axes(unsigned groups)
{
    return ((groups & AR_RECORDED_DP) != 0 ? 1u << AR_AXIS_DP : 0) |
           ((groups & AR_RECORDED_EP) != 0 ? 1u << AR_AXIS_EP : 0) |
           ((groups & AR_RECORDED_TP) != 0 ? 1u << AR_AXIS_TP : 0);
}

static const struct ar_operation *find_operation(const char *command)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        if (strcmp(ar_operations[i]->command, command) == 0) {
            return ar_operations[i];
        }
    }
    return NULL;
}

static enum ar_stream find_stream(const struct ar_recorded_task *task)
{
    return task->is_beside ? AR_STREAM_GRADIENTS : AR_STREAM_COMPUTE;
}

/* A collective, unless its groups have one GPU each. */
static uint32_t add_recorded_collective(struct ar_build *build, const struct ar_recorded_task *task,
                                        const struct ar_action *action)
{
    uint32_t axes = ar_recorded_axes(task->groups);
    double bytes = (double)task->bytes;
    for (int axis = 0; task->is_part && axis < AR_AXES_COUNT; axis++) {
        bytes *= (axes >> axis & 1) != 0 ? build->layout->sizes[axis] : 1;
    }
    return build_collective(build, 0, find_stream(task), find_operation(task->operation), axes,
                            bytes, 1, action);
}

/* Tasks that a task stands for when others need it: itself, or, if it is left out, all that it
 * would have waited for; of each stream the last one. */
struct made {
    uint32_t tasks[AR_STREAMS_COUNT];
};

static void note_last(uint32_t *last, uint32_t task)
{
    if (task != AR_NO_TASK && (*last == AR_NO_TASK || *last < task)) {
        *last = task;
    }
}

static void add_recorded_task(struct ar_build *build, const struct ar_recorded *recorded,
                              uint32_t number, struct made *made)
{
    const struct ar_recorded_task *task = &recorded->tasks[number];
    const struct ar_action action = {.is_backward = task->duty != AR_RECORDED_FORWARD};
    struct made *own = &made[number];
    uint32_t added = task->operation != NULL
                         ? add_recorded_collective(build, task, &action)
                         : build_compute(build, 0, task->time_s, duties[task->duty], &action);
    memset(own, 0xff, sizeof *own); /* AR_NO_TASK */
    for (uint32_t i = 0; i < task->needs_count; i++) {
        const struct made *need = &made[recorded->needs[task->needs_first + i]];
        for (int stream = 0; stream < AR_STREAMS_COUNT; stream++) {
            ar_graph_need(build->graph, added, need->tasks[stream]);
            note_last(&own->tasks[stream], need->tasks[stream]);
        }
    }
    enum ar_stream stream = find_stream(task);
    if (added != AR_NO_TASK) {
        memset(own, 0xff, sizeof *own);
    }
    note_last(&own->tasks[stream], build->graph->last[stream]);
}

void build_recorded(struct ar_build *build)
{
    const struct ar_recorded *recorded = build->layout->recorded;
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct made *made = ar_arena_alloc(&scratch, recorded->tasks_count, sizeof *made);
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        add_recorded_task(build, recorded, i, made);
    }
}
