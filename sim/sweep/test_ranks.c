/* Sweeps on several ranks of one machine. */
#include <stdlib.h>
#include <unistd.h>

#include "test_cli.h"

#define STEP    "--cluster cluster.topo --trace resnet50-v1.5"
#define OPTIONS "sweep " STEP " --gpus 4:32:x2 --batch 16,32 --engine recurrence --payload 1MB "

/* `$RUN -n 3 $AR` starts three ranks, as root too and on fewer processors. */
static void enter(void)
{
    static const char *const settings[][2] = {
        {"RUN", "timeout -k 10 100 " AR_TEST_MPIEXEC}, /* a launcher may ignore the first signal */
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
        {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}, /* containers forbid it */
        {"OMPI_MCA_plm", "isolated"},                         /* no ssh */
        {"HWLOC_HIDE_ERRORS", "2"},                           /* that /sys is not mounted */
        {"ASAN_OPTIONS", "detect_leaks=0"},                   /* MPI leaks */
    };
    cli_enter();
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        cr_assert_eq(setenv(settings[i][0], settings[i][1], 1), 0);
    }
}

TestSuite(ranks, .init = enter, .fini = cli_leave);

Test(ranks, three_ranks_give_the_files_and_the_output_of_one_process)
{
    struct cli_run one = cli_good("$AR " OPTIONS "--out one --format csv");
    struct cli_run three = cli_run("$RUN -n 3 $AR " OPTIONS "--out three --format csv");
    cr_assert_eq(three.code, 0, "%s", three.err);
    cli_expect_same_table(cli_table(three.out), cli_table(one.out));
    cli_expect_same_table(cli_table(cli_read("three/sweep.csv")),
                          cli_table(cli_read("one/sweep.csv")));
    cli_expect_same_table(cli_table(cli_read("three/payload.csv")),
                          cli_table(cli_read("one/payload.csv")));
    CLI_LINES(three.err, "combinations of options", 1);
    cr_expect_neq(access("three/sweep.journal", F_OK), 0);
}

/* Three long points: a rank, a worker and a simulation for each. They are told from the
 * processes of other tests by the directory they work in. */
Test(ranks, every_rank_computes)
{
    struct cli_run run = cli_run(
        "$RUN -n 3 $AR sweep " STEP " --gpus 2048 --algorithms ring --batch 16,32,64 --engine "
        "simgrid --baseline gpu --jobs 1 >/dev/null 2>&1 & "
        "for i in $(seq 600); do n=0; for p in /proc/[0-9]*; do "
        "[ $p/cwd -ef . ] && [ $p/exe -ef $AR ] && n=$((n + 1)); done; "
        "[ $n -eq 9 ] && break; sleep 0.1; done; echo $n; kill -TERM $!; wait $!");
    cr_expect_eq(atoi(run.out), 9);
}

Test(ranks, a_sweep_that_one_process_began_goes_on)
{
    struct cli_run full =
        cli_run("trap '' XFSZ; (ulimit -f 8; $AR " OPTIONS "--out o --quiet 2>&1; exit 74)");
    cr_assert_not_null(strstr(full.out, "rows are kept, --resume goes on"), "%s", full.out);
    struct cli_run rest = cli_run("$RUN -n 2 $AR " OPTIONS "--out o --format csv --resume");
    cr_assert_eq(rest.code, 0, "%s", rest.err);
    CLI_LINES(rest.err, " rows are there, ", 1);
    CLI_LINES(rest.err, "note: 0 of", 0);
    struct cli_run one = cli_good("$AR " OPTIONS "--out one --format csv");
    cli_expect_same_table(cli_table(rest.out), cli_table(one.out));
}

