#include "ar_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_text.h"
#include "plot_condition.h"
#include "plot_gnuplot.h"
#include "plot_script.h"
#include "plot_work.h"

enum { PATH_SIZE = AR_PLOT_PATH_SIZE, FILE_SIZE = 4096, TEXT_COLUMNS = 79, TEXT_ROWS = 28 };

static const char *const suffixes[] = {".csv", ".gp", ".svg", ".png"};
enum { SUFFIXES = 4 };

struct job {
    const struct ar_plot_request *request;
    const char *program;
    char steps_path[PATH_SIZE], collectives_path[PATH_SIZE]; /* the inputs */
    char output_dir[PATH_SIZE];
    char work_dir[AR_PLOT_WORK_SIZE]; /* inside output_dir; empty: not made */
    struct ar_plot_names algorithms, engines;
    struct ar_plot_table steps, collectives;
    struct ar_plot_table condition; /* those of the steps that may be compared */
    struct ar_plot_report report;
};

/* --- where things are --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static enum ar_status resolve(struct job *job, struct ar_error *err)
{
    const char *path = job->request->path;
    const char *output_dir = job->request->output_dir;
    size_t max = PATH_SIZE - 64;
    if (path[0] == '\0') {
        return ar_error_set(err, AR_NO_INPUT,
                            "the path is empty; expected a directory with sweep.csv or a CSV file");
    }
    if (strlen(path) > max || (output_dir != NULL && strlen(output_dir) > max)) {
        return ar_error_set(err, AR_NO_INPUT, "%.100s...: path too long",
                            strlen(path) > max ? path : output_dir);
    }
    char input_dir[PATH_SIZE];
    snprintf(input_dir, sizeof input_dir, "%s", path);
    snprintf(job->steps_path, PATH_SIZE, "%s", path);
    if (is_directory(path)) {
        snprintf(job->steps_path, PATH_SIZE, "%.*s/sweep.csv", (int)max, path);
    } else {
        char *slash = strrchr(input_dir, '/');
        snprintf(slash == NULL ? input_dir : slash + 1, 2, slash == NULL ? "." : "");
    }
    snprintf(job->collectives_path, PATH_SIZE, "%.*s/payload.csv", (int)max, input_dir);
    snprintf(job->output_dir, PATH_SIZE, "%s", output_dir == NULL ? input_dir : output_dir);
    return AR_OK;
}

/* --- reading ------------------------------------------------------------------------------ */

static void count_rows(struct job *job, const struct ar_plot_table *table)
{
    job->report.rows_used += table->rows_count;
    job->report.rows_failed += table->failed_count;
    if (job->report.rows_failed_line == 0) {
        job->report.rows_failed_line = table->failed_line;
    }
}

/* Most pictures show one condition; which one is said in the report. */
static enum ar_status choose_condition(struct job *job, struct ar_error *err)
{
    size_t count;
    enum ar_status status = ar_plot_condition_choose(&job->steps, &job->condition, &count, err);
    if (status == AR_OK && count > 1) {
        const struct ar_plot_row *row = &job->condition.rows[0];
        snprintf(job->report.remark, sizeof job->report.remark,
                 "all pictures but crossover are of a batch of %" PRIu64
                 " per GPU, %s, gradient scale %g, one of %zu combinations",
                 row->batch_per_gpu, row->precision, row->gradient_scale, count);
    }
    return status;
}

static enum ar_status read_tables(struct job *job, struct ar_error *err)
{
    enum ar_status status = ar_plot_table_read(job->steps_path, AR_PLOT_STEPS, &job->algorithms,
                                               &job->engines, &job->steps, err);
    if (status != AR_OK) {
        return status;
    }
    count_rows(job, &job->steps);
    status = choose_condition(job, err);
    if (status != AR_OK || access(job->collectives_path, F_OK) != 0) {
        return status;
    }
    status = ar_plot_table_read(job->collectives_path, AR_PLOT_COLLECTIVES, &job->algorithms,
                                &job->engines, &job->collectives, err);
    if (status == AR_OK) {
        count_rows(job, &job->collectives);
    }
    return status;
}

/* --- one picture -------------------------------------------------------------------------- */

static enum ar_status open_in_work_dir(const struct job *job, const char *name, const char *suffix,
                                       struct ar_output *output, struct ar_error *err)
{
    char path[FILE_SIZE];
    snprintf(path, sizeof path, "%s/%s%s", job->work_dir, name, suffix);
    return ar_output_open(path, output, err);
}

