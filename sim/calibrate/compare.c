#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "ar_comparison.h"
#include "ar_link_calibration.h"

/* What a row was to the table of the cluster; without one nothing was fitted. */
static enum ar_compared_set set_of(const struct ar_comparison_model *model, uint32_t nodes)
{
    bool is_fitted = model->engine->is_fitted && ar_library_nodes_have(&model->fit->fitted, nodes);
    return is_fitted ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT;
}

/* Ranks fill the nodes of a collective, so a run that leaves GPUs idle is another one. */
static enum ar_status make_collective(const struct ar_comparison_model *model,
                                      const struct ar_library_run *run,
                                      struct ar_collective *collective, struct ar_error *err)
{
    uint32_t gpus = ar_cluster_facts(model->collective.cluster)->gpus_per_node;
    *collective = model->collective;
    collective->algorithm = model->algorithm;
    collective->channels *= ar_algorithm_channels(model->algorithm);
    collective->shape = ar_algorithm_default_shape(model->algorithm, run->ranks, gpus);
    if ((run->ranks + gpus - 1) / gpus != run->nodes) {
        return ar_error_set(err, AR_BAD_DATA,
                            "compare: found %" PRIu32 " GPUs on %" PRIu32 " nodes of %" PRIu32
                            "; expected full nodes with --engine %s",
                            run->ranks, run->nodes, gpus, model->engine->name);
    }
    AR_TRY(ar_collective_check(collective, err));
    return ar_engine_check(model->engine, collective, model->library, err);
}

static enum ar_status run_trial(const struct ar_comparison_model *model,
                                const struct ar_collective *collective, uint64_t elements,
                                enum ar_band band, double *time_s, struct ar_error *err)
{
    struct ar_job job = {.elements = elements};
    struct ar_job_time time;
    struct ar_trial trial = {.collective = *collective,
                             .jobs = &job,
                             .jobs_count = 1,
                             .times = &time,
                             .library = model->library,
                             .band = band};
    AR_TRY(ar_trial_run(&trial, model->engine, err));
    *time_s = time.finish_s - time.start_s;
    return AR_OK;
}

/* By an engine that follows messages, or on a grid. */
static enum ar_status compare_by_trial(const struct ar_comparison_model *model,
                                       const struct ar_collective *collective,
                                       const struct ar_library_row *row,
                                       struct ar_compared *compared, struct ar_error *err)
{
    const struct ar_tuning *reference = model->reference;
    uint64_t bytes = (uint64_t)row->run.bytes;
    uint64_t elements = (bytes + collective->element_bytes - 1) / collective->element_bytes;
    struct ar_compared made = {.row = *row,
                               .set = set_of(model, row->run.nodes),
                               .low_s = NAN,
                               .high_s = NAN,
                               .tuning_s = NAN};
    if (model->engine->is_fitted) {
        AR_TRY(run_trial(model, collective, elements, AR_BAND_LOW, &made.low_s, err));
        AR_TRY(run_trial(model, collective, elements, AR_BAND_HIGH, &made.high_s, err));
    }
    AR_TRY(run_trial(model, collective, elements, AR_BAND_MIDDLE, &made.predicted_s, err));
    snprintf(made.choice, sizeof made.choice, "%.23s", ar_algorithm_name(collective->algorithm));
    if (reference != NULL && (row->run.nodes == 1 || reference->net_bus_Bps > 0)) {
        made.tuning_s = ar_tuning_predict(reference, AR_CALLS_ANY, &row->run).time_s;
    }
    *compared = made;
    return AR_OK;
}

/* One call of the library; `calls` limits its choice. */
static void compare_call(const struct ar_comparison_model *model, enum ar_calls calls,
                         const struct ar_library_row *row, struct ar_compared *compared)
{
    struct ar_library_prediction prediction =
        model->engine->predict(model->library, calls, &row->run);
    *compared = ar_compared_by(&prediction, model->reference, row, set_of(model, row->run.nodes));
}

