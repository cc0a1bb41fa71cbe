/* The cluster file of what was said: derived and assumed values, and what is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_units.h"
#include "gpus.h"
#include "pci.h"

/* What a key has: a setting before a file. */
static struct fact value_of(const struct ar_discovery *machine, unsigned fact)
{
    const struct ar_topo_entry *entry =
        fact < AR_TOPO_KEYS_COUNT ? ar_topo_entries_find(&machine->set, (enum ar_topo_key)fact)
                                  : NULL;
    return entry != NULL ? (struct fact){entry->text, entry->source} : machine->facts[fact];
}

static bool has(const struct ar_discovery *machine, unsigned fact)
{
    return value_of(machine, fact).text != NULL;
}

static bool is_value(const struct ar_discovery *machine, unsigned fact, const char *text)
{
    const char *value = value_of(machine, fact).text;
    return value != NULL && strcmp(value, text) == 0;
}

static uint32_t count_of(const struct ar_discovery *machine, unsigned fact)
{
    const char *text = value_of(machine, fact).text;
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Says what nobody said. */
static enum ar_status derive(struct ar_discovery *machine, enum ar_topo_key key, const char *text,
                             const char *source, struct ar_error *err)
{
    struct fact *fact = &machine->facts[key];
    if (has(machine, key)) {
        return AR_OK;
    }
    fact->text = ar_arena_text(machine->arena, text);
    fact->source = ar_arena_text(machine->arena, source);
    return fact->text != NULL && fact->source != NULL ? AR_OK
                                                      : ar_error_no_memory(err, "a cluster file");
}

/* The generation; AR_GPU_GENERATIONS_COUNT: not known. */
static unsigned generation_of(const struct ar_discovery *machine)
{
    unsigned generation = 0;
    while (generation < AR_GPU_GENERATIONS_COUNT &&
           !is_value(machine, TOPO_GPU_GENERATION, ar_gpu_generation_names[generation])) {
        generation++;
    }
    return generation;
}

/* --- rates ----------------------------------------------------------------------------------- */

static enum ar_status derive_nvlink(struct ar_discovery *machine, unsigned generation,
                                    struct ar_error *err)
{
    char rate[AR_UNIT_TEXT], source[2 * AR_TOPO_TEXT_MAX];
    const struct gpu_kind *kind = &gpu_kinds[generation];
    bool is_switch = is_value(machine, TOPO_NVLINK_PAIRS, "switch");
    const char *from = value_of(machine, FACT_LINKS).source;
    uint32_t links = count_of(machine, FACT_LINKS);
    if (links == 0 && is_switch) { /* all that a GPU has lead to switches */
        links = kind->links;
        from = value_of(machine, TOPO_GPU_GENERATION).source;
    }
    if (links == 0 || !has(machine, TOPO_NVLINK_PAIRS) ||
        is_value(machine, TOPO_NVLINK_PAIRS, "none")) {
        return AR_OK;
    }
    snprintf(rate, sizeof rate, "%.4gGB/s", links * kind->link_Bps / 1e9);
    snprintf(source, sizeof source, "%.250s; %u links of %.4g GB/s: %.100s", from, links,
             kind->link_Bps / 1e9, kind->link_source);
    return derive(machine, TOPO_NVLINK_BANDWIDTH, rate, source, err);
}

/* That of the generation, where a file has PCIe switches but not how fast they are. */
static enum ar_status derive_pcie(struct ar_discovery *machine, unsigned generation,
                                  struct ar_error *err)
{
    char rate[AR_UNIT_TEXT], source[AR_TOPO_TEXT_MAX];
    double transfers_per_s = gpu_kinds[generation].pcie_transfers_per_s;
    if (count_of(machine, TOPO_PCIE_SWITCHES) == 0) {
        return AR_OK;
    }
    snprintf(rate, sizeof rate, "%.5gGB/s", pci_rate_Bps(transfers_per_s, 16) / 1e9);
    snprintf(source, sizeof source, "assumed: 16 lanes of %g GT/s, as %s has; raw",
             transfers_per_s / 1e9, ar_gpu_generation_names[generation]);
    return derive(machine, TOPO_PCIE_BANDWIDTH, rate, source, err);
}

/* Constants of the library; a note names those that nobody said. */
static enum ar_status derive_constants(struct ar_discovery *machine, unsigned generation,
                                       struct ar_error *err)
{
    bool is_known = generation < AR_GPU_GENERATIONS_COUNT;
    unsigned like = is_known ? generation : machine->is_amd ? AR_GPU_CDNA2 : AR_GPU_AMPERE;
    const struct gpu_kind *kind = &gpu_kinds[like];
    const char *pairs = value_of(machine, TOPO_NVLINK_PAIRS).text;
    bool has_nvlink = pairs != NULL && strcmp(pairs, "none") != 0;
    bool is_whole = pairs != NULL && (strcmp(pairs, "switch") == 0 || strcmp(pairs, "all") == 0);
    const struct {
        enum ar_topo_key key;
        const char *value;
        bool is_needed;
    } rows[] = {
        {TOPO_COLLECTIVE_SETUP, kind->setup, true},
        {TOPO_NVLINK_LATENCY, kind->link_latency, has_nvlink},
        {TOPO_PCIE_LATENCY, kind->pcie_latency, !is_whole},
        {TOPO_NET_LATENCY, kind->net_latency, count_of(machine, TOPO_HCAS) > 0},
        {TOPO_LIBRARY_RELEASE, kind->library_release, is_known && kind->library_release != NULL}};
    char source[AR_TOPO_TEXT_MAX], names[AR_TOPO_TEXT_MAX] = "";
    size_t used = 0;
    snprintf(source, sizeof source, "assumed: %.150s", kind->latency_source);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is_needed && !has(machine, rows[i].key)) {
            AR_TRY(derive(machine, rows[i].key, rows[i].value, source, err));
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s %s", used > 0 ? ", " : "",
                                 ar_topo_keys[rows[i].key].name, rows[i].value);
        }
    }
    return used == 0 ? AR_OK
                     : machine_note(machine, err, "said nowhere: %s are assumed, from %.100s%s%s",
                                    names, kind->latency_source,
                                    is_known ? "" : "; those of GPUs of unknown generation as of ",
                                    is_known ? "" : ar_gpu_generation_names[like]);
}

