/* A switch that joins all members adds up what they send. */
#include "blocks.h"

static uint32_t one_step(uint32_t size)
{
    (void)size;
    return 1;
}

static uint32_t one_part(uint32_t size)
{
    (void)size;
    return 1;
}

static uint64_t from_each(uint32_t size)
{
    return size;
}

static uint64_t from_one(uint32_t size)
{
    (void)size;
    return 1;
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

const struct block block_sums_all_reduce = {AR_PHASE_SUMS, false,    false,      one_step,
                                            from_each,     one_part, all_reduce, NULL};
const struct block block_sums_reduce_scatter = {AR_PHASE_SUMS,  false,     PEERS_ANY,
                                                one_step,       from_each, block_parts_as_members,
                                                reduce_scatter, NULL};
const struct block block_sums_reduce = {AR_PHASE_SUMS, false,    false,  one_step,
                                        from_each,     one_part, reduce, NULL};
const struct block block_sums_broadcast = {AR_PHASE_SUMS, false,    false,     one_step,
                                           from_one,      one_part, broadcast, NULL};
