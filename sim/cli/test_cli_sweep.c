/* Sweeps: their rows, their files, and what becomes of them when something breaks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_sweep, .init = cli_enter, .fini = cli_leave);

#define STEP  "--cluster abci-v100 --trace resnet50-v1.5"
#define WALKS "--algorithms ring,hierarchical,torus2d,tree"

Test(cli_sweep, rows_equal_those_of_predict)
{
    cli_good("$AR sweep " STEP " " WALKS " --gpus 4:32:x2 --shapes square --out new/dir --jobs 3");
    struct cli_table *sweep = cli_table(cli_read("new/dir/sweep.csv"));
    cr_assert_eq(sweep->rows_count, 17, "four GPU counts, four algorithms");
    for (size_t i = 1; i < sweep->rows_count; i++) {
        const char *shape = cli_cell(sweep, i, "shape");
        struct cli_run one =
            cli_good("$AR predict " STEP " --format csv --gpus %s --algorithm %s %s %s",
                     cli_cell(sweep, i, "gpus"), cli_cell(sweep, i, "algorithm"),
                     shape[0] != '\0' ? "--shape" : "", shape);
        cli_expect_same_row(sweep, i, cli_table(one.out), 1);
    }
}

/* The ring may come before or after it, or not at all. */
Test(cli_sweep, a_torus_of_one_column_has_the_row_of_its_own)
{
    static const char *const algorithms[] = {"ring,torus2d", "torus2d,ring", "torus2d"};
    struct cli_table *one = cli_rows("predict " STEP " --gpus 8 --algorithm torus2d --shape 1x8 "
                                     "--jitter 0.05 --iterations 3");
    for (size_t i = 0; i < 3; i++) {
        struct cli_table *sweep = cli_rows("sweep " STEP " --gpus 8 --algorithms %s --jitter 0.05 "
                                           "--iterations 3",
                                           algorithms[i]);
        size_t found = 0;
        for (size_t j = 1; j < sweep->rows_count; j++) {
            if (strcmp(cli_cell(sweep, j, "shape"), "1x8") == 0) {
                cli_expect_same_row(sweep, j, one, 1);
                found++;
            }
        }
        cr_expect_eq(found, 1);
    }
}

Test(cli_sweep, best_prints_the_fastest_row_of_each_count_and_files_hold_all)
{
    struct cli_table *best =
        cli_rows("sweep " STEP " " WALKS " --gpus 8,64 --engine recurrence --best --out all");
    struct cli_table *all = cli_table(cli_read("all/sweep.csv"));
    cr_assert_eq(best->rows_count, 3);
    cr_assert_eq(all->rows_count, 1 + 2 + 2 + 2 + 4 + 7, "rings, groups twice, all grids");
    for (size_t i = 1; i < all->rows_count; i++) {
        size_t row = strcmp(cli_cell(all, i, "gpus"), "8") == 0 ? 1 : 2;
        cr_expect_leq(cli_number(best, row, "iteration_s"), cli_number(all, i, "iteration_s"));
    }
}

Test(cli_sweep, jobs_change_nothing_but_the_time)
{
    struct cli_table *one = cli_rows("sweep " STEP " --gpus 4:16:x2 --jobs 1");
    struct cli_table *four = cli_rows("sweep " STEP " --gpus 4:16:x2 --jobs 4");
    cr_assert_eq(one->rows_count, four->rows_count);
    for (size_t i = 0; i < one->rows_count; i++) {
        cli_expect_same_row(one, i, four, i);
    }
}

Test(cli_sweep, what_is_there_twice_counts_once)
{
    struct cli_table *table = cli_rows("sweep " STEP " --engine closed --gpus 8,4:8:x2,8 "
                                       "--algorithms torus2d,ring,torus2d --shapes 2x2,2x4,2x4");
    cr_expect_eq(table->rows_count, 5);
}

Test(cli_sweep, grids_that_fit_no_count_are_said_to_be_left_out)
{
    struct cli_run run =
        cli_good("$AR sweep " STEP " --engine closed --gpus 4,6 --algorithms torus2d --shapes node "
                 "--format csv");
    cr_expect_eq(cli_table(run.out)->rows_count, 2);
    CLI_HAS(run.err, "torus2d left out at 6 GPUs");
}

Test(cli_sweep, plot_draws_it)
{
    if (system("command -v gnuplot >/dev/null") != 0) {
        cr_skip_test("gnuplot is not installed");
    }
    static const char *const names[] = {"efficiency", "throughput", "shapes", "breakdown",
                                        "payload"};
    cli_good("$AR sweep " STEP " --engine closed --gpus 4:16:x2 --payload 64KiB:1MiB:x4 --out o");
    struct cli_run run = cli_good("$AR plot o");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        static const char *const endings[] = {"svg", "png", "gp", "csv"};
        for (size_t j = 0; j < 4; j++) {
            char path[64];
            struct stat info;
            snprintf(path, sizeof path, "o/%s.%s", names[i], endings[j]);
            cr_expect(stat(path, &info) == 0 && info.st_size > 0, "%s", path);
            cr_expect_eq(cli_lines_with(run.out, path), j < 2, "%s", path);
        }
    }
}

