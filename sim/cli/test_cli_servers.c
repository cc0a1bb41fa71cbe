/* Strategies with servers, as a user asks for them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

#define MACHINE  "--cluster v100-8gpu-1edr --gpus 32 "
#define RESNET50 MACHINE "--trace resnet50-v1.5 "
#define BERT     MACHINE "--workload bert-large --attention unfused --global-batch 256 "

TestSuite(cli_servers, .init = cli_enter, .fini = cli_leave);

static struct cli_table *predict(const char *options)
{
    return cli_rows("predict %s --quiet", options);
}

static void expect_parts(const struct cli_table *row)
{
    double step_s = cli_number(row, 1, "iteration_s");
    double parts_s = cli_number(row, 1, "compute_s") + cli_number(row, 1, "exposed_s") +
                     cli_number(row, 1, "bubble_s");
    cr_expect_float_eq(parts_s, step_s, 1e-6 * step_s);
    cr_expect_str_eq(cli_cell(row, 1, "status"), "ok");
}

Test(cli_servers, steps_of_traces_and_of_workloads_have_servers)
{
    struct cli_table *traced = predict(RESNET50 "--strategy ssp:3 --servers 8");
    struct cli_table *laid_out = predict(BERT "--strategy ssp:3 --servers 8 --jitter 0.1");
    cr_expect_str_eq(cli_cell(traced, 1, "strategy"), "ssp:3");
    cr_expect_str_eq(cli_cell(traced, 1, "settings"), "servers=8");
    cr_expect_str_eq(cli_cell(traced, 1, "algorithm"), "");
    cr_expect_eq(cli_number(traced, 1, "messages_count"),
                 2 * 3 * 32 * 8); /* slices, workers, servers */
    cr_expect_eq(cli_number(laid_out, 1, "messages_count"), 2 * 24 * 32 * 8);
    expect_parts(traced);
    expect_parts(laid_out);
}

Test(cli_servers, no_staleness_is_in_step_and_much_is_without_bound)
{
    static const char *const pairs[][2] = {{"ps-sync", "ssp:0"}, {"ps-async", "ssp:1000"}};
    for (size_t i = 0; i < 2; i++) {
        struct cli_run run = cli_good("$AR sweep " RESNET50 "--strategy %s,%s --jitter 0.3 --quiet "
                                      "--format csv --columns iteration_s,exposed_s,bubble_s",
                                      pairs[i][0], pairs[i][1]);
        struct cli_table *rows = cli_table(run.out);
        cr_expect_str_eq(cli_cell(rows, 1, "iteration_s"), cli_cell(rows, 2, "iteration_s"));
        cr_expect_str_eq(cli_cell(rows, 1, "bubble_s"), cli_cell(rows, 2, "bubble_s"));
    }
}

Test(cli_servers, a_bound_above_0_needs_no_jitter_to_be_another_prediction)
{
    struct cli_run run = cli_good("$AR sweep " RESNET50 "--strategy ssp:0,ps-async --jitter "
                                  "0,0.001 --format csv --columns iteration_s");
    struct cli_table *rows = cli_table(run.out);
    double even_s = cli_number(rows, 2, "iteration_s");
    cr_expect_lt(even_s, 0.8 * cli_number(rows, 1, "iteration_s"));
    cr_expect_float_eq(cli_number(rows, 4, "iteration_s"), even_s, 0.05 * even_s);
}

Test(cli_servers, the_more_staleness_the_less_waiting_and_the_more_servers_the_less_time)
{
    struct cli_table *rows =
        cli_rows("sweep " RESNET50 "--strategy ssp:0,ssp:1,ssp:2 --servers 1,2,4 --jitter 0.4 "
                 "--bucket one --quiet --columns iteration_s,bubble_s");
    for (size_t i = 1; i <= 9; i++) {
        if (i > 3) {
            cr_expect_leq(cli_number(rows, i, "bubble_s"), cli_number(rows, i - 3, "bubble_s"));
        }
        if ((i - 1) % 3 > 0) {
            cr_expect_leq(cli_number(rows, i, "iteration_s"),
                          cli_number(rows, i - 1, "iteration_s"));
        }
    }
}

Test(cli_servers, nodes_that_sum_before_they_push_send_an_eighth)
{
    struct cli_table *gpus = predict(RESNET50 "--strategy ps-sync");
    struct cli_table *nodes = predict(RESNET50 "--strategy ps-sync --worker node");
    struct cli_table *ring = predict(RESNET50 "--algorithm ring");
    cr_expect_lt(cli_number(nodes, 1, "exposed_s"), cli_number(gpus, 1, "exposed_s") / 8);
    cr_expect_float_eq(cli_number(nodes, 1, "iteration_s"), cli_number(ring, 1, "iteration_s"),
                       2e-3);
    cli_fails(64, "--worker: found node with 12 GPUs; expected whole",
              "$AR predict --cluster v100-8gpu-1edr --gpus 12 --trace resnet50-v1.5 --strategy "
              "ps-sync --worker node");
}

Test(cli_servers, engine_simgrid_says_about_the_same)
{
    struct cli_table *rows = predict("--cluster v100-8gpu-1edr --gpus 8 --trace resnet50-v1.5 "
                                     "--strategy ssp:2 --servers 2 --jitter 0.2 --iterations 5 "
                                     "--bucket one --check");
    double events_s = cli_number(rows, 1, "iteration_s");
    cr_expect_float_eq(cli_number(rows, 2, "iteration_s"), events_s, 1e-6 * events_s);
}

Test(cli_servers, units_of_heavy_tails_are_done_sooner_if_the_slowest_are_done_twice)
{
    struct cli_table *rows =
        cli_rows("sweep " RESNET50 "--strategy work-units --tail 1.3 --backups no,yes --quiet "
                 "--columns iteration_s");
    cr_expect_lt(cli_number(rows, 2, "iteration_s"), 0.8 * cli_number(rows, 1, "iteration_s"));
}

