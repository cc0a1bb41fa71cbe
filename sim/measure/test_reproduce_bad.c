/* Bad tables of published runs: one line with the place, the value found and the one expected;
 * nothing on stdout; no files. */

#include "test_cli.h"

TestSuite(reproduce_bad, .init = cli_enter, .fini = cli_leave);

#define HEAD "row,quantity,measured,source,cluster,gpus,algorithm,trace,baseline,assume\n"

/* Texts of rows.csv, and what is said of each. */
static void expect_bad(int code, const char *const (*rows)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_write("rows.csv", rows[i][0]);
        cli_fails(code, rows[i][1], "$AR reproduce rows.csv --samples 2 --out out");
    }
}

#define EXPECT_BAD(code, rows) expect_bad(code, rows, sizeof rows / sizeof rows[0])

#define ROW       "a,iteration_s,1,made up,flat,4,ring,trace.csv,,"
#define ASSUME(x) HEAD ROW x "\n"

Test(reproduce_bad, bad_rows_are_one_clear_line)
{
    static const char *const rows[][2] = {
        {"", "rows.csv"},
        {HEAD, "found no rows"},
        {HEAD "a,iteration_s,1,,flat,4,ring,trace.csv,,\n",
         "rows.csv:2: column \"source\" is \"\"; expected where"},
        {HEAD "a,speed,1,made up,flat,4,ring,trace.csv,,\n",
         "column \"quantity\" is \"speed\"; expected efficiency_frac, images_per_s"},
        {HEAD ROW "\n" ROW "\n", "rows.csv:3: row \"a\": found the name again; expected it once "
                                 "(rows.csv:2: row"},
        {HEAD ",iteration_s,1,made up,flat,4,ring,trace.csv,,\n", "column \"row\" is \"\""},
        {HEAD "a,iteration_s,fast,made up,flat,4,ring,trace.csv,,\n",
         "column \"measured\" is \"fast\"; expected a number above 0"},
        {HEAD "a,iteration_s,,made up,flat,4,ring,trace.csv,,\n", "found no measured value"},
        {HEAD "a,iteration_s,1,made up,flat,65537,ring,trace.csv,,\n",
         "row \"a\": --gpus: found \"65537\"; expected a whole number from 1 to 65536"},
        {HEAD "a,train_s,1,made up,flat,4,ring,trace.csv,,\n", "expected a run file with train_s"},
    };
    EXPECT_BAD(65, rows);
}

#define RUNS_HEAD "row,quantity,measured,source,cluster,gpus,batch,run,assume\n"

Test(reproduce_bad, bad_runs_are_one_clear_line)
{
    static const char *const rows[][2] = {
        {RUNS_HEAD "a,train_s,1,made up,flat,,,bad.run.csv,\n",
         "row \"a\": bad.run.csv:8: column \"batch_total\" is \"100\"; expected a multiple of 8"},
        {RUNS_HEAD "a,train_s,1,made up,flat,,16,example,\n", "found a batch; expected none"},
        {RUNS_HEAD "a,iteration_s,1,made up,flat,4,,example,\n", "a run file with train_s alone"},
    };
    cli_write("bad.run.csv", "# run = 1\n# cluster = flat\n# gpus = 8\n# algorithm = ring\n"
                             "# trace = resnet50-v1.5\n# images = 1000\n"
                             "first_epoch,last_epoch,batch_total\n0,1,100\n");
    cli_write("rows.csv", "");
    EXPECT_BAD(65, rows);
    static const char *const unknown[][2] = {{RUNS_HEAD "a,train_s,1,made up,flat,,,exmple,\n",
                                              "unknown run \"exmple\"; did you mean \"example\"?"}};
    EXPECT_BAD(66, unknown);
}

/* Predictions of real rows take a minute: one that cannot be made shows that none was tried. */
Test(reproduce_bad, a_place_without_room_for_files_is_found_before_the_predictions)
{
    cli_write("rows.csv", HEAD "a,iteration_s,1,made up,flat,65537,ring,trace.csv,,\n");
    struct cli_run run = cli_run("$AR reproduce rows.csv --out rows.csv/in");
    cli_expect_error(&run, "a file in the path", 74,
                     "rows.csv: found a file; expected a directory");
    run = cli_run("$AR reproduce rows.csv --out new");
    cli_expect_error(&run, "a bad row", 65, "--gpus: found \"65537\"");
    run = cli_run("test ! -e new");
    cr_expect_eq(run.code, 0, "nothing is left of a run that failed");
    cli_write("rows.csv", HEAD ROW "\n");
    run = cli_run("mkdir -p out/reproduce.csv && $AR reproduce rows.csv --quiet --out out");
    cli_expect_error(&run, "a directory in the way", 74, "out/reproduce.csv: cannot write: it is");
}

Test(reproduce_bad, bad_ranges_are_one_clear_line)
{
    static const char *const rows[][2] = {
        {ASSUME("batch"), "row \"a\": found \"batch\"; expected KEY=a|b or KEY=low..high"},
        {ASSUME("batch=16"), "found \"batch=16\"; expected KEY=a|b with 2 or more choices"},
        {ASSUME("set.=1|2"), "unknown parameter \"set.\"; "},
        {ASSUME("gpus=4..8"), "found \"gpus=4..8\"; expected choices"},
        {ASSUME("set.net.latency=2us..1us"), "one unit, the lower first"},
        {ASSUME("set.net.latency=1us..2ms"), "KEY=low..high, one unit"},
        {ASSUME("jitter=0..0.1;jitter=0..0.2"), "found jitter twice"},
        {ASSUME("shape=3x1|3x1"), ": --shape: 3x1 has 3 places"},
    };
    EXPECT_BAD(65, rows);
    static const char *const cluster[][2] = {{HEAD
                                              "a,iteration_s,1,made up,flt,4,ring,trace.csv,,\n",
                                              "row \"a\": --cluster: unknown cluster \"flt\""}};
    EXPECT_BAD(66, cluster);
}

Test(reproduce_bad, bad_options_are_one_clear_line)
{
    static const struct cli_case rows[] = {
        {"none.csv", 66, "none.csv"},
        {"snoy", 66, "unknown table of published runs \"snoy\"; did you mean \"sony\"?"},
        {"rows.csv --rows b", 64, "--rows: found \"b\"; expected the name of one of the 1 rows"},
        {"rows.csv rows.csv", 65, "found the name again"},
        {"rows.csv --set net.latency=fast", 65, "row \"a\": --set: "},
    };
    cli_write("rows.csv", HEAD ROW "\n");
    CLI_FAIL_ALL("reproduce", rows);
}
