/** \file nccl_run.h
 * A run of nccl-tests while it is read, from text or JSON: its ranks, its rows with their digits,
 * and what can only be said at its end.
 */
#ifndef AR_LOGS_NCCL_RUN_H
#define AR_LOGS_NCCL_RUN_H

#include "collective.h"

enum { AR_NCCL_RANKS_MAX = 1 << 20 };

/** What a `Rank` line or an entry of `devices` says. */
struct ar_nccl_rank {
    uint64_t rank, group, pid, line;
    char host[64];
};

/** What only checking a row needs. */
struct ar_nccl_extra {
    struct ar_row_digits digits[2]; /**< out of place, in place */
    int64_t root;                   /**< INT64_MIN when not printed */
};

/** With nothing known. */
struct ar_nccl_extra ar_nccl_empty_extra(void);

struct ar_nccl_run {
    size_t place;                  /**< in logs->runs */
    enum ar_log_collective hint;   /**< a program name was seen nearby */
    bool is_named;                 /**< the run states its collective */
    uint64_t ranks_per_process;    /**< nThread times nGpus; 0 if not said */
    bool has_rank_of_process_only; /**< JSON lists the first rank of each process */
    uint64_t nranks;               /**< of NCCL's own messages; 0 if none or several */
    uint64_t nranks_line;
    struct ar_nccl_rank *ranks;
    size_t ranks_count, ranks_capacity;
    uint32_t *rank_places; /**< place in `ranks` plus one by rank number; 0: none */
    size_t rank_places_capacity;
    struct ar_nccl_extra *extras; /**< one per row */
    size_t extras_capacity;
};

/** Begins a run at `line` in what is all zeros or held another run before. The reader drops the
 * last one with ar_nccl_drop(). */
enum ar_status ar_nccl_begin(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                             struct ar_nccl_run *run, struct ar_error *err);

/** Adds a rank. Two processes that both say they are the same rank are an error: without MPI every
 * process of nccl-tests is rank 0 of its own. */
enum ar_status ar_nccl_add_rank(struct ar_logs *logs, struct ar_nccl_run *run,
                                const struct ar_nccl_rank *rank, struct ar_error *err);

/** Adds a row, whose times and bandwidths are those of the digits. */
enum ar_status ar_nccl_add_row(struct ar_logs *logs, struct ar_nccl_run *run,
                               struct ar_log_row *row, const struct ar_nccl_extra *extra,
                               struct ar_error *err);

/** Counts ranks and hosts, finds the collective if it is not named, checks the bandwidths. */
enum ar_status ar_nccl_finish(struct ar_logs *logs, struct ar_nccl_run *run, struct ar_error *err);

/** Frees what a run holds. */
void ar_nccl_drop(struct ar_nccl_run *run);

/** `NCCL 2.8.4` from NCCL's version code, in both of its encodings. */
void ar_nccl_version_text(uint64_t code, char *text, size_t size);

#endif
