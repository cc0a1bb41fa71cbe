#include "ar_device_cost.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ar_csv.h"

#define COUNT(field)                                                                               \
    AR_COLUMN(count, struct ar_conv_point, field, #field, "", .min = 1, .max = 1000000)
#define TIME(pass, name)                                                                           \
    AR_COLUMN(number, struct ar_conv_point, time_s[pass], name,                                    \
              "seconds > 0 and at most 10, as of one kernel", .min = 1e-12, .max = 10)

static const struct ar_column columns[] = {
    AR_COLUMN(choice, struct ar_conv_point, precision, "precision", "",
              .names = ar_precision_names),
    COUNT(batch),
    COUNT(width),
    COUNT(channels_in),
    COUNT(channels_out),
    COUNT(kernel),
    COUNT(stride),
    TIME(AR_CONV_FORWARD, "forward_s"),
    TIME(AR_CONV_BACKWARD_DATA, "backward_data_s"),
    TIME(AR_CONV_BACKWARD_WEIGHTS, "backward_weights_s"),
};

static const struct ar_column directives[] = {{.name = "source",
                                               .kind = AR_COLUMN_string,
                                               .help = "",
                                               .may_be_empty = true,
                                               .may_be_missing = true}};

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
                                path, ar_precision_names[point->precision], point->width,
                                point->channels_in, point->channels_out, point->batch);
        }
    }
    return AR_OK;
}

enum ar_status ar_conv_points_load(const char *path, struct ar_arena *arena,
                                   struct ar_conv_points *points, struct ar_error *err)
{
    const char *source; /* for people */
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_conv_points made = {.list =
                                      ar_arena_alloc(arena, csv->rows_count + 1, sizeof *made.list),
                                  .count = csv->rows_count};
    AR_NEED(made.list, err, path);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(directives), &source, err));
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), made.list, sizeof *made.list, err));
    qsort(made.list, made.count, sizeof *made.list, compare_points);
    AR_TRY(check_order(path, &made, err));
    *points = made;
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
