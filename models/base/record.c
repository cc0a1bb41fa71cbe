#include "ar_record.h"

#include <csv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_text.h"
#include "ar_units.h"

enum { DIGITS = 9, AR_COLUMNS_TEXT = 4096, RECORD_CELL = 400 };

/* --- fields ------------------------------------------------------------------------------- */

/* The text of a cell in CSV, empty where nothing applies; `room` is for what is no text. */
static const char *record_cell(const struct ar_column *column, const void *record,
                               char room[RECORD_CELL])
{
    const void *field = (const char *)record + column->offset;
    const char *text = field;
    double number;
    uint64_t count;
    uint32_t place = 0; /* of an enum, or the first byte of it */
    switch (column->kind) {
    case AR_COLUMN_count:
        count =
            column->size == sizeof(uint32_t) ? *(const uint32_t *)field : *(const uint64_t *)field;
        snprintf(room, RECORD_CELL, "%" PRIu64, count);
        return count != AR_NO_COUNT ? room : "";
    case AR_COLUMN_number:
        memcpy(&number, field, sizeof number);
        snprintf(room, RECORD_CELL, "%.*g", column->digits > 0 ? column->digits : DIGITS, number);
        return isfinite(number) ? room : "";
    case AR_COLUMN_flag:
        return *(const int8_t *)field < 0 ? "" : *(const int8_t *)field > 0 ? "yes" : "no";
    case AR_COLUMN_choice:
        memcpy(&place, field, column->size);
        return column->names[place];
    case AR_COLUMN_string:
        memcpy(&text, field, sizeof text);
        return text != NULL ? text : "";
    default:
        return text;
    }
}

/* --- CSV ---------------------------------------------------------------------------------- */

void ar_record_write_line(FILE *file, struct ar_columns columns, const void *record)
{
    char room[RECORD_CELL];
    for (size_t i = 0; i < columns.count; i++) {
        ar_csv_write_cell(file, record_cell(&columns.list[i], record, room), i == 0);
    }
    fputc('\n', file);
}

void ar_record_write_facts(FILE *file, struct ar_columns columns, const void *record)
{
    char room[RECORD_CELL];
    for (size_t i = 0; i < columns.count; i++) {
        const char *text = record_cell(&columns.list[i], record, room);
        if (text[0] != '\0' || !columns.list[i].may_be_missing) {
            fprintf(file, "# %s:%s%s\n", columns.list[i].name, text[0] != '\0' ? " " : "", text);
        }
    }
}

/* --- JSON --------------------------------------------------------------------------------- */

