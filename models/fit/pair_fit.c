#include "ar_pair_fit.h"

#include <string.h>

#include "ar_arena.h"
#include "link_number.h"

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

static enum ar_status fit_rows(struct ar_arena *arena, const struct ar_cluster *cluster,
                               const struct ar_pair_link *link, struct data *data,
                               struct ar_link_fit *fit, struct ar_error *err)
{
    struct ar_fit *found = ar_arena_alloc(arena, 1, sizeof *found);
    double *times_s = ar_arena_alloc(arena, data->count, sizeof *times_s);
    double *bytes = ar_arena_alloc(arena, data->count, sizeof *bytes);
    bool has_alone = false;
    if (found == NULL || times_s == NULL || bytes == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < data->count; i++) {
        times_s[i] = data->rows[i].time_s;
        bytes[i] = data->rows[i].bytes;
        has_alone |= data->rows[i].is_alone;
    }
    double latency_s = ar_cluster_link_cost(cluster, link->latency);
    const double priors[PARAMETERS_COUNT] = {[LATENCY] = latency_s,
                                             [BANDWIDTH] =
                                                 ar_cluster_link_cost(cluster, link->bandwidth),
                                             [IN_FLIGHT] = latency_s};
    struct ar_fit_problem problem = {.parameters_count = PARAMETERS_COUNT,
                                     .priors = priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .rows_count = data->count,
                                     .times_s = times_s,
                                     .bytes = bytes,
                                     .predict = predict,
                                     .data = data,
                                     .expected = "messages between two processes"};
    AR_TRY(ar_fit_solve(&problem, found, err));
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        fit->numbers[i] = ar_link_number_start(cluster, (enum ar_link_cost)i);
    }
    if (has_alone) {
        ar_link_number_take(found, LATENCY, &fit->numbers[link->latency]);
    }
    ar_link_number_take(found, BANDWIDTH, &fit->numbers[link->bandwidth]);
    fit->residual_frac = found->residual_frac;
    fit->rows_count = data->count;
    return AR_OK;
}

enum ar_status ar_pair_fit(const struct ar_pair_link *link, const struct ar_cluster *cluster,
                           const struct ar_pair_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    struct ar_arena arena = {NULL};
    struct data data = {.rows = rows, .count = count};
    enum ar_status status = fit_rows(&arena, cluster, link, &data, fit, err);
    ar_arena_end(&arena);
    return status;
}
