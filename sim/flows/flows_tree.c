/* The rate of each part of a tree on each hop.
 *
 * The hops of a tree are not all busy at the same time: of a chain of H hops at most P carry
 * something while P parts pass, fewer while it fills and empties, and small messages spend most of
 * their time in latencies. So the phase is followed from one event to the next, for ranks that
 * begin it together: a message begins when its rank has come to it (ar_trial.h), the messages under
 * way share the links, max-min, and when one begins or has left, the shares of those that it meets
 * change. The rate of a part on a hop is its size over the time from its begin until it has left,
 * so that engines that send each part at its rate see the same times again.
 *
 * Neglected: that ranks may begin the phase at different times, and parts of unlike sizes. */
#include "flows_tree.h"

#include <math.h>
#include <string.h>

/* Events so much closer than the time at which they are happen together: sums in another order
 * may differ in the last digits. */
#define SAME_TIME 1e-12

/* In place of a shared link's number, which is always smaller. */
#define ALONE   UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* Finds the narrowest link of a hop, and those that it shares with others. */
static void hop_find_links(struct ar_tree_rates *rates, const struct ar_maxmin *all,
                           uint32_t *number_of, uint32_t hop)
{
    struct hop_links *way = &rates->ways[hop];
    *way = (struct hop_links){.alone_Bps = HUGE_VAL, .first = rates->shared_count};
    for (uint32_t i = all->paths.begin[hop]; i < all->paths.begin[hop + 1]; i++) {
        uint32_t link = all->paths.links[i];
        double bandwidth_Bps = all->bandwidth_Bps[link];
        if (bandwidth_Bps < way->alone_Bps) {
            way->alone_Bps = bandwidth_Bps;
            way->alone_link = all->known[link];
            way->is_shared = number_of[link] != ALONE;
        }
        if (number_of[link] == ALONE) {
            continue;
        }
        if (number_of[link] == SEVERAL) {
            number_of[link] = rates->uses_count;
            rates->uses[rates->uses_count++] = (struct use){
                .bandwidth_Bps = bandwidth_Bps, .link = all->known[link], .head = AR_NEVER};
        }
        rates->shared[rates->shared_count++] = number_of[link];
        way->count++;
    }
}

/* Writes down who sends and receives over each hop, and in which steps. */
static void ends_create(struct ar_tree_rates *rates)
{
    const struct ar_pattern *pattern = rates->pattern;
    uint32_t positions = ar_shape_ranks(&rates->collective->shape);
    rates->ends = ar_arena_room(rates->room, pattern->hops_count, sizeof *rates->ends);
    for (uint32_t lane = 0; lane < ar_collective_lanes(rates->collective); lane++) {
        for (uint32_t step = 0; step < rates->phase->steps; step++) {
            for (uint32_t i = pattern->step_hops[step]; i < pattern->step_hops[step + 1]; i++) {
                uint32_t hop = pattern->lane_hops[lane] + i;
                uint32_t from = lane * positions + pattern->hops[hop].from;
                uint32_t to = lane * positions + pattern->hops[hop].to;
                rates->ends[hop] =
                    (struct hop_ends){from, to * AR_PERIOD_MAX + step % rates->period, step};
            }
        }
    }
}

/* The same by rank. */
static void ranks_create(struct ar_tree_rates *rates)
{
    rates->rank_hops = ar_arena_room(rates->room, rates->ranks_count, sizeof *rates->rank_hops);
    memset(rates->rank_hops, 0xff, rates->ranks_count * sizeof *rates->rank_hops); /* AR_NEVER */
    for (uint32_t hop = 0; hop < rates->pattern->hops_count; hop++) {
        const struct hop_ends *ends = &rates->ends[hop];
        rates->rank_hops[ends->from].out[ends->to % AR_PERIOD_MAX] = hop;
        rates->rank_hops[ends->to / AR_PERIOD_MAX].in[ends->to % AR_PERIOD_MAX] = hop;
    }
}

