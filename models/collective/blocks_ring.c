#include "blocks.h"

static uint32_t next_of(uint32_t size, uint32_t member)
{
    return member + 1 == size ? 0 : member + 1;
}

static uint32_t previous_of(uint32_t size, uint32_t member)
{
    return member == 0 ? size - 1 : member - 1;
}

/* (member - back) mod size for back <= 2 * size. */
static uint32_t behind(uint32_t size, uint32_t member, uint32_t back)
{
    uint64_t ahead = (uint64_t)member + 2ull * size - back;
    return (uint32_t)(ahead % size);
}

static uint32_t two_rounds(uint32_t size)
{
    return 2 * (size - 1);
}

static uint64_t all_in_two_rounds(uint32_t size)
{
    return 2 * block_from_all_to_all(size);
}

/* Member i of a chain passes on size - i parts. */
static uint64_t half_of_a_round(uint32_t size)
{
    return block_from_all_to_all(size) / 2;
}

/* To the next one part `back` behind, which came as such in the step before. */
static struct block_move pass_on(uint32_t size, uint32_t member, uint32_t back)
{
    return (struct block_move){
        .sends = true,
        .receives = true,
        .send_to = next_of(size, member),
        .receive_from = previous_of(size, member),
        .send = {.first = behind(size, member, back), .run = 1},
        .receive = {.first = behind(size, member, back + 1), .run = 1},
    };
}

static struct block_move reduce_scatter(uint32_t size, uint32_t member, uint32_t step)
{
    return pass_on(size, member, step + 1);
}

static struct block_move all_gather(uint32_t size, uint32_t member, uint32_t step)
{
    return pass_on(size, member, step);
}

static struct block_move all_reduce(uint32_t size, uint32_t member, uint32_t step)
{
    return step < size - 1 ? reduce_scatter(size, member, step)
                           : all_gather(size, member, step - (size - 1));
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

#define WALK(move_of) .kind = AR_PHASE_WALK, .move = (move_of)

const struct block block_ring_reduce_scatter = {WALK(reduce_scatter), .steps = block_step_for_each,
                                                .messages = block_from_all_to_all};
const struct block block_ring_all_gather = {WALK(all_gather), .steps = block_step_for_each,
                                            .messages = block_from_all_to_all};
const struct block block_ring_all_reduce = {WALK(all_reduce), .steps = two_rounds,
                                            .messages = all_in_two_rounds};
const struct block block_chain_scatter = {WALK(chain_scatter), .steps = block_step_for_each,
                                          .messages = half_of_a_round};

static uint32_t half_a_round(uint32_t size)
{
    return size / 2;
}

static uint64_t all_in_half_a_round(uint32_t size)
{
    return (uint64_t)size * (size / 2);
}

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
    uint32_t peer = is_right ? next_of(size, member) : previous_of(size, member);
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
                                                 .messages = all_in_half_a_round};
