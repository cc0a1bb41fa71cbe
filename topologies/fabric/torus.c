/* Wired tori and meshes: the numbers of their routers and cables (torus.h), and the fabric of a
 * cluster that is one. */
#include "torus.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static const char letters[] = "xyzabc"; /* of the dimensions, as in Tofu */

/* --- values ----------------------------------------------------------------------------------- */

static enum ar_status check_lengths(const struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    const double *lengths = values->list[TOPO_TORUS_LENGTHS];
    uint32_t dimensions = values->count[TOPO_TORUS_LENGTHS];
    double nodes = ar_router_nodes(cluster); /* products of counts may exceed 64 bits */
    for (uint32_t d = 0; d < dimensions; d++) {
        nodes *= lengths[d];
    }
    char expected[120];
    if (dimensions > AR_TORUS_DIMENSIONS) {
        return ar_topo_refuse(&cluster->entries, TOPO_TORUS_LENGTHS,
                              "the lengths of at most 6 dimensions", err);
    }
    if (nodes != values->count[TOPO_NODES]) {
        snprintf(expected, sizeof expected,
                 "lengths whose product times router.nodes (%u) is nodes (%u)",
                 ar_router_nodes(cluster), values->count[TOPO_NODES]);
        return ar_topo_refuse(&cluster->entries, TOPO_TORUS_LENGTHS, expected, err);
    }
    return AR_OK;
}

static enum ar_status read_wraps(const struct ar_cluster *cluster, struct ar_torus *torus,
                                 struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    bool is_given = values->is_given[TOPO_TORUS_WRAPS];
    if (is_given && values->count[TOPO_TORUS_WRAPS] != torus->dimensions) {
        char expected[80];
        snprintf(expected, sizeof expected, "a 0 or 1 for each of the %u torus.lengths",
                 torus->dimensions);
        return ar_topo_refuse(&cluster->entries, TOPO_TORUS_WRAPS, expected, err);
    }
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        torus->wraps[d] = is_given ? values->list[TOPO_TORUS_WRAPS][d] > 0
                                   : values->count[TOPO_FABRIC] == AR_FABRIC_TORUS;
    }
    return AR_OK;
}

static enum ar_status torus_make(struct ar_cluster *cluster, uint64_t *links_count,
                                 struct ar_error *err)
{
    struct ar_torus *torus = &cluster->torus;
    AR_TRY(check_lengths(cluster, err));
    torus->dimensions = cluster->values.count[TOPO_TORUS_LENGTHS];
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        torus->lengths[d] = (uint32_t)cluster->values.list[TOPO_TORUS_LENGTHS][d];
    }
    AR_TRY(read_wraps(cluster, torus, err));
    ar_torus_fill(torus);
    if (ar_torus_diameter(torus, torus->dimensions) > AR_FABRIC_HOPS_MAX) {
        char expected[80];
        snprintf(expected, sizeof expected, "lengths with routes of at most %d links, not of %u",
                 AR_FABRIC_HOPS_MAX, ar_torus_diameter(torus, torus->dimensions));
        return ar_topo_refuse(&cluster->entries, TOPO_TORUS_LENGTHS, expected, err);
    }
    *links_count = 2 * (uint64_t)torus->cables;
    return AR_OK;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* Turns steps over a link that is down into those round the other way, if there is one that is up
 * and leaves room for the dimensions to come; else returns the link. */
static uint32_t turn_round(const struct ar_cluster *cluster, uint32_t router, uint32_t dimension,
                           uint32_t hops, int32_t *steps)
{
    const struct ar_torus *torus = &cluster->torus;
    uint32_t links[AR_FABRIC_HOPS_MAX];
    ar_torus_go(torus, router, dimension, *steps, links);
    uint32_t down = ar_fabric_find_down(cluster, links, (uint32_t)abs(*steps));
    int32_t length = (int32_t)torus->lengths[dimension];
    int32_t other = *steps > 0 ? *steps - length : *steps + length;
    if (down == UINT32_MAX || !torus->wraps[dimension] ||
        hops + (uint32_t)abs(other) + ar_torus_diameter(torus, dimension) > AR_FABRIC_HOPS_MAX) {
        return down;
    }
    ar_torus_go(torus, router, dimension, other, links);
    if (ar_fabric_find_down(cluster, links, (uint32_t)abs(other)) != UINT32_MAX) {
        return down;
    }
    *steps = other;
    return UINT32_MAX;
}

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
        if (steps != 0 && cluster->changes_count > 0) {
            uint32_t down = turn_round(cluster, router, d, hops, &steps);
            if (down != UINT32_MAX) {
                ar_path_fail(down, path);
                return;
            }
        }
        router = ar_torus_go(torus, router, d, steps, links);
        for (uint32_t i = 0; i < (uint32_t)abs(steps); i++, hops++) {
            ar_path_add(cluster, cluster->first_fabric_link + links[i], bandwidth_Bps, path);
        }
    }
    path->latency_s += hops * cluster->values.number[TOPO_SWITCH_LATENCY];
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
    size_t used = (size_t)snprintf(text, size, "router");
    for (uint32_t d = 0; d < torus->dimensions && used < size; d++) {
        uint32_t coordinate = ar_torus_coordinate(torus, at.router, d);
        used += (size_t)snprintf(text + used, size - used, "-%u", coordinate);
    }
    if (used < size) {
        snprintf(text + used, size - used, ".%c.%s", letters[at.dimension],
                 index % 2 == 0 ? "up" : "down");
    }
}

