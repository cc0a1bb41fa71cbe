/* What an actor does step by step. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include "simgrid_actor.h"

enum { NAME_SIZE = 64 };

static const char *mailbox_name(const struct actor *actor, uint32_t from, char kind, uint32_t to,
                                char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%" PRIu32 ".%" PRIu32 ":%" PRIu32 "%c%" PRIu32,
             actor->simulation->number, actor->lane, from, kind, to);
    return name;
}

static sg_mailbox_t mailbox_between(const struct actor *actor, uint32_t from, uint32_t to)
{
    char name[NAME_SIZE];
    return sg_mailbox_by_name(mailbox_name(actor, from, '>', to, name));
}

/* Of an exchange: it has no receiver yet, so that a message starts when both have come. */
static sg_mailbox_t meeting_between(const struct actor *actor, uint32_t from, uint32_t to)
{
    char name[NAME_SIZE];
    return sg_mailbox_by_name(mailbox_name(actor, from, '=', to, name));
}

static void find_path(const struct actor *actor, uint32_t from, uint32_t to, struct ar_path *path)
{
    const struct simulation *simulation = actor->simulation;
    ar_cluster_path(simulation->collective->cluster, actor_at(simulation, actor->lane, from)->rank,
                    actor_at(simulation, actor->lane, to)->rank, path);
}

static uint64_t bytes_of(const struct actor *actor, struct ar_slice span)
{
    return span.count * actor->simulation->collective->element_bytes;
}

/* Of a message after it has left; SimGrid counts none. */
static double latency_between(const struct actor *actor, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct ar_path path;
    find_path(actor, from, to, &path);
    return path.latency_s + ar_message_extra_s(actor->simulation->cost, path.tier, (double)bytes);
}

static struct link_end *connect(struct actor *actor, struct link_ends *ends, uint32_t from,
                                uint32_t to)
{
    bool is_new;
    uint32_t peer = from == actor->position ? to : from;
    struct link_end *end = link_ends_find(ends, peer, &is_new);
    if (is_new) {
        struct ar_path path;
        find_path(actor, from, to, &path);
        *end = (struct link_end){.peer = peer,
                                 .mailbox = mailbox_between(actor, from, to),
                                 .latency_s = path.latency_s,
                                 .bandwidth_Bps = path.bandwidth_Bps,
                                 .tier = path.tier};
    }
    return end;
}

static double latency_over(const struct actor *actor, const struct link_end *end, uint64_t bytes)
{
    return end->latency_s + ar_message_extra_s(actor->simulation->cost, end->tier, (double)bytes);
}

/* Makes messages to this actor in walks and trees start when they are sent, not when it asks for
 * them: SimGrid does so for a mailbox whose receiver is known. (Posting receives ahead does the
 * same, but the longer life of the communications costs a third of the speed at 1024 ranks.) */
void actor_declare_receiver(const struct actor *actor)
{
    const struct ar_collective *collective = actor->simulation->collective;
    const struct ar_phase *phases = actor->simulation->phases;
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < actor->simulation->phases_count; i++) {
        bool is_known = phases[i].kind == AR_PHASE_WALK || phases[i].kind == AR_PHASE_TREE;
        for (uint32_t place = 0; is_known && place < ar_phase_period(&phases[i]); place++) {
            struct ar_move move;
            uint32_t step =
                ar_algorithm_find_step(collective->algorithm, &collective->shape, &phases[i],
                                       first_step, actor->position, place, false, &move);
            if (step != AR_NEVER) {
                char name[NAME_SIZE];
                sg_mailbox_set_receiver(
                    mailbox_name(actor, move.receive_from, '>', actor->position, name));
            }
        }
        first_step += phases[i].steps;
    }
}

/* Waits until a message may be sent: walks count all messages of the rank, trees those of the
 * connection. */
static void wait_for_slot(struct actor *actor, const struct link_end *out)
{
    uint32_t window = actor->simulation->collective->window;
    if (!actor->is_in_tree) {
        flights_await(&actor->flights, window);
        return;
    }
    flights_await_peer(&actor->flights, out->peer, window);
    flights_await(&actor->flights,
                  actor->flights.capacity); /* those of a phase before count, too */
}

