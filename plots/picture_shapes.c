#include "plot_script.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"

static void write_shapes_data(FILE *file, const struct ar_plot_scene *scene)
{
    fprintf(file, AR_PLOT_LEAD_COLUMNS ",grid_x,allreduce_s\n");
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        ar_plot_write_lead(file, scene, row);
        if (row->grid_x > 0) {
            fprintf(file, ",%" PRIu32, row->grid_x);
        } else {
            fputc(',', file);
        }
        fprintf(file, ",%.9g\n", row->allreduce_s);
    }
}

static int compare_ticks(const void *left, const void *right)
{
    double a = ((const struct ar_plot_tick *)left)->value;
    double b = ((const struct ar_plot_tick *)right)->value;
    return (a > b) - (a < b);
}

static void write_grid_ticks(FILE *file, const struct ar_plot_scene *scene, uint32_t best_x)
{
    struct ar_plot_tick *ticks = calloc(scene->pick->rows_count, sizeof *ticks);
    if (ticks == NULL) {
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        if (row->grid_x > 0) {
            ticks[count].value = row->grid_x;
            snprintf(ticks[count++].label, sizeof ticks->label, "%s", row->shape);
        }
    }
    qsort(ticks, count, sizeof *ticks, compare_ticks);
    size_t first = 0;
    while (ticks[first].value < best_x) {
        first++;
    }
    size_t unlike = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || ticks[i].value > ticks[i - 1].value) {
            first = i == first ? unlike : first;
            ticks[unlike++] = ticks[i];
        }
    }
    ar_plot_write_ticks(file, "xtics", ticks, unlike, first, 26);
    fputs("if (exists('ascii_columns')) ", file);
    ar_plot_write_ticks(file, "xtics", ticks, unlike, first, 7);
    free(ticks);
}

struct extent {
    double x_min, x_max;
    double y_min, y_max; /* milliseconds */
};

static struct extent find_extent(const struct ar_plot_scene *scene)
{
    struct extent extent = {INFINITY, 0, INFINITY, 0};
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        if (row->grid_x > 0) {
            extent.x_min = fmin(extent.x_min, row->grid_x);
            extent.x_max = fmax(extent.x_max, row->grid_x);
        }
        extent.y_min = fmin(extent.y_min, row->allreduce_s * 1e3);
        extent.y_max = fmax(extent.y_max, row->allreduce_s * 1e3);
    }
    return extent;
}

/* The label of the best shape lies below its point, and at the edges beside it. */
static void write_best(FILE *file, const struct ar_plot_row *best, const struct extent *extent)
{
    char time[AR_UNIT_TEXT];
    char label[AR_PLOT_NAME + AR_UNIT_TEXT + 16];
    snprintf(label, sizeof label, "best: %s, %s", best->shape,
             ar_format_seconds(best->allreduce_s, time));
    ar_plot_write_text(file, "best_label", label);
    double width = log(extent->x_max / extent->x_min);
    double place = width > 0 ? log(best->grid_x / extent->x_min) / width : 0.5;
    ar_plot_write_text(file, "best_side",
                       place < 0.25   ? "left"
                       : place > 0.75 ? "right"
                                      : "center");
    fprintf(file, "best_x = %" PRIu32 "\nbest_ms = %.9g\n", best->grid_x, best->allreduce_s * 1e3);
}

static void write_shapes_settings(FILE *file, const struct ar_plot_scene *scene)
{
    const struct ar_plot_row *best = ar_plot_pick_best_grid(scene->pick);
    char gpus[32];
    snprintf(gpus, sizeof gpus, "%" PRIu64 " GPUs", best->gpus);
    ar_plot_write_step_subtitle(file, scene, gpus, NULL);
    ar_plot_write_series(file, scene, true);
    struct extent extent = find_extent(scene);
    ar_plot_write_range(file, "x", extent.x_min, extent.x_max, 1.2);
    double y_min = extent.y_min / fmax(1.25, pow(extent.y_max / extent.y_min, 0.25));
    double y_max = extent.y_max * 1.15;
    fprintf(file, "y_min = %.9g\ny_max = %.9g\n", y_min, y_max);
    ar_plot_write_log_ticks(file, "ytics", y_min, y_max, NULL);
    write_grid_ticks(file, scene, best->grid_x);
    write_best(file, best, &extent);
}

const struct ar_plot_drawing ar_plot_shapes = {
    .name = "shapes",
    .data_name = "shapes",
    .kind = AR_PLOT_STEPS,
    .has_text_version = true,
    .empty_reason = "no GPU count has several grid shapes X x Y",
    .pick = ar_plot_pick_shapes,
    .write_data = write_shapes_data,
    .write_settings = write_shapes_settings,
};
