/* Which predictions make up a band, a sensitivity and a curve. */
#include "reproduce_list.h"

#include <stdlib.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_quantile.h"
#include "ar_text.h"

/* Ends of the band that holds 95 % of the draws. */
#define BAND_LOW_FRAC  0.025
#define BAND_HIGH_FRAC 0.975

/* The first prediction that failed. */
static enum ar_status check(const struct evaluation_list *list, struct ar_error *err)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->outcomes[i].err.status != AR_OK) {
            *err = list->outcomes[i].err;
            return err->status;
        }
    }
    return AR_OK;
}

/* --- nominal and sensitivity ------------------------------------------------------------------ */

/* Appends a prediction over as few steps as a draw; NULL if there is no memory. */
static struct evaluation *append_short(struct evaluation_list *list, uint32_t row)
{
    struct evaluation *item = evaluation_list_append(list, row);
    if (item != NULL) {
        item->is_draw = true;
    }
    return item;
}

/* What the ends of ranges are compared with, and a prediction for each end of each range. */
static enum ar_status list_ends(const struct published *published, uint32_t row,
                                struct evaluation_list *list, struct ar_error *err)
{
    struct evaluation *item = append_short(list, row);
    for (uint32_t i = 0; item != NULL && i < published->ranges_count; i++) {
        uint32_t ends = range_ends_count(&published->ranges[i]);
        for (uint32_t end = 0; item != NULL && end < ends; end++) {
            item = append_short(list, row);
            if (item != NULL) {
                item->picks[i] = range_end(&published->ranges[i], end);
            }
        }
    }
    return item != NULL ? AR_OK : ar_error_no_memory(err, "the predictions");
}

/* The nominal prediction of each row, and its sensitivities if they are asked for. */
static enum ar_status list_singles(const struct reproduction *reproduction,
                                   struct evaluation_list *list, struct ar_error *err)
{
    const struct published_rows *rows = &reproduction->rows;
    for (uint32_t row = 0; row < rows->count; row++) {
        if (published_is_context(&rows->rows[row])) {
            continue;
        }
        if (evaluation_list_append(list, row) == NULL) {
            return ar_error_no_memory(err, "the predictions");
        }
        if (reproduction->has_sensitivities) {
            AR_TRY(list_ends(&rows->rows[row], row, list, err));
        }
    }
    return AR_OK;
}

/* The place of the range that is not nominal; RANGES_MAX: all are. */
static uint32_t changed_range(const struct evaluation *item)
{
    uint32_t range = 0;
    while (range < RANGES_MAX && isnan(item->picks[range])) {
        range++;
    }
    return range;
}

static void take_single(struct reproduction *reproduction, const struct evaluation *item,
                        const struct outcome *outcome)
{
    struct reproduced *result = &reproduction->results[item->row];
    uint32_t range = changed_range(item);
    if (range < RANGES_MAX) {
        reproduction->sensitivities[reproduction->sensitivities_count++] =
            (struct sensitivity){.row = item->row,
                                 .range = range,
                                 .value = item->picks[range],
                                 .predicted = outcome->value,
                                 .change_frac = outcome->value / result->predicted_short - 1};
        return;
    }
    if (item->is_draw) {
        result->predicted_short = outcome->value;
        return;
    }
    result->predicted = result->low = result->high = outcome->value;
    result->error_frac = outcome->value / reproduction->rows.rows[item->row].measured - 1;
    result->gpus = outcome->gpus;
    result->nodes = outcome->nodes;
    ar_copy_text(result->algorithm, sizeof result->algorithm, outcome->algorithm);
}

static enum ar_status run_singles(struct reproduction *reproduction, struct evaluation_list *list,
                                  struct ar_error *err)
{
    AR_TRY(list_singles(reproduction, list, err));
    AR_TRY(evaluation_list_run(reproduction, list, err));
    AR_TRY(check(list, err));
    reproduction->sensitivities = calloc(list->count + 1, sizeof *reproduction->sensitivities);
    if (reproduction->sensitivities == NULL) {
        return ar_error_no_memory(err, "the sensitivities");
    }
    for (uint32_t i = 0; i < list->count; i++) {
        take_single(reproduction, &list->items[i], &list->outcomes[i]);
    }
    return AR_OK;
}

/* --- band --------------------------------------------------------------------------------- */

