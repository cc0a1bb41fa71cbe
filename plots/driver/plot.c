#include "ar_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_text.h"
#include "condition.h"
#include "gnuplot.h"
#include "script.h"
#include "work.h"

enum { PATH_SIZE = AR_PLOT_PATH_SIZE, FILE_SIZE = 4096, TEXT_COLUMNS = 79 };

struct job {
    const struct ar_plot_request *request;
    struct ar_arena *arena;
    char paths[AR_PLOT_FILES][PATH_SIZE]; /* the inputs of the set; "": of another set */
    char output_dir[PATH_SIZE];
    char work_dir[AR_PLOT_WORK_SIZE]; /* inside output_dir; empty: not made */
    struct ar_plot_table tables[AR_PLOT_FILES];
    struct ar_plot_drawing drawings[AR_PLOT_KINDS]; /* in the order of report.pictures */
    struct ar_plot_report report;
};

/* --- where things are --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The first file of the set may have any name; the others lie beside it. */
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
    bool is_file = !is_directory(path);
    char input_dir[PATH_SIZE];
    snprintf(input_dir, sizeof input_dir, "%s", path);
    if (is_file) {
        char *slash = strrchr(input_dir, '/');
        snprintf(slash == NULL ? input_dir : slash + 1, 2, slash == NULL ? "." : "");
    }
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (ar_plot_sources[i].set != job->request->set) {
            continue;
        }
        if (is_file) {
            snprintf(job->paths[i], PATH_SIZE, "%s", path);
            is_file = false;
        } else {
            snprintf(job->paths[i], PATH_SIZE, "%.*s/%s", (int)max, input_dir,
                     ar_plot_sources[i].name);
        }
    }
    snprintf(job->output_dir, PATH_SIZE, "%s", output_dir == NULL ? input_dir : output_dir);
    return AR_OK;
}

/* --- reading ------------------------------------------------------------------------------ */

static enum ar_status read_table(struct job *job, size_t file, struct ar_error *err)
{
    struct ar_plot_table *table = &job->tables[file];
    AR_TRY(ar_plot_table_read(job->paths[file], (enum ar_plot_file)file, job->arena, table, err));
    job->report.rows_used += table->rows.count;
    job->report.rows_failed += table->failed_count;
    if (job->report.rows_failed_line == 0) {
        job->report.rows_failed_line = table->failed_line;
    }
    return AR_OK;
}

/* Steps and compared calls must be there; the other files may be. */
static enum ar_status read_tables(struct job *job, struct ar_error *err)
{
    bool is_any = false;
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        bool is_needed = i == AR_PLOT_STEPS || i == AR_PLOT_COMPARED;
        if (job->paths[i][0] != '\0' && (is_needed || access(job->paths[i], F_OK) == 0)) {
            AR_TRY(read_table(job, i, err));
            is_any = true;
        }
    }
    if (!is_any) {
        return ar_error_set(err, AR_NO_INPUT,
                            "%s: found none of reproduce.csv, curves.csv and sensitivity.csv",
                            job->request->path);
    }
    const struct ar_plot_table *steps = &job->tables[AR_PLOT_STEPS];
    struct ar_plot_rows rows;
    if (steps->csv != NULL) {
        AR_TRY(ar_plot_rows_all(steps, job->arena, &rows, err));
        ar_plot_condition_say(steps, rows, job->report.note, sizeof job->report.note);
    }
    return AR_OK;
}

/* --- one picture -------------------------------------------------------------------------- */

static enum ar_status pick_part(struct job *job, struct ar_plot_drawing *drawing, size_t part,
                                struct ar_error *err)
{
    const struct ar_plot_part *of = &drawing->kind->parts[part];
    const struct ar_plot_table *table = &job->tables[of->file];
    struct ar_plot_rows *rows = &drawing->rows[part];
    if (of->name == NULL || table->csv == NULL) {
        return AR_OK;
    }
    drawing->tables[part] = table;
    AR_TRY(ar_plot_rows_all(table, job->arena, rows, err));
    ar_plot_condition_keep(table, drawing->kind->has_all_batches, rows);
    if (of->pick != NULL) {
        of->pick(table, rows);
    }
    return AR_OK;
}

static enum ar_status open_in_work_dir(const struct job *job, const char *name, const char *suffix,
                                       struct ar_output *output, struct ar_error *err)
{
    char path[FILE_SIZE];
    snprintf(path, sizeof path, "%s/%s%s", job->work_dir, name, suffix);
    return ar_output_open(path, output, err);
}

