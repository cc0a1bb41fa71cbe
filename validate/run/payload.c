#include "payload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"

enum { VALUE_MAX = 250, CHUNK = 512, ELEMENT_BYTES_MAX = 4 };

uint32_t payload_value(const struct element_type *type, uint32_t ranks, uint32_t rank,
                       uint64_t element)
{
    uint32_t max = type->exact_max / ranks;
    max = max < VALUE_MAX ? max : VALUE_MAX;
    /* A hash of 64 bits after splitmix64 (Steele, Lea, Flood 2014). */
    uint64_t x = (uint64_t)rank * PAYLOAD_PERIOD + element % PAYLOAD_PERIOD + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((x ^ x >> 31) >> 32) * (max + 1) >> 32);
}

enum ar_status payload_create(const struct measurement *measurement, struct ar_arena *arena,
                              struct payload *payload, struct ar_error *err)
{
    const struct element_type *type = measurement->type;
    uint32_t ranks = measurement->ranks;
    AR_REFUSE(ranks > type->exact_max, err, AR_USAGE, /* with values of 0 and 1 */
              "found %" PRIu32 " ranks with %s; expected at most %" PRIu32
              ", beyond which sums are rounded",
              ranks, type->name, type->exact_max);
    uint64_t elements = measurement->elements;
    uint64_t period = elements < PAYLOAD_PERIOD ? elements : PAYLOAD_PERIOD;
    unsigned char *sum = ar_arena_alloc(arena, period + 1, type->bytes);
    for (uint64_t i = 0; i < period; i++) {
        uint32_t total = 0;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            total += payload_value(type, ranks, rank, i);
        }
        type->store(sum + i * type->bytes, total);
    }
    *payload = (struct payload){.measurement = measurement, .period = period, .sum = sum};
    return AR_OK;
}

/* --- contents at the beginning and the end ------------------------------------------------ */

AR_ORDER(compare_counts, uint64_t, AR_COMPARE(*a, *b))

/* Adds where the parts of a dimension begin, and within each those of the next dimension. */
static void add_nested(const struct ar_shape *shape, uint32_t dimension, struct ar_span span,
                       uint64_t *begins, size_t *count)
{
    if (dimension == AR_DIMENSIONS_MAX) {
        begins[(*count)++] = span.first;
        return;
    }
    uint32_t length = ar_shape_length(shape, dimension);
    for (uint32_t i = 0; i < length; i++) {
        add_nested(shape, dimension + 1, ar_span_part(span, length, i), begins, count);
    }
}

/* Elements at which the expected content of a buffer may change: where a part begins, one of N or
 * one of the dimensions of the shape. Ascending; the last one is the end. */
static uint64_t *find_begins(const struct measurement *measurement, uint64_t elements,
                             struct ar_arena *arena, size_t *count)
{
    struct ar_span all = {.first = 0, .count = elements};
    uint32_t ranks = measurement->ranks;
    *count = 0;
    uint64_t *begins = ar_arena_alloc(arena, 2 * (size_t)ranks + 2, sizeof *begins);
    if (measurement->operation->has_parts) {
        add_nested(&measurement->shape, 0, all, begins, count);
        for (uint32_t i = 0; i < ranks; i++) {
            begins[(*count)++] = ar_span_part(all, ranks, i).first;
        }
        qsort(begins, *count, sizeof *begins, compare_counts);
    } else {
        begins[(*count)++] = 0;
    }
    begins[(*count)++] = elements;
    return begins;
}

/* Asks the operation about the first element of a stretch, which stands for all. Contributors are
 * positions in the question and ranks in the answer. */
static void ask_operation(const struct measurement *measurement, uint32_t channel,
                          const struct ar_operation_place *place, struct ar_arena *arena,
                          struct payload_stretch *stretch)
{
    const struct ar_operation *operation = measurement->operation;
    struct ar_order order = measurement_order(measurement);
    stretch->holds = ar_operation_holds(operation, place, place->position);
    for (uint32_t from = 0; from < measurement->ranks; from++) {
        stretch->wants += ar_operation_wants(operation, place, from);
    }
    if (stretch->wants == 0 || stretch->wants == measurement->ranks) {
        return;
    }
    stretch->wanted_of = ar_arena_alloc(arena, stretch->wants, sizeof *stretch->wanted_of);
    uint32_t count = 0;
    for (uint32_t from = 0; from < measurement->ranks; from++) {
        if (ar_operation_wants(operation, place, from)) {
            stretch->wanted_of[count++] = ar_order_rank(&order, channel, from);
        }
    }
}

