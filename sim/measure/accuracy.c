#include "ar_accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_note.h"

/* --- the predictions of a set -------------------------------------------------------------- */

/* A set and one list of its predictions: of each row with nothing fitted, of each row with all of
 * them fitted, and of the rows on the largest node counts with the others fitted. */
struct predicted_set {
    const struct ar_set_rows *rows;
    struct ar_comparison list;
    uint32_t fitted_nodes_max;               /* larger counts are held out */
    const char *fitted_text, *held_out_text; /* counts, `8 16`; both empty: none is held out */
};

static bool is_held_out(const struct predicted_set *set, const struct ar_measured_row *row)
{
    return row->call.run.nodes > set->fitted_nodes_max;
}

/* Adds the predictions of one estimate to the list; or notes why some rows have none. */
static enum ar_status add_estimate(struct predicted_set *set, enum ar_compared_set use,
                                   const char *what, FILE *notes, struct ar_arena *arena,
                                   struct ar_error *err)
{
    const struct ar_measured_request *request = &set->rows->request;
    const struct ar_measured *measured = set->rows->measured;
    struct ar_estimate *estimate;
    struct ar_error why;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] = use == AR_COMPARED_FITTED || !is_held_out(set, &measured->rows[i]);
    }
    enum ar_status status = ar_estimate_run(
        request, measured, use != AR_COMPARED_UNFITTED ? is_fitted : NULL, arena, &estimate, &why);
    if (status != AR_OK && status != AR_BAD_DATA && status != AR_USAGE) {
        return ar_error_set(err, status, "%s", why.text);
    }
    if (status != AR_OK) {
        ar_note(notes, "%s: %s: %s", set->rows->set->name, what, why.text);
    }
    if (use != AR_COMPARED_UNFITTED) {
        AR_TRY(ar_estimate_correct(measured, is_fitted, arena, estimate, err));
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        if (use == AR_COMPARED_HELD_OUT && !is_held_out(set, row)) {
            continue;
        }
        struct ar_compared *made =
            ar_comparison_add(&set->list, row, use, &estimate->predictions[i], NULL);
        if (use == AR_COMPARED_UNFITTED && row->is_call && isfinite(made->predicted_s)) {
            struct ar_library_row call =
                ar_library_engine_row(request->scenario->cluster, &row->call);
            made->tuning_s =
                ar_tuning_predict(&estimate->library.tuning, call.calls, &call.run).time_s;
        }
    }
    return AR_OK;
}

/* Predicts a set. Held out are node counts above the limit of the set, else the largest one. */
static enum ar_status predict_set(struct predicted_set *set, FILE *notes, struct ar_arena *arena,
                                  struct ar_error *err)
{
    const struct ar_measured *measured = set->rows->measured;
    const struct ar_library_nodes *nodes = &measured->nodes;
    uint32_t max = set->rows->set->fitted_nodes_max;
    if (max == 0) {
        max = nodes->count > 1 ? nodes->counts[nodes->count - 2] : UINT32_MAX;
    }
    set->fitted_nodes_max = max;
    set->fitted_text = set->held_out_text = "";
    for (size_t i = 0; i < nodes->count; i++) {
        const char **text = nodes->counts[i] > max ? &set->held_out_text : &set->fitted_text;
        *text = ar_arena_format(arena, "%s%s%" PRIu32, *text, (*text)[0] != '\0' ? " " : "",
                                nodes->counts[i]);
    }
    set->list = ar_comparison_begin(3 * measured->rows_count, arena);
    AR_TRY(add_estimate(set, AR_COMPARED_UNFITTED, "nothing fitted", notes, arena, err));
    AR_TRY(add_estimate(set, AR_COMPARED_FITTED, "all fitted", notes, arena, err));
    if (set->held_out_text[0] == '\0') {
        set->fitted_text = "";
        return AR_OK;
    }
    return add_estimate(set, AR_COMPARED_HELD_OUT, "largest held out", notes, arena, err);
}

/* --- sums ---------------------------------------------------------------------------------- */

/* Pairs of held-out rows of two algorithms, not of two names. */
struct pairs {
    uint64_t count, right;
};

/* Whether a line of errors is of the row: of an operation, or of all (NULL). */
static bool counts_in_line(const struct ar_compared *row, const struct ar_operation *operation)
{
    return row->row.run.bytes >= AR_ACCURACY_BYTES_MIN &&
           (operation == NULL || row->measured->operation == operation);
}

static void count_pairs(const struct predicted_set *set, const struct ar_operation *operation,
                        struct pairs *pairs)
{
    const struct ar_compared *held = set->list.rows + 2 * set->rows->measured->rows_count;
    const struct ar_compared *end = set->list.rows + set->list.rows_count;
    for (const struct ar_compared *a = held; a < end; a++) {
        if (a->measured->is_call || !counts_in_line(a, operation)) {
            continue;
        }
        for (const struct ar_compared *b = held; b < a; b++) {
            double ratio = a->row.time_s / b->row.time_s;
            if (a->measured->operation == b->measured->operation &&
                a->row.run.bytes == b->row.run.bytes && a->row.run.ranks == b->row.run.ranks &&
                a->row.run.nodes == b->row.run.nodes &&
                a->measured->messages.collective.algorithm !=
                    b->measured->messages.collective.algorithm &&
                fabs(log(ratio)) > log(AR_ACCURACY_PAIR_RATIO)) {
                double predicted = a->predicted_s / b->predicted_s;
                pairs->count++;
                pairs->right += (predicted > 1) == (ratio > 1) && predicted != 1;
            }
        }
    }
}

