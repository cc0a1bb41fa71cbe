/* What is said of reproduced runs: a table for people, CSV, JSON, the files of pictures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_output.h"
#include "ar_record.h"
#include "reproduce.h"
#include "resource.h"

/* clang-format off */
#define ROW_COLUMNS(X)                                                                             \
    X(number, measured_error, "half width of what was measured")                                   \
    X(string, how_read,       "how it was read at its source")                                     \
    X(string, row,            "name of the published row", .heading = "row")                       \
    X(string, title,          "what it is")                                                        \
    X(string, quantity,       "what was measured", .heading = "quantity")                          \
    X(string, unit,           "of the quantity")                                                   \
    X(count,  gpus,           "of the run", .heading = "gpus")                                     \
    X(string, algorithm,      "of the all-reduces")                                                \
    X(number, measured,       "as published", .heading = "measured", .decimals = 2)                \
    X(number, predicted,      "by the row's own values", .heading = "predicted", .decimals = 2)    \
    X(number, low,            "of the band of predictions", .heading = "low", .decimals = 2)       \
    X(number, high,           "its upper end", .heading = "high", .decimals = 2)                   \
    X(number, error_frac,     "predicted / measured - 1", .heading = "error (%)", .factor = 100,   \
      .decimals = 1, .is_signed = true)                                                            \
    X(string, inside,         "whether the band meets what was measured", .heading = "")           \
    X(string, source,         "where the number is from")                                          \
    X(string, assumptions,    "what is drawn for the band")

#define CHANGE_COLUMNS(X)                                                                          \
    X(string, row,         "name of the published row", .heading = "row")                          \
    X(string, assumption,  "what is changed", .heading = "parameter")                              \
    X(string, value,       "what to", .heading = "value")                                          \
    X(number, predicted,   "with it", .heading = "predicted", .decimals = 2)                       \
    X(number, change_frac, "against the row's own value", .heading = "change (%)", .factor = 100,  \
      .decimals = 2, .is_signed = true)

#define POINT_COLUMNS(X)                                                                           \
    X(string, curve,     "row and algorithm")                                                      \
    X(string, algorithm, "of the all-reduces")                                                     \
    X(string, quantity,  "as in the row")                                                          \
    X(count,  gpus,      "of the point")                                                           \
    X(number, value,     "predicted; empty: no run there")                                         \
    X(number, low,       "none: curves have no band")                                              \
    X(number, high,      "none")
/* clang-format on */

#define FIELD(kind, name, ...) ar_cell_##kind name;
struct row {
    ROW_COLUMNS(FIELD)
};
struct change {
    CHANGE_COLUMNS(FIELD)
};
struct point {
    POINT_COLUMNS(FIELD)
};

#define ROW_COLUMN(kind, name, ...) AR_COLUMN(kind, struct row, name, #name, __VA_ARGS__),
static const struct ar_column row_columns[] = {ROW_COLUMNS(ROW_COLUMN)};

/* CSV is without the first columns, JSON without the last, which is a list of its own there. */
enum { JSON_ONLY = 2, ROW_COLUMNS_COUNT = sizeof row_columns / sizeof row_columns[0] };
static const struct ar_columns csv_columns = {row_columns + JSON_ONLY,
                                              ROW_COLUMNS_COUNT - JSON_ONLY};
static const struct ar_columns json_columns = {row_columns, ROW_COLUMNS_COUNT - 1};

#define CHANGE_COLUMN(kind, name, ...) AR_COLUMN(kind, struct change, name, #name, __VA_ARGS__),
static const struct ar_column change_columns[] = {CHANGE_COLUMNS(CHANGE_COLUMN)};
#define POINT_COLUMN(kind, name, ...) AR_COLUMN(kind, struct point, name, #name, __VA_ARGS__),
static const struct ar_column point_columns[] = {POINT_COLUMNS(POINT_COLUMN)};

