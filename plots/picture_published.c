#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_reproduction.h"
#include "plot_script.h"

enum { PLOT_HEIGHT = 340, TITLE_SIZE = 84, KEY_LINE = 19 };

/* What is known of a point. The template has a mark for each. */
enum kind { PREDICTED_ONLY, MEASURED, MEASURED_ONLY, KINDS };
static const char *const kind_names[KINDS] = {"not measured", "measured",
                                              "measured, cluster without a model"};

struct layout {
    enum ar_plot_quantity quantity;
    double factor; /* from the unit of the file to that of the axis */
    struct ar_plot_axis x, y;
    const struct ar_plot_curve_point *curves[AR_PLOT_CURVES_MAX]; /* the first point of each */
    size_t curves_count, curves_left_out;
    const struct ar_plot_published *rows[AR_PLOT_PUBLISHED_MAX];
    struct ar_plot_spot spots[AR_PLOT_PUBLISHED_MAX];
    size_t count;
    bool has_kind[KINDS]; /* points of this kind are there */
    double key_y, height;
};

static size_t count_of(const struct ar_plot_reproduction *reproduction,
                       enum ar_plot_quantity quantity)
{
    size_t count = 0;
    for (size_t i = 0; i < reproduction->rows_count; i++) {
        count += reproduction->rows[i].quantity == quantity;
    }
    for (size_t i = 0; i < reproduction->points_count; i++) {
        count += reproduction->points[i].quantity == quantity;
    }
    return count;
}

/* The place of a curve, its count if it is not there. */
static size_t find_curve(const struct layout *layout, const char *name)
{
    size_t i = 0;
    while (i < layout->curves_count && strcmp(layout->curves[i]->curve, name) != 0) {
        i++;
    }
    return i;
}

static void list_curves(const struct ar_plot_reproduction *reproduction, struct layout *layout)
{
    for (size_t i = 0; i < reproduction->points_count; i++) {
        const struct ar_plot_curve_point *point = &reproduction->points[i];
        if (point->quantity != layout->quantity ||
            find_curve(layout, point->curve) < layout->curves_count) {
            continue;
        }
        if (layout->curves_count < AR_PLOT_CURVES_MAX) {
            layout->curves[layout->curves_count++] = point;
        } else {
            layout->curves_left_out++;
        }
    }
}

static void stretch(struct layout *layout, double gpus, double low, double high)
{
    layout->x.min = fmin(layout->x.min, gpus);
    layout->x.max = fmax(layout->x.max, gpus);
    layout->y.min = fmin(layout->y.min, layout->factor * low);
    layout->y.max = fmax(layout->y.max, layout->factor * high);
}

static void set_ranges(const struct ar_plot_reproduction *reproduction, struct layout *layout)
{
    layout->x = (struct ar_plot_axis){INFINITY, 0, 70, AR_PLOT_WIDTH - 88, true};
    layout->y = (struct ar_plot_axis){INFINITY, 0, 0, PLOT_HEIGHT, layout->factor == 1};
    for (size_t i = 0; i < reproduction->points_count; i++) {
        const struct ar_plot_curve_point *point = &reproduction->points[i];
        if (point->quantity == layout->quantity) {
            stretch(layout, point->gpus, fmin(point->low, point->value),
                    fmax(point->high, point->value));
        }
    }
    for (size_t i = 0; i < layout->count; i++) {
        const struct ar_plot_published *row = layout->rows[i];
        stretch(layout, row->gpus, fmin(row->low, fmin(row->predicted, row->measured)),
                fmax(row->high, fmax(row->predicted, row->measured)));
    }
    double margin = layout->x.max < 2 * layout->x.min ? 1.5 : 1.3; /* a power of 2 at least */
    layout->x.min /= margin;
    layout->x.max *= margin;
    if (layout->y.is_log) {
        layout->y.min /= 1.25;
        layout->y.max *= 1.25;
    } else {
        layout->y.min = fmax(0, 10 * floor(layout->y.min / 10 - 0.5));
        layout->y.max = layout->y.max <= 104 ? 105 : 10 * ceil(layout->y.max / 10 + 0.2);
    }
}

