/* One prediction of a published run. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "commands.h"
#include "plan.h"
#include "reproduce.h"
#include "training.h"

/* Columns that are options of predict and train. */
static const struct {
    enum published_column column;
    const char *option;
    size_t offset;
} option_columns[] = {
    {PUBLISHED_cluster, "cluster", offsetof(struct options, cluster)},
    {PUBLISHED_gpus, "gpus", offsetof(struct options, gpus)},
    {PUBLISHED_algorithm, "algorithm", offsetof(struct options, algorithm)},
    {PUBLISHED_shape, "shape", offsetof(struct options, shape)},
    {PUBLISHED_trace, "trace", offsetof(struct options, trace)},
    {PUBLISHED_batch, "batch", offsetof(struct options, batch)},
    {PUBLISHED_precision, "precision", offsetof(struct options, precision)},
    {PUBLISHED_framework, "framework", offsetof(struct options, framework)},
    {PUBLISHED_images_per_s_at, "images-per-s-at", offsetof(struct options, images_per_s_at)},
    {PUBLISHED_bucket, "bucket", offsetof(struct options, bucket)},
    {PUBLISHED_channels, "channels", offsetof(struct options, channels)},
    {PUBLISHED_window, "window", offsetof(struct options, window)},
    {PUBLISHED_engine, "engine", offsetof(struct options, engine)},
    {PUBLISHED_jitter, "jitter", offsetof(struct options, jitter)},
    {PUBLISHED_baseline, "baseline", offsetof(struct options, baseline)},
};

/* A command line that is made, with the texts it points to. */
struct line {
    struct options options;
    const char *cells[PUBLISHED_COLUMNS_COUNT];
    char texts[2 * SETTINGS_MAX][RANGE_TEXT];
    size_t texts_count;
    char values[RANGES_MAX][RANGE_VALUE];
    char gpus[16];
};

/* Puts `KEY=VALUE` among the values of --set or --term, in the place of one of the same key. */
static enum ar_status put(struct line *line, struct option_values *values, const char *text,
                          size_t length, struct ar_error *err)
{
    if (length >= RANGE_TEXT || line->texts_count == 2 * SETTINGS_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "found \"%.60s...\"; expected at most %d settings of less than %d "
                            "characters",
                            text, SETTINGS_MAX, RANGE_TEXT);
    }
    char *kept = line->texts[line->texts_count++];
    snprintf(kept, RANGE_TEXT, "%.*s", (int)length, text);
    size_t key = strcspn(kept, "=") + 1;
    for (size_t i = 0; i < values->count; i++) {
        if (strncmp(values->texts[i], kept, key) == 0) {
            values->texts[i] = kept;
            return AR_OK;
        }
    }
    if (values->count == SETTINGS_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "found more than %d settings", SETTINGS_MAX);
    }
    values->texts[values->count++] = kept;
    return AR_OK;
}

/* Puts the texts of a cell, separated by semicolons. */
static enum ar_status put_cell(struct line *line, struct option_values *values, const char *cell,
                               struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (const char *at = cell + strspn(cell, " ;"); status == AR_OK && *at != '\0';) {
        size_t length = strcspn(at, ";");
        size_t kept = length;
        while (kept > 0 && at[kept - 1] == ' ') {
            kept--;
        }
        status = put(line, values, at, kept, err);
        at += length + strspn(at + length, " ;");
    }
    return status;
}

static enum ar_status put_all(struct line *line, struct option_values *values,
                              const struct option_values *from, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (size_t i = 0; status == AR_OK && i < from->count; i++) {
        status = put(line, values, from->texts[i], strlen(from->texts[i]), err);
    }
    return status;
}

/* Sets the parameter of a range. */
static enum ar_status set_range(struct line *line, uint32_t index, const struct range *range,
                                pick value, struct ar_error *err)
{
    char text[2 * RANGE_TEXT];
    const char *key = range_key(range);
    range_value(range, value, line->values[index]);
    bool is_set = strncmp(key, "set.", 4) == 0;
    if (is_set || strncmp(key, "term.", 5) == 0) {
        snprintf(text, sizeof text, "%s=%s", key + (is_set ? 4 : 5), line->values[index]);
        return put(line, is_set ? &line->options.settings : &line->options.terms, text,
                   strlen(text), err);
    }
    enum published_column column = published_column_find(key);
    if (column != PUBLISHED_COLUMNS_COUNT) {
        line->cells[column] = line->values[index];
    }
    return AR_OK;
}

