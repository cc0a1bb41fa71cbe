/** \file conv_points.h
 * The measured convolutions of a device cost table: read, ordered, looked up by shape.
 */
#ifndef AR_TRACES_CONV_POINTS_H
#define AR_TRACES_CONV_POINTS_H

#include <stddef.h>

#include "ar_device_cost.h"

/** Reads the file of measured convolutions into `cost`, which must have none yet. */
enum ar_status ar_conv_points_load(const char *path, struct ar_device_cost *cost,
                                   struct ar_error *err);

/** Points of the shape of `work` in ascending batch; returns how many, 0 if it was not measured. */
size_t ar_conv_points_find(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                           enum ar_precision precision, const struct ar_conv_point **points);

#endif
