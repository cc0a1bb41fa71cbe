#include "ar_residual.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "ar_arena.h"

#define DOUBLINGS_OF_BYTES 2.0 /* after which the correlation is 1/e */
#define DOUBLINGS_OF_NODES 3.0
#define OTHER_WAY          0.3 /* of the correlation */
#define OTHER_OPERATION    0.3
#define NOISE              0.3 /* of the variance of the field */
#define DOUBLING           0.25
#define ERROR_MAX          3.0 /* standard deviations */

static double row_correlation(const struct ar_residual *a, const struct ar_residual *b)
{
    return exp(-fabs(log2(a->bytes / b->bytes)) / DOUBLINGS_OF_BYTES -
               fabs(log2(a->nodes / b->nodes)) / DOUBLINGS_OF_NODES) *
           (a->way == b->way ? 1 : OTHER_WAY) *
           (a->operation == b->operation ? 1 : OTHER_OPERATION);
}

double ar_residual_away(double nodes, double nodes_max)
{
    return nodes_max > 0 ? fmax(0, log2(nodes / nodes_max)) * DOUBLING * DOUBLING : 0;
}

void ar_residual_expect(const struct ar_residual *known, size_t known_count, double spread,
                        struct ar_residual *asked, size_t asked_count)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t size = known_count > 0 ? known_count : 1;
    double *memory = ar_arena_alloc(&arena, size * (size + 2), sizeof *memory);
    gsl_vector_view weights = gsl_vector_view_array(memory, size);
    gsl_vector_view near = gsl_vector_view_array(memory + size, size);
    gsl_matrix_view root = gsl_matrix_view_array(memory + 2 * size, size, size);
    if (known_count > 0) {
        double error_max = ERROR_MAX * spread;
        for (size_t i = 0; i < known_count; i++) {
            for (size_t j = 0; j <= i; j++) {
                gsl_matrix_set(&root.matrix, i, j,
                               row_correlation(&known[i], &known[j]) + (i == j ? NOISE : 0));
            }
            gsl_vector_set(&weights.vector, i, fmax(-error_max, fmin(error_max, known[i].error)));
        }
        /* Correlations and noise make it positive definite, so nothing can fail. */
        gsl_linalg_cholesky_decomp1(&root.matrix);
        gsl_linalg_cholesky_svx(&root.matrix, &weights.vector);
    }
    for (size_t i = 0; i < asked_count; i++) {
        double explained = 0;
        asked[i].error = 0;
        for (size_t j = 0; j < known_count; j++) {
            gsl_vector_set(&near.vector, j, row_correlation(&asked[i], &known[j]));
        }
        if (known_count > 0) {
            gsl_blas_ddot(&near.vector, &weights.vector, &asked[i].error);
            gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, &root.matrix, &near.vector);
            gsl_blas_ddot(&near.vector, &near.vector, &explained);
        }
        asked[i].share = (1 + NOISE - explained) / (1 + NOISE);
    }
}
