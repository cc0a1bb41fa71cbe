/* Dragonfly and dragonfly+: the numbers of their routers and cables (dragonfly.h), and the fabric
 * of a cluster that is one. */
#include "dragonfly.h"

#include "fabric.h"

/* Links from a leaf to spines. */
static uint32_t spine_links(const struct ar_dragonfly *dragonfly)
{
    return dragonfly->is_bundled ? 1 : dragonfly->spines;
}

static uint32_t global_links(const struct ar_dragonfly *dragonfly)
{
    return dragonfly->is_bundled ? 1 : dragonfly->global_links;
}

/* Cables that join each two of so many things, and the number of that of `a` and `b`. */
static uint64_t pairs_of_things(uint64_t things)
{
    return things * (things - 1) / 2;
}

static uint32_t pair_of(uint32_t things, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return (uint32_t)(pairs_of_things(things) - pairs_of_things(things - low)) + high - low - 1;
}

/* The lower one of a pair. */
static uint32_t low_of(uint32_t things, uint32_t pair)
{
    uint32_t low = 0;
    while (pairs_of_things(things) - pairs_of_things(things - low - 1) <= pair) {
        low++;
    }
    return low;
}

static uint64_t cables_of_group(const struct ar_dragonfly *dragonfly)
{
    uint64_t routers = dragonfly->routers;
    return dragonfly->spines > 0 ? routers * spine_links(dragonfly) : pairs_of_things(routers);
}

uint64_t ar_dragonfly_links(const struct ar_dragonfly *dragonfly)
{
    uint64_t groups = dragonfly->groups;
    return 2 * (groups * cables_of_group(dragonfly) +
                pairs_of_things(groups) * global_links(dragonfly));
}

struct ar_dragonfly_link ar_dragonfly_link_at(const struct ar_dragonfly *dragonfly, uint32_t index)
{
    uint32_t groups = dragonfly->groups, routers = dragonfly->routers;
    uint32_t in_group = (uint32_t)cables_of_group(dragonfly);
    bool is_down = index % 2 == 1;
    uint32_t cable = index / 2;
    if (cable >= groups * in_group) {
        uint32_t parallel = global_links(dragonfly);
        uint32_t number = (cable - groups * in_group) % parallel;
        uint32_t pair = (cable - groups * in_group) / parallel;
        uint32_t low = low_of(groups, pair);
        uint32_t high = pair - pair_of(groups, low, low + 1) + low + 1;
        return (struct ar_dragonfly_link){AR_DRAGONFLY_GLOBAL, is_down ? high : low,
                                          is_down ? low : high, number};
    }
    uint32_t group = cable / in_group;
    cable %= in_group;
    if (dragonfly->spines > 0) {
        uint32_t spines = spine_links(dragonfly);
        return (struct ar_dragonfly_link){is_down ? AR_DRAGONFLY_DOWN : AR_DRAGONFLY_UP, group,
                                          cable / spines, cable % spines};
    }
    uint32_t low = low_of(routers, cable);
    uint32_t high = cable - pair_of(routers, low, low + 1) + low + 1;
    return (struct ar_dragonfly_link){AR_DRAGONFLY_LOCAL, group, is_down ? high : low,
                                      is_down ? low : high};
}

uint32_t ar_dragonfly_index(const struct ar_dragonfly *dragonfly, struct ar_dragonfly_link link)
{
    uint32_t in_group = (uint32_t)cables_of_group(dragonfly);
    uint32_t first = link.group * in_group;
    switch (link.kind) {
    case AR_DRAGONFLY_LOCAL:
        return 2 * (first + pair_of(dragonfly->routers, link.a, link.b)) + (link.a > link.b);
    case AR_DRAGONFLY_UP:
        return 2 * (first + link.a * spine_links(dragonfly) + link.b);
    case AR_DRAGONFLY_DOWN:
        return 2 * (first + link.a * spine_links(dragonfly) + link.b) + 1;
    case AR_DRAGONFLY_GLOBAL:
        break;
    }
    uint32_t pair = pair_of(dragonfly->groups, link.group, link.a);
    uint32_t cable = dragonfly->groups * in_group + pair * global_links(dragonfly) + link.b;
    return 2 * cable + (link.group > link.a);
}

