/* Fits to measured rows, as they are printed and as files: a copy of the cluster's file with other
 * values of some keys and their history at its head; of a library its cost table, too. */
#include "ar_calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "ar_comparison.h"
#include "ar_file.h"
#include "ar_row.h"
#include "ar_text.h"
#include "ar_topo.h"
#include "ar_units.h"

#define RESIDUAL_MAX 0.5 /* of calls: rows that are nothing like the model have a best fit, too */

/* A number that was fitted. */
struct fitted_parameter {
    ar_cell_string kind; /* `parameter` */
    ar_cell_string parameter;
    ar_cell_number value;
    ar_cell_string unit;
    ar_cell_number relative_standard_error; /* NAN: it was not fitted */
    ar_cell_flag identified;
    ar_cell_number prior;
    ar_cell_string prior_source;
    ar_cell_string value_text, prior_text; /* with units */
};

struct calibration {
    struct ar_measured *measured;
    const char *what;                     /* was fitted: `NCCL`, `links`, `NCCL and links` */
    const char *model;                    /* that predicts the rows, one line */
    const struct ar_library_table *table; /* of calls; NULL: none */
    ar_cell_count rows_count;             /* that were fitted */
    ar_cell_number residual_frac;
    struct fitted_parameter parameters[AR_LIBRARY_PARAMETERS_COUNT + AR_LINK_COSTS_COUNT];
    size_t parameters_count;
    struct ar_library_nodes fitted; /* counts of nodes or GPUs */
    struct ar_library_nodes held_out;
    struct ar_comparison compared; /* every measured row, then every row again by its fold */
};

/* --- parameters ---------------------------------------------------------------------------- */

/* Adds a parameter, with texts of its value and prior as a cluster file takes them. */
static void add_parameter(struct calibration *calibration, struct fitted_parameter parameter,
                          struct ar_arena *arena)
{
    static const struct {
        const char *name, *suffix;
        double factor;
    } units[] = {
        {"s", "us", 1e6}, {"B/s", "GB/s", 1e-9}, {"s/B", "ns/B", 1e9}, {"B", "B", 1}, {"1", "", 1}};
    size_t i = 0;
    while (strcmp(units[i].name, parameter.unit) != 0) {
        i++;
    }
    parameter.kind = "parameter";
    parameter.value_text =
        ar_arena_format(arena, "%.6g%s", parameter.value * units[i].factor, units[i].suffix);
    parameter.prior_text =
        ar_arena_format(arena, "%.6g%s", parameter.prior * units[i].factor, units[i].suffix);
    calibration->parameters[calibration->parameters_count++] = parameter;
}

/* Takes a fitted cost model of NCCL. */
static enum ar_status take_library(struct calibration *calibration,
                                   const struct ar_library *library, struct ar_arena *arena,
                                   struct ar_error *err)
{
    const struct ar_tuning *tuning = &library->tuning;
    struct ar_library_table *table = ar_arena_alloc(arena, 1, sizeof *table);
    AR_REFUSE(library->residual_frac >= RESIDUAL_MAX, err, AR_BAD_DATA,
              "fit: found a residual of %.0f %% over %" PRIu32
              " rows; expected less than %.0f %%, calls that resemble those of %s with such rings",
              library->residual_frac * 100, library->rows_count, RESIDUAL_MAX * 100,
              tuning->release->name);
    *table = (struct ar_library_table){
        .library = *library, .fitted = calibration->fitted, .held_out = calibration->held_out};
    calibration->table = table;
    calibration->what = "NCCL";
    calibration->model =
        ar_arena_format(arena, "%s with rings of %s in a node and %s across the network",
                        tuning->release->name, AR_SHOW_RATE(tuning->node_bus_Bps),
                        tuning->net_bus_Bps > 0 ? AR_SHOW_RATE(tuning->net_bus_Bps) : "none");
    calibration->rows_count = library->rows_count;
    calibration->residual_frac = library->residual_frac;
    for (enum ar_library_parameter parameter = 0; parameter < AR_LIBRARY_PARAMETERS_COUNT;
         parameter++) {
        struct fitted_parameter made = {
            .parameter = ar_library_parameters[parameter].name,
            .value = library->values[parameter],
            .unit = ar_library_parameters[parameter].unit,
            .relative_standard_error = sqrt(library->covariance[parameter][parameter]),
            .identified = library->is_identified[parameter],
            .prior = ar_library_parameter_prior(tuning, parameter),
            .prior_source = ar_library_parameter_prior_source(tuning, parameter)};
        add_parameter(calibration, made, arena);
    }
    return AR_OK;
}

