/* One prediction of a published run. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_run.h"
#include "ar_text.h"
#include "reproduce.h"
#include "training.h"

/* Values stand in a file: what is wrong there is data. */
static struct ar_origin origin_of(enum ar_key key)
{
    return (struct ar_origin){.where = ar_keys[key].option, .status = AR_BAD_DATA};
}

static enum ar_status set(struct ar_scenario *scenario, enum ar_key key, const char *text,
                          struct ar_error *err)
{
    struct ar_origin origin = origin_of(key);
    return ar_scenario_set(scenario, key, &origin, text, err);
}

/* Puts `KEY=VALUE` among the settings or the terms, in the place of one of the same key. */
static enum ar_status put(struct ar_scenario *scenario, enum ar_key key, const char *text,
                          struct ar_error *err)
{
    struct ar_origin origin = origin_of(key);
    return ar_scenario_replace(scenario, key, &origin, text, err);
}

/* Puts the texts of a cell, separated by semicolons. */
static enum ar_status put_cell(struct ar_scenario *scenario, enum ar_key key, const char *cell,
                               struct ar_error *err)
{
    char *rest = ar_arena_text(scenario->arena, cell);
    if (rest == NULL) {
        return ar_error_no_memory(err, "the settings");
    }
    for (char *part; (part = ar_next_part(&rest, ';')) != NULL;) {
        if (part[0] != '\0') {
            AR_TRY(put(scenario, key, part, err));
        }
    }
    return AR_OK;
}

/* The value that a range of this key takes in an evaluation, in the arena; NULL: none. */
static enum ar_status find_pick(struct ar_arena *arena, const struct published *row,
                                const struct evaluation *evaluation, enum ar_key key,
                                const char **text, struct ar_error *err)
{
    char value[RANGE_VALUE];
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (range_is_of(&row->ranges[i], key) && !isnan(evaluation->picks[i])) {
            range_value(&row->ranges[i], evaluation->picks[i], value);
            *text = ar_arena_text(arena, value);
            return *text != NULL ? AR_OK : ar_error_no_memory(err, "a range");
        }
    }
    return AR_OK;
}

/* Whether the value of the row does not count. A shape goes with its algorithm and GPUs. */
static bool is_replaced(const struct evaluation *evaluation, enum ar_key key)
{
    return (key == AR_KEY_ALGORITHM && evaluation->algorithm != NULL) ||
           ((key == AR_KEY_GPUS || key == AR_KEY_SHAPE) && evaluation->gpus > 0);
}

/* Keys with one value: what the command line says, else a range, else the row. */
static enum ar_status set_keys(const struct reproduction *reproduction,
                               const struct evaluation *evaluation, struct ar_scenario *scenario,
                               struct ar_error *err)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    const struct ar_scenario *given = &reproduction->request->given;
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        enum ar_key key = (enum ar_key)i;
        const char *text = row->keys[key];
        if (!ar_key_is(key, AR_KEY_IN_PUBLISHED) || ar_key_is(key, AR_KEY_REPEATS) ||
            is_replaced(evaluation, key)) {
            continue;
        }
        AR_TRY(find_pick(scenario->arena, row, evaluation, key, &text, err));
        if (text[0] != '\0') {
            AR_TRY(set(scenario, key, text, err));
        }
    }
    if (evaluation->algorithm != NULL) {
        AR_TRY(set(scenario, AR_KEY_ALGORITHM, evaluation->algorithm, err));
    }
    if (evaluation->gpus > 0) {
        scenario->gpus = evaluation->gpus;
        scenario->origins[AR_KEY_GPUS] = origin_of(AR_KEY_GPUS);
    }
    if (ar_scenario_has(given, AR_KEY_ENGINE)) {
        scenario->engine = given->engine;
        scenario->origins[AR_KEY_ENGINE] = given->origins[AR_KEY_ENGINE];
    }
    return AR_OK;
}

/* Settings or terms: what the row says, then the ranges, then the command line. */
static enum ar_status set_list(const struct reproduction *reproduction,
                               const struct evaluation *evaluation, enum ar_key key,
                               const struct ar_settings *given, struct ar_scenario *scenario,
                               struct ar_error *err)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    char value[RANGE_VALUE];
    AR_TRY(put_cell(scenario, key, row->keys[key], err));
    for (size_t i = 0; i < row->ranges_count; i++) {
        const struct range *range = &row->ranges[i];
        if (range->key != key || range->setting == NULL || isnan(evaluation->picks[i])) {
            continue;
        }
        range_value(range, evaluation->picks[i], value);
        const char *text = ar_arena_format(scenario->arena, "%s=%s", range->setting, value);
        if (text == NULL) {
            return ar_error_no_memory(err, "a range");
        }
        AR_TRY(put(scenario, key, text, err));
    }
    for (size_t i = 0; i < given->count; i++) {
        AR_TRY(put(scenario, key, given->list[i].text, err));
    }
    return AR_OK;
}

static enum ar_status make_scenario(const struct reproduction *reproduction,
                                    const struct evaluation *evaluation,
                                    struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_scenario *given = &reproduction->request->given;
    if (evaluation->is_draw) {
        scenario->iterations_with_jitter = REPRODUCE_DRAW_STEPS;
    }
    AR_TRY(set_keys(reproduction, evaluation, scenario, err));
    AR_TRY(set_list(reproduction, evaluation, AR_KEY_SET, &given->settings, scenario, err));
    return set_list(reproduction, evaluation, AR_KEY_TERM, &given->terms, scenario, err);
}

