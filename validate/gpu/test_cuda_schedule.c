/* The work that the host lays out for GPUs, run by the fake runtime of test_fake_cuda.h. It proves
 * the order of events, the places of messages and what each thread of a kernel adds. How threads
 * are launched needs a GPU. */
#include <criterion/criterion.h>
#include <string.h>

#include "backend.h"
#include "cuda_device.h"
#include "runner.h"
#include "test_fake_cuda.h"

static struct run_config make_manner(uint32_t window, bool uses_graph)
{
    return (struct run_config){.repetitions = 2,
                               .warmup = 1,
                               .window = window,
                               .slot_bytes = 64,
                               .timeout_s = 1,
                               .uses_graph = uses_graph,
                               .memory = &memory_device};
}

static struct ar_arena arena;

static void give_times(struct measurement *row)
{
    row->repetitions = 2;
    row->times_s = ar_arena_alloc(&arena, 2, sizeof(double));
}

/* Runs a row on so many devices; returns its wrong elements. */
static uint64_t run_row(struct measurement row, const struct run_config *config, int devices,
                        uint64_t seed)
{
    struct ar_error err;
    struct machine machine;
    fake_cuda_start(devices, seed);
    cr_assert_eq(backend_cuda.start(config, &machine, &err), AR_OK, "%s", err.text);
    give_times(&row);
    cr_assert_eq(backend_cuda.run(config, &arena, &row, &err), AR_OK, "%s", err.text);
    ar_arena_end(&arena);
    cr_expect_eq(fake_cuda_leaks(), 0);
    return row.mismatch.wrong;
}

static struct measurement make_row(const struct ar_algorithm *algorithm, struct ar_shape shape,
                                   uint32_t channels, uint64_t elements)
{
    return (struct measurement){.name = algorithm->name,
                                .operation = algorithm->operation,
                                .root = ar_shape_ranks(&shape) / 2,
                                .algorithm = algorithm,
                                .shape = shape,
                                .channels = channels,
                                .ranks = ar_shape_ranks(&shape),
                                .ranks_per_node = ar_shape_ranks(&shape),
                                .type = elements % 2 == 0 ? &element_fp32 : &element_fp16,
                                .elements = elements};
}

/* All algorithms on all shapes of a number of ranks, around the sizes where parts become empty. */
static void check_ranks(uint32_t ranks, int devices, const struct run_config *config)
{
    const uint64_t elements[] = {0, 1, ranks - 1, ranks + 1, 1009};
    struct ar_error ignored;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (uint32_t x = 1; x <= ranks; x++) {
            struct ar_shape shape = {.x = x, .y = ranks / x};
            if (ranks % x != 0 || ar_algorithms[i]->operation != &ar_operation_all_reduce ||
                ar_algorithms[i]->wants_sums ||
                ar_algorithm_check_shape(ar_algorithms[i], &shape, &ignored) != AR_OK) {
                continue;
            }
            for (size_t j = 0; j < sizeof elements / sizeof elements[0]; j++) {
                struct measurement row = make_row(ar_algorithms[i], shape, 1 + x % 3, elements[j]);
                cr_expect_eq(run_row(row, config, devices, 1 + j), 0, "%s %ux%u, %d devices",
                             row.name, x, shape.y, devices);
            }
        }
    }
}

Test(cuda_schedule, every_algorithm_is_right_whatever_the_order_of_the_streams)
{
    struct run_config config = make_manner(2, false);
    check_ranks(1, 1, &config);
    check_ranks(2, 1, &config);
    check_ranks(6, 1, &config);
    check_ranks(6, 4, &config);
    check_ranks(8, 8, &config);
    config.window = 1;
    check_ranks(6, 2, &config);
}

Test(cuda_schedule, a_graph_is_right_each_time_it_is_launched)
{
    struct run_config config = make_manner(2, true);
    check_ranks(1, 1, &config);
    check_ranks(6, 1, &config);
    check_ranks(6, 3, &config);
}

/* The fake would not be worth much if it ran a schedule without events rightly. */
Test(cuda_schedule, without_its_events_a_schedule_is_wrong)
{
    struct run_config config = make_manner(2, false);
    struct measurement row =
        make_row(&ar_algorithm_ring, (struct ar_shape){.x = 6, .y = 1}, 1, 600);
    struct ar_error err;
    struct machine machine;
    fake_cuda_start(1, 1);
    fake_cuda_ignore_waits(true);
    cr_assert_eq(backend_cuda.start(&config, &machine, &err), AR_OK);
    give_times(&row);
    cr_assert_eq(backend_cuda.run(&config, &arena, &row, &err), AR_OK, "%s", err.text);
    cr_expect_gt(row.mismatch.wrong, 0);
    ar_arena_end(&arena);
}

