/* JSON lines of NCCL's Inspector (plugins/profiler/inspector, v4.0 to v4.3): a record for each
 * collective that a rank took part in. Ranks wait for the last one inside of a collective, so a
 * call takes the least time that a rank of it says; a row is the median over the calls of its size.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "ar_hash.h"
#include "ar_quantile.h"
#include "log.h"
#include "words.h"

enum { RANKS_MAX = 1 << 20 };

/* What a rank says of one call. */
struct call {
    size_t run;
    uint64_t bytes;
    uint64_t communicator; /* hash of its id */
    uint64_t number;       /* of the call in it */
    uint64_t line;
    double time_s;
};

struct inspector {
    struct ar_logs *logs;
    uint64_t line;
    json_t *header; /* of the lines behind it, from v4.3 on; borrowed from `held` */
    json_t *held;
    char tool[AR_LOG_TEXT];
    struct call *calls;
    size_t calls_count;
    struct ar_error *err;
};

static enum ar_status fail(const struct inspector *inspector, const char *what)
{
    return ar_error_set(inspector->err, AR_BAD_DATA, "%.200s:%" PRIu64 ": %s",
                        inspector->logs->path, inspector->line, what);
}

/* A whole number from `min` on; false: there is none. */
static bool get_count(const json_t *object, const char *name, uint64_t min, uint64_t max,
                      uint64_t *count)
{
    const json_t *value = json_object_get(object, name);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < min || (uint64_t)number > max) {
        return false;
    }
    *count = (uint64_t)number;
    return true;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = AR_HASH_BEGIN;
    ar_hash_text(&hash, text != NULL ? text : "");
    return hash;
}

/* The run of these ranks, made if it is new. */
static enum ar_status find_run(struct inspector *inspector, const char *name, uint32_t ranks,
                               uint32_t nodes, size_t *run)
{
    struct ar_logs *logs = inspector->logs;
    struct ar_log *made;
    for (*run = 0; *run < logs->runs_count; (*run)++) {
        const struct ar_log *known = &logs->runs[*run];
        if (known->ranks == ranks && known->nodes == nodes &&
            strcmp(known->collective_name, name) == 0) {
            return AR_OK;
        }
    }
    AR_TRY(ar_logs_add_run(logs, AR_LOG_INSPECTOR, inspector->line, &made, inspector->err));
    ar_copy_clean(made->collective_name, sizeof made->collective_name, name);
    ar_copy_clean(made->tool, sizeof made->tool, inspector->tool);
    made->collective = ar_collective_of_name(name);
    made->ranks = ranks;
    made->nodes = nodes;
    made->is_complete = true;
    return AR_OK;
}

/* Its bandwidth is that of bytes and time, within what rounding to microseconds explains. */
static enum ar_status check_bandwidth(const struct inspector *inspector, const json_t *perf,
                                      double payload_bytes, double time_s)
{
    char what[160];
    double printed_Bps = json_number_value(json_object_get(perf, "coll_algobw_gbs")) * 1e9;
    double least_Bps = payload_bytes / (time_s + 0.5e-6) * (1 - 1e-4) - 1e3;
    double most_Bps = payload_bytes / fmax(time_s - 0.5e-6, 1e-9) * (1 + 1e-4) + 1e3;
    if (printed_Bps <= 0 || (printed_Bps >= least_Bps && printed_Bps <= most_Bps)) {
        return AR_OK;
    }
    snprintf(what, sizeof what, "\"coll_algobw_gbs\" is %.6g; expected %.6g, %.0f bytes in %.6g us",
             printed_Bps / 1e9, payload_bytes / time_s / 1e9, payload_bytes, time_s * 1e6);
    return fail(inspector, what);
}

static enum ar_status add_call(struct inspector *inspector, const struct call *call)
{
    struct call *calls = ar_arena_grow(inspector->logs->arena, inspector->calls,
                                       inspector->calls_count, 1, sizeof *calls);
    AR_NEED(calls, inspector->err, inspector->logs->path);
    inspector->calls = calls;
    inspector->calls[inspector->calls_count++] = *call;
    return AR_OK;
}

/* Of an all-gather and a reduce-scatter `coll_msg_size_bytes` is one rank's part. */
static enum ar_status take_call(struct inspector *inspector, const json_t *perf)
{
    uint64_t ranks, nodes = 0, bytes, number = 0;
    char name[AR_LOG_TEXT];
    const json_t *coll = json_object_get(perf, "coll");
    double time_s = json_number_value(json_object_get(perf, "coll_exec_time_us")) * 1e-6;
    struct call call = {.line = inspector->line, .time_s = time_s};
    if (!json_is_string(coll) || !get_count(inspector->header, "n_ranks", 1, RANKS_MAX, &ranks)) {
        return fail(inspector, "record of a collective without \"coll\" or its header's "
                               "\"n_ranks\"; expected both");
    }
    if (!get_count(perf, "coll_msg_size_bytes", 0, (UINT64_C(1) << 50) / ranks, &bytes) ||
        !(time_s > 0)) {
        return fail(inspector, "record without usable \"coll_msg_size_bytes\" and "
                               "\"coll_exec_time_us\"; expected bytes and a time above zero");
    }
    get_count(inspector->header, "nnodes", 1, RANKS_MAX, &nodes);
    get_count(perf, "coll_sn", 0, INT64_MAX, &number);
    ar_copy_clean(name, sizeof name, json_string_value(coll));
    AR_TRY(find_run(inspector, name, (uint32_t)ranks, (uint32_t)nodes, &call.run));
    enum ar_log_collective collective = inspector->logs->runs[call.run].collective;
    bool is_of_parts = collective == AR_LOG_ALL_GATHER || collective == AR_LOG_REDUCE_SCATTER;
    call.bytes = is_of_parts ? bytes * ranks : bytes;
    call.number = number;
    call.communicator = hash_of(json_string_value(json_object_get(inspector->header, "id")));
    AR_TRY(check_bandwidth(inspector, perf, (double)call.bytes, time_s));
    return add_call(inspector, &call);
}

