/* Ranks on GPUs, with the runtime of test_cuda_runtime.h. */

#include "backend.h"
#include "cuda_device.h"
#include "cuda_kernels.h"
#include "cuda_program.h"
#include "runner.h"
#include "test_cuda_runtime.h"
#include "test_measurement.h"
#include "test_outcome.h"

static const struct run_config config = {.repetitions = 2,
                                         .warmup = 1,
                                         .window = 2,
                                         .slot_bytes = 512,
                                         .timeout_s = 20,
                                         .memory = &memory_device};

/* Runs a row on so many devices; returns its wrong elements. */
static uint64_t run_row(struct measurement row, int devices, bool are_peers)
{
    struct machine machine;
    struct ar_arena arena = {NULL};
    double times_s[2] = {0, 0};
    row.repetitions = row.is_check ? 1 : 2;
    row.times_s = times_s;
    standin_start(devices, are_peers);
    TEST_OK(backend_cuda.start(&config, &machine, &why));
    TEST_OK(backend_cuda.run(&config, &arena, &row, &why));
    ar_arena_end(&arena);
    cr_expect(row.is_check || times_s[1] > 0.0);
    cr_expect_eq(standin_alive(), 0);
    return row.mismatch.wrong;
}

static struct measurement make_row(const struct ar_algorithm *algorithm, struct ar_shape shape,
                                   uint32_t channels, uint64_t elements)
{
    struct measurement row = test_measurement(algorithm->operation, shape, elements);
    row.name = algorithm->name;
    row.algorithm = algorithm;
    row.root = row.ranks / 2;
    row.channels = channels;
    row.type = elements % 2 == 0 ? &element_fp32 : &element_fp16;
    row.is_check = true;
    return row;
}

/* All algorithms of all-reduces on all shapes of a number of ranks, around the sizes where parts
 * become empty. */
static void check_ranks(uint32_t ranks, int devices, bool are_peers)
{
    const uint64_t elements[] = {0, 1, ranks - 1, ranks + 1, 1009};
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (uint32_t x = 1; x <= ranks; x++) {
            struct ar_shape shape = {.x = x, .y = ranks / x};
            if (ranks % x != 0 || ar_algorithms[i]->operation != &ar_operation_all_reduce ||
                ar_algorithms[i]->wants_sums ||
                ar_algorithm_check_shape(ar_algorithms[i], &shape, AR_IGNORED) != AR_OK) {
                continue;
            }
            for (size_t j = 0; j < sizeof elements / sizeof elements[0]; j++) {
                struct measurement row = make_row(ar_algorithms[i], shape, 1 + x % 3, elements[j]);
                cr_expect_eq(run_row(row, devices, are_peers), 0, "%s %ux%u, %d devices", row.name,
                             x, shape.y, devices);
            }
        }
    }
}

Test(cuda, every_algorithm_is_right_on_one_gpu_on_several_and_through_the_host)
{
    check_ranks(1, 1, true);
    check_ranks(2, 1, true);
    check_ranks(6, 4, true);
    check_ranks(8, 8, true);
    check_ranks(6, 6, false);
    /* Messages that keep several blocks busy, timed 20 times at once. */
    struct measurement row =
        make_row(&ar_algorithm_ring, (struct ar_shape){.x = 4, .y = 1}, 1, 1 << 17);
    row.is_check = false;
    cr_expect_eq(run_row(row, 4, true), 0);
    cr_expect_eq(run_row(row, 2, true), 0);
}

/* A ring needs nobody but its neighbours: one sends, the other has read what is overwritten. What
 * is known already is not waited for again, so that nobody waits more than twice in a step. */
Test(cuda, a_ring_waits_for_its_neighbours_alone)
{
    enum { RANKS = 4, STEPS = 2 * (RANKS - 1) };
    struct ar_arena arena = {NULL};
    struct rank_memory memory[RANKS];
    static unsigned char buffers[RANKS][2][4000];
    struct measurement row =
        make_row(&ar_algorithm_ring, (struct ar_shape){.x = RANKS, .y = 1}, 1, 1000);
    row.ranks_per_node = 1; /* so that the ranks are in their order */
    for (uint32_t i = 0; i < RANKS; i++) {
        memory[i] = (struct rank_memory){.buffer = buffers[i][0], .window = buffers[i][1]};
    }
    const struct program *programs = programs_create(&row, memory, false, 1, &arena);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        cr_expect_eq(programs[rank].ops_count, STEPS);
        uint64_t neighbours = 1u << (rank + 1) % RANKS | 1u << (rank + RANKS - 1) % RANKS;
        cr_expect_eq(programs[rank].listeners, neighbours);
        for (uint32_t i = 0; i < STEPS; i++) {
            const struct kernel_op *op = &programs[rank].ops[i];
            cr_expect_leq(op->waits_count, 2, "rank %u, step %u", rank, i);
            cr_expect_eq(op->sums, i < STEPS / 2);
        }
    }
    ar_arena_end(&arena);
}

