/* Phases of sums: what the lines of each stage of the pipeline can do. */
#include "flows.h"

#include <math.h>

/* A phase of sums while it is resolved. */
struct sums_scratch {
    const struct ar_collective *collective;
    const struct ar_phase *phase;
    uint32_t first_step, positions;
    const struct ar_message_cost *cost;
    const struct ar_paths *paths; /* of the flows, two for each place */
    struct ar_maxmin *maxmin;
    double *buffers;    /* [flow]: of a channel, in each part */
    double *all;        /* [link]: the same, of all stages */
    double *stage;      /* [link]: of one stage */
    uint32_t *messages; /* [link]: of all stages */
};

static struct ar_move sums_move(const struct sums_scratch *at, uint32_t position, uint32_t stage)
{
    return ar_algorithm_move(at->collective->algorithm, &at->collective->shape, at->phase->pieces,
                             position, at->first_step + stage);
}

static size_t sums_flow(const struct sums_scratch *at, uint32_t lane, uint32_t stage,
                        uint32_t position)
{
    return 2 * (((size_t)lane * at->phase->period + stage) * at->positions + position);
}

/* Adds the buffers of the flows of a stage, times `sign`, to their links. */
static void sums_add_stage(const struct sums_scratch *at, uint32_t stage, double sign,
                           double *loads)
{
    const struct ar_paths *paths = at->paths;
    for (uint32_t lane = 0; lane < ar_collective_lanes(at->collective); lane++) {
        size_t first = sums_flow(at, lane, stage, 0);
        for (size_t flow = first; flow < first + 2 * (size_t)at->positions; flow++) {
            for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
                loads[paths->links[i]] += sign * at->buffers[flow];
            }
        }
    }
}

static void sums_find_buffers(const struct sums_scratch *at, double *carried)
{
    const struct ar_phase *phase = at->phase;
    for (uint32_t stage = 0; stage < phase->period; stage++) {
        for (uint32_t position = 0; position < at->positions; position++) {
            struct ar_move move = sums_move(at, position, stage);
            bool receives = move.receive != AR_RECEIVE_NONE;
            for (uint32_t lane = 0; lane < ar_collective_lanes(at->collective); lane++) {
                size_t flow = sums_flow(at, lane, stage, position);
                at->buffers[flow] = move.sends ? (double)move.send_span.count / phase->pieces : 0;
                at->buffers[flow + 1] =
                    receives ? (double)move.receive_span.count / phase->pieces : 0;
            }
        }
        sums_add_stage(at, stage, 1, at->all);
        sums_add_stage(at, stage, (double)phase->steps / phase->period, carried);
    }
    for (size_t flow = 0; flow < at->paths->count; flow++) {
        for (size_t i = at->paths->begin[flow]; i < at->paths->begin[flow + 1]; i++) {
            at->messages[at->paths->links[i]] += at->buffers[flow] > 0;
        }
    }
}

/* The slowest of the ways of a member, to the switch and from it. */
static void line_add_member(const struct sums_scratch *at, size_t first_flow, double largest,
                            struct ar_line_sum *sum, struct ar_line_sums *made)
{
    const struct ar_paths *paths = at->paths;
    for (size_t flow = first_flow; flow < first_flow + 2; flow++) {
        sum->latency_s =
            fmax(sum->latency_s, at->cost->path_s[paths->tiers[flow]] + paths->switches_s[flow]);
        sum->tier = paths->tiers[flow] > sum->tier ? paths->tiers[flow] : sum->tier;
        uint32_t turns = flow_turns(at->maxmin, flow, at->messages, at->collective->channels);
        sum->turns = turns > sum->turns ? turns : sum->turns;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1] && at->buffers[flow] > 0;
             i++) {
            uint32_t link = paths->links[i];
            double s_per_byte = 1 / (at->maxmin->bandwidth_Bps[link] * largest);
            double pace_s = at->all[link] * s_per_byte;
            sum->alone_s_per_byte = fmax(sum->alone_s_per_byte, at->stage[link] * s_per_byte);
            made->is_shared |= at->messages[link] > 1;
            made->is_met |= at->all[link] > at->stage[link] * (1 + 1e-9);
            if (pace_s > sum->pace_s_per_byte) {
                sum->pace_s_per_byte = pace_s;
                sum->link = at->maxmin->known[link];
                sum->flows = at->messages[link];
            }
        }
    }
}

