#include "ar_accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy_sum.h"
#include "ar_note.h"

/* --- one set ------------------------------------------------------------------------------- */

/* The node counts from `low` to `high`, blanks between. */
static const char *counts_text(const struct ar_library_nodes *nodes, uint32_t low, uint32_t high,
                               struct ar_arena *arena)
{
    char text[AR_LIBRARY_NODES_MAX * 12] = "";
    size_t used = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->counts[i] >= low && nodes->counts[i] <= high) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32,
                                     used > 0 ? " " : "", nodes->counts[i]);
        }
    }
    return ar_arena_text(arena, text);
}

/* Marks the rows of the largest counts, and writes these. */
static enum ar_status hold_out(struct judged *judged, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_measured *measured = judged->rows->measured;
    const struct ar_library_nodes *nodes = &measured->nodes;
    uint32_t max = judged->rows->set->fitted_nodes_max;
    if (max == 0) {
        max = nodes->count > 1 ? nodes->counts[nodes->count - 2] : UINT32_MAX - 1;
    }
    judged->is_held_out = ar_arena_alloc(arena, measured->rows_count + 1, sizeof(bool));
    judged->held_out_text = counts_text(nodes, max + 1, UINT32_MAX, arena);
    bool has_held_out = judged->held_out_text != NULL && judged->held_out_text[0] != '\0';
    judged->fitted_text = has_held_out ? counts_text(nodes, 0, max, arena) : "";
    AR_NEED(judged->is_held_out && judged->fitted_text && judged->held_out_text, err,
            "the rows of a fit");
    for (size_t i = 0; i < measured->rows_count; i++) {
        judged->is_held_out[i] = measured->rows[i].call.run.nodes > max;
    }
    return AR_OK;
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
            AR_TRY(accuracy_sum(judged, 1, ar_operations[k], errors, arena,
                                &accuracies->rows[accuracies->count++], err));
        }
    }
    if (accuracies->count > first + 1) {
        AR_TRY(accuracy_sum(judged, 1, NULL, errors, arena, &accuracies->rows[accuracies->count++],
                            err));
    }
    for (size_t i = first; i < accuracies->count; i++) {
        accuracies->rows[i].set = judged->rows->set->name;
        accuracies->rows[i].fitted_nodes = judged->fitted_text;
        accuracies->rows[i].held_out_nodes = judged->held_out_text;
        accuracies->rows[i].seen = judged->rows->set->seen;
        accuracies->rows[i].unseen = judged->rows->set->seen[0] == '\0';
    }
    return accuracies->count > first
               ? accuracy_unused(judged, 1, arena, &accuracies->rows[accuracies->count - 1], err)
               : AR_OK;
}

static bool is_of_library(const struct judged *judged)
{
    return judged->rows->scenario->engine->needs_library;
}

static bool is_of_mpi(const struct judged *judged)
{
    return judged->rows->set->fitted_nodes_max == 64;
}

static bool has_three_counts(const struct judged *judged)
{
    return judged->rows->measured->nodes.count >= 3;
}

static bool is_unseen(const struct judged *judged)
{
    return judged->rows->set->seen[0] == '\0';
}

static bool is_any(const struct judged *judged)
{
    (void)judged;
    return true;
}

/* Lines of several sets, behind those of each. */
static const struct {
    const char *name;
    bool (*has)(const struct judged *judged);
} kinds[] = {{"all_of_nccl_and_rccl", is_of_library},
             {"all_of_mpi_to_64_nodes", is_of_mpi},
             {"all_of_3_node_counts", has_three_counts},
             {"all_unseen", is_unseen},
             {"all", is_any}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* What some, but not all, of the sets have in common, and all of several. */
static enum ar_status add_kinds(const struct judged *judged, size_t count, double *errors,
                                struct ar_arena *arena, struct ar_accuracies *accuracies,
                                struct ar_error *err)
{
    struct judged *chosen = ar_arena_alloc(arena, count + 1, sizeof *chosen);
    AR_NEED(chosen, err, "errors of predictions");
    for (size_t k = 0; k < KINDS; k++) {
        size_t chosen_count = 0;
        for (size_t i = 0; i < count; i++) {
            if (kinds[k].has(&judged[i])) {
                chosen[chosen_count++] = judged[i];
            }
        }
        if (chosen_count > 1 && (chosen_count < count || k + 1 == KINDS)) {
            struct ar_accuracy *line = &accuracies->rows[accuracies->count++];
            AR_TRY(accuracy_sum(chosen, chosen_count, NULL, errors, arena, line, err));
            AR_TRY(accuracy_unused(chosen, chosen_count, arena, line, err));
            line->set = kinds[k].name;
            line->unseen = AR_NO_FLAG;
            line->fitted_nodes = line->held_out_nodes = line->seen = "";
        }
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
        .rows = ar_arena_alloc(arena, count * (ar_operations_count + 1) + KINDS,
                               sizeof *accuracies->rows)};
    if (errors == NULL || accuracies->rows == NULL) {
        return ar_error_no_memory(err, "errors of predictions");
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(add_lines(&judged[i], errors, arena, accuracies, err));
    }
    return add_kinds(judged, count, errors, arena, accuracies, err);
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
    LINE(count, unused, "not_used",
         "rows of the set's machine and ranks per node that are not judged, of all operations",
         .heading = "not\nused", .priority = 3),
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
    LINE(string, fitted_nodes, "fitted_nodes",
         "node counts that are fitted where others are held out", .heading = "fitted\n(nodes)",
         .priority = 9),
    LINE(string, held_out_nodes, "held_out_nodes", "node counts that were not fitted",
         .heading = "held out\n(nodes)", .priority = 1),
    LINE(count, held_out.count, "held_out_rows", "from 1 KiB on", .heading = "rows", .priority = 2),
    LINE(number, held_out.median_frac, "held_out_median_frac", "median of the held-out rows",
         PERCENT("held\nout (%)")),
    LINE(flag, unseen, "unseen",
         "no: something of the model was chosen when rows were seen, column seen", .heading = "",
         .is_rare = true, .mark = "*",
         .legend = "something of the model was chosen when rows of the set were seen: column seen"),
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
    LINE(string, seen, "seen",
         "what of the model was chosen when rows were seen that the set holds out, or that nothing "
         "was fitted to; empty: nothing",
         .heading = "seen", .is_rare = true, .priority = 2),
    LINE(string, unused_why, "not_used_why", "why rows of the set's machine are not judged",
         .heading = "not used", .is_rare = true, .priority = 10),
    LINE(
        string, why, "why",
        "where the error sits if the median of the held-out rows is above 10 %, or less than 90 % "
        "of the pairs are right: predicted over measured times of the groups of rows that err most",
        .heading = "why", .is_rare = true, .priority = 10),
};

const struct ar_columns ar_accuracy_columns = {columns, sizeof columns / sizeof columns[0]};
