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

bool ar_topo_has_racks(const struct ar_topo_values *values)
{
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    return rack_nodes > 0 && rack_nodes < values->count[TOPO_NODES];
}

static bool is_needed(enum ar_topo_need need, const struct ar_topo_values *values)
{
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
        return values->count[TOPO_NODES] > 1;
    case NEED_HCAS:
        return values->count[TOPO_HCAS] > 0;
    case NEED_RACKS:
        return ar_topo_has_racks(values);
    default:
        return false;
    }
}

static enum ar_status check_needs(const struct ar_topo_entries *entries,
                                  const struct ar_topo_values *values, struct ar_error *err)
{
    static const char *const nouns[] = {[KIND_NAME] = "a name",
                                        [KIND_COUNT] = "at least 1",
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
        char expected[80];
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

enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err)
{
    AR_TRY(check_division(entries, values, TOPO_PCIE_SWITCHES, err));
    AR_TRY(check_division(entries, values, TOPO_HCAS, err));
    AR_TRY(check_attached(entries, values, err));
    return check_needs(entries, values, err);
}
