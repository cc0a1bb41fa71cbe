/** \file ar_cluster.h
 * A cluster: the physical machine that ranks run on, each value with its source.
 *
 * A GPU (rank) sits in a node; a node has PCIe switches, each with one uplink to the host, and
 * HCAs. A fabric joins the HCAs of all nodes: nodes sit in racks, racks in pods and so on, and the
 * topmost of them hang on a spine (key `fabric` has others). GPUs of a node are joined by NVLink
 * where a link exists, else by PCIe. Every link is full duplex: its two directions are two links of
 * their own. A non-blocking switch (inside a rack, in the spine, NVSwitch) is left out.
 *
 * Ranks fill nodes in order: rank r is GPU r % gpus_per_node of node r / gpus_per_node. GPU g of a
 * node hangs on PCIe switch g * switches / gpus_per_node and uses HCA g * hcas / gpus_per_node.
 *
 * A message from one GPU to another takes a path: a list of directed links, a latency and a tier.
 * It occupies each link of the path at bytes / bandwidth; links are shared max-min fairly among the
 * messages on them. In the order of the path, the links are
 *
 *     nvlink  the NVLink of the pair; with an NVLink switch, port of a, port of b, which may be in
 *             different nodes of an NVLink domain
 *     pcie    port of a, [PCIe switch of a up, PCIe switch of b down], port of b
 *     rack    PCIe switch up, HCA out, HCA in, PCIe switch down
 *     spine   PCIe switch up, HCA out, rack up, [pod up, ... pod down,] rack down, HCA in, PCIe
 *             switch down
 *
 * where the parts in brackets are absent on one switch and within a pod, and PCIe switches are if
 * the cluster has none. On rack and spine paths they are absent, too, if the HCAs hang on the
 * switches (key `hca.attached`): the message then never goes up to the host. With rails
 * (`tree.rails = nvlink`) a rack or spine path may begin with an nvlink path to another GPU of the
 * node. With `fabric.routes` other than `ideal`, up and down are single cables.
 *
 * On a torus, a mesh or a dragonfly the links between routers are in place of those of racks and
 * pods: rack is the tier of messages that stay at one router, spine that of the others.
 *
 * The latency is a property of the tier, and rack and spine have the same one; between routers each
 * link may add some (`switch.latency`).
 *
 * The file format is described in topologies/README.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"
#include "ar_gpu_generation.h"
#include "ar_message_cost.h"
#include "ar_topo.h"

struct ar_cluster;
struct ar_gpu_orders;

/** A word of the key `fabric`, a line for people, and the keys that go with it. */
struct ar_fabric_text {
    const char *word, *title, *keys;
};

extern const struct ar_fabric_text ar_fabric_texts[];
extern const size_t ar_fabric_texts_count;

/** One value of the cluster file as the user sees it. */
struct ar_cluster_parameter {
    const char *key;    /**< `hca.bandwidth` */
    const char *text;   /**< `10.227GB/s`, as written */
    const char *source; /**< where it was read; "" if the file does not say */
};

