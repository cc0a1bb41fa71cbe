/* Tables for people, whose columns are as wide as their widest cell. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "record.h"

static bool is_right(const struct ar_column *column)
{
    return column->kind == AR_COLUMN_count || column->kind == AR_COLUMN_number;
}

/* Characters, of which every one takes a place. */
static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; width++) {
        size_t size = ar_utf8_size(text + i);
        i += size > 0 ? size : 1;
    }
    return width;
}

/* What a table shows, terminated; empty where nothing applies. */
void record_keep_cell(FILE *cells, const struct ar_column *column, const void *record)
{
    char room[RECORD_CELL];
    double factor = column->factor != 0 ? column->factor : 1;
    const char *text = record_cell(column, record, room);
    bool is_number = column->kind == AR_COLUMN_number;
    if ((is_number || factor != 1) && is_right(column) && text[0] != '\0') {
        double value = factor * (is_number ? record_number(column, record)
                                           : (double)record_count(column, record));
        snprintf(room, sizeof room, column->is_signed ? "%+.*f" : "%.*f",
                 column->decimals < 0 ? 0 : column->decimals, value);
        if (column->decimals < 0) {
            snprintf(room, sizeof room, column->is_signed ? "%+.10g" : "%.10g", value);
        }
        text = room;
    } else if (column->usual != NULL && strcmp(text, column->usual) == 0) {
        text = "";
    }
    fwrite(text, 1, strlen(text) + 1, cells);
}

/* A table on its way to the file: what is shown of each column. */
struct table {
    FILE *file;
    struct ar_columns columns;
    bool is_markdown;
    bool *is_shown;
    size_t *widths;
    size_t last;   /* column shown */
    size_t blanks; /* not written yet */
};

/* Widest line of a heading. */
static size_t heading_width(const char *heading)
{
    size_t first = strcspn(heading, "\n");
    size_t width = width_of(heading, first);
    size_t second = heading[first] == '\0' ? 0 : heading_width(heading + first + 1);
    return second > width ? second : width;
}

static void measure(struct table *table, const char *cells, size_t records)
{
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct ar_column *column = &table->columns.list[i];
        table->is_shown[i] = column->heading != NULL && !column->is_rare;
        table->widths[i] = column->heading != NULL ? heading_width(column->heading) : 0;
    }
    for (size_t i = 0; i < records * table->columns.count; i++) {
        size_t column = i % table->columns.count;
        size_t bytes = strlen(cells);
        size_t width = width_of(cells, bytes);
        if (table->columns.list[column].heading != NULL && width > 0) {
            table->is_shown[column] = true;
            table->widths[column] = width > table->widths[column] ? width : table->widths[column];
        }
        cells += bytes + 1;
    }
    for (size_t i = 0; i < table->columns.count; i++) {
        table->last = table->is_shown[i] ? i : table->last;
    }
}

/* Blanks are written with what follows them, so that no line ends with some. */
static void put(struct table *table, size_t blanks, const char *text, size_t bytes)
{
    table->blanks += blanks;
    if (bytes > 0) {
        fprintf(table->file, "%*s", (int)table->blanks, "");
        fwrite(text, 1, bytes, table->file);
        table->blanks = 0;
    }
}

static void write_cell(struct table *table, size_t column, const char *text, size_t bytes)
{
    size_t pad = table->widths[column] - width_of(text, bytes);
    bool right = is_right(&table->columns.list[column]);
    put(table, right ? pad : 0, text, bytes);
    put(table, right ? 0 : pad, " |", table->is_markdown ? 2 : 0);
    if (column == table->last) {
        fputc('\n', table->file);
        table->blanks = 0;
    } else {
        table->blanks += table->is_markdown ? 1 : 2;
    }
}

/* Line `line` of `lines` of the headings, which stand on the last lines. */
static void write_headings(struct table *table, size_t line, size_t lines)
{
    fputs(table->is_markdown ? "| " : "", table->file);
    for (size_t i = 0; i < table->columns.count; i++) {
        const char *heading = table->columns.list[i].heading;
        if (!table->is_shown[i]) {
            continue;
        }
        const char *second = strchr(heading, '\n');
        bool is_empty = second == NULL && line + 1 < lines;
        const char *text = is_empty ? "" : second != NULL && line > 0 ? second + 1 : heading;
        write_cell(table, i, text, strcspn(text, "\n"));
    }
}

static void write_rule(const struct table *table)
{
    fputc('|', table->file);
    for (size_t i = 0; i < table->columns.count; i++) {
        if (table->is_shown[i]) {
            fputs(is_right(&table->columns.list[i]) ? "--:|" : "---|", table->file);
        }
    }
    fputc('\n', table->file);
}

static void write_table(struct table *table, const char *cells, size_t records)
{
    size_t lines = 0;
    measure(table, cells, records);
    for (size_t i = 0; i < table->columns.count; i++) {
        const char *heading = table->columns.list[i].heading;
        size_t wanted = !table->is_shown[i] || heading[0] == '\0' ? 0
                        : strchr(heading, '\n') != NULL           ? 2
                                                                  : 1;
        lines = wanted > lines ? wanted : lines;
    }
    for (size_t line = 0; line < lines; line++) {
        write_headings(table, line, lines);
    }
    if (table->is_markdown) {
        write_rule(table);
    }
    for (size_t i = 0; i < records; i++) {
        fputs(table->is_markdown ? "| " : "", table->file);
        for (size_t j = 0; j < table->columns.count; j++) {
            size_t bytes = strlen(cells);
            if (table->is_shown[j]) {
                write_cell(table, j, bytes > 0 ? cells : "-", bytes > 0 ? bytes : 1);
            }
            cells += bytes + 1;
        }
    }
}

enum ar_status record_end_table(struct ar_records *records, struct ar_error *err)
{
    size_t columns = records->columns.count;
    bool is_whole = records->cells != NULL && ferror(records->cells) == 0;
    bool is_markdown = records->format == AR_FORMAT_MARKDOWN;
    is_whole = records->cells != NULL && fclose(records->cells) == 0 && is_whole;
    struct table table = {.file = records->file,
                          .columns = records->columns,
                          .is_markdown = is_markdown,
                          .is_shown = calloc(columns + 1, sizeof *table.is_shown),
                          .widths = calloc(columns + 1, sizeof *table.widths)};
    is_whole = is_whole && table.is_shown != NULL && table.widths != NULL;
    if (is_whole) {
        write_table(&table, records->text, records->count);
    }
    free(table.is_shown);
    free(table.widths);
    free(records->text);
    return is_whole ? AR_OK : ar_error_no_memory(err, "a table");
}
