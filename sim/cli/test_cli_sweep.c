/* Sweeps: their rows, their axes, their files, and what becomes of them when something breaks. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_sweep, .init = cli_enter, .fini = cli_leave);

#define STEP  "--cluster abci-v100 --trace resnet50-v1.5"
#define WALKS "--algorithms ring,hierarchical,torus2d,tree"

/* The ring may come before or after it, or not at all. */
Test(cli_sweep, a_torus_of_one_column_has_the_row_of_its_own)
{
    static const char *const algorithms[] = {"ring,torus2d", "torus2d,ring", "torus2d"};
    struct cli_table *one = cli_rows("predict " STEP " --gpus 8 --algorithm torus2d --shape 1x8 "
                                     "--jitter 0.05 --iterations 3");
    for (size_t i = 0; i < 3; i++) {
        struct cli_run run = cli_good("$AR sweep " STEP " --gpus 8 --algorithms %s --jitter 0.05 "
                                      "--iterations 3 --format csv",
                                      algorithms[i]);
        struct cli_table *sweep = cli_table(run.out);
        CLI_LINES(run.out, ",1x8,", 1);
        cli_expect_same_row(sweep, cli_row(sweep, "shape", "1x8"), one, 1);
    }
}

/* GPU counts and shapes that are listed twice have one row. */
Test(cli_sweep, best_prints_the_fastest_row_of_each_count_and_files_hold_all)
{
    struct cli_table *best = cli_rows("sweep " STEP " " WALKS ",ring --gpus 8,64,8 --engine "
                                      "recurrence --best --out all");
    struct cli_table *all = cli_table(cli_read("all/sweep.csv"));
    cr_assert_eq(best->rows_count, 3);
    cr_assert_eq(all->rows_count, 1 + 2 + 2 + 2 + 4 + 7, "rings, groups twice, all grids");
    for (size_t i = 1; i < all->rows_count; i++) {
        size_t row = strcmp(cli_cell(all, i, "gpus"), "8") == 0 ? 1 : 2;
        cr_expect_leq(cli_number(best, row, "iteration_s"), cli_number(all, i, "iteration_s"));
    }
}

Test(cli_sweep, stdout_that_cannot_be_written_is_an_error)
{
    static const char *const lines[] = {"list",
                                        "--help",
                                        "--version",
                                        "allreduce --cluster flat --gpus 4 --payload 1MB",
                                        "predict " STEP " --gpus 4 --algorithm ring",
                                        "explain " STEP " --gpus 4 --algorithm ring",
                                        "sweep " STEP " --gpus 4 --engine closed --out o",
                                        "train example --engine closed",
                                        "export --cluster flat --gpus 4 --format simgrid-xml",
                                        "verify --gpus 4"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cli_stops(74, "stdout: cannot write: No space left", "$AR %s >/dev/full", lines[i]);
        cli_stops(74, "stdout: cannot write: Bad file descriptor", "$AR %s >&-", lines[i]);
    }
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->columns_count, 82, "the file is whole");
}

Test(cli_sweep, closed_streams_do_not_become_files, CLI_NO_NEW_CODE)
{
    cr_expect_eq(cli_run("$AR export --cluster flat --gpus 4 --format simgrid-xml --out p.xml <&- "
                         ">&- 2>&-")
                     .code,
                 0);
    CLI_LINES(cli_read("p.xml"), "</platform>", 1);
    cr_expect_eq(cli_run("$AR predict " STEP " --gpus 4 --algorithm ring <&- 2>&-").code, 0);
    cr_expect_eq(cli_run("$AR predict --gpus 0 2>&-").code, 64);
}

Test(cli_sweep, a_disk_that_fills_up_leaves_no_platform)
{
    static const char line[] =
        "export --cluster abci-v100 --gpus 64 --format simgrid-xml --out p.xml";
    cli_fails(74, "cannot write: File too large",
              "trap '' XFSZ; (ulimit -f 4; $AR %s 2>&1 | cat >&2; exit 74)", line);
}

