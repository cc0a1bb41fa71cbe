/* The built program as a user runs it, with threads as ranks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/cli/test_cli.h"

TestSuite(validate_cli, .init = cli_enter, .fini = cli_leave);

static const char header[] =
    "backend,operation,algorithm,shape,root,channels,ranks,nodes,datatype,element_bytes,"
    "payload_bytes,repetitions,time_median_s,time_min_s,time_p10_s,time_p90_s,algbw_Bps,busbw_Bps,"
    "wrong,tier";

/* The text behind the comments. */
static const char *behind_comments(const char *text)
{
    while (text[0] == '#') {
        text += strcspn(text, "\n");
        text += text[0] == '\n';
    }
    return text;
}

static struct cli_table *good_table(const char *arguments)
{
    struct cli_run run = cli_good("$AR --quiet %s", arguments);
    cr_expect_str_empty(run.err, "%s: %s", arguments, run.err);
    cr_expect_eq(strncmp(behind_comments(run.out), header, sizeof header - 1), 0, "%s", run.out);
    return cli_table(behind_comments(run.out));
}

Test(validate_cli, times_are_in_order_and_nothing_is_wrong)
{
    struct cli_table *table =
        good_table("--algorithms ring,hierarchical,torus2d,tree --ranks 2,6 --payload 1KiB,300kB "
                   "--channels 1,2 --datatype fp16 --repetitions 4");
    /* ring 1, the three others 2 grids of 2 ranks; 1 and 4 each of 6; x 2 x 2 */
    cr_assert_eq(table->rows_count, 1 + (7 + 13) * 4);
    for (size_t i = 1; i < table->rows_count; i++) {
        double median_s = atof(cli_cell(table, i, "time_median_s"));
        cr_expect_gt(atof(cli_cell(table, i, "time_min_s")), 0.0);
        cr_expect_leq(atof(cli_cell(table, i, "time_min_s")),
                      atof(cli_cell(table, i, "time_p10_s")));
        cr_expect_leq(atof(cli_cell(table, i, "time_p10_s")), median_s);
        cr_expect_leq(median_s, atof(cli_cell(table, i, "time_p90_s")));
        cr_expect_str_eq(cli_cell(table, i, "wrong"), "0");
        cr_expect_str_eq(cli_cell(table, i, "element_bytes"), "2");
        cr_expect_str_eq(cli_cell(table, i, "repetitions"), "4");
    }
}

Test(validate_cli, a_check_takes_no_times)
{
    struct cli_table *table = good_table("--check-only --ranks 3 --algorithms ring");
    cr_assert_eq(table->rows_count, 1 + 6); /* 0, 1, 2, 3, 4, 10007 elements */
    cr_expect_str_eq(cli_cell(table, 6, "payload_bytes"), "40028");
    for (size_t i = 1; i < table->rows_count; i++) {
        cr_expect_str_empty(cli_cell(table, i, "time_median_s"));
        cr_expect_str_eq(cli_cell(table, i, "wrong"), "0");
    }
}

Test(validate_cli, an_operation_is_named_as_in_the_simulator)
{
    struct cli_table *table = good_table("--operation broadcast --algorithm chain --root 2 --ranks "
                                         "3 --payload 1MiB --repetitions 3");
    cr_assert_eq(table->rows_count, 1 + 1);
    cr_expect_str_eq(cli_cell(table, 1, "operation"), "broadcast");
    cr_expect_str_eq(cli_cell(table, 1, "algorithm"), "chain");
    cr_expect_str_eq(cli_cell(table, 1, "root"), "2");
    double algbw_Bps = atof(cli_cell(table, 1, "algbw_Bps"));
    cr_expect_float_eq(algbw_Bps * atof(cli_cell(table, 1, "time_median_s")), 1048576.0, 1.0);
    cr_expect_float_eq(atof(cli_cell(table, 1, "busbw_Bps")), algbw_Bps, 1.0);
}

Test(validate_cli, an_algorithm_that_does_not_run_so_many_ranks_is_left_out_of_all)
{
    const char *command = "$AR --quiet --operation allgather --check-only --ranks %d";
    cr_expect_eq(cli_lines_with(cli_good(command, 3).out, ",neighbour,"), 0);
    cr_expect_eq(cli_lines_with(cli_good(command, 4).out, ",neighbour,"), 6);
}

