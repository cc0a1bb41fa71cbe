/** \file nccl_lines.h
 * What single lines of nccl-tests, NCCL and launchers say; no state.
 */
#ifndef AR_LOGS_NCCL_LINES_H
#define AR_LOGS_NCCL_LINES_H

#include "nccl_run.h"

/** Removes what mpirun, srun, Hydra, Ray and container logs put before a line. */
struct ar_span ar_strip_prefix(struct ar_span line);

/** Splits a line at a message of NCCL (`host:pid:tid [0] NCCL INFO ...`). `head` is what stands
 * before it, without the host; `glued` the word to which the host is joined, with the host. Without
 * a message `head` is the line, and the answer false. */
bool ar_split_message(struct ar_span line, struct ar_span *head, struct ar_span *glued,
                      struct ar_span *message);

/** `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings. */
bool ar_parse_rank(struct ar_span line, struct ar_nccl_rank *rank, char gpu[AR_LOG_TEXT]);

/** Sizes of a run, from the `nThread` line. */
struct ar_nccl_sweep {
    uint64_t threads, gpus, max_bytes, step;
    bool is_factor;
    uint64_t line; /**< 0: not said */
};

bool ar_parse_sweep(struct ar_span line, struct ar_nccl_sweep *sweep);

#endif
