/** \file ar_units.h
 * The one parser and the one printer of dimensioned values.
 *
 * Inside Allreckon every value is in SI base units: seconds, bytes, bytes per second. Text carries
 * units: `51.1MB`, `48.75MiB`, `100Gbps`, `10.2GB/s`, `3.4us`. Decimal prefixes (k, M, G, T) are
 * powers of 1000, binary prefixes (Ki, Mi, Gi, Ti) powers of 1024; `bps` is bits per second, `B/s`
 * bytes per second. A space between number and unit is allowed. A number without a unit is an
 * error, since it has caused too many mistakes elsewhere.
 *
 * Every parser takes `where`, the name of the thing parsed (`--payload`, `x.topo:12: hca.latency`),
 * which begins the error line. Infinite, NaN and negative values are refused.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ar_error.h"

enum ar_quantity {
    AR_QUANTITY_SIZE,   /**< bytes (`B`, `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`, `TiB`); a
                             fraction of a byte and 2^50 bytes or more are errors */
    AR_QUANTITY_RATE,   /**< bytes per second (`GB/s`, `MiB/s`, `Gbps`, ...); zero is refused */
    AR_QUANTITY_TIME,   /**< seconds (`s`, `ms`, `us`, `ns`, `ps`) */
    AR_QUANTITY_COST,   /**< seconds per byte (`3.85ps/B`, `0.1ns/B`) */
    AR_QUANTITY_ENERGY, /**< joules per byte (`10pJ/b`, of a bit; `80pJ/B`) */
};

/** Parses a number with one of the units of a quantity; gives bytes, B/s, s, s/B or J/B. */
enum ar_status ar_parse_quantity(const char *where, const char *text, enum ar_quantity quantity,
                                 double *value, struct ar_error *err);

/** Parses a size, into bytes. */
enum ar_status ar_parse_bytes(const char *where, const char *text, uint64_t *bytes,
                              struct ar_error *err);

/** Parses a plain non-negative decimal integer between `min` and `max`. */
enum ar_status ar_parse_count(const char *where, const char *text, uint64_t min, uint64_t max,
                              uint64_t *count, struct ar_error *err);

/** Parses a plain dimensionless number between `min` and `max`. */
enum ar_status ar_parse_number(const char *where, const char *text, double min, double max,
                               double *number, struct ar_error *err);

/** Room enough for any text printed below. */
enum { AR_UNIT_TEXT = 32 };

/** Prints four significant digits and a unit (`51.11 MB`, `3.4 us`); returns `text`. */
const char *ar_format_bytes(uint64_t bytes, char text[AR_UNIT_TEXT]);
const char *ar_format_rate(double rate_Bps, char text[AR_UNIT_TEXT]);
const char *ar_format_seconds(double time_s, char text[AR_UNIT_TEXT]);

/** Prints a number with four significant digits, whole from 10,000 on, and a comma before each
 * three digits of its integer part (`1,641,853`); returns `text`. */
const char *ar_format_number(double number, char text[AR_UNIT_TEXT]);

/** Prints how long somebody has to wait (`12 s`, `3 min`, `2.5 h`); returns `text`. */
const char *ar_format_duration(double time_s, char text[AR_UNIT_TEXT]);

/** The same, with room of their own for the text, which lasts until the end of the block. */
#define AR_SHOW_BYTES(bytes)     ar_format_bytes((bytes), (char[AR_UNIT_TEXT]){""})
#define AR_SHOW_RATE(rate_Bps)   ar_format_rate((rate_Bps), (char[AR_UNIT_TEXT]){""})
#define AR_SHOW_SECONDS(time_s)  ar_format_seconds((time_s), (char[AR_UNIT_TEXT]){""})
#define AR_SHOW_NUMBER(number)   ar_format_number((number), (char[AR_UNIT_TEXT]){""})
#define AR_SHOW_DURATION(time_s) ar_format_duration((time_s), (char[AR_UNIT_TEXT]){""})

/* --- precisions ------------------------------------------------------------------------------- */

/** Precisions: symbol, name, bytes of a number on the wire and in products, bytes of the unit that
 * messages are cut into, precision in which weights, activations and gradients are stored where
 * products run in it. tf32 rounds what is stored in fp32; training in fp8 keeps all else in bf16
 * (Micikevicius et al., arXiv:2209.05433, and Transformer Engine). The first list has those that
 * messages may have, too. They have no scales but for mxfp4, 8 bits for 32 elements (OCP
 * Microscaling Formats 1.0); log8 is a sign and a logarithm (Dally, Hot Chips 2023). fp8_block
 * (scales of 1 x 128 and 128 x 128 elements) and nvfp4 (4 bits, a scale for every 16 elements) are
 * of products alone: memory and messages hold bf16, and a cost table says what operands take. */
#define AR_WIRE_PRECISION_LIST(X)                                                                  \
    X(AR_FP16, "fp16", 2, 2, AR_FP16)                                                              \
    X(AR_FP32, "fp32", 4, 4, AR_FP32)                                                              \
    X(AR_BF16, "bf16", 2, 2, AR_BF16)                                                              \
    X(AR_FP8, "fp8", 1, 1, AR_BF16)                                                                \
    X(AR_TF32, "tf32", 4, 4, AR_FP32)                                                              \
    X(AR_INT8, "int8", 1, 1, AR_BF16)                                                              \
    X(AR_LOG8, "log8", 1, 1, AR_BF16)                                                              \
    X(AR_INT4, "int4", 0.5, 1, AR_BF16)                                                            \
    X(AR_FP4, "fp4", 0.5, 1, AR_BF16)                                                              \
    X(AR_MXFP4, "mxfp4", 4.25 / 8, 1, AR_BF16)
#define AR_PRECISION_LIST(X)                                                                       \
    AR_WIRE_PRECISION_LIST(X)                                                                      \
    X(AR_FP8_BLOCK, "fp8_block", 1, 1, AR_BF16)                                                    \
    X(AR_NVFP4, "nvfp4", 1, 1, AR_BF16)

enum ar_precision { AR_PRECISION_LIST(AR_LIST_FIRST) AR_PRECISIONS_COUNT };

struct ar_precision_row {
    double bytes;        /**< of a number; of nvfp4 the byte that it does not fill */
    uint32_t unit_bytes; /**< what messages are cut into: numbers, or bytes if those are less */
    enum ar_precision stored; /**< what memory holds, and gradients have by default */
};
extern const struct ar_precision_row ar_precisions[]; /**< [ar_precision] */

/** Bytes of an element as it is stored, where products of the precision have narrower operands. */
double ar_stored_bytes(enum ar_precision precision);

/** Bytes that elements fill, rounded up. */
static inline uint64_t ar_precision_fill(enum ar_precision precision, uint64_t elements)
{
    return (uint64_t)ceil((double)elements * ar_precisions[precision].bytes);
}

/** Whether messages may have it. */
bool ar_precision_is_sent(enum ar_precision precision);

/** The names, and those of precisions that messages may have; both lists end with NULL. */
extern const char *const ar_precision_names[];
extern const char *const ar_wire_precision_names[];
