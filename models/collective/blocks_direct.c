#include "blocks.h"

/* For `by` below the size. No division, and no sum that could overflow. */
static uint32_t ahead(uint32_t size, uint32_t member, uint32_t by)
{
    uint32_t to_end = size - by;
    return member < to_end ? member + by : member - to_end;
}

/* To the member `by` ahead, from the one as far behind. */
static struct block_move shift(uint32_t size, uint32_t member, uint32_t by)
{
    return (struct block_move){.sends = true,
                               .receives = true,
                               .send_to = ahead(size, member, by),
                               .receive_from = ahead(size, member, size - by)};
}

static struct block_move all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = shift(size, member, step + 1);
    move.send = (struct block_parts){.first = member, .run = 1};
    move.receive = (struct block_parts){.first = move.receive_from, .run = 1};
    return move;
}
BLOCK_LOOPS(all_gather)

static struct block_move all_to_all(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = shift(size, member, step + 1);
    move.send = move.receive = (struct block_parts){.first = step + 1, .run = 1};
    return move;
}
BLOCK_LOOPS(all_to_all)

static struct block_move scatter(uint32_t size, uint32_t member, uint32_t step)
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
BLOCK_LOOPS(scatter)

static struct block_move send(uint32_t size, uint32_t member, uint32_t step)
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
BLOCK_LOOPS(send)

const struct block block_direct_all_gather = {BLOCK_EXCHANGE(all_gather), .is_at_once = true,
                                              .peers = PEERS_ROUND, .steps = block_step_for_each,
                                              .messages = block_from_all_to_all};
const struct block block_linear_scatter = {BLOCK_EXCHANGE(scatter), .is_at_once = true,
                                           .steps = block_step_for_each,
                                           .messages = block_from_one_to_all};
const struct block block_send = {BLOCK_EXCHANGE(send), .steps = block_one_step,
                                 .messages = block_one_message};
const struct block block_linear_all_to_all = {BLOCK_EXCHANGE(all_to_all), .is_at_once = true,
                                              .peers = PEERS_ROUND, .steps = block_step_for_each,
                                              .messages = block_from_all_to_all};
const struct block block_pairwise_all_to_all = {BLOCK_EXCHANGE(all_to_all), .peers = PEERS_ROUND,
                                                .steps = block_step_for_each,
                                                .messages = block_from_all_to_all};

static uint64_t from_all_in_each_bit(uint32_t size)
{
    return (uint64_t)size * block_log2_up(size);
}

static struct block_move bruck_all_to_all(uint32_t size, uint32_t member, uint32_t step)
{
    uint32_t bit = 1u << step;
    struct block_move move = shift(size, member, bit);
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
    struct block_move move = shift(size, member, size - bit);
    move.send = (struct block_parts){.first = member, .run = run};
    move.receive = (struct block_parts){.first = move.receive_from, .run = run};
    return move;
}
BLOCK_LOOPS(bruck_all_gather)

const struct block block_bruck_all_to_all = {BLOCK_EXCHANGE(bruck_all_to_all), .peers = PEERS_AHEAD,
                                             .steps = block_log2_up,
                                             .messages = from_all_in_each_bit};
const struct block block_bruck_all_gather = {BLOCK_EXCHANGE(bruck_all_gather), .peers = PEERS_AHEAD,
                                             .steps = block_log2_up,
                                             .messages = from_all_in_each_bit};
