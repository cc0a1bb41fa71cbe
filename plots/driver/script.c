#include "driver.h"

#include <string.h>

#include "ar_plot_quote.h"
#include "ar_text.h"

/* What is said below the title: of columns that the kind lists, and of others that are not as
 * usual.
 */
static const struct phrase {
    enum ar_plot_column column;
    const char *before, *after;
    const char *usual; /* NULL: it is said if the kind lists it */
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

void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing, size_t part)
{
    const struct ar_plot_part *of = &drawing->kind->parts[part];
    const struct ar_plot_table *table = drawing->tables[part];
    struct ar_plot_rows rows = drawing->rows[part];
    if (of->write != NULL) {
        of->write(file, table, rows);
        return;
    }
    for (size_t i = 0; of->columns[i] != AR_COL_END; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : ",", ar_plot_column_name(of->columns[i]));
    }
    for (size_t row = 0; row < rows.count; row++) {
        for (size_t i = 0; of->columns[i] != AR_COL_END; i++) {
            fputc(i == 0 ? '\n' : ',', file);
            ar_plot_write_cell(file, ar_plot_cell(table, rows.rows[row], of->columns[i]));
        }
    }
    fputc('\n', file);
}

/* --- facts -------------------------------------------------------------------------------- */

static bool is_said(const struct ar_plot_drawing *drawing, const struct phrase *phrase)
{
    const struct ar_plot_table *table = drawing->tables[0];
    const enum ar_plot_column *fact = drawing->kind->facts;
    bool is_step = *fact != AR_COL_END;
    while (*fact != AR_COL_END && *fact != phrase->column) {
        fact++;
    }
    bool is_axis = (drawing->kind->has_all_batches && phrase->column == AR_COL_SCALE) ||
                   (drawing->series != AR_PLOT_UNNAMED &&
                    ar_plot_rows_vary(table, phrase->column, drawing->rows[0]));
    for (size_t i = 0; i < drawing->rows[0].count && is_step && !is_axis; i++) {
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
static bool is_repeated(const struct ar_plot_drawing *drawing, enum ar_plot_column column, size_t i)
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
        if (!is_repeated(drawing, phrase->column, i)) {
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

static void write_facts(FILE *file, const struct ar_plot_drawing *drawing)
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
        if (is_said(drawing, &phrases[i])) {
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
        if (drawing->kind->parts[part].name != NULL) {
            bool is_there = drawing->rows[part].count > 0;
            fprintf(file, "%s = '%s%s'\n", names[part],
                    is_there ? drawing->kind->parts[part].name : "", is_there ? ".csv" : "");
        }
    }
    write_facts(file, drawing);
    fputs(drawing->kind->settings == NULL ? "" : drawing->kind->settings, file);
}
