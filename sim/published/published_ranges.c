/* Which published runs are asked for, and what is not known of their clusters. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_text.h"
#include "published_rows.h"
#include "resource.h"

enum { RANGE_CLUSTER, RANGE_KEY, RANGE_LOW, RANGE_HIGH, RANGE_SOURCE, RANGE_GIVEN, RANGE_COLUMNS };

/* The shipped file of what is not known of clusters, for all rows. */
static const char ranges_name[] = "ranges";

static const char *const range_columns[] = {"cluster", "key", "low", "high", "source", "given"};

/* Whether one of the texts `KEY=...` is of a key. */
static bool is_set(const struct ar_settings *settings, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < settings->count; i++) {
        const char *text = settings->list[i].text;
        if (strncmp(text, key, length) == 0 && text[length] == '=') {
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

/* What the request says is known. */
static bool is_fixed_by_request(const struct published_request *request, const struct range *range)
{
    const struct ar_scenario *given = &request->given;
    if (range->setting != NULL) {
        return is_set(range->key == AR_KEY_SET ? &given->settings : &given->terms, range->setting);
    }
    return range->key != AR_KEYS_COUNT && ar_scenario_has(given, range->key);
}

static bool is_fixed_by_row(const struct published *row, const struct range *range)
{
    if (range->setting == NULL) {
        return false;
    }
    bool is_jitter = range->key == AR_KEY_TERM &&
                     strcmp(range->setting, ar_term_key(AR_TERM_JITTER)) == 0 &&
                     row->keys[AR_KEY_JITTER][0] != '\0';
    return is_jitter || cell_sets(row->keys[range->key], range->setting);
}

/* What the prediction of a row does not react to: links, by an engine that knows none of them. */
static bool is_without_effect(const struct published_request *request, const struct published *row,
                              const struct range *range)
{
    const struct ar_engine *engine = request->given.engine;
    struct ar_error ignored;
    if (range->key != AR_KEY_SET || !ar_library_engine_ignores(range->setting)) {
        return false;
    }
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (range_is_of(&row->ranges[i], AR_KEY_ENGINE)) {
            return false;
        }
    }
    if (!ar_scenario_has(&request->given, AR_KEY_ENGINE) &&
        (row->keys[AR_KEY_ENGINE][0] == '\0' ||
         ar_engine_find("", row->keys[AR_KEY_ENGINE], &engine, &ignored) != AR_OK)) {
        return false;
    }
    return engine->needs_library;
}

static struct range *find_range(struct published *row, const struct range *range)
{
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (range_is_same(&row->ranges[i], range)) {
            return &row->ranges[i];
        }
    }
    return NULL;
}

static void drop_fixed(const struct published_request *request, struct published *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (!is_fixed_by_request(request, &row->ranges[i])) {
            row->ranges[kept++] = row->ranges[i];
        }
    }
    row->ranges_count = kept;
}

/* A column that a line may ask for; AR_KEYS_COUNT: it is none. */
static enum ar_key given_key(const char *name)
{
    enum ar_key key = ar_key_find(name);
    return key == AR_KEY_IMAGES_PER_S_AT || key == AR_KEY_FRAMEWORK ? key : AR_KEYS_COUNT;
}

/* Whether a line of the file is about a row: its cluster, and a column that it must have. */
static bool concerns(const struct ar_csv *csv, size_t number, const size_t *places,
                     const struct published *row)
{
    const char *cluster = ar_csv_cell(csv, number, places[RANGE_CLUSTER]);
    const char *given =
        places[RANGE_GIVEN] == SIZE_MAX ? "" : ar_csv_cell(csv, number, places[RANGE_GIVEN]);
    if (published_is_context(row) || fnmatch(cluster, row->keys[AR_KEY_CLUSTER], 0) != 0) {
        return false;
    }
    return given[0] == '\0' || row->keys[given_key(given)][0] != '\0';
}

static enum ar_status parse_line(struct ar_arena *arena, const struct ar_csv *csv, size_t number,
                                 const size_t *places, struct range *range, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    char text[RANGE_VALUE];
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
    if (given[0] != '\0' && given_key(given) == AR_KEYS_COUNT) {
        return ar_csv_cell_error(csv, number, places[RANGE_GIVEN],
                                 "images_per_s_at, framework, or nothing", err);
    }
    if (length >= (int)sizeof text) {
        return ar_csv_cell_error(csv, number, places[RANGE_KEY], "shorter texts", err);
    }
    return range_parse(arena, where, text, source, range, err);
}

