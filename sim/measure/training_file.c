/* Reads run files. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "key_texts.h"
#include "resource.h"
#include "training.h"

#define VERSION    "1"
#define EPOCHS_MAX 1e6
#define EVERY_MIN  1e-3 /* epochs between evaluations; fewer would take most of the time */
#define IMAGES_MAX 1e15 /* more than there are; counts of them are exact in a double */

/* How an epoch ends. */
static const char *const partials[] = {"drop", "keep", NULL};

#define FILE_COLUMN(kind, field, name, ...)                                                        \
    AR_COLUMN(kind, struct training_file, field, name, __VA_ARGS__)
#define OPTIONAL .may_be_missing = true
static const struct ar_column file_columns[] = {
    FILE_COLUMN(string, version, "run", "", OPTIONAL),
    FILE_COLUMN(string, name, "name", "the name of the run", OPTIONAL),
    FILE_COLUMN(string, title, "title", "", OPTIONAL, .may_be_empty = true),
    FILE_COLUMN(string, source, "source", "", OPTIONAL, .may_be_empty = true),
    FILE_COLUMN(count, images, "images", "", .min = 1, .max = IMAGES_MAX),
    FILE_COLUMN(count, eval_images, "evalimages", "", .max = IMAGES_MAX, OPTIONAL),
    FILE_COLUMN(number, eval_every, "evalevery", "a number of epochs, or 0 for no evaluation",
                .max = EPOCHS_MAX, OPTIONAL),
    FILE_COLUMN(choice, keeps_partial, "lastpartial", "", .names = partials, OPTIONAL),
};

#define PHASE_COLUMN(kind, field, expected, ...)                                                   \
    AR_COLUMN(kind, struct training_phase, field, #field, expected, __VA_ARGS__)
static const struct ar_column phase_columns[] = {
    PHASE_COLUMN(number, first_epoch, "a number of epochs", .max = EPOCHS_MAX),
    PHASE_COLUMN(number, last_epoch, "a number of epochs", .max = EPOCHS_MAX),
    PHASE_COLUMN(count, batch_per_gpu, "a whole number of samples, at least 1", .min = 1,
                 .max = IMAGES_MAX, OPTIONAL),
    PHASE_COLUMN(count, batch_total, "a whole number of samples, at least 1", .min = 1,
                 .max = IMAGES_MAX, OPTIONAL),
};

/* The version comes first, so that a later form is not taken for a wrong one. */
static enum ar_status check_version(const struct ar_csv *csv, struct ar_error *err)
{
    const struct ar_csv_directive *first = csv->directives;
    if (csv->directives_count == 0 || first->line != 1 || strcmp(first->key, "run") != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:1: the version of the run file is missing; expected the line "
                            "\"# run = " VERSION "\"",
                            csv->path);
    }
    return strcmp(first->value, VERSION) == 0
               ? AR_OK
               : ar_csv_directive_error(
                     csv, "run", VERSION ", the version of run files that this program reads", err);
}

static enum ar_status read_directives(const struct ar_csv *csv, struct training_file *file,
                                      struct ar_error *err)
{
    struct key_columns room;
    uint64_t gpus = 0;
    const struct ar_columns columns = key_columns(&room, AR_COLUMNS(file_columns), AR_KEY_IN_RUN,
                                                  offsetof(struct training_file, keys));
    AR_TRY(ar_csv_read_directives(csv, columns, file, err));
    bool has_images = ar_csv_find_directive(csv, "evalimages") != NULL;
    bool has_every = ar_csv_find_directive(csv, "evalevery") != NULL;
    if ((file->eval_images > 0 && !has_every) || (file->eval_every > 0 && !has_images)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"%s\" is missing; expected the images of an "
                            "evaluation and the epochs between evaluations, or neither",
                            csv->path, has_every ? "evalimages" : "evalevery");
    }
    if (file->eval_every > 0 && file->eval_every < EVERY_MIN) {
        return ar_csv_directive_error(csv, "evalevery", "0, or at least 0.001 epochs", err);
    }
    if (file->keys[AR_KEY_GPUS] != NULL &&
        ar_parse_count("", file->keys[AR_KEY_GPUS], 1, UINT32_MAX, &gpus, err) != AR_OK) {
        return ar_csv_directive_error(csv, "gpus", "a whole number from 1 to 4294967295", err);
    }
    file->gpus = (uint32_t)gpus;
    return AR_OK;
}

