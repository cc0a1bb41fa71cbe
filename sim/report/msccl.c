#include "msccl.h"

#include <inttypes.h>
#include <string.h>

#include "ar_multiple.h"

/* Of MSCCL's parser and msccl.h. */
enum { CHANNELS_MAX = 32, BLOCKS_MAX = 216, STEPS_MAX = 256, PEERS_MAX = 32, CHUNKS_MAX = 32767 };

#define NONE UINT32_MAX

/* An operation of MSCCL: its name, the buffer that is worked in, whether that is where data are and
 * stay; whether input, or output, is the part of one rank. */
struct kind {
    const struct ar_operation *operation;
    const char *name;
    char buffer;
    bool is_in_place, has_part_in, has_part_out;
};

static const struct kind kinds[] = {
    {&ar_operation_all_reduce, "allreduce", 'i', true, false, false},
    {&ar_operation_reduce_scatter, "reduce_scatter", 'i', true, false, true},
    {&ar_operation_all_gather, "allgather", 'o', true, true, false},
    {&ar_operation_broadcast, "broadcast", 'o', true, false, false},
    {&ar_operation_reduce, "reduce", 's', false, false, false},
    {&ar_operation_all_to_all, "alltoall", 's', false, false, false},
    {&ar_operation_gather, "custom", 'i', true, false, false},
    {&ar_operation_scatter, "custom", 'i', true, false, false},
    {&ar_operation_send, "custom", 'i', true, false, false},
};

struct wait {
    uint32_t block, step;
};

struct operation {
    enum ar_receive receive;
    bool sends;
    char from, to;               /* buffers of a copy; 0: it is none */
    uint32_t chunk;              /* in the buffer that is worked in */
    uint32_t outer;              /* of a copy: in the other one */
    bool is_sum_read;            /* of a sum that is sent on */
    uint32_t block, step;        /* the step after those of its waits */
    uint32_t waits, waits_count; /* in writer.waits */
    bool is_waited_for;
};

struct block {
    uint32_t from, to, channel; /* ranks; NONE */
    uint32_t steps;
    uint32_t seen[BLOCKS_MAX]; /* of other blocks so many steps are done */
};

/* What is written of a GPU. */
struct writer {
    const struct ar_collective *collective;
    const struct kind *kind;
    struct ar_order order;
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count;
    uint32_t groups, shared, width; /* MSCCL's channels for peers; those of phases that pass
                                       nothing on, if there are any; all of a channel's */
    bool is_crowded;                /* more groups are needed */
    uint32_t ranks, rank;
    uint32_t elements, chunks;    /* of a channel; of the buffer */
    struct operation *operations; /* in the order of the algorithm */
    struct wait *waits;
    struct block *blocks;
    uint32_t operations_count, waits_count, blocks_count;
    uint32_t *written; /* [chunk]: number of the last operation that did, from 1 */
    uint32_t *read;    /* [chunk][block]: the same, since it was written */
    bool *is_read;     /* [chunk]: after what is looked at */
};

static enum ar_status refuse(const struct writer *writer, const char *what, uint32_t max,
                             struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE,
                        "--format msccl: found more than %" PRIu32 " %s for %s on %" PRIu32
                        " GPUs; expected fewer GPUs, fewer --channels or another --algorithm",
                        max, what, writer->collective->algorithm->name, writer->ranks);
}

/* --- chunks ------------------------------------------------------------------------------------
 */

/* Of the part of a rank. */
static uint32_t part_chunk(const struct writer *writer, uint32_t channel, uint32_t rank,
                           uint32_t element)
{
    uint32_t part = writer->elements / writer->ranks;
    return (rank * writer->collective->channels + channel) * part + element % part;
}

static uint32_t chunk_of(const struct writer *writer, uint32_t channel, uint32_t element)
{
    const struct ar_operation_place place = {
        .shape = &writer->collective->shape, .elements = writer->elements, .element = element};
    if (writer->kind->is_in_place && writer->collective->operation->has_parts) {
        uint32_t owner = ar_order_rank(&writer->order, channel, ar_operation_owner(&place));
        return part_chunk(writer, channel, owner, element);
    }
    return channel * writer->elements + element;
}

/* Whose contribution a position wants at a place, or, of what it gives, who wants it; NONE. */
static uint32_t find_other(const struct writer *writer, uint32_t position, uint32_t element,
                           bool gives)
{
    struct ar_operation_place place = {
        .shape = &writer->collective->shape, .elements = writer->elements, .element = element};
    for (uint32_t other = 0; other < writer->ranks; other++) {
        place.position = gives ? other : position;
        if (writer->collective->operation->wants(&place, gives ? position : other)) {
            return other;
        }
    }
    return NONE;
}

