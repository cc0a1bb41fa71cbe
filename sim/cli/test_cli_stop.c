/* Sweeps that are stopped, and sweeps whose processes are. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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
        freopen("../out", "w", stdout);
        freopen("../err", "w", stderr);
        execl(AR_TEST_PROGRAM, "allreckon", "sweep", "--cluster", "abci-v100", "--trace",
              "resnet50-v1.5", "--gpus", gpus, "--algorithms", "ring", "--engine", "simgrid",
              "--jobs", jobs, "--baseline", "gpu", "--out", "o", "--quiet", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    return sweep;
}

static void sleep_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* The child of a process; 0 if it has none. */
static pid_t find_child(pid_t parent)
{
    pid_t child = 0;
    DIR *processes = opendir("/proc");
    cr_assert_not_null(processes);
    for (struct dirent *entry = readdir(processes); entry != NULL; entry = readdir(processes)) {
        char path[300];
        int process;
        int its_parent;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (file != NULL && fscanf(file, "%d (allreckon) %*c %d", &process, &its_parent) == 2 &&
            its_parent == parent) {
            child = process;
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    closedir(processes);
    return child;
}

static pid_t wait_for_child(pid_t parent)
{
    pid_t child = 0;
    for (int i = 0; child == 0 && i < 2000; i++) {
        sleep_a_little();
        child = find_child(parent);
    }
    cr_assert_neq(child, 0, "no worker was started");
    return child;
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
        cr_expect_eq(cli_lines_with(cli_read("../err"), "allreckon: interrupted after "), 1, "%s",
                     cli_read("../err"));
        cr_expect_str_empty(cli_read("../out"));
        cr_expect_eq(cli_files_count(), files);
    }
}

Test(cli_stop, a_signal_that_is_ignored_as_by_nohup_ends_nothing)
{
    cli_good("trap '' HUP; $AR sweep " STEP " --gpus 64,256 --algorithms torus2d --shapes square "
             "--jobs 1 --engine simgrid >o.txt & sleep 0.1; kill -HUP $!; wait $!");
    cr_expect_eq(cli_lines_with(cli_read("o.txt"), "torus2d"), 2);
}

Test(cli_stop, a_killed_sweep_takes_its_workers_along)
{
    struct background sweep = start_sweep("1", "1024");
    wait_for_child(wait_for_child(sweep.process));
    kill(sweep.process, SIGKILL);
    cr_expect_eq(finish_sweep(&sweep), 128 + SIGKILL);
    cr_expect_eq(cli_lines_with(cli_read("o/sweep.journal"), ""), 1, "it has no rows");
}

/* The small point is done at once, the large one takes long. */
static struct background start_until_one_row(const char *jobs)
{
    struct background sweep = start_sweep(jobs, "4,1024");
    bool has_row = false;
    for (int i = 0; !has_row && i < 2000; i++) {
        sleep_a_little();
        has_row = access("o/sweep.journal", F_OK) == 0 &&
                  cli_lines_with(cli_read("o/sweep.journal"), "0 ok ") == 1;
    }
    cr_assert(has_row);
    return sweep;
}

/* Kills the worker of the largest point or the simulation it runs; that row says so, the other one
 * is there. */
static void expect_one_lost(bool kills_simulation, const char *reason)
{
    struct background sweep = start_until_one_row("1");
    pid_t victim = wait_for_child(sweep.process);
    pid_t simulation = wait_for_child(victim);
    kill(kills_simulation ? simulation : victim, SIGKILL);
    cr_expect_eq(finish_sweep(&sweep), 70);
    struct cli_table *table = cli_table(cli_read("o/sweep.csv"));
    cr_assert_eq(table->rows_count, 3);
    cr_expect_str_eq(cli_cell(table, 1, "status"), "ok");
    CLI_HAS(cli_cell(table, 2, "status"), reason);
    cr_expect_str_eq(cli_cell(table, 2, "gpus"), "1024");
    cr_expect_str_eq(cli_cell(table, 2, "nodes"), "256");
    cr_expect_str_eq(cli_cell(table, 2, "iteration_s"), "");
    cr_expect_eq(
        cli_lines_with(cli_read("../err"), "1 of 2 points failed; the first, ring on 1024"), 1,
        "%s", cli_read("../err"));
}

Test(cli_stop, a_killed_worker_costs_one_row)
{
    expect_one_lost(false, "the worker process ended with signal 9");
}

Test(cli_stop, a_killed_simulation_costs_one_row)
{
    expect_one_lost(true, "the simulation was ended by signal 9");
}

Test(cli_stop, a_signal_leaves_the_rows_that_are_done)
{
    struct background sweep = start_until_one_row("2");
    kill(sweep.process, SIGTERM);
    cr_expect_eq(finish_sweep(&sweep), 130);
    CLI_HAS(cli_read("../err"), "interrupted after 1 of 2 points; o/sweep.jou");
    cr_expect_eq(cli_lines_with(cli_read("o/sweep.journal"), ""), 2);
}

Test(cli_stop, two_sweeps_do_not_write_one_journal)
{
    static const char line[] = "$AR sweep " STEP " --gpus 4 --engine closed --out o --resume";
    struct background sweep = start_until_one_row("2");
    struct cli_run run = cli_run("{ %s; } 2>&1 >/dev/null | tee ../second >/dev/null", line);
    cr_expect_eq(run.code, 0);
    CLI_HAS(cli_read("../second"), "o/sweep.journal: another sweep is writing");
    kill(sweep.process, SIGTERM);
    cr_expect_eq(finish_sweep(&sweep), 130);
    cr_expect_eq(cli_lines_with(cli_read("o/sweep.journal"), ""), 2);
}
