#include "ar_accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_conformal.h"
#include "ar_library_engine.h"
#include "ar_pool.h"
#include "ar_row.h"

/* --- the predictions of a set -------------------------------------------------------------- */

/* Rows that are left out of a fit: every fifth, those on the largest node counts, those of every
 * second algorithm (or choice of a library) of the list, and those of the whole machine. */
enum left_out { OWN_ROWS, MORE_NODES, OTHER_ALGORITHM, NEW_MACHINE, LEFT_OUTS };
enum { OWN_ROWS_STEP = 5 };

static const char *const left_out_names[LEFT_OUTS] = {"own rows", "more nodes", "other algorithm",
                                                      "new machine"};

/* A set and its predictions: with nothing fitted, with all rows fitted, and with some left out
 * (NULL: there are none; of a new machine, not all sets are known). */
struct predicted_set {
    const struct ar_set_rows *rows;
    struct ar_estimate *unfitted, *fitted, *left_out[LEFT_OUTS];
    uint32_t fitted_nodes_max; /* larger counts are held out */
    const char *notes;
};

/* Whether a row is left out. One that no fit takes tells of no kind but more nodes. */
static bool row_is_left_out(const struct predicted_set *set, enum left_out kind, size_t place)
{
    const struct ar_measured_row *row = &set->rows->measured->rows[place];
    size_t way = row->is_call ? set->unfitted->predictions[place].choice : 0;
    switch (kind) {
    case OWN_ROWS:
        return ar_estimate_takes(row) && place % OWN_ROWS_STEP == OWN_ROWS_STEP / 2;
    case MORE_NODES:
        return row->call.run.nodes > set->fitted_nodes_max;
    case OTHER_ALGORITHM:
        while (!row->is_call && ar_algorithms[way] != row->messages.collective.algorithm) {
            way++;
        }
        return ar_estimate_takes(row) && way % 2 == 1;
    default:
        return true;
    }
}

/* Predicts all rows by a fit to some, NULL: to none; or notes why some rows have no prediction. */
static enum ar_status estimate_set(const struct predicted_set *set, const bool *is_fitted,
                                   const char *what, FILE *notes, struct ar_arena *arena,
                                   struct ar_estimate **estimate, struct ar_error *err)
{
    struct ar_measured measured = *set->rows->measured;
    struct ar_measured_request request = *measured.request;
    struct ar_error why;
    measured.request = &request;
    bool has_all_messages = is_fitted != NULL && set->fitted != NULL && set->fitted->has_links;
    for (size_t i = 0; has_all_messages && i < measured.rows_count; i++) {
        has_all_messages =
            is_fitted[i] || measured.rows[i].is_call || !ar_estimate_takes(&measured.rows[i]);
    }
    request.links = has_all_messages ? &set->fitted->links : NULL;
    enum ar_status status = ar_estimate_run(&measured, is_fitted, arena, estimate, &why);
    AR_REFUSE(status != AR_OK && status != AR_BAD_DATA && status != AR_USAGE, err, status, "%s",
              why.text);
    if (status != AR_OK) {
        ar_note(notes, "%s: %s: %s", set->rows->set->name, what, why.text);
    }
    if (is_fitted != NULL) {
        ar_estimate_correct(&measured, is_fitted, arena, *estimate);
    }
    return AR_OK;
}

/* Predicts a set. Held out are node counts above the limit of the set, else the largest one; the
 * other rows that may be left out are left out if `is_every_kind`. */
static enum ar_status predict_set(struct predicted_set *set, bool is_every_kind, FILE *notes,
                                  struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_measured *measured = set->rows->measured;
    bool *is_fitted = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    AR_TRY(estimate_set(set, NULL, "nothing fitted", notes, arena, &set->unfitted, err));
    memset(is_fitted, true, measured->rows_count * sizeof *is_fitted);
    AR_TRY(estimate_set(set, is_fitted, "all fitted", notes, arena, &set->fitted, err));
    for (enum left_out kind = OWN_ROWS; kind < NEW_MACHINE; kind++) {
        size_t fitted = 0;
        for (size_t i = 0; i < measured->rows_count; i++) {
            is_fitted[i] = !row_is_left_out(set, kind, i);
            fitted += is_fitted[i];
        }
        bool is_noted = kind == MORE_NODES;
        if (fitted < measured->rows_count && (is_every_kind || is_noted)) {
            AR_TRY(estimate_set(set, is_fitted, "largest held out", is_noted ? notes : NULL, arena,
                                &set->left_out[kind], err));
        }
    }
    return AR_OK;
}

