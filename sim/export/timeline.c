/* A training step as a timeline: in the Trace Event Format, which Perfetto and chrome://tracing
 * open, or its tasks as rows of a CSV file, from which `allreckon report` and plots draw it.
 *
 * In the Trace Event Format every observed rank is a process with these tracks (threads):
 *
 * - `compute`: framework overhead, forward and backward pass with their layers inside, the wait for
 *   the all-reduces and the slowest rank, the optimizer;
 * - `stream channel C`: a slice for each bucket from its start on the rank until its messages have
 *   arrived; inside, the setup and the phases of the algorithm.
 *
 * Slices of a track follow each other or lie within each other. Times are in microseconds, rounded
 * to whole nanoseconds before durations are taken, so that slices that touch do not overlap. What
 * takes no nanosecond is left out. Process IDs are rank + 1, since
 * viewers take 0 for the idle process, and thread IDs are unique in the file.
 *
 * Format: "Trace Event Format", Google, complete events ("X") and metadata ("M").
 */
#include "exports.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ar_units.h"

enum { NAME_SIZE = 96, TRACKS_MAX = 2 * AR_COLLECTIVE_CHANNELS_MAX };

uint32_t timeline_choose_ranks(uint32_t ranks_count, uint32_t gpus_per_node,
                               uint32_t ranks[TIMELINE_RANKS])
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < ranks_count && count < TIMELINE_RANKS - 1;) {
        ranks[count++] = rank;
        bool stays = rank + 1 < gpus_per_node && rank + 1 < 4;
        rank = stays ? rank + 1 : (rank / gpus_per_node + 1) * gpus_per_node;
    }
    if (ranks[count - 1] != ranks_count - 1) {
        ranks[count++] = ranks_count - 1;
    }
    return count;
}

/* --- the Trace Event Format ------------------------------------------------------------------- */

/* The list of events, and the track to which they are added. */
struct events {
    FILE *file;
    bool has_any;
    uint32_t process;
    uint32_t thread;
};

static void begin_event(struct events *events, const char *kind)
{
    fprintf(events->file, "%s\n{\"ph\": \"%s\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32,
            events->has_any ? "," : "", kind, events->process, events->thread);
    events->has_any = true;
}

/* Names a process or a thread, and places it among the others. */
static void write_title(struct events *events, const char *what, const char *name, uint32_t place)
{
    begin_event(events, "M");
    fprintf(events->file, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    ar_json_text(events->file, name);
    fputs("}}", events->file);
    begin_event(events, "M");
    fprintf(events->file, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %" PRIu32 "}}",
            what, place);
}

/* A slice, unless it takes no time; `args` is the format of its arguments as members of a JSON
 * object. */
__attribute__((format(printf, 6, 7))) static void write_slice(struct events *events,
                                                              const char *category,
                                                              const char *name, double begin_s,
                                                              double end_s, const char *args, ...)
{
    va_list values;
    double begin_ns = round(begin_s * 1e9);
    double end_ns = round(end_s * 1e9);
    if (end_ns <= begin_ns) {
        return;
    }
    begin_event(events, "X");
    fprintf(events->file, ", \"cat\": \"%s\", \"name\": ", category);
    ar_json_text(events->file, name);
    fprintf(events->file, ", \"ts\": %.3f, \"dur\": %.3f, \"args\": {", begin_ns / 1e3,
            (end_ns - begin_ns) / 1e3);
    va_start(values, args);
    vfprintf(events->file, args, values);
    va_end(values);
    fputs("}}", events->file);
}

static void write_compute(struct events *events, const char *name, double begin_s, double end_s)
{
    write_slice(events, "compute", name, begin_s, end_s, "%s", "");
}

/* Turns times of the traced step into those of a rank, whose computations are stretched. */
struct rank_clock {
    double start_s;
    double factor;
};

static struct rank_clock clock_of(const struct ar_timing *timing, uint32_t rank)
{
    const struct ar_trial *trial = &timing->trial;
    double start_s = trial->rank_start_s != NULL ? trial->rank_start_s[rank] : 0;
    double factor = trial->rank_factor != NULL ? trial->rank_factor[rank] : 1;
    return (struct rank_clock){.start_s = start_s, .factor = factor};
}

static double clock_time(const struct rank_clock *clock, double traced_s)
{
    return clock->start_s + clock->factor * traced_s;
}

/* The layers of a pass from a traced time on, forward or in reverse. Returns its end; writes the
 * layers if `events` is not NULL. */
