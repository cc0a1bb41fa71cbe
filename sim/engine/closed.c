/* The closed form, and the engine that puts it in place of each collective of a stream. */
#include "ar_closed.h"

#include <math.h>

#include "ar_text.h"
#include "ar_trial.h"

const char *const ar_bound_names[] = {"hops", "port", "window", "sums"};

/* A phase of a collective on so many elements. */
struct closed_phase {
    const struct ar_flows *flows;
    uint32_t index;
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    const struct ar_message_cost *cost;
    uint64_t elements;
    double bytes;   /* of the largest message, */
    double extra_s; /* and the latency that these add on the network */
    double gamma_s; /* to reduce a byte */
};

static double hop_latency_s(const struct closed_phase *at, const struct ar_hop *hop)
{
    return at->cost->path_s[hop->kind->tier] + hop->kind->switches_s +
           (ar_tier_is_network(hop->kind->tier) ? at->extra_s : 0);
}

/* The time for which a message occupies a hop on which it has this rate. */
static double hop_busy_s(const struct closed_phase *at, const struct ar_hop *hop, double rate_Bps)
{
    return at->bytes / rate_Bps + hop->kind->turns * ar_message_gap_s(at->cost, hop->kind->tier);
}

/* Time of a phase that is spent on a hop or a message. */
static void time_charge(struct ar_phase_time *time, enum ar_tier tier, double latency_s,
                        double bandwidth_s)
{
    time->latency_s[tier] += latency_s;
    time->bandwidth_s[tier] += bandwidth_s;
}

/* --- walks ----------------------------------------------------------------------------------- */

/* Consecutive hops of a walk: whole laps around a ring, and `rest` more from `first` on. */
struct stretch {
    const struct ar_walk *walk;
    uint32_t laps, first, rest;
    double time_s;
};

/* The slowest stretch of as many hops as the phase has steps, by a sum sliding over a round, which
 * has the times `hops_s` again and again. */
static struct stretch walk_slowest_stretch(const struct closed_phase *at,
                                           const struct ar_walk *walk, const double *hops_s)
{
    uint32_t steps = at->phase->steps, count = walk->count, period = walk->period;
    struct stretch slowest = {.walk = walk,
                              .laps = walk->is_ring ? steps / count : 0,
                              .rest = walk->is_ring ? steps % count : steps};
    slowest.rest = slowest.rest < count ? slowest.rest : count;
    double round_s = 0, sum_s = 0;
    for (uint32_t i = 0, k = 0; i < count; i++, k = k + 1 < period ? k + 1 : 0) {
        round_s += hops_s[k];
        sum_s += i < slowest.rest ? hops_s[k] : 0;
    }
    slowest.time_s = sum_s;
    uint32_t starts = walk->is_ring ? count : count - slowest.rest + 1;
    uint32_t out = 0, in = slowest.rest % period;
    for (uint32_t first = 1; slowest.rest > 0 && first < starts; first++) {
        sum_s -= hops_s[out];
        sum_s += hops_s[in];
        out = out + 1 < period ? out + 1 : 0;
        in = in + 1 < period ? in + 1 : 0;
        if (sum_s > slowest.time_s) {
            slowest.first = first;
            slowest.time_s = sum_s;
        }
    }
    slowest.time_s += slowest.laps * round_s;
    return slowest;
}

