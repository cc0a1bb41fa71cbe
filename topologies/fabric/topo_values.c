/* Values of a cluster file: texts, their meaning, and what they must not contradict. */
#include "topo_values.h"

#include <stdlib.h>
#include <string.h>

#include "ar_gpu_generation.h"
#include "ar_text.h"
#include "ar_units.h"

const struct ar_topo_key_row ar_topo_keys[AR_TOPO_KEYS_COUNT] = {AR_TOPO_KEY_LIST(AR_LIST_REST)};

const struct ar_topo_entry *ar_topo_entries_find(const struct ar_topo_entries *entries,
                                                 enum ar_topo_key key)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->list[i].key == key) {
            return &entries->list[i];
        }
    }
    return NULL;
}

void ar_topo_entries_store(struct ar_topo_entry entry, struct ar_topo_entries *entries)
{
    const struct ar_topo_entry *known = ar_topo_entries_find(entries, entry.key);
    entries->list[known != NULL ? (size_t)(known - entries->list) : entries->count++] = entry;
}

/* --- texts ------------------------------------------------------------------------------------ */

enum ar_status ar_topo_check_text(const char *where, const char *text, bool is_prose,
                                  struct ar_error *err)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        AR_REFUSE(is_control || (byte >= 0x80 && !is_prose), err, AR_BAD_DATA,
                  "%s: found the byte 0x%02x; expected plain text", where, byte);
    }
    return AR_OK;
}

enum ar_status ar_topo_read_assignment(char *assignment, struct ar_arena *arena,
                                       struct ar_topo_entry *entry, struct ar_error *err)
{
    const char *names[AR_TOPO_KEYS_COUNT];
    AR_TRY(ar_topo_check_text(entry->where, assignment, false, err));
    char *equals = strchr(assignment, '=');
    AR_REFUSE(equals == NULL, err, AR_BAD_DATA, "%s: found \"%.60s\"; expected key = value",
              entry->where, ar_trim(assignment));
    *equals = '\0';
    const char *name = ar_trim(assignment);
    size_t key = 0;
    for (; key < AR_TOPO_KEYS_COUNT; key++) {
        names[key] = ar_topo_keys[key].name;
        if (strcmp(name, names[key]) == 0) {
            break;
        }
    }
    entry->key = (enum ar_topo_key)key;
    AR_REFUSE_BY(
        entry->key == AR_TOPO_KEYS_COUNT,
        ar_error_unknown(err, AR_BAD_DATA, entry->where, "key", name, names, AR_TOPO_KEYS_COUNT));
    entry->text = ar_trim(equals + 1);
    entry->where =
        ar_arena_format(arena, "%s: key \"%s\"", entry->where, ar_topo_keys[entry->key].name);
    size_t length = strlen(entry->text);
    AR_REFUSE(length == 0, err, AR_BAD_DATA, "%s: found no value; expected one", entry->where);
    AR_REFUSE(length > AR_TOPO_TEXT_MAX && entry->key != TOPO_NVLINK_PAIRS, err, AR_BAD_DATA,
              "%s: found a value of %zu characters; expected at most %d", entry->where, length,
              AR_TOPO_TEXT_MAX);
    return AR_OK;
}

enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err)
{
    bool is_set[AR_TOPO_KEYS_COUNT] = {false};
    AR_EACH(const struct ar_setting, setting, settings.list, settings.count) {
        struct ar_topo_entry entry = {
            .source = setting->where, .where = setting->where, .status = setting->status};
        char *text = ar_arena_text(arena, setting->text);
        AR_REFUSE(strlen(text) > AR_TOPO_LINE_MAX, err, setting->status,
                  "%s: found %zu characters; expected key=value", setting->where, strlen(text));
        enum ar_status status = ar_topo_read_assignment(text, arena, &entry, err);
        AR_TRY(ar_error_blame(status, setting->status, err));
        ar_topo_entries_store(entry, entries);
        is_set[entry.key] = true;
    }
    if (is_set[TOPO_TORUS_LENGTHS] && !is_set[TOPO_TORUS_WRAPS]) {
        /* A torus of other lengths has other dimensions, so the file's wraps no longer hold. */
        size_t kept = 0;
        for (size_t i = 0; i < entries->count; i++) {
            if (entries->list[i].key != TOPO_TORUS_WRAPS) {
                entries->list[kept++] = entries->list[i];
            }
        }
        entries->count = kept;
    }
    return AR_OK;
}

enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              struct ar_error *err, const char *format, ...)
{
    const struct ar_topo_entry *entry = ar_topo_entries_find(entries, key);
    char expected[200];
    AR_PRINT_ARGUMENTS(expected, format);
    return entry == NULL
               ? ar_error_set(err, AR_BAD_DATA, "%.200s: key \"%s\": found nowhere; expected %s",
                              entries->path, ar_topo_keys[key].name, expected)
               : ar_error_set(err, entry->status, "%s: found \"%.60s\"; expected %s", entry->where,
                              entry->text, expected);
}

/* --- parsing ---------------------------------------------------------------------------------- */

enum { WEIGHT_MAX = 64 }; /* of an NVLink pair */

static enum ar_status refuse_value(const struct ar_topo_entry *entry, const char *expected,
                                   struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected %s", entry->where,
                        entry->text, expected);
}

/* Bounds that no machine reaches keep sums and quotients finite. */
static const struct {
    enum ar_quantity quantity;
    double min, max;
    const char *expected;
} kinds[] = {
    [KIND_RATE] = {AR_QUANTITY_RATE, 1, 1e18, "a rate from 1B/s to 1000000TB/s"},
    [KIND_SECONDS] = {AR_QUANTITY_TIME, 0, 1000, "a time of at most 1000s"},
    [KIND_COST] = {AR_QUANTITY_COST, 0, 1, "a cost of at most 1s/B"},
    [KIND_ENERGY] = {AR_QUANTITY_ENERGY, 1e-15, 1e-6, "an energy from 0.001 to 1000000pJ/B"},
    [KIND_SIZE] = {AR_QUANTITY_SIZE, 1e6, 1e15, "a size of at least 1MB"}};

static enum ar_status parse_entry_number(const struct ar_topo_entry *entry, enum ar_topo_kind kind,
                                         double *number, struct ar_error *err)
{
    AR_TRY(ar_parse_quantity(entry->where, entry->text, kinds[kind].quantity, number, err));
    return *number >= kinds[kind].min && *number <= kinds[kind].max
               ? AR_OK
               : refuse_value(entry, kinds[kind].expected, err);
}

/* The words of a choice; its number is its place. */
static const char *const attached_names[] = {
    [AR_HCA_ON_HOST] = "host", [AR_HCA_ON_SWITCH] = "switch", NULL};
static const char *const rails_names[] = {
    [AR_RAILS_NONE] = "none", [AR_RAILS_NVLINK] = "nvlink", [AR_RAILS_SPINE] = "spine", NULL};
static const char *const fabric_names[] = {AR_FABRIC_LIST(AR_LIST_SECOND) NULL};
static const char *const arrangement_names[] = {
    [AR_DRAGONFLY_PALMTREE] = "palmtree", [AR_DRAGONFLY_CONSECUTIVE] = "consecutive", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const *const choices[AR_TOPO_KEYS_COUNT] = {
    [TOPO_HCA_ATTACHED] = attached_names,
    [TOPO_GPU_GENERATION] = ar_gpu_generation_names,
    [TOPO_CPU_VENDOR] = ar_cpu_vendor_names,
    [TOPO_HCA_KIND] = ar_hca_kind_names,
    [TOPO_LIBRARY_COLLNET] = no_yes,
    [TOPO_NVLINK_SUMS] = no_yes,
    [TOPO_FABRIC_SUMS] = no_yes,
    [TOPO_FABRIC] = fabric_names,
    [TOPO_TREE_RAILS] = rails_names,
    [TOPO_DRAGONFLY_ARRANGEMENT] = arrangement_names};

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
               : refuse_value(entry, "ideal, dmodk or hash:SEED such as hash:1", err);
}

