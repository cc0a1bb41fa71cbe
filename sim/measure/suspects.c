#include "suspects.h"

#include <math.h>
#include <string.h>

#include "ar_comparison.h"
#include "ar_kind.h"

/* --- the table ----------------------------------------------------------------------------- */

#define BIT(choice)  (1u << (choice))
#define RINGS        (BIT(AR_RING_LL) | BIT(AR_RING_LL128) | BIT(AR_RING_SIMPLE))
#define TREES        (BIT(AR_TREE_LL) | BIT(AR_TREE_LL128) | BIT(AR_TREE_SIMPLE))
#define NVLS         (BIT(AR_NVLS) | BIT(AR_NVLS_TREE))
#define EVERY_CHOICE (BIT(AR_CHOICES_COUNT) - 1)
#define OFF(choices) (EVERY_CHOICE & ~(choices))

#define SET " set by environment to "

#define NCCL_VARIABLES "docs.nvidia.com, NCCL, Environment Variables, "
#define NCCL_TROUBLE   "docs.nvidia.com, NCCL, Troubleshooting, "

/* Sockets: a core moves 42 Gb/s by TCP (Cai et al., Understanding Host Network Stack Overheads,
 * SIGCOMM 2021), each HCA has one that receives; how many there are, or how far off, is free.
 * Their latency is 1.9 times as long, a fit to 30 rows: all-reduces of at most 64 KiB of
 * alcf_polaris_a100_tcp beside alcf_polaris_a100_nccl218. Halved HCAs, PCIe and others: a lane,
 * cable or generation less is a power of two, one HCA of eight, of four or of two is 7/8, 3/4,
 * 1/2, where nodes have so many. A copy through the host crosses the uplink of its PCIe switch
 * twice, hence half of that bandwidth. No fit knows LL at large sizes: NCCL gives it a quarter of
 * the bus, from 2.21 on half, as its lines have; nobody is told to use it alone, so it is rare.
 *
 * Clues are channels that exist, then what was chosen, then variables but those that forbid NVLS.
 * `NET/Socket : Using` is none, since old releases try all transports; `via P2P` may go by PCIe;
 * `Disabled for GPU` is said of far HCAs on good machines; FastSocket is Google's plug-in. */
