/* Predictions of published runs: those of the rows themselves, then those with unknown parameters
 * drawn, each in a process of a pool. */
#include "reproduce.h"

#include <math.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_kind.h"
#include "ar_numbers.h"
#include "ar_pool.h"
#include "ar_text.h"
#include "training.h"

/* Ends of the band that holds 95 % of the draws, and the row's own prediction in any case. */
#define BAND_LOW_FRAC  0.025
#define BAND_HIGH_FRAC 0.975

/* Steps of a draw with jitter. The slowest of hundreds of ranks varies so little from step to step
 * that more of them change a band less than the draws do. */
enum { SHORT_STEPS = 4 };

/* Rows up to which a table lists each; of more it has their families alone. */
enum { LISTED_ROWS = 40 };

/* One prediction: a row with some values in place of its own. */
struct prediction {
    struct published *row;
    bool is_draw;
    const char *values[RANGES_MAX]; /* of the ranges of the row; NULL: its own */
    double error_deviations; /* for an engine with a band of its own: the prediction is so many
                                standard deviations of it off, on a logarithmic scale */
    struct answer {
        struct ar_error err; /* status AR_OK, or why there is no value */
        double value;
        double time_s; /* of a step, or to train */
        uint64_t gpus;
        ar_cell_word algorithm, gpu;
        ar_cell_flag fits;
        enum ar_step_class class;
    } answer;
};

/* The predictions of all rows, or draws, those of a row together. */
struct predictions {
    const struct reproduction *reproduction;
    struct prediction *list;
    uint32_t count;
};

/* --- one prediction ------------------------------------------------------------------------ */

/* The factor by which an engine with a band of its own may err on a step; 1 for others. */
static double error_factor(const struct ar_row *row, double deviations)
{
    double share = deviations / (2 * AR_BAND95_DEVIATIONS);
    return isfinite(row->low_s) && row->low_s > 0 ? pow(row->high_s / row->low_s, share) : 1;
}

/* Time to train, if all steps err the same way; evaluations have no all-reduce. Keys that the row
 * leaves open are as in its run file. */
static enum ar_status predict_run(const struct prediction *prediction, const char *run,
                                  const struct ar_scenario *scenario, struct ar_row *row,
                                  double *value, struct ar_error *err)
{
    const struct training_file *file;
    struct training training;
    AR_TRY(training_file_load(run, scenario->arena, &file, err));
    AR_TRY(training_predict(file, scenario, &training, err));
    *value = training.total->time_s;
    AR_EACH(const struct training_phase, phase, training.phases, training.phases_count) {
        double steps_s = phase->steps_count * phase->row.iteration_s;
        *value += steps_s * (error_factor(&phase->row, prediction->error_deviations) - 1);
        *row = phase->row;
    }
    return AR_OK;
}

/* The quantity of a row that is a step. */
static enum ar_status predict_step(const struct prediction *prediction,
                                   struct ar_scenario *scenario, struct ar_row *row, double *value,
                                   struct ar_error *err)
{
    if (!ar_scenario_kind(scenario)->has_layout) {
        AR_TRY(ar_scenario_require(scenario, AR_KEY_TRACE, err));
        AR_TRY(ar_scenario_require(scenario, AR_KEY_GPUS, err));
        AR_TRY(ar_scenario_require(scenario, AR_KEY_ALGORITHM, err));
    }
    AR_TRY(ar_scenario_load(scenario, err));
    AR_TRY(ar_run(scenario, row, err));
    double factor = error_factor(row, prediction->error_deviations);
    const double values[QUANTITIES_COUNT] = {
        [QUANTITY_EFFICIENCY_FRAC] = row->efficiency_frac / factor,
        [QUANTITY_IMAGES_PER_S] = row->samples_per_s / factor,
        [QUANTITY_SAMPLES_PER_S] = row->samples_per_s / factor,
        [QUANTITY_TOKENS_PER_S] = row->tokens_per_s / factor,
        [QUANTITY_TFLOPS_PER_GPU] = row->tflops_per_gpu / factor,
        [QUANTITY_MFU_FRAC] = row->mfu_frac / factor,
        [QUANTITY_ITERATION_S] = row->iteration_s * factor};
    *value = values[prediction->row->quantity];
    return AR_OK;
}

