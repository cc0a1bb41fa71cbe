/* The answer: a paragraph of sentences whose numbers are those of the rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "ar_units.h"
#include "page.h"

/* --- cells -------------------------------------------------------------------------------- */

double page_number(const struct ar_csv *csv, size_t row, const char *column)
{
    return ar_plot_number_of(ar_csv_text(csv, row, column));
}

/* Writes a fraction in percent between two texts; nothing for NAN. */
static void answer_write_percent(FILE *text, const char *before, double frac, const char *after)
{
    if (!isnan(frac)) {
        fprintf(text, "%s%.3g %%%s", before, 100 * frac, after);
    }
}

/* Whether a row and the one before it differ in a column; the first row does. */
static bool is_new_in(const struct ar_csv *csv, size_t row, const char *column)
{
    return row == 0 ||
           strcmp(ar_csv_text(csv, row, column), ar_csv_text(csv, row - 1, column)) != 0;
}

/* --- how sure ----------------------------------------------------------------------------- */

void answer_write_trust(FILE *text, const struct ar_csv *csv, size_t row)
{
    if (strcmp(ar_csv_text(csv, row, "exact"), "no") == 0) {
        fprintf(text, "Engine %s estimates what is sent; --engine simgrid simulates it. ",
                ar_csv_text(csv, row, "engine"));
    }
}

/* --- train -------------------------------------------------------------------------------- */

/* Writes its time, and in brackets the algorithm and how well that scales. */
static void write_run(FILE *text, const struct ar_csv *csv, size_t row)
{
    const char *algorithm = ar_csv_text(csv, row, "algorithm");
    const char *shape = ar_csv_text(csv, row, "shape");
    double efficiency_frac = page_number(csv, row, "efficiency_frac");
    bool has_algorithm = algorithm[0] != '\0';
    bool has_shape = has_algorithm && shape[strspn(shape, "-")] != '\0';
    bool has_brackets = has_algorithm || !isnan(efficiency_frac);
    fprintf(text, "%s on %s GPUs", AR_SHOW_SECONDS(page_number(csv, row, "time_s")),
            AR_SHOW_NUMBER(page_number(csv, row, "gpus")));
    fprintf(text, "%s%s%s%s", has_brackets ? " (" : "", algorithm, has_shape ? " " : "",
            has_shape ? shape : "");
    answer_write_percent(text, has_algorithm ? ", scaling efficiency " : "scaling efficiency ",
                         efficiency_frac, "");
    fputs(has_brackets ? ")" : "", text);
}

/* Each run has its first and its last number of GPUs; the table has the others. */
void answer_train(struct page_parts *parts, const struct ar_csv *csv)
{
    FILE *text = parts->what;
    bool is_begun = false;
    for (size_t row = 0; row < csv->rows_count; row++) {
        bool is_end = row + 1 == csv->rows_count || is_new_in(csv, row + 1, "run");
        is_begun = is_begun && !is_new_in(csv, row, "run");
        if (!is_end && !is_new_in(csv, row + 1, "gpus")) {
            continue; /* the last line of a run and a number of GPUs sums up all phases */
        }
        if (!is_begun) {
            const char *strategy = ar_csv_text(csv, row, "strategy");
            bool is_named = strategy[0] != '\0' && strcmp(strategy, "data") != 0;
            fprintf(text, "%s%s%s on %s takes ", ar_csv_text(csv, row, "run"),
                    is_named ? " with strategy " : "", is_named ? strategy : "",
                    ar_csv_text(csv, row, "cluster"));
            write_run(text, csv, row);
        } else if (is_end) {
            fputs(" and ", text);
            write_run(text, csv, row);
        }
        is_begun = true;
        if (is_end) {
            fputs(". ", text);
            answer_write_runs(parts->sure, parts, NULL, ar_csv_text(csv, row, "cluster"),
                              ar_csv_text(csv, row, "run"), page_number(csv, row, "gpus"), "");
        }
    }
    if (csv->rows_count > 0) { /* the sum of a run is an estimate if a phase of it is */
        answer_write_trust(parts->sure, csv, csv->rows_count - 1);
    }
}

/* --- reproduce ---------------------------------------------------------------------------- */

