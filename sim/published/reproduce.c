/* Which predictions make up a band, a sensitivity and a curve. */
#include "reproduce.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_quantile.h"

/* Ends of the band that holds 95 % of the draws, and the row's own prediction in any case. */
#define BAND_LOW_FRAC  0.025
#define BAND_HIGH_FRAC 0.975

enum { CURVE_MIN = 4, CURVE_MAX = 4096, CURVE_GPUS_MAX = 16 };

/* --- lists --------------------------------------------------------------------------------------
 */

static enum ar_status add_plain(struct predictions *list, struct published *row,
                                enum prediction_kind kind, struct ar_error *err)
{
    return predictions_add(list, &(struct prediction){.row = row, .kind = kind}, err);
}

/* What the ends of ranges are compared with, and a prediction for each end of each range. */
static enum ar_status add_ends(struct predictions *list, struct published *row,
                               struct ar_error *err)
{
    AR_TRY(add_plain(list, row, PREDICTION_SHORT, err));
    for (uint32_t i = 0; i < row->ranges_count; i++) {
        for (uint32_t end = 0; end < range_ends_count(&row->ranges[i]); end++) {
            struct prediction made = {.row = row, .kind = PREDICTION_END, .range = i};
            made.values[i] = range_end(&row->ranges[i], end, list->arena);
            AR_TRY(made.values[i] != NULL ? predictions_add(list, &made, err)
                                          : ar_error_no_memory(err, "the predictions"));
        }
    }
    return AR_OK;
}

static enum ar_status add_draw(struct predictions *list, struct published *row,
                               struct ar_draw *draw, struct ar_error *err)
{
    struct prediction made = {.row = row, .kind = PREDICTION_DRAW};
    for (size_t i = 0; i < row->ranges_count; i++) {
        made.values[i] = range_draw(&row->ranges[i], draw, list->arena);
        if (made.values[i] == NULL) {
            return ar_error_no_memory(err, "the draws");
        }
    }
    made.error_deviations = ar_draw_normal(draw);
    return predictions_add(list, &made, err);
}

/* Draws all ranges of a row. What is drawn depends on the seed and the name of the row, not on the
 * other rows. */
static enum ar_status add_draws(const struct reproduction *reproduction, struct predictions *list,
                                struct published *row, struct ar_error *err)
{
    struct ar_draw *draw;
    enum ar_status status = AR_OK;
    if (row->ranges_count == 0 && !row->scenario.engine->is_fitted) {
        return AR_OK; /* nothing is open */
    }
    AR_TRY(ar_draw_create(reproduction->seed, row->name, &draw, err));
    for (uint32_t i = 0; status == AR_OK && i < reproduction->samples_count; i++) {
        status = add_draw(list, row, draw, err);
    }
    ar_draw_destroy(draw);
    return status;
}

/* 4 to 4096 doubling, and the number of the row, in order. */
static uint32_t list_gpus(uint32_t own, uint32_t gpus[CURVE_GPUS_MAX])
{
    uint32_t count = 0;
    for (uint32_t next = CURVE_MIN; next <= CURVE_MAX; next *= 2) {
        if (own < next && (count == 0 || own > gpus[count - 1])) {
            gpus[count++] = own;
        }
        gpus[count++] = next;
    }
    if (own > CURVE_MAX) {
        gpus[count++] = own;
    }
    return count;
}

/* The curve of an algorithm. The point of the run itself has all that the row says. */
static enum ar_status add_curve(struct predictions *list, struct published *row,
                                const char *algorithm, struct ar_error *err)
{
    uint32_t gpus[CURVE_GPUS_MAX];
    uint32_t count = list_gpus((uint32_t)row->gpus, gpus);
    for (uint32_t i = 0; i < count; i++) {
        struct ar_error ignored; /* the run is none there */
        struct prediction made = {.row = row, .kind = PREDICTION_POINT};
        if (gpus[i] != row->gpus || strcmp(algorithm, row->algorithm) != 0) {
            made.algorithm = algorithm;
            made.gpus = ar_arena_format(list->arena, "%" PRIu32, gpus[i]);
            if (made.gpus == NULL) {
                return ar_error_no_memory(err, "the curves");
            }
        }
        (void)predictions_add(list, &made, &ignored);
    }
    return AR_OK;
}