const struct suspect suspects[] = {
    {"nothing", "none of the suspects", "", "", SUSPECT_NOTHING, .factors = {1}},
    {"gpudirect-off", "GPUDirect RDMA is off, and data is copied through the host",
     "NCCL_DEBUG=INFO: 'GPU Direct RDMA Disabled', 'via NET/IB/n' without '/GDRDMA'; lsmod | grep "
     "nvidia_peermem; NCCL_NET_GDR_LEVEL",
     NCCL_TROUBLE "GPU-to-NIC communication; NVIDIA/nccl issues 1412, 1537", SUSPECT_PCIE,
     .clues = {"+* via NET/[!FS]*/[0-9]", "+* via NET/[!FS]*/[0-9][0-9]",
               "+* via NET/[!FS]*[0-9](*[0-9])", "+* via NET/[!FS]*/[0-9] comm *",
               "+* via NET/[!FS]*/[0-9]/Shared", "-* via NET/*/GDRDMA*",
               "+NET/[!FS]* : GPU Direct RDMA Disabled for HCA *"},
     .factors = {0.5}, .setting = "hca.attached=host"},
    {"hca", "some HCAs are unused, or run below their width or rate",
     "ibstat (Rate, State); NCCL_DEBUG=INFO: line 'NET/IB : Using'; NCCL_IB_HCA",
     NCCL_VARIABLES "NCCL_IB_HCA", SUSPECT_HCA, .clues = {"<NET/IB : Using *; OOB *"},
     .factors = {0.875, 0.75, 0.5, 0.25, 0.125}},
    {"sockets", "NCCL uses sockets in place of verbs or the network's plug-in",
     "NCCL_DEBUG=INFO: line 'NET/Socket : Using'; NCCL_NET, NCCL_IB_DISABLE, LD_LIBRARY_PATH of "
     "the plug-in",
     NCCL_VARIABLES "NCCL_NET", SUSPECT_SOCKETS,
     .clues = {"+* via NET/*Socket/*", "+Using network *Socket", "-* via NET/*", "-Using network *",
               "+NCCL_IB_DISABLE" SET "1*"},
     .factors = {1, 2, 0.5}, .net_latency = 1.9, .hca_bandwidth_Bps = 5.25e9},
    {"pcie", "PCIe runs a generation lower, at half width, or through the root complex (ACS)",
     "nvidia-smi -q -d PCIE; lspci -vvv: LnkSta, ACSCtl",
     NCCL_TROUBLE "PCI Access Control Services", SUSPECT_PCIE, .factors = {0.5, 0.25}},
    {"p2p-off", "GPUs of a node do not reach each other by NVLink",
     "NCCL_DEBUG=INFO: lines 'via SHM' in place of 'via P2P'; NCCL_P2P_DISABLE; nvidia-smi topo -m",
     NCCL_TROUBLE "GPU-to-GPU communication", SUSPECT_NO_NVLINK,
     .clues = {"+* via SHM/*", "+* via direct shared memory*", "-Connected NVLS tree*",
               "+NCCL_P2P_DISABLE" SET "1*"},
     .factors = {1}, .setting = "nvlink.pairs=none", .choices = OFF(NVLS)},
    {"nvlink", "NVLinks are down or slow", "nvidia-smi nvlink -s; dcgmi nvlink -s",
     "docs.nvidia.com, nvidia-smi, nvlink", SUSPECT_NVLINK, .factors = {0.75, 0.5, 0.25}},
    {"slow-cable", "one cable or HCA is slow, and every ring waits for it",
     "ibdiagnet, perfquery: symbol errors, rate of each port; the test on halves of the nodes",
     NCCL_TROUBLE "Networking issues", SUSPECT_SLOW_LINK, .factors = {0.5, 0.25, 0.1},
     .is_hidden = true},
    {"uplinks", "uplinks of leaves are oversubscribed, or some are down",
     "rates of the uplinks of the leaves; the same test within one leaf",
     NCCL_TROUBLE "Networking issues", SUSPECT_UPLINKS, .factors = {0.75, 0.5, 0.25},
     .is_hidden = true},
    {"shared", "another job, or congestion, has part of the fabric",
     "the same test on idle nodes; counters of congestion (ECN, PFC, xmit-wait)",
     NCCL_TROUBLE "Networking issues", SUSPECT_HCA, .factors = {0.75, 0.5, 0.33, 0.25},
     .scatter_frac = 0.5, .is_hidden = true},
    {"nvls-off", "NVLS is off",
     "NCCL_NVLS_ENABLE; NCCL_DEBUG=INFO: 'NVLS multicast support'; fabric "
     "manager",
     NCCL_VARIABLES "NCCL_NVLS_ENABLE", SUSPECT_NOTHING,
     .clues = {"+NCCL_ALGO" SET "^*NVLS*", "+* 0 nvls channels,*", "-NCCL_ALGO" SET "*NVLS*",
               "+NCCL_ALGO" SET "[!^]*,*", "-Connected NVLS tree*", "-* nvls channels,*",
               "+NVLS multicast support is not available*", "+NCCL_NVLS_ENABLE" SET "0*"},
     .factors = {1}, .choices = OFF(NVLS)},
    {"sharp-off", "SHARP is off", "NCCL_COLLNET_ENABLE; NCCL_DEBUG=INFO: 'CollNet'; sharp_hello",
     NCCL_VARIABLES "NCCL_COLLNET_ENABLE", SUSPECT_NOTHING,
     .clues = {"-* via COLLNET/*", "+NCCL_COLLNET_ENABLE" SET "0*"}, .factors = {1}, .collnet = -1},
    {"sharp-on", "SHARP is on",
     "NCCL_COLLNET_ENABLE; NCCL_DEBUG=INFO: 'CollNet'; --set "
     "library.collnet=yes",
     NCCL_VARIABLES "NCCL_COLLNET_ENABLE", SUSPECT_NOTHING,
     .clues = {"+* via COLLNET/*", "-NCCL_COLLNET_ENABLE" SET "0*"}, .factors = {1}, .collnet = 1},
    {"ring-only", "only rings are used", "NCCL_ALGO; NCCL_DEBUG_SUBSYS=TUNING; plug-in of a tuner",
     NCCL_VARIABLES "NCCL_ALGO", SUSPECT_NOTHING, .clues = {"+NCCL_ALGO" SET "ring"},
     .factors = {1}, .choices = RINGS},
    {"tree-only", "only trees are used", "NCCL_ALGO; NCCL_DEBUG_SUBSYS=TUNING; plug-in of a tuner",
     NCCL_VARIABLES "NCCL_ALGO", SUSPECT_NOTHING, .clues = {"+NCCL_ALGO" SET "tree"},
     .factors = {1}, .choices = TREES},
    {"simple-only", "protocols LL and LL128 are off", "NCCL_PROTO; NCCL_DEBUG_SUBSYS=TUNING",
     NCCL_VARIABLES "NCCL_PROTO", SUSPECT_NOTHING,
     .clues = {"+NCCL_PROTO" SET "simple", "+NET/OFI Setting NCCL_PROTO to \"simple\""},
     .factors = {1},
     .choices = OFF(BIT(AR_RING_LL) | BIT(AR_RING_LL128) | BIT(AR_TREE_LL) | BIT(AR_TREE_LL128))},
    {"ll-only", "only protocol LL is used", "NCCL_PROTO; NCCL_DEBUG_SUBSYS=TUNING",
     NCCL_VARIABLES "NCCL_PROTO", SUSPECT_LL_SHARE, .clues = {"+NCCL_PROTO" SET "ll"}, .rarity = 20,
     .factors = {1, 2}, .choices = BIT(AR_RING_LL) | BIT(AR_TREE_LL)},
    {"ll128-off", "protocol LL128 is off", "NCCL_PROTO; NCCL_DEBUG_SUBSYS=TUNING",
     NCCL_VARIABLES "NCCL_PROTO", SUSPECT_NOTHING,
     .clues = {"+NCCL_PROTO" SET "^ll128", "+NCCL_PROTO" SET "ll,simple",
               "+NCCL_PROTO" SET "simple,ll"},
     .factors = {1}, .choices = OFF(BIT(AR_RING_LL128) | BIT(AR_TREE_LL128))},
    {"channels", "NCCL has too few channels",
     "NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS, NCCL_MIN_CTAS; NCCL_DEBUG=INFO: 'coll channels'",
     NCCL_VARIABLES "NCCL_MIN_NCHANNELS", SUSPECT_CHANNELS,
     .clues = {"+NCCL_MAX_NCHANNELS" SET "[1-4]."}, .factors = {0.5, 0.25}},
    {"net-latency",
     "hops across the network take longer: HCAs far from GPUs, switches, relaxed order",
     "ib_write_lat between two nodes; nvidia-smi topo -m; NCCL_IB_PCI_RELAXED_ORDERING",
     NCCL_VARIABLES "NCCL_IB_PCI_RELAXED_ORDERING", SUSPECT_NET_LATENCY, .factors = {1.5, 2, 3, 6}},
    {"setup",
     "each call costs more before it sends: slow or sleeping processors, blocking launches",
     "cpupower frequency-info, C-states; CUDA_LAUNCH_BLOCKING; affinity of ranks",
     NCCL_VARIABLES "NCCL_IGNORE_CPU_AFFINITY", SUSPECT_BASE, .factors = {1.5, 2, 4, 8}},
    {"units", "units of the log are others: bits, bytes or seconds", "the head of the table",
     "github NVIDIA/nccl-tests, doc/PERFORMANCE.md", SUSPECT_TIME, .rarity = 20,
     .factors = {8, 0.125, 1e3, 1e-3}},
    {"busbw", "times were made of busbw, read as algbw", "columns algbw and busbw of nccl-tests",
     "github NVIDIA/nccl-tests, doc/PERFORMANCE.md", SUSPECT_AS_BUSBW, .rarity = 20,
     .factors = {1}},
};

