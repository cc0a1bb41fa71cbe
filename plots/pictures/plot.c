/* From the files of a command to pictures: reads, selects, writes data and scripts, runs gnuplot,
 * and moves everything into place at the end. */
#include "ar_plot.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_output.h"
#include "pictures.h"

enum { TEXT_COLUMNS = 79, FILE_MAX = 1 << 20 };

struct job {
    const struct ar_plot_request *request;
    struct ar_arena *arena;
    const char *paths[AR_PLOT_FILES]; /* the inputs of the set; NULL: of another set */
    const char *output_dir;
    const char *work_dir; /* inside output_dir */
    struct ar_plot_table tables[AR_PLOT_FILES];
    struct ar_plot_drawing *drawings; /* in the order of report.pictures */
    const char *first_refusal;        /* why a picture is not drawn though it has rows; or NULL */
    struct ar_plot_report report;
};

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static const char *path_in(const struct job *job, const char *directory, const char *name,
                           const char *suffix)
{
    return ar_arena_format(job->arena, "%s/%s%s", directory, name, suffix);
}

/* --- input -------------------------------------------------------------------------------- */

/* Finds the paths of the set. The first file may have any name; the others lie beside it. */
static enum ar_status find_paths(struct job *job, struct ar_error *err)
{
    const char *path = job->request->path;
    char *input_dir = ar_arena_text(job->arena, path);
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
            job->paths[i] = is_file ? path : path_in(job, beside, ar_plot_sources[i].name, "");
            is_file = false;
        }
    }
    job->output_dir = job->request->output_dir == NULL ? beside : job->request->output_dir;
    job->report.output_dir = job->output_dir;
    return AR_OK;
}

static enum ar_status read_tables(struct job *job, struct ar_error *err)
{
    struct ar_plot_report *report = &job->report;
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
        }
    }
    return job->request->where == NULL
               ? AR_OK
               : ar_plot_choose(job->request->where, job->arena, job->tables, AR_PLOT_FILES, err);
}

/* --- one picture -------------------------------------------------------------------------- */

/* Selects the rows of a part. Returns why they are not to be drawn; NULL: they are. */
static const char *select_part(struct job *job, struct ar_plot_drawing *drawing, size_t part)
{
    const struct ar_plot_kind *kind = drawing->kind;
    const struct ar_plot_table *table = &job->tables[kind->parts[part].file];
    if (!ar_plot_has_part(kind, part) || table->csv == NULL) {
        return NULL;
    }
    const char *reason = ar_plot_check_alike(table, kind->has_all_batches, job->arena);
    if (reason != NULL && kind->has_series) {
        struct ar_plot_table *named = ar_arena_alloc(job->arena, 1, sizeof *named);
        drawing->series = ar_plot_name_series(table, job->arena, named);
        reason = drawing->series != AR_PLOT_UNNAMED ? NULL : reason;
        table = drawing->series != AR_PLOT_UNNAMED ? named : table;
    }
    drawing->tables[part] = table;
    if (reason == NULL) {
        drawing->rows[part] = ar_plot_rows_all(table, job->arena);
        ar_plot_pick(&kind->parts[part], table, &drawing->rows[part]);
    }
    return reason;
}

/* Reads a whole file of a directory. */
static enum ar_status read_from(const struct job *job, const char *directory, const char *name,
                                const char *suffix, char **text, struct ar_error *err)
{
    size_t bytes;
    return ar_file_read(path_in(job, directory, name, suffix), FILE_MAX, "a text for pictures",
                        job->arena, text, &bytes, err);
}

