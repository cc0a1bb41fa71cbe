/** \file ar_framework.h
 * A framework: what happens between the layers of a training step, as terms with values.
 *
 * A trace knows the kernels of one GPU, a cluster the links between them. The terms here are the
 * rest: how gradients are packed and when they are sent, what a step costs beside its kernels, how
 * communication slows compute. Each is off by default; sim/predict/ar_step.h says where each one
 * enters a step, README.md beside the shipped files has the formulas.
 *
 * A framework file is a CSV with the columns `term,value,source`, one row for each term that is not
 * at its default, and optionally a line `# description = ...` before the header. A value carries
 * its unit (`0.1ms`, `780GB/s`, `4B`), a plain number none; `off` is the default of any term. A
 * source says where the value comes from, or that it is assumed, and may not be empty.
 */
#ifndef AR_FRAMEWORK_H
#define AR_FRAMEWORK_H

#include <stdbool.h>

#include "ar_arena.h"
#include "ar_term.h"
#include "ar_text.h"
#include "ar_trace.h"

struct ar_term_value {
    double number;    /**< in SI units; of wire.precision 0 same, 1 fp16, 2 fp32 */
    char text[32];    /**< as written; "" at the default */
    char source[384]; /**< "" at the default */
    char where[128];  /**< where it was read, for error lines; "" at the default */
    enum ar_status
        status; /**< of errors of the text that are found later: AR_USAGE or AR_BAD_DATA */
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

/** Value of a term. */
static inline double ar_framework_number(const struct ar_framework *framework, enum ar_term term)
{
    return framework->terms[term].number;
}

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