/* A ring of 4 on 4 GPUs sends everything between them: 2 * 3 / 4 of the payload per rank, three
 * times; 4 virtual ranks on one GPU nothing. */
Test(cuda_schedule, messages_go_between_gpus_only_if_the_ranks_are_on_different_ones)
{
    struct run_config config = make_manner(2, false);
    struct measurement row = make_row(ar_algorithms[0], (struct ar_shape){.x = 4, .y = 1}, 1, 400);
    cr_assert_str_eq(row.name, "ring");
    cr_expect_eq(run_row(row, &config, 4, 1), 0);
    cr_expect_eq(fake_cuda_peer_bytes(), 3 * 4 * 2 * 3 * 400);
    cr_expect_eq(run_row(row, &config, 1, 1), 0);
    cr_expect_eq(fake_cuda_peer_bytes(), 0);
}

Test(cuda_schedule, ranks_share_gpus_in_equal_blocks)
{
    static const int expected[] = {0, 0, 0, 1, 1, 1, 2, 2};
    for (uint32_t rank = 0; rank < 8; rank++) {
        cr_expect_eq(cuda_device_of(3, 8, rank), expected[rank], "rank %u", rank);
        cr_expect_eq(cuda_device_of(8, 8, rank), (int)rank);
    }
}

Test(cuda_schedule, probes_run_between_gpus_and_on_one)
{
    struct run_config config = make_manner(2, false);
    static const enum probe probes[] = {PROBE_LATENCY, PROBE_BANDWIDTH, PROBE_COPY, PROBE_REDUCE,
                                        PROBE_LAUNCH};
    for (int devices = 1; devices <= 2; devices++) {
        for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
            struct ar_error err;
            struct machine machine;
            struct measurement row = {.name = probe_name(probes[i]),
                                      .probe = probes[i],
                                      .to = 1,
                                      .ranks = 2,
                                      .type = &element_fp32,
                                      .elements = 64};
            fake_cuda_start(devices, 1);
            cr_assert_eq(backend_cuda.start(&config, &machine, &err), AR_OK);
            give_times(&row);
            cr_expect_eq(backend_cuda.run(&config, &arena, &row, &err), AR_OK, "%s", err.text);
            cr_expect_gt(row.times_s[1], 0.0);
            ar_arena_end(&arena);
            cr_expect_eq(fake_cuda_leaks(), 0);
        }
    }
    cr_expect_str_eq(cuda_tier(0, 0), "device");
    cr_expect_str_eq(cuda_tier(0, 1), "nvlink");
    cr_expect_str_eq(cuda_tier(1, 2), "pcie");
}

/* Places before and behind the first vector, runs that lie alike and differently, fewer threads
 * than elements and more. */
Test(kernels, each_element_is_added_once_wherever_the_runs_begin)
{
    enum { SIZE = 120, COUNTS = 46 };
    static const struct element_type *const types[] = {&element_fp32, &element_fp16};
    static const uint64_t threads[] = {1, 3, 64};
    for (uint32_t i = 0; i < 2 * 8 * 8 * COUNTS * 3; i++) {
        const struct element_type *type = types[i % 2];
        uint32_t begin = i / 2 % 8;
        uint32_t other = i / 16 % 8;
        uint32_t count = i / 128 % COUNTS;
        _Alignas(16) unsigned char sum[4 * SIZE];
        _Alignas(16) unsigned char addend[4 * SIZE];
        for (uint32_t j = 0; j < SIZE; j++) {
            type->store(sum + j * type->bytes, j);
            type->store(addend + j * type->bytes, 1 + 2 * j);
        }
        kernels_reduce_on_host(type->bytes, sum + begin * type->bytes, addend + other * type->bytes,
                               count, threads[i / 128 / COUNTS]);
        for (uint32_t j = 0; j < SIZE; j++) {
            bool is_in = j >= begin && j < begin + count;
            double expected = j + (is_in ? 1.0 + 2.0 * (j - begin + other) : 0.0);
            cr_assert_eq(type->load(sum + j * type->bytes), expected,
                         "%s: %u elements from %u and %u, at %u", type->name, count, begin, other,
                         j);
        }
    }
}
