#include "ar_plot.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_output.h"
#include "ar_scratch.h"
#include "driver.h"

enum { TEXT_COLUMNS = 79, FILE_MAX = 1 << 20 };

struct job {
    const struct ar_plot_request *request;
    struct ar_arena *arena;
    const char *paths[AR_PLOT_FILES]; /* the inputs of the set; NULL: of another set */
    const char *output_dir;
    const char *work_dir; /* inside output_dir */
    struct ar_plot_table tables[AR_PLOT_FILES];
    struct ar_plot_drawing drawings[AR_PLOT_KINDS]; /* in the order of report.pictures */
    const char *refused; /* why the first picture was that was; NULL: none */
    struct ar_plot_report report;
};

/* --- where things are --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The path of a file in a directory, the job's. */
static enum ar_status path_in(const struct job *job, const char *directory, const char *name,
                              const char *suffix, const char **path, struct ar_error *err)
{
    *path = ar_arena_format(job->arena, "%s/%s%s", directory, name, suffix);
    return *path != NULL ? AR_OK : ar_error_no_memory(err, "the pictures");
}

/* The first file of the set may have any name; the others lie beside it. */
static enum ar_status resolve(struct job *job, struct ar_error *err)
{
    const char *path = job->request->path;
    char *input_dir = ar_arena_text(job->arena, path);
    AR_NEED(input_dir, err, "the pictures");
    if (path[0] == '\0') {
        return ar_error_set(err, AR_NO_INPUT,
                            "the path is empty; expected a directory with sweep.csv or a CSV file");
    }
    bool is_file = !is_directory(path);
    char *slash = strrchr(input_dir, '/');
    if (is_file && slash != NULL) {
        slash[1] = '\0';
    }
    const char *beside = is_file && slash == NULL ? "." : input_dir;
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (ar_plot_sources[i].set == job->request->set) {
            AR_TRY(path_in(job, beside, ar_plot_sources[i].name, "", &job->paths[i], err));
            job->paths[i] = is_file ? path : job->paths[i];
            is_file = false;
        }
    }
    job->output_dir = job->request->output_dir == NULL ? beside : job->request->output_dir;
    job->report.output_dir = job->output_dir;
    return AR_OK;
}

/* --- reading ------------------------------------------------------------------------------ */

static enum ar_status read_tables(struct job *job, struct ar_error *err)
{
    struct ar_plot_report *report = &job->report;
    bool is_any = false;
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        struct ar_plot_table table = {.csv = NULL};
        enum ar_plot_file file = (enum ar_plot_file)i;
        const char *path = job->paths[i];
        if (path != NULL && job->tables[i].csv == NULL &&
            (ar_plot_sources[i].is_needed || access(path, F_OK) == 0)) {
            AR_TRY(ar_plot_table_read(path, &file, job->arena, &table, err));
            job->tables[file] = table;
            report->rows_failed += table.failed_count;
            report->rows_failed_line =
                report->rows_failed_line == 0 ? table.failed_line : report->rows_failed_line;
            is_any = true;
        }
    }
    if (!is_any) {
        return ar_error_set(err, AR_NO_INPUT,
                            "%s: found none of reproduce.csv, curves.csv and sensitivity.csv",
                            job->request->path);
    }
    return job->request->where == NULL
               ? AR_OK
               : ar_plot_choose(job->request->where, job->arena, job->tables, AR_PLOT_FILES, err);
}

/* --- one picture -------------------------------------------------------------------------- */

/* `reason` says why the rows are not to be drawn, if they are not. */
static enum ar_status pick_part(struct job *job, struct ar_plot_drawing *drawing, size_t part,
                                const char **reason, struct ar_error *err)
{
    const struct ar_plot_part *of = &drawing->kind->parts[part];
    const struct ar_plot_table *table = &job->tables[of->file];
    struct ar_plot_rows *rows = &drawing->rows[part];
    if (of->name == NULL || table->csv == NULL) {
        return AR_OK;
    }
    AR_TRY(ar_plot_check_alike(table, drawing->kind->has_all_batches, job->arena, reason, err));
    if (*reason != NULL && drawing->kind->has_series) {
        struct ar_plot_table *named = ar_arena_alloc(job->arena, 1, sizeof *named);
        AR_NEED(named, err, "the pictures");
        AR_TRY(ar_plot_name_series(table, job->arena, named, &drawing->series, err));
        *reason = drawing->series != AR_PLOT_UNNAMED ? NULL : *reason;
        table = drawing->series != AR_PLOT_UNNAMED ? named : table;
    }
    drawing->tables[part] = table;
    AR_TRY(ar_plot_rows_all(table, job->arena, rows, err));
    rows->count = *reason == NULL ? rows->count : 0;
    ar_plot_pick(of, table, rows);
    return AR_OK;
}

