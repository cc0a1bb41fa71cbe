/* The answer: a paragraph of sentences whose numbers are those of the rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "ar_text.h"
#include "ar_units.h"
#include "page.h"

enum ar_status answer_read(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                           struct ar_arena *arena, void *records, struct ar_error *err)
{
    struct ar_columns named = {columns.list, columns.count - 1};
    char *list = ar_arena_alloc(arena, csv->rows_count + 1, size);
    for (size_t i = 0; i < csv->rows_count; i++) {
        ar_record_clear(named, list + i * size);
    }
    memcpy(records, &list, sizeof list);
    return ar_csv_read_rows(csv, columns, list, size, err);
}

bool answer_texts_equal(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
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

void answer_write_percent(FILE *text, const char *before, double frac, const char *after)
{
    if (!isnan(frac)) {
        fprintf(text, "%s%.3g %%%s", before, 100 * frac, after);
    }
}

/* --- train -------------------------------------------------------------------------------- */

#define RUN_LIST(X, NEEDED)                                                                        \
    NEEDED(run, string, run)                                                                       \
    X(run, string, phase)                                                                          \
    NEEDED(run, string, cluster)                                                                   \
    X(run, string, strategy)                                                                       \
    X(run, string, algorithm)                                                                      \
    X(run, string, shape)                                                                          \
    X(run, string, engine)                                                                         \
    X(run, count, gpus)                                                                            \
    X(run, number, time_s)                                                                         \
    X(run, number, efficiency_frac)                                                                \
    X(run, number, exposed_s)                                                                      \
    X(run, flag, exact)
ANSWER_RECORD(run, RUN_LIST);

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
    answer_write_percent(text, has_algorithm ? ", scaling efficiency " : "scaling efficiency ",
                         run->efficiency_frac, "");
    fputs(has_algorithm || has_efficiency ? ")" : "", text);
}

void answer_add_trust(struct answer_trust *trust, ar_cell_flag exact, const char *engine)
{
    if (exact == AR_NO_FLAG) {
        return;
    }
    bool is_first = trust->exact + trust->estimates == 0;
    trust->engine = is_first || answer_texts_equal(engine, trust->engine) ? engine : NULL;
    trust->exact += exact == 1;
    trust->estimates += exact == 0;
}

void answer_write_trust(FILE *text, const struct answer_trust *trust, const char *noun,
                        const char *more)
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
            answer_add_trust(&trust, runs[i].exact, runs[i].engine);
        }
    }
    if (trust.estimates > 0) {
        answer_write_trust(text, &trust, "times", "");
    }
}

/* The line of all phases is the last one of a run and a number of GPUs. */
enum ar_status answer_train(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                            const char **title, struct ar_error *err)
{
    struct run *runs;
    *title = "Time to train";
    AR_TRY(answer_read(csv, AR_COLUMNS(run_columns), sizeof *runs, parts->arena, &runs, err));
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

#define RESULT_LIST(X, NEEDED)                                                                     \
    NEEDED(result, string, row)                                                                    \
    X(result, string, title)                                                                       \
    X(result, number, measured)                                                                    \
    X(result, number, predicted)                                                                   \
    X(result, number, error_frac)                                                                  \
    X(result, flag, inside)
ANSWER_RECORD(result, RESULT_LIST);

enum ar_status answer_results(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                              const char **title, struct ar_error *err)
{
    struct result *results;
    size_t both = 0, banded = 0, inside = 0;
    const struct result *worst = NULL;
    *title = "Published results, predicted";
    AR_TRY(
        answer_read(csv, AR_COLUMNS(result_columns), sizeof *results, parts->arena, &results, err));
    double *errors = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *errors);
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
    answer_write_percent(text, ": the median error is ", median_of(errors, both), "");
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

#define SUMMED_LIST(X, NEEDED)                                                                     \
    X(summed, string, set)                                                                         \
    X(summed, count, nodes)                                                                        \
    X(summed, count, rows)                                                                         \
    X(summed, number, median_frac)                                                                 \
    X(summed, number, p95_frac)                                                                    \
    X(summed, number, worst_frac)                                                                  \
    X(summed, number, covered_frac)
ANSWER_RECORD(summed, SUMMED_LIST);

/* Lines of all node counts have none. */
enum ar_status answer_compared(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                               const char **title, struct ar_error *err)
{
    struct summed *sums;
    *title = "Predicted beside measured";
    AR_TRY(answer_read(csv, AR_COLUMNS(summed_columns), sizeof *sums, parts->arena, &sums, err));
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
        answer_write_percent(text, "", sum->covered_frac, " of them are within the 95 % band. ");
    }
    return AR_OK;
}

