/* What goes when all readers have lists of columns. */
#include "ar_csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

/* Appends "; did you mean "x"?" or the list of names. */
static void suggest(char *target, size_t size, const char *name, const char *const *names,
                    size_t names_count)
{
    const char *nearest = ar_nearest_name(name, names, names_count);
    if (nearest != NULL) {
        snprintf(target, size, "did you mean \"%s\"?", nearest);
        return;
    }
    size_t used = (size_t)snprintf(target, size, "expected one of");
    for (size_t i = 0; i < names_count && used < size; i++) {
        used += (size_t)snprintf(target + used, size - used, "%s %s", i > 0 ? "," : "", names[i]);
    }
}

static bool is_among(const char *name, const char *const *names, size_t names_count)
{
    for (size_t i = 0; i < names_count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum ar_status ar_csv_check_directives(const struct ar_csv *csv, const char *const *names,
                                       size_t names_count, struct ar_error *err)
{
    char shown[64];
    char hint[256];
    for (size_t i = 0; i < csv->directives_count; i++) {
        const struct ar_csv_directive *directive = &csv->directives[i];
        const char *key = directive->key;
        if (!is_among(key, names, names_count)) {
            suggest(hint, sizeof hint, key, names, names_count);
            return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": unknown directive \"%s\"; %s",
                                csv->path, directive->line, ar_csv_show(key, shown), hint);
        }
        const struct ar_csv_directive *first = ar_csv_find_directive(csv, key);
        if (first != directive) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": directive \"%s\" is given again; expected it once "
                                "(line %" PRIu64 ")",
                                csv->path, directive->line, key, first->line);
        }
    }
    return AR_OK;
}

/* The units library accepts what people type; a cell is plain decimal. */
static bool parse_number(const char *text, double min, double max, double *number)
{
    struct ar_error ignored;
    double value;
    if (text[0] == '\0' || strspn(text, "0123456789.eE+-") != strlen(text) ||
        ar_parse_number("", text, min, max, &value, &ignored) != AR_OK) {
        return false;
    }
    *number = value + 0.0; /* no -0 */
    return true;
}

enum ar_status ar_csv_directive_number(const struct ar_csv *csv, const char *key, double min,
                                       double max, const char *expected, double *number,
                                       struct ar_error *err)
{
    const struct ar_csv_directive *directive = ar_csv_find_directive(csv, key);
    double value = 0;
    char shown[64];
    if (directive != NULL && !parse_number(directive->value, min, max, &value)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": directive \"%s\" is \"%s\"; expected %s", csv->path,
                            directive->line, key, ar_csv_show(directive->value, shown), expected);
    }
    *number = value;
    return AR_OK;
}

static enum ar_status check_column(const struct ar_csv *csv, size_t column, bool allows_others,
                                   const char *const *names, size_t names_count,
                                   struct ar_error *err)
{
    char shown[64];
    char hint[256];
    const char *name = csv->cells[column];
    bool is_wanted = is_among(name, names, names_count);
    if (!is_wanted && !allows_others) {
        suggest(hint, sizeof hint, name, names, names_count);
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": unknown column \"%s\"; %s",
                            csv->path, csv->header_line, ar_csv_show(name, shown), hint);
    }
    if (is_wanted && ar_csv_find_column(csv, name) != column) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": column \"%s\" is given twice; expected it once",
                            csv->path, csv->header_line, name);
    }
    return AR_OK;
}

enum ar_status ar_csv_place_columns(const struct ar_csv *csv, const char *const *names,
                                    size_t names_count, enum ar_csv_strictness strictness,
                                    size_t *places, struct ar_error *err)
{
    for (size_t i = 0; i < csv->columns_count; i++) {
        AR_TRY(check_column(csv, i, strictness != AR_CSV_EXACT, names, names_count, err));
    }
    for (size_t i = 0; i < names_count; i++) {
        places[i] = ar_csv_find_column(csv, names[i]);
        if (places[i] == SIZE_MAX && strictness != AR_CSV_AS_THERE_ARE) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"%s\" is missing; expected it in the "
                                "header",
                                csv->path, csv->header_line, names[i]);
        }
    }
    return AR_OK;
}

enum ar_status ar_csv_find_columns(const struct ar_csv *csv, const char *const *names,
                                   size_t names_count, size_t *places, struct ar_error *err)
{
    return ar_csv_place_columns(csv, names, names_count, AR_CSV_EXACT, places, err);
}

enum ar_status ar_csv_cell_error(const struct ar_csv *csv, size_t row, size_t column,
                                 const char *expected, struct ar_error *err)
{
    char shown[64];
    return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": column \"%s\" is \"%s\"; expected %s",
                        csv->path, csv->lines[row], csv->cells[column],
                        ar_csv_show(ar_csv_cell(csv, row, column), shown), expected);
}

enum ar_status ar_csv_number(const struct ar_csv *csv, size_t row, size_t column, double min,
                             double max, const char *expected, double *number, struct ar_error *err)
{
    if (!parse_number(ar_csv_cell(csv, row, column), min, max, number)) {
        return ar_csv_cell_error(csv, row, column, expected, err);
    }
    return AR_OK;
}

enum ar_status ar_csv_count(const struct ar_csv *csv, size_t row, size_t column, uint64_t min,
                            uint64_t max, const char *expected, uint64_t *count,
                            struct ar_error *err)
{
    struct ar_error ignored;
    if (ar_parse_count("", ar_csv_cell(csv, row, column), min, max, count, &ignored) != AR_OK) {
        return ar_csv_cell_error(csv, row, column, expected, err);
    }
    return AR_OK;
}