static double shown(const struct ar_plot_published *row)
{
    return isfinite(row->measured) ? row->measured : row->predicted;
}

static enum kind kind_of(const struct ar_plot_published *row)
{
    return !isfinite(row->measured)   ? PREDICTED_ONLY
           : isfinite(row->predicted) ? MEASURED
                                      : MEASURED_ONLY;
}

static void place_points(struct layout *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        const struct ar_plot_published *row = layout->rows[i];
        const struct ar_plot_axis *y = &layout->y;
        double factor = layout->factor;
        bool has_bar = isfinite(row->predicted);
        double low = has_bar ? fmin(row->low, row->predicted) : row->measured;
        double high = has_bar ? fmax(row->high, row->predicted) : row->measured;
        layout->spots[i] = (struct ar_plot_spot){
            .x = ar_plot_axis_pixel(&layout->x, row->gpus),
            .y = ar_plot_axis_pixel(y, factor * shown(row)),
            .bar_low = ar_plot_axis_pixel(y, factor * low),
            .bar_high = ar_plot_axis_pixel(y, factor * high),
            .width = has_bar ? ar_plot_number_width(row->number) : ar_plot_name_width(row->row)};
    }
    ar_plot_spots_place(layout->spots, layout->count, &layout->x, &layout->y);
}

/* Curves, the kinds of points that are there, and bands, two to a line when names are short. */
static bool has_predictions(const struct layout *layout)
{
    return layout->has_kind[PREDICTED_ONLY] || layout->has_kind[MEASURED];
}

static size_t key_columns(const struct layout *layout, size_t *rows)
{
    size_t longest = 0;
    size_t entries = layout->curves_count + has_predictions(layout);
    for (size_t i = 0; i < layout->curves_count; i++) {
        size_t length = strlen(layout->curves[i]->curve);
        longest = length > longest ? length : longest;
    }
    for (size_t i = 0; i < KINDS; i++) {
        size_t length = layout->has_kind[i] ? strlen(kind_names[i]) : 0;
        longest = length > longest ? length : longest;
        entries += layout->has_kind[i];
    }
    size_t columns = longest > 40 ? 1 : longest > 24 ? 2 : 3;
    *rows = (entries + columns - 1) / columns;
    return columns;
}

/* Freed by the caller; NULL without memory. */
static struct layout *make_layout(const struct ar_plot_reproduction *reproduction,
                                  enum ar_plot_quantity quantity)
{
    struct layout *layout = calloc(1, sizeof *layout);
    size_t key_rows;
    if (layout == NULL) {
        return NULL;
    }
    layout->quantity = quantity;
    layout->factor = quantity == AR_PLOT_EFFICIENCY ? 100 : 1;
    for (size_t i = 0; i < reproduction->rows_count; i++) {
        if (reproduction->rows[i].quantity == quantity && layout->count < AR_PLOT_PUBLISHED_MAX) {
            layout->rows[layout->count++] = &reproduction->rows[i];
        }
    }
    list_curves(reproduction, layout);
    set_ranges(reproduction, layout);
    for (size_t i = 0; i < layout->count; i++) {
        layout->has_kind[kind_of(layout->rows[i])] = true;
    }
    key_columns(layout, &key_rows);
    layout->key_y = layout->count > 0 ? ar_plot_table_top(layout->count) : 8;
    layout->y.from = layout->key_y + 12 + KEY_LINE * (double)key_rows + 48;
    layout->height = layout->y.from + PLOT_HEIGHT + TITLE_SIZE - 14;
    place_points(layout);
    return layout;
}

