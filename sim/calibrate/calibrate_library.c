/* A fit of NCCL to measured rows: which are fitted, which held out, what came of it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_units.h"
#include "calibration.h"

#define RESIDUAL_MAX 0.5

/* NCCL's own table with the rates of the cluster, which must say them. */
static enum ar_status find_tuning(const struct ar_calibrate_request *request,
                                  const struct ar_cluster *cluster, struct ar_tuning *tuning,
                                  struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    bool has_node = facts->library_node_bus_Bps > 0;
    if (!has_node || (facts->nodes_count > 1 && facts->library_net_bus_Bps == 0)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "cluster %s: key \"%s\": found nowhere; expected the bandwidth of the "
                            "rings that NCCL finds %s (channels x speed in its log with "
                            "NCCL_DEBUG_SUBSYS=GRAPH), such as --set %s=%s",
                            facts->name, has_node ? "library.net_bus" : "library.node_bus",
                            has_node ? "across the network" : "in a node",
                            has_node ? "library.net_bus" : "library.node_bus",
                            has_node ? "24GB/s" : "132GB/s");
    }
    return ar_library_engine_tuning(cluster, request->scenario->release, NULL, tuning, err);
}

/* Fits all rows but those on the node counts of `left_out`. */
static enum ar_status fit_rows(const struct ar_tuning *tuning, const struct ar_measured *measured,
                               const struct ar_library_nodes *left_out, struct ar_arena *arena,
                               struct ar_library *library, struct ar_error *err)
{
    struct ar_library_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (!ar_library_nodes_have(left_out, measured->rows[i].run.nodes)) {
            rows[count++] = measured->rows[i];
        }
    }
    return ar_library_fit(tuning, rows, count, library, err);
}

/* Rows that are nothing like the model still have a best fit. */
static enum ar_status check_residual(const struct ar_library *library, struct ar_error *err)
{
    if (library->residual_frac < RESIDUAL_MAX) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "fit: found a residual of %.0f %% over %" PRIu32 " rows; expected less "
                        "than %.0f %%, all-reduces that resemble those of %s with such rings",
                        library->residual_frac * 100, library->rows_count, RESIDUAL_MAX * 100,
                        library->tuning.release->name);
}

/* --- predicted beside measured ------------------------------------------------------------ */

static void compare(struct calibration *calibration, const struct ar_library *library,
                    const struct ar_library_row *row, enum ar_compared_set set)
{
    struct ar_library_prediction prediction = ar_library_predict(library, AR_CALLS_ANY, &row->run);
    ar_comparison_add(&calibration->compared, row, set, ar_choices[prediction.choice].name,
                      &prediction, &library->tuning);
}

/* Rows of `nodes` nodes, by a fit to all others. */
static enum ar_status compare_fold(const struct ar_tuning *tuning, uint32_t nodes,
                                   struct ar_arena *arena, struct calibration *calibration,
                                   struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    struct ar_error why;
    struct ar_library_nodes left_out = {.counts = {nodes}, .count = 1};
    struct ar_library *library = ar_arena_alloc(arena, 1, sizeof *library);
    if (library == NULL) {
        return ar_error_no_memory(err, "a fit");
    }
    enum ar_status status = fit_rows(tuning, measured, &left_out, arena, library, &why);
    if (status != AR_OK) {
        return ar_error_set(err, status, "--folds: without %" PRIu32 " nodes: %.400s", nodes,
                            why.text);
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (measured->rows[i].run.nodes == nodes) {
            compare(calibration, library, &measured->rows[i], AR_COMPARED_FOLD);
        }
    }
    return AR_OK;
}

/* --- what came of it ---------------------------------------------------------------------- */

