#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_comparison.h"
#include "ar_library_engine.h"
#include "ar_note.h"
#include "ar_run.h"
#include "ar_text.h"

const struct ar_tuning *ar_comparison_reference(const struct ar_scenario *scenario)
{
    if (scenario->constants != NULL) {
        return &scenario->constants->tuning;
    }
    return scenario->table != NULL ? &scenario->table->library.tuning : NULL;
}

/* The library of the engine: what was fitted to the cluster or, of calls on one that has nothing,
 * the priors of a fit. */
static const struct ar_library *library_of(const struct ar_scenario *scenario)
{
    const struct ar_library *fitted = ar_scenario_library(scenario);
    return fitted != NULL ? fitted : scenario->constants;
}

/* A row of NCCL was fitted if the table of the cluster is of its node count; `links.fitted` of the
 * cluster, `gpus 2 3 of allreduce/ring`, says which of our own algorithms. */
static enum ar_compared_set set_of(const struct ar_scenario *scenario,
                                   const struct ar_library_run *run)
{
    bool is_fitted = scenario->engine->is_fitted && scenario->table != NULL &&
                     ar_library_nodes_have(&scenario->table->fitted, run->nodes);
    return is_fitted ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT;
}

static enum ar_compared_set set_of_own(const struct ar_scenario *scenario,
                                       const struct ar_measured_row *row)
{
    char name[AR_MEASURED_ALGORITHM];
    const char *fitted = ar_cluster_facts(scenario->cluster)->links_fitted;
    const char *algorithms = strstr(fitted, " of ");
    bool is_of =
        algorithms == NULL || ar_text_has_word(algorithms + 4, ar_measured_algorithm(row, name));
    const struct ar_library_run *run = &row->call.run;
    uint32_t count = strncmp(fitted, "gpus ", 5) == 0 ? run->ranks : run->nodes;
    for (const char *at = strchr(fitted, ' '); is_of && at != algorithms;
         at = strchr(at + 1, ' ')) {
        if (strtoul(at, NULL, 10) == count) {
            return AR_COMPARED_FITTED;
        }
    }
    return AR_COMPARED_HELD_OUT;
}

/* By an engine that follows messages, or on a grid. Ranks fill the nodes of a collective, so a run
 * that leaves GPUs idle is another one. */
static enum ar_status predict(const struct ar_scenario *scenario, const struct ar_library_run *run,
                              struct ar_library_prediction *prediction, struct ar_error *err)
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

/* A call of NCCL, by one call of the library where that is all that the algorithm is. */
static enum ar_status compare_row(const struct ar_scenario *scenario,
                                  const struct ar_measured_row *row,
                                  struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_library_run *run = &row->call.run;
    enum ar_calls calls = ar_algorithm_calls(scenario->algorithm);
    bool is_call = scenario->engine->needs_library &&
                   (calls == AR_CALLS_ANY || calls == AR_CALLS_RING || calls == AR_CALLS_TREE);
    const char *choice = ar_algorithm_name(scenario->algorithm);
    struct ar_library_prediction prediction;
    if (!is_call || calls != AR_CALLS_ANY) { /* also for what it refuses */
        AR_TRY(predict(scenario, run, &prediction, err));
    }
    if (is_call) {
        struct ar_library_row seen = ar_library_engine_row(scenario->cluster, &row->call);
        prediction = scenario->engine->predict(library_of(scenario), calls, &seen.run);
        choice = ar_choices[prediction.choice].name;
    }
    ar_comparison_add(comparison, row, set_of(scenario, run), choice, &prediction,
                      ar_comparison_reference(scenario));
    return AR_OK;
}

/* Messages of an algorithm, as it was run. */
static enum ar_status compare_messages(const struct ar_scenario *scenario,
                                       const struct ar_measured_row *row, struct ar_arena *arena,
                                       struct ar_comparison *comparison, struct ar_error *err)
{
    struct ar_call job = {.elements = row->messages.elements};
    struct ar_call_time time;
    struct ar_trial trial = {
        .collective = row->messages.collective, .jobs = &job, .jobs_count = 1, .times = &time};
    const struct ar_engine *engine = /* what a library has no model of, it sends */
        scenario->engine->needs_library ? &ar_engine_recurrence : scenario->engine;
    AR_TRY(ar_trial_run(&trial, engine, err));
    struct ar_library_prediction prediction = {
        .time_s = time.finish_s - time.start_s, .low_s = NAN, .high_s = NAN};
    ar_comparison_add(comparison, row, set_of_own(scenario, row),
                      ar_compared_choice(row, &prediction, arena), &prediction, NULL);
    return AR_OK;
}

/* Rows that say what they ran take no other algorithm, and no library has them. */
static enum ar_status check_messages(const struct ar_scenario *scenario,
                                     const struct ar_measured_row *first, struct ar_error *err)
{
    bool is_named = first->run->algorithm[0] != '\0';
    static const enum ar_key keys[] = {AR_KEY_TUNING, AR_KEY_ALGORITHM, AR_KEY_CHANNELS};
    if (scenario->engine->needs_library) {
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
                "each row says its own and none is of NCCL",
                ar_keys[keys[i]].option);
        }
    }
    return AR_OK;
}

/* The engines of a library need it before any row is asked for. */
static enum ar_status check_library(const struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_collective collective = {.cluster = scenario->cluster,
                                       .operation = &ar_operation_all_reduce,
                                       .shape = {.x = 1, .y = 1}};
    return scenario->engine->needs_library
               ? ar_engine_check(scenario->engine, &collective, library_of(scenario), err)
               : AR_OK;
}

enum ar_status ar_comparison_run(const struct ar_calibrate_request *request,
                                 const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->scenario;
    AR_TRY(measured->calls_count == 0 ? check_messages(scenario, &measured->rows[0], err)
                                      : check_library(scenario, err));
    if (measured->calls_count > 0 && scenario->engine->is_fitted && scenario->table == NULL) {
        ar_note(request->notes,
                "cluster %s has no library.cost_table: nothing is fitted, the model has its priors "
                "('allreckon calibrate' fits it to measured rows)",
                ar_cluster_facts(scenario->cluster)->name);
    }
    AR_TRY(ar_comparison_begin(measured->rows_count, arena, comparison, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        AR_TRY(row->is_call ? compare_row(scenario, row, comparison, err)
                            : compare_messages(scenario, row, arena, comparison, err));
    }
    ar_comparison_sort(comparison);
    return ar_comparison_sum(measured->groups, measured->is_by_gpus, arena, comparison, err);
}
