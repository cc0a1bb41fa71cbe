/* Ranks as threads of this process: their transport, and the backend that starts them. */
#include "host.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ar_numbers.h"
#include "backend.h"
#include "runner.h"

enum {
    CACHE_LINE = 64,    /* bytes, of x86-64 */
    EAGER_BYTES = 4096, /* messages up to here are copied; chosen: a page */
    LOOKS = 500, /* at a bell before a rank sleeps; chosen: as long as to sleep and be woken */
    NAP_NS = 10000000, /* after which a sleeper looks whether the group has failed */
    RANKS_STANDARD = 4
};

struct mailbox {
    alignas(CACHE_LINE) _Atomic uint32_t sent;  /* by the sender */
    const unsigned char **messages;             /* [number % window] */
    alignas(CACHE_LINE) _Atomic uint32_t taken; /* by the receiver */
};

struct host_rank {
    struct transport transport;
    struct host_group *group;
    struct mailbox **boxes; /* [port] */
    const struct port *ports;
    pthread_mutex_t mutex;
    pthread_cond_t awake;
    alignas(CACHE_LINE) _Atomic uint32_t bell; /* rings so far */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t barriers; /* entered so far, modulo 2^32 */
};

struct host_group {
    struct host_rank *members;
    struct mailbox *boxes;
    uint32_t boxes_count;
    uint32_t ranks;
    uint32_t looks; /* before a rank sleeps */
    _Atomic bool has_failed;
    pthread_mutex_t mutex;                         /* of the error */
    alignas(CACHE_LINE) _Atomic uint32_t waiting;  /* ranks in the barrier */
    alignas(CACHE_LINE) _Atomic uint32_t barriers; /* opened so far, modulo 2^32 */
    struct ar_error error;
};

static struct host_rank *host_rank_of(struct transport *transport)
{
    return (struct host_rank *)(void *)transport; /* its first member */
}

/* A sleeper is counted before it looks at the bell, and the bell is rung before anyone looks for
 * sleepers: one of the two sees the other. */
static void ring_bell(struct host_rank *rank)
{
    atomic_fetch_add(&rank->bell, 1);
    if (atomic_load(&rank->sleepers) != 0) {
        pthread_mutex_lock(&rank->mutex);
        pthread_cond_signal(&rank->awake);
        pthread_mutex_unlock(&rank->mutex);
    }
}

static void ring_all(struct host_group *group)
{
    for (uint32_t rank = 0; rank < group->ranks; rank++) {
        ring_bell(&group->members[rank]);
    }
}

static void host_send(struct transport *transport, uint32_t port, const unsigned char *data,
                      size_t bytes)
{
    struct host_rank *rank = host_rank_of(transport);
    struct mailbox *box = rank->boxes[port];
    (void)bytes; /* both ends know it from the move */
    box->messages[transport->sent[port]++ % transport->window] = data;
    atomic_store_explicit(&box->sent, transport->sent[port], memory_order_release);
    ring_bell(&rank->group->members[rank->ports[port].peer]);
}

static uint32_t host_taken(struct transport *transport, uint32_t port)
{
    return atomic_load_explicit(&host_rank_of(transport)->boxes[port]->taken, memory_order_acquire);
}

static const unsigned char *host_receive(struct transport *transport, uint32_t port)
{
    const struct mailbox *box = host_rank_of(transport)->boxes[port];
    uint32_t number = atomic_load_explicit(&box->taken, memory_order_relaxed);
    uint32_t sent = atomic_load_explicit(&box->sent, memory_order_acquire);
    return sent != number ? box->messages[number % transport->window] : NULL;
}

static void host_release(struct transport *transport, uint32_t port)
{
    struct host_rank *rank = host_rank_of(transport);
    struct mailbox *box = rank->boxes[port];
    uint32_t number = atomic_load_explicit(&box->taken, memory_order_relaxed);
    atomic_store_explicit(&box->taken, number + 1, memory_order_release);
    ring_bell(&rank->group->members[rank->ports[port].peer]);
}

/* Leaves the core's units to its other hardware thread for a moment. */
static void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint32_t host_ticket(struct transport *transport)
{
    return atomic_load(&host_rank_of(transport)->bell);
}

