#include "ar_hierarchy.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_linalg.h>

#include "ar_arena.h"
#include "ar_gsl.h"

enum { MAX = AR_HIERARCHY_PARAMETERS_MAX, CLASSES = AR_HIERARCHY_CLASSES };

#define PRECISION_MIN 1e-9

/* Decomposes a positive definite matrix in place. */
static enum ar_status decompose_matrix(gsl_matrix *matrix, struct ar_error *err)
{
    ar_gsl_begin();
    int code = gsl_linalg_cholesky_decomp1(matrix);
    ar_gsl_end();
    return ar_gsl_status(code, "a hierarchy of machines", err);
}

enum ar_status ar_hierarchy_group(size_t parameters_count, const double *logs,
                                  const double *covariance, const double *prior_spreads,
                                  const bool *is_fitted, struct ar_hierarchy_group *group,
                                  struct ar_error *err)
{
    size_t places[MAX], count = 0;
    double memory[MAX * MAX];
    assert(parameters_count <= MAX);
    for (size_t k = 0; k < parameters_count; k++) {
        if (is_fitted == NULL || is_fitted[k]) {
            places[count++] = k;
        }
    }
    if (count == 0) {
        return AR_OK;
    }
    gsl_matrix_view inverse = gsl_matrix_view_array(memory, count, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            memory[i * count + j] = covariance[places[i] * parameters_count + places[j]];
        }
    }
    AR_TRY(decompose_matrix(&inverse.matrix, err));
    gsl_linalg_cholesky_invert(&inverse.matrix);
    for (size_t i = 0; i < count; i++) {
        size_t k = places[i];
        for (size_t j = 0; j < count; j++) {
            group->precision[k][places[j]] += memory[i * count + j];
            group->pull[k] += memory[i * count + j] * logs[places[j]];
        }
        group->precision[k][k] -= 1 / (prior_spreads[k] * prior_spreads[k]);
        group->precision[k][k] = fmax(group->precision[k][k], PRECISION_MIN);
    }
    return AR_OK;
}

/* --- solving ------------------------------------------------------------------------------- */

/* The estimate of the coefficients by one group, its own deviations averaged out. */
struct averaged {
    double precision[MAX * MAX], pull[MAX]; /* the first by rows of as many as there are */
};

/* One solution, and room for it. A coefficient is the sum of mean and class of a parameter. */
struct solution {
    struct ar_hierarchy_group *const *groups;
    struct averaged *averaged; /* [group] */
    size_t groups_count;
    struct ar_hierarchy *hierarchy;
    gsl_matrix *precision;    /* of the coefficients, decomposed once they are found */
    gsl_vector *coefficients; /* their means */
};

static size_t coefficient_of(size_t parameter, uint32_t class)
{
    return parameter * CLASSES + class;
}

static double own_variance(const struct ar_hierarchy *hierarchy,
                           const struct ar_hierarchy_group *group, size_t parameter)
{
    double freedom = hierarchy->freedom, variance = pow(hierarchy->own_spread[parameter], 2);
    return (freedom * variance + pow(group->own[parameter], 2)) / (freedom + 1);
}

/* (1 + H T)^-1 (H, h), T the variances between machines. */
static enum ar_status average_out_group(const struct solution *solution,
                                        const struct ar_hierarchy_group *group,
                                        struct averaged *made, struct ar_error *err)
{
    double *precision = made->precision, *pull = made->pull;
    double memory[MAX * MAX];
    size_t count = solution->hierarchy->parameters_count, places[MAX];
    int sign;
    gsl_matrix_view system = gsl_matrix_view_array(memory, count, count);
    gsl_matrix_view answer = gsl_matrix_view_array(precision, count, count);
    gsl_permutation order = {count, places};
    for (size_t i = 0; i < count; i++) {
        pull[i] = group->pull[i];
        for (size_t j = 0; j < count; j++) {
            precision[i * count + j] = group->precision[i][j];
            memory[i * count + j] =
                (i == j) + group->precision[i][j] * own_variance(solution->hierarchy, group, j);
        }
    }
    AR_TRY(ar_gsl_status(gsl_linalg_LU_decomp(&system.matrix, &order, &sign), "a machine", err));
    for (size_t j = 0; j <= count; j++) {
        gsl_vector_view column =
            j < count ? gsl_matrix_column(&answer.matrix, j) : gsl_vector_view_array(pull, count);
        AR_TRY(ar_gsl_status(gsl_linalg_LU_svx(&system.matrix, &order, &column.vector), "a machine",
                             err));
    }
    return AR_OK;
}

