/* The moves of the blocks of blocks.h: who sends which parts to whom in each step. */
#include "blocks.h"

/* --- counts ---------------------------------------------------------------------------------- */

/* log2 of a size, at least 1, rounded down and up. */
static uint32_t log2_down(uint32_t size)
{
    return 31 - (uint32_t)__builtin_clz(size);
}

static uint32_t log2_up(uint32_t size)
{
    return size > 1 ? log2_down(size - 1) + 1 : 0;
}

/* Pairs that are folded, see the header. */
static uint32_t folded_pairs(uint32_t size)
{
    return size - (1u << log2_down(size));
}

/* A function of the number of members: for the columns `steps`, `messages` and `parts`. */
#define COUNT(type, name, formula)                                                                 \
    static type name(uint32_t size)                                                                \
    {                                                                                              \
        (void)size;                                                                                \
        return formula;                                                                            \
    }

COUNT(uint32_t, one_step, 1)
COUNT(uint32_t, one_round, size - 1)
COUNT(uint32_t, two_rounds, 2 * (size - 1))
COUNT(uint32_t, half_a_round, size / 2)
COUNT(uint32_t, fold_steps, folded_pairs(size) > 0)

COUNT(uint64_t, one_message, 1)
COUNT(uint64_t, one_to_each, size - 1)
COUNT(uint64_t, one_from_each, size)
COUNT(uint64_t, all_to_each, (size - 1) * (uint64_t)size)
COUNT(uint64_t, twice_all_to_each, 2 * all_to_each(size))
COUNT(uint64_t, chain_messages, all_to_each(size) / 2) /* member i passes on size - i parts */
COUNT(uint64_t, neighbour_messages, size / 2 * (uint64_t)size)
COUNT(uint64_t, bruck_messages, log2_up(size) * (uint64_t)size)
COUNT(uint64_t, fold_messages, folded_pairs(size))
COUNT(uint64_t, doubling_messages, (uint64_t)(size - folded_pairs(size)) * log2_down(size))

COUNT(uint32_t, one_part, 1)
COUNT(uint32_t, power_below, 1u << log2_down(size)) /* members that are left after folding */
COUNT(uint64_t, folded_tree_messages, power_below(size) - 1)

/* --- walks: members keep their peers --------------------------------------------------------- */

/* For `by` below the size. No division, and no sum that could overflow. */
static uint32_t member_ahead(uint32_t size, uint32_t member, uint32_t by)
{
    uint32_t to_end = size - by;
    return member < to_end ? member + by : member - to_end;
}

/* To the member `by` ahead, from the one as far behind. */
static struct block_move shift_by(uint32_t size, uint32_t member, uint32_t by)
{
    return (struct block_move){.sends = true,
                               .receives = true,
                               .send_to = member_ahead(size, member, by),
                               .receive_from = member_ahead(size, member, size - by)};
}

/* To the next one part `back` behind, at most 2 size - 1, which came as such in the step before. */
static struct block_move pass_on(uint32_t size, uint32_t member, uint32_t back)
{
    struct block_move move = shift_by(size, member, 1);
    uint64_t ahead = member + 2ull * size - back;
    move.send = (struct block_parts){.first = (uint32_t)(ahead % size), .run = 1};
    move.receive = (struct block_parts){.first = (uint32_t)((ahead - 1) % size), .run = 1};
    return move;
}

static struct block_move ring_reduce_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    return pass_on(size, member, step + 1);
}

static struct block_move ring_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    return pass_on(size, member, step);
}

static struct block_move ring_all_reduce(uint32_t size, uint32_t member, uint32_t step)
{
    return pass_on(size, member, step < size - 1 ? step + 1 : step - (size - 1));
}

static struct block_move chain_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    return (struct block_move){
        .sends = member + 1 < size && step >= member,
        .receives = member > 0 && step + 1 >= member,
        .send_to = member + 1,
        .receive_from = member > 0 ? member - 1 : 0,
        .send = {.first = size - 1 - step + member, .run = 1},
        .receive = {.first = size - 2 - step + member, .run = 1},
    };
}

