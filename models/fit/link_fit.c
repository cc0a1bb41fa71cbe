#include "ar_link_fit.h"

#include <math.h>
#include <stdlib.h>

#include "ar_closed.h"

#define RESIDUAL_MAX 10.0 /* beyond this the best fit is no fit */
#define USED_FACTOR  3.0  /* a number is used if this factor up or down changes a row */

static bool is_same(const struct ar_collective *a, const struct ar_collective *b)
{
    return a->cluster == b->cluster && a->operation == b->operation &&
           a->algorithm == b->algorithm && ar_shape_equal(&a->shape, &b->shape) &&
           a->channels == b->channels && a->window == b->window &&
           a->element_bytes == b->element_bytes;
}

/* Rows of one collective that follow each other share a closed form. */
enum ar_status ar_link_predict(const struct ar_link_row *rows, size_t count, double *times_s,
                               struct ar_error *err)
{
    for (size_t i = 0; i < count;) {
        struct ar_closed *closed;
        AR_TRY(ar_closed_create(&rows[i].collective, &closed, err));
        size_t first = i;
        while (i < count && is_same(&rows[i].collective, &rows[first].collective)) {
            struct ar_closed_time time;
            ar_closed_evaluate(closed, rows[i].elements, &time);
            times_s[i++] = time.time_s;
        }
        ar_closed_destroy(closed);
    }
    return AR_OK;
}

void ar_link_fit_begin(const struct ar_cluster *cluster, struct ar_link_fit *fit)
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        double value = ar_cluster_link_cost(cluster, cost);
        bool is_there = ar_cluster_has_link_cost(cluster, cost);
        fit->numbers[i] = (struct ar_link_number){.state = !is_there   ? AR_LINK_ABSENT
                                                           : value > 0 ? AR_LINK_UNUSED
                                                                       : AR_LINK_ZERO,
                                                  .prior = value,
                                                  .value = value,
                                                  .error_frac = NAN};
    }
}

void ar_link_fit_take(const struct ar_fit *found, size_t index, size_t count,
                      struct ar_link_number *number)
{
    number->value = found->values[index];
    number->error_frac = sqrt(found->covariance[index * (count + 1)]);
    number->state = found->is_identified[index] ? AR_LINK_IDENTIFIED : AR_LINK_UNIDENTIFIED;
}

/* --- the problem -------------------------------------------------------------------------- */

/* The rows and the numbers that are fitted to them. */
struct data {
    struct ar_cluster *const *clusters; /* of the rows, all with the same numbers */
    size_t clusters_count;
    const struct ar_link_row *rows;
    size_t count;
    double *scratch_s; /* times of rows, two of each */
    enum ar_link_cost costs[AR_LINK_COSTS_COUNT];
    double priors[AR_LINK_COSTS_COUNT];
    size_t costs_count;
};

static enum ar_status set_cost(const struct data *data, enum ar_link_cost cost, double value,
                               struct ar_error *err)
{
    for (size_t i = 0; i < data->clusters_count; i++) {
        if (ar_cluster_has_link_cost(data->clusters[i], cost)) {
            AR_TRY(ar_cluster_set_link_cost(data->clusters[i], cost, value, err));
        }
    }
    return AR_OK;
}

/* Gives the clusters these values of the numbers. */
static enum ar_status set_costs(const struct data *data, const double *values, struct ar_error *err)
{
    for (size_t i = 0; i < data->costs_count; i++) {
        AR_TRY(set_cost(data, data->costs[i], values[i], err));
    }
    return AR_OK;
}

static bool predict(const double *values, double *times_s, void *context)
{
    const struct data *data = context;
    struct ar_error ignored; /* rows were predicted before: what fails now is memory or a number */
    return set_costs(data, values, &ignored) == AR_OK &&
           ar_link_predict(data->rows, data->count, times_s, &ignored) == AR_OK;
}