/* Finds the shared links of all hops. */
static void tree_find_links(struct ar_tree_rates *made)
{
    struct ar_arena room AR_ENDS_HERE = {NULL}, soon AR_ENDS_HERE = {NULL};
    size_t taken_max, links = flows_links_count(made->collective, &taken_max);
    size_t hops = made->pattern->hops_count;
    struct ar_flow *flows = ar_arena_room(&soon, hops, sizeof *flows);
    struct ar_order order = ar_collective_order(made->collective);
    struct ar_maxmin all;
    for (uint32_t hop = 0, lane = 0; hop < hops; hop++) {
        lane += hop == made->pattern->lane_hops[lane + 1];
        flows[hop].source = ar_order_rank(&order, lane, made->pattern->hops[hop].from);
        flows[hop].destination = ar_order_rank(&order, lane, made->pattern->hops[hop].to);
    }
    ar_maxmin_create(&room, made->collective->cluster, links, taken_max, &all);
    all.has_equal_gpus = made->flows->lanes_each > 1;
    ar_maxmin_find_paths(&all, flows, hops, 0);
    ar_arena_end(&soon);
    uint32_t *number_of = ar_arena_alloc(&room, all.known_count, sizeof *number_of);
    for (uint32_t i = 0; i < all.paths.begin[hops]; i++) {
        uint32_t *number = &number_of[all.paths.links[i]];
        *number = *number == 0 ? ALONE : SEVERAL;
    }
    made->shared_count = made->uses_count = 0;
    made->ways = ar_arena_room(made->room, hops, sizeof *made->ways);
    made->runs = ar_arena_alloc(made->room, hops, sizeof *made->runs);
    made->uses = ar_arena_room(made->room, all.known_count, sizeof *made->uses);
    made->shared = ar_arena_room(made->room, all.paths.begin[hops], sizeof(uint32_t));
    for (uint32_t hop = 0; hop < hops; hop++) {
        hop_find_links(made, &all, number_of, hop);
    }
}

struct ar_tree_rates *flows_tree_create(struct ar_arena *arena, const struct ar_flows *flows,
                                        const struct ar_phase *phase,
                                        const struct ar_pattern *pattern)
{
    const struct ar_collective *collective = &flows->resolved;
    struct ar_tree_rates *made = ar_arena_alloc(arena, 1, sizeof *made);
    *made = (struct ar_tree_rates){
        .arena = arena,
        .flows = flows,
        .collective = collective,
        .phase = phase,
        .pattern = pattern,
        .cost = &ar_cluster_facts(collective->cluster)->message,
        .parts = phase->parts,
        .period = phase->period,
        .ranks_count = ar_collective_lanes(collective) * ar_shape_ranks(&collective->shape),
    };
    return made;
}

/* The latency of a part on a hop. */
static double tree_latency_s(const struct ar_tree_rates *rates, uint32_t hop)
{
    return ar_message_latency_s(rates->pattern->hops[hop].kind, rates->cost, rates->bytes);
}

/* --- what happens next ----------------------------------------------------------------------- */

static void dues_place(struct dues *dues, uint32_t number, uint32_t place)
{
    dues->heap[place] = number;
    dues->places[number] = place;
}

/* Finds the place of a number whose own is free. */
static void dues_sift(struct dues *dues, uint32_t number, uint32_t place)
{
    double time_s = dues->time_s[number];
    for (uint32_t up; place > 0 && dues->time_s[dues->heap[up = (place - 1) / 2]] > time_s;
         place = up) {
        dues_place(dues, dues->heap[up], place);
    }
    for (uint32_t child; (child = 2 * place + 1) < dues->count; place = child) {
        child += child + 1 < dues->count &&
                 dues->time_s[dues->heap[child + 1]] < dues->time_s[dues->heap[child]];
        if (dues->time_s[dues->heap[child]] >= time_s) {
            break;
        }
        dues_place(dues, dues->heap[child], place);
    }
    dues_place(dues, number, place);
}

/* Sets or moves the time of an entry of the heap. */
static void dues_set(struct dues *dues, uint32_t number, double time_s)
{
    dues->time_s[number] = time_s;
    dues_sift(dues, number,
              dues->places[number] != AR_NEVER ? dues->places[number] : dues->count++);
}