/* Writes how many rows of the files of sets do not count, and why. Rows of other machines belong to
 * other sets. */
static void count_unused(const struct predicted_set *const *sets, size_t count,
                         struct ar_arena *arena, struct ar_accuracy *line)
{
    size_t left[AR_LEFT_SYSTEM + 1] = {0}; /* and behind them those that are too small */
    line->unused = 0;
    line->unused_why = "";
    for (size_t i = 0; i < count; i++) {
        const struct ar_measured *measured = sets[i]->rows->measured;
        for (size_t k = 0; k < AR_LEFT_SYSTEM; k++) {
            left[k] += measured->left[k].rows_count;
        }
        left[AR_LEFT_SYSTEM] += measured->empty_count;
        for (size_t k = 0; k < measured->rows_count; k++) {
            left[AR_LEFT_SYSTEM] += measured->rows[k].call.run.bytes < AR_ACCURACY_BYTES_MIN;
        }
    }
    for (size_t k = 0; k <= AR_LEFT_SYSTEM; k++) {
        line->unused += left[k];
        if (left[k] > 0) {
            line->unused_why = ar_arena_format(
                arena, "%s%s%zu of %s", line->unused_why, line->unused_why[0] != '\0' ? "; " : "",
                left[k], k < AR_LEFT_SYSTEM ? ar_measured_left_texts[k] : "less than 1 KiB");
        }
    }
}

/* One line: of sets, and one operation or all (NULL). */
static struct ar_accuracy sum_sets(const struct predicted_set *const *sets, size_t count,
                                   const struct ar_operation *operation)
{
    enum { ZERO_SHOT, LARGE, OWN, FIT, HELD_OUT, SUMS };
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_error_sum sums[SUMS] = {{NULL, 0, 0, false}};
    struct pairs pairs = {0, 0};
    size_t rows_count = 1;
    for (size_t i = 0; i < count; i++) {
        rows_count += sets[i]->rows->measured->rows_count;
    }
    for (int k = 0; k < SUMS; k++) {
        sums[k].errors = ar_arena_alloc(&scratch, rows_count, sizeof(double));
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sets[i]->list.rows_count; k++) {
            const struct ar_compared *row = &sets[i]->list.rows[k];
            if (!counts_in_line(row, operation)) {
                continue;
            }
            if (row->set != AR_COMPARED_UNFITTED) {
                ar_error_sum_add(&sums[row->set == AR_COMPARED_FITTED ? FIT : HELD_OUT], row,
                                 false);
                continue;
            }
            ar_error_sum_add(&sums[ZERO_SHOT], row, false);
            if (row->row.run.bytes >= AR_ACCURACY_LARGE_BYTES) {
                ar_error_sum_add(&sums[LARGE], row, false);
                ar_error_sum_add(&sums[OWN], row, true);
            }
        }
        count_pairs(sets[i], operation, &pairs);
    }
    return (struct ar_accuracy){
        .operation = operation != NULL ? operation->command : "",
        .zero_shot = ar_error_sum_end(&sums[ZERO_SHOT]),
        .large = ar_error_sum_end(&sums[LARGE]),
        .own = ar_error_sum_end(&sums[OWN]),
        .fit = ar_error_sum_end(&sums[FIT]),
        .held_out = ar_error_sum_end(&sums[HELD_OUT]),
        .unused = AR_NO_COUNT,
        .unused_why = "",
        .fitted_nodes = "",
        .held_out_nodes = "",
        .pairs = pairs.count > 0 ? pairs.count : AR_NO_COUNT,
        .right_frac = pairs.count > 0 ? (double)pairs.right / (double)pairs.count : NAN,
        .unseen = AR_NO_FLAG,
        .seen = ""};
}

/* --- lines --------------------------------------------------------------------------------- */

/* The lines of a set: each operation it has and, if these are several, all. The last one has what
 * was not used. */
static void add_lines(const struct predicted_set *set, struct ar_arena *arena,
                      struct ar_accuracies *accuracies)
{
    struct ar_accuracy *first = &accuracies->rows[accuracies->count], *line = first;
    for (size_t k = 0; k < ar_operations_count; k++) {
        bool has_rows = false;
        for (size_t i = 0; i < set->rows->measured->rows_count; i++) {
            has_rows = has_rows || counts_in_line(&set->list.rows[i], ar_operations[k]);
        }
        if (has_rows) {
            *line++ = sum_sets(&set, 1, ar_operations[k]);
        }
    }
    if (line > first + 1) {
        *line++ = sum_sets(&set, 1, NULL);
    }
    for (struct ar_accuracy *at = first; at < line; at++) {
        at->set = set->rows->set->name;
        at->fitted_nodes = set->fitted_text;
        at->held_out_nodes = set->held_out_text;
        at->seen = set->rows->set->seen;
        at->unseen = at->seen[0] == '\0';
    }
    if (line > first) {
        count_unused(&set, 1, arena, line - 1);
        accuracies->count += (size_t)(line - first);
    }
}

