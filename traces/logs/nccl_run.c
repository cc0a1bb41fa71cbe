#include "nccl_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

enum ar_status ar_nccl_begin(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                             struct ar_nccl_run *run, struct ar_error *err)
{
    struct ar_log *log;
    ar_nccl_drop(run);
    AR_TRY(ar_logs_add_run(logs, format, line, &log, err));
    run->place = logs->runs_count - 1;
    snprintf(log->tool, sizeof log->tool, "nccl-tests");
    return AR_OK;
}

struct ar_nccl_extra ar_nccl_empty_extra(void)
{
    const struct ar_printed none = {NAN, NAN};
    return (struct ar_nccl_extra){{{none, none, none}, {none, none, none}}, INT64_MIN};
}

static enum ar_status claimed_twice(const struct ar_logs *logs, const struct ar_nccl_rank *first,
                                    const struct ar_nccl_rank *second, struct ar_error *err)
{
    bool is_same = first->pid == second->pid && strcmp(first->host, second->host) == 0;
    if (is_same) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": rank %" PRIu64 " is listed a second time (first on "
                            "line %" PRIu64 "); expected every rank once",
                            logs->path, second->line, second->rank, first->line);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": process %" PRIu64 " on %s says it is rank %" PRIu64
                        ", as process %" PRIu64 " on %s did (line %" PRIu64 "); expected one: each "
                        "process ran alone, as nccl-tests does when built without MPI=1",
                        logs->path, second->line, second->pid, second->host, second->rank,
                        first->pid, first->host, first->line);
}

enum ar_status ar_nccl_add_rank(struct ar_logs *logs, struct ar_nccl_run *run,
                                const struct ar_nccl_rank *rank, struct ar_error *err)
{
    if (rank->rank >= AR_NCCL_RANKS_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": rank %" PRIu64 "; expected a rank below %d",
                            logs->path, rank->line, rank->rank, AR_NCCL_RANKS_MAX);
    }
    if (!ar_array_reserve((void **)&run->ranks, &run->ranks_capacity, run->ranks_count + 1,
                          sizeof *run->ranks) ||
        !ar_array_reserve((void **)&run->rank_places, &run->rank_places_capacity, rank->rank + 1,
                          sizeof *run->rank_places)) {
        return ar_error_no_memory(err, logs->path);
    }
    uint32_t *place = &run->rank_places[rank->rank];
    if (*place != 0) {
        return claimed_twice(logs, &run->ranks[*place - 1], rank, err);
    }
    run->ranks[run->ranks_count++] = *rank;
    *place = (uint32_t)run->ranks_count;
    return AR_OK;
}

/* Printed numbers, NaN where there are none. */
static void set_timing(struct ar_log_timing *timing, const struct ar_row_digits *digits)
{
    timing->time_s = digits->time.value;
    timing->algbw_Bps = digits->algbw.value;
    timing->busbw_Bps = digits->busbw.value;
}

enum ar_status ar_nccl_add_row(struct ar_logs *logs, struct ar_nccl_run *run,
                               struct ar_log_row *row, const struct ar_nccl_extra *extra,
                               struct ar_error *err)
{
    struct ar_log *log = &logs->runs[run->place];
    if (!ar_array_reserve((void **)&run->extras, &run->extras_capacity, log->rows_count + 1,
                          sizeof *run->extras)) {
        return ar_error_no_memory(err, logs->path);
    }
    run->extras[log->rows_count] = *extra;
    set_timing(&row->out_of_place, &extra->digits[0]);
    set_timing(&row->in_place, &extra->digits[1]);
    return ar_log_add_row(log, row, err);
}

static int compare_hosts(const void *a, const void *b)
{
    const struct ar_nccl_rank *first = a, *second = b;
    return strcmp(first->host, second->host);
}

/* Ranks are numbered without gaps; JSON lists those of a process by their first. */
static enum ar_status check_numbers(const struct ar_logs *logs, const struct ar_nccl_run *run,
                                    struct ar_error *err)
{
    uint64_t stride = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    for (size_t i = 0; i < run->ranks_count; i++) {
        uint64_t rank = i * stride;
        if (rank >= run->rank_places_capacity || run->rank_places[rank] == 0) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": rank %" PRIu64 " is missing among the %zu listed; "
                                "expected the ranks from 0 on without a gap",
                                logs->path, run->ranks[0].line, rank, run->ranks_count);
        }
    }
    uint64_t per_process = run->has_rank_of_process_only ? 1 : run->ranks_per_process;
    if (per_process > 0 && run->ranks_count % per_process != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": %zu ranks are listed; expected a multiple of %" PRIu64
                            ", nThread times nGpus",
                            logs->path, run->ranks[0].line, run->ranks_count, per_process);
    }
    return AR_OK;
}

