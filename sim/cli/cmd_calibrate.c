/* calibrate: fits a cluster to measured all-reduces, the library to those of NCCL, the links to
 * those of our own algorithms. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_platform.h"
#include "ar_units.h"
#include "calibration.h"
#include "cells.h"
#include "commands.h"
#include "link_calibration.h"
#include "pair_calibration.h"
#include "plan.h"
#include "resource.h"

/* --- table -------------------------------------------------------------------------------- */

static const char *format_value(enum ar_library_parameter parameter, double value,
                                char text[AR_UNIT_TEXT])
{
    const char *unit = ar_library_parameter_unit(parameter);
    return strcmp(unit, "s") == 0   ? ar_format_seconds(value, text)
           : strcmp(unit, "B") == 0 ? ar_format_bytes((uint64_t)llround(value), text)
                                    : ar_format_rate(value, text);
}

static void write_parameters(const struct ar_library *library)
{
    printf("%-28s %12s %8s %-11s %12s  %s\n", "parameter", "value", "+- (%)", "identified", "prior",
           "source of the prior");
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        enum ar_library_parameter parameter = (enum ar_library_parameter)i;
        char value[AR_UNIT_TEXT];
        char prior[AR_UNIT_TEXT];
        printf(
            "%-28s %12s %8.1f %-11s %12s  %s\n", ar_library_parameter_name(parameter),
            format_value(parameter, library->values[i], value),
            sqrt(library->covariance[i][i]) * 100, library->is_identified[i] ? "yes" : "no",
            format_value(parameter, ar_library_parameter_prior(&library->tuning, parameter), prior),
            ar_library_parameter_prior_source(&library->tuning, parameter));
    }
}

static void write_table(const struct calibration *calibration)
{
    const struct ar_library *library = &calibration->table.library;
    char node[AR_UNIT_TEXT];
    char net[AR_UNIT_TEXT];
    printf("%s with rings of %s in a node and %s across the network; %" PRIu32
           " rows fitted, residual %.2f %%\n\n",
           library->tuning.name, ar_format_rate(library->tuning.node_bus_Bps, node),
           library->tuning.net_bus_Bps > 0 ? ar_format_rate(library->tuning.net_bus_Bps, net)
                                           : "none",
           library->rows_count, library->residual_frac * 100);
    write_parameters(library);
    printf("\n");
    accuracy_write_table(stdout, calibration->lines, calibration->lines_count);
}

/* --- CSV and JSON ------------------------------------------------------------------------- */

/* One table of two kinds of lines: parameters leave the columns of errors empty, and the other way
 * round. */
static void write_csv(const struct calibration *calibration)
{
    const struct ar_library *library = &calibration->table.library;
    printf("kind,parameter,value,unit,relative_standard_error,identified,prior,prior_source,%s\n",
           accuracy_columns(false));
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        enum ar_library_parameter parameter = (enum ar_library_parameter)i;
        printf("parameter,%s,", ar_library_parameter_name(parameter));
        cell_csv_number(stdout, library->values[i]);
        printf(",%s,", ar_library_parameter_unit(parameter));
        cell_csv_number(stdout, sqrt(library->covariance[i][i]));
        printf(",%s,", library->is_identified[i] ? "yes" : "no");
        cell_csv_number(stdout, ar_library_parameter_prior(&library->tuning, parameter));
        putchar(',');
        cell_csv_text(stdout, ar_library_parameter_prior_source(&library->tuning, parameter));
        printf(",,,,,,,,,,,,\n");
    }
    for (size_t i = 0; i < calibration->lines_count; i++) {
        printf("accuracy,,,,,,,,");
        accuracy_write_csv(stdout, &calibration->lines[i]);
        putchar('\n');
    }
}

static void write_json_parameter(const struct ar_library *library,
                                 enum ar_library_parameter parameter)
{
    printf("%s\n    {\"parameter\": \"%s\", \"value\": ", parameter > 0 ? "," : "",
           ar_library_parameter_name(parameter));
    cell_json_number(stdout, library->values[parameter]);
    printf(", \"unit\": \"%s\", \"relative_standard_error\": ",
           ar_library_parameter_unit(parameter));
    cell_json_number(stdout, sqrt(library->covariance[parameter][parameter]));
    printf(", \"identified\": %s, \"prior\": ",
           library->is_identified[parameter] ? "true" : "false");
    cell_json_number(stdout, ar_library_parameter_prior(&library->tuning, parameter));
    printf(", \"prior_source\": ");
    cell_json_text(stdout, ar_library_parameter_prior_source(&library->tuning, parameter));
    putchar('}');
}

