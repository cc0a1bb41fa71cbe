/* Logs: finding the format of a file, runs and rows, words and columns that all readers share, and
 * whether a run can be compared. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_text.h"
#include "ar_units.h"
#include "log_reading.h"

/* --- words and numbers --------------------------------------------------------------------- */

void ar_clean(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char letter = (unsigned char)text[i];
        if (letter < 0x20 || letter == 0x7f) {
            text[i] = letter != '\0' && strchr(AR_BLANKS, letter) != NULL ? ' ' : '?';
        }
    }
}

void ar_copy_clean(char *target, size_t size, const char *source)
{
    ar_copy_text(target, size, source);
    ar_clean(target, strlen(target));
}

char *ar_unmarked(char *line)
{
    return line[0] == '#' ? line + strspn(line, "# ") : line;
}

char *ar_behind(char *text, const char *part)
{
    char *place = strstr(text, part);
    return place == NULL ? NULL : place + strlen(part);
}

size_t ar_split(char *text, const char **words, size_t max)
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count < max) {
            words[count] = word;
        }
        count++;
    }
    return count;
}

bool ar_is_number(const char *word)
{
    double number;
    return ar_parse_number("", word, -HUGE_VAL, HUGE_VAL, &number, AR_IGNORED) == AR_OK;
}

bool ar_is_count(const char *word)
{
    return word[0] != '\0' && word[strspn(word, AR_DIGITS)] == '\0';
}

bool ar_take_count(const char **rest, const char *key, uint64_t *count)
{
    const char *at = *rest + strspn(*rest, " ");
    if (strncmp(at, key, strlen(key)) != 0) {
        return false;
    }
    at += strlen(key);
    at += strspn(at, " ");
    if (strspn(at, AR_DIGITS) == 0) {
        return false;
    }
    char *end;
    *count = strtoull(at, &end, 10);
    *rest = end;
    return true;
}

/* --- columns ------------------------------------------------------------------------------- */

void ar_log_table_add(struct ar_log_table *table, const struct ar_log_column *columns,
                      const char *name)
{
    bool is_again = false;
    while (columns->cell.name != NULL && strcmp(columns->cell.name, name) != 0) {
        columns++;
    }
    const struct ar_log_column *column = columns->cell.name != NULL ? columns : NULL;
    for (size_t i = 0; i < table->count && column != NULL && column->is_timing; i++) {
        is_again = is_again || table->columns[i] == column;
    }
    if (table->count < AR_TABLE_COLUMNS_MAX) {
        table->columns[table->count] = column;
        table->is_in_place[table->count++] = is_again;
    }
}

enum ar_status ar_log_table_read(const struct ar_log_table *table, const struct ar_log *run,
                                 const char *const *words, size_t words_count,
                                 struct ar_log_row *row, struct ar_error *err)
{
    size_t word = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct ar_log_column *column = table->columns[i];
        AR_LOG_REFUSE(word == words_count, run, row->line, err,
                      "%zu columns; expected %zu as in the header (line %" PRIu64
                      "); cut off, or mixed with other output",
                      words_count, table->count, table->line);
        if (column != NULL && column->cell.may_be_empty && ar_is_number(words[word])) {
            continue;
        }
        /* The field of the row, or of one of its timings; N/A leaves a number as it was. */
        struct ar_log_timing *timing = table->is_in_place[i] ? &row->in_place : &row->out_of_place;
        char *record = column != NULL && column->is_timing ? (char *)timing : (char *)row;
        bool is_set = column != NULL && !(column->cell.kind == AR_COLUMN_number &&
                                          strcasecmp(words[word], "N/A") == 0);
        AR_LOG_REFUSE(is_set && !ar_record_read_cell(&column->cell, words[word], record), run,
                      row->line, err, "column \"%s\" is \"%s\"; expected %s", column->cell.name,
                      AR_SHOW_CELL(words[word]), AR_SHOW_EXPECTED(&column->cell));
        if (is_set && column->unit > 0) {
            *(double *)(void *)(record + column->cell.offset) *= column->unit;
        }
        word++;
    }
    return AR_OK;
}

