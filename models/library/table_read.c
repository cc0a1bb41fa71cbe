/* Reading the table of a fitted library. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <csv.h>

#include "ar_library_table.h"
#include "ar_text.h"
#include "table_check.h"
#include "table_columns.h"

enum { LINE_MAX = 8192, WHERE_SIZE = 320 };

/* What a table must say of itself. */
#define KEY_LIST(X)                                                                                \
    X(KEY_FORMAT, "format")                                                                        \
    X(KEY_TUNING, "tuning")                                                                        \
    X(KEY_NODE_BUS, "node_bus_Bps")                                                                \
    X(KEY_NET_BUS, "net_bus_Bps")                                                                  \
    X(KEY_CHANNELS, "channels")                                                                    \
    X(KEY_NODE_LINKS, "node_links")                                                                \
    X(KEY_RESIDUAL, "residual_frac")                                                               \
    X(KEY_ROWS, "rows")                                                                            \
    X(KEY_FITTED, "fitted_nodes")                                                                  \
    X(KEY_HELD_OUT, "held_out_nodes")

enum key {
#define X(symbol, name) symbol,
    KEY_LIST(X)
#undef X
        KEYS_COUNT
};

static const char *const key_names[] = {
#define X(symbol, name) name,
    KEY_LIST(X)
#undef X
};

struct reader {
    const char *path;
    char where[WHERE_SIZE]; /* `path:line` */
    struct csv_parser parser;
    char text[LINE_MAX];
    size_t used;
    const char *cells[COLUMNS_COUNT];
    size_t cells_count; /* may exceed what is stored */
    bool has_header;
    bool has_key[KEYS_COUNT];
    bool has_row[AR_LIBRARY_PARAMETERS_COUNT];
    struct ar_library_table found;
    struct ar_error *err;
};

#define REFUSE(reader, ...) ar_error_set((reader)->err, AR_BAD_DATA, __VA_ARGS__)

static bool read_number(const char *text, double min, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && *value >= min;
}

/* --- comment lines ------------------------------------------------------------------------ */

static enum ar_status read_nodes(struct reader *reader, const char *value,
                                 struct ar_library_nodes *nodes)
{
    const char *at = value;
    while (*at != '\0') {
        char *end;
        unsigned long count = strtoul(at, &end, 10);
        if (end == at || *at == '-' || count == 0 || count > UINT32_MAX ||
            (*end != ' ' && *end != '\0')) {
            return REFUSE(reader, "%s: found \"%.60s\"; expected node counts", reader->where, at);
        }
        enum ar_status status = ar_library_nodes_add(nodes, (uint32_t)count, reader->err);
        if (status != AR_OK) {
            return status;
        }
        at = end + strspn(end, " ");
    }
    return AR_OK;
}

static bool read_count(double number, bool is_number, uint32_t *count)
{
    bool is_right = is_number && number <= UINT32_MAX && number == floor(number);
    *count = is_right ? (uint32_t)number : 0;
    return is_right;
}

static enum ar_status read_format(struct reader *reader, const char *value)
{
    return strcmp(value, "1") == 0
               ? AR_OK
               : REFUSE(reader, "%s: found format \"%.20s\"; expected %d, that of this version",
                        reader->where, value, TABLE_FORMAT);
}

static bool read_node_links(const char *value, bool *is_pcie)
{
    *is_pcie = strcmp(value, TABLE_PCIE) == 0;
    return *is_pcie || strcmp(value, TABLE_NVLINK) == 0;
}

static enum ar_status read_value(struct reader *reader, enum key key, const char *value)
{
    struct ar_library *library = &reader->found.library;
    double number = 0;
    bool is_number = read_number(value, 0, &number);
    bool is_right = is_number;
    switch (key) {
    case KEY_FORMAT:
        return read_format(reader, value);
    case KEY_TUNING:
        return ar_library_read_release(reader->where, value, &library->tuning, reader->err);
    case KEY_NODE_BUS:
        library->tuning.node_bus_Bps = number;
        is_right = is_number && number > 0;
        break;
    case KEY_NET_BUS:
        library->tuning.net_bus_Bps = number;
        break;
    case KEY_CHANNELS:
        is_right = read_count(number, is_number, &library->tuning.channels) && number > 0;
        break;
    case KEY_NODE_LINKS:
        is_right = read_node_links(value, &library->tuning.is_pcie);
        break;
    case KEY_RESIDUAL:
        library->residual_frac = number;
        is_right = is_number && number < 10;
        break;
    case KEY_ROWS:
        is_right = read_count(number, is_number, &library->rows_count);
        break;
    default:
        return read_nodes(reader, value,
                          key == KEY_FITTED ? &reader->found.fitted : &reader->found.held_out);
    }
    if (!is_right) {
        return REFUSE(
            reader, "%s: %s: found \"%.60s\"; expected %s", reader->where, key_names[key], value,
            key == KEY_NODE_LINKS ? TABLE_NVLINK " or " TABLE_PCIE : "a number not below zero");
    }
    return AR_OK;
}

