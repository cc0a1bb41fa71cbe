/* A step as a text workload of ASTRA-sim 1.0 and SimAI, which ar_recorded.h reads back.
 *
 * Each line of the text has a slot of the forward pass, a computation and a collective behind it,
 * and one of the backward pass. Tasks of the compute stream fill them in order; a collective of
 * gradients stands behind the computation that it waits for. Replicas alone are `DATA`, shards make
 * it `HYBRID_TRANSFORMER`, which says tp; with experts it is SimAI's
 * `HYBRID_TRANSFORMER_FWD_IN_BCKWD`, which says its mesh. Times are whole nanoseconds.
 *
 * The grammar has one pass forward and one backward of one stage, in which only an update waits for
 * collectives beside the computations. All else is refused. It has no place for the waits and
 * copies of a framework. */
#include "exports.h"

#include <inttypes.h>
#include <math.h>

/* A computation, then a collective. */
struct half {
    double time_s;
    const struct ar_task *sent; /* NULL: none */
    uint64_t pieces;            /* this is one of so many of it */
};

/* A slot of the backward pass is two halves: of DATA those of weights and of inputs, of others
 * those of inputs and of weights; of the forward pass it is the first. Collectives of weights run
 * beside the computations. */
struct slot {
    struct half halves[2];
};

struct pass {
    struct slot *slots;
    size_t count;
    int halves, half;               /* of a slot; of the last slot, the one that was filled last */
    const struct ar_task *computed; /* the last one; NULL: none */
};

struct writer {
    const struct ar_timing *timing;
    const struct ar_graph *graph;
    unsigned present; /* axes with several GPUs, as bits */
    bool is_data, has_updated;
    struct pass forward, backward;
    const struct slot *sent; /* with the last collective beside; NULL: none */
    uint32_t computed;       /* the last task of the compute stream */
    uint32_t sent_after;     /* the computation in front of the last collective beside */
    double update_s, left_out_s;
};

enum { REP = 1 << AR_AXIS_REP, DP = 1 << AR_AXIS_DP, EP = 1 << AR_AXIS_EP, TP = 1 << AR_AXIS_TP };

static enum ar_status refuse_step(struct ar_error *err, const char *found, const char *expected)
{
    return ar_error_set(err, AR_USAGE, "--format astra-sim: found %s; expected %s", found,
                        expected);
}

/* --- slots ------------------------------------------------------------------------------------ */

static struct half *last_half(const struct pass *pass)
{
    return pass->count > 0 ? &pass->slots[pass->count - 1].halves[pass->half] : NULL;
}

static struct half *next_half(struct pass *pass, bool is_new_slot)
{
    pass->half = pass->count == 0 || is_new_slot ? 0 : (pass->half + 1) % pass->halves;
    pass->count += pass->half == 0;
    return last_half(pass);
}

/* A collective goes behind the last computation if it may, else behind one of no time. ASTRA-sim
 * 1.0 has no collectives of 2^31 bytes: a larger one goes in several. */
static void add_collective(struct writer *writer, struct pass *pass, const struct ar_task *task,
                           uint64_t pieces)
{
    bool is_beside = task->stream != AR_STREAM_COMPUTE;
    int wanted = pass->halves == 1 || is_beside == writer->is_data ? 0 : 1;
    struct half *half = last_half(pass);
    while (half == NULL || pass->half != wanted || half->sent != NULL) {
        half = next_half(pass, false);
    }
    half->sent = task;
    half->pieces = pieces;
    writer->sent = is_beside ? &pass->slots[pass->count - 1] : writer->sent;
}

/* --- limits of the grammar -------------------------------------------------------------------- */

static const char *type_word(const struct ar_operation *operation)
{
    static const struct {
        const struct ar_operation *operation;
        const char *word;
    } types[] = {{&ar_operation_all_reduce, "ALLREDUCE"},
                 {&ar_operation_all_gather, "ALLGATHER"},
                 {&ar_operation_reduce_scatter, "REDUCESCATTER"},
                 {&ar_operation_all_to_all, "ALLTOALL"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].operation == operation) {
            return types[i].word;
        }
    }
    return NULL;
}

/* The ending of a type by the axes of its groups; NULL: there is none. */
static const char *type_ending(const struct writer *writer, const struct ar_task *task)
{
    unsigned axes = writer->graph->works[task->work].axes & writer->present;
    bool is_beside = task->stream != AR_STREAM_COMPUTE;
    unsigned usual = is_beside || writer->is_data ? (DP | EP) & writer->present : TP;
    return axes == usual     ? ""
           : writer->is_data ? NULL
           : axes == EP      ? "_EP"
           : axes == DP      ? "_DP_EP"
                             : NULL;
}

