#include "ar_link_fit.h"

#include <string.h>

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

enum ar_status ar_pair_link_find(const char *where, const char *name,
                                 const struct ar_cluster *cluster, const struct ar_pair_link **link,
                                 struct ar_error *err)
{
    const struct ar_pair_link *found = NULL;
    for (size_t i = 0; name != NULL && i < sizeof links / sizeof links[0]; i++) {
        found = strcmp(name, links[i].name) == 0 ? &links[i] : found;
    }
    if (found == NULL) {
        const char *quote = name != NULL ? "\"" : "";
        return ar_error_set(err, AR_USAGE,
                            "%s: found %s%s%s; expected nvlink, pcie or network, since logs of "
                            "osu_latency and osu_bw do not say what joins their two processes",
                            where, quote, name != NULL ? name : "none", quote);
    }
    if (!(ar_cluster_link_cost(cluster, found->latency) > 0) ||
        !(ar_cluster_link_cost(cluster, found->bandwidth) > 0)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s %s: cluster %s: found no %s and %s above zero; expected them, "
                            "since the fit starts there",
                            where, name, ar_cluster_facts(cluster)->name,
                            ar_link_cost_key(found->latency), ar_link_cost_key(found->bandwidth));
    }
    *link = found;
    return AR_OK;
}

struct data {
    const struct ar_pair_row *rows;
    size_t count;
};

static bool predict(const double *values, double *times_s, void *context)
{
    const struct data *data = context;
    for (size_t i = 0; i < data->count; i++) {
        const struct ar_pair_row *row = &data->rows[i];
        times_s[i] = values[row->is_alone ? LATENCY : IN_FLIGHT] + row->bytes / values[BANDWIDTH];
    }
    return true;
}

enum ar_status ar_pair_fit(const struct ar_pair_link *link, const struct ar_cluster *cluster,
                           const struct ar_pair_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    double latency_s = ar_cluster_link_cost(cluster, link->latency);
    const double priors[PARAMETERS_COUNT] = {[LATENCY] = latency_s,
                                             [BANDWIDTH] =
                                                 ar_cluster_link_cost(cluster, link->bandwidth),
                                             [IN_FLIGHT] = latency_s};
    double values[PARAMETERS_COUNT];
    double covariance[PARAMETERS_COUNT * PARAMETERS_COUNT];
    bool is_identified[PARAMETERS_COUNT];
    struct data data = {.rows = rows, .count = count};
    struct ar_fit found = {values, covariance, is_identified, 0};
    struct ar_fit_problem problem = {.parameters_count = PARAMETERS_COUNT,
                                     .priors = priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .rows_count = count,
                                     .times_s = &rows->time_s,
                                     .bytes = &rows->bytes,
                                     .stride = sizeof *rows / sizeof(double),
                                     .predict = predict,
                                     .data = &data,
                                     .expected = "messages between two processes"};
    AR_TRY(ar_fit_solve(&problem, &found, err));
    ar_link_fit_begin(cluster, fit);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_alone) {
            ar_link_fit_take(&found, LATENCY, PARAMETERS_COUNT, &fit->numbers[link->latency]);
        }
    }
    ar_link_fit_take(&found, BANDWIDTH, PARAMETERS_COUNT, &fit->numbers[link->bandwidth]);
    fit->residual_frac = found.residual_frac;
    fit->rows_count = count;
    return AR_OK;
}