/* Members of the JSON document beside its lists. */
static const struct ar_column range_columns[] = {
    AR_COLUMN(string, struct range, text, "range", "as written"),
    AR_COLUMN(string, struct range, source, "source", "of its ends"),
};
static const struct ar_column draw_columns[] = {
    AR_COLUMN(count, struct reproduction, samples_count, "samples", "draws of a band"),
    AR_COLUMN(count, struct reproduction, seed, "seed", "of the draws"),
};
#define SUMMARY(kind, field, name, help)                                                           \
    AR_COLUMN(kind, struct reproduce_summary, field, name, help)
static const struct ar_column summary_columns[] = {
    SUMMARY(count, judged, "judged", "rows with a prediction"),
    SUMMARY(count, inside, "inside", "those inside their band"),
    SUMMARY(count, close, "within_5_percent", "those near what was measured"),
    SUMMARY(number, median_error_frac, "median_error_frac", "of absolute values"),
    SUMMARY(number, largest_error_frac, "largest_error_frac", "of absolute values"),
    SUMMARY(number, median_width_frac, "median_width_frac", "(high - low) / predicted"),
};

/* --- records -------------------------------------------------------------------------------- */

/* All that is written, in the arena; those of a table have the units and words of people. */
struct records {
    struct ar_arena arena;
    struct row *rows;
    struct change *changes;
    struct point *points;
};

static const char *name_of(const struct published *row)
{
    return published_cell(row, PUBLISHED_row);
}

/* `batch=16|32 (row); ...`; NULL if there is no memory. */
static const char *join_assumptions(struct ar_arena *arena, const struct published *row)
{
    const char *text = "";
    for (size_t i = 0; text != NULL && i < row->ranges_count; i++) {
        text = ar_arena_format(arena, "%s%s%s (%s)", text, i > 0 ? "; " : "", row->ranges[i].text,
                               row->ranges[i].source);
    }
    return text;
}

static uint64_t gpus_of(const struct published *row, const struct reproduced *result)
{
    const char *text = row->keys[AR_KEY_GPUS];
    if (result->gpus > 0) {
        return result->gpus;
    }
    return text[0] != '\0' ? strtoull(text, NULL, 10) : AR_NO_COUNT;
}

static bool make_row(struct ar_arena *arena, const struct published *published,
                     const struct reproduced *result, bool is_table, struct row *row)
{
    static const char *const words[2][3] = {{"", "no", "yes"},
                                            {"no cluster model yet", "outside", "inside"}};
    const char *quantity = quantity_name(published->quantity);
    double factor = is_table ? quantity_shown_factor(published->quantity) : 1;
    const char *title = published_cell(published, PUBLISHED_title);
    *row = (struct row){
        .row = name_of(published),
        .title = title[0] != '\0' ? title : name_of(published),
        .quantity = is_table ? ar_arena_format(arena, "%.*s (%s)", (int)strcspn(quantity, "_"),
                                               quantity, quantity_shown_unit(published->quantity))
                             : quantity,
        .unit = quantity_unit(published->quantity),
        .gpus = gpus_of(published, result),
        .algorithm =
            result->algorithm[0] != '\0' ? result->algorithm : published->keys[AR_KEY_ALGORITHM],
        .measured = published->measured * factor,
        .measured_error = published->measured_error,
        .predicted = result->predicted * factor,
        .low = result->low * factor,
        .high = result->high * factor,
        .error_frac = result->error_frac,
        .inside = words[is_table][isnan(result->predicted) ? 0 : 1 + result->is_inside],
        .source = published_cell(published, PUBLISHED_source),
        .how_read = published_cell(published, PUBLISHED_how_read),
        .assumptions = join_assumptions(arena, published)};
    return row->quantity != NULL && row->assumptions != NULL;
}