/* --- sets in processes --------------------------------------------------------------------- */

enum { ESTIMATES = 2 + NEW_MACHINE }; /* of a set alone */

struct predicted_sets {
    struct predicted_set *list;
    struct ar_arena *arena;
    bool is_every_kind;
};

/* The bytes that a process sends back for one set: this, and behind it the predictions of each
 * estimate that there is, one for each measured row. */
struct worker_answer {
    struct ar_error err;
    struct ar_estimate estimates[ESTIMATES]; /* without predictions: there is none */
    char notes[2000];
};

static struct ar_estimate **estimate_of(struct predicted_set *set, int number)
{
    return number == 0 ? &set->unfitted : number == 1 ? &set->fitted : &set->left_out[number - 2];
}

static size_t predictions_bytes(const struct predicted_set *set)
{
    return set->rows->measured->rows_count * sizeof *set->unfitted->predictions;
}

/* Estimated seconds, by which the longest sets begin first: all sets together take about 0.01 s a
 * row on one core (2026, a Xeon with AVX-512). */
static double set_cost_s(const void *context, uint32_t item)
{
    const struct predicted_sets *sets = context;
    return 0.01 * (double)sets->list[item].rows->measured->rows_count;
}

static uint32_t compute_set(void *context, uint32_t item, char *bytes)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct predicted_sets *sets = context;
    struct predicted_set *set = &sets->list[item];
    struct worker_answer *answer = ar_arena_alloc(&arena, 1, sizeof *answer);
    size_t used = sizeof *answer, each = predictions_bytes(set);
    FILE *notes = fmemopen(answer->notes, sizeof answer->notes, "w");
    ar_memory_require(notes != NULL, "the notes of a set");
    answer->err.status = predict_set(set, sets->is_every_kind, notes, &arena, &answer->err);
    fclose(notes);
    for (int k = 0; k < ESTIMATES && answer->err.status == AR_OK; k++) {
        if (*estimate_of(set, k) != NULL) {
            answer->estimates[k] = **estimate_of(set, k);
            answer->estimates[k].library.rows = NULL; /* they are the worker's */
            memcpy(bytes + used, answer->estimates[k].predictions, each);
            used += each;
        }
    }
    memcpy(bytes, answer, sizeof *answer);
    return (uint32_t)used;
}

static enum ar_status take_set(void *context, const struct ar_pool_answer *got,
                               struct ar_error *err)
{
    const struct predicted_sets *sets = context;
    struct predicted_set *set = &sets->list[got->item];
    AR_REFUSE(got->is_lost, err, AR_INTERNAL, "%s: %s", set->rows->set->name, got->bytes);
    char *bytes = ar_arena_copy(sets->arena, got->bytes, 1, got->bytes_count);
    struct worker_answer *answer = (void *)bytes;
    AR_REFUSE(answer->err.status != AR_OK, err, answer->err.status, "%s", answer->err.text);
    set->notes = answer->notes;
    bytes += sizeof *answer;
    for (int k = 0; k < ESTIMATES; k++) {
        if (answer->estimates[k].predictions != NULL) {
            answer->estimates[k].predictions = (void *)bytes;
            *estimate_of(set, k) = &answer->estimates[k];
            bytes += predictions_bytes(set);
        }
    }
    return AR_OK;
}

/* Predicts all sets, in as many processes as there are processors. */
static enum ar_status predict_sets(struct predicted_sets *sets, size_t count, FILE *notes,
                                   struct ar_error *err)
{
    struct ar_pool_work work = {.context = sets,
                                .items_name = "sets",
                                .compute = compute_set,
                                .take = take_set,
                                .cost_s = set_cost_s};
    for (size_t i = 0; i < count; i++) {
        size_t bytes = sizeof(struct worker_answer) + ESTIMATES * predictions_bytes(&sets->list[i]);
        work.bytes_max = bytes > work.bytes_max ? (uint32_t)bytes : work.bytes_max;
    }
    struct ar_pool_queue queue = ar_pool_queue_create(sets->arena, &work, NULL, count);
    AR_TRY(ar_pool_run(&work, ar_pool_processors(), &queue, err));
    for (size_t i = 0; notes != NULL && i < count; i++) {
        fputs(sets->list[i].notes, notes);
    }
    return AR_OK;
}