/* What comes from the row, then from the ranges, then from the command line. */
static enum ar_status fill_line(const struct reproduction *reproduction,
                                const struct evaluation *evaluation, struct line *line,
                                struct ar_error *err)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    const struct options *given = reproduction->options;
    struct options *options = &line->options;
    memcpy(line->cells, row->cells, sizeof line->cells);
    enum ar_status status = put_cell(line, &options->settings, row->cells[PUBLISHED_set], err);
    if (status == AR_OK) {
        status = put_cell(line, &options->terms, row->cells[PUBLISHED_term], err);
    }
    for (uint32_t i = 0; status == AR_OK && i < row->ranges_count; i++) {
        if (!isnan(evaluation->picks[i])) {
            status = set_range(line, i, &row->ranges[i], evaluation->picks[i], err);
        }
    }
    if (status == AR_OK) {
        status = put_all(line, &options->settings, &given->settings, err);
    }
    if (status == AR_OK) {
        status = put_all(line, &options->terms, &given->terms, err);
    }
    if (given->engine != NULL) {
        line->cells[PUBLISHED_engine] = given->engine;
    }
    if (evaluation->algorithm != NULL) {
        line->cells[PUBLISHED_algorithm] = evaluation->algorithm;
    }
    if (evaluation->gpus > 0) {
        snprintf(line->gpus, sizeof line->gpus, "%" PRIu32, evaluation->gpus);
        line->cells[PUBLISHED_gpus] = line->gpus;
        line->cells[PUBLISHED_shape] = "";
    }
    return status;
}

/* Cells that say something become options that were given. */
static void give_options(struct line *line)
{
    struct options *options = &line->options;
    for (size_t i = 0; i < sizeof option_columns / sizeof option_columns[0]; i++) {
        const char *text = line->cells[option_columns[i].column];
        if (text[0] != '\0') {
            *(const char **)((char *)options + option_columns[i].offset) = text;
            options->given[options->given_count++] = option_columns[i].option;
        }
    }
    if (options->settings.count > 0) {
        options->given[options->given_count++] = "set";
    }
    if (options->terms.count > 0) {
        options->given[options->given_count++] = "term";
    }
    options->quiet = true;
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

/* A training step, as predict has it. */
static enum ar_status predict(struct options *options, enum quantity quantity, double deviations,
                              struct outcome *outcome, struct ar_error *err)
{
    struct plan plan;
    struct point point;
    struct ar_row row;
    options_complete(COMMAND_PREDICT, options);
    enum ar_status status = plan_create(options, true, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = plan_point(&plan, options, &point, err);
    if (status == AR_OK) {
        status = plan_run(&plan, &point, &row, err);
    }
    if (status == AR_OK) {
        outcome->value = quantity_of(quantity, &row, error_factor(&row, deviations));
        outcome->gpus = (uint32_t)row.gpus;
        outcome->nodes = (uint32_t)row.nodes;
        ar_copy_text(outcome->algorithm, sizeof outcome->algorithm, row.algorithm);
    }
    plan_destroy(&plan);
    return status;
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
static enum ar_status train(const struct line *line, double deviations, struct outcome *outcome,
                            struct ar_error *err)
{
    struct training *training = malloc(sizeof *training);
    if (training == NULL) {
        return ar_error_no_memory(err, "a training run");
    }
    enum ar_status status =
        training_predict(line->cells[PUBLISHED_run], &line->options, training, err);
    if (status == AR_OK) {
        outcome->value = time_with_error(training, deviations);
        outcome->gpus = training->gpus;
        outcome->nodes = (uint32_t)training->rows[0].nodes;
        ar_copy_text(outcome->algorithm, sizeof outcome->algorithm, training->rows[0].algorithm);
    }
    free(training);
    return status;
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
                                     range_key(&row->ranges[i]), value);
        }
    }
    (void)ar_error_set(err, status == AR_USAGE ? AR_BAD_DATA : status, "%s%s: %s",
                       published_where(row, where), values, cause->text);
}

void reproduce_evaluate(const struct reproduction *reproduction,
                        const struct evaluation *evaluation, struct outcome *outcome)
{
    const struct published *row = &reproduction->rows.rows[evaluation->row];
    struct ar_error cause = {.status = AR_OK};
    struct line line = {.options = {.command = reproduction->predict}};
    *outcome = (struct outcome){.value = NAN};
    enum ar_status status = fill_line(reproduction, evaluation, &line, &cause);
    if (status == AR_OK) {
        give_options(&line);
        line.options.jitter_steps = evaluation->is_draw ? REPRODUCE_DRAW_STEPS : 0;
        status = row->quantity == QUANTITY_train_s
                     ? train(&line, evaluation->error_deviations, outcome, &cause)
                     : predict(&line.options, row->quantity, evaluation->error_deviations, outcome,
                               &cause);
    }
    if (status == AR_OK && !(outcome->value > 0 && isfinite(outcome->value))) {
        status = ar_error_set(&cause, AR_INTERNAL, "found a prediction of %g; expected one above 0",
                              outcome->value);
    }
    if (status != AR_OK) {
        report(row, evaluation, status, &cause, &outcome->err);
    }
}
