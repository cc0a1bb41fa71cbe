/** \file fabric.h
 * For the rooms of topologies/: the inside of a cluster.
 *
 * Values of a cluster file become numbered links of a node and of racks (cluster.c) and orders of
 * its GPUs (gpu_order.c, order_search.c). Links may then be changed (link_names.c finds them,
 * link_changes.c changes them). Paths (path.c, changed_path.c) read the result. The cluster of a
 * platform file (platform_cluster.c) has values from settings only, and none of a node's links.
 */
#ifndef AR_FABRIC_H
#define AR_FABRIC_H

#include <stdbool.h>

#include "ar_cluster.h"
#include "ar_gpu_order.h"
#include "topo_values.h"

struct ar_platform;

enum { AR_NO_LINK = UINT16_MAX };

/** Links of one node, numbered from 0; the two directions are neighbours: link and link + 1. */
struct ar_node_links {
    uint32_t count;
    uint16_t nvlink[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX]; /**< or AR_NO_LINK */
    uint16_t port[AR_TOPO_GPUS_MAX];       /**< out of GPU g (into it: + 1), or AR_NO_LINK */
    uint16_t uplink[AR_TOPO_GPUS_MAX];     /**< up from its PCIe switch (down: + 1), or none */
    uint16_t net_uplink[AR_TOPO_GPUS_MAX]; /**< the same, if it is on the way to the HCA; or none */
    uint16_t hca[AR_TOPO_GPUS_MAX];        /**< out of its HCA (into it: + 1), or none */
    uint16_t first_port, first_uplink, first_hca;
};

/** A link that differs from the file. */
struct ar_link_change {
    uint32_t link;
    bool is_down;
    double factor; /**< its bandwidth is divided by this; 1 if it is down */
};

struct ar_cluster {
    struct ar_arena arena; /**< of all that is in it but itself */
    struct ar_topo_entries entries;
    struct ar_topo_values values;
    struct ar_cluster_facts facts;
    struct ar_node_links node;
    struct ar_gpu_orders orders; /**< count 0: the plain zigzags */
    uint32_t racks_count;        /**< 0 if all nodes share one rack */
    uint32_t first_rack_link;    /**< up from rack r: + 2 r, down into it: + 2 r + 1 */
    double rack_uplink_Bps;      /**< all uplinks of a rack together, one direction */
    double port_Bps, uplink_Bps, hca_Bps;
    enum ar_tier port_tier; /**< tier of a path over GPU ports: NVLINK (switch) or PCIE */
    bool has_spare_ports;   /**< ports are numbered though all pairs have NVLinks: one is down */
    bool is_changed; /**< paths are not the file's: links are changed, or a platform has them */
    uint32_t changes_count;         /**< 0: every link is as in the file */
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

/** Takes the rates of links from the values. */
void ar_cluster_take_rates(struct ar_cluster *cluster);

/** The links that a name of a setting means, one or the two directions; on failure one line that
 * names the nearest link. */
enum ar_status ar_cluster_find_links(const struct ar_cluster *cluster,
                                     const struct ar_setting *setting, const char *name,
                                     uint32_t links[2], uint32_t *links_count,
                                     struct ar_error *err);

/** The change of a link, or NULL if it is as in the file. */
const struct ar_link_change *ar_link_change_find(const struct ar_cluster *cluster, uint32_t link);
bool ar_link_is_down(const struct ar_cluster *cluster, uint32_t link);

/** As ar_cluster_path(), but where there is no way links_count is 0 and near_links[0] is a link
 * that is down and has no substitute. */
struct ar_path ar_path_find(const struct ar_cluster *cluster, uint32_t source,
                            uint32_t destination);

/** The path over PCIe from GPU a to GPU b of the node whose links start at `first`. */
struct ar_path ar_path_over_ports(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                  uint32_t b);

/** Turns the path of the file between two ranks into that of the changed links, as ar_path_find().
 */
void ar_path_change(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                    struct ar_path *path);

/** The link that carries the messages of an HCA's link: itself, or the next one of the node that is
 * up in that direction; a link that is down if there is none. */
uint32_t ar_link_hca_in_use(const struct ar_cluster *cluster, uint32_t link);

#endif