/* Predicts all sets as new machines, each by what the fits of other machines tell. */
static enum ar_status predict_as_new(struct predicted_set *sets, size_t count,
                                     struct ar_arena *arena, struct ar_accuracies *accuracies,
                                     struct ar_error *err)
{
    struct ar_learnt learnt = {.sets = ar_arena_alloc(arena, count + 1, sizeof *learnt.sets)};
    struct ar_learnt_factors *factors = ar_arena_alloc(arena, 1, sizeof *factors);
    const char *without = "";
    struct ar_learnt_factor *list = NULL;
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        AR_TRY(ar_learnt_add(&learnt, sets[i].rows, sets[i].unfitted, sets[i].fitted, err));
    }
    for (size_t i = 0; i < count; i++) {
        const struct ar_set_rows *rows = sets[i].rows;
        const struct ar_cluster_facts *facts = ar_cluster_facts(rows->scenario.cluster);
        struct ar_measured measured = *rows->measured;
        struct ar_measured_request request = *measured.request;
        if (rows->set->machine[0] == '\0') {
            continue;
        }
        if (strcmp(without, rows->set->machine) != 0) { /* sets of a machine follow each other */
            without = rows->set->machine;
            AR_TRY(ar_learnt_solve(&learnt, without, factors, err));
            list = ar_learnt_list(&learnt, factors, arena, &listed);
        }
        struct ar_machine_factors known = ar_learnt_machine_factors(
            list, listed, facts, sets[i].unfitted->library.tuning.release);
        request.factors = &known;
        measured.request = &request;
        AR_TRY(ar_estimate_run(&measured, NULL, arena, &sets[i].left_out[NEW_MACHINE], err));
    }
    AR_TRY(ar_learnt_solve(&learnt, NULL, factors, err));
    accuracies->factors = ar_learnt_list(&learnt, factors, arena, &accuracies->factors_count);
    return AR_OK;
}

/* Whether a line of errors is of the row: of an operation, or of all (NULL). */
static bool counts_in_line(const struct ar_measured_row *row, const struct ar_operation *operation)
{
    return row->call.run.bytes >= AR_ACCURACY_BYTES_MIN &&
           (operation == NULL || row->operation == operation);
}

/* The index of a row's kind in ar_learnt_kind_names; modulo AR_MACHINE_PLACES its place. */
static size_t find_row_kind(const struct predicted_set *set, size_t row)
{
    const struct ar_measured_row *measured = &set->rows->measured->rows[row];
    const struct ar_library_run *run = &measured->call.run;
    const struct ar_cluster_facts *facts = ar_cluster_facts(set->rows->scenario.cluster);
    uint32_t domain = facts->nvlink_domain_nodes; /* nodes that NVLinks join are one */
    return (size_t)(measured->is_call ? 0 : AR_MACHINE_PLACES) +
           ar_machine_place((run->nodes + domain - 1) / domain, run->bytes, facts->hca_kind);
}

/* How far the factors of other machines may be followed: not, half way, all the way. */
static const double weights[] = {0, 0.5, 1};
enum { WEIGHTS = sizeof weights / sizeof weights[0] };

/* Chooses the weight of the factors for a kind of rows: of the least median error over all rows and
 * in the mean of machines, both counted, so that one with many rows does not decide alone. */
