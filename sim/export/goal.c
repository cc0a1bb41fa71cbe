/* A task graph, rank by rank, as a schedule of GOAL: the text that `txt2bin` of LogGOPSim and
 * ATLAHS reads.
 *
 * On every rank a computation is a `calc` (nanoseconds), a message is a `send` and a `recv`, and a
 * collective is the moves of its algorithm on its channels. Each channel has a `cpu` of its own:
 * cpu 0 computes, cpu 1 + stream * channels + channel sends. `requires` says what waits:
 *
 * - a send waits for the receives of earlier steps (in an exchange of all with all at once: of
 *   earlier phases) and for the send before it; a receive for the receive before it;
 * - summing or moving received bytes is a `calc` behind the receive; a setup is one in front of the
 *   collective;
 * - a task waits for the one before it on its stream, and for its needs on this rank; a need on
 *   another role is the `recv` of its message.
 *
 * Sends and receives match by their ranks and tags, in order: a tag stands for a work, a stream and
 * a channel, or for one message between roles. GOAL has no window of messages, no start at which
 * both ranks must have arrived, and no computation that is slowed down for a part of its time: it
 * has the length it had in the step that was run. A message without bytes has one, since LogGOPSim
 * subtracts one from the size.
 *
 * Format: spcl/LogGOPSim, `txt2bin.re`; T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation
 * Assembly Language, ICPP (2009). */
#include "exports.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Labels are numbers from 1; 0 is none. */
struct writer {
    FILE *file;
    const struct ar_graph_trial *trial;
    struct ar_order *orders; /* [work], of those that are collectives */
    uint32_t channels_max, places;
    uint32_t rank, role;
    uint64_t labels;
    uint64_t *starts, *ends; /* [task]: of this rank, 0: it takes no part */
};

/* A channel of a collective on the rank. */
struct channel {
    uint32_t cpu, tag, lane, position;
    uint64_t sent, received; /* the last ones */
};

/* --- lines ------------------------------------------------------------------------------------ */

static void write_requires(const struct writer *writer, uint64_t label, uint64_t other)
{
    if (label > 0 && other > 0) {
        fprintf(writer->file, "l%" PRIu64 " requires l%" PRIu64 "\n", label, other);
    }
}

static uint64_t write_calc(struct writer *writer, double time_s, uint32_t cpu, uint64_t after)
{
    fprintf(writer->file, "l%" PRIu64 ": calc %llu cpu %" PRIu32 "\n", ++writer->labels,
            (unsigned long long)llround(time_s * 1e9), cpu);
    write_requires(writer, writer->labels, after);
    return writer->labels;
}

static uint64_t write_message(struct writer *writer, bool is_send, uint64_t bytes, uint32_t peer,
                              uint32_t tag, uint32_t cpu)
{
    fprintf(writer->file,
            "l%" PRIu64 ": %s %" PRIu64 "b %s %" PRIu32 " tag %" PRIu32 " cpu %" PRIu32 "\n",
            ++writer->labels, is_send ? "send" : "recv", bytes > 0 ? bytes : 1,
            is_send ? "to" : "from", peer, tag, cpu);
    return writer->labels;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void write_move(struct writer *writer, uint32_t work, const struct ar_phase *phase,
                       const struct ar_move *move, uint64_t received, struct channel *channel)
{
    const struct ar_graph_sending *sending = &writer->trial->sendings[work];
    uint32_t element_bytes = sending->collective.element_bytes;
    const struct ar_order *order = &writer->orders[work];
    uint64_t earlier = channel->received;
    if (move->sends) {
        uint64_t sent = write_message(writer, true, move->send_span.count * element_bytes,
                                      ar_order_rank(order, channel->lane, move->send_to),
                                      channel->tag, channel->cpu);
        write_requires(writer, sent, channel->sent);
        write_requires(writer, sent, received != channel->sent ? received : 0);
        channel->sent = sent;
    }
    if (move->receive != AR_RECEIVE_NONE) {
        uint64_t bytes = move->receive_span.count * element_bytes;
        const struct ar_cluster *cluster = sending->collective.cluster;
        double s_per_byte =
            move->receive == AR_RECEIVE_REDUCE
                ? ar_cluster_reduce_cost(cluster, (double)(sending->elements * element_bytes))
                : phase->moves * ar_cluster_facts(cluster)->copy_s_per_byte;
        double cost_s = (double)bytes * s_per_byte;
        channel->received = write_message(writer, false, bytes,
                                          ar_order_rank(order, channel->lane, move->receive_from),
                                          channel->tag, channel->cpu);
        write_requires(writer, channel->received, earlier);
        if (cost_s > 0) {
            channel->received = write_calc(writer, cost_s, channel->cpu, channel->received);
        }
    }
}

static void write_channel(struct writer *writer, uint32_t work, struct channel *channel)
{
    const struct ar_collective *collective = &writer->trial->sendings[work].collective;
    uint64_t elements =
        ar_collective_part(collective, writer->trial->sendings[work].elements, channel->lane).count;
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    uint32_t step = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        uint64_t before = channel->received;
        for (uint32_t end = step + phases[i].steps; step < end; step++) {
            struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                    elements, channel->position, step);
            write_move(writer, work, &phases[i], &move,
                       phases[i].is_at_once ? before : channel->received, channel);
        }
    }
}

