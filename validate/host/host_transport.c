#include "host_transport.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Bytes of a cache line of x86-64; of messages that are copied, chosen: a page. Looks at a bell
 * before a rank sleeps, each with a pause, chosen: together about as long as to sleep and be woken.
 * Nanoseconds after which a sleeper looks again: whether the group has failed. */
enum { CACHE_LINE = 64, EAGER_BYTES = 4096, LOOKS = 500, NAP_NS = 10000000 };

struct mailbox {
    alignas(CACHE_LINE) _Atomic uint32_t sent;  /* by the sender */
    const unsigned char **messages;             /* where each of a window is */
    alignas(CACHE_LINE) _Atomic uint32_t taken; /* by the receiver */
};

struct host_rank {
    struct transport transport;
    struct host_group *group;
    struct mailbox **boxes; /* of its ports */
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
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    alignas(CACHE_LINE) _Atomic uint32_t waiting;  /* ranks in the barrier */
    alignas(CACHE_LINE) _Atomic uint32_t barriers; /* opened so far, modulo 2^32 */
    struct ar_error error;
};

static struct host_rank *rank_of(struct transport *transport)
{
    return (struct host_rank *)(void *)transport; /* its first member */
}

static struct timespec time_after(int64_t after_ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + after_ns;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return until;
}

/* Sleepers are counted before the bell is looked at, the bell is rung before they are looked for:
 * one of the two sees the other. */
static void ring(struct host_rank *rank)
{
    atomic_fetch_add(&rank->bell, 1);
    if (atomic_load(&rank->sleepers) != 0) {
        pthread_mutex_lock(&rank->mutex);
        pthread_cond_signal(&rank->awake);
        pthread_mutex_unlock(&rank->mutex);
    }
}

static void send(struct transport *transport, uint32_t port, const unsigned char *data,
                 size_t bytes)
{
    struct host_rank *rank = rank_of(transport);
    struct mailbox *box = rank->boxes[port];
    (void)bytes; /* both ends know it from the move */
    box->messages[transport->sent[port]++ % transport->window] = data;
    atomic_store_explicit(&box->sent, transport->sent[port], memory_order_release);
    ring(&rank->group->members[rank->ports[port].peer]);
}

static uint32_t taken(struct transport *transport, uint32_t port)
{
    return atomic_load_explicit(&rank_of(transport)->boxes[port]->taken, memory_order_acquire);
}

static const unsigned char *receive(struct transport *transport, uint32_t port)
{
    const struct mailbox *box = rank_of(transport)->boxes[port];
    uint32_t number = atomic_load_explicit(&box->taken, memory_order_relaxed);
    uint32_t sent = atomic_load_explicit(&box->sent, memory_order_acquire);
    return sent != number ? box->messages[number % transport->window] : NULL;
}

static void release(struct transport *transport, uint32_t port)
{
    struct host_rank *rank = rank_of(transport);
    struct mailbox *box = rank->boxes[port];
    uint32_t number = atomic_load_explicit(&box->taken, memory_order_relaxed);
    atomic_store_explicit(&box->taken, number + 1, memory_order_release);
    ring(&rank->group->members[rank->ports[port].peer]);
}

/* Leaves the core's units to the other thread of it for a moment. */
static void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks at a counter that others write, a bounded number of times; true: it is another one. */
static bool look(const struct host_group *group, _Atomic uint32_t *counter, uint32_t seen)
{
    for (uint32_t i = 0; i < group->looks; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) != seen) {
            return true;
        }
        pause_core();
    }
    return false;
}

static uint32_t ticket(struct transport *transport)
{
    return atomic_load(&rank_of(transport)->bell);
}

static bool wait(struct transport *transport, uint32_t seen)
{
    struct host_rank *rank = rank_of(transport);
    if (!look(rank->group, &rank->bell, seen)) {
        struct timespec until = time_after(NAP_NS);
        int timed_out = 0;
        pthread_mutex_lock(&rank->mutex);
        atomic_fetch_add(&rank->sleepers, 1);
        while (atomic_load(&rank->bell) == seen && timed_out == 0) {
            timed_out = pthread_cond_timedwait(&rank->awake, &rank->mutex, &until);
        }
        atomic_fetch_sub(&rank->sleepers, 1);
        pthread_mutex_unlock(&rank->mutex);
    }
    return !atomic_load(&rank->group->has_failed);
}

/* Who is missing from the barrier that `rank` waits in. */
static enum ar_status report_missing(const struct host_rank *rank, double timeout_s,
                                     struct ar_error *err)
{
    const struct host_group *group = rank->group;
    uint32_t missing = 0;
    while (missing < group->ranks && group->members[missing].barriers == rank->barriers) {
        missing++;
    }
    return ar_error_set(err, AR_INTERNAL,
                        "rank %" PRIu32 " waited %g s at a barrier for rank %" PRIu32
                        "; expected all %" PRIu32 " ranks",
                        rank->transport.rank, timeout_s, missing, group->ranks);
}

/* The last one in opens it. Who sleeps looks at the number of barriers under the mutex. */
static void open_barrier(struct host_group *group, uint32_t entered)
{
    atomic_store(&group->waiting, 0);
    pthread_mutex_lock(&group->mutex);
    atomic_store(&group->barriers, entered + 1);
    pthread_cond_broadcast(&group->opened);
    pthread_mutex_unlock(&group->mutex);
}

static void sleep_at_barrier(struct host_group *group, uint32_t entered, double timeout_s)
{
    struct timespec until = time_after((int64_t)(timeout_s * 1e9));
    int timed_out = 0;
    pthread_mutex_lock(&group->mutex);
    while (atomic_load(&group->barriers) == entered && timed_out == 0 &&
           !atomic_load(&group->has_failed)) {
        timed_out = pthread_cond_timedwait(&group->opened, &group->mutex, &until);
    }
    pthread_mutex_unlock(&group->mutex);
}

