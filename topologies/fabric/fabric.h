/** \file fabric.h
 * For the rooms of topologies/: the inside of a cluster.
 *
 * Values of a cluster file become numbered links of a node and of racks (cluster.c) and orders of
 * its GPUs (gpu_order.c, gpu_order_search.c). Links may then be changed (link_changes.c). Paths
 * (path.c) read the result. The cluster of a platform file (platform_cluster.c) has values from
 * settings only, and none of a node's links.
 */
#ifndef AR_FABRIC_H
#define AR_FABRIC_H

#include <stdbool.h>

#include "ar_cluster.h"
#include "ar_gpu_order.h"
#include "topo_values.h"

enum { AR_NO_LINK = UINT16_MAX };

/** What the directed links are; racks' come behind those of all nodes. */
enum ar_link_kind { AR_KIND_NVLINK, AR_KIND_PORT, AR_KIND_PCIE, AR_KIND_HCA, AR_KIND_RACK };

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

/** A link that differs from the file. */
struct ar_link_change {
    uint32_t link;
    bool is_down;
    double factor;  /**< its bandwidth is divided by this; 1 if it is down */
    size_t setting; /**< of the cluster's settings of links, which says so */
};

/** The machine of a platform file, and what it has answered. */
struct ar_platform {
    const char *path;
    const char *const *hosts; /**< names by rank */
    uint32_t hosts_count;
    const struct ar_platform_link *links;
    uint32_t links_count;
    const struct ar_platform_source *source;
    void *routes; /**< a tree of tsearch() */
    const struct ar_known_rates *rates;
};

struct ar_cluster {
    struct ar_arena *arena; /**< of it and all that is in it */
    struct ar_topo_entries entries;
    struct ar_topo_values values;
    struct ar_cluster_facts facts;
    struct ar_node_links node;
    struct ar_gpu_orders orders;        /**< count 0: the plain zigzags */
    uint32_t racks_count;               /**< 0 if all nodes share one rack */
    uint32_t first_rack_link;           /**< up from rack r: + 2 r, down into it: + 2 r + 1 */
    double rates_Bps[AR_KIND_RACK + 1]; /**< by kind, of a link of weight 1, one direction */
    double latencies_s[AR_TIERS_COUNT];
    enum ar_tier port_tier; /**< tier of a path over GPU ports: NVLINK (switch) or PCIE */
    bool has_spare_ports;   /**< ports are numbered though all pairs have NVLinks: one is down */
    uint32_t changes_count; /**< 0: every link is as in the file */
    struct ar_link_change *changes; /**< in the order of their links */
    size_t settings_count;
    struct ar_cluster_parameter *settings; /**< of links, in the order of the command line */
    struct ar_platform *platform;          /**< NULL: the cluster is of a cluster file */
};

/** Fills in the facts from the values. */
void ar_cluster_fill_facts(struct ar_cluster *cluster);

/** Numbers all links, GPU ports among them if paths over PCIe or an NVLink switch need them or if
 * the cluster has spare ports; fails if there are more links than 31 bits can count. */
enum ar_status ar_cluster_number_links(struct ar_cluster *cluster, struct ar_error *err);

/** Takes the rates of links and the latencies of paths from the values. */
void ar_cluster_take_rates(struct ar_cluster *cluster);

/** The change of a link, or NULL if it is as in the file. */
const struct ar_link_change *ar_link_change_find(const struct ar_cluster *cluster, uint32_t link);
bool ar_link_is_down(const struct ar_cluster *cluster, uint32_t link);

/** The kind of a directed link of a cluster file. */
static inline enum ar_link_kind ar_link_kind(const struct ar_cluster *cluster, uint32_t link)
{
    return link >= cluster->first_rack_link
               ? AR_KIND_RACK
               : (enum ar_link_kind)cluster->node.list[link % cluster->node.count].kind;
}

/** The link that carries the messages of a link: itself; of an HCA the next one of the node that is
 * up in that direction; a link that is down if there is none. */
uint32_t ar_link_in_use(const struct ar_cluster *cluster, uint32_t link);

/** As ar_cluster_path(), but where there is no way links_count is 0 and near_links[0] is a link
 * that is down and has no substitute. */
struct ar_path ar_path_find(const struct ar_cluster *cluster, uint32_t source,
                            uint32_t destination);

/** The order of routes by source, then by destination; for qsort() and tsearch(). */
int ar_route_compare(const void *a, const void *b);

/** The known route of a pair, or NULL. */
const struct ar_platform_route *ar_route_find(const struct ar_platform *platform,
                                              struct ar_flow pair);

/** The orders of a node, a pure function of its NVLink pairs and HCAs; `count` is 0 if they are the
 * plain zigzags. */
enum ar_status ar_gpu_orders_find(const struct ar_topo_values *values, struct ar_gpu_orders *orders,
                                  struct ar_error *err);

/** Searches orders along NVLinks alone, by backtracking with a limited number of steps:
 *
 * - from the last GPU back to the first there is an NVLink, too, if such orders are found;
 * - begins and ends are spread evenly over the HCAs (ar_gpu_order.h);
 * - with 1 HCA or an even number of them, each odd order is the one before it backwards, if such
 *   orders are found;
 * - the largest load of an NVLink (orders over weight) is least for all orders together, then for
 * the first ones among such sets. Least as far as the search went: it gives up a bound after a
 * fixed number of steps.
 *
 * Their number is the least that could fill all NVLinks of a GPU and serve all HCAs evenly, 64 at
 * most; if these are not found, the least that serves the HCAs evenly. `count` is 0 if none are
 * found. */
enum ar_status ar_gpu_orders_search(const struct ar_topo_values *values,
                                    struct ar_gpu_orders *orders, struct ar_error *err);

#endif
