#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "log_reading.h"

/* One document of nccl-tests -J. jansson does not keep the lines of values, so errors name the
 * record and the line on which the document begins. */
struct json_reader {
    struct ar_logs *logs;
    uint64_t line;
    struct ar_nccl_run run;
    struct ar_error *err;
};

static enum ar_status refuse_document(const struct json_reader *reader, const char *what,
                                      const char *expected)
{
    return ar_error_set(reader->err, AR_BAD_DATA, "%s:%" PRIu64 ": %s; expected %s",
                        reader->logs->path, reader->line, what, expected);
}

/* Early versions misspelt some. */
static const struct ar_log_column record_columns[] = {
    AR_LOG_ROW(count, count, "count"),
    AR_LOG_ROW(word, datatype, "type"),
    AR_LOG_ROW(word, redop, "redop"),
    AR_LOG_ROW_NUMBER(root, "root", 1),
    AR_LOG_ROW(count, repetitions, "actual_iterations"),
};
static const struct ar_log_column timing_columns[] = {
    AR_LOG_TIMING(time_s, "time", 1e-6),     AR_LOG_TIMING(algbw_Bps, "algbw", 1e9),
    AR_LOG_TIMING(algbw_Bps, "alg_bw", 1e9), AR_LOG_TIMING(busbw_Bps, "busbw", 1e9),
    AR_LOG_TIMING(busbw_Bps, "bus_bw", 1e9), AR_LOG_TIMING(wrong, "nwrong", 0),
};

/* A value as a text: numbers, which may be strings, have six decimals unless they are counts. */
static const char *text_of(const json_t *value, bool is_count, char text[AR_LOG_TEXT])
{
    double number = json_number_value(value);
    text[0] = '\0';
    if (json_is_string(value)) {
        ar_copy_clean(text, AR_LOG_TEXT, json_string_value(value));
        return ar_trim(text);
    }
    if (json_is_number(value)) {
        bool is_whole = is_count && floor(number) == number && fabs(number) < 0x1p63;
        snprintf(text, AR_LOG_TEXT, is_whole ? "%.0f" : "%.6f", number);
    }
    return text;
}

static void set_text(const json_t *value, char *target, size_t size)
{
    char text[AR_LOG_TEXT];
    ar_copy_text(target, size, text_of(value, false, text));
}

static bool set_count(const json_t *value, uint64_t *count)
{
    const char *text;
    char room[AR_LOG_TEXT];
    text = text_of(value, true, room);
    return ar_is_count(text) && ar_take_count(&text, "", count);
}

/* Sets what the members of an object say; those that say nothing usable stay unknown. */
static void read_members(const json_t *object, struct ar_log_columns columns, bool is_in_place,
                         struct ar_log_row *row)
{
    for (size_t i = 0; i < columns.count; i++) {
        const struct ar_log_column *column = &columns.list[i];
        char room[AR_LOG_TEXT];
        const char *text = text_of(json_object_get(object, column->cell.name),
                                   column->cell.kind == AR_COLUMN_count, room);
        if (text[0] != '\0') {
            ar_log_column_set(column, text, is_in_place, row);
        }
    }
}

static enum ar_status read_record(struct json_reader *reader, const json_t *record, size_t place)
{
    static const char *const timings[] = {"out_of_place", "in_place"};
    struct ar_log_row row = ar_log_empty_row(reader->line);
    char what[64];
    if (!set_count(json_object_get(record, "size"), &row.payload_bytes)) {
        snprintf(what, sizeof what, "record %zu of \"results\" has no usable \"size\"", place + 1);
        return refuse_document(reader, what, "a number of bytes");
    }
    read_members(record, AR_LOG_COLUMNS(record_columns), false, &row);
    for (size_t i = 0; i < 2; i++) {
        const json_t *timing = json_object_get(record, timings[i]);
        read_members(timing, AR_LOG_COLUMNS(timing_columns), i == 1, &row);
        if (json_object_get(timing, "cpu_time") != NULL) {
            return refuse_document(reader, "\"cpu_time\" (-C 1) is the time to launch", "\"time\"");
        }
    }
    return ar_log_add_row(ar_logs_last(reader->logs), &row, reader->err);
}

/* The program is the first of "args"; "experiment_name" of the records is mostly empty. */
static void read_name(const json_t *document, struct ar_log *log)
{
    const json_t *program = json_array_get(json_object_get(document, "args"), 0);
    const char *path = json_is_string(program) ? json_string_value(program) : "";
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    if (strstr(name, "_perf") != NULL) {
        ar_copy_clean(log->collective_name, sizeof log->collective_name, name);
        log->collective = ar_collective_of_name(name);
    }
}

