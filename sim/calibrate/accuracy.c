#include "ar_accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy_why.h"
#include "ar_library_engine.h"
#include "ar_note.h"

/* --- errors -------------------------------------------------------------------------------- */

/* A set and its three estimates; NULL where there is none. */
struct judged {
    const struct ar_set_rows *rows;
    const struct ar_estimate *zero_shot, *fit, *held_out;
    bool *is_held_out;         /* rows of the largest counts */
    const char *held_out_text; /* those counts */
};

/* Which predictions of a judged set are summed up. */
enum estimated { ZERO_SHOT, LARGE, OWN, OWN_LARGE, FIT, HELD_OUT };

/* By NCCL's own constants. */
static struct ar_library_prediction own_prediction(const struct judged *judged,
                                                   const struct ar_measured_row *row)
{
    const struct ar_tuning *tuning = &judged->zero_shot->library.tuning;
    struct ar_library_row call = ar_library_engine_row(judged->rows->scenario->cluster, &row->call);
    return ar_tuning_predict(tuning, call.calls, &call.run);
}

static void add_errors(const struct judged *judged, enum estimated which,
                       const struct ar_operation *operation, struct ar_error_sum *sum)
{
    const struct ar_estimate *estimate = which == HELD_OUT ? judged->held_out
                                         : which == FIT    ? judged->fit
                                                           : judged->zero_shot;
    const struct ar_measured *measured = judged->rows->measured;
    bool is_large = which == LARGE || which == OWN_LARGE;
    bool is_own = which == OWN || which == OWN_LARGE;
    double bytes_min = is_large ? AR_ACCURACY_LARGE_BYTES : AR_ACCURACY_BYTES_MIN;
    for (size_t i = 0; estimate != NULL && i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        bool is_of = (operation == NULL || row->operation == operation) &&
                     row->call.run.bytes >= bytes_min && (!is_own || row->is_call) &&
                     (which != HELD_OUT || judged->is_held_out[i]);
        if (is_of) {
            struct ar_library_prediction prediction =
                is_own ? own_prediction(judged, row) : estimate->predictions[i];
            ar_error_sum_add(sum, row->call.time_s, &prediction);
        }
    }
}

/* Pairs of algorithms, not of names, on the same ranks and size. */
struct pairs {
    uint64_t count, right;
    uint64_t scattered; /* of the wrong ones, a time of which scatters */
};

static void add_pairs(const struct judged *judged, const struct ar_operation *operation,
                      struct pairs *pairs)
{
    const struct ar_measured *measured = judged->rows->measured;
    for (size_t i = 0; judged->held_out != NULL && i < measured->rows_count; i++) {
        const struct ar_measured_row *a = &measured->rows[i];
        if (!judged->is_held_out[i] || a->is_call || a->call.run.bytes < AR_ACCURACY_BYTES_MIN ||
            (operation != NULL && a->operation != operation)) {
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            const struct ar_measured_row *b = &measured->rows[j];
            double ratio = a->call.time_s / b->call.time_s;
            if (judged->is_held_out[j] && a->operation == b->operation &&
                a->call.run.bytes == b->call.run.bytes && a->call.run.ranks == b->call.run.ranks &&
                a->call.run.nodes == b->call.run.nodes &&
                a->messages.collective.algorithm != b->messages.collective.algorithm &&
                fabs(log(ratio)) > log(AR_ACCURACY_PAIR_RATIO)) {
                double predicted = judged->held_out->predictions[i].time_s /
                                   judged->held_out->predictions[j].time_s;
                bool is_right = (predicted > 1) == (ratio > 1) && predicted != 1;
                pairs->count++;
                pairs->right += is_right;
                pairs->scattered += !is_right && (accuracy_scatters(a) || accuracy_scatters(b));
            }
        }
    }
}

/* The times of a row on the two largest node counts that were fitted, ranks per node alike, as a
 * power of the nodes; NAN: there are none. */
