#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "nccl_text.h"
#include "osu.h"
#include "readers.h"

static const char *const format_names[] = {
    [AR_LOG_NCCL_TEXT] = "nccl-tests", [AR_LOG_NCCL_JSON] = "nccl-tests-json", [AR_LOG_OSU] = "osu",
    [AR_LOG_HARNESS] = "harness",      [AR_LOG_PUBLISHED] = "published",
};

const char *ar_log_format_name(enum ar_log_format format)
{
    return format_names[format];
}

/* A header of the project's tables: commas, and a column that no other program writes. */
static bool is_csv_header(struct ar_span line)
{
    static const char *const names[] = {"payload_bytes", "time_median_s", "time_out_of_place_us"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ar_span_has(line, ",") && ar_span_has(line, names[i])) {
            return true;
        }
    }
    return false;
}

/* The reader for a text by its first line that tells; NULL if none does. */
static ar_reader *detect(const char *text, size_t bytes)
{
    struct ar_lines lines = ar_lines_of(text, bytes);
    struct ar_span line;
    bool is_first = true;
    while (ar_lines_next(&lines, &line)) {
        if (line.bytes == 0) {
            continue;
        }
        if (is_first && line.at[0] == '{') {
            return ar_read_nccl_json;
        }
        bool is_comment = line.at[0] == '#';
        if (is_first && !is_comment && is_csv_header(line)) {
            return ar_read_csv;
        }
        is_first = is_first && is_comment;
        line = ar_strip_prefix(line);
        if (ar_osu_is_title(line) || ar_nccl_is_head(line)) {
            return ar_read_text;
        }
    }
    return NULL;
}

static enum ar_status refuse_unknown(const char *path, const char *text, size_t bytes,
                                     struct ar_error *err)
{
    struct ar_lines lines = ar_lines_of(text, bytes);
    struct ar_span line = {"", 0};
    while (ar_lines_next(&lines, &line) && line.bytes == 0) {
        continue;
    }
    char quote[AR_QUOTE];
    if (line.bytes == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: no text; expected a log of nccl-tests (text or JSON) or OSU, or a "
                            "CSV of measurements",
                            path);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: unknown format, it begins with \"%s\"; expected a log of nccl-tests "
                        "(text or JSON) or OSU, or a CSV of measurements",
                        path, ar_span_quote(line, quote));
}

static enum ar_status check_any_row(const struct ar_logs *logs, struct ar_error *err)
{
    for (size_t i = 0; i < logs->runs_count; i++) {
        if (logs->runs[i].rows_count > 0) {
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: no measurement in %zu run%s; expected a table with rows", logs->path,
                        logs->runs_count, logs->runs_count == 1 ? "" : "s");
}

enum ar_status ar_logs_parse(const char *path, const char *text, size_t bytes,
                             struct ar_logs **logs, struct ar_error *err)
{
    ar_reader *reader = detect(text, bytes);
    if (reader == NULL) {
        return refuse_unknown(path, text, bytes, err);
    }
    struct ar_logs *read = calloc(1, sizeof *read);
    if (read == NULL || (read->path = strdup(path)) == NULL) {
        free(read);
        return ar_error_no_memory(err, path);
    }
    enum ar_status status = reader(read, text, bytes, err);
    if (status != AR_OK || (status = check_any_row(read, err)) != AR_OK) {
        ar_logs_destroy(read);
        return status;
    }
    *logs = read;
    return AR_OK;
}

enum ar_status ar_logs_load(const char *path, struct ar_logs **logs, struct ar_error *err)
{
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path, AR_LOG_BYTES_MAX, "a log", &text, &bytes, err));
    enum ar_status status = ar_logs_parse(path, text, bytes, logs, err);
    free(text);
    return status;
}

void ar_logs_destroy(struct ar_logs *logs)
{
    if (logs == NULL) {
        return;
    }
    for (size_t i = 0; i < logs->runs_count; i++) {
        free(logs->runs[i].rows);
    }
    free(logs->runs);
    ar_arena_end(&logs->arena);
    free(logs->path);
    free(logs);
}