/* Adds a range to a row that it concerns, or puts it in the place of one of the file that is more
 * general; lines of a file go from the general to the special. */
static enum ar_status add(const struct range *range, struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    struct range *old = find_range(row, range);
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
static int pass_of(const struct ar_csv *csv, size_t number, const size_t *places)
{
    bool is_given =
        places[RANGE_GIVEN] != SIZE_MAX && ar_csv_cell(csv, number, places[RANGE_GIVEN])[0] != '\0';
    bool is_any = strcmp(ar_csv_cell(csv, number, places[RANGE_CLUSTER]), "*") == 0;
    return is_given ? 2 : is_any ? 0 : 1;
}

static enum ar_status add_line(const struct ar_csv *csv, size_t number, const size_t *places,
                               const struct published_request *request, struct published_rows *rows,
                               struct ar_error *err)
{
    struct range range;
    AR_TRY(parse_line(&rows->arena, csv, number, places, &range, err));
    if (is_fixed_by_request(request, &range)) {
        return AR_OK;
    }
    for (size_t i = 0; i < rows->count; i++) {
        struct published *row = &rows->rows[i];
        if (concerns(csv, number, places, row) && !is_fixed_by_row(row, &range) &&
            !is_without_effect(request, row, &range)) {
            AR_TRY(add(&range, row, err));
        }
    }
    return AR_OK;
}

static enum ar_status add_lines(const struct ar_csv *csv, const struct published_request *request,
                                struct published_rows *rows, struct ar_error *err)
{
    size_t places[RANGE_COLUMNS];
    size_t count = RANGE_COLUMNS - !ar_csv_has_column(csv, range_columns[RANGE_GIVEN]);
    places[RANGE_GIVEN] = SIZE_MAX;
    AR_TRY(ar_csv_find_columns(csv, range_columns, count, places, err));
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < csv->rows_count; i++) {
            if (pass_of(csv, i, places) == pass) {
                AR_TRY(add_line(csv, i, places, request, rows, err));
            }
        }
    }
    return AR_OK;
}

enum ar_status published_add_ranges(const char *path, const struct published_request *request,
                                    struct published_rows *rows, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, &rows->arena, &csv, err));
    return add_lines(csv, request, rows, err);
}

/* Reads the files that are named, or all that are shipped. */
static enum ar_status read_files(const struct published_request *request,
                                 struct published_rows *rows, struct ar_error *err)
{
    char names[RESOURCE_NAMES_MAX][64];
    char path[RESOURCE_PATH];
    bool is_named = request->files_count > 0;
    size_t count = is_named ? request->files_count : resource_names(RESOURCE_PUBLISHED, names);
    for (size_t i = 0; i < count; i++) {
        const char *name = is_named ? request->files[i] : names[i];
        if (is_named || strcmp(name, ranges_name) != 0) {
            AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", name, path, err));
            AR_TRY(published_read_file(path, rows, err));
        }
    }
    return AR_OK;
}

/* Keeps the rows whose names are asked for. */
static enum ar_status pick_rows(const char *pattern, struct published_rows *rows,
                                struct ar_error *err)
{
    size_t kept = 0;
    size_t all = rows->count;
    for (size_t i = 0; i < all; i++) {
        if (pattern == NULL || fnmatch(pattern, rows->rows[i].cells[PUBLISHED_row], 0) == 0) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
    if (kept > 0) {
        return AR_OK;
    }
    return pattern != NULL && all > 0
               ? ar_error_set(err, AR_USAGE,
                              "--rows: found \"%.60s\"; expected the name of one of the %zu rows, "
                              "or a pattern such as \"sony*\"",
                              pattern, all)
               : ar_error_set(err, AR_BAD_DATA, "reproduce: found no rows in the files");
}

enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err)
{
    char path[RESOURCE_PATH];
    *rows = (struct published_rows){.count = 0};
    AR_TRY(read_files(request, rows, err));
    AR_TRY(pick_rows(request->pattern, rows, err));
    for (size_t i = 0; i < rows->count; i++) {
        drop_fixed(request, &rows->rows[i]);
    }
    AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", ranges_name, path, err));
    return published_add_ranges(path, request, rows, err);
}
