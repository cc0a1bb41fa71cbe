/* The 2D torus made of NCCL's collectives, on the NCCL of test_nccl_standin.c: it proves rows,
 * columns, shards and padding, not NCCL. */

#include "nccl_ranks.h"
#include "test_cuda_runtime.h"
#include "test_measurement.h"
#include "test_outcome.h"

/* Communicators of a test, of all its measurements. */
static struct ar_arena keep;
static struct nccl_communicators *made;

static void end_communicators(void)
{
    ar_arena_end(&keep);
    made = NULL;
    cr_expect_eq(standin_communicators(), 0);
}

/* Runs a row twice, filled anew; returns its wrong elements. */
static uint64_t run_row(struct measurement row)
{
    struct ar_arena arena = {NULL};
    struct crew *crew;
    struct payload payload;
    struct run_config config = {.warmup = 1};
    struct nccl_library library;
    struct nccl_place place = {.count = row.ranks, .is_alone = true};
    double time_s = 0;
    row.repetitions = 1;
    row.times_s = &time_s;
    standin_start((int)row.ranks, true);
    TEST_OK(nccl_library_load(&library, &why));
    TEST_OK(payload_create(&row, &arena, &payload, &why));
    TEST_OK(nccl_ranks_create(&library, &row, &place, 60, &keep, &made, &arena, &crew, &why));
    TEST_OK(crew_repeat(crew, &config, &payload, &arena, &row, &why));
    cr_expect_gt(time_s, 0.0);
    ar_arena_end(&arena);
    cr_expect_eq(standin_alive(), 0);
    return row.mismatch.wrong;
}

static void check_shape(const struct ar_algorithm *algorithm, struct ar_shape shape)
{
    uint32_t ranks = ar_shape_ranks(&shape);
    const uint64_t elements[] = {0, 1, ranks - 1, ranks, ranks + 1, 1009, 1010};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        struct measurement row = test_measurement(&ar_operation_all_reduce, shape, elements[i]);
        row.algorithm = algorithm;
        row.type = i % 2 == 0 ? &element_fp32 : &element_fp16;
        cr_expect_eq(run_row(row), 0, "%ux%u, %d elements", shape.x, shape.y, (int)elements[i]);
    }
}

Test(nccl_ranks, a_torus_of_library_calls_is_an_all_reduce_on_every_grid)
{
    const struct ar_algorithm *torus;
    TEST_OK(ar_algorithm_find("test", &ar_operation_all_reduce, "torus2d", &torus, &why));
    for (uint32_t ranks = 1; ranks <= 12; ranks += ranks < 6 || ranks == 8 ? 1 : ranks - 4) {
        for (uint32_t x = 1; x <= ranks; x++) {
            if (ranks % x == 0) {
                check_shape(torus, (struct ar_shape){.x = x, .y = ranks / x});
            }
        }
    }
    end_communicators();
}

/* Equal parts, as NCCL wants them; any root. */
Test(nccl_ranks, every_operation_is_one_group_of_calls)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        for (uint32_t ranks = 1; ranks <= 6; ranks++) {
            for (uint64_t share = 0; share <= 1009; share = 3 * share + 1) {
                struct measurement row = test_measurement(
                    ar_operations[i], (struct ar_shape){.x = ranks, .y = 1}, share * ranks);
                row.root = ranks / 2;
                cr_expect_eq(run_row(row), 0, "%s, %u ranks, %d elements", row.operation->name,
                             ranks, (int)row.elements);
            }
        }
    }
    end_communicators();
}
