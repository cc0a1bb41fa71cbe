/** \file ar_framework.h
 * A framework: what happens between the layers of a training step, as terms with values.
 *
 * A trace knows the kernels of one GPU, a cluster the links between them. The terms here are the
 * rest: how gradients are packed and when they are sent, what a step costs beside its kernels, how
 * communication slows compute. Each is off by default; sim/ar_step.h says where each one enters a
 * step, README.md beside the shipped files has the formulas.
 *
 * A framework file is a CSV with the columns `term,value,source`, one row for each term that is not
 * at its default, and optionally a line `# description = ...` before the header. A value carries
 * its unit (`0.1ms`, `780GB/s`, `4B`), a plain number none; `off` is the default of any term. A
 * source says where the value comes from, or that it is assumed, and may not be empty.
 */
#ifndef AR_FRAMEWORK_H
#define AR_FRAMEWORK_H

#include <stdbool.h>

#include "ar_setting.h"
#include "ar_trace.h"

/** Default of kernel.floor: the cost table's own. */
#define AR_TERM_TABLE (-1.0)

/** Terms: symbol, key, kind of value, default (= off), least, most, meaning. */
#define AR_TERM_LIST(X)                                                                            \
    X(AR_TERM_WIRE, "wire.precision", PRECISION, 0, 0, 2,                                          \
      "precision of gradients on the wire: same (as compute), fp16 or fp32")                       \
    X(AR_TERM_FUSION_RULE, "fusion.rule", TEXT, 0, 0, 0,                                           \
      "rule of --bucket where that option is not given")                                           \
    X(AR_TERM_FUSION_PASSES, "fusion.passes", NUMBER, 0, 0, 100,                                   \
      "times the bytes of a bucket of several tensors are read or written to pack and unpack it")  \
    X(AR_TERM_FUSION_TENSOR, "fusion.tensor", SECONDS, 0, 0, 1,                                    \
      "time to launch the copy of one tensor in one direction")                                    \
    X(AR_TERM_MEMORY_RATE, "memory.rate", RATE, 0, 1e6, 1e15,                                      \
      "bytes per second of such copies and of optimizer.bytes; default: the cost table's")         \
    X(AR_TERM_CYCLE_TIME, "cycle.time", SECONDS, 0, 0, 100,                                        \
      "least time between two negotiations; off: gradients are sent as they come")                 \
    X(AR_TERM_CYCLE_PHASE, "cycle.phase", NUMBER, 0, 0, 1,                                         \
      "part of a cycle between the start of a step and the first negotiation")                     \
    X(AR_TERM_NEGOTIATE_BASE, "negotiate.base", SECONDS, 0, 0, 100,                                \
      "constant time of a negotiation")                                                            \
    X(AR_TERM_NEGOTIATE_HOP, "negotiate.hop", SECONDS, 0, 0, 1,                                    \
      "time per hop of a negotiation, 2 ceil(log2 N) of them")                                     \
    X(AR_TERM_NEGOTIATE_RANK, "negotiate.rank", SECONDS, 0, 0, 1,                                  \
      "time per rank of a negotiation, at the coordinator")                                        \
    X(AR_TERM_KERNEL_FLOOR, "kernel.floor", SECONDS, AR_TERM_TABLE, 0, 1,                          \
      "least time of a kernel; default: the cost table's")                                         \
    X(AR_TERM_STEP_FLOOR, "step.floor", SECONDS, 0, 0, 100,                                        \
      "time of the framework per step, before the forward pass")                                   \
    X(AR_TERM_COMPUTE_SCALE, "compute.scale", NUMBER, 1, 1e-3, 1e3, "factor on all compute times") \
    X(AR_TERM_JITTER, "jitter", NUMBER, 0, 0, 1, "value of --jitter where it is not given")        \
    X(AR_TERM_INPUT_RATE, "input.rate", NUMBER, 0, 0, 1e12,                                        \
      "images per second that the input pipeline of a node delivers; off: no limit")               \
    X(AR_TERM_OPTIMIZER_BYTES, "optimizer.bytes", BYTES, 0, 0, 1000,                               \
      "bytes per parameter that the optimizer moves beside the cost table's")                      \
    X(AR_TERM_OPTIMIZER_KERNELS, "optimizer.kernels", COUNT, 0, 0, 1e6,                            \
      "kernels that it launches beside those")                                                     \
    X(AR_TERM_BN_ELEMENTS, "bn.elements", COUNT, 0, 0, 1e12,                                       \
      "fp32 batch-norm statistics that the ranks reduce among each other")                         \
    X(AR_TERM_BN_INTERVAL, "bn.interval", COUNT, 0, 0, 1e9, "steps between two such exchanges")    \
    X(AR_TERM_CONTENTION_SMS, "contention.sms", NUMBER, 0, 0, 1000,                                \
      "multiprocessors that one channel of a collective takes from the backward pass")             \
    X(AR_TERM_GPU_SMS, "gpu.sms", NUMBER, 80, 1, 1e6, "multiprocessors of a GPU")

