#include "ar_estimate.h"

#include <math.h>
#include <stdio.h>

#include "ar_library_engine.h"
#include "ar_residual.h"

/* The rows of one kind, as its fit takes them. */
struct part {
    const struct ar_measured *measured;
    bool is_call;
    size_t *rows; /* their places among the measured ones, */
    size_t count;
    size_t *fitted; /* and those of them that are fitted */
    size_t fitted_count;
};

static enum ar_status sort_out(const struct ar_measured *measured, bool is_call,
                               const bool *is_fitted, struct ar_arena *arena, struct part *part,
                               struct ar_error *err)
{
    *part = (struct part){
        .measured = measured,
        .is_call = is_call,
        .rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *part->rows),
        .fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *part->fitted)};
    AR_NEED(part->rows && part->fitted, err, "the rows of a fit");
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (measured->rows[i].is_call == is_call) {
            part->rows[part->count++] = i;
            if (is_fitted != NULL && is_fitted[i]) {
                part->fitted[part->fitted_count++] = i;
            }
        }
    }
    return AR_OK;
}

/* --- calls -------------------------------------------------------------------------------- */

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

static enum ar_status fit_calls(const struct ar_cluster *cluster, const struct ar_tuning *tuning,
                                const struct part *part, struct ar_arena *arena,
                                struct ar_library *library, struct ar_error *err)
{
    struct ar_library_row *rows = ar_arena_alloc(arena, part->fitted_count + 1, sizeof *rows);
    AR_NEED(rows, err, "the rows of a fit");
    for (size_t i = 0; i < part->fitted_count; i++) {
        rows[i] = ar_library_engine_row(cluster, &part->measured->rows[part->fitted[i]].call);
    }
    return ar_library_fit(tuning, rows, part->fitted_count, library, err);
}

static enum ar_status estimate_calls(const struct ar_calibrate_request *request,
                                     const struct part *part, bool is_fit, struct ar_arena *arena,
                                     struct ar_estimate *estimate, struct ar_error *err)
{
    const struct ar_cluster *cluster = request->scenario->cluster;
    struct ar_tuning tuning;
    if (part->count == 0) {
        return AR_OK;
    }
    AR_TRY(find_tuning(request, cluster, &tuning, err));
    if (is_fit) {
        AR_TRY(fit_calls(cluster, &tuning, part, arena, &estimate->library, err));
        estimate->has_library = true;
    } else {
        ar_library_start(&tuning, &estimate->library);
    }
    for (size_t i = 0; i < part->count; i++) {
        struct ar_library_row row =
            ar_library_engine_row(cluster, &part->measured->rows[part->rows[i]].call);
        estimate->predictions[part->rows[i]] =
            ar_library_predict(&estimate->library, row.calls, &row.run);
    }
    return AR_OK;
}

/* --- messages ----------------------------------------------------------------------------- */

static enum ar_status copy_messages(const struct part *part, const size_t *places, size_t count,
                                    struct ar_arena *arena, struct ar_link_row **rows,
                                    struct ar_error *err)
{
    *rows = ar_arena_alloc(arena, count + 1, sizeof **rows);
    for (size_t i = 0; i < count && *rows != NULL; i++) {
        (*rows)[i] = part->measured->rows[places[i]].messages;
    }
    return *rows != NULL ? AR_OK : ar_error_no_memory(err, "the rows of a fit");
}

const struct ar_setting *ar_estimate_setting(const struct ar_settings *settings,
                                             enum ar_link_cost cost)
{
    char text[64];
    snprintf(text, sizeof text, "%s=", ar_link_cost_key(cost));
    return ar_settings_find(settings, text);
}

/* The largest runs of messages would take most of the time. */
bool ar_estimate_takes(const struct ar_measured_row *row)
{
    return row->is_call || ar_collective_ranks(&row->messages.collective) <= AR_ESTIMATE_RANKS_MAX;
}

static enum ar_status fit_messages(const struct part *part, struct ar_cluster **clusters,
                                   struct ar_arena *arena, struct ar_link_fit *links,
                                   struct ar_error *err)
{
    struct ar_link_row *rows;
    size_t count = 0;
    AR_TRY(copy_messages(part, part->fitted, part->fitted_count, arena, &rows, err));
    for (size_t i = 0; i < part->fitted_count; i++) {
        if (ar_estimate_takes(&part->measured->rows[part->fitted[i]])) {
            rows[count++] = rows[i];
        }
    }
    if (count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found no messages of at most %d ranks; expected some",
                            AR_ESTIMATE_RANKS_MAX);
    }
    return ar_link_fit(clusters, part->measured->machines_count, rows, count, links, err);
}

