/* A transport that sends from the buffer, as late as it may: what is received meanwhile must not
 * change the message. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "host.h"

enum { RANKS = 3, ELEMENTS = 10, BYTES = 4 * ELEMENTS };

/* A host transport of which one message waits until the rank can do nothing else. */
struct lazy {
    struct transport transport;
    struct transport *host;
    const unsigned char *data; /* of the message; NULL: none */
    size_t bytes;
    uint32_t port;
    uint32_t awaits; /* receiving port that has a message before this one is sent */
};

static struct lazy *lazy_of(struct transport *transport)
{
    return (struct lazy *)(void *)transport;
}

static void send(struct transport *transport, uint32_t port, const unsigned char *data,
                 size_t bytes)
{
    struct lazy *lazy = lazy_of(transport);
    cr_assert_null(lazy->data);
    while (lazy->host->calls->receive(lazy->host, lazy->awaits) == NULL) {
        sched_yield();
    }
    lazy->data = data;
    lazy->bytes = bytes;
    lazy->port = port;
    transport->sent[port]++;
}

static uint32_t taken(struct transport *transport, uint32_t port)
{
    struct transport *host = lazy_of(transport)->host;
    return host->calls->taken(host, port);
}

static const unsigned char *receive(struct transport *transport, uint32_t port)
{
    struct transport *host = lazy_of(transport)->host;
    return host->calls->receive(host, port);
}

static void release(struct transport *transport, uint32_t port)
{
    struct transport *host = lazy_of(transport)->host;
    host->calls->release(host, port);
}

static uint32_t ticket(struct transport *transport)
{
    struct transport *host = lazy_of(transport)->host;
    return host->calls->ticket(host);
}

static bool wait(struct transport *transport, uint32_t seen)
{
    struct lazy *lazy = lazy_of(transport);
    bool goes_on = lazy->host->calls->wait(lazy->host, seen);
    if (lazy->data != NULL) {
        lazy->host->calls->send(lazy->host, lazy->port, lazy->data, lazy->bytes);
        lazy->data = NULL;
    }
    return goes_on;
}

static const struct transport_calls lazy_calls = {
    .send = send,
    .taken = taken,
    .receive = receive,
    .release = release,
    .ticket = ticket,
    .wait = wait,
};

/* Step 0: 0 sends all to 1. Step 1: 2 sends all to 0. */
static struct ar_move relay_move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                 uint32_t step)
{
    struct ar_span all = {.first = 0, .count = elements};
    uint32_t from = step == 0 ? 0 : 2;
    uint32_t to = step == 0 ? 1 : 0;
    (void)shape;
    return (struct ar_move){.sends = position == from,
                            .receive = position == to ? AR_RECEIVE_COPY : AR_RECEIVE_NONE,
                            .send_to = to,
                            .receive_from = from,
                            .send_span = ar_slice_all(all),
                            .receive_span = ar_slice_all(all)};
}

static uint32_t relay_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    (void)shape;
    phases[0] = (struct ar_phase){.name = "relay", .steps = 2, .parts = 1, .messages = 2};
    return 1;
}

static const struct ar_algorithm relay = {
    .name = "relay", .phases = relay_phases, .move = relay_move};

static const struct run_config config = {
    .window = 2, .slot_bytes = BYTES, .timeout_s = 10, .memory = &memory_host};

static const struct measurement row = {.name = "relay",
                                       .operation = &ar_operation_all_reduce,
                                       .algorithm = &relay,
                                       .shape = {.x = RANKS, .y = 1},
                                       .channels = 1,
                                       .ranks = RANKS,
                                       .ranks_per_node = 1,
                                       .type = &element_fp32,
                                       .elements = ELEMENTS};

static void *run_rank(void *argument)
{
    struct ar_error err;
    const struct execution *execution = argument;
    cr_expect_eq(execution_run(execution, &err), AR_OK, "%s", err.text);
    return NULL;
}

/* Rank r begins with bytes r + 1; the message of rank 2 is there before that of rank 0 is read. */
Test(lazy_send, a_message_is_what_the_buffer_held_when_it_was_sent, .timeout = 20)
{
    struct ar_error err;
    struct ar_arena arena = {NULL};
    struct execution executions[RANKS];
    struct ports *ports = ports_create_all(&row, &arena);
    struct host_group *group = host_group_create(ports, RANKS, 2, BYTES, &arena);
    uint32_t sent[2] = {0, 0};
    struct lazy lazy = {.transport = *host_group_transport(group, 0),
                        .host = host_group_transport(group, 0),
                        .awaits = ports_find(&ports[0], (struct port){.peer = 2})};
    lazy.transport.calls = &lazy_calls;
    lazy.transport.sent = sent;
    lazy.transport.eager_bytes = 0; /* else it is not read from the buffer */
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executions[rank] = (struct execution){
            .measurement = &row,
            .config = &config,
            .ports = &ports[rank],
            .transport = rank == 0 ? &lazy.transport : host_group_transport(group, rank)};
        cr_assert_eq(execution_create(&arena, &executions[rank], &err), AR_OK);
        memset(executions[rank].buffer, (int)rank + 1, BYTES);
    }
    pthread_t others[2];
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(pthread_create(&others[i], NULL, run_rank, &executions[i + 1]), 0);
    }
    run_rank(&executions[0]);
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
    for (size_t i = 0; i < 2; i++) {
        const unsigned char *buffer = executions[i].buffer;
        unsigned char expected = i == 0 ? 3 : 1;
        cr_expect(buffer[0] == expected && buffer[BYTES - 1] == expected, "%zu: %d", i, buffer[0]);
    }
    ar_arena_end(&arena);
}
