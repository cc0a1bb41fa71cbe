/** \file topo_values.h
 * For the rooms of topologies/: the keys of a cluster file and their values, first as texts
 * (entries), then parsed one by one, then checked against each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_topo.h"

enum {
    AR_TOPO_GPUS_MAX = 64,       /**< GPUs of a node */
    AR_TOPO_NODES_MAX = 1 << 20, /**< nodes of a cluster */
    AR_TOPO_LIST_MAX = 8         /**< items of a list */
};

#define AR_TOPO_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

enum ar_topo_kind {
    KIND_NAME, /**< AR_TOPO_NAME_LETTERS */
    KIND_TEXT,
    KIND_COUNT,
    KIND_RATE,
    KIND_SECONDS,
    KIND_COST,   /**< seconds per byte */
    KIND_ENERGY, /**< joules per byte */
    KIND_SIZE,
    KIND_COUNTS, /**< several, with blanks or `x` between: `24x23x24` */
    KIND_RATES,  /**< several, with blanks between */
    KIND_CHOICE, /**< one of a few words */
    KIND_ROUTES, /**< of `fabric.routes` */
    KIND_PAIRS   /**< of `nvlink.pairs` */
};

/** Words of `dragonfly.arrangement`. */
enum { AR_DRAGONFLY_PALMTREE, AR_DRAGONFLY_CONSECUTIVE };

/** Words of `hca.attached`. */
enum { AR_HCA_ON_HOST, AR_HCA_ON_SWITCH };

/** Words of `tree.rails`. */
enum ar_rails { AR_RAILS_NONE, AR_RAILS_NVLINK, AR_RAILS_SPINE };

/** Which cable of several a message takes: words of `fabric.routes`. */
enum ar_routes {
    AR_ROUTES_IDEAL, /**< all: they are one link of their sum */
    AR_ROUTES_DMODK, /**< by its destination */
    AR_ROUTES_HASH   /**< by a hash of source and destination, seeded: `hash:7` */
};

/** Fabrics: symbol, word of the key `fabric`, a line for people, keys. */
#define AR_FABRIC_LIST(X)                                                                          \
    X(AR_FABRIC_FAT_TREE, "fat-tree",                                                              \
      "racks (leaf switches), pods and more levels, oversubscribed or not; rails",                 \
      "rack.nodes rack.uplinks rack.uplink_bandwidth tree.groups tree.uplinks "                    \
      "tree.uplink_bandwidth tree.switches tree.rails fabric.sums")                                \
    X(AR_FABRIC_TORUS, "torus", "routers in a grid of 1 to 6 dimensions, each closed to rings",    \
      "torus.lengths torus.wraps torus.link_bandwidth torus.links_at_once router.nodes "           \
      "switch.latency")                                                                            \
    X(AR_FABRIC_MESH, "mesh", "the same with open ends", "as torus")                               \
    X(AR_FABRIC_DRAGONFLY, "dragonfly", "groups of routers that are all joined, as groups are",    \
      "dragonfly.groups dragonfly.routers dragonfly.local_bandwidth dragonfly.global_links "       \
      "dragonfly.global_bandwidth dragonfly.arrangement router.nodes switch.latency")              \
    X(AR_FABRIC_DRAGONFLY_PLUS, "dragonfly+", "groups of leaves and spines, joined by the spines", \
      "as dragonfly, and dragonfly.spines")

enum ar_fabric_kind { AR_FABRIC_LIST(AR_LIST_FIRST) AR_FABRICS_COUNT };

/** When a key must be given, a count above zero (topo_values.c). */
enum ar_topo_need {
    NEED_NEVER,
    NEED_ALWAYS,
    NEED_NVLINK,
    NEED_PCIE, /**< some pair of GPUs has no NVLink */
    NEED_SWITCHES,
    NEED_NODES, /**< several */
    NEED_HCAS,
    NEED_HCA_RATE,
    NEED_RACKS, /**< several, or rails */
    NEED_TORUS,
    NEED_DRAGONFLY,
    NEED_SPINES,
    NEED_GROUPS /**< several, of a dragonfly */
};