/* --- operations --------------------------------------------------------------------------------
 */

/* The block of a channel with these peers; of a phase that is passed on, that of the channel, whose
 * peers become known one by one. */
static enum ar_status find_block(struct writer *writer, uint32_t channel, bool is_passed_on,
                                 uint32_t from, uint32_t to, uint32_t *number, struct ar_error *err)
{
    uint32_t beside = 0;
    for (*number = 0; *number < writer->blocks_count; (*number)++) {
        struct block *block = &writer->blocks[*number];
        beside += block->channel == channel && (block->from == NONE) == (from == NONE);
        if (block->channel == channel &&
            (is_passed_on || (block->from == from && block->to == to))) {
            block->from = from != NONE ? from : block->from;
            block->to = to != NONE ? to : block->to;
            return AR_OK;
        }
    }
    if (writer->blocks_count == BLOCKS_MAX) {
        return refuse(writer, "thread blocks of a GPU", BLOCKS_MAX, err);
    }
    writer->is_crowded = writer->is_crowded || beside >= PEERS_MAX;
    writer->blocks[writer->blocks_count++] =
        (struct block){.from = from, .to = to, .channel = channel};
    return AR_OK;
}

/* Waits for an operation by its number, if it is of another block and nothing says it is done. */
static void wait_for(struct writer *writer, struct operation *operation, uint32_t number)
{
    struct operation *other = &writer->operations[number - 1];
    if (number == 0 || other->block == operation->block ||
        writer->blocks[operation->block].seen[other->block] > other->step) {
        return;
    }
    writer->blocks[operation->block].seen[other->block] = other->step + 1;
    other->is_waited_for = true;
    for (uint32_t i = 0; i < operation->waits_count; i++) {
        struct wait *wait = &writer->waits[operation->waits + i];
        if (wait->block == other->block) {
            wait->step = other->step;
            return;
        }
    }
    writer->waits[writer->waits_count++] = (struct wait){other->block, other->step};
    operation->waits_count++;
}

/* Appends an operation to its block; it waits for those that it must not overtake. */
static enum ar_status add(struct writer *writer, const struct operation *added,
                          struct ar_error *err)
{
    uint32_t number = writer->operations_count + 1;
    struct block *block = &writer->blocks[added->block];
    if (block->steps >= STEPS_MAX) {
        return refuse(writer, "steps of a thread block", STEPS_MAX, err);
    }
    struct operation *operation = &writer->operations[writer->operations_count++];
    *operation = *added;
    operation->waits = writer->waits_count;
    bool writes = added->receive != AR_RECEIVE_NONE || added->to == writer->kind->buffer;
    uint32_t *read = &writer->read[(size_t)added->chunk * BLOCKS_MAX];
    wait_for(writer, operation, writer->written[added->chunk]);
    for (uint32_t i = 0; writes && i < writer->blocks_count; i++) {
        wait_for(writer, operation, read[i]);
        read[i] = 0;
    }
    *(writes ? &writer->written[added->chunk] : &read[added->block]) = number;
    operation->step = block->steps + (operation->waits_count > 1 ? operation->waits_count - 1 : 0);
    block->steps = operation->step + 1;
    return block->steps <= STEPS_MAX ? AR_OK
                                     : refuse(writer, "steps of a thread block", STEPS_MAX, err);
}

/* --- phases ------------------------------------------------------------------------------------
 */

/* A phase on a channel of the collective. */
struct stretch {
    const struct ar_phase *phase;
    uint32_t first_step, channel, position;
    uint32_t first_channel; /* of MSCCL */
};

/* Messages of one chunk that are passed on: what is received is sent in the next step, if anything
 * is. */
static bool is_passed_on(const struct writer *writer, const struct ar_phase *phase)
{
    return phase->kind == AR_PHASE_WALK && phase->parts == writer->elements;
}

static uint32_t rank_at(const struct writer *writer, const struct stretch *stretch,
                        uint32_t position)
{
    return ar_order_rank(&writer->order, stretch->channel, position);
}

/* A message that is received, one that is sent, NULL: none, or both in one: an operation for each
 * chunk. The two sides agree on a channel by how far apart their ranks are. */
