#include "mpi_world.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAP_NS = 200000 };

static struct mpi_world the_world; /* MPI has one per process */

/* Rank r is on node r / ranks_per_node. */
static bool is_by_node(const struct mpi_world *world)
{
    for (uint32_t rank = 0; rank < world->ranks; rank++) {
        if (world->first_on_node[rank] != rank - rank % world->ranks_per_node) {
            return false;
        }
    }
    return true;
}

static enum ar_status find_nodes(struct mpi_world *world, struct ar_error *err)
{
    MPI_Comm node;
    int local_rank;
    uint32_t first = world->rank;
    world->first_on_node = calloc(world->ranks, sizeof *world->first_on_node);
    AR_NEED(world->first_on_node, err, "the nodes");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Bcast(&first, 1, MPI_UINT32_T, 0, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&first, 1, MPI_UINT32_T, world->first_on_node, 1, MPI_UINT32_T, MPI_COMM_WORLD);
    world->local_rank = (uint32_t)local_rank;
    while (world->ranks_per_node < world->ranks &&
           world->first_on_node[world->ranks_per_node] == world->first_on_node[0]) {
        world->ranks_per_node++;
    }
    world->is_by_node = is_by_node(world);
    world->ranks_per_node = world->is_by_node ? world->ranks_per_node : 1;
    return AR_OK;
}

enum ar_status mpi_world_start(const struct mpi_world **world, struct ar_error *err)
{
    int is_started;
    int rank;
    int ranks;
    MPI_Initialized(&is_started);
    if (!is_started) {
        MPI_Init(NULL, NULL);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    the_world = (struct mpi_world){.rank = (uint32_t)rank, .ranks = (uint32_t)ranks};
    *world = &the_world;
    return find_nodes(&the_world, err);
}

void mpi_world_stop(int code)
{
    free(the_world.first_on_node);
    the_world.first_on_node = NULL;
    if (code != 0) {
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
}

uint32_t mpi_world_nodes(const struct mpi_world *world, uint32_t ranks)
{
    uint32_t nodes = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        nodes += world->first_on_node[rank] == rank;
    }
    return nodes;
}

struct machine mpi_world_machine(const struct mpi_world *world)
{
    return (struct machine){.is_first = world->rank == 0,
                            .ranks_max = world->ranks,
                            .ranks_standard = world->ranks,
                            .ranks_per_node = world->ranks_per_node};
}

void mpi_world_describe(const struct mpi_world *world, FILE *file)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    int version;
    int minor;
    MPI_Get_version(&version, &minor);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n,")] = '\0';
    fprintf(file, "# mpi: %s, MPI %d.%d\n", library, version, minor);
    fprintf(file, "# processes: %u on %u nodes, %s\n", world->ranks,
            mpi_world_nodes(world, world->ranks),
            world->is_by_node ? "ranks placed node by node"
                              : "ranks not placed node by node: channels share one rank order");
}

void mpi_world_broadcast(unsigned char *data, uint32_t bytes)
{
    MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Waits for all processes; sleeps in between, so that others may compute meanwhile. */
static void meet(void)
{
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE); !is_done;
         MPI_Test(&request, &is_done, MPI_STATUS_IGNORE)) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

void mpi_world_collect(uint32_t ranks, struct measurement *measurement)
{
    const struct mpi_world *world = &the_world;
    struct mismatch *mismatch = &measurement->mismatch;
    bool is_member = world->rank < ranks;
    int first = is_member && mismatch->wrong > 0 ? (int)world->rank : INT_MAX;
    uint64_t wrong = mismatch->wrong;
    meet();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first != INT_MAX) {
        MPI_Bcast(mismatch, sizeof *mismatch, MPI_BYTE, first, MPI_COMM_WORLD);
    }
    mismatch->wrong = wrong;
    bool is_first = world->rank == 0;
    MPI_Reduce(is_first ? MPI_IN_PLACE : measurement->times_s, measurement->times_s,
               (int)measurement->repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}
