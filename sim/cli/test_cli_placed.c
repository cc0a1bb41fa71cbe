/* Placed operators, parameter servers and work units. */

#include "test_cli.h"

static const char graph[] = "name,time_s,output_bytes,needs\n"
                            "a,1e-3,1000000,\nb,2e-3,1000000,a\nc,2e-3,1000000,a\nd,1e-3,0,b+c\n";
static const char apart[] = "operator,device\na,0\nb,0\nc,1\nd,0\n";

TestSuite(cli_placed, .init = cli_enter, .fini = cli_leave);

Test(cli_placed, operators_on_two_gpus_take_what_they_take_by_hand)
{
    cli_write("placed.csv", graph);
    cli_write("apart.csv", apart);
    double apart_s = cli_value("iteration_s", "predict --cluster flat --gpus 2 --operators "
                                              "./placed.csv --placement ./apart.csv");
    double send_s = cli_value("allreduce_s", "send --cluster flat --gpus 2 --payload 1MB");
    cr_expect_float_eq(apart_s, 1e-3 + 2 * send_s + 2e-3 + 1e-3, 1e-9, "%g", apart_s);
    double alone_s = cli_value("iteration_s", "predict --cluster flat --gpus 1 --operators "
                                              "./placed.csv");
    cr_expect_float_eq(alone_s, 6e-3, 1e-9);
    cli_good("$AR predict --cluster flat --gpus 2 --operators ./placed.csv --placement anneal "
             "--out found.csv --quiet");
    double found_s = cli_value("iteration_s", "predict --cluster flat --gpus 2 --operators "
                                              "./placed.csv --placement ./found.csv");
    cr_expect_leq(found_s, apart_s + 1e-12);
}

Test(cli_placed, they_are_explained_drawn_and_swept)
{
    CLI_SHOWS("explain --cluster dgx-a100 --gpus 2 --operators googlenet --placement greedy",
              "96 operators", "messages    6422528");
    CLI_SHOWS("export --format chrome-trace --cluster dgx-a100 --gpus 2 --operators googlenet",
              "\"name\": \"3a.1x1\"");
    struct cli_table *rows =
        cli_rows("sweep --cluster flat --trace resnet50-v1.5 --gpus 2,4 --strategy rotate,star "
                 "--depth 1,2 --set gpu.cost_table=v100-sxm2 --gradients int4 --quiet");
    cr_expect_eq(rows->rows_count, 1 + 8);
    CLI_CELL(rows, 1, "wire", "int4");
    static const char *const mixed[] = {"rotate,data", "ps-sync,star", "data,partitioned"};
    for (size_t i = 0; i < 3; i++) {
        cli_fails(64, "--strategy: found",
                  "$AR sweep --cluster flat --trace resnet50-v1.5 --gpus 4 --strategy %s --set "
                  "gpu.cost_table=v100-sxm2",
                  mixed[i]);
    }
    cli_fails(64, "--operators: found with strategy data",
              "$AR sweep --cluster dgx-a100 --gpus 2 --operators googlenet --mesh all");
}

Test(cli_placed, efficiency_counts_gpus_that_are_idle)
{
    cli_write("three.csv", "name,time_s,output_bytes,needs\na,1,1,\nb,1,1,\nc,1,1,a+b\n");
    cr_expect_float_eq(cli_value("efficiency_frac", "predict --cluster flat --gpus 3 --operators "
                                                    "./three.csv --placement anneal"),
                       3.0 / (3 * 2), 1e-3, "3 s of work in 2 s on 3 GPUs");
}

Test(cli_placed, axial_parallelism_hides_what_it_can)
{
    double alone_s =
        cli_value("iteration_s", "predict --cluster dgx-a100 --strategy dap --workload "
                                 "alphafold2-initial --gpus 1 --precision bf16");
    double two_s = cli_value("iteration_s", "predict --cluster dgx-a100 --strategy dap --workload "
                                            "alphafold2-initial --mesh tp=2 --precision bf16");
    cr_expect_gt(two_s, alone_s / 2);
    cr_expect_lt(two_s, alone_s / 1.5);
    /* Biases of 8 heads of 256 x 256 pairs, 2 bytes each. */
    CLI_SHOWS("explain --cluster dgx-a100 --strategy dap --workload "
              "alphafold2-initial --mesh tp=2 --precision bf16 --quiet",
              "all-gather      tp      1048576 ");
}