Test(cli_sweep, stdout_that_cannot_be_written_is_an_error)
{
    static const char *const lines[] = {"list",
                                        "--help",
                                        "--version",
                                        "allreduce --cluster flat --gpus 4 --algorithm ring "
                                        "--payload 1MB",
                                        "predict " STEP " --gpus 4 --algorithm ring",
                                        "explain " STEP " --gpus 4 --algorithm ring",
                                        "sweep " STEP " --gpus 4 --engine closed --out o",
                                        "train example --engine closed",
                                        "export --cluster flat --gpus 4 --format simgrid-xml",
                                        "verify --gpus 4"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cli_stops(74, "stdout: cannot write: No space left", "$AR %s >/dev/full", lines[i]);
        cli_stops(74, "stdout: cannot write: Bad file descriptor", "$AR %s >&-", lines[i]);
    }
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->columns_count, 76, "the file is whole");
}

Test(cli_sweep, closed_streams_do_not_become_files)
{
    cr_expect_eq(cli_run("$AR export --cluster flat --gpus 4 --format simgrid-xml --out p.xml <&- "
                         ">&- 2>&-")
                     .code,
                 0);
    cr_expect_eq(cli_lines_with(cli_read("p.xml"), "</platform>"), 1);
    cr_expect_eq(cli_run("$AR predict " STEP " --gpus 4 --algorithm ring <&- 2>&-").code, 0);
    cr_expect_eq(cli_run("$AR predict --gpus 0 2>&-").code, 64);
}

Test(cli_sweep, a_disk_that_fills_up_leaves_no_platform)
{
    static const char line[] =
        "export --cluster abci-v100 --gpus 64 --format simgrid-xml --out p.xml";
    cli_fails(74, "cannot write: File too large",
              "trap '' XFSZ; (ulimit -f 4; $AR %s 2>&1 | cat >&2; exit 74)", line);
}

Test(cli_sweep, a_limit_on_files_or_processes_is_one_line)
{
    struct cli_run run = cli_run("(ulimit -n 4; $AR sweep " STEP " --gpus 4 --quiet)");
    cr_expect(run.code == 70 || run.code == 71, "exit code %d, %s", run.code, run.err);
    cr_expect_eq(cli_lines_with(run.err, ""), 1, "%s", run.err);
    cr_expect_eq(cli_lines_with(run.err, "Too many open files"), 1, "%s", run.err);
    run = cli_run("(ulimit -n 12; $AR sweep " STEP " --gpus 4:16:x2 --engine closed --quiet --jobs "
                  "64 --format csv)");
    cr_expect_eq(run.code, 0, "fewer jobs than asked for are no error: %s", run.err);
}

/* Root may read and write everything, so a child gives up its rights. */
static struct cli_run run_without_rights(const char *line)
{
    enum { NOBODY = 65534, CANNOT = 99 };
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        bool is_nobody = geteuid() != 0 || setuid(NOBODY) == 0;
        bool can_run = is_nobody && access(AR_TEST_PROGRAM, X_OK) == 0 && access(".", W_OK) == 0;
        _exit(can_run ? cli_run("%s", line).code : CANNOT);
    }
    int state;
    cr_assert_eq(waitpid(child, &state, 0), child);
    if (WEXITSTATUS(state) == CANNOT) {
        cr_skip_test("the build folder is closed to other users");
    }
    return (struct cli_run){WEXITSTATUS(state), cli_read("../out"), cli_read("../err")};
}

Test(cli_sweep, what_may_not_be_read_or_written_is_an_error)
{
    cli_good("chmod 777 .. . ; mkdir ro; chmod 555 ro; cp trace.csv no.csv; chmod 000 no.csv; "
             "chmod 666 ../out ../err");
    static const struct {
        const char *line;
        int code;
        const char *fragment;
    } rows[] = {
        {"$AR sweep " STEP " --gpus 4 --out ro", 74, "ro: cannot write: Permission denied"},
        {"$AR sweep " STEP " --gpus 4 --out ro/x/y", 74,
         "ro/x: cannot make the directory: Permission denied"},
        {"$AR export --cluster flat --gpus 4 --format simgrid-xml --out ro/x", 74, "ro/x: cannot"},
        {"$AR predict --cluster flat --trace no.csv --gpus 4 --algorithm ring", 66, "no.csv: Perm"},
        {"$AR plot no.csv", 66, "no.csv: Permission denied"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_run run = run_without_rights(rows[i].line);
        cli_expect_error(&run, rows[i].line, rows[i].code, rows[i].fragment);
    }
}
