/** \file algorithms.h
 * The rows of the algorithm table; a new algorithm is a row and one line here.
 */
#ifndef AR_ALGORITHMS_H
#define AR_ALGORITHMS_H

#include "ar_algorithm.h"

/* Publications of several of them. */
#define AR_SOURCE_RING                                                                             \
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "   \
    "J. "                                                                                          \
    "Parallel Distrib. Comput. 69 (2009)"
#define AR_SOURCE_DOUBLING                                                                         \
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "      \
    "MPICH, Int. J. High Perform. Comput. Appl. 19 (2005)"
#define AR_SOURCE_BRUCK                                                                            \
    "Bruck et al., Efficient algorithms for all-to-all communications in multiport "               \
    "message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8 (1997)"

#define AR_ALGORITHM_LIST(X)                                                                       \
    X(ring)                                                                                        \
    X(hierarchical)                                                                                \
    X(torus2d)                                                                                     \
    X(tree)                                                                                        \
    X(reduce_scatter_ring)                                                                         \
    X(reduce_scatter_hierarchical)                                                                 \
    X(all_gather_ring)                                                                             \
    X(all_gather_hierarchical)                                                                     \
    X(broadcast_chain)                                                                             \
    X(broadcast_tree)                                                                              \
    X(reduce_chain)                                                                                \
    X(reduce_tree)                                                                                 \
    X(blueconnect)                                                                                 \
    X(recursive_doubling)                                                                          \
    X(halving_doubling)                                                                            \
    X(swing)                                                                                       \
    X(node_swing)                                                                                  \
    X(direct)                                                                                      \
    X(in_network)                                                                                  \
    X(collnet_direct)                                                                              \
    X(reduce_scatter_halving)                                                                      \
    X(reduce_scatter_bruck)                                                                        \
    X(reduce_scatter_direct)                                                                       \
    X(reduce_scatter_neighbour)                                                                    \
    X(reduce_scatter_in_network)                                                                   \
    X(all_gather_doubling)                                                                         \
    X(all_gather_bruck)                                                                            \
    X(all_gather_direct)                                                                           \
    X(all_gather_neighbour)                                                                        \
    X(all_gather_in_network)                                                                       \
    X(broadcast_binomial)                                                                          \
    X(broadcast_scatter)                                                                           \
    X(broadcast_in_network)                                                                        \
    X(reduce_binomial)                                                                             \
    X(reduce_gather)                                                                               \
    X(reduce_in_network)                                                                           \
    X(gather_linear)                                                                               \
    X(gather_binomial)                                                                             \
    X(scatter_linear)                                                                              \
    X(scatter_binomial)                                                                            \
    X(all_to_all_linear)                                                                           \
    X(all_to_all_pairwise)                                                                         \
    X(all_to_all_bruck)                                                                            \
    X(all_to_all_two_level)                                                                        \
    X(send)

#define X(name) extern const struct ar_algorithm ar_algorithm_##name;
AR_ALGORITHM_LIST(X)
#undef X

#endif