/* --- ranks ----------------------------------------------------------------------------------- */

/* Notes that a hop has become busy or idle. */
static void hop_meet(struct ar_tree_rates *rates, uint32_t hop)
{
    if (!rates->runs[hop].is_met) {
        rates->runs[hop].is_met = true;
        rates->met[rates->met_count++] = hop;
    }
}

/* Whether a part goes over a hop in a step; `part` is then its number. */
static bool hop_has_part(const struct ar_tree_rates *rates, uint32_t hop, uint32_t step,
                         uint32_t *part)
{
    if (hop == AR_NEVER || step < rates->ends[hop].began) {
        return false;
    }
    *part = (step - rates->ends[hop].began) / rates->period;
    return *part < rates->parts;
}

/* When a rank can send a part over a hop that the part before has left. */
static double rank_send_s(const struct ar_tree_rates *rates, const struct rank_run *rank,
                          uint32_t hop, uint32_t part)
{
    uint32_t hops = rates->pattern->hops_count, window = rates->collective->window;
    double start_s = rank->now_s;
    if (part > 0) {
        start_s = fmax(start_s, rates->frees_s[(size_t)(part - 1) * hops + hop]);
    }
    if (part >= window) {
        start_s = fmax(start_s, rates->frees_s[(size_t)(part - window) * hops + hop] +
                                    tree_latency_s(rates, hop));
    }
    return start_s;
}

/* A rank does all that it can do at a time, until it waits for a hop or for a later time. */
static void rank_go_on(struct ar_tree_rates *rates, uint32_t index, double time_s)
{
    struct rank_run *rank = &rates->ranks[index];
    const struct rank_hops *own = &rates->rank_hops[index];
    uint32_t hops = rates->pattern->hops_count, part;
    for (; rank->step < rank->end; rank->step++, rank->has_sent = false) {
        uint32_t out = own->out[rank->step % rates->period];
        uint32_t in = own->in[rank->step % rates->period];
        if (!rank->has_sent && hop_has_part(rates, out, rank->step, &part)) {
            struct hop_run *run = &rates->runs[out];
            if (run->parts < part) {
                return;
            }
            double start_s = rank_send_s(rates, rank, out, part);
            if (start_s > time_s * (1 + SAME_TIME)) {
                dues_set(&rates->dues, hops + index, start_s);
                return;
            }
            rank->now_s = run->start_s = run->since_s = start_s;
            run->left_bytes = rates->bytes;
            run->is_busy = true;
            hop_meet(rates, out);
        }
        rank->has_sent = true;
        if (hop_has_part(rates, in, rank->step, &part)) {
            if (rates->runs[in].parts <= part) {
                return;
            }
            double arrival_s = rates->frees_s[(size_t)part * hops + in] + tree_latency_s(rates, in);
            rank->now_s = fmax(rank->now_s, arrival_s) + rates->reduce_s;
        }
    }
}

/* --- shares ---------------------------------------------------------------------------------- */

/* Puts a hop on the lists of its links, or takes it off. */
static void hop_list(struct ar_tree_rates *rates, uint32_t hop)
{
    const struct hop_links *way = &rates->ways[hop];
    struct hop_run *run = &rates->runs[hop];
    run->is_listed = run->is_busy;
    for (uint32_t place = way->first; place < way->first + way->count; place++) {
        struct use *use = &rates->uses[rates->shared[place]];
        if (run->is_busy) {
            rates->next[place] = use->head;
            rates->before[place] = AR_NEVER;
            if (use->head != AR_NEVER) {
                rates->before[use->head] = place;
            }
            use->head = place;
            use->flows++;
            continue;
        }
        uint32_t next = rates->next[place], before = rates->before[place];
        *(before != AR_NEVER ? &rates->next[before] : &use->head) = next;
        if (next != AR_NEVER) {
            rates->before[next] = before;
        }
        use->flows--;
    }
}

static void link_use(struct ar_tree_rates *rates, uint32_t number)
{
    if (!rates->uses[number].is_found) {
        rates->uses[number].is_found = true;
        rates->found_uses[rates->found_uses_count++] = number;
    }
}

