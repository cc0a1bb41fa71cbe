#include "script.h"

#include <string.h>

#include "ar_plot_quote.h"

enum { NAME_SIZE = 64 };

/* When a column is said below the title. */
enum habit {
    LISTED, /* if the kind lists it */
    FIXED,  /* if rows of the file differ in it and those of the picture do not */
    CHOSEN  /* if rows of the file differ in it: each curve took the best */
};

static const struct phrase {
    const char *column, *before, *after;
    enum habit habit;
} phrases[] = {
    {"cluster", "", "", LISTED},
    {"trace", "", "", LISTED},
    {"gpus", "", " GPUs", LISTED},
    {"batch_per_gpu", "batch of ", " per GPU", LISTED},
    {"precision", "", "", LISTED},
    {"gradient_scale", "gradients x ", "", FIXED},
    {"wire", "wire ", "", FIXED},
    {"framework", "framework ", "", FIXED},
    {"settings", "", "", FIXED},
    {"jitter_frac", "jitter ", "", FIXED},
    {"seed", "seed ", "", FIXED},
    {"bucket", "bucket ", "", CHOSEN},
    {"channels", "channels ", "", CHOSEN},
    {"window", "window ", "", CHOSEN},
    {"baseline", "100 % = one ", "", LISTED},
    {"engine", "engine ", "", LISTED},
};

/* --- data --------------------------------------------------------------------------------- */

/* Takes the next of names separated by commas; false at their end. */
static bool next_name(const char **names, char name[NAME_SIZE])
{
    size_t length = strcspn(*names, ",");
    if (length == 0) {
        return false;
    }
    snprintf(name, NAME_SIZE, "%.*s", (int)length, *names);
    *names += length + ((*names)[length] == ',');
    return true;
}

void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing, size_t part)
{
    const struct ar_plot_table *table = drawing->tables[part];
    struct ar_plot_rows rows = drawing->rows[part];
    if (drawing->kind->write != NULL) {
        drawing->kind->write(file, table, rows);
        return;
    }
    fprintf(file, "%s\n", drawing->kind->parts[part].columns);
    for (size_t i = 0; i < rows.count; i++) {
        const char *names = drawing->kind->parts[part].columns;
        char name[NAME_SIZE];
        const char *comma = "";
        while (next_name(&names, name)) {
            fputs(comma, file);
            ar_plot_write_cell(file,
                               ar_plot_cell(table, rows.rows[i], ar_plot_column(table, name)));
            comma = ",";
        }
        fputc('\n', file);
    }
}

/* --- facts -------------------------------------------------------------------------------- */

static bool is_listed(const char *names, const char *wanted)
{
    char name[NAME_SIZE];
    bool is_found = false;
    while (!is_found && next_name(&names, name)) {
        is_found = strcmp(name, wanted) == 0;
    }
    return is_found;
}

static bool is_said(const struct ar_plot_drawing *drawing, const struct phrase *phrase)
{
    const struct ar_plot_table *table = drawing->tables[0];
    if (!ar_plot_has_column(table, phrase->column)) {
        return false;
    }
    size_t column = ar_plot_column(table, phrase->column);
    switch (phrase->habit) {
    case LISTED:
        break;
    case FIXED:
        return ar_plot_rows_vary(table, column, table->rows) &&
               !ar_plot_rows_vary(table, column, drawing->rows[0]);
    case CHOSEN:
        return ar_plot_rows_vary(table, column, table->rows);
    }
    return is_listed(drawing->kind->facts, phrase->column);
}

/* Whether an earlier row has the same value. */
static bool is_repeated(const struct ar_plot_drawing *drawing, size_t column, size_t i)
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

static void write_fact(FILE *file, const struct ar_plot_drawing *drawing,
                       const struct phrase *phrase)
{
    char text[512];
    size_t column = ar_plot_column(drawing->tables[0], phrase->column);
    size_t length = (size_t)snprintf(text, sizeof text, "%s", phrase->before);
    for (size_t i = 0; i < drawing->rows[0].count && length < sizeof text; i++) {
        const char *cell = ar_plot_cell(drawing->tables[0], drawing->rows[0].rows[i], column);
        if (!is_repeated(drawing, column, i)) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       i == 0 ? "" : " + ", cell[0] == '\0' ? "none" : cell);
        }
    }
    if (length < sizeof text) {
        snprintf(text + length, sizeof text - length, "%s", phrase->after);
    }
    ar_plot_write_text(file, text);
}

static void write_facts(FILE *file, const struct ar_plot_drawing *drawing)
{
    size_t count = 0;
    fputs("array facts = [", file);
    if (drawing->subject != NULL) {
        ar_plot_write_text(file, drawing->subject);
        count++;
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
    fputs(drawing->kind->settings, file);
}
