#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ar_shape.h"
#include "ar_units.h"

uint32_t ar_shape_dimensions(const struct ar_shape *shape)
{
    uint32_t dimensions = AR_DIMENSIONS_MAX;
    while (dimensions > 2 && ar_shape_length(shape, dimensions - 1) == 1) {
        dimensions--;
    }
    return dimensions;
}

bool ar_shape_equal(const struct ar_shape *a, const struct ar_shape *b)
{
    for (uint32_t i = 0; i < AR_DIMENSIONS_MAX; i++) {
        if (ar_shape_length(a, i) != ar_shape_length(b, i)) {
            return false;
        }
    }
    return a->parts == b->parts;
}

const char *ar_shape_format(const struct ar_shape *shape, char text[AR_SHAPE_TEXT])
{
    size_t end = 0;
    for (uint32_t i = 0; i < ar_shape_dimensions(shape); i++) {
        end += (size_t)snprintf(text + end, AR_SHAPE_TEXT - end, "%s%" PRIu32, i > 0 ? "x" : "",
                                ar_shape_length(shape, i));
    }
    return text;
}

enum ar_status ar_shape_parse(const char *where, const char *text, struct ar_shape *shape,
                              struct ar_error *err)
{
    uint32_t lengths[AR_DIMENSIONS_MAX] = {0};
    uint32_t count = 0;
    uint64_t ranks = 1;
    const char *item = text;
    while (item != NULL && count < AR_DIMENSIONS_MAX) {
        char number[16] = "";
        size_t length = strcspn(item, "x");
        uint64_t value;
        struct ar_error ignored;
        if (length >= sizeof number) {
            break;
        }
        memcpy(number, item, length);
        if (ar_parse_count(where, number, 1, UINT32_MAX, &value, &ignored) != AR_OK ||
            ranks * value > UINT32_MAX) {
            break;
        }
        ranks *= value;
        lengths[count++] = (uint32_t)value;
        item = item[length] == 'x' ? item + length + 1 : NULL;
    }
    if (item != NULL || count < 2) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%s\"; expected columns x rows such as 32x32", where, text);
    }
    *shape = (struct ar_shape){lengths[0], lengths[1], lengths[2], lengths[3], 0};
    return AR_OK;
}

struct ar_shape ar_shape_squarest(uint32_t ranks)
{
    struct ar_shape shape = {.x = 1, .y = ranks};
    for (uint32_t x = 2; (uint64_t)x * x <= ranks; x++) {
        if (ranks % x == 0) {
            shape = (struct ar_shape){.x = x, .y = ranks / x};
        }
    }
    return shape;
}

struct ar_shape ar_shape_groups(uint32_t ranks, uint32_t gpus_per_node)
{
    uint32_t group = gpus_per_node < ranks ? gpus_per_node : ranks;
    while (ranks % group != 0) {
        group--;
    }
    return (struct ar_shape){.x = group, .y = ranks / group};
}
