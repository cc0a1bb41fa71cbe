/* Reproduced runs as they are written: a table for people, CSV, JSON, the files of pictures. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reproduce.h"

/* clang-format off */
#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct published, field, name, __VA_ARGS__)
static const struct ar_column row_columns[] = {
    ROW(number, measured_error, "measured_error", "half width of what was measured"),
    ROW(string, how_read,      "how_read",   "how it was read at its source"),
    ROW(string, name,          "row",        "name of the published row", .heading = "row"),
    ROW(string, title,         "title",      "what it is"),
    ROW(string, quantity_text, "quantity",   "what was measured", .heading = "quantity"),
    ROW(string, unit,          "unit",       "of the quantity"),
    ROW(count,  gpus,          "gpus",       "of the run", .heading = "gpus"),
    ROW(string, algorithm,     "algorithm",  "of the all-reduces"),
    ROW(number, measured,      "measured",   "as published", .heading = "measured", .decimals = 2),
    ROW(number, predicted,     "predicted",  "by the row's own values", .heading = "predicted",
        .decimals = 2),
    ROW(number, low,           "low",        "of the band of predictions", .heading = "low",
        .decimals = 2),
    ROW(number, high,          "high",       "its upper end", .heading = "high", .decimals = 2),
    ROW(number, error_frac,    "error_frac", "predicted / measured - 1", .heading = "error (%)",
        .factor = 100, .decimals = 1, .is_signed = true),
    ROW(string, inside,        "inside",     "whether the band meets what was measured", .heading = ""),
    ROW(string, source,        "source",     "where the number is from"),
    ROW(string, assumptions,   "assumptions", "what is drawn for the band"),
};

/* CSV is without the first columns, JSON without the last, which is a list of its own there. */
enum { JSON_ONLY = 2, ROW_COLUMNS = sizeof row_columns / sizeof row_columns[0] };
static const struct ar_columns csv_columns = {row_columns + JSON_ONLY, ROW_COLUMNS - JSON_ONLY};
static const struct ar_columns json_columns = {row_columns, ROW_COLUMNS - 1};

#define POINT(kind, field, ...) AR_COLUMN(kind, struct curve_point, field, __VA_ARGS__)
static const struct ar_column point_columns[] = {
    POINT(string, curve,     "curve",     "row and algorithm"),
    POINT(string, algorithm, "algorithm", "of the all-reduces"),
    POINT(string, quantity,  "quantity",  "as in the row"),
    POINT(string, gpus,      "gpus",      "of the point"),
    POINT(number, value,     "value",     "predicted"),
    POINT(string, none,      "low",       "curves have no band"),
    POINT(string, none,      "high",      "the same"),
};

/* Members of the JSON document beside its lists. */
static const struct ar_column range_columns[] = {
    AR_COLUMN(string, struct published_range, text, "range", "as written"),
    AR_COLUMN(string, struct published_range, source, "source", "of its ends"),
};
#define DOCUMENT(kind, field, name, help) AR_COLUMN(kind, struct reproduction, field, name, help)
static const struct ar_column document_columns[] = {
    DOCUMENT(count,  samples_count,              "samples", "draws of a band"),
    DOCUMENT(count,  seed,                       "seed", "of the draws"),
    DOCUMENT(count,  summary.predicted,          "judged", "rows with a prediction"),
    DOCUMENT(count,  summary.banded,             "banded", "those with a band"),
    DOCUMENT(count,  summary.inside,             "inside", "those inside it"),
    DOCUMENT(count,  summary.close,              "within_5_percent", "those near what was measured"),
    DOCUMENT(number, summary.median_error_frac,  "median_error_frac", "of absolute values"),
    DOCUMENT(number, summary.largest_error_frac, "largest_error_frac", "of absolute values"),
    DOCUMENT(number, summary.median_width_frac,  "median_width_frac", "(high - low) / predicted"),
};
/* clang-format on */