static enum ar_status take_record(struct inspector *inspector, json_t *record)
{
    json_t *header = json_object_get(record, "header");
    const json_t *version =
        json_object_get(json_object_get(record, "metadata"), "inspector_output_format_version");
    if (header != NULL) {
        json_decref(inspector->held);
        inspector->held = json_incref(record);
        inspector->header = header;
    }
    if (json_is_string(version)) {
        snprintf(inspector->tool, sizeof inspector->tool, "NCCL Inspector %.40s",
                 json_string_value(version));
    }
    const json_t *perf = json_object_get(record, "coll_perf");
    return perf != NULL ? take_call(inspector, perf) : AR_OK;
}

static enum ar_status take_line(struct inspector *inspector, const char *line, size_t bytes)
{
    char what[220];
    json_error_t error;
    json_t *record = json_loadb(line, bytes, 0, &error);
    if (record == NULL) {
        snprintf(what, sizeof what, "no JSON: %.100s; expected a record in each line", error.text);
        return fail(inspector, what);
    }
    enum ar_status status = take_record(inspector, record);
    json_decref(record);
    return status;
}

/* By run, size and call. */
static int compare_calls(const void *a, const void *b)
{
    const struct call *first = a, *second = b;
    const uint64_t keys[][2] = {{first->run, second->run},
                                {first->bytes, second->bytes},
                                {first->communicator, second->communicator},
                                {first->number, second->number},
                                {first->line, second->line}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/* The row of the calls of one size; `times` has room for them. */
static enum ar_status add_row(struct inspector *inspector, const struct call *calls, size_t count,
                              double *times)
{
    size_t used = 0;
    struct ar_log_row row = ar_log_empty_row(calls[0].line);
    for (size_t i = 0; i < count; i++) {
        bool is_same = i > 0 && calls[i].communicator == calls[i - 1].communicator &&
                       calls[i].number == calls[i - 1].number;
        if (is_same) {
            times[used - 1] = fmin(times[used - 1], calls[i].time_s);
        } else {
            times[used++] = calls[i].time_s;
        }
        row.line = calls[i].line < row.line ? calls[i].line : row.line;
    }
    ar_sort(times, used);
    row.payload_bytes = calls[0].bytes;
    row.repetitions = used;
    row.out_of_place.time_s = ar_quantile(times, used, 0.5);
    row.out_of_place.time_half_s = 0.5e-6;
    row.time_min_s = times[0];
    row.time_p10_s = ar_quantile(times, used, 0.1);
    row.time_p90_s = ar_quantile(times, used, 0.9);
    return ar_log_add_row(&inspector->logs->runs[calls[0].run], &row, inspector->err);
}

static enum ar_status add_rows(struct inspector *inspector)
{
    size_t count = inspector->calls_count;
    if (count == 0) {
        return fail(inspector, "no collective up to the last line; expected \"coll_perf\"");
    }
    double *times = ar_arena_alloc(inspector->logs->arena, count, sizeof *times);
    AR_NEED(times, inspector->err, inspector->logs->path);
    qsort(inspector->calls, count, sizeof *inspector->calls, compare_calls);
    for (size_t first = 0, next; first < count; first = next) {
        const struct call *call = &inspector->calls[first];
        for (next = first + 1; next < count && inspector->calls[next].run == call->run &&
                               inspector->calls[next].bytes == call->bytes;) {
            next++;
        }
        AR_TRY(add_row(inspector, call, next - first, times));
    }
    return AR_OK;
}

static enum ar_status read_lines(struct inspector *inspector, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    for (const char *line = text, *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline == NULL ? end : newline + 1;
        size_t size = (size_t)((newline == NULL ? end : newline) - line);
        inspector->line++;
        if (strspn(line, AR_BLANKS) < size) {
            AR_TRY(take_line(inspector, line, size));
        }
    }
    return add_rows(inspector);
}

bool ar_inspector_is(const char *line, size_t bytes)
{
    static const char *const names[] = {"\"inspector_output_format_version\"", "\"coll_perf\""};
    return memmem(line, bytes, names[0], strlen(names[0])) != NULL ||
           memmem(line, bytes, names[1], strlen(names[1])) != NULL;
}

enum ar_status ar_read_inspector(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err)
{
    struct inspector inspector = {.logs = logs, .err = err, .tool = "NCCL Inspector"};
    enum ar_status status = read_lines(&inspector, text, bytes);
    json_decref(inspector.held);
    return status;
}
