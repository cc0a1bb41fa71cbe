#include <math.h>
#include <stdlib.h>

#include "plot_reproduction.h"
#include "plot_script.h"

enum { PANELS_MAX = 4, PANEL_SIZE = 272, PANEL_STEP = 352, KEY_SIZE = 26, TITLE_SIZE = 72 };

/* Rows of like quantities, predicted against measured. */
struct panel {
    const char *title, *unit;
    struct ar_plot_axis x, y;
    bool is_log;
    double factor; /* from the unit of the file to that of the axis */
    struct ar_plot_spot spots[AR_PLOT_PUBLISHED_MAX];
    const struct ar_plot_published *rows[AR_PLOT_PUBLISHED_MAX];
    size_t count;
};

struct layout {
    struct panel panels[PANELS_MAX];
    size_t panels_count, rows_count;
    double height;
};

static bool is_judged(const struct ar_plot_published *row)
{
    return isfinite(row->measured) && isfinite(row->predicted);
}

static size_t count_measured(const struct ar_plot_reproduction *reproduction)
{
    size_t count = 0;
    for (size_t i = 0; i < reproduction->rows_count; i++) {
        count += is_judged(&reproduction->rows[i]);
    }
    return count;
}

static void fill_panels(const struct ar_plot_reproduction *reproduction, struct layout *layout)
{
    static const size_t panel_of[AR_PLOT_QUANTITIES] = {0, 1, 2, 3};
    layout->panels[0] = (struct panel){.title = "scaling efficiency", .unit = "%", .factor = 100};
    layout->panels[1] =
        (struct panel){.title = "time to train", .unit = "s", .factor = 1, .is_log = true};
    layout->panels[2] =
        (struct panel){.title = "time of a step", .unit = "s", .factor = 1, .is_log = true};
    layout->panels[3] =
        (struct panel){.title = "images per second", .unit = "1/s", .factor = 1, .is_log = true};
    for (size_t i = 0; i < reproduction->rows_count; i++) {
        const struct ar_plot_published *row = &reproduction->rows[i];
        struct panel *panel = &layout->panels[panel_of[row->quantity]];
        if (is_judged(row) && layout->rows_count < AR_PLOT_PUBLISHED_MAX) {
            panel->rows[panel->count++] = row;
            layout->rows_count++;
        }
    }
    for (size_t i = 0; i < PANELS_MAX; i++) {
        if (layout->panels[i].count > 0) {
            layout->panels[layout->panels_count++] = layout->panels[i];
        }
    }
}

/* Both axes have the same range, so that the diagonal is a diagonal. */
static void set_range(struct panel *panel)
{
    double min = INFINITY;
    double max = 0;
    for (size_t i = 0; i < panel->count; i++) {
        const struct ar_plot_published *row = panel->rows[i];
        min = fmin(min, panel->factor * fmin(row->measured, fmin(row->predicted, row->low)));
        max = fmax(max, panel->factor * fmax(row->measured, fmax(row->predicted, row->high)));
    }
    if (panel->is_log) {
        double stretch = fmax(1.1, pow(max / min, 0.06));
        panel->y = (struct ar_plot_axis){min / stretch, max * stretch, 0, PANEL_SIZE, true};
    } else {
        double margin = fmax(1, 0.08 * (max - min));
        panel->y = (struct ar_plot_axis){min - margin, max + margin, 0, PANEL_SIZE, false};
    }
    panel->x = panel->y;
}

static void place_panel(struct layout *layout, size_t number)
{
    struct panel *panel = &layout->panels[number];
    size_t lines = (layout->panels_count + 1) / 2;
    double bottom = ar_plot_table_top(layout->rows_count) + KEY_SIZE;
    set_range(panel);
    panel->x.from = layout->panels_count == 1 ? 220 : number % 2 == 0 ? 80 : 436;
    panel->y.from = bottom + 50 + PANEL_STEP * (double)(lines - 1 - number / 2);
    for (size_t i = 0; i < panel->count; i++) {
        const struct ar_plot_published *row = panel->rows[i];
        panel->spots[i] = (struct ar_plot_spot){
            .x = ar_plot_axis_pixel(&panel->x, panel->factor * row->measured),
            .y = ar_plot_axis_pixel(&panel->y, panel->factor * row->predicted),
            .bar_low = ar_plot_axis_pixel(&panel->y, panel->factor * row->low),
            .bar_high = ar_plot_axis_pixel(&panel->y, panel->factor * row->high),
            .width = ar_plot_number_width(row->number)};
    }
    ar_plot_spots_place(panel->spots, panel->count, &panel->x, &panel->y);
}