static double walk_layers(struct events *events, const struct ar_timing *timing,
                          const struct rank_clock *clock, bool is_forward, double begin_s)
{
    const struct ar_trace *trace = timing->job->trace;
    /* Beside all-reduces the backward pass is slower; here evenly so. */
    double stretch =
        is_forward ? 1 : 1 + timing->workload->stretch_s / fmax(ar_trace_backward_s(trace), 1e-300);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[is_forward ? i : trace->layers_count - 1 - i];
        double end_s = begin_s + (is_forward ? layer->forward_s : stretch * layer->backward_s);
        if (events != NULL) {
            write_compute(events, layer->name, clock_time(clock, begin_s),
                          clock_time(clock, end_s));
        }
        begin_s = end_s;
    }
    return begin_s;
}

/* The optimizer of a rank begins when its backward pass and its last all-reduce have ended. */
static double optimizer_begin(const struct ar_timing *timing, uint32_t rank)
{
    struct rank_clock clock = clock_of(timing, rank);
    return fmax(clock_time(&clock, timing->workload->backward_end_s),
                timing->trial.rank_finish_s[rank]) +
           timing->statistics_s;
}

static void write_compute_track(struct events *events, const struct ar_timing *timing,
                                uint32_t rank)
{
    struct rank_clock clock = clock_of(timing, rank);
    double optimizer_begin_s = optimizer_begin(timing, rank);
    double overhead_s = timing->job->trace->step_overhead_s;
    double forward_end_s = walk_layers(NULL, timing, &clock, true, overhead_s);
    double backward_end_s = walk_layers(NULL, timing, &clock, false, forward_end_s);
    write_compute(events, "overhead", clock_time(&clock, 0), clock_time(&clock, overhead_s));
    write_compute(events, "forward", clock_time(&clock, overhead_s),
                  clock_time(&clock, forward_end_s));
    walk_layers(events, timing, &clock, true, overhead_s);
    write_compute(events, "backward", clock_time(&clock, forward_end_s),
                  clock_time(&clock, backward_end_s));
    walk_layers(events, timing, &clock, false, forward_end_s);
    write_compute(events, "wait", clock_time(&clock, backward_end_s), optimizer_begin_s);
    write_compute(events, "optimizer", optimizer_begin_s,
                  optimizer_begin_s + clock.factor * timing->job->trace->optimizer_s);
}

static void write_phases(struct events *events, const struct ar_timing *timing, uint64_t elements,
                         double copy_s, const double *marks_s)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(timing->job->collective.algorithm,
                                         &timing->job->collective.shape, phases);
    const double *ends_s = marks_s + AR_MARK_PHASES;
    write_slice(events, "communication", copy_s > 0 ? "setup and copies" : "setup",
                marks_s[AR_MARK_START], ends_s[0], "%s", "");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t message = (elements + phases[i].parts - 1) / phases[i].parts;
        if (phases[i].steps > 0) {
            write_slice(events, "communication", phases[i].name, ends_s[i], ends_s[i + 1],
                        "\"steps\": %" PRIu32 ", \"message_elements\": %" PRIu64
                        ", \"message_bytes\": %" PRIu64,
                        phases[i].steps, message, message * timing->job->collective.element_bytes);
        }
    }
    write_slice(events, "communication", "last messages arrive", ends_s[count],
                marks_s[AR_MARK_DONE], "%s", "");
}

static void write_bucket(struct events *events, const struct ar_timing *timing, uint32_t index,
                         uint32_t job, uint32_t channel)
{
    const struct ar_bucket *bucket = &timing->workload->buckets[job];
    const double *marks_s = ar_timeline_marks(&timing->trial, job, index, channel);
    uint32_t element_bytes = timing->job->collective.element_bytes;
    uint64_t elements =
        ar_collective_part(&timing->job->collective, bucket->elements, channel).count;
    double ready_s = ar_trial_ready(&timing->trial, job, timing->job->timeline->ranks[index]);
    char size[AR_UNIT_TEXT];
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "bucket %" PRIu32 ": %s, %" PRIu32 " tensor%s", job + 1,
             ar_format_bytes(bucket->elements * element_bytes, size), bucket->tensors_count,
             bucket->tensors_count == 1 ? "" : "s");
    write_slice(events, "communication", name, marks_s[AR_MARK_START], marks_s[AR_MARK_DONE],
                "\"elements\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"channel_elements\": %" PRIu64
                ", \"channel_bytes\": %" PRIu64 ", \"tensors\": %" PRIu32 ", \"ready_us\": %.3f",
                bucket->elements, bucket->elements * element_bytes, elements,
                elements * element_bytes, bucket->tensors_count, ready_s * 1e6);
    write_phases(events, timing, elements, timing->trial.calls[job].copy_s, marks_s);
}

