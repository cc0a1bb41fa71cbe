/* The page: reads the directory, has pictures drawn, and fills the frame. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_plot.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "page.h"

/* The commands that leave something to report. */
#define PAGE_COMMANDS                                                                              \
    "predict, one collective, sweep, explain, diagnose, advise, train, reproduce, compare, "       \
    "expect or accuracy"

enum { TEMPLATE_MAX = 1 << 22, COMMAND_MAX = 1 << 20, SVG_MAX = 1 << 26 };

const struct page_source page_sources[PAGE_FILES] = {PAGE_FILE_LIST(AR_LIST_REST)};

static const char *path_below(const struct page_parts *parts, const char *directory,
                              const char *name)
{
    return ar_arena_format(parts->arena, "%s/%s", directory, name);
}

/* --- the directory ------------------------------------------------------------------------ */

/* Finds the mark of the command (sim/cli/made_by.h) behind its line, which may have line ends. */
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

/* Loads the files that are there. accuracy.csv without compare.csv is the data of a picture. */
static enum ar_status load_files(struct page_parts *parts, struct ar_error *err)
{
    const char *directory = parts->request->directory;
    bool has_calls = access(path_below(parts, directory, "compare.csv"), F_OK) == 0;
    bool is_any = false;
    for (size_t i = 0; i < PAGE_FILES; i++) {
        const char *path = path_below(parts, directory, page_sources[i].name);
        if ((i != PAGE_ACCURACY || has_calls) && access(path, F_OK) == 0) {
            AR_TRY(ar_csv_load(path, parts->arena, &parts->files[i], err));
            AR_TRY(ar_csv_check(parts->files[i], page_sources[i].columns, err));
            AR_TRY(ar_plot_check_numbers(parts->files[i], err));
            is_any = is_any || (i != PAGE_PARAMETERS && parts->files[i]->rows_count > 0);
        }
    }
    AR_REFUSE(!is_any, err, AR_NO_INPUT,
              "%.200s: found no rows to report; expected what " PAGE_COMMANDS " leave with --out",
              directory);
    return AR_OK;
}

static enum ar_status read_directory(struct page_parts *parts, struct ar_error *err)
{
    const char *where = parts->request->where, *directory = parts->request->directory;
    struct stat info;
    AR_REFUSE(stat(directory, &info) != 0, err, AR_NO_INPUT, "%.400s: cannot read it: %s",
              directory, strerror(errno));
    AR_REFUSE(!S_ISDIR(info.st_mode), err, AR_NO_INPUT,
              "%.300s: found a file, which other commands read; expected the directory "
              "that " PAGE_COMMANDS " left with --out",
              directory);
    AR_TRY(load_files(parts, err));
    if (where != NULL) {
        AR_TRY(ar_plot_where(where, parts->arena, parts->files, PAGE_PARAMETERS, err));
    }
    for (size_t i = 0; i < PAGE_PARAMETERS && where != NULL; i++) {
        bool is_left = parts->files[i] != NULL && parts->files[i]->rows_count > 0;
        parts->files[i] = is_left ? parts->files[i] : NULL;
    }
    /* The command and its notes; a file of somebody else is left alone. */
    const char *path = path_below(parts, parts->request->directory, "command.txt");
    char *text;
    size_t bytes;
    parts->notes = ar_arena_text(parts->arena, "");
    if (access(path, F_OK) != 0) {
        return AR_OK;
    }
    AR_TRY(ar_file_read(path, COMMAND_MAX, "a command line", parts->arena, &text, &bytes, err));
    char *mark = find_mark(text);
    if (mark != NULL) {
        *mark = '\0';
        parts->command = text;
        char *notes = strstr(mark + 1, "\nnote: ");
        parts->notes = notes != NULL ? notes + 1 : parts->notes;
    }
    return AR_OK;
}

/* --- pictures ----------------------------------------------------------------------------- */

