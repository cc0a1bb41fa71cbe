/* Predictions of published runs. All are listed first, and the training steps that they have in
 * common are computed once, longest first: points of curves, draws of one row, phases of runs. */
#include "reproduce.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_hash.h"
#include "ar_kind.h"
#include "ar_numbers.h"
#include "ar_pool.h"
#include "ar_run.h"
#include "key_texts.h"
#include "training.h"

/* Ends of the band that holds 95 % of the draws, and the row's own prediction in any case. */
#define BAND_LOW_FRAC  0.025
#define BAND_HIGH_FRAC 0.975

/* Steps of a prediction with jitter that is not nominal. The slowest of hundreds of ranks varies so
 * little from step to step that more of them change a band less than the draws do. */
enum { SHORT_STEPS = 4, STEPS_KEYS = 256, CURVE_MIN = 4, CURVE_MAX = 4096, CURVE_GPUS_MAX = 16 };

/* A training step that several predictions may take. */
struct step {
    uint64_t key;                        /* of all it depends on */
    struct step *same;                   /* the one before with the same last digits of its key */
    const struct prediction *prediction; /* the first that takes it, */
    uint32_t phase;                      /* in this phase of a run */
    double cost_s;
    struct step_answer {
        struct ar_error err; /* status AR_OK, or why there is no row */
        struct ar_row row;
    } answer;
};

/* One prediction: a row with some values in place of its own. */
struct prediction {
    struct published *row;
    enum { IS_NOMINAL, IS_DRAW, IS_POINT } kind;
    const char *values[RANGES_MAX]; /* of the ranges of the row; NULL: its own */
    double error_deviations;   /* for an engine with a band of its own: the prediction is so many
                                  standard deviations of it off, on a logarithmic scale */
    struct curve_point *point; /* NULL, or its GPUs and algorithm: */
    bool is_moved;             /* they, and the algorithm's own shape, replace the row's */
    struct step *steps[TRAINING_PHASES_MAX]; /* one, or one for each phase of a run */
    double value;
};

/* Predictions in order, and the training steps that they take. Equal steps are one. */
struct predictions {
    struct ar_arena *arena;
    struct ar_inputs *inputs;
    struct prediction **list;
    size_t count;
    struct step **steps;
    uint32_t steps_count;
    struct step *by_key[STEPS_KEYS]; /* lists of the same last digits */
};

/* --- one prediction ------------------------------------------------------------------------ */

/* Sets the parameter of a range; nothing for the run file. */
static enum ar_status set_range(const struct published_range *range, const char *value,
                                struct ar_scenario *scenario, struct ar_error *err)
{
    if (range->key == AR_KEYS_COUNT) {
        return AR_OK;
    }
    return key_text_set(scenario, range->key,
                        range->setting == NULL
                            ? value
                            : ar_arena_format(scenario->arena, "%s=%s", range->setting, value),
                        err);
}

/* The row's scenario with the values of a prediction, in an arena of its own, and the run of a row
 * that is one: keys that the row leaves open are as in its run file. */
static enum ar_status begin_prediction(const struct predictions *predictions,
                                       const struct prediction *prediction, struct ar_arena *arena,
                                       struct ar_scenario *scenario, struct training *training,
                                       struct ar_error *err)
{
    struct published *row = prediction->row;
    const struct training_file *file;
    const char *run = row->run;
    *scenario = row->scenario;
    scenario->arena = arena;
    if (prediction->kind != IS_NOMINAL) {
        scenario->iterations_with_jitter = SHORT_STEPS;
    }
    for (size_t i = 0; i < row->ranges_count; i++) {
        const struct published_range *range = &row->ranges[i];
        if (prediction->values[i] != NULL) {
            AR_TRY(set_range(range, prediction->values[i], scenario, err));
            run = range->key == AR_KEYS_COUNT ? prediction->values[i] : run;
        }
    }
    if (prediction->is_moved) {
        ar_scenario_unset(scenario, AR_KEY_SHAPE);
        AR_TRY(key_text_set(scenario, AR_KEY_GPUS, prediction->point->gpus, err));
        AR_TRY(key_text_set(scenario, AR_KEY_ALGORITHM, prediction->point->algorithm, err));
    }
    if (row->quantity != QUANTITY_TRAIN_S) {
        return AR_OK;
    }
    AR_TRY(training_file_load(run, arena, &file, err));
    return training_begin(file, scenario, predictions->inputs, training, err);
}