static enum ar_status add_message(struct writer *writer, const struct stretch *stretch,
                                  const struct ar_move *received, const struct ar_move *sent,
                                  struct ar_error *err)
{
    uint32_t from = received != NULL ? rank_at(writer, stretch, received->receive_from) : NONE;
    uint32_t to = sent != NULL ? rank_at(writer, stretch, sent->send_to) : NONE;
    uint32_t apart = (received != NULL ? writer->rank - from : to - writer->rank) + writer->ranks;
    bool is_passed = is_passed_on(writer, stretch->phase);
    const struct ar_slice *slice = sent != NULL ? &sent->send_span : &received->receive_span;
    struct operation operation = {
        .sends = sent != NULL, .receive = received != NULL ? received->receive : AR_RECEIVE_NONE};
    bool is_apart = writer->groups > 1 && !is_passed;
    uint32_t part = 0, more = is_apart ? (apart % writer->ranks - 1) / PEERS_MAX : 0;
    struct ar_span span;
    AR_TRY(find_block(writer, stretch->first_channel + more, is_passed, from, to, &operation.block,
                      err));
    while (ar_slice_next(slice, &part, &span)) {
        for (uint64_t i = span.first; i < span.first + span.count; i++) {
            operation.chunk = chunk_of(writer, stretch->channel, (uint32_t)i);
            AR_TRY(add(writer, &operation, err));
        }
    }
    return AR_OK;
}

/* Step by step what was received in the one before, then what is sent. */
static enum ar_status add_phase(struct writer *writer, const struct stretch *stretch,
                                struct ar_error *err)
{
    const struct ar_collective *collective = writer->collective;
    struct ar_move before = {.receive = AR_RECEIVE_NONE};
    for (uint32_t i = 0; i <= stretch->phase->steps; i++) {
        struct ar_move move = {.receive = AR_RECEIVE_NONE};
        if (i < stretch->phase->steps) {
            move = ar_algorithm_move(collective->algorithm, &collective->shape, writer->elements,
                                     stretch->position, stretch->first_step + i);
        }
        const struct ar_move *received = before.receive != AR_RECEIVE_NONE ? &before : NULL;
        const struct ar_move *sent = move.sends ? &move : NULL;
        if (received != NULL && sent != NULL && !is_passed_on(writer, stretch->phase)) {
            AR_TRY(add_message(writer, stretch, received, NULL, err));
            received = NULL;
        }
        if (received != NULL || sent != NULL) {
            AR_TRY(add_message(writer, stretch, received, sent, err));
        }
        before = move;
    }
    return AR_OK;
}

/* --- a GPU -------------------------------------------------------------------------------------
 */

/* Of operations that are not in place: what a rank holds to the buffer, or what it wants from it.
 */
static enum ar_status add_copies(struct writer *writer, bool is_in, struct ar_error *err)
{
    const struct ar_operation *operation = writer->collective->operation;
    for (uint32_t channel = 0; channel < writer->collective->channels; channel++) {
        uint32_t position = ar_order_position(&writer->order, channel, writer->rank);
        for (uint32_t i = 0; i < writer->elements && !writer->kind->is_in_place; i++) {
            struct operation copy = {.from = is_in ? 'i' : writer->kind->buffer,
                                     .to = is_in ? writer->kind->buffer : 'o',
                                     .chunk = chunk_of(writer, channel, i)};
            uint32_t other = find_other(writer, position, i, is_in);
            if (other == NONE) {
                continue;
            }
            copy.outer =
                operation->has_parts
                    ? part_chunk(writer, channel, ar_order_rank(&writer->order, channel, other), i)
                    : copy.chunk;
            AR_TRY(
                find_block(writer, channel * writer->width, false, NONE, NONE, &copy.block, err));
            AR_TRY(add(writer, &copy, err));
        }
    }
    return AR_OK;
}

/* From the last operation back: whether a sum that is sent on is read again. */
static void find_read(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->elements * writer->collective->channels; i++) {
        uint32_t channel = i / writer->elements, element = i % writer->elements;
        uint32_t position = ar_order_position(&writer->order, channel, writer->rank);
        writer->is_read[chunk_of(writer, channel, element)] =
            writer->kind->is_in_place && find_other(writer, position, element, false) != NONE;
    }
    for (uint32_t i = writer->operations_count; i > 0; i--) {
        struct operation *operation = &writer->operations[i - 1];
        bool is_written = operation->receive == AR_RECEIVE_COPY || operation->from == 'i';
        operation->is_sum_read = writer->is_read[operation->chunk];
        writer->is_read[operation->chunk] = !is_written;
    }
}

