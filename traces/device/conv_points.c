#include "ar_conv_points.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ar_csv.h"

static const char *const columns[] = {
    "precision", "batch",  "width",     "channels_in",     "channels_out",
    "kernel",    "stride", "forward_s", "backward_data_s", "backward_weights_s"};
enum {
    PRECISION,
    BATCH,
    WIDTH,
    CHANNELS_IN,
    CHANNELS_OUT,
    KERNEL,
    STRIDE,
    FORWARD,
    COLUMNS_COUNT = FORWARD + AR_CONV_PASSES_COUNT
};

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_shapes(const struct ar_conv_point *a, const struct ar_conv_point *b)
{
    const uint32_t left[] = {a->precision,    a->width,  a->channels_in,
                             a->channels_out, a->kernel, a->stride};
    const uint32_t right[] = {b->precision,    b->width,  b->channels_in,
                              b->channels_out, b->kernel, b->stride};
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof left / sizeof left[0]; i++) {
        order = compare_numbers(left[i], right[i]);
    }
    return order;
}

static int compare_points(const void *a, const void *b)
{
    const struct ar_conv_point *left = a;
    const struct ar_conv_point *right = b;
    int order = compare_shapes(left, right);
    return order != 0 ? order : compare_numbers(left->batch, right->batch);
}

static enum ar_status read_point(const struct ar_csv *csv, size_t row, const size_t *places,
                                 struct ar_conv_point *point, struct ar_error *err)
{
    struct ar_error ignored;
    if (ar_precision_parse("", ar_csv_cell(csv, row, places[PRECISION]), &point->precision,
                           &ignored) != AR_OK) {
        return ar_csv_cell_error(csv, row, places[PRECISION], "fp16 or fp32", err);
    }
    uint32_t *const counts[] = {&point->batch,        &point->width,  &point->channels_in,
                                &point->channels_out, &point->kernel, &point->stride};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t count;
        AR_TRY(ar_csv_count(csv, row, places[BATCH + i], 1, 1000000,
                            "a whole number from 1 to 1000000", &count, err));
        *counts[i] = (uint32_t)count;
    }
    for (size_t pass = 0; pass < AR_CONV_PASSES_COUNT; pass++) {
        AR_TRY(ar_csv_number(csv, row, places[FORWARD + pass], 1e-12, 1e6, "seconds > 0",
                             &point->time_s[pass], err));
    }
    return AR_OK;
}

static enum ar_status check_order(const char *path, const struct ar_conv_points *points,
                                  struct ar_error *err)
{
    for (size_t i = 1; i < points->count; i++) {
        const struct ar_conv_point *point = &points->list[i];
        if (compare_points(point - 1, point) == 0) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: %s convolution of width %" PRIu32 ", channels %" PRIu32
                                " to %" PRIu32 ", batch %" PRIu32
                                " is given twice; expected it once",
                                path, ar_precision_name(point->precision), point->width,
                                point->channels_in, point->channels_out, point->batch);
        }
    }
    return AR_OK;
}

/* Reads into a list with room for all rows. */
static enum ar_status read_points(const struct ar_csv *csv, struct ar_conv_points *points,
                                  struct ar_error *err)
{
    static const char *const directives[] = {"source"};
    size_t places[COLUMNS_COUNT];
    AR_TRY(ar_csv_check_directives(csv, directives, 1, err));
    AR_TRY(ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(read_point(csv, row, places, &points->list[row], err));
    }
    points->count = csv->rows_count;
    qsort(points->list, points->count, sizeof *points->list, compare_points);
    return check_order(csv->path, points, err);
}

enum ar_status ar_conv_points_load(const char *path, struct ar_conv_points *points,
                                   struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_arena arena = {NULL};
    AR_TRY(ar_csv_load(path, &arena, &csv, err));
    struct ar_conv_points loaded = {.list = calloc(csv->rows_count + 1, sizeof *loaded.list)};
    enum ar_status status =
        loaded.list == NULL ? ar_error_no_memory(err, path) : read_points(csv, &loaded, err);
    ar_arena_end(&arena);
    if (status != AR_OK) {
        free(loaded.list);
        return status;
    }
    *points = loaded;
    return AR_OK;
}

size_t ar_conv_points_find(const struct ar_conv_points *points, const struct ar_conv_point *shape,
                           const struct ar_conv_point **found)
{
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (compare_shapes(&points->list[i], shape) == 0) {
            *found = count == 0 ? &points->list[i] : *found;
            count++;
        }
    }
    return count;
}
