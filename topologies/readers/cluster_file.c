/* The cluster file of a discovery: values that follow, that are assumed, and what is missing. */
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_text.h"
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

/* --- HCAs of NICs ----------------------------------------------------------------------------- */

enum nic_want { NIC_UP, NIC_PLACED, NIC_NEAR, NIC_FAST };

struct nic_list {
    const struct nic *list[MACHINE_NICS_MAX];
    size_t count;
};

/* Keeps those that are wanted, if there are some; a note names the others and `why` (or NULL). */
static void nics_keep(struct ar_discovery *machine, struct nic_list *nics, enum nic_want want,
                      double rate_bps, const char *why)
{
    char names[200] = "";
    struct nic_list kept = {.count = 0};
    for (size_t i = 0; i < nics->count; i++) {
        const struct nic *nic = nics->list[i];
        bool is_wanted = want == NIC_UP       ? !nic->is_down
                         : want == NIC_PLACED ? nic->near != NIC_SOMEWHERE
                         : want == NIC_NEAR   ? nic->near >= 0
                                              : nic->rate_bps <= 0 || nic->rate_bps >= rate_bps;
        if (is_wanted) {
            kept.list[kept.count++] = nic;
        } else {
            ar_append_text(names, sizeof names, "%s%s", names[0] != '\0' ? " " : "", nic->name);
        }
    }
    if (names[0] != '\0' && kept.count > 0) {
        *nics = kept;
        if (why != NULL) {
            discovery_note(machine, ar_arena_format(machine->arena,
                                                    "NICs that are not counted, since they %s: %s",
                                                    why, names));
        }
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
    nics_keep(machine, &nics, NIC_PLACED, 0,
              NULL); /* others are the same by another name, or far */
    nics_keep(machine, &nics, NIC_NEAR, 0, "are below no PCIe switch with a GPU");
    const struct nic *rated = nics_fastest(&nics);
    nics_keep(machine, &nics, NIC_FAST, rated != NULL ? rated->rate_bps : 0, "are slower");
    rated = rated != NULL ? rated : fastest_of_all;
    size_t count = nics.count;
    size_t ports = gpus_count > 0 && count > gpus_count ? count / gpus_count : 1;
    if (count == 0) {
        return;
    }
    if (gpus_count > 0 && (count % ports != 0 || gpus_count % (count / ports) != 0)) {
        discovery_note(
            machine,
            ar_arena_format(machine->arena,
                            "%zu NICs for %u GPUs are not counted: a cluster file needs a divisor",
                            count, gpus_count));
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
    if (nics.list[0]->near != NIC_SOMEWHERE && switches > 0) {
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

/* Rates of NCCL's rings, which engine library and nccl need: in a node over all NVLinks of a GPU,
 * across the network in the steps of its search, 12 GB/s for 100 Gb/s of HCAs. */
static void derive_bus(struct ar_discovery *machine, unsigned generation)
{
    static const double share_of_hcas = 12.0 / 12.5;
    const struct gpu_kind *kind = &gpu_kinds[generation];
    const struct fact hca = fact_value(machine, TOPO_HCA_BANDWIDTH);
    double node_Bps = kind->links * kind->link_bus_Bps, hca_Bps;
    char text[AR_UNIT_TEXT];
    if (node_Bps == 0 || !has_value(machine, TOPO_NVLINK_PAIRS) ||
        is_value(machine, TOPO_NVLINK_PAIRS, "none")) {
        return;
    }
    snprintf(text, sizeof text, "%.6gGB/s", node_Bps / 1e9);
    derive_value(machine, TOPO_LIBRARY_NODE_BUS, text,
                 ar_arena_format(machine->arena,
                                 "%u NVLinks at %g GB/s: NVIDIA/nccl v%s-1, src/graph/topo.h",
                                 kind->links, kind->link_bus_Bps / 1e9, kind->library_release));
    if (!has_value(machine, TOPO_LIBRARY_CHANNELS)) {
        discovery_note(machine,
                       "library.channels, the rings of NCCL, is left at 4: no file has it; "
                       "twice nchannels of graph 0 in NCCL_GRAPH_DUMP_FILE tells");
    }
    if (hca.text != NULL &&
        ar_parse_quantity("", hca.text, AR_QUANTITY_RATE, &hca_Bps, AR_IGNORED) == AR_OK) {
        double all_Bps = count_of(machine, TOPO_HCAS) * share_of_hcas * hca_Bps;
        snprintf(text, sizeof text, "%.6gGB/s", (all_Bps < node_Bps ? all_Bps : node_Bps) / 1e9);
        derive_value(machine, TOPO_LIBRARY_NET_BUS, text,
                     ar_arena_format(machine->arena,
                                     "all HCAs at 12 GB/s for each 100 Gb/s, at most as in a node: "
                                     "NVIDIA/nccl v%s-1, src/graph/search.cc",
                                     kind->library_release));
    }
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
    snprintf(source, sizeof source, "assumed: %.150s", kind->latency_source);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is_needed && !has_value(machine, rows[i].key)) {
            derive_value(machine, rows[i].key, rows[i].value, source);
            ar_append_text(names, sizeof names, "%s%s %s", names[0] != '\0' ? ", " : "",
                           ar_topo_keys[rows[i].key].name, rows[i].value);
        }
    }
    if (names[0] != '\0') {
        discovery_note(
            machine,
            ar_arena_format(machine->arena, "assumed, since no file has them: %s, from %.100s%s%s",
                            names, kind->latency_source,
                            is_known ? "" : "; those of GPUs of unknown generation as of ",
                            is_known ? "" : ar_gpu_generation_names[like]));
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

/* --- the file --------------------------------------------------------------------------------- */

enum ar_status ar_discover_finish(struct ar_discovery *machine, const char *name,
                                  struct ar_topo **topo, struct ar_error *err)
{
    struct ar_topo *made = ar_topo_create("discover", 0, machine->arena);
    struct ar_cluster *checked = NULL;
    unsigned generation = 0; /* AR_GPU_GENERATIONS_COUNT: not known */
    while (generation < AR_GPU_GENERATIONS_COUNT &&
           !is_value(machine, TOPO_GPU_GENERATION, ar_gpu_generation_names[generation])) {
        generation++;
    }
    uint32_t gpus = count_of(machine, TOPO_GPUS);
    uint32_t switches = count_of(machine, TOPO_PCIE_SWITCHES);
    bool is_count = gpus > 0 && gpus <= AR_TOPO_GPUS_MAX;
    if (generation < AR_GPU_GENERATIONS_COUNT) {
        derive_nvlink(machine, generation);
    }
    if (generation < AR_GPU_GENERATIONS_COUNT && switches > 0) {
        /* The rate of PCIe as GPUs of the generation have it, where a file has switches alone. */
        char rate[AR_UNIT_TEXT], source[AR_TOPO_TEXT_MAX];
        double transfers_per_s = gpu_kinds[generation].pcie_transfers_per_s;
        snprintf(rate, sizeof rate, "%.5gGB/s", pcie_rate_Bps(transfers_per_s, 16) / 1e9);
        snprintf(source, sizeof source, "assumed: 16 lanes of %g GT/s, as %s has; raw",
                 transfers_per_s / 1e9, ar_gpu_generation_names[generation]);
        derive_value(machine, TOPO_PCIE_BANDWIDTH, rate, source);
    }
    derive_hcas(machine, is_count ? gpus : 0,
                is_count && switches > 0 && gpus % switches == 0 ? switches : 0);
    if (generation < AR_GPU_GENERATIONS_COUNT) {
        derive_bus(machine, generation);
    }
    derive_constants(machine, generation);
    derive_value(machine, TOPO_NAME, name, "name of this file");
    for (unsigned key = 0; key < AR_TOPO_KEYS_COUNT; key++) {
        struct fact value = fact_value(machine, key);
        if (value.text != NULL) {
            AR_TRY(ar_topo_set(made, ar_topo_keys[key].name, value.text, value.source, err));
        }
    }
    struct ar_error why = {.text = ""};
    enum ar_status status =
        ar_cluster_create(made, machine->settings, machine->arena, &checked, &why);
    /* The fabric between nodes and the GPUs with NVLinks must be given: without them a cluster
     * file has one switch and no NVLinks. */
    bool has_several = !is_value(machine, TOPO_NODES, "1");
    bool has_fabric =
        has_value(machine, TOPO_RACK_NODES) || has_value(machine, TOPO_TREE_RAILS) ||
        (has_value(machine, TOPO_FABRIC) && !is_value(machine, TOPO_FABRIC, "fat-tree"));
    bool has_pairs = has_value(machine, TOPO_NVLINK_PAIRS) || is_value(machine, TOPO_GPUS, "1");
    const char *missing = ar_arena_format(
        machine->arena, "%s%s%s", has_value(machine, TOPO_NODES) || has_fabric ? "" : " --nodes N",
        !has_several || has_fabric        ? ""
        : has_value(machine, TOPO_FABRIC) ? " --set rack.nodes=NODES (of a leaf; see list fabrics)"
                                          : " --fabric non-blocking|rails|... (see list fabrics)",
        has_pairs ? "" : " --set nvlink.pairs=switch|all|none|0-1...");
    bool is_rate = strstr(why.text, "a rate") != NULL && generation == AR_GPU_GENERATIONS_COUNT;
    AR_REFUSE(status != AR_OK || *missing != '\0', err, AR_USAGE, "%s%s%s%s%s",
              *missing != '\0' ? "discover: found too little; expected also" : "", missing,
              *missing != '\0' && status != AR_OK ? "; " : "", why.text,
              is_rate ? "; --set gpu.generation=hopper or another has those of its GPUs" : "");
    *topo = made;
    return AR_OK;
}