static enum ar_status derive_all(struct ar_discovery *machine, unsigned generation,
                                 struct ar_error *err)
{
    uint32_t gpus = count_of(machine, TOPO_GPUS);
    uint32_t switches = count_of(machine, TOPO_PCIE_SWITCHES);
    bool is_count = gpus > 0 && gpus <= AR_TOPO_GPUS_MAX;
    bool is_even = is_count && switches > 0 && gpus % switches == 0;
    if (generation < AR_GPU_GENERATIONS_COUNT) {
        AR_TRY(derive_nvlink(machine, generation, err));
        AR_TRY(derive_pcie(machine, generation, err));
    }
    return machine_say_hcas(machine, is_count ? gpus : 0, is_even ? switches : 0, err);
}

/* --- what is missing ------------------------------------------------------------------------- */

const struct ar_discover_fabric ar_discover_fabrics[AR_DISCOVER_FABRICS_COUNT] = {
    {"non-blocking", "rack.nodes=0"},
    {"rails", "tree.rails=nvlink"},
    {"fat-tree", "fabric=fat-tree"},
    {"torus", "fabric=torus"},
    {"mesh", "fabric=mesh"},
    {"dragonfly", "fabric=dragonfly"},
    {"dragonfly+", "fabric=dragonfly+"}};

/* Options that would say what is missing. */
struct missing {
    char options[460];
    size_t used;
};

static void miss(struct missing *missing, bool is_missing, const char *option)
{
    if (is_missing && missing->used < sizeof missing->options) {
        missing->used += (size_t)snprintf(missing->options + missing->used,
                                          sizeof missing->options - missing->used, " %s", option);
    }
}

