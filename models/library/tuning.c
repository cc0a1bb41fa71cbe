/* NCCL's own cost model: what it expects of each choice, and which one it takes. */
#include "ar_tuning.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

enum { RELEASES_MAX = 32, CHANNELS = 4 };

struct ar_tuning ar_tuning_nccl_2_8_4(double node_bus_Bps, double net_bus_Bps)
{
    return (struct ar_tuning){.release = ar_release_default,
                              .node_bus_Bps = node_bus_Bps,
                              .net_bus_Bps = net_bus_Bps,
                              .channels = CHANNELS};
}

enum ar_status ar_tuning_find(const char *where, const char *release, double node_bus_Bps,
                              double net_bus_Bps, struct ar_tuning *tuning, struct ar_error *err)
{
    const char *names[RELEASES_MAX];
    for (size_t i = 0; i < ar_releases_count; i++) {
        /* A row stands for all releases of its minor version: 2.18.3 for 2.18.5. */
        const char *row = ar_releases[i].release;
        size_t minor = (size_t)(strrchr(row, '.') - row) + 1;
        size_t patch = strspn(release + strnlen(release, minor), "0123456789");
        if (strncmp(release, row, minor) == 0 && patch > 0 && release[minor + patch] == '\0') {
            *tuning = ar_tuning_nccl_2_8_4(node_bus_Bps, net_bus_Bps);
            tuning->release = &ar_releases[i];
            return AR_OK;
        }
        names[i] = ar_releases[i].release;
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "NCCL release", release, names,
                            ar_releases_count);
}

void ar_tuning_set_generation(struct ar_tuning *tuning, enum ar_gpu_generation generation)
{
    const struct ar_release *own = tuning->release->of_generation[generation];
    tuning->generation = generation;
    tuning->release = own != NULL ? own : tuning->release;
}

/* --- parts -------------------------------------------------------------------------------- */

static bool is_wide(const struct ar_library_run *run)
{
    return run->nodes > 1;
}

static uint32_t scale_of(const struct ar_library_run *run)
{
    return run->nodes > 2 ? 2 : run->nodes - 1;
}

/* One rank on each of several nodes. */
static bool has_one_rank_each(const struct ar_library_run *run)
{
    return is_wide(run) && run->ranks < 2 * run->nodes;
}

static double cap_bandwidth(double bandwidth, double cap)
{
    return cap > 0 ? fmin(bandwidth, cap) : bandwidth;
}

const struct tuning_caps *ar_tuning_caps(const struct ar_release *release,
                                         enum ar_gpu_generation generation)
{
    uint32_t last = release->caps_count - 1;
    return &release->caps[generation < last ? generation : last];
}

/* A bound of a channel, for all of them. */
static double of_channels(const struct ar_tuning *tuning, const double caps[TUNING_SCALES],
                          const struct ar_library_run *run)
{
    return caps[scale_of(run)] * (tuning->release->are_caps_total ? 1 : tuning->channels);
}

/* The bound of ll: by GPU; on several nodes rows are CPUs (that of Ampere is AMD). */
static double ll_cap(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    enum ar_gpu_generation row = !is_wide(run)               ? tuning->generation
                                 : tuning->cpu == AR_CPU_AMD ? AR_GPU_AMPERE
                                                             : AR_GPU_VOLTA;
    return ar_tuning_caps(tuning->release, row)->ll[scale_of(run)];
}

double ar_tuning_net_share(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    double reached = tuning->has_near_hcas && tuning->hcas > 0
                         ? (double)run->ranks / run->nodes / tuning->hcas
                         : 1;
    return fmin(1.0 / ar_library_sharers(run), reached);
}

/* GB/s of the network for one of the calls that run side by side. */
static double net_bus(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    return tuning->net_bus_Bps / 1e9 * ar_tuning_net_share(tuning, run);
}

static double bus_of(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    double bus = is_wide(run) ? net_bus(tuning, run) : tuning->node_bus_Bps / 1e9;
    return cap_bandwidth(bus, ar_tuning_caps(tuning->release, tuning->generation)->bus);
}

