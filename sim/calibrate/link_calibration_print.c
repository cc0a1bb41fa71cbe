/* The report of a fit of links. */
#include <inttypes.h>
#include <math.h>

#include "ar_units.h"
#include "cells.h"
#include "link_calibration.h"

static const char *unit_of(enum ar_link_cost cost)
{
    static const char *const units[] = {
        [AR_LINK_SECONDS] = "s", [AR_LINK_RATE] = "B/s", [AR_LINK_SECONDS_PER_BYTE] = "s/B"};
    return units[ar_link_cost_unit(cost)];
}

const char *link_state_name(enum ar_link_state state)
{
    static const char *const names[] = {[AR_LINK_ABSENT] = "not in the file",
                                        [AR_LINK_ZERO] = "zero, stays",
                                        [AR_LINK_UNUSED] = "not used by the rows",
                                        [AR_LINK_UNIDENTIFIED] = "not identified",
                                        [AR_LINK_IDENTIFIED] = "identified"};
    return names[state];
}

const char *link_number_text(enum ar_link_cost cost, double value, char text[AR_UNIT_TEXT])
{
    switch (ar_link_cost_unit(cost)) {
    case AR_LINK_SECONDS:
        snprintf(text, AR_UNIT_TEXT, "%.6gus", value * 1e6);
        break;
    case AR_LINK_RATE:
        snprintf(text, AR_UNIT_TEXT, "%.6gGB/s", value / 1e9);
        break;
    default:
        snprintf(text, AR_UNIT_TEXT, "%.6gns/B", value * 1e9);
        break;
    }
    return text;
}

static void write_table(const struct link_calibration *calibration)
{
    const struct ar_link_fit *fit = &calibration->fit;
    printf("%s; %zu rows fitted, residual %.2f %%\n\n", calibration->model, fit->rows_count,
           fit->residual_frac * 100);
    printf("%-18s %14s %8s %-21s %14s\n", "parameter", "value", "+- (%)", "what the rows say",
           "in the file");
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        const struct ar_link_number *number = &fit->numbers[i];
        char value[AR_UNIT_TEXT];
        char prior[AR_UNIT_TEXT];
        char error[AR_UNIT_TEXT] = "-";
        if (number->state == AR_LINK_ABSENT) {
            continue;
        }
        if (isfinite(number->error_frac)) {
            snprintf(error, sizeof error, "%.1f", number->error_frac * 100);
        }
        printf("%-18s %14s %8s %-21s %14s\n", ar_link_cost_key(cost),
               link_number_text(cost, number->value, value), error, link_state_name(number->state),
               link_number_text(cost, number->prior, prior));
    }
    if (calibration->lines_count == 0) {
        return;
    }
    printf("\n");
    accuracy_write_table(stdout, calibration->lines, calibration->lines_count);
}

/* As the report of a library: parameters leave the columns of errors empty, and the other way
 * round.
 */
static void write_csv(const struct link_calibration *calibration)
{
    printf("kind,parameter,value,unit,relative_standard_error,identified,prior,prior_source,%s\n",
           accuracy_columns(calibration->is_by_gpus));
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        const struct ar_link_number *number = &calibration->fit.numbers[i];
        if (number->state == AR_LINK_ABSENT) {
            continue;
        }
        printf("parameter,%s,", ar_link_cost_key(cost));
        cell_csv_number(stdout, number->value);
        printf(",%s,", unit_of(cost));
        cell_csv_number(stdout, number->error_frac);
        printf(",%s,", number->state == AR_LINK_IDENTIFIED ? "yes" : "no");
        cell_csv_number(stdout, number->prior);
        printf(",cluster file,,,,,,,,,,,,\n");
    }
    for (size_t i = 0; i < calibration->lines_count; i++) {
        printf("accuracy,,,,,,,,");
        accuracy_write_csv(stdout, &calibration->lines[i]);
        putchar('\n');
    }
}

static void write_json_numbers(const struct ar_link_fit *fit)
{
    const char *separator = "";
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        const struct ar_link_number *number = &fit->numbers[i];
        if (number->state == AR_LINK_ABSENT) {
            continue;
        }
        printf("%s\n    {\"parameter\": \"%s\", \"value\": ", separator, ar_link_cost_key(cost));
        cell_json_number(stdout, number->value);
        printf(", \"unit\": \"%s\", \"relative_standard_error\": ", unit_of(cost));
        cell_json_number(stdout, number->error_frac);
        printf(", \"identified\": %s, \"state\": \"%s\", \"prior\": ",
               number->state == AR_LINK_IDENTIFIED ? "true" : "false",
               link_state_name(number->state));
        cell_json_number(stdout, number->prior);
        putchar('}');
        separator = ",";
    }
}

static void write_json(const struct link_calibration *calibration, const struct campaign *campaign)
{
    printf("{\n  \"rows\": %zu,\n  \"residual_frac\": ", calibration->fit.rows_count);
    cell_json_number(stdout, calibration->fit.residual_frac);
    campaign_write_json(campaign);
    printf(",\n  \"parameters\": [");
    write_json_numbers(&calibration->fit);
    printf("\n  ],\n  \"accuracy\": ");
    accuracy_write_json(stdout, calibration->lines, calibration->lines_count);
    printf("\n}\n");
}

void link_calibration_print(const struct link_calibration *calibration,
                            const struct campaign *campaign, enum ar_row_format format)
{
    format == AR_ROW_CSV    ? write_csv(calibration)
    : format == AR_ROW_JSON ? write_json(calibration, campaign)
                            : write_table(calibration);
}
