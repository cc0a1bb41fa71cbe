/** \file ar_precision.h
 * The precision of a number on a device or on the wire.
 */
#ifndef AR_BASE_PRECISION_H
#define AR_BASE_PRECISION_H

#include <stddef.h>
#include <stdint.h>

/** Precisions: symbol, name, bytes of an operand of a matrix product, precision in which weights,
 * activations and gradients are stored where products run in it. tf32 rounds what is stored in
 * fp32; training in fp8 keeps all else in bf16 (Micikevicius et al., arXiv:2209.05433, and
 * Transformer Engine). */
#define AR_PRECISION_LIST(X)                                                                       \
    X(AR_FP16, "fp16", 2, AR_FP16)                                                                 \
    X(AR_FP32, "fp32", 4, AR_FP32)                                                                 \
    X(AR_BF16, "bf16", 2, AR_BF16)                                                                 \
    X(AR_FP8, "fp8", 1, AR_BF16)                                                                   \
    X(AR_TF32, "tf32", 4, AR_FP32)

enum ar_precision {
#define X(symbol, name, bytes, stored) symbol,
    AR_PRECISION_LIST(X)
#undef X
        AR_PRECISIONS_COUNT
};

/** Bytes of one number: 1, 2 or 4. */
uint32_t ar_precision_bytes(enum ar_precision precision);

/** The precision that memory holds, and gradients have unless something else is said. */
enum ar_precision ar_precision_stored(enum ar_precision precision);

/** The names; the list ends with NULL. */
extern const char *const ar_precision_names[];

#endif