static enum ar_status write_part(const struct job *job, const struct ar_plot_drawing *drawing,
                                 size_t part, struct ar_error *err)
{
    struct ar_output output;
    AR_TRY(open_in_work_dir(job, drawing->kind->parts[part].name, ".csv", &output, err));
    ar_plot_write_data(output.file, drawing, part);
    return ar_output_commit(&output, err);
}

static enum ar_status copy_templates(const struct job *job, const struct ar_plot_kind *kind,
                                     FILE *file, struct ar_error *err)
{
    AR_TRY(ar_plot_copy_template(job->request->template_dir, "style", file, err));
    return ar_plot_copy_template(job->request->template_dir, kind->template_name, file, err);
}

static enum ar_status write_script(const struct job *job, const struct ar_plot_drawing *drawing,
                                   struct ar_error *err)
{
    struct ar_output output;
    AR_TRY(open_in_work_dir(job, drawing->kind->name, ".gp", &output, err));
    ar_plot_write_head(output.file, drawing);
    enum ar_status status = copy_templates(job, drawing->kind, output.file, err);
    if (status != AR_OK) {
        ar_output_abort(&output);
        return status;
    }
    return ar_output_commit(&output, err);
}

static void explain_absence(const struct job *job, struct ar_plot_picture *picture,
                            const char *reason)
{
    char path[FILE_SIZE];
    snprintf(path, sizeof path, "%s/%s.svg", job->output_dir, picture->name);
    snprintf(picture->reason, sizeof picture->reason, "%s%s", reason,
             access(path, F_OK) == 0 ? "; the files of that name there are from an earlier run"
                                     : "");
}

/* Writes the files from which gnuplot draws. */
static enum ar_status prepare_picture(struct job *job, size_t i, struct ar_error *err)
{
    struct ar_plot_drawing *drawing = &job->drawings[i];
    struct ar_plot_picture *picture = &job->report.pictures[i];
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        AR_TRY(pick_part(job, drawing, part, err));
        picture->rows_count += drawing->rows[part].count;
    }
    picture->is_drawn = picture->rows_count > 0;
    if (!picture->is_drawn) {
        explain_absence(job, picture, drawing->kind->empty_reason);
        return AR_OK;
    }
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        if (drawing->rows[part].count > 0) {
            AR_TRY(write_part(job, drawing, part, err));
        }
    }
    return write_script(job, drawing, err);
}

static enum ar_status run_all(struct job *job, struct ar_error *err)
{
    struct ar_plot_run runs[2 * AR_PLOT_KINDS];
    size_t count = 0;
    uint32_t columns = job->request->ascii_columns;
    for (size_t i = 0; i < job->report.pictures_count; i++) {
        struct ar_plot_picture *picture = &job->report.pictures[i];
        if (!picture->is_drawn) {
            continue;
        }
        runs[count++] = (struct ar_plot_run){.name = picture->name,
                                             .warning = picture->reason,
                                             .warning_size = sizeof picture->reason};
        if (job->drawings[i].kind->has_text_version && job->request->ascii_file != NULL) {
            runs[count++] = (struct ar_plot_run){
                .name = picture->name,
                .text_columns = columns < TEXT_COLUMNS ? TEXT_COLUMNS : columns};
        }
    }
    const char *gnuplot = job->request->gnuplot;
    return ar_plot_gnuplot_run(gnuplot == NULL ? "gnuplot" : gnuplot, job->work_dir, runs, count,
                               err);
}

/* --- all or nothing ----------------------------------------------------------------------- */

enum { TARGETS = AR_PLOT_PARTS + 3 };

/* The name of a file that a picture leaves; false if it leaves no such file. */
static bool target_of(const struct ar_plot_drawing *drawing, size_t target, char name[FILE_SIZE])
{
    static const char *const suffixes[] = {".gp", ".svg", ".png"};
    if (target >= AR_PLOT_PARTS) {
        snprintf(name, FILE_SIZE, "%s%s", drawing->kind->name, suffixes[target - AR_PLOT_PARTS]);
        return true;
    }
    const struct ar_plot_part *part = &drawing->kind->parts[target];
    snprintf(name, FILE_SIZE, "%s.csv", part->name == NULL ? "" : part->name);
    return part->name != NULL && strcmp(name, ar_plot_sources[part->file].name) != 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat a_info;
    struct stat b_info;
    return stat(a, &a_info) == 0 && stat(b, &b_info) == 0 && a_info.st_dev == b_info.st_dev &&
           a_info.st_ino == b_info.st_ino;
}

