/* train: time to train of run files, on their own and on other numbers of GPUs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_note.h"
#include "ar_output.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "sweep_files.h"
#include "training_file.h"

/* Output is kept until all runs are there: a run that fails leaves nothing behind. */
struct text {
    struct ar_records records;
    FILE *file;
    char *bytes;
    size_t size;
};

struct output {
    const struct options *options;
    struct ar_scenario given;
    struct ar_inputs *inputs;
    enum ar_format format;
    struct text shown; /* for stdout */
    struct text kept;  /* for DIR/train.csv */
    struct training training;
    size_t runs_count;
    size_t rows_count;
    size_t estimates_count;
};

static enum ar_status open_text(struct text *text, enum ar_format format, struct ar_error *err)
{
    text->file = open_memstream(&text->bytes, &text->size);
    if (text->file == NULL) {
        return ar_error_no_memory(err, "the output");
    }
    ar_records_begin(&text->records, text->file, format, training_columns(format));
    return AR_OK;
}

/* Ends a text; it is whole only if this succeeds. */
static enum ar_status finish_text(struct text *text, struct ar_error *err)
{
    bool is_whole = ar_records_end(&text->records, err) == AR_OK && ferror(text->file) == 0;
    is_whole = fclose(text->file) == 0 && is_whole;
    text->file = NULL;
    return is_whole ? AR_OK : ar_error_no_memory(err, "the output");
}

static void drop_text(struct text *text)
{
    struct ar_error ignored; /* the error of the run is reported */
    if (text->file != NULL) {
        ar_records_end(&text->records, &ignored);
        fclose(text->file);
    }
    free(text->bytes);
}

static void add_training(struct output *output)
{
    const struct training *training = &output->training;
    training_write(&output->shown.records, training);
    training_write(&output->kept.records, training);
    output->runs_count++;
    output->rows_count += training->phases_count;
    for (size_t i = 0; i < training->phases_count; i++) {
        output->estimates_count += ar_rows_estimates(&training->rows[i], 1);
    }
    if (training->is_shape_dropped) {
        ar_note(option_notes(output->options),
                "%s on %" PRIu32 " GPUs: the shape of the file is for another number; shape %s",
                training->name, training->gpus,
                training->rows[0].shape[0] != '\0' ? training->rows[0].shape : "of the ring");
    }
}

/* Predicts a run on a number of GPUs, or on those of its file (0). */
static enum ar_status predict_on(const struct training_file *file, uint64_t gpus,
                                 struct output *output, struct ar_error *err)
{
    struct ar_scenario given = output->given;
    if (gpus > 0) {
        given.gpus = (uint32_t)gpus;
        given.origins[AR_KEY_GPUS] =
            (struct ar_origin){.where = ar_keys[AR_KEY_GPUS].option, .status = AR_USAGE};
    }
    AR_TRY(training_predict_file(file, &given, output->inputs, &output->training, err));
    add_training(output);
    return AR_OK;
}

/* All counts of `--gpus`; of several, those whose total batch is no more than an epoch. */
static enum ar_status predict_list(const struct training_file *file, struct output *output,
                                   struct ar_error *err)
{
    uint64_t *gpus = NULL;
    size_t count = 0;
    size_t before = output->runs_count;
    enum ar_status status =
        list_counts("--gpus", output->options->gpus_list, UINT32_MAX, &gpus, &count, err);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        if (count > 1 && !training_file_fits(file, (uint32_t)gpus[i])) {
            ar_note(option_notes(output->options),
                    "%s on %" PRIu64 " GPUs is left out: a total batch of more than the %" PRIu64
                    " images of an epoch",
                    file->name, gpus[i], file->images);
        } else {
            status = predict_on(file, gpus[i], output, err);
        }
    }
    free(gpus);
    if (status == AR_OK && output->runs_count == before) {
        return ar_error_set(err, AR_USAGE,
                            "--gpus: found \"%.60s\", too many for %s; expected a total batch of "
                            "at most the %" PRIu64 " images of an epoch",
                            output->options->gpus_list, file->csv->path, file->images);
    }
    return status;
}

static enum ar_status predict_file(const char *name, struct output *output, struct ar_error *err)
{
    struct training_file *file = NULL;
    AR_TRY(training_file_load(name, &file, err));
    enum ar_status status = output->options->gpus_list != NULL ? predict_list(file, output, err)
                                                               : predict_on(file, 0, output, err);
    training_file_destroy(file);
    return status;
}

static enum ar_status predict_all(struct output *output, struct ar_error *err)
{
    const struct options *options = output->options;
    AR_TRY(open_text(&output->shown, output->format, err));
    AR_TRY(open_text(&output->kept, AR_FORMAT_CSV, err));
    for (size_t i = 0; i < options->arguments_count; i++) {
        AR_TRY(predict_file(options->arguments[i], output, err));
    }
    AR_TRY(finish_text(&output->shown, err));
    return finish_text(&output->kept, err);
}

/* Writes DIR/train.csv, whole or not at all. */
static enum ar_status write_file(const struct output *output, struct ar_error *err)
{
    struct ar_output file;
    char path[sizeof file.path];
    const char *directory = output->options->out;
    AR_TRY(ar_make_directory(directory, err));
    snprintf(path, sizeof path, "%s/train.csv", directory);
    AR_TRY(ar_output_open(path, &file, err));
    fwrite(output->kept.bytes, 1, output->kept.size, file.file);
    return ar_output_commit(&file, err);
}

static enum ar_status check_options(struct output *output, struct ar_error *err)
{
    const struct options *options = output->options;
    if (options->arguments_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "train: no run; expected the name of a shipped run (see 'allreckon "
                            "list runs') or run files");
    }
    AR_TRY(ar_format_parse("--format", options->format, &output->format, err));
    AR_TRY(options_scenario(options, 0, &output->given, err));
    AR_TRY(options_inputs(options, &output->inputs, err));
    return options->out != NULL ? sweep_files_check(options->out, err) : AR_OK;
}

enum ar_status command_train(const struct options *options, struct ar_error *err)
{
    struct output output = {.options = options};
    enum ar_status status = check_options(&output, err);
    if (status == AR_OK) {
        status = predict_all(&output, err);
    }
    if (status == AR_OK && options->out != NULL) {
        status = write_file(&output, err);
    }
    if (status == AR_OK) {
        ar_note_estimates(option_notes(options), output.estimates_count, output.rows_count);
        fwrite(output.shown.bytes, 1, output.shown.size, stdout);
    }
    drop_text(&output.shown);
    drop_text(&output.kept);
    return status;
}
