/* Actors of one's own on a cluster. */

#include "ar_actors.h"
#include "test_outcome.h"
#include "test_trials.h"

enum { PINGS = 3 };

struct ping {
    uint64_t bytes;
    double sent_s[PINGS], arrived_s[PINGS];
};

static void ping(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    struct ping *own = data;
    for (int i = 0; i < PINGS; i++) {
        if (actor == 0) {
            calls->sleep_for(i * 1e-3 - calls->now_s());
            calls->send_and_wait(1, 1, own->bytes, &own->arrived_s[i]);
            own->sent_s[i] = calls->now_s();
        } else {
            double *arrived_s = calls->receive(1);
            *arrived_s = calls->now_s();
        }
    }
}

static enum ar_status run(struct ar_actors *actors, uint32_t from, uint32_t to,
                          struct ar_error *err)
{
    uint32_t gpus[] = {from, to};
    actors->cluster = support_cluster("abci-v100", NULL);
    actors->count = 2;
    actors->gpus = gpus;
    actors->tags_count = 2;
    enum ar_status status = ar_actors_run(actors, err);
    actors->gpus = NULL;
    return status;
}

Test(actors, a_message_takes_its_bytes_over_the_narrowest_link_and_the_latency_of_its_path)
{
    for (uint32_t to = 1; to <= 5; to += 4) { /* beside it, and on the next node */
        struct ping own = {.bytes = 1000000};
        struct ar_actors actors = {
            .run = ping, .data = &own, .results = &own, .results_size = sizeof own};
        struct ar_path path;
        TEST_OK(run(&actors, 0, to, &why));
        ar_cluster_path(actors.cluster, 0, to, &path);
        for (int i = 0; i < PINGS; i++) {
            double expected_s = i * 1e-3 + 1e6 / path.bandwidth_Bps + path.latency_s;
            SUPPORT_NEAR(own.arrived_s[i], expected_s, 1e-9);
            SUPPORT_NEAR(own.sent_s[i], expected_s, 1e-9);
        }
        cr_expect_eq(actors.messages_count, PINGS);
        cr_expect_eq(actors.end_s, own.arrived_s[PINGS - 1]);
    }
}

/* Two messages to one actor of the other GPU, at once; both are there before it asks. */
static void push(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    double *arrived_s = data;
    if (actor == 0) {
        calls->send(1, 0, 1000000, NULL);
        calls->send(1, 1, 1000000, NULL);
        return;
    }
    for (uint32_t tag = 0; tag < 2; tag++) {
        calls->sleep_for(tag - calls->now_s());
        calls->receive(tag);
        arrived_s[tag] = calls->now_s();
    }
}

Test(actors, messages_at_once_share_their_links_and_need_nobody_who_waits_for_them)
{
    double arrived_s[2];
    struct ar_path path;
    struct ar_actors actors = {
        .run = push, .data = arrived_s, .results = arrived_s, .results_size = sizeof arrived_s};
    TEST_OK(run(&actors, 0, 5, &why));
    ar_cluster_path(actors.cluster, 0, 5, &path);
    SUPPORT_NEAR(arrived_s[0], 2e6 / path.bandwidth_Bps + path.latency_s, 1e-9);
    cr_expect_eq(arrived_s[1], 1);
    TEST_OK(run(&actors, 3, 3, &why));
    cr_expect_lt(arrived_s[0], 1e-6, "to the same GPU");
}

static void wait_for_nobody(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    (void)data;
    calls->receive(actor);
}

Test(actors, that_wait_for_ever_are_one_error_line)
{
    struct ar_actors actors = {.run = wait_for_nobody};
    TEST_FAILS(AR_INTERNAL, "Deadlock", run(&actors, 0, 1, &why));
}
