/* Operators that have a device each: files, placements, strategies of parts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

static const char graph[] = "name,time_s,output_bytes,needs\n"
                            "a,1e-3,1000000,\nb,2e-3,1000000,a\nc,2e-3,1000000,a\nd,1e-3,0,b+c\n";
static const char apart[] = "operator,device\na,0\nb,0\nc,1\nd,0\n";

TestSuite(cli_placed, .init = cli_enter, .fini = cli_leave);

static double number_of(const char *column, const char *command)
{
    struct cli_table *table = cli_rows("%s --columns %s --quiet", command, column);
    return cli_number(table, 1, column);
}

static double send_s(const char *bytes)
{
    char command[128];
    snprintf(command, sizeof command, "send --cluster flat --gpus 2 --payload %s", bytes);
    return number_of("allreduce_s", command);
}

Test(cli_placed, operators_on_two_gpus_take_what_they_take_by_hand)
{
    cli_write("placed.csv", graph);
    cli_write("apart.csv", apart);
    double apart_s = number_of("iteration_s", "predict --cluster flat --gpus 2 --operators "
                                              "./placed.csv --placement ./apart.csv");
    cr_expect_float_eq(apart_s, 1e-3 + 2 * send_s("1MB") + 2e-3 + 1e-3, 1e-9, "%g", apart_s);
    double alone_s = number_of("iteration_s", "predict --cluster flat --gpus 1 --operators "
                                              "./placed.csv");
    cr_expect_float_eq(alone_s, 6e-3, 1e-9);
    cli_good("$AR predict --cluster flat --gpus 2 --operators ./placed.csv --placement anneal "
             "--out found.csv --quiet");
    double found_s = number_of("iteration_s", "predict --cluster flat --gpus 2 --operators "
                                              "./placed.csv --placement ./found.csv");
    cr_expect_leq(found_s, apart_s + 1e-12);
}

Test(cli_placed, parts_on_a_ring_take_the_closed_form)
{
    double compute_s =
        number_of("compute_s", "predict --cluster flat --gpus 2 --algorithm ring --trace "
                               "resnet50-v1.5 --set gpu.cost_table=v100-sxm2");
    double bytes =
        number_of("payload_bytes", "predict --cluster flat --gpus 2 --algorithm ring --trace "
                                   "resnet50-v1.5 --set gpu.cost_table=v100-sxm2");
    for (int workers = 2; workers <= 8; workers *= 2) {
        char command[192], part[32];
        snprintf(command, sizeof command,
                 "predict --cluster flat --gpus %d --trace resnet50-v1.5 --set "
                 "gpu.cost_table=v100-sxm2 --strategy rotate",
                 workers);
        snprintf(part, sizeof part, "%.0fB", bytes / workers);
        double time_s = number_of("iteration_s", command);
        cr_expect_float_eq(time_s, compute_s + workers * send_s(part), 1e-6 * time_s, "%d: %g",
                           workers, time_s);
    }
}

Test(cli_placed, they_are_explained_drawn_and_swept)
{
    const char *text = cli_good("$AR explain --cluster dgx-a100 --gpus 2 --operators googlenet "
                                "--placement greedy --quiet")
                           .out;
    CLI_HAS(text, "96 operators");
    CLI_HAS(text, "all GPUs");
    text = cli_good("$AR export --format chrome-trace --cluster dgx-a100 --gpus 2 --operators "
                    "googlenet --quiet")
               .out;
    CLI_HAS(text, "\"name\": \"3a.1x1\"");
    struct cli_table *rows =
        cli_rows("sweep --cluster flat --trace resnet50-v1.5 --gpus 2,4 --strategy rotate,star "
                 "--depth 1,2 --set gpu.cost_table=v100-sxm2 --quiet");
    cr_expect_eq(rows->rows_count, 1 + 8);
    static const char *const mixed[] = {"rotate,data", "ps-sync,star", "data,partitioned"};
    for (size_t i = 0; i < 3; i++) {
        cli_fails(64, "--strategy: found",
                  "$AR sweep --cluster flat --trace resnet50-v1.5 --gpus 4 --strategy %s --set "
                  "gpu.cost_table=v100-sxm2",
                  mixed[i]);
    }
    cli_fails(64, "--operators: found with zero3",
              "$AR sweep --cluster dgx-a100 --gpus 2 --operators googlenet --mesh all");
}

Test(cli_placed, what_a_placement_leaves_idle_is_said)
{
    cli_write("three.csv", "name,time_s,output_bytes,needs\na,1,1,\nb,1,1,\nc,1,1,a+b\n");
    struct cli_run run = cli_good("$AR predict --cluster flat --gpus 3 --operators ./three.csv "
                                  "--placement anneal --format csv --columns efficiency_frac");
    CLI_HAS(run.err, "1 of 3 GPUs have no operator");
    CLI_HAS(run.err, "nothing that ends earlier than greedy");
    double efficiency = cli_number(cli_table(run.out), 1, "efficiency_frac");
    cr_expect_float_eq(efficiency, 3.0 / (3 * 2), 1e-3, "3 s of work in 2 s on 3 GPUs");
}

Test(cli_placed, axial_parallelism_hides_what_it_can)
{
    double alone_s =
        number_of("iteration_s", "predict --cluster dgx-a100 --strategy dap --workload "
                                 "alphafold2-initial --gpus 1 --precision bf16");
    double two_s = number_of("iteration_s", "predict --cluster dgx-a100 --strategy dap --workload "
                                            "alphafold2-initial --mesh tp=2 --precision bf16");
    cr_expect_gt(two_s, alone_s / 2);
    cr_expect_lt(two_s, alone_s / 1.5);
    /* Biases of 8 heads of 256 x 256 pairs, 2 bytes each. */
    const char *text = cli_good("$AR explain --cluster dgx-a100 --strategy dap --workload "
                                "alphafold2-initial --mesh tp=2 --precision bf16 --quiet")
                           .out;
    CLI_HAS(text, "all-gather     tp           1.049 MB");
}

