/* A switch that joins all members adds up what they send. */
#include "blocks.h"

static uint32_t one_part(uint32_t size)
{
    (void)size;
    return 1;
}

static uint64_t from_each(uint32_t size)
{
    return size;
}

/* To the switch, which has no number. */
static struct block_move to_switch(struct block_parts send, struct block_parts receive)
{
    return (struct block_move){.sends = true, .receives = true, .send = send, .receive = receive};
}

static struct block_move all_reduce(uint32_t size, uint32_t member, uint32_t step)
{
    (void)size, (void)member, (void)step;
    struct block_parts all = {.first = 0, .run = 1};
    return to_switch(all, all);
}

static struct block_move reduce_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    (void)step;
    return to_switch((struct block_parts){.first = 0, .run = size},
                     (struct block_parts){.first = member, .run = 1});
}

static struct block_move reduce(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = all_reduce(size, member, step);
    move.receives = member == 0;
    return move;
}

static struct block_move broadcast(uint32_t size, uint32_t member, uint32_t step)
{
    struct block_move move = all_reduce(size, member, step);
    move.sends = member == 0;
    return move;
}

#define SUMS(move_of) .kind = AR_PHASE_SUMS, .steps = block_one_step, .move = (move_of)

const struct block block_sums_all_reduce = {SUMS(all_reduce), .messages = from_each,
                                            .parts = one_part};
const struct block block_sums_reduce_scatter = {SUMS(reduce_scatter), .messages = from_each};
const struct block block_sums_reduce = {SUMS(reduce), .messages = from_each, .parts = one_part};
const struct block block_sums_broadcast = {SUMS(broadcast), .messages = block_one_message,
                                           .parts = one_part};