static enum ar_status read_devices(struct json_reader *reader, const json_t *config)
{
    const json_t *devices = json_object_get(config, "devices");
    uint64_t threads = 1, gpus = 1;
    set_count(json_object_get(config, "nthreads"), &threads);
    set_count(json_object_get(config, "ngpus"), &gpus);
    if (threads - 1 >= AR_NCCL_RANKS_MAX || gpus - 1 >= AR_NCCL_RANKS_MAX ||
        threads * gpus > AR_NCCL_RANKS_MAX) {
        return refuse_document(reader, "\"nthreads\" times \"ngpus\" is no number of ranks",
                               "1 to 2^20");
    }
    reader->run.ranks_per_process = threads * gpus;
    reader->run.has_rank_of_process_only = true;
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        struct ar_nccl_rank rank = {.line = reader->line};
        uint64_t number;
        if (!set_count(json_object_get(device, "rank"), &number)) {
            return refuse_document(reader, "a device of \"config\" has no usable \"rank\"",
                                   "a number");
        }
        set_count(json_object_get(device, "group"), &rank.group);
        set_count(json_object_get(device, "pid"), &rank.pid);
        set_text(json_object_get(device, "hostname"), rank.host, sizeof rank.host);
        if (number == 0) {
            set_text(json_object_get(device, "device_info"), ar_logs_last(reader->logs)->gpu,
                     AR_LOG_TEXT);
        }
        AR_TRY(
            ar_nccl_add_rank(ar_logs_last(reader->logs), &reader->run, number, &rank, reader->err));
    }
    return AR_OK;
}

/* The environment tells how many processes were started: without MPI each is rank 0 of its own. */
static enum ar_status check_processes(struct json_reader *reader, const json_t *document)
{
    static const char *const keys[] = {"OMPI_COMM_WORLD_SIZE=", "PMI_SIZE="};
    const json_t *env = json_object_get(document, "env");
    for (size_t i = 0; i < json_array_size(env); i++) {
        for (size_t k = 0; k < 2; k++) {
            const json_t *entry = json_array_get(env, i);
            const char *text = json_is_string(entry) ? json_string_value(entry) : "";
            uint64_t processes;
            if (ar_take_count(&text, keys[k], &processes) && reader->run.ranks_count == 1 &&
                processes > 1) {
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
    const json_t *bandwidth = json_object_get(document, "average_bus_bandwidth");
    const json_t *misspelt = json_object_get(document, "average_bus_bandwidith");
    uint64_t version;
    set_count(json_object_get(json_object_get(document, "out_of_bounds"), "count"),
              &log->out_of_bounds);
    log->is_complete = json_is_object(bandwidth) || json_is_object(misspelt);
    if (set_count(json_object_get(document, "nccl_version"), &version)) {
        ar_nccl_set_version(version, log);
    }
}

static enum ar_status read_document(struct json_reader *reader, const json_t *document,
                                    uint64_t last_line)
{
    const json_t *results = json_object_get(document, "results");
    uint64_t schema = 0;
    set_count(json_object_get(document, "version"), &schema);
    if (!json_is_array(results)) {
        return refuse_document(reader, "JSON without a list \"results\"",
                               "the output of nccl-tests -J");
    }
    if (schema > 3) {
        return refuse_document(reader, "\"version\" above 3", "schema 1 to 3 of nccl-tests -J");
    }
    struct ar_log *log = ar_logs_add_run(reader->logs, AR_LOG_NCCL_JSON, reader->line);
    ar_copy_text(log->tool, sizeof log->tool, "nccl-tests");
    read_name(document, log);
    AR_TRY(read_devices(reader, json_object_get(document, "config")));
    AR_TRY(check_processes(reader, document));
    for (size_t i = 0; i < json_array_size(results); i++) {
        AR_TRY(read_record(reader, json_array_get(results, i), i));
    }
    log->last_line = last_line;
    read_closing(log, document);
    AR_TRY(ar_nccl_finish(log, &reader->run, reader->err));
    reader->run = (struct ar_nccl_run){.ranks = NULL};
    return AR_OK;
}

/* Goes on, counting ends of lines. */
static void skip_text(struct json_reader *reader, const char **text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        reader->line += (*text)[i] == '\n';
    }
    *text += bytes;
}

/* Several documents may follow each other, as `cat *.json` makes them. */
static enum ar_status read_documents(struct json_reader *reader, const char *text, const char *end)
{
    for (skip_text(reader, &text, strspn(text, AR_BLANKS "\n")); text < end;
         skip_text(reader, &text, strspn(text, AR_BLANKS "\n"))) {
        json_error_t error;
        json_t *document = json_loadb(text, (size_t)(end - text), JSON_DISABLE_EOF_CHECK, &error);
        if (document == NULL) {
            ar_clean(error.text, strlen(error.text));
            return ar_error_set(reader->err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": %.80s; expected complete JSON of nccl-tests -J",
                                reader->logs->path,
                                reader->line + (error.line > 0 ? (uint64_t)error.line - 1 : 0),
                                error.text);
        }
        uint64_t first_line = reader->line;
        skip_text(reader, &text,
                  error.position > 0 ? (size_t)error.position : (size_t)(end - text));
        uint64_t last_line = reader->line;
        reader->line = first_line;
        enum ar_status status = read_document(reader, document, last_line);
        reader->line = last_line;
        json_decref(document);
        AR_TRY(status);
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
    struct json_reader reader = {.logs = logs, .err = err, .line = 1};
    return read_documents(&reader, text, text + bytes);
}