const size_t suspects_count = sizeof suspects / sizeof suspects[0];

/* --- a suspect as a cluster ---------------------------------------------------------------- */

/* Multiplies the link costs that the suspect is about; true if any cost became another one. */
static bool scale_costs(const struct suspect *suspect, double factor, struct ar_cluster *cluster)
{
    double costs[AR_LINK_COSTS_COUNT], before[AR_LINK_COSTS_COUNT];
    ar_cluster_keep_link_costs(cluster, before);
    memcpy(costs, before, sizeof costs);
    costs[AR_LINK_HCA_BANDWIDTH] *= suspect->target == SUSPECT_HCA ? factor : 1;
    costs[AR_LINK_PCIE_BANDWIDTH] *= suspect->target == SUSPECT_PCIE ? factor : 1;
    costs[AR_LINK_NVLINK_BANDWIDTH] *= suspect->target == SUSPECT_NVLINK ? factor : 1;
    costs[AR_LINK_RACK_BANDWIDTH] *= suspect->target == SUSPECT_UPLINKS ? factor : 1;
    if (suspect->hca_bandwidth_Bps > 0) {
        costs[AR_LINK_HCA_BANDWIDTH] =
            fmin(costs[AR_LINK_HCA_BANDWIDTH], suspect->hca_bandwidth_Bps * factor);
    }
    costs[AR_LINK_NET_LATENCY] *= (suspect->target == SUSPECT_NET_LATENCY ? factor : 1) *
                                  (suspect->net_latency > 0 ? suspect->net_latency : 1);
    ar_cluster_restore_link_costs(cluster, costs);
    return memcmp(costs, before, sizeof costs) != 0;
}

