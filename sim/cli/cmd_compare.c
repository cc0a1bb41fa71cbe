/* compare: predictions beside measured all-reduces. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_output.h"
#include "ar_plot_compare.h"
#include "calibration.h"
#include "campaign.h"
#include "commands.h"
#include "comparison.h"
#include "link_calibration.h"
#include "plan.h"
#include "resource.h"

/* --- predictions -------------------------------------------------------------------------- */

/* What a row was to the table of the cluster; without one nothing was fitted. */
static enum judged_set set_of(const struct plan *plan, uint32_t nodes)
{
    bool is_fitted =
        plan->engine->is_fitted && ar_library_nodes_have(&plan->library->fitted, nodes);
    return is_fitted ? JUDGED_FITTED : JUDGED_HELD_OUT;
}

/* Ranks fill the nodes of a collective, so a run that leaves GPUs idle is another one. */
static enum ar_status make_point(const struct plan *plan, const struct ar_algorithm *algorithm,
                                 const struct ar_library_run *run, struct point *point,
                                 struct ar_error *err)
{
    uint32_t gpus = ar_cluster_facts(plan->cluster)->gpus_per_node;
    *point = (struct point){.algorithm = algorithm, .engine = plan->engine};
    point->shape = ar_algorithm_default_shape(algorithm, run->ranks, gpus);
    if ((run->ranks + gpus - 1) / gpus != run->nodes) {
        return ar_error_set(err, AR_BAD_DATA,
                            "compare: found %" PRIu32 " GPUs on %" PRIu32 " nodes of %" PRIu32
                            "; expected full nodes with --engine %s",
                            run->ranks, run->nodes, gpus, plan->engine->name);
    }
    struct ar_collective collective = plan_collective(plan, point);
    enum ar_status status = ar_collective_check(&collective, err);
    return status == AR_OK ? ar_engine_check(plan->engine, &collective, plan_library(plan), err)
                           : status;
}

/* Whose constants are the yardstick: those of `--tuning`, of the cluster or of its table. */
static const struct ar_tuning *yardstick_of(const struct plan *plan)
{
    if (plan->constants != NULL) {
        return &plan->constants->tuning;
    }
    return plan->library != NULL ? &plan->library->library.tuning : NULL;
}

/* By an engine that follows messages, or on a grid. */
static enum ar_status judge_by_engine(const struct plan *plan, struct point point,
                                      const struct ar_library_row *row, struct judged *judged,
                                      struct ar_error *err)
{
    struct ar_row result;
    const struct ar_tuning *yardstick = yardstick_of(plan);
    uint32_t element_bytes = ar_precision_bytes(plan->precision);
    uint64_t bytes = (uint64_t)row->run.bytes;
    point.payload_bytes = (bytes + element_bytes - 1) / element_bytes * element_bytes;
    enum ar_status status = plan_run(plan, &point, &result, err);
    if (status != AR_OK) {
        return status;
    }
    *judged = (struct judged){.row = *row,
                              .set = set_of(plan, row->run.nodes),
                              .predicted_s = result.allreduce_s,
                              .low_s = result.low_s,
                              .high_s = result.high_s,
                              .tuning_s = NAN};
    snprintf(judged->choice, sizeof judged->choice, "%.23s", ar_algorithm_name(point.algorithm));
    if (yardstick != NULL && (row->run.nodes == 1 || yardstick->net_bus_Bps > 0)) {
        judged->tuning_s = ar_tuning_predict(yardstick, AR_CALLS_ANY, &row->run).time_s;
    }
    return AR_OK;
}

/* One call of the library; `calls` limits its choice. */
static void judge_call(const struct plan *plan, enum ar_calls calls,
                       const struct ar_library_row *row, struct judged *judged)
{
    struct ar_library_prediction prediction =
        plan->engine->predict(plan_library(plan), calls, &row->run);
    *judged = judged_by(&prediction, yardstick_of(plan), row, set_of(plan, row->run.nodes));
}

static enum ar_status judge(const struct plan *plan, const struct ar_algorithm *algorithm,
                            const struct ar_library_row *row, struct judged *judged,
                            struct ar_error *err)
{
    struct point point;
    enum ar_calls calls = ar_algorithm_calls(algorithm);
    bool is_one_call = calls == AR_CALLS_RING || calls == AR_CALLS_TREE;
    if (plan->engine->needs_library && calls == AR_CALLS_ANY) {
        judge_call(plan, calls, row, judged);
        return AR_OK;
    }
    enum ar_status status = make_point(plan, algorithm, &row->run, &point, err);
    if (status == AR_OK && plan->engine->needs_library && is_one_call) {
        judge_call(plan, calls, row, judged);
        return AR_OK;
    }
    return status == AR_OK ? judge_by_engine(plan, point, row, judged, err) : status;
}

