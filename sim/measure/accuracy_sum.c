/* Errors of judged sets, summed up. */
#include "accuracy_sum.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "accuracy_why.h"
#include "ar_library_engine.h"

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
        *why = ar_arena_format(arena,
                               "%s%s%" PRIu64 " of %" PRIu64
                               " wrong pairs have a row that scatters by more than %.0f %%",
                               *why, (*why)[0] != '\0' ? "; " : "", pairs->scattered,
                               pairs->count - pairs->right, (ACCURACY_SCATTER - 1) * 100);
    }
    return *why != NULL ? AR_OK : ar_error_no_memory(err, "errors of predictions");
}

enum ar_status accuracy_unused(const struct judged *judged, size_t count, struct ar_arena *arena,
                               struct ar_accuracy *line, struct ar_error *err)
{
    size_t small = 0, all = 0;
    size_t left[MEASURED_OTHER_SYSTEM] = {0}; /* rows of other machines belong to other sets */
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        const struct ar_measured *measured = judged[i].rows->measured;
        for (size_t k = 0; k < MEASURED_OTHER_SYSTEM; k++) {
            left[k] += measured->left[k].rows_count;
            all += measured->left[k].rows_count;
        }
        small += measured->empty_count;
        for (size_t k = 0; k < measured->rows_count; k++) {
            small += measured->rows[k].call.run.bytes < AR_ACCURACY_BYTES_MIN;
        }
    }
    line->unused = all + small;
    for (size_t k = 0; k < MEASURED_OTHER_SYSTEM && text != NULL; k++) {
        if (left[k] > 0) {
            text = ar_arena_format(arena, "%s%s%zu of %s", text, text[0] != '\0' ? "; " : "",
                                   left[k], ar_measured_left_texts[k]);
        }
    }
    if (text != NULL && small > 0) {
        text = ar_arena_format(arena, "%s%s%zu of less than 1 KiB", text,
                               text[0] != '\0' ? "; " : "", small);
    }
    line->unused_why = text;
    return text != NULL ? AR_OK : ar_error_no_memory(err, "errors of predictions");
}

enum ar_status accuracy_sum(const struct judged *judged, size_t count,
                            const struct ar_operation *operation, double *errors,
                            struct ar_arena *arena, struct ar_accuracy *made, struct ar_error *err)
{
    struct ar_accuracy line = {.operation = operation != NULL ? operation->command : "",
                               .why = "",
                               .unused = AR_NO_COUNT,
                               .unused_why = ""};
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
