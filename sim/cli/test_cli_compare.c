/* compare, and what calibrate and compare refuse. */
#include <unistd.h>

#include "test_cli.h"

static void enter_compare(void)
{
    cli_enter_measured();
    cli_good("$AR calibrate abci.csv --cluster abci-v100 --out fitted.topo");
}

TestSuite(cli_compare, .init = enter_compare, .fini = cli_leave);

Test(cli_compare, rows_are_what_the_engine_predicts_and_errors_what_they_are_called)
{
    struct cli_table *rows = cli_rows("compare abci.csv --cluster fitted.topo");
    cr_assert_eq(rows->rows_count, 1 + 96);
    for (size_t i = 1; i < rows->rows_count; i++) {
        double measured_s = cli_number(rows, i, "measured_s");
        double predicted_s = cli_number(rows, i, "predicted_s");
        CLI_NEAR(rows, i, "error_frac", predicted_s / measured_s - 1, 1e-7);
        CLI_NEAR(rows, i, "tuning_error_frac", cli_number(rows, i, "tuning_s") / measured_s - 1,
                 1e-7);
        cr_expect_lt(cli_number(rows, i, "low_s"), predicted_s);
        cr_expect_gt(cli_number(rows, i, "high_s"), predicted_s);
        CLI_CELL(rows, i, "set", cli_number(rows, i, "nodes") == 8 ? "held-out" : "fitted");
    }
    struct cli_table *engine =
        cli_rows("allreduce --cluster fitted.topo --algorithm auto --engine library --gpus 32 "
                 "--payload 4B:32MiB:x2");
    cr_assert_eq(engine->rows_count, 1 + 24);
    for (size_t i = 1; i < engine->rows_count; i++) { /* 8 nodes are the last 24 rows */
        CLI_CELL(engine, i, "allreduce_s", cli_cell(rows, 72 + i, "predicted_s"));
        CLI_SAME(engine, i, rows, 72 + i, "low_s");
    }
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
    CLI_LINES(compared, "held-out", 2);
    cr_expect_str_eq(compared, calibrated);
}

Test(cli_compare, other_engines_are_compared_too_without_a_band, CLI_NO_NEW_CODE)
{
    struct cli_table *rows = cli_rows("compare abci.csv --cluster abci-v100 --engine recurrence "
                                      "--algorithm ring");
    struct cli_table *engine = cli_rows("allreduce --cluster abci-v100 --algorithm ring --gpus 32 "
                                        "--payload 32MiB");
    cr_assert_eq(rows->rows_count, 1 + 96);
    CLI_CELL(rows, 96, "predicted_s", cli_cell(engine, 1, "allreduce_s"), "low_s", "", "choice",
             "ring 32x1", "set", "held-out");
}

Test(cli_compare, pictures_lie_beside_their_data, CLI_NO_NEW_CODE)
{
    cli_need_gnuplot();
    cli_good("$AR compare abci.csv --cluster fitted.topo --out deep/er --format json");
    cr_expect_str_eq(cli_good("ls -A deep/er | tr '\\n' ' '").out,
                     "accuracy.csv command.txt compare.csv compare_error.gp compare_error.png "
                     "compare_error.svg compare_time.gp compare_time.png compare_time.svg "
                     "parameters.csv ");
    CLI_HAS(cli_read("deep/er/compare_time.svg"), "32 GPUs (8 nodes), held out",
            "cluster fitted, predicted by engine library", "time of one all-reduce (us)");
}

/* A file is of the set whose name it has; rows that the set does not have are held out. */
Test(cli_compare, a_measured_set_has_its_cluster_and_its_fit)
{
    cli_good("sed '/^8,32,1024,/s/1024/1536/' " CLI_MEASURED
             " > abci_v100_nccl2.8.4_allreduce.csv");
    struct cli_run run = cli_good("$AR compare abci_v100_nccl2.8.4_allreduce.csv --format csv");
    CLI_HAS(run.err, "--cluster abci-v100, fitted to");
    CLI_COUNTS(run.out, {",", 97}, {"held-out", 1});
    CLI_LINES(cli_good("$AR list sets").out, "--cluster abci-v100 --engine library: AIST", 1);
}

