/* The cluster file of a discovery: values that follow from others, values that are assumed, and
 * what is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_units.h"
#include "machine.h"

/* The value of a key: that of a setting, else of a file. */
static struct fact fact_value(const struct ar_discovery *machine, unsigned fact)
{
    const struct ar_topo_entry *entry =
        fact < AR_TOPO_KEYS_COUNT ? ar_topo_entries_find(&machine->set, (enum ar_topo_key)fact)
                                  : NULL;
    return entry != NULL ? (struct fact){entry->text, entry->source} : machine->facts[fact];
}

static bool has_value(const struct ar_discovery *machine, unsigned fact)
{
    return fact_value(machine, fact).text != NULL;
}

static bool is_value(const struct ar_discovery *machine, unsigned fact, const char *text)
{
    const char *value = fact_value(machine, fact).text;
    return value != NULL && strcmp(value, text) == 0;
}

static uint32_t count_of(const struct ar_discovery *machine, unsigned fact)
{
    const char *text = fact_value(machine, fact).text;
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Gives a key a value, unless a setting or a file gives it one. */
static void derive_value(struct ar_discovery *machine, enum ar_topo_key key, const char *text,
                         const char *source)
{
    if (!has_value(machine, key)) {
        machine->facts[key] = (struct fact){ar_arena_text(machine->arena, text),
                                            ar_arena_text(machine->arena, source)};
    }
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

/* --- HCAs of NICs ----------------------------------------------------------------------------- */

enum nic_want { NIC_UP, NIC_PLACED, NIC_NEAR, NIC_FAST };

static bool nic_is_wanted(const struct nic *nic, enum nic_want want, double rate_bps)
{
    switch (want) {
    case NIC_UP:
        return !nic->is_down;
    case NIC_PLACED:
        return nic->near != NIC_SOMEWHERE;
    case NIC_NEAR:
        return nic->near >= 0;
    default:
        return nic->rate_bps <= 0 || nic->rate_bps >= rate_bps;
    }
}

struct nic_list {
    const struct nic *list[MACHINE_NICS_MAX];
    size_t count;
};

static bool nics_have(const struct nic_list *nics, enum nic_want want)
{
    for (size_t i = 0; i < nics->count; i++) {
        if (nic_is_wanted(nics->list[i], want, 0)) {
            return true;
        }
    }
    return false;
}

/* Keeps those that are wanted; a note names the others and `why`, unless that is NULL. */
static void nics_keep(struct ar_discovery *machine, struct nic_list *nics, enum nic_want want,
                      double rate_bps, const char *why)
{
    char names[200] = "";
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < nics->count; i++) {
        if (nic_is_wanted(nics->list[i], want, rate_bps)) {
            nics->list[kept++] = nics->list[i];
        } else if (used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "",
                                     nics->list[i]->name);
        }
    }
    nics->count = kept;
    if (used > 0 && why != NULL) {
        discovery_note(machine, "NICs that are not counted, since they %s: %s", why, names);
    }
}

static const struct nic *nics_fastest(const struct nic_list *nics)
{
    const struct nic *best = NULL;
    for (size_t i = 0; i < nics->count; i++) {
        bool is_better = nics->list[i]->rate_bps > (best != NULL ? best->rate_bps : 0);
        best = is_better ? nics->list[i] : best;
    }
    return best;
}

/* Whether each PCIe switch has as many. */
static bool nics_are_even(const struct nic_list *nics, uint32_t gpus_count, uint32_t switches)
{
    uint32_t of_switch[AR_TOPO_GPUS_MAX] = {0};
    for (size_t i = 0; i < nics->count; i++) {
        int32_t near = nics->list[i]->near;
        if (near < 0 || (uint32_t)near >= gpus_count) {
            return false;
        }
        of_switch[(uint32_t)near / (gpus_count / switches)]++;
    }
    for (uint32_t s = 1; s < switches; s++) {
        if (of_switch[s] != of_switch[0]) {
            return false;
        }
    }
    return nics->count > 0;
}

/* `hcas`, their rate and where they hang. Several ports for each GPU are one HCA of their sum.
 * `gpus_count` and `switches` are 0 if they are not known. */
