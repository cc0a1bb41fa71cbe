/* How the rows of a reproduction come off, in a few numbers. */
#include <math.h>
#include <stdlib.h>

#include "ar_quantile.h"
#include "reproduce.h"

/* Sorts values and gives their median; NAN if there are none. */
static double median_of(double *values, size_t count)
{
    ar_sort(values, count);
    return count > 0 ? ar_quantile(values, count, 0.5) : NAN;
}

struct reproduce_summary reproduce_summarize(const struct reproduction *reproduction)
{
    struct reproduce_summary summary = {.largest_error_frac = NAN};
    size_t count = reproduction->rows.count;
    double *values = calloc(2 * count + 1, sizeof *values);
    double *widths = values + count;
    for (size_t i = 0; values != NULL && i < count; i++) {
        const struct reproduced *result = &reproduction->results[i];
        if (!isnan(result->predicted)) {
            widths[summary.judged] = (result->high - result->low) / result->predicted;
            values[summary.judged++] = fabs(result->error_frac);
            summary.inside += result->is_inside;
            summary.close += fabs(result->error_frac) <= REPRODUCE_CLOSE_FRAC;
        }
    }
    if (values != NULL) {
        summary.median_error_frac = median_of(values, summary.judged);
        summary.median_width_frac = median_of(widths, summary.judged);
    }
    if (summary.judged > 0) {
        summary.largest_error_frac = values[summary.judged - 1];
    }
    free(values);
    return summary;
}