static enum ar_status compare_row(const struct ar_comparison_model *model,
                                  const struct ar_library_row *row, struct ar_compared *compared,
                                  struct ar_error *err)
{
    struct ar_collective collective;
    enum ar_calls calls = ar_algorithm_calls(model->algorithm);
    bool is_one_call = calls == AR_CALLS_RING || calls == AR_CALLS_TREE;
    if (model->engine->needs_library && calls == AR_CALLS_ANY) {
        compare_call(model, calls, row, compared);
        return AR_OK;
    }
    AR_TRY(make_collective(model, &row->run, &collective, err));
    if (model->engine->needs_library && is_one_call) {
        compare_call(model, calls, row, compared);
        return AR_OK;
    }
    return compare_by_trial(model, &collective, row, compared, err);
}

/* A row of our own algorithms, as it was run. */
static enum ar_status compare_own(const struct ar_comparison_model *model,
                                  const struct ar_link_row *own, const struct ar_library_row *row,
                                  struct ar_compared *compared, struct ar_error *err)
{
    const char *fitted = ar_cluster_facts(model->collective.cluster)->links_fitted;
    struct ar_compared made = {.row = *row,
                               .set = links_fitted_have(fitted, &row->run) ? AR_COMPARED_FITTED
                                                                           : AR_COMPARED_HELD_OUT,
                               .low_s = NAN,
                               .high_s = NAN,
                               .tuning_s = NAN};
    AR_TRY(
        run_trial(model, &own->collective, own->elements, AR_BAND_MIDDLE, &made.predicted_s, err));
    link_choice(&own->collective, made.choice);
    *compared = made;
    return AR_OK;
}

static int compare_order(const void *a, const void *b)
{
    const struct ar_library_run *first = &((const struct ar_compared *)a)->row.run;
    const struct ar_library_run *second = &((const struct ar_compared *)b)->row.run;
    if (first->nodes != second->nodes) {
        return first->nodes < second->nodes ? -1 : 1;
    }
    if (first->ranks != second->ranks) {
        return first->ranks < second->ranks ? -1 : 1;
    }
    return (first->bytes > second->bytes) - (first->bytes < second->bytes);
}

/* Rows of our own algorithms say what they ran, and no library has them. */
static enum ar_status check_own(const struct ar_calibrate_request *request,
                                const struct ar_comparison_model *model, struct ar_error *err)
{
    if (model->engine->needs_library) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found rows of our own algorithms with --engine %s; "
                            "expected --engine closed, recurrence or simgrid",
                            model->engine->name);
    }
    if (request->release != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found --tuning with rows of our own algorithms; expected "
                            "all-reduces of NCCL");
    }
    if (model->option_asked != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found --%s with rows of our own algorithms; expected none, "
                            "since each row says its own",
                            model->option_asked);
    }
    return AR_OK;
}

/* The engines of a library need it before any row is asked for. */
static enum ar_status check_library(const struct ar_comparison_model *model, struct ar_error *err)
{
    struct ar_collective collective = model->collective;
    collective.algorithm = NULL;
    collective.shape = (struct ar_shape){.x = 1, .y = 1};
    return model->engine->needs_library
               ? ar_engine_check(model->engine, &collective, model->library, err)
               : AR_OK;
}

enum ar_status ar_comparison_run(const struct ar_calibrate_request *request,
                                 const struct ar_comparison_model *model,
                                 const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err)
{
    struct ar_comparison made = {.rows_count = measured->rows_count};
    AR_TRY(measured->is_own ? check_own(request, model, err) : check_library(model, err));
    made.rows = ar_arena_alloc(arena, made.rows_count + 1, sizeof *made.rows);
    if (made.rows == NULL) {
        return ar_error_no_memory(err, "the compared rows");
    }
    for (size_t i = 0; i < made.rows_count; i++) {
        const struct ar_library_row *row = &measured->rows[i];
        AR_TRY(measured->is_own ? compare_own(model, &measured->own[i], row, &made.rows[i], err)
                                : compare_row(model, row, &made.rows[i], err));
    }
    qsort(made.rows, made.rows_count, sizeof *made.rows, compare_order);
    AR_TRY(ar_compared_sum(made.rows, made.rows_count, ar_measured_groups(measured),
                           ar_measured_is_by_gpus(measured), arena, &made.errors, err));
    *comparison = made;
    return AR_OK;
}
