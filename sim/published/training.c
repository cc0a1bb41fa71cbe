/* Time to train: one step of each phase, and how many there are. */
#include "training.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "plan.h"
#include "training_file.h"

/* Less than this part of a step is rounding, not time. */
#define ROUNDING_FRAC 1e-9

/* Predicts one step with the batch of a phase. */
static enum ar_status run_step(struct training_options *joined, uint64_t batch, struct ar_row *row,
                               struct ar_error *err)
{
    struct plan plan;
    struct point point;
    snprintf(joined->batch, sizeof joined->batch, "%llu", (unsigned long long)batch);
    joined->options.batch = joined->batch;
    enum ar_status status = plan_create(&joined->options, true, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = plan_point(&plan, &joined->options, &point, err);
    if (status == AR_OK) {
        status = plan_run(&plan, &point, row, err);
    }
    plan_destroy(&plan);
    return status;
}

/* Takes the step of an earlier phase with the same batch, or predicts one. */
static enum ar_status find_step(const struct training_file *file, struct training_options *joined,
                                struct training *training, size_t index, struct ar_error *err)
{
    const struct training_phase *phases = training->phases;
    for (size_t i = 0; i < index; i++) {
        if (phases[i].batch_per_gpu == phases[index].batch_per_gpu) {
            training->rows[index] = training->rows[i];
            return AR_OK;
        }
    }
    enum ar_status status =
        run_step(joined, phases[index].batch_per_gpu, &training->rows[index], err);
    return status == AR_OK ? AR_OK : training_options_blame(joined, file, index, status, err);
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
                                    struct training_options *joined, struct training *training,
                                    size_t index, struct ar_error *err)
{
    struct training_phase *phase = &training->phases[index];
    phase->first_epoch = file->phases[index].first_epoch;
    phase->last_epoch = file->phases[index].last_epoch;
    enum ar_status status =
        training_file_batch(file, index, joined->gpus, &phase->batch_per_gpu, err);
    if (status == AR_OK) {
        phase->batch_total = phase->batch_per_gpu * joined->gpus;
        status = find_step(file, joined, training, index, err);
    }
    if (status == AR_OK) {
        fill_phase(file, &training->rows[index], phase);
    }
    return status;
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
                                     const struct options *options, struct training *training,
                                     struct ar_error *err)
{
    struct training made = {.phases_count = file->phases_count};
    struct training_options joined;
    enum ar_status status = training_options_create(file, options, &joined, err);
    if (status != AR_OK) {
        return status;
    }
    ar_copy_text(made.name, sizeof made.name, file->name);
    made.gpus = joined.gpus;
    made.is_shape_dropped = joined.is_shape_dropped;
    for (size_t i = 0; status == AR_OK && i < made.phases_count; i++) {
        status = predict_phase(file, &joined, &made, i, err);
    }
    training_options_destroy(&joined);
    if (status == AR_OK) {
        sum_up(file, &made);
        *training = made;
    }
    return status;
}

enum ar_status training_predict(const char *path, const struct options *options,
                                struct training *training, struct ar_error *err)
{
    struct training_file *file = NULL;
    enum ar_status status = training_file_load(path, &file, err);
    if (status == AR_OK) {
        status = training_predict_file(file, options, training, err);
    }
    training_file_destroy(file);
    return status;
}
