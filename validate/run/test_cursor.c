/* Steps of one rank on a channel, with algorithms made for it: what is sent is what was there
 * before the step, whatever is received meanwhile; slices of several runs; sends of a phase whose
 * steps are at once. */
#include <pthread.h>
#include <sched.h>

#include "host.h"
#include "test_measurement.h"
#include "test_outcome.h"

enum { ELEMENTS = 10 };

static struct ar_arena arena; /* of a test, which is a process */

TestSuite(cursor, .timeout = 20);

/* Two ranks swap elements 0 to 5 for 4 to 9. Rank 0 sends parts 4, 0 and 1 of five, which are two
 * runs, and adds parts 2 and 3. In step k three ranks send all to the one k + 1 further on. Step 0:
 * 0 sends all to 1, step 1: 2 sends all to 0. */
static enum { SWAP, WRAP, SPREAD, RELAY } way;

static struct ar_move test_move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    struct ar_span whole = {.first = 0, .count = elements};
    struct ar_slice slices[2] = {ar_slice_all(whole), ar_slice_all(whole)};
    uint32_t to = 1 - position, from = to;
    bool sends = true, receives = true;
    if (way == SWAP) {
        slices[0] = ar_slice_all((struct ar_span){.first = 0, .count = 6});
        slices[1] = ar_slice_all((struct ar_span){.first = 4, .count = 6});
    } else if (way == WRAP) {
        slices[0] = ar_slice_of_parts(whole, 5, 4, 3, 5);
        slices[1] = ar_slice_of_parts(whole, 5, 2, 2, 5);
    } else if (way == SPREAD) {
        to = (position + step + 1) % shape->x;
        from = (position + 2 - step) % shape->x;
    } else {
        from = step == 0 ? 0 : 2;
        to = step == 0 ? 1 : 0;
        sends = position == from;
        receives = position == to;
    }
    return (struct ar_move){.sends = sends,
                            .receive = !receives     ? AR_RECEIVE_NONE
                                       : way == WRAP ? AR_RECEIVE_REDUCE
                                                     : AR_RECEIVE_COPY,
                            .send_to = to,
                            .receive_from = from,
                            .send_span = slices[position % 2],
                            .receive_span = slices[1 - position % 2]};
}

static bool is_at_once;

static uint32_t test_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    phases[0] = (struct ar_phase){.kind = AR_PHASE_EXCHANGE,
                                  .steps = shape->x == 2 ? 1 : 2,
                                  .parts = 1,
                                  .is_at_once = is_at_once};
    return 1;
}

static const struct ar_algorithm algorithm = {
    .name = "test", .phases = test_phases, .move = test_move};

/* Ranks of a group; element i of rank r begins as 100 r + i. */
struct ranks {
    struct measurement row;
    struct run_config config;
    struct execution executions[3];
};

/* Slots hold `slot` elements. */
static void make_ranks(uint32_t count, uint32_t slot, struct ranks *ranks)
{
    ranks->row =
        test_measurement(&ar_operation_all_reduce, (struct ar_shape){.x = count, .y = 1}, ELEMENTS);
    ranks->row.algorithm = &algorithm;
    ranks->row.ranks_per_node = 1;
    ranks->config = (struct run_config){
        .window = 8, .slot_bytes = 4 * slot, .timeout_s = 0.2, .memory = &memory_host};
    struct ports *ports = ports_create_all(&ranks->row, &arena);
    struct host_group *group = host_group_create(ports, count, 8, 4 * slot, &arena);
    for (uint32_t rank = 0; rank < count; rank++) {
        struct execution *execution = &ranks->executions[rank];
        *execution = (struct execution){.measurement = &ranks->row,
                                        .config = &ranks->config,
                                        .ports = &ports[rank],
                                        .transport = host_group_transport(group, rank)};
        TEST_OK(execution_create(&arena, execution, &why));
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            element_fp32.store(execution->buffer + 4 * i, 100 * rank + i);
        }
    }
}

static void *run_rank(void *argument)
{
    const struct execution *execution = argument;
    TEST_OK(execution_run(execution, &why));
    return NULL;
}

static void run_ranks(const struct ranks *ranks)
{
    pthread_t threads[3];
    for (uint32_t rank = 0; rank < ranks->row.ranks; rank++) {
        void *execution = (void *)(uintptr_t)&ranks->executions[rank];
        cr_assert_eq(pthread_create(&threads[rank], NULL, run_rank, execution), 0);
    }
    for (uint32_t rank = 0; rank < ranks->row.ranks; rank++) {
        pthread_join(threads[rank], NULL);
    }
}