static enum ar_status barrier(struct transport *transport, double timeout_s, struct ar_error *err)
{
    struct host_rank *rank = rank_of(transport);
    struct host_group *group = rank->group;
    uint32_t entered = atomic_fetch_add(&rank->barriers, 1); /* as many as were opened */
    if (atomic_fetch_add(&group->waiting, 1) + 1 == group->ranks) {
        open_barrier(group, entered);
    } else if (!look(group, &group->barriers, entered)) {
        sleep_at_barrier(group, entered, timeout_s);
    }
    if (atomic_load(&group->has_failed)) {
        return ar_error_set(err, AR_INTERRUPTED, "another rank failed");
    }
    return atomic_load(&group->barriers) != entered ? AR_OK : report_missing(rank, timeout_s, err);
}

static const struct transport_calls calls = {
    .send = send,
    .taken = taken,
    .receive = receive,
    .release = release,
    .ticket = ticket,
    .wait = wait,
    .barrier = barrier,
};

static void init_waiting(pthread_mutex_t *mutex, pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(mutex, NULL);
}

static enum ar_status init_rank(struct host_group *group, uint32_t rank, const struct ports *ports,
                                uint32_t window, size_t slot_bytes, struct ar_arena *arena,
                                struct ar_error *err)
{
    struct host_rank *member = &group->members[rank];
    uint32_t *sent = ar_arena_alloc(arena, ports->count + 1, sizeof *sent);
    member->transport = (struct transport){.calls = &calls,
                                           .rank = rank,
                                           .ranks = group->ranks,
                                           .window = window,
                                           .slot_bytes = slot_bytes,
                                           .eager_bytes = EAGER_BYTES,
                                           .sent = sent};
    member->group = group;
    init_waiting(&member->mutex, &member->awake);
    member->boxes = ar_arena_alloc(arena, ports->count + 1, sizeof(struct mailbox *));
    member->ports = ports->ports;
    return member->boxes != NULL && sent != NULL ? AR_OK : ar_error_no_memory(err, "a rank");
}

/* Gives every sending port a mailbox, and the receiving port at its other end the same. */
static enum ar_status connect(struct host_group *group, const struct ports *ports, uint32_t rank,
                              struct ar_arena *arena, struct ar_error *err)
{
    uint32_t window = group->members[rank].transport.window;
    for (uint32_t i = 0; i < ports[rank].count; i++) {
        struct port port = ports[rank].ports[i];
        if (port.sends) {
            struct mailbox *box = &group->boxes[group->boxes_count++];
            box->messages = ar_arena_alloc(arena, window, sizeof *box->messages);
            AR_NEED(box->messages, err, "a mailbox");
            group->members[rank].boxes[i] = box;
            group->members[port.peer].boxes[ports_other_end(ports, rank, i)] = box;
        }
    }
    return AR_OK;
}

/* Zeros that begin a cache line. */
static enum ar_status allocate_lines(struct ar_arena *arena, size_t count, size_t size,
                                     void **lines, struct ar_error *err)
{
    unsigned char *memory;
    AR_TRY(memory_host.allocate(arena, count * size, &memory, err));
    *lines = memset(memory, 0, count * size);
    return AR_OK;
}

/* That this program may use. */
static uint32_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static void destroy_waiting(void *destroyed)
{
    struct host_group *group = destroyed;
    for (uint32_t i = 0; i < group->ranks; i++) {
        pthread_cond_destroy(&group->members[i].awake);
        pthread_mutex_destroy(&group->members[i].mutex);
    }
    pthread_cond_destroy(&group->opened);
    pthread_mutex_destroy(&group->mutex);
}

enum ar_status host_group_create(const struct ports *ports, uint32_t ranks, uint32_t window,
                                 size_t slot_bytes, struct ar_arena *arena,
                                 struct host_group **group, struct ar_error *err)
{
    void *members;
    void *boxes;
    uint32_t ports_count = 0;
    void *group_lines;
    AR_TRY(allocate_lines(arena, 1, sizeof **group, &group_lines, err));
    struct host_group *made = group_lines;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        ports_count += ports[rank].count;
    }
    AR_TRY(allocate_lines(arena, ranks, sizeof *made->members, &members, err));
    AR_TRY(allocate_lines(arena, ports_count, sizeof *made->boxes, &boxes, err));
    *made = (struct host_group){
        .members = members, .boxes = boxes, .ranks = ranks, .looks = cores() >= ranks ? LOOKS : 0};
    init_waiting(&made->mutex, &made->opened);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(init_rank(made, rank, &ports[rank], window, slot_bytes, arena, err));
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(connect(made, ports, rank, arena, err));
    }
    *group = ar_arena_own(arena, made, destroy_waiting);
    return *group != NULL ? AR_OK : ar_error_no_memory(err, "a group of ranks");
}

struct transport *host_group_transport(struct host_group *group, uint32_t rank)
{
    return &group->members[rank].transport;
}

void host_group_fail(struct host_group *group, const struct ar_error *err)
{
    pthread_mutex_lock(&group->mutex);
    if (group->error.status == AR_OK && err->status != AR_INTERRUPTED) {
        group->error = *err;
    }
    atomic_store(&group->has_failed, true);
    pthread_cond_broadcast(&group->opened);
    pthread_mutex_unlock(&group->mutex);
    for (uint32_t rank = 0; rank < group->ranks; rank++) {
        ring(&group->members[rank]);
    }
}

enum ar_status host_group_status(const struct host_group *group, struct ar_error *err)
{
    if (group->error.status != AR_OK) {
        *err = group->error;
    }
    return group->error.status;
}