/** Numbers that the models need besides paths. */
struct ar_cluster_facts {
    const char *name;        /**< `abci-v100` */
    const char *description; /**< one line */
    uint32_t nodes_count;    /**< nodes that exist */
    uint32_t gpus_per_node;
    uint32_t hcas_per_node;         /**< 0 on a cluster of one node */
    double reduce_s_per_byte;       /**< gamma: summing one byte of two buffers on a GPU */
    double reduce_large_s_per_byte; /**< what large buffers add: ar_cluster_reduce_cost() */
    double fresh_s_per_byte; /**< memory that a collective takes anew: ar_collective_setup_s() */
    double copy_s_per_byte;  /**< moving a byte within a GPU: ar_phase.moves */
    struct ar_message_cost message; /**< of a message besides its path */
    double collective_setup_s;      /**< constant cost of starting one collective */
    /** Name of the device cost table of its GPU (`v100-sxm2`), "" if the file names none. */
    const char *device_cost;
    double gpu_memory_bytes; /**< 0 if the file does not say */
    double board_j_per_byte; /**< energy of each link of a node, NVLink or PCIe; 0: not known */
    double net_j_per_byte;   /**< energy from HCA to HCA, with all switches between; 0: not known */
    /** Rate of each GPU from or to the memory of its CPU while all GPUs do so. Where the file has
     * no such rate it is the GPU's part of the uplink of its PCIe switch; 0: it has neither. */
    double cpu_link_Bps;
    /** Rate at which all CPUs of a node read and write memory in an optimizer; 0: not said. */
    double cpu_optimizer_Bps;
    /** Rows that latencies and bandwidths were fitted to (`gpus 2 3`, `nodes 1 2`); "": none. */
    const char *links_fitted;
    bool has_nvlink;                       /**< some pair of GPUs of a node has */
    bool has_nvswitch;                     /**< all pairs have, by a switch */
    uint32_t nvlink_domain_nodes;          /**< whose GPUs NVLink switches join; at least 1 */
    bool has_nvlink_sums, has_fabric_sums; /**< the switches sum: of NVLinks; of the network */
    bool are_nvlink_sums_given;            /**< the file says so, or not */
    bool has_hcas_on_switches;             /**< HCAs hang on the PCIe switches of their GPUs */
    /** Generation of the GPUs and vendor of the CPUs; the first of each if the file says none. */
    enum ar_gpu_generation gpu_generation;
    enum ar_cpu_vendor cpu_vendor;
    enum ar_hca_kind hca_kind;               /**< infiniband, if the file says nothing */
    bool has_gpu_generation, has_cpu_vendor; /**< the file says so */
    /** Release of the communication library (`2.8.4`), "" if the file does not say. */
    const char *library_release;
    uint32_t library_channels; /**< its rings; 0 if the file does not say */
    bool has_library_collnet;  /**< it has a plug-in by which switches sum (SHARP) */
    /** Bandwidth of the rings that a communication library finds in a node and across the network,
     * by its own account; 0 if the file does not say. */
    double library_node_bus_Bps, library_net_bus_Bps;
    /** Latency that its network plug-in states, which the library adds to its own; 0: nothing. */
    double library_net_latency_s;
    /** Name of the fitted cost table of that library (`abci-v100-nccl2.8`), "" if there is none. */
    const char *library_cost;
};

enum { AR_PATH_LINKS_MAX = 192 };

/** A path. It is large: functions fill in the caller's, nobody copies one. */
struct ar_path {
    enum ar_tier tier;
    double latency_s;     /**< that of its tier (ar_message_cost.h), and */
    double switches_s;    /**< what the switches on it add */
    double bandwidth_Bps; /**< of its narrowest link */
    uint32_t links_count;
    uint32_t climbs; /**< the first links, up to the switch in the middle of the path */
    uint32_t
        links[AR_PATH_LINKS_MAX]; /**< 0..ar_cluster_links_count()-1; links_count of them are set */
};

/** Makes the cluster of a cluster file in an arena, without touching the disk; the file and the
 * settings are borrowed. `settings` override values of the file (`hca.bandwidth=12.5GB/s`), the
 * last one of a key wins. Values are checked against each other after the settings. A wrong setting
 * is reported where it stood and with its status, a wrong file is AR_BAD_DATA; all keys that are
 * missing are named in one line. */
enum ar_status ar_cluster_create(const struct ar_topo *topo, struct ar_settings settings,
                                 struct ar_arena *arena, struct ar_cluster **cluster,
                                 struct ar_error *err);

/** ar_topo_load() and ar_cluster_create() of one file that is used once. */
enum ar_status ar_cluster_load(const char *path, struct ar_settings settings,
                               struct ar_arena *arena, struct ar_cluster **cluster,
                               struct ar_error *err);

