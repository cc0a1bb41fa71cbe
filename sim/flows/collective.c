#include "ar_collective.h"

#include <inttypes.h>
#include <string.h>

/* --- who sends to whom ---------------------------------------------------------------------- */

void ar_phase_flows_create(struct ar_arena *arena, const struct ar_collective *collective,
                           const struct ar_phase *phases, uint32_t phases_count,
                           struct ar_phase_flows *flows)
{
    size_t period = 1;
    bool has_sums = false;
    for (uint32_t i = 0; i < phases_count; i++) {
        has_sums = has_sums || phases[i].kind == AR_PHASE_SUMS;
        period = ar_phase_period(&phases[i]) > period ? ar_phase_period(&phases[i]) : period;
    }
    size_t places = ar_shape_ranks(&collective->shape) * period;
    size_t flows_max = places * ar_collective_lanes(collective) * (has_sums ? 2 : 1);
    *flows = (struct ar_phase_flows){
        .positions = ar_shape_ranks(&collective->shape),
        .peers = ar_arena_room(arena, places, sizeof *flows->peers),
        .first_steps = ar_arena_room(arena, places, sizeof *flows->first_steps),
        .sends = ar_arena_room(arena, places, sizeof *flows->sends),
        .flow_of = ar_arena_room(arena, places, sizeof *flows->flow_of),
        .ranks = ar_arena_room(arena, ar_shape_ranks(&collective->shape), sizeof *flows->ranks),
        .flows = ar_arena_room(arena, flows_max, sizeof *flows->flows)};
}

/* Finds the flows to the switches of all stages of the pipeline, and from them. */
static void sums_find_flows(const struct ar_collective *collective, const struct ar_phase *phase,
                            uint32_t first_step, struct ar_phase_flows *flows)
{
    struct ar_order order = ar_collective_order(collective);
    size_t each = (size_t)order.ranks * phase->period;
    for (size_t i = 0; i < each; i++) {
        uint32_t position = (uint32_t)(i % order.ranks);
        struct ar_line line = ar_algorithm_move(collective->algorithm, &collective->shape, 0,
                                                position, first_step + (uint32_t)(i / order.ranks))
                                  .line;
        uint32_t index = (position - line.first) / line.stride;
        uint32_t next = line.first + (index + 1) % line.count * line.stride;
        uint32_t last = line.first + (index + line.count - 1) % line.count * line.stride;
        for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
            struct ar_flow *flow = &flows->flows[2 * (lane * each + i)];
            uint32_t rank = ar_order_rank(&order, lane, position);
            flow[0] = (struct ar_flow){rank, AR_SWITCH | ar_order_rank(&order, lane, next)};
            flow[1] = (struct ar_flow){AR_SWITCH | ar_order_rank(&order, lane, last), rank};
        }
    }
    flows->flows_count = 2 * each * ar_collective_lanes(collective);
}

void ar_phase_flows_find(const struct ar_collective *collective, const struct ar_phase *phase,
                         uint32_t first_step, struct ar_phase_flows *flows)
{
    struct ar_order order = ar_collective_order(collective);
    uint32_t ranks = flows->positions;
    size_t each = (size_t)ranks * ar_phase_period(phase);
    if (phase->kind == AR_PHASE_SUMS) {
        sums_find_flows(collective, phase, first_step, flows);
        return;
    }
    /* The peers of the first lane, which all lanes have. */
    struct ar_arena room AR_ENDS_HERE = {NULL};
    uint32_t steps = phase->kind == AR_PHASE_EXCHANGE ? 1 : phase->steps;
    struct ar_sends sends = {.end = ranks, .peers = flows->ranks};
    uint64_t senders = 0;
    bool is_tree = phase->kind == AR_PHASE_TREE, is_even = is_tree;
    memset(flows->peers, 0xff, each * sizeof *flows->peers); /* AR_NEVER */
    memset(flows->sends, 0, each * sizeof *flows->sends);
    for (size_t place = 0; place < each && is_tree; place++) {
        struct ar_move move;
        flows->first_steps[place] = ar_algorithm_find_step(
            collective->algorithm, &collective->shape, phase, first_step, (uint32_t)(place % ranks),
            (uint32_t)(place / ranks), true, &move);
        if (flows->first_steps[place] != AR_NEVER) {
            flows->peers[place] = move.send_to;
        }
    }
    sends.counts = is_tree ? NULL : ar_arena_room(&room, ranks, sizeof *sends.counts);
    for (uint32_t step = 0; step < steps && !is_even; step++) {
        ar_algorithm_sends(collective->algorithm, &collective->shape, 0, first_step + step, &sends);
        for (uint32_t position = 0; position < ranks; position++) {
            if (sends.peers[position] != AR_NEVER) {
                flows->peers[position] = sends.peers[position];
                flows->sends[position]++;
                senders += step == 0;
            }
        }
        is_even = senders * steps * (order.ranks / ranks) == phase->messages; /* all go on */
    }
    senders = 0;
    for (size_t place = 0; place < each; place++) {
        flows->sends[place] = is_tree ? phase->parts : is_even ? steps : flows->sends[place];
        flows->flow_of[place] = (uint32_t)senders;
        senders += flows->peers[place] != AR_NEVER;
    }
    flows->flows_count = 0;
    flows->lane_flows = senders;
    for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
        for (uint32_t position = 0; position < ranks; position++) {
            flows->ranks[position] = ar_order_rank(&order, lane, position);
        }
        for (size_t i = 0; i < each; i++) {
            uint32_t peer = flows->peers[i];
            if (peer != AR_NEVER) {
                flows->flows[flows->flows_count++] = (struct ar_flow){
                    flows->ranks[i % ranks],
                    peer < ranks ? flows->ranks[peer] : ar_order_rank(&order, lane, peer)};
            }
        }
    }
}

