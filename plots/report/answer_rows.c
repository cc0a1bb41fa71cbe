/* What rows of steps and collectives say: which algorithm is the fastest, by how much, and where
 * its time goes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answer_find.h"
#include "ar_units.h"

/* --- saying ------------------------------------------------------------------------------- */

static void write_algorithm(FILE *text, const struct row *row)
{
    bool has_shape = row->shape != NULL && row->shape[strspn(row->shape, "-")] != '\0';
    fprintf(text, "%s%s%s", row->algorithm != NULL ? row->algorithm : "?", has_shape ? " " : "",
            has_shape ? row->shape : "");
}

/* The time that a sentence gives of a row, which is one that the answer stands on from then on. */
static double said_time(const struct rows *rows, size_t i)
{
    rows->is_named[i] = true;
    return rows->is_step ? rows->list[i].iteration_s : rows->list[i].allreduce_s;
}

static void write_less(FILE *text, const struct rows *rows, size_t best, size_t other)
{
    double frac = 1 - said_time(rows, best) / said_time(rows, other);
    if (fabs(frac) < 5e-4) {
        fputs("as much as ", text);
    } else {
        fprintf(text, "%.3g %% less than ", 100 * frac);
    }
}

/* How a row differs from others in what is not its algorithm, and from what is usual. */
static void write_circumstances(FILE *text, const struct rows *rows, size_t best)
{
    const char *between = " (";
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        const struct circumstance *of = &circumstances[i];
        const char *cell =
            rows->places[i] != SIZE_MAX ? ar_csv_cell(rows->csv, best, rows->places[i]) : "";
        bool is_said = cell[0] != '\0' && of->usual != NULL && strcmp(cell, of->usual) != 0;
        for (size_t row = 0; row < rows->count && cell[0] != '\0' && !is_said; row++) {
            is_said = strcmp(ar_csv_cell(rows->csv, row, rows->places[i]), cell) != 0;
        }
        if (is_said && !of->is_subject) {
            fputs(between, text);
            for (const char *at = of->column; !of->is_key_value && *at != '\0'; at++) {
                fputc(*at == '_' ? ' ' : *at, text);
            }
            fprintf(text, "%s%s", of->is_key_value ? "" : " ", cell);
            between = ", ";
        }
    }
    fputs(between[0] == ',' ? ")" : "", text);
}

/* Of steps that differ in other things than their algorithm, the next one. */
static void write_next(FILE *text, const struct rows *rows, size_t best)
{
    const struct choice others = {.gpus = rows->list[best].gpus,
                                  .payload_bytes = AR_NO_COUNT,
                                  .alike = SIZE_MAX,
                                  .but = best};
    size_t next = rows_best(rows, &others);
    if (next != SIZE_MAX) {
        fputs(", ", text);
        write_less(text, rows, best, next);
        fputs("the next", text);
        write_circumstances(text, rows, next);
    }
}