/** Symbol, key, kind of its value, when it must be given, least and largest count. */
#define AR_TOPO_KEY_LIST(X)                                                                        \
    X(TOPO_NAME, "name", KIND_NAME, NEED_ALWAYS, 0, 0)                                             \
    X(TOPO_DESCRIPTION, "description", KIND_TEXT, NEED_NEVER, 0, 0)                                \
    X(TOPO_NODES, "nodes", KIND_COUNT, NEED_ALWAYS, 1, AR_TOPO_NODES_MAX)                          \
    X(TOPO_GPUS, "gpus_per_node", KIND_COUNT, NEED_ALWAYS, 1, AR_TOPO_GPUS_MAX)                    \
    X(TOPO_GPU_MODEL, "gpu.model", KIND_TEXT, NEED_NEVER, 0, 0)                                    \
    X(TOPO_GPU_GENERATION, "gpu.generation", KIND_CHOICE, NEED_NEVER, 0, 0)                        \
    X(TOPO_CPU_VENDOR, "cpu.vendor", KIND_CHOICE, NEED_NEVER, 0, 0)                                \
    X(TOPO_CPU_LINK, "cpu.link_bandwidth", KIND_RATE, NEED_NEVER, 0, 0)                            \
    X(TOPO_CPU_OPTIMIZER, "cpu.optimizer_bandwidth", KIND_RATE, NEED_NEVER, 0, 0)                  \
    X(TOPO_GPU_COST_TABLE, "gpu.cost_table", KIND_TEXT, NEED_NEVER, 0, 0)                          \
    X(TOPO_GPU_MEMORY, "gpu.memory", KIND_SIZE, NEED_NEVER, 0, 0)                                  \
    X(TOPO_GPU_REDUCE_COST, "gpu.reduce_cost", KIND_COST, NEED_NEVER, 0, 0)                        \
    X(TOPO_GPU_COPY_COST, "gpu.copy_cost", KIND_COST, NEED_NEVER, 0, 0)                            \
    X(TOPO_GPU_REDUCE_COST_LARGE, "gpu.reduce_cost_large", KIND_COST, NEED_NEVER, 0, 0)            \
    X(TOPO_GPU_FRESH_COST, "gpu.fresh_cost", KIND_COST, NEED_NEVER, 0, 0)                          \
    X(TOPO_COLLECTIVE_SETUP, "collective.setup", KIND_SECONDS, NEED_NEVER, 0, 0)                   \
    X(TOPO_NVLINK_PAIRS, "nvlink.pairs", KIND_PAIRS, NEED_NEVER, 0, 0)                             \
    X(TOPO_NVLINK_BANDWIDTH, "nvlink.bandwidth", KIND_RATE, NEED_NVLINK, 0, 0)                     \
    X(TOPO_NVLINK_LATENCY, "nvlink.latency", KIND_SECONDS, NEED_NVLINK, 0, 0)                      \
    X(TOPO_NVLINK_DOMAIN, "nvlink.domain_nodes", KIND_COUNT, NEED_NEVER, 1, AR_TOPO_NODES_MAX)     \
    X(TOPO_NVLINK_SUMS, "nvlink.sums", KIND_CHOICE, NEED_NEVER, 0, 0)                              \
    X(TOPO_PCIE_SWITCHES, "pcie.switches", KIND_COUNT, NEED_PCIE, 0, AR_TOPO_GPUS_MAX)             \
    X(TOPO_PCIE_BANDWIDTH, "pcie.bandwidth", KIND_RATE, NEED_SWITCHES, 0, 0)                       \
    X(TOPO_PCIE_LATENCY, "pcie.latency", KIND_SECONDS, NEED_PCIE, 0, 0)                            \
    X(TOPO_HCAS, "hcas", KIND_COUNT, NEED_NODES, 0, AR_TOPO_GPUS_MAX)                              \
    X(TOPO_HCA_BANDWIDTH, "hca.bandwidth", KIND_RATE, NEED_HCA_RATE, 0, 0)                         \
    X(TOPO_HCA_KIND, "hca.kind", KIND_CHOICE, NEED_NEVER, 0, 0)                                    \
    X(TOPO_HCA_ATTACHED, "hca.attached", KIND_CHOICE, NEED_NEVER, 0, 0)                            \
    X(TOPO_NET_LATENCY, "net.latency", KIND_SECONDS, NEED_HCAS, 0, 0)                              \
    X(TOPO_BOARD_ENERGY, "board.energy", KIND_ENERGY, NEED_NEVER, 0, 0)                            \
    X(TOPO_NET_ENERGY, "net.energy", KIND_ENERGY, NEED_NEVER, 0, 0)                                \
    X(TOPO_NET_MESSAGE_GAP, "net.message_gap", KIND_SECONDS, NEED_NEVER, 0, 0)                     \
    X(TOPO_NET_LATENCY_1K, "net.latency_1KiB", KIND_SECONDS, NEED_NEVER, 0, 0)                     \
    X(TOPO_NET_LATENCY_8K, "net.latency_8KiB", KIND_SECONDS, NEED_NEVER, 0, 0)                     \
    X(TOPO_NET_LATENCY_64K, "net.latency_64KiB", KIND_SECONDS, NEED_NEVER, 0, 0)                   \
    X(TOPO_NET_LATENCY_512K, "net.latency_512KiB", KIND_SECONDS, NEED_NEVER, 0, 0)                 \
    X(TOPO_FABRIC, "fabric", KIND_CHOICE, NEED_NEVER, 0, 0)                                        \
    X(TOPO_FABRIC_SUMS, "fabric.sums", KIND_CHOICE, NEED_NEVER, 0, 0)                              \
    X(TOPO_FABRIC_ROUTES, "fabric.routes", KIND_ROUTES, NEED_NEVER, 0, 0)                          \
    X(TOPO_RACK_NODES, "rack.nodes", KIND_COUNT, NEED_NEVER, 0, AR_TOPO_NODES_MAX)                 \
    X(TOPO_RACK_UPLINKS, "rack.uplinks", KIND_COUNT, NEED_RACKS, 0, 1000000)                       \
    X(TOPO_RACK_UPLINK_BANDWIDTH, "rack.uplink_bandwidth", KIND_RATE, NEED_RACKS, 0, 0)            \
    X(TOPO_TREE_GROUPS, "tree.groups", KIND_COUNTS, NEED_NEVER, 1, AR_TOPO_NODES_MAX)              \
    X(TOPO_TREE_SWITCHES, "tree.switches", KIND_COUNTS, NEED_NEVER, 1, 1000000)                    \
    X(TOPO_TREE_RAILS, "tree.rails", KIND_CHOICE, NEED_NEVER, 0, 0)                                \
    X(TOPO_TREE_UPLINKS, "tree.uplinks", KIND_COUNTS, NEED_NEVER, 1, 1000000)                      \
    X(TOPO_TREE_UPLINK_BANDWIDTH, "tree.uplink_bandwidth", KIND_RATES, NEED_NEVER, 0, 0)           \
    X(TOPO_ROUTER_NODES, "router.nodes", KIND_COUNT, NEED_NEVER, 1, AR_TOPO_NODES_MAX)             \
    X(TOPO_SWITCH_LATENCY, "switch.latency", KIND_SECONDS, NEED_NEVER, 0, 0)                       \
    X(TOPO_TORUS_LENGTHS, "torus.lengths", KIND_COUNTS, NEED_TORUS, 1, AR_TOPO_NODES_MAX)          \
    X(TOPO_TORUS_WRAPS, "torus.wraps", KIND_COUNTS, NEED_NEVER, 0, 1)                              \
    X(TOPO_TORUS_LINK_BANDWIDTH, "torus.link_bandwidth", KIND_RATE, NEED_TORUS, 0, 0)              \
    X(TOPO_TORUS_LINKS_AT_ONCE, "torus.links_at_once", KIND_COUNT, NEED_NEVER, 1, 1000)            \
    X(TOPO_DRAGONFLY_GROUPS, "dragonfly.groups", KIND_COUNT, NEED_DRAGONFLY, 1, AR_TOPO_NODES_MAX) \
    X(TOPO_DRAGONFLY_ROUTERS, "dragonfly.routers", KIND_COUNT, NEED_DRAGONFLY, 1,                  \
      AR_TOPO_NODES_MAX)                                                                           \
    X(TOPO_DRAGONFLY_SPINES, "dragonfly.spines", KIND_COUNT, NEED_SPINES, 1, AR_TOPO_NODES_MAX)    \
    X(TOPO_DRAGONFLY_LOCAL_BANDWIDTH, "dragonfly.local_bandwidth", KIND_RATE, NEED_DRAGONFLY, 0,   \
      0)                                                                                           \
    X(TOPO_DRAGONFLY_GLOBAL_LINKS, "dragonfly.global_links", KIND_COUNT, NEED_GROUPS, 1, 1000000)  \
    X(TOPO_DRAGONFLY_GLOBAL_BANDWIDTH, "dragonfly.global_bandwidth", KIND_RATE, NEED_GROUPS, 0, 0) \
    X(TOPO_DRAGONFLY_ARRANGEMENT, "dragonfly.arrangement", KIND_CHOICE, NEED_NEVER, 0, 0)          \
    X(TOPO_LINKS_FITTED, "links.fitted", KIND_TEXT, NEED_NEVER, 0, 0)                              \
    X(TOPO_LIBRARY_RELEASE, "library.release", KIND_NAME, NEED_NEVER, 0, 0)                        \
    X(TOPO_LIBRARY_CHANNELS, "library.channels", KIND_COUNT, NEED_NEVER, 1, 1024)                  \
    X(TOPO_LIBRARY_COLLNET, "library.collnet", KIND_CHOICE, NEED_NEVER, 0, 0)                      \
    X(TOPO_LIBRARY_NODE_BUS, "library.node_bus", KIND_RATE, NEED_NEVER, 0, 0)                      \
    X(TOPO_LIBRARY_NET_BUS, "library.net_bus", KIND_RATE, NEED_NEVER, 0, 0)                        \
    X(TOPO_LIBRARY_NET_LATENCY, "library.net_latency", KIND_SECONDS, NEED_NEVER, 0, 0)             \
    X(TOPO_LIBRARY_COST_TABLE, "library.cost_table", KIND_TEXT, NEED_NEVER, 0, 0)