/* Takes fitted numbers of links. The cluster has those of before. */
static void take_links(struct calibration *calibration, const struct ar_link_fit *fit,
                       const struct ar_cluster *cluster, const struct ar_settings *settings,
                       struct ar_arena *arena)
{
    static const char *const units[] = {
        [AR_LINK_SECONDS] = "s", [AR_LINK_RATE] = "B/s", [AR_LINK_SECONDS_PER_BYTE] = "s/B"};
    bool has_library = calibration->model != NULL;
    calibration->what = has_library ? "NCCL and links" : "links";
    calibration->model =
        ar_arena_format(arena, "%s%sclosed form of algorithms",
                        has_library ? calibration->model : "", has_library ? "; " : "");
    calibration->residual_frac = has_library ? calibration->residual_frac : fit->residual_frac;
    calibration->rows_count += fit->rows_count;
    for (enum ar_link_cost cost = 0; cost < AR_LINK_COSTS_COUNT; cost++) {
        const struct ar_link_number *number = &fit->numbers[cost];
        const struct ar_setting *setting = ar_link_setting(settings, cost);
        const char *source = ar_cluster_link_cost(cluster, cost) == number->prior
                                 ? "cluster file"
                                 : "assumed, order of magnitude";
        if (setting != NULL) { /* of the command line, or of the index of sets */
            source = setting->status == AR_USAGE ? setting->where : "measured set";
        }
        if (number->state == AR_LINK_ABSENT) {
            continue;
        }
        struct fitted_parameter made = {.parameter = ar_link_cost_key(cost),
                                        .value = number->value,
                                        .unit = units[ar_link_cost_unit(cost)],
                                        .relative_standard_error = number->error_frac,
                                        .identified = number->state == AR_LINK_IDENTIFIED,
                                        .prior = number->prior,
                                        .prior_source = source};
        add_parameter(calibration, made, arena);
    }
}

/* --- collectives --------------------------------------------------------------------------- */

/* Splits the counts of the rows into fitted and held out: as the request asks; else held out are
 * those above the limit of the measured set, or all but the largest, and with one count none. */
static enum ar_status split_counts(const struct ar_calibrate_request *request,
                                   struct calibration *calibration, struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    const struct ar_library_nodes *groups = ar_measured_groups(measured);
    const char *unit = ar_measured_unit(measured);
    bool has_default = request->held_out_count == 0 && !request->is_all_fitted;
    uint32_t max = request->rows.fitted_nodes_max;
    if (measured->is_by_gpus || max < groups->counts[0] ||
        max >= groups->counts[groups->count - 1]) {
        max = groups->counts[groups->count > 1 ? groups->count - 2 : 0];
    }
    for (size_t i = 0; i < request->held_out_count; i++) {
        AR_REFUSE(!ar_library_nodes_have(groups, (uint32_t)request->held_out[i]), err, AR_USAGE,
                  "--hold-out: found %" PRIu64
                  " %ss, which no log has; expected %s counts of the logs, or none",
                  request->held_out[i], unit, unit);
        AR_TRY(ar_library_nodes_add(&calibration->held_out, (uint32_t)request->held_out[i], err));
    }
    if (has_default && groups->count == 1) {
        ar_note(request->rows.notes,
                "all rows are of one %s count: none is held out, and the error on others unknown",
                unit);
    }
    for (size_t i = 0; i < groups->count; i++) {
        uint32_t count = groups->counts[i];
        if (has_default && count > max) {
            AR_TRY(ar_library_nodes_add(&calibration->held_out, count, err));
        }
        if (!ar_library_nodes_have(&calibration->held_out, count)) {
            AR_TRY(ar_library_nodes_add(&calibration->fitted, count, err));
        }
    }
    AR_REFUSE(calibration->fitted.count == 0, err, AR_USAGE,
              "--hold-out: found all %s counts of the logs; expected some left to fit", unit);
    return AR_OK;
}

/* Fits to all rows but those of `left_out`. Calls fewer than the parameters start from what other
 * machines tell. */
