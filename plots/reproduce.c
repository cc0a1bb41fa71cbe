#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_plot_reproduce.h"
#include "plot_gnuplot.h"
#include "plot_reproduction.h"
#include "plot_work.h"

enum { FILE_SIZE = 4096, FILES = 5 };

static const struct ar_plot_reproduced *const pictures[AR_PLOT_REPRODUCE_PICTURES] = {
    &ar_plot_predicted, &ar_plot_efficiency_published, &ar_plot_time_to_train,
    &ar_plot_sensitivity};

struct job {
    const struct ar_plot_reproduce_request *request;
    char work_dir[AR_PLOT_WORK_SIZE];
    struct ar_plot_reproduction reproduction;
};

/* The name of a file of a picture, from 0; false if the picture has no such file. */
static bool name_file(const struct ar_plot_reproduced *picture, size_t file, char name[FILE_SIZE])
{
    static const char *const suffixes[FILES] = {".csv", "_curves.csv", ".gp", ".svg", ".png"};
    snprintf(name, FILE_SIZE, "%s%s", file == 0 ? picture->data_name : picture->name,
             suffixes[file]);
    return file != 1 || picture->write_curves != NULL;
}

static enum ar_status write_file(const struct job *job, const struct ar_plot_reproduced *picture,
                                 size_t number, struct ar_error *err)
{
    char name[FILE_SIZE];
    char path[2 * FILE_SIZE];
    struct ar_output output;
    if (!name_file(picture, number, name)) {
        return AR_OK;
    }
    snprintf(path, sizeof path, "%s/%s", job->work_dir, name);
    enum ar_status status = ar_output_open(path, &output, err);
    if (status != AR_OK) {
        return status;
    }
    (number == 0 ? picture->write_data : picture->write_curves)(output.file, &job->reproduction);
    return ar_output_commit(&output, err);
}

static enum ar_status write_script(const struct job *job, const struct ar_plot_reproduced *picture,
                                   struct ar_error *err)
{
    char path[FILE_SIZE];
    struct ar_output output;
    const char *templates = job->request->template_dir;
    snprintf(path, sizeof path, "%s/%s.gp", job->work_dir, picture->name);
    enum ar_status status = ar_output_open(path, &output, err);
    if (status != AR_OK) {
        return status;
    }
    fprintf(output.file,
            "# Written by `allreckon reproduce`. `gnuplot %s.gp` in this directory draws %s.svg\n"
            "# and %s.png again, from %s.csv. The next `allreckon reproduce` replaces them.\n\n"
            "picture = '%s'\ndata = '%s.csv'\n",
            picture->name, picture->name, picture->name, picture->data_name, picture->name,
            picture->data_name);
    picture->write_settings(output.file, &job->reproduction);
    status = ar_plot_copy_template(templates, "style", output.file, err);
    if (status == AR_OK) {
        status = ar_plot_copy_template(templates, picture->template_name, output.file, err);
    }
    if (status != AR_OK) {
        ar_output_abort(&output);
        return status;
    }
    return ar_output_commit(&output, err);
}

static enum ar_status draw(const struct job *job, size_t number, struct ar_plot_picture *result,
                           struct ar_error *err)
{
    const struct ar_plot_reproduced *picture = pictures[number];
    const char *gnuplot = job->request->gnuplot;
    struct ar_plot_script script = {gnuplot == NULL ? "gnuplot" : gnuplot, job->work_dir,
                                    picture->name};
    *result = (struct ar_plot_picture){.name = picture->name,
                                       .rows_count = picture->count(&job->reproduction)};
    if (result->rows_count == 0) {
        snprintf(result->reason, sizeof result->reason, "%s", picture->empty_reason);
        return AR_OK;
    }
    enum ar_status status = write_file(job, picture, 0, err);
    if (status == AR_OK) {
        status = write_file(job, picture, 1, err);
    }
    if (status == AR_OK) {
        status = write_script(job, picture, err);
    }
    if (status == AR_OK) {
        status = ar_plot_gnuplot_draw(&script, result->reason, sizeof result->reason, err);
    }
    result->is_drawn = status == AR_OK;
    return status;
}

static enum ar_status move_into_place(const struct job *job,
                                      const struct ar_plot_reproduce_report *report,
                                      struct ar_error *err)
{
    for (size_t i = 0; i < (size_t)AR_PLOT_REPRODUCE_PICTURES * FILES; i++) {
        char name[FILE_SIZE];
        char source[2 * FILE_SIZE];
        char target[2 * FILE_SIZE];
        if (!report->pictures[i / FILES].is_drawn ||
            !name_file(pictures[i / FILES], i % FILES, name)) {
            continue;
        }
        snprintf(source, sizeof source, "%s/%s", job->work_dir, name);
        snprintf(target, sizeof target, "%s/%s", job->request->directory, name);
        if (rename(source, target) != 0) {
            return ar_error_set(err, AR_IO, "%.400s: cannot write: %s", target, strerror(errno));
        }
    }
    return AR_OK;
}

enum ar_status ar_plot_reproduce(const struct ar_plot_reproduce_request *request,
                                 struct ar_plot_reproduce_report *report, struct ar_error *err)
{
    struct job job = {.request = request};
    struct ar_plot_reproduce_report result;
    if (strlen(request->directory) > AR_PLOT_PATH_SIZE - 64) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", request->directory);
    }
    enum ar_status status = ar_plot_reproduction_read(request->directory, &job.reproduction, err);
    if (status == AR_OK) {
        status = ar_plot_work_make(request->directory, job.work_dir, err);
    }
    for (size_t i = 0; status == AR_OK && i < AR_PLOT_REPRODUCE_PICTURES; i++) {
        status = draw(&job, i, &result.pictures[i], err);
    }
    if (status == AR_OK) {
        status = move_into_place(&job, &result, err);
    }
    if (status == AR_OK) {
        *report = result;
    }
    ar_plot_work_remove(job.work_dir);
    ar_plot_reproduction_clear(&job.reproduction);
    return status;
}
