/* Topology files of NCCL and RCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): <system> of <cpu> of <pci>
 * of <gpu> and <nic>. NVIDIA/nccl 5067397c, src/graph/{xml,topo}.cc, says what the attributes mean.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpus.h"
#include "pci.h"
#include "xml.h"

enum {
    OPEN_MAX = 32,
    PEERS_MAX = 1000 /* of 64 links at most: 16 bits hold their sums */,
    CLASS_DISPLAY = 0x03,
    CLASS_NETWORK = 0x02
};

/* A <pci> that is open. */
struct open_pci {
    const char *busid;
    uint32_t pci, top;
    uint64_t line;
    double pcie_Bps;
    uint32_t gpu, nic; /* that it became; NONE: none */
    bool has_bridge;   /* it is below one */
};

#define NONE UINT32_MAX

/* An NVLink to another GPU, known by its bus id. */
struct peer {
    uint32_t gpu;
    uint32_t count;
    uint64_t line;
    const char *busid;
};

struct system {
    struct pci_tree tree;
    struct open_pci open[OPEN_MAX];
    struct peer peers[PEERS_MAX];
    uint32_t peers_count;
    uint32_t to_switch[AR_TOPO_GPUS_MAX]; /* by order of the file */
    const char *host;
    uint64_t links_line;
    uint32_t classless;
    bool has_gpus; /* elements <gpu>: else nothing is said of NVLinks */
};

/* Bytes of a hexadecimal attribute `0x10de`; 0 if it is none. */
static uint32_t hexadecimal(const char *const *attributes, const char *name)
{
    const char *text = xml_attribute(attributes, name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 16) : 0;
}

static const char *keep(const struct source *source, const char *text)
{
    return ar_arena_format(source->machine->arena, "%.40s", text != NULL ? text : "");
}

static enum ar_status begin_cpu(struct system *system, const struct source *source,
                                const char *const *attributes, struct ar_error *err)
{
    const char *vendor = xml_attribute(attributes, "vendor");
    const char *host = xml_attribute(attributes, "host_hash");
    if (host != NULL && system->host != NULL && strcmp(host, system->host) != 0) {
        return source_refuse(source, err,
                             "found a second host, host_hash=\"%.40s\"; expected the "
                             "file of one node",
                             host);
    }
    if (host != NULL && system->host == NULL) {
        system->host = keep(source, host);
    }
    if (vendor == NULL) {
        return AR_OK;
    }
    const char *word = strcmp(vendor, "GenuineIntel") == 0   ? "intel"
                       : strcmp(vendor, "AuthenticAMD") == 0 ? "amd"
                                                             : "other";
    return machine_say(source, TOPO_CPU_VENDOR, word, "vendor of a <cpu>", err);
}

/* `16 GT/s`, `32.0 GT/s PCIe`; none or another text: not said. Width 0 means 16, as NCCL takes it.
 */
static enum ar_status read_speed(const struct source *source, const char *const *attributes,
                                 double *pcie_Bps, struct ar_error *err)
{
    uint64_t lanes;
    char *end = NULL;
    const char *speed = xml_attribute(attributes, "link_speed");
    double transfers = speed != NULL ? strtod(speed, &end) * 1e9 : 0;
    AR_TRY(xml_count(source, attributes, "link_width", 16, 32, &lanes, err));
    *pcie_Bps = speed != NULL && end != speed && strncmp(end, " GT/s", 5) == 0
                    ? pci_rate_Bps(transfers, lanes > 0 ? lanes : 16)
                    : 0;
    return AR_OK;
}

static enum ar_status add_gpu(struct system *system, const struct source *source,
                              struct open_pci *open, struct ar_error *err)
{
    struct pci_gpu gpu = {.busid = open->busid,
                          .line = open->line,
                          .number = system->tree.gpus_count,
                          .pci = open->pci,
                          .top = open->top,
                          .pcie_Bps = open->pcie_Bps};
    open->gpu = system->tree.gpus_count;
    return pci_add_gpu(source, &system->tree, &gpu, err);
}

static enum ar_status begin_pci(struct system *system, const struct source *source,
                                const char *const *attributes, struct ar_error *err)
{
    struct pci_tree *tree = &system->tree;
    uint32_t kind = hexadecimal(attributes, "class") >> 16;
    uint32_t vendor = hexadecimal(attributes, "vendor");
    if (tree->open == OPEN_MAX) {
        return source_refuse(source, err, "found <pci> nested deeper than %d; expected a machine",
                             OPEN_MAX);
    }
    struct open_pci *open = &system->open[tree->open++];
    tree->tops += tree->open == 1;
    *open = (struct open_pci){.busid = keep(source, xml_attribute(attributes, "busid")),
                              .pci = vendor << 16 | (hexadecimal(attributes, "device") & 0xffff),
                              .top = tree->tops,
                              .line = source->line,
                              .gpu = NONE,
                              .nic = NONE,
                              .has_bridge = tree->open > 1};
    AR_NEED(open->busid, err, source->path);
    AR_TRY(read_speed(source, attributes, &open->pcie_Bps, err));
    system->classless += xml_attribute(attributes, "class") == NULL;
    if (kind == CLASS_DISPLAY && (vendor == 0 || vendor == 0x10de || vendor == 0x1002)) {
        return add_gpu(system, source, open, err);
    }
    if (kind == CLASS_NETWORK) {
        open->nic = tree->nics_count;
        return pci_add_nic(source, tree,
                           &(struct pci_nic){.name = open->busid,
                                             .line = open->line,
                                             .top = open->has_bridge ? open->top : PCI_NO_TOP},
                           err);
    }
    return AR_OK;
}

