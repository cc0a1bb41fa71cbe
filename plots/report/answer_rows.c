/* What rows of steps and collectives say: which algorithm is the fastest, by how much, and where
 * its time goes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "ar_units.h"

/* Engines agree no better: what differs by less takes the same time. */
#define SAME_FRAC 1e-6

struct row {
    const char *cluster, *trace, *algorithm, *shape, *engine, *baseline, *operation, *mesh, *status;
    uint64_t gpus, payload_bytes;
    double iteration_s, compute_s, allreduce_s, exposed_s, samples_per_s, efficiency_frac;
    double setup_s, latency_s, bandwidth_s, reduction_s, busbw_Bps, low_s, high_s;
    double tokens_per_s, mfu_frac, bubble_s, memory_bytes;
    ar_cell_flag exact, fits;
};

#define CELL(kind, field)                                                                          \
    AR_COLUMN(kind, struct row, field, #field, "", .may_be_empty = true, .may_be_missing = true)
static const struct ar_column columns[] = {CELL(string, cluster),
                                           CELL(string, trace),
                                           CELL(string, algorithm),
                                           CELL(string, shape),
                                           CELL(string, engine),
                                           CELL(string, baseline),
                                           CELL(string, operation),
                                           CELL(string, mesh),
                                           CELL(string, status),
                                           CELL(count, gpus),
                                           CELL(count, payload_bytes),
                                           CELL(number, iteration_s),
                                           CELL(number, compute_s),
                                           CELL(number, allreduce_s),
                                           CELL(number, exposed_s),
                                           CELL(number, samples_per_s),
                                           CELL(number, efficiency_frac),
                                           CELL(number, setup_s),
                                           CELL(number, latency_s),
                                           CELL(number, bandwidth_s),
                                           CELL(number, reduction_s),
                                           CELL(number, busbw_Bps),
                                           CELL(number, low_s),
                                           CELL(number, high_s),
                                           CELL(number, tokens_per_s),
                                           CELL(number, mfu_frac),
                                           CELL(number, bubble_s),
                                           CELL(number, memory_bytes),
                                           CELL(flag, exact),
                                           CELL(flag, fits),
                                           AR_COLUMN_OTHERS};

/* Rows that differ in one of these are not compared as algorithms. */
static const char *const circumstances[] = {"cluster",        "trace",
                                            "batch_per_gpu",  "precision",
                                            "baseline",       "settings",
                                            "gradient_scale", "wire",
                                            "framework",      "jitter_frac",
                                            "seed",           "engine",
                                            "operation",      "mesh",
                                            "along",          "root",
                                            "global_batch",   "micro_batch",
                                            "strategy",       "schedule",
                                            "recompute",      "sequence_parallel",
                                            "attention",      "overlap",
                                            "prefetch",       "bucket"};
enum { CIRCUMSTANCES = sizeof circumstances / sizeof circumstances[0] };

struct rows {
    const struct ar_csv *csv;
    struct row *list;
    size_t count;
    size_t places[CIRCUMSTANCES]; /* of columns; SIZE_MAX: not in the file */
    bool is_step;
};

bool answer_is_parameter(const char *column)
{
    static const char *const others[] = {"gpus",  "nodes",    "algorithm",
                                         "shape", "channels", "payload_bytes"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(column, others[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        if (strcmp(column, circumstances[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* --- finding ------------------------------------------------------------------------------ */

static bool is_same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool has_result(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return (row->status == NULL || strcmp(row->status, "ok") == 0) && row->gpus != AR_NO_COUNT &&
           !isnan(rows->is_step ? row->iteration_s : row->allreduce_s);
}

static bool is_alike(const struct rows *rows, size_t a, size_t b)
{
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        size_t place = rows->places[i];
        if (place != SIZE_MAX &&
            strcmp(ar_csv_cell(rows->csv, a, place), ar_csv_cell(rows->csv, b, place)) != 0) {
            return false;
        }
    }
    return rows->is_step || rows->list[a].payload_bytes == rows->list[b].payload_bytes;
}

/* What is less of the better row: time of a sample, or of a collective. */
static double cost_of(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return !rows->is_step           ? row->allreduce_s
           : row->samples_per_s > 0 ? 1 / row->samples_per_s
                                    : row->iteration_s;
}

/* Which rows are looked at. */
struct choice {
    uint64_t gpus;
    uint64_t payload_bytes; /* AR_NO_COUNT: any */
    size_t alike;           /* to this row; SIZE_MAX: to any */
    const char *algorithm;  /* NULL: any */
    size_t but;             /* not this row; SIZE_MAX: any */
};

static bool is_chosen(const struct rows *rows, const struct choice *choice, size_t i)
{
    const struct row *row = &rows->list[i];
    return has_result(rows, i) && i != choice->but && row->gpus == choice->gpus &&
           (choice->payload_bytes == AR_NO_COUNT || row->payload_bytes == choice->payload_bytes) &&
           (choice->alike == SIZE_MAX || is_alike(rows, choice->alike, i)) &&
           (choice->algorithm == NULL || is_same(row->algorithm, choice->algorithm));
}

/* The best row of a choice; SIZE_MAX: there is none. Of equal ones the first. */
static size_t best_of(const struct rows *rows, const struct choice *choice)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        if (is_chosen(rows, choice, i) &&
            (best == SIZE_MAX || cost_of(rows, i) < cost_of(rows, best) * (1 - SAME_FRAC))) {
            best = i;
        }
    }
    return best;
}

/* Among the best rows of other algorithms, alike but for that: the fastest and the slowest. */
struct others {
    size_t count, next, last;
};

static struct others others_of(const struct rows *rows, size_t best)
{
    struct others others = {.next = SIZE_MAX, .last = SIZE_MAX};
    for (size_t i = 0; i < rows->count; i++) {
        struct choice choice = {rows->list[best].gpus, AR_NO_COUNT, best, rows->list[i].algorithm,
                                SIZE_MAX};
        if (!is_chosen(rows, &choice, i) || best_of(rows, &choice) != i ||
            is_same(rows->list[i].algorithm, rows->list[best].algorithm)) {
            continue;
        }
        bool is_next = others.count == 0 || cost_of(rows, i) < cost_of(rows, others.next);
        bool is_last = others.count == 0 || cost_of(rows, i) > cost_of(rows, others.last);
        others.next = is_next ? i : others.next;
        others.last = is_last ? i : others.last;
        others.count++;
    }
    return others;
}

/* --- saying ------------------------------------------------------------------------------- */

static void write_algorithm(FILE *text, const struct row *row)
{
    bool has_shape = row->shape != NULL && row->shape[strspn(row->shape, "-")] != '\0';
    fprintf(text, "%s%s%s", row->algorithm != NULL ? row->algorithm : "?", has_shape ? " " : "",
            has_shape ? row->shape : "");
}

static double time_of(const struct rows *rows, size_t i)
{
    return rows->is_step ? rows->list[i].iteration_s : rows->list[i].allreduce_s;
}

static void write_less(FILE *text, const struct rows *rows, size_t best, size_t other)
{
    double frac = 1 - time_of(rows, best) / time_of(rows, other);
    if (fabs(frac) < 5e-4) {
        fputs("as much as ", text);
    } else {
        fprintf(text, "%.3g %% less than ", 100 * frac);
    }
}

/* How the best row differs from others in what is not its algorithm; a strategy that is not the
 * usual one is said in any case. */
static void write_circumstances(FILE *text, const struct rows *rows, size_t best)
{
    const char *between = " (";
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        const char *cell =
            rows->places[i] != SIZE_MAX ? ar_csv_cell(rows->csv, best, rows->places[i]) : "";
        bool varies = strcmp(circumstances[i], "strategy") == 0 && strcmp(cell, "data") != 0 &&
                      cell[0] != '\0';
        for (size_t row = 0; row < rows->count && cell[0] != '\0'; row++) {
            varies = varies || strcmp(ar_csv_cell(rows->csv, row, rows->places[i]), cell) != 0;
        }
        if (varies) {
            bool is_named = strcmp(circumstances[i], "settings") != 0; /* KEY=VALUE */
            fputs(between, text);
            for (const char *at = circumstances[i]; is_named && *at != '\0'; at++) {
                fputc(*at == '_' ? ' ' : *at, text);
            }
            fprintf(text, "%s%s", is_named ? " " : "", cell);
            between = ", ";
        }
    }
    fputs(between[0] == ',' ? ")" : "", text);
}

/* Of steps that differ in other things than their algorithm, the next one. */
static void write_next(FILE *text, const struct rows *rows, size_t best)
{
    const struct choice others = {rows->list[best].gpus, AR_NO_COUNT, SIZE_MAX, NULL, best};
    size_t next = best_of(rows, &others);
    if (next != SIZE_MAX) {
        fputs(", ", text);
        write_less(text, rows, best, next);
        fputs("the next", text);
        write_circumstances(text, rows, next);
    }
}

static void write_best(FILE *text, const struct rows *rows, size_t best)
{
    char time[AR_UNIT_TEXT];
    char bytes[AR_UNIT_TEXT];
    const struct row *row = &rows->list[best];
    struct others others = others_of(rows, best);
    fprintf(text, "On %" PRIu64 " GPUs of %s ", row->gpus,
            row->cluster != NULL ? row->cluster : "?");
    if (others.count > 0) {
        fprintf(text, "the fastest of %zu algorithms is ", others.count + 1);
        write_algorithm(text, row);
        fputs(": ", text);
    }
    if (rows->is_step) {
        fprintf(text, "a step of %s", row->trace != NULL ? row->trace : "?");
    } else {
        fprintf(text, "one %s of %s", row->operation != NULL ? row->operation : "allreduce",
                ar_format_bytes(row->payload_bytes, bytes));
    }
    write_circumstances(text, rows, best);
    fprintf(text, " takes %s", ar_format_seconds(time_of(rows, best), time));
    if (others.count == 0 && row->algorithm != NULL) {
        fputs(" with ", text);
        write_algorithm(text, row);
    }
    if (others.count == 0 && rows->is_step) {
        write_next(text, rows, best);
    }
    if (others.count > 0) {
        fputs(", ", text);
        write_less(text, rows, best, others.next);
        write_algorithm(text, &rows->list[others.next]);
        fputs(others.count > 1 ? ", the next" : "", text);
    }
    if (others.count > 1) {
        fputs(", and ", text);
        write_less(text, rows, best, others.last);
        write_algorithm(text, &rows->list[others.last]);
        fputs(", the slowest", text);
    }
    if (row->busbw_Bps > 0) {
        fprintf(text, "; its bus bandwidth is %s", ar_format_rate(row->busbw_Bps, bytes));
    }
    fputs(". ", text);
    if (!isnan(row->low_s) && !isnan(row->high_s)) {
        fprintf(text, "95 %% of such times are from %s to ", ar_format_seconds(row->low_s, time));
        fprintf(text, "%s. ", ar_format_seconds(row->high_s, time));
    }
}

static void write_rates(FILE *text, const struct row *row)
{
    bool has_samples = row->samples_per_s > 0;
    char bytes[AR_UNIT_TEXT];
    if (has_samples) {
        fprintf(text,
                row->samples_per_s < 1e4 ? "That is %.4g samples per second"
                                         : "That is %.0f samples per second",
                row->samples_per_s);
    }
    if (has_samples && row->efficiency_frac > 0 && row->baseline != NULL) {
        fprintf(text, ", a scaling efficiency of %.3g %% of one %s", 100 * row->efficiency_frac,
                row->baseline);
    }
    if (has_samples && row->mfu_frac > 0) {
        fprintf(text, ", %.3g %% of the peak of the GPUs", 100 * row->mfu_frac);
    }
    fputs(has_samples ? ". " : "", text);
    if (row->memory_bytes > 0) {
        fprintf(text, "The fullest GPU holds %s. ",
                ar_format_bytes((uint64_t)row->memory_bytes, bytes));
    }
}

/* Where the time goes; the parts of the all-reduce are those of the closed form. */
static void write_parts(FILE *text, const struct row *row)
{
    char part[AR_UNIT_TEXT];
    const struct {
        const char *name;
        double time_s;
    } terms[] = {{"latency", row->latency_s},
                 {"bandwidth", row->bandwidth_s},
                 {"reduction", row->reduction_s},
                 {"set-up", row->setup_s}};
    double sum_s = row->latency_s + row->bandwidth_s + row->reduction_s + row->setup_s;
    if (row->compute_s > 0 && row->exposed_s >= 0) {
        fprintf(text, "%s of it is computing, ", ar_format_seconds(row->compute_s, part));
        fprintf(text, "%s communication that nothing hides",
                ar_format_seconds(row->exposed_s, part));
        if (row->bubble_s > 0) {
            fprintf(text, " and waiting for other stages (%s)",
                    ar_format_seconds(row->bubble_s, part));
        }
        fputs(". ", text);
    }
    if (!(sum_s > 0)) {
        return;
    }
    if (row->iteration_s > 0) {
        fprintf(text, "Its collectives take %s; by the closed form ",
                ar_format_seconds(row->allreduce_s, part));
    } else {
        fputs("By the closed form ", text);
    }
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        double percent = 100 * terms[i].time_s / sum_s;
        fprintf(text, percent < 10 ? "%s%s is %.2g %%" : "%s%s is %.0f %%", i == 0 ? "" : ", ",
                terms[i].name, percent);
    }
    fputs(" of that. ", text);
}

/* The next larger number of GPUs among rows like `best`; 0: none. */
static uint64_t next_count(const struct rows *rows, size_t best, uint64_t after)
{
    uint64_t next = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t gpus = rows->list[i].gpus;
        if (has_result(rows, i) && is_alike(rows, best, i) && gpus > after &&
            (next == 0 || gpus < next)) {
            next = gpus;
        }
    }
    return next;
}

static const char *name_of(const struct row *row)
{
    return row->algorithm != NULL ? row->algorithm : "?";
}

/* Which algorithm is the fastest from which number of GPUs on. */
static void write_winners(FILE *text, const struct rows *rows, size_t best)
{
    const char *winner = NULL;
    size_t changes = 0;
    for (uint64_t gpus = 0; (gpus = next_count(rows, best, gpus)) != 0;) {
        struct choice choice = {gpus, AR_NO_COUNT, best, NULL, SIZE_MAX};
        const struct row *row = &rows->list[best_of(rows, &choice)];
        if (winner == NULL || !is_same(winner, name_of(row))) {
            fprintf(text,
                    changes == 0 ? "By number of GPUs the fastest is %s from %" PRIu64 " on"
                                 : ", %s from %" PRIu64 " on",
                    name_of(row), gpus);
            winner = name_of(row);
            changes++;
        }
    }
    fputs(changes > 0 ? ". " : "", text);
}

static void write_trust(FILE *text, const struct rows *rows, size_t best)
{
    size_t results = 0, exact = 0, estimates = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool is_result = has_result(rows, i);
        results += is_result;
        exact += is_result && rows->list[i].exact == 1;
        estimates += is_result && rows->list[i].exact == 0;
    }
    if (results < rows->count) {
        fprintf(text, "%zu row%s no result (column status). ", rows->count - results,
                rows->count - results == 1 ? " has" : "s have");
    }
    const struct row *row = &rows->list[best];
    if (row->exact != AR_NO_FLAG) {
        const char *engine = row->engine != NULL ? row->engine : "?";
        if (row->exact == 1) {
            fprintf(text, "What is sent is followed exactly (engine %s)%s", engine,
                    rows->is_step ? "; how long kernels take was measured, or is by a table" : "");
        } else {
            fprintf(text, "This is an estimate: engine %s neglects something of what is sent",
                    engine);
        }
        fputs(". ", text);
        if (exact > 0 && estimates > 0) {
            fprintf(text, "%zu of %zu rows %s. ", estimates, results,
                    estimates == 1 ? "is an estimate" : "are estimates");
        }
        fputs("How far the model is from machines, 'allreckon accuracy' and 'allreckon reproduce' "
              "say. ",
              text);
    }
}

/* --- a file ------------------------------------------------------------------------------- */

static enum ar_status read_all(const struct ar_csv *csv, struct ar_arena *arena, struct rows *rows,
                               struct ar_error *err)
{
    *rows = (struct rows){.csv = csv, .count = csv->rows_count};
    rows->list = answer_room(csv, AR_COLUMNS(columns), sizeof *rows->list, arena);
    AR_TRY(answer_read(csv, AR_COLUMNS(columns), sizeof *rows->list, rows->list, err));
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        rows->places[i] = SIZE_MAX;
        for (size_t k = 0; k < csv->columns_count; k++) {
            rows->places[i] = strcmp(csv->cells[k], circumstances[i]) == 0 ? k : rows->places[i];
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        rows->is_step = rows->is_step || !isnan(rows->list[i].iteration_s);
    }
    return AR_OK;
}

static uint64_t most_gpus(const struct rows *rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        most = has_result(rows, i) && rows->list[i].gpus > most ? rows->list[i].gpus : most;
    }
    return most;
}