static double law_through(const struct judged *judged, const struct ar_measured_row *row)
{
    const struct ar_measured *measured = judged->rows->measured;
    const struct ar_library_row *low = NULL;
    const struct ar_library_row *high = NULL;
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *other = &measured->rows[i];
        uint32_t nodes = other->call.run.nodes;
        if (judged->is_held_out[i] || other->operation != row->operation ||
            other->call.run.bytes != row->call.run.bytes ||
            (uint64_t)other->call.run.ranks * row->call.run.nodes !=
                (uint64_t)row->call.run.ranks * nodes ||
            strcmp(other->run->algorithm, row->run->algorithm) != 0) {
            continue;
        }
        if (high == NULL || nodes > high->run.nodes) {
            low = high;
            high = &other->call;
        } else if (nodes < high->run.nodes && (low == NULL || nodes > low->run.nodes)) {
            low = &other->call;
        }
    }
    return low == NULL ? NAN
                       : high->time_s * pow(row->call.run.nodes / (double)high->run.nodes,
                                            log(high->time_s / low->time_s) /
                                                log(high->run.nodes / (double)low->run.nodes));
}

/* Where the error of a set's held-out rows sits; "" if it is small. */
static enum ar_status find_why(const struct judged *judged, const struct ar_operation *operation,
                               const struct pairs *pairs, struct ar_arena *arena, const char **why,
                               struct ar_error *err)
{
    const struct ar_measured *measured = judged->rows->measured;
    struct why_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; rows != NULL && judged->held_out != NULL && i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        double predicted_s = judged->held_out->predictions[i].time_s;
        if (judged->is_held_out[i] && row->call.run.bytes >= AR_ACCURACY_BYTES_MIN &&
            (operation == NULL || row->operation == operation) && isfinite(predicted_s)) {
            rows[count++] = (struct why_row){
                .row = row,
                .predicted_s = predicted_s,
                .fitted_s = judged->fit != NULL ? judged->fit->predictions[i].time_s : NAN,
                .law_s = law_through(judged, row)};
        }
    }
    *why = rows != NULL ? accuracy_why(rows, count, AR_ACCURACY_GOAL, arena) : NULL;
    if (*why != NULL && (double)pairs->right < AR_ACCURACY_RIGHT_GOAL * (double)pairs->count) {
        *why = ar_arena_format(arena, "%s%s%" PRIu64 " of %" PRIu64 " wrong pairs have such a row",
                               *why, (*why)[0] != '\0' ? "; " : "", pairs->scattered,
                               pairs->count - pairs->right);
    }
    return *why != NULL ? AR_OK : ar_error_no_memory(err, "errors of predictions");
}

/* One line: of some sets, and one operation or all (NULL). */
static enum ar_status sum_up(const struct judged *judged, size_t count,
                             const struct ar_operation *operation, double *errors,
                             struct ar_arena *arena, struct ar_accuracy *made, struct ar_error *err)
{
    struct ar_accuracy line = {.operation = operation != NULL ? operation->command : "", .why = ""};
    struct ar_library_error *const results[] = {
        [ZERO_SHOT] = &line.zero_shot, [LARGE] = &line.large, [OWN] = &line.own,
        [OWN_LARGE] = &line.own_large, [FIT] = &line.fit,     [HELD_OUT] = &line.held_out};
    struct pairs pairs = {0, 0, 0};
    for (size_t k = 0; k < sizeof results / sizeof results[0]; k++) {
        struct ar_error_sum sum = {.errors = errors};
        for (size_t i = 0; i < count; i++) {
            add_errors(&judged[i], (enum estimated)k, operation, &sum);
        }
        *results[k] = ar_error_sum_end(&sum);
    }
    for (size_t i = 0; i < count; i++) {
        add_pairs(&judged[i], operation, &pairs);
    }
    line.pairs = pairs.count > 0 ? pairs.count : AR_NO_COUNT;
    line.right_frac = pairs.count > 0 ? (double)pairs.right / (double)pairs.count : NAN;
    *made = line;
    return count == 1 ? find_why(judged, operation, &pairs, arena, &made->why, err) : AR_OK;
}

