/* The trace of a scenario, with what its framework and measured rates make of it. */
#include <inttypes.h>

#include "ar_scenario.h"

enum { BATCH_STANDARD = 32 };

/* What a trace is made of; the batch and the precision of a timed one are its own. */
struct trace_source {
    const struct ar_trace_file *file;
    const struct ar_device_cost *cost; /* NULL: the cluster has none */
    struct ar_trace_request request;
};

/* Batch and precision are those in which it was measured. */
static enum ar_status take_timed(const struct ar_scenario *scenario, const struct ar_trace *offered,
                                 struct ar_trace_request *request, struct ar_error *err)
{
    if (ar_scenario_has(scenario, AR_KEY_BATCH) && scenario->batch != offered->batch) {
        return ar_scenario_refuse(scenario, AR_KEY_BATCH, err,
                                  "found %" PRIu32 "; expected %" PRIu32
                                  ", at which trace %s was measured",
                                  scenario->batch, offered->batch, offered->name);
    }
    if (ar_scenario_has(scenario, AR_KEY_PRECISION) && scenario->precision != offered->precision) {
        return ar_scenario_refuse(scenario, AR_KEY_PRECISION, err,
                                  "found %s; expected %s, in which trace %s was measured",
                                  ar_precision_names[scenario->precision],
                                  ar_precision_names[offered->precision], offered->name);
    }
    request->batch = offered->batch;
    request->precision = offered->precision;
    return AR_OK;
}

static enum ar_status find_trace(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                 struct trace_source *source, struct ar_error *err)
{
    const char *cost = ar_cluster_facts(scenario->cluster)->device_cost;
    const struct ar_input *input;
    AR_TRY(ar_inputs_find(inputs, RESOURCE_TRACE, ar_scenario_where(scenario, AR_KEY_TRACE),
                          scenario->trace_name, &input, err));
    source->file = input->trace;
    if (cost[0] != '\0') {
        AR_TRY(ar_inputs_find(inputs, RESOURCE_COST, "gpu.cost_table", cost, &input, err));
        source->cost = input->cost;
    }
    const struct ar_trace *offered = &source->file->trace;
    if (!offered->is_timed && source->cost == NULL) {
        return ar_scenario_refuse(
            scenario, AR_KEY_TRACE, err,
            "found %s, the work of one sample, for a GPU without a cost table; expected a trace of "
            "measured times (traces/README.md), or the table of another GPU scaled to a measured "
            "rate of this one: --set gpu.cost_table=v100-sxm2 --samples-per-s-at "
            "BATCH=SAMPLES_PER_S",
            offered->name);
    }
    source->request = (struct ar_trace_request){
        .batch = ar_scenario_has(scenario, AR_KEY_BATCH) ? scenario->batch : BATCH_STANDARD,
        .precision = ar_scenario_has(scenario, AR_KEY_PRECISION) ? scenario->precision : AR_FP16,
        .has_kernel_floor = ar_framework_is_on(scenario->framework, AR_TERM_KERNEL_FLOOR),
        .kernel_floor_s = ar_framework_number(scenario->framework, AR_TERM_KERNEL_FLOOR)};
    if (offered->is_timed) {
        return take_timed(scenario, offered, &source->request, err);
    }
    char precisions[AR_DEVICE_COST_PRECISIONS_TEXT];
    return ar_device_cost_has(source->cost, source->request.precision)
               ? AR_OK
               : ar_scenario_refuse(scenario, AR_KEY_PRECISION, err,
                                    "found %s; expected %s, of which cost table %s speaks",
                                    ar_precision_names[source->request.precision],
                                    ar_device_cost_precisions(source->cost, precisions),
                                    source->cost->name);
}

/* A trace with what the framework does to compute, in the arena. */
static enum ar_status make_trace(const struct ar_scenario *scenario,
                                 const struct trace_source *source, struct ar_trace **trace,
                                 struct ar_error *err)
{
    struct ar_trace *made;
    AR_TRY(
        ar_trace_create(source->file, source->cost, &source->request, scenario->arena, &made, err));
    AR_TRY(ar_framework_apply(scenario->framework, made, err));
    *trace = made;
    return AR_OK;
}

/* Scales the trace to the rates that were measured. compute.scale goes on top of them: here it
 * would cancel out. */
static enum ar_status scale_trace(struct ar_scenario *scenario, struct trace_source source,
                                  struct ar_trace *trace, struct ar_error *err)
{
    struct ar_trace *measured = NULL;
    double scale = ar_framework_number(scenario->framework, AR_TERM_COMPUTE_SCALE);
    struct compute_rates *rates = ar_arena_alloc(scenario->arena, 1, sizeof *rates);
    AR_NEED(rates, err, "the rates of a GPU");
    *rates = *scenario->rates;
    for (size_t i = 0; i < rates->count; i++) {
        source.request.batch = rates->list[i].batch;
        if (trace->is_timed && source.request.batch != trace->batch) {
            return ar_scenario_refuse(scenario, AR_KEY_SAMPLES_PER_S_AT, err,
                                      "found batch %" PRIu32 "; expected %" PRIu32
                                      ", at which trace %s was measured",
                                      source.request.batch, trace->batch, trace->name);
        }
        AR_TRY(make_trace(scenario, &source, &measured, err));
        compute_rate_set(&rates->list[i], ar_trace_compute_s(measured) / scale);
        if (rates->list[i].factor < COMPUTE_FACTOR_MIN ||
            rates->list[i].factor > COMPUTE_FACTOR_MAX) {
            return ar_scenario_refuse(scenario, AR_KEY_SAMPLES_PER_S_AT, err,
                                      "found %g samples/s at batch %" PRIu32 ", where the trace "
                                      "alone gives %.4g; expected samples per second of one GPU",
                                      rates->list[i].samples_per_s, rates->list[i].batch,
                                      rates->list[i].samples_per_s * rates->list[i].factor);
        }
    }
    scenario->compute_factor = compute_rates_factor(rates, trace->batch);
    ar_trace_scale(trace, scenario->compute_factor);
    return AR_OK;
}

enum ar_status ar_scenario_load_trace(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                      struct ar_error *err)
{
    struct trace_source source = {.cost = NULL};
    struct ar_trace *trace = NULL;
    AR_TRY(find_trace(scenario, inputs, &source, err));
    AR_TRY(make_trace(scenario, &source, &trace, err));
    scenario->compute_factor = 1;
    if (scenario->rates != NULL) {
        AR_TRY(scale_trace(scenario, source, trace, err));
    }
    AR_TRY(ar_trace_scale_gradients(trace, scenario->gradient_scale, err));
    scenario->trace = trace;
    scenario->batch = trace->batch;
    scenario->precision = trace->precision;
    return AR_OK;
}
