#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "plot_crossover.h"
#include "plot_script.h"

/* The crossings of a scene; the owner frees them. NULL without memory or disk, which ends in a
 * picture that gnuplot refuses. */
static struct ar_plot_crossings *find(const struct ar_plot_scene *scene)
{
    struct ar_plot_crossings *crossings = calloc(1, sizeof *crossings);
    if (crossings != NULL) {
        ar_plot_crossings_find(scene->pick, scene->algorithms, crossings);
    }
    return crossings;
}

struct extent {
    uint64_t min_gpus, max_gpus; /* of all cells */
};

static struct extent find_extent(const struct ar_plot_crossings *crossings)
{
    struct extent extent = {UINT64_MAX, 0};
    for (size_t i = 0; i < crossings->count; i++) {
        const struct ar_plot_crossing *cell = &crossings->cells[i];
        extent.min_gpus = cell->min_gpus < extent.min_gpus ? cell->min_gpus : extent.min_gpus;
        extent.max_gpus = cell->max_gpus > extent.max_gpus ? cell->max_gpus : extent.max_gpus;
    }
    return extent;
}

/* Darker the sooner: 1 at the smallest count, 0.15 at the largest, 0 for never. */
static double shade(const struct ar_plot_crossing *cell, const struct extent *extent)
{
    double all = log2((double)extent->max_gpus / (double)extent->min_gpus);
    if (cell->from_gpus == 0) {
        return 0;
    }
    double above = log2((double)cell->from_gpus / (double)extent->min_gpus);
    return 1 - 0.85 * (all > 0 ? above / all : 0);
}

static void format_count(const struct ar_plot_crossing *cell, uint64_t gpus, char *text,
                         size_t size)
{
    if (gpus > 0) {
        snprintf(text, size, "%s%" PRIu64, gpus == cell->min_gpus ? "<= " : "", gpus);
    } else {
        snprintf(text, size, "never");
    }
}

static void write_count(FILE *file, uint64_t gpus)
{
    if (gpus > 0) {
        fprintf(file, "%" PRIu64, gpus);
    }
    fputc(',', file);
}

static void write_crossover_data(FILE *file, const struct ar_plot_scene *scene)
{
    struct ar_plot_crossings *crossings = find(scene);
    fputs("precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,"
          "min_gpus,max_gpus,column,line,shade_frac,is_dark,text,clear_text\n",
          file);
    if (crossings == NULL) {
        return;
    }
    struct extent extent = find_extent(crossings);
    for (size_t i = 0; i < crossings->count; i++) {
        const struct ar_plot_crossing *cell = &crossings->cells[i];
        const struct ar_plot_row *row = cell->row;
        double shade_frac = shade(cell, &extent);
        char text[32];
        char clear[32];
        format_count(cell, cell->from_gpus, text, sizeof text);
        format_count(cell, cell->clear_gpus, clear, sizeof clear);
        fprintf(file, "%s,%" PRIu64 ",%.9g,%" PRIu64 ",", row->precision, row->payload_bytes,
                row->gradient_scale, row->batch_per_gpu);
        write_count(file, cell->from_gpus);
        write_count(file, cell->clear_gpus);
        fprintf(file, "%" PRIu64 ",%" PRIu64 ",%zu,%zu,%.3f,%d,%s,%.0f %%: %s\n", cell->min_gpus,
                cell->max_gpus, cell->column, cell->line, shade_frac, shade_frac > 0.6, text,
                100 * AR_PLOT_CROSSOVER_CLEAR_FRAC, clear);
    }
    free(crossings);
}

static void write_column_ticks(FILE *file, const struct ar_plot_crossings *crossings)
{
    fputs("set xtics (", file);
    for (size_t column = 0; column < crossings->columns; column++) {
        size_t i = 0;
        while (crossings->cells[i].column != column) {
            i++;
        }
        fprintf(file, "%s'%" PRIu64 "' %zu", column == 0 ? "" : ", ",
                crossings->cells[i].row->batch_per_gpu, column);
    }
    fputs(")\n", file);
}

