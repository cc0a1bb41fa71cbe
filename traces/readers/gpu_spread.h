/** \file gpu_spread.h
 * How much the GPUs of a job differ in speed, from published throughput of one node.
 *
 * With a large batch on the NVLinks of one node the all-reduce hides behind the backward pass. What
 * a step still loses there is, for the most part, the wait for the slowest GPU. If compute times
 * vary by the coefficient of variation c, normally distributed, the slowest of N takes 1 + c m(N)
 * times the mean, m(N) being the expected largest of N standard normal variables, so
 *
 *     c = (N * rate of one GPU / rate of N GPUs - 1) / m(N)
 *
 * Everything else that grows with the GPUs of a node (input pipeline, power, interference of the
 * all-reduce with compute) is in c, too: it is an upper bound of the jitter proper, and the
 * published figures vary.
 * m(N): H. L. Harter, Expected values of normal order statistics, Biometrika 48 (1961).
 */
#ifndef AR_TRACES_GPU_SPREAD_H
#define AR_TRACES_GPU_SPREAD_H

#include "throughput.h"

struct ar_gpu_spread {
    size_t rows_count; /**< published pairs of one GPU and several */
    double low;        /**< lower quartile of c */
    double median;
    double high; /**< upper quartile */
};

/** Estimates c from those rows of a precision with 2, 4, 8 or 16 GPUs that have a row of one GPU,
 * same framework, hardware and batch, beside them. AR_BAD_DATA if there is none. */
enum ar_status ar_gpu_spread_estimate(const struct ar_throughput *rows, size_t rows_count,
                                      enum ar_precision precision, struct ar_gpu_spread *spread,
                                      struct ar_error *err);

#endif
