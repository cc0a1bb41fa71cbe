/* `allreckon trace import` and what is done with the trace. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_trace, .init = cli_enter, .fini = cli_leave);

#define PROFILES AR_TEST_SOURCE_DIR "/traces/profiles/fixtures/"

Test(cli_trace, an_imported_trace_goes_into_a_prediction)
{
    struct cli_run run = cli_good("$AR trace import " PROFILES "shapes.json --out mine.csv");
    cr_expect_eq(cli_lines_with(run.err, "note: 2 of 2 steps: times as recorded"), 1, "%s",
                 run.err);
    cr_expect_eq(cli_lines_with(cli_read("mine.csv"), "# GPU: Tesla V100-SXM2-32GB"), 1);
    run = cli_good("$AR predict --cluster abci-v100 --gpus 8 --algorithm ring --trace ./mine.csv "
                   "--format csv --quiet");
    const struct cli_table *table = cli_table(run.out);
    /* 173 us forward, 320 us backward, 31 us of the optimizer, 1 us before them. */
    cr_expect_float_eq(cli_number(table, 1, "compute_s"), 525e-6, 1e-9);
    cr_expect_str_eq(cli_cell(table, 1, "batch_per_gpu"), "8");
    cr_expect_str_eq(cli_cell(table, 1, "precision"), "fp16");
}

Test(cli_trace, an_imported_trace_of_known_layers_is_put_beside_computed_ones)
{
    cli_write("work.csv", "layer,kind,macs,input_elements,output_elements,width,channels_in,"
                          "channels_out,kernel,stride,gradient_elements\n"
                          "conv1,conv,6912,48,256,4,3,16,3,1,432\n"
                          "relu,relu,0,256,256,0,0,0,0,0,0\n"
                          "fc,fc,2560,256,10,1,256,10,1,1,2560+10\n"
                          "loss,loss,0,10,10,0,0,0,0,0,0\n");
    cli_good("$AR trace import " PROFILES "shapes.json --parameters ./work.csv --cost-table "
             "v100-sxm2 --out mine.csv");
    cli_good("$AR compare ./mine.csv");
}

Test(cli_trace, collectives_go_to_stdout)
{
    struct cli_run run = cli_good("$AR trace import " PROFILES "ddp.json --out mine.csv --format "
                                  "csv --columns order,operation,payload_bytes,group_size,ready_s");
    const struct cli_table *table = cli_table(run.out);
    cr_assert_eq(table->rows_count, 4);
    cr_expect_str_eq(cli_cell(table, 2, "operation"), "allreduce");
    cr_expect_str_eq(cli_cell(table, 2, "payload_bytes"), "10280");
    cr_expect_str_eq(cli_cell(table, 2, "group_size"), "2");
    cr_expect_float_eq(cli_number(table, 2, "ready_s"), 93e-6, 1e-9);
}

Test(cli_trace, the_same_command_overwrites_its_own_trace_only)
{
    cli_good("$AR trace import " PROFILES "ddp.json --out mine.csv");
    cli_good("$AR trace import " PROFILES "ddp.json --out mine.csv --format json");
    cli_fails(64, "expected --force to overwrite it",
              "$AR trace import " PROFILES "shapes.json --out mine.csv");
    cli_good("$AR trace import " PROFILES "shapes.json --out mine.csv --force");
}

Test(cli_trace, wrong_use_and_wrong_files_leave_nothing)
{
    static const struct {
        const char *line;
        int code;
        const char *fragment;
    } rows[] = {
        {"", 64, "trace: found no argument; expected import FILE"},
        {"export x", 64, "trace: found argument export; expected import FILE"},
        {"import", 64, "trace import: found no file"},
        {"import " PROFILES "ddp.json", 64, "option --out is missing"},
        {"import " PROFILES "ddp.json x --out t.csv", 64, "unexpected argument \"x\""},
        {"import " PROFILES "ddp.json --out t.csv --times x", 64, "expected recorded or kernels"},
        {"import " PROFILES "ddp.json --out t.csv --batch 0", 64, "--batch: found \"0\""},
        {"import " PROFILES "ddp.json --out t.csv --precision x", 64, "--precision: found \"x\""},
        {"import " PROFILES "ddp.json --out t.csv --parameters x", 66, "unknown trace \"x\""},
        {"import " PROFILES "ddp.json --out t.csv --parameters resnet50-v1.5", 65,
         "3 gradients arrive in a step, and resnet50-v1.5 has 161 tensors"},
        {"import " PROFILES "bound-by-processor.json --out t.csv", 65, "expected at most 10 %"},
        {"import none.json --out t.csv", 66, "No such file"},
        {"import trace.csv --out t.csv", 65, "trace.csv:1: byte 1: lexical error"},
        {"import " PROFILES "ddp.json --out no/t.csv", 74, "cannot write"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_fails(rows[i].code, rows[i].fragment, "$AR trace %s", rows[i].line);
    }
}