/* --- runs and rows ------------------------------------------------------------------------- */

struct ar_log *ar_logs_last(const struct ar_logs *logs)
{
    return &logs->runs[logs->runs_count - 1];
}

struct ar_log *ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line)
{
    struct ar_log *run = AR_ARENA_ADD(logs->arena, logs->runs, logs->runs_count);
    *run = (struct ar_log){.arena = logs->arena,
                           .format = format,
                           .path = logs->path,
                           .first_line = line,
                           .last_line = line};
    return run;
}

struct ar_log_row ar_log_empty_row(uint64_t line)
{
    const struct ar_log_timing none = {
        .time_s = NAN, .algbw_Bps = NAN, .busbw_Bps = NAN, .wrong = NAN};
    return (struct ar_log_row){.line = line, .root = NAN, .out_of_place = none, .in_place = none};
}

enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err)
{
    const double times_s[] = {row->out_of_place.time_s, row->in_place.time_s};
    for (int i = 0; i < 2; i++) {
        AR_LOG_REFUSE(times_s[i] <= 0, run, row->line, err,
                      "%s time is %g us; expected a time above zero",
                      i == 0 ? "out-of-place" : "in-place", times_s[i] * 1e6);
    }
    AR_LOG_REFUSE(isnan(row->out_of_place.time_s) && isnan(row->in_place.time_s), run, row->line,
                  err, "row without a time; expected an out-of-place or in-place time above zero");
    *AR_ARENA_ADD(run->arena, run->rows, run->rows_count) = *row;
    run->last_line = row->line > run->last_line ? row->line : run->last_line;
    return AR_OK;
}

/* --- texts --------------------------------------------------------------------------------- */

/* Reads the lines of nccl-tests and of OSU: a job script may run both, one after the other. */
static enum ar_status read_text_log(struct ar_logs *logs, char *text, size_t bytes,
                                    struct ar_error *err)
{
    struct ar_nccl_text nccl = {.logs = logs};
    struct ar_osu_text osu = {.logs = logs};
    uint64_t number = 0;
    char *end = text + bytes;
    for (char *line = text, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline == NULL ? end : newline + 1;
        size_t size = (size_t)((newline == NULL ? end : newline) - line);
        ar_clean(line, size);
        line[size] = '\0';
        char *rest = ar_strip_prefix(line);
        bool is_title = ar_osu_is_title(rest);
        number++;
        nccl.is_line_open = newline == NULL;
        if (is_title) {
            AR_TRY(ar_nccl_text_end(&nccl, true, err));
        }
        osu.is_open = is_title || (osu.is_open && !ar_nccl_is_head(rest));
        AR_TRY(osu.is_open ? ar_osu_line(&osu, rest, number, err)
                           : ar_nccl_text_line(&nccl, rest, number, err));
    }
    return ar_nccl_text_end(&nccl, false, err);
}

/* --- files --------------------------------------------------------------------------------- */

/* The first line that has a text, comments left out if `is_table`; or empty. Returns its bytes. */
static size_t find_first_line(const char *text, size_t bytes, bool is_table, const char **line)
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

