/* Child side of actors: what they call. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>

#include "ar_actors.h"
#include "child.h"

/* A message in a mailbox. */
struct parcel {
    void *payload;
    double moved_bytes; /* by SimGrid */
    double latency_s;
};

struct own_actor {
    struct ar_actors *actors;
    uint32_t number;
    sg_bar_t all_know; /* of all mailboxes who receives from them */
};

enum { NAME_SIZE = 48 };

static const char *actor_mailbox_name(uint32_t actor, uint32_t tag, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "actor-%" PRIu32 ".%" PRIu32, actor, tag);
    return name;
}

static sg_mailbox_t mailbox_of_actor(uint32_t actor, uint32_t tag)
{
    char name[NAME_SIZE];
    return sg_mailbox_by_name(actor_mailbox_name(actor, tag, name));
}

static struct parcel *pack_parcel(uint32_t to, uint64_t bytes, void *payload)
{
    const struct own_actor *own = child_actor_data();
    struct ar_actors *actors = own->actors;
    struct parcel *parcel = child_alloc(1, sizeof *parcel, "its messages");
    const struct ar_message_cost *cost = &ar_cluster_facts(actors->cluster)->message;
    uint32_t source = actors->gpus[own->number], destination = actors->gpus[to];
    parcel->payload = payload;
    actors->messages_count++;
    parcel->moved_bytes = 1; /* an empty one is a word of control */
    if (source != destination) {
        struct ar_path path;
        ar_cluster_path(actors->cluster, source, destination, &path);
        parcel->latency_s = path.latency_s + ar_message_extra_s(cost, path.tier, (double)bytes);
        double gap_bytes = ar_message_gap_bytes(cost, path.tier, path.bandwidth_Bps);
        parcel->moved_bytes = fmax(1, (double)bytes + round(gap_bytes));
    }
    return parcel;
}

static void actor_send(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    struct parcel *parcel = pack_parcel(to, bytes, payload);
    simgrid_put_and_forget(mailbox_of_actor(to, tag), parcel, parcel->moved_bytes);
}

static void actor_send_and_wait(uint32_t to, uint32_t tag, uint64_t bytes, void *payload)
{
    struct parcel *parcel = pack_parcel(to, bytes, payload);
    double latency_s = parcel->latency_s; /* who receives it frees it */
    (void)simgrid_wait(simgrid_put(mailbox_of_actor(to, tag), parcel, parcel->moved_bytes));
    child_sleep_for(latency_s);
}

static void *actor_receive(uint32_t tag)
{
    const struct own_actor *own = child_actor_data();
    void *data = NULL;
    double left_s = simgrid_wait(sg_mailbox_get_async(mailbox_of_actor(own->number, tag), &data));
    struct parcel *parcel = data;
    void *payload = parcel->payload;
    child_sleep_until(left_s + parcel->latency_s);
    free(parcel);
    return payload;
}

static const struct ar_actor_calls calls = {.now_s = simgrid_get_clock,
                                            .sleep_for = child_sleep_for,
                                            .send = actor_send,
                                            .send_and_wait = actor_send_and_wait,
                                            .receive = actor_receive};

static void own_actor_run(void *data)
{
    const struct own_actor *own = data;
    struct ar_actors *actors = own->actors;
    for (uint32_t tag = 0; tag < actors->tags_count; tag++) {
        char name[NAME_SIZE];
        sg_mailbox_set_receiver(actor_mailbox_name(own->number, tag, name));
    }
    sg_barrier_wait(own->all_know);
    actors->run(&calls, own->number, actors->data);
    actors->end_s = fmax(actors->end_s, simgrid_get_clock());
}

static void actors_start(void *data)
{
    struct ar_actors *actors = data;
    struct own_actor *own = child_alloc(actors->count, sizeof *own, "its actors");
    sg_bar_t all_know = sg_barrier_init(actors->count);
    actors->end_s = 0;
    actors->messages_count = 0;
    for (uint32_t i = 0; i < actors->count; i++) {
        own[i] = (struct own_actor){.actors = actors, .number = i, .all_know = all_know};
        child_start_actor("actor", actors->gpus[i], own_actor_run, &own[i]);
    }
}

const struct child_kind child_actors = {.start = actors_start};
