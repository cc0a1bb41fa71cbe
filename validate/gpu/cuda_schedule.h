/** \file cuda_schedule.h
 * A collective as work for GPUs: the moves of all ranks, laid out by the host onto streams.
 *
 * Each rank has a buffer on its GPU and a stream per channel; each connection a ring of slots on
 * the receiver's GPU and two events per slot. A send waits until its slot has been taken, copies
 * the span into it (peer-to-peer between GPUs) and records "sent"; a receive waits for "sent", adds
 * or copies the slot into the buffer and records "taken". The host lays out step by step, all sends
 * of a step before its receives (where the steps of a phase are at once, all sends of the phase),
 * so that no stream waits for an event that is not recorded. Messages without elements are left
 * out. Ranks may share a GPU.
 *
 * Probes are those of runner.h: a message is a peer-to-peer copy, a launch that of an empty kernel.
 */
#ifndef AR_VALIDATE_CUDA_SCHEDULE_H
#define AR_VALIDATE_CUDA_SCHEDULE_H

#include "runner.h"

/** Allocates buffers, slots, streams and events, all the arena's. With `config->uses_graph` the
 * work is captured once, and launched as one graph. The time of a run is that between two events of
 * the first rank's GPU, before the first and behind the last operation; what the host needs to
 * launch is in it unless a graph is launched. A run is AR_INTERNAL if it takes longer than the
 * config's timeout. */
enum ar_status cuda_schedule_create(const struct measurement *measurement,
                                    const struct run_config *config, uint32_t gpus,
                                    struct ar_arena *arena, struct crew **crew,
                                    struct ar_error *err);

/** Runs a probe between the GPUs of its ranks and writes its times. */
enum ar_status cuda_probe_run(const struct run_config *config, uint32_t gpus,
                              struct ar_arena *arena, struct measurement *measurement,
                              struct ar_error *err);

#endif