/** Makes links slow by one setting or more, at most once and before the first use of the cluster;
 * paths, bandwidths and the SimGrid platform follow. A setting is `LINK:FACTOR`: the bandwidth of
 * LINK is divided by FACTOR. LINK is a name as ar_cluster_link_name() gives it (`node-3.hca-0.out`)
 * or how names begin, up to a dot: `node-3.hca-0` is both directions, `rack-2` all cables of a
 * rack. The two directions of an NVLink are two names, `node-0.nvlink-0-1` and `node-0.nvlink-1-0`.
 * The settings become parameters of the cluster (`slow-link`). Errors are as of other settings. */
enum ar_status ar_cluster_slow_links(struct ar_cluster *cluster, struct ar_settings settings,
                                     struct ar_error *err);

/** Takes HCAs (`node-3.hca-0`), one or more, out, once and before the first use of the cluster,
 * after ar_cluster_slow_links(): their messages take the next HCA of the node that is up. The
 * settings become parameters of the cluster (`down-link`), numbered behind the slow ones. Errors as
 * there; also a node without an HCA that is up. */
enum ar_status ar_cluster_down_links(struct ar_cluster *cluster, struct ar_settings settings,
                                     struct ar_error *err);

/** The setting of slow links number `index` if its links are those of nodes beyond the first
 * `ranks` GPUs, or HCAs or others of a network that they do not need; else NULL. */
const struct ar_cluster_parameter *ar_cluster_idle_link(const struct ar_cluster *cluster,
                                                        size_t index, uint32_t ranks);

/** The routes of the cluster (`hash:1`) if they are not ideal, though messages among the first
 * `ranks` GPUs cross no link of the fabric; else NULL. */
const char *ar_cluster_idle_routes(const struct ar_cluster *cluster, uint32_t ranks);

const struct ar_cluster_facts *ar_cluster_facts(const struct ar_cluster *cluster);

/** Buffers of more than this are large: glibc's malloc gives memory of this size back to the
 * kernel, so that each collective finds fresh pages (DEFAULT_MMAP_THRESHOLD_MAX, mallopt(3)). */
#define AR_LARGE_BUFFER_BYTES 33554432.0

/** Seconds for each byte that is summed up in a collective on a buffer of `bytes`. */
double ar_cluster_reduce_cost(const struct ar_cluster *cluster, double bytes);

/** The values of the file in its order, settings applied (their source is where they stood), then
 * the slow links. */
size_t ar_cluster_parameters_count(const struct ar_cluster *cluster);
struct ar_cluster_parameter ar_cluster_parameter(const struct ar_cluster *cluster, size_t index);

enum ar_link_cost_unit { AR_LINK_SECONDS, AR_LINK_RATE, AR_LINK_SECONDS_PER_BYTE };

/** The numbers of a cluster file that say how long messages take, and that measured collectives
 * can tell: symbol, key, unit. Rates are those of links; nothing else of a path but its latency
 * changes with the others. */