/* Phases follow each other without gaps and overlaps. */
static enum ar_status check_phase(const struct training_file *file, size_t index,
                                  struct ar_error *err)
{
    char expected[96];
    const struct ar_csv *csv = file->csv;
    const struct training_phase *phase = &file->phases[index];
    double end = index > 0 ? phase[-1].last_epoch : 0;
    if (phase->first_epoch != end && index == 0) {
        return ar_csv_error(csv, index, "first_epoch", "0, where the run begins", err);
    }
    if (phase->first_epoch != end) {
        snprintf(expected, sizeof expected,
                 "%.12g, where the phase of line %" PRIu64 " ends: phases in order, no %s", end,
                 csv->lines[index - 1], phase->first_epoch > end ? "gaps" : "overlaps");
        return ar_csv_error(csv, index, "first_epoch", expected, err);
    }
    return phase->last_epoch > phase->first_epoch
               ? AR_OK
               : ar_csv_error(csv, index, "last_epoch", "a number above first_epoch", err);
}

static enum ar_status read_phases(const struct ar_csv *csv, struct ar_arena *arena,
                                  struct training_file *file, struct ar_error *err)
{
    file->phases = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *file->phases);
    file->phases_count = csv->rows_count;
    AR_NEED(file->phases, err, csv->path);
    AR_TRY(
        ar_csv_read_rows(csv, AR_COLUMNS(phase_columns), file->phases, sizeof *file->phases, err));
    bool has_total = ar_csv_has_column(csv, "batch_total");
    if (has_total == ar_csv_has_column(csv, "batch_per_gpu")) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": found %s \"batch_per_gpu\" and \"batch_total\"; "
                            "expected one of them",
                            csv->path, csv->header_line,
                            has_total ? "columns" : "neither of the columns");
    }
    if (csv->rows_count == 0 || csv->rows_count > TRAINING_PHASES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": found %zu phases; expected 1 to %d",
                            csv->path, csv->header_line, csv->rows_count, TRAINING_PHASES_MAX);
    }
    for (size_t i = 0; i < file->phases_count; i++) {
        AR_TRY(check_phase(file, i, err));
    }
    return AR_OK;
}

/* The file's own name without folder and ending. */
static const char *stem_of(const char *path, struct ar_arena *arena)
{
    char stem[RESOURCE_PATH];
    ar_copy_stem(stem, sizeof stem, path, ".run.csv");
    return ar_arena_text(arena, stem);
}

enum ar_status training_file_load(const char *name, struct ar_arena *arena,
                                  const struct training_file **file, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_csv *csv;
    AR_TRY(resource_find(RESOURCE_RUN, "train", name, path, err));
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    AR_TRY(check_version(csv, err));
    struct training_file *made = ar_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL || (made->name = stem_of(path, arena)) == NULL) {
        return ar_error_no_memory(err, path);
    }
    made->csv = csv;
    AR_TRY(read_directives(csv, made, err));
    AR_TRY(read_phases(csv, arena, made, err));
    *file = made;
    return AR_OK;
}

/* A total batch is divided by the GPUs of the file, or by `gpus` if the file has none. */
static uint64_t parts_of(const struct training_file *file, size_t phase, uint32_t gpus)
{
    return file->phases[phase].batch_total == 0 ? 1 : file->gpus > 0 ? file->gpus : gpus;
}

static uint64_t batch_of(const struct training_file *file, size_t phase, uint32_t gpus)
{
    const struct training_phase *found = &file->phases[phase];
    return (found->batch_per_gpu + found->batch_total) / parts_of(file, phase, gpus);
}

bool training_file_fits(const struct training_file *file, uint32_t gpus)
{
    for (size_t i = 0; i < file->phases_count; i++) {
        if (batch_of(file, i, gpus) > file->images / gpus) {
            return false;
        }
    }
    return true;
}

enum ar_status training_file_batch(const struct training_file *file, size_t phase, uint32_t gpus,
                                   uint64_t *batch_per_gpu, struct ar_error *err)
{
    char expected[128];
    uint64_t parts = parts_of(file, phase, gpus);
    uint64_t batch = batch_of(file, phase, gpus);
    bool is_total = file->phases[phase].batch_total > 0;
    const char *column = is_total ? "batch_total" : "batch_per_gpu";
    if (is_total && batch * parts != file->phases[phase].batch_total) {
        snprintf(expected, sizeof expected, "a multiple of %" PRIu64 ", the number of GPUs", parts);
        return ar_csv_error(file->csv, phase, column, expected, err);
    }
    if (batch > file->images / gpus) {
        snprintf(expected, sizeof expected,
                 "a total batch of at most the %" PRIu64 " images of an epoch, not %" PRIu64
                 " on each of %" PRIu32 " GPUs",
                 file->images, batch, gpus);
        return ar_csv_error(file->csv, phase, column, expected, err);
    }
    *batch_per_gpu = batch;
    return AR_OK;
}