void answer_results(struct page_parts *parts, const struct ar_csv *csv)
{
    FILE *text = parts->what;
    size_t both = 0, fitted = 0, banded = 0, inside = 0;
    double *errors = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *errors);
    for (size_t row = 0; row < csv->rows_count; row++) {
        double error_frac = page_number(csv, row, "error_frac");
        bool is_fitted = ar_csv_text(csv, row, "fitted")[0] != '\0';
        fitted += is_fitted ? 1 : 0;
        if (!isnan(error_frac) && !is_fitted) {
            errors[both++] = fabs(error_frac);
            banded += ar_csv_text(csv, row, "inside")[0] != '\0';
            inside += strcmp(ar_csv_text(csv, row, "inside"), "yes") == 0;
        }
    }
    fprintf(text, "%zu of %s published results are predicted beside what was measured", both,
            AR_SHOW_NUMBER((double)csv->rows_count));
    if (fitted > 0) {
        fprintf(text, " (%zu more were fitted to)", fitted);
    }
    if (both > 0) {
        ar_sort(errors, both);
        answer_write_percent(text, ": the median error is ", ar_quantile(errors, both, 0.5), "");
        answer_write_percent(parts->sure, "The largest error is ", errors[both - 1], ". ");
    }
    fputs(". ", text);
    if (banded > 0) {
        fprintf(
            parts->sure,
            "%zu of %zu measured values are within the band of what is unknown about the run and "
            "of how far other published runs were off. ",
            inside, banded);
    }
}

/* --- compare ------------------------------------------------------------------------------ */

/* Lines that sum up all node counts have none. */
void answer_compared(struct page_parts *parts, const struct ar_csv *csv)
{
    if (parts->files[PAGE_EXPECTED] != NULL) { /* the question was another one */
        return;
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *set = ar_csv_text(csv, row, "set");
        if (ar_csv_text(csv, row, "nodes")[0] != '\0' || set[0] == '\0') {
            continue;
        }
        fprintf(parts->what, "Of %s %s calls the median error is %.3g %%. ",
                ar_csv_text(csv, row, "rows"), set, 100 * page_number(csv, row, "median_frac"));
        fprintf(parts->sure, "95 %% are off by at most %.3g %%, the worst one by %.3g %%. ",
                100 * page_number(csv, row, "p95_frac"), 100 * page_number(csv, row, "worst_frac"));
        answer_write_percent(parts->sure, "", page_number(csv, row, "covered_frac"),
                             " of them are within the 95 % band. ");
    }
}

/* --- expect ------------------------------------------------------------------------------- */

void answer_expected(struct page_parts *parts, const struct ar_csv *csv)
{
    for (size_t row = 0; row < csv->rows_count; row++) {
        fprintf(parts->what, "%s ", ar_csv_text(csv, row, "answer"));
        fprintf(parts->sure, "%s ", ar_csv_text(csv, row, "basis"));
    }
}

/* --- accuracy ----------------------------------------------------------------------------- */

/* The last line sums up all sets, if there are several. */
void answer_sets(struct page_parts *parts, const struct ar_csv *csv)
{
    FILE *text = parts->what;
    static const char held_out[] = "held_out_median_frac";
    if (csv->rows_count == 0) {
        return;
    }
    size_t all = csv->rows_count - 1;
    size_t worst = all;
    size_t seen = 0; /* sets; the lines of a set follow each other */
    for (size_t row = 0; row <= all; row++) {
        double worst_frac = page_number(csv, worst, held_out);
        bool is_worse = page_number(csv, row, held_out) > worst_frac || isnan(worst_frac);
        worst = row < all && is_worse ? row : worst;
        seen += strcmp(ar_csv_text(csv, row, "unseen"), "no") == 0 && is_new_in(csv, row, "set");
    }
    fprintf(text, "Of %s measured collectives the median error is ", ar_csv_text(csv, all, "rows"));
    answer_write_percent(text, "", page_number(csv, all, "zero_shot_median_frac"),
                         " with nothing fitted");
    answer_write_percent(text, ", ", page_number(csv, all, "fit_median_frac"),
                         " where all were fitted");
    answer_write_percent(text, ", and ", page_number(csv, all, held_out),
                         " on the largest node counts, which were not fitted");
    fputs(". ", text);
    if (worst != all) {
        fprintf(parts->sure, "The worst of the sets is %s", ar_csv_text(csv, worst, "set"));
        answer_write_percent(parts->sure, " with ", page_number(csv, worst, held_out), ". ");
    }
    if (seen > 0) {
        fprintf(parts->sure,
                "For %zu of the sets, rows that test the model had been looked at before a part of "
                "it was chosen (column seen). ",
                seen);
    }
}

