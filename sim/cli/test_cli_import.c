/* discover, trace import, and compare of layers and kernels: what other programs say. */
#include "test_cli.h"

TestSuite(cli_discover, .init = cli_enter, .fini = cli_leave);

#define MACHINES AR_TEST_SOURCE_DIR "/topologies/readers/fixtures/"

Test(cli_discover, a_discovered_cluster_goes_into_a_prediction)
{
    struct cli_run run = cli_good("$AR discover " MACHINES "switch.xml --nodes 4 --fabric rails "
                                  "--out mine.topo");
    CLI_LINES(run.err, "note: assumed, since no file has them: collective.setup 8.4us", 1);
    CLI_LINES(cli_read("mine.topo"), "switch.xml:19: mlx5_0 200 Gb/s", 1);
    cli_good("$AR allreduce --cluster ./mine.topo --gpus 16 --payload 64MiB --quiet");
    cli_good("$AR allreduce --cluster ./mine.topo --gpus 16 --payload 64MiB --engine nccl "
             "--algorithm auto --quiet --set library.channels=4 --set library.node_bus=48GB/s "
             "--set library.net_bus=44GB/s");
    cli_good("$AR discover " MACHINES "switch.xml --nodes 4 --fabric rails --out mine.topo");
}

Test(cli_discover, wrong_use_and_wrong_files_leave_nothing)
{
    static const struct cli_case rows[] = {
        {"discover", 64, "discover: found 0 arguments; expected FILE"},
        {"discover missing.xml", 66, "missing.xml"},
        {"discover " MACHINES "switch.xml --nodes 4 --fabric rail --out mine.topo", 64,
         "--fabric: found \"rail\"; expected non-blocking, rails, fat-tree, torus"},
        {"discover " MACHINES "fixture.xml --out mine.topo", 66, "fixture.xml"},
    };
    CLI_FAIL_ALL("", rows);
}

/* --- trace ------------------------------------------------------------------------------------ */

TestSuite(cli_trace, .init = cli_enter, .fini = cli_leave);

#define PROFILES AR_TEST_SOURCE_DIR "/traces/profiles/fixtures/"

Test(cli_trace, an_imported_trace_goes_into_a_prediction, CLI_NO_NEW_CODE)
{
    struct cli_run run = cli_good("$AR trace import " PROFILES "shapes.json --out mine.csv");
    CLI_LINES(run.err, "note: 2 of 2 steps: times as recorded", 1);
    CLI_LINES(cli_read("mine.csv"), "# GPU: Tesla V100-SXM2-32GB", 1);
    struct cli_table *table =
        cli_rows("predict --cluster abci-v100 --gpus 8 --algorithm ring --trace ./mine.csv");
    /* 173 us forward, 320 us backward, 31 us of the optimizer, 1 us before them. */
    CLI_NEAR(table, 1, "compute_s", 525e-6, 1e-9);
    CLI_CELL(table, 1, "batch_per_gpu", "8", "precision", "fp16");
}

Test(cli_trace, a_profile_with_a_fake_process_group_is_a_step_of_a_mesh)
{
    struct cli_run run =
        cli_good("gzip -c " PROFILES "fake-group.json > rank0.json.gz; $AR predict "
                 "--cluster dgx-h100 --workload ./rank0.json.gz --mesh dp=4,tp=2");
    CLI_HAS(run.err, "recorded with a fake process group of 16 ranks, which sends nothing");
    struct cli_table *step =
        cli_rows("predict --cluster dgx-h100 --workload ./rank0.json.gz --mesh dp=4,tp=2");
    CLI_NEAR(step, 1, "compute_s", 430e-6, 1e-9);
    cr_expect_gt(cli_number(step, 1, "iteration_s"), 440e-6);
    cli_fails(64, "rank0.json.gz: found allreduce along tp, which has one GPU; expected more",
              "$AR predict --cluster dgx-h100 --workload ./rank0.json.gz --gpus 8");
    cli_good("cp " PROFILES "bound-by-processor.json b.pt.trace.json");
    CLI_NOTES("predict --cluster dgx-h100 --workload ./b.pt.trace.json --gpus 8",
              "re-timed from durations of kernels");
}

Test(cli_trace, the_same_command_overwrites_its_own_trace_only)
{
    cli_good("$AR trace import " PROFILES "ddp.json --out mine.csv");
    cli_good("$AR trace import " PROFILES "ddp.json --out mine.csv --quiet");
    cli_fails(64, "expected --force to overwrite it",
              "$AR trace import " PROFILES "shapes.json --out mine.csv");
    cli_good("$AR trace import " PROFILES "shapes.json --out mine.csv --force");
}