/* NCCL's constant of a hop of a ring (src/graph/tuning.cc), where all GPUs have NVLinks and the
 * file of the cluster has none. */
#define PCIE_LATENCY "pcie.latency=5.7us"

/* The cluster of the scenario as the suspect has it; `*is_changed` says whether paths or rates of
 * its links are others. */
static enum ar_status make_cluster(const struct ar_scenario *given, const struct suspect *suspect,
                                   double factor, struct ar_arena *arena,
                                   struct ar_cluster **cluster, bool *is_changed,
                                   struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "suspect", .status = AR_BAD_DATA};
    struct ar_scenario scenario = *given;
    bool is_slow_link = suspect->target == SUSPECT_SLOW_LINK;
    double costs[AR_LINK_COSTS_COUNT];
    double left = factor * ar_cluster_facts(given->cluster)->hcas_per_node;
    int exponent;
    AR_REFUSE(suspect->target == SUSPECT_HCA && !suspect->is_hidden && fmod(left, 1) != 0 &&
                  frexp(factor, &exponent) != 0.5,
              err, AR_BAD_DATA, "%g HCAs are left; expected whole ones, or halves", left);
    ar_cluster_keep_link_costs(given->cluster, costs);
    scenario.arena = arena;
    if (suspect->target == SUSPECT_NO_NVLINK && costs[AR_LINK_PCIE_LATENCY] <= 0) {
        AR_TRY(ar_scenario_replace(&scenario, AR_KEY_SET, &origin, PCIE_LATENCY, err));
    }
    if (suspect->setting != NULL) {
        AR_TRY(ar_scenario_replace(&scenario, AR_KEY_SET, &origin, suspect->setting, err));
    }
    if (is_slow_link) {
        AR_TRY(ar_scenario_set(&scenario, AR_KEY_SLOW_LINK, &origin,
                               ar_arena_format(arena, "node-0.hca-0:%.3g", 1 / factor), err));
    }
    AR_TRY(ar_scenario_make_cluster(&scenario, cluster, err));
    *is_changed =
        scale_costs(suspect, factor, *cluster) || suspect->setting != NULL || is_slow_link;
    return AR_OK;
}

