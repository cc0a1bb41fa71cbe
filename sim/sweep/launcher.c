#include "launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Where launchers say how many ranks there are, which one this is, and how many are here. */
static const struct variables {
    const char *ranks;
    const char *rank;
    const char *local_ranks;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE"},
};

/* A number at the start of a variable: Slurm says "4(x2)" for four tasks on each of two nodes. */
static bool read_count(const char *name, uint32_t *count)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false;
    }
    *count = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

struct launcher launcher_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        struct launcher found = {.ranks = 1};
        if (read_count(launchers[i].ranks, &found.ranks) &&
            read_count(launchers[i].rank, &found.rank) && found.ranks > 1) {
            (void)read_count(launchers[i].local_ranks, &found.local_ranks);
            return found;
        }
    }
    return (struct launcher){.ranks = 1};
}
