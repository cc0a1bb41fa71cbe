#include "ar_conformal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"

#define COVERED  0.95
#define ROUNDING 1e-9 /* of sums of shares */

AR_ORDER(compare_scores, struct ar_score, AR_RISES(score))

double ar_conformal_quantile(struct ar_score *scores, size_t count, double covered)
{
    double machines = 0, share = 0;
    for (size_t i = 0, first = 0; i < count; i++) {
        if (strcmp(scores[i].machine, scores[first].machine) != 0) {
            first = i;
        }
        machines += i == first;
        for (size_t k = first; k <= i; k++) {
            scores[k].share = 1 / (double)(i - first + 1);
        }
    }
    qsort(scores, count, sizeof *scores, compare_scores);
    for (size_t i = 0; i < count; i++) {
        share += scores[i].share / machines;
        if (share >= covered - ROUNDING && (double)(i + 1) >= covered * (double)(count + 1)) {
            return scores[i].score;
        }
    }
    return NAN;
}

double ar_conformal_reach(const struct ar_left_out *rows, size_t count, uint32_t kind,
                          const char *without)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_score *scores = ar_arena_alloc(&arena, count + 1, sizeof *scores);
    size_t others = 0;
    AR_EACH(const struct ar_left_out, row, rows, count) {
        double score = fabs(log(row->prediction->time_s / row->measured_s)) / row->scatter;
        if (row->kind == kind && isfinite(score) &&
            (without == NULL || strcmp(row->machine, without) != 0)) {
            scores[others++] = (struct ar_score){.machine = row->machine, .score = score};
        }
    }
    return ar_conformal_quantile(scores, others, COVERED);
}

void ar_conformal_bands(struct ar_left_out *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ar_left_out *row = &rows[i];
        const struct ar_left_out *before = i > 0 ? &rows[i - 1] : NULL;
        row->reach = before != NULL && before->kind == row->kind && before->machine == row->machine
                         ? before->reach
                         : ar_conformal_reach(rows, count, row->kind, row->machine);
    }
    for (size_t i = 0; i < count; i++) {
        struct ar_library_prediction *prediction = rows[i].prediction;
        *prediction = ar_library_banded(prediction->choice, prediction->time_s,
                                        rows[i].reach * rows[i].scatter);
    }
}
