#include "closed.h"

#include <string.h>

/* A phase on one lane. */
struct tree {
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    const double *rates_Bps; /* [part][hop] */
    struct closed_station *stations;
    uint32_t ranks;
    const struct ar_message_cost *cost;
    double bytes;
    double reduce_s; /* of a part that arrives */
    uint32_t window;
    uint32_t first; /* hop of the lane */
    uint32_t end;
};

/* That a part occupies a hop. */
static double part_s(const struct tree *tree, uint32_t hop, uint32_t part)
{
    double rate_Bps = tree->rates_Bps[(size_t)part * tree->pattern->hops_count + hop];
    return ar_hop_busy_s(&tree->pattern->hops[hop], tree->cost, rate_Bps, tree->bytes);
}

static double latency_s(const struct tree *tree, const struct ar_hop *hop)
{
    return ar_hop_latency_s(hop, tree->cost, tree->bytes);
}

static uint32_t last_part(const struct tree *tree)
{
    return tree->phase->parts - 1;
}

/* Sends the first part up to every station, and the last one on from there. The hops stand in an
 * order in which none comes before what leads to it. */
static void walk_through(const struct tree *tree)
{
    struct closed_station *stations = tree->stations;
    for (uint32_t i = 0; i < tree->ranks; i++) {
        stations[i] = (struct closed_station){.hop = AR_NEVER, .next_hop = AR_NEVER};
    }
    for (uint32_t i = tree->first; i < tree->end; i++) {
        const struct ar_hop *hop = &tree->pattern->hops[i];
        struct closed_station *to = &stations[hop->to];
        double reached_s =
            stations[hop->from].reached_s + latency_s(tree, hop) + part_s(tree, i, 0);
        if (reached_s + tree->reduce_s > to->reached_s) {
            to->reached_s = reached_s + tree->reduce_s;
            to->hop = i;
        }
    }
    for (uint32_t i = tree->end; i-- > tree->first;) {
        const struct ar_hop *hop = &tree->pattern->hops[i];
        struct closed_station *from = &stations[hop->from];
        double left_s = latency_s(tree, hop) + part_s(tree, i, last_part(tree)) + tree->reduce_s;
        if (left_s + stations[hop->to].left_s > from->left_s) {
            from->left_s = left_s + stations[hop->to].left_s;
            from->next_hop = i;
        }
    }
}

static void charge_part(const struct tree *tree, uint32_t index, uint32_t part,
                        struct ar_phase_time *time)
{
    const struct ar_hop *hop = &tree->pattern->hops[index];
    time->latency_s[hop->tier] += latency_s(tree, hop);
    time->bandwidth_s[hop->tier] += part_s(tree, index, part);
    time->reduction_s += tree->reduce_s;
}

/* What the other parts add to the first one on a hop. */
struct delay {
    double time_s;
    enum ar_bound bound;
    double latencies;
    double bandwidth_s;
};

static struct delay delay_on(const struct tree *tree, uint32_t index)
{
    const struct ar_hop *hop = &tree->pattern->hops[index];
    double waits = last_part(tree) / tree->window;
    double window_s = waits * (latency_s(tree, hop) + part_s(tree, index, 0));
    double port_s = 0;
    for (uint32_t part = 1; part < tree->phase->parts; part++) {
        port_s += part_s(tree, index, part);
    }
    return port_s >= window_s
               ? (struct delay){port_s, AR_BOUND_PORT, 0, port_s}
               : (struct delay){window_s, AR_BOUND_WINDOW, waits, waits * part_s(tree, index, 0)};
}

/* The time by way of a hop: its latency and reduction are paid by the first part. */
static double time_over(const struct tree *tree, uint32_t index)
{
    const struct ar_hop *hop = &tree->pattern->hops[index];
    const struct closed_station *stations = tree->stations;
    return stations[hop->from].reached_s + latency_s(tree, hop) + part_s(tree, index, 0) +
           tree->reduce_s + delay_on(tree, index).time_s + stations[hop->to].left_s;
}

/* Splits the time by way of a hop. */
static void charge(const struct tree *tree, uint32_t index, struct ar_phase_time *time)
{
    const struct ar_hop *hops = tree->pattern->hops;
    const struct closed_station *stations = tree->stations;
    struct delay delay = delay_on(tree, index);
    memset(time->latency_s, 0, sizeof time->latency_s);
    memset(time->bandwidth_s, 0, sizeof time->bandwidth_s);
    time->reduction_s = 0;
    time->time_s = time_over(tree, index);
    time->bound = 2 * delay.time_s > time->time_s ? delay.bound : AR_BOUND_HOPS;
    for (uint32_t at = stations[hops[index].from].hop; at != AR_NEVER;
         at = stations[hops[at].from].hop) {
        charge_part(tree, at, 0, time);
    }
    charge_part(tree, index, 0, time);
    time->latency_s[hops[index].tier] += delay.latencies * latency_s(tree, &hops[index]);
    time->bandwidth_s[hops[index].tier] += delay.bandwidth_s;
    for (uint32_t at = stations[hops[index].to].next_hop; at != AR_NEVER;
         at = stations[hops[at].to].next_hop) {
        charge_part(tree, at, last_part(tree), time);
    }
}

void closed_tree_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_pattern *pattern, const struct tree_shares *shares,
                      double bytes, double reduce_s, struct closed_station *stations,
                      struct ar_phase_time *time)
{
    struct tree tree = {.phase = phase,
                        .pattern = pattern,
                        .rates_Bps = shares->rates_Bps,
                        .stations = stations,
                        .ranks = ar_shape_ranks(&collective->shape),
                        .cost = &ar_cluster_facts(collective->cluster)->message,
                        .bytes = bytes,
                        .reduce_s = reduce_s,
                        .window = collective->window};
    time->slowest_Bps = shares->slowest_Bps;
    time->slowest_link = shares->slowest_link;
    time->slowest_flows = shares->slowest_flows;
    for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
        uint32_t slowest = AR_NEVER;
        double slowest_s = time->time_s;
        tree.first = pattern->lane_hops[lane];
        tree.end = pattern->lane_hops[lane + 1];
        walk_through(&tree);
        for (uint32_t i = tree.first; i < tree.end; i++) {
            double over_s = time_over(&tree, i);
            if (over_s > slowest_s) {
                slowest = i;
                slowest_s = over_s;
            }
        }
        if (slowest != AR_NEVER) {
            charge(&tree, slowest, time);
        }
    }
}
