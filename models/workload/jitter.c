#include "ar_jitter.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

void ar_jitter_factors(struct ar_draw *draw, double frac, uint32_t ranks, double *factors)
{
    double variance = log1p(frac * frac);
    double sigma = sqrt(variance);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        factors[rank] = exp(-variance / 2 + sigma * ar_draw_normal(draw));
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
