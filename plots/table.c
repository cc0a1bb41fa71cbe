#include "plot_table.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "plot_columns.h"

/* The reader hands libcsv one physical line at a time, since libcsv does not count lines. */
struct reader {
    const char *path;
    enum ar_plot_kind kind;
    struct ar_plot_names *algorithms, *engines;
    struct ar_plot_table *table;
    size_t rows_capacity;

    uint64_t record_line; /* where the current record begins */
    bool is_in_record;    /* a quoted line break continues it on the next line */
    bool has_header;
    char **cells; /* of the current record */
    size_t cells_count, cells_capacity;
    size_t header_count;
    struct ar_plot_header header;

    enum ar_status status;
    struct ar_error *err;
};

static void drop_cells(struct reader *reader)
{
    for (size_t i = 0; i < reader->cells_count; i++) {
        free(reader->cells[i]);
    }
    reader->cells_count = 0;
}

static void take_cell(void *cell, size_t cell_size, void *data)
{
    struct reader *reader = data;
    if (reader->status != AR_OK) {
        return;
    }
    if (reader->cells_count == reader->cells_capacity) {
        size_t capacity = reader->cells_capacity == 0 ? 64 : 2 * reader->cells_capacity;
        char **cells = realloc(reader->cells, capacity * sizeof *cells);
        if (cells == NULL) {
            reader->status = ar_error_no_memory(reader->err, "the cells of a row");
            return;
        }
        reader->cells = cells;
        reader->cells_capacity = capacity;
    }
    char *copy = strndup(cell == NULL ? "" : cell, cell_size);
    if (copy == NULL) {
        reader->status = ar_error_no_memory(reader->err, "a cell");
        return;
    }
    reader->cells[reader->cells_count++] = copy;
}

static struct ar_plot_row *new_row(struct reader *reader)
{
    struct ar_plot_table *table = reader->table;
    if (table->rows_count == reader->rows_capacity) {
        size_t capacity = reader->rows_capacity == 0 ? 256 : 2 * reader->rows_capacity;
        struct ar_plot_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            reader->status = ar_error_no_memory(reader->err, "the rows of the sweep");
            return NULL;
        }
        table->rows = rows;
        reader->rows_capacity = capacity;
    }
    struct ar_plot_row *row = &table->rows[table->rows_count];
    memset(row, 0, sizeof *row);
    row->line = reader->record_line;
    return row;
}

static enum ar_status take_header(struct reader *reader)
{
    reader->has_header = true;
    reader->header_count = reader->cells_count;
    return ar_plot_header_read(reader->path, reader->record_line, reader->kind, reader->cells,
                               reader->cells_count, &reader->header, reader->err);
}

static enum ar_status take_row(struct reader *reader)
{
    if (reader->cells_count != reader->header_count) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s:%llu: found %zu columns; expected %zu as in the header",
                            reader->path, (unsigned long long)reader->record_line,
                            reader->cells_count, reader->header_count);
    }
    struct ar_plot_table *table = reader->table;
    if (!ar_plot_header_is_ok(&reader->header, reader->cells)) {
        table->failed_line = table->failed_count == 0 ? reader->record_line : table->failed_line;
        table->failed_count++;
        return AR_OK;
    }
    struct ar_plot_row *row = new_row(reader);
    if (row == NULL) {
        return reader->status;
    }
    struct ar_plot_cells cells = {
        .path = reader->path,
        .kind = reader->kind,
        .texts = reader->cells,
        .header = &reader->header,
        .algorithms = reader->algorithms,
        .engines = reader->engines,
        .subject = table->rows_count == 0 ? NULL : &table->subject,
    };
    enum ar_status status = ar_plot_row_read(&cells, row, &table->subject, reader->err);
    table->rows_count += status == AR_OK;
    return status;
}

static void take_record(int end, void *data)
{
    (void)end;
    struct reader *reader = data;
    reader->is_in_record = false;
    if (reader->status == AR_OK) {
        reader->status = reader->has_header ? take_row(reader) : take_header(reader);
    }
    drop_cells(reader);
}