double ar_tuning_node_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                              bool is_on_several)
{
    const struct ar_release *release = tuning->release;
    const struct ar_choice_facts *facts = &ar_choices[choice];
    const struct tuning_latency *of = &release->latency[choice];
    double own = tuning->links == TUNING_PCIE ? of->pcie : of->nvlink;
    if (!is_on_several) {
        return own;
    }
    if (facts->protocol == AR_PROTOCOL_LL) {
        own *= release->ll_node_factor;
    }
    if (facts->algorithm != AR_CHOICE_RING) {
        return own;
    }
    if (release->is_net_everywhere) {
        return of->net;
    }
    double overhead = release->net_overhead * (tuning->cpu == AR_CPU_AMD ? 2 : 1) *
                      (facts->protocol == AR_PROTOCOL_SIMPLE ? 3 : 1);
    return fmax(own, overhead);
}

double ar_tuning_net_latency(const struct ar_tuning *tuning, enum ar_choice choice)
{
    double times = ar_choices[choice].protocol == AR_PROTOCOL_SIMPLE ? 2 : 1;
    return tuning->release->latency[choice].net + times * tuning->net_latency_s * 1e6;
}

/* For the nodes of a run. */
static double net_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                          const struct ar_library_run *run)
{
    bool is_tree = tuning->release->is_alone_tree_net && run->ranks == run->nodes;
    enum ar_choice tree = (enum ar_choice)(AR_TREE_LL + ar_choices[choice].protocol);
    return ar_tuning_net_latency(tuning, is_tree ? tree : choice);
}

static double tree_correction(const double *correction, double bytes)
{
    int size = bytes < 128 ? 0 : (int)floor(log2(bytes / 64));
    return size < TUNING_SIZES && correction[size] > 0 ? correction[size] : 1;
}

static double in_seconds(double latency_us, double bytes, double bandwidth)
{
    return latency_us * 1e-6 + bytes / (bandwidth * 1e9);
}

/* --- rings -------------------------------------------------------------------------------- */

/* A chain counts one hop if the rings are the same on every channel: in a node without a mesh of
 * NVLinks, across nodes if all take the same HCA, too. */
static double chain_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                            const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    bool is_same = tuning->links != TUNING_NVLINK_MESH && (!is_wide(run) || tuning->hcas == 1);
    enum ar_choice hop = !is_same && choice == AR_RING_SIMPLE ? AR_TREE_SIMPLE : choice;
    double hop_us =
        is_wide(run) ? release->latency[hop].net : ar_tuning_node_latency(tuning, hop, false);
    return release->latency[choice].base + (is_same ? 1 : run->ranks) * hop_us;
}

static double ring_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                           const struct ar_library_run *run)
{
    bool has_extra = run->call == AR_ALL_REDUCE && is_wide(run);
    struct ar_library_hops hops = ar_library_ring_hops(run);
    double net = hops.net + (has_extra ? tuning->release->extra_net_hops : 0);
    double node = hops.node - (net - hops.net); /* NCCL, too, goes below 0 at one rank per node */
    double latency = tuning->release->latency[choice].base +
                     node * ar_tuning_node_latency(tuning, choice, is_wide(run)) +
                     net * net_latency(tuning, choice, run);
    double channel_bytes = tuning->release->plateau_channel_bytes;
    double rank_bytes = channel_bytes > 0 ? channel_bytes * tuning->channels : 65536.0 / 16;
    bool is_on_plateau = has_extra && run->bytes >= run->ranks * rank_bytes;
    return choice == AR_RING_SIMPLE && is_on_plateau
               ? latency * ar_tuning_caps(tuning->release, tuning->generation)->plateau
               : latency;
}

static double ring_bandwidth(const struct ar_tuning *tuning, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    double bus = bus_of(tuning, run);
    if (choice == AR_RING_LL) {
        bool is_usual = is_wide(run) || run->call == AR_ALL_REDUCE || run->call == AR_REDUCE;
        bus /= is_usual ? release->ll_divisor : release->ll_node_divisor;
        return cap_bandwidth(bus, ll_cap(tuning, run));
    }
    if (choice == AR_RING_LL128) {
        bus *= has_one_rank_each(run) ? release->ll128_alone_share : release->ll128_share;
        return cap_bandwidth(
            bus, of_channels(tuning,
                             ar_tuning_caps(tuning->release, tuning->generation)->ring_ll128, run));
    }
    return bus;
}