static uint32_t task_cpu(const struct writer *writer, const struct ar_task *task)
{
    return 1 + (uint32_t)task->stream * writer->channels_max;
}

/* Writes one run of a collective behind the label `after`; returns the label of its end. */
static uint64_t write_collective(struct writer *writer, const struct ar_task *task, uint64_t after)
{
    const struct ar_collective *collective = &writer->trial->sendings[task->work].collective;
    const struct ar_order *order = &writer->orders[task->work];
    uint64_t ends[2 * AR_COLLECTIVE_CHANNELS_MAX];
    size_t ends_count = 0;
    for (uint32_t i = 0; i < collective->channels; i++) {
        uint32_t tag = task->work * AR_STREAMS_COUNT + (uint32_t)task->stream;
        struct channel channel = {.cpu = task_cpu(writer, task) + i,
                                  .tag = tag * writer->channels_max + i,
                                  .lane = ar_order_lane(order, i, writer->rank),
                                  .sent = after,
                                  .received = after};
        channel.position = ar_order_position(order, channel.lane, writer->rank);
        write_channel(writer, task->work, &channel);
        if (channel.sent != after) {
            ends[ends_count++] = channel.sent;
        }
        if (channel.received != after) {
            ends[ends_count++] = channel.received;
        }
    }
    uint64_t end = write_calc(writer, 0, task_cpu(writer, task), ends_count > 0 ? 0 : after);
    for (size_t i = 0; i < ends_count; i++) {
        write_requires(writer, end, ends[i]);
    }
    return end;
}

/* Sends or receives a message between roles: it goes from a rank to its counterpart. */
static uint64_t write_part(struct writer *writer, uint32_t number, bool is_send, uint64_t after)
{
    const struct ar_graph *graph = writer->trial->graph;
    const struct ar_task *task = &graph->tasks[number];
    uint32_t place = writer->rank % writer->places;
    uint32_t first = graph->works_count * AR_STREAMS_COUNT * writer->channels_max;
    uint64_t label = write_message(writer, is_send, graph->works[task->work].bytes,
                                   (is_send ? task->to : task->role) * writer->places + place,
                                   first + number, task_cpu(writer, task));
    write_requires(writer, label, after);
    return label;
}

static void write_task(struct writer *writer, uint32_t number)
{
    const struct ar_graph *graph = writer->trial->graph;
    const struct ar_task *task = &graph->tasks[number];
    const struct ar_work *work = &graph->works[task->work];
    double setup_s = ar_cluster_facts(writer->trial->cluster)->collective_setup_s;
    double ahead_s = task->wait_s + task->copy_s;
    if (work->kind == AR_TASK_COMPUTE || work->every > 0) { /* nobody waits for the latter */
        const double *factors = writer->trial->rank_factor;
        double time_s = task->count * work->time_s;
        if (work->every == 0) {
            time_s = factors != NULL ? time_s * factors[writer->rank] : time_s + task->longer_s;
        }
        uint32_t cpu = work->every > 0 ? task_cpu(writer, task) : 0;
        writer->starts[number] = writer->ends[number] =
            write_calc(writer, ahead_s + time_s, cpu, 0);
        return;
    }
    writer->starts[number] = write_calc(writer, ahead_s + setup_s, task_cpu(writer, task), 0);
    uint64_t end = writer->starts[number];
    for (uint32_t i = 0; i < task->count; i++) {
        end = i > 0 ? write_calc(writer, setup_s, task_cpu(writer, task), end) : end;
        end = work->kind == AR_TASK_MESSAGE ? write_part(writer, number, true, end)
                                            : write_collective(writer, task, end);
    }
    writer->ends[number] = end;
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* Writes what a task waits for; `before` is the end of the task before it on its stream. */
static enum ar_status write_needs(const struct writer *writer, uint32_t number, uint64_t before,
                                  struct ar_error *err)
{
    const struct ar_graph *graph = writer->trial->graph;
    const struct ar_task *task = &graph->tasks[number];
    write_requires(writer, writer->starts[number], before);
    for (uint32_t i = task->need; i != AR_NO_TASK; i = graph->needs[i].next) {
        uint64_t needed = writer->ends[graph->needs[i].task];
        AR_REFUSE(needed == 0, err, AR_INTERNAL,
                  "task %" PRIu32 " waits for task %" PRIu32
                  " of another role; expected a message to its own",
                  number, graph->needs[i].task);
        write_requires(writer, writer->starts[number], needed != before ? needed : 0);
    }
    return AR_OK;
}

static enum ar_status write_rank(struct writer *writer, struct ar_error *err)
{
    const struct ar_graph *graph = writer->trial->graph;
    memset(writer->starts, 0, graph->tasks_count * sizeof *writer->starts);
    memset(writer->ends, 0, graph->tasks_count * sizeof *writer->ends);
    writer->labels = 0;
    fprintf(writer->file, "rank %" PRIu32 " {\n", writer->rank);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        if (task->role == writer->role) {
            write_task(writer, i);
        } else if (task->to == writer->role) {
            for (uint32_t k = 0; k < task->count; k++) {
                writer->ends[i] = write_part(writer, i, false, writer->ends[i]);
            }
        }
    }
    uint64_t before[AR_STREAMS_COUNT] = {0};
    for (uint32_t i = 0; i < graph->tasks_count;
         i++) { /* labels come before the lines that name them */
        if (graph->tasks[i].role == writer->role) {
            AR_TRY(write_needs(writer, i, before[graph->tasks[i].stream], err));
            before[graph->tasks[i].stream] = writer->ends[i];
        }
    }
    fprintf(writer->file, "}\n");
    return AR_OK;
}

