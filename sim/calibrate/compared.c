#include "ar_compared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a row was to the fit, as a word and in a sentence. */
static const struct {
    const char *name, *verb;
} sets[] = {[AR_COMPARED_FITTED] = {"fitted", "fitted"},
            [AR_COMPARED_HELD_OUT] = {"held-out", "held out"},
            [AR_COMPARED_FOLD] = {"fold", "held out in turn"}};

struct ar_compared ar_compared_make(const struct ar_library_row *row, enum ar_compared_set set,
                                    const char *choice,
                                    const struct ar_library_prediction *prediction,
                                    const struct ar_tuning *reference)
{
    bool has_rate = reference != NULL && (row->run.nodes == 1 || reference->net_bus_Bps > 0);
    double tuning_s = has_rate ? ar_tuning_predict(reference, AR_CALLS_ANY, &row->run).time_s : NAN;
    return (struct ar_compared){.row = *row,
                                .set = set,
                                .set_name = sets[set].name,
                                .choice = choice,
                                .predicted_s = prediction->time_s,
                                .error_frac = prediction->time_s / row->time_s - 1,
                                .low_s = prediction->low_s,
                                .high_s = prediction->high_s,
                                .tuning_s = tuning_s,
                                .tuning_error_frac = tuning_s / row->time_s - 1};
}

const char *ar_compared_own(const struct ar_collective *collective, struct ar_arena *arena)
{
    char shape[AR_SHAPE_TEXT];
    return ar_arena_format(arena, "%s %s", collective->algorithm->name,
                           ar_shape_format(&collective->shape, shape));
}

/* --- errors ------------------------------------------------------------------------------- */

static bool is_inside(const struct ar_compared *compared)
{
    return compared->row.time_s >= compared->low_s && compared->row.time_s <= compared->high_s;
}

/* Whether a row belongs to a line of errors. */
static bool is_of(const struct ar_compared *compared, const struct ar_compared_error *line,
                  const struct ar_measured *measured)
{
    return compared->set == line->set &&
           (line->nodes == AR_NO_COUNT ||
            line->nodes == ar_measured_group(measured, &compared->row.run));
}

/* Sums up the rows of a line. `errors` has room for all rows. */
static void sum_line(const struct ar_compared *rows, size_t rows_count,
                     const struct ar_measured *measured, double *errors,
                     struct ar_compared_error *line)
{
    size_t covered = 0;
    size_t count = 0;
    bool has_bands = true;
    for (size_t i = 0; i < rows_count; i++) {
        if (is_of(&rows[i], line, measured)) {
            errors[count++] = fabs(rows[i].error_frac);
            covered += is_inside(&rows[i]);
            has_bands = has_bands && isfinite(rows[i].low_s);
        }
    }
    line->model = ar_library_error_of(errors, count, covered);
    if (!has_bands) {
        line->model.covered_frac = NAN;
    }
    count = 0;
    for (size_t i = 0; i < rows_count; i++) {
        if (is_of(&rows[i], line, measured) && isfinite(rows[i].tuning_s)) {
            errors[count++] = fabs(rows[i].tuning_error_frac);
        }
    }
    line->tuning = ar_library_error_of(errors, count, 0);
}

enum ar_status ar_compared_sum(const struct ar_compared *rows, size_t rows_count,
                               const struct ar_measured *measured, struct ar_arena *arena,
                               struct ar_compared_errors *errors, struct ar_error *err)
{
    const struct ar_library_nodes *counts = ar_measured_groups(measured);
    double *values = ar_arena_alloc(arena, rows_count + 1, sizeof *values);
    *errors = (struct ar_compared_errors){.is_by_gpus = ar_measured_is_by_gpus(measured)};
    errors->lines =
        ar_arena_alloc(arena, AR_COMPARED_SETS * (counts->count + 1), sizeof *errors->lines);
    if (values == NULL || errors->lines == NULL) {
        return ar_error_no_memory(err, "the errors of predictions");
    }
    for (int set = 0; set < AR_COMPARED_SETS; set++) {
        for (size_t i = 0; i <= counts->count; i++) {
            struct ar_compared_error *line = &errors->lines[errors->count];
            *line =
                (struct ar_compared_error){.set = (enum ar_compared_set)set,
                                           .set_name = sets[set].name,
                                           .nodes = i == 0 ? AR_NO_COUNT : counts->counts[i - 1]};
            sum_line(rows, rows_count, measured, values, line);
            errors->count += line->model.count > 0;
        }
    }
    return AR_OK;
}

