/** \file mpi_world.h
 * The processes of an MPI run and the nodes they are on. Only mpi_*.c know MPI's header.
 */
#ifndef AR_VALIDATE_MPI_WORLD_H
#define AR_VALIDATE_MPI_WORLD_H

#include <stdio.h>

#include "backend.h"
#include "executor.h"

struct mpi_world {
    uint32_t rank;
    uint32_t ranks;
    uint32_t local_rank;     /**< among the processes of this node */
    uint32_t ranks_per_node; /**< of the first node; 1 if ranks are not placed node by node */
    bool is_by_node;
    uint32_t *first_on_node; /**< for each rank, the lowest rank of its node; the library's */
};

/** Starts MPI if it has not been; the result stays until mpi_world_stop(). */
enum ar_status mpi_world_start(const struct mpi_world **world, struct ar_error *err);

/** Ends MPI, or with a code all processes of the run. */
void mpi_world_stop(int code);

/** Nodes that the first `ranks` ranks are on. */
uint32_t mpi_world_nodes(const struct mpi_world *world, uint32_t ranks);

/** The machine as the plan wants it. */
struct machine mpi_world_machine(const struct mpi_world *world);

/** Writes library, processes and nodes as lines "# key: value". */
void mpi_world_describe(const struct mpi_world *world, FILE *file);

/** Process 0 gives `bytes` bytes to all. */
void mpi_world_broadcast(unsigned char *data, uint32_t bytes);

/** Combines what the first `ranks` processes found; those beyond come here as well. On process 0
 * times are the slowest rank's; the mismatches are combined on all. */
void mpi_world_collect(uint32_t ranks, struct measurement *measurement);

/** Opens the ports of this process among the first `ranks` processes, which all call it. They are
 * closed when the arena ends, by which time all that was sent must have been received. */
enum ar_status mpi_transport_create(const struct ports *ports, uint32_t ranks,
                                    const struct run_config *config, size_t slot_bytes,
                                    struct ar_arena *arena, struct transport **transport,
                                    struct ar_error *err);

#endif
