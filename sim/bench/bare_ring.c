/* The yardstick: a ring all-reduce as anyone would write it with SimGrid's C interface.
 *
 * N actors in a ring, 2(N-1) steps; in each step every actor sends one part to its right, receives
 * one from its left, and waits for both. Nothing of this project is linked. The options and the
 * platform are the `simgrid` engine's, so that both simulate the same thing; the platform is a file
 * that `allreckon export` writes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include "usage.h"

enum { NAME_SIZE = 32, ELEMENT_BYTES = 2 };

struct rank {
    uint64_t index;
    uint64_t ranks;
    uint64_t elements;
};

static sg_mailbox_t mailbox_of(uint64_t number)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%" PRIu64, number);
    return sg_mailbox_by_name(name);
}

static void run_rank(int argc, char **argv)
{
    static int payload; /* SimGrid wants an address; nothing is read through it */
    const struct rank *rank = sg_actor_self_get_data();
    uint64_t ranks = rank->ranks;
    sg_mailbox_t right = mailbox_of((rank->index + 1) % ranks);
    sg_mailbox_t mine = mailbox_of(rank->index);
    (void)argc;
    (void)argv;
    for (uint64_t step = 0; step < 2 * (ranks - 1); step++) {
        uint64_t part = (rank->index + 2 * ranks - step) % ranks;
        void *received;
        /* The parts tile the buffer: part i is elements i n / N up to (i + 1) n / N. */
        uint64_t begin = part * rank->elements / ranks, end = (part + 1) * rank->elements / ranks;
        sg_comm_t send =
            sg_mailbox_put_async(right, &payload, (long)((end - begin) * ELEMENT_BYTES));
        sg_comm_t receive = sg_mailbox_get_async(mine, &received);
        sg_comm_wait(send); /* first: in SimGrid 3.32 a tenth faster than the receive first */
        sg_comm_wait(receive);
    }
}

static void simulate_ring(const char *platform_path, struct rank *all, struct rank each)
{
    char *arguments[] = {
        "bare_ring",
        "--cfg=network/model:CM02",
        "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0",
        "--cfg=network/optim:Lazy",
        "--cfg=surf/precision:1e-12",
        "--cfg=contexts/stack-size:128",
        "--log=root.thresh:critical",
        NULL,
    };
    int arguments_count = 8;
    simgrid_init(&arguments_count, arguments);
    simgrid_load_platform(platform_path);
    for (uint64_t i = 0; i < each.ranks; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "gpu-%" PRIu64, i);
        all[i] = each;
        all[i].index = i;
        sg_actor_t actor = sg_actor_init("rank", sg_host_by_name(name));
        sg_actor_set_data(actor, &all[i]);
        sg_actor_start_(actor, run_rank, 0, NULL);
    }
    simgrid_run();
}

/* Prints simulated_s messages_count cpu_s memory_bytes. */
int main(int argc, char **argv)
{
    struct rank each = {.ranks = argc == 4 ? strtoull(argv[2], NULL, 10) : 0,
                        .elements = argc == 4 ? strtoull(argv[3], NULL, 10) : 0};
    struct rank *all = each.ranks < 2 ? NULL : calloc(each.ranks, sizeof *all);
    struct rusage usage;
    if (all == NULL) {
        fprintf(stderr, "usage: bare_ring PLATFORM.xml RANKS ELEMENTS; at least 2 ranks\n");
        return 64;
    }
    simulate_ring(argv[1], all, each);
    getrusage(RUSAGE_SELF, &usage);
    printf("%.17g %" PRIu64 " ", simgrid_get_clock(), 2 * (each.ranks - 1) * each.ranks);
    write_usage(stdout, &usage);
    free(all);
    return 0;
}