#define OWN                                                                                        \
    "backend,operation,algorithm,channels,ranks,nodes,datatype,element_bytes,payload_bytes,"       \
    "time_median_s\n"

/* Sends around the ranks are no collective here; the error says so. NCCL chooses how nccl- runs. */
Test(cli_compare, rows_of_the_harness_are_calls_messages_or_named_as_not_modelled)
{
    cli_write("own.csv", OWN "nccl,allgather,nccl-allgather,1,16,4,fp32,4,64,1e-5\n"
                             "nccl,sendrecv,nccl-sendrecv,1,16,4,fp32,4,64,1e-5\n"
                             "nccl,sendrecv,nccl-sendrecv,1,16,4,fp32,4,128,1e-5\n");
    struct cli_run run = cli_good("$AR compare own.csv --cluster abci-v100 --engine nccl");
    CLI_HAS(run.err, "2 rows not used (first own.csv:3, send-receive on 16 ranks): of operations "
                     "that are not modelled");
    CLI_HAS(run.out, "allgather", "ring/");
    CLI_LACKS(run.err, "called.csv");
    cli_write("own.csv", OWN "host,send,message,1,2,1,fp32,4,64,1e-5\n");
    CLI_SHOWS("compare own.csv --cluster host --engine recurrence", "message");
}

/* Sets with which nothing was chosen, and all; a sum that is the same for all sets has no line. */
Test(cli_compare, accuracy_sums_up_sets_with_and_without_those_that_were_seen)
{
    static const char *const lines[][4] = {{"abci_v100_nccl_allreduce", "no", "64", "32"},
                                           {"mn5_h100_nccl_ring", "yes", "24", "3"},
                                           {"mn5_h100_nccl_tree", "yes", "24", "3"},
                                           {"all_unseen", "", "48", "6"},
                                           {"all", "", "112", "38"}};
    enum { LINES = sizeof lines / sizeof lines[0] };
    cli_good("mkdir d; $AR accuracy abci_v100_nccl_allreduce mn5_h100_nccl_ring mn5_h100_nccl_tree "
             "--format csv > d/sets.csv");
    struct cli_table *rows = cli_table(cli_read("d/sets.csv"));
    cr_assert_eq(rows->rows_count, 1 + LINES);
    for (size_t i = 0; i < LINES; i++) {
        CLI_CELL(rows, i + 1, "set", lines[i][0], "unseen", lines[i][1], "rows", lines[i][2],
                 "not_used", lines[i][3]);
    }
    CLI_CELL(rows, 1, "not_used_why", "32 of less than 1 KiB", "held_out_rows", "16",
             "fitted_nodes", "1 2 4", "held_out_nodes", "8");
    cr_expect_str_neq(cli_cell(rows, 1, "seen"), "", "what was chosen with its rows in sight");
    cr_expect_lt(cli_number(rows, 1, "fit_median_frac"),
                 cli_number(rows, 1, "zero_shot_median_frac"));
    cr_expect_gt(cli_number(rows, 1, "held_out_median_frac"), 0);
    CLI_LINES(cli_good("$AR report d").out, "For 1 of the sets, rows that test the model", 1);
}

/* --- calibrate_bad ---------------------------------------------------------------------------- */

