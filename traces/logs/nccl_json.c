#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "nccl_run.h"
#include "readers.h"

/* One document of nccl-tests -J. jansson does not keep the lines of values, so errors name the
 * record and the line on which the document begins. */
struct reader {
    struct ar_logs *logs;
    uint64_t line;
    struct ar_nccl_run run;
    struct ar_error *err;
};

static enum ar_status fail(const struct reader *reader, const char *what, const char *expected)
{
    return ar_error_set(reader->err, AR_BAD_DATA, "%s:%" PRIu64 ": %s; expected %s",
                        reader->logs->path, reader->line, what, expected);
}

/* A member under one of two names: early versions misspelt some. */
static json_t *member(const json_t *object, const char *name, const char *misspelt)
{
    json_t *value = json_object_get(object, name);
    return value == NULL && misspelt != NULL ? json_object_get(object, misspelt) : value;
}

static struct ar_span span_of(const json_t *string)
{
    return (struct ar_span){json_string_value(string), json_string_length(string)};
}

/* A number that may be a string, as `root` and `nan` are. */
static bool number_of(const json_t *value, double *number)
{
    double half_digit;
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    return json_is_string(value) &&
           ar_span_number(ar_span_trim(span_of(value)), number, &half_digit);
}

static bool count_of(const json_t *value, uint64_t *count)
{
    double number;
    if (json_is_integer(value)) {
        *count = (uint64_t)json_integer_value(value);
        return json_integer_value(value) >= 0;
    }
    if (!number_of(value, &number) || !(number >= 0 && number < 0x1p53) ||
        floor(number) != number) {
        return false;
    }
    *count = (uint64_t)number;
    return true;
}

static void text_of(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value)) {
        ar_span_copy(span_of(value), text, size);
    }
}

/* All numbers are written with six decimals. */
static struct ar_printed printed_of(const json_t *value, double factor)
{
    double number;
    if (!number_of(value, &number)) {
        return (struct ar_printed){NAN, NAN};
    }
    return ar_printed_times((struct ar_printed){number, 5e-7}, factor);
}

static enum ar_status read_timing(struct reader *reader, const json_t *object,
                                  struct ar_log_timing *timing, struct ar_row_digits *digits)
{
    double wrong;
    digits->time = printed_of(json_object_get(object, "time"), 1e-6);
    digits->algbw = printed_of(member(object, "alg_bw", "algbw"), 1e9);
    digits->busbw = printed_of(member(object, "bus_bw", "busbw"), 1e9);
    if (number_of(json_object_get(object, "nwrong"), &wrong) && wrong >= 0 && wrong < 9e18) {
        timing->wrong = (int64_t)wrong;
    }
    return json_object_get(object, "cpu_time") == NULL
               ? AR_OK
               : fail(reader, "\"cpu_time\" (-C 1) is the time to launch", "\"time\"");
}

static enum ar_status read_record(struct reader *reader, const json_t *record, size_t place)
{
    struct ar_log_row row = ar_log_empty_row(reader->line);
    struct ar_nccl_extra extra = ar_nccl_empty_extra();
    if (!count_of(json_object_get(record, "size"), &row.payload_bytes)) {
        char what[64];
        snprintf(what, sizeof what, "record %zu of \"results\" has no usable \"size\"", place + 1);
        return fail(reader, what, "a number of bytes");
    }
    count_of(json_object_get(record, "count"), &row.count);
    text_of(json_object_get(record, "type"), row.datatype, sizeof row.datatype);
    text_of(json_object_get(record, "redop"), row.redop, sizeof row.redop);
    double root;
    if (number_of(json_object_get(record, "root"), &root) && fabs(root) < 1e9) {
        extra.root = (int64_t)root;
    }
    count_of(json_object_get(record, "actual_iterations"), &row.repetitions);
    AR_TRY(read_timing(reader, json_object_get(record, "out_of_place"), &row.out_of_place,
                       &extra.digits[0]));
    AR_TRY(
        read_timing(reader, json_object_get(record, "in_place"), &row.in_place, &extra.digits[1]));
    return ar_nccl_add_row(reader->logs, &reader->run, &row, &extra, reader->err);
}

static enum ar_status read_results(struct reader *reader, const json_t *results)
{
    for (size_t i = 0; i < json_array_size(results); i++) {
        AR_TRY(read_record(reader, json_array_get(results, i), i));
    }
    return AR_OK;
}

/* The program is the first of "args"; "experiment_name" of the records is mostly empty. */
static void read_name(struct reader *reader, const json_t *document, struct ar_log *log)
{
    const json_t *program = json_array_get(json_object_get(document, "args"), 0);
    const char *path = json_is_string(program) ? json_string_value(program) : "";
    const char *slash = strrchr(path, '/');
    struct ar_span name = ar_span_of(slash == NULL ? path : slash + 1);
    size_t perf = ar_span_find(name, "_perf");
    if (perf < name.bytes) {
        ar_span_copy(name, log->collective_name, sizeof log->collective_name);
        log->collective = ar_collective_of_name((struct ar_span){name.at, perf});
        reader->run.is_named = true;
    }
}

