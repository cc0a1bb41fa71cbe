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

static const char *named_text(const struct ar_csv *csv, size_t row, const char *column)
{
    size_t place = ar_csv_find_column(csv, column);
    return place != SIZE_MAX ? ar_csv_cell(csv, row, place) : "";
}

static double named_number(const struct ar_csv *csv, size_t row, const char *column)
{
    return ar_plot_number_of(named_text(csv, row, column));
}

/* Whether a row and the one before it differ in a column; the first row does. */
static bool is_new_in(const struct ar_csv *csv, size_t row, const char *column)
{
    return row == 0 || strcmp(named_text(csv, row, column), named_text(csv, row - 1, column)) != 0;
}

/* Checks that the columns `needed` are there (NULL: none), and that the cells of the columns
 * `numbers` that are there are empty or numbers. Names are separated by blanks; no column is needed
 * if `needed` is NULL. */
static enum ar_status check_file(struct page_parts *parts, const struct ar_csv *csv,
                                 const char *needed, const char *numbers, struct ar_error *err)
{
    char *rest = needed != NULL ? ar_arena_text(parts->arena, needed) : NULL;
    for (const char *name; (name = ar_next_part(&rest, ' ')) != NULL;) {
        if (!ar_csv_has_column(csv, name)) {
            return ar_error_set(err, AR_BAD_DATA, "%.200s:%llu: column \"%s\" is missing",
                                csv->path, (unsigned long long)csv->header_line, name);
        }
    }
    rest = ar_arena_text(parts->arena, numbers);
    for (const char *name; (name = ar_next_part(&rest, ' ')) != NULL;) {
        for (size_t row = 0; row < csv->rows_count; row++) {
            if (named_text(csv, row, name)[0] != '\0' && isnan(named_number(csv, row, name))) {
                return ar_csv_error(csv, row, name, "a number", err);
            }
        }
    }
    return AR_OK;
}

/* --- exact or estimated ------------------------------------------------------------------- */

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

/* The line that sums up all phases is the last one of a run and a number of GPUs. */
static bool is_last_phase(const struct ar_csv *csv, size_t row)
{
    return row + 1 == csv->rows_count || is_new_in(csv, row + 1, "run") ||
           is_new_in(csv, row + 1, "gpus");
}

/* Writes its time, and in brackets the algorithm and how well that scales. */
static void write_run(FILE *text, const struct ar_csv *csv, size_t row)
{
    char time[AR_UNIT_TEXT];
    const char *algorithm = named_text(csv, row, "algorithm");
    const char *shape = named_text(csv, row, "shape");
    double efficiency_frac = named_number(csv, row, "efficiency_frac");
    bool has_algorithm = algorithm[0] != '\0';
    bool has_shape = has_algorithm && shape[strspn(shape, "-")] != '\0';
    bool has_brackets = has_algorithm || !isnan(efficiency_frac);
    fprintf(text, "%s on %s GPUs", ar_format_seconds(named_number(csv, row, "time_s"), time),
            named_text(csv, row, "gpus"));
    fprintf(text, "%s%s%s%s", has_brackets ? " (" : "", algorithm, has_shape ? " " : "",
            has_shape ? shape : "");
    answer_write_percent(text, has_algorithm ? ", scaling efficiency " : "scaling efficiency ",
                         efficiency_frac, "");
    fputs(has_brackets ? ")" : "", text);
}

