/* Child side: SimGrid's start, the table of tasks, and how a child gives up. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <simgrid/engine.h> /* version.h needs what it brings */
#include <simgrid/version.h>

#include "simgrid_child.h"

enum { ACTORS_WITH_GUARD_PAGES = 12000 };

volatile unsigned long child_progress;

_Noreturn void child_no_memory(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _exit(ar_status_exit_code(AR_NO_MEMORY));
}

void *child_alloc(size_t count, size_t size, const char *what)
{
    void *data = calloc(count, size);
    if (data == NULL && count > 0) {
        child_no_memory(what);
    }
    return data;
}

/* --- a limit on time without progress --------------------------------------------------------- */

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

/* --- the module ------------------------------------------------------------------------------- */

/* Each guard page splits a mapping, and a process may have about 65,000 of them. */
static void start_simgrid(const struct simgrid_task *task)
{
    const char *const options[] = {
        "allreckon",
#define X(option) "--cfg=" option,
        AR_SIMGRID_OPTIONS(X)
#undef X
            "--cfg=contexts/stack-size:128",
        "--log=root.thresh:error",
        task->actors_count > ACTORS_WITH_GUARD_PAGES ? "--cfg=contexts/guard-size:0" : NULL,
    };
    enum { COUNT = sizeof options / sizeof options[0] };
    char *arguments[COUNT + 1] = {NULL}; /* its own: simgrid_init() would eat the user's --help */
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
        if (options[i] != NULL) {
            arguments[count] = child_alloc(strlen(options[i]) + 1, 1, "its options");
            strcpy(arguments[count++], options[i]);
        }
    }
    simgrid_init(&count, arguments);
}

static bool run(struct simgrid_task *task, FILE *answer)
{
    static bool (*const tasks[])(struct simgrid_task * task,
                                 FILE * answer) = {[SIMGRID_TRIAL] = simgrid_answer_trial,
                                                   [SIMGRID_ACTORS] = simgrid_answer_actors,
                                                   [SIMGRID_GRAPH] = simgrid_answer_graph};
    start_simgrid(task);
    return tasks[task->kind](task, answer);
}

extern const struct simgrid_module ar_simgrid_module;

__attribute__((visibility("default"))) const struct simgrid_module ar_simgrid_module = {
    .version = sg_version_get,
    .run = run,
};