static enum ar_status write_data(const struct job *job, const struct ar_plot_drawing *drawing,
                                 const struct ar_plot_scene *scene, struct ar_error *err)
{
    struct ar_output output;
    enum ar_status status = open_in_work_dir(job, drawing->data_name, ".csv", &output, err);
    if (status != AR_OK) {
        return status;
    }
    drawing->write_data(output.file, scene);
    return ar_output_commit(&output, err);
}

static enum ar_status write_script(const struct job *job, const struct ar_plot_drawing *drawing,
                                   const struct ar_plot_scene *scene, struct ar_error *err)
{
    struct ar_output output;
    enum ar_status status = open_in_work_dir(job, drawing->name, ".gp", &output, err);
    if (status != AR_OK) {
        return status;
    }
    fprintf(output.file,
            "# Written by `allreckon plot`. `gnuplot %s.gp` in this directory draws %s.svg and\n"
            "# %s.png again, from %s.csv. The next `allreckon plot` replaces all of them.\n\n",
            drawing->name, drawing->name, drawing->name, drawing->data_name);
    fprintf(output.file, "picture = '%s'\ndata = '%s.csv'\n", drawing->name, drawing->data_name);
    drawing->write_settings(output.file, scene);
    status = ar_plot_copy_template(job->request->template_dir, "style", output.file, err);
    if (status == AR_OK) {
        status = ar_plot_copy_template(job->request->template_dir, drawing->name, output.file, err);
    }
    if (status != AR_OK) {
        ar_output_abort(&output);
        return status;
    }
    return ar_output_commit(&output, err);
}

static enum ar_status draw_scene(const struct job *job, const struct ar_plot_drawing *drawing,
                                 const struct ar_plot_scene *scene, struct ar_plot_picture *picture,
                                 struct ar_error *err)
{
    enum ar_status status = write_data(job, drawing, scene, err);
    if (status == AR_OK) {
        status = write_script(job, drawing, scene, err);
    }
    struct ar_plot_script script = {job->program, job->work_dir, drawing->name};
    if (status == AR_OK) {
        status = ar_plot_gnuplot_draw(&script, picture->reason, sizeof picture->reason, err);
    }
    if (status == AR_OK && drawing->has_text_version && job->request->ascii_file != NULL) {
        uint32_t columns = job->request->ascii_columns;
        status = ar_plot_gnuplot_draw_text(&script, columns < TEXT_COLUMNS ? TEXT_COLUMNS : columns,
                                           TEXT_ROWS, err);
    }
    return status;
}

static void explain_absence(const struct job *job, const struct ar_plot_drawing *drawing,
                            struct ar_plot_picture *picture)
{
    char path[FILE_SIZE];
    snprintf(path, sizeof path, "%s/%s.svg", job->output_dir, drawing->name);
    snprintf(picture->reason, sizeof picture->reason, "%s%s", drawing->empty_reason,
             access(path, F_OK) == 0 ? "; the files of that name there are from an earlier run"
                                     : "");
}

static enum ar_status draw_picture(const struct job *job, const struct ar_plot_drawing *drawing,
                                   struct ar_plot_picture *picture, struct ar_error *err)
{
    const struct ar_plot_table *table = drawing->kind == AR_PLOT_COLLECTIVES ? &job->collectives
                                        : drawing->has_all_conditions        ? &job->steps
                                                                             : &job->condition;
    struct ar_plot_pick pick = {NULL, 0};
    enum ar_status status = AR_OK;
    picture->name = drawing->name;
    if (table->rows_count > 0) {
        status = drawing->pick(table, &job->engines, &pick, err);
    }
    if (status == AR_OK && pick.rows_count == 0) {
        explain_absence(job, drawing, picture);
    } else if (status == AR_OK) {
        struct ar_plot_scene scene = {&table->subject, &job->algorithms, &job->engines, &pick};
        status = draw_scene(job, drawing, &scene, picture, err);
        picture->is_drawn = status == AR_OK;
        picture->rows_count = pick.rows_count;
    }
    ar_plot_pick_clear(&pick);
    return status;
}

/* --- all or nothing ----------------------------------------------------------------------- */

static void target_of(const char *directory, size_t picture, size_t suffix, char path[FILE_SIZE])
{
    const struct ar_plot_drawing *drawing = ar_plot_drawings[picture];
    snprintf(path, FILE_SIZE, "%s/%s%s", directory,
             suffix == 0 ? drawing->data_name : drawing->name, suffixes[suffix]);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat a_info;
    struct stat b_info;
    return stat(a, &a_info) == 0 && stat(b, &b_info) == 0 && a_info.st_dev == b_info.st_dev &&
           a_info.st_ino == b_info.st_ino;
}