double ar_compared_held_out(const struct ar_compared_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct ar_compared_error *line = &errors->lines[i];
        if (line->set == AR_COMPARED_HELD_OUT && line->nodes == AR_NO_COUNT) {
            return line->model.median_frac;
        }
    }
    return NAN;
}

char *ar_compared_text(const struct ar_compared_errors *errors, size_t index,
                       struct ar_arena *arena)
{
    const struct ar_compared_error *line = &errors->lines[index];
    const char *unit = errors->is_by_gpus ? "GPU" : "node";
    char nodes[32];
    char tuning[96] = "";
    if (line->nodes == AR_NO_COUNT) {
        snprintf(nodes, sizeof nodes, "all %s counts", unit);
    } else {
        snprintf(nodes, sizeof nodes, "%" PRIu64 " %s%s", line->nodes, unit,
                 line->nodes == 1 ? "" : "s");
    }
    if (line->tuning.count > 0) {
        snprintf(tuning, sizeof tuning, "; NCCL's own constants: %.1f, %.1f, %.1f %%",
                 line->tuning.median_frac * 100, line->tuning.mean_frac * 100,
                 line->tuning.p95_frac * 100);
    }
    return ar_arena_format(
        arena, "%s %s, %zu rows: median %.1f %%, mean %.1f %%, 95th percentile %.1f %%%s", nodes,
        sets[line->set].verb, line->model.count, line->model.median_frac * 100,
        line->model.mean_frac * 100, line->model.p95_frac * 100, tuning);
}

/* --- as records --------------------------------------------------------------------------- */

#define COLUMN(kind, field, name, ...)                                                             \
    AR_COLUMN(kind, struct ar_compared_error, field, name, __VA_ARGS__)
#define PERCENT(title) .heading = title, .factor = 100, .decimals = 2

static const struct ar_column error_columns[AR_COMPARED_ERROR_COLUMNS] = {
    COLUMN(string, set_name, "set", "what the rows were to the fit", .heading = "rows"),
    COLUMN(count, nodes, "nodes", "count of the rows; all if empty", .heading = "nodes"),
    COLUMN(count, model.count, "rows", "how many", .heading = "count"),
    COLUMN(number, model.median_frac, "median_frac", "of |predicted / measured - 1|",
           PERCENT("error, median\n(%)")),
    COLUMN(number, model.mean_frac, "mean_frac", "of the same", PERCENT("mean\n(%)")),
    COLUMN(number, model.p95_frac, "p95_frac", "95th percentile", PERCENT("95th %\n(%)")),
    COLUMN(number, model.worst_frac, "worst_frac", "largest", PERCENT("worst\n(%)")),
    COLUMN(number, model.covered_frac, "covered_frac", "rows within their 95 % band",
           .heading = "inside band\n(%)", .factor = 100, .decimals = 1, .is_rare = true),
    COLUMN(number, tuning.median_frac, "tuning_median_frac", "the same by NCCL's own constants",
           PERCENT("NCCL's own, median\n(%)"), .is_rare = true),
    COLUMN(number, tuning.mean_frac, "tuning_mean_frac", "of them", PERCENT("mean\n(%)"),
           .is_rare = true),
    COLUMN(number, tuning.p95_frac, "tuning_p95_frac", "of them", PERCENT("95th %\n(%)"),
           .is_rare = true),
    COLUMN(number, tuning.worst_frac, "tuning_worst_frac", "of them", PERCENT("worst\n(%)"),
           .is_rare = true),
};

void ar_compared_error_columns(bool is_by_gpus, size_t offset,
                               struct ar_column columns[AR_COMPARED_ERROR_COLUMNS])
{
    memcpy(columns, error_columns, sizeof error_columns);
    for (size_t i = 0; i < AR_COMPARED_ERROR_COLUMNS; i++) {
        columns[i].offset += offset;
    }
    if (is_by_gpus) {
        columns[1].name = "gpus";
        columns[1].heading = "gpus";
    }
}

enum ar_status ar_compared_write(FILE *file, enum ar_format format,
                                 const struct ar_compared_errors *errors, struct ar_error *err)
{
    struct ar_column list[AR_COMPARED_ERROR_COLUMNS];
    struct ar_columns columns = {list, AR_COMPARED_ERROR_COLUMNS};
    ar_compared_error_columns(errors->is_by_gpus, 0, list);
    if (format == AR_FORMAT_JSON) {
        ar_json_array(file, columns, errors->lines, errors->count, sizeof *errors->lines);
        return AR_OK;
    }
    return ar_records_write(file, format, columns, errors->lines, errors->count,
                            sizeof *errors->lines, err);
}
