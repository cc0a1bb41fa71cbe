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
    struct ar_log *log; /* of the document */
    uint64_t line;
    struct ar_nccl_run run;
    struct ar_error *err;
};

static enum ar_status refuse_document(const struct json_reader *reader, const char *what,
                                      const char *expected)
{
    return ar_error_in_line(reader->err, reader->logs->path, reader->line, "%s; expected %s", what,
                            expected);
}

/* Members that say nothing usable stay unknown. */
static double get_number(const json_t *object, const char *name, double unit)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) * unit : NAN;
}

static bool get_count(const json_t *object, const char *name, uint64_t *count)
{
    double number = get_number(object, name, 1);
    if (!(number >= 0) || number >= 0x1p63 || floor(number) != number) {
        return false;
    }
    *count = (uint64_t)number;
    return true;
}

static void get_text(const json_t *object, const char *name, char *text, size_t size)
{
    const char *found = json_string_value(json_object_get(object, name));
    ar_copy_clean(text, size, found != NULL ? found : "");
}

static enum ar_status read_timing(const struct json_reader *reader, const json_t *record,
                                  const char *name, struct ar_log_timing *timing)
{
    const json_t *object = json_object_get(record, name);
    *timing = (struct ar_log_timing){.time_s = get_number(object, "time", 1e-6),
                                     .algbw_Bps = get_number(object, "alg_bw", 1e9),
                                     .busbw_Bps = get_number(object, "bus_bw", 1e9),
                                     .wrong = get_number(object, "nwrong", 1)};
    return json_object_get(object, "cpu_time") == NULL
               ? AR_OK
               : refuse_document(reader, "\"cpu_time\" (-C 1) is the time to launch", "\"time\"");
}

static enum ar_status read_record(const struct json_reader *reader, const json_t *record,
                                  size_t place)
{
    struct ar_log_row row = ar_log_empty_row(reader->line);
    char what[64], root[AR_LOG_WORD];
    if (!get_count(record, "size", &row.payload_bytes)) {
        snprintf(what, sizeof what, "record %zu of \"results\" has no usable \"size\"", place + 1);
        return refuse_document(reader, what, "a number of bytes");
    }
    get_count(record, "count", &row.count);
    get_text(record, "type", row.datatype, sizeof row.datatype);
    get_text(record, "redop", row.redop, sizeof row.redop);
    get_text(record, "root", root, sizeof root); /* a text with blanks */
    sscanf(root, "%lf", &row.root);
    AR_TRY(read_timing(reader, record, "out_of_place", &row.out_of_place));
    AR_TRY(read_timing(reader, record, "in_place", &row.in_place));
    return ar_log_add_row(reader->log, &row, reader->err);
}

static enum ar_status read_devices(struct json_reader *reader, const json_t *config)
{
    const json_t *devices = json_object_get(config, "devices");
    uint64_t threads = 1, gpus = 1;
    get_count(config, "nthreads", &threads);
    get_count(config, "ngpus", &gpus);
    AR_REFUSE_BY(
        threads - 1 >= AR_NCCL_RANKS_MAX || gpus - 1 >= AR_NCCL_RANKS_MAX ||
            threads * gpus > AR_NCCL_RANKS_MAX,
        refuse_document(reader, "\"nthreads\" times \"ngpus\" is no number of ranks", "1 to 2^20"));
    reader->run =
        (struct ar_nccl_run){.ranks_per_process = threads * gpus, .has_rank_of_process_only = true};
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        struct ar_nccl_rank rank = {.line = reader->line};
        uint64_t number;
        AR_REFUSE_BY(
            !get_count(device, "rank", &number),
            refuse_document(reader, "a device of \"config\" has no usable \"rank\"", "a number"));
        get_count(device, "group", &rank.group);
        get_count(device, "pid", &rank.pid);
        get_text(device, "hostname", rank.host, sizeof rank.host);
        if (number == 0) {
            get_text(device, "device_info", reader->log->gpu, AR_LOG_TEXT);
        }
        AR_TRY(ar_nccl_add_rank(reader->log, &reader->run, number, &rank, reader->err));
    }
    return AR_OK;
}