static bool make_change(struct ar_arena *arena, const struct published *published,
                        const struct sensitivity *sensitivity, struct change *change)
{
    const struct range *range = &published->ranges[sensitivity->range];
    char value[RANGE_VALUE];
    range_value(range, sensitivity->value, value);
    *change = (struct change){.row = name_of(published),
                              .assumption = range->parameter,
                              .value = ar_arena_text(arena, value),
                              .predicted = sensitivity->predicted,
                              .change_frac = sensitivity->change_frac};
    return change->value != NULL;
}

static bool make_point(struct ar_arena *arena, const struct published *published,
                       const struct curve_point *made, struct point *point)
{
    *point = (struct point){
        .curve = ar_arena_format(arena, "%.100s %s", name_of(published), made->algorithm),
        .algorithm = made->algorithm,
        .quantity = quantity_name(published->quantity),
        .gpus = made->gpus,
        .value = made->value,
        .low = NAN,
        .high = NAN};
    return point->curve != NULL;
}

static bool make_lists(const struct reproduction *reproduction, bool is_table,
                       struct records *records)
{
    struct ar_arena *arena = &records->arena;
    const struct published *rows = reproduction->rows.rows;
    bool is_whole = true;
    for (size_t i = 0; is_whole && i < reproduction->rows.count; i++) {
        is_whole =
            make_row(arena, &rows[i], &reproduction->results[i], is_table, &records->rows[i]);
    }
    for (size_t i = 0; is_whole && i < reproduction->sensitivities_count; i++) {
        const struct sensitivity *made = &reproduction->sensitivities[i];
        is_whole = make_change(arena, &rows[made->row], made, &records->changes[i]);
        records->changes[i].predicted *=
            is_table ? quantity_shown_factor(rows[made->row].quantity) : 1;
    }
    for (size_t i = 0; is_whole && i < reproduction->curves_count; i++) {
        const struct curve_point *made = &reproduction->curves[i];
        is_whole = make_point(arena, &rows[made->row], made, &records->points[i]);
    }
    return is_whole;
}

/* The arena is to be ended on failure, too. */
static enum ar_status make_records(const struct reproduction *reproduction, bool is_table,
                                   struct records *records, struct ar_error *err)
{
    struct ar_arena *arena = &records->arena;
    *arena = (struct ar_arena){.last = NULL};
    records->rows = ar_arena_alloc(arena, reproduction->rows.count + 1, sizeof *records->rows);
    records->changes =
        ar_arena_alloc(arena, reproduction->sensitivities_count + 1, sizeof *records->changes);
    records->points =
        ar_arena_alloc(arena, reproduction->curves_count + 1, sizeof *records->points);
    bool has_room = records->rows != NULL && records->changes != NULL && records->points != NULL;
    return has_room && make_lists(reproduction, is_table, records)
               ? AR_OK
               : ar_error_no_memory(err, "what was reproduced");
}

/* --- table ---------------------------------------------------------------------------------- */

static void write_summary(FILE *file, const struct reproduction *reproduction)
{
    struct reproduce_summary summary = reproduce_summarize(reproduction);
    fprintf(file, "\n%" PRIu32 " of %" PRIu32 " predicted rows inside their band", summary.inside,
            summary.judged);
    if (summary.judged > 0) {
        fprintf(file,
                ", %" PRIu32 " within %g %%; |error| median %.1f %%, largest %.1f %%; width of a "
                "band, median %.1f %% of its prediction",
                summary.close, REPRODUCE_CLOSE_FRAC * 100, summary.median_error_frac * 100,
                summary.largest_error_frac * 100, summary.median_width_frac * 100);
    }
    fputc('\n', file);
}

static void write_assumptions(FILE *file, const struct published *published, const struct row *row)
{
    fprintf(file, "%s: %s; %s%s%s\n", row->row, row->title, row->source,
            row->how_read[0] != '\0' ? ", " : "", row->how_read);
    for (size_t i = 0; i < published->ranges_count; i++) {
        const struct range *range = &published->ranges[i];
        bool is_own = strcmp(range->source, "row") == 0;
        fprintf(file, "  %-44s %s\n", range->text, is_own ? "assumed by the row" : range->source);
    }
}

