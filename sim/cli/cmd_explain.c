/* explain: every term of a prediction, each parameter with its source. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_platform.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "explain_library.h"
#include "explain_terms.h"

static void write_head(const struct ar_scenario *scenario, const struct ar_step *step)
{
    char shape[AR_SHAPE_TEXT];
    uint32_t gpus = ar_shape_ranks(&step->collective.shape);
    printf("%s, %" PRIu32 " images per GPU, %s, on %" PRIu32 " GPU%s of %s\n",
           scenario->trace->name, scenario->trace->batch, ar_precision_name(scenario->precision),
           gpus, gpus == 1 ? "" : "s", ar_cluster_facts(scenario->cluster)->name);
    if (step->engine->needs_library) {
        printf("%s %s, buckets %s, engine %s\n\n", ar_algorithm_name(step->collective.algorithm),
               ar_shape_format(&step->collective.shape, shape), scenario->fusion.text,
               step->engine->name);
        return;
    }
    printf("%s %s, %" PRIu32 " channel%s, window %" PRIu32 ", buckets %s, engine %s\n\n",
           ar_algorithm_name(step->collective.algorithm),
           ar_shape_format(&step->collective.shape, shape), scenario->channels,
           scenario->channels == 1 ? "" : "s", scenario->window, scenario->fusion.text,
           step->engine->name);
}

static void write_term(const char *name, double time_s, double whole_s)
{
    printf("  %-30s %10.3f %8.1f\n", name, time_s * 1e3, 100 * time_s / whole_s);
}

/* What is exposed beyond the time that the stream is busy is waiting. */
static void write_hidden(const struct ar_step *step)
{
    double hidden_s = step->allreduce_s - (step->exposed_s - step->contention_s);
    if (hidden_s >= 0) {
        printf("  all-reduce stream busy %.3f ms, of which %.3f ms hide behind the backward pass\n",
               step->allreduce_s * 1e3, hidden_s * 1e3);
        return;
    }
    printf("  all-reduce stream busy %.3f ms, all exposed, and %.3f ms of waiting for the slowest "
           "rank and for negotiations\n",
           step->allreduce_s * 1e3, -hidden_s * 1e3);
}

static void write_iteration(const struct ar_scenario *scenario, const struct ar_step *step)
{
    const struct ar_trace *trace = scenario->trace;
    double whole_s = step->iteration_s;
    printf("%-32s %10s %8s\n", "Iteration", "ms", "%");
    write_term("framework overhead", trace->step_overhead_s, whole_s);
    write_term("forward", ar_trace_forward_s(trace), whole_s);
    write_term("backward", ar_trace_backward_s(trace), whole_s);
    write_term("exposed all-reduce", step->exposed_s - step->contention_s, whole_s);
    if (step->contention_s > 0) {
        write_term("slower backward beside it", step->contention_s, whole_s);
    }
    write_term("optimizer", trace->optimizer_s, whole_s);
    if (step->input_wait_s > 0) {
        write_term("wait for input", step->input_wait_s, whole_s);
    }
    write_term("= iteration", whole_s, whole_s);
    write_hidden(step);
    printf("  %.1f images/s on all GPUs; efficiency %.2f %%, where 100 %% is one %s\n\n",
           step->images_per_s, step->efficiency_frac * 100,
           step->baseline == AR_BASELINE_GPU ? "GPU without communication"
                                             : "node with a flat ring");
}

static void write_buckets(const struct ar_step *step)
{
    enum { BUCKETS_SHOWN = 24 };
    const struct ar_workload *workload = step->workload;
    char text[AR_UNIT_TEXT];
    printf("%-10s %8s %12s %12s %12s %12s\n", "Bucket", "tensors", "payload", "ready ms",
           "start ms", "finish ms");
    for (uint32_t i = 0; i < workload->buckets_count && i < BUCKETS_SHOWN; i++) {
        const struct ar_bucket *bucket = &workload->buckets[i];
        const struct ar_job_time *time = &step->trial.times[i];
        printf("  %-8" PRIu32 " %8" PRIu32 " %12s %12.3f %12.3f %12.3f\n", i + 1,
               bucket->tensors_count,
               ar_format_bytes(bucket->elements * step->collective.element_bytes, text),
               (bucket->ready_s + bucket->wait_s) * 1e3, time->start_s * 1e3, time->finish_s * 1e3);
    }
    if (workload->buckets_count > BUCKETS_SHOWN) {
        printf("  and %" PRIu32 " more\n", workload->buckets_count - BUCKETS_SHOWN);
    }
    puts("  the backward pass begins at forward's end; all times since the step began\n");
}

/* Sums the phases of all buckets into the phases of one. */
static void add_times(struct ar_closed_time *sum, const struct ar_closed_time *time)
{
    sum->time_s += time->time_s;
    sum->setup_s += time->setup_s;
    sum->phases_count = time->phases_count;
    if (!time->exact) {
        sum->exact = false;
        sum->why = time->why;
    }
    for (uint32_t i = 0; i < time->phases_count; i++) {
        struct ar_phase_time *to = &sum->phases[i];
        struct ar_phase_time phase =
            time->phases[i]; /* steps, bound and link: of the last bucket */
        phase.time_s += to->time_s;
        phase.reduction_s += to->reduction_s;
        for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
            phase.latency_s[tier] += to->latency_s[tier];
            phase.bandwidth_s[tier] += to->bandwidth_s[tier];
        }
        *to = phase;
    }
}

/* Has the cluster paths of the tier? Those of a platform file are all of one, others never. */
static bool is_shown(const struct ar_scenario *scenario, int tier)
{
    return (tier == AR_TIER_ROUTE) == (ar_cluster_platform_path(scenario->cluster) != NULL);
}

