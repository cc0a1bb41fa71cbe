/* The trace of a plan and the terms of its framework. */
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "compute_rate.h"
#include "plan.h"
#include "resource.h"

enum { BATCH_STANDARD = 32, BATCH_MAX = 1000000 };

/* A term is set once on a command line: the last one would win in silence. */
static enum ar_status refuse_second(const struct options *options, size_t index,
                                    struct ar_error *err)
{
    const char *text = options->terms.texts[index];
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < index; i++) {
        if (strncmp(options->terms.texts[i], text, length + 1) == 0) {
            return ar_error_set(err, AR_USAGE,
                                "--term: found \"%.60s\" and \"%.60s\"; expected one",
                                options->terms.texts[i], text);
        }
    }
    return AR_OK;
}

static enum ar_status read_framework(const struct options *options, struct ar_framework *framework,
                                     struct ar_error *err)
{
    char path[RESOURCE_PATH];
    enum ar_status status = AR_OK;
    ar_framework_clear(framework);
    if (options->framework != NULL && strcmp(options->framework, "none") != 0) {
        status = resource_find(RESOURCE_FRAMEWORK, "--framework", options->framework, path, err);
        if (status == AR_OK) {
            status = ar_framework_load(path, framework, err);
        }
    }
    for (size_t i = 0; status == AR_OK && i < options->terms.count; i++) {
        status = ar_framework_set(framework, "--term", options->terms.texts[i], err);
        status = option_status(status, err);
        if (status == AR_OK) {
            status = refuse_second(options, i, err);
        }
    }
    return status;
}

enum ar_status plan_load_framework(const struct options *options, struct ar_framework **framework,
                                   struct ar_error *err)
{
    struct ar_framework *read = malloc(sizeof *read);
    if (read == NULL) {
        return ar_error_no_memory(err, "the terms of a framework");
    }
    enum ar_status status = read_framework(options, read, err);
    if (status != AR_OK) {
        free(read);
        return status;
    }
    *framework = read;
    return AR_OK;
}

/* Terms that nothing reacts to are a mistake. */
void plan_note_framework(const struct plan *plan, const struct options *options)
{
    const struct ar_framework *framework = plan->framework;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        enum ar_term term = (enum ar_term)i;
        enum ar_term needed = ar_term_needs(term);
        if (!ar_framework_is_on(framework, term)) {
            continue;
        }
        if (needed != AR_TERMS_COUNT && !ar_framework_is_on(framework, needed)) {
            plan_note(options, "term %s changes nothing without %s", ar_term_key(term),
                      ar_term_key(needed));
        } else if ((term == AR_TERM_FUSION_RULE && options->bucket != NULL) ||
                   (term == AR_TERM_JITTER && options->jitter != NULL)) {
            plan_note(options, "term %s changes nothing beside --%s", ar_term_key(term),
                      term == AR_TERM_JITTER ? "jitter" : "bucket");
        } else if (term == AR_TERM_KERNEL_FLOOR && plan->trace->is_timed) {
            plan_note(options, "term %s does not change the layers of %s, which is timed",
                      ar_term_key(term), plan->trace->name);
        }
    }
}

/* A timed trace has a batch and a precision of its own and must be what was asked for; a work trace
 * has none, refuses to be read without, and gets the defaults. */
static enum ar_status read_trace(struct ar_trace_request request, bool is_asked,
                                 struct ar_trace **trace, struct ar_error *err)
{
    struct ar_trace_request open = request;
    open.batch = 0;
    open.precision_is_given = 0;
    enum ar_status status = ar_trace_load(&open, trace, err);
    if (status == AR_USAGE) {
        request.batch = request.batch > 0 ? request.batch : BATCH_STANDARD;
        request.precision_is_given = 1;
        return ar_trace_load(&request, trace, err);
    }
    if (status == AR_OK && is_asked) {
        ar_trace_destroy(*trace);
        *trace = NULL;
        status = ar_trace_load(&request, trace, err);
    }
    return status;
}

/* Time of a step's compute at another batch, but for compute.scale: that goes on top of a measured
 * rate, where it would cancel out. */
