/* Frameworks, their terms and measured rates on the command line. */
#include <stdlib.h>

#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_terms, .init = cli_enter, .fini = cli_leave);

#define STEP                                                                                       \
    "--cluster flat --trace resnet50-v1.5 --gpus 16 --algorithm ring --engine closed --quiet "

/* A number of the row that `predict` prints. */
static double step_number(const char *options, const char *column)
{
    return cli_number(cli_rows("predict " STEP "%s", options), 1, column);
}

Test(cli_terms, rows_name_what_was_asked_for_and_options_win_over_the_frameworks_defaults)
{
    static const struct {
        const char *options, *column, *text;
    } rows[] = {
        {"", "framework", "none"},
        {"--framework horovod", "framework", "horovod"},
        {"--framework nnl --precision fp32", "wire", "fp16"},
        {"--framework nnl --precision fp32", "precision", "fp32"},
        {"--term wire.precision=fp32", "wire", "fp32"},
        {"--term step.floor=1ms --samples-per-s-at 32=1000", "settings",
         "term=step.floor=1ms samples-per-s-at=32=1000"},
        {"--framework mxnet-horovod", "bucket", "groups:16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLI_CELL(cli_rows("predict " STEP "%s", rows[i].options), 1, rows[i].column, rows[i].text);
    }
    cr_expect_eq(step_number("--term wire.precision=fp32", "payload_bytes"),
                 2 * step_number("", "payload_bytes"));
    cr_expect_eq(step_number("", "copy_s") + step_number("", "contention_s") +
                     step_number("", "input_wait_s"),
                 0);
    struct cli_run run =
        cli_run("$AR predict --cluster flat --trace resnet50-v1.5 --gpus 4 --algorithm ring "
                "--bucket one --framework horovod --term contention.sms=off --term gpu.sms=40 "
                "--prefetch 2 --seed 3");
    CLI_HAS(run.err, "term gpu.sms changes nothing without contention.sms",
            "prefetch changes nothing: only zero3");
    CLI_LACKS(run.err, "seed changes nothing"); /* horovod has a jitter */
}

Test(cli_terms, none_is_no_framework_and_a_bare_all_reduce_has_none)
{
    const struct cli_table *plain = cli_table(cli_good("$AR predict " STEP "--format csv").out);
    cli_expect_same_table(plain, cli_rows("predict " STEP "--framework none"));
    const struct cli_table *bare =
        cli_rows("allreduce --cluster flat --gpus 4 --algorithm ring --payload 1MB --quiet ");
    cr_expect_str_empty(cli_cell(bare, 1, "framework"));
    cr_expect_str_empty(cli_cell(bare, 1, "copy_s"));
}

Test(cli_terms, the_buckets_of_a_cycle_are_those_of_the_row, CLI_NO_NEW_CODE)
{
    double buckets = step_number("--bucket one --term cycle.time=2ms", "buckets_count");
    cr_expect_gt(buckets, 4);
    cr_expect_eq(step_number("--bucket one --term cycle.time=1s", "buckets_count"), 1);
    struct cli_run run = cli_good("$AR explain " STEP "--bucket one --term cycle.time=2ms");
    cr_expect_eq(cli_lines_with(run.out, " MB    ") + cli_lines_with(run.out, " kB    "),
                 (size_t)buckets, "%s", run.out);
}

Test(cli_terms, a_measured_rate_is_met_at_its_batch)
{
    static const struct {
        const char *options;
        double compute_s;
    } rows[] = {{"--samples-per-s-at 16=700 --framework mxnet-horovod --batch 16", 16 / 700.0},
                /* A factor on a measured rate; floors are part of it. */
                {"--samples-per-s-at 32=800 --term compute.scale=1.25", 0.05},
                {"--samples-per-s-at 32=800 --term step.floor=2ms", 0.04}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_float_eq(step_number(rows[i].options, "compute_s"), rows[i].compute_s, 1e-7, "%s",
                           rows[i].options);
    }
#define MXNET "--framework mxnet-horovod --batch "
    double factor = 16 / step_number(MXNET "16", "compute_s") / 700; /* that of any batch */
    cr_expect_float_eq(step_number(MXNET "64 --samples-per-s-at 16=700", "compute_s"),
                       factor * step_number(MXNET "64", "compute_s"), 1e-9);
    /* A timed trace knows its own batch. */
    cli_good("$AR predict --cluster flat --trace trace.csv --gpus 4 --samples-per-s-at 32=100");
}

Test(cli_terms, a_trace_in_another_unit_and_a_batch_beyond_the_memory_are_noted)
{
    static const struct cli_saying rows[] = {
        {"flat --trace ./us.csv", "its file is read in seconds, is it in ms or us?", 1},
        {"flat --trace trace.csv", "is read in seconds", 0},
        {"flat --trace trace.csv", "trace (made up, to show the format), whatever the GPUs", 1},
        {"flat --trace trace.csv --samples-per-s-at 32=9", "whatever the GPUs", 0},
        {"flat --trace trace.csv --set hca.bandwidth=400GB/s", "3200 Gb/s of one HCA: are Gbps", 1},
        {"flat --trace trace.csv --set hca.bandwidth=1600Gbps", "of one HCA", 0},
        {"dgx1-v100 --trace resnet50-v1.5 --batch 208", "gpu.memory", 0},
        {"dgx1-v100 --trace resnet50-v1.5 --batch 512",
         "note: batch 512: activations, weights and gradients take about 21.32 GB, more than "
         "gpu.memory, 16.94 GB",
         1},
        {"dgx1-v100 --trace resnet50-v1.5 --batch 512 --set gpu.memory=32GB", "gpu.memory", 0},
    };
    cli_good("awk -F, -v OFS=, '/^[a-z]+[0-9]/ {$2 *= 1e6; $3 *= 1e6} {print}' trace.csv >us.csv");
    CLI_SAYS("predict --gpus 8 --algorithm ring --engine closed --cluster", rows);
    CLI_LINES(cli_good("$AR sweep --gpus 8,16 --algorithms ring --engine closed --cluster "
                       "dgx1-v100 --trace resnet50-v1.5 --batch 32,512,64")
                  .err,
              "note: batch 512: activations", 1);
}

Test(cli_terms, an_explanation_calls_waiting_what_is_exposed_beside_the_all_reduces)
{
    CLI_SHOWS("explain " STEP "--bucket one", "of which 0.000 ms hide behind");
    const char *waits =
        cli_good("$AR explain " STEP "--bucket groups:1 --term cycle.time=1ms --jitter 0.05").out;
    CLI_HAS(waits, " ms, all exposed, and ");
    CLI_LACKS(waits, "hide behind");
}

/* The cost of a term behind its value in the table of terms, ms. */
static double cost_ms(const char *out, const char *row)
{
    double cost = -1;
    const char *line = strstr(out, row);
    cr_assert(line != NULL && sscanf(line, "%*s %*s %lf", &cost) == 1, "%s: %s", row, out);
    return cost;
}

Test(cli_terms, explain_says_what_each_term_costs_as_the_steps_without_it_do)
{
    const char *all = "--bucket one --term fusion.passes=4 --term step.floor=1.5ms --term "
                      "negotiate.base=2ms --term cycle.time=3ms";
    struct cli_run run = cli_good("$AR explain " STEP "%s", all);
    double with_s = step_number(all, "iteration_s");
    double base_s =
        step_number("--bucket one --term fusion.passes=4 --term step.floor=1.5ms --term "
                    "cycle.time=3ms",
                    "iteration_s");
    cr_expect_float_eq(cost_ms(run.out, "\n  negotiate.base "), (with_s - base_s) * 1e3, 6e-4);
    /* 51.1 MB are read and written twice at 780 GB/s. */
    run = cli_good("$AR explain " STEP "--bucket one --term fusion.passes=4 --term jitter=off "
                   "--term step.floor=1.5ms");
    cr_expect_float_eq(cost_ms(run.out, "\n  fusion.passes "), 4 * 51.114064 / 780, 6e-4);
    cr_expect_float_eq(cost_ms(run.out, "\n  step.floor "), 1.5, 1e-9);
    CLI_SHOWS("explain " STEP "--framework horovod", "Horovod 0.21.0 changed the cycle time");
}

Test(cli_terms, a_users_own_file_is_a_framework, CLI_NO_NEW_CODE)
{
    cli_good("printf 'term,value,source\\nstep.floor,2ms,me\\n' > mine.csv");
    cr_expect_float_eq(step_number("--framework ./mine.csv", "overhead_s"), 2e-3, 1e-12);
}

Test(cli_terms, what_is_wrong_is_said_in_one_line)
{
    static const struct cli_case rows[] = {
        {"--framework horovd", 66, "unknown framework \"horovd\"; did you mean \"horovod\"?"},
        {"--framework missing.csv", 66, "missing.csv"},
        {"--term step.floor", 64, "--term: found \"step.floor\"; expected KEY=VALUE"},
        {"--term fusion.rule=big", 64, "--term: fusion.rule: found \"big\"; expected ddp"},
        {"--term contention.sms=80", 64, "term contention.sms: 1 channels take 80 of the 80"},
        {"--samples-per-s-at 32", 64, "--samples-per-s-at: found \"32\"; expected BATCH="},
        {"--samples-per-s-at 32=0", 64, "found \"32=0\""},
    };
    CLI_FAIL_ALL(
        "predict --cluster flat --gpus 16 --algorithm ring --engine closed --trace resnet50-v1.5",
        rows);
    cli_fails(64, "found batch 64; expected 32, at which",
              "$AR predict --cluster flat --gpus 16 --trace trace.csv --samples-per-s-at 64=500");
}

/* The note before it; both are stopped then. */
Test(cli_terms, explain_says_beforehand_how_long_all_its_steps_take)
{
    static const char *const commands[] = {"predict", "explain"};
    double minutes[2];
    for (size_t i = 0; i < 2; i++) {
        struct cli_run run = cli_run(
            ": >note; $AR %s --cluster flat --trace resnet50-v1.5 --gpus 512 --algorithm "
            "torus2d --framework horovod --engine simgrid 2>note & for i in $(seq 200); do grep -q "
            "'takes about' note && break; sleep 0.05; done; kill -9 $!; cat note >&2",
            commands[i]);
        const char *about = strstr(run.err, "takes about ");
        cr_assert_not_null(about, "%s", run.err);
        minutes[i] = strtod(about + strlen("takes about "), NULL);
        CLI_HAS(about, " min; ");
    }
    cr_expect_gt(minutes[1], 5 * minutes[0], "%g and %g min", minutes[1], minutes[0]);
}

#define SMALL                                                                                      \
    "--cluster dgx-h100 --workload gpt --layers 4 --hidden 256 --heads 4 --mesh dp=8 "             \
    "--strategy zero3 --precision bf16 --global-batch 32 --quiet "
#define GPT                                                                                        \
    "--cluster dgx-a100 --workload gpt --layers 4 --hidden 1024 --heads 16 --mesh dp=8 "           \
    "--global-batch 32 --quiet --term host.kernel=100us "

Test(cli_terms, the_host_launches_steps_of_workloads_and_nothing_else)
{
    static const char *const refused[][2] = {
        {"predict " STEP "--term host.kernel=1us",
         "--term: host.kernel: found 1us with a trace; expected it with --workload alone"},
        {"predict " GPT "--strategy ps-sync --servers 2",
         "found host.kernel for a workload; expected contention.sms, gpu.sms, jitter alone there"},
        {"predict " GPT "--term cycle.time=1ms", "elementwise.scale, host terms alone there"},
        {"predict " SMALL "--framework nnl", "found nnl with wire.precision for a workload"},
        {"predict " GPT "--term host.blocking=2", "expected a whole number from 0 to 1"},
    };
    CLI_REFUSE(64, "", refused);
    cr_expect_gt(cli_value("iteration_s", "predict " GPT "--term host.blocking=1"),
                 1.01 * cli_value("iteration_s", "predict " GPT));
    cr_expect_float_eq(cli_value("optimizer_s", "predict " GPT "--term host.tensor=1ms"), 52e-3,
                       1e-9, "4 layers of 12 tensors, 4 others");
    double eager_s = cli_value("iteration_s", "predict " SMALL "--framework eager-fsdp");
    cr_expect_gt(cli_value("iteration_s", "predict " SMALL "--framework transformer-engine"), 0);
    cr_expect_lt(cli_value("iteration_s", "predict " SMALL "--framework cuda-graphs"), eager_s);
}
