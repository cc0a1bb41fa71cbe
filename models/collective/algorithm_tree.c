/* A pipelined binary tree: the ranks of a group form a chain, the first ranks of the groups a
 * binary tree; the buffer goes up to the root in parts, each node adding its own, and comes down
 * again. The second half of the channels run the mirror image of the first, in which groups with
 * children are leaves and leaves have children: the double binary tree.
 *
 * The steps of a period belong to the left child, the right child and the chain of a node. Seen
 * from the root, who sends a part does so in the last step of its own before its parent does. So
 * nobody waits for a part before it has sent the one before, and the sum of the hops is all that a
 * small buffer pays. The way down is the way up backwards in time.
 *
 * The two trees are two channels, not two parts of one: a rank that takes its steps in one order
 * would pay a latency for each part whenever it waits for one tree before it serves the other. */
#include "blocks.h"

/* Parts of a shape that says none: up to 8 are in flight with the standard window, so more of them
 * cost small buffers latency; with fewer, large ones wait longer for the first part to come through
 * (models/collective/README.md). */
enum { PARTS = 8 };

static uint32_t tree_parts(const struct ar_shape *shape)
{
    return shape->parts > 0 ? shape->parts : PARTS;
}

/* The steps of a period, by the child that sends or is sent to. */
enum { LEFT, RIGHT, CHAIN, PERIOD };

/* The least power of two that is not below a number of groups. */
static uint64_t span_of(uint32_t groups)
{
    return groups > 1 ? (uint64_t)1 << (32 - __builtin_clz(groups - 1)) : 1;
}

/* Hops from the farthest leaf to the root: X - 1 along the chain, then log2 Y rounded up. */
static uint32_t depth_of(const struct ar_shape *shape)
{
    return shape->x - 1 + (uint32_t)__builtin_ctzll(span_of(shape->y));
}

static uint64_t lowest_bit(uint32_t group)
{
    return group & (~(uint64_t)group + 1);
}

/* Group 0 is the root; others are between their children, as far from both as their lowest bit
 * says: 8 between 4 and 12. Where the parent would be beyond the last group, it is that below. */
static uint32_t parent_of(uint32_t groups, uint32_t group)
{
    uint64_t bit = lowest_bit(group);
    uint64_t below = group - bit;
    uint64_t above = below | bit << 1;
    return (uint32_t)(above < groups ? above : below);
}

static uint32_t child_of(uint32_t groups, uint32_t group, uint32_t side)
{
    uint64_t half = (group == 0 ? span_of(groups) : lowest_bit(group)) / 2;
    if (half == 0 || (side == LEFT && group == 0)) {
        return AR_NEVER;
    }
    if (side == LEFT) {
        return (uint32_t)(group - half);
    }
    while (half > 0 && group + half >= groups) {
        half /= 2;
    }
    return half > 0 ? (uint32_t)(group + half) : AR_NEVER;
}

/* By how many steps a child sends a part before its parent does. */
static uint32_t lead_over(uint32_t side_of_parent, uint32_t side)
{
    uint32_t lead = (side_of_parent + PERIOD - side) % PERIOD;
    return lead == 0 ? PERIOD : lead;
}

static uint32_t side_of(uint32_t groups, uint32_t group)
{
    return group > 0 && group > parent_of(groups, group) ? RIGHT : LEFT;
}

/* Which child of its parent a position is. */
static uint32_t side_at(const struct ar_shape *shape, uint32_t position)
{
    return position % shape->x > 0 ? CHAIN : side_of(shape->y, position / shape->x);
}

static uint32_t parent_at(const struct ar_shape *shape, uint32_t position)
{
    return position == 0             ? AR_NEVER
           : position % shape->x > 0 ? position - 1
                                     : parent_of(shape->y, position / shape->x) * shape->x;
}

/* The step in which a position sends the first part, or would if it is the root: before its parent
 * does, by each hop. In its period it is the step of its side. */
static uint32_t first_at(const struct ar_shape *shape, uint32_t position)
{
    uint32_t group = position / shape->x, member = position % shape->x;
    uint32_t side = side_of(shape->y, group), first = PERIOD * depth_of(shape);
    first -= member > 0 ? lead_over(side, CHAIN) + (member - 1) * PERIOD : 0;
    for (uint32_t parent = parent_of(shape->y, group), child = side; group > 0; child = side) {
        group = parent;
        parent = parent_of(shape->y, group);
        side = group > parent ? RIGHT : LEFT;
        first -= lead_over(side, child);
    }
    return first;
}

