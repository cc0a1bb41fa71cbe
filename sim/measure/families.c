/* Families of published runs: rows of one software, GPU and range of GPUs, and their errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_conformal.h"
#include "ar_numbers.h"
#include "reproduce.h"

/* Ranges of GPUs: a node, a rack, a row of racks, and above. */
static const struct {
    uint64_t last;
    const char *name;
} ranges[] = {{8, "1-8"}, {64, "9-64"}, {512, "65-512"}, {4096, "513-4096"}, {UINT64_MAX, "4097-"}};

/* Shares of rows below the upper end of a band of 95 %, or of one that holds half of them. */
#define BAND_SHARE 0.975
#define HALF_SHARE 0.75
enum { ROWS_MIN = 19 };

/* Share of error up to which a prediction counts as met. */
static const double met_frac = 0.10;

static size_t range_of(uint64_t gpus)
{
    size_t i = 0;
    while (gpus > ranges[i].last) {
        i++;
    }
    return i;
}

static bool is_counted(const struct published *row)
{
    return !isnan(row->predicted) && row->fitted == NULL;
}

static bool is_of(const struct reproduce_family *family, const struct published *row)
{
    return strcmp(family->software, row->software) == 0 && strcmp(family->gpu, row->gpu) == 0 &&
           family->range == ranges[range_of(row->gpus)].name;
}

/* By software, GPU and range. */
AR_ORDER(compare_families, struct reproduce_family, AR_SPELLS(software), AR_SPELLS(gpu),
         AR_COMPARE(strtod(a->range, NULL), strtod(b->range, NULL)))

/* The error that a peer states for the family of a row: `vTrain: mean 8.4 % (one node)`. */
static const char *peer_of(const struct published_rows *rows, const struct published *row,
                           struct ar_arena *arena)
{
    AR_EACH(const struct published_peer, peer, rows->peers, rows->peers_count) {
        if (strcmp(peer->software, row->software) == 0 && strcmp(peer->table, row->table) == 0 &&
            row->gpus >= peer->gpus_min && row->gpus <= peer->gpus_max) {
            return ar_arena_format(arena, "%s: %s %.1f %% (%s)", peer->peer, peer->statistic,
                                   100 * peer->error_frac, peer->rows);
        }
    }
    return NULL;
}

/* Sums up the errors of times of a family, of all rows if it has no GPU. */
static void fill_family(const struct published_rows *rows, double *errors, struct ar_arena *arena,
                        struct reproduce_family *family)
{
    size_t count = 0;
    AR_EACH(const struct published, row, rows->rows, rows->count) {
        if (is_counted(row) && (family->gpu == NULL || is_of(family, row))) {
            errors[count++] = row->predicted_s / row->measured_s - 1;
            family->misfits += row->fits != NULL && strcmp(row->fits, "no") == 0;
            if (family->gpu != NULL && family->peer == NULL) {
                family->peer = peer_of(rows, row, arena);
            }
        }
    }
    size_t met = 0;
    family->rows = count;
    ar_sort(errors, count);
    family->signed_frac = ar_quantile(errors, count, 0.5);
    for (size_t i = 0; i < count; i++) {
        errors[i] = fabs(errors[i]);
        met += errors[i] <= met_frac;
    }
    struct ar_library_error error = ar_library_error_of(errors, count, met);
    family->median_frac = error.median_frac;
    family->mean_frac = error.mean_frac;
    family->worst_frac = error.worst_frac;
    family->within_frac = error.covered_frac;
}

void reproduce_families(const struct published_rows *rows, struct ar_arena *arena,
                        struct reproduce_family **families, size_t *count)
{
    double *errors = ar_arena_alloc(arena, rows->count + 1, sizeof *errors);
    struct reproduce_family *list = ar_arena_alloc(arena, rows->count + 1, sizeof *list);
    size_t made = 0;
    AR_EACH(const struct published, row, rows->rows, rows->count) {
        bool is_known = !is_counted(row);
        for (size_t j = 0; j < made && !is_known; j++) {
            is_known = is_of(&list[j], row);
        }
        if (!is_known) {
            list[made] = (struct reproduce_family){.software = row->software,
                                                   .gpu = row->gpu,
                                                   .range = ranges[range_of(row->gpus)].name};
            fill_family(rows, errors, arena, &list[made++]);
        }
    }
    qsort(list, made, sizeof *list, compare_families);
    if (made > 1) {
        list[made] = (struct reproduce_family){.software = "all"};
        fill_family(rows, errors, arena, &list[made++]);
    }
    *families = list;
    *count = made;
}

/* --- what they tell of other steps --------------------------------------------------------- */

