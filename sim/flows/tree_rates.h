/** \file tree_rates.h
 * Which rate each part has on each hop of a tree.
 *
 * Not all hops of a tree are busy at the same time: of a chain of H hops at most P carry something
 * while P parts pass, fewer while it fills and empties, and small messages spend most of their time
 * in latencies. So a hop is taken to be under way from when the first part reaches its sender until
 * the last part has left, and shares each link with the hops that are under way at the same time,
 * in equal parts. With D the time that a part occupies the slowest share of a hop:
 *
 * - the first part leaves as soon as it has arrived over all hops that lead to the sender, at once
 *   where there are none; it arrives D + L (and gamma b, if it reduces) later;
 * - the others follow at the pace of the slowest hop on their way, slower if they wait for a window
 *   below P; the hop is busy until D after the last one has left.
 *
 * D depends on who is under way, and that on D: the first round takes the shares of all hops
 * together, each further one those of the round before, until they stay the same.
 *
 * Neglected: that a fast hop behind a slow one is idle between two parts,
 * and that who is held up elsewhere leaves room to others on its links.
 */
#ifndef AR_TREE_RATES_H
#define AR_TREE_RATES_H

#include "ar_cluster.h"
#include "ar_pattern.h"

/** The shares of the parts, for one size of message. */
struct tree_shares {
    const double *rates_Bps; /**< [part][hop of the pattern] */
    double slowest_Bps;      /**< the least of them */
    uint32_t slowest_link;   /**< where it is the share of a link */
    uint32_t slowest_flows;  /**< under way on that link then */
};

/** The hops of a phase that is a tree, and room for their shares. */
struct tree_rates;

/** Made in the arena. The phase has steps; collective and pattern must outlive the rates.
 * O(hops * parts) memory. */
enum ar_status tree_rates_create(struct ar_arena *arena, const struct ar_collective *collective,
                                 const struct ar_phase *phase, const struct ar_pattern *pattern,
                                 struct tree_rates **rates, struct ar_error *err);

/** The shares of messages of `bytes` bytes each; valid until seven other sizes were asked for. At
 * once for the last eight sizes, else O(hops * parts) for each of a few rounds. */
const struct tree_shares *tree_rates_find(struct tree_rates *rates, double bytes);

#endif
