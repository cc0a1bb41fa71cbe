/** \file ar_gpu_order.h
 * Orders of the GPUs of a node: how the channels of a collective go through it.
 *
 * An order is a Hamiltonian path of the graph of NVLinks of a node, a cycle where its ends have an
 * NVLink, too. NCCL searches the same and calls them rings (src/graph/search.cc).
 *
 * A channel enters a node by the HCA of the first GPU of its order and leaves it by that of the
 * last; inside, it goes over the NVLinks between neighbours. A ring in one node, or in a row of a
 * grid, also goes from the last GPU back to the first.
 *
 * Where all pairs of GPUs are alike (NVLinks of one weight between all, a switch, or none), an
 * order is Walecki's zigzag: 0, 1, g-1, 2, g-2, ..., all shifted by some GPUs. For even g the g/2
 * shifted ones have no pair in common. Source: E. Lucas, Recreations mathematiques II (1883).
 * Elsewhere, orders are searched along the NVLinks.
 *
 * Validity: orders are those of the cluster file. Links that are slow or down change none.
 */
#ifndef AR_GPU_ORDER_H
#define AR_GPU_ORDER_H

#include <stdint.h>

enum { AR_GPU_ORDERS_MAX = 64, AR_GPU_ORDER_GPUS_MAX = 64 };

/** Orders of a node; channel c takes order c % count. With C HCAs, `count` is a multiple of C, and
 * every C orders in turn begin once at each HCA and end once at each. */
struct ar_gpu_orders {
    uint32_t gpus_count; /**< GPUs of a full node */
    uint32_t count;
    uint8_t gpu[AR_GPU_ORDERS_MAX][AR_GPU_ORDER_GPUS_MAX];   /**< [order][place] */
    uint8_t place[AR_GPU_ORDERS_MAX][AR_GPU_ORDER_GPUS_MAX]; /**< [order][GPU]: the inverse */
};

/** GPU at `place` of a channel's order through a node whose first `present` GPUs take part; others
 * are skipped. Fast for a full node, one pass over the order for others. */
uint32_t ar_gpu_order_gpu(const struct ar_gpu_orders *orders, uint32_t channel, uint32_t present,
                          uint32_t place);

/** The inverse of ar_gpu_order_gpu(). */
uint32_t ar_gpu_order_place(const struct ar_gpu_orders *orders, uint32_t channel, uint32_t present,
                            uint32_t gpu);

/** Place of `index` in the zigzag 0, 1, g-1, 2, g-2, ... and back. */
static inline uint32_t ar_zigzag(uint32_t gpus, uint32_t index)
{
    if (index == 0) {
        return 0;
    }
    return index % 2 == 1 ? (index + 1) / 2 : gpus - index / 2;
}

static inline uint32_t ar_zigzag_inverse(uint32_t gpus, uint32_t place)
{
    if (place == 0) {
        return 0;
    }
    return place <= gpus / 2 ? 2 * place - 1 : 2 * (gpus - place);
}

#endif
