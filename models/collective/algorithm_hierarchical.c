/* The two-level algorithm: each group of X ranks reduces to its leader, the Y leaders run a ring on
 * the whole buffer, each leader broadcasts to its group. 4(X-1) + 2(Y-1) steps. The reduction is a
 * reduce-scatter and a gather, the broadcast a scatter and an all-gather, so that a group moves
 * n/X per step. */
#include "algorithms.h"
#include "rings.h"

static uint32_t phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t x = shape->x;
    uint32_t y = shape->y;
    uint64_t ring_messages = (uint64_t)ar_shape_ranks(shape) * (x - 1);
    uint64_t chain_messages = ring_messages / 2; /* member i of X passes on X - i parts */
    struct ar_phase reduce_scatter = {.name = "group reduce-scatter",
                                      .steps = x - 1,
                                      .parts = x,
                                      .messages = ring_messages,
                                      .copies_from = x - 1};
    struct ar_phase leader_ring = {.name = "leader ring",
                                   .steps = 2 * (y - 1),
                                   .parts = y,
                                   .messages = 2ull * (y - 1) * y,
                                   .copies_from = y - 1};
    struct ar_phase copies = {.steps = x - 1, .parts = x, .copies_from = 0};
    phases[0] = reduce_scatter;
    phases[1] = copies;
    phases[1].name = "group gather";
    phases[1].messages = chain_messages;
    phases[2] = leader_ring;
    phases[3] = phases[1];
    phases[3].name = "group scatter";
    phases[4] = copies;
    phases[4].name = "group all-gather";
    phases[4].messages = ring_messages;
    return 5;
}

static struct ar_move move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    uint32_t x = shape->x;
    uint32_t y = shape->y;
    uint32_t member = position % x;
    uint32_t leader = position - member;
    uint32_t leader_steps = 2 * (y - 1);
    struct ar_span whole = {.first = 0, .count = elements};

    if (step < x - 1) {
        return move_of_parts(ring_reduce_scatter(x, member, step), leader, 1, whole, x);
    }
    step -= x - 1;
    if (step < x - 1) {
        return move_of_parts(chain_gather(x, member, step), leader, 1, whole, x);
    }
    step -= x - 1;
    if (step < leader_steps) {
        if (member != 0) {
            return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
        }
        return move_of_parts(ring_all_reduce(y, position / x, step), 0, x, whole, y);
    }
    step -= leader_steps;
    if (step < x - 1) {
        return move_of_parts(chain_scatter(x, member, step), leader, 1, whole, x);
    }
    step -= x - 1;
    return move_of_parts(ring_all_gather(x, member, step), leader, 1, whole, x);
}

const struct ar_algorithm ar_algorithm_hierarchical = {
    .name = "hierarchical",
    .title = "two-level: reduce in groups, ring of the group leaders, broadcast in groups",
    .formula = "4(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(Y B)) "
               "+ gamma n ((X-1)/X + (Y-1)/Y)",
    .source =
        "three phases and step count after Jia et al., Highly scalable deep learning training "
        "system with mixed-precision, arXiv:1807.11205 (2018)",
    .shape_help = "XxY: Y groups of X ranks (default: one group per node)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    .calls = AR_CALLS_LEADERS,
    .phases = phases,
    .move = move,
};
