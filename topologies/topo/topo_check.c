/* Values of a cluster file against each other. */
#include "topo_values.h"

enum { MISSING_SIZE = 400 };

bool ar_topo_has_nvlink(const struct ar_topo_values *values)
{
    for (uint32_t a = 0; a < values->count[TOPO_GPUS]; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (values->weight[a][b] != 0) {
                return true;
            }
        }
    }
    return values->is_switched;
}

bool ar_topo_needs_pcie(const struct ar_topo_values *values)
{
    for (uint32_t a = 0; a < values->count[TOPO_GPUS] && !values->is_switched; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (values->weight[a][b] == 0) {
                return true;
            }
        }
    }
    return false;
}

bool ar_topo_has_racks(const struct ar_topo_values *values)
{
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    return rack_nodes > 0 && rack_nodes < values->count[TOPO_NODES];
}

static bool always(const struct ar_topo_values *values)
{
    (void)values;
    return true;
}

static bool has_switches(const struct ar_topo_values *values)
{
    return values->count[TOPO_PCIE_SWITCHES] > 0;
}

static bool has_nodes(const struct ar_topo_values *values)
{
    return values->count[TOPO_NODES] > 1;
}

static bool has_hcas(const struct ar_topo_values *values)
{
    return values->count[TOPO_HCAS] > 0;
}

/* Keys that must be given, counts above zero, where something holds. */
static const struct {
    enum ar_topo_key key;
    bool (*is_needed)(const struct ar_topo_values *values);
    const char *expected;
} needs[] = {
    {TOPO_NAME, always, "in every cluster file"},
    {TOPO_NODES, always, "in every cluster file"},
    {TOPO_GPUS, always, "in every cluster file"},
    {TOPO_NVLINK_BANDWIDTH, ar_topo_has_nvlink, "a rate, since nvlink.pairs is given"},
    {TOPO_NVLINK_LATENCY, ar_topo_has_nvlink, "a time, since nvlink.pairs is given"},
    {TOPO_PCIE_SWITCHES, ar_topo_needs_pcie, "at least 1, since some pairs of GPUs have no NVLink"},
    {TOPO_PCIE_BANDWIDTH, has_switches, "a rate, since pcie.switches is given"},
    {TOPO_PCIE_LATENCY, ar_topo_needs_pcie, "a time, since some pairs of GPUs have no NVLink"},
    {TOPO_HCAS, has_nodes, "at least 1, since the cluster has several nodes"},
    {TOPO_HCA_BANDWIDTH, has_hcas, "a rate, since the nodes have HCAs"},
    {TOPO_NET_LATENCY, has_hcas, "a time, since the nodes have HCAs"},
    {TOPO_RACK_UPLINKS, ar_topo_has_racks, "at least 1, since there are several racks"},
    {TOPO_RACK_UPLINK_BANDWIDTH, ar_topo_has_racks, "a rate, since there are several racks"},
};

static enum ar_status check_needs(const struct ar_topo_entries *entries,
                                  const struct ar_topo_values *values, struct ar_error *err)
{
    char missing[MISSING_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        enum ar_topo_key key = needs[i].key;
        bool is_given = values->is_given[key];
        bool is_zero = ar_topo_keys[key].kind == KIND_COUNT && values->count[key] == 0;
        if ((is_given && !is_zero) || !needs[i].is_needed(values)) {
            continue;
        }
        if (is_given) {
            return ar_topo_refuse(entries, key, needs[i].expected, err);
        }
        if (used < sizeof missing) {
            used += (size_t)snprintf(
                missing + used, sizeof missing - used, "%s key \"%s\": found nowhere; expected %s",
                used > 0 ? "," : "", ar_topo_keys[key].name, needs[i].expected);
        }
    }
    return used == 0 ? AR_OK : ar_error_set(err, AR_BAD_DATA, "%.200s:%s", entries->path, missing);
}

static enum ar_status check_division(const struct ar_topo_entries *entries,
                                     const struct ar_topo_values *values, enum ar_topo_key key,
                                     struct ar_error *err)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    if (values->count[key] == 0 || gpus % values->count[key] == 0) {
        return AR_OK;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "a divisor of gpus_per_node (%u)", gpus);
    return ar_topo_refuse(entries, key, expected, err);
}

/* An HCA hangs on one switch, that of its GPUs. */
static enum ar_status check_attached(const struct ar_topo_entries *entries,
                                     const struct ar_topo_values *values, struct ar_error *err)
{
    if (!values->has_hcas_on_switches) {
        return AR_OK;
    }
    if (!has_switches(values) || !has_hcas(values)) {
        return ar_topo_refuse(entries, TOPO_HCA_ATTACHED,
                              "host, since the nodes have no PCIe switches or no HCAs", err);
    }
    if (values->count[TOPO_HCAS] % values->count[TOPO_PCIE_SWITCHES] != 0) {
        return ar_topo_refuse(entries, TOPO_HCA_ATTACHED,
                              "host, since hcas is no multiple of pcie.switches", err);
    }
    return AR_OK;
}

enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err)
{
    AR_TRY(check_division(entries, values, TOPO_PCIE_SWITCHES, err));
    AR_TRY(check_division(entries, values, TOPO_HCAS, err));
    AR_TRY(check_attached(entries, values, err));
    return check_needs(entries, values, err);
}