static enum ar_status make_gpu(struct writer *writer, struct ar_error *err)
{
    memset(writer->written, 0, writer->chunks * sizeof *writer->written);
    memset(writer->read, 0, (size_t)writer->chunks * BLOCKS_MAX * sizeof *writer->read);
    writer->operations_count = writer->waits_count = writer->blocks_count = 0;
    AR_TRY(add_copies(writer, true, err));
    for (uint32_t channel = 0; channel < writer->collective->channels; channel++) {
        struct stretch stretch = {.channel = channel};
        uint32_t next = channel * writer->width + writer->shared;
        stretch.position = ar_order_position(&writer->order, channel, writer->rank);
        for (uint32_t i = 0; i < writer->phases_count; i++) {
            stretch.phase = &writer->phases[i];
            stretch.first_channel =
                is_passed_on(writer, stretch.phase) ? next++ : channel * writer->width;
            AR_TRY(add_phase(writer, &stretch, err));
            stretch.first_step += stretch.phase->steps;
        }
    }
    AR_TRY(add_copies(writer, false, err));
    find_read(writer);
    return AR_OK;
}

static const char *type_of(const struct operation *operation)
{
    bool is_sum = operation->receive == AR_RECEIVE_REDUCE;
    return operation->from != 0                    ? "cpy"
           : operation->receive == AR_RECEIVE_NONE ? "s"
           : !operation->sends                     ? is_sum ? "rrc" : "r"
           : !is_sum                               ? "rcs"
           : operation->is_sum_read                ? "rrcs"
                                                   : "rrs";
}

static void write_step(FILE *file, uint32_t step, const char *type, char from, int64_t from_chunk,
                       char to, int64_t to_chunk, uint32_t count, const struct wait *wait,
                       bool is_waited_for)
{
    fprintf(file,
            "      <step s=\"%" PRIu32 "\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%" PRId64
            "\" dstbuf=\"%c\" dstoff=\"%" PRId64 "\" cnt=\"%" PRIu32 "\" depid=\"%" PRId64
            "\" deps=\"%" PRId64 "\" hasdep=\"%d\"/>\n",
            step, type, from, from_chunk, to, to_chunk, count,
            wait != NULL ? (int64_t)wait->block : -1, wait != NULL ? (int64_t)wait->step : -1,
            is_waited_for);
}

/* All waits but the last are steps of their own. */
static void write_operation(FILE *file, const struct writer *writer,
                            const struct operation *operation)
{
    const struct wait *waits = &writer->waits[operation->waits];
    uint32_t last = operation->waits_count > 0 ? operation->waits_count - 1 : 0;
    for (uint32_t i = 0; i < last; i++) {
        write_step(file, operation->step - last + i, "nop", 'i', -1, 'o', -1, 0, &waits[i], false);
    }
    bool is_copy = operation->from != 0, is_in = operation->from == 'i' && is_copy;
    write_step(
        file, operation->step, type_of(operation), is_copy ? operation->from : writer->kind->buffer,
        is_in ? operation->outer : operation->chunk, is_copy ? operation->to : writer->kind->buffer,
        is_copy && !is_in ? operation->outer : operation->chunk, 1,
        operation->waits_count > 0 ? &waits[last] : NULL, operation->is_waited_for);
}

static int64_t peer_of(uint32_t rank)
{
    return rank == NONE ? -1 : (int64_t)rank;
}

static void write_gpu(FILE *file, const struct writer *writer)
{
    const struct kind *kind = writer->kind;
    bool is_custom = kind->buffer == 'i' && kind->operation->has_root;
    fprintf(file,
            "  <gpu id=\"%" PRIu32 "\" i_chunks=\"%" PRIu32 "\" o_chunks=\"%" PRIu32
            "\" s_chunks=\"%" PRIu32 "\">\n",
            writer->rank, writer->chunks / (kind->has_part_in ? writer->ranks : 1),
            is_custom ? 0 : writer->chunks / (kind->has_part_out ? writer->ranks : 1),
            kind->is_in_place ? 0 : writer->chunks);
    for (uint32_t i = 0; i < writer->blocks_count; i++) {
        const struct block *block = &writer->blocks[i];
        fprintf(file,
                "    <tb id=\"%" PRIu32 "\" send=\"%" PRId64 "\" recv=\"%" PRId64
                "\" chan=\"%" PRIu32 "\">\n",
                i, peer_of(block->to), peer_of(block->from), block->channel);
        for (uint32_t k = 0; k < writer->operations_count; k++) {
            if (writer->operations[k].block == i) {
                write_operation(file, writer, &writer->operations[k]);
            }
        }
        fprintf(file, "    </tb>\n");
    }
    fprintf(file, "  </gpu>\n");
}

