/* Where the time of a role goes: what its compute stream does, and what it waits for. */
#include "ar_graph.h"

double ar_graph_end_s(const struct ar_graph *graph)
{
    double end_s = 0;
    for (uint32_t i = 0; i < graph->roles_count * AR_STREAMS_COUNT; i++) {
        bool is_later = graph->last[i] != AR_NO_TASK && graph->tasks[graph->last[i]].end_s > end_s;
        end_s = is_later ? graph->tasks[graph->last[i]].end_s : end_s;
    }
    return end_s;
}

enum ar_axis ar_work_axis(const struct ar_work *work)
{
    int axis = AR_AXES_COUNT - 1;
    while (axis > 0 && (work->axes >> axis & 1) == 0) {
        axis--;
    }
    return (enum ar_axis)axis;
}

static void add_task(const struct ar_graph *graph, const struct ar_task *task, double time_s,
                     struct ar_graph_split *split)
{
    const struct ar_work *work = &graph->works[task->work];
    if (work->kind == AR_TASK_COMPUTE) {
        split->duty_s[task->duty] += time_s - task->longer_s;
        split->longer_s += task->longer_s;
    } else {
        split->axis_s[ar_work_axis(work)] += time_s;
    }
}

/* Puts the wait of a role from `begin_s` to `end_s`, when `cause` ended, down to what it waited
 * for: back from task to task as long as they are what the role itself sent or was sent. */
static void add_wait(const struct ar_graph *graph, uint32_t role, double begin_s, double end_s,
                     uint32_t cause, struct ar_graph_split *split)
{
    while (end_s > begin_s && cause != AR_NO_TASK) {
        const struct ar_task *task = &graph->tasks[cause];
        bool is_own = task->role == role || task->to == role;
        if (graph->works[task->work].kind == AR_TASK_COMPUTE || !is_own) {
            break;
        }
        bool has_waited = task->wait_s > 0 && task->waited_for != AR_NO_TASK;
        double asked_s = has_waited ? graph->tasks[task->waited_for].end_s : task->start_s;
        double from_s = asked_s > begin_s ? asked_s : begin_s;
        add_task(graph, task, end_s - from_s, split);
        end_s = from_s;
        cause = task->waited_for;
    }
    split->bubble_s += end_s > begin_s ? end_s - begin_s : 0;
}

/* What the other streams of a role still do when its compute stream has ended. */
static double end_streams(const struct ar_graph *graph, uint32_t role, double now_s,
                          struct ar_graph_split *split)
{
    uint32_t last = AR_NO_TASK;
    for (int stream = 0; stream < AR_STREAMS_COUNT; stream++) {
        uint32_t task = graph->last[role * AR_STREAMS_COUNT + (uint32_t)stream];
        if (task != AR_NO_TASK && graph->tasks[task].end_s > now_s &&
            (last == AR_NO_TASK || graph->tasks[task].end_s > graph->tasks[last].end_s)) {
            last = task;
        }
    }
    if (last == AR_NO_TASK) {
        return now_s;
    }
    add_wait(graph, role, now_s, graph->tasks[last].end_s, last, split);
    return graph->tasks[last].end_s;
}

void ar_graph_split(const struct ar_graph *graph, struct ar_graph_split *splits)
{
    double end_s = ar_graph_end_s(graph);
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        splits[role] = (struct ar_graph_split){.bubble_s = 0};
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        struct ar_graph_split *split = &splits[task->role];
        if (task->stream == AR_STREAM_COMPUTE) {
            add_wait(graph, task->role, split->compute_end_s, task->start_s, task->waited_for,
                     split);
            add_task(graph, task, task->end_s - task->start_s, split);
            split->compute_end_s = task->end_s;
        }
    }
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        double now_s = end_streams(graph, role, splits[role].compute_end_s, &splits[role]);
        splits[role].bubble_s += end_s - now_s;
    }
}

struct ar_graph_split ar_graph_split_mean(const struct ar_graph_split *splits, uint32_t count)
{
    struct ar_graph_split mean = {.bubble_s = 0};
    for (uint32_t role = 0; role < count; role++) {
        for (int i = 0; i < AR_DUTIES_COUNT; i++) {
            mean.duty_s[i] += splits[role].duty_s[i] / count;
        }
        for (int i = 0; i < AR_AXES_COUNT; i++) {
            mean.axis_s[i] += splits[role].axis_s[i] / count;
        }
        mean.longer_s += splits[role].longer_s / count;
        mean.bubble_s += splits[role].bubble_s / count;
        mean.compute_end_s += splits[role].compute_end_s / count;
    }
    return mean;
}