/* Draws the sets of the files that are there, in a directory beside the page, the arena's. */
static enum ar_status draw_page_pictures(struct page_parts *parts, struct ar_error *err)
{
    const struct ar_page_request *request = parts->request;
    int length = (int)(basename(request->out) - request->out);
    const char *folder =
        length == 0 ? "." : ar_arena_format(parts->arena, "%.*s", length, request->out);
    struct page_picture **end = &parts->pictures;
    const char *directory = NULL;
    for (size_t i = 0; i < PAGE_FILES; i++) {
        struct ar_plot_report report;
        if (parts->files[i] == NULL || page_sources[i].set < 0) {
            continue;
        }
        AR_TRY(directory == NULL ? ar_scratch_make(folder, parts->arena, &directory, err) : AR_OK);
        const struct ar_plot_request drawing = {.set = (enum ar_plot_set)page_sources[i].set,
                                                .path = request->directory,
                                                .template_dir = request->template_dir,
                                                .output_dir = directory,
                                                .where = request->where,
                                                .is_for_page = true};
        AR_TRY(ar_plot_draw(&drawing, parts->arena, &report, err));
        if (report.reasons != NULL) {
            bool is_more = parts->reasons != NULL;
            parts->reasons = ar_arena_format(parts->arena, "%s%s%s", is_more ? parts->reasons : "",
                                             is_more ? "\n" : "", report.reasons);
        }
        for (size_t k = 0; k < report.pictures_count; k++) {
            char *svg;
            size_t bytes;
            const char *name = report.pictures[k].name;
            const char *path = ar_arena_format(parts->arena, "%s/%s.svg", directory, name);
            if (!report.pictures[k].is_drawn) {
                continue;
            }
            AR_TRY(ar_file_read(path, SVG_MAX, "a picture", parts->arena, &svg, &bytes, err));
            const char *root = strstr(svg, "<svg");
            *end = ar_arena_alloc(parts->arena, 1, sizeof **end);
            **end = (struct page_picture){.name = name, .svg = root != NULL ? root : svg};
            end = &(*end)->next;
        }
    }
    return AR_OK;
}

/* --- parts of the page -------------------------------------------------------------------- */

/* Writes the bullets, LABEL: SENTENCES. */
static void write_answer(FILE *file, struct page_parts *parts)
{
    char *lines = ar_arena_text(parts->arena, parts->answer);
    for (const char *line; (line = strsep(&lines, "\n")) != NULL;) {
        size_t label = strcspn(line, ":");
        fprintf(file, "<li><b>%.*s</b>", (int)label, line);
        ar_plot_write_between(file, "", line + label, "</li>\n");
    }
}

/* Writes a list of lines, which are changed; nothing for NULL and for empty lines. */
static void write_list_of(FILE *file, const char *title, char *lines)
{
    bool has_lines = lines != NULL && lines[0] != '\0';
    if (has_lines) {
        fprintf(file, PAGE_FOLDED "\n<ul>", title);
    }
    for (const char *line; (line = strsep(&lines, "\n")) != NULL;) {
        if (line[0] != '\0') {
            size_t skipped = strncmp(line, "note: ", 6) == 0 ? 6 : 0;
            ar_plot_write_between(file, "<li>", line + skipped, "</li>\n");
        }
    }
    fputs(has_lines ? "</ul></details>\n" : "", file);
}

static void write_command_notes(FILE *file, struct page_parts *parts)
{
    write_list_of(file, "What the command noted", parts->notes);
}

/* The command line of the file lacks the directory. */
static void write_remake(FILE *file, struct page_parts *parts)
{
    const struct ar_page_request *request = parts->request;
    char *text = NULL;
    size_t bytes = 0;
    if (parts->command == NULL) {
        return;
    }
    FILE *command = open_memstream(&text, &bytes);
    ar_memory_require(command != NULL, "the report");
    fprintf(command, "%s --out ", parts->command);
    ar_write_shell_word(command, request->directory);
    fputs(" &&\nallreckon report ", command);
    fputs(request->directory[0] == '-' ? "./" : "", command); /* so that it is no option */
    ar_write_shell_word(command, request->directory);
    if (request->where != NULL) {
        fputs(" --where ", command);
        ar_write_shell_word(command, request->where);
    }
    fclose(command);
    ar_plot_write_between(
        file,
        "<details><summary>The command that makes it again</summary>\n<pre tabindex=\"0\"><code>",
        ar_arena_own(parts->arena, text, free), "</code></pre></details>\n");
}

