/** \file ar_term.h
 * The terms of a framework: keys, units, limits. ar_framework.h says what they are for.
 */
#ifndef AR_TERM_H
#define AR_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_error.h"

/** Default of kernel.floor: the cost table's own. */
#define AR_TERM_TABLE (-1.0)

/** Terms: symbol, key, kind of value, default (= off), min, max, the term without which it changes
 * nothing (AR_TERMS_COUNT: none), meaning. */
#define AR_TERM_LIST(X)                                                                            \
    X(AR_TERM_WIRE, "wire.precision", PRECISION, 0, 0, 2, AR_TERMS_COUNT,                          \
      "precision of gradients on the wire: same (as compute), fp16 or fp32")                       \
    X(AR_TERM_FUSION_RULE, "fusion.rule", TEXT, 0, 0, 0, AR_TERMS_COUNT,                           \
      "rule of --bucket where that option is not given")                                           \
    X(AR_TERM_FUSION_PASSES, "fusion.passes", NUMBER, 0, 0, 100, AR_TERMS_COUNT,                   \
      "times the bytes of a bucket of several tensors are read or written to pack and unpack it")  \
    X(AR_TERM_FUSION_TENSOR, "fusion.tensor", SECONDS, 0, 0, 1, AR_TERMS_COUNT,                    \
      "time to launch the copy of one tensor in one direction")                                    \
    X(AR_TERM_MEMORY_RATE, "memory.rate", RATE, 0, 1e6, 1e15, AR_TERMS_COUNT,                      \
      "bytes per second of such copies and of optimizer.bytes; default: the cost table's")         \
    X(AR_TERM_CYCLE_TIME, "cycle.time", SECONDS, 0, 0, 100, AR_TERMS_COUNT,                        \
      "least time between two negotiations; off: gradients are sent as they come")                 \
    X(AR_TERM_CYCLE_PHASE, "cycle.phase", NUMBER, 0, 0, 1, AR_TERM_CYCLE_TIME,                     \
      "part of a cycle between the start of a step and the first negotiation")                     \
    X(AR_TERM_NEGOTIATE_BASE, "negotiate.base", SECONDS, 0, 0, 100, AR_TERM_CYCLE_TIME,            \
      "constant time of a negotiation")                                                            \
    X(AR_TERM_NEGOTIATE_HOP, "negotiate.hop", SECONDS, 0, 0, 1, AR_TERM_CYCLE_TIME,                \
      "time per hop of a negotiation, 2 ceil(log2 N) of them")                                     \
    X(AR_TERM_NEGOTIATE_RANK, "negotiate.rank", SECONDS, 0, 0, 1, AR_TERM_CYCLE_TIME,              \
      "time per rank of a negotiation, at the coordinator")                                        \
    X(AR_TERM_KERNEL_FLOOR, "kernel.floor", SECONDS, AR_TERM_TABLE, 0, 1, AR_TERMS_COUNT,          \
      "least time of a kernel; default: the cost table's")                                         \
    X(AR_TERM_STEP_FLOOR, "step.floor", SECONDS, 0, 0, 100, AR_TERMS_COUNT,                        \
      "time of the framework per step, before the forward pass")                                   \
    X(AR_TERM_COMPUTE_SCALE, "compute.scale", NUMBER, 1, 1e-3, 1e3, AR_TERMS_COUNT,                \
      "factor on all compute times")                                                               \
    X(AR_TERM_JITTER, "jitter", NUMBER, 0, 0, 1, AR_TERMS_COUNT,                                   \
      "value of --jitter where it is not given")                                                   \
    X(AR_TERM_INPUT_RATE, "input.rate", NUMBER, 0, 0, 1e12, AR_TERMS_COUNT,                        \
      "images per second that the input pipeline of a node delivers; off: no limit")               \
    X(AR_TERM_OPTIMIZER_BYTES, "optimizer.bytes", BYTES, 0, 0, 1000, AR_TERMS_COUNT,               \
      "bytes per parameter that the optimizer moves beside the cost table's")                      \
    X(AR_TERM_OPTIMIZER_KERNELS, "optimizer.kernels", COUNT, 0, 0, 1e6, AR_TERMS_COUNT,            \
      "kernels that it launches beside those")                                                     \
    X(AR_TERM_BN_ELEMENTS, "bn.elements", COUNT, 0, 0, 1e12, AR_TERM_BN_INTERVAL,                  \
      "fp32 batch-norm statistics that the ranks reduce among each other")                         \
    X(AR_TERM_BN_INTERVAL, "bn.interval", COUNT, 0, 0, 1e9, AR_TERM_BN_ELEMENTS,                   \
      "steps between two such exchanges")                                                          \
    X(AR_TERM_CONTENTION_SMS, "contention.sms", NUMBER, 0, 0, 1000, AR_TERMS_COUNT,                \
      "multiprocessors that one channel of a collective takes from the backward pass")             \
    X(AR_TERM_GPU_SMS, "gpu.sms", NUMBER, 80, 1, 1e6, AR_TERM_CONTENTION_SMS,                      \
      "multiprocessors of a GPU")

enum ar_term {
#define X(symbol, key, kind, standard, min, max, needs, meaning) symbol,
    AR_TERM_LIST(X)
#undef X
        AR_TERMS_COUNT
};

/** Name of a term, kind of its value (`time`, `rate`, `bytes`, `number`, `count`, `precision`,
 * `rule`), meaning, default, and the term without which it changes nothing; AR_TERMS_COUNT if there
 * is none. */
const char *ar_term_key(enum ar_term term);
const char *ar_term_unit(enum ar_term term);
const char *ar_term_meaning(enum ar_term term);
double ar_term_default(enum ar_term term);
enum ar_term ar_term_needs(enum ar_term term);

/** Its value is a text that is read where its rules are known. */
bool ar_term_is_text(enum ar_term term);

/** Finds a term by its key, `length` bytes of `key`; AR_TERMS_COUNT if there is none. */
enum ar_term ar_term_find(const char *key, size_t length);

/** AR_BAD_DATA with a hint for a key that is no term. */
enum ar_status ar_term_report_unknown(const char *where, const char *key, struct ar_error *err);

/** Parses a value with its unit, in SI units; of wire.precision 0 same, 1 fp16, 2 fp32. */
enum ar_status ar_term_parse(enum ar_term term, const char *where, const char *text, double *number,
                             struct ar_error *err);

#endif
