/* The answer: a paragraph of sentences whose numbers are those of the rows. */
#include "answer_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "ar_text.h"
#include "ar_units.h"

#define CELL(kind, owner, field)                                                                   \
    AR_COLUMN(kind, struct owner, field, #field, "", .may_be_empty = true, .may_be_missing = true)
#define NAMED(owner, field) AR_COLUMN(string, struct owner, field, #field, "a name")

void *answer_room(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                  struct ar_arena *arena)
{
    struct ar_columns named = {columns.list, columns.count - 1};
    char *records = ar_arena_alloc(arena, csv->rows_count + 1, size);
    for (size_t i = 0; records != NULL && i < csv->rows_count; i++) {
        ar_record_clear(named, records + i * size);
    }
    return records;
}

enum ar_status answer_read(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                           void *records, struct ar_error *err)
{
    return records == NULL ? ar_error_no_memory(err, "the report")
                           : ar_csv_read_rows(csv, columns, records, size, err);
}

/* The median of |values| that are numbers; NAN: there are none. The values are changed. */
static double median_of(double *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            values[kept++] = fabs(values[i]);
        }
    }
    if (kept == 0) {
        return NAN;
    }
    ar_sort(values, kept);
    return ar_quantile(values, kept, 0.5);
}

void answer_percent(FILE *text, const char *before, double frac, const char *after)
{
    if (!isnan(frac)) {
        fprintf(text, "%s%.3g %%%s", before, 100 * frac, after);
    }
}

/* --- train -------------------------------------------------------------------------------- */

struct run {
    const char *run, *phase, *cluster, *strategy, *algorithm, *shape, *engine;
    uint64_t gpus;
    double time_s, efficiency_frac, exposed_s;
    ar_cell_flag exact;
};
static const struct ar_column run_columns[] = {NAMED(run, run),
                                               CELL(string, run, phase),
                                               NAMED(run, cluster),
                                               CELL(string, run, strategy),
                                               CELL(string, run, algorithm),
                                               CELL(string, run, shape),
                                               CELL(string, run, engine),
                                               CELL(count, run, gpus),
                                               CELL(number, run, time_s),
                                               CELL(number, run, efficiency_frac),
                                               CELL(number, run, exposed_s),
                                               CELL(flag, run, exact),
                                               AR_COLUMN_OTHERS};

static bool is_last_phase(const struct run *runs, size_t count, size_t i)
{
    return i + 1 == count || strcmp(runs[i].run, runs[i + 1].run) != 0 ||
           runs[i].gpus != runs[i + 1].gpus;
}

/* Its time, and in brackets what it sends with and how well that scales. */
static void write_run(FILE *text, const struct run *run)
{
    char time[AR_UNIT_TEXT];
    bool has_algorithm = run->algorithm != NULL && run->algorithm[0] != '\0';
    bool has_shape =
        has_algorithm && run->shape != NULL && run->shape[strspn(run->shape, "-")] != '\0';
    bool has_efficiency = !isnan(run->efficiency_frac);
    fprintf(text, "%s on %llu GPUs", ar_format_seconds(run->time_s, time),
            (unsigned long long)run->gpus);
    fprintf(text, "%s%s%s%s", has_algorithm || has_efficiency ? " (" : "",
            has_algorithm ? run->algorithm : "", has_shape ? " " : "", has_shape ? run->shape : "");
    answer_percent(text, has_algorithm ? ", scaling efficiency " : "scaling efficiency ",
                   run->efficiency_frac, "");
    fputs(has_algorithm || has_efficiency ? ")" : "", text);
}

void answer_trust_add(struct answer_trust *trust, ar_cell_flag exact, const char *engine)
{
    if (exact == AR_NO_FLAG) {
        return;
    }
    bool is_first = trust->exact + trust->estimates == 0;
    trust->engine = is_first || rows_is_same(engine, trust->engine) ? engine : NULL;
    trust->exact += exact == 1;
    trust->estimates += exact == 0;
}