uint32_t ar_dragonfly_width(const struct ar_dragonfly *dragonfly, bool is_global)
{
    uint32_t parallel = is_global               ? dragonfly->global_links
                        : dragonfly->spines > 0 ? dragonfly->spines
                                                : 1;
    return dragonfly->is_bundled ? parallel : 1;
}

uint32_t ar_dragonfly_gateway(const struct ar_dragonfly *dragonfly, uint32_t group, uint32_t peer,
                              uint32_t cable)
{
    uint64_t peers = dragonfly->groups - 1;
    uint32_t switches = dragonfly->spines > 0 ? dragonfly->spines : dragonfly->routers;
    uint64_t each = (dragonfly->global_links * peers + switches - 1) / switches;
    uint32_t down = (group + dragonfly->groups - peer - 1) % dragonfly->groups;
    uint32_t number = dragonfly->is_palmtree ? down : peer - (peer > group);
    return (uint32_t)((cable * peers + number) / each);
}

uint32_t ar_dragonfly_ways(const struct ar_dragonfly *dragonfly, uint32_t source,
                           uint32_t destination)
{
    if (source / dragonfly->routers != destination / dragonfly->routers) {
        return dragonfly->global_links;
    }
    return dragonfly->spines > 0 ? dragonfly->spines : 1;
}

/* Adds the link from a router to the router (spine) `b`, or back. */
static uint32_t add_local(const struct ar_dragonfly *dragonfly, bool is_back,
                          struct ar_dragonfly_link link, uint32_t count, uint32_t *links)
{
    if (dragonfly->spines > 0) {
        link.kind = is_back ? AR_DRAGONFLY_DOWN : AR_DRAGONFLY_UP;
        link.b = dragonfly->is_bundled ? 0 : link.b;
    } else if (link.a == link.b) {
        return count;
    } else if (is_back) {
        link = (struct ar_dragonfly_link){AR_DRAGONFLY_LOCAL, link.group, link.b, link.a};
    }
    links[count] = ar_dragonfly_index(dragonfly, link);
    return count + 1;
}

uint32_t ar_dragonfly_route(const struct ar_dragonfly *dragonfly, uint32_t source,
                            uint32_t destination, uint32_t way,
                            uint32_t links[AR_DRAGONFLY_ROUTE_MAX])
{
    uint32_t from = source / dragonfly->routers;
    uint32_t to = destination / dragonfly->routers;
    uint32_t a = source % dragonfly->routers;
    uint32_t b = destination % dragonfly->routers;
    if (source == destination) {
        return 0;
    }
    if (from == to) {
        uint32_t middle = dragonfly->spines > 0 ? way : b;
        struct ar_dragonfly_link up = {AR_DRAGONFLY_LOCAL, from, a, middle};
        uint32_t count = add_local(dragonfly, false, up, 0, links);
        struct ar_dragonfly_link down = {AR_DRAGONFLY_LOCAL, from, b, middle};
        return add_local(dragonfly, true, down, count, links);
    }
    struct ar_dragonfly_link out = {AR_DRAGONFLY_LOCAL, from, a,
                                    ar_dragonfly_gateway(dragonfly, from, to, way)};
    struct ar_dragonfly_link in = {AR_DRAGONFLY_LOCAL, to, b,
                                   ar_dragonfly_gateway(dragonfly, to, from, way)};
    struct ar_dragonfly_link global = {AR_DRAGONFLY_GLOBAL, from, to,
                                       dragonfly->is_bundled ? 0 : way};
    uint32_t count = add_local(dragonfly, false, out, 0, links);
    links[count++] = ar_dragonfly_index(dragonfly, global);
    return add_local(dragonfly, true, in, count, links);
}

/* --- values ----------------------------------------------------------------------------------- */