static void judge_kind(const struct predicted_set *sets, size_t count, size_t kind,
                       struct ar_arena *scratch, struct ar_learnt_kind *judged)
{
    struct ar_error_sum sums[WEIGHTS] = {
        {.arena = scratch}, {.arena = scratch}, {.arena = scratch}};
    double of_machines[WEIGHTS] = {0}, medians[WEIGHTS];
    size_t begin = 0, best = 0;
    uint64_t machines = 0;
    for (size_t i = 0; i < count; i++) { /* sets of a machine follow each other */
        const struct predicted_set *set = &sets[i];
        const struct ar_estimate *told = set->left_out[NEW_MACHINE];
        const char *next = i + 1 < count ? sets[i + 1].rows->set->machine : "";
        for (size_t k = 0; told != NULL && k < set->rows->measured->rows_count; k++) {
            const struct ar_measured_row *row = &set->rows->measured->rows[k];
            if (find_row_kind(set, k) != kind || !counts_in_line(row, NULL)) {
                continue;
            }
            for (size_t w = 0; w < WEIGHTS; w++) {
                struct ar_library_prediction mixed = told->predictions[k];
                mixed.time_s =
                    ar_told_mix(set->unfitted->predictions[k].time_s, mixed.time_s, weights[w]);
                ar_error_sum_add(&sums[w], row->call.time_s, &mixed);
            }
        }
        if (sums[0].count > begin && strcmp(next, set->rows->set->machine) != 0) {
            for (size_t w = 0; w < WEIGHTS; w++) {
                struct ar_error_sum own = {.errors = sums[w].errors + begin,
                                           .count = sums[w].count - begin};
                of_machines[w] += ar_error_sum_end(&own).median_frac;
            }
            begin = sums[0].count;
            machines++;
        }
    }
    for (size_t w = 0; w < WEIGHTS; w++) {
        medians[w] = ar_error_sum_end(&sums[w]).median_frac;
        bool is_better = medians[w] + of_machines[w] / (double)machines <
                         medians[best] + of_machines[best] / (double)machines;
        best = is_better ? w : best;
    }
    *judged = (struct ar_learnt_kind){.kind = ar_learnt_kind_names[kind],
                                      .machines = machines,
                                      .rows = begin,
                                      .unfitted_frac = medians[0],
                                      .factors_frac = medians[WEIGHTS - 1],
                                      .weight = weights[best],
                                      .reach = NAN};
}

/* Judges all kinds, and gives new machines what the weights say. */
static void judge_kinds(const struct predicted_set *sets, size_t count,
                        struct ar_accuracies *accuracies)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    for (size_t kind = 0; kind < AR_MACHINE_KINDS; kind++) {
        judge_kind(sets, count, kind, &scratch, &accuracies->kinds[kind]);
    }
    AR_EACH(const struct predicted_set, set, sets, count) {
        struct ar_estimate *told = set->left_out[NEW_MACHINE];
        for (size_t k = 0; told != NULL && k < set->rows->measured->rows_count; k++) {
            const struct ar_learnt_kind *small = &accuracies->kinds[find_row_kind(set, k) / 2 * 2];
            struct ar_told kinds[2] = {{.weight = small[0].weight}, {.weight = small[1].weight}};
            double bytes = set->rows->measured->rows[k].call.run.bytes;
            double *time_s = &told->predictions[k].time_s;
            *time_s = ar_told_mix(set->unfitted->predictions[k].time_s, *time_s,
                                  ar_told_at(kinds, bytes).weight);
        }
    }
}

/* --- bands --------------------------------------------------------------------------------- */

/* Sums up how the rows of one kind are predicted. */
static struct ar_coverage cover_kind(const struct ar_left_out *left, size_t count,
                                     enum left_out kind)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    size_t asked = 0;
    struct ar_error_sum sum = {.arena = &scratch};
    for (size_t i = 0; i < count; i++) {
        if ((left[i].kind / 2 < NEW_MACHINE ? left[i].kind / 2 : NEW_MACHINE) == kind) {
            asked++;
            ar_error_sum_add(&sum, left[i].measured_s, left[i].prediction);
        }
    }
    return (struct ar_coverage){
        .kind = left_out_names[kind],
        .error = ar_error_sum_end(&sum),
        .unbanded = asked - sum.banded,
        .why = sum.banded < sum.count ? "other machines have fewer than 19 such rows"
               : sum.banded < asked   ? "the rows that are left are too few for a fit"
                                      : ""};
}

/* Gives rows that were left out the bands that the same rows of other machines tell, calls and
 * messages apart, but of new machines those of one place together, for few machines have both; and
 * kinds of new machines the reach that all machines tell. Sums up how bands hold. */
