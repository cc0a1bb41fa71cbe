/* Published runs by an engine that has a band of its own: its error is part of theirs. */
#include <criterion/criterion.h>
#include <jansson.h>

#include "test_cli.h"

TestSuite(reproduce_library, .init = cli_enter, .fini = cli_leave);

#define STEP                                                                                       \
    "--cluster abci-v100-nccl2.8 --engine library --algorithm auto --gpus 32 --trace "             \
    "resnet50-v1.5"

static double number(const json_t *rows, size_t row, const char *name)
{
    return json_number_value(json_object_get(json_array_get(rows, row), name));
}

static json_t *rows_of(const char *text)
{
    json_t *rows = json_loads(text, 0, NULL);
    cr_assert_not_null(rows, "%s", text);
    return rows;
}

/* 400 draws meet the ends of a 95 % band to a tenth or two of its width. */
Test(reproduce_library, the_band_of_a_row_is_that_of_its_engine_and_of_a_run_as_wide)
{
    cli_write("rows.csv",
              "row,quantity,measured,source,cluster,run,engine,algorithm,gpus,trace\n"
              "a,iteration_s,1,made up,abci-v100-nccl2.8,,library,auto,32,resnet50-v1.5\n"
              "b,train_s,1,made up,abci-v100-nccl2.8,example,library,auto,32,\n");
    json_t *step = rows_of(cli_good("$AR predict " STEP " --quiet --format json").out);
    json_t *rows = rows_of(cli_good("$AR reproduce rows.csv --samples 400 --format json "
                                    "--term compute.scale=1")
                               .out);
    double low_s = number(step, 0, "low_s");
    double high_s = number(step, 0, "high_s");
    double slack_s = 0.2 * (high_s - low_s);
    cr_expect_eq(number(rows, 0, "predicted"), number(step, 0, "iteration_s"));
    cr_expect_float_eq(number(rows, 0, "low"), low_s, slack_s);
    cr_expect_float_eq(number(rows, 0, "high"), high_s, slack_s);
    double low = number(rows, 1, "low") / number(rows, 1, "predicted");
    double high = number(rows, 1, "high") / number(rows, 1, "predicted");
    cr_expect(low < 0.999 && low > 0.98, "%g", low);
    cr_expect(high > 1.001 && high < 1.02, "%g", high);
    json_decref(step);
    json_decref(rows);
}