enum ar_topo_key { AR_TOPO_KEY_LIST(AR_LIST_FIRST) AR_TOPO_KEYS_COUNT };

struct ar_topo_key_row {
    const char *name;
    enum ar_topo_kind kind;
    enum ar_topo_need need;
    uint32_t min, max; /**< of a count, of each of several */
};

extern const struct ar_topo_key_row ar_topo_keys[AR_TOPO_KEYS_COUNT];

enum {
    AR_TOPO_TEXT_MAX = 200, /**< characters of a value; a list of pairs may be longer */
    AR_TOPO_LINE_MAX = 4000 /**< characters of a line or a setting */
};

/** One value as written; the texts are borrowed from a file, a setting or an arena. */
struct ar_topo_entry {
    enum ar_topo_key key;
    const char *text;
    const char *source;    /**< where the number is from; of a setting, where the setting stood */
    const char *where;     /**< begins error lines: `x.topo:3: key "hcas"`, `--set: key "hcas"` */
    enum ar_status status; /**< of errors of its value */
};

/** The values of a cluster: those of a file in its order, settings applied. */
struct ar_topo_entries {
    const char *path; /**< file name for messages, shortened at its start if long */
    size_t count;
    struct ar_topo_entry list[AR_TOPO_KEYS_COUNT];
};

