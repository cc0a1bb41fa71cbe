/* The payload: sums are exact, and every kind of mistake shows. */
#include <math.h>
#include <stdlib.h>

#include "payload.h"
#include "test_measurement.h"
#include "test_outcome.h"

enum { RANKS = 6 };

static struct ar_arena arena; /* of a test, which is a process */

/* The sum of all ranks as an all-reduce forms it, rank by rank; free()d by the caller. */
static unsigned char *reduced(const struct payload *payload)
{
    const struct element_type *type = payload->measurement->type;
    uint64_t elements = payload->measurement->elements;
    size_t bytes = elements * type->bytes;
    unsigned char *sum = calloc(bytes + 1, 1);
    unsigned char *part = malloc(bytes + 1);
    cr_assert(sum != NULL && part != NULL);
    for (uint32_t rank = 0; rank < payload->measurement->ranks; rank++) {
        struct payload_view view = payload_see(payload, rank, &arena);
        payload_fill(&view, part);
        type->reduce(sum, part, elements);
    }
    free(part);
    return sum;
}

/* The one rank of an operation with a root is 1. */
static struct measurement *make_row(const struct ar_operation *operation,
                                    const struct element_type *type, uint32_t ranks,
                                    uint64_t elements)
{
    struct measurement *row = ar_arena_alloc(&arena, 1, sizeof *row);
    *row = test_measurement(operation, (struct ar_shape){.x = ranks, .y = 1}, elements);
    row->root = 1;
    row->type = type;
    return row;
}

static struct payload make_payload(const struct measurement *row)
{
    struct payload payload;
    TEST_OK(payload_create(row, &arena, &payload, &why));
    return payload;
}

static struct payload make(const struct element_type *type, uint32_t ranks, uint64_t elements)
{
    return make_payload(make_row(&ar_operation_all_reduce, type, ranks, elements));
}

static uint64_t wrong_in(const struct payload *payload, const unsigned char *buffer)
{
    struct mismatch mismatch = {.wrong = 0};
    struct payload_view view = payload_see(payload, 0, &arena);
    payload_check(&view, buffer, &mismatch);
    return mismatch.wrong;
}

static void expect_sum(struct payload payload)
{
    unsigned char *sum = reduced(&payload);
    cr_expect_eq(wrong_in(&payload, sum), 0, "%u ranks, %lu elements", payload.measurement->ranks,
                 payload.measurement->elements);
    free(sum);
}

Test(payload, a_sum_of_all_ranks_is_what_is_expected_unless_they_are_too_many_to_count)
{
    static const uint64_t counts[] = {
        0, 1, 7, PAYLOAD_PERIOD - 1, PAYLOAD_PERIOD, 2 * PAYLOAD_PERIOD + 3};
    static const uint32_t ranks[] = {1, 2, 17, 300, 2048};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            expect_sum(make(&element_fp16, ranks[j], counts[i] % 2000 + counts[i] / 40));
        }
        expect_sum(make(&element_fp32, RANKS, counts[i]));
    }
    struct payload payload;
    const struct measurement *row = make_row(&ar_operation_all_reduce, &element_fp16, 2049, 10);
    TEST_FAILS(AR_USAGE, "at most 2048", payload_create(row, &arena, &payload, &why));
}

Test(payload, a_wrong_element_is_found_wherever_it_is)
{
    struct payload payload = make(&element_fp32, RANKS, 2 * PAYLOAD_PERIOD + 3);
    unsigned char *sum = reduced(&payload);
    struct payload_view view = payload_see(&payload, 3, &arena);
    uint64_t places[] = {0, 1, PAYLOAD_PERIOD - 1, PAYLOAD_PERIOD, 2 * PAYLOAD_PERIOD + 2};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char *at = sum + places[i] * 4;
        unsigned char kept[4];
        struct mismatch mismatch = {.wrong = 0};
        memcpy(kept, at, sizeof kept);
        element_fp32.store(at, 100000);
        payload_check(&view, sum, &mismatch);
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
    struct payload_view view = payload_see(&payload, 4, &arena);
    payload_fill(&view, pattern);
    element_fp32.reduce(twice, pattern, ELEMENTS);
    memmove(shifted, sum + 4, (ELEMENTS - 1) * 4);
    cr_expect_gt(wrong_in(&payload, pattern), ELEMENTS * 9 / 10);
    cr_expect_gt(wrong_in(&payload, twice), ELEMENTS * 9 / 10);
    cr_expect_gt(wrong_in(&payload, shifted), ELEMENTS * 9 / 10);
    free(sum);
    free(twice);
    free(shifted);
}

