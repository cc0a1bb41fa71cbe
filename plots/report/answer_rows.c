/* Sentences about rows of steps and collectives: which algorithm is the fastest, by how much, and
 * where its time goes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot_table.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "ar_units.h"
#include "page.h"

#define ROW_LIST(X)                                                                                \
    X(string, cluster)                                                                             \
    X(string, trace)                                                                               \
    X(string, algorithm)                                                                           \
    X(string, shape)                                                                               \
    X(string, baseline)                                                                            \
    X(string, operation)                                                                           \
    X(string, status)                                                                              \
    X(number, gpus)                                                                                \
    X(number, payload_bytes)                                                                       \
    X(number, iteration_s)                                                                         \
    X(number, compute_s)                                                                           \
    X(number, allreduce_s)                                                                         \
    X(number, exposed_s)                                                                           \
    X(number, samples_per_s)                                                                       \
    X(number, tokens_per_s)                                                                        \
    X(number, efficiency_frac)                                                                     \
    X(number, setup_s)                                                                             \
    X(number, latency_s)                                                                           \
    X(number, bandwidth_s)                                                                         \
    X(number, reduction_s)                                                                         \
    X(number, busbw_Bps)                                                                           \
    X(number, low_s)                                                                               \
    X(number, high_s)                                                                              \
    X(number, mfu_frac)                                                                            \
    X(number, bubble_s)                                                                            \
    X(number, slowest_s)                                                                           \
    X(number, memory_bytes)
struct row {
    ROW_LIST(AR_LIST_FIELD)
};

/* Columns beside the algorithm in which rows may differ; those that differ in one of them are not
 * compared as algorithms. */
#define CIRCUMSTANCES                                                                              \
    "cluster trace batch_per_gpu precision baseline settings gradient_scale wire framework "       \
    "jitter_frac seed engine operation mesh along root global_batch micro_batch strategy "         \
    "schedule recompute sequence_parallel attention overlap prefetch bucket"

enum { RUNS_SHOWN = 4 };

struct rows {
    const struct ar_csv *csv;
    struct row *list;
    size_t count;
    size_t places[AR_CSV_COLUMNS_MAX], places_count; /* of the circumstances that the file has */
    bool is_step;
};

bool answer_is_parameter(const char *column)
{
    return ar_text_has_word(CIRCUMSTANCES " gpus nodes algorithm shape channels payload_bytes",
                            column);
}

/* --- finding rows ------------------------------------------------------------------------- */

static bool has_result(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return (row->status[0] == '\0' || strcmp(row->status, "ok") == 0) && !isnan(row->gpus) &&
           !isnan(rows->is_step ? row->iteration_s : row->allreduce_s);
}

/* Equal, or both unknown. */
static bool are_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool rows_are_alike(const struct rows *rows, size_t a, size_t b)
{
    for (size_t i = 0; i < rows->places_count; i++) {
        size_t place = rows->places[i];
        if (strcmp(ar_csv_cell(rows->csv, a, place), ar_csv_cell(rows->csv, b, place)) != 0) {
            return false;
        }
    }
    return rows->is_step || are_equal(rows->list[a].payload_bytes, rows->list[b].payload_bytes);
}

/* The better row has the lower cost: time of a sample, or of a collective. */
static double row_cost(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return !rows->is_step           ? row->allreduce_s
           : row->samples_per_s > 0 ? 1 / row->samples_per_s
                                    : row->iteration_s;
}

/* The best of the rows of so many GPUs with this payload (NAN: any) and the operation and cluster
 * of `like`, the first of equal ones; SIZE_MAX: there is none. */
static size_t find_best_row(const struct rows *rows, double gpus, double payload_bytes,
                            const struct row *like)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        if (has_result(rows, i) && row->gpus == gpus &&
            (isnan(payload_bytes) || row->payload_bytes == payload_bytes) &&
            strcmp(row->operation, like->operation) == 0 &&
            strcmp(row->cluster, like->cluster) == 0 &&
            (best == SIZE_MAX ||
             row_cost(rows, i) < row_cost(rows, best) * (1 - AR_PLOT_SAME_FRAC))) {
            best = i;
        }
    }
    return best;
}

/* The least or the largest payload among rows of so many GPUs. */
static double find_payload(const struct rows *rows, double gpus, bool is_least)
{
    double payload = (double)NAN;
    for (size_t i = 0; i < rows->count; i++) {
        double bytes = rows->list[i].payload_bytes;
        if (has_result(rows, i) && rows->list[i].gpus == gpus &&
            (isnan(payload) || (is_least ? bytes < payload : bytes > payload))) {
            payload = bytes;
        }
    }
    return payload;
}

