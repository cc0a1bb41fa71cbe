/* What a fit leaves over, taken from predictions: rows err as the fitted rows beside them. */
#include <math.h>
#include <string.h>

#include "ar_estimate.h"
#include "ar_residual.h"

/* Rows of one kind. */
struct field {
    struct ar_residual *known, *asked;
    size_t *places; /* of those that are asked for */
    double *errors, *shares;
    size_t known_count, asked_count;
};

static bool is_same_way(const struct ar_measured_row *a, const struct ar_measured_row *b)
{
    const struct ar_library_run *x = &a->call.run;
    const struct ar_library_run *y = &b->call.run;
    return (uint64_t)x->ranks * y->nodes == (uint64_t)y->ranks * x->nodes &&
           a->is_call == b->is_call &&
           (a->is_call || (a->operation == b->operation &&
                           a->messages.collective.algorithm == b->messages.collective.algorithm &&
                           strcmp(a->run->algorithm, b->run->algorithm) == 0));
}

/* The first row that ran the same algorithm, by the name that it was called, on as many GPUs of
 * each node; of calls behind it what the library chose. */
static uint32_t way_of(const struct ar_measured *measured, const struct ar_estimate *estimate,
                       size_t row)
{
    uint32_t first = 0;
    while (!is_same_way(&measured->rows[first], &measured->rows[row])) {
        first++;
    }
    return measured->rows[row].is_call
               ? first * AR_CHOICES_COUNT + (uint32_t)estimate->predictions[row].choice
               : first;
}

static uint32_t operation_of(const struct ar_operation *operation)
{
    uint32_t place = 0;
    while (place < ar_operations_count && ar_operations[place] != operation) {
        place++;
    }
    return place;
}

static enum ar_status make_field(size_t count, struct ar_arena *arena, struct field *field,
                                 struct ar_error *err)
{
    *field = (struct field){.known = ar_arena_alloc(arena, count + 1, sizeof *field->known),
                            .asked = ar_arena_alloc(arena, count + 1, sizeof *field->asked),
                            .places = ar_arena_alloc(arena, count + 1, sizeof *field->places),
                            .errors = ar_arena_alloc(arena, count + 1, sizeof *field->errors),
                            .shares = ar_arena_alloc(arena, count + 1, sizeof *field->shares)};
    return field->known != NULL && field->asked != NULL && field->places != NULL &&
                   field->errors != NULL && field->shares != NULL
               ? AR_OK
               : ar_error_no_memory(err, "the errors of a fit");
}

static void take_rows(const struct ar_measured *measured, bool is_call, const bool *is_fitted,
                      const struct ar_estimate *estimate, struct field *field)
{
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        const struct ar_library_prediction *prediction = &estimate->predictions[i];
        if (row->is_call != is_call || !isfinite(prediction->time_s)) {
            continue;
        }
        struct ar_residual residual = {.bytes = row->call.run.bytes,
                                       .nodes = row->call.run.nodes,
                                       .way = way_of(measured, estimate, i),
                                       .operation = operation_of(row->operation),
                                       .error = log(prediction->time_s / row->call.time_s)};
        field->places[field->asked_count] = i;
        field->asked[field->asked_count++] = residual;
        if (is_fitted[i]) {
            field->known[field->known_count++] = residual;
        }
    }
}

/* A prediction with less error, and the band that is left of its own. */
static struct ar_library_prediction corrected(struct ar_library_prediction prediction, double error,
                                              double share, double residual_frac)
{
    double deviations = log(prediction.high_s / prediction.time_s) / AR_BAND95_DEVIATIONS;
    double known = (1 - share) * residual_frac * residual_frac;
    double spread = AR_BAND95_DEVIATIONS * sqrt(fmax(0, deviations * deviations - known));
    prediction.time_s *= exp(-error);
    prediction.low_s = prediction.time_s * exp(-spread);
    prediction.high_s = prediction.time_s * exp(spread);
    return prediction;
}

static enum ar_status correct(const struct ar_measured *measured, bool is_call,
                              double residual_frac, const bool *is_fitted, struct ar_arena *arena,
                              struct ar_estimate *estimate, struct ar_error *err)
{
    struct field field;
    AR_TRY(make_field(measured->rows_count, arena, &field, err));
    take_rows(measured, is_call, is_fitted, estimate, &field);
    AR_TRY(ar_residual_expect(field.known, field.known_count, residual_frac, field.asked,
                              field.asked_count, field.errors, field.shares, err));
    for (size_t i = 0; i < field.asked_count; i++) {
        struct ar_library_prediction *prediction = &estimate->predictions[field.places[i]];
        *prediction = corrected(*prediction, field.errors[i], field.shares[i], residual_frac);
    }
    return AR_OK;
}

enum ar_status ar_estimate_correct(const struct ar_measured *measured, const bool *is_fitted,
                                   struct ar_arena *arena, struct ar_estimate *estimate,
                                   struct ar_error *err)
{
    if (estimate->has_library) {
        AR_TRY(correct(measured, true, estimate->library.residual_frac, is_fitted, arena, estimate,
                       err));
    }
    return estimate->has_links ? correct(measured, false, estimate->links.residual_frac, is_fitted,
                                         arena, estimate, err)
                               : AR_OK;
}
