#include "ar_link_fit.h"

#include <math.h>

#include "ar_arena.h"
#include "ar_closed.h"
#include "link_number.h"

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
    for (size_t i = 0; i < count;) {
        struct ar_collective collective = rows[i].collective;
        struct ar_closed *closed;
        collective.cluster = cluster;
        AR_TRY(ar_closed_create(&collective, &closed, err));
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

struct ar_link_number ar_link_number_start(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    double value = ar_cluster_link_cost(cluster, cost);
    bool is_there = ar_cluster_has_link_cost(cluster, cost);
    return (struct ar_link_number){.state = !is_there   ? AR_LINK_ABSENT
                                            : value > 0 ? AR_LINK_UNUSED
                                                        : AR_LINK_ZERO,
                                   .prior = value,
                                   .value = value,
                                   .error_frac = NAN};
}

void ar_link_number_take(const struct ar_fit *fit, size_t parameter, struct ar_link_number *number)
{
    number->value = fit->values[parameter];
    number->error_frac = sqrt(fit->covariance[parameter][parameter]);
    number->state = fit->is_identified[parameter] ? AR_LINK_IDENTIFIED : AR_LINK_UNIDENTIFIED;
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
        bool is_used = false;
        fit->numbers[i] = ar_link_number_start(data->cluster, cost);
        if (fit->numbers[i].state == AR_LINK_UNUSED) {
            AR_TRY(find_use(data, cost, &is_used, err));
        }
        if (is_used) {
            data->costs[data->costs_count] = cost;
            data->priors[data->costs_count++] = fit->numbers[i].prior;
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
        ar_link_number_take(found, i, &fit->numbers[data->costs[i]]);
        AR_TRY(ar_cluster_set_link_cost(data->cluster, data->costs[i], found->values[i], err));
    }
    fit->residual_frac = found->residual_frac;
    return AR_OK;
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
                                     .times_s = data->times_s,
                                     .bytes = data->bytes,
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

static enum ar_status fit_rows(struct ar_arena *arena, struct data *data, struct ar_link_fit *fit,
                               struct ar_error *err)
{
    struct ar_fit *found = ar_arena_alloc(arena, 1, sizeof *found);
    struct ar_link_fit made = {.rows_count = data->count};
    data->times_s = ar_arena_alloc(arena, data->count, sizeof *data->times_s);
    data->bytes = ar_arena_alloc(arena, data->count, sizeof *data->bytes);
    data->scratch_s = ar_arena_alloc(arena, 2 * data->count, sizeof *data->scratch_s);
    if (found == NULL || data->times_s == NULL || data->bytes == NULL || data->scratch_s == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < data->count; i++) {
        data->times_s[i] = data->rows[i].time_s;
        data->bytes[i] =
            (double)data->rows[i].elements * (double)data->rows[i].collective.element_bytes;
    }
    AR_TRY(list_costs(data, &made, err));
    enum ar_status status = solve(data, found, err);
    if (status != AR_OK) {
        restore(data);
        return status;
    }
    AR_TRY(keep(found, data, &made, err));
    *fit = made;
    return AR_OK;
}

enum ar_status ar_link_fit(struct ar_cluster *cluster, const struct ar_link_row *rows, size_t count,
                           struct ar_link_fit *fit, struct ar_error *err)
{
    struct ar_arena arena = {NULL};
    struct data data = {.cluster = cluster, .rows = rows, .count = count};
    enum ar_status status = fit_rows(&arena, &data, fit, err);
    ar_arena_end(&arena);
    return status;
}
