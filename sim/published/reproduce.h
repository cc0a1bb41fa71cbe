/** \file reproduce.h
 * Published runs predicted: each from its own parameters, with a band of what is not known of it.
 *
 * The nominal prediction of a row is that of `predict` with the options of the row. The band is
 * that of `--samples` predictions, in each of which all ranges of the row are drawn independently:
 * from the 2.5th to the 97.5th percentile. The nominal value may lie outside, if it is an end of
 * what is assumed. A measured value is inside if the band meets it or its error bar.
 */
#ifndef AR_REPRODUCE_H
#define AR_REPRODUCE_H

#include <stdio.h>

#include "ar_row.h"
#include "published_rows.h"

/** Steps of a draw with jitter. The slowest of hundreds of ranks varies so little from
 * step to step that more of them change a band less than the draws do. */
enum { REPRODUCE_DRAW_STEPS = 4 };

/** One prediction to make: a row with some values in place of its own. */
struct evaluation {
    uint32_t row;
    uint32_t gpus;           /**< 0: the row's */
    const char *algorithm;   /**< NULL: the row's. The shape is the row's, too, if both are;
                                  else the algorithm's own */
    pick picks[RANGES_MAX];  /**< of the ranges of the row */
    bool is_draw;            /**< fewer steps are averaged over, see reproduce_evaluate() */
    double error_deviations; /**< of an engine with a band of its own: the prediction is so many
                                  standard deviations of it off, on a logarithmic scale */
};

/** What came out. */
struct outcome {
    double value;
    uint32_t gpus;
    uint32_t nodes;
    char algorithm[24];
    struct ar_error err; /**< status AR_OK, or one line */
};

/** The prediction of a row. */
struct reproduced {
    double predicted;       /**< NAN: a row for context */
    double predicted_short; /**< averaged over the steps of a draw */
    double low, high;
    double error_frac; /**< predicted / measured - 1 */
    bool is_inside;
    uint32_t gpus;  /**< 0: not known */
    uint32_t nodes; /**< that hold them */
    char algorithm[24];
};

/** A prediction with one value changed. */
struct sensitivity {
    uint32_t row;
    uint32_t range;
    pick value;
    double predicted;
    double change_frac; /**< against the nominal prediction over as few steps */
};

/** A prediction at another number of GPUs. */
struct curve_point {
    uint32_t row;
    uint32_t gpus;
    char algorithm[24];
    double value; /**< NAN: the run is none there */
};

struct reproduction {
    const struct published_request *request;
    struct ar_inputs *inputs;
    bool has_sensitivities;   /**< something shows predictions at ends of ranges, */
    bool shows_sensitivities; /**< the table for people, too */
    uint32_t samples_count;
    uint32_t jobs;
    uint64_t seed;
    struct published_rows rows;
    struct reproduced *results; /**< of each row */
    struct sensitivity *sensitivities;
    size_t sensitivities_count;
    struct curve_point *curves;
    size_t curves_count;
};

/** Makes one prediction; an error in the outcome names the row and the values that are not its own.
 * With jitter a draw averages over REPRODUCE_DRAW_STEPS steps, all else over as many as `predict`
 * does. */
void reproduce_evaluate(const struct reproduction *reproduction,
                        const struct evaluation *evaluation, struct outcome *outcome);

/** Makes predictions in up to `reproduction->jobs` processes, which take the next one as they come
 * free. Fails if there is no memory, or if a process died. */
enum ar_status reproduce_evaluate_all(const struct reproduction *reproduction,
                                      const struct evaluation *evaluations, uint32_t count,
                                      struct outcome *outcomes, struct ar_error *err);

/** Fills in results and, if they are asked for, sensitivities and curves of rows that were read.
 * The first prediction that fails is the error, but for those of curves. Freed with
 * reproduce_free(). */
enum ar_status reproduce_run(struct reproduction *reproduction, bool has_curves,
                             struct ar_error *err);
void reproduce_free(struct reproduction *reproduction);

/** A wide band is easily met; this is not. */
#define REPRODUCE_CLOSE_FRAC 0.05

/** How the rows with a prediction come off. */
struct reproduce_summary {
    uint32_t judged;
    uint32_t inside;
    uint32_t close;           /**< |error| of at most REPRODUCE_CLOSE_FRAC, whatever the band */
    double median_error_frac; /**< of absolute values; NAN: nothing judged */
    double largest_error_frac;
    double median_width_frac; /**< of (high - low) / predicted: what "inside" is worth */
};
struct reproduce_summary reproduce_summarize(const struct reproduction *reproduction);

/** Writes stdout's forms; write errors are left for ferror(). */
enum ar_status reproduce_write(FILE *file, enum ar_format format,
                               const struct reproduction *reproduction, struct ar_error *err);

/** Writes reproduce.csv, sensitivity.csv and curves.csv into a directory, which is made. */
enum ar_status reproduce_write_files(const char *directory, const struct reproduction *reproduction,
                                     struct ar_error *err);

#endif