/* 10 elements on 3 ranks: parts of 3, 3 and 4. */
static struct payload make_parts(const struct ar_operation *operation)
{
    return make_payload(make_row(operation, &element_fp32, 3, 10));
}

/* The value of an element at the beginning, and at the end, on a rank. */
static double filled(const struct payload *payload, uint32_t rank, uint64_t element)
{
    _Alignas(4) unsigned char buffer[40];
    struct payload_view view = payload_see(payload, rank, &arena);
    payload_fill(&view, buffer);
    return element_fp32.load(buffer + 4 * element);
}

static bool is_right(const struct payload *payload, uint32_t rank, uint64_t element, double value)
{
    _Alignas(4) unsigned char buffer[40] = {0};
    struct payload_view view = payload_see(payload, rank, &arena);
    struct mismatch all = {.wrong = 0};
    struct mismatch but_one = {.wrong = 0};
    float stored = (float)value;
    memset(buffer, 0xff, sizeof buffer);
    payload_check(&view, buffer, &all);
    memcpy(buffer + 4 * element, &stored, 4);
    payload_check(&view, buffer, &but_one);
    return but_one.wrong + 1 == all.wrong;
}

static double value_of(uint32_t rank, uint64_t element)
{
    return payload_value(&element_fp32, 3, rank, element);
}

Test(payload, a_rank_begins_with_what_the_operation_says_and_no_number_elsewhere)
{
    struct payload gather = make_parts(&ar_operation_all_gather);
    cr_expect_eq(filled(&gather, 1, 3), value_of(1, 3));
    cr_expect(isnan(filled(&gather, 1, 2)) && isnan(filled(&gather, 1, 6)));
    struct payload broadcast = make_parts(&ar_operation_broadcast);
    cr_expect_eq(filled(&broadcast, 1, 9), value_of(1, 9));
    cr_expect(isnan(filled(&broadcast, 0, 9)));
}

/* Positions are those of ranks without a root; with one, rank 1 has position 0, rank 2 position 1
 * and rank 0 position 2. */
Test(payload, what_is_expected_is_whose_contributions_the_operation_wants)
{
    struct payload gather = make_parts(&ar_operation_all_gather);
    cr_expect(is_right(&gather, 0, 6, value_of(2, 6)));
    cr_expect_not(is_right(&gather, 0, 6, value_of(1, 6)));
    struct payload scatter = make_parts(&ar_operation_scatter);
    cr_expect(is_right(&scatter, 2, 3, value_of(1, 3)));
    cr_expect(is_right(&scatter, 0, 6, value_of(1, 6)));
    cr_expect_not(is_right(&scatter, 0, 3, value_of(1, 3)), "not wanted, not looked at");
    struct payload all_to_all = make_parts(&ar_operation_all_to_all);
    cr_expect(is_right(&all_to_all, 0, 0, value_of(0, 0)));
    cr_expect(is_right(&all_to_all, 0, 3, value_of(2, 3)), "part 1 comes from one rank behind");
    struct payload reduce = make_parts(&ar_operation_reduce);
    double sum = value_of(0, 5) + value_of(1, 5) + value_of(2, 5);
    cr_expect(is_right(&reduce, 1, 5, sum));
    cr_expect_not(is_right(&reduce, 0, 5, sum), "only the root is looked at");
}
