#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "resource.h"

enum { AUTO_MESSAGES_MOST = 5000000, BATCH_STANDARD = 32 };

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

static enum ar_status load_cluster(const struct options *options, struct plan *plan,
                                   struct ar_error *err)
{
    char path[RESOURCE_PATH];
    enum ar_status status = option_required("cluster", options->cluster, err);
    if (status == AR_OK) {
        status = resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, path, err);
    }
    if (status == AR_OK) {
        status =
            ar_cluster_load(path, options->settings, options->settings_count, &plan->cluster, err);
    }
    for (size_t i = 0; status == AR_OK && i < options->settings_count; i++) {
        size_t used = strlen(plan->settings);
        snprintf(plan->settings + used, sizeof plan->settings - used, "%s%s", i > 0 ? " " : "",
                 options->settings[i]);
    }
    return status;
}

/* A timed trace knows its batch and precision; a work trace is asked again with the defaults. */
static enum ar_status load_trace(const struct options *options, struct plan *plan,
                                 struct ar_error *err)
{
    char path[RESOURCE_PATH];
    char cost_path[RESOURCE_PATH];
    uint64_t batch = 0;
    const char *cost = ar_cluster_facts(plan->cluster)->device_cost;
    struct ar_trace_request request = {.path = path,
                                       .precision = plan->precision,
                                       .precision_is_given = options->precision != NULL};
    enum ar_status status = option_required("trace", options->trace, err);
    if (status == AR_OK) {
        status = resource_find(RESOURCE_TRACE, "--trace", options->trace, path, err);
    }
    if (status == AR_OK && options->batch != NULL) {
        status = ar_parse_count("--batch", options->batch, 1, 1000000, &batch, err);
    }
    if (status == AR_OK && cost[0] != '\0') {
        status = resource_find(RESOURCE_COST, "gpu.cost_table", cost, cost_path, err);
        request.cost_path = cost_path;
    }
    if (status != AR_OK) {
        return status;
    }
    request.batch = (uint32_t)batch;
    status = ar_trace_load(&request, &plan->trace, err);
    bool lacks_defaults = batch == 0 || options->precision == NULL;
    if (status == AR_USAGE && lacks_defaults) {
        request.batch = batch == 0 ? BATCH_STANDARD : (uint32_t)batch;
        request.precision_is_given = 1;
        status = ar_trace_load(&request, &plan->trace, err);
    }
    if (status == AR_OK) {
        plan->precision = plan->trace->precision;
    }
    return status;
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
    enum ar_status status = ar_parse_count("--window", options->window, 1, 64, &window, err);
    if (status == AR_OK && options->channels != NULL) {
        status = ar_parse_count("--channels", options->channels, 1, 32, &channels, err);
    }
    if (status == AR_OK && options->precision != NULL) {
        status = ar_precision_parse("--precision", options->precision, &plan->precision, err);
    }
    if (status == AR_OK && strcmp(options->engine, "auto") != 0) {
        status = ar_engine_find("--engine", options->engine, &plan->engine, err);
    }
    if (status == AR_OK) {
        plan->channels = (uint32_t)channels;
        plan->window = (uint32_t)window;
    }
    return status;
}

