/** \file fabric.h
 * For the rooms of topologies/: the inside of a cluster.
 *
 * Values of a cluster file become numbered links of a node (cluster.c), of what joins the nodes
 * (tree.c, torus.c and dragonfly.c, a row each) and orders of a node's GPUs (gpu_order.c). Links
 * may then be changed (link_changes.c). Paths (path.c) read the result.
 */
#ifndef AR_FABRIC_H
#define AR_FABRIC_H

#include <stdbool.h>

#include "ar_cluster.h"
#include "ar_order.h"
#include "dragonfly.h"
#include "topo_values.h"
#include "torus.h"

enum { AR_NO_LINK = UINT16_MAX };
#define AR_ALL_CABLES UINT32_MAX

/** Kinds of directed links. The links of the fabric are numbered after those of all nodes. */
enum ar_link_kind { AR_KIND_NVLINK, AR_KIND_PORT, AR_KIND_PCIE, AR_KIND_HCA, AR_KIND_FABRIC };

/** A directed link of a node: an NVLink from GPU a to GPU b; else link a of its kind, away from the
 * GPU (b is 0) or towards it (1). */
struct ar_node_link {
    uint8_t kind, a, b;
    uint8_t weight; /**< of an NVLink: how many times as wide as the rate of its kind; else 1 */
};

/** Links of one node, numbered from 0; the two directions are neighbours: link and link + 1. */
struct ar_node_links {
    uint32_t count;
    struct ar_node_link *list;
    uint16_t nvlink[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX]; /**< or AR_NO_LINK */
    uint16_t port[AR_TOPO_GPUS_MAX];       /**< out of GPU g (into it: + 1), or AR_NO_LINK */
    uint16_t uplink[AR_TOPO_GPUS_MAX];     /**< up from its PCIe switch (down: + 1), or none */
    uint16_t net_uplink[AR_TOPO_GPUS_MAX]; /**< the same, if it is on the way to the HCA; or none */
    uint16_t hca[AR_TOPO_GPUS_MAX];        /**< out of its HCA (into it: + 1), or none */
};

/** A link, or a cable of one, that differs from the file. */
struct ar_link_change {
    uint32_t link;
    uint32_t cable; /**< AR_ALL_CABLES, or one of several of the link */
    bool is_down;
    double factor;  /**< its bandwidth is divided by this; 1 if it is down */
    size_t setting; /**< of the cluster's settings of links, which says so */
};

/** Where a path enters or leaves the fabric: an HCA of a node. */
struct ar_port {
    uint32_t node, hca;
};

/** Consecutive links. */
struct ar_link_range {
    uint32_t first, count;
};

/** A fabric: the directed links between the HCAs of different nodes, numbered from 0 (`index`; in
 * the cluster they follow first_fabric_link), and the way over them. */
struct ar_fabric {
    /** Checks the values that the fabric is made of (ar_topo_refuse()), lays it out in its part of
     * struct ar_cluster and writes how many links it has; no route may have more than
     * AR_FABRIC_HOPS_MAX. May be called again. */
    enum ar_status (*make)(struct ar_cluster *cluster, uint64_t *links_count, struct ar_error *err);
    /** Appends the links from one HCA to another of a different node (ar_path_add()); sets the tier
     * to AR_TIER_SPINE if there are several switches on the way. Where links are down
     * (ar_link_is_down()) it looks for another way or fails (ar_path_fail()). Called only if the
     * fabric has links. */
    void (*route)(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                  struct ar_path *path);
    /** Bandwidth of a link as in the file. */
    double (*bandwidth)(const struct ar_cluster *cluster, uint32_t index);
    /** Writes a name that ends with `.up`, `.down`, `.out` or `.in`. */
    void (*name)(const struct ar_cluster *cluster, uint32_t index, char *name, size_t size);
    /** Cables of their own that a link stands for; each is `cable-C` in its name
     * (`rack-2.cable-3.up` of `rack-2.up`), and takes its part of the bandwidth with it. NULL: one
     * each. */
    uint32_t (*cables)(const struct ar_cluster *cluster, uint32_t index);
    /** The few links that a name with or without its direction may mean, nearby ones where there is
     * none of its number; none if names of other links begin so. */
    struct ar_link_range (*candidates)(const struct ar_cluster *cluster, const char *name);
    /** Refuses that of the first `ranks` GPUs some cannot reach each other since this link is down
     * (ar_reach_check_pair()). */
    enum ar_status (*check_reach)(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks,
                                  struct ar_error *err);
    /** Whether no message among the first `ranks` GPUs can take this link, whatever else is down.
     */
    bool (*is_idle)(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks);
};