/* Payloads name their precision and scale when there are several of them. */
static void write_line_ticks(FILE *file, const struct ar_plot_crossings *crossings)
{
    const struct ar_plot_row *first = crossings->cells[0].row;
    bool has_precisions = false;
    bool has_scales = false;
    for (size_t i = 0; i < crossings->count; i++) {
        const struct ar_plot_row *row = crossings->cells[i].row;
        has_precisions = has_precisions || strcmp(first->precision, row->precision) != 0;
        has_scales = has_scales || first->gradient_scale != row->gradient_scale;
    }
    fputs("set ytics (", file);
    for (size_t i = 0, lines = 0; i < crossings->count; i++) {
        const struct ar_plot_row *row = crossings->cells[i].row;
        char bytes[AR_UNIT_TEXT];
        char scale[32] = "";
        char label[AR_PLOT_NAME + 2 * AR_UNIT_TEXT + 8];
        if (crossings->cells[i].line != lines) {
            continue; /* labelled */
        }
        if (has_scales) {
            snprintf(scale, sizeof scale, " (x%g)", row->gradient_scale);
        }
        snprintf(label, sizeof label, "%s%s%s%s", ar_format_bytes(row->payload_bytes, bytes), scale,
                 has_precisions ? " " : "", has_precisions ? row->precision : "");
        fputs(lines == 0 ? "" : ", ", file);
        ar_plot_write_quoted(file, label);
        fprintf(file, " %zu", lines++);
    }
    fputs(")\n", file);
}

/* `has_clear`: cells have their second number, too. */
static void write_subtitle(FILE *file, const struct ar_plot_scene *scene,
                           const struct extent *extent, bool has_clear)
{
    char counts[64];
    char never[96];
    char clear[64] = "";
    snprintf(counts, sizeof counts, "%" PRIu64 " to %" PRIu64 " GPUs", extent->min_gpus,
             extent->max_gpus);
    snprintf(never, sizeof never, "never: not up to %" PRIu64 " GPUs", extent->max_gpus);
    if (has_clear) {
        snprintf(clear, sizeof clear, "%.0f %%: by so much of a step",
                 100 * AR_PLOT_CROSSOVER_CLEAR_FRAC);
    }
    const char *pieces[] = {scene->subject->cluster,
                            scene->subject->trace,
                            counts,
                            "grids at their best shape",
                            "darker: sooner",
                            never,
                            clear};
    ar_plot_write_subtitle(file, scene, pieces, sizeof pieces / sizeof pieces[0]);
}

static void write_crossover_settings(FILE *file, const struct ar_plot_scene *scene)
{
    struct ar_plot_crossings *crossings = find(scene);
    if (crossings == NULL) {
        return;
    }
    struct extent extent = find_extent(crossings);
    /* The second number of a cell has no room in a crowd. */
    bool has_clear = crossings->columns <= 6 && crossings->lines <= 10;
    write_subtitle(file, scene, &extent, has_clear);
    fprintf(file, "key_columns = 1\nkey_rows = 0\n");
    fprintf(file, "columns = %zu\nlines = %zu\nhas_clear = %d\n", crossings->columns,
            crossings->lines, has_clear);
    /* High enough for a line of text each. */
    fprintf(file, "picture_height = %d\n",
            crossings->lines <= 10 ? 480 : 480 + 32 * ((int)crossings->lines - 10));
    write_column_ticks(file, crossings);
    write_line_ticks(file, crossings);
    free(crossings);
}

const struct ar_plot_drawing ar_plot_crossover = {
    .name = "crossover",
    .data_name = "crossover",
    .kind = AR_PLOT_STEPS,
    .has_all_conditions = true,
    .empty_reason = "needs ring and torus2d on two GPU counts or more, with several payloads "
                    "(up to 24) or batches (up to 16)",
    .pick = ar_plot_pick_crossover,
    .write_data = write_crossover_data,
    .write_settings = write_crossover_settings,
};