/* The longest of the three bounds (ar_closed.h), and the terms that it is made of. */
static void walks_time(const struct closed_phase *at, struct ar_phase_time *time)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_hop *hops = at->pattern->hops, *port = hops, *turn = hops;
    double *times_s = ar_arena_room(&arena, at->pattern->hops_count, sizeof *times_s);
    double port_busy_s = 0, turn_s = 0;
    for (uint32_t i = 0; i < at->pattern->hops_count; i++) {
        double busy_s = hop_busy_s(at, &hops[i], hops[i].kind->rate_Bps);
        times_s[i] = hop_latency_s(at, &hops[i]) + busy_s;
        port = busy_s > port_busy_s ? &hops[i] : port;
        port_busy_s = busy_s > port_busy_s ? busy_s : port_busy_s;
        turn = times_s[i] > turn_s ? &hops[i] : turn;
        turn_s = times_s[i] > turn_s ? times_s[i] : turn_s;
    }
    uint32_t steps = at->phase->steps, window = at->flows->collective.window;
    double reduction_s = at->phase->copies_from * at->gamma_s * at->bytes;
    uint32_t turns = (steps + window - 1) / window;
    struct stretch slowest = {.time_s = -1};
    AR_EACH(const struct ar_walk, walk, at->pattern->walks, at->pattern->walks_count) {
        struct stretch stretch = walk_slowest_stretch(at, walk, times_s + walk->first);
        slowest = stretch.time_s > slowest.time_s ? stretch : slowest;
    }
    double hops_s = slowest.time_s + reduction_s;
    double port_s = steps * hop_busy_s(at, port, port->kind->rate_Bps) + hop_latency_s(at, port);
    double window_s = turns * times_s[turn - hops];
    time->slowest_Bps = port->kind->rate_Bps;
    time->slowest_link = port->kind->link;
    time->slowest_flows = port->kind->flows;
    if (hops_s >= port_s && hops_s >= window_s) {
        uint32_t count = slowest.walk->count;
        time->bound = AR_BOUND_HOPS;
        time->time_s = hops_s;
        time->reduction_s = reduction_s;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t place =
                slowest.first + i < count ? slowest.first + i : slowest.first + i - count;
            const struct ar_hop *hop = &hops[slowest.walk->first + place % slowest.walk->period];
            uint32_t times = slowest.laps + (i < slowest.rest);
            time_charge(time, hop->kind->tier, times * hop_latency_s(at, hop),
                        times * hop_busy_s(at, hop, hop->kind->rate_Bps));
        }
    } else if (port_s >= window_s) {
        time->bound = AR_BOUND_PORT;
        time->time_s = port_s;
        time_charge(time, port->kind->tier, hop_latency_s(at, port),
                    steps * hop_busy_s(at, port, port->kind->rate_Bps));
    } else {
        time->bound = AR_BOUND_WINDOW;
        time->time_s = window_s;
        time_charge(time, turn->kind->tier, turns * hop_latency_s(at, turn),
                    turns * hop_busy_s(at, turn, turn->kind->rate_Bps));
    }
}

/* --- trees ----------------------------------------------------------------------------------- */

/* A position in a tree, on one lane. */
struct tree_position {
    double reached_s;  /* the first part is here */
    double left_s;     /* from here on for the last part, until it is where it ends */
    uint32_t hop;      /* by which the first part came last; AR_NEVER at a leaf */
    uint32_t next_hop; /* by which the last part takes longest; AR_NEVER where it ends */
    uint32_t children; /* hops that lead here */
    uint32_t sums;     /* of first parts, from that of `hop` on */
};

/* A tree on one lane. */
struct tree {
    const struct closed_phase *at;
    const struct ar_tree_shares *shares;
    struct tree_position *positions;
    double reduce_s;     /* of a part that arrives */
    uint32_t first, end; /* hops of the lane */
};

/* The time for which a part occupies a hop. */
static double tree_part_s(const struct tree *tree, uint32_t index, uint32_t part)
{
    return hop_busy_s(tree->at, &tree->at->pattern->hops[index],
                      ar_tree_rate_Bps(tree->shares, part, index));
}

/* Sends the first part to every position, and the last one on from there. The hops lie in an
 * order in which none comes before the hops that lead to it. */
