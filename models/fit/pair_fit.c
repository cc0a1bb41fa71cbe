#include "ar_pair_fit.h"

#include <math.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_fit.h"

/* The parameters of the fit. */
enum { LATENCY, BANDWIDTH, IN_FLIGHT, PARAMETERS_COUNT };

static const struct ar_pair_link links[] = {
    {"nvlink", "latency + bytes / bandwidth of a pair over NVLink", AR_LINK_NVLINK_LATENCY,
     AR_LINK_NVLINK_BANDWIDTH, 1},
    {"pcie", "latency + bytes / bandwidth of a pair over PCIe", AR_LINK_PCIE_LATENCY,
     AR_LINK_PCIE_BANDWIDTH, 1},
    {"network", "latency + bytes / bandwidth of a pair across the network", AR_LINK_NET_LATENCY,
     AR_LINK_HCA_BANDWIDTH, 2},
};

const struct ar_pair_link *ar_pair_link_find(const char *name)
{
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        if (strcmp(name, links[i].name) == 0) {
            return &links[i];
        }
    }
    return NULL;
}

struct rows {
    const struct ar_pair_row *list;
    size_t count;
};

static bool predict(const double *values, double *times_s, void *context)
{
    const struct rows *rows = context;
    for (size_t i = 0; i < rows->count; i++) {
        const struct ar_pair_row *row = &rows->list[i];
        times_s[i] = values[row->is_alone ? LATENCY : IN_FLIGHT] + row->bytes / values[BANDWIDTH];
    }
    return true;
}

static struct ar_link_number number_of(const struct ar_fit *fit, int parameter, double prior)
{
    return (struct ar_link_number){.state = fit->is_identified[parameter] ? AR_LINK_IDENTIFIED
                                                                          : AR_LINK_UNIDENTIFIED,
                                   .prior = prior,
                                   .value = fit->values[parameter],
                                   .error_frac = sqrt(fit->covariance[parameter][parameter])};
}

/* The numbers that the rows say nothing of. */
static void start_numbers(const struct ar_cluster *cluster, struct ar_link_fit *fit)
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

static enum ar_status solve(const double priors[PARAMETERS_COUNT], struct rows *rows,
                            struct ar_arena *arena, struct ar_fit *found, struct ar_error *err)
{
    double *times_s = ar_arena_alloc(arena, rows->count + 1, sizeof *times_s);
    double *bytes = ar_arena_alloc(arena, rows->count + 1, sizeof *bytes);
    if (times_s == NULL || bytes == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < rows->count; i++) {
        times_s[i] = rows->list[i].time_s;
        bytes[i] = rows->list[i].bytes;
    }
    struct ar_fit_problem problem = {.parameters_count = PARAMETERS_COUNT,
                                     .priors = priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .rows_count = rows->count,
                                     .times_s = times_s,
                                     .bytes = bytes,
                                     .predict = predict,
                                     .data = rows,
                                     .expected = "messages between two processes"};
    return ar_fit_solve(&problem, found, err);
}

enum ar_status ar_pair_fit(const struct ar_pair_link *link, const struct ar_cluster *cluster,
                           const struct ar_pair_row *list, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    double latency_s = ar_cluster_link_cost(cluster, link->latency);
    double bandwidth_Bps = ar_cluster_link_cost(cluster, link->bandwidth);
    const double priors[PARAMETERS_COUNT] = {
        [LATENCY] = latency_s, [BANDWIDTH] = bandwidth_Bps, [IN_FLIGHT] = latency_s};
    struct rows rows = {list, count};
    struct ar_arena arena = {0};
    struct ar_fit found;
    enum ar_status status = solve(priors, &rows, &arena, &found, err);
    ar_arena_end(&arena);
    AR_TRY(status);
    bool has_latency = false;
    for (size_t i = 0; i < count; i++) {
        has_latency = has_latency || list[i].is_alone;
    }
    start_numbers(cluster, fit);
    if (has_latency) {
        fit->numbers[link->latency] = number_of(&found, LATENCY, latency_s);
    }
    fit->numbers[link->bandwidth] = number_of(&found, BANDWIDTH, bandwidth_Bps);
    fit->residual_frac = found.residual_frac;
    fit->rows_count = count;
    return AR_OK;
}
