/** \file training.h
 * Time to train: a whole run, predicted from its run file.
 *
 * A run file is CSV with directives (ar_csv.h), which traces/README.md describes; `# run = 1` is
 * the version of the form. Its rows are phases: ranges of epochs with one batch. One step of a
 * phase is predicted as `allreckon predict` does, and is what all its steps take:
 *
 *     steps    = epochs * floor(images / total batch)      lastpartial = drop
 *              = epochs * ceil(images / total batch)       lastpartial = keep
 *     time_s   = steps * iteration_s + evaluation_s
 *
 * The last, smaller batch of an epoch that is kept takes as long as a whole one, since some GPU has
 * a full share of it or nearly so. Steps of a part of an epoch are in proportion and need not be
 * whole. An evaluation takes ceil(eval images / total batch) forward passes of the phase's batch on
 * all GPUs and nothing else; there is one at every multiple of evalevery epochs that a phase ends
 * at or passes. Start-up, checkpoints and the reading of data are left out.
 */
#pragma once

#include <stdbool.h>

#include "ar_csv.h"
#include "ar_row.h"
#include "ar_scenario.h"

enum { TRAINING_PHASES_MAX = 16 };

/** A phase: epochs [first, last) with one batch; or the sum of all. compute_s + exposed_s + other_s
 * + evaluation_s = time_s. */
struct training_phase {
    const char *run; /**< its name */
    char phase[24];  /**< 1, 2, ... or total */
    uint32_t gpus;
    const char *choice; /**< of its step (ar_scenario.h); NULL where nothing was chosen for it */
    double first_epoch;
    double last_epoch;
    uint64_t batch_per_gpu; /**< AR_NO_COUNT in a sum of different ones */
    uint64_t batch_total;   /**< the same */
    double steps_count;
    double images_count; /**< trained on */
    double time_s;
    double compute_s;    /**< overhead, forward, backward, optimizer of all steps */
    double exposed_s;    /**< communication that is not hidden */
    double other_s;      /**< the rest of the steps, such as a wait for input */
    double evaluation_s; /**< of all evaluations */
    double evaluations_count;
    double evaluation_samples_per_s; /**< NAN without evaluations */
    struct ar_row row; /**< its step; in a sum that of the first phase, with the mean iteration_s,
                            samples_per_s of images_count / time_s, evaluations included, and in
                            efficiency_frac the baseline's time over that of the steps */
};

struct training_file {
    const struct ar_csv *csv;
    const char *name;
    uint32_t version;
    const char *title;               /**< for people, */
    const char *source;              /**< and where the run is from; NULL: not in the file, */
    const char *keys[AR_KEYS_COUNT]; /**< also parameters of its steps */
    uint64_t images;                 /**< of an epoch */
    uint64_t eval_images;            /**< of an evaluation; 0: none */
    double eval_every;               /**< epochs; 0: never */
    double published_s;              /**< what the run took; not above 0: not in the file */
    const char *differs; /**< a sentence: why a prediction differs from it; NULL: not in the file */
    bool keeps_partial;  /**< an epoch ends with a smaller batch instead of dropping it */
    uint32_t gpus;       /**< 0: the command line has them */
    struct training_phase *phases; /**< epochs, and one of both batches; the other is 0 */
    size_t phases_count;
};

/** Reads the file of a shipped run's name or a path, in the arena. Errors name file and line. */
enum ar_status training_file_load(const char *name, struct ar_arena *arena,
                                  const struct training_file **file, struct ar_error *err);

/** Whether all phases on `gpus` GPUs have at least one whole batch in an epoch. */
bool training_file_fits(const struct training_file *file, uint32_t gpus);

struct training {
    const struct training_file *file;
    struct ar_scenario scenario;   /**< of all steps, but for their batch; with its cluster */
    struct training_phase *phases; /**< and their total; the scenario's arena's */
    size_t phases_count;
    const struct training_phase *total;
    bool is_shape_dropped; /**< the file's shape is for another number of GPUs; the algorithm's
                                own one was taken */
    struct training *next; /**< of a list of the caller's */
};

/** Predicts a run. Keys that `given` has win over the file, a setting or a term over that of the
 * file with the same KEY; other keys are as in `predict`. The batch per GPU stays that of the file:
 * a total batch is divided by the GPUs of the file, which must divide it, or by those of the
 * scenario if the file has none. The file's shape is taken only with its GPUs. All lies in the
 * arena of `given`; the file is borrowed. Errors begin with the place of the value. */
enum ar_status training_predict(const struct training_file *file, const struct ar_scenario *given,
                                struct training *training, struct ar_error *err);

/** The loaded scenario of one step of a phase. */
enum ar_status training_step(const struct training *training, size_t phase,
                             struct ar_scenario *step, struct ar_error *err);

/** The columns of phases. */
extern const struct ar_columns training_columns;
