/* The payload: sums are exact, and every kind of mistake shows. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "payload.h"

enum { RANKS = 6 };

static struct ar_arena arena;

static void end_arena(void)
{
    ar_arena_end(&arena);
}

TestSuite(payload, .fini = end_arena);

/* The sum of all ranks as an all-reduce forms it, rank by rank; free()d by the caller. */
static unsigned char *reduced(const struct payload *payload)
{
    const struct element_type *type = payload->type;
    size_t bytes = payload->elements * type->bytes;
    unsigned char *sum = calloc(bytes + 1, 1);
    unsigned char *part = malloc(bytes + 1);
    cr_assert(sum != NULL && part != NULL);
    for (uint32_t rank = 0; rank < payload->ranks; rank++) {
        payload_fill(payload, rank, part);
        type->reduce(sum, part, payload->elements);
    }
    free(part);
    return sum;
}

static struct payload make(const struct element_type *type, uint32_t ranks, uint64_t elements)
{
    struct ar_error err;
    struct payload payload;
    cr_assert_eq(payload_create(type, ranks, elements, &arena, &payload, &err), AR_OK);
    return payload;
}

static uint64_t wrong_in(const struct payload *payload, const unsigned char *buffer)
{
    struct mismatch mismatch = {.wrong = 0};
    payload_check(payload, 0, buffer, &mismatch);
    return mismatch.wrong;
}

Test(payload, a_sum_of_all_ranks_is_what_is_expected)
{
    static const uint64_t counts[] = {
        0, 1, 7, PAYLOAD_PERIOD - 1, PAYLOAD_PERIOD, 2 * PAYLOAD_PERIOD + 3};
    static const uint32_t ranks[] = {1, 2, 17, 300, 2048};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            struct payload payload =
                make(&element_fp16, ranks[j], counts[i] % 2000 + counts[i] / 40);
            unsigned char *sum = reduced(&payload);
            cr_expect_eq(wrong_in(&payload, sum), 0, "%" PRIu32 " ranks", ranks[j]);
            free(sum);
        }
        struct payload payload = make(&element_fp32, RANKS, counts[i]);
        unsigned char *sum = reduced(&payload);
        cr_expect_eq(wrong_in(&payload, sum), 0, "%" PRIu64 " elements", counts[i]);
        free(sum);
    }
}

Test(payload, more_ranks_than_can_be_counted_are_refused)
{
    struct ar_error err;
    struct payload payload;
    cr_expect_eq(payload_create(&element_fp16, 2049, 10, &arena, &payload, &err), AR_USAGE);
    cr_expect_not_null(strstr(err.text, "at most 2048"), "%s", err.text);
}

Test(payload, a_wrong_element_is_found_wherever_it_is)
{
    struct payload payload = make(&element_fp32, RANKS, 2 * PAYLOAD_PERIOD + 3);
    unsigned char *sum = reduced(&payload);
    uint64_t places[] = {0, 1, PAYLOAD_PERIOD - 1, PAYLOAD_PERIOD, payload.elements - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char *at = sum + places[i] * 4;
        unsigned char kept[4];
        struct mismatch mismatch = {.wrong = 0};
        memcpy(kept, at, sizeof kept);
        element_fp32.store(at, 100000);
        payload_check(&payload, 3, sum, &mismatch);
        cr_expect_eq(mismatch.wrong, 1);
        cr_expect_eq(mismatch.element, places[i]);
        cr_expect_eq(mismatch.rank, 3);
        cr_expect_eq(mismatch.found, 100000.0);
        cr_expect_eq(mismatch.expected, element_fp32.load(kept));
        memcpy(at, kept, sizeof kept);
    }
    free(sum);
}

/* Each of these leaves most elements wrong; how many are right by accident depends on the values,
 * of which there are 251, so fewer than one in ten. */
Test(payload, a_contribution_too_few_or_too_many_or_in_the_wrong_place_shows)
{
    enum { ELEMENTS = 5000 };
    struct payload payload = make(&element_fp32, RANKS, ELEMENTS);
    _Alignas(4) unsigned char pattern[4 * ELEMENTS];
    unsigned char *sum = reduced(&payload);
    unsigned char *twice = reduced(&payload);
    unsigned char *shifted = reduced(&payload);
    payload_fill(&payload, 4, pattern);
    element_fp32.reduce(twice, pattern, ELEMENTS);
    memmove(shifted, sum + 4, (ELEMENTS - 1) * 4);
    cr_expect_gt(wrong_in(&payload, pattern), ELEMENTS * 9 / 10);
    cr_expect_gt(wrong_in(&payload, twice), ELEMENTS * 9 / 10);
    cr_expect_gt(wrong_in(&payload, shifted), ELEMENTS * 9 / 10);
    free(sum);
    free(twice);
    free(shifted);
}