static void write_data(FILE *file, const struct ar_plot_reproduction *reproduction,
                       enum ar_plot_quantity quantity)
{
    struct layout *layout = make_layout(reproduction, quantity);
    fputs("x,y,predicted,low,high,kind,label_x,label_y,leader_x,leader_"
          "y," AR_PLOT_TABLE_COLUMNS "\n",
          file);
    for (size_t i = 0; layout != NULL && i < layout->count; i++) {
        const struct ar_plot_published *row = layout->rows[i];
        const struct ar_plot_spot *spot = &layout->spots[i];
        double factor = layout->factor;
        double label_x = ar_plot_axis_value(&layout->x, spot->label_x);
        double label_y = ar_plot_axis_value(&layout->y, spot->label_y);
        double y = factor * shown(row);
        fprintf(file, "%.9g,%.9g,", row->gpus, y);
        if (isfinite(row->predicted)) {
            fprintf(file, "%.9g,%.9g,%.9g,", factor * row->predicted, factor * row->low,
                    factor * row->high);
        } else {
            fputs("NaN,NaN,NaN,", file);
        }
        fprintf(file, "%d,", (int)kind_of(row));
        fprintf(file, "%.9g,%.9g,%.9g,%.9g,", label_x, label_y,
                spot->has_leader ? label_x - row->gpus : 0, spot->has_leader ? label_y - y : 0);
        ar_plot_write_table_cells(file, row, i, layout->count);
        fputc('\n', file);
    }
    free(layout);
}

static void write_curves(FILE *file, const struct ar_plot_reproduction *reproduction,
                         enum ar_plot_quantity quantity)
{
    struct layout *layout = make_layout(reproduction, quantity);
    fputs("curve,gpus,value,low,high\n", file);
    for (size_t i = 0; layout != NULL && i < reproduction->points_count; i++) {
        const struct ar_plot_curve_point *point = &reproduction->points[i];
        size_t curve = find_curve(layout, point->curve);
        if (point->quantity == quantity && curve < layout->curves_count) {
            fprintf(file, "%zu,%.9g,%.9g,%.9g,%.9g\n", curve + 1, point->gpus,
                    layout->factor * point->value, layout->factor * point->low,
                    layout->factor * point->high);
        }
    }
    free(layout);
}

static void write_gpu_ticks(FILE *file, const struct ar_plot_axis *axis)
{
    struct ar_plot_tick ticks[64];
    size_t count = 0;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (double gpus = exp2(ceil(log2(axis->min))); gpus <= axis->max && count < 64; gpus *= 2) {
        ticks[count].value = gpus;
        snprintf(ticks[count++].label, sizeof ticks->label, "%.0f", gpus);
    }
    if (stream != NULL && count > 0) {
        ar_plot_write_ticks(stream, "xtics", ticks, count, count - 1, 12);
    }
    if (stream != NULL) {
        fclose(stream);
        fprintf(file, "%.*s; ", (int)strcspn(text, "\n"), text);
    }
    free(text);
}

static void write_panel(FILE *file, const struct layout *layout, const char *y_label)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return;
    }
    fprintf(stream, "set logscale x 2; set xtics nomirror; set xrange [%.9g:%.9g]; ", layout->x.min,
            layout->x.max);
    write_gpu_ticks(stream, &layout->x);
    ar_plot_write_axis(stream, "y", &layout->y, 10);
    fprintf(stream, "set lmargin at screen %.6f; set rmargin at screen %.6f; ",
            layout->x.from / AR_PLOT_WIDTH, (layout->x.from + layout->x.size) / AR_PLOT_WIDTH);
    fprintf(stream, "set bmargin at screen %.6f; set tmargin at screen %.6f; ",
            layout->y.from / layout->height, (layout->y.from + layout->y.size) / layout->height);
    fprintf(stream, "set xlabel 'GPUs'; set ylabel '%s'", y_label);
    fclose(stream);
    ar_plot_write_text(file, "panel_setup", text);
    free(text);
}