static void tree_walk(const struct tree *tree)
{
    struct tree_position *positions = tree->positions;
    uint32_t last_part = tree->at->phase->parts - 1;
    for (uint32_t i = 0; i < ar_shape_ranks(&tree->at->flows->collective.shape); i++) {
        positions[i] = (struct tree_position){.hop = AR_NEVER, .next_hop = AR_NEVER};
    }
    for (uint32_t i = tree->first; i < tree->end; i++) {
        const struct ar_hop *hop = &tree->at->pattern->hops[i];
        struct tree_position *to = &positions[hop->to];
        double arrival_s =
            positions[hop->from].reached_s + hop_latency_s(tree->at, hop) + tree_part_s(tree, i, 0);
        if (arrival_s > to->reached_s) {
            to->hop = i;
            to->sums = 0;
        }
        to->reached_s = fmax(arrival_s, to->reached_s) + tree->reduce_s;
        to->sums++;
        to->children++;
    }
    for (uint32_t i = tree->end; i-- > tree->first;) {
        const struct ar_hop *hop = &tree->at->pattern->hops[i];
        struct tree_position *from = &positions[hop->from];
        double left_s =
            hop_latency_s(tree->at, hop) + tree_part_s(tree, i, last_part) + tree->reduce_s;
        if (left_s + positions[hop->to].left_s > from->left_s) {
            from->left_s = left_s + positions[hop->to].left_s;
            from->next_hop = i;
        }
    }
}

static void tree_charge_part(const struct tree *tree, uint32_t index, uint32_t part,
                             struct ar_phase_time *time)
{
    const struct ar_hop *hop = &tree->at->pattern->hops[index];
    time_charge(time, hop->kind->tier, hop_latency_s(tree->at, hop),
                tree_part_s(tree, index, part));
    time->reduction_s += tree->reduce_s;
}

/* The time that the other parts add to that of the first one on a hop. */
struct tree_delay {
    double time_s;
    enum ar_bound bound;
    double latencies, bandwidth_s, reduction_s;
};

static struct tree_delay tree_delay_on(const struct tree *tree, uint32_t index)
{
    const struct ar_hop *hop = &tree->at->pattern->hops[index];
    double waits = (tree->at->phase->parts - 1) / tree->at->flows->collective.window;
    double window_s = waits * (hop_latency_s(tree->at, hop) + tree_part_s(tree, index, 0));
    double port_s = 0;
    for (uint32_t part = 1; part < tree->at->phase->parts; part++) {
        port_s += tree_part_s(tree, index, part);
    }
    double reduction_s =
        (tree->at->phase->parts - 1) * tree->reduce_s * tree->positions[hop->to].children;
    struct tree_delay delay = {port_s, AR_BOUND_PORT, .bandwidth_s = port_s};
    if (window_s > port_s) {
        double bandwidth_s = waits * tree_part_s(tree, index, 0);
        delay = (struct tree_delay){window_s, AR_BOUND_WINDOW, waits, bandwidth_s, 0};
    }
    if (reduction_s > delay.time_s) {
        delay = (struct tree_delay){reduction_s, AR_BOUND_REDUCTION, .reduction_s = reduction_s};
    }
    return delay;
}

/* The time by way of a hop: its latency and reduction are paid by the first part. */
static double tree_time_over(const struct tree *tree, uint32_t index)
{
    const struct ar_hop *hop = &tree->at->pattern->hops[index];
    const struct tree_position *positions = tree->positions;
    return positions[hop->from].reached_s + hop_latency_s(tree->at, hop) +
           tree_part_s(tree, index, 0) + tree->reduce_s + tree_delay_on(tree, index).time_s +
           positions[hop->to].left_s;
}