/** A path for messages, where the end of a long one tells more than its start. */
const char *ar_topo_shown_path(const char *path, struct ar_arena *arena);

/** Takes the entries of a file. */
void ar_topo_take(const struct ar_topo *topo, struct ar_topo_entries *entries);

/** Applies settings, the last one of a key wins. Set `torus.lengths` have the default wraps, not
 * those of the file, unless `torus.wraps` is set, too. */
enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err);

/** Adds an entry, or replaces that of its key. */
void ar_topo_entries_store(struct ar_topo_entry entry, struct ar_topo_entries *entries);

/** The entry of a key, or NULL. */
const struct ar_topo_entry *ar_topo_entries_find(const struct ar_topo_entries *entries,
                                                 enum ar_topo_key key);

/** Reads `key = value` into an entry whose `where` says where it stood; cuts the text in place. */
enum ar_status ar_topo_read_assignment(char *assignment, struct ar_arena *arena,
                                       struct ar_topo_entry *entry, struct ar_error *err);

/** Refuses bytes that do not belong into text; those of UTF-8 are allowed where `is_prose`. */
enum ar_status ar_topo_check_text(const char *where, const char *text, bool is_prose,
                                  struct ar_error *err);

/** Reports that the value of a key contradicts others, or is missing; returns its status. */
enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              struct ar_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define AR_TOPO_REFUSE(found, ...) AR_REFUSE_BY(found, ar_topo_refuse(__VA_ARGS__))

/** The parsed values; a key that was not given has the default of its field. */
struct ar_topo_values {
    bool is_given[AR_TOPO_KEYS_COUNT];
    /** SI value of a rate, time, cost or size, seed of routes; default 0. */
    double number[AR_TOPO_KEYS_COUNT];
    /** Value of a count, items of a list, number of a choice's or routes' word; default 0. */
    uint32_t count[AR_TOPO_KEYS_COUNT];
    double list[AR_TOPO_KEYS_COUNT][AR_TOPO_LIST_MAX]; /**< items of a list: counts or rates */
    bool is_switched;                                  /**< `nvlink.pairs = switch` */
    bool has_nvlink; /**< some pair of GPUs of a node has an NVLink or a switch */
    bool needs_pcie; /**< some pair has none */
    /** NVLink weight of each directed pair, 0: none. */
    uint8_t weight[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
};

/** Parses the texts of all entries. `values` must be all zeros. Without `nodes` a torus, mesh or
 * dragonfly has as many as its routers hold. */
enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err);

/** Checks the values of a cluster file against each other; some keys must be there, and all that
 * are missing are named in one line. */
enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err);
