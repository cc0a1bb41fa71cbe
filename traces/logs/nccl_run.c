/* Facts that are known at the end of a run of nccl-tests: its ranks and hosts, which collective
 * the numbers are of, whether the bandwidths are those of the times. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "log_reading.h"

/* --- collectives --------------------------------------------------------------------------- */

static const struct collective_facts {
    const char *name;
    const char *program;                  /* of nccl-tests, without _perf */
    const struct ar_operation *operation; /* NULL: none here */
    bool reduces;                         /* nccl-tests prints an operation such as sum */
} collectives[] = {
    [AR_LOG_OTHER] = {"another collective", "", NULL, false},
    [AR_LOG_ALL_REDUCE] = {"all-reduce", "allreduce", &ar_operation_all_reduce, true},
    [AR_LOG_REDUCE_SCATTER] = {"reduce-scatter", "reducescatter", &ar_operation_reduce_scatter,
                               true},
    [AR_LOG_ALL_GATHER] = {"all-gather", "allgather", &ar_operation_all_gather, false},
    [AR_LOG_REDUCE] = {"reduce", "reduce", &ar_operation_reduce, true},
    [AR_LOG_BROADCAST] = {"broadcast", "broadcast", &ar_operation_broadcast, false},
    [AR_LOG_ALL_TO_ALL] = {"all-to-all", "alltoall", &ar_operation_all_to_all, false},
    [AR_LOG_SEND_RECV] = {"send-receive", "sendrecv", NULL, true},
    [AR_LOG_GATHER] = {"gather", "gather", &ar_operation_gather, false},
    [AR_LOG_SCATTER] = {"scatter", "scatter", &ar_operation_scatter, false},
    [AR_LOG_SEND] = {"send", "send", &ar_operation_send, false},
    [AR_LOG_LATENCY] = {"latency", "latency", NULL, false},
    [AR_LOG_BANDWIDTH] = {"bandwidth", "bw", NULL, false},
};

const struct ar_operation *ar_log_operation(enum ar_log_collective collective)
{
    return collectives[collective].operation;
}

const char *ar_log_collective_name(enum ar_log_collective collective)
{
    return collectives[collective].name;
}

double ar_log_busbw_factor(enum ar_log_collective collective, uint32_t ranks)
{
    assert(ranks >= 1);
    const struct ar_operation *operation = ar_log_operation(collective);
    return collective == AR_LOG_OTHER ? NAN
           : operation == NULL        ? 1
                                      : ar_operation_busbw_Bps(operation, 1, ranks);
}

enum ar_log_collective ar_collective_of_name(const char *name)
{
    const char *perf = strstr(name, "_perf");
    const char *end = perf != NULL ? perf : name + strcspn(name, " ");
    char plain[32];
    size_t used = 0;
    for (; name < end && used + 1 < sizeof plain; name++) {
        if (isalpha((unsigned char)*name)) {
            plain[used++] = (char)tolower((unsigned char)*name);
        }
    }
    plain[used] = '\0';
    for (enum ar_log_collective i = AR_LOG_ALL_REDUCE; i <= AR_LOG_BANDWIDTH; i++) {
        if (strcmp(plain, collectives[i].program) == 0) {
            return i;
        }
    }
    return strcmp(plain, "bcast") == 0 ? AR_LOG_BROADCAST : AR_LOG_OTHER;
}