static void band_sets(const struct predicted_set *sets, size_t count,
                      struct ar_accuracies *accuracies)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    size_t left_count = 0;
    struct ar_left_out *left = NULL;
    for (size_t i = 0; i < LEFT_OUTS * count; i++) { /* those of one kind follow each other */
        const struct predicted_set *set = &sets[i % count];
        enum left_out kind = (enum left_out)(i / count);
        const struct ar_measured_set *known = set->rows->set;
        size_t asked = set->left_out[kind] != NULL ? set->rows->measured->rows_count : 0;
        for (size_t k = 0; k < asked; k++) {
            const struct ar_measured_row *row = &set->rows->measured->rows[k];
            if (row_is_left_out(set, kind, k) && counts_in_line(row, NULL)) {
                struct ar_library_prediction *prediction = &set->left_out[kind]->predictions[k];
                *AR_ARENA_ADD(&scratch, left, left_count) = (struct ar_left_out){
                    .machine = known->machine[0] != '\0' ? known->machine : known->cluster,
                    .kind = 2 * kind + (kind == NEW_MACHINE
                                            ? (uint32_t)(find_row_kind(set, k) % AR_MACHINE_PLACES)
                                            : !row->is_call),
                    .measured_s = row->call.time_s,
                    .scatter = kind == NEW_MACHINE ? 1
                                                   : log(prediction->high_s / prediction->time_s) /
                                                         AR_BAND95_DEVIATIONS,
                    .prediction = prediction};
            }
        }
    }
    ar_conformal_bands(left, left_count);
    for (uint32_t k = 0; k < AR_MACHINE_KINDS; k++) {
        accuracies->kinds[k].reach =
            ar_conformal_reach(left, left_count, 2 * NEW_MACHINE + k % AR_MACHINE_PLACES, NULL);
    }
    for (enum left_out kind = OWN_ROWS; kind < LEFT_OUTS; kind++) {
        accuracies->coverages[kind] = cover_kind(left, left_count, kind);
    }
}

/* --- sums ---------------------------------------------------------------------------------- */

/* Pairs of held-out rows of two algorithms, not of two names. */
struct pairs {
    uint64_t count, right;
};

/* Counts the pairs of a held-out row of messages and one before it. */
static void count_pairs(const struct predicted_set *set, size_t row, struct pairs *pairs)
{
    const struct ar_measured_row *rows = set->rows->measured->rows, *a = &rows[row], *b = rows;
    const struct ar_library_prediction *predictions = set->left_out[MORE_NODES]->predictions;
    for (; b < a && !a->is_call; b++) {
        const struct ar_library_run *x = &a->call.run, *y = &b->call.run;
        if (a->operation == b->operation && x->bytes == y->bytes && x->ranks == y->ranks &&
            x->nodes == y->nodes &&
            a->messages.collective.algorithm != b->messages.collective.algorithm &&
            fabs(log(a->call.time_s / b->call.time_s)) > log(AR_ACCURACY_PAIR_RATIO)) {
            double predicted = predictions[row].time_s / predictions[b - rows].time_s;
            bool is_slower = a->call.time_s > b->call.time_s;
            pairs->count++;
            pairs->right += (predicted > 1) == is_slower && predicted != 1;
        }
    }
}

/* How many rows of sets' files do not count, and why. Rows of other machines are of other sets. */
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

/* NCCL's own constants on a call; NAN of messages, and where its rates are not known. */
static struct ar_library_prediction own_prediction(const struct predicted_set *set, size_t row)
{
    const struct ar_measured_row *measured = &set->rows->measured->rows[row];
    if (!measured->is_call || !isfinite(set->unfitted->predictions[row].time_s)) {
        return (struct ar_library_prediction){.time_s = NAN};
    }
    struct ar_library_row call =
        ar_library_engine_row(set->rows->scenario.cluster, &measured->call);
    return ar_tuning_predict(&set->unfitted->library.tuning, call.calls, &call.run);
}