static enum ar_status write_table(FILE *file, const struct reproduction *reproduction,
                                  const struct records *records, struct ar_error *err)
{
    AR_TRY(ar_records_write(file, AR_FORMAT_TABLE, csv_columns, records->rows,
                            reproduction->rows.count, sizeof *records->rows, err));
    write_summary(file, reproduction);
    fputs("\nwhat each row is, and what is drawn for its band\n", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        write_assumptions(file, &reproduction->rows.rows[i], &records->rows[i]);
    }
    if (!reproduction->shows_sensitivities) {
        return AR_OK;
    }
    fputs("\none value changed at a time\n", file);
    return ar_records_write(file, AR_FORMAT_TABLE, AR_COLUMNS(change_columns), records->changes,
                            reproduction->sensitivities_count, sizeof *records->changes, err);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void write_json(FILE *file, const struct reproduction *reproduction,
                       const struct records *records)
{
    struct reproduce_summary summary = reproduce_summarize(reproduction);
    fputs("{\"rows\": [", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        fputs(i > 0 ? ",\n{" : "\n{", file);
        ar_json_members(file, json_columns, &records->rows[i]);
        fputs(", \"assumptions\": ", file);
        ar_json_array(file, AR_COLUMNS(range_columns), row->ranges, row->ranges_count,
                      sizeof *row->ranges);
        fputc('}', file);
    }
    fputs("],\n\"sensitivity\": ", file);
    ar_json_array(file, AR_COLUMNS(change_columns), records->changes,
                  reproduction->sensitivities_count, sizeof *records->changes);
    fputs(",\n", file);
    ar_json_members(file, AR_COLUMNS(draw_columns), reproduction);
    fputs(", ", file);
    ar_json_members(file, AR_COLUMNS(summary_columns), &summary);
    fputs("}\n", file);
}

/* --- all forms ------------------------------------------------------------------------------ */

enum ar_status reproduce_write(FILE *file, enum ar_format format,
                               const struct reproduction *reproduction, struct ar_error *err)
{
    struct records records;
    enum ar_status status = make_records(reproduction, format == AR_FORMAT_TABLE, &records, err);
    if (status == AR_OK && format == AR_FORMAT_TABLE) {
        status = write_table(file, reproduction, &records, err);
    } else if (status == AR_OK && format == AR_FORMAT_JSON) {
        write_json(file, reproduction, &records);
    } else if (status == AR_OK) {
        status = ar_records_write(file, format, csv_columns, records.rows, reproduction->rows.count,
                                  sizeof *records.rows, err);
    }
    ar_arena_end(&records.arena);
    return status;
}

static enum ar_status write_file(const char *directory, const char *name, struct ar_columns columns,
                                 const void *list, size_t count, size_t size, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_output output;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", directory);
    }
    AR_TRY(ar_output_open(path, &output, err));
    ar_records_write(output.file, AR_FORMAT_CSV, columns, list, count, size, err);
    return ar_output_commit(&output, err);
}

static enum ar_status write_files(const char *directory, const struct reproduction *reproduction,
                                  struct records *records, struct ar_error *err)
{
    AR_TRY(make_records(reproduction, false, records, err));
    AR_TRY(ar_make_directory(directory, err));
    AR_TRY(write_file(directory, "reproduce.csv", csv_columns, records->rows,
                      reproduction->rows.count, sizeof *records->rows, err));
    AR_TRY(write_file(directory, "sensitivity.csv", AR_COLUMNS(change_columns), records->changes,
                      reproduction->sensitivities_count, sizeof *records->changes, err));
    return write_file(directory, "curves.csv", AR_COLUMNS(point_columns), records->points,
                      reproduction->curves_count, sizeof *records->points, err);
}

enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err)
{
    struct records records;
    enum ar_status status = write_files(directory, reproduction, &records, err);
    ar_arena_end(&records.arena);
    return status;
}