#define WALK(move_of) .kind = AR_PHASE_WALK, .move = (move_of), .sends = move_of##_sends
BLOCK_LOOPS(ring_reduce_scatter)
BLOCK_LOOPS(ring_all_gather)
BLOCK_LOOPS(ring_all_reduce)
BLOCK_LOOPS(chain_scatter)

const struct block block_ring_reduce_scatter = {WALK(ring_reduce_scatter), .steps = one_round,
                                                .messages = all_to_each};
const struct block block_ring_all_gather = {WALK(ring_all_gather), .steps = one_round,
                                            .messages = all_to_each};
const struct block block_ring_all_reduce = {WALK(ring_all_reduce), .steps = two_rounds,
                                            .messages = twice_all_to_each};
const struct block block_chain_scatter = {WALK(chain_scatter), .steps = one_round,
                                          .messages = chain_messages};

/* The first part of the pair that arrives in a step: each other time from the other side, two parts
 * farther away. Even members begin on the right, odd ones on the left. */
static uint32_t pair_received(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t pair = member - member % 2;
    uint32_t away = 2 * ((step + 1) / 2);
    bool is_left = (step % 2 == 1) == (member % 2 == 0);
    uint32_t on = is_left ? size - away : away;
    uint32_t to_end = size - on;
    return pair < to_end ? pair + on : pair - to_end;
}

static struct block_move neighbour_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    bool is_right = (step % 2 == 0) == (member % 2 == 0);
    uint32_t peer = member_ahead(size, member, is_right ? 1 : size - 1);
    struct block_move move = {
        .sends = true, .receives = true, .send_to = peer, .receive_from = peer};
    if (step == 0) {
        move.send = (struct block_parts){.first = member, .run = 1};
        move.receive = (struct block_parts){.first = peer, .run = 1};
        return move;
    }
    move.send = (struct block_parts){.first = pair_received(size, member, step - 1), .run = 2};
    move.receive = (struct block_parts){.first = pair_received(size, member, step), .run = 2};
    return move;
}
BLOCK_LOOPS(neighbour_all_gather)

const struct block block_neighbour_all_gather = {BLOCK_EXCHANGE(neighbour_all_gather),
                                                 .peers = PEERS_ALTERNATE, .steps = half_a_round,
                                                 .messages = neighbour_messages};

/* --- all at once, and Bruck's ---------------------------------------------------------------- */

static struct block_move direct_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = shift_by(size, member, step + 1);
    move.send = (struct block_parts){.first = member, .run = 1};
    move.receive = (struct block_parts){.first = move.receive_from, .run = 1};
    return move;
}
BLOCK_LOOPS(direct_all_gather)

static struct block_move direct_all_to_all(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = shift_by(size, member, step + 1);
    move.send = move.receive = (struct block_parts){.first = step + 1, .run = 1};
    return move;
}
BLOCK_LOOPS(direct_all_to_all)

static struct block_move linear_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    (void)size;
    struct block_parts part = {.first = step + 1, .run = 1};
    return (struct block_move){.sends = member == 0,
                               .receives = member == step + 1,
                               .send_to = step + 1,
                               .receive_from = 0,
                               .send = part,
                               .receive = part};
}
BLOCK_LOOPS(linear_scatter)

static struct block_move send_all(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    struct block_parts all = {.first = 0, .run = size};
    return (struct block_move){.sends = member == 0,
                               .receives = member == size - 1,
                               .send_to = size - 1,
                               .receive_from = 0,
                               .send = all,
                               .receive = all};
}
BLOCK_LOOPS(send_all)

const struct block block_direct_all_gather = {BLOCK_EXCHANGE(direct_all_gather), .is_at_once = true,
                                              .peers = PEERS_ROUND, .steps = one_round,
                                              .messages = all_to_each};
const struct block block_linear_scatter = {BLOCK_EXCHANGE(linear_scatter), .is_at_once = true,
                                           .steps = one_round, .messages = one_to_each};
const struct block block_send = {BLOCK_EXCHANGE(send_all), .steps = one_step,
                                 .messages = one_message};
