#include "accuracy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cells.h"

const char *judged_set_name(enum judged_set set)
{
    static const char *const names[] = {
        [JUDGED_FITTED] = "fitted", [JUDGED_HELD_OUT] = "held-out", [JUDGED_FOLD] = "fold"};
    return names[set];
}

struct judged judged_by(const struct ar_library_prediction *prediction,
                        const struct ar_tuning *yardstick, const struct ar_library_row *row,
                        enum judged_set set)
{
    struct judged judged = {.row = *row,
                            .set = set,
                            .predicted_s = prediction->time_s,
                            .low_s = prediction->low_s,
                            .high_s = prediction->high_s,
                            .tuning_s =
                                ar_tuning_predict(yardstick, AR_CALLS_ANY, &row->run).time_s};
    snprintf(judged.choice, sizeof judged.choice, "%s/%s", ar_choice_algorithm(prediction->choice),
             ar_choice_protocol(prediction->choice));
    return judged;
}

struct judged judged_by_library(const struct ar_library *library, const struct ar_library_row *row,
                                enum judged_set set)
{
    struct ar_library_prediction prediction = ar_library_predict(library, AR_CALLS_ANY, &row->run);
    return judged_by(&prediction, &library->tuning, row, set);
}

static bool is_inside(const struct judged *judged)
{
    return judged->row.time_s >= judged->low_s && judged->row.time_s <= judged->high_s;
}

static bool is_of(const struct judged *judged, const struct accuracy *line)
{
    uint32_t count = line->by_gpus ? judged->row.run.ranks : judged->row.run.nodes;
    return judged->set == line->set && (line->nodes == 0 || count == line->nodes);
}

/* Sums up the rows of a line. `errors` is room. */
static struct accuracy sum_one(const struct judged *rows, size_t rows_count, struct accuracy line,
                               double *errors)
{
    size_t covered = 0;
    size_t count = 0;
    line.has_bands = true;
    for (size_t i = 0; i < rows_count; i++) {
        const struct judged *judged = &rows[i];
        if (is_of(judged, &line)) {
            errors[count++] = fabs(judged->predicted_s / judged->row.time_s - 1);
            covered += is_inside(judged);
            line.has_bands = line.has_bands && isfinite(judged->low_s);
        }
    }
    line.model = ar_library_error_of(errors, count, covered);
    count = 0;
    for (size_t i = 0; i < rows_count; i++) {
        const struct judged *judged = &rows[i];
        if (is_of(judged, &line) && isfinite(judged->tuning_s)) {
            errors[count++] = fabs(judged->tuning_s / judged->row.time_s - 1);
        }
    }
    line.tuning = ar_library_error_of(errors, count, 0);
    return line;
}

enum ar_status accuracy_sum(const struct judged *rows, size_t rows_count,
                            const struct ar_library_nodes *counts, bool by_gpus,
                            struct accuracy lines[ACCURACY_MAX], size_t *lines_count,
                            struct ar_error *err)
{
    double *errors = calloc(rows_count + 1, sizeof *errors);
    *lines_count = 0;
    if (errors == NULL) {
        return ar_error_no_memory(err, "the errors of predictions");
    }
    for (int set = 0; set < JUDGED_SETS; set++) {
        for (size_t i = 0; i <= counts->count; i++) {
            struct accuracy line = {.set = (enum judged_set)set,
                                    .by_gpus = by_gpus,
                                    .nodes = i == 0 ? 0 : counts->counts[i - 1]};
            line = sum_one(rows, rows_count, line, errors);
            if (line.model.count > 0) {
                lines[(*lines_count)++] = line;
            }
        }
    }
    free(errors);
    return AR_OK;
}

static void write_errors(FILE *file, const struct ar_library_error *error)
{
    if (error->count == 0) {
        fprintf(file, " %8s %8s %8s %8s", "-", "-", "-", "-");
        return;
    }
    fprintf(file, " %8.2f %8.2f %8.2f %8.2f", error->median_frac * 100, error->mean_frac * 100,
            error->p95_frac * 100, error->worst_frac * 100);
}

void accuracy_write_table(FILE *file, const struct accuracy *lines, size_t count)
{
    fprintf(file, "%-28s %-35s   %6s   %s\n", "|predicted / measured - 1| in %", "  model",
            "inside", "NCCL's own constants");
    fprintf(file, "%-10s %6s %6s  %8s %8s %8s %8s   %6s  %8s %8s %8s %8s\n", "rows",
            count > 0 && lines[0].by_gpus ? "gpus" : "nodes", "count", "median", "mean", "95th %",
            "worst", "band", "median", "mean", "95th %", "worst");
    for (size_t i = 0; i < count; i++) {
        const struct accuracy *line = &lines[i];
        char nodes[16] = "all";
        if (line->nodes > 0) {
            snprintf(nodes, sizeof nodes, "%" PRIu32, line->nodes);
        }
        fprintf(file, "%-10s %6s %6zu ", judged_set_name(line->set), nodes, line->model.count);
        write_errors(file, &line->model);
        if (line->has_bands) {
            fprintf(file, "   %5.1f%%", line->model.covered_frac * 100);
        } else {
            fprintf(file, "   %6s", "-");
        }
        fputc(' ', file);
        write_errors(file, &line->tuning);
        fputc('\n', file);
    }
}