void answer_exact(FILE *text, const struct answer_trust *trust, const char *noun, const char *more)
{
    const char *engine = trust->engine != NULL ? trust->engine : "of each row";
    if (trust->estimates == 0) {
        fprintf(text, "Here engine %s follows exactly what is sent%s", engine, more);
    } else if (trust->exact == 0) {
        fprintf(text, "%s: engine %s neglects something of what is sent",
                trust->estimates == 1 ? "This is an estimate" : "These are estimates", engine);
    } else {
        fprintf(text,
                "Of the %zu %s %zu %s (column exact): engine %s neglects something of what is "
                "sent there, and follows the others exactly",
                trust->exact + trust->estimates, noun, trust->estimates,
                trust->estimates == 1 ? "is an estimate" : "are estimates", engine);
    }
    fputs(". ", text);
}

/* The sum of a run is an estimate if a phase of it is. */
static void write_estimates(FILE *text, const struct run *runs, size_t count)
{
    struct answer_trust trust = {0};
    for (size_t i = 0; i < count; i++) {
        if (is_last_phase(runs, count, i)) {
            answer_trust_add(&trust, runs[i].exact, runs[i].engine);
        }
    }
    if (trust.estimates > 0) {
        answer_exact(text, &trust, "times", "");
    }
}

/* The line of all phases is the last one of a run and a number of GPUs. */
enum ar_status answer_train(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                            const char **title, struct ar_error *err)
{
    struct run *runs = answer_room(csv, AR_COLUMNS(run_columns), sizeof *runs, arena);
    *title = "Time to train";
    AR_TRY(answer_read(csv, AR_COLUMNS(run_columns), sizeof *runs, runs, err));
    const struct run *first = NULL;
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct run *run = &runs[i];
        if (!is_last_phase(runs, csv->rows_count, i)) {
            continue;
        }
        bool is_new = first == NULL || strcmp(first->run, run->run) != 0;
        bool is_end = i + 1 == csv->rows_count || strcmp(run->run, runs[i + 1].run) != 0;
        first = is_new ? run : first;
        if (is_new) {
            bool is_named = run->strategy != NULL && *run->strategy != '\0' &&
                            strcmp(run->strategy, "data") != 0;
            fprintf(text, "%s%s%s on %s takes ", run->run, is_named ? " with strategy " : "",
                    is_named ? run->strategy : "", run->cluster);
        } else if (!is_end) {
            continue; /* the table has it */
        }
        fputs(is_new ? "" : " and ", text);
        write_run(text, run);
        if (is_end) {
            fputs(". ", text);
        }
    }
    write_estimates(text, runs, csv->rows_count);
    return AR_OK;
}

/* --- reproduce ---------------------------------------------------------------------------- */

struct result {
    const char *row, *title;
    double measured, predicted, error_frac;
    ar_cell_flag inside;
};
static const struct ar_column result_columns[] = {NAMED(result, row),
                                                  CELL(string, result, title),
                                                  CELL(number, result, measured),
                                                  CELL(number, result, predicted),
                                                  CELL(number, result, error_frac),
                                                  CELL(flag, result, inside),
                                                  AR_COLUMN_OTHERS};

enum ar_status answer_results(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                              const char **title, struct ar_error *err)
{
    struct result *results = answer_room(csv, AR_COLUMNS(result_columns), sizeof *results, arena);
    size_t both = 0, banded = 0, inside = 0;
    const struct result *worst = NULL;
    *title = "Published results, predicted";
    AR_TRY(answer_read(csv, AR_COLUMNS(result_columns), sizeof *results, results, err));
    double *errors = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *errors);
    AR_NEED(errors, err, "the report");
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct result *result = &results[i];
        if (!isnan(result->error_frac)) {
            errors[both++] = result->error_frac;
            worst = worst == NULL || fabs(result->error_frac) > fabs(worst->error_frac) ? result
                                                                                        : worst;
            banded += result->inside != AR_NO_FLAG;
            inside += result->inside == 1;
        }
    }
    fprintf(text, "%zu of %zu published results are predicted beside what was measured", both,
            csv->rows_count);
    answer_percent(text, ": the median error is ", median_of(errors, both), "");
    if (worst != NULL) {
        fprintf(text, ", the largest %+.3g %% (%s)", 100 * worst->error_frac,
                worst->title != NULL ? worst->title : worst->row);
    }
    fputs(". ", text);
    if (banded > 0) {
        fprintf(text,
                "%zu of %zu measured values are within the band of what is not known of the run. ",
                inside, banded);
    }
    return AR_OK;
}

