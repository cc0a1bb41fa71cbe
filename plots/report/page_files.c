/* What is in the directory, and the pictures of it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_output.h"
#include "ar_plot.h"
#include "page.h"

enum { COMMAND_MAX = 1 << 20, SVG_MAX = 1 << 26 };

const struct page_source page_sources[PAGE_FILES] = {
#define X(symbol, ...) {__VA_ARGS__},
    PAGE_FILE_LIST(X)
#undef X
};

/* --- files -------------------------------------------------------------------------------- */

static enum ar_status path_of(const struct page_parts *parts, const char *directory,
                              const char *name, const char **path, struct ar_error *err)
{
    *path = ar_arena_format(parts->arena, "%s/%s", directory, name);
    return *path != NULL ? AR_OK : ar_error_no_memory(err, "the report");
}

static enum ar_status check_directory(const char *directory, struct ar_error *err)
{
    struct stat info;
    if (stat(directory, &info) != 0) {
        return ar_error_set(err, AR_NO_INPUT, "%.400s: cannot read it: %s", directory,
                            strerror(errno));
    }
    return S_ISDIR(info.st_mode)
               ? AR_OK
               : ar_error_set(err, AR_NO_INPUT,
                              "%.300s: found a file; expected a directory that a command left "
                              "with --out",
                              directory);
}

/* Where the mark of the command stands (sim/cli/made_by.h): behind the command line, which may have
 * ends of lines in it. */
static char *find_mark(char *text)
{
    for (char *at = text; (at = strstr(at, "\nallreckon ")) != NULL; at++) {
        const char *mark = strstr(at, ", command ");
        if (mark != NULL && memchr(at + 1, '\n', (size_t)(mark - at) - 1) == NULL) {
            return at;
        }
    }
    return NULL;
}

/* The command and what it noted. */
static enum ar_status read_command(struct page_parts *parts, struct ar_error *err)
{
    const char *path;
    char *text;
    size_t bytes;
    parts->notes = ar_arena_text(parts->arena, "");
    AR_TRY(path_of(parts, parts->request->directory, "command.txt", &path, err));
    if (access(path, F_OK) != 0) {
        return AR_OK;
    }
    AR_TRY(ar_file_read(path, COMMAND_MAX, "a command line", parts->arena, &text, &bytes, err));
    char *mark = find_mark(text);
    if (mark == NULL) {
        return AR_OK; /* somebody else's */
    }
    *mark = '\0';
    parts->command = text;
    char *notes = strstr(mark + 1, "\nnote: ");
    parts->notes = notes != NULL ? notes + 1 : parts->notes;
    return AR_OK;
}

enum ar_status page_read(struct page_parts *parts, struct ar_error *err)
{
    bool is_any = false;
    AR_TRY(check_directory(parts->request->directory, err));
    for (size_t i = 0; i < PAGE_FILES; i++) {
        const char *path;
        AR_TRY(path_of(parts, parts->request->directory, page_sources[i].name, &path, err));
        /* Without compare.csv it is the data of the picture of sets.csv. */
        bool is_data = i == PAGE_ACCURACY;
        if (access(path, F_OK) == 0 && !is_data) {
            AR_TRY(ar_csv_load(path, parts->arena, &parts->files[i], err));
            is_any = is_any || i != PAGE_PARAMETERS;
        }
    }
    if (parts->files[PAGE_COMPARED] != NULL) {
        const char *path;
        AR_TRY(path_of(parts, parts->request->directory, page_sources[PAGE_ACCURACY].name, &path,
                       err));
        AR_TRY(ar_csv_load(path, parts->arena, &parts->files[PAGE_ACCURACY], err));
    }
    if (!is_any) {
        return ar_error_set(err, AR_NO_INPUT,
                            "%.200s: found nothing to report; expected what sweep, explain, "
                            "train, reproduce, compare or accuracy leave with --out",
                            parts->request->directory);
    }
    if (parts->request->where != NULL) {
        AR_TRY(
            ar_plot_where(parts->request->where, parts->arena, parts->files, PAGE_PARAMETERS, err));
    }
    for (size_t i = 0; i < PAGE_PARAMETERS; i++) {
        bool is_left = parts->files[i] != NULL && parts->files[i]->rows_count > 0;
        parts->files[i] = is_left || parts->request->where == NULL ? parts->files[i] : NULL;
    }
    return read_command(parts, err);
}

