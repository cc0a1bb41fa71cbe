/** \file tuner.h
 * Which choice of a communication library is fastest, by size, as the table of NCCL's example tuner
 * plug-in (NVIDIA/nccl, ext-tuner/example), which makes NCCL take it.
 *
 * Sizes go from 8 bytes to 64 GiB, eight to a doubling; neighbours with the same choice are one
 * line. `min_bytes` is the first size of a choice; the first line begins at 0, the last one has no
 * end. Channels, operations in flight and registered buffers are left to NCCL (-1).
 */
#ifndef AR_TUNER_H
#define AR_TUNER_H

#include <stdio.h>

#include "ar_collective.h"
#include "ar_library_fit.h"

/** How much longer NCCL's own choice takes than the one in the table, at most, and where. */
struct tuner_gain {
    double factor, bytes;
    const struct ar_operation *operation;
};

/** Writes the table of the operation of a collective, NULL: of all that the library has, by a
 * library, fitted or by its own constants. Of the rest cluster and shape count. AR_USAGE for an
 * operation, or a number of nodes, that it has no model of. Write errors are left for ferror(). */
enum ar_status tuner_write(FILE *file, const struct ar_library *library, bool is_fitted,
                           const struct ar_collective *collective, const char *made_by,
                           struct tuner_gain *gain, struct ar_error *err);

#endif