/* The longest way through the tree, over all hops of all lanes. */
static void trees_time(const struct closed_phase *at, struct ar_phase_time *time)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_collective *collective = &at->flows->collective;
    const struct ar_tree_shares *shares = ar_flows_tree_shares(at->flows, at->index, at->bytes);
    struct tree tree = {.at = at,
                        .shares = shares,
                        .positions = ar_arena_alloc(&arena, ar_shape_ranks(&collective->shape),
                                                    sizeof *tree.positions),
                        .reduce_s = at->phase->copies_from > 0 ? at->gamma_s * at->bytes : 0};
    for (uint32_t lane = 0; lane < ar_collective_lanes(&at->flows->resolved); lane++) {
        uint32_t slowest = AR_NEVER;
        double slowest_s = time->time_s;
        tree.first = at->pattern->lane_hops[lane];
        tree.end = at->pattern->lane_hops[lane + 1];
        tree_walk(&tree);
        for (uint32_t i = tree.first; i < tree.end; i++) {
            double over_s = tree_time_over(&tree, i);
            if (over_s > slowest_s) {
                slowest = i;
                slowest_s = over_s;
            }
        }
        if (slowest != AR_NEVER) {
            /* The time by way of the slowest hop, in its parts. */
            const struct ar_hop *hops = tree.at->pattern->hops;
            const struct tree_position *positions = tree.positions;
            struct tree_delay delay = tree_delay_on(&tree, slowest);
            *time = (struct ar_phase_time){.time_s = tree_time_over(&tree, slowest)};
            time->bound = 2 * delay.time_s > time->time_s ? delay.bound : AR_BOUND_HOPS;
            for (uint32_t hop_at = positions[hops[slowest].from].hop; hop_at != AR_NEVER;
                 hop_at = positions[hops[hop_at].from].hop) {
                tree_charge_part(&tree, hop_at, 0, time);
                time->reduction_s += (positions[hops[hop_at].to].sums - 1) * tree.reduce_s;
            }
            tree_charge_part(&tree, slowest, 0, time);
            time_charge(time, hops[slowest].kind->tier,
                        delay.latencies * hop_latency_s(tree.at, &hops[slowest]),
                        delay.bandwidth_s);
            time->reduction_s += delay.reduction_s;
            for (uint32_t hop_at = positions[hops[slowest].to].next_hop; hop_at != AR_NEVER;
                 hop_at = positions[hops[hop_at].to].next_hop) {
                tree_charge_part(&tree, hop_at, tree.at->phase->parts - 1, time);
            }
        }
    }
    time->slowest_Bps = shares->slowest_Bps;
    time->slowest_link = shares->slowest_link;
    time->slowest_flows = shares->slowest_flows;
}

/* --- exchanges ------------------------------------------------------------------------------- */

/* The size of messages of so many pieces, and what it adds to their latency on such a path. */
struct message_size {
    uint32_t pieces;
    enum ar_tier tier;
    double bytes, extra_s;
};

/* The message of a step that arrives last; NULL: nobody sends. */
struct last_message {
    const struct ar_message_kind *kind;
    double latency_s, busy_s, sums_s; /* the last is of what the step reduces or moves */
};

/* Finds it; `size` is that of the message before. */
static struct last_message exchange_find_last(const struct closed_phase *at, uint32_t step,
                                              double moves_s_per_byte, struct message_size *size)
{
    const struct ar_exchange_step *messages = &at->pattern->exchange->steps[step];
    struct last_message last = {.kind = NULL};
    double most_bytes = 0;
    AR_EACH(const struct ar_message_kind, kind, &at->pattern->exchange->kinds[messages->first_kind],
            messages->kinds_count) {
        if (kind->pieces != size->pieces || kind->tier != size->tier) {
            double bytes =
                at->flows->collective.element_bytes *
                (double)ar_flows_piece_elements(at->flows, at->index, kind->pieces, at->elements);
            *size = (struct message_size){kind->pieces, kind->tier, bytes,
                                          ar_message_extra_s(at->cost, kind->tier, bytes)};
        }
        double latency_s = at->cost->path_s[kind->tier] + kind->switches_s + size->extra_s;
        double busy_s = ar_message_busy_s(kind, at->cost, size->bytes);
        most_bytes = size->bytes > most_bytes ? size->bytes : most_bytes;
        if (last.kind == NULL || latency_s + busy_s > last.latency_s + last.busy_s) {
            last = (struct last_message){kind, latency_s, busy_s, 0};
        }
    }
    last.sums_s = (step < at->phase->copies_from ? at->gamma_s : moves_s_per_byte) * most_bytes;
    return last;
}

