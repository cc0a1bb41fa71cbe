/* Reads run files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "training_file.h"

#define VERSION    "1"
#define EPOCHS_MAX 1e6

/* 1e15 images are more than there are, and counts of them are exact in a double. */
static const uint64_t images_max = UINT64_C(1000000000000000);

/* Directives that are no keys of a scenario. */
static const char *const own_directives[] = {"run",    "name",       "title",     "source",
                                             "images", "evalimages", "evalevery", "lastpartial"};

enum { OWN_COUNT = sizeof own_directives / sizeof own_directives[0] };

static enum ar_status check_directives(const struct ar_csv *csv, struct ar_error *err)
{
    char names[AR_KEYS_COUNT][AR_KEY_TEXT];
    const char *all[OWN_COUNT + AR_KEYS_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < OWN_COUNT; i++) {
        all[count++] = own_directives[i];
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IN_RUN)) {
            all[count++] = ar_key_directive((enum ar_key)i, names[i]);
        }
    }
    return ar_csv_check_directives(csv, all, count, err);
}

/* Reports a directive's value. */
static enum ar_status refuse(const struct ar_csv *csv, const char *key, const char *expected,
                             struct ar_error *err)
{
    char shown[64];
    const struct ar_csv_directive *found = ar_csv_find_directive(csv, key);
    return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": directive \"%s\" is \"%s\"; expected %s",
                        csv->path, found->line, key, ar_csv_show(found->value, shown), expected);
}

/* The version comes first, so that a later form is not taken for a wrong one. */
static enum ar_status check_version(const struct ar_csv *csv, struct ar_error *err)
{
    const struct ar_csv_directive *first = csv->directives_count > 0 ? csv->directives : NULL;
    if (first == NULL || first->line != 1 || strcmp(first->key, "run") != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:1: the version of the run file is missing; expected the line "
                            "\"# run = " VERSION "\"",
                            csv->path);
    }
    if (strcmp(first->value, VERSION) != 0) {
        return refuse(csv, "run", VERSION ", the version of run files that this program reads",
                      err);
    }
    return AR_OK;
}

/* A whole number; left as it is if the directive is absent. */
static enum ar_status read_count(const struct ar_csv *csv, const char *key, uint64_t min,
                                 uint64_t max, uint64_t *count, struct ar_error *err)
{
    const char *text = ar_csv_directive_text(csv, key, NULL);
    struct ar_error ignored;
    char expected[80];
    if (text == NULL || ar_parse_count("", text, min, max, count, &ignored) == AR_OK) {
        return AR_OK;
    }
    snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " to %" PRIu64, min, max);
    return refuse(csv, key, expected, err);
}

static enum ar_status read_evaluation(const struct ar_csv *csv, struct training_file *file,
                                      struct ar_error *err)
{
    enum ar_status status = read_count(csv, "evalimages", 0, images_max, &file->eval_images, err);
    if (status == AR_OK) {
        status = ar_csv_directive_number(csv, "evalevery", 0, EPOCHS_MAX,
                                         "a number of epochs, or 0 for no evaluation",
                                         &file->eval_every, err);
    }
    if (status == AR_OK && file->eval_images > 0 &&
        ar_csv_find_directive(csv, "evalevery") == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"evalevery\" is missing; expected the epochs between "
                            "evaluations, or 0 for none, beside \"evalimages\"",
                            csv->path);
    }
    if (status == AR_OK && file->eval_every > 0 &&
        ar_csv_find_directive(csv, "evalimages") == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"evalimages\" is missing; expected the images of an "
                            "evaluation beside \"evalevery\"",
                            csv->path);
    }
    return status;
}

static enum ar_status read_directives(const struct ar_csv *csv, struct training_file *file,
                                      struct ar_error *err)
{
    uint64_t gpus = 0;
    const char *partial = ar_csv_directive_text(csv, "lastpartial", "drop");
    enum ar_status status = check_directives(csv, err);
    if (status == AR_OK && ar_csv_find_directive(csv, "images") == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"images\" is missing; expected the number of training "
                            "images, \"# images = 1281167\" for ImageNet",
                            csv->path);
    }
    if (status == AR_OK) {
        status = read_count(csv, "images", 1, images_max, &file->images, err);
    }
    if (status == AR_OK) {
        status = read_count(csv, "gpus", 1, UINT32_MAX, &gpus, err);
    }
    if (status == AR_OK) {
        status = read_evaluation(csv, file, err);
    }
    if (status == AR_OK && strcmp(partial, "drop") != 0 && strcmp(partial, "keep") != 0) {
        status = refuse(csv, "lastpartial", "drop or keep", err);
    }
    file->gpus = (uint32_t)gpus;
    file->keeps_partial = strcmp(partial, "keep") == 0;
    return status;
}

enum { FIRST, LAST, BATCH, COLUMNS_COUNT };

static enum ar_status find_columns(const struct ar_csv *csv, size_t places[COLUMNS_COUNT],
                                   struct training_file *file, struct ar_error *err)
{
    bool has_total = ar_csv_has_column(csv, "batch_total");
    const char *const columns[] = {"first_epoch", "last_epoch",
                                   has_total ? "batch_total" : "batch_per_gpu"};
    if (has_total && ar_csv_has_column(csv, "batch_per_gpu")) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": found columns \"batch_per_gpu\" and \"batch_total\"; "
                            "expected one of them",
                            csv->path, csv->header_line);
    }
    enum ar_status status = ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err);
    file->batches_are_total = has_total;
    file->batch_column = places[BATCH];
    return status;
}