static enum ar_status open_in_work_dir(const struct job *job, const char *name, const char *suffix,
                                       struct ar_output *output, struct ar_error *err)
{
    const char *path;
    AR_TRY(path_in(job, job->work_dir, name, suffix, &path, err));
    return ar_output_open(path, output, err);
}

/* A whole file of a directory; the arena's. */
static enum ar_status read_from(const struct job *job, const char *directory, const char *name,
                                const char *suffix, char **text, struct ar_error *err)
{
    const char *path;
    size_t bytes;
    AR_TRY(path_in(job, directory, name, suffix, &path, err));
    return ar_file_read(path, FILE_MAX, "a text for pictures", job->arena, text, &bytes, err);
}

static enum ar_status write_part(const struct job *job, const struct ar_plot_drawing *drawing,
                                 size_t part, struct ar_error *err)
{
    struct ar_output output;
    AR_TRY(open_in_work_dir(job, drawing->kind->parts[part].name, ".csv", &output, err));
    ar_plot_write_data(output.file, drawing, part);
    return ar_output_commit(&output, err);
}

static enum ar_status write_script(const struct job *job, const struct ar_plot_drawing *drawing,
                                   struct ar_error *err)
{
    struct ar_output output;
    const char *templates = job->request->template_dir;
    char *style = NULL;
    char *template = NULL;
    AR_TRY(read_from(job, templates, "style", ".gp", &style, err));
    const struct ar_plot_kind *kind = drawing->kind;
    const char *name = kind->template_name != NULL ? kind->template_name : kind->name;
    AR_TRY(read_from(job, templates, name, ".gp", &template, err));
    AR_TRY(open_in_work_dir(job, drawing->kind->name, ".gp", &output, err));
    ar_plot_write_head(output.file, drawing);
    fprintf(output.file, "\n%s\n%s", style, template);
    return ar_output_commit(&output, err);
}

/* `reason`: NULL: the file of the picture is not there. */
static enum ar_status explain_absence(const struct job *job, const char *reason,
                                      struct ar_plot_picture *picture, struct ar_error *err)
{
    const char *path;
    AR_TRY(path_in(job, job->output_dir, picture->name, ".svg", &path, err));
    bool is_there = access(path, F_OK) == 0;
    if (reason == NULL && !is_there) {
        return AR_OK;
    }
    picture->reason =
        ar_arena_format(job->arena, "%s%s", reason != NULL ? reason : "nothing to draw",
                        is_there ? "; the files of that name there are from an earlier run" : "");
    return picture->reason == NULL ? ar_error_no_memory(err, "the pictures") : AR_OK;
}

