/* The executor on the host: what it finds if an algorithm is wrong, and what it says if a message
 * never comes. */
#include <stdio.h>

#include "backend.h"
#include "host.h"
#include "runner.h"
#include "test_measurement.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */

static struct run_config make_manner(void)
{
    return (struct run_config){.repetitions = 2,
                               .warmup = 1,
                               .window = 2,
                               .slot_bytes = 64,
                               .timeout_s = 30,
                               .memory = &memory_host};
}

static struct measurement make_row(const struct ar_algorithm *algorithm, struct ar_shape shape,
                                   uint64_t elements)
{
    struct measurement row = test_measurement(algorithm->operation, shape, elements);
    row.name = algorithm->name;
    row.algorithm = algorithm;
    row.repetitions = 2;
    row.times_s = ar_arena_alloc(&arena, 2, sizeof(double));
    return row;
}

static const struct ar_algorithm *find(const char *name)
{
    const struct ar_algorithm *algorithm;
    TEST_OK(ar_algorithm_find("test", &ar_operation_all_reduce, name, &algorithm, &why));
    return algorithm;
}

static struct ar_move ring_move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    return ar_algorithm_move(find("ring"), shape, elements, position, step);
}

static enum { COPIES, IS_SILENT, IS_DEAF } mutation; /* of the algorithm that runs */

static struct ar_move mutant_move(const struct ar_shape *shape, uint64_t elements,
                                  uint32_t position, uint32_t step)
{
    struct ar_move move = ring_move(shape, elements, position, step);
    if (mutation == COPIES && position == 1 && step == 0) {
        move.receive = AR_RECEIVE_COPY; /* replaces what it should be added to */
    } else if (mutation == IS_SILENT && position == 2 && step == 5) {
        move.sends = false;
    } else if (mutation == IS_DEAF && position == 2 && step == 5) {
        move.receive = AR_RECEIVE_NONE; /* of 13 pieces */
    }
    return move;
}

static const struct ar_algorithm *mutant(void)
{
    static struct ar_algorithm changed;
    changed = *find("ring");
    changed.name = "mutant";
    changed.move = mutant_move;
    return &changed;
}

/* Four ranks, one part of 25 elements lost on its way: wrong on all four ranks, in each of the
 * three runs, but where a lost value of position 1 was zero. */
Test(executor, a_copy_in_place_of_a_sum_is_found_on_every_rank)
{
    struct run_config config = make_manner();
    mutation = COPIES;
    struct measurement row = make_row(mutant(), (struct ar_shape){.x = 4, .y = 1}, 100);
    struct ar_move move = ring_move(&row.shape, 100, 1, 0);
    struct ar_order order = measurement_order(&row);
    uint32_t zeros = 0;
    for (uint64_t i = 0; i < move.receive_span.count; i++) {
        zeros += payload_value(row.type, 4, ar_order_rank(&order, 0, 1),
                               move.receive_span.whole.first + i) == 0;
    }
    TEST_OK(backend_host.run(&config, &arena, &row, &why));
    cr_expect_eq(row.mismatch.wrong, 4 * 3 * (25 - zeros));
    cr_expect_eq(row.mismatch.rank, 0);
    cr_expect(row.mismatch.element >= move.receive_span.whole.first &&
              row.mismatch.element < move.receive_span.whole.first + 25);
    cr_expect_lt(row.mismatch.found, row.mismatch.expected);
}

/* Runs an algorithm that cannot end; the error is `expected` with ranks as they stand. */
static void expect_stuck(uint32_t waiting, const char *what, uint32_t missing, const char *rest)
{
    char expected[128];
    struct run_config config = make_manner();
    struct measurement row = make_row(mutant(), (struct ar_shape){.x = 4, .y = 1}, 800);
    struct ar_order order = measurement_order(&row);
    config.timeout_s = 0.2;
    snprintf(expected, sizeof expected, "rank %u waited 0.2 s for rank %u to %s %s",
             ar_order_rank(&order, 0, waiting), ar_order_rank(&order, 0, missing), what, rest);
    TEST_FAILS(AR_INTERNAL, expected, backend_host.run(&config, &arena, &row, &why));
}

Test(executor, who_waits_for_a_message_that_never_comes_or_cannot_send_is_named, .timeout = 20)
{
    mutation = IS_SILENT;
    expect_stuck(3, "send", 2, "step 5 of 6 on channel 0");
    mutation = IS_DEAF;
    expect_stuck(1, "take", 2, "step 5 of 6 on channel 0");
}

/* Two ranks are connected, one comes to the barrier. */
Test(executor, ranks_wait_at_barriers_and_send_no_more_than_a_window_until_a_message_was_taken)
{
    struct measurement row = make_row(find("ring"), (struct ar_shape){.x = 2, .y = 1}, 8);
    static const unsigned char messages[2] = {1, 2};
    struct ports *ports = ports_create_all(&row, &arena);
    struct host_group *group = host_group_create(ports, 2, 2, 64, &arena);
    struct transport *from = host_group_transport(group, 0);
    struct transport *to = host_group_transport(group, 1);
    uint32_t out = ports_find(&ports[0], (struct port){.peer = 1, .sends = true});
    uint32_t in = ports_find(&ports[1], (struct port){.peer = 0, .sends = false});
    cr_expect_null(to->calls->receive(to, in));
    for (size_t i = 0; i < 2; i++) {
        cr_expect(transport_may_send(from, out));
        from->calls->send(from, out, &messages[i], 1);
    }
    cr_expect_not(transport_may_send(from, out));
    cr_expect_eq(from->calls->taken(from, out), 0);
    cr_expect_eq(to->calls->receive(to, in), &messages[0]);
    to->calls->release(to, in);
    cr_expect_eq(from->calls->taken(from, out), 1);
    cr_expect(transport_may_send(from, out));
    cr_expect_eq(to->calls->receive(to, in), &messages[1]);
    TEST_FAILS(AR_INTERNAL, "rank 1 waited 0.05 s at a barrier for rank 0; expected all 2 ranks",
               to->calls->barrier(to, 0.05, &why));
}
