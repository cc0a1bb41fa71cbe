#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_line.h"

enum { COLUMNS_MAX = 16, WHERE_BYTES = 400, RUNS_SEARCHED = 4096 };

/* A cell of a row on its way into the row and the run that it belongs to. */
struct entry {
    struct ar_log run; /* only what tells runs apart */
    struct ar_log_row row;
};

/* What a column is and where it goes. The unit of a time is in its name. */
enum kind { WORD, TEXT, RANKS, CHANNELS, COUNT, WRONG, TIME };

struct column {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct entry */
    double unit_s; /* of a time */
    bool may_be_empty;
};

#define RUN(field) offsetof(struct entry, run.field)
#define ROW(field) offsetof(struct entry, row.field)

/* Those that may be empty may also be missing. */
static const struct column harness_columns[] = {
    {"time_median_s", TIME, ROW(out_of_place.time_s), 1, false},
    {"backend", TEXT, RUN(tool), 0, false},
    {"algorithm", TEXT, RUN(algorithm), 0, false},
    {"shape", TEXT, RUN(shape), 0, true},
    {"channels", CHANNELS, RUN(channels), 0, true},
    {"ranks", RANKS, RUN(ranks), 0, false},
    {"nodes", RANKS, RUN(nodes), 0, false},
    {"datatype", WORD, ROW(datatype), 0, false},
    {"element_bytes", COUNT, ROW(count), 0, false}, /* becomes the number of elements */
    {"payload_bytes", COUNT, ROW(payload_bytes), 0, false},
    {"repetitions", COUNT, ROW(repetitions), 0, true},
    {"time_min_s", TIME, ROW(time_min_s), 1, true},
    {"time_p10_s", TIME, ROW(time_p10_s), 1, true},
    {"time_p90_s", TIME, ROW(time_p90_s), 1, true},
    {"wrong", WRONG, ROW(out_of_place.wrong), 0, true},
    {"tier", TEXT, RUN(tier), 0, true},
};

static const struct column published_columns[] = {
    {"gpus", RANKS, RUN(ranks), 0, false},
    {"nodes", RANKS, RUN(nodes), 0, false},
    {"payload_bytes", COUNT, ROW(payload_bytes), 0, false},
    {"time_out_of_place_us", TIME, ROW(out_of_place.time_s), 1e-6, true},
    {"time_in_place_us", TIME, ROW(in_place.time_s), 1e-6, true},
};

/* The first column is the one that tells a table. */
static const struct table {
    enum ar_log_format format;
    const struct column *columns;
    size_t columns_count;
} tables[] = {
    {AR_LOG_HARNESS, harness_columns, sizeof harness_columns / sizeof harness_columns[0]},
    {AR_LOG_PUBLISHED, published_columns, sizeof published_columns / sizeof published_columns[0]},
};

struct reader {
    struct ar_logs *logs;
    const struct table *table; /* NULL before the header */
    size_t places[COLUMNS_MAX];
    size_t cells;
    uint64_t header_line;
    char where[WHERE_BYTES]; /* `path:line` */
    struct ar_csv_line line;
    struct ar_error *err;
};

/* `# key: value`, a key of one word; anything else is a remark. */
static enum ar_status take_comment(struct reader *reader, struct ar_span text, uint64_t number)
{
    struct ar_span comment = ar_span_trim(ar_span_after(text, 1));
    size_t colon = ar_span_find(comment, ":");
    size_t key = 0;
    while (key < colon && comment.at[key] != ' ' && comment.at[key] != '\t') {
        key++;
    }
    bool is_fact = colon < comment.bytes && key == colon && key > 0;
    struct ar_span name = {comment.at, is_fact ? key : 0};
    struct ar_span value = is_fact ? ar_span_trim(ar_span_after(comment, key + 1)) : comment;
    return ar_logs_add_fact(reader->logs, name, value, number, reader->err);
}

static enum ar_status find_columns(struct reader *reader, const struct table *table,
                                   uint64_t number)
{
    assert(table->columns_count <= COLUMNS_MAX);
    for (size_t i = 0; i < table->columns_count; i++) {
        const struct column *column = &table->columns[i];
        reader->places[i] = ar_csv_find(&reader->line, column->name);
        if (reader->places[i] == SIZE_MAX && !column->may_be_empty) {
            return ar_error_set(reader->err, AR_BAD_DATA,
                                "%s: column \"%s\" is missing; expected it in a table with \"%s\"",
                                reader->where, column->name, table->columns[0].name);
        }
    }
    reader->table = table;
    reader->cells = reader->line.cells_count;
    reader->header_line = number;
    return AR_OK;
}

static enum ar_status take_header(struct reader *reader, uint64_t number)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (ar_csv_find(&reader->line, tables[i].columns[0].name) != SIZE_MAX) {
            return find_columns(reader, &tables[i], number);
        }
    }
    return ar_error_set(reader->err, AR_BAD_DATA,
                        "%s: neither column \"%s\" nor \"%s\"; expected a table of the harness or "
                        "of published measurements",
                        reader->where, tables[0].columns[0].name, tables[1].columns[0].name);
}

static bool set_number(const struct column *column, struct ar_span cell, char *target)
{
    double value, half_digit;
    uint64_t count;
    switch (column->kind) {
    case RANKS:
    case CHANNELS:
        if (!ar_span_count(cell, &count) || count > UINT32_MAX ||
            (column->kind == RANKS && count == 0)) {
            return false;
        }
        *(uint32_t *)(void *)target = (uint32_t)count;
        return true;
    case COUNT:
        return ar_span_count(cell, (uint64_t *)(void *)target);
    case WRONG:
        if (!ar_span_count(cell, &count) || count > INT64_MAX) {
            return false;
        }
        *(int64_t *)(void *)target = (int64_t)count;
        return true;
    default:
        if (!ar_span_number(cell, &value, &half_digit) || !(value > 0)) {
            return false;
        }
        *(double *)(void *)target = value * column->unit_s;
        return true;
    }
}