/* A step of a prediction, loaded, and how many it takes. */
static enum ar_status load_step(const struct predictions *predictions,
                                const struct prediction *prediction, uint32_t phase,
                                struct ar_arena *arena, struct ar_scenario *step, size_t *count,
                                struct ar_error *err)
{
    struct ar_scenario scenario;
    struct training training;
    AR_TRY(begin_prediction(predictions, prediction, arena, &scenario, &training, err));
    if (prediction->row->quantity == QUANTITY_TRAIN_S) {
        *count = training.phases_count;
        return training_step(&training, phase, predictions->inputs, step, err);
    }
    *count = 1;
    *step = scenario;
    if (!ar_scenario_kind(step)->has_layout) {
        AR_TRY(ar_scenario_require(step, AR_KEY_TRACE, err));
        AR_TRY(ar_scenario_require(step, AR_KEY_GPUS, err));
        AR_TRY(ar_scenario_require(step, AR_KEY_ALGORITHM, err));
    }
    return ar_scenario_load(step, predictions->inputs, err);
}

/* Puts `path:line: row "x", batch=16: ` before an error; a wrong value there is wrong data, not
 * wrong usage. */
static enum ar_status report_prediction(const struct prediction *prediction,
                                        const struct ar_error *cause, struct ar_error *err)
{
    const struct published *row = prediction->row;
    char values[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (prediction->values[i] != NULL && used < sizeof values) {
            used += (size_t)snprintf(values + used, sizeof values - used, ", %s=%s",
                                     row->ranges[i].parameter, prediction->values[i]);
        }
    }
    return ar_error_set(err, cause->status == AR_USAGE ? AR_BAD_DATA : cause->status, "%s%s: %s",
                        row->where, values, cause->text);
}

/* Finds or makes the steps of a prediction. The row gets its GPUs, nodes and algorithm of a nominal
 * one. */
static enum ar_status find_steps(struct predictions *predictions, struct prediction *prediction,
                                 struct ar_arena *arena, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_row row;
    size_t count = 1;
    for (uint32_t phase = 0; phase < count; phase++) {
        uint64_t key = AR_HASH_BEGIN;
        AR_TRY(load_step(predictions, prediction, phase, arena, &scenario, &count, err));
        ar_hash_bytes(&key, &scenario.algorithm, sizeof scenario.algorithm);
        ar_hash_bytes(&key, &scenario.engine, sizeof scenario.engine);
        ar_hash_text(&key, scenario.cluster_name);
        ar_hash_bytes(&key, &scenario.shape, sizeof scenario.shape);
        ar_scenario_hash(&scenario, &key);
        struct step **same = &predictions->by_key[key % STEPS_KEYS];
        struct step *step = *same;
        while (step != NULL && step->key != key) {
            step = step->same;
        }
        if (step == NULL) {
            step = ar_arena_alloc(predictions->arena, 1, sizeof *step);
            *step = (struct step){.key = key,
                                  .same = *same,
                                  .prediction = prediction,
                                  .phase = phase,
                                  .cost_s = ar_run_cost_s(&scenario)};
            *same = step;
            predictions->steps = ar_arena_grow(predictions->arena, predictions->steps,
                                               predictions->steps_count, 1, sizeof(struct step *));
            predictions->steps[predictions->steps_count++] = step;
        }
        prediction->steps[phase] = step;
    }
    if (prediction->kind == IS_NOMINAL) {
        ar_run_describe(&scenario, &row);
        prediction->row->gpus = row.gpus;
        prediction->row->nodes = row.nodes;
        prediction->row->algorithm =
            ar_scenario_kind(&scenario)->has_layout ? "" : ar_algorithm_name(scenario.algorithm);
    }
    return AR_OK;
}