#define CALL_LIST(X, NEEDED)                                                                       \
    X(call, string, set)                                                                           \
    X(call, number, predicted_s)                                                                   \
    X(call, number, low_s)                                                                         \
    X(call, number, high_s)
ANSWER_RECORD(call, CALL_LIST);

/* What the band is in which calls lie: one that spans everything holds everything. */
enum ar_status answer_band(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct call *calls;
    bool is_any_fitted = false;
    *title = "Predicted beside measured";
    AR_TRY(answer_read(csv, AR_COLUMNS(call_columns), sizeof *calls, parts->arena, &calls, err));
    double *low = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *low);
    double *high = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *high);
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

#define SET_LIST(X, NEEDED)                                                                        \
    NEEDED(set, string, set)                                                                       \
    X(set, string, operation)                                                                      \
    X(set, count, rows)                                                                            \
    X(set, number, zero_shot_median_frac)                                                          \
    X(set, number, fit_median_frac)                                                                \
    X(set, number, held_out_median_frac)                                                           \
    X(set, number, held_out_p95_frac)                                                              \
    X(set, flag, unseen)
ANSWER_RECORD(set, SET_LIST);

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
enum ar_status answer_sets(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                           const char **title, struct ar_error *err)
{
    struct set *sets;
    *title = "How wrong predictions are";
    AR_TRY(answer_read(csv, AR_COLUMNS(set_columns), sizeof *sets, parts->arena, &sets, err));
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
    answer_write_percent(text, "", all->zero_shot_median_frac, " with nothing fitted");
    answer_write_percent(text, ", ", all->fit_median_frac, " where all were fitted");
    answer_write_percent(text, ", and ", all->held_out_median_frac,
                         " on the largest node counts, which were not fitted");
    fputs(". ", text);
    if (worst != all) {
        fprintf(text, "There the worst of the sets is %s", worst->set);
        answer_write_percent(text, " with ", worst->held_out_median_frac, ". ");
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

#define KIND_LIST(X, NEEDED)                                                                       \
    X(kind, string, kind)                                                                          \
    X(kind, number, forward_measured_s)                                                            \
    X(kind, number, forward_predicted_s)                                                           \
    X(kind, number, backward_measured_s)                                                           \
    X(kind, number, backward_predicted_s)
ANSWER_RECORD(kind, KIND_LIST);

static void write_pass(FILE *text, const char *name, double measured_s, double predicted_s)
{
    char measured[AR_UNIT_TEXT];
    char predicted[AR_UNIT_TEXT];
    fprintf(text, "The %s pass took %s; computed are %s, %+.3g %%. ", name,
            ar_format_seconds(measured_s, measured), ar_format_seconds(predicted_s, predicted),
            100 * (predicted_s / measured_s - 1));
}

/* The last line is of all kinds. */
enum ar_status answer_kinds(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                            const char **title, struct ar_error *err)
{
    struct kind *kinds;
    *title = "Layers of a step, measured and computed";
    AR_TRY(answer_read(csv, AR_COLUMNS(kind_columns), sizeof *kinds, parts->arena, &kinds, err));
    if (csv->rows_count > 0) {
        const struct kind *all = &kinds[csv->rows_count - 1];
        write_pass(text, "forward", all->forward_measured_s, all->forward_predicted_s);
        write_pass(text, "backward", all->backward_measured_s, all->backward_predicted_s);
    }
    return AR_OK;
}

/* --- all ---------------------------------------------------------------------------------- */

enum ar_status page_answer(struct page_parts *parts, struct ar_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum ar_status status = AR_OK;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        ar_memory_fail("the report");
    }
    for (size_t i = 0; i < PAGE_FILES && status == AR_OK; i++) {
        const char *title = NULL;
        if (parts->files[i] != NULL && page_sources[i].answer != NULL) {
            status = page_sources[i].answer(parts, parts->files[i], file, &title, err);
            parts->title = parts->title == NULL ? title : parts->title;
        }
    }
    fclose(file);
    parts->title = parts->title == NULL ? "Results" : parts->title;
    parts->answer = ar_arena_own(parts->arena, text, free);
    ar_text_to_line(text); /* cells may have ends of lines */
    while (size > 0 && text[size - 1] == ' ') {
        text[--size] = '\0';
    }
    return status;
}
