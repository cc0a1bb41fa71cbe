#include "driver.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot.h"
#include "ar_text.h"

enum { VALUES_SHOWN = 6, LINE = 400, SERIES_MAX = 12 };

/* What rows may differ in. All rows of a picture agree on the first ones, but a table of payloads
 * and batches shows the very first; rows of a point agree on the next ones; the last ones make a
 * point.
 */
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

static const char *cell_of(const struct ar_plot_table *table, size_t row, const char *column)
{
    size_t place = ar_csv_find_column(table->csv, column);
    return place != SIZE_MAX ? ar_csv_cell(table->csv, row, place) : NULL;
}

/* What a row says of a key: a cell, or the setting of that name. */
static struct piece value_of(const struct ar_plot_table *table, size_t row, const char *key)
{
    const char *cell = cell_of(table, row, key);
    if (cell != NULL) {
        return (struct piece){cell, strlen(cell)};
    }
    cell = cell_of(table, row, ar_plot_column_name(AR_COL_SETTINGS));
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

static bool is_same(struct piece a, struct piece b)
{
    return a.size == b.size && strncmp(a.text, b.text, a.size) == 0;
}

/* Numbers may be written in several ways. */
static bool is_value(struct piece found, const char *wanted)
{
    char *found_end;
    char *wanted_end;
    double number = strtod(found.text, &found_end);
    bool is_number = found.size > 0 && found_end == found.text + found.size;
    return is_same(found, (struct piece){wanted, strlen(wanted)}) ||
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
        struct piece value = value_of(table, rows.rows[i], key);
        size_t k = 0;
        while (k < count && k < VALUES_SHOWN && !is_same(seen[k], value)) {
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

static bool says_something(const struct ar_plot_table *table, const char *key)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        if (value_of(table, table->rows.rows[i], key).size > 0) {
            return true;
        }
    }
    return false;
}

static void keep(struct ar_plot_table *table, const char *key, const char *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->rows.count; i++) {
        size_t row = table->rows.rows[i];
        if (is_value(value_of(table, row, key), value)) {
            table->rows.rows[kept++] = row;
        }
    }
    table->rows.count = kept;
}

static enum ar_status report_key(const char *key, struct ar_error *err)
{
    const char *names[AXES];
    for (size_t i = 0; i < AXES; i++) {
        names[i] = ar_plot_column_name(axes[i]);
    }
    return ar_error_unknown(err, AR_USAGE, "--where", "column or setting", key, names, AXES);
}

static enum ar_status choose_one(char *term, struct ar_plot_table *tables, size_t tables_count,
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
        if (tables[i].csv == NULL || !says_something(&tables[i], term)) {
            continue;
        }
        if (!is_known) {
            list_values(&tables[i], tables[i].rows, term, values);
        }
        is_known = true;
        keep(&tables[i], term, value);
        is_found = is_found || tables[i].rows.count > 0;
    }
    if (!is_known) {
        return report_key(term, err);
    }
    return is_found ? AR_OK
                    : ar_error_set(err, AR_USAGE,
                                   "--where: found \"%.60s=%.60s\", which no row has; expected one "
                                   "of %.200s",
                                   term, value, values);
}

/* Cuts the next KEY=VALUE off. A value may have commas before what is no key. */
static char *next_term(char **rest)
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
    char *rest = ar_arena_text(arena, where);
    AR_NEED(rest, err, "--where");
    while (rest != NULL) {
        AR_TRY(choose_one(next_term(&rest), tables, tables_count, err));
    }
    return AR_OK;
}

