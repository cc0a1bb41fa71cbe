/* A step of a trace: layers that somebody measured or that a cost table times, of which every rank
 * has a replica, and the buckets of gradients that a framework makes of them. */
#include <inttypes.h>
#include <math.h>

#include "ar_row.h"
#include "ar_text.h"
#include "ar_units.h"
#include "kinds.h"

enum { BATCH_STANDARD = 32 };

/* A layer that somebody measured on one GPU takes less. */
#define LAYER_MAX_S 1.0

/* --- the trace -------------------------------------------------------------------------------- */

/* The inputs of a trace; the batch and the precision of a timed one are its own. */
struct trace_source {
    const struct ar_trace_file *file;
    const struct ar_device_cost *cost; /* NULL: the cluster has none */
    struct ar_trace_request request;
};

/* Batch and precision are those in which it was measured. */
static enum ar_status take_timed(const struct ar_scenario *scenario, const struct ar_trace *offered,
                                 struct ar_trace_request *request, struct ar_error *err)
{
    AR_SCENARIO_REFUSE(ar_scenario_has(scenario, AR_KEY_BATCH) && scenario->batch != offered->batch,
                       scenario, AR_KEY_BATCH, err,
                       "found %" PRIu32 "; expected %" PRIu32 ", at which trace %s was measured",
                       scenario->batch, offered->batch, offered->name);
    AR_SCENARIO_REFUSE(
        ar_scenario_has(scenario, AR_KEY_PRECISION) && scenario->precision != offered->precision,
        scenario, AR_KEY_PRECISION, err, "found %s; expected %s, in which trace %s was measured",
        ar_precision_names[scenario->precision], ar_precision_names[offered->precision],
        offered->name);
    request->batch = offered->batch;
    request->precision = offered->precision;
    return AR_OK;
}

static enum ar_status find_trace(const struct ar_scenario *scenario, struct trace_source *source,
                                 struct ar_error *err)
{
    const char *cost = ar_cluster_facts(scenario->cluster)->device_cost;
    const struct ar_input *input;
    AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_TRACE,
                          ar_scenario_where(scenario, AR_KEY_TRACE), scenario->trace_name, &input,
                          err));
    source->file = input->trace;
    if (cost[0] != '\0') {
        AR_TRY(ar_inputs_device_cost(scenario->inputs, scenario->cluster_name, cost, &input, err));
        source->cost = input->cost;
    }
    const struct ar_trace *offered = &source->file->trace;
    AR_SCENARIO_REFUSE(
        !offered->is_timed && source->cost == NULL, scenario, AR_KEY_TRACE, err,
        "found %s, the work of one sample, for a GPU without a cost table; expected a trace of "
        "measured times (traces/README.md), or the table of another GPU scaled to a measured rate "
        "of this one: --set gpu.cost_table=v100-sxm2 --samples-per-s-at BATCH=SAMPLES_PER_S",
        offered->name);
    AR_SCENARIO_REFUSE(
        ar_scenario_has(scenario, AR_KEY_PRECISION) && !ar_precision_is_sent(scenario->precision),
        scenario, AR_KEY_PRECISION, err, "found %s with a trace; expected it with --workload alone",
        ar_precision_names[scenario->precision]);
    source->request = (struct ar_trace_request){
        .batch = ar_scenario_has(scenario, AR_KEY_BATCH) ? scenario->batch : BATCH_STANDARD,
        .precision = ar_scenario_has(scenario, AR_KEY_PRECISION) ? scenario->precision : AR_FP16,
        .has_kernel_floor = ar_framework_is_on(scenario->framework, AR_TERM_KERNEL_FLOOR),
        .kernel_floor_s = scenario->framework->terms[AR_TERM_KERNEL_FLOOR].number};
    if (offered->is_timed) {
        return take_timed(scenario, offered, &source->request, err);
    }
    AR_SCENARIO_REFUSE(
        !ar_device_cost_has_group(source->cost, source->request.precision, AR_COST_OF_KERNELS),
        scenario, AR_KEY_PRECISION, err, "found %s; expected %s, of which cost table %s speaks",
        ar_precision_names[source->request.precision], AR_SHOW_PRECISIONS(source->cost),
        source->cost->name);
    return AR_OK;
}

