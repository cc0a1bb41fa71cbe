#include "msccl_gpu.h"

#include <inttypes.h>
#include <string.h>

enum ar_status msccl_refuse(const struct msccl_gpu *gpu, const char *what, uint32_t max,
                            struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE,
                        "--format msccl: found more than %" PRIu32
                        " %s, the most that MSCCL reads, for %s on %" PRIu32
                        " GPUs; expected fewer GPUs, fewer --channels or another --algorithm",
                        max, what, gpu->collective->algorithm->name, gpu->ranks);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* Of the part of a rank. */
static uint32_t part_chunk(const struct msccl_gpu *gpu, uint32_t channel, uint32_t rank,
                           uint32_t element)
{
    uint32_t part = gpu->elements / gpu->ranks;
    return (rank * gpu->collective->channels + channel) * part + element % part;
}

static uint32_t chunk_of(const struct msccl_gpu *gpu, uint32_t channel, uint32_t element)
{
    const struct ar_operation_place place = {
        .shape = &gpu->collective->shape, .elements = gpu->elements, .element = element};
    if (gpu->kind->is_in_place && gpu->collective->operation->has_parts) {
        uint32_t owner = ar_order_rank(&gpu->order, channel, ar_operation_owner(&place));
        return part_chunk(gpu, channel, owner, element);
    }
    return channel * gpu->elements + element;
}

/* Whose contribution a position wants at a place, or, of what it gives, who wants it; MSCCL_NONE.
 */
static uint32_t find_other(const struct msccl_gpu *gpu, uint32_t position, uint32_t element,
                           bool gives)
{
    struct ar_operation_place place = {
        .shape = &gpu->collective->shape, .elements = gpu->elements, .element = element};
    for (uint32_t other = 0; other < gpu->ranks; other++) {
        place.position = gives ? other : position;
        if (ar_operation_wants(gpu->collective->operation, &place, gives ? position : other)) {
            return other;
        }
    }
    return MSCCL_NONE;
}

/* --- operations ------------------------------------------------------------------------------- */

/* The block of a channel with these peers; of a phase that is passed on, that of the channel, whose
 * peers become known one by one. */
static enum ar_status find_block(struct msccl_gpu *gpu, uint32_t channel, bool is_passed_on,
                                 uint32_t from, uint32_t to, uint32_t *number, struct ar_error *err)
{
    uint32_t beside = 0;
    for (*number = 0; *number < gpu->blocks_count; (*number)++) {
        struct msccl_block *block = &gpu->blocks[*number];
        beside += block->channel == channel && (block->from == MSCCL_NONE) == (from == MSCCL_NONE);
        if (block->channel == channel &&
            (is_passed_on || (block->from == from && block->to == to))) {
            block->from = from != MSCCL_NONE ? from : block->from;
            block->to = to != MSCCL_NONE ? to : block->to;
            return AR_OK;
        }
    }
    if (gpu->blocks_count == MSCCL_BLOCKS_MAX) {
        return msccl_refuse(gpu, "thread blocks of a GPU", MSCCL_BLOCKS_MAX, err);
    }
    gpu->is_crowded = gpu->is_crowded || beside >= MSCCL_PEERS_MAX;
    gpu->blocks[gpu->blocks_count++] =
        (struct msccl_block){.from = from, .to = to, .channel = channel};
    return AR_OK;
}

/* Waits for an operation by its number from 1, 0: none, if it is of another block and nothing says
 * it is done. */
static void wait_for(struct msccl_gpu *gpu, struct msccl_operation *operation, uint32_t number)
{
    if (number == 0) {
        return;
    }
    struct msccl_operation *other = &gpu->operations[number - 1];
    uint32_t *seen = &gpu->blocks[operation->block].seen[other->block];
    if (other->block == operation->block || *seen > other->step) {
        return;
    }
    *seen = other->step + 1;
    other->is_waited_for = true;
    for (uint32_t i = 0; i < operation->waits_count; i++) {
        struct msccl_wait *wait = &gpu->waits[operation->waits + i];
        if (wait->block == other->block) {
            wait->step = other->step;
            return;
        }
    }
    gpu->waits[gpu->waits_count++] = (struct msccl_wait){other->block, other->step};
    operation->waits_count++;
}

