/** \file astra_workload.h
 * A step as a text workload of ASTRA-sim 1.0 and SimAI, which ar_recorded.h reads back.
 *
 * Each line of the text has a slot of the forward pass, a computation and a collective behind it,
 * and one of the backward pass. Tasks of the compute stream fill them in order; a collective of
 * gradients stands behind the computation that it waits for. Replicas alone are `DATA`; with shards
 * or experts it is SimAI's `HYBRID_TRANSFORMER_FWD_IN_BCKWD`, which says its mesh. Times are whole
 * nanoseconds.
 *
 * The grammar has one pass forward and one backward of one stage, in which only an update waits for
 * what is sent beside: all else is refused. Waits and copies of a framework have no place.
 */
#ifndef AR_ASTRA_WORKLOAD_H
#define AR_ASTRA_WORKLOAD_H

#include <stdio.h>

#include "ar_timing.h"

/** Writes the workload of a step that was run; `*left_out_s` becomes the time that has no place in
 * it. AR_USAGE with what it cannot say. Write errors are left for ferror(). */
enum ar_status astra_workload_write(FILE *file, const struct ar_timing *timing, double *left_out_s,
                                    struct ar_error *err);

#endif