static enum ar_status begin_gpu(struct system *system, const struct source *source,
                                const char *const *attributes, struct ar_error *err)
{
    enum ar_gpu_generation generation;
    struct pci_tree *tree = &system->tree;
    if (tree->open == 0) {
        return source_refuse(source, err, "found <gpu> outside of <pci>; expected it inside");
    }
    struct open_pci *open = &system->open[tree->open - 1];
    if (open->gpu == NONE) {
        AR_TRY(add_gpu(system, source, open, err));
    }
    struct pci_gpu *gpu = &tree->gpus[open->gpu];
    system->has_gpus = true;
    gpu->is_confirmed = true;
    AR_TRY(xml_count(source, attributes, "dev", gpu->number, UINT32_MAX, &gpu->number, err));
    const char *target = xml_attribute(attributes, "gcn");
    source->machine->is_amd |= target != NULL;
    const char *capability = target != NULL ? target : xml_attribute(attributes, "sm");
    if (capability != NULL && gpu_generation_find(capability, &generation)) {
        return machine_say(source, TOPO_GPU_GENERATION, ar_gpu_generation_names[generation],
                           target != NULL ? "gcn of a <gpu>" : "sm of a <gpu>", err);
    }
    return AR_OK;
}

/* <nvlink>, <xgmi>: to a switch the links are summed, to another GPU kept until all are known. */
static enum ar_status begin_link(struct system *system, const struct source *source,
                                 const char *const *attributes, struct ar_error *err)
{
    uint64_t count;
    struct pci_tree *tree = &system->tree;
    uint32_t gpu = tree->open > 0 ? system->open[tree->open - 1].gpu : NONE;
    const char *target = xml_attribute(attributes, "target");
    AR_TRY(xml_count(source, attributes, "count", 1, 64, &count, err));
    if (gpu == NONE) {
        return source_refuse(source, err, "found a link outside of <gpu>; expected it inside");
    }
    if (hexadecimal(attributes, "tclass") >> 16 == 0x06) {
        system->to_switch[gpu] += (uint32_t)count;
    } else if (hexadecimal(attributes, "tclass") >> 16 == CLASS_DISPLAY) {
        if (system->peers_count == PEERS_MAX) {
            return source_refuse(source, err, "found more than %d links; expected fewer",
                                 PEERS_MAX);
        }
        system->peers[system->peers_count++] = (struct peer){.gpu = gpu,
                                                             .count = (uint32_t)count,
                                                             .line = source->line,
                                                             .busid = keep(source, target)};
        if (target != NULL && system->peers[system->peers_count - 1].busid == NULL) {
            return ar_error_no_memory(err, source->path);
        }
    }
    system->links_line = system->links_line == 0 ? source->line : system->links_line;
    return AR_OK;
}

/* The first <net> of a network device takes its place, others stand beside it. */
static enum ar_status begin_net(struct system *system, const struct source *source,
                                const char *const *attributes, struct ar_error *err)
{
    uint64_t speed_Mbps, port;
    struct pci_tree *tree = &system->tree;
    const char *name = xml_attribute(attributes, "name");
    struct open_pci *open = tree->open > 0 ? &system->open[tree->open - 1] : NULL;
    const char *shown = xml_attribute(attributes, "speed");
    AR_TRY(xml_count(source, attributes, "speed", 0, 100000000, &speed_Mbps, err));
    AR_TRY(xml_count(source, attributes, "port", 0, 255, &port, err));
    struct pci_nic nic = {.name = keep(source, name != NULL ? name : "unnamed"),
                          .line = source->line,
                          .port = port,
                          .top = open != NULL && open->has_bridge ? open->top : PCI_NO_TOP,
                          .rate_bps = (double)speed_Mbps * 1e6,
                          .is_confirmed = true};
    AR_NEED(nic.name, err, source->path);
    if (speed_Mbps == 0) {
        AR_TRY(machine_note(source->machine, err,
                            "%.200s:%" PRIu64 ": NIC %.40s says speed=\"%.20s\", taken as not said",
                            source->path, source->line, nic.name, shown != NULL ? shown : ""));
    }
    if (open != NULL && open->nic != NONE && !tree->nics[open->nic].is_confirmed) {
        tree->nics[open->nic] = nic;
        return AR_OK;
    }
    return pci_add_nic(source, tree, &nic, err);
}

