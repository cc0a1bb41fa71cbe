/* Sentences about rows of steps and collectives: which algorithm is the fastest, by how much, and
 * where its time goes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_plot_table.h"
#include "ar_units.h"
#include "page.h"

#define ROW_LIST(X)                                                                                \
    X(string, cluster)                                                                             \
    X(string, trace)                                                                               \
    X(string, algorithm)                                                                           \
    X(string, shape)                                                                               \
    X(string, engine)                                                                              \
    X(string, baseline)                                                                            \
    X(string, operation)                                                                           \
    X(string, strategy)                                                                            \
    X(string, status)                                                                              \
    X(count, gpus)                                                                                 \
    X(count, payload_bytes)                                                                        \
    X(number, iteration_s)                                                                         \
    X(number, compute_s)                                                                           \
    X(number, allreduce_s)                                                                         \
    X(number, exposed_s)                                                                           \
    X(number, samples_per_s)                                                                       \
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
    X(number, memory_bytes)                                                                        \
    X(flag, exact)
struct row {
#define X(kind, field) ar_cell_##kind field;
    ROW_LIST(X)
#undef X
};
static const struct ar_column row_columns[] = {
#define X(kind, field)                                                                             \
    AR_COLUMN(kind, struct row, field, #field, "", .may_be_empty = true, .may_be_missing = true),
    ROW_LIST(X)
#undef X
        AR_COLUMN_OTHERS};

/* Columns beside the algorithm in which rows may differ; those that differ in one of them are not
 * compared as algorithms. */
static const struct circumstance {
    const char *column;
    const char *usual; /* another value is always named; NULL: values are named if they differ */
    bool is_key_value; /* its cells name what they mean */
    bool is_subject;   /* the sentence names it anyway */
} circumstances[] = {{.column = "cluster", .is_subject = true},
                     {.column = "trace"},
                     {.column = "batch_per_gpu"},
                     {.column = "precision"},
                     {.column = "baseline"},
                     {.column = "settings", .is_key_value = true},
                     {.column = "gradient_scale"},
                     {.column = "wire"},
                     {.column = "framework"},
                     {.column = "jitter_frac"},
                     {.column = "seed"},
                     {.column = "engine"},
                     {.column = "operation", .is_subject = true},
                     {.column = "mesh"},
                     {.column = "along"},
                     {.column = "root"},
                     {.column = "global_batch"},
                     {.column = "micro_batch"},
                     {.column = "strategy", .usual = "data"},
                     {.column = "schedule"},
                     {.column = "recompute"},
                     {.column = "sequence_parallel"},
                     {.column = "attention"},
                     {.column = "overlap"},
                     {.column = "prefetch"},
                     {.column = "bucket"}};

enum { CIRCUMSTANCES = sizeof circumstances / sizeof circumstances[0] };

struct rows {
    const struct ar_csv *csv;
    struct row *list;
    size_t count;
    size_t places[CIRCUMSTANCES]; /* columns of the file; SIZE_MAX: not in it */
    bool *is_named;               /* [row]: a sentence gives its time */
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
        if (strcmp(column, circumstances[i].column) == 0) {
            return true;
        }
    }
    return false;
}

/* --- finding rows ------------------------------------------------------------------------- */

static bool has_result(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return (row->status == NULL || strcmp(row->status, "ok") == 0) && row->gpus != AR_NO_COUNT &&
           !isnan(rows->is_step ? row->iteration_s : row->allreduce_s);
}

static bool rows_are_alike(const struct rows *rows, size_t a, size_t b)
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

/* The better row has the lower cost: time of a sample, or of a collective. */
static double row_cost(const struct rows *rows, size_t i)
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
    size_t alike;           /* in all circumstances of this row; SIZE_MAX: any */
    size_t but;             /* not this row; SIZE_MAX: any */
    const char *algorithm, *operation, *strategy; /* NULL: any */
};

static struct choice choose_gpus(uint64_t gpus)
{
    return (struct choice){
        .gpus = gpus, .payload_bytes = AR_NO_COUNT, .alike = SIZE_MAX, .but = SIZE_MAX};
}

static bool is_chosen(const struct rows *rows, const struct choice *choice, size_t i)
{
    const struct row *row = &rows->list[i];
    return has_result(rows, i) && i != choice->but && row->gpus == choice->gpus &&
           (choice->payload_bytes == AR_NO_COUNT || row->payload_bytes == choice->payload_bytes) &&
           (choice->alike == SIZE_MAX || rows_are_alike(rows, choice->alike, i)) &&
           (choice->algorithm == NULL || answer_texts_equal(row->algorithm, choice->algorithm)) &&
           (choice->operation == NULL || answer_texts_equal(row->operation, choice->operation)) &&
           (choice->strategy == NULL || answer_texts_equal(row->strategy, choice->strategy));
}