/* The child on a side of a position, AR_NEVER if there is none. */
static uint32_t child_at(const struct ar_shape *shape, uint32_t position, uint32_t side)
{
    uint32_t member = position % shape->x;
    if (side == CHAIN) {
        return member + 1 < shape->x ? position + 1 : AR_NEVER;
    }
    uint32_t child = member == 0 ? child_of(shape->y, position / shape->x, side) : AR_NEVER;
    return child == AR_NEVER ? AR_NEVER : child * shape->x;
}

/* The part whose turn it is when one is sent in every period from `first` on; `parts` if none. */
static uint32_t part_due(uint32_t parts, uint32_t step, uint32_t first)
{
    uint32_t part = step >= first && (step - first) % PERIOD == 0 ? (step - first) / PERIOD : parts;
    return part < parts ? part : parts;
}

/* Steps of a phase, up or down. */
static uint32_t steps_of(const struct ar_shape *shape)
{
    uint32_t depth = depth_of(shape);
    return depth > 0 ? PERIOD * (tree_parts(shape) - 1 + depth) : 0;
}

static struct ar_phase phase_of(const struct ar_shape *shape, const char *name, bool reduces)
{
    uint32_t steps = steps_of(shape);
    return (struct ar_phase){.name = name,
                             .kind = AR_PHASE_TREE,
                             .steps = steps,
                             .parts = tree_parts(shape),
                             .messages = (uint64_t)tree_parts(shape) * (ar_shape_ranks(shape) - 1),
                             .copies_from = reduces ? steps : 0,
                             .period = PERIOD};
}

static uint32_t phases_up(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    phases[0] = phase_of(shape, "tree reduce", true);
    return 1;
}

static uint32_t phases_down(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    phases[0] = phase_of(shape, "tree broadcast", false);
    return 1;
}

static uint32_t phases_both(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    phases[0] = phase_of(shape, "tree reduce", true);
    phases[1] = phase_of(shape, "tree broadcast", false);
    return 2;
}

static struct ar_slice slice_of(const struct ar_shape *shape, uint64_t elements, uint32_t part)
{
    struct ar_span whole = {.first = 0, .count = elements};
    return ar_slice_all(ar_span_part(whole, tree_parts(shape), part));
}

/* In a step of the way up; or the same backwards: what was received is sent, what was sent is
 * received, the last part first. */
static struct ar_move one_way(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                              uint32_t step, bool is_down)
{
    uint32_t side = step % PERIOD, own_side = side_at(shape, position);
    uint32_t child = child_at(shape, position, side), parent = parent_at(shape, position);
    if (side != own_side && child == AR_NEVER) {
        return (struct ar_move){.sends = false};
    }
    uint32_t parts = tree_parts(shape), first = first_at(shape, position);
    uint32_t own = part_due(parts, step, first);
    uint32_t part = part_due(parts, step, first - lead_over(own_side, side));
    bool meets_parent = parent != AR_NEVER && own < parts;
    bool meets_child = child != AR_NEVER && part < parts;
    struct ar_move move = {.sends = is_down ? meets_child : meets_parent};
    if (move.sends) {
        move.send_to = is_down ? child : parent;
        move.send_span = slice_of(shape, elements, is_down ? parts - 1 - part : own);
    }
    if (is_down ? meets_parent : meets_child) {
        move.receive = is_down ? AR_RECEIVE_COPY : AR_RECEIVE_REDUCE;
        move.receive_from = is_down ? parent : child;
        move.receive_span = slice_of(shape, elements, is_down ? parts - 1 - own : part);
    }
    return move;
}

static struct ar_move move_up(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                              uint32_t step)
{
    return one_way(shape, elements, position, step, false);
}

static struct ar_move move_down(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    return one_way(shape, elements, position, steps_of(shape) - 1 - step, true);
}

static struct ar_move move_both(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    uint32_t steps = steps_of(shape);
    return step < steps ? move_up(shape, elements, position, step)
                        : move_down(shape, elements, position, step - steps);
}

/* When a position sends its first part up, or gets that of the child at a place of the period. */
static uint32_t step_up(const struct ar_shape *shape, uint32_t position, uint32_t place, bool sends)
{
    uint32_t side = side_at(shape, position);
    if (sends) {
        return position > 0 && side == place ? first_at(shape, position) : AR_NEVER;
    }
    return child_at(shape, position, place) != AR_NEVER
               ? first_at(shape, position) - lead_over(side, place)
               : AR_NEVER;
}

