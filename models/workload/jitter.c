#include "ar_jitter.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "ar_gsl.h"

struct ar_jitter {
    gsl_rng *generator;
    double mu;
    double sigma;
};

enum ar_status ar_jitter_create(double frac, uint64_t seed, struct ar_jitter **jitter,
                                struct ar_error *err)
{
    struct ar_jitter *made = malloc(sizeof *made);
    gsl_rng *generator = NULL;
    if (made == NULL) {
        return ar_error_no_memory(err, "a random generator");
    }
    enum ar_status status = ar_gsl_generator((unsigned long)seed, &generator, err);
    if (status != AR_OK) {
        free(made);
        return status;
    }
    double variance = log1p(frac * frac);
    *made =
        (struct ar_jitter){.generator = generator, .mu = -variance / 2, .sigma = sqrt(variance)};
    *jitter = made;
    return AR_OK;
}

void ar_jitter_destroy(struct ar_jitter *jitter)
{
    if (jitter != NULL) {
        gsl_rng_free(jitter->generator);
        free(jitter);
    }
}

void ar_jitter_factors(struct ar_jitter *jitter, uint32_t ranks, double *factors)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        factors[rank] =
            exp(jitter->mu + gsl_ran_gaussian_ziggurat(jitter->generator, jitter->sigma));
    }
}

double ar_confidence95(double squared_deviations, uint32_t count)
{
    if (count < 2) {
        return 0;
    }
    double variance = squared_deviations / (count - 1);
    return gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(variance / count);
}