static enum ar_status read_document(struct json_reader *reader, const json_t *document,
                                    uint64_t last_line)
{
    const json_t *results = json_object_get(document, "results");
    uint64_t schema = 0, version;
    get_count(document, "version", &schema);
    AR_REFUSE_BY(!json_is_array(results), refuse_document(reader, "JSON without a list \"results\"",
                                                          "the output of nccl-tests -J"));
    AR_REFUSE_BY(schema > 3,
                 refuse_document(reader, "\"version\" above 3", "schema 1 to 3 of nccl-tests -J"));
    struct ar_log *log = reader->log =
        ar_logs_add_run(reader->logs, AR_LOG_NCCL_JSON, reader->line);
    ar_copy_text(log->tool, sizeof log->tool, "nccl-tests");
    /* The program is the first of "args"; "experiment_name" of the records is mostly empty. */
    const char *path = json_string_value(json_array_get(json_object_get(document, "args"), 0));
    const char *name = path != NULL ? basename(path) : "";
    if (strstr(name, "_perf") != NULL) {
        ar_copy_clean(log->collective_name, sizeof log->collective_name, name);
        log->collective = ar_collective_of_name(name);
    }
    AR_TRY(read_devices(reader, json_object_get(document, "config")));
    /* The environment tells how many processes were started: without MPI each is its own rank 0. */
    static const char *const keys[] = {"OMPI_COMM_WORLD_SIZE=", "PMI_SIZE="};
    const json_t *env = json_object_get(document, "env");
    for (size_t i = 0; i < 2 * json_array_size(env); i++) {
        const char *text = json_string_value(json_array_get(env, i / 2)), *key = keys[i % 2];
        uint64_t processes;
        AR_REFUSE_LINE(
            text != NULL && ar_take_count(&text, key, &processes) && reader->run.ranks_count == 1 &&
                processes > 1,
            reader->err, reader->logs->path, reader->line,
            "one process is listed, but %s%" PRIu64
            "; expected all: each process ran alone, as nccl-tests does when built without MPI=1",
            key, processes);
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        AR_TRY(read_record(reader, json_array_get(results, i), i));
    }
    log->last_line = last_line;
    get_count(json_object_get(document, "out_of_bounds"), "count", &log->out_of_bounds);
    /* The version before the first numbered one misspelt it. */
    log->is_complete = json_object_get(document, "average_bus_bandwidth") != NULL ||
                       json_object_get(document, "average_bus_bandwidith") != NULL;
    if (get_count(document, "nccl_version", &version)) {
        ar_nccl_set_version(version, log);
    }
    return ar_nccl_finish(log, &reader->run, reader->err);
}

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

/* Several documents may follow each other, as `cat *.json` makes them. */
enum ar_status ar_read_nccl_json(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err)
{
    struct json_reader reader = {.logs = logs, .err = err, .line = 1};
    AR_REFUSE(bytes > AR_LOG_JSON_BYTES_MAX, err, AR_BAD_DATA,
              "%s: JSON of %zu bytes; expected at most %zu", logs->path, bytes,
              AR_LOG_JSON_BYTES_MAX);
    for (size_t at = 0;;) {
        size_t blanks = strspn(text + at, AR_BLANKS "\n");
        reader.line += count_lines(text + at, blanks);
        at += blanks;
        if (at >= bytes) {
            return AR_OK;
        }
        json_error_t error;
        json_t *document = json_loadb(text + at, bytes - at, JSON_DISABLE_EOF_CHECK, &error);
        if (document == NULL) {
            ar_clean(error.text, strlen(error.text));
            return ar_error_in_line(err, logs->path,
                                    reader.line + (error.line > 0 ? (uint64_t)error.line - 1 : 0),
                                    "%.80s; expected complete JSON of nccl-tests -J", error.text);
        }
        size_t size = error.position > 0 ? (size_t)error.position : bytes - at;
        uint64_t last_line = reader.line + count_lines(text + at, size);
        enum ar_status status = read_document(&reader, document, last_line);
        json_decref(document);
        AR_TRY(status);
        reader.line = last_line;
        at += size;
    }
}