/* Ranks of the group of rank 0, which is the one that prints, and the hosts they are on. */
static enum ar_status count_ranks(const struct ar_logs *logs, struct ar_nccl_run *run,
                                  struct ar_log *log, struct ar_error *err)
{
    if (run->ranks_count == 0) {
        return AR_OK;
    }
    AR_TRY(check_numbers(logs, run, err));
    uint64_t group = run->ranks[run->rank_places[0] - 1].group;
    uint64_t each = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    uint64_t all = run->ranks_count * each;
    uint64_t members = 0;
    qsort(run->ranks, run->ranks_count, sizeof *run->ranks, compare_hosts);
    const char *last_host = NULL;
    for (size_t i = 0; i < run->ranks_count; i++) {
        const struct ar_nccl_rank *rank = &run->ranks[i];
        if (rank->group == group) {
            members += each;
            log->nodes += last_host == NULL || strcmp(last_host, rank->host) != 0;
            last_host = rank->host;
        }
    }
    log->ranks = (uint32_t)members;
    if (run->nranks != 0 && run->nranks != members && run->nranks != all) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": NCCL says nranks %" PRIu64 "; expected %" PRIu64
                            ", the ranks that nccl-tests lists",
                            logs->path, run->nranks_line, run->nranks, members);
    }
    return AR_OK;
}

static bool explains_all(const struct ar_nccl_run *run, const struct ar_log *log,
                         enum ar_log_collective collective, bool is_busbw_ignored)
{
    for (size_t i = 0; i < log->rows_count; i++) {
        const struct ar_nccl_extra *extra = &run->extras[i];
        if (!ar_collective_explains(collective, log->ranks, &log->rows[i], extra->root,
                                    extra->digits, is_busbw_ignored)) {
            return false;
        }
    }
    return true;
}

/* Before 2.17 the output does not name the collective. The program named nearby is taken if the
 * numbers agree, else the first that they agree with; if none, the first but for its busbw, so that
 * the check of busbw can say what is wrong. */
static enum ar_log_collective infer(const struct ar_nccl_run *run, const struct ar_log *log)
{
    for (int is_busbw_ignored = 0; is_busbw_ignored < 2; is_busbw_ignored++) {
        if (explains_all(run, log, run->hint, is_busbw_ignored)) {
            return run->hint;
        }
        for (enum ar_log_collective i = AR_LOG_ALL_REDUCE; i <= AR_LOG_SCATTER; i++) {
            if (explains_all(run, log, i, is_busbw_ignored)) {
                return i;
            }
        }
    }
    return AR_LOG_OTHER;
}

enum ar_status ar_nccl_finish(struct ar_logs *logs, struct ar_nccl_run *run, struct ar_error *err)
{
    struct ar_log *log = &logs->runs[run->place];
    if (log->rows_count == 0) {
        return AR_OK;
    }
    AR_TRY(count_ranks(logs, run, log, err));
    if (run->ranks_count == 0 && run->nranks < AR_NCCL_RANKS_MAX) {
        log->ranks = (uint32_t)run->nranks;
    }
    if (!run->is_named) {
        log->collective = infer(run, log);
        log->is_inferred = true;
    }
    for (size_t i = 0; i < log->rows_count; i++) {
        AR_TRY(ar_log_check_digits(log, &log->rows[i], run->extras[i].digits, err));
    }
    return AR_OK;
}

void ar_nccl_drop(struct ar_nccl_run *run)
{
    free(run->ranks);
    free(run->rank_places);
    free(run->extras);
    *run = (struct ar_nccl_run){.hint = AR_LOG_OTHER};
}

void ar_nccl_version_text(uint64_t code, char *text, size_t size)
{
    uint64_t major = code >= 10000 ? code / 10000 : code / 1000;
    uint64_t minor = code >= 10000 ? code / 100 % 100 : code / 100 % 10;
    snprintf(text, size, "NCCL %" PRIu64 ".%" PRIu64 ".%" PRIu64, major, minor, code % 100);
}
