/* From the files of a command to pictures: reads, selects, writes data and scripts, runs gnuplot,
 * and moves everything into place at the end. */
#include "ar_plot.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "pictures.h"

enum { FILE_MAX = 1 << 20 };

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
    AR_REFUSE(path[0] == '\0', err, AR_NO_INPUT,
              "the path is empty; expected a directory with sweep.csv or a CSV file");
    struct stat info;
    bool is_file = stat(path, &info) != 0 || !S_ISDIR(info.st_mode);
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
        }
    }
    return job->request->where == NULL
               ? AR_OK
               : ar_plot_choose(job->request->where, job->arena, job->tables, AR_PLOT_FILES, err);
}

/* --- one picture -------------------------------------------------------------------------- */

/* Adds a picture, which is not drawn if it has a reason or no rows. Returns the reason. */
static const char *add_drawing(struct job *job, struct ar_plot_drawing drawing, const char *reason)
{
    const struct ar_plot_kind *kind = drawing.kind;
    size_t count = job->report.pictures_count++;
    const char *data = kind->data_name != NULL ? kind->data_name : kind->name;
    drawing.data_name =
        ar_arena_format(job->arena, "%s%s", data, drawing.name + strlen(kind->name));
    if (drawing.rows.count > 0) {
        ar_plot_pick(kind, drawing.table, &drawing.rows);
        reason = drawing.rows.count > 0       ? NULL
                 : kind->empty_reason != NULL ? kind->empty_reason
                                              : ar_arena_format(job->arena, "%s has no row to draw",
                                                                ar_plot_sources[kind->file].name);
    }
    job->drawings[count] = drawing;
    job->report.pictures[count] =
        (struct ar_plot_picture){drawing.name, drawing.rows.count > 0, drawing.rows.count, reason};
    return reason;
}

static void note_reason(struct job *job, const char *name, const char *reason)
{
    const char *text = job->report.reasons;
    job->report.reasons = ar_arena_format(job->arena, "%s%s%s: %s", text != NULL ? text : "",
                                          text != NULL ? "\n" : "", name, reason);
}

/* Adds the pictures of a kind: one, or where rows differ in what it does not show, one with names
 * of series, or one for each value. */
static void add_drawings(struct job *job, const struct ar_plot_kind *kind)
{
    struct ar_plot_part parts[AR_PLOT_PARTS_MAX];
    struct ar_plot_table *table = &job->tables[kind->file];
    struct ar_plot_drawing drawing = {
        .kind = kind, .name = kind->name, .table = table, .subject = job->request->subject};
    const char *reason = table->csv != NULL ? ar_plot_check_alike(table, kind, job->arena) : NULL;
    if (reason != NULL && kind->has_series) {
        struct ar_plot_table *named = ar_arena_alloc(job->arena, 1, sizeof *named);
        drawing.has_named_series = ar_plot_name_series(table, kind, job->arena, named);
        drawing.table = drawing.has_named_series ? named : table;
        reason = drawing.has_named_series ? NULL : reason;
    }
    size_t drawn = 0, count = reason != NULL ? ar_plot_split(table, kind, job->arena, parts) : 0;
    for (size_t i = 0; i < count; i++) {
        drawing.name = parts[i].name;
        drawing.rows = parts[i].rows;
        reason = add_drawing(job, drawing, NULL);
        drawn += reason == NULL;
    }
    if (count == 0) {
        if (reason == NULL && table->csv != NULL) {
            drawing.rows = ar_plot_rows_all(drawing.table, job->arena);
        }
        job->first_refusal = job->first_refusal == NULL ? reason : job->first_refusal;
        reason = add_drawing(job, drawing, reason);
    }
    if (reason != NULL && drawn == 0) {
        note_reason(job, kind->name, reason);
    }
}

static enum ar_status copy_template(const struct job *job, const char *name, FILE *file,
                                    struct ar_error *err)
{
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path_in(job, job->request->template_dir, name, ".gp"), FILE_MAX,
                        "a text for pictures", job->arena, &text, &bytes, err));
    fprintf(file, "\n%s", text);
    return AR_OK;
}

/* Writes the files from which gnuplot draws. */
static enum ar_status write_picture(const struct job *job, const struct ar_plot_drawing *drawing,
                                    struct ar_error *err)
{
    const struct ar_plot_kind *kind = drawing->kind;
    const char *name = kind->template_name != NULL ? kind->template_name : kind->name;
    const char *data = path_in(job, job->work_dir, drawing->data_name, ".csv");
    struct ar_output *output;
    AR_TRY(ar_output_begin(data, job->arena, &output, err));
    ar_plot_write_data(output->file, drawing);
    AR_TRY(ar_output_commit(output, err));
    AR_TRY(ar_output_begin(path_in(job, job->work_dir, drawing->name, ".gp"), job->arena, &output,
                           err));
    ar_plot_write_head(output->file, drawing);
    AR_TRY(copy_template(job, "style", output->file, err));
    AR_TRY(copy_template(job, name, output->file, err));
    return ar_output_commit(output, err);
}