static bool is_of_library(const struct predicted_set *set)
{
    return ar_engine_times_calls(set->rows->scenario.engine);
}

static bool is_fitted_to_64_nodes(const struct predicted_set *set)
{
    return set->rows->set->fitted_nodes_max == 64;
}

static bool has_three_counts(const struct predicted_set *set)
{
    return set->rows->measured->nodes.count >= 3;
}

static bool is_unseen(const struct predicted_set *set)
{
    return set->rows->set->seen[0] == '\0';
}

static bool is_any(const struct predicted_set *set)
{
    return set != NULL;
}

/* Lines of several sets, behind those of each. */
static const struct {
    const char *name;
    bool (*has)(const struct predicted_set *set);
} groups[] = {{"all_of_nccl_and_rccl", is_of_library},
              {"all_of_mpi_to_64_nodes", is_fitted_to_64_nodes},
              {"all_of_3_node_counts", has_three_counts},
              {"all_unseen", is_unseen},
              {"all", is_any}};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static bool set_is_named(const struct ar_measured_set *set, const char *name)
{
    return strcmp(set->name, name) == 0 || ar_measured_set_has(set, name);
}

/* Adds the sets that a name stands for, NULL for all, to the marks; returns how many. */
static size_t mark_sets(const struct ar_measured_index *index, const char *name, bool *is_wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < index->sets_count; i++) {
        bool is_it = name == NULL || set_is_named(&index->sets[i], name);
        is_wanted[i] = is_wanted[i] || is_it;
        count += is_it;
    }
    return count;
}

enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario,
                               struct ar_inputs *inputs, FILE *notes, struct ar_arena *arena,
                               struct ar_accuracies *accuracies, struct ar_error *err)
{
    size_t count = 0;
    bool *is_wanted = ar_arena_alloc(arena, index->sets_count + 1, sizeof *is_wanted);
    struct predicted_set *sets = ar_arena_alloc(arena, index->sets_count + 1, sizeof *sets);
    const struct predicted_set **chosen =
        ar_arena_alloc(arena, index->sets_count + 1, sizeof(struct predicted_set *));
    for (size_t i = 0; i < names_count; i++) {
        if (mark_sets(index, names[i], is_wanted) == 0) {
            return ar_error_set(err, AR_NO_INPUT,
                                "accuracy: unknown set \"%.100s\"; 'allreckon list sets' has the "
                                "%zu that there are",
                                names[i], index->sets_count);
        }
    }
    if (names_count == 0) {
        mark_sets(index, NULL, is_wanted);
    }
    for (size_t i = 0; i < index->sets_count; i++) {
        if (is_wanted[i]) {
            struct ar_set_rows *rows;
            AR_TRY(ar_set_load(index, &index->sets[i], scenario, inputs, NULL, 0, notes, arena,
                               &rows, err));
            sets[count].rows = rows;
            AR_TRY(predict_set(&sets[count++], notes, arena, err));
        }
    }
    *accuracies = (struct ar_accuracies){
        .rows = ar_arena_alloc(arena, count * (ar_operations_count + 1) + GROUPS,
                               sizeof *accuracies->rows)};
    for (size_t i = 0; i < count; i++) {
        add_lines(&sets[i], arena, accuracies);
    }
    for (size_t k = 0; k < GROUPS; k++) {
        size_t chosen_count = 0;
        for (size_t i = 0; i < count; i++) {
            if (groups[k].has(&sets[i])) {
                chosen[chosen_count++] = &sets[i];
            }
        }
        if (chosen_count > 1 && (chosen_count < count || k + 1 == GROUPS)) {
            struct ar_accuracy *line = &accuracies->rows[accuracies->count++];
            *line = sum_sets(chosen, chosen_count, NULL);
            count_unused(chosen, chosen_count, arena, line);
            line->set = groups[k].name;
        }
    }
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
    LINE(number, large.median_frac, "zero_shot_1MiB_median_frac", "median from 1 MiB on",
         PERCENT("from\n1 MiB"), .priority = 4),
    LINE(number, own.median_frac, "own_1MiB_median_frac", "the same by NCCL's own constants",
         PERCENT("NCCL's\nown (%)"), .priority = 6),
    LINE(number, fit.median_frac, "fit_median_frac",
         "median, fitted to them (messages: to those of up to 256 ranks)",
         PERCENT("all\nfitted (%)")),
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
};

const struct ar_columns ar_accuracy_columns = {columns, sizeof columns / sizeof columns[0]};
