/* report: what a command left in a directory, as one page. */
#include <string.h>

#include "ar_accuracy.h"
#include "ar_note.h"
#include "ar_page.h"
#include "ar_row.h"
#include "commands.h"
#include "made_by.h"
#include "resource.h"

static void note_reasons(FILE *notes, const char *reasons)
{
    while (reasons != NULL && *reasons != '\0') {
        size_t size = strcspn(reasons, "\n");
        ar_note(notes, "%.*s", (int)size, reasons);
        reasons += size + (reasons[size] == '\n');
    }
}

enum ar_status command_report(const struct options *options, struct ar_error *err)
{
    const struct ar_columns columns[] = {ar_row_columns, ar_comparison_columns,
                                         ar_accuracy_columns};
    char templates[RESOURCE_PATH];
    char pages[RESOURCE_PATH];
    struct ar_page page;
    if (options->arguments_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "report: no path; expected the directory that a command left with "
                            "--out");
    }
    const char *out = options->out;
    if (out == NULL) {
        out = ar_arena_format(options->arena, "%s/report.html", options->arguments[0]);
    }
    const struct ar_page_request request = {.directory = options->arguments[0],
                                            .out = out,
                                            .page_dir = pages,
                                            .template_dir = templates,
                                            .where = options->where,
                                            .made_by = made_by(options),
                                            .columns = columns,
                                            .columns_count = sizeof columns / sizeof columns[0]};
    AR_TRY(resource_plots("plots/templates", templates, err));
    AR_TRY(resource_plots("plots/report", pages, err));
    AR_TRY(made_by_check_file(options, out, err));
    AR_TRY(ar_page_write(&request, options->arena, &page, err));
    note_reasons(option_notes(options), page.reason);
    printf("%s\n%s\n", page.answer, out);
    return AR_OK;
}