/* `# key: value`; lines with other keys are for people. */
static enum ar_status read_comment(struct reader *reader, char *line)
{
    char *key = line + 1 + strspn(line + 1, " ");
    char *colon = strchr(key, ':');
    if (colon == NULL) {
        return AR_OK;
    }
    *colon = '\0';
    for (int i = 0; i < KEYS_COUNT; i++) {
        if (strcmp(key, key_names[i]) == 0) {
            if (reader->has_key[i]) {
                return REFUSE(reader, "%s: found %s a second time; expected it once", reader->where,
                              key);
            }
            reader->has_key[i] = true;
            return read_value(reader, (enum key)i, colon + 1 + strspn(colon + 1, " "));
        }
    }
    return AR_OK;
}

/* --- rows --------------------------------------------------------------------------------- */

static void take_cell(void *bytes, size_t count, void *data)
{
    struct reader *reader = data;
    if (reader->cells_count < COLUMNS_COUNT) { /* cells of a line are never longer than it */
        char *cell = reader->text + reader->used;
        if (count > 0) {
            memcpy(cell, bytes, count);
        }
        cell[count] = '\0';
        reader->used += count + 1;
        reader->cells[reader->cells_count] = cell;
    }
    reader->cells_count++;
}

static enum ar_status split_line(struct reader *reader, const char *line)
{
    size_t length = strlen(line);
    reader->used = 0;
    reader->cells_count = 0;
    if (csv_parse(&reader->parser, line, length, take_cell, NULL, reader) != length ||
        csv_fini(&reader->parser, take_cell, NULL, reader) != 0) {
        return REFUSE(reader, "%s: found quotes that do not match; expected a line of CSV",
                      reader->where);
    }
    return AR_OK;
}

/* Name of a column. */
static const char *column_name(size_t column, char capacity[64])
{
    static const char *const lead[] = TABLE_LEAD_COLUMNS;
    if (column < COLUMN_COVARIANCE) {
        return lead[column];
    }
    snprintf(capacity, 64, TABLE_COVARIANCE "%s",
             ar_library_parameter_name((enum ar_library_parameter)(column - COLUMN_COVARIANCE)));
    return capacity;
}

static enum ar_status check_header(struct reader *reader)
{
    char capacity[64];
    for (size_t i = 0; i < COLUMNS_COUNT; i++) {
        const char *found = i < reader->cells_count ? reader->cells[i] : "the end of the line";
        if (strcmp(found, column_name(i, capacity)) != 0) {
            return REFUSE(reader,
                          "%s: column %zu: found \"%.60s\"; expected \"%s\", as in tables of this "
                          "version",
                          reader->where, i + 1, found, column_name(i, capacity));
        }
    }
    if (reader->cells_count != COLUMNS_COUNT) {
        return REFUSE(reader, "%s: found %zu columns; expected %d, as in tables of this version",
                      reader->where, reader->cells_count, COLUMNS_COUNT);
    }
    reader->has_header = true;
    return AR_OK;
}

static enum ar_status find_parameter(struct reader *reader, enum ar_library_parameter *parameter)
{
    const char *names[AR_LIBRARY_PARAMETERS_COUNT];
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        names[i] = ar_library_parameter_name((enum ar_library_parameter)i);
        if (strcmp(reader->cells[COLUMN_PARAMETER], names[i]) == 0) {
            *parameter = (enum ar_library_parameter)i;
            return AR_OK;
        }
    }
    return ar_error_unknown(reader->err, AR_BAD_DATA, reader->where, "parameter",
                            reader->cells[COLUMN_PARAMETER], names, AR_LIBRARY_PARAMETERS_COUNT);
}

static enum ar_status refuse_cell(struct reader *reader, size_t column, const char *expected)
{
    char capacity[64];
    return REFUSE(reader, "%s: column \"%s\": found \"%.40s\"; expected %s", reader->where,
                  column_name(column, capacity), reader->cells[column], expected);
}

