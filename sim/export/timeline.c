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
 * Format: "Trace Event Format", Google, complete events ("X") and metadata ("M"). */
#include "exports.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

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

/* A slice, unless it takes no time; `args`: format of its arguments as members of a JSON object. */
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

/* Turns times of the traced step into those of a rank, whose computations are stretched. */
struct rank_clock {
    double start_s, factor;
};

static void write_compute(struct events *events, const struct rank_clock *clock, const char *name,
                          double begin_s, double end_s)
{
    write_slice(events, "compute", name, clock->start_s + clock->factor * begin_s,
                clock->start_s + clock->factor * end_s, "%s", "");
}

/* Writes a pass from a traced time on, and its layers, forward or in reverse; returns its end. */
static double write_pass(struct events *events, const struct ar_timing *timing,
                         const struct rank_clock *clock, bool is_forward, double begin_s)
{
    const struct ar_trace *trace = timing->job->trace;
    double pass_s = is_forward ? ar_trace_forward_s(trace) : ar_trace_backward_s(trace);
    /* Beside all-reduces the backward pass is slower; here evenly so. */
    double stretch = is_forward ? 1 : 1 + timing->workload->stretch_s / fmax(pass_s, 1e-300);
    double pass_end_s = begin_s + stretch * pass_s;
    write_compute(events, clock, is_forward ? "forward" : "backward", begin_s, pass_end_s);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[is_forward ? i : trace->layers_count - 1 - i];
        double end_s = begin_s + stretch * (is_forward ? layer->forward_s : layer->backward_s);
        write_compute(events, clock, layer->name, begin_s, end_s);
        begin_s = end_s;
    }
    return pass_end_s;
}

static void write_bucket(struct events *events, const struct ar_timing *timing, uint32_t index,
                         uint32_t job, uint32_t channel)
{
    const struct ar_bucket *bucket = &timing->workload->buckets[job];
    const double *marks_s = ar_timeline_marks(&timing->trial, job, index, channel);
    uint32_t element_bytes = timing->job->collective.element_bytes;
    uint64_t whole = timing->trial.calls[job].elements;
    uint64_t elements = ar_collective_part(&timing->job->collective, whole, channel).count;
    double ready_s = ar_trial_ready(&timing->trial, job, timing->job->timeline->ranks[index]);
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "bucket %" PRIu32 ": %s, %" PRIu32 " tensor%s", job + 1,
             AR_SHOW_BYTES(whole * element_bytes), bucket->tensors_count,
             bucket->tensors_count == 1 ? "" : "s");
    write_slice(events, "communication", name, marks_s[AR_MARK_START], marks_s[AR_MARK_DONE],
                "\"elements\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"channel_elements\": %" PRIu64
                ", \"channel_bytes\": %" PRIu64 ", \"tensors\": %" PRIu32 ", \"ready_us\": %.3f",
                whole, whole * element_bytes, elements, elements * element_bytes,
                bucket->tensors_count, ready_s * 1e6);
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(timing->job->collective.algorithm,
                                         &timing->job->collective.shape, phases);
    const double *ends_s = marks_s + AR_MARK_PHASES;
    write_slice(events, "communication",
                timing->trial.calls[job].copy_s > 0 ? "setup and copies" : "setup",
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
    /* The optimizer of a rank begins when its backward pass and its last all-reduce have ended. */
    static const struct rank_clock own = {0, 1};
    const struct ar_trial *trial = &timing->trial;
    const struct ar_trace *trace = timing->job->trace;
    const struct rank_clock clock = {trial->rank_start_s != NULL ? trial->rank_start_s[rank] : 0,
                                     trial->rank_factor != NULL ? trial->rank_factor[rank] : 1};
    double overhead_s = trace->step_overhead_s;
    write_compute(events, &clock, "overhead", 0, overhead_s);
    double end_s = write_pass(events, timing, &clock, true, overhead_s);
    end_s = clock.start_s + clock.factor * write_pass(events, timing, &clock, false, end_s);
    double optimizer_s = fmax(clock.start_s + clock.factor * timing->workload->backward_end_s,
                              trial->rank_finish_s[rank]) +
                         timing->statistics_s;
    write_compute(events, &own, "wait", end_s, optimizer_s);
    write_compute(events, &own, "optimizer", optimizer_s,
                  optimizer_s + clock.factor * trace->optimizer_s);
    for (uint32_t channel = 0; !is_alone && channel < timing->job->collective.channels; channel++) {
        snprintf(name, sizeof name, "stream channel %" PRIu32, channel);
        begin_track(events, 1 + channel, name);
        for (uint32_t job = 0; job < timing->trial.calls_count; job++) {
            write_bucket(events, timing, index, job, channel);
        }
    }
}

/* --- tasks as rows ---------------------------------------------------------------------------- */

struct task_row {
    uint32_t stage;
    const char *kind, *stream;
    uint32_t batch;
    uint32_t chunk;
    uint64_t tensors;
    const char *name;
    double begin_s, end_s;
    const char *label; /* of its slice */
    uint32_t track;
};

enum { TRACKS = AR_STREAMS_COUNT };

