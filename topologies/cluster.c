#include <assert.h>
#include <stdlib.h>

#include "platform_cluster.h"
#include "topo.h"
#include "walks.h"

const char *ar_tier_name(enum ar_tier tier)
{
    static const char *const names[] = {
#define X(symbol, name, text) name,
        AR_TIER_LIST(X)
#undef X
    };
    return names[tier];
}

static const char *text_of(const struct ar_topo *topo, enum ar_topo_key key)
{
    const struct ar_topo_entry *entry = ar_topo_find(topo, key);
    return entry != NULL ? entry->text : "";
}

static bool has_nvlink(const struct ar_topo_values *values)
{
    uint32_t gpus =
        values->count[TOPO_GPUS] < AR_TOPO_GPUS_MAX ? values->count[TOPO_GPUS] : AR_TOPO_GPUS_MAX;
    for (uint32_t a = 0; a < gpus; a++) {
        for (uint32_t b = 0; b < gpus; b++) {
            if (values->weight[a][b] != 0) {
                return true;
            }
        }
    }
    return values->is_switched;
}

void ar_topo_fill_facts(struct ar_cluster *cluster)
{
    const struct ar_topo_values *values = &cluster->values;
    cluster->facts = (struct ar_cluster_facts){
        .name = text_of(&cluster->topo, TOPO_NAME),
        .description = text_of(&cluster->topo, TOPO_DESCRIPTION),
        .nodes_count = values->count[TOPO_NODES],
        .gpus_per_node = values->count[TOPO_GPUS],
        .hcas_per_node = values->count[TOPO_HCAS],
        .nodes_per_rack = values->count[TOPO_RACK_NODES],
        .reduce_s_per_byte = values->number[TOPO_GPU_REDUCE_COST],
        .collective_setup_s = values->number[TOPO_COLLECTIVE_SETUP],
        .device_cost = text_of(&cluster->topo, TOPO_GPU_COST_TABLE),
        .links_fitted = text_of(&cluster->topo, TOPO_LINKS_FITTED),
        .has_nvlink = has_nvlink(values),
        .has_hcas_on_switches = values->has_hcas_on_switches,
        .library_release = text_of(&cluster->topo, TOPO_LIBRARY_RELEASE),
        .library_channels = values->count[TOPO_LIBRARY_CHANNELS],
        .library_node_bus_Bps = values->number[TOPO_LIBRARY_NODE_BUS],
        .library_net_bus_Bps = values->number[TOPO_LIBRARY_NET_BUS],
        .library_cost = text_of(&cluster->topo, TOPO_LIBRARY_COST_TABLE),
    };
}

/* Numbers the NVLinks: 0-1, 1-0, 0-2, 2-0, ... */
static void number_nvlinks(const struct ar_topo_values *values, struct ar_node_links *node)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    for (uint32_t a = 0; a < gpus; a++) {
        node->nvlink[a][a] = AR_TOPO_NO_LINK;
        for (uint32_t b = a + 1; b < gpus; b++) {
            bool is_linked = values->weight[a][b] != 0;
            node->nvlink[a][b] = (uint16_t)(is_linked ? node->count : AR_TOPO_NO_LINK);
            node->nvlink[b][a] = (uint16_t)(is_linked ? node->count + 1 : AR_TOPO_NO_LINK);
            node->count += is_linked ? 2 : 0;
        }
    }
}

/* Numbers `groups` pairs of links and gives each GPU that of its group of neighbours. */
static uint16_t number_groups(uint32_t groups, uint32_t gpus, struct ar_node_links *node,
                              uint16_t link_of_gpu[AR_TOPO_GPUS_MAX])
{
    uint16_t first = (uint16_t)node->count;
    for (uint32_t g = 0; g < gpus; g++) {
        uint32_t link = groups > 0 ? first + 2 * (g * groups / gpus) : AR_TOPO_NO_LINK;
        link_of_gpu[g] = (uint16_t)link;
    }
    node->count += 2 * groups;
    return first;
}

