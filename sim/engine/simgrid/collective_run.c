/* Child side of a collective: its ranks, and what they do step by step. */
#include "collective_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <simgrid/engine.h>

/* --- connections and messages in flight ------------------------------------------------------- */

/* Forgets all connections, but keeps the one used last if it is the same in each phase. */
static void link_ends_begin_phase(struct link_ends *ends, bool keeps_last)
{
    if (ends->count > 0) {
        ends->ends[0] = ends->ends[ends->last];
        ends->count = keeps_last ? 1 : 0;
        ends->last = 0;
    }
}

static struct flight *flight_at(const struct flights *flights, uint32_t index)
{
    uint32_t place = flights->first + index;
    return &flights->ring[place < flights->capacity ? place : place - flights->capacity];
}

/* Waits until a message has left. */
static void flight_leave(struct flight *flight)
{
    if (flight->comm != NULL) {
        flight->left_s = simgrid_wait(flight->comm) + flight->gap_s;
        flight->comm = NULL;
    }
}

/* Waits until a message has arrived, and removes it. */
static void flight_land(struct flights *flights, uint32_t index)
{
    struct flight *flight = flight_at(flights, index);
    flight_leave(flight);
    child_sleep_until(flight->left_s + flight->latency_s);
    for (uint32_t i = index; i > 0; i--) {
        *flight_at(flights, i) = *flight_at(flights, i - 1);
    }
    flights->first = flights->first + 1 < flights->capacity ? flights->first + 1 : 0;
    flights->count--;
}

/* Waits until fewer than `max` messages to a peer are in flight (AR_NEVER: to any), at least 1. */
static void flights_await(struct flights *flights, uint32_t peer, uint32_t max)
{
    uint32_t to_peer = 0;
    for (uint32_t i = 0; i < flights->count; i++) {
        to_peer += peer == AR_NEVER || flight_at(flights, i)->peer == peer;
    }
    for (uint32_t i = 0; to_peer >= max;) {
        if (peer == AR_NEVER || flight_at(flights, i)->peer == peer) {
            flight_land(flights, i);
            to_peer--;
        } else {
            i++;
        }
    }
}

/* Waits until the last message to a peer has left, if it is still in flight. */
static void flights_await_left(struct flights *flights, uint32_t peer)
{
    for (uint32_t i = flights->count; i-- > 0;) {
        if (flight_at(flights, i)->peer == peer) {
            flight_leave(flight_at(flights, i));
            child_sleep_until(flight_at(flights, i)->left_s);
            return;
        }
    }
}

/* --- moves ------------------------------------------------------------------------------------ */

enum { NAME_SIZE = 64 };

static const char *message_mailbox_name(const struct actor *actor, uint32_t from, char kind,
                                        uint32_t to, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%" PRIu32 ".%" PRIu32 ":%" PRIu32 "%c%" PRIu32, actor->run->number,
             actor->lane, from, kind, to);
    return name;
}

static uint64_t bytes_of_slice(const struct actor *actor, struct ar_slice span)
{
    return span.count * actor->run->collective->element_bytes;
}

/* The way from a position to another one: '>' over a connection, or '=' in an exchange, whose
 * mailbox has no receiver yet, so that a message starts when both have come. */
static struct link_end find_link_end(const struct actor *actor, uint32_t from, char kind,
                                     uint32_t to)
{
    const struct collective_run *run = actor->run;
    const struct ar_flows *flows = run->flows;
    char name[NAME_SIZE];
    struct ar_path path;
    ar_cluster_path(run->collective->cluster, actor_at(run, actor->lane, from)->rank,
                    actor_at(run, actor->lane, to)->rank, &path);
    return (struct link_end){
        .peer = from == actor->position ? to : from,
        .mailbox = sg_mailbox_by_name(message_mailbox_name(actor, from, kind, to, name)),
        .latency_s = path.latency_s,
        .gap_s = flows == NULL
                     ? 0
                     : ar_flows_gap_s(flows, actor->phase, actor->step, actor->lane, from, to),
        .tier = path.tier};
}

static const struct link_end *connection_to(const struct actor *actor, struct link_ends *ends,
                                            uint32_t from, uint32_t to)
{
    uint32_t peer = from == actor->position ? to : from;
    for (uint32_t i = 0; i < ends->count; i++, ends->last = (ends->last + 1) % ends->count) {
        if (ends->ends[ends->last].peer == peer) {
            return &ends->ends[ends->last];
        }
    }
    assert(ends->count <= AR_PERIOD_MAX);
    ends->last = ends->count++;
    ends->ends[ends->last] = find_link_end(actor, from, '>', to);
    return &ends->ends[ends->last];
}

