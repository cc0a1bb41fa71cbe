/* Which rows of a file may be drawn as one picture: those chosen by `--where`, if they are alike.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot.h"
#include "ar_text.h"
#include "pictures.h"

enum { VALUES_SHOWN = 6, LINE = 400, SERIES_MAX = 12 };

/* Columns in which rows may differ. All rows of a picture agree on the first CONDITIONS of them,
 * where a table of payloads and batches may differ in the first BATCHES; rows of one point agree on
 * those up to CHOICES; the last ones make a point. */
static const enum ar_plot_column axes[] = {
    AR_COL_BATCH,     AR_COL_PRECISION, AR_COL_SCALE,    AR_COL_CLUSTER, AR_COL_TRACE,
    AR_COL_OPERATION, AR_COL_MESH,      AR_COL_ALONG,    AR_COL_ROOT,    AR_COL_BASELINE,
    AR_COL_WIRE,      AR_COL_FRAMEWORK, AR_COL_SETTINGS, AR_COL_JITTER,  AR_COL_SEED,
    AR_COL_EXCHANGE,  AR_COL_BUCKET,    AR_COL_CHANNELS, AR_COL_WINDOW,  AR_COL_ENGINE,
    AR_COL_ALGORITHM, AR_COL_GPUS,      AR_COL_SHAPE,    AR_COL_PAYLOAD};
enum { BATCHES = 3, CONDITIONS = 15, CHOICES = 20, AXES = sizeof axes / sizeof axes[0] };
#define POINT                                                                                      \
    AR_COL_ALGORITHM, AR_COL_GPUS, AR_COL_SHAPE, AR_COL_PAYLOAD, AR_COL_BATCH, AR_COL_PRECISION,   \
        AR_COL_SCALE

/* A text that is not terminated. */
struct piece {
    const char *text;
    size_t size;
};

static const char *named_cell(const struct ar_plot_table *table, size_t row, const char *column)
{
    size_t place = ar_csv_find_column(table->csv, column);
    return place != SIZE_MAX ? ar_csv_cell(table->csv, row, place) : NULL;
}

/* The value that a row has for a key: a cell, or the setting of that name. */
static struct piece key_value(const struct ar_plot_table *table, size_t row, const char *key)
{
    const char *cell = named_cell(table, row, key);
    if (cell != NULL) {
        return (struct piece){cell, strlen(cell)};
    }
    cell = named_cell(table, row, ar_plot_column_name(AR_COL_SETTINGS));
    const char *at = cell != NULL ? cell : "";
    size_t length = strlen(key);
    while (*at != '\0') { /* KEY=VALUE KEY=VALUE */
        size_t size = strcspn(at, " ");
        if (size > length && at[length] == '=' && strncmp(at, key, length) == 0) {
            return (struct piece){at + length + 1, size - length - 1};
        }
        at += size + strspn(at + size, " ");
    }
    return (struct piece){"", 0};
}

static bool pieces_equal(struct piece a, struct piece b)
{
    return a.size == b.size && strncmp(a.text, b.text, a.size) == 0;
}

/* Numbers may be written in several ways. */
static bool is_wanted_value(struct piece found, const char *wanted)
{
    char *found_end;
    char *wanted_end;
    double number = strtod(found.text, &found_end);
    bool is_number = found.size > 0 && found_end == found.text + found.size;
    return pieces_equal(found, (struct piece){wanted, strlen(wanted)}) ||
           (found.size == 0 && strcmp(wanted, "none") == 0) ||
           (is_number && number == strtod(wanted, &wanted_end) && wanted_end != wanted &&
            *wanted_end == '\0');
}

/* Writes the distinct values of a key, as many as there is room for; returns their number. */
static size_t list_values(const struct ar_plot_table *table, struct ar_plot_rows rows,
                          const char *key, char text[LINE])
{
    struct piece seen[VALUES_SHOWN];
    size_t count = 0;
    size_t used = 0;
    for (size_t i = 0; i < rows.count; i++) {
        struct piece value = key_value(table, rows.rows[i], key);
        size_t k = 0;
        while (k < count && k < VALUES_SHOWN && !pieces_equal(seen[k], value)) {
            k++;
        }
        if (k == VALUES_SHOWN && used < LINE) {
            used += (size_t)snprintf(text + used, LINE - used, ", ...");
            return count + 1;
        }
        if (k == count && used < LINE) {
            seen[count++] = value;
            value = value.size == 0 ? (struct piece){"none", 4} : value;
            used += (size_t)snprintf(text + used, LINE - used, "%s%.*s", k == 0 ? "" : ", ",
                                     (int)value.size, value.text);
        }
    }
    return count;
}

/* --- choosing ----------------------------------------------------------------------------- */

static bool has_key(const struct ar_plot_table *table, const char *key)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        if (key_value(table, table->rows.rows[i], key).size > 0) {
            return true;
        }
    }
    return false;
}

static void keep_rows(struct ar_plot_table *table, const char *key, const char *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->rows.count; i++) {
        size_t row = table->rows.rows[i];
        if (is_wanted_value(key_value(table, row, key), value)) {
            table->rows.rows[kept++] = row;
        }
    }
    table->rows.count = kept;
}

