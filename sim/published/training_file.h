/** \file training_file.h
 * A run file: what one training run was, in words of the command line and phases of the batch.
 *
 * CSV with directives (traces/ar_csv.h). The first line is `# run = 1`, the version of the form.
 * Directives that are keys of a scenario (ar_key.h) are texts here; those of keys that repeat are
 * lists separated by `;`. Files that they name by a relative path lie beside the run file.
 * traces/README.md describes the form for users.
 */
#ifndef AR_TRAINING_FILE_H
#define AR_TRAINING_FILE_H

#include <stdbool.h>

#include "ar_csv.h"
#include "ar_scenario.h"
#include "training.h"

/** Epochs [first, last) with one batch. */
struct training_file_phase {
    double first_epoch;
    double last_epoch;
    uint64_t batch; /**< images per GPU and step, or of all GPUs (batches_are_total) */
};

struct training_file {
    struct ar_arena arena;
    struct ar_csv *csv; /**< texts of the directives */
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

/** The scenario of a run: keys of `given`, then those of the file, all but the batch. `given` may
 * be of the command line or of a published run; a setting or a term of it stands in for that of the
 * file with the same KEY. Texts lie in the arena of `given` or in the file. `is_shape_dropped` says
 * that the file's shape is for another number of GPUs, so that the algorithm's own one is taken. */
enum ar_status training_scenario(const struct training_file *file, const struct ar_scenario *given,
                                 struct ar_scenario *scenario, bool *is_shape_dropped,
                                 struct ar_error *err);

#endif
