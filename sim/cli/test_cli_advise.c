/* Plans: the fastest layout, what a training takes, what changes it. */
#include <math.h>

#include "test_cli.h"

#define JOB "--cluster dgx-h100 --workload llama3-8b --global-batch 64 --precision bf16 --quiet "

TestSuite(cli_advise, .init = cli_enter, .fini = cli_leave);

Test(cli_advise, the_plan_is_the_best_of_the_sweep_and_costs_what_its_options_say)
{
    struct cli_table *plan = cli_rows(
        "advise " JOB "--gpus 16 --tokens 2E-3T --price 3 --power 1000 --mtbf 10 --checkpoint 30");
    struct cli_table *best = cli_rows("sweep " JOB "--gpus 16,8 --mesh all --best");
    CLI_CELL(plan, 1, "kind", "plan", "mesh", cli_cell(best, 2, "mesh"), "iteration_s",
             cli_cell(best, 2, "iteration_s"));
    size_t half = cli_row(plan, "name", "half-gpus");
    CLI_SAME(plan, half, best, 1, "iteration_s");
    double useful = cli_number(plan, 1, "useful_frac");
    double time_s = 2e9 / cli_number(plan, 1, "tokens_per_s") / useful;
    CLI_NEAR(plan, 1, "days", time_s / 86400, 1e-6 * time_s);
    CLI_NEAR(plan, 1, "cost", 16 * time_s / 3600 * 3, 1e-5 * time_s);
    CLI_NEAR(plan, 1, "energy_kWh", 16 * time_s / 3600, 1e-5 * time_s);
    /* 30 s every sqrt(2 30 36000) s, and half of that again lost in each failure */
    cr_expect_float_eq(useful, 1 - sqrt(2 * 30 / 36000.0), 0.002);
    CLI_NEAR(plan, half, "useful_frac", 1 - sqrt(2 * 30 / 72000.0), 0.002,
             "half the GPUs fail half as often");
}

/* A model is trained on numbers of GPUs, or on one layout, as advise plans it. */
Test(cli_advise, train_of_a_model_has_the_plans_alone)
{
    static const char run[] = "--gpus 8,16 --tokens 2B --price 3";
    struct cli_table *plans = cli_rows("train " JOB "%s", run);
    struct cli_table *advice = cli_rows("advise " JOB "%s", run);
    cr_assert_eq(plans->rows_count, 3);
    for (size_t i = 1; i < plans->rows_count; i++) {
        cli_expect_same_row(plans, i, advice, i);
    }
    struct cli_table *one = cli_rows("train " JOB "--mesh dp=32 --strategy zero3 --tokens 2B");
    CLI_CELL(one, 1, "gpus", "32", "mesh", "dp=32");
    CLI_SAME(cli_rows("advise " JOB "--mesh dp=32 --strategy fsdp"), 1, one, 1, "gpus", "mesh");
    cli_fails(64, "expected 64, the number of --gpus",
              "$AR advise " JOB "--mesh dp=32 --strategy zero3 --gpus 64");
    CLI_NOTES("train --cluster dgx-h100 --workload mixtral-8x7b --mesh dp=2,ep=8 --global-batch 16 "
              "--tokens 2B --strategy zero3",
              "the experts of all GPUs get as many tokens");
    CLI_NOTES("advise --cluster dgx-h100 --workload mpt-125m --global-batch 64 --gpus 8,254",
              "--gpus 254 is left out: no layout divides, or fits");
}

/* A plan in words has every option that its number needs. */
Test(cli_advise, a_plan_says_that_parameters_are_gathered_beside_the_forward_pass)
{
    static const char gathered[] = "gathered beside the forward pass";
    const struct cli_saying rows[] = {{"zero1", gathered, 1}, {"zero3", gathered, 0}};
    CLI_SAYS("advise " JOB "--mesh dp=16 --recompute full --overlap-gather yes --strategy", rows);
}