#define AR_LINK_COST_LIST(X)                                                                       \
    X(AR_LINK_SETUP, TOPO_COLLECTIVE_SETUP, AR_LINK_SECONDS)                                       \
    X(AR_LINK_NVLINK_LATENCY, TOPO_NVLINK_LATENCY, AR_LINK_SECONDS)                                \
    X(AR_LINK_NVLINK_BANDWIDTH, TOPO_NVLINK_BANDWIDTH, AR_LINK_RATE)                               \
    X(AR_LINK_PCIE_LATENCY, TOPO_PCIE_LATENCY, AR_LINK_SECONDS)                                    \
    X(AR_LINK_PCIE_BANDWIDTH, TOPO_PCIE_BANDWIDTH, AR_LINK_RATE)                                   \
    X(AR_LINK_NET_LATENCY, TOPO_NET_LATENCY, AR_LINK_SECONDS)                                      \
    X(AR_LINK_HCA_BANDWIDTH, TOPO_HCA_BANDWIDTH, AR_LINK_RATE)                                     \
    X(AR_LINK_REDUCE_COST, TOPO_GPU_REDUCE_COST, AR_LINK_SECONDS_PER_BYTE)                         \
    X(AR_LINK_REDUCE_COST_LARGE, TOPO_GPU_REDUCE_COST_LARGE, AR_LINK_SECONDS_PER_BYTE)             \
    X(AR_LINK_FRESH_COST, TOPO_GPU_FRESH_COST, AR_LINK_SECONDS_PER_BYTE)                           \
    X(AR_LINK_COPY_COST, TOPO_GPU_COPY_COST, AR_LINK_SECONDS_PER_BYTE)                             \
    X(AR_LINK_MESSAGE_GAP, TOPO_NET_MESSAGE_GAP, AR_LINK_SECONDS)                                  \
    X(AR_LINK_LATENCY_1K, TOPO_NET_LATENCY_1K, AR_LINK_SECONDS)                                    \
    X(AR_LINK_LATENCY_8K, TOPO_NET_LATENCY_8K, AR_LINK_SECONDS)                                    \
    X(AR_LINK_LATENCY_64K, TOPO_NET_LATENCY_64K, AR_LINK_SECONDS)                                  \
    X(AR_LINK_LATENCY_512K, TOPO_NET_LATENCY_512K, AR_LINK_SECONDS)                                \
    X(AR_LINK_RACK_BANDWIDTH, TOPO_RACK_UPLINK_BANDWIDTH, AR_LINK_RATE)                            \
    X(AR_LINK_TORUS_BANDWIDTH, TOPO_TORUS_LINK_BANDWIDTH, AR_LINK_RATE)                            \
    X(AR_LINK_LOCAL_BANDWIDTH, TOPO_DRAGONFLY_LOCAL_BANDWIDTH, AR_LINK_RATE)                       \
    X(AR_LINK_GLOBAL_BANDWIDTH, TOPO_DRAGONFLY_GLOBAL_BANDWIDTH, AR_LINK_RATE)

enum ar_link_cost { AR_LINK_COST_LIST(AR_LIST_FIRST) AR_LINK_COSTS_COUNT };

/** The key of the file; static storage. */
const char *ar_link_cost_key(enum ar_link_cost cost);

enum ar_link_cost_unit ar_link_cost_unit(enum ar_link_cost cost);

/** Whether the file or a setting gives the number, and the number in SI units, 0 if not. */
bool ar_cluster_has_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost);
double ar_cluster_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost);

/** Changes a number of a cluster. Paths asked for from now on have it; the text of its parameter
 * stays that of the file. A value that is not above zero and finite is refused with AR_BAD_DATA. */
enum ar_status ar_cluster_set_link_cost(struct ar_cluster *cluster, enum ar_link_cost cost,
                                        double value, struct ar_error *err);

/** Keeps all these numbers of a cluster and gives them back, including zeros and missing ones. */
void ar_cluster_keep_link_costs(const struct ar_cluster *cluster,
                                double values[AR_LINK_COSTS_COUNT]);
void ar_cluster_restore_link_costs(struct ar_cluster *cluster,
                                   const double values[AR_LINK_COSTS_COUNT]);

/** GPUs that exist: nodes_count * gpus_per_node. */
uint64_t ar_cluster_gpus_count(const struct ar_cluster *cluster);

/** A message under way from one rank to another. */
struct ar_flow {
    uint32_t source;
    uint32_t destination;
};

/** Fills in the path of a message between two different ranks, both below ar_cluster_gpus_count();
 * returns `path`. Pure and fast (no allocation): engines call it once per pair of peers. */
const struct ar_path *ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                                      uint32_t destination, struct ar_path *path);

/** In place of the source or the destination of a path, with a rank: the switch in the middle of
 * the path to, or from, that rank. The path is then its first, or second, half; it has the latency
 * of the whole. Around a ring of ranks in order, the first halves of all paths are the links of the
 * tree that joins them, upwards, each once: the way of their sum to the top. The second halves are
 * the same downwards. */
#define AR_SWITCH 0x80000000u

/** The switches that join two ranks and sum. */
enum ar_sums {
    AR_SUMS_NVLINK, /**< those of their NVLink domain */
    AR_SUMS_LEAF,   /**< one of the network */
    AR_SUMS_TREE    /**< several of the network */
};