static enum ar_status fit_without(const struct ar_measured *measured,
                                  const struct ar_library_nodes *left_out, struct ar_arena *arena,
                                  struct ar_estimate **estimate, struct ar_error *err)
{
    struct ar_measured own = *measured;
    struct ar_measured_request request = *measured->request;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    size_t fitted = 0;
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] =
            !ar_library_nodes_have(left_out, ar_measured_group(measured, &measured->rows[i]));
        fitted += is_fitted[i] && measured->rows[i].is_call;
    }
    request.factors = fitted < AR_LIBRARY_PARAMETERS_COUNT ? request.factors : NULL;
    own.request = &request;
    return ar_estimate_run(&own, is_fitted, arena, estimate, err);
}

/* Adds the predictions of all rows or, of a fold, those of the count that it leaves out. */
static void add_compared(struct calibration *calibration, const struct ar_estimate *estimate,
                         const uint32_t *fold)
{
    const struct ar_measured *measured = calibration->measured;
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        uint32_t count = ar_measured_group(measured, row);
        bool is_fitted =
            ar_library_nodes_have(&calibration->fitted, count) && ar_estimate_takes(row);
        if (fold == NULL || count == *fold) {
            ar_comparison_add(&calibration->compared, row,
                              fold != NULL ? AR_COMPARED_FOLD
                              : is_fitted  ? AR_COMPARED_FITTED
                                           : AR_COMPARED_HELD_OUT,
                              &estimate->predictions[i],
                              estimate->has_library ? &estimate->library.tuning : NULL);
        }
    }
}

/* --- printed ------------------------------------------------------------------------------- */

#define COLUMN(kind, field, name, ...)                                                             \
    AR_COLUMN(kind, struct fitted_parameter, field, name, __VA_ARGS__)

static const struct ar_column table_columns[] = {
    COLUMN(string, parameter, "", "", .heading = "parameter"),
    COLUMN(string, value_text, "", "", .heading = "value"),
    COLUMN(number, relative_standard_error, "", "", .heading = "+- (%)", .factor = 100,
           .decimals = 1),
    COLUMN(flag, identified, "", "", .heading = "identified"),
    COLUMN(string, prior_text, "", "", .heading = "prior"),
    COLUMN(string, prior_source, "", "", .heading = "source of the prior"),
};

enum { PARAMETER_COLUMNS = 8 };
static const struct ar_column columns[PARAMETER_COLUMNS] = {
    COLUMN(string, kind, "kind", "parameter or accuracy"),
    COLUMN(string, parameter, "parameter", "of the fit"),
    COLUMN(number, value, "value", "that was fitted"),
    COLUMN(string, unit, "unit", "of value and prior"),
    COLUMN(number, relative_standard_error, "relative_standard_error", "of the value"),
    COLUMN(flag, identified, "identified", "the rows say more of it than the prior",
           .is_boolean = true),
    COLUMN(number, prior, "prior", "where the fit starts"),
    COLUMN(string, prior_source, "prior_source", "where that is from"),
};

/* A line of CSV and JSON: a parameter leaves the columns of errors empty, and vice versa. */
struct line {
    struct fitted_parameter parameter;
    struct ar_compared_error error;
};

static void print_calibration(const struct calibration *calibration, const struct ar_view *view)
{
    const struct ar_comparison *compared = &calibration->compared;
    struct ar_column list[PARAMETER_COLUMNS + AR_COMPARED_ERROR_COLUMNS];
    struct line empty;
    struct ar_records records;
    if (view->format != AR_FORMAT_TABLE) {
        memcpy(list, columns, sizeof columns);
        ar_compared_error_columns(compared->is_by_gpus, offsetof(struct line, error),
                                  list + PARAMETER_COLUMNS);
        memset(&empty, 0, sizeof empty);
        ar_record_clear(AR_COLUMNS(list), &empty);
        empty.error.set = AR_COMPARED_SETS;
        ar_records_begin(&records, stdout, view, AR_COLUMNS(list));
        for (size_t i = 0; i < calibration->parameters_count; i++) {
            struct line line = {.parameter = calibration->parameters[i], .error = empty.error};
            ar_records_add(&records, &line);
        }
        for (size_t i = 0; i < compared->errors_count; i++) {
            struct line line = {.parameter = empty.parameter, .error = compared->errors[i]};
            line.parameter.kind = "accuracy";
            ar_records_add(&records, &line);
        }
        ar_records_end(&records);
        return;
    }
    printf("%s; %" PRIu64 " rows fitted, residual %.2f %%\n\n", calibration->model,
           calibration->rows_count, calibration->residual_frac * 100);
    ar_records_write(stdout, view, AR_COLUMNS(table_columns), calibration->parameters,
                     calibration->parameters_count);
    if (compared->errors_count > 0) {
        printf("\n");
        ar_comparison_write_errors(stdout, view, compared);
    }
}

