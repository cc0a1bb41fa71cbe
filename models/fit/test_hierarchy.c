/* Factors of machines and classes from the fits of single machines. */
#include <math.h>

#include "ar_hierarchy.h"
#include "test_outcome.h"

static const double NORMAL = 1e9; /* degrees of freedom */

static struct ar_hierarchy_group make_group(double value, double precision, uint32_t class)
{
    return (struct ar_hierarchy_group){
        .precision = {{precision}}, .pull = {precision * value}, .classes = {class}};
}

/* Errors of machines are distributed by Student's t of so many degrees of freedom. */
static struct ar_hierarchy solve(struct ar_hierarchy_group *groups, size_t count,
                                 double class_spread, double freedom)
{
    struct ar_hierarchy hierarchy = {.parameters_count = 1,
                                     .mean_spread = {10},
                                     .class_spread = {class_spread},
                                     .own_spread = {0.1},
                                     .freedom = freedom};
    struct ar_hierarchy_group *list[8];
    for (size_t i = 0; i < count; i++) {
        list[i] = &groups[i];
    }
    TEST_OK(ar_hierarchy_solve(list, count, &hierarchy, &why));
    return hierarchy;
}

/* Two machines that are known exactly: their mean, with the error of two draws of 0.1. */
Test(hierarchy, machines_of_one_class_give_their_mean)
{
    struct ar_hierarchy_group groups[] = {make_group(0.2, 1e6, 3), make_group(0.4, 1e6, 3)};
    struct ar_hierarchy found = solve(groups, 2, 1e-3, NORMAL);
    cr_expect_float_eq(found.factors[0][3], 0.3, 1e-3);
    cr_expect_float_eq(found.errors[0][3], 0.1 / sqrt(2), 1e-3);
    cr_expect_float_eq(found.factors[0][0], 0.3, 1e-3, "a class without machines has the mean");
}

/* A machine that says nothing changes nothing. */
Test(hierarchy, classes_keep_what_is_theirs_and_others_lie_between)
{
    struct ar_hierarchy_group groups[] = {make_group(-1, 1e6, 0), make_group(1, 1e6, 1)};
    struct ar_hierarchy_group mute[] = {make_group(0.2, 1e4, 0), make_group(5, 0, 0)};
    struct ar_hierarchy found = solve(groups, 2, 1, NORMAL);
    cr_expect_lt(found.factors[0][0], -0.9);
    cr_expect_gt(found.factors[0][1], 0.9);
    cr_expect_float_eq(found.factors[0][2], 0, 0.01);
    cr_expect_gt(found.errors[0][2], 1, "nobody measured it: as wide as classes differ");
    cr_expect_float_eq(solve(mute, 2, 1, NORMAL).factors[0][0],
                       solve(mute, 1, 1, NORMAL).factors[0][0], 1e-12);
}

/* Four machines agree, a fifth is far away: by Student's t it moves the mean less. */
Test(hierarchy, a_machine_unlike_the_others_moves_them_less)
{
    enum { COUNT = 5 };
    double means[2];
    for (int is_student = 0; is_student < 2; is_student++) {
        struct ar_hierarchy_group groups[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            groups[i] = make_group(i == 0 ? 2 : 0, 1e6, 0);
        }
        for (int round = 0; round < 20; round++) {
            means[is_student] = solve(groups, COUNT, 1e-3, is_student ? 4 : NORMAL).factors[0][0];
        }
        cr_expect_float_eq(groups[0].own[0] + means[is_student], 2, 1e-2, "what is known exactly");
    }
    cr_expect_float_eq(means[0], 2.0 / COUNT, 1e-2);
    cr_expect_lt(means[1], 0.1);
}

/* A fit with a prior of 0 +- 0.5 and data of 0.8 +- 0.5 stands at 0.4. */
Test(hierarchy, a_group_is_a_fit_without_its_prior)
{
    struct ar_hierarchy_group group = {.classes = {0}};
    double log = 0.4, covariance = 0.125, spread = 0.5;
    TEST_OK(ar_hierarchy_group(1, &log, &covariance, &spread, NULL, &group, &why));
    cr_expect_float_eq(group.precision[0][0], 4, 1e-9);
    cr_expect_float_eq(group.pull[0] / group.precision[0][0], 0.8, 1e-9);
}
