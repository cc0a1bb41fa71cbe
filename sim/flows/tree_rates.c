#include "tree_rates.h"

#include <math.h>
#include <string.h>

/* Time is cut into turns: so many for the slowest hop, but not more than the second number in all.
 * With 16 for a hop, 95 % of the times of sim/README.md change by less than 3.4 %, for the better
 * and for the worse. */
enum { TURNS_OF_A_HOP = 4, TURNS_MAX = 4096 };

/* Eight rounds change 1 % of these times by more than 0.7 %, and none by more than 2.4 %. */
enum { ROUNDS_MAX = 4 };
#define SAME_TIME 0.01

/* Of a turn: sums in another order may differ in the last digits. */
#define FUZZ 1e-6

/* When a hop is under way. */
struct course {
    double start_s;     /* of the first part */
    double pace_s;      /* from part to part */
    double part_s;      /* that a part occupies the hop, at its slowest */
    uint32_t end;       /* turn after the last part has left */
    uint32_t next;      /* part without a rate so far */
    double slowest_Bps; /* of its parts with a rate */
};

/* Which hops something happens to, turn by turn. */
struct timetable {
    uint32_t *begin; /* [turn]: of its hops */
    uint32_t *hops;
};

/* What is known of a position. */
struct station {
    double reached_s; /* by the first part, over all hops that lead here */
    double pace_s;    /* of the slowest of them */
};

/* What never changes of a hop. */
struct way {
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

/* Sizes whose shares are kept: a training step has a few sizes of buckets, again and again. */
enum { SIZES = 8 };

/* The shares of a size. */
struct answer {
    bool is_given;
    double bytes;
    struct tree_shares shares;
};

struct tree_rates {
    const struct ar_collective *collective;
    const struct ar_pattern *pattern;
    uint32_t parts;
    bool reduces;
    double bytes; /* of a message, at present */
    const struct ar_message_cost *cost;
    double turns_per_s;
    uint32_t turns;
    struct way *ways; /* [hop] */
    uint32_t *shared; /* [way of a hop]: numbers of its shared links, one way after the other */
    uint32_t shared_count;
    struct course *courses;   /* [hop] */
    struct station *stations; /* [position], on one lane */
    struct use *uses;         /* [shared link], in the order in which hops come to them */
    double *shares_Bps;       /* [shared link]: of a hop */
    uint32_t uses_count;
    struct timetable firsts;   /* the first part leaves, */
    struct timetable each;     /* a part leaves: a hop stands there once for each, */
    struct timetable ends;     /* the last part has left */
    double *rates_Bps;         /* [part][hop], at present */
    struct tree_shares shares; /* at present */
    uint32_t answers_given;
    struct answer answers[SIZES];
    double *answers_Bps; /* [answer][part][hop]: pages that nobody writes to cost nothing */
};

/* What is known of a link before it has a number among the shared ones; there are fewer links. */
#define ALONE   UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* A link that nobody else uses in this phase bounds a hop alone. */
static void find_way(struct tree_rates *rates, const struct ar_path *path, uint32_t *number_of,
                     struct way *way)
{
    const struct ar_cluster *cluster = rates->collective->cluster;
    *way = (struct way){.alone_Bps = HUGE_VAL, .first = rates->shared_count};
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

/* Notes which links one hop uses, and which several; counts those of all hops. */
static size_t count_links(const struct ar_path *path, uint32_t *number_of)
{
    for (uint32_t i = 0; i < path->links_count; i++) {
        uint32_t *number = &number_of[path->links[i]];
        *number = *number == 0 ? ALONE : SEVERAL;
    }
    return path->links_count;
}

/* The path of every hop: counts their links as long as there is no room for their ways, finds these
 * when there is. Returns how many links they have in all. */
static size_t walk_paths(struct tree_rates *rates, uint32_t *number_of)
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
            if (rates->shared == NULL) {
                links_count += count_links(&path, number_of);
            } else {
                find_way(rates, &path, number_of, &rates->ways[i]);
            }
        }
    }
    return links_count;
}