uint64_t ar_line_elements(const struct ar_collective *collective, const struct ar_line *line,
                          uint64_t elements, uint32_t step)
{
    struct ar_move move =
        ar_algorithm_move(collective->algorithm, &collective->shape, elements, line->first, step);
    uint64_t sent = move.sends ? move.send_span.count : 0;
    uint64_t received = move.receive != AR_RECEIVE_NONE ? move.receive_span.count : 0;
    return sent > received ? sent : received;
}

static bool are_lines_alike(const struct ar_message_cost *cost, const struct ar_line_sum *a,
                            const struct ar_line_sum *b)
{
    return a->latency_s == b->latency_s && a->pieces == b->pieces &&
           (cost->gap_s == 0 || a->turns == b->turns) &&
           fabs(a->alone_s_per_byte - b->alone_s_per_byte) <= 1e-9 * b->alone_s_per_byte &&
           fabs(a->pace_s_per_byte - b->pace_s_per_byte) <= 1e-9 * b->pace_s_per_byte;
}

/* The lines of a stage on all lanes; they have their place, which counts on lane by lane. */
static void sums_find_stage(const struct sums_scratch *at, uint32_t stage,
                            struct ar_line_sums *made)
{
    const struct ar_line_sum *any = NULL;
    sums_add_stage(at, stage, 1, at->stage);
    for (uint32_t lane = 0; lane < ar_collective_lanes(at->collective); lane++) {
        uint32_t index = made->first[lane * made->stages + stage];
        for (uint32_t position = 0; position < at->positions; position++) {
            struct ar_line line = sums_move(at, position, stage).line;
            if (line.first == position) {
                struct ar_line_sum *sum = &made->lines[index++];
                *sum = (struct ar_line_sum){.line = line, .tier = AR_TIER_NVLINK};
                sum->pieces = (uint32_t)ar_line_elements(at->collective, &line, at->phase->pieces,
                                                         at->first_step + stage);
                double largest = (double)sum->pieces / at->phase->pieces;
                for (uint32_t i = 0; i < line.count; i++) {
                    line_add_member(at, sums_flow(at, lane, stage, line.first + i * line.stride),
                                    largest, sum, made);
                }
                any = any != NULL ? any : sum;
                made->is_uniform = made->is_uniform && are_lines_alike(at->cost, sum, any);
            }
        }
    }
    sums_add_stage(at, stage, -1, at->stage);
}

void flows_resolve_sums(struct flows_scratch *scratch, const struct ar_phase *phase,
                        uint32_t first_step, struct ar_pattern *pattern)
{
    const struct ar_collective *collective = scratch->collective;
    const struct ar_phase_flows *flows = &scratch->peers;
    struct ar_line_sums *made = ar_arena_alloc(scratch->arena, 1, sizeof *made);
    size_t taken_max, links = flows_links_count(collective, &taken_max);
    size_t stages = (size_t)ar_collective_lanes(collective) * phase->period;
    uint32_t lines = 0;
    struct sums_scratch at = {
        .collective = collective,
        .phase = phase,
        .first_step = first_step,
        .positions = ar_shape_ranks(&collective->shape),
        .cost = scratch->cost,
        .paths = &scratch->rates.paths,
        .maxmin = &scratch->rates,
        .buffers = ar_arena_alloc(scratch->room, flows->flows_count, sizeof *at.buffers),
        .all = ar_arena_alloc(scratch->room, links, sizeof *at.all),
        .stage = ar_arena_alloc(scratch->room, links, sizeof *at.stage),
        .messages = ar_arena_alloc(scratch->room, links, sizeof *at.messages),
    };
    ar_maxmin_find_paths(&scratch->rates, flows->flows, flows->flows_count, 0);
    *made = (struct ar_line_sums){
        .stages = phase->period,
        .first = ar_arena_alloc(scratch->arena, stages + 1, sizeof *made->first),
        .is_uniform = true,
    };
    for (size_t i = 0; i < stages; i++) {
        made->first[i] = lines;
        for (uint32_t position = 0; position < at.positions; position++) {
            lines += sums_move(&at, position, (uint32_t)(i % phase->period)).line.first == position;
        }
    }
    made->first[stages] = lines;
    made->lines = ar_arena_alloc(scratch->arena, lines, sizeof *made->lines);
    sums_find_buffers(&at, scratch->rates.carried);
    for (uint32_t stage = 0; stage < phase->period; stage++) {
        sums_find_stage(&at, stage, made);
    }
    pattern->line_sums = made;
    pattern->is_uniform = made->is_uniform;
    pattern->is_shared = made->is_shared;
}