static void write_phase(const struct ar_scenario *scenario, const struct ar_phase_time *phase)
{
    char message[AR_UNIT_TEXT];
    char rate[AR_UNIT_TEXT];
    char link[160];
    if (phase->steps == 0) {
        return;
    }
    printf("  %-22s %6" PRIu32 " %10s %-6s %9.3f", phase->name, phase->steps,
           ar_format_bytes(phase->message_bytes, message), ar_bound_name(phase->bound),
           phase->time_s * 1e3);
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        if (is_shown(scenario, tier)) {
            printf(" %8.3f %8.3f", phase->latency_s[tier] * 1e3, phase->bandwidth_s[tier] * 1e3);
        }
    }
    printf(" %8.3f  %s, %" PRIu32 " flow%s: %s\n", phase->reduction_s * 1e3,
           ar_cluster_link_name(scenario->cluster, phase->slowest_link, link, sizeof link),
           phase->slowest_flows, phase->slowest_flows == 1 ? "" : "s",
           ar_format_rate(phase->slowest_Bps, rate));
}

/* A part of the stream's time that is no phase, if there is any. */
static void write_extra(const char *name, double time_s)
{
    if (time_s > 0) {
        printf("  %-22s %6s %10s %-6s %9.3f\n", name, "", "", "", time_s * 1e3);
    }
}

static void write_split(const struct ar_scenario *scenario, const struct ar_step *step,
                        const struct ar_closed_time *sum)
{
    printf("All-reduce by the closed form, ms, all buckets (message, bound: of the last bucket)\n");
    printf("  %-22s %6s %10s %-6s %9s", "phase", "steps", "message", "bound", "time");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        if (is_shown(scenario, tier)) {
            printf(" %17s", ar_tier_name((enum ar_tier)tier));
        }
    }
    printf(" %8s  %s\n", "reduce", "slowest hop");
    printf("  %-56s ", "");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        if (is_shown(scenario, tier)) {
            printf(" %8s %8s", "latency", "bandw.");
        }
    }
    printf("\n  %-22s %6s %10s %-6s %9.3f\n", "setup", "", "", "", sum->setup_s * 1e3);
    for (uint32_t i = 0; i < sum->phases_count; i++) {
        write_phase(scenario, &sum->phases[i]);
    }
    double time_s = sum->time_s + step->copy_s + step->statistics_s;
    double error = 100 * (time_s / step->allreduce_s - 1);
    write_extra("copies of buckets", step->copy_s);
    write_extra("batch-norm statistics", step->statistics_s);
    printf("  %-22s %6s %10s %-6s %9.3f; engine %s: %.3f (closed form %+.1f %%)\n", "= all-reduce",
           "", "", "", time_s * 1e3, step->engine->name, step->allreduce_s * 1e3,
           fabs(error) < 0.05 ? 0 : error); /* no "-0.0" */
    if (sum->exact) {
        puts("  the closed form is exact here");
    } else {
        printf("  the closed form is an estimate here: %s\n", sum->why);
    }
    if (!step->trial.exact && strcmp(step->trial.note, sum->why) != 0) {
        printf("  engine %s is an estimate here: %s\n", step->engine->name, step->trial.note);
    }
    puts("  bound: hops = a part of the buffer travelling, port = a link never idle, window = out "
         "of slots\n");
}

static void write_closed(const struct ar_scenario *scenario, const struct ar_step *step)
{
    if (ar_shape_ranks(&step->collective.shape) == 1) {
        return;
    }
    if (step->engine->needs_library) {
        explain_library(step);
        return;
    }
    struct ar_closed_time sum = {.exact = true, .why = ""};
    for (uint32_t i = 0; i < step->trial.jobs_count; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(step->trial.plan, step->trial.jobs[i].elements, &time);
        add_times(&sum, &time);
    }
    write_split(scenario, step, &sum);
}

static void write_parameters(const struct ar_scenario *scenario, const struct ar_step *step)
{
    printf("%-26s %-18s %s\n", "Parameter", "value", "source");
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(scenario->cluster, i);
        if (strcmp(parameter.key, "description") != 0) {
            printf("  %-24s %-18s %s\n", parameter.key, parameter.text,
                   parameter.source[0] != '\0' ? parameter.source : "not stated");
        }
    }
    printf("  %-24s %-18s %s\n", "layer times", scenario->trace->name, scenario->trace->source);
    printf("  %-24s %-18s %s\n", "algorithm", ar_algorithm_name(step->collective.algorithm),
           ar_algorithm_source(step->collective.algorithm));
    if (step->trial.options[0] != '\0') {
        printf("  %-24s %-18s %s\n", "engine", step->engine->name, step->trial.options);
    }
}

static enum ar_status write_all(const struct options *options, const struct ar_scenario *scenario,
                                struct ar_inputs *inputs, const struct ar_step *step,
                                struct ar_error *err)
{
    write_head(scenario, step);
    write_iteration(scenario, step);
    write_buckets(step);
    write_closed(scenario, step);
    write_parameters(scenario, step);
    bool has_terms = option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario->terms.count > 0 ||
                     scenario->rates != NULL;
    return has_terms ? explain_terms_write(scenario, inputs, step->iteration_s, err) : AR_OK;
}

enum ar_status command_explain(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_inputs *inputs;
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_require_key(options, AR_KEY_TRACE, err));
    AR_TRY(options_load(options, 0, &scenario, &inputs, err));
    ar_note_before(option_notes(options), &scenario, ar_run_cost_s(&scenario));
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_step_run(&step, err));
    enum ar_status status = write_all(options, &scenario, inputs, &step, err);
    ar_step_destroy(&step);
    return status;
}
