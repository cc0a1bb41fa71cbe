#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "topo.h"

enum kind {
    KIND_NAME,
    KIND_TEXT,
    KIND_COUNT,
    KIND_RATE,
    KIND_SECONDS,
    KIND_COST,
    KIND_PAIRS,
    KIND_ATTACHED
};

static const char *const key_names[] = {
#define X(symbol, name, kind) name,
    AR_TOPO_KEY_LIST(X)
#undef X
};

static const enum kind key_kinds[] = {
#define X(symbol, name, kind) kind,
    AR_TOPO_KEY_LIST(X)
#undef X
};

struct range {
    uint32_t min, max;
};

/* Only counts have a range of their own. */
static const struct range count_ranges[AR_TOPO_KEYS_COUNT] = {
    [TOPO_NODES] = {1, AR_TOPO_NODES_MAX},        [TOPO_GPUS] = {1, AR_TOPO_GPUS_MAX},
    [TOPO_PCIE_SWITCHES] = {0, AR_TOPO_GPUS_MAX}, [TOPO_HCAS] = {0, AR_TOPO_GPUS_MAX},
    [TOPO_RACK_NODES] = {0, AR_TOPO_NODES_MAX},   [TOPO_RACK_UPLINKS] = {0, 1000000},
    [TOPO_LIBRARY_CHANNELS] = {1, 1024},
};

const char *ar_topo_key_name(enum ar_topo_key key)
{
    return key_names[key];
}

enum ar_status ar_topo_key_find(const char *where, const char *name, enum ar_topo_key *key,
                                struct ar_error *err)
{
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        if (strcmp(name, key_names[i]) == 0) {
            *key = (enum ar_topo_key)i;
            return AR_OK;
        }
    }
    const char *nearest = ar_nearest_name(name, key_names, AR_TOPO_KEYS_COUNT);
    if (nearest == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%.60s\": found an unknown key; expected one of "
                            "topologies/README.md, such as \"hca.bandwidth\"",
                            where, name);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: key \"%.60s\": found an unknown key; expected perhaps \"%s\"", where,
                        name, nearest);
}

static enum ar_status parse_name(const char *where, const char *text, struct ar_error *err)
{
    size_t plain =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (text[plain] != '\0') {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%s\"; expected letters, digits, '-', '_' and '.' only",
                            where, text);
    }
    return AR_OK;
}

/* Bounds that no machine reaches keep sums and quotients of values finite. */
static enum ar_status check_bounds(const char *where, const char *text, enum kind kind,
                                   double value, struct ar_error *err)
{
    const char *expected = NULL;
    if (kind == KIND_RATE && !(value >= 1 && value <= 1e18)) {
        expected = "a rate from 1B/s to 1000000TB/s";
    } else if (kind == KIND_SECONDS && !(value <= 1000)) {
        expected = "a time of at most 1000s";
    } else if (kind == KIND_COST && !(value <= 1)) {
        expected = "a cost of at most 1s/B";
    }
    if (expected != NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %s", where, text,
                            expected);
    }
    return AR_OK;
}

static enum ar_status parse_number(const char *where, const char *text, enum kind kind,
                                   double *number, struct ar_error *err)
{
    double value = 0;
    enum ar_status status = AR_OK;
    if (kind == KIND_RATE) {
        status = ar_parse_rate(where, text, &value, err);
    } else if (kind == KIND_SECONDS) {
        status = ar_parse_seconds(where, text, &value, err);
    } else {
        status = ar_parse_cost(where, text, &value, err);
    }
    if (status == AR_OK) {
        status = check_bounds(where, text, kind, value, err);
    }
    if (status == AR_OK) {
        *number = value;
    }
    return status;
}

static enum ar_status parse_count(const char *where, const char *text, struct range range,
                                  uint32_t *count, struct ar_error *err)
{
    uint64_t value = 0;
    enum ar_status status = ar_parse_count(where, text, range.min, range.max, &value, err);
    if (status == AR_OK) {
        *count = (uint32_t)value;
    }
    return status;
}

static enum ar_status parse_attached(const char *where, const char *text, bool *is_on_switch,
                                     struct ar_error *err)
{
    if (strcmp(text, "switch") != 0 && strcmp(text, "host") != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%s\"; expected switch (the PCIe switch of its GPUs) or "
                            "host (behind the uplinks of the switches)",
                            where, text);
    }
    *is_on_switch = strcmp(text, "switch") == 0;
    return AR_OK;
}

/* Parses one entry; pairs wait until the number of GPUs is known. */
static enum ar_status parse_entry(const struct ar_topo *topo, const struct ar_topo_entry *entry,
                                  struct ar_topo_values *values, struct ar_error *err)
{
    char where[AR_TOPO_WHERE_SIZE];
    ar_topo_where(topo, entry, where);
    enum ar_status status = AR_OK;
    switch (key_kinds[entry->key]) {
    case KIND_NAME:
        status = parse_name(where, entry->text, err);
        break;
    case KIND_COUNT:
        status = parse_count(where, entry->text, count_ranges[entry->key],
                             &values->count[entry->key], err);
        break;
    case KIND_RATE:
    case KIND_SECONDS:
    case KIND_COST:
        status = parse_number(where, entry->text, key_kinds[entry->key],
                              &values->number[entry->key], err);
        break;
    case KIND_ATTACHED:
        status = parse_attached(where, entry->text, &values->has_hcas_on_switches, err);
        break;
    case KIND_TEXT:
    case KIND_PAIRS:
        break;
    }
    values->is_given[entry->key] = true;
    if (status != AR_OK && entry->line == 0) {
        err->status = status = AR_USAGE;
    }
    return status;
}

static enum ar_status parse_pairs(const struct ar_topo *topo, struct ar_topo_values *values,
                                  struct ar_error *err)
{
    const struct ar_topo_entry *pairs = ar_topo_find(topo, TOPO_NVLINK_PAIRS);
    if (pairs == NULL) {
        return AR_OK;
    }
    char where[AR_TOPO_WHERE_SIZE];
    enum ar_status status = ar_topo_parse_pairs(ar_topo_where(topo, pairs, where), pairs->text,
                                                values->count[TOPO_GPUS], values, err);
    if (status != AR_OK && pairs->line == 0) {
        err->status = status = AR_USAGE;
    }
    return status;
}

enum ar_status ar_topo_parse_entries(const struct ar_topo *topo, struct ar_topo_values *values,
                                     struct ar_error *err)
{
    *values = (struct ar_topo_values){0};
    for (size_t i = 0; i < topo->entries_count; i++) {
        enum ar_status status = parse_entry(topo, &topo->entries[i], values, err);
        if (status != AR_OK) {
            return status;
        }
    }
    return AR_OK;
}

enum ar_status ar_topo_parse(const struct ar_topo *topo, struct ar_topo_values *values,
                             struct ar_error *err)
{
    static const enum ar_topo_key required[] = {TOPO_NAME, TOPO_NODES, TOPO_GPUS};
    enum ar_status status = ar_topo_parse_entries(topo, values, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!values->is_given[required[i]]) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: key \"%s\": found nowhere; expected in every cluster file",
                                topo->path, key_names[required[i]]);
        }
    }
    return parse_pairs(topo, values, err);
}