/* Quantities in the table for people: with the unit there, and its factor. */
static const struct {
    const char *text;
    double factor;
} shown_quantities[QUANTITIES_COUNT] = {{"efficiency (%)", 100},    {"images (images/s)", 1},
                                        {"samples (samples/s)", 1}, {"iteration (ms)", 1000},
                                        {"tokens (tokens/s)", 1},   {"train (s)", 1}};

static void write_for_people(FILE *file, const struct ar_view *view,
                             const struct reproduction *reproduction)
{
    const struct published_rows *rows = &reproduction->rows;
    const struct reproduce_summary *summary = &reproduction->summary;
    struct ar_records records;
    ar_records_begin(&records, file, view, csv_columns);
    for (size_t i = 0; i < rows->count; i++) {
        struct published shown = rows->rows[i];
        double factor = shown_quantities[shown.quantity].factor;
        shown.quantity_text = shown_quantities[shown.quantity].text;
        shown.measured *= factor;
        shown.predicted *= factor;
        shown.low *= factor;
        shown.high *= factor;
        shown.inside = isnan(shown.predicted)             ? "no cluster model yet"
                       : shown.inside == NULL             ? "no band"
                       : strcmp(shown.inside, "yes") == 0 ? "inside"
                                                          : "outside";
        ar_records_add(&records, &shown);
    }
    ar_records_end(&records);
    fprintf(file, "\n%" PRIu32 " of %" PRIu32 " predicted rows inside their band", summary->inside,
            summary->banded);
    if (summary->banded < summary->predicted) {
        fprintf(file, ", %" PRIu32 " have none", summary->predicted - summary->banded);
    }
    if (summary->predicted > 0) {
        fprintf(file, ", %" PRIu32 " within %g %%; |error| median %.1f %%, largest %.1f %%",
                summary->close, REPRODUCE_CLOSE_FRAC * 100, summary->median_error_frac * 100,
                summary->largest_error_frac * 100);
    }
    if (summary->banded > 0) {
        fprintf(file, "; width of a band, median %.1f %% of its prediction",
                summary->median_width_frac * 100);
    }
    fputs("\n\nwhat each row is, and what is drawn for its band\n", file);
    for (size_t i = 0; i < rows->count; i++) {
        const struct published *row = &rows->rows[i];
        fprintf(file, "%s: %s; %s%s%s\n", row->name, row->title, row->source,
                row->how_read != NULL ? ", " : "", row->how_read != NULL ? row->how_read : "");
        for (size_t k = 0; k < row->ranges_count; k++) {
            const struct published_range *range = &row->ranges[k];
            bool is_own = strcmp(range->source, "row") == 0;
            fprintf(file, "  %-44s %s\n", range->text,
                    is_own ? "assumed by the row" : range->source);
        }
    }
}

static void write_json(FILE *file, const struct reproduction *reproduction)
{
    fputs("{\"rows\": [", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        fputs(i > 0 ? ",\n{" : "\n{", file);
        ar_json_members(file, json_columns, row);
        fputs(", \"assumptions\": ", file);
        ar_json_array(file, AR_COLUMNS(range_columns), row->ranges, row->ranges_count,
                      sizeof *row->ranges);
        fputc('}', file);
    }
    fputs("],\n", file);
    ar_json_members(file, AR_COLUMNS(document_columns), reproduction);
    fputs("}\n", file);
}

void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction)
{
    if (view->format == AR_FORMAT_TABLE) {
        write_for_people(file, view, reproduction);
    } else if (view->format == AR_FORMAT_JSON) {
        write_json(file, reproduction);
    } else {
        ar_records_write(file, view, csv_columns, reproduction->rows.rows, reproduction->rows.count,
                         sizeof *reproduction->rows.rows);
    }
}

enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err)
{
    const struct published_rows *rows = &reproduction->rows;
    AR_TRY(ar_records_save(directory, "reproduce.csv", csv_columns, rows->rows, rows->count,
                           sizeof *rows->rows, err));
    return ar_records_save(directory, "curves.csv", AR_COLUMNS(point_columns), reproduction->points,
                           reproduction->points_count, sizeof *reproduction->points, err);
}