static void expect_elements(const struct ranks *ranks, const double expected[2][ELEMENTS])
{
    for (uint32_t i = 0; i < 2 * ELEMENTS; i++) {
        uint32_t rank = i / ELEMENTS, at = i % ELEMENTS;
        double found = element_fp32.load(ranks->executions[rank].buffer + 4 * at);
        cr_expect_eq(found, expected[rank][at], "rank %u, element %u: %g", rank, at, found);
    }
}

Test(cursor, what_is_sent_is_what_was_there_before_the_step_received)
{
    way = SWAP;
    static const double expected[2][ELEMENTS] = {{0, 1, 2, 3, 104, 105, 106, 107, 108, 109},
                                                 {0, 1, 2, 3, 4, 5, 106, 107, 108, 109}};
    for (int i = 0; i < 100; i++) {
        struct ranks ranks;
        make_ranks(2, 4, &ranks);
        run_ranks(&ranks);
        expect_elements(&ranks, expected);
    }
}

Test(cursor, a_message_of_several_runs_arrives_in_the_same_places)
{
    way = WRAP;
    static const double expected[2][ELEMENTS] = {
        {0, 1, 2, 3, 108, 110, 112, 114, 8, 9}, {100, 102, 104, 106, 104, 105, 106, 107, 116, 118}};
    struct ranks ranks;
    make_ranks(2, 4, &ranks);
    run_ranks(&ranks);
    expect_elements(&ranks, expected);
}

/* Rank 0 runs alone, so it waits in vain; until then it sends a message of three pieces, or two. */
Test(cursor, at_once_means_that_sends_do_not_wait_for_receives)
{
    way = SPREAD;
    for (uint32_t i = 0; i < 2; i++) {
        struct ranks ranks;
        is_at_once = i == 1;
        make_ranks(3, 4, &ranks);
        const struct transport *transport = ranks.executions[0].transport;
        const struct ports *ports = ranks.executions[0].ports;
        cr_expect_eq(execution_run(&ranks.executions[0], AR_IGNORED), AR_INTERNAL);
        cr_expect_eq(transport->sent[ports_find(ports, (struct port){.peer = 1, .sends = true})],
                     3);
        cr_expect_eq(transport->sent[ports_find(ports, (struct port){.peer = 2, .sends = true})],
                     3 * i);
    }
}

/* --- a transport that sends from the buffer as late as it may ----------------------------- */

/* The calls of rank 0 but for two. A message waits until the rank can do nothing else, and until
 * a message from rank 2 has arrived. */
static struct {
    struct transport_calls host, calls;
    const unsigned char *data; /* of the message; NULL: none */
    size_t bytes;
    uint32_t port, awaits;
} lazy;

static void send_later(struct transport *transport, uint32_t port, const unsigned char *data,
                       size_t bytes)
{
    cr_assert_null(lazy.data);
    while (lazy.host.receive(transport, lazy.awaits) == NULL) {
        sched_yield();
    }
    lazy.data = data;
    lazy.bytes = bytes;
    lazy.port = port;
    transport->sent[port]++;
}

static bool send_and_wait(struct transport *transport, uint32_t seen)
{
    bool goes_on = lazy.host.wait(transport, seen);
    if (lazy.data != NULL) {
        transport->sent[lazy.port]--; /* the host counts it, too */
        lazy.host.send(transport, lazy.port, lazy.data, lazy.bytes);
        lazy.data = NULL;
    }
    return goes_on;
}

Test(cursor, a_message_is_what_the_buffer_held_when_it_was_sent)
{
    way = RELAY;
    static const double expected[2][ELEMENTS] = {{200, 201, 202, 203, 204, 205, 206, 207, 208, 209},
                                                 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
    struct ranks ranks;
    make_ranks(3, ELEMENTS, &ranks);
    ranks.config.timeout_s = 10;
    struct transport *transport = ranks.executions[0].transport;
    lazy.host = *transport->calls;
    lazy.calls = lazy.host;
    lazy.calls.send = send_later;
    lazy.calls.wait = send_and_wait;
    lazy.awaits = ports_find(ranks.executions[0].ports, (struct port){.peer = 2});
    transport->calls = &lazy.calls;
    transport->eager_bytes = 0; /* else the message is copied first */
    run_ranks(&ranks);
    expect_elements(&ranks, expected);
}
