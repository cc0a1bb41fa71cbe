/** \file training.h
 * Time to train: a whole run, predicted from its run file (training_file.h).
 *
 * A phase is a range of epochs with one batch. One step of it is predicted as `allreckon predict`
 * does, and is what all its steps take:
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
#ifndef AR_TRAINING_H
#define AR_TRAINING_H

#include <stdbool.h>

#include "ar_row.h"
#include "ar_scenario.h"

enum { TRAINING_NAME = 64, TRAINING_PHASES_MAX = 16 };

/** A phase, or the sum of all. compute_s + exposed_s + other_s + evaluation_s = time_s. */
struct training_phase {
    double first_epoch;
    double last_epoch;
    uint64_t batch_per_gpu; /**< AR_ROW_NO_COUNT in a sum of different ones */
    uint64_t batch_total;   /**< the same */
    double steps_count;
    double images_count;    /**< trained on */
    double iteration_s;     /**< of a step; the mean in a sum */
    double images_per_s;    /**< of a step; in a sum images_count / time_s, evaluations included */
    double efficiency_frac; /**< of a step; in a sum the baseline's time over that of the steps */
    double time_s;
    double compute_s;    /**< overhead, forward, backward, optimizer of all steps */
    double exposed_s;    /**< communication that is not hidden */
    double other_s;      /**< what else a step has, such as a wait for its input */
    double evaluation_s; /**< of all evaluations */
    double evaluations_count;
    double evaluation_images_per_s; /**< NAN without evaluations */
};

struct training {
    char name[TRAINING_NAME]; /**< of the run */
    uint32_t gpus;
    double train_s;      /**< of the whole run */
    double images_per_s; /**< mean over the run, evaluations included */
    struct training_phase phases[TRAINING_PHASES_MAX];
    struct ar_row *rows; /**< the step of each phase */
    size_t phases_count;
    struct training_phase total;
    bool is_shape_dropped; /**< the file's shape is for another number of GPUs; the algorithm's
                                own one was taken */
};

struct training_file;

/** Predicts the run of a shipped name or a file. Keys that `given` has win over the file; what both
 * leave out is as in `predict`. The batch per GPU stays that of the file, its shape only with its
 * GPUs. The rows lie in the arena of `given`. Errors say where the value stood. Prints nothing. */
enum ar_status training_predict(const char *name, const struct ar_scenario *given,
                                struct ar_inputs *inputs, struct training *training,
                                struct ar_error *err);

/** The same of a file that was read before. */
enum ar_status training_predict_file(const struct training_file *file,
                                     const struct ar_scenario *given, struct ar_inputs *inputs,
                                     struct training *training, struct ar_error *err);

/* clang-format off */
/** Columns of the output of `train`: kind (text, count or number), name, meaning. */
#define TRAINING_COLUMN_LIST(X)                                                                    \
    X(text,   run,             "name of the run")                                                  \
    X(count,  gpus,            "ranks N")                                                          \
    X(text,   phase,           "1, 2, ... or total")                                               \
    X(number, first_epoch,     "the phase begins with it")                                         \
    X(number, last_epoch,      "the phase ends before it")                                         \
    X(count,  batch_per_gpu,   "images per GPU and step")                                          \
    X(count,  batch_total,     "images per step")                                                  \
    X(number, steps_count,     "training steps")                                                   \
    X(number, iteration_s,     "time of a step, mean")                                             \
    X(number, images_per_s,    "of a step; of the total with evaluations")                         \
    X(number, efficiency_frac, "of a step; of the total without evaluations")                      \
    X(number, time_s,          "time of the phase; of the total: time to train")                   \
    X(number, compute_s,       "of it compute")                                                    \
    X(number, exposed_s,       "of it communication that is not hidden")                           \
    X(number, other_s,         "of it the rest of the steps")                                      \
    X(number, evaluation_s,    "of it evaluations")                                                \
    X(number, evaluation_images_per_s, "of an evaluation")                                         \
    X(text,   cluster,         "as in predict, also those below")                                  \
    X(text,   algorithm,       "")                                                                 \
    X(text,   shape,           "")                                                                 \
    X(text,   trace,           "")                                                                 \
    X(text,   precision,       "")                                                                 \
    X(text,   engine,          "")                                                                 \
    X(text,   baseline,        "")                                                                 \
    X(text,   settings,        "")                                                                 \
    X(text,   version,         "")
/* clang-format on */

/** What a format shows of a run; adds its phases and their total to records of those columns. */
struct ar_columns training_columns(enum ar_format format);
void training_write(struct ar_records *records, const struct training *training);

#endif