/* The algorithm of the row first, then those that are compared. Only of runs on several nodes: what
 * happens in one is another matter than how many there are. */
static enum ar_status add_curves(struct predictions *list, struct published *row,
                                 struct ar_error *err)
{
    static const char *const compared[] = {"torus2d", "ring", "hierarchical"};
    if (row->nodes < 2) {
        return AR_OK;
    }
    AR_TRY(add_curve(list, row, row->algorithm, err));
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        if (strcmp(compared[i], row->algorithm) != 0) {
            AR_TRY(add_curve(list, row, compared[i], err));
        }
    }
    return AR_OK;
}

static enum ar_status add_all(const struct reproduction *reproduction, struct predictions *list,
                              struct ar_error *err)
{
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        struct published *row = &reproduction->rows.rows[i];
        if (published_is_context(row)) {
            continue;
        }
        AR_TRY(add_plain(list, row, PREDICTION_NOMINAL, err));
        if (reproduction->has_sensitivities) {
            AR_TRY(add_ends(list, row, err));
        }
        AR_TRY(add_draws(reproduction, list, row, err));
        if (reproduction->has_curves) {
            AR_TRY(add_curves(list, row, err));
        }
    }
    return AR_OK;
}

/* --- results ------------------------------------------------------------------------------------
 */

/* What is taken one prediction after the other; those of a row follow each other. */
struct taker {
    struct reproduction *reproduction;
    double short_value; /* nominal, over few steps */
    double *draws;
    uint32_t draws_count;
};

static void take_end(struct taker *taker, const struct prediction *made)
{
    struct reproduction *reproduction = taker->reproduction;
    const struct published *row = made->row;
    reproduction->sensitivities[reproduction->sensitivities_count++] =
        (struct sensitivity){.row = row->name,
                             .parameter = row->ranges[made->range].parameter,
                             .value = made->values[made->range],
                             .predicted = made->value,
                             .change_frac = made->value / taker->short_value - 1,
                             .shown_factor = quantities[row->quantity].shown_factor};
}

static void take_draw(struct taker *taker, const struct prediction *made)
{
    struct published *row = made->row;
    uint32_t count = taker->reproduction->samples_count;
    taker->draws[taker->draws_count++] = made->value;
    if (taker->draws_count == count) {
        ar_sort(taker->draws, count);
        row->low = fmin(row->predicted, ar_quantile(taker->draws, count, BAND_LOW_FRAC));
        row->high = fmax(row->predicted, ar_quantile(taker->draws, count, BAND_HIGH_FRAC));
        taker->draws_count = 0;
    }
}

static enum ar_status take_point(struct reproduction *reproduction, const struct prediction *made,
                                 struct ar_error *err)
{
    const struct published *row = made->row;
    const char *algorithm = made->algorithm != NULL ? made->algorithm : row->algorithm;
    const char *curve = ar_arena_format(reproduction->arena, "%.100s %s", row->name, algorithm);
    if (curve == NULL) {
        return ar_error_no_memory(err, "the curves");
    }
    reproduction->curves[reproduction->curves_count++] = (struct curve_point){
        .curve = curve,
        .algorithm = algorithm,
        .quantity = row->quantity_text,
        .gpus = made->gpus != NULL ? strtoull(made->gpus, NULL, 10) : row->gpus,
        .value = made->value,
        .low = NAN,
        .high = NAN};
    return AR_OK;
}

static enum ar_status take(struct taker *taker, const struct prediction *made, struct ar_error *err)
{
    struct published *row = made->row;
    switch (made->kind) {
    case PREDICTION_NOMINAL:
        row->predicted = row->low = row->high = made->value;
        row->error_frac = made->value / row->measured - 1;
        break;
    case PREDICTION_SHORT:
        taker->short_value = made->value;
        break;
    case PREDICTION_END:
        take_end(taker, made);
        break;
    case PREDICTION_DRAW:
        take_draw(taker, made);
        break;
    case PREDICTION_POINT:
        return take_point(taker->reproduction, made, err);
    }
    return AR_OK;
}