static void miss_key(struct missing *missing, const struct ar_discovery *machine, bool is_needed,
                     enum ar_topo_key key)
{
    static const char *const values[] = {
        [KIND_COUNT] = "N", [KIND_COUNTS] = "NxN", [KIND_RATE] = "RATE"};
    char option[80];
    if (is_needed && !has(machine, key)) {
        size_t kind = (size_t)ar_topo_keys[key].kind;
        bool is_listed = kind < sizeof values / sizeof values[0] && values[kind] != NULL;
        snprintf(option, sizeof option, "--set %s=%s", ar_topo_keys[key].name,
                 is_listed ? values[kind] : "VALUE");
        miss(missing, true, option);
    }
}

static bool has_fabric(const struct ar_discovery *machine)
{
    static const enum ar_topo_key keys[] = {TOPO_FABRIC, TOPO_RACK_NODES, TOPO_TREE_RAILS,
                                            TOPO_TREE_GROUPS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (has(machine, keys[i])) {
            return true;
        }
    }
    return false;
}

/* Whether the fabric, if it is the one that the need is of, needs a key. */
static bool needs_key(const struct ar_discovery *machine, enum ar_topo_need need)
{
    bool is_plus = is_value(machine, TOPO_FABRIC, "dragonfly+");
    bool is_dragonfly = is_plus || is_value(machine, TOPO_FABRIC, "dragonfly");
    uint32_t racks = count_of(machine, TOPO_RACK_NODES), nodes = count_of(machine, TOPO_NODES);
    bool is_open = !has(machine, TOPO_RACK_NODES) && is_value(machine, TOPO_FABRIC, "fat-tree");
    switch (need) {
    case NEED_RACKS:
        return is_open || (racks > 0 && racks < nodes);
    case NEED_TORUS:
        return is_value(machine, TOPO_FABRIC, "torus") || is_value(machine, TOPO_FABRIC, "mesh");
    case NEED_DRAGONFLY:
        return is_dragonfly;
    case NEED_SPINES:
        return is_plus;
    case NEED_GROUPS:
        return is_dragonfly && !is_value(machine, TOPO_DRAGONFLY_GROUPS, "1");
    default:
        return false;
    }
}

static void miss_fabric(struct missing *missing, const struct ar_discovery *machine,
                        bool has_several)
{
    bool is_grid = needs_key(machine, NEED_TORUS) || needs_key(machine, NEED_DRAGONFLY);
    miss(missing, !has(machine, TOPO_NODES) && !is_grid, "--nodes N");
    miss(missing, has_several && !has_fabric(machine),
         "--fabric non-blocking|rails|... (see list fabrics)");
    miss_key(missing, machine, is_value(machine, TOPO_FABRIC, "fat-tree"), TOPO_RACK_NODES);
    for (unsigned key = 0; key < AR_TOPO_KEYS_COUNT; key++) {
        miss_key(missing, machine, needs_key(machine, ar_topo_keys[key].need),
                 (enum ar_topo_key)key);
    }
}