/* The latency of a message, which it takes after it has left; SimGrid counts none. */
static double latency_over(const struct actor *actor, const struct link_end *end, uint64_t bytes)
{
    return end->latency_s + ar_message_extra_s(actor->run->cost, end->tier, (double)bytes);
}

/* Makes messages to this actor in walks and trees start when they are sent, not when it asks for
 * them: SimGrid does so for a mailbox whose receiver is known. (Posting receives ahead does the
 * same, but the longer life of the communications costs a third of the speed at 1024 ranks.) */
void actor_declare_receiver(const struct actor *actor)
{
    const struct ar_collective *collective = actor->run->collective;
    const struct ar_phase *phases = actor->run->phases;
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < actor->run->phases_count; i++) {
        bool is_known = phases[i].kind == AR_PHASE_WALK || phases[i].kind == AR_PHASE_TREE;
        for (uint32_t place = 0; is_known && place < ar_phase_period(&phases[i]); place++) {
            struct ar_move move;
            uint32_t step =
                ar_algorithm_find_step(collective->algorithm, &collective->shape, &phases[i],
                                       first_step, actor->position, place, false, &move);
            if (step != AR_NEVER) {
                char name[NAME_SIZE];
                sg_mailbox_set_receiver(
                    message_mailbox_name(actor, move.receive_from, '>', actor->position, name));
            }
        }
        first_step += phases[i].steps;
    }
}

static struct flight put_message(const struct actor *actor, const struct link_end *out,
                                 uint64_t bytes)
{
    static int payload; /* SimGrid wants an address; nothing is read through it */
    sg_comm_t comm =
        simgrid_put(out->mailbox, &payload, bytes > 0 ? (double)bytes : CHILD_BYTES_MIN);
    child_note_message(comm, actor->rank, actor_at(actor->run, actor->lane, out->peer)->rank,
                       (double)bytes);
    return (struct flight){.comm = comm,
                           .peer = out->peer,
                           .step = actor->steps_done,
                           .gap_s = out->gap_s,
                           .latency_s = latency_over(actor, out, bytes)};
}

static void send_message(struct actor *actor, const struct ar_move *move)
{
    const struct link_end *out = connection_to(actor, &actor->out, actor->position, move->send_to);
    const struct ar_collective *collective = actor->run->collective;
    struct flights *flights = &actor->flights;
    /* Walks count messages of the rank, trees those of the connection, and of a phase before. */
    flights_await(flights, actor->is_in_tree ? out->peer : AR_NEVER, collective->window);
    flights_await(flights, AR_NEVER, flights->capacity);
    flights_await_left(flights, out->peer); /* one message at a time */
    struct flight flight = put_message(actor, out, bytes_of_slice(actor, move->send_span));
    assert(flights->count < flights->capacity);
    *flight_at(flights, flights->count++) = flight;
    /* Here, since during the send the peer has counted what arrived at this instant: a message is
     * then released one step earlier than before the send, and caches hold the rest for longer. */
    for (const struct flight *oldest = flight_at(flights, 0);
         flights->count > 1 &&
         actor_at(actor->run, actor->lane, oldest->peer)->steps_done > oldest->step;
         oldest = flight_at(flights, 0)) {
        flight_land(flights, 0);
    }
}

static void reduce_received(const struct actor *actor, const struct ar_move *move)
{
    bool adds = move->receive == AR_RECEIVE_REDUCE;
    double s_per_byte = adds ? actor->reduce_s_per_byte : actor->move_s_per_byte;
    child_sleep_for((double)bytes_of_slice(actor, move->receive_span) * s_per_byte);
}

static void receive_message(struct actor *actor, const struct ar_move *move)
{
    static void *payload;
    const struct link_end *in =
        connection_to(actor, &actor->in, move->receive_from, actor->position);
    child_await(sg_mailbox_get_async(in->mailbox, &payload),
                in->gap_s + latency_over(actor, in, bytes_of_slice(actor, move->receive_span)));
    reduce_received(actor, move);
}

static struct ar_move move_at(const struct actor *actor, uint64_t elements, uint32_t step)
{
    const struct ar_collective *collective = actor->run->collective;
    return ar_algorithm_move(collective->algorithm, &collective->shape, elements, actor->position,
                             step);
}

