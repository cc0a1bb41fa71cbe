/** \file torus.h
 * Wired tori and meshes of 1 to 6 dimensions: numbers, nothing of a cluster.
 *
 * Routers stand at the points of a grid of lengths L_0 x L_1 x ...; the last coordinate counts
 * fastest, so router r has the coordinate r / stride_d % L_d, stride_d the product of the lengths
 * behind d. In a dimension that wraps, L_d cables close each line of routers to a ring (for length
 * 2: two cables between the same two routers); in one that does not, there are L_d - 1. A dimension
 * of length 1 has none. A cable is two links, up (towards the greater coordinate, from the last on
 * to the first) and down; link 2 c is cable c up, link 2 c + 1 the same cable down.
 *
 * Routes are those of dimension-ordered routing: a message corrects its last coordinate first, then
 * the one before it, each by the shortest way round. Of two equally short ways it takes the one
 * that the caller says.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { AR_TORUS_DIMENSIONS = 6 };

struct ar_torus {
    uint32_t dimensions;                   /**< 1 to 6 */
    uint32_t lengths[AR_TORUS_DIMENSIONS]; /**< each at least 1 */
    bool wraps[AR_TORUS_DIMENSIONS];
    uint32_t strides[AR_TORUS_DIMENSIONS];
    uint32_t first_cables[AR_TORUS_DIMENSIONS]; /**< number of the first cable of the dimension */
    uint32_t routers, cables;
};

/** Fills in the rest from dimensions, lengths and wraps; there are less than 2^28 routers. */
void ar_torus_fill(struct ar_torus *torus);

/** Links of the longest route. */
uint32_t ar_torus_diameter(const struct ar_torus *torus);

/** Where a cable is: between a router and the next one up in a dimension. */
struct ar_torus_cable {
    uint32_t router, dimension;
};

struct ar_torus_cable ar_torus_cable_at(const struct ar_torus *torus, uint32_t cable);

/** The coordinate of a router in a dimension. */
static inline uint32_t ar_torus_coordinate(const struct ar_torus *torus, uint32_t router,
                                           uint32_t dimension)
{
    return router / torus->strides[dimension] % torus->lengths[dimension];
}

/** How a message goes from one coordinate to another: steps up, or, below zero, down. `is_tie_down`
 * decides where both ways of a ring are equally long. */
int32_t ar_torus_steps(const struct ar_torus *torus, uint32_t dimension, uint32_t from, uint32_t to,
                       bool is_tie_down);

/** Appends the links of `steps` steps from a router in a dimension to `links`; returns the end. */
uint32_t ar_torus_go(const struct ar_torus *torus, uint32_t router, uint32_t dimension,
                     int32_t steps, uint32_t *links);
