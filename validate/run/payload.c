#include "payload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 250, CHUNK = 512, ELEMENT_BYTES_MAX = 4 };

/* A hash of 64 bits after splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint32_t payload_value(const struct element_type *type, uint32_t ranks, uint32_t rank,
                       uint64_t element)
{
    uint32_t max = type->exact_max / ranks;
    max = max < VALUE_MAX ? max : VALUE_MAX;
    uint64_t hash = mix((uint64_t)rank * PAYLOAD_PERIOD + element % PAYLOAD_PERIOD) >> 32;
    return (uint32_t)(hash * (max + 1) >> 32);
}

enum ar_status payload_create(const struct measurement *measurement, struct ar_arena *arena,
                              struct payload *payload, struct ar_error *err)
{
    const struct element_type *type = measurement->type;
    uint32_t ranks = measurement->ranks;
    if (ranks > type->exact_max) { /* with values of 0 and 1 */
        return ar_error_set(err, AR_USAGE,
                            "found %" PRIu32 " ranks with %s; expected at most %" PRIu32
                            ", beyond which sums are rounded",
                            ranks, type->name, type->exact_max);
    }
    uint64_t elements = measurement->elements;
    uint64_t period = elements < PAYLOAD_PERIOD ? elements : PAYLOAD_PERIOD;
    unsigned char *sum = ar_arena_alloc(arena, period + 1, type->bytes);
    AR_NEED(sum, err, "the expected result");
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

/* --- what a rank begins and ends with ------------------------------------------------------- */

static int compare_counts(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

/* Where the parts of a dimension begin, of each of them those of the next, and so on. */
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

/* Where the elements of a buffer may begin to be others than before: where a part begins, of N or
 * of the dimensions of the shape. Ascending; the last one is the end. */
static enum ar_status find_begins(const struct measurement *measurement, uint64_t elements,
                                  struct ar_arena *arena, uint64_t **begins, size_t *count,
                                  struct ar_error *err)
{
    struct ar_span all = {.first = 0, .count = elements};
    uint32_t ranks = measurement->ranks;
    *count = 0;
    *begins = ar_arena_alloc(arena, 2 * (size_t)ranks + 2, sizeof **begins);
    AR_NEED(*begins, err, "the parts of a buffer");
    if (measurement->operation->has_parts) {
        add_nested(&measurement->shape, 0, all, *begins, count);
        for (uint32_t i = 0; i < ranks; i++) {
            (*begins)[(*count)++] = ar_span_part(all, ranks, i).first;
        }
        qsort(*begins, *count, sizeof **begins, compare_counts);
    } else {
        (*begins)[(*count)++] = 0;
    }
    (*begins)[(*count)++] = elements;
    return AR_OK;
}

/* Asks about one element of a stretch; contributors are ranks from here on. */
static enum ar_status ask(const struct measurement *measurement, uint32_t channel,
                          const struct ar_operation_place *place, struct ar_arena *arena,
                          struct payload_stretch *stretch, struct ar_error *err)
{
    const struct ar_operation *operation = measurement->operation;
    struct ar_order order = measurement_order(measurement);
    stretch->holds = ar_operation_holds(operation, place, place->position);
    for (uint32_t from = 0; from < measurement->ranks; from++) {
        stretch->wants += ar_operation_wants(operation, place, from);
    }
    if (stretch->wants == 0 || stretch->wants == measurement->ranks) {
        return AR_OK;
    }
    stretch->wanted_of = ar_arena_alloc(arena, stretch->wants, sizeof *stretch->wanted_of);
    AR_NEED(stretch->wanted_of, err, "the expected result");
    uint32_t count = 0;
    for (uint32_t from = 0; from < measurement->ranks; from++) {
        if (ar_operation_wants(operation, place, from)) {
            stretch->wanted_of[count++] = ar_order_rank(&order, channel, from);
        }
    }
    return AR_OK;
}

static enum ar_status see_channel(const struct payload *payload, uint32_t channel,
                                  struct ar_arena *arena, struct payload_view *view,
                                  struct ar_error *err)
{
    const struct measurement *measurement = payload->measurement;
    struct ar_order order = measurement_order(measurement);
    struct ar_span part = measurement_part(measurement, channel);
    struct ar_operation_place place = {.shape = &measurement->shape,
                                       .position = ar_order_position(&order, channel, view->rank),
                                       .elements = part.count};
    uint64_t *begins;
    size_t count;
    AR_TRY(find_begins(measurement, part.count, arena, &begins, &count, err));
    for (size_t i = 0; i + 1 < count; i++) {
        struct payload_stretch *stretch = &view->stretches[view->stretches_count];
        if (begins[i] < begins[i + 1]) {
            place.element = begins[i];
            stretch->span = (struct ar_span){.first = part.first + begins[i],
                                             .count = begins[i + 1] - begins[i]};
            AR_TRY(ask(measurement, channel, &place, arena, stretch, err));
            view->stretches_count++;
        }
    }
    return AR_OK;
}

enum ar_status payload_see(const struct payload *payload, uint32_t rank, struct ar_arena *arena,
                           struct payload_view *view, struct ar_error *err)
{
    const struct measurement *measurement = payload->measurement;
    size_t of_channel = measurement->operation->has_parts ? 2 * (size_t)measurement->ranks : 1;
    *view = (struct payload_view){.payload = payload, .rank = rank};
    view->stretches =
        ar_arena_alloc(arena, of_channel * measurement->channels, sizeof *view->stretches);
    AR_NEED(view->stretches, err, "the expected result");
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        AR_TRY(see_channel(payload, channel, arena, view, err));
    }
    return AR_OK;
}

