/* Fields from text: by kind and limits of their columns. */
#include <csv.h>
#include <math.h>
#include <string.h>

#include "ar_record.h"
#include "ar_text.h"
#include "ar_units.h"

static double max_count(const struct ar_column *column)
{
    return column->max > 0 ? column->max : column->size == sizeof(uint32_t) ? UINT32_MAX : 0;
}

static bool read_count(const struct ar_column *column, const char *text, void *field)
{
    struct ar_error ignored;
    uint64_t count;
    double max = max_count(column);
    if (ar_parse_count("", text, (uint64_t)column->min, max > 0 ? (uint64_t)max : UINT64_MAX,
                       &count, &ignored) != AR_OK) {
        return false;
    }
    uint32_t small = (uint32_t)count;
    memcpy(field, column->size == sizeof small ? (const void *)&small : &count, column->size);
    return true;
}

/* The units library accepts what people type; a cell is plain decimal. */
static bool read_number(const struct ar_column *column, const char *text, void *field)
{
    struct ar_error ignored;
    double number;
    bool has_min = column->min != 0 || column->max != 0;
    if (strspn(text, "0123456789.eE+-") != strlen(text) ||
        ar_parse_number("", text, has_min ? column->min : -HUGE_VAL,
                        column->max != 0 ? column->max : HUGE_VAL, &number, &ignored) != AR_OK) {
        return false;
    }
    number += 0.0; /* no -0 */
    memcpy(field, &number, sizeof number);
    return true;
}

static bool read_text(const struct ar_column *column, const char *text, void *field)
{
    if (strlen(text) >= column->size) {
        return false;
    }
    memset(field, 0, column->size); /* records are compared as bytes, too */
    memcpy(field, text, strlen(text));
    return true;
}

static bool read_choice(const struct ar_column *column, const char *text, void *field)
{
    static const char *const flags[] = {"no", "yes", NULL};
    const char *const *names = column->kind == AR_COLUMN_choice ? column->names : flags;
    struct ar_error ignored;
    unsigned place = 0;
    if (ar_parse_choice("", text, names, &place, &ignored) != AR_OK) {
        return false;
    }
    uint8_t small = (uint8_t)place;
    memcpy(field, column->size == sizeof small ? (const void *)&small : &place, column->size);
    return true;
}

static void clear(const struct ar_column *column, void *field)
{
    const uint64_t no_count = AR_NO_COUNT;
    const double no_number = (double)NAN;
    memset(field, column->kind == AR_COLUMN_flag ? AR_NO_FLAG : 0, column->size);
    if (column->kind == AR_COLUMN_count && column->size == sizeof no_count) {
        memcpy(field, &no_count, sizeof no_count);
    } else if (column->kind == AR_COLUMN_number) {
        memcpy(field, &no_number, sizeof no_number);
    }
}

bool ar_record_read_cell(const struct ar_column *column, const char *text, void *record)
{
    void *field = (char *)record + column->offset;
    if (text[0] == '\0') {
        clear(column, field);
        return true;
    }
    switch (column->kind) {
    case AR_COLUMN_text:
        return read_text(column, text, field);
    case AR_COLUMN_string:
        memcpy(field, &text, sizeof text);
        return true;
    case AR_COLUMN_count:
        return read_count(column, text, field);
    case AR_COLUMN_number:
        return read_number(column, text, field);
    default:
        return read_choice(column, text, field);
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
    bool is_wrong; /* an error is written */
    struct ar_error *err;
};

static void read_cell(void *text, size_t bytes, void *data)
{
    struct line_reader *reader = data;
    size_t place = reader->count++;
    (void)bytes;
    if (place >= reader->columns.count || reader->is_wrong) {
        return;
    }
    const struct ar_column *column = &reader->columns.list[place];
    if (!ar_record_read_cell(column, text, reader->record)) {
        reader->is_wrong = true;
        char expected[AR_COLUMN_EXPECTED];
        struct ar_column plain = *column;
        plain.help = ""; /* which says what the field is, not what is expected */
        ar_error_set(reader->err, AR_BAD_DATA, "column \"%s\": found \"%.40s\"; expected %s",
                     column->name, (const char *)text, ar_column_expected(&plain, expected));
    }
}

enum ar_status ar_record_read_line(struct ar_columns columns, const char *line, void *record,
                                   struct ar_error *err)
{
    struct line_reader reader = {.columns = columns, .record = record, .err = err};
    struct csv_parser parser;
    size_t bytes = strlen(line);
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
        return ar_error_no_memory(err, "a line of CSV");
    }
    bool is_csv = csv_parse(&parser, line, bytes, read_cell, NULL, &reader) == bytes &&
                  csv_fini(&parser, read_cell, NULL, &reader) == 0;
    bool has_memory = csv_error(&parser) != CSV_ENOMEM;
    csv_free(&parser);
    AR_NEED(has_memory, err, "a line of CSV");
    if (reader.is_wrong) {
        return AR_BAD_DATA;
    }
    if (!is_csv || reader.count != columns.count) {
        const char *missing = reader.count < columns.count ? columns.list[reader.count].name : "";
        return ar_error_set(err, AR_BAD_DATA, "column \"%s\": found %zu cells%s; expected %zu",
                            missing, reader.count, is_csv ? "" : " and a quote out of place",
                            columns.count);
    }
    return AR_OK;
}