static enum ar_status predict_row(const struct prediction *prediction, struct answer *answer,
                                  struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct published *row = prediction->row;
    struct ar_scenario scenario = row->scenario;
    struct ar_row predicted;
    const char *run = row->run;
    scenario.arena = &arena;
    if (prediction->is_draw) {
        scenario.iterations_with_jitter = SHORT_STEPS;
    }
    for (size_t i = 0; i < row->ranges_count; i++) {
        const struct published_range *range = &row->ranges[i];
        const char *value = prediction->values[i];
        if (value != NULL && range->key == AR_KEYS_COUNT) {
            run = value;
        } else if (value != NULL) {
            value = range->setting == NULL
                        ? value
                        : ar_arena_format(&arena, "%s=%s", range->setting, value);
            const struct ar_origin origin = {.where = ar_keys[range->key].option,
                                             .status = AR_BAD_DATA};
            AR_TRY((range->setting != NULL ? ar_scenario_replace : ar_scenario_set)(
                &scenario, range->key, &origin, value, err));
        }
    }
    AR_TRY(row->quantity == QUANTITY_TRAIN_S
               ? predict_run(prediction, run, &scenario, &predicted, &answer->value, err)
               : predict_step(prediction, &scenario, &predicted, &answer->value, err));
    answer->gpus = predicted.gpus;
    answer->time_s = row->quantity == QUANTITY_TRAIN_S ? answer->value : predicted.iteration_s;
    answer->fits = predicted.fits;
    answer->class =
        row->quantity == QUANTITY_TRAIN_S ? AR_STEP_LIKE_NONE : ar_step_class(&scenario);
    bool has_table =
        scenario.cluster != NULL && ar_cluster_facts(scenario.cluster)->device_cost[0] != '\0';
    ar_copy_text(answer->gpu, sizeof answer->gpu,
                 has_table ? ar_cluster_facts(scenario.cluster)->device_cost : predicted.cluster);
    ar_copy_text(answer->algorithm, sizeof answer->algorithm,
                 ar_scenario_kind(&scenario)->has_layout ? "" : predicted.algorithm);
    return AR_OK;
}

static uint32_t compute_prediction(void *context, uint32_t item, char *bytes)
{
    const struct predictions *predictions = context;
    struct answer answer = {.err = {.status = AR_OK}};
    answer.err.status = predict_row(&predictions->list[item], &answer, &answer.err);
    memcpy(bytes, &answer, sizeof answer);
    return sizeof answer;
}

static enum ar_status take_answer(void *context, const struct ar_pool_answer *got,
                                  struct ar_error *err)
{
    struct prediction *prediction = &((struct predictions *)context)->list[got->item];
    AR_REFUSE(got->is_lost, err, AR_INTERNAL, "%s: %s", prediction->row->where, got->bytes);
    memcpy(&prediction->answer, got->bytes, sizeof prediction->answer);
    return AR_OK;
}

/* Puts `path:line: row "x", batch=16: ` before an error; a wrong value is wrong data, not usage. */
static enum ar_status blame_row(const struct prediction *prediction, struct ar_error *err)
{
    const struct published *row = prediction->row;
    const struct ar_error *cause = &prediction->answer.err;
    char values[200] = "";
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (prediction->values[i] != NULL) {
            ar_append_text(values, sizeof values, ", %s=%s", row->ranges[i].parameter,
                           prediction->values[i]);
        }
    }
    return ar_error_set(err, cause->status == AR_USAGE ? AR_BAD_DATA : cause->status, "%s%s: %s",
                        row->where, values, cause->text);
}

/* The first prediction that fails is the error. */
static enum ar_status compute_all(struct predictions *predictions, struct ar_error *err)
{
    const struct reproduction *reproduction = predictions->reproduction;
    const struct ar_pool_work work = {.context = predictions,
                                      .items_name = "predictions",
                                      .bytes_max = sizeof(struct answer),
                                      .compute = compute_prediction,
                                      .take = take_answer,
                                      .shows_progress = reproduction->shows_progress};
    if (predictions->count > 0) {
        struct ar_pool_queue queue =
            ar_pool_queue_create(reproduction->arena, &work, NULL, predictions->count);
        AR_TRY(ar_pool_run(&work, reproduction->jobs, &queue, err));
    }
    for (uint32_t i = 0; i < predictions->count; i++) {
        if (predictions->list[i].answer.err.status != AR_OK) {
            return blame_row(&predictions->list[i], err);
        }
    }
    return AR_OK;
}

/* --- all predictions ----------------------------------------------------------------------- */

/* Adds predictions with all ranges of a row drawn, by the seed and the name of the row, whatever
 * the other rows are. */