Test(cli_placed, what_cannot_be_placed_is_refused)
{
    static const struct cli_case cases[] = {
        {"--operators ./circle.csv --gpus 2", 65, "circle.csv:2: operators need each other in a "},
        {"--operators ./placed.csv --placement ./apart.csv --gpus 1", 65,
         "apart.csv:4: column \"device\" is \"1\""},
        {"--operators ./placed.csv --placement ./other.csv --gpus 2", 65,
         "other.csv:2: column \"operator\" is \"x\""},
        {"--operators ./placed.csv --placement gready --gpus 2", 64, "--placement: found"},
        {"--operators ./placed.csv", 64, "--gpus is missing"},
        {"--operators ./placed.csv --gpus 100000", 64, "--gpus: found \"100000\""},
        {"--operators ./placed.csv --gpus 2 --strategy rotate", 64, "--operators: found"},
        {"--operators ./placed.csv --gpus 2 --engine nccl", 64, "--engine: found nccl"},
        {"--operators ./placed.csv --gpus 2 --algorithm ring", 64, "--algorithm: found"},
        {"--operators ./placed.csv --gpus 2 --schedule gpipe", 64, "--schedule: found"},
        {"--trace resnet50-v1.5 --gpus 2 --algorithm ring --depth 2", 64, "--depth: found"},
        {"--trace resnet50-v1.5 --gpus 1 --strategy star", 64, "star on 1 GPU"},
        {"--trace resnet50-v1.5 --gpus 8 --strategy partitioned", 64, "layer4.0.conv2"},
        {"--trace ./trace.csv --gpus 2 --strategy partitioned", 64, "hand on"},
        {"--workload mpt-7b --gpus 8 --strategy dap", 66, "alphafold2-initial"},
        {"--workload alphafold2-initial --mesh tp=7 --strategy dap", 64, "multiples of 7"},
        {"--workload alphafold2-initial --mesh pp=2,tp=4 --strategy dap", 64, "--mesh: found pp=2"},
        {"--workload alphafold2-initial --mesh tp=4", 64, "expected --strategy dap with it"},
        {"--operators ./placed.csv --gpus 2 --precision fp16", 64, "--precision: found"},
        {"--workload mpt-7b --gpus 8 --strategy rotate", 64, "--workload: found"},
        {"--trace resnet50-v1.5 --gpus 2 --algorithm ring --out x.csv", 64, "--out: found"},
    };
    cli_write("placed.csv", graph);
    cli_write("apart.csv", apart);
    cli_write("other.csv", "operator,device\nx,0\n");
    cli_write("circle.csv", "name,time_s,output_bytes,needs\na,1,1,b\nb,1,1,a\n");
    CLI_FAIL_ALL("predict --cluster dgx-a100", cases);
}
