#include "ar_boxing.h"
#include "test_outcome.h"

enum { TENSOR = 4096 };

static struct ar_placements placed(const char *text)
{
    struct ar_placements placements;
    TEST_OK(ar_placements_parse("--from", text, &placements, &why));
    return placements;
}

static struct ar_boxing boxed(const char *from, const char *to, const uint32_t *sizes)
{
    struct ar_placements first = placed(from), second = placed(to);
    struct ar_boxing boxing;
    ar_boxing_make(&first, &second, sizes, TENSOR, &boxing);
    return boxing;
}

/* From a placement to another one, in tensors: on the same 8 GPUs by one collective; from 4 GPUs to
 * 6 others, all together and what arrives at each of these, if no sums are left to them. */
Test(boxing, what_is_sent_is_the_table_of_the_paper)
{
    static const struct {
        const char *from, *to;
        const struct ar_operation *operation;
        double same, between, arriving; /* arriving 0: not counted */
    } cases[] = {{"S0", "S0", NULL, 0, 1, 1.0 / 6},
                 {"S0", "S1", &ar_operation_all_to_all, 7.0 / 8, 1, 1.0 / 6},
                 {"S0", "B", &ar_operation_all_gather, 7, 6, 1},
                 {"S0", "P", NULL, 0, 1, 0},
                 {"B", "S0", NULL, 0, 1, 1.0 / 6},
                 {"B", "B", NULL, 0, 6, 1},
                 {"B", "P", NULL, 0, 1, 0},
                 {"P", "S1", &ar_operation_reduce_scatter, 7, 4, 4.0 / 6},
                 {"P", "B", &ar_operation_all_reduce, 14, 9, 0},
                 {"P", "P", NULL, 0, 4, 0}};
    const uint32_t sizes[] = {8};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char what[16];
        snprintf(what, sizeof what, "%s -> %s", cases[i].from, cases[i].to);
        struct ar_boxing boxing = boxed(cases[i].from, cases[i].to, sizes);
        cr_expect_eq(boxing.steps[0].operation, cases[i].operation, "%s", what);
        cr_expect_eq(boxing.bytes, cases[i].same * TENSOR, "%s: %g", what, boxing.bytes);
        struct ar_placements from = placed(cases[i].from), to = placed(cases[i].to);
        ar_boxing_between(&from.axes[0], 4, &to.axes[0], 6, TENSOR, &boxing);
        cr_expect_float_eq(boxing.bytes, cases[i].between * TENSOR, 1e-6, "%s: %g", what,
                           boxing.bytes);
        for (uint32_t target = 0; target < 6 && cases[i].arriving > 0; target++) {
            double bytes = 0;
            for (uint32_t source = 0; source < 4; source++) {
                bytes += ar_boxing_message_bytes(&from.axes[0], 4, &to.axes[0], 6, TENSOR, source,
                                                 target);
            }
            cr_expect_float_eq(bytes, cases[i].arriving * TENSOR, 1e-6, "%s, %u: %g", what, target,
                               bytes);
        }
    }
}

Test(boxing, on_two_axes_a_group_has_what_the_other_axis_leaves_to_it)
{
    const uint32_t sizes[] = {2, 4};
    cr_expect_eq(boxed("B,S0", "B,B", sizes).bytes, 2 * 3 * TENSOR, "all of it in both groups");
    struct ar_boxing half = boxed("S0,S1", "S0,B", sizes);
    cr_expect_eq(half.bytes, 2 * 3 * TENSOR / 2, "in both groups half of it");
    cr_expect_eq(half.steps[1].payload_bytes, TENSOR / 2);
    cr_expect_eq(half.steps[1].groups, 2);
}

Test(boxing, axes_change_in_the_order_that_sends_least)
{
    const uint32_t sizes[] = {2, 4};
    struct ar_boxing boxing = boxed("S0,P", "B,S1", sizes);
    cr_expect_eq(boxing.steps[0].axis, 1, "the sums first, while the tensor is split");
    cr_expect_eq(boxing.bytes, 2 * 3 * TENSOR / 2 + 4 * TENSOR / 4);
    boxing = boxed("P,S0", "S1,B", sizes);
    cr_expect_eq(boxing.steps[0].axis, 0);
}

Test(boxing, placements_that_are_none_are_refused)
{
    static const char *const bad[] = {"", "X", "S", "Sx", "S0,B,P", "B,", "s0"};
    struct ar_placements placements;
    TEST_EACH_FAILS(AR_USAGE, "--to: found", bad,
                    ar_placements_parse("--to", given, &placements, &why));
}