/* NVLinks, and PCIe where they are not; of both if nobody says which pairs of GPUs have NVLinks. */
static void miss_links(struct missing *missing, const struct ar_discovery *machine)
{
    const char *pairs = value_of(machine, TOPO_NVLINK_PAIRS).text;
    bool has_rate = has(machine, TOPO_NVLINK_BANDWIDTH);
    bool has_generation = has(machine, TOPO_GPU_GENERATION);
    bool has_switches = count_of(machine, TOPO_PCIE_SWITCHES) > 0;
    bool has_pcie_rate = has(machine, TOPO_PCIE_BANDWIDTH);
    if (is_value(machine, TOPO_GPUS, "1")) {
        pairs = "none";
    }
    if (pairs == NULL) {
        miss(missing, true, "--set nvlink.pairs=switch|all|none|0-1...");
        miss(missing, !has_rate,
             has_generation ? "--set nvlink.bandwidth=RATE (unless switch or none)"
                            : "--set nvlink.bandwidth=RATE (unless none)");
        miss(missing, !has_switches, "--set pcie.switches=N (unless switch or all)");
        miss(missing, !has_pcie_rate && (has_switches || !has_generation),
             has_switches ? "--set pcie.bandwidth=RATE"
                          : "--set pcie.bandwidth=RATE (unless switch or all)");
        return;
    }
    bool is_switch = strcmp(pairs, "switch") == 0;
    bool may_follow = !has_generation && (is_switch || has(machine, FACT_LINKS));
    bool needs_pcie = count_of(machine, TOPO_GPUS) != 1 && !is_switch && strcmp(pairs, "all") != 0;
    miss(missing, strcmp(pairs, "none") != 0 && !has_rate,
         may_follow ? machine->is_amd ? "--set nvlink.bandwidth=RATE (or gpu.generation=cdna2|...)"
                                      : "--set nvlink.bandwidth=RATE (or gpu.generation=volta|...)"
                    : "--set nvlink.bandwidth=RATE");
    miss(missing, needs_pcie && !has_switches, "--set pcie.switches=N");
    miss(missing, !has_pcie_rate && (needs_pcie || has_switches), "--set pcie.bandwidth=RATE");
}

/* Rails are of several HCAs. */
static enum ar_status check_rails(const struct ar_discovery *machine, struct ar_error *err)
{
    return machine_is_set(machine, TOPO_TREE_RAILS) && count_of(machine, TOPO_HCAS) == 1 &&
                   !is_value(machine, TOPO_TREE_RAILS, "none")
               ? ar_error_set(err, AR_USAGE,
                              "%s: found rails for nodes with one HCA (%.200s); expected several "
                              "HCAs, or --fabric non-blocking",
                              value_of(machine, TOPO_TREE_RAILS).source,
                              value_of(machine, TOPO_HCAS).source)
               : AR_OK;
}

/* All at once: a key that only some answers need is asked for with them. */
static enum ar_status ask(const struct ar_discovery *machine, struct ar_error *err)
{
    struct missing missing = {.used = 0};
    bool has_several = !is_value(machine, TOPO_NODES, "1");
    miss_fabric(&missing, machine, has_several);
    miss_key(&missing, machine, true, TOPO_GPUS);
    miss_links(&missing, machine);
    miss(&missing, has_several && count_of(machine, TOPO_HCAS) == 0, "--set hcas=N");
    miss_key(&missing, machine,
             (has_several || count_of(machine, TOPO_HCAS) > 0) &&
                 !has(machine, TOPO_TORUS_LINKS_AT_ONCE),
             TOPO_HCA_BANDWIDTH);
    return missing.used == 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE, "discover: the files do not say all; expected also%s",
                              missing.options);
}

/* --- the file -------------------------------------------------------------------------------- */

enum ar_status ar_discover_finish(struct ar_discovery *machine, const char *name,
                                  struct ar_topo **topo, struct ar_error *err)
{
    struct ar_topo *made = NULL;
    struct ar_cluster *checked = NULL;
    unsigned generation = generation_of(machine);
    AR_TRY(derive_all(machine, generation, err));
    AR_TRY(check_rails(machine, err));
    AR_TRY(ask(machine, err));
    AR_TRY(derive_constants(machine, generation, err));
    AR_TRY(derive(machine, TOPO_NAME, name, "name of this file", err));
    AR_TRY(ar_topo_create("discover", machine->arena, &made, err));
    for (unsigned key = 0; key < AR_TOPO_KEYS_COUNT; key++) {
        struct fact value = value_of(machine, key);
        if (value.text != NULL) {
            AR_TRY(ar_topo_set(made, ar_topo_keys[key].name, value.text, value.source, err));
        }
    }
    AR_TRY(ar_cluster_create(made, machine->settings, machine->arena, &checked, err));
    *topo = made;
    return AR_OK;
}
