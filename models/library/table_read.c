/* Reading the table of a fitted library. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_library_table.h"
#include "ar_text.h"
#include "ar_units.h"
#include "table.h"

enum { FILE_BYTES_MAX = 1 << 20, WHERE_SIZE = 320, COLUMN_NAME_SIZE = 64 };

enum kind { KIND_FORMAT, KIND_RELEASE, KIND_LINKS, KIND_NUMBER, KIND_COUNT, KIND_NODES };

/* What a table says of itself. Older files do not have the optional ones. */
static const struct key {
    const char *name;
    enum kind kind;
    bool is_optional;
    size_t offset; /* in ar_library_table */
    double min, max;
} keys[] = {
#define ROW(text, what, field)                                                                     \
    .name = text, .kind = what, .offset = offsetof(struct ar_library_table, field)
    {.name = "format", .kind = KIND_FORMAT},
    {ROW("tuning", KIND_RELEASE, library.tuning), .is_optional = true},
    {ROW("node_bus_Bps", KIND_NUMBER, library.tuning.node_bus_Bps), .min = 1e-300, .max = HUGE_VAL},
    {ROW("net_bus_Bps", KIND_NUMBER, library.tuning.net_bus_Bps), .max = HUGE_VAL},
    {ROW("channels", KIND_COUNT, library.tuning.channels), .is_optional = true, .min = 1},
    {ROW("node_links", KIND_LINKS, library.tuning.is_pcie), .is_optional = true},
    {ROW("residual_frac", KIND_NUMBER, library.residual_frac), .max = 10},
    {ROW("rows", KIND_COUNT, library.rows_count)},
    {ROW("fitted_nodes", KIND_NODES, fitted)},
    {ROW("held_out_nodes", KIND_NODES, held_out)},
#undef ROW
};

enum { KEYS_COUNT = sizeof keys / sizeof keys[0] };

static bool read_number(const char *text, double min, double max, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && *value >= min && *value <= max;
}

/* --- comment lines ------------------------------------------------------------------------ */

static enum ar_status read_nodes(const char *where, const char *value,
                                 struct ar_library_nodes *nodes, struct ar_error *err)
{
    const char *at = value;
    while (*at != '\0') {
        char *end;
        unsigned long count = strtoul(at, &end, 10);
        if (end == at || *at == '-' || count == 0 || count > UINT32_MAX ||
            (*end != ' ' && *end != '\0')) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected node counts",
                                where, at);
        }
        AR_TRY(ar_library_nodes_add(nodes, (uint32_t)count, err));
        at = end + strspn(end, " ");
    }
    return AR_OK;
}

static bool read_count(const char *value, double min, uint32_t *count)
{
    uint64_t number;
    struct ar_error ignored;
    bool is_right =
        ar_parse_count("", value, (uint64_t)min, UINT32_MAX, &number, &ignored) == AR_OK;
    *count = is_right ? (uint32_t)number : 0;
    return is_right;
}

static bool read_links(const char *value, bool *is_pcie)
{
    *is_pcie = strcmp(value, TABLE_PCIE) == 0;
    return *is_pcie || strcmp(value, TABLE_NVLINK) == 0;
}

static enum ar_status read_value(const struct key *key, const char *where, const char *value,
                                 struct ar_library_table *table, struct ar_error *err)
{
    void *target = (char *)table + key->offset;
    const char *expected = "a number not below zero";
    bool is_right = false;
    switch (key->kind) {
    case KIND_FORMAT:
        if (strcmp(value, "1") != 0) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: found format \"%.20s\"; expected %d, that of this version",
                                where, value, TABLE_FORMAT);
        }
        return AR_OK;
    case KIND_RELEASE:
        return ar_library_read_release(where, value, target, err);
    case KIND_NODES:
        return read_nodes(where, value, target, err);
    case KIND_LINKS:
        is_right = read_links(value, target);
        expected = TABLE_NVLINK " or " TABLE_PCIE;
        break;
    case KIND_COUNT:
        is_right = read_count(value, key->min, target);
        break;
    case KIND_NUMBER:
        is_right = read_number(value, key->min, key->max, target);
        break;
    }
    return is_right ? AR_OK
                    : ar_error_set(err, AR_BAD_DATA, "%s: %s: found \"%.60s\"; expected %s", where,
                                   key->name, value, expected);
}

/* `# key: value`; lines with other keys are for people. */
static enum ar_status read_facts(const struct ar_csv *csv, struct ar_library_table *table,
                                 struct ar_error *err)
{
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        bool is_there = false;
        for (size_t j = 0; j < csv->directives_count; j++) {
            const struct ar_csv_directive *fact = &csv->directives[j];
            char where[WHERE_SIZE];
            if (strcmp(fact->key, keys[i].name) != 0) {
                continue;
            }
            snprintf(where, sizeof where, "%.250s:%" PRIu64, csv->path, fact->line);
            if (is_there) {
                return ar_error_set(err, AR_BAD_DATA,
                                    "%s: found %s a second time; expected it once", where,
                                    fact->key);
            }
            is_there = true;
            AR_TRY(read_value(&keys[i], where, fact->value, table, err));
        }
        if (!is_there && !keys[i].is_optional) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.200s: found no line \"# %s: ...\"; expected one", csv->path,
                                keys[i].name);
        }
    }
    return AR_OK;
}

