#include "flow_rates.h"

enum ar_status flow_rates_create(struct ar_arena *arena, const struct ar_cluster *cluster,
                                 struct flow_rates *rates, struct ar_error *err)
{
    *rates = (struct flow_rates){.cluster = cluster, .arena = arena};
    return ar_maxmin_create(arena, cluster, &rates->maxmin, err);
}

/* Sums in another order may differ in the last digits. */
bool flow_rates_is_shared(const struct flow_rates *rates, size_t flow)
{
    return rates->rates_Bps[flow] < rates->paths.bandwidth_Bps[flow] * (1 - 1e-9);
}

static enum ar_status make_room(struct flow_rates *rates, size_t count, struct ar_error *err)
{
    if (count <= rates->room) {
        return AR_OK;
    }
    rates->room = count;
    rates->rates_Bps = ar_arena_alloc(rates->arena, count, sizeof *rates->rates_Bps);
    return rates->rates_Bps != NULL ? AR_OK : ar_error_no_memory(err, "the rates of messages");
}

enum ar_status flow_rates_find_paths(struct flow_rates *rates, const struct ar_flow *flows,
                                     size_t count, uint32_t period, struct ar_error *err)
{
    AR_TRY(ar_paths_find(rates->arena, rates->cluster, flows, count, &rates->paths, err));
    if (period > 0) {
        ar_paths_fold(&rates->paths, rates->cluster, period);
    }
    return AR_OK;
}

enum ar_status flow_rates_find(struct flow_rates *rates, const struct ar_flow *flows, size_t count,
                               uint32_t period, struct ar_error *err)
{
    bool has_platform = ar_cluster_platform_path(rates->cluster) != NULL;
    AR_TRY(make_room(rates, count, err));
    AR_TRY(flow_rates_find_paths(rates, flows, count, period, err));
    AR_TRY(ar_maxmin_share(rates->arena, &rates->maxmin, &rates->paths, rates->rates_Bps, err));
    rates->is_any_shared = false;
    for (size_t i = 0; i < count && !rates->is_any_shared; i++) {
        rates->is_any_shared = flow_rates_is_shared(rates, i);
    }
    return has_platform && rates->is_any_shared
               ? ar_cluster_platform_rates(rates->cluster, flows, count, rates->rates_Bps, err)
               : AR_OK;
}

uint32_t flow_rates_narrowest(const struct flow_rates *rates, size_t flow, uint32_t *flows)
{
    const struct ar_paths *paths = &rates->paths;
    uint32_t narrowest = 0;
    double min_Bps = -1;
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        const struct ar_maxmin_link *link = &rates->maxmin.links[paths->links[i]];
        uint32_t on_link = link->is_shared ? rates->maxmin.flows[paths->links[i]] : 1;
        double each_Bps = link->bandwidth_Bps / on_link;
        if (min_Bps < 0 || each_Bps < min_Bps) {
            min_Bps = each_Bps;
            narrowest = paths->links[i];
            *flows = on_link;
        }
    }
    return narrowest;
}