static void find_tree_hop(struct ar_tree_rates *rates, uint32_t hop)
{
    if (!rates->runs[hop].is_found) {
        rates->runs[hop].is_found = true;
        rates->found_hops[rates->found_hops_count++] = hop;
        for (uint32_t i = 0; i < rates->ways[hop].count; i++) {
            link_use(rates, rates->shared[rates->ways[hop].first + i]);
        }
    }
}

/* Finds all hops under way whose shares may change: those that share links with the hops that began
 * or ended, with these, and so on. */
static void find_all_met(struct ar_tree_rates *rates)
{
    rates->found_hops_count = rates->found_uses_count = 0;
    for (uint32_t i = 0; i < rates->met_count; i++) {
        uint32_t hop = rates->met[i];
        struct hop_run *run = &rates->runs[hop];
        run->is_met = false;
        if (run->is_listed != run->is_busy) {
            hop_list(rates, hop);
            for (uint32_t j = 0; j < rates->ways[hop].count; j++) {
                link_use(rates, rates->shared[rates->ways[hop].first + j]);
            }
            if (run->is_busy) {
                find_tree_hop(rates, hop);
            }
        } else if (run->is_busy) { /* its next part, in place of the one before */
            dues_set(&rates->dues, hop, run->since_s + run->left_bytes / run->rate_Bps);
        }
    }
    rates->met_count = 0;
    for (uint32_t i = 0; i < rates->found_uses_count; i++) {
        uint32_t place = rates->uses[rates->found_uses[i]].head;
        for (; place != AR_NEVER; place = rates->next[place]) {
            find_tree_hop(rates, rates->place_hops[place]);
        }
    }
    for (uint32_t i = 0; i < rates->found_uses_count; i++) {
        rates->uses[rates->found_uses[i]].is_found = false;
    }
}

/* Notes the least share that any hop has had, and of which link. */
static void note_slowest(struct ar_tree_rates *rates, uint32_t hop, double share_Bps)
{
    const struct hop_links *way = &rates->ways[hop];
    if (share_Bps >= rates->shares.slowest_Bps) {
        return;
    }
    rates->shares.slowest_Bps = share_Bps;
    rates->shares.slowest_link = way->alone_link;
    rates->shares.slowest_flows = 1;
    double least_Bps = way->alone_Bps;
    for (uint32_t i = 0; i < way->count; i++) {
        const struct use *use = &rates->uses[rates->shared[way->first + i]];
        if (use->bandwidth_Bps / use->flows < least_Bps) {
            least_Bps = use->bandwidth_Bps / use->flows;
            rates->shares.slowest_link = use->link;
            rates->shares.slowest_flows = use->flows;
        }
    }
}

/* Gives the hops that were found their shares from now on. */
static void share_links(struct ar_tree_rates *rates, double time_s)
{
    struct ar_paths *paths = &rates->maxmin.paths;
    uint32_t used = 0;
    paths->count = rates->found_hops_count;
    for (uint32_t i = 0; i < rates->found_hops_count; i++) {
        const struct hop_links *way = &rates->ways[rates->found_hops[i]];
        paths->begin[i] = used;
        paths->bandwidth_Bps[i] = way->alone_Bps;
        paths->links[used] = rates->uses_count + rates->found_hops[i];
        used += !way->is_shared;
        for (uint32_t j = 0; j < way->count; j++) {
            paths->links[used++] = rates->shared[way->first + j];
        }
    }
    paths->begin[paths->count] = used;
    ar_maxmin_share(&rates->maxmin);
    for (uint32_t i = 0; i < rates->found_hops_count; i++) {
        uint32_t hop = rates->found_hops[i];
        struct hop_run *run = &rates->runs[hop];
        run->left_bytes -= run->rate_Bps * (time_s - run->since_s);
        run->since_s = time_s;
        if (fabs(run->rate_Bps - rates->maxmin.rates_Bps[i]) > SAME_TIME * run->rate_Bps) {
            run->trace = tree_mix(tree_mix(run->trace, tree_bits(time_s)),
                                  tree_bits(rates->maxmin.rates_Bps[i]));
        }
        run->rate_Bps = rates->maxmin.rates_Bps[i];
        run->is_found = false;
        dues_set(&rates->dues, hop, time_s + fmax(run->left_bytes, 0) / run->rate_Bps);
        note_slowest(rates, hop, run->rate_Bps);
    }
}