Test(cuda, probes_run_between_gpus_and_on_one)
{
    for (int devices = 1; devices <= 2; devices++) {
        for (enum probe probe = PROBE_LATENCY; probe <= PROBE_LAUNCH; probe++) {
            struct measurement row = {.name = probe_name(probe),
                                      .probe = probe,
                                      .to = 1,
                                      .ranks = 2,
                                      .channels = 1,
                                      .type = &element_fp32,
                                      .elements = 64};
            run_row(row, devices, true);
        }
    }
    struct machine machine;
    standin_start(3, true);
    TEST_OK(backend_cuda.start(&config, &machine, &why));
    cr_expect_str_eq(backend_cuda.tier(0, 3), "device");
    cr_expect_str_eq(backend_cuda.tier(0, 1), "nvlink");
    cr_expect_str_eq(backend_cuda.tier(1, 2), "pcie");
}

/* Places before and behind the first vector, runs that lie alike and differently. */
Test(kernels, each_element_is_added_once_wherever_the_runs_begin)
{
    enum { SIZE = 120, COUNTS = 46 };
    static const struct element_type *const types[] = {&element_fp32, &element_fp16};
    void *sum, *addend;
    standin_start(1, true);
    cr_assert(cudaMalloc(&sum, 4 * SIZE) == cudaSuccess &&
              cudaMalloc(&addend, 4 * SIZE) == cudaSuccess);
    for (uint32_t i = 0; i < 2 * 8 * 8 * COUNTS; i++) {
        const struct element_type *type = types[i % 2];
        uint32_t bytes = type->bytes;
        uint32_t begin = i / 2 % 8;
        uint32_t other = i / 16 % 8;
        uint32_t count = i / 128 % COUNTS;
        unsigned char values[2][4 * SIZE];
        for (uint32_t j = 0; j < SIZE; j++) {
            type->store(values[0] + j * bytes, j);
            type->store(values[1] + j * bytes, 1 + 2 * j);
        }
        cudaMemcpy(sum, values[0], sizeof values[0], cudaMemcpyDefault);
        cudaMemcpy(addend, values[1], sizeof values[1], cudaMemcpyDefault);
        cr_assert_eq(kernels_reduce(bytes, (unsigned char *)sum + begin * bytes,
                                    (unsigned char *)addend + other * bytes, count, NULL),
                     cudaSuccess);
        cudaMemcpy(values[0], sum, sizeof values[0], cudaMemcpyDefault);
        for (uint32_t j = 0; j < SIZE; j++) {
            bool is_in = j >= begin && j < begin + count;
            double expected = j + (is_in ? 1.0 + 2.0 * (j - begin + other) : 0.0);
            cr_assert_eq(type->load(values[0] + j * bytes), expected,
                         "%s: %u elements from %u and %u, at %u", type->name, count, begin, other,
                         j);
        }
    }
    cr_expect(cudaFree(sum) == cudaSuccess && cudaFree(addend) == cudaSuccess);
    cr_expect_eq(standin_alive(), 0);
}

/* Each place in turn, also the last ones, differs by one bit; what is not checked may differ. */
Test(kernels, a_bit_that_differs_is_found_unless_nothing_is_expected_there)
{
    enum { COUNT = 37 };
    static const struct element_type *const types[] = {&element_fp32, &element_fp16};
    unsigned char *memory;
    struct ar_arena arena = {NULL};
    standin_start(1, true);
    TEST_OK(memory_device.allocate(&arena, 2 * 4 * COUNT + 4, &memory, &why));
    unsigned char *expected = memory + 4 * COUNT, *verdict = memory + 2 * 4 * COUNT;
    for (uint32_t i = 0; i < 2 * 2 * COUNT; i++) {
        const struct element_type *type = types[i % 2];
        bool is_checked = i / 2 % 2, is_equal;
        uint32_t at = i / 4 * type->bytes;
        memset(memory, 0x3c, 2 * 4 * COUNT);
        memory[at] ^= 1;
        memset(expected + at, is_checked ? 0x3c : 0xff, type->bytes);
        TEST_OK(memory_device.enter(memory, &why));
        TEST_OK(memory_device.compare(type, memory, expected, COUNT, verdict, &is_equal, &why));
        cr_expect_eq(is_equal, !is_checked, "%s, element %u", type->name, i / 4);
    }
    ar_arena_end(&arena);
}