/* Appends a copy of a prediction. An error names the row and the values that are not its own;
 * nothing is appended then. */
static enum ar_status add_prediction(struct predictions *predictions,
                                     const struct prediction *prediction, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_error cause;
    struct prediction *made = ar_arena_alloc(predictions->arena, 1, sizeof *made);
    *made = *prediction;
    if (find_steps(predictions, made, &arena, &cause) != AR_OK) {
        return report_prediction(made, &cause, err);
    }
    predictions->list = ar_arena_grow(predictions->arena, predictions->list, predictions->count, 1,
                                      sizeof(struct prediction *));
    predictions->list[predictions->count++] = made;
    return AR_OK;
}

/* --- which predictions --------------------------------------------------------------------- */

/* Adds predictions with all ranges of a row drawn, by the seed and the name of the row, whatever
 * the other rows are. */
static enum ar_status add_draws(const struct reproduction *reproduction,
                                struct predictions *predictions, struct published *row,
                                struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    if (row->ranges_count == 0 && !ar_engine_has_band(row->scenario.engine)) {
        return AR_OK; /* nothing is open */
    }
    struct ar_draw *draw = ar_draw_create(reproduction->seed, row->name, &arena);
    for (uint32_t i = 0; i < reproduction->samples_count; i++) {
        struct prediction made = {.row = row, .kind = IS_DRAW};
        for (size_t k = 0; k < row->ranges_count; k++) {
            const struct published_range *range = &row->ranges[k];
            made.values[k] =
                range->choices != NULL
                    ? range->choices[ar_draw_choice(draw, range->choices_count)]
                    : ar_arena_format(predictions->arena, "%.9g%s",
                                      ar_draw_uniform(draw, range->low, range->high), range->unit);
        }
        made.error_deviations = ar_draw_normal(draw);
        AR_TRY(add_prediction(predictions, &made, err));
    }
    return AR_OK;
}

/* Adds the curve of an algorithm: 4 to 4096 GPUs doubling, and the number of the row, in order. The
 * point of the run itself has all parameters of the row. A point may fail, such as on more GPUs
 * than the cluster has. */
static void add_curve(struct predictions *predictions, struct published *row, const char *algorithm)
{
    uint32_t gpus[CURVE_GPUS_MAX], count = 0, own = (uint32_t)row->gpus;
    struct ar_arena *arena = predictions->arena;
    const char *name = ar_arena_format(arena, "%.100s %s", row->name, algorithm);
    for (uint32_t next = CURVE_MIN; next <= CURVE_MAX; next *= 2) {
        if (own < next && (count == 0 || own > gpus[count - 1])) {
            gpus[count++] = own;
        }
        gpus[count++] = next;
    }
    if (own > CURVE_MAX) {
        gpus[count++] = own;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ar_error ignored;
        struct curve_point *point = ar_arena_alloc(arena, 1, sizeof *point);
        *point = (struct curve_point){.curve = name,
                                      .algorithm = algorithm,
                                      .quantity = row->quantity_text,
                                      .gpus = ar_arena_format(arena, "%" PRIu32, gpus[i])};
        const struct prediction made = {.row = row,
                                        .kind = IS_POINT,
                                        .point = point,
                                        .is_moved = gpus[i] != own ||
                                                    strcmp(algorithm, row->algorithm) != 0};
        (void)add_prediction(predictions, &made, &ignored);
    }
}

static enum ar_status add_published(const struct reproduction *reproduction,
                                    struct predictions *predictions, struct published *row,
                                    struct ar_error *err)
{
    static const char *const compared[] = {"torus2d", "ring", "hierarchical"};
    const struct prediction nominal = {.row = row, .kind = IS_NOMINAL};
    AR_TRY(add_prediction(predictions, &nominal, err));
    AR_TRY(add_draws(reproduction, predictions, row, err));
    /* Curves are of runs on several nodes: in one node the number of GPUs matters less. */
    if (!reproduction->has_curves || row->nodes < 2 ||
        ar_scenario_kind(&row->scenario)->has_layout) {
        return AR_OK;
    }
    add_curve(predictions, row, row->algorithm);
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        if (strcmp(compared[i], row->algorithm) != 0) {
            add_curve(predictions, row, compared[i]);
        }
    }
    return AR_OK;
}