/* --- compare ------------------------------------------------------------------------------ */

struct summed {
    const char *set;
    uint64_t nodes, rows;
    double median_frac, p95_frac, worst_frac, covered_frac;
};
static const struct ar_column summed_columns[] = {
    CELL(string, summed, set),          CELL(count, summed, nodes),
    CELL(count, summed, rows),          CELL(number, summed, median_frac),
    CELL(number, summed, p95_frac),     CELL(number, summed, worst_frac),
    CELL(number, summed, covered_frac), AR_COLUMN_OTHERS};

/* Lines of all node counts have none. */
enum ar_status answer_compared(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                               const char **title, struct ar_error *err)
{
    struct summed *sums = answer_room(csv, AR_COLUMNS(summed_columns), sizeof *sums, arena);
    *title = "Predicted beside measured";
    AR_TRY(answer_read(csv, AR_COLUMNS(summed_columns), sizeof *sums, sums, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct summed *sum = &sums[i];
        if (sum->nodes != AR_NO_COUNT || sum->set == NULL) {
            continue;
        }
        fprintf(text,
                "Of %llu %s calls the median error is %.3g %%, 95 %% are off by at most %.3g %%, "
                "the worst one by %.3g %%. ",
                (unsigned long long)sum->rows, sum->set, 100 * sum->median_frac,
                100 * sum->p95_frac, 100 * sum->worst_frac);
        answer_percent(text, "", sum->covered_frac, " of them are within the 95 % band. ");
    }
    return AR_OK;
}

struct call {
    const char *set;
    double predicted_s, low_s, high_s;
};
static const struct ar_column call_columns[] = {
    CELL(string, call, set), CELL(number, call, predicted_s), CELL(number, call, low_s),
    CELL(number, call, high_s), AR_COLUMN_OTHERS};

/* What the band is in which calls lie: one that spans everything holds everything. */
enum ar_status answer_band(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct call *calls = answer_room(csv, AR_COLUMNS(call_columns), sizeof *calls, arena);
    bool is_any_fitted = false;
    *title = "Predicted beside measured";
    AR_TRY(answer_read(csv, AR_COLUMNS(call_columns), sizeof *calls, calls, err));
    double *low = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *low);
    double *high = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *high);
    AR_NEED(low && high, err, "the report");
    for (size_t i = 0; i < csv->rows_count; i++) {
        low[i] = calls[i].low_s / calls[i].predicted_s;
        high[i] = calls[i].high_s / calls[i].predicted_s;
        is_any_fitted =
            is_any_fitted || (calls[i].set != NULL && strcmp(calls[i].set, "fitted") == 0);
    }
    double low_frac = median_of(low, csv->rows_count);
    double high_frac = median_of(high, csv->rows_count);
    if (!isnan(low_frac) && !isnan(high_frac)) {
        fprintf(text, "The band is from %.2g to %.2g times what is predicted, in the median%s. ",
                low_frac, high_frac, is_any_fitted ? "" : ": none of these rows was fitted");
    }
    return AR_OK;
}

/* --- accuracy ----------------------------------------------------------------------------- */

struct set {
    const char *set, *operation;
    uint64_t rows;
    double zero_shot_median_frac, fit_median_frac, held_out_median_frac, held_out_p95_frac;
    ar_cell_flag unseen;
};
static const struct ar_column set_columns[] = {NAMED(set, set),
                                               CELL(string, set, operation),
                                               CELL(count, set, rows),
                                               CELL(number, set, zero_shot_median_frac),
                                               CELL(number, set, fit_median_frac),
                                               CELL(number, set, held_out_median_frac),
                                               CELL(number, set, held_out_p95_frac),
                                               CELL(flag, set, unseen),
                                               AR_COLUMN_OTHERS};

/* Sets of which rows had been seen; their lines follow each other. */
static size_t count_seen(const struct set *sets, size_t count)
{
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen += sets[i].unseen == 0 && (i == 0 || strcmp(sets[i].set, sets[i - 1].set) != 0);
    }
    return seen;
}

