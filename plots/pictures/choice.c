/* Which rows of a file may be drawn as one picture: those of `--where`, if they are alike. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "pictures.h"

enum { VALUES_SHOWN = 6, LINE = 400, SERIES_MAX = 12, PART_NAME_MAX = 100 };

#define POINT "algorithm gpus shape payload_bytes " AR_PLOT_BATCHES

/* A text that is not terminated. */
struct piece {
    const char *text;
    size_t size;
};

/* The value that a row has for a key: a cell, or the setting of that name. */
static struct piece key_value(const struct ar_plot_table *table, size_t row, const char *key)
{
    bool is_column = ar_csv_find_column(table->csv, key) != SIZE_MAX;
    const char *at = ar_csv_text(table->csv, row, is_column ? key : "settings");
    size_t length = strlen(key);
    while (*at != '\0' && !is_column) { /* KEY=VALUE KEY=VALUE */
        size_t size = strcspn(at, " ");
        if (size > length && at[length] == '=' && strncmp(at, key, length) == 0) {
            return (struct piece){at + length + 1, size - length - 1};
        }
        at += size + strspn(at + size, " ");
    }
    return (struct piece){at, strlen(at)};
}

static bool pieces_equal(struct piece a, struct piece b)
{
    return a.size == b.size && strncmp(a.text, b.text, a.size) == 0;
}

/* Numbers may be written in several ways. */
static bool is_wanted_value(struct piece found, const char *wanted)
{
    char *found_end, *wanted_end;
    double number = strtod(found.text, &found_end);
    bool is_number = found.size > 0 && found_end == found.text + found.size;
    return pieces_equal(found, (struct piece){wanted, strlen(wanted)}) ||
           (found.size == 0 && strcmp(wanted, "none") == 0) ||
           (is_number && number == strtod(wanted, &wanted_end) && wanted_end != wanted &&
            *wanted_end == '\0');
}

/* Writes the distinct values of a key, as many as there is room for; returns their number. */
static size_t list_values(const struct ar_plot_table *table, const char *key, char text[LINE])
{
    struct piece seen[VALUES_SHOWN];
    size_t count = 0;
    text[0] = '\0';
    for (size_t row = 0; row < table->csv->rows_count; row++) {
        struct piece value = key_value(table, row, key);
        size_t k = 0;
        while (k < count && k < VALUES_SHOWN && !pieces_equal(seen[k], value)) {
            k++;
        }
        if (k == VALUES_SHOWN) {
            ar_append_text(text, LINE, ", ...");
            return count + 1;
        }
        if (k == count) {
            seen[count++] = value;
            value = value.size == 0 ? (struct piece){"none", 4} : value;
            ar_append_text(text, LINE, "%s%.*s", k == 0 ? "" : ", ", (int)value.size, value.text);
        }
    }
    return count;
}

/* --- choosing ----------------------------------------------------------------------------- */

static enum ar_status choose_by_term(char *term, struct ar_plot_table *tables, size_t tables_count,
                                     struct ar_error *err)
{
    char *value = strchr(term, '=');
    char values[LINE] = "";
    const struct ar_csv *first = NULL;
    bool is_known = false, is_found = false;
    AR_REFUSE(value == NULL || value == term, err, AR_USAGE,
              "--where: found \"%.60s\"; expected KEY=VALUE", term);
    *value++ = '\0';
    for (size_t i = 0; i < tables_count; i++) {
        first = first == NULL ? tables[i].csv : first;
        bool has_key = false;
        for (size_t row = 0; tables[i].csv != NULL && row < tables[i].csv->rows_count; row++) {
            has_key = has_key || key_value(&tables[i], row, term).size > 0;
        }
        if (!has_key) {
            continue;
        }
        if (!is_known) {
            list_values(&tables[i], term, values);
        }
        is_known = true;
        struct ar_csv *csv = tables[i].csv;
        size_t kept = 0, columns = csv->columns_count;
        for (size_t row = 0; row < csv->rows_count; row++) {
            if (is_wanted_value(key_value(&tables[i], row, term), value)) {
                for (size_t k = 0; k < columns && tables[i].values != NULL; k++) {
                    tables[i].values[kept * columns + k] = tables[i].values[row * columns + k];
                }
                ar_csv_move_row(csv, row, kept++);
            }
        }
        csv->rows_count = kept;
        is_found = is_found || kept > 0;
    }
    AR_REFUSE_BY(!is_known, ar_error_unknown(err, AR_USAGE, "--where", "column or setting", term,
                                             first->cells, first->columns_count));
    AR_REFUSE(!is_found, err, AR_USAGE,
              "--where: found \"%.60s=%.60s\", which no row has; expected one of %.200s", term,
              value, values);
    return AR_OK;
}

enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err)
{
    for (char *term = ar_arena_text(arena, where), *comma; term != NULL;
         term = comma == NULL ? NULL : comma + 1 + strspn(comma + 1, " ")) {
        comma = strchr(term, ','); /* a value may have commas, if no letter follows them */
        while (comma != NULL && !isalpha((unsigned char)comma[1 + strspn(comma + 1, " ")])) {
            comma = strchr(comma + 1, ',');
        }
        if (comma != NULL) {
            *comma = '\0';
        }
        AR_TRY(choose_by_term(term, tables, tables_count, err));
    }
    return AR_OK;
}

enum ar_status ar_plot_where(const char *where, struct ar_arena *arena, struct ar_csv *const *files,
                             size_t count, struct ar_error *err)
{
    struct ar_plot_table *tables = ar_arena_alloc(arena, count, sizeof *tables);
    for (size_t i = 0; i < count; i++) {
        tables[i].csv = files[i];
    }
    return ar_plot_choose(where, arena, tables, count, err);
}

/* --- refusing ----------------------------------------------------------------------------- */

/* Whether rows that have the same point, and agree on other columns, differ in a column. */
static bool choice_differs(const struct ar_plot_table *table, const char *others,
                           const char *column, struct ar_arena *arena)
{
    struct ar_plot_rows rows = ar_plot_rows_all(table, arena);
    const char *point = ar_arena_format(arena, POINT " %s", others);
    ar_plot_rows_best(table, ar_arena_format(arena, "%s %s", point, column), column, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        if (ar_plot_rows_alike(table, point, rows, i) > 1) {
            return true;
        }
    }
    return false;
}

/* The columns in which rows differ and that a picture does not show, with a blank before each. */
static const char *find_differences(const struct ar_plot_table *table,
                                    const struct ar_plot_kind *kind, struct ar_arena *arena)
{
    const char *conditions = ar_plot_sources[kind->file].conditions, *found = "";
    const char *choices = ar_plot_sources[kind->file].choices;
    struct ar_plot_rows rows = ar_plot_rows_all(table, arena);
    AR_EACH_WORD(column, conditions) {
        if (!(kind->has_all_batches && ar_text_has_word(AR_PLOT_BATCHES, column)) &&
            ar_plot_rows_vary(table, column, rows)) {
            found = ar_arena_format(arena, "%s %s", found, column);
        }
    }
    AR_EACH_WORD(column, choices) {
        if (choice_differs(table, found, column, arena)) {
            found = ar_arena_format(arena, "%s %s", found, column);
        }
    }
    return found;
}

const char *ar_plot_check_alike(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                                struct ar_arena *arena)
{
    char columns[LINE] = "";
    char choice[LINE] = "";
    AR_EACH_WORD(column, find_differences(table, kind, arena)) {
        /* A column in which rows differ, and its value as --where takes it; settings are keys. */
        const char *cell = ar_csv_text(table->csv, 0, column);
        bool is_settings = strcmp(column, "settings") == 0 && cell[0] != '\0';
        char values[LINE] = "";
        char *blank = choice + strlen(choice);
        list_values(table, column, values);
        ar_append_text(columns, LINE, "%s%s (%.200s)", columns[0] == '\0' ? "" : " and ", column,
                       values);
        ar_append_text(choice, LINE, "%s%s%s%s", choice[0] == '\0' ? "" : ",",
                       is_settings ? "" : column, is_settings ? "" : "=",
                       cell[0] == '\0' ? "none" : cell);
        while (is_settings && (blank = strchr(blank, ' ')) != NULL) {
            *blank = ',';
        }
    }
    if (columns[0] == '\0') {
        return NULL;
    }
    ar_text_to_line(columns);
    ar_text_to_line(choice);
    return ar_arena_format(arena, "rows differ in %s; choose, such as --where %s", columns, choice);
}

/* --- a picture for each value ------------------------------------------------------------- */

