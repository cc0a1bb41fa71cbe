/* A transport that sends from the buffer, as late as it may: what is received meanwhile must not
 * change the message. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "host_transport.h"

enum { RANKS = 3, ELEMENTS = 10, BYTES = 4 * ELEMENTS };

/* A host transport of which one message at a time waits until the rank can do nothing else. */
struct lazy {
    struct transport transport;
    struct transport *host;
    const unsigned char *data; /* of the message; NULL: none */
    size_t bytes;
    uint32_t port;
};

static struct lazy *lazy_of(struct transport *transport)
{
    return (struct lazy *)(void *)transport;
}

static unsigned char *send_slot(struct transport *transport, uint32_t port)
{
    struct lazy *lazy = lazy_of(transport);
    return lazy->data == NULL ? lazy->host->calls->send_slot(lazy->host, port) : NULL;
}

static void send_from(struct transport *transport, uint32_t port, const unsigned char *data,
                      size_t bytes)
{
    struct lazy *lazy = lazy_of(transport);
    lazy->data = data;
    lazy->bytes = bytes;
    lazy->port = port;
}

static bool is_free(struct transport *transport, const unsigned char *memory, size_t bytes)
{
    const struct lazy *lazy = lazy_of(transport);
    return lazy->data == NULL || lazy->data >= memory + bytes || memory >= lazy->data + lazy->bytes;
}

static const unsigned char *receive_slot(struct transport *transport, uint32_t port)
{
    struct transport *host = lazy_of(transport)->host;
    return host->calls->receive_slot(host, port);
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
    unsigned char *slot =
        lazy->data != NULL ? lazy->host->calls->send_slot(lazy->host, lazy->port) : NULL;
    if (slot != NULL) {
        memcpy(slot, lazy->data, lazy->bytes);
        lazy->host->calls->send(lazy->host, lazy->port, lazy->bytes);
        lazy->data = NULL;
    }
    return goes_on;
}

static const struct transport_calls lazy_calls = {
    .send_slot = send_slot,
    .send_from = send_from,
    .is_free = is_free,
    .receive_slot = receive_slot,
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
                            .send_span = all,
                            .receive_span = all};
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
    _Alignas(4) unsigned char buffers[RANKS][BYTES];
    struct ar_arena arena = {NULL};
    struct ports *ports;
    struct execution executions[RANKS];
    struct host_group *group;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        memset(buffers[rank], (int)rank + 1, BYTES);
    }
    cr_assert_eq(ports_create_all(&row, &arena, &ports, &err), AR_OK);
    cr_assert_eq(host_group_create(ports, RANKS, 2, BYTES, &arena, &group, &err), AR_OK);
    struct lazy lazy = {.transport = *host_group_transport(group, 0),
                        .host = host_group_transport(group, 0)};
    lazy.transport.calls = &lazy_calls;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executions[rank] = (struct execution){
            .measurement = &row,
            .config = &config,
            .ports = &ports[rank],
            .transport = rank == 0 ? &lazy.transport : host_group_transport(group, rank),
            .buffer = buffers[rank]};
    }
    pthread_t receiver;
    run_rank(&executions[2]);
    cr_assert_eq(pthread_create(&receiver, NULL, run_rank, &executions[1]), 0);
    run_rank(&executions[0]);
    pthread_join(receiver, NULL);
    cr_expect(buffers[1][0] == 1 && buffers[1][BYTES - 1] == 1, "%d", buffers[1][0]);
    cr_expect(buffers[0][0] == 3 && buffers[0][BYTES - 1] == 3, "%d", buffers[0][0]);
    ar_arena_end(&arena);
}
