/* Trees: which rate each part has on each hop.
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
 * and that a hop that waits for another one leaves room on its links. */
#include "flows.h"

#include <math.h>
#include <string.h>

/* Time is cut into turns: so many for the slowest hop, but not more than the second number in all.
 * With 16 for a hop, 95 % of the times of compare_engines.sh (sim/engine) change by less than 3.4
 * %, for the better and for the worse. */
enum { TURNS_OF_A_HOP = 4, TURNS_MAX = 4096 };

/* Eight rounds change 1 % of these times by more than 0.7 %, and none by more than 2.4 %. */
enum { ROUNDS_MAX = 4 };
#define SAME_TIME 0.01

/* A part of a turn: sums in another order may differ in the last digits. */
#define FUZZ 1e-6

/* When a hop is under way. */
struct hop_times {
    double start_s;     /* of the first part */
    double pace_s;      /* from part to part */
    double part_s;      /* that a part occupies the hop, at its slowest */
    uint32_t end;       /* turn after the last part has left */
    uint32_t next;      /* part without a rate so far */
    double slowest_Bps; /* of its parts with a rate */
};

/* In each turn the hops of a tree are asked three things, in this order: has the last part left,
 * does the first part leave, does another part leave? */
enum { HOP_ENDS, HOP_BEGINS, PART_LEAVES, EVENTS, EVENT_KEYS = (TURNS_MAX + 4) * EVENTS };

/* When parts come to a position. */
struct position_times {
    double reached_s; /* the first part is here, over all hops that lead here */
    double pace_s;    /* from part to part, on the slowest of them */
};

/* The links of a hop. */
struct hop_links {
    double alone_Bps;    /* while no other hop is under way */
    uint32_t alone_link; /* the one that gives it no more then */
    uint32_t first;      /* in `shared`: the links that other hops of the phase use, too */
    uint32_t count;
};

/* A link that several hops use, and those under way on it. */
struct use {
    double bandwidth_Bps;
    uint32_t link;
    uint32_t flows;
};

struct ar_tree_rates {
    const struct ar_collective *collective;
    const struct ar_pattern *pattern;
    uint32_t parts;
    bool reduces;
    double bytes; /* of a message, at present; -1: none so far */
    const struct ar_message_cost *cost;
    double turns_per_s;
    uint32_t turns;
    struct hop_links *ways; /* [hop] */
    uint32_t *shared; /* [way of a hop]: numbers of its shared links, one way after the other */
    uint32_t shared_count;
    struct hop_times *times;          /* [hop] */
    struct position_times *positions; /* [position], on one lane */
    struct use *uses;                 /* [shared link], in the order in which hops come to them */
    double *shares_Bps;               /* [shared link]: of a hop */
    uint32_t uses_count;
    uint32_t *events_begin;       /* [turn * EVENTS + event]: its first hop in `events` */
    uint32_t *events;             /* hops */
    double *rates_Bps;            /* [part][hop], at present */
    struct ar_tree_shares shares; /* at present */
};

/* In place of the number that a link gets among the shared ones; there are fewer links. */
#define ALONE   UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* A link that nobody else uses in this phase bounds a hop alone. */
static void hop_find_links(struct ar_tree_rates *rates, const struct ar_path *path,
                           uint32_t *number_of, struct hop_links *way)
{
    const struct ar_cluster *cluster = rates->collective->cluster;
    *way = (struct hop_links){.alone_Bps = HUGE_VAL, .first = rates->shared_count};
    for (uint32_t i = 0; i < path->links_count; i++) {
        uint32_t link = path->links[i];
        double bandwidth_Bps = ar_cluster_link_bandwidth(cluster, link);
        if (bandwidth_Bps < way->alone_Bps) {
            way->alone_Bps = bandwidth_Bps;
            way->alone_link = link;
        }
        if (number_of[link] == ALONE) {
            continue;
        }
        if (number_of[link] == SEVERAL) {
            number_of[link] = rates->uses_count;
            rates->uses[rates->uses_count++] =
                (struct use){.bandwidth_Bps = bandwidth_Bps, .link = link};
        }
        rates->shared[rates->shared_count++] = number_of[link];
        way->count++;
    }
}

