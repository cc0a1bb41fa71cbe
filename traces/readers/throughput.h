/** \file throughput.h
 * The shipped ResNet-50 trace beside published throughput of V100 nodes; shared by the program
 * compare_published and the tests.
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
    double published; /**< images per second, all GPUs */
    double predicted; /**< images per second: gpus / step time, without communication */
};

/** Predicted over published, less 1. */
double ar_throughput_error_frac(const struct ar_throughput *row);

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

#endif