/* --- filling and checking ------------------------------------------------------------------- */

/* Of the period that begins at `first`, which may be cut short by the end. */
static uint64_t run_at(const struct payload *payload, uint64_t first)
{
    uint64_t left = payload->measurement->elements - first;
    return left < payload->period ? left : payload->period;
}

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
        memcpy(buffer + first * type->bytes, buffer, run_at(payload, first) * type->bytes);
    }
    for (size_t i = 0; i < view->stretches_count; i++) {
        const struct payload_stretch *stretch = &view->stretches[i];
        if (!stretch->holds) { /* all ones are not a number */
            memset(buffer + stretch->span.first * type->bytes, 0xff,
                   stretch->span.count * type->bytes);
        }
    }
}

/* The sum of all ranks from element `first` on. */
static void expect_sum(const struct payload *payload, uint64_t first, uint64_t count,
                       unsigned char *expected)
{
    uint32_t bytes = payload->measurement->type->bytes;
    while (count > 0) {
        uint64_t place = first % payload->period;
        uint64_t left = payload->period - place;
        uint64_t run = count < left ? count : left;
        memcpy(expected, payload->sum + place * bytes, run * bytes);
        expected += run * bytes;
        first += run;
        count -= run;
    }
}

/* The sum of those that the stretch names. */
static void expect_some(const struct payload *payload, const struct payload_stretch *stretch,
                        uint64_t first, uint64_t count, unsigned char *expected)
{
    const struct measurement *measurement = payload->measurement;
    const struct element_type *type = measurement->type;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t total = 0;
        for (uint32_t k = 0; k < stretch->wants; k++) {
            total += payload_value(type, measurement->ranks, stretch->wanted_of[k], first + i);
        }
        type->store(expected + i * type->bytes, total);
    }
}

static void note(const struct payload_view *view, uint64_t element, const unsigned char *found,
                 const unsigned char *expected, struct mismatch *mismatch)
{
    const struct element_type *type = view->payload->measurement->type;
    if (memcmp(found, expected, type->bytes) != 0 && mismatch->wrong++ == 0) {
        mismatch->rank = view->rank;
        mismatch->element = element;
        mismatch->found = type->load(found);
        mismatch->expected = type->load(expected);
    }
}

static void check_stretch(const struct payload_view *view, const struct payload_stretch *stretch,
                          const unsigned char *buffer, struct mismatch *mismatch)
{
    uint32_t bytes = view->payload->measurement->type->bytes;
    unsigned char expected[CHUNK * ELEMENT_BYTES_MAX];
    for (uint64_t done = 0; done < stretch->span.count; done += CHUNK) {
        uint64_t left = stretch->span.count - done;
        uint64_t count = left < CHUNK ? left : CHUNK;
        uint64_t first = stretch->span.first + done;
        const unsigned char *found = buffer + first * bytes;
        if (stretch->wanted_of == NULL) {
            expect_sum(view->payload, first, count, expected);
        } else {
            expect_some(view->payload, stretch, first, count, expected);
        }
        if (memcmp(found, expected, count * bytes) == 0) {
            continue;
        }
        for (uint64_t i = 0; i < count; i++) {
            note(view, first + i, found + i * bytes, expected + i * bytes, mismatch);
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