/* LogGP of the path between two ranks, for people. */
static void write_path(const struct writer *writer, uint32_t to)
{
    struct ar_path path;
    const struct ar_cluster *cluster = writer->trial->cluster;
    ar_cluster_path(cluster, 0, to, &path);
    fprintf(writer->file, "// rank 0 to %" PRIu32 ": L=%.0f ns, o=0, g=%.0f ns, G=%.6g ns a byte\n",
            to, path.latency_s * 1e9,
            ar_message_gap_s(&ar_cluster_facts(cluster)->message, path.tier) * 1e9,
            1e9 / path.bandwidth_Bps);
}

/* Refuses what GOAL cannot express; counts channels and orders ranks. */
static enum ar_status prepare_writer(struct writer *writer, struct ar_arena *arena,
                                     struct ar_error *err)
{
    const struct ar_graph_trial *trial = writer->trial;
    const struct ar_graph *graph = trial->graph;
    uint64_t operations = ar_graph_trial_messages(trial, 1);
    for (uint32_t i = 0; i < graph->tasks_count && operations <= GOAL_OPERATIONS_MAX; i++) {
        operations += (uint64_t)graph->tasks[i].count * writer->places;
    }
    AR_REFUSE(operations > GOAL_OPERATIONS_MAX, err, AR_USAGE,
              "--format goal: found at least %" PRIu64
              " messages and tasks of all ranks; expected at most %d",
              operations, GOAL_OPERATIONS_MAX);
    writer->orders = ar_arena_alloc(arena, graph->works_count, sizeof *writer->orders);
    writer->starts = ar_arena_alloc(arena, graph->tasks_count, sizeof *writer->starts);
    writer->ends = ar_arena_alloc(arena, graph->tasks_count, sizeof *writer->ends);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        const struct ar_collective *collective = &trial->sendings[i].collective;
        if (graph->works[i].kind != AR_TASK_COLLECTIVE || graph->works[i].every > 0) {
            continue;
        }
        AR_REFUSE(
            collective->algorithm == NULL || collective->algorithm->wants_sums, err, AR_USAGE,
            "--algorithm: found %s; expected one whose ranks send to ranks with --format goal",
            ar_algorithm_name(collective->algorithm));
        writer->orders[i] = ar_collective_order(collective);
        writer->channels_max = collective->channels > writer->channels_max ? collective->channels
                                                                           : writer->channels_max;
    }
    return AR_OK;
}

enum ar_status goal_write(FILE *file, const struct ar_graph_trial *trial, const char *made_by,
                          struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct writer writer = {.file = file,
                            .trial = trial,
                            .channels_max = 1,
                            .places = trial->ranks / trial->graph->roles_count};
    AR_TRY(prepare_writer(&writer, &arena, err));
    fprintf(file, "// %s\n", made_by);
    if (trial->ranks > 1) {
        fprintf(
            file,
            "// txt2bin -i FILE -o BIN; LogGOPSim -f BIN -S 2147483647 -L L -o 0 -g g -G G: whole "
            "numbers, of one path;\n// if G is below 1, count in a smaller unit than ns: "
            "multiply G, L, g and the calcs alike;\n// steps and trees: LogGOPSim of ATLAHS, since "
            "a "
            "send of spcl/LogGOPSim 76451de does not wait for a calc on another cpu\n");
        write_path(&writer, 1);
        write_path(&writer, trial->ranks - 1);
    }
    fprintf(file, "num_ranks %" PRIu32 "\n", trial->ranks);
    for (writer.rank = 0; writer.rank < trial->ranks; writer.rank++) {
        writer.role = writer.rank / writer.places;
        AR_TRY(write_rank(&writer, err));
    }
    return AR_OK;
}
