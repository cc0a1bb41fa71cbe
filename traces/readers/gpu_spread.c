#include "gpu_spread.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ar_quantile.h"

/* Expected largest of N standard normal variables, 0 for an N that is not in the table. */
static double expected_largest(uint32_t gpus)
{
    switch (gpus) {
    case 2:
        return 0.56419;
    case 4:
        return 1.02938;
    case 8:
        return 1.42360;
    case 16:
        return 1.76599;
    default:
        return 0;
    }
}

static bool is_same_job(const struct ar_throughput *a, const struct ar_throughput *b)
{
    return strcmp(a->framework, b->framework) == 0 && strcmp(a->hardware, b->hardware) == 0 &&
           a->precision == b->precision && a->batch == b->batch;
}

/* The rate of one GPU in the job of `row`, 0 if it was not published. */
static double rate_of_one(const struct ar_throughput *rows, size_t rows_count,
                          const struct ar_throughput *row)
{
    for (size_t i = 0; i < rows_count; i++) {
        if (rows[i].gpus == 1 && is_same_job(&rows[i], row)) {
            return rows[i].published;
        }
    }
    return 0;
}

enum ar_status ar_gpu_spread_estimate(const struct ar_throughput *rows, size_t rows_count,
                                      enum ar_precision precision, struct ar_gpu_spread *spread,
                                      struct ar_error *err)
{
    size_t count = 0;
    double *values = calloc(rows_count + 1, sizeof *values);
    if (values == NULL) {
        return ar_error_no_memory(err, "the spread of GPUs");
    }
    for (size_t i = 0; i < rows_count; i++) {
        double largest = expected_largest(rows[i].gpus);
        double alone = rate_of_one(rows, rows_count, &rows[i]);
        if (rows[i].precision == precision && largest > 0 && alone > 0) {
            values[count++] = (rows[i].gpus * alone / rows[i].published - 1) / largest;
        }
    }
    if (count == 0) {
        free(values);
        return ar_error_set(err, AR_BAD_DATA,
                            "published %s rows: found none of several GPUs with one of a single "
                            "GPU beside it; expected at least one",
                            ar_precision_name(precision));
    }
    ar_sort(values, count);
    *spread = (struct ar_gpu_spread){.rows_count = count,
                                     .low = ar_quantile(values, count, 0.25),
                                     .median = ar_quantile(values, count, 0.5),
                                     .high = ar_quantile(values, count, 0.75)};
    free(values);
    return AR_OK;
}
