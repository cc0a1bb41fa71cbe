/* Rows as they are printed, and the joined probes of a tier. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cases.h"
#include "runner.h"

/* The row as text; free()d by the caller. */
static char *printed(struct measurement *row)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert_not_null(file);
    result_write_row(file, &backend_host, row);
    fclose(file);
    return text;
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
    char *text = printed(&row);
    cr_expect_str_eq(text, "host,allreduce,torus2d,3x2,,4,6,1,fp16,2,1000,3,2e-06,1e-06,1.2e-06,"
                           "2.8e-06,500000000,833333333,7,node\n");
    free(text);
    row.is_check = true;
    text = printed(&row);
    cr_expect_str_eq(text, "host,allreduce,torus2d,3x2,,4,6,1,fp16,2,1000,3,,,,,,,7,node\n");
    free(text);
    row.operation = &ar_operation_broadcast;
    row.root = 5;
    row.is_check = false;
    text = printed(&row);
    cr_expect_str_eq(text, "host,broadcast,torus2d,3x2,5,4,6,1,fp16,2,1000,3,2e-06,1e-06,1.2e-06,"
                           "2.8e-06,500000000,500000000,7,node\n");
    free(text);
}

static void add(struct cases *cases, enum probe probe, const char *tier, double time_s)
{
    struct measurement row = {.name = probe_name(probe),
                              .probe = probe,
                              .ranks = 3,
                              .repetitions = 1,
                              .type = &element_fp32};
    snprintf(row.tier, sizeof row.tier, "%s", tier);
    row.times_s = ar_arena_alloc(cases->arena, 1, sizeof time_s);
    row.times_s[0] = time_s;
    cases->rows = ar_arena_grow(cases->arena, cases->rows, cases->count, 1, sizeof row);
    cases->rows[cases->count++] = row;
}

Test(cases, pairs_of_a_tier_are_joined_and_other_tiers_are_not)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct cases cases = {.arena = &arena};
    add(&cases, PROBE_LATENCY, "node:0-1", 1);
    add(&cases, PROBE_BANDWIDTH, "node:0-1", 9);
    add(&cases, PROBE_LATENCY, "network:0-2", 5);
    add(&cases, PROBE_LATENCY, "node:1-2", 3);
    add(&cases, PROBE_COPY, "host", 4);
    cases_join_tiers(&cases);
    cr_assert_eq(cases.count, 5 + 3);
    cr_expect_str_eq(cases.rows[5].tier, "node");
    cr_expect_eq(cases.rows[5].repetitions, 2);
    cr_expect(cases.rows[5].times_s[0] == 1.0 && cases.rows[5].times_s[1] == 3.0);
    cr_expect(cases.rows[6].probe == PROBE_BANDWIDTH && cases.rows[6].times_s[0] == 9.0);
    cr_expect_str_eq(cases.rows[7].tier, "network");
    cr_expect_eq(cases.rows[7].times_s[0], 5.0);
}