static enum ar_status find_ways(struct ar_arena *arena, struct tree_rates *rates,
                                struct ar_error *err)
{
    uint32_t links = ar_cluster_links_count(rates->collective->cluster);
    uint32_t *number_of = ar_arena_alloc(arena, links, sizeof *number_of);
    rates->ways = ar_arena_alloc(arena, rates->pattern->hops_count, sizeof *rates->ways);
    rates->uses = ar_arena_alloc(arena, links, sizeof *rates->uses);
    rates->shares_Bps = ar_arena_alloc(arena, links, sizeof *rates->shares_Bps);
    AR_NEED(!arena->is_broken, err, "the rates of a tree");
    rates->shared = ar_arena_alloc(arena, walk_paths(rates, number_of), sizeof *rates->shared);
    AR_NEED(rates->shared, err, "the rates of a tree");
    walk_paths(rates, number_of);
    return AR_OK;
}

static struct timetable make_timetable(struct ar_arena *arena, size_t entries)
{
    return (struct timetable){.begin = ar_arena_alloc(arena, TURNS_MAX + 4, sizeof(uint32_t)),
                              .hops = ar_arena_alloc(arena, entries, sizeof(uint32_t))};
}

enum ar_status tree_rates_create(struct ar_arena *arena, const struct ar_collective *collective,
                                 const struct ar_phase *phase, const struct ar_pattern *pattern,
                                 struct tree_rates **rates, struct ar_error *err)
{
    size_t hops = pattern->hops_count;
    struct tree_rates *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, "the rates of a tree");
    *made = (struct tree_rates){
        .collective = collective,
        .pattern = pattern,
        .cost = &ar_cluster_facts(collective->cluster)->message,
        .parts = phase->parts,
        .reduces = phase->copies_from > 0,
        .courses = ar_arena_alloc(arena, hops, sizeof *made->courses),
        .stations =
            ar_arena_alloc(arena, ar_shape_ranks(&collective->shape), sizeof *made->stations),
        .answers_Bps =
            ar_arena_alloc(arena, SIZES * hops * phase->parts, sizeof *made->answers_Bps),
        .firsts = make_timetable(arena, hops),
        .each = make_timetable(arena, hops * phase->parts),
        .ends = make_timetable(arena, hops),
    };
    AR_TRY(find_ways(arena, made, err));
    *rates = made;
    return AR_OK;
}

/* That a part takes on its way over a hop, and occupies it at some rate. */
static double latency_s(const struct tree_rates *rates, uint32_t hop)
{
    return ar_hop_latency_s(&rates->pattern->hops[hop], rates->cost, rates->bytes);
}

static double busy_s(const struct tree_rates *rates, uint32_t hop, double rate_Bps)
{
    return ar_hop_busy_s(&rates->pattern->hops[hop], rates->cost, rate_Bps, rates->bytes);
}

/* The shares of all hops together. */
static void begin_with_all(struct tree_rates *rates)
{
    const struct ar_hop *hops = rates->pattern->hops;
    const struct ar_hop *slowest = &hops[0];
    for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
        for (uint32_t part = 0; part < rates->parts; part++) {
            rates->rates_Bps[(size_t)part * rates->pattern->hops_count + i] = hops[i].rate_Bps;
        }
        rates->courses[i].part_s = busy_s(rates, i, hops[i].rate_Bps);
        slowest = hops[i].rate_Bps < slowest->rate_Bps ? &hops[i] : slowest;
    }
    rates->shares = (struct tree_shares){.rates_Bps = rates->rates_Bps,
                                         .slowest_Bps = slowest->rate_Bps,
                                         .slowest_link = slowest->link,
                                         .slowest_flows = slowest->flows};
}

static double last_start_s(const struct tree_rates *rates, const struct course *course)
{
    return course->start_s + (rates->parts - 1) * course->pace_s;
}

/* From part to part on a hop that nobody upstream holds up: one leaves after the other, and those
 * that do not fit the window when the first of it has arrived. */
static double own_pace_s(const struct tree_rates *rates, uint32_t hop, double part_s)
{
    uint32_t window = rates->collective->window;
    return window < rates->parts ? fmax(part_s, (part_s + latency_s(rates, hop)) / window) : part_s;
}