static enum ar_status check_target(const struct job *job, const char *name, struct ar_error *err)
{
    char path[2 * FILE_SIZE];
    snprintf(path, sizeof path, "%s/%s", job->output_dir, name);
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (is_same_file(path, job->paths[i])) {
            return ar_error_set(err, AR_IO,
                                "%s: a picture would overwrite this input; expected another name "
                                "or another output directory",
                                path);
        }
    }
    if (is_directory(path)) {
        return ar_error_set(err, AR_IO, "%s: found a directory; expected a file to replace", path);
    }
    return AR_OK;
}

/* Refuses a target that is an input or a directory before anything is written. */
static enum ar_status check_targets(const struct job *job, struct ar_error *err)
{
    char name[FILE_SIZE];
    for (size_t i = 0; i < job->report.pictures_count * TARGETS; i++) {
        if (target_of(&job->drawings[i / TARGETS], i % TARGETS, name)) {
            AR_TRY(check_target(job, name, err));
        }
    }
    return AR_OK;
}

static enum ar_status move_into_place(const struct job *job, struct ar_error *err)
{
    for (size_t i = 0; i < job->report.pictures_count * TARGETS; i++) {
        char name[FILE_SIZE];
        char source[2 * FILE_SIZE];
        char target[2 * FILE_SIZE];
        const struct ar_plot_drawing *drawing = &job->drawings[i / TARGETS];
        bool is_left = job->report.pictures[i / TARGETS].is_drawn &&
                       target_of(drawing, i % TARGETS, name) &&
                       (i % TARGETS >= AR_PLOT_PARTS || drawing->rows[i % TARGETS].count > 0);
        snprintf(source, sizeof source, "%s/%s", job->work_dir, is_left ? name : "");
        snprintf(target, sizeof target, "%s/%s", job->output_dir, is_left ? name : "");
        if (is_left && rename(source, target) != 0) {
            return ar_error_set(err, AR_IO, "%.400s: cannot write: %s", target, strerror(errno));
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
    for (size_t i = 0; target != NULL && i < job->report.pictures_count; i++) {
        if (!job->report.pictures[i].is_drawn || !job->drawings[i].kind->has_text_version) {
            continue;
        }
        char path[FILE_SIZE];
        snprintf(path, sizeof path, "%s/%s.txt", job->work_dir, job->drawings[i].kind->name);
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

static enum ar_status draw_in_work_dir(struct job *job, struct ar_error *err)
{
    for (size_t i = 0; i < job->report.pictures_count; i++) {
        AR_TRY(prepare_picture(job, i, err));
    }
    AR_TRY(run_all(job, err));
    AR_TRY(move_into_place(job, err));
    return print_text_versions(job, err);
}

static void list_pictures(struct job *job)
{
    for (size_t i = 0; i < AR_PLOT_KINDS; i++) {
        if (ar_plot_kinds[i]->set == job->request->set) {
            size_t place = job->report.pictures_count++;
            job->drawings[place].kind = ar_plot_kinds[i];
            job->drawings[place].subject = job->request->subject;
            job->report.pictures[place].name = ar_plot_kinds[i]->name;
        }
    }
}

static enum ar_status draw(struct job *job, struct ar_error *err)
{
    list_pictures(job);
    AR_TRY(resolve(job, err));
    AR_TRY(read_tables(job, err));
    AR_TRY(check_targets(job, err));
    AR_TRY(ar_plot_work_make(job->output_dir, job->work_dir, err));
    enum ar_status status = draw_in_work_dir(job, err);
    ar_plot_work_remove(job->work_dir);
    return status;
}

enum ar_status ar_plot_draw(const struct ar_plot_request *request, struct ar_plot_report *report,
                            struct ar_error *err)
{
    struct ar_arena arena = {NULL};
    struct job *job = ar_arena_alloc(&arena, 1, sizeof *job);
    enum ar_status status = AR_OK;
    if (job == NULL) {
        status = ar_error_no_memory(err, "the pictures");
    } else {
        job->request = request;
        job->arena = &arena;
        status = draw(job, err);
    }
    if (status == AR_OK) {
        ar_copy_text(job->report.output_dir, sizeof job->report.output_dir, job->output_dir);
        *report = job->report;
    }
    ar_arena_end(&arena);
    return status;
}