static void write_json(const struct calibration *calibration, const struct campaign *campaign)
{
    const struct ar_library *library = &calibration->table.library;
    printf("{\n  \"tuning\": \"%s\",\n  \"node_bus_Bps\": ", library->tuning.name);
    cell_json_number(stdout, library->tuning.node_bus_Bps);
    printf(",\n  \"net_bus_Bps\": ");
    cell_json_number(stdout, library->tuning.net_bus_Bps);
    printf(",\n  \"rows\": %" PRIu32 ",\n  \"residual_frac\": ", library->rows_count);
    cell_json_number(stdout, library->residual_frac);
    campaign_write_json(campaign);
    printf(",\n  \"parameters\": [");
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        write_json_parameter(library, (enum ar_library_parameter)i);
    }
    printf("\n  ],\n  \"accuracy\": ");
    accuracy_write_json(stdout, calibration->lines, calibration->lines_count);
    printf("\n}\n");
}

/* --- the command -------------------------------------------------------------------------- */

static enum ar_status report(const struct options *options, enum ar_row_format format,
                             const struct ar_cluster *cluster, const struct campaign *campaign,
                             struct ar_error *err)
{
    struct calibration calibration;
    char source[RESOURCE_PATH];
    enum ar_status status = calibration_run(options, cluster, campaign, &calibration, err);
    if (status != AR_OK) {
        return status;
    }
    if (options->out != NULL) {
        status = resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, source, err);
        if (status == AR_OK) {
            status = calibration_save(&calibration, campaign, options, cluster, source,
                                      options->out, err);
        }
    }
    if (status == AR_OK) {
        campaign_note(campaign, ar_tuning_release(&calibration.table.library.tuning), options);
        calibration_note(&calibration, options);
        format == AR_ROW_CSV    ? write_csv(&calibration)
        : format == AR_ROW_JSON ? write_json(&calibration, campaign)
                                : write_table(&calibration);
    }
    calibration_destroy(&calibration);
    return status;
}

/* What was fitted of the links goes to the file and to stdout. */
static enum ar_status report_numbers(const struct options *options, enum ar_row_format format,
                                     const struct ar_cluster *cluster,
                                     const struct campaign *campaign,
                                     const struct link_calibration *calibration,
                                     struct ar_error *err)
{
    char source[RESOURCE_PATH];
    enum ar_status status = AR_OK;
    if (options->out != NULL) {
        status = resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, source, err);
        if (status == AR_OK) {
            status = link_calibration_save(calibration, campaign, options, cluster, source,
                                           options->out, err);
        }
    }
    if (status == AR_OK) {
        campaign_note(campaign, NULL, options);
        link_calibration_note(calibration, options);
        link_calibration_print(calibration, campaign, format);
    }
    return status;
}

/* The links of the cluster are changed to those that were fitted. */
static enum ar_status report_links(const struct options *options, enum ar_row_format format,
                                   struct ar_cluster *cluster, const struct campaign *campaign,
                                   struct ar_error *err)
{
    struct link_calibration calibration;
    enum ar_status status = link_calibration_run(options, cluster, campaign, &calibration, err);
    if (status == AR_OK) {
        status = report_numbers(options, format, cluster, campaign, &calibration, err);
        link_calibration_destroy(&calibration);
    }
    return status;
}

/* One link of the cluster, measured between two processes. */
static enum ar_status report_pair(const struct options *options, enum ar_row_format format,
                                  const struct ar_cluster *cluster, struct ar_error *err)
{
    struct campaign campaign = {.rows_count = 0};
    struct link_calibration calibration;
    enum ar_status status = pair_calibration_run(options, cluster, &campaign, &calibration, err);
    if (status == AR_OK) {
        status = report_numbers(options, format, cluster, &campaign, &calibration, err);
    }
    campaign_destroy(&campaign);
    return status;
}

static enum ar_status load_cluster(const struct options *options, struct ar_cluster **cluster,
                                   struct ar_error *err)
{
    enum ar_status status = plan_load_cluster(options, cluster, err);
    if (status == AR_OK && ar_cluster_platform_path(*cluster) != NULL) {
        ar_cluster_destroy(*cluster);
        return ar_error_set(err, AR_USAGE,
                            "--cluster: found the platform file \"%.200s\"; expected a cluster "
                            "file, which can name a cost table",
                            options->cluster);
    }
    return status;
}

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    enum ar_row_format format;
    struct ar_cluster *cluster = NULL;
    struct campaign campaign = {.rows_count = 0};
    bool is_pair = false;
    enum ar_status status = ar_row_format_parse("--format", options->format, &format, err);
    if (status == AR_OK) {
        status = load_cluster(options, &cluster, err);
    }
    if (status == AR_OK) {
        status = pair_calibration_is_meant(options, &is_pair, err);
    }
    if (status == AR_OK && is_pair) {
        status = report_pair(options, format, cluster, err);
    } else if (status == AR_OK) {
        status = campaign_read(options, cluster, &campaign, err);
    }
    if (status == AR_OK && !is_pair) {
        status = campaign.is_own ? report_links(options, format, cluster, &campaign, err)
                                 : report(options, format, cluster, &campaign, err);
        campaign_destroy(&campaign);
    }
    ar_cluster_destroy(cluster);
    return status;
}
