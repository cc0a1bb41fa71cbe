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
    const struct gpu_kind *kind = &gpu_kinds[is_known ? generation : AR_GPU_AMPERE];
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
                     : machine_note(machine, err, "said nowhere: %s are assumed, from %.100s",
                                    names, kind->latency_source);
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

const struct ar_discover_fabric ar_discover_fabrics[] = {{"non-blocking", "rack.nodes=0"},
                                                         {"rails", "tree.rails=nvlink"},
                                                         {"fat-tree", "fabric=fat-tree"},
                                                         {"torus", "fabric=torus"},
                                                         {"mesh", "fabric=mesh"},
                                                         {"dragonfly", "fabric=dragonfly"},
                                                         {"dragonfly+", "fabric=dragonfly+"},
                                                         {NULL, NULL}};

struct missing {
    char names[160], options[300];
    size_t names_used, options_used;
};

static void miss(struct missing *missing, bool is_missing, const char *name, const char *option)
{
    if (is_missing && missing->names_used < sizeof missing->names &&
        missing->options_used < sizeof missing->options) {
        missing->names_used += (size_t)snprintf(missing->names + missing->names_used,
                                                sizeof missing->names - missing->names_used, "%s%s",
                                                missing->names_used > 0 ? ", " : "", name);
        missing->options_used +=
            (size_t)snprintf(missing->options + missing->options_used,
                             sizeof missing->options - missing->options_used, " %s", option);
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

static enum ar_status ask(const struct ar_discovery *machine, struct ar_error *err)
{
    struct missing missing = {.names_used = 0};
    uint32_t gpus = count_of(machine, TOPO_GPUS);
    bool has_several = !is_value(machine, TOPO_NODES, "1");
    bool is_tree = is_value(machine, TOPO_FABRIC, "fat-tree");
    const char *pairs = value_of(machine, TOPO_NVLINK_PAIRS).text;
    bool has_nvlink = pairs != NULL && strcmp(pairs, "none") != 0;
    bool is_whole = pairs != NULL && (strcmp(pairs, "all") == 0 || strcmp(pairs, "switch") == 0);
    bool needs_pcie = pairs != NULL && gpus > 1 && !is_whole;
    bool is_grid = has(machine, TOPO_TORUS_LENGTHS) || has(machine, TOPO_DRAGONFLY_GROUPS);
    miss(&missing, !has(machine, TOPO_NODES) && !is_grid, "nodes", "--nodes N");
    miss(&missing, has_several && !has_fabric(machine), "fabric",
         "--fabric non-blocking|rails|fat-tree|torus|...");
    miss(&missing, is_tree && !has(machine, TOPO_RACK_NODES), "rack.nodes", "--set rack.nodes=N");
    miss(&missing, gpus == 0, "gpus_per_node", "--set gpus_per_node=N");
    miss(&missing, gpus != 1 && pairs == NULL, "nvlink.pairs",
         "--set nvlink.pairs=switch|all|none|0-1...");
    miss(&missing, has_nvlink && !has(machine, TOPO_NVLINK_BANDWIDTH), "nvlink.bandwidth",
         has(machine, TOPO_GPU_GENERATION)
             ? "--set nvlink.bandwidth=RATE"
             : "--set nvlink.bandwidth=RATE (or gpu.generation=volta|...)");
    miss(&missing, needs_pcie && count_of(machine, TOPO_PCIE_SWITCHES) == 0, "pcie.switches",
         "--set pcie.switches=N");
    miss(&missing,
         !has(machine, TOPO_PCIE_BANDWIDTH) &&
             (needs_pcie || count_of(machine, TOPO_PCIE_SWITCHES) > 0),
         "pcie.bandwidth", "--set pcie.bandwidth=RATE");
    miss(&missing, has_several && count_of(machine, TOPO_HCAS) == 0, "hcas", "--set hcas=N");
    miss(&missing,
         (has_several || count_of(machine, TOPO_HCAS) > 0) && !has(machine, TOPO_HCA_BANDWIDTH) &&
             !has(machine, TOPO_TORUS_LINKS_AT_ONCE),
         "hca.bandwidth", "--set hca.bandwidth=RATE");
    return missing.names_used == 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE, "discover: the files do not say %s; expected%s",
                              missing.names, missing.options);
}

/* --- the file -------------------------------------------------------------------------------- */

enum ar_status ar_discover_finish(struct ar_discovery *machine, const char *name,
                                  struct ar_topo **topo, struct ar_error *err)
{
    struct ar_topo *made = NULL;
    struct ar_cluster *checked = NULL;
    unsigned generation = generation_of(machine);
    AR_TRY(derive_all(machine, generation, err));
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
