/** \file training_file.h
 * A run file: what one training run was, in words of the command line and phases of the batch.
 *
 * CSV with directives (models/base/ar_csv.h). The first line is `# run = 1`, the version of the
 * form. Directives that are also options of `train` (cluster, gpus, algorithm, shape, trace,
 * precision, framework, bucket, channels, window, engine, jitter, iterations, seed, baseline, and
 * lists separated by `;` for set and term) are texts here and are parsed where options are. Files
 * that they name by a relative path lie beside the run file. traces/README.md describes the form
 * for users.
 */
#ifndef AR_TRAINING_FILE_H
#define AR_TRAINING_FILE_H

#include <stdbool.h>

#include "ar_csv.h"
#include "options.h"
#include "resource.h"
#include "training.h"

/** Epochs [first, last) with one batch. */
struct training_file_phase {
    double first_epoch;
    double last_epoch;
    uint64_t batch; /**< images per GPU and step, or of all GPUs (batches_are_total) */
};

struct training_file {
    struct ar_csv *csv; /**< texts of the directives; owned */
    char name[TRAINING_NAME];
    uint64_t images;      /**< of an epoch */
    uint64_t eval_images; /**< of an evaluation; 0: none */
    double eval_every;    /**< epochs; 0: never */
    bool keeps_partial;   /**< an epoch ends with a smaller batch instead of dropping it */
    bool batches_are_total;
    uint32_t gpus;       /**< 0: the file leaves them to the command line */
    size_t batch_column; /**< for error lines */
    struct training_file_phase phases[TRAINING_PHASES_MAX];
    size_t phases_count;
};

/** Reads the file of a shipped run's name or of a path; freed by training_file_destroy(). Errors
 * name file and line. */
enum ar_status training_file_load(const char *name, struct training_file **file,
                                  struct ar_error *err);
void training_file_destroy(struct training_file *file);

/** Images per GPU and step of a phase on `gpus` GPUs. A total batch is divided by the GPUs of the
 * file, which must divide it, or by `gpus` if the file has none. */
enum ar_status training_file_batch(const struct training_file *file, size_t phase, uint32_t gpus,
                                   uint64_t *batch_per_gpu, struct ar_error *err);

/** Whether all phases on `gpus` GPUs have at least one whole batch in an epoch. */
bool training_file_fits(const struct training_file *file, uint32_t gpus);

enum { TRAINING_KEYS_COUNT = 18, TRAINING_PATHS_COUNT = 3 };

/** The options of one prediction: those given, then those of the file, then the defaults of
 * `predict`. Texts point into the file, the options given and this structure. */
struct training_options {
    struct options options;
    uint32_t gpus;
    bool is_shape_dropped;               /**< the file's shape is for another number of GPUs */
    uint64_t lines[TRAINING_KEYS_COUNT]; /**< of directives that were taken; 0: not taken */
    char paths[TRAINING_PATHS_COUNT][RESOURCE_PATH];
    char *lists[2]; /**< the cut texts of set and term; owned */
    char batch[24];
};

/** Joins the options; freed by training_options_destroy(). An option is given if it is not NULL; a
 * `--set` or `--term` replaces that of the file with the same key. */
enum ar_status training_options_create(const struct training_file *file,
                                       const struct options *given, struct training_options *joined,
                                       struct ar_error *err);
void training_options_destroy(struct training_options *joined);

/** Turns an error of an option's value that stood in the file into one of that line; `phase` is
 * where the batch stood. Returns the status, AR_BAD_DATA for wrong usage. */
enum ar_status training_options_blame(const struct training_options *joined,
                                      const struct training_file *file, size_t phase,
                                      enum ar_status status, struct ar_error *err);

#endif
