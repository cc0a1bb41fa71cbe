#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "lists.h"
#include "step_jobs.h"

#define GRADIENT_SCALE_MAX 1000.0

void plan_note(const struct options *options, const char *format, ...)
{
    if (options->quiet) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    fputs("allreckon: note: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* Nothing happens between the layers, and all GPUs are equally fast. */
static bool is_ideal(const struct plan *plan)
{
    bool is_on = plan->jitter_frac > 0 || plan->stragglers_count > 0;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        is_on = is_on || ar_framework_is_on(plan->framework, (enum ar_term)i);
    }
    return !is_on;
}

void plan_describe(const struct plan *plan, const struct options *options, size_t points_count)
{
    char scale[48] = "";
    if (plan->gradient_scale != 1) {
        snprintf(scale, sizeof scale, " gradients %g times as large,", plan->gradient_scale);
    }
    plan_note(options,
              "%zu point%s: batch %" PRIu32 " per GPU, %s,%s buckets %s, %" PRIu32
              " channel%s; efficiency: 100 %% is one %s%s",
              points_count, points_count == 1 ? "" : "s", plan->trace->batch,
              ar_precision_name(plan->precision), scale, plan->fusion.text, plan->channels,
              plan->channels == 1 ? "" : "s",
              plan->baseline == AR_BASELINE_GPU ? "GPU (--baseline gpu)" : "node (--baseline node)",
              is_ideal(plan) ? "; no --framework: an upper bound" : "");
}

/* Without the option, also in commands that have none, gradients are as the trace says. */
static enum ar_status parse_gradient_scale(const struct options *options, double *scale,
                                           struct ar_error *err)
{
    const char *text = options->gradient_scale;
    struct ar_error cause;
    *scale = 1;
    if (text != NULL &&
        (ar_parse_number("--gradient-scale", text, 0, GRADIENT_SCALE_MAX, scale, &cause) != AR_OK ||
         *scale <= 0)) {
        return ar_error_set(err, AR_USAGE,
                            "--gradient-scale: found \"%.60s\"; expected a number above 0, at "
                            "most %g",
                            text, GRADIENT_SCALE_MAX);
    }
    return AR_OK;
}

static enum ar_status parse_baseline(const char *text, enum ar_baseline *baseline,
                                     struct ar_error *err)
{
    if (strcmp(text, "gpu") == 0 || strcmp(text, "node") == 0) {
        *baseline = text[0] == 'g' ? AR_BASELINE_GPU : AR_BASELINE_NODE;
        return AR_OK;
    }
    return ar_error_set(err, AR_USAGE, "--baseline: found \"%s\"; expected gpu or node", text);
}

static enum ar_status parse_numbers(const struct options *options, struct plan *plan,
                                    struct ar_error *err)
{
    uint32_t hcas = ar_cluster_facts(plan->cluster)->hcas_per_node;
    uint64_t channels = hcas > 0 ? hcas : 1;
    uint64_t window;
    enum ar_status status =
        ar_parse_count("--window", options->window, 1, AR_WINDOW_MAX, &window, err);
    if (status == AR_OK && options->channels != NULL) {
        status =
            ar_parse_count("--channels", options->channels, 1, AR_CHANNELS_MAX, &channels, err);
    }
    if (status == AR_OK && options->precision != NULL) {
        status = ar_precision_parse("--precision", options->precision, &plan->precision, err);
    }
    if (status == AR_OK) {
        status = ar_engine_find("--engine", options->engine, &plan->engine, err);
    }
    if (status == AR_OK) {
        status = parse_gradient_scale(options, &plan->gradient_scale, err);
    }
    if (status == AR_OK) {
        plan->channels = (uint32_t)channels;
        plan->window = (uint32_t)window;
    }
    return option_status(status, err);
}

/* The rule of --bucket, else the framework's. What a file says is not wrong usage. */
static enum ar_status parse_fusion(const struct options *options, struct plan *plan,
                                   struct ar_error *err)
{
    const struct ar_term_value *rule = &plan->framework->terms[AR_TERM_FUSION_RULE];
    bool is_of_framework = options->bucket == NULL && rule->text[0] != '\0';
    const char *text = options->bucket != NULL ? options->bucket : "ddp";
    enum ar_status status = is_of_framework
                                ? ar_fusion_parse(rule->where, rule->text, &plan->fusion, err)
                                : ar_fusion_parse("--bucket", text, &plan->fusion, err);
    if (status == AR_USAGE && is_of_framework && rule->status != AR_USAGE) {
        return err->status = rule->status;
    }
    return is_of_framework ? status : option_status(status, err);
}

static enum ar_status prepare_steps(const struct options *options, struct plan *plan,
                                    struct ar_error *err)
{
    struct ar_workload *workload;
    enum ar_status status = parse_fusion(options, plan, err);
    plan->wire = ar_framework_wire(plan->framework, plan->precision);
    if (status == AR_OK) {
        status = parse_baseline(options->baseline, &plan->baseline, err);
    }
    if (status == AR_OK) {
        status = plan_parse_uneven(options, plan, err);
    }
    if (status == AR_OK) {
        status = ar_workload_create(plan->trace, &plan->fusion, ar_precision_bytes(plan->wire),
                                    &workload, err);
    }
    if (status == AR_OK) {
        plan->buckets_count = workload->buckets_count;
        ar_workload_destroy(workload);
    }
    return status;
}

enum ar_status plan_create(const struct options *options, bool has_trace, struct plan *plan,
                           struct ar_error *err)
{
    *plan = (struct plan){.precision = AR_FP16, .buckets_count = 1, .compute_factor = 1};
    enum ar_status status = plan_load_cluster(options, &plan->cluster, err);
    if (status == AR_OK) {
        status = plan_load_library(options, plan->cluster, &plan->library, err);
    }
    if (status == AR_OK) {
        status = plan_load_constants(options, plan, err);
    }
    if (status == AR_OK) {
        status = plan_load_framework(options, &plan->framework, err);
    }
    if (status == AR_OK) {
        status = plan_join_settings(options, plan->settings, err);
    }
    if (status == AR_OK) {
        status = parse_numbers(options, plan, err);
    }
    if (status == AR_OK && has_trace) {
        status = plan_load_trace(options, plan, err);
    }
    if (status == AR_OK && has_trace) {
        status = prepare_steps(options, plan, err);
    }
    if (status != AR_OK) {
        plan_destroy(plan);
    }
    return status;
}

enum ar_status plan_vary(const struct options *options, const struct plan *base, struct plan *plan,
                         struct ar_error *err)
{
    *plan = *base;
    plan->engine = NULL;
    enum ar_status status = parse_numbers(options, plan, err);
    return status == AR_OK && plan->trace != NULL ? prepare_steps(options, plan, err) : status;
}

void plan_destroy(struct plan *plan)
{
    ar_trace_destroy(plan->trace);
    ar_cluster_destroy(plan->cluster);
    free(plan->library);
    free(plan->constants);
    ar_framework_destroy(plan->framework);
    plan->library = NULL;
    plan->constants = NULL;
    plan->framework = NULL;
    plan->trace = NULL;
    plan->cluster = NULL;
}

enum ar_status plan_gpus(const struct ar_cluster *cluster, const char *text, uint32_t *gpus,
                         struct ar_error *err)
{
    uint64_t max = ar_cluster_gpus_count(cluster);
    uint64_t count;
    if (ar_parse_count("--gpus", text, 1, max, &count, err) != AR_OK) {
        return ar_error_set(err, AR_USAGE,
                            "--gpus: found \"%s\"; expected a whole number from 1 to %" PRIu64
                            ", the GPUs of cluster %s",
                            text, max, ar_cluster_facts(cluster)->name);
    }
    *gpus = (uint32_t)count;
    return AR_OK;
}

/* The shape that is asked for, or the algorithm's own. */
static enum ar_status read_shape(const struct plan *plan, const struct options *options,
                                 uint32_t gpus, struct point *point, struct ar_error *err)
{
    if (options->shape == NULL) {
        point->shape = ar_algorithm_default_shape(point->algorithm, gpus,
                                                  ar_cluster_facts(plan->cluster)->gpus_per_node);
        return AR_OK;
    }
    enum ar_status status = ar_shape_parse("--shape", options->shape, &point->shape, err);
    if (status == AR_OK && ar_shape_ranks(&point->shape) != gpus) {
        return ar_error_set(err, AR_USAGE,
                            "--shape: %s has %" PRIu32 " places; expected X*Y = %" PRIu32
                            ", the number of --gpus",
                            options->shape, ar_shape_ranks(&point->shape), gpus);
    }
    return option_status(status, err);
}

enum ar_status plan_point(const struct plan *plan, const struct options *options,
                          struct point *point, struct ar_error *err)
{
    uint32_t gpus = 0;
    *point = (struct point){.engine = plan->engine};
    enum ar_status status = option_required(options, "gpus", options->gpus, err);
    if (status == AR_OK) {
        status = option_required(options, "algorithm", options->algorithm, err);
    }
    if (status == AR_OK) {
        status = plan_gpus(plan->cluster, options->gpus, &gpus, err);
    }
    if (status == AR_OK) {
        status =
            ar_algorithm_find_or_auto("--algorithm", options->algorithm, &point->algorithm, err);
    }
    if (status == AR_OK) {
        status = read_shape(plan, options, gpus, point, err);
    }
    if (status == AR_OK) {
        struct ar_collective collective = plan_collective(plan, point);
        status = ar_collective_check(&collective, err);
        if (status == AR_OK) {
            status = ar_engine_check(point->engine, &collective, plan_library(plan), err);
        }
    }
    if (status == AR_OK) {
        status = plan_check_stragglers(plan, gpus, err);
    }
    return status;
}

enum ar_status plan_payloads(const struct plan *plan, const char *text, uint64_t **sizes,
                             size_t *count, struct ar_error *err)
{
    uint32_t element_bytes = ar_precision_bytes(plan->precision);
    enum ar_status status = list_sizes("--payload", text, sizes, count, err);
    for (size_t i = 0; status == AR_OK && i < *count; i++) {
        if ((*sizes)[i] % element_bytes != 0) {
            status = ar_error_set(err, AR_USAGE,
                                  "--payload: found %" PRIu64 " bytes; expected a multiple of "
                                  "%" PRIu32 ", the size of a %s element",
                                  (*sizes)[i], element_bytes, ar_precision_name(plan->precision));
            free(*sizes);
            *sizes = NULL;
        }
    }
    return status;
}

struct ar_collective plan_collective(const struct plan *plan, const struct point *point)
{
    bool is_bare = plan->trace == NULL || point->payload_bytes > 0;
    return (struct ar_collective){
        .cluster = plan->cluster,
        .operation = &ar_operation_all_reduce,
        .algorithm = point->algorithm,
        .shape = point->shape,
        .channels = plan->channels * ar_algorithm_channels(point->algorithm),
        .window = plan->window,
        .element_bytes = ar_precision_bytes(is_bare ? plan->precision : plan->wire)};
}

enum ar_status plan_workload(const struct plan *plan, const struct point *point,
                             struct ar_workload **workload, struct ar_error *err)
{
    struct ar_step step = plan_step(plan, point);
    struct ar_workload_request request = step_workload(&step, ar_shape_ranks(&point->shape));
    return ar_workload_make(&request, workload, err);
}

uint32_t plan_buckets(const struct plan *plan, const struct point *point)
{
    struct ar_workload *workload;
    struct ar_error ignored;
    if (point->payload_bytes > 0) {
        return 1;
    }
    /* Cycles depend on the number of ranks; other rules do not. */
    if (!ar_framework_is_on(plan->framework, AR_TERM_CYCLE_TIME) ||
        plan_workload(plan, point, &workload, &ignored) != AR_OK) {
        return plan->buckets_count;
    }
    uint32_t count = workload->buckets_count;
    ar_workload_destroy(workload);
    return count;
}

struct ar_step plan_step(const struct plan *plan, const struct point *point)
{
    return (struct ar_step){.collective = plan_collective(plan, point),
                            .trace = plan->trace,
                            .framework = plan->framework,
                            .fusion = plan->fusion,
                            .engine = point->engine,
                            .library = point->engine->needs_library ? plan_library(plan) : NULL,
                            .baseline = plan->baseline,
                            .jitter_frac = plan->jitter_frac,
                            .seed = plan->seed,
                            .iterations_count = plan->iterations_count,
                            .stragglers = plan->stragglers,
                            .stragglers_count = plan->stragglers_count};
}