/* --- all or nothing ----------------------------------------------------------------------- */

/* Whether the data of a picture are an input as it is, which stays. */
static bool is_input_drawn(const char *data)
{
    size_t length = strlen(data);
    for (size_t i = 0; i < AR_PLOT_FILES; i++) {
        if (strncmp(ar_plot_sources[i].name, data, length) == 0 &&
            strcmp(ar_plot_sources[i].name + length, ".csv") == 0) {
            return true;
        }
    }
    return false;
}

/* Refuses data that would overwrite an input. */
static enum ar_status check_target(const struct job *job, const char *data, struct ar_error *err)
{
    const char *path = path_in(job, job->output_dir, data, ".csv");
    struct stat target, input;
    for (size_t i = 0; i < AR_PLOT_FILES && !is_input_drawn(data); i++) {
        AR_REFUSE(
            job->paths[i] != NULL && stat(path, &target) == 0 && stat(job->paths[i], &input) == 0 &&
                target.st_dev == input.st_dev && target.st_ino == input.st_ino,
            err, AR_IO,
            "%s: a picture would overwrite this input; expected another name or directory", path);
    }
    return AR_OK;
}

static enum ar_status move_file(const struct job *job, const char *name, const char *suffix,
                                struct ar_error *err)
{
    const char *target = path_in(job, job->output_dir, name, suffix);
    AR_REFUSE(rename(path_in(job, job->work_dir, name, suffix), target) != 0, err, AR_IO,
              "%.400s: cannot write: %s", target, strerror(errno));
    return AR_OK;
}

/* Checks all targets before it moves the first file. */
static enum ar_status move_into_place(const struct job *job, struct ar_error *err)
{
    static const char *const suffixes[] = {".gp", ".svg", ".png"};
    size_t count = job->report.pictures_count;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct ar_plot_drawing *drawing = &job->drawings[i % count];
        const char *data = drawing->data_name;
        if (drawing->rows.count == 0) {
            continue;
        }
        if (i < count) {
            AR_TRY(check_target(job, data, err));
            continue;
        }
        AR_TRY(is_input_drawn(data) ? AR_OK : move_file(job, data, ".csv", err));
        for (size_t k = 0; k < (job->request->is_for_page ? 2 : 3); k++) {
            AR_TRY(move_file(job, drawing->name, suffixes[k], err));
        }
    }
    return AR_OK;
}

/* --- all ---------------------------------------------------------------------------------- */

/* Draws in a work directory, which ends with its own arena. */
static enum ar_status draw_pictures(struct job *job, struct ar_error *err)
{
    const struct ar_plot_request *request = job->request;
    struct ar_arena work AR_ENDS_HERE = {NULL};
    size_t drawn = 0, count = job->report.pictures_count;
    AR_TRY(ar_make_directory(job->output_dir, err));
    AR_TRY(ar_scratch_make(job->output_dir, &work, &job->work_dir, err));
    for (size_t i = 0; i < count; i++) {
        bool is_drawn = job->report.pictures[i].is_drawn;
        drawn += is_drawn;
        AR_TRY(is_drawn ? write_picture(job, &job->drawings[i], err) : AR_OK);
    }
    AR_REFUSE(drawn == 0 && job->first_refusal != NULL && !request->is_for_page, err, AR_BAD_DATA,
              "%.200s: no picture: %.300s", request->path, job->first_refusal);
    AR_TRY(ar_plot_gnuplot_run(request->gnuplot == NULL ? "gnuplot" : request->gnuplot,
                               job->work_dir, request->is_for_page, job->drawings, count,
                               job->arena, err));
    for (size_t i = 0; i < count; i++) {
        const struct ar_plot_drawing *drawing = &job->drawings[i];
        if (drawing->rows.count > 0) {
            job->report.pictures[i].reason = drawing->warning;
            if (drawing->warning != NULL) {
                note_reason(job, drawing->name, drawing->warning);
            }
            AR_TRY(request->is_for_page
                       ? ar_plot_add_values(drawing, job->work_dir, job->arena, err)
                       : AR_OK);
        }
    }
    return move_into_place(job, err);
}

enum ar_status ar_plot_draw(const struct ar_plot_request *request, struct ar_arena *arena,
                            struct ar_plot_report *report, struct ar_error *err)
{
    struct job *job = ar_arena_alloc(arena, 1, sizeof *job);
    job->request = request;
    job->arena = arena;
    size_t most = ar_plot_kinds_count * AR_PLOT_PARTS_MAX;
    job->drawings = ar_arena_alloc(arena, most, sizeof *job->drawings);
    job->report.pictures = ar_arena_alloc(arena, most, sizeof *job->report.pictures);
    AR_TRY(find_paths(job, err));
    AR_TRY(read_tables(job, err));
    for (size_t i = 0; i < ar_plot_kinds_count; i++) {
        if (ar_plot_sources[ar_plot_kinds[i].file].set == request->set) {
            add_drawings(job, &ar_plot_kinds[i]);
        }
    }
    AR_TRY(draw_pictures(job, err));
    *report = job->report;
    return AR_OK;
}
