/* Child side of a graph: what its actors do. */
#include "graph_child.h"

#include <math.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/semaphore.h>

#include "simgrid_child.h"
#include "simgrid_wait.h"

static uint32_t rank_of(const struct stream *stream)
{
    return stream->role * stream->run->places + stream->place;
}

static size_t index_of(const struct stream *stream, uint32_t task)
{
    return (size_t)task * stream->run->places + stream->place;
}

static void sleep_for(double time_s)
{
    child_progress++;
    if (time_s > 0) {
        sg_actor_sleep_for(time_s);
    }
}

/* --- waiting for others ----------------------------------------------------------------------- */

static void await_needs(struct stream *stream, uint32_t task)
{
    while (stream->run->missing[index_of(stream, task)] > 0) { /* woken for another reason */
        stream->waits_for = task;
        sg_sem_acquire(stream->wake);
        stream->waits_for = AR_NO_TASK;
    }
    if (stream->run->there_s != NULL) {
        sleep_for(stream->run->there_s[index_of(stream, task)] - simgrid_get_clock());
    }
}

/* A task has ended: those that need it, on this rank or its counterparts, miss it no more. */
static void tell(const struct stream *stream, uint32_t task)
{
    const struct graph_run *run = stream->run;
    double latency_s = run->graph->works[run->graph->tasks[task].work].latency_s;
    for (uint32_t i = run->needed_first[task]; i < run->needed_first[task + 1]; i++) {
        uint32_t number = run->needed_by[i];
        const struct ar_task *other = &run->graph->tasks[number];
        const struct stream *waiting =
            graph_stream(run, other->role, other->stream, stream->place, 0);
        if (latency_s > 0 && run->graph->works[other->work].kind == AR_TASK_COMPUTE) {
            double *there_s = &run->there_s[index_of(stream, number)];
            *there_s = fmax(*there_s, simgrid_get_clock() + latency_s);
        }
        if (--run->missing[index_of(stream, number)] == 0 && waiting->waits_for == number) {
            sg_sem_release(waiting->wake);
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

/* The second stream of a rank has become busy, or idle: computations go at another speed. */
static void set_busy(struct stream *stream, bool is_busy)
{
    const struct graph_run *run = stream->run;
    stream->is_busy = is_busy;
    if (stream->stream == AR_STREAM_GRADIENTS) {
        const struct stream *other =
            graph_stream(run, stream->role, AR_STREAM_COMPUTE, stream->place, 0);
        if (other->is_slowed) {
            sg_sem_release(other->wake);
        }
    }
}

static void compute(struct stream *stream, const struct ar_task *task)
{
    const struct graph_run *run = stream->run;
    const struct ar_graph_trial *trial = run->trial;
    const struct stream *beside =
        graph_stream(run, stream->role, AR_STREAM_GRADIENTS, stream->place, 0);
    double factor = trial->rank_factor != NULL ? trial->rank_factor[rank_of(stream)] : 1;
    double left_s = task->count * run->graph->works[task->work].time_s * factor;
    bool is_slowed = trial->speed_frac < 1 && task->duty != AR_DUTY_OPTIMIZER;
    if (!is_slowed || stream->stream != AR_STREAM_COMPUTE) {
        sleep_for(left_s);
        return;
    }
    stream->is_slowed = true;
    while (left_s > 0) {
        double began_s = simgrid_get_clock();
        double speed_frac = beside->is_busy ? trial->speed_frac : 1;
        bool is_done = sg_sem_acquire_timeout(stream->wake, left_s / speed_frac) != 0;
        left_s = is_done ? 0 : left_s - (simgrid_get_clock() - began_s) * speed_frac;
    }
    stream->is_slowed = false;
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
    double gap_bytes = ar_message_gap_s(&facts->message, path.tier) * path.bandwidth_Bps;
    double latency_s =
        path.latency_s + ar_message_extra_s(&facts->message, path.tier, (double)bytes);
    uint64_t moved = bytes + (uint64_t)llround(gap_bytes);
    bool is_left = run->graph->works[task->work].latency_s > 0; /* others wait for the rest */
    sleep_for(facts->collective_setup_s);
    flight_await(simgrid_send(child_host(from), child_host(to), moved > 0 ? moved : 1),
                 is_left ? 0 : latency_s);
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
            const struct simulation *simulation = graph_simulation(run, task->work, task->stream);
            uint32_t rank = rank_of(stream);
            uint32_t lane = ar_order_lane(&simulation->order, stream->channel, rank);
            uint32_t position = ar_order_position(&simulation->order, lane, rank);
            actor_run(actor_at(simulation, lane, position), 0, sending->elements, 0);
        }
    }
}

static bool is_sent(const struct graph_run *run, uint32_t task)
{
    const struct ar_work *work = &run->graph->works[run->graph->tasks[task].work];
    return work->kind != AR_TASK_COMPUTE && work->every == 0;
}

static void lead(struct stream *stream, uint32_t number)
{
    const struct graph_run *run = stream->run;
    const struct ar_task *task = &run->graph->tasks[number];
    const struct ar_work *work = &run->graph->works[task->work];
    await_needs(stream, number);
    sleep_for(task->wait_s);
    run->begin_s[index_of(stream, number)] = simgrid_get_clock();
    set_busy(stream, true);
    sleep_for(task->copy_s);
    if (work->kind == AR_TASK_COMPUTE) {
        compute(stream, task);
    } else if (work->every > 0) {
        sleep_for(task->count * work->time_s); /* nobody waits for others */
    } else {
        take_part(stream, task);
    }
    run->end_s[index_of(stream, number)] = simgrid_get_clock();
    set_busy(stream, false);
    tell(stream, number);
}

/* --- actors ----------------------------------------------------------------------------------- */

static void declare_receivers(const struct stream *stream)
{
    const struct graph_run *run = stream->run;
    uint32_t rank = rank_of(stream);
    for (uint32_t work = 0; work < run->graph->works_count; work++) {
        const struct simulation *simulation = graph_simulation(run, work, stream->stream);
        if (simulation == NULL || stream->channel >= simulation->collective->channels ||
            simulation->collective != &run->trial->sendings[work].collective) {
            continue; /* those that are alike have one */
        }
        uint32_t lane = ar_order_lane(&simulation->order, stream->channel, rank);
        actor_declare_receiver(
            actor_at(simulation, lane, ar_order_position(&simulation->order, lane, rank)));
    }
}

static void stream_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct stream *stream = sg_actor_self_get_data();
    const struct graph_run *run = stream->run;
    const double *start_s = run->trial->rank_start_s;
    uint32_t task = run->graph->first[stream->role * AR_STREAMS_COUNT + stream->stream];
    declare_receivers(stream);
    sg_barrier_wait(run->all_know);
    if (start_s != NULL) {
        sleep_for(start_s[rank_of(stream)]);
    }
    for (; task != AR_NO_TASK; task = run->graph->tasks[task].after) {
        if (stream->channel == 0) {
            lead(stream, task);
        } else if (is_sent(run, task)) {
            take_part(stream, &run->graph->tasks[task]);
        }
    }
    child_actors_left--;
}

