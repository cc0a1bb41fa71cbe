/* reproduce: published training runs, predicted beside measured. */
#include <stdbool.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_plot.h"
#include "ar_pool.h"
#include "ar_units.h"
#include "commands.h"
#include "plan.h"
#include "reproduce.h"
#include "resource.h"

enum { SAMPLES_MAX = 100000 };

static enum ar_status read_options(const struct options *options, struct reproduction *reproduction,
                                   enum ar_format *format, struct ar_error *err)
{
    uint64_t samples;
    uint64_t jobs = ar_pool_processors();
    const struct ar_engine *engine;
    enum ar_status status = ar_format_parse("--format", options->format, format, err);
    if (status == AR_OK) {
        status = ar_parse_count("--samples", options->samples, 1, SAMPLES_MAX, &samples, err);
    }
    if (status == AR_OK) {
        status = ar_parse_count("--seed", options->seed, 0, UINT32_MAX, &reproduction->seed, err);
    }
    if (status == AR_OK && options->jobs != NULL) {
        status = ar_parse_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err);
    }
    if (status == AR_OK && options->engine != NULL) {
        status = ar_engine_find("--engine", options->engine, &engine, err);
    }
    if (status == AR_OK) {
        reproduction->samples_count = (uint32_t)samples;
        reproduction->jobs = (uint32_t)jobs;
        status = command_find("predict", &reproduction->predict, err);
    }
    return option_status(status, err);
}

/* Draws what was written. */
static enum ar_status draw(const struct options *options, struct ar_error *err)
{
    char templates[RESOURCE_PATH];
    struct ar_plot_report report;
    const struct ar_plot_request request = {
        .set = AR_PLOT_PUBLISHED, .path = options->out, .template_dir = templates};
    enum ar_status status = resource_plots(templates, err);
    if (status == AR_OK) {
        status = ar_plot_draw(&request, &report, err);
    }
    for (size_t i = 0; status == AR_OK && i < report.pictures_count; i++) {
        const struct ar_plot_picture *picture = &report.pictures[i];
        if (picture->is_drawn) {
            plan_note(options, "%s/%s.svg and .png written", options->out, picture->name);
        }
        if (picture->reason[0] != '\0') {
            plan_note(options, "%s: %s", picture->name, picture->reason);
        }
    }
    return status;
}

/* Whether files can be written into the directory, which is made: asked before the predictions,
 * which take a minute. */
static enum ar_status try_directory(const char *directory, bool *is_made, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_output output;
    *is_made = access(directory, F_OK) != 0;
    if (snprintf(path, sizeof path, "%s/reproduce.csv", directory) >= (int)sizeof path) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", directory);
    }
    enum ar_status status = ar_make_directory(directory, err);
    if (status == AR_OK) {
        status = ar_output_open(path, &output, err);
    }
    if (status == AR_OK) {
        ar_output_abort(&output);
    }
    return status;
}

enum ar_status command_reproduce(const struct options *options, struct ar_error *err)
{
    struct reproduction reproduction = {.options = options};
    bool is_made = false;
    enum ar_format format;
    enum ar_status status = read_options(options, &reproduction, &format, err);
    if (status == AR_OK) {
        status = published_read(options, &reproduction.rows, err);
    }
    if (status == AR_OK && options->out != NULL) {
        status = try_directory(options->out, &is_made, err);
    }
    if (status == AR_OK) {
        plan_note(options, "%zu row%s; bands of %u draws, seed %llu", reproduction.rows.count,
                  reproduction.rows.count == 1 ? "" : "s", (unsigned)reproduction.samples_count,
                  (unsigned long long)reproduction.seed);
        status = reproduce_run(&reproduction, options->out != NULL, err);
    }
    if (status == AR_OK && options->out != NULL) {
        status = reproduce_write_files(options->out, &reproduction, err);
        status = status == AR_OK ? draw(options, err) : status;
    }
    if (status == AR_OK) {
        reproduce_write(stdout, format, &reproduction);
    }
    if (status != AR_OK && is_made) {
        rmdir(options->out); /* stays if there is something in it */
    }
    reproduce_free(&reproduction);
    return status;
}