static void exchange_charge(const struct last_message *last, struct ar_phase_time *time)
{
    if (last->kind == NULL) {
        return;
    }
    time_charge(time, last->kind->tier, last->latency_s, last->busy_s);
    time->time_s += last->latency_s + last->busy_s;
    if (time->slowest_Bps == 0 || last->kind->rate_Bps < time->slowest_Bps) {
        time->slowest_Bps = last->kind->rate_Bps;
        time->slowest_link = last->kind->link;
        time->slowest_flows = last->kind->flows;
    }
}

/* Step after step; or the longest one, if all go at once, and all reductions after it. */
static void exchange_time(const struct closed_phase *at, struct ar_phase_time *time)
{
    struct message_size size = {.pieces = 0};
    struct last_message longest = {.kind = NULL};
    double moves_s_per_byte =
        at->phase->moves * ar_cluster_facts(at->flows->collective.cluster)->copy_s_per_byte;
    for (uint32_t step = 0; step < at->phase->steps; step++) {
        struct last_message last = exchange_find_last(at, step, moves_s_per_byte, &size);
        time->reduction_s += last.sums_s;
        if (!at->phase->is_at_once) {
            exchange_charge(&last, time);
        } else if (last.latency_s + last.busy_s > longest.latency_s + longest.busy_s) {
            longest = last;
        }
    }
    exchange_charge(&longest, time);
    time->time_s += time->reduction_s;
}

/* --- sums ------------------------------------------------------------------------------------ */

/* The slowest line of a stage, on all lanes: the longest of each of its times. */
static struct ar_line_sum sums_slowest_line(const struct ar_line_sums *sums, uint32_t lanes,
                                            uint32_t stage)
{
    struct ar_line_sum slowest = {.latency_s = -1};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t *first = &sums->first[lane * sums->stages + stage];
        for (uint32_t i = first[0]; i < first[1]; i++) {
            const struct ar_line_sum *line = &sums->lines[i];
            struct ar_line_sum before = slowest;
            bool is_slower =
                slowest.latency_s < 0 || line->pace_s_per_byte > slowest.pace_s_per_byte;
            slowest = is_slower ? *line : slowest;
            slowest.latency_s = fmax(before.latency_s, line->latency_s);
            slowest.alone_s_per_byte = fmax(before.alone_s_per_byte, line->alone_s_per_byte);
            slowest.turns = before.turns > line->turns ? before.turns : line->turns;
        }
    }
    return slowest;
}

/* The time that the parts behind the first one add at a stage. */
struct sums_wait {
    double latency_s, bandwidth_s;
    enum ar_bound bound;
};

