/** \file ar_framework.h
 * A framework: what happens between the layers of a training step, as terms with values.
 *
 * A trace knows the kernels of one GPU, a cluster the links between them. The terms here are the
 * rest: how gradients are packed and when they are sent, what a step costs beside its kernels, how
 * communication slows compute. Each is off by default; sim/predict/ar_timing.h says where each one
 * enters a step, traces/layers/README.md has the formulas.
 *
 * A framework file is a CSV with the columns `term,value,source`, one row for each term that is not
 * at its default, and optionally a line `# description = ...` before the header. A value carries
 * its unit (`0.1ms`, `780GB/s`, `4B`), a plain number none; `off` is the default of any term. A
 * source says where the value comes from, or that it is assumed, and may not be empty.
 */
#pragma once

#include <stdbool.h>

#include "ar_arena.h"
#include "ar_text.h"
#include "ar_trace.h"

/** Default of kernel.floor: the cost table's own. */
#define AR_TERM_TABLE (-1.0)

/** Terms: symbol, key, what has it, kind of value, default (= off), min, max, the term without
 * which it changes nothing (AR_TERMS_COUNT: none), meaning. */
#define AR_TERM_LIST(X)                                                                            \
    X(AR_TERM_WIRE, "wire.precision", AR_TERM_OF_TRACES, AR_TERM_PRECISION, 0, 0, 0,               \
      AR_TERMS_COUNT,                                                                              \
      "precision of gradients on the wire: same (as they are stored), or what --gradients takes")  \
    X(AR_TERM_FUSION_RULE, "fusion.rule", AR_TERM_OF_TRACES, AR_TERM_TEXT, 0, 0, 0,                \
      AR_TERMS_COUNT, "rule of --bucket where that option is not given")                           \
    X(AR_TERM_FUSION_PASSES, "fusion.passes", AR_TERM_OF_TRACES, AR_TERM_NUMBER, 0, 0, 100,        \
      AR_TERMS_COUNT,                                                                              \
      "times the bytes of a bucket of several tensors are read or written to pack and unpack it")  \
    X(AR_TERM_FUSION_TENSOR, "fusion.tensor", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 1,         \
      AR_TERMS_COUNT, "time to launch the copy of one tensor in one direction")                    \
    X(AR_TERM_MEMORY_RATE, "memory.rate", AR_TERM_OF_TRACES, AR_TERM_RATE, 0, 1e6, 1e15,           \
      AR_TERMS_COUNT,                                                                              \
      "bytes per second of such copies and of optimizer.bytes; default: the cost table's")         \
    X(AR_TERM_CYCLE_TIME, "cycle.time", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 100,             \
      AR_TERMS_COUNT, "least time between two negotiations; off: gradients are sent as they come") \
    X(AR_TERM_CYCLE_PHASE, "cycle.phase", AR_TERM_OF_TRACES, AR_TERM_NUMBER, 0, 0, 1,              \
      AR_TERM_CYCLE_TIME, "part of a cycle between the start of a step and the first negotiation") \
    X(AR_TERM_NEGOTIATE_BASE, "negotiate.base", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 100,     \
      AR_TERM_CYCLE_TIME, "constant time of a negotiation")                                        \
    X(AR_TERM_NEGOTIATE_HOP, "negotiate.hop", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 1,         \
      AR_TERM_CYCLE_TIME, "time per hop of a negotiation, 2 ceil(log2 N) of them")                 \
    X(AR_TERM_NEGOTIATE_RANK, "negotiate.rank", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 1,       \
      AR_TERM_CYCLE_TIME, "time per rank of a negotiation, at the coordinator")                    \
    X(AR_TERM_KERNEL_FLOOR, "kernel.floor", AR_TERM_OF_TRACES, AR_TERM_SECONDS, AR_TERM_TABLE, 0,  \
      1, AR_TERMS_COUNT, "least time of a kernel; default: the cost table's")                      \
    X(AR_TERM_STEP_FLOOR, "step.floor", AR_TERM_OF_TRACES, AR_TERM_SECONDS, 0, 0, 100,             \
      AR_TERMS_COUNT, "time of the framework per step, before the forward pass")                   \
    X(AR_TERM_COMPUTE_SCALE, "compute.scale", AR_TERM_OF_TRACES, AR_TERM_NUMBER, 1, 1e-3, 1e3,     \
      AR_TERMS_COUNT, "factor on all compute times")                                               \
    X(AR_TERM_JITTER, "jitter", AR_TERM_OF_ALL, AR_TERM_NUMBER, 0, 0, 1, AR_TERMS_COUNT,           \
      "value of --jitter where it is not given")                                                   \
    X(AR_TERM_INPUT_RATE, "input.rate", AR_TERM_OF_TRACES, AR_TERM_NUMBER, 0, 0, 1e12,             \
      AR_TERMS_COUNT,                                                                              \
      "samples per second that the input pipeline of a node delivers; off: no limit")              \
    X(AR_TERM_OPTIMIZER_BYTES, "optimizer.bytes", AR_TERM_OF_TRACES, AR_TERM_BYTES, 0, 0, 1000,    \
      AR_TERMS_COUNT, "bytes per parameter that the optimizer moves beside the cost table's")      \
    X(AR_TERM_OPTIMIZER_KERNELS, "optimizer.kernels", AR_TERM_OF_TRACES, AR_TERM_COUNT, 0, 0, 1e6, \
      AR_TERMS_COUNT, "kernels that it launches beside those")                                     \
    X(AR_TERM_BN_ELEMENTS, "bn.elements", AR_TERM_OF_TRACES, AR_TERM_COUNT, 0, 0, 1e12,            \
      AR_TERM_BN_INTERVAL, "fp32 batch-norm statistics that the ranks reduce among each other")    \
    X(AR_TERM_BN_INTERVAL, "bn.interval", AR_TERM_OF_TRACES, AR_TERM_COUNT, 0, 0, 1e9,             \
      AR_TERM_BN_ELEMENTS, "steps between two such exchanges")                                     \
    X(AR_TERM_CONTENTION_SMS, "contention.sms", AR_TERM_OF_ALL, AR_TERM_NUMBER, 0, 0, 1000,        \
      AR_TERMS_COUNT,                                                                              \
      "multiprocessors that one channel of a collective takes from the backward pass")             \
    X(AR_TERM_GPU_SMS, "gpu.sms", AR_TERM_OF_ALL, AR_TERM_NUMBER, 80, 1, 1e6,                      \
      AR_TERM_CONTENTION_SMS, "multiprocessors of a GPU")                                          \
    X(AR_TERM_ELEMENTWISE_SCALE, "elementwise.scale", AR_TERM_OF_WORKLOADS, AR_TERM_NUMBER, 1,     \
      0.1, 100, AR_TERMS_COUNT,                                                                    \
      "factor on the bytes of norms and activations: what is not fused moves more")                \
    X(AR_TERM_HOST_KERNEL, "host.kernel", AR_TERM_OF_WORKLOADS, AR_TERM_SECONDS, 0, 0, 1,          \
      AR_TERMS_COUNT,                                                                              \
      "time of the host for each listed kernel of a layer, with what software does around it")     \
    X(AR_TERM_HOST_BATCH, "host.batch", AR_TERM_OF_WORKLOADS, AR_TERM_SECONDS, 0, 0, 100,          \
      AR_TERMS_COUNT, "time of the host per micro-batch and stage")                                \
    X(AR_TERM_HOST_COLLECTIVE, "host.collective", AR_TERM_OF_WORKLOADS, AR_TERM_SECONDS, 0, 0, 1,  \
      AR_TERMS_COUNT, "time of the host to launch one collective or message")                      \
    X(AR_TERM_HOST_TENSOR, "host.tensor", AR_TERM_OF_WORKLOADS, AR_TERM_SECONDS, 0, 0, 1,          \
      AR_TERMS_COUNT, "time of the host for each parameter tensor in the optimizer")               \
    X(AR_TERM_HOST_BLOCKING, "host.blocking", AR_TERM_OF_WORKLOADS, AR_TERM_COUNT, 0, 0, 1,        \
      AR_TERM_HOST_KERNEL, "1: it waits for each kernel (CUDA_LAUNCH_BLOCKING); 0: it runs ahead")

