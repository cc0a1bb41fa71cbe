#include "ar_estimate.h"

#include <math.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_residual.h"

/* How many of its deviations the band of a row reaches that was not fitted: conformal quantiles of
 * all rows that were left out of their kind ('allreckon accuracy'). On more nodes those of calls
 * are 1.83, thus of a normal distribution. [messages or calls] */
static const double own_deviations[] = {2.64, 2.47};
static const double more_nodes_deviations[] = {2.5, AR_BAND95_DEVIATIONS};
static const double other_algorithm_deviations[] = {2.65, 5.01};

/* --- calls --------------------------------------------------------------------------------- */

/* Fits and predicts the calls of a library by NCCL's own table with the rates of the cluster. */
static enum ar_status estimate_calls(const struct ar_measured *measured, const bool *is_fitted,
                                     struct ar_arena *arena, struct ar_estimate *estimate,
                                     struct ar_error *err)
{
    const struct ar_cluster *cluster = measured->request->scenario->cluster;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    bool has_node = facts->library_node_bus_Bps > 0;
    const char *key = has_node ? "library.net_bus" : "library.node_bus";
    struct ar_tuning tuning;
    struct ar_library_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    size_t fitted = 0;
    AR_REFUSE(!has_node || (facts->nodes_count > 1 && facts->library_net_bus_Bps == 0), err,
              AR_BAD_DATA,
              "cluster %s: key \"%s\": found nowhere; expected the rate of NCCL's rings %s (in its "
              "log by NCCL_DEBUG_SUBSYS=GRAPH: channels x speed): --set %s=24GB/s",
              facts->name, key, has_node ? "across the network" : "in a node", key);
    AR_TRY(ar_library_engine_tuning(cluster, measured->request->scenario->release, NULL, &tuning,
                                    err));
    tuning.factor_logs =
        measured->request->factors != NULL ? measured->request->factors->calls : NULL;
    for (size_t i = 0; is_fitted != NULL && i < measured->rows_count; i++) {
        if (measured->rows[i].is_call && is_fitted[i]) {
            rows[fitted++] = ar_library_engine_row(cluster, &measured->rows[i].call);
        }
    }
    if (is_fitted != NULL) {
        AR_TRY(ar_library_fit(&tuning, rows, fitted, &estimate->library, err));
        estimate->has_library = true;
    } else {
        ar_library_start(&tuning, &estimate->library);
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (measured->rows[i].is_call) {
            struct ar_library_row row = ar_library_engine_row(cluster, &measured->rows[i].call);
            estimate->predictions[i] = ar_library_predict(&estimate->library, row.calls, &row.run);
        }
    }
    return AR_OK;
}

/* --- messages ------------------------------------------------------------------------------ */

/* The largest runs of messages would take most of the time. */
bool ar_estimate_takes(const struct ar_measured_row *row)
{
    return row->is_call || ar_collective_ranks(&row->messages.collective) <= AR_ESTIMATE_RANKS_MAX;
}

/* Fits the numbers of the machines, which keep them, to marked rows of messages. */
static enum ar_status fit_messages(const struct ar_measured *measured, const bool *is_fitted,
                                   struct ar_cluster **clusters, struct ar_arena *arena,
                                   struct ar_estimate *estimate, struct ar_error *err)
{
    struct ar_link_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    size_t count = 0;
    /* Numbers that the machines have at 0 are opened, but for those that the command line or a set
     * gives: there is a prior for them. The harness, whose ranks are threads or few, has none of
     * the costs that messages have on a host. */
    for (size_t i = 0; i < measured->machines_count && measured->backend[0] == '\0'; i++) {
        ar_link_fit_open(clusters[i], &measured->request->scenario->settings);
    }
    estimate->has_links = measured->request->links != NULL;
    for (size_t i = 0; estimate->has_links && i < measured->machines_count; i++) {
        for (int k = 0; k < AR_LINK_COSTS_COUNT; k++) {
            if (measured->request->links->numbers[k].state >= AR_LINK_UNIDENTIFIED) {
                AR_TRY(ar_cluster_set_link_cost(clusters[i], (enum ar_link_cost)k,
                                                measured->request->links->numbers[k].value, err));
            }
        }
    }
    if (estimate->has_links) {
        estimate->links = *measured->request->links;
        return AR_OK;
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        if (!row->is_call && is_fitted[i] && ar_estimate_takes(row)) {
            rows[count++] = row->messages;
        }
    }
    AR_REFUSE(count == 0, err, AR_BAD_DATA,
              "fit: found no messages of at most %d ranks among rows that are not held out; "
              "expected some",
              AR_ESTIMATE_RANKS_MAX);
    AR_TRY(ar_link_fit(clusters, measured->machines_count, rows, count, &estimate->links, err));
    estimate->has_links = true;
    return AR_OK;
}

