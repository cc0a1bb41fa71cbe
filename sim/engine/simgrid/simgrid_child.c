/* Child side of a trial: the ranks of its collective do its jobs. */
#include "simgrid_child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "simgrid_actor.h"

void actor_run(struct actor *actor, uint32_t job, uint64_t elements, double copy_s)
{
    const struct simulation *simulation = actor->simulation;
    const struct ar_collective *collective = simulation->collective;
    double begin_s = ar_collective_setup_s(collective, elements) + copy_s;
    if (begin_s > 0) {
        sg_actor_sleep_for(begin_s);
    }
    actor->reduce_s_per_byte =
        ar_cluster_reduce_cost(collective->cluster, (double)(elements * collective->element_bytes));
    actor_walk(actor, job, ar_collective_part(collective, elements, actor->lane).count);
    actor_land_all(actor);
    actor_mark(actor, job, AR_MARK_DONE);
    if (actor->barrier != NULL) {
        sg_barrier_wait(actor->barrier);
    }
}

static void run_job(struct actor *actor, uint32_t index)
{
    const struct simulation *simulation = actor->simulation;
    const struct ar_call *job = &simulation->trial->jobs[index];
    struct ar_call_time *time = &simulation->trial->times[index];
    double ready_s = ar_trial_ready(simulation->trial, index, actor->rank);
    if (simgrid_get_clock() < ready_s) {
        sg_actor_sleep_until(ready_s);
    }
    time->start_s = fmin(time->start_s, simgrid_get_clock());
    actor_mark(actor, index, AR_MARK_START);
    actor_run(actor, index, job->elements, job->copy_s);
    time->finish_s = fmax(time->finish_s, simgrid_get_clock());
}

static void actor_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct actor *actor = sg_actor_self_get_data();
    actor_declare_receiver(actor);
    for (uint32_t i = 0; i < actor->simulation->trial->jobs_count; i++) {
        run_job(actor, i);
    }
    double *rank_finish_s = actor->simulation->trial->rank_finish_s;
    if (rank_finish_s != NULL) {
        rank_finish_s[actor->rank] = simgrid_get_clock();
    }
}

static int64_t index_in_timeline(const struct ar_timeline *timeline, uint32_t rank)
{
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        if (timeline->ranks[i] == rank) {
            return i;
        }
    }
    return -1;
}

static void create_actor(struct simulation *simulation, uint32_t lane, uint32_t position,
                         sg_bar_t *barriers)
{
    struct actor *actor = actor_at(simulation, lane, position);
    size_t index = (size_t)(actor - simulation->actors);
    uint32_t rank = ar_order_rank(&simulation->order, lane, position);
    *actor = (struct actor){
        .simulation = simulation,
        .lane = lane,
        .position = position,
        .rank = rank,
        .observed =
            simulation->trial != NULL ? index_in_timeline(simulation->trial->timeline, rank) : -1,
        .flights = {.capacity = simulation->flights_capacity,
                    .ring = simulation->flights + index * simulation->flights_capacity},
        .barrier = barriers != NULL ? barriers[rank] : NULL};
}

/* Room for the messages that a rank may have in flight: over one connection, or, if there are
 * trees, over all that it has at a time. */
static uint32_t capacity_of_flights(const struct simulation *simulation)
{
    uint32_t capacity = simulation->collective->window;
    for (uint32_t i = 0; i < simulation->phases_count; i++) {
        if (simulation->phases[i].kind == AR_PHASE_TREE) {
            return capacity * AR_PERIOD_MAX;
        }
    }
    return capacity;
}

static void create_actors(struct simulation *simulation)
{
    uint32_t channels = simulation->collective->channels;
    uint32_t lanes = ar_collective_lanes(simulation->collective);
    uint32_t ranks = ar_collective_ranks(simulation->collective);
    size_t actors_count = (size_t)lanes * simulation->positions;
    simulation->flights_capacity = capacity_of_flights(simulation);
    simulation->actors = child_alloc(actors_count, sizeof(struct actor), "its ranks");
    simulation->flights = child_alloc(actors_count * simulation->flights_capacity,
                                      sizeof(struct flight), "its messages in flight");
    sums_create(simulation, actors_count);
    sg_bar_t *barriers = channels > 1 ? child_alloc(ranks, sizeof(sg_bar_t), "its barriers") : NULL;
    for (uint32_t rank = 0; barriers != NULL && rank < ranks; rank++) {
        barriers[rank] = sg_barrier_init(channels);
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        for (uint32_t position = 0; position < simulation->positions; position++) {
            create_actor(simulation, lane, position, barriers);
        }
    }
    free(barriers);
}

void simulation_create(struct simulation *simulation)
{
    const struct ar_collective *collective = simulation->collective;
    const struct ar_cluster_facts *facts = ar_cluster_facts(collective->cluster);
    simulation->order = ar_collective_order(collective);
    simulation->positions = ar_shape_ranks(&collective->shape);
    simulation->cost = &facts->message;
    simulation->phases_count =
        ar_algorithm_phases(collective->algorithm, &collective->shape, simulation->phases);
    create_actors(simulation);
}

static void start_actors(struct simulation *simulation)
{
    size_t count = (size_t)ar_collective_lanes(simulation->collective) * simulation->positions;
    for (size_t i = 0; i < count; i++) {
        struct actor *actor = &simulation->actors[i];
        sg_actor_t handle = sg_actor_init("rank", child_host(actor->rank));
        sg_actor_set_data(handle, actor);
        sg_actor_start_(handle, actor_main, 0, NULL);
        child_progress++;
    }
}

bool simgrid_answer_trial(struct simgrid_task *base, FILE *answer)
{
    struct trial_task *task = (struct trial_task *)base;
    struct ar_trial *trial = task->trial;
    struct simulation simulation = {.collective = &trial->collective, .trial = trial};
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        trial->times[i] = (struct ar_call_time){.start_s = HUGE_VAL, .finish_s = 0};
    }
    simulation_open(&task->simulation);
    simulation_create(&simulation);
    start_actors(&simulation);
    simulation_run(&task->simulation);
    return simulation_answer(&task->simulation, answer);
}
