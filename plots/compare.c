#include "ar_plot_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_output.h"
#include "plot_gnuplot.h"
#include "plot_script.h"
#include "plot_work.h"

enum { FILE_SIZE = 4096, SERIES_MAX = 12, LABEL_SIZE = 64 };

const char *const ar_plot_compare_names[AR_PLOT_COMPARE_PICTURES] = {"compare_time",
                                                                     "compare_error"};

/* --- settings ----------------------------------------------------------------------------- */

/* The rows of one number of nodes and GPUs. */
struct series {
    const struct ar_plot_compared *first;
    char label[LABEL_SIZE];
};

static bool is_alike(const struct ar_plot_compared *a, const struct ar_plot_compared *b)
{
    return a->nodes == b->nodes && a->gpus == b->gpus;
}

/* How many series there are, also those that are not drawn. */
static size_t count_series(const struct ar_plot_compare_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->rows_count; i++) {
        count += i == 0 || !is_alike(&request->rows[i], &request->rows[i - 1]);
    }
    return count;
}

/* The first ones: more curves than that cannot be told apart. */
static size_t list_series(const struct ar_plot_compare_request *request,
                          struct series series[SERIES_MAX])
{
    size_t count = 0;
    bool is_any_fitted = false;
    for (size_t i = 0; i < request->rows_count; i++) {
        is_any_fitted = is_any_fitted || request->rows[i].is_fitted;
    }
    for (size_t i = 0; i < request->rows_count; i++) {
        const struct ar_plot_compared *row = &request->rows[i];
        if (i > 0 && is_alike(row, row - 1)) {
            continue;
        }
        if (count == SERIES_MAX) {
            return count;
        }
        series[count].first = row;
        const char *set = row->is_fitted ? ", fitted" : ", held out";
        snprintf(series[count++].label, LABEL_SIZE, "%" PRIu32 " GPUs (%" PRIu32 " node%s)%s",
                 row->gpus, row->nodes, row->nodes == 1 ? "" : "s", is_any_fitted ? set : "");
    }
    return count;
}

static void write_numbers(FILE *file, const char *name, const struct series *series, size_t count,
                          bool is_nodes)
{
    fprintf(file, "array %s[%zu] = [", name, count);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s%" PRIu32, i > 0 ? ", " : "",
                is_nodes ? series[i].first->nodes : series[i].first->gpus);
    }
    fputs("]\n", file);
}

static void write_series(FILE *file, const struct ar_plot_compare_request *request)
{
    struct series series[SERIES_MAX];
    const char *labels[SERIES_MAX];
    size_t count = list_series(request, series);
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        labels[i] = series[i].label;
        longest = strlen(labels[i]) > longest ? strlen(labels[i]) : longest;
    }
    ar_plot_write_texts(file, "series", labels, count);
    write_numbers(file, "series_nodes", series, count, true);
    write_numbers(file, "series_gpus", series, count, false);
    fprintf(file, "array series_fitted[%zu] = [", count);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s%d", i > 0 ? ", " : "", series[i].first->is_fitted);
    }
    fputs("]\n", file);
    ar_plot_write_key(file, count, longest);
}

static bool has_bands(const struct ar_plot_compare_request *request)
{
    for (size_t i = 0; i < request->rows_count; i++) {
        if (!isfinite(request->rows[i].low_s) || !isfinite(request->rows[i].high_s)) {
            return false;
        }
    }
    return true;
}

static void write_ranges(FILE *file, const struct ar_plot_compare_request *request)
{
    double x_min = INFINITY;
    double x_max = 0;
    double y_min = INFINITY;
    double y_max = 0;
    double error_min = 0;
    double error_max = 0;
    for (size_t i = 0; i < request->rows_count; i++) {
        const struct ar_plot_compared *row = &request->rows[i];
        double error = 100 * (row->predicted_s / row->measured_s - 1);
        x_min = fmin(x_min, row->payload_bytes);
        x_max = fmax(x_max, row->payload_bytes);
        y_min = fmin(y_min, 1e6 * fmin(row->measured_s, fmin(row->predicted_s, row->low_s)));
        y_max = fmax(y_max, 1e6 * fmax(row->measured_s, fmax(row->predicted_s, row->high_s)));
        error_min = fmin(error_min, error);
        error_max = fmax(error_max, error);
    }
    ar_plot_write_range(file, "x", x_min, x_max, 1.6);
    ar_plot_write_range(file, "y", y_min, y_max, 1.3);
    ar_plot_write_log_ticks(file, "xtics", x_min / 1.6, x_max * 1.6, "B");
    /* Five percent at least, so that a good model does not look like a bad one. */
    fprintf(file, "error_min = %g\nerror_max = %g\n", fmin(-5, 1.1 * error_min),
            fmax(5, 1.1 * error_max));
    fprintf(file, "time_min = %.9g\ntime_max = %.9g\n", y_min / 1.3, y_max * 1.3);
}

