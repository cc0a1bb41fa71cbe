/* Child side of a task graph whose ranks are run one by one.
 *
 * Each rank has an actor for each of its streams and channels. The one of channel 0 leads: it waits
 * for what a task needs, and computes. Others join where what is sent has more channels. */
#include <math.h>

#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/semaphore.h>

#include "collective_run.h"

struct graph_run;

/* The actor of a rank on a stream, on one channel. */
struct stream {
    struct graph_run *run;
    uint32_t role, place, channel;
    enum ar_stream stream;
    uint32_t waits_for; /* a leader: the task whose end it waits for; AR_NO_TASK: none */
    sg_sem_t wake;      /* of a leader: look again */
    sg_bar_t *together; /* [channels] of its rank and stream, for those of more than one */
    bool is_busy;       /* a leader: with a task */
    bool is_slowed;     /* a leader: it computes, and the second stream may slow it down */
};

struct graph_run {
    const struct ar_graph_trial *trial;
    const struct ar_graph *graph;
    uint32_t places;                     /* ranks of a role */
    uint32_t channels_max;               /* of all that is sent */
    struct stream *streams;              /* [role][stream][place][channel] */
    double *begin_s, *end_s;             /* [task][place]; -1: it has not ended */
    struct collective_run **collectives; /* [work][stream]: collectives; NULL: there is none */
    uint32_t collectives_count;
    sg_bar_t all_know; /* of all mailboxes who receives from them */
};

static inline struct stream *graph_stream(const struct graph_run *run, uint32_t role,
                                          enum ar_stream stream, uint32_t place, uint32_t channel)
{
    size_t row = (size_t)role * AR_STREAMS_COUNT + stream;
    return &run->streams[(row * run->places + place) * run->channels_max + channel];
}

static inline struct collective_run *graph_collective(const struct graph_run *run, uint32_t work,
                                                      enum ar_stream stream)
{
    return run->collectives[(size_t)work * AR_STREAMS_COUNT + stream];
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char tables[] = "the tasks of its ranks";

static void add_collective_run(struct graph_run *run, uint32_t work, enum ar_stream stream)
{
    struct collective_run **own = &run->collectives[(size_t)work * AR_STREAMS_COUNT + stream];
    const struct ar_work *works = run->graph->works;
    const struct ar_graph_sending *sendings = run->trial->sendings;
    for (uint32_t i = 0; *own == NULL && i < run->graph->works_count; i++) {
        /* Messages of works over the same lanes follow each other there. */
        if (works[i].operation == works[work].operation && works[i].axes == works[work].axes &&
            sendings[i].collective.element_bytes == sendings[work].collective.element_bytes) {
            *own = graph_collective(run, i, stream);
        }
    }
    if (*own == NULL) {
        *own = child_alloc(1, sizeof **own, "its collectives");
        **own = (struct collective_run){.collective = &run->trial->sendings[work].collective,
                                        .number = run->collectives_count++};
        collective_run_create(*own);
    }
}

static void create_collectives(struct graph_run *run)
{
    const struct ar_graph *graph = run->graph;
    run->channels_max = 1;
    run->collectives = child_alloc((size_t)graph->works_count * AR_STREAMS_COUNT,
                                   sizeof(struct collective_run *), "its collectives");
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_work *work = &graph->works[graph->tasks[i].work];
        uint32_t channels = run->trial->sendings[graph->tasks[i].work].collective.channels;
        if (work->kind == AR_TASK_COMPUTE) {
            continue;
        }
        run->channels_max = channels > run->channels_max ? channels : run->channels_max;
        if (work->kind == AR_TASK_COLLECTIVE) {
            add_collective_run(run, graph->tasks[i].work, graph->tasks[i].stream);
        }
    }
}

static void create_streams(struct graph_run *run)
{
    uint32_t channels = run->channels_max;
    size_t rows = (size_t)run->graph->roles_count * AR_STREAMS_COUNT;
    run->streams = child_alloc(rows * run->places * channels, sizeof *run->streams, tables);
    for (size_t i = 0; i < rows * run->places; i++) {
        sg_bar_t *together = child_alloc(channels + 1, sizeof *together, "its channels");
        sg_sem_t wake = sg_sem_init(0);
        for (uint32_t channel = 0; channel < channels; channel++) {
            run->streams[i * channels + channel] = (struct stream){
                .run = run,
                .role = (uint32_t)(i / run->places / AR_STREAMS_COUNT),
                .stream = (enum ar_stream)(i / run->places % AR_STREAMS_COUNT),
                .place = (uint32_t)(i % run->places),
                .channel = channel,
                .waits_for = AR_NO_TASK,
                .wake = wake,
                .together = together,
            };
        }
    }
}