static void derive_hcas(struct ar_discovery *machine, uint32_t gpus_count, uint32_t switches)
{
    char text[AR_UNIT_TEXT];
    struct ar_arena *arena = machine->arena;
    struct nic_list nics = {.count = machine->nics_count};
    for (size_t i = 0; i < nics.count; i++) {
        nics.list[i] = &machine->nics[i];
    }
    nics_keep(machine, &nics, NIC_UP, 0, "are down");
    const struct nic *fastest_of_all = nics_fastest(&nics);
    if (nics_have(&nics, NIC_PLACED)) { /* others are the same by another name, or far */
        nics_keep(machine, &nics, NIC_PLACED, 0, NULL);
    }
    if (nics_have(&nics, NIC_NEAR)) {
        nics_keep(machine, &nics, NIC_NEAR, 0, "are below no PCIe switch with a GPU");
    }
    const struct nic *rated = nics_fastest(&nics);
    if (rated != NULL) {
        nics_keep(machine, &nics, NIC_FAST, rated->rate_bps, "are slower");
    }
    rated = rated != NULL ? rated : fastest_of_all;
    size_t count = nics.count;
    size_t ports = gpus_count > 0 && count > gpus_count ? count / gpus_count : 1;
    if (count == 0) {
        return;
    }
    if (gpus_count > 0 && (count % ports != 0 || gpus_count % (count / ports) != 0)) {
        discovery_note(machine,
                       "%zu NICs for %u GPUs are not counted: a cluster file needs a divisor",
                       count, gpus_count);
        return;
    }
    snprintf(text, sizeof text, "%zu", count / ports);
    derive_value(machine, TOPO_HCAS, text,
                 ar_arena_format(arena, "%s, the first of %zu NICs%s", nics.list[0]->source, count,
                                 ports > 1 ? ", several to one HCA of their sum" : ""));
    if (rated != NULL) {
        snprintf(text, sizeof text, "%.6gGbps", rated->rate_bps * (double)ports / 1e9);
        derive_value(machine, TOPO_HCA_BANDWIDTH, text,
                     ar_arena_format(arena, "%s%s, nominal", rated->rate_source,
                                     ports > 1 ? ", the ports of an HCA" : ""));
    }
    if (nics_have(&nics, NIC_PLACED) && switches > 0) {
        bool is_on_switch =
            count / ports % switches == 0 && nics_are_even(&nics, gpus_count, switches);
        derive_value(machine, TOPO_HCA_ATTACHED, is_on_switch ? "switch" : "host",
                     nics.list[0]->near_source);
    }
}

/* --- rates ------------------------------------------------------------------------------------ */

static void derive_nvlink(struct ar_discovery *machine, unsigned generation)
{
    char rate[AR_UNIT_TEXT], source[2 * AR_TOPO_TEXT_MAX];
    const struct gpu_kind *kind = &gpu_kinds[generation];
    bool is_switch = is_value(machine, TOPO_NVLINK_PAIRS, "switch");
    const char *from = fact_value(machine, FACT_LINKS).source;
    uint32_t links = count_of(machine, FACT_LINKS);
    if (links == 0 && is_switch) { /* all that a GPU has lead to switches */
        links = kind->links;
        from = fact_value(machine, TOPO_GPU_GENERATION).source;
    }
    if (links == 0 || !has_value(machine, TOPO_NVLINK_PAIRS) ||
        is_value(machine, TOPO_NVLINK_PAIRS, "none")) {
        return;
    }
    snprintf(rate, sizeof rate, "%.4gGB/s", links * kind->link_Bps / 1e9);
    snprintf(source, sizeof source, "%.250s; %u links of %.4g GB/s: %.100s", from, links,
             kind->link_Bps / 1e9, kind->link_source);
    derive_value(machine, TOPO_NVLINK_BANDWIDTH, rate, source);
}

/* The rate of PCIe as GPUs of the generation have it, where a file has switches alone. */
static void derive_pcie(struct ar_discovery *machine, unsigned generation)
{
    char rate[AR_UNIT_TEXT], source[AR_TOPO_TEXT_MAX];
    double transfers_per_s = gpu_kinds[generation].pcie_transfers_per_s;
    if (count_of(machine, TOPO_PCIE_SWITCHES) == 0) {
        return;
    }
    snprintf(rate, sizeof rate, "%.5gGB/s", pcie_rate_Bps(transfers_per_s, 16) / 1e9);
    snprintf(source, sizeof source, "assumed: 16 lanes of %g GT/s, as %s has; raw",
             transfers_per_s / 1e9, ar_gpu_generation_names[generation]);
    derive_value(machine, TOPO_PCIE_BANDWIDTH, rate, source);
}

