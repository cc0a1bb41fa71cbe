/* Switches that sum. In each stage of a pipeline every line has an actor, its switch, which lasts
 * as long as a collective. It takes a part when all members of the line have it, moves what they
 * send to the switch and what they get from it, all at once, and hands the part on: a switch passes
 * on what it sums while more of it comes. */
#include <math.h>
#include <stdlib.h>

#include <simgrid/engine.h>

#include "collective_run.h"

/* A line in a stage. */
struct line_switch {
    const struct collective_run *run;
    const struct ar_phase *phase;
    uint32_t lane, stage, first_step;
    uint64_t elements;
    struct ar_line line;
    struct ar_line_sum sum; /* its latency and tier */
    double gap_s;           /* for which a part keeps the line busy behind its bytes */
    double *finish_s;       /* [window]: parts have left it */
    sg_comm_t *comms;       /* [2][member] */
};

static struct sums_queue *queue_of(const struct collective_run *run, uint32_t lane,
                                   uint32_t position, uint32_t stage)
{
    size_t actor = (size_t)(actor_at(run, lane, position) - run->actors);
    return &run->sums_queues[actor * (AR_PERIOD_MAX + 1) + stage];
}

void sums_create(struct collective_run *run, size_t actors_count)
{
    size_t parts = 0;
    AR_EACH(const struct ar_phase, phase, run->phases, run->phases_count) {
        if (phase->kind == AR_PHASE_SUMS && phase->steps > 0) {
            size_t own = phase->steps / phase->period;
            parts = own > parts ? own : parts;
        }
    }
    size_t queues = actors_count * (AR_PERIOD_MAX + 1);
    if (parts == 0) {
        return;
    }
    run->sums_queues = child_alloc(queues, sizeof *run->sums_queues, "its sums");
    double *ready_s = child_alloc(queues * parts, sizeof *ready_s, "its sums");
    for (size_t i = 0; i < queues; i++) {
        run->sums_queues[i] =
            (struct sums_queue){.parts = sg_sem_init(0), .ready_s = ready_s + i * parts};
    }
}

static void queue_put(struct sums_queue *queue, uint32_t part, double ready_s)
{
    queue->ready_s[part] = ready_s;
    sg_sem_release(queue->parts);
}

/* Waits for a part at a stage; returns when it may be taken. */
static double queue_take(struct sums_queue *queue, uint32_t part)
{
    sg_sem_acquire(queue->parts);
    return queue->ready_s[part];
}

static uint32_t rank_at(const struct line_switch *own, uint32_t index)
{
    uint32_t member = own->line.first + index % own->line.count * own->line.stride;
    return actor_at(own->run, own->lane, member)->rank;
}

/* Begins the message over half of the path to the next member, or from the last; NULL if empty. */
static sg_comm_t move_half(const struct line_switch *own, uint32_t source, uint32_t destination,
                           const struct ar_slice *slice)
{
    uint64_t bytes = slice->count * own->run->collective->element_bytes;
    if (bytes == 0) {
        return NULL;
    }
    sg_comm_t comm = simgrid_send(child_host(source), child_host(destination), bytes);
    child_note_message(comm, source, destination, (double)bytes);
    return comm;
}

/* All messages of a part, at once. */
static void move_part(const struct line_switch *own, uint32_t part)
{
    const struct ar_collective *collective = own->run->collective;
    uint32_t count = own->line.count, comms_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ar_move move =
            ar_algorithm_move(collective->algorithm, &collective->shape, own->elements,
                              own->line.first + i * own->line.stride,
                              own->first_step + part * own->phase->period + own->stage);
        uint32_t rank = rank_at(own, i);
        if (move.sends) {
            own->comms[comms_count++] =
                move_half(own, rank, AR_SWITCH | rank_at(own, i + 1), &move.send_span);
        }
        if (move.receive != AR_RECEIVE_NONE) {
            own->comms[comms_count++] =
                move_half(own, AR_SWITCH | rank_at(own, i + count - 1), rank, &move.receive_span);
        }
    }
    for (uint32_t i = 0; i < comms_count; i++) {
        child_await(own->comms[i], 0);
    }
}