static enum ar_status report_unknown_key(const char *key, struct ar_error *err)
{
    const char *names[AXES];
    for (size_t i = 0; i < AXES; i++) {
        names[i] = ar_plot_column_name(axes[i]);
    }
    return ar_error_unknown(err, AR_USAGE, "--where", "column or setting", key, names, AXES);
}

static enum ar_status choose_by_term(char *term, struct ar_plot_table *tables, size_t tables_count,
                                     struct ar_error *err)
{
    char *value = strchr(term, '=');
    char values[LINE] = "";
    bool is_known = false;
    bool is_found = false;
    if (value == NULL || value == term) {
        return ar_error_set(err, AR_USAGE, "--where: found \"%.60s\"; expected KEY=VALUE", term);
    }
    *value++ = '\0';
    for (size_t i = 0; i < tables_count; i++) {
        if (tables[i].csv == NULL || !has_key(&tables[i], term)) {
            continue;
        }
        if (!is_known) {
            list_values(&tables[i], tables[i].rows, term, values);
        }
        is_known = true;
        keep_rows(&tables[i], term, value);
        is_found = is_found || tables[i].rows.count > 0;
    }
    if (!is_known) {
        return report_unknown_key(term, err);
    }
    return is_found ? AR_OK
                    : ar_error_set(err, AR_USAGE,
                                   "--where: found \"%.60s=%.60s\", which no row has; expected one "
                                   "of %.200s",
                                   term, value, values);
}

/* Cuts the next KEY=VALUE off. A value may have commas, if no letter follows them. */
static char *cut_term(char **rest)
{
    char *term = *rest;
    char *comma = strchr(term, ',');
    while (comma != NULL && !isalpha((unsigned char)comma[1 + strspn(comma + 1, " ")])) {
        comma = strchr(comma + 1, ',');
    }
    *rest = comma == NULL ? NULL : comma + 1 + strspn(comma + 1, " ");
    if (comma != NULL) {
        *comma = '\0';
    }
    return term;
}

enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err)
{
    for (char *rest = ar_arena_text(arena, where); rest != NULL;) {
        AR_TRY(choose_by_term(cut_term(&rest), tables, tables_count, err));
    }
    return AR_OK;
}

enum ar_status ar_plot_where(const char *where, struct ar_arena *arena, struct ar_csv *const *files,
                             size_t count, struct ar_error *err)
{
    struct ar_plot_table *tables = ar_arena_alloc(arena, count, sizeof *tables);
    for (size_t i = 0; i < count; i++) {
        struct ar_plot_rows *rows = &tables[i].rows;
        tables[i].csv = files[i];
        rows->rows = ar_arena_alloc(arena, files[i] != NULL ? files[i]->rows_count + 1 : 1,
                                    sizeof *rows->rows);
        while (files[i] != NULL && rows->count < files[i]->rows_count) {
            rows->rows[rows->count] = rows->count;
            rows->count++;
        }
    }
    AR_TRY(ar_plot_choose(where, arena, tables, count, err));
    for (size_t i = 0; i < count; i++) {
        for (size_t row = 0; row < tables[i].rows.count; row++) {
            ar_csv_move_row(files[i], tables[i].rows.rows[row], row);
        }
        if (files[i] != NULL) {
            files[i]->rows_count = tables[i].rows.count;
        }
    }
    return AR_OK;
}

/* --- refusing ----------------------------------------------------------------------------- */

