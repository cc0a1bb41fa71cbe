/* A cluster from the values of its file. */
#include <assert.h>
#include <math.h>

#include "fabric.h"

/* By enum ar_fabric_kind. */
static const struct ar_fabric *const fabrics[AR_FABRICS_COUNT] = {
    [AR_FABRIC_FAT_TREE] = &ar_fabric_fat_tree,
    [AR_FABRIC_TORUS] = &ar_fabric_torus,
    [AR_FABRIC_MESH] = &ar_fabric_torus,
    [AR_FABRIC_DRAGONFLY] = &ar_fabric_dragonfly,
    [AR_FABRIC_DRAGONFLY_PLUS] = &ar_fabric_dragonfly,
};

const struct ar_fabric_text ar_fabric_texts[] = {AR_FABRIC_LIST(AR_LIST_REST)};

const size_t ar_fabric_texts_count = AR_FABRICS_COUNT;

const char *ar_tier_name(enum ar_tier tier)
{
    static const char *const names[] = {AR_TIER_LIST(AR_LIST_SECOND)};
    return names[tier];
}

static const char *entry_text(const struct ar_cluster *cluster, enum ar_topo_key key)
{
    const struct ar_topo_entry *entry = ar_topo_entries_find(&cluster->entries, key);
    return entry != NULL ? entry->text : "";
}

double ar_cluster_reduce_cost(const struct ar_cluster *cluster, double bytes)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    return facts->reduce_s_per_byte +
           (bytes > AR_LARGE_BUFFER_BYTES ? facts->reduce_large_s_per_byte : 0);
}

