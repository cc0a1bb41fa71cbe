/* Which predictions make up a band and a curve. */
#include "reproduce.h"
#include "ar_kind.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_numbers.h"

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

static enum ar_status add_draw(struct predictions *list, struct published *row,
                               struct ar_draw *draw, struct ar_error *err)
{
    struct prediction made = {.row = row, .kind = PREDICTION_DRAW};
    for (size_t i = 0; i < row->ranges_count; i++) {
        made.values[i] = range_draw(&row->ranges[i], draw, list->arena);
        AR_NEED(made.values[i], err, "the draws");
    }
    made.error_deviations = ar_draw_normal(draw);
    return predictions_add(list, &made, err);
}

/* Draws all ranges of a row. What is drawn depends on the seed and the name of the row, not on the
 * other rows. */
static enum ar_status add_draws(const struct reproduction *reproduction, struct predictions *list,
                                struct published *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_draw *draw;
    if (row->ranges_count == 0 && !row->scenario.engine->is_fitted) {
        return AR_OK; /* nothing is open */
    }
    draw = ar_draw_create(reproduction->seed, row->name, &arena);
    for (uint32_t i = 0; i < reproduction->samples_count; i++) {
        AR_TRY(add_draw(list, row, draw, err));
    }
    return AR_OK;
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
    const char *name = ar_arena_format(list->arena, "%.100s %s", row->name, algorithm);
    for (uint32_t i = 0; i < count; i++) {
        struct ar_error ignored; /* the run is none there */
        const struct prediction made = {.row = row,
                                        .kind = PREDICTION_POINT,
                                        .name = name,
                                        .quantity = row->quantity_text,
                                        .algorithm = algorithm,
                                        .gpus = ar_arena_format(list->arena, "%" PRIu32, gpus[i]),
                                        .is_moved = gpus[i] != row->gpus ||
                                                    strcmp(algorithm, row->algorithm) != 0};
        AR_NEED(name && made.gpus, err, "the curves");
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
    if (row->nodes < 2 || ar_scenario_kind(&row->scenario)->has_layout) {
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
        AR_TRY(add_draws(reproduction, list, row, err));
        if (reproduction->has_curves) {
            AR_TRY(add_curves(list, row, err));
        }
    }
    return AR_OK;
}

/* --- results ------------------------------------------------------------------------------------
 */

static void take_draws(struct published *row, double *draws, size_t count)
{
    ar_sort(draws, count);
    row->low = fmin(row->predicted, ar_quantile(draws, count, BAND_LOW_FRAC));
    row->high = fmax(row->predicted, ar_quantile(draws, count, BAND_HIGH_FRAC));
}

/* Those of a row follow each other. `draws` has room for those of a row. */
static void take(struct reproduction *reproduction, struct prediction *made, double *draws,
                 size_t *draws_count)
{
    struct published *row = made->row;
    switch (made->kind) {
    case PREDICTION_NOMINAL:
        row->predicted = row->low = row->high = made->value;
        row->error_frac = made->value / row->measured - 1;
        break;
    case PREDICTION_DRAW:
        draws[(*draws_count)++] = made->value;
        if (*draws_count == reproduction->samples_count) {
            take_draws(row, draws, *draws_count);
            *draws_count = 0;
        }
        break;
    case PREDICTION_POINT:
        reproduction->points[reproduction->points_count++] = *made;
    }
}

static enum ar_status take_all(struct reproduction *reproduction, const struct predictions *list,
                               struct ar_error *err)
{
    struct ar_arena *arena = reproduction->arena;
    double *draws = ar_arena_alloc(arena, reproduction->samples_count + 1, sizeof *draws);
    size_t draws_count = 0;
    reproduction->points =
        ar_arena_alloc(arena, list->counts[PREDICTION_POINT] + 1, sizeof *reproduction->points);
    AR_NEED(draws && reproduction->points, err, "the results");
    for (struct prediction *made = list->first; made != NULL; made = made->next) {
        enum ar_status status = prediction_finish(list, made, err);
        if (status == AR_OK) {
            take(reproduction, made, draws, &draws_count);
        } else if (made->kind != PREDICTION_POINT) {
            return status;
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
        AR_NEED(text, err, "the results");
        row->assumptions = text;
        if (row->high > row->low || row->measured_error > 0) {
            bool is_inside = row->measured + row->measured_error >= row->low &&
                             row->measured - row->measured_error <= row->high;
            row->inside = is_inside ? "yes" : "no";
        } else { /* nothing is open: there is no band to be in */
            row->low = row->high = NAN;
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
    AR_NEED(errors, err, "the results");
    double *widths = errors + rows->count;
    *summary = (struct reproduce_summary){.largest_error_frac = NAN};
    for (size_t i = 0; i < rows->count; i++) {
        const struct published *row = &rows->rows[i];
        if (!isnan(row->predicted)) {
            errors[summary->judged++] = fabs(row->error_frac);
            summary->close += fabs(row->error_frac) <= REPRODUCE_CLOSE_FRAC;
        }
        if (row->inside != NULL) {
            widths[summary->banded++] = (row->high - row->low) / row->predicted;
            summary->inside += strcmp(row->inside, "yes") == 0;
        }
    }
    summary->median_error_frac = median_of(errors, summary->judged);
    summary->median_width_frac = median_of(widths, summary->banded);
    if (summary->judged > 0) {
        summary->largest_error_frac = errors[summary->judged - 1];
    }
    return AR_OK;
}

enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err)
{
    struct predictions list = {.arena = reproduction->arena, .inputs = reproduction->inputs};
    AR_TRY(add_all(reproduction, &list, err));
    AR_TRY(predictions_run(&list, reproduction->jobs, reproduction->shows_progress, err));
    AR_TRY(take_all(reproduction, &list, err));
    AR_TRY(judge(&reproduction->rows, reproduction->arena, err));
    return reproduce_summarize(&reproduction->rows, reproduction->arena, &reproduction->summary,
                               err);
}