/* A task may need only earlier computations; an update also collectives. */
static enum ar_status check_needs(struct writer *writer, uint32_t number, struct ar_error *err)
{
    const struct ar_graph *graph = writer->graph;
    const struct ar_task *task = &graph->tasks[number];
    uint32_t latest = AR_NO_TASK;
    for (uint32_t i = task->need; i != AR_NO_TASK; i = graph->needs[i].next) {
        uint32_t need = graph->needs[i].task;
        bool is_sent = graph->tasks[need].stream != AR_STREAM_COMPUTE;
        AR_REFUSE_BY(is_sent && task->stream == AR_STREAM_COMPUTE &&
                         task->duty != AR_DUTY_OPTIMIZER,
                     refuse_step(err, "a task that waits for a collective beside the computations",
                                 "updates alone to do so, as with --strategy data"));
        latest = !is_sent && (latest == AR_NO_TASK || need > latest) ? need : latest;
    }
    if (task->stream == AR_STREAM_COMPUTE) {
        writer->computed = number;
        return AR_OK;
    }
    latest = latest == AR_NO_TASK ? writer->sent_after : latest; /* behind the one before it */
    AR_REFUSE_BY(
        latest != writer->computed || task->stream != AR_STREAM_GRADIENTS,
        refuse_step(err, "a collective that may begin before the computation in front of it ends",
                    "it to wait for that, as with --strategy data"));
    writer->sent_after = latest;
    return AR_OK;
}

static enum ar_status add_sent(struct writer *writer, uint32_t number, struct ar_error *err)
{
    const struct ar_task *task = &writer->graph->tasks[number];
    const struct ar_work *work = &writer->graph->works[task->work];
    bool is_forward = task->duty == AR_DUTY_FORWARD;
    AR_REFUSE_BY(work->kind == AR_TASK_MESSAGE || type_word(work->operation) == NULL,
                 refuse_step(err, work->operation->name,
                             "all-reduces, all-gathers, reduce-scatters and all-to-alls"));
    AR_REFUSE_BY(work->every > 0 || task->duty == AR_DUTY_OPTIMIZER || writer->has_updated,
                 refuse_step(err, "a collective between or after updates",
                             "an update to end the step, as with --strategy data"));
    AR_REFUSE_BY(type_ending(writer, task) == NULL ||
                     (is_forward && task->stream != AR_STREAM_COMPUTE),
                 refuse_step(err, "a collective along other axes than columns of its place have",
                             "gradients along dp and ep, others along tp or ep"));
    uint64_t pieces = (work->bytes >> 31) + 1;
    for (uint64_t i = 0; i < task->count * pieces; i++) {
        add_collective(writer, is_forward ? &writer->forward : &writer->backward, task, pieces);
    }
    writer->left_out_s += task->wait_s + task->copy_s;
    return AR_OK;
}

static enum ar_status add_task(struct writer *writer, uint32_t number, struct ar_error *err)
{
    const struct ar_task *task = &writer->graph->tasks[number];
    const struct ar_work *work = &writer->graph->works[task->work];
    if (work->kind != AR_TASK_COMPUTE) {
        return add_sent(writer, number, err);
    }
    if (task->duty == AR_DUTY_OPTIMIZER) {
        writer->has_updated = true;
        writer->update_s += task->count * work->time_s + task->longer_s;
        return AR_OK;
    }
    AR_REFUSE_BY(writer->has_updated ||
                     (task->duty == AR_DUTY_FORWARD && writer->backward.count > 0),
                 refuse_step(err, "a forward pass behind a backward pass, or one behind an update",
                             "all micro-batches to go forward first, as with --schedule gpipe"));
    /* Computations of other layers begin other slots. */
    struct pass *pass = task->duty == AR_DUTY_FORWARD ? &writer->forward : &writer->backward;
    bool is_new_layer = pass->computed != NULL && (pass->computed->layer != task->layer ||
                                                   pass->computed->batch != task->batch);
    double time_s = task->count * work->time_s + task->longer_s;
    pass->computed = task;
    if (time_s > 0) {
        next_half(pass, is_new_layer)->time_s = time_s;
    }
    return AR_OK;
}

/* --- the text --------------------------------------------------------------------------------- */

