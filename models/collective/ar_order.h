/** \file ar_order.h
 * The rank orders of the lanes of a collective: which rank is at which position.
 *
 * A lane is one channel of one group. Groups (ar_mesh.h) have ranks of their own; the channels of a
 * group carry a part of the buffer each over the same ranks in another order.
 *
 * The order of the GPUs of a node is a Hamiltonian path of the graph of its NVLinks, a cycle where
 * its ends have an NVLink, too. NCCL searches the same and calls them rings (src/graph/search.cc).
 * A channel enters a node by the HCA of the first GPU of its order and leaves it by that of the
 * last.
 *
 * Where all pairs of GPUs are alike (NVLinks of one weight between all, a switch, or none), channel
 * pair i uses Walecki's zigzag 0, 1, g-1, 2, g-2, ... shifted by i, odd channels run it backwards.
 * For even g the g/2 shifted ones have no pair in common, and each starts in one half of the node
 * and ends in the other. Source: E. Lucas, Recreations mathematiques II (1883).
 *
 * Validity: orders are those of the cluster file. Links that are slow or down change none.
 */
#pragma once

#include <stdint.h>

#include "ar_mesh.h"

enum { AR_GPU_ORDERS_MAX = 64, AR_GPU_ORDER_GPUS_MAX = 64 };

/** Orders of a node; channel c takes order c % count. With C HCAs, `count` is a multiple of C, and
 * every C orders in turn begin once at each HCA and end once at each. */
struct ar_gpu_orders {
    uint32_t gpus_count; /**< GPUs of a full node */
    uint32_t count;
    uint8_t gpu[AR_GPU_ORDERS_MAX][AR_GPU_ORDER_GPUS_MAX]; /**< [order][place] */
};

/** GPU at `place` of a channel's order through a node whose first `present` GPUs take part. */
uint32_t ar_gpu_order_gpu(const struct ar_gpu_orders *orders, uint32_t channel, uint32_t present,
                          uint32_t place);

/** Place of `index` in the zigzag 0, 1, g-1, 2, g-2, ... */
static inline uint32_t ar_zigzag(uint32_t gpus, uint32_t index)
{
    if (index == 0) {
        return 0;
    }
    return index % 2 == 1 ? (index + 1) / 2 : gpus - index / 2;
}

/** Channels of the command line, and with those of mirror images (ar_algorithm_channels()). */
enum { AR_CHANNELS_MAX = 32, AR_COLLECTIVE_CHANNELS_MAX = 2 * AR_CHANNELS_MAX };

/** Messages in flight. */
enum { AR_WINDOW_MAX = 64 };

struct ar_order {
    uint32_t ranks;        /**< positions of a lane: those of one group */
    uint32_t node_members; /**< of a group on a node; the last node may be filled in part */
    uint32_t uneven_node;  /**< GPUs of a node where nodes hold unlike numbers of a group, with
                                `node_members` 1: plain zigzags of those it has there; else 0 */
    uint32_t channels;     /**< of each group */
    uint32_t mirror_group; /**< 0: none. Else the second half of the channels, the smaller one if
                                their number is odd, see the groups mirrored */
    uint32_t root;         /**< the place of the group at position 0 of every lane, if
                                there is a root */
    bool has_root;
    const struct ar_gpu_orders
        *gpu_orders;            /**< of full nodes of `node_members`; NULL: the plain zigzags */
    const struct ar_mesh *mesh; /**< NULL: one group */
};

/** The rank at a position of a lane, lane = group * channels + channel.
 *
 * A channel permutes the GPUs within each node. (A mirrored one then takes groups of `mirror_group`
 * positions in the reverse order, or, if their number is odd, moves all of them on by one.) A node
 * that is filled in part is walked in the same order without the GPUs that are not there.
 *
 * With a root, nodes and the GPUs of its node are rotated so that it is at position 0; where
 * the last node is filled in part, the whole order is. */
uint32_t ar_order_rank(const struct ar_order *order, uint32_t lane, uint32_t position);

/** The position of a rank in a lane of its group: the inverse. */
uint32_t ar_order_position(const struct ar_order *order, uint32_t lane, uint32_t rank);

/** The lane of a rank on a channel. */
uint32_t ar_order_lane(const struct ar_order *order, uint32_t channel, uint32_t rank);