static double nccl_ring_time(const struct ar_tuning *tuning, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    double latency = ar_library_is_chain(run->call) ? chain_latency(tuning, choice, run)
                                                    : ring_latency(tuning, choice, run);
    double parts = ar_library_ring_hops(run).parts;
    return in_seconds(latency, run->bytes * parts / run->ranks,
                      ring_bandwidth(tuning, choice, run));
}

/* --- trees -------------------------------------------------------------------------------- */

static double tree_bandwidth(const struct ar_tuning *tuning, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    const struct tuning_caps *caps = ar_tuning_caps(tuning->release, tuning->generation);
    bool is_pair = run->nodes == 2 && choice == AR_TREE_SIMPLE && release->tree_pair_share > 0;
    double share = is_pair ? release->tree_pair_share : release->tree_share;
    double bus = cap_bandwidth(bus_of(tuning, run) * share, of_channels(tuning, caps->tree, run));
    double alone = has_one_rank_each(run) ? release->tree_alone_share : 1;
    if (choice == AR_TREE_LL) {
        return cap_bandwidth(bus / release->tree_ll_divisor, ll_cap(tuning, run)) * alone *
               tree_correction(release->tree_ll_correction, run->bytes);
    }
    if (choice == AR_TREE_LL128) {
        bus *= is_wide(run) ? release->tree_ll128_share : release->tree_ll128_node_share;
        return cap_bandwidth(bus, of_channels(tuning, caps->tree_ll128, run)) * alone *
               tree_correction(release->tree_ll128_correction, run->bytes);
    }
    return bus * alone * tree_correction(release->tree_simple_correction, run->bytes);
}

/* floor(log2 n), as NCCL counts the levels of a tree. */
static double tree_levels(const struct ar_library_run *run)
{
    return floor(log2(run->nodes));
}

static double nccl_tree_time(const struct ar_tuning *tuning, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    double node = ar_tuning_node_latency(tuning, choice, is_wide(run));
    double latency = tuning->release->latency[choice].base +
                     2 * ((run->ranks / run->nodes - 1) * node +
                          tree_levels(run) * net_latency(tuning, choice, run));
    return in_seconds(latency, 2 * run->bytes, tree_bandwidth(tuning, choice, run));
}

/* --- what switches sum, and pat ----------------------------------------------------------- */

static double nccl_collnet_time(const struct ar_tuning *tuning, enum ar_choice choice,
                                const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    bool is_direct = choice == AR_COLLNET_DIRECT;
    bool is_half = run->call != AR_ALL_REDUCE;
    double others = run->ranks / run->nodes - 1;
    double node = ar_tuning_node_latency(tuning, choice, true);
    double net = net_latency(tuning, choice, run);
    double bus = net_bus(tuning, run);
    double latency = release->latency[choice].base;
    if (is_direct) {
        double gpus = (others + 1) / (tuning->hcas > 0 ? tuning->hcas : tuning->channels);
        double far = fmin(others / 7, 1);
        latency += 2 * (fmin(1, others) * node + others * release->collnet_direct_hop) + net;
        double share = tuning->generation >= AR_GPU_HOPPER ? 0.85 : 1;
        bus *= !is_half                              ? share / (gpus - (gpus - 1) / 2)
               : release->nvls >= TUNING_NVLS_HALVES ? 0.9
                                                     : far * 0.85 + (1 - far) * 0.95;
    } else {
        latency += 2 * others * node + (release->has_collnet_chain_net ? net : 0);
        bus *= release->collnet_chain_share;
    }
    return in_seconds(latency, (is_half ? 1 : 2) * run->bytes, bus);
}

/* The bus of nvls by the narrower of a node's bandwidth, which its GPUs send and hear at once in an
 * all-reduce, and that of the network. */