/* Reads with the reader of the format. */
static enum ar_status read_runs(struct ar_logs *logs, char *text, size_t bytes,
                                struct ar_error *err)
{
    static const char expected[] =
        "a log of nccl-tests (text or JSON), OSU, or a CSV of measurements";
    const char *line;
    char begins[48] = "";
    size_t size = find_first_line(text, bytes, false, &line);
    AR_REFUSE(size == 0, err, AR_BAD_DATA, "%s: no text; expected %s", logs->path, expected);
    if (line[0] == '{') {
        return ar_read_nccl_json(logs, text, bytes, err);
    }
    /* A header of the project's tables: commas, and a column that no other program writes. */
    static const char own_column[] = "payload_bytes";
    const char *header;
    size_t header_size = find_first_line(text, bytes, true, &header);
    if (header_size > 0 && memchr(header, ',', header_size) != NULL &&
        memmem(header, header_size, own_column, sizeof own_column - 1) != NULL) {
        return ar_read_csv(logs, text, bytes, err);
    }
    memcpy(begins, line, size < sizeof begins ? size : sizeof begins - 1);
    ar_clean(begins, size < sizeof begins ? size : sizeof begins - 1);
    AR_TRY(read_text_log(logs, text, bytes, err));
    AR_REFUSE(logs->runs_count == 0, err, AR_BAD_DATA,
              "%s: unknown format, it begins with \"%s\"; expected %s", logs->path,
              AR_SHOW_CELL(ar_trim(begins)), expected);
    return AR_OK;
}

enum ar_status ar_logs_parse(const char *path, const char *text, size_t bytes,
                             struct ar_arena *arena, struct ar_logs **logs, struct ar_error *err)
{
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    char *copy = ar_arena_alloc(&scratch, bytes + 1, 1);
    memcpy(copy, text + mark, bytes - mark);
    struct ar_logs *read = ar_arena_alloc(arena, 1, sizeof *read);
    *read = (struct ar_logs){.path = ar_arena_text(arena, path), .arena = arena};
    AR_TRY(read_runs(read, copy, bytes - mark, err));
    for (size_t i = 0; i < read->runs_count; i++) {
        if (read->runs[i].rows_count > 0) {
            *logs = read;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: no measurement in %zu run%s; expected a table with rows", read->path,
                        read->runs_count, read->runs_count == 1 ? "" : "s");
}

enum ar_status ar_logs_load(const char *path, struct ar_arena *arena, struct ar_logs **logs,
                            struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path, AR_LOG_BYTES_MAX, "a log", &scratch, &text, &bytes, err));
    return ar_logs_parse(path, text, bytes, arena, logs, err);
}

/* --- whether a run can be compared --------------------------------------------------------- */

enum ar_status ar_log_check(const struct ar_log *run, struct ar_error *err)
{
    bool has_bytes = false;
    AR_LOG_REFUSE(run->rows_count == 0, run, run->first_line, err,
                  "a run without rows; expected a table of %s",
                  ar_log_collective_name(run->collective));
    AR_LOG_REFUSE(
        run->ranks == 0, run, run->first_line, err,
        "the log does not say how many ranks took part; expected it to, or 'expect --nodes'");
    AR_LOG_REFUSE(run->ranks == 1, run, run->first_line, err,
                  "a run of 1 rank communicates nothing; expected 2 or more (if several processes "
                  "were started, nccl-tests was built without MPI=1)");
    AR_LOG_REFUSE(run->out_of_bounds > 0, run, run->last_line, err,
                  "%" PRIu64 " values out of bounds; expected a run with right results",
                  run->out_of_bounds);
    AR_EACH(const struct ar_log_row, row, run->rows, run->rows_count) {
        double wrong = fmax(row->out_of_place.wrong, row->in_place.wrong);
        AR_LOG_REFUSE(wrong > 0, run, row->line, err,
                      "%.0f elements came out wrong; expected a run with right results", wrong);
        AR_LOG_REFUSE(strcmp(row->datatype, run->rows[0].datatype) != 0 ||
                          strcmp(row->redop, run->rows[0].redop) != 0,
                      run, row->line, err,
                      "%s %s in a table that begins with %s %s (line %" PRIu64
                      "); expected one datatype and operation",
                      row->datatype, row->redop, run->rows[0].datatype, run->rows[0].redop,
                      run->rows[0].line);
        has_bytes = has_bytes || row->payload_bytes > 0;
    }
    AR_LOG_REFUSE(!has_bytes, run, run->first_line, err,
                  "0 different sizes above zero in %zu rows; expected at least 1", run->rows_count);
    return AR_OK;
}