static void add_draws(struct published *row, struct predictions *draws)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct reproduction *reproduction = draws->reproduction;
    struct ar_draw *draw = ar_draw_create(reproduction->seed, row->name, &arena);
    for (uint32_t i = 0; i < reproduction->samples_count; i++) {
        struct prediction *made = &draws->list[draws->count++];
        *made = (struct prediction){.row = row, .is_draw = true};
        for (size_t k = 0; k < row->ranges_count; k++) {
            const struct published_range *range = &row->ranges[k];
            made->values[k] =
                range->choices != NULL
                    ? range->choices[ar_draw_choice(draw, range->choices_count)]
                    : ar_arena_format(reproduction->arena, "%.9g%s",
                                      ar_draw_uniform(draw, range->low, range->high), range->unit);
        }
        made->error_deviations = ar_draw_normal(draw);
    }
}

/* Fills in the results of a row from the prediction by its own values. */
static void take_nominal(struct published *row, const struct answer *answer)
{
    bool is_time = row->quantity == QUANTITY_TRAIN_S || row->quantity == QUANTITY_ITERATION_S;
    double error = answer->value / row->measured;
    row->predicted = row->low = row->high = answer->value;
    row->error_frac = error - 1;
    row->predicted_s = answer->time_s;
    /* A rate that is too high is a time that is too short. */
    row->measured_s = answer->time_s / (is_time ? error : row->measured / answer->value);
    row->class = answer->class;
    row->gpu = answer->gpu;
    row->fits = answer->fits == AR_NO_FLAG ? NULL : answer->fits ? "yes" : "no";
    row->gpus = answer->gpus;
    row->algorithm = answer->algorithm;
}

/* Widens the band of unknown parameters by how far steps like this one were off in other tables;
 * the two are independent. Where too few steps are known, there is no band. */
static enum ar_status add_error(struct published *row, struct ar_arena *arena, struct ar_error *err)
{
    struct ar_step_errors errors;
    AR_TRY(ar_step_errors_read(row->class, row->table, arena, &errors, err));
    if (row->class == AR_STEP_LIKE_NONE || errors.low <= 0) {
        row->low = row->class == AR_STEP_LIKE_NONE ? row->low : NAN;
        return AR_OK;
    }
    bool is_time = row->quantity == QUANTITY_ITERATION_S;
    double low = is_time ? errors.low : 1 / errors.high;
    double high = is_time ? errors.high : 1 / errors.low;
    row->low = row->predicted * exp(-hypot(log(row->predicted / row->low), fmin(log(low), 0)));
    row->high = row->predicted * exp(hypot(log(row->high / row->predicted), fmax(log(high), 0)));
    return AR_OK;
}

enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err)
{
    struct ar_arena *arena = reproduction->arena;
    struct published *rows = reproduction->rows.rows;
    size_t count = reproduction->rows.count, samples = reproduction->samples_count;
    struct predictions all = {.reproduction = reproduction};
    double *values = ar_arena_alloc(arena, samples + 1, sizeof *values);
    all.list = ar_arena_alloc(arena, count * (samples + 1) + 1, sizeof *all.list);
    for (size_t i = 0; i < count; i++) {
        if (!published_is_context(&rows[i])) {
            all.list[all.count++] = (struct prediction){.row = &rows[i]};
            if (rows[i].ranges_count > 0 || ar_engine_is_fitted(rows[i].scenario.engine)) {
                add_draws(&rows[i], &all);
            }
        }
    }
    AR_TRY(compute_all(&all, err));
    for (size_t i = 0; i < all.count;) {
        struct published *row = all.list[i].row;
        take_nominal(row, &all.list[i++].answer);
        if (i < all.count && all.list[i].row == row) { /* its draws follow */
            for (size_t k = 0; k < samples; k++) {
                values[k] = all.list[i++].answer.value;
            }
            ar_sort(values, samples);
            row->low = fmin(row->predicted, ar_quantile(values, samples, BAND_LOW_FRAC));
            row->high = fmax(row->predicted, ar_quantile(values, samples, BAND_HIGH_FRAC));
        }
    }
    AR_EACH(struct published, row, rows, count) {
        AR_TRY(published_is_context(row) ? AR_OK : add_error(row, arena, err));
        row->assumptions = "";
        for (size_t k = 0; k < row->ranges_count; k++) {
            row->assumptions =
                ar_arena_format(arena, "%s%s%s (%s)", row->assumptions, k > 0 ? "; " : "",
                                row->ranges[k].text, row->ranges[k].source);
        }
        if (row->high > row->low || (row->high == row->low && row->measured_error > 0)) {
            bool is_inside = row->measured + row->measured_error >= row->low &&
                             row->measured - row->measured_error <= row->high;
            row->inside = is_inside ? "yes" : "no";
        } else { /* nothing is open: there is no band to be in */
            row->low = row->high = NAN;
        }
    }
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

/* clang-format off */
#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct published, field, name, __VA_ARGS__)
#define VALUE(field, name, help) \
    ROW(number, field, name, help, .heading = name, .decimals = 4)
static const struct ar_column columns[] = {
    ROW(string, name,          "row",        "name of the published row", .heading = "row"),
    ROW(string, table,         "table",      "file of published runs"),
    ROW(string, title,         "title",      "what it is"),
    ROW(choice, quantity,      "quantity",   "what was measured", .heading = "quantity",
        .names = published_quantities),
    ROW(count,  gpus,          "gpus",       "of the run", .heading = "gpus"),
    ROW(string, algorithm,     "algorithm",  "of the all-reduces"),
    VALUE(      measured,      "measured",   "as published"),
    VALUE(      predicted,     "predicted",  "by the row's own values"),
    VALUE(      low,           "low",        "of the band of predictions"),
    VALUE(      high,          "high",       "its upper end"),
    ROW(number, error_frac,    "error_frac", "predicted / measured - 1", .heading = "error (%)",
        .factor = 100, .decimals = 1, .is_signed = true),
    ROW(string, inside,        "inside",     "whether the band meets what was measured",
        .heading = "inside"),
    ROW(string, gpu,           "gpu",        "cost table of the GPU, or the cluster"),
    ROW(number, measured_s,    "measured_s", "the same as a time, of a step or to train"),
    ROW(number, predicted_s,   "predicted_s", "its prediction"),
    ROW(string, fits,          "fits",       "whether the model fits in the memory of the GPUs that it ran on"),
    ROW(string, fitted,        "fitted",     "the constant that was fitted to the row"),
    ROW(string, source,        "source",     "where the number is from"),
    ROW(string, assumptions,   "assumptions", "what is drawn for the band"),
};
/* clang-format on */
const struct ar_columns reproduce_columns = {columns, sizeof columns / sizeof columns[0]};

/* How many measured values are in their bands, and what that is worth. */
static void write_coverage(FILE *file, const struct published_rows *rows)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    double *widths = ar_arena_alloc(&arena, rows->count + 1, sizeof *widths);
    size_t predicted = 0, banded = 0, inside = 0;
    AR_EACH(const struct published, row, rows->rows, rows->count) {
        predicted += isnan(row->predicted) ? 0 : 1;
        if (row->inside != NULL) {
            widths[banded++] = (row->high - row->low) / row->predicted;
            inside += strcmp(row->inside, "yes") == 0;
        }
    }
    fprintf(file, "%zu of %zu predicted rows have a band, %zu are inside", banded, predicted,
            inside);
    if (banded > 0) {
        fprintf(file, "; width of a band, median %.1f %% of its prediction",
                ar_library_error_of(widths, banded, 0).median_frac * 100);
    }
    fputc('\n', file);
}

void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction)
{
    const struct published_rows *rows = &reproduction->rows;
    bool is_table = view->format == AR_FORMAT_TABLE, is_short = rows->count <= LISTED_ROWS;
    if (!is_table || is_short) {
        ar_records_write(file, view, reproduce_columns, rows->rows, rows->count);
    }
    if (!is_table) {
        return;
    }
    if (is_short) {
        /* Where each row is from, and what is drawn for its band. */
        fputs("\nwhat each row is, and what is drawn for its band\n", file);
        AR_EACH(const struct published, row, rows->rows, rows->count) {
            fprintf(file, "%s: %s; %s%s%s\n", row->name, row->title, row->source,
                    row->how_read != NULL ? ", " : "", row->how_read != NULL ? row->how_read : "");
            AR_EACH(const struct published_range, range, row->ranges, row->ranges_count) {
                bool is_own = strcmp(range->source, "row") == 0;
                fprintf(file, "  %-44s %s\n", range->text,
                        is_own ? "assumed by the row" : range->source);
            }
        }
        fputc('\n', file);
    }
    struct reproduce_family *families;
    size_t count;
    reproduce_families(rows, reproduction->arena, &families, &count);
    if (count > 0) {
        fputs("errors of times (signed: below 0 too short, so rates are too high)\n", file);
        ar_records_write(file, view, reproduce_family_columns, families, count);
        fputc('\n', file);
    }
    write_coverage(file, rows);
    if (!is_short) {
        fputs("\nA line for each row: --rows PATTERN, --out DIR or --format csv.\n", file);
    }
}