static enum ar_status take_cell(const struct reader *reader, const struct column *column,
                                struct ar_span cell, struct entry *entry)
{
    static const char *const expected[] = {
        [WORD] = "a word",          [TEXT] = "a text",          [RANKS] = "a number from 1",
        [COUNT] = "a whole number", [WRONG] = "a whole number", [TIME] = "a time above zero",
    };
    char *target = (char *)entry + column->offset;
    char quote[AR_QUOTE];
    bool is_absent = cell.bytes == 0 || ar_span_is(cell, "N/A");
    if (is_absent && column->may_be_empty) {
        return AR_OK;
    }
    bool is_text = column->kind == WORD || column->kind == TEXT;
    if (is_text && cell.bytes > 0) {
        ar_span_copy(cell, target, column->kind == WORD ? AR_LOG_WORD : AR_LOG_TEXT);
        return AR_OK;
    }
    if (!is_text && set_number(column, cell, target)) {
        return AR_OK;
    }
    return ar_error_set(reader->err, AR_BAD_DATA, "%s: column \"%s\" is \"%s\"; expected %s",
                        reader->where, column->name, ar_span_quote(cell, quote),
                        expected[column->kind]);
}

static bool is_same_run(const struct ar_log *a, const struct ar_log *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->channels == b->channels &&
           strcmp(a->tool, b->tool) == 0 && strcmp(a->algorithm, b->algorithm) == 0 &&
           strcmp(a->shape, b->shape) == 0 && strcmp(a->tier, b->tier) == 0;
}

/* The latest run that the row belongs to, else a new one. */
static enum ar_status find_run(struct reader *reader, const struct entry *entry, uint64_t number,
                               struct ar_log **found)
{
    struct ar_logs *logs = reader->logs;
    size_t nearest = logs->runs_count < RUNS_SEARCHED ? logs->runs_count : RUNS_SEARCHED;
    for (size_t i = 0; i < nearest; i++) {
        struct ar_log *run = &logs->runs[logs->runs_count - 1 - i];
        const char *datatype = run->rows_count > 0 ? run->rows[0].datatype : "";
        if (is_same_run(run, &entry->run) && strcmp(datatype, entry->row.datatype) == 0) {
            *found = run;
            return AR_OK;
        }
    }
    struct ar_log *run;
    enum ar_status status = ar_logs_add_run(logs, reader->table->format, number, &run, reader->err);
    if (status == AR_OK) {
        struct ar_log kept = *run;
        *run = entry->run;
        run->format = kept.format;
        run->path = kept.path;
        run->first_line = run->last_line = number;
        run->collective = AR_LOG_ALL_REDUCE; /* both tables hold all-reduces only */
        run->is_complete = true;
        *found = run;
    }
    return status;
}

/* Elements from bytes; an element size that does not divide the payload is a mistake. */
static enum ar_status count_elements(const struct reader *reader, struct ar_log_row *row)
{
    uint64_t element_bytes = row->count;
    if (reader->table->format != AR_LOG_HARNESS) {
        return AR_OK;
    }
    if (element_bytes == 0 || row->payload_bytes % element_bytes != 0) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: column \"element_bytes\" is \"%" PRIu64 "\"; expected a divisor "
                            "of payload_bytes, %" PRIu64,
                            reader->where, element_bytes, row->payload_bytes);
    }
    row->count = row->payload_bytes / element_bytes;
    return AR_OK;
}

static enum ar_status take_row(struct reader *reader, uint64_t number)
{
    const struct ar_csv_line *line = &reader->line;
    struct entry entry = {.row = ar_log_empty_row(number)};
    if (line->cells_count != reader->cells) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: %zu cells; expected %zu as in the header (line %" PRIu64 ")",
                            reader->where, line->cells_count, reader->cells, reader->header_line);
    }
    enum ar_status status = AR_OK;
    for (size_t i = 0; status == AR_OK && i < reader->table->columns_count; i++) {
        size_t place = reader->places[i];
        if (place != SIZE_MAX) {
            status = take_cell(reader, &reader->table->columns[i], line->cells[place], &entry);
        }
    }
    if (status == AR_OK) {
        status = count_elements(reader, &entry.row);
    }
    struct ar_log *run = NULL;
    if (status == AR_OK) {
        status = find_run(reader, &entry, number, &run);
    }
    return status != AR_OK ? status : ar_log_add_row(run, &entry.row, reader->err);
}

static enum ar_status take_line(struct reader *reader, struct ar_span text, uint64_t number)
{
    if (text.bytes == 0) {
        return AR_OK;
    }
    if (text.at[0] == '#') {
        return take_comment(reader, text, number);
    }
    snprintf(reader->where, sizeof reader->where, "%s:%" PRIu64, reader->logs->path, number);
    enum ar_status status = ar_csv_line_split(&reader->line, reader->where, text, reader->err);
    if (status != AR_OK) {
        return status;
    }
    return reader->table == NULL ? take_header(reader, number) : take_row(reader, number);
}

enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err)
{
    struct reader reader = {.logs = logs, .err = err};
    enum ar_status status = ar_csv_line_begin(&reader.line, err);
    if (status != AR_OK) {
        return status;
    }
    struct ar_lines lines = ar_lines_of(text, bytes);
    struct ar_span line;
    while (status == AR_OK && ar_lines_next(&lines, &line)) {
        status = take_line(&reader, line, lines.line);
    }
    ar_csv_line_end(&reader.line);
    return status;
}
