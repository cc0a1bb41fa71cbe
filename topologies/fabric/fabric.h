/** \file fabric.h
 * For the rooms of topologies/: the inside of a cluster.
 *
 * Values of a cluster file become numbered links of a node (cluster.c), of what joins the nodes
 * (tree.c, torus.c and dragonfly.c, a row each) and orders of its GPUs (gpu_order.c), for path.c.
 */
#pragma once

#include "ar_cluster.h"
#include "ar_order.h"
#include "dragonfly.h"
#include "topo_values.h"
#include "torus.h"

enum { AR_NO_LINK = UINT16_MAX };

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

/** Where a path enters or leaves the fabric: an HCA of a node. */
struct ar_port {
    uint32_t node, hca;
};

/** A fabric: the directed links between the HCAs of different nodes, numbered from 0 (`index`; in
 * the cluster they follow first_fabric_link), and the way over them. */
struct ar_fabric {
    /** Checks the values that the fabric is made of (ar_topo_refuse()), lays it out in its part of
     * struct ar_cluster and writes how many links it has, a route at most AR_FABRIC_HOPS_MAX. */
    enum ar_status (*make)(struct ar_cluster *cluster, uint64_t *links_count, struct ar_error *err);
    /** Appends the links from one HCA to another of a different node (ar_path_add()); sets the tier
     * to AR_TIER_SPINE if there are several switches on the way. Called if the fabric has links. */
    void (*route)(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                  struct ar_path *path);
    /** Bandwidth of a link as in the file. */
    double (*bandwidth)(const struct ar_cluster *cluster, uint32_t index);
    /** Writes a name that ends with `.up`, `.down`, `.out` or `.in`. */
    void (*name)(const struct ar_cluster *cluster, uint32_t index, char *name, size_t size);
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
    uint32_t switches;   /**< of the group above; a divisor of links */
    double bandwidth_Bps;
};

struct ar_fat_tree {
    uint32_t levels_count; /**< 0: one rack, which never limits */
    uint32_t rails;        /**< 1: all HCAs of a node are in one group */
    struct ar_tree_level levels[AR_TREE_LEVELS_MAX];
};

/** Writes and returns the name of a group: `rack-3`, `rack-3.rail-0`, `pod-1`, `pod3-0`. */
const char *ar_tree_group_name(const struct ar_fat_tree *tree, uint32_t level, uint32_t group,
                               char *name, size_t size);

/** A setting of slow links, and the first link that it means. */
struct ar_slow_link {
    struct ar_cluster_parameter parameter;
    uint32_t first;
};

struct ar_cluster {
    struct ar_arena *arena; /**< of it and all that is in it */
    struct ar_topo_entries entries;
    struct ar_topo_values values;
    struct ar_cluster_facts facts;
    struct ar_node_links node;
    struct ar_gpu_orders *orders; /**< by ar_cluster_gpu_orders(); gpus_count 0: not yet */
    uint32_t domain_nodes;        /**< of an NVLink domain; at least 1 */
    const struct ar_fabric *fabric;
    uint32_t first_fabric_link;       /**< behind those of all nodes */
    uint32_t fabric_links_count;      /**< 0: one switch that never limits */
    enum ar_routes routes;            /**< of its messages, where there is a choice */
    struct ar_fat_tree tree;          /**< of ar_fabric_fat_tree */
    struct ar_torus torus;            /**< of ar_fabric_torus */
    struct ar_dragonfly dragonfly;    /**< of ar_fabric_dragonfly */
    double rates_Bps[AR_KIND_FABRIC]; /**< by kind, of a link of weight 1, one direction */
    enum ar_tier port_tier;           /**< tier of a path over GPU ports: NVLINK (switch) or PCIE */
    double *factors;   /**< by which the bandwidths of links are divided; NULL: as in the file */
    uint32_t *instead; /**< of each link of nodes: the one that carries its messages, another HCA's
                            where it is down; NULL: itself */
    size_t slow_links_count;
    struct ar_slow_link *slow_links; /**< in the order of the command line */
};

/** The link of a node that carries the messages of an HCA's link. */
static inline uint32_t ar_hca_in_use(const struct ar_cluster *cluster, uint32_t link)
{
    return cluster->instead != NULL ? cluster->instead[link] : link;
}

/** Appends a link to a path. `bandwidth_Bps` is that of the link as in the file. */
static inline void ar_path_add(const struct ar_cluster *cluster, uint32_t link,
                               double bandwidth_Bps, struct ar_path *path)
{
    if (cluster->factors != NULL) {
        bandwidth_Bps /= cluster->factors[link];
    }
    path->links[path->links_count++] = link;
    if (bandwidth_Bps < path->bandwidth_Bps) {
        path->bandwidth_Bps = bandwidth_Bps;
    }
}

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
