/* Child side of actors: what they call. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>

#include "simgrid_child.h"
#include "simgrid_host.h"
#include "simgrid_wait.h"

/* What a mailbox carries. */
struct parcel {
    void *payload;
    double latency_s;
};

struct own_actor {
    struct actors_task *task;
    uint32_t number;
    sg_bar_t all_know; /* of all mailboxes who receives from them */
};

static const struct own_actor *self(void)
{
    child_progress++;
    return sg_actor_self_get_data();
}

enum { NAME_SIZE = 48 };

static const char *mailbox_name(uint32_t actor, uint32_t tag, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "actor-%" PRIu32 ".%" PRIu32, actor, tag);
    return name;
}

static void sleep_for(double time_s)
{
    child_progress++;
    if (time_s > 0) {
        sg_actor_sleep_for(time_s);
    }
}

static void sleep_until(double time_s)
{
    child_progress++;
    if (time_s > simgrid_get_clock()) {
        sg_actor_sleep_until(time_s);
    }
}

/* What SimGrid moves of a message, with its gap. It takes an empty one to a known receiver for done
 * before it has begun. */
static long weigh(uint32_t to, uint64_t bytes, double *latency_s)
{
    const struct own_actor *own = self();
    const struct ar_actors *actors = own->task->actors;
    const struct ar_message_cost *cost = &ar_cluster_facts(actors->cluster)->message;
    uint32_t source = actors->gpus[own->number], destination = actors->gpus[to];
    *latency_s = 0;
    own->task->messages_count++;
    if (source == destination) {
        return 1;
    }
    struct ar_path path;
    ar_cluster_path(actors->cluster, source, destination, &path);
    *latency_s = path.latency_s + ar_message_extra_s(cost, path.tier, (double)bytes);
    bytes += (uint64_t)llround(ar_message_gap_s(cost, path.tier) * path.bandwidth_Bps);
    return bytes > 0 ? (long)bytes : 1;
}

static sg_mailbox_t mailbox_of(uint32_t actor, uint32_t tag)
{
    char name[NAME_SIZE];
    return sg_mailbox_by_name(mailbox_name(actor, tag, name));
}

static struct parcel *pack(void *payload)
{
    struct parcel *parcel = child_alloc(1, sizeof *parcel, "its messages");
    parcel->payload = payload;
    return parcel;
}

static void send(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    struct parcel *parcel = pack(payload);
    long weight = weigh(to, bytes, &parcel->latency_s);
    sg_comm_detach(sg_mailbox_put_init(mailbox_of(to, tag), parcel, weight), NULL);
}

/* Returns when its last byte has left; then its latency. */
static double leave(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    struct parcel *parcel = pack(payload);
    long weight = weigh(to, bytes, &parcel->latency_s);
    double latency_s = parcel->latency_s; /* who receives it frees it */
    (void)simgrid_wait(sg_mailbox_put_async(mailbox_of(to, tag), parcel, weight));
    return latency_s;
}

static void send_and_leave(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    (void)leave(to, tag, bytes, payload);
}

static void send_and_wait(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    sleep_for(leave(to, tag, bytes, payload));
}

static void *receive(uint32_t tag)
{
    void *data = NULL;
    double left_s = simgrid_wait(sg_mailbox_get_async(mailbox_of(self()->number, tag), &data));
    struct parcel *parcel = data;
    void *payload = parcel->payload;
    sleep_until(left_s + parcel->latency_s);
    free(parcel);
    return payload;
}

static void *alloc(size_t count, size_t size)
{
    return child_alloc(count, size, "its actors");
}

static const struct ar_actor_calls calls = {.now_s = simgrid_get_clock,
                                            .sleep_for = sleep_for,
                                            .sleep_until = sleep_until,
                                            .send = send,
                                            .send_and_leave = send_and_leave,
                                            .send_and_wait = send_and_wait,
                                            .receive = receive,
                                            .alloc = alloc};

static void actor_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    const struct own_actor *own = self();
    const struct ar_actors *actors = own->task->actors;
    for (uint32_t tag = 0; tag < actors->tags_count; tag++) {
        char name[NAME_SIZE];
        sg_mailbox_set_receiver(mailbox_name(own->number, tag, name));
    }
    sg_barrier_wait(own->all_know);
    actors->run(&calls, own->number, actors->data);
    own->task->end_s = fmax(own->task->end_s, simgrid_get_clock());
    child_actors_left--;
}

bool simgrid_answer_actors(struct simgrid_task *base, FILE *answer)
{
    struct actors_task *task = (struct actors_task *)base;
    const struct ar_actors *actors = task->actors;
    simulation_open(&task->simulation);
    sg_bar_t all_know = sg_barrier_init(actors->count);
    struct own_actor *own = child_alloc(actors->count, sizeof *own, "its actors");
    for (uint32_t i = 0; i < actors->count; i++) {
        own[i] = (struct own_actor){.task = task, .number = i, .all_know = all_know};
        sg_actor_t actor = sg_actor_init("actor", child_host(actors->gpus[i]));
        sg_actor_set_data(actor, &own[i]);
        sg_actor_start_(actor, actor_main, 0, NULL);
        child_actors_left++;
        child_progress++;
    }
    simulation_run(&task->simulation);
    return simulation_answer(&task->simulation, answer);
}
