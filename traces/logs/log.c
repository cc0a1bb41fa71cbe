#include "log.h"

#include <math.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "nccl_text.h"
#include "osu.h"
#include "words.h"

static const char *const format_names[] = {
    [AR_LOG_NCCL_TEXT] = "nccl-tests", [AR_LOG_NCCL_JSON] = "nccl-tests-json", [AR_LOG_OSU] = "osu",
    [AR_LOG_HARNESS] = "harness",      [AR_LOG_PUBLISHED] = "published",
};

const char *ar_log_format_name(enum ar_log_format format)
{
    return format_names[format];
}

/* --- runs and rows ------------------------------------------------------------------------- */

enum ar_status ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                               struct ar_log **run, struct ar_error *err)
{
    struct ar_log *runs = ar_arena_grow(logs->arena, logs->runs, logs->runs_count, 1, sizeof *runs);
    AR_NEED(runs, err, logs->path);
    logs->runs = runs;
    *run = &runs[logs->runs_count++];
    **run = (struct ar_log){.arena = logs->arena,
                            .format = format,
                            .path = logs->path,
                            .first_line = line,
                            .last_line = line};
    return AR_OK;
}

struct ar_log *ar_logs_last(const struct ar_logs *logs)
{
    return &logs->runs[logs->runs_count - 1];
}

struct ar_log_row ar_log_empty_row(uint64_t line)
{
    const struct ar_log_timing none = {
        .time_s = NAN, .algbw_Bps = NAN, .busbw_Bps = NAN, .wrong = NAN};
    return (struct ar_log_row){.line = line,
                               .root = NAN,
                               .out_of_place = none,
                               .in_place = none,
                               .time_min_s = NAN,
                               .time_p10_s = NAN,
                               .time_p90_s = NAN};
}

static enum ar_status check_time(const struct ar_log *run, uint64_t line, const char *which,
                                 double time_s, struct ar_error *err)
{
    return isnan(time_s) || time_s > 0
               ? AR_OK
               : ar_log_refuse(run, line, err, "%s time is %g us; expected a time above zero",
                               which, time_s * 1e6);
}

enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err)
{
    AR_TRY(check_time(run, row->line, "out-of-place", row->out_of_place.time_s, err));
    AR_TRY(check_time(run, row->line, "in-place", row->in_place.time_s, err));
    if (isnan(row->out_of_place.time_s) && isnan(row->in_place.time_s)) {
        return ar_log_refuse(
            run, row->line, err,
            "row without a time; expected an out-of-place or in-place time above zero");
    }
    struct ar_log_row *rows =
        ar_arena_grow(run->arena, run->rows, run->rows_count, 1, sizeof *rows);
    AR_NEED(rows, err, run->path);
    run->rows = rows;
    rows[run->rows_count++] = *row;
    run->last_line = row->line > run->last_line ? row->line : run->last_line;
    return AR_OK;
}

/* --- texts --------------------------------------------------------------------------------- */

/* A job script may run both programs, one after the other. */
static enum ar_status take_line(struct ar_nccl_text *nccl, struct ar_osu_text *osu, char *line,
                                uint64_t number, struct ar_error *err)
{
    bool is_title = ar_osu_is_title(line);
    if (is_title) {
        AR_TRY(ar_nccl_text_end(nccl, true, err));
    }
    osu->is_open = is_title || (osu->is_open && !ar_nccl_is_head(line));
    return osu->is_open ? ar_osu_line(osu, line, number, err)
                        : ar_nccl_text_line(nccl, line, number, err);
}

static enum ar_status take_lines(struct ar_nccl_text *nccl, struct ar_osu_text *osu, char *text,
                                 size_t bytes, struct ar_error *err)
{
    uint64_t number = 0;
    char *end = text + bytes;
    for (char *line = text, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline == NULL ? end : newline + 1;
        size_t size = (size_t)((newline == NULL ? end : newline) - line);
        ar_clean(line, size);
        line[size] = '\0';
        AR_TRY(take_line(nccl, osu, ar_strip_prefix(line), ++number, err));
    }
    return ar_nccl_text_end(nccl, false, err);
}