Test(cli_placed, inference_of_an_evoformer_goes_forward_alone)
{
    const char *text = cli_good("$AR explain --cluster dgx-a100 --strategy dap --workload "
                                "alphafold2-inference-1024 --mesh tp=2 --precision bf16 --quiet")
                           .out;
    CLI_HAS(text, "compute");
    CLI_LACKS(text, "optimizer", "reduce");
}

Test(cli_placed, memory_that_is_not_split_is_not_called_activations)
{
    CLI_NOTES("predict --cluster dgx-a100 --gpus 4 --trace resnet50-v1.5 "
              "--strategy partitioned --set gpu.memory=1MB",
              " on the fullest GPU; expected at most 1 MB, gpu.memory");
}

Test(cli_placed, what_cannot_be_placed_is_refused)
{
    static const struct cli_case cases[] = {
        {"--operators ./placed.csv --placement gready --gpus 2", 64, "--placement: found"},
        {"--trace resnet50-v1.5 --gpus 2 --strategy rotate --bucket one", 64, "--bucket: found"},
        {"--trace resnet50-v1.5 --gpus 2 --strategy rotate --servers 3", 64, "--servers: found"},
        {"--operators ./placed.csv --gpus 2 --engine nccl", 64, "--engine: found with strategy"},
        {"--trace resnet50-v1.5 --gpus 1 --strategy star", 64, "star on 1 GPU"},
        {"--trace resnet50-v1.5 --gpus 11 --strategy partitioned", 64, "layer4.0.conv2"},
        {"--trace ./trace.csv --gpus 2 --strategy partitioned", 64, "hand on"},
        {"--workload mpt-7b --gpus 8 --strategy dap", 66, "alphafold2-initial"},
        {"--workload alphafold2-initial --mesh tp=7 --strategy dap", 64, "multiples of tp, 7"},
        {"--workload alphafold2-initial --mesh pp=2,tp=4 --strategy dap", 64, "--mesh: found pp=2"},
        {"--workload alphafold2-initial --mesh tp=4", 64, "expected --strategy dap with it"},
    };
    cli_write("placed.csv", graph);
    CLI_FAIL_ALL("predict --cluster dgx-a100", cases);
}

/* --- servers ---------------------------------------------------------------------------------- */

#define MACHINE  "--cluster v100-8gpu-1edr --gpus 32 "
#define RESNET50 MACHINE "--trace resnet50-v1.5 "
#define BERT     MACHINE "--workload bert-large --attention unfused --global-batch 256 "

TestSuite(cli_servers, .init = cli_enter, .fini = cli_leave);

static void expect_parts(const struct cli_table *row)
{
    double step_s = cli_number(row, 1, "iteration_s");
    double parts_s = cli_number(row, 1, "compute_s") + cli_number(row, 1, "exposed_s") +
                     cli_number(row, 1, "bubble_s");
    cr_expect_float_eq(parts_s, step_s, 1e-6 * step_s);
    CLI_CELL(row, 1, "status", "ok");
}

Test(cli_servers, steps_of_traces_and_of_workloads_have_servers)
{
    struct cli_table *traced = cli_rows("predict " RESNET50 "--strategy ssp:3 --servers 8");
    struct cli_table *laid_out =
        cli_rows("predict " BERT "--strategy ssp:3 --servers 8 --jitter 0.1");
    CLI_CELL(traced, 1, "strategy", "ssp:3", "settings", "servers=8", "algorithm", "");
    cr_expect_eq(cli_number(traced, 1, "messages_count"),
                 2 * 3 * 32 * 8); /* slices, workers, servers */
    cr_expect_eq(cli_number(laid_out, 1, "messages_count"), 2 * 24 * 32 * 8);
    expect_parts(traced);
    expect_parts(laid_out);
}