static enum ar_status time_at(struct ar_trace_request request, const struct plan *plan,
                              uint32_t batch, double *compute_s, struct ar_error *err)
{
    struct ar_trace *trace;
    if (plan->trace->is_timed && batch != plan->trace->batch) {
        return ar_error_set(err, AR_USAGE,
                            "--images-per-s-at: found batch %u; expected %u, at which trace %s was "
                            "measured",
                            batch, plan->trace->batch, plan->trace->name);
    }
    request.batch = batch;
    request.precision = plan->trace->precision;
    request.precision_is_given = 1;
    enum ar_status status = ar_trace_load(&request, &trace, err);
    if (status == AR_OK) {
        status = ar_framework_apply(plan->framework, trace, err);
        *compute_s =
            ar_trace_compute_s(trace) / ar_framework_number(plan->framework, AR_TERM_COMPUTE_SCALE);
        ar_trace_destroy(trace);
    }
    return status;
}

/* Scales the trace to the rates that were measured. */
static enum ar_status scale_trace(const struct options *options, struct ar_trace_request request,
                                  struct plan *plan, struct ar_error *err)
{
    struct compute_rates rates;
    if (options->images_per_s_at == NULL) {
        return AR_OK;
    }
    enum ar_status status =
        compute_rates_parse("--images-per-s-at", options->images_per_s_at, &rates, err);
    for (size_t i = 0; status == AR_OK && i < rates.count; i++) {
        double compute_s = 0;
        status = time_at(request, plan, rates.list[i].batch, &compute_s, err);
        if (status == AR_OK) {
            compute_rate_set(&rates.list[i], compute_s);
        }
    }
    if (status == AR_OK) {
        plan->compute_factor = compute_rates_factor(&rates, plan->trace->batch);
        ar_trace_scale(plan->trace, plan->compute_factor);
    }
    return status;
}

/* Reads the trace and does to it what the framework does to compute. */
static enum ar_status load(const struct options *options, struct ar_trace_request request,
                           struct plan *plan, struct ar_error *err)
{
    bool is_asked = request.batch > 0 || options->precision != NULL;
    request.precision = plan->precision;
    request.precision_is_given = options->precision != NULL;
    request.has_kernel_floor = ar_framework_is_on(plan->framework, AR_TERM_KERNEL_FLOOR);
    request.kernel_floor_s = ar_framework_number(plan->framework, AR_TERM_KERNEL_FLOOR);
    enum ar_status status = read_trace(request, is_asked, &plan->trace, err);
    if (status == AR_OK) {
        status = ar_framework_apply(plan->framework, plan->trace, err);
    }
    return status == AR_OK ? scale_trace(options, request, plan, err) : status;
}

enum ar_status plan_load_trace(const struct options *options, struct plan *plan,
                               struct ar_error *err)
{
    char path[RESOURCE_PATH];
    char cost_path[RESOURCE_PATH];
    uint64_t batch = 0;
    const char *cost = ar_cluster_facts(plan->cluster)->device_cost;
    enum ar_status status = option_required(options, "trace", options->trace, err);
    if (status == AR_OK) {
        status = resource_find(RESOURCE_TRACE, "--trace", options->trace, path, err);
    }
    if (status == AR_OK && options->batch != NULL) {
        status = ar_parse_count("--batch", options->batch, 1, BATCH_MAX, &batch, err);
        status = option_status(status, err);
    }
    if (status == AR_OK && cost[0] != '\0') {
        status = resource_find(RESOURCE_COST, "gpu.cost_table", cost, cost_path, err);
    }
    if (status == AR_OK) {
        struct ar_trace_request request = {.path = path,
                                           .cost_path = cost[0] != '\0' ? cost_path : NULL,
                                           .batch = (uint32_t)batch};
        plan->trace = NULL;
        status = load(options, request, plan, err);
    }
    if (status == AR_OK) {
        plan->precision = plan->trace->precision;
        status = ar_trace_scale_gradients(plan->trace, plan->gradient_scale, err);
    }
    if (status != AR_OK) {
        ar_trace_destroy(plan->trace);
        plan->trace = NULL;
    }
    return status;
}
