/* Data and scripts for gnuplot, and the values of points in the SVG that it makes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_output.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "pictures.h"

enum { SVG_MAX = 1 << 26 };

/* Facts below the title: the columns that the kind lists, and others with unusual values. */
static const struct phrase {
    enum ar_plot_column column;
    const char *before, *after;
    const char *usual; /* NULL: shown if the kind lists the column */
} phrases[] = {
    {AR_COL_CLUSTER, "", "", NULL},
    {AR_COL_TRACE, "", "", NULL},
    {AR_COL_GPUS, "", " GPUs", NULL},
    {AR_COL_MESH, "mesh ", "", ""},
    {AR_COL_ALONG, "along ", "", ""},
    {AR_COL_ROOT, "root ", "", "0"},
    {AR_COL_BATCH, "batch of ", " per GPU", NULL},
    {AR_COL_GLOBAL_BATCH, "", " sequences per step", NULL},
    {AR_COL_PRECISION, "", "", NULL},
    {AR_COL_SCALE, "gradients x ", "", "1"},
    {AR_COL_WIRE, "", " on the wire", ""},
    {AR_COL_FRAMEWORK, "framework ", "", "none"},
    {AR_COL_SETTINGS, "", "", ""},
    {AR_COL_JITTER, "jitter ", "", "0"},
    {AR_COL_SEED, "seed ", "", "1"},
    {AR_COL_BUCKET, "bucket ", "", "ddp"},
    {AR_COL_CHANNELS, "channels ", "", NULL},
    {AR_COL_WINDOW, "window ", "", "8"},
    {AR_COL_BASELINE, "100 % = one ", "", NULL},
    {AR_COL_ENGINE, "engine ", "", NULL},
};

/* --- data --------------------------------------------------------------------------------- */

const char *ar_plot_data_name(const struct ar_plot_drawing *drawing, size_t part)
{
    const char *name = drawing->kind->parts[part].name;
    return name != NULL ? name : drawing->kind->name;
}

void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing, size_t part)
{
    const struct ar_plot_part *shown = &drawing->kind->parts[part];
    const struct ar_plot_table *table = drawing->tables[part];
    struct ar_plot_rows rows = drawing->rows[part];
    if (shown->write != NULL) {
        shown->write(file, table, rows);
        return;
    }
    for (size_t i = 0; shown->columns[i] != AR_COL_END; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : ",", ar_plot_column_name(shown->columns[i]));
    }
    for (size_t row = 0; row < rows.count; row++) {
        for (size_t i = 0; shown->columns[i] != AR_COL_END; i++) {
            fputc(i == 0 ? '\n' : ',', file);
            ar_plot_write_cell(file, ar_plot_cell(table, rows.rows[row], shown->columns[i]));
        }
    }
    fputc('\n', file);
}

/* --- facts -------------------------------------------------------------------------------- */

/* Whether some row has a value that is to stand below the title. What the picture has as an axis or
 * in the names of its series does not. */
static bool is_fact_shown(const struct ar_plot_drawing *drawing, const struct phrase *phrase)
{
    const struct ar_plot_table *table = drawing->tables[0];
    const enum ar_plot_column *fact = drawing->kind->facts;
    bool has_facts = *fact != AR_COL_END;
    while (*fact != AR_COL_END && *fact != phrase->column) {
        fact++;
    }
    bool is_axis = (drawing->kind->has_all_batches && phrase->column == AR_COL_SCALE) ||
                   (drawing->series != AR_PLOT_UNNAMED &&
                    ar_plot_rows_vary(table, phrase->column, drawing->rows[0]));
    for (size_t i = 0; i < drawing->rows[0].count && has_facts && !is_axis; i++) {
        size_t row = drawing->rows[0].rows[i];
        const char *cell = ar_plot_cell(table, row, phrase->column);
        const char *usual = phrase->column == AR_COL_WIRE
                                ? ar_plot_cell(table, row, AR_COL_PRECISION)
                                : phrase->usual;
        if (cell[0] != '\0' &&
            (usual == NULL ? *fact == phrase->column : strcmp(cell, usual) != 0)) {
            return true;
        }
    }
    return false;
}

/* Whether an earlier row has the same value. */
static bool has_earlier_row(const struct ar_plot_drawing *drawing, enum ar_plot_column column,
                            size_t i)
{
    const struct ar_plot_table *table = drawing->tables[0];
    const size_t *rows = drawing->rows[0].rows;
    for (size_t k = 0; k < i; k++) {
        if (ar_plot_value(table, rows[k], column) == ar_plot_value(table, rows[i], column)) {
            return true;
        }
    }
    return false;
}