/* The path of every hop. As long as there is no room for their links, notes which links one hop
 * uses, and which several; finds the links of each hop when there is. Returns how many links the
 * paths have in all. */
static size_t tree_walk_paths(struct ar_tree_rates *rates, uint32_t *number_of)
{
    struct ar_order order = ar_collective_order(rates->collective);
    const struct ar_pattern *pattern = rates->pattern;
    size_t links_count = 0;
    for (uint32_t lane = 0; lane < ar_collective_lanes(rates->collective); lane++) {
        for (uint32_t i = pattern->lane_hops[lane]; i < pattern->lane_hops[lane + 1]; i++) {
            struct ar_path path;
            ar_cluster_path(rates->collective->cluster,
                            ar_order_rank(&order, lane, pattern->hops[i].from),
                            ar_order_rank(&order, lane, pattern->hops[i].to), &path);
            for (uint32_t j = 0; j < path.links_count && rates->shared == NULL; j++) {
                uint32_t *number = &number_of[path.links[j]];
                *number = *number == 0 ? ALONE : SEVERAL;
            }
            if (rates->shared != NULL) {
                hop_find_links(rates, &path, number_of, &rates->ways[i]);
            }
            links_count += path.links_count;
        }
    }
    return links_count;
}

struct ar_tree_rates *flows_tree_create(struct ar_arena *arena,
                                        const struct ar_collective *collective,
                                        const struct ar_phase *phase,
                                        const struct ar_pattern *pattern)
{
    size_t hops = pattern->hops_count;
    struct ar_tree_rates *made = ar_arena_alloc(arena, 1, sizeof *made);
    *made = (struct ar_tree_rates){
        .collective = collective,
        .pattern = pattern,
        .cost = &ar_cluster_facts(collective->cluster)->message,
        .parts = phase->parts,
        .bytes = -1,
        .reduces = phase->copies_from > 0,
        .times = ar_arena_alloc(arena, hops, sizeof *made->times),
        .positions =
            ar_arena_alloc(arena, ar_shape_ranks(&collective->shape), sizeof *made->positions),
        .rates_Bps = ar_arena_alloc(arena, hops * phase->parts, sizeof *made->rates_Bps),
        .events_begin = ar_arena_alloc(arena, EVENT_KEYS, sizeof *made->events_begin),
        .events = ar_arena_alloc(arena, hops * (PART_LEAVES + phase->parts), sizeof *made->events),
    };
    uint32_t links = ar_cluster_links_count(collective->cluster);
    uint32_t *number_of = ar_arena_alloc(arena, links, sizeof *number_of);
    made->ways = ar_arena_alloc(arena, hops, sizeof *made->ways);
    made->uses = ar_arena_alloc(arena, links, sizeof *made->uses);
    made->shares_Bps = ar_arena_alloc(arena, links, sizeof *made->shares_Bps);
    made->shared = ar_arena_alloc(arena, tree_walk_paths(made, number_of), sizeof *made->shared);
    tree_walk_paths(made, number_of);
    return made;
}

/* The latency of a part on a hop, and how long it occupies the hop at a rate. */
static double tree_latency_s(const struct ar_tree_rates *rates, uint32_t hop)
{
    return ar_hop_latency_s(&rates->pattern->hops[hop], rates->cost, rates->bytes);
}

static double tree_busy_s(const struct ar_tree_rates *rates, uint32_t hop, double rate_Bps)
{
    return ar_hop_busy_s(&rates->pattern->hops[hop], rates->cost, rate_Bps, rates->bytes);
}

/* The shares of all hops together. */
static void rates_begin_with_all(struct ar_tree_rates *rates)
{
    const struct ar_hop *hops = rates->pattern->hops;
    const struct ar_hop *slowest = &hops[0];
    for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
        for (uint32_t part = 0; part < rates->parts; part++) {
            rates->rates_Bps[(size_t)part * rates->pattern->hops_count + i] = hops[i].rate_Bps;
        }
        rates->times[i].part_s = tree_busy_s(rates, i, hops[i].rate_Bps);
        slowest = hops[i].rate_Bps < slowest->rate_Bps ? &hops[i] : slowest;
    }
    rates->shares = (struct ar_tree_shares){.rates_Bps = rates->rates_Bps,
                                            .slowest_Bps = slowest->rate_Bps,
                                            .slowest_link = slowest->link,
                                            .slowest_flows = slowest->flows};
}

