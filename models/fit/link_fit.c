#include "ar_link_fit.h"

#include <math.h>
#include <stdlib.h>

#include "ar_closed.h"
#include "ar_fit.h"

#define RESIDUAL_MAX 10.0 /* beyond this the best fit is no fit */
#define USED_FACTOR  3.0  /* a number is used if this factor up or down changes a row */

static bool is_same(const struct ar_collective *a, const struct ar_collective *b)
{
    return a->algorithm == b->algorithm && a->shape.x == b->shape.x && a->shape.y == b->shape.y &&
           a->channels == b->channels && a->window == b->window &&
           a->element_bytes == b->element_bytes;
}

/* Rows of one collective that follow each other share a closed form. */
enum ar_status ar_link_predict(const struct ar_cluster *cluster, const struct ar_link_row *rows,
                               size_t count, double *times_s, struct ar_error *err)
{
    struct ar_closed *plan = NULL;
    for (size_t i = 0; i < count; i++) {
        struct ar_closed_time time;
        if (i == 0 || !is_same(&rows[i].collective, &rows[i - 1].collective)) {
            struct ar_collective collective = rows[i].collective;
            collective.cluster = cluster;
            ar_closed_destroy(plan);
            plan = NULL;
            enum ar_status status = ar_closed_create(&collective, &plan, err);
            if (status != AR_OK) {
                return status;
            }
        }
        ar_closed_evaluate(plan, rows[i].elements, &time);
        times_s[i] = time.time_s;
    }
    ar_closed_destroy(plan);
    return AR_OK;
}

/* --- the problem -------------------------------------------------------------------------- */

/* The rows and the numbers that are fitted to them. */
struct data {
    struct ar_cluster *cluster;
    const struct ar_link_row *rows;
    size_t count;
    double *times_s;
    double *bytes;
    double *scratch_s; /* times of rows, two of each */
    enum ar_link_cost costs[AR_LINK_COSTS_COUNT];
    double priors[AR_LINK_COSTS_COUNT];
    size_t costs_count;
};

static bool predict(const double *values, double *times_s, void *context)
{
    struct data *data = context;
    struct ar_error ignored; /* rows were predicted before: what fails now is memory or a number */
    for (size_t i = 0; i < data->costs_count; i++) {
        if (ar_cluster_set_link_cost(data->cluster, data->costs[i], values[i], &ignored) != AR_OK) {
            return false;
        }
    }
    return ar_link_predict(data->cluster, data->rows, data->count, times_s, &ignored) == AR_OK;
}

static void restore(struct data *data)
{
    struct ar_error ignored; /* these are numbers of the file */
    for (size_t i = 0; i < data->costs_count; i++) {
        ar_cluster_set_link_cost(data->cluster, data->costs[i], data->priors[i], &ignored);
    }
}

/* Does the time of a row hang on the number, within the reach of its prior? */
static enum ar_status find_use(struct data *data, enum ar_link_cost cost, bool *is_used,
                               struct ar_error *err)
{
    double prior = ar_cluster_link_cost(data->cluster, cost);
    double *low_s = data->scratch_s;
    double *high_s = data->scratch_s + data->count;
    AR_TRY(ar_cluster_set_link_cost(data->cluster, cost, prior / USED_FACTOR, err));
    AR_TRY(ar_link_predict(data->cluster, data->rows, data->count, low_s, err));
    AR_TRY(ar_cluster_set_link_cost(data->cluster, cost, prior * USED_FACTOR, err));
    AR_TRY(ar_link_predict(data->cluster, data->rows, data->count, high_s, err));
    AR_TRY(ar_cluster_set_link_cost(data->cluster, cost, prior, err));
    *is_used = false;
    for (size_t i = 0; i < data->count; i++) {
        *is_used = *is_used || fabs(low_s[i] / high_s[i] - 1) > 1e-9;
    }
    return AR_OK;
}

