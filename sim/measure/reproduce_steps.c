/* Predictions of published runs, and the training steps that they have in common. */
#include <math.h>
#include <string.h>

#include "ar_hash.h"
#include "ar_kind.h"
#include "ar_pool.h"
#include "ar_run.h"
#include "key_texts.h"
#include "reproduce.h"

/* What comes of a step. */
struct answer {
    struct ar_error err; /* status AR_OK, or why there is no row */
    struct ar_row row;
};

/* A training step that several predictions may take. */
struct step {
    uint64_t key;      /* of all it depends on */
    struct step *same; /* the one before with the same last digits of its key */
    struct step *before;
    const struct prediction *prediction; /* the first that takes it, */
    uint32_t phase;                      /* in this phase of a run */
    double cost_s;
    struct answer answer;
};

/* --- what is predicted --------------------------------------------------------------------------
 */

/* The row's scenario with the values of a prediction, in an arena of its own. */
static enum ar_status make_scenario(const struct prediction *prediction, struct ar_arena *arena,
                                    struct ar_scenario *scenario, struct ar_error *err)
{
    const struct published *row = prediction->row;
    *scenario = row->scenario;
    scenario->arena = arena;
    if (prediction->kind != PREDICTION_NOMINAL) {
        scenario->iterations_with_jitter = REPRODUCE_SHORT_STEPS;
    }
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (prediction->values[i] != NULL) {
            AR_TRY(range_set(&row->ranges[i], prediction->values[i], scenario, err));
        }
    }
    if (prediction->is_moved) {
        ar_scenario_unset(scenario, AR_KEY_SHAPE);
        AR_TRY(key_text_set(scenario, AR_KEY_GPUS, prediction->gpus, err));
        AR_TRY(key_text_set(scenario, AR_KEY_ALGORITHM, prediction->algorithm, err));
    }
    return AR_OK;
}

