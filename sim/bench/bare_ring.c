/* The yardstick: a ring all-reduce as anyone would write it with SimGrid's C interface.
 *
 * N actors in a ring, 2(N-1) steps; in each step every actor sends one part to its right, receives
 * one from its left, and waits for both. Nothing of this project is linked or included. The options
 * and the platform are the `simgrid` engine's, so that both simulate the same thing; the platform
 * is a file that `allreckon export` writes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

enum { NAME_SIZE = 32, ELEMENT_BYTES = 2 };

struct rank {
    uint64_t index;
    uint64_t ranks;
    uint64_t elements;
};

static sg_mailbox_t mailbox_of(uint64_t rank)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%" PRIu64, rank);
    return sg_mailbox_by_name(name);
}

/* The parts tile the buffer: part i is elements i n / N up to (i + 1) n / N. */
static uint64_t part_bytes(const struct rank *rank, uint64_t part)
{
    uint64_t begin = part * rank->elements / rank->ranks;
    uint64_t end = (part + 1) * rank->elements / rank->ranks;
    return (end - begin) * ELEMENT_BYTES;
}

static void rank_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static int payload; /* SimGrid wants an address; nothing is read through it */
    const struct rank *rank = sg_actor_self_get_data();
    uint64_t ranks = rank->ranks;
    sg_mailbox_t right = mailbox_of((rank->index + 1) % ranks);
    sg_mailbox_t mine = mailbox_of(rank->index);
    for (uint64_t step = 0; step < 2 * (ranks - 1); step++) {
        void *received;
        uint64_t part = (rank->index + 2 * ranks - step) % ranks;
        sg_comm_t send = sg_mailbox_put_async(right, &payload, (long)part_bytes(rank, part));
        sg_comm_t receive = sg_mailbox_get_async(mine, &received);
        sg_comm_wait(send); /* first: in SimGrid 3.32 a tenth faster than the receive first */
        sg_comm_wait(receive);
    }
}

static void start_simgrid(void)
{
    char *arguments[] = {
        "bare_ring",
        "--cfg=network/model:CM02",
        "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0",
        "--cfg=surf/precision:1e-12",
        "--cfg=contexts/stack-size:128",
        "--log=root.thresh:critical",
        NULL,
    };
    int arguments_count = 7;
    simgrid_init(&arguments_count, arguments);
}

static void simulate(const char *platform_path, struct rank *all, uint64_t ranks, uint64_t elements)
{
    start_simgrid();
    simgrid_load_platform(platform_path);
    for (uint64_t i = 0; i < ranks; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "gpu-%" PRIu64, i);
        all[i] = (struct rank){.index = i, .ranks = ranks, .elements = elements};
        sg_actor_t actor = sg_actor_init("rank", sg_host_by_name(name));
        sg_actor_set_data(actor, &all[i]);
        sg_actor_start_(actor, rank_main, 0, NULL);
    }
    simgrid_run();
}

/* simulated_s messages_count cpu_s memory_bytes. */
static void print_figures(uint64_t messages)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    printf("%.17g %" PRIu64 " %.6f %" PRIu64 "\n", simgrid_get_clock(), messages, cpu_s,
           (uint64_t)usage.ru_maxrss * 1024);
}

int main(int argc, char **argv)
{
    uint64_t ranks = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t elements = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    struct rank *all = ranks < 2 ? NULL : calloc(ranks, sizeof *all);
    if (all == NULL) {
        fprintf(stderr, "usage: bare_ring PLATFORM.xml RANKS ELEMENTS; at least 2 ranks\n");
        return 64;
    }
    simulate(argv[1], all, ranks, elements);
    print_figures(2 * (ranks - 1) * ranks);
    free(all);
    return 0;
}
