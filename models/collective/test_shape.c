#include <stdint.h>
#include <stdio.h>

#include "ar_shape.h"
#include "test_outcome.h"

/* --- spans ----------------------------------------------------------------------------------- */

/* Parts `from` to `to` follow each other and differ by at most one element. */
static void check_parts(struct ar_span whole, uint32_t parts, uint32_t from, uint32_t to)
{
    uint64_t min = whole.count / parts;
    uint64_t max = min + (whole.count % parts != 0);
    struct ar_span part = ar_span_part(whole, parts, from);
    for (uint32_t i = from; i < to; i++) {
        cr_assert(part.count == min || part.count == max, "part %u of %u", i, parts);
        struct ar_span next = i + 1 < parts ? ar_span_part(whole, parts, i + 1) : part;
        cr_assert(i + 1 == parts || next.first == part.first + part.count,
                  "a gap behind part %u of %u", i, parts);
        part = next;
    }
}

static void check_ends(struct ar_span whole, uint32_t parts)
{
    struct ar_span last = ar_span_part(whole, parts, parts - 1);
    cr_assert_eq(ar_span_part(whole, parts, 0).first, whole.first);
    cr_assert_eq(last.first + last.count, whole.first + whole.count, "a remainder is dropped");
    cr_assert_eq(last.count, whole.count / parts + (whole.count % parts != 0),
                 "the last part is smaller than another");
}

Test(span, parts_tile_a_span_and_no_remainder_is_dropped)
{
    for (uint32_t parts = 1; parts <= 70; parts++) {
        for (uint64_t count = 0; count <= 300; count++) {
            struct ar_span whole = {.first = 3 * count, .count = count};
            check_ends(whole, parts);
            check_parts(whole, parts, 0, parts);
        }
    }
}

Test(span, no_count_of_elements_or_parts_overflows)
{
    static const uint32_t parts[] = {2, 3, 7, 1088, 3456, 65536, UINT32_MAX - 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (uint64_t less = 0; less < 4; less++) {
            struct ar_span whole = {.first = 0, .count = UINT64_MAX - less};
            uint32_t some = parts[i] < 1000 ? parts[i] : 1000;
            check_ends(whole, parts[i]);
            check_parts(whole, parts[i], 0, some);
            check_parts(whole, parts[i], parts[i] - some, parts[i]);
        }
    }
}

/* --- shapes ---------------------------------------------------------------------------------- */

Test(shape, a_shape_is_parsed_and_printed_back)
{
    static const char *const texts[] = {"1x1", "32x32", "34x32", "4x1088", "4294967295x1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char printed[AR_SHAPE_TEXT];
        struct ar_shape shape;
        TEST_OK(ar_shape_parse("--shape", texts[i], &shape, &why));
        cr_expect_str_eq(ar_shape_format(&shape, printed), texts[i]);
    }
    struct ar_shape shape;
    TEST_OK(ar_shape_parse("--shape", "34x32", &shape, &why));
    cr_expect(shape.x == 34 && shape.y == 32, "columns come first");
    cr_expect_eq(ar_shape_ranks(&shape), 1088);
}

Test(shape, what_is_no_shape_is_refused_with_what_was_found)
{
    static const char *const texts[] = {
        "",    "4x",   "x4",   "4",     "4x4x4x4x4", "4x4x",         "4X4",
        "0x4", "-4x4", "4x4 ", "4 x 4", "4.0x4",     "4294967296x1", "65536x65536",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ar_shape shape = {.x = 7, .y = 7};
        char expected[100];
        snprintf(expected, sizeof expected,
                 "--shape: found \"%s\"; expected columns x rows such as 32x32", texts[i]);
        TEST_FAILS(AR_BAD_DATA, expected, ar_shape_parse("--shape", texts[i], &shape, &why));
        cr_expect(shape.x == 7 && shape.y == 7);
    }
}

Test(shape, the_squarest_shape_is_the_nearest_to_a_square_with_the_longer_side_last)
{
    for (uint32_t ranks = 1; ranks <= 4352; ranks++) {
        struct ar_shape shape = ar_shape_squarest(ranks);
        cr_assert_eq(ar_shape_ranks(&shape), ranks);
        cr_assert_leq(shape.x, shape.y);
        for (uint32_t x = shape.x + 1; x * x <= ranks; x++) {
            cr_assert_neq(ranks % x, 0, "%u ranks are nearer to a square as %ux%u", ranks, x,
                          ranks / x);
        }
    }
    struct ar_shape prime = ar_shape_squarest(4294967291u);
    cr_expect(prime.x == 1 && prime.y == 4294967291u, "a prime is 1xN, also beyond 2^31");
}