/* --- one set ------------------------------------------------------------------------------- */

/* Marks the rows of the largest counts, and writes these. */
static enum ar_status hold_out(struct judged *judged, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_measured *measured = judged->rows->measured;
    const struct ar_library_nodes *nodes = &measured->nodes;
    uint32_t max = judged->rows->set->fitted_nodes_max;
    char text[AR_LIBRARY_NODES_MAX * 12] = "";
    size_t used = 0;
    if (max == 0 && nodes->count > 1) {
        max = nodes->counts[nodes->count - 2];
    }
    judged->is_held_out = ar_arena_alloc(arena, measured->rows_count + 1, sizeof(bool));
    if (judged->is_held_out == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        judged->is_held_out[i] = max > 0 && measured->rows[i].call.run.nodes > max;
    }
    for (size_t i = 0; i < nodes->count; i++) {
        if (max > 0 && nodes->counts[i] > max) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32,
                                     used > 0 ? " " : "", nodes->counts[i]);
        }
    }
    judged->held_out_text = ar_arena_text(arena, text);
    return judged->held_out_text != NULL ? AR_OK : ar_error_no_memory(err, "the rows of a fit");
}

/* An estimate, or a note of why there is none of some rows. */
static enum ar_status estimate(const struct judged *judged, const bool *is_fitted, const char *what,
                               FILE *notes, struct ar_arena *arena, const struct ar_estimate **made,
                               struct ar_error *err)
{
    struct ar_error why;
    struct ar_estimate *found = NULL;
    const struct ar_measured *measured = judged->rows->measured;
    enum ar_status status =
        ar_estimate_run(&judged->rows->request, measured, is_fitted, arena, &found, &why);
    if (status != AR_OK && status != AR_BAD_DATA && status != AR_USAGE) {
        return ar_error_set(err, status, "%s", why.text);
    }
    if (status != AR_OK) {
        ar_note(notes, "%s: %s: %s", judged->rows->set->name, what, why.text);
    }
    *made = found;
    return is_fitted != NULL && found != NULL
               ? ar_estimate_correct(measured, is_fitted, arena, found, err)
               : AR_OK;
}

static enum ar_status judge(struct judged *judged, FILE *notes, struct ar_arena *arena,
                            struct ar_error *err)
{
    const struct ar_measured *measured = judged->rows->measured;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    if (is_fitted == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    AR_TRY(hold_out(judged, arena, err));
    AR_TRY(estimate(judged, NULL, "nothing fitted", notes, arena, &judged->zero_shot, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = true;
    }
    AR_TRY(estimate(judged, is_fitted, "all fitted", notes, arena, &judged->fit, err));
    if (judged->held_out_text[0] == '\0') {
        return AR_OK;
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = !judged->is_held_out[i];
    }
    return estimate(judged, is_fitted, "largest held out", notes, arena, &judged->held_out, err);
}

/* --- all sets ------------------------------------------------------------------------------ */

static bool is_asked(const struct ar_measured_set *set, const char *name)
{
    return strcmp(set->name, name) == 0 || ar_measured_set_has(set, name);
}

static enum ar_status check_names(const struct ar_measured_index *index, const char *const *names,
                                  size_t count, struct ar_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < index->sets_count && !is_asked(&index->sets[k], names[i])) {
            k++;
        }
        if (k == index->sets_count) {
            return ar_error_set(err, AR_NO_INPUT,
                                "accuracy: unknown set \"%.100s\"; 'allreckon list sets' has the "
                                "%zu that there are",
                                names[i], index->sets_count);
        }
    }
    return AR_OK;
}