extern const struct ar_fabric ar_fabric_fat_tree;
extern const struct ar_fabric ar_fabric_torus;     /**< and mesh */
extern const struct ar_fabric ar_fabric_dragonfly; /**< and dragonfly+ */

enum {
    AR_FABRIC_HOPS_MAX = AR_PATH_LINKS_MAX - 8, /**< links of a node need the others */
    AR_TREE_LEVELS_MAX = AR_TOPO_LIST_MAX + 1
};

/** The groups of one level of a fat tree and their links to the switches of the next one. At level
 * 0 they are racks, with rails a group for each rail of each: HCA i of its nodes is in group
 * `rails * rack + i`. Link `c` of a group joins its switch c % (switches of the level below) with
 * switch c % switches of the group above; all cables are one link where routes are ideal. */
struct ar_tree_level {
    uint32_t first_link; /**< link c up from group g: + 2 (g links + c), down into it: + 1 */
    uint32_t count;      /**< groups */
    uint32_t children;   /**< groups of the level below in one, at level 0 nodes */
    uint32_t links;      /**< of a group, one direction */
    uint32_t cables;     /**< that each of its links stands for */
    uint32_t switches;   /**< of the group above; a divisor of links */
    double bandwidth_Bps;
};

struct ar_fat_tree {
    uint32_t levels_count; /**< 0: one rack, which never limits */
    uint32_t rails;        /**< 1: all HCAs of a node are in one group */
    struct ar_tree_level levels[AR_TREE_LEVELS_MAX];
};

/** Writes the name of a group: `rack-3`, `rack-3.rail-0`, `pod-1`, `pod3-0` of the third level;
 * returns it. */
const char *ar_tree_group_name(const struct ar_fat_tree *tree, uint32_t level, uint32_t group,
                               char *name, size_t size);

/** The group of an HCA at level 0. */
static inline uint32_t ar_tree_leaf(const struct ar_fat_tree *tree, struct ar_port port)
{
    uint32_t rack = port.node / tree->levels[0].children;
    return tree->rails == 1 ? rack : rack * tree->rails + port.hca;
}

struct ar_cluster {
    struct ar_arena *arena; /**< of it and all that is in it */
    struct ar_topo_entries entries;
    struct ar_topo_values values;
    struct ar_cluster_facts facts;
    struct ar_node_links node;
    struct ar_gpu_orders orders; /**< count 0: the plain zigzags */
    uint32_t domain_nodes;       /**< of an NVLink domain; at least 1 */
    const struct ar_fabric *fabric;
    uint32_t first_fabric_link;       /**< behind those of all nodes */
    uint32_t fabric_links_count;      /**< 0: one switch that never limits */
    enum ar_routes routes;            /**< of its messages, where there is a choice */
    struct ar_fat_tree tree;          /**< of ar_fabric_fat_tree */
    struct ar_torus torus;            /**< of ar_fabric_torus */
    struct ar_dragonfly dragonfly;    /**< of ar_fabric_dragonfly */
    double rates_Bps[AR_KIND_FABRIC]; /**< by kind, of a link of weight 1, one direction */
    double latencies_s[AR_TIERS_COUNT];
    enum ar_tier port_tier; /**< tier of a path over GPU ports: NVLINK (switch) or PCIE */
    bool has_spare_ports;   /**< ports are numbered though all pairs have NVLinks: one is down */
    uint32_t changes_count; /**< 0: every link is as in the file */
    struct ar_link_change *changes; /**< in the order of their links */
    size_t settings_count;
    struct ar_cluster_parameter *settings; /**< of links, in the order of the command line */
};

