/* Time to train: one step of each phase, and how many there are. */
#include "training.h"

#include <inttypes.h>
#include <math.h>

#include "ar_run.h"
#include "key_texts.h"

/* Less than this part of a step is rounding, not time. */
#define ROUNDING_FRAC 1e-9

/* --- what its steps are --------------------------------------------------------------------- */

/* Steps without all-reduces have none. */
static bool needs_algorithm(const struct ar_scenario *scenario)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    return strategy == NULL || strategy->sends_buckets;
}

static enum ar_status check_required(const struct training_file *file,
                                     const struct ar_scenario *scenario, struct ar_error *err)
{
    static const enum ar_key needed[] = {AR_KEY_CLUSTER, AR_KEY_GPUS, AR_KEY_ALGORITHM,
                                         AR_KEY_TRACE};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        bool is_needed = needed[i] != AR_KEY_ALGORITHM || needs_algorithm(scenario);
        if (is_needed && !ar_scenario_has(scenario, needed[i])) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: directive \"%s\" is missing; expected it or the option %s",
                                file->csv->path, ar_key_name(needed[i]), ar_keys[needed[i]].option);
        }
    }
    return AR_OK;
}

/* A run counts the samples of all GPUs in steps that are alike. */
static enum ar_status check_strategy(const struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    bool has_others =
        strategy != NULL && strategy->operators != NULL &&
        (strategy->replicas == NULL || strategy->replicas(scenario->gpus) != scenario->gpus);
    if (has_others || (strategy != NULL && strategy->ends_runs)) {
        return ar_scenario_refuse(scenario, AR_KEY_STRATEGY, err,
                                  "found %s; expected a strategy in which every GPU has samples of "
                                  "its own, and which sends in every step",
                                  strategy->name);
    }
    return AR_OK;
}

static enum ar_status begin_phase(const struct training *training, size_t index,
                                  struct ar_error *err)
{
    const struct training_file *file = training->file;
    struct training_phase *phase = &training->phases[index];
    *phase = file->phases[index];
    phase->run = file->name;
    phase->gpus = training->scenario.gpus;
    snprintf(phase->phase, sizeof phase->phase, "%zu", index + 1);
    AR_TRY(training_file_batch(file, index, phase->gpus, &phase->batch_per_gpu, err));
    phase->batch_total = phase->batch_per_gpu * phase->gpus;
    return AR_OK;
}

enum ar_status training_begin(const struct training_file *file, const struct ar_scenario *given,
                              struct ar_inputs *inputs, struct training *training,
                              struct ar_error *err)
{
    struct ar_scenario *scenario = &training->scenario;
    *training =
        (struct training){.file = file, .scenario = *given, .phases_count = file->phases_count};
    AR_TRY(key_texts_add(file->keys, file->csv, scenario, err));
    AR_TRY(check_required(file, scenario, err));
    AR_TRY(check_strategy(scenario, err));
    static const enum ar_key of_algorithm[] = {AR_KEY_ALGORITHM, AR_KEY_SHAPE};
    for (int i = 0; i < 2 && !needs_algorithm(scenario); i++) {
        if (!ar_scenario_has(given, of_algorithm[i])) { /* the file's are for other strategies */
            ar_scenario_unset(scenario, of_algorithm[i]);
        }
    }
    training->is_shape_dropped = !ar_scenario_has(given, AR_KEY_SHAPE) &&
                                 ar_scenario_has(scenario, AR_KEY_SHAPE) && file->gpus > 0 &&
                                 scenario->gpus != file->gpus;
    if (training->is_shape_dropped) {
        ar_scenario_unset(scenario, AR_KEY_SHAPE);
    }
    AR_TRY(ar_scenario_load_cluster(scenario, inputs, err));
    training->phases =
        ar_arena_alloc(given->arena, file->phases_count + 1, sizeof *training->phases);
    AR_NEED(training->phases, err, "the phases of a run");
    training->total = &training->phases[file->phases_count];
    for (size_t i = 0; i < file->phases_count; i++) {
        AR_TRY(begin_phase(training, i, err));
    }
    return AR_OK;
}

enum ar_status training_step(const struct training *training, size_t phase,
                             struct ar_inputs *inputs, struct ar_scenario *step,
                             struct ar_error *err)
{
    const struct ar_csv *csv = training->file->csv;
    struct ar_arena *arena = training->scenario.arena;
    struct ar_origin origin = {
        .where = ar_arena_format(arena, "%s:%" PRIu64 ": batch", csv->path, csv->lines[phase]),
        .status = AR_BAD_DATA};
    const char *batch = ar_arena_format(arena, "%" PRIu64, training->phases[phase].batch_per_gpu);
    AR_NEED(origin.where && batch, err, "a phase");
    *step = training->scenario;
    AR_TRY(ar_scenario_set(step, AR_KEY_BATCH, &origin, batch, err));
    return ar_scenario_load(step, inputs, err);
}

/* --- what follows from them ------------------------------------------------------------------- */

/* Multiples of `every` in (0, epoch]; a multiple that rounding puts just above `epoch` is in. */
static double evaluations_until(double epoch, double every)
{
    return every > 0 ? floor(epoch / every * (1 + 1e-12)) : 0;
}

static void add_evaluations(const struct training_file *file, struct training_phase *phase)
{
    double passes = ceil((double)file->eval_images / (double)phase->batch_total);
    double pass_s = passes * phase->row.forward_s;
    phase->evaluations_count = 0;
    phase->evaluation_s = 0;
    phase->evaluation_samples_per_s = NAN;
    if (file->eval_images > 0) {
        phase->evaluations_count = evaluations_until(phase->last_epoch, file->eval_every) -
                                   evaluations_until(phase->first_epoch, file->eval_every);
        phase->evaluation_s = phase->evaluations_count * pass_s;
    }
    if (phase->evaluation_s > 0) {
        phase->evaluation_samples_per_s = (double)file->eval_images / pass_s;
    }
}

