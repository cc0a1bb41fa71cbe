/* export: what other programs read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_output.h"
#include "ar_platform_file.h"
#include "ar_signals.h"
#include "ar_simgrid_xml.h"
#include "chrome_trace.h"
#include "commands.h"
#include "lists.h"
#include "plan.h"

/* Where the export goes: a file that appears whole or not at all, or stdout. */
struct destination {
    FILE *file;
    struct ar_output output;
    struct ar_signals before;
};

static enum ar_status open_destination(const char *out, struct destination *destination,
                                       struct ar_error *err)
{
    destination->file = stdout;
    if (out == NULL) {
        return AR_OK;
    }
    ar_signals_hold(&destination->before);
    enum ar_status status = ar_output_open(out, &destination->output, err);
    if (status != AR_OK) {
        ar_signals_restore(&destination->before);
    }
    destination->file = destination->output.file;
    return status;
}

static enum ar_status close_destination(const char *out, struct destination *destination,
                                        struct ar_error *err)
{
    if (out == NULL) {
        return AR_OK;
    }
    enum ar_status status = ar_output_commit(&destination->output, err);
    ar_signals_restore(&destination->before);
    return status;
}

static enum ar_status write_platform(const struct ar_cluster *cluster, uint32_t nodes,
                                     const char *out, struct ar_error *err)
{
    struct destination destination;
    enum ar_status status = open_destination(out, &destination, err);
    if (status == AR_OK) {
        ar_cluster_write_simgrid(cluster, nodes, destination.file);
        status = close_destination(out, &destination, err);
    }
    return status;
}