/* One line: of sets, and one operation or all (NULL). */
static struct ar_accuracy sum_sets(const struct predicted_set *const *sets, size_t count,
                                   const struct ar_operation *operation)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_error_sum sums[AR_ACCURACY_ERRORS] = {{.arena = NULL}};
    struct pairs pairs = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const struct predicted_set *set = sets[i];
        for (size_t k = 0; k < set->rows->measured->rows_count; k++) {
            const struct ar_measured_row *row = &set->rows->measured->rows[k];
            if (!counts_in_line(row, operation)) {
                continue;
            }
            const struct ar_estimate *told = set->left_out[NEW_MACHINE];
            const struct ar_library_prediction own = own_prediction(set, k);
            const struct ar_library_prediction *unfitted = &set->unfitted->predictions[k];
            const struct ar_library_prediction *known = told != NULL ? &told->predictions[k] : NULL;
            bool is_large = row->call.run.bytes >= AR_ACCURACY_LARGE_BYTES;
            bool is_held_out = row->call.run.nodes > set->fitted_nodes_max;
            const struct ar_library_prediction *const predictions[AR_ACCURACY_ERRORS] = {
                [AR_ZERO_SHOT] = unfitted,
                [AR_ZERO_SHOT_LARGE] = is_large ? unfitted : NULL,
                [AR_OWN_LARGE] = is_large ? &own : NULL,
                [AR_NEW_MACHINE] = known,
                [AR_NEW_LARGE] = is_large ? known : NULL,
                [AR_NEW_NODE] = row->call.run.nodes == 1 ? known : NULL,
                [AR_FIT] = &set->fitted->predictions[k],
                [AR_HELD_OUT] = is_held_out ? &set->left_out[MORE_NODES]->predictions[k] : NULL};
            for (size_t e = 0; e < AR_ACCURACY_ERRORS; e++) {
                sums[e].arena = &scratch;
                if (predictions[e] != NULL) {
                    ar_error_sum_add(&sums[e], row->call.time_s, predictions[e]);
                }
            }
            if (is_held_out) {
                count_pairs(set, k, &pairs);
            }
        }
    }
    struct ar_accuracy line = {
        .operation = operation != NULL ? operation->command : "",
        .unused = AR_NO_COUNT,
        .unused_why = "",
        .fitted_nodes = "",
        .held_out_nodes = "",
        .pairs = pairs.count > 0 ? pairs.count : AR_NO_COUNT,
        .right_frac = pairs.count > 0 ? (double)pairs.right / (double)pairs.count : NAN,
        .unseen = AR_NO_FLAG,
        .seen = ""};
    for (size_t e = 0; e < AR_ACCURACY_ERRORS; e++) {
        line.errors[e] = ar_error_sum_end(&sums[e]);
    }
    return line;
}

/* --- lines --------------------------------------------------------------------------------- */