const struct block block_linear_all_to_all = {BLOCK_EXCHANGE(direct_all_to_all), .is_at_once = true,
                                              .peers = PEERS_ROUND, .steps = one_round,
                                              .messages = all_to_each};
const struct block block_pairwise_all_to_all = {BLOCK_EXCHANGE(direct_all_to_all),
                                                .peers = PEERS_ROUND, .steps = one_round,
                                                .messages = all_to_each};

static struct block_move bruck_all_to_all(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t bit = 1u << step;
    struct block_move move = shift_by(size, member, bit);
    /* A period longer than all parts holds one run of them. */
    move.send = move.receive = (struct block_parts){.first = bit, .run = bit, .period = 2 * bit};
    return move;
}
BLOCK_LOOPS(bruck_all_to_all)

/* In step s a member has the parts of the 2^s members from itself on. */
static struct block_move bruck_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t bit = 1u << step;
    uint32_t run = size - bit < bit ? size - bit : bit;
    struct block_move move = shift_by(size, member, size - bit);
    move.send = (struct block_parts){.first = member, .run = run};
    move.receive = (struct block_parts){.first = move.receive_from, .run = run};
    return move;
}
BLOCK_LOOPS(bruck_all_gather)

const struct block block_bruck_all_to_all = {BLOCK_EXCHANGE(bruck_all_to_all), .peers = PEERS_AHEAD,
                                             .steps = log2_up, .messages = bruck_messages};
const struct block block_bruck_all_gather = {BLOCK_EXCHANGE(bruck_all_gather), .peers = PEERS_AHEAD,
                                             .steps = log2_up, .messages = bruck_messages};

/* --- halving and doubling -------------------------------------------------------------------- */

/* The first member, and the first part, behind `number` after folding; or one beyond the last. */
static uint32_t part_of(uint32_t size, uint32_t number)
{
    uint32_t pairs = folded_pairs(size);
    return number < pairs ? 2 * number : number + pairs;
}

static bool is_left_out(uint32_t size, uint32_t member)
{
    return member % 2 == 1 && member < 2 * folded_pairs(size);
}

static uint32_t folded_number(uint32_t size, uint32_t member)
{
    uint32_t pairs = folded_pairs(size);
    return member < 2 * pairs ? member / 2 : member - pairs;
}

static struct block_move fold_with(uint32_t size, uint32_t member, struct block_parts parts)
{
    bool is_in_pair = member < 2 * folded_pairs(size);
    return (struct block_move){.sends = is_in_pair && member % 2 == 1,
                               .receives = is_in_pair && member % 2 == 0,
                               .send_to = member - 1,
                               .receive_from = member + 1,
                               .send = parts,
                               .receive = parts};
}

static struct block_move fold_all(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return fold_with(size, member, (struct block_parts){.first = 0, .run = size});
}
BLOCK_LOOPS(fold_all)

static struct block_move fold_parts(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return fold_with(size, member, (struct block_parts){.first = member | 1, .run = 1});
}
BLOCK_LOOPS(fold_parts)

/* A member that is left after folding swaps with the one of another number. */
static struct block_move swap_with(uint32_t size, uint32_t member, uint32_t peer_number)
{
    bool is_left = !is_left_out(size, member);
    uint32_t peer = part_of(size, peer_number);
    return (struct block_move){
        .sends = is_left, .receives = is_left, .send_to = peer, .receive_from = peer};
}

static struct block_move doubling_all(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = swap_with(size, member, folded_number(size, member) ^ 1u << step);
    move.send = move.receive = (struct block_parts){.first = 0, .run = size};
    return move;
}
BLOCK_LOOPS(doubling_all)

/* Parts of the aligned block of 2^step numbers that a number is in. */
static struct block_parts parts_around(uint32_t size, uint32_t number, uint32_t step)
{
    uint32_t first = number >> step << step;
    uint32_t part = part_of(size, first);
    return (struct block_parts){.first = part, .run = part_of(size, first + (1u << step)) - part};
}

