/** \file cuda_probes.h
 * Probes of GPUs and the links between them, in the words of probes.h: a message is a peer-to-peer
 * copy, a launch is that of an empty kernel.
 */
#ifndef AR_VALIDATE_CUDA_PROBES_H
#define AR_VALIDATE_CUDA_PROBES_H

#include "measurement.h"

/** Runs a probe between the GPUs of its ranks and writes its times. */
enum ar_status cuda_probe_run(const struct run_config *config, uint32_t gpus,
                              struct ar_arena *arena, struct measurement *measurement,
                              struct ar_error *err);

#endif
