/* Topology files of NCCL and RCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): <system> of <cpu> of <pci>
 * of <gpu> and <nic>. NVIDIA/nccl 5067397c, src/graph/{xml,topo}.cc, says what the attributes mean.
 *
 * XML is read by expat, element by element, and nothing outside of the text. Facts are added when
 * it has ended: GPUs in the order of their numbers, and of those that some element confirms. */
#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ar_numbers.h"
#include "ar_units.h"
#include "machine.h"

enum {
    PCI_DEPTH_MAX = 32,
    PEERS_MAX = 1000, /* of 64 links at most: 16 bits hold their sums */
    CLASS_NETWORK = 0x02,
    CLASS_DISPLAY = 0x03,
    CLASS_BRIDGE = 0x06
};

#define NONE UINT32_MAX

struct gpu {
    const char *busid;
    uint64_t line, number; /* of the driver, or in the order of the file */
    uint32_t index;        /* in the order of the file */
    uint32_t pci;          /* vendor << 16 | device; 0: not given */
    uint32_t top;          /* number of the bridge on the host that it is below, or of its port */
    uint32_t to_switch;    /* NVLinks to switches */
    double pcie_Bps;       /* 0: not given */
    bool is_confirmed;     /* there is a <gpu>; else the PCI class says so alone */
};

struct network_device {
    const char *name;
    uint64_t line, port;
    uint32_t top; /* NONE: no GPU could be below it */
    double rate_bps;
    bool is_confirmed; /* there is a <net> */
};

/* An NVLink to another GPU, which is known by its bus id. */
struct peer {
    uint32_t gpu; /* index */
    uint32_t count;
    const char *busid;
};

/* A <pci> that is open. */
struct open_pci {
    const char *busid;
    uint64_t line;
    uint32_t pci;
    double pcie_Bps;
    uint32_t gpu, nic; /* that it is; NONE */
};

struct reader {
    XML_Parser parser;
    struct source *source;
    unsigned depth;
    enum ar_status status; /* other than AR_OK: stopped, `err` says why */
    struct ar_error err;

    struct gpu gpus[AR_TOPO_GPUS_MAX];
    uint32_t gpus_count;
    struct network_device nics[MACHINE_NICS_MAX];
    uint32_t nics_count;
    struct open_pci open[PCI_DEPTH_MAX];
    uint32_t open_count;
    uint32_t tops; /* bridges and devices on the host so far */
    struct peer peers[PEERS_MAX];
    uint32_t peers_count;
    const char *host;
    uint64_t links_line;
    bool has_gpus; /* elements <gpu>: else the file tells nothing of NVLinks */
    bool has_nets; /* elements <net> */
};

/* --- known GPUs ------------------------------------------------------------------------------- */

/* A GPU by its PCI number; values that no file of a machine gives are those of shipped clusters. */
struct gpu_model {
    uint32_t pci; /* vendor << 16 | device */
    enum ar_gpu_generation generation;
    const char *name, *memory;
    const char *cost_table, *reduce_cost; /* or NULL */
};

#define A100_40 "a100-40gb-sxm", "2.302ps/B"
#define A100_80 "a100-80gb-sxm", "1.639ps/B"
#define V100    "v100-sxm2", "3.846ps/B"
#define H100    "h100-sxm", "0.924ps/B"

