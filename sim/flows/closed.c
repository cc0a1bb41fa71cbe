#include "closed.h"

#include <stdlib.h>

#include "ar_exchange.h"
#include "tree_rates.h"

const char *ar_bound_name(enum ar_bound bound)
{
    static const char *const names[] = {"hops", "port", "window"};
    return names[bound];
}

static bool is_tree(const struct ar_phase *phase)
{
    return phase->kind == AR_PHASE_TREE && phase->steps > 0;
}

static enum ar_status resolve(struct ar_closed *closed, struct ar_error *err)
{
    const struct ar_collective *collective = &closed->collective;
    closed->phases_count =
        ar_algorithm_phases(collective->algorithm, &collective->shape, closed->phases);
    AR_TRY(ar_pattern_resolve(&closed->memory, collective, closed->phases, closed->phases_count,
                              closed->patterns, &closed->busiest_s_per_byte, err));
    closed->even_elements = ar_shape_ranks(&collective->shape);
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        uint32_t pieces = closed->phases[i].pieces;
        uint32_t parts = pieces > 0 ? pieces : closed->phases[i].parts;
        closed->even_elements *= closed->even_elements % parts != 0 ? parts : 1;
    }
    closed->stations = ar_arena_alloc(&closed->memory, ar_shape_ranks(&collective->shape),
                                      sizeof *closed->stations);
    AR_NEED(closed->stations, err, "a closed form");
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        if (is_tree(&closed->phases[i])) {
            AR_TRY(tree_rates_create(&closed->memory, collective, &closed->phases[i],
                                     &closed->patterns[i], &closed->rates[i], err));
        }
    }
    return AR_OK;
}

enum ar_status ar_closed_create(const struct ar_collective *collective, struct ar_closed **closed,
                                struct ar_error *err)
{
    AR_TRY(ar_collective_check(collective, err));
    struct ar_closed *created = calloc(1, sizeof *created);
    AR_NEED(created, err, "a closed form");
    created->collective = *collective;
    enum ar_status status = resolve(created, err);
    if (status != AR_OK) {
        ar_closed_destroy(created);
        return status;
    }
    *closed = created;
    return AR_OK;
}

void ar_closed_destroy(struct ar_closed *closed)
{
    if (closed != NULL) {
        ar_arena_end(&closed->memory);
        free(closed);
    }
}

uint32_t ar_closed_phases(const struct ar_closed *closed, const struct ar_phase **phases,
                          const struct ar_pattern **patterns)
{
    *phases = closed->phases;
    *patterns = closed->patterns;
    return closed->phases_count;
}

const double *ar_closed_part_rates(const struct ar_closed *closed, uint32_t phase, double bytes)
{
    return tree_rates_find(closed->rates[phase], bytes)->rates_Bps;
}

/* Elements of some pieces of what a channel carries, as many as they can be. */
static uint64_t pieces_elements(const struct ar_closed *closed, uint32_t phase, uint32_t pieces,
                                uint64_t elements)
{
    uint32_t channels = closed->collective.channels;
    uint32_t all = closed->phases[phase].pieces;
    uint64_t channel_elements = (elements + channels - 1) / channels;
    uint64_t most = (channel_elements + all - 1) / all * pieces;
    return most < channel_elements ? most : channel_elements;
}

uint64_t ar_closed_message_bytes(const struct ar_closed *closed, uint32_t phase, uint64_t elements)
{
    const struct ar_exchange *exchange = closed->patterns[phase].exchange;
    uint32_t channels = closed->collective.channels;
    uint32_t parts = closed->phases[phase].parts;
    uint64_t channel_elements = (elements + channels - 1) / channels;
    uint64_t most = exchange != NULL ? pieces_elements(closed, phase, exchange->largest, elements)
                                     : (channel_elements + parts - 1) / parts;
    return most * closed->collective.element_bytes;
}

double ar_closed_least_s(const struct ar_closed *closed, uint64_t elements)
{
    uint32_t channels = closed->collective.channels;
    uint64_t even = closed->even_elements;
    uint64_t each = ((elements + channels - 1) / channels + even - 1) / even * even;
    return closed->busiest_s_per_byte * (double)(each * closed->collective.element_bytes);
}

/* The messages of a phase of walks, and what they cost besides their paths. */
struct message {
    const struct ar_message_cost *cost;
    double bytes;
};

static double latency_s(const struct ar_hop *hop, const struct message *message)
{
    return ar_hop_latency_s(hop, message->cost, message->bytes);
}

static double busy_s(const struct ar_hop *hop, const struct message *message)
{
    return ar_hop_busy_s(hop, message->cost, hop->rate_Bps, message->bytes);
}

static double hop_time(const struct ar_hop *hop, const struct message *message)
{
    return latency_s(hop, message) + busy_s(hop, message);
}

/* A stretch of consecutive hops of a walk, `laps` whole rounds before it. */
struct stretch {
    const struct ar_walk *walk;
    uint32_t first;
    uint32_t count;
    double time_s;
};

