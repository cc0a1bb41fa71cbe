/* Sweeps that are stopped and go on; outputs that are there already. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_stop, .init = cli_enter, .fini = cli_leave);

#define STEP "--cluster abci-v100 --trace resnet50-v1.5"

/* A sweep in the background: one simulation for each worker, the smaller point first. All its
 * processes hold the writing end of a pipe. */
struct background {
    pid_t process;
    int alive; /* reading end: at its end when all of them are gone */
};

static struct background start_sweep(const char *jobs, const char *gpus)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct background sweep = {.process = fork(), .alive = ends[0]};
    cr_assert_geq(sweep.process, 0);
    if (sweep.process == 0) {
        close(ends[0]);
        signal(SIGINT, SIG_DFL); /* a background job ignores it, and so would the sweep */
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        freopen("../sweep.out", "w", stdout);
        freopen("../sweep.err", "w", stderr);
        execl(AR_TEST_PROGRAM, "allreckon", "sweep", "--cluster", "abci-v100", "--trace",
              "resnet50-v1.5", "--gpus", gpus, "--algorithms", "ring", "--engine", "simgrid",
              "--jobs", jobs, "--baseline", "gpu", "--out", "o", "--quiet", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    return sweep;
}

/* Waits for the first child of a process. */
static pid_t wait_for_child(pid_t parent)
{
    return atoi(cli_good("timeout 20 sh -c 'until sed -n \"s/ (allreckon) . %d .*//p\" "
                         "/proc/[0-9]*/stat 2>/dev/null | sort -n | grep .; do sleep 0.01; done'",
                         parent)
                    .out);
}

/* Waits for the sweep; returns its exit code. No process of it may be left. */
static int finish_sweep(const struct background *sweep)
{
    int state;
    struct pollfd end = {.fd = sweep->alive, .events = POLLIN};
    cr_assert_eq(waitpid(sweep->process, &state, 0), sweep->process);
    cr_expect_eq(poll(&end, 1, 5000), 1, "a process is left");
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

Test(cli_stop, a_signal_ends_all_processes_and_leaves_no_files)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    size_t files = cli_files_count();
    for (size_t i = 0; i < 3; i++) {
        struct background sweep = start_sweep("1", "1024");
        wait_for_child(wait_for_child(sweep.process));
        kill(sweep.process, numbers[i]);
        cr_expect_eq(finish_sweep(&sweep), 130);
        CLI_LINES(cli_read("../sweep.err"), "allreckon: interrupted after ", 1);
        cr_expect_str_empty(cli_read("../sweep.out"));
        cr_expect_eq(cli_files_count(), files);
    }
}

Test(cli_stop, a_killed_command_leaves_no_empty_folder)
{
    (void)cli_run("timeout -s KILL 0.5 $AR predict --engine simgrid " STEP " --gpus 2048 "
                  "--algorithm ring --out killed");
    cr_expect_neq(access("killed", F_OK), 0);
}

Test(cli_stop, a_signal_that_is_ignored_as_by_nohup_ends_nothing)
{
    cli_good("trap '' HUP; $AR sweep " STEP " --gpus 64,128 --algorithms torus2d --shapes square "
             "--jobs 1 --engine simgrid >o.txt & sleep 0.1; kill -HUP $!; wait $!");
    CLI_LINES(cli_read("o.txt"), "torus2d", 2);
}

Test(cli_stop, a_killed_sweep_takes_its_workers_along)
{
    struct background sweep = start_sweep("1", "1024");
    wait_for_child(wait_for_child(sweep.process));
    kill(sweep.process, SIGKILL);
    cr_expect_eq(finish_sweep(&sweep), 128 + SIGKILL);
    CLI_LINES(cli_read("o/sweep.journal"), "", 2); /* it has no rows */
}

/* The small point is done at once, the large one, which the first worker has, takes long. */
static struct background start_until_one_row(void)
{
    struct background sweep = start_sweep("2", "4,1024");
    cli_good("timeout 20 sh -c 'until grep -qs 0,abci o/sweep.journal; do sleep 0.01; done'");
    return sweep;
}

/* The row of the killed one says so; the other row is there. */
Test(cli_stop, a_killed_worker_or_simulation_costs_one_row)
{
    for (int i = 0; i < 2; i++) {
        bool kills_simulation = i == 1;
        struct background sweep = start_until_one_row();
        pid_t worker = wait_for_child(sweep.process), simulation = wait_for_child(worker);
        kill(kills_simulation ? simulation : worker, SIGKILL);
        cr_expect_eq(finish_sweep(&sweep), 70);
        struct cli_table *table = cli_table(cli_read("o/sweep.csv"));
        cr_assert_eq(table->rows_count, 3);
        CLI_CELL(table, 1, "status", "ok");
        CLI_HAS(cli_cell(table, 2, "status"), kills_simulation
                                                  ? "the simulation was ended by signal 9"
                                                  : "the worker process ended with signal 9");
        CLI_CELL(table, 2, "gpus", "1024", "nodes", "256", "iteration_s", "");
        CLI_LINES(cli_read("../sweep.err"), "1 of 2 points failed; the first, ring on 1024", 1);
        cli_good("rm -r o");
    }
}

Test(cli_stop, a_signal_leaves_the_rows_that_are_done_in_a_journal_that_no_other_sweep_writes)
{
    static const char line[] = "$AR sweep " STEP " --gpus 4 --engine closed --out o --resume";
    struct background sweep = start_until_one_row();
    struct cli_run run = cli_run("{ %s; } 2>&1 >/dev/null | tee ../second >/dev/null", line);
    cr_expect_eq(run.code, 0);
    CLI_HAS(cli_read("../second"), "o/sweep.journal: another sweep is writing");
    kill(sweep.process, SIGTERM);
    cr_expect_eq(finish_sweep(&sweep), 130);
    CLI_HAS(cli_read("../sweep.err"), "interrupted after 1 of 2 points; o/sweep.jou");
    CLI_LINES(cli_read("o/sweep.journal"), "", 3);
}

/* --- resume ----------------------------------------------------------------------------------- */

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
static void complete_sweep(void)
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

/* Also one that was stopped several times, whose last line was damaged, or whose cluster has a new
 * comment. */
Test(cli_resume, a_resumed_sweep_equals_one_that_was_not_stopped, CLI_NO_NEW_CODE)
{
    cli_good("sed -i '$s/,[0-9]*[.]/,x/' o/sweep.journal");
    cli_good("echo '# measured again' >> cluster.topo");
    for (int blocks = 9; blocks < 12; blocks++) {
        cli_stops(74, "File too large",
                  "trap '' XFSZ; (ulimit -f %d; " SWEEP
                  "--out o --resume --jobs 1 2>&1 | cat >&2; exit 74)",
                  blocks);
    }
    complete_sweep();
}

Test(cli_resume, rows_that_are_there_are_not_computed_again, CLI_NO_NEW_CODE)
{
    const char *kept = cli_good("sed -n 3p o/sweep.journal | cut -d, -f2-").out;
    cli_good(SWEEP "--out o --resume");
    CLI_LINES(cli_read("o/sweep.csv"), strtok((char *)kept, "\n"),
              1); /* its wall_s is that of the first run */
}

Test(cli_resume, a_line_that_was_cut_short_is_dropped_and_a_header_is_no_journal_yet,
     CLI_NO_NEW_CODE)
{
    cli_good("cp -r o h && truncate -s 20 h/sweep.journal && printf '3,abci' >> o/sweep.journal");
    struct cli_run run = cli_run(SWEEP "--out o --resume | cat");
    cr_expect_eq(run.code, 0);
    CLI_LINES(run.err, "o/sweep.journal: the last line was damaged, ", 1);
    cli_good(SWEEP "--out h");
    cli_expect_same_table(cli_table(cli_read("h/sweep.csv")), cli_table(cli_read("o/sweep.csv")));
}

/* A journal that must not be changed, the command that finds it, and its error. */
Test(cli_resume, journals_of_other_sweeps_are_refused_and_stay)
{
    static const struct {
        const char *make, *options;
        int code;
        const char *fragment;
    } rows[] = {
        {"true", "--quiet", 64, "expected --resume to go on with it, or --force to begin anew"},
        {"true", "--resume --batch 64", 65, "the journal of another sweep or version"},
        {"sed -i 's/^net.latency *= 9.6us/net.latency = 9us/' cluster.topo", "--resume", 65,
         "the journal of another sweep or version"},
        {"sed -i '1s/allr/Allr/' o/sweep.journal", "--resume", 65, "of another sweep or version"},
        {"sed -i '3s/.$//' o/sweep.journal", "--resume", 65,
         "o/sweep.journal:3: found a damaged line before the last one"},
        {"sed -i '3s/^[0-9]*/27/' o/sweep.journal", "--resume", 65, "o/sweep.journal:3: found"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_good("rm -r o; cp " AR_TEST_SOURCE_DIR
                 "/topologies/machines/abci-v100.topo cluster.topo");
        stop_sweep();
        cli_good("%s; cp o/sweep.journal before", rows[i].make);
        cli_fails(rows[i].code, rows[i].fragment, SWEEP "--out o %s", rows[i].options);
        cli_good("cmp o/sweep.journal before");
    }
}

/* A simulation needs a module, and so more descriptors than a worker does without one. */
Test(cli_resume, rows_that_failed_are_tried_again, CLI_NO_NEW_CODE)
{
    static const char line[] = "$AR sweep --cluster cluster.topo --trace trace.csv --gpus 4,8 "
                               "--algorithms ring --engine simgrid,closed --format csv --out f";
    struct cli_run run = cli_run("(ulimit -n 7; %s --jobs 1)", line);
    cr_assert_eq(run.code, 69, "%s", run.err);
    CLI_COUNTS(run.err, {"2 of 4 points failed; the first, ring on 4 GPUs", 1},
               {"Too many open files; expected liballreckon-simgrid.so", 1},
               {"; --resume tries them again", 1});
    CLI_LINES(cli_read("f/sweep.csv"), ",ok", 2);
    CLI_LINES(cli_good("%s --resume", line).err, "2 of 4 rows are there, 2 to compute", 1);
    CLI_LINES(cli_read("f/sweep.csv"), ",ok", 4);
    cr_expect_neq(access("f/sweep.journal", F_OK), 0);
}

Test(cli_resume, a_disk_that_is_full_at_the_end_keeps_the_journal)
{
    cli_good("rm -r o; mkdir -p o/sweep.csv");
    cli_stops(74, "o/sweep.csv: cannot write: it is a directory", SWEEP "--out o --quiet");
    cli_good("rmdir o/sweep.csv");
    complete_sweep();
}

/* --- force ------------------------------------------------------------------------------------ */

TestSuite(cli_force, .init = cli_enter_measured, .fini = cli_leave);

#define CALIBRATE "calibrate " CLI_MEASURED " --cluster abci-v100 "

#define SWEEP_OF "$AR sweep --cluster cluster.topo --trace resnet50-v1.5 --engine closed --gpus "

Test(cli_force, a_second_sweep_replaces_the_first_with_all_its_files_if_it_is_to, CLI_NO_NEW_CODE)
{
    cli_good(SWEEP_OF "4,8 --payload 1MB,2MB --out o");
    cr_expect_eq(access("o/payload.csv", F_OK), 0);
    const char *before = cli_read("o/sweep.csv");
    cli_fails(64,
              "o/command.txt: found the output of another command, or a file of your own; expected "
              "--force to overwrite it, or another --out",
              SWEEP_OF "4 --quiet --out o");
    cr_expect_str_eq(cli_read("o/sweep.csv"), before);
    cli_good(SWEEP_OF "4 --out o --force");
    cr_expect_neq(access("o/payload.csv", F_OK), 0, "plot would draw it");
    cr_expect_lt(strlen(cli_read("o/sweep.csv")), strlen(before));
    cli_good("$AR sweep --cluster dgx-a100 --workload mpt-7b --gpus 8 --mesh all --global-batch 16 "
             "--out o --force");
    cr_expect_neq(access("o/sweep.csv", F_OK), 0, "report would show both");
    cli_good(SWEEP_OF "4 --out o --force");
    cr_expect_neq(access("o/layouts.csv", F_OK), 0, "plot would draw it");
}

Test(cli_force, a_complete_sweep_is_not_computed_again_unless_its_cluster_changed, CLI_NO_NEW_CODE)
{
    cli_good(SWEEP_OF "4,8,16 --out o");
    const char *before = cli_read("o/sweep.csv");
    struct cli_run run = cli_good(SWEEP_OF "4:16:x2 --out o --resume");
    CLI_LINES(run.err, "o: complete, ", 1);
    cr_expect_str_empty(run.out);
    cr_expect_str_eq(cli_read("o/sweep.csv"), before, "with the same wall_s");
    cr_expect_neq(access("o/sweep.journal", F_OK), 0);
    cli_good("rm o/sweep.csv");
    CLI_LACKS(cli_good(SWEEP_OF "4:16:x2 --out o --resume").err, "o: complete, ");
    cr_expect_eq(access("o/sweep.csv", F_OK), 0);
    cli_good("sed -i 's/^net.latency *= 9.6us/net.latency = 90us/' cluster.topo");
    CLI_LINES(cli_good(SWEEP_OF "4:16:x2 --out o --resume").err, "note: 0 of ", 1);
    cr_expect_str_neq(cli_read("o/sweep.csv"), before);
}

Test(cli_force, force_begins_a_stopped_sweep_anew, CLI_NO_NEW_CODE)
{
    cli_run("trap '' XFSZ; (ulimit -f 8; " SWEEP_OF "8:64:x2 --out o --quiet 2>/dev/null)");
    cr_expect_eq(access("o/sweep.journal", F_OK), 0);
    cli_good(SWEEP_OF "4 --out o --force");
    cr_expect_neq(access("o/sweep.journal", F_OK), 0);
}

/* A simulated step, a picture and a page are gone; a file of the user's stays. */
Test(cli_force, files_that_another_command_left_go_when_one_replaces_it)
{
    static const char step[] = "--cluster dgx-a100 --gpus 8 --trace trace.csv --algorithm ring";
    cli_good("$AR predict %s --engine simgrid --out o && cp o/step.csv o/mine.csv && "
             "touch o/report.html o/pipeline.gp o/pipeline.svg",
             step);
    cr_assert_eq(access("o/trace.json", F_OK), 0);
    cli_stops(66, "unknown cluster \"none\"",
              "$AR explain --cluster none --gpus 8 --trace trace.csv --out o --force");
    cr_expect_eq(access("o/trace.json", F_OK), 0, "a command that fails takes nothing away");
    cli_good("$AR explain %s --out o --force", step);
    cli_good("! ls o | grep -E '^trace|^report.html|^pipeline.(gp|svg)' && "
             "ls o/step.csv o/pipeline.csv o/sent.csv o/mine.csv");
}

/* A command, the same one written otherwise, another one. */
Test(cli_force, only_the_same_command_overwrites)
{
    static const struct {
        const char *first, *same, *other;
    } rows[] = {
        {"train example --out t", "train --out ./t --format csv --quiet example",
         "train example --gpus 64 --out t"},
        {"export --format simgrid-xml --cluster flat --gpus 4 --out x",
         "export --gpus 4 --cluster flat --format simgrid-xml --out x --quiet",
         "export --format simgrid-xml --cluster flat --gpus 8 --out x"},
        {"export --format chrome-trace --cluster flat --gpus 4 --trace trace.csv --out j",
         "export --format chrome-trace --cluster flat --gpus 4 --trace trace.csv --out j",
         "export --format chrome-trace --cluster flat --gpus 8 --trace trace.csv --out j"},
        {"sweep --cluster flat --trace trace.csv --gpus 2 --out s",
         "sweep --cluster flat --trace trace.csv --gpus 2 --out s --jobs 1 --best",
         "train example --out s"},
        {CALIBRATE "--out c.topo", "calibrate --out c.topo --quiet abci.csv --cluster abci-v100",
         CALIBRATE "--hold-out none --out c.topo"},
        {CALIBRATE "--out d.topo", CALIBRATE "--out d.topo --format json",
         "export --format simgrid-xml --cluster flat --gpus 4 --out d.topo"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_good("$AR %s", rows[i].first);
        cli_good("$AR %s", rows[i].same);
        cli_fails(64, "found the output of another command", "$AR %s", rows[i].other);
        cli_good("$AR %s --force", rows[i].other);
    }
}

Test(cli_force, a_file_of_the_user_is_not_overwritten)
{
    cli_good("mkdir t s; echo mine >t/train.csv; echo mine >s/sweep.csv; echo mine >x.xml; echo "
             "mine >c.topo; echo mine >d.library.csv");
    static const char *const lines[] = {
        "train example --out t", "sweep --cluster flat --trace trace.csv --gpus 2 --quiet --out s",
        "export --format simgrid-xml --cluster flat --gpus 4 --out x.xml", CALIBRATE "--out c.topo",
        CALIBRATE "--out d.topo"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cli_fails(64, "found the output of another command", "$AR %s", lines[i]);
    }
    cr_expect_str_eq(cli_good("cat t/train.csv s/sweep.csv x.xml c.topo d.library.csv").out,
                     "mine\nmine\nmine\nmine\nmine\n");
}

Test(cli_force, a_directory_says_by_which_command_it_was_made, CLI_NO_NEW_CODE)
{
    cli_good(SWEEP_OF "4 --term 'cycle.time=1 ms' --jobs 1 --out 'o p'");
    CLI_LINES(cli_read("o p/command.txt"),
              "allreckon sweep --cluster cluster.topo --trace resnet50-v1.5 "
              "--term 'cycle.time=1 ms' --engine closed --gpus 4",
              1);
}