/* Constants of the library; a note names those that are assumed. */
static void derive_constants(struct ar_discovery *machine, unsigned generation)
{
    bool is_known = generation < AR_GPU_GENERATIONS_COUNT;
    unsigned like = is_known ? generation : machine->is_amd ? AR_GPU_CDNA2 : AR_GPU_AMPERE;
    const struct gpu_kind *kind = &gpu_kinds[like];
    const char *pairs = fact_value(machine, TOPO_NVLINK_PAIRS).text;
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
        if (rows[i].is_needed && !has_value(machine, rows[i].key)) {
            derive_value(machine, rows[i].key, rows[i].value, source);
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s %s", used > 0 ? ", " : "",
                                 ar_topo_keys[rows[i].key].name, rows[i].value);
        }
    }
    if (used > 0) {
        discovery_note(machine, "assumed, since no file has them: %s, from %.100s%s%s", names,
                       kind->latency_source,
                       is_known ? "" : "; those of GPUs of unknown generation as of ",
                       is_known ? "" : ar_gpu_generation_names[like]);
    }
}

/* --- what is missing -------------------------------------------------------------------------- */

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

static void add_missing(struct missing *missing, bool is_missing, const char *option)
{
    if (is_missing && missing->used < sizeof missing->options) {
        missing->used += (size_t)snprintf(missing->options + missing->used,
                                          sizeof missing->options - missing->used, " %s", option);
    }
}

static void add_missing_key(struct missing *missing, const struct ar_discovery *machine,
                            bool is_needed, enum ar_topo_key key)
{
    static const char *const values[] = {
        [KIND_COUNT] = "N", [KIND_COUNTS] = "NxN", [KIND_RATE] = "RATE"};
    char option[80];
    if (is_needed && !has_value(machine, key)) {
        size_t kind = (size_t)ar_topo_keys[key].kind;
        bool is_listed = kind < sizeof values / sizeof values[0] && values[kind] != NULL;
        snprintf(option, sizeof option, "--set %s=%s", ar_topo_keys[key].name,
                 is_listed ? values[kind] : "VALUE");
        add_missing(missing, true, option);
    }
}