/* --- steps in processes -------------------------------------------------------------------- */

static uint32_t compute_step(void *context, uint32_t item, char *bytes)
{
    const struct predictions *predictions = context;
    const struct step *step = predictions->steps[item];
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario scenario;
    struct step_answer answer = {.err = {.status = AR_OK}};
    size_t count;
    enum ar_status status = load_step(predictions, step->prediction, step->phase, &arena, &scenario,
                                      &count, &answer.err);
    if (status == AR_OK) {
        status = ar_run(&scenario, &answer.row, &answer.err);
    }
    answer.err.status = status;
    memcpy(bytes, &answer, sizeof answer);
    return sizeof answer;
}

static enum ar_status take_step(void *context, const struct ar_pool_answer *got,
                                struct ar_error *err)
{
    const struct predictions *predictions = context;
    struct step *step = predictions->steps[got->item];
    if (got->is_lost) {
        return ar_error_set(err, AR_INTERNAL, "%s: %s", step->prediction->row->where, got->bytes);
    }
    memcpy(&step->answer, got->bytes, sizeof step->answer);
    return AR_OK;
}

static double step_cost_s(const void *context, uint32_t item)
{
    const struct predictions *predictions = context;
    return predictions->steps[item]->cost_s;
}

/* --- results ------------------------------------------------------------------------------- */

/* The factor by which an engine with a band of its own may err on the time of a step; 1 for others.
 */
static double error_factor(const struct ar_row *row, double deviations)
{
    double share = deviations / (2 * AR_BAND95_DEVIATIONS);
    return isfinite(row->low_s) && row->low_s > 0 ? pow(row->high_s / row->low_s, share) : 1;
}

/* Time to train, if all steps err the same way; evaluations have no all-reduce. */
static enum ar_status finish_training(const struct predictions *predictions,
                                      struct prediction *prediction, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario scenario;
    struct training training;
    AR_TRY(begin_prediction(predictions, prediction, &arena, &scenario, &training, err));
    for (size_t i = 0; i < training.phases_count; i++) {
        training.phases[i].row = prediction->steps[i]->answer.row;
    }
    training_end(&training);
    prediction->value = training.total->time_s;
    for (size_t i = 0; i < training.phases_count; i++) {
        const struct training_phase *phase = &training.phases[i];
        double steps_s = phase->steps_count * phase->iteration_s;
        prediction->value +=
            steps_s * (error_factor(&phase->row, prediction->error_deviations) - 1);
    }
    return AR_OK;
}

/* Fills in the value of a prediction from its steps. */
static enum ar_status finish_prediction(const struct predictions *predictions,
                                        struct prediction *prediction, struct ar_error *err)
{
    const struct ar_row *row = &prediction->steps[0]->answer.row;
    double factor = error_factor(row, prediction->error_deviations);
    for (size_t i = 0; i < TRAINING_PHASES_MAX && prediction->steps[i] != NULL; i++) {
        if (prediction->steps[i]->answer.err.status != AR_OK) {
            *err = prediction->steps[i]->answer.err;
            return err->status;
        }
    }
    switch (prediction->row->quantity) {
    case QUANTITY_EFFICIENCY_FRAC:
        prediction->value = row->efficiency_frac / factor;
        break;
    case QUANTITY_IMAGES_PER_S:
    case QUANTITY_SAMPLES_PER_S:
        prediction->value = row->samples_per_s / factor;
        break;
    case QUANTITY_TOKENS_PER_S:
        prediction->value = row->tokens_per_s / factor;
        break;
    case QUANTITY_ITERATION_S:
        prediction->value = row->iteration_s * factor;
        break;
    default:
        AR_TRY(finish_training(predictions, prediction, err));
    }
    return prediction->value > 0 && isfinite(prediction->value)
               ? AR_OK
               : ar_error_set(err, AR_INTERNAL, "found a prediction of %g; expected one above 0",
                              prediction->value);
}

