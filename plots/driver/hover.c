#include "driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_output.h"
#include "ar_plot_quote.h"
#include "ar_plot_unit.h"

enum { SVG_MAX = 1 << 26 };

/* A unit that suits the cell alone. */
static void write_cell(FILE *file, const char *column, const char *cell)
{
    struct ar_plot_unit unit = ar_plot_unit_of(column, ar_plot_number_of(cell));
    for (size_t i = 0; i < unit.name_size; i++) {
        fputc(column[i] == '_' ? ' ' : column[i], file);
    }
    fputs(": ", file);
    ar_plot_write_value(file, cell, unit);
    fprintf(file, "%s%s", unit.name[0] != '\0' ? " " : "", unit.name);
}

static void write_row(FILE *file, const struct ar_csv *csv, size_t row)
{
    const char *between = "";
    for (size_t i = 0; i < csv->columns_count; i++) {
        const char *cell = ar_csv_cell(csv, row, i);
        if (cell[0] != '\0') {
            fputs(between, file);
            write_cell(file, csv->cells[i], cell);
            between = "\n";
        }
    }
}

static void write_svg(FILE *file, const char *svg, const struct ar_csv *const *parts)
{
    static const char before[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
    static const char after[] = "</title>";
    for (const char *at; (at = strstr(svg, before)) != NULL;) {
        char *end;
        const char *next = strstr(at, after);
        size_t part = strtoumax(at + sizeof before - 1, &end, 10);
        size_t row = *end == ':' ? strtoumax(end + 1, &end, 10) : SIZE_MAX;
        if (next == NULL) {
            break;
        }
        fwrite(svg, 1, (size_t)(at - svg), file);
        fputs("<g class=\"value\"><title>", file);
        if (part < AR_PLOT_PARTS && parts[part] != NULL && row < parts[part]->rows_count) {
            write_row(file, parts[part], row);
        }
        svg = next;
    }
    fputs(svg, file);
}

static enum ar_status path_of(const char *directory, const char *name, const char *suffix,
                              struct ar_arena *arena, const char **path, struct ar_error *err)
{
    *path = ar_arena_format(arena, "%s/%s%s", directory, name, suffix);
    return *path != NULL ? AR_OK : ar_error_no_memory(err, "the pictures");
}

enum ar_status ar_plot_hover_add(const struct ar_plot_drawing *drawing, const char *directory,
                                 struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_csv *parts[AR_PLOT_PARTS] = {NULL};
    struct ar_output *output;
    const char *path;
    char *svg;
    size_t bytes;
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        struct ar_csv *csv;
        if (drawing->rows[part].count > 0) {
            AR_TRY(path_of(directory, drawing->kind->parts[part].name, ".csv", arena, &path, err));
            AR_TRY(ar_csv_load(path, arena, &csv, err));
            parts[part] = csv;
        }
    }
    AR_TRY(path_of(directory, drawing->kind->name, ".svg", arena, &path, err));
    AR_TRY(ar_file_read(path, SVG_MAX, "a picture", arena, &svg, &bytes, err));
    AR_TRY(ar_output_begin(path, arena, &output, err));
    write_svg(output->file, svg, parts);
    return ar_output_commit(output, err);
}
