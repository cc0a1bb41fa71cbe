#include "pipeline.h"

#include <stdlib.h>

struct task_row {
    uint32_t stage;
    const char *kind;
    const char *stream;
    uint32_t batch;
    uint32_t chunk;
    uint64_t tensors;
    const char *name;
    double begin_s, end_s;
};

#define ROW(kind, field, help) AR_COLUMN(kind, struct task_row, field, #field, help)
static const struct ar_column columns[] = {
    ROW(count, stage, "of the pipeline, from 0"),
    ROW(string, kind, "forward, backward, optimizer, or the axis along which it sends"),
    ROW(string, stream, "compute or gradients"),
    ROW(count, batch, "number of the micro-batch"),
    ROW(count, chunk, "of the layers of the stage"),
    ROW(count, tensors, "of a bucket of gradients"),
    ROW(string, name, "of a task that the others do not tell"),
    ROW(number, begin_s, "since the step began"),
    ROW(number, end_s, "its end"),
};

static const char *kind_of(const struct ar_graph *graph, const struct ar_task *task)
{
    const struct ar_work *work = &graph->works[task->work];
    return work->kind == AR_TASK_COMPUTE ? ar_duty_names[task->duty]
                                         : ar_axis_names[ar_work_axis(work)];
}

enum ar_status pipeline_write(FILE *file, const struct ar_step *step, struct ar_error *err)
{
    static const char *const streams[] = {"compute", "gradients", "parts"};
    const struct ar_graph *graph = step->graph;
    if (graph->tasks_count > PIPELINE_TASKS_MAX) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found %u tasks; expected at most %d for a picture: fewer "
                            "micro-batches or stages",
                            graph->tasks_count, PIPELINE_TASKS_MAX);
    }
    struct task_row *rows = calloc(graph->tasks_count + 1u, sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the tasks of a step");
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        rows[i] = (struct task_row){.stage = task->role,
                                    .kind = kind_of(graph, task),
                                    .stream = streams[task->stream],
                                    .batch = task->batch,
                                    .chunk = task->chunk,
                                    .tensors = task->tensors > 0 ? task->tensors : AR_NO_COUNT,
                                    .name = task->name,
                                    .begin_s = task->start_s,
                                    .end_s = task->end_s};
    }
    enum ar_status status = ar_records_write(file, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(columns),
                                             rows, graph->tasks_count, sizeof *rows, err);
    free(rows);
    return status;
}