/* A trace with what the framework does to compute, in the arena. */
static enum ar_status make_trace(const struct ar_scenario *scenario,
                                 const struct trace_source *source, struct ar_trace **trace,
                                 struct ar_error *err)
{
    AR_TRY(
        ar_trace_create(source->file, source->cost, &source->request, scenario->arena, trace, err));
    return ar_framework_apply(scenario->framework, *trace, err);
}

enum ar_precision trace_wire(const struct ar_scenario *scenario)
{
    return ar_scenario_has(scenario, AR_KEY_GRADIENTS)
               ? scenario->layout.gradients
               : ar_framework_wire(scenario->framework, scenario->precision);
}

enum ar_status trace_load_layers(struct ar_scenario *scenario, struct ar_error *err)
{
    struct trace_source source = {.cost = NULL};
    struct ar_trace *trace = NULL;
    AR_TRY(find_trace(scenario, &source, err));
    AR_TRY(make_trace(scenario, &source, &trace, err));
    scenario->compute_factor = 1;
    if (scenario->rate.batch > 0) {
        /* Scales the trace to the measured rate, without compute.scale, which would cancel out. */
        const struct compute_rate *rate = &scenario->rate;
        double scale = scenario->framework->terms[AR_TERM_COMPUTE_SCALE].number;
        struct ar_trace *measured = NULL;
        source.request.batch = rate->batch;
        AR_SCENARIO_REFUSE(
            trace->is_timed && rate->batch != trace->batch, scenario, AR_KEY_SAMPLES_PER_S_AT, err,
            "found batch %" PRIu32 "; expected %" PRIu32 ", at which trace %s was measured",
            rate->batch, trace->batch, trace->name);
        AR_TRY(make_trace(scenario, &source, &measured, err));
        double factor = rate->batch / (ar_trace_compute_s(measured) / scale) / rate->samples_per_s;
        AR_SCENARIO_REFUSE(
            factor < COMPUTE_FACTOR_MIN || factor > COMPUTE_FACTOR_MAX, scenario,
            AR_KEY_SAMPLES_PER_S_AT, err,
            "found %g samples/s at batch %" PRIu32
            ", where the trace alone gives %.4g; expected samples per second of one GPU",
            rate->samples_per_s, rate->batch, rate->samples_per_s * factor);
        scenario->compute_factor = factor;
        ar_trace_scale(trace, factor);
    }
    AR_TRY(ar_trace_scale_gradients(trace, scenario->gradient_scale, err));
    scenario->trace = trace;
    scenario->batch = trace->batch;
    scenario->precision = trace->precision;
    return AR_OK;
}