/* Names come from file names, which may be any bytes; JSON is UTF-8. */
void ar_json_text(FILE *file, const char *text)
{
    if (text[0] == '\0') {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    while (*text != '\0') {
        size_t size = ar_utf8_size(text);
        if (size == 0) {
            fputs("\\ufffd", file);
        } else if (*text == '"' || *text == '\\') {
            fprintf(file, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            fprintf(file, "\\u%04x", (unsigned)*text);
        } else {
            fwrite(text, 1, size, file);
        }
        text += size > 0 ? size : 1;
    }
    fputc('"', file);
}

void ar_json_object(FILE *file, struct ar_columns columns, const void *record)
{
    char room[RECORD_CELL];
    fputc('{', file);
    for (size_t i = 0; i < columns.count; i++) {
        const struct ar_column *column = &columns.list[i];
        const char *text = record_cell(column, record, room);
        bool is_number = column->kind == AR_COLUMN_count || column->kind == AR_COLUMN_number;
        fprintf(file, "%s\"%s\": ", i > 0 ? ", " : "", column->name);
        if (is_number && text[0] != '\0') {
            fputs(text, file);
        } else if (column->is_boolean && text[0] != '\0') {
            fputs(text[0] == 'y' ? "true" : "false", file);
        } else {
            ar_json_text(file, text); /* null where nothing applies */
        }
    }
    fputc('}', file);
}

void ar_json_array(FILE *file, struct ar_columns columns, const void *records, size_t count)
{
    fputc('[', file);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", file);
        ar_json_object(file, columns, (const char *)records + i * columns.list[0].record_size);
    }
    fputs(count > 0 ? "\n]" : "]", file);
}

/* --- views -------------------------------------------------------------------------------- */

const struct ar_column *ar_column_find(struct ar_columns columns, const char *name, size_t length)
{
    for (size_t i = 0; i < columns.count; i++) {
        const char *known = columns.list[i].name;
        if (strncmp(known, name, length) == 0 && known[length] == '\0') {
            return &columns.list[i];
        }
    }
    return NULL;
}

enum ar_status ar_view_check(const char *where, const struct ar_view *view,
                             struct ar_columns columns, struct ar_error *err)
{
    const char *names[AR_CSV_COLUMNS_MAX];
    size_t count = 0;
    bool is_all = view->columns == NULL || strcmp(view->columns, "all") == 0;
    for (size_t i = 0; i < columns.count && count < AR_CSV_COLUMNS_MAX; i++) {
        names[count++] = columns.list[i].name;
    }
    char list[AR_COLUMNS_TEXT];
    char *rest = is_all ? NULL : list;
    ar_copy_text(list, sizeof list, is_all ? "" : view->columns);
    for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
        AR_REFUSE_BY(ar_column_find(columns, name, strlen(name)) == NULL,
                     ar_error_unknown(err, AR_USAGE, where, "column", name, names, count));
    }
    return AR_OK;
}

/* Adds a column to those chosen, unless it is there. In a table it needs a heading. */
static size_t choose_column(const struct ar_column *column, struct ar_column *chosen, size_t count)
{
    if (ar_column_find((struct ar_columns){chosen, count}, column->name, strlen(column->name)) !=
        NULL) {
        return count;
    }
    chosen[count] = *column;
    if (column->heading == NULL) {
        chosen[count].heading = column->name;
        chosen[count].decimals = AR_DECIMALS_NEEDED;
    }
    return count + 1;
}

