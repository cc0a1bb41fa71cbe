/* Predicts measured rows: by an engine, or by fits to measured sets. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_comparison.h"
#include "ar_library_engine.h"
#include "ar_note.h"
#include "ar_run.h"
#include "ar_text.h"

/* --- by an engine -------------------------------------------------------------------------- */

const struct ar_tuning *ar_comparison_reference(const struct ar_scenario *scenario)
{
    if (scenario->constants != NULL) {
        return &scenario->constants->tuning;
    }
    return scenario->table != NULL ? &scenario->table->library.tuning : NULL;
}

/* The library of the engine: as fitted to the cluster or, of calls on one that has nothing, the
 * priors of a fit. */
static const struct ar_library *library_of(const struct ar_scenario *scenario)
{
    const struct ar_library *fitted = ar_scenario_library(scenario);
    return fitted != NULL ? fitted : scenario->constants;
}

/* A call was fitted if the table of the cluster is of its node count; messages if `links.fitted` of
 * the cluster, `gpus 2 3 of allreduce/ring`, has their count and algorithm. */
static enum ar_compared_set fitted_set(const struct ar_scenario *scenario,
                                       const struct ar_measured_row *row)
{
    char name[AR_MEASURED_ALGORITHM];
    const struct ar_library_run *run = &row->call.run;
    const char *fitted = ar_cluster_facts(scenario->cluster)->links_fitted;
    const char *algorithms = strstr(fitted, " of ");
    if (row->is_call) {
        return ar_engine_has_band(scenario->engine) && scenario->table != NULL &&
                       ar_library_nodes_have(&scenario->table->fitted, run->nodes)
                   ? AR_COMPARED_FITTED
                   : AR_COMPARED_HELD_OUT;
    }
    bool has_algorithm =
        algorithms == NULL || ar_text_has_word(algorithms + 4, ar_measured_algorithm(row, name));
    uint32_t count = strncmp(fitted, "gpus ", 5) == 0 ? run->ranks : run->nodes;
    for (const char *at = strchr(fitted, ' '); has_algorithm && at != algorithms;
         at = strchr(at + 1, ' ')) {
        if (strtoul(at, NULL, 10) == count) {
            return AR_COMPARED_FITTED;
        }
    }
    return AR_COMPARED_HELD_OUT;
}

/* Predicts a call as a bare collective. Ranks fill the nodes of a collective, so a run that leaves
 * GPUs idle is another one. */
static enum ar_status predict_collective(const struct ar_scenario *scenario,
                                         const struct ar_library_run *run,
                                         struct ar_library_prediction *prediction,
                                         struct ar_error *err)
{
    struct ar_row row;
    struct ar_scenario one = *scenario;
    uint32_t gpus = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    uint32_t element_bytes = ar_precision_bytes(scenario->precision);
    one.gpus = run->ranks;
    one.payload_bytes = ((uint64_t)run->bytes + element_bytes - 1) / element_bytes * element_bytes;
    if ((run->ranks + gpus - 1) / gpus != run->nodes) {
        return ar_error_set(err, AR_BAD_DATA,
                            "compare: found %" PRIu32 " GPUs on %" PRIu32 " nodes of %" PRIu32
                            "; expected full nodes with --engine %s",
                            run->ranks, run->nodes, gpus, scenario->engine->name);
    }
    AR_TRY(ar_scenario_check(&one, err));
    AR_TRY(ar_run(&one, &row, err));
    *prediction = (struct ar_library_prediction){
        .time_s = row.allreduce_s, .low_s = row.low_s, .high_s = row.high_s};
    return AR_OK;
}

/* Compares a call of NCCL: by one call of the library, if the algorithm is nothing else. */
static enum ar_status compare_call(const struct ar_scenario *scenario,
                                   const struct ar_measured_row *row,
                                   struct ar_comparison *comparison, struct ar_error *err)
{
    enum ar_calls calls = ar_algorithm_calls(scenario->algorithm);
    bool is_call = ar_engine_times_calls(scenario->engine) &&
                   (calls == AR_CALLS_ANY || calls == AR_CALLS_RING || calls == AR_CALLS_TREE);
    struct ar_library_prediction prediction = {.choice = 0};
    if (!is_call || calls != AR_CALLS_ANY) { /* also to refuse what it cannot run */
        AR_TRY(predict_collective(scenario, &row->call.run, &prediction, err));
    }
    if (is_call) {
        struct ar_library_row seen = ar_library_engine_row(scenario->cluster, &row->call);
        prediction = scenario->engine->predict_call(library_of(scenario), calls, &seen.run);
    }
    struct ar_compared *made = ar_comparison_add(comparison, row, fitted_set(scenario, row),
                                                 &prediction, ar_comparison_reference(scenario));
    made->choice = is_call ? made->choice : ar_algorithm_name(scenario->algorithm);
    return AR_OK;
}

/* Compares the messages of an algorithm, as it was run. */
static enum ar_status compare_algorithm(const struct ar_scenario *scenario,
                                        const struct ar_measured_row *row,
                                        struct ar_comparison *comparison, struct ar_error *err)
{
    struct ar_call call = {.elements = row->messages.elements};
    struct ar_call_time time;
    struct ar_trial trial = {
        .collective = row->messages.collective, .jobs = &call, .jobs_count = 1, .times = &time};
    const struct ar_engine *engine = /* operations that a library has no model of are messages */
        ar_engine_times_calls(scenario->engine) ? &ar_engine_recurrence : scenario->engine;
    AR_TRY(ar_trial_run(&trial, engine, err));
    struct ar_library_prediction prediction = {
        .time_s = time.finish_s - time.start_s, .low_s = NAN, .high_s = NAN};
    ar_comparison_add(comparison, row, fitted_set(scenario, row), &prediction, NULL);
    return AR_OK;
}