static void append_format(char text[LINE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_format(char text[LINE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, LINE - used, format, arguments);
    va_end(arguments);
}

/* Adds a column in which rows differ, and a choice as it is given to --where. Settings are keys
 * themselves. */
static void add_difference(const struct ar_plot_table *table, enum ar_plot_column column,
                           char columns[LINE], char choice[LINE])
{
    const char *name = ar_plot_column_name(column);
    const char *cell = ar_plot_cell(table, table->rows.rows[0], column);
    bool is_settings = column == AR_COL_SETTINGS && cell[0] != '\0';
    char values[LINE] = "";
    char *blank = choice + strlen(choice);
    list_values(table, table->rows, name, values);
    append_format(columns, "%s%s (%.200s)", columns[0] == '\0' ? "" : " and ", name, values);
    append_format(choice, "%s%s%s%s", choice[0] == '\0' ? "" : ",", is_settings ? "" : name,
                  is_settings ? "" : "=", cell[0] == '\0' ? "none" : cell);
    while (is_settings && (blank = strchr(blank, ' ')) != NULL) {
        *blank = ',';
    }
}

/* Whether rows differ in axis `axis` where they must not: all of them, or those of one point. */
static bool axis_differs(const struct ar_plot_table *table, size_t axis, struct ar_arena *arena)
{
    if (axis < CONDITIONS) {
        return ar_plot_rows_vary(table, axes[axis], table->rows);
    }
    const enum ar_plot_column point[] = {POINT, AR_COL_END};
    const enum ar_plot_column point_and_axis[] = {POINT, axes[axis], AR_COL_END};
    struct ar_plot_rows rows = ar_plot_rows_all(table, arena);
    ar_plot_rows_best(table, point_and_axis, axes[axis], &rows);
    for (size_t i = 0; i < rows.count; i++) {
        if (ar_plot_rows_alike(table, point, rows, i) > 1) {
            return true;
        }
    }
    return false;
}

const char *ar_plot_check_alike(const struct ar_plot_table *table, bool has_all_batches,
                                struct ar_arena *arena)
{
    char columns[LINE] = "";
    char choice[LINE] = "";
    for (size_t i = has_all_batches ? BATCHES : 0; i < CHOICES; i++) {
        if ((i < CONDITIONS || columns[0] == '\0') && axis_differs(table, i, arena)) {
            add_difference(table, axes[i], columns, choice);
        }
    }
    if (columns[0] == '\0') {
        return NULL;
    }
    ar_text_to_line(columns);
    ar_text_to_line(choice);
    return ar_arena_format(arena, "rows differ in %s; choose, such as --where %s", columns, choice);
}

/* --- series ------------------------------------------------------------------------------- */

/* Appends a value to a name; characters that a name must not have become `_`. A number is preceded
 * by the name of its column, settings have theirs. */
static void append_value(char text[LINE], enum ar_plot_column column, const char *cell)
{
    bool is_number = cell[strspn(cell, "0123456789.e-")] == '\0';
    size_t used = strlen(text);
    append_format(text, "%s%s%s%s", text[0] == '\0' ? "" : "+",
                  is_number ? ar_plot_column_name(column) : "", is_number ? "=" : "",
                  cell[0] == '\0' ? "none" : cell);
    for (char *c = text + used; *c != '\0'; c++) {
        *c = *c == ' ' ? '+' : *c < ' ' || *c > '~' || *c == '"' || *c == ',' ? '_' : *c;
    }
}

/* Adds the value of a column to the names of all rows. */
static void extend_names(const struct ar_plot_table *table, enum ar_plot_column column,
                         struct ar_arena *arena)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        size_t row = table->rows.rows[i];
        char text[LINE] = "";
        const char *cell = ar_plot_cell(table, row, column);
        append_format(text, "%s", ar_plot_cell(table, row, AR_COL_ALGORITHM));
        if (strcmp(cell, text) != 0) {
            append_value(text, column, cell);
        }
        table->texts[row][AR_COL_ALGORITHM] = ar_arena_text(arena, text);
    }
}

/* Gives equal names one number; returns how many names there are, SERIES_MAX + 1 if too many. */
static size_t number_names(const struct ar_plot_table *table)
{
    const size_t *rows = table->rows.rows;
    size_t count = 0;
    for (size_t i = 0; i < table->rows.count && count <= SERIES_MAX; i++) {
        const char *name = ar_plot_cell(table, rows[i], AR_COL_ALGORITHM);
        size_t k = 0;
        while (strcmp(ar_plot_cell(table, rows[k], AR_COL_ALGORITHM), name) != 0) {
            k++;
        }
        table->values[rows[i]][AR_COL_ALGORITHM] =
            k < i ? table->values[rows[k]][AR_COL_ALGORITHM] : (double)count++;
    }
    return count;
}

/* Names series. Names begin with the algorithm, or, where these would be too many, with nothing, so
 * that a point is that of its fastest algorithm. Returns their number. */
static size_t name_rows(const struct ar_plot_table *named, bool has_algorithms,
                        struct ar_arena *arena)
{
    size_t names = 0;
    for (size_t i = 0; i < named->rows.count && !has_algorithms; i++) {
        named->texts[named->rows.rows[i]][AR_COL_ALGORITHM] = NULL;
    }
    number_names(named);
    for (size_t i = 0; i < CHOICES && names <= SERIES_MAX; i++) {
        bool is_strategy = !has_algorithms && axes[i] == AR_COL_EXCHANGE;
        if (axis_differs(named, i, arena) ||
            (is_strategy && ar_plot_rows_vary(named, axes[i], named->rows))) {
            extend_names(named, axes[i], arena);
            names = number_names(named);
        }
    }
    for (size_t i = 0; i < named->rows.count; i++) {
        const char **name = &named->texts[named->rows.rows[i]][AR_COL_ALGORITHM];
        *name = *name == NULL || (*name)[0] == '\0' ? "default" : *name;
    }
    return names;
}

enum ar_plot_series ar_plot_name_series(const struct ar_plot_table *table, struct ar_arena *arena,
                                        struct ar_plot_table *named)
{
    size_t count = table->csv->rows_count;
    *named = *table;
    named->texts = ar_arena_alloc(arena, count + 1, sizeof *named->texts);
    named->values = ar_arena_alloc(arena, count + 1, sizeof *named->values);
    for (int tries = 0; tries < 2; tries++) {
        memcpy(named->texts, table->texts, count * sizeof *named->texts);
        memcpy(named->values, table->values, count * sizeof *named->values);
        if (name_rows(named, tries == 0, arena) <= SERIES_MAX) {
            return tries == 0 ? AR_PLOT_NAMED : AR_PLOT_NAMED_FASTEST;
        }
    }
    return AR_PLOT_UNNAMED;
}