/* The last line is of all sets, if there are several. */
enum ar_status answer_sets(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct set *sets = answer_room(csv, AR_COLUMNS(set_columns), sizeof *sets, arena);
    *title = "How wrong predictions are";
    AR_TRY(answer_read(csv, AR_COLUMNS(set_columns), sizeof *sets, sets, err));
    if (csv->rows_count == 0) {
        return AR_OK;
    }
    const struct set *all = &sets[csv->rows_count - 1];
    const struct set *worst = all;
    for (size_t i = 0; i + 1 < csv->rows_count; i++) {
        if (sets[i].held_out_median_frac > worst->held_out_median_frac ||
            isnan(worst->held_out_median_frac)) {
            worst = &sets[i];
        }
    }
    fprintf(text, "Of %llu measured collectives the median error is ",
            (unsigned long long)all->rows);
    answer_percent(text, "", all->zero_shot_median_frac, " with nothing fitted");
    answer_percent(text, ", ", all->fit_median_frac, " where all were fitted");
    answer_percent(text, ", and ", all->held_out_median_frac,
                   " on the largest node counts, which were not fitted");
    fputs(". ", text);
    if (worst != all) {
        fprintf(text, "There the worst of the sets is %s", worst->set);
        answer_percent(text, " with ", worst->held_out_median_frac, ". ");
    }
    size_t seen = count_seen(sets, csv->rows_count);
    if (seen > 0) {
        fprintf(text,
                "When something of the model was chosen, rows of %zu of the sets had been seen "
                "(column seen). ",
                seen);
    }
    return AR_OK;
}

/* --- layers ------------------------------------------------------------------------------- */

struct kind {
    const char *kind;
    double forward_measured_s, forward_predicted_s, backward_measured_s, backward_predicted_s;
};
static const struct ar_column kind_columns[] = {CELL(string, kind, kind),
                                                CELL(number, kind, forward_measured_s),
                                                CELL(number, kind, forward_predicted_s),
                                                CELL(number, kind, backward_measured_s),
                                                CELL(number, kind, backward_predicted_s),
                                                AR_COLUMN_OTHERS};

static void write_pass(FILE *text, const char *name, double measured_s, double predicted_s)
{
    char measured[AR_UNIT_TEXT];
    char predicted[AR_UNIT_TEXT];
    fprintf(text, "The %s pass took %s; computed are %s, %+.3g %%. ", name,
            ar_format_seconds(measured_s, measured), ar_format_seconds(predicted_s, predicted),
            100 * (predicted_s / measured_s - 1));
}

/* The last line is of all kinds. */
enum ar_status answer_kinds(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                            const char **title, struct ar_error *err)
{
    struct kind *kinds = answer_room(csv, AR_COLUMNS(kind_columns), sizeof *kinds, arena);
    *title = "Layers of a step, measured and computed";
    AR_TRY(answer_read(csv, AR_COLUMNS(kind_columns), sizeof *kinds, kinds, err));
    if (csv->rows_count > 0) {
        const struct kind *all = &kinds[csv->rows_count - 1];
        write_pass(text, "forward", all->forward_measured_s, all->forward_predicted_s);
        write_pass(text, "backward", all->backward_measured_s, all->backward_predicted_s);
    }
    return AR_OK;
}

/* --- all ---------------------------------------------------------------------------------- */

/* The first file that is there names what the page is about. */
static enum ar_status write_all(struct page_parts *parts, FILE *text, struct ar_error *err)
{
    const char *title = NULL;
    for (size_t i = 0; i < PAGE_FILES; i++) {
        const struct ar_csv *csv = parts->files[i];
        if (csv != NULL && page_sources[i].answer != NULL) {
            AR_TRY(page_sources[i].answer(csv, parts->arena, text, &title, err));
            parts->title = parts->title == NULL ? title : parts->title;
        }
    }
    parts->title = parts->title == NULL ? "Results" : parts->title;
    return AR_OK;
}

enum ar_status page_answer(struct page_parts *parts, struct ar_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    AR_NEED(file, err, "the report");
    enum ar_status status = write_all(parts, file, err);
    fclose(file);
    parts->answer = ar_arena_own(parts->arena, text, free);
    if (status == AR_OK && parts->answer == NULL) {
        return ar_error_no_memory(err, "the report");
    }
    if (status == AR_OK) {
        ar_text_to_line(text); /* cells may have ends of lines */
    }
    while (status == AR_OK && size > 0 && text[size - 1] == ' ') {
        text[--size] = '\0';
    }
    return status;
}