/* Appends an operation to its block; it waits for those that it must not overtake. */
static enum ar_status add(struct msccl_gpu *gpu, const struct msccl_operation *added,
                          struct ar_error *err)
{
    struct msccl_block *block = &gpu->blocks[added->block];
    struct msccl_operation *operation = &gpu->operations[gpu->operations_count++];
    *operation = *added;
    operation->waits = gpu->waits_count;
    bool writes = added->receive != AR_RECEIVE_NONE || added->to == gpu->kind->buffer;
    uint32_t *read = &gpu->read[(size_t)added->chunk * MSCCL_BLOCKS_MAX];
    wait_for(gpu, operation, gpu->written[added->chunk]);
    for (uint32_t i = 0; writes && i < gpu->blocks_count; i++) {
        wait_for(gpu, operation, read[i]);
        read[i] = 0;
    }
    *(writes ? &gpu->written[added->chunk] : &read[added->block]) = gpu->operations_count;
    operation->step = block->steps + (operation->waits_count > 1 ? operation->waits_count - 1 : 0);
    block->steps = operation->step + 1;
    if (block->steps > MSCCL_STEPS_MAX) {
        return msccl_refuse(gpu, "steps of a thread block", MSCCL_STEPS_MAX, err);
    }
    return AR_OK;
}

/* --- phases ----------------------------------------------------------------------------------- */

/* A phase on a channel of the collective. */
struct stretch {
    const struct ar_phase *phase;
    uint32_t first_step, channel, position;
    uint32_t first_channel; /* of MSCCL */
};

bool msccl_is_passed_on(const struct msccl_gpu *gpu, const struct ar_phase *phase)
{
    return phase->kind == AR_PHASE_WALK && phase->parts == gpu->elements;
}

static uint32_t rank_at(const struct msccl_gpu *gpu, const struct stretch *stretch,
                        uint32_t position)
{
    return ar_order_rank(&gpu->order, stretch->channel, position);
}

/* A message that is received, one that is sent, NULL: none, or both in one: an operation for each
 * chunk. The two sides agree on a channel by how far apart their ranks are. */
static enum ar_status add_message(struct msccl_gpu *gpu, const struct stretch *stretch,
                                  const struct ar_move *received, const struct ar_move *sent,
                                  struct ar_error *err)
{
    uint32_t from = received != NULL ? rank_at(gpu, stretch, received->receive_from) : MSCCL_NONE;
    uint32_t to = sent != NULL ? rank_at(gpu, stretch, sent->send_to) : MSCCL_NONE;
    uint32_t apart = (received != NULL ? gpu->rank - from : to - gpu->rank) + gpu->ranks;
    bool is_passed = msccl_is_passed_on(gpu, stretch->phase);
    const struct ar_slice *slice = sent != NULL ? &sent->send_span : &received->receive_span;
    struct msccl_operation operation = {
        .sends = sent != NULL, .receive = received != NULL ? received->receive : AR_RECEIVE_NONE};
    bool is_apart = gpu->groups > 1 && !is_passed;
    uint32_t part = 0, more = is_apart ? (apart % gpu->ranks - 1) / MSCCL_PEERS_MAX : 0;
    struct ar_span span;
    AR_TRY(
        find_block(gpu, stretch->first_channel + more, is_passed, from, to, &operation.block, err));
    while (ar_slice_next(slice, &part, &span)) {
        for (uint64_t i = span.first; i < span.first + span.count; i++) {
            operation.chunk = chunk_of(gpu, stretch->channel, (uint32_t)i);
            AR_TRY(add(gpu, &operation, err));
        }
    }
    return AR_OK;
}