/* Fills in predictions and bands of rows, and points of curves. Draws of a row follow each other,
 * and its nominal prediction is before them. */
static enum ar_status take_predictions(struct reproduction *reproduction,
                                       const struct predictions *predictions, struct ar_error *err)
{
    struct ar_arena *arena = reproduction->arena;
    double *draws = ar_arena_alloc(arena, reproduction->samples_count + 1, sizeof *draws);
    size_t draws_count = 0;
    reproduction->points =
        ar_arena_alloc(arena, predictions->count + 1, sizeof *reproduction->points);
    for (size_t i = 0; i < predictions->count; i++) {
        struct prediction *made = predictions->list[i];
        struct published *row = made->row;
        struct ar_error cause;
        enum ar_status status = finish_prediction(predictions, made, &cause);
        if (status != AR_OK && made->kind == IS_POINT) {
            continue;
        }
        if (status != AR_OK) {
            return report_prediction(made, &cause, err);
        }
        if (made->kind == IS_NOMINAL) {
            row->predicted = row->low = row->high = made->value;
            row->error_frac = made->value / row->measured - 1;
        } else if (made->kind == IS_POINT) {
            made->point->value = made->value;
            reproduction->points[reproduction->points_count++] = *made->point;
        } else {
            draws[draws_count++] = made->value;
        }
        if (draws_count == reproduction->samples_count) {
            ar_sort(draws, draws_count);
            row->low = fmin(row->predicted, ar_quantile(draws, draws_count, BAND_LOW_FRAC));
            row->high = fmax(row->predicted, ar_quantile(draws, draws_count, BAND_HIGH_FRAC));
            draws_count = 0;
        }
    }
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        struct published *row = &reproduction->rows.rows[i];
        row->assumptions = "";
        for (size_t k = 0; k < row->ranges_count; k++) {
            row->assumptions =
                ar_arena_format(arena, "%s%s%s (%s)", row->assumptions, k > 0 ? "; " : "",
                                row->ranges[k].text, row->ranges[k].source);
        }
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

struct reproduce_summary reproduce_summarize(const struct published_rows *rows)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct reproduce_summary summary = {.predicted = 0};
    double *errors = ar_arena_alloc(&arena, rows->count + 1, sizeof *errors);
    double *widths = ar_arena_alloc(&arena, rows->count + 1, sizeof *widths);
    for (size_t i = 0; i < rows->count; i++) {
        const struct published *row = &rows->rows[i];
        if (!isnan(row->predicted)) {
            errors[summary.predicted++] = fabs(row->error_frac);
            summary.close += fabs(row->error_frac) <= REPRODUCE_CLOSE_FRAC;
        }
        if (row->inside != NULL) {
            widths[summary.banded++] = (row->high - row->low) / row->predicted;
            summary.inside += strcmp(row->inside, "yes") == 0;
        }
    }
    struct ar_library_error error = ar_library_error_of(errors, summary.predicted, 0);
    summary.median_error_frac = error.median_frac;
    summary.largest_error_frac = error.worst_frac;
    summary.median_width_frac = ar_library_error_of(widths, summary.banded, 0).median_frac;
    return summary;
}

enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err)
{
    struct predictions predictions = {.arena = reproduction->arena, .inputs = reproduction->inputs};
    const struct ar_pool_work work = {.context = &predictions,
                                      .items_name = "steps",
                                      .bytes_max = sizeof(struct step_answer),
                                      .compute = compute_step,
                                      .take = take_step,
                                      .cost_s = step_cost_s,
                                      .shows_progress = reproduction->shows_progress};
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        struct published *row = &reproduction->rows.rows[i];
        if (!published_is_context(row)) {
            AR_TRY(add_published(reproduction, &predictions, row, err));
        }
    }
    if (predictions.steps_count > 0) {
        struct ar_pool_queue queue =
            ar_pool_queue_create(predictions.arena, &work, NULL, predictions.steps_count);
        AR_TRY(ar_pool_run(&work, reproduction->jobs, &queue, err));
    }
    AR_TRY(take_predictions(reproduction, &predictions, err));
    reproduction->summary = reproduce_summarize(&reproduction->rows);
    return AR_OK;
}

