/** \file nccl_run.h
 * A run of nccl-tests while it is read, from text or JSON: its ranks, and what can only be said at
 * its end.
 */
#ifndef AR_LOGS_NCCL_RUN_H
#define AR_LOGS_NCCL_RUN_H

#include "ar_log.h"

enum { AR_NCCL_RANKS_MAX = 1 << 20 };

/** What a `Rank` line or an entry of `devices` says. */
struct ar_nccl_rank {
    uint64_t group, pid;
    uint64_t line; /**< 0: not listed */
    char host[64];
};

/** Begins as all zeros. */
struct ar_nccl_run {
    enum ar_log_collective hint;   /**< a program name was seen nearby */
    uint64_t ranks_per_process;    /**< nThread times nGpus; 0 if not said */
    bool has_rank_of_process_only; /**< JSON lists the first rank of each process */
    uint64_t nranks;               /**< of NCCL's own messages; 0 if none or several */
    uint64_t nranks_line;
    struct ar_nccl_rank *ranks; /**< by their numbers; of the arena of the log */
    size_t ranks_count, ranks_capacity;
};

/** Adds a rank. Two processes that both say they are the same rank are an error: without MPI every
 * process of nccl-tests is rank 0 of its own. */
enum ar_status ar_nccl_add_rank(const struct ar_log *log, struct ar_nccl_run *run, uint64_t number,
                                const struct ar_nccl_rank *rank, struct ar_error *err);

/** Counts ranks and hosts, finds the collective if it is not named, checks the bandwidths. */
enum ar_status ar_nccl_finish(struct ar_log *log, struct ar_nccl_run *run, struct ar_error *err);

/** Sets `NCCL 2.8.4` from NCCL's version code, in both of its encodings. */
void ar_nccl_set_version(uint64_t code, struct ar_log *log);

#endif