/* Facts that follow from the values of a file, with rates and latencies by kinds of links. */
static void fill_facts(struct ar_cluster *cluster)
{
    const struct ar_topo_values *values = &cluster->values;
    const double *number = values->number;
    uint32_t domain_nodes = values->count[TOPO_NVLINK_DOMAIN];
    uint32_t generation = values->count[TOPO_GPU_GENERATION];
    bool has_nvls = generation >= AR_GPU_HOPPER && generation <= AR_GPU_BLACKWELL;
    bool is_tree = values->count[TOPO_FABRIC] == AR_FABRIC_FAT_TREE;
    bool has_collnet = values->count[TOPO_LIBRARY_COLLNET] != 0;
    struct ar_message_cost message = {
        .path_s = {number[TOPO_NVLINK_LATENCY], number[TOPO_PCIE_LATENCY], number[TOPO_NET_LATENCY],
                   number[TOPO_NET_LATENCY]},
        .gap_s = number[TOPO_NET_MESSAGE_GAP],
        .latency_s = {number[TOPO_NET_LATENCY_1K], number[TOPO_NET_LATENCY_8K],
                      number[TOPO_NET_LATENCY_64K], number[TOPO_NET_LATENCY_512K]}};
    message.is_any = message.gap_s > 0;
    for (int i = 0; i < AR_MESSAGE_STEPS; i++) {
        message.is_any = message.is_any || message.latency_s[i] > 0;
    }
    /* Where no key says whether switches sum, the GPUs or the library's plug-in do. */
    bool has_nvlink_sums = values->is_given[TOPO_NVLINK_SUMS] ? values->count[TOPO_NVLINK_SUMS] != 0
                                                              : values->is_switched && has_nvls;
    bool has_fabric_sums = values->is_given[TOPO_FABRIC_SUMS] ? values->count[TOPO_FABRIC_SUMS] != 0
                                                              : is_tree && has_collnet;
    cluster->facts = (struct ar_cluster_facts){
        .name = entry_text(cluster, TOPO_NAME),
        .description = entry_text(cluster, TOPO_DESCRIPTION),
        .nodes_count = values->count[TOPO_NODES],
        .gpus_per_node = values->count[TOPO_GPUS],
        .hcas_per_node = values->count[TOPO_HCAS],
        .reduce_s_per_byte = number[TOPO_GPU_REDUCE_COST],
        .reduce_large_s_per_byte = number[TOPO_GPU_REDUCE_COST_LARGE],
        .fresh_s_per_byte = number[TOPO_GPU_FRESH_COST],
        .copy_s_per_byte = number[TOPO_GPU_COPY_COST],
        .message = message,
        .collective_setup_s = number[TOPO_COLLECTIVE_SETUP],
        .device_cost = entry_text(cluster, TOPO_GPU_COST_TABLE),
        .gpu_memory_bytes = number[TOPO_GPU_MEMORY],
        .board_j_per_byte = number[TOPO_BOARD_ENERGY],
        .net_j_per_byte = number[TOPO_NET_ENERGY],
        .cpu_link_Bps = values->is_given[TOPO_CPU_LINK]
                            ? number[TOPO_CPU_LINK]
                            : number[TOPO_PCIE_BANDWIDTH] * values->count[TOPO_PCIE_SWITCHES] /
                                  values->count[TOPO_GPUS],
        .cpu_optimizer_Bps = number[TOPO_CPU_OPTIMIZER],
        .links_fitted = entry_text(cluster, TOPO_LINKS_FITTED),
        .has_nvlink = values->has_nvlink,
        .has_nvswitch = values->is_switched,
        .nvlink_domain_nodes = domain_nodes > 0 ? domain_nodes : 1,
        .has_nvlink_sums = has_nvlink_sums,
        .are_nvlink_sums_given = values->is_given[TOPO_NVLINK_SUMS],
        .has_fabric_sums = has_fabric_sums,
        .gpu_generation = (enum ar_gpu_generation)values->count[TOPO_GPU_GENERATION],
        .cpu_vendor = (enum ar_cpu_vendor)values->count[TOPO_CPU_VENDOR],
        .hca_kind = (enum ar_hca_kind)values->count[TOPO_HCA_KIND],
        .has_gpu_generation = values->is_given[TOPO_GPU_GENERATION],
        .has_cpu_vendor = values->is_given[TOPO_CPU_VENDOR],
        .has_library_collnet = has_collnet,
        .has_hcas_on_switches = values->count[TOPO_HCA_ATTACHED] == AR_HCA_ON_SWITCH,
        .library_release = entry_text(cluster, TOPO_LIBRARY_RELEASE),
        .library_channels = values->count[TOPO_LIBRARY_CHANNELS],
        .library_node_bus_Bps = number[TOPO_LIBRARY_NODE_BUS],
        .library_net_bus_Bps = number[TOPO_LIBRARY_NET_BUS],
        .library_net_latency_s = number[TOPO_LIBRARY_NET_LATENCY],
        .library_cost = entry_text(cluster, TOPO_LIBRARY_COST_TABLE),
    };
    double *rates_Bps = cluster->rates_Bps;
    rates_Bps[AR_KIND_NVLINK] = number[TOPO_NVLINK_BANDWIDTH];
    rates_Bps[AR_KIND_PCIE] = number[TOPO_PCIE_BANDWIDTH];
    rates_Bps[AR_KIND_PORT] = rates_Bps[values->is_switched ? AR_KIND_NVLINK : AR_KIND_PCIE];
    rates_Bps[AR_KIND_HCA] = values->count[TOPO_TORUS_LINKS_AT_ONCE] > 0
                                 ? values->count[TOPO_TORUS_LINKS_AT_ONCE] *
                                       number[TOPO_TORUS_LINK_BANDWIDTH] / values->count[TOPO_HCAS]
                                 : number[TOPO_HCA_BANDWIDTH];
    cluster->port_tier = values->is_switched ? AR_TIER_NVLINK : AR_TIER_PCIE;
    struct ar_tree_level *racks = &cluster->tree.levels[0];
    uint32_t cables = cluster->routes == AR_ROUTES_IDEAL ? values->count[TOPO_RACK_UPLINKS] : 1;
    racks->bandwidth_Bps = cables * number[TOPO_RACK_UPLINK_BANDWIDTH];
}

