/* NCCL's own cost model of an all-reduce: facts of release 2.8.4, read from
 * NVIDIA/nccl v2.8.4-1, src/graph/tuning.cc. Latencies in microseconds, bandwidths in GB/s. */
#include <math.h>
#include <string.h>

#include "ar_library.h"

enum { SIZES = 22 };

struct constants {
    double base;
    double node; /* NVLink */
    double net;
};

static const struct constants constants[AR_CHOICES_COUNT] = {
    [AR_RING_LL] = {3.6, 0.47, 2.7},    [AR_RING_LL128] = {10.0, 1.9, 4.0},
    [AR_RING_SIMPLE] = {8.4, 3.4, 9.6}, [AR_TREE_LL] = {4.4, 0.52, 5.0},
    [AR_TREE_SIMPLE] = {0, 28, 28},
};

/* Of the bandwidth of trees, by size: 64 bytes, 128, 256, ... */
static const double tree_ll_correction[SIZES] = {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6,
                                                 .5, .5, .5, .6, .7, .8, .9, .9, 1,  1,  1};
static const double tree_simple_correction[SIZES] = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6,
                                                     .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9};

/* Caps on a Volta GPU, for one node, two, and more. */
static const double ll_cap[] = {39, 39, 20.4};
static const double tree_channel_cap[] = {26.5, 18.5, 10};

struct ar_tuning ar_tuning_nccl_2_8_4(double node_bus_Bps, double net_bus_Bps)
{
    return (struct ar_tuning){.name = "nccl-2.8.4",
                              .source = "NVIDIA/nccl v2.8.4-1, src/graph/tuning.cc",
                              .node_bus_Bps = node_bus_Bps,
                              .net_bus_Bps = net_bus_Bps,
                              .channels = 4};
}

static double corrected(const double *correction, double bytes)
{
    int size = bytes < 128 ? 0 : (int)floor(log2(bytes / 64));
    return size < SIZES ? correction[size] : 1;
}

double ar_tuning_tree_efficiency(double bytes)
{
    double place = fmin(fmax(log2(bytes / 64), 0), SIZES - 1);
    int below = (int)place;
    int above = below + 1 < SIZES ? below + 1 : below;
    double share = place - below;
    return tree_simple_correction[below] * (1 - share) + tree_simple_correction[above] * share;
}

static double ring_time(const struct ar_tuning *tuning, enum ar_choice choice,
                        const struct ar_library_run *run)
{
    const struct constants *of = &constants[choice];
    double steps = 2.0 * (run->ranks - 1);
    double net_steps = 2.0 * (run->nodes - 1);
    bool is_wide = run->nodes > 1;
    uint32_t scale = run->nodes > 2 ? 2 : run->nodes - 1;
    double bus = (is_wide ? tuning->net_bus_Bps : tuning->node_bus_Bps) / 1e9;
    double node = of->node * (choice == AR_RING_LL && is_wide ? 1.8 : 1);
    double latency = of->base + (steps - net_steps) * node + net_steps * of->net;
    if (choice == AR_RING_LL) {
        bus = fmin(ll_cap[scale], bus / 4);
    } else if (choice == AR_RING_LL128) {
        bus *= 0.92;
    } else if (is_wide && run->bytes >= run->ranks / 16.0 * 65536) {
        latency *= 1.9; /* the plateau of the ring */
    }
    return latency * 1e-6 + run->bytes / (bus * 1e9 * run->ranks / steps);
}

static double tree_time(const struct ar_tuning *tuning, enum ar_choice choice,
                        const struct ar_library_run *run)
{
    const struct constants *of = &constants[choice];
    uint32_t scale = run->nodes > 2 ? 2 : run->nodes - 1;
    bool is_wide = run->nodes > 1;
    double bus = (is_wide ? tuning->net_bus_Bps : tuning->node_bus_Bps) / 1e9;
    double node = of->node * (choice == AR_TREE_LL && is_wide ? 1.8 : 1);
    double latency =
        of->base + 2 * ((run->ranks / run->nodes - 1) * node + floor(log2(run->nodes)) * of->net);
    bus = fmin(bus * 0.92, tuning->channels * tree_channel_cap[scale]);
    if (choice == AR_TREE_LL) {
        bus = fmin(bus / 3.8, ll_cap[scale]) * corrected(tree_ll_correction, run->bytes);
    } else {
        bus *= corrected(tree_simple_correction, run->bytes);
    }
    return latency * 1e-6 + run->bytes / (bus * 1e9 / 2);
}

double ar_tuning_time(const struct ar_tuning *tuning, enum ar_choice choice,
                      const struct ar_library_run *run)
{
    return choice < AR_TREE_LL ? ring_time(tuning, choice, run) : tree_time(tuning, choice, run);
}

enum ar_choice ar_tuning_choose(const struct ar_tuning *tuning, const char *algorithm,
                                const struct ar_library_run *run)
{
    enum ar_choice best = AR_RING_SIMPLE;
    double best_s = HUGE_VAL;
    for (int i = 0; i < AR_CHOICES_COUNT; i++) {
        enum ar_choice choice = (enum ar_choice)i;
        bool is_asked = algorithm == NULL || strcmp(algorithm, ar_choice_algorithm(choice)) == 0;
        double time_s = ar_tuning_time(tuning, choice, run);
        if (is_asked && ar_choice_is_open(choice, run) && time_s < best_s) {
            best = choice;
            best_s = time_s;
        }
    }
    return best;
}
