/* Values of a cluster file against each other. */
#include "topo_values.h"

enum { MISSING_SIZE = 400 };

/* Pairs of GPUs with an NVLink. */
static uint32_t count_pairs(const struct ar_topo_values *values)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < values->count[TOPO_GPUS]; a++) {
        for (uint32_t b = 0; b < a; b++) {
            count += values->weight[a][b] != 0;
        }
    }
    return count;
}

bool ar_topo_has_nvlink(const struct ar_topo_values *values)
{
    return values->is_switched || count_pairs(values) > 0;
}

bool ar_topo_needs_pcie(const struct ar_topo_values *values)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    return !values->is_switched && gpus > 1 && count_pairs(values) < gpus * (gpus - 1) / 2;
}

/* Are there several racks, or rails that are joined above? */
static bool has_racks(const struct ar_topo_values *values)
{
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    bool are_rails_joined =
        values->count[TOPO_TREE_RAILS] == AR_RAILS_SPINE && values->count[TOPO_HCAS] > 1;
    return are_rails_joined || (rack_nodes > 0 && rack_nodes < values->count[TOPO_NODES]);
}

static bool is_needed(enum ar_topo_need need, const struct ar_topo_values *values)
{
    uint32_t fabric = values->count[TOPO_FABRIC];
    bool is_dragonfly = fabric == AR_FABRIC_DRAGONFLY || fabric == AR_FABRIC_DRAGONFLY_PLUS;
    switch (need) {
    case NEED_ALWAYS:
        return true;
    case NEED_NVLINK:
        return ar_topo_has_nvlink(values);
    case NEED_PCIE:
        return ar_topo_needs_pcie(values);
    case NEED_SWITCHES:
        return values->count[TOPO_PCIE_SWITCHES] > 0;
    case NEED_NODES:
        return values->count[TOPO_NODES] > 1 &&
               values->count[TOPO_NODES] > values->count[TOPO_NVLINK_DOMAIN];
    case NEED_HCAS:
        return values->count[TOPO_HCAS] > 0;
    case NEED_HCA_RATE:
        return values->count[TOPO_HCAS] > 0 && values->count[TOPO_TORUS_LINKS_AT_ONCE] == 0;
    case NEED_RACKS:
        return has_racks(values);
    case NEED_TORUS:
        return fabric == AR_FABRIC_TORUS || fabric == AR_FABRIC_MESH;
    case NEED_DRAGONFLY:
        return is_dragonfly;
    case NEED_SPINES:
        return fabric == AR_FABRIC_DRAGONFLY_PLUS;
    case NEED_GROUPS:
        return is_dragonfly && values->count[TOPO_DRAGONFLY_GROUPS] > 1;
    default:
        return false;
    }
}

static enum ar_status check_needs(const struct ar_topo_entries *entries,
                                  const struct ar_topo_values *values, struct ar_error *err)
{
    static const char *const nouns[] = {[KIND_NAME] = "a name",
                                        [KIND_COUNT] = "at least 1",
                                        [KIND_COUNTS] = "counts",
                                        [KIND_RATE] = "a rate",
                                        [KIND_SECONDS] = "a time"};
    static const char *const reasons[] = {
#define X(symbol, reason) reason,
        AR_TOPO_NEED_LIST(X)
#undef X
    };
    char missing[MISSING_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        const struct ar_topo_key_row *key = &ar_topo_keys[i];
        bool is_zero = key->kind == KIND_COUNT && values->count[i] == 0;
        if ((values->is_given[i] && !is_zero) || !is_needed(key->need, values)) {
            continue;
        }
        char expected[120];
        snprintf(expected, sizeof expected, "%s, since %s", nouns[key->kind], reasons[key->need]);
        if (values->is_given[i]) {
            return ar_topo_refuse(entries, (enum ar_topo_key)i, expected, err);
        }
        if (used < sizeof missing) {
            used += (size_t)snprintf(missing + used, sizeof missing - used,
                                     "%s key \"%s\": found nowhere; expected %s",
                                     used > 0 ? "," : "", key->name, expected);
        }
    }
    return used == 0 ? AR_OK : ar_error_set(err, AR_BAD_DATA, "%.200s:%s", entries->path, missing);
}

static enum ar_status check_division(const struct ar_topo_entries *entries,
                                     const struct ar_topo_values *values, enum ar_topo_key key,
                                     struct ar_error *err)
{
    char expected[80];
    uint32_t gpus = values->count[TOPO_GPUS];
    snprintf(expected, sizeof expected, "a divisor of gpus_per_node (%u)", gpus);
    return values->count[key] == 0 || gpus % values->count[key] == 0
               ? AR_OK
               : ar_topo_refuse(entries, key, expected, err);
}