/* The coefficients and their precision with the spreads as they are. */
static enum ar_status solve_coefficients(struct solution *solution, struct ar_error *err)
{
    size_t count = solution->hierarchy->parameters_count;
    gsl_matrix_set_zero(solution->precision);
    gsl_vector_set_zero(solution->coefficients);
    for (size_t k = 0; k < count; k++) {
        double prior = pow(solution->hierarchy->mean_spread[k], 2);
        double between = pow(solution->hierarchy->class_spread[k], 2);
        double common = prior / (between * (between + CLASSES * prior));
        for (uint32_t a = 0; a < CLASSES; a++) {
            for (uint32_t b = 0; b < CLASSES; b++) {
                gsl_matrix_set(solution->precision, coefficient_of(k, a), coefficient_of(k, b),
                               (a == b ? 1 / between : 0) - common);
            }
        }
    }
    for (size_t g = 0; g < solution->groups_count; g++) {
        const struct ar_hierarchy_group *group = solution->groups[g];
        const double *precision = solution->averaged[g].precision;
        AR_TRY(average_out_group(solution, group, &solution->averaged[g], err));
        for (size_t i = 0; i < count; i++) {
            size_t row = coefficient_of(i, group->classes[i]);
            *gsl_vector_ptr(solution->coefficients, row) += solution->averaged[g].pull[i];
            for (size_t j = 0; j < count; j++) {
                *gsl_matrix_ptr(solution->precision, row, coefficient_of(j, group->classes[j])) +=
                    (precision[i * count + j] + precision[j * count + i]) / 2;
            }
        }
    }
    AR_TRY(decompose_matrix(solution->precision, err));
    gsl_linalg_cholesky_svx(solution->precision, solution->coefficients);
    return AR_OK;
}

/* Finds the deviations of a group from the coefficients: T (1 + H T)^-1 (h - H coefficients). */
static void find_own(const struct solution *solution, size_t index)
{
    struct ar_hierarchy_group *group = solution->groups[index];
    const struct averaged *averaged = &solution->averaged[index];
    size_t count = solution->hierarchy->parameters_count;
    for (size_t i = 0; i < count; i++) {
        double pull = averaged->pull[i];
        for (size_t j = 0; j < count; j++) {
            pull -= averaged->precision[i * count + j] *
                    gsl_vector_get(solution->coefficients, coefficient_of(j, group->classes[j]));
        }
        group->own[i] = own_variance(solution->hierarchy, group, i) * pull;
    }
}

enum ar_status ar_hierarchy_solve(struct ar_hierarchy_group *const *groups, size_t count,
                                  struct ar_hierarchy *hierarchy, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t size = hierarchy->parameters_count * CLASSES;
    double *memory = ar_arena_alloc(&arena, size * (size + 1), sizeof *memory);
    gsl_matrix_view precision = gsl_matrix_view_array(memory + size, size, size);
    gsl_vector_view coefficients = gsl_vector_view_array(memory, size);
    struct solution solution = {.groups = groups,
                                .averaged = ar_arena_alloc(&arena, count, sizeof(struct averaged)),
                                .groups_count = count,
                                .hierarchy = hierarchy,
                                .precision = &precision.matrix,
                                .coefficients = &coefficients.vector};
    AR_TRY(solve_coefficients(&solution, err));
    for (size_t i = 0; i < count; i++) {
        find_own(&solution, i);
    }
    if (!hierarchy->leaves_errors) { /* the covariance, in place */
        gsl_linalg_cholesky_invert(solution.precision);
    }
    for (size_t k = 0; k < hierarchy->parameters_count; k++) {
        for (uint32_t c = 0; c < CLASSES; c++) {
            size_t at = coefficient_of(k, c);
            hierarchy->factors[k][c] = gsl_vector_get(solution.coefficients, at);
            hierarchy->errors[k][c] =
                hierarchy->leaves_errors ? NAN : sqrt(gsl_matrix_get(solution.precision, at, at));
        }
    }
    return AR_OK;
}