/* Does the time of a row hang on the number, within the reach of its prior? */
static enum ar_status find_use(struct data *data, enum ar_link_cost cost, bool *is_used,
                               struct ar_error *err)
{
    double prior = ar_cluster_link_cost(data->clusters[0], cost);
    double *low_s = data->scratch_s;
    double *high_s = data->scratch_s + data->count;
    AR_TRY(set_cost(data, cost, prior / USED_FACTOR, err));
    AR_TRY(ar_link_predict(data->rows, data->count, low_s, err));
    AR_TRY(set_cost(data, cost, prior * USED_FACTOR, err));
    AR_TRY(ar_link_predict(data->rows, data->count, high_s, err));
    AR_TRY(set_cost(data, cost, prior, err));
    *is_used = false;
    for (size_t i = 0; i < data->count; i++) {
        *is_used = *is_used || fabs(low_s[i] / high_s[i] - 1) > 1e-9;
    }
    return AR_OK;
}

/* Sorts out what can be fitted. */
static enum ar_status list_costs(struct data *data, struct ar_link_fit *fit, struct ar_error *err)
{
    ar_link_fit_begin(data->clusters[0], fit);
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        bool is_used = false;
        if (fit->numbers[i].state == AR_LINK_UNUSED) {
            AR_TRY(find_use(data, (enum ar_link_cost)i, &is_used, err));
        }
        if (is_used) {
            data->costs[data->costs_count] = (enum ar_link_cost)i;
            data->priors[data->costs_count++] = fit->numbers[i].prior;
        }
    }
    return data->costs_count > 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "fit: found no number of the cluster, above zero, that a row depends "
                              "on; expected at least one latency or bandwidth");
}

/* Fits; the cluster has some numbers of an attempt then. */
static enum ar_status solve(struct data *data, struct ar_fit *found, struct ar_error *err)
{
    struct ar_fit_problem problem = {.parameters_count = data->costs_count,
                                     .priors = data->priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .has_kinks = true,
                                     .rows_count = data->count,
                                     .times_s = &data->rows->time_s,
                                     .bytes = &data->rows->bytes,
                                     .stride = sizeof *data->rows / sizeof(double),
                                     .predict = predict,
                                     .data = data,
                                     .expected = "all-reduces that resemble the closed form"};
    AR_TRY(ar_fit_solve(&problem, found, err));
    if (found->residual_frac > RESIDUAL_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found a residual of %.0f %% over %zu rows; expected less than "
                            "%.0f %%, %s, and values in the file that are not far off",
                            found->residual_frac * 100, data->count, RESIDUAL_MAX * 100,
                            problem.expected);
    }
    return AR_OK;
}

static enum ar_status fit_rows(struct data *data, struct ar_link_fit *fit, struct ar_error *err)
{
    double values[AR_LINK_COSTS_COUNT];
    double covariance[AR_LINK_COSTS_COUNT * AR_LINK_COSTS_COUNT];
    bool is_identified[AR_LINK_COSTS_COUNT];
    struct ar_fit found = {values, covariance, is_identified, 0};
    struct ar_link_fit made = {.rows_count = data->count};
    AR_TRY(list_costs(data, &made, err));
    enum ar_status status = solve(data, &found, err);
    status = status == AR_OK ? set_costs(data, values, err) : status;
    if (status != AR_OK) {
        struct ar_error ignored; /* these are numbers of the file */
        (void)set_costs(data, data->priors, &ignored);
        return status;
    }
    for (size_t i = 0; i < data->costs_count; i++) {
        ar_link_fit_take(&found, i, data->costs_count, &made.numbers[data->costs[i]]);
    }
    made.residual_frac = found.residual_frac;
    *fit = made;
    return AR_OK;
}

enum ar_status ar_link_fit(struct ar_cluster *const *clusters, size_t clusters_count,
                           const struct ar_link_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    struct data data = {.clusters = clusters,
                        .clusters_count = clusters_count,
                        .rows = rows,
                        .count = count,
                        .scratch_s = calloc(2 * count + 1, sizeof(double))};
    enum ar_status status = data.scratch_s != NULL ? fit_rows(&data, fit, err)
                                                   : ar_error_no_memory(err, "the rows of a fit");
    free(data.scratch_s);
    return status;
}