static bool has_tasks(const struct stream *stream)
{
    return stream->run->graph->first[stream->role * AR_STREAMS_COUNT + stream->stream] !=
           AR_NO_TASK;
}

static void start_streams(struct graph_run *run)
{
    size_t count =
        (size_t)run->graph->roles_count * AR_STREAMS_COUNT * run->places * run->channels_max;
    for (size_t i = 0; i < count; i++) {
        struct stream *stream = &run->streams[i];
        if (has_tasks(stream)) {
            sg_actor_t actor = sg_actor_init("stream", child_host(rank_of(stream)));
            sg_actor_set_data(actor, stream);
            sg_actor_start_(actor, stream_main, 0, NULL);
            child_actors_left++;
            child_progress++;
        }
    }
    run->all_know = sg_barrier_init((unsigned)child_actors_left);
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

static void note_results(const struct graph_run *run, struct graph_task *own)
{
    uint32_t last_place = find_last_place(run);
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

bool simgrid_answer_graph(struct simgrid_task *base, FILE *answer)
{
    struct graph_task *own = (struct graph_task *)base;
    struct graph_run run;
    simulation_open(&own->simulation);
    graph_create(&run, own->trial);
    start_streams(&run);
    simulation_run(&own->simulation);
    note_results(&run, own);
    return simulation_answer(&own->simulation, answer);
}