static void begin_track(struct events *events, uint32_t index, const char *name)
{
    events->thread = events->process * TRACKS_MAX + index;
    write_title(events, "thread", name, index);
}

static void write_rank_process(struct events *events, const struct ar_timing *timing,
                               uint32_t index)
{
    uint32_t rank = timing->job->timeline->ranks[index];
    uint32_t per_node = ar_cluster_facts(timing->job->collective.cluster)->gpus_per_node;
    bool is_alone = ar_shape_ranks(&timing->job->collective.shape) == 1;
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "rank %" PRIu32 " (node %" PRIu32 ", GPU %" PRIu32 ")", rank,
             rank / per_node, rank % per_node);
    events->process = rank + 1;
    events->thread = events->process * TRACKS_MAX;
    write_title(events, "process", name, rank);
    begin_track(events, 0, "compute");
    write_compute_track(events, timing, rank);
    for (uint32_t channel = 0; !is_alone && channel < timing->job->collective.channels; channel++) {
        snprintf(name, sizeof name, "stream channel %" PRIu32, channel);
        begin_track(events, 1 + channel, name);
        for (uint32_t job = 0; job < timing->trial.calls_count; job++) {
            write_bucket(events, timing, index, job, channel);
        }
    }
}

/* `backward 3`, `all-reduce tp`, `send to 2`. */
static void write_task_slice(struct events *events, const struct ar_timing *timing,
                             const struct ar_task *task)
{
    const struct ar_work *work = &timing->graph->works[task->work];
    struct ar_mesh mesh = ar_layout_mesh(&timing->layout, work->axes);
    char name[NAME_SIZE], axes[AR_MESH_TEXT];
    bool has_layer = timing->job->trace != NULL && work->kind == AR_TASK_COMPUTE && task->layer > 0;
    if (task->name != NULL || has_layer) {
        snprintf(name, sizeof name, "%s",
                 task->name != NULL ? task->name : timing->job->trace->layers[task->layer].name);
    } else if (work->kind == AR_TASK_COMPUTE && task->duty == AR_DUTY_OPTIMIZER) {
        snprintf(name, sizeof name, "optimizer");
    } else if (work->kind == AR_TASK_COMPUTE) {
        snprintf(name, sizeof name, "%s %" PRIu32, ar_duty_names[task->duty], task->batch);
    } else if (work->kind == AR_TASK_MESSAGE) {
        snprintf(name, sizeof name, "send to %" PRIu32, task->to);
    } else {
        snprintf(name, sizeof name, "%s %.60s", work->operation->name,
                 ar_mesh_format_along(&mesh, axes));
    }
    write_slice(events, work->kind == AR_TASK_COMPUTE ? "compute" : "communication", name,
                task->start_s, task->end_s,
                "\"micro-batch\": %" PRIu32 ", \"chunk\": %" PRIu32 ", \"count\": %" PRIu32
                ", \"bytes\": %" PRIu64,
                task->batch, task->chunk, task->count, work->bytes);
}

static void write_roles(struct events *events, const struct ar_timing *timing)
{
    static const char *const tracks[] = {"compute", "gradients and parameters", "parts of samples"};
    const struct ar_graph *graph = timing->graph;
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "stage %" PRIu32, role);
        events->process = role + 1;
        events->thread = events->process * TRACKS_MAX;
        write_title(events, "process", name, role);
        for (uint32_t stream = 0; stream < AR_STREAMS_COUNT; stream++) {
            if (graph->last[role * AR_STREAMS_COUNT + stream] != AR_NO_TASK) {
                begin_track(events, stream, tracks[stream]);
            }
        }
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        events->process = task->role + 1;
        events->thread = events->process * TRACKS_MAX + (uint32_t)task->stream;
        write_task_slice(events, timing, task);
    }
}

static void write_worker_process(struct events *events, const struct ar_async *run, uint32_t worker)
{
    static const char *const tracks[] = {"compute", "push", "pull"};
    static const uint32_t track_of[AR_ASYNC_DOINGS_COUNT] = {
        [AR_ASYNC_COMPUTES] = 0, [AR_ASYNC_WAITS] = 0, [AR_ASYNC_PUSHES] = 1, [AR_ASYNC_PULLS] = 2};
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "worker %" PRIu32, worker);
    events->process = worker + 1;
    events->thread = events->process * TRACKS_MAX;
    write_title(events, "process", name, worker);
    for (uint32_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++) {
        begin_track(events, i, tracks[i]);
    }
    for (uint32_t i = 0; i < run->spans_count; i++) {
        const struct ar_async_span *span = &run->spans[i];
        if (span->worker == worker) {
            events->thread = events->process * TRACKS_MAX + track_of[span->doing];
            write_slice(events, track_of[span->doing] == 0 ? "compute" : "communication",
                        ar_async_doing_names[span->doing], span->begin_s, span->end_s,
                        "\"step\": %" PRIu32, span->step);
        }
    }
}

