/** \file flow_rates.h
 * The rates of flows that are under way together, found for one set of flows after the other.
 */
#ifndef AR_FLOW_RATES_H
#define AR_FLOW_RATES_H

#include "ar_maxmin.h"

struct flow_rates {
    const struct ar_cluster *cluster;
    struct ar_arena *arena; /**< of the room, which is kept from set to set */
    struct ar_paths paths;
    struct ar_maxmin maxmin;
    double *rates_Bps; /**< [flow]: the result */
    size_t room;
    bool is_any_shared; /**< some flow has less than the bandwidth of its path */
};

enum ar_status flow_rates_create(struct ar_arena *arena, const struct ar_cluster *cluster,
                                 struct flow_rates *rates, struct ar_error *err);

/** The paths alone; with `period` above 0 they are folded (ar_paths_fold()). */
enum ar_status flow_rates_find_paths(struct flow_rates *rates, const struct ar_flow *flows,
                                     size_t count, uint32_t period, struct ar_error *err);

/** Paths, and max-min fair shares; on a platform file, whose sharing is SimGrid's matter, they are
 * a guess that SimGrid itself corrects. */
enum ar_status flow_rates_find(struct flow_rates *rates, const struct ar_flow *flows, size_t count,
                               uint32_t period, struct ar_error *err);

/** The link of the path of a flow that has the least bandwidth for each flow on it, and how many
 * these are. */
uint32_t flow_rates_narrowest(const struct flow_rates *rates, size_t flow, uint32_t *flows);

/** Does a flow have less than the bandwidth of its path? */
bool flow_rates_is_shared(const struct flow_rates *rates, size_t flow);

#endif