Test(cli_sweep, a_limit_on_files_or_processes_is_one_line)
{
    struct cli_run run = cli_run("(ulimit -n 4; $AR sweep " STEP " --gpus 4 --quiet)");
    cr_expect(run.code == 70 || run.code == 71, "exit code %d, %s", run.code, run.err);
    CLI_COUNTS(run.err, {"", 1}, {"Too many open files", 1});
    run = cli_run("(ulimit -n 12; $AR sweep " STEP " --gpus 4:16:x2 --engine closed --quiet --jobs "
                  "64 --format csv)");
    cr_expect_eq(run.code, 0, "fewer jobs than asked for are no error: %s", run.err);
}

/* --- axes ------------------------------------------------------------------------------------- */

TestSuite(cli_axes, .init = cli_enter, .fini = cli_leave);

#define SWEEP "$AR sweep " STEP " --engine closed --gpus 8 --format csv "
#define TERMS "--framework horovod --term cycle.time=2ms"

Test(cli_axes, every_combination_is_the_row_that_predict_gives)
{
    static const char line[] =
        "sweep " STEP " --gpus 8 --algorithms ring --engine closed,recurrence --batch 16,32 "
        "--precision fp16,fp32 --bucket ddp,16MiB --channels 1,2 --window 1,8 --set "
        "hca.bandwidth=10.2GB/s,100Gbps " TERMS;
    struct cli_table *sweep = cli_rows("%s", line);
    cr_assert_eq(sweep->rows_count, 1 + 2 * 2 * 2 * 2 * 2 * 2 * 2);
    for (size_t i = 1; i < sweep->rows_count; i += 7) {
        struct cli_table *one = cli_rows(
            "predict " STEP " --gpus 8 --algorithm ring --engine %s --batch %s --precision %s "
            "--bucket %s --channels %s --window %s --set %.*s " TERMS,
            cli_cell(sweep, i, "engine"), cli_cell(sweep, i, "batch_per_gpu"),
            cli_cell(sweep, i, "precision"), cli_cell(sweep, i, "bucket"),
            cli_cell(sweep, i, "channels"), cli_cell(sweep, i, "window"),
            (int)strcspn(cli_cell(sweep, i, "settings"), " "), cli_cell(sweep, i, "settings"));
        cli_expect_same_row(sweep, i, one, 1);
    }
    cli_good(
        "! $AR %s --format csv --columns engine,batch_per_gpu,precision,bucket,channels,window,"
        "settings | sort | uniq -d | grep .",
        line);
}

Test(cli_axes, jitter_and_seeds_are_axes)
{
    struct cli_table *table = cli_table(
        cli_good(SWEEP "--algorithms ring --jitter 0,0.03 --seed 1:3:+1 --iterations 5").out);
    cr_assert_eq(table->rows_count, 1 + 1 + 3, "without jitter all seeds give the same");
    CLI_CELL(table, 1, "iterations_count", "1");
    CLI_CELL(table, 2, "iterations_count", "5");
    cr_expect_str_neq(cli_cell(table, 2, "iteration_s"), cli_cell(table, 3, "iteration_s"));
}

Test(cli_axes, ranges_give_the_values_a_user_would_write)
{
    struct cli_table *table =
        cli_table(cli_good(SWEEP "--algorithms ring --bucket ddp,8MiB:32MiB:x2,ddp,groups:3 "
                                 "--batch 16:32:+8")
                      .out);
    static const char *const buckets[] = {"ddp", "8MiB", "16MiB", "32MiB", "groups:3"};
    cr_assert_eq(table->rows_count, 1 + 3 * 5);
    for (size_t i = 1; i < table->rows_count; i++) {
        cr_expect_eq(atoi(cli_cell(table, i, "batch_per_gpu")), 16 + 8 * (int)((i - 1) / 5));
        CLI_CELL(table, i, "bucket", buckets[(i - 1) % 5]);
    }
}

