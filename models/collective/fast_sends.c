/* Sends of a whole step at once, and steps that are known to have the same messages. Results are
 * the same without this file: ar_algorithm_move() says what a position sends (test_blocks.c). */
#include <assert.h>

#include "blocks.h"

/* --- elements of many slices ----------------------------------------------------------------- */

/* The elements of what some members send: those of ar_slice_of_parts(), 0 for a run of none. Slices
 * beside each other often are equal, or one part each, one after the other. */
static void count_slices(struct ar_span whole, uint32_t parts, uint32_t count,
                         const struct block_sends *some, uint64_t *counts)
{
    uint64_t quotient = whole.count / parts, remainder = whole.count % parts;
    uint64_t rest = 0; /* of part `next` times the remainder by parts, with few divisions */
    uint32_t next = 0;
    bool are_runs = remainder == 0;
    for (uint32_t i = 0; i < count && are_runs; i++) {
        are_runs = some->period[i] == parts;
    }
    for (uint32_t i = 0; i < count && are_runs; i++) {
        counts[i] = some->run[i] * quotient;
    }
    for (uint32_t i = 0; i < count && !are_runs; i++) {
        uint32_t first = some->first[i], run = some->run[i], period = some->period[i];
        bool is_again = i > 0 && first == some->first[i - 1] && run == some->run[i - 1];
        if (run == 0 || is_again) {
            counts[i] = run == 0 ? 0 : counts[i - 1];
        } else if (run > 1 || period < parts) {
            counts[i] = ar_slice_of_parts(whole, parts, first, run, period).count;
        } else {
            rest = (first == next ? rest : first * remainder % parts) + remainder;
            next = first + 1;
            counts[i] = quotient + (rest >= parts);
            rest -= rest >= parts ? parts : 0;
        }
    }
}

/* --- sends of a step ------------------------------------------------------------------------- */

void ar_algorithm_sends(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                        uint64_t elements, uint32_t step, struct ar_sends *sends)
{
    assert(algorithm->move == NULL); /* trees alone have one: no exchanges */
    struct stage_step at = stage_step_find(algorithm, shape, step);
    const struct ar_stage *stage = at.stage;
    uint32_t ranks = ar_shape_ranks(shape), parts = stage_parts(stage, shape, at.size);
    bool are_stripes = stage->lines == LINES_STRIPES;
    bool is_last = at.size * at.stride == ranks; /* dimension: each line spans all positions */
    uint32_t line_ranks = at.size * at.stride, end = (sends->end + at.stride - 1) / at.stride;
    end = end < at.size ? end : at.size;
    struct block_sends some; /* members of a line */
    uint64_t counts[BLOCK_SENDS_MAX];
    for (uint32_t first = is_last ? sends->first / at.stride : 0, count; first < end;
         first += count) {
        count = end - first < BLOCK_SENDS_MAX ? end - first : BLOCK_SENDS_MAX;
        stage->block->sends(at.size, at.block_step, stage->is_backwards, first, count, &some);
        for (uint32_t i = 0; i < count; i++) {
            some.period[i] = are_stripes ? at.size : some.period[i] == 0 ? parts : some.period[i];
        }
        /* lines that begin side by side */
        for (uint32_t inner = 0; inner < at.stride && inner < sends->end; inner++) {
            struct ar_span all = {.first = 0, .count = elements};
            count_slices(stage_span(stage, shape, all, inner), parts, count, &some, counts);
            for (uint32_t line = inner; line < sends->end; line += line_ranks) {
                bool is_idle = stage->lines == LINES_LEADERS && line > 0;
                uint32_t there = (sends->end - line - 1) / at.stride + 1;
                for (uint32_t i = 0; i < count && first + i < there; i++) {
                    size_t position = line + (size_t)(first + i) * at.stride;
                    bool does = some.to[i] != AR_NEVER && !is_idle;
                    sends->peers[position] = does ? line + some.to[i] * at.stride : AR_NEVER;
                    sends->counts[position] = does ? counts[i] : 0;
                }
            }
        }
    }
}

/* --- steps that are alike -------------------------------------------------------------------- */

uint32_t ar_algorithm_like_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                uint32_t step)
{
    if (algorithm->move != NULL) {
        return step;
    }
    struct stage_step at = stage_step_find(algorithm, shape, step);
    enum block_peers peers = at.stage->block->peers;
    uint32_t first = 0, like = at.step;
    if (peers != PEERS_ROUND && peers != PEERS_SWAP && peers != PEERS_ALTERNATE) {
        return step;
    }
    /* A stage before this one may have the same messages backwards. */
    const struct ar_stage *stage = algorithm_stages(algorithm, shape);
    while (stage->block != at.stage->block || stage->dimension != at.stage->dimension ||
           stage->lines != at.stage->lines) {
        first += stage_steps(stage++, shape);
    }
    if (peers != PEERS_ROUND) {
        like = at.block_step;
        like = peers == PEERS_ALTERNATE && like > 2 ? 2 - like % 2 : like;
        like = stage->is_backwards ? at.steps - 1 - like : like;
    }
    return first + like;
}
