#include "plot_columns.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "ar_units.h"

enum content {
    STATUS,   /* read by ar_plot_header_is_ok() */
    SUBJECT,  /* text, the same in every row */
    NAME,     /* index of a name met before or new */
    SHAPE,    /* text */
    COUNT,    /* whole number of at least 1 */
    TEXT,     /* plain text */
    BYTES,    /* whole number */
    DURATION, /* seconds >= 0 */
    POSITIVE, /* number > 0 */
    FRACTION, /* number >= 0 */
};

struct column {
    const char *name;
    enum content content;
    unsigned kinds; /* tables that need it */
    size_t offset;  /* in ar_plot_row, or in ar_plot_subject */
    bool is_optional;
};

#define ROW(field)  offsetof(struct ar_plot_row, field)
#define SAME(field) offsetof(struct ar_plot_subject, field)
#define BOTH        (AR_PLOT_STEPS | AR_PLOT_COLLECTIVES)

static const struct column columns[AR_PLOT_COLUMNS] = {
    {"status", STATUS, BOTH, 0, false},
    {"cluster", SUBJECT, BOTH, SAME(cluster), false},
    {"trace", SUBJECT, AR_PLOT_STEPS, SAME(trace), false},
    {"batch_per_gpu", COUNT, AR_PLOT_STEPS, ROW(batch_per_gpu), false},
    {"precision", TEXT, AR_PLOT_STEPS, ROW(precision), false},
    {"gradient_scale", POSITIVE, AR_PLOT_STEPS, ROW(gradient_scale), true},
    {"baseline", SUBJECT, AR_PLOT_STEPS, SAME(baseline), false},
    {"algorithm", NAME, BOTH, ROW(algorithm), false},
    {"engine", NAME, BOTH, ROW(engine), false},
    {"shape", SHAPE, BOTH, ROW(shape), false},
    {"gpus", COUNT, BOTH, ROW(gpus), false},
    {"payload_bytes", BYTES, BOTH, ROW(payload_bytes), false},
    {"iteration_s", POSITIVE, AR_PLOT_STEPS, ROW(iteration_s), false},
    {"allreduce_s", DURATION, BOTH, ROW(allreduce_s), false},
    {"exposed_s", DURATION, AR_PLOT_STEPS, ROW(exposed_s), false},
    {"forward_s", DURATION, AR_PLOT_STEPS, ROW(forward_s), false},
    {"backward_s", DURATION, AR_PLOT_STEPS, ROW(backward_s), false},
    {"optimizer_s", DURATION, AR_PLOT_STEPS, ROW(optimizer_s), false},
    {"overhead_s", DURATION, AR_PLOT_STEPS, ROW(overhead_s), false},
    {"images_per_s", POSITIVE, AR_PLOT_STEPS, ROW(images_per_s), false},
    {"efficiency_frac", FRACTION, AR_PLOT_STEPS, ROW(efficiency_frac), false},
};

/* Room of a text of ar_plot_subject. */
static size_t subject_capacity(const struct column *column)
{
    return column->offset < SAME(baseline) ? sizeof((struct ar_plot_subject *)0)->cluster
                                           : AR_PLOT_NAME;
}

enum ar_status ar_plot_header_read(const char *path, uint64_t line, enum ar_plot_kind kind,
                                   char *const *names, size_t names_count,
                                   struct ar_plot_header *header, struct ar_error *err)
{
    struct ar_plot_header result;
    for (size_t i = 0; i < AR_PLOT_COLUMNS; i++) {
        const struct column *column = &columns[i];
        result.places[i] = SIZE_MAX;
        for (size_t place = 0; place < names_count; place++) {
            if (strcmp(names[place], column->name) != 0) {
                continue;
            }
            if (result.places[i] != SIZE_MAX) {
                return ar_error_set(err, AR_BAD_DATA,
                                    "%s:%llu: column \"%s\" is there twice; expected once", path,
                                    (unsigned long long)line, column->name);
            }
            result.places[i] = place;
        }
        if (result.places[i] == SIZE_MAX && (column->kinds & kind) != 0 && !column->is_optional) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%llu: column \"%s\" is missing in the header; expected the "
                                "columns of a sweep",
                                path, (unsigned long long)line, column->name);
        }
    }
    *header = result;
    return AR_OK;
}

bool ar_plot_header_is_ok(const struct ar_plot_header *header, char *const *cells)
{
    return strcmp(cells[header->places[0]], "ok") == 0;
}

static enum ar_status cell_error(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                 const struct column *column, const char *text,
                                 const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%.200s:%llu: column \"%s\" is \"%.80s\"; expected %s",
                        cells->path, (unsigned long long)row->line, column->name, text, expected);
}

static enum ar_status read_subject(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                   const struct column *column, const char *text,
                                   struct ar_plot_subject *subject, struct ar_error *err)
{
    size_t capacity = subject_capacity(column);
    if (strlen(text) >= capacity) {
        return cell_error(cells, row, column, text, "a shorter name", err);
    }
    if (cells->subject == NULL) {
        snprintf((char *)subject + column->offset, capacity, "%s", text);
        return AR_OK;
    }
    const char *before = (const char *)cells->subject + column->offset;
    if (strcmp(before, text) != 0) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "\"%.60s\" as in the rows before (pictures compare like with like)", before);
        return cell_error(cells, row, column, text, expected, err);
    }
    return AR_OK;
}

