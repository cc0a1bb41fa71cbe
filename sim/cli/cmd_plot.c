/* plot: pictures from a sweep. */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ar_note.h"
#include "ar_plot.h"
#include "commands.h"
#include "resource.h"

static uint32_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool has_reason_of(const struct ar_plot_report *report, size_t i, size_t other)
{
    const char *reason = report->pictures[other].reason;
    return reason != NULL && strcmp(report->pictures[i].reason, reason) == 0;
}

/* Several pictures may have the same reason, which is said once. */
static void note_reason(FILE *notes, const struct ar_plot_report *report, size_t i)
{
    char names[160] = "";
    for (size_t other = 0; other < report->pictures_count; other++) {
        if (has_reason_of(report, i, other) && other < i) {
            return;
        }
        if (has_reason_of(report, i, other)) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ",
                     report->pictures[other].name);
        }
    }
    ar_note(notes, "%s: %s", names, report->pictures[i].reason);
}

static void report_pictures(FILE *notes, const struct ar_plot_report *report)
{
    if (report->rows_failed > 0) {
        ar_note(notes, "%" PRIu64 " row%s without a result left out, the first in line %" PRIu64,
                report->rows_failed, report->rows_failed == 1 ? "" : "s", report->rows_failed_line);
    }
    for (size_t i = 0; i < report->pictures_count; i++) {
        const struct ar_plot_picture *picture = &report->pictures[i];
        if (picture->is_drawn) {
            printf("%s/%s.svg\n%s/%s.png\n", report->output_dir, picture->name, report->output_dir,
                   picture->name);
        }
        if (picture->reason != NULL) {
            note_reason(notes, report, i);
        }
    }
}

/* Layouts have a file of their own. */
static enum ar_plot_set set_of(const struct options *options)
{
    static const char name[] = "layouts.csv";
    const char *path = options->arguments[0];
    const char *inside = ar_arena_format(options->arena, "%s/%s", path, name);
    const char *slash = strrchr(path, '/');
    bool is_file = strcmp(slash != NULL ? slash + 1 : path, name) == 0;
    return is_file || (inside != NULL && access(inside, F_OK) == 0) ? AR_PLOT_LAYOUTS
                                                                    : AR_PLOT_SWEEP;
}

enum ar_status command_plot(const struct options *options, struct ar_error *err)
{
    char templates[RESOURCE_PATH];
    struct ar_plot_report report;
    if (options->arguments_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "plot: no path; expected the directory of a sweep, or its sweep.csv");
    }
    AR_TRY(resource_plots("plots/templates", templates, err));
    bool has_text = options->ascii || (isatty(STDOUT_FILENO) && !options->quiet);
    uint32_t columns = terminal_columns();
    struct ar_plot_request request = {
        .set = set_of(options),
        .path = options->arguments[0],
        .template_dir = templates,
        .output_dir = options->out,
        .where = options->where,
        .ascii_file = has_text ? stdout : NULL,
        .ascii_columns = columns >= 79 && columns <= 200 ? columns : 0,
    };
    AR_TRY(ar_plot_draw(&request, options->arena, &report, err));
    report_pictures(option_notes(options), &report);
    return AR_OK;
}
