/** \file nccl_lines.h
 * What single lines of nccl-tests, NCCL and launchers say; no state.
 */
#ifndef AR_LOGS_NCCL_LINES_H
#define AR_LOGS_NCCL_LINES_H

#include "nccl_run.h"

/** The line behind what mpirun, srun, Hydra, Ray and container logs put before it, trimmed. */
char *ar_strip_prefix(char *line);

/** Finds a message of NCCL (`host:pid:tid [0] NCCL INFO ...`) and cuts the line before it and its
 * host; `glued` is the word that the host is joined to, with the host. NULL without a message. */
char *ar_cut_message(char **line, char **glued);

/** `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings; `line` of the rank
 * is not set. */
bool ar_parse_rank(char *line, uint64_t *number, struct ar_nccl_rank *rank, const char **gpu);

/** Sizes of a run, from the `nThread` line. */
struct ar_nccl_sweep {
    uint64_t threads, gpus, max_bytes, step;
    bool is_factor;
    uint64_t line; /**< 0: not said */
};

/** `line` of the sweep is not set. */
bool ar_parse_sweep(char *line, struct ar_nccl_sweep *sweep);

#endif
