#include "closed_tree.h"

#include <stdlib.h>

/* By position, on one channel. */
struct station {
    double reached_s; /* by the first part */
    uint32_t hop;     /* the one it came by last; NOWHERE at a leaf */
};

struct closed_room {
    uint32_t ranks;
    struct station *stations;
};

#define NOWHERE UINT32_MAX

enum ar_status closed_room_create(uint32_t ranks, struct closed_room **room, struct ar_error *err)
{
    struct closed_room *made = calloc(1, sizeof *made);
    struct station *stations = calloc(ranks, sizeof *stations);
    if (made == NULL || stations == NULL) {
        free(made);
        free(stations);
        return ar_error_no_memory(err, "a closed form");
    }
    *made = (struct closed_room){.ranks = ranks, .stations = stations};
    *room = made;
    return AR_OK;
}

void closed_room_destroy(struct closed_room *room)
{
    if (room != NULL) {
        free(room->stations);
        free(room);
    }
}

static double transfer_s(const struct ar_hop *hop, double bytes)
{
    return bytes / hop->rate_Bps;
}

/* Sends one part over all hops of a channel; returns where it arrives last. The hops stand in an
 * order in which none comes before what leads to it. */
static uint32_t walk_through(const struct ar_pattern *pattern, uint32_t channel, double bytes,
                             double reduce_s, struct closed_room *room)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < room->ranks; i++) {
        room->stations[i] = (struct station){.hop = NOWHERE};
    }
    for (uint32_t i = pattern->channel_hops[channel]; i < pattern->channel_hops[channel + 1]; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        const struct station *from = &room->stations[hop->from];
        struct station *to = &room->stations[hop->to];
        double arrival_s = from->reached_s + hop->latency_s + transfer_s(hop, bytes) + reduce_s;
        if (arrival_s > to->reached_s) {
            to->reached_s = arrival_s;
            to->hop = i;
        }
        last = to->reached_s > room->stations[last].reached_s ? hop->to : last;
    }
    return last;
}

/* The way of the part that arrives last, back to its leaf. */
static void charge_way(const struct ar_pattern *pattern, const struct closed_room *room,
                       uint32_t last, double bytes, double reduce_s, struct ar_phase_time *time)
{
    for (uint32_t at = last; room->stations[at].hop != NOWHERE;) {
        const struct ar_hop *hop = &pattern->hops[room->stations[at].hop];
        time->latency_s[hop->tier] += hop->latency_s;
        time->bandwidth_s[hop->tier] += transfer_s(hop, bytes);
        time->reduction_s += reduce_s;
        at = hop->from;
    }
}

/* What the other parts add to the first one. */
struct delay {
    double time_s;
    const struct ar_hop *hop;
    double latencies;
    double transfers;
    enum ar_bound bound;
};

/* The longest delay on a channel: of the hop that takes longest to carry the other parts, or of the
 * one whose sender waits longest for a slot. */
static void find_delay(const struct ar_collective *collective, const struct ar_phase *phase,
                       const struct ar_pattern *pattern, uint32_t channel, double bytes,
                       struct delay *delay)
{
    for (uint32_t i = pattern->channel_hops[channel]; i < pattern->channel_hops[channel + 1]; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        double waits = (phase->parts - 1) / collective->window;
        double parts = phase->parts - 1;
        double port_s = parts * transfer_s(hop, bytes);
        double window_s = waits * (hop->latency_s + transfer_s(hop, bytes));
        if (port_s >= window_s && port_s > delay->time_s) {
            *delay = (struct delay){port_s, hop, 0, parts, AR_BOUND_PORT};
        } else if (window_s > delay->time_s) {
            *delay = (struct delay){window_s, hop, waits, waits, AR_BOUND_WINDOW};
        }
    }
}

static const struct ar_hop *slowest_hop(const struct ar_pattern *pattern)
{
    const struct ar_hop *slowest = &pattern->hops[0];
    for (uint32_t i = 1; i < pattern->hops_count; i++) {
        slowest = pattern->hops[i].rate_Bps < slowest->rate_Bps ? &pattern->hops[i] : slowest;
    }
    return slowest;
}

void closed_tree_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_pattern *pattern, double bytes, struct closed_room *room,
                      struct ar_phase_time *time)
{
    const struct ar_hop *slowest = slowest_hop(pattern);
    double gamma = ar_cluster_facts(collective->cluster)->reduce_s_per_byte;
    double reduce_s = phase->copies_from > 0 ? gamma * bytes : 0;
    time->slowest_Bps = slowest->rate_Bps;
    time->slowest_link = slowest->link;
    time->slowest_flows = slowest->flows;
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        struct ar_phase_time of_channel = {.name = NULL};
        struct delay delay = {.hop = &pattern->hops[0], .bound = AR_BOUND_HOPS};
        uint32_t last = walk_through(pattern, channel, bytes, reduce_s, room);
        double way_s = room->stations[last].reached_s;
        find_delay(collective, phase, pattern, channel, bytes, &delay);
        if (way_s + delay.time_s <= time->time_s) {
            continue;
        }
        charge_way(pattern, room, last, bytes, reduce_s, &of_channel);
        of_channel.latency_s[delay.hop->tier] += delay.latencies * delay.hop->latency_s;
        of_channel.bandwidth_s[delay.hop->tier] += delay.transfers * transfer_s(delay.hop, bytes);
        for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
            time->latency_s[tier] = of_channel.latency_s[tier];
            time->bandwidth_s[tier] = of_channel.bandwidth_s[tier];
        }
        time->reduction_s = of_channel.reduction_s;
        time->time_s = way_s + delay.time_s;
        time->bound = delay.time_s > way_s ? delay.bound : AR_BOUND_HOPS;
    }
}
