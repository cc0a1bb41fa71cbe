#include "exports.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_closed.h"
#include "ar_cluster.h"
#include "ar_kind.h"
#include "ar_library_engine.h"
#include "ar_link_load.h"
#include "ar_units.h"

static void write_iteration(const struct ar_trace *trace, const struct ar_timing *timing)
{
    const struct {
        const char *name;
        double time_s;
    } parts[] = {{"framework overhead", trace->step_overhead_s},
                 {"forward", ar_trace_forward_s(trace)},
                 {"backward", ar_trace_backward_s(trace)},
                 {"exposed all-reduce", timing->exposed_s - timing->contention_s},
                 {"slower backward beside it", timing->contention_s},
                 {"optimizer", timing->split.duty_s[AR_DUTY_OPTIMIZER]},
                 {"wait for input", timing->input_wait_s},
                 {"= iteration", timing->iteration_s}};
    /* Exposed time beyond that in which the stream is busy is waiting. */
    double hidden_s = timing->allreduce_s - (timing->exposed_s - timing->contention_s);
    printf("%-32s %10s %8s\n", "Iteration", "ms", "%");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        printf("  %-30s %10.3f %8.1f\n", parts[i].name, parts[i].time_s * 1e3,
               100 * parts[i].time_s / timing->iteration_s);
    }
    printf("  all-reduce stream busy %.3f ms, ", timing->allreduce_s * 1e3);
    if (hidden_s >= 0) {
        printf("of which %.3f ms hide behind the backward pass\n", hidden_s * 1e3);
    } else {
        printf("all exposed, and %.3f ms of waiting for the slowest rank and for negotiations\n",
               -hidden_s * 1e3);
    }
    printf("  %.1f samples/s on all GPUs; efficiency %.2f %%, where 100 %% is one %s\n\n",
           timing->samples_per_s, timing->efficiency_frac * 100,
           timing->job->baseline == AR_BASELINE_GPU ? "GPU without communication"
                                                    : "node with a flat ring");
}

static void write_buckets(const struct ar_timing *timing)
{
    enum { BUCKETS_SHOWN = 24 };
    const struct ar_workload *workload = timing->workload;
    printf("%-10s %8s %12s %12s %12s %12s\n", "Bucket", "tensors", "payload", "ready ms",
           "start ms", "finish ms");
    for (uint32_t i = 0; i < workload->buckets_count && i < BUCKETS_SHOWN; i++) {
        const struct ar_bucket *bucket = &workload->buckets[i];
        const struct ar_call_time *time = &timing->trial.times[i];
        printf("  %-8" PRIu32 " %8" PRIu32 " %12s %12.3f %12.3f %12.3f\n", i + 1,
               bucket->tensors_count,
               AR_SHOW_BYTES(ar_precision_fill(timing->job->layout.gradients, bucket->elements)),
               (bucket->ready_s + bucket->wait_s) * 1e3, time->start_s * 1e3, time->finish_s * 1e3);
    }
    if (workload->buckets_count > BUCKETS_SHOWN) {
        printf("  and %" PRIu32 " more\n", workload->buckets_count - BUCKETS_SHOWN);
    }
    puts("  the backward pass begins at forward's end; all times since the step began\n");
}

/* --- the communication stream ----------------------------------------------------------------- */

/* The collectives of a step, or one alone: all of their time, by the engine. */
static double stream_time_s(const struct ar_timing *timing)
{
    return timing->job->kind->is_collective ? timing->iteration_s : timing->allreduce_s;
}

/* A heading, such as "All-reduce by the closed form, ms". */
static void write_heading(const struct ar_timing *timing, const char *how, const char *of_last)
{
    const char *name = timing->job->collective.operation->name;
    printf("%c%s by %s, ms", toupper((unsigned char)name[0]), name + 1, how);
    if (!timing->job->kind->is_collective) {
        printf(", all buckets (%s: of the last bucket)", of_last);
    }
    puts("");
}

/* --- by the closed form ---------------------------------------------------------------------- */

/* Sums the phases of all buckets into the phases of one. */
static void add_closed_times(struct ar_closed_time *sum, const struct ar_closed_time *time)
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

static void write_phase(const struct ar_scenario *scenario, const struct ar_phase_time *phase)
{
    if (phase->steps == 0) {
        return;
    }
    printf("  %-22s %6" PRIu32 " %10s %-6s %9.3f", phase->name, phase->steps,
           AR_SHOW_BYTES(phase->message_bytes), ar_bound_names[phase->bound], phase->time_s * 1e3);
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        printf(" %8.3f %8.3f", phase->latency_s[tier] * 1e3, phase->bandwidth_s[tier] * 1e3);
    }
    printf(" %8.3f  %s", phase->reduction_s * 1e3,
           AR_SHOW_LINK(scenario->cluster, phase->slowest_link));
    if (phase->slowest_flows > 0) { /* of messages at once they are not counted */
        printf(", %" PRIu32 " flow%s", phase->slowest_flows, phase->slowest_flows == 1 ? "" : "s");
    }
    printf(": %s\n", AR_SHOW_RATE(phase->slowest_Bps));
}