static enum ar_status read_text(struct ar_logs *logs, char *text, size_t bytes,
                                struct ar_error *err)
{
    struct ar_nccl_text nccl = {.logs = logs};
    struct ar_osu_text osu = {.logs = logs};
    return take_lines(&nccl, &osu, text, bytes, err);
}

/* --- files --------------------------------------------------------------------------------- */

/* The first line that has a text, comments left out if `is_table`; empty if there is none. Returns
 * its bytes. */
static size_t first_line(const char *text, size_t bytes, bool is_table, const char **line)
{
    const char *end = text + bytes;
    for (*line = text; *line < end; (*line)++) {
        *line += strspn(*line, AR_BLANKS);
        size_t rest = (size_t)(end - *line);
        const char *newline = memchr(*line, '\n', rest);
        size_t size = newline == NULL ? rest : (size_t)(newline - *line);
        if (size > 0 && !(is_table && **line == '#')) {
            return size;
        }
        *line += size;
    }
    *line = end;
    return 0;
}

/* A header of the project's tables: commas, and a column that no other program writes. */
static bool is_csv(const char *text, size_t bytes)
{
    static const char *const names[] = {"payload_bytes", "time_median_s", "time_out_of_place_us"};
    const char *line;
    size_t size = first_line(text, bytes, true, &line);
    bool is_header = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && size > 0; i++) {
        is_header = is_header || memmem(line, size, names[i], strlen(names[i])) != NULL;
    }
    return is_header && memchr(line, ',', size) != NULL;
}

/* Reads with the reader of the format. */
static enum ar_status read_runs(struct ar_logs *logs, char *text, size_t bytes,
                                struct ar_error *err)
{
    static const char expected[] =
        "a log of nccl-tests (text or JSON), OSU, or a CSV of measurements";
    const char *line;
    char begins[48] = "", shown[64];
    size_t size = first_line(text, bytes, false, &line);
    if (size == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s: no text; expected %s", logs->path, expected);
    }
    if (line[0] == '{') {
        return ar_read_nccl_json(logs, text, bytes, err);
    }
    if (is_csv(text, bytes)) {
        return ar_read_csv(logs, text, bytes, err);
    }
    memcpy(begins, line, size < sizeof begins ? size : sizeof begins - 1);
    ar_clean(begins, size < sizeof begins ? size : sizeof begins - 1);
    AR_TRY(read_text(logs, text, bytes, err));
    return logs->runs_count > 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "%s: unknown format, it begins with \"%s\"; expected %s", logs->path,
                              ar_csv_show(ar_trim(begins), shown), expected);
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

/* The text is changed. */
static enum ar_status parse(const char *path, char *text, size_t bytes, struct ar_arena *arena,
                            struct ar_logs **logs, struct ar_error *err)
{
    struct ar_logs *read = ar_arena_alloc(arena, 1, sizeof *read);
    const char *kept = ar_arena_text(arena, path);
    AR_NEED(read && kept, err, path);
    *read = (struct ar_logs){.path = kept, .arena = arena};
    AR_TRY(read_runs(read, text, bytes, err));
    AR_TRY(check_any_row(read, err));
    *logs = read;
    return AR_OK;
}

enum ar_status ar_logs_parse(const char *path, const char *text, size_t bytes,
                             struct ar_arena *arena, struct ar_logs **logs, struct ar_error *err)
{
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    char *copy = ar_arena_alloc(&scratch, bytes + 1, 1);
    AR_NEED(copy, err, path);
    memcpy(copy, text + mark, bytes - mark);
    return parse(path, copy, bytes - mark, arena, logs, err);
}

enum ar_status ar_logs_load(const char *path, struct ar_arena *arena, struct ar_logs **logs,
                            struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path, AR_LOG_BYTES_MAX, "a log", &scratch, &text, &bytes, err));
    return parse(path, text, bytes, arena, logs, err);
}