static void count_steps(const struct training_file *file, struct training_phase *phase)
{
    double epochs = phase->last_epoch - phase->first_epoch;
    uint64_t whole = file->images / phase->batch_total;
    bool has_partial = file->keeps_partial && file->images % phase->batch_total != 0;
    phase->steps_count = epochs * (double)(whole + has_partial);
    phase->images_count = file->keeps_partial ? epochs * (double)file->images
                                              : phase->steps_count * (double)phase->batch_total;
}

static void fill_phase(const struct training_file *file, struct training_phase *phase)
{
    const struct ar_row *row = &phase->row;
    double other_s = row->iteration_s - row->compute_s - row->exposed_s;
    bool is_rounding = fabs(other_s) < ROUNDING_FRAC * row->iteration_s;
    count_steps(file, phase);
    add_evaluations(file, phase);
    phase->iteration_s = row->iteration_s;
    phase->samples_per_s = row->samples_per_s;
    phase->efficiency_frac = row->efficiency_frac;
    phase->compute_s = phase->steps_count * row->compute_s;
    phase->exposed_s = phase->steps_count * row->exposed_s;
    phase->other_s = is_rounding ? 0 : phase->steps_count * other_s;
    phase->time_s = phase->steps_count * row->iteration_s + phase->evaluation_s;
}

/* What a table shows beside. */
static void show_phase(struct training_phase *phase)
{
    double tenths = round(phase->time_s * 10); /* 59.97 s are 1:00.0 */
    double minutes = floor(tenths / 600);
    snprintf(phase->epochs, sizeof phase->epochs, "%g-%g", phase->first_epoch, phase->last_epoch);
    snprintf(phase->clock, sizeof phase->clock, "%.0f:%04.1f", minutes,
             (tenths - 600 * minutes) / 10);
    phase->compute_frac = phase->compute_s / phase->time_s;
    phase->exposed_frac = phase->exposed_s / phase->time_s;
    phase->other_frac = phase->other_s / phase->time_s;
    phase->evaluation_frac = phase->evaluation_s / phase->time_s;
}

static void add_phase(const struct training_phase *phase, struct training_phase *total)
{
    if (phase->batch_per_gpu != total->batch_per_gpu) {
        total->batch_per_gpu = total->batch_total = AR_NO_COUNT;
    }
    total->last_epoch = phase->last_epoch;
    total->steps_count += phase->steps_count;
    total->images_count += phase->images_count;
    total->time_s += phase->time_s;
    total->compute_s += phase->compute_s;
    total->exposed_s += phase->exposed_s;
    total->other_s += phase->other_s;
    total->evaluation_s += phase->evaluation_s;
    total->evaluations_count += phase->evaluations_count;
    if (phase->row.exact == 0 || total->row.exact == 1) { /* one estimate makes it one */
        total->row.exact = phase->row.exact;
    }
}

static void sum_up(const struct training *training, struct training_phase *total)
{
    const struct training_phase *first = &training->phases[0];
    double steps_s = 0;
    double baseline_s = 0; /* what the baseline would take for the same images */
    *total = (struct training_phase){.run = first->run,
                                     .phase = "total",
                                     .gpus = first->gpus,
                                     .batch_per_gpu = first->batch_per_gpu,
                                     .batch_total = first->batch_total,
                                     .row = first->row,
                                     .evaluation_samples_per_s = (double)NAN};
    for (size_t i = 0; i < training->phases_count; i++) {
        const struct training_phase *phase = &training->phases[i];
        double time_s = phase->steps_count * phase->iteration_s;
        add_phase(phase, total);
        steps_s += time_s;
        baseline_s += time_s * phase->efficiency_frac;
    }
    total->iteration_s = steps_s / total->steps_count;
    total->efficiency_frac = baseline_s / steps_s;
    total->samples_per_s = total->images_count / total->time_s;
    if (total->evaluation_s > 0) {
        total->evaluation_samples_per_s =
            total->evaluations_count * (double)training->file->eval_images / total->evaluation_s;
    }
}

void training_end(struct training *training)
{
    struct training_phase *phases = training->phases;
    for (size_t i = 0; i < training->phases_count; i++) {
        fill_phase(training->file, &phases[i]);
        show_phase(&phases[i]);
    }
    sum_up(training, &phases[training->phases_count]);
    show_phase(&phases[training->phases_count]);
}

/* The step of an earlier phase with the same batch, or a new one. */
static enum ar_status run_phase(const struct training *training, size_t index,
                                struct ar_inputs *inputs, struct ar_error *err)
{
    struct ar_scenario step;
    struct training_phase *phase = &training->phases[index];
    for (size_t i = 0; i < index; i++) {
        if (training->phases[i].batch_per_gpu == phase->batch_per_gpu) {
            phase->row = training->phases[i].row;
            return AR_OK;
        }
    }
    AR_TRY(training_step(training, index, inputs, &step, err));
    phase->choice = step.choice;
    return ar_run(&step, &phase->row, err);
}

enum ar_status training_predict(const struct training_file *file, const struct ar_scenario *given,
                                struct ar_inputs *inputs, struct training *training,
                                struct ar_error *err)
{
    AR_TRY(training_begin(file, given, inputs, training, err));
    for (size_t i = 0; i < training->phases_count; i++) {
        AR_TRY(run_phase(training, i, inputs, err));
    }
    training_end(training);
    return AR_OK;
}
