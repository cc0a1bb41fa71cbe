#include "rings.h"

static uint32_t next_of(uint32_t size, uint32_t index)
{
    return index + 1 == size ? 0 : index + 1;
}

static uint32_t previous_of(uint32_t size, uint32_t index)
{
    return index == 0 ? size - 1 : index - 1;
}

/* (index - back) mod size for back <= 2 * size. */
static uint32_t behind(uint32_t size, uint32_t index, uint32_t back)
{
    uint64_t ahead = (uint64_t)index + 2ull * size - back;
    return (uint32_t)(ahead % size);
}

struct part_move ring_reduce_scatter(uint32_t size, uint32_t index, uint32_t step)
{
    return (struct part_move){
        .sends = true,
        .receive = AR_RECEIVE_REDUCE,
        .send_to = next_of(size, index),
        .receive_from = previous_of(size, index),
        .send_part = behind(size, index, step + 1),
        .receive_part = behind(size, index, step + 2),
    };
}

struct part_move ring_all_gather(uint32_t size, uint32_t index, uint32_t step)
{
    return (struct part_move){
        .sends = true,
        .receive = AR_RECEIVE_COPY,
        .send_to = next_of(size, index),
        .receive_from = previous_of(size, index),
        .send_part = behind(size, index, step),
        .receive_part = behind(size, index, step + 1),
    };
}

struct part_move ring_all_reduce(uint32_t size, uint32_t index, uint32_t step)
{
    return step < size - 1 ? ring_reduce_scatter(size, index, step)
                           : ring_all_gather(size, index, step - (size - 1));
}

struct part_move chain_gather(uint32_t size, uint32_t index, uint32_t step)
{
    bool receives = index + 1 + step < size;
    return (struct part_move){
        .sends = index > 0 && index + step < size,
        .receive = receives ? AR_RECEIVE_COPY : AR_RECEIVE_NONE,
        .send_to = index > 0 ? index - 1 : 0,
        .receive_from = index + 1,
        .send_part = index + step,
        .receive_part = index + 1 + step,
    };
}

struct part_move chain_scatter(uint32_t size, uint32_t index, uint32_t step)
{
    bool receives = index > 0 && step + 1 >= index;
    return (struct part_move){
        .sends = index + 1 < size && step >= index,
        .receive = receives ? AR_RECEIVE_COPY : AR_RECEIVE_NONE,
        .send_to = index + 1,
        .receive_from = index > 0 ? index - 1 : 0,
        .send_part = size - 1 - step + index,
        .receive_part = size - 2 - step + index,
    };
}

struct ar_move move_of_parts(struct part_move parts, uint32_t first, uint32_t stride,
                             struct ar_span whole, uint32_t size)
{
    struct ar_move move = {.sends = parts.sends, .receive = parts.receive};
    if (parts.sends) {
        move.send_to = first + parts.send_to * stride;
        move.send_span = ar_span_part(whole, size, parts.send_part);
    }
    if (parts.receive != AR_RECEIVE_NONE) {
        move.receive_from = first + parts.receive_from * stride;
        move.receive_span = ar_span_part(whole, size, parts.receive_part);
    }
    return move;
}