/* The slowest stretch of `steps` hops of a walk, by a sliding sum over one round. */
static struct stretch slowest_stretch(const struct ar_pattern *pattern, const struct ar_walk *walk,
                                      uint32_t steps, const struct message *message)
{
    const struct ar_hop *hops = pattern->hops + walk->first;
    double round_s = 0;
    for (uint32_t i = 0; i < walk->count; i++) {
        round_s += hop_time(&hops[i], message);
    }
    uint32_t laps = walk->is_ring ? steps / walk->count : 0;
    uint32_t rest =
        walk->is_ring ? steps % walk->count : (steps < walk->count ? steps : walk->count);
    double sum_s = 0;
    for (uint32_t i = 0; i < rest; i++) {
        sum_s += hop_time(&hops[i], message);
    }
    struct stretch slowest = {
        .walk = walk, .first = 0, .count = laps * walk->count + rest, .time_s = sum_s};
    uint32_t starts = walk->is_ring ? walk->count : walk->count - rest + 1;
    for (uint32_t first = 1; rest > 0 && first < starts; first++) {
        sum_s -= hop_time(&hops[first - 1], message);
        sum_s += hop_time(&hops[(first + rest - 1) % walk->count], message);
        if (sum_s > slowest.time_s) {
            slowest.first = first;
            slowest.time_s = sum_s;
        }
    }
    slowest.time_s += laps * round_s;
    return slowest;
}

static void charge_stretch(const struct ar_pattern *pattern, const struct stretch *stretch,
                           const struct message *message, struct ar_phase_time *time)
{
    const struct ar_hop *hops = pattern->hops + stretch->walk->first;
    uint32_t count = stretch->walk->count;
    uint32_t laps = stretch->count / count;
    uint32_t rest = stretch->count % count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ar_hop *hop = &hops[(stretch->first + i) % count];
        uint32_t times = laps + (i < rest);
        time->latency_s[hop->tier] += times * latency_s(hop, message);
        time->bandwidth_s[hop->tier] += times * busy_s(hop, message);
    }
}

static const struct ar_hop *slowest_hop(const struct ar_pattern *pattern,
                                        const struct message *message, bool with_latency)
{
    const struct ar_hop *slowest = &pattern->hops[0];
    double slowest_s = 0;
    for (uint32_t i = 0; i < pattern->hops_count; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        double time_s = busy_s(hop, message) + (with_latency ? latency_s(hop, message) : 0);
        if (time_s > slowest_s) {
            slowest = hop;
            slowest_s = time_s;
        }
    }
    return slowest;
}

/* A port or window bound: the slowest hop pays `latencies` and `transfers`. */
static void charge_hop(const struct ar_hop *hop, double latencies, double transfers,
                       const struct message *message, struct ar_phase_time *time)
{
    time->latency_s[hop->tier] = latencies * latency_s(hop, message);
    time->bandwidth_s[hop->tier] = transfers * busy_s(hop, message);
}

static struct stretch slowest_of_all(const struct ar_pattern *pattern, uint32_t steps,
                                     const struct message *message)
{
    struct stretch slowest = {.time_s = -1};
    for (uint32_t i = 0; i < pattern->walks_count; i++) {
        struct stretch stretch = slowest_stretch(pattern, &pattern->walks[i], steps, message);
        slowest = stretch.time_s > slowest.time_s ? stretch : slowest;
    }
    return slowest;
}

/* The longest of the three bounds, and what it is made of. */
static void find_bound(const struct ar_pattern *pattern, uint32_t steps, uint32_t window,
                       const struct message *message, double reduction_s,
                       struct ar_phase_time *time)
{
    uint32_t turns = (steps + window - 1) / window;
    struct stretch slowest = slowest_of_all(pattern, steps, message);
    const struct ar_hop *port = slowest_hop(pattern, message, false);
    const struct ar_hop *turn = slowest_hop(pattern, message, true);
    double hops_s = slowest.time_s + reduction_s;
    double port_s = steps * busy_s(port, message) + latency_s(port, message);
    double window_s = turns * hop_time(turn, message);
    time->slowest_Bps = port->rate_Bps;
    time->slowest_link = port->link;
    time->slowest_flows = port->flows;
    if (hops_s >= port_s && hops_s >= window_s) {
        time->bound = AR_BOUND_HOPS;
        time->time_s = hops_s;
        time->reduction_s = reduction_s;
        charge_stretch(pattern, &slowest, message, time);
    } else if (port_s >= window_s) {
        time->bound = AR_BOUND_PORT;
        time->time_s = port_s;
        charge_hop(port, 1, steps, message, time);
    } else {
        time->bound = AR_BOUND_WINDOW;
        time->time_s = window_s;
        charge_hop(turn, turns, turns, message, time);
    }
}

