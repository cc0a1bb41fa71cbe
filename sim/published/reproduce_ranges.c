/* Which published runs are asked for, and what is not known of their clusters. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_engines.h"
#include "ar_library_engine.h"
#include "ar_text.h"
#include "reproduce_rows.h"
#include "resource.h"

enum { RANGE_CLUSTER, RANGE_KEY, RANGE_LOW, RANGE_HIGH, RANGE_SOURCE, RANGE_GIVEN, RANGE_COLUMNS };

static const char *const range_columns[] = {"cluster", "key", "low", "high", "source", "given"};

/* Whether one of the texts `KEY=...` is of a key. */
static bool is_set(const struct option_values *values, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < values->count; i++) {
        if (strncmp(values->texts[i], key, length) == 0 && values->texts[i][length] == '=') {
            return true;
        }
    }
    return false;
}

/* The same of a cell with semicolons between the texts. */
static bool cell_sets(const char *cell, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = cell; *at != '\0';) {
        at += strspn(at, " ;");
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            return true;
        }
        at += strcspn(at, ";");
    }
    return false;
}

/* What the command line says is known. */
static bool is_fixed_by_options(const struct options *options, const char *key)
{
    return (strncmp(key, "set.", 4) == 0 && is_set(&options->settings, key + 4)) ||
           (strncmp(key, "term.", 5) == 0 && is_set(&options->terms, key + 5)) ||
           (strcmp(key, "engine") == 0 && options->engine != NULL);
}

static bool is_fixed_by_row(const struct published *row, const char *key)
{
    return (strncmp(key, "set.", 4) == 0 && cell_sets(row->cells[PUBLISHED_set], key + 4)) ||
           (strncmp(key, "term.", 5) == 0 && cell_sets(row->cells[PUBLISHED_term], key + 5)) ||
           (strcmp(key, "term.jitter") == 0 && row->cells[PUBLISHED_jitter][0] != '\0');
}

/* What the prediction of a row does not react to: links, by an engine that knows none of them. */
static bool is_without_effect(const struct options *options, const struct published *row,
                              const char *key)
{
    const char *name = options->engine != NULL ? options->engine : row->cells[PUBLISHED_engine];
    const struct ar_engine *engine;
    struct ar_error ignored;
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (strcmp(range_key(&row->ranges[i]), "engine") == 0) {
            return false;
        }
    }
    return strncmp(key, "set.", 4) == 0 && ar_library_engine_ignores(key + 4) && name[0] != '\0' &&
           ar_engine_find("", name, &engine, &ignored) == AR_OK && engine->needs_library;
}

static struct range *find_range(struct published *row, const char *key)
{
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (strcmp(range_key(&row->ranges[i]), key) == 0) {
            return &row->ranges[i];
        }
    }
    return NULL;
}

static void drop_fixed(const struct options *options, struct published *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (!is_fixed_by_options(options, range_key(&row->ranges[i]))) {
            row->ranges[kept++] = row->ranges[i];
        }
    }
    row->ranges_count = kept;
}

/* A column that a line may ask for; PUBLISHED_COLUMNS_COUNT: it is none. */
static enum published_column given_column(const char *name)
{
    return strcmp(name, "images_per_s_at") == 0 ? PUBLISHED_images_per_s_at
           : strcmp(name, "framework") == 0     ? PUBLISHED_framework
                                                : PUBLISHED_COLUMNS_COUNT;
}

/* Whether a line of the file is about a row: its cluster, and a column that it must have. */
static bool concerns(const struct ar_csv *csv, size_t number, const size_t *places,
                     const struct published *row)
{
    const char *cluster = ar_csv_cell(csv, number, places[RANGE_CLUSTER]);
    const char *given =
        places[RANGE_GIVEN] == SIZE_MAX ? "" : ar_csv_cell(csv, number, places[RANGE_GIVEN]);
    if (published_is_context(row) || fnmatch(cluster, row->cells[PUBLISHED_cluster], 0) != 0) {
        return false;
    }
    return given[0] == '\0' || row->cells[given_column(given)][0] != '\0';
}

static enum ar_status parse_line(const struct ar_csv *csv, size_t number, const size_t *places,
                                 struct range *range, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    char text[RANGE_TEXT];
    const char *source = ar_csv_cell(csv, number, places[RANGE_SOURCE]);
    const char *given =
        places[RANGE_GIVEN] == SIZE_MAX ? "" : ar_csv_cell(csv, number, places[RANGE_GIVEN]);
    snprintf(where, sizeof where, "%.120s:%" PRIu64, csv->path, csv->lines[number]);
    int length = snprintf(
        text, sizeof text, "%s=%s..%s", ar_csv_cell(csv, number, places[RANGE_KEY]),
        ar_csv_cell(csv, number, places[RANGE_LOW]), ar_csv_cell(csv, number, places[RANGE_HIGH]));
    if (source[0] == '\0') {
        return ar_csv_cell_error(csv, number, places[RANGE_SOURCE],
                                 "where the ends of the range are from", err);
    }
    if (given[0] != '\0' && given_column(given) == PUBLISHED_COLUMNS_COUNT) {
        return ar_csv_cell_error(csv, number, places[RANGE_GIVEN],
                                 "images_per_s_at, framework, or nothing", err);
    }
    if (length >= (int)sizeof text) {
        return ar_csv_cell_error(csv, number, places[RANGE_KEY], "shorter texts", err);
    }
    return range_parse(where, text, source, range, err);
}

