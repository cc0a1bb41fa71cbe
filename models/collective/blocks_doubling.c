#include "blocks.h"

/* Pairs that are folded. */
static uint32_t folded(uint32_t size)
{
    return size - (1u << block_log2_down(size));
}

static uint32_t fold_steps(uint32_t size)
{
    return folded(size) > 0 ? 1 : 0;
}

static uint64_t fold_messages(uint32_t size)
{
    return folded(size);
}

static uint64_t doubling_messages(uint32_t size)
{
    return (uint64_t)(size - folded(size)) * block_log2_down(size);
}

/* The first part of those whose folded number is `number`, which may be one beyond the last. */
static uint32_t part_of(uint32_t size, uint32_t number)
{
    uint32_t pairs = folded(size);
    return number < pairs ? 2 * number : number + pairs;
}

/* The member that has a number after folding; the first of a pair. */
static uint32_t member_of(uint32_t size, uint32_t number)
{
    return part_of(size, number);
}

static bool is_left_out(uint32_t size, uint32_t member)
{
    return member % 2 == 1 && member < 2 * folded(size);
}

static uint32_t number_of(uint32_t size, uint32_t member)
{
    uint32_t pairs = folded(size);
    return member < 2 * pairs ? member / 2 : member - pairs;
}

static struct block_move fold_with(uint32_t size, uint32_t member, struct block_parts parts)
{
    bool is_in_pair = member < 2 * folded(size);
    return (struct block_move){.sends = is_in_pair && member % 2 == 1,
                               .receives = is_in_pair && member % 2 == 0,
                               .send_to = member - 1,
                               .receive_from = member + 1,
                               .send = parts,
                               .receive = parts};
}

static struct block_move fold(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return fold_with(size, member, (struct block_parts){.first = 0, .run = size});
}
BLOCK_LOOPS(fold)

static struct block_move fold_parts(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return fold_with(size, member, (struct block_parts){.first = member | 1, .run = 1});
}
BLOCK_LOOPS(fold_parts)

static struct block_move swap_with(uint32_t size, uint32_t peer_number)
{
    uint32_t peer = member_of(size, peer_number);
    return (struct block_move){
        .sends = true, .receives = true, .send_to = peer, .receive_from = peer};
}

static struct block_move doubling(uint32_t size, uint32_t member, uint32_t step)
{
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    struct block_move move = swap_with(size, number_of(size, member) ^ 1u << step);
    move.send = move.receive = (struct block_parts){.first = 0, .run = size};
    return move;
}
BLOCK_LOOPS(doubling)

/* Parts of the aligned block of 2^step numbers that a number is in. */
static struct block_parts parts_around(uint32_t size, uint32_t number, uint32_t step)
{
    uint32_t first = number >> step << step;
    uint32_t part = part_of(size, first);
    return (struct block_parts){.first = part, .run = part_of(size, first + (1u << step)) - part};
}

static struct block_move doubling_all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    uint32_t number = number_of(size, member);
    uint32_t peer = number ^ 1u << step;
    struct block_move move = swap_with(size, peer);
    move.send = parts_around(size, number, step);
    move.receive = parts_around(size, peer, step);
    return move;
}
BLOCK_LOOPS(doubling_all_gather)

static uint32_t as_many_as_numbers(uint32_t size)
{
    return 1u << block_log2_down(size);
}

/* As many parts as numbers: those of 2^step numbers beside each other, by name. */
static struct block_parts parts_named(uint32_t name, uint32_t step)
{
    return (struct block_parts){.first = name >> step << step, .run = 1u << step};
}

static struct block_move doubling_of_halves(uint32_t size, uint32_t member, uint32_t step)
{
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    uint32_t number = number_of(size, member);
    uint32_t peer = number ^ 1u << step;
    struct block_move move = swap_with(size, peer);
    move.send = parts_named(number, step);
    move.receive = parts_named(peer, step);
    return move;
}
BLOCK_LOOPS(doubling_of_halves)