static enum ar_status begin(void *state, const struct source *source, unsigned depth,
                            const char *name, const char *const *attributes, struct ar_error *err)
{
    static const struct {
        const char *name;
        enum ar_status (*begin)(struct system *system, const struct source *source,
                                const char *const *attributes, struct ar_error *err);
    } rows[] = {{"cpu", begin_cpu},     {"pci", begin_pci},   {"gpu", begin_gpu},
                {"nvlink", begin_link}, {"xgmi", begin_link}, {"net", begin_net}};
    (void)depth;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].begin(state, source, attributes, err);
        }
    }
    return AR_OK;
}

static void end(void *state, unsigned depth, const char *name)
{
    struct system *system = state;
    (void)depth;
    system->tree.open -= strcmp(name, "pci") == 0;
}

/* NVLinks by the numbers of the GPUs; those that lead nowhere, or back, are noted. */
static enum ar_status count_links(const struct system *system, const uint32_t *place,
                                  const struct source *source, struct links *links,
                                  struct ar_error *err)
{
    const struct pci_tree *tree = &system->tree;
    for (uint32_t i = 0; i < system->peers_count; i++) {
        const struct peer *peer = &system->peers[i];
        uint32_t from = place[peer->gpu], to = NONE;
        for (uint32_t g = 0; g < tree->gpus_count && peer->busid != NULL; g++) {
            to = strcasecmp(tree->gpus[g].busid, peer->busid) == 0 ? g : to;
        }
        if (from == NONE) {
            continue;
        }
        if (to == NONE || to == from) {
            AR_TRY(machine_note(source->machine, err,
                                "%.200s:%" PRIu64 ": %u links of GPU %u lead %s; not counted",
                                source->path, peer->line, peer->count, from,
                                to == from ? "back to itself" : "to no GPU of the file"));
        } else {
            links->between[from][to] = (uint16_t)(links->between[from][to] + peer->count);
        }
    }
    for (uint32_t a = 0; a < tree->gpus_count; a++) { /* each end may list a link */
        for (uint32_t b = 0; b < a; b++) {
            bool is_more = links->between[a][b] > links->between[b][a];
            uint16_t count = is_more ? links->between[a][b] : links->between[b][a];
            links->between[a][b] = links->between[b][a] = count;
        }
    }
    return AR_OK;
}

static enum ar_status say_links(struct system *system, const uint32_t *place, struct source *source,
                                struct ar_error *err)
{
    struct links *links = ar_arena_alloc(source->machine->arena, 1, sizeof *links);
    AR_NEED(links, err, source->path);
    bool leads_nowhere = false;
    AR_TRY(count_links(system, place, source, links, err));
    uint32_t counted = 0;
    for (uint32_t i = 0; i < AR_TOPO_GPUS_MAX; i++) {
        if (place[i] != NONE) {
            links->to_switch[place[i]] = (uint16_t)system->to_switch[i];
        }
        for (uint32_t k = 0; k < AR_TOPO_GPUS_MAX; k++) {
            counted += links->between[i][k];
        }
    }
    leads_nowhere = system->peers_count > 0 && counted == 0;
    source->line = system->links_line > 0 ? system->links_line : source->line;
    return leads_nowhere ? AR_OK /* the file knows of NVLinks, but not where they are */
                         : machine_say_links(source, system->tree.gpus_count, links,
                                             system->links_line > 0 ? "links from here on"
                                                                    : "a whole dump without links",
                                             err);
}

static enum ar_status finish(void *state, const struct source *at_end, struct ar_error *err)
{
    struct system *system = state;
    struct source source = *at_end;
    struct pci_tree *tree = &system->tree;
    const char *busids[AR_TOPO_GPUS_MAX] = {NULL};
    uint32_t place[AR_TOPO_GPUS_MAX]; /* in the order of numbers, of each in the file's order */
    uint32_t seen = tree->gpus_count;
    uint64_t lines[AR_TOPO_GPUS_MAX] = {0};
    for (uint32_t i = 0; i < seen; i++) {
        busids[i] = tree->gpus[i].busid;
        lines[i] = tree->gpus[i].line;
    }
    AR_TRY(pci_say(&source, tree, err));
    for (uint32_t i = 0; i < AR_TOPO_GPUS_MAX; i++) {
        place[i] = NONE;
        for (uint32_t g = 0; i < seen && g < tree->gpus_count; g++) {
            place[i] =
                tree->gpus[g].busid == busids[i] && tree->gpus[g].line == lines[i] ? g : place[i];
        }
    }
    if (tree->gpus_count == 0 && system->classless > 0) {
        return machine_note(source.machine, err,
                            "%.200s: has %u PCI devices without a class and no <gpu>; they are not "
                            "counted as anything",
                            source.path, system->classless);
    }
    return system->has_gpus ? say_links(system, place, &source, err) : AR_OK;
}

const struct xml_kind nccl_topology_kind = {.root = "system",
                                            .title = "topology file of NCCL",
                                            .state_bytes = sizeof(struct system),
                                            .begin = begin,
                                            .end = end,
                                            .finish = finish};
