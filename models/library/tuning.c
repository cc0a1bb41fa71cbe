/* NCCL's own cost model: what it expects of each choice, and which one it takes. */
#include "ar_tuning.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

enum { RELEASES_MAX = 16, CHANNELS = 4 };

static struct ar_tuning make(const struct ar_release *release, double node_bus_Bps,
                             double net_bus_Bps)
{
    return (struct ar_tuning){.release = release,
                              .node_bus_Bps = node_bus_Bps,
                              .net_bus_Bps = net_bus_Bps,
                              .channels = CHANNELS};
}

struct ar_tuning ar_tuning_nccl_2_8_4(double node_bus_Bps, double net_bus_Bps)
{
    return make(ar_release_default, node_bus_Bps, net_bus_Bps);
}

enum ar_status ar_tuning_find(const char *where, const char *release, double node_bus_Bps,
                              double net_bus_Bps, struct ar_tuning *tuning, struct ar_error *err)
{
    const char *names[RELEASES_MAX];
    for (size_t i = 0; i < ar_releases_count; i++) {
        if (strcmp(release, ar_releases[i].release) == 0) {
            *tuning = make(&ar_releases[i], node_bus_Bps, net_bus_Bps);
            return AR_OK;
        }
        names[i] = ar_releases[i].release;
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "NCCL release", release, names,
                            ar_releases_count);
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

/* GB/s of what one of the calls that run side by side has. */
static double bus_of(const struct ar_tuning *tuning, const struct ar_library_run *run)
{
    return is_wide(run) ? tuning->net_bus_Bps / 1e9 / ar_library_sharers(run)
                        : tuning->node_bus_Bps / 1e9;
}

static bool is_low_latency(enum ar_choice choice)
{
    return choice == AR_RING_LL || choice == AR_TREE_LL;
}

static bool is_ll128(enum ar_choice choice)
{
    return choice == AR_RING_LL128 || choice == AR_TREE_LL128;
}

/* A hop within a node, microseconds. */
static double node_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                           bool is_on_several)
{
    const struct ar_release *release = tuning->release;
    const struct tuning_latency *of = &release->latency[choice];
    double own = tuning->is_pcie ? of->pcie : of->nvlink;
    if (!is_on_several) {
        return own;
    }
    if (is_low_latency(choice)) {
        own *= release->ll_node_factor;
    }
    if (ar_choices[choice].is_tree) {
        return own;
    }
    if (release->is_net_everywhere) {
        return of->net;
    }
    return fmax(own, choice == AR_RING_SIMPLE ? release->simple_hop_min : release->ll_hop_min);
}

static double corrected(const double *correction, double bytes)
{
    int size = bytes < 128 ? 0 : (int)floor(log2(bytes / 64));
    return size < TUNING_SIZES && correction[size] > 0 ? correction[size] : 1;
}

/* --- priors ------------------------------------------------------------------------------- */

/* Of a constant and that of release 2.8.4 over NVLink, for what a parameter is the latency of. */
static double prior_ratio(const struct ar_tuning *tuning, enum ar_library_parameter parameter)
{
    enum ar_choice choice = ar_library_parameters[parameter].choice;
    struct ar_tuning standard = make(ar_release_default, 0, 0);
    const struct tuning_latency *of = &tuning->release->latency[choice];
    const struct tuning_latency *usual = &ar_release_default->latency[choice];
    double plateau =
        choice == AR_RING_SIMPLE ? tuning->release->plateau / ar_release_default->plateau : 1;
    switch (ar_library_parameters[parameter].latency) {
    case AR_LATENCY_BASE:
        return usual->base > 0 ? of->base / usual->base : 1;
    case AR_LATENCY_NET:
        return of->net / usual->net * plateau;
    case AR_LATENCY_NODE:
        return node_latency(tuning, choice, is_low_latency(choice)) /
               node_latency(&standard, choice, is_low_latency(choice));
    default:
        return 1;
    }
}

double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter)
{
    return ar_library_parameters[parameter].start * prior_ratio(tuning, parameter);
}

const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter)
{
    double start = ar_library_parameters[parameter].start;
    return ar_library_parameter_prior(tuning, parameter) == start
               ? ar_library_parameters[parameter].source
               : tuning->release->source;
}

/* --- times -------------------------------------------------------------------------------- */