/* The cable with the coordinates of a name, the last ones where they are too large. */
static struct ar_link_range torus_candidates(const struct ar_cluster *cluster, const char *text)
{
    const struct ar_torus *torus = &cluster->torus;
    struct ar_torus_cable at = {0, 0};
    if (strncmp(text, "ro", 2) != 0 || torus->cables == 0) {
        return (struct ar_link_range){0, 0};
    }
    text += strcspn(text, "-");
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        char *end;
        unsigned long coordinate = *text == '-' ? strtoul(text + 1, &end, 10) : 0;
        text = *text == '-' ? end : text;
        uint32_t last = torus->lengths[d] - 1;
        at.router += (coordinate < last ? (uint32_t)coordinate : last) * torus->strides[d];
    }
    const char *letter = *text == '.' && text[1] != '\0' ? strchr(letters, text[1]) : NULL;
    at.dimension = letter != NULL ? (uint32_t)(letter - letters) : 0;
    at.dimension = at.dimension < torus->dimensions ? at.dimension : 0;
    uint32_t cable = ar_torus_cable(torus, at);
    cable = cable == UINT32_MAX ? torus->first_cables[at.dimension] : cable;
    return (struct ar_link_range){2 * (cable < torus->cables ? cable : 0), 2};
}

/* --- reach ------------------------------------------------------------------------------------ */

/* Messages that go along the line of a link: from routers before all of it in the order of routers
 * to those behind. The first router with each coordinate stands for the others. */
static enum ar_status torus_check_reach(const struct ar_cluster *cluster, uint32_t index,
                                        uint32_t ranks, struct ar_error *err)
{
    const struct ar_torus *torus = &cluster->torus;
    struct ar_torus_cable at = ar_torus_cable_at(torus, index / 2);
    uint32_t stride = torus->strides[at.dimension];
    uint32_t length = torus->lengths[at.dimension];
    uint32_t each = cluster->facts.gpus_per_node * ar_router_nodes(cluster);
    uint64_t used = ar_routers_in_use(cluster, ranks);
    uint32_t outer = at.router / stride / length * length * stride;
    uint32_t inner = at.router % stride;
    for (uint32_t a = 0; a < length; a++) {
        for (uint32_t b = 0; b < length; b++) {
            uint64_t source = (uint64_t)outer + (uint64_t)a * stride;
            uint64_t destination = (uint64_t)b * stride + inner;
            if (a != b && source < used && destination < used) {
                AR_TRY(ar_reach_check_pair(cluster, (uint32_t)source * each,
                                           (uint32_t)destination * each, err));
            }
        }
    }
    return AR_OK;
}

static bool torus_is_idle(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks)
{
    const struct ar_torus *torus = &cluster->torus;
    struct ar_torus_cable at = ar_torus_cable_at(torus, index / 2);
    uint32_t stride = torus->strides[at.dimension];
    uint32_t block = stride * torus->lengths[at.dimension];
    uint64_t used = ar_routers_in_use(cluster, ranks);
    bool is_behind = at.router / block * (uint64_t)block >= used;
    bool is_open_end = !torus->wraps[at.dimension] && used <= block &&
                       (at.router % block / stride + 1) * (uint64_t)stride >= used;
    return used <= stride || is_behind || is_open_end;
}

const struct ar_fabric ar_fabric_torus = {.make = torus_make,
                                          .route = torus_route,
                                          .bandwidth = torus_bandwidth,
                                          .name = torus_name,
                                          .candidates = torus_candidates,
                                          .check_reach = torus_check_reach,
                                          .is_idle = torus_is_idle};