/* The large point would take minutes, and its worker is ended after 2 s of them. */
Test(ranks, a_worker_that_dies_costs_a_row_and_not_the_job)
{
    struct cli_run run =
        cli_run("(ulimit -t 2; $RUN -n 2 $AR sweep " STEP " --gpus 4:16:x2,4096 --algorithms ring "
                "--engine recurrence --jitter 0.03 --iterations 2000 --baseline gpu --out o)");
    struct cli_table *table = cli_table(cli_read("o/sweep.csv"));
    cr_expect_eq(run.code, 70, "%s", run.err);
    CLI_LINES(run.err,
              "1 of 4 points failed; the first, ring on 4096 GPUs: the "
              "worker process ended with signal ",
              1);
    cr_assert_eq(table->rows_count, 5);
    for (size_t i = 1; i < 4; i++) {
        cr_expect_str_eq(cli_cell(table, i, "status"), "ok");
    }
    cr_expect_eq(access("o/sweep.journal", F_OK), 0, "kept for --resume");
}

Test(ranks, an_interrupted_job_keeps_its_journal)
{
    cli_run("$RUN -n 2 $AR sweep " STEP " --gpus 4,1024 --algorithms ring --engine simgrid "
            "--baseline gpu --out o & for i in $(seq 400); do sleep 0.05; "
            "grep -q '^0,abci' o/sweep.journal 2>/dev/null && break; done; kill -TERM $!; wait $!");
    CLI_LINES(cli_read("o/sweep.journal"), "0,abci", 1);
    cr_expect_neq(access("o/sweep.csv", F_OK), 0);
}

Test(ranks, what_is_wrong_is_said_once)
{
    static const struct cli_case rows[] = {
        {"sweep " STEP " --gpus 4x", 64, "allreckon: --gpus: found \"4x\""},
        {"sweep " STEP " --gpus 4 --out /dev/null", 74, "/dev/null: found a file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_run run = cli_run("$RUN -n 2 $AR %s", rows[i].line);
        cr_expect_eq(run.code, rows[i].code, "%s: %d, %s", rows[i].line, run.code, run.err);
        cr_expect_eq(cli_lines_with(run.err, rows[i].fragment), 1, "%s: %s", rows[i].line, run.err);
        cr_expect_str_empty(run.out);
    }
}

Test(ranks, ranks_with_different_sweeps_are_refused)
{
    struct cli_run run =
        cli_run("$RUN -n 1 $AR " OPTIONS "--out o : -n 1 $AR " OPTIONS "--window 4 --out o");
    cr_expect_eq(run.code, 65, "%s", run.err);
    CLI_LINES(run.err, "found another sweep than rank 0 on ", 1);
    run = cli_run("$RUN -n 1 $AR " OPTIONS "--out o : -n 1 $AR " OPTIONS "--window 0 --out o");
    cr_expect_eq(run.code, 64, "%s", run.err);
    CLI_LINES(run.err, "allreckon: rank 1 on ", 1);
    cr_expect_neq(access("o", F_OK), 0, "nothing was made");
}

Test(ranks, other_commands_run_once)
{
    struct cli_run one = cli_good("$AR predict " STEP " --gpus 8 --algorithm ring");
    struct cli_run three = cli_run("$RUN -n 3 $AR predict " STEP " --gpus 8 --algorithm ring");
    cr_expect_eq(three.code, 0, "%s", three.err);
    cr_expect_str_eq(three.out, one.out);
    cr_expect_str_eq(cli_run("$RUN -n 3 $AR sweep --help").out, cli_good("$AR sweep --help").out);
}

Test(ranks, a_launcher_that_mpi_does_not_know_is_refused)
{
    static const char line[] = "$AR " OPTIONS;
    struct cli_run run = cli_run("env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 %s", line);
    cli_expect_error(&run, line, 64, "found 4 ranks by the launcher and 1 by MPI");
    run = cli_run("env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 %s", line);
    cr_expect_eq(run.code, 64);
    cr_expect_str_empty(run.err, "%s", run.err);
    cli_good("env SLURM_PROCID=0 SLURM_NTASKS=4 %s", line);
}