/* Freed by the caller; NULL without memory. */
static struct layout *make_layout(const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = calloc(1, sizeof *layout);
    if (layout == NULL) {
        return NULL;
    }
    fill_panels(reproduction, layout);
    for (size_t i = 0; i < layout->panels_count; i++) {
        place_panel(layout, i);
    }
    layout->height = ar_plot_table_top(layout->rows_count) + KEY_SIZE + TITLE_SIZE +
                     PANEL_STEP * (double)((layout->panels_count + 1) / 2);
    return layout;
}

static void write_point(FILE *file, const struct panel *panel, size_t number, size_t i)
{
    const struct ar_plot_published *row = panel->rows[i];
    const struct ar_plot_spot *spot = &panel->spots[i];
    double label_x = ar_plot_axis_value(&panel->x, spot->label_x);
    double label_y = ar_plot_axis_value(&panel->y, spot->label_y);
    double x = panel->factor * row->measured;
    double y = panel->factor * row->predicted;
    fprintf(file, "%zu,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,", number + 1, x, y, panel->factor * row->low,
            panel->factor * row->high, label_x, label_y);
    fprintf(file, "%.9g,%.9g,%d,", spot->has_leader ? label_x - x : 0,
            spot->has_leader ? label_y - y : 0, row->is_inside);
}

static void write_predicted_data(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = make_layout(reproduction);
    size_t line = 0;
    fputs(
        "panel,x,y,y_low,y_high,label_x,label_y,leader_x,leader_y,is_inside," AR_PLOT_TABLE_COLUMNS
        "\n",
        file);
    for (size_t p = 0; layout != NULL && p < layout->panels_count; p++) {
        for (size_t i = 0; i < layout->panels[p].count; i++) {
            write_point(file, &layout->panels[p], p, i);
            ar_plot_write_table_cells(file, layout->panels[p].rows[i], line++, layout->rows_count);
            fputc('\n', file);
        }
    }
    free(layout);
}

static void write_panel(FILE *file, const struct layout *layout, size_t number)
{
    const struct panel *panel = &layout->panels[number];
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return;
    }
    ar_plot_write_axis(stream, "x", &panel->x, 6);
    ar_plot_write_axis(stream, "y", &panel->y, 9);
    fprintf(stream, "set lmargin at screen %.6f; set rmargin at screen %.6f; ",
            panel->x.from / AR_PLOT_WIDTH, (panel->x.from + panel->x.size) / AR_PLOT_WIDTH);
    fprintf(stream, "set bmargin at screen %.6f; set tmargin at screen %.6f; ",
            panel->y.from / layout->height, (panel->y.from + panel->y.size) / layout->height);
    fprintf(stream, "set xlabel 'measured (%s)'; set ylabel 'predicted (%s)'; set title '%s'",
            panel->unit, panel->unit, panel->title);
    fclose(stream);
    ar_plot_write_settings_text(file, "panel_setup", number + 1, text);
    fprintf(file, "panel_min[%zu] = %.9g\npanel_max[%zu] = %.9g\n", number + 1, panel->x.min,
            number + 1, panel->x.max);
    free(text);
}

static void write_table(FILE *file, const struct layout *layout)
{
    const struct ar_plot_published *rows[AR_PLOT_PUBLISHED_MAX];
    size_t count = 0;
    for (size_t p = 0; p < layout->panels_count; p++) {
        for (size_t i = 0; i < layout->panels[p].count; i++) {
            rows[count++] = layout->panels[p].rows[i];
        }
    }
    ar_plot_write_table_texts(file, rows, count);
}

static void write_predicted_settings(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = make_layout(reproduction);
    char left_out[96];
    if (layout == NULL) {
        return;
    }
    snprintf(left_out, sizeof left_out, "the first %d of %zu rows; reproduce.csv has all",
             AR_PLOT_PUBLISHED_MAX, count_measured(reproduction));
    const char *subtitle[] = {"numbers: rows of the table; bars: bands of the predictions",
                              left_out};
    bool is_cut = layout->rows_count < count_measured(reproduction);
    ar_plot_write_texts(file, "subtitle", subtitle, is_cut ? 2 : 1);
    fprintf(file, "picture_height = %.0f\nkey_columns = 3\nkey_rows = 1\n", layout->height);
    fprintf(file, "key_y = %.9g\n", ar_plot_table_top(layout->rows_count) / layout->height);
    write_table(file, layout);
    fprintf(file, "panels_count = %zu\narray panel_setup[%zu]\n", layout->panels_count,
            layout->panels_count);
    fprintf(file, "array panel_min[%zu]\narray panel_max[%zu]\n", layout->panels_count,
            layout->panels_count);
    for (size_t i = 0; i < layout->panels_count; i++) {
        write_panel(file, layout, i);
    }
    free(layout);
}

const struct ar_plot_reproduced ar_plot_predicted = {
    .name = "predicted",
    .data_name = "predicted",
    .template_name = "predicted",
    .empty_reason = "reproduce.csv has no row that is measured and predicted",
    .count = count_measured,
    .write_data = write_predicted_data,
    .write_settings = write_predicted_settings,
};
