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
    X(AR_TERM_WIRE, "wire.precision", AR_TERM_PRECISION, 0, 0, 4, AR_TERMS_COUNT,                  \
      "precision of gradients on the wire: same (as they are stored), fp16, fp32, bf16 or fp8")    \
    X(AR_TERM_FUSION_RULE, "fusion.rule", AR_TERM_TEXT, 0, 0, 0, AR_TERMS_COUNT,                   \
      "rule of --bucket where that option is not given")                                           \
    X(AR_TERM_FUSION_PASSES, "fusion.passes", AR_TERM_NUMBER, 0, 0, 100, AR_TERMS_COUNT,           \
      "times the bytes of a bucket of several tensors are read or written to pack and unpack it")  \
    X(AR_TERM_FUSION_TENSOR, "fusion.tensor", AR_TERM_SECONDS, 0, 0, 1, AR_TERMS_COUNT,            \
      "time to launch the copy of one tensor in one direction")                                    \
    X(AR_TERM_MEMORY_RATE, "memory.rate", AR_TERM_RATE, 0, 1e6, 1e15, AR_TERMS_COUNT,              \
      "bytes per second of such copies and of optimizer.bytes; default: the cost table's")         \
    X(AR_TERM_CYCLE_TIME, "cycle.time", AR_TERM_SECONDS, 0, 0, 100, AR_TERMS_COUNT,                \
      "least time between two negotiations; off: gradients are sent as they come")                 \
    X(AR_TERM_CYCLE_PHASE, "cycle.phase", AR_TERM_NUMBER, 0, 0, 1, AR_TERM_CYCLE_TIME,             \
      "part of a cycle between the start of a step and the first negotiation")                     \
    X(AR_TERM_NEGOTIATE_BASE, "negotiate.base", AR_TERM_SECONDS, 0, 0, 100, AR_TERM_CYCLE_TIME,    \
      "constant time of a negotiation")                                                            \
    X(AR_TERM_NEGOTIATE_HOP, "negotiate.hop", AR_TERM_SECONDS, 0, 0, 1, AR_TERM_CYCLE_TIME,        \
      "time per hop of a negotiation, 2 ceil(log2 N) of them")                                     \
    X(AR_TERM_NEGOTIATE_RANK, "negotiate.rank", AR_TERM_SECONDS, 0, 0, 1, AR_TERM_CYCLE_TIME,      \
      "time per rank of a negotiation, at the coordinator")                                        \
    X(AR_TERM_KERNEL_FLOOR, "kernel.floor", AR_TERM_SECONDS, AR_TERM_TABLE, 0, 1, AR_TERMS_COUNT,  \
      "least time of a kernel; default: the cost table's")                                         \
    X(AR_TERM_STEP_FLOOR, "step.floor", AR_TERM_SECONDS, 0, 0, 100, AR_TERMS_COUNT,                \
      "time of the framework per step, before the forward pass")                                   \
    X(AR_TERM_COMPUTE_SCALE, "compute.scale", AR_TERM_NUMBER, 1, 1e-3, 1e3, AR_TERMS_COUNT,        \
      "factor on all compute times")                                                               \
    X(AR_TERM_JITTER, "jitter", AR_TERM_NUMBER, 0, 0, 1, AR_TERMS_COUNT,                           \
      "value of --jitter where it is not given")                                                   \
    X(AR_TERM_INPUT_RATE, "input.rate", AR_TERM_NUMBER, 0, 0, 1e12, AR_TERMS_COUNT,                \
      "samples per second that the input pipeline of a node delivers; off: no limit")              \
    X(AR_TERM_OPTIMIZER_BYTES, "optimizer.bytes", AR_TERM_BYTES, 0, 0, 1000, AR_TERMS_COUNT,       \
      "bytes per parameter that the optimizer moves beside the cost table's")                      \
    X(AR_TERM_OPTIMIZER_KERNELS, "optimizer.kernels", AR_TERM_COUNT, 0, 0, 1e6, AR_TERMS_COUNT,    \
      "kernels that it launches beside those")                                                     \
    X(AR_TERM_BN_ELEMENTS, "bn.elements", AR_TERM_COUNT, 0, 0, 1e12, AR_TERM_BN_INTERVAL,          \
      "fp32 batch-norm statistics that the ranks reduce among each other")                         \
    X(AR_TERM_BN_INTERVAL, "bn.interval", AR_TERM_COUNT, 0, 0, 1e9, AR_TERM_BN_ELEMENTS,           \
      "steps between two such exchanges")                                                          \
    X(AR_TERM_CONTENTION_SMS, "contention.sms", AR_TERM_NUMBER, 0, 0, 1000, AR_TERMS_COUNT,        \
      "multiprocessors that one channel of a collective takes from the backward pass")             \
    X(AR_TERM_GPU_SMS, "gpu.sms", AR_TERM_NUMBER, 80, 1, 1e6, AR_TERM_CONTENTION_SMS,              \
      "multiprocessors of a GPU")

enum ar_term {
#define X(symbol, key, kind, standard, min, max, needs, meaning) symbol,
    AR_TERM_LIST(X)
#undef X
        AR_TERMS_COUNT
};

/** What a value is; those with units may also be off. */
enum ar_term_kind {
    AR_TERM_NUMBER,
    AR_TERM_COUNT,
    AR_TERM_SECONDS,
    AR_TERM_RATE,
    AR_TERM_BYTES,
    AR_TERM_PRECISION,
    AR_TERM_TEXT /**< a text that is read where its rules are known */
};

/** The list as a table. */
extern const struct ar_term_facts {
    const char *key;
    enum ar_term_kind kind;
    double standard; /**< off */
    double min, max;
    enum ar_term needs; /**< the term without which it changes nothing; AR_TERMS_COUNT: none */
    const char *meaning;
} ar_terms[AR_TERMS_COUNT];

/** Names of the kinds: `time`, `rate`, `bytes`, `number`, `count`, `precision`, `rule`. */
extern const char *const ar_term_kinds[];

/** Finds a term by its key, `length` bytes of `key`; AR_TERMS_COUNT if there is none. */
enum ar_term ar_term_find(const char *key, size_t length);

/** AR_BAD_DATA with a hint for a key that is no term. */
enum ar_status ar_term_report_unknown(const char *where, const char *key, struct ar_error *err);

/** Parses a value with its unit, in SI units; of wire.precision 0 same, else
 * 1 + enum ar_precision. */
enum ar_status ar_term_parse(enum ar_term term, const char *where, const char *text, double *number,
                             struct ar_error *err);

#endif