/* --- as tables, CSV, JSON and files of pictures --------------------------------------------- */

/* clang-format off */
#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct published, field, name, __VA_ARGS__)
static const struct ar_column row_columns[] = {
    ROW(number, measured_error, "measured_error", "half width of what was measured"),
    ROW(string, how_read,      "how_read",   "how it was read at its source"),
    ROW(string, name,          "row",        "name of the published row", .heading = "row"),
    ROW(string, title,         "title",      "what it is"),
    ROW(string, quantity_text, "quantity",   "what was measured", .heading = "quantity"),
    ROW(string, unit,          "unit",       "of the quantity"),
    ROW(count,  gpus,          "gpus",       "of the run", .heading = "gpus"),
    ROW(string, algorithm,     "algorithm",  "of the all-reduces"),
    ROW(number, measured,      "measured",   "as published", .heading = "measured", .decimals = 2),
    ROW(number, predicted,     "predicted",  "by the row's own values", .heading = "predicted",
        .decimals = 2),
    ROW(number, low,           "low",        "of the band of predictions", .heading = "low",
        .decimals = 2),
    ROW(number, high,          "high",       "its upper end", .heading = "high", .decimals = 2),
    ROW(number, error_frac,    "error_frac", "predicted / measured - 1", .heading = "error (%)",
        .factor = 100, .decimals = 1, .is_signed = true),
    ROW(string, inside,        "inside",     "whether the band meets what was measured", .heading = ""),
    ROW(string, source,        "source",     "where the number is from"),
    ROW(string, assumptions,   "assumptions", "what is drawn for the band"),
};

/* CSV is without the first columns, JSON without the last, which is a list of its own there. */
enum { JSON_ONLY = 2, ROW_COLUMNS = sizeof row_columns / sizeof row_columns[0] };
static const struct ar_columns csv_columns = {row_columns + JSON_ONLY, ROW_COLUMNS - JSON_ONLY};
static const struct ar_columns json_columns = {row_columns, ROW_COLUMNS - 1};

#define POINT(kind, field, ...) AR_COLUMN(kind, struct curve_point, field, __VA_ARGS__)
static const struct ar_column point_columns[] = {
    POINT(string, curve,     "curve",     "row and algorithm"),
    POINT(string, algorithm, "algorithm", "of the all-reduces"),
    POINT(string, quantity,  "quantity",  "as in the row"),
    POINT(string, gpus,      "gpus",      "of the point"),
    POINT(number, value,     "value",     "predicted"),
    POINT(string, none,      "low",       "curves have no band"),
    POINT(string, none,      "high",      "the same"),
};

/* Members of the JSON document beside its lists. */
static const struct ar_column range_columns[] = {
    AR_COLUMN(string, struct published_range, text, "range", "as written"),
    AR_COLUMN(string, struct published_range, source, "source", "of its ends"),
};
#define DOCUMENT(kind, field, name, help) AR_COLUMN(kind, struct reproduction, field, name, help)
static const struct ar_column document_columns[] = {
    DOCUMENT(count,  samples_count,              "samples", "draws of a band"),
    DOCUMENT(count,  seed,                       "seed", "of the draws"),
    DOCUMENT(count,  summary.predicted,          "judged", "rows with a prediction"),
    DOCUMENT(count,  summary.banded,             "banded", "those with a band"),
    DOCUMENT(count,  summary.inside,             "inside", "those inside it"),
    DOCUMENT(count,  summary.close,              "within_5_percent", "those near what was measured"),
    DOCUMENT(number, summary.median_error_frac,  "median_error_frac", "of absolute values"),
    DOCUMENT(number, summary.largest_error_frac, "largest_error_frac", "of absolute values"),
    DOCUMENT(number, summary.median_width_frac,  "median_width_frac", "(high - low) / predicted"),
};
/* clang-format on */