static void enter_damaged(void)
{
    cli_enter_measured();
    cli_good("(cd '" AR_TEST_SOURCE_DIR "/traces/logs/fixtures' && "
             "cp nccl-*.txt osu-*.txt harness*.csv \"$OLDPWD\")");
    cli_good("$AR calibrate abci.csv --cluster abci-v100 --out fitted.topo");
    /* Damaged copies of the measurements. */
    cli_good("sed 's/^8,32,/8,33,/' abci.csv > ranks.csv");
    cli_good("sed 's/^8,32,/2000,8000,/' abci.csv > many.csv");
    cli_good("grep -v ^library cluster.topo > bare.topo");
    cli_good("awk -F, '/^[0-9]/ {$4 = 1e6 / (1 + $3)} {print}' OFS=, abci.csv > garbage.csv");
    cli_good("sed 's/A100/H100/' nccl-13-root.txt > other-gpu.txt");
}

TestSuite(cli_calibrate_bad, .init = enter_damaged, .fini = cli_leave);

#define FIT "--cluster abci-v100 --out x.topo"

Test(cli_calibrate_bad, what_cannot_be_fitted_or_compared_is_one_line)
{
    static const struct cli_case rows[] = {
        {"calibrate " FIT, 64, "calibrate: found 0 arguments; expected LOG"},
        {"calibrate nowhere.log " FIT, 66, "nowhere.log: No such file"},
        {"compare nccl-12-all-to-all.txt --cluster abci-v100 --engine closed --algorithm ring", 65,
         "found rows of alltoall; expected those of an operation with"},
        {"calibrate cluster.topo " FIT, 65, "cluster.topo:"},
        {"calibrate abci.csv abci.csv " FIT, 64, "found log \"abci.csv\" twice; expected once"},
        {"calibrate nccl-13-sendrecv.txt " FIT, 65,
         "found operations that are not modelled: send-receive; expected"},
        {"calibrate nccl-17-alltoall.txt --cluster dgx-h100 --out x.topo", 65,
         "found 8 ranks on 2 nodes of 8 GPUs; expected full nodes (--set gpus_per_node=4 --set "
         "pcie.switches=4 --set hcas=4?)"},
        {"calibrate nccl-three-runs.txt " FIT, 65, ":61: found GPU \"Tesla V100"},
        {"calibrate osu-allreduce.txt " FIT, 65, "does not say how many ranks"},
        {"calibrate ranks.csv " FIT, 65, "found 33 ranks on 8 nodes; expected equally many"},
        {"calibrate many.csv " FIT, 65, "found 2000 nodes; expected at most 1088"},
        {"calibrate garbage.csv " FIT, 65, "fit: found a residual of"},
        {"calibrate harness-other-order.csv " FIT " --quiet", 65,
         "found algorithms that are not modelled: ring; expected calls of a library"},
        {"calibrate nccl-13-root.txt other-gpu.txt " FIT, 65, "as in the runs before"},
        {"calibrate nccl-13-root.txt", 64, "of the rows, whose GPUs are NVIDIA "},
        {"calibrate abci.csv --cluster ./bare.topo", 65,
         "key \"library.node_bus\": found nowhere; expected the rate of NCCL"},
        {"calibrate abci.csv " FIT " --hold-out 3", 64, "found 3 nodes, which no log has"},
        {"calibrate abci.csv " FIT " --hold-out 1,2,4,8", 64, "expected some left to fit"},
        {"calibrate abci.csv --cluster abci-v100 --out x", 64, "\"x\"; expected NAME.topo"},
        {"calibrate abci.csv --cluster ./cluster.topo --out ./cluster.topo", 64,
         "the cluster that is calibrated; expected another file"},
        {"compare abci.csv", 64,
         "option --cluster is missing (abci.csv is a file of none of the measured sets"},
        {"compare abci_v100_nccl2.8.4_allreduce.csv --engine nccl", 64,
         "found --engine without --cluster"},
        {"accuracy nowhere", 66, "unknown set \"nowhere\""},
        {"compare abci.csv --cluster fitted.topo --engine closed --algorithm auto", 64,
         "engine closed makes no choice"},
    };
    CLI_FAIL_ALL("", rows);
}