/* Predicts messages on the machines as these are. `spread` is that of the fitted rows, on
 * `nodes_max` nodes at most; NAN: nothing was fitted. */
static enum ar_status predict_messages(const struct ar_measured *measured, double spread,
                                       double nodes_max, struct ar_arena *arena,
                                       struct ar_library_prediction *predictions,
                                       struct ar_error *err)
{
    struct ar_link_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    double *times_s = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *times_s);
    size_t count = 0;
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (!measured->rows[i].is_call) {
            rows[count++] = measured->rows[i].messages;
        }
    }
    AR_TRY(ar_link_predict(rows, count, times_s, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (!measured->rows[i].is_call) {
            double away = ar_residual_away(measured->rows[i].call.run.nodes, nodes_max);
            double deviations = AR_BAND95_DEVIATIONS * sqrt(spread * spread + away);
            predictions[i] = ar_library_banded(0, *times_s++, deviations);
        }
    }
    return AR_OK;
}

void ar_estimate_tell_links(const struct ar_measured_request *request, struct ar_cluster *cluster)
{
    ar_link_fit_open(cluster, &request->scenario->settings);
    for (int k = 0; k < AR_LINK_COSTS_COUNT; k++) {
        double value = ar_cluster_link_cost(cluster, (enum ar_link_cost)k);
        if (value > 0) { /* and its factor is */
            value *= exp(request->factors->messages[k]);
            (void)ar_cluster_set_link_cost(cluster, (enum ar_link_cost)k, value, AR_IGNORED);
        }
    }
}

static enum ar_status estimate_messages(const struct ar_measured *measured, const bool *is_fitted,
                                        struct ar_arena *arena, struct ar_estimate *estimate,
                                        struct ar_error *err)
{
    size_t count = measured->machines_count;
    struct ar_cluster **clusters = ar_arena_alloc(arena, count + 1, sizeof(struct ar_cluster *));
    double(*costs)[AR_LINK_COSTS_COUNT] = ar_arena_alloc(arena, count + 1, sizeof *costs);
    double nodes_max = 0;
    enum ar_status status;
    if (is_fitted == NULL && measured->request->factors == NULL) {
        return predict_messages(measured, NAN, 0, arena, estimate->predictions, err);
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (!measured->rows[i].is_call && is_fitted != NULL && is_fitted[i]) {
            nodes_max = fmax(nodes_max, measured->rows[i].call.run.nodes);
        }
    }
    for (size_t i = 0; i < count; i++) {
        clusters[i] = measured->machines[i].cluster;
        ar_cluster_keep_link_costs(clusters[i], costs[i]);
        if (is_fitted == NULL) { /* a fit starts from the numbers of the cluster */
            ar_estimate_tell_links(measured->request, clusters[i]);
        }
    }
    status = is_fitted == NULL ? AR_OK
                               : fit_messages(measured, is_fitted, clusters, arena, estimate, err);
    if (status == AR_OK) {
        status = predict_messages(measured, is_fitted != NULL ? estimate->links.residual_frac : NAN,
                                  nodes_max, arena, estimate->predictions, err);
    }
    for (size_t i = 0; i < count; i++) {
        ar_cluster_restore_link_costs(clusters[i], costs[i]);
    }
    return status;
}

/* --- both ---------------------------------------------------------------------------------- */

enum ar_status ar_estimate_run(const struct ar_measured *measured, const bool *is_fitted,
                               struct ar_arena *arena, struct ar_estimate **estimate,
                               struct ar_error *err)
{
    enum ar_status calls = AR_OK, messages = AR_OK;
    struct ar_estimate *made = ar_arena_alloc(arena, 1, sizeof *made);
    made->predictions = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *made->predictions);
    for (size_t i = 0; i < measured->rows_count; i++) {
        made->predictions[i] = ar_library_banded(0, NAN, NAN);
    }
    *estimate = made;
    if (measured->calls_count > 0) {
        calls = estimate_calls(measured, is_fitted, arena, made, err);
    }
    if (measured->calls_count < measured->rows_count) {
        messages =
            estimate_messages(measured, is_fitted, arena, made, calls == AR_OK ? err : AR_IGNORED);
    }
    return calls != AR_OK ? calls : messages;
}