static enum ar_status read_row(struct reader *reader)
{
    enum ar_library_parameter parameter = AR_LL_BASE;
    struct ar_library *library = &reader->found.library;
    if (reader->cells_count != COLUMNS_COUNT) {
        return REFUSE(reader, "%s: found %zu cells; expected %d as in the header", reader->where,
                      reader->cells_count, COLUMNS_COUNT);
    }
    enum ar_status status = find_parameter(reader, &parameter);
    if (status != AR_OK) {
        return status;
    }
    const char *unit = ar_library_parameter_unit(parameter);
    const char *identified = reader->cells[COLUMN_IDENTIFIED];
    if (reader->has_row[parameter]) {
        return refuse_cell(reader, COLUMN_PARAMETER, "every parameter once");
    }
    if (strcmp(reader->cells[COLUMN_UNIT], unit) != 0) {
        return refuse_cell(reader, COLUMN_UNIT, unit);
    }
    if (!read_number(reader->cells[COLUMN_VALUE], 1e-300, &library->values[parameter])) {
        return refuse_cell(reader, COLUMN_VALUE, "a number above zero");
    }
    if (strcmp(identified, "yes") != 0 && strcmp(identified, "no") != 0) {
        return refuse_cell(reader, COLUMN_IDENTIFIED, "yes or no");
    }
    for (size_t i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        double min = i == parameter ? 0 : -HUGE_VAL;
        if (!read_number(reader->cells[COLUMN_COVARIANCE + i], min,
                         &library->covariance[parameter][i])) {
            return refuse_cell(reader, COLUMN_COVARIANCE + i,
                               i == parameter ? "a variance, not below zero" : "a number");
        }
    }
    library->is_identified[parameter] = identified[0] == 'y';
    reader->has_row[parameter] = true;
    return AR_OK;
}

static enum ar_status read_line(struct reader *reader, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '#' || line[0] == '\0') {
        return line[0] == '#' ? read_comment(reader, line) : AR_OK;
    }
    enum ar_status status = split_line(reader, line);
    if (status != AR_OK) {
        return status;
    }
    return reader->has_header ? read_row(reader) : check_header(reader);
}

/* --- the whole ---------------------------------------------------------------------------- */

/* Older files do not have them. */
static bool is_optional(enum key key)
{
    return key == KEY_TUNING || key == KEY_CHANNELS || key == KEY_NODE_LINKS;
}

static enum ar_status check_whole(struct reader *reader)
{
    for (int i = 0; i < KEYS_COUNT; i++) {
        if (!reader->has_key[i] && !is_optional((enum key)i)) {
            return REFUSE(reader, "%.200s: found no line \"# %s: ...\"; expected one", reader->path,
                          key_names[i]);
        }
    }
    if (!reader->has_header) {
        return REFUSE(reader, "%.200s: found no table; expected a header line and %d parameters",
                      reader->path, AR_LIBRARY_PARAMETERS_COUNT);
    }
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (!reader->has_row[i]) {
            return REFUSE(reader, "%.200s: found no parameter \"%s\"; expected all of %d",
                          reader->path, ar_library_parameter_name((enum ar_library_parameter)i),
                          AR_LIBRARY_PARAMETERS_COUNT);
        }
    }
    return ar_library_check_covariance(reader->path, &reader->found.library, reader->err);
}

static enum ar_status read_lines(struct reader *reader, FILE *file)
{
    char *line = malloc(LINE_MAX);
    enum ar_status status = line == NULL ? ar_error_no_memory(reader->err, reader->path) : AR_OK;
    for (uint64_t number = 1; status == AR_OK && fgets(line, LINE_MAX, file) != NULL; number++) {
        snprintf(reader->where, sizeof reader->where, "%.250s:%" PRIu64, reader->path, number);
        if (strchr(line, '\n') == NULL) {
            status = REFUSE(reader,
                            "%s: found no end of the line within %d characters; expected a "
                            "table of a fitted library (is it cut off?)",
                            reader->where, LINE_MAX - 2);
        } else {
            status = read_line(reader, line);
        }
    }
    free(line);
    if (status == AR_OK && ferror(file) != 0) {
        return ar_error_set(reader->err, AR_NO_INPUT, "%.400s: cannot read: %s", reader->path,
                            strerror(errno));
    }
    return status == AR_OK ? check_whole(reader) : status;
}

enum ar_status ar_library_table_read(const char *path, struct ar_library_table *table,
                                     struct ar_error *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return ar_error_set(err, AR_NO_INPUT, "%.400s: cannot read: %s", path, strerror(errno));
    }
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL || csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(reader);
        fclose(file);
        return ar_error_no_memory(err, "the table of a library");
    }
    reader->path = path;
    reader->err = err;
    reader->found.library.tuning = ar_tuning_nccl_2_8_4(0, 0);
    enum ar_status status = read_lines(reader, file);
    if (status == AR_OK) {
        *table = reader->found;
    }
    csv_free(&reader->parser);
    free(reader);
    fclose(file);
    return status;
}
