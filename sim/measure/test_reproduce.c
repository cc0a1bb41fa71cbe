/* Published runs beside predictions: bands, summaries, files. */
#include <math.h>

#include "test_cli.h"

TestSuite(reproduce, .init = cli_enter, .fini = cli_leave);

/* No calibration error of the compute model: only the assumptions of a row are drawn. */
#define KNOWN "--term compute.scale=1 "

#define HEAD "row,quantity,measured,source,cluster,gpus,algorithm,trace,baseline,assume\n"

static struct cli_table *reproduce(const char *arguments)
{
    return cli_rows("reproduce rows.csv " KNOWN "%s", arguments);
}

/* A row with cells for its options, and the same as options of predict. */
Test(reproduce, a_row_equals_predict_with_the_same_options)
{
    static const char *const quantities[] = {"efficiency_frac", "samples_per_s", "iteration_s"};
    static const struct {
        const char *trace, *cells, *options;
    } rows[] = {
        {"trace.csv", ",,,,,,,,,,", ""},
        {"trace.csv", "4x2,,one,1,1,closed,,net.latency=20us; hca.bandwidth=5GB/s,,,",
         "--shape 4x2 --bucket one --channels 1 --window 1 --engine closed "
         "--set net.latency=20us --set hca.bandwidth=5GB/s"},
        {"resnet50-v1.5", ",16,64KiB,2,,,0.1,,,,",
         "--batch 16 --bucket 64KiB --channels 2 --jitter 0.1"},
        {"resnet50-v1.5", ",,,,,,,,pytorch-ddp,32=1000,step.floor=1ms; cycle.time=2ms",
         "--framework pytorch-ddp --samples-per-s-at 32=1000 --term step.floor=1ms "
         "--term cycle.time=2ms"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        int used = snprintf(text, sizeof text,
                            "row,quantity,measured,source,cluster,gpus,algorithm,trace,baseline,"
                            "shape,batch,bucket,channels,window,engine,jitter,set,framework,"
                            "samples_per_s_at,term\n");
        for (size_t k = 0; k < 3; k++) {
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "%zu,%s,1,made up,abci-v100,8,torus2d,%s,gpu,%s\n", k, quantities[k],
                             rows[i].trace, rows[i].cells);
        }
        cli_write("rows.csv", text);
        struct cli_table *got = reproduce("--samples 1");
        struct cli_table *expected = cli_rows("predict --cluster abci-v100 --gpus 8 --algorithm "
                                              "torus2d --baseline gpu --trace %s " KNOWN "%s",
                                              rows[i].trace, rows[i].options);
        for (size_t k = 0; k < 3; k++) {
            cr_expect_str_eq(cli_cell(got, k + 1, "predicted"),
                             cli_cell(expected, 1, quantities[k]), "%s: %s", rows[i].options,
                             quantities[k]);
        }
    }
}

/* Keys that the row leaves open are those of the run file. */
Test(reproduce, a_whole_run_is_that_of_train)
{
    cli_write("rows.csv", "row,quantity,measured,source,cluster,bucket,run,assume\n"
                          "a,train_s,1500,made up,abci-v100,,example,bucket=ddp|one\n"
                          "b,train_s,1500,made up,abci-v100,one,example,\n");
    struct cli_table *got = reproduce("--samples 9 --out out");
    for (size_t i = 1; i <= 2; i++) {
        struct cli_table *run =
            cli_rows("train example --quiet " KNOWN "%s", i == 2 ? "--bucket one" : "");
        CLI_CELL(got, i, "predicted", cli_cell(run, run->rows_count - 1, "time_s"), "gpus", "64",
                 "algorithm", "torus2d");
    }
    cr_expect_geq(cli_number(got, 1, "high"), cli_number(got, 2, "predicted"),
                  "bucket=one is drawn");
}

