#include "blocks.h"

static uint32_t to_all_others(uint32_t size)
{
    return size - 1;
}

static uint32_t one_step(uint32_t size)
{
    (void)size;
    return 1;
}

static uint64_t from_all_to_all(uint32_t size)
{
    return (uint64_t)size * (size - 1);
}

static uint64_t from_one_to_all(uint32_t size)
{
    return size - 1;
}

static uint64_t one_message(uint32_t size)
{
    (void)size;
    return 1;
}

static uint32_t ahead(uint32_t size, uint32_t member, uint32_t by)
{
    return (uint32_t)(((uint64_t)member + by) % size);
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

static struct block_move all_to_all(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = shift(size, member, step + 1);
    move.send = move.receive = (struct block_parts){.first = step + 1, .run = 1};
    return move;
}

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

const struct block block_direct_all_gather = {
    AR_PHASE_EXCHANGE,      true,      true, to_all_others, from_all_to_all,
    block_parts_as_members, all_gather};
const struct block block_linear_scatter = {
    AR_PHASE_EXCHANGE,      true,   false, to_all_others, from_one_to_all,
    block_parts_as_members, scatter};
const struct block block_send = {AR_PHASE_EXCHANGE,      false, false, one_step, one_message,
                                 block_parts_as_members, send};
const struct block block_linear_all_to_all = {
    AR_PHASE_EXCHANGE,      true,      true, to_all_others, from_all_to_all,
    block_parts_as_members, all_to_all};
const struct block block_pairwise_all_to_all = {
    AR_PHASE_EXCHANGE,      false,     true, to_all_others, from_all_to_all,
    block_parts_as_members, all_to_all};

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

const struct block block_bruck_all_to_all = {
    AR_PHASE_EXCHANGE,      false,           true, block_log2_up, from_all_in_each_bit,
    block_parts_as_members, bruck_all_to_all};
const struct block block_bruck_all_gather = {
    AR_PHASE_EXCHANGE,      false,           true, block_log2_up, from_all_in_each_bit,
    block_parts_as_members, bruck_all_gather};
