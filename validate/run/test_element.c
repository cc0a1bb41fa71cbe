/* Half precision against its definition, and the loops that add. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "element.h"

/* The value of a finite half by the definition of binary16. */
static double half_by_definition(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -value : value;
}

static bool is_finite_half(uint16_t half)
{
    return (half & 0x7c00) != 0x7c00;
}

Test(element, every_half_has_the_value_of_its_definition_and_comes_back)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        if (is_finite_half(half)) {
            cr_assert_eq((double)half_to_float(half), half_by_definition(half), "%#x", bits);
            cr_assert_eq(half_from_float(half_to_float(half)), half, "%#x", bits);
        }
    }
    cr_expect(isinf(half_to_float(0x7c00)) && half_to_float(0xfc00) < 0);
    cr_expect(isnan(half_to_float(0x7e00)) && isnan(half_to_float(0xfc01)));
    cr_expect_eq(half_from_float(INFINITY), 0x7c00);
    cr_expect_eq(half_from_float(NAN) & 0x7fff, 0x7e00);
}

Test(element, between_two_halves_the_nearer_is_taken_and_the_even_one_in_the_middle)
{
    for (uint16_t half = 0; half < 0x7bff; half++) {
        double low = half_by_definition(half);
        double high = half_by_definition(half + 1);
        float middle = (float)((low + high) / 2);
        uint16_t even = half % 2 == 0 ? half : half + 1;
        cr_assert_eq(half_from_float(middle), even, "%#x", half);
        cr_assert_eq(half_from_float(nextafterf(middle, 0)), half, "%#x", half);
        cr_assert_eq(half_from_float(nextafterf(middle, INFINITY)), half + 1, "%#x", half);
        cr_assert_eq(half_from_float(-middle), 0x8000 | even, "%#x", half);
    }
    /* 65504 is the largest; halfway to what would be the next is 65520. */
    cr_expect_eq(half_from_float(65519.0f), 0x7bff);
    cr_expect_eq(half_from_float(65520.0f), 0x7c00);
}

/* Counts around the width of a vector, at an address that is none of its multiples. */
Test(element, halves_are_added_alike_with_and_without_f16c)
{
    unsigned char sum[2][2 * 64];
    unsigned char addend[2 * 64];
    for (uint64_t count = 0; count <= 40; count++) {
        for (uint32_t i = 0; i < 64; i++) {
            element_fp16.store(sum[0] + 2 * i, i * 31 % 1000);
            element_fp16.store(addend + 2 * i, 1 + i * 17 % 1000);
        }
        memcpy(sum[1], sum[0], sizeof sum[0]);
        element_fp16.reduce(sum[0] + 2, addend, count);
        half_reduce_portable(sum[1] + 2, addend, count);
        cr_assert_arr_eq(sum[0], sum[1], sizeof sum[0], "%d elements", (int)count);
        for (uint32_t i = 0; i < 63; i++) {
            double before = i < 63 ? (i + 1) * 31 % 1000 : 0;
            double expected = before + (i < count ? 1 + i * 17 % 1000 : 0);
            cr_assert_eq(element_fp16.load(sum[0] + 2 * (i + 1)), expected);
        }
    }
}

Test(element, integers_up_to_the_limit_are_exact_and_the_next_odd_one_is_not)
{
    static const struct element_type *const types[] = {&element_fp16, &element_fp32};
    for (size_t i = 0; i < 2; i++) {
        const struct element_type *type = types[i];
        unsigned char bytes[sizeof(float)];
        for (uint32_t value = 0; value <= type->exact_max; value += value < 5000 ? 1 : 997) {
            type->store(bytes, value);
            cr_assert_eq(type->load(bytes), value);
        }
        type->store(bytes, type->exact_max + 1);
        cr_expect_neq(type->load(bytes), type->exact_max + 1.0);
    }
}
