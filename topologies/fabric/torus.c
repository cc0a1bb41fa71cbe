#include "torus.h"

#include <assert.h>
#include <stdlib.h>

/* Cables of a line of routers. */
static uint32_t cables_of_line(const struct ar_torus *torus, uint32_t dimension)
{
    uint32_t length = torus->lengths[dimension];
    return torus->wraps[dimension] && length > 1 ? length : length - 1;
}

void ar_torus_fill(struct ar_torus *torus)
{
    assert(torus->dimensions >= 1 && torus->dimensions <= AR_TORUS_DIMENSIONS);
    torus->routers = 1;
    for (uint32_t d = torus->dimensions; d-- > 0;) {
        torus->strides[d] = torus->routers;
        torus->routers *= torus->lengths[d];
    }
    torus->cables = 0;
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        torus->first_cables[d] = torus->cables;
        torus->cables += torus->routers / torus->lengths[d] * cables_of_line(torus, d);
    }
}

uint32_t ar_torus_diameter(const struct ar_torus *torus, uint32_t dimensions)
{
    uint32_t links = 0;
    for (uint32_t d = 0; d < dimensions; d++) {
        links += torus->wraps[d] ? torus->lengths[d] / 2 : torus->lengths[d] - 1;
    }
    return links;
}

/* Cables of a dimension are numbered by the coordinates behind it, then by its own, then by those
 * before it: as routers are, but without the last of each line where it is not closed. */
struct ar_torus_cable ar_torus_cable_at(const struct ar_torus *torus, uint32_t cable)
{
    uint32_t d = torus->dimensions - 1;
    while (cable < torus->first_cables[d]) {
        d--;
    }
    uint32_t index = cable - torus->first_cables[d];
    uint32_t stride = torus->strides[d];
    uint32_t per_line = cables_of_line(torus, d);
    uint32_t coordinate = index / stride % per_line;
    uint32_t outer = index / stride / per_line;
    return (struct ar_torus_cable){.router = (outer * torus->lengths[d] + coordinate) * stride +
                                             index % stride,
                                   .dimension = d};
}

uint32_t ar_torus_cable(const struct ar_torus *torus, struct ar_torus_cable at)
{
    uint32_t stride = torus->strides[at.dimension];
    uint32_t per_line = cables_of_line(torus, at.dimension);
    uint32_t coordinate = ar_torus_coordinate(torus, at.router, at.dimension);
    uint32_t outer = at.router / stride / torus->lengths[at.dimension];
    return coordinate >= per_line
               ? UINT32_MAX
               : torus->first_cables[at.dimension] + (outer * per_line + coordinate) * stride +
                     at.router % stride;
}

int32_t ar_torus_steps(const struct ar_torus *torus, uint32_t dimension, uint32_t from, uint32_t to,
                       bool is_tie_down)
{
    int32_t length = (int32_t)torus->lengths[dimension];
    int32_t direct = (int32_t)to - (int32_t)from;
    int32_t round = direct > 0 ? direct - length : direct + length;
    if (!torus->wraps[dimension] || direct == 0) {
        return direct;
    }
    if (abs(direct) == abs(round)) {
        return (direct < 0) == is_tie_down ? direct : round;
    }
    return abs(direct) < abs(round) ? direct : round;
}

uint32_t ar_torus_go(const struct ar_torus *torus, uint32_t router, uint32_t dimension,
                     int32_t steps, uint32_t *links)
{
    uint32_t length = torus->lengths[dimension];
    uint32_t stride = torus->strides[dimension];
    uint32_t coordinate = ar_torus_coordinate(torus, router, dimension);
    uint32_t first = router - coordinate * stride; /* of the line */
    uint32_t cable = torus->first_cables[dimension] + router % stride +
                     router / stride / length * cables_of_line(torus, dimension) * stride;
    for (int32_t i = 0; i < abs(steps); i++) {
        uint32_t below = coordinate == 0 ? length - 1 : coordinate - 1;
        uint32_t above = coordinate == length - 1 ? 0 : coordinate + 1;
        links[i] = 2 * (cable + (steps > 0 ? coordinate : below) * stride) + (steps < 0);
        coordinate = steps > 0 ? above : below;
    }
    return first + coordinate * stride;
}