#define READ(kind, field) rows.list[i].field = page_##kind(csv, i, #field);

static struct rows read_answer_rows(const struct ar_csv *csv, struct ar_arena *arena)
{
    struct rows rows = {.csv = csv, .count = csv->rows_count};
    rows.list = ar_arena_alloc(arena, rows.count + 1, sizeof *rows.list);
    AR_EACH_WORD(column, CIRCUMSTANCES) {
        rows.places[rows.places_count] = ar_csv_find_column(csv, column);
        rows.places_count += rows.places[rows.places_count] != SIZE_MAX;
    }
    for (size_t i = 0; i < rows.count; i++) {
        ROW_LIST(READ)
        rows.is_step = rows.is_step || !isnan(rows.list[i].iteration_s);
    }
    return rows;
}

/* --- sentences ---------------------------------------------------------------------------- */

static const char *known_or(const char *text, const char *otherwise)
{
    return text[0] != '\0' ? text : otherwise;
}

static void write_algorithm(FILE *text, const struct row *row)
{
    bool has_shape = row->shape[strspn(row->shape, "-")] != '\0';
    fprintf(text, "%s%s%s", known_or(row->algorithm, "?"), has_shape ? " " : "",
            has_shape ? row->shape : "");
}

/* Writes the circumstances in which a row differs from others, or from what is usual. */
static void write_circumstances(FILE *text, const struct rows *rows, size_t best)
{
    const char *between = " (";
    for (size_t i = 0; i < rows->places_count; i++) {
        size_t place = rows->places[i];
        const char *column = rows->csv->cells[place];
        const char *cell = ar_csv_cell(rows->csv, best, place);
        bool is_written = strcmp(column, "strategy") == 0 && strcmp(cell, "data") != 0;
        for (size_t row = 0; row < rows->count && !is_written; row++) {
            is_written = strcmp(ar_csv_cell(rows->csv, row, place), cell) != 0;
        }
        if (!is_written || cell[0] == '\0' || ar_text_has_word("cluster operation", column)) {
            continue; /* the sentence begins with these two */
        }
        fputs(between, text);
        if (strcmp(column, "settings") != 0) { /* which name what they mean */
            for (const char *at = column; *at != '\0'; at++) {
                fputc(*at == '_' ? ' ' : *at, text);
            }
            fputc(' ', text);
        }
        fputs(cell, text);
        between = ", ";
    }
    fputs(between[0] == ',' ? ")" : "", text);
}

static double row_time_s(const struct rows *rows, size_t i)
{
    return rows->is_step ? rows->list[i].iteration_s : rows->list[i].allreduce_s;
}

static void write_best_row(FILE *text, const struct rows *rows, size_t best)
{
    /* The best of the rows that differ from a row only in their algorithm; SIZE_MAX: none. */
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        if (has_result(rows, i) && rows->list[i].gpus == rows->list[best].gpus &&
            rows_are_alike(rows, best, i) &&
            strcmp(rows->list[i].algorithm, rows->list[best].algorithm) != 0 &&
            (next == SIZE_MAX ||
             row_cost(rows, i) < row_cost(rows, next) * (1 - AR_PLOT_SAME_FRAC))) {
            next = i;
        }
    }
    const struct row *row = &rows->list[best];
    fprintf(text, "On %s GPUs of %s ", AR_SHOW_NUMBER(row->gpus), known_or(row->cluster, "?"));
    if (next != SIZE_MAX) {
        fputs("the fastest algorithm is ", text);
        write_algorithm(text, row);
        fputs(": ", text);
    }
    if (rows->is_step) {
        fprintf(text, "a step of %s", known_or(row->trace, "?"));
    } else {
        fprintf(text, "one %s of %s", known_or(row->operation, "allreduce"),
                isnan(row->payload_bytes) ? "?" : AR_SHOW_BYTES((uint64_t)row->payload_bytes));
    }
    write_circumstances(text, rows, best);
    fprintf(text, " takes %s", AR_SHOW_SECONDS(row_time_s(rows, best)));
    if (next != SIZE_MAX) {
        double frac = 1 - row_time_s(rows, best) / row_time_s(rows, next);
        if (fabs(frac) < 5e-4) {
            fputs(", as much as ", text);
        } else {
            fprintf(text, ", %.3g %% less than ", 100 * frac);
        }
        write_algorithm(text, &rows->list[next]);
        fputs(", the next", text);
    } else if (row->algorithm[0] != '\0') {
        fputs(" with ", text);
        write_algorithm(text, row);
    }
    if (row->busbw_Bps > 0) {
        fprintf(text, "; its bus bandwidth is %s", AR_SHOW_RATE(row->busbw_Bps));
    }
    fputs(". ", text);
}

