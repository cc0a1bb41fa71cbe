/** \file topo.h
 * Private to this folder: the inside of a cluster.
 *
 * Loading has five stages, one source file each: lines of the file and settings become entries
 * (topo_file.c), texts of entries become values (topo_keys.c, topo_pairs.c), values are checked
 * against each other (topo_check.c), the links of a node are numbered (cluster.c), and the walks
 * through it are found (walks.c, walks_search.c). Links may then be changed (link_names.c finds
 * them, link_changes.c changes them). Paths (path.c, changed_path.c) and the SimGrid platform
 * (simgrid_xml.c) read the result. A cluster of a platform file (platform_cluster.c) has entries
 * from settings only, and none of a node's links.
 */
#ifndef AR_TOPO_H
#define AR_TOPO_H

#include <stdbool.h>

#include "ar_cluster.h"
#include "ar_walks.h"

struct ar_platform;

enum {
    AR_TOPO_GPUS_MAX = 64,       /**< GPUs of a node */
    AR_TOPO_NODES_MAX = 1 << 20, /**< nodes of a cluster */
    AR_TOPO_PATH_SIZE = 200,     /**< of the file name in messages */
    AR_TOPO_WHERE_SIZE = 320,    /**< of the beginning of a message */
    AR_TOPO_TEXT_MAX = 200       /**< characters of a value; a list of pairs may be longer */
};

/** The keys of a cluster file: symbol, key, kind of its value. */
#define AR_TOPO_KEY_LIST(X)                                                                        \
    X(TOPO_NAME, "name", KIND_NAME)                                                                \
    X(TOPO_DESCRIPTION, "description", KIND_TEXT)                                                  \
    X(TOPO_NODES, "nodes", KIND_COUNT)                                                             \
    X(TOPO_GPUS, "gpus_per_node", KIND_COUNT)                                                      \
    X(TOPO_GPU_MODEL, "gpu.model", KIND_TEXT)                                                      \
    X(TOPO_GPU_COST_TABLE, "gpu.cost_table", KIND_NAME)                                            \
    X(TOPO_GPU_REDUCE_COST, "gpu.reduce_cost", KIND_COST)                                          \
    X(TOPO_COLLECTIVE_SETUP, "collective.setup", KIND_SECONDS)                                     \
    X(TOPO_NVLINK_PAIRS, "nvlink.pairs", KIND_PAIRS)                                               \
    X(TOPO_NVLINK_BANDWIDTH, "nvlink.bandwidth", KIND_RATE)                                        \
    X(TOPO_NVLINK_LATENCY, "nvlink.latency", KIND_SECONDS)                                         \
    X(TOPO_PCIE_SWITCHES, "pcie.switches", KIND_COUNT)                                             \
    X(TOPO_PCIE_BANDWIDTH, "pcie.bandwidth", KIND_RATE)                                            \
    X(TOPO_PCIE_LATENCY, "pcie.latency", KIND_SECONDS)                                             \
    X(TOPO_HCAS, "hcas", KIND_COUNT)                                                               \
    X(TOPO_HCA_BANDWIDTH, "hca.bandwidth", KIND_RATE)                                              \
    X(TOPO_HCA_ATTACHED, "hca.attached", KIND_ATTACHED)                                            \
    X(TOPO_NET_LATENCY, "net.latency", KIND_SECONDS)                                               \
    X(TOPO_RACK_NODES, "rack.nodes", KIND_COUNT)                                                   \
    X(TOPO_RACK_UPLINKS, "rack.uplinks", KIND_COUNT)                                               \
    X(TOPO_RACK_UPLINK_BANDWIDTH, "rack.uplink_bandwidth", KIND_RATE)                              \
    X(TOPO_LINKS_FITTED, "links.fitted", KIND_TEXT)                                                \
    X(TOPO_LIBRARY_RELEASE, "library.release", KIND_NAME)                                          \
    X(TOPO_LIBRARY_CHANNELS, "library.channels", KIND_COUNT)                                       \
    X(TOPO_LIBRARY_NODE_BUS, "library.node_bus", KIND_RATE)                                        \
    X(TOPO_LIBRARY_NET_BUS, "library.net_bus", KIND_RATE)                                          \
    X(TOPO_LIBRARY_COST_TABLE, "library.cost_table", KIND_NAME)