enum ar_status ar_plot_where(const char *where, struct ar_arena *arena, struct ar_csv *const *files,
                             size_t count, struct ar_error *err)
{
    struct ar_plot_table *tables = ar_arena_alloc(arena, count, sizeof *tables);
    for (size_t i = 0; tables != NULL && i < count; i++) {
        size_t rows = files[i] != NULL ? files[i]->rows_count : 0;
        tables[i].csv = files[i];
        tables[i].rows = (struct ar_plot_rows){ar_arena_alloc(arena, rows + 1, sizeof(size_t)), 0};
        while (tables[i].rows.rows != NULL && tables[i].rows.count < rows) {
            tables[i].rows.rows[tables[i].rows.count] = tables[i].rows.count;
            tables[i].rows.count++;
        }
        AR_NEED(tables[i].rows.rows, err, "--where");
    }
    AR_NEED(tables, err, "--where");
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

/* What rows differ in, and what to choose. */
struct refusal {
    char columns[LINE];
    char choice[LINE];
};

static void append(char text[LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char text[LINE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, LINE - used, format, arguments);
    va_end(arguments);
}

/* A choice is as it is given to --where: settings are keys themselves. */
static void refuse(const struct ar_plot_table *table, enum ar_plot_column column,
                   struct refusal *refusal)
{
    const char *name = ar_plot_column_name(column);
    const char *cell = ar_plot_cell(table, table->rows.rows[0], column);
    bool is_settings = column == AR_COL_SETTINGS && cell[0] != '\0';
    char values[LINE] = "";
    char *blank = refusal->choice + strlen(refusal->choice);
    list_values(table, table->rows, name, values);
    append(refusal->columns, "%s%s (%.200s)", refusal->columns[0] == '\0' ? "" : " and ", name,
           values);
    append(refusal->choice, "%s%s%s%s", refusal->choice[0] == '\0' ? "" : ",",
           is_settings ? "" : name, is_settings ? "" : "=", cell[0] == '\0' ? "none" : cell);
    while (is_settings && (blank = strchr(blank, ' ')) != NULL) {
        *blank = ',';
    }
}

/* Whether rows of some point differ in a column; changes the order of `rows`. */
static bool points_differ(const struct ar_plot_table *table, enum ar_plot_column column,
                          struct ar_plot_rows *rows)
{
    const enum ar_plot_column point[] = {POINT, AR_COL_END};
    const enum ar_plot_column more[] = {POINT, column, AR_COL_END};
    bool differ = false;
    ar_plot_rows_best(table, more, column, rows);
    for (size_t i = 0, count; i < rows->count && !differ; i += count) {
        count = ar_plot_rows_alike(table, point, *rows, i);
        differ = count > 1;
    }
    return differ;
}

/* Whether rows differ in an axis where they must not. */
static enum ar_status is_different(const struct ar_plot_table *table, size_t axis,
                                   struct ar_arena *arena, bool *differs, struct ar_error *err)
{
    struct ar_plot_rows copy;
    if (axis < CONDITIONS) {
        *differs = ar_plot_rows_vary(table, axes[axis], table->rows);
        return AR_OK;
    }
    AR_TRY(ar_plot_rows_all(table, arena, &copy, err));
    *differs = points_differ(table, axes[axis], &copy);
    return AR_OK;
}

enum ar_status ar_plot_check_alike(const struct ar_plot_table *table, bool has_all_batches,
                                   struct ar_arena *arena, const char **reason,
                                   struct ar_error *err)
{
    struct refusal refusal = {"", ""};
    for (size_t i = has_all_batches ? BATCHES : 0; i < CHOICES; i++) {
        bool differs;
        if (i < CONDITIONS || refusal.columns[0] == '\0') {
            AR_TRY(is_different(table, i, arena, &differs, err));
            if (differs) {
                refuse(table, axes[i], &refusal);
            }
        }
    }
    *reason = NULL;
    if (refusal.columns[0] != '\0') {
        ar_text_to_line(refusal.columns);
        ar_text_to_line(refusal.choice);
        *reason = ar_arena_format(arena, "rows differ in %s; choose, such as --where %s",
                                  refusal.columns, refusal.choice);
        return *reason == NULL ? ar_error_no_memory(err, "the pictures") : AR_OK;
    }
    return AR_OK;
}

/* --- series ------------------------------------------------------------------------------- */

/* A part of a name: what a name must not have becomes `_`. A number says what it is of, settings
 * say it themselves. */
static void append_part(char text[LINE], enum ar_plot_column column, const char *cell)
{
    bool is_number = cell[strspn(cell, "0123456789.e-")] == '\0';
    size_t used = strlen(text);
    append(text, "%s%s%s%s", text[0] == '\0' ? "" : "+",
           is_number ? ar_plot_column_name(column) : "", is_number ? "=" : "",
           cell[0] == '\0' ? "none" : cell);
    for (char *c = text + used; *c != '\0'; c++) {
        *c = *c == ' ' ? '+' : *c < ' ' || *c > '~' || *c == '"' || *c == ',' ? '_' : *c;
    }
}

/* Adds a column to the names of all rows. */
static enum ar_status name_rows(const struct ar_plot_table *table, enum ar_plot_column column,
                                struct ar_arena *arena, struct ar_error *err)
{
    const size_t *rows = table->rows.rows;
    for (size_t i = 0; i < table->rows.count; i++) {
        char text[LINE] = "";
        const char **name = &table->texts[rows[i]][AR_COL_ALGORITHM];
        const char *cell = ar_plot_cell(table, rows[i], column);
        append(text, "%s", *name != NULL ? *name : "");
        if (strcmp(cell, text) != 0) {
            append_part(text, column, cell);
        }
        *name = ar_arena_text(arena, text);
        AR_NEED(*name, err, "the pictures");
    }
    return AR_OK;
}

/* Equal names share a number; returns how many names there are, or that there are too many. */
static size_t number_rows(const struct ar_plot_table *table)
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

/* Names of series that begin with the algorithm, or, where they would be too many, with nothing: a
 * row is then the one of its fastest algorithm. */
static enum ar_status name_all(const struct ar_plot_table *named, bool has_algorithms,
                               struct ar_arena *arena, size_t *names, struct ar_error *err)
{
    *names = 0;
    for (size_t i = 0; i < named->rows.count && !has_algorithms; i++) {
        named->texts[named->rows.rows[i]][AR_COL_ALGORITHM] = NULL;
    }
    number_rows(named);
    for (size_t i = 0; i < CHOICES && *names <= SERIES_MAX; i++) {
        bool differs;
        AR_TRY(is_different(named, i, arena, &differs, err));
        if (differs || (!has_algorithms && axes[i] == AR_COL_EXCHANGE &&
                        ar_plot_rows_vary(named, axes[i], named->rows))) {
            AR_TRY(name_rows(named, axes[i], arena, err));
            *names = number_rows(named);
        }
    }
    for (size_t i = 0; i < named->rows.count; i++) {
        const char **name = &named->texts[named->rows.rows[i]][AR_COL_ALGORITHM];
        *name = *name == NULL || (*name)[0] == '\0' ? "default" : *name;
    }
    return AR_OK;
}

enum ar_status ar_plot_name_series(const struct ar_plot_table *table, struct ar_arena *arena,
                                   struct ar_plot_table *named, enum ar_plot_series *series,
                                   struct ar_error *err)
{
    size_t count = table->csv->rows_count;
    *series = AR_PLOT_UNNAMED;
    *named = *table;
    named->texts = ar_arena_alloc(arena, count + 1, sizeof *named->texts);
    named->values = ar_arena_alloc(arena, count + 1, sizeof *named->values);
    AR_NEED(named->texts && named->values, err, "the pictures");
    for (int tries = 0; tries < 2 && *series == AR_PLOT_UNNAMED; tries++) {
        size_t names;
        memcpy(named->texts, table->texts, count * sizeof *named->texts);
        memcpy(named->values, table->values, count * sizeof *named->values);
        AR_TRY(name_all(named, tries == 0, arena, &names, err));
        *series = names > SERIES_MAX ? AR_PLOT_UNNAMED
                  : tries == 0       ? AR_PLOT_NAMED
                                     : AR_PLOT_NAMED_FASTEST;
    }
    return AR_OK;
}