enum ar_term {
#define X(symbol, key, kind, standard, min, max, meaning) symbol,
    AR_TERM_LIST(X)
#undef X
        AR_TERMS_COUNT
};

struct ar_term_value {
    double number;    /**< in SI units; of wire.precision 0 same, 1 fp16, 2 fp32 */
    char text[32];    /**< as written; "" at the default */
    char source[384]; /**< "" at the default */
    char where[128];  /**< where it was read, for error lines; "" at the default */
    enum ar_status
        status; /**< of errors of the text that are found later: AR_USAGE or AR_BAD_DATA */
};

struct ar_framework {
    char name[64];         /**< `none`, or the name of the file */
    char description[160]; /**< "" if the file has none */
    struct ar_term_value terms[AR_TERMS_COUNT];
};

/** Name, kind (`time`, `rate`, `bytes`, `number`, `count`, `precision`, `rule`) and meaning of a
 * term. */
const char *ar_term_key(enum ar_term term);
const char *ar_term_unit(enum ar_term term);
const char *ar_term_meaning(enum ar_term term);

/** The framework `none`: all terms at their defaults. */
void ar_framework_clear(struct ar_framework *framework);

/** Reads a file; AR_NO_INPUT if there is none, else AR_BAD_DATA. Freed by ar_framework_destroy().
 */
enum ar_status ar_framework_load(const char *path, struct ar_framework **framework,
                                 struct ar_error *err);

/** A copy of `base` (NULL: of `none`) with `settings` of terms, each term at most once; `where` of
 * a setting becomes the source of its value. Freed by ar_framework_destroy(). */
enum ar_status ar_framework_create(const struct ar_framework *base, struct ar_settings settings,
                                   struct ar_framework **framework, struct ar_error *err);

/** Frees what ar_framework_load() or ar_framework_create() made; NULL is allowed. */
void ar_framework_destroy(struct ar_framework *framework);

/** Sets the term of a text `KEY=VALUE`; `where` begins the error line and becomes the source. */
enum ar_status ar_framework_set(struct ar_framework *framework, const char *where, const char *text,
                                struct ar_error *err);

/** Finds a term by its key, `length` bytes of `key`; AR_TERMS_COUNT if there is none. */
enum ar_term ar_term_find(const char *key, size_t length);

/** Not at its default. */
bool ar_framework_is_on(const struct ar_framework *framework, enum ar_term term);

/** Value of a term. */
static inline double ar_framework_number(const struct ar_framework *framework, enum ar_term term)
{
    return framework->terms[term].number;
}

/** The term without which `term` changes nothing; AR_TERMS_COUNT if there is none. */
enum ar_term ar_term_needs(enum ar_term term);

/** Precision on the wire of gradients computed in `precision`. */
enum ar_precision ar_framework_wire(const struct ar_framework *framework,
                                    enum ar_precision precision);

/** Bytes per second of copies on the device: memory.rate, else that of the trace's cost table. A
 * timed trace has none, which is AR_USAGE; `term` is the one that asks. */
enum ar_status ar_framework_memory_rate(const struct ar_framework *framework,
                                        const struct ar_trace *trace, enum ar_term term,
                                        double *rate_Bps, struct ar_error *err);

/** Adds what the framework costs on one GPU without communication to the times of a trace:
 *
 *     overhead  = (overhead + step.floor) * compute.scale
 *     optimizer = (optimizer + max(optimizer.kernels * floor, parameters * optimizer.bytes / rate))
 *                 * compute.scale
 *     layer     = layer * compute.scale
 *
 * `floor` is kernel.floor, else that of the cost table. kernel.floor itself is asked of
 * ar_trace_create(). On failure (AR_USAGE) the trace is as it was. */
enum ar_status ar_framework_apply(const struct ar_framework *framework, struct ar_trace *trace,
                                  struct ar_error *err);

/** Time of one negotiation among `ranks` ranks: base + hop * 2 ceil(log2 N) + rank * N. */
double ar_framework_negotiation_s(const struct ar_framework *framework, uint32_t ranks);

#endif