/* Bytes at the beginning of an SVG's text that are names of its parts, which nobody reads. */
static size_t skip_names(const char *at)
{
    static const char *const names[][2] = {{"<title>gnuplot_plot", "</title>"},
                                           {"<title>Gnuplot", "</title>"},
                                           {"<desc>Produced by GNUPLOT", "</desc>"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *end =
            strncmp(at, names[i][0], strlen(names[i][0])) == 0 ? strstr(at, names[i][1]) : NULL;
        if (end != NULL) {
            return (size_t)(end - at) + strlen(names[i][1]);
        }
    }
    return 0;
}

/* Writes an SVG with NAME- before its identifiers, so that they do not clash with those of others
 * on the page. Identifiers are looked for inside tags. */
static void write_svg(FILE *file, const struct page_picture *picture)
{
    static const char *const before[] = {"id='", "id=\"", "href='#", "url(#"};
    bool is_tag = false;
    fprintf(file, "<svg role=\"group\" aria-label=\"%s\"", picture->name);
    for (const char *at = picture->svg + strlen("<svg"); *at != '\0';) {
        at += skip_names(at);
        size_t size = 0;
        is_tag = *at == '<' || (is_tag && *at != '>');
        for (size_t i = 0; is_tag && size == 0 && i < sizeof before / sizeof before[0]; i++) {
            size = strncmp(at, before[i], strlen(before[i])) == 0 ? strlen(before[i]) : 0;
        }
        fwrite(at, 1, size > 0 ? size : 1, file);
        at += size > 0 ? size : 1;
        if (size > 0) {
            fprintf(file, "%s-", picture->name);
        }
    }
}

/* The first picture is the main one, the others are folded. */
static void write_pictures(FILE *file, struct page_parts *parts)
{
    for (const struct page_picture *at = parts->pictures; at != NULL; at = at->next) {
        fprintf(file, "<figure id=\"%s\">", at->name);
        write_svg(file, at);
        fputs("</figure>\n", file);
        if (at == parts->pictures && at->next != NULL) {
            fprintf(file, PAGE_FOLDED "<div class=\"pictures\">\n", "More pictures");
        }
    }
    fputs(parts->pictures != NULL && parts->pictures->next != NULL ? "</div></details>\n" : "",
          file);
    write_list_of(file, "What is not drawn",
                  parts->reasons != NULL ? ar_arena_text(parts->arena, parts->reasons) : NULL);
}

/* --- the frame ---------------------------------------------------------------------------- */

static enum ar_status read_page_file(const struct page_parts *parts, const char *name, char **text,
                                     struct ar_error *err)
{
    size_t bytes;
    return ar_file_read(path_below(parts, parts->request->page_dir, name), TEMPLATE_MAX,
                        "a part of reports", parts->arena, text, &bytes, err);
}

/* The program as WebAssembly, where one was made (.ci/wasm), on pages of steps. */
static void write_program(FILE *file, struct page_parts *parts)
{
    static const char *const names[] = {"allreckon.wasm.js", "what_if.js"};
    bool has_steps = parts->files[PAGE_STEP] != NULL || parts->files[PAGE_SWEEP] != NULL ||
                     parts->files[PAGE_LAYOUTS] != NULL;
    for (size_t i = 0; has_steps && i < sizeof names / sizeof names[0]; i++) {
        char *text;
        if (read_page_file(parts, names[i], &text, AR_IGNORED) != AR_OK) {
            return;
        }
        fprintf(file, "<script>%s</script>\n", text);
    }
}

static const struct part {
    const char *name;
    void (*write)(FILE *file, struct page_parts *parts);
    const char *file; /* copied as it is */
} writers[] = {
    {"answer", write_answer, NULL},          {"notes", write_command_notes, NULL},
    {"timeline", page_write_timeline, NULL}, {"pictures", write_pictures, NULL},
    {"tables", page_write_tables, NULL},     {"parameters", page_write_parameters, NULL},
    {"command", write_remake, NULL},         {"style", NULL, "report.css"},
    {"program", write_program, NULL},        {"script", NULL, "report.js"},
};

static enum ar_status fill_part(FILE *file, struct page_parts *parts, const char *name, size_t size,
                                struct ar_error *err)
{
    const char *const texts[][2] = {{"title", parts->title}, {"made_by", parts->request->made_by}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i][0]) == size && strncmp(texts[i][0], name, size) == 0) {
            ar_plot_write_html(file, texts[i][1]);
            return AR_OK;
        }
    }
    AR_EACH(const struct part, part, writers, sizeof writers / sizeof writers[0]) {
        char *text = NULL;
        if (strlen(part->name) != size || strncmp(part->name, name, size) != 0) {
            continue;
        }
        if (part->write != NULL) {
            part->write(file, parts);
            return AR_OK;
        }
        AR_TRY(read_page_file(parts, part->file, &text, err));
        fputs(text, file);
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA, "%.200s/report.html: found {{%.*s}}; expected a part",
                        parts->request->page_dir, (int)size, name);
}

enum ar_status ar_page_write(const struct ar_page_request *request, struct ar_arena *arena,
                             struct ar_page *page, struct ar_error *err)
{
    struct ar_output *output;
    struct page_parts *parts = ar_arena_alloc(arena, 1, sizeof *parts);
    parts->request = request;
    parts->arena = arena;
    AR_TRY(read_directory(parts, err));
    page_answer(parts);
    AR_TRY(ar_output_begin(request->out, arena, &output, err));
    AR_TRY(draw_page_pictures(parts, err));
    char *frame;
    AR_TRY(read_page_file(parts, "report.html", &frame, err));
    for (char *begin, *end; (begin = strstr(frame, "{{")) != NULL; frame = end + 2) {
        end = strstr(begin, "}}");
        if (end == NULL) {
            break;
        }
        fwrite(frame, 1, (size_t)(begin - frame), output->file);
        AR_TRY(fill_part(output->file, parts, begin + 2, (size_t)(end - begin) - 2, err));
    }
    fputs(frame, output->file);
    AR_TRY(ar_output_commit(output, err));
    page->answer = parts->answer;
    page->reasons = parts->reasons;
    return AR_OK;
}