static void write_half(FILE *file, const struct writer *writer, const struct half *half)
{
    const struct ar_work *work =
        half->sent != NULL ? &writer->graph->works[half->sent->work] : NULL;
    uint64_t parts = 1; /* ASTRA-sim counts one part of an all-gather, SimAI all of them */
    bool is_gather = work != NULL && work->operation == &ar_operation_all_gather;
    for (int axis = 0; axis < AR_AXES_COUNT && is_gather && (writer->present & EP) == 0; axis++) {
        parts *= (work->axes >> axis & 1) != 0 ? writer->timing->layout.sizes[axis] : 1;
    }
    parts *= half->sent != NULL ? half->pieces : 1;
    fprintf(file, "\t%llu\t%s%s\t%" PRIu64, (unsigned long long)llround(half->time_s * 1e9),
            work != NULL ? type_word(work->operation) : "NONE",
            work != NULL ? type_ending(writer, half->sent) : "",
            work != NULL ? (work->bytes + parts - 1) / parts : 0);
}

/* Lines of layers: the first one goes forward first and backward last. */
static void write_lines(FILE *file, const struct writer *writer)
{
    static const struct slot none;
    const struct pass *forward = &writer->forward, *backward = &writer->backward;
    size_t lines = forward->count > backward->count ? forward->count : backward->count;
    const uint32_t *sizes = writer->timing->layout.sizes;
    if (writer->is_data) {
        fprintf(file, "DATA\n%zu\n", lines);
    } else if ((writer->present & EP) == 0) { /* more words end ASTRA-sim 1.0 */
        fprintf(file, "HYBRID_TRANSFORMER model_parallel_NPU_group: %" PRIu32 "\n%zu\n",
                sizes[AR_AXIS_TP], lines);
    } else {
        fprintf(file,
                "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %" PRIu32 " ep: %" PRIu32
                " pp: 1 vpp: 1 ga: 1 all_gpus: %" PRIu32
                " checkpoints: 0 checkpoint_initiates: 0\n%zu\n",
                sizes[AR_AXIS_TP], sizes[AR_AXIS_EP], ar_job_ranks(writer->timing->job), lines);
    }
    for (size_t i = 0; i < lines; i++) {
        const struct slot *first = i < forward->count ? &forward->slots[i] : &none;
        size_t back = lines - 1 - i;
        const struct slot *second = back < backward->count ? &backward->slots[back] : &none;
        fprintf(file, "layer%zu\t-1", i + 1);
        write_half(file, writer, &first->halves[0]);
        write_half(file, writer, &second->halves[writer->is_data ? 1 : 0]);
        write_half(file, writer, &second->halves[writer->is_data ? 0 : 1]);
        double update_s = second == writer->sent ? writer->update_s : 0;
        fprintf(file, "\t%llu\n", (unsigned long long)llround(update_s * 1e9));
    }
}

enum ar_status astra_workload_write(FILE *file, const struct ar_timing *timing, double *left_out_s,
                                    struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct writer writer = {.timing = timing,
                            .graph = timing->graph,
                            .computed = AR_NO_TASK,
                            .sent_after = AR_NO_TASK,
                            .forward = {.halves = 1},
                            .backward = {.halves = 2}};
    size_t room = 1;
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        writer.present |= timing->layout.sizes[axis] > 1 ? 1u << axis : 0;
    }
    writer.is_data = (writer.present & ~(unsigned)DP) == 0;
    const struct ar_strategy *strategy = timing->layout.strategy;
    AR_REFUSE((strategy->shards_optimizer || strategy->shards_all) &&
                  (writer.present & (REP | DP | EP)) != 0,
              err, AR_USAGE,
              "--strategy: found %s; expected data with --format astra-sim, which cannot say that "
              "replicas keep parts of the optimizer or parameters",
              strategy->name);
    AR_REFUSE_BY(
        writer.graph->roles_count > 1 || timing->rank_end_s != NULL,
        refuse_step(err, "stages of a pipeline, or GPUs that differ", "one stage, GPUs alike"));
    AR_EACH(const struct ar_task, task, writer.graph->tasks, writer.graph->tasks_count) {
        room += 2 * task->count * (size_t)((writer.graph->works[task->work].bytes >> 31) + 1);
    }
    writer.forward.slots = ar_arena_alloc(&arena, room, sizeof(struct slot));
    writer.backward.slots = ar_arena_alloc(&arena, room, sizeof(struct slot));
    for (uint32_t i = 0; i < writer.graph->tasks_count; i++) {
        AR_TRY(check_needs(&writer, i, err));
        AR_TRY(add_task(&writer, i, err));
    }
    if (writer.sent == NULL && writer.update_s > 0) { /* updates are those of gradients sent */
        next_half(&writer.backward, false)->time_s = writer.update_s;
    }
    write_lines(file, &writer);
    *left_out_s = writer.left_out_s + timing->input_wait_s;
    return AR_OK;
}
