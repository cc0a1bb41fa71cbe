/* The project's own tables: of its harness, and of published measurements. */
#include <inttypes.h>
#include <string.h>

#include "ar_csv.h"
#include "build.h"
#include "readers.h"
#include "spans.h"

enum { COLUMNS_MAX = 16, RUNS_SEARCHED = 4096 };

/* A row on its way into the run that it belongs to. */
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
    bool has_element_bytes; /* in place of the count */
    const struct column *columns;
    size_t columns_count;
} tables[] = {
    {AR_LOG_HARNESS, true, harness_columns, sizeof harness_columns / sizeof harness_columns[0]},
    {AR_LOG_PUBLISHED, false, published_columns,
     sizeof published_columns / sizeof published_columns[0]},
};

static enum ar_status find_table(const struct ar_csv *csv, const struct table **table,
                                 struct ar_error *err)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (ar_csv_has_column(csv, tables[i].columns[0].name)) {
            *table = &tables[i];
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": neither column \"%s\" nor \"%s\"; expected a table of the "
                        "harness or of published measurements",
                        csv->path, csv->header_line, tables[0].columns[0].name,
                        tables[1].columns[0].name);
}

static enum ar_status find_columns(const struct ar_csv *csv, const struct table *table,
                                   size_t places[COLUMNS_MAX], struct ar_error *err)
{
    for (size_t i = 0; i < table->columns_count; i++) {
        const struct column *column = &table->columns[i];
        places[i] = ar_csv_find_column(csv, column->name);
        if (places[i] == SIZE_MAX && !column->may_be_empty) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"%s\" is missing; expected it in a table "
                                "with \"%s\"",
                                csv->path, csv->header_line, column->name, table->columns[0].name);
        }
    }
    return AR_OK;
}

/* False when the cell is not what the column holds. */
static bool set_field(const struct column *column, struct ar_span cell, void *target)
{
    double value, half_digit;
    uint64_t count;
    switch (column->kind) {
    case WORD:
    case TEXT:
        ar_span_copy(cell, target, column->kind == WORD ? AR_LOG_WORD : AR_LOG_TEXT);
        return cell.bytes > 0;
    case RANKS:
    case CHANNELS:
        if (!ar_span_count(cell, &count) || count > UINT32_MAX ||
            (column->kind == RANKS && count == 0)) {
            return false;
        }
        *(uint32_t *)target = (uint32_t)count;
        return true;
    case COUNT:
        return ar_span_count(cell, target);
    case WRONG:
        if (!ar_span_count(cell, &count) || count > INT64_MAX) {
            return false;
        }
        *(int64_t *)target = (int64_t)count;
        return true;
    default:
        if (!ar_span_number(cell, &value, &half_digit) || !(value > 0)) {
            return false;
        }
        *(double *)target = value * column->unit_s;
        return true;
    }
}

static enum ar_status take_cell(const struct ar_csv *csv, size_t row, size_t place,
                                const struct column *column, struct entry *entry,
                                struct ar_error *err)
{
    static const char *const expected[] = {
        [WORD] = "a word",
        [TEXT] = "a text",
        [RANKS] = "a number from 1",
        [CHANNELS] = "a whole number",
        [COUNT] = "a whole number",
        [WRONG] = "a whole number",
        [TIME] = "a time above zero",
    };
    struct ar_span cell = ar_span_of(ar_csv_cell(csv, row, place));
    bool is_absent = cell.bytes == 0 || ar_span_is(cell, "N/A");
    if ((is_absent && column->may_be_empty) ||
        set_field(column, cell, (char *)entry + column->offset)) {
        return AR_OK;
    }
    return ar_csv_cell_error(csv, row, place, expected[column->kind], err);
}

static bool is_same_run(const struct ar_log *a, const struct ar_log *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->channels == b->channels &&
           strcmp(a->tool, b->tool) == 0 && strcmp(a->algorithm, b->algorithm) == 0 &&
           strcmp(a->shape, b->shape) == 0 && strcmp(a->tier, b->tier) == 0;
}

/* The latest run that the row belongs to, else a new one. */
static enum ar_status find_run(struct ar_logs *logs, const struct entry *entry,
                               enum ar_log_format format, struct ar_log **run, struct ar_error *err)
{
    size_t nearest = logs->runs_count < RUNS_SEARCHED ? logs->runs_count : RUNS_SEARCHED;
    for (size_t i = 0; i < nearest; i++) {
        *run = &logs->runs[logs->runs_count - 1 - i];
        const char *datatype = (*run)->rows_count > 0 ? (*run)->rows[0].datatype : "";
        if (is_same_run(*run, &entry->run) && strcmp(datatype, entry->row.datatype) == 0) {
            return AR_OK;
        }
    }
    AR_TRY(ar_logs_add_run(logs, format, entry->row.line, run, err));
    struct ar_log begun = **run;
    **run = entry->run;
    (*run)->format = begun.format;
    (*run)->path = begun.path;
    (*run)->first_line = (*run)->last_line = entry->row.line;
    (*run)->collective = AR_LOG_ALL_REDUCE; /* both tables hold all-reduces only */
    (*run)->is_complete = true;
    return AR_OK;
}

/* Elements from bytes; an element size that does not divide the payload is a mistake. */
static enum ar_status count_elements(const char *path, struct ar_log_row *row, struct ar_error *err)
{
    uint64_t element_bytes = row->count;
    if (element_bytes == 0 || row->payload_bytes % element_bytes != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": column \"element_bytes\" is \"%" PRIu64
                            "\"; expected a divisor of payload_bytes, %" PRIu64,
                            path, row->line, element_bytes, row->payload_bytes);
    }
    row->count = row->payload_bytes / element_bytes;
    return AR_OK;
}

static enum ar_status take_row(struct ar_logs *logs, const struct ar_csv *csv, size_t row,
                               const struct table *table, const size_t *places,
                               struct ar_error *err)
{
    struct entry entry = {.row = ar_log_empty_row(csv->lines[row])};
    struct ar_log *run;
    for (size_t i = 0; i < table->columns_count; i++) {
        if (places[i] != SIZE_MAX) {
            AR_TRY(take_cell(csv, row, places[i], &table->columns[i], &entry, err));
        }
    }
    if (table->has_element_bytes) {
        AR_TRY(count_elements(csv->path, &entry.row, err));
    }
    AR_TRY(find_run(logs, &entry, table->format, &run, err));
    return ar_log_add_row(run, &entry.row, err);
}

static enum ar_status take_rows(struct ar_logs *logs, const struct ar_csv *csv,
                                struct ar_error *err)
{
    const struct table *table = NULL;
    size_t places[COLUMNS_MAX];
    AR_TRY(find_table(csv, &table, err));
    AR_TRY(find_columns(csv, table, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(take_row(logs, csv, row, table, places, err));
    }
    return AR_OK;
}

enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_parse(logs->path, text, bytes, AR_CSV_FACTS, &logs->arena, &csv, err));
    logs->facts = csv->directives;
    logs->facts_count = csv->directives_count;
    return take_rows(logs, csv, err);
}