static void number_node_links(struct ar_cluster *cluster)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_node_links *node = &cluster->node;
    uint32_t gpus = values->count[TOPO_GPUS];
    bool has_ports =
        gpus > 1 && (values->is_switched || ar_topo_needs_pcie(values) || cluster->has_spare_ports);
    node->count = 0;
    number_nvlinks(values, node);
    node->first_port = number_groups(has_ports ? gpus : 0, gpus, node, node->port);
    node->first_uplink = number_groups(values->count[TOPO_PCIE_SWITCHES], gpus, node, node->uplink);
    for (uint32_t g = 0; g < gpus; g++) {
        node->net_uplink[g] = values->has_hcas_on_switches ? AR_TOPO_NO_LINK : node->uplink[g];
    }
    node->first_hca = number_groups(values->count[TOPO_HCAS], gpus, node, node->hca);
}

enum ar_status ar_topo_number_links(struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    number_node_links(cluster);
    uint32_t nodes = values->count[TOPO_NODES];
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    bool has_racks = rack_nodes > 0 && rack_nodes < nodes;
    cluster->racks_count = has_racks ? (nodes + rack_nodes - 1) / rack_nodes : 0;
    uint64_t links = (uint64_t)nodes * cluster->node.count + 2 * (uint64_t)cluster->racks_count;
    if (links > INT32_MAX) {
        return ar_topo_refuse(&cluster->topo, TOPO_NODES,
                              "fewer, since the cluster has more than 2^31 links", err);
    }
    cluster->first_rack_link = nodes * cluster->node.count;
    cluster->rack_uplink_Bps =
        values->count[TOPO_RACK_UPLINKS] * values->number[TOPO_RACK_UPLINK_BANDWIDTH];
    cluster->port_tier = values->is_switched ? AR_TIER_NVLINK : AR_TIER_PCIE;
    cluster->port_Bps =
        values->number[values->is_switched ? TOPO_NVLINK_BANDWIDTH : TOPO_PCIE_BANDWIDTH];
    cluster->uplink_Bps = values->number[TOPO_PCIE_BANDWIDTH];
    cluster->hca_Bps = values->number[TOPO_HCA_BANDWIDTH];
    return AR_OK;
}

enum ar_status ar_cluster_load(const char *path, const char *const *settings, size_t settings_count,
                               struct ar_cluster **cluster, struct ar_error *err)
{
    struct ar_cluster *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) {
        return ar_error_no_memory(err, "the cluster");
    }
    enum ar_status status = ar_topo_read(path, settings, settings_count, &loaded->topo, err);
    if (status == AR_OK) {
        status = ar_topo_parse(&loaded->topo, &loaded->values, err);
    }
    if (status == AR_OK) {
        status = ar_topo_check(&loaded->topo, &loaded->values, err);
    }
    if (status == AR_OK) {
        status = ar_topo_number_links(loaded, err);
    }
    if (status != AR_OK) {
        ar_cluster_destroy(loaded);
        return status;
    }
    ar_topo_fill_facts(loaded);
    ar_topo_find_walks(&loaded->values, &loaded->walks);
    *cluster = loaded;
    return AR_OK;
}

void ar_cluster_destroy(struct ar_cluster *cluster)
{
    if (cluster != NULL) {
        ar_topo_free(&cluster->topo);
        for (size_t i = 0; i < cluster->change_texts_count; i++) {
            free(cluster->change_texts[i].text);
        }
        free(cluster->change_texts);
        free(cluster->changes);
        ar_platform_destroy(cluster->platform);
        free(cluster);
    }
}

const struct ar_cluster_facts *ar_cluster_facts(const struct ar_cluster *cluster)
{
    return &cluster->facts;
}

size_t ar_cluster_parameters_count(const struct ar_cluster *cluster)
{
    return cluster->topo.entries_count + cluster->change_texts_count;
}

struct ar_cluster_parameter ar_cluster_parameter(const struct ar_cluster *cluster, size_t index)
{
    size_t entries = cluster->topo.entries_count;
    assert(index < ar_cluster_parameters_count(cluster));
    if (index >= entries) {
        const struct ar_change_text *change = &cluster->change_texts[index - entries];
        return (struct ar_cluster_parameter){change->is_down ? "down-link" : "slow-link",
                                             change->text,
                                             change->is_down ? "--down-link" : "--slow-link"};
    }
    const struct ar_topo_entry *entry = &cluster->topo.entries[index];
    return (struct ar_cluster_parameter){ar_topo_key_name(entry->key), entry->text, entry->source};
}

uint64_t ar_cluster_gpus_count(const struct ar_cluster *cluster)
{
    return cluster->platform != NULL
               ? cluster->platform->hosts_count
               : (uint64_t)cluster->facts.nodes_count * cluster->facts.gpus_per_node;
}