/* Neither file is there alone. */
Test(cli_calibrate_bad, one_of_the_two_files_cannot_be_written)
{
    cli_good("mkdir -p a/x.library.csv b/x.topo");
    cli_fails(74, "a/x.library.csv: cannot write",
              "$AR calibrate abci.csv --cluster abci-v100 --out a/x.topo");
    cli_fails(74, "b/x.topo: cannot write",
              "$AR calibrate abci.csv --cluster abci-v100 --out b/x.topo");
    cr_expect_str_eq(cli_good("find a b -type f").out, "");
}

#define CALL "--gpus 8 --payload 1MiB --engine library --algorithm "

Test(cli_calibrate_bad, the_engine)
{
    static const struct cli_case rows[] = {
        {"allreduce --cluster abci-v100 " CALL "auto", 64,
         "has no library.cost_table; expected a cluster from 'allreckon calibrate"},
        {"predict --cluster flat --workload mixtral-8x7b --attention unfused --mesh ep=8 "
         "--global-batch 8 --engine library",
         64, "engine library: cluster flat has no library.cost_table"},
        {"send --cluster dgx-h100 " CALL "auto", 64, "sends as messages and has no price of"},
        {"allreduce --cluster dgx-h100 --check " CALL "auto", 64, "engine simgrid makes no choice"},
        {"allreduce --cluster fitted.topo --set library.release=2.5.6 " CALL "auto", 65,
         "library.release: found 2.5.6; expected 2.8.4, with which the table fitted"},
        {"allreduce --cluster fitted.topo --shape 2x4 " CALL "auto", 64, "expected Nx1"},
        {"export --format chrome-trace --cluster fitted.topo --algorithm ring --engine library "
         "--gpus 8 --trace trace.csv",
         64, "export: --engine: found library"},
        {"verify --algorithms auto --gpus 4", 64, "unknown algorithm \"auto\""},
        {"allreduce --cluster fitted.topo --set library.net_bus=50GB/s " CALL "auto", 65,
         "library.net_bus: found 50 GB/s; expected 24 GB/s, with which the table fitted"},
        {"allreduce --cluster fitted.topo --set library.cost_table=nowhere " CALL "auto", 66,
         ": library.cost_table: unknown library cost table \"nowhere\""},
    };
    CLI_FAIL_ALL("", rows);
}

/* Rows of our own rings: an awk expression of the time in seconds. */
static void write_own(const char *time)
{
    cli_good("{ echo "
             "backend,algorithm,shape,channels,ranks,nodes,datatype,element_bytes,payload_bytes,"
             "repetitions,time_median_s,time_min_s,time_p10_s,time_p90_s,wrong,tier; "
             "for ranks in 2 3 4; do for kib in 4 32 256 2048; do echo $kib $ranks; done; done | "
             "awk '{k = $1; t = sprintf(\"%%.17g\", %s); print \"host,ring,\" $2 \"x1,1,\" $2 "
             "\",1,fp32,4,\" k * 1024 \",20,\" t \",\" t \",\" t \",\" t \",0,\"}'; } > own.csv",
             time);
}

Test(cli_calibrate_bad, degenerate_rows_are_refused_in_one_line_and_leave_no_file)
{
    static const char *const rows[][2] = {
        {"k * 1e-302", "fit: no start of 8 converged on 8 rows"},
        {"1e300", "fit: "},
        {"NR % 2 ? 1e-300 : 1e300", "fit: "},
        {"NR % 2 ? 1e-9 : 1e6", "fit: "},
        {"1e15", "fit: no start of 8 converged on 8 rows"},
        {"2e3 + k", "own.topo: not written: no machine has the fitted numbers: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_own(rows[i][0]);
        cli_fails(65, rows[i][1], "$AR calibrate own.csv --cluster host --out own.topo");
        cr_expect_neq(access("own.topo", F_OK), 0, "%s", rows[i][0]);
    }
    write_own("1e15");
    cli_fails(65, "fit: no start of 8 converged on",
              "$AR calibrate own.csv --cluster host --hold-out none");
}
