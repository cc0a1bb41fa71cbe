/* links: the load of every link, to answer which one is the bottleneck. */
#include <stdlib.h>

#include "ar_units.h"
#include "commands.h"
#include "link_table.h"
#include "plan.h"

enum { TOP_MAX = 1000000 };

/* What is asked for, read before anything runs. */
struct request {
    enum ar_format format;
    uint64_t top;
};

static enum ar_status read_request(const struct options *options, struct request *request,
                                   struct ar_error *err)
{
    if ((options->payload == NULL) == (options->trace == NULL)) {
        return ar_error_set(err, AR_USAGE,
                            "links: found %s; expected one of them: --payload for one all-reduce, "
                            "--trace for a training step",
                            options->payload == NULL ? "neither --payload nor --trace"
                                                     : "--payload and --trace");
    }
    enum ar_status status = AR_OK;
    if (options->payload != NULL) {
        status = option_refuse_others(options, COMMAND_LINKS, "--payload", err);
    }
    if (status == AR_OK) {
        status = ar_format_parse("--format", options->format, &request->format, err);
    }
    if (status == AR_OK) {
        status = ar_parse_count("--top", options->top, 1, TOP_MAX, &request->top, err);
    }
    return option_status(status, err);
}

static enum ar_status read_payload(const struct options *options, const struct plan *plan,
                                   struct point *point, struct ar_error *err)
{
    uint64_t *sizes;
    size_t count;
    if (options->payload == NULL) {
        return AR_OK;
    }
    enum ar_status status = plan_payloads(plan, options->payload, &sizes, &count, err);
    if (status != AR_OK) {
        return status;
    }
    point->payload_bytes = sizes[0];
    free(sizes);
    if (count > 1) {
        return ar_error_set(err, AR_USAGE, "--payload: found \"%s\"; expected one size",
                            options->payload);
    }
    return AR_OK;
}

/* The load of all buckets of a step, or of the bare all-reduce. */
static enum ar_status add_loads(const struct plan *plan, const struct point *point,
                                struct ar_link_load *loads, struct ar_error *err)
{
    struct ar_collective collective = plan_collective(plan, point);
    struct ar_workload *workload;
    uint64_t bare = point->payload_bytes / collective.element_bytes;
    if (point->payload_bytes > 0) {
        return ar_link_load_add(&collective, &bare, 1, loads, err);
    }
    enum ar_status status = plan_workload(plan, point, &workload, err);
    if (status != AR_OK) {
        return status;
    }
    uint64_t *elements = calloc(workload->buckets_count, sizeof *elements);
    for (uint32_t i = 0; elements != NULL && i < workload->buckets_count; i++) {
        elements[i] = workload->buckets[i].elements;
    }
    status = elements == NULL
                 ? ar_error_no_memory(err, "the buckets")
                 : ar_link_load_add(&collective, elements, workload->buckets_count, loads, err);
    free(elements);
    ar_workload_destroy(workload);
    return status;
}

static enum ar_status make_table(const struct plan *plan, const struct point *point,
                                 struct link_table *table, struct ar_error *err)
{
    struct ar_link_load *loads = calloc(ar_cluster_links_count(plan->cluster), sizeof *loads);
    if (loads == NULL) {
        return ar_error_no_memory(err, "the loads of links");
    }
    enum ar_status status = add_loads(plan, point, loads, err);
    if (status == AR_OK) {
        status = link_table_create(plan->cluster, loads, table, err);
    }
    free(loads);
    return status;
}

static enum ar_status run_point(const struct options *options, const struct plan *plan,
                                struct point point, const struct request *request,
                                struct ar_error *err)
{
    struct ar_row rows[PLAN_CHECKED_ROWS];
    size_t rows_count = 0;
    struct link_table table;
    plan_begin(plan, options, &point, 1);
    enum ar_status status = plan_run_checked(options, plan, point, rows, &rows_count, err);
    if (status == AR_OK) {
        status = make_table(plan, &point, &table, err);
    }
    if (status != AR_OK) {
        return status;
    }
    plan_note_estimates(options, rows, rows_count);
    if (request->format == AR_FORMAT_CSV) {
        link_table_write_csv(stdout, &table, rows, rows_count);
    } else if (request->format == AR_FORMAT_JSON) {
        link_table_write_json(stdout, &table, rows, rows_count);
    } else {
        link_table_write(stdout, &table, rows, rows_count, request->top);
    }
    link_table_destroy(&table);
    return AR_OK;
}

enum ar_status command_links(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    struct point point;
    struct request request;
    struct options all = *options;
    all.baseline = "gpu"; /* efficiency is not asked for; this one costs nothing */
    enum ar_status status = read_request(options, &request, err);
    if (status == AR_OK) {
        status = plan_create(&all, options->trace != NULL, &plan, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = plan_check_messages(&plan, "links", err);
    if (status == AR_OK) {
        status = plan_point(&plan, options, &point, err);
    }
    if (status == AR_OK) {
        status = read_payload(options, &plan, &point, err);
    }
    if (status == AR_OK) {
        status = run_point(options, &plan, point, &request, err);
    }
    plan_destroy(&plan);
    return status;
}
