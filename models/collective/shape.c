#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_shape.h"
#include "ar_text.h"
#include "ar_units.h"

uint32_t ar_shape_length(const struct ar_shape *shape, uint32_t dimension)
{
    const uint32_t lengths[AR_DIMENSIONS_MAX] = {shape->x, shape->y, shape->z, shape->w};
    return lengths[dimension] > 0 ? lengths[dimension] : 1;
}

uint32_t ar_shape_ranks(const struct ar_shape *shape)
{
    return shape->x * shape->y * (shape->z > 0 ? shape->z : 1) * (shape->w > 0 ? shape->w : 1);
}

uint32_t ar_shape_dimensions(const struct ar_shape *shape)
{
    uint32_t dimensions = AR_DIMENSIONS_MAX;
    while (dimensions > 2 && ar_shape_length(shape, dimensions - 1) == 1) {
        dimensions--;
    }
    return dimensions;
}

bool ar_shape_equal(const struct ar_shape *a, const struct ar_shape *b)
{
    for (uint32_t i = 0; i < AR_DIMENSIONS_MAX; i++) {
        if (ar_shape_length(a, i) != ar_shape_length(b, i)) {
            return false;
        }
    }
    return a->parts == b->parts;
}

const char *ar_shape_format(const struct ar_shape *shape, char text[AR_SHAPE_TEXT])
{
    size_t end = 0;
    for (uint32_t i = 0; i < ar_shape_dimensions(shape); i++) {
        end += (size_t)snprintf(text + end, AR_SHAPE_TEXT - end, "%s%" PRIu32, i > 0 ? "x" : "",
                                ar_shape_length(shape, i));
    }
    return text;
}

enum ar_status ar_shape_parse(const char *where, const char *text, struct ar_shape *shape,
                              struct ar_error *err)
{
    uint32_t lengths[AR_DIMENSIONS_MAX] = {0};
    uint32_t count = 0;
    uint64_t ranks = 1, value;
    char copy[AR_SHAPE_TEXT];
    char *rest = copy;
    bool is_good = strlen(text) < sizeof copy;
    ar_copy_text(copy, sizeof copy, text);
    for (const char *item; is_good && (item = strsep(&rest, "x")) != NULL;) {
        is_good = count < AR_DIMENSIONS_MAX &&
                  ar_parse_count(where, item, 1, UINT32_MAX, &value, AR_IGNORED) == AR_OK &&
                  ranks * value <= UINT32_MAX;
        if (is_good) {
            ranks *= value;
            lengths[count++] = (uint32_t)value;
        }
    }
    AR_REFUSE(!is_good || count < 2, err, AR_BAD_DATA,
              "%s: found \"%s\"; expected columns x rows such as 32x32", where, text);
    *shape = (struct ar_shape){lengths[0], lengths[1], lengths[2], lengths[3], 0};
    return AR_OK;
}

struct ar_shape ar_shape_squarest(uint32_t ranks)
{
    struct ar_shape shape = {.x = 1, .y = ranks};
    for (uint32_t x = 2; (uint64_t)x * x <= ranks; x++) {
        if (ranks % x == 0) {
            shape = (struct ar_shape){.x = x, .y = ranks / x};
        }
    }
    return shape;
}

/* --- slices ---------------------------------------------------------------------------------- */

/* The span from part `first` to before part `end`. */
static struct ar_span join_parts(struct ar_span whole, uint32_t parts, uint32_t first, uint32_t end)
{
    const uint32_t ends[] = {first, end};
    uint64_t at[2];
    for (int i = 0; i < 2; i++) {
        at[i] = whole.count == parts
                    ? whole.first + ends[i] /* no division where parts are counted */
                : ends[i] < parts ? ar_span_part(whole, parts, ends[i]).first
                                  : whole.first + whole.count;
    }
    return (struct ar_span){.first = at[0], .count = at[1] - at[0]};
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
    uint64_t end =
        slice->run == slice->period ? slice->parts : (uint64_t)*part + slice->run - place;
    end = end < slice->parts ? end : slice->parts;
    *span = join_parts(slice->whole, slice->parts, *part, (uint32_t)end);
    *part = (uint32_t)end;
    return true;
}

/* Numbers that two runs from `first` to before `end` have in common. */
static uint64_t overlap_of(uint64_t first, uint64_t end, uint64_t other_first, uint64_t other_end)
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
    return slice->parts / period * slice->run + overlap_of(begin, end, 0, slice->run) +
           overlap_of(begin, end, period, period + slice->run);
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
        return ar_slice_all(join_parts(whole, parts, first, first + run));
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
