/* train: time to train of run files, on their own and on other numbers of GPUs. */
#include <inttypes.h>
#include <stdio.h>

#include "ar_file.h"
#include "ar_row.h"
#include "commands.h"
#include "lists.h"
#include "made_by.h"
#include "training.h"

/* The runs of the command. Output waits until all are there: one that fails leaves nothing. */
struct runs {
    const struct options *options;
    struct ar_scenario given;
    struct ar_view view;
    struct training *first;
    struct training **end;             /* where the next one goes */
    const struct training_file *noted; /* its notes that hold for all numbers of GPUs are written */
};

/* Notes about a run: those of its file once, then those of this number of GPUs. */
static enum ar_status note_run(struct runs *runs, const struct training *training,
                               struct ar_error *err)
{
    FILE *notes = option_notes(runs->options);
    const char *name = training->file->name;
    uint32_t gpus = training->scenario.gpus;
    struct ar_scenario step;
    AR_TRY(training_step(training, 0, &step, err));
    if (runs->noted != training->file) {
        ar_note(notes, "%s: strategy %s; efficiency: 100 %% is %s", name,
                training->phases[0].row.strategy, ar_note_baseline(step.baseline));
        ar_note_how_sure(notes, &step);
        ar_note_framework(notes, &step);
        (void)ar_note_trace(notes, &step);
        ar_note_sweep(notes, &step, &(const uint64_t){gpus}, 1);
    }
    runs->noted = training->file;
    if (training->is_shape_dropped) {
        ar_note(notes,
                "%s on %" PRIu32 " GPUs: the shape of the file is for another number; shape %s",
                name, gpus,
                training->total->row.shape[0] != '\0' ? training->total->row.shape : "of the ring");
    } else if (step.choice == NULL) {
        ar_note_shape(notes, &step);
        ar_note_choice(notes, &step);
    }
    for (size_t i = 0; i < training->phases_count; i++) {
        if (training->phases[i].choice != NULL) {
            ar_note(notes, "%s on %" PRIu32 " GPUs, phase %zu: %s", name, gpus, i + 1,
                    training->phases[i].choice);
        }
    }
    return AR_OK;
}

/* Predicts a run on a number of GPUs, or on those of its file (0). */
static enum ar_status predict_on(const struct training_file *file, uint64_t gpus, struct runs *runs,
                                 struct ar_error *err)
{
    struct ar_scenario given = runs->given;
    struct training *made = ar_arena_alloc(runs->options->arena, 1, sizeof *made);
    if (gpus > 0) {
        given.gpus = (uint32_t)gpus;
        given.origins[AR_KEY_GPUS] =
            (struct ar_origin){.where = ar_keys[AR_KEY_GPUS].option, .status = AR_USAGE};
    }
    AR_TRY(training_predict(file, &given, made, err));
    AR_TRY(note_run(runs, made, err));
    *runs->end = made;
    runs->end = &made->next;
    return AR_OK;
}