/* The name of the picture of a row, as a name of files: that of the kind and the values it has. */
static const char *part_name(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                             const char *columns, size_t row, struct ar_arena *arena)
{
    char *name = ar_arena_text(arena, kind->name);
    AR_EACH_WORD(column, columns) {
        const char *cell = ar_csv_text(table->csv, row, column);
        bool is_number = cell[0] != '\0' && !isnan(ar_plot_number_of(cell));
        name = ar_arena_format(arena, "%s-%s%s%s", name, is_number ? column : "",
                               is_number ? "_" : "", cell[0] == '\0' ? "none" : cell);
    }
    for (char *c = name; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) || strchr("-.", *c) != NULL ? *c : '_';
    }
    return name;
}

size_t ar_plot_split(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                     struct ar_arena *arena, struct ar_plot_part parts[AR_PLOT_PARTS_MAX])
{
    const char *columns = find_differences(table, kind, arena);
    struct ar_plot_rows rows = ar_plot_rows_all(table, arena);
    size_t count = 0;
    ar_plot_rows_sort(table, columns, "", &rows);
    for (size_t i = 0, n; i < rows.count; i += n, count++) {
        n = ar_plot_rows_alike(table, columns, rows, i);
        const char *name = part_name(table, kind, columns, rows.rows[i], arena);
        bool is_new = count < AR_PLOT_PARTS_MAX && strlen(name) <= PART_NAME_MAX;
        for (size_t k = 0; k < count && is_new; k++) { /* values may be alike as names of files */
            is_new = strcmp(parts[k].name, name) != 0;
        }
        if (!is_new) {
            return 0;
        }
        parts[count] = (struct ar_plot_part){name, {rows.rows + i, n}};
    }
    return count;
}

/* --- series ------------------------------------------------------------------------------- */

/* The name of the series of a row, which is its algorithm. */
static const char **series_name(const struct ar_plot_table *named, size_t row)
{
    const struct ar_csv *csv = named->csv;
    return &csv->cells[(row + 1) * csv->columns_count + ar_csv_find_column(csv, "algorithm")];
}

/* Adds the value of a column to the names of all rows; characters that a name must not have become
 * `_`. A number is preceded by the name of its column, settings have theirs. Pictures show `+` as a
 * comma and `~` as a blank. */
static void extend_names(const struct ar_plot_table *named, const char *column,
                         struct ar_arena *arena)
{
    for (size_t row = 0; row < named->csv->rows_count; row++) {
        const char **name = series_name(named, row);
        const char *cell = ar_csv_text(named->csv, row, column);
        char text[LINE] = "";
        ar_append_text(text, LINE, "%s", *name);
        bool is_number = cell[strspn(cell, "0123456789.e-")] == '\0';
        char *c = text + strlen(text);
        if (strcmp(cell, text) != 0) {
            ar_append_text(text, LINE, "%s%s%s%s", text[0] == '\0' ? "" : "+",
                           is_number ? column : "", is_number ? "=" : "",
                           cell[0] == '\0' ? "none" : cell);
        }
        for (; *c != '\0'; c++) {
            is_number = is_number && *c != '=';
            *c = is_number && *c == '_'                           ? '~'
                 : *c == ' '                                      ? '+'
                 : *c < ' ' || *c > '~' || *c == '"' || *c == ',' ? '_'
                                                                  : *c;
        }
        *name = ar_arena_text(arena, text);
    }
}

bool ar_plot_name_series(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                         struct ar_arena *arena, struct ar_plot_table *named)
{
    size_t values_count = table->csv->rows_count * table->csv->columns_count;
    struct ar_csv *csv = ar_arena_copy(arena, table->csv, 1, sizeof *csv);
    csv->cells = ar_arena_copy(arena, csv->cells, csv->cells_count, sizeof *csv->cells);
    *named = *table;
    named->csv = csv;
    named->values = ar_arena_copy(arena, table->values, values_count, sizeof *named->values);
    AR_EACH_WORD(column, find_differences(table, kind, arena)) {
        extend_names(named, column, arena);
    }
    /* Gives equal names one number, up to SERIES_MAX + 1. */
    size_t columns = named->csv->columns_count;
    double *numbers = named->values + ar_csv_find_column(named->csv, "algorithm");
    size_t count = 0;
    for (size_t row = 0; row < named->csv->rows_count && count <= SERIES_MAX; row++) {
        size_t first = 0;
        while (strcmp(*series_name(named, first), *series_name(named, row)) != 0) {
            first++;
        }
        numbers[row * columns] = first < row ? numbers[first * columns] : (double)count++;
    }
    return count <= SERIES_MAX;
}