/* The least or the largest payload among rows of so many GPUs. */
static uint64_t payload_of(const struct rows *rows, uint64_t gpus, bool is_least)
{
    uint64_t payload = AR_NO_COUNT;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t bytes = rows->list[i].payload_bytes;
        if (has_result(rows, i) && rows->list[i].gpus == gpus &&
            (payload == AR_NO_COUNT || (is_least ? bytes < payload : bytes > payload))) {
            payload = bytes;
        }
    }
    return payload;
}

enum ar_status answer_rows(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct rows rows;
    AR_TRY(read_all(csv, arena, &rows, err));
    uint64_t gpus = most_gpus(&rows);
    uint64_t least = rows.is_step ? AR_NO_COUNT : payload_of(&rows, gpus, true);
    uint64_t most = rows.is_step ? AR_NO_COUNT : payload_of(&rows, gpus, false);
    size_t best = best_of(&rows, &(const struct choice){gpus, most, SIZE_MAX, NULL, SIZE_MAX});
    if (best == SIZE_MAX) {
        *title = "Predictions";
        fprintf(text, "None of %zu rows has a result. ", rows.count);
        return AR_OK;
    }
    const struct row *row = &rows.list[best];
    const char *work = rows.is_step ? row->trace : row->operation;
    *title = ar_arena_format(arena, "%s on %s", work != NULL ? work : "Collectives",
                             row->cluster != NULL ? row->cluster : "a cluster");
    if (*title == NULL) {
        return ar_error_no_memory(err, "the report");
    }
    write_best(text, &rows, best);
    write_rates(text, row);
    write_parts(text, row);
    if (least != most) {
        write_best(text, &rows,
                   best_of(&rows, &(const struct choice){gpus, least, SIZE_MAX, NULL, SIZE_MAX}));
    } else if (others_of(&rows, best).count > 0) {
        write_winners(text, &rows, best);
    }
    write_trust(text, &rows, best);
    return AR_OK;
}
