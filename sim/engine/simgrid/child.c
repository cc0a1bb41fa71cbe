/* Child side of every simulation: SimGrid's start, its actors, its answer, and how it gives up. */
#include "child.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h> /* version.h needs what it brings */
#include <simgrid/version.h>

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

void child_watch(uint32_t stall_s)
{
    const struct sigaction action = {.sa_handler = give_up_if_stalled, .sa_flags = SA_RESTART};
    const struct timeval limit = {.tv_sec = stall_s};
    const struct itimerval timer = {.it_interval = limit, .it_value = limit};
    snprintf(farewell, sizeof farewell,
             "no message arrived in %" PRIu32 " s of processor time; has a link of the platform no "
             "bandwidth?\n",
             stall_s);
    child_progress++;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* --- actors ----------------------------------------------------------------------------------- */

struct child_actor {
    void (*run)(void *data);
    void *data;
};

static uint32_t actors_left;

static void actor_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct child_actor *own = sg_actor_self_get_data();
    own->run(own->data);
    free(own);
    actors_left--;
}

void child_start_actor(const char *name, uint32_t rank, void (*run)(void *data), void *data)
{
    struct child_actor *own = child_alloc(1, sizeof *own, "its actors");
    *own = (struct child_actor){run, data};
    sg_actor_t actor = sg_actor_init(name, child_host(rank));
    sg_actor_set_data(actor, own);
    sg_actor_start_(actor, actor_main, 0, NULL);
    actors_left++;
    child_progress++;
}

uint32_t child_actors_count(void)
{
    return actors_left;
}

void *child_actor_data(void)
{
    return ((struct child_actor *)sg_actor_self_get_data())->data;
}

sg_host_t child_host(uint32_t rank)
{
    char name[32];
    return sg_host_by_name(ar_host_name(rank, name, sizeof name));
}

void child_sleep_for(double time_s)
{
    child_progress++;
    if (time_s > 0) {
        sg_actor_sleep_for(time_s);
    }
}

void child_sleep_until(double time_s)
{
    if (simgrid_get_clock() < time_s) {
        sg_actor_sleep_until(time_s);
    }
}

void child_await(sg_comm_t comm, double latency_s)
{
    child_sleep_until(simgrid_wait(comm) + latency_s);
}

uint64_t child_moved_bytes(const struct ar_message_cost *cost, enum ar_tier tier,
                           double bandwidth_Bps, uint64_t bytes)
{
    uint64_t moved = bytes + (uint64_t)llround(ar_message_gap_s(cost, tier) * bandwidth_Bps);
    return moved > 0 ? moved : 1;
}

/* --- the module ------------------------------------------------------------------------------- */

/* Each guard page splits a mapping, and a process may have about 65,000 of them. */
static void child_start_simgrid(const struct simgrid_task *task)
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

/* SimGrid kills actors that wait for each other, and goes on as if nothing had happened. The line
 * is marked as one of its own that matter. */
static void expect_all_ended(void)
{
    if (actors_left > 0) {
        fprintf(stderr, "CRITICAL] %" PRIu32 " actors wait for what never comes\n", actors_left);
        _exit(ar_status_exit_code(AR_INTERNAL));
    }
}

static bool write_answer(const struct simgrid_task *task, int answer)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
    FILE *file = fdopen(answer, "w");
    if (file == NULL) {
        return false;
    }
    fwrite(&memory_bytes, sizeof memory_bytes, 1, file);
    for (int i = 0; i < SIMGRID_RESULTS_MAX; i++) {
        if (task->results[i].iov_len > 0) {
            fwrite(task->results[i].iov_base, 1, task->results[i].iov_len, file);
        }
    }
    return ferror(file) == 0 && fclose(file) == 0;
}

static bool child_run_task(struct simgrid_task *task, int answer)
{
    static const struct child_kind *const kinds[SIMGRID_KINDS_COUNT] = {
        [SIMGRID_TRIAL] = &child_trial,
        [SIMGRID_GRAPH] = &child_graph,
        [SIMGRID_ACTORS] = &child_actors};
    const struct child_kind *kind = kinds[task->kind];
    child_start_simgrid(task);
    simgrid_load_platform(task->platform_path);
    child_watch(SIMGRID_STALL_S);
    kind->start(task->data);
    simgrid_run();
    expect_all_ended();
    if (kind->finish != NULL) {
        kind->finish(task->data);
    }
    return write_answer(task, answer);
}

extern const struct simgrid_module ar_simgrid_module;

__attribute__((visibility("default"))) const struct simgrid_module ar_simgrid_module = {
    .version = sg_version_get,
    .run = child_run_task,
};