/* The message that a rank receives in a step of an exchange; none if it receives nothing. */
static struct flight get_exchanged(const struct actor *actor, const struct ar_move *move)
{
    static void *payload;
    struct flight flight = {.comm = NULL};
    if (move->receive != AR_RECEIVE_NONE) {
        struct link_end in = find_link_end(actor, move->receive_from, '=', actor->position);
        flight.comm = sg_mailbox_get_async(in.mailbox, &payload);
        flight.gap_s = in.gap_s;
        flight.latency_s = latency_over(actor, &in, bytes_of_slice(actor, move->receive_span));
    }
    return flight;
}

static struct flight put_exchanged(const struct actor *actor, const struct ar_move *move)
{
    struct flight flight = {.comm = NULL};
    if (move->sends) {
        struct link_end out = find_link_end(actor, actor->position, '=', move->send_to);
        flight = put_message(actor, &out, bytes_of_slice(actor, move->send_span));
    }
    return flight;
}

/* A step of an exchange: it ends when what it sends and what it receives have arrived. */
static void exchange_step(struct actor *actor, const struct ar_move *move)
{
    struct flight sent = put_exchanged(actor, move), received = get_exchanged(actor, move);
    child_await(received.comm, received.gap_s + received.latency_s);
    child_await(sent.comm, sent.gap_s + sent.latency_s);
    if (received.comm != NULL) {
        reduce_received(actor, move);
    }
}

/* All steps of an exchange whose messages go at once. */
static void exchange_at_once(struct actor *actor, uint64_t elements, uint32_t first_step,
                             uint32_t steps)
{
    struct flight *received =
        child_alloc(2 * (size_t)steps, sizeof *received, "its messages in flight");
    struct flight *sent = received + steps;
    for (uint32_t i = 0; i < steps; i++) {
        struct ar_move move = move_at(actor, elements, first_step + i);
        actor->step = i;
        received[i] = get_exchanged(actor, &move);
        sent[i] = put_exchanged(actor, &move);
    }
    for (uint32_t i = 0; i < steps; i++) {
        if (received[i].comm != NULL) {
            struct ar_move move = move_at(actor, elements, first_step + i);
            child_await(received[i].comm, received[i].gap_s + received[i].latency_s);
            reduce_received(actor, &move);
        }
    }
    for (uint32_t i = 0; i < steps; i++) {
        child_await(sent[i].comm, sent[i].gap_s + sent[i].latency_s);
    }
    free(received);
}

void actor_mark(const struct actor *actor, uint32_t call, uint32_t number)
{
    const struct ar_trial *trial = actor->run->trial;
    const struct ar_timeline *timeline = trial != NULL ? trial->timeline : NULL;
    uint32_t channel = actor->lane % actor->run->collective->channels;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        if (timeline->ranks[i] == actor->rank) {
            ar_timeline_marks(trial, call, i, channel)[number] = simgrid_get_clock();
        }
    }
}

static void actor_land_all(struct actor *actor)
{
    while (actor->flights.count > 0) {
        flight_land(&actor->flights, 0);
    }
}

static void run_phase(struct actor *actor, const struct ar_phase *phase, uint64_t elements,
                      uint32_t first_step)
{
    const struct ar_cluster *cluster = actor->run->collective->cluster;
    actor->phase = (uint32_t)(phase - actor->run->phases);
    actor->is_in_tree = phase->kind == AR_PHASE_TREE;
    actor->move_s_per_byte = phase->moves * ar_cluster_facts(cluster)->copy_s_per_byte;
    link_ends_begin_phase(&actor->out, actor->run->flows == NULL);
    link_ends_begin_phase(&actor->in, actor->run->flows == NULL);
    if (phase->kind == AR_PHASE_EXCHANGE || phase->kind == AR_PHASE_SUMS) {
        actor_land_all(actor);
    }
    if (phase->is_at_once || (phase->kind == AR_PHASE_SUMS && phase->steps > 0)) {
        if (phase->is_at_once) {
            exchange_at_once(actor, elements, first_step, phase->steps);
        } else {
            sums_run(actor, phase, elements, first_step);
        }
        actor->steps_done += phase->steps;
        return;
    }
    rings_enter(actor, first_step);
    actor->steps_left_out = 0;
    for (actor->step = 0; actor->step < phase->steps; actor->step = rings_next(actor, phase)) {
        struct ar_move move = move_at(actor, elements, first_step + actor->step);
        if (actor->steps_left_out > 0) {
            struct ar_move old =
                move_at(actor, elements, first_step + actor->step - actor->steps_left_out);
            move.send_span = old.send_span;
            move.receive_span = old.receive_span;
        }
        if (phase->kind == AR_PHASE_EXCHANGE) {
            exchange_step(actor, &move);
        } else {
            if (move.sends) {
                send_message(actor, &move);
            }
            if (move.receive != AR_RECEIVE_NONE) {
                receive_message(actor, &move);
            }
        }
        actor->steps_done++;
    }
    rings_leave(actor);
}

