#include "cuda_program.h"

#include <string.h>

#include "executor.h"

/* An operation that read, or wrote, memory of a rank. */
struct touch {
    const unsigned char *begin, *end;
    struct kernel_wait by; /* that it has been done */
    bool writes;
};

struct touches {
    struct touch *items;
    size_t count;
};

/* A channel while its lanes are made. */
struct channel {
    const struct measurement *measurement;
    const struct rank_memory *ranks;
    struct ar_span part; /* of the payload */
    bool packs_all, has_one_block;
    struct program **programs; /* [rank] */
    struct touches *touches;   /* [rank whose memory it is] */
    uint32_t *seen;            /* [rank][other]: the operations it has waited for so far */
    uint32_t *needed;          /* [rank]: operations that the next one waits for */
    struct ar_arena *arena;
};

static void add_touch(struct channel *channel, uint32_t owner, struct touch touch)
{
    struct touches *touches = &channel->touches[owner];
    *AR_ARENA_ADD(channel->arena, touches->items, touches->count) = touch;
}

/* Marks the operations that touched memory of a rank, or only those that wrote it. */
static void need_before(struct channel *channel, uint32_t owner, const unsigned char *begin,
                        const unsigned char *end, bool only_writes)
{
    const struct touches *touches = &channel->touches[owner];
    AR_EACH(const struct touch, touch, touches->items, touches->count) {
        uint32_t *needed = &channel->needed[touch->by.rank];
        if (touch->begin < end && begin < touch->end && (touch->writes || !only_writes) &&
            touch->by.done > *needed) {
            *needed = touch->by.done;
        }
    }
}

/* Adds an operation of `rank`, which writes its buffer or, where it packs, its window, and reads
 * the buffer of `from_rank` or the window. More waits than it has room for are those of empty
 * operations before it. */
static void add_op(struct channel *channel, uint32_t rank, bool packs, uint32_t from_rank,
                   bool is_packed, struct ar_span span, bool sums)
{
    uint32_t ranks = channel->measurement->ranks, bytes = channel->measurement->type->bytes;
    const struct rank_memory *own = &channel->ranks[rank], *other = &channel->ranks[from_rank];
    struct program *program = channel->programs[rank];
    size_t at = (channel->part.first + span.first) * bytes, end = at + span.count * bytes;
    unsigned char *to = packs ? own->window : own->buffer;
    const unsigned char *from = is_packed ? other->window : other->buffer;
    struct kernel_op op = {.waits_count = 0};
    memset(channel->needed, 0, ranks * sizeof *channel->needed);
    need_before(channel, from_rank, from + at, from + end, true);
    need_before(channel, rank, to + at, to + end, false);
    for (uint32_t i = 0; i <= ranks; i++) {
        bool is_last = i == ranks;
        uint32_t *seen = &channel->seen[rank * ranks + i % ranks];
        if (is_last || op.waits_count == KERNEL_WAITS_MAX) {
            op.to = to + at;
            op.from = from + at;
            op.count = is_last ? span.count : 0;
            op.sums = sums;
            *AR_ARENA_ADD(channel->arena, program->ops, program->ops_count) = op;
            op.waits_count = 0;
        }
        if (!is_last && channel->needed[i] > *seen && !(i == rank && channel->has_one_block)) {
            *seen = channel->needed[i];
            op.waits[op.waits_count++] = (struct kernel_wait){.rank = i, .done = *seen};
            channel->programs[i]->listeners |= UINT64_C(1) << rank;
        }
    }
    struct kernel_wait by = {.rank = rank, .done = program->ops_count};
    add_touch(channel, from_rank, (struct touch){from + at, from + end, by, false});
    add_touch(channel, rank, (struct touch){to + at, to + end, by, true});
}

static void add_runs(struct channel *channel, uint32_t rank, bool packs, uint32_t from_rank,
                     bool is_packed, const struct ar_slice *slice, bool sums)
{
    uint32_t part = 0;
    for (struct ar_span run; ar_slice_next(slice, &part, &run);) {
        if (run.count > 0) {
            add_op(channel, rank, packs, from_rank, is_packed, run, sums);
        }
    }
}

/* All that is sent is packed, where it must be, before anything is received. */
static void add_step(struct channel *channel, uint32_t number, uint32_t step)
{
    const struct measurement *measurement = channel->measurement;
    struct ar_order order = measurement_order(measurement);
    bool is_packed[KERNEL_RANKS_MAX] = {false};
    for (uint32_t i = 0; i < 2 * measurement->ranks; i++) {
        uint32_t position = i % measurement->ranks;
        struct ar_move move = ar_algorithm_move(measurement->algorithm, &measurement->shape,
                                                channel->part.count, position, step);
        bool is_sending = i < measurement->ranks, receives = move.receive != AR_RECEIVE_NONE;
        uint32_t rank = ar_order_rank(&order, number, position);
        if (is_sending && move.sends) {
            is_packed[rank] = channel->packs_all ||
                              (receives && !slices_are_apart(&move.send_span, &move.receive_span));
            if (is_packed[rank]) {
                add_runs(channel, rank, true, rank, false, &move.send_span, false);
            }
        } else if (!is_sending && receives) {
            uint32_t from = ar_order_rank(&order, number, move.receive_from);
            add_runs(channel, rank, false, from, is_packed[from], &move.receive_span,
                     move.receive == AR_RECEIVE_REDUCE);
        }
    }
}

/* A message one way, or there and back many times. */
static void add_link_probe(struct channel *channel)
{
    const struct measurement *measurement = channel->measurement;
    struct ar_slice all = ar_slice_all(channel->part);
    for (uint32_t i = 0; i < (measurement->probe == PROBE_LATENCY ? PROGRAM_MESSAGES : 1); i++) {
        uint32_t from = i % 2 == 0 ? measurement->from : measurement->to;
        uint32_t to = i % 2 == 0 ? measurement->to : measurement->from;
        if (channel->packs_all) {
            add_runs(channel, from, true, from, false, &all, false);
        }
        add_runs(channel, to, false, from, channel->packs_all, &all, false);
    }
}

struct program *programs_create(const struct measurement *measurement,
                                const struct rank_memory *ranks, bool packs_all, uint32_t blocks,
                                struct ar_arena *arena)
{
    uint32_t count = measurement->ranks, channels = measurement->channels;
    struct program *programs = ar_arena_alloc(arena, (size_t)count * channels, sizeof *programs);
    for (uint32_t number = 0; number < channels; number++) {
        struct channel channel = {
            .measurement = measurement,
            .ranks = ranks,
            .part = measurement_part(measurement, number),
            .packs_all = packs_all,
            .has_one_block = blocks == 1,
            .programs = ar_arena_alloc(arena, count, sizeof *channel.programs),
            .touches = ar_arena_alloc(arena, count, sizeof *channel.touches),
            .seen = ar_arena_alloc(arena, (size_t)count * count, sizeof *channel.seen),
            .needed = ar_arena_alloc(arena, count, sizeof *channel.needed),
            .arena = arena};
        for (uint32_t rank = 0; rank < count; rank++) {
            channel.programs[rank] = &programs[rank * channels + number];
        }
        if (measurement->probe != PROBE_NONE) {
            add_link_probe(&channel);
            continue;
        }
        uint32_t steps = ar_algorithm_steps(measurement->algorithm, &measurement->shape);
        for (uint32_t step = 0; step < steps; step++) {
            add_step(&channel, number, step);
        }
    }
    return programs;
}
