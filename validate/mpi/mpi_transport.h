/** \file mpi_transport.h
 * A rank as a process of MPI: non-blocking point-to-point messages, the channel as tag.
 *
 * A port has a window of slots with a request each. Messages are sent from the buffer. Receives are
 * posted ahead for all slots, so that a message finds its slot when it arrives; the slots are in
 * the memory of the run, so a CUDA-aware library sends from one GPU's memory to another's.
 */
#ifndef AR_VALIDATE_MPI_TRANSPORT_H
#define AR_VALIDATE_MPI_TRANSPORT_H

#include "executor.h"

struct mpi_transport;

/** Opens the ports of this process among the first `ranks` processes, which all call it; freed with
 * mpi_transport_destroy(). */
enum ar_status mpi_transport_create(const struct ports *ports, uint32_t ranks,
                                    const struct run_config *config, size_t slot_bytes,
                                    struct mpi_transport **transport, struct ar_error *err);

/** Closes the ports; all that was sent has been received. */
void mpi_transport_destroy(struct mpi_transport *transport);

struct transport *mpi_transport_base(struct mpi_transport *transport);

#endif