static struct block_move doubling_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t number = folded_number(size, member);
    uint32_t peer = number ^ 1u << step;
    struct block_move move = swap_with(size, member, peer);
    move.send = parts_around(size, number, step);
    move.receive = parts_around(size, peer, step);
    return move;
}
BLOCK_LOOPS(doubling_all_gather)

/* As many parts as numbers: those of 2^step numbers beside each other, by name. */
static struct block_parts parts_named(uint32_t name, uint32_t step)
{
    return (struct block_parts){.first = name >> step << step, .run = 1u << step};
}

static struct block_move doubling_of_halves(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t number = folded_number(size, member);
    uint32_t peer = number ^ 1u << step;
    struct block_move move = swap_with(size, member, peer);
    move.send = parts_named(number, step);
    move.receive = parts_named(peer, step);
    return move;
}
BLOCK_LOOPS(doubling_of_halves)

const struct block block_fold = {BLOCK_EXCHANGE(fold_all), .steps = fold_steps,
                                 .messages = fold_messages};
const struct block block_fold_parts = {BLOCK_EXCHANGE(fold_parts), .steps = fold_steps,
                                       .messages = fold_messages};
const struct block block_doubling = {BLOCK_EXCHANGE(doubling_all), .peers = PEERS_SWAP,
                                     .steps = log2_down, .messages = doubling_messages};
const struct block block_doubling_all_gather = {BLOCK_EXCHANGE(doubling_all_gather),
                                                .steps = log2_down, .messages = doubling_messages};
const struct block block_doubling_of_halves = {BLOCK_EXCHANGE(doubling_of_halves),
                                               .peers = PEERS_SWAP, .steps = log2_down,
                                               .messages = doubling_messages, .parts = power_below};

/* --- Swing ------------------------------------------------------------------------------------ */

/* The distance of a step, 1, -1, 3, -5, 11, ...: (1 - (-2)^(step+1)) / 3; odd numbers go the other
 * way. Numbers are modulo a power of two. */
static uint32_t swing_peer(uint32_t count, uint32_t number, uint32_t step)
{
    int64_t power = (int64_t)1 << (step + 1);
    int64_t distance = (1 - ((step + 1) % 2 == 0 ? power : -power)) / 3;
    int64_t to = number % 2 == 0 ? number + distance : number - distance;
    return (uint32_t)(to & (int64_t)(count - 1));
}

/* A number is the sum of the distances of the steps that lead to it from 0, in turn added and taken
 * away; these steps, the first one highest, are its name. So those that reach each other in the
 * steps from s on agree in the s highest bits, and the parts of halves, quarters, ... of all lie
 * beside each other. With r = sum of +-(1 - (-2)^(s+1))/3, r and the parity of their number tell
 * the sum of +-(-2)^s, whose lowest bit says whether step 0 is one of them, and so on. */
static uint32_t swing_name(uint32_t bits, uint32_t number)
{
    int64_t rest = (3 * (int64_t)number - (number & 1)) / 2; /* of the sum, times the next sign */
    uint32_t name = 0;
    uint32_t is_odd = number & 1;
    for (uint32_t bit = bits - 1; bit > 0; bit--) { /* without branches, which nobody can foresee */
        int64_t is_one = rest & 1;
        name |= (uint32_t)is_one << bit;
        is_odd ^= (uint32_t)is_one;
        rest = ((rest >> 1) ^ (is_one - 1)) - (is_one - 1); /* -rest / 2, or (rest - 1) / 2 */
    }
    return name | is_odd;
}

/* Part i is of the number whose name is i. */
static struct block_move swing_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t bits = log2_down(size);
    uint32_t number = folded_number(size, member);
    uint32_t peer = swing_peer(1u << bits, number, bits - 1 - step);
    struct block_move move = swap_with(size, member, peer);
    uint32_t name = swing_name(bits, number);
    move.send = parts_named(name, step);
    move.receive =
        parts_named(name ^ 1u << step, step); /* the step is in the name of one of them */
    return move;
}
BLOCK_LOOPS(swing_all_gather)