/* `spread` is that of the fitted rows, on `nodes_max` nodes at most; NAN: nothing was fitted. */
static enum ar_status predict_messages(const struct part *part, double spread, double nodes_max,
                                       struct ar_arena *arena,
                                       struct ar_library_prediction *predictions,
                                       struct ar_error *err)
{
    struct ar_link_row *rows;
    double *times_s = ar_arena_alloc(arena, part->count + 1, sizeof *times_s);
    AR_NEED(times_s, err, "predictions");
    AR_TRY(copy_messages(part, part->rows, part->count, arena, &rows, err));
    AR_TRY(ar_link_predict(rows, part->count, times_s, err));
    for (size_t i = 0; i < part->count; i++) {
        double nodes = part->measured->rows[part->rows[i]].call.run.nodes;
        double deviations =
            AR_BAND95_DEVIATIONS * sqrt(spread * spread + ar_residual_away(nodes, nodes_max));
        predictions[part->rows[i]] =
            (struct ar_library_prediction){.time_s = times_s[i],
                                           .low_s = times_s[i] * exp(-deviations),
                                           .high_s = times_s[i] * exp(deviations)};
    }
    return AR_OK;
}

static double fitted_nodes_max(const struct part *part)
{
    double max = 0;
    for (size_t i = 0; i < part->fitted_count; i++) {
        max = fmax(max, part->measured->rows[part->fitted[i]].call.run.nodes);
    }
    return max;
}

/* Opens numbers that the machines have at 0, but for those that the command line or a set gives:
 * a file that says 0 stands for what a model has beforehand. */
static void open_costs(const struct ar_settings *settings, struct ar_cluster **clusters,
                       size_t count, const char **sources)
{
    bool is_closed[AR_LINK_COSTS_COUNT];
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        is_closed[i] = ar_estimate_setting(settings, (enum ar_link_cost)i) != NULL;
    }
    for (size_t i = 0; i < count; i++) {
        ar_link_fit_open(clusters[i], is_closed, sources);
    }
}

/* The clusters are left with what was fitted. */
static enum ar_status fit_and_predict(const struct ar_settings *settings, const struct part *part,
                                      struct ar_cluster **clusters, struct ar_arena *arena,
                                      struct ar_estimate *estimate, struct ar_error *err)
{
    /* What messages cost a host is no number of the harness, whose ranks are threads or few. */
    bool is_of_harness = part->measured->backend[0] != '\0';
    if (!is_of_harness) {
        open_costs(settings, clusters, part->measured->machines_count, estimate->sources);
    }
    AR_TRY(fit_messages(part, clusters, arena, &estimate->links, err));
    estimate->has_links = true;
    return predict_messages(part, estimate->links.residual_frac, fitted_nodes_max(part), arena,
                            estimate->predictions, err);
}

static enum ar_status estimate_messages(const struct ar_settings *settings, const struct part *part,
                                        bool is_fit, struct ar_arena *arena,
                                        struct ar_estimate *estimate, struct ar_error *err)
{
    size_t count = part->measured->machines_count;
    struct ar_cluster **clusters = ar_arena_alloc(arena, count + 1, sizeof(struct ar_cluster *));
    double(*costs)[AR_LINK_COSTS_COUNT] = ar_arena_alloc(arena, count + 1, sizeof *costs);
    AR_NEED(clusters && costs, err, "clusters");
    for (size_t i = 0; i < count; i++) {
        clusters[i] = part->measured->machines[i].cluster;
        ar_cluster_keep_link_costs(clusters[i], costs[i]);
    }
    if (part->count == 0 || !is_fit) {
        return part->count == 0 ? AR_OK
                                : predict_messages(part, NAN, 0, arena, estimate->predictions, err);
    }
    enum ar_status status = fit_and_predict(settings, part, clusters, arena, estimate, err);
    for (size_t i = 0; i < count; i++) {
        ar_cluster_restore_link_costs(clusters[i], costs[i]);
    }
    return status;
}

/* --- both --------------------------------------------------------------------------------- */

enum ar_status ar_estimate_run(const struct ar_calibrate_request *request,
                               const struct ar_measured *measured, const bool *is_fitted,
                               struct ar_arena *arena, struct ar_estimate **estimate,
                               struct ar_error *err)
{
    struct part calls;
    struct part messages;
    struct ar_error ignored;
    struct ar_estimate *made = ar_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL || (made->predictions = ar_arena_alloc(arena, measured->rows_count + 1,
                                                            sizeof *made->predictions)) == NULL) {
        return ar_error_no_memory(err, "an estimate");
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        made->predictions[i] =
            (struct ar_library_prediction){.time_s = NAN, .low_s = NAN, .high_s = NAN};
    }
    *estimate = made;
    AR_TRY(sort_out(measured, true, is_fitted, arena, &calls, err));
    AR_TRY(sort_out(measured, false, is_fitted, arena, &messages, err));
    enum ar_status status = estimate_calls(request, &calls, is_fitted != NULL, arena, made, err);
    enum ar_status other =
        estimate_messages(&request->scenario->settings, &messages, is_fitted != NULL, arena, made,
                          status == AR_OK ? err : &ignored);
    return status != AR_OK ? status : other;
}