static enum ar_status dragonfly_make(struct ar_cluster *cluster, uint64_t *links_count,
                                     struct ar_error *err)
{
    (void)err;
    const struct ar_topo_values *values = &cluster->values;
    struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    bool is_plus = values->count[TOPO_FABRIC] == AR_FABRIC_DRAGONFLY_PLUS;
    *dragonfly = (struct ar_dragonfly){
        .groups = values->count[TOPO_DRAGONFLY_GROUPS],
        .routers = values->count[TOPO_DRAGONFLY_ROUTERS],
        .spines = is_plus ? values->count[TOPO_DRAGONFLY_SPINES] : 0,
        .global_links = values->count[TOPO_DRAGONFLY_GLOBAL_LINKS],
        .is_palmtree = values->count[TOPO_DRAGONFLY_ARRANGEMENT] == AR_DRAGONFLY_PALMTREE,
        .is_bundled = cluster->routes == AR_ROUTES_IDEAL,
    };
    *links_count = ar_dragonfly_links(dragonfly);
    return AR_OK;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* The bandwidth of a link in the file. */
static double dragonfly_bandwidth(const struct ar_cluster *cluster, uint32_t index)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    const double *number = cluster->values.number;
    bool is_global = index >= 2 * dragonfly->groups * (uint32_t)cables_of_group(dragonfly);
    return ar_dragonfly_width(dragonfly, is_global) *
           number[is_global ? TOPO_DRAGONFLY_GLOBAL_BANDWIDTH : TOPO_DRAGONFLY_LOCAL_BANDWIDTH];
}

static void dragonfly_route(const struct ar_cluster *cluster, struct ar_port from,
                            struct ar_port to, struct ar_path *path)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    uint32_t source = from.node / ar_router_nodes(cluster);
    uint32_t destination = to.node / ar_router_nodes(cluster);
    if (source == destination) {
        return;
    }
    /* Ideal: messages are dealt to parallel ways in turn, by their nodes; dmodk: by destination. */
    uint32_t number = cluster->routes == AR_ROUTES_IDEAL   ? from.node + to.node
                      : cluster->routes == AR_ROUTES_DMODK ? ar_port_number(cluster, to)
                                                           : ar_route_hash(cluster, from, to, 0);
    uint32_t way = number % ar_dragonfly_ways(dragonfly, source, destination);
    uint32_t links[AR_DRAGONFLY_ROUTE_MAX];
    uint32_t hops = ar_dragonfly_route(dragonfly, source, destination, way, links);
    for (uint32_t i = 0; i < hops; i++) {
        ar_path_add(cluster, cluster->first_fabric_link + links[i],
                    dragonfly_bandwidth(cluster, links[i]), path);
    }
    path->tier = AR_TIER_SPINE;
    path->switches_s = hops * cluster->values.number[TOPO_SWITCH_LATENCY];
    path->latency_s += path->switches_s;
}

/* --- names ------------------------------------------------------------------------------------ */

/* `group-3.local-1-4.up` is the link from router 1 to router 4, `group-3.leaf-1.up` that of a leaf
 * to its spines, `global-2-5.up` that from group 2 to group 5; the latter two are bundles, or
 * cables with a number (`global-2-5.cable-0.up`; `group-3.leaf-1.cable-2.up` to spine 2). */
static void dragonfly_name(const struct ar_cluster *cluster, uint32_t index, char *text,
                           size_t size)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    struct ar_dragonfly_link link = ar_dragonfly_link_at(dragonfly, index);
    bool is_down = index % 2 == 1;
    const char *direction = is_down ? "down" : "up";
    uint32_t low = is_down ? link.a : link.group;
    uint32_t high = is_down ? link.group : link.a;
    char parallel[24] = "";
    if (!dragonfly->is_bundled) {
        snprintf(parallel, sizeof parallel, ".cable-%u", link.b);
    }
    switch (link.kind) {
    case AR_DRAGONFLY_LOCAL:
        snprintf(text, size, "group-%u.local-%u-%u.%s", link.group, is_down ? link.b : link.a,
                 is_down ? link.a : link.b, direction);
        break;
    case AR_DRAGONFLY_UP:
    case AR_DRAGONFLY_DOWN:
        snprintf(text, size, "group-%u.leaf-%u%s.%s", link.group, link.a, parallel, direction);
        break;
    case AR_DRAGONFLY_GLOBAL:
        snprintf(text, size, "global-%u-%u%s.%s", low, high, parallel, direction);
        break;
    }
}

const struct ar_fabric ar_fabric_dragonfly = {.make = dragonfly_make,
                                              .route = dragonfly_route,
                                              .bandwidth = dragonfly_bandwidth,
                                              .name = dragonfly_name};
