#include "ar_order.h"

#include <assert.h>
#include <stddef.h>

uint32_t ar_gpu_order_gpu(const struct ar_gpu_orders *orders, uint32_t channel, uint32_t present,
                          uint32_t place)
{
    const uint8_t *order = orders->gpu[channel % orders->count];
    assert(place < present && present <= orders->gpus_count);
    for (uint32_t i = 0;; i++) {
        if (order[i] < present && place-- == 0) {
            return order[i];
        }
    }
}

static uint32_t channel_of(const struct ar_order *order, uint32_t lane)
{
    return order->mesh != NULL ? lane % order->channels : lane;
}

/* The node of a place where groups lie unevenly on nodes. */
static uint32_t node_at(const struct ar_order *order, uint32_t lane, uint32_t place)
{
    return ar_mesh_rank(order->mesh, lane / order->channels, place) / order->uneven_node;
}

/* Members of the node that holds a place, and its first place. */
static uint32_t node_of(const struct ar_order *order, uint32_t lane, uint32_t place,
                        uint32_t *first)
{
    if (order->uneven_node > 0) {
        uint32_t node = node_at(order, lane, place), end = place + 1;
        for (*first = place; *first > 0 && node_at(order, lane, *first - 1) == node; --*first) {
        }
        for (; end < order->ranks && node_at(order, lane, end) == node; end++) {
        }
        return end - *first;
    }
    *first = place - place % order->node_members;
    uint32_t left = order->ranks - *first;
    return left < order->node_members ? left : order->node_members;
}

/* Where there are mirrors: on mirrored channels the same member of another group, the one across,
 * or the next or the one before if their number is odd. */
static uint32_t mirror_position(const struct ar_order *order, uint32_t lane, uint32_t position,
                                bool is_ahead)
{
    if (channel_of(order, lane) < (order->channels + 1) / 2) {
        return position;
    }
    uint32_t groups = order->ranks / order->mirror_group;
    uint32_t group = position / order->mirror_group;
    uint32_t across = groups - 1 - group;
    uint32_t on = (group + (is_ahead ? 1 : groups - 1)) % groups;
    return (groups % 2 == 0 ? across : on) * order->mirror_group + position % order->mirror_group;
}

/* The place that a lane without root and mirrors has at a position. */
static uint32_t place_at(const struct ar_order *order, uint32_t lane, uint32_t position)
{
    if (order->node_members == 1 && order->uneven_node == 0) {
        return position;
    }
    uint32_t channel = channel_of(order, lane), first;
    uint32_t gpus = node_of(order, lane, position, &first), index = position - first;
    if (order->gpu_orders != NULL) {
        return first + ar_gpu_order_gpu(order->gpu_orders, channel, gpus, index);
    }
    uint32_t walk = channel % 2 == 0 ? index : gpus - 1 - index;
    return first + (ar_zigzag(gpus, walk) + channel / 2) % gpus;
}

/* The inverse, by a search in the node. */
static uint32_t position_of(const struct ar_order *order, uint32_t lane, uint32_t place)
{
    uint32_t position;
    node_of(order, lane, place, &position);
    while (place_at(order, lane, position) != place) {
        position++;
    }
    return position;
}

/* Moves a position on by as much as the root stands behind position 0, or back again. The GPUs of
 * the other nodes keep their order, so that channels enter them by different HCAs. */
static uint32_t rotate_position(const struct ar_order *order, uint32_t lane, uint32_t position,
                                bool is_back)
{
    uint32_t ranks = order->ranks, members = order->node_members;
    uint32_t by = position_of(order, lane, order->root);
    if (ranks % members != 0) {
        return (uint32_t)(((uint64_t)position + (is_back ? ranks - by : by)) % ranks);
    }
    uint32_t nodes = ranks / members;
    uint32_t node_by = is_back ? nodes - by / members : by / members;
    uint32_t by_in_node = is_back ? members - by % members : by % members;
    bool is_of_root = position / members == (is_back ? by / members : 0);
    return (position / members + node_by) % nodes * members +
           (position % members + (is_of_root ? by_in_node : 0)) % members;
}

uint32_t ar_order_rank(const struct ar_order *order, uint32_t lane, uint32_t position)
{
    position = order->mirror_group > 0 ? mirror_position(order, lane, position, true) : position;
    position = order->has_root ? rotate_position(order, lane, position, false) : position;
    uint32_t place = place_at(order, lane, position);
    return order->mesh != NULL ? ar_mesh_rank(order->mesh, lane / order->channels, place) : place;
}

uint32_t ar_order_position(const struct ar_order *order, uint32_t lane, uint32_t rank)
{
    uint32_t place = rank, group;
    if (order->mesh != NULL) {
        ar_mesh_place(order->mesh, rank, &group, &place);
    }
    uint32_t position = position_of(order, lane, place);
    position = order->has_root ? rotate_position(order, lane, position, true) : position;
    return order->mirror_group > 0 ? mirror_position(order, lane, position, false) : position;
}

uint32_t ar_order_lane(const struct ar_order *order, uint32_t channel, uint32_t rank)
{
    uint32_t group = 0, place;
    if (order->mesh != NULL) {
        ar_mesh_place(order->mesh, rank, &group, &place);
    }
    return group * order->channels + channel;
}