void timeline_write_trace(FILE *file, const struct ar_timing *timing, const uint32_t *workers,
                          uint32_t workers_count, const struct ar_row *row, const char *made_by)
{
    struct events events = {.file = file};
    fputs("{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"program\": ", file);
    fputs("\"allreckon " AR_VERSION "\", \"made_by\": ", file);
    ar_json_text(file, made_by);
    fputs(", \"row\": ", file);
    ar_json_object(file, ar_row_columns, row);
    fputs("},\n\"traceEvents\": [", file);
    for (uint32_t i = 0; i < workers_count; i++) {
        write_worker_process(&events, &timing->async, workers[i]);
    }
    for (uint32_t i = 0; timing->job->timeline != NULL && i < timing->job->timeline->ranks_count;
         i++) {
        write_rank_process(&events, timing, i);
    }
    if (workers_count == 0 && timing->job->timeline == NULL) {
        write_roles(&events, timing);
    }
    fputs("\n]}\n", file);
}

/* --- tasks as rows of a CSV file -------------------------------------------------------------- */

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
static const struct ar_column task_columns[] = {
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

static const char *task_kind(const struct ar_graph *graph, const struct ar_task *task)
{
    const struct ar_work *work = &graph->works[task->work];
    return work->kind == AR_TASK_COMPUTE ? ar_duty_names[task->duty]
                                         : ar_axis_names[ar_work_axis(work)];
}

static uint32_t fill_tasks(const struct ar_graph *graph, struct task_row *rows)
{
    static const char *const streams[] = {"compute", "gradients", "parts"};
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        rows[i] = (struct task_row){.stage = task->role,
                                    .kind = task_kind(graph, task),
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

uint32_t timeline_workers_shown(const struct ar_async *run)
{
    uint32_t shown = TIMELINE_TASKS_MAX / (run->spans_count / run->workers + 1);
    return shown < run->workers ? shown : run->workers;
}

static int compare_task_rows(const void *a, const void *b)
{
    const struct task_row *first = a, *second = b;
    if (first->stage != second->stage) {
        return first->stage < second->stage ? -1 : 1;
    }
    return (first->begin_s > second->begin_s) - (first->begin_s < second->begin_s);
}

static uint32_t fill_workers(const struct ar_async *run, struct task_row *rows)
{
    uint32_t shown = timeline_workers_shown(run), count = 0;
    for (uint32_t i = 0; i < run->spans_count; i++) {
        const struct ar_async_span *span = &run->spans[i];
        bool is_computed = span->doing == AR_ASYNC_COMPUTES || span->doing == AR_ASYNC_WAITS;
        if (span->worker < shown && count < TIMELINE_TASKS_MAX) {
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
    qsort(rows, count, sizeof *rows, compare_task_rows);
    return count;
}

enum ar_status timeline_write_tasks(FILE *file, const struct ar_timing *timing,
                                    struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_graph *graph = timing->graph;
    if (graph != NULL && graph->tasks_count > TIMELINE_TASKS_MAX) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found %u tasks; expected at most %d for a picture: fewer "
                            "micro-batches or stages",
                            graph->tasks_count, TIMELINE_TASKS_MAX);
    }
    uint32_t most = graph != NULL ? graph->tasks_count : timing->async.spans_count;
    most = most < TIMELINE_TASKS_MAX ? most : TIMELINE_TASKS_MAX;
    struct task_row *rows = ar_arena_alloc(arena, (size_t)most + 1, sizeof *rows);
    uint32_t count = graph != NULL ? fill_tasks(graph, rows) : fill_workers(&timing->async, rows);
    ar_records_write(file, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(task_columns), rows, count,
                     sizeof *rows);
    return AR_OK;
}

enum ar_status timeline_room(const struct ar_scenario *scenario, const char *use, uint32_t *spans,
                             struct ar_error *err)
{
    enum { SPANS_MAX = 10000000 };
    uint64_t slices =
        scenario->layout.model != NULL ? scenario->layout.model->layers : scenario->buckets_count;
    uint64_t room = (uint64_t)scenario->gpus * scenario->iterations_count * 4 * (slices + 1);
    if (room > SPANS_MAX) {
        return ar_scenario_refuse(scenario, AR_KEY_GPUS, err,
                                  "found %" PRIu32 " workers, too many for %s of %" PRIu32
                                  " steps; expected fewer",
                                  scenario->gpus, use, scenario->iterations_count);
    }
    *spans = (uint32_t)room;
    return AR_OK;
}
