/* Time to train: one step of each phase, and how many there are. */
#include "training.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_run.h"
#include "ar_text.h"
#include "training_file.h"

/* Less than this part of a step is rounding, not time. */
#define ROUNDING_FRAC 1e-9

/* Predicts one step with the batch of a phase, which stands in its line. */
static enum ar_status run_step(const struct training_file *file, const struct ar_scenario *scenario,
                               struct ar_inputs *inputs, uint64_t batch, size_t index,
                               struct ar_row *row, struct ar_error *err)
{
    struct ar_scenario step = *scenario;
    struct ar_origin origin = {.where = ar_arena_format(scenario->arena, "%s:%" PRIu64 ": batch",
                                                        file->csv->path, file->csv->lines[index]),
                               .status = AR_BAD_DATA};
    const char *text = ar_arena_format(scenario->arena, "%" PRIu64, batch);
    if (origin.where == NULL || text == NULL) {
        return ar_error_no_memory(err, "a phase");
    }
    AR_TRY(ar_scenario_set(&step, AR_KEY_BATCH, &origin, text, err));
    AR_TRY(ar_scenario_load(&step, inputs, err));
    return ar_run(&step, row, err);
}

/* Takes the step of an earlier phase with the same batch, or predicts one. */
static enum ar_status find_step(const struct training_file *file,
                                const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                struct training *training, size_t index, struct ar_error *err)
{
    const struct training_phase *phases = training->phases;
    for (size_t i = 0; i < index; i++) {
        if (phases[i].batch_per_gpu == phases[index].batch_per_gpu) {
            training->rows[index] = training->rows[i];
            return AR_OK;
        }
    }
    return run_step(file, scenario, inputs, phases[index].batch_per_gpu, index,
                    &training->rows[index], err);
}

/* Multiples of `every` in (0, epoch]; a multiple that rounding puts just above `epoch` is in. */
static double evaluations_until(double epoch, double every)
{
    return every > 0 ? floor(epoch / every * (1 + 1e-12)) : 0;
}

static void add_evaluations(const struct training_file *file, const struct ar_row *row,
                            struct training_phase *phase)
{
    double passes = ceil((double)file->eval_images / (double)phase->batch_total);
    double pass_s = passes * row->forward_s;
    phase->evaluations_count = 0;
    phase->evaluation_s = 0;
    phase->evaluation_images_per_s = NAN;
    if (file->eval_images > 0) {
        phase->evaluations_count = evaluations_until(phase->last_epoch, file->eval_every) -
                                   evaluations_until(phase->first_epoch, file->eval_every);
        phase->evaluation_s = phase->evaluations_count * pass_s;
    }
    if (phase->evaluation_s > 0) {
        phase->evaluation_images_per_s = (double)file->eval_images / pass_s;
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

static void fill_phase(const struct training_file *file, const struct ar_row *row,
                       struct training_phase *phase)
{
    double other_s = row->iteration_s - row->compute_s - row->exposed_s;
    bool is_rounding = fabs(other_s) < ROUNDING_FRAC * row->iteration_s;
    count_steps(file, phase);
    add_evaluations(file, row, phase);
    phase->iteration_s = row->iteration_s;
    phase->images_per_s = row->images_per_s;
    phase->efficiency_frac = row->efficiency_frac;
    phase->compute_s = phase->steps_count * row->compute_s;
    phase->exposed_s = phase->steps_count * row->exposed_s;
    phase->other_s = is_rounding ? 0 : phase->steps_count * other_s;
    phase->time_s = phase->steps_count * row->iteration_s + phase->evaluation_s;
}

static enum ar_status predict_phase(const struct training_file *file,
                                    const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                    struct training *training, size_t index, struct ar_error *err)
{
    struct training_phase *phase = &training->phases[index];
    phase->first_epoch = file->phases[index].first_epoch;
    phase->last_epoch = file->phases[index].last_epoch;
    AR_TRY(training_file_batch(file, index, scenario->gpus, &phase->batch_per_gpu, err));
    phase->batch_total = phase->batch_per_gpu * scenario->gpus;
    AR_TRY(find_step(file, scenario, inputs, training, index, err));
    fill_phase(file, &training->rows[index], phase);
    return AR_OK;
}

static void add_phase(const struct training_phase *phase, struct training_phase *total)
{
    if (phase->batch_per_gpu != total->batch_per_gpu) {
        total->batch_per_gpu = total->batch_total = AR_ROW_NO_COUNT;
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
}

static void sum_up(const struct training_file *file, struct training *training)
{
    struct training_phase *total = &training->total;
    double steps_s = 0;
    double baseline_s = 0; /* what the baseline would take for the same images */
    *total = (struct training_phase){.batch_per_gpu = training->phases[0].batch_per_gpu,
                                     .batch_total = training->phases[0].batch_total};
    for (size_t i = 0; i < training->phases_count; i++) {
        const struct training_phase *phase = &training->phases[i];
        double time_s = phase->steps_count * phase->iteration_s;
        add_phase(phase, total);
        steps_s += time_s;
        baseline_s += time_s * phase->efficiency_frac;
    }
    total->iteration_s = steps_s / total->steps_count;
    total->efficiency_frac = baseline_s / steps_s;
    total->images_per_s = total->images_count / total->time_s;
    total->evaluation_images_per_s =
        total->evaluation_s > 0
            ? total->evaluations_count * (double)file->eval_images / total->evaluation_s
            : (double)NAN;
    training->train_s = total->time_s;
    training->images_per_s = total->images_per_s;
}

enum ar_status training_predict_file(const struct training_file *file,
                                     const struct ar_scenario *given, struct ar_inputs *inputs,
                                     struct training *training, struct ar_error *err)
{
    struct ar_scenario scenario;
    *training = (struct training){.phases_count = file->phases_count};
    AR_TRY(training_scenario(file, given, &scenario, &training->is_shape_dropped, err));
    AR_TRY(ar_scenario_load_cluster(&scenario, inputs, err));
    AR_TRY(ar_scenario_load_library(&scenario, inputs, err));
    training->rows = ar_arena_alloc(given->arena, file->phases_count, sizeof *training->rows);
    if (training->rows == NULL) {
        return ar_error_no_memory(err, "the phases of a run");
    }
    ar_copy_text(training->name, sizeof training->name, file->name);
    training->gpus = scenario.gpus;
    for (size_t i = 0; i < training->phases_count; i++) {
        AR_TRY(predict_phase(file, &scenario, inputs, training, i, err));
    }
    sum_up(file, training);
    return AR_OK;
}

enum ar_status training_predict(const char *name, const struct ar_scenario *given,
                                struct ar_inputs *inputs, struct training *training,
                                struct ar_error *err)
{
    struct training_file *file = NULL;
    AR_TRY(training_file_load(name, &file, err));
    enum ar_status status = training_predict_file(file, given, inputs, training, err);
    training_file_destroy(file);
    return status;
}