/* Refuses keys that messages do not take: an engine of a library and, where rows name what they
 * ran, an algorithm. */
static enum ar_status check_messages(const struct ar_scenario *scenario,
                                     const struct ar_measured_row *first, struct ar_error *err)
{
    static const enum ar_key keys[] = {AR_KEY_TUNING, AR_KEY_ALGORITHM, AR_KEY_CHANNELS};
    bool is_named = first->run->algorithm[0] != '\0';
    if (ar_engine_times_calls(scenario->engine)) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found messages of algorithms with --engine %s; "
                            "expected --engine closed, recurrence or simgrid",
                            scenario->engine->name);
    }
    for (size_t i = 0; is_named && i < sizeof keys / sizeof keys[0]; i++) {
        if (ar_scenario_has(scenario, keys[i])) {
            return ar_error_set(
                err, AR_USAGE,
                "compare: found %s with messages of algorithms; expected none, since "
                "each row names its own and none is of NCCL",
                ar_keys[keys[i]].option);
        }
    }
    return AR_OK;
}

enum ar_status ar_comparison_run(const struct ar_measured_request *request,
                                 const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->scenario;
    struct ar_collective any = {.cluster = scenario->cluster,
                                .operation = &ar_operation_all_reduce,
                                .shape = {.x = 1, .y = 1}};
    if (measured->calls_count == 0) {
        AR_TRY(check_messages(scenario, &measured->rows[0], err));
    } else if (ar_engine_times_calls(scenario->engine)) { /* before any row is asked for */
        AR_TRY(ar_engine_check(scenario->engine, &any, library_of(scenario), err));
    }
    if (measured->calls_count > 0 && ar_engine_has_band(scenario->engine) &&
        scenario->table == NULL) {
        ar_note(request->notes,
                "cluster %s has no library.cost_table: nothing is fitted, the model has its priors "
                "('allreckon calibrate' fits it to measured rows)",
                ar_cluster_facts(scenario->cluster)->name);
    }
    *comparison = ar_comparison_begin(measured->rows_count, arena);
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        AR_TRY(row->is_call ? compare_call(scenario, row, comparison, err)
                            : compare_algorithm(scenario, row, comparison, err));
    }
    ar_comparison_sort(comparison);
    ar_comparison_sum(ar_measured_groups(measured), measured->is_by_gpus, comparison);
    return AR_OK;
}

/* --- by fits to measured sets -------------------------------------------------------------- */

/* Whether a row of the set itself is the same as a further one. */
static bool set_has_row(const struct ar_measured *measured, const struct ar_measured_row *row)
{
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *known = &measured->rows[i];
        if (known->is_known && known->operation == row->operation &&
            known->call.run.nodes == row->call.run.nodes &&
            known->call.run.ranks == row->call.run.ranks &&
            known->call.run.bytes == row->call.run.bytes &&
            known->call.time_s == row->call.time_s &&
            strcmp(known->run->algorithm, row->run->algorithm) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds the further rows of a set. Those of a kind that cannot be fitted are predicted with nothing
 * fitted. `cluster` names the set's where there are several. */
static enum ar_status compare_set(const struct ar_set_rows *rows, const char *cluster,
                                  struct ar_arena *arena, struct ar_comparison *comparison,
                                  struct ar_error *err)
{
    const struct ar_measured *measured = rows->measured;
    struct ar_estimate *estimate = NULL;
    struct ar_estimate *unfitted = NULL;
    struct ar_error why;
    size_t further = 0;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = measured->rows[i].is_known;
        further += !is_fitted[i];
    }
    if (further == 0) {
        return AR_OK;
    }
    enum ar_status status =
        ar_estimate_run(&rows->request, measured, is_fitted, arena, &estimate, &why);
    bool has_fit = status == AR_OK;
    if (!has_fit && status != AR_BAD_DATA) {
        return ar_error_set(err, status, "%s", why.text);
    }
    ar_note(rows->request.notes, "measured set %s: --cluster %s, %s%s", rows->set->name,
            rows->set->cluster,
            has_fit ? "fitted to its shipped rows" : "some rows with nothing fitted: ",
            has_fit ? "" : why.text);
    if (!has_fit) {
        AR_TRY(ar_estimate_run(&rows->request, measured, NULL, arena, &unfitted, err));
    }
    AR_TRY(ar_estimate_correct(measured, is_fitted, arena, estimate, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        if (row->is_known) {
            continue;
        }
        bool is_of_fit = has_fit || isfinite(estimate->predictions[i].time_s);
        bool is_in_fit = is_of_fit && set_has_row(measured, row);
        ar_comparison_add(comparison, row, is_in_fit ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT,
                          &(is_of_fit ? estimate : unfitted)->predictions[i],
                          estimate->has_library ? &estimate->library.tuning : NULL)
            ->cluster = cluster;
    }
    return AR_OK;
}

enum ar_status ar_comparison_run_sets(struct ar_set_rows *const *sets, size_t count,
                                      struct ar_arena *arena, struct ar_comparison *comparison,
                                      struct ar_error *err)
{
    struct ar_library_nodes nodes = {.count = 0};
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        capacity += sets[i]->measured->rows_count;
        for (size_t k = 0; k < sets[i]->measured->nodes.count; k++) {
            AR_TRY(ar_library_nodes_add(&nodes, sets[i]->measured->nodes.counts[k], err));
        }
    }
    *comparison = ar_comparison_begin(capacity, arena);
    for (size_t i = 0; i < count; i++) {
        AR_TRY(
            compare_set(sets[i], count > 1 ? sets[i]->set->cluster : NULL, arena, comparison, err));
    }
    ar_comparison_sort(comparison);
    ar_comparison_sum(&nodes, false, comparison);
    return AR_OK;
}
