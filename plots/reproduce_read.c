#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_csv.h"
#include "ar_text.h"
#include "plot_reproduction.h"

enum { PATH_SIZE = 4096, COLUMNS_MAX = 16 };

/* A file and where its columns are. */
struct sheet {
    struct ar_csv *csv; /* NULL: no such file */
    const char *const *names;
    size_t places[COLUMNS_MAX];
};

static enum ar_status open_sheet(const char *directory, const char *name, const char *const *names,
                                 struct sheet *sheet, struct ar_error *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    *sheet = (struct sheet){.names = names};
    if (access(path, F_OK) != 0) {
        return AR_OK;
    }
    enum ar_status status = ar_csv_load(path, &sheet->csv, err);
    for (size_t i = 0; status == AR_OK && names[i] != NULL; i++) {
        const struct ar_csv *csv = sheet->csv;
        size_t place = 0;
        while (place < csv->columns_count && strcmp(csv->cells[place], names[i]) != 0) {
            place++;
        }
        sheet->places[i] = place;
        if (place == csv->columns_count) {
            status =
                ar_error_set(err, AR_BAD_DATA, "%s:%llu: column \"%s\" is missing in the header",
                             path, (unsigned long long)csv->header_line, names[i]);
        }
    }
    return status;
}

static void read_text(const struct sheet *sheet, size_t row, size_t column, char *text, size_t size)
{
    ar_copy_text(text, size, ar_csv_cell(sheet->csv, row, sheet->places[column]));
}

/* An empty cell leaves the number as it is. */
static enum ar_status read_number(const struct sheet *sheet, size_t row, size_t column,
                                  bool may_be_empty, double min, const char *expected,
                                  double *number, struct ar_error *err)
{
    size_t place = sheet->places[column];
    if (may_be_empty && ar_csv_cell(sheet->csv, row, place)[0] == '\0') {
        return AR_OK;
    }
    return ar_csv_number(sheet->csv, row, place, min, 1e15, expected, number, err);
}

/* All values have a place on a logarithmic axis. */
static enum ar_status read_value(const struct sheet *sheet, size_t row, size_t column,
                                 bool may_be_empty, double *number, struct ar_error *err)
{
    return read_number(sheet, row, column, may_be_empty, 1e-15, "a number above 0", number, err);
}

static enum ar_status read_quantity(const struct sheet *sheet, size_t row, size_t column,
                                    enum ar_plot_quantity *quantity, struct ar_error *err)
{
    static const char *const names[AR_PLOT_QUANTITIES] = {"efficiency_frac", "train_s",
                                                          "iteration_s", "images_per_s"};
    const char *text = ar_csv_cell(sheet->csv, row, sheet->places[column]);
    for (size_t i = 0; i < AR_PLOT_QUANTITIES; i++) {
        if (strcmp(text, names[i]) == 0) {
            *quantity = (enum ar_plot_quantity)i;
            return AR_OK;
        }
    }
    return ar_csv_cell_error(sheet->csv, row, sheet->places[column],
                             "efficiency_frac, images_per_s, iteration_s or train_s", err);
}

/* --- reproduce.csv ------------------------------------------------------------------------ */

enum { ROW, TITLE, QUANTITY, GPUS, ALGORITHM, MEASURED, PREDICTED, LOW, HIGH, INSIDE };
static const char *const row_columns[] = {"row",       "title",    "quantity",  "gpus",
                                          "algorithm", "measured", "predicted", "low",
                                          "high",      "inside",   NULL};

static enum ar_status read_inside(const struct sheet *sheet, size_t row,
                                  struct ar_plot_published *published, struct ar_error *err)
{
    const char *inside = ar_csv_cell(sheet->csv, row, sheet->places[INSIDE]);
    published->is_inside = strcmp(inside, "yes") == 0;
    bool is_judged = isfinite(published->measured) && isfinite(published->predicted);
    if (is_judged && !published->is_inside && strcmp(inside, "no") != 0) {
        return ar_csv_cell_error(sheet->csv, row, sheet->places[INSIDE],
                                 "yes or no for a measured row", err);
    }
    return AR_OK;
}

static enum ar_status read_published(const struct sheet *sheet, size_t row,
                                     struct ar_plot_published *published, struct ar_error *err)
{
    *published =
        (struct ar_plot_published){.measured = NAN, .predicted = NAN, .low = NAN, .high = NAN};
    read_text(sheet, row, ROW, published->row, sizeof published->row);
    read_text(sheet, row, TITLE, published->title, sizeof published->title);
    read_text(sheet, row, ALGORITHM, published->algorithm, sizeof published->algorithm);
    enum ar_status status = read_quantity(sheet, row, QUANTITY, &published->quantity, err);
    if (status == AR_OK) {
        status = read_value(sheet, row, GPUS, false, &published->gpus, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, MEASURED, true, &published->measured, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, PREDICTED, true, &published->predicted, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, LOW, true, &published->low, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, HIGH, true, &published->high, err);
    }
    published->has_band = isfinite(published->low) && isfinite(published->high);
    if (!published->has_band) {
        published->low = published->high = published->predicted;
    }
    return status == AR_OK ? read_inside(sheet, row, published, err) : status;
}

static bool has_cell(const struct sheet *sheet, size_t row, size_t column)
{
    return ar_csv_cell(sheet->csv, row, sheet->places[column])[0] != '\0';
}

/* A row of a cluster that there is no model of stands where it was measured, if that is said. */
static bool has_place(const struct sheet *sheet, size_t row)
{
    return has_cell(sheet, row, PREDICTED) ||
           (has_cell(sheet, row, MEASURED) && has_cell(sheet, row, GPUS));
}