static bool is_wanted(const struct ar_measured_set *set, const char *const *names, size_t count)
{
    bool is_wanted = count == 0;
    for (size_t i = 0; i < count; i++) {
        is_wanted = is_wanted || is_asked(set, names[i]);
    }
    return is_wanted;
}

/* The lines of a set: each operation it has and, if these are several, all. */
static enum ar_status add_lines(const struct judged *judged, double *errors, struct ar_arena *arena,
                                struct ar_accuracies *accuracies, struct ar_error *err)
{
    const struct ar_measured *measured = judged->rows->measured;
    size_t first = accuracies->count;
    for (size_t k = 0; k < ar_operations_count; k++) {
        bool has = false;
        for (size_t i = 0; i < measured->rows_count; i++) {
            has = has || (measured->rows[i].operation == ar_operations[k] &&
                          measured->rows[i].call.run.bytes >= AR_ACCURACY_BYTES_MIN);
        }
        if (has) {
            AR_TRY(sum_up(judged, 1, ar_operations[k], errors, arena,
                          &accuracies->rows[accuracies->count++], err));
        }
    }
    if (accuracies->count > first + 1) {
        AR_TRY(sum_up(judged, 1, NULL, errors, arena, &accuracies->rows[accuracies->count++], err));
    }
    for (size_t i = first; i < accuracies->count; i++) {
        accuracies->rows[i].set = judged->rows->set->name;
        accuracies->rows[i].held_out_nodes = judged->held_out_text;
    }
    return AR_OK;
}

static enum ar_status make_lines(const struct judged *judged, size_t count, struct ar_arena *arena,
                                 struct ar_accuracies *accuracies, struct ar_error *err)
{
    size_t rows_count = 1;
    for (size_t i = 0; i < count; i++) {
        rows_count += judged[i].rows->measured->rows_count;
    }
    double *errors = ar_arena_alloc(arena, rows_count, sizeof *errors);
    *accuracies = (struct ar_accuracies){
        .rows = ar_arena_alloc(arena, (count + 1) * (ar_operations_count + 1),
                               sizeof *accuracies->rows)};
    if (errors == NULL || accuracies->rows == NULL) {
        return ar_error_no_memory(err, "errors of predictions");
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(add_lines(&judged[i], errors, arena, accuracies, err));
    }
    if (count > 1) {
        struct ar_accuracy *all = &accuracies->rows[accuracies->count++];
        AR_TRY(sum_up(judged, count, NULL, errors, arena, all, err));
        all->set = "all";
        all->held_out_nodes = "";
    }
    return AR_OK;
}

/* Of each set, whose last line is all of it. */
static void note_why(const struct ar_accuracies *accuracies, FILE *notes)
{
    for (size_t i = 0; i < accuracies->count; i++) {
        const struct ar_accuracy *line = &accuracies->rows[i];
        bool is_last = i + 1 == accuracies->count || strcmp(line->set, line[1].set) != 0;
        if (is_last && line->why[0] != '\0') {
            ar_note(notes, "%s: %.1f %% held out: %s", line->set, 100 * line->held_out.median_frac,
                    line->why);
        }
    }
}

enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario,
                               struct ar_inputs *inputs, FILE *notes, struct ar_arena *arena,
                               struct ar_accuracies *accuracies, struct ar_error *err)
{
    size_t count = 0;
    struct judged *judged = ar_arena_alloc(arena, index->sets_count + 1, sizeof *judged);
    if (judged == NULL) {
        return ar_error_no_memory(err, "measured sets");
    }
    AR_TRY(check_names(index, names, names_count, err));
    for (size_t i = 0; i < index->sets_count; i++) {
        if (is_wanted(&index->sets[i], names, names_count)) {
            struct ar_set_rows *rows;
            AR_TRY(ar_set_load(index, &index->sets[i], scenario, inputs, NULL, 0, notes, arena,
                               &rows, err));
            judged[count].rows = rows;
            AR_TRY(judge(&judged[count++], notes, arena, err));
        }
    }
    AR_TRY(make_lines(judged, count, arena, accuracies, err));
    note_why(accuracies, notes);
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

#define LINE(kind, field, name, ...) AR_COLUMN(kind, struct ar_accuracy, field, name, __VA_ARGS__)
#define PERCENT(title)               .heading = title, .factor = 100, .decimals = 1

static const struct ar_column columns[] = {
    LINE(string, set, "set", "of measured rows; all: of all sets", .heading = "set"),
    LINE(string, operation, "operation", "its command; empty: all", .heading = "operation"),
    LINE(count, zero_shot.count, "rows", "from 1 KiB on", .heading = "rows"),
    LINE(number, zero_shot.median_frac, "zero_shot_median_frac",
         "median of |predicted / measured - 1|, nothing fitted", PERCENT("nothing\nfitted (%)")),
    LINE(number, zero_shot.mean_frac, "zero_shot_mean_frac", "mean of it", PERCENT("mean"),
         .priority = 9),
    LINE(number, zero_shot.p95_frac, "zero_shot_p95_frac", "95th percentile of it", PERCENT("95th"),
         .priority = 8),
    LINE(number, zero_shot.covered_frac, "zero_shot_covered_frac", "share inside the 95 % band",
         PERCENT("in\nband"), .priority = 9),
    LINE(number, large.median_frac, "zero_shot_1MiB_median_frac", "median from 1 MiB on",
         PERCENT("from\n1 MiB"), .priority = 4),
    LINE(number, own.median_frac, "own_median_frac", "the same by NCCL's own constants",
         PERCENT("NCCL's\nown (%)"), .priority = 6),
    LINE(number, own_large.median_frac, "own_1MiB_median_frac", "median of it from 1 MiB on",
         PERCENT("from\n1 MiB"), .priority = 7),
    LINE(number, fit.median_frac, "fit_median_frac",
         "median, fitted to them (messages: to those of up to 256 ranks)",
         PERCENT("all\nfitted (%)")),
    LINE(number, fit.mean_frac, "fit_mean_frac", "mean of it", PERCENT("mean"), .priority = 9),
    LINE(number, fit.p95_frac, "fit_p95_frac", "95th percentile of it", PERCENT("95th"),
         .priority = 5),
    LINE(number, fit.covered_frac, "fit_covered_frac", "share inside the 95 % band",
         PERCENT("in\nband"), .priority = 7),
    LINE(string, held_out_nodes, "held_out_nodes", "node counts that were not fitted",
         .heading = "held out\n(nodes)", .priority = 1),
    LINE(count, held_out.count, "held_out_rows", "from 1 KiB on", .heading = "rows", .priority = 2),
    LINE(number, held_out.median_frac, "held_out_median_frac", "median of the held-out rows",
         PERCENT("held\nout (%)")),
    LINE(number, held_out.mean_frac, "held_out_mean_frac", "mean of it", PERCENT("mean"),
         .priority = 9),
    LINE(number, held_out.p95_frac, "held_out_p95_frac", "95th percentile of it", PERCENT("95th"),
         .priority = 3),
    LINE(number, held_out.covered_frac, "held_out_covered_frac", "share inside the 95 % band",
         PERCENT("in\nband"), .priority = 6),
    LINE(count, pairs, "held_out_pairs", "held-out pairs of algorithms that differ by 10 % or more",
         .heading = "pairs", .is_rare = true, .priority = 3),
    LINE(number, right_frac, "held_out_right_frac", "of which the faster one was predicted",
         PERCENT("right\n(%)"), .is_rare = true, .priority = 2),
    LINE(
        string, why, "why",
        "where the error sits if the median of the held-out rows is above 10 %, or less than 90 % "
        "of the pairs are right: predicted over measured times of the groups of rows that err most",
        .heading = "why", .is_rare = true, .priority = 10),
};

const struct ar_columns ar_accuracy_columns = {columns, sizeof columns / sizeof columns[0]};
