/* The rows of a measured set, and further ones of its machine. */
#include "ar_accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_note.h"

/* --- the rows of a set --------------------------------------------------------------------- */

enum ar_status ar_set_scenario(const struct ar_measured_set *set, struct ar_arena *arena,
                               struct ar_scenario *scenario, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "validate/data/index.csv",
                                            .status = AR_BAD_DATA};
    struct ar_settings asked = scenario->settings;
    AR_TRY(ar_scenario_set(scenario, AR_KEY_CLUSTER, &origin, set->cluster, err));
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, &origin, set->engine, err));
    for (const char *at = set->settings; *at != '\0'; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        const char *setting = ar_arena_format(arena, "%.*s", length, at);
        AR_NEED(setting, err, "a measured set");
        at += length;
        if (ar_settings_find(&asked, setting) == NULL) {
            AR_TRY(ar_scenario_replace(scenario, AR_KEY_SET, &origin, setting, err));
        }
    }
    return AR_OK;
}

void ar_set_ask_algorithm(const struct ar_measured_set *set, struct ar_calibrate_request *request)
{
    bool is_named = strcmp(set->algorithm, "named") == 0 || strcmp(set->algorithm, "auto") == 0;
    request->algorithm_name = is_named ? NULL : set->algorithm;
    request->is_messages = !request->scenario->engine->needs_library;
}

void ar_set_ask_rows(const struct ar_measured_set *set, struct ar_calibrate_request *request)
{
    request->system = set->system[0] != '\0' ? set->system : NULL;
    request->ranks_per_node = set->ranks_per_node;
    request->fitted_nodes_max = set->fitted_nodes_max;
}

enum ar_status ar_set_load(const struct ar_measured_index *index, const struct ar_measured_set *set,
                           const struct ar_scenario *scenario, struct ar_inputs *inputs,
                           const char *const *more, size_t more_count, FILE *notes,
                           struct ar_arena *arena, struct ar_set_rows **rows, struct ar_error *err)
{
    struct ar_cluster *cluster = NULL;
    struct ar_set_rows *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_scenario *own = ar_arena_alloc(arena, 1, sizeof *own);
    const char **paths;
    size_t paths_count;
    AR_NEED(made && own, err, set->name);
    *own = *scenario;
    AR_TRY(ar_set_scenario(set, arena, own, err));
    AR_TRY(ar_scenario_make_cluster(own, inputs, &cluster, err));
    own->cluster = cluster;
    AR_TRY(ar_measured_set_paths(index, set, more, more_count, arena, &paths, &paths_count, err));
    made->set = set;
    made->scenario = own;
    made->request = (struct ar_calibrate_request){.command = set->name,
                                                  .paths = paths,
                                                  .paths_count = paths_count,
                                                  .known_count = paths_count - more_count,
                                                  .notes = notes,
                                                  .time = AR_TIME_OUT_OF_PLACE,
                                                  .scenario = own,
                                                  .inputs = inputs,
                                                  .called = &index->called};
    ar_set_ask_algorithm(set, &made->request);
    ar_set_ask_rows(set, &made->request);
    AR_TRY(ar_measured_load(&made->request, arena, &made->measured, err));
    AR_TRY(ar_measured_take(&made->request, cluster, arena, made->measured, err));
    *rows = made;
    return AR_OK;
}

/* --- further rows -------------------------------------------------------------------------- */

/* `fugaku/1, leonardo/4`: systems and ranks per node of sets; the arena's. */
static const char *list_systems(struct ar_set_rows *const *sets, size_t count,
                                struct ar_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; text != NULL && i < count; i++) {
        text = ar_arena_format(arena, "%s%s%s/%" PRIu32, text, i > 0 ? ", " : "",
                               sets[i]->set->system, sets[i]->set->ranks_per_node);
    }
    return text != NULL ? text : "";
}

static bool is_taken(struct ar_set_rows *const *sets, size_t count, const struct ar_log *run)
{
    bool is = false;
    for (size_t i = 0; i < count; i++) {
        is = is || ar_measured_takes(&sets[i]->request, run);
    }
    return is;
}

enum ar_status ar_sets_check(const char *command, struct ar_set_rows *const *sets, size_t count,
                             struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_calibrate_request *request = &sets[0]->request;
    struct ar_measured_left strangers = {.rows_count = 0};
    bool has_others = false;
    for (size_t i = request->known_count; i < request->paths_count; i++) {
        const struct ar_logs *logs = sets[0]->measured->logs[i];
        for (size_t k = 0; k < logs->runs_count; k++) {
            if (is_taken(sets, count, &logs->runs[k])) {
                has_others = true;
            } else {
                ar_measured_leave(&strangers, &logs->runs[k]);
            }
        }
    }
    const struct ar_log *first = strangers.first;
    if (first != NULL && !has_others) {
        return ar_log_refuse(first, first->first_line, err,
                             "found system \"%.60s\" with %" PRIu32 " ranks per node; expected one "
                             "of the measured sets with such a file: %.300s",
                             first->system, first->nodes > 0 ? first->ranks / first->nodes : 0,
                             list_systems(sets, count, arena));
    }
    ar_measured_note_left(command, MEASURED_OTHER_SYSTEM, &strangers, request->notes);
    return AR_OK;
}

static bool is_same(const struct ar_measured_row *a, const struct ar_measured_row *b)
{
    return a->operation == b->operation && a->call.run.nodes == b->call.run.nodes &&
           a->call.run.ranks == b->call.run.ranks && a->call.run.bytes == b->call.run.bytes &&
           a->call.time_s == b->call.time_s && strcmp(a->run->algorithm, b->run->algorithm) == 0;
}

/* Whether the fit has the row. */
static bool is_known(const struct ar_set_rows *rows, const struct ar_measured_row *row)
{
    const struct ar_measured *measured = rows->measured;
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (measured->rows[i].path < rows->request.known_count &&
            is_same(&measured->rows[i], row)) {
            return true;
        }
    }
    return false;
}

enum ar_status ar_set_compare(const struct ar_set_rows *rows, const char *cluster,
                              struct ar_arena *arena, struct ar_comparison *comparison,
                              struct ar_error *err)
{
    const struct ar_measured *measured = rows->measured;
    struct ar_estimate *estimate = NULL;
    struct ar_estimate *unfitted = NULL; /* for rows of a kind that cannot be fitted */
    struct ar_error why;
    size_t further = 0;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    AR_NEED(is_fitted, err, "the rows of a fit");
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = measured->rows[i].path < rows->request.known_count;
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
        if (row->path >= rows->request.known_count) {
            bool is_of_fit = has_fit || isfinite(estimate->predictions[i].time_s);
            const struct ar_library_prediction *prediction =
                &(is_of_fit ? estimate : unfitted)->predictions[i];
            bool is_in_fit = is_of_fit && is_known(rows, row);
            ar_comparison_add(comparison, row,
                              is_in_fit ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT,
                              ar_compared_choice(row, prediction, arena), prediction,
                              estimate->has_library ? &estimate->library.tuning : NULL);
            comparison->rows[comparison->rows_count - 1].cluster = cluster;
        }
    }
    return AR_OK;
}