/* Writes the files from which gnuplot draws. */
static enum ar_status write_picture(const struct job *job, const struct ar_plot_drawing *drawing,
                                    struct ar_error *err)
{
    const struct ar_plot_kind *kind = drawing->kind;
    const char *name = kind->template_name != NULL ? kind->template_name : kind->name;
    struct ar_output output;
    char *style;
    char *template;
    for (size_t part = 0; part < AR_PLOT_PARTS; part++) {
        if (drawing->rows[part].count > 0) {
            const char *data = ar_plot_data_name(drawing, part);
            AR_TRY(ar_output_open(path_in(job, job->work_dir, data, ".csv"), &output, err));
            ar_plot_write_data(output.file, drawing, part);
            AR_TRY(ar_output_commit(&output, err));
        }
    }
    AR_TRY(read_from(job, job->request->template_dir, "style", ".gp", &style, err));
    AR_TRY(read_from(job, job->request->template_dir, name, ".gp", &template, err));
    AR_TRY(ar_output_open(path_in(job, job->work_dir, kind->name, ".gp"), &output, err));
    ar_plot_write_head(output.file, drawing);
    fprintf(output.file, "\n%s\n%s", style, template);
    return ar_output_commit(&output, err);
}

/* Why a picture without rows is not drawn: `reason`, or what its kind says. NULL if its file is not
 * there, and no older picture is. */
static const char *explain_absence(const struct job *job, const struct ar_plot_drawing *drawing,
                                   const char *reason)
{
    const struct ar_plot_kind *kind = drawing->kind;
    bool is_old_there = access(path_in(job, job->output_dir, kind->name, ".svg"), F_OK) == 0;
    bool is_input_there = drawing->tables[0] != NULL || drawing->tables[1] != NULL;
    if (reason == NULL && is_input_there) {
        reason = kind->empty_reason != NULL
                     ? kind->empty_reason
                     : ar_arena_format(job->arena, "%s has no row to draw",
                                       ar_plot_sources[kind->parts[0].file].name);
    }
    if (reason == NULL && !is_old_there) {
        return NULL;
    }
    return ar_arena_format(job->arena, "%s%s", reason != NULL ? reason : "nothing to draw",
                           is_old_there ? "; the files of that name there are from an earlier run"
                                        : "");
}

static enum ar_status prepare_picture(struct job *job, size_t i, struct ar_error *err)
{
    struct ar_plot_drawing *drawing = &job->drawings[i];
    struct ar_plot_picture *picture = &job->report.pictures[i];
    const char *reason = NULL;
    for (size_t part = 0; part < AR_PLOT_PARTS && reason == NULL; part++) {
        reason = select_part(job, drawing, part);
        picture->rows_count += drawing->rows[part].count;
    }
    job->first_refusal = job->first_refusal == NULL ? reason : job->first_refusal;
    picture->is_drawn = picture->rows_count > 0;
    if (picture->is_drawn) {
        return write_picture(job, drawing, err);
    }
    picture->reason = explain_absence(job, drawing, reason);
    return AR_OK;
}

static enum ar_status run_gnuplots(struct job *job, struct ar_error *err)
{
    const struct ar_plot_request *request = job->request;
    size_t pictures = job->report.pictures_count;
    struct ar_plot_run *runs = ar_arena_alloc(job->arena, pictures, sizeof *runs);
    size_t count = 0;
    uint32_t columns =
        request->ascii_columns < TEXT_COLUMNS ? TEXT_COLUMNS : request->ascii_columns;
    for (size_t i = 0; i < pictures; i++) {
        struct ar_plot_picture *picture = &job->report.pictures[i];
        bool has_text = job->drawings[i].kind->has_text_version && request->ascii_file != NULL;
        if (picture->is_drawn) {
            runs[count++] = (struct ar_plot_run){.name = picture->name,
                                                 .text_columns = has_text ? columns : 0,
                                                 .has_values = request->is_for_page,
                                                 .warning = &picture->reason};
        }
    }
    AR_TRY(ar_plot_gnuplot_run(request->gnuplot == NULL ? "gnuplot" : request->gnuplot,
                               job->work_dir, runs, count, job->arena, err));
    for (size_t i = 0; request->is_for_page && i < pictures; i++) {
        if (job->report.pictures[i].is_drawn) {
            AR_TRY(ar_plot_add_values(&job->drawings[i], job->work_dir, job->arena, err));
        }
    }
    return AR_OK;
}

/* --- all or nothing ----------------------------------------------------------------------- */

/* Whether a file is left for the user. A data file named like an input is that input. */
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