static void sums_time(const struct closed_phase *at, struct ar_phase_time *time)
{
    const struct ar_collective *collective = &at->flows->collective;
    const struct ar_line_sums *sums = at->pattern->line_sums;
    double piece_bytes = (double)(ar_flows_piece_elements(at->flows, at->index, 1, at->elements) *
                                  collective->element_bytes);
    uint32_t lanes = ar_collective_lanes(&at->flows->resolved);
    struct sums_wait longest = {.bandwidth_s = -1};
    enum ar_tier tier = AR_TIER_NVLINK;
    for (uint32_t stage = 0; stage < sums->stages; stage++) {
        struct ar_line_sum line = sums_slowest_line(sums, lanes, stage);
        double own_bytes = piece_bytes * line.pieces;
        double bytes = ar_line_busy_bytes(&line, at->cost, own_bytes);
        line.latency_s = ar_line_latency_s(&line, at->cost, own_bytes);
        uint32_t parts = at->phase->steps / at->phase->period, window = collective->window;
        uint32_t turns = (parts + window - 1) / window - 1;
        double alone_s = bytes * line.alone_s_per_byte;
        double port_s = (parts - 1) * bytes * line.pace_s_per_byte;
        /* The last of the parts that its window holds follow each other. */
        double behind_s = (parts - 1 - turns * window) * bytes * line.pace_s_per_byte;
        struct sums_wait wait = {turns * line.latency_s, turns * alone_s + behind_s,
                                 AR_BOUND_WINDOW};
        if (turns * (line.latency_s + alone_s) + behind_s <= port_s) {
            wait = (struct sums_wait){0, port_s, parts > 1 ? AR_BOUND_PORT : AR_BOUND_HOPS};
        }
        time_charge(time, line.tier, line.latency_s, bytes * line.alone_s_per_byte);
        time->time_s += line.latency_s + bytes * line.alone_s_per_byte;
        if (wait.latency_s + wait.bandwidth_s > longest.latency_s + longest.bandwidth_s) {
            longest = wait;
            tier = line.tier;
            time->slowest_Bps = 1 / line.pace_s_per_byte;
            time->slowest_link = line.link;
            time->slowest_flows = line.flows;
        }
    }
    time->bound = longest.bound;
    time_charge(time, tier, longest.latency_s, longest.bandwidth_s);
    time->time_s += longest.latency_s + longest.bandwidth_s;
}

/* --- all phases ------------------------------------------------------------------------------ */

static void phase_time(const struct ar_flows *flows, uint32_t index, uint64_t elements,
                       struct ar_phase_time *time)
{
    const struct ar_collective *collective = &flows->collective;
    struct closed_phase at = {
        .flows = flows,
        .index = index,
        .phase = &flows->phases[index],
        .pattern = &flows->patterns[index],
        .cost = &ar_cluster_facts(collective->cluster)->message,
        .elements = elements,
        .gamma_s = ar_cluster_reduce_cost(collective->cluster,
                                          (double)(elements * collective->element_bytes)),
    };
    static void (*const find_time[])(const struct closed_phase *,
                                     struct ar_phase_time *) = {[AR_PHASE_WALK] = walks_time,
                                                                [AR_PHASE_TREE] = trees_time,
                                                                [AR_PHASE_EXCHANGE] = exchange_time,
                                                                [AR_PHASE_SUMS] = sums_time};
    *time = (struct ar_phase_time){.time_s = 0};
    uint64_t message_bytes = 0;
    if (at.phase->steps > 0) {
        message_bytes = ar_flows_message_bytes(flows, index, elements);
        at.bytes = (double)message_bytes;
        at.extra_s = ar_message_extra_s(at.cost, AR_TIER_SPINE, at.bytes);
        find_time[at.phase->kind](&at, time);
    }
    time->name = at.phase->name;
    time->steps = at.phase->steps;
    time->message_bytes = message_bytes;
}

/* Whether messages of all steps are like those of the first one, if those of a step are alike. */
static bool are_steps_alike(const struct ar_exchange *exchange, uint32_t steps)
{
    const struct ar_message_kind *first = &exchange->kinds[exchange->steps[0].first_kind];
    for (uint32_t step = 1; step < steps; step++) {
        const struct ar_message_kind *kind = &exchange->kinds[exchange->steps[step].first_kind];
        if (kind->switches_s != first->switches_s || !ar_tier_is_alike(kind->tier, first->tier) ||
            kind->pieces != first->pieces ||
            fabs(kind->rate_Bps - first->rate_Bps) > 1e-9 * first->rate_Bps) {
            return false;
        }
    }
    return true;
}