const struct block block_fold = {BLOCK_EXCHANGE(fold), .steps = fold_steps,
                                 .messages = fold_messages};
const struct block block_fold_parts = {BLOCK_EXCHANGE(fold_parts), .steps = fold_steps,
                                       .messages = fold_messages};
const struct block block_doubling = {BLOCK_EXCHANGE(doubling), .peers = PEERS_SWAP,
                                     .steps = block_log2_down, .messages = doubling_messages};
const struct block block_doubling_all_gather = {
    BLOCK_EXCHANGE(doubling_all_gather), .steps = block_log2_down, .messages = doubling_messages};
const struct block block_doubling_of_halves = {
    BLOCK_EXCHANGE(doubling_of_halves), .peers = PEERS_SWAP, .steps = block_log2_down,
    .messages = doubling_messages, .parts = as_many_as_numbers};

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
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    uint32_t bits = block_log2_down(size);
    uint32_t number = number_of(size, member);
    uint32_t peer = swing_peer(1u << bits, number, bits - 1 - step);
    struct block_move move = swap_with(size, peer);
    uint32_t name = swing_name(bits, number);
    move.send = parts_named(name, step);
    move.receive =
        parts_named(name ^ 1u << step, step); /* the step is in the name of one of them */
    return move;
}
BLOCK_LOOPS(swing_all_gather)

const struct block block_swing_all_gather = {
    BLOCK_EXCHANGE(swing_all_gather), .peers = PEERS_SWAP, .steps = block_log2_down,
    .messages = doubling_messages, .parts = as_many_as_numbers};

/* --- binomial trees --------------------------------------------------------------------------- */

/* In each step those at multiples of twice the distance send that far; the distance halves. */
static struct block_move binomial(uint32_t size, uint32_t member, uint32_t step, uint32_t *distance)
{
    *distance = 1u << (block_log2_up(size) - 1 - step);
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
    struct block_move move = binomial(size, member, step, &distance);
    move.send = move.receive = (struct block_parts){.first = 0, .run = size};
    return move;
}
BLOCK_LOOPS(binomial_broadcast)

static struct block_move binomial_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t distance;
    struct block_move move = binomial(size, member, step, &distance);
    uint32_t first = move.sends ? move.send_to : member;
    uint32_t left = size - first;
    move.send = move.receive =
        (struct block_parts){.first = first, .run = left < distance ? left : distance};
    return move;
}
BLOCK_LOOPS(binomial_scatter)

/* Among those that are left after folding, each with the parts of all that it stands for. */
static struct block_move folded_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t distance;
    uint32_t numbers = as_many_as_numbers(size);
    if (is_left_out(size, member)) {
        return (struct block_move){.sends = false};
    }
    uint32_t number = number_of(size, member);
    struct block_move move = binomial(numbers, number, step, &distance);
    uint32_t first = move.sends ? number + distance : number;
    uint32_t part = part_of(size, first);
    move.send_to = member_of(size, number + distance);
    move.receive_from = move.receives ? member_of(size, number - distance) : 0;
    move.send = move.receive =
        (struct block_parts){.first = part, .run = part_of(size, first + distance) - part};
    return move;
}
BLOCK_LOOPS(folded_scatter)

static uint64_t folded_messages(uint32_t size)
{
    return as_many_as_numbers(size) - 1;
}

const struct block block_binomial_broadcast = {
    BLOCK_EXCHANGE(binomial_broadcast), .steps = block_log2_up, .messages = block_from_one_to_all};
const struct block block_binomial_scatter = {
    BLOCK_EXCHANGE(binomial_scatter), .steps = block_log2_up, .messages = block_from_one_to_all};
const struct block block_folded_scatter = {BLOCK_EXCHANGE(folded_scatter), .steps = block_log2_down,
                                           .messages = folded_messages};