enum ar_status trace_load_buckets(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    const struct ar_strategy *strategy = scenario->layout.strategy;
    struct ar_workload *workload;
    AR_TRY(trace_load_layers(scenario, err));
    AR_SCENARIO_REFUSE(strategy->needs_transformer, scenario, AR_KEY_STRATEGY, err,
                       "found %s with a trace; expected another strategy", strategy->name);
    AR_TRY(ar_error_blame(
        ar_layout_check_sparse(ar_scenario_where(scenario, AR_KEY_SPARSE), &scenario->layout, err),
        scenario->origins[AR_KEY_SPARSE].status, err));
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *term = &scenario->framework->terms[i];
        AR_REFUSE(ar_terms[i].of == AR_TERM_OF_WORKLOADS &&
                      ar_framework_is_on(scenario->framework, (enum ar_term)i),
                  err, term->status, "%s: found %s with a trace; expected it with --workload alone",
                  term->where, term->text);
    }
    scenario->wire = trace_wire(scenario);
    const struct ar_term_value *rule = &scenario->framework->terms[AR_TERM_FUSION_RULE];
    if (!ar_scenario_has(scenario,
                         AR_KEY_BUCKET)) { /* the rule of the framework, else that of DDP */
        bool has_rule = rule->text[0] != '\0';
        AR_TRY(
            ar_error_blame(ar_fusion_parse(has_rule ? rule->where : ar_keys[AR_KEY_BUCKET].option,
                                           has_rule ? rule->text : "ddp", &scenario->fusion, err),
                           has_rule ? rule->status : AR_USAGE, err));
    }
    const struct ar_workload_request request = {.trace = scenario->trace,
                                                .fusion = &scenario->fusion,
                                                .element_bytes = ar_scenario_fused_bytes(scenario)};
    AR_TRY(ar_workload_make(&request, &scratch, &workload, err));
    scenario->buckets_count = workload->buckets_count;
    return AR_OK;
}

static enum ar_status trace_load(struct ar_scenario *scenario, struct ar_error *err)
{
    bool has_algorithm = ar_scenario_has(scenario, AR_KEY_ALGORITHM);
    AR_TRY(trace_load_buckets(scenario, err));
    if (!scenario->layout.strategy->sends_buckets) { /* no all-reduce reacts to it */
        scenario->algorithm = ar_engine_algorithm(scenario->engine, scenario->operation);
        has_algorithm = true;
    }
    return has_algorithm && scenario->gpus > 0 ? ar_scenario_settle(scenario, err) : AR_OK;
}

/* --- buckets and the graph -------------------------------------------------------------------- */

static double job_term(const struct ar_job *job, enum ar_term which)
{
    return job->framework != NULL ? job->framework->terms[which].number : 0;
}

bool job_has_cycles(const struct ar_job *job)
{
    return job->trace != NULL && ar_job_ranks(job) > 1 && job_term(job, AR_TERM_CYCLE_TIME) > 0;
}

enum ar_status ar_job_workload(const struct ar_job *job, const struct ar_slowdown *slowdown,
                               struct ar_arena *arena, struct ar_workload **workload,
                               struct ar_error *err)
{
    struct ar_workload_request request = {
        .trace = job->trace, .fusion = &job->fusion, .element_bytes = job->fused_bytes};
    if (slowdown != NULL) {
        request.slowdown = *slowdown;
    }
    double cycle_s = job_term(job, AR_TERM_CYCLE_TIME);
    if (cycle_s > 0 && ar_job_ranks(job) > 1) {
        request.cycle = (struct ar_cycle){
            .time_s = cycle_s,
            .phase_frac = job_term(job, AR_TERM_CYCLE_PHASE),
            .negotiate_s = ar_framework_negotiation_s(job->framework, ar_job_ranks(job)),
        };
    }
    return ar_workload_make(&request, arena, workload, err);
}

