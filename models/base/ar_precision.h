/** \file ar_precision.h
 * The precision of a number on a device or on the wire.
 */
#ifndef AR_BASE_PRECISION_H
#define AR_BASE_PRECISION_H

#include <stddef.h>
#include <stdint.h>

enum ar_precision { AR_FP16, AR_FP32 };
enum { AR_PRECISIONS_COUNT = 2 };

/** Bytes of one number: 2 or 4. */
uint32_t ar_precision_bytes(enum ar_precision precision);

/** `fp16` or `fp32`; the list ends with NULL. */
extern const char *const ar_precision_names[];

#endif