/* The numbers of a line in the order of ACCURACY_COLUMNS. */
enum { NUMBERS_COUNT = 9 };

static void list_numbers(const struct accuracy *line, double numbers[NUMBERS_COUNT])
{
    const struct ar_library_error *model = &line->model;
    const struct ar_library_error *tuning = &line->tuning;
    bool has_tuning = tuning->count > 0;
    numbers[0] = model->median_frac;
    numbers[1] = model->mean_frac;
    numbers[2] = model->p95_frac;
    numbers[3] = model->worst_frac;
    numbers[4] = line->has_bands ? model->covered_frac : NAN;
    numbers[5] = has_tuning ? tuning->median_frac : NAN;
    numbers[6] = has_tuning ? tuning->mean_frac : NAN;
    numbers[7] = has_tuning ? tuning->p95_frac : NAN;
    numbers[8] = has_tuning ? tuning->worst_frac : NAN;
}

#define ACCURACY_COLUMNS_AFTER                                                                     \
    ",rows,median_frac,mean_frac,p95_frac,worst_frac,covered_frac,tuning_median_frac,"             \
    "tuning_mean_frac,tuning_p95_frac,tuning_worst_frac"

const char *accuracy_columns(bool by_gpus)
{
    return by_gpus ? "set,gpus" ACCURACY_COLUMNS_AFTER : "set,nodes" ACCURACY_COLUMNS_AFTER;
}

void accuracy_write_csv(FILE *file, const struct accuracy *line)
{
    double numbers[NUMBERS_COUNT];
    list_numbers(line, numbers);
    fprintf(file, "%s,", judged_set_name(line->set));
    cell_csv_count(file, line->nodes > 0 ? line->nodes : CELL_NO_COUNT);
    fprintf(file, ",%zu", line->model.count);
    for (int i = 0; i < NUMBERS_COUNT; i++) {
        fputc(',', file);
        cell_csv_number(file, numbers[i]);
    }
}

void accuracy_write_json(FILE *file, const struct accuracy *lines, size_t count)
{
    static const char *const names[] = {"median_frac",      "mean_frac",       "p95_frac",
                                        "worst_frac",       "covered_frac",    "tuning_median_frac",
                                        "tuning_mean_frac", "tuning_p95_frac", "tuning_worst_frac"};
    fputc('[', file);
    for (size_t i = 0; i < count; i++) {
        double numbers[NUMBERS_COUNT];
        list_numbers(&lines[i], numbers);
        fprintf(file, "%s\n    {\"set\": \"%s\", \"%s\": ", i > 0 ? "," : "",
                judged_set_name(lines[i].set), lines[i].by_gpus ? "gpus" : "nodes");
        cell_json_count(file, lines[i].nodes > 0 ? lines[i].nodes : CELL_NO_COUNT);
        fprintf(file, ", \"rows\": %zu", lines[i].model.count);
        for (int j = 0; j < NUMBERS_COUNT; j++) {
            fprintf(file, ", \"%s\": ", names[j]);
            cell_json_number(file, numbers[j]);
        }
        fputc('}', file);
    }
    fputs(count > 0 ? "\n  ]" : "]", file);
}

const char *accuracy_text(const struct accuracy *line, char text[ACCURACY_TEXT])
{
    static const char *const verbs[] = {[JUDGED_FITTED] = "fitted",
                                        [JUDGED_HELD_OUT] = "held out",
                                        [JUDGED_FOLD] = "held out in turn"};
    char nodes[32];
    const char *unit = line->by_gpus ? "GPU" : "node";
    snprintf(nodes, sizeof nodes, "all %s counts", unit);
    if (line->nodes > 0) {
        snprintf(nodes, sizeof nodes, "%" PRIu32 " %s%s", line->nodes, unit,
                 line->nodes == 1 ? "" : "s");
    }
    int used = snprintf(text, ACCURACY_TEXT,
                        "%s %s, %zu rows: median %.1f %%, mean %.1f %%, 95th percentile %.1f %%",
                        nodes, verbs[line->set], line->model.count, line->model.median_frac * 100,
                        line->model.mean_frac * 100, line->model.p95_frac * 100);
    if (line->tuning.count > 0 && used > 0 && used < ACCURACY_TEXT) {
        snprintf(text + used, (size_t)(ACCURACY_TEXT - used),
                 "; NCCL's own constants: %.1f, %.1f, %.1f %%", line->tuning.median_frac * 100,
                 line->tuning.mean_frac * 100, line->tuning.p95_frac * 100);
    }
    return text;
}
