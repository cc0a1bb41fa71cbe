#include "ar_draw.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "ar_gsl.h"
#include "ar_numbers.h"

struct ar_draw {
    gsl_rng *generator;
};

struct ar_draw *ar_draw_create(uint64_t seed, const char *name, struct ar_arena *arena)
{
    struct ar_draw *draw = ar_arena_alloc(arena, 1, sizeof *draw);
    uint64_t hash = AR_HASH_BEGIN;
    for (int shift = 0; shift < 64 && name != NULL; shift += 8) {
        unsigned char byte = (unsigned char)(seed >> shift);
        ar_hash_bytes(&hash, &byte, sizeof byte);
    }
    if (name != NULL) { /* folded to the 32 bits that mt19937 takes */
        ar_hash_bytes(&hash, name, strlen(name));
        seed = (hash ^ hash >> 32) & 0xffffffffu;
    }
    draw->generator = ar_gsl_generator(arena, (unsigned long)seed);
    return draw;
}

double ar_draw_uniform(struct ar_draw *draw, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(draw->generator);
}

uint32_t ar_draw_choice(struct ar_draw *draw, uint32_t count)
{
    return (uint32_t)gsl_rng_uniform_int(draw->generator, count);
}

double ar_draw_normal(struct ar_draw *draw)
{
    return gsl_ran_gaussian_ziggurat(draw->generator, 1);
}

void ar_jitter_factors(struct ar_draw *draw, double frac, uint32_t ranks, double *factors)
{
    double variance = log1p(frac * frac);
    double sigma = sqrt(variance);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        factors[rank] = exp(-variance / 2 + sigma * ar_draw_normal(draw));
    }
}

double ar_jitter_slowest(double frac, uint32_t ranks)
{
    double variance = log1p(frac * frac);
    double place = gsl_cdf_ugaussian_Pinv((ranks - 0.375) / (ranks + 0.25));
    return ranks > 1 ? exp(-variance / 2 + sqrt(variance) * place) : 1;
}

double ar_confidence95(double squared_deviations, uint32_t count)
{
    if (count < 2) {
        return 0;
    }
    double variance = squared_deviations / (count - 1);
    return gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(variance / count);
}