/* The buckets of the trace, with the time to pack and unpack each, and a replica on each rank. */
static enum ar_status trace_make_graph(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                       struct ar_timing *timing, struct ar_error *err)
{
    uint32_t ranks = ar_job_ranks(job);
    double passes = job_term(job, AR_TERM_FUSION_PASSES), rate_Bps = 0;
    struct ar_workload *workload;
    if (passes > 0) {
        AR_TRY(ar_framework_memory_rate(job->framework, job->trace, AR_TERM_FUSION_PASSES,
                                        &rate_Bps, err));
    }
    AR_TRY(ar_job_workload(job, slowdown, timing->arena, &workload, err));
    for (uint32_t i = 0; i < workload->buckets_count && ranks > 1; i++) {
        struct ar_bucket *bucket = &workload->buckets[i];
        double bytes = (double)bucket->elements * ar_precisions[job->layout.gradients].bytes;
        double moved_s = rate_Bps > 0 ? passes * bytes / rate_Bps : 0;
        if (bucket->tensors_count > 1) {
            bucket->copy_s =
                moved_s + 2 * bucket->tensors_count * job_term(job, AR_TERM_FUSION_TENSOR);
        }
    }
    timing->workload = workload;
    timing->layout = (struct ar_layout){
        .trace = job->trace,
        .workload = workload,
        .statistics = {.elements = (uint64_t)job_term(job, AR_TERM_BN_ELEMENTS),
                       .interval = job_term(job, AR_TERM_BN_INTERVAL)},
        .sizes = {1, 1, ranks, 1, 1, 1},
        .global_batch = ranks,
        .micro_batch = 1,
        .schedule = ar_schedules[0],
        .chunks = 1,
        .strategy = job->layout.strategy != NULL ? job->layout.strategy : &ar_strategy_data,
        .overlaps = true,
        .prefetch = job->layout.prefetch,
        .sparse_frac = job->layout.sparse_frac,
        .precision = job->trace->precision,
        .gradients = job->layout.gradients};
    timing->graph = ar_strategy_graph(&timing->layout, &job->times, timing->arena);
    return AR_OK;
}

enum ar_status job_find_speed(const struct ar_job *job, double *speed_frac, struct ar_error *err)
{
    uint32_t channels = job->collective.channels / ar_algorithm_channels(job->collective.algorithm);
    double taken = job_term(job, AR_TERM_CONTENTION_SMS) * channels;
    double there = job_term(job, AR_TERM_GPU_SMS);
    *speed_frac = 1;
    if (ar_job_ranks(job) == 1 || taken == 0) {
        return AR_OK;
    }
    AR_REFUSE(taken >= there, err, AR_USAGE,
              "term contention.sms: %u channels take %g of the %g multiprocessors of gpu.sms; "
              "expected fewer",
              channels, taken, there);
    *speed_frac = 1 - taken / there;
    return AR_OK;
}

double job_input_s(const struct ar_job *job)
{
    double samples_per_s = job_term(job, AR_TERM_INPUT_RATE);
    uint32_t gpus = ar_cluster_facts(job->collective.cluster)->gpus_per_node;
    uint32_t ranks = ar_job_ranks(job);
    return job->trace != NULL && samples_per_s > 0
               ? job->trace->batch * (double)(ranks < gpus ? ranks : gpus) / samples_per_s
               : 0;
}

void trace_complete_job(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->trace = scenario->trace;
    job->layout.gradients = scenario->wire;
    job->elements = (uint64_t)ceil((double)ar_trace_gradient_elements(scenario->trace) *
                                   ar_precisions[scenario->wire].bytes /
                                   ar_precisions[scenario->wire].unit_bytes);
    job->fused_bytes = ar_scenario_fused_bytes(scenario);
}

/* --- rows and notes --------------------------------------------------------------------------- */

void trace_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_trace *trace = scenario->trace;
    ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, row->strategy);
    ar_copy_text(row->operation, sizeof row->operation, scenario->operation->command);
    ar_copy_text(row->trace, sizeof row->trace, trace->name);
    row->batch_per_gpu = trace->batch;
    row->gradient_scale = scenario->gradient_scale;
    ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_names[scenario->baseline]);
    ar_copy_text(row->bucket, sizeof row->bucket, scenario->fusion.text);
    row->buckets_count = scenario->buckets_count;
    ar_copy_text(row->framework, sizeof row->framework, scenario->framework->name);
    ar_copy_text(row->wire, sizeof row->wire, ar_precision_names[scenario->wire]);
    row->jitter_frac = scenario->jitter_frac;
    row->seed = scenario->seed;
    row->iterations_count = scenario->iterations_count;
    row->forward_s = ar_trace_forward_s(trace);
    row->backward_s = ar_trace_backward_s(trace);
    row->optimizer_s = trace->optimizer_s;
    row->overhead_s = trace->step_overhead_s;
    row->compute_s = ar_trace_compute_s(trace);
    if (scenario->layout.strategy->ends_runs) { /* which sends all at once */
        row->buckets_count = AR_ROW_NO_COUNT;
        row->bucket[0] = '\0';
    }
}

