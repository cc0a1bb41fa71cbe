#include "pair_calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_fit.h"
#include "ar_log.h"
#include "plan.h"

/* The parameters of the fit. */
enum { LATENCY, BANDWIDTH, IN_FLIGHT, PARAMETERS_COUNT };

static const struct link {
    const char *name;
    const char *model;
    enum ar_link_cost latency, bandwidth;
    uint32_t nodes;
} links[] = {
    {"nvlink", "latency + bytes / bandwidth of a pair over NVLink", AR_LINK_NVLINK_LATENCY,
     AR_LINK_NVLINK_BANDWIDTH, 1},
    {"pcie", "latency + bytes / bandwidth of a pair over PCIe", AR_LINK_PCIE_LATENCY,
     AR_LINK_PCIE_BANDWIDTH, 1},
    {"network", "latency + bytes / bandwidth of a pair across the network", AR_LINK_NET_LATENCY,
     AR_LINK_HCA_BANDWIDTH, 2},
};

struct rows {
    double *times_s;
    double *bytes;
    bool *is_alone; /* of osu_latency */
    size_t count;
    bool has_latency;
};

static bool is_pair(const struct ar_log *run)
{
    return run->collective == AR_LOG_LATENCY || run->collective == AR_LOG_BANDWIDTH;
}

enum ar_status pair_calibration_is_meant(const struct options *options, bool *is_meant,
                                         struct ar_error *err)
{
    struct ar_logs *logs;
    *is_meant = options->pair != NULL && options->arguments_count > 0;
    if (*is_meant || options->arguments_count == 0) {
        return AR_OK;
    }
    enum ar_status status = ar_logs_load(options->arguments[0], &logs, err);
    if (status == AR_OK) {
        *is_meant = logs->runs_count > 0 && is_pair(&logs->runs[0]);
        ar_logs_destroy(logs);
    }
    return status;
}

/* --- rows --------------------------------------------------------------------------------- */

static void free_rows(struct rows *rows)
{
    free(rows->times_s);
    free(rows->bytes);
    free(rows->is_alone);
}

static bool has_capacity(struct rows *rows, size_t more)
{
    size_t capacity = rows->count + more + 1;
    double *times_s = realloc(rows->times_s, capacity * sizeof *times_s);
    rows->times_s = times_s != NULL ? times_s : rows->times_s;
    double *bytes = realloc(rows->bytes, capacity * sizeof *bytes);
    rows->bytes = bytes != NULL ? bytes : rows->bytes;
    bool *is_alone = realloc(rows->is_alone, capacity * sizeof *is_alone);
    rows->is_alone = is_alone != NULL ? is_alone : rows->is_alone;
    return times_s != NULL && bytes != NULL && is_alone != NULL;
}

static enum ar_status note_run(struct campaign *campaign, const struct ar_log *run,
                               const char *path, uint32_t nodes, size_t count, struct ar_error *err)
{
    struct campaign_run *runs =
        realloc(campaign->runs, (campaign->runs_count + 1) * sizeof *campaign->runs);
    if (runs == NULL) {
        return ar_error_no_memory(err, "the measured runs");
    }
    campaign->runs = runs;
    runs[campaign->runs_count++] = (struct campaign_run){
        .path = path, .line = run->first_line, .nodes = nodes, .ranks = 2, .rows_count = count};
    return AR_OK;
}

static enum ar_status add_run(const struct ar_log *run, struct rows *rows, struct ar_error *err)
{
    bool is_alone = run->collective == AR_LOG_LATENCY;
    enum ar_status status =
        ar_log_check(run, is_pair(run) ? run->collective : AR_LOG_LATENCY, 1, err);
    if (status != AR_OK) {
        return status;
    }
    if (!has_capacity(rows, run->rows_count)) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < run->rows_count; i++) {
        double time_s = run->rows[i].out_of_place.time_s;
        if (time_s > 0) { /* a bandwidth of 0 bytes has none */
            rows->times_s[rows->count] = time_s;
            rows->bytes[rows->count] = (double)run->rows[i].payload_bytes;
            rows->is_alone[rows->count++] = is_alone;
            rows->has_latency = rows->has_latency || is_alone;
        }
    }
    return AR_OK;
}

static enum ar_status read_log(const char *path, const struct link *link, struct campaign *campaign,
                               struct rows *rows, struct ar_error *err)
{
    struct ar_logs *logs;
    enum ar_status status = ar_logs_load(path, &logs, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; status == AR_OK && i < logs->runs_count; i++) {
        size_t before = rows->count;
        status = add_run(&logs->runs[i], rows, err);
        if (status == AR_OK) {
            status =
                note_run(campaign, &logs->runs[i], path, link->nodes, rows->count - before, err);
        }
    }
    ar_logs_destroy(logs);
    return status;
}

