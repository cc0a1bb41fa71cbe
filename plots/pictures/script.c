/* Data and scripts for gnuplot, and the values of points in the SVG that it makes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "ar_units.h"
#include "pictures.h"

enum { SVG_MAX = 1 << 26 };

/* Facts below the title: the columns that the kind lists, and others with unusual values. */
static const struct phrase {
    const char *column;
    const char *before, *after;
    const char *usual; /* NULL: shown if the kind lists the column */
} phrases[] = {
    {"cluster", "", "", NULL},
    {"trace", "", "", NULL},
    {"gpus", "", " GPUs", NULL},
    {"mesh", "mesh ", "", ""},
    {"along", "along ", "", ""},
    {"root", "root ", "", "0"},
    {"batch_per_gpu", "batch of ", " per GPU", NULL},
    {"global_batch", "", " sequences per step", NULL},
    {"precision", "", "", NULL},
    {"gradient_scale", "gradients x ", "", "1"},
    {"wire", "", " on the wire", ""},
    {"framework", "framework ", "", "none"},
    {"settings", "", "", ""},
    {"jitter_frac", "jitter ", "", "0"},
    {"seed", "seed ", "", "1"},
    {"bucket", "bucket ", "", "ddp"},
    {"channels", "channels ", "", NULL},
    {"window", "window ", "", "8"},
    {"baseline", "100 % = one ", "", NULL},
    {"engine", "engine ", "", NULL},
};

/* --- data --------------------------------------------------------------------------------- */

void ar_plot_write_cells(FILE *file, const struct ar_plot_table *table, size_t row,
                         const char *columns)
{
    char column[AR_WORD_SIZE];
    for (const char *comma = ""; ar_next_word(&columns, column); comma = ",") {
        fputs(comma, file);
        ar_plot_write_cell(file, row != SIZE_MAX ? ar_csv_text(table->csv, row, column) : "");
    }
}

void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing)
{
    const struct ar_plot_kind *kind = drawing->kind;
    if (kind->write != NULL) {
        kind->write(file, drawing->table, drawing->rows);
        return;
    }
    for (const char *at = kind->columns; *at != '\0'; at++) {
        fputc(*at == ' ' ? ',' : *at, file);
    }
    for (size_t i = 0; i < drawing->rows.count; i++) {
        fputc('\n', file);
        ar_plot_write_cells(file, drawing->table, drawing->rows.rows[i], kind->columns);
    }
    fputc('\n', file);
}

/* --- facts -------------------------------------------------------------------------------- */

/* Whether some row has a value that is to stand below the title. What the picture has as an axis or
 * in the names of its series does not. */
