#include "payload.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_MAX = 250 };

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
    return (uint32_t)(mix((uint64_t)rank * PAYLOAD_PERIOD + element % PAYLOAD_PERIOD) % (max + 1));
}

enum ar_status payload_create(const struct element_type *type, uint32_t ranks, uint64_t elements,
                              struct ar_arena *arena, struct payload *payload, struct ar_error *err)
{
    if (ranks > type->exact_max) { /* with values of 0 and 1 */
        return ar_error_set(err, AR_USAGE,
                            "found %" PRIu32 " ranks with %s; expected at most %" PRIu32
                            ", beyond which sums are rounded",
                            ranks, type->name, type->exact_max);
    }
    uint64_t period = elements < PAYLOAD_PERIOD ? elements : PAYLOAD_PERIOD;
    unsigned char *expected = ar_arena_alloc(arena, period + 1, type->bytes);
    if (expected == NULL) {
        return ar_error_no_memory(err, "the expected result");
    }
    for (uint64_t i = 0; i < period; i++) {
        uint32_t sum = 0;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            sum += payload_value(type, ranks, rank, i);
        }
        type->store(expected + i * type->bytes, sum);
    }
    *payload = (struct payload){
        .type = type, .ranks = ranks, .elements = elements, .period = period, .expected = expected};
    return AR_OK;
}

/* Elements of the period that begins at `first`, which may be cut short by the end. */
static uint64_t run_at(const struct payload *payload, uint64_t first)
{
    uint64_t left = payload->elements - first;
    return left < payload->period ? left : payload->period;
}

void payload_fill(const struct payload *payload, uint32_t rank, unsigned char *buffer)
{
    const struct element_type *type = payload->type;
    for (uint64_t i = 0; i < payload->period; i++) {
        type->store(buffer + i * type->bytes, payload_value(type, payload->ranks, rank, i));
    }
    for (uint64_t first = payload->period; first < payload->elements; first += payload->period) {
        memcpy(buffer + first * type->bytes, buffer, run_at(payload, first) * type->bytes);
    }
}

static void note(const struct payload *payload, uint32_t rank, uint64_t element,
                 const unsigned char *found, const unsigned char *expected,
                 struct mismatch *mismatch)
{
    if (mismatch->wrong++ == 0) {
        mismatch->rank = rank;
        mismatch->element = element;
        mismatch->found = payload->type->load(found);
        mismatch->expected = payload->type->load(expected);
    }
}

void payload_check(const struct payload *payload, uint32_t rank, const unsigned char *buffer,
                   struct mismatch *mismatch)
{
    uint32_t bytes = payload->type->bytes;
    for (uint64_t first = 0; first < payload->elements; first += payload->period) {
        uint64_t count = run_at(payload, first);
        const unsigned char *found = buffer + first * bytes;
        if (memcmp(found, payload->expected, count * bytes) == 0) {
            continue;
        }
        for (uint64_t i = 0; i < count; i++) {
            if (memcmp(found + i * bytes, payload->expected + i * bytes, bytes) != 0) {
                note(payload, rank, first + i, found + i * bytes, payload->expected + i * bytes,
                     mismatch);
            }
        }
    }
}
