#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collective.h"

/* What nccl-tests prints for its collectives. */
struct facts {
    const char *name;
    const char *program;       /* of nccl-tests, without _perf */
    double numerator;          /* busbw over algbw is numerator (N-1)/N, or 1 when 0 */
    bool is_count_of_one_rank; /* `count` is of one rank's part, `size` of all parts */
    bool has_operation;        /* prints a reduction */
    bool has_root;             /* prints a root >= 0 */
    bool is_rank_to_rank;      /* not a collective of nccl-tests */
};

static const struct facts table[] = {
    [AR_LOG_OTHER] = {.name = "another collective", .program = "", .is_rank_to_rank = true},
    [AR_LOG_ALL_REDUCE] = {.name = "all-reduce",
                           .program = "allreduce",
                           .numerator = 2,
                           .has_operation = true},
    [AR_LOG_REDUCE_SCATTER] = {.name = "reduce-scatter",
                               .program = "reducescatter",
                               .numerator = 1,
                               .is_count_of_one_rank = true,
                               .has_operation = true},
    [AR_LOG_ALL_GATHER] = {.name = "all-gather",
                           .program = "allgather",
                           .numerator = 1,
                           .is_count_of_one_rank = true},
    [AR_LOG_REDUCE] = {.name = "reduce",
                       .program = "reduce",
                       .has_operation = true,
                       .has_root = true},
    [AR_LOG_BROADCAST] = {.name = "broadcast", .program = "broadcast", .has_root = true},
    [AR_LOG_ALL_TO_ALL] = {.name = "all-to-all",
                           .program = "alltoall",
                           .numerator = 1,
                           .is_count_of_one_rank = true},
    [AR_LOG_SEND_RECV] = {.name = "send-receive", .program = "sendrecv", .has_operation = true},
    [AR_LOG_GATHER] = {.name = "gather",
                       .program = "gather",
                       .numerator = 1,
                       .is_count_of_one_rank = true,
                       .has_root = true},
    [AR_LOG_SCATTER] = {.name = "scatter",
                        .program = "scatter",
                        .numerator = 1,
                        .is_count_of_one_rank = true,
                        .has_root = true},
    [AR_LOG_LATENCY] = {.name = "latency", .program = "latency", .is_rank_to_rank = true},
    [AR_LOG_BANDWIDTH] = {.name = "bandwidth", .program = "bw", .is_rank_to_rank = true},
};

const char *ar_log_collective_name(enum ar_log_collective collective)
{
    return table[collective].name;
}

double ar_log_busbw_factor(enum ar_log_collective collective, uint32_t ranks)
{
    assert(ranks >= 1);
    if (collective == AR_LOG_OTHER) {
        return NAN;
    }
    double numerator = table[collective].numerator;
    return numerator > 0 ? numerator * (ranks - 1) / ranks : 1;
}

enum ar_log_collective ar_collective_of_name(struct ar_span name)
{
    char plain[32];
    size_t used = 0;
    for (size_t i = 0; i < name.bytes && used + 1 < sizeof plain; i++) {
        char c = name.at[i];
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
            plain[used++] = (char)(c | 0x20);
        }
    }
    plain[used] = '\0';
    for (enum ar_log_collective i = AR_LOG_ALL_REDUCE; i <= AR_LOG_BANDWIDTH; i++) {
        if (strcmp(plain, table[i].program) == 0) {
            return i;
        }
    }
    return strcmp(plain, "bcast") == 0 ? AR_LOG_BROADCAST : AR_LOG_OTHER;
}

uint32_t ar_datatype_bytes(const char *name)
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

struct ar_printed ar_printed_times(struct ar_printed printed, double factor)
{
    return (struct ar_printed){printed.value * factor, printed.half_digit * factor};
}

/* The slack beyond the rounding of the digits: bandwidths that passed through single precision. */
static const double slack = 1e-6;