/* Draws all ranges of a row, `samples_count` times. What is drawn depends on the seed and the name
 * of the row, not on the other rows. */
static enum ar_status list_samples(const struct reproduction *reproduction, uint32_t row,
                                   struct evaluation_list *list, struct ar_error *err)
{
    const struct published *published = &reproduction->rows.rows[row];
    struct ar_draw *draw;
    uint32_t made = 0;
    AR_TRY(
        ar_draw_create(reproduction->seed, published_cell(published, PUBLISHED_row), &draw, err));
    for (; made < reproduction->samples_count; made++) {
        struct evaluation *item = append_short(list, row);
        if (item == NULL) {
            break;
        }
        for (size_t i = 0; i < published->ranges_count; i++) {
            item->picks[i] = range_draw(&published->ranges[i], draw);
        }
        item->error_deviations = ar_draw_normal(draw);
    }
    ar_draw_destroy(draw);
    return made == reproduction->samples_count ? AR_OK : ar_error_no_memory(err, "the draws");
}

/* The samples of a row follow each other in the list. */
static enum ar_status take_samples(struct reproduction *reproduction,
                                   const struct evaluation_list *list, struct ar_error *err)
{
    uint32_t count = reproduction->samples_count;
    double *values = malloc(count * sizeof *values);
    if (values == NULL) {
        return ar_error_no_memory(err, "the draws");
    }
    for (uint32_t first = 0; first < list->count; first += count) {
        for (uint32_t k = 0; k < count; k++) {
            values[k] = list->outcomes[first + k].value;
        }
        ar_sort(values, count);
        struct reproduced *result = &reproduction->results[list->items[first].row];
        result->low = ar_quantile(values, count, BAND_LOW_FRAC);
        result->high = ar_quantile(values, count, BAND_HIGH_FRAC);
    }
    free(values);
    return AR_OK;
}

/* The engine of the row has a band of its own. */
static bool is_fitted(const struct reproduction *reproduction, const struct published *row)
{
    const struct ar_scenario *given = &reproduction->request->given;
    const struct ar_engine *engine = given->engine;
    struct ar_error ignored; /* none is named, and the standard one has no band */
    return (ar_scenario_has(given, AR_KEY_ENGINE) ||
            ar_engine_find("", row->keys[AR_KEY_ENGINE], &engine, &ignored) == AR_OK) &&
           engine->is_fitted;
}

static enum ar_status run_samples(struct reproduction *reproduction, struct evaluation_list *list,
                                  struct ar_error *err)
{
    for (uint32_t row = 0; row < reproduction->rows.count; row++) {
        const struct published *published = &reproduction->rows.rows[row];
        if (!published_is_context(published) &&
            (published->ranges_count > 0 || is_fitted(reproduction, published))) {
            AR_TRY(list_samples(reproduction, row, list, err));
        }
    }
    AR_TRY(evaluation_list_run(reproduction, list, err));
    AR_TRY(check(list, err));
    return take_samples(reproduction, list, err);
}

static void judge(struct reproduction *reproduction)
{
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        struct reproduced *result = &reproduction->results[i];
        result->is_inside = row->measured + row->measured_error >= result->low &&
                            row->measured - row->measured_error <= result->high;
    }
}

enum ar_status reproduce_run(struct reproduction *reproduction, bool has_curves,
                             struct ar_error *err)
{
    reproduction->results = calloc(reproduction->rows.count + 1, sizeof *reproduction->results);
    if (reproduction->results == NULL) {
        return ar_error_no_memory(err, "the results");
    }
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        struct reproduced *result = &reproduction->results[i];
        result->predicted = result->low = result->high = result->error_frac = NAN;
    }
    struct evaluation_list singles = {.count = 0};
    struct evaluation_list samples = {.count = 0};
    enum ar_status status = run_singles(reproduction, &singles, err);
    evaluation_list_free(&singles);
    AR_TRY(status);
    status = run_samples(reproduction, &samples, err);
    evaluation_list_free(&samples);
    AR_TRY(status);
    judge(reproduction);
    return has_curves ? reproduce_run_curves(reproduction, err) : AR_OK;
}

void reproduce_free(struct reproduction *reproduction)
{
    free(reproduction->results);
    free(reproduction->sensitivities);
    free(reproduction->curves);
    published_free(&reproduction->rows);
}