/* Several counts or rates, cut at blanks, counts at "x", too. */
static enum ar_status parse_list(const struct ar_topo_entry *entry, struct ar_topo_values *values,
                                 struct ar_error *err)
{
    const struct ar_topo_key_row *key = &ar_topo_keys[entry->key];
    bool are_counts = key->kind == KIND_COUNTS;
    const char *separators = are_counts ? " \tx" : " \t";
    uint32_t count = 0;
    for (const char *at = entry->text; *at != '\0'; count++) {
        char item[32];
        size_t length = strcspn(at, separators);
        struct ar_topo_entry part = *entry;
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        part.text = item;
        AR_REFUSE(count == AR_TOPO_LIST_MAX, err, AR_BAD_DATA,
                  "%s: found \"%.60s\"; expected at most %d items", entry->where, entry->text,
                  AR_TOPO_LIST_MAX);
        uint64_t whole = 0;
        double *number = &values->list[entry->key][count];
        AR_TRY(are_counts ? ar_parse_count(part.where, item, key->min, key->max, &whole, err)
                          : parse_entry_number(&part, KIND_RATE, number, err));
        *number = are_counts ? (double)whole : *number;
        at += length + (at[length] == 'x');
        at += strspn(at, " \t");
    }
    values->count[entry->key] = count;
    return AR_OK;
}

