#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "plot_script.h"

enum { PANELS_MAX = AR_PLOT_PANELS_MAX, TICKS_TEXT_LABELS = 11 };

/* The rows of one GPU count. */
struct panel {
    const struct ar_plot_row *const *rows;
    size_t rows_count;
};

static size_t list_panels(const struct ar_plot_pick *pick, struct panel panels[PANELS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < pick->rows_count; i++) {
        if (i == 0 || pick->rows[i]->gpus != pick->rows[i - 1]->gpus) {
            panels[count++] = (struct panel){pick->rows + i, 0};
        }
        panels[count - 1].rows_count++;
    }
    return count;
}

static void write_shapes_counts_data(FILE *file, const struct ar_plot_scene *scene)
{
    ar_plot_shapes.write_data(file, scene);
}

static const struct ar_plot_row *find_best(const struct panel *panel)
{
    struct ar_plot_pick pick = {(const struct ar_plot_row **)(uintptr_t)panel->rows,
                                panel->rows_count};
    return ar_plot_pick_best_grid(&pick);
}

static int compare_ticks(const void *left, const void *right)
{
    double a = ((const struct ar_plot_tick *)left)->value;
    double b = ((const struct ar_plot_tick *)right)->value;
    return (a > b) - (a < b);
}

/* `set xtics (...)` of a panel, as text; freed by the caller. */
static char *make_ticks(const struct panel *panel, const struct ar_plot_row *best)
{
    char *text = NULL;
    size_t size = 0;
    size_t count = 0;
    struct ar_plot_tick *ticks = calloc(panel->rows_count, sizeof *ticks);
    FILE *file = ticks == NULL ? NULL : open_memstream(&text, &size);
    if (file == NULL) {
        free(ticks);
        return NULL;
    }
    for (size_t i = 0; i < panel->rows_count; i++) {
        if (panel->rows[i]->grid_x > 0) {
            ticks[count].value = panel->rows[i]->grid_x;
            snprintf(ticks[count++].label, sizeof ticks->label, "%s", panel->rows[i]->shape);
        }
    }
    qsort(ticks, count, sizeof *ticks, compare_ticks);
    size_t first = 0;
    while (ticks[first].value < best->grid_x) {
        first++;
    }
    ar_plot_write_ticks(file, "xtics", ticks, count, first, TICKS_TEXT_LABELS);
    fclose(file);
    free(ticks);
    return text;
}

static bool has_rows(const struct ar_plot_row *const *rows, size_t count, uint32_t algorithm,
                     bool with_grid)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i]->algorithm == algorithm && (rows[i]->grid_x > 0 || !with_grid)) {
            return true;
        }
    }
    return false;
}

/* Which of the algorithms (with a grid somewhere) or of the references (without) are in a panel,
 * by their places in the arrays of ar_plot_write_series(): gnuplot warns of curves without points.
 */
static void write_present(FILE *file, const struct ar_plot_scene *scene, const struct panel *panel,
                          bool are_grids)
{
    const struct ar_plot_pick *pick = scene->pick;
    fputs(" = '", file);
    for (uint32_t i = 0, place = 0; i < scene->algorithms->count; i++) {
        if (!has_rows(pick->rows, pick->rows_count, i, false) ||
            has_rows(pick->rows, pick->rows_count, i, true) != are_grids) {
            continue;
        }
        place++;
        if (has_rows(panel->rows, panel->rows_count, i, are_grids)) {
            fprintf(file, " %" PRIu32, place);
        }
    }
    fputs("'\n", file);
}

static void write_panel(FILE *file, const struct ar_plot_scene *scene, const struct panel *panel,
                        size_t number)
{
    char time[AR_UNIT_TEXT];
    char label[2 * AR_PLOT_NAME + AR_UNIT_TEXT];
    const struct ar_plot_row *best = find_best(panel);
    char *ticks = make_ticks(panel, best);
    double min = INFINITY;
    double max = 0;
    for (size_t i = 0; i < panel->rows_count; i++) {
        if (panel->rows[i]->grid_x > 0) {
            min = fmin(min, panel->rows[i]->grid_x);
            max = fmax(max, panel->rows[i]->grid_x);
        }
    }
    snprintf(label, sizeof label, "%" PRIu64 " GPUs, best: %s, %s", best->gpus, best->shape,
             ar_format_seconds(best->allreduce_s, time));
    fprintf(file, "panel_gpus[%zu] = %" PRIu64 "\n", number, best->gpus);
    fprintf(file, "panel_min[%zu] = %.9g\npanel_max[%zu] = %.9g\n", number, min / 1.25, number,
            max * 1.25);
    fprintf(file, "panel_best_x[%zu] = %" PRIu32 "\npanel_best_ms[%zu] = %.9g\n", number,
            best->grid_x, number, best->allreduce_s * 1e3);
    fprintf(file, "panel_title[%zu] = ", number);
    ar_plot_write_quoted(file, label);
    fprintf(file, "\npanel_ticks[%zu] = ", number);
    ar_plot_write_quoted(file, ticks == NULL ? "" : ticks);
    fprintf(file, "\npanel_algorithms[%zu]", number);
    write_present(file, scene, panel, true);
    fprintf(file, "panel_references[%zu]", number);
    write_present(file, scene, panel, false);
    free(ticks);
}

static void write_shapes_counts_settings(FILE *file, const struct ar_plot_scene *scene)
{
    static const char *const arrays[] = {"gpus",  "min",   "max",        "best_x",    "best_ms",
                                         "title", "ticks", "algorithms", "references"};
    struct panel panels[PANELS_MAX];
    size_t count = list_panels(scene->pick, panels);
    double min = INFINITY;
    double max = 0;
    ar_plot_write_step_subtitle(file, scene, "circles: best grids", NULL);
    ar_plot_write_series(file, scene, true);
    fprintf(file, "panels_count = %zu\npanels_rows = %zu\npicture_height = %zu\n", count,
            (count + 1) / 2, 120 + 250 * ((count + 1) / 2));
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        fprintf(file, "array panel_%s[%zu]\n", arrays[i], count);
    }
    for (size_t i = 0; i < count; i++) {
        write_panel(file, scene, &panels[i], i + 1);
    }
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        min = fmin(min, scene->pick->rows[i]->allreduce_s * 1e3);
        max = fmax(max, scene->pick->rows[i]->allreduce_s * 1e3);
    }
    fprintf(file, "y_min = %.9g\ny_max = %.9g\n", min / 1.4, max * 1.3);
    ar_plot_write_log_ticks(file, "ytics", min / 1.4, max * 1.3, NULL);
}

const struct ar_plot_drawing ar_plot_shapes_counts = {
    .name = "shapes_counts",
    .data_name = "shapes_counts",
    .kind = AR_PLOT_STEPS,
    .empty_reason = "fewer than two GPU counts have several grid shapes X x Y",
    .pick = ar_plot_pick_shapes_counts,
    .write_data = write_shapes_counts_data,
    .write_settings = write_shapes_counts_settings,
};
