#include "ar_plot_table.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a cell may hold. */
enum content {
    TEXT,
    STATUS, /* `ok`; other rows are skipped and counted */
    SAME,   /* text that all rows agree on */
    NAME,   /* plain ASCII without blanks: compared with names in scripts */
    SHAPE,  /* the same, or empty */
    COUNT,  /* from here on numbers, COUNT and BYTES whole ones */
    BYTES,
    DURATION,
    POSITIVE,
    FRACTION,
    NUMBER
};

/* Bits of files. */
enum {
    STEPS = 1 << AR_PLOT_STEPS,
    COLLECTIVES = 1 << AR_PLOT_COLLECTIVES,
    COMPARED = 1 << AR_PLOT_COMPARED,
    RESULTS = 1 << AR_PLOT_RESULTS,
    CURVES = 1 << AR_PLOT_CURVES,
    CHANGES = 1 << AR_PLOT_CHANGES,
    SWEEPS = STEPS | COLLECTIVES
};

static const struct {
    const char *name;
    enum content content;
    unsigned files;    /* that have it, */
    unsigned optional; /* may be without, */
    unsigned empty;    /* may have no number, or name, there */
} columns[AR_COLS] = {
    [AR_COL_STATUS] = {"status", STATUS, SWEEPS, 0, 0},
    [AR_COL_CLUSTER] = {"cluster", SAME, SWEEPS, 0, 0},
    [AR_COL_TRACE] = {"trace", SAME, STEPS, 0, 0},
    [AR_COL_BASELINE] = {"baseline", SAME, STEPS, 0, 0},
    [AR_COL_BATCH] = {"batch_per_gpu", COUNT, STEPS, 0, 0},
    [AR_COL_PRECISION] = {"precision", TEXT, SWEEPS, COLLECTIVES, 0},
    [AR_COL_SCALE] = {"gradient_scale", POSITIVE, STEPS, STEPS, 0},
    [AR_COL_WIRE] = {"wire", TEXT, STEPS, STEPS, 0},
    [AR_COL_FRAMEWORK] = {"framework", TEXT, STEPS, STEPS, 0},
    [AR_COL_SETTINGS] = {"settings", TEXT, SWEEPS, SWEEPS, 0},
    [AR_COL_JITTER] = {"jitter_frac", TEXT, STEPS, STEPS, 0},
    [AR_COL_SEED] = {"seed", TEXT, STEPS, STEPS, 0},
    [AR_COL_BUCKET] = {"bucket", TEXT, STEPS, STEPS, 0},
    [AR_COL_CHANNELS] = {"channels", TEXT, SWEEPS, SWEEPS, 0},
    [AR_COL_WINDOW] = {"window", TEXT, SWEEPS, SWEEPS, 0},
    [AR_COL_ALGORITHM] = {"algorithm", NAME, SWEEPS | RESULTS | CURVES, 0, RESULTS},
    [AR_COL_ENGINE] = {"engine", NAME, SWEEPS, 0, 0},
    [AR_COL_EXACT] = {"exact", TEXT, SWEEPS, SWEEPS, 0},
    [AR_COL_SHAPE] = {"shape", SHAPE, SWEEPS, 0, 0},
    [AR_COL_NODES] = {"nodes", COUNT, COMPARED, 0, 0},
    [AR_COL_GPUS] = {"gpus", COUNT, SWEEPS | COMPARED | RESULTS | CURVES, 0, RESULTS},
    [AR_COL_PAYLOAD] = {"payload_bytes", BYTES, SWEEPS | COMPARED, 0, 0},
    [AR_COL_ITERATION] = {"iteration_s", POSITIVE, STEPS, 0, 0},
    [AR_COL_ALLREDUCE] = {"allreduce_s", DURATION, SWEEPS, 0, 0},
    [AR_COL_EXPOSED] = {"exposed_s", DURATION, STEPS, 0, 0},
    [AR_COL_FORWARD] = {"forward_s", DURATION, STEPS, 0, 0},
    [AR_COL_BACKWARD] = {"backward_s", DURATION, STEPS, 0, 0},
    [AR_COL_OPTIMIZER] = {"optimizer_s", DURATION, STEPS, 0, 0},
    [AR_COL_OVERHEAD] = {"overhead_s", DURATION, STEPS, 0, 0},
    [AR_COL_INPUT_WAIT] = {"input_wait_s", DURATION, STEPS, STEPS, 0},
    [AR_COL_IMAGES] = {"images_per_s", POSITIVE, STEPS, 0, 0},
    [AR_COL_EFFICIENCY] = {"efficiency_frac", FRACTION, STEPS, 0, 0},
    [AR_COL_SET] = {"set", NAME, COMPARED, 0, 0},
    [AR_COL_MEASURED_S] = {"measured_s", POSITIVE, COMPARED, 0, 0},
    [AR_COL_PREDICTED_S] = {"predicted_s", POSITIVE, COMPARED, 0, 0},
    [AR_COL_LOW_S] = {"low_s", POSITIVE, COMPARED, 0, COMPARED},
    [AR_COL_HIGH_S] = {"high_s", POSITIVE, COMPARED, 0, COMPARED},
    [AR_COL_ERROR] = {"error_frac", NUMBER, COMPARED, 0, 0},
    [AR_COL_ROW] = {"row", TEXT, RESULTS | CHANGES, 0, 0},
    [AR_COL_TITLE] = {"title", TEXT, RESULTS, 0, 0},
    [AR_COL_QUANTITY] = {"quantity", NAME, RESULTS | CURVES, 0, 0},
    [AR_COL_MEASURED] = {"measured", POSITIVE, RESULTS, 0, RESULTS},
    [AR_COL_PREDICTED] = {"predicted", POSITIVE, RESULTS, 0, RESULTS},
    [AR_COL_LOW] = {"low", POSITIVE, RESULTS | CURVES, 0, RESULTS | CURVES},
    [AR_COL_HIGH] = {"high", POSITIVE, RESULTS | CURVES, 0, RESULTS | CURVES},
    [AR_COL_INSIDE] = {"inside", TEXT, RESULTS, 0, 0},
    [AR_COL_CURVE] = {"curve", TEXT, CURVES, 0, 0},
    [AR_COL_VALUE] = {"value", POSITIVE, CURVES, 0, 0},
    [AR_COL_ASSUMPTION] = {"assumption", TEXT, CHANGES, 0, 0},
    [AR_COL_ASSUMED] = {"value", TEXT, CHANGES, 0, 0},
    [AR_COL_CHANGE] = {"change_frac", NUMBER, CHANGES, 0, 0},
};

