/** \file reproduce.h
 * Published runs predicted: each from its own parameters, with a band of what is not known of it.
 *
 * The nominal prediction of a row is that of `predict` with the options of the row. The band is
 * that of `--samples` predictions, in each of which all ranges of the row are drawn independently:
 * from the 2.5th to the 97.5th percentile, and as far as the nominal prediction, if that is outside
 * because the row takes an end of what is assumed. A measured value is inside if the band meets it
 * or its error bar. Where nothing is drawn and the measured value has no error bar, there is no
 * band.
 */
#ifndef AR_REPRODUCE_H
#define AR_REPRODUCE_H

#include <stdio.h>

#include "ar_row.h"
#include "published.h"
#include "training.h"

/** Steps of a prediction with jitter that is not nominal. The slowest of hundreds of ranks varies
 * so little from step to step that more of them change a band less than the draws do. */
enum { REPRODUCE_SHORT_STEPS = 4, STEPS_KEYS = 256 };

/** What a prediction is for. All but the nominal one are over as few steps. */
enum prediction_kind {
    PREDICTION_NOMINAL,
    PREDICTION_DRAW,
    PREDICTION_POINT /**< of a curve; it may fail, such as on more GPUs than the cluster has */
};

/** One prediction: a row with some values in place of its own. */
struct prediction {
    struct prediction *next;
    struct published *row;
    enum prediction_kind kind;
    const char *values[RANGES_MAX]; /**< of the ranges of the row; NULL: its own */
    const char *name;               /**< of the row; of a point, of its curve */
    const char *quantity;           /**< of a point, */
    const char *none;               /**< which has no band, */
    const char *algorithm;          /**< its algorithm, */
    const char *gpus;               /**< and GPUs. They, and the algorithm's own shape, */
    bool is_moved;                  /**< are in the place of the row's */
    double error_deviations; /**< of an engine with a band of its own: the prediction is so many
                                  standard deviations of it off, on a logarithmic scale */

    /* What it takes, and what comes out. */
    struct step *steps[TRAINING_PHASES_MAX]; /**< one, or one for each phase of a run */
    double value;
};

/** Predictions in order, and the training steps that they take. Equal steps are one. A list begins
 * with its arena and inputs. */
struct predictions {
    struct ar_arena *arena;
    struct ar_inputs *inputs;
    size_t counts[PREDICTION_POINT + 1]; /**< by kind */
    struct prediction *first;
    struct prediction **end; /**< where the next one goes */
    struct step *last_step;
    struct step **steps; /**< in order, once they run */
    uint32_t steps_count;
    struct step *by_key[STEPS_KEYS]; /**< lists of the same last digits */
};

/** Works out the steps of a prediction and appends a copy. The row gets its GPUs, nodes and
 * algorithm of a nominal one. An error names the row and the values that are not its own; nothing
 * is appended. */
enum ar_status predictions_add(struct predictions *predictions, const struct prediction *prediction,
                               struct ar_error *err);

/** Computes all steps in up to `jobs` processes, longest first. Fails if there is no memory, or if
 * a process died; a step that fails does so where it is needed. */
enum ar_status predictions_run(struct predictions *predictions, uint32_t jobs, bool shows_progress,
                               struct ar_error *err);

/** Fills in the value from the steps. */
enum ar_status prediction_finish(const struct predictions *predictions,
                                 struct prediction *prediction, struct ar_error *err);

/** A wide band is easily met; this is not. */
#define REPRODUCE_CLOSE_FRAC 0.05

/** How the rows with a prediction come off. */
struct reproduce_summary {
    uint32_t judged;
    uint32_t banded;          /**< of those, with a band */
    uint32_t inside;          /**< of those, inside it */
    uint32_t close;           /**< |error| of at most REPRODUCE_CLOSE_FRAC, whatever the band */
    double median_error_frac; /**< of absolute values; NAN: nothing judged */
    double largest_error_frac;
    double median_width_frac; /**< of (high - low) / predicted: what "inside" is worth */
};

struct reproduction {
    struct ar_arena *arena; /**< of all that follows */
    struct ar_inputs *inputs;
    bool has_curves;
    bool shows_progress; /**< on a terminal */
    uint32_t samples_count;
    uint32_t jobs;
    uint64_t seed;
    struct published_rows rows; /**< read before; results are filled in */
    struct prediction *points;  /**< of curves */
    size_t points_count;
    struct reproduce_summary summary;
};

/** Fills in results of the rows, their summary and, if asked for, curves. The
 * first prediction that fails is the error, but for those of curves, which are left out. */
enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err);

/** That of rows with results. */
enum ar_status reproduce_summarize(const struct published_rows *rows, struct ar_arena *arena,
                                   struct reproduce_summary *summary, struct ar_error *err);

/** Writes stdout's forms; write errors are left for ferror(). */
void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction);

/** Writes reproduce.csv and curves.csv into a directory that is there. */
enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err);

#endif
