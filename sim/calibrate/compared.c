#include "ar_compared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *ar_compared_set_name(enum ar_compared_set set)
{
    static const char *const names[] = {[AR_COMPARED_FITTED] = "fitted",
                                        [AR_COMPARED_HELD_OUT] = "held-out",
                                        [AR_COMPARED_FOLD] = "fold"};
    return names[set];
}

struct ar_compared ar_compared_by(const struct ar_library_prediction *prediction,
                                  const struct ar_tuning *reference,
                                  const struct ar_library_row *row, enum ar_compared_set set)
{
    struct ar_compared compared = {
        .row = *row,
        .set = set,
        .predicted_s = prediction->time_s,
        .low_s = prediction->low_s,
        .high_s = prediction->high_s,
        .tuning_s = ar_tuning_predict(reference, AR_CALLS_ANY, &row->run).time_s};
    snprintf(compared.choice, sizeof compared.choice, "%s/%s",
             ar_choices[prediction->choice].algorithm, ar_choices[prediction->choice].protocol);
    return compared;
}

struct ar_compared ar_compared_by_library(const struct ar_library *library,
                                          const struct ar_library_row *row,
                                          enum ar_compared_set set)
{
    struct ar_library_prediction prediction = ar_library_predict(library, AR_CALLS_ANY, &row->run);
    return ar_compared_by(&prediction, &library->tuning, row, set);
}

static bool is_inside(const struct ar_compared *compared)
{
    return compared->row.time_s >= compared->low_s && compared->row.time_s <= compared->high_s;
}

/* Whether a row belongs to a line of errors. */
static bool is_of(const struct ar_compared *compared, const struct ar_compared_error *line,
                  bool is_by_gpus)
{
    uint32_t count = is_by_gpus ? compared->row.run.ranks : compared->row.run.nodes;
    return compared->set == line->set && (line->nodes == 0 || count == line->nodes);
}

/* Sums up the rows of a line. `errors` has room for all rows. */
static void sum_line(const struct ar_compared *rows, size_t rows_count, bool is_by_gpus,
                     double *errors, struct ar_compared_error *line)
{
    size_t covered = 0;
    size_t count = 0;
    line->has_bands = true;
    for (size_t i = 0; i < rows_count; i++) {
        if (is_of(&rows[i], line, is_by_gpus)) {
            errors[count++] = fabs(rows[i].predicted_s / rows[i].row.time_s - 1);
            covered += is_inside(&rows[i]);
            line->has_bands = line->has_bands && isfinite(rows[i].low_s);
        }
    }
    line->model = ar_library_error_of(errors, count, covered);
    count = 0;
    for (size_t i = 0; i < rows_count; i++) {
        if (is_of(&rows[i], line, is_by_gpus) && isfinite(rows[i].tuning_s)) {
            errors[count++] = fabs(rows[i].tuning_s / rows[i].row.time_s - 1);
        }
    }
    line->tuning = ar_library_error_of(errors, count, 0);
}

enum ar_status ar_compared_sum(const struct ar_compared *rows, size_t rows_count,
                               const struct ar_library_nodes *counts, bool is_by_gpus,
                               struct ar_arena *arena, struct ar_compared_errors *errors,
                               struct ar_error *err)
{
    double *values = ar_arena_alloc(arena, rows_count + 1, sizeof *values);
    *errors = (struct ar_compared_errors){.is_by_gpus = is_by_gpus};
    errors->lines =
        ar_arena_alloc(arena, AR_COMPARED_SETS * (counts->count + 1), sizeof *errors->lines);
    if (values == NULL || errors->lines == NULL) {
        return ar_error_no_memory(err, "the errors of predictions");
    }
    for (int set = 0; set < AR_COMPARED_SETS; set++) {
        for (size_t i = 0; i <= counts->count; i++) {
            struct ar_compared_error *line = &errors->lines[errors->count];
            *line = (struct ar_compared_error){.set = (enum ar_compared_set)set,
                                               .nodes = i == 0 ? 0 : counts->counts[i - 1]};
            sum_line(rows, rows_count, is_by_gpus, values, line);
            errors->count += line->model.count > 0;
        }
    }
    return AR_OK;
}

double ar_compared_held_out(const struct ar_compared_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct ar_compared_error *line = &errors->lines[i];
        if (line->set == AR_COMPARED_HELD_OUT && line->nodes == 0) {
            return line->model.median_frac;
        }
    }
    return NAN;
}

const char *ar_compared_text(const struct ar_compared_errors *errors, size_t index,
                             char text[AR_COMPARED_TEXT])
{
    const struct ar_compared_error *line = &errors->lines[index];
    static const char *const verbs[] = {[AR_COMPARED_FITTED] = "fitted",
                                        [AR_COMPARED_HELD_OUT] = "held out",
                                        [AR_COMPARED_FOLD] = "held out in turn"};
    char nodes[32];
    const char *unit = errors->is_by_gpus ? "GPU" : "node";
    snprintf(nodes, sizeof nodes, "all %s counts", unit);
    if (line->nodes > 0) {
        snprintf(nodes, sizeof nodes, "%" PRIu32 " %s%s", line->nodes, unit,
                 line->nodes == 1 ? "" : "s");
    }
    int used = snprintf(text, AR_COMPARED_TEXT,
                        "%s %s, %zu rows: median %.1f %%, mean %.1f %%, 95th percentile %.1f %%",
                        nodes, verbs[line->set], line->model.count, line->model.median_frac * 100,
                        line->model.mean_frac * 100, line->model.p95_frac * 100);
    if (line->tuning.count > 0 && used > 0 && used < AR_COMPARED_TEXT) {
        snprintf(text + used, (size_t)(AR_COMPARED_TEXT - used),
                 "; NCCL's own constants: %.1f, %.1f, %.1f %%", line->tuning.median_frac * 100,
                 line->tuning.mean_frac * 100, line->tuning.p95_frac * 100);
    }
    return text;
}