static void write_rates(FILE *text, const struct row *row)
{
    bool has_samples = row->samples_per_s > 0;
    double rate = has_samples ? row->samples_per_s : row->tokens_per_s;
    double fewest_gpus = strtod(row->baseline, NULL); /* "16 gpus": the fastest layout there */
    if (rate > 0) {
        fprintf(text, "That is %s %s per second", AR_SHOW_NUMBER(rate),
                has_samples ? "samples" : "tokens");
    }
    if (rate > 0 && row->efficiency_frac > 0 && row->baseline[0] != '\0' &&
        fewest_gpus != row->gpus) {
        fprintf(text, ", a scaling efficiency of %.3g %% of ", 100 * row->efficiency_frac);
        if (fewest_gpus > 0) {
            fprintf(text, "the fastest layout on %s GPUs", AR_SHOW_NUMBER(fewest_gpus));
        } else {
            fprintf(text, "one %s", row->baseline);
        }
    }
    if (rate > 0 && row->mfu_frac > 0) {
        fprintf(text, ", %.3g %% of the peak of the GPUs", 100 * row->mfu_frac);
    }
    fputs(rate > 0 ? ". " : "", text);
    if (row->memory_bytes > 0 && row->memory_bytes < (double)UINT64_MAX) {
        fprintf(text, "The fullest GPU holds %s. ", AR_SHOW_BYTES((uint64_t)row->memory_bytes));
    }
}

/* Where the time goes; the share of the all-reduce is that of the closed form. */
static void write_parts(FILE *text, const struct row *row)
{
    const struct {
        const char *name;
        double time_s;
    } terms[] = {{"latency", row->latency_s},
                 {"bandwidth", row->bandwidth_s},
                 {"reduction", row->reduction_s},
                 {"set-up", row->setup_s}};
    double sum_s = row->latency_s + row->bandwidth_s + row->reduction_s + row->setup_s;
    size_t most = 0;
    if (row->compute_s > 0 && row->exposed_s >= 0) {
        fprintf(text, "%s of it is computing, %s communication that nothing hides",
                AR_SHOW_SECONDS(row->compute_s), AR_SHOW_SECONDS(row->exposed_s));
        double slowest_s = fmax(row->slowest_s, 0), stages_s = row->bubble_s - slowest_s;
        if (stages_s > 1e-9 * row->iteration_s) {
            fprintf(text, ", %s waiting for other stages", AR_SHOW_SECONDS(stages_s));
        }
        if (slowest_s > 0) {
            fprintf(text, ", %s waiting for the slowest GPU", AR_SHOW_SECONDS(slowest_s));
        }
        fputs(". ", text);
    }
    for (size_t i = 1; i < sizeof terms / sizeof terms[0]; i++) {
        most = terms[i].time_s > terms[most].time_s ? i : most;
    }
    if (sum_s > 0 && row->iteration_s > 0) {
        fprintf(text, "Its collectives take %s, by the closed form %.0f %% for %s. ",
                AR_SHOW_SECONDS(row->allreduce_s), 100 * terms[most].time_s / sum_s,
                terms[most].name);
    } else if (sum_s > 0) {
        fprintf(text, "By the closed form %.0f %% of the time of one %s is %s. ",
                100 * terms[most].time_s / sum_s, known_or(row->operation, "allreduce"),
                terms[most].name);
    }
}

/* Writes a published value, and that of the fastest row of the same work on so many GPUs. A time of
 * a step depends on the batch: none of another layout stands beside it. */
static void write_run_beside(FILE *text, const struct ar_page_run *run, const struct rows *rows,
                             const char *operation)
{
    char cell[AR_UNIT_TEXT];
    const char *value = "", *column = run->quantity;
    struct ar_plot_unit unit = ar_plot_unit_of(column, run->measured);
    const struct row like = {.operation = operation, .cluster = run->cluster};
    size_t best = find_best_row(rows, run->gpus, (double)NAN, &like);
    column = strcmp(column, "images_per_s") == 0 ? "samples_per_s" : column;
    if (best != SIZE_MAX && strcmp(rows->list[best].trace, run->work) == 0 &&
        strcmp(column, "iteration_s") != 0) {
        value = ar_csv_text(rows->csv, best, column);
    }
    fprintf(text, "%s: ", run->title);
    snprintf(cell, sizeof cell, "%.9g", run->measured);
    ar_plot_write_measure(text, cell, unit);
    if (unit.name[0] == '\0') { /* a rate */
        fputc(' ', text);
        ar_plot_write_name(text, run->quantity, unit);
    }
    if (value[0] != '\0') {
        fputs(" (the fastest here ", text);
        ar_plot_write_measure(text, value, unit);
        fputs(")", text);
    }
}