/* A row of our own algorithms, as it was run. */
static enum ar_status judge_own(const struct plan *plan, const struct ar_link_row *own,
                                const struct ar_library_row *row, struct judged *judged,
                                struct ar_error *err)
{
    struct ar_job job = {.elements = own->elements};
    struct ar_job_time time;
    struct ar_trial trial = {
        .collective = own->collective, .jobs = &job, .jobs_count = 1, .times = &time};
    enum ar_status status = ar_trial_run(&trial, plan->engine, err);
    if (status != AR_OK) {
        return status;
    }
    bool is_fitted = links_fitted_have(ar_cluster_facts(plan->cluster)->links_fitted, &row->run);
    *judged = (struct judged){.row = *row,
                              .set = is_fitted ? JUDGED_FITTED : JUDGED_HELD_OUT,
                              .predicted_s = time.finish_s,
                              .low_s = NAN,
                              .high_s = NAN,
                              .tuning_s = NAN};
    link_choice(&own->collective, judged->choice);
    return AR_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct ar_library_run *first = &((const struct judged *)a)->row.run;
    const struct ar_library_run *second = &((const struct judged *)b)->row.run;
    if (first->nodes != second->nodes) {
        return first->nodes < second->nodes ? -1 : 1;
    }
    if (first->ranks != second->ranks) {
        return first->ranks < second->ranks ? -1 : 1;
    }
    return (first->bytes > second->bytes) - (first->bytes < second->bytes);
}

static enum ar_status judge_rows(const struct plan *plan, const struct ar_algorithm *algorithm,
                                 const struct campaign *campaign, struct comparison *comparison,
                                 struct ar_error *err)
{
    enum ar_status status = AR_OK;
    comparison->rows = calloc(campaign->rows_count + 1, sizeof *comparison->rows);
    if (comparison->rows == NULL) {
        return ar_error_no_memory(err, "the compared rows");
    }
    for (size_t i = 0; status == AR_OK && i < campaign->rows_count; i++) {
        const struct ar_library_row *row = &campaign->rows[i];
        status = campaign->is_own
                     ? judge_own(plan, &campaign->own[i], row, &comparison->rows[i], err)
                     : judge(plan, algorithm, row, &comparison->rows[i], err);
    }
    if (status == AR_OK) {
        comparison->rows_count = campaign->rows_count;
        qsort(comparison->rows, comparison->rows_count, sizeof *comparison->rows, compare_rows);
        comparison->is_by_gpus = campaign_is_by_gpus(campaign);
        status =
            accuracy_sum(comparison->rows, comparison->rows_count, campaign_groups(campaign),
                         comparison->is_by_gpus, comparison->lines, &comparison->lines_count, err);
    }
    return status;
}

/* --- output ------------------------------------------------------------------------------- */

static enum ar_status write_files(const struct comparison *comparison, const char *directory,
                                  struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_output rows;
    struct ar_output summary;
    snprintf(path, sizeof path, "%s/compare.csv", directory);
    enum ar_status status = ar_output_open(path, &rows, err);
    if (status != AR_OK) {
        return status;
    }
    snprintf(path, sizeof path, "%s/accuracy.csv", directory);
    status = ar_output_open(path, &summary, err);
    if (status != AR_OK) {
        ar_output_abort(&rows);
        return status;
    }
    comparison_write_csv(rows.file, comparison);
    fprintf(summary.file, "%s\n", accuracy_columns(comparison->is_by_gpus));
    for (size_t i = 0; i < comparison->lines_count; i++) {
        accuracy_write_csv(summary.file, &comparison->lines[i]);
        fputc('\n', summary.file);
    }
    status = ar_output_commit(&rows, err);
    if (status != AR_OK) {
        ar_output_abort(&summary);
        return status;
    }
    return ar_output_commit(&summary, err);
}