/* PCI numbers: PCI ID Repository (pci.ids). Costs: topologies/machines, each with its source. */
static const struct gpu_model models[] = {
    {0x10de1db1, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM2 16GB", "16GB", V100},
    {0x10de1db5, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM2 32GB", "32GB", V100},
    {0x10de1db8, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM3 32GB", "32GB", V100},
    {0x10de20b0, AR_GPU_AMPERE, "NVIDIA A100 SXM4 40GB", "40GB", A100_40},
    {0x10de20b2, AR_GPU_AMPERE, "NVIDIA A100 SXM4 80GB", "80GB", A100_80},
    {0x10de20b5, AR_GPU_AMPERE, "NVIDIA A100 PCIe 80GB", "80GB", NULL, NULL},
    {0x10de20f1, AR_GPU_AMPERE, "NVIDIA A100 PCIe 40GB", "40GB", NULL, NULL},
    {0x10de2330, AR_GPU_HOPPER, "NVIDIA H100 SXM5 80GB", "80GB", H100},
    {0x10de2331, AR_GPU_HOPPER, "NVIDIA H100 PCIe 80GB", "80GB", NULL, NULL},
    {0x10de2335, AR_GPU_HOPPER, "NVIDIA H200 SXM5 141GB", "141GB", "h200-sxm", "0.645ps/B"},
    {0x10de2901, AR_GPU_BLACKWELL, "NVIDIA B200 180GB", "180GB", "b200", "0.387ps/B"},
    {0x1002740c, AR_GPU_CDNA2, "AMD Instinct MI250X, one GCD", "64GB", "mi250x-gcd", "2.186ps/B"},
    {0x100274a1, AR_GPU_CDNA3, "AMD Instinct MI300X", "192GB", "mi300x", "0.675ps/B"},
};

#define AIST  "AIST abci2.0benchmark, p2pBandwidthLatencyTest, one direction"
#define SHARE "the share that AIST measured on NVLink3"
#define NCCL(release, link_bus_Bps, net)                                                           \
    release, link_bus_Bps, "8.4us", "3.4us", "5.7us", net,                                         \
        "NVIDIA/nccl v" release "-1, src/graph/tuning.cc: ring, Simple"
#define RCCL(link)                                                                                 \
    NULL, 0, "17us", link, "3.6us", "15.1us",                                                      \
        "ROCm/rccl 0cbce2a7, src/graph/tuning.cc: ring, Simple"

const struct gpu_kind gpu_kinds[AR_GPU_GENERATIONS_COUNT] = {
    [AR_GPU_VOLTA] = {6, 24.24e9, AIST ", 48.48 GB/s of two", 8e9, NCCL("2.8.4", 22e9, "9.6us")},
    [AR_GPU_AMPERE] = {12, 274e9 / 12, AIST ", 274 GB/s of 12", 16e9, NCCL("2.18.3", 20e9, "14us")},
    [AR_GPU_HOPPER] = {18, 411e9 / 18, "91.3 % of 25 GB/s, " SHARE, 32e9,
                       NCCL("2.21.5", 20e9, "14us")},
    [AR_GPU_BLACKWELL] = {18, 822e9 / 18, "91.3 % of 50 GB/s, " SHARE, 32e9,
                          NCCL("2.27.7", 40e9, "14us")},
    [AR_GPU_CDNA2] = {0, 50e9, "nominal: LUMI documentation, LUMI-G", 16e9, RCCL("3.6us")},
    [AR_GPU_CDNA3] = {0, 64e9, "nominal: AMD Instinct MI300X data sheet", 32e9, RCCL("2.1us")},
    [AR_GPU_CDNA4] = {0, 76.8e9, "nominal: AMD Instinct MI355X data sheet", 32e9, RCCL("2.1us")},
};

/* Generation by compute capability (`80`) or AMD's target (`906`, `gfx942`); false: not known. */
static bool gpu_generation_find(const char *capability, enum ar_gpu_generation *generation)
{
    static const struct {
        const char *text;
        enum ar_gpu_generation generation;
    } rows[] = {{"70", AR_GPU_VOLTA},  {"80", AR_GPU_AMPERE},     {"86", AR_GPU_AMPERE},
                {"90", AR_GPU_HOPPER}, {"100", AR_GPU_BLACKWELL}, {"103", AR_GPU_BLACKWELL},
                {"910", AR_GPU_CDNA2}, {"gfx90a", AR_GPU_CDNA2},  {"940", AR_GPU_CDNA3},
                {"941", AR_GPU_CDNA3}, {"942", AR_GPU_CDNA3},     {"gfx942", AR_GPU_CDNA3},
                {"950", AR_GPU_CDNA4}, {"gfx950", AR_GPU_CDNA4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].text, capability) == 0) {
            *generation = rows[i].generation;
            return true;
        }
    }
    return false;
}

/* --- attributes ------------------------------------------------------------------------------- */

static const char *find_attribute(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

/* A hexadecimal number such as `0x10de`; 0 if there is none. */
static uint32_t attribute_hexadecimal(const char *const *attributes, const char *name)
{
    const char *text = find_attribute(attributes, name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 16) : 0;
}

/* A count; `missing` if there is none, or an empty one. */
static enum ar_status attribute_count(const struct source *source, const char *const *attributes,
                                      const char *name, uint64_t missing, uint64_t max,
                                      uint64_t *count, struct ar_error *err)
{
    char place[300];
    const char *text = find_attribute(attributes, name);
    if (text == NULL || *text == '\0') {
        *count = missing;
        return AR_OK;
    }
    snprintf(place, sizeof place, "%.200s:%" PRIu64 ": attribute \"%s\"", source->path,
             source->line, name);
    return ar_parse_count(place, text, 0, max, count, err);
}

static const char *keep_attribute(const struct reader *reader, const char *text)
{
    return ar_arena_format(reader->source->machine->arena, "%.40s", text != NULL ? text : "");
}

/* --- elements --------------------------------------------------------------------------------- */

static enum ar_status begin_cpu(struct reader *reader, const char *const *attributes,
                                struct ar_error *err)
{
    const char *vendor = find_attribute(attributes, "vendor");
    const char *host = find_attribute(attributes, "host_hash");
    SOURCE_REFUSE(host != NULL && reader->host != NULL && strcmp(host, reader->host) != 0,
                  reader->source, err,
                  "found a second host, host_hash=\"%.40s\"; expected the file of one node", host);
    if (host != NULL && reader->host == NULL) {
        reader->host = keep_attribute(reader, host);
    }
    if (vendor == NULL) {
        return AR_OK;
    }
    const char *word = strcmp(vendor, "GenuineIntel") == 0   ? "intel"
                       : strcmp(vendor, "AuthenticAMD") == 0 ? "amd"
                                                             : "other";
    return fact_add(reader->source, TOPO_CPU_VENDOR, word, "vendor of a <cpu>", err);
}

static enum ar_status add_gpu(struct reader *reader, struct open_pci *pci, struct ar_error *err)
{
    SOURCE_REFUSE(reader->gpus_count == AR_TOPO_GPUS_MAX, reader->source, err,
                  "found more than %d GPUs; expected those of one node", AR_TOPO_GPUS_MAX);
    pci->gpu = reader->gpus_count;
    reader->gpus[reader->gpus_count++] = (struct gpu){.busid = pci->busid,
                                                      .line = pci->line,
                                                      .number = pci->gpu,
                                                      .index = pci->gpu,
                                                      .pci = pci->pci,
                                                      .top = reader->tops,
                                                      .pcie_Bps = pci->pcie_Bps};
    return AR_OK;
}

static enum ar_status add_network_device(struct reader *reader, const struct network_device *device,
                                         struct ar_error *err)
{
    SOURCE_REFUSE(reader->nics_count == MACHINE_NICS_MAX, reader->source, err,
                  "found more than %d NICs; expected those of one node", MACHINE_NICS_MAX);
    reader->nics[reader->nics_count++] = *device;
    return AR_OK;
}

double pcie_rate_Bps(double transfers_per_s, uint64_t lanes)
{
    static const double speeds[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        if (transfers_per_s == speeds[i]) {
            double coding = i < 2 ? 0.8 : 128.0 / 130.0;
            return transfers_per_s * (double)lanes * coding / 8;
        }
    }
    return 0;
}

static enum ar_status begin_pci(struct reader *reader, const char *const *attributes,
                                struct ar_error *err)
{
    uint32_t kind = attribute_hexadecimal(attributes, "class") >> 16;
    uint32_t vendor = attribute_hexadecimal(attributes, "vendor");
    uint32_t device = attribute_hexadecimal(attributes, "device");
    SOURCE_REFUSE(reader->open_count == PCI_DEPTH_MAX, reader->source, err,
                  "found <pci> nested deeper than %d; expected a machine", PCI_DEPTH_MAX);
    struct open_pci *pci = &reader->open[reader->open_count++];
    reader->tops += reader->open_count == 1;
    *pci = (struct open_pci){.busid = keep_attribute(reader, find_attribute(attributes, "busid")),
                             .line = reader->source->line,
                             .pci = vendor << 16 | (device & 0xffff),
                             .gpu = NONE,
                             .nic = NONE};
    /* `16 GT/s`, `32.0 GT/s PCIe`; none or another text: not given. Width 0 is 16, as in NCCL. */
    uint64_t lanes;
    char *end = NULL;
    const char *speed = find_attribute(attributes, "link_speed");
    double transfers_per_s = speed != NULL ? strtod(speed, &end) * 1e9 : 0;
    AR_TRY(attribute_count(reader->source, attributes, "link_width", 16, 32, &lanes, err));
    if (speed != NULL && end != speed && strncmp(end, " GT/s", 5) == 0) {
        pci->pcie_Bps = pcie_rate_Bps(transfers_per_s, lanes > 0 ? lanes : 16);
    }
    if (kind == CLASS_DISPLAY && (vendor == 0 || vendor == 0x10de || vendor == 0x1002)) {
        return add_gpu(reader, pci, err);
    }
    if (kind != CLASS_NETWORK) {
        return AR_OK;
    }
    pci->nic = reader->nics_count;
    return add_network_device(
        reader,
        &(struct network_device){.name = pci->busid,
                                 .line = pci->line,
                                 .top = reader->open_count > 1 ? reader->tops : NONE},
        err);
}

static enum ar_status begin_gpu(struct reader *reader, const char *const *attributes,
                                struct ar_error *err)
{
    enum ar_gpu_generation generation;
    struct source *source = reader->source;
    SOURCE_REFUSE(reader->open_count == 0, source, err,
                  "found <gpu> outside of <pci>; expected it inside");
    struct open_pci *pci = &reader->open[reader->open_count - 1];
    if (pci->gpu == NONE) {
        AR_TRY(add_gpu(reader, pci, err));
    }
    struct gpu *gpu = &reader->gpus[pci->gpu];
    reader->has_gpus = true;
    gpu->is_confirmed = true;
    AR_TRY(attribute_count(source, attributes, "dev", gpu->number, UINT32_MAX, &gpu->number, err));
    const char *target = find_attribute(attributes, "gcn");
    source->machine->is_amd |= target != NULL;
    const char *capability = target != NULL ? target : find_attribute(attributes, "sm");
    return capability != NULL && gpu_generation_find(capability, &generation)
               ? fact_add(source, TOPO_GPU_GENERATION, ar_gpu_generation_names[generation],
                          target != NULL ? "gcn of a <gpu>" : "sm of a <gpu>", err)
               : AR_OK;
}

/* <nvlink>, <xgmi>: links to switches are summed, those to other GPUs kept until all are known. */
static enum ar_status begin_link(struct reader *reader, const char *const *attributes,
                                 struct ar_error *err)
{
    uint64_t count;
    struct source *source = reader->source;
    uint32_t gpu = reader->open_count > 0 ? reader->open[reader->open_count - 1].gpu : NONE;
    uint32_t kind = attribute_hexadecimal(attributes, "tclass") >> 16;
    const char *target = find_attribute(attributes, "target");
    AR_TRY(attribute_count(source, attributes, "count", 1, 64, &count, err));
    SOURCE_REFUSE(gpu == NONE, source, err, "found a link outside of <gpu>; expected it inside");
    if (kind == CLASS_BRIDGE) {
        reader->gpus[gpu].to_switch += (uint32_t)count;
    } else if (kind == CLASS_DISPLAY) {
        SOURCE_REFUSE(reader->peers_count == PEERS_MAX, source, err,
                      "found more than %d links; expected fewer", PEERS_MAX);
        reader->peers[reader->peers_count++] =
            (struct peer){.gpu = gpu,
                          .count = (uint32_t)count,
                          .busid = target != NULL ? keep_attribute(reader, target) : NULL};
    }
    reader->links_line = reader->links_line == 0 ? source->line : reader->links_line;
    return AR_OK;
}

/* The first <net> of a network device takes its place, others are added beside it. */
static enum ar_status begin_net(struct reader *reader, const char *const *attributes,
                                struct ar_error *err)
{
    uint64_t speed_Mbps, port;
    struct source *source = reader->source;
    const char *name = find_attribute(attributes, "name");
    AR_TRY(attribute_count(source, attributes, "speed", 0, 100000000, &speed_Mbps, err));
    AR_TRY(attribute_count(source, attributes, "port", 0, 255, &port, err));
    struct network_device nic = {.name = keep_attribute(reader, name != NULL ? name : "unnamed"),
                                 .line = source->line,
                                 .port = port,
                                 .top = reader->open_count > 1 ? reader->tops : NONE,
                                 .rate_bps = (double)speed_Mbps * 1e6,
                                 .is_confirmed = true};
    reader->has_nets = true;
    uint32_t device = reader->open_count > 0 ? reader->open[reader->open_count - 1].nic : NONE;
    if (device != NONE && !reader->nics[device].is_confirmed) {
        reader->nics[device] = nic;
        return AR_OK;
    }
    return add_network_device(reader, &nic, err);
}

/* --- facts ------------------------------------------------------------------------------------ */

AR_ORDER(compare_gpus, struct gpu, AR_RISES(number), AR_RISES(line))

/* All are taken to be as slow as the slowest. */
static enum ar_status add_pcie_rate(const struct reader *reader, struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    const struct gpu *slowest = &reader->gpus[0];
    for (uint32_t i = 1; i < reader->gpus_count; i++) {
        slowest = reader->gpus[i].pcie_Bps < slowest->pcie_Bps ? &reader->gpus[i] : slowest;
    }
    if (slowest->pcie_Bps <= 0) {
        return AR_OK;
    }
    reader->source->line = slowest->line;
    snprintf(text, sizeof text, "%.5gGB/s", slowest->pcie_Bps / 1e9);
    return fact_add(reader->source, TOPO_PCIE_BANDWIDTH, text, "PCIe link of a GPU, raw", err);
}

/* NVLinks by the numbers of the GPUs; those that lead nowhere, or back, are not counted. */
static enum ar_status add_nvlinks(const struct reader *reader, struct ar_error *err)
{
    struct source *source = reader->source;
    struct links *links = ar_arena_alloc(source->machine->arena, 1, sizeof *links);
    bool has_counted = false;
    AR_EACH(const struct peer, peer, reader->peers, reader->peers_count) {
        uint32_t from = NONE, to = NONE;
        for (uint32_t g = 0; g < reader->gpus_count; g++) {
            const struct gpu *gpu = &reader->gpus[g];
            from = gpu->index == peer->gpu ? g : from;
            to = peer->busid != NULL && strcasecmp(gpu->busid, peer->busid) == 0 ? g : to;
        }
        if (from != NONE && to != NONE && to != from) {
            links->between[from][to] = (uint16_t)(links->between[from][to] + peer->count);
            has_counted = has_counted || peer->count > 0;
        }
    }
    for (uint32_t a = 0; a < reader->gpus_count; a++) { /* each end may list a link */
        links->to_switch[a] = (uint16_t)reader->gpus[a].to_switch;
        for (uint32_t b = 0; b < a; b++) {
            bool is_more = links->between[a][b] > links->between[b][a];
            uint16_t count = is_more ? links->between[a][b] : links->between[b][a];
            links->between[a][b] = links->between[b][a] = count;
        }
    }
    source->line = reader->links_line > 0 ? reader->links_line : source->line;
    return reader->peers_count > 0 && !has_counted
               ? AR_OK /* the file knows of NVLinks, but not where they are */
               : facts_add_links(source, reader->gpus_count, links,
                                 reader->links_line > 0 ? "links from here on"
                                                        : "a whole dump without links",
                                 err);
}

static enum ar_status add_facts(struct reader *reader, struct ar_error *err)
{
    struct source *source = reader->source;
    uint64_t end_line = source->line;
    uint32_t groups[AR_TOPO_GPUS_MAX];
    /* Drops GPUs and NICs that are not confirmed where others of their kind are; sorts the GPUs. */
    uint32_t gpus = 0, nics = 0;
    for (uint32_t i = 0; i < reader->gpus_count; i++) {
        reader->gpus[gpus] = reader->gpus[i];
        gpus += !reader->has_gpus || reader->gpus[i].is_confirmed;
    }
    for (uint32_t i = 0; i < reader->nics_count; i++) {
        reader->nics[nics] = reader->nics[i];
        nics += !reader->has_nets || reader->nics[i].is_confirmed;
    }
    reader->gpus_count = gpus;
    reader->nics_count = nics;
    qsort(reader->gpus, gpus, sizeof reader->gpus[0], compare_gpus);
    for (uint32_t g = 0; g < reader->gpus_count; g++) {
        groups[g] = reader->gpus[g].top;
    }
    if (reader->gpus_count > 0) {
        source->line = reader->gpus[0].line;
        AR_TRY(fact_add_count(source, TOPO_GPUS, reader->gpus_count, "GPUs from here on", err));
        AR_TRY(facts_add_switches(source, reader->gpus_count, groups, err));
        AR_TRY(add_pcie_rate(reader, err));
        /* The model of the first known GPU and what follows from it; others are compared. */
        for (uint32_t i = 0; i < reader->gpus_count; i++) {
            char what[MACHINE_TEXT_MAX];
            uint32_t pci = reader->gpus[i].pci;
            const struct gpu_model *model = models, *end = models + sizeof models / sizeof *models;
            while (model < end && model->pci != pci) {
                model++;
            }
            source->line = reader->gpus[i].line;
            source->machine->is_amd |= pci >> 16 == 0x1002;
            if (model == end) { /* not known */
                continue;
            }
            const struct {
                enum ar_topo_key key;
                const char *text;
            } rows[] = {{TOPO_GPU_MODEL, model->name},
                        {TOPO_GPU_GENERATION, ar_gpu_generation_names[model->generation]},
                        {TOPO_GPU_MEMORY, model->memory},
                        {TOPO_GPU_COST_TABLE, model->cost_table},
                        {TOPO_GPU_REDUCE_COST, model->reduce_cost}};
            snprintf(what, sizeof what, "PCI device %04" PRIx32 ":%04" PRIx32, pci >> 16,
                     pci & 0xffff);
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
                if (rows[k].text != NULL) {
                    AR_TRY(fact_add(source, rows[k].key, rows[k].text, what, err));
                }
            }
        }
    }
    AR_EACH(const struct network_device, device, reader->nics, reader->nics_count) {
        struct nic *nic;
        source->line = device->line;
        AR_TRY(nic_add(source, device->name, device->port, device->top, groups, reader->gpus_count,
                       &nic, err));
        if (device->rate_bps > 0) {
            AR_TRY(nic_set_rate(source, nic, device->rate_bps, err));
        }
    }
    source->line = end_line;
    return reader->has_gpus ? add_nvlinks(reader, err) : AR_OK;
}

/* --- XML -------------------------------------------------------------------------------------- */

static void on_begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
    static const struct {
        const char *name;
        enum ar_status (*begin)(struct reader *reader, const char *const *attributes,
                                struct ar_error *err);
    } rows[] = {{"cpu", begin_cpu},     {"pci", begin_pci},   {"gpu", begin_gpu},
                {"nvlink", begin_link}, {"xgmi", begin_link}, {"net", begin_net}};
    struct reader *reader = user;
    enum ar_status status = reader->status;
    reader->source->line = XML_GetCurrentLineNumber(reader->parser);
    if (status == AR_OK && reader->depth == 0 && strcmp(name, "system") != 0) {
        status = ar_error_in_line(
            &reader->err, reader->source->path, reader->source->line,
            "found XML of <%.40s>; expected <system>, a topology file of NCCL", name);
    }
    for (size_t i = 0; status == AR_OK && i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            status = rows[i].begin(reader, (const char *const *)attributes, &reader->err);
        }
    }
    reader->depth++;
    if (status != AR_OK) {
        reader->status = status;
        XML_StopParser(reader->parser, XML_FALSE);
    }
}

static void on_end(void *user, const XML_Char *name)
{
    struct reader *reader = user;
    reader->depth--;
    reader->open_count -= reader->status == AR_OK && strcmp(name, "pci") == 0;
}

enum ar_status nccl_topology_read(struct source *source, const char *text, size_t bytes,
                                  struct ar_error *err)
{
    struct reader *reader = ar_arena_alloc(source->machine->arena, 1, sizeof *reader);
    reader->source = source;
    reader->parser = XML_ParserCreate(NULL);
    ar_memory_require(reader->parser != NULL, source->path);
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_begin, on_end);
    enum XML_Status parsed = XML_Parse(reader->parser, text, (int)bytes, 1);
    const char *why = XML_ErrorString(XML_GetErrorCode(reader->parser)); /* static */
    uint64_t end_line = XML_GetCurrentLineNumber(reader->parser);
    XML_ParserFree(reader->parser);
    if (reader->status != AR_OK) {
        *err = reader->err;
        return reader->status;
    }
    source->line = end_line;
    return parsed == XML_STATUS_OK
               ? add_facts(reader, err)
               : ar_error_in_line(err, source->path, source->line,
                                  "broken XML: %s; expected a whole topology file of NCCL", why);
}
