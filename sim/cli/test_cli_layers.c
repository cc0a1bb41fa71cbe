/* compare, of a trace of measured times: layers beside what a cost table says of them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_layers, .init = cli_enter, .fini = cli_leave);

Test(cli_layers, a_recorded_trace_stands_beside_its_computed_one)
{
    struct cli_table *rows = cli_rows("compare resnet50-v1.5-recorded");
    struct cli_table *step =
        cli_rows("predict --cluster abci-v100 --gpus 1 --algorithm ring --trace resnet50-v1.5 "
                 "--precision fp32");
    double forward_s = 0, backward_s = 0;
    cr_assert_eq(rows->rows_count, 1 + 175);
    for (size_t i = 1; i < rows->rows_count; i++) {
        forward_s += cli_number(rows, i, "forward_predicted_s");
        backward_s += cli_number(rows, i, "backward_predicted_s");
    }
    cr_expect_float_eq(forward_s, cli_number(step, 1, "forward_s"), 1e-8);
    cr_expect_float_eq(backward_s, cli_number(step, 1, "backward_s"), 1e-8);
    cr_expect_str_eq(cli_cell(rows, 1, "layer"), "conv1");
    cr_expect_float_eq(cli_number(rows, 1, "ready_measured_s"), 63.18e-3, 1e-5);
    const char *both = cli_good("$AR compare resnet50-v1.5-recorded --format json").out;
    CLI_HAS(both, "\"kinds\": [");
}

Test(cli_layers, files_and_the_picture_are_written)
{
    struct cli_run run =
        cli_good("$AR compare resnet50-v1.5-recorded --out out && cat out/kinds.csv && ls out");
    CLI_HAS(run.out, "\nkind,layers,forward_measured_s,");
    CLI_HAS(run.out, "\nlayers.svg");
    const char *parameters = cli_read("out/parameters.csv");
    cr_expect_eq(cli_lines_with(parameters, "cost table,v100-sxm2,"), 1);
    cr_expect_eq(cli_lines_with(parameters, "conv_forward_rate,12.34e12 flop/s,"), 1, "of fp32");
    cr_expect_eq(cli_lines_with(parameters, "multiprocessors,80,"), 1);
    CLI_HAS(run.err, "beside resnet50-v1.5 by cost table v100-sxm2, batch 32");
}

Test(cli_layers, a_trace_that_names_nothing_to_compute_it_by_is_refused)
{
    static const struct cli_case cases[] = {
        {"compare example-timed", 65, "expected a trace of measured times with directives"},
        {"compare resnet50-v1.5", 65, "found a table of work"},
        {"compare resnet50-v1.5-recorded --cluster flat", 64,
         "found --cluster; expected none with a trace of measured times"},
        {"compare resnet50-v1.5-recorded --algorithm ring", 64, "found --algorithm; expected none"},
        {"compare resnet50-v1.5-recorded --engine closed", 64, "found --engine; expected none"},
        {"compare resnet50-v1.5-recorded --time mean", 64, "found --time; expected none"},
        {"predict --cluster abci-v100 --gpus 4 --algorithm ring --trace resnet50-v1.5 --precision "
         "fp8",
         64, "found fp8; expected fp16, fp32, of which cost table v100-sxm2 speaks"},
    };
    CLI_FAIL_ALL("", cases);
}