/* Does all moves of a call of `elements` on the lane; its last messages may be in flight. */
static void actor_walk(struct actor *actor, uint32_t call, uint64_t elements)
{
    const struct collective_run *run = actor->run;
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < run->phases_count; i++) {
        actor_mark(actor, call, AR_MARK_PHASES + i);
        run_phase(actor, &run->phases[i], elements, first_step);
        first_step += run->phases[i].steps;
    }
    actor_mark(actor, call, AR_MARK_PHASES + run->phases_count);
}

/* --- collectives ------------------------------------------------------------------------------ */

void actor_run_call(struct actor *actor, uint32_t call, uint64_t elements, double copy_s)
{
    const struct ar_collective *collective = actor->run->collective;
    child_sleep_for(ar_collective_setup_s(collective, elements) + copy_s);
    actor->call = call;
    actor->reduce_s_per_byte =
        ar_cluster_reduce_cost(collective->cluster, (double)(elements * collective->element_bytes));
    actor_walk(actor, call, ar_collective_part(collective, elements, actor->lane).count);
    actor_land_all(actor);
    child_sleep_for(rings_left_out_s(actor->run, call));
    actor_mark(actor, call, AR_MARK_DONE);
    if (actor->barrier != NULL) {
        sg_barrier_wait(actor->barrier);
    }
}

static void create_actors(struct collective_run *run)
{
    uint32_t channels = run->collective->channels;
    uint32_t ranks = ar_collective_ranks(run->collective);
    size_t actors_count = (size_t)ar_collective_lanes(run->collective) * run->positions;
    /* Room for the messages that a rank may have in flight: over one connection, or, if there are
     * trees, over all that it has at a time. */
    bool has_trees = false;
    for (uint32_t i = 0; i < run->phases_count; i++) {
        has_trees = has_trees || run->phases[i].kind == AR_PHASE_TREE;
    }
    run->flights_capacity = run->collective->window * (has_trees ? AR_PERIOD_MAX : 1);
    run->actors = child_alloc(actors_count, sizeof(struct actor), "its ranks");
    run->flights = child_alloc(actors_count * run->flights_capacity, sizeof(struct flight),
                               "its messages in flight");
    sums_create(run, actors_count);
    sg_bar_t *barriers = channels > 1 ? child_alloc(ranks, sizeof(sg_bar_t), "its barriers") : NULL;
    for (uint32_t rank = 0; barriers != NULL && rank < ranks; rank++) {
        barriers[rank] = sg_barrier_init(channels);
    }
    for (size_t i = 0; i < actors_count; i++) {
        uint32_t lane = (uint32_t)(i / run->positions), position = (uint32_t)(i % run->positions);
        uint32_t rank = ar_order_rank(&run->order, lane, position);
        run->actors[i] =
            (struct actor){.run = run,
                           .lane = lane,
                           .position = position,
                           .rank = rank,
                           .flights = {.capacity = run->flights_capacity,
                                       .ring = run->flights + i * run->flights_capacity},
                           .barrier = barriers != NULL ? barriers[rank] : NULL};
    }
    free(barriers);
}

void collective_run_create(struct collective_run *run)
{
    const struct ar_collective *collective = run->collective;
    const struct ar_cluster_facts *facts = ar_cluster_facts(collective->cluster);
    run->order = ar_collective_order(collective);
    run->positions = ar_shape_ranks(&collective->shape);
    run->cost = &facts->message;
    run->phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, run->phases);
    if (run->cost->gap_s > 0) {
        struct ar_error err;
        if (ar_flows_create(collective, &run->flows, &err) != AR_OK) {
            fprintf(stderr, "%s\n", err.text); /* which ends the child */
            _exit(1);
        }
    }
    create_actors(run);
    if (run->trial != NULL && !run->trial->simulates_all) {
        rings_create(run);
    }
}
