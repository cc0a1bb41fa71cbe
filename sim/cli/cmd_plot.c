/* plot, report: pictures and a page of the files that a command left. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_accuracy.h"
#include "ar_inputs.h"
#include "ar_page.h"
#include "ar_row.h"
#include "commands.h"
#include "made_by.h"
#include "reproduce.h"

/* Notes why pictures are not drawn. */
static void note_reasons(FILE *notes, const char *reasons)
{
    while (reasons != NULL && *reasons != '\0') {
        size_t size = strcspn(reasons, "\n");
        ar_note(notes, "%.*s", (int)size, reasons);
        reasons += size + (reasons[size] == '\n');
    }
}

/* Draws, and says what was drawn: the paths on stdout, or in a note. */
static enum ar_status pictures_draw(const struct options *options, struct ar_plot_request request,
                                    bool prints_paths, struct ar_error *err)
{
    char templates[RESOURCE_PATH];
    struct ar_plot_report report;
    FILE *notes = option_notes(options);
    AR_TRY(resource_plots("plots/templates", templates, err));
    request.template_dir = templates;
    AR_TRY(ar_plot_draw(&request, options->arena, &report, err));
    if (report.rows_failed > 0 && prints_paths) {
        ar_note(notes, "%" PRIu64 " row%s without a result left out", report.rows_failed,
                report.rows_failed == 1 ? "" : "s");
    }
    for (size_t i = 0; i < report.pictures_count; i++) {
        const char *dir = report.output_dir, *name = report.pictures[i].name;
        if (report.pictures[i].is_drawn && prints_paths) {
            printf("%s/%s.svg\n%s/%s.png\n", dir, name, dir, name);
        } else if (report.pictures[i].is_drawn) {
            ar_note(notes, "%s/%s.svg and .png written", options->out, name);
        }
    }
    note_reasons(notes, report.reasons);
    return AR_OK;
}

enum ar_status command_plot(const struct options *options, struct ar_error *err)
{
    static const char name[] = "layouts.csv"; /* layouts have a file of their own */
    const char *path = options->arguments[0];
    const char *inside = ar_arena_format(options->arena, "%s/%s", path, name);
    bool is_layouts = strcmp(basename(path), name) == 0 || access(inside, F_OK) == 0;
    bool is_other = !is_layouts &&
                    access(ar_arena_format(options->arena, "%s/.", path), F_OK) == 0 &&
                    access(ar_arena_format(options->arena, "%s/sweep.csv", path), F_OK) != 0;
    AR_REFUSE(is_other, err, AR_NO_INPUT,
              "%.200s: found no sweep.csv and no layouts.csv; expected what a sweep left that "
              "ended (--resume goes on); 'allreckon report DIR' shows what others leave",
              path);
    const struct ar_plot_request request = {.set = is_layouts ? AR_PLOT_LAYOUTS : AR_PLOT_SWEEP,
                                            .path = path,
                                            .output_dir = options->out,
                                            .where = options->where};
    return pictures_draw(options, request, true, err);
}

enum ar_status option_draw(const struct options *options, enum ar_plot_set set, const char *subject,
                           struct ar_error *err)
{
    const struct ar_plot_request request = {.set = set, .path = options->out, .subject = subject};
    return pictures_draw(options, request, false, err);
}

/* Finds the published runs of a trace, a workload with a size of its own, or a run of `train`. */
static enum ar_status find_runs(const struct options *options, struct ar_page_request *request,
                                struct ar_error *err)
{
    struct published_request wanted = {.files_count = 0};
    struct published_rows rows;
    AR_TRY(options_scenario(options, 0, &wanted.given, err));
    AR_TRY(published_read(&wanted, &rows, err));
    struct ar_page_run *runs = ar_arena_alloc(options->arena, rows.count + 1, sizeof *runs);
    request->runs = runs;
    AR_EACH(const struct published, row, rows.rows, rows.count) {
        const char *trace = row->keys[AR_KEY_TRACE], *workload = row->keys[AR_KEY_WORKLOAD];
        bool has_mesh = row->scenario.mesh.axes_count > 0;
        const char *work = row->run != NULL ? row->run : trace != NULL ? trace : workload;
        if (!published_is_context(row) && work != NULL && row->keys[AR_KEY_LAYERS] == NULL) {
            runs[request->runs_count++] = (struct ar_page_run){
                .title = row->title,
                .cluster = row->keys[AR_KEY_CLUSTER],
                .work = work,
                .quantity = published_quantities[row->quantity],
                .measured = row->measured,
                .gpus = (double)(has_mesh ? ar_mesh_ranks(&row->scenario.mesh) : row->gpus)};
        }
    }
    return AR_OK;
}

enum ar_status command_report(const struct options *options, struct ar_error *err)
{
    const struct ar_columns columns[] = {ar_row_columns, ar_comparison_columns,
                                         ar_accuracy_columns};
    char templates[RESOURCE_PATH];
    char pages[RESOURCE_PATH];
    struct ar_page page;
    const char *out = options->out;
    if (out == NULL) {
        out = ar_arena_format(options->arena, "%s/report.html", options->arguments[0]);
    }
    struct ar_page_request request = {.directory = options->arguments[0],
                                      .out = out,
                                      .page_dir = pages,
                                      .template_dir = templates,
                                      .where = options->where,
                                      .made_by = made_by(options),
                                      .columns = columns,
                                      .columns_count = sizeof columns / sizeof columns[0]};
    AR_TRY(find_runs(options, &request, err));
    AR_TRY(resource_plots("plots/templates", templates, err));
    AR_TRY(resource_plots("plots/report", pages, err));
    AR_TRY(made_by_check_file(options, out, err));
    AR_TRY(ar_page_write(&request, options->arena, &page, err));
    note_reasons(option_notes(options), page.reasons);
    printf("%s\n%s\n", page.answer, out);
    return AR_OK;
}