static void graph_create(struct graph_run *run, const struct ar_graph_trial *trial)
{
    const struct ar_graph *graph = trial->graph;
    *run = (struct graph_run){
        .trial = trial, .graph = graph, .places = trial->ranks / graph->roles_count};
    size_t times = (size_t)graph->tasks_count * run->places;
    run->begin_s = child_alloc(times, sizeof *run->begin_s, tables);
    run->end_s = child_alloc(times, sizeof *run->end_s, tables);
    for (size_t i = 0; i < times; i++) {
        run->end_s[i] = -1;
    }
    create_collectives(run);
    create_streams(run);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static uint32_t rank_of(const struct stream *stream)
{
    return stream->role * stream->run->places + stream->place;
}

static size_t task_index(const struct stream *stream, uint32_t task)
{
    return (size_t)task * stream->run->places + stream->place;
}

/* --- waiting for others ----------------------------------------------------------------------- */

/* Waits until all that a task needs, on this rank or its counterparts, has ended, and until what a
 * computation needs has arrived. */
static void await_needs(struct stream *stream, const struct ar_task *task)
{
    const struct ar_graph *graph = stream->run->graph;
    bool is_computed = graph->works[task->work].kind == AR_TASK_COMPUTE;
    double there_s = 0;
    for (uint32_t need = task->need; need != AR_NO_TASK; need = graph->needs[need].next) {
        uint32_t other = graph->needs[need].task;
        const double *end_s = &stream->run->end_s[task_index(stream, other)];
        double latency_s = graph->works[graph->tasks[other].work].latency_s;
        while (*end_s < 0) { /* it may be woken for another reason */
            stream->waits_for = other;
            sg_sem_acquire(stream->wake);
            stream->waits_for = AR_NO_TASK;
        }
        there_s = is_computed && latency_s > 0 ? fmax(there_s, *end_s + latency_s) : there_s;
    }
    child_sleep_for(there_s - simgrid_get_clock());
}

/* A task has ended: wakes those that wait for it on this rank and its counterparts. */
static void end_task(const struct stream *stream, uint32_t task)
{
    const struct graph_run *run = stream->run;
    run->end_s[task_index(stream, task)] = simgrid_get_clock();
    for (uint32_t i = 0; i < run->graph->roles_count * AR_STREAMS_COUNT; i++) {
        const struct stream *other =
            &run->streams[((size_t)i * run->places + stream->place) * run->channels_max];
        if (other->waits_for == task) {
            sg_sem_release(other->wake);
        }
    }
}

/* Waits for the rank's other channels. */
static void gather_channels(const struct stream *stream, uint32_t channels)
{
    if (channels > 1) {
        sg_bar_t *together = &stream->together[channels];
        *together = *together == NULL ? sg_barrier_init(channels) : *together;
        sg_barrier_wait(*together);
    }
}

/* --- what tasks do ---------------------------------------------------------------------------- */

/* Whether a rank sends something beside its computations. */
static bool is_beside_busy(const struct stream *stream)
{
    bool is_busy = false;
    for (uint32_t beside = AR_STREAM_COMPUTE + 1; beside < AR_STREAM_HOST; beside++) {
        is_busy =
            is_busy || graph_stream(stream->run, stream->role, beside, stream->place, 0)->is_busy;
    }
    return is_busy;
}

/* A stream of a rank has become busy, or idle: computations go at another speed. */
static void set_busy(struct stream *stream, bool is_busy)
{
    const struct graph_run *run = stream->run;
    stream->is_busy = is_busy;
    if (stream->stream != AR_STREAM_COMPUTE && stream->stream != AR_STREAM_HOST) {
        const struct stream *other =
            graph_stream(run, stream->role, AR_STREAM_COMPUTE, stream->place, 0);
        if (other->is_slowed) {
            sg_sem_release(other->wake);
        }
    }
}

static void stream_compute(struct stream *stream, const struct ar_task *task)
{
    const struct graph_run *run = stream->run;
    const struct ar_graph_trial *trial = run->trial;
    double factor = trial->rank_factor != NULL ? trial->rank_factor[rank_of(stream)] : 1;
    double left_s = task->count * run->graph->works[task->work].time_s * factor;
    bool is_slowed = trial->speed_frac < 1 && task->duty != AR_DUTY_OPTIMIZER;
    if (stream->stream != AR_STREAM_COMPUTE) { /* the CPU's, or copies, beside those of the GPU */
        child_sleep_for(left_s);
        return;
    }
    if (!is_slowed) {
        child_compute(rank_of(stream), left_s);
        return;
    }
    stream->is_slowed = true;
    double first_s = simgrid_get_clock();
    while (left_s > 0) {
        double began_s = simgrid_get_clock();
        double speed_frac = is_beside_busy(stream) ? trial->speed_frac : 1;
        bool is_done = sg_sem_acquire_timeout(stream->wake, left_s / speed_frac) != 0;
        left_s = is_done ? 0 : left_s - (simgrid_get_clock() - began_s) * speed_frac;
    }
    stream->is_slowed = false;
    child_note_computed(rank_of(stream), first_s);
}

/* For how long the gaps of all messages between the two roles that pass one of its HCAs keep it
 * busy behind the bytes of a part. */
static double gap_of_part(const struct stream *stream, const struct ar_task *task,
                          const struct ar_path *path)
{
    const struct graph_run *run = stream->run;
    const struct ar_collective *collective = &run->trial->sendings[task->work].collective;
    const struct ar_cluster *cluster = collective->cluster;
    double gap_s = ar_message_gap_s(&ar_cluster_facts(cluster)->message, path->tier);
    uint32_t most = 1;
    for (uint32_t i = 0; i < path->links_count && gap_s > 0; i++) {
        uint32_t users = 0;
        for (uint32_t place = 0;
             place < run->places && ar_cluster_is_hca_link(cluster, path->links[i]); place++) {
            struct ar_path other;
            ar_cluster_path(cluster, stream->role * run->places + place,
                            task->to * run->places + place, &other);
            for (uint32_t j = 0; j < other.links_count; j++) {
                users += other.links[j] == path->links[i];
            }
        }
        most = users > most ? users : most;
    }
    return most * collective->channels * gap_s;
}

/* The part of a channel goes to the counterpart, as the moves of a send go. */
static void send_part(const struct stream *stream, const struct ar_task *task)
{
    const struct graph_run *run = stream->run;
    const struct ar_graph_sending *sending = &run->trial->sendings[task->work];
    const struct ar_collective *collective = &sending->collective;
    const struct ar_cluster *cluster = collective->cluster;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    uint32_t from = rank_of(stream), to = task->to * run->places + stream->place;
    uint64_t bytes = ar_collective_part(collective, sending->elements, stream->channel).count *
                     collective->element_bytes;
    struct ar_path path;
    ar_cluster_path(cluster, from, to, &path);
    double latency_s =
        path.latency_s + ar_message_extra_s(&facts->message, path.tier, (double)bytes);
    bool is_left = run->graph->works[task->work].latency_s > 0; /* others wait for the rest */
    child_sleep_for(facts->collective_setup_s);
    double behind_s = gap_of_part(stream, task, &path) + (is_left ? 0 : latency_s);
    if (bytes > 0) {
        sg_comm_t comm = simgrid_send(child_host(from), child_host(to), bytes);
        child_note_message(comm, from, to, (double)bytes);
        child_await(comm, behind_s);
    } else {
        child_sleep_for(behind_s);
    }
}

static void take_part(const struct stream *stream, const struct ar_task *task)
{
    const struct graph_run *run = stream->run;
    const struct ar_graph_sending *sending = &run->trial->sendings[task->work];
    uint32_t channels = sending->collective.channels;
    if (stream->channel >= channels) {
        return;
    }
    gather_channels(stream, channels);
    for (uint32_t i = 0; i < task->count; i++) {
        if (run->graph->works[task->work].kind == AR_TASK_MESSAGE) {
            send_part(stream, task);
            gather_channels(stream, channels);
        } else {
            const struct collective_run *collective_run =
                graph_collective(run, task->work, task->stream);
            uint32_t rank = rank_of(stream);
            uint32_t lane = ar_order_lane(&collective_run->order, stream->channel, rank);
            uint32_t position = ar_order_position(&collective_run->order, lane, rank);
            actor_run_call(actor_at(collective_run, lane, position), 0, sending->elements, 0);
        }
    }
}

static void lead_task(struct stream *stream, uint32_t number)
{
    const struct graph_run *run = stream->run;
    const struct ar_task *task = &run->graph->tasks[number];
    const struct ar_work *work = &run->graph->works[task->work];
    await_needs(stream, task);
    child_sleep_for(task->wait_s);
    run->begin_s[task_index(stream, number)] = simgrid_get_clock();
    set_busy(stream, true);
    child_sleep_for(task->copy_s);
    if (work->kind == AR_TASK_COMPUTE) {
        stream_compute(stream, task);
    } else if (work->every > 0) {
        child_sleep_for(task->count * work->time_s); /* nobody waits for others */
    } else {
        take_part(stream, task);
    }
    set_busy(stream, false);
    end_task(stream, number);
}

/* --- actors ----------------------------------------------------------------------------------- */

static void declare_receivers(const struct stream *stream)
{
    const struct graph_run *run = stream->run;
    uint32_t rank = rank_of(stream);
    for (uint32_t work = 0; work < run->graph->works_count; work++) {
        const struct collective_run *collective_run = graph_collective(run, work, stream->stream);
        if (collective_run == NULL || stream->channel >= collective_run->collective->channels ||
            collective_run->collective != &run->trial->sendings[work].collective) {
            continue; /* those that are alike have one */
        }
        uint32_t lane = ar_order_lane(&collective_run->order, stream->channel, rank);
        actor_declare_receiver(
            actor_at(collective_run, lane, ar_order_position(&collective_run->order, lane, rank)));
    }
}

static void stream_run(void *data)
{
    struct stream *stream = data;
    const struct graph_run *run = stream->run;
    const double *start_s = run->trial->rank_start_s;
    uint32_t task = run->graph->first[stream->role * AR_STREAMS_COUNT + stream->stream];
    declare_receivers(stream);
    sg_barrier_wait(run->all_know);
    if (start_s != NULL) {
        child_sleep_for(start_s[rank_of(stream)]);
    }
    for (; task != AR_NO_TASK; task = run->graph->tasks[task].after) {
        const struct ar_work *work = &run->graph->works[run->graph->tasks[task].work];
        if (stream->channel == 0) {
            lead_task(stream, task);
        } else if (work->kind != AR_TASK_COMPUTE && work->every == 0) {
            take_part(stream, &run->graph->tasks[task]);
        }
    }
}

/* --- results ---------------------------------------------------------------------------------- */

/* The place of the rank that ends last; of those that end together, as groups do, the one that was
 * last to begin with that: the others waited for it. */
static uint32_t find_last_place(const struct graph_run *run)
{
    size_t last = 0, count = (size_t)run->graph->tasks_count * run->places;
    for (size_t i = 0; i < count; i++) {
        double longer_s = run->end_s[i] - run->end_s[last];
        bool is_together = fabs(longer_s) < 1e-9 * run->end_s[last];
        if (is_together ? run->begin_s[i] > run->begin_s[last] : longer_s > 0) {
            last = i;
        }
    }
    return (uint32_t)(last % run->places);
}

/* Times are a period later if they differ from that by less than this part of it: so many equal
 * periods are wrong by that part of a step at most. */
#define EQUAL_FRAC 1e-7

/* How long a period takes that stands for those left out; NAN: on some rank it is not the same. */
static double find_period(const struct graph_run *run)
{
    const struct ar_periods *periods = run->graph->periods;
    const size_t places = run->places;
    double period_s = run->end_s[periods->end[0] * places] - run->end_s[periods->begin[0] * places];
    for (uint32_t role = 0; role < run->graph->roles_count; role++) {
        size_t later = (periods->end[role] - periods->begin[role]) * places;
        for (size_t i = periods->warm[role] * places; i < periods->begin[role] * places; i++) {
            double begin_s = run->begin_s[i + later] - run->begin_s[i];
            double end_s = run->end_s[i + later] - run->end_s[i];
            if (fmax(fabs(begin_s - period_s), fabs(end_s - period_s)) > EQUAL_FRAC * period_s) {
                return NAN;
            }
        }
    }
    return period_s;
}

static void graph_finish(void *data)
{
    struct graph_task *own = data;
    const struct graph_run *run = own->run;
    uint32_t last_place = find_last_place(run);
    own->period_s = run->graph->periods != NULL ? find_period(run) : 0;
    for (uint32_t task = 0; task < run->graph->tasks_count; task++) {
        size_t first = (size_t)task * run->places;
        double *rank_end_s = &own->rank_end_s[run->graph->tasks[task].role * run->places];
        for (uint32_t place = 0; place < run->places; place++) {
            rank_end_s[place] = fmax(rank_end_s[place], run->end_s[first + place]);
        }
        own->times[task] = (struct graph_time){.start_s = run->begin_s[first + last_place],
                                               .end_s = run->end_s[first + last_place]};
    }
}

static void graph_start(void *data)
{
    struct graph_task *task = data;
    struct graph_run *run = task->run = child_alloc(1, sizeof *run, tables);
    graph_create(run, task->trial);
    size_t count =
        (size_t)run->graph->roles_count * AR_STREAMS_COUNT * run->places * run->channels_max;
    AR_EACH(struct stream, stream, run->streams, count) {
        if (run->graph->first[stream->role * AR_STREAMS_COUNT + stream->stream] != AR_NO_TASK) {
            child_start_actor("stream", rank_of(stream), stream_run, stream);
        }
    }
    run->all_know = sg_barrier_init(child_actors_count());
}

const struct child_kind child_graph = {.start = graph_start, .finish = graph_finish};
