#include "plot_script.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ar_plot_drawing *const ar_plot_drawings[AR_PLOT_PICTURES] = {
    &ar_plot_efficiency, &ar_plot_throughput,    &ar_plot_shapes,    &ar_plot_breakdown,
    &ar_plot_payload,    &ar_plot_shapes_counts, &ar_plot_crossover,
};

static void write_gpu_axis(FILE *file, const struct ar_plot_scene *scene)
{
    uint64_t min = UINT64_MAX;
    uint64_t max = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        uint64_t gpus = scene->pick->rows[i]->gpus;
        min = gpus < min ? gpus : min;
        max = gpus > max ? gpus : max;
    }
    ar_plot_write_range(file, "x", (double)min, (double)max, 1.2);
    ar_plot_write_gpu_ticks(file, scene);
}

/* --- efficiency --------------------------------------------------------------------------- */

static void write_efficiency_data(FILE *file, const struct ar_plot_scene *scene)
{
    fprintf(file, AR_PLOT_LEAD_COLUMNS ",efficiency_frac,iteration_s\n");
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        ar_plot_write_lead(file, scene, row);
        fprintf(file, ",%.9g,%.9g\n", row->efficiency_frac, row->iteration_s);
    }
}

static void write_efficiency_settings(FILE *file, const struct ar_plot_scene *scene)
{
    char baseline[AR_PLOT_BASELINE_TEXT];
    ar_plot_write_step_subtitle(file, scene, ar_plot_baseline_text(scene, baseline),
                                ar_plot_grid_note(scene));
    ar_plot_write_series(file, scene, false);
    write_gpu_axis(file, scene);
    double max_frac = 1;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        max_frac = fmax(max_frac, scene->pick->rows[i]->efficiency_frac);
    }
    /* A node as baseline lets a single GPU, which needs no network, pass 100 %. */
    double max = max_frac <= 1.04 ? 105 : 10 * ceil(10.5 * max_frac);
    fprintf(file, "y_min = 0\ny_max = %g\n", max);
}

const struct ar_plot_drawing ar_plot_efficiency = {
    .name = "efficiency",
    .data_name = "efficiency",
    .kind = AR_PLOT_STEPS,
    .has_text_version = true,
    .empty_reason = "no row to draw",
    .pick = ar_plot_pick_curves,
    .write_data = write_efficiency_data,
    .write_settings = write_efficiency_settings,
};

/* --- throughput --------------------------------------------------------------------------- */

static void write_throughput_data(FILE *file, const struct ar_plot_scene *scene)
{
    fprintf(file, AR_PLOT_LEAD_COLUMNS ",images_per_s\n");
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        ar_plot_write_lead(file, scene, scene->pick->rows[i]);
        fprintf(file, ",%.9g\n", scene->pick->rows[i]->images_per_s);
    }
}

/* Images per second and GPU at an efficiency of 1; every row gives the same, up to rounding. */
static double baseline_rate(const struct ar_plot_scene *scene)
{
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        if (row->efficiency_frac > 0) {
            return row->images_per_s / row->efficiency_frac / (double)row->gpus;
        }
    }
    return 0;
}

static void write_throughput_settings(FILE *file, const struct ar_plot_scene *scene)
{
    char baseline[AR_PLOT_BASELINE_TEXT];
    ar_plot_write_step_subtitle(file, scene, ar_plot_baseline_text(scene, baseline),
                                ar_plot_grid_note(scene));
    ar_plot_write_series(file, scene, false);
    write_gpu_axis(file, scene);
    double rate = baseline_rate(scene);
    double min = INFINITY;
    double max = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        min = fmin(min, row->images_per_s);
        max = fmax(max, fmax(row->images_per_s, rate * (double)row->gpus));
    }
    fprintf(file, "ideal_images_per_s_per_gpu = %.9g\n", rate);
    ar_plot_write_range(file, "y", min, max, 1.4);
    ar_plot_write_log_ticks(file, "ytics", min / 1.4, max * 1.4, "");
}

const struct ar_plot_drawing ar_plot_throughput = {
    .name = "throughput",
    .data_name = "throughput",
    .kind = AR_PLOT_STEPS,
    .empty_reason = "no row to draw",
    .pick = ar_plot_pick_curves,
    .write_data = write_throughput_data,
    .write_settings = write_throughput_settings,
};

/* --- payload ------------------------------------------------------------------------------ */

static void write_payload_data(FILE *file, const struct ar_plot_scene *scene)
{
    fprintf(file, AR_PLOT_LEAD_COLUMNS ",payload_bytes,allreduce_s\n");
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        ar_plot_write_lead(file, scene, row);
        fprintf(file, ",%" PRIu64 ",%.9g\n", row->payload_bytes, row->allreduce_s);
    }
}

/* One grid for each algorithm: they are named. Several: the curve takes the best at each payload.
 */
static const char *payload_grid_note(const struct ar_plot_scene *scene, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t algorithm = 0; algorithm < scene->algorithms->count; algorithm++) {
        const struct ar_plot_row *first = NULL;
        for (size_t i = 0; i < scene->pick->rows_count; i++) {
            const struct ar_plot_row *row = scene->pick->rows[i];
            if (row->algorithm != algorithm || row->grid_x == 0) {
                continue;
            }
            if (first != NULL && strcmp(first->shape, row->shape) != 0) {
                return ar_plot_grid_note(scene);
            }
            first = row;
        }
        if (first != NULL && length < size) {
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s %s", length > 0 ? ", " : "",
                                 scene->algorithms->names[algorithm], first->shape);
        }
    }
    return length > 0 ? text : NULL;
}

static void write_payload_settings(FILE *file, const struct ar_plot_scene *scene)
{
    char gpus[32];
    snprintf(gpus, sizeof gpus, "%" PRIu64 " GPUs", scene->pick->rows[0]->gpus);
    char grids[160];
    const char *pieces[] = {scene->subject->cluster, gpus,
                            payload_grid_note(scene, grids, sizeof grids)};
    ar_plot_write_subtitle(file, scene, pieces, 3);
    ar_plot_write_series(file, scene, false);
    double x_min = INFINITY;
    double x_max = 0;
    double y_min = INFINITY;
    double y_max = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        x_min = fmin(x_min, (double)row->payload_bytes);
        x_max = fmax(x_max, (double)row->payload_bytes);
        y_min = fmin(y_min, row->allreduce_s * 1e3);
        y_max = fmax(y_max, row->allreduce_s * 1e3);
    }
    ar_plot_write_range(file, "x", x_min, x_max, 1.3);
    ar_plot_write_range(file, "y", y_min, y_max, 1.4);
    ar_plot_write_log_ticks(file, "xtics", x_min / 1.3, x_max * 1.3, "B");
    ar_plot_write_log_ticks(file, "ytics", y_min / 1.4, y_max * 1.4, NULL);
}

const struct ar_plot_drawing ar_plot_payload = {
    .name = "payload",
    .data_name = "payload_curves", /* payload.csv is its input */
    .kind = AR_PLOT_COLLECTIVES,
    .empty_reason = "no payload.csv beside the sweep",
    .pick = ar_plot_pick_payloads,
    .write_data = write_payload_data,
    .write_settings = write_payload_settings,
};