static enum ar_status feed_line(struct reader *reader, struct csv_parser *parser, const char *text,
                                size_t size, uint64_t line)
{
    if (memchr(text, '\0', size) != NULL) {
        return ar_error_set(reader->err, AR_BAD_DATA, "%s:%llu: found a NUL byte; expected text",
                            reader->path, (unsigned long long)line);
    }
    if (!reader->is_in_record) {
        reader->record_line = line;
        reader->is_in_record = text[strspn(text, "\r\n")] != '\0';
    }
    if (csv_parse(parser, text, size, take_cell, take_record, reader) != size) {
        return ar_error_set(reader->err, AR_BAD_DATA, "%s:%llu: %s; expected CSV after RFC 4180",
                            reader->path, (unsigned long long)line,
                            csv_strerror(csv_error(parser)));
    }
    return reader->status;
}

static enum ar_status feed_file(struct reader *reader, struct csv_parser *parser, FILE *file)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t size;
    enum ar_status status = AR_OK;
    errno = 0;
    for (uint64_t line = 1; status == AR_OK && (size = getline(&text, &capacity, file)) > 0;
         line++) {
        size_t mark = line == 1 && size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        status = feed_line(reader, parser, text + mark, (size_t)size - mark, line);
    }
    if (status == AR_OK && !feof(file)) {
        status = ar_error_set(reader->err, AR_NO_INPUT, "%s: cannot read: %s", reader->path,
                              strerror(errno));
    }
    free(text);
    if (status == AR_OK && csv_fini(parser, take_cell, take_record, reader) != 0) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s:%llu: a quoted cell is not closed; expected \" before the end of "
                            "the file",
                            reader->path, (unsigned long long)reader->record_line);
    }
    return status == AR_OK ? reader->status : status;
}

static enum ar_status check_table(const struct reader *reader)
{
    const struct ar_plot_table *table = reader->table;
    if (!reader->has_header) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: the file is empty; expected a header line and the rows of a sweep",
                            reader->path);
    }
    if (table->rows_count == 0 && table->failed_count > 0) {
        return ar_error_set(
            reader->err, AR_BAD_DATA,
            "%s:%llu: column \"status\" is not ok here nor in any other row (%llu); "
            "expected one ok row at least",
            reader->path, (unsigned long long)table->failed_line,
            (unsigned long long)table->failed_count);
    }
    if (table->rows_count == 0) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: found a header and no rows; expected one row at least",
                            reader->path);
    }
    return AR_OK;
}

static enum ar_status read_file(struct reader *reader, FILE *file)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
        return ar_error_set(reader->err, AR_INTERNAL, "%s: cannot start libcsv", reader->path);
    }
    enum ar_status status = feed_file(reader, &parser, file);
    csv_free(&parser);
    drop_cells(reader);
    free(reader->cells);
    return status == AR_OK ? check_table(reader) : status;
}

enum ar_status ar_plot_table_read(const char *path, enum ar_plot_kind kind,
                                  struct ar_plot_names *algorithms, struct ar_plot_names *engines,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return ar_error_set(err, AR_NO_INPUT,
                            "%s: cannot read: %s; expected the CSV file of a sweep", path,
                            strerror(errno));
    }
    struct ar_plot_table result = {.algorithms = algorithms};
    struct reader reader = {
        .path = path,
        .kind = kind,
        .algorithms = algorithms,
        .engines = engines,
        .table = &result,
        .err = err,
    };
    enum ar_status status = read_file(&reader, file);
    fclose(file);
    if (status != AR_OK) {
        ar_plot_table_clear(&result);
        return status;
    }
    *table = result;
    return AR_OK;
}

void ar_plot_table_clear(struct ar_plot_table *table)
{
    free(table->rows);
    table->rows = NULL;
    table->rows_count = 0;
}
