/** \file mpi_world.h
 * The processes of an MPI run and the nodes they are on. Only mpi.c includes MPI's header.
 */
#pragma once

#include <stdio.h>

#include "backend.h"

struct mpi_world {
    uint32_t rank;
    uint32_t ranks;
    uint32_t local_rank;     /**< among the processes of this node */
    uint32_t ranks_per_node; /**< of the first node; 1 if ranks are not placed node by node */
    bool is_by_node;         /**< rank r is on node r / ranks_per_node */
    uint32_t *first_on_node; /**< [rank]: the lowest rank of its node */
};

#ifdef VALIDATE_HAS_MPI
/** Starts MPI if `is_needed`, or if a launcher of MPI has started this process; else it is alone,
 * and none of the functions below has anything to do. The result stays until mpi_world_stop(). */
const struct mpi_world *mpi_world_start(bool is_needed);

/** Ends MPI, or with a code all processes of the run. */
void mpi_world_stop(int code);

/** Nodes that the first `ranks` ranks are on. */
uint32_t mpi_world_nodes(const struct mpi_world *world, uint32_t ranks);

/** The machine as cases.h takes it. */
struct machine mpi_world_machine(const struct mpi_world *world);

/** Writes library, processes and nodes as lines "# key: value". */
void mpi_world_describe(FILE *file);

/** Process 0 gives `bytes` bytes to all. */
void mpi_world_broadcast(void *data, uint32_t bytes);

/** Every process gives `bytes` bytes to all, who get them in the order of ranks. */
void mpi_world_gather(const void *own, uint32_t bytes, void *all);

/** Combines what the first `ranks` processes found; those beyond come here as well. On process 0
 * times are the slowest rank's; the mismatches are combined on all. */
void mpi_world_collect(uint32_t ranks, struct measurement *measurement);
#else /* a process is always alone */
static const struct mpi_world mpi_world_alone = {.ranks = 1, .ranks_per_node = 1};
#define mpi_world_start(is_needed)            (&mpi_world_alone)
#define mpi_world_stop                        NULL
#define mpi_world_nodes(world, ranks)         1
#define mpi_world_machine(world)              ((struct machine){.is_first = true})
#define mpi_world_describe(file)              ((void)0)
#define mpi_world_broadcast(data, bytes)      ((void)0)
#define mpi_world_gather(own, bytes, all)     ((void)0)
#define mpi_world_collect(ranks, measurement) ((void)0)
#endif
