/* NCCL's own cost model: what it expects of each choice, and which one it takes. */
#include "ar_tuning.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

enum { RELEASES_MAX = 32, CHANNELS = 4 };

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

/* Whether a release is of the same minor version as a row: 2.18.5 and 2.18.3. */
static bool is_like(const char *release, const char *row)
{
    size_t minor = (size_t)(strrchr(row, '.') - row) + 1;
    size_t patch = strspn(release + strnlen(release, minor), "0123456789");
    return strncmp(release, row, minor) == 0 && patch > 0 && release[minor + patch] == '\0';
}

enum ar_status ar_tuning_find(const char *where, const char *release, double node_bus_Bps,
                              double net_bus_Bps, struct ar_tuning *tuning, struct ar_error *err)
{
    const char *names[RELEASES_MAX];
    for (size_t i = 0; i < ar_releases_count; i++) {
        if (is_like(release, ar_releases[i].release)) {
            *tuning = make(&ar_releases[i], node_bus_Bps, net_bus_Bps);
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

/* --- choice ------------------------------------------------------------------------------- */

static bool is_wide(const struct ar_library_run *run)
{
    return run->nodes > 1;
}

/* ll128 wants NVLinks and, across nodes, HCAs beside their GPUs: elsewhere its lines may arrive
 * torn. */
static bool has_protocol(const struct ar_tuning *tuning, enum ar_choice_protocol protocol,
                         const struct ar_library_run *run)
{
    return protocol != AR_PROTOCOL_LL128 ||
           (tuning->links != TUNING_PCIE && (!is_wide(run) || tuning->has_near_hcas));
}

/* 2.3.7 takes ll up to a size. */
static bool is_ring_of_size(const struct ar_tuning *tuning, enum ar_choice choice,
                            const struct ar_library_run *run)
{
    double max = tuning->release->ll_channel_bytes * run->ranks * tuning->channels;
    return max == 0 || (run->bytes <= max) == (choice == AR_RING_LL);
}

/* Across nodes nvls wants a network that sums, and as collnet-direct an HCA for each GPU where each
 * rank keeps a part of its own. */
static bool has_algorithm(const struct ar_tuning *tuning, enum ar_choice choice,
                          const struct ar_library_run *run)
{
    bool is_new = tuning->generation == AR_GPU_HOPPER || tuning->generation == AR_GPU_BLACKWELL;
    bool has_nvls = is_new && tuning->links == TUNING_NVSWITCH && run->ranks > run->nodes;
    bool has_hcas = run->call == AR_ALL_REDUCE || (uint64_t)tuning->hcas * run->nodes >= run->ranks;
    bool has_collnet = is_wide(run) && tuning->has_collnet;
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
    default:
        return is_ring_of_size(tuning, choice, run);
    }
}

bool ar_tuning_is_open(const struct ar_tuning *tuning, enum ar_choice choice,
                       const struct ar_library_run *run)
{
    const struct ar_choice_facts *facts = &ar_choices[choice];
    bool is_half = run->call == AR_REDUCE_SCATTER || run->call == AR_ALL_GATHER;
    uint32_t choices = is_half ? tuning->release->halves : tuning->release->all_reduces;
    bool is_of_call =
        !ar_library_call_facts[run->call].is_chain || facts->algorithm == AR_CHOICE_RING;
    return (choices >> choice & 1) != 0 && is_of_call &&
           has_protocol(tuning, facts->protocol, run) && has_algorithm(tuning, choice, run);
}

static bool is_asked(enum ar_choice choice, enum ar_calls calls)
{
    enum ar_choice_algorithm algorithm = ar_choices[choice].algorithm;
    return calls == AR_CALLS_RING   ? algorithm == AR_CHOICE_RING
           : calls == AR_CALLS_TREE ? algorithm == AR_CHOICE_TREE
                                    : true;
}

/* The best choice, AR_CHOICES_COUNT if there is none. */
static enum ar_choice find_best(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run)
{
    enum ar_choice best = AR_CHOICES_COUNT;
    double best_s = HUGE_VAL;
    for (int i = 0; i < AR_CHOICES_COUNT; i++) {
        enum ar_choice choice = (enum ar_choice)i;
        if (is_asked(choice, calls) && ar_tuning_is_open(tuning, choice, run)) {
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
    enum ar_choice best = find_best(tuning, calls, run);
    return best != AR_CHOICES_COUNT ? best : AR_RING_SIMPLE;
}
