#include "topo.h"

enum ar_status ar_topo_refuse(const struct ar_topo *topo, enum ar_topo_key key,
                              const char *expected, struct ar_error *err)
{
    const struct ar_topo_entry *entry = ar_topo_find(topo, key);
    if (entry == NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: key \"%s\": found nowhere; expected %s",
                            topo->path, ar_topo_key_name(key), expected);
    }
    char where[AR_TOPO_WHERE_SIZE];
    return ar_error_set(err, entry->line == 0 ? AR_USAGE : AR_BAD_DATA,
                        "%s: found \"%.60s\"; expected %s", ar_topo_where(topo, entry, where),
                        entry->text, expected);
}

static enum ar_status check_division(const struct ar_topo *topo,
                                     const struct ar_topo_values *values, enum ar_topo_key key,
                                     struct ar_error *err)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    if (values->count[key] == 0 || gpus % values->count[key] == 0) {
        return AR_OK;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "a divisor of gpus_per_node (%u)", gpus);
    return ar_topo_refuse(topo, key, expected, err);
}

/* An HCA hangs on one switch, that of its GPUs. */
static enum ar_status check_attached(const struct ar_topo *topo,
                                     const struct ar_topo_values *values, struct ar_error *err)
{
    uint32_t switches = values->count[TOPO_PCIE_SWITCHES];
    uint32_t hcas = values->count[TOPO_HCAS];
    if (!values->has_hcas_on_switches) {
        return AR_OK;
    }
    if (switches == 0 || hcas == 0) {
        return ar_topo_refuse(topo, TOPO_HCA_ATTACHED,
                              "host, since the nodes have no PCIe switches or no HCAs", err);
    }
    if (hcas % switches != 0) {
        return ar_topo_refuse(topo, TOPO_HCA_ATTACHED,
                              "host, since hcas is no multiple of pcie.switches", err);
    }
    return AR_OK;
}

static enum ar_status check_node(const struct ar_topo *topo, const struct ar_topo_values *values,
                                 struct ar_error *err)
{
    enum ar_status status = check_division(topo, values, TOPO_PCIE_SWITCHES, err);
    if (status == AR_OK) {
        status = check_division(topo, values, TOPO_HCAS, err);
    }
    if (status == AR_OK) {
        status = check_attached(topo, values, err);
    }
    if (status != AR_OK) {
        return status;
    }
    bool has_nvlink = values->is_switched;
    for (uint32_t g = 1; g < values->count[TOPO_GPUS] && !has_nvlink; g++) {
        for (uint32_t other = 0; other < g; other++) {
            has_nvlink |= values->weight[g][other] != 0;
        }
    }
    bool needs_pcie = ar_topo_needs_pcie(values);
    if (has_nvlink && !values->is_given[TOPO_NVLINK_BANDWIDTH]) {
        return ar_topo_refuse(topo, TOPO_NVLINK_BANDWIDTH, "a rate, since nvlink.pairs is given",
                              err);
    }
    if (has_nvlink && !values->is_given[TOPO_NVLINK_LATENCY]) {
        return ar_topo_refuse(topo, TOPO_NVLINK_LATENCY, "a time, since nvlink.pairs is given",
                              err);
    }
    if (needs_pcie && values->count[TOPO_PCIE_SWITCHES] == 0) {
        return ar_topo_refuse(topo, TOPO_PCIE_SWITCHES,
                              "at least 1, since some pairs of GPUs have no NVLink", err);
    }
    if (values->count[TOPO_PCIE_SWITCHES] > 0 && !values->is_given[TOPO_PCIE_BANDWIDTH]) {
        return ar_topo_refuse(topo, TOPO_PCIE_BANDWIDTH, "a rate, since pcie.switches is given",
                              err);
    }
    if (needs_pcie && !values->is_given[TOPO_PCIE_LATENCY]) {
        return ar_topo_refuse(topo, TOPO_PCIE_LATENCY,
                              "a time, since some pairs of GPUs have no NVLink", err);
    }
    return AR_OK;
}

static enum ar_status check_network(const struct ar_topo *topo, const struct ar_topo_values *values,
                                    struct ar_error *err)
{
    uint32_t nodes = values->count[TOPO_NODES];
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    if (nodes > 1 && values->count[TOPO_HCAS] == 0) {
        return ar_topo_refuse(topo, TOPO_HCAS, "at least 1, since the cluster has several nodes",
                              err);
    }
    if (values->count[TOPO_HCAS] > 0 && !values->is_given[TOPO_HCA_BANDWIDTH]) {
        return ar_topo_refuse(topo, TOPO_HCA_BANDWIDTH, "a rate, since the nodes have HCAs", err);
    }
    if (values->count[TOPO_HCAS] > 0 && !values->is_given[TOPO_NET_LATENCY]) {
        return ar_topo_refuse(topo, TOPO_NET_LATENCY, "a time, since the nodes have HCAs", err);
    }
    bool has_racks = rack_nodes > 0 && rack_nodes < nodes;
    if (has_racks && values->count[TOPO_RACK_UPLINKS] == 0) {
        return ar_topo_refuse(topo, TOPO_RACK_UPLINKS, "at least 1, since there are several racks",
                              err);
    }
    if (has_racks && !values->is_given[TOPO_RACK_UPLINK_BANDWIDTH]) {
        return ar_topo_refuse(topo, TOPO_RACK_UPLINK_BANDWIDTH,
                              "a rate, since there are several racks", err);
    }
    return AR_OK;
}

enum ar_status ar_topo_check(const struct ar_topo *topo, const struct ar_topo_values *values,
                             struct ar_error *err)
{
    enum ar_status status = check_node(topo, values, err);
    return status == AR_OK ? check_network(topo, values, err) : status;
}
