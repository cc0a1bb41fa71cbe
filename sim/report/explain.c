#include "explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_platform.h"
#include "ar_units.h"

static void write_head(const struct ar_scenario *scenario, const struct ar_step *step)
{
    char shape[AR_SHAPE_TEXT];
    uint32_t gpus = ar_shape_ranks(&step->collective.shape);
    printf("%s, %" PRIu32 " images per GPU, %s, on %" PRIu32 " GPU%s of %s\n%s %s",
           scenario->trace->name, scenario->trace->batch, ar_precision_names[scenario->precision],
           gpus, gpus == 1 ? "" : "s", ar_cluster_facts(scenario->cluster)->name,
           ar_algorithm_name(step->collective.algorithm),
           ar_shape_format(&step->collective.shape, shape));
    if (!step->engine->needs_library) {
        printf(", %" PRIu32 " channel%s, window %" PRIu32, scenario->channels,
               scenario->channels == 1 ? "" : "s", scenario->window);
    }
    printf(", buckets %s, engine %s\n\n", scenario->fusion.text, step->engine->name);
}

static void write_iteration(const struct ar_trace *trace, const struct ar_step *step)
{
    const struct {
        const char *name;
        double time_s;
    } parts[] = {{"framework overhead", trace->step_overhead_s},
                 {"forward", ar_trace_forward_s(trace)},
                 {"backward", ar_trace_backward_s(trace)},
                 {"exposed all-reduce", step->exposed_s - step->contention_s},
                 {"slower backward beside it", step->contention_s},
                 {"optimizer", trace->optimizer_s},
                 {"wait for input", step->input_wait_s},
                 {"= iteration", step->iteration_s}};
    /* What is exposed beyond the time that the stream is busy is waiting. */
    double hidden_s = step->allreduce_s - (step->exposed_s - step->contention_s);
    printf("%-32s %10s %8s\n", "Iteration", "ms", "%");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        printf("  %-30s %10.3f %8.1f\n", parts[i].name, parts[i].time_s * 1e3,
               100 * parts[i].time_s / step->iteration_s);
    }
    printf("  all-reduce stream busy %.3f ms, ", step->allreduce_s * 1e3);
    if (hidden_s >= 0) {
        printf("of which %.3f ms hide behind the backward pass\n", hidden_s * 1e3);
    } else {
        printf("all exposed, and %.3f ms of waiting for the slowest rank and for negotiations\n",
               -hidden_s * 1e3);
    }
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

/* --- all-reduces by the closed form ------------------------------------------------------- */

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

/* A part of the stream's time that is no phase. */
static void write_part(const char *name, double time_s)
{
    printf("  %-22s %6s %10s %-6s %9.3f\n", name, "", "", "", time_s * 1e3);
}

static void write_phases(const struct ar_scenario *scenario, const struct ar_step *step,
                         const struct ar_closed_time *sum)
{
    printf("All-reduce by the closed form, ms, all buckets (message, bound: of the last bucket)\n");
    printf("  %-22s %6s %10s %-6s %9s", "phase", "steps", "message", "bound", "time");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        if (is_shown(scenario, tier)) {
            printf(" %17s", ar_tier_name((enum ar_tier)tier));
        }
    }
    printf(" %8s  %s\n  %-56s ", "reduce", "slowest hop", "");
    for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
        if (is_shown(scenario, tier)) {
            printf(" %8s %8s", "latency", "bandw.");
        }
    }
    puts("");
    write_part("setup", sum->setup_s);
    for (uint32_t i = 0; i < sum->phases_count; i++) {
        write_phase(scenario, &sum->phases[i]);
    }
    write_part("copies of buckets", step->copy_s);
    write_part("batch-norm statistics", step->statistics_s);
    write_part("= all-reduce", sum->time_s + step->copy_s + step->statistics_s);
}

static void write_closed(const struct ar_scenario *scenario, const struct ar_step *step)
{
    struct ar_closed_time sum = {.exact = true, .why = ""};
    for (uint32_t i = 0; i < step->trial.jobs_count; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(step->trial.plan, step->trial.jobs[i].elements, &time);
        add_times(&sum, &time);
    }
    double time_s = sum.time_s + step->copy_s + step->statistics_s;
    double error = 100 * (time_s / step->allreduce_s - 1);
    write_phases(scenario, step, &sum);
    printf("  engine %s: %.3f (closed form %+.1f %%)\n", step->engine->name,
           step->allreduce_s * 1e3, fabs(error) < 0.05 ? 0 : error); /* no "-0.0" */
    printf("  the closed form is %s%s\n", sum.exact ? "exact here" : "an estimate here: ", sum.why);
    if (!step->trial.exact && strcmp(step->trial.note, sum.why) != 0) {
        printf("  engine %s is an estimate here: %s\n", step->engine->name, step->trial.note);
    }
    puts("  bound: hops = a part of the buffer travelling, port = a link never idle, window = out "
         "of slots\n");
}

/* --- all-reduces by calls of the library -------------------------------------------------- */

static void write_calls(const struct ar_step *step)
{
    static const char *const names[] = {[AR_ALL_REDUCE] = "all-reduce",
                                        [AR_REDUCE_SCATTER] = "reduce-scatter",
                                        [AR_ALL_GATHER] = "all-gather",
                                        [AR_REDUCE] = "reduce",
                                        [AR_BROADCAST] = "broadcast"};
    const struct ar_trial *trial = &step->trial;
    enum ar_calls calls = ar_algorithm_calls(trial->collective.algorithm);
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]; /* these and choices: of the last bucket */
    struct ar_library_prediction predictions[AR_LIBRARY_CALLS_MAX];
    double times_s[AR_LIBRARY_CALLS_MAX] = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        if (trial->jobs[i].elements == 0) {
            continue;
        }
        count = ar_library_engine_calls(&trial->collective, trial->jobs[i].elements, runs);
        for (size_t j = 0; j < count; j++) {
            predictions[j] = step->engine->predict(trial->library, calls, &runs[j]);
            times_s[j] += predictions[j].time_s;
        }
    }
    printf("All-reduce by calls of %s, ms, all buckets (choice, payload: of the last bucket)\n",
           trial->library->tuning.release->name);
    printf("  %-16s %8s %8s %8s  %-12s %12s %10s\n", "call", "ranks", "nodes", "sharing", "choice",
           "payload", "time");
    for (size_t i = 0; i < count; i++) {
        const struct ar_library_run *run = &runs[i];
        char payload[AR_UNIT_TEXT];
        printf("  %-16s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %-12s %12s %10.3f\n",
               names[run->call], run->ranks, run->nodes,
               run->nodes > 1 ? ar_library_sharers(run) : 1, ar_choices[predictions[i].choice].name,
               ar_format_bytes((uint64_t)run->bytes, payload), times_s[i] * 1e3);
    }
    printf("  engine %s is an estimate here: %s\n", step->engine->name, trial->note);
    puts("  sharing: such calls that leave each node together, over the same HCAs\n");
}

/* --- the whole ---------------------------------------------------------------------------- */

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

void explain_step(const struct ar_scenario *scenario, const struct ar_step *step)
{
    write_head(scenario, step);
    write_iteration(scenario->trace, step);
    write_buckets(step);
    bool is_alone = ar_shape_ranks(&step->collective.shape) == 1;
    if (!is_alone && step->engine->needs_library) {
        write_calls(step);
    } else if (!is_alone) {
        write_closed(scenario, step);
    }
    write_parameters(scenario, step);
}
