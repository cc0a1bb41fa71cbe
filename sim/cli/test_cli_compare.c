/* compare: rows, summary, pictures. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

static void enter(void)
{
    cli_enter_measured();
    cli_good("$AR calibrate abci.csv --cluster abci-v100 --out fitted.topo");
}

TestSuite(cli_compare, .init = enter, .fini = cli_leave);

Test(cli_compare, rows_are_what_the_engine_predicts_and_errors_what_they_are_called)
{
    struct cli_table *rows = cli_rows("compare abci.csv --cluster fitted.topo");
    cr_assert_eq(rows->rows_count, 1 + 96);
    for (size_t i = 1; i < rows->rows_count; i++) {
        double measured_s = cli_number(rows, i, "measured_s");
        double predicted_s = cli_number(rows, i, "predicted_s");
        cr_expect_float_eq(cli_number(rows, i, "error_frac"), predicted_s / measured_s - 1, 1e-7);
        cr_expect_float_eq(cli_number(rows, i, "tuning_error_frac"),
                           cli_number(rows, i, "tuning_s") / measured_s - 1, 1e-7);
        cr_expect_lt(cli_number(rows, i, "low_s"), predicted_s);
        cr_expect_gt(cli_number(rows, i, "high_s"), predicted_s);
        cr_expect_str_eq(cli_cell(rows, i, "set"),
                         cli_number(rows, i, "nodes") == 8 ? "held-out" : "fitted");
    }
    struct cli_table *engine =
        cli_rows("allreduce --cluster fitted.topo --algorithm auto --engine library --gpus 32 "
                 "--payload 4B:32MiB:x2");
    cr_assert_eq(engine->rows_count, 1 + 24);
    for (size_t i = 1; i < engine->rows_count; i++) { /* 8 nodes are the last 24 rows */
        cr_expect_str_eq(cli_cell(engine, i, "allreduce_s"), cli_cell(rows, 72 + i, "predicted_s"));
        cr_expect_str_eq(cli_cell(engine, i, "low_s"), cli_cell(rows, 72 + i, "low_s"));
    }
}