/* --- the phase ------------------------------------------------------------------------------- */

/* Makes room for what is followed; all ranks stand before their first steps. Links have numbers of
 * their own: the shared ones, then one of each hop that bounds it alone. */
static void runs_create(struct ar_tree_rates *made)
{
    struct ar_arena *room = made->room;
    size_t hops = made->pattern->hops_count, ranks = made->ranks_count;
    size_t places = made->shared_count, links = made->uses_count + hops;
    made->ranks = ar_arena_alloc(room, ranks, sizeof *made->ranks);
    made->next = ar_arena_room(room, places, sizeof *made->next);
    made->before = ar_arena_room(room, places, sizeof *made->before);
    made->place_hops = ar_arena_room(room, places, sizeof *made->place_hops);
    made->frees_s = ar_arena_alloc(room, hops * made->parts, sizeof *made->frees_s);
    made->met = ar_arena_room(room, hops, sizeof *made->met);
    made->found_hops = ar_arena_room(room, hops, sizeof *made->found_hops);
    made->found_uses = ar_arena_room(room, places, sizeof *made->found_uses);
    made->dues.time_s = ar_arena_room(room, hops + ranks, sizeof *made->dues.time_s);
    made->dues.places = ar_arena_room(room, hops + ranks, sizeof *made->dues.places);
    made->dues.heap = ar_arena_room(room, hops + ranks, sizeof *made->dues.heap);
    memset(made->dues.places, 0xff, (hops + ranks) * sizeof *made->dues.places); /* AR_NEVER */
    ar_maxmin_create(room, made->collective->cluster, 0, links, &made->maxmin);
    memset(made->maxmin.flows, 0, links * sizeof *made->maxmin.flows);
    paths_make_flows_room(room, hops, &made->maxmin.paths);
    paths_make_links_room(room, 0, places + hops, &made->maxmin.paths);
    for (uint32_t i = 0; i < made->uses_count; i++) {
        made->maxmin.bandwidth_Bps[i] = made->uses[i].bandwidth_Bps;
    }
    for (uint32_t i = 0; i < hops; i++) {
        made->runs[i].parts = 0;
        made->maxmin.bandwidth_Bps[made->uses_count + i] = made->ways[i].alone_Bps;
        for (uint32_t k = 0; k < made->ways[i].count; k++) {
            made->place_hops[made->ways[i].first + k] = i;
        }
    }
    for (uint32_t i = 0; i < ranks; i++) {
        struct rank_run *rank = &made->ranks[i];
        rank->step = UINT32_MAX;
        for (uint32_t at = 0; at < 2 * made->period; at++) {
            const struct rank_hops *own = &made->rank_hops[i];
            uint32_t hop = at % 2 == 0 ? own->out[at / 2] : own->in[at / 2];
            if (hop != AR_NEVER) {
                uint32_t began = made->ends[hop].began;
                uint32_t end = began + (made->parts - 1) * made->period + 1;
                rank->step = began < rank->step ? began : rank->step;
                rank->end = end > rank->end ? end : rank->end;
            }
        }
    }
}