static double ring_time(const struct ar_tuning *tuning, enum ar_choice choice,
                        const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    const struct tuning_latency *of = &release->latency[choice];
    bool is_all_reduce = run->call == AR_ALL_REDUCE;
    struct ar_library_hops hops = ar_library_ring_hops(run);
    double net = hops.net + (is_all_reduce && is_wide(run) ? release->extra_net_hops : 0);
    double node = hops.node - (net - hops.net); /* NCCL, too, goes below 0 at one rank per node */
    double bus = bus_of(tuning, run);
    double latency = of->base + node * node_latency(tuning, choice, is_wide(run)) + net * of->net;
    if (choice == AR_RING_LL) {
        bus = fmin(release->ll_cap[scale_of(run)], bus / 4);
    } else if (choice == AR_RING_LL128) {
        bool is_alone = is_wide(run) && run->ranks < 2 * run->nodes;
        bus = fmin(bus * (is_alone ? release->ll128_alone_share : release->ll128_share),
                   release->ll128_cap);
    } else if (is_all_reduce && is_wide(run) && run->bytes >= run->ranks / 16.0 * 65536) {
        latency *= release->plateau;
    }
    return latency * 1e-6 + run->bytes / (bus * 1e9 * run->ranks / hops.parts);
}

static double tree_time(const struct ar_tuning *tuning, enum ar_choice choice,
                        const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    const struct tuning_latency *of = &release->latency[choice];
    double node = node_latency(tuning, choice, is_wide(run));
    double latency =
        of->base + 2 * ((run->ranks / run->nodes - 1) * node + floor(log2(run->nodes)) * of->net);
    double cap = release->tree_cap[scale_of(run)];
    double bus = fmin(bus_of(tuning, run) * release->tree_share,
                      release->is_tree_cap_of_channel ? tuning->channels * cap : cap);
    if (choice == AR_TREE_LL) {
        bus = fmin(bus / release->tree_ll_divisor, release->ll_cap[scale_of(run)]) *
              corrected(release->tree_ll_correction, run->bytes);
    } else if (choice == AR_TREE_LL128) {
        bus *= release->tree_ll128_share * corrected(release->tree_ll128_correction, run->bytes);
    } else {
        bus *= corrected(release->tree_simple_correction, run->bytes);
    }
    return latency * 1e-6 + run->bytes / (bus * 1e9 / 2);
}

double ar_tuning_time(const struct ar_tuning *tuning, enum ar_choice choice,
                      const struct ar_library_run *run)
{
    return ar_choices[choice].is_tree ? tree_time(tuning, choice, run)
                                      : ring_time(tuning, choice, run);
}

/* --- choice ------------------------------------------------------------------------------- */

/* Across nodes ll128 needs HCAs beside their GPUs: elsewhere its lines may arrive torn. */
static bool is_net_ll128(const struct ar_tuning *tuning, enum ar_choice choice,
                         const struct ar_library_run *run)
{
    bool is_possible = choice == AR_RING_LL128 || run->call == AR_ALL_REDUCE;
    return is_ll128(choice) && is_wide(run) && tuning->has_net_ll128 && is_possible;
}

static bool is_open(const struct ar_tuning *tuning, enum ar_choice choice,
                    const struct ar_library_run *run)
{
    const struct ar_release *release = tuning->release;
    if (!ar_choice_is_open(choice, run) && !is_net_ll128(tuning, choice, run)) {
        return false;
    }
    if (is_ll128(choice)) {
        return release->has_ll128 && !tuning->is_pcie;
    }
    if (ar_choices[choice].is_tree) {
        return release->has_trees;
    }
    double max = release->ll_channel_bytes * run->ranks * tuning->channels;
    return max == 0 || (run->bytes <= max) == (choice == AR_RING_LL);
}

enum ar_choice ar_tuning_choose(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run)
{
    enum ar_choice best = AR_RING_SIMPLE;
    double best_s = HUGE_VAL;
    for (int i = 0; i < AR_CHOICES_COUNT; i++) {
        enum ar_choice choice = (enum ar_choice)i;
        bool is_asked = calls != (ar_choices[choice].is_tree ? AR_CALLS_RING : AR_CALLS_TREE);
        double time_s = ar_tuning_time(tuning, choice, run);
        if (is_asked && is_open(tuning, choice, run) && time_s < best_s) {
            best = choice;
            best_s = time_s;
        }
    }
    return best;
}
