#include "ar_conformal.h"

#include <math.h>
#include <string.h>

#include "ar_numbers.h"

#define COVERED 0.95

double ar_conformal_reach(const struct ar_left_out *rows, size_t count, uint32_t kind,
                          const char *without)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    double *scores = ar_arena_alloc(&arena, count + 1, sizeof *scores);
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ar_left_out *row = &rows[i];
        double score = fabs(log(row->prediction->time_s / row->measured_s)) / row->scatter;
        if (row->kind == kind && isfinite(score) &&
            (without == NULL || strcmp(row->machine, without) != 0)) {
            scores[others++] = score;
        }
    }
    ar_sort(scores, others);
    size_t place = (size_t)ceil(COVERED * (double)(others + 1));
    return place <= others ? scores[place - 1] : NAN;
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
        double reach = rows[i].reach * rows[i].scatter;
        prediction->low_s = prediction->time_s * exp(-reach);
        prediction->high_s = prediction->time_s * exp(reach);
    }
}