/* --- rows --------------------------------------------------------------------------------- */

static enum ar_status find_columns(const struct ar_csv *csv, size_t places[COLUMNS_COUNT],
                                   struct ar_error *err)
{
    static const char *const lead[] = TABLE_LEAD_COLUMNS;
    char covariances[AR_LIBRARY_PARAMETERS_COUNT][COLUMN_NAME_SIZE];
    const char *names[COLUMNS_COUNT];
    memcpy(names, lead, sizeof lead);
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        snprintf(covariances[i], COLUMN_NAME_SIZE, TABLE_COVARIANCE "%s",
                 ar_library_parameters[i].name);
        names[COLUMN_COVARIANCE + i] = covariances[i];
    }
    return ar_csv_find_columns(csv, names, COLUMNS_COUNT, places, err);
}

static enum ar_status find_parameter(const struct ar_csv *csv, size_t row, const char *name,
                                     enum ar_library_parameter *parameter, struct ar_error *err)
{
    const char *names[AR_LIBRARY_PARAMETERS_COUNT];
    char where[AR_CSV_WHERE];
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        names[i] = ar_library_parameters[i].name;
        if (strcmp(name, names[i]) == 0) {
            *parameter = (enum ar_library_parameter)i;
            return AR_OK;
        }
    }
    return ar_error_unknown(err, AR_BAD_DATA, ar_csv_where(csv, row, where), "parameter", name,
                            names, AR_LIBRARY_PARAMETERS_COUNT);
}

static enum ar_status read_row(const struct ar_csv *csv, size_t row, const size_t *places,
                               struct ar_library *library, struct ar_error *err)
{
    enum ar_library_parameter parameter = AR_LL_BASE;
    AR_TRY(
        find_parameter(csv, row, ar_csv_cell(csv, row, places[COLUMN_PARAMETER]), &parameter, err));
    const char *unit = ar_library_parameters[parameter].unit;
    const char *identified = ar_csv_cell(csv, row, places[COLUMN_IDENTIFIED]);
    if (library->values[parameter] > 0) {
        return ar_csv_cell_error(csv, row, places[COLUMN_PARAMETER], "every parameter once", err);
    }
    if (strcmp(ar_csv_cell(csv, row, places[COLUMN_UNIT]), unit) != 0) {
        return ar_csv_cell_error(csv, row, places[COLUMN_UNIT], unit, err);
    }
    if (strcmp(identified, "yes") != 0 && strcmp(identified, "no") != 0) {
        return ar_csv_cell_error(csv, row, places[COLUMN_IDENTIFIED], "yes or no", err);
    }
    AR_TRY(ar_csv_number(csv, row, places[COLUMN_VALUE], 1e-300, HUGE_VAL, "a number above zero",
                         &library->values[parameter], err));
    for (size_t i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        bool is_own = i == parameter;
        AR_TRY(ar_csv_number(csv, row, places[COLUMN_COVARIANCE + i], is_own ? 0 : -HUGE_VAL,
                             HUGE_VAL, is_own ? "a variance, not below zero" : "a number",
                             &library->covariance[parameter][i], err));
    }
    library->is_identified[parameter] = identified[0] == 'y';
    return AR_OK;
}

/* --- the whole ---------------------------------------------------------------------------- */

static enum ar_status read_csv(const struct ar_csv *csv, struct ar_library_table *table,
                               struct ar_error *err)
{
    size_t places[COLUMNS_COUNT];
    table->library.tuning = ar_tuning_nccl_2_8_4(0, 0);
    AR_TRY(read_facts(csv, table, err));
    AR_TRY(find_columns(csv, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(read_row(csv, row, places, &table->library, err));
    }
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (!(table->library.values[i] > 0)) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.200s: found no parameter \"%s\"; expected all of %d", csv->path,
                                ar_library_parameters[i].name, AR_LIBRARY_PARAMETERS_COUNT);
        }
    }
    return ar_library_check_covariance(csv->path, &table->library, err);
}

static enum ar_status read_text(const char *path, const char *text, size_t bytes,
                                struct ar_library_table *table, struct ar_error *err)
{
    struct ar_csv *csv;
    if (bytes == 0 || text[bytes - 1] != '\n') {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: found no end of the last line; expected a table of a fitted "
                            "library (is it cut off?)",
                            path);
    }
    struct ar_library_table *found = calloc(1, sizeof *found);
    if (found == NULL) {
        return ar_error_no_memory(err, "the table of a library");
    }
    struct ar_arena arena = {NULL};
    enum ar_status status = ar_csv_parse(path, text, bytes, AR_CSV_FACTS, &arena, &csv, err);
    if (status == AR_OK) {
        status = read_csv(csv, found, err);
    }
    ar_arena_end(&arena);
    if (status == AR_OK) {
        *table = *found;
    }
    free(found);
    return status;
}

enum ar_status ar_library_table_read(const char *path, struct ar_library_table *table,
                                     struct ar_error *err)
{
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path, FILE_BYTES_MAX, "the table of a library", &text, &bytes, err));
    enum ar_status status = read_text(path, text, bytes, table, err);
    free(text);
    return status;
}