void answer_write_runs(FILE *text, const struct page_parts *parts, const struct rows *rows,
                       const char *cluster, const char *work, double gpus, const char *operation)
{
    static const struct rows no_rows;
    size_t count = 0, runs_count = parts->request->runs_count;
    for (size_t i = 0; i < 2 * runs_count; i++) { /* first those on as many GPUs */
        const struct ar_page_run *run = &parts->request->runs[i % runs_count];
        if (strcmp(run->cluster, cluster) == 0 && strcmp(run->work, work) == 0 &&
            (run->gpus == gpus) == (i < runs_count) && count++ < RUNS_SHOWN) {
            fputs(count == 1 ? "Measured by others: " : "; ", text);
            write_run_beside(text, run, rows != NULL ? rows : &no_rows, operation);
        }
    }
    fprintf(text, count > RUNS_SHOWN ? "; %zu more. " : count > 0 ? ". " : "", count - RUNS_SHOWN);
}

static void write_trust(FILE *text, const struct page_parts *parts, const struct rows *rows,
                        size_t best)
{
    static const char noted[] = "note: how sure: half "; /* as sim/predict/step_errors.c has it */
    const struct row *row = &rows->list[best];
    size_t failed = 0;
    for (size_t i = 0; i < rows->count; i++) {
        failed += !has_result(rows, i);
    }
    if (!isnan(row->low_s) && !isnan(row->high_s)) {
        fprintf(text, "95 %% of such times are from %s to %s. ", AR_SHOW_SECONDS(row->low_s),
                AR_SHOW_SECONDS(row->high_s));
    }
    answer_write_runs(text, parts, rows, row->cluster, row->trace, row->gpus, row->operation);
    const char *band = strstr(parts->notes, noted);
    if (band != NULL) {
        band += strlen(noted);
        fprintf(text, "Half %.*s. ", (int)strcspn(band, "\n"), band);
    }
    fprintf(text, "'allreckon %s' shows how far predictions are from machines. ",
            rows->is_step ? "reproduce" : "accuracy");
    answer_write_trust(text, rows->csv, best);
    if (failed > 0) {
        fprintf(text, "%zu row%s no result (column status). ", failed,
                failed == 1 ? " has" : "s have");
    }
}

/* --- all ---------------------------------------------------------------------------------- */

void answer_rows(struct page_parts *parts, const struct ar_csv *csv)
{
    FILE *text = parts->what;
    const struct rows rows = read_answer_rows(csv, parts->arena);
    double gpus = 0; /* the most that have a result */
    size_t first = SIZE_MAX;
    bool has_operations = false, has_clusters = false; /* more than one */
    for (size_t i = 0; i < rows.count; i++) {
        gpus = has_result(&rows, i) ? fmax(gpus, rows.list[i].gpus) : gpus;
        has_operations |= strcmp(rows.list[i].operation, rows.list[0].operation) != 0;
        has_clusters |= strcmp(rows.list[i].cluster, rows.list[0].cluster) != 0;
    }
    double payload_bytes = rows.is_step ? (double)NAN : find_payload(&rows, gpus, false);
    for (size_t best = 0; best < rows.count; best++) { /* of each operation and cluster */
        if (find_best_row(&rows, gpus, payload_bytes, &rows.list[best]) != best) {
            continue;
        }
        const struct row *row = &rows.list[best];
        double least_bytes = find_payload(&rows, row->gpus, true);
        first = first == SIZE_MAX ? best : first;
        if (parts->files[PAGE_ADVICE] != NULL) {
            continue; /* plans have said it */
        }
        write_best_row(text, &rows, best);
        write_rates(text, row);
        fprintf(parts->why, "%s%s", has_clusters ? row->cluster : "", has_clusters ? ": " : "");
        write_parts(parts->why, row);
        if (!rows.is_step && !are_equal(least_bytes, row->payload_bytes)) {
            size_t small = find_best_row(&rows, row->gpus, least_bytes, row);
            if (small != SIZE_MAX) {
                write_best_row(text, &rows, small);
            }
        }
    }
    if (first == SIZE_MAX) {
        fprintf(text, "None of %zu rows has a result. ", rows.count);
        return;
    }
    const struct row *row = &rows.list[first];
    const char *work = rows.is_step ? row->trace : has_operations ? "collectives" : row->operation;
    write_trust(parts->sure, parts, &rows, first);
    parts->title = parts->title != NULL
                       ? parts->title
                       : ar_arena_format(parts->arena, "%s on %s", known_or(work, "Collectives"),
                                         has_clusters ? "several clusters"
                                                      : known_or(row->cluster, "a cluster"));
}