/* Bytes of one element of a datatype by its name in nccl-tests; 0 if unknown. */
static uint32_t datatype_bytes(const char *name)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } types[] = {
        {"int8", 1},     {"uint8", 1},  {"char", 1},     {"int32", 4},
        {"uint32", 4},   {"int", 4},    {"int64", 8},    {"half", 2},
        {"bfloat16", 2}, {"uint64", 8}, {"float", 4},    {"double", 8},
        {"f8e4m3", 1},   {"f8e5m2", 1}, {"fp8_e4m3", 1}, {"fp8_e5m2", 1},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

/* Whether a printed bandwidth is, rounded (to nothing if small), `factor` times size over time. */
static bool bandwidth_fits(double size_bytes, double factor, double time_s, double bandwidth_Bps)
{
    double expected_Bps = factor * size_bytes / time_s;
    return isnan(expected_Bps) || isnan(bandwidth_Bps) ||
           fabs(bandwidth_Bps - expected_Bps) <= 0.006e9 + 0.01 * expected_Bps;
}

/* Whether all rows of a run can be of a collective: by elements against bytes (OSU prints none, and
 * a row of no bytes fits anything), operation, root, and unless `is_busbw_ignored` busbw. */
static bool explains_rows(enum ar_log_collective collective, const struct ar_log *run,
                          bool is_busbw_ignored)
{
    const struct ar_operation *operation = ar_log_operation(collective);
    bool has_root = operation != NULL && operation->has_root;
    bool is_explained = collective != AR_LOG_OTHER && collective <= AR_LOG_SCATTER;
    double parts = operation != NULL && operation->has_parts ? run->ranks : 1;
    for (size_t i = 0; is_explained && i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        double size_bytes = (double)row->payload_bytes;
        double element_bytes = datatype_bytes(row->datatype) * parts; /* 0 if unknown */
        double factor =
            run->ranks > 0 && !is_busbw_ignored ? ar_log_busbw_factor(collective, run->ranks) : NAN;
        bool reduces = row->redop[0] != '\0' && strcmp(row->redop, "none") != 0;
        is_explained = reduces == collectives[collective].reduces &&
                       ((isnan(row->root) && !has_root) || (row->root >= 0) == has_root) &&
                       (element_bytes == 0 || (double)row->count * element_bytes == size_bytes) &&
                       bandwidth_fits(size_bytes, factor, row->out_of_place.time_s,
                                      row->out_of_place.busbw_Bps);
    }
    return is_explained;
}

/* The collective that a run is of: `hint` if it can be that, else the first of enum
 * ar_log_collective, if none then one by all but busbw, so that check_bandwidths() can say what is
 * wrong; else AR_LOG_OTHER. */
static enum ar_log_collective infer_collective(const struct ar_log *run,
                                               enum ar_log_collective hint)
{
    for (int is_busbw_ignored = 0; is_busbw_ignored < 2; is_busbw_ignored++) {
        if (explains_rows(hint, run, is_busbw_ignored)) {
            return hint;
        }
        for (enum ar_log_collective i = AR_LOG_ALL_REDUCE; i <= AR_LOG_SCATTER; i++) {
            if (explains_rows(i, run, is_busbw_ignored)) {
                return i;
            }
        }
    }
    return AR_LOG_OTHER;
}

static enum ar_status check_bandwidths(const struct ar_log *run, struct ar_error *err)
{
    /* Bandwidths of others may be anything: hypercube counts (N-1)/N of the bytes. */
    for (size_t i = 0; i < 4 * run->rows_count && run->collective != AR_LOG_OTHER; i++) {
        /* Checks that a printed bandwidth of a row is that of size, time and ranks. */
        const struct ar_log_row *row = &run->rows[i / 4];
        bool is_in_place = i / 2 % 2 == 1;
        const struct ar_log_timing *timing = is_in_place ? &row->in_place : &row->out_of_place;
        double bandwidth_Bps = (i % 2 == 1) ? timing->busbw_Bps : timing->algbw_Bps;
        double size_bytes = (double)row->payload_bytes, factor = 1;
        char ranks[32] = "";
        if ((i % 2 == 1)) {
            factor = run->ranks > 0 ? ar_log_busbw_factor(run->collective, run->ranks) : NAN;
            snprintf(ranks, sizeof ranks, " on %" PRIu32 " ranks", run->ranks);
        }
        AR_TRY(bandwidth_fits(size_bytes, factor, timing->time_s, bandwidth_Bps)
                   ? AR_OK
                   : ar_error_in_line(err, run->path, row->line,
                                      "%s %s is %.6g GB/s; expected %.6g GB/s, since the %s of "
                                      "%" PRIu64 " bytes%s takes %.6g us",
                                      is_in_place ? "in-place" : "out-of-place",
                                      (i % 2 == 1) ? "busbw" : "algbw", bandwidth_Bps / 1e9,
                                      factor * size_bytes / timing->time_s / 1e9,
                                      ar_log_collective_name(run->collective), row->payload_bytes,
                                      ranks, timing->time_s * 1e6));
    }
    return AR_OK;
}

/* --- ranks --------------------------------------------------------------------------------- */

enum ar_status ar_nccl_add_rank(const struct ar_log *log, struct ar_nccl_run *run, uint64_t number,
                                const struct ar_nccl_rank *rank, struct ar_error *err)
{
    AR_LOG_REFUSE(number >= AR_NCCL_RANKS_MAX, log, rank->line, err,
                  "rank %" PRIu64 "; expected a rank below %d", number, AR_NCCL_RANKS_MAX);
    while (number >= run->ranks_capacity) { /* those that are not listed are zero */
        *AR_ARENA_ADD(log->arena, run->ranks, run->ranks_capacity) =
            (struct ar_nccl_rank){.line = 0};
    }
    if (run->ranks[number].line != 0) {
        AR_LOG_REFUSE(run->ranks[number].pid == rank->pid &&
                          strcmp(run->ranks[number].host, rank->host) == 0,
                      log, rank->line, err,
                      "rank %" PRIu64 " is listed a second time (first on line %" PRIu64
                      "); expected every rank once",
                      number, run->ranks[number].line);
        return ar_error_in_line(err, log->path, rank->line,
                                "process %" PRIu64 " on %s says it is rank %" PRIu64
                                ", as process %" PRIu64 " on %s did (line %" PRIu64
                                "); expected one: each "
                                "process ran alone, as nccl-tests does when built without MPI=1",
                                rank->pid, rank->host, number, run->ranks[number].pid,
                                run->ranks[number].host, run->ranks[number].line);
    }
    run->ranks[number] = *rank;
    run->ranks_count++;
    return AR_OK;
}

AR_ORDER(compare_hosts, struct ar_nccl_rank, AR_SPELLS(host))

/* Counts the ranks of the group of rank 0, which is the one that prints, and their hosts. */
static enum ar_status count_nccl_ranks(struct ar_nccl_run *run, struct ar_log *log,
                                       struct ar_error *err)
{
    /* Checks that ranks are numbered without gaps, as are the first ones of each process in JSON.
     * They stand one after the other then. */
    uint64_t stride = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    uint64_t per_process = run->has_rank_of_process_only ? 1 : run->ranks_per_process;
    size_t first = 0;
    while (run->ranks[first].line == 0) {
        first++;
    }
    uint64_t line = run->ranks[first].line;
    for (size_t i = 0; i < run->ranks_count; i++) {
        uint64_t rank = i * stride;
        AR_LOG_REFUSE(
            rank >= run->ranks_capacity || run->ranks[rank].line == 0, log, line, err,
            "rank %" PRIu64
            " is missing among the %zu listed; expected the ranks from 0 on without a gap",
            rank, run->ranks_count);
        run->ranks[i] = run->ranks[rank];
    }
    AR_LOG_REFUSE(per_process > 0 && run->ranks_count % per_process != 0, log, line, err,
                  "%zu ranks are listed; expected a multiple of %" PRIu64 ", nThread times nGpus",
                  run->ranks_count, per_process);
    uint64_t group = run->ranks[0].group;
    uint64_t each = run->has_rank_of_process_only ? run->ranks_per_process : 1;
    uint64_t all = run->ranks_count * each;
    const char *last_host = NULL;
    qsort(run->ranks, run->ranks_count, sizeof *run->ranks, compare_hosts);
    AR_EACH(const struct ar_nccl_rank, rank, run->ranks, run->ranks_count) {
        if (rank->group == group) {
            log->ranks += (uint32_t)each;
            log->nodes += last_host == NULL || strcmp(last_host, rank->host) != 0;
            last_host = rank->host;
        }
    }
    AR_LOG_REFUSE(
        run->nranks != 0 && run->nranks != log->ranks && run->nranks != all, log, run->nranks_line,
        err, "NCCL says nranks %" PRIu64 "; expected %" PRIu32 ", the ranks that nccl-tests lists",
        run->nranks, log->ranks);
    return AR_OK;
}

/* Keeps messages of processes that are listed, or all if none are. */
static void keep_messages(struct ar_nccl_run *run, struct ar_log *log)
{
    log->messages = run->messages;
    AR_EACH(const struct ar_log_message, message, run->messages, run->messages_count) {
        size_t rank = 0;
        while (rank < run->ranks_count && run->ranks[rank].pid != message->pid) {
            rank++;
        }
        if (rank < run->ranks_count || run->ranks_count == 0) {
            log->messages[log->messages_count++] = *message;
        }
    }
}

enum ar_status ar_nccl_finish(struct ar_log *log, struct ar_nccl_run *run, struct ar_error *err)
{
    if (log->rows_count == 0) {
        return AR_OK;
    }
    if (run->ranks_count > 0) {
        AR_TRY(count_nccl_ranks(run, log, err));
    } else if (run->nranks < AR_NCCL_RANKS_MAX) {
        log->ranks = (uint32_t)run->nranks;
    }
    keep_messages(run, log);
    log->is_inferred = log->collective_name[0] == '\0';
    if (log->is_inferred) {
        log->collective = infer_collective(log, run->hint);
    }
    return check_bandwidths(log, err);
}

void ar_nccl_set_version(uint64_t code, struct ar_log *log)
{
    uint64_t major = code >= 10000 ? code / 10000 : code / 1000;
    uint64_t minor = code >= 10000 ? code / 100 % 100 : code / 100 % 10;
    snprintf(log->library, sizeof log->library, "NCCL %" PRIu64 ".%" PRIu64 ".%" PRIu64, major,
             minor, code % 100);
}
