/** \file reproduce.h
 * Published runs predicted: each from its own parameters, with a band of its unknown ones.
 *
 * The nominal prediction of a row is that of `predict` with the options of the row. The band is
 * that of `--samples` predictions, in each of which all ranges of the row are drawn independently:
 * from the 2.5th to the 97.5th percentile, and as far as the nominal prediction, if that is outside
 * because the row takes an end of what is assumed. A measured value is inside if it
 * or a part of its error bar lies in the band. Where nothing is drawn and the measured value has no
 * error bar, there is no band.
 */
#ifndef AR_REPRODUCE_H
#define AR_REPRODUCE_H

#include <stdio.h>

#include "ar_record.h"
#include "published.h"

/** How well the rows with a prediction are met. */
struct reproduce_summary {
    uint32_t predicted;
    uint32_t banded;          /**< of those, with a band */
    uint32_t inside;          /**< of those, inside it */
    double median_error_frac; /**< of absolute values; NAN: nothing predicted */
    double largest_error_frac;
    double median_width_frac; /**< of (high - low) / predicted: what "inside" is worth */
};

struct reproduction {
    struct ar_arena *arena; /**< of all that follows */
    struct ar_inputs *inputs;
    bool shows_progress; /**< on a terminal */
    uint32_t samples_count;
    uint32_t jobs;
    uint64_t seed;
    struct published_rows rows; /**< read before; results are filled in */
    struct reproduce_summary summary;
};

/** Fills in results of the rows and their summary. The first prediction that fails is the error. */
enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err);

/** The summary of rows with results. */
struct reproduce_summary reproduce_summarize(const struct published_rows *rows);

/** The columns of reproduce.csv, of the rows. */
extern const struct ar_columns reproduce_columns;

/** Writes stdout's forms; write errors are left for ferror(). */
void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction);

#endif