/* Refuses a target that is an input or a directory before anything is written. */
static enum ar_status check_targets(const struct job *job, struct ar_error *err)
{
    for (size_t i = 0; i < AR_PLOT_PICTURES * SUFFIXES; i++) {
        char path[FILE_SIZE];
        target_of(job->output_dir, i / SUFFIXES, i % SUFFIXES, path);
        if (is_same_file(path, job->steps_path) || is_same_file(path, job->collectives_path)) {
            return ar_error_set(err, AR_IO,
                                "%s: a picture would overwrite this input; expected another name "
                                "or another output directory",
                                path);
        }
        if (is_directory(path)) {
            return ar_error_set(err, AR_IO, "%s: found a directory; expected a file to replace",
                                path);
        }
    }
    return AR_OK;
}

static enum ar_status move_into_place(const struct job *job, struct ar_error *err)
{
    for (size_t i = 0; i < AR_PLOT_PICTURES * SUFFIXES; i++) {
        if (!job->report.pictures[i / SUFFIXES].is_drawn) {
            continue;
        }
        char source[FILE_SIZE];
        char target[FILE_SIZE];
        target_of(job->work_dir, i / SUFFIXES, i % SUFFIXES, source);
        target_of(job->output_dir, i / SUFFIXES, i % SUFFIXES, target);
        if (rename(source, target) != 0) {
            return ar_error_set(err, AR_IO, "%s: cannot write: %s", target, strerror(errno));
        }
    }
    return AR_OK;
}

/* --- text versions ------------------------------------------------------------------------ */

/* gnuplot begins a page with a form feed and fills lines with spaces. */
static void copy_text_version(FILE *source, FILE *target)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, source)) > 0) {
        while (size > 0 && strchr(" \r\n", line[size - 1]) != NULL) {
            size--;
        }
        line[size] = '\0';
        fprintf(target, "%s\n", line + strspn(line, "\f"));
    }
    free(line);
}

static enum ar_status print_text_versions(const struct job *job, struct ar_error *err)
{
    FILE *target = job->request->ascii_file;
    for (size_t i = 0; target != NULL && i < AR_PLOT_PICTURES; i++) {
        if (!job->report.pictures[i].is_drawn || !ar_plot_drawings[i]->has_text_version) {
            continue;
        }
        char path[FILE_SIZE];
        snprintf(path, sizeof path, "%s/%s.txt", job->work_dir, ar_plot_drawings[i]->name);
        FILE *source = fopen(path, "re");
        if (source == NULL) {
            return ar_error_set(err, AR_IO, "%s: cannot read: %s", path, strerror(errno));
        }
        copy_text_version(source, target);
        fclose(source);
    }
    if (target != NULL && (fflush(target) != 0 || ferror(target) != 0)) {
        return ar_error_set(err, AR_IO, "cannot write the text version of the pictures: %s",
                            strerror(errno));
    }
    return AR_OK;
}

static enum ar_status draw_all(struct job *job, struct ar_error *err)
{
    enum ar_status status = ar_plot_work_make(job->output_dir, job->work_dir, err);
    for (size_t i = 0; status == AR_OK && i < AR_PLOT_PICTURES; i++) {
        status = draw_picture(job, ar_plot_drawings[i], &job->report.pictures[i], err);
    }
    if (status == AR_OK) {
        status = move_into_place(job, err);
    }
    if (status == AR_OK) {
        status = print_text_versions(job, err);
    }
    ar_plot_work_remove(job->work_dir);
    return status;
}

enum ar_status ar_plot_sweep(const struct ar_plot_request *request, struct ar_plot_report *report,
                             struct ar_error *err)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return ar_error_no_memory(err, "the pictures");
    }
    job->request = request;
    job->program = request->gnuplot == NULL ? "gnuplot" : request->gnuplot;
    enum ar_status status = resolve(job, err);
    if (status == AR_OK) {
        status = read_tables(job, err);
    }
    if (status == AR_OK) {
        status = check_targets(job, err);
    }
    if (status == AR_OK) {
        status = draw_all(job, err);
    }
    if (status == AR_OK) {
        ar_copy_text(job->report.output_dir, sizeof job->report.output_dir, job->output_dir);
        *report = job->report;
    }
    ar_plot_table_clear(&job->steps);
    ar_plot_table_clear(&job->condition);
    ar_plot_table_clear(&job->collectives);
    free(job);
    return status;
}