/* Adds a range to a row that it concerns, or puts it in the place of one of the file that is more
 * general; lines of a file go from the general to the special. */
static enum ar_status add(const struct range *range, struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    struct range *old = find_range(row, range_key(range));
    if (old != NULL) {
        if (strcmp(old->source, "row") != 0) {
            *old = *range;
        }
        return AR_OK;
    }
    if (row->ranges_count == RANGES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found more than %d ranges",
                            published_where(row, where), RANGES_MAX);
    }
    row->ranges[row->ranges_count++] = *range;
    return AR_OK;
}

/* Lines that hold for fewer rows come later: any cluster, a cluster, those with a given column. */
static enum ar_status add_lines(const struct ar_csv *csv, const size_t *places,
                                const struct options *options, struct published_rows *rows,
                                struct ar_error *err)
{
    struct range range;
    enum ar_status status = AR_OK;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; status == AR_OK && i < csv->rows_count; i++) {
            bool is_given = places[RANGE_GIVEN] != SIZE_MAX &&
                            ar_csv_cell(csv, i, places[RANGE_GIVEN])[0] != '\0';
            bool is_any = strcmp(ar_csv_cell(csv, i, places[RANGE_CLUSTER]), "*") == 0;
            if (pass != (is_given ? 2 : is_any ? 0 : 1)) {
                continue;
            }
            status = parse_line(csv, i, places, &range, err);
            bool is_free = status == AR_OK && !is_fixed_by_options(options, range_key(&range));
            for (size_t j = 0; is_free && status == AR_OK && j < rows->count; j++) {
                struct published *row = &rows->rows[j];
                const char *key = range_key(&range);
                if (concerns(csv, i, places, row) && !is_fixed_by_row(row, key) &&
                    !is_without_effect(options, row, key)) {
                    status = add(&range, row, err);
                }
            }
        }
    }
    return status;
}

enum ar_status published_add_ranges(const char *path, const struct options *options,
                                    struct published_rows *rows, struct ar_error *err)
{
    size_t places[RANGE_COLUMNS];
    struct ar_csv *csv;
    enum ar_status status = ar_csv_load(path, &csv, err);
    if (status != AR_OK) {
        return status;
    }
    size_t count = RANGE_COLUMNS - !ar_csv_has_column(csv, range_columns[RANGE_GIVEN]);
    places[RANGE_GIVEN] = SIZE_MAX;
    status = ar_csv_find_columns(csv, range_columns, count, places, err);
    if (status == AR_OK) {
        status = add_lines(csv, places, options, rows, err);
    }
    ar_csv_destroy(csv);
    return status;
}

/* Reads the files that are named, or all that are shipped. */
static enum ar_status read_files(const struct options *options, struct published_rows *rows,
                                 struct ar_error *err)
{
    char names[RESOURCE_NAMES_MAX][64];
    char path[RESOURCE_PATH];
    enum ar_status status = AR_OK;
    bool is_named = options->arguments_count > 0;
    size_t count = is_named ? options->arguments_count : resource_names(RESOURCE_PUBLISHED, names);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        if (!is_named && strcmp(names[i], "ranges") == 0) {
            continue;
        }
        status = resource_find(RESOURCE_PUBLISHED, "reproduce",
                               is_named ? options->arguments[i] : names[i], path, err);
        if (status == AR_OK) {
            status = published_read_file(path, rows, err);
        }
    }
    return status;
}

/* Keeps the rows whose names are asked for. */
static enum ar_status pick_rows(const char *pattern, struct published_rows *rows,
                                struct ar_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; pattern != NULL && i < rows->count; i++) {
        if (fnmatch(pattern, rows->rows[i].cells[PUBLISHED_row], 0) == 0) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    size_t all = rows->count;
    rows->count = pattern != NULL ? kept : all;
    if (rows->count > 0) {
        return AR_OK;
    }
    return pattern != NULL && all > 0
               ? ar_error_set(err, AR_USAGE,
                              "--rows: found \"%.60s\"; expected the name of one of the %zu rows, "
                              "or a pattern such as \"sony*\"",
                              pattern, all)
               : ar_error_set(err, AR_BAD_DATA, "reproduce: found no rows in the files");
}

enum ar_status published_read(const struct options *options, struct published_rows *rows,
                              struct ar_error *err)
{
    char path[RESOURCE_PATH];
    *rows = (struct published_rows){.count = 0};
    enum ar_status status = read_files(options, rows, err);
    if (status == AR_OK) {
        status = pick_rows(options->rows, rows, err);
    }
    for (size_t i = 0; status == AR_OK && i < rows->count; i++) {
        drop_fixed(options, &rows->rows[i]);
    }
    if (status == AR_OK) {
        status = resource_find(RESOURCE_PUBLISHED, "reproduce", "ranges", path, err);
    }
    return status == AR_OK ? published_add_ranges(path, options, rows, err) : status;
}