static bool oldest_has_arrived(const struct actor *actor)
{
    const struct flight *flight = flights_oldest(&actor->flights);
    return actor_at(actor->simulation, actor->lane, flight->peer)->steps_done > flight->step;
}

/* With what the narrowest link of a path carries in the gap of a message. SimGrid takes an empty
 * message to a known receiver for done before it has begun. */
static sg_comm_t put(const struct actor *actor, sg_mailbox_t mailbox, const struct link_end *end,
                     uint64_t own_bytes)
{
    double gap_s = ar_message_gap_s(actor->simulation->cost, end->tier);
    uint64_t bytes = own_bytes + (uint64_t)llround(gap_s * end->bandwidth_Bps);
    static int payload; /* SimGrid wants an address; nothing is read through it */
    return sg_mailbox_put_async(mailbox, &payload, bytes == 0 ? 1 : (long)bytes);
}

static void send_message(struct actor *actor, const struct ar_move *move)
{
    struct link_end *out = connect(actor, &actor->out, actor->position, move->send_to);
    uint64_t bytes = bytes_of(actor, move->send_span);
    wait_for_slot(actor, out);
    flights_await_left(&actor->flights, out->peer); /* one message at a time */
    struct flight flight = {.comm = put(actor, out->mailbox, out, bytes),
                            .peer = move->send_to,
                            .step = actor->steps_done,
                            .latency_s = latency_over(actor, out, bytes)};
    flights_add(&actor->flights, flight);
    /* Here, since during the send the peer has counted what arrived at this instant: a message is
     * then released one step earlier than before the send, and caches hold the rest for longer. */
    while (actor->flights.count > 1 && oldest_has_arrived(actor)) {
        flights_land(&actor->flights);
    }
}

static void reduce(const struct actor *actor, const struct ar_move *move)
{
    bool adds = move->receive == AR_RECEIVE_REDUCE;
    double s_per_byte = adds ? actor->reduce_s_per_byte : actor->move_s_per_byte;
    double reduce_s = (double)bytes_of(actor, move->receive_span) * s_per_byte;
    child_progress++;
    if (reduce_s > 0) {
        sg_actor_sleep_for(reduce_s);
    }
}

static void receive_message(struct actor *actor, const struct ar_move *move)
{
    static void *payload;
    const struct link_end *in = connect(actor, &actor->in, move->receive_from, actor->position);
    flight_await(sg_mailbox_get_async(in->mailbox, &payload),
                 latency_over(actor, in, bytes_of(actor, move->receive_span)));
    reduce(actor, move);
}

static struct ar_move move_at(const struct actor *actor, uint64_t elements, uint32_t step)
{
    const struct ar_collective *collective = actor->simulation->collective;
    return ar_algorithm_move(collective->algorithm, &collective->shape, elements, actor->position,
                             step);
}

static sg_comm_t get_to_meet(const struct actor *actor, const struct ar_move *move)
{
    static void *payload;
    return sg_mailbox_get_async(meeting_between(actor, move->receive_from, actor->position),
                                &payload);
}

static sg_comm_t put_to_meet(const struct actor *actor, const struct ar_move *move)
{
    struct ar_path path;
    find_path(actor, actor->position, move->send_to, &path);
    struct link_end end = {.tier = path.tier, .bandwidth_Bps = path.bandwidth_Bps};
    return put(actor, meeting_between(actor, actor->position, move->send_to), &end,
               bytes_of(actor, move->send_span));
}

static void await_received(const struct actor *actor, const struct ar_move *move, sg_comm_t comm)
{
    flight_await(comm, latency_between(actor, move->receive_from, actor->position,
                                       bytes_of(actor, move->receive_span)));
}

static void await_sent(const struct actor *actor, const struct ar_move *move, sg_comm_t comm)
{
    flight_await(comm, latency_between(actor, actor->position, move->send_to,
                                       bytes_of(actor, move->send_span)));
}