Test(cli_trace, wrong_use_and_wrong_files_leave_nothing)
{
    static const struct cli_case rows[] = {
        {"", 64, "trace: found 0 arguments; expected import FILE"},
        {"export x", 64, "trace: found argument export; expected import FILE"},
        {"import " PROFILES "ddp.json", 64, "option --out is missing"},
        {"import " PROFILES "ddp.json --out t.csv --times x", 64, "expected recorded or kernels"},
        {"import " PROFILES "ddp.json --out t.csv --precision x", 64, "--precision: found \"x\""},
        {"import " PROFILES "bound-by-processor.json --out t.csv", 65, "expected at most 10 %"},
        {"import trace.csv --out t.csv", 65, "trace.csv:1: no object; expected JSON"},
        {"import " PROFILES "ddp.json --out no/t.csv", 74, "cannot write"},
    };
    CLI_FAIL_ALL("trace", rows);
}

/* --- layers ----------------------------------------------------------------------------------- */

TestSuite(cli_layers, .init = cli_enter, .fini = cli_leave);

Test(cli_layers, a_recorded_trace_stands_beside_its_computed_one)
{
    struct cli_table *rows = cli_rows("compare resnet50-v1.5-recorded");
    double forward_s = 0;
    cr_assert_eq(rows->rows_count, 1 + 175);
    for (size_t i = 1; i < rows->rows_count; i++) {
        forward_s += cli_number(rows, i, "forward_predicted_s");
    }
    cr_expect_float_eq(forward_s,
                       cli_value("forward_s", "predict --cluster abci-v100 --gpus 1 --algorithm "
                                              "ring --trace resnet50-v1.5 --precision fp32"),
                       1e-8);
    CLI_CELL(rows, 1, "layer", "conv1");
    CLI_NEAR(rows, 1, "ready_measured_s", 63.18e-3, 1e-5);
    CLI_SHOWS("compare resnet50-v1.5-recorded --format json", "\"kinds\": [");
}

Test(cli_layers, files_and_the_picture_are_written)
{
    struct cli_run run =
        cli_good("$AR compare resnet50-v1.5-recorded --out out && cat out/kinds.csv && ls out");
    CLI_HAS(run.out, "\nkind,layers,forward_measured_s,", "\nlayers.svg");
    CLI_LINES(cli_read("out/parameters.csv"), "cost table,v100-sxm2,", 1);
    CLI_HAS(run.err, "resnet50-v1.5-recorded, fp32, batch of 32, computed by cost table v100-sxm2");
}

Test(cli_layers, a_trace_that_names_nothing_to_compute_it_by_is_refused)
{
    static const struct cli_case cases[] = {
        {"compare example-timed", 65, "expected a trace of measured times with directives"},
        {"compare resnet50-v1.5", 65, "found a table of work"},
        {"compare resnet50-v1.5-recorded --cluster flat", 64,
         "found --cluster; expected none with a trace of measured times"},
        {"compare resnet50-v1.5-recorded --algorithm ring", 64, "found --algorithm"},
        {"compare resnet50-v1.5-recorded --engine closed", 64, "or --engine; expected none"},
        {"predict --cluster abci-v100 --gpus 4 --trace resnet50-v1.5 --precision fp8", 64,
         "found fp8; expected fp16, fp32, of which cost table v100-sxm2 speaks"},
    };
    CLI_FAIL_ALL("", cases);
}

/* --- single kernels ------------------------------------------------------------------------ */

#define PRODUCTS  AR_TEST_SOURCE_DIR "/traces/device/products.csv"
#define ATTENTION AR_TEST_SOURCE_DIR "/traces/device/attention.csv"

Test(cli_layers, measured_kernels_have_errors_by_gpu_and_precision)
{
    struct cli_table *rows = cli_rows("compare " PRODUCTS);
    cr_assert_eq(rows->rows_count, 1 + 19);
    CLI_CELL(rows, 1, "gpu", "a100");
    CLI_CELL(rows, 10, "precision", "nvfp4", "count", "18");
    for (size_t i = 1; i < rows->rows_count; i++) {
        double median = cli_number(rows, i, "median_frac");
        cr_expect(median > 0 && median < 0.1 && cli_number(rows, i, "p95_frac") > median);
    }
    CLI_SHOWS("compare " ATTENTION " --format json", "\"kind\": \"attention\", \"count\": 36");
}

Test(cli_layers, kernels_of_an_unknown_gpu_or_with_options_of_predictions_are_refused)
{
    static const struct cli_case cases[] = {
        {"compare k.csv", 66, "k.csv:2: column \"gpu\": unknown device cost table \"h100x\""},
        {"compare " PRODUCTS " --engine closed", 64, "found --algorithm, --engine or --out"},
        {"compare " PRODUCTS " --cluster flat", 64,
         "found --cluster; expected none with a table of measured kernels"},
    };
    cli_write("k.csv", "gpu,precision,m,n,k,time_s\nh100x,bf16,1,1,1,1e-5\n");
    CLI_FAIL_ALL("", cases);
    cli_good("sed -i 's/h100x,bf16/a100,fp8/' k.csv");
    cli_fails(65, "k.csv:2: column \"precision\" is \"fp8\"; expected a precision of ",
              "$AR compare k.csv");
}