static double nvls_bandwidth(const struct ar_tuning *tuning, bool is_tree,
                             const struct ar_library_run *run)
{
    const struct tuning_caps *caps = ar_tuning_caps(tuning->release, tuning->generation);
    bool is_half = run->call != AR_ALL_REDUCE;
    double own = (double)run->nodes / run->ranks; /* what stays on a GPU of a half */
    double node = tuning->node_bus_Bps / 1e9;
    double net = is_wide(run) ? net_bus(tuning, run) : node;
    switch (tuning->release->nvls) {
    case TUNING_NVLS_AS_RINGS:
        return bus_of(tuning, run);
    case TUNING_NVLS_SHARE:
        node *= caps->nvls_share * (tuning->channels - 1) / tuning->channels;
        node *= is_half ? 1 - own : 2;
        net *= is_tree && run->nodes <= 2 ? 2 : 1;
        return is_tree ? cap_bandwidth(fmin(node, net), of_channels(tuning, caps->nvls_tree, run))
                       : fmin(node, net);
    case TUNING_NVLS_HALVES:
        node *= is_half ? 1 - own : 1;
        net *= is_half ? 0.9 : 1;
        break;
    default:
        break;
    }
    return fmin(node, is_tree && run->nodes > 2 ? net / 2 : net);
}

static double nccl_nvls_time(const struct ar_tuning *tuning, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    const struct tuning_latency *of = &release->latency[choice];
    bool is_tree = choice == AR_NVLS_TREE;
    bool is_line = is_tree && release->has_nvls_line;
    double net = net_latency(tuning, choice, run);
    double hops = is_line        ? 2.0 * (run->nodes - 1)
                  : is_tree      ? 2 * tree_levels(run)
                  : is_wide(run) ? 1
                                 : 0;
    /* Payload over bus bandwidth of a ring's all-reduce. */
    double ratio = run->call != AR_ALL_REDUCE ? 1
                   : is_line                  ? 0.7 * run->nodes / (2.0 * (run->nodes - 1))
                   : release->nvls_ratio > 0  ? release->nvls_ratio
                                              : run->ranks / (2.0 * (run->ranks - 1));
    return in_seconds(of->base + hops * net, run->bytes,
                      nvls_bandwidth(tuning, is_tree, run) * ratio);
}

static double nccl_pat_time(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    double latency = release->latency[AR_PAT].base +
                     tree_levels(run) * net_latency(tuning, AR_PAT, run) / 3.5 + run->ranks * 2.8;
    return in_seconds(latency, run->bytes, bus_of(tuning, run) * release->pat_share);
}

double ar_tuning_time(const struct ar_tuning *tuning, enum ar_choice choice,
                      const struct ar_library_run *run)
{
    switch (ar_choices[choice].algorithm) {
    case AR_CHOICE_TREE:
        return nccl_tree_time(tuning, choice, run);
    case AR_CHOICE_COLLNET_DIRECT:
    case AR_CHOICE_COLLNET_CHAIN:
        return nccl_collnet_time(tuning, choice, run);
    case AR_CHOICE_NVLS:
    case AR_CHOICE_NVLS_TREE:
        return nccl_nvls_time(tuning, choice, run);
    case AR_CHOICE_PAT:
        return nccl_pat_time(tuning, run);
    case AR_CHOICE_SEND:
        return NAN;
    default:
        return nccl_ring_time(tuning, choice, run);
    }
}

/* The largest message from one rank to another for which NCCL takes protocol ll: NVIDIA/nccl
 * v2.27.3-1, src/enqueue.cc, NCCL_P2P_LL_THRESHOLD, which is there from 2.14 on. */
#define SEND_LL_BYTES 16384

/* --- choice ------------------------------------------------------------------------------- */

/* Nvls wants three GPUs of a node (NVIDIA/nccl v2.27.3-1, src/transport/nvls.cc, ncclNvlsInit);
 * across nodes it wants a network that sums, and as collnet-direct an HCA for each GPU where each
 * rank keeps a part of its own. */