#define ROW(kind, field, help) AR_COLUMN(kind, struct task_row, field, #field, help)
static const struct ar_column task_columns[] = {
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

/* `backward 3`, `all-reduce tp`, `send to 2`. */
static const char *label_task(const struct ar_timing *timing, const struct ar_task *task,
                              const char *kind, struct ar_arena *arena)
{
    const struct ar_work *work = &timing->graph->works[task->work];
    const struct ar_trace *trace = timing->job->trace;
    return task->name != NULL              ? task->name
           : work->kind == AR_TASK_MESSAGE ? ar_arena_format(arena, "send to %u", task->to)
           : work->kind == AR_TASK_COLLECTIVE
               ? ar_arena_format(arena, "%s %s", work->operation->name, kind)
           : trace != NULL && task->layer > 0 ? trace->layers[task->layer].name
           : task->duty == AR_DUTY_OPTIMIZER  ? kind
                                              : ar_arena_format(arena, "%s %u", kind, task->batch);
}

static const struct task_row *list_task_rows(const struct ar_timing *timing, struct ar_arena *arena)
{
    static const char *const streams[TRACKS] = {"compute", "gradients", "parts", "messages",
                                                "host"};
    const struct ar_graph *graph = timing->graph;
    struct task_row *rows = ar_arena_alloc(arena, (size_t)graph->tasks_count + 1, sizeof *rows);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        const struct ar_work *work = &graph->works[task->work];
        const char *kind = work->kind == AR_TASK_COMPUTE ? ar_duty_names[task->duty]
                                                         : ar_axis_names[ar_work_axis(work)];
        rows[i] = (struct task_row){.stage = task->role,
                                    .kind = kind,
                                    .stream = streams[task->stream],
                                    .batch = task->batch,
                                    .chunk = task->chunk,
                                    .tensors = task->tensors > 0 ? task->tensors : AR_NO_COUNT,
                                    .name = task->name,
                                    .begin_s = task->start_s,
                                    .end_s = task->end_s,
                                    .label = label_task(timing, task, kind, arena),
                                    .track = task->stream};
    }
    return rows;
}

static void write_task_rows(struct events *events, const struct ar_timing *timing)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    bool(*is_titled)[TRACKS] =
        ar_arena_alloc(&arena, timing->graph->roles_count, sizeof *is_titled);
    const struct task_row *rows = list_task_rows(timing, &arena);
    AR_EACH(const struct task_row, row, rows, timing->graph->tasks_count) {
        bool *titled = is_titled[row->stage];
        events->process = row->stage + 1;
        events->thread = events->process * TRACKS_MAX;
        if (!titled[0] && !titled[1] && !titled[2]) {
            write_title(events, "process", ar_arena_format(&arena, "stage %u", row->stage),
                        row->stage);
        }
        if (!titled[row->track]) {
            begin_track(events, row->track, row->stream);
        }
        titled[row->track] = true;
        events->thread = events->process * TRACKS_MAX + row->track;
        write_slice(events, row->track == 0 ? "compute" : "communication", row->label, row->begin_s,
                    row->end_s, "\"batch\": %" PRIu32 ", \"chunk\": %" PRIu32, row->batch,
                    row->chunk);
    }
}

/* Counters of links and GPUs, a process of them each; an event where a value changes. */
static void write_counters(struct events *events, const struct ar_timing *timing)
{
    static const char *const titles[] = {"links: part of the time they are busy",
                                         "GPUs: part of the time they compute"};
    const uint32_t first = ar_job_ranks(timing->job) + 1;
    struct usage_shown shown;
    usage_choose(timing, &shown);
    for (uint32_t i = 0; i < shown.count; i++) {
        const struct usage_item *item = &shown.items[i];
        bool is_link = i < shown.links_count;
        events->process = first + !is_link;
        events->thread = events->process * TRACKS_MAX;
        if (i == 0 || i == shown.links_count) {
            write_title(events, "process", titles[!is_link], events->process);
        }
        for (uint32_t bin = 0; bin < AR_USAGE_BINS; bin++) {
            double share = usage_share(timing, item, bin);
            if (bin == 0 || share != usage_share(timing, item, bin - 1)) {
                begin_event(events, "C");
                fprintf(events->file,
                        ", \"name\": \"%s\", \"ts\": %.3f, \"args\": {\"busy\": %.4f}}", item->name,
                        bin * timing->job->usage->bin_s * 1e6, share);
            }
        }
    }
}

void timeline_write_trace(FILE *file, const struct ar_timing *timing, const struct ar_row *row,
                          const char *made_by)
{
    struct events events = {.file = file};
    const struct ar_timeline *timeline = timing->job->timeline;
    fputs("{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"program\": ", file);
    fputs("\"allreckon " AR_VERSION "\", \"made_by\": ", file);
    ar_json_text(file, made_by);
    fputs(", \"row\": ", file);
    ar_json_object(file, ar_row_columns, row);
    fputs("},\n\"traceEvents\": [", file);
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        write_rank_process(&events, timing, i);
    }
    if (timeline == NULL) {
        write_task_rows(&events, timing);
    }
    if (timing->job->usage != NULL) {
        write_counters(&events, timing);
    }
    fputs("\n]}\n", file);
}

enum ar_status timeline_write_tasks(FILE *file, const struct ar_timing *timing,
                                    struct ar_arena *arena, struct ar_error *err)
{
    AR_REFUSE(
        timing->graph->tasks_count > TIMELINE_TASKS_MAX, err, AR_USAGE,
        "--out: found %u tasks; expected at most %d for a picture: fewer micro-batches or stages",
        timing->graph->tasks_count, TIMELINE_TASKS_MAX);
    const struct task_row *rows = list_task_rows(timing, arena);
    ar_records_write(file, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(task_columns), rows,
                     timing->graph->tasks_count);
    return AR_OK;
}
