/* A measured step beside the predicted one. */

#include "test_cli.h"

#define JOB                                                                                        \
    " --cluster dgx-h100 --workload llama3-8b --gpus 64 --strategy zero3 --global-batch 128 "      \
    "--precision bf16 --recompute full --quiet "
#define STEP "diagnose" JOB

TestSuite(cli_diagnose, .init = cli_enter, .fini = cli_leave);

Test(cli_diagnose, mfu_is_of_the_dense_peak_with_and_without_the_pairs_behind_a_token)
{
    struct cli_table *table = cli_rows(STEP "--tokens-per-s 400000");
    double tokens = 128 * 8192, rate = 400000 / (64 * 989.4e12); /* of the peak */
    double weights = 8.03e9 - 128256.0 * 4096;                   /* the embedding is no product */
    double attention = 3 * 4 * 32 * 4096.0 * 8192;
    CLI_CELL(table, 1, "kind", "measured");
    CLI_NEAR(table, 1, "iteration_s", tokens / 400000, 1e-6);
    CLI_NEAR(table, 1, "mfu_frac", (6 * weights + attention) * rate, 2e-4);
    CLI_NEAR(table, 1, "mfu_causal_frac", (6 * weights + attention / 2) * rate, 2e-4);
    struct cli_table *step = cli_rows("predict" JOB);
    CLI_SAME(table, 2, step, 1, "iteration_s", "mfu_frac");
}

Test(cli_diagnose, rates_of_one_gpu_and_times_of_a_micro_batch_are_recognized)
{
    static const struct cli_saying rows[] = {
        {"7000", ",of-one-gpu,", 1},
        {"7000", ",hca-tenth,", 0},  /* no causes of what is another unit */
        {"3500", ",of-one-gpu,", 1}, /* half as fast as predicted, and of one GPU */
        {"3.5e5", ",of-one-gpu,", 0},
        {"400000 --mfu 0.9", ",unknown,", 1},
        {"1048576 --mfu 2", ",micro-batch,", 1},
    };
    CLI_SAYS(STEP "--format csv --tokens-per-s", rows);
    CLI_SHOWS(STEP "--step-s 2400", "the time is in milliseconds");
    CLI_LINES(cli_good("$AR %s --step-s 149", STEP).out, "reading", 0);
    CLI_LINES(cli_good("$AR %s --step-s 0.037 --tflops-per-gpu 400", STEP).out, "reading", 0);
    CLI_SHOWS("diagnose --cluster dgx-h100 --workload llama3-8b --gpus 512 --strategy zero3 "
              "--global-batch 1024 --tflops-per-gpu 232000",
              "the rate is that of all GPUs");
    struct cli_run run = cli_good("$AR diagnose --cluster dgx-h100 --workload llama3-8b --gpus 64 "
                                  "--strategy zero3 --global-batch 64 --tokens-per-s 3e6");
    CLI_LINES(run.err, "% cannot be: the number is of something else", 1);
    CLI_COUNTS(run.err, {"no cause", 0}, {"check the first ones", 0});
    CLI_NOTES("diagnose --cluster dgx-h100 --workload llama3-8b --gpus 64 --strategy "
              "zero3 --global-batch 64 --tokens-per-s 4e5",
              "check the first ones");
}

/* A step that was predicted with a cause is explained by it first. */
Test(cli_diagnose, the_cause_of_a_step_is_the_first_that_is_named, CLI_NO_NEW_CODE)
{
    static const struct {
        const char *name, *options;
    } causes[] = {
        {"slow-hca", "--slow-link node-0.hca-0:4"}, {"straggler", "--straggler 0:1.2"},
        {"prefetch-off", "--prefetch 0"},           {"unfused", "--attention unfused"},
        {"eager", "--framework eager-llama"}, /* of Llama, not of GPT */
    };
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        struct cli_table *step = cli_rows("predict" JOB "%s", causes[i].options);
        struct cli_table *table = cli_rows(STEP "--step-s %s", cli_cell(step, 1, "iteration_s"));
        CLI_CELL(table, 3, "name", causes[i].name);
        CLI_NEAR(table, 3, "ratio", 1, 1e-6);
    }
}

Test(cli_diagnose, a_reported_mfu_is_traced_to_its_peak_and_count)
{
    double mfu = cli_value("mfu_frac", STEP "--tokens-per-s 400000");
    cr_expect_neq(cli_row(cli_rows(STEP "--tokens-per-s 400000 --mfu %g", mfu), "name", "agrees"),
                  0);
    cr_expect_neq(
        cli_row(cli_rows(STEP "--tokens-per-s 400000 --mfu %g", mfu / 2), "name", "sparse"), 0);
    struct cli_table *table = cli_rows(STEP "--tokens-per-s 400000 --mfu %g", mfu * 989.4 / 312);
    CLI_CELL(table, cli_row(table, "name", "other-peak"), "text",
             "the peak is that of a100-40gb-sxm in fp16");
    CLI_NEAR(cli_rows(STEP "--mfu %.9g", mfu), 1, "tokens_per_s", 400000, 1);
    mfu = (6 * 8.03e9 + 3 * 4 * 32 * 4096.0 * 8192) * 400000 / (64 * 989.4e12);
    cr_expect_neq(
        cli_row(cli_rows(STEP "--tokens-per-s 400000 --mfu %g", mfu), "name", "6NT-attention"), 0);
}

Test(cli_diagnose, a_rate_alone_that_fits_with_what_is_recomputed_is_shown_so)
{
    struct cli_table *step = cli_rows("predict" JOB);
    double rate = cli_number(step, 1, "tflops_per_gpu"), own = cli_number(step, 1, "mfu_frac");
    struct cli_table *table = cli_rows(STEP "--tflops-per-gpu %.9g", rate);
    double step_s = cli_number(step, 1, "iteration_s");
    CLI_NEAR(table, cli_row(table, "name", "hfu"), "iteration_s", step_s, 1e-6);
    CLI_NEAR(table, 1, "iteration_s", step_s * own * 989.4 / rate, 1e-4);
    cr_expect_eq(cli_row(cli_rows(STEP "--mfu %.9g", own), "name", "hfu"), 0);
}

Test(cli_diagnose, one_measured_number_is_needed)
{
    cli_fails(64, "diagnose: found neither; expected one of", "$AR " STEP);
    cli_fails(64, "diagnose: found both", "$AR " STEP "--step-s 1 --tokens-per-s 2");
    cli_fails(64, "--step-s (seconds): found \"0\"", "$AR " STEP "--step-s 0");
    cli_good("$AR " STEP "--step-s 3 --format csv --out d >a && cmp a d/diagnose.csv");
    cli_fails(64, "--mfu (0.4 for 40 %): found \"41\"", "$AR " STEP "--mfu 41");
    cli_fails(64, "diagnose: found both", "$AR " STEP "--mfu 0.4 --tflops-per-gpu 9");
}
