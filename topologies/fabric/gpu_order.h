/** \file gpu_order.h
 * Private to this room: how the GPU orders of a node are found.
 */
#ifndef AR_FABRIC_GPU_ORDER_H
#define AR_FABRIC_GPU_ORDER_H

#include "fabric.h"

/** The orders of a node, a pure function of its NVLink pairs and HCAs; `count` is 0 if they are the
 * plain zigzags. */
enum ar_status ar_gpu_orders_find(const struct ar_topo_values *values, struct ar_gpu_orders *orders,
                                  struct ar_error *err);

/** Searches orders along NVLinks alone, by backtracking with a limited number of steps:
 *
 * - from the last GPU back to the first there is an NVLink, too, if such orders are found;
 * - begins and ends are spread evenly over the HCAs (ar_gpu_order.h);
 * - with 1 HCA or an even number of them, each odd order is the one before it backwards, if such
 *   orders are found;
 * - the largest load of an NVLink (orders over weight) is least for all orders together, then for
 * the first ones among such sets. Least as far as the search went: it gives up a bound after a
 * fixed number of steps.
 *
 * Their number is the least that could fill all NVLinks of a GPU and serve all HCAs evenly, 64 at
 * most; if these are not found, the least that serves the HCAs evenly. `count` is 0 if none are
 * found. */
enum ar_status ar_gpu_orders_search(const struct ar_topo_values *values,
                                    struct ar_gpu_orders *orders, struct ar_error *err);

#endif