/* At 80 places there is none for them, at 95 for the band. */
Test(cli_compare, a_narrow_table_has_both_ends_of_a_band_or_none)
{
    static const struct {
        const char *options;
        bool has_band, has_own;
    } rows[] = {{"", false, false},
                {"COLUMNS=95", true, false},
                {"COLUMNS=200", true, true},
                {"COLUMNS=20 ARGS='--columns all'", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *table = cli_good("unset COLUMNS; export %s; $AR compare abci.csv --cluster "
                                     "fitted.topo $ARGS",
                                     rows[i].options)
                                .out;
        cr_expect_eq(strstr(table, "  low  ") != NULL, rows[i].has_band, "%s", table);
        cr_expect_eq(strstr(table, "  high  ") != NULL, rows[i].has_band, "%s", table);
        cr_expect_eq(strstr(table, "NCCL's own  error") != NULL, rows[i].has_own, "%s", table);
    }
    CLI_HAS(cli_good("$AR compare abci.csv --cluster fitted.topo --format csv --columns "
                     "nodes,high_s")
                .out,
            "nodes,high_s\n1,");
}

/* Calibrate judges by the same rows. */
Test(cli_compare, the_summary_is_that_of_calibrate)
{
    const char *calibrated = cli_good("$AR calibrate abci.csv --cluster abci-v100 | sed -n "
                                      "'/^rows/,$p'")
                                 .out;
    const char *compared = cli_good("$AR compare abci.csv --cluster fitted.topo | sed -n "
                                    "'/^rows/,$p'")
                               .out;
    cr_expect_eq(cli_lines_with(compared, "held-out"), 2, "%s", compared);
    cr_expect_str_eq(compared, calibrated);
}

Test(cli_compare, other_engines_are_compared_too_without_a_band)
{
    struct cli_table *rows = cli_rows("compare abci.csv --cluster abci-v100 --engine recurrence "
                                      "--algorithm ring");
    struct cli_table *engine = cli_rows("allreduce --cluster abci-v100 --algorithm ring --gpus 32 "
                                        "--payload 32MiB");
    cr_assert_eq(rows->rows_count, 1 + 96);
    cr_expect_str_eq(cli_cell(rows, 96, "predicted_s"), cli_cell(engine, 1, "allreduce_s"));
    cr_expect_str_eq(cli_cell(rows, 96, "low_s"), "");
    cr_expect_str_eq(cli_cell(rows, 96, "choice"), "ring 32x1");
    cr_expect_str_eq(cli_cell(rows, 96, "set"), "held-out");
}

Test(cli_compare, pictures_lie_beside_their_data)
{
    if (cli_run("command -v gnuplot").code != 0) {
        cr_skip_test("gnuplot is not there");
    }
    struct cli_run run =
        cli_good("$AR compare abci.csv --cluster fitted.topo --out deep/er --format json");
    cr_expect_eq(cli_lines_with(run.out, "\"measured_s\""), 96);
    cr_expect_str_eq(cli_good("ls -A deep/er | tr '\\n' ' '").out,
                     "accuracy.csv command.txt compare.csv compare_error.gp compare_error.png "
                     "compare_error.svg compare_time.gp compare_time.png compare_time.svg "
                     "parameters.csv ");
    const char *picture = cli_read("deep/er/compare_time.svg");
    CLI_HAS(picture, "32 GPUs (8 nodes), held out");
    CLI_HAS(picture, "cluster fitted, predicted by engine library");
    CLI_HAS(picture, "time of one all-reduce (us)");
    /* The script draws the same picture again by itself. */
    cli_good("cd deep/er && cp compare_error.svg kept && gnuplot compare_error.gp && cmp kept "
             "compare_error.svg");
    cr_expect_eq(cli_table(cli_read("deep/er/accuracy.csv"))->rows_count, 1 + 4 + 2);
}

/* A file is of the set whose name it has; rows that the set does not have are held out. */
Test(cli_compare, a_measured_set_has_its_cluster_and_its_fit)
{
    cli_good("sed '/^8,32,1024,/s/1024/1536/' " CLI_MEASURED
             " > abci_v100_nccl2.8.4_allreduce.csv");
    struct cli_run run = cli_run("$AR compare abci_v100_nccl2.8.4_allreduce.csv --format csv");
    cr_expect(run.code == 0 && strstr(run.err, "--cluster abci-v100, fitted to") != NULL, "%s",
              run.err);
    cr_expect_eq(cli_lines_with(run.out, ","), 97);
    cr_expect_eq(cli_lines_with(run.out, "held-out"), 1);
    cr_expect_eq(
        cli_lines_with(cli_good("$AR list sets").out, "--cluster abci-v100 --engine library: AIST"),
        1);
}

/* What was held out is what calibrate holds out, but for sizes below 1 KiB. */
Test(cli_compare, accuracy_has_three_estimates_of_a_set)
{
    struct cli_table *rows = cli_rows("accuracy abci_v100_nccl2.8.4_allreduce");
    struct cli_table *held_out = cli_table(
        cli_good("sed '/^[0-9]*,[0-9]*,[0-9]\\{1,3\\},/{/^8/d}' abci.csv > large.csv; $AR compare "
                 "large.csv --cluster fitted.topo --format csv | grep held-out")
            .out);
    cr_assert_eq(rows->rows_count, 1 + 1);
    cr_expect_eq(cli_number(rows, 1, "rows"), 64);
    cr_expect_eq(cli_number(rows, 1, "not_used"), 32);
    cr_expect_str_eq(cli_cell(rows, 1, "not_used_why"), "32 of less than 1 KiB");
    cr_expect_eq(cli_number(rows, 1, "held_out_rows"), 16);
    cr_expect_str_eq(cli_cell(rows, 1, "fitted_nodes"), "1 2 4");
    cr_expect_str_eq(cli_cell(rows, 1, "unseen"), "no");
    cr_expect_str_neq(cli_cell(rows, 1, "seen"), "", "what was chosen with its rows in sight");
    cr_expect_str_eq(cli_cell(rows, 1, "held_out_nodes"), "8");
    cr_expect_eq(held_out->rows_count, 16);
    cr_expect_lt(cli_number(rows, 1, "fit_median_frac"),
                 cli_number(rows, 1, "zero_shot_median_frac"));
    cr_expect_gt(cli_number(rows, 1, "held_out_median_frac"), 0);
}

/* Sends around the ranks are no collective here: that is what is said of them. */
Test(cli_compare, rows_of_what_is_not_modelled_are_named)
{
    cli_write("sends.csv", "collective,gpus,nodes,payload_bytes,time_us\n"
                           "all_reduce,16,4,1048576,300\n"
                           "sendrecv,16,4,1048576,100\nsendrecv,16,4,2097152,200\n");
    struct cli_run run = cli_good("$AR compare sends.csv --cluster abci-v100 --engine nccl");
    CLI_HAS(run.err, "2 rows not used (first sends.csv:3, send-receive on 16 ranks): of operations "
                     "that are not modelled");
    CLI_LACKS(run.err, "called.csv");
}

/* Those that nothing was chosen with, and all; what is the same for all sets has no line. */
Test(cli_compare, accuracy_sums_up_sets_with_and_without_those_that_were_seen)
{
    static const struct {
        const char *set, *unseen;
        int rows, not_used;
    } lines[] = {{"abci_v100_nccl_allreduce", "no", 64, 32},
                 {"mn5_h100_nccl_ring", "yes", 24, 3},
                 {"mn5_h100_nccl_tree", "yes", 24, 3},
                 {"all_unseen", "", 48, 6},
                 {"all", "", 112, 38}};
    enum { LINES = sizeof lines / sizeof lines[0] };
    cli_good("mkdir d; $AR accuracy abci_v100_nccl_allreduce mn5_h100_nccl_ring mn5_h100_nccl_tree "
             "--format csv > d/sets.csv");
    struct cli_table *rows = cli_table(cli_read("d/sets.csv"));
    cr_assert_eq(rows->rows_count, 1 + LINES);
    for (size_t i = 0; i < LINES; i++) {
        cr_expect_str_eq(cli_cell(rows, i + 1, "set"), lines[i].set);
        cr_expect_str_eq(cli_cell(rows, i + 1, "unseen"), lines[i].unseen);
        cr_expect_eq(cli_number(rows, i + 1, "rows"), lines[i].rows);
        cr_expect_eq(cli_number(rows, i + 1, "not_used"), lines[i].not_used);
    }
    cr_expect_eq(
        cli_lines_with(cli_good("$AR report d").out, "For 1 of the sets, rows that test the model"),
        1);
}
