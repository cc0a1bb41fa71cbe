/** \file test_recorded.h
 * For tests: the tasks of a recorded step as a text.
 */
#pragma once

#include <stdio.h>

#include "ar_recorded.h"

/** `c100000` computes so many ns, `allreduce:4:8` sends so many bytes among groups, `/n` of one
 * part each, `+` beside the GPU; what a task needs follows with `<`. Lives until the next call. */
static inline const char *test_tasks_text(const struct ar_recorded *recorded)
{
    static char text[2000];
    FILE *file = fmemopen(text, sizeof text, "w");
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        const struct ar_recorded_task *task = &recorded->tasks[i];
        fputs(i > 0 ? " " : "", file);
        if (task->operation == NULL) {
            fprintf(file, "c%.0f", task->time_s * 1e9);
        } else {
            fprintf(file, "%s%s%s:%u:%llu", task->is_beside ? "+" : "", task->operation,
                    task->is_part ? "/n" : "", task->groups, (unsigned long long)task->bytes);
        }
        for (uint32_t k = 0; k < task->needs_count; k++) {
            fprintf(file, "<%u", recorded->needs[task->needs_first + k]);
        }
    }
    fputc('\0', file);
    fclose(file);
    return text;
}
