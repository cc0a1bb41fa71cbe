#include "ar_usage.h"

#include <math.h>
#include <string.h>

static uint32_t usage_items(const struct ar_usage *usage)
{
    return usage->links_count + usage->ranks_count;
}

size_t ar_usage_size(const struct ar_usage *usage)
{
    return sizeof *usage + usage_items(usage) * sizeof usage->amounts[0];
}

struct ar_usage *ar_usage_create(const struct ar_cluster *cluster, uint32_t ranks,
                                 struct ar_arena *arena)
{
    struct ar_usage empty = {.links_count = ar_cluster_links_count(cluster), .ranks_count = ranks};
    struct ar_usage *made = ar_arena_alloc(arena, 1, ar_usage_size(&empty));
    *made = empty;
    ar_usage_clear(made);
    return made;
}

void ar_usage_clear(struct ar_usage *usage)
{
    usage->bin_s = AR_USAGE_FIRST_S / AR_USAGE_BINS;
    memset(usage->amounts, 0, usage_items(usage) * sizeof usage->amounts[0]);
}

static void double_bins(struct ar_usage *usage)
{
    usage->bin_s *= 2;
    for (uint32_t item = 0; item < usage_items(usage); item++) {
        float *amounts = usage->amounts[item];
        for (uint32_t i = 0; i < AR_USAGE_BINS; i++) {
            amounts[i] = i < AR_USAGE_BINS / 2 ? amounts[2 * i] + amounts[2 * i + 1] : 0;
        }
    }
}

void ar_usage_add(struct ar_usage *usage, uint32_t item, double begin_s, double end_s,
                  double amount)
{
    while (end_s >= usage->bin_s * AR_USAGE_BINS) {
        double_bins(usage);
    }
    uint32_t first = (uint32_t)(begin_s / usage->bin_s), last = (uint32_t)(end_s / usage->bin_s);
    for (uint32_t i = first; i <= last; i++) {
        double from_s = fmax(begin_s, i * usage->bin_s);
        double until_s = fmin(end_s, (i + 1.0) * usage->bin_s);
        double share = first == last ? 1 : (until_s - from_s) / (end_s - begin_s);
        usage->amounts[item][i] += (float)(amount * share);
    }
}

double ar_usage_total(const struct ar_usage *usage, uint32_t item)
{
    double total = 0;
    for (uint32_t i = 0; i < AR_USAGE_BINS; i++) {
        total += (double)usage->amounts[item][i];
    }
    return total;
}
