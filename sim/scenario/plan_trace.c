/* The trace of a plan and the terms of its framework. */
#include <stdlib.h>
#include <string.h>

#include "ar_device_cost.h"
#include "ar_trace_file.h"
#include "ar_units.h"
#include "compute_rate.h"
#include "plan.h"
#include "resource.h"

enum { BATCH_STANDARD = 32, BATCH_MAX = 1000000 };

/* The terms of the command line, as settings over a file that has been read. */
static enum ar_status add_terms(const struct options *options, const struct ar_framework *base,
                                struct ar_framework **framework, struct ar_error *err)
{
    struct ar_setting *list = calloc(options->terms.count + 1, sizeof *list);
    if (list == NULL) {
        return ar_error_no_memory(err, "the terms of a framework");
    }
    for (size_t i = 0; i < options->terms.count; i++) {
        list[i] = (struct ar_setting){options->terms.texts[i], "--term", AR_USAGE};
    }
    const struct ar_settings settings = {list, options->terms.count};
    enum ar_status status = ar_framework_create(base, settings, framework, err);
    free(list);
    return status;
}

enum ar_status plan_load_framework(const struct options *options, struct ar_framework **framework,
                                   struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_framework *base = NULL;
    if (options->framework != NULL && strcmp(options->framework, "none") != 0) {
        AR_TRY(resource_find(RESOURCE_FRAMEWORK, "--framework", options->framework, path, err));
        AR_TRY(ar_framework_load(path, &base, err));
    }
    enum ar_status status = add_terms(options, base, framework, err);
    ar_framework_destroy(base);
    return status;
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

/* What traces are made from, and how. */
struct trace_maker {
    struct ar_trace_file *file;
    struct ar_device_cost *cost; /* NULL for a timed file */
    struct ar_trace_request request;
};

/* Time of a step's compute at another batch, but for compute.scale: that goes on top of a measured
 * rate, where it would cancel out. */
static enum ar_status time_at(const struct trace_maker *maker, const struct plan *plan,
                              uint32_t batch, double *compute_s, struct ar_error *err)
{
    struct ar_trace *trace;
    struct ar_trace_request request = maker->request;
    if (plan->trace->is_timed && batch != plan->trace->batch) {
        return ar_error_set(err, AR_USAGE,
                            "--images-per-s-at: found batch %u; expected %u, at which trace %s was "
                            "measured",
                            batch, plan->trace->batch, plan->trace->name);
    }
    request.batch = batch;
    AR_TRY(ar_trace_create(maker->file, maker->cost, &request, &trace, err));
    enum ar_status status = ar_framework_apply(plan->framework, trace, err);
    *compute_s =
        ar_trace_compute_s(trace) / ar_framework_number(plan->framework, AR_TERM_COMPUTE_SCALE);
    ar_trace_destroy(trace);
    return status;
}

/* Scales the trace to the rates that were measured. */
static enum ar_status scale_trace(const struct options *options, const struct trace_maker *maker,
                                  struct plan *plan, struct ar_error *err)
{
    struct compute_rates rates;
    if (options->images_per_s_at == NULL) {
        return AR_OK;
    }
    AR_TRY(compute_rates_parse("--images-per-s-at", options->images_per_s_at, &rates, err));
    for (size_t i = 0; i < rates.count; i++) {
        double compute_s = 0;
        AR_TRY(time_at(maker, plan, rates.list[i].batch, &compute_s, err));
        compute_rate_set(&rates.list[i], compute_s);
    }
    plan->compute_factor = compute_rates_factor(&rates, plan->trace->batch);
    ar_trace_scale(plan->trace, plan->compute_factor);
    return AR_OK;
}

/* Makes the trace and does to it what the framework does to compute. */
static enum ar_status make_trace(const struct options *options, const struct trace_maker *maker,
                                 struct plan *plan, struct ar_error *err)
{
    AR_TRY(ar_trace_create(maker->file, maker->cost, &maker->request, &plan->trace, err));
    AR_TRY(ar_framework_apply(plan->framework, plan->trace, err));
    AR_TRY(scale_trace(options, maker, plan, err));
    return ar_trace_scale_gradients(plan->trace, plan->gradient_scale, err);
}

/* A timed file has a batch and a precision of its own, which must be what was asked for; a work
 * file has none and gets the defaults. */
static enum ar_status read_files(const struct options *options, const struct plan *plan,
                                 struct trace_maker *maker, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    uint64_t batch = 0;
    const char *cost = ar_cluster_facts(plan->cluster)->device_cost;
    AR_TRY(option_required(options, "trace", options->trace, err));
    AR_TRY(resource_find(RESOURCE_TRACE, "--trace", options->trace, path, err));
    if (options->batch != NULL) {
        enum ar_status status =
            ar_parse_count("--batch", options->batch, 1, BATCH_MAX, &batch, err);
        AR_TRY(option_status(status, err));
    }
    AR_TRY(ar_trace_file_load(path, &maker->file, err));
    bool is_timed = maker->file->trace.is_timed;
    if (cost[0] != '\0') {
        AR_TRY(resource_find(RESOURCE_COST, "gpu.cost_table", cost, path, err));
    }
    if (cost[0] != '\0' && !is_timed) {
        AR_TRY(ar_device_cost_load(path, &maker->cost, err));
    }
    maker->request = (struct ar_trace_request){
        .batch = batch == 0 && !is_timed ? BATCH_STANDARD : (uint32_t)batch,
        .precision = plan->precision,
        .precision_is_given = options->precision != NULL || !is_timed,
        .has_kernel_floor = ar_framework_is_on(plan->framework, AR_TERM_KERNEL_FLOOR),
        .kernel_floor_s = ar_framework_number(plan->framework, AR_TERM_KERNEL_FLOOR)};
    return AR_OK;
}

enum ar_status plan_load_trace(const struct options *options, struct plan *plan,
                               struct ar_error *err)
{
    struct trace_maker maker = {0};
    plan->trace = NULL;
    enum ar_status status = read_files(options, plan, &maker, err);
    if (status == AR_OK) {
        status = make_trace(options, &maker, plan, err);
    }
    ar_trace_file_destroy(maker.file);
    ar_device_cost_destroy(maker.cost);
    if (status != AR_OK) {
        ar_trace_destroy(plan->trace);
        plan->trace = NULL;
        return status;
    }
    plan->precision = plan->trace->precision;
    return AR_OK;
}