static bool has_algorithm(const struct ar_tuning *tuning, enum ar_choice choice,
                          const struct ar_library_run *run)
{
    bool is_new = tuning->generation == AR_GPU_HOPPER || tuning->generation == AR_GPU_BLACKWELL;
    bool has_nvls = is_new && tuning->links == TUNING_NVSWITCH && run->ranks > 2 * run->nodes;
    bool has_hcas = run->call == AR_ALL_REDUCE || (uint64_t)tuning->hcas * run->nodes >= run->ranks;
    bool has_collnet = is_wide(run) && tuning->has_collnet;
    double ring_max = tuning->release->ll_channel_bytes * run->ranks * tuning->channels;
    switch (ar_choices[choice].algorithm) {
    case AR_CHOICE_TREE:
        return is_wide(run) || tuning->release->has_node_trees;
    case AR_CHOICE_COLLNET_DIRECT:
        return has_collnet && tuning->links == TUNING_NVSWITCH && has_hcas;
    case AR_CHOICE_COLLNET_CHAIN:
        return has_collnet;
    case AR_CHOICE_NVLS:
        return has_nvls && (!is_wide(run) || (has_collnet && has_hcas));
    case AR_CHOICE_NVLS_TREE:
        return has_nvls && is_wide(run);
    case AR_CHOICE_PAT:
        return is_wide(run) && run->ranks == run->nodes;
    default: /* 2.3.7 takes ll up to a size */
        return ring_max == 0 || (run->bytes <= ring_max) == (choice == AR_RING_LL);
    }
}

bool ar_tuning_is_open(const struct ar_tuning *tuning, enum ar_choice choice,
                       const struct ar_library_run *run)
{
    const struct ar_choice_facts *facts = &ar_choices[choice];
    bool is_half = run->call == AR_REDUCE_SCATTER || run->call == AR_ALL_GATHER;
    uint32_t choices = is_half ? tuning->release->halves : tuning->release->all_reduces;
    bool is_of_call = !ar_library_is_chain(run->call) || facts->algorithm == AR_CHOICE_RING;
    /* ll128 wants NVLinks and, across nodes, HCAs beside their GPUs: else lines may arrive torn. */
    bool has_protocol = facts->protocol != AR_PROTOCOL_LL128 ||
                        (tuning->links != TUNING_PCIE && (!is_wide(run) || tuning->has_near_hcas));
    return (choices >> choice & 1) != 0 && is_of_call && has_protocol &&
           has_algorithm(tuning, choice, run);
}

/* The best choice, AR_CHOICES_COUNT if there is none. */
static enum ar_choice find_best(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run)
{
    enum ar_choice best = AR_CHOICES_COUNT;
    double best_s = HUGE_VAL;
    for (enum ar_choice choice = 0; choice < AR_CHOICES_COUNT; choice++) {
        enum ar_choice_algorithm algorithm = ar_choices[choice].algorithm;
        bool is_asked = calls == AR_CALLS_RING   ? algorithm == AR_CHOICE_RING
                        : calls == AR_CALLS_TREE ? algorithm == AR_CHOICE_TREE
                                                 : true;
        if (is_asked && ar_tuning_is_open(tuning, choice, run)) {
            double time_s = ar_tuning_time(tuning, choice, run);
            best = time_s < best_s ? choice : best;
            best_s = fmin(best_s, time_s);
        }
    }
    return best;
}

bool ar_tuning_has(const struct ar_tuning *tuning, enum ar_calls calls,
                   const struct ar_library_run *run)
{
    return find_best(tuning, calls, run) != AR_CHOICES_COUNT;
}

enum ar_choice ar_tuning_choose(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run)
{
    if (run->call == AR_ALL_TO_ALL) {
        bool is_small = run->bytes / run->ranks <= SEND_LL_BYTES;
        return is_small && tuning->release->has_send_ll ? AR_SEND_LL : AR_SEND_SIMPLE;
    }
    enum ar_choice best = find_best(tuning, calls, run);
    return best != AR_CHOICES_COUNT ? best : AR_RING_SIMPLE;
}
