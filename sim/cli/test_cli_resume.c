/* Sweeps that did not finish, and the journal that they leave. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_cli.h"

#define SWEEP                                                                                      \
    "$AR sweep --cluster cluster.topo --trace resnet50-v1.5 --gpus 8:32:x2 --engine closed "       \
    "--algorithms ring,hierarchical,torus2d --payload 1MB,2MB --format csv "

/* Runs a sweep into `o` until a limit on files stops it, as a full disk would. */
static void stop_sweep(void)
{
    struct cli_run run =
        cli_run("trap '' XFSZ; (ulimit -f 8; " SWEEP "--out o --quiet 2>&1 | cat >&2; exit 74)");
    cli_expect_error(&run, "sweep", 74, "o/sweep.journal: cannot write: File too large; ");
    cr_assert_not_null(strstr(run.err, " of 27 rows are kept, --resume goes on"), "%s", run.err);
    cr_assert_neq(access("o/sweep.csv", F_OK), 0);
}

static void enter_and_stop(void)
{
    cli_enter();
    stop_sweep();
}

TestSuite(cli_resume, .init = enter_and_stop, .fini = cli_leave);

/* Goes on with the sweep in `o`: its files and its output are those of one that was not stopped. */
static void finish_sweep(void)
{
    struct cli_run part = cli_good(SWEEP "--out o --resume");
    struct cli_run whole = cli_good(SWEEP "--out whole");
    cli_expect_same_table(cli_table(part.out), cli_table(whole.out));
    cli_expect_same_table(cli_table(cli_read("o/sweep.csv")),
                          cli_table(cli_read("whole/sweep.csv")));
    cli_expect_same_table(cli_table(cli_read("o/payload.csv")),
                          cli_table(cli_read("whole/payload.csv")));
    cr_expect_neq(access("o/sweep.journal", F_OK), 0, "the journal is of no more use");
}

Test(cli_resume, a_resumed_sweep_equals_one_that_was_not_stopped)
{
    finish_sweep();
}

Test(cli_resume, rows_that_are_there_are_not_computed_again)
{
    const char *kept = cli_good("sed -n 2p o/sweep.journal | cut -d' ' -f4-").out;
    cli_good(SWEEP "--out o --resume");
    cr_expect_eq(cli_lines_with(cli_read("o/sweep.csv"), strtok((char *)kept, "\n")), 1,
                 "its wall_s is that of the first run");
}

Test(cli_resume, several_stops_lose_nothing)
{
    for (int blocks = 9; blocks < 12; blocks++) {
        cli_stops(74, "File too large",
                  "trap '' XFSZ; (ulimit -f %d; " SWEEP
                  "--out o --resume --jobs 1 2>&1 | cat >&2; exit 74)",
                  blocks);
    }
    finish_sweep();
}

Test(cli_resume, a_last_line_that_was_cut_short_is_dropped_with_a_note)
{
    cli_good("truncate -s -20 o/sweep.journal");
    struct cli_run run = cli_run(SWEEP "--out o --resume | cat");
    cr_expect_eq(run.code, 0);
    cr_expect_eq(cli_lines_with(run.err, "o/sweep.journal: the last line was cut short, "), 1, "%s",
                 run.err);
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->rows_count, 1 + 21);
}

Test(cli_resume, a_last_line_that_is_damaged_is_computed_again)
{
    cli_good("sed -i '$s/ring/rung/; $s/hier/hear/; $s/torus/tyrus/' o/sweep.journal");
    finish_sweep();
}

Test(cli_resume, a_header_that_was_cut_short_is_no_journal_yet)
{
    cli_good("truncate -s 20 o/sweep.journal");
    cli_good(SWEEP "--out o");
    cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->rows_count, 1 + 21);
}

Test(cli_resume, without_a_journal_it_starts_from_the_beginning)
{
    struct cli_run run = cli_good(SWEEP "--out new --resume");
    cr_expect_eq(cli_lines_with(run.err, "note: 0 of 27 rows are there, 27 to compute"), 1, "%s",
                 run.err);
}