/* The one rule by which a change of links is one of a library's rings or trees: how much more
 * bandwidth a ring or tree of messages has on the changed links, on so many nodes. Its inverse is
 * the time that the second 4 GiB take, which `rings` keep: as the links are, and changed. */
static enum ar_status find_ratio(const struct ar_scenario *given, const struct ar_cluster *changed,
                                 bool by_tree, uint32_t nodes, struct suspect_rings *const rings[2],
                                 double *ratio, struct ar_error *err)
{
    const struct ar_cluster *const clusters[2] = {given->cluster, changed};
    const struct ar_cluster_facts *facts = ar_cluster_facts(changed);
    struct ar_scenario one = *given;
    one.engine = &ar_engine_recurrence;
    one.operation = &ar_operation_all_reduce;
    one.algorithm = by_tree ? &ar_algorithm_tree : &ar_algorithm_ring;
    one.gpus = nodes * facts->gpus_per_node;
    one.channels = facts->hcas_per_node > 0 ? facts->hcas_per_node : 1;
    for (int i = 0; i < 2 && one.gpus > 1; i++) {
        double *taken_s = &rings[i]->taken_s[by_tree][nodes], times_s[2] = {0};
        struct ar_row row;
        one.cluster = clusters[i];
        for (uint64_t k = 0; k < 2 && *taken_s == 0; k++) {
            one.payload_bytes = (k + 1) << 32;
            AR_TRY(ar_scenario_check(&one, err));
            AR_TRY(ar_run(&one, &row, err));
            times_s[k] = row.allreduce_s;
        }
        *taken_s = *taken_s == 0 ? times_s[1] - times_s[0] : *taken_s;
    }
    *ratio =
        one.gpus > 1 ? rings[0]->taken_s[by_tree][nodes] / rings[1]->taken_s[by_tree][nodes] : 1;
    return AR_OK;
}

/* --- a suspect as a library ---------------------------------------------------------------- */