/** Numbers all links, GPU ports among them if paths over PCIe or an NVLink switch need them or if
 * the cluster has spare ports; fails if there are more links than 31 bits can count. */
enum ar_status ar_cluster_number_links(struct ar_cluster *cluster, struct ar_error *err);

/** By what the bandwidth of a link is divided: 1 if it is as in the file, HUGE_VAL if it is down.
 */
double ar_link_factor(const struct ar_cluster *cluster, uint32_t link);
bool ar_link_is_down(const struct ar_cluster *cluster, uint32_t link);

/** The kind of a directed link of a cluster file. */
static inline enum ar_link_kind ar_link_kind(const struct ar_cluster *cluster, uint32_t link)
{
    return link >= cluster->first_fabric_link
               ? AR_KIND_FABRIC
               : (enum ar_link_kind)cluster->node.list[link % cluster->node.count].kind;
}

/** ar_hca_in_use() in a cluster with changed links. */
uint32_t ar_hca_in_use_changed(const struct ar_cluster *cluster, uint32_t link);

/** The link that carries the messages of an HCA's link: itself, or the next one of the node that is
 * up in that direction; a link that is down if there is none. */
static inline uint32_t ar_hca_in_use(const struct ar_cluster *cluster, uint32_t link)
{
    return cluster->changes_count == 0 ? link : ar_hca_in_use_changed(cluster, link);
}

/** As ar_cluster_path(), but where there is no way links_count is 0 and links[0] is a link
 * that is down and has no substitute. */
void ar_path_find(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                  struct ar_path *path);

/** Says that a path has no way left, since this link is down; links added later are ignored. */
static inline void ar_path_fail(uint32_t link, struct ar_path *path)
{
    path->bandwidth_Bps = 0;
    path->links_count = 0;
    path->links[0] = link;
}

/** ar_path_add() in a cluster with changed links. */
void ar_path_add_changed(const struct ar_cluster *cluster, uint32_t link, struct ar_path *path);

/** Appends a link to a path; the path fails if it is down. `bandwidth_Bps` is that of the link as
 * in the file. */
static inline void ar_path_add(const struct ar_cluster *cluster, uint32_t link,
                               double bandwidth_Bps, struct ar_path *path)
{
    if (cluster->changes_count > 0) {
        ar_path_add_changed(cluster, link, path);
        return;
    }
    path->links[path->links_count++] = link;
    if (bandwidth_Bps < path->bandwidth_Bps) {
        path->bandwidth_Bps = bandwidth_Bps;
    }
}

/** The first link that is down among some of the fabric, as a link of the cluster; UINT32_MAX if
 * there is none. */
uint32_t ar_fabric_find_down(const struct ar_cluster *cluster, const uint32_t *indices,
                             uint32_t count);

/** The number of an HCA. */
static inline uint32_t ar_port_number(const struct ar_cluster *cluster, struct ar_port port)
{
    return port.node * cluster->facts.hcas_per_node + port.hca;
}

/** A number that the seed of `hash:SEED`, two HCAs and a salt decide, for routes. */
uint32_t ar_route_hash(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                       uint32_t salt);

/** Nodes on each router of a torus or dragonfly. */
static inline uint32_t ar_router_nodes(const struct ar_cluster *cluster)
{
    uint32_t nodes = cluster->values.count[TOPO_ROUTER_NODES];
    return nodes > 0 ? nodes : 1;
}

/** Routers of the first `ranks` GPUs; the last one may be used in part. */
static inline uint32_t ar_routers_in_use(const struct ar_cluster *cluster, uint32_t ranks)
{
    uint64_t each = (uint64_t)cluster->facts.gpus_per_node * ar_router_nodes(cluster);
    return (uint32_t)((ranks + each - 1) / each);
}

/** Refuses, as ar_cluster_check_reach(), that one of two GPUs cannot reach the other. */
enum ar_status ar_reach_check_pair(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                   struct ar_error *err);

/** The orders of a node, a pure function of its NVLink pairs and HCAs; `count` is 0 if they are the
 * plain zigzags. */
void ar_gpu_orders_find(const struct ar_topo_values *values, struct ar_gpu_orders *orders);

#endif