/* The best row of a choice, the first of equal ones; SIZE_MAX: there is none. */
static size_t find_best_row(const struct rows *rows, const struct choice *choice)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        if (is_chosen(rows, choice, i) &&
            (best == SIZE_MAX ||
             row_cost(rows, i) < row_cost(rows, best) * (1 - AR_PLOT_SAME_FRAC))) {
            best = i;
        }
    }
    return best;
}

/* Among the best rows of the other algorithms that are alike but for that: the fastest and the
 * slowest. */
struct others {
    size_t count, next, last;
};

static struct others find_others(const struct rows *rows, size_t best)
{
    struct others others = {.next = SIZE_MAX, .last = SIZE_MAX};
    for (size_t i = 0; i < rows->count; i++) {
        struct choice choice = choose_gpus(rows->list[best].gpus);
        choice.alike = best;
        choice.algorithm = rows->list[i].algorithm;
        if (!is_chosen(rows, &choice, i) || find_best_row(rows, &choice) != i ||
            answer_texts_equal(rows->list[i].algorithm, rows->list[best].algorithm)) {
            continue;
        }
        bool is_next = others.count == 0 || row_cost(rows, i) < row_cost(rows, others.next);
        bool is_last = others.count == 0 || row_cost(rows, i) > row_cost(rows, others.last);
        others.next = is_next ? i : others.next;
        others.last = is_last ? i : others.last;
        others.count++;
    }
    return others;
}

static uint64_t largest_gpus(const struct rows *rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        most = has_result(rows, i) && rows->list[i].gpus > most ? rows->list[i].gpus : most;
    }
    return most;
}

/* The least or the largest payload among rows of so many GPUs. */
static uint64_t find_payload(const struct rows *rows, uint64_t gpus, bool is_least)
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

static enum ar_status read_answer_rows(const struct ar_csv *csv, struct ar_arena *arena,
                                       struct rows *rows, struct ar_error *err)
{
    *rows = (struct rows){.csv = csv, .count = csv->rows_count};
    AR_TRY(answer_read(csv, AR_COLUMNS(row_columns), sizeof *rows->list, arena, &rows->list, err));
    rows->is_named = ar_arena_alloc(arena, rows->count + 1, sizeof *rows->is_named);
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        rows->places[i] = ar_csv_find_column(csv, circumstances[i].column);
    }
    for (size_t i = 0; i < rows->count; i++) {
        rows->is_step = rows->is_step || !isnan(rows->list[i].iteration_s);
    }
    return AR_OK;
}

/* --- sentences ---------------------------------------------------------------------------- */

static void write_algorithm(FILE *text, const struct row *row)
{
    bool has_shape = row->shape != NULL && row->shape[strspn(row->shape, "-")] != '\0';
    fprintf(text, "%s%s%s", row->algorithm != NULL ? row->algorithm : "?", has_shape ? " " : "",
            has_shape ? row->shape : "");
}

/* The time of a row that a sentence gives, which marks it as named. */
static double name_time(const struct rows *rows, size_t i)
{
    rows->is_named[i] = true;
    return rows->is_step ? rows->list[i].iteration_s : rows->list[i].allreduce_s;
}

static void write_less(FILE *text, const struct rows *rows, size_t best, size_t other)
{
    double frac = 1 - name_time(rows, best) / name_time(rows, other);
    if (fabs(frac) < 5e-4) {
        fputs("as much as ", text);
    } else {
        fprintf(text, "%.3g %% less than ", 100 * frac);
    }
}

/* Writes the circumstances in which a row differs from others, or from what is usual. */
static void write_circumstances(FILE *text, const struct rows *rows, size_t best)
{
    const char *between = " (";
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        const struct circumstance *kind = &circumstances[i];
        const char *cell =
            rows->places[i] != SIZE_MAX ? ar_csv_cell(rows->csv, best, rows->places[i]) : "";
        bool is_written = cell[0] != '\0' && kind->usual != NULL && strcmp(cell, kind->usual) != 0;
        for (size_t row = 0; row < rows->count && cell[0] != '\0' && !is_written; row++) {
            is_written = strcmp(ar_csv_cell(rows->csv, row, rows->places[i]), cell) != 0;
        }
        if (is_written && !kind->is_subject) {
            fputs(between, text);
            for (const char *at = kind->column; !kind->is_key_value && *at != '\0'; at++) {
                fputc(*at == '_' ? ' ' : *at, text);
            }
            fprintf(text, "%s%s", kind->is_key_value ? "" : " ", cell);
            between = ", ";
        }
    }
    fputs(between[0] == ',' ? ")" : "", text);
}