/* Quantities in the table for people: with the unit there, and its factor. */
static const struct {
    const char *text;
    double factor;
} shown_quantities[QUANTITIES_COUNT] = {{"efficiency (%)", 100},    {"images (images/s)", 1},
                                        {"samples (samples/s)", 1}, {"iteration (ms)", 1000},
                                        {"tokens (tokens/s)", 1},   {"train (s)", 1}};

static void write_for_people(FILE *file, const struct ar_view *view,
                             const struct reproduction *reproduction)
{
    const struct published_rows *rows = &reproduction->rows;
    const struct reproduce_summary *summary = &reproduction->summary;
    struct ar_records records;
    ar_records_begin(&records, file, view, csv_columns);
    for (size_t i = 0; i < rows->count; i++) {
        struct published shown = rows->rows[i];
        double factor = shown_quantities[shown.quantity].factor;
        shown.quantity_text = shown_quantities[shown.quantity].text;
        shown.measured *= factor;
        shown.predicted *= factor;
        shown.low *= factor;
        shown.high *= factor;
        shown.inside = isnan(shown.predicted)             ? "no cluster model yet"
                       : shown.inside == NULL             ? "no band"
                       : strcmp(shown.inside, "yes") == 0 ? "inside"
                                                          : "outside";
        ar_records_add(&records, &shown);
    }
    ar_records_end(&records);
    fprintf(file, "\n%" PRIu32 " of %" PRIu32 " predicted rows inside their band", summary->inside,
            summary->banded);
    if (summary->banded < summary->predicted) {
        fprintf(file, ", %" PRIu32 " have none", summary->predicted - summary->banded);
    }
    if (summary->predicted > 0) {
        fprintf(file, ", %" PRIu32 " within %g %%; |error| median %.1f %%, largest %.1f %%",
                summary->close, REPRODUCE_CLOSE_FRAC * 100, summary->median_error_frac * 100,
                summary->largest_error_frac * 100);
    }
    if (summary->banded > 0) {
        fprintf(file, "; width of a band, median %.1f %% of its prediction",
                summary->median_width_frac * 100);
    }
    fputs("\n\nwhat each row is, and what is drawn for its band\n", file);
    for (size_t i = 0; i < rows->count; i++) {
        const struct published *row = &rows->rows[i];
        fprintf(file, "%s: %s; %s%s%s\n", row->name, row->title, row->source,
                row->how_read != NULL ? ", " : "", row->how_read != NULL ? row->how_read : "");
        for (size_t k = 0; k < row->ranges_count; k++) {
            const struct published_range *range = &row->ranges[k];
            bool is_own = strcmp(range->source, "row") == 0;
            fprintf(file, "  %-44s %s\n", range->text,
                    is_own ? "assumed by the row" : range->source);
        }
    }
}

static void write_json(FILE *file, const struct reproduction *reproduction)
{
    fputs("{\"rows\": [", file);
    for (size_t i = 0; i < reproduction->rows.count; i++) {
        const struct published *row = &reproduction->rows.rows[i];
        fputs(i > 0 ? ",\n{" : "\n{", file);
        ar_json_members(file, json_columns, row);
        fputs(", \"assumptions\": ", file);
        ar_json_array(file, AR_COLUMNS(range_columns), row->ranges, row->ranges_count,
                      sizeof *row->ranges);
        fputc('}', file);
    }
    fputs("],\n", file);
    ar_json_members(file, AR_COLUMNS(document_columns), reproduction);
    fputs("}\n", file);
}

void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction)
{
    if (view->format == AR_FORMAT_TABLE) {
        write_for_people(file, view, reproduction);
    } else if (view->format == AR_FORMAT_JSON) {
        write_json(file, reproduction);
    } else {
        ar_records_write(file, view, csv_columns, reproduction->rows.rows, reproduction->rows.count,
                         sizeof *reproduction->rows.rows);
    }
}

enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err)
{
    const struct published_rows *rows = &reproduction->rows;
    AR_TRY(ar_records_save(directory, "reproduce.csv", csv_columns, rows->rows, rows->count,
                           sizeof *rows->rows, err));
    return ar_records_save(directory, "curves.csv", AR_COLUMNS(point_columns), reproduction->points,
                           reproduction->points_count, sizeof *reproduction->points, err);
}
