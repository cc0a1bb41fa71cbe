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

page_text page_read_text(const struct ar_csv *csv, size_t row, const char *column)
{
    return ar_csv_text(csv, row, column);
}

page_number page_read_number(const struct ar_csv *csv, size_t row, const char *column)
{
    return ar_plot_number_of(ar_csv_text(csv, row, column));
}

/* The median of |values| that are numbers; NAN: there are none. The values are changed. */
static double median_magnitude(double *values, size_t count)
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

/* Whether a row and the one before it differ in a column; the first row does. */
static bool is_new_in(const struct ar_csv *csv, size_t row, const char *column)
{
    return row == 0 ||
           strcmp(ar_csv_text(csv, row, column), ar_csv_text(csv, row - 1, column)) != 0;
}

/* --- exact or estimated ------------------------------------------------------------------- */

void answer_add_trust(struct answer_trust *trust, const char *exact, const char *engine)
{
    if (exact[0] == '\0') {
        return;
    }
    bool is_first = trust->exact + trust->estimates == 0;
    bool is_same = trust->engine != NULL && strcmp(engine, trust->engine) == 0;
    trust->engine = is_first || is_same ? engine : NULL;
    trust->exact += strcmp(exact, "yes") == 0;
    trust->estimates += strcmp(exact, "yes") != 0;
}

void answer_write_trust(FILE *text, const struct answer_trust *trust, const char *noun,
                        const char *more)
{
    const char *engine = trust->engine != NULL ? trust->engine : "of each row";
    if (trust->estimates == 0) {
        fprintf(text, "Here engine %s follows every message exactly%s", engine, more);
    } else if (trust->exact == 0) {
        fprintf(text, "%s: engine %s does not follow every message exactly",
                trust->estimates == 1 ? "This is an estimate" : "These are estimates", engine);
    } else {
        fprintf(text,
                "Of the %zu %s %zu %s (column exact): there engine %s does not follow every "
                "message exactly",
                trust->exact + trust->estimates, noun, trust->estimates,
                trust->estimates == 1 ? "is an estimate" : "are estimates", engine);
    }
    fputs(". ", text);
}

/* --- train -------------------------------------------------------------------------------- */

/* Writes its time, and in brackets the algorithm and how well that scales. */
static void write_run(FILE *text, const struct ar_csv *csv, size_t row)
{
    char time[AR_UNIT_TEXT];
    const char *algorithm = ar_csv_text(csv, row, "algorithm");
    const char *shape = ar_csv_text(csv, row, "shape");
    double efficiency_frac = page_read_number(csv, row, "efficiency_frac");
    bool has_algorithm = algorithm[0] != '\0';
    bool has_shape = has_algorithm && shape[strspn(shape, "-")] != '\0';
    bool has_brackets = has_algorithm || !isnan(efficiency_frac);
    fprintf(text, "%s on %s GPUs", ar_format_seconds(page_read_number(csv, row, "time_s"), time),
            ar_csv_text(csv, row, "gpus"));
    fprintf(text, "%s%s%s%s", has_brackets ? " (" : "", algorithm, has_shape ? " " : "",
            has_shape ? shape : "");
    answer_write_percent(text, has_algorithm ? ", scaling efficiency " : "scaling efficiency ",
                         efficiency_frac, "");
    fputs(has_brackets ? ")" : "", text);
}

/* Each run has its first and its last number of GPUs; the table has the others. */
void answer_train(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    struct answer_trust trust = {0};
    bool is_begun = false;
    for (size_t row = 0; row < csv->rows_count; row++) {
        bool is_end = row + 1 == csv->rows_count || is_new_in(csv, row + 1, "run");
        is_begun = is_begun && !is_new_in(csv, row, "run");
        if (!is_end && !is_new_in(csv, row + 1, "gpus")) {
            continue; /* the last line of a run and a number of GPUs sums up all phases */
        }
        answer_add_trust(&trust, ar_csv_text(csv, row, "exact"), ar_csv_text(csv, row, "engine"));
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
        fputs(is_end ? ". " : "", text);
    }
    if (trust.estimates > 0) { /* the sum of a run is an estimate if a phase of it is */
        answer_write_trust(text, &trust, "times", "");
    }
}

/* --- reproduce ---------------------------------------------------------------------------- */

void answer_results(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    size_t both = 0, fitted = 0, banded = 0, inside = 0, worst = 0;
    double *errors = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *errors);
    for (size_t row = 0; row < csv->rows_count; row++) {
        double error_frac = page_read_number(csv, row, "error_frac");
        bool is_fitted = ar_csv_text(csv, row, "fitted")[0] != '\0';
        fitted += is_fitted ? 1 : 0;
        if (!isnan(error_frac) && !is_fitted) {
            bool is_worst =
                both == 0 || fabs(error_frac) > fabs(page_read_number(csv, worst, "error_frac"));
            worst = is_worst ? row : worst;
            errors[both++] = error_frac;
            banded += ar_csv_text(csv, row, "inside")[0] != '\0';
            inside += strcmp(ar_csv_text(csv, row, "inside"), "yes") == 0;
        }
    }
    fprintf(text, "%zu of %zu published results are predicted beside what was measured", both,
            csv->rows_count);
    if (fitted > 0) {
        fprintf(text, " (%zu more were fitted to)", fitted);
    }
    answer_write_percent(text, ": the median error is ", median_magnitude(errors, both), "");
    if (both > 0) {
        const char *name = ar_csv_text(csv, worst, "title");
        fprintf(text, ", the largest %+.3g %% (%s)",
                100 * page_read_number(csv, worst, "error_frac"),
                name[0] != '\0' ? name : ar_csv_text(csv, worst, "row"));
    }
    fputs(". ", text);
    if (banded > 0) {
        fprintf(text,
                "%zu of %zu measured values are within the band of what is unknown about the run. ",
                inside, banded);
    }
}

