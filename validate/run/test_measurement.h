/** \file test_measurement.h
 * For tests: what is measured.
 */
#pragma once

#include "measurement.h"

/** An operation of elements of fp32 on one node, over one channel, by no algorithm yet. */
static inline struct measurement test_measurement(const struct ar_operation *operation,
                                                  struct ar_shape shape, uint64_t elements)
{
    return (struct measurement){.name = "test",
                                .operation = operation,
                                .shape = shape,
                                .channels = 1,
                                .ranks = ar_shape_ranks(&shape),
                                .ranks_per_node = ar_shape_ranks(&shape),
                                .type = &element_fp32,
                                .elements = elements};
}