Test(reproduce, the_seed_decides_and_processes_and_other_rows_do_not)
{
    cli_write("rows.csv",
              HEAD "a,iteration_s,1,made up,flat,4,ring,trace.csv,,set.net.latency=0.001ms..1ms\n"
                   "b,iteration_s,1,made up,flat,4,ring,trace.csv,,set.net.latency=0.001ms..1ms\n");
    const char *first = cli_good("$AR reproduce rows.csv --seed 7 --jobs 1").out;
    const char *again = cli_good("$AR reproduce rows.csv --seed 7 --jobs 3").out;
    const char *other = cli_good("$AR reproduce rows.csv --seed 8").out;
    cr_expect_str_eq(first, again);
    cr_expect_str_neq(first, other);
    struct cli_table *both = reproduce("");
    cli_expect_same_row(both, 2, reproduce("--rows b"), 1);
    cr_expect_str_neq(cli_cell(both, 1, "high"), cli_cell(both, 2, "high"));
    double width = 0;
    for (size_t i = 1; i <= 2; i++) {
        width += 50 * (cli_number(both, i, "high") - cli_number(both, i, "low")) /
                 cli_number(both, i, "predicted");
    }
    char said[100];
    snprintf(said, sizeof said,
             "2 of 2 predicted rows have a band, 0 are inside; width of a band, median %.1f %% of",
             width);
    CLI_SHOWS("reproduce rows.csv " KNOWN, said);
}

/* How far an error bar reaches is tested in test_band.c. */
Test(reproduce, a_row_with_an_error_bar_has_a_band_and_is_judged)
{
    static const struct {
        const char *measured, *inside, *said;
    } rows[] = {{"1,0.001", "no", "\n1 of 1 predicted rows have a band, 0 are inside"},
                {"1,1", "yes", "\n1 of 1 predicted rows have a band, 1 are inside"},
                {"1,0", "", "\n0 of 1 predicted rows have a band, 0 are inside"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "row,quantity,measured,measured_error,source,cluster,gpus,algorithm,trace\n"
                 "a,iteration_s,%s,made up,flat,4,ring,trace.csv\n",
                 rows[i].measured);
        cli_write("rows.csv", text);
        struct cli_table *table = reproduce("");
        CLI_CELL(table, 1, "inside", rows[i].inside);
        CLI_NEAR(table, 1, "error_frac", cli_number(table, 1, "predicted") - 1, 1e-6);
        CLI_SHOWS("reproduce rows.csv " KNOWN, rows[i].said);
    }
}

#define LIBRARY                                                                                    \
    "--cluster abci-v100-nccl2.8 --engine library --algorithm auto --gpus 32 --trace "             \
    "resnet50-v1.5"

/* An engine has a band of its own, which is part of that of its row. 400 draws meet the ends of a
 * 95 % band to a tenth or two of its width. */
Test(reproduce, the_band_of_a_row_is_that_of_its_engine_and_of_a_run_as_wide)
{
    cli_write("rows.csv",
              "row,quantity,measured,source,cluster,run,engine,algorithm,gpus,trace\n"
              "a,iteration_s,1,made up,abci-v100-nccl2.8,,library,auto,32,resnet50-v1.5\n"
              "b,train_s,1,made up,abci-v100-nccl2.8,example,library,auto,32,\n");
    struct cli_table *step = cli_rows("predict " LIBRARY " --quiet");
    struct cli_table *rows = reproduce("--samples 400");
    double low_s = cli_number(step, 1, "low_s"), high_s = cli_number(step, 1, "high_s");
    double slack_s = 0.2 * (high_s - low_s);
    CLI_CELL(rows, 1, "predicted", cli_cell(step, 1, "iteration_s"));
    CLI_NEAR(rows, 1, "low", low_s, slack_s);
    CLI_NEAR(rows, 1, "high", high_s, slack_s);
    double low = cli_number(rows, 2, "low") / cli_number(rows, 2, "predicted");
    double high = cli_number(rows, 2, "high") / cli_number(rows, 2, "predicted");
    cr_expect(low < 0.999 && low > 0.98, "%g", low);
    cr_expect(high > 1.001 && high < 1.02, "%g", high);
}

Test(reproduce, the_command_line_fixes_what_rows_leave_open)
{
    cli_write("rows.csv", HEAD "a,iteration_s,1,made up,flat,4,ring,trace.csv,,"
                               "set.net.latency=0.001ms..1ms; engine=closed|recurrence\n");
    struct cli_table *open = reproduce("--rows a");
    struct cli_table *fixed = reproduce("--set net.latency=1ms --engine closed");
    cr_expect_not_null(strstr(cli_cell(open, 1, "assumptions"), "net.latency=0.001ms..1ms (row)"));
    cr_expect_str_empty(cli_cell(fixed, 1, "assumptions"));
    cr_expect_str_eq(cli_cell(fixed, 1, "low"), cli_cell(fixed, 1, "high"));
    cr_expect_gt(cli_number(fixed, 1, "predicted"), cli_number(open, 1, "high"));
}