/* Writes the next best step, which differs in other things than its algorithm. */
static void write_next(FILE *text, const struct rows *rows, size_t best)
{
    struct choice others = choose_gpus(rows->list[best].gpus);
    others.but = best;
    size_t next = find_best_row(rows, &others);
    if (next != SIZE_MAX) {
        fputs(", ", text);
        write_less(text, rows, best, next);
        fputs("the next", text);
        write_circumstances(text, rows, next);
    }
}

/* The first row of this strategy. */
static size_t first_row_of_strategy(const struct rows *rows, const char *strategy)
{
    size_t i = 0;
    while (!answer_texts_equal(rows->list[i].strategy, strategy)) {
        i++;
    }
    return i;
}

/* The best row of each other strategy. */
static void write_strategies(FILE *text, const struct rows *rows, size_t best)
{
    const char *before = "Other strategies: ";
    for (size_t i = 0; i < rows->count && rows->is_step; i++) {
        const struct row *row = &rows->list[i];
        struct choice choice = choose_gpus(rows->list[best].gpus);
        choice.strategy = row->strategy;
        size_t found = SIZE_MAX;
        char time[AR_UNIT_TEXT];
        if (row->strategy != NULL && first_row_of_strategy(rows, row->strategy) == i &&
            !answer_texts_equal(row->strategy, rows->list[best].strategy)) {
            found = find_best_row(rows, &choice);
        }
        if (found != SIZE_MAX) {
            fprintf(text, "%s%s", before, ar_format_seconds(name_time(rows, found), time));
            write_circumstances(text, rows, found);
            before = ", ";
        }
    }
    fputs(before[0] == ',' ? ". " : "", text);
}

static void write_others(FILE *text, const struct rows *rows, size_t best, struct others others)
{
    if (others.count == 0 && rows->list[best].algorithm != NULL) {
        fputs(" with ", text);
        write_algorithm(text, &rows->list[best]);
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
}

static void write_best_row(FILE *text, const struct rows *rows, size_t best)
{
    char time[AR_UNIT_TEXT];
    char bytes[AR_UNIT_TEXT];
    const struct row *row = &rows->list[best];
    struct others others = find_others(rows, best);
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
    fprintf(text, " takes %s", ar_format_seconds(name_time(rows, best), time));
    write_others(text, rows, best, others);
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
    if (row->memory_bytes > 0 && row->memory_bytes < (double)UINT64_MAX) {
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
    bool is_of_step = row->iteration_s > 0;
    bool is_same = fabs(sum_s / row->allreduce_s - 1) <= 0.01;
    if (is_of_step) {
        fprintf(text, "Its collectives take %s; ", ar_format_seconds(row->allreduce_s, part));
    }
    if (is_same) {
        fprintf(text, "%sy the closed form ", is_of_step ? "b" : "B");
    } else {
        fprintf(text, "%she closed form has %s, of which ", is_of_step ? "t" : "T",
                ar_format_seconds(sum_s, part));
    }
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        double percent = 100 * terms[i].time_s / sum_s;
        fprintf(text, percent < 10 ? "%s%s is %.2g %%" : "%s%s is %.0f %%", i == 0 ? "" : ", ",
                terms[i].name, percent);
    }
    fputs(is_same ? " of that. " : ". ", text);
}

/* The next larger number of GPUs among rows like `best`; 0: none. */
static uint64_t next_gpus(const struct rows *rows, size_t best, uint64_t after)
{
    uint64_t next = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t gpus = rows->list[i].gpus;
        if (has_result(rows, i) && rows_are_alike(rows, best, i) && gpus > after &&
            (next == 0 || gpus < next)) {
            next = gpus;
        }
    }
    return next;
}

static const char *algorithm_name(const struct row *row)
{
    return row->algorithm != NULL ? row->algorithm : "?";
}