const struct block block_swing_all_gather = {BLOCK_EXCHANGE(swing_all_gather), .peers = PEERS_SWAP,
                                             .steps = log2_down, .messages = doubling_messages,
                                             .parts = power_below};

/* --- binomial trees --------------------------------------------------------------------------- */

/* In each step those at multiples of twice the distance send that far; the distance halves. */
static struct block_move binomial_move(uint32_t size, uint32_t member, uint32_t step,
                                       uint32_t *distance)
{
    *distance = 1u << (log2_up(size) - 1 - step);
    return (struct block_move){
        .sends = member % (2 * *distance) == 0 && size - member > *distance,
        .receives = member % (2 * *distance) == *distance,
        .send_to = member + *distance,
        .receive_from = member - *distance,
    };
}

static struct block_move binomial_broadcast(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t distance;
    struct block_move move = binomial_move(size, member, step, &distance);
    move.send = move.receive = (struct block_parts){.first = 0, .run = size};
    return move;
}
BLOCK_LOOPS(binomial_broadcast)

static struct block_move binomial_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t distance;
    struct block_move move = binomial_move(size, member, step, &distance);
    uint32_t first = move.sends ? move.send_to : member;
    uint32_t left = size - first;
    move.send = move.receive =
        (struct block_parts){.first = first, .run = left < distance ? left : distance};
    return move;
}
BLOCK_LOOPS(binomial_scatter)

/* Among the members that are left after folding, each with the parts of its pair. */
static struct block_move folded_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t distance;
    uint32_t numbers = power_below(size);
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    uint32_t number = folded_number(size, member);
    struct block_move move = binomial_move(numbers, number, step, &distance);
    uint32_t first = move.sends ? number + distance : number;
    uint32_t part = part_of(size, first);
    move.send_to = part_of(size, number + distance);
    move.receive_from = move.receives ? part_of(size, number - distance) : 0;
    move.send = move.receive =
        (struct block_parts){.first = part, .run = part_of(size, first + distance) - part};
    return move;
}
BLOCK_LOOPS(folded_scatter)

const struct block block_binomial_broadcast = {BLOCK_EXCHANGE(binomial_broadcast), .steps = log2_up,
                                               .messages = one_to_each};
const struct block block_binomial_scatter = {BLOCK_EXCHANGE(binomial_scatter), .steps = log2_up,
                                             .messages = one_to_each};
const struct block block_folded_scatter = {BLOCK_EXCHANGE(folded_scatter), .steps = log2_down,
                                           .messages = folded_tree_messages};

/* --- switches that sum ----------------------------------------------------------------------- */

/* To the switch, which has no number. */
static struct block_move to_switch(struct block_parts send, struct block_parts receive)
{
    return (struct block_move){.sends = true, .receives = true, .send = send, .receive = receive};
}

static struct block_move switch_all_reduce(uint32_t size, uint32_t member, uint32_t step)
{
    (void)size, (void)member, (void)step;
    struct block_parts all = {.first = 0, .run = 1};
    return to_switch(all, all);
}

static struct block_move switch_reduce_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return to_switch((struct block_parts){.first = 0, .run = size},
                     (struct block_parts){.first = member, .run = 1});
}

static struct block_move switch_reduce(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = switch_all_reduce(size, member, step);
    move.receives = member == 0;
    return move;
}

static struct block_move switch_broadcast(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = switch_all_reduce(size, member, step);
    move.sends = member == 0;
    return move;
}

#define SUMS(move_of) .kind = AR_PHASE_SUMS, .steps = one_step, .move = (move_of)

const struct block block_sums_all_reduce = {SUMS(switch_all_reduce), .messages = one_from_each,
                                            .parts = one_part};
const struct block block_sums_reduce_scatter = {SUMS(switch_reduce_scatter),
                                                .messages = one_from_each};
const struct block block_sums_reduce = {SUMS(switch_reduce), .messages = one_from_each,
                                        .parts = one_part};
const struct block block_sums_broadcast = {SUMS(switch_broadcast), .messages = one_message,
                                           .parts = one_part};