const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES] = {
    [AR_PLOT_STEPS] = {"sweep.csv", AR_PLOT_SWEEP, true},
    [AR_PLOT_COLLECTIVES] = {"payload.csv", AR_PLOT_SWEEP, false},
    [AR_PLOT_COMPARED] = {"compare.csv", AR_PLOT_COMPARE, true},
    [AR_PLOT_RESULTS] = {"reproduce.csv", AR_PLOT_PUBLISHED, false},
    [AR_PLOT_CURVES] = {"curves.csv", AR_PLOT_PUBLISHED, false},
    [AR_PLOT_CHANGES] = {"sensitivity.csv", AR_PLOT_PUBLISHED, false},
};

struct reader {
    const struct ar_csv *csv;
    unsigned file;      /* its bit */
    const char **texts; /* the distinct texts of the column being read */
    size_t texts_count;
};

/* --- columns ------------------------------------------------------------------------------ */

static enum ar_status find_columns(const struct reader *reader, const char *expected,
                                   size_t places[AR_COLS], struct ar_error *err)
{
    const char *names[AR_COLS];
    size_t found[AR_COLS];
    size_t count = 0;
    for (size_t i = 0; i < AR_COLS; i++) {
        places[i] = SIZE_MAX;
        if ((columns[i].files & reader->file) != 0) {
            names[count++] = columns[i].name;
        }
    }
    AR_TRY(ar_csv_place_columns(reader->csv, names, count, AR_CSV_AS_THERE_ARE, found, err));
    count = 0;
    for (size_t i = 0; i < AR_COLS; i++) {
        if ((columns[i].files & reader->file) == 0) {
            continue;
        }
        places[i] = found[count++];
        if (places[i] == SIZE_MAX && (columns[i].optional & reader->file) == 0) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%llu: column \"%s\" is missing in the header; expected the "
                                "columns of a %s",
                                reader->csv->path, (unsigned long long)reader->csv->header_line,
                                columns[i].name, expected);
        }
    }
    return AR_OK;
}

/* --- cells -------------------------------------------------------------------------------- */

/* Names go into gnuplot's data files, whose reader knows no doubled quotes, and are compared there
 * with words of the script. */
static bool is_plain_name(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == ',') {
            return false;
        }
    }
    return true;
}

/* The number of a text: how many other texts of the column came before it. */
static double number_text(struct reader *reader, const char *text)
{
    size_t i = 0;
    while (i < reader->texts_count && strcmp(reader->texts[i], text) != 0) {
        i++;
    }
    if (i == reader->texts_count) {
        reader->texts[reader->texts_count++] = text;
    }
    return (double)i;
}

static double grid_x(const char *shape)
{
    unsigned x;
    unsigned y;
    int end = 0;
    bool is_grid = sscanf(shape, "%9ux%9u%n", &x, &y, &end) == 2 && shape[end] == '\0';
    return is_grid && x > 0 && y > 0 ? x : 0;
}

