#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_eigen.h>

#include "ar_gsl.h"

enum { COUNT = AR_LIBRARY_PARAMETERS_COUNT };

/* Of `path:line`, and what stands before a release. */
enum { WHERE_SIZE = 340 };

#define NCCL "nccl-"

/* Relative to the largest variance: the rounding of a fit. */
#define ROUNDING 1e-9

static enum ar_status check_symmetry(const char *path, const struct ar_library *library,
                                     double largest, struct ar_error *err)
{
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < i; j++) {
            if (!(fabs(library->covariance[i][j] - library->covariance[j][i]) <=
                  ROUNDING * largest)) {
                return ar_error_set(
                    err, AR_BAD_DATA,
                    "%.200s: covariance of %s and %s: found %g and %g; expected the same both ways",
                    path, ar_library_parameters[i].name, ar_library_parameters[j].name,
                    library->covariance[i][j], library->covariance[j][i]);
            }
        }
    }
    return AR_OK;
}

/* The least eigenvalue: the variance of the combination that is known best. */
static enum ar_status find_least_variance(const struct ar_library *library, double *least,
                                          struct ar_error *err)
{
    int code = GSL_ENOMEM;
    double copy[COUNT * COUNT]; /* which it destroys */
    double values[COUNT];
    gsl_matrix_view matrix = gsl_matrix_view_array(copy, COUNT, COUNT);
    gsl_vector_view eigenvalues = gsl_vector_view_array(values, COUNT);
    gsl_error_handler_t *handler = ar_gsl_begin();
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(COUNT);
    memcpy(copy, library->covariance, sizeof copy);
    if (work != NULL) {
        code = gsl_eigen_symm(&matrix.matrix, &eigenvalues.vector, work);
        *least = gsl_vector_min(&eigenvalues.vector);
    }
    gsl_eigen_symm_free(work);
    ar_gsl_end(handler);
    return ar_gsl_status(code, "the covariance of a fit", err);
}

enum ar_status ar_library_check_covariance(const char *path, const struct ar_library *library,
                                           struct ar_error *err)
{
    double largest = 0;
    for (int i = 0; i < COUNT; i++) {
        largest = fmax(largest, library->covariance[i][i]);
    }
    AR_TRY(check_symmetry(path, library, largest, err));
    double least = 0;
    AR_TRY(find_least_variance(library, &least, err));
    if (!(least >= -ROUNDING * largest)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: found a covariance matrix with a negative variance; expected "
                            "that of a fit",
                            path);
    }
    return AR_OK;
}

enum ar_status ar_library_read_release(const char *where, const char *value,
                                       struct ar_tuning *tuning, struct ar_error *err)
{
    struct ar_tuning found;
    char key[WHERE_SIZE];
    size_t skipped = strncmp(value, NCCL, strlen(NCCL)) == 0 ? strlen(NCCL) : 0;
    snprintf(key, sizeof key, "%.320s: tuning", where);
    AR_TRY(ar_tuning_find(key, value + skipped, 0, 0, &found, err));
    tuning->release = found.release;
    return AR_OK;
}