static enum ar_status prepare_steps(const struct options *options, struct plan *plan,
                                    struct ar_error *err)
{
    struct ar_workload *workload;
    enum ar_status status = load_trace(options, plan, err);
    if (status == AR_OK) {
        status = ar_fusion_parse("--bucket", options->bucket, &plan->fusion, err);
    }
    if (status == AR_OK) {
        status = parse_baseline(options->baseline, &plan->baseline, err);
    }
    if (status == AR_OK) {
        status = ar_workload_create(plan->trace, &plan->fusion, ar_precision_bytes(plan->precision),
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
    *plan = (struct plan){.precision = AR_FP16, .buckets_count = 1};
    enum ar_status status = load_cluster(options, plan, err);
    if (status == AR_OK) {
        status = parse_numbers(options, plan, err);
    }
    if (status == AR_OK && has_trace) {
        status = prepare_steps(options, plan, err);
    }
    if (status != AR_OK) {
        plan_destroy(plan);
    }
    return status;
}

void plan_destroy(struct plan *plan)
{
    ar_trace_destroy(plan->trace);
    ar_cluster_destroy(plan->cluster);
    plan->trace = NULL;
    plan->cluster = NULL;
}

enum ar_status plan_point(const struct plan *plan, const struct options *options,
                          struct point *point, struct ar_error *err)
{
    uint64_t gpus = 0;
    *point = (struct point){.payload_bytes = 0};
    enum ar_status status = option_required("gpus", options->gpus, err);
    if (status == AR_OK) {
        status = option_required("algorithm", options->algorithm, err);
    }
    if (status == AR_OK) {
        status = ar_parse_count("--gpus", options->gpus, 1, UINT32_MAX, &gpus, err);
    }
    if (status == AR_OK) {
        status = ar_algorithm_find("--algorithm", options->algorithm, &point->algorithm, err);
    }
    if (status != AR_OK) {
        return status;
    }
    uint32_t gpus_per_node = ar_cluster_facts(plan->cluster)->gpus_per_node;
    if (options->shape == NULL) {
        point->shape = point->algorithm->default_shape((uint32_t)gpus, gpus_per_node);
    } else {
        status = ar_shape_parse("--shape", options->shape, &point->shape, err);
        if (status == AR_OK && (uint64_t)point->shape.x * point->shape.y != gpus) {
            return ar_error_set(err, AR_USAGE,
                                "--shape: %s has %" PRIu64 " places; expected X*Y = %" PRIu64
                                ", the number of --gpus",
                                options->shape, (uint64_t)point->shape.x * point->shape.y, gpus);
        }
    }
    if (status == AR_OK) {
        struct ar_collective collective = plan_collective(plan, point);
        status = ar_collective_check(&collective, err);
    }
    return status;
}

struct ar_collective plan_collective(const struct plan *plan, const struct point *point)
{
    return (struct ar_collective){.cluster = plan->cluster,
                                  .algorithm = point->algorithm,
                                  .shape = point->shape,
                                  .channels = plan->channels,
                                  .window = plan->window,
                                  .element_bytes = ar_precision_bytes(plan->precision)};
}

uint64_t plan_messages(const struct plan *plan, const struct point *point)
{
    struct ar_collective collective = plan_collective(plan, point);
    uint32_t jobs = point->payload_bytes > 0 ? 1 : plan->buckets_count;
    return jobs * ar_collective_messages(&collective);
}

static uint64_t most_messages_at(const struct plan *plan, const struct point *points, size_t count,
                                 uint32_t gpus)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t messages = plan_messages(plan, &points[i]);
        if (ar_shape_ranks(&points[i].shape) == gpus && messages > most) {
            most = messages;
        }
    }
    return most;
}

size_t plan_choose_engines(const struct plan *plan, struct point *points, size_t count)
{
    struct ar_error ignored;
    const struct ar_engine *simgrid = NULL;
    const struct ar_engine *closed = NULL;
    ar_engine_find("auto", "simgrid", &simgrid, &ignored);
    ar_engine_find("auto", "closed", &closed, &ignored);
    size_t closed_count = 0;
    for (size_t i = 0; i < count; i++) {
        points[i].engine = plan->engine;
        if (plan->engine == NULL) {
            uint32_t gpus = ar_shape_ranks(&points[i].shape);
            bool is_small = most_messages_at(plan, points, count, gpus) <= AUTO_MESSAGES_MOST;
            points[i].engine = is_small ? simgrid : closed;
            closed_count += !is_small;
        }
    }
    return closed_count;
}

struct ar_step plan_step(const struct plan *plan, const struct point *point)
{
    return (struct ar_step){.collective = plan_collective(plan, point),
                            .trace = plan->trace,
                            .fusion = plan->fusion,
                            .engine = point->engine,
                            .baseline = plan->baseline};
}