/* The message of a step that arrives last. */
static void charge_step(const struct ar_closed *closed, uint32_t index, uint32_t step,
                        uint64_t elements, double gamma, struct ar_phase_time *time)
{
    const struct ar_exchange *exchange = closed->patterns[index].exchange;
    const struct ar_exchange_step *flows = &exchange->steps[step];
    const struct ar_message_cost *cost = &ar_cluster_facts(closed->collective.cluster)->message;
    const struct ar_message_kind *slowest = NULL;
    double slowest_s = -1, bytes = 0, most_bytes = 0;
    for (uint32_t i = 0; i < flows->kinds_count; i++) {
        const struct ar_message_kind *kind = &exchange->kinds[flows->first_kind + i];
        double kind_bytes = (double)(pieces_elements(closed, index, kind->pieces, elements) *
                                     closed->collective.element_bytes);
        double kind_s = ar_message_latency_s(kind, cost, kind_bytes) +
                        ar_message_busy_s(kind, cost, kind_bytes);
        most_bytes = kind_bytes > most_bytes ? kind_bytes : most_bytes;
        if (kind_s > slowest_s) {
            slowest = kind;
            slowest_s = kind_s;
            bytes = kind_bytes;
        }
    }
    if (slowest == NULL) {
        return;
    }
    time->latency_s[slowest->tier] += ar_message_latency_s(slowest, cost, bytes);
    time->bandwidth_s[slowest->tier] += ar_message_busy_s(slowest, cost, bytes);
    const struct ar_phase *phase = &closed->phases[index];
    double moves_s_per_byte =
        phase->moves * ar_cluster_facts(closed->collective.cluster)->copy_s_per_byte;
    time->reduction_s += (step < phase->copies_from ? gamma : moves_s_per_byte) * most_bytes;
    time->time_s += slowest_s;
    if (time->slowest_Bps == 0 || slowest->rate_Bps < time->slowest_Bps) {
        time->slowest_Bps = slowest->rate_Bps;
        time->slowest_link = slowest->link;
        time->slowest_flows = slowest->flows;
    }
}

/* Step after step; or the longest one, if all go at once, and all reductions after it. */
static void exchange_time(const struct ar_closed *closed, uint32_t index, uint64_t elements,
                          double gamma, struct ar_phase_time *time)
{
    const struct ar_phase *phase = &closed->phases[index];
    struct ar_phase_time none = *time;
    struct ar_phase_time longest = *time;
    double reduction_s = 0;
    for (uint32_t step = 0; step < phase->steps; step++) {
        struct ar_phase_time *own = phase->is_at_once ? &none : time;
        struct ar_phase_time before = none;
        charge_step(closed, index, step, elements, gamma, own);
        if (phase->is_at_once) {
            longest = none.time_s > longest.time_s ? none : longest;
            reduction_s += none.reduction_s;
            none = before;
        }
    }
    if (phase->is_at_once) {
        *time = longest;
        time->reduction_s = reduction_s;
    }
    time->time_s += time->reduction_s;
}

static void evaluate_phase(const struct ar_closed *closed, uint32_t index, uint64_t elements,
                           struct ar_phase_time *time)
{
    const struct ar_phase *phase = &closed->phases[index];
    *time = (struct ar_phase_time){.name = phase->name, .steps = phase->steps};
    if (phase->steps == 0) {
        return;
    }
    time->message_bytes = ar_closed_message_bytes(closed, index, elements);
    const struct ar_collective *collective = &closed->collective;
    double buffer_bytes = (double)(elements * collective->element_bytes);
    double gamma = ar_cluster_reduce_cost(collective->cluster, buffer_bytes);
    double bytes = (double)time->message_bytes;
    if (phase->kind == AR_PHASE_EXCHANGE) {
        exchange_time(closed, index, elements, gamma, time);
        return;
    }
    if (phase->kind == AR_PHASE_SUMS) {
        double piece_bytes = (double)(pieces_elements(closed, index, 1, elements) *
                                      closed->collective.element_bytes);
        closed_sums_time(&closed->collective, phase, closed->patterns[index].line_sums, piece_bytes,
                         time);
        return;
    }
    if (phase->kind == AR_PHASE_TREE) {
        closed_tree_time(collective, phase, &closed->patterns[index],
                         tree_rates_find(closed->rates[index], bytes), bytes,
                         phase->copies_from > 0 ? gamma * bytes : 0, closed->stations, time);
        return;
    }
    struct message message = {&ar_cluster_facts(collective->cluster)->message, bytes};
    find_bound(&closed->patterns[index], phase->steps, collective->window, &message,
               phase->copies_from * gamma * bytes, time);
}

/* The longest phase waits for the busiest link. */
static void wait_for_links(double missing_s, struct ar_closed_time *time)
{
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

void ar_closed_evaluate(const struct ar_closed *closed, uint64_t elements,
                        struct ar_closed_time *time)
{
    *time = (struct ar_closed_time){.phases_count = closed->phases_count};
    time->setup_s = ar_collective_setup_s(&closed->collective, elements);
    time->time_s = time->setup_s;
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        evaluate_phase(closed, i, elements, &time->phases[i]);
        time->time_s += time->phases[i].time_s;
    }
    time->why = closed_why_not_exact(closed, elements);
    time->exact = time->why[0] == '\0';
    double missing_s = time->setup_s + ar_closed_least_s(closed, elements) - time->time_s;
    if (!time->exact && missing_s > 0) {
        wait_for_links(missing_s, time);
    }
    time->exact_in_queue = time->exact && !closed_is_ragged(closed);
}