static void change_library(const struct suspect *suspect, double factor, uint32_t nodes,
                           double node, double net, struct ar_arena *arena,
                           struct ar_library *library)
{
    double latency = (suspect->target == SUSPECT_NET_LATENCY ? factor : 1) *
                     (suspect->net_latency > 0 ? suspect->net_latency : 1);
    struct ar_tuning *tuning = &library->tuning;
    if (suspect->target == SUSPECT_CHANNELS) {
        tuning->channels = (uint32_t)fmax(1, tuning->channels * factor);
        node = net = factor;
    }
    library->values[AR_NODE_BANDWIDTH] *= node;
    library->values[AR_NET_BANDWIDTH] *= net;
    if (nodes > 0) {
        /* Lines of LL are half flags, so a byte is two on the wire. The time that it takes beyond
         * those is not the link's, nor is the time of the first bytes that a hop hides. */
        double *share = &library->values[nodes > 1 ? AR_LL_NET_SHARE : AR_LL_SHARE];
        double ratio = nodes > 1 ? net : node, inverse = 1 / *share;
        *share = 1 / (inverse + (ratio - 1) * fmax(0, inverse - 2));
        library->values[AR_KNEE] *= ratio * *share * inverse;
    }
    if (!suspect->is_hidden) { /* the library sees it, and chooses by it */
        tuning->node_bus_Bps *= node;
        tuning->net_bus_Bps *= net;
    }
    library->values[AR_NET_LATENCY] *= latency;
    if (suspect->target == SUSPECT_NO_NVLINK) {
        struct ar_tuning before = *tuning;
        tuning->links = TUNING_PCIE;
        for (int i = AR_LL_NODE_LATENCY; i <= AR_SIMPLE_NODE_LATENCY; i++) {
            library->values[i] *= ar_library_parameter_prior(tuning, (enum ar_library_parameter)i) /
                                  ar_library_parameter_prior(&before, (enum ar_library_parameter)i);
        }
    }
    for (int i = AR_LL_BASE; i <= AR_SIMPLE_BASE && suspect->target == SUSPECT_BASE; i++) {
        library->values[i] *= factor;
    }
    for (int i = AR_LL_SHARE; i <= AR_LL_NET_SHARE && suspect->target == SUSPECT_LL_SHARE; i++) {
        double share = library->values[i]; /* the other half of its lines is flags */
        library->values[i] = fmax(share, fmin(0.5, share * factor));
    }
    if (suspect->collnet != 0) { /* switches of InfiniBand sum, others do not */
        tuning->has_collnet = suspect->collnet > 0 && tuning->hca_kind == AR_HCA_INFINIBAND;
    }
    if (suspect->choices != 0) { /* leaves those alone, where a call has any of them */
        struct ar_release *release = ar_arena_copy(arena, tuning->release, 1, sizeof *release);
        uint32_t sums = release->all_reduces & suspect->choices;
        uint32_t halves = release->halves & suspect->choices;
        release->all_reduces = sums != 0 ? sums : release->all_reduces;
        release->halves = halves != 0 ? halves : release->halves;
        tuning->release = release;
    }
}

/* --- predictions --------------------------------------------------------------------------- */

bool suspect_asks(const struct ar_measured *measured, const struct ar_measured_row *row)
{
    bool has_small = false;
    for (size_t i = 0; i < measured->rows_count && !has_small; i++) {
        has_small = ar_estimate_takes(&measured->rows[i]);
    }
    return ar_estimate_takes(row) || !has_small;
}

/* Copies the rows whose times the suspect may change, of rings of so many nodes (0: of any), with
 * their messages on the changed cluster; those of other machines stay. The others keep their times.
 * `*places` gets the place of each copy among all rows. */
static struct ar_measured move_rows(const struct ar_measured *measured, struct ar_cluster *cluster,
                                    uint32_t nodes, struct ar_arena *arena, size_t **places)
{
    const struct ar_cluster *known = measured->request->scenario->cluster;
    struct ar_measured moved = *measured;
    *places = ar_arena_alloc(arena, measured->rows_count + 1, sizeof **places);
    moved.machines = ar_arena_alloc(arena, measured->machines_count + 1, sizeof *moved.machines);
    moved.rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *moved.rows);
    moved.rows_count = moved.calls_count = 0;
    for (size_t i = 0; i < measured->machines_count; i++) {
        moved.machines[i] = measured->machines[i];
        moved.machines[i].cluster =
            moved.machines[i].cluster == known ? cluster : moved.machines[i].cluster;
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        uint32_t own = row->call.run.nodes;
        bool is_here = nodes == 0 || (own < RING_NODES_MAX ? own : RING_NODES_MAX) == nodes;
        if (is_here && (row->is_call || (nodes > 0 && suspect_asks(measured, row)))) {
            struct ar_measured_row *made = &moved.rows[moved.rows_count];
            (*places)[moved.rows_count++] = i;
            moved.calls_count += row->is_call;
            *made = *row;
            bool is_moved = row->messages.collective.cluster == known;
            made->messages.collective.cluster =
                is_moved ? cluster : row->messages.collective.cluster;
        }
    }
    return moved;
}