/* Which algorithm is the fastest from which number of GPUs on. */
static void write_winners(FILE *text, const struct rows *rows, size_t best)
{
    const char *winner = NULL;
    size_t changes = 0;
    for (uint64_t gpus = 0; (gpus = next_gpus(rows, best, gpus)) != 0;) {
        struct choice choice = choose_gpus(gpus);
        choice.alike = best;
        size_t fastest = find_best_row(rows, &choice);
        const struct row *row = &rows->list[fastest];
        if (winner == NULL || !answer_texts_equal(winner, algorithm_name(row))) {
            fprintf(text,
                    changes == 0 ? "By number of GPUs the fastest is %s from %" PRIu64 " on"
                                 : ", %s from %" PRIu64 " on",
                    algorithm_name(row), gpus);
            rows->is_named[fastest] = true;
            winner = algorithm_name(row);
            changes++;
        }
    }
    fputs(changes > 0 ? ". " : "", text);
}

/* Counts all rows with a result, or those that the answer names. */
static struct answer_trust count_trust(const struct rows *rows, bool has_named_only)
{
    struct answer_trust trust = {0};
    for (size_t i = 0; i < rows->count; i++) {
        if (has_result(rows, i) && (!has_named_only || rows->is_named[i])) {
            answer_add_trust(&trust, rows->list[i].exact, rows->list[i].engine);
        }
    }
    return trust;
}

static void write_trust(FILE *text, const struct rows *rows)
{
    struct answer_trust named = count_trust(rows, true);
    struct answer_trust all = count_trust(rows, false);
    size_t results = 0;
    for (size_t i = 0; i < rows->count; i++) {
        results += has_result(rows, i);
    }
    if (results < rows->count) {
        fprintf(text, "%zu row%s no result (column status). ", rows->count - results,
                rows->count - results == 1 ? " has" : "s have");
    }
    if (named.exact + named.estimates == 0) {
        return;
    }
    answer_write_trust(text, &named, "rows named here",
                       rows->is_step ? "; times of kernels were measured, or come from a table"
                                     : "");
    if (all.exact > 0 && all.estimates > 0) {
        fprintf(text, "%zu of all %zu rows %s. ", all.estimates, results,
                all.estimates == 1 ? "is an estimate" : "are estimates");
    }
    fputs("'allreckon accuracy' and 'allreckon reproduce' show how far predictions are from "
          "machines. ",
          text);
}

/* --- all ---------------------------------------------------------------------------------- */

/* The best row, of collectives that of the largest and of the least payload. */
static void write_operation(FILE *text, const struct rows *rows, size_t best)
{
    const struct row *row = &rows->list[best];
    struct choice least = choose_gpus(row->gpus);
    least.payload_bytes = find_payload(rows, row->gpus, true);
    least.operation = row->operation;
    write_best_row(text, rows, best);
    write_rates(text, row);
    write_parts(text, row);
    if (!rows->is_step && least.payload_bytes != row->payload_bytes) {
        size_t small = find_best_row(rows, &least);
        if (small != SIZE_MAX) {
            write_best_row(text, rows, small);
        }
    } else if (find_others(rows, best).count > 0) {
        write_winners(text, rows, best);
    }
    write_strategies(text, rows, best);
}

/* The best row of the operation of a row, which is its first one; SIZE_MAX if it is not. */
static size_t best_of_operation(const struct rows *rows, size_t row, uint64_t gpus)
{
    const char *operation = rows->list[row].operation;
    for (size_t i = 0; i < row; i++) {
        if (answer_texts_equal(rows->list[i].operation, operation)) {
            return SIZE_MAX;
        }
    }
    struct choice choice = choose_gpus(gpus);
    choice.payload_bytes = rows->is_step ? AR_NO_COUNT : find_payload(rows, gpus, false);
    choice.operation = operation;
    return find_best_row(rows, &choice);
}

enum ar_status answer_rows(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct rows rows;
    AR_TRY(read_answer_rows(csv, parts->arena, &rows, err));
    uint64_t gpus = largest_gpus(&rows);
    size_t first = SIZE_MAX;
    size_t operations = 0;
    for (size_t i = 0; i < rows.count; i++) {
        size_t best = best_of_operation(&rows, i, gpus);
        if (best != SIZE_MAX) {
            write_operation(text, &rows, best);
            first = operations++ == 0 ? best : first;
        }
    }
    if (first == SIZE_MAX) {
        *title = "Predictions";
        fprintf(text, "None of %zu rows has a result. ", rows.count);
        return AR_OK;
    }
    const struct row *row = &rows.list[first];
    const char *work = rows.is_step ? row->trace : operations == 1 ? row->operation : "collectives";
    *title = ar_arena_format(parts->arena, "%s on %s", work != NULL ? work : "Collectives",
                             row->cluster != NULL ? row->cluster : "a cluster");
    write_trust(text, &rows);
    return AR_OK;
}
