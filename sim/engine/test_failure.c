/* A simulation that fails is one line and a status; nothing is printed, left open or left behind.
 *
 * Each check runs in a child with a limit of its own, since limits cannot be lifted again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_trials.h"

enum { DESCRIPTORS = 64, NO_LIMIT = -1 };

/* The findings of the child, in memory that it shares with the test. */
struct report {
    enum ar_status status;
    struct ar_error err;
    double finish_s;    /* of the call; -7 if the engine wrote none */
    long printed_bytes; /* to stdout and stderr */
    int descriptors_left;
    bool has_children, is_complete;
};

static int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < DESCRIPTORS; i++) {
        count += fcntl(i, F_GETFD) >= 0;
    }
    return count;
}

/* The child: never returns. */
static void run_in_child(const struct ar_collective *collective, int resource, rlim_t max,
                         struct report *report)
{
    const struct ar_call call = {.ready_s = 0, .elements = 1000};
    static struct test_trial test; /* not shared: the simulation must not write to it */
    trials_prepare(collective, &call, 1, &test);
    test.times[0].finish_s = -7;
    int printed = memfd_create("printed", 0);
    dup2(printed, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);
    close_range(3, ~0u, 0);
    int before = open_descriptors();
    const struct rlimit limit = {.rlim_cur = max, .rlim_max = max};
    signal(SIGXFSZ, SIG_IGN);
    /* Root may always fork, hence the change of user. */
    bool can = resource != RLIMIT_NPROC || geteuid() != 0 || setuid(65534) == 0;
    if (resource != NO_LIMIT && !(can && setrlimit(resource, &limit) == 0)) {
        _exit(1);
    }
    report->status = ar_trial_run(&test.trial, &ar_engine_simgrid, &report->err);
    report->finish_s = test.times[0].finish_s;
    fflush(NULL);
    struct stat info;
    report->printed_bytes = fstat(STDOUT_FILENO, &info) == 0 ? (long)info.st_size : -1;
    report->descriptors_left = open_descriptors() - before;
    report->has_children = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
    report->is_complete = true;
    _exit(0);
}

/* Runs a ring on abci-v100 under a limit; the report lives until the test ends. */
static const struct report *run_limited(uint32_t ranks, int resource, rlim_t max)
{
    struct report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(report != MAP_FAILED);
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective ring = support_collective(abci, "ring", ranks, 1);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        run_in_child(&ring, resource, max, report);
    }
    waitpid(child, NULL, 0);
    cr_assert(report->is_complete, "the process of the engine died with its simulation");
    return report;
}

static void expect_quiet(const struct report *report)
{
    cr_expect_eq(report->printed_bytes, 0, "%ld bytes were printed", report->printed_bytes);
    cr_expect_eq(report->descriptors_left, 0, "%d descriptors left open, \"%s\"",
                 report->descriptors_left, report->err.text);
    cr_expect_not(report->has_children, "a process is left");
}

static void expect_failure(const struct report *report, enum ar_status status, const char *cause)
{
    expect_quiet(report);
    cr_expect_eq(report->status, status, "%d", (int)report->status);
    cr_expect_eq(report->err.status, status);
    cr_expect_not_null(strstr(report->err.text, cause), "\"%s\" does not say \"%s\"",
                       report->err.text, cause);
    cr_expect_null(strchr(report->err.text, '\n'), "%s", report->err.text);
    cr_expect_null(strstr(report->err.text, "terminate called"), "%s", report->err.text);
    cr_expect_null(strstr(report->err.text, "backtrace"), "%s", report->err.text);
    cr_expect_eq(report->finish_s, -7, "a result was written");
}

Test(failure, a_simulation_that_succeeds_prints_nothing_and_leaves_nothing)
{
    const struct report *report = run_limited(16, NO_LIMIT, 0);
    cr_expect_eq(report->status, AR_OK, "%s", report->err.text);
    cr_expect_gt(report->finish_s, 0);
    expect_quiet(report);
}

Test(failure, what_a_simulation_lacks_is_an_error_that_names_it)
{
    static const struct {
        int resource;
        rlim_t max;
        enum ar_status status;
        const char *cause;
    } cases[] = {
        /* The engine opens its platform, a log and an answer: 3, 4 and 5. SimGrid finds none. */
        {RLIMIT_NOFILE, 6, AR_INTERNAL, "Unable to open"},
        {RLIMIT_NOFILE, 5, AR_NO_MEMORY, "answer in memory: Too many open files"},
        {RLIMIT_NOFILE, 4, AR_NO_MEMORY, "platform in memory: Too many open files"},
        {RLIMIT_NOFILE, 3, AR_NO_MEMORY, "Too many open files"},
        {RLIMIT_FSIZE, 100, AR_NO_MEMORY, "cannot hold the platform in memory: File too large"},
        {RLIMIT_NPROC, 0, AR_NO_MEMORY, "cannot fork a simulation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_failure(run_limited(16, cases[i].resource, cases[i].max), cases[i].status,
                       cases[i].cause);
    }
}

/* 64 MB more than the process has; the stacks of 1024 actors take 128 MB. */
Test(failure, a_simulation_that_runs_out_of_memory_is_an_error)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip_test("AddressSanitizer needs terabytes of addresses");
#else
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file != NULL && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    expect_failure(run_limited(1024, RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20)),
                   AR_NO_MEMORY, "allocate");
#endif
}