static bool is_fact_shown(const struct ar_plot_drawing *drawing, const struct phrase *phrase)
{
    const struct ar_plot_kind *kind = drawing->kind;
    const struct ar_plot_source *source = &ar_plot_sources[kind->file];
    bool is_axis = (kind->has_all_batches && strcmp(phrase->column, "gradient_scale") == 0) ||
                   (drawing->has_named_series &&
                    ar_plot_rows_vary(drawing->table, phrase->column, drawing->rows));
    bool is_known = phrase->usual == NULL
                        ? kind->facts != NULL && ar_text_has_word(kind->facts, phrase->column)
                        : ar_text_has_word(source->conditions, phrase->column) ||
                              ar_text_has_word(source->choices, phrase->column);
    for (size_t i = 0; i < drawing->rows.count && kind->facts != NULL && is_known && !is_axis;
         i++) {
        size_t row = drawing->rows.rows[i];
        const char *cell = ar_csv_text(drawing->table->csv, row, phrase->column);
        const char *usual = strcmp(phrase->column, "wire") == 0
                                ? ar_csv_text(drawing->table->csv, row, "precision")
                                : phrase->usual;
        if (cell[0] != '\0' && (usual == NULL || strcmp(cell, usual) != 0)) {
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
    size_t column = ar_csv_find_column(drawing->table->csv, phrase->column);
    size_t columns = drawing->table->csv->columns_count;
    for (size_t i = 0; i < drawing->rows.count; i++) {
        size_t row = drawing->rows.rows[i], k = 0;
        const double *values = drawing->table->values + column;
        while (values[drawing->rows.rows[k] * columns] != values[row * columns] && k < i) {
            k++;
        }
        if (k == i) {
            const char *cell = ar_csv_cell(drawing->table->csv, row, column);
            double value = ar_plot_number_of(cell);
            ar_append_text(text, sizeof text, "%s%s", i == 0 ? phrase->before : " + ",
                           cell[0] == '\0' ? "none"
                           : isnan(value)  ? cell
                                           : AR_SHOW_NUMBER(value));
        }
    }
    ar_append_text(text, sizeof text, "%s", phrase->after);
    const char *comma = "";
    bool are_settings = strcmp(phrase->column, "settings") == 0;
    for (char *rest = text, *part;
         (part = are_settings ? ar_next_part(&rest, ' ') : strsep(&rest, "")) != NULL;) {
        fputs(comma, file);
        ar_plot_write_text(file, part);
        comma = ", ";
    }
}

static void write_fact_array(FILE *file, const struct ar_plot_drawing *drawing)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t count = 0;
    fputs("array facts = [", file);
    for (const char *part = drawing->subject; part != NULL;) { /* lines break behind its commas */
        const char *comma = strstr(part, ", ");
        int size = comma != NULL ? (int)(comma - part) : (int)strlen(part);
        fputs(count++ == 0 ? "" : ", ", file);
        ar_plot_write_text(file, ar_arena_format(&arena, "%.*s", size, part));
        part = comma != NULL ? comma + 2 : NULL;
    }
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
        if (is_fact_shown(drawing, &phrases[i])) {
            fputs(count++ == 0 ? "" : ", ", file);
            write_fact(file, drawing, &phrases[i]);
        }
    }
    fputs(count == 0 ? "'']\n" : "]\n", file);
}

void ar_plot_write_head(FILE *file, const struct ar_plot_drawing *drawing)
{
    const char *name = drawing->name;
    fprintf(file,
            "# Written by Allreckon. `gnuplot %s.gp` in this directory draws %s.svg and %s.png\n"
            "# again from the CSV files named here. Drawing the directory anew replaces them.\n\n"
            "picture = '%s'\ndata = '%s.csv'\n",
            name, name, name, name, drawing->data_name);
    write_fact_array(file, drawing);
    fputs(drawing->kind->settings == NULL ? "" : drawing->kind->settings, file);
}

/* --- values of points --------------------------------------------------------------------- */

static void write_svg_with_values(FILE *file, const char *svg, const struct ar_csv *csv)
{
    static const char before[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'0:";
    for (const char *at; (at = strstr(svg, before)) != NULL;) {
        const char *next = strstr(at, "</title>");
        size_t row = strtoumax(at + sizeof before - 1, NULL, 10);
        if (next == NULL) {
            break;
        }
        fwrite(svg, 1, (size_t)(at - svg), file);
        fputs("<g class=\"value\"><title>", file);
        if (row < csv->rows_count) {
            /* A line for each cell that is not empty, in a unit that suits this cell. */
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
        svg = next;
    }
    fputs(svg, file);
}

enum ar_status ar_plot_add_values(const struct ar_plot_drawing *drawing, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err)
{
    const char *data = drawing->data_name;
    struct ar_output *output;
    struct ar_csv *csv;
    char *svg;
    size_t bytes;
    AR_TRY(ar_csv_load(ar_arena_format(arena, "%s/%s.csv", directory, data), arena, &csv, err));
    const char *path = ar_arena_format(arena, "%s/%s.svg", directory, drawing->name);
    AR_TRY(ar_file_read(path, SVG_MAX, "a picture", arena, &svg, &bytes, err));
    AR_TRY(ar_output_begin(path, arena, &output, err));
    write_svg_with_values(output->file, svg, csv);
    return ar_output_commit(output, err);
}
