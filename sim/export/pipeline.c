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
    ROW(count, stage, "of the pipeline, or worker, from 0"),
    ROW(string, kind,
        "forward, backward, optimizer, or the axis along which it sends; with servers what a "
        "worker does"),
    ROW(string, stream, "compute or gradients; with servers compute, push or pull"),
    ROW(count, batch, "number of the micro-batch, or of the worker's step"),
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

static uint32_t add_tasks(const struct ar_graph *graph, struct task_row *rows)
{
    static const char *const streams[] = {"compute", "gradients", "parts"};
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
    return graph->tasks_count;
}

uint32_t pipeline_workers(const struct ar_async *run)
{
    uint32_t shown = PIPELINE_TASKS_MAX / (run->spans_count / run->workers + 1);
    return shown < run->workers ? shown : run->workers;
}

static int compare_rows(const void *a, const void *b)
{
    const struct task_row *first = a, *second = b;
    if (first->stage != second->stage) {
        return first->stage < second->stage ? -1 : 1;
    }
    return (first->begin_s > second->begin_s) - (first->begin_s < second->begin_s);
}

static uint32_t add_workers(const struct ar_async *run, struct task_row *rows)
{
    uint32_t shown = pipeline_workers(run), count = 0;
    for (uint32_t i = 0; i < run->spans_count; i++) {
        const struct ar_async_span *span = &run->spans[i];
        bool is_computed = span->doing == AR_ASYNC_COMPUTES || span->doing == AR_ASYNC_WAITS;
        if (span->worker < shown && count < PIPELINE_TASKS_MAX) {
            rows[count++] = (struct task_row){
                .stage = span->worker,
                .kind = ar_async_doing_names[span->doing],
                .stream = is_computed ? "compute" : ar_async_doing_names[span->doing],
                .batch = span->step,
                .tensors = AR_NO_COUNT,
                .begin_s = span->begin_s,
                .end_s = span->end_s};
        }
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    return count;
}

enum ar_status pipeline_write(FILE *file, const struct ar_timing *timing, struct ar_error *err)
{
    const struct ar_graph *graph = timing->graph;
    if (graph != NULL && graph->tasks_count > PIPELINE_TASKS_MAX) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found %u tasks; expected at most %d for a picture: fewer "
                            "micro-batches or stages",
                            graph->tasks_count, PIPELINE_TASKS_MAX);
    }
    uint32_t most = graph != NULL ? graph->tasks_count : timing->async.spans_count;
    most = most < PIPELINE_TASKS_MAX ? most : PIPELINE_TASKS_MAX;
    struct task_row *rows = calloc((size_t)most + 1, sizeof *rows);
    if (rows == NULL) {
        ar_memory_fail("the tasks of a step");
    }
    uint32_t count = graph != NULL ? add_tasks(graph, rows) : add_workers(&timing->async, rows);
    ar_records_write(file, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(columns), rows, count, sizeof *rows);
    free(rows);
    return AR_OK;
}

uint64_t pipeline_spans(const struct ar_scenario *scenario)
{
    uint64_t slices = ar_scenario_is_laid_out(scenario) ? scenario->layout.model->layers
                                                        : scenario->buckets_count;
    return (uint64_t)scenario->gpus * scenario->iterations_count * 4 * (slices + 1);
}
