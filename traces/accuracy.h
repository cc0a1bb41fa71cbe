/** \file accuracy.h
 * The shipped ResNet-50 trace beside published throughput of V100 nodes; shared by the program
 * compare_published and the tests.
 */
#ifndef AR_TRACES_ACCURACY_H
#define AR_TRACES_ACCURACY_H

#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"
#include "ar_trace.h"

/** One published figure beside the prediction. */
struct ar_accuracy_row {
    char framework[64];
    char hardware[64];
    char batch_note[64];
    enum ar_precision precision;
    uint32_t batch;
    uint32_t gpus;
    double published; /**< images per second, all GPUs */
    double predicted; /**< images per second: gpus / step time, without communication */
};

/** Predicted over published, less 1. */
double ar_accuracy_error_frac(const struct ar_accuracy_row *row);

/** Reads the published training figures that state a batch; `folder` holds the files of traces/.
 * `rows` is freed by the caller with free(). */
enum ar_status ar_accuracy_training(const char *folder, struct ar_accuracy_row **rows,
                                    size_t *rows_count, struct ar_error *err);

/** The published forward-only figures. A benchmark of inference waits for every batch, so its time
 * is a constant and the work of the kernels: the constant is what the first row leaves over, no
 * kernel floor is applied, and bn has 2 passes. The first row is therefore met exactly. */
enum ar_status ar_accuracy_forward_only(const char *folder, struct ar_accuracy_row **rows,
                                        size_t *rows_count, struct ar_error *err);

/** Loads the shipped ResNet-50 trace. */
enum ar_status ar_accuracy_load(const char *folder, uint32_t batch, enum ar_precision precision,
                                struct ar_trace **trace, struct ar_error *err);

#endif
