/* Tables for people, whose columns are as wide as their widest cell. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "record_table.h"

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

void record_keep_cell(FILE *cells, const struct ar_column *column, const void *record)
{
    char room[RECORD_CELL];
    double factor = column->factor != 0 ? column->factor : 1;
    const char *text = record_cell(column, record, room);
    bool is_count = column->kind == AR_COLUMN_count && factor != 1;
    if ((column->kind == AR_COLUMN_number || is_count) && text[0] != '\0') {
        const void *field = (const char *)record + column->offset;
        double value =
            factor * (is_count ? (double)strtoull(text, NULL, 10) : *(const double *)field);
        snprintf(room, sizeof room, column->is_signed ? "%+.*f" : "%.*f",
                 column->decimals < 0 ? 0 : column->decimals, value);
        if (column->decimals < 0) {
            snprintf(room, sizeof room, column->is_signed ? "%+.10g" : "%.10g", value);
        }
        text = room;
    } else if (column->mark != NULL) {
        text = strcmp(text, "no") == 0 ? column->mark : "";
    }
    fwrite(text, 1, strlen(text) + 1, cells);
}

/* A table on its way to the file: what is shown of each column. */
struct shown_column {
    bool is_shown;
    bool has_cells; /* that are not empty */
    bool differs;   /* between records */
    size_t width;
    const char *first; /* cell */
};

struct table {
    FILE *file;
    struct ar_columns columns;
    struct shown_column *shown; /* of each column */
    size_t width;               /* at most; 0: any */
    size_t last;                /* column shown */
    size_t blanks;              /* not written yet */
};

/* Widest line of a heading. */
static size_t heading_width(const char *heading)
{
    size_t first = strcspn(heading, "\n");
    size_t width = width_of(heading, first);
    size_t second = heading[first] == '\0' ? 0 : heading_width(heading + first + 1);
    return second > width ? second : width;
}

/* Measures the columns, then leaves some out until the table is narrow enough, those that say least
 * first. Those of one priority go together: no end of a band stays without the other. A text at the
 * end, such as a failure, may go on in the next line. */
static void fit_columns(struct table *table, const char *cells, size_t records)
{
    for (size_t i = 0; i < table->columns.count; i++) {
        const struct ar_column *column = &table->columns.list[i];
        table->shown[i].is_shown = column->heading != NULL && !column->is_rare;
        table->shown[i].width = column->heading != NULL ? heading_width(column->heading) : 0;
    }
    for (size_t i = 0; i < records * table->columns.count; i++) {
        size_t place = i % table->columns.count;
        struct shown_column *shown = &table->shown[place];
        size_t bytes = strlen(cells);
        size_t width = width_of(cells, bytes);
        const struct ar_column *column = &table->columns.list[place];
        bool is_unknown = width == 0 && column->kind == AR_COLUMN_number;
        if (!is_unknown) {
            shown->first = shown->first != NULL ? shown->first : cells;
            shown->differs = shown->differs || strcmp(shown->first, cells) != 0;
        }
        if (column->heading != NULL && width > 0) {
            bool is_usual = column->usual != NULL && strcmp(cells, column->usual) == 0;
            shown->is_shown |= !is_usual;
            shown->has_cells = true;
            shown->width = width > shown->width ? width : shown->width;
        }
        cells += bytes + 1;
    }
    for (;;) {
        size_t width = 0;
        int least = 0, highest = 0;
        for (size_t i = 0; i < table->columns.count; i++) {
            table->last = table->shown[i].is_shown ? i : table->last;
        }
        for (size_t i = 0; i < table->columns.count; i++) {
            const struct ar_column *column = &table->columns.list[i];
            const struct shown_column *shown = &table->shown[i];
            bool is_text = column->kind == AR_COLUMN_text || column->kind == AR_COLUMN_string;
            bool says_least = column->priority > 0 && !shown->differs;
            int priority = column->priority + (says_least ? 1000 : 0); /* above any */
            if (!shown->is_shown) {
                continue;
            }
            width += width > 0 ? 2 : 0;
            width += is_text && i == table->last ? heading_width(column->heading) : shown->width;
            if (priority > highest) {
                highest = priority;
                least = column->priority;
            }
        }
        if (table->width == 0 || width <= table->width || least == 0) {
            return;
        }
        for (size_t i = 0; i < table->columns.count; i++) {
            table->shown[i].is_shown &= table->columns.list[i].priority != least;
        }
    }
}

/* Blanks are written with what follows them, so that no line ends with some. */
static void write_cell(struct table *table, size_t column, const char *text, size_t bytes)
{
    size_t pad = table->shown[column].width - width_of(text, bytes);
    enum ar_column_kind kind = table->columns.list[column].kind;
    bool right = kind == AR_COLUMN_count || kind == AR_COLUMN_number;
    table->blanks += right ? pad : 0;
    if (bytes > 0) {
        fprintf(table->file, "%*s", (int)table->blanks, "");
        fwrite(text, 1, bytes, table->file);
        table->blanks = 0;
    }
    table->blanks += right ? 2 : pad + 2;
    if (column == table->last) {
        fputc('\n', table->file);
        table->blanks = 0;
    }
}

void record_end_table(struct ar_records *records)
{
    const char *cells;
    size_t lines = 0; /* of headings */
    bool is_whole = ferror(records->cells) == 0;
    if (fclose(records->cells) != 0 || !is_whole) {
        ar_memory_fail("a table");
    }
    struct table table = {
        .file = records->file,
        .columns = records->columns,
        .width = records->width,
        .shown = ar_arena_alloc(&records->memory, records->columns.count + 1, sizeof *table.shown)};
    fit_columns(&table, records->text, records->count);
    for (size_t i = 0; i < table.columns.count; i++) {
        const char *heading = table.columns.list[i].heading;
        size_t wanted = !table.shown[i].is_shown || heading[0] == '\0' ? 0
                        : strchr(heading, '\n') != NULL                ? 2
                                                                       : 1;
        lines = wanted > lines ? wanted : lines;
    }
    for (size_t line = 0; line < lines; line++) {
        /* Short headings stand in the last line. */
        for (size_t i = 0; i < table.columns.count; i++) {
            const char *heading = table.columns.list[i].heading;
            if (!table.shown[i].is_shown) {
                continue;
            }
            const char *second = strchr(heading, '\n');
            bool is_empty = second == NULL && line + 1 < lines;
            const char *text = is_empty ? "" : second != NULL && line > 0 ? second + 1 : heading;
            write_cell(&table, i, text, strcspn(text, "\n"));
        }
    }
    cells = records->text;
    for (size_t i = 0; i < records->count; i++) {
        for (size_t j = 0; j < table.columns.count; j++) {
            size_t bytes = strlen(cells);
            if (table.shown[j].is_shown) {
                bool is_filled = bytes > 0 || table.columns.list[j].mark != NULL;
                write_cell(&table, j, is_filled ? cells : "-", is_filled ? bytes : 1);
            }
            cells += bytes + 1;
        }
    }
    for (size_t i = 0; i < table.columns.count; i++) {
        const struct ar_column *column = &table.columns.list[i];
        if (column->legend != NULL && table.shown[i].is_shown && table.shown[i].has_cells) {
            fprintf(table.file, "%s %s\n", column->mark, column->legend);
        }
    }
    free(records->text);
}