/* The second stage has the loss, over many words; the first one has time for a slow GPU. */
Test(cli_advise, a_straggler_is_of_the_stage_that_computes_longest)
{
    static const char layout[] = JOB "--mesh pp=2,dp=8 --strategy zero1 --schedule 1f1b";
    struct cli_table *plan = cli_rows("advise %s", layout);
    double slow_s = cli_number(plan, cli_row(plan, "name", "straggler"), "iteration_s");
    cr_expect_gt(slow_s, 1.1 * cli_number(plan, 1, "iteration_s"));
    cr_expect_lt(cli_value("iteration_s", "predict %s --straggler 0:1.2", layout), slow_s);
}

/* Each change is the prediction of the same layout with that one thing changed. */
Test(cli_advise, changes_are_predictions_and_losses_parts_of_the_step)
{
    static const char layout[] = "--mesh pp=1,dp=16,ep=1,tp=1 --strategy zero3 --micro-batch 1";
    struct cli_table *plan =
        cli_rows("advise --cluster dgx-h100 --workload llama3-8b --global-batch 256 --precision "
                 "bf16 --gpus 16 --strategy zero3 --mesh all --quiet");
    CLI_CELL(plan, 1, "mesh", "dp=16");
    static const struct {
        const char *name, *options;
    } changes[] = {
        {"network-x2", "--set hca.bandwidth=98.64GB/s --set pcie.bandwidth=126.03GB/s"},
        {"slow-hca", "--slow-link node-0.hca-0:4"},
        {"straggler", "--straggler 0:1.2"},
        {"next-gpu", "--set gpu.cost_table=b200"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct cli_table *row =
            cli_rows("predict --cluster dgx-h100 --workload llama3-8b --global-batch 256 "
                     "--precision bf16 --quiet %s %s",
                     layout, changes[i].options);
        CLI_SAME(plan, cli_row(plan, "name", changes[i].name), row, 1, "iteration_s");
    }
    double step_s = cli_number(plan, 1, "iteration_s"), lost_s = 0;
    size_t end = cli_row(plan, "name", "network-x2");
    cr_expect(end >= 4 && end <= 5, "two losses of this step are above a thousandth of it");
    for (size_t i = 2; i < end; i++) {
        CLI_CELL(plan, i, "kind", "loss");
        lost_s += cli_number(plan, i, "iteration_s");
        cr_expect(i == 2 ||
                  cli_number(plan, i, "iteration_s") <= cli_number(plan, i - 1, "iteration_s"));
    }
    double useful_s = cli_number(plan, 1, "mfu_frac") * step_s;
    cr_expect(lost_s <= (step_s - useful_s) * 1.0001 && lost_s > 0.9 * (step_s - useful_s),
              "%g of %g s", lost_s, step_s - useful_s);
}

Test(cli_advise, plans_of_long_sequences_also_cut_them)
{
    static const char line[] = "advise --cluster dgx-h100 --workload llama3-8b --seq 524288 "
                               "--gpus 64 --global-batch 1 --precision bf16 --mesh all%s";
    CLI_CELL(cli_rows(line, ""), 1, "mesh", "cp=2,tp=32");
    CLI_CELL(cli_rows(line, ",cp=1"), 1, "mesh", "pp=2,tp=32");
}

/* An hour of other GPUs has another price, and they draw other power. */
Test(cli_advise, price_and_power_are_those_of_the_present_gpus)
{
    struct cli_table *plan =
        cli_rows("advise " JOB "--mesh dp=32 --strategy zero3 --tokens 2B --price 2 --power 700");
    size_t slow = cli_row(plan, "name", "slow-hca"), next = cli_row(plan, "name", "next-gpu");
    cr_expect_gt(cli_number(plan, slow, "cost"), cli_number(plan, 1, "cost"));
    CLI_CELL(plan, next, "cost", "", "energy_kWh", "");
    cr_expect_lt(cli_number(plan, next, "days"), cli_number(plan, 1, "days"));
}

Test(cli_advise, counts_of_gpus_have_a_plan_each_and_files_a_report)
{
    struct cli_run run = cli_good("$AR advise " JOB "--gpus 8:32:x2 --micro-batch 1,2 --out plan");
    CLI_COUNTS(run.out, {"plan  ", 3}, {"half-gpus", 1}, {"llama3-8b on ", 3});
    CLI_LINES(cli_read("plan/advice.csv"), "plan,", 3);
    CLI_SHOWS("report plan", "What: llama3-8b on 32 GPUs");
    CLI_LINES(cli_read("plan/report.html"), "half the GPUs, with their own layout", 1);
    CLI_HAS(cli_read("plan/command.txt"), "--micro-batch 1,2 --precision bf16 --gpus 8:32:x2\n");
    CLI_HAS(cli_read("plan/parameters.csv"), "--mesh,all,default");
    CLI_SHOWS("advise --cluster dgx-h100 --workload mpt-125m --gpus 1 --global-batch 8",
              "mpt-125m on 1 GPU of dgx-h100: ", " tokens/s, by zero3, micro-batch 1");
}

/* A sweep that was interrupted leaves rows, which only 'sweep' can go on with. */
Test(cli_advise, a_directory_is_written_whole_or_not_at_all)
{
    cli_fails(64, "operations are not known",
              "$AR advise --cluster dgx-a100 --workload alphafold2-finetuning --strategy dap "
              "--mesh dp=128,tp=2 --gpus 256 --precision bf16 --out half");
    cli_good("! test -e half");
    cli_good("mkdir plan && printf '# allreckon another sweep\npoint\n%%09999d\n' 1 > "
             "plan/sweep.journal && $AR advise " JOB "--gpus 16 --out plan");
    cli_good("! test -e plan/sweep.journal");
    cli_fails(64, "expected --force to overwrite", "$AR advise " JOB "--gpus 8 --out plan");
    cli_good("$AR advise " JOB "--gpus 8 --out plan --force");
}

Test(cli_advise, what_a_plan_cannot_be_made_of_is_one_line)
{
#define ON_16 "--workload llama3-8b --gpus 16 --global-batch 16 "
    static const char *const cases[][2] = {
        {"", "option --workload is missing"},
        {"--workload alphafold2-finetuning --strategy dap --gpus 64 --set "
         "gpu.cost_table=a100-80gb-sxm --precision bf16",
         "--schedule: found with operators; expected none there"},
        {ON_16 "--price 2", "found --price or --power without --tokens"},
        {ON_16 "--mtbf 2", "found --mtbf alone; expected --mtbf and --checkpoint together"},
        {ON_16 "--tokens 1G", "(such as 300B or 15T): found \"1G\""},
        {ON_16 "--tokens 2TB", "(such as 300B or 15T): found \"2TB\""},
        {"--workload llama3-8b --gpus 16,8192 --global-batch 8192",
         "--gpus: found \"8192\"; expected a whole number from 1 to 4096"},
        {ON_16 "--mtbf 1 --checkpoint 3600", "--checkpoint: found 3600 s with a failure every 1 h"},
        {"--workload llama3-8b,mpt-7b --gpus 16 --global-batch 16",
         "found --workload llama3-8b,mpt-7b; expected one value"},
        {"--workload llama3-8b --gpus 1 --global-batch 64", "the smallest (one GPU, zero3"},
    };
    CLI_REFUSE(64, "advise --cluster dgx-h100", cases);
}

/* The block of the README behind the command prints what the command prints. If a prediction was
 * meant to change, put the new output there. */
Test(cli_advise, the_readme_shows_what_it_prints, CLI_NO_NEW_CODE)
{
    struct cli_run run =
        cli_good("readme=" AR_TEST_SOURCE_DIR "/README.md; "
                 "awk '/^```sh advise/ {on = 1; next} /^```/ {on = 0} on' $readme | "
                 "sed \"s|build/release/allreckon|$AR|\" > command; "
                 "awk '/^```text/ {on = 1; next} /^```/ {on = 0} on' $readme > shown; "
                 "test -s shown && sh command > printed && diff shown printed");
    cr_expect_str_empty(run.out, "%s", run.out);
}