static double last_part_start_s(const struct ar_tree_rates *rates, const struct hop_times *times)
{
    return times->start_s + (rates->parts - 1) * times->pace_s;
}

/* When the hops of a lane begin, at which pace; returns when the last part has left. The hops
 * lie in an order in which none comes before the hops that lead to it. */
static double lane_start_hops(struct ar_tree_rates *rates, uint32_t lane)
{
    const struct ar_collective *collective = rates->collective;
    const struct ar_pattern *pattern = rates->pattern;
    double gamma = ar_cluster_facts(collective->cluster)->reduce_s_per_byte;
    double reduce_s = rates->reduces ? gamma * rates->bytes : 0;
    double end_s = 0;
    memset(rates->positions, 0, ar_shape_ranks(&collective->shape) * sizeof *rates->positions);
    for (uint32_t i = pattern->lane_hops[lane]; i < pattern->lane_hops[lane + 1]; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        const struct position_times *from = &rates->positions[hop->from];
        struct position_times *to = &rates->positions[hop->to];
        struct hop_times *times = &rates->times[i];
        /* From part to part on a hop that nobody upstream holds up: one leaves after the other,
         * and those that do not fit the window when the first of it has arrived. */
        double own_pace_s = collective->window < rates->parts
                                ? fmax(times->part_s, (times->part_s + tree_latency_s(rates, i)) /
                                                          collective->window)
                                : times->part_s;
        times->start_s = from->reached_s;
        times->pace_s = fmax(from->pace_s, own_pace_s);
        to->reached_s = fmax(to->reached_s,
                             times->start_s + times->part_s + tree_latency_s(rates, i) + reduce_s);
        to->pace_s = fmax(to->pace_s, times->pace_s);
        end_s = fmax(end_s, last_part_start_s(rates, times) + times->part_s);
    }
    return end_s;
}

static uint32_t turn_of_part(const struct ar_tree_rates *rates, const struct hop_times *times,
                             uint32_t part)
{
    return (uint32_t)((times->start_s + part * times->pace_s) * rates->turns_per_s + FUZZ);
}

/* Counts the events of a hop in their turns, or lists it there when those of all are counted. */
static void hop_note_events(struct ar_tree_rates *rates, uint32_t hop, bool is_counting)
{
    const struct hop_times *times = &rates->times[hop];
    for (uint32_t i = 0; i < HOP_BEGINS + 1 + rates->parts; i++) {
        uint32_t event = i < PART_LEAVES ? i : PART_LEAVES, part = i - event;
        uint32_t turn = event == HOP_ENDS ? times->end : turn_of_part(rates, times, part);
        uint32_t *begin = &rates->events_begin[turn * EVENTS + event];
        if (is_counting) {
            begin[2]++;
        } else {
            rates->events[begin[1]++] = hop;
        }
    }
}

/* Cuts the time into turns, and sorts the hops by those in which something happens to them. */
static void time_cut_into_turns(struct ar_tree_rates *rates)
{
    uint32_t hops_count = rates->pattern->hops_count;
    double end_s = 0, longest_s = 0;
    for (uint32_t lane = 0; lane < ar_collective_lanes(rates->collective); lane++) {
        end_s = fmax(end_s, lane_start_hops(rates, lane));
    }
    for (uint32_t i = 0; i < hops_count; i++) {
        longest_s = fmax(longest_s, rates->times[i].part_s + tree_latency_s(rates, i));
    }
    rates->turns_per_s = 1 / fmax(longest_s / TURNS_OF_A_HOP, end_s / TURNS_MAX);
    rates->turns = 0;
    memset(rates->events_begin, 0, EVENT_KEYS * sizeof *rates->events_begin);
    for (uint32_t i = 0; i < hops_count; i++) {
        struct hop_times *times = &rates->times[i];
        double end = (last_part_start_s(rates, times) + times->part_s) * rates->turns_per_s;
        uint32_t after_last = turn_of_part(rates, times, rates->parts - 1) + 1;
        times->end = (uint32_t)ceil(end - FUZZ);
        times->end = times->end > after_last ? times->end : after_last;
        times->next = 0;
        times->slowest_Bps = HUGE_VAL;
        rates->turns = times->end > rates->turns ? times->end : rates->turns;
        hop_note_events(rates, i, true);
    }
    for (uint32_t key = 1; key < (rates->turns + 1) * EVENTS; key++) {
        rates->events_begin[key + 1] += rates->events_begin[key];
    }
    for (uint32_t i = 0; i < hops_count; i++) {
        hop_note_events(rates, i, false);
    }
}

