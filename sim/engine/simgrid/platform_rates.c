/* Child side: which rates SimGrid gives flows that are under way together. */
#include <math.h>
#include <stdio.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include "simgrid_child.h"
#include "simgrid_host.h"

enum { ROUNDS_MAX = 64 };

/* Durations closer than this are the same. */
#define SAME_DURATION 1e-9

struct meter {
    const struct platform_rates_task *task;
    double *rates_Bps;   /* guessed, then measured */
    bool *is_known;      /* the rate is measured */
    long *sizes_bytes;   /* of the present round */
    double *durations_s; /* of the present round */
    struct sender *senders;
    sg_bar_t all_received; /* in the present round; SimGrid forgets actors that have ended */
    double start_s;        /* when all flows of the present round begin to move */
};

struct sender {
    struct meter *meter;
    size_t flow;
};

static sg_mailbox_t mailbox_of(size_t flow)
{
    char name[64];
    snprintf(name, sizeof name, "flow-%zu", flow);
    return sg_mailbox_by_name(name);
}

static void send_flow(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static int payload; /* SimGrid wants an address; nothing is read through it */
    struct sender *sender = sg_actor_self_get_data();
    const struct meter *meter = sender->meter;
    sg_actor_sleep_until(meter->start_s); /* all receivers are there */
    sg_mailbox_put(mailbox_of(sender->flow), &payload, meter->sizes_bytes[sender->flow]);
}

static void receive_flow(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct sender *sender = sg_actor_self_get_data();
    sg_mailbox_get(mailbox_of(sender->flow));
    child_progress++;
    sender->meter->durations_s[sender->flow] = simgrid_get_clock() - sender->meter->start_s;
    sg_barrier_wait(sender->meter->all_received);
}

static void start_actor(struct sender *sender, uint32_t rank, void (*code)(int, char **))
{
    sg_actor_t actor = sg_actor_init("flow", child_host(sender->meter->task->cluster, rank));
    sg_actor_set_data(actor, sender);
    sg_actor_start_(actor, code, 0, NULL);
}

/* Sends all flows once and waits for them. */
static void run_round(struct meter *meter)
{
    size_t count = meter->task->flows_count;
    meter->all_received = sg_barrier_init((unsigned)count + 1);
    meter->start_s = simgrid_get_clock() + 1;
    for (size_t i = 0; i < count; i++) {
        const struct ar_flow *flow = &meter->task->flows[i];
        start_actor(&meter->senders[i], flow->destination, receive_flow);
        start_actor(&meter->senders[i], flow->source, send_flow);
    }
    sg_barrier_wait(meter->all_received);
}

/* Sizes that take a second at the guessed rates, more where that would be few bytes; flows whose
 * rate is not known yet get less, by `part`. */
static void choose_sizes(struct meter *meter, double part)
{
    double min_Bps = HUGE_VAL;
    double max_Bps = 0;
    for (size_t i = 0; i < meter->task->flows_count; i++) {
        min_Bps = fmin(min_Bps, meter->rates_Bps[i]);
        max_Bps = fmax(max_Bps, meter->rates_Bps[i]);
    }
    double duration_s = fmin(fmax(1, 1e10 / min_Bps), 1e18 / max_Bps);
    for (size_t i = 0; i < meter->task->flows_count; i++) {
        double bytes = meter->rates_Bps[i] * duration_s * (meter->is_known[i] ? 1 : part);
        meter->sizes_bytes[i] = lround(fmax(1, bytes));
    }
}

/* Earliest end of the flows whose rate is known or not; infinite if there are none. */
static double earliest(const struct meter *meter, bool is_known)
{
    double first_s = HUGE_VAL;
    for (size_t i = 0; i < meter->task->flows_count; i++) {
        if (meter->is_known[i] == is_known) {
            first_s = fmin(first_s, meter->durations_s[i]);
        }
    }
    return first_s;
}

/* Takes the rates of the flows that ended first, if they did; returns whether they did. The rest
 * keeps what it had on average as guess. */
static bool take_rates(struct meter *meter)
{
    double first_s = earliest(meter, false);
    bool is_taken = first_s <= earliest(meter, true) * (1 + SAME_DURATION);
    for (size_t i = 0; i < meter->task->flows_count; i++) {
        if (!meter->is_known[i]) {
            meter->rates_Bps[i] = (double)meter->sizes_bytes[i] / meter->durations_s[i];
            meter->is_known[i] = is_taken && meter->durations_s[i] <= first_s * (1 + SAME_DURATION);
        }
    }
    return is_taken;
}

static void measure(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct meter *meter = sg_actor_self_get_data();
    double part = 1;
    for (int round = 0; round < ROUNDS_MAX && earliest(meter, false) < HUGE_VAL; round++) {
        choose_sizes(meter, part);
        run_round(meter);
        part = take_rates(meter) ? 0.5 : part / 4;
    }
}

static void prepare(struct meter *meter)
{
    const struct platform_rates_task *task = meter->task;
    static const char what[] = "its flows";
    meter->rates_Bps = child_alloc(task->flows_count, sizeof *meter->rates_Bps, what);
    meter->is_known = child_alloc(task->flows_count, sizeof *meter->is_known, what);
    meter->sizes_bytes = child_alloc(task->flows_count, sizeof *meter->sizes_bytes, what);
    meter->durations_s = child_alloc(task->flows_count, sizeof *meter->durations_s, what);
    meter->senders = child_alloc(task->flows_count, sizeof *meter->senders, what);
    for (size_t i = 0; i < task->flows_count; i++) {
        meter->rates_Bps[i] = task->guesses_Bps[i];
        meter->senders[i] = (struct sender){.meter = meter, .flow = i};
    }
}

bool platform_answer_rates(struct simgrid_task *task, FILE *answer)
{
    const struct platform_rates_task *own = (const struct platform_rates_task *)task;
    struct meter meter = {.task = own};
    platform_open(own->cluster, ar_cluster_platform_path(own->cluster));
    child_watch(task);
    prepare(&meter);
    sg_actor_t actor = sg_actor_init("measure", child_host(own->cluster, 0));
    sg_actor_set_data(actor, &meter);
    sg_actor_start_(actor, measure, 0, NULL);
    simgrid_run();
    return fwrite(meter.rates_Bps, sizeof *meter.rates_Bps, own->flows_count, answer) ==
           own->flows_count;
}