static void switch_run(void *data)
{
    struct line_switch *own = data;
    const struct collective_run *run = own->run;
    uint32_t window = run->collective->window;
    for (uint32_t part = 0; part < own->phase->steps / own->phase->period; part++) {
        double start_s = own->finish_s[part % window];
        for (uint32_t i = 0; i < own->line.count; i++) {
            uint32_t member = own->line.first + i * own->line.stride;
            start_s = fmax(start_s, queue_take(queue_of(run, own->lane, member, own->stage), part));
        }
        child_sleep_until(start_s);
        move_part(own, part);
        child_sleep_for(own->gap_s);
        uint32_t step = own->first_step + part * own->phase->period + own->stage;
        uint64_t largest = ar_line_elements(run->collective, &own->line, own->elements, step);
        own->finish_s[part % window] =
            simgrid_get_clock() +
            ar_line_latency_s(&own->sum, run->cost,
                              (double)(largest * run->collective->element_bytes));
        for (uint32_t i = 0; i < own->line.count; i++) {
            uint32_t member = own->line.first + i * own->line.stride;
            queue_put(queue_of(run, own->lane, member, own->stage + 1), part,
                      own->finish_s[part % window]);
        }
    }
    free(own->finish_s);
    free(own->comms);
    free(own);
}

/* The gap of the line, as the flows of the collective have it. */
static double find_gap_s(const struct line_switch *own)
{
    const struct collective_run *run = own->run;
    const struct ar_flows *flows = run->flows;
    const struct ar_line_sums *sums =
        flows != NULL ? flows->patterns[own->phase - run->phases].line_sums : NULL;
    const uint32_t *first =
        sums != NULL ? &sums->first[ar_flows_lane(flows, own->lane) * sums->stages + own->stage]
                     : NULL;
    for (uint32_t i = sums != NULL ? first[0] : 0; sums != NULL && i < first[1]; i++) {
        if (sums->lines[i].line.first == own->line.first) {
            return sums->lines[i].turns * ar_message_gap_s(run->cost, sums->lines[i].tier);
        }
    }
    return 0;
}

/* The slowest of the members' latencies, and the farthest tier. */
static void find_sum(struct line_switch *own)
{
    const struct ar_cluster *cluster = own->run->collective->cluster;
    own->sum = (struct ar_line_sum){.tier = AR_TIER_NVLINK};
    own->gap_s = find_gap_s(own);
    for (uint32_t i = 0; i < own->line.count; i++) {
        struct ar_path path;
        ar_cluster_path(cluster, rank_at(own, i), AR_SWITCH | rank_at(own, i + 1), &path);
        own->sum.latency_s = fmax(own->sum.latency_s, path.latency_s);
        own->sum.tier = path.tier > own->sum.tier ? path.tier : own->sum.tier;
    }
}

/* The first member of a line sets up its switch. */
static void start_switch(const struct actor *actor, const struct ar_phase *phase,
                         const struct ar_line *line, struct line_switch start)
{
    const struct ar_collective *collective = actor->run->collective;
    struct line_switch *own = child_alloc(1, sizeof *own, "its switches");
    *own = start;
    own->run = actor->run;
    own->phase = phase;
    own->lane = actor->lane;
    own->line = *line;
    own->finish_s = child_alloc(collective->window, sizeof *own->finish_s, "its switches");
    own->comms = child_alloc(2 * (size_t)line->count, sizeof *own->comms, "its switches");
    find_sum(own);
    child_start_actor("switch", AR_SWITCH | rank_at(own, 0), switch_run, own);
}

void sums_run(struct actor *actor, const struct ar_phase *phase, uint64_t elements,
              uint32_t first_step)
{
    const struct collective_run *run = actor->run;
    const struct ar_collective *collective = run->collective;
    uint32_t parts = phase->steps / phase->period;
    double done_s = 0;
    for (uint32_t stage = 0; stage < phase->period; stage++) {
        struct ar_line line = ar_algorithm_move(collective->algorithm, &collective->shape, elements,
                                                actor->position, first_step + stage)
                                  .line;
        if (line.first == actor->position) {
            start_switch(actor, phase, &line,
                         (struct line_switch){
                             .stage = stage, .first_step = first_step, .elements = elements});
        }
    }
    for (uint32_t part = 0; part < parts; part++) {
        queue_put(queue_of(run, actor->lane, actor->position, 0), part, simgrid_get_clock());
    }
    for (uint32_t part = 0; part < parts; part++) {
        struct sums_queue *end = queue_of(run, actor->lane, actor->position, phase->period);
        done_s = fmax(done_s, queue_take(end, part));
    }
    child_sleep_until(done_s);
}
