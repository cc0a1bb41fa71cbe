#include "topo_values.h"

#include <stdlib.h>
#include <string.h>

#include "ar_gpu_generation.h"
#include "ar_text.h"
#include "ar_units.h"

enum { WEIGHT_MAX = 64 };

static enum ar_status report(const struct ar_topo_entry *entry, const char *expected,
                             struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected %s", entry->where,
                        entry->text, expected);
}

static enum ar_status parse_size(const char *where, const char *text, double *number,
                                 struct ar_error *err)
{
    uint64_t bytes;
    AR_TRY(ar_parse_bytes(where, text, &bytes, err));
    *number = (double)bytes;
    return AR_OK;
}

/* Rates, times, costs and sizes; bounds that no machine reaches keep sums and quotients finite. */
static const struct {
    enum ar_status (*parse)(const char *where, const char *text, double *number,
                            struct ar_error *err);
    double min, max;
    const char *expected;
} kinds[] = {[KIND_RATE] = {ar_parse_rate, 1, 1e18, "a rate from 1B/s to 1000000TB/s"},
             [KIND_SECONDS] = {ar_parse_seconds, 0, 1000, "a time of at most 1000s"},
             [KIND_COST] = {ar_parse_cost, 0, 1, "a cost of at most 1s/B"},
             [KIND_SIZE] = {parse_size, 1e6, 1e15, "a size of at least 1MB"}};

static enum ar_status parse_number(const struct ar_topo_entry *entry, enum ar_topo_kind kind,
                                   double *number, struct ar_error *err)
{
    AR_TRY(kinds[kind].parse(entry->where, entry->text, number, err));
    return *number >= kinds[kind].min && *number <= kinds[kind].max
               ? AR_OK
               : report(entry, kinds[kind].expected, err);
}

static enum ar_status parse_count(const struct ar_topo_entry *entry, uint32_t *value,
                                  struct ar_error *err)
{
    const struct ar_topo_key_row *key = &ar_topo_keys[entry->key];
    uint64_t count = 0;
    AR_TRY(ar_parse_count(entry->where, entry->text, key->min, key->max, &count, err));
    *value = (uint32_t)count;
    return AR_OK;
}

/* The words of a choice; its number is its place. */
static enum ar_status parse_choice(const struct ar_topo_entry *entry, uint32_t *value,
                                   struct ar_error *err)
{
    static const char *const attached[] = {
        [AR_HCA_ON_HOST] = "host", [AR_HCA_ON_SWITCH] = "switch", NULL};
    static const char *const rails[] = {
        [AR_RAILS_NONE] = "none", [AR_RAILS_NVLINK] = "nvlink", [AR_RAILS_SPINE] = "spine", NULL};
    static const char *const fabrics[] = {
#define X(symbol, word, title, keys) word,
        AR_FABRIC_LIST(X)
#undef X
            NULL};
    static const char *const arrangements[] = {
        [AR_DRAGONFLY_PALMTREE] = "palmtree", [AR_DRAGONFLY_CONSECUTIVE] = "consecutive", NULL};
    static const char *const no_yes[] = {"no", "yes", NULL};
    static const char *const *const choices[AR_TOPO_KEYS_COUNT] = {
        [TOPO_HCA_ATTACHED] = attached,
        [TOPO_GPU_GENERATION] = ar_gpu_generation_names,
        [TOPO_CPU_VENDOR] = ar_cpu_vendor_names,
        [TOPO_LIBRARY_COLLNET] = no_yes,
        [TOPO_NVLINK_SUMS] = no_yes,
        [TOPO_FABRIC_SUMS] = no_yes,
        [TOPO_FABRIC] = fabrics,
        [TOPO_TREE_RAILS] = rails,
        [TOPO_DRAGONFLY_ARRANGEMENT] = arrangements};
    return ar_parse_choice(entry->where, entry->text, choices[entry->key], value, err);
}

static enum ar_status parse_routes(const struct ar_topo_entry *entry, struct ar_topo_values *values,
                                   struct ar_error *err)
{
    static const char seeded[] = "hash:";
    uint32_t *routes = &values->count[entry->key];
    if (strncmp(entry->text, seeded, strlen(seeded)) == 0) {
        uint64_t seed = 0;
        AR_TRY(
            ar_parse_count(entry->where, entry->text + strlen(seeded), 0, UINT32_MAX, &seed, err));
        values->number[entry->key] = (double)seed;
        *routes = AR_ROUTES_HASH;
        return AR_OK;
    }
    *routes = strcmp(entry->text, "dmodk") == 0 ? AR_ROUTES_DMODK : AR_ROUTES_IDEAL;
    return *routes == AR_ROUTES_DMODK || strcmp(entry->text, "ideal") == 0
               ? AR_OK
               : report(entry, "ideal, dmodk or hash:SEED such as hash:1", err);
}

/* Several counts or rates, cut at blanks, counts at "x", too. */
static enum ar_status parse_list(const struct ar_topo_entry *entry, struct ar_topo_values *values,
                                 struct ar_error *err)
{
    bool are_counts = ar_topo_keys[entry->key].kind == KIND_COUNTS;
    const char *separators = are_counts ? " \tx" : " \t";
    uint32_t count = 0;
    for (const char *at = entry->text; *at != '\0'; count++) {
        char item[32];
        size_t length = strcspn(at, separators);
        struct ar_topo_entry part = *entry;
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        part.text = item;
        if (count == AR_TOPO_LIST_MAX) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected at most %d items",
                                entry->where, entry->text, AR_TOPO_LIST_MAX);
        }
        uint32_t whole = 0;
        double *number = &values->list[entry->key][count];
        AR_TRY(are_counts ? parse_count(&part, &whole, err)
                          : parse_number(&part, KIND_RATE, number, err));
        *number = are_counts ? whole : *number;
        at += length + (at[length] == 'x');
        at += strspn(at, " \t");
    }
    values->count[entry->key] = count;
    return AR_OK;
}