static enum ar_status read_text(struct reader *reader, size_t row, size_t place,
                                enum content content, bool may_be_empty, double *value,
                                struct ar_error *err)
{
    const char *text = ar_csv_cell(reader->csv, row, place);
    char expected[160];
    *value = number_text(reader, text);
    if (content == SAME && *value > 0) {
        snprintf(expected, sizeof expected,
                 "\"%.60s\" as in the rows before (pictures compare like with like)",
                 reader->texts[0]);
        return ar_csv_cell_error(reader->csv, row, place, expected, err);
    }
    if (content == NAME && ((text[0] == '\0' && !may_be_empty) || !is_plain_name(text))) {
        return ar_csv_cell_error(reader->csv, row, place,
                                 "a name in ASCII without blanks, quotes and commas", err);
    }
    if (content == SHAPE && !is_plain_name(text)) {
        return ar_csv_cell_error(reader->csv, row, place, "a shape such as 32x32, or -", err);
    }
    *value = content == SHAPE ? grid_x(text) : *value;
    return AR_OK;
}

static enum ar_status read_number(const struct reader *reader, size_t row, size_t place,
                                  enum content content, double *value, struct ar_error *err)
{
    static const struct {
        double min;
        const char *expected;
    } kinds[] = {
        [COUNT] = {1, "a whole number of at least 1"},
        [BYTES] = {0, "a whole number of bytes"},
        [DURATION] = {0, "seconds >= 0"},
        [POSITIVE] = {DBL_MIN, "a number above 0"},
        [FRACTION] = {0, "a fraction >= 0"},
        [NUMBER] = {-DBL_MAX, "a number"},
    };
    double min = kinds[content].min;
    if (content > BYTES) {
        return ar_csv_number(reader->csv, row, place, min, DBL_MAX, kinds[content].expected, value,
                             err);
    }
    uint64_t count = 0; /* beyond 2^53 neither CSV readers nor gnuplot keep a count exact */
    AR_TRY(ar_csv_count(reader->csv, row, place, (uint64_t)min, UINT64_C(1) << 53,
                        kinds[content].expected, &count, err));
    *value = (double)count;
    return AR_OK;
}

static enum ar_status read_column(struct reader *reader, enum ar_plot_column column,
                                  const struct ar_plot_table *table, struct ar_error *err)
{
    enum content content = columns[column].content;
    size_t place = table->places[column];
    bool may_be_empty = (columns[column].empty & reader->file) != 0;
    reader->texts_count = 0;
    for (size_t i = 0; place != SIZE_MAX && i < table->rows.count; i++) {
        size_t row = table->rows.rows[i];
        double *value = &table->values[row * AR_COLS + column];
        if (content < COUNT) {
            AR_TRY(read_text(reader, row, place, content, may_be_empty, value, err));
        } else if (may_be_empty && ar_csv_cell(reader->csv, row, place)[0] == '\0') {
            *value = NAN;
        } else {
            AR_TRY(read_number(reader, row, place, content, value, err));
        }
    }
    return AR_OK;
}

/* --- rows --------------------------------------------------------------------------------- */

static enum ar_status list_rows(struct ar_plot_table *table, struct ar_error *err)
{
    const struct ar_csv *csv = table->csv;
    size_t status = table->places[AR_COL_STATUS];
    for (size_t row = 0; row < csv->rows_count; row++) {
        if (status == SIZE_MAX || strcmp(ar_csv_cell(csv, row, status), "ok") == 0) {
            table->rows.rows[table->rows.count++] = row;
        } else if (table->failed_count++ == 0) {
            table->failed_line = csv->lines[row];
        }
    }
    if (table->rows.count > 0 || status == SIZE_MAX) {
        return AR_OK;
    }
    if (table->failed_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a header and no rows; expected one row at least", csv->path);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%llu: column \"status\" is not ok here nor in any other row (%llu); "
                        "expected one ok row at least",
                        csv->path, (unsigned long long)table->failed_line,
                        (unsigned long long)table->failed_count);
}

enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    struct ar_csv *csv = NULL;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_plot_table result = {.csv = csv};
    struct reader reader = {.csv = csv, .file = 1u << file};
    result.values = ar_arena_alloc(arena, (csv->rows_count + 1) * AR_COLS, sizeof(double));
    result.rows.rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *result.rows.rows);
    reader.texts = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *reader.texts);
    if (result.values == NULL || result.rows.rows == NULL || reader.texts == NULL) {
        return ar_error_no_memory(err, path);
    }
    AR_TRY(find_columns(&reader, ar_plot_sources[file].name, result.places, err));
    AR_TRY(list_rows(&result, err));
    for (size_t column = 0; column < AR_COLS; column++) {
        AR_TRY(read_column(&reader, (enum ar_plot_column)column, &result, err));
    }
    *table = result;
    return AR_OK;
}

/* --- questions ---------------------------------------------------------------------------- */

const char *ar_plot_column_name(enum ar_plot_column column)
{
    return columns[column].name;
}

double ar_plot_value(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    return table->values[row * AR_COLS + column];
}

const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    size_t place = table->places[column];
    return place == SIZE_MAX ? "" : ar_csv_cell(table->csv, row, place);
}