uint32_t tree_step(const struct ar_shape *shape, const struct ar_phase *phase, uint32_t position,
                   uint32_t place, bool sends)
{
    if (phase->copies_from > 0) {
        return step_up(shape, position, place, sends);
    }
    /* The way down begins where the last part goes up, backwards in time. */
    for (uint32_t place_up = 0; place_up < PERIOD; place_up++) {
        uint32_t up = step_up(shape, position, place_up, !sends);
        uint32_t step =
            up == AR_NEVER ? up : steps_of(shape) - 1 - up - (tree_parts(shape) - 1) * PERIOD;
        if (up != AR_NEVER && step % PERIOD == place) {
            return step;
        }
    }
    return AR_NEVER;
}

/* NCCL's chunks. Those of an all-reduce by trees are halved while a channel has fewer of them than
 * so many for each hop to the root, down to a least size; source: NVIDIA/nccl 2.8 to 2.19,
 * src/enqueue.cc, tree with protocol Simple, and src/graph/connect.cc for the hops. */
enum { CHUNK_BYTES = 4194304 / 8 }; /* a step of its buffer */

static uint32_t parts_in(uint64_t bytes, uint64_t chunk_bytes)
{
    uint64_t parts = (bytes + chunk_bytes - 1) / chunk_bytes;
    return (uint32_t)(parts < 1 ? 1 : parts > AR_PARTS_MAX ? AR_PARTS_MAX : parts);
}

static uint32_t tree_chunks(const struct ar_shape *shape, uint64_t bytes, uint32_t channels)
{
    static const struct {
        uint32_t per_hop, least_bytes;
    } limits[] = {{8, 131072}, {4, 65536}, {1, 32768}};
    uint64_t chunk = CHUNK_BYTES;
    uint32_t hops = shape->x - 1;
    for (uint32_t nodes = shape->y; nodes > 1; nodes /= 2) {
        hops++;
    }
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        while (bytes / (channels * chunk) < (uint64_t)hops * limits[i].per_hop &&
               chunk > limits[i].least_bytes) {
            chunk /= 2;
        }
    }
    return parts_in(bytes, channels * chunk);
}

static uint32_t chain_chunks(const struct ar_shape *shape, uint64_t bytes, uint32_t channels)
{
    (void)shape;
    return parts_in(bytes, (uint64_t)channels * CHUNK_BYTES);
}

static const char two_trees[] =
    "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and "
    "scan, Parallel Computing 35 (2009); trees as in NCCL 2.4";

ALGORITHM(
    tree, all_reduce, "tree",
    "double binary tree of the groups, chains in the groups: reduce to the root, then broadcast",
    "2 (X-1 + log2 Y) (alpha + n/(8 B)) + 13 n/(8 B) + gamma n (X-1 + log2 Y)/16", two_trees,
    .shapes = AR_SHAPES_GROUPS, .calls = AR_CALLS_TREE, .nccl_chunks = tree_chunks,
    .has_mirror = true, .phases = phases_both, .move = move_both);

ALGORITHM(reduce_tree, reduce, "tree",
          "binary tree of the groups, chains in the groups, in 8 parts",
          "(X-1 + log2 Y) (alpha + n/(8 B)) + 7 n/(4 B) + gamma n (X-1 + log2 Y)/8", two_trees,
          .shapes = AR_SHAPES_GROUPS, .phases = phases_up, .move = move_up);

ALGORITHM(broadcast_tree, broadcast, "tree",
          "binary tree of the groups, chains in the groups, in 8 parts",
          "(X-1 + log2 Y) (alpha + n/(8 B)) + 7 n/(4 B)", two_trees, .shapes = AR_SHAPES_GROUPS,
          .phases = phases_down, .move = move_down);

static const char chain_source[] = "the pipelined chain of NCCL's broadcast and reduce";
static const char chain_help[] = "Nx1 (one chain of all ranks)";

ALGORITHM(reduce_chain, reduce, "chain",
          "from the last rank to the root one after the other, in 8 parts",
          "(N-1) (alpha + n/(8 B)) + 7 n/(8 B) + gamma n (N-1)/8", chain_source,
          .shape_help = chain_help, .calls = AR_CALLS_RING, .nccl_chunks = chain_chunks,
          .phases = phases_up, .move = move_up);

ALGORITHM(broadcast_chain, broadcast, "chain",
          "from the root to the last rank one after the other, in 8 parts",
          "(N-1) (alpha + n/(8 B)) + 7 n/(8 B)", chain_source, .shape_help = chain_help,
          .calls = AR_CALLS_RING, .nccl_chunks = chain_chunks, .phases = phases_down,
          .move = move_down);
