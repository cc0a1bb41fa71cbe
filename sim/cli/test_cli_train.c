/* train: its output, its file, and what it refuses. */
#include <stdlib.h>

#include "test_cli.h"

TestSuite(cli_train, .init = cli_enter, .fini = cli_leave);

#define PHASES  "first_epoch,last_epoch,batch_per_gpu\n"
#define OPTIONS "# cluster = flat\n# gpus = 4\n# algorithm = ring\n# trace = resnet50-v1.5\n"
#define GOOD    "# run = 1\n" OPTIONS "# images = 50000\n"

/* Phases that do not fit, directives, and values that predict refuses as options: every text is
 * refused by one line that names the file, and the line in it. */
Test(cli_train, texts_that_are_wrong_are_refused_where_they_stand)
{
    static const char *const rows[][2] = {
        {GOOD PHASES "0,3,16\n4,9,16\n",
         ":9: column \"first_epoch\" is \"4\"; expected 3, where the phase of line 8 ends"},
        {GOOD PHASES "0,0,16\n", ":8: column \"last_epoch\" is \"0\"; expected a number above"},
        {GOOD PHASES "0,9,0\n", ":8: column \"batch_per_gpu\" is \"0\"; expected a whole"},
        {GOOD PHASES "0,9,12501\n",
         ":8: column \"batch_per_gpu\" is \"12501\"; expected a total batch of at most the 50000 "
         "images of an epoch, not 12501 on each of 4 GPUs"},
        {GOOD PHASES, ":7: found 0 phases; expected 1 to 16"},
        {GOOD "first_epoch,last_epoch,batch_total\n0,9,50004\n", "expected a total batch of"},
        {GOOD "first_epoch,last_epoch,batch_per_gpu,batch_total\n0,9,16,64\n",
         ":7: found columns \"batch_per_gpu\" and \"batch_total\"; expected one of them"},
        {"", "bad.run.csv:"},
        {OPTIONS "# images = 9\n" PHASES "0,9,16\n", "directive \"run\" is missing"},
        {"# run = 2\n# images = 9\n" PHASES "0,9,16\n",
         ":1: directive \"run\" is \"2\"; expected 1, the version of run files"},
        {"# run = 1\n" OPTIONS PHASES "0,9,16\n", "directive \"images\" is missing; expected"},
        {"# run = 1\n# images = 9\n" PHASES "0,9,1\n",
         "directive \"cluster\" is missing; expected it or the option --cluster"},
        {"# run = 1\n" OPTIONS "# images = 0\n" PHASES "0,9,16\n",
         ":6: directive \"images\" is \"0\"; expected a whole number from 1"},
        {GOOD "# lastpartial = pad\n" PHASES "0,9,16\n",
         ":7: directive \"lastpartial\" is \"pad\"; expected drop or keep"},
        {GOOD "# published = 2min\n" PHASES "0,9,16\n",
         ":7: directive \"published\" is \"2min\"; expected the seconds that the run took"},
        {GOOD "# evalimages = 9\n" PHASES "0,9,16\n", "directive \"evalevery\" is missing"},
        {GOOD "# set = ;\n" PHASES "0,9,16\n", ":7: set: found nothing; expected KEY=VALUE"},
        {GOOD "# set = nodes=2\n" PHASES "0,9,16\n",
         ":3: gpus: found \"4\"; expected a whole number from 1 to 2, the GPUs of cluster flat"},
        {GOOD "# shape = 3x3\n" PHASES "0,9,16\n", ":7: shape: 3x3 has 9 places; expected"},
        {"# run = 1\n# cluster = flat\n# gpus = 0\n# algorithm = ring\n# images = 9\n" PHASES
         "0,9,1\n",
         ":3: directive \"gpus\" is \"0\"; expected a whole number from 1 to"},
        {GOOD "# images = 9\n", "bad.run.csv:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_write("bad.run.csv", rows[i][0]);
        CLI_HAS(cli_fails(65, rows[i][1], "$AR train bad.run.csv --out o").err, "bad.run.csv:");
    }
}

Test(cli_train, options_that_are_wrong_are_refused)
{
    static const struct cli_case rows[] = {
        {"", 64, "train: found no run; expected RUN.csv, or a model"},
        {"example --mesh dp=8", 64, "found --mesh; expected none with a run file"},
        {"example --checkpoint 3", 64, "--checkpoint without"},
        {"--workload llama3-8b --tokens 1T --trace example", 64, "found --trace"},
        {"--workload llama3-8b", 64, "option --tokens is missing"},
        {"example --gpus 40000,60000 --cluster flat", 64,
         "--gpus: found \"40000,60000\", too many"},
    };
    CLI_FAIL_ALL("train", rows);
}

Test(cli_train, a_row_for_each_phase_and_their_total)
{
    cli_write("mine.run.csv",
              GOOD "# evalimages = 500\n# evalevery = 1\n" PHASES "0,3.5,16\n3.5,9,32\n");
    struct cli_table *csv = cli_rows("train mine.run.csv");
    struct cli_table *step =
        cli_rows("predict --cluster flat --gpus 4 --algorithm ring --trace resnet50-v1.5 --batch "
                 "32");
    cr_assert_eq(csv->rows_count, 4);
    CLI_CELL(csv, 2, "run", "mine", "phase", "2");
    CLI_CELL(csv, 2, "steps_count", "2145"); /* 5.5 epochs of 390 */
    CLI_CELL(csv, 2, "batch_total", "128");
    CLI_SAME(csv, 2, step, 1, "iteration_s");
    CLI_CELL(csv, 3, "phase", "total");
    cr_expect_str_empty(cli_cell(csv, 3, "batch_per_gpu"));
    double sum_s = cli_number(csv, 1, "time_s") + cli_number(csv, 2, "time_s");
    CLI_NEAR(csv, 3, "time_s", sum_s, 1e-7 * sum_s);
}

/* The published time stands beside the prediction for the GPUs of the file, not for others. */
Test(cli_train, what_a_run_took_is_said_beside_its_prediction)
{
    static const struct cli_saying rows[] = {
        {"sony-v2-3456", "sony-v2-3456 took 122 s, predicted ", 1},
        {"sony-v2-3456", "52 of the 122 s are no training steps", 1},
        {"sony-v2-3456 --gpus 1024", " took 122 s", 0},
        {"example", " took ", 0},
    };
    CLI_SAYS("train --engine closed", rows);
}

Test(cli_train, several_runs_and_numbers_of_gpus_in_one_call)
{
    struct cli_run run = cli_good("$AR train example sony-v2-3456 --engine closed --cluster flat "
                                  "--gpus 64,128,1048576,30000 --format csv --set nodes=1048576");
    struct cli_table *table = cli_table(run.out);
    cli_write("runs.csv", run.out);
    cr_expect_str_eq(cli_good("cut -d, -f1,2 runs.csv | uniq -c | xargs").out,
                     "1 run,gpus 3 example,64 3 example,128 2 sony-v2-3456,64 "
                     "2 sony-v2-3456,128 2 sony-v2-3456,30000\n");
    CLI_COUNTS(run.err, {"1048576 GPUs is left out", 2}, {"example on 30000 GPUs is left out", 1});
    cr_expect_lt(cli_number(table, 6, "time_s"), cli_number(table, 3, "time_s"));
}

/* Once for all numbers of GPUs, of the run that it is true of. */
Test(cli_train, shapes_of_other_numbers_of_gpus_and_runs_without_a_framework_are_noted)
{
    static const char text[] = "no --framework: compute and messages alone take time";
    static const char shape[] = "the shape of the file is for another number";
    const struct cli_saying rows[] = {
        {"bare.run.csv --gpus 4,8", text, 1}, {"bare.run.csv --framework typical", text, 0},
        {"bare.run.csv --quiet", text, 0},    {"named.run.csv", text, 0},
        {"grid.run.csv --gpus 8", shape, 1},  {"grid.run.csv --gpus 8 --quiet", "note: ", 0}};
    cli_write("bare.run.csv", GOOD PHASES "0,9,16\n");
    cli_write("named.run.csv", GOOD "# framework = nnl\n" PHASES "0,9,16\n");
    cli_write("grid.run.csv", GOOD "# shape = 4x1\n" PHASES "0,9,16\n");
    CLI_SAYS("train", rows);
}

/* Files that a run file names lie beside it, wherever it is called from. */
Test(cli_train, files_beside_the_run_file_are_found)
{
    cr_assert_eq(system("mkdir d && cp cluster.topo trace.csv d && rm cluster.topo trace.csv"), 0);
    cli_write("d/a.run.csv",
              "# run = 1\n# cluster = ./cluster.topo\n# gpus = 4\n"
              "# algorithm = ring\n# trace = trace.csv\n# images = 5000\n" PHASES "0,9,32\n");
    CLI_CELL(cli_rows("train d/a.run.csv"), 1, "trace", "trace");
    struct cli_run other =
        cli_run("sed s/,32/,16/ d/a.run.csv >d/b.run.csv; $AR train d/b.run.csv");
    cli_expect_error(
        &other, "another batch than that of a timed trace", 65,
        "d/b.run.csv:8: batch: found 16; expected 32, at which trace trace was measured");
}

Test(cli_train, the_file_is_what_csv_shows_and_appears_whole_or_not_at_all)
{
    const char *csv = cli_good("$AR train example --format csv --out o/deep").out;
    cr_expect_str_eq(cli_read("o/deep/train.csv"), csv);
    cr_expect_str_eq(cli_cell(cli_table(csv), 3, "exact"), "no", "of the total");
    const char *parameters = cli_read("o/deep/parameters.csv");
    CLI_COUNTS(parameters, {"example: algorithm,torus2d,run file", 1},
               {"\"example: epochs 30-90, batch_per_gpu\",64,", 1},
               {"example: gpus,64,run file", 1});
    cli_good("$AR train example --gpus 32 --out other --quiet");
    CLI_LINES(cli_read("other/parameters.csv"), "--gpus,32,command line", 1);
    size_t files = cli_files_count();
    cli_write("bad.run.csv", "# run = 7\n# images = 9\n" PHASES);
    struct cli_run bad = cli_run("$AR train example bad.run.csv --out o/deep --force");
    cli_expect_error(&bad, "the second run is bad", 65, "bad.run.csv:1:");
    cr_expect_str_eq(cli_read("o/deep/train.csv"), csv);
    cli_fails(74, "train.csv",
              "trap '' XFSZ; (ulimit -f 1; $AR train example --gpus 8:32:x2 --out o/deep --force "
              "--quiet 2>&1 | cat >&2; exit 74)");
    cr_expect_str_eq(cli_read("o/deep/train.csv"), csv);
    cr_expect_eq(cli_files_count(), files + 1); /* bad.run.csv */
}
