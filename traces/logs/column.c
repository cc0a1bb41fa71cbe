#include "column.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "log.h"
#include "words.h"

/* Half a unit of the last digit of a number. */
static double half_digit(const char *number)
{
    const char *point = strchr(number, '.');
    const char *exponent = strpbrk(number, "eE");
    double decimals = point == NULL ? 0 : (double)strspn(point + 1, AR_DIGITS);
    double power = exponent == NULL ? 0 : (double)strtol(exponent + 1, NULL, 10);
    return 0.5 * pow(10, power - decimals);
}

bool ar_log_column_set(const struct ar_log_column *column, const char *word, bool is_in_place,
                       struct ar_log_row *row)
{
    /* From a number of a timing to its half digit, the same for the three. */
    const size_t half =
        offsetof(struct ar_log_timing, time_half_s) - offsetof(struct ar_log_timing, time_s);
    _Static_assert(offsetof(struct ar_log_timing, busbw_half_Bps) -
                           offsetof(struct ar_log_timing, busbw_Bps) ==
                       offsetof(struct ar_log_timing, time_half_s) -
                           offsetof(struct ar_log_timing, time_s),
                   "halves are in the order of the numbers");
    struct ar_log_timing *timing = is_in_place ? &row->in_place : &row->out_of_place;
    char *record = column->is_timing ? (char *)timing : (char *)row;
    void *field = record + column->cell.offset;
    if (column->cell.kind == AR_COLUMN_number && strcasecmp(word, "N/A") == 0) {
        return true;
    }
    if (!ar_record_read_cell(&column->cell, word, record)) {
        return false;
    }
    if (column->unit > 0) {
        *(double *)field *= column->unit;
    }
    if (column->unit > 0 && column->is_timing) {
        *(double *)(void *)((char *)field + half) = half_digit(word) * column->unit;
    }
    return true;
}

void ar_log_table_add(struct ar_log_table *table, struct ar_log_columns columns, const char *name)
{
    const struct ar_log_column *column = NULL;
    bool is_again = false;
    for (size_t i = 0; i < columns.count && column == NULL; i++) {
        column = strcmp(columns.list[i].cell.name, name) == 0 ? &columns.list[i] : NULL;
    }
    for (size_t i = 0; i < table->count && column != NULL && column->is_timing; i++) {
        is_again = is_again || table->columns[i] == column;
    }
    if (table->count < AR_TABLE_COLUMNS_MAX) {
        table->columns[table->count] = column;
        table->is_in_place[table->count++] = is_again;
    }
}

enum ar_status ar_log_table_cut_off(const struct ar_log_table *table, const struct ar_log *run,
                                    uint64_t line, size_t words_count, struct ar_error *err)
{
    return ar_log_refuse(run, line, err,
                         "%zu columns; expected %zu as in the header (line %" PRIu64
                         "); cut off, or mixed with other output",
                         words_count, table->count, table->line);
}

enum ar_status ar_log_table_read(const struct ar_log_table *table, const struct ar_log *run,
                                 const char *const *words, struct ar_log_row *row,
                                 struct ar_error *err)
{
    char expected[AR_COLUMN_EXPECTED], shown[64];
    for (size_t i = 0; i < table->count; i++) {
        const struct ar_log_column *column = table->columns[i];
        if (column != NULL && !ar_log_column_set(column, words[i], table->is_in_place[i], row)) {
            return ar_log_refuse(run, row->line, err, "column \"%s\" is \"%s\"; expected %s",
                                 column->cell.name, ar_csv_show(words[i], shown),
                                 ar_column_expected(&column->cell, expected));
        }
    }
    return AR_OK;
}
