/* The shipped factors of new machines. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_new_machine.h"

static const struct ar_learnt_factor *find_factor(const struct ar_learnt_factor *rows, size_t count,
                                                  const char *parameter, const char *class)
{
    size_t i = 0;
    while (i < count &&
           (strcmp(rows[i].parameter, parameter) != 0 || strcmp(rows[i].class, class) != 0)) {
        i++;
    }
    cr_assert_lt(i, count, "%s of %s", parameter, class);
    return &rows[i];
}

Test(new_machine, shipped_factors_are_those_of_the_gpus)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv *csv;
    struct ar_error err = {.text = ""};
    const char *path = AR_TEST_SOURCE_DIR "/validate/data/factors.csv";
    cr_assert_eq(ar_csv_load(path, &arena, &csv, &err), AR_OK, "%s", err.text);
    struct ar_learnt_factor *rows = ar_arena_alloc(&arena, csv->rows_count + 1, sizeof *rows);
    cr_assert_eq(ar_csv_read_rows(csv, ar_learnt_factor_columns, rows, sizeof *rows, &err), AR_OK,
                 "%s", err.text);
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        bool is_of_net = ar_library_parameter_is_of_net((enum ar_library_parameter)i);
        const char *class = is_of_net ? "infiniband" : "hopper";
        (void)find_factor(rows, csv->rows_count, ar_library_parameters[i].name, class);
    }
    const char *rings = ar_library_parameters[AR_NODE_BANDWIDTH].name;
    double hopper = find_factor(rows, csv->rows_count, rings, "hopper")->factor;
    cr_expect_float_eq(hopper, 1, 0.1, "NCCL's rings are reached");
    cr_expect_lt(find_factor(rows, csv->rows_count, rings, "blackwell")->factor, hopper);
}