Test(cli_servers, explain_and_a_timeline_show_where_the_time_of_workers_goes)
{
    struct cli_run run = cli_good("$AR explain " RESNET50 "--strategy ssp:1 --jitter 0.2 --quiet");
    CLI_HAS(run.out, "wait for slower workers");
    CLI_HAS(run.out, "the servers' HCAs alone, each way");
    run = cli_good("$AR export --format chrome-trace " RESNET50 "--strategy ssp:1 --jitter 0.2 "
                   "--ranks 0,5 --quiet");
    cr_expect_eq(cli_lines_with(run.out, "\"name\": \"worker "), 2);
    cr_expect_geq(cli_lines_with(run.out, "\"name\": \"push\", \"ts\""), 2 * 20);
}

Test(cli_servers, sweeps_of_every_kind_are_drawn_and_reported)
{
    static const struct {
        const char *sweep, *picture;
    } cases[] = {
        {RESNET50 "--strategy ssp:3,ps-async,work-units,zero1 --algorithms ring", "efficiency"},
        {MACHINE "--trace resnet50-v1.5 --strategy rotate,star", "layouts_best"},
        {MACHINE "--workload " AR_TEST_SOURCE_DIR "/traces/logs/steps/simai.txt", "layouts_best"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cli_run run = cli_good("$AR sweep %s --out o%zu", cases[i].sweep, i);
        CLI_LACKS(run.out, "strategy     strategy");
        cli_good("$AR plot o%zu", i);
        run = cli_good("ls o%zu/%s.svg && $AR report o%zu", i, cases[i].picture, i);
        CLI_HAS(run.out, "report.html");
    }
}

Test(cli_servers, a_sweep_runs_nothing_twice_that_nothing_reacts_to)
{
    struct cli_table *rows = cli_rows("sweep " RESNET50 "--algorithms ring --strategy data,ssp:1 "
                                      "--servers 4,8 --seed 1,2 --quiet "
                                      "--columns strategy,settings,seed");
    static const char *const expected[][2] = {
        {"", "1"}, {"servers=4", "1"}, {"servers=8", "1"}, {"servers=4", "2"}, {"servers=8", "2"}};
    size_t data = 0;
    for (size_t i = 1; i <= 5; i++) {
        bool is_there = false;
        for (size_t j = 0; j < 5 && !is_there; j++) {
            is_there = strcmp(cli_cell(rows, i, "settings"), expected[j][0]) == 0 &&
                       strcmp(cli_cell(rows, i, "seed"), expected[j][1]) == 0;
        }
        cr_expect(is_there, "row %zu", i);
        data += strcmp(cli_cell(rows, i, "strategy"), "data") == 0;
    }
    cr_expect_eq(data, 1);
    rows = cli_rows("sweep " RESNET50 "--algorithms ring,tree --strategy data,zero1 --quiet "
                    "--columns strategy,algorithm,buckets_count");
    cr_expect_eq(rows->rows_count, 4, "a head, and zero1 once: no all-reduce");
    cr_expect_str_eq(cli_cell(rows, 3, "algorithm"), "ring");
    cr_expect_str_eq(cli_cell(rows, 3, "buckets_count"), cli_cell(rows, 1, "buckets_count"));
    cli_good("$AR predict " RESNET50 "--strategy zero1");
}

Test(cli_servers, runs_train_with_servers_and_a_step_is_kept_for_reports)
{
    struct cli_table *rows = cli_rows("train example --strategy ps-sync --servers 4 --quiet");
    cr_expect_gt(cli_number(rows, 1, "iteration_s"), 0);
    cli_fails(64, "--strategy: found partitioned; expected a strategy",
              "$AR train example --strategy partitioned");
    cli_good("$AR explain " BERT "--strategy ps-sync --iterations 2 --out o/b && $AR report o/b");
    cli_good("$AR explain " RESNET50 "--strategy ps-sync --out o/e");
    rows = cli_table(cli_good("head -3 o/e/pipeline.csv").out);
    cr_expect_str_eq(cli_cell(rows, 1, "kind"), "compute");
}

Test(cli_servers, wrong_lines_are_one_line)
{
    static const char *const cases[][2] = {
        {RESNET50 "--algorithm ring --servers 4",
         "--servers: found with strategy data; expected it with ps-sync"},
        {RESNET50 "--strategy ps-sync --servers 0", "--servers: found \"0\"; expected"},
        {RESNET50 "--strategy ps-sync --servers 61",
         "--servers: found 61 servers on nodes of their own beside 4 nodes of workers"},
        {RESNET50 "--strategy ssp:-1", "--strategy: found \"ssp:-1\"; expected ssp:S"},
        {RESNET50 "--strategy ssp", "--strategy: found \"ssp\"; expected ssp:S"},
        {RESNET50 "--strategy ps-async:2", "--strategy: found \"ps-async:2\"; expected ps-async"},
        {RESNET50 "--strategy ps-sync --algorithm ring", "--algorithm: found with strategy"},
        {RESNET50 "--strategy ps-sync --engine closed", "--engine: found closed"},
        {RESNET50 "--strategy ps-sync --units 9", "--units: found with strategy ps-sync"},
        {RESNET50 "--strategy ps-sync --straggler 32:2", "--straggler: found rank 32 of 32"},
        {BERT "--mesh dp=8,tp=4 --strategy ps-sync", "--mesh: found dp=8,tp=4 with strategy"},
        {MACHINE "--strategy ps-sync", "option --trace is missing"},
    };
    CLI_REFUSE(64, "predict", cases);
}
