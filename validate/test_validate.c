/* Rows as they are printed. */
#include <stdlib.h>

#include "cases.h"
#include "runner.h"
#include "test_outcome.h"

static void expect_printed(struct measurement *row, const char *expected)
{
    char *text;
    TEST_TEXT(text, result_write_row(stream, &backend_host, row));
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(result, a_row_has_its_cells_in_the_order_of_the_header)
{
    double times_s[] = {3e-6, 1e-6, 2e-6};
    struct measurement row = {.name = "torus2d",
                              .operation = &ar_operation_all_reduce,
                              .shape = {.x = 3, .y = 2},
                              .channels = 4,
                              .ranks = 6,
                              .nodes = 1,
                              .type = &element_fp16,
                              .elements = 500,
                              .mismatch = {.wrong = 7},
                              .tier = "node",
                              .repetitions = 3,
                              .times_s = times_s};
    expect_printed(&row, "host,allreduce,torus2d,3x2,,4,6,1,fp16,2,1000,3,2e-06,1e-06,1.2e-06,"
                         "2.8e-06,500000000,833333333,7,node\n");
    row.is_check = true;
    expect_printed(&row, "host,allreduce,torus2d,3x2,,4,6,1,fp16,2,1000,3,,,,,,,7,node\n");
    row.operation = &ar_operation_broadcast;
    row.root = 5;
    row.is_check = false;
    expect_printed(&row, "host,broadcast,torus2d,3x2,5,4,6,1,fp16,2,1000,3,2e-06,1e-06,1.2e-06,"
                         "2.8e-06,500000000,500000000,7,node\n");
}