/* --- comments ------------------------------------------------------------------------------ */

enum { COMMENTS_MAX = 16, VALUE_MAX = 200 /* of a cluster file */ };

/* A comment is one line, whatever a log says. */
static const char *comment_of(struct ar_arena *arena, const char *what, const char *text)
{
    char *comment = ar_arena_format(arena, "%s: %.300s", what, text);
    ar_text_to_line(comment);
    return comment;
}

/* Comments at the head: program and date, the logs, the fitted counts, and the errors. */
static const char *const *make_comments(const struct calibration *calibration,
                                        const struct ar_calibrate_request *request,
                                        struct ar_arena *arena, size_t *count)
{
    static const char *const verbs[] = {[AR_COMPARED_FITTED] = "fitted",
                                        [AR_COMPARED_HELD_OUT] = "held out",
                                        [AR_COMPARED_FOLD] = "held out in turn"};
    const struct ar_measured *measured = calibration->measured;
    const char *unit = ar_measured_unit(measured);
    const struct {
        const char *what, *text;
    } facts[] = {{"measured backend", measured->backend},
                 {"measured library", measured->library},
                 {"measured GPU", measured->gpu},
                 {"cluster", request->rows.scenario->cluster_name},
                 {"model", calibration->model}};
    char date[16], text[AR_LIBRARY_NODES_TEXT];
    time_t now = time(NULL);
    struct tm utc;
    size_t room = calibration->compared.errors_count + request->rows.paths_count + COMMENTS_MAX;
    const char **lines = ar_arena_alloc(arena, room, sizeof *lines);
    size_t used = 0;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    lines[used++] = comment_of(arena, "made by", request->made_by);
    lines[used++] = ar_arena_format(arena, "program: allreckon " AR_VERSION ", %s", date);
    for (size_t i = 0; i < request->rows.paths_count; i++) {
        lines[used++] = comment_of(arena, "measured", request->rows.paths[i]);
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].text[0] != '\0') {
            lines[used++] = comment_of(arena, facts[i].what, facts[i].text);
        }
    }
    lines[used++] = ar_arena_format(arena, "%ss fitted: %s", unit,
                                    ar_library_nodes_format(&calibration->fitted, text));
    lines[used++] = ar_arena_format(arena, "%ss held out: %s", unit,
                                    ar_library_nodes_format(&calibration->held_out, text));
    lines[used++] = ar_arena_format(arena, "residual of the fitted rows: %.1f %%",
                                    calibration->residual_frac * 100);
    AR_EACH(const struct ar_compared_error, line, calibration->compared.errors,
            calibration->compared.errors_count) {
        const struct ar_library_error *error = &line->model;
        lines[used++] = ar_arena_format(
            arena,
            "error, %s %ss %s, %zu rows: median %.1f %%, mean %.1f %%, 95th percentile %.1f %%",
            line->nodes == AR_NO_COUNT ? "all" : ar_arena_format(arena, "%" PRIu64, line->nodes),
            unit, verbs[line->set], error->count, error->median_frac * 100, error->mean_frac * 100,
            error->p95_frac * 100);
    }
    *count = used;
    return lines;
}

/* --- the copy ------------------------------------------------------------------------------ */

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"
#define AT_THE_HEAD "'allreckon calibrate', see the head of the file"

enum { COPY_PATH_SIZE = 3700 };