/* A journal that is not to be touched, the command that meets it, and what is said. */
Test(cli_resume, journals_of_other_sweeps_are_refused_and_stay)
{
    static const struct {
        const char *make;
        const char *options;
        int code;
        const char *fragment;
    } rows[] = {
        {"true", "--quiet", 64, "expected --resume to go on with it, or --force to begin anew"},
        {"true", "--resume --batch 64", 65, "the journal of another sweep"},
        {"true", "--resume --gradient-scale 2", 65, "the journal of another sweep"},
        {"true", "--resume --window 4", 65, "the journal of another sweep"},
        {"true", "--resume --set hca.bandwidth=9GB/s", 65, "the journal of another sweep"},
        {"sed -i 's/^net.latency *= 9.6us/net.latency = 9us/' cluster.topo", "--resume", 65,
         "the journal of another sweep"},
        {"sed -i '1s/version [0-9.]*/version 0.0.9/' o/sweep.journal", "--resume", 65,
         "found \"version 0.0.9\", the journal of another version"},
        {"sed -i '1s/columns ....../columns 123456/' o/sweep.journal", "--resume", 65,
         "the journal of another version"},
        {"sed -i '1s/^all/All/' o/sweep.journal", "--resume", 65, "no journal of a sweep"},
        {"sed -i '3s/.$//' o/sweep.journal", "--resume", 65,
         "o/sweep.journal:3: found a damaged line before the last one"},
        {"sed -i '3s/^[0-9]*/27/' o/sweep.journal", "--resume", 65, "o/sweep.journal:3: found"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_good("rm -r o; cp %s/topologies/machines/abci-v100.topo cluster.topo",
                 AR_TEST_SOURCE_DIR);
        stop_sweep();
        cli_good("%s; cp o/sweep.journal before", rows[i].make);
        cli_fails(rows[i].code, rows[i].fragment, SWEEP "--out o %s", rows[i].options);
        cli_good("cmp o/sweep.journal before");
    }
}

Test(cli_resume, a_comment_in_the_cluster_does_not_make_it_another_sweep)
{
    cli_good("echo '# measured again' >> cluster.topo");
    finish_sweep();
}

Test(cli_resume, without_a_directory_there_is_nothing_to_resume)
{
    cli_fails(64, "expected --out DIR, the directory of the sweep", SWEEP "--resume");
}

/* A simulation needs more descriptors than a worker does without one. */
Test(cli_resume, rows_that_failed_are_tried_again)
{
    static const char line[] = "$AR sweep --cluster cluster.topo --trace trace.csv --gpus 4,8 "
                               "--algorithms ring --engine simgrid,closed --format csv --out f";
    struct cli_run run = cli_run("(ulimit -n 7; %s --jobs 1)", line);
    cr_assert_eq(run.code, 70, "%s", run.err);
    cr_expect_eq(cli_lines_with(run.err, "2 of 4 points failed; the first, ring on 4 GPUs"), 1,
                 "%s", run.err);
    cr_expect_eq(cli_lines_with(run.err, "Too many open files; --resume tries them again"), 1, "%s",
                 run.err);
    cr_expect_eq(cli_lines_with(cli_read("f/sweep.csv"), ",ok"), 2);
    struct cli_run again = cli_good("%s --resume", line);
    cr_expect_eq(cli_lines_with(again.err, "2 of 4 rows are there, 2 to compute"), 1);
    cr_expect_eq(cli_lines_with(cli_read("f/sweep.csv"), ",ok"), 4);
    cr_expect_neq(access("f/sweep.journal", F_OK), 0);
}

Test(cli_resume, a_disk_that_is_full_at_the_end_keeps_the_journal)
{
    cli_good("rm -r o; mkdir -p o/sweep.csv");
    cli_stops(74, "o/sweep.csv: cannot write: it is a directory", SWEEP "--out o --quiet");
    cli_good("rmdir o/sweep.csv");
    finish_sweep();
}
