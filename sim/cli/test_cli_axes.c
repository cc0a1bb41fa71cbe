/* The axes of a sweep: which rows lists of values give. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_axes, .init = cli_enter, .fini = cli_leave);

#define STEP  "--cluster abci-v100 --trace resnet50-v1.5"
#define SWEEP "$AR sweep " STEP " --engine closed --gpus 8 --format csv "

Test(cli_axes, every_combination_is_the_row_that_predict_gives)
{
    struct cli_table *sweep =
        cli_rows("sweep " STEP " --gpus 8 --algorithms ring --engine closed,recurrence --batch "
                 "16,32 --precision fp16,fp32 --bucket ddp,16MiB --channels 1,2 "
                 "--window 1,8 --set hca.bandwidth=10.2GB/s,100Gbps");
    cr_assert_eq(sweep->rows_count, 1 + 2 * 2 * 2 * 2 * 2 * 2 * 2);
    for (size_t i = 1; i < sweep->rows_count; i += 7) {
        struct cli_run one = cli_good(
            "$AR predict " STEP " --gpus 8 --algorithm ring --engine %s --batch %s --precision %s "
            "--bucket %s --channels %s --window %s --set %s --format csv",
            cli_cell(sweep, i, "engine"), cli_cell(sweep, i, "batch_per_gpu"),
            cli_cell(sweep, i, "precision"), cli_cell(sweep, i, "bucket"),
            cli_cell(sweep, i, "channels"), cli_cell(sweep, i, "window"),
            cli_cell(sweep, i, "settings"));
        cli_expect_same_row(sweep, i, cli_table(one.out), 1);
        for (size_t j = 1; j < i; j++) {
            bool is_same = true;
            for (size_t column = 0; column < sweep->columns_count; column++) {
                is_same = is_same && (strcmp(sweep->rows[0][column], "wall_s") == 0 ||
                                      strcmp(sweep->rows[i][column], sweep->rows[j][column]) == 0);
            }
            cr_expect(!is_same, "rows %zu and %zu", i, j);
        }
    }
}

Test(cli_axes, jitter_and_seeds_are_axes)
{
    struct cli_table *table = cli_table(
        cli_good(SWEEP "--algorithms ring --jitter 0,0.03 --seed 1:3:+1 --iterations 5").out);
    cr_assert_eq(table->rows_count, 1 + 1 + 3, "without jitter all seeds give the same");
    cr_expect_str_eq(cli_cell(table, 1, "iterations_count"), "1");
    cr_expect_str_eq(cli_cell(table, 2, "iterations_count"), "5");
    cr_expect_str_neq(cli_cell(table, 2, "iteration_s"), cli_cell(table, 3, "iteration_s"));
}

Test(cli_axes, ranges_give_the_values_a_user_would_write)
{
    struct cli_table *table =
        cli_table(cli_good(SWEEP "--algorithms ring --bucket ddp,8MiB:32MiB:x2,ddp --batch "
                                 "16:32:+8")
                      .out);
    static const char *const buckets[] = {"ddp", "8MiB", "16MiB", "32MiB"};
    cr_assert_eq(table->rows_count, 1 + 3 * 4);
    for (size_t i = 1; i < table->rows_count; i++) {
        cr_expect_eq(atoi(cli_cell(table, i, "batch_per_gpu")), 16 + 8 * (int)((i - 1) / 4));
        cr_expect_str_eq(cli_cell(table, i, "bucket"), buckets[(i - 1) % 4]);
    }
}

Test(cli_axes, gradient_scales_change_the_payload_and_not_the_compute)
{
    struct cli_table *sweep =
        cli_table(cli_good(SWEEP "--algorithms ring --gradient-scale 0.5,1,2 --batch 16,32 "
                                 "--payload 1MB --out o")
                      .out);
    struct cli_run two =
        cli_good("$AR predict " STEP " --gpus 8 --algorithm ring --engine closed --batch 16 "
                 "--gradient-scale 2 --format csv");
    cr_assert_eq(sweep->rows_count, 1 + 2 * 3 + 1, "one bare all-reduce for all of them");
    cr_expect_str_eq(cli_cell(sweep, 1, "gradient_scale"), "0.5");
    cr_expect_str_eq(cli_cell(sweep, 2, "payload_bytes"), "51114064");
    cr_expect_str_eq(cli_cell(sweep, 3, "payload_bytes"), "102228128");
    cr_expect_str_eq(cli_cell(sweep, 1, "compute_s"), cli_cell(sweep, 3, "compute_s"));
    cr_expect_str_eq(cli_cell(sweep, 7, "gradient_scale"), "");
    cli_expect_same_row(sweep, 3, cli_table(two.out), 1);
    CLI_HAS(two.err, "fp16, gradients 2 times as large, buckets ddp");
}

Test(cli_axes, a_gradient_scale_is_a_condition_and_no_choice)
{
    struct cli_table *best =
        cli_table(cli_good(SWEEP "--gradient-scale 1,2 --bucket ddp,one --best").out);
    cr_expect_eq(best->rows_count, 1 + 2);
}

Test(cli_axes, a_value_that_may_hold_commas_is_one_value)
{
    struct cli_run run =
        cli_good("$AR sweep " STEP " --engine closed --gpus 8 --algorithms ring --format json "
                 "--set 'description=racks, as they are' --set hcas=2,4 --set 'nvlink.pairs=all'");
    cr_expect_eq(cli_lines_with(run.out, "description=racks, as they are hcas=2 nvlink"), 1);
    cr_expect_eq(cli_lines_with(run.out, "description=racks, as they are hcas=4 nvlink"), 1);
    cr_expect_eq(cli_lines_with(run.out, "\"settings\""), 2);
}

Test(cli_axes, bare_all_reduces_do_not_repeat_for_axes_of_steps)
{
    struct cli_run run = cli_good(SWEEP "--algorithms ring --batch 16,32 --bucket ddp,one "
                                        "--channels 1,2 --payload 1MB,2MB --out o");
    cr_expect_eq(cli_table(run.out)->rows_count, 1 + 2 * 2 * 2 + 2 * 2);
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->rows_count, 1 + 2 * 2 * 2);
    cr_expect_eq(cli_table(cli_read("o/payload.csv"))->rows_count, 1 + 2 * 2);
}

Test(cli_axes, best_is_taken_over_choices_and_not_over_conditions)
{
    static const char axes[] = "--batch 16,32 --set net.latency=2us,9us --channels 1:4:+1 --bucket "
                               "ddp,one --window 1,8";
    struct cli_table *best = cli_table(cli_good(SWEEP "%s --best --out all", axes).out);
    struct cli_run all = cli_good("cut -d, -f3,12,39 all/sweep.csv | tail -n +2 | sort -u | wc -l");
    cr_assert_eq(best->rows_count, 1 + 2 * 2, "batches and latencies");
    cr_expect_gt(atoi(all.out), 4);
    for (size_t i = 1; i < best->rows_count; i++) {
        struct cli_run less = cli_good(
            "awk -F, -v b=%s -v t=%s '$3 == b && $39 == \"%s\" && $12 < t' all/sweep.csv | wc -l",
            cli_cell(best, i, "batch_per_gpu"), cli_cell(best, i, "iteration_s"),
            cli_cell(best, i, "settings"));
        cr_expect_eq(atoi(less.out), 0, "faster than row %zu: %s", i, less.out);
    }
}

Test(cli_axes, tables_show_the_axes_that_vary)
{
    struct cli_run run =
        cli_good("$AR sweep " STEP " --engine closed --gpus 8 --algorithms ring --batch 16,32 "
                 "--set net.latency=2us,9us --payload 1MB");
    cr_expect_eq(cli_lines_with(run.out, "net.latency  batch  gpus  algorithm"), 2);
    cr_expect_eq(cli_lines_with(run.out, "2us          32        8  ring"), 1);
    cr_expect_eq(cli_lines_with(run.out, "9us          -         8  ring"), 1);
}

Test(cli_axes, wrong_lists_are_refused)
{
    static const char *const rows[][2] = {
        {"--batch 16,", "--batch: found \"\"; expected a whole number"},
        {"--batch 0:8:+1", "--batch: range \"0:8:+1\": found \"0\""},
        {"--channels 1,33", "--channels: found \"33\"; expected a whole number from 1 to 32"},
        {"--window 8,x", "--window: found \"x\""},
        {"--engine closed,fast", "--engine: unknown engine \"fast\""},
        {"--engine closed --bucket ddp,big", "--bucket: "},
        {"--precision fp16,fp8", "--precision: "},
        {"--gradient-scale 1,0", "--gradient-scale: found \"0\"; expected a number from 1e-06"},
        {"--seed 1,2", "--seed: found 2 seeds without --jitter; expected one"},
        {"--set hca.bandwidth=1GB/s,2", "--set: key \"hca.bandwidth\": found \"2\""},
        {"--set hca.bandwidth=1GB/s,2GB/s --set hca.bandwidth=3GB/s", "expected one"},
        {"--set hca.bandwith=1GB/s,2GB/s", "did you mean \"hca.bandwidth\""},
        {"--batch 1:4096:+1 --seed 1:4096:+1 --jitter 0.1,0.2", "combinations of the values"},
    };
    CLI_REFUSE(64, "sweep " STEP " --gpus 8", rows);
}

/* A picture of one value of an axis that it does not show would say less than it seems to. */
Test(cli_axes, pictures_of_a_sweep_of_other_axes_are_of_what_is_chosen)
{
    if (cli_run("command -v gnuplot").code != 0) {
        cr_skip_test("gnuplot is not there");
    }
    cli_good("$AR sweep " STEP " --engine closed --gpus 8,16 --algorithms ring,torus2d "
             "--set hca.bandwidth=2GB/s,50GB/s --framework typical --batch 16,32 --out o --quiet");
    struct cli_run run = cli_good("$AR plot o");
    CLI_HAS(run.err, "(16, 32) and settings (hca.bandwidth=2GB/s, hca.bandwidth=50GB/s); choose");
    cli_good("grep -q 'ring+batch_per_gpu=32+hca.bandwidth=2GB/s,' o/efficiency.csv");
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