Test(cli_servers, a_bound_above_0_needs_no_jitter_to_be_another_prediction, CLI_NO_NEW_CODE)
{
    struct cli_table *rows = cli_rows(
        "sweep " RESNET50 "--strategy ssp:0,ps-async --jitter 0,0.001 --columns iteration_s");
    double even_s = cli_number(rows, 2, "iteration_s");
    cr_expect_lt(even_s, 0.8 * cli_number(rows, 1, "iteration_s"));
    CLI_NEAR(rows, 4, "iteration_s", even_s, 0.05 * even_s);
}

Test(cli_servers, nodes_that_sum_before_they_push_take_as_long_as_a_ring)
{
    double nodes_s =
        cli_value("iteration_s", "predict " RESNET50 "--strategy ps-sync --worker node");
    double ring_s = cli_value("iteration_s", "predict " RESNET50 "--algorithm ring");
    cr_expect_float_eq(nodes_s, ring_s, 2e-3);
    cli_fails(64, "--worker: found node with 12 GPUs; expected whole",
              "$AR predict --cluster v100-8gpu-1edr --gpus 12 --trace resnet50-v1.5 --strategy "
              "ps-sync --worker node");
}

Test(cli_servers, explain_shows_where_the_time_of_workers_goes)
{
    CLI_SHOWS("explain " RESNET50 "--strategy ssp:1 --jitter 0.2 --quiet",
              "wait for slower workers", "the servers' HCAs alone, each way");
    cli_fails(64, "--strategy: found ssp; expected one whose ranks follow a task graph",
              "$AR export --format chrome-trace " RESNET50 "--strategy ssp:1");
    cli_fails(64, "--out: found with strategy ssp",
              "$AR explain " RESNET50 "--strategy ssp:1 --out o");
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

Test(cli_servers, a_sweep_runs_no_seed_twice_where_nothing_is_drawn, CLI_NO_NEW_CODE)
{
    struct cli_table *rows = cli_rows("sweep " RESNET50 "--algorithms ring --strategy data,ssp:1 "
                                      "--seed 1,2 --quiet --columns strategy,seed");
    cr_assert_eq(rows->rows_count, 1 + 3);
    CLI_CELL(rows, 1, "strategy", "data");
    CLI_CELL(rows, 3, "seed", "2");
    cli_fails(64, "--servers: found with strategy data; expected it with ps-sync",
              "$AR sweep " RESNET50 "--strategy ssp:1,data --servers 4");
    rows = cli_rows("sweep " RESNET50 "--algorithms ring,tree --strategy data,zero1 --quiet "
                    "--columns strategy,algorithm,buckets_count");
    cr_expect_eq(rows->rows_count, 4, "a head, and zero1 once: no all-reduce");
    CLI_SAME(rows, 3, rows, 1, "buckets_count");
}

Test(cli_servers, runs_train_with_servers)
{
    struct cli_table *rows = cli_rows("train example --strategy ps-sync --servers 4 --quiet");
    cr_expect_gt(cli_number(rows, 1, "iteration_s"), 0);
    cli_fails(64, "--strategy: found partitioned; expected a strategy",
              "$AR train example --strategy partitioned");
}

Test(cli_servers, wrong_lines_are_one_line)
{
    static const char *const cases[][2] = {
        {RESNET50 "--strategy ps-sync --servers 61",
         "--servers: found 61 servers on nodes of their own beside 4 nodes of workers"},
        {RESNET50 "--strategy ssp:-1", "--strategy: found \"ssp:-1\"; expected ssp:S"},
        {RESNET50 "--strategy ps-async:2", "--strategy: found \"ps-async:2\"; expected ps-async"},
        {RESNET50 "--strategy ps-sync --algorithm ring", "--algorithm: found with strategy"},
        {RESNET50 "--strategy ps-sync --straggler 32:2", "--straggler: found rank 32 of 32"},
    };
    CLI_REFUSE(64, "predict", cases);
}
