/* Child side of every simulation: its platform, its hosts, its answer. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <sys/resource.h>

#include <simgrid/engine.h>

#include "simgrid_child.h"
#include "simgrid_host.h"

sg_host_t child_host(uint32_t rank)
{
    char name[32];
    return sg_host_by_name(ar_host_name(rank, name, sizeof name));
}

void simulation_open(const struct simgrid_simulation *simulation)
{
    simgrid_load_platform(simulation->platform_path);
    child_watch(&simulation->task);
}

uint64_t child_actors_left;

/* SimGrid kills actors that wait for each other, and goes on as if nothing had happened. The line
 * is marked as one of its own that matter. */
static void expect_all_ended(void)
{
    if (child_actors_left > 0) {
        fprintf(stderr, "CRITICAL] %" PRIu64 " actors wait for what never comes\n",
                child_actors_left);
        _exit(ar_status_exit_code(AR_INTERNAL));
    }
}

void simulation_run(struct simgrid_simulation *simulation)
{
    struct rusage usage;
    simgrid_run();
    expect_all_ended();
    getrusage(RUSAGE_SELF, &usage);
    simulation->memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

bool simulation_answer(const struct simgrid_simulation *simulation, FILE *answer)
{
    fwrite(&simulation->memory_bytes, sizeof simulation->memory_bytes, 1, answer);
    for (int i = 0; i < simulation->results_count; i++) {
        if (simulation->results[i].iov_len > 0) {
            fwrite(simulation->results[i].iov_base, 1, simulation->results[i].iov_len, answer);
        }
    }
    return ferror(answer) == 0;
}