/* The first row of this strategy. */
static size_t first_of(const struct rows *rows, const char *strategy)
{
    size_t i = 0;
    while (!rows_is_same(rows->list[i].strategy, strategy)) {
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
        const struct choice choice = {.gpus = rows->list[best].gpus,
                                      .payload_bytes = AR_NO_COUNT,
                                      .alike = SIZE_MAX,
                                      .but = SIZE_MAX,
                                      .strategy = row->strategy};
        size_t found = SIZE_MAX;
        char time[AR_UNIT_TEXT];
        if (row->strategy != NULL && first_of(rows, row->strategy) == i &&
            !rows_is_same(row->strategy, rows->list[best].strategy)) {
            found = rows_best(rows, &choice);
        }
        if (found != SIZE_MAX) {
            fprintf(text, "%s%s", before, ar_format_seconds(said_time(rows, found), time));
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

static void write_best(FILE *text, const struct rows *rows, size_t best)
{
    char time[AR_UNIT_TEXT];
    char bytes[AR_UNIT_TEXT];
    const struct row *row = &rows->list[best];
    struct others others = rows_others(rows, best);
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
    fprintf(text, " takes %s", ar_format_seconds(said_time(rows, best), time));
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
static uint64_t next_count(const struct rows *rows, size_t best, uint64_t after)
{
    uint64_t next = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t gpus = rows->list[i].gpus;
        if (rows_have_result(rows, i) && rows_are_alike(rows, best, i) && gpus > after &&
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
        struct choice choice = {
            .gpus = gpus, .payload_bytes = AR_NO_COUNT, .alike = best, .but = SIZE_MAX};
        size_t fastest = rows_best(rows, &choice);
        const struct row *row = &rows->list[fastest];
        if (winner == NULL || !rows_is_same(winner, name_of(row))) {
            fprintf(text,
                    changes == 0 ? "By number of GPUs the fastest is %s from %" PRIu64 " on"
                                 : ", %s from %" PRIu64 " on",
                    name_of(row), gpus);
            rows->is_named[fastest] = true;
            winner = name_of(row);
            changes++;
        }
    }
    fputs(changes > 0 ? ". " : "", text);
}

/* Of all rows with a result, or of those that the answer names. */
static struct answer_trust count_trust(const struct rows *rows, bool is_of_named)
{
    struct answer_trust trust = {0};
    for (size_t i = 0; i < rows->count; i++) {
        if (rows_have_result(rows, i) && (!is_of_named || rows->is_named[i])) {
            answer_trust_add(&trust, rows->list[i].exact, rows->list[i].engine);
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
        results += rows_have_result(rows, i);
    }
    if (results < rows->count) {
        fprintf(text, "%zu row%s no result (column status). ", rows->count - results,
                rows->count - results == 1 ? " has" : "s have");
    }
    if (named.exact + named.estimates == 0) {
        return;
    }
    answer_exact(text, &named, "rows named here",
                 rows->is_step ? "; how long kernels take was measured, or is by a table" : "");
    if (all.exact > 0 && all.estimates > 0) {
        fprintf(text, "%zu of all %zu rows %s. ", all.estimates, results,
                all.estimates == 1 ? "is an estimate" : "are estimates");
    }
    fputs(
        "How far the model is from machines, 'allreckon accuracy' and 'allreckon reproduce' say. ",
        text);
}

/* --- all ---------------------------------------------------------------------------------- */

/* The best row, of collectives that of the largest and of the least payload. */
static void write_operation(FILE *text, const struct rows *rows, size_t best)
{
    const struct row *row = &rows->list[best];
    const struct choice least = {.gpus = row->gpus,
                                 .payload_bytes = rows_payload(rows, row->gpus, true),
                                 .alike = SIZE_MAX,
                                 .but = SIZE_MAX,
                                 .operation = row->operation};
    write_best(text, rows, best);
    write_rates(text, row);
    write_parts(text, row);
    if (!rows->is_step && least.payload_bytes != row->payload_bytes) {
        size_t small = rows_best(rows, &least);
        if (small != SIZE_MAX) {
            write_best(text, rows, small);
        }
    } else if (rows_others(rows, best).count > 0) {
        write_winners(text, rows, best);
    }
    write_strategies(text, rows, best);
}

/* The best row of the operation of a row, which is its first one; SIZE_MAX if it is not. */
static size_t best_of_operation(const struct rows *rows, size_t row, uint64_t gpus)
{
    const char *operation = rows->list[row].operation;
    for (size_t i = 0; i < row; i++) {
        if (rows_is_same(rows->list[i].operation, operation)) {
            return SIZE_MAX;
        }
    }
    const struct choice choice = {.gpus = gpus,
                                  .payload_bytes =
                                      rows->is_step ? AR_NO_COUNT : rows_payload(rows, gpus, false),
                                  .alike = SIZE_MAX,
                                  .but = SIZE_MAX,
                                  .operation = operation};
    return rows_best(rows, &choice);
}

enum ar_status answer_rows(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct rows rows;
    AR_TRY(rows_read(csv, arena, &rows, err));
    uint64_t gpus = rows_most_gpus(&rows);
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
    *title = ar_arena_format(arena, "%s on %s", work != NULL ? work : "Collectives",
                             row->cluster != NULL ? row->cluster : "a cluster");
    AR_NEED(*title, err, "the report");
    write_trust(text, &rows);
    return AR_OK;
}