/* The run of a row that is one: what the row leaves open is as in its run file. */
static enum ar_status begin_run(const struct predictions *predictions,
                                const struct prediction *prediction,
                                const struct ar_scenario *scenario, struct training *training,
                                struct ar_error *err)
{
    const struct training_file *file;
    const struct published *row = prediction->row;
    const struct range *range = range_find(row->ranges, row->ranges_count, AR_KEYS_COUNT, NULL);
    const char *run = row->run;
    if (range != NULL && prediction->values[range - row->ranges] != NULL) {
        run = prediction->values[range - row->ranges];
    }
    AR_TRY(training_file_load(run, scenario->arena, &file, err));
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
    AR_TRY(make_scenario(prediction, arena, &scenario, err));
    if (prediction->row->quantity == QUANTITY_TRAIN_S) {
        AR_TRY(begin_run(predictions, prediction, &scenario, &training, err));
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

/* `path:line: row "x", batch=16: ...` */
static enum ar_status report(const struct prediction *prediction, const struct ar_error *cause,
                             struct ar_error *err)
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
    return published_report(row, values, cause, err);
}

/* --- steps --------------------------------------------------------------------------------------
 */

static enum ar_status make_key(const struct ar_scenario *scenario, uint64_t *key,
                               struct ar_error *err)
{
    *key = AR_HASH_BEGIN;
    ar_hash_bytes(key, &scenario->algorithm, sizeof scenario->algorithm);
    ar_hash_bytes(key, &scenario->engine, sizeof scenario->engine);
    ar_hash_text(key, scenario->cluster_name);
    ar_hash_bytes(key, &scenario->shape, sizeof scenario->shape);
    return ar_scenario_hash(scenario, key, err);
}

/* Finds or makes the step of a phase. */
static enum ar_status take_step(struct predictions *predictions, struct prediction *prediction,
                                uint32_t phase, const struct ar_scenario *scenario,
                                struct ar_error *err)
{
    uint64_t key;
    AR_TRY(make_key(scenario, &key, err));
    struct step **same = &predictions->by_key[key % STEPS_KEYS];
    for (struct step *step = *same; step != NULL; step = step->same) {
        if (step->key == key) {
            prediction->steps[phase] = step;
            return AR_OK;
        }
    }
    struct step *made = ar_arena_alloc(predictions->arena, 1, sizeof *made);
    AR_NEED(made, err, "the steps");
    *made = (struct step){.key = key,
                          .before = predictions->last_step,
                          .same = *same,
                          .prediction = prediction,
                          .phase = phase,
                          .cost_s = ar_run_cost_s(scenario)};
    predictions->last_step = prediction->steps[phase] = *same = made;
    predictions->steps_count++;
    return AR_OK;
}

static enum ar_status take_steps(struct predictions *predictions, struct prediction *prediction,
                                 struct ar_arena *arena, struct ar_error *err)
{
    struct ar_scenario step;
    struct ar_row row;
    size_t count = 1;
    for (uint32_t phase = 0; phase < count; phase++) {
        AR_TRY(load_step(predictions, prediction, phase, arena, &step, &count, err));
        AR_TRY(take_step(predictions, prediction, phase, &step, err));
    }
    if (prediction->kind == PREDICTION_NOMINAL) {
        ar_run_describe(&step, &row);
        prediction->row->gpus = row.gpus;
        prediction->row->nodes = row.nodes;
        prediction->row->algorithm =
            ar_scenario_kind(&step)->has_layout ? "" : ar_algorithm_name(step.algorithm);
    }
    return AR_OK;
}

enum ar_status predictions_add(struct predictions *predictions, const struct prediction *prediction,
                               struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_error cause;
    struct prediction *made = ar_arena_alloc(predictions->arena, 1, sizeof *made);
    AR_NEED(made, err, "the predictions");
    *made = *prediction;
    if (take_steps(predictions, made, &arena, &cause) != AR_OK) {
        return report(made, &cause, err);
    }
    *(predictions->first == NULL ? &predictions->first : predictions->end) = made;
    predictions->end = &made->next;
    predictions->counts[made->kind]++;
    return AR_OK;
}

/* --- running ------------------------------------------------------------------------------------
 */

static uint32_t compute(void *context, uint32_t item, char *bytes)
{
    const struct predictions *predictions = context;
    const struct step *step = predictions->steps[item];
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario scenario;
    struct answer answer = {.err = {.status = AR_OK}};
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

static enum ar_status take(void *context, const struct ar_pool_answer *got, struct ar_error *err)
{
    const struct predictions *predictions = context;
    struct step *step = predictions->steps[got->item];
    if (got->is_lost) {
        return ar_error_set(err, AR_INTERNAL, "%s: %s", step->prediction->row->where, got->bytes);
    }
    memcpy(&step->answer, got->bytes, sizeof step->answer);
    return AR_OK;
}

static double cost_s(const void *context, uint32_t item)
{
    const struct predictions *predictions = context;
    return predictions->steps[item]->cost_s;
}

enum ar_status predictions_run(struct predictions *predictions, uint32_t jobs, bool shows_progress,
                               struct ar_error *err)
{
    uint32_t place = predictions->steps_count;
    const struct ar_pool_work work = {.context = predictions,
                                      .items_name = "steps",
                                      .bytes_max = sizeof(struct answer),
                                      .compute = compute,
                                      .take = take,
                                      .cost_s = cost_s,
                                      .shows_progress = shows_progress};
    if (place == 0) {
        return AR_OK;
    }
    predictions->steps = ar_arena_alloc(predictions->arena, place, sizeof(struct step *));
    AR_NEED(predictions->steps, err, "the steps");
    for (struct step *step = predictions->last_step; step != NULL; step = step->before) {
        predictions->steps[--place] = step;
    }
    struct ar_pool_queue queue =
        ar_pool_queue_create(predictions->arena, &work, NULL, predictions->steps_count);
    return ar_pool_run(&work, jobs, &queue, err);
}

/* --- what comes out -----------------------------------------------------------------------------
 */

/* What the error of a fitted engine makes of the time of a step; 1 for other engines. */
static double error_factor(const struct ar_row *row, double deviations)
{
    double share = deviations / (2 * AR_BAND95_DEVIATIONS);
    return isfinite(row->low_s) && row->low_s > 0 ? pow(row->high_s / row->low_s, share) : 1;
}

/* Time to train, if all steps err the same way; evaluations have no all-reduce. */
static double time_with_error(const struct training *training, double deviations)
{
    double time_s = training->total->time_s;
    for (size_t i = 0; i < training->phases_count; i++) {
        const struct training_phase *phase = &training->phases[i];
        double steps_s = phase->steps_count * phase->iteration_s;
        time_s += steps_s * (error_factor(&phase->row, deviations) - 1);
    }
    return time_s;
}

static enum ar_status finish_run(const struct predictions *predictions,
                                 struct prediction *prediction, struct ar_arena *arena,
                                 struct ar_error *err)
{
    struct ar_scenario scenario;
    struct training training;
    AR_TRY(make_scenario(prediction, arena, &scenario, err));
    AR_TRY(begin_run(predictions, prediction, &scenario, &training, err));
    for (size_t i = 0; i < training.phases_count; i++) {
        training.phases[i].row = prediction->steps[i]->answer.row;
    }
    training_end(&training);
    prediction->value = time_with_error(&training, prediction->error_deviations);
    return AR_OK;
}

static enum ar_status finish(const struct predictions *predictions, struct prediction *prediction,
                             struct ar_arena *arena, struct ar_error *err)
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
        AR_TRY(finish_run(predictions, prediction, arena, err));
    }
    return prediction->value > 0 && isfinite(prediction->value)
               ? AR_OK
               : ar_error_set(err, AR_INTERNAL, "found a prediction of %g; expected one above 0",
                              prediction->value);
}

enum ar_status prediction_finish(const struct predictions *predictions,
                                 struct prediction *prediction, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_error cause;
    return finish(predictions, prediction, &arena, &cause) == AR_OK
               ? AR_OK
               : report(prediction, &cause, err);
}
