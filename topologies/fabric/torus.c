/* Wired tori and meshes: the numbers of their routers and cables (torus.h), and the fabric of a
 * cluster that is one. */
#include "torus.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "fabric.h"

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

uint32_t ar_torus_diameter(const struct ar_torus *torus)
{
    uint32_t links = 0;
    for (uint32_t d = 0; d < torus->dimensions; d++) {
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

static const char letters[] = "xyzabc"; /* of the dimensions, as in Tofu */

/* --- values ----------------------------------------------------------------------------------- */

static enum ar_status torus_make(struct ar_cluster *cluster, uint64_t *links_count,
                                 struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_torus *torus = &cluster->torus;
    torus->dimensions = values->count[TOPO_TORUS_LENGTHS];
    AR_TOPO_REFUSE(torus->dimensions > AR_TORUS_DIMENSIONS, &cluster->entries, TOPO_TORUS_LENGTHS,
                   err, "the lengths of at most 6 dimensions");
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        torus->lengths[d] = (uint32_t)values->list[TOPO_TORUS_LENGTHS][d];
        torus->wraps[d] = values->is_given[TOPO_TORUS_WRAPS]
                              ? values->list[TOPO_TORUS_WRAPS][d] > 0
                              : values->count[TOPO_FABRIC] == AR_FABRIC_TORUS;
    }
    ar_torus_fill(torus);
    AR_TOPO_REFUSE(ar_torus_diameter(torus) > AR_FABRIC_HOPS_MAX, &cluster->entries,
                   TOPO_TORUS_LENGTHS, err, "lengths with routes of at most %d links, not of %u",
                   AR_FABRIC_HOPS_MAX, ar_torus_diameter(torus));
    *links_count = 2 * (uint64_t)torus->cables;
    return AR_OK;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* Which of two equally short ways a message takes. Ideal: from an even coordinate up, from an odd
 * one down, so that links of both directions carry the same if all nodes send equally far; dmodk:
 * to an even coordinate up. */
static bool is_tie_down(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                        uint32_t coordinate, uint32_t wanted, uint32_t dimension)
{
    uint32_t number = cluster->routes == AR_ROUTES_IDEAL ? coordinate
                      : cluster->routes == AR_ROUTES_DMODK
                          ? wanted
                          : ar_route_hash(cluster, from, to, dimension);
    return number % 2 == 1;
}

static void torus_route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                        struct ar_path *path)
{
    const struct ar_torus *torus = &cluster->torus;
    double bandwidth_Bps = cluster->values.number[TOPO_TORUS_LINK_BANDWIDTH];
    uint32_t router = from.node / ar_router_nodes(cluster);
    uint32_t end = to.node / ar_router_nodes(cluster);
    uint32_t hops = 0;
    path->tier = router != end ? AR_TIER_SPINE : path->tier;
    for (uint32_t d = torus->dimensions; d-- > 0 && router != end;) {
        uint32_t coordinate = ar_torus_coordinate(torus, router, d);
        uint32_t wanted = ar_torus_coordinate(torus, end, d);
        uint32_t links[AR_FABRIC_HOPS_MAX];
        int32_t steps = ar_torus_steps(torus, d, coordinate, wanted,
                                       is_tie_down(cluster, from, to, coordinate, wanted, d));
        router = ar_torus_go(torus, router, d, steps, links);
        for (uint32_t i = 0; i < (uint32_t)abs(steps); i++, hops++) {
            ar_path_add(cluster, cluster->first_fabric_link + links[i], bandwidth_Bps, path);
        }
    }
    path->switches_s = hops * cluster->values.number[TOPO_SWITCH_LATENCY];
    path->latency_s += path->switches_s;
}

static double torus_bandwidth(const struct ar_cluster *cluster, uint32_t index)
{
    (void)index;
    return cluster->values.number[TOPO_TORUS_LINK_BANDWIDTH];
}

/* --- names ------------------------------------------------------------------------------------ */

/* `router-2-0-5.x.up`: from the router with these coordinates to the next one in x. */
static void torus_name(const struct ar_cluster *cluster, uint32_t index, char *text, size_t size)
{
    const struct ar_torus *torus = &cluster->torus;
    struct ar_torus_cable at = ar_torus_cable_at(torus, index / 2);
    ar_copy_text(text, size, "router");
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        ar_append_text(text, size, "-%u", ar_torus_coordinate(torus, at.router, d));
    }
    ar_append_text(text, size, ".%c.%s", letters[at.dimension], index % 2 == 0 ? "up" : "down");
}

const struct ar_fabric ar_fabric_torus = {
    .make = torus_make, .route = torus_route, .bandwidth = torus_bandwidth, .name = torus_name};