size_t ar_view_choose(const struct ar_view *view, struct ar_columns columns,
                      struct ar_column *chosen)
{
    size_t count = 0;
    if (view->columns == NULL) {
        memcpy(chosen, columns.list, columns.count * sizeof *chosen);
        return columns.count;
    }
    for (size_t i = 0; strcmp(view->columns, "all") == 0 && i < columns.count; i++) {
        count = choose_column(&columns.list[i], chosen, count);
        chosen[count - 1].is_rare = true;
    }
    for (const char *at = count > 0 ? NULL : view->columns; at != NULL;) {
        size_t length = strcspn(at, ",");
        const struct ar_column *column = ar_column_find(columns, at, length);
        if (column != NULL) {
            count = choose_column(column, chosen, count);
            chosen[count - 1].is_rare = false;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return count;
}

/* --- tables for people; columns are as wide as their widest cell ------------------------------ */

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

/* Appends what a table shows of a field, terminated; empty where nothing applies. */
static void record_keep_cell(FILE *cells, const struct ar_column *column, const void *record)
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

/* Writes the table of the cells kept. */
static void record_end_table(struct ar_records *records)
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

/* --- lists of records --------------------------------------------------------------------- */

void ar_records_begin(struct ar_records *records, FILE *file, const struct ar_view *view,
                      struct ar_columns columns)
{
    *records = (struct ar_records){
        .file = file, .format = view->format, .width = view->width, .columns = columns};
    if (view->columns != NULL) {
        struct ar_column *chosen =
            ar_arena_alloc(&records->memory, columns.count + 1, sizeof *chosen);
        records->columns = (struct ar_columns){chosen, ar_view_choose(view, columns, chosen)};
        records->width = 0;
    }
    if (view->format == AR_FORMAT_CSV) {
        for (size_t i = 0; i < records->columns.count; i++) {
            ar_csv_write_cell(file, records->columns.list[i].name, i == 0);
        }
        fputc('\n', file);
    } else if (view->format == AR_FORMAT_JSON) {
        fputc('[', file);
    } else {
        records->cells = open_memstream(&records->text, &records->text_bytes);
        ar_memory_require(records->cells != NULL, "a table");
    }
}

void ar_records_add(struct ar_records *records, const void *record)
{
    if (records->format == AR_FORMAT_CSV) {
        ar_record_write_line(records->file, records->columns, record);
    } else if (records->format == AR_FORMAT_JSON) {
        fputs(records->count > 0 ? ",\n  " : "\n  ", records->file);
        ar_json_object(records->file, records->columns, record);
    } else {
        for (size_t i = 0; i < records->columns.count; i++) {
            record_keep_cell(records->cells, &records->columns.list[i], record);
        }
    }
    records->count++;
}

void ar_records_end(struct ar_records *records)
{
    if (records->format == AR_FORMAT_JSON) {
        fputs(records->count > 0 ? "\n]\n" : "]\n", records->file);
    } else if (records->cells != NULL) {
        record_end_table(records);
    }
    ar_arena_end(&records->memory);
}

void ar_records_write(FILE *file, const struct ar_view *view, struct ar_columns columns,
                      const void *records, size_t count)
{
    struct ar_records writer;
    ar_records_begin(&writer, file, view, columns);
    for (size_t i = 0; i < count; i++) {
        ar_records_add(&writer, (const char *)records + i * columns.list[0].record_size);
    }
    ar_records_end(&writer);
}

enum ar_status ar_records_save(const char *directory, const char *name, struct ar_columns columns,
                               const void *records, size_t count, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_output *output;
    AR_TRY(ar_output_begin_in(directory, name, &arena, &output, err));
    ar_records_write(output->file, AR_VIEW(AR_FORMAT_CSV), columns, records, count);
    return ar_output_commit(output, err);
}

const char *const ar_column_kind_names[] = {[AR_COLUMN_text] = "text",
                                            [AR_COLUMN_string] = "text",
                                            [AR_COLUMN_count] = "count",
                                            [AR_COLUMN_number] = "number",
                                            [AR_COLUMN_flag] = "yes/no",
                                            [AR_COLUMN_choice] = "name",
                                            NULL};

/* --- fields from text ------------------------------------------------------------------------ */

bool ar_record_read_cell(const struct ar_column *column, const char *text, void *record)
{
    static const char *const flags[] = {"no", "yes", NULL};
    const char *const *names = column->kind == AR_COLUMN_choice ? column->names : flags;
    void *field = (char *)record + column->offset;
    double number = (double)NAN, min = column->min, max = column->max;
    uint64_t count = AR_NO_COUNT, count_max = UINT64_MAX;
    unsigned place = 0;
    uint32_t small;
    uint8_t tiny;
    if (text[0] == '\0') {
        memset(field, column->kind == AR_COLUMN_flag ? AR_NO_FLAG : 0, column->size);
        if (column->kind == AR_COLUMN_count && column->size == sizeof count) {
            memcpy(field, &count, sizeof count);
        } else if (column->kind == AR_COLUMN_number) {
            memcpy(field, &number, sizeof number);
        }
        return true;
    }
    switch (column->kind) {
    case AR_COLUMN_text:
        if (strlen(text) >= column->size) {
            return false;
        }
        memset(field, 0, column->size); /* records are compared as bytes, too */
        memcpy(field, text, strlen(text));
        return true;
    case AR_COLUMN_string:
        memcpy(field, &text, sizeof text);
        return true;
    case AR_COLUMN_count:
        count_max = column->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
        count_max = max > 0 ? (uint64_t)max : count_max;
        if (ar_parse_count("", text, (uint64_t)min, count_max, &count, AR_IGNORED) != AR_OK) {
            return false;
        }
        small = (uint32_t)count;
        memcpy(field, column->size == sizeof small ? (const void *)&small : &count, column->size);
        return true;
    case AR_COLUMN_number: /* plain decimal; the parser accepts what people type, too */
        min = min != 0 || max != 0 ? min : -HUGE_VAL;
        max = max != 0 ? max : HUGE_VAL;
        if (strspn(text, "0123456789.eE+-") != strlen(text) ||
            ar_parse_number("", text, min, max, &number, AR_IGNORED) != AR_OK) {
            return false;
        }
        number += 0.0; /* no -0 */
        memcpy(field, &number, sizeof number);
        return true;
    default:
        if (ar_parse_choice("", text, names, &place, AR_IGNORED) != AR_OK) {
            return false;
        }
        tiny = (uint8_t)place;
        memcpy(field, column->size == sizeof tiny ? (const void *)&tiny : &place, column->size);
        return true;
    }
}

const char *ar_column_expected(const struct ar_column *column, char text[AR_COLUMN_EXPECTED])
{
    const char *what = column->kind == AR_COLUMN_count ? "a whole number" : "a number";
    if (column->help[0] != '\0') {
        return column->help;
    }
    if (column->kind == AR_COLUMN_choice) {
        return ar_list_choices(column->names, text, AR_COLUMN_EXPECTED);
    }
    if (column->kind == AR_COLUMN_text) {
        snprintf(text, AR_COLUMN_EXPECTED, "a text of 1 to %zu characters", column->size - 1);
    } else if (column->kind == AR_COLUMN_string || column->kind == AR_COLUMN_flag) {
        return column->kind == AR_COLUMN_flag ? "yes or no" : "a text";
    } else if (column->min == 0 && column->max == 0) {
        return what;
    } else if (column->max == 0) {
        snprintf(text, AR_COLUMN_EXPECTED, "%s of at least %.15g", what, column->min);
    } else {
        snprintf(text, AR_COLUMN_EXPECTED, "%s from %.15g to %.15g", what, column->min,
                 column->max);
    }
    return text;
}

void ar_record_clear(struct ar_columns columns, void *record)
{
    for (size_t i = 0; i < columns.count; i++) {
        ar_record_read_cell(&columns.list[i], "", record);
    }
}

struct line_reader {
    struct ar_columns columns;
    void *record;
    size_t count;
    const struct ar_column *wrong; /* the first one whose cell is */
};

static void read_cell(void *text, size_t bytes, void *data)
{
    struct line_reader *reader = data;
    const struct ar_column *column = &reader->columns.list[reader->count];
    (void)bytes;
    if (reader->count++ < reader->columns.count && reader->wrong == NULL &&
        !ar_record_read_cell(column, text, reader->record)) {
        reader->wrong = column;
    }
}

enum ar_status ar_record_read_line(struct ar_columns columns, const char *line, void *record,
                                   struct ar_error *err)
{
    struct line_reader reader = {.columns = columns, .record = record};
    struct csv_parser parser;
    size_t bytes = strlen(line);
    ar_memory_require(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) == 0,
                      "a line of CSV");
    bool is_csv = csv_parse(&parser, line, bytes, read_cell, NULL, &reader) == bytes &&
                  csv_fini(&parser, read_cell, NULL, &reader) == 0;
    bool has_memory = csv_error(&parser) != CSV_ENOMEM;
    csv_free(&parser);
    ar_memory_require(has_memory, "a line of CSV");
    AR_REFUSE(reader.wrong != NULL, err, AR_BAD_DATA,
              "column \"%s\": found a cell that is none of it", reader.wrong->name);
    AR_REFUSE(!is_csv || reader.count != columns.count, err, AR_BAD_DATA,
              "found a line of %zu cells%s; expected %zu", reader.count,
              is_csv ? "" : " and a quote out of place", columns.count);
    return AR_OK;
}