/* Predicts a run on all counts of `--gpus`; of several those whose batch is at most an epoch. */
static enum ar_status predict_file(const char *name, struct runs *runs, struct ar_error *err)
{
    const struct options *options = runs->options;
    const struct training_file *file;
    uint64_t *gpus;
    size_t count;
    struct training *const *before = runs->end;
    AR_TRY(training_file_load(name, options->arena, &file, err));
    if (options->gpus_list == NULL) {
        return predict_on(file, 0, runs, err);
    }
    AR_TRY(
        list_counts(options->arena, "--gpus", options->gpus_list, UINT32_MAX, &gpus, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (count == 1 || training_file_fits(file, (uint32_t)gpus[i])) {
            AR_TRY(predict_on(file, gpus[i], runs, err));
        } else {
            ar_note(option_notes(options),
                    "%s on %" PRIu64 " GPUs is left out: a total batch of more than the %" PRIu64
                    " images of an epoch",
                    file->name, gpus[i], file->images);
        }
    }
    AR_REFUSE(
        runs->end == before, err, AR_USAGE,
        "--gpus: found \"%.60s\", too many for %s; expected a total batch of at most the %" PRIu64
        " images of an epoch",
        options->gpus_list, file->csv->path, file->images);
    return AR_OK;
}

static void write_runs(const struct runs *runs, FILE *file, const struct ar_view *view)
{
    struct ar_records records;
    ar_records_begin(&records, file, view, training_columns);
    for (const struct training *at = runs->first; at != NULL; at = at->next) {
        for (size_t i = 0; i <= at->phases_count; i++) {
            ar_records_add(&records, &at->phases[i]);
        }
    }
    ar_records_end(&records);
}

enum ar_status command_train(const struct options *options, struct ar_error *err)
{
    struct runs runs = {.options = options};
    if (options->arguments_count == 0 && option_key(options, AR_KEY_WORKLOAD) != NULL) {
        key_set of_layouts = key_bits(AR_KEY_OF_COLLECTIVE | AR_KEY_OF_LAYOUT);
        key_set of_traces = KEY_BIT(AR_KEY_ALGORITHM) | KEY_BIT(AR_KEY_SHAPE);
        AR_TRY(option_refuse_others(options, of_layouts & ~of_traces, "--workload", err));
        AR_TRY(option_required(options, "tokens", options->tokens, err));
        return command_advise(options, err);
    }
    AR_REFUSE(options->arguments_count == 0, err, AR_USAGE,
              "train: found no run; expected RUN.csv, or a model: --workload W, --cluster C and "
              "--tokens T, see 'allreckon train --help'");
    AR_TRY(option_refuse_others(options, key_bits(AR_KEY_IN_RUN), "a run file", err));
    AR_REFUSE(options->tokens != NULL || options->price != NULL || options->power != NULL ||
                  options->mtbf != NULL || options->checkpoint != NULL,
              err, AR_USAGE,
              "train: found --tokens, --price, --power, --mtbf or --checkpoint without --workload");
    AR_TRY(option_view(options, training_columns, &runs.view, err));
    AR_TRY(options_scenario(options, 0, &runs.given, err));
    AR_TRY(made_by_check_directory(options, "train.csv", NULL, err));
    runs.end = &runs.first;
    for (size_t i = 0; i < options->arguments_count; i++) {
        AR_TRY(predict_file(options->arguments[i], &runs, err));
    }
    for (const struct training *at = runs.first; at != NULL; at = at->next) {
        const struct training_file *file = at->file;
        double predicted_s = at->total->time_s;
        if (file->published_s > 0 && at->scenario.gpus == file->gpus) {
            ar_note(option_notes(options), "%s took %.4g s, predicted %.4g s (%+.0f %%)%s%s",
                    file->name, file->published_s, predicted_s,
                    (predicted_s / file->published_s - 1) * 100, file->differs != NULL ? ": " : "",
                    file->differs != NULL ? file->differs : "");
        }
    }
    if (options->out != NULL) {
        struct ar_output *file;
        struct ar_arena *arena = options->arena;
        struct parameters parameters = {.arena = options->arena};
        AR_TRY(ar_output_begin_in(options->out, "train.csv", arena, &file, err));
        write_runs(&runs, file->file, AR_VIEW(AR_FORMAT_CSV));
        AR_TRY(ar_output_commit(file, err));
        for (const struct training *at = runs.first; at != NULL; at = at->next) {
            struct ar_scenario step;
            /* The directives of a run file and its phases; options win over them. */
            const char *source = at->file->source != NULL ? at->file->source : "run file";
            AR_EACH(const struct ar_csv_directive, line, at->file->csv->directives,
                    at->file->csv->directives_count) {
                const char *name = ar_arena_format(arena, "%s: %s", at->file->name, line->key);
                parameters_add(&parameters, (struct parameter){name, line->value, source});
            }
            AR_EACH(const struct training_phase, phase, at->file->phases, at->file->phases_count) {
                bool is_total = phase->batch_total > 0;
                const char *name = ar_arena_format(arena, "%s: epochs %g-%g, %s", at->file->name,
                                                   phase->first_epoch, phase->last_epoch,
                                                   is_total ? "batch_total" : "batch_per_gpu");
                const char *batch = ar_arena_format(
                    arena, "%" PRIu64, is_total ? phase->batch_total : phase->batch_per_gpu);
                parameters_add(&parameters, (struct parameter){name, batch, source});
            }
            AR_TRY(training_step(at, 0, &step, err));
            parameters_add_scenario(&parameters, &step);
        }
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
    }
    ar_note_flush(option_notes(options));
    write_runs(&runs, stdout, &runs.view);
    return AR_OK;
}
