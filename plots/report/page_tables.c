/* Files as tables: columns that vary have cells, the others stand once above them. */
#include <math.h>
#include <string.h>

#include "ar_plot_text.h"
#include "page.h"

/* A table of more rows is hard to read and makes the page slow. */
enum { ROWS_MAX = 2000 };

/* Smaller values of a column that also has large ones are avoided by a smaller unit. */
#define DECIMALS_MIN 1e-4

/* How a column is shown. */
struct shown {
    size_t column; /* its place in the file */
    struct ar_plot_unit unit;
    const char *help;
    bool is_number;
    bool is_shown; /* as a column of the table; else above it */
};

static const char *find_help(const struct ar_page_request *request, const char *name)
{
    for (size_t i = 0; i < request->columns_count; i++) {
        AR_EACH(const struct ar_column, column, request->columns[i].list,
                request->columns[i].count) {
            if (column->name != NULL && strcmp(column->name, name) == 0 && column->help != NULL) {
                return column->help;
            }
        }
    }
    return "";
}

static struct shown inspect_column(const struct ar_csv *csv, size_t column,
                                   const struct ar_page_request *request)
{
    struct shown shown = {.column = column, .is_number = csv->rows_count > 0};
    double max = 0, min = INFINITY; /* magnitudes that are not 0 */
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *cell = ar_csv_cell(csv, row, column);
        double value = ar_plot_number_of(cell);
        shown.is_shown = shown.is_shown || strcmp(cell, ar_csv_cell(csv, 0, column)) != 0;
        shown.is_number = shown.is_number && (cell[0] == '\0' || !isnan(value));
        max = fmax(max, fabs(value));
        min = fabs(value) > 0 ? fmin(min, fabs(value)) : min;
    }
    shown.unit = ar_plot_unit_of(csv->cells[column], max);
    if (max > 0 && min * shown.unit.factor < DECIMALS_MIN) { /* a unit that suits the middle */
        shown.unit = ar_plot_unit_of(csv->cells[column], sqrt(min) * sqrt(max));
    }
    shown.help = find_help(request, csv->cells[column]);
    return shown;
}

/* Order of columns: parameters, results, and the costs of computing them. */
static int column_rank(const char *column)
{
    static const char *const last[] = {"messages_count", "wall_s", "version"};
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++) {
        if (strcmp(column, last[i]) == 0) {
            return 2;
        }
    }
    return answer_is_parameter(column) ? 0 : 1;
}

static void write_hint(FILE *file, const char *name, const char *help)
{
    ar_plot_write_between(file, " title=\"", name, help[0] != '\0' ? ": " : "");
    ar_plot_write_between(file, "", help, "\">");
}

static void write_table_rows(FILE *file, const struct ar_csv *csv, const char *title,
                             const struct shown *shown)
{
    size_t count = csv->rows_count < ROWS_MAX ? csv->rows_count : ROWS_MAX;
    fprintf(file,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
            "<caption>%zu row%s",
            title, csv->rows_count, csv->rows_count == 1 ? "" : "s");
    if (count < csv->rows_count) {
        fprintf(file, ", the first %zu are here; the file has all", count);
    }
    fputs("</caption>\n<thead><tr>", file);
    for (size_t i = 0; i < csv->columns_count; i++) {
        size_t column = shown[i].column;
        if (shown[i].is_shown) {
            fprintf(file, "<th scope=\"col\"%s", shown[i].is_number ? " class=\"n\"" : "");
            write_hint(file, csv->cells[column], shown[i].help);
            ar_plot_write_name(file, csv->cells[column], shown[i].unit);
            if (shown[i].unit.name[0] != '\0') {
                fprintf(file, " <small>%s</small>", shown[i].unit.name);
            }
            fputs("</th>", file);
        }
    }
    fputs("</tr></thead>\n<tbody>\n", file);
    for (size_t row = 0; row < count; row++) {
        fputs("<tr>", file);
        for (size_t i = 0; i < csv->columns_count; i++) {
            const char *cell = ar_csv_cell(csv, row, shown[i].column);
            if (!shown[i].is_shown) {
                continue;
            }
            fputs(shown[i].is_number ? "<td class=\"n\"" : "<td", file);
            if (shown[i].is_number && shown[i].unit.name[0] != '\0') {
                ar_plot_write_between(file, " data-v=\"", cell, "\"");
            }
            fputs(">", file);
            if (shown[i].is_number) {
                ar_plot_write_value(file, cell, shown[i].unit);
            } else { /* 1024 may be a list of one */
                ar_plot_write_html(file, cell);
            }
            fputs("</td>", file);
        }
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

static void write_file_table(FILE *file, const struct page_parts *parts, enum page_file which)
{
    const struct ar_csv *csv = parts->files[which];
    const struct page_source *source = &page_sources[which];
    struct shown shown[AR_CSV_COLUMNS_MAX];
    size_t shown_count = 0, same_count = 0;
    size_t count = 0;
    bool has_rows_of_steps = which >= PAGE_STEP && which <= PAGE_PAYLOADS;
    for (int rank = 0; rank <= 2; rank++) { /* other files keep their own order */
        for (size_t i = 0; i < csv->columns_count; i++) {
            if (rank == (has_rows_of_steps ? column_rank(csv->cells[i]) : 0)) {
                shown[count++] = inspect_column(csv, i, parts->request);
            }
        }
    }
    for (size_t i = 0; i < csv->columns_count; i++) {
        shown[i].is_shown = shown[i].is_shown || which == PAGE_PARAMETERS;
        shown_count += shown[i].is_shown;
        same_count += !shown[i].is_shown && csv->rows_count > 0 &&
                      ar_csv_cell(csv, 0, shown[i].column)[0] != '\0';
    }
    fprintf(file, PAGE_FOLDED "\n<p class=\"file\"><code>%s</code>%s</p>\n", source->title,
            source->name, csv->rows_count > 1 && same_count > 0 ? ", the same in all rows:" : "");
    if (same_count > 0) {
        /* Writes the columns that are the same in all rows. */
        fputs("<dl class=\"same\">", file);
        for (size_t i = 0; i < csv->columns_count; i++) {
            size_t column = shown[i].column;
            const char *cell = csv->rows_count > 0 ? ar_csv_cell(csv, 0, column) : "";
            if (!shown[i].is_shown && cell[0] != '\0') {
                fputs("<div><dt", file);
                write_hint(file, csv->cells[column], shown[i].help);
                ar_plot_write_name(file, csv->cells[column], shown[i].unit);
                fputs("</dt><dd>", file);
                ar_plot_write_measure(file, cell, shown[i].unit);
                fputs("</dd></div>", file);
            }
        }
        fputs("</dl>\n", file);
    }
    if (shown_count > 0) {
        write_table_rows(file, csv, source->title, shown);
    }
    fputs("</details>\n", file);
}

void page_write_tables(FILE *file, struct page_parts *parts)
{
    for (size_t i = 0; i < PAGE_FILES; i++) {
        if (parts->files[i] != NULL && i != PAGE_PARAMETERS) {
            write_file_table(file, parts, (enum page_file)i);
        }
    }
}

void page_write_parameters(FILE *file, struct page_parts *parts)
{
    if (parts->files[PAGE_PARAMETERS] != NULL && parts->files[PAGE_PARAMETERS]->rows_count > 0) {
        write_file_table(file, parts, PAGE_PARAMETERS);
    }
}