/* --- compare ------------------------------------------------------------------------------ */

/* Lines that sum up all node counts have none. */
void answer_compared(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    if (parts->files[PAGE_EXPECTED] != NULL) { /* the question was another one */
        return;
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *set = ar_csv_text(csv, row, "set");
        if (ar_csv_text(csv, row, "nodes")[0] != '\0' || set[0] == '\0') {
            continue;
        }
        fprintf(text,
                "Of %s %s calls the median error is %.3g %%, 95 %% are off by at most %.3g %%, "
                "the worst one by %.3g %%. ",
                ar_csv_text(csv, row, "rows"), set, 100 * page_read_number(csv, row, "median_frac"),
                100 * page_read_number(csv, row, "p95_frac"),
                100 * page_read_number(csv, row, "worst_frac"));
        answer_write_percent(text, "", page_read_number(csv, row, "covered_frac"),
                             " of them are within the 95 % band. ");
    }
}

/* --- expect ------------------------------------------------------------------------------- */

void answer_expected(struct page_parts *parts, enum page_file file, FILE *text)
{
    for (size_t row = 0; row < parts->files[file]->rows_count; row++) {
        fprintf(text, "%s ", ar_csv_text(parts->files[file], row, "answer"));
    }
}

/* --- accuracy ----------------------------------------------------------------------------- */

/* The last line sums up all sets, if there are several. */
void answer_sets(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    static const char held_out[] = "held_out_median_frac";
    if (csv->rows_count == 0) {
        return;
    }
    size_t all = csv->rows_count - 1;
    size_t worst = all;
    size_t seen = 0; /* sets; the lines of a set follow each other */
    for (size_t row = 0; row <= all; row++) {
        double worst_frac = page_read_number(csv, worst, held_out);
        bool is_worse = page_read_number(csv, row, held_out) > worst_frac || isnan(worst_frac);
        worst = row < all && is_worse ? row : worst;
        seen += strcmp(ar_csv_text(csv, row, "unseen"), "no") == 0 && is_new_in(csv, row, "set");
    }
    fprintf(text, "Of %s measured collectives the median error is ", ar_csv_text(csv, all, "rows"));
    answer_write_percent(text, "", page_read_number(csv, all, "zero_shot_median_frac"),
                         " with nothing fitted");
    answer_write_percent(text, ", ", page_read_number(csv, all, "fit_median_frac"),
                         " where all were fitted");
    answer_write_percent(text, ", and ", page_read_number(csv, all, held_out),
                         " on the largest node counts, which were not fitted");
    fputs(". ", text);
    if (worst != all) {
        fprintf(text, "There the worst of the sets is %s", ar_csv_text(csv, worst, "set"));
        answer_write_percent(text, " with ", page_read_number(csv, worst, held_out), ". ");
    }
    if (seen > 0) {
        fprintf(text,
                "For %zu of the sets, rows that test the model had been looked at before a part of "
                "it was chosen (column seen). ",
                seen);
    }
}

/* --- layers ------------------------------------------------------------------------------- */

static void write_pass(FILE *text, const char *name, double measured_s, double predicted_s)
{
    char measured[AR_UNIT_TEXT];
    char predicted[AR_UNIT_TEXT];
    fprintf(text, "The %s pass took %s; computed are %s, %+.3g %%. ", name,
            ar_format_seconds(measured_s, measured), ar_format_seconds(predicted_s, predicted),
            100 * (predicted_s / measured_s - 1));
}

/* The last line sums up all kinds. */
void answer_kinds(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    if (csv->rows_count > 0) {
        size_t all = csv->rows_count - 1;
        write_pass(text, "forward", page_read_number(csv, all, "forward_measured_s"),
                   page_read_number(csv, all, "forward_predicted_s"));
        write_pass(text, "backward", page_read_number(csv, all, "backward_measured_s"),
                   page_read_number(csv, all, "backward_predicted_s"));
    }
}

/* --- plans -------------------------------------------------------------------------------- */

void answer_advice(struct page_parts *parts, enum page_file file, FILE *text)
{
    const struct ar_csv *csv = parts->files[file];
    for (size_t row = 0; row < csv->rows_count; row++) {
        if (strcmp(page_read_text(csv, row, "kind"), "plan") == 0) {
            fprintf(text, "%s ", page_read_text(csv, row, "text"));
        }
    }
}

/* --- all ---------------------------------------------------------------------------------- */

void page_answer(struct page_parts *parts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        ar_memory_fail("the report");
    }
    for (enum page_file i = 0; i < PAGE_FILES; i++) {
        const struct page_source *source = &page_sources[i];
        if (parts->files[i] != NULL && source->answer != NULL) {
            source->answer(parts, i, file);
            parts->title = parts->title == NULL ? source->subject : parts->title;
        }
    }
    fclose(file);
    parts->title = parts->title == NULL ? "Results" : parts->title;
    parts->answer = ar_arena_own(parts->arena, text, free);
    ar_text_to_line(text); /* cells may have ends of lines */
    while (size > 0 && text[size - 1] == ' ') {
        text[--size] = '\0';
    }
}