static void write_settings(FILE *file, const struct ar_plot_compare_request *request,
                           size_t picture)
{
    char subject[FILE_SIZE];
    bool is_banded = has_bands(request);
    snprintf(subject, sizeof subject, "cluster %.60s, predicted by engine %.40s", request->cluster,
             request->engine);
    const char *marks = picture == 1 ? "above zero: predicted to take longer than measured"
                        : is_banded  ? "marks: measured; lines: predicted, with their 95 % bands"
                                     : "marks: measured; lines: predicted";
    char left_out[96];
    size_t series_count = count_series(request);
    snprintf(left_out, sizeof left_out, "the first %d of %zu numbers of GPUs; compare.csv has all",
             SERIES_MAX, series_count);
    const char *pieces[] = {subject, marks, left_out};
    ar_plot_write_texts(file, "subtitle", pieces, series_count > SERIES_MAX ? 3 : 2);
    fprintf(file, "has_bands = %d\n", is_banded);
    write_series(file, request);
    write_ranges(file, request);
}

/* --- files -------------------------------------------------------------------------------- */

static enum ar_status write_script(const struct ar_plot_compare_request *request,
                                   const char *work_dir, size_t picture, struct ar_error *err)
{
    char path[FILE_SIZE];
    struct ar_output output;
    const char *name = ar_plot_compare_names[picture];
    snprintf(path, sizeof path, "%s/%s.gp", work_dir, name);
    enum ar_status status = ar_output_open(path, &output, err);
    if (status != AR_OK) {
        return status;
    }
    fprintf(output.file,
            "# Written by `allreckon compare`. `gnuplot %s.gp` in this directory draws %s.svg and\n"
            "# %s.png again, from compare.csv. The next `allreckon compare` replaces them.\n\n"
            "picture = '%s'\ndata = 'compare.csv'\n",
            name, name, name, name);
    write_settings(output.file, request, picture);
    status = ar_plot_copy_template(request->template_dir, "style", output.file, err);
    if (status == AR_OK) {
        status = ar_plot_copy_template(request->template_dir, name, output.file, err);
    }
    if (status != AR_OK) {
        ar_output_abort(&output);
        return status;
    }
    return ar_output_commit(&output, err);
}

/* gnuplot runs in the work directory and finds its data there. */
static enum ar_status copy_data(const char *output_dir, const char *work_dir, struct ar_error *err)
{
    char path[FILE_SIZE];
    struct ar_output output;
    snprintf(path, sizeof path, "%s/compare.csv", output_dir);
    FILE *source = fopen(path, "re");
    if (source == NULL) {
        return ar_error_set(err, AR_NO_INPUT, "%s: cannot read: %s", path, strerror(errno));
    }
    snprintf(path, sizeof path, "%s/compare.csv", work_dir);
    enum ar_status status = ar_output_open(path, &output, err);
    if (status == AR_OK) {
        char block[4096];
        size_t size;
        while ((size = fread(block, 1, sizeof block, source)) > 0) {
            fwrite(block, 1, size, output.file);
        }
        status = ar_output_commit(&output, err);
    }
    fclose(source);
    return status;
}

static enum ar_status move_into_place(const struct ar_plot_compare_request *request,
                                      const char *work_dir, struct ar_error *err)
{
    static const char *const suffixes[] = {".gp", ".svg", ".png"};
    enum { SUFFIXES = sizeof suffixes / sizeof suffixes[0] };
    for (size_t i = 0; i < (size_t)AR_PLOT_COMPARE_PICTURES * SUFFIXES; i++) {
        char source[FILE_SIZE];
        char target[FILE_SIZE];
        const char *name = ar_plot_compare_names[i / SUFFIXES];
        snprintf(source, sizeof source, "%s/%s%s", work_dir, name, suffixes[i % SUFFIXES]);
        snprintf(target, sizeof target, "%s/%s%s", request->output_dir, name,
                 suffixes[i % SUFFIXES]);
        if (rename(source, target) != 0) {
            return ar_error_set(err, AR_IO, "%.400s: cannot write: %s", target, strerror(errno));
        }
    }
    return AR_OK;
}

enum ar_status ar_plot_compare(const struct ar_plot_compare_request *request, struct ar_error *err)
{
    char work_dir[AR_PLOT_WORK_SIZE];
    char warning[AR_PLOT_REASON];
    if (strlen(request->output_dir) > AR_PLOT_PATH_SIZE - 64) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", request->output_dir);
    }
    enum ar_status status = ar_plot_work_make(request->output_dir, work_dir, err);
    if (status == AR_OK) {
        status = copy_data(request->output_dir, work_dir, err);
    }
    for (size_t i = 0; status == AR_OK && i < AR_PLOT_COMPARE_PICTURES; i++) {
        struct ar_plot_script script = {"gnuplot", work_dir, ar_plot_compare_names[i]};
        status = write_script(request, work_dir, i, err);
        if (status == AR_OK) {
            status = ar_plot_gnuplot_draw(&script, warning, sizeof warning, err);
        }
    }
    if (status == AR_OK) {
        status = move_into_place(request, work_dir, err);
    }
    ar_plot_work_remove(work_dir);
    return status;
}
