/* Ranks as threads of this process. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "backend.h"
#include "host_transport.h"
#include "rank.h"

enum { RANKS_STANDARD = 4 };

/* One rank's thread, with what it made and found. */
struct member {
    struct host_group *group;
    struct execution execution;
    const struct payload *payload;
    struct ar_arena arena;
    struct measurement own;
    pthread_t thread;
};

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    (void)config;
    (void)err;
    *machine = (struct machine){
        .is_first = true, .ranks_max = HOST_RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    return AR_OK;
}

static void stop(int code)
{
    (void)code;
}

static void describe(FILE *file)
{
    fputs("# ranks: threads of one process, one core each where there are enough\n", file);
}

static const char *tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    (void)from;
    (void)to;
    return "shared-memory";
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    struct ar_error err;
    if (rank_run(&member->execution, member->payload, &member->arena, &member->own, &err) !=
        AR_OK) {
        host_group_fail(member->group, &err);
    }
    return NULL;
}

/* Gives every rank a core of its own, if there are as many; else the system moves them. */
static void bind_ranks(uint32_t ranks, const struct member *members)
{
    cpu_set_t usable;
    uint32_t rank = 0;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0 || (uint32_t)CPU_COUNT(&usable) < ranks) {
        return;
    }
    for (size_t core = 0; rank < ranks; core++) {
        if (CPU_ISSET(core, &usable)) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(core, &own);
            pthread_setaffinity_np(members[rank++].thread, sizeof own, &own);
        }
    }
}

/* Runs all threads to their end; until then they may read each other's memory. */
static enum ar_status run_threads(uint32_t ranks, struct member *members, struct ar_error *err)
{
    struct host_group *group = members[0].group;
    uint32_t started = 0;
    for (; started < ranks; started++) {
        struct member *member = &members[started];
        int failure = pthread_create(&member->thread, NULL, run_member, member);
        if (failure != 0) {
            struct ar_error cause;
            ar_error_set(&cause, AR_NO_MEMORY, "cannot start a thread for rank %u: %s", started,
                         strerror(failure));
            host_group_fail(group, &cause);
            break;
        }
    }
    bind_ranks(started, members);
    for (uint32_t rank = 0; rank < started; rank++) {
        pthread_join(members[rank].thread, NULL);
    }
    for (uint32_t rank = 0; rank < started; rank++) {
        ar_arena_end(&members[rank].arena);
    }
    return host_group_status(group, err);
}

/* A repetition takes as long as its slowest rank. */
static void collect(const struct measurement *own, struct measurement *measurement)
{
    for (uint32_t i = 0; i < measurement->repetitions; i++) {
        double slowest_s = measurement->times_s[i];
        measurement->times_s[i] = own->times_s[i] > slowest_s ? own->times_s[i] : slowest_s;
    }
    uint64_t wrong = measurement->mismatch.wrong + own->mismatch.wrong;
    if (measurement->mismatch.wrong == 0) {
        measurement->mismatch = own->mismatch;
    }
    measurement->mismatch.wrong = wrong;
}

static enum ar_status run(const struct run_config *config, struct ar_arena *arena,
                          struct measurement *measurement, struct ar_error *err)
{
    uint32_t ranks = measurement->ranks;
    struct payload payload;
    struct ports *ports;
    struct host_group *group;
    AR_TRY(payload_create(measurement, arena, &payload, err));
    AR_TRY(ports_create_all(measurement, arena, &ports, err));
    AR_TRY(host_group_create(ports, ranks, config->window,
                             execution_slot_bytes(measurement, config), arena, &group, err));
    struct member *members = ar_arena_alloc(arena, ranks, sizeof *members);
    double *times_s =
        ar_arena_alloc(arena, (size_t)ranks * measurement->repetitions, sizeof(double));
    AR_NEED(members && times_s, err, "ranks");
    for (uint32_t rank = 0; rank < ranks; rank++) {
        members[rank] =
            (struct member){.group = group,
                            .execution = {.measurement = measurement,
                                          .config = config,
                                          .ports = &ports[rank],
                                          .transport = host_group_transport(group, rank)},
                            .payload = &payload,
                            .own = *measurement};
        members[rank].own.times_s = times_s + (size_t)rank * measurement->repetitions;
    }
    AR_TRY(run_threads(ranks, members, err));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        collect(&members[rank].own, measurement);
    }
    measurement->nodes = 1;
    return AR_OK;
}

const struct backend backend_host = {
    .name = "host",
    .summary = "threads and shared memory, any number of ranks",
    .memories = {&memory_host},
    .start = start,
    .stop = stop,
    .describe = describe,
    .tier = tier,
    .run = run,
};
