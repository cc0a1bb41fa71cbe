/* Types of elements, and the loops that add. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "element.h"

static const struct element_type *const types[] = {&element_fp16, &element_fp32};

/* Counts around the width of a vector, at an address that is none of its multiples. */
Test(element, sums_are_those_of_the_elements_in_the_run_alone)
{
    for (uint64_t i = 0; i < 2 * 41; i++) {
        const struct element_type *type = types[i % 2];
        const uint64_t count = i / 2, bytes = type->bytes;
        _Alignas(16) unsigned char sum[4 * 64], addend[4 * 64];
        for (uint32_t k = 0; k < 64; k++) {
            type->store(sum + bytes * k, k * 31 % 1000);
            type->store(addend + bytes * k, 1 + k * 17 % 1000);
        }
        type->reduce(sum + bytes, addend, count);
        for (uint32_t k = 0; k < 64; k++) {
            double added = k >= 1 && k <= count ? 1 + (k - 1) * 17 % 1000 : 0;
            cr_assert_eq(type->load(sum + bytes * k), k * 31 % 1000 + added, "%s", type->name);
        }
    }
}

Test(element, integers_up_to_the_limit_are_exact_and_the_next_odd_one_is_not)
{
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