/* An HCA hangs on one switch, that of its GPUs. */
static enum ar_status check_attached(const struct ar_topo_entries *entries,
                                     const struct ar_topo_values *values, struct ar_error *err)
{
    uint32_t switches = values->count[TOPO_PCIE_SWITCHES];
    uint32_t hcas = values->count[TOPO_HCAS];
    const char *expected =
        switches == 0 || hcas == 0 ? "host, since the nodes have no PCIe switches or no HCAs"
        : hcas % switches != 0     ? "host, since hcas is no multiple of pcie.switches"
                                   : NULL;
    return values->count[TOPO_HCA_ATTACHED] != AR_HCA_ON_SWITCH || expected == NULL
               ? AR_OK
               : ar_topo_refuse(entries, TOPO_HCA_ATTACHED, expected, err);
}

/* Keys that mean something on some fabrics only. */
static enum ar_status check_fabric(const struct ar_topo_entries *entries,
                                   const struct ar_topo_values *values, struct ar_error *err)
{
    enum {
        TREE = 1 << AR_FABRIC_FAT_TREE,
        TORUS = 1 << AR_FABRIC_TORUS | 1 << AR_FABRIC_MESH,
        DRAGONFLY = 1 << AR_FABRIC_DRAGONFLY | 1 << AR_FABRIC_DRAGONFLY_PLUS
    };
    static const struct {
        enum ar_topo_key key;
        unsigned fabrics;
        const char *expected;
    } rows[] = {
        {TOPO_RACK_NODES, TREE, "fabric = fat-tree, or none"},
        {TOPO_TREE_GROUPS, TREE, "fabric = fat-tree, or none"},
        {TOPO_TREE_RAILS, TREE, "none, or fabric = fat-tree"},
        {TOPO_FABRIC_SUMS, TREE, "no, or fabric = fat-tree, whose switches are a tree of sums"},
        {TOPO_ROUTER_NODES, TORUS | DRAGONFLY, "fabric = torus, mesh, dragonfly..., or none"},
        {TOPO_SWITCH_LATENCY, TORUS | DRAGONFLY, "fabric = torus, mesh, dragonfly..., or none"},
        {TOPO_TORUS_LENGTHS, TORUS, "fabric = torus or mesh, or none"},
        {TOPO_TORUS_WRAPS, TORUS, "fabric = torus or mesh, or none"},
        {TOPO_TORUS_LINKS_AT_ONCE, TORUS, "fabric = torus or mesh, or none"},
        {TOPO_DRAGONFLY_GROUPS, DRAGONFLY, "fabric = dragonfly or dragonfly+, or none"},
        {TOPO_DRAGONFLY_SPINES, 1 << AR_FABRIC_DRAGONFLY_PLUS, "fabric = dragonfly+, or none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool has_value = values->is_given[rows[i].key] && values->count[rows[i].key] != 0;
        has_value |= values->number[rows[i].key] > 0;
        if (has_value && (rows[i].fabrics >> values->count[TOPO_FABRIC] & 1) == 0) {
            return ar_topo_refuse(entries, rows[i].key, rows[i].expected, err);
        }
    }
    return values->is_given[TOPO_HCA_BANDWIDTH] && values->count[TOPO_TORUS_LINKS_AT_ONCE] > 0
               ? ar_topo_refuse(entries, TOPO_TORUS_LINKS_AT_ONCE,
                                "it or hca.bandwidth, which say the same", err)
               : AR_OK;
}

static enum ar_status check_sums(const struct ar_topo_entries *entries,
                                 const struct ar_topo_values *values, struct ar_error *err)
{
    return values->count[TOPO_NVLINK_SUMS] == 0 || values->is_switched
               ? AR_OK
               : ar_topo_refuse(entries, TOPO_NVLINK_SUMS,
                                "no, or nvlink.pairs = switch, which can sum", err);
}

static enum ar_status check_domain(const struct ar_topo_entries *entries,
                                   const struct ar_topo_values *values, struct ar_error *err)
{
    return values->count[TOPO_NVLINK_DOMAIN] <= 1 || values->is_switched
               ? AR_OK
               : ar_topo_refuse(entries, TOPO_NVLINK_DOMAIN,
                                "1, or nvlink.pairs = switch, which joins GPUs of several nodes",
                                err);
}

enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err)
{
    AR_TRY(check_division(entries, values, TOPO_PCIE_SWITCHES, err));
    AR_TRY(check_division(entries, values, TOPO_HCAS, err));
    AR_TRY(check_attached(entries, values, err));
    AR_TRY(check_fabric(entries, values, err));
    AR_TRY(check_domain(entries, values, err));
    AR_TRY(check_sums(entries, values, err));
    return check_needs(entries, values, err);
}