void trace_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                struct ar_row *row)
{
    (void)scenario;
    row->iteration_s = timing->iteration_s;
    row->payload_bytes = timing->payload_bytes;
    row->iteration_ci95_s = timing->iteration_ci95_s;
    row->allreduce_s = timing->allreduce_s;
    row->exposed_s = timing->exposed_s;
    row->copy_s = timing->copy_s;
    row->contention_s = timing->contention_s;
    row->input_wait_s = timing->input_wait_s;
    row->samples_per_s = timing->samples_per_s;
    row->efficiency_frac = timing->efficiency_frac;
    row->low_s = timing->low_s;
    row->high_s = timing->high_s;
    if (timing->graph == NULL) {
        row->bubble_s = timing->bubble_s;
        row->bubble_frac = timing->bubble_frac;
        row->exposed_dp_s = timing->exposed_s;
    } else if (!timing->layout.strategy->ends_runs) {
        row->buckets_count = timing->workload->buckets_count;
    }
    if (timing->graph != NULL && timing->graph->has_series) {
        fill_trial(&timing->trial, row);
    } else {
        row->compute_s = timing->compute_s;
        row->optimizer_s = timing->split.duty_s[AR_DUTY_OPTIMIZER];
    }
}

bool ar_note_trace(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_trace *trace = scenario->trace;
    double memory_bytes = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    bool is_noted = false;
    for (uint32_t i = 0; trace->is_timed && i < trace->layers_count && !is_noted; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        double layer_s = fmax(layer->forward_s, layer->backward_s);
        is_noted = layer_s > LAYER_MAX_S;
        if (is_noted) {
            ar_note(notes,
                    "trace %s: layer \"%s\" takes %s; its file is read in seconds, is it in ms "
                    "or us?",
                    trace->name, layer->name, AR_SHOW_SECONDS(layer_s));
        }
    }
    bool fits = memory_bytes <= 0 || trace->memory_bytes <= memory_bytes;
    if (!fits) {
        ar_note(notes,
                "batch %" PRIu32 ": activations, weights and gradients take about %s, more than "
                "gpu.memory, %s",
                trace->batch, AR_SHOW_BYTES((uint64_t)trace->memory_bytes),
                AR_SHOW_BYTES((uint64_t)memory_bytes));
    }
    return is_noted || !fits;
}

static void trace_note(FILE *notes, const struct ar_scenario *scenario)
{
    ar_note_framework(notes, scenario);
    if (!scenario->layout.strategy->sends_buckets && ar_scenario_has(scenario, AR_KEY_ALGORITHM)) {
        ar_note(notes,
                "--algorithm changes nothing with strategy %s, which has no all-reduces: all takes "
                "%s",
                scenario->layout.strategy->name,
                ar_engine_choice(scenario->engine, NULL, "the first algorithm of its operation"));
    }
    note_end_of_run(notes, scenario);
    ar_note_trace(notes, scenario);
    layout_note_idle(notes, scenario);
    ar_note_how_sure(notes, scenario);
    collective_note(notes, scenario);
}

const struct ar_kind ar_kind_trace = {.name = "a trace",
                                      .published = AR_STEP_OF_TRACE,
                                      .keys = AR_KEY_OF_STEP,
                                      .has_wire = true,
                                      .has_baseline = true,
                                      .load = trace_load,
                                      .job = trace_complete_job,
                                      .graph = trace_make_graph,
                                      .describe = trace_describe,
                                      .fill = trace_fill,
                                      .note = trace_note,
                                      .cost_s = trace_cost_s};