/* --- checks --------------------------------------------------------------------------------- */

/* Checks the members of each line in each phase of sums, in each stage, on each lane. */
static enum ar_status collective_check_lines(const struct ar_collective *collective,
                                             struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_phase_flows flows;
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    uint32_t positions = ar_shape_ranks(&collective->shape), first_step = 0;
    ar_phase_flows_create(&arena, collective, phases, phases_count, &flows);
    for (uint32_t p = 0; p < phases_count; first_step += phases[p++].steps) {
        if (phases[p].kind != AR_PHASE_SUMS || phases[p].steps == 0) {
            continue;
        }
        size_t each = (size_t)positions * phases[p].period;
        ar_phase_flows_find(collective, &phases[p], first_step, &flows);
        for (size_t i = 0; i < each * ar_collective_lanes(collective); i++) {
            uint32_t position = (uint32_t)(i % positions);
            struct ar_move move =
                ar_algorithm_move(collective->algorithm, &collective->shape, phases[p].pieces,
                                  position, first_step + (uint32_t)(i % each / positions));
            const struct ar_flow *head = &flows.flows[2 * (i - position + move.line.first)];
            enum ar_sums line_sums;
            AR_TRY(ar_cluster_find_sums(collective->cluster, head->source,
                                        head->destination & ~AR_SWITCH, &line_sums, err));
            /* The member sends and gets this, and its switch sends to the next one. */
            const struct ar_flow *flow = &flows.flows[2 * i];
            uint32_t next = flow->destination & ~AR_SWITCH;
            enum ar_sums sums;
            AR_TRY(ar_cluster_find_sums(collective->cluster, flow->source, next, &sums, err));
            bool is_even = move.sends && move.receive != AR_RECEIVE_NONE &&
                           move.send_span.count == move.receive_span.count;
            AR_REFUSE(sums == AR_SUMS_TREE && !is_even, err, AR_USAGE,
                      "GPUs %" PRIu32 " and %" PRIu32
                      " of a row: found several switches between them; expected one, whose GPUs "
                      "may send and get unlike parts",
                      flow->source, next);
            AR_REFUSE((sums == AR_SUMS_NVLINK) != (line_sums == AR_SUMS_NVLINK), err, AR_USAGE,
                      "GPUs %" PRIu32 " and %" PRIu32
                      " of a row or column: found them %s one NVLink domain, others %s; expected "
                      "one GPU of each node in a column",
                      flow->source, next, sums == AR_SUMS_NVLINK ? "in" : "not in",
                      sums == AR_SUMS_NVLINK ? "not" : "in one");
        }
    }
    return AR_OK;
}

enum ar_status ar_collective_check_sums(const struct ar_collective *collective,
                                        struct ar_error *err)
{
    if (collective->algorithm == NULL || !collective->algorithm->wants_sums) {
        return AR_OK;
    }
    enum ar_status status = collective_check_lines(collective, err);
    if (status == AR_USAGE) {
        struct ar_error why = *err;
        (void)ar_error_set(err, AR_USAGE, "algorithm %s, shape %s: %s", collective->algorithm->name,
                           AR_SHOW_SHAPE(&collective->shape), why.text);
    }
    return status;
}

