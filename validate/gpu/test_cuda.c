/* Ranks on GPUs, with the fake runtime of test_fake_cuda.h. It proves the choice of GPUs, the
 * places of messages and what each thread of a kernel adds. How threads are launched needs a GPU.
 */
#include <criterion/criterion.h>

#include "backend.h"
#include "cuda_device.h"
#include "runner.h"
#include "test_fake_cuda.h"

static const struct run_config config = {.repetitions = 2,
                                         .warmup = 1,
                                         .window = 2,
                                         .slot_bytes = 512,
                                         .timeout_s = 20,
                                         .memory = &memory_device};

/* Runs a row on so many devices; returns its wrong elements. */
static uint64_t run_row(struct measurement row, int devices, bool ignores_sums)
{
    struct ar_error err;
    struct machine machine;
    struct ar_arena arena = {NULL};
    double times_s[2] = {0, 0};
    row.repetitions = 2;
    row.times_s = times_s;
    fake_cuda_start(devices);
    fake_cuda_ignore_sums(ignores_sums);
    cr_assert_eq(backend_cuda.start(&config, &machine, &err), AR_OK, "%s", err.text);
    cr_assert_eq(backend_cuda.run(&config, &arena, &row, &err), AR_OK, "%s", err.text);
    ar_arena_end(&arena);
    cr_expect_gt(times_s[1], 0.0);
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
static void check_ranks(uint32_t ranks, int devices)
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
                cr_expect_eq(run_row(row, devices, false), 0, "%s %ux%u, %d devices", row.name, x,
                             shape.y, devices);
            }
        }
    }
}

Test(cuda, every_algorithm_is_right_on_one_gpu_and_on_several)
{
    check_ranks(1, 1);
    check_ranks(2, 1);
    check_ranks(6, 4);
    check_ranks(8, 8);
}

/* A ring of 4 on 4 GPUs sends everything between them: 2 * 3 / 4 of the payload per rank, three
 * times; 4 virtual ranks on one GPU nothing. Its sums are those of the kernel. */
Test(cuda, messages_go_between_gpus_only_if_the_ranks_are_on_different_ones)
{
    struct measurement row =
        make_row(&ar_algorithm_ring, (struct ar_shape){.x = 4, .y = 1}, 1, 400);
    cr_expect_eq(run_row(row, 4, false), 0);
    cr_expect_eq(fake_cuda_peer_bytes(), 3 * 4 * 2 * 3 * 400);
    cr_expect_eq(run_row(row, 1, false), 0);
    cr_expect_eq(fake_cuda_peer_bytes(), 0);
    cr_expect_gt(run_row(row, 1, true), 0);
}

Test(cuda, probes_run_between_gpus_and_on_one)
{
    for (int devices = 1; devices <= 2; devices++) {
        for (enum probe probe = PROBE_LATENCY; probe <= PROBE_LAUNCH; probe++) {
            struct measurement row = {.name = probe_name(probe),
                                      .probe = probe,
                                      .to = 1,
                                      .ranks = 2,
                                      .type = &element_fp32,
                                      .elements = 64};
            run_row(row, devices, false);
        }
    }
    struct ar_error err;
    struct machine machine;
    fake_cuda_start(3);
    cr_assert_eq(backend_cuda.start(&config, &machine, &err), AR_OK);
    cr_expect_str_eq(backend_cuda.tier(4, 0, 3), "device");
    cr_expect_str_eq(backend_cuda.tier(4, 0, 1), "nvlink");
    cr_expect_str_eq(backend_cuda.tier(4, 1, 2), "pcie");
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