static enum ar_status take_all(struct reproduction *reproduction, const struct predictions *list,
                               struct ar_error *err)
{
    struct taker taker = {.reproduction = reproduction};
    struct ar_arena *arena = reproduction->arena;
    reproduction->sensitivities =
        ar_arena_alloc(arena, list->count + 1, sizeof *reproduction->sensitivities);
    reproduction->curves = ar_arena_alloc(arena, list->count + 1, sizeof *reproduction->curves);
    taker.draws = ar_arena_alloc(arena, reproduction->samples_count + 1, sizeof *taker.draws);
    if (reproduction->sensitivities == NULL || reproduction->curves == NULL ||
        taker.draws == NULL) {
        return ar_error_no_memory(err, "the results");
    }
    for (struct prediction *made = list->first; made != NULL; made = made->next) {
        enum ar_status status = prediction_finish(list, made, err);
        if (status != AR_OK && made->kind != PREDICTION_POINT) {
            return status;
        }
        if (status == AR_OK) {
            AR_TRY(take(&taker, made, err));
        }
    }
    return AR_OK;
}

static enum ar_status judge(const struct published_rows *rows, struct ar_arena *arena,
                            struct ar_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct published *row = &rows->rows[i];
        const char *text = "";
        for (size_t j = 0; text != NULL && j < row->ranges_count; j++) {
            text = ar_arena_format(arena, "%s%s%s (%s)", text, j > 0 ? "; " : "",
                                   row->ranges[j].text, row->ranges[j].source);
        }
        if (text == NULL) {
            return ar_error_no_memory(err, "the results");
        }
        row->assumptions = text;
        if (!isnan(row->predicted)) {
            bool is_inside = row->measured + row->measured_error >= row->low &&
                             row->measured - row->measured_error <= row->high;
            row->inside = is_inside ? "yes" : "no";
        }
    }
    return AR_OK;
}

/* Sorts values and gives their median; NAN if there are none. */
static double median_of(double *values, size_t count)
{
    ar_sort(values, count);
    return count > 0 ? ar_quantile(values, count, 0.5) : NAN;
}

enum ar_status reproduce_summarize(const struct published_rows *rows, struct ar_arena *arena,
                                   struct reproduce_summary *summary, struct ar_error *err)
{
    double *errors = ar_arena_alloc(arena, 2 * rows->count + 1, sizeof *errors);
    if (errors == NULL) {
        return ar_error_no_memory(err, "the results");
    }
    double *widths = errors + rows->count;
    *summary = (struct reproduce_summary){.largest_error_frac = NAN};
    for (size_t i = 0; i < rows->count; i++) {
        const struct published *row = &rows->rows[i];
        if (!isnan(row->predicted)) {
            widths[summary->judged] = (row->high - row->low) / row->predicted;
            errors[summary->judged++] = fabs(row->error_frac);
            summary->inside += strcmp(row->inside, "yes") == 0;
            summary->close += fabs(row->error_frac) <= REPRODUCE_CLOSE_FRAC;
        }
    }
    summary->median_error_frac = median_of(errors, summary->judged);
    summary->median_width_frac = median_of(widths, summary->judged);
    if (summary->judged > 0) {
        summary->largest_error_frac = errors[summary->judged - 1];
    }
    return AR_OK;
}

static enum ar_status run(struct reproduction *reproduction, struct predictions *list,
                          struct ar_error *err)
{
    AR_TRY(add_all(reproduction, list, err));
    AR_TRY(predictions_run(list, reproduction->jobs, err));
    return take_all(reproduction, list, err);
}

enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err)
{
    struct predictions list = {.arena = reproduction->arena, .inputs = reproduction->inputs};
    enum ar_status status = run(reproduction, &list, err);
    predictions_end(&list);
    AR_TRY(status);
    AR_TRY(judge(&reproduction->rows, reproduction->arena, err));
    return reproduce_summarize(&reproduction->rows, reproduction->arena, &reproduction->summary,
                               err);
}
