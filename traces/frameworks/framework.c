#include "ar_framework.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"

void ar_framework_clear(struct ar_framework *framework)
{
    memset(framework, 0, sizeof *framework);
    ar_copy_text(framework->name, sizeof framework->name, "none");
    framework->description = "";
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        framework->terms[i].number = ar_terms[i].standard;
    }
}

bool ar_framework_is_on(const struct ar_framework *framework, enum ar_term term)
{
    const struct ar_term_value *value = &framework->terms[term];
    return ar_terms[term].kind == AR_TERM_TEXT ? value->text[0] != '\0'
                                               : value->number != ar_terms[term].standard;
}

enum ar_precision ar_framework_wire(const struct ar_framework *framework,
                                    enum ar_precision precision)
{
    double wire = framework->terms[AR_TERM_WIRE].number;
    return wire == 0 ? ar_precision_stored(precision) : (enum ar_precision)(wire - 1);
}

/* A timed trace does not know what the term counts in. */
static enum ar_status report_timed(const struct ar_trace *trace, enum ar_term term,
                                   enum ar_term missing, const char *example, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE,
                        "term %s: trace %s is timed and has no cost table; expected also --term "
                        "%s=%s",
                        ar_terms[term].key, trace->name, ar_terms[missing].key, example);
}

enum ar_status ar_framework_memory_rate(const struct ar_framework *framework,
                                        const struct ar_trace *trace, enum ar_term term,
                                        double *rate_Bps, struct ar_error *err)
{
    bool is_given = ar_framework_is_on(framework, AR_TERM_MEMORY_RATE);
    double found_Bps =
        is_given ? ar_framework_number(framework, AR_TERM_MEMORY_RATE) : trace->memory_Bps;
    if (found_Bps <= 0) {
        return report_timed(trace, term, AR_TERM_MEMORY_RATE, "780GB/s", err);
    }
    *rate_Bps = found_Bps;
    return AR_OK;
}

/* Time of the optimizer beyond that of the trace. */
static enum ar_status optimizer_extra(const struct ar_framework *framework,
                                      const struct ar_trace *trace, double *time_s,
                                      struct ar_error *err)
{
    double kernels = ar_framework_number(framework, AR_TERM_OPTIMIZER_KERNELS);
    double bytes = ar_framework_number(framework, AR_TERM_OPTIMIZER_BYTES);
    bool has_floor = ar_framework_is_on(framework, AR_TERM_KERNEL_FLOOR);
    double launches_s = 0;
    double traffic_s = 0;
    if (kernels > 0) {
        if (trace->is_timed && !has_floor) {
            return report_timed(trace, AR_TERM_OPTIMIZER_KERNELS, AR_TERM_KERNEL_FLOOR, "5us", err);
        }
        launches_s = kernels * (has_floor ? ar_framework_number(framework, AR_TERM_KERNEL_FLOOR)
                                          : trace->kernel_floor_s);
    }
    if (bytes > 0) {
        double rate_Bps = 0;
        AR_TRY(ar_framework_memory_rate(framework, trace, AR_TERM_OPTIMIZER_BYTES, &rate_Bps, err));
        traffic_s = bytes * (double)ar_trace_gradient_elements(trace) / rate_Bps;
    }
    *time_s = fmax(launches_s, traffic_s);
    return AR_OK;
}

enum ar_status ar_framework_apply(const struct ar_framework *framework, struct ar_trace *trace,
                                  struct ar_error *err)
{
    double extra_s = 0;
    AR_TRY(optimizer_extra(framework, trace, &extra_s, err));
    trace->step_overhead_s += ar_framework_number(framework, AR_TERM_STEP_FLOOR);
    trace->optimizer_s += extra_s;
    ar_trace_scale(trace, ar_framework_number(framework, AR_TERM_COMPUTE_SCALE));
    return AR_OK;
}

double ar_framework_negotiation_s(const struct ar_framework *framework, uint32_t ranks)
{
    uint32_t hops = 0;
    for (uint64_t reached = 1; reached < ranks; reached *= 2) {
        hops += 2;
    }
    return ar_framework_number(framework, AR_TERM_NEGOTIATE_BASE) +
           hops * ar_framework_number(framework, AR_TERM_NEGOTIATE_HOP) +
           ranks * ar_framework_number(framework, AR_TERM_NEGOTIATE_RANK);
}