void tree_run(struct ar_tree_rates *rates)
{
    uint32_t hops = rates->pattern->hops_count;
    struct dues *dues = &rates->dues;
    const struct ar_collective *collective = rates->collective;
    double buffer_bytes =
        rates->bytes * rates->parts * collective->channels * rates->flows->lanes_each;
    rates->reduce_s = rates->phase->copies_from > 0
                          ? rates->bytes * ar_cluster_reduce_cost(collective->cluster, buffer_bytes)
                          : 0;
    rates->shares.slowest_Bps = HUGE_VAL;
    rates->shares.followed = rates->ranks_count;
    rates->shares.rates_count = hops;
    runs_create(rates);
    for (uint32_t i = 0; i < rates->ranks_count; i++) {
        rank_go_on(rates, i, 0);
    }
    for (double time_s = 0;; time_s = dues->time_s[dues->heap[0]]) {
        while (dues->count > 0 && dues->time_s[dues->heap[0]] <= time_s * (1 + SAME_TIME)) {
            uint32_t number = dues->heap[0], last = dues->heap[--dues->count];
            dues->places[number] = AR_NEVER;
            if (last != number) {
                dues_sift(dues, last, 0);
            }
            if (number >= hops) {
                rank_go_on(rates, number - hops, time_s);
                continue;
            }
            /* The part under way on a hop has left: both of its ranks may go on. */
            const struct ar_hop *at = &rates->pattern->hops[number];
            struct hop_run *run = &rates->runs[number];
            size_t part = (size_t)run->parts++ * rates->pattern->hops_count + number;
            rates->rates_Bps[part] = rates->bytes / (time_s - run->start_s);
            rates->frees_s[part] =
                time_s + at->kind->turns * ar_message_gap_s(rates->cost, at->kind->tier);
            run->is_busy = false;
            hop_meet(rates, number);
            rank_go_on(rates, rates->ends[number].from, time_s);
            for (uint32_t to = rates->ends[number].to; to != AR_NEVER;
                 to = rates->next_to != NULL ? rates->next_to[to] : AR_NEVER) {
                rank_go_on(rates, to / AR_PERIOD_MAX, time_s);
            }
        }
        find_all_met(rates);
        share_links(rates, time_s);
        if (dues->count == 0) {
            return;
        }
    }
}

/* The rates of hops that share no link, or carry nothing. */
static void tree_keep_rates(struct ar_tree_rates *rates)
{
    const struct ar_hop *slowest = &rates->pattern->hops[0];
    for (uint32_t i = 0; i < rates->pattern->hops_count; i++) {
        const struct ar_hop *hop = &rates->pattern->hops[i];
        rates->rates_Bps[i] = hop->kind->rate_Bps;
        slowest = hop->kind->rate_Bps < slowest->kind->rate_Bps ? hop : slowest;
    }
    rates->shares = (struct ar_tree_shares){.slowest_Bps = slowest->kind->rate_Bps,
                                            .slowest_link = slowest->kind->link,
                                            .slowest_flows = slowest->kind->flows};
}

const struct ar_tree_shares *flows_tree_find(struct ar_tree_rates *known, double bytes)
{
    for (uint32_t i = 0; i < known->known_count; i++) {
        if (known->known[i].bytes == bytes) {
            return &known->known[i];
        }
    }
    struct ar_arena room AR_ENDS_HERE = {NULL};
    uint32_t hops = known->pattern->hops_count;
    size_t count = (size_t)hops * known->parts;
    size_t known_max = KNOWN_RATES / (count + 1) + 1;
    if (known->known_count < (known_max < KNOWN_MAX ? known_max : KNOWN_MAX)) {
        known->rates_Bps = ar_arena_room(known->arena, count, sizeof *known->rates_Bps);
        known->like = ar_arena_room(known->arena, hops, sizeof *known->like);
        known->known_count++;
    } /* else in place of the last one */
    for (uint32_t i = 0; i < hops; i++) {
        known->like[i] = i;
    }
    bool is_shared = known->pattern->is_shared && bytes > 0;
    bool are_kept = known->ranks_count <= KEPT_RANKS_MAX;
    if (is_shared && (known->ways == NULL || !are_kept)) {
        known->room = are_kept ? known->arena : &room;
        tree_find_links(known);
        ends_create(known);
    }
    struct ar_tree_rates rates = *known;
    rates.room = &room;
    rates.bytes = bytes;
    if (!is_shared) {
        tree_keep_rates(&rates);
    } else if (rates.flows->is_plain || !fast_tree_run(&rates)) {
        ranks_create(&rates);
        tree_run(&rates);
    }
    rates.shares.bytes = bytes;
    rates.shares.rates_Bps = rates.rates_Bps;
    rates.shares.like = rates.like;
    known->known[known->known_count - 1] = rates.shares;
    return &known->known[known->known_count - 1];
}
