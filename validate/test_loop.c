/* The loop closed on this machine: measured with the backend host, fitted on some rank counts,
 * judged on another. Times are whatever they are: what is checked is that each step works and
 * reports. */
#include <criterion/criterion.h>

#include "../sim/cli/test_cli.h"

#define MEASURE                                                                                    \
    "'" AR_TEST_VALIDATE "' --backend host --algorithms ring,torus2d --repetitions 3 --quiet "

static void enter(void)
{
    cli_enter();
    cli_good(MEASURE "--ranks 2,3,4 --payload 1KiB:512KiB:x8 --out host.csv");
}

TestSuite(loop, .init = enter, .fini = cli_leave);

/* Shapes: 2 ranks are a ring, 1x2 and 2x1; 3 likewise; 4 also 2x2. Sizes: 1, 8, 64, 512 KiB. */
enum { ROWS_FITTED = 2 * 3 * 4, ROWS_HELD_OUT = 4 * 4 };

static void expect_compared(const char *engine)
{
    struct cli_table *rows = cli_rows("compare host.csv --cluster ./mine.topo --engine %s", engine);
    size_t held_out = 0;
    cr_assert_eq(rows->rows_count, 1 + ROWS_FITTED + ROWS_HELD_OUT);
    for (size_t i = 1; i < rows->rows_count; i++) {
        bool is_held_out = cli_number(rows, i, "gpus") == 4;
        held_out += is_held_out;
        cr_expect_gt(cli_number(rows, i, "predicted_s"), 0);
        cr_expect_str_eq(cli_cell(rows, i, "set"), is_held_out ? "held-out" : "fitted", "%s, %zu",
                         engine, i);
    }
    cr_expect_eq(held_out, ROWS_HELD_OUT);
}

Test(loop, measure_calibrate_and_compare)
{
    struct cli_run run = cli_good("$AR calibrate host.csv --cluster host --out mine.topo");
    static const char *const named[] = {"collective.setup", "nvlink.latency", "nvlink.bandwidth",
                                        "gpu.reduce_cost", "residual"};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        cr_expect_eq(cli_lines_with(run.out, named[i]), 1, "%s:\n%s", named[i], run.out);
    }
    cr_expect_eq(cli_lines_with(run.out, "held-out"), 2, "all, and 4 GPUs:\n%s", run.out);
    const char *file = cli_read("mine.topo");
    cr_expect_not_null(strstr(file, "\n# GPUs fitted: 2 3\n# GPUs held out: 4\n"), "%s", file);
    cr_expect_not_null(strstr(file, "\n# measured: host.csv\n"), "%s", file);
    cr_expect_eq(cli_lines_with(file, "; fitted, +-"), 4, "%s", file);
    cr_expect_eq(cli_lines_with(file, "# error, 4 GPUs held out, 16 rows: median "), 1, "%s", file);
    cr_expect_eq(
        cli_lines_with(file, "links.fitted = gpus 2 3 of allreduce/ring allreduce/torus2d ; "), 1,
        "%s", file);
    expect_compared("closed");
    expect_compared("recurrence");
    expect_compared("simgrid");
    cli_good("$AR allreduce --cluster ./mine.topo --gpus 8 --algorithm ring --payload 1MiB");
}

/* Compare predicts a row as it ran: the summary of the closed form is that of calibrate, but for
 * the digits that the file keeps. */
Test(loop, the_file_predicts_what_was_fitted)
{
    struct cli_table *report = cli_rows("calibrate host.csv --cluster host --out mine.topo");
    struct cli_table *table =
        cli_table(cli_good("$AR calibrate host.csv --cluster ./mine.topo --hold-out none "
                           "--format csv | sed 's/^accuracy,*//;s/^kind.*source,//;/^parameter/d'")
                      .out);
    cr_expect_str_eq(cli_cell(table, 1, "set"), "fitted");
    cr_expect_eq(cli_number(table, 1, "rows"), ROWS_FITTED + ROWS_HELD_OUT);
    cli_good("$AR compare host.csv --cluster ./mine.topo --engine closed --out compared");
    struct cli_table *compared = cli_table(cli_read("compared/accuracy.csv"));
    size_t of_fit = cli_row(report, "set", "held-out"),
           of_file = cli_row(compared, "set", "held-out");
    cr_expect_eq(cli_number(report, of_fit, "rows"), ROWS_HELD_OUT);
    cr_expect_float_eq(cli_number(report, of_fit, "median_frac"),
                       cli_number(compared, of_file, "median_frac"), 1e-4);
}

Test(loop, calibrating_again_replaces_what_was_said)
{
    cli_good("$AR calibrate host.csv --cluster host --out first.topo");
    cli_good("$AR calibrate host.csv --cluster ./first.topo --hold-out 2,3 --set nodes=1 "
             "--set gpu.reduce_cost=0s/B --out second.topo");
    const char *file = cli_read("second.topo");
    cr_expect_eq(cli_lines_with(file, "# program: "), 1);
    cr_expect_eq(cli_lines_with(file, "# GPUs fitted: 4"), 1, "%s", file);
    cr_expect_eq(cli_lines_with(file, "gpu.reduce_cost = 0s/B ; --set"), 1, "%s", file);
    cr_expect_eq(
        cli_lines_with(file, "links.fitted = gpus 4 of allreduce/ring allreduce/torus2d ;"), 1,
        "%s", file);
    cr_expect_eq(cli_lines_with(file, "links fitted to 16 rows ;"), 1, "%s", file);
}