/* Parses one entry; pairs wait until the number of GPUs is known. */
static enum ar_status parse_entry(const struct ar_topo_entry *entry, struct ar_topo_values *values,
                                  struct ar_error *err)
{
    values->is_given[entry->key] = true;
    switch (ar_topo_keys[entry->key].kind) {
    case KIND_NAME:
        return entry->text[strspn(entry->text, AR_TOPO_NAME_LETTERS)] == '\0'
                   ? AR_OK
                   : report(entry, "letters, digits, '-', '_' and '.' only", err);
    case KIND_COUNT:
        return parse_count(entry, &values->count[entry->key], err);
    case KIND_RATE:
    case KIND_SECONDS:
    case KIND_COST:
    case KIND_SIZE:
        return parse_number(entry, ar_topo_keys[entry->key].kind, &values->number[entry->key], err);
    case KIND_CHOICE:
        return parse_choice(entry, &values->count[entry->key], err);
    case KIND_COUNTS:
    case KIND_RATES:
        return parse_list(entry, values, err);
    case KIND_ROUTES:
        return parse_routes(entry, values, err);
    case KIND_TEXT:
    case KIND_PAIRS:
        break;
    }
    return AR_OK;
}

/* Adds "a-b" or "a-b:weight"; false if it is none, or of a pair that is there. */
static bool add_pair(const char *word, uint32_t gpus_count, struct ar_topo_values *values)
{
    char texts[3][5] = {"", "", "1"};
    int ends[2] = {0, 0};
    sscanf(word, "%4[0-9]-%4[0-9]%n:%4[0-9]%n", texts[0], texts[1], &ends[0], texts[2], &ends[1]);
    int end = ends[1] > 0 ? ends[1] : ends[0];
    unsigned long a = strtoul(texts[0], NULL, 10);
    unsigned long b = strtoul(texts[1], NULL, 10);
    unsigned long weight = strtoul(texts[2], NULL, 10);
    if (end == 0 || word[end] != '\0' || a >= gpus_count || b >= gpus_count || a == b ||
        weight < 1 || weight > WEIGHT_MAX || values->weight[a][b] != 0) {
        return false;
    }
    values->weight[a][b] = values->weight[b][a] = (uint8_t)weight;
    return true;
}

static enum ar_status parse_pairs(const struct ar_topo_entry *entry, uint32_t gpus_count,
                                  struct ar_topo_values *values, struct ar_error *err)
{
    const char *text = entry->text;
    values->is_switched = strcmp(text, "switch") == 0;
    bool are_all = strcmp(text, "all") == 0;
    for (uint32_t i = 0; are_all && i < gpus_count * gpus_count; i++) {
        values->weight[i / gpus_count][i % gpus_count] = i / gpus_count != i % gpus_count;
    }
    if (values->is_switched || are_all || strcmp(text, "none") == 0) {
        return AR_OK;
    }
    while (*text != '\0') {
        char word[42];
        size_t length = strcspn(text, " \t");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (!add_pair(word, gpus_count, values)) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: found \"%.40s\"; expected all, none, switch or pairs such as "
                                "0-1 0-2:2, each once, of two GPUs from 0 to %u, with a weight "
                                "from 1 to %d",
                                entry->where, word, gpus_count - 1, WEIGHT_MAX);
        }
        text += length;
        text += strspn(text, " \t");
    }
    return AR_OK;
}

/* Where routers have cables between them, they say how many nodes there are, if nothing else does.
 */
static enum ar_status derive_nodes(const struct ar_topo_entries *entries,
                                   struct ar_topo_values *values, struct ar_error *err)
{
    uint32_t fabric = values->count[TOPO_FABRIC];
    bool is_torus = fabric == AR_FABRIC_TORUS || fabric == AR_FABRIC_MESH;
    enum ar_topo_key key = is_torus ? TOPO_TORUS_LENGTHS : TOPO_DRAGONFLY_GROUPS;
    if (values->is_given[TOPO_NODES] || fabric == AR_FABRIC_FAT_TREE || !values->is_given[key]) {
        return AR_OK;
    }
    uint32_t router_nodes = values->count[TOPO_ROUTER_NODES];
    double nodes = router_nodes > 0 ? router_nodes : 1; /* products of counts may exceed 64 bits */
    for (uint32_t d = 0; is_torus && d < values->count[key]; d++) {
        nodes *= values->list[key][d];
    }
    nodes *= is_torus ? 1.0 : (double)values->count[key] * values->count[TOPO_DRAGONFLY_ROUTERS];
    if (nodes > AR_TOPO_NODES_MAX) {
        return ar_topo_refuse(entries, key, "fewer, for at most 1048576 nodes", err);
    }
    values->count[TOPO_NODES] = (uint32_t)nodes;
    values->is_given[TOPO_NODES] = true;
    return AR_OK;
}

enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct ar_topo_entry *entry = &entries->list[i];
        AR_TRY(ar_error_blame(parse_entry(entry, values, err), entry->status, err));
    }
    AR_TRY(derive_nodes(entries, values, err));
    const struct ar_topo_entry *pairs = ar_topo_entries_find(entries, TOPO_NVLINK_PAIRS);
    uint32_t gpus = values->count[TOPO_GPUS];
    return pairs == NULL || gpus == 0
               ? AR_OK
               : ar_error_blame(parse_pairs(pairs, gpus, values, err), pairs->status, err);
}
