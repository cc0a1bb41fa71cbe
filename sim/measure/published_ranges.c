/* Which published runs are asked for, and what is not known of their clusters. */
#include <fnmatch.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_kind.h"
#include "ar_library_engine.h"
#include "published.h"
#include "resource.h"

/* The shipped file of what is not known of clusters, for all rows. */
static const char ranges_name[] = "ranges";

/* What a row must have for a line to count. */
enum given { GIVEN_NOTHING, GIVEN_RATE, GIVEN_FRAMEWORK };
static const char *const given_names[] = {"", "samples_per_s_at", "framework", NULL};
static const enum ar_key given_keys[] = {AR_KEYS_COUNT, AR_KEY_SAMPLES_PER_S_AT, AR_KEY_FRAMEWORK};

/* A line of that file. */
struct line {
    const char *cluster;
    const char *key;
    const char *low;
    const char *high;
    const char *source;
    enum given given;
    struct range range;
};

#define LINE(kind, field, ...) AR_COLUMN(kind, struct line, field, #field, __VA_ARGS__)
static const struct ar_column line_columns[] = {
    LINE(string, cluster, "a cluster, or a pattern of names"),
    LINE(string, key, "a parameter"),
    LINE(string, low, "the lower end"),
    LINE(string, high, "the upper end"),
    LINE(string, source, "where the ends of the range are from"),
    LINE(choice, given, "samples_per_s_at, framework, or nothing", .names = given_names,
         .may_be_missing = true, .may_be_empty = true),
};

/* What the prediction of a row does not react to: links, by an engine that knows none of them. */
static bool is_without_effect(const struct published *row, const struct range *range)
{
    const struct ar_engine *engine = row->scenario.engine;
    return range->key == AR_KEY_SET && engine->needs_library &&
           ar_library_engine_ignores(engine, range->setting) &&
           range_find(row->ranges, row->ranges_count, AR_KEY_ENGINE, NULL) == NULL;
}

/* The jitter of a row that has it in a column of its own. */
static bool is_jitter(const struct published *row, const struct range *range)
{
    return range->key == AR_KEY_TERM && ar_scenario_has(&row->scenario, AR_KEY_JITTER) &&
           strcmp(range->setting, ar_terms[AR_TERM_JITTER].key) == 0;
}

/* What a row that is laid out on a mesh has not: framework and trace. */
static bool is_of_traces(const struct published *row, const struct range *range)
{
    return ar_scenario_kind(&row->scenario)->has_layout && ar_key_is(range->key, AR_KEY_OF_STEP);
}

static bool concerns(const struct line *line, const struct published *row)
{
    const struct ar_scenario *scenario = &row->scenario;
    return !published_is_context(row) && fnmatch(line->cluster, scenario->cluster_name, 0) == 0 &&
           (line->given == GIVEN_NOTHING || ar_scenario_has(scenario, given_keys[line->given])) &&
           !range_is_fixed(&line->range, scenario) && !is_jitter(row, &line->range) &&
           !is_without_effect(row, &line->range) && !is_of_traces(row, &line->range);
}

/* Adds a range to a row that it concerns, or puts it in the place of one of the file that is more
 * general; lines of a file go from the general to the special. */
static enum ar_status add(const struct range *range, struct published *row, struct ar_error *err)
{
    struct range *old = range_find(row->ranges, row->ranges_count, range->key, range->setting);
    if (old != NULL) {
        *old = strcmp(old->source, "row") != 0 ? *range : *old;
        return AR_OK;
    }
    if (row->ranges_count == RANGES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found more than %d ranges", row->where,
                            RANGES_MAX);
    }
    row->ranges[row->ranges_count++] = *range;
    return AR_OK;
}

/* Lines that hold for fewer rows come later: any cluster, a cluster, those with a given key. */
static int pass_of(const struct line *line)
{
    return line->given != GIVEN_NOTHING ? 2 : strcmp(line->cluster, "*") == 0 ? 0 : 1;
}

static enum ar_status read_lines(const char *path, struct ar_arena *arena, struct line **lines,
                                 size_t *count, struct ar_error *err)
{
    char where[AR_CSV_WHERE];
    char text[RANGE_VALUE + 1];
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct line *read = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *read);
    AR_NEED(read, err, path);
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(line_columns), read, sizeof *read, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        snprintf(text, sizeof text, "%s=%s..%s", read[i].key, read[i].low, read[i].high);
        AR_TRY(range_parse(arena, ar_csv_where(csv, i, where), text, read[i].source, &read[i].range,
                           err));
    }
    *lines = read;
    *count = csv->rows_count;
    return AR_OK;
}

static enum ar_status add_ranges(const char *path, struct ar_arena *arena,
                                 const struct published_rows *rows, struct ar_error *err)
{
    struct line *lines = NULL;
    size_t count = 0;
    AR_TRY(read_lines(path, arena, &lines, &count, err));
    for (size_t i = 0; i < 3 * count; i++) {
        const struct line *line = &lines[i % count];
        for (size_t j = 0; pass_of(line) == (int)(i / count) && j < rows->count; j++) {
            if (concerns(line, &rows->rows[j])) {
                AR_TRY(add(&line->range, &rows->rows[j], err));
            }
        }
    }
    return AR_OK;
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
            AR_TRY(published_read_file(path, &request->given, rows, err));
        }
    }
    return AR_OK;
}

/* Keeps the rows whose names are asked for. */
static enum ar_status pick_rows(const char *pattern, struct published_rows *rows,
                                struct ar_error *err)
{
    size_t all = rows->count;
    rows->count = 0;
    for (size_t i = 0; i < all; i++) {
        if (pattern == NULL || fnmatch(pattern, rows->rows[i].name, 0) == 0) {
            rows->rows[rows->count++] = rows->rows[i];
        }
    }
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

enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err)
{
    char path[RESOURCE_PATH];
    *rows = (struct published_rows){.count = 0};
    AR_TRY(read_files(request, rows, err));
    AR_TRY(pick_rows(request->pattern, rows, err));
    AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", ranges_name, path, err));
    return add_ranges(path, request->given.arena, rows, err);
}
