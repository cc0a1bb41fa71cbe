/* Every algorithm of every operation is proved, on all shapes of many numbers of ranks. */
#include <criterion/criterion.h>

#include "algorithms.h"
#include "ar_verify.h"

static const struct ar_algorithm *const rows[] = {
#define X(name) &ar_algorithm_##name,
    AR_ALGORITHM_LIST(X)
#undef X
};

static const uint32_t rank_counts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                       12, 13, 14, 15, 16, 17, 24, 34, 48, 64};

Test(blocks, each_algorithm_achieves_its_operation)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < sizeof rank_counts / sizeof rank_counts[0]; j++) {
            uint32_t ranks = rank_counts[j];
            uint64_t cases = 0;
            struct ar_error err = {.text = ""};
            cr_expect_eq(ar_verify_ranks(rows[i], ranks, &cases, &err), AR_OK, "%s", err.text);
            bool may_refuse = rows[i]->shapes == AR_SHAPES_EVEN && ranks % 2 == 1 && ranks > 1;
            cr_expect(may_refuse ? cases == 0 : cases >= 6, "%s of %s, %u ranks", rows[i]->name,
                      rows[i]->operation->name, ranks);
        }
    }
}