/* A part of the stream's time that is no phase. */
static void write_stream_part(const char *name, double time_s)
{
    printf("  %-22s %6s %10s %-6s %9.3f\n", name, "", "", "", time_s * 1e3);
}

static void write_phases(const struct ar_scenario *scenario, const struct ar_timing *timing,
                         const struct ar_closed_time *sum)
{
    char name[32];
    write_heading(timing, "the closed form", "message, bound");
    printf("  %-22s %6s %10s %-6s %9s", "phase", "steps", "message", "bound", "time");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        printf(" %17s", ar_tier_name((enum ar_tier)tier));
    }
    printf(" %8s  %s\n  %-56s ", "reduce", "slowest hop", "");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        printf(" %8s %8s", "latency", "bandw.");
    }
    puts("");
    write_stream_part("setup", sum->setup_s);
    for (uint32_t i = 0; i < sum->phases_count; i++) {
        write_phase(scenario, &sum->phases[i]);
    }
    if (!timing->job->kind->is_collective) {
        write_stream_part("copies of buckets", timing->copy_s);
        write_stream_part("batch-norm statistics", timing->statistics_s);
    }
    snprintf(name, sizeof name, "= %s", scenario->operation->name);
    write_stream_part(name, sum->time_s + timing->copy_s + timing->statistics_s);
}

static void write_closed_form(const struct ar_scenario *scenario, const struct ar_timing *timing)
{
    const struct ar_trial *trial = &timing->trial;
    const char *engine = scenario->engine->name;
    struct ar_closed_time sum = {.exact = true, .why = ""};
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(trial->flows, trial->calls[i].elements, &time);
        add_closed_times(&sum, &time);
    }
    double time_s = sum.time_s + timing->copy_s + timing->statistics_s;
    double error = 100 * (time_s / stream_time_s(timing) - 1);
    write_phases(scenario, timing, &sum);
    printf("  engine %s: %.3f (closed form %+.1f %%)\n", engine, stream_time_s(timing) * 1e3,
           fabs(error) < 0.05 ? 0 : error); /* no "-0.0" */
    printf("  the closed form is %s%s\n", sum.exact ? "exact here" : "an estimate here: ", sum.why);
    if (!trial->exact && strcmp(trial->note, sum.why) != 0) {
        printf("  engine %s is an estimate here: %s\n", engine, trial->note);
    }
    puts("  bound: hops = a part of the buffer travelling, port = a link never idle, window = out "
         "of slots, sums = a rank that always sums\n");
}

/* --- by calls of the library ----------------------------------------------------------------- */

static void write_library_calls(const struct ar_scenario *scenario, const struct ar_timing *timing)
{
    const struct ar_trial *trial = &timing->trial;
    const struct ar_engine *engine = scenario->engine;
    enum ar_calls calls = ar_algorithm_calls(trial->collective.algorithm);
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]; /* these and choices: of the last bucket */
    struct ar_library_prediction predictions[AR_LIBRARY_CALLS_MAX];
    double times_s[AR_LIBRARY_CALLS_MAX] = {0};
    char how[64];
    size_t count = 0;
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        if (trial->calls[i].elements == 0) {
            continue;
        }
        count = ar_library_engine_calls(&trial->collective, trial->calls[i].elements, runs);
        for (size_t j = 0; j < count; j++) {
            predictions[j] = engine->predict_call(trial->library, calls, &runs[j]);
            times_s[j] += predictions[j].time_s;
        }
    }
    snprintf(how, sizeof how, "calls of %s", trial->library->tuning.release->name);
    write_heading(timing, how, "choice, payload");
    printf("  %-16s %8s %8s %8s  %-12s %12s %10s\n", "call", "ranks", "nodes", "sharing", "choice",
           "payload", "time");
    for (size_t i = 0; i < count; i++) {
        const struct ar_library_run *run = &runs[i];
        printf("  %-16s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %-12s %12s %10.3f\n",
               ar_library_operations[run->call]->name, run->ranks, run->nodes,
               run->nodes > 1 ? ar_library_sharers(run) : 1, ar_choices[predictions[i].choice].name,
               AR_SHOW_BYTES((uint64_t)run->bytes), times_s[i] * 1e3);
    }
    printf("  engine %s is an estimate here: %s\n", engine->name, trial->note);
    puts("  sharing: such calls that leave each node together, over the same HCAs\n");
}

static void write_stream(const struct ar_scenario *scenario, const struct ar_timing *timing)
{
    if (ar_shape_ranks(&scenario->shape) > 1) {
        (timing->job->library != NULL ? write_library_calls : write_closed_form)(scenario, timing);
    }
}

