#include "ar_comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_flows.h"
#include "ar_kind.h"
#include "ar_library_engine.h"
#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_text.h"

struct ar_comparison ar_comparison_begin(size_t capacity, struct ar_arena *arena)
{
    return (struct ar_comparison){
        .arena = arena, .rows = ar_arena_alloc(arena, capacity + 1, sizeof(struct ar_compared))};
}

struct ar_compared *ar_comparison_add(struct ar_comparison *comparison,
                                      const struct ar_measured_row *row, enum ar_compared_set set,
                                      const struct ar_library_prediction *prediction,
                                      const struct ar_tuning *reference)
{
    const struct ar_library_row *call = &row->call;
    const struct ar_collective *collective = &row->messages.collective;
    bool has_rate =
        reference != NULL && row->is_call && (call->run.nodes == 1 || reference->net_bus_Bps > 0);
    double tuning_s = has_rate ? ar_tuning_predict(reference, call->calls, &call->run).time_s : NAN;
    struct ar_compared *made = &comparison->rows[comparison->rows_count++];
    *made = (struct ar_compared){.measured = row,
                                 .row = *call,
                                 .operation = row->operation->command,
                                 .called = row->run->algorithm,
                                 .set = set,
                                 .payload_bytes = (uint64_t)call->run.bytes,
                                 .choice = row->is_call
                                               ? ar_choices[prediction->choice].name
                                               : ar_arena_format(comparison->arena, "%s %s",
                                                                 collective->algorithm->name,
                                                                 AR_SHOW_SHAPE(&collective->shape)),
                                 .prediction = *prediction,
                                 .error_frac = prediction->time_s / call->time_s - 1,
                                 .tuning_s = tuning_s,
                                 .tuning_error_frac = tuning_s / call->time_s - 1};
    return made;
}

/* By operation, name, nodes, GPUs, payload. */
AR_ORDER(compare_order, struct ar_compared, AR_SPELLS(operation), AR_SPELLS(called),
         AR_RISES(row.run.nodes), AR_RISES(row.run.ranks), AR_RISES(row.run.bytes))

/* --- errors -------------------------------------------------------------------------------- */

void ar_error_sum_add(struct ar_error_sum *sum, double measured_s,
                      const struct ar_library_prediction *prediction)
{
    if (!isfinite(prediction->time_s)) {
        return;
    }
    *AR_ARENA_ADD(sum->arena, sum->errors, sum->count) = fabs(prediction->time_s / measured_s - 1);
    if (isfinite(prediction->low_s)) {
        *AR_ARENA_ADD(sum->arena, sum->ratios, sum->banded) =
            prediction->high_s / prediction->low_s;
        sum->covered += measured_s >= prediction->low_s && measured_s <= prediction->high_s;
    }
}

struct ar_library_error ar_error_sum_end(const struct ar_error_sum *sum)
{
    struct ar_library_error error = ar_library_error_of(sum->errors, sum->count, sum->covered);
    error.covered_frac = sum->banded > 0 ? (double)sum->covered / (double)sum->banded : NAN;
    if (sum->banded > 0) {
        ar_sort(sum->ratios, sum->banded);
        error.band_ratio = ar_quantile(sum->ratios, sum->banded, 0.5);
    }
    return error;
}

void ar_comparison_sum(const struct ar_library_nodes *counts, bool is_by_gpus,
                       struct ar_comparison *comparison)
{
    struct ar_arena *arena = comparison->arena;
    comparison->is_by_gpus = is_by_gpus;
    comparison->errors =
        ar_arena_alloc(arena, AR_COMPARED_SETS * (counts->count + 1), sizeof *comparison->errors);
    for (size_t i = 0; i < AR_COMPARED_SETS * (counts->count + 1); i++) {
        struct ar_error_sum model = {.arena = arena}, tuning = {.arena = arena};
        size_t place = i % (counts->count + 1);
        struct ar_compared_error line = {.set = (enum ar_compared_set)(i / (counts->count + 1)),
                                         .nodes =
                                             place == 0 ? AR_NO_COUNT : counts->counts[place - 1]};
        AR_EACH(const struct ar_compared, row, comparison->rows, comparison->rows_count) {
            uint32_t count = is_by_gpus ? row->row.run.ranks : row->row.run.nodes;
            if (row->set == line.set && (line.nodes == AR_NO_COUNT || line.nodes == count)) {
                double measured_s = row->row.time_s;
                ar_error_sum_add(&model, measured_s, &row->prediction);
                const struct ar_library_prediction own = ar_library_banded(0, row->tuning_s, NAN);
                ar_error_sum_add(&tuning, measured_s, &own);
            }
        }
        line.model = ar_error_sum_end(&model);
        line.tuning = ar_error_sum_end(&tuning);
        if (line.model.count > 0) {
            comparison->errors[comparison->errors_count++] = line;
        }
    }
}