static enum ar_status read_rows(const char *directory, struct ar_plot_reproduction *reproduction,
                                struct ar_error *err)
{
    struct sheet sheet;
    size_t number = 0;
    enum ar_status status = open_sheet(directory, "reproduce.csv", row_columns, &sheet, err);
    if (status == AR_OK && sheet.csv != NULL) {
        reproduction->rows = calloc(sheet.csv->rows_count + 1, sizeof *reproduction->rows);
        status = reproduction->rows == NULL ? ar_error_no_memory(err, "published rows") : AR_OK;
        for (size_t i = 0; status == AR_OK && i < sheet.csv->rows_count; i++) {
            if (has_place(&sheet, i)) {
                struct ar_plot_published *row = &reproduction->rows[reproduction->rows_count++];
                status = read_published(&sheet, i, row, err);
                row->number = isfinite(row->predicted) ? ++number : 0;
            }
        }
    }
    ar_csv_destroy(sheet.csv);
    return status;
}

/* --- curves.csv --------------------------------------------------------------------------- */

enum { CURVE, CURVE_ALGORITHM, CURVE_QUANTITY, CURVE_GPUS, VALUE, CURVE_LOW, CURVE_HIGH };
static const char *const curve_columns[] = {"curve", "algorithm", "quantity", "gpus",
                                            "value", "low",       "high",     NULL};

static enum ar_status read_point(const struct sheet *sheet, size_t row,
                                 struct ar_plot_curve_point *point, struct ar_error *err)
{
    *point = (struct ar_plot_curve_point){.low = NAN, .high = NAN};
    read_text(sheet, row, CURVE, point->curve, sizeof point->curve);
    read_text(sheet, row, CURVE_ALGORITHM, point->algorithm, sizeof point->algorithm);
    enum ar_status status = read_quantity(sheet, row, CURVE_QUANTITY, &point->quantity, err);
    if (status == AR_OK) {
        status = read_value(sheet, row, CURVE_GPUS, false, &point->gpus, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, VALUE, false, &point->value, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, CURVE_LOW, true, &point->low, err);
    }
    if (status == AR_OK) {
        status = read_value(sheet, row, CURVE_HIGH, true, &point->high, err);
    }
    if (!isfinite(point->low) || !isfinite(point->high)) {
        point->low = point->high = point->value;
    }
    return status;
}

static enum ar_status read_points(const char *directory, struct ar_plot_reproduction *reproduction,
                                  struct ar_error *err)
{
    struct sheet sheet;
    enum ar_status status = open_sheet(directory, "curves.csv", curve_columns, &sheet, err);
    if (status == AR_OK && sheet.csv != NULL) {
        reproduction->points = calloc(sheet.csv->rows_count + 1, sizeof *reproduction->points);
        status = reproduction->points == NULL ? ar_error_no_memory(err, "curves") : AR_OK;
        for (size_t i = 0; status == AR_OK && i < sheet.csv->rows_count; i++) {
            status = read_point(&sheet, i, &reproduction->points[i], err);
            reproduction->points_count += status == AR_OK;
        }
    }
    ar_csv_destroy(sheet.csv);
    return status;
}

/* --- sensitivity.csv ---------------------------------------------------------------------- */

enum { CHANGED_ROW, ASSUMPTION, ASSUMED, CHANGE };
static const char *const change_columns[] = {"row", "assumption", "value", "change_frac", NULL};

static enum ar_status read_changes(const char *directory, struct ar_plot_reproduction *reproduction,
                                   struct ar_error *err)
{
    struct sheet sheet;
    enum ar_status status = open_sheet(directory, "sensitivity.csv", change_columns, &sheet, err);
    if (status == AR_OK && sheet.csv != NULL) {
        reproduction->changes = calloc(sheet.csv->rows_count + 1, sizeof *reproduction->changes);
        status = reproduction->changes == NULL ? ar_error_no_memory(err, "sensitivities") : AR_OK;
        for (size_t i = 0; status == AR_OK && i < sheet.csv->rows_count; i++) {
            struct ar_plot_change *change = &reproduction->changes[i];
            read_text(&sheet, i, CHANGED_ROW, change->row, sizeof change->row);
            read_text(&sheet, i, ASSUMPTION, change->assumption, sizeof change->assumption);
            read_text(&sheet, i, ASSUMED, change->value, sizeof change->value);
            status = read_number(&sheet, i, CHANGE, false, -1e15, "a fraction",
                                 &change->change_frac, err);
            reproduction->changes_count += status == AR_OK;
        }
    }
    ar_csv_destroy(sheet.csv);
    return status;
}

enum ar_status ar_plot_reproduction_read(const char *directory,
                                         struct ar_plot_reproduction *reproduction,
                                         struct ar_error *err)
{
    *reproduction = (struct ar_plot_reproduction){.rows = NULL};
    enum ar_status status = read_rows(directory, reproduction, err);
    if (status == AR_OK) {
        status = read_points(directory, reproduction, err);
    }
    if (status == AR_OK) {
        status = read_changes(directory, reproduction, err);
    }
    if (status == AR_OK && reproduction->rows == NULL && reproduction->points == NULL &&
        reproduction->changes == NULL) {
        status =
            ar_error_set(err, AR_NO_INPUT,
                         "%.400s: found none of reproduce.csv, curves.csv and sensitivity.csv; "
                         "expected one at least",
                         directory);
    }
    if (status != AR_OK) {
        ar_plot_reproduction_clear(reproduction);
    }
    return status;
}

void ar_plot_reproduction_clear(struct ar_plot_reproduction *reproduction)
{
    free(reproduction->rows);
    free(reproduction->points);
    free(reproduction->changes);
    *reproduction = (struct ar_plot_reproduction){.rows = NULL};
}
