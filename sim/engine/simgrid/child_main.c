/* Child side: SimGrid's start, the table of tasks, and how a child gives up. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <simgrid/engine.h> /* version.h needs what it brings */
#include <simgrid/version.h>

#include "ar_text.h"
#include "simgrid_child.h"

enum { ACTORS_WITH_GUARD_PAGES = 12000 };

volatile unsigned long child_progress;

void *child_alloc(size_t count, size_t size, const char *what)
{
    void *data = calloc(count, size);
    if (data == NULL && count > 0) {
        fprintf(stderr, "%s\n", what);
        _exit(ar_status_exit_code(AR_NO_MEMORY));
    }
    return data;
}

/* --- a limit on time without progress ------------------------------------------------------- */

static char farewell[160];

static void give_up_if_stalled(int signal)
{
    static unsigned long seen;
    (void)signal;
    if (child_progress == seen) {
        bool is_written = write(STDERR_FILENO, farewell, strlen(farewell)) > 0;
        _exit(is_written ? ar_status_exit_code(AR_INTERNAL) : 1);
    }
    seen = child_progress;
}

void child_watch(const struct simgrid_task *task)
{
    const struct sigaction action = {.sa_handler = give_up_if_stalled, .sa_flags = SA_RESTART};
    const struct timeval limit = {.tv_sec = task->stall_s > 0 ? task->stall_s : SIMGRID_STALL_S};
    const struct itimerval timer = {.it_interval = limit, .it_value = limit};
    snprintf(farewell, sizeof farewell,
             "no message arrived in %ld s of processor time; has a link of the platform no "
             "bandwidth?\n",
             (long)limit.tv_sec);
    child_progress++;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* --- the module ------------------------------------------------------------------------------ */

static void start_simgrid(const struct simgrid_task *task)
{
    /* An argv of its own: simgrid_init() would eat the user's --help. */
    static const char *const pinned[] = {
        "allreckon",
#define X(option) "--cfg=" option,
        AR_SIMGRID_OPTIONS(X)
#undef X
            "--cfg=contexts/stack-size:128",
        "--log=root.thresh:error",
    };
    enum { PINNED_COUNT = sizeof pinned / sizeof pinned[0], SIZE = 48 };
    static char texts[PINNED_COUNT + 2][SIZE];
    char *arguments[PINNED_COUNT + 3] = {NULL};
    int count = 0;
    for (; count < PINNED_COUNT; count++) {
        ar_copy_text(texts[count], SIZE, pinned[count]);
    }
    if (task->option != NULL) {
        ar_copy_text(texts[count++], SIZE, task->option);
    }
    /* Each guard page splits a mapping, and a process may have about 65,000 of them. */
    if (task->actors_count > ACTORS_WITH_GUARD_PAGES) {
        ar_copy_text(texts[count++], SIZE, "--cfg=contexts/guard-size:0");
    }
    for (int i = 0; i < count; i++) {
        arguments[i] = texts[i];
    }
    simgrid_init(&count, arguments);
}

static bool run(struct simgrid_task *task, FILE *answer)
{
    static bool (*const tasks[])(struct simgrid_task * task, FILE * answer) = {
        [SIMGRID_TRIAL] = simgrid_answer_trial,
        [SIMGRID_CONTENT] = platform_answer_content,
        [SIMGRID_ROUTES] = platform_answer_routes,
        [SIMGRID_RATES] = platform_answer_rates,
    };
    start_simgrid(task);
    return tasks[task->kind](task, answer);
}

extern const struct simgrid_module ar_simgrid_module;

__attribute__((visibility("default"))) const struct simgrid_module ar_simgrid_module = {
    .version = sg_version_get,
    .run = run,
};