/* Each run has its first and its last number of GPUs; the table has the others. */
enum ar_status answer_train(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                            const char **title, struct ar_error *err)
{
    struct answer_trust trust = {0};
    bool is_begun = false;
    *title = "Time to train";
    AR_TRY(check_file(parts, csv, "run cluster", "time_s efficiency_frac", err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        bool is_end = row + 1 == csv->rows_count || is_new_in(csv, row + 1, "run");
        is_begun = is_begun && !is_new_in(csv, row, "run");
        if (!is_last_phase(csv, row)) {
            continue;
        }
        const char *exact = named_text(csv, row, "exact");
        answer_add_trust(&trust, exact[0] == '\0' ? AR_NO_FLAG : strcmp(exact, "yes") == 0,
                         named_text(csv, row, "engine"));
        if (!is_begun) {
            const char *strategy = named_text(csv, row, "strategy");
            bool is_named = strategy[0] != '\0' && strcmp(strategy, "data") != 0;
            fprintf(text, "%s%s%s on %s takes ", named_text(csv, row, "run"),
                    is_named ? " with strategy " : "", is_named ? strategy : "",
                    named_text(csv, row, "cluster"));
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
    return AR_OK;
}

/* --- reproduce ---------------------------------------------------------------------------- */

enum ar_status answer_results(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                              const char **title, struct ar_error *err)
{
    size_t both = 0, banded = 0, inside = 0, worst = 0;
    *title = "Published results, predicted";
    AR_TRY(check_file(parts, csv, "row", "error_frac", err));
    double *errors = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *errors);
    for (size_t row = 0; row < csv->rows_count; row++) {
        double error_frac = named_number(csv, row, "error_frac");
        if (!isnan(error_frac)) {
            bool is_worst =
                both == 0 || fabs(error_frac) > fabs(named_number(csv, worst, "error_frac"));
            worst = is_worst ? row : worst;
            errors[both++] = error_frac;
            banded += named_text(csv, row, "inside")[0] != '\0';
            inside += strcmp(named_text(csv, row, "inside"), "yes") == 0;
        }
    }
    fprintf(text, "%zu of %zu published results are predicted beside what was measured", both,
            csv->rows_count);
    answer_write_percent(text, ": the median error is ", median_magnitude(errors, both), "");
    if (both > 0) {
        const char *name = named_text(csv, worst, "title");
        fprintf(text, ", the largest %+.3g %% (%s)", 100 * named_number(csv, worst, "error_frac"),
                name[0] != '\0' ? name : named_text(csv, worst, "row"));
    }
    fputs(". ", text);
    if (banded > 0) {
        fprintf(text,
                "%zu of %zu measured values are within the band of what is unknown about the run. ",
                inside, banded);
    }
    return AR_OK;
}

/* --- compare ------------------------------------------------------------------------------ */

/* Lines that sum up all node counts have none. */
enum ar_status answer_compared(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                               const char **title, struct ar_error *err)
{
    *title = "Predicted beside measured";
    AR_TRY(check_file(parts, csv, NULL, "rows median_frac p95_frac worst_frac covered_frac", err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *set = named_text(csv, row, "set");
        if (named_text(csv, row, "nodes")[0] != '\0' || set[0] == '\0') {
            continue;
        }
        fprintf(text,
                "Of %s %s calls the median error is %.3g %%, 95 %% are off by at most %.3g %%, "
                "the worst one by %.3g %%. ",
                named_text(csv, row, "rows"), set, 100 * named_number(csv, row, "median_frac"),
                100 * named_number(csv, row, "p95_frac"),
                100 * named_number(csv, row, "worst_frac"));
        answer_write_percent(text, "", named_number(csv, row, "covered_frac"),
                             " of them are within the 95 % band. ");
    }
    return AR_OK;
}

/* Writes how wide the band is in which calls lie: one that spans everything holds everything. */
enum ar_status answer_band(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                           const char **title, struct ar_error *err)
{
    bool is_any_fitted = false;
    *title = "Predicted beside measured";
    AR_TRY(check_file(parts, csv, NULL, "predicted_s low_s high_s", err));
    double *low = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *low);
    double *high = ar_arena_alloc(parts->arena, csv->rows_count + 1, sizeof *high);
    for (size_t row = 0; row < csv->rows_count; row++) {
        double predicted_s = named_number(csv, row, "predicted_s");
        low[row] = named_number(csv, row, "low_s") / predicted_s;
        high[row] = named_number(csv, row, "high_s") / predicted_s;
        is_any_fitted = is_any_fitted || strcmp(named_text(csv, row, "set"), "fitted") == 0;
    }
    double low_frac = median_magnitude(low, csv->rows_count);
    double high_frac = median_magnitude(high, csv->rows_count);
    if (!isnan(low_frac) && !isnan(high_frac)) {
        fprintf(text, "The band is from %.2g to %.2g times what is predicted, in the median%s. ",
                low_frac, high_frac, is_any_fitted ? "" : ": none of these rows was fitted");
    }
    return AR_OK;
}

/* --- accuracy ----------------------------------------------------------------------------- */

/* The last line sums up all sets, if there are several. */
enum ar_status answer_sets(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                           const char **title, struct ar_error *err)
{
    static const char held_out[] = "held_out_median_frac";
    *title = "How wrong predictions are";
    AR_TRY(check_file(parts, csv, "set",
                      "rows zero_shot_median_frac fit_median_frac held_out_median_frac", err));
    if (csv->rows_count == 0) {
        return AR_OK;
    }
    size_t all = csv->rows_count - 1;
    size_t worst = all;
    size_t seen = 0; /* sets; the lines of a set follow each other */
    for (size_t row = 0; row <= all; row++) {
        double worst_frac = named_number(csv, worst, held_out);
        bool is_worse = named_number(csv, row, held_out) > worst_frac || isnan(worst_frac);
        worst = row < all && is_worse ? row : worst;
        seen += strcmp(named_text(csv, row, "unseen"), "no") == 0 && is_new_in(csv, row, "set");
    }
    fprintf(text, "Of %s measured collectives the median error is ", named_text(csv, all, "rows"));
    answer_write_percent(text, "", named_number(csv, all, "zero_shot_median_frac"),
                         " with nothing fitted");
    answer_write_percent(text, ", ", named_number(csv, all, "fit_median_frac"),
                         " where all were fitted");
    answer_write_percent(text, ", and ", named_number(csv, all, held_out),
                         " on the largest node counts, which were not fitted");
    fputs(". ", text);
    if (worst != all) {
        fprintf(text, "There the worst of the sets is %s", named_text(csv, worst, "set"));
        answer_write_percent(text, " with ", named_number(csv, worst, held_out), ". ");
    }
    if (seen > 0) {
        fprintf(text,
                "For %zu of the sets, rows that test the model had been looked at before a part of "
                "it was chosen (column seen). ",
                seen);
    }
    return AR_OK;
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
enum ar_status answer_kinds(struct page_parts *parts, const struct ar_csv *csv, FILE *text,
                            const char **title, struct ar_error *err)
{
    *title = "Layers of a step, measured and computed";
    AR_TRY(check_file(parts, csv, NULL,
                      "forward_measured_s forward_predicted_s backward_measured_s "
                      "backward_predicted_s",
                      err));
    if (csv->rows_count > 0) {
        size_t all = csv->rows_count - 1;
        write_pass(text, "forward", named_number(csv, all, "forward_measured_s"),
                   named_number(csv, all, "forward_predicted_s"));
        write_pass(text, "backward", named_number(csv, all, "backward_measured_s"),
                   named_number(csv, all, "backward_predicted_s"));
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
