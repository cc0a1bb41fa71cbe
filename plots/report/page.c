#include "ar_page.h"

#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_output.h"
#include "ar_plot_text.h"
#include "ar_text.h"
#include "page.h"

enum { TEMPLATE_MAX = 1 << 20 };

/* --- parts of the page -------------------------------------------------------------------- */

static void write_title(FILE *file, const struct page_parts *parts)
{
    ar_plot_write_html(file, parts->title);
}

static void write_answer(FILE *file, const struct page_parts *parts)
{
    ar_plot_write_html(file, parts->answer);
}

static void write_made_by(FILE *file, const struct page_parts *parts)
{
    ar_plot_write_html(file, parts->request->made_by);
}

static void write_notes(FILE *file, const struct page_parts *parts)
{
    bool has_notes = parts->notes[0] != '\0';
    char *rest = parts->notes;
    fputs(has_notes ? "<section><h2>What the command noted</h2>\n<ul>" : "", file);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (line[0] != '\0') {
            fputs("<li>", file);
            ar_plot_write_html(file, line + (strncmp(line, "note: ", 6) == 0 ? 6 : 0));
            fputs("</li>\n", file);
        }
    }
    fputs(has_notes ? "</ul></section>\n" : "", file);
}

/* The command line, of which only the directory is known elsewhere. */
static char *make_command(const struct page_parts *parts)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) {
        return NULL;
    }
    fprintf(file, "%s --out ", parts->command);
    ar_write_shell_word(file, parts->request->directory);
    fputs(" &&\nallreckon report ", file);
    fputs(parts->request->directory[0] == '-' ? "./" : "", file); /* no option */
    ar_write_shell_word(file, parts->request->directory);
    if (parts->request->where != NULL) {
        fputs(" --where ", file);
        ar_write_shell_word(file, parts->request->where);
    }
    fclose(file);
    return ar_arena_own(parts->arena, text, free);
}

static void write_command(FILE *file, const struct page_parts *parts)
{
    const char *command = parts->command != NULL ? make_command(parts) : NULL;
    if (command != NULL) {
        fputs("<section><h2>The command that makes it again</h2>\n<pre tabindex=\"0\"><code>",
              file);
        ar_plot_write_html(file, command);
        fputs("</code></pre></section>\n", file);
    }
}

/* How much of an SVG is names of its parts that nobody wants to read. */
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

/* An SVG whose identifiers do not clash with those of others on the page: inside tags NAME- stands
 * before them. */
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

static void write_reasons(FILE *file, const struct page_parts *parts)
{
    fputs(parts->reasons != NULL ? "<section><h2>What is not drawn</h2>\n<ul>" : "", file);
    for (const struct page_reason *at = parts->reasons; at != NULL; at = at->next) {
        fprintf(file, "<li>%s: ", at->names);
        ar_plot_write_html(file, at->reason);
        fputs("</li>\n", file);
    }
    fputs(parts->reasons != NULL ? "</ul></section>\n" : "", file);
}

static void write_pictures(FILE *file, const struct page_parts *parts)
{
    fputs(parts->pictures != NULL ? "<section class=\"pictures\"><h2>Pictures</h2>\n" : "", file);
    for (const struct page_picture *at = parts->pictures; at != NULL; at = at->next) {
        fprintf(file, "<figure id=\"%s\">", at->name);
        write_svg(file, at);
        fputs("</figure>\n", file);
    }
    fputs(parts->pictures != NULL ? "</section>\n" : "", file);
    write_reasons(file, parts);
}

/* --- the frame ---------------------------------------------------------------------------- */

static enum ar_status read_page(const struct page_parts *parts, const char *name, char **text,
                                struct ar_error *err)
{
    size_t bytes;
    const char *path = ar_arena_format(parts->arena, "%s/%s", parts->request->page_dir, name);
    return path == NULL ? ar_error_no_memory(err, "the report")
                        : ar_file_read(path, TEMPLATE_MAX, "a part of reports", parts->arena, text,
                                       &bytes, err);
}

static const struct part {
    const char *name;
    void (*write)(FILE *file, const struct page_parts *parts);
    const char *file; /* copied as it is */
} writers[] = {
    {"title", write_title, NULL},        {"answer", write_answer, NULL},
    {"notes", write_notes, NULL},        {"pictures", write_pictures, NULL},
    {"tables", page_write_tables, NULL}, {"parameters", page_write_parameters, NULL},
    {"command", write_command, NULL},    {"made_by", write_made_by, NULL},
    {"style", NULL, "report.css"},       {"script", NULL, "report.js"},
};

static enum ar_status write_part(FILE *file, const struct page_parts *parts, const char *name,
                                 size_t size, struct ar_error *err)
{
    if (size == strlen("timeline") && strncmp(name, "timeline", size) == 0) {
        return page_write_timeline(file, parts, err);
    }
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        const struct part *part = &writers[i];
        char *text = NULL;
        if (strlen(part->name) != size || strncmp(part->name, name, size) != 0) {
            continue;
        }
        if (part->write != NULL) {
            part->write(file, parts);
            return AR_OK;
        }
        AR_TRY(read_page(parts, part->file, &text, err));
        fputs(text, file);
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA, "%.200s/report.html: found {{%.*s}}; expected a part",
                        parts->request->page_dir, (int)size, name);
}

static enum ar_status write_page(FILE *file, const struct page_parts *parts, struct ar_error *err)
{
    char *frame;
    AR_TRY(read_page(parts, "report.html", &frame, err));
    for (char *begin, *end; (begin = strstr(frame, "{{")) != NULL; frame = end + 2) {
        end = strstr(begin, "}}");
        if (end == NULL) {
            break;
        }
        fwrite(frame, 1, (size_t)(begin - frame), file);
        AR_TRY(write_part(file, parts, begin + 2, (size_t)(end - begin) - 2, err));
    }
    fputs(frame, file);
    return AR_OK;
}

enum ar_status ar_page_write(const struct ar_page_request *request, struct ar_arena *arena,
                             struct ar_page *page, struct ar_error *err)
{
    struct ar_output *output;
    struct page_parts *parts = ar_arena_alloc(arena, 1, sizeof *parts);
    if (parts == NULL) {
        return ar_error_no_memory(err, "the report");
    }
    parts->request = request;
    parts->arena = arena;
    AR_TRY(page_read(parts, err));
    AR_TRY(page_answer(parts, err));
    AR_TRY(ar_output_begin(request->out, arena, &output, err));
    AR_TRY(page_draw(parts, err));
    AR_TRY(write_page(output->file, parts, err));
    AR_TRY(ar_output_commit(output, err));
    page->answer = parts->answer;
    page->reason = NULL;
    for (const struct page_reason *at = parts->reasons; at != NULL; at = at->next) {
        page->reason =
            ar_arena_format(arena, "%s%s%s: %s", page->reason != NULL ? page->reason : "",
                            page->reason != NULL ? "\n" : "", at->names, at->reason);
    }
    return AR_OK;
}