/* Numbers `groups` pairs of links and gives each GPU that of its group of neighbours. */
static void number_groups(enum ar_link_kind kind, uint32_t groups, uint32_t gpus,
                          struct ar_node_links *node, uint16_t link_of_gpu[AR_TOPO_GPUS_MAX])
{
    uint32_t first = node->count;
    for (uint32_t g = 0; g < gpus; g++) {
        link_of_gpu[g] = (uint16_t)(groups > 0 ? first + 2 * (g * groups / gpus) : AR_NO_LINK);
    }
    for (uint32_t i = 0; i < 2 * groups; i++) {
        node->list[node->count++] =
            (struct ar_node_link){(uint8_t)kind, (uint8_t)(i / 2), i % 2, 1};
    }
}

enum ar_status ar_cluster_create(const struct ar_topo *topo, struct ar_settings settings,
                                 struct ar_arena *arena, struct ar_cluster **cluster,
                                 struct ar_error *err)
{
    struct ar_cluster *made = ar_arena_alloc(arena, 1, sizeof *made);
    made->arena = arena;
    ar_topo_take(topo, &made->entries);
    AR_TRY(ar_topo_entries_apply(settings, arena, &made->entries, err));
    AR_TRY(ar_topo_values_parse(&made->entries, &made->values, err));
    AR_TRY(ar_topo_values_check(&made->entries, &made->values, err));
    made->routes = (enum ar_routes)made->values.count[TOPO_FABRIC_ROUTES];
    fill_facts(made);
    made->domain_nodes = made->facts.nvlink_domain_nodes;
    /* Numbers the links of a node: NVLinks 0-1, 1-0, 0-2, 2-0, ..., then ports, PCIe and HCAs. */
    const struct ar_topo_values *values = &made->values;
    struct ar_node_links *node = &made->node;
    uint32_t gpus = values->count[TOPO_GPUS];
    bool has_ports =
        (gpus > 1 || made->domain_nodes > 1) && (values->is_switched || values->needs_pcie);
    size_t capacity = (size_t)gpus * (gpus - 1) + 6 * (size_t)gpus; /* NVLinks and three groups */
    node->count = 0;
    node->list = ar_arena_alloc(made->arena, capacity, sizeof *node->list);
    for (uint32_t a = 0; a < gpus; a++) {
        node->nvlink[a][a] = AR_NO_LINK;
        for (uint32_t b = a + 1; b < gpus; b++) {
            for (int way = 0; way < 2; way++) {
                uint32_t from = way == 0 ? a : b, to = way == 0 ? b : a;
                bool is_there = values->weight[a][b] != 0;
                node->nvlink[from][to] = is_there ? (uint16_t)node->count : AR_NO_LINK;
                node->list[node->count] = (struct ar_node_link){AR_KIND_NVLINK, (uint8_t)from,
                                                                (uint8_t)to, values->weight[a][b]};
                node->count += is_there;
            }
        }
    }
    number_groups(AR_KIND_PORT, has_ports ? gpus : 0, gpus, node, node->port);
    number_groups(AR_KIND_PCIE, values->count[TOPO_PCIE_SWITCHES], gpus, node, node->uplink);
    for (uint32_t g = 0; g < gpus; g++) {
        bool is_bypassed = values->count[TOPO_HCA_ATTACHED] == AR_HCA_ON_SWITCH;
        node->net_uplink[g] = is_bypassed ? AR_NO_LINK : node->uplink[g];
    }
    number_groups(AR_KIND_HCA, values->count[TOPO_HCAS], gpus, node, node->hca);
    uint64_t links = (uint64_t)made->values.count[TOPO_NODES] * made->node.count, fabric_links = 0;
    made->fabric = fabrics[made->values.count[TOPO_FABRIC]];
    AR_TRY(made->fabric->make(made, &fabric_links, err));
    /* Links are counted in 31 bits. */
    AR_TOPO_REFUSE(links + fabric_links > INT32_MAX, &made->entries, TOPO_NODES, err,
                   "fewer, since the cluster has more than 2^31 links");
    made->first_fabric_link = (uint32_t)links;
    made->fabric_links_count = (uint32_t)fabric_links;
    made->orders = ar_arena_alloc(made->arena, 1, sizeof *made->orders);
    *cluster = made;
    return AR_OK;
}