/* What the error of a fitted engine makes of the time of a step; 1 for other engines. */
static double error_factor(const struct ar_row *row, double deviations)
{
    double share = deviations / (2 * AR_BAND95_DEVIATIONS);
    return isfinite(row->low_s) && row->low_s > 0 ? pow(row->high_s / row->low_s, share) : 1;
}

static double quantity_of(enum quantity quantity, const struct ar_row *row, double factor)
{
    switch (quantity) {
    case QUANTITY_efficiency_frac:
        return row->efficiency_frac / factor;
    case QUANTITY_images_per_s:
        return row->images_per_s / factor;
    default:
        return row->iteration_s * factor;
    }
}

static void take_row(const struct ar_row *row, struct outcome *outcome)
{
    outcome->gpus = (uint32_t)row->gpus;
    outcome->nodes = (uint32_t)row->nodes;
    ar_copy_text(outcome->algorithm, sizeof outcome->algorithm, row->algorithm);
}

/* A training step, as predict has it. */
static enum ar_status predict(const struct reproduction *reproduction, struct ar_scenario *scenario,
                              enum quantity quantity, double deviations, struct outcome *outcome,
                              struct ar_error *err)
{
    struct ar_row row;
    AR_TRY(ar_scenario_require(scenario, AR_KEY_TRACE, err));
    AR_TRY(ar_scenario_require(scenario, AR_KEY_GPUS, err));
    AR_TRY(ar_scenario_require(scenario, AR_KEY_ALGORITHM, err));
    AR_TRY(ar_scenario_load(scenario, reproduction->inputs, err));
    AR_TRY(ar_run(scenario, &row, err));
    outcome->value = quantity_of(quantity, &row, error_factor(&row, deviations));
    take_row(&row, outcome);
    return AR_OK;
}

/* Time to train, if all steps err the same way; evaluations have no all-reduce. */
static double time_with_error(const struct training *training, double deviations)
{
    double time_s = training->train_s;
    for (size_t i = 0; i < training->phases_count; i++) {
        const struct training_phase *phase = &training->phases[i];
        double steps_s = phase->steps_count * phase->iteration_s;
        time_s += steps_s * (error_factor(&training->rows[i], deviations) - 1);
    }
    return time_s;
}

/* A whole run: what the row leaves open is as in its run file. */
static enum ar_status train(const struct reproduction *reproduction,
                            const struct evaluation *evaluation, const struct ar_scenario *scenario,
                            struct outcome *outcome, struct ar_error *err)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    const char *run = row->cells[PUBLISHED_run];
    struct training training;
    AR_TRY(find_pick(scenario->arena, row, evaluation, AR_KEYS_COUNT, &run, err));
    AR_TRY(training_predict(run, scenario, reproduction->inputs, &training, err));
    outcome->value = time_with_error(&training, evaluation->error_deviations);
    take_row(&training.rows[0], outcome);
    return AR_OK;
}

/* `path:line: row "x", batch=16: ...`; what is wrong there is data, not usage. */
static void report(const struct published *row, const struct evaluation *evaluation,
                   enum ar_status status, const struct ar_error *cause, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    char values[200] = "";
    char value[RANGE_VALUE];
    size_t used = 0;
    for (size_t i = 0; i < row->ranges_count && used < sizeof values; i++) {
        if (!isnan(evaluation->picks[i])) {
            range_value(&row->ranges[i], evaluation->picks[i], value);
            used += (size_t)snprintf(values + used, sizeof values - used, ", %s=%s",
                                     row->ranges[i].parameter, value);
        }
    }
    (void)ar_error_set(err, status == AR_USAGE ? AR_BAD_DATA : status, "%s%s: %s",
                       published_where(row, where), values, cause->text);
}

static enum ar_status evaluate(const struct reproduction *reproduction,
                               const struct evaluation *evaluation, struct ar_arena *arena,
                               struct outcome *outcome, struct ar_error *err)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    struct ar_scenario scenario = ar_scenario_begin(arena);
    AR_TRY(make_scenario(reproduction, evaluation, &scenario, err));
    AR_TRY(row->quantity == QUANTITY_train_s
               ? train(reproduction, evaluation, &scenario, outcome, err)
               : predict(reproduction, &scenario, row->quantity, evaluation->error_deviations,
                         outcome, err));
    if (!(outcome->value > 0 && isfinite(outcome->value))) {
        return ar_error_set(err, AR_INTERNAL, "found a prediction of %g; expected one above 0",
                            outcome->value);
    }
    return AR_OK;
}

void reproduce_evaluate(const struct reproduction *reproduction,
                        const struct evaluation *evaluation, struct outcome *outcome)
{
    struct ar_arena arena = {NULL};
    struct ar_error cause = {.status = AR_OK};
    *outcome = (struct outcome){.value = NAN};
    enum ar_status status = evaluate(reproduction, evaluation, &arena, outcome, &cause);
    if (status != AR_OK) {
        report(&reproduction->rows.rows[evaluation->row], evaluation, status, &cause,
               &outcome->err);
    }
    ar_arena_end(&arena);
}
