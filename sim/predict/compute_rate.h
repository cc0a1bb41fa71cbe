/** \file compute_rate.h
 * `--samples-per-s-at B=V[,B=V...]`: compute times scaled to measured rates of one GPU.
 *
 * A GPU was measured to train V samples per second at batch B, alone. The model has another rate
 * there, B over all compute of a step, terms of the framework included, its input limit not; the
 * factor model / V makes the two equal. Between two given batches the factor is linear in log2 of
 * the batch, outside them it is the nearest's. All compute times are multiplied by it.
 *
 * Of a workload there is one rate: that of one replica, pp x ep x tp GPUs, with B sequences in a
 * step. What it sends within itself is not scaled, so its factor is found by trying.
 */
#ifndef AR_COMPUTE_RATE_H
#define AR_COMPUTE_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

enum { COMPUTE_RATES_MAX = 32 };

/* Compute times times others are those of no GPU: the rate has another unit. */
#define COMPUTE_FACTOR_MIN 1e-3
#define COMPUTE_FACTOR_MAX 1e5

struct compute_rate {
    uint32_t batch;
    double samples_per_s; /**< as measured */
    double factor;        /**< of compute times; set by who knows the model's rate */
};

struct compute_rates {
    struct compute_rate list[COMPUTE_RATES_MAX]; /**< by ascending batch */
    size_t count;
};

/** Parses a list of BATCH=RATE into an arena; errors are AR_USAGE and begin with `where`. */
enum ar_status compute_rates_parse(const char *where, const char *text, struct ar_arena *arena,
                                   struct compute_rates **rates, struct ar_error *err);

/** Sets the factor of a rate, given the model's time of a step's compute at its batch. */
void compute_rate_set(struct compute_rate *rate, double compute_s);

/** The factor at a batch. `rates` has at least one, with factors. */
double compute_rates_factor(const struct compute_rates *rates, uint32_t batch);

#endif