/* Predicts rows on rings of so many nodes (0: all, links stay), by trees their calls alone. */
static enum ar_status predict_moved(const struct ar_measured *measured,
                                    const struct suspect *suspect, double factor,
                                    struct ar_cluster *cluster, uint32_t nodes, bool by_tree,
                                    struct suspect_rings *const rings[2], struct ar_arena *arena,
                                    struct ar_library_prediction *predictions, struct ar_error *err)
{
    const struct ar_scenario *given = measured->request->scenario;
    struct ar_scenario scenario = *given;
    struct ar_measured_request changed = *measured->request;
    struct ar_comparison comparison;
    size_t *places;
    double node = 1, net = 1;
    struct ar_measured moved = move_rows(measured, cluster, nodes, arena, &places);
    if (moved.rows_count == 0) {
        return AR_OK;
    }
    if (nodes > 0 && moved.calls_count > 0) {
        AR_TRY(find_ratio(given, cluster, false, 1, rings, &node, err));
        AR_TRY(nodes > 1 ? find_ratio(given, cluster, by_tree, nodes, rings, &net, err) : AR_OK);
    }
    scenario.arena = arena;
    scenario.cluster = cluster;
    if (scenario.table != NULL) {
        struct ar_library_table *table = ar_arena_copy(arena, scenario.table, 1, sizeof *table);
        change_library(suspect, factor, nodes, node, net, arena, &table->library);
        scenario.table = table;
    }
    if (scenario.constants != NULL) {
        struct ar_library *constants =
            ar_arena_copy(arena, scenario.constants, 1, sizeof *constants);
        change_library(suspect, factor, nodes, node, net, arena, constants);
        scenario.constants = constants;
    }
    if (moved.calls_count == 0) {
        scenario.engine = ar_engine_of_messages(scenario.engine);
    }
    changed.scenario = &scenario;
    changed.notes = NULL;
    moved.request = &changed;
    AR_TRY(ar_comparison_run(&moved, arena, &comparison, err));
    AR_EACH(const struct ar_compared, row, comparison.rows, comparison.rows_count) {
        if (!by_tree || (row->measured->is_call && (BIT(row->prediction.choice) & TREES) != 0)) {
            predictions[places[row->measured - moved.rows]] = row->prediction;
        }
    }
    return AR_OK;
}

enum ar_status suspect_predict(const struct ar_measured *measured, const struct suspect *suspect,
                               double factor, bool by_trees,
                               const struct ar_library_prediction *expected,
                               struct suspect_rings *known, struct ar_arena *arena,
                               struct ar_library_prediction **predictions, struct ar_error *err)
{
    struct suspect_rings changed = {.taken_s = {{0}}}, *const rings[2] = {known, &changed};
    struct ar_cluster *cluster;
    bool is_changed;
    struct ar_library_prediction *made =
        ar_arena_alloc(arena, measured->rows_count + 1, sizeof *made);
    AR_TRY(make_cluster(measured->request->scenario, suspect, factor, arena, &cluster, &is_changed,
                        err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        made[i] = is_changed ? ar_library_banded(0, NAN, NAN) : expected[i];
    }
    for (uint32_t nodes = is_changed ? 1 : 0; nodes <= (is_changed ? RING_NODES_MAX : 0); nodes++) {
        for (int i = 0; i < (by_trees && nodes > 1 ? 2 : 1); i++) {
            AR_TRY(predict_moved(measured, suspect, factor, cluster, nodes, i == 1, rings, arena,
                                 made, err));
        }
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        /* Only tables are written by hand; else the reader has checked rates against times. */
        const struct ar_measured_row *row = &measured->rows[i];
        if (row->run->format != AR_LOG_PUBLISHED && row->run->format != AR_LOG_HARNESS) {
            continue;
        }
        if (suspect->target == SUSPECT_TIME) {
            made[i].time_s *= factor;
        } else if (suspect->target == SUSPECT_AS_BUSBW) {
            made[i].time_s /= ar_operation_busbw_Bps(row->operation, 1, row->call.run.ranks);
        }
    }
    *predictions = made;
    return AR_OK;
}