/* Writes the files from which gnuplot draws. */
static enum ar_status prepare_picture(struct job *job, size_t i, struct ar_error *err)
{
    struct ar_plot_drawing *drawing = &job->drawings[i];
    struct ar_plot_picture *picture = &job->report.pictures[i];
    const char *reason = NULL;
    for (size_t part = 0; part < AR_PLOT_PARTS && reason == NULL; part++) {
        AR_TRY(pick_part(job, drawing, part, &reason, err));
        picture->rows_count += drawing->rows[part].count;
    }
    picture->is_drawn = picture->rows_count > 0;
    job->refused = job->refused == NULL ? reason : job->refused;
    if (!picture->is_drawn) {
        bool is_there = drawing->tables[0] != NULL || drawing->tables[1] != NULL;
        reason = reason == NULL && is_there ? drawing->kind->empty_reason : reason;
        return explain_absence(job, reason, picture, err);
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
    const struct ar_plot_request *request = job->request;
    struct ar_plot_run runs[AR_PLOT_KINDS];
    size_t count = 0;
    uint32_t columns =
        request->ascii_columns < TEXT_COLUMNS ? TEXT_COLUMNS : request->ascii_columns;
    for (size_t i = 0; i < job->report.pictures_count; i++) {
        struct ar_plot_picture *picture = &job->report.pictures[i];
        bool has_text = job->drawings[i].kind->has_text_version && request->ascii_file != NULL;
        if (picture->is_drawn) {
            runs[count++] = (struct ar_plot_run){.name = picture->name,
                                                 .text_columns = has_text ? columns : 0,
                                                 .has_values = request->is_for_page,
                                                 .warning = &picture->reason,
                                                 .arena = job->arena};
        }
    }
    return ar_plot_gnuplot_run(request->gnuplot == NULL ? "gnuplot" : request->gnuplot,
                               job->work_dir, runs, count, err);
}

static enum ar_status add_all_values(const struct job *job, struct ar_error *err)
{
    for (size_t i = 0; job->request->is_for_page && i < job->report.pictures_count; i++) {
        if (job->report.pictures[i].is_drawn) {
            AR_TRY(ar_plot_hover_add(&job->drawings[i], job->work_dir, job->arena, err));
        }
    }
    return AR_OK;
}

/* --- all or nothing ----------------------------------------------------------------------- */

/* What is left for the user; data of an input's name are that input. */
static int is_left(const struct dirent *entry)
{
    static const char *const endings[] = {".csv", ".gp", ".svg", ".png"};
    const char *ending = strrchr(entry->d_name, '.');
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (strcmp(entry->d_name, ar_plot_sources[i].name) == 0) {
            return 0;
        }
    }
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(ending, endings[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat a_info;
    struct stat b_info;
    return stat(a, &a_info) == 0 && stat(b, &b_info) == 0 && a_info.st_dev == b_info.st_dev &&
           a_info.st_ino == b_info.st_ino;
}

/* Refuses a target that is an input or a directory. */
static enum ar_status check_target(const struct job *job, const char *path, struct ar_error *err)
{
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (job->paths[i] != NULL && is_same_file(path, job->paths[i])) {
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

/* Looks at all targets, and then moves; `moves` says which. */
static enum ar_status move_all(const struct job *job, struct dirent *const *entries, int count,
                               bool moves, struct ar_error *err)
{
    for (int i = 0; i < count; i++) {
        const char *source;
        const char *target;
        AR_TRY(path_in(job, job->work_dir, entries[i]->d_name, "", &source, err));
        AR_TRY(path_in(job, job->output_dir, entries[i]->d_name, "", &target, err));
        AR_TRY(check_target(job, target, err));
        if (moves && rename(source, target) != 0) {
            return ar_error_set(err, AR_IO, "%.400s: cannot write: %s", target, strerror(errno));
        }
    }
    return AR_OK;
}

static enum ar_status move_into_place(const struct job *job, struct ar_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(job->work_dir, &entries, is_left, alphasort);
    enum ar_status status = move_all(job, entries, count, false, err);
    status = status == AR_OK ? move_all(job, entries, count, true, err) : status;
    while (count > 0) {
        free(entries[--count]);
    }
    free(entries);
    return status;
}

/* --- text versions ------------------------------------------------------------------------ */

/* gnuplot begins a page with a form feed and fills lines with spaces. */
static void print_text(FILE *target, char *text)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL && text != NULL;) {
        size_t size = strlen(line);
        while (size > 0 && strchr(" \r", line[size - 1]) != NULL) {
            line[--size] = '\0';
        }
        fprintf(target, "%s\n", line + strspn(line, "\f"));
    }
}

static enum ar_status print_text_versions(const struct job *job, struct ar_error *err)
{
    FILE *target = job->request->ascii_file;
    for (size_t i = 0; target != NULL && i < job->report.pictures_count; i++) {
        const struct ar_plot_kind *kind = job->drawings[i].kind;
        char *text = NULL;
        if (job->report.pictures[i].is_drawn && kind->has_text_version) {
            AR_TRY(read_from(job, job->work_dir, kind->name, ".txt", &text, err));
            print_text(target, text);
        }
    }
    if (target != NULL && (fflush(target) != 0 || ferror(target) != 0)) {
        return ar_error_set(err, AR_IO, "cannot write the text version of the pictures: %s",
                            strerror(errno));
    }
    return AR_OK;
}

static enum ar_status draw_in_work_dir(struct job *job, struct ar_arena *room, struct ar_error *err)
{
    size_t drawn = 0;
    AR_TRY(ar_make_directory(job->output_dir, err));
    AR_TRY(ar_scratch_make(job->output_dir, room, &job->work_dir, err));
    for (size_t i = 0; i < job->report.pictures_count; i++) {
        AR_TRY(prepare_picture(job, i, err));
        drawn += job->report.pictures[i].is_drawn;
    }
    if (drawn == 0 && job->refused != NULL && !job->request->is_for_page) {
        return ar_error_set(err, AR_BAD_DATA, "%.200s: no picture: %.300s", job->request->path,
                            job->refused);
    }
    AR_TRY(run_all(job, err));
    AR_TRY(add_all_values(job, err));
    AR_TRY(move_into_place(job, err));
    return print_text_versions(job, err);
}

enum ar_status ar_plot_draw(const struct ar_plot_request *request, struct ar_arena *arena,
                            struct ar_plot_report *report, struct ar_error *err)
{
    struct job *job = ar_arena_alloc(arena, 1, sizeof *job);
    AR_NEED(job, err, "the pictures");
    job->request = request;
    job->arena = arena;
    for (size_t i = 0; i < AR_PLOT_KINDS; i++) {
        if (ar_plot_sources[ar_plot_kinds[i].parts[0].file].set == request->set) {
            size_t place = job->report.pictures_count++;
            job->drawings[place].kind = &ar_plot_kinds[i];
            job->drawings[place].subject = request->subject;
            job->report.pictures[place].name = ar_plot_kinds[i].name;
        }
    }
    AR_TRY(resolve(job, err));
    AR_TRY(read_tables(job, err));
    struct ar_arena room = {0}; /* of the work directory */
    enum ar_status status = draw_in_work_dir(job, &room, err);
    ar_arena_end(&room);
    *report = status == AR_OK ? job->report : *report;
    return status;
}
