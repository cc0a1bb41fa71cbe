/** \file dragonfly.h
 * Dragonfly and dragonfly+: numbers, nothing of a cluster.
 *
 * Groups of routers; each two groups are joined by the same number of global cables.
 *
 * - Dragonfly (`spines` 0): each two routers of a group have a cable, and each may have global
 *   ones. A route is local, global, local, as far as it needs them.
 * - Dragonfly+: the routers of a group are leaves, each with a cable to each spine of its group;
 *   the global cables end at the spines. A route is up, down in a group, or up, global, down.
 *
 * Global ports. A group orders its peers: *palmtree* counts down from itself (group i's peer number
 * q is i - q - 1 modulo the groups), *consecutive* counts the groups from 0 on without itself
 * (Hastings et al., Comparing Global Link Arrangements for Dragonfly Networks, CLUSTER 2015). Cable
 * k to peer number q is port k (groups - 1) + q, and ports are dealt to the routers (spines) in
 * blocks of the least size that suffices. Cable k of one group is cable k of the other.
 *
 * Cables with the same ends may be one link of their sum (`is_bundled`): the global cables between
 * two groups, and those of a leaf to all its spines. In a dragonfly the local links of a route are
 * then still those of the cable it was given.
 *
 * A cable is two links, up (from the lower number to the higher, from a leaf to a spine) and down:
 * link 2 c and link 2 c + 1. First come the cables within group 0, within group 1, ..., then the
 * global ones by the lower group, the higher and their number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { AR_DRAGONFLY_ROUTE_MAX = 3 };

struct ar_dragonfly {
    uint32_t groups;       /**< at least 1 */
    uint32_t routers;      /**< of a group; leaves of a dragonfly+ */
    uint32_t spines;       /**< of a group; 0: a dragonfly */
    uint32_t global_links; /**< cables between each two groups, at least 1 if there are several */
    bool is_palmtree;      /**< else consecutive */
    bool is_bundled;
};

/** Kinds of links. */
enum ar_dragonfly_kind {
    AR_DRAGONFLY_LOCAL, /**< of a dragonfly, from router `a` of the group to router `b` */
    AR_DRAGONFLY_UP,    /**< of a dragonfly+, from leaf `a` to spine `b` (0 where bundled) */
    AR_DRAGONFLY_DOWN,  /**< from spine `b` to leaf `a` */
    AR_DRAGONFLY_GLOBAL /**< from the group to group `a`, cable `b` (0 where bundled) */
};

struct ar_dragonfly_link {
    enum ar_dragonfly_kind kind;
    uint32_t group, a, b;
};

/** How many links there are; the number need not fit into 32 bits. */
uint64_t ar_dragonfly_links(const struct ar_dragonfly *dragonfly);

/** The link of an index, and the index of a link that exists. */
struct ar_dragonfly_link ar_dragonfly_link_at(const struct ar_dragonfly *dragonfly, uint32_t index);
uint32_t ar_dragonfly_index(const struct ar_dragonfly *dragonfly, struct ar_dragonfly_link link);

/** How many cables a link stands for, between groups or within one. */
uint32_t ar_dragonfly_width(const struct ar_dragonfly *dragonfly, bool is_global);

/** The router (spine) of a group where cable `cable` to another group ends. */
uint32_t ar_dragonfly_gateway(const struct ar_dragonfly *dragonfly, uint32_t group, uint32_t peer,
                              uint32_t cable);

/** Ways between two routers, numbered from 0: the cables between their groups; spines within a
 * group of a dragonfly+; else 1. Routers are numbered group by group. */
uint32_t ar_dragonfly_ways(const struct ar_dragonfly *dragonfly, uint32_t source,
                           uint32_t destination);

/** Writes the links of a way, none between a router and itself; returns how many. */
uint32_t ar_dragonfly_route(const struct ar_dragonfly *dragonfly, uint32_t source,
                            uint32_t destination, uint32_t way,
                            uint32_t links[AR_DRAGONFLY_ROUTE_MAX]);