/* --- corrections --------------------------------------------------------------------------- */

static bool is_same_way(const struct ar_measured_row *a, const struct ar_measured_row *b)
{
    const struct ar_library_run *x = &a->call.run, *y = &b->call.run;
    return (uint64_t)x->ranks * y->nodes == (uint64_t)y->ranks * x->nodes &&
           a->is_call == b->is_call &&
           (a->is_call || (a->operation == b->operation &&
                           a->messages.collective.algorithm == b->messages.collective.algorithm &&
                           strcmp(a->run->algorithm, b->run->algorithm) == 0));
}

/* Corrects the calls, or the messages, whose fitted rows scatter by `residual_frac`. */
static void correct_kind(const struct ar_measured *measured, bool is_call, double residual_frac,
                         const bool *is_fitted, struct ar_arena *arena,
                         struct ar_estimate *estimate)
{
    size_t room = measured->rows_count + 1, known_count = 0, asked_count = 0;
    struct ar_residual *known = ar_arena_alloc(arena, room, sizeof *known);
    struct ar_residual *asked = ar_arena_alloc(arena, room, sizeof *asked);
    size_t *places = ar_arena_alloc(arena, room, sizeof *places);
    double nodes_max = 0;
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_library_prediction *prediction = &estimate->predictions[i];
        if (measured->rows[i].is_call == is_call && isfinite(prediction->time_s)) {
            places[asked_count] = i;
            /* A row as ar_residual_expect() takes it. Its way is the place of the first row that
             * ran the same algorithm, by the name that it was called, on as many GPUs of each node;
             * of calls with the library's choice. */
            const struct ar_measured_row *row = &measured->rows[i];
            uint32_t first = 0, operation = 0;
            while (!is_same_way(&measured->rows[first], row)) {
                first++;
            }
            while (operation < ar_operations_count && ar_operations[operation] != row->operation) {
                operation++;
            }
            asked[asked_count] = (struct ar_residual){
                .bytes = row->call.run.bytes,
                .nodes = row->call.run.nodes,
                .way =
                    row->is_call ? first * AR_CHOICES_COUNT + (uint32_t)prediction->choice : first,
                .operation = operation,
                .error = log(prediction->time_s / row->call.time_s)};
            if (is_fitted[i]) {
                known[known_count++] = asked[asked_count];
                nodes_max = fmax(nodes_max, asked[asked_count].nodes);
            }
            asked_count++;
        }
    }
    ar_residual_expect(known, known_count, residual_frac, asked, asked_count);
    for (size_t i = 0; i < asked_count; i++) { /* the band keeps what is left of its variance */
        struct ar_library_prediction *prediction = &estimate->predictions[places[i]];
        double deviations = log(prediction->high_s / prediction->time_s) / AR_BAND95_DEVIATIONS;
        double explained = (1 - asked[i].share) * residual_frac * residual_frac;
        size_t like = 0;
        while (like < known_count && known[like].way != asked[i].way) {
            like++;
        }
        double reach = is_fitted[places[i]]         ? AR_BAND95_DEVIATIONS
                       : asked[i].nodes > nodes_max ? more_nodes_deviations[is_call]
                       : like == known_count        ? other_algorithm_deviations[is_call]
                                                    : own_deviations[is_call];
        *prediction =
            ar_library_banded(prediction->choice, prediction->time_s * exp(-asked[i].error),
                              reach * sqrt(fmax(0, deviations * deviations - explained)));
    }
}

void ar_estimate_correct(const struct ar_measured *measured, const bool *is_fitted,
                         struct ar_arena *arena, struct ar_estimate *estimate)
{
    if (estimate->has_library) {
        correct_kind(measured, true, estimate->library.residual_frac, is_fitted, arena, estimate);
    }
    if (estimate->has_links) {
        correct_kind(measured, false, estimate->links.residual_frac, is_fitted, arena, estimate);
    }
}
