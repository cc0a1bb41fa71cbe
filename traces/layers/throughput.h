/** \file throughput.h
 * The shipped ResNet-50 trace beside published throughput of V100 nodes, and how much its GPUs
 * differ; shared by the program compare_published and the tests.
 */
#ifndef AR_TRACES_THROUGHPUT_H
#define AR_TRACES_THROUGHPUT_H

#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_trace.h"

/** One published figure beside the prediction. */
struct ar_throughput {
    const char *framework;
    const char *hardware;
    const char *batch_note; /**< NULL: none */
    enum ar_precision precision;
    uint32_t batch;
    uint32_t gpus;
    double published;  /**< images per second, all GPUs */
    double predicted;  /**< images per second: gpus / step time, without communication */
    double error_frac; /**< predicted / published - 1 */
};

/** Reads the published training figures that state a batch; `root` is the folder of the source
 * tree. All that is made belongs to the arena. */
enum ar_status ar_throughput_training(const char *root, struct ar_arena *arena,
                                      struct ar_throughput **rows, size_t *rows_count,
                                      struct ar_error *err);

/** The published forward-only figures. A benchmark of inference waits for every batch, so its time
 * is a constant and the work of the kernels: the constant is what the first row leaves over, no
 * kernel floor is applied, and bn has 2 passes. The first row is therefore met exactly. */
enum ar_status ar_throughput_forward_only(const char *root, struct ar_arena *arena,
                                          struct ar_throughput **rows, size_t *rows_count,
                                          struct ar_error *err);

/** How much the GPUs of a job differ in speed, from published throughput of one node.
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
 * m(N): H. L. Harter, Expected values of normal order statistics, Biometrika 48 (1961). */
struct ar_gpu_spread {
    size_t rows_count; /**< published pairs of one GPU and several */
    double low;        /**< lower quartile of c */
    double median;
    double high; /**< upper quartile */
};

/** Estimates c from those rows of a precision with 2, 4, 8 or 16 GPUs that have a row of one GPU,
 * same framework, hardware and batch, beside them. AR_BAD_DATA if there is none. */
enum ar_status ar_gpu_spread_estimate(const struct ar_throughput *rows, size_t rows_count,
                                      enum ar_precision precision, struct ar_arena *arena,
                                      struct ar_gpu_spread *spread, struct ar_error *err);

#endif