enum ar_status ar_collective_check(const struct ar_collective *collective, struct ar_error *err)
{
    uint64_t exist = ar_cluster_gpus_count(collective->cluster);
    uint64_t ranks = ar_collective_groups(collective);
    for (uint32_t i = 0; i < AR_DIMENSIONS_MAX && ranks <= UINT32_MAX; i++) {
        ranks *= ar_shape_length(&collective->shape, i);
    }
    AR_REFUSE(ranks > exist, err, AR_USAGE,
              "%" PRIu64 " GPUs asked for; expected at most %" PRIu64 ", all that cluster %s has",
              ranks, exist, ar_cluster_facts(collective->cluster)->name);
    uint32_t channels_max = AR_CHANNELS_MAX * ar_algorithm_channels(collective->algorithm);
    AR_REFUSE(collective->channels < 1 || collective->channels > channels_max, err, AR_USAGE,
              "%" PRIu32 " channels; expected 1 to %" PRIu32, collective->channels, channels_max);
    AR_REFUSE(collective->window < 1 || collective->window > AR_WINDOW_MAX, err, AR_USAGE,
              "window of %" PRIu32 " messages; expected 1 to %d", collective->window,
              AR_WINDOW_MAX);
    AR_REFUSE(collective->algorithm != NULL &&
                  collective->algorithm->operation != collective->operation,
              err, AR_USAGE, "algorithm %s: found %s; expected %s, which it is for",
              collective->algorithm->name, collective->operation->name,
              collective->algorithm->operation->name);
    AR_TRY(ar_algorithm_check_shape(collective->algorithm, &collective->shape, err));
    uint32_t positions = ar_shape_ranks(&collective->shape);
    uint32_t in_group =
        collective->mesh.axes_count > 0 ? ar_mesh_group_ranks(&collective->mesh) : positions;
    AR_REFUSE(in_group != positions, err, AR_USAGE,
              "shape %s: has %" PRIu32 " places; expected %" PRIu32
              ", the GPUs of a group of the mesh",
              AR_SHOW_SHAPE(&collective->shape), positions, in_group);
    AR_REFUSE(collective->root >= positions, err, AR_USAGE,
              "root %" PRIu32 "; expected 0 to %" PRIu32, collective->root, positions - 1);
    return ar_collective_check_sums(collective, err);
}

uint32_t ar_collective_groups(const struct ar_collective *collective)
{
    uint32_t copies = collective->copies > 0 ? collective->copies : 1;
    return collective->mesh.axes_count > 0 ? ar_mesh_groups(&collective->mesh) / copies : 1;
}

uint32_t ar_collective_lanes(const struct ar_collective *collective)
{
    return ar_collective_groups(collective) * collective->channels;
}

uint32_t ar_collective_ranks(const struct ar_collective *collective)
{
    return ar_collective_groups(collective) * ar_shape_ranks(&collective->shape);
}

struct ar_order ar_collective_order(const struct ar_collective *collective)
{
    uint32_t gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    bool has_mesh = collective->mesh.axes_count > 0;
    uint32_t members = collective->operation->is_in_order ? 1
                       : has_mesh ? ar_mesh_node_members(&collective->mesh, gpus_per_node)
                                  : gpus_per_node;
    bool is_plain = collective->has_plain_orders || members != gpus_per_node;
    bool is_uneven = has_mesh && members == 1 && !collective->operation->is_in_order &&
                     ar_mesh_rank(&collective->mesh, 0, 1) < gpus_per_node;
    return (struct ar_order){
        .ranks = ar_shape_ranks(&collective->shape),
        .node_members = members,
        .uneven_node = is_uneven ? gpus_per_node : 0,
        .channels = collective->channels,
        .mirror_group = ar_algorithm_channels(collective->algorithm) > 1 ? collective->shape.x : 0,
        .root = collective->root,
        .has_root = collective->operation->has_root,
        .gpu_orders = is_plain ? NULL : ar_cluster_gpu_orders(collective->cluster),
        .mesh = has_mesh ? &collective->mesh : NULL};
}

uint64_t ar_collective_messages(const struct ar_collective *collective)
{
    return ar_collective_lanes(collective) *
           ar_algorithm_messages(collective->algorithm, &collective->shape);
}

double ar_collective_setup_s(const struct ar_collective *collective, uint64_t elements)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(collective->cluster);
    double bytes = (double)elements * collective->element_bytes;
    double fresh = bytes > AR_LARGE_BUFFER_BYTES ? collective->algorithm->scratch * bytes : 0;
    return facts->collective_setup_s + fresh * facts->fresh_s_per_byte;
}