/** Says which switches join two ranks, both below ar_cluster_gpus_count(), or refuses with AR_USAGE
 * that they do not sum. */
enum ar_status ar_cluster_find_sums(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                    enum ar_sums *sums, struct ar_error *err);

/** Orders of the GPUs of a node (ar_order.h), owned by the cluster; NULL if they are the plain
 * zigzags: channel pair i shifts it by i and the odd channel of the pair runs it backwards. So it
 * is where all pairs are alike and a node has at most two HCAs, but for several PCIe switches. */
const struct ar_gpu_orders *ar_cluster_gpu_orders(const struct ar_cluster *cluster);

/** The period of the first `ranks` ranks: if all move on by so many ranks, the last ones to the
 * beginning, every path moves along with its ends. It is a node where one switch joins all, a rack
 * or a larger group where the ranks fill several, and `ranks` if there is no such symmetry. */
uint32_t ar_cluster_period(const struct ar_cluster *cluster, uint32_t ranks);

/** Where a link of a path comes from when ranks are moved on by `turns` whole periods, below
 * `ranks`: the link of the first period; `*turns` is written. */
uint32_t ar_cluster_first_link(const struct ar_cluster *cluster, uint32_t period, uint32_t link,
                               uint32_t *turns);

/** How many paths take links like those from `source` to `destination`: this one, and those one or
 * more nodes further on, among the nodes of the first `ranks` ranks. */
uint32_t ar_cluster_path_repeats(const struct ar_cluster *cluster, uint32_t ranks, uint32_t source,
                                 uint32_t destination);
/** The first of `count` links that are like one: one in each node, or of each rack that is full. */
uint32_t ar_cluster_like_link(const struct ar_cluster *cluster, uint32_t ranks, uint32_t link,
                              uint32_t *count);

/** Whether paths see no difference between the GPUs of a node: each has a port to an NVLink switch
 * and an HCA of its own on one switch for all nodes, and a path takes those of its two ends alone.
 * The link of the first GPU of a node, among those of paths, that is like a link. */
bool ar_cluster_has_equal_gpus(const struct ar_cluster *cluster);
uint32_t ar_cluster_link_of_first_gpu(const struct ar_cluster *cluster, uint32_t link);

/** Whether a link is a direction of an HCA. */
bool ar_cluster_is_hca_link(const struct ar_cluster *cluster, uint32_t link);

/** Directed links of the whole cluster; of the first nodes, which come first; so many of the first
 * links that paths among the first ranks take no others, and how many of these they take at most;
 * their bandwidth, and their name in the SimGrid platform (in `name`, which is returned). */
enum { AR_LINK_NAME_SIZE = 64 };
uint32_t ar_cluster_links_count(const struct ar_cluster *cluster);
uint32_t ar_cluster_links_of_nodes(const struct ar_cluster *cluster, uint32_t nodes);
uint32_t ar_cluster_links_among(const struct ar_cluster *cluster, uint32_t ranks);
uint32_t ar_cluster_links_taken(const struct ar_cluster *cluster, uint32_t ranks);
double ar_cluster_link_bandwidth(const struct ar_cluster *cluster, uint32_t link);
const char *ar_cluster_link_name(const struct ar_cluster *cluster, uint32_t link, char *name,
                                 size_t size);

/** Name of the host of a rank in the platform (`gpu-<rank>`), or of AR_SWITCH with a rank
 * (`gpu-<rank>.switch`); returns `name`. */
const char *ar_host_name(uint32_t rank, char *name, size_t size);
#define AR_SHOW_LINK(cluster, link)                                                                \
    ar_cluster_link_name((cluster), (link), (char[AR_LINK_NAME_SIZE]){""}, AR_LINK_NAME_SIZE)
#define AR_SHOW_HOST(rank) ar_host_name((rank), (char[AR_LINK_NAME_SIZE]){""}, AR_LINK_NAME_SIZE)