/* --- pictures ----------------------------------------------------------------------------- */

/* A directory beside the page, which ends with the arena. */
static enum ar_status make_directory(const struct page_parts *parts, const char **path,
                                     struct ar_error *err)
{
    const char *out = parts->request->out;
    const char *slash = strrchr(out, '/');
    const char *folder =
        slash == NULL ? "." : ar_arena_format(parts->arena, "%.*s", (int)(slash + 1 - out), out);
    return folder == NULL ? ar_error_no_memory(err, "the report")
                          : ar_scratch_make(folder, parts->arena, path, err);
}

/* Several pictures may have the same reason, which is said once. */
static enum ar_status add_reason(struct page_parts *parts, const struct ar_plot_picture *picture,
                                 struct ar_error *err)
{
    struct page_reason **end = &parts->reasons;
    while (*end != NULL && strcmp((*end)->reason, picture->reason) != 0) {
        end = &(*end)->next;
    }
    if (*end != NULL) {
        (*end)->names = ar_arena_format(parts->arena, "%s, %s", (*end)->names, picture->name);
        return (*end)->names != NULL ? AR_OK : ar_error_no_memory(err, "the report");
    }
    *end = ar_arena_alloc(parts->arena, 1, sizeof **end);
    AR_NEED(*end, err, "the report");
    **end = (struct page_reason){.names = picture->name, .reason = picture->reason};
    return AR_OK;
}

static enum ar_status take_picture(struct page_parts *parts, const char *directory,
                                   const struct ar_plot_picture *picture,
                                   struct page_picture ***end, struct ar_error *err)
{
    const char *path;
    char *svg;
    size_t bytes;
    if (picture->reason != NULL) {
        AR_TRY(add_reason(parts, picture, err));
    }
    if (!picture->is_drawn) {
        return AR_OK;
    }
    struct page_picture *taken = ar_arena_alloc(parts->arena, 1, sizeof *taken);
    char *name = ar_arena_format(parts->arena, "%s.svg", picture->name);
    AR_NEED(taken && name, err, "the report");
    AR_TRY(path_of(parts, directory, name, &path, err));
    AR_TRY(ar_file_read(path, SVG_MAX, "a picture", parts->arena, &svg, &bytes, err));
    const char *root = strstr(svg, "<svg");
    *taken = (struct page_picture){.name = picture->name, .svg = root != NULL ? root : svg};
    **end = taken;
    *end = &taken->next;
    return AR_OK;
}

static enum ar_status draw_set(struct page_parts *parts, const char *directory,
                               enum ar_plot_set set, struct page_picture ***end,
                               struct ar_error *err)
{
    const struct ar_page_request *request = parts->request;
    struct ar_plot_report report;
    const struct ar_plot_request drawing = {.set = set,
                                            .path = request->directory,
                                            .template_dir = request->template_dir,
                                            .output_dir = directory,
                                            .where = request->where,
                                            .is_for_page = true};
    AR_TRY(ar_plot_draw(&drawing, parts->arena, &report, err));
    for (size_t i = 0; i < report.pictures_count; i++) {
        AR_TRY(take_picture(parts, directory, &report.pictures[i], end, err));
    }
    return AR_OK;
}

enum ar_status page_draw(struct page_parts *parts, struct ar_error *err)
{
    struct page_picture **end = &parts->pictures;
    const char *directory = NULL;
    for (size_t i = 0; i < PAGE_FILES; i++) {
        if (parts->files[i] != NULL && page_sources[i].set >= 0) {
            if (directory == NULL) {
                AR_TRY(make_directory(parts, &directory, err));
            }
            AR_TRY(draw_set(parts, directory, (enum ar_plot_set)page_sources[i].set, &end, err));
        }
    }
    return AR_OK;
}