void ar_closed_evaluate(const struct ar_flows *flows, uint64_t elements,
                        struct ar_closed_time *time)
{
    time->phases_count = flows->phases_count;
    time->setup_s = ar_collective_setup_s(&flows->collective, elements);
    time->time_s = time->setup_s;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        phase_time(flows, i, elements, &time->phases[i]);
        time->time_s += time->phases[i].time_s;
    }
    /* It may be an estimate also where the rates of messages are exact. */
    time->why = ar_flows_why_not_exact(flows, elements);
    bool are_sums_slow = ar_cluster_facts(flows->collective.cluster)->reduce_s_per_byte > 0;
    for (uint32_t i = 0; i < flows->phases_count && time->why[0] == '\0'; i++) {
        const struct ar_phase *phase = &flows->phases[i];
        const struct ar_exchange *exchange = flows->patterns[i].exchange;
        if (flows->patterns[i].tree != NULL) {
            time->why = "parts wait for each other in a tree";
        } else if (exchange != NULL && phase->is_at_once && phase->copies_from > 0 &&
                   are_sums_slow && !are_steps_alike(exchange, phase->steps)) {
            time->why = "messages that arrive earlier are summed earlier";
        }
    }
    time->exact = time->why[0] == '\0';
    double missing_s = time->setup_s + ar_flows_least_s(flows, elements) - time->time_s;
    if (!time->exact && missing_s > 0) { /* the longest phase waits for the busiest link */
        struct ar_phase_time *longest = &time->phases[0];
        for (uint32_t i = 1; i < time->phases_count; i++) {
            longest = time->phases[i].time_s > longest->time_s ? &time->phases[i] : longest;
        }
        double *longest_s = &longest->bandwidth_s[0];
        for (int tier = 1; tier < AR_TIERS_COUNT; tier++) {
            longest_s =
                longest->bandwidth_s[tier] > *longest_s ? &longest->bandwidth_s[tier] : longest_s;
        }
        *longest_s += missing_s;
        longest->time_s += missing_s;
        longest->bound = AR_BOUND_PORT;
        time->time_s += missing_s;
    }
    time->exact_in_queue = time->exact && !ar_flows_are_ragged(flows);
}

/* --- the engine ------------------------------------------------------------------------------ */

/* Collectives one after the other, each as long as its copies and its closed form, from the time at
 * which it is ready on all ranks. */
static enum ar_status closed_run(struct ar_trial *trial, struct ar_error *err)
{
    const struct ar_flows *flows;
    double free_s = 0;
    AR_TRY(ar_trial_flows(trial, &flows, err));
    trial->exact = true;
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(flows, trial->calls[i].elements, &time);
        bool is_even;
        double ready_s = ar_trial_ready_on_all(trial, i, &is_even);
        bool is_queued = i > 0 && free_s > ready_s;
        double start_s = ready_s > free_s ? ready_s : free_s;
        free_s = start_s + trial->calls[i].copy_s + time.time_s;
        trial->times[i] = (struct ar_call_time){.start_s = start_s, .finish_s = free_s};
        if (!time.exact || !is_even || (is_queued && !time.exact_in_queue)) {
            trial->exact = false;
            ar_copy_text(trial->note, sizeof trial->note,
                         !time.exact ? time.why
                         : is_even   ? "queued all-reduces overlap"
                                     : "all ranks wait for the last to start");
        }
    }
    if (trial->rank_finish_s != NULL) {
        for (uint32_t rank = 0; rank < ar_collective_ranks(&trial->collective); rank++) {
            trial->rank_finish_s[rank] = free_s;
        }
    }
    trial->messages_count = trial->calls_count * ar_collective_messages(&trial->collective);
    ar_copy_text(trial->options, sizeof trial->options,
                 trial->exact ? "closed exact" : "closed approximate");
    return AR_OK;
}

const struct ar_engine ar_engine_closed = {
    .name = "closed",
    .title = "closed form: instant; exact where it says so, an estimate elsewhere",
    .cost = {.trial_s = 30e-6, .rank_s = 100e-9},
    .run = closed_run,
};