/* --- predictions by an engine -------------------------------------------------------------- */

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
        return scenario->table != NULL &&
                       ar_scenario_library(scenario) == &scenario->table->library &&
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

/* Compares a call of NCCL: by one call of the library, if the algorithm is nothing else. */
static enum ar_status compare_call(const struct ar_scenario *scenario,
                                   const struct ar_measured_row *row,
                                   struct ar_comparison *comparison, struct ar_error *err)
{
    enum ar_calls calls = ar_algorithm_calls(scenario->algorithm);
    bool is_call = calls == AR_CALLS_ANY || calls == AR_CALLS_RING || calls == AR_CALLS_TREE;
    struct ar_library_prediction prediction = {.choice = 0};
    if (!is_call || calls != AR_CALLS_ANY) { /* also to refuse what it cannot run */
        /* Predicts a call as a bare collective. Ranks fill the nodes of a collective, so a run that
         * leaves GPUs idle is another one. */
        struct ar_row predicted;
        struct ar_scenario one = *scenario;
        uint32_t gpus = ar_cluster_facts(scenario->cluster)->gpus_per_node;
        uint32_t element_bytes = ar_precisions[scenario->precision].unit_bytes;
        one.gpus = row->call.run.ranks;
        one.payload_bytes =
            ((uint64_t)row->call.run.bytes + element_bytes - 1) / element_bytes * element_bytes;
        AR_REFUSE((row->call.run.ranks + gpus - 1) / gpus != row->call.run.nodes, err, AR_BAD_DATA,
                  "compare: found %" PRIu32 " GPUs on %" PRIu32 " nodes of %" PRIu32
                  "; expected full nodes with --engine %s",
                  row->call.run.ranks, row->call.run.nodes, gpus, scenario->engine->name);
        AR_TRY(ar_scenario_check(&one, err));
        AR_TRY(ar_run(&one, &predicted, err));
        prediction = (struct ar_library_prediction){
            .time_s = predicted.allreduce_s, .low_s = predicted.low_s, .high_s = predicted.high_s};
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

/* Gives a trial the flows of its collective: those kept of the rows before, or new ones, kept. */
static enum ar_status keep_flows(const struct ar_engine *engine, struct ar_flows **kept,
                                 struct ar_trial *trial, struct ar_error *err)
{
    if (*kept == NULL || !ar_link_is_same(&(*kept)->collective, &trial->collective)) {
        ar_flows_destroy(*kept);
        AR_TRY(ar_engine_make_flows(engine, &trial->collective, kept, err));
    }
    trial->flows = *kept;
    return AR_OK;
}

/* Compares the messages of an algorithm, as it was run; on links with the numbers that other
 * machines tell (the second of those kept), as far as the weight of the kind of the row says. */
static enum ar_status compare_algorithm(const struct ar_measured *measured,
                                        const struct ar_measured_row *row, struct ar_flows *kept[2],
                                        struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_scenario *scenario = measured->request->scenario;
    struct ar_call call = {.elements = row->messages.elements};
    struct ar_call_time time;
    struct ar_trial trial = {
        .collective = row->messages.collective, .calls = &call, .calls_count = 1, .times = &time};
    const struct ar_engine *engine = /* operations that a library has no model of are messages */
        ar_engine_of_messages(scenario->engine);
    const struct ar_library_run *run = &row->call.run;
    struct ar_told kind = {.weight = 0, .reach = NAN};
    struct ar_cluster *cluster = NULL; /* of the row, to be changed */
    double costs[AR_LINK_COSTS_COUNT], times_s[2] = {1, 1};
    for (size_t i = 0; measured->request->factors != NULL && i < measured->machines_count; i++) {
        if (measured->machines[i].cluster == trial.collective.cluster) {
            cluster = measured->machines[i].cluster;
            kind =
                ar_told_at(measured->request->factors->message_kinds[run->nodes > 1], run->bytes);
        }
    }
    for (int is_told = kind.weight == 1; is_told <= (kind.weight > 0); is_told++) {
        if (is_told) {
            ar_cluster_keep_link_costs(cluster, costs);
            ar_estimate_tell_links(measured->request, cluster);
        }
        enum ar_status status = keep_flows(engine, &kept[is_told], &trial, err);
        status = status == AR_OK ? ar_trial_run(&trial, engine, err) : status;
        if (is_told) {
            ar_cluster_restore_link_costs(cluster, costs);
        }
        AR_TRY(status);
        times_s[is_told] = time.finish_s - time.start_s;
    }
    struct ar_library_prediction prediction =
        ar_library_banded(0, ar_told_mix(times_s[0], times_s[1], kind.weight), kind.reach);
    ar_comparison_add(comparison, row, fitted_set(scenario, row), &prediction, NULL);
    return AR_OK;
}

enum ar_status ar_comparison_run(const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_scenario *scenario = measured->request->scenario;
    struct ar_collective any = {.cluster = scenario->cluster,
                                .operation = &ar_operation_all_reduce,
                                .shape = {.x = 1, .y = 1}};
    if (measured->calls_count == 0) {
        /* Refuses keys that messages do not take: an engine of a library and, where rows name what
         * they ran, an algorithm. */
        static const enum ar_key keys[] = {AR_KEY_TUNING, AR_KEY_ALGORITHM, AR_KEY_CHANNELS};
        bool is_named = measured->rows[0].run->algorithm[0] != '\0';
        AR_REFUSE(ar_engine_of_messages(scenario->engine) != scenario->engine, err, AR_USAGE,
                  "compare: found messages of algorithms with --engine %s; expected --engine "
                  "closed, recurrence or simgrid",
                  scenario->engine->name);
        for (size_t i = 0; is_named && i < sizeof keys / sizeof keys[0]; i++) {
            AR_REFUSE(ar_scenario_has(scenario, keys[i]), err, AR_USAGE,
                      "compare: found %s with messages of algorithms; expected none, since each "
                      "row names its own and none is of NCCL",
                      ar_keys[keys[i]].option);
        }
    } else { /* before any row is asked for */
        AR_TRY(ar_engine_check(scenario->engine, &any, library_of(scenario), err));
    }
    if (measured->calls_count > 0 && ar_engine_is_fitted(scenario->engine) &&
        scenario->table == NULL) {
        ar_note(measured->request->notes,
                "cluster %s has no library.cost_table: nothing is fitted, the model has %s "
                "('allreckon calibrate' fits it to measured rows)",
                ar_cluster_facts(scenario->cluster)->name,
                scenario->machines != NULL ? "what other machines tell" : "its priors");
    }
    *comparison = ar_comparison_begin(measured->rows_count, arena);
    struct ar_flows *kept[2] = {NULL, NULL};
    enum ar_status status = AR_OK;
    for (size_t i = 0; i < measured->rows_count && status == AR_OK; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        status = row->is_call ? compare_call(scenario, row, comparison, err)
                              : compare_algorithm(measured, row, kept, comparison, err);
    }
    ar_flows_destroy(kept[0]);
    ar_flows_destroy(kept[1]);
    AR_TRY(status);
    qsort(comparison->rows, comparison->rows_count, sizeof *comparison->rows, compare_order);
    ar_comparison_sum(ar_measured_groups(measured), measured->is_by_gpus, comparison);
    return AR_OK;
}

/* --- predictions by a fit to a measured set ------------------------------------------------ */

/* Whether a row of the set itself is the same as a further one. */
static bool set_has_row(const struct ar_measured *measured, const struct ar_measured_row *row)
{
    AR_EACH(const struct ar_measured_row, known, measured->rows, measured->rows_count) {
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

enum ar_status ar_comparison_run_set(const struct ar_set_rows *rows, struct ar_arena *arena,
                                     struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_measured *measured = rows->measured;
    struct ar_estimate *estimate = NULL, *unfitted = NULL;
    struct ar_error why;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    *comparison = ar_comparison_begin(measured->rows_count, arena);
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = measured->rows[i].is_known;
    }
    enum ar_status status = ar_estimate_run(measured, is_fitted, arena, &estimate, &why);
    bool has_fit = status == AR_OK;
    AR_REFUSE(!has_fit && status != AR_BAD_DATA, err, status, "%s", why.text);
    ar_note(rows->request.notes, "measured set %s: --cluster %s, %s%s", rows->set->name,
            rows->set->cluster,
            has_fit ? "fitted to its shipped rows" : "some rows with nothing fitted: ",
            has_fit ? "" : why.text);
    if (!has_fit) {
        AR_TRY(ar_estimate_run(measured, NULL, arena, &unfitted, err));
    }
    ar_estimate_correct(measured, is_fitted, arena, estimate);
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        bool is_of_fit = has_fit || isfinite(estimate->predictions[i].time_s);
        bool is_in_fit = is_of_fit && set_has_row(measured, row);
        if (!row->is_known) {
            ar_comparison_add(comparison, row,
                              is_in_fit ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT,
                              &(is_of_fit ? estimate : unfitted)->predictions[i],
                              estimate->has_library ? &estimate->library.tuning : NULL);
        }
    }
    qsort(comparison->rows, comparison->rows_count, sizeof *comparison->rows, compare_order);
    ar_comparison_sum(&measured->nodes, false, comparison);
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

static const char *const set_names[] = {
    [AR_COMPARED_FITTED] = "fitted", [AR_COMPARED_HELD_OUT] = "held-out",
    [AR_COMPARED_FOLD] = "fold",     [AR_COMPARED_UNFITTED] = "nothing-fitted",
    [AR_COMPARED_SETS] = "",         NULL};

#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct ar_compared, field, name, __VA_ARGS__)
#define ERROR(kind, field, name, ...)                                                              \
    AR_COLUMN(kind, struct ar_compared_error, field, name, __VA_ARGS__)
#define MICROSECONDS(title) .heading = title "\n(us)", .factor = 1e6, .decimals = 2
#define SIGNED_PERCENT      .heading = "error\n(%)", .factor = 100, .decimals = 1, .is_signed = true
#define PERCENT(title)      .heading = title, .factor = 100, .decimals = 2

static const struct ar_column row_columns[] = {
    ROW(string, operation, "operation", "collective", .heading = "operation", .usual = "allreduce",
        .is_rare = true),
    ROW(string, called, "called", "algorithm, as the library calls it", .heading = "called",
        .is_rare = true, .priority = 5),
    ROW(count, row.run.nodes, "nodes", "of the run", .heading = "nodes"),
    ROW(count, row.run.ranks, "gpus", "of the run", .heading = "gpus"),
    ROW(string, choice, "choice", "algorithm and protocol", .heading = "choice"),
    ROW(choice, set, "set", "what the row was to the fit", .heading = "rows", .names = set_names),
    ROW(count, payload_bytes, "payload_bytes", "of one rank", .heading = "payload\n(B)"),
    ROW(number, row.time_s, "measured_s", "time", MICROSECONDS("measured")),
    ROW(number, prediction.time_s, "predicted_s", "time", MICROSECONDS("predicted")),
    ROW(number, prediction.low_s, "low_s", "of the 95 % band", MICROSECONDS("low"), .is_rare = true,
        .priority = 3),
    ROW(number, prediction.high_s, "high_s", "of the 95 % band", MICROSECONDS("high"),
        .is_rare = true, .priority = 3),
    ROW(number, error_frac, "error_frac", "predicted / measured - 1", SIGNED_PERCENT),
    ROW(number, tuning_s, "tuning_s", "by NCCL's own constants", MICROSECONDS("NCCL's own"),
        .is_rare = true, .priority = 9),
    ROW(number, tuning_error_frac, "tuning_error_frac", "of them", SIGNED_PERCENT, .is_rare = true,
        .priority = 9),
};

const struct ar_columns ar_comparison_columns = AR_COLUMNS(row_columns);

static const struct ar_column error_columns[AR_COMPARED_ERROR_COLUMNS] = {
    ERROR(choice, set, "set", "what the rows were to the fit", .heading = "rows",
          .names = set_names),
    ERROR(count, nodes, "nodes", "count of the rows; all if empty", .heading = "nodes"),
    ERROR(count, model.count, "rows", "how many", .heading = "count"),
    ERROR(number, model.median_frac, "median_frac", "of |predicted / measured - 1|",
          PERCENT("error, median\n(%)")),
    ERROR(number, model.mean_frac, "mean_frac", "of the same", PERCENT("mean\n(%)")),
    ERROR(number, model.p95_frac, "p95_frac", "95th percentile", PERCENT("95th %\n(%)"),
          .priority = 3),
    ERROR(number, model.worst_frac, "worst_frac", "largest", PERCENT("worst\n(%)")),
    ERROR(number, model.covered_frac, "covered_frac", "rows within their 95 % band",
          .heading = "inside band\n(%)", .factor = 100, .decimals = 1, .is_rare = true),
    ERROR(number, tuning.median_frac, "tuning_median_frac", "the same by NCCL's own constants",
          PERCENT("NCCL's own, median\n(%)"), .is_rare = true, .priority = 4),
    ERROR(number, tuning.mean_frac, "tuning_mean_frac", "of them", PERCENT("mean\n(%)"),
          .is_rare = true, .priority = 7),
    ERROR(number, tuning.p95_frac, "tuning_p95_frac", "of them", PERCENT("95th %\n(%)"),
          .is_rare = true, .priority = 9),
    ERROR(number, tuning.worst_frac, "tuning_worst_frac", "of them", PERCENT("worst\n(%)"),
          .is_rare = true, .priority = 8),
};

void ar_compared_error_columns(bool is_by_gpus, size_t offset,
                               struct ar_column columns[AR_COMPARED_ERROR_COLUMNS])
{
    memcpy(columns, error_columns, sizeof error_columns);
    for (size_t i = 0; i < AR_COMPARED_ERROR_COLUMNS; i++) {
        columns[i].offset += offset;
    }
    if (is_by_gpus) {
        columns[1].name = "gpus";
        columns[1].heading = "gpus";
    }
}

void ar_comparison_write_errors(FILE *file, const struct ar_view *view,
                                const struct ar_comparison *comparison)
{
    struct ar_column list[AR_COMPARED_ERROR_COLUMNS];
    struct ar_view all = {.format = view->format, .width = view->columns == NULL ? view->width : 0};
    ar_compared_error_columns(comparison->is_by_gpus, 0, list);
    ar_records_write(file, &all, AR_COLUMNS(list), comparison->errors, comparison->errors_count);
}

void ar_comparison_write(FILE *file, const struct ar_view *view,
                         const struct ar_comparison *comparison)
{
    ar_records_write(file, view, ar_comparison_columns, comparison->rows, comparison->rows_count);
    if (view->format == AR_FORMAT_TABLE) {
        fputc('\n', file);
        ar_comparison_write_errors(file, view, comparison);
    }
}

enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_error *err)
{
    struct ar_column list[AR_COMPARED_ERROR_COLUMNS];
    ar_compared_error_columns(comparison->is_by_gpus, 0, list);
    AR_TRY(ar_records_save(directory, "compare.csv", ar_comparison_columns, comparison->rows,
                           comparison->rows_count, err));
    return ar_records_save(directory, "accuracy.csv", AR_COLUMNS(list), comparison->errors,
                           comparison->errors_count, err);
}
