/* What is said of reproduced runs: a table for people, CSV, JSON, the files of pictures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_output.h"
#include "cells.h"
#include "reproduce.h"
#include "resource.h"

enum { ASSUMPTIONS_SIZE = RANGES_MAX * (2 * RANGE_VALUE + 8) };

static const char *name_of(const struct published *row)
{
    return published_cell(row, PUBLISHED_row);
}

static const char *title_of(const struct published *row)
{
    const char *title = published_cell(row, PUBLISHED_title);
    return title[0] != '\0' ? title : name_of(row);
}

/* `batch=16|32 (row); ...`; returns `text`. */
static const char *join_assumptions(const struct published *row, char text[ASSUMPTIONS_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < row->ranges_count; i++) {
        used += (size_t)snprintf(text + used, ASSUMPTIONS_SIZE - used, "%s%s (%s)",
                                 i > 0 ? "; " : "", row->ranges[i].text, row->ranges[i].source);
    }
    return text;
}

static uint64_t gpus_of(const struct reproduction *reproduction, size_t row)
{
    const char *text = reproduction->rows.rows[row].keys[AR_KEY_GPUS];
    uint32_t gpus = reproduction->results[row].gpus;
    if (gpus > 0) {
        return gpus;
    }
    return text[0] != '\0' ? strtoull(text, NULL, 10) : CELL_NO_COUNT;
}

static const char *algorithm_of(const struct reproduction *reproduction, size_t row)
{
    const char *predicted = reproduction->results[row].algorithm;
    return predicted[0] != '\0' ? predicted : reproduction->rows.rows[row].keys[AR_KEY_ALGORITHM];
}

/* Whether a row's band has the measured value; empty for context. */
static const char *inside_of(const struct reproduced *result)
{
    return isnan(result->predicted) ? "" : result->is_inside ? "yes" : "no";
}

/* --- table ---------------------------------------------------------------------------------- */

/* An empty cell for what is no number. */
static void write_number(FILE *file, int width, const char *format, double value)
{
    char text[32] = "-";
    if (isfinite(value)) {
        snprintf(text, sizeof text, format, value);
    }
    fprintf(file, " %*s", width, text);
}

static int name_width(const struct reproduction *reproduction)
{
    size_t width = strlen("row");
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        size_t length = strlen(name_of(&reproduction->rows.rows[i]));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void write_table_row(FILE *file, const struct reproduction *reproduction, size_t i,
                            int width)
{
    const struct published *row = &reproduction->rows.rows[i];
    const struct reproduced *result = &reproduction->results[i];
    double factor = quantity_shown_factor(row->quantity);
    uint64_t gpus = gpus_of(reproduction, i);
    char quantity[40];
    snprintf(quantity, sizeof quantity, "%.*s (%s)",
             (int)strcspn(quantity_name(row->quantity), "_"), quantity_name(row->quantity),
             quantity_shown_unit(row->quantity));
    fprintf(file, "%-*s %-17s", width, name_of(row), quantity);
    write_number(file, 6, "%.0f", gpus == CELL_NO_COUNT ? NAN : (double)gpus);
    write_number(file, 10, "%.2f", row->measured * factor);
    write_number(file, 10, "%.2f", result->predicted * factor);
    write_number(file, 10, "%.2f", result->low * factor);
    write_number(file, 10, "%.2f", result->high * factor);
    write_number(file, 9, "%+.1f", result->error_frac * 100);
    fprintf(file, "  %s\n",
            published_is_context(row) ? "no cluster model yet"
            : result->is_inside       ? "inside"
                                      : "outside");
}

static void write_assumptions(FILE *file, const struct reproduction *reproduction)
{
    fputs("\nwhat each row is, and what is drawn for its band\n", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        const char *how = published_cell(row, PUBLISHED_how_read);
        fprintf(file, "%s: %s; %s%s%s\n", name_of(row), title_of(row),
                published_cell(row, PUBLISHED_source), how[0] != '\0' ? ", " : "", how);
        for (size_t j = 0; j < row->ranges_count; j++) {
            fprintf(file, "  %-44s %s\n", row->ranges[j].text,
                    strcmp(row->ranges[j].source, "row") == 0 ? "assumed by the row"
                                                              : row->ranges[j].source);
        }
    }
}

static void write_sensitivities(FILE *file, const struct reproduction *reproduction)
{
    char value[RANGE_VALUE];
    int width = name_width(reproduction);
    fprintf(file, "\none value changed at a time\n%-*s %-24s %-20s %12s %12s\n", width, "row",
            "parameter", "value", "predicted", "change (%)");
    for (size_t i = 0; i < reproduction->sensitivities_count; i++) {
        const struct sensitivity *line = &reproduction->sensitivities[i];
        const struct published *row = &reproduction->rows.rows[line->row];
        const struct range *range = &row->ranges[line->range];
        range_value(range, line->value, value);
        fprintf(file, "%-*s %-24s %-20s %12.2f %+12.2f\n", width, name_of(row), range->parameter,
                value, line->predicted * quantity_shown_factor(row->quantity),
                line->change_frac * 100);
    }
}

static void write_table(FILE *file, const struct reproduction *reproduction)
{
    struct reproduce_summary summary = reproduce_summarize(reproduction);
    int width = name_width(reproduction);
    fprintf(file, "%-*s %-17s %6s %10s %10s %10s %10s %9s\n", width, "row", "quantity", "gpus",
            "measured", "predicted", "low", "high", "error (%)");
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        write_table_row(file, reproduction, i, width);
    }
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
    write_assumptions(file, reproduction);
    if (reproduction->shows_sensitivities) {
        write_sensitivities(file, reproduction);
    }
}

