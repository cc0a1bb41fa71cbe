#include "closed.h"

#include <math.h>

/* The slowest line of a stage, on all lanes. */
static struct ar_line_sum slowest_line(const struct ar_line_sums *sums, uint32_t lanes,
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
        }
    }
    return slowest;
}

/* What the parts behind the first one add at a stage. */
struct wait {
    double latency_s, bandwidth_s;
    enum ar_bound bound;
};

static struct wait wait_at(const struct ar_line_sum *line, uint32_t parts, uint32_t window,
                           double bytes)
{
    uint32_t turns = (parts + window - 1) / window - 1;
    double alone_s = bytes * line->alone_s_per_byte;
    double port_s = (parts - 1) * bytes * line->pace_s_per_byte;
    /* The last of the parts that its window holds follow each other. */
    double behind_s = (parts - 1 - turns * window) * bytes * line->pace_s_per_byte;
    if (turns * (line->latency_s + alone_s) + behind_s <= port_s) {
        return (struct wait){0, port_s, parts > 1 ? AR_BOUND_PORT : AR_BOUND_HOPS};
    }
    return (struct wait){turns * line->latency_s, turns * alone_s + behind_s, AR_BOUND_WINDOW};
}

void closed_sums_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_line_sums *sums, double piece_bytes,
                      struct ar_phase_time *time)
{
    uint32_t lanes = ar_collective_lanes(collective);
    struct wait longest = {.bandwidth_s = -1};
    enum ar_tier tier = AR_TIER_NVLINK;
    for (uint32_t stage = 0; stage < sums->stages; stage++) {
        struct ar_line_sum line = slowest_line(sums, lanes, stage);
        const struct ar_message_cost *cost = &ar_cluster_facts(collective->cluster)->message;
        double own_bytes = piece_bytes * line.pieces;
        double bytes = ar_line_busy_bytes(&line, cost, own_bytes);
        line.latency_s = ar_line_latency_s(&line, cost, own_bytes);
        struct wait wait = wait_at(&line, phase->steps / phase->period, collective->window, bytes);
        time->latency_s[line.tier] += line.latency_s;
        time->bandwidth_s[line.tier] += bytes * line.alone_s_per_byte;
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
    time->latency_s[tier] += longest.latency_s;
    time->bandwidth_s[tier] += longest.bandwidth_s;
    time->time_s += longest.latency_s + longest.bandwidth_s;
}