static enum ar_status read_devices(struct reader *reader, const json_t *config)
{
    const json_t *devices = json_object_get(config, "devices");
    struct ar_log *log = &reader->logs->runs[reader->run.place];
    uint64_t threads = 1, gpus = 1;
    count_of(json_object_get(config, "nthreads"), &threads);
    count_of(json_object_get(config, "ngpus"), &gpus);
    if (threads - 1 >= AR_NCCL_RANKS_MAX || gpus - 1 >= AR_NCCL_RANKS_MAX ||
        threads * gpus > AR_NCCL_RANKS_MAX) {
        return fail(reader, "\"nthreads\" times \"ngpus\" is no number of ranks", "1 to 2^20");
    }
    reader->run.ranks_per_process = threads * gpus;
    reader->run.has_rank_of_process_only = true;
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        struct ar_nccl_rank rank = {.line = reader->line};
        if (!count_of(json_object_get(device, "rank"), &rank.rank)) {
            return fail(reader, "a device of \"config\" has no usable \"rank\"", "a number");
        }
        count_of(json_object_get(device, "group"), &rank.group);
        count_of(json_object_get(device, "pid"), &rank.pid);
        text_of(json_object_get(device, "hostname"), rank.host, sizeof rank.host);
        if (rank.rank == 0) {
            text_of(json_object_get(device, "device_info"), log->gpu, sizeof log->gpu);
        }
        AR_TRY(ar_nccl_add_rank(reader->logs, &reader->run, &rank, reader->err));
    }
    return AR_OK;
}

/* The environment tells how many processes were started: without MPI each is rank 0 of its own. */
static enum ar_status check_processes(struct reader *reader, const json_t *document)
{
    static const char *const keys[] = {"OMPI_COMM_WORLD_SIZE=", "PMI_SIZE="};
    const json_t *env = json_object_get(document, "env");
    for (size_t i = 0; i < json_array_size(env); i++) {
        const json_t *entry = json_array_get(env, i);
        for (size_t k = 0; json_is_string(entry) && k < 2; k++) {
            struct ar_span text = span_of(entry);
            uint64_t processes = 0;
            if (ar_span_starts(text, keys[k]) &&
                ar_span_count(ar_span_after(text, strlen(keys[k])), &processes) &&
                reader->run.ranks_count == 1 && processes > 1) {
                return ar_error_set(
                    reader->err, AR_BAD_DATA,
                    "%s:%" PRIu64 ": one process is listed, but %s%" PRIu64 "; expected all: each "
                    "process ran alone, as nccl-tests does when built without MPI=1",
                    reader->logs->path, reader->line, keys[k], processes);
            }
        }
    }
    return AR_OK;
}

static void read_closing(struct ar_log *log, const json_t *document)
{
    const json_t *bounds = json_object_get(document, "out_of_bounds");
    count_of(json_object_get(bounds, "count"), &log->out_of_bounds);
    log->is_complete =
        json_is_object(member(document, "average_bus_bandwidth", "average_bus_bandwidith"));
    uint64_t version;
    if (count_of(json_object_get(document, "nccl_version"), &version)) {
        ar_nccl_version_text(version, log->library, sizeof log->library);
    }
}

static enum ar_status read_document(struct reader *reader, const json_t *document,
                                    uint64_t last_line)
{
    const json_t *results = json_object_get(document, "results");
    uint64_t schema = 0;
    count_of(json_object_get(document, "version"), &schema);
    if (!json_is_array(results)) {
        return fail(reader, "JSON without a list \"results\"", "the output of nccl-tests -J");
    }
    if (schema > 3) {
        return fail(reader, "\"version\" above 3", "schema 1 to 3 of nccl-tests -J");
    }
    AR_TRY(ar_nccl_begin(reader->logs, AR_LOG_NCCL_JSON, reader->line, &reader->run, reader->err));
    struct ar_log *log = &reader->logs->runs[reader->run.place];
    read_name(reader, document, log);
    AR_TRY(read_devices(reader, json_object_get(document, "config")));
    AR_TRY(check_processes(reader, document));
    AR_TRY(read_results(reader, results));
    log->last_line = last_line;
    read_closing(log, document);
    return ar_nccl_finish(reader->logs, &reader->run, reader->err);
}

static uint64_t lines_in(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

static enum ar_status refuse_syntax(struct reader *reader, const json_error_t *error)
{
    struct ar_span what = {error->text, strnlen(error->text, sizeof error->text)};
    char quote[AR_QUOTE];
    uint64_t line = reader->line + (error->line > 0 ? (uint64_t)error->line - 1 : 0);
    return ar_error_set(reader->err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": %s; expected complete JSON of nccl-tests -J",
                        reader->logs->path, line, ar_span_quote(what, quote));
}

/* Removes blanks and ends of lines, which count. */
static struct ar_span skip_blanks(struct reader *reader, struct ar_span text)
{
    while (text.bytes > 0 && memchr(" \t\r\n", text.at[0], 4) != NULL) {
        reader->line += text.at[0] == '\n';
        text = ar_span_after(text, 1);
    }
    return text;
}

/* Several documents may follow each other, as `cat *.json` makes them. */
static enum ar_status read_documents(struct reader *reader, struct ar_span text)
{
    for (text = skip_blanks(reader, text); text.bytes > 0; text = skip_blanks(reader, text)) {
        json_error_t error;
        json_t *document = json_loadb(text.at, text.bytes, JSON_DISABLE_EOF_CHECK, &error);
        if (document == NULL) {
            return refuse_syntax(reader, &error);
        }
        size_t used = error.position > 0 ? (size_t)error.position : text.bytes;
        uint64_t last_line = reader->line + lines_in(text.at, used);
        enum ar_status status = read_document(reader, document, last_line);
        json_decref(document);
        AR_TRY(status);
        reader->line = last_line;
        text = ar_span_after(text, used);
    }
    return AR_OK;
}

enum ar_status ar_read_nccl_json(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err)
{
    if (bytes > AR_LOG_JSON_BYTES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: JSON of %zu bytes; expected at most %zu",
                            logs->path, bytes, AR_LOG_JSON_BYTES_MAX);
    }
    struct reader reader = {.logs = logs, .err = err, .line = 1};
    enum ar_status status = read_documents(&reader, ar_lines_of(text, bytes).rest);
    ar_nccl_drop(&reader.run);
    return status;
}