/* Names go into gnuplot's data files, whose reader knows no doubled quotes, and are compared there
 * with names in the script: plain ASCII only. */
static bool is_plain_name(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~' || *c == '"' || *c == ',') {
            return false;
        }
    }
    return strlen(text) < AR_PLOT_NAME;
}

static enum ar_status read_name(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                const struct column *column, const char *text, uint32_t *index,
                                struct ar_error *err)
{
    if (text[0] == '\0' || !is_plain_name(text)) {
        return cell_error(cells, row, column, text, "a name in ASCII without quotes and commas",
                          err);
    }
    struct ar_plot_names *names =
        column->offset == ROW(engine) ? cells->engines : cells->algorithms;
    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], text) == 0) {
            *index = i;
            return AR_OK;
        }
    }
    if (names->count == AR_PLOT_NAMES_MAX) {
        return cell_error(cells, row, column, text, "at most 32 different names", err);
    }
    snprintf(names->names[names->count], AR_PLOT_NAME, "%s", text);
    *index = names->count++;
    return AR_OK;
}

static enum ar_status read_text(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                const struct column *column, const char *text, char *field,
                                struct ar_error *err)
{
    if (!is_plain_name(text)) {
        return cell_error(cells, row, column, text, "a name in ASCII without quotes and commas",
                          err);
    }
    snprintf(field, AR_PLOT_NAME, "%s", text);
    return AR_OK;
}

static enum ar_status read_shape(const struct ar_plot_cells *cells, struct ar_plot_row *row,
                                 const struct column *column, const char *text,
                                 struct ar_error *err)
{
    if (!is_plain_name(text)) {
        return cell_error(cells, row, column, text, "a shape such as 32x32, or -", err);
    }
    snprintf(row->shape, sizeof row->shape, "%s", text);
    unsigned x;
    unsigned y;
    int end = 0;
    if (sscanf(text, "%9ux%9u%n", &x, &y, &end) == 2 && text[end] == '\0' && x > 0 && y > 0) {
        row->grid_x = x;
        row->grid_y = y;
    }
    return AR_OK;
}

static enum ar_status read_count(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                 const struct column *column, const char *text, uint64_t *count,
                                 struct ar_error *err)
{
    /* Beyond 2^53 neither CSV readers nor gnuplot keep a count exact. */
    uint64_t min = column->content == COUNT ? 1 : 0;
    struct ar_error cause;
    if (ar_parse_count(column->name, text, min, UINT64_C(1) << 53, count, &cause) != AR_OK) {
        return cell_error(cells, row, column, text,
                          min == 1 ? "a whole number of at least 1" : "a whole number of bytes",
                          err);
    }
    return AR_OK;
}

static enum ar_status read_number(const struct ar_plot_cells *cells, const struct ar_plot_row *row,
                                  const struct column *column, const char *text, double *number,
                                  struct ar_error *err)
{
    static const char *const expected[] = {
        [DURATION] = "seconds >= 0",
        [POSITIVE] = "a number above 0",
        [FRACTION] = "a fraction >= 0",
    };
    double value;
    struct ar_error cause;
    if (ar_parse_number(column->name, text, 0, DBL_MAX, &value, &cause) != AR_OK ||
        (column->content == POSITIVE && value <= 0)) {
        return cell_error(cells, row, column, text, expected[column->content], err);
    }
    *number = value;
    return AR_OK;
}

static enum ar_status read_cell(const struct ar_plot_cells *cells, const struct column *column,
                                const char *text, struct ar_plot_row *row,
                                struct ar_plot_subject *subject, struct ar_error *err)
{
    char *field = (char *)row + column->offset;
    switch (column->content) {
    case STATUS:
        return AR_OK;
    case SUBJECT:
        return read_subject(cells, row, column, text, subject, err);
    case NAME:
        return read_name(cells, row, column, text, (uint32_t *)(void *)field, err);
    case TEXT:
        return read_text(cells, row, column, text, field, err);
    case SHAPE:
        return read_shape(cells, row, column, text, err);
    case COUNT:
    case BYTES:
        return read_count(cells, row, column, text, (uint64_t *)(void *)field, err);
    case DURATION:
    case POSITIVE:
    case FRACTION:
        break;
    }
    return read_number(cells, row, column, text, (double *)(void *)field, err);
}

enum ar_status ar_plot_row_read(const struct ar_plot_cells *cells, struct ar_plot_row *row,
                                struct ar_plot_subject *subject, struct ar_error *err)
{
    row->gradient_scale = 1; /* in files from before there was a choice */
    for (size_t i = 0; i < AR_PLOT_COLUMNS; i++) {
        size_t place = cells->header->places[i];
        if ((columns[i].kinds & cells->kind) == 0 || place == SIZE_MAX) {
            continue;
        }
        const char *text = cells->texts[place];
        enum ar_status status = read_cell(cells, &columns[i], text, row, subject, err);
        if (status != AR_OK) {
            return status;
        }
    }
    return AR_OK;
}
