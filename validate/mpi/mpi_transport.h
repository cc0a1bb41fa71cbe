/** \file mpi_transport.h
 * A rank as a process of MPI: non-blocking point-to-point messages, the channel as tag.
 *
 * A port has a window of requests, one that receives a slot for each. Receives are posted ahead for
 * all slots, so that a message finds its slot when it arrives; the slots are in the memory of the
 * run, so a CUDA-aware library sends from one GPU's memory to another's.
 */
#ifndef AR_VALIDATE_MPI_TRANSPORT_H
#define AR_VALIDATE_MPI_TRANSPORT_H

#include "executor.h"

/** Opens the ports of this process among the first `ranks` processes, which all call it. They are
 * closed when the arena ends, by which time all that was sent must have been received. */
enum ar_status mpi_transport_create(const struct ports *ports, uint32_t ranks,
                                    const struct run_config *config, size_t slot_bytes,
                                    struct ar_arena *arena, struct transport **transport,
                                    struct ar_error *err);

#endif