/* Rows of the harness made of what a known cluster predicts, on 1, 2 and 4 full nodes. */
static void make_known(const char *path)
{
    cli_good("echo backend,algorithm,shape,channels,ranks,nodes,datatype,element_bytes,"
             "payload_bytes,time_median_s > %s",
             path);
    for (int nodes = 1; nodes <= 4; nodes *= 2) {
        cli_good("$AR allreduce --cluster abci-v100 --set net.latency=20us "
                 "--set hca.bandwidth=5GB/s --set nvlink.latency=2us --gpus %d --algorithm ring "
                 "--channels 2 --precision fp32 --payload 4KiB:64MiB:x4 --engine closed --format "
                 "csv | sed 's/\"[^\"]*\"//' | awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) "
                 "at[$i] = i; next} {print \"mpi,ring,,2,%d,%d,fp32,4,\" $at[\"payload_bytes\"] "
                 "\",\" $at[\"allreduce_s\"]}' >> %s",
                 4 * nodes, 4 * nodes, nodes, path);
    }
}

Test(loop, several_nodes_give_back_the_network_they_were_made_with)
{
    make_known("known.csv");
    struct cli_table *table = cli_rows("calibrate known.csv --cluster abci-v100 --out found.topo");
    static const struct {
        const char *key;
        double value;
    } known[] = {{"net.latency", 20e-6}, {"hca.bandwidth", 5e9}, {"nvlink.latency", 2e-6}};
    for (size_t i = 0; i < 3; i++) {
        size_t row = cli_row(table, "parameter", known[i].key);
        cr_expect_str_eq(cli_cell(table, row, "identified"), "yes", "%s", known[i].key);
        cr_expect_float_eq(cli_number(table, row, "value") / known[i].value, 1, 0.01, "%s: %s",
                           known[i].key, cli_cell(table, row, "value"));
    }
    size_t held_out = cli_row(table, "set", "held-out");
    cr_expect_str_eq(cli_cell(table, held_out + 1, "nodes"), "4");
    cr_expect_lt(cli_number(table, held_out, "worst_frac"), 0.01);
    cr_expect_eq(
        cli_lines_with(cli_read("found.topo"), "links.fitted = nodes 1 2 of allreduce/ring ;"), 1);
    cli_good("$AR compare known.csv --cluster ./found.topo --engine recurrence");
    cli_good("sed 's/^mpi,ring,/mpi,tree,/' known.csv > other.csv");
    const char *out = cli_good("$AR compare other.csv --cluster ./found.topo --engine closed "
                               "--format csv")
                          .out;
    cr_expect(cli_lines_with(out, ",held-out,") > 0 && cli_lines_with(out, ",fitted,") == 0,
              "rows of trees are not those of rings:\n%s", out);
}

Test(loop, bad_input_is_one_line)
{
    cli_good("sed 's/^host,allreduce,ring,/nccl,allreduce,nccl-allreduce,/' host.csv > mixed.csv");
    cli_good("sed 's/ring,2x1,/ring,5x1,/' host.csv > shape.csv");
    cli_good("sed 's/ring,2x1,,1,/ring,2x1,,0,/' host.csv > channels.csv");
    cli_good("sed 's/,fp32,4,/,fp64,16,/' host.csv > elements.csv");
    cli_good("sed 's/^host,allreduce,/host,sendrecv,/' host.csv > sends.csv");
    static const struct cli_case bad[] = {
        {"calibrate mixed.csv --cluster host", 65, "\"library.node_bus\": found nowhere"},
        {"calibrate host.csv --cluster host --set gpus_per_node=2", 65,
         "3 GPUs asked for; expected at most 2"},
        {"calibrate host.csv --cluster flat", 65, "ranks on 1 node; expected equally many"},
        {"calibrate shape.csv --cluster host", 65, "found shape 5x1 of 2 ranks; expected X*Y = 2"},
        {"calibrate channels.csv --cluster host", 65, "0 channels; expected 1 to 32"},
        {"calibrate elements.csv --cluster host", 65, "found elements of 16 bytes"},
        {"calibrate sends.csv --cluster host", 65, "operations that are not modelled"},
        {"calibrate host.csv --cluster host --hold-out 5", 64, "found 5 GPUs, which no log has"},
        {"calibrate host.csv --cluster host --hold-out 2,3,4", 64, "found all GPU counts"},
        {"compare host.csv --cluster host", 64, "with --engine library; expected --engine closed"},
        {"compare host.csv --cluster host --engine closed --algorithm ring", 64, "--algorithm"},
        {"compare host.csv --cluster host --engine closed --channels 2", 64, "--channels"},
    };
    CLI_FAIL_ALL("", bad);
}