/* Sorts out what can be fitted. */
static enum ar_status list_costs(struct data *data, struct ar_link_fit *fit, struct ar_error *err)
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        struct ar_link_number *number = &fit->numbers[i];
        double prior = ar_cluster_link_cost(data->cluster, cost);
        bool is_used = false;
        *number = (struct ar_link_number){.prior = prior, .value = prior, .error_frac = NAN};
        if (!ar_cluster_has_link_cost(data->cluster, cost) || prior == 0) {
            bool is_given = ar_cluster_has_link_cost(data->cluster, cost);
            number->state = is_given ? AR_LINK_ZERO : AR_LINK_ABSENT;
            continue;
        }
        enum ar_status status = find_use(data, cost, &is_used, err);
        if (status != AR_OK) {
            return status;
        }
        number->state = is_used ? AR_LINK_UNIDENTIFIED : AR_LINK_UNUSED;
        if (is_used) {
            data->costs[data->costs_count] = cost;
            data->priors[data->costs_count++] = prior;
        }
    }
    return data->costs_count > 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "fit: found no number of the cluster, above zero, that a row depends "
                              "on; expected at least one latency or bandwidth");
}

static enum ar_status keep(const struct ar_fit *found, struct data *data, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    for (size_t i = 0; i < data->costs_count; i++) {
        struct ar_link_number *number = &fit->numbers[data->costs[i]];
        number->value = found->values[i];
        number->error_frac = sqrt(found->covariance[i][i]);
        number->state = found->is_identified[i] ? AR_LINK_IDENTIFIED : AR_LINK_UNIDENTIFIED;
        AR_TRY(ar_cluster_set_link_cost(data->cluster, data->costs[i], found->values[i], err));
    }
    fit->residual_frac = found->residual_frac;
    fit->rows_count = data->count;
    return AR_OK;
}

static enum ar_status solve(struct data *data, struct ar_link_fit *fit, struct ar_error *err)
{
    struct ar_link_fit made = {.rows_count = 0};
    struct ar_fit found;
    for (size_t i = 0; i < data->count; i++) {
        data->times_s[i] = data->rows[i].time_s;
        data->bytes[i] =
            (double)data->rows[i].elements * (double)data->rows[i].collective.element_bytes;
    }
    enum ar_status status = list_costs(data, &made, err);
    if (status != AR_OK) {
        return status;
    }
    struct ar_fit_problem problem = {.parameters_count = data->costs_count,
                                     .priors = data->priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .has_kinks = true,
                                     .rows_count = data->count,
                                     .times_s = data->times_s,
                                     .bytes = data->bytes,
                                     .predict = predict,
                                     .data = data,
                                     .expected = "all-reduces that resemble the closed form"};
    status = ar_fit_solve(&problem, &found, err);
    if (status == AR_OK && found.residual_frac > RESIDUAL_MAX) {
        status = ar_error_set(err, AR_BAD_DATA,
                              "fit: found a residual of %.0f %% over %zu rows; expected less than "
                              "%.0f %%, %s, and values in the file that are not far off",
                              found.residual_frac * 100, data->count, RESIDUAL_MAX * 100,
                              problem.expected);
    }
    if (status != AR_OK) {
        restore(data);
        return status;
    }
    AR_TRY(keep(&found, data, &made, err));
    *fit = made;
    return AR_OK;
}

enum ar_status ar_link_fit(struct ar_cluster *cluster, const struct ar_link_row *rows, size_t count,
                           struct ar_link_fit *fit, struct ar_error *err)
{
    struct data data = {.cluster = cluster,
                        .rows = rows,
                        .count = count,
                        .times_s = calloc(count + 1, sizeof(double)),
                        .bytes = calloc(count + 1, sizeof(double)),
                        .scratch_s = calloc(2 * count + 1, sizeof(double))};
    enum ar_status status = data.times_s == NULL || data.bytes == NULL || data.scratch_s == NULL
                                ? ar_error_no_memory(err, "the rows of a fit")
                                : solve(&data, fit, err);
    free(data.times_s);
    free(data.bytes);
    free(data.scratch_s);
    return status;
}