static enum ar_status export_platform(const struct options *options, struct ar_error *err)
{
    struct ar_cluster *cluster;
    uint32_t gpus;
    enum ar_status status =
        option_refuse_others(options, COMMAND_EXPORT, "--format simgrid-xml", err);
    if (status == AR_OK) {
        status = option_required(options, "cluster", options->cluster, err);
    }
    if (status == AR_OK) {
        status = option_required(options, "gpus", options->gpus, err);
    }
    if (status == AR_OK && ar_platform_file_is_named(options->cluster)) {
        return ar_error_set(err, AR_USAGE,
                            "--cluster: found %.300s, a SimGrid platform already; expected another "
                            "kind of cluster",
                            options->cluster);
    }
    if (status == AR_OK) {
        status = plan_load_cluster(options, &cluster, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = plan_gpus(cluster, options->gpus, &gpus, err);
    uint32_t per_node = ar_cluster_facts(cluster)->gpus_per_node;
    uint32_t nodes = status == AR_OK ? (gpus + per_node - 1) / per_node : 0;
    if (status == AR_OK) {
        status = ar_cluster_check_reach(cluster, nodes * per_node, err);
    }
    if (status == AR_OK) {
        status = write_platform(cluster, nodes, options->out, err);
    }
    ar_cluster_destroy(cluster);
    return status;
}

static int compare_ranks(const void *a, const void *b)
{
    const uint32_t *first = a;
    const uint32_t *second = b;
    return (*first > *second) - (*first < *second);
}

/* The ranks to show in ascending order; owned by the caller. */
static enum ar_status read_ranks(const struct options *options, const struct plan *plan,
                                 uint32_t ranks_count, uint32_t **ranks, uint32_t *count,
                                 struct ar_error *err)
{
    uint32_t per_node = ar_cluster_facts(plan->cluster)->gpus_per_node;
    uint64_t *listed = NULL;
    size_t listed_count = 0;
    enum ar_status status = AR_OK;
    if (options->ranks != NULL) {
        status = list_ranks("--ranks", options->ranks, ranks_count, &listed, &listed_count, err);
    }
    if (status != AR_OK) {
        return status;
    }
    size_t capacity = listed_count > CHROME_TRACE_RANKS ? listed_count : CHROME_TRACE_RANKS;
    uint32_t *made = calloc(capacity, sizeof *made);
    if (made == NULL) {
        free(listed);
        return ar_error_no_memory(err, "the ranks");
    }
    *count = (uint32_t)listed_count;
    for (size_t i = 0; i < listed_count; i++) {
        made[i] = (uint32_t)listed[i];
    }
    if (options->ranks == NULL) {
        *count = chrome_trace_choose(ranks_count, per_node, made);
    }
    qsort(made, *count, sizeof *made, compare_ranks);
    free(listed);
    *ranks = made;
    return AR_OK;
}

static enum ar_status write_trace(const struct ar_step *step, const struct ar_row *row,
                                  const char *out, struct ar_error *err)
{
    struct destination destination;
    enum ar_status status = open_destination(out, &destination, err);
    if (status == AR_OK) {
        chrome_trace_write(destination.file, step, row);
        status = close_destination(out, &destination, err);
    }
    return status;
}

/* Runs one step with a timeline of the ranks and writes it. */
static enum ar_status run_trace(const struct options *options, const struct plan *plan,
                                const struct point *point, struct ar_timeline *timeline,
                                struct ar_error *err)
{
    struct ar_row row;
    struct ar_step step = plan_step(plan, point);
    /* Contention may make other buckets than the plan knows of; no more than there are tensors. */
    struct ar_trial sizes = {.collective = step.collective,
                             .jobs_count = plan->trace->tensors_count,
                             .timeline = timeline};
    timeline->marks_s = calloc(ar_timeline_size(&sizes), sizeof *timeline->marks_s);
    if (timeline->marks_s == NULL) {
        return ar_error_no_memory(err, "the timeline");
    }
    step.timeline = timeline;
    enum ar_status status = plan_run_step(plan, point, &step, &row, err);
    if (status == AR_OK) {
        row.wall_s = NAN; /* the same step gives the same file */
        plan_note_estimates(options, &row, 1);
        status = write_trace(&step, &row, options->out, err);
        ar_step_destroy(&step);
    }
    free(timeline->marks_s);
    return status;
}

static enum ar_status check_timeline(const struct point *point, struct ar_error *err)
{
    if (point->engine->has_timeline) {
        return AR_OK;
    }
    return ar_error_set(err, AR_USAGE,
                        "--engine: found %s, which does not say when ranks do what; expected "
                        "simgrid or recurrence with --format chrome-trace",
                        point->engine->name);
}

static enum ar_status export_trace(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    struct point point;
    uint32_t *ranks = NULL;
    struct ar_timeline timeline = {.ranks_count = 0};
    enum ar_status status = plan_create(options, true, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    plan.iterations_count = 1;
    status = plan_check_messages(&plan, "export", err);
    if (status == AR_OK) {
        status = plan_point(&plan, options, &point, err);
    }
    if (status == AR_OK) {
        status = read_ranks(options, &plan, ar_shape_ranks(&point.shape), &ranks,
                            &timeline.ranks_count, err);
    }
    if (status == AR_OK) {
        timeline.ranks = ranks;
        plan_begin(&plan, options, &point, 1);
        status = check_timeline(&point, err);
    }
    if (status == AR_OK) {
        status = run_trace(options, &plan, &point, &timeline, err);
    }
    free(ranks);
    plan_destroy(&plan);
    return status;
}

enum ar_status command_export(const struct options *options, struct ar_error *err)
{
    enum ar_status status = option_required(options, "format", options->format, err);
    if (status != AR_OK) {
        return status;
    }
    if (options->out != NULL && options->out[0] == '\0') {
        return ar_error_set(err, AR_USAGE, "--out: found \"\"; expected a file name");
    }
    if (strcmp(options->format, "simgrid-xml") == 0) {
        return export_platform(options, err);
    }
    if (strcmp(options->format, "chrome-trace") == 0) {
        return export_trace(options, err);
    }
    return ar_error_set(err, AR_USAGE,
                        "--format: found \"%s\"; expected simgrid-xml or chrome-trace",
                        options->format);
}