/* A step of an exchange: it ends when what it sends and what it receives have arrived. */
static void exchange(struct actor *actor, const struct ar_move *move)
{
    sg_comm_t sent = move->sends ? put_to_meet(actor, move) : NULL;
    if (move->receive != AR_RECEIVE_NONE) {
        await_received(actor, move, get_to_meet(actor, move));
    }
    if (sent != NULL) {
        await_sent(actor, move, sent);
    }
    if (move->receive != AR_RECEIVE_NONE) {
        reduce(actor, move);
    }
}

/* All steps of an exchange whose messages go at once. */
static void exchange_at_once(struct actor *actor, uint64_t elements, uint32_t first_step,
                             uint32_t steps)
{
    sg_comm_t *received = calloc(2 * (size_t)steps, sizeof(sg_comm_t));
    sg_comm_t *sent = received + steps;
    if (received == NULL) {
        child_no_memory("its messages in flight");
    }
    for (uint32_t i = 0; i < steps; i++) {
        struct ar_move move = move_at(actor, elements, first_step + i);
        received[i] = move.receive != AR_RECEIVE_NONE ? get_to_meet(actor, &move) : NULL;
        sent[i] = move.sends ? put_to_meet(actor, &move) : NULL;
    }
    for (uint32_t i = 0; i < steps; i++) {
        if (received[i] != NULL) {
            struct ar_move move = move_at(actor, elements, first_step + i);
            await_received(actor, &move, received[i]);
            reduce(actor, &move);
        }
    }
    for (uint32_t i = 0; i < steps; i++) {
        if (sent[i] != NULL) {
            struct ar_move move = move_at(actor, elements, first_step + i);
            await_sent(actor, &move, sent[i]);
        }
    }
    free(received);
}

void actor_mark(const struct actor *actor, uint32_t job, uint32_t number)
{
    if (actor->observed >= 0) {
        ar_timeline_marks(actor->simulation->trial, job, (uint32_t)actor->observed,
                          actor->lane % actor->simulation->collective->channels)[number] =
            simgrid_get_clock();
    }
}

void actor_land_all(struct actor *actor)
{
    while (actor->flights.count > 0) {
        flights_land(&actor->flights);
    }
}

static void run_step(struct actor *actor, const struct ar_phase *phase, const struct ar_move *move)
{
    if (phase->kind == AR_PHASE_EXCHANGE) {
        exchange(actor, move);
        return;
    }
    if (move->sends) {
        send_message(actor, move);
    }
    if (move->receive != AR_RECEIVE_NONE) {
        receive_message(actor, move);
    }
}

static void run_phase(struct actor *actor, const struct ar_phase *phase, uint64_t elements,
                      uint32_t first_step)
{
    const struct ar_cluster *cluster = actor->simulation->collective->cluster;
    actor->is_in_tree = phase->kind == AR_PHASE_TREE;
    actor->move_s_per_byte = phase->moves * ar_cluster_facts(cluster)->copy_s_per_byte;
    link_ends_keep_last(&actor->out);
    link_ends_keep_last(&actor->in);
    if (phase->kind == AR_PHASE_EXCHANGE || phase->kind == AR_PHASE_SUMS) {
        actor_land_all(actor);
    }
    if (phase->kind == AR_PHASE_SUMS && phase->steps > 0) {
        sums_run(actor, phase, elements, first_step);
        actor->steps_done += phase->steps;
        return;
    }
    if (phase->is_at_once) {
        exchange_at_once(actor, elements, first_step, phase->steps);
        actor->steps_done += phase->steps;
        return;
    }
    for (uint32_t step = first_step; step < first_step + phase->steps; step++) {
        struct ar_move move = move_at(actor, elements, step);
        run_step(actor, phase, &move);
        actor->steps_done++;
    }
}

void actor_walk(struct actor *actor, uint32_t job, uint64_t elements)
{
    const struct simulation *simulation = actor->simulation;
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < simulation->phases_count; i++) {
        actor_mark(actor, job, AR_MARK_PHASES + i);
        run_phase(actor, &simulation->phases[i], elements, first_step);
        first_step += simulation->phases[i].steps;
    }
    actor_mark(actor, job, AR_MARK_PHASES + simulation->phases_count);
}