/* The file of ranges knows the cluster; values of the row win over it. */
Test(reproduce, calibration_errors_come_with_the_cluster)
{
    cli_write("rows.csv",
              "row,quantity,measured,source,cluster,gpus,algorithm,trace,set,assume\n"
              "a,iteration_s,1,made up,abci-v100,8,ring,trace.csv,,\n"
              "b,iteration_s,1,made up,abci-v100,8,ring,trace.csv,net.latency=3us,\n"
              "c,iteration_s,1,made up,abci-v100,8,ring,trace.csv,,set.net.latency=3us|4us\n"
              "d,iteration_s,1,made up,flat,8,ring,trace.csv,,\n");
    struct cli_table *table = reproduce("");
    const char *texts[5];
    for (size_t i = 1; i <= 4; i++) {
        texts[i] = cli_cell(table, i, "assumptions");
        cr_expect_eq(strstr(texts[i], "hca.bandwidth=") != NULL, i < 4, "%s", texts[i]);
    }
    cr_expect_not_null(strstr(texts[1], "net.latency=2.4us..9.6us (the wire"), "%s", texts[1]);
    cr_expect_null(strstr(texts[2], "net.latency"), "%s", texts[2]);
    cr_expect_not_null(strstr(texts[3], "set.net.latency=3us|4us (row)"), "%s", texts[3]);
    cr_expect_null(strstr(texts[3], "9.6us"), "%s", texts[3]);
    cr_expect_gt(cli_number(table, 1, "high"), cli_number(table, 1, "low"));
}

/* Nor is that drawn to which the row's prediction does not react. */
Test(reproduce, a_row_draws_what_its_engine_and_its_jitter_react_to)
{
    cli_write("rows.csv",
              "row,quantity,measured,source,cluster,gpus,algorithm,trace,framework,engine,jitter\n"
              "a,iteration_s,1,made up,abci-v100,8,ring,trace.csv,nnl,recurrence,\n"
              "b,iteration_s,1,made up,abci-v100,8,ring,trace.csv,nnl,nccl,0.01\n");
    const char *terms = "--term optimizer.bytes=0B --term wire.precision=same ";
    struct cli_table *table = reproduce(terms);
    CLI_HAS(cli_cell(table, 1, "assumptions"), "set.net.latency", "term.jitter");
    CLI_LACKS(cli_cell(table, 2, "assumptions"), "set.", "term.jitter");
    CLI_HAS(cli_cell(table, 2, "assumptions"), "term.contention.sms");
    char options[128];
    snprintf(options, sizeof options, "%s--engine nccl", terms);
    cr_expect_null(strstr(cli_cell(reproduce(options), 1, "assumptions"), "set."));
}

/* A rate that was measured leaves less open than the model of a V100. */
Test(reproduce, a_measured_rate_narrows_the_error_of_compute)
{
    cli_write("rows.csv",
              "row,quantity,measured,source,cluster,gpus,algorithm,trace,batch,samples_per_s_at\n"
              "a,iteration_s,1,made up,flat,2,ring,resnet50-v1.5,32,\n"
              "b,iteration_s,1,made up,flat,2,ring,resnet50-v1.5,32,32=1000\n");
    const char *out = cli_good("$AR reproduce rows.csv --samples 1").out;
    CLI_LINES(out, "term.compute.scale=0.907..1.048", 1);
    CLI_LINES(out, "term.compute.scale=0.99..1.01", 1);
}

Test(reproduce, the_file_of_the_picture_has_its_columns)
{
    cli_write("rows.csv", HEAD "a,efficiency_frac,0.5,made up,flat,6,ring,trace.csv,,\n"
                               "b,efficiency_frac,0.9,made up,,,,,,\n");
    struct cli_run run = cli_good("$AR reproduce rows.csv " KNOWN "--format csv --out out/a");
    const char *rows = cli_read("out/a/reproduce.csv");
    cr_expect_str_eq(rows, run.out);
    cr_expect_eq(strstr(rows, "row,table,title,quantity,gpus,algorithm,measured,predicted,low,high,"
                              "error_frac,inside,gpu,measured_s,predicted_s,fits,fitted,source,"
                              "assumptions\n"),
                 rows);
}