/* Step by step what was received in the one before, then what is sent. */
static enum ar_status add_phase(struct msccl_gpu *gpu, const struct stretch *stretch,
                                struct ar_error *err)
{
    const struct ar_collective *collective = gpu->collective;
    struct ar_move before = {.receive = AR_RECEIVE_NONE};
    for (uint32_t i = 0; i <= stretch->phase->steps; i++) {
        struct ar_move move = {.receive = AR_RECEIVE_NONE};
        if (i < stretch->phase->steps) {
            move = ar_algorithm_move(collective->algorithm, &collective->shape, gpu->elements,
                                     stretch->position, stretch->first_step + i);
        }
        const struct ar_move *received = before.receive != AR_RECEIVE_NONE ? &before : NULL;
        const struct ar_move *sent = move.sends ? &move : NULL;
        if (received != NULL && sent != NULL && !msccl_is_passed_on(gpu, stretch->phase)) {
            AR_TRY(add_message(gpu, stretch, received, NULL, err));
            received = NULL;
        }
        if (received != NULL || sent != NULL) {
            AR_TRY(add_message(gpu, stretch, received, sent, err));
        }
        before = move;
    }
    return AR_OK;
}

/* --- a GPU ------------------------------------------------------------------------------------ */

/* Of operations that are not in place: what a rank holds to the buffer, or what it wants from it.
 */
static enum ar_status add_copies(struct msccl_gpu *gpu, bool is_in, struct ar_error *err)
{
    const struct ar_operation *operation = gpu->collective->operation;
    for (uint32_t channel = 0; channel < gpu->collective->channels; channel++) {
        uint32_t position = ar_order_position(&gpu->order, channel, gpu->rank);
        for (uint32_t i = 0; i < gpu->elements && !gpu->kind->is_in_place; i++) {
            struct msccl_operation copy = {.from = is_in ? 'i' : gpu->kind->buffer,
                                           .to = is_in ? gpu->kind->buffer : 'o',
                                           .chunk = chunk_of(gpu, channel, i)};
            uint32_t other = find_other(gpu, position, i, is_in);
            if (other == MSCCL_NONE) {
                continue;
            }
            copy.outer =
                operation->has_parts
                    ? part_chunk(gpu, channel, ar_order_rank(&gpu->order, channel, other), i)
                    : copy.chunk;
            AR_TRY(find_block(gpu, channel * gpu->width, false, MSCCL_NONE, MSCCL_NONE, &copy.block,
                              err));
            AR_TRY(add(gpu, &copy, err));
        }
    }
    return AR_OK;
}

/* From the last operation back: whether a sum that is sent on is read again. */
static void find_read(struct msccl_gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->elements * gpu->collective->channels; i++) {
        uint32_t channel = i / gpu->elements, element = i % gpu->elements;
        uint32_t position = ar_order_position(&gpu->order, channel, gpu->rank);
        gpu->is_read[chunk_of(gpu, channel, element)] =
            gpu->kind->is_in_place && find_other(gpu, position, element, false) != MSCCL_NONE;
    }
    for (uint32_t i = gpu->operations_count; i > 0; i--) {
        struct msccl_operation *operation = &gpu->operations[i - 1];
        bool is_written = operation->receive == AR_RECEIVE_COPY || operation->from == 'i';
        operation->is_sum_read = gpu->is_read[operation->chunk];
        gpu->is_read[operation->chunk] = !is_written;
    }
}

enum ar_status msccl_make_gpu(struct msccl_gpu *gpu, struct ar_error *err)
{
    memset(gpu->written, 0, gpu->chunks * sizeof *gpu->written);
    memset(gpu->read, 0, (size_t)gpu->chunks * MSCCL_BLOCKS_MAX * sizeof *gpu->read);
    gpu->operations_count = gpu->waits_count = gpu->blocks_count = 0;
    AR_TRY(add_copies(gpu, true, err));
    for (uint32_t channel = 0; channel < gpu->collective->channels; channel++) {
        struct stretch stretch = {.channel = channel};
        uint32_t next = channel * gpu->width + gpu->shared;
        stretch.position = ar_order_position(&gpu->order, channel, gpu->rank);
        for (uint32_t i = 0; i < gpu->phases_count; i++) {
            stretch.phase = &gpu->phases[i];
            stretch.first_channel =
                msccl_is_passed_on(gpu, stretch.phase) ? next++ : channel * gpu->width;
            AR_TRY(add_phase(gpu, &stretch, err));
            stretch.first_step += stretch.phase->steps;
        }
    }
    AR_TRY(add_copies(gpu, false, err));
    find_read(gpu);
    return AR_OK;
}