/* --- CSV ------------------------------------------------------------------------------------ */

static void write_csv(FILE *file, const struct reproduction *reproduction)
{
    char assumptions[ASSUMPTIONS_SIZE];
    fputs("row,title,quantity,unit,gpus,algorithm,measured,predicted,low,high,error_frac,inside,"
          "source,assumptions\n",
          file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        const struct reproduced *result = &reproduction->results[i];
        const double numbers[] = {row->measured, result->predicted, result->low, result->high,
                                  result->error_frac};
        cell_csv_text(file, name_of(row));
        fputc(',', file);
        cell_csv_text(file, title_of(row));
        fprintf(file, ",%s,%s,", quantity_name(row->quantity), quantity_unit(row->quantity));
        cell_csv_count(file, gpus_of(reproduction, i));
        fputc(',', file);
        cell_csv_text(file, algorithm_of(reproduction, i));
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
            fputc(',', file);
            cell_csv_number(file, numbers[j]);
        }
        fprintf(file, ",%s,", inside_of(result));
        cell_csv_text(file, published_cell(row, PUBLISHED_source));
        fputc(',', file);
        cell_csv_text(file, join_assumptions(row, assumptions));
        fputc('\n', file);
    }
}

static void write_sensitivity_csv(FILE *file, const struct reproduction *reproduction)
{
    char value[RANGE_VALUE];
    fputs("row,assumption,value,predicted,change_frac\n", file);
    for (size_t i = 0; i < reproduction->sensitivities_count; i++) {
        const struct sensitivity *line = &reproduction->sensitivities[i];
        const struct published *row = &reproduction->rows.rows[line->row];
        range_value(&row->ranges[line->range], line->value, value);
        cell_csv_text(file, name_of(row));
        fputc(',', file);
        cell_csv_text(file, row->ranges[line->range].parameter);
        fputc(',', file);
        cell_csv_text(file, value);
        fputc(',', file);
        cell_csv_number(file, line->predicted);
        fputc(',', file);
        cell_csv_number(file, line->change_frac);
        fputc('\n', file);
    }
}

static void write_curves_csv(FILE *file, const struct reproduction *reproduction)
{
    char curve[128];
    fputs("curve,algorithm,quantity,gpus,value,low,high\n", file);
    for (size_t i = 0; i < reproduction->curves_count; i++) {
        const struct curve_point *point = &reproduction->curves[i];
        const struct published *row = &reproduction->rows.rows[point->row];
        snprintf(curve, sizeof curve, "%.100s %s", name_of(row), point->algorithm);
        cell_csv_text(file, curve);
        fprintf(file, ",%s,%s,%" PRIu32 ",", point->algorithm, quantity_name(row->quantity),
                point->gpus);
        cell_csv_number(file, point->value);
        fputs(",,\n", file);
    }
}

enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err)
{
    static const struct {
        const char *name;
        void (*write)(FILE *file, const struct reproduction *reproduction);
    } files[] = {{"reproduce.csv", write_csv},
                 {"sensitivity.csv", write_sensitivity_csv},
                 {"curves.csv", write_curves_csv}};
    char path[RESOURCE_PATH];
    struct ar_output output;
    if (strlen(directory) + 64 > sizeof path) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", directory);
    }
    enum ar_status status = ar_make_directory(directory, err);
    for (size_t i = 0; status == AR_OK && i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        status = ar_output_open(path, &output, err);
        if (status == AR_OK) {
            files[i].write(output.file, reproduction);
            status = ar_output_commit(&output, err);
        }
    }
    return status;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void write_json_texts(FILE *file, const char *const *names, const char *const *texts,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s\"%s\": ", i > 0 ? ", " : "", names[i]);
        cell_json_text(file, texts[i]);
    }
}

static void write_json_numbers(FILE *file, const char *const *names, const double *numbers,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(file, ", \"%s\": ", names[i]);
        cell_json_number(file, numbers[i]);
    }
}

static void write_json_row(FILE *file, const struct reproduction *reproduction, size_t i)
{
    const struct published *row = &reproduction->rows.rows[i];
    const struct reproduced *result = &reproduction->results[i];
    static const char *const texts[] = {"row",       "title",  "quantity", "unit",
                                        "algorithm", "source", "how_read", "inside"};
    static const char *const numbers[] = {"measured", "measured_error", "predicted",
                                          "low",      "high",           "error_frac"};
    write_json_texts(file, texts,
                     (const char *[]){name_of(row), title_of(row), quantity_name(row->quantity),
                                      quantity_unit(row->quantity), algorithm_of(reproduction, i),
                                      published_cell(row, PUBLISHED_source),
                                      published_cell(row, PUBLISHED_how_read), inside_of(result)},
                     8);
    fputs(", \"gpus\": ", file);
    cell_json_count(file, gpus_of(reproduction, i));
    write_json_numbers(file, numbers,
                       (const double[]){row->measured, row->measured_error, result->predicted,
                                        result->low, result->high, result->error_frac},
                       6);
    fputs(", \"assumptions\": [", file);
    for (size_t j = 0; j < row->ranges_count; j++) {
        fputs(j > 0 ? ", {" : "{", file);
        write_json_texts(file, (const char *[]){"range", "source"},
                         (const char *[]){row->ranges[j].text, row->ranges[j].source}, 2);
        fputc('}', file);
    }
    fputc(']', file);
}

static void write_json_sensitivity(FILE *file, const struct reproduction *reproduction, size_t i)
{
    const struct sensitivity *line = &reproduction->sensitivities[i];
    const struct published *row = &reproduction->rows.rows[line->row];
    char value[RANGE_VALUE];
    range_value(&row->ranges[line->range], line->value, value);
    write_json_texts(file, (const char *[]){"row", "assumption", "value"},
                     (const char *[]){name_of(row), row->ranges[line->range].parameter, value}, 3);
    write_json_numbers(file, (const char *[]){"predicted", "change_frac"},
                       (const double[]){line->predicted, line->change_frac}, 2);
}

static void write_json(FILE *file, const struct reproduction *reproduction)
{
    struct reproduce_summary summary = reproduce_summarize(reproduction);
    fputs("{\n  \"rows\": [", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        fputs(i > 0 ? ",\n    {" : "\n    {", file);
        write_json_row(file, reproduction, i);
        fputc('}', file);
    }
    fputs("\n  ],\n  \"sensitivity\": [", file);
    for (size_t i = 0; i < reproduction->sensitivities_count; i++) {
        fputs(i > 0 ? ",\n    {" : "\n    {", file);
        write_json_sensitivity(file, reproduction, i);
        fputc('}', file);
    }
    fprintf(file,
            "\n  ],\n  \"samples\": %" PRIu32 ", \"seed\": %" PRIu64 ", \"judged\": %" PRIu32
            ", \"inside\": %" PRIu32 ", \"within_5_percent\": %" PRIu32,
            reproduction->samples_count, reproduction->seed, summary.judged, summary.inside,
            summary.close);
    write_json_numbers(
        file, (const char *[]){"median_error_frac", "largest_error_frac", "median_width_frac"},
        (const double[]){summary.median_error_frac, summary.largest_error_frac,
                         summary.median_width_frac},
        3);
    fputs("\n}\n", file);
}

void reproduce_write(FILE *file, enum ar_format format, const struct reproduction *reproduction)
{
    if (format == AR_FORMAT_CSV) {
        write_csv(file, reproduction);
    } else if (format == AR_FORMAT_JSON) {
        write_json(file, reproduction);
    } else {
        write_table(file, reproduction);
    }
}