/* --- the file ----------------------------------------------------------------------------------
 */

static enum ar_status prepare(struct writer *writer, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_collective *collective = writer->collective;
    writer->phases_count =
        ar_algorithm_phases(collective->algorithm, &collective->shape, writer->phases);
    writer->elements = collective->operation->has_parts ? writer->ranks : 1;
    for (uint32_t i = 0; i < writer->phases_count && writer->elements <= CHUNKS_MAX; i++) {
        uint32_t pieces = writer->phases[i].pieces > 0 ? writer->phases[i].pieces : 1;
        writer->elements = ar_common_multiple(writer->elements,
                                              ar_common_multiple(writer->phases[i].parts, pieces));
    }
    if (writer->elements > CHUNKS_MAX / collective->channels) {
        return refuse(writer, "chunks", CHUNKS_MAX, err);
    }
    writer->chunks = writer->elements * collective->channels;
    size_t steps = (size_t)BLOCKS_MAX * (STEPS_MAX + 1);
    writer->operations = ar_arena_alloc(arena, steps, sizeof *writer->operations);
    writer->waits = ar_arena_alloc(arena, steps, sizeof *writer->waits);
    writer->blocks = ar_arena_alloc(arena, BLOCKS_MAX, sizeof *writer->blocks);
    writer->written = ar_arena_alloc(arena, writer->chunks, sizeof *writer->written);
    writer->read = ar_arena_alloc(arena, (size_t)writer->chunks * BLOCKS_MAX, sizeof *writer->read);
    writer->is_read = ar_arena_alloc(arena, writer->chunks, sizeof *writer->is_read);
    return writer->operations != NULL && writer->waits != NULL && writer->blocks != NULL &&
                   writer->written != NULL && writer->read != NULL && writer->is_read != NULL
               ? AR_OK
               : ar_error_no_memory(err, "thread blocks");
}

/* All GPUs, without writing anything: what is refused is refused before. */
static enum ar_status make_all(struct writer *writer, struct ar_error *err)
{
    writer->is_crowded = false;
    writer->shared = writer->kind->is_in_place ? 0 : writer->groups;
    writer->width = 0;
    for (uint32_t i = 0; i < writer->phases_count; i++) {
        bool is_passed = is_passed_on(writer, &writer->phases[i]);
        writer->width += is_passed;
        writer->shared = is_passed ? writer->shared : writer->groups;
    }
    writer->width += writer->shared;
    if (writer->width * writer->collective->channels > CHANNELS_MAX) {
        return refuse(writer, "channels", CHANNELS_MAX, err);
    }
    for (writer->rank = 0; writer->rank < writer->ranks; writer->rank++) {
        AR_TRY(make_gpu(writer, err));
    }
    return AR_OK;
}

enum ar_status msccl_write(FILE *file, const struct ar_collective *collective, const char *made_by,
                           struct ar_arena *arena, struct ar_error *err)
{
    struct writer writer = {.collective = collective,
                            .kind = kinds,
                            .order = ar_collective_order(collective),
                            .groups = 1,
                            .ranks = ar_shape_ranks(&collective->shape)};
    while (writer.kind->operation != collective->operation) { /* all are there */
        writer.kind++;
    }
    if (collective->algorithm == NULL || collective->algorithm->wants_sums ||
        ar_collective_groups(collective) > 1) {
        return ar_error_set(err, AR_USAGE,
                            "--format msccl: found %s in %" PRIu32
                            " groups; expected an algorithm whose ranks send to ranks, in one",
                            ar_algorithm_name(collective->algorithm),
                            ar_collective_groups(collective));
    }
    AR_TRY(prepare(&writer, arena, err));
    AR_TRY(make_all(&writer, err));
    if (writer.is_crowded) {
        writer.groups = (writer.ranks - 2) / PEERS_MAX + 1;
        AR_TRY(make_all(&writer, err));
    }
    fprintf(file,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%" PRIu32 "\" nchunksperloop=\"%" PRIu32
            "\" ngpus=\"%" PRIu32
            "\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"0\">\n",
            collective->algorithm->name, writer.width * collective->channels, writer.chunks,
            writer.ranks, writer.kind->name, writer.kind->is_in_place, !writer.kind->is_in_place);
    for (writer.rank = 0; writer.rank < writer.ranks; writer.rank++) {
        AR_TRY(make_gpu(&writer, err));
        write_gpu(file, &writer);
    }
    fprintf(file, "</algo>\n<!-- %s -->\n", made_by);
    return AR_OK;
}