Test(cli_axes, bare_all_reduces_do_not_repeat_for_axes_of_steps, CLI_NO_NEW_CODE)
{
    struct cli_run run = cli_good(SWEEP "--algorithms ring --batch 16,32 --bucket ddp,one "
                                        "--channels 1,2 --payload 1MB,2MB --out o");
    cr_expect_eq(cli_table(run.out)->rows_count, 1 + 2 * 2 * 2 + 2 * 2);
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->rows_count, 1 + 2 * 2 * 2);
    cr_expect_eq(cli_table(cli_read("o/payload.csv"))->rows_count, 1 + 2 * 2);
}

Test(cli_axes, best_is_taken_over_choices_and_not_over_conditions, CLI_NO_NEW_CODE)
{
    static const char axes[] = "--batch 16,32 --set net.latency=2us,9us --channels 1:4:+1 --bucket "
                               "ddp,one --window 1,8 --gradient-scale 1,2 --columns "
                               "batch_per_gpu,settings,gradient_scale,iteration_s";
    cli_good(SWEEP "%s >all.csv && test $(sort -u all.csv | wc -l) -gt 5", axes);
    const char *least =
        cli_good("sort -t, -k4g all.csv | awk -F, '!seen[$1, $2, $3]++' | sort").out;
    CLI_LINES(least, "", 1 + 2 * 2 * 2); /* batches, latencies and scales */
    cr_expect_str_eq(cli_good(SWEEP "%s --best | sort", axes).out, least);
}

Test(cli_axes, tables_show_the_axes_that_vary)
{
    struct cli_run run =
        cli_good("$AR sweep " STEP " --engine closed --gpus 8 --algorithms ring --batch 16,32 "
                 "--set net.latency=2us,9us --payload 1MB");
    CLI_COUNTS(run.out, {"net.latency  batch  gpus  algorithm", 2},
               {"2us          32        8  ring", 1}, {"9us          -         8  ring", 1});
}

Test(cli_axes, wrong_lists_are_refused)
{
    static const char *const rows[][2] = {
        {"--resume", "expected --out DIR of the sweep"},
        {"--engine closed --bucket ddp,big", "--bucket: "},
        {"--gradient-scale 1,0", "--gradient-scale: found \"0\"; expected a number from 1e-06"},
        {"--seed 1,2", "--seed: found several seeds without --jitter; expected one"},
        {"--set hca.bandwidth=1GB/s,2GB/s --set hca.bandwidth=3GB/s", "expected one"},
        {"--batch 1:4096:+1 --seed 1:4096:+1 --jitter 0.1,0.2", "combinations of the values"},
    };
    CLI_REFUSE(64, "sweep " STEP " --gpus 8", rows);
}

/* A picture of one value of an axis that it does not show would say less than it seems to. */
Test(cli_axes, pictures_of_a_sweep_of_other_axes_are_of_what_is_chosen)
{
    cli_need_gnuplot();
    cli_good(
        "$AR sweep " STEP " --engine closed --gpus 8,16 --algorithms ring,torus2d "
        "--set hca.bandwidth=2GB/s,50GB/s --framework typical --batch 16,32 --out o --format csv");
    struct cli_run run = cli_good("$AR plot o");
    CLI_LINES(run.out, "o/shapes-batch_per_gpu_16-hca.bandwidth_50GB_s.svg", 1);
    CLI_LINES(run.out, "o/shapes-", 2 * 4);
    cli_good("grep -q 'ring+batch~per~gpu=32+hca.bandwidth=2GB/s,' o/efficiency.csv");
    cli_good("$AR plot o --where hca.bandwidth=50GB/s --where batch_per_gpu=16 --quiet");
    cli_good("grep -q 'hca.bandwidth=50GB/s' o/efficiency.svg");
    cli_good("grep -q 'batch of 16' o/efficiency.svg && grep -q 'framework typical' o/shapes.svg");
    cli_good("rm o/*.svg && $AR plot o --where hca.bandwidth=2GB/s");
    cli_good("grep -q 'hca.bandwidth=2GB/s' o/crossover.svg && ! test -e o/shapes.svg");
    cli_fails(64, "unknown column or setting \"hca.bandwith\"",
              "$AR plot o --where hca.bandwith=2GB/s");
    cli_fails(64, "which no row has; expected one of 2GB/s, 50GB/s",
              "$AR plot o --where hca.bandwidth=3GB/s");
}