/* Families have the software that titles begin with, in its order, then others, and all. */
Test(reproduce, families_are_sums_over_rows_that_nothing_was_fitted_to)
{
    cli_write("rows.csv",
              "row,title,quantity,measured,fitted,source,cluster,gpus,algorithm,trace\n"
              "a,\"Theirs, on 6\",iteration_s,1,,made up,flat,6,ring,trace.csv\n"
              "b,\"Theirs, on 8\",samples_per_s,1,,made up,flat,8,ring,trace.csv\n"
              "c,\"Mine, on 8\",iteration_s,3,my term,made up,flat,8,ring,trace.csv\n"
              "d,\"Mine, on 16, again\",iteration_s,0.02,,made up,flat,16,ring,trace.csv\n"
              "e,Nobody knows,iteration_s,1,,made up,flat,8,ring,trace.csv\n");
    static const char *const expected[][3] = {
        {"Mine", "9-64", "1"}, {"Theirs", "1-8", "2"}, {"rows", "1-8", "1"}, {"all", "", "4"}};
    struct cli_table *rows = reproduce("--samples 1 --out out/f");
    struct cli_table *families = cli_table(cli_read("out/f/families.csv"));
    cr_assert_eq(families->rows_count, 1 + 4);
    for (size_t i = 0; i < 4; i++) {
        CLI_CELL(families, i + 1, "software", expected[i][0], "range", expected[i][1], "rows",
                 expected[i][2], "peer", "");
    }
    double sum = 0;
    for (size_t i = 1; i <= 5; i++) {
        double error = cli_number(rows, i, "predicted_s") / cli_number(rows, i, "measured_s") - 1;
        sum += i != 3 ? fabs(error) : 0;
    }
    cr_expect_float_eq(cli_number(rows, 2, "predicted_s") / cli_number(rows, 2, "measured_s"),
                       1 / (1 + cli_number(rows, 2, "error_frac")), 1e-6,
                       "a rate too high is a time too short");
    CLI_NEAR(families, 4, "mean_frac", sum / 4, 1e-6);
}

Test(reproduce, a_family_has_what_another_tool_states_of_its_rows)
{
    cli_good("$AR reproduce mlperf megatron --rows 'm*[1f]-0[02]5' --samples 1 --out out/p");
    struct cli_table *families = cli_table(cli_read("out/p/families.csv"));
    CLI_CELL(families, 1, "software", "Megatron-LM", "peer",
             "Calculon: median 14.3 % (table 1 of arXiv:2104.04473)");
    CLI_CELL(families, families->rows_count - 2, "software", "NeMo", "peer",
             "Calculon: median 35.6 % (GPT-3 of MLPerf v3.1)");
    CLI_CELL(families, families->rows_count - 1, "peer", "");
}

Test(reproduce, a_context_row_is_listed_and_not_judged)
{
    cli_write("rows.csv", HEAD "a,efficiency_frac,0.9,made up,,256,,,,\n");
    struct cli_table *table = reproduce("");
    CLI_CELL(table, 1, "measured", "0.9", "predicted", "", "inside", "");
    const char *out = cli_good("$AR reproduce rows.csv").out;
    CLI_HAS(out, "a: a; made up\n", "0 of 0 predicted rows have a band, 0 are inside\n");
    CLI_LACKS(out, "median (%)");
}

Test(reproduce, shipped_rows_are_read_by_name_or_all)
{
    const char *all = cli_good("$AR reproduce --rows 'sony-*' --samples 1 --engine closed").out;
    const char *sony =
        cli_good("$AR reproduce sony --rows '*-v2-1024' --samples 1 --engine closed").out;
    cr_expect_not_null(strstr(all, "sony-v1-1088"), "%s", all);
    cr_expect_not_null(strstr(sony, "sony-v2-1024"), "%s", sony);
}

/* The row's own prediction comes before its draws. */
Test(reproduce, progress_on_a_terminal_counts_predictions)
{
    static const char line[] = "$AR reproduce rows.csv " KNOWN "--samples 9";
    cli_write("rows.csv", HEAD "a,iteration_s,1,made up,flat,4,ring,trace.csv,,bucket=ddp|one\n");
    cr_expect_null(strstr(cli_good("%s", line).err, "of 10 predictions"));
    const char *shown = cli_good_on_terminal(line);
    cr_expect_not_null(strstr(shown, "\r0 of 10 predictions"), "%s", shown);
}
