#include <criterion/criterion.h>

#include "ar_algorithm.h"

Test(operation, the_bus_bandwidth_of_an_all_reduce_is_that_of_nccl_tests)
{
    static const struct {
        uint32_t ranks;
        double factor; /* doc/PERFORMANCE.md of nccl-tests: 2 (n-1)/n */
    } rows[] = {{1, 0}, {2, 1}, {4, 1.5}, {8, 1.75}, {1024, 2 * 1023 / 1024.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(ar_operation_busbw_Bps(&ar_operation_all_reduce, 4e9, rows[i].ranks),
                     4e9 * rows[i].factor, "%u ranks", rows[i].ranks);
    }
}

Test(operation, an_all_reduce_takes_one_contribution_of_every_rank_to_all)
{
    struct ar_shape shape = {.x = 3, .y = 1};
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct ar_operation_place place = {.shape = &shape, .position = rank, .elements = 1};
        for (uint32_t from = 0; from < 3; from++) {
            cr_expect_eq(ar_operation_holds(&ar_operation_all_reduce, &place, from), from == rank);
            cr_expect(ar_operation_wants(&ar_operation_all_reduce, &place, from));
        }
    }
}

Test(operation, every_algorithm_says_what_it_achieves)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        cr_expect_not_null(ar_algorithms[i]->operation, "%s", ar_algorithms[i]->name);
    }
}
