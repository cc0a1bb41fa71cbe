#include "ar_maxmin.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Shares closer than this are one level: they come from sums in different order. */
#define SAME_SHARE 1e-12

struct filling {
    const struct ar_cluster *cluster;
    double *left_Bps;  /* per link: bandwidth not yet given to settled flows */
    uint32_t *waiting; /* per link: flows not yet settled */
    bool *is_full;     /* per link, at the present level */
    uint32_t *used;    /* the links that carry flows */
    uint32_t used_count;
};

static double least_share(const struct filling *filling)
{
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < filling->used_count; i++) {
        uint32_t link = filling->used[i];
        if (filling->waiting[link] > 0) {
            least = fmin(least, filling->left_Bps[link] / filling->waiting[link]);
        }
    }
    return least;
}

static bool is_on_full_link(const struct ar_path *path, const bool *is_full)
{
    for (uint32_t i = 0; i < path->links_count; i++) {
        if (is_full[path->links[i]]) {
            return true;
        }
    }
    return false;
}

/* Settles the flows on the links that are full at `share`; returns how many. */
static size_t settle(struct filling *filling, const struct ar_flow *flows, size_t flows_count,
                     double share_Bps, double *rates_Bps)
{
    for (uint32_t i = 0; i < filling->used_count; i++) {
        uint32_t link = filling->used[i];
        filling->is_full[link] =
            filling->waiting[link] > 0 &&
            filling->left_Bps[link] / filling->waiting[link] <= share_Bps * (1 + SAME_SHARE);
    }
    size_t settled = 0;
    for (size_t i = 0; i < flows_count; i++) {
        if (rates_Bps[i] > 0) {
            continue;
        }
        struct ar_path path =
            ar_cluster_path(filling->cluster, flows[i].source, flows[i].destination);
        if (!is_on_full_link(&path, filling->is_full)) {
            continue;
        }
        rates_Bps[i] = share_Bps;
        settled++;
        for (uint32_t j = 0; j < path.links_count; j++) {
            filling->left_Bps[path.links[j]] -= share_Bps;
            filling->waiting[path.links[j]]--;
        }
    }
    return settled;
}

static void fill(struct filling *filling, const struct ar_flow *flows, size_t flows_count,
                 double *rates_Bps)
{
    for (size_t i = 0; i < flows_count; i++) {
        struct ar_path path =
            ar_cluster_path(filling->cluster, flows[i].source, flows[i].destination);
        rates_Bps[i] = 0;
        for (uint32_t j = 0; j < path.links_count; j++) {
            uint32_t link = path.links[j];
            if (filling->waiting[link]++ == 0) {
                filling->used[filling->used_count++] = link;
                filling->left_Bps[link] = ar_cluster_link_bandwidth(filling->cluster, link);
            }
        }
    }
    for (size_t settled = 0; settled < flows_count;) {
        settled += settle(filling, flows, flows_count, least_share(filling), rates_Bps);
    }
}

enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               size_t flows_count, double *rates_Bps, struct ar_error *err)
{
    uint32_t links_count = ar_cluster_links_count(cluster);
    struct filling filling = {
        .cluster = cluster,
        .left_Bps = malloc(links_count * sizeof *filling.left_Bps),
        .waiting = calloc(links_count, sizeof *filling.waiting),
        .is_full = malloc(links_count * sizeof *filling.is_full),
        .used = malloc(links_count * sizeof *filling.used),
    };
    enum ar_status status = AR_OK;
    if (filling.left_Bps == NULL || filling.waiting == NULL || filling.is_full == NULL ||
        filling.used == NULL) {
        status = ar_error_no_memory(err, "the sharing of links");
    } else {
        fill(&filling, flows, flows_count, rates_Bps);
    }
    free(filling.left_Bps);
    free(filling.waiting);
    free(filling.is_full);
    free(filling.used);
    return status;
}