/* Whether a row tells how far predictions of a class are off. */
static bool is_telling(const struct published *row, enum ar_step_class of, const char *without)
{
    return is_counted(row) && ar_step_class_tells(row->class, of) &&
           strcmp(row->table, without) != 0;
}

/* How far the measured times of a class are above (`sign` 1) or below (-1) those that were
 * predicted, but for a few: `share` of the rows are less far, or of 19 rows or more all, which
 * hold 90 % (source: ar_conformal.h). NAN: fewer rows. */
static double band_end(const struct published_rows *rows, enum ar_step_class of, double sign,
                       double share, struct ar_score *scores, struct ar_step_errors *errors)
{
    errors->rows = errors->tables = 0;
    AR_EACH(const struct published, row, rows->rows, rows->count) {
        if (is_telling(row, of, errors->without)) {
            errors->tables +=
                errors->rows == 0 || strcmp(row->table, scores[errors->rows - 1].machine) != 0;
            scores[errors->rows++] = (struct ar_score){
                .machine = row->table, .score = sign * log(row->measured_s / row->predicted_s)};
        }
    }
    double all = (double)errors->rows / (double)(errors->rows + 1);
    return errors->rows < ROWS_MIN
               ? NAN
               : exp(sign * ar_conformal_quantile(scores, errors->rows, fmin(share, all)));
}

void reproduce_errors(const struct published_rows *rows, struct ar_arena *arena,
                      struct ar_step_errors **errors, size_t *count)
{
    struct ar_score *scores = ar_arena_alloc(arena, rows->count + 1, sizeof *scores);
    size_t made = 0;
    *errors = ar_arena_alloc(arena, (rows->count + 1) * AR_STEP_CLASSES, sizeof **errors);
    for (enum ar_step_class of = AR_STEP_OF_TRACE; of < AR_STEP_CLASSES; of++) {
        const char *without = "-";
        for (size_t i = 0; i <= rows->count; i++) {
            const struct published *row = i == 0 ? NULL : &rows->rows[i - 1];
            if (row != NULL && !is_telling(row, of, without)) {
                continue;
            }
            without = row == NULL ? without : row->table;
            struct ar_step_errors *end = &(*errors)[made++];
            *end = (struct ar_step_errors){
                .steps = ar_step_class_names[of], .without = without, .gpus = ""};
            AR_EACH(const struct published, told, rows->rows, rows->count) {
                if (is_telling(told, of, without) && !ar_text_has_word(end->gpus, told->gpu)) {
                    end->gpus = ar_arena_format(arena, "%s%s%s", end->gpus,
                                                end->gpus[0] != '\0' ? " " : "", told->gpu);
                }
            }
            end->low = band_end(rows, of, -1, BAND_SHARE, scores, end);
            end->high = band_end(rows, of, 1, BAND_SHARE, scores, end);
            end->half_low = band_end(rows, of, -1, HALF_SHARE, scores, end);
            end->half_high = band_end(rows, of, 1, HALF_SHARE, scores, end);
        }
    }
    *count = made;
}

/* --- as records ---------------------------------------------------------------------------- */

/* clang-format off */
#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct reproduce_family, field, name, __VA_ARGS__)
#define PERCENT(field, name, title, help, ...) \
    ROW(number, field, name, help, .heading = title, .factor = 100, .decimals = 1, __VA_ARGS__)
static const struct ar_column columns[] = {
    ROW(string, software, "software", "title up to its first comma, or the file; all: all rows",
        .heading = "software"),
    ROW(string, gpu,   "gpu",   "cost table of the GPU, or the cluster", .heading = "gpu"),
    ROW(string, range, "range", "GPUs of the runs", .heading = "gpus"),
    ROW(count,  rows,  "rows",  "that were predicted, and that nothing was fitted to", .heading = "rows"),
    PERCENT(median_frac, "median_frac", "median (%)", "of |predicted time / measured - 1|"),
    PERCENT(mean_frac,   "mean_frac",   "mean (%)",   "of the same"),
    PERCENT(signed_frac, "signed_median_frac", "signed median (%)", "median of predicted time / measured - 1: above 0 is too slow",
        .is_signed = true),
    PERCENT(worst_frac,  "worst_frac",  "worst (%)",  "the largest error"),
    PERCENT(within_frac, "within_frac", "within 10 % (%)", "share of rows that are off by at most 10 %"),
    ROW(count, misfits, "misfits", "rows that ran and are said not to fit in memory", .heading = "misfits"),
    ROW(string, peer, "peer", "what another tool states of these rows, or of a set with some of them",
        .heading = "peer"),
};
/* clang-format on */
const struct ar_columns reproduce_family_columns = {columns, sizeof columns / sizeof columns[0]};