/* --- layers ------------------------------------------------------------------------------- */

static void write_pass_times(FILE *text, const char *name, double measured_s, double predicted_s)
{
    fprintf(text, "The %s pass took %s; computed are %s, %+.3g %%. ", name,
            AR_SHOW_SECONDS(measured_s), AR_SHOW_SECONDS(predicted_s),
            100 * (predicted_s / measured_s - 1));
}

/* The last line sums up all kinds. */
void answer_kinds(struct page_parts *parts, const struct ar_csv *csv)
{
    FILE *text = parts->what;
    if (csv->rows_count > 0) {
        size_t all = csv->rows_count - 1;
        write_pass_times(text, "forward", page_number(csv, all, "forward_measured_s"),
                         page_number(csv, all, "forward_predicted_s"));
        write_pass_times(text, "backward", page_number(csv, all, "backward_measured_s"),
                         page_number(csv, all, "backward_predicted_s"));
    }
}

/* --- plans -------------------------------------------------------------------------------- */

/* The last plan is the one that losses and changes are of. */
void answer_advice(struct page_parts *parts, const struct ar_csv *csv)
{
    const char *plan = "";
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *kind = ar_csv_text(csv, row, "kind");
        const char *text = ar_csv_text(csv, row, "text");
        plan = strcmp(kind, "plan") == 0 ? text : plan;
        if (strcmp(kind, "loss") == 0) {
            fprintf(parts->why, "Lost to %s. ", text);
        }
    }
    fprintf(parts->what, "%s ", plan);
}

/* --- a measured step ---------------------------------------------------------------------- */

/* The step as measured and as predicted; then each that may explain the difference. */
void answer_diagnosis(struct page_parts *parts, const struct ar_csv *csv)
{
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *kind = ar_csv_text(csv, row, "kind");
        bool is_step = strcmp(kind, "measured") == 0 || strcmp(kind, "predicted") == 0;
        const char *text = is_step ? " step takes" : ar_csv_text(csv, row, "text");
        fprintf(is_step ? parts->what : parts->why, is_step ? "The %s%s %s. " : "%s: %s (%s). ",
                kind, text, AR_SHOW_SECONDS(page_number(csv, row, "iteration_s")));
    }
}

/* --- all ---------------------------------------------------------------------------------- */

void page_answer(struct page_parts *parts)
{
    static const char *const names[] = {"What", "Why", "How sure"};
    char *texts[3];
    size_t sizes[3];
    FILE **const files[] = {&parts->what, &parts->why, &parts->sure};
    for (size_t i = 0; i < 3; i++) {
        *files[i] = open_memstream(&texts[i], &sizes[i]);
        ar_memory_require(*files[i] != NULL, "the report");
    }
    for (enum page_file i = 0; i < PAGE_FILES; i++) {
        const struct page_source *source = &page_sources[i];
        if (parts->files[i] != NULL && source->answer != NULL) {
            source->answer(parts, parts->files[i]);
            parts->title = parts->title == NULL ? source->subject : parts->title;
        }
    }
    parts->title = parts->title == NULL ? "Results" : parts->title;
    parts->answer = "";
    for (size_t i = 0; i < 3; i++) {
        fclose(*files[i]);
        ar_text_to_line(texts[i]); /* cells may have ends of lines */
        if (sizes[i] > 0) {        /* sentences end with a blank */
            parts->answer = ar_arena_format(parts->arena, "%s%s%s: %.*s", parts->answer,
                                            parts->answer[0] != '\0' ? "\n" : "", names[i],
                                            (int)sizes[i] - 1, texts[i]);
        }
        free(texts[i]);
    }
}