/* Parses one entry, but for pairs, for which the number of GPUs must be known. */
static enum ar_status parse_entry(const struct ar_topo_entry *entry, struct ar_topo_values *values,
                                  struct ar_error *err)
{
    const struct ar_topo_key_row *key = &ar_topo_keys[entry->key];
    uint64_t count = 0;
    values->is_given[entry->key] = true;
    switch (key->kind) {
    case KIND_NAME:
        return entry->text[strspn(entry->text, AR_TOPO_NAME_LETTERS)] == '\0'
                   ? AR_OK
                   : refuse_value(entry, "letters, digits, '-', '_' and '.' only", err);
    case KIND_COUNT:
        AR_TRY(ar_parse_count(entry->where, entry->text, key->min, key->max, &count, err));
        values->count[entry->key] = (uint32_t)count;
        return AR_OK;
    case KIND_RATE:
    case KIND_SECONDS:
    case KIND_COST:
    case KIND_ENERGY:
    case KIND_SIZE:
        return parse_entry_number(entry, key->kind, &values->number[entry->key], err);
    case KIND_CHOICE:
        return ar_parse_choice(entry->where, entry->text, choices[entry->key],
                               &values->count[entry->key], err);
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
    AR_EACH_WORD(word, text) {
        /* "a-b" or "a-b:weight" */
        char texts[3][5] = {"", "", "1"};
        int ends[2] = {0, 0};
        sscanf(word, "%4[0-9]-%4[0-9]%n:%4[0-9]%n", texts[0], texts[1], &ends[0], texts[2],
               &ends[1]);
        int end = ends[1] > 0 ? ends[1] : ends[0];
        unsigned long a = strtoul(texts[0], NULL, 10);
        unsigned long b = strtoul(texts[1], NULL, 10);
        unsigned long weight = strtoul(texts[2], NULL, 10);
        AR_REFUSE(end == 0 || word[end] != '\0' || a >= gpus_count || b >= gpus_count || a == b ||
                      weight < 1 || weight > WEIGHT_MAX || values->weight[a][b] != 0,
                  err, AR_BAD_DATA,
                  "%s: found \"%.40s\"; expected all, none, switch or pairs such as 0-1 0-2:2, "
                  "each once, of two GPUs from 0 to %u, with a weight from 1 to %d",
                  entry->where, word, gpus_count - 1, WEIGHT_MAX);
        values->weight[a][b] = values->weight[b][a] = (uint8_t)weight;
    }
    return AR_OK;
}

enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err)
{
    AR_EACH(const struct ar_topo_entry, entry, entries->list, entries->count) {
        AR_TRY(ar_error_blame(parse_entry(entry, values, err), entry->status, err));
    }
    /* A fabric of routers has as many nodes as its routers hold, also without `nodes`; what is
     * missing is refused later. */
    uint32_t fabric = values->count[TOPO_FABRIC];
    bool is_torus = fabric == AR_FABRIC_TORUS || fabric == AR_FABRIC_MESH;
    enum ar_topo_key key = is_torus ? TOPO_TORUS_LENGTHS : TOPO_DRAGONFLY_GROUPS;
    uint32_t router_nodes = values->count[TOPO_ROUTER_NODES];
    double nodes = router_nodes > 0 ? router_nodes : 1; /* products of counts may exceed 64 bits */
    for (uint32_t d = 0; is_torus && d < values->count[key]; d++) {
        nodes *= values->list[key][d];
    }
    nodes *= is_torus ? 1.0 : (double)values->count[key] * values->count[TOPO_DRAGONFLY_ROUTERS];
    if (fabric != AR_FABRIC_FAT_TREE && values->is_given[key] && nodes > 0) {
        AR_TOPO_REFUSE(nodes > AR_TOPO_NODES_MAX, entries, key, err,
                       "fewer, for at most 1048576 nodes");
        AR_TOPO_REFUSE(values->is_given[TOPO_NODES] && nodes != values->count[TOPO_NODES], entries,
                       TOPO_NODES, err, "%.0f, the routers of %s times router.nodes", nodes,
                       is_torus ? "torus.lengths" : "all groups of the dragonfly");
        values->count[TOPO_NODES] = (uint32_t)nodes;
        values->is_given[TOPO_NODES] = true;
    }
    const struct ar_topo_entry *pairs = ar_topo_entries_find(entries, TOPO_NVLINK_PAIRS);
    uint32_t gpus = values->count[TOPO_GPUS], with_nvlink = 0;
    if (pairs != NULL && gpus > 0) {
        AR_TRY(ar_error_blame(parse_pairs(pairs, gpus, values, err), pairs->status, err));
    }
    for (uint32_t a = 0; a < gpus; a++) {
        for (uint32_t b = 0; b < a; b++) {
            with_nvlink += values->weight[a][b] != 0;
        }
    }
    values->has_nvlink = values->is_switched || with_nvlink > 0;
    values->needs_pcie = !values->is_switched && gpus > 1 && with_nvlink < gpus * (gpus - 1) / 2;
    return AR_OK;
}

/* --- checks ----------------------------------------------------------------------------------- */

enum { MISSING_SIZE = 400 };