enum ar_status ar_cluster_load(const char *path, struct ar_settings settings,
                               struct ar_arena *arena, struct ar_cluster **cluster,
                               struct ar_error *err)
{
    struct ar_topo *topo;
    AR_TRY(ar_topo_load(path, arena, &topo, err));
    return ar_cluster_create(topo, settings, arena, cluster, err);
}

const struct ar_cluster_facts *ar_cluster_facts(const struct ar_cluster *cluster)
{
    return &cluster->facts;
}

size_t ar_cluster_parameters_count(const struct ar_cluster *cluster)
{
    return cluster->entries.count + cluster->slow_links_count;
}

struct ar_cluster_parameter ar_cluster_parameter(const struct ar_cluster *cluster, size_t index)
{
    size_t entries = cluster->entries.count;
    assert(index < ar_cluster_parameters_count(cluster));
    if (index >= entries) {
        return cluster->slow_links[index - entries].parameter;
    }
    const struct ar_topo_entry *entry = &cluster->entries.list[index];
    return (struct ar_cluster_parameter){ar_topo_keys[entry->key].name, entry->text, entry->source};
}

uint64_t ar_cluster_gpus_count(const struct ar_cluster *cluster)
{
    return (uint64_t)cluster->facts.nodes_count * cluster->facts.gpus_per_node;
}

/* --- numbers that measurements can tell ------------------------------------------------------- */

static const struct {
    enum ar_topo_key key;
    enum ar_link_cost_unit unit;
} costs[AR_LINK_COSTS_COUNT] = {AR_LINK_COST_LIST(AR_LIST_REST)};

const char *ar_link_cost_key(enum ar_link_cost cost)
{
    return ar_topo_keys[costs[cost].key].name;
}

enum ar_link_cost_unit ar_link_cost_unit(enum ar_link_cost cost)
{
    return costs[cost].unit;
}

bool ar_cluster_has_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.is_given[costs[cost].key];
}

double ar_cluster_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.number[costs[cost].key];
}

enum ar_status ar_cluster_set_link_cost(struct ar_cluster *cluster, enum ar_link_cost cost,
                                        double value, struct ar_error *err)
{
    AR_REFUSE(!(value > 0 && isfinite(value)), err, AR_BAD_DATA,
              "%s: found %g; expected a number above zero that a machine can have",
              ar_link_cost_key(cost), value);
    cluster->values.number[costs[cost].key] = value;
    fill_facts(cluster);
    return AR_OK;
}

void ar_cluster_keep_link_costs(const struct ar_cluster *cluster,
                                double values[AR_LINK_COSTS_COUNT])
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        values[i] = cluster->values.number[costs[i].key];
    }
}

void ar_cluster_restore_link_costs(struct ar_cluster *cluster,
                                   const double values[AR_LINK_COSTS_COUNT])
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        cluster->values.number[costs[i].key] = values[i];
    }
    fill_facts(cluster);
}

/* --- switches that sum ------------------------------------------------------------------------ */

static enum ar_status refuse_sums(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                  const char *found, const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE, "GPUs %u and %u of cluster %s: found %s; expected %s", a, b,
                        cluster->facts.name, found, expected);
}

enum ar_status ar_cluster_find_sums(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                    enum ar_sums *sums, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = &cluster->facts;
    uint32_t first = a / facts->gpus_per_node, second = b / facts->gpus_per_node;
    if (first / cluster->domain_nodes == second / cluster->domain_nodes) {
        *sums = AR_SUMS_NVLINK;
        return facts->has_nvlink_sums
                   ? AR_OK
                   : refuse_sums(cluster, a, b, "no NVLink switch that sums",
                                 "nvlink.pairs = switch and nvlink.sums = yes", err);
    }
    AR_REFUSE_BY(!facts->has_fabric_sums,
                 refuse_sums(cluster, a, b, "no switch of the network that sums",
                             "fabric = fat-tree and fabric.sums = yes", err));
    struct ar_path path;
    ar_cluster_path(cluster, a, b, &path);
    *sums = path.tier == AR_TIER_SPINE ? AR_SUMS_TREE : AR_SUMS_LEAF;
    return AR_OK;
}
