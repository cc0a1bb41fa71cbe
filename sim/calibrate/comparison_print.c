/* Predictions beside measured all-reduces, as table, CSV and JSON. */
#include <inttypes.h>
#include <math.h>

#include "cells.h"
#include "comparison.h"

static double error_of(const struct judged *judged, double predicted_s)
{
    return predicted_s / judged->row.time_s - 1;
}

void comparison_write_table(const struct comparison *comparison)
{
    printf("%5s %6s %12s %14s %14s %12s %12s %9s %-13s %-8s %12s %9s\n", "nodes", "gpus",
           "payload (B)", "measured (us)", "predicted (us)", "low (us)", "high (us)", "error (%)",
           "choice", "rows", "NCCL's (us)", "error (%)");
    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct judged *row = &comparison->rows[i];
        printf("%5" PRIu32 " %6" PRIu32 " %12.0f %14.2f %14.2f", row->row.run.nodes,
               row->row.run.ranks, row->row.run.bytes, row->row.time_s * 1e6,
               row->predicted_s * 1e6);
        if (isfinite(row->low_s)) {
            printf(" %12.2f %12.2f", row->low_s * 1e6, row->high_s * 1e6);
        } else {
            printf(" %12s %12s", "-", "-");
        }
        printf(" %+9.1f %-13s %-8s", error_of(row, row->predicted_s) * 100, row->choice,
               judged_set_name(row->set));
        if (isfinite(row->tuning_s)) {
            printf(" %12.2f %+9.1f\n", row->tuning_s * 1e6, error_of(row, row->tuning_s) * 100);
        } else {
            printf(" %12s %9s\n", "-", "-");
        }
    }
    printf("\n");
    accuracy_write_table(stdout, comparison->lines, comparison->lines_count);
}

#define NUMBERS_MAX 8

static const char *const number_names[NUMBERS_MAX] = {
    "payload_bytes", "measured_s", "predicted_s", "low_s",
    "high_s",        "error_frac", "tuning_s",    "tuning_error_frac"};

static void list_numbers(const struct judged *row, double numbers[NUMBERS_MAX])
{
    numbers[0] = row->row.run.bytes;
    numbers[1] = row->row.time_s;
    numbers[2] = row->predicted_s;
    numbers[3] = row->low_s;
    numbers[4] = row->high_s;
    numbers[5] = error_of(row, row->predicted_s);
    numbers[6] = row->tuning_s;
    numbers[7] = error_of(row, row->tuning_s);
}

void comparison_write_csv(FILE *file, const struct comparison *comparison)
{
    fprintf(file, "nodes,gpus,choice,set");
    for (size_t i = 0; i < NUMBERS_MAX; i++) {
        fprintf(file, ",%s", number_names[i]);
    }
    fputc('\n', file);
    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct judged *row = &comparison->rows[i];
        double numbers[NUMBERS_MAX];
        list_numbers(row, numbers);
        fprintf(file, "%" PRIu32 ",%" PRIu32 ",%s,%s", row->row.run.nodes, row->row.run.ranks,
                row->choice, judged_set_name(row->set));
        for (size_t j = 0; j < NUMBERS_MAX; j++) {
            fputc(',', file);
            cell_csv_number(file, numbers[j]);
        }
        fputc('\n', file);
    }
}

void comparison_write_json(const struct comparison *comparison)
{
    printf("{\n  \"rows\": [");
    for (size_t i = 0; i < comparison->rows_count; i++) {
        const struct judged *row = &comparison->rows[i];
        double numbers[NUMBERS_MAX];
        list_numbers(row, numbers);
        printf("%s\n    {\"nodes\": %" PRIu32 ", \"gpus\": %" PRIu32 ", \"choice\": ",
               i > 0 ? "," : "", row->row.run.nodes, row->row.run.ranks);
        cell_json_text(stdout, row->choice);
        printf(", \"set\": \"%s\"", judged_set_name(row->set));
        for (size_t j = 0; j < NUMBERS_MAX; j++) {
            printf(", \"%s\": ", number_names[j]);
            cell_json_number(stdout, numbers[j]);
        }
        putchar('}');
    }
    printf("\n  ],\n  \"accuracy\": ");
    accuracy_write_json(stdout, comparison->lines, comparison->lines_count);
    printf("\n}\n");
}