static bool host_wait(struct transport *transport, uint32_t seen)
{
    struct host_rank *rank = host_rank_of(transport);
    for (uint32_t i = 0; i < rank->group->looks; i++) {
        if (atomic_load_explicit(&rank->bell, memory_order_acquire) != seen) {
            return !atomic_load(&rank->group->has_failed);
        }
        pause_core();
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int timed_out = 0;
    pthread_mutex_lock(&rank->mutex);
    atomic_fetch_add(&rank->sleepers, 1);
    while (atomic_load(&rank->bell) == seen && timed_out == 0) {
        timed_out = pthread_cond_timedwait(&rank->awake, &rank->mutex, &until);
    }
    atomic_fetch_sub(&rank->sleepers, 1);
    pthread_mutex_unlock(&rank->mutex);
    return !atomic_load(&rank->group->has_failed);
}

/* The last rank that enters wakes all. */
static enum ar_status host_barrier(struct transport *transport, double timeout_s,
                                   struct ar_error *err)
{
    struct host_rank *rank = host_rank_of(transport);
    struct host_group *group = rank->group;
    uint32_t entered = atomic_fetch_add(&rank->barriers, 1); /* as many as were opened */
    double until_s = ar_clock_s() + timeout_s;
    bool is_alive = !atomic_load(&group->has_failed);
    if (atomic_fetch_add(&group->waiting, 1) + 1 == group->ranks) {
        atomic_store(&group->waiting, 0);
        atomic_store(&group->barriers, entered + 1);
        ring_all(group);
    }
    for (uint32_t seen = host_ticket(transport);
         is_alive && atomic_load(&group->barriers) == entered; seen = host_ticket(transport)) {
        if (ar_clock_s() > until_s) {
            uint32_t missing = 0;
            while (missing < group->ranks && group->members[missing].barriers == rank->barriers) {
                missing++;
            }
            return ar_error_set(err, AR_INTERNAL,
                                "rank %" PRIu32 " waited %g s at a barrier for rank %" PRIu32
                                "; expected all %" PRIu32 " ranks",
                                rank->transport.rank, timeout_s, missing, group->ranks);
        }
        is_alive = host_wait(transport, seen);
    }
    AR_REFUSE(!is_alive, err, AR_INTERRUPTED, "another rank failed");
    return AR_OK;
}

static const struct transport_calls calls = {
    .send = host_send,
    .taken = host_taken,
    .receive = host_receive,
    .release = host_release,
    .ticket = host_ticket,
    .wait = host_wait,
    .barrier = host_barrier,
};

/* Gives every sending port a mailbox, and the same to the receiving port at its other end. */
static void connect_ports(struct host_group *group, const struct ports *ports, uint32_t rank,
                          struct ar_arena *arena)
{
    uint32_t window = group->members[rank].transport.window;
    for (uint32_t i = 0; i < ports[rank].count; i++) {
        struct port port = ports[rank].ports[i];
        if (port.sends) {
            struct mailbox *box = &group->boxes[group->boxes_count++];
            box->messages = ar_arena_alloc(arena, window, sizeof *box->messages);
            group->members[rank].boxes[i] = box;
            struct port other = {.channel = port.channel, .peer = rank, .sends = false};
            group->members[port.peer].boxes[ports_find(&ports[port.peer], other)] = box;
        }
    }
}

/* Zeros that begin at a cache line. */
static void *allocate_lines(struct ar_arena *arena, size_t count, size_t size)
{
    size_t bytes = (count * size / CACHE_LINE + 1) * CACHE_LINE;
    return memset(ar_arena_own(arena, aligned_alloc(CACHE_LINE, bytes), free), 0, bytes);
}

static void destroy_waiting(void *destroyed)
{
    struct host_group *group = destroyed;
    for (uint32_t i = 0; i < group->ranks; i++) {
        pthread_cond_destroy(&group->members[i].awake);
        pthread_mutex_destroy(&group->members[i].mutex);
    }
    pthread_mutex_destroy(&group->mutex);
}

struct host_group *host_group_create(const struct ports *ports, uint32_t ranks, uint32_t window,
                                     size_t slot_bytes, struct ar_arena *arena)
{
    struct host_group *group = allocate_lines(arena, 1, sizeof *group);
    uint32_t ports_count = 0;
    cpu_set_t cores;
    pthread_condattr_t monotonic;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        ports_count += ports[rank].count;
    }
    group->members = allocate_lines(arena, ranks, sizeof *group->members);
    group->boxes = allocate_lines(arena, ports_count, sizeof *group->boxes);
    group->ranks = ranks;
    bool are_known = sched_getaffinity(0, sizeof cores, &cores) == 0;
    group->looks = (are_known ? (uint32_t)CPU_COUNT(&cores) : 1) >= ranks ? LOOKS : 0;
    pthread_mutex_init(&group->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct host_rank *member = &group->members[rank];
        size_t count = ports[rank].count + 1;
        member->transport =
            (struct transport){.calls = &calls,
                               .rank = rank,
                               .ranks = ranks,
                               .window = window,
                               .slot_bytes = slot_bytes,
                               .eager_bytes = EAGER_BYTES,
                               .sent = ar_arena_alloc(arena, count, sizeof(uint32_t))};
        member->group = group;
        pthread_cond_init(&member->awake, &monotonic);
        pthread_mutex_init(&member->mutex, NULL);
        member->boxes = ar_arena_alloc(arena, count, sizeof *member->boxes);
        member->ports = ports[rank].ports;
    }
    pthread_condattr_destroy(&monotonic);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        connect_ports(group, ports, rank, arena);
    }
    return ar_arena_own(arena, group, destroy_waiting);
}