static void write_parameters(const struct ar_scenario *scenario, const char *options)
{
    const char *algorithm = ar_algorithm_name(scenario->algorithm);
    struct parameters parameters = {.arena = scenario->arena};
    parameters_add_inputs(&parameters, scenario);
    const char *source = scenario->algorithm != NULL ? scenario->algorithm->source
                                                     : "NVIDIA/nccl, src/graph/tuning.cc";
    parameters_add(&parameters, (struct parameter){"algorithm", algorithm, source});
    if (options[0] != '\0') {
        parameters_add(&parameters, (struct parameter){"engine", scenario->engine->name, options});
    }
    printf("%-26s %-18s %s\n", "Parameter", "value", "source");
    AR_EACH(const struct parameter, row, parameters.list, parameters.count) {
        printf("  %-24s %-18s %s\n", row->parameter, row->value, row->source);
    }
}

/* --- one collective ------------------------------------------------------------------------- */

static void write_channels(const struct ar_scenario *scenario, const struct ar_timing *timing)
{
    if (timing->job->library == NULL) {
        printf(", %" PRIu32 " channel%s, window %" PRIu32, scenario->channels,
               scenario->channels == 1 ? "" : "s", scenario->window);
    }
}

static void write_collective_head(const struct ar_scenario *scenario,
                                  const struct ar_timing *timing, const struct ar_row *row)
{
    printf("%s of %s, %s, on %" PRIu64 " GPU%s of %s\n", scenario->operation->name,
           AR_SHOW_BYTES(scenario->payload_bytes), row->precision, row->gpus,
           row->gpus == 1 ? "" : "s", row->cluster);
    if (scenario->mesh.axes_count > 0) {
        uint32_t ranks = ar_shape_ranks(&scenario->shape);
        printf("mesh %s along %s: %" PRIu64 " group%s of %" PRIu32 " GPU%s%s\n", row->mesh,
               row->along, row->groups, row->groups == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s",
               row->groups == 1 ? "" : " at once");
    }
    printf("%s%s%s", row->algorithm, row->shape[0] != '\0' ? " " : "", row->shape);
    if (scenario->operation->has_root) {
        printf(", root %" PRIu32, scenario->root);
    }
    write_channels(scenario, timing);
    printf(", engine %s\n", row->engine);
    printf("%s; algbw %s, busbw %s\n\n", AR_SHOW_SECONDS(row->allreduce_s),
           AR_SHOW_RATE(row->algbw_Bps), AR_SHOW_RATE(row->busbw_Bps));
}

enum ar_status explain_timing(const struct ar_scenario *scenario, const struct ar_timing *timing,
                              const struct ar_row *row, struct ar_error *err)
{
    const struct ar_kind *kind = timing->job->kind;
    if (kind->is_collective) {
        uint32_t links = ar_cluster_links_count(scenario->cluster);
        struct ar_link_load *loads = ar_arena_alloc(scenario->arena, links, sizeof *loads);
        if (timing->job->library == NULL) {
            AR_TRY(ar_link_load_add(&timing->trial.collective, timing->job->elements, loads, err));
        }
        write_collective_head(scenario, timing, row);
        write_stream(scenario, timing);
        if (link_table_write_busiest(stdout, scenario->cluster, loads, row)) {
            puts(" ('allreckon links' has all links)\n");
        }
        write_parameters(scenario, timing->trial.options);
        return AR_OK;
    }
    if (kind->graph == NULL) {
        explain_servers(timing, row);
        return AR_OK;
    }
    if (kind->has_layout) {
        explain_layout(scenario, timing, row);
        return AR_OK;
    }
    uint32_t gpus = ar_shape_ranks(&timing->job->collective.shape);
    printf("%s, %" PRIu32 " samples per GPU, %s, on %" PRIu32 " GPU%s of %s\n%s %s",
           scenario->trace->name, scenario->trace->batch, ar_precision_names[scenario->precision],
           gpus, gpus == 1 ? "" : "s", ar_cluster_facts(scenario->cluster)->name,
           ar_algorithm_name(timing->job->collective.algorithm),
           AR_SHOW_SHAPE(&timing->job->collective.shape));
    write_channels(scenario, timing);
    if (!timing->layout.strategy->ends_runs) {
        printf(", buckets %s", scenario->fusion.text);
    }
    if (!timing->graph->has_series) {
        printf(", strategy %s", timing->layout.strategy->name);
    }
    printf(", engine %s\n\n", timing->job->engine->name);
    write_iteration(scenario->trace, timing);
    bool gathers = timing->layout.sparse_frac > 0 && ar_shape_ranks(&scenario->shape) > 1;
    if (timing->graph->has_series && !gathers) {
        write_buckets(timing);
        write_stream(scenario, timing);
    } else {
        explain_graph(timing, scenario->arena);
        puts("");
    }
    write_parameters(scenario, timing->trial.options);
    return AR_OK;
}