static enum ar_status draw(const struct options *options, const struct plan *plan,
                           const struct comparison *comparison, struct ar_error *err)
{
    char templates[RESOURCE_PATH];
    struct ar_plot_compared *rows = calloc(comparison->rows_count + 1, sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a picture");
    }
    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct judged *row = &comparison->rows[i];
        rows[i] = (struct ar_plot_compared){.nodes = row->row.run.nodes,
                                            .gpus = row->row.run.ranks,
                                            .payload_bytes = row->row.run.bytes,
                                            .measured_s = row->row.time_s,
                                            .predicted_s = row->predicted_s,
                                            .low_s = row->low_s,
                                            .high_s = row->high_s,
                                            .is_fitted = row->set == JUDGED_FITTED};
    }
    struct ar_plot_compare_request request = {.output_dir = options->out,
                                              .template_dir = templates,
                                              .cluster = ar_cluster_facts(plan->cluster)->name,
                                              .engine = plan->engine->name,
                                              .rows = rows,
                                              .rows_count = comparison->rows_count};
    enum ar_status status = resource_plots(templates, err);
    if (status == AR_OK) {
        status = ar_plot_compare(&request, err);
    }
    free(rows);
    return status;
}

static enum ar_status write_out(const struct options *options, const struct plan *plan,
                                const struct comparison *comparison, struct ar_error *err)
{
    if (strlen(options->out) + 64 > RESOURCE_PATH) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", options->out);
    }
    enum ar_status status = ar_make_directory(options->out, err);
    if (status == AR_OK) {
        status = write_files(comparison, options->out, err);
    }
    if (status == AR_OK) {
        status = draw(options, plan, comparison, err);
    }
    for (size_t i = 0; status == AR_OK && i < AR_PLOT_COMPARE_PICTURES; i++) {
        plan_note(options, "%s/%s.svg and .png written", options->out, ar_plot_compare_names[i]);
    }
    return status;
}

/* --- the command -------------------------------------------------------------------------- */

/* The engines of a library need it before any row is asked for. */
static enum ar_status check_table(const struct plan *plan, struct ar_error *err)
{
    struct point point = {.algorithm = NULL, .shape = {.x = 1, .y = 1}, .engine = plan->engine};
    struct ar_collective collective = plan_collective(plan, &point);
    return plan->engine->needs_library
               ? ar_engine_check(plan->engine, &collective, plan_library(plan), err)
               : AR_OK;
}

/* Rows of our own algorithms say what they ran, and no library has them. */
static enum ar_status check_own(const struct options *options, const struct plan *plan,
                                struct ar_error *err)
{
    if (plan->engine->needs_library) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found rows of our own algorithms with --engine %s; "
                            "expected --engine closed, recurrence or simgrid",
                            plan->engine->name);
    }
    if (options->tuning != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found --tuning with rows of our own algorithms; expected "
                            "all-reduces of NCCL");
    }
    if (options->algorithm != NULL || options->channels != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found --%s with rows of our own algorithms; expected none, "
                            "since each row says its own",
                            options->algorithm != NULL ? "algorithm" : "channels");
    }
    return AR_OK;
}

static enum ar_status run(const struct options *options, const struct plan *plan,
                          enum ar_row_format format, struct ar_error *err)
{
    struct campaign campaign = {.rows_count = 0};
    struct comparison comparison = {.rows_count = 0};
    const struct ar_algorithm *algorithm;
    const char *standard = plan->engine->needs_library ? "auto" : "ring";
    const char *name = options->algorithm != NULL ? options->algorithm : standard;
    enum ar_status status = ar_algorithm_find_or_auto("--algorithm", name, &algorithm, err);
    if (status == AR_OK) {
        status = campaign_read(options, plan->cluster, &campaign, err);
    }
    if (status == AR_OK) {
        status = campaign.is_own ? check_own(options, plan, err) : check_table(plan, err);
    }
    if (status == AR_OK) {
        status = judge_rows(plan, algorithm, &campaign, &comparison, err);
    }
    if (status == AR_OK && options->out != NULL) {
        status = write_out(options, plan, &comparison, err);
    }
    if (status == AR_OK) {
        const struct ar_tuning *yardstick = yardstick_of(plan);
        campaign_note(&campaign, yardstick != NULL ? ar_tuning_release(yardstick) : NULL, options);
        format == AR_ROW_CSV    ? comparison_write_csv(stdout, &comparison)
        : format == AR_ROW_JSON ? comparison_write_json(&comparison)
                                : comparison_write_table(&comparison);
    }
    free(comparison.rows);
    campaign_destroy(&campaign);
    return status;
}

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    enum ar_row_format format;
    enum ar_status status = ar_row_format_parse("--format", options->format, &format, err);
    if (status == AR_OK) {
        status = plan_create(options, false, &plan, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = run(options, &plan, format, err);
    plan_destroy(&plan);
    return status;
}