enum ar_topo_key {
#define X(symbol, name, kind) symbol,
    AR_TOPO_KEY_LIST(X)
#undef X
        AR_TOPO_KEYS_COUNT
};

/** One value as written. */
struct ar_topo_entry {
    enum ar_topo_key key;
    uint32_t line; /**< in the file; 0 if it came from a setting */
    char *text;    /**< owned */
    char *source;  /**< owned */
};

/** A cluster file as read, settings applied. */
struct ar_topo {
    char path[AR_TOPO_PATH_SIZE]; /**< file name for messages, shortened at its start if long */
    size_t entries_count;
    struct ar_topo_entry entries[AR_TOPO_KEYS_COUNT]; /**< in the order of the file */
};

/** The parsed values; a key that was not given has the default of its field. */
struct ar_topo_values {
    bool is_given[AR_TOPO_KEYS_COUNT];
    double number[AR_TOPO_KEYS_COUNT];  /**< SI value of a rate, time or cost; default 0 */
    uint32_t count[AR_TOPO_KEYS_COUNT]; /**< value of a count; default 0 */
    bool is_switched;                   /**< `nvlink.pairs = switch` */
    bool has_hcas_on_switches;          /**< `hca.attached = switch` */
    /** NVLink weight of each directed pair, 0: none. */
    uint8_t weight[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
};

enum { AR_TOPO_NO_LINK = UINT16_MAX };

/** Links of one node, numbered from 0; the two directions are neighbours: link and link + 1. */
struct ar_node_links {
    uint32_t count;
    uint16_t nvlink[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX]; /**< or AR_TOPO_NO_LINK */
    uint16_t port[AR_TOPO_GPUS_MAX];       /**< out of GPU g (into it: + 1), or AR_TOPO_NO_LINK */
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

/** A setting of links as written. */
struct ar_change_text {
    bool is_down; /**< `--down-link`, else `--slow-link` */
    char *text;   /**< owned */
};

struct ar_cluster {
    struct ar_topo topo;
    struct ar_topo_values values;
    struct ar_cluster_facts facts;
    struct ar_node_links node;
    struct ar_walks walks;    /**< count 0: the plain zigzags */
    uint32_t racks_count;     /**< 0 if all nodes share one rack */
    uint32_t first_rack_link; /**< up from rack r: + 2 r, down into it: + 2 r + 1 */
    double rack_uplink_Bps;   /**< all uplinks of a rack together, one direction */
    double port_Bps, uplink_Bps, hca_Bps;
    enum ar_tier port_tier; /**< tier of a path over GPU ports: NVLINK (switch) or PCIE */
    bool has_spare_ports;   /**< ports are numbered though all pairs have NVLinks: one is down */
    bool is_changed; /**< paths are not those of the file: links are changed, or a platform has them
                      */
    uint32_t changes_count;         /**< 0: every link is as in the file */
    struct ar_link_change *changes; /**< in the order of their links; owned */
    size_t change_texts_count;
    struct ar_change_text *change_texts; /**< in the order of the command line; owned */
    struct ar_platform *platform;        /**< NULL: the cluster is of a cluster file; owned */
};

/** Reads the file and applies the settings; on failure the topo is empty. */
enum ar_status ar_topo_read(const char *path, const char *const *settings, size_t settings_count,
                            struct ar_topo *topo, struct ar_error *err);
void ar_topo_free(struct ar_topo *topo);

/** Applies settings, the last one of a key wins. */
enum ar_status ar_topo_apply(struct ar_topo *topo, const char *const *settings,
                             size_t settings_count, struct ar_error *err);

/** Adds an entry, or replaces it if its key is there; `line` is 0 for a setting. */
enum ar_status ar_topo_store(struct ar_topo *topo, enum ar_topo_key key, uint32_t line,
                             const char *text, const char *source, struct ar_error *err);

/** The entry of a key, or NULL. */
const struct ar_topo_entry *ar_topo_find(const struct ar_topo *topo, enum ar_topo_key key);

/** Writes the beginning of a message on an entry (`x.topo:3: key "hcas"`, `--set: key "hcas"`). */
const char *ar_topo_where(const struct ar_topo *topo, const struct ar_topo_entry *entry,
                          char where[AR_TOPO_WHERE_SIZE]);

/** Name of a key in the file. */
const char *ar_topo_key_name(enum ar_topo_key key);

/** Finds a key by name; on failure one line that names the nearest known key. */
enum ar_status ar_topo_key_find(const char *where, const char *name, enum ar_topo_key *key,
                                struct ar_error *err);

/** Parses the texts of entries, but for pairs. */
enum ar_status ar_topo_parse_entries(const struct ar_topo *topo, struct ar_topo_values *values,
                                     struct ar_error *err);

/** Parses all texts of a cluster file; some keys must be there. */
enum ar_status ar_topo_parse(const struct ar_topo *topo, struct ar_topo_values *values,
                             struct ar_error *err);

/** Parses the text of `nvlink.pairs` for nodes of `gpus_count` GPUs. */
enum ar_status ar_topo_parse_pairs(const char *where, const char *text, uint32_t gpus_count,
                                   struct ar_topo_values *values, struct ar_error *err);

/** Is there a pair of GPUs of a node without an NVLink path? */
bool ar_topo_needs_pcie(const struct ar_topo_values *values);

/** Reports that the value of a key contradicts others; returns AR_USAGE for a setting, else
 * AR_BAD_DATA. A key that is not given is reported as missing. */
enum ar_status ar_topo_refuse(const struct ar_topo *topo, enum ar_topo_key key,
                              const char *expected, struct ar_error *err);

/** Checks the values against each other. */
enum ar_status ar_topo_check(const struct ar_topo *topo, const struct ar_topo_values *values,
                             struct ar_error *err);

/** Fills in the facts from the values. */
void ar_topo_fill_facts(struct ar_cluster *cluster);

/** Numbers all links, GPU ports among them if paths over PCIe or an NVLink switch need them or if
 * the cluster has spare ports; fails if there are more links than 31 bits can count. */
enum ar_status ar_topo_number_links(struct ar_cluster *cluster, struct ar_error *err);

/** The links that a name means, one or the two directions; on failure one line that begins with
 * `where` and names the nearest link. */
enum ar_status ar_topo_find_links(const struct ar_cluster *cluster, const char *where,
                                  const char *name, uint32_t links[2], uint32_t *links_count,
                                  struct ar_error *err);

/** The change of a link, or NULL if it is as in the file. */
const struct ar_link_change *ar_topo_link_change(const struct ar_cluster *cluster, uint32_t link);
bool ar_topo_is_down(const struct ar_cluster *cluster, uint32_t link);

/** As ar_cluster_path(), but where there is no way links_count is 0 and near_links[0] is a link
 * that is down and has no substitute. */
struct ar_path ar_topo_path(const struct ar_cluster *cluster, uint32_t source,
                            uint32_t destination);

/** The path over PCIe from GPU a to GPU b of the node whose links start at `first`. */
struct ar_path ar_topo_port_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                 uint32_t b);

/** Turns the path of the file between two ranks into that of the changed links, as ar_topo_path().
 */
void ar_topo_change_path(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                         struct ar_path *path);

/** The link that carries the messages of an HCA's link: itself, or the next one of the node that is
 * up in that direction; a link that is down if there is none. */
uint32_t ar_topo_hca_in_use(const struct ar_cluster *cluster, uint32_t link);

#endif
