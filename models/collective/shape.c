#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ar_shape.h"
#include "ar_units.h"

const char *ar_shape_format(const struct ar_shape *shape, char text[AR_SHAPE_TEXT])
{
    snprintf(text, AR_SHAPE_TEXT, "%" PRIu32 "x%" PRIu32, shape->x, shape->y);
    return text;
}

enum ar_status ar_shape_parse(const char *where, const char *text, struct ar_shape *shape,
                              struct ar_error *err)
{
    char x_text[AR_SHAPE_TEXT];
    const char *cross = strchr(text, 'x');
    uint64_t x;
    uint64_t y;
    struct ar_error ignored;
    size_t x_length = cross != NULL ? (size_t)(cross - text) : sizeof x_text;
    if (x_length < sizeof x_text) {
        memcpy(x_text, text, x_length);
        x_text[x_length] = '\0';
        if (ar_parse_count(where, x_text, 1, UINT32_MAX, &x, &ignored) == AR_OK &&
            ar_parse_count(where, cross + 1, 1, UINT32_MAX, &y, &ignored) == AR_OK &&
            x * y <= UINT32_MAX) {
            *shape = (struct ar_shape){.x = (uint32_t)x, .y = (uint32_t)y};
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected columns x rows such as 32x32",
                        where, text);
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

/* GPUs of the node that holds `rank`, and its first rank. */
static uint32_t node_of(const struct ar_order *order, uint32_t rank, uint32_t *first)
{
    *first = rank - rank % order->gpus_per_node;
    uint32_t left = order->ranks - *first;
    return left < order->gpus_per_node ? left : order->gpus_per_node;
}

static bool is_mirrored(const struct ar_order *order, uint32_t channel)
{
    return order->mirror_group > 0 && channel >= (order->channels + 1) / 2;
}

/* The same member of another group: the one across, or the next or the one before if their number
 * is odd. */
static uint32_t reflect(const struct ar_order *order, uint32_t position, bool is_ahead)
{
    uint32_t groups = order->ranks / order->mirror_group;
    uint32_t group = position / order->mirror_group;
    uint32_t across = groups - 1 - group;
    uint32_t on = (group + (is_ahead ? 1 : groups - 1)) % groups;
    return (groups % 2 == 0 ? across : on) * order->mirror_group + position % order->mirror_group;
}

uint32_t ar_order_rank(const struct ar_order *order, uint32_t channel, uint32_t position)
{
    uint32_t first;
    position = is_mirrored(order, channel) ? reflect(order, position, true) : position;
    uint32_t gpus = node_of(order, position, &first);
    uint32_t index = position - first;
    if (order->gpu_orders != NULL) {
        return first + ar_gpu_order_gpu(order->gpu_orders, channel, gpus, index);
    }
    uint32_t walk = channel % 2 == 0 ? index : gpus - 1 - index;
    return first + (ar_zigzag(gpus, walk) + channel / 2) % gpus;
}

/* As ar_order_position(), but for mirroring. */
static uint32_t plain_position(const struct ar_order *order, uint32_t channel, uint32_t rank)
{
    uint32_t first;
    uint32_t gpus = node_of(order, rank, &first);
    if (order->gpu_orders != NULL) {
        return first + ar_gpu_order_place(order->gpu_orders, channel, gpus, rank - first);
    }
    uint32_t place = (rank - first + gpus - channel / 2 % gpus) % gpus;
    uint32_t walk = ar_zigzag_inverse(gpus, place);
    return first + (channel % 2 == 0 ? walk : gpus - 1 - walk);
}

uint32_t ar_order_position(const struct ar_order *order, uint32_t channel, uint32_t rank)
{
    uint32_t position = plain_position(order, channel, rank);
    return is_mirrored(order, channel) ? reflect(order, position, false) : position;
}
