/* Dragonfly and dragonfly+ of a cluster: the links between routers (dragonfly.h). */
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/* --- values ---------------------------------------------------------------------------------- */

static enum ar_status make(struct ar_cluster *cluster, uint64_t *links_count, struct ar_error *err)
{
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
    double nodes = (double)dragonfly->groups * dragonfly->routers * ar_router_nodes(cluster);
    if (nodes != values->count[TOPO_NODES]) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "dragonfly.groups (%u) x dragonfly.routers (%u) x router.nodes (%u)",
                 dragonfly->groups, dragonfly->routers, ar_router_nodes(cluster));
        return ar_topo_refuse(&cluster->entries, TOPO_NODES, expected, err);
    }
    *links_count = ar_dragonfly_links(dragonfly);
    return AR_OK;
}

/* --- routes ---------------------------------------------------------------------------------- */

/* Of the link in the file. */
static double bandwidth(const struct ar_cluster *cluster, uint32_t index)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    const double *number = cluster->values.number;
    bool is_global = index >= ar_dragonfly_first_global(dragonfly);
    return ar_dragonfly_width(dragonfly, is_global) *
           number[is_global ? TOPO_DRAGONFLY_GLOBAL_BANDWIDTH : TOPO_DRAGONFLY_LOCAL_BANDWIDTH];
}

/* Ideal: messages are dealt to parallel ways in turn, by their nodes; dmodk: by the destination. */
static uint32_t choose_way(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                           uint32_t ways)
{
    uint32_t number = cluster->routes == AR_ROUTES_IDEAL   ? from.node + to.node
                      : cluster->routes == AR_ROUTES_DMODK ? ar_port_number(cluster, to)
                                                           : ar_route_hash(cluster, from, to, 0);
    return number % ways;
}

/* Where a link is down, the next way that is up. */
static void route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                  struct ar_path *path)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    uint32_t source = from.node / ar_router_nodes(cluster);
    uint32_t destination = to.node / ar_router_nodes(cluster);
    if (source == destination) {
        return;
    }
    uint32_t ways = ar_dragonfly_ways(dragonfly, source, destination);
    uint32_t first = choose_way(cluster, from, to, ways);
    uint32_t links[AR_DRAGONFLY_ROUTE_MAX];
    uint32_t hops = ar_dragonfly_route(dragonfly, source, destination, first, links);
    uint32_t down = ar_fabric_find_down(cluster, links, hops);
    for (uint32_t i = 1; i < ways && ar_fabric_find_down(cluster, links, hops) != UINT32_MAX; i++) {
        hops = ar_dragonfly_route(dragonfly, source, destination, (first + i) % ways, links);
    }
    if (ar_fabric_find_down(cluster, links, hops) != UINT32_MAX) {
        ar_path_fail(down, path);
        return;
    }
    for (uint32_t i = 0; i < hops; i++) {
        ar_path_add(cluster, cluster->first_fabric_link + links[i], bandwidth(cluster, links[i]),
                    path);
    }
    path->tier = AR_TIER_SPINE;
    path->latency_s += hops * cluster->values.number[TOPO_SWITCH_LATENCY];
}

/* A local link of a dragonfly is no bundle, but a cable of its own. */
static uint32_t cables(const struct ar_cluster *cluster, uint32_t index)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    return ar_dragonfly_width(dragonfly, index >= ar_dragonfly_first_global(dragonfly));
}

/* --- names ----------------------------------------------------------------------------------- */

/* `group-3.local-1-4.up` is the link from router 1 to router 4, `group-3.leaf-1.up` that of a leaf
 * to its spines, `global-2-5.up` that from group 2 to group 5; the latter two are bundles, or
 * cables with a number (`global-2-5.cable-0.up`; `group-3.leaf-1.cable-2.up` to spine 2). */
static void name(const struct ar_cluster *cluster, uint32_t index, char *text, size_t size)
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

/* The next number of a name, at most `last`. */
static uint32_t next_number(const char **text, uint32_t last)
{
    char *end;
    *text += strcspn(*text, "0123456789");
    unsigned long number = strtoul(*text, &end, 10);
    *text = end;
    return number < last ? (uint32_t)number : last;
}

