/* Phases in which switches sum: what a switch does with the sets of its members. */
#include <string.h>

#include "verify_sets.h"

/* What became of an element at a switch. */
enum { NOBODYS, SENT, ASKED_FOR };

static bool is_member(const struct ar_line *line, uint32_t rank)
{
    uint32_t ahead = rank - line->first;
    return rank >= line->first && ahead % line->stride == 0 && ahead / line->stride < line->count;
}

/* The line is within the ranks, and its first member is in the same one. */
static bool is_line(const struct sets *sets, uint32_t step, uint32_t rank,
                    const struct ar_line *line)
{
    if (line->count < 2 || line->stride < 1 ||
        line->first + (uint64_t)(line->count - 1) * line->stride >= sets->ranks ||
        !is_member(line, rank)) {
        return false;
    }
    struct ar_move first = move_of(sets, line->first, step);
    return first.line.first == line->first && first.line.count == line->count &&
           first.line.stride == line->stride;
}

/* Notes which part of its pipeline an element is in. */
static enum ar_status note_part(const struct sets *sets, uint32_t step, uint32_t rank,
                                uint32_t part, uint64_t element, struct ar_error *err)
{
    if (sets->part[element] != 0 && sets->part[element] != part + 1) {
        return verify_broken(sets, step, rank, "touches what is in another part of the pipeline",
                             err);
    }
    sets->part[element] = part + 1;
    return AR_OK;
}

/* An element that a rank sends: its switch adds it up. */
static enum ar_status sum_up(const struct sets *sets, uint32_t step, uint32_t rank,
                             uint64_t element, struct ar_error *err)
{
    const uint64_t *sent = set_of(sets, sets->before, rank, element);
    uint64_t *sum = set_of(sets, sets->sums, 0, element);
    for (size_t word = 0; word < sets->words; word++) {
        if ((sum[word] & sent[word]) != 0) {
            return verify_broken(sets, step, rank, "adds a contribution a second time", err);
        }
        sum[word] |= sent[word];
    }
    sets->state[element] = SENT;
    return AR_OK;
}

/* An element that a rank gets. */
static enum ar_status take_sum(const struct sets *sets, uint32_t step, uint32_t rank,
                               uint64_t element, struct ar_error *err)
{
    if (sets->state[element] == NOBODYS) {
        return verify_broken(sets, step, rank, "asks a switch for what nobody has sent", err);
    }
    sets->state[element] = ASKED_FOR;
    memcpy(set_of(sets, sets->now, rank, element), set_of(sets, sets->sums, 0, element),
           sets->words * sizeof *sets->sums);
    return AR_OK;
}

/* All elements that a member sends, or receives. */
static enum ar_status sum_member(const struct sets *sets, uint32_t step, uint32_t part,
                                 uint32_t rank, bool sends, struct ar_error *err)
{
    struct ar_move move = move_of(sets, rank, step);
    const struct ar_slice *slice = sends ? &move.send_span : &move.receive_span;
    uint32_t at = 0;
    struct ar_span span;
    if (!(sends ? move.sends : move.receive != AR_RECEIVE_NONE)) {
        return AR_OK;
    }
    if (!verify_is_sound(sets, slice)) {
        return verify_broken(sets, step, rank, "sends or receives beyond the end of the buffer",
                             err);
    }
    while (ar_slice_next(slice, &at, &span)) {
        for (uint64_t i = span.first; i < span.first + span.count; i++) {
            AR_TRY(note_part(sets, step, rank, part, i, err));
            AR_TRY((sends ? sum_up : take_sum)(sets, step, rank, i, err));
        }
    }
    return AR_OK;
}

/* What all members of a line send and receive. */
static enum ar_status sum_line(const struct sets *sets, uint32_t step, uint32_t part,
                               const struct ar_line *line, struct ar_error *err)
{
    memset(sets->sums, 0, sets->elements * sets->words * sizeof *sets->sums);
    memset(sets->state, NOBODYS, sets->elements * sizeof *sets->state);
    for (uint32_t i = 0; i < 2 * line->count; i++) {
        uint32_t member = line->first + i % line->count * line->stride;
        AR_TRY(sum_member(sets, step, part, member, i < line->count, err));
    }
    for (uint64_t i = 0; i < sets->elements; i++) {
        if (sets->state[i] == SENT) {
            return verify_broken(sets, step, line->first,
                                 "is in the line of who sends what nobody gets", err);
        }
    }
    return AR_OK;
}

enum ar_status verify_sums(const struct sets *sets, uint32_t step, uint32_t part,
                           uint64_t *messages, struct ar_error *err)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        struct ar_move move = move_of(sets, rank, step);
        if (!is_line(sets, step, rank, &move.line)) {
            return verify_broken(sets, step, rank, "is in no line of a switch that knows it", err);
        }
        if (rank == move.line.first) {
            AR_TRY(sum_line(sets, step, part, &move.line, err));
        }
        *messages += move.sends;
    }
    return AR_OK;
}
