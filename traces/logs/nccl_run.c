#include "nccl_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static enum ar_status claimed_twice(const struct ar_log *log, uint64_t number,
                                    const struct ar_nccl_rank *first,
                                    const struct ar_nccl_rank *second, struct ar_error *err)
{
    if (first->pid == second->pid && strcmp(first->host, second->host) == 0) {
        return ar_log_refuse(log, second->line, err,
                             "rank %" PRIu64 " is listed a second time (first on "
                             "line %" PRIu64 "); expected every rank once",
                             number, first->line);
    }
    return ar_log_refuse(log, second->line, err,
                         "process %" PRIu64 " on %s says it is rank %" PRIu64
                         ", as process %" PRIu64 " on %s did (line %" PRIu64
                         "); expected one: each "
                         "process ran alone, as nccl-tests does when built without MPI=1",
                         second->pid, second->host, number, first->pid, first->host, first->line);
}

/* Room for a rank; all that are not listed are zero. */
static bool make_room(struct ar_arena *arena, struct ar_nccl_run *run, size_t number)
{
    if (number < run->ranks_capacity) {
        return true;
    }
    struct ar_nccl_rank *ranks = ar_arena_alloc(arena, 2 * (number + 1), sizeof *ranks);
    if (ranks == NULL) {
        return false;
    }
    if (run->ranks_capacity > 0) {
        memcpy(ranks, run->ranks, run->ranks_capacity * sizeof *ranks);
    }
    run->ranks = ranks;
    run->ranks_capacity = 2 * (number + 1);
    return true;
}

enum ar_status ar_nccl_add_rank(const struct ar_log *log, struct ar_nccl_run *run, uint64_t number,
                                const struct ar_nccl_rank *rank, struct ar_error *err)
{
    if (number >= AR_NCCL_RANKS_MAX) {
        return ar_log_refuse(log, rank->line, err, "rank %" PRIu64 "; expected a rank below %d",
                             number, AR_NCCL_RANKS_MAX);
    }
    AR_NEED(make_room(log->arena, run, number), err, log->path);
    if (run->ranks[number].line != 0) {
        return claimed_twice(log, number, &run->ranks[number], rank, err);
    }
    run->ranks[number] = *rank;
    run->ranks_count++;
    return AR_OK;
}

/* Ranks are numbered without gaps; of those that JSON lists, the first of each process, too. They
 * stand one after the other then. */
static enum ar_status check_numbers(const struct ar_log *log, struct ar_nccl_run *run,
                                    struct ar_error *err)
{
    uint64_t stride = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    uint64_t per_process = run->has_rank_of_process_only ? 1 : run->ranks_per_process;
    size_t first = 0;
    while (run->ranks[first].line == 0) {
        first++;
    }
    uint64_t line = run->ranks[first].line;
    for (size_t i = 0; i < run->ranks_count; i++) {
        uint64_t rank = i * stride;
        if (rank >= run->ranks_capacity || run->ranks[rank].line == 0) {
            return ar_log_refuse(log, line, err,
                                 "rank %" PRIu64 " is missing among the %zu listed; "
                                 "expected the ranks from 0 on without a gap",
                                 rank, run->ranks_count);
        }
        run->ranks[i] = run->ranks[rank];
    }
    if (per_process > 0 && run->ranks_count % per_process != 0) {
        return ar_log_refuse(log, line, err,
                             "%zu ranks are listed; expected a multiple of %" PRIu64
                             ", nThread times nGpus",
                             run->ranks_count, per_process);
    }
    return AR_OK;
}

static int compare_hosts(const void *a, const void *b)
{
    const struct ar_nccl_rank *first = a, *second = b;
    return strcmp(first->host, second->host);
}

/* Ranks of the group of rank 0, which is the one that prints, and the hosts they are on. */
static enum ar_status count_ranks(struct ar_nccl_run *run, struct ar_log *log, struct ar_error *err)
{
    AR_TRY(check_numbers(log, run, err));
    uint64_t group = run->ranks[0].group;
    uint64_t each = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    uint64_t all = run->ranks_count * each;
    const char *last_host = NULL;
    qsort(run->ranks, run->ranks_count, sizeof *run->ranks, compare_hosts);
    for (size_t i = 0; i < run->ranks_count; i++) {
        const struct ar_nccl_rank *rank = &run->ranks[i];
        if (rank->group == group) {
            log->ranks += (uint32_t)each;
            log->nodes += last_host == NULL || strcmp(last_host, rank->host) != 0;
            last_host = rank->host;
        }
    }
    if (run->nranks != 0 && run->nranks != log->ranks && run->nranks != all) {
        return ar_log_refuse(log, run->nranks_line, err,
                             "NCCL says nranks %" PRIu64 "; expected %" PRIu32
                             ", the ranks that nccl-tests lists",
                             run->nranks, log->ranks);
    }
    return AR_OK;
}

enum ar_status ar_nccl_finish(struct ar_log *log, struct ar_nccl_run *run, struct ar_error *err)
{
    if (log->rows_count == 0) {
        return AR_OK;
    }
    if (run->ranks_count > 0) {
        AR_TRY(count_ranks(run, log, err));
    } else if (run->nranks < AR_NCCL_RANKS_MAX) {
        log->ranks = (uint32_t)run->nranks;
    }
    log->is_inferred = log->collective_name[0] == '\0';
    if (log->is_inferred) {
        log->collective = ar_collective_infer(log, run->hint);
    }
    return ar_log_check_bandwidths(log, err);
}

void ar_nccl_set_version(uint64_t code, struct ar_log *log)
{
    uint64_t major = code >= 10000 ? code / 10000 : code / 1000;
    uint64_t minor = code >= 10000 ? code / 100 % 100 : code / 100 % 10;
    snprintf(log->library, sizeof log->library, "NCCL %" PRIu64 ".%" PRIu64 ".%" PRIu64, major,
             minor, code % 100);
}