/* Whether `printed` can be the rounded value of something from `min` to `max`. */
static bool can_be(struct ar_printed printed, double min, double max)
{
    return isnan(printed.value) || (printed.value + printed.half_digit >= min * (1 - slack) &&
                                    printed.value - printed.half_digit <= max * (1 + slack));
}

/* Whether busbw is `factor` times the algbw that size and time give. */
static bool fits(double size_bytes, double factor, struct ar_printed time, struct ar_printed bw)
{
    double shortest = time.value - time.half_digit;
    double max = shortest > 0 ? factor * size_bytes / shortest : INFINITY;
    return isnan(time.value) ||
           can_be(bw, factor * size_bytes / (time.value + time.half_digit), max);
}

/* OSU and single numbers print no elements; a row of no bytes fits anything. */
static bool count_fits(const struct facts *facts, uint32_t ranks, const struct ar_log_row *row)
{
    double element_bytes = ar_datatype_bytes(row->datatype);
    double parts = facts->is_count_of_one_rank ? ranks : 1;
    double bytes = (double)row->count * element_bytes * parts;
    return element_bytes == 0 || parts == 0 || bytes == (double)row->payload_bytes;
}

bool ar_collective_explains(enum ar_log_collective collective, uint32_t ranks,
                            const struct ar_log_row *row, int64_t root,
                            const struct ar_row_digits digits[2], bool is_busbw_ignored)
{
    const struct facts *facts = &table[collective];
    bool has_operation = row->redop[0] != '\0' && strcmp(row->redop, "none") != 0;
    bool has_root = root != INT64_MIN && root >= 0;
    bool is_root_unknown = root == INT64_MIN && !facts->has_root;
    if (facts->is_rank_to_rank || has_operation != facts->has_operation ||
        (!is_root_unknown && has_root != facts->has_root) || !count_fits(facts, ranks, row)) {
        return false;
    }
    if (is_busbw_ignored || ranks == 0) {
        return true;
    }
    double size_bytes = (double)row->payload_bytes;
    double factor = ar_log_busbw_factor(collective, ranks);
    return fits(size_bytes, factor, digits[0].time, digits[0].busbw) &&
           fits(size_bytes, factor, digits[1].time, digits[1].busbw);
}

static enum ar_status contradiction(const struct ar_log *run, const struct ar_log_row *row,
                                    const char *what, double found_Bps, double time_s,
                                    double expected_Bps, struct ar_error *err)
{
    char ranks[64] = "";
    if (strstr(what, "busbw") != NULL) {
        snprintf(ranks, sizeof ranks, " on %" PRIu32 " ranks", run->ranks);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": %s is %.6g GB/s; expected %.6g GB/s, since the %s of "
                        "%" PRIu64 " bytes%s takes %.6g us",
                        run->path, row->line, what, found_Bps / 1e9, expected_Bps / 1e9,
                        ar_log_collective_name(run->collective), row->payload_bytes, ranks,
                        time_s * 1e6);
}

enum ar_status ar_log_check_digits(const struct ar_log *run, const struct ar_log_row *row,
                                   const struct ar_row_digits digits[2], struct ar_error *err)
{
    if (run->collective == AR_LOG_OTHER) {
        return AR_OK; /* its bandwidths may be anything: hypercube counts (N-1)/N of the bytes */
    }
    double size_bytes = (double)row->payload_bytes;
    double factor = run->ranks > 0 ? ar_log_busbw_factor(run->collective, run->ranks) : NAN;
    for (int i = 0; i < 2; i++) {
        const struct ar_row_digits *at = &digits[i];
        if (!fits(size_bytes, 1, at->time, at->algbw)) {
            return contradiction(run, row, i == 0 ? "out-of-place algbw" : "in-place algbw",
                                 at->algbw.value, at->time.value, size_bytes / at->time.value, err);
        }
        if (!isnan(factor) && !fits(size_bytes, factor, at->time, at->busbw)) {
            return contradiction(run, row, i == 0 ? "out-of-place busbw" : "in-place busbw",
                                 at->busbw.value, at->time.value,
                                 factor * size_bytes / at->time.value, err);
        }
    }
    return AR_OK;
}