/* Checks all targets before it moves the first file. */
static enum ar_status move_files(const struct job *job, struct dirent *const *entries, int count,
                                 struct ar_error *err)
{
    for (int i = 0; i < 2 * count; i++) {
        const char *name = entries[i % count]->d_name;
        const char *target = path_in(job, job->output_dir, name, "");
        AR_TRY(i < count ? check_target(job, target, err) : AR_OK);
        if (i >= count && rename(path_in(job, job->work_dir, name, ""), target) != 0) {
            return ar_error_set(err, AR_IO, "%.400s: cannot write: %s", target, strerror(errno));
        }
    }
    return AR_OK;
}

static enum ar_status move_into_place(const struct job *job, struct ar_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(job->work_dir, &entries, is_left, alphasort);
    enum ar_status status = move_files(job, entries, count, err);
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

/* --- all ---------------------------------------------------------------------------------- */

/* Writes each reason once, behind the names of the pictures that have it. */
static const char *join_reasons(const struct job *job)
{
    const struct ar_plot_report *report = &job->report;
    const char *text = NULL;
    for (size_t i = 0; i < report->pictures_count; i++) {
        const char *reason = report->pictures[i].reason;
        const char *names = NULL;
        bool is_first = true;
        for (size_t k = 0; reason != NULL && k < report->pictures_count; k++) {
            const struct ar_plot_picture *other = &report->pictures[k];
            if (other->reason != NULL && strcmp(other->reason, reason) == 0) {
                is_first = is_first && k >= i;
                names = names == NULL ? other->name
                                      : ar_arena_format(job->arena, "%s, %s", names, other->name);
            }
        }
        if (reason != NULL && is_first) {
            text = ar_arena_format(job->arena, "%s%s%s: %s", text != NULL ? text : "",
                                   text != NULL ? "\n" : "", names, reason);
        }
    }
    return text;
}

/* Draws in a work directory, which ends with its own arena. */
static enum ar_status draw_pictures(struct job *job, struct ar_error *err)
{
    struct ar_arena work AR_ENDS_HERE = {NULL};
    size_t drawn = 0;
    AR_TRY(ar_make_directory(job->output_dir, err));
    AR_TRY(ar_scratch_make(job->output_dir, &work, &job->work_dir, err));
    for (size_t i = 0; i < job->report.pictures_count; i++) {
        AR_TRY(prepare_picture(job, i, err));
        drawn += job->report.pictures[i].is_drawn;
    }
    if (drawn == 0 && job->first_refusal != NULL && !job->request->is_for_page) {
        return ar_error_set(err, AR_BAD_DATA, "%.200s: no picture: %.300s", job->request->path,
                            job->first_refusal);
    }
    AR_TRY(run_gnuplots(job, err));
    AR_TRY(move_into_place(job, err));
    return print_text_versions(job, err);
}

enum ar_status ar_plot_draw(const struct ar_plot_request *request, struct ar_arena *arena,
                            struct ar_plot_report *report, struct ar_error *err)
{
    struct job *job = ar_arena_alloc(arena, 1, sizeof *job);
    job->request = request;
    job->arena = arena;
    job->drawings = ar_arena_alloc(arena, ar_plot_kinds_count, sizeof *job->drawings);
    job->report.pictures = ar_arena_alloc(arena, ar_plot_kinds_count, sizeof *job->report.pictures);
    for (size_t i = 0; i < ar_plot_kinds_count; i++) {
        const struct ar_plot_kind *kind = &ar_plot_kinds[i];
        if (ar_plot_sources[kind->parts[0].file].set == request->set) {
            size_t count = job->report.pictures_count++;
            job->drawings[count] =
                (struct ar_plot_drawing){.kind = kind, .subject = request->subject};
            job->report.pictures[count].name = kind->name;
        }
    }
    AR_TRY(find_paths(job, err));
    AR_TRY(read_tables(job, err));
    AR_TRY(draw_pictures(job, err));
    job->report.reasons = join_reasons(job);
    *report = job->report;
    return AR_OK;
}