enum ar_status ar_calibrate_check_out(struct ar_calibrate_request *request, struct ar_arena *arena,
                                      struct ar_error *err)
{
    const char *path = request->out;
    const char *base = basename(path);
    size_t length = strlen(base);
    size_t plain =
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    struct stat a, b;
    AR_REFUSE(length < 6 || length > 60 || plain != length || base[0] == '.' ||
                  strcmp(base + length - 5, ".topo") != 0 || strlen(path) > COPY_PATH_SIZE,
              err, AR_USAGE,
              "--out: found \"%.200s\"; expected NAME.topo, with a NAME of at most 55 letters, "
              "digits, '-', '_' and '.'",
              path);
    AR_REFUSE(stat(request->source_path, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
                  a.st_ino == b.st_ino,
              err, AR_USAGE,
              "--out: found \"%.200s\", the cluster that is calibrated; expected another file",
              path);
    request->name = ar_arena_format(arena, "%.*s", (int)(length - 5), base);
    request->table_path = ar_arena_format(arena, "%.*s.library.csv", (int)strlen(path) - 5, path);
    return AR_OK;
}

/* `nodes 1 2 of allreduce/ring ...`: the counts that were fitted and, where a value has room for
 * all of them, the algorithms. */
static const char *fitted_text(const struct calibration *calibration, struct ar_arena *arena)
{
    const struct ar_measured *measured = calibration->measured;
    char counts[AR_LIBRARY_NODES_TEXT];
    const char *algorithms = "";
    const char *text = ar_arena_format(arena, "%s %s", measured->is_by_gpus ? "gpus" : "nodes",
                                       ar_library_nodes_format(&calibration->fitted, counts));
    AR_EACH(const struct ar_measured_row, row, measured->rows, measured->rows_count) {
        char name[AR_MEASURED_ALGORITHM];
        if (!row->is_call && ar_estimate_takes(row) &&
            ar_library_nodes_have(&calibration->fitted, ar_measured_group(measured, row)) &&
            !ar_text_has_word(algorithms, ar_measured_algorithm(row, name))) {
            algorithms = ar_arena_format(arena, "%s %s", algorithms, name);
        }
    }
    bool has_room = strlen(text) + strlen(algorithms) + 3 <= VALUE_MAX;
    return has_room ? ar_arena_format(arena, "%s of%s", text, algorithms) : text;
}

/* The file of the cluster with the settings of the request, another name, `..., NCCL fitted to 72
 * rows` in its description in place of one from earlier, and what was fitted. */
static enum ar_status make_copy(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, const char *const *comments,
                                size_t comments_count, struct ar_arena *arena,
                                struct ar_topo **copy, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->rows.scenario;
    const char *description = ar_cluster_facts(cluster)->description;
    struct ar_topo *topo;
    AR_TRY(ar_topo_load(request->source_path, arena, &topo, err));
    *copy = topo;
    AR_TRY(ar_topo_set_head(topo, BLOCK_BEGIN, comments, comments_count, BLOCK_END, err));
    for (size_t i = 0; i < scenario->settings.count; i++) {
        const char *text = scenario->settings.list[i].text;
        const char *equals = strchr(text, '='); /* the cluster took the setting */
        const char *key = ar_arena_format(arena, "%.*s", (int)(equals - text), text);
        AR_TRY(ar_topo_set(topo, key, equals + 1, "--set of 'allreckon calibrate'", err));
    }
    AR_TRY(ar_topo_set(topo, "name", request->name, "name of this file", err));
    char text[200], mark[40];
    snprintf(mark, sizeof mark, ", %s fitted to ", calibration->what);
    const char *earlier = strstr(description, mark);
    size_t length = earlier != NULL ? (size_t)(earlier - description) : strlen(description);
    snprintf(text, sizeof text, "%.*s%s%" PRIu64 " rows", (int)(length < 150 ? length : 150),
             description, mark, calibration->rows_count);
    AR_TRY(ar_topo_set(topo, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'",
                       err));
    if (calibration->table == NULL) { /* the numbers of links, and the rows they were fitted to */
        AR_TRY(
            ar_topo_set(topo, "links.fitted", fitted_text(calibration, arena), AT_THE_HEAD, err));
        AR_EACH(const struct fitted_parameter, parameter, calibration->parameters,
                calibration->parameters_count) {
            const char *source = ar_arena_format(
                arena, "fitted, +-%.1f %%%s, 'allreckon calibrate'; before: %s",
                parameter->relative_standard_error * 100,
                parameter->identified ? "" : ", not identified by the rows", parameter->prior_text);
            if (isfinite(parameter->relative_standard_error)) {
                AR_TRY(ar_topo_set(topo, parameter->parameter, parameter->value_text, source, err));
            }
        }
        return AR_OK;
    }
    AR_TRY(ar_topo_set(topo, "library.cost_table", request->name, AT_THE_HEAD, err));
    return scenario->release == NULL ? AR_OK
                                     : ar_topo_set(topo, "library.release", scenario->release,
                                                   "--tuning of 'allreckon calibrate'", err);
}

/* --- the whole ----------------------------------------------------------------------------- */

enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, const struct ar_view *view,
                                struct ar_arena *arena, struct ar_error *err)
{
    struct calibration *made = ar_arena_alloc(arena, 1, sizeof *made);
    /* Fits to the rows that are not held out, and compares all; with --folds again each count in
     * turn by a fit to all others. */
    const struct ar_scenario *scenario = request->rows.scenario;
    struct ar_measured *measured = NULL;
    struct ar_estimate *estimate, *fold;
    AR_TRY(ar_measured_load(&request->rows, cluster, arena, &measured, err));
    made->measured = measured;
    const struct ar_library_nodes *groups = ar_measured_groups(measured);
    AR_REFUSE(measured->calls_count == 0 && scenario->release != NULL, err, AR_USAGE,
              "--tuning: found rows that name their algorithms; expected calls of NCCL");
    AR_TRY(split_counts(request, made, err));
    struct ar_error unfitted;
    enum ar_status fitted = fit_without(measured, &made->held_out, arena, &estimate, &unfitted);
    bool has_calls_alone = fitted == AR_BAD_DATA && estimate->has_library;
    AR_REFUSE(fitted != AR_OK && !has_calls_alone, err, fitted, "%s", unfitted.text);
    if (has_calls_alone) {
        ar_note(request->rows.notes, "messages are not fitted: %s", unfitted.text);
    }
    if (estimate->has_library) {
        if (estimate->library.rows_count < AR_LIBRARY_PARAMETERS_COUNT) {
            bool is_told = estimate->library.tuning.factor_logs != NULL;
            ar_note(
                request->rows.notes,
                "%u calls are fewer than the %d parameters: the fit starts from %s%s",
                estimate->library.rows_count, AR_LIBRARY_PARAMETERS_COUNT,
                is_told ? ar_arena_format(arena, "what %" PRIu64 " sets of measured machines tell",
                                          request->rows.factors->told.sets_count)
                        : "NCCL's constants alone, as on a cluster with links.fitted",
                is_told && request->is_shipped ? ", these rows among them, so errors flatter" : "");
        }
        AR_TRY(take_library(made, &estimate->library, arena, err));
    }
    if (estimate->has_links) {
        take_links(made, &estimate->links, cluster, &scenario->settings, arena);
    }
    made->compared = ar_comparison_begin(2 * measured->rows_count, arena);
    add_compared(made, estimate, NULL);
    for (size_t i = 0; request->folds && i < groups->count; i++) {
        struct ar_error why;
        struct ar_library_nodes left_out = {.counts = {groups->counts[i]}, .count = 1};
        enum ar_status status = fit_without(measured, &left_out, arena, &fold, &why);
        if (status != AR_OK) {
            ar_note(request->rows.notes, "--folds: no fit without the rows of %" PRIu32 " %ss: %s",
                    groups->counts[i], ar_measured_unit(measured),
                    groups->count == 1 ? "they are all there are" : why.text);
            continue;
        }
        add_compared(made, fold, &groups->counts[i]);
    }
    ar_comparison_sum(groups, measured->is_by_gpus, &made->compared);
    if (request->out != NULL) {
        /* Writes `request->out` (NAME.topo), a copy of the file of the cluster with the fitted
         * numbers, and of a library NAME.library.csv beside it, the `library.cost_table` of the
         * copy: both or none, unless renaming the second one fails. */
        size_t count;
        const char *const *comments = make_comments(made, request, arena, &count);
        struct ar_topo *topo = NULL;
        struct ar_cluster *read;
        struct ar_error why;
        struct ar_output *file, *table;
        AR_TRY(make_copy(made, request, cluster, comments, count, arena, &topo, err));
        AR_REFUSE(ar_cluster_create(topo, (struct ar_settings){0}, arena, &read, &why) != AR_OK,
                  err, AR_BAD_DATA,
                  "%.100s: not written: no machine has the fitted numbers: %.360s", request->out,
                  why.text);
        AR_TRY(ar_output_begin(request->out, arena, &file, err));
        ar_topo_write(topo, file->file);
        if (made->table != NULL) { /* first: a cluster file never names one that is not there */
            AR_TRY(ar_output_begin(request->table_path, arena, &table, err));
            ar_library_table_write(made->table, comments, count, table->file);
            AR_TRY(ar_output_commit(table, err));
        }
        AR_TRY(ar_output_commit(file, err));
    }
    ar_measured_note(made->measured,
                     made->table != NULL ? made->table->library.tuning.release->release : NULL,
                     request->rows.notes);
    ar_note_flush(request->rows.notes);
    print_calibration(made, view);
    return AR_OK;
}