static enum ar_status check_key_needs(const struct ar_topo_entries *entries,
                                      const struct ar_topo_values *values, struct ar_error *err)
{
    static const char *const nouns[] = {[KIND_NAME] = "a name",
                                        [KIND_COUNT] = "at least 1",
                                        [KIND_COUNTS] = "counts",
                                        [KIND_RATE] = "a rate",
                                        [KIND_SECONDS] = "a time"};
    const uint32_t *count = values->count;
    uint32_t fabric = count[TOPO_FABRIC], nodes = count[TOPO_NODES], hcas = count[TOPO_HCAS];
    bool is_plus = fabric == AR_FABRIC_DRAGONFLY_PLUS;
    bool is_dragonfly = is_plus || fabric == AR_FABRIC_DRAGONFLY;
    bool has_racks = (count[TOPO_TREE_RAILS] == AR_RAILS_SPINE && hcas > 1) ||
                     (count[TOPO_RACK_NODES] > 0 && count[TOPO_RACK_NODES] < nodes);
    const struct {
        bool is_true;
        const char *why;
    } needs[] = {
        [NEED_NEVER] = {false, ""},
        [NEED_ALWAYS] = {true, "every cluster file has one"},
        [NEED_NVLINK] = {values->has_nvlink, "nvlink.pairs is given"},
        [NEED_PCIE] = {values->needs_pcie, "some pairs of GPUs have no NVLink"},
        [NEED_SWITCHES] = {count[TOPO_PCIE_SWITCHES] > 0, "pcie.switches is given"},
        [NEED_NODES] = {nodes > 1 && nodes > count[TOPO_NVLINK_DOMAIN],
                        "the cluster has several nodes"},
        [NEED_HCAS] = {hcas > 0, "the nodes have HCAs"},
        [NEED_HCA_RATE] = {hcas > 0 && count[TOPO_TORUS_LINKS_AT_ONCE] == 0, "the nodes have HCAs"},
        [NEED_RACKS] = {has_racks, "there are several racks or rails"},
        [NEED_TORUS] = {fabric == AR_FABRIC_TORUS || fabric == AR_FABRIC_MESH,
                        "the fabric is a torus or a mesh"},
        [NEED_DRAGONFLY] = {is_dragonfly, "the fabric is a dragonfly"},
        [NEED_SPINES] = {is_plus, "the fabric is a dragonfly+"},
        [NEED_GROUPS] = {is_dragonfly && count[TOPO_DRAGONFLY_GROUPS] > 1,
                         "the dragonfly has several groups"},
    };
    char missing[MISSING_SIZE] = "";
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        const struct ar_topo_key_row *key = &ar_topo_keys[i];
        bool is_zero = key->kind == KIND_COUNT && values->count[i] == 0;
        if ((values->is_given[i] && !is_zero) || !needs[key->need].is_true) {
            continue;
        }
        char expected[120];
        snprintf(expected, sizeof expected, "%s, since %s", nouns[key->kind], needs[key->need].why);
        AR_TOPO_REFUSE(values->is_given[i], entries, (enum ar_topo_key)i, err, "%s", expected);
        ar_append_text(missing, sizeof missing, "%s key \"%s\": found nowhere; expected %s",
                       missing[0] != '\0' ? "," : "", key->name, expected);
    }
    AR_REFUSE(missing[0] != '\0', err, AR_BAD_DATA, "%.200s:%s", entries->path, missing);
    return AR_OK;
}

enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err)
{
    const uint32_t *count = values->count;
    uint32_t gpus = count[TOPO_GPUS], hcas = count[TOPO_HCAS];
    uint32_t switches = count[TOPO_PCIE_SWITCHES], groups = count[TOPO_TREE_GROUPS];
    bool is_tree = count[TOPO_FABRIC] == AR_FABRIC_FAT_TREE;
    bool is_torus = count[TOPO_FABRIC] == AR_FABRIC_TORUS || count[TOPO_FABRIC] == AR_FABRIC_MESH;
    bool is_plus = count[TOPO_FABRIC] == AR_FABRIC_DRAGONFLY_PLUS;
    bool is_dragonfly = !is_tree && !is_torus;
    bool is_attached = count[TOPO_HCA_ATTACHED] == AR_HCA_ON_SWITCH;
    bool goes_by_nvlink = count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK && gpus > 1;
    bool are_joined = values->has_nvlink && !values->needs_pcie;
#define OTHER_FABRIC(key, is_own, expected) /* a value above 0 */                                  \
    {                                                                                              \
        key, !(is_own) && values->is_given[key] && (count[key] != 0 || values->number[key] > 0),   \
            expected                                                                               \
    }
    const struct {
        enum ar_topo_key key;
        bool is_wrong;
        const char *expected;
    } rows[] = {
        {TOPO_PCIE_SWITCHES, switches > 0 && gpus % switches != 0, "a divisor of gpus_per_node"},
        {TOPO_HCAS, hcas > 0 && gpus % hcas != 0, "a divisor of gpus_per_node"},
        {TOPO_HCA_ATTACHED, is_attached && (switches == 0 || hcas == 0),
         "host, since the nodes have no PCIe switches or no HCAs"},
        {TOPO_HCA_ATTACHED, is_attached && switches > 0 && hcas % switches != 0,
         "host, or hcas a multiple of pcie.switches"},
        OTHER_FABRIC(TOPO_RACK_NODES, is_tree, "fabric = fat-tree, or none"),
        OTHER_FABRIC(TOPO_TREE_GROUPS, is_tree, "fabric = fat-tree, or none"),
        OTHER_FABRIC(TOPO_TREE_RAILS, is_tree, "none, or fabric = fat-tree"),
        OTHER_FABRIC(TOPO_FABRIC_SUMS, is_tree,
                     "no, or fabric = fat-tree, whose switches are a tree of sums"),
        OTHER_FABRIC(TOPO_ROUTER_NODES, !is_tree, "fabric = torus, mesh, dragonfly..., or none"),
        OTHER_FABRIC(TOPO_SWITCH_LATENCY, !is_tree, "fabric = torus, mesh, dragonfly..., or none"),
        OTHER_FABRIC(TOPO_TORUS_LENGTHS, is_torus, "fabric = torus or mesh, or none"),
        OTHER_FABRIC(TOPO_TORUS_WRAPS, is_torus, "fabric = torus or mesh, or none"),
        OTHER_FABRIC(TOPO_TORUS_LINKS_AT_ONCE, is_torus, "fabric = torus or mesh, or none"),
        OTHER_FABRIC(TOPO_DRAGONFLY_GROUPS, is_dragonfly,
                     "fabric = dragonfly or dragonfly+, or none"),
        OTHER_FABRIC(TOPO_DRAGONFLY_SPINES, is_plus, "fabric = dragonfly+, or none"),
        {TOPO_TORUS_LINKS_AT_ONCE,
         values->is_given[TOPO_HCA_BANDWIDTH] && count[TOPO_TORUS_LINKS_AT_ONCE] > 0,
         "it or hca.bandwidth, which say the same"},
        {TOPO_TORUS_WRAPS,
         values->is_given[TOPO_TORUS_WRAPS] && count[TOPO_TORUS_WRAPS] != count[TOPO_TORUS_LENGTHS],
         "a 0 or 1 for each of torus.lengths"},
        {TOPO_NVLINK_DOMAIN, !values->is_switched && count[TOPO_NVLINK_DOMAIN] > 1,
         "1, or nvlink.pairs = switch, which joins GPUs of several nodes"},
        {TOPO_NVLINK_SUMS, !values->is_switched && count[TOPO_NVLINK_SUMS] != 0,
         "no, or nvlink.pairs = switch, which can sum"},
        {TOPO_TREE_GROUPS, groups > 0 && count[TOPO_RACK_NODES] == 0,
         "none, or rack.nodes, since groups are of racks"},
        {TOPO_TREE_UPLINKS, count[TOPO_TREE_UPLINKS] != groups, "as many items as tree.groups has"},
        {TOPO_TREE_UPLINK_BANDWIDTH, count[TOPO_TREE_UPLINK_BANDWIDTH] != groups,
         "as many items as tree.groups has"},
        {TOPO_TREE_SWITCHES,
         values->is_given[TOPO_TREE_SWITCHES] && count[TOPO_TREE_SWITCHES] != groups + 1,
         "an item for racks and one for each of tree.groups"},
        {TOPO_TREE_RAILS, goes_by_nvlink && !are_joined,
         "none or spine, since some pairs of GPUs have no NVLink"},
        {TOPO_TREE_RAILS, count[TOPO_TREE_RAILS] != AR_RAILS_NONE && hcas == 1,
         "none, since nodes have one HCA"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AR_TOPO_REFUSE(rows[i].is_wrong, entries, rows[i].key, err, "%s", rows[i].expected);
    }
    return check_key_needs(entries, values, err);
}
