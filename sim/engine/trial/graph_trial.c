#include "ar_graph_trial.h"

uint64_t ar_graph_trial_messages(const struct ar_graph_trial *trial)
{
    const struct ar_graph *graph = trial->graph;
    uint64_t messages = 0;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        const struct ar_collective *collective = &trial->sendings[task->work].collective;
        enum ar_task_kind kind = graph->works[task->work].kind;
        uint64_t all = kind == AR_TASK_COMPUTE   ? 0
                       : kind == AR_TASK_MESSAGE ? (uint64_t)trial->ranks * collective->channels
                                                 : ar_collective_messages(collective);
        if (__builtin_mul_overflow(all, task->count, &all) ||
            __builtin_add_overflow(messages, all / graph->roles_count, &messages)) {
            return UINT64_MAX;
        }
    }
    return messages;
}