struct transport *host_group_transport(struct host_group *group, uint32_t rank)
{
    return &group->members[rank].transport;
}

/* A rank gives up: all others are woken and fail too. The first error is kept, except
 * AR_INTERRUPTED, which means that others failed. */
static void host_group_fail(struct host_group *group, const struct ar_error *err)
{
    pthread_mutex_lock(&group->mutex);
    if (group->error.status == AR_OK && err->status != AR_INTERRUPTED) {
        group->error = *err;
    }
    atomic_store(&group->has_failed, true);
    pthread_mutex_unlock(&group->mutex);
    ring_all(group);
}

/* --- the backend -------------------------------------------------------------------------- */

/* The thread of a rank, with its memory and results. */
struct member {
    struct host_group *group;
    struct execution execution;
    const struct payload *payload;
    struct ar_arena arena;
    struct measurement own;
    pthread_t thread;
};

static enum ar_status host_start(const struct run_config *config, struct machine *machine,
                                 struct ar_error *err)
{
    (void)config;
    (void)err;
    *machine = (struct machine){
        .is_first = true, .ranks_max = HOST_RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    return AR_OK;
}

static void host_describe(FILE *file)
{
    fputs("# ranks: threads of one process, one core each where there are enough\n", file);
}

static const char *host_tier(uint32_t from, uint32_t to)
{
    (void)from;
    (void)to;
    return "shared-memory";
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    const struct execution *execution = &member->execution;
    const struct memory *memory = execution->config->memory;
    struct ar_error err;
    if ((memory->select != NULL && memory->select(execution->transport->rank, &err) != AR_OK) ||
        rank_run(execution, member->payload, &member->arena, &member->own, &err) != AR_OK) {
        host_group_fail(member->group, &err);
    }
    return NULL;
}

/* Gives every rank a core of its own if there are enough; otherwise the system moves them. */
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
    if (group->error.status != AR_OK) {
        *err = group->error;
    }
    return group->error.status;
}

enum ar_status host_run(const struct run_config *config, struct ar_arena *arena,
                        struct measurement *measurement, struct ar_error *err)
{
    uint32_t ranks = measurement->ranks;
    struct payload payload;
    AR_TRY(payload_create(measurement, arena, &payload, err));
    struct ports *ports = ports_create_all(measurement, arena);
    struct host_group *group = host_group_create(ports, ranks, config->window,
                                                 execution_slot_bytes(measurement, config), arena);
    struct member *members = ar_arena_alloc(arena, ranks, sizeof *members);
    double *times_s =
        ar_arena_alloc(arena, (size_t)ranks * measurement->repetitions, sizeof(double));
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
        const struct measurement *own = &members[rank].own;
        for (uint32_t i = 0; i < measurement->repetitions; i++) {
            /* A repetition takes as long as its slowest rank. */
            double slowest_s = measurement->times_s[i];
            measurement->times_s[i] = own->times_s[i] > slowest_s ? own->times_s[i] : slowest_s;
        }
        uint64_t wrong = measurement->mismatch.wrong + own->mismatch.wrong;
        if (measurement->mismatch.wrong == 0) {
            measurement->mismatch = own->mismatch;
        }
        measurement->mismatch.wrong = wrong;
    }
    measurement->nodes = 1;
    return AR_OK;
}

const struct backend backend_host = {
    .name = "host",
    .summary = "threads and shared memory, any number of ranks",
    .memories = {&memory_host},
    .start = host_start,
    .describe = host_describe,
    .tier = host_tier,
    .run = host_run,
};