/* When the hops of a lane begin, at which pace; returns when the last part has left. The hops
 * stand in an order in which none comes before what leads to it. */
static double start_hops(struct tree_rates *rates, uint32_t lane)
{
    const struct ar_collective *collective = rates->collective;
    const struct ar_pattern *pattern = rates->pattern;
    double gamma = ar_cluster_facts(collective->cluster)->reduce_s_per_byte;
    double reduce_s = rates->reduces ? gamma * rates->bytes : 0;
    double end_s = 0;
    memset(rates->stations, 0, ar_shape_ranks(&collective->shape) * sizeof *rates->stations);
    for (uint32_t i = pattern->lane_hops[lane]; i < pattern->lane_hops[lane + 1]; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        const struct station *from = &rates->stations[hop->from];
        struct station *to = &rates->stations[hop->to];
        struct course *course = &rates->courses[i];
        course->start_s = from->reached_s;
        course->pace_s = fmax(from->pace_s, own_pace_s(rates, i, course->part_s));
        to->reached_s =
            fmax(to->reached_s, course->start_s + course->part_s + latency_s(rates, i) + reduce_s);
        to->pace_s = fmax(to->pace_s, course->pace_s);
        end_s = fmax(end_s, last_start_s(rates, course) + course->part_s);
    }
    return end_s;
}

static double longest_hop_s(const struct tree_rates *rates)
{
    double longest_s = 0;
    for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
        longest_s = fmax(longest_s, rates->courses[i].part_s + latency_s(rates, i));
    }
    return longest_s;
}

static uint32_t turn_of(const struct tree_rates *rates, const struct course *course, uint32_t part)
{
    return (uint32_t)((course->start_s + part * course->pace_s) * rates->turns_per_s + FUZZ);
}

/* Counts what is in a turn. */
static void expect(struct timetable *timetable, uint32_t turn)
{
    timetable->begin[turn + 2]++;
}

/* After all of it was counted. */
static void sum_up(struct timetable *timetable, uint32_t turns)
{
    for (uint32_t turn = 1; turn <= turns; turn++) {
        timetable->begin[turn + 1] += timetable->begin[turn];
    }
}

static void note(struct timetable *timetable, uint32_t turn, uint32_t hop)
{
    timetable->hops[timetable->begin[turn + 1]++] = hop;
}

/* Cuts the time into turns, and sorts the hops by those in which something happens to them. */
static void cut_into_turns(struct tree_rates *rates)
{
    uint32_t hops_count = rates->pattern->hops_count;
    double end_s = 0;
    for (uint32_t lane = 0; lane < ar_collective_lanes(rates->collective); lane++) {
        end_s = fmax(end_s, start_hops(rates, lane));
    }
    rates->turns_per_s = 1 / fmax(longest_hop_s(rates) / TURNS_OF_A_HOP, end_s / TURNS_MAX);
    rates->turns = 0;
    memset(rates->firsts.begin, 0, (TURNS_MAX + 4) * sizeof *rates->firsts.begin);
    memset(rates->each.begin, 0, (TURNS_MAX + 4) * sizeof *rates->each.begin);
    memset(rates->ends.begin, 0, (TURNS_MAX + 4) * sizeof *rates->ends.begin);
    for (uint32_t i = 0; i < hops_count; i++) {
        struct course *course = &rates->courses[i];
        double end = (last_start_s(rates, course) + course->part_s) * rates->turns_per_s;
        uint32_t after_last = turn_of(rates, course, rates->parts - 1) + 1;
        course->end = (uint32_t)ceil(end - FUZZ);
        course->end = course->end > after_last ? course->end : after_last;
        course->next = 0;
        course->slowest_Bps = HUGE_VAL;
        rates->turns = course->end > rates->turns ? course->end : rates->turns;
        expect(&rates->firsts, turn_of(rates, course, 0));
        expect(&rates->ends, course->end);
        for (uint32_t part = 0; part < rates->parts; part++) {
            expect(&rates->each, turn_of(rates, course, part));
        }
    }
    sum_up(&rates->firsts, rates->turns);
    sum_up(&rates->each, rates->turns);
    sum_up(&rates->ends, rates->turns);
    for (uint32_t i = 0; i < hops_count; i++) {
        const struct course *course = &rates->courses[i];
        note(&rates->firsts, turn_of(rates, course, 0), i);
        note(&rates->ends, course->end, i);
        for (uint32_t part = 0; part < rates->parts; part++) {
            note(&rates->each, turn_of(rates, course, part), i);
        }
    }
}