/* A hop begins to use its links, or no longer does. Finds what a hop gets there from now on; it is
 * infinite where nobody is. */
static inline void hop_change_flows(struct ar_tree_rates *rates, uint32_t hop, int by)
{
    const struct hop_links *way = &rates->ways[hop];
    for (uint32_t i = 0; i < way->count; i++) {
        uint32_t number = rates->shared[way->first + i];
        struct use *use = &rates->uses[number];
        use->flows += (uint32_t)by;
        rates->shares_Bps[number] = use->bandwidth_Bps / use->flows;
    }
}

/* The share of its links that a hop has now. */
static double hop_share_Bps(struct ar_tree_rates *rates, uint32_t hop)
{
    const struct hop_links *way = &rates->ways[hop];
    double share_Bps = way->alone_Bps;
    uint32_t narrowest = AR_NEVER;
    for (uint32_t i = 0; i < way->count; i++) {
        uint32_t number = rates->shared[way->first + i];
        double part_Bps = rates->shares_Bps[number];
        if (part_Bps < share_Bps) {
            share_Bps = part_Bps;
            narrowest = number;
        }
    }
    if (share_Bps < rates->shares.slowest_Bps) {
        const struct use *use = narrowest != AR_NEVER ? &rates->uses[narrowest] : NULL;
        rates->shares.slowest_Bps = share_Bps;
        rates->shares.slowest_link = use != NULL ? use->link : way->alone_link;
        rates->shares.slowest_flows = use != NULL ? use->flows : 1;
    }
    return share_Bps;
}

/* Lets the hops come and go, turn by turn, and gives their parts the shares of then. */
static void turns_run(struct ar_tree_rates *rates)
{
    rates->shares.slowest_Bps = HUGE_VAL;
    for (uint32_t key = 0; key < (rates->turns + 1) * EVENTS; key++) {
        for (uint32_t i = rates->events_begin[key]; i < rates->events_begin[key + 1]; i++) {
            uint32_t hop = rates->events[i];
            if (key % EVENTS != PART_LEAVES) {
                hop_change_flows(rates, hop, key % EVENTS == HOP_BEGINS ? 1 : -1);
                continue;
            }
            struct hop_times *times = &rates->times[hop];
            double share_Bps = hop_share_Bps(rates, hop);
            times->slowest_Bps = share_Bps < times->slowest_Bps ? share_Bps : times->slowest_Bps;
            rates->rates_Bps[times->next++ * (size_t)rates->pattern->hops_count + hop] = share_Bps;
        }
    }
}

const struct ar_tree_shares *flows_tree_find(struct ar_tree_rates *rates, double bytes)
{
    bool is_settled = !rates->pattern->is_shared || (bytes == 0 && rates->cost->gap_s == 0);
    if (rates->bytes == bytes) {
        return &rates->shares;
    }
    rates->bytes = bytes;
    rates_begin_with_all(rates);
    for (uint32_t round = 0; round < ROUNDS_MAX && !is_settled; round++) {
        time_cut_into_turns(rates);
        turns_run(rates);
        is_settled = true; /* if the slowest shares of all hops, for the next round, stay so */
        for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
            double part_s = tree_busy_s(rates, i, rates->times[i].slowest_Bps);
            is_settled &= fabs(part_s - rates->times[i].part_s) <= SAME_TIME * part_s;
            rates->times[i].part_s = part_s;
        }
    }
    return &rates->shares;
}
