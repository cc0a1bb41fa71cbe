#include "ar_shape.h"

static uint64_t begin_of(struct ar_span whole, uint32_t parts, uint32_t part)
{
    if (whole.count == parts) { /* of those who count parts: no divisions */
        return whole.first + part;
    }
    return part < parts ? ar_span_part(whole, parts, part).first : whole.first + whole.count;
}

/* From part `first` to before part `end`. */
static struct ar_span run_of(struct ar_span whole, uint32_t parts, uint32_t first, uint32_t end)
{
    uint64_t begin = begin_of(whole, parts, first);
    return (struct ar_span){.first = begin, .count = begin_of(whole, parts, end) - begin};
}

static uint32_t least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

bool ar_slice_next(const struct ar_slice *slice, uint32_t *part, struct ar_span *span)
{
    uint32_t place; /* of the part in its period, the run first */
    if (*part >= slice->parts) {
        return false;
    }
    place = (*part % slice->period + slice->period - slice->first % slice->period) % slice->period;
    if (place >= slice->run) { /* on to where the next run begins */
        uint64_t next = (uint64_t)*part + slice->period - place;
        if (next >= slice->parts) {
            *part = slice->parts;
            return false;
        }
        *part = (uint32_t)next;
        place = 0;
    }
    uint32_t end = slice->run == slice->period
                       ? slice->parts
                       : least((uint64_t)*part + slice->run - place, slice->parts);
    *span = run_of(slice->whole, slice->parts, *part, end);
    *part = end;
    return true;
}

/* Numbers that two runs from `first` to before `end` have in common. */
static uint64_t overlap(uint64_t first, uint64_t end, uint64_t other_first, uint64_t other_end)
{
    uint64_t begin = first > other_first ? first : other_first;
    uint64_t stop = end < other_end ? end : other_end;
    return stop > begin ? stop - begin : 0;
}

/* Parts of the slice: those of whole periods, and of the rest, which reaches into a second one. */
static uint64_t parts_of(const struct ar_slice *slice)
{
    uint64_t period = slice->period;
    uint64_t begin = (period - slice->first % period) % period;
    uint64_t end = begin + slice->parts % period;
    return slice->parts / period * slice->run + overlap(begin, end, 0, slice->run) +
           overlap(begin, end, period, period + slice->run);
}

struct ar_slice ar_slice_of_parts(struct ar_span whole, uint32_t parts, uint32_t first,
                                  uint32_t run, uint32_t period)
{
    uint32_t part = 0;
    struct ar_span span = {.first = whole.first, .count = 0};
    struct ar_slice slice = {.whole = whole,
                             .parts = parts,
                             .first = first,
                             .run = run < period ? run : period,
                             .period = period};
    bool is_one_run = period == parts && (uint64_t)first + run <= parts;
    if (is_one_run || run == 0) {
        return ar_slice_all(run_of(whole, parts, first, first + run));
    }
    if (whole.count % parts == 0 && period < parts) {
        slice.count = parts_of(&slice) * (whole.count / parts);
        return slice;
    }
    while (ar_slice_next(&slice, &part, &span)) {
        slice.count += span.count;
    }
    return slice;
}

/* Where a part begins, and what tells where the next one does without a division. */
struct boundary {
    uint32_t part;
    uint64_t begin, rest; /* of part * remainder by parts */
};

static struct boundary boundary_of(struct ar_span whole, uint32_t parts, uint32_t part)
{
    uint64_t product = part * (whole.count % parts);
    return (struct boundary){part, part * (whole.count / parts) + product / parts, product % parts};
}

static struct boundary next_boundary(struct boundary boundary, uint32_t parts, uint64_t quotient,
                                     uint64_t remainder)
{
    uint64_t rest = boundary.rest + remainder;
    bool is_over = rest >= parts;
    return (struct boundary){boundary.part + 1, boundary.begin + quotient + is_over,
                             rest - (is_over ? parts : 0)};
}

/* Slices beside each other often are equal, or one part each, one after the other. */
static void count_uneven(struct ar_span whole, uint32_t parts, size_t count, const uint32_t *first,
                         const uint32_t *run, const uint32_t *period, uint64_t *counts)
{
    uint64_t quotient = whole.count / parts, remainder = whole.count % parts;
    struct boundary end = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        bool is_again = i > 0 && first[i] == first[i - 1] && run[i] == run[i - 1];
        if (run[i] == 0 || is_again) {
            counts[i] = run[i] == 0 ? 0 : counts[i - 1];
        } else if (period[i] < parts || (uint64_t)first[i] + run[i] > parts) {
            counts[i] = ar_slice_of_parts(whole, parts, first[i], run[i], period[i]).count;
        } else {
            struct boundary begin =
                first[i] == end.part ? end : boundary_of(whole, parts, first[i]);
            end = run[i] == 1 ? next_boundary(begin, parts, quotient, remainder)
                              : boundary_of(whole, parts, first[i] + run[i]);
            counts[i] = end.begin - begin.begin;
        }
    }
}

void ar_slices_count(struct ar_span whole, uint32_t parts, size_t count, const uint32_t *first,
                     const uint32_t *run, const uint32_t *period, uint64_t *counts)
{
    uint64_t quotient = whole.count / parts;
    bool are_runs = whole.count % parts == 0;
    for (size_t i = 0; i < count && are_runs; i++) {
        are_runs = period[i] == parts;
    }
    for (size_t i = 0; i < count && are_runs; i++) {
        counts[i] = run[i] * quotient;
    }
    if (!are_runs) {
        count_uneven(whole, parts, count, first, run, period, counts);
    }
}