static struct ar_link_range candidates(const struct ar_cluster *cluster, const char *text)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    bool is_global = strncmp(text, "gl", 2) == 0;
    bool is_plus = dragonfly->spines > 0;
    uint32_t things = is_global ? dragonfly->groups : dragonfly->routers;
    if (strncmp(text, "g", 1) != 0 || (things < 2 && (is_global || !is_plus))) {
        return (struct ar_link_range){0, 0};
    }
    struct ar_dragonfly_link link = {.kind = is_global ? AR_DRAGONFLY_GLOBAL
                                             : is_plus ? AR_DRAGONFLY_UP
                                                       : AR_DRAGONFLY_LOCAL};
    uint32_t parallel = is_global ? dragonfly->global_links : is_plus ? dragonfly->spines : 1;
    link.group = next_number(&text, dragonfly->groups - 1);
    link.a = next_number(&text, things - 1);
    link.b = is_global || is_plus ? 0 : next_number(&text, things - 1);
    uint32_t *high = link.kind == AR_DRAGONFLY_LOCAL ? &link.b : &link.a;
    uint32_t low = link.kind == AR_DRAGONFLY_LOCAL ? link.a : link.group;
    if (link.kind != AR_DRAGONFLY_UP && *high == low) {
        *high = low > 0 ? low - 1 : 1;
    }
    return (struct ar_link_range){ar_dragonfly_index(dragonfly, link) / 2 * 2,
                                  dragonfly->is_bundled ? 2 : 2 * parallel};
}

/* --- reach ----------------------------------------------------------------------------------- */

/* A router with those of a range. */
static enum ar_status check_router(const struct ar_cluster *cluster, uint32_t router,
                                   uint32_t first, uint32_t end, struct ar_error *err)
{
    uint32_t each = cluster->facts.gpus_per_node * ar_router_nodes(cluster);
    for (uint32_t other = first; other < end; other++) {
        if (other != router) {
            AR_TRY(ar_reach_check_pair(cluster, router * each, other * each, err));
        }
    }
    return AR_OK;
}

/* The routers at the ends of a link within a group with all others; those of the two groups of a
 * global one. The first GPU of a router stands for the others. */
static enum ar_status check_reach(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks,
                                  struct ar_error *err)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    struct ar_dragonfly_link link = ar_dragonfly_link_at(dragonfly, index);
    bool is_global = link.kind == AR_DRAGONFLY_GLOBAL;
    uint32_t used = ar_routers_in_use(cluster, ranks);
    uint32_t routers = dragonfly->routers;
    uint32_t first = link.group * routers;
    uint32_t begin = is_global ? link.a * routers : 0;
    uint32_t end = is_global && begin + routers < used ? begin + routers : used;
    for (uint32_t a = 0; a < routers && first + a < used; a++) {
        bool is_end = a == link.a || (link.kind == AR_DRAGONFLY_LOCAL && a == link.b);
        if (is_global || is_end) {
            AR_TRY(check_router(cluster, first + a, begin, end, err));
        }
    }
    return AR_OK;
}

static bool is_idle(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks)
{
    const struct ar_dragonfly *dragonfly = &cluster->dragonfly;
    struct ar_dragonfly_link link = ar_dragonfly_link_at(dragonfly, index);
    uint32_t used = ar_routers_in_use(cluster, ranks);
    uint64_t first = (uint64_t)link.group * dragonfly->routers;
    switch (link.kind) {
    case AR_DRAGONFLY_GLOBAL:
        return first >= used || (uint64_t)link.a * dragonfly->routers >= used;
    case AR_DRAGONFLY_LOCAL:
        return first + link.a >= used && first + link.b >= used;
    default:
        return first + link.a >= used || used < 2;
    }
}

const struct ar_fabric ar_fabric_dragonfly = {.make = make,
                                              .route = route,
                                              .bandwidth = bandwidth,
                                              .name = name,
                                              .cables = cables,
                                              .candidates = candidates,
                                              .check_reach = check_reach,
                                              .is_idle = is_idle};
