#include "plot_script.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

/* Bars lie in rows from top to bottom; each GPU count has a row of its own for its heading. */
static uint32_t row_of_bar(const struct ar_plot_scene *scene, size_t bar)
{
    uint32_t row = 0;
    for (size_t i = 0; i <= bar; i++) {
        bool is_first = i == 0 || scene->pick->rows[i]->gpus != scene->pick->rows[i - 1]->gpus;
        row += (i > 0 ? 1u : 0u) + (is_first ? 1u : 0u);
    }
    return row;
}

static bool has_shape(const struct ar_plot_row *row)
{
    return row->shape[0] != '\0' && strcmp(row->shape, "-") != 0;
}

static bool mixes_engines(const struct ar_plot_scene *scene)
{
    for (size_t i = 1; i < scene->pick->rows_count; i++) {
        if (scene->pick->rows[i]->engine != scene->pick->rows[0]->engine) {
            return true;
        }
    }
    return false;
}

enum { BAR_TEXT = 160, LABEL_LENGTH = 28 };

/* What stands to the right of a bar; returns its length. */
static size_t write_bar_text(const struct ar_plot_scene *scene, const struct ar_plot_row *row,
                             bool is_mixed, char text[BAR_TEXT])
{
    return (size_t)snprintf(text, BAR_TEXT, "%.*f ms (%.1f %%)%s%s",
                            row->iteration_s < 0.01 ? 3 : 1, row->iteration_s * 1e3,
                            row->efficiency_frac * 100, is_mixed ? " " : "",
                            is_mixed ? scene->engines->names[row->engine] : "");
}

/* What stands to the left of a bar, a long name cut; returns its length. */
static size_t write_bar_label(const struct ar_plot_scene *scene, const struct ar_plot_row *row,
                              char label[2 * AR_PLOT_NAME])
{
    size_t shape_length = has_shape(row) ? strlen(row->shape) + 1 : 0;
    size_t name_max = shape_length + 8 < LABEL_LENGTH ? LABEL_LENGTH - shape_length : 8;
    char name[AR_PLOT_NAME];
    ar_copy_text(name, sizeof name, scene->algorithms->names[row->algorithm]);
    ar_plot_cut_text(name, name_max);
    return (size_t)snprintf(label, 2 * AR_PLOT_NAME, "%s%s%s", name, has_shape(row) ? " " : "",
                            has_shape(row) ? row->shape : "");
}

static void write_breakdown_data(FILE *file, const struct ar_plot_scene *scene)
{
    fprintf(file, AR_PLOT_LEAD_COLUMNS
            ",overhead_s,forward_s,backward_s,exposed_s,optimizer_s,iteration_s,bar_position,"
            "overhead_end_s,forward_end_s,backward_end_s,exposed_end_s,optimizer_end_s,bar_text\n");
    bool is_mixed = mixes_engines(scene);
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        double parts_s[] = {row->overhead_s, row->forward_s, row->backward_s, row->exposed_s,
                            row->optimizer_s};
        ar_plot_write_lead(file, scene, row);
        for (size_t part = 0; part < 5; part++) {
            fprintf(file, ",%.9g", parts_s[part]);
        }
        fprintf(file, ",%.9g,%" PRIu32, row->iteration_s, row_of_bar(scene, i));
        double end_s = 0;
        for (size_t part = 0; part < 5; part++) {
            end_s += parts_s[part];
            fprintf(file, ",%.9g", end_s);
        }
        char text[BAR_TEXT];
        write_bar_text(scene, row, is_mixed, text);
        fprintf(file, ",%s\n", text);
    }
}

static void write_bar_labels(FILE *file, const struct ar_plot_scene *scene)
{
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        const struct ar_plot_row *row = scene->pick->rows[i];
        char label[2 * AR_PLOT_NAME];
        write_bar_label(scene, row, label);
        uint32_t place = row_of_bar(scene, i);
        ar_plot_write_text(file, "text", label);
        fprintf(file, "set ytics %s(text %" PRIu32 ")\n", i == 0 ? "" : "add ", place);
        if (i == 0 || row->gpus != scene->pick->rows[i - 1]->gpus) {
            fprintf(file,
                    "set label '%" PRIu64 " GPU%s' at graph 0, first %" PRIu32
                    " left offset character 0.5, 0 font heading_font front\n",
                    row->gpus, row->gpus == 1 ? "" : "s", place - 1);
        }
    }
}

/* The end of the time axis, which leaves room for the text beside the longest bar. The plot is what
 * the labels leave of the width; letters take about a hundredth of it. */
static double time_max_ms(const struct ar_plot_scene *scene)
{
    bool is_mixed = mixes_engines(scene);
    size_t label_length = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        char label[2 * AR_PLOT_NAME];
        size_t length = write_bar_label(scene, scene->pick->rows[i], label);
        label_length = length > label_length ? length : label_length;
    }
    double plot_frac = 0.93 - 0.0115 * (double)label_length;
    double max_ms = 0;
    for (size_t i = 0; i < scene->pick->rows_count; i++) {
        char text[BAR_TEXT];
        double letters = (double)write_bar_text(scene, scene->pick->rows[i], is_mixed, text);
        double text_frac = fmin(0.0108 * letters + 0.02, 0.7 * plot_frac);
        max_ms =
            fmax(max_ms, scene->pick->rows[i]->iteration_s * 1e3 / (1 - text_frac / plot_frac));
    }
    return max_ms;
}

static void write_breakdown_settings(FILE *file, const struct ar_plot_scene *scene)
{
    char percent[AR_PLOT_NAME + 48];
    char baseline[AR_PLOT_BASELINE_TEXT];
    snprintf(percent, sizeof percent, "in brackets: efficiency (%s)",
             ar_plot_baseline_text(scene, baseline));
    ar_plot_write_step_subtitle(file, scene, percent, NULL);
    ar_plot_write_text(file, "heading_font", ",14");
    ar_plot_write_key(file, 5, strlen("exposed all-reduce"));
    write_bar_labels(file, scene);
    uint32_t last = row_of_bar(scene, scene->pick->rows_count - 1);
    /* Few bars do not fill the height. */
    fprintf(file, "x_max = %.9g\ny_max = %g\n", time_max_ms(scene), fmax(last, 4) + 0.7);
}

const struct ar_plot_drawing ar_plot_breakdown = {
    .name = "breakdown",
    .data_name = "breakdown",
    .kind = AR_PLOT_STEPS,
    .empty_reason = "no row to draw",
    .pick = ar_plot_pick_breakdown,
    .write_data = write_breakdown_data,
    .write_settings = write_breakdown_settings,
};
