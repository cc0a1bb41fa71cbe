/** \file answer_find.h
 * Rows of steps and collectives, and which of them is the fastest.
 */
#ifndef AR_PAGE_ANSWER_FIND_H
#define AR_PAGE_ANSWER_FIND_H

#include "page.h"

struct row {
    const char *cluster, *trace, *algorithm, *shape, *engine, *baseline, *operation, *mesh,
        *strategy, *status;
    uint64_t gpus, payload_bytes;
    double iteration_s, compute_s, allreduce_s, exposed_s, samples_per_s, efficiency_frac;
    double setup_s, latency_s, bandwidth_s, reduction_s, busbw_Bps, low_s, high_s;
    double tokens_per_s, mfu_frac, bubble_s, memory_bytes;
    ar_cell_flag exact, fits;
};

/** What rows may differ in beside their algorithm; those that do are not compared as algorithms. */
struct circumstance {
    const char *column;
    const char *usual; /**< another value is always said; NULL: where rows differ */
    bool is_key_value; /**< its cells say what they are of */
    bool is_subject;   /**< said already, of what a sentence is */
};
enum { CIRCUMSTANCES = 26 };
extern const struct circumstance circumstances[CIRCUMSTANCES];

struct rows {
    const struct ar_csv *csv;
    struct row *list;
    size_t count;
    size_t places[CIRCUMSTANCES]; /**< of columns; SIZE_MAX: not in the file */
    bool *is_named;               /**< of each row: whether a sentence gives its time */
    bool is_step;
};

/** Which rows are looked at. */
struct choice {
    uint64_t gpus;
    uint64_t payload_bytes;                       /**< AR_NO_COUNT: any */
    size_t alike;                                 /**< to this row; SIZE_MAX: to any */
    size_t but;                                   /**< not this row; SIZE_MAX: any */
    const char *algorithm, *operation, *strategy; /**< NULL: any */
};

/** Among the best rows of other algorithms, alike but for that: the fastest and the slowest. */
struct others {
    size_t count, next, last;
};

enum ar_status rows_read(const struct ar_csv *csv, struct ar_arena *arena, struct rows *rows,
                         struct ar_error *err);
bool rows_have_result(const struct rows *rows, size_t i);
bool rows_are_alike(const struct rows *rows, size_t a, size_t b);
bool rows_is_same(const char *a, const char *b);

/** The best row of a choice, the first of equal ones; SIZE_MAX: there is none. */
size_t rows_best(const struct rows *rows, const struct choice *choice);
struct others rows_others(const struct rows *rows, size_t best);

/** The largest number of GPUs, and the least or the largest payload among rows of so many. */
uint64_t rows_most_gpus(const struct rows *rows);
uint64_t rows_payload(const struct rows *rows, uint64_t gpus, bool is_least);

#endif