static const char *value_text(enum ar_library_parameter parameter, double value,
                              struct ar_arena *arena)
{
    char text[AR_UNIT_TEXT];
    const char *unit = ar_library_parameters[parameter].unit;
    return ar_arena_text(arena, strcmp(unit, "s") == 0 ? ar_format_seconds(value, text)
                                : strcmp(unit, "B") == 0
                                    ? ar_format_bytes((uint64_t)llround(value), text)
                                    : ar_format_rate(value, text));
}

static struct parameter parameter_of(const struct ar_library *library,
                                     enum ar_library_parameter parameter, struct ar_arena *arena)
{
    double prior = ar_library_parameter_prior(&library->tuning, parameter);
    bool is_identified = library->is_identified[parameter];
    return (struct parameter){
        .kind = "parameter",
        .parameter = ar_library_parameters[parameter].name,
        .value = library->values[parameter],
        .unit = ar_library_parameters[parameter].unit,
        .relative_standard_error = sqrt(library->covariance[parameter][parameter]),
        .identified = is_identified,
        .state = is_identified ? "identified" : "not identified",
        .prior = prior,
        .prior_source = ar_library_parameter_prior_source(&library->tuning, parameter),
        .value_text = value_text(parameter, library->values[parameter], arena),
        .prior_text = value_text(parameter, prior, arena),
    };
}

static enum ar_status take_library(struct calibration *calibration,
                                   const struct ar_library *library, struct ar_arena *arena,
                                   struct ar_error *err)
{
    const struct ar_tuning *tuning = &library->tuning;
    char node[AR_UNIT_TEXT];
    char net[AR_UNIT_TEXT];
    calibration->what = "NCCL";
    calibration->model = ar_arena_format(
        arena, "%s with rings of %s in a node and %s across the network", tuning->release->name,
        ar_format_rate(tuning->node_bus_Bps, node),
        tuning->net_bus_Bps > 0 ? ar_format_rate(tuning->net_bus_Bps, net) : "none");
    calibration->tuning = tuning->release->name;
    calibration->node_bus_Bps = tuning->node_bus_Bps;
    calibration->net_bus_Bps = tuning->net_bus_Bps;
    calibration->rows_count = library->rows_count;
    calibration->residual_frac = library->residual_frac;
    calibration->parameters_count = AR_LIBRARY_PARAMETERS_COUNT;
    calibration->parameters =
        ar_arena_alloc(arena, AR_LIBRARY_PARAMETERS_COUNT, sizeof *calibration->parameters);
    if (calibration->model == NULL || calibration->parameters == NULL) {
        return ar_error_no_memory(err, "a fit");
    }
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        calibration->parameters[i] = parameter_of(library, (enum ar_library_parameter)i, arena);
    }
    return AR_OK;
}

enum ar_status calibrate_library(const struct ar_calibrate_request *request,
                                 const struct ar_cluster *cluster, struct ar_arena *arena,
                                 struct calibration *calibration, struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    struct ar_tuning tuning;
    struct ar_library_table *table = ar_arena_alloc(arena, 1, sizeof *table);
    calibration->table = table;
    if (table == NULL) {
        return ar_error_no_memory(err, "a fit");
    }
    AR_TRY(ar_comparison_begin(2 * measured->rows_count, arena, &calibration->compared, err));
    AR_TRY(find_tuning(request, cluster, &tuning, err));
    AR_TRY(calibration_split(request, calibration, err));
    table->fitted = calibration->fitted;
    table->held_out = calibration->held_out;
    AR_TRY(fit_rows(&tuning, measured, &table->held_out, arena, &table->library, err));
    AR_TRY(check_residual(&table->library, err));
    AR_TRY(take_library(calibration, &table->library, arena, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_library_row *row = &measured->rows[i];
        compare(calibration, &table->library, row, calibration_set(calibration, &row->run));
    }
    for (size_t i = 0; request->folds && i < measured->nodes.count; i++) {
        AR_TRY(compare_fold(&tuning, measured->nodes.counts[i], arena, calibration, err));
    }
    return ar_comparison_sum(measured, arena, &calibration->compared, err);
}