/* Lines of a set: each operation and, if these are several, all. The last has what was not used. */
static void add_lines(const struct predicted_set *set, struct ar_arena *arena,
                      struct ar_accuracies *accuracies)
{
    struct ar_accuracy *first = &accuracies->rows[accuracies->count], *line = first;
    const struct ar_measured *measured = set->rows->measured;
    const char *fitted = "", *held_out = "";
    for (size_t i = 0; set->left_out[MORE_NODES] != NULL && i < measured->nodes.count; i++) {
        uint32_t nodes = measured->nodes.counts[i];
        const char **text = nodes > set->fitted_nodes_max ? &held_out : &fitted;
        *text = ar_arena_format(arena, "%s%s%" PRIu32, *text, (*text)[0] != '\0' ? " " : "", nodes);
    }
    for (size_t k = 0; k < ar_operations_count; k++) {
        bool has_rows = false;
        for (size_t i = 0; i < measured->rows_count; i++) {
            has_rows = has_rows || counts_in_line(&measured->rows[i], ar_operations[k]);
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
        at->fitted_nodes = fitted;
        at->held_out_nodes = held_out;
        at->seen = set->rows->set->seen;
        at->unseen = at->seen[0] == '\0';
    }
    if (line > first) {
        count_unused(&set, 1, arena, line - 1);
        accuracies->count += (size_t)(line - first);
    }
}

/* Lines of several sets, behind those of each. */
static const char *const groups[] = {"all_of_nccl_and_rccl", "all_of_mpi_to_64_nodes",
                                     "all_of_3_node_counts", "all_unseen", "all"};
enum { GROUPS = sizeof groups / sizeof groups[0] };

enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario, FILE *notes,
                               struct ar_arena *arena, struct ar_accuracies *accuracies,
                               struct ar_error *err)
{
    size_t count = 0;
    bool *is_wanted = ar_arena_alloc(arena, index->sets_count + 1, sizeof *is_wanted);
    struct predicted_set *sets = ar_arena_alloc(arena, index->sets_count + 1, sizeof *sets);
    const struct predicted_set **chosen =
        ar_arena_alloc(arena, index->sets_count + 1, sizeof(struct predicted_set *));
    for (size_t i = 0; i < names_count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < index->sets_count; k++) {
            bool is_it = ar_measured_set_has(&index->sets[k], names[i]);
            is_wanted[k] = is_wanted[k] || is_it;
            is_known = is_known || is_it;
        }
        AR_REFUSE(
            !is_known, err, AR_NO_INPUT,
            "accuracy: unknown set \"%.100s\"; 'allreckon list sets' has the %zu that there are",
            names[i], index->sets_count);
    }
    for (size_t i = 0; i < index->sets_count; i++) {
        if (names_count == 0 || is_wanted[i]) {
            struct ar_set_rows *rows;
            AR_TRY(
                ar_set_load(index, &index->sets[i], scenario, NULL, 0, notes, arena, &rows, err));
            const struct ar_library_nodes *nodes = &rows->measured->nodes;
            uint32_t max = rows->set->fitted_nodes_max;
            sets[count++] = (struct predicted_set){
                .rows = rows,
                .fitted_nodes_max =
                    max > 0 ? max : nodes->counts[nodes->count > 1 ? nodes->count - 2 : 0]};
        }
    }
    struct predicted_sets all = {sets, arena, names_count == 0};
    AR_TRY(predict_sets(&all, count, notes, err));
    *accuracies = (struct ar_accuracies){
        .rows = ar_arena_alloc(arena, count * (ar_operations_count + 1) + GROUPS,
                               sizeof *accuracies->rows)};
    if (names_count == 0) {
        AR_TRY(predict_as_new(sets, count, arena, accuracies, err));
        judge_kinds(sets, count, accuracies);
        band_sets(sets, count, accuracies);
    }
    for (size_t i = 0; i < count; i++) {
        add_lines(&sets[i], arena, accuracies);
    }
    for (size_t k = 0; k < GROUPS; k++) {
        size_t chosen_count = 0;
        for (size_t i = 0; i < count; i++) {
            const struct ar_measured_set *set = sets[i].rows->set;
            const bool is_in[GROUPS] = {
                ar_engine_times_calls(sets[i].rows->scenario.engine), set->fitted_nodes_max == 64,
                sets[i].rows->measured->nodes.count >= 3, set->seen[0] == '\0', true};
            if (is_in[k]) {
                chosen[chosen_count++] = &sets[i];
            }
        }
        if (chosen_count > 1 && (chosen_count < count || k + 1 == GROUPS)) {
            struct ar_accuracy *line = &accuracies->rows[accuracies->count++];
            *line = sum_sets(chosen, chosen_count, NULL);
            count_unused(chosen, chosen_count, arena, line);
            line->set = groups[k];
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
    LINE(count, errors[AR_ZERO_SHOT].count, "rows", "from 1 KiB on", .heading = "rows"),
    LINE(count, unused, "not_used",
         "rows of the set's machine and ranks per node that are not judged, of all operations",
         .heading = "not\nused", .priority = 3),
    LINE(number, errors[AR_ZERO_SHOT].median_frac, "zero_shot_median_frac",
         "median of |predicted / measured - 1|, nothing fitted", PERCENT("nothing\nfitted (%)")),
    LINE(number, errors[AR_ZERO_SHOT_LARGE].median_frac, "zero_shot_1MiB_median_frac",
         "median from 1 MiB on", PERCENT("from\n1 MiB"), .priority = 4),
    LINE(number, errors[AR_OWN_LARGE].median_frac, "own_1MiB_median_frac",
         "the same by NCCL's own constants", PERCENT("NCCL's\nown (%)"), .priority = 6),
    LINE(number, errors[AR_NEW_MACHINE].median_frac, "new_machine_median_frac",
         "median, predicted by what all other machines tell (all sets are asked for)",
         PERCENT("new\nmachine (%)"), .priority = 2),
    LINE(number, errors[AR_NEW_LARGE].median_frac, "new_machine_1MiB_median_frac",
         "the same from 1 MiB on", PERCENT("from\n1 MiB"), .priority = 4),
    LINE(number, errors[AR_NEW_NODE].median_frac, "new_machine_node_median_frac",
         "the same on one node", PERCENT("in a\nnode"), .priority = 8),
    LINE(number, errors[AR_NEW_MACHINE].covered_frac, "new_machine_covered_frac",
         "share of these inside the 95 % band", PERCENT("in\nband"), .priority = 8),
    LINE(number, errors[AR_NEW_MACHINE].band_ratio, "new_machine_band_ratio",
         "median of upper over lower end of that band", .heading = "wide\n(x)", .decimals = 2,
         .priority = 8),
    LINE(number, errors[AR_FIT].median_frac, "fit_median_frac",
         "median, fitted to them (messages: to those of up to 256 ranks)",
         PERCENT("all\nfitted (%)")),
    LINE(number, errors[AR_FIT].p95_frac, "fit_p95_frac", "95th percentile of it", PERCENT("95th"),
         .priority = 5),
    LINE(number, errors[AR_FIT].covered_frac, "fit_covered_frac", "share inside the 95 % band",
         PERCENT("in\nband"), .priority = 7),
    LINE(number, errors[AR_FIT].band_ratio, "fit_band_ratio",
         "median of upper over lower end of the band", .heading = "wide\n(x)", .decimals = 2,
         .priority = 8),
    LINE(string, fitted_nodes, "fitted_nodes",
         "node counts that are fitted where others are held out", .heading = "fitted\n(nodes)",
         .priority = 9),
    LINE(string, held_out_nodes, "held_out_nodes", "node counts that were not fitted",
         .heading = "held out\n(nodes)", .priority = 1),
    LINE(count, errors[AR_HELD_OUT].count, "held_out_rows", "from 1 KiB on", .heading = "rows",
         .priority = 2),
    LINE(number, errors[AR_HELD_OUT].median_frac, "held_out_median_frac",
         "median of the held-out rows", PERCENT("held\nout (%)")),
    LINE(flag, unseen, "unseen",
         "no: something of the model was chosen when rows were seen, column seen", .heading = "",
         .is_rare = true, .mark = "*",
         .legend = "something of the model was chosen when rows of the set were seen: column seen"),
    LINE(number, errors[AR_HELD_OUT].mean_frac, "held_out_mean_frac", "mean of it", PERCENT("mean"),
         .priority = 9),
    LINE(number, errors[AR_HELD_OUT].p95_frac, "held_out_p95_frac", "95th percentile of it",
         PERCENT("95th"), .priority = 3),
    LINE(number, errors[AR_HELD_OUT].covered_frac, "held_out_covered_frac",
         "share inside the 95 % band", PERCENT("in\nband"), .priority = 6),
    LINE(number, errors[AR_HELD_OUT].band_ratio, "held_out_band_ratio",
         "median of upper over lower end of the band", .heading = "wide\n(x)", .decimals = 2,
         .priority = 6),
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

#define COVERAGE(kind_, field, name, ...)                                                          \
    AR_COLUMN(kind_, struct ar_coverage, field, name, __VA_ARGS__)

static const struct ar_column coverage_columns[] = {
    COVERAGE(string, kind, "left_out", "rows that were not fitted", .heading = "left out"),
    COVERAGE(count, error.count, "rows", "from 1 KiB on", .heading = "rows"),
    COVERAGE(number, error.median_frac, "median_frac", "of |predicted / measured - 1|",
             PERCENT("error\n(%)")),
    COVERAGE(number, error.covered_frac, "covered_frac", "share inside the 95 % band",
             PERCENT("in\nband (%)")),
    COVERAGE(number, error.band_ratio, "band_ratio", "median of upper over lower end of the band",
             .heading = "wide\n(x)", .decimals = 2),
    COVERAGE(count, unbanded, "no_band", "rows that have none", .heading = "no\nband"),
    COVERAGE(string, why, "why", "why they have none", .heading = "why"),
};

const struct ar_columns ar_coverage_columns = AR_COLUMNS(coverage_columns);