/* A hop begins to use its links, or no longer does: what a hop gets there from now on; of nobody it
 * is infinite. */
static inline void change_flows(struct tree_rates *rates, uint32_t hop, int by)
{
    const struct way *way = &rates->ways[hop];
    for (uint32_t i = 0; i < way->count; i++) {
        uint32_t number = rates->shared[way->first + i];
        struct use *use = &rates->uses[number];
        use->flows += (uint32_t)by;
        rates->shares_Bps[number] = use->bandwidth_Bps / use->flows;
    }
}

static void enter(struct tree_rates *rates, uint32_t hop)
{
    change_flows(rates, hop, 1);
}

static void leave(struct tree_rates *rates, uint32_t hop)
{
    change_flows(rates, hop, -1);
}

/* What a hop gets now. */
static double share_of(struct tree_rates *rates, uint32_t hop)
{
    const struct way *way = &rates->ways[hop];
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

/* Gives the next part of a hop, which leaves now, the share of its hop. */
static void give_share(struct tree_rates *rates, uint32_t hop)
{
    struct course *course = &rates->courses[hop];
    double share_Bps = share_of(rates, hop);
    course->slowest_Bps = share_Bps < course->slowest_Bps ? share_Bps : course->slowest_Bps;
    rates->rates_Bps[course->next++ * (size_t)rates->pattern->hops_count + hop] = share_Bps;
}

/* To all hops of a turn. */
static void let_all(struct tree_rates *rates, const struct timetable *timetable, uint32_t turn,
                    void (*happen)(struct tree_rates *rates, uint32_t hop))
{
    for (uint32_t i = timetable->begin[turn]; i < timetable->begin[turn + 1]; i++) {
        happen(rates, timetable->hops[i]);
    }
}

/* The hops that are under way, turn by turn. */
static void run_turns(struct tree_rates *rates)
{
    rates->shares.slowest_Bps = HUGE_VAL;
    for (uint32_t turn = 0; turn <= rates->turns; turn++) {
        let_all(rates, &rates->ends, turn, leave);
        let_all(rates, &rates->firsts, turn, enter);
        let_all(rates, &rates->each, turn, give_share);
    }
}

/* Takes the slowest share of each hop for the next round; says whether they stay the same. */
static bool settle(struct tree_rates *rates)
{
    bool is_same = true;
    for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
        double part_s = busy_s(rates, i, rates->courses[i].slowest_Bps);
        is_same = is_same && fabs(part_s - rates->courses[i].part_s) <= SAME_TIME * part_s;
        rates->courses[i].part_s = part_s;
    }
    return is_same;
}

static void find_shares(struct tree_rates *rates, double bytes)
{
    rates->bytes = bytes;
    begin_with_all(rates);
    bool is_settled = !rates->pattern->is_shared || (bytes == 0 && rates->cost->gap_s == 0);
    for (uint32_t round = 0; round < ROUNDS_MAX && !is_settled; round++) {
        cut_into_turns(rates);
        run_turns(rates);
        is_settled = settle(rates);
    }
}

const struct tree_shares *tree_rates_find(struct tree_rates *rates, double bytes)
{
    for (uint32_t i = 0; i < SIZES; i++) {
        if (rates->answers[i].is_given && rates->answers[i].bytes == bytes) {
            return &rates->answers[i].shares;
        }
    }
    uint32_t index = rates->answers_given++ % SIZES;
    size_t capacity = (size_t)rates->pattern->hops_count * rates->parts;
    rates->rates_Bps = rates->answers_Bps + index * capacity;
    find_shares(rates, bytes);
    rates->answers[index] =
        (struct answer){.is_given = true, .bytes = bytes, .shares = rates->shares};
    return &rates->answers[index].shares;
}