/* --- the fit ------------------------------------------------------------------------------ */

static bool predict(const double *values, double *times_s, void *context)
{
    const struct rows *rows = context;
    for (size_t i = 0; i < rows->count; i++) {
        times_s[i] =
            values[rows->is_alone[i] ? LATENCY : IN_FLIGHT] + rows->bytes[i] / values[BANDWIDTH];
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

static enum ar_status fit_rows(const struct link *link, const struct ar_cluster *cluster,
                               struct rows *rows, struct ar_link_fit *fit, struct ar_error *err)
{
    double latency_s = ar_cluster_link_cost(cluster, link->latency);
    double bandwidth_Bps = ar_cluster_link_cost(cluster, link->bandwidth);
    double priors[PARAMETERS_COUNT] = {
        [LATENCY] = latency_s, [BANDWIDTH] = bandwidth_Bps, [IN_FLIGHT] = latency_s};
    struct ar_fit_problem problem = {.parameters_count = PARAMETERS_COUNT,
                                     .priors = priors,
                                     .prior_spread = AR_LINK_PRIOR_SPREAD,
                                     .start_spread = AR_LINK_START_SPREAD,
                                     .identified_max = AR_LINK_IDENTIFIED_MAX,
                                     .rows_count = rows->count,
                                     .times_s = rows->times_s,
                                     .bytes = rows->bytes,
                                     .predict = predict,
                                     .data = rows,
                                     .expected = "messages between two processes"};
    struct ar_fit found;
    enum ar_status status = ar_fit_solve(&problem, &found, err);
    if (status != AR_OK) {
        return status;
    }
    start_numbers(cluster, fit);
    if (rows->has_latency) {
        fit->numbers[link->latency] = number_of(&found, LATENCY, latency_s);
    }
    fit->numbers[link->bandwidth] = number_of(&found, BANDWIDTH, bandwidth_Bps);
    fit->residual_frac = found.residual_frac;
    fit->rows_count = rows->count;
    return AR_OK;
}

/* --- the whole ---------------------------------------------------------------------------- */

static enum ar_status find_link(const struct options *options, const struct ar_cluster *cluster,
                                const struct link **link, struct ar_error *err)
{
    for (size_t i = 0; options->pair != NULL && i < sizeof links / sizeof links[0]; i++) {
        if (strcmp(options->pair, links[i].name) != 0) {
            continue;
        }
        *link = &links[i];
        if (ar_cluster_link_cost(cluster, links[i].latency) > 0 &&
            ar_cluster_link_cost(cluster, links[i].bandwidth) > 0) {
            return AR_OK;
        }
        return ar_error_set(err, AR_BAD_DATA,
                            "--pair %s: cluster %s: found no %s and %s above zero; expected them, "
                            "since the fit starts there",
                            options->pair, ar_cluster_facts(cluster)->name,
                            ar_link_cost_key(links[i].latency),
                            ar_link_cost_key(links[i].bandwidth));
    }
    return ar_error_set(err, AR_USAGE,
                        "--pair: found %s%s%s; expected nvlink, pcie or network, since logs of "
                        "osu_latency and osu_bw do not say what joins their two processes",
                        options->pair != NULL ? "\"" : "",
                        options->pair != NULL ? options->pair : "none",
                        options->pair != NULL ? "\"" : "");
}

static enum ar_status check_options(const struct options *options, struct ar_error *err)
{
    const char *name = options->hold_out != NULL ? "--hold-out"
                       : options->folds          ? "--folds"
                       : options->tuning != NULL ? "--tuning"
                                                 : NULL;
    return name == NULL ? AR_OK
                        : ar_error_set(err, AR_USAGE,
                                       "%s: found messages between two processes; expected "
                                       "all-reduces",
                                       name);
}

enum ar_status pair_calibration_run(const struct options *options, const struct ar_cluster *cluster,
                                    struct campaign *campaign, struct link_calibration *calibration,
                                    struct ar_error *err)
{
    struct rows rows = {.count = 0};
    const struct link *link = NULL;
    *campaign = (struct campaign){.time = "of one message"};
    enum ar_status status = check_options(options, err);
    if (status == AR_OK) {
        status = find_link(options, cluster, &link, err);
    }
    for (size_t i = 0; status == AR_OK && i < options->arguments_count; i++) {
        status = read_log(options->arguments[i], link, campaign, &rows, err);
    }
    if (status == AR_OK) {
        *calibration = (struct link_calibration){.model = link->model};
        status = fit_rows(link, cluster, &rows, &calibration->fit, err);
    }
    if (status == AR_OK && rows.has_latency) {
        plan_note(options,
                  "%s is that of a message between two processes; a hop of a collective takes "
                  "longer (topologies/README.md)",
                  ar_link_cost_key(link->latency));
    }
    free_rows(&rows);
    return status;
}
