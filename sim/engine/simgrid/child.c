/* Child side of every simulation: SimGrid's start, its actors, its answer, and how it gives up. */
#include "child.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h> /* version.h needs what it brings */
#include <simgrid/version.h>

enum { ACTORS_WITH_GUARD_PAGES = 12000, STACK_KIB = 128 };

void *child_alloc(size_t count, size_t size, const char *what)
{
    void *data = calloc(count, size);
    if (data == NULL && count > 0) {
        fprintf(stderr, "cannot allocate %s\n", what);
        _exit(1);
    }
    return data;
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
    if (time_s > 0) {
        sg_actor_sleep_for(time_s);
    }
}

void child_sleep_until(double time_s)
{
    child_sleep_for(time_s - simgrid_get_clock());
}

void child_compute(uint32_t rank, double time_s)
{
    double begin_s = simgrid_get_clock();
    if (time_s > 0) {
        sg_actor_execute(time_s * sg_host_get_speed(sg_host_self()));
        child_note_computed(rank, begin_s);
    }
}

void child_await(sg_comm_t comm, double latency_s)
{
    if (comm != NULL) {
        child_sleep_until(simgrid_wait(comm) + latency_s);
    }
}

/* --- usage ------------------------------------------------------------------------------------ */

struct message_note {
    uint32_t from, to;
    double bytes;
};

static struct ar_usage *usage; /* of the task; NULL: none */
static const struct ar_cluster *usage_cluster;

void child_note_computed(uint32_t rank, double begin_s)
{
    if (usage != NULL) {
        double now_s = simgrid_get_clock();
        ar_usage_add(usage, usage->links_count + rank, begin_s, now_s, now_s - begin_s);
    }
}

void child_note_message(sg_comm_t comm, uint32_t from, uint32_t to, double bytes)
{
    if (usage != NULL) {
        struct message_note *note = child_alloc(1, sizeof *note, "its messages");
        *note = (struct message_note){from, to, bytes};
        simgrid_set_note(comm, note);
    }
}

void child_note_moved(void *note, double begin_s, double end_s)
{
    const struct message_note *own = note;
    struct ar_path path;
    ar_cluster_path(usage_cluster, own->from, own->to, &path);
    for (uint32_t i = 0; i < path.links_count; i++) {
        ar_usage_add(usage, path.links[i], begin_s, end_s, own->bytes);
    }
    free(note);
}

/* --- the module ------------------------------------------------------------------------------- */

#define CONFIGURED(option) "--cfg=" option,

/* Each guard page splits a mapping, and a process may have about 65,000 of them. Stacks without one
 * are zeroed, but for those that malloc() maps: a step of 4,096 GPUs touched 1.1 GB else. */
static void child_start_simgrid(const struct simgrid_task *task)
{
    const char *const options[] = {
        "allreckon",
        AR_SIMGRID_OPTIONS(CONFIGURED) "--cfg=contexts/stack-size:128", /* STACK_KIB */
        "--log=root.thresh:error",
        "--log=root.fmt:%m%n",
        task->actors_count > ACTORS_WITH_GUARD_PAGES ? "--cfg=contexts/guard-size:0" : NULL,
    };
    enum { COUNT = sizeof options / sizeof options[0] };
    char *arguments[COUNT + 1] = {NULL}; /* its own: simgrid_init() would eat the user's --help */
    int count = 0;
    for (; count < COUNT && options[count] != NULL; count++) {
        arguments[count] = strdup(options[count]);
    }
    mallopt(M_MMAP_THRESHOLD, STACK_KIB << 9);
    simgrid_keep_blocks();
    simgrid_init(&count, arguments);
}

static bool child_run_task(struct simgrid_task *task)
{
    static const struct child_kind *const kinds[SIMGRID_KINDS_COUNT] = {
        [SIMGRID_TRIAL] = &child_trial,
        [SIMGRID_GRAPH] = &child_graph,
        [SIMGRID_ACTORS] = &child_actors};
    const struct child_kind *kind = kinds[task->kind];
    usage = task->usage;
    usage_cluster = task->cluster;
    if (usage != NULL) {
        ar_usage_clear(usage);
    }
    child_start_simgrid(task);
    simgrid_load_platform(task->platform_path);
    kind->start(task->data);
    simgrid_run();
    if (actors_left > 0) { /* SimGrid has said so, killed them, and gone on */
        return false;
    }
    if (kind->finish != NULL) {
        kind->finish(task->data);
    }
    task->is_whole = true;
    return writev(task->answer, task->results, SIMGRID_ANSWERS) >= 0;
}

extern const struct simgrid_module ar_simgrid_module;

__attribute__((visibility("default"))) const struct simgrid_module ar_simgrid_module = {
    .version = sg_version_get,
    .run = child_run_task,
};