/* Phases follow each other without gaps and overlaps. */
static enum ar_status check_start(const struct ar_csv *csv, const struct training_file *file,
                                  size_t row, size_t column, struct ar_error *err)
{
    char expected[96];
    double first = file->phases[row].first_epoch;
    double end = row > 0 ? file->phases[row - 1].last_epoch : 0;
    if (first == end) {
        return AR_OK;
    }
    if (row == 0) {
        return ar_csv_cell_error(csv, row, column, "0, where the run begins", err);
    }
    snprintf(expected, sizeof expected,
             "%.12g, where the phase of line %" PRIu64 " ends: phases in order, no %s", end,
             csv->lines[row - 1], first > end ? "gaps" : "overlaps");
    return ar_csv_cell_error(csv, row, column, expected, err);
}

static enum ar_status read_phase(const struct ar_csv *csv, const size_t *places, size_t row,
                                 struct training_file *file, struct ar_error *err)
{
    struct training_file_phase *phase = &file->phases[row];
    AR_TRY(ar_csv_number(csv, row, places[FIRST], 0, EPOCHS_MAX, "a number of epochs",
                         &phase->first_epoch, err));
    AR_TRY(ar_csv_number(csv, row, places[LAST], 0, EPOCHS_MAX, "a number of epochs",
                         &phase->last_epoch, err));
    AR_TRY(check_start(csv, file, row, places[FIRST], err));
    if (phase->last_epoch <= phase->first_epoch) {
        return ar_csv_cell_error(csv, row, places[LAST], "a number above first_epoch", err);
    }
    return ar_csv_count(csv, row, places[BATCH], 1, images_max,
                        "a whole number of images, at least 1", &phase->batch, err);
}

static enum ar_status read_phases(const struct ar_csv *csv, struct training_file *file,
                                  struct ar_error *err)
{
    size_t places[COLUMNS_COUNT] = {0};
    AR_TRY(find_columns(csv, places, file, err));
    if (csv->rows_count == 0 || csv->rows_count > TRAINING_PHASES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": found %zu phases; expected 1 to %d",
                            csv->path, csv->header_line, csv->rows_count, TRAINING_PHASES_MAX);
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(read_phase(csv, places, row, file, err));
    }
    file->phases_count = csv->rows_count;
    return AR_OK;
}

/* The name that the file gives itself, or its own without folder and ending. */
static void name_file(const struct ar_csv *csv, struct training_file *file)
{
    const char *slash = strrchr(csv->path, '/');
    const char *name = ar_csv_directive_text(csv, "name", NULL);
    ar_copy_text(file->name, sizeof file->name,
                 name != NULL    ? name
                 : slash != NULL ? slash + 1
                                 : csv->path);
    char *ending = name == NULL ? strstr(file->name, ".run.csv") : NULL;
    if (ending != NULL) {
        *ending = '\0';
    }
}

static enum ar_status read_file(const char *path, struct training_file *file, struct ar_error *err)
{
    AR_TRY(ar_csv_load(path, &file->arena, &file->csv, err));
    AR_TRY(check_version(file->csv, err));
    AR_TRY(read_directives(file->csv, file, err));
    AR_TRY(read_phases(file->csv, file, err));
    name_file(file->csv, file);
    return AR_OK;
}

enum ar_status training_file_load(const char *name, struct training_file **file,
                                  struct ar_error *err)
{
    char path[RESOURCE_PATH];
    AR_TRY(resource_find(RESOURCE_RUN, "train", name, path, err));
    struct training_file *made = calloc(1, sizeof *made);
    enum ar_status status =
        made == NULL ? ar_error_no_memory(err, path) : read_file(path, made, err);
    if (status != AR_OK) {
        training_file_destroy(made);
        return status;
    }
    *file = made;
    return AR_OK;
}

void training_file_destroy(struct training_file *file)
{
    if (file != NULL) {
        ar_arena_end(&file->arena);
        free(file);
    }
}

static uint64_t divisor(const struct training_file *file, uint32_t gpus)
{
    if (!file->batches_are_total) {
        return 1;
    }
    return file->gpus > 0 ? file->gpus : gpus;
}

enum ar_status training_file_batch(const struct training_file *file, size_t phase, uint32_t gpus,
                                   uint64_t *batch_per_gpu, struct ar_error *err)
{
    char expected[128];
    uint64_t batch = file->phases[phase].batch;
    uint64_t parts = divisor(file, gpus);
    if (batch % parts != 0) {
        snprintf(expected, sizeof expected, "a multiple of %" PRIu64 ", the number of GPUs", parts);
        return ar_csv_cell_error(file->csv, phase, file->batch_column, expected, err);
    }
    batch /= parts;
    if (batch > file->images / gpus) {
        snprintf(expected, sizeof expected,
                 "a total batch of at most the %" PRIu64 " images of an epoch, not %" PRIu64
                 " on each of %" PRIu32 " GPUs",
                 file->images, batch, gpus);
        return ar_csv_cell_error(file->csv, phase, file->batch_column, expected, err);
    }
    *batch_per_gpu = batch;
    return AR_OK;
}

bool training_file_fits(const struct training_file *file, uint32_t gpus)
{
    for (size_t i = 0; i < file->phases_count; i++) {
        if (file->phases[i].batch / divisor(file, gpus) > file->images / gpus) {
            return false;
        }
    }
    return true;
}
