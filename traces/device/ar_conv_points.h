/** \file ar_conv_points.h
 * Measured convolutions: read, ordered, looked up by shape.
 *
 * The file is a CSV with the columns `precision,batch,width,channels_in,channels_out,kernel,stride,
 * forward_s,backward_data_s,backward_weights_s` and, optionally, the directive `source`.
 */
#ifndef AR_CONV_POINTS_H
#define AR_CONV_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_precision.h"

enum ar_conv_pass {
    AR_CONV_FORWARD,
    AR_CONV_BACKWARD_DATA,
    AR_CONV_BACKWARD_WEIGHTS,
    AR_CONV_PASSES_COUNT
};

/** One measured convolution. */
struct ar_conv_point {
    enum ar_precision precision;
    uint32_t batch;
    uint32_t width; /**< of the square input */
    uint32_t channels_in;
    uint32_t channels_out;
    uint32_t kernel;
    uint32_t stride;
    double time_s[AR_CONV_PASSES_COUNT];
};

/** All zero: none. */
struct ar_conv_points {
    struct ar_conv_point *list; /**< ordered by precision, shape, batch */
    size_t count;
};

/** Reads a file into the arena. */
enum ar_status ar_conv_points_load(const char *path, struct ar_arena *arena,
                                   struct ar_conv_points *points, struct ar_error *err);

/** Points of the precision and shape of `shape` in ascending batch; returns how many, 0 if it was
 * not measured. */
size_t ar_conv_points_find(const struct ar_conv_points *points, const struct ar_conv_point *shape,
                           const struct ar_conv_point **found);

#endif