/* The kinds of points that the key explains, by number. */
static void write_kinds(FILE *file, const struct layout *layout)
{
    char list[4 * KINDS] = "";
    for (size_t i = 0; i < KINDS; i++) {
        if (layout->has_kind[i]) {
            snprintf(list + strlen(list), 4, "%zu ", i);
        }
    }
    ar_plot_write_text(file, "kinds", list);
    fprintf(file, "array kind_names[%d] = ['%s', '%s', '%s']\n", KINDS, kind_names[0],
            kind_names[1], kind_names[2]);
    fprintf(file, "predictions_count = %d\n", has_predictions(layout));
}

static void write_settings(FILE *file, const struct ar_plot_reproduction *reproduction,
                           enum ar_plot_quantity quantity)
{
    struct layout *layout = make_layout(reproduction, quantity);
    bool is_time = quantity == AR_PLOT_TRAIN;
    char left_out[96];
    size_t key_rows;
    if (layout == NULL) {
        return;
    }
    size_t columns = key_columns(layout, &key_rows);
    snprintf(left_out, sizeof left_out, "the first %d curves; curves.csv has all",
             AR_PLOT_CURVES_MAX);
    const char *subtitle[] = {"lines: predicted, with their bands; numbers: rows of the table",
                              left_out};
    ar_plot_write_texts(file, "subtitle", subtitle, layout->curves_left_out > 0 ? 2 : 1);
    ar_plot_write_text(file, "title",
                       is_time ? "Time to train, published and predicted"
                               : "Scaling efficiency, published and predicted");
    fprintf(file, "picture_height = %.0f\nkey_columns = %zu\nkey_rows = %zu\n", layout->height,
            columns, key_rows);
    fprintf(file, "key_y = %.9g\npoints_count = %zu\n", (layout->key_y + 4) / layout->height,
            layout->count);
    if (layout->count > 0) {
        ar_plot_write_table_texts(file, layout->rows, layout->count);
    }
    ar_plot_write_curve_styles(file, layout->curves, layout->curves_count);
    write_kinds(file, layout);
    write_panel(file, layout, is_time ? "time to train (s)" : "scaling efficiency (%)");
    free(layout);
}

/* --- the two pictures --------------------------------------------------------------------- */

static size_t count_efficiencies(const struct ar_plot_reproduction *reproduction)
{
    return count_of(reproduction, AR_PLOT_EFFICIENCY);
}

static void write_efficiency_data(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_data(file, reproduction, AR_PLOT_EFFICIENCY);
}

static void write_efficiency_curves(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_curves(file, reproduction, AR_PLOT_EFFICIENCY);
}

static void write_efficiency_settings(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_settings(file, reproduction, AR_PLOT_EFFICIENCY);
}

const struct ar_plot_reproduced ar_plot_efficiency_published = {
    .name = "efficiency_published",
    .data_name = "efficiency_published",
    .template_name = "published",
    .empty_reason = "neither reproduce.csv nor curves.csv has a row of efficiency_frac",
    .count = count_efficiencies,
    .write_data = write_efficiency_data,
    .write_curves = write_efficiency_curves,
    .write_settings = write_efficiency_settings,
};

static size_t count_times(const struct ar_plot_reproduction *reproduction)
{
    return count_of(reproduction, AR_PLOT_TRAIN);
}

static void write_time_data(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_data(file, reproduction, AR_PLOT_TRAIN);
}

static void write_time_curves(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_curves(file, reproduction, AR_PLOT_TRAIN);
}

static void write_time_settings(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    write_settings(file, reproduction, AR_PLOT_TRAIN);
}

const struct ar_plot_reproduced ar_plot_time_to_train = {
    .name = "time_to_train",
    .data_name = "time_to_train",
    .template_name = "published",
    .empty_reason = "neither reproduce.csv nor curves.csv has a row of train_s",
    .count = count_times,
    .write_data = write_time_data,
    .write_curves = write_time_curves,
    .write_settings = write_time_settings,
};