enum ar_term { AR_TERM_LIST(AR_LIST_FIRST) AR_TERMS_COUNT };

/** The steps that a term changes: those of traces, of workloads, or both. */
enum ar_term_of { AR_TERM_OF_TRACES = 1, AR_TERM_OF_WORKLOADS = 2, AR_TERM_OF_ALL = 3 };

/** Kinds of values; those with units may also be off. */
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
    enum ar_term_of of;
    enum ar_term_kind kind;
    double standard; /**< off */
    double min, max;
    enum ar_term needs; /**< the term without which it changes nothing; AR_TERMS_COUNT: none */
    const char *meaning;
} ar_terms[AR_TERMS_COUNT];

/** Names of the kinds: `time`, `rate`, `bytes`, `number`, `count`, `precision`, `rule`. */
extern const char *const ar_term_kinds[];

struct ar_term_value {
    double number;    /**< in SI units; of wire.precision 0 same, 1 fp16, 2 fp32 */
    char text[32];    /**< as written; "" at the default */
    char source[384]; /**< "" at the default */
    char where[128];  /**< where it was read, for error lines; "" at the default */
    enum ar_status
        status; /**< for errors in the text that are found later: AR_USAGE or AR_BAD_DATA */
};

struct ar_framework {
    char name[64];           /**< `none`, or the name of the file */
    const char *description; /**< "" if the file has none */
    struct ar_term_value terms[AR_TERMS_COUNT];
};

/** The framework `none`: all terms at their defaults. */
void ar_framework_clear(struct ar_framework *framework);

/** Reads a file into the arena; AR_NO_INPUT if there is none, else AR_BAD_DATA. */
enum ar_status ar_framework_load(const char *path, struct ar_arena *arena,
                                 struct ar_framework **framework, struct ar_error *err);

/** A copy of `base` (NULL: of `none`) in the arena, with `settings` of terms, each term at most
 * once; `where` of a setting becomes the source of its value. */
enum ar_status ar_framework_create(const struct ar_framework *base, struct ar_settings settings,
                                   struct ar_arena *arena, struct ar_framework **framework,
                                   struct ar_error *err);

/** Not at its default. */
bool ar_framework_is_on(const struct ar_framework *framework, enum ar_term term);

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