/* Settings are several facts, so that lines can break between them. */
static void write_fact(FILE *file, const struct ar_plot_drawing *drawing,
                       const struct phrase *phrase)
{
    char text[1024] = "";
    FILE *fact = fmemopen(text, sizeof text, "w");
    for (size_t i = 0; fact != NULL && i < drawing->rows[0].count; i++) {
        if (!has_earlier_row(drawing, phrase->column, i)) {
            const char *cell =
                ar_plot_cell(drawing->tables[0], drawing->rows[0].rows[i], phrase->column);
            fprintf(fact, "%s%s", i == 0 ? phrase->before : " + ", cell[0] == '\0' ? "none" : cell);
        }
    }
    if (fact != NULL) {
        fputs(phrase->after, fact);
        fclose(fact);
    }
    text[sizeof text - 1] = '\0';
    const char *comma = "";
    for (char *rest = text, *part;
         (part = phrase->column == AR_COL_SETTINGS ? ar_next_part(&rest, ' ')
                                                   : strsep(&rest, "")) != NULL;) {
        fputs(comma, file);
        ar_plot_write_text(file, part);
        comma = ", ";
    }
}

static void write_fact_array(FILE *file, const struct ar_plot_drawing *drawing)
{
    size_t count = 0;
    fputs("array facts = [", file);
    if (drawing->subject != NULL) {
        ar_plot_write_text(file, drawing->subject);
        count++;
    }
    if (drawing->series == AR_PLOT_NAMED_FASTEST) {
        fprintf(file, "%s'each at its fastest algorithm'", count++ == 0 ? "" : ", ");
    }
    for (size_t i = 0; drawing->tables[0] != NULL && i < sizeof phrases / sizeof phrases[0]; i++) {
        if (is_fact_shown(drawing, &phrases[i])) {
            fputs(count++ == 0 ? "" : ", ", file);
            write_fact(file, drawing, &phrases[i]);
        }
    }
    fputs(count == 0 ? "'']\n" : "]\n", file);
}

void ar_plot_write_head(FILE *file, const struct ar_plot_drawing *drawing)
{
    static const char *const names[AR_PLOT_PARTS] = {"data", "curve_data"};
    fprintf(file,
            "# Written by Allreckon. `gnuplot %s.gp` in this directory draws %s.svg and %s.png\n"
            "# again from the CSV files named here. Drawing the directory anew replaces them.\n\n"
            "picture = '%s'\n",
            drawing->kind->name, drawing->kind->name, drawing->kind->name, drawing->kind->name);
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        if (ar_plot_has_part(drawing->kind, part)) {
            bool is_there = drawing->rows[part].count > 0;
            fprintf(file, "%s = '%s%s'\n", names[part],
                    is_there ? ar_plot_data_name(drawing, part) : "", is_there ? ".csv" : "");
        }
    }
    write_fact_array(file, drawing);
    fputs(drawing->kind->settings == NULL ? "" : drawing->kind->settings, file);
}

/* --- values of points --------------------------------------------------------------------- */

/* A line for each cell that is not empty, in a unit that suits this cell. */
static void write_row_values(FILE *file, const struct ar_csv *csv, size_t row)
{
    const char *between = "";
    for (size_t i = 0; i < csv->columns_count; i++) {
        const char *column = csv->cells[i];
        const char *cell = ar_csv_cell(csv, row, i);
        if (cell[0] != '\0') {
            struct ar_plot_unit unit = ar_plot_unit_of(column, ar_plot_number_of(cell));
            fputs(between, file);
            ar_plot_write_name(file, column, unit);
            fputs(": ", file);
            ar_plot_write_measure(file, cell, unit);
            between = "\n";
        }
    }
}

static void write_svg_with_values(FILE *file, const char *svg, const struct ar_csv *const *parts)
{
    static const char before[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
    for (const char *at; (at = strstr(svg, before)) != NULL;) {
        char *end;
        const char *next = strstr(at, "</title>");
        size_t part = strtoumax(at + sizeof before - 1, &end, 10);
        size_t row = *end == ':' ? strtoumax(end + 1, &end, 10) : SIZE_MAX;
        if (next == NULL) {
            break;
        }
        fwrite(svg, 1, (size_t)(at - svg), file);
        fputs("<g class=\"value\"><title>", file);
        if (part < AR_PLOT_PARTS && parts[part] != NULL && row < parts[part]->rows_count) {
            write_row_values(file, parts[part], row);
        }
        svg = next;
    }
    fputs(svg, file);
}

enum ar_status ar_plot_add_values(const struct ar_plot_drawing *drawing, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_csv *parts[AR_PLOT_PARTS] = {NULL};
    struct ar_output *output;
    char *svg;
    size_t bytes;
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        struct ar_csv *csv;
        if (drawing->rows[part].count > 0) {
            const char *name = ar_plot_data_name(drawing, part);
            AR_TRY(ar_csv_load(ar_arena_format(arena, "%s/%s.csv", directory, name), arena, &csv,
                               err));
            parts[part] = csv;
        }
    }
    const char *path = ar_arena_format(arena, "%s/%s.svg", directory, drawing->kind->name);
    AR_TRY(ar_file_read(path, SVG_MAX, "a picture", arena, &svg, &bytes, err));
    AR_TRY(ar_output_begin(path, arena, &output, err));
    write_svg_with_values(output->file, svg, parts);
    return ar_output_commit(output, err);
}
