/** \file algorithms.h
 * The rows of the algorithm table; a new algorithm is one source file and one line here.
 */
#ifndef AR_ALGORITHMS_H
#define AR_ALGORITHMS_H

#include "ar_algorithm.h"

#define AR_ALGORITHM_LIST(X)                                                                       \
    X(ring)                                                                                        \
    X(hierarchical)                                                                                \
    X(torus2d)                                                                                     \
    X(tree)

#define X(name) extern const struct ar_algorithm ar_algorithm_##name;
AR_ALGORITHM_LIST(X)
#undef X

#endif