struct payload_view payload_see(const struct payload *payload, uint32_t rank,
                                struct ar_arena *arena)
{
    const struct measurement *measurement = payload->measurement;
    size_t of_channel = measurement->operation->has_parts ? 2 * (size_t)measurement->ranks : 1;
    struct payload_view view = {.payload = payload, .rank = rank};
    view.stretches =
        ar_arena_alloc(arena, of_channel * measurement->channels, sizeof *view.stretches);
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        struct ar_order order = measurement_order(measurement);
        struct ar_span part = measurement_part(measurement, channel);
        struct ar_operation_place place = {.shape = &measurement->shape,
                                           .position =
                                               ar_order_position(&order, channel, view.rank),
                                           .elements = part.count};
        size_t count;
        uint64_t *begins = find_begins(measurement, part.count, arena, &count);
        for (size_t i = 0; i + 1 < count; i++) {
            struct payload_stretch *stretch = &view.stretches[view.stretches_count];
            if (begins[i] < begins[i + 1]) {
                place.element = begins[i];
                stretch->span = (struct ar_span){.first = part.first + begins[i],
                                                 .count = begins[i + 1] - begins[i]};
                ask_operation(measurement, channel, &place, arena, stretch);
                view.stretches_count++;
            }
        }
    }
    return view;
}

/* --- filling and checking ----------------------------------------------------------------- */

void payload_fill(const struct payload_view *view, unsigned char *buffer)
{
    const struct payload *payload = view->payload;
    const struct measurement *measurement = payload->measurement;
    const struct element_type *type = measurement->type;
    for (uint64_t i = 0; i < payload->period; i++) {
        type->store(buffer + i * type->bytes,
                    payload_value(type, measurement->ranks, view->rank, i));
    }
    for (uint64_t first = payload->period; first < measurement->elements;
         first += payload->period) {
        uint64_t left = measurement->elements - first; /* the end may cut a period short */
        memcpy(buffer + first * type->bytes, buffer,
               (left < payload->period ? left : payload->period) * type->bytes);
    }
    AR_EACH(const struct payload_stretch, stretch, view->stretches, view->stretches_count) {
        if (!stretch->holds) { /* all ones are not a number */
            memset(buffer + stretch->span.first * type->bytes, 0xff,
                   stretch->span.count * type->bytes);
        }
    }
}

static void expect_elements(const struct payload_view *view, const struct payload_stretch *stretch,
                            uint64_t first, uint64_t count, unsigned char *expected)
{
    const struct payload *payload = view->payload;
    const struct element_type *type = payload->measurement->type;
    if (stretch->wanted_of == NULL) { /* the sum of all ranks */
        while (count > 0) {
            uint64_t place = first % payload->period;
            uint64_t left = payload->period - place;
            uint64_t run = count < left ? count : left;
            memcpy(expected, payload->sum + place * type->bytes, run * type->bytes);
            expected += run * type->bytes;
            first += run;
            count -= run;
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) { /* the sum of the ranks that the stretch names */
        uint32_t total = 0;
        for (uint32_t k = 0; k < stretch->wants; k++) {
            total +=
                payload_value(type, payload->measurement->ranks, stretch->wanted_of[k], first + i);
        }
        type->store(expected + i * type->bytes, total);
    }
}

void payload_expect(const struct payload_view *view, unsigned char *buffer)
{
    uint32_t bytes = view->payload->measurement->type->bytes;
    AR_EACH(const struct payload_stretch, stretch, view->stretches, view->stretches_count) {
        unsigned char *expected = buffer + stretch->span.first * bytes;
        if (stretch->wants > 0) {
            expect_elements(view, stretch, stretch->span.first, stretch->span.count, expected);
        } else {
            memset(expected, 0xff, stretch->span.count * bytes);
        }
    }
}

static void check_stretch(const struct payload_view *view, const struct payload_stretch *stretch,
                          const unsigned char *buffer, struct mismatch *mismatch)
{
    const struct element_type *type = view->payload->measurement->type;
    uint32_t bytes = type->bytes;
    unsigned char expected[CHUNK * ELEMENT_BYTES_MAX];
    for (uint64_t done = 0; done < stretch->span.count; done += CHUNK) {
        uint64_t left = stretch->span.count - done;
        uint64_t count = left < CHUNK ? left : CHUNK;
        uint64_t first = stretch->span.first + done;
        const unsigned char *found = buffer + first * bytes;
        expect_elements(view, stretch, first, count, expected);
        if (memcmp(found, expected, count * bytes) == 0) {
            continue;
        }
        for (uint64_t i = 0; i < count; i++) {
            const unsigned char *is = found + i * bytes, *should_be = expected + i * bytes;
            if (memcmp(is, should_be, bytes) != 0 && mismatch->wrong++ == 0) {
                mismatch->rank = view->rank;
                mismatch->element = first + i;
                mismatch->found = type->load(is);
                mismatch->expected = type->load(should_be);
            }
        }
    }
}

void payload_check(const struct payload_view *view, const unsigned char *buffer,
                   struct mismatch *mismatch)
{
    for (size_t i = 0; i < view->stretches_count; i++) {
        if (view->stretches[i].wants > 0) {
            check_stretch(view, &view->stretches[i], buffer, mismatch);
        }
    }
}