Test(validate_cli, probes_have_a_row_for_each_pair)
{
    struct cli_table *table = good_table("--probes --ranks 3 --payload 64KiB --repetitions 3");
    cr_assert_eq(table->rows_count, 1 + 6 + 3); /* 3 pairs x 2, copy, reduce, launch */
    cr_expect_str_eq(cli_cell(table, 1, "algorithm"), "probe-latency");
    cr_expect_str_eq(cli_cell(table, 1, "tier"), "shared-memory:0-1");
    for (size_t i = 1; i < table->rows_count; i++) {
        cr_expect_gt(atof(cli_cell(table, i, "time_median_s")), 0.0, "row %zu", i);
    }
}

Test(validate_cli, a_file_says_where_it_comes_from)
{
    struct cli_run run = cli_run("$AR --ranks 2 --algorithms ring --out 'a b.csv'");
    cr_assert_eq(run.code, 0, "%s", run.err);
    cr_expect_str_empty(run.out);
    const char *text = cli_read("a b.csv");
    static const char *const keys[] = {"# program: allreckon-validate ",
                                       "# host: ",
                                       "# date: 20",
                                       "# processor: ",
                                       "--out 'a b.csv'\n",
                                       "# backend: host"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cr_expect_not_null(strstr(text, keys[i]), "%s is not in %s", keys[i], text);
    }
    cr_expect_eq(cli_lines_with(behind_comments(text), "host,allreduce,ring,2x1"), 1);
}

Test(validate_cli, wrong_options_are_one_line)
{
    static const struct cli_case rows[] = {
        {"--bogus", 64, "found \"--bogus\"; expected an option of --help"},
        {"--rank 3 --rank", 64, "found \"--rank\"; expected an option of --help, with a value"},
        {"extra", 64, "unexpected argument \"extra\""},
        {"--ranks 2 --ranks 3", 64, "--ranks: found twice"},
        {"--ranks 0", 64, "--ranks: found \"0\"; expected a whole number from 1 to 1024"},
        {"--ranks 4 --shapes 3x3", 64, "3x3 has 9 places"},
        {"--payload 5B", 64, "expected a multiple of 4"},
        {"--datatype fp8", 64, "unknown datatype \"fp8\""},
        {"--slot 3B", 64, "--slot: found \"3B\"; expected 4B to 1GiB"},
        {"--timeout 0s", 64, "--timeout: found \"0s\""},
        {"--memory device", 64, "--memory: found \"device\""},
        {"--check-only --probes", 64, "expected one"},
        {"--algorithms rong", 64, "did you mean \"ring\"?"},
        {"--operation allgather,alltoall --algorithms chain", 64,
         "--algorithms: found \"chain\" with --operation allgather,alltoall; expected"},
        {"--operation allgather --algorithms neighbour --ranks 3", 64,
         "found 3 ranks; expected an even number"},
        {"--algorithms in-network", 64, "found \"in-network\", in which switches sum; expected"},
        {"--operation broadcast --ranks 4 --root 4", 64,
         "--root: found 4; expected a rank of 4, which begin with 0"},
        {"--out /nonexistent/x.csv", 74, "/nonexistent/x.csv: cannot write"},
        {"--out /dev/null", 74, "expected a file name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_run run = cli_run("$AR %s", rows[i].line);
        cr_expect_eq(run.code, rows[i].code, "%s: %d", rows[i].line, run.code);
        cr_expect_str_empty(run.out, "%s", rows[i].line);
        cr_expect_eq(cli_lines_with(run.err, "allreckon-validate: "), 1, "%s", run.err);
        cr_expect_eq(cli_lines_with(run.err, ""), 1, "%s", run.err);
        cr_expect_not_null(strstr(run.err, rows[i].fragment), "\"%s\" is not in: %s",
                           rows[i].fragment, run.err);
    }
    cr_expect_eq(cli_files_count(), 2, "only what cli_enter() puts there");
}

Test(validate_cli, help_and_version_go_to_stdout)
{
    struct cli_run help = cli_run("$AR --help");
    cr_expect_eq(help.code, 0);
    cr_expect_not_null(strstr(help.out, "--backend B"));
    cr_expect_str_empty(help.err);
    for (const char *line = help.out; *line != '\0'; line += strcspn(line, "\n") + 1) {
        cr_expect_leq(strcspn(line, "\n"), 80, "%.100s", line);
    }
    cr_expect_eq(strncmp(cli_run("$AR --version").out, "allreckon-validate ", 19), 0);
}