static bool has_fabric(const struct ar_discovery *machine)
{
    static const enum ar_topo_key keys[] = {TOPO_FABRIC, TOPO_RACK_NODES, TOPO_TREE_RAILS,
                                            TOPO_TREE_GROUPS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (has_value(machine, keys[i])) {
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
    bool is_open =
        !has_value(machine, TOPO_RACK_NODES) && is_value(machine, TOPO_FABRIC, "fat-tree");
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

static void add_missing_fabric(struct missing *missing, const struct ar_discovery *machine,
                               bool has_several)
{
    bool is_grid = needs_key(machine, NEED_TORUS) || needs_key(machine, NEED_DRAGONFLY);
    add_missing(missing, !has_value(machine, TOPO_NODES) && !is_grid, "--nodes N");
    add_missing(missing, has_several && !has_fabric(machine),
                "--fabric non-blocking|rails|... (see list fabrics)");
    add_missing_key(missing, machine, is_value(machine, TOPO_FABRIC, "fat-tree"), TOPO_RACK_NODES);
    for (unsigned key = 0; key < AR_TOPO_KEYS_COUNT; key++) {
        add_missing_key(missing, machine, needs_key(machine, ar_topo_keys[key].need),
                        (enum ar_topo_key)key);
    }
}

/* NVLinks, and PCIe where they are not; of both if nobody says which pairs of GPUs have NVLinks. */
static void add_missing_links(struct missing *missing, const struct ar_discovery *machine)
{
    const char *pairs = fact_value(machine, TOPO_NVLINK_PAIRS).text;
    bool has_rate = has_value(machine, TOPO_NVLINK_BANDWIDTH);
    bool has_generation = has_value(machine, TOPO_GPU_GENERATION);
    bool has_switches = count_of(machine, TOPO_PCIE_SWITCHES) > 0;
    bool has_pcie_rate = has_value(machine, TOPO_PCIE_BANDWIDTH);
    if (is_value(machine, TOPO_GPUS, "1")) {
        pairs = "none";
    }
    if (pairs == NULL) {
        add_missing(missing, true, "--set nvlink.pairs=switch|all|none|0-1...");
        add_missing(missing, !has_rate,
                    has_generation ? "--set nvlink.bandwidth=RATE (unless switch or none)"
                                   : "--set nvlink.bandwidth=RATE (unless none)");
        add_missing(missing, !has_switches, "--set pcie.switches=N (unless switch or all)");
        add_missing(missing, !has_pcie_rate && (has_switches || !has_generation),
                    has_switches ? "--set pcie.bandwidth=RATE"
                                 : "--set pcie.bandwidth=RATE (unless switch or all)");
        return;
    }
    bool is_switch = strcmp(pairs, "switch") == 0;
    bool may_follow = !has_generation && (is_switch || has_value(machine, FACT_LINKS));
    bool needs_pcie = count_of(machine, TOPO_GPUS) != 1 && !is_switch && strcmp(pairs, "all") != 0;
    add_missing(missing, strcmp(pairs, "none") != 0 && !has_rate,
                may_follow ? machine->is_amd
                                 ? "--set nvlink.bandwidth=RATE (or gpu.generation=cdna2|...)"
                                 : "--set nvlink.bandwidth=RATE (or gpu.generation=volta|...)"
                           : "--set nvlink.bandwidth=RATE");
    add_missing(missing, needs_pcie && !has_switches, "--set pcie.switches=N");
    add_missing(missing, !has_pcie_rate && (needs_pcie || has_switches),
                "--set pcie.bandwidth=RATE");
}

/* Rails are of several HCAs. */
static enum ar_status check_rails_have_hcas(const struct ar_discovery *machine,
                                            struct ar_error *err)
{
    return fact_is_set(machine, TOPO_TREE_RAILS) && count_of(machine, TOPO_HCAS) == 1 &&
                   !is_value(machine, TOPO_TREE_RAILS, "none")
               ? ar_error_set(err, AR_USAGE,
                              "%s: found rails for nodes with one HCA (%.200s); expected several "
                              "HCAs, or --fabric non-blocking",
                              fact_value(machine, TOPO_TREE_RAILS).source,
                              fact_value(machine, TOPO_HCAS).source)
               : AR_OK;
}

/* Asks for all that is missing at once, also for keys that only some answers need. */
static enum ar_status check_missing_keys(const struct ar_discovery *machine, struct ar_error *err)
{
    struct missing missing = {.used = 0};
    bool has_several = !is_value(machine, TOPO_NODES, "1");
    add_missing_fabric(&missing, machine, has_several);
    add_missing_key(&missing, machine, true, TOPO_GPUS);
    add_missing_links(&missing, machine);
    add_missing(&missing, has_several && count_of(machine, TOPO_HCAS) == 0, "--set hcas=N");
    add_missing_key(&missing, machine,
                    (has_several || count_of(machine, TOPO_HCAS) > 0) &&
                        !has_value(machine, TOPO_TORUS_LINKS_AT_ONCE),
                    TOPO_HCA_BANDWIDTH);
    return missing.used == 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "discover: found files that lack values; expected also%s",
                              missing.options);
}

/* --- the file --------------------------------------------------------------------------------- */

enum ar_status ar_discover_finish(struct ar_discovery *machine, const char *name,
                                  struct ar_topo **topo, struct ar_error *err)
{
    struct ar_topo *made = ar_topo_create("discover", machine->arena);
    struct ar_cluster *checked = NULL;
    unsigned generation = generation_of(machine);
    uint32_t gpus = count_of(machine, TOPO_GPUS);
    uint32_t switches = count_of(machine, TOPO_PCIE_SWITCHES);
    bool is_count = gpus > 0 && gpus <= AR_TOPO_GPUS_MAX;
    if (generation < AR_GPU_GENERATIONS_COUNT) {
        derive_nvlink(machine, generation);
        derive_pcie(machine, generation);
    }
    derive_hcas(machine, is_count ? gpus : 0,
                is_count && switches > 0 && gpus % switches == 0 ? switches : 0);
    AR_TRY(check_rails_have_hcas(machine, err));
    AR_TRY(check_missing_keys(machine, err));
    derive_constants(machine, generation);
    derive_value(machine, TOPO_NAME, name, "name of this file");
    for (unsigned key = 0; key < AR_TOPO_KEYS_COUNT; key++) {
        struct fact value = fact_value(machine, key);
        if (value.text != NULL) {
            AR_TRY(ar_topo_set(made, ar_topo_keys[key].name, value.text, value.source, err));
        }
    }
    AR_TRY(ar_cluster_create(made, machine->settings, machine->arena, &checked, err));
    *topo = made;
    return AR_OK;
}
