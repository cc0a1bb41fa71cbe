/* The tasks of a step over time: a line for each stream of each stage, a bar for each task. */
#include <math.h>
#include <string.h>

#include "ar_plot_text.h"
#include "ar_units.h"
#include "page.h"

/* The timeline is so many units wide. */
enum { WIDTH = 100000 };

/* Colours of the style sheet are those of the picture `pipeline`; other kinds have the last one. */
static const struct look {
    const char *kind;
    size_t colour;
} looks[] = {{"forward", 0}, {"backward", 1}, {"compute", 1}, {"optimizer", 2}, {"tp", 3},
             {"ep", 4},      {"pp", 5},       {"dp", 6},      {NULL, 7}};

#define TASK_LIST(X)                                                                               \
    X(number, stage)                                                                               \
    X(string, kind)                                                                                \
    X(string, stream)                                                                              \
    X(string, batch)                                                                               \
    X(string, chunk)                                                                               \
    X(string, tensors)                                                                             \
    X(string, name)                                                                                \
    X(number, begin_s)                                                                             \
    X(number, end_s)
struct task {
    TASK_LIST(AR_LIST_FIELD)
};

struct page_timeline {
    struct task *tasks;
    size_t count;
    size_t *lines; /* the first task of each */
    size_t lines_count;
    double end_s;
};

static const struct look *find_look(const char *kind)
{
    size_t i = 0;
    while (looks[i].kind != NULL && strcmp(looks[i].kind, kind) != 0) {
        i++;
    }
    return &looks[i];
}

/* The line of a task, a new one if it is the first of its stage and stream. */
static size_t find_timeline_line(struct page_timeline *timeline, size_t task)
{
    for (size_t i = 0; i < timeline->lines_count; i++) {
        const struct task *first = &timeline->tasks[timeline->lines[i]];
        if (first->stage == timeline->tasks[task].stage &&
            strcmp(first->stream, timeline->tasks[task].stream) == 0) {
            return i;
        }
    }
    timeline->lines[timeline->lines_count] = task;
    return timeline->lines_count++;
}

#define READ(kind, field) task->field = page_##kind(csv, i, #field);

static struct page_timeline *read_timeline(const struct ar_csv *csv, struct ar_arena *arena)
{
    size_t count = csv->rows_count;
    struct page_timeline *timeline = ar_arena_alloc(arena, 1, sizeof *timeline);
    timeline->count = count;
    timeline->tasks = ar_arena_alloc(arena, count + 1, sizeof *timeline->tasks);
    timeline->lines = ar_arena_alloc(arena, count + 1, sizeof *timeline->lines);
    for (size_t i = 0; i < count; i++) {
        struct task *task = &timeline->tasks[i];
        TASK_LIST(READ)
        (void)find_timeline_line(timeline, i);
        timeline->end_s = fmax(timeline->end_s, task->end_s);
    }
    return timeline;
}

/* Writes what is known of a task. */
static void write_task_text(FILE *file, const struct task *task)
{
    const struct {
        const char *name, *count;
    } counts[] = {{"micro-batch", task->batch}, {"chunk", task->chunk}, {"tensors", task->tensors}};
    ar_plot_write_between(file, "", task->kind, task->name[0] != '\0' ? ": " : "");
    ar_plot_write_html(file, task->name);
    fprintf(file, "\nstage %.0f, ", task->stage);
    ar_plot_write_html(file, task->stream);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].count[0] != '\0') {
            fprintf(file, ", %s ", counts[i].name);
            ar_plot_write_html(file, counts[i].count);
        }
    }
    fprintf(file, "\nat %s for %s", AR_SHOW_SECONDS(task->begin_s),
            AR_SHOW_SECONDS(task->end_s - task->begin_s));
}

/* Writes the meaning of the colours, and the names of the lines. */
static void write_legend(FILE *file, const struct page_timeline *timeline)
{
    fputs("<ul class=\"legend\">", file);
    for (size_t i = 0; i < timeline->count; i++) {
        const char *kind = timeline->tasks[i].kind;
        size_t first = 0;
        while (strcmp(timeline->tasks[first].kind, kind) != 0) {
            first++;
        }
        if (first == i) {
            fprintf(file, "<li><span class=\"k%zu\"", find_look(kind)->colour);
            ar_plot_write_between(file, "></span>", kind, "</li>");
        }
    }
    fputs("</ul>\n<div class=\"timeline\"><ol>", file);
    for (size_t i = 0; i < timeline->lines_count; i++) {
        const struct task *task = &timeline->tasks[timeline->lines[i]];
        fprintf(file, "<li>%.0f", task->stage);
        ar_plot_write_between(file, " ", task->stream, "</li>");
    }
    fputs("</ol>\n", file);
}

void page_write_timeline(FILE *file, struct page_parts *parts)
{
    struct page_timeline *timeline = parts->timeline;
    if (timeline == NULL) {
        return;
    }
    fputs("<section><h2>Timeline</h2>\n<p>A line for each stream of each stage.</p>\n", file);
    write_legend(file, timeline);
    fprintf(file,
            "<svg role=\"group\" aria-label=\"Timeline of the step\" viewBox=\"0 0 %d %zu\" "
            "style=\"--lines:%zu\" preserveAspectRatio=\"none\" data-end=\"%.9g\">\n",
            WIDTH, timeline->lines_count, timeline->lines_count, timeline->end_s);
    for (size_t i = 0; i < timeline->count; i++) {
        const struct task *task = &timeline->tasks[i];
        double scale = timeline->end_s > 0 ? WIDTH / timeline->end_s : 0;
        double x = scale * task->begin_s;
        fprintf(file,
                "<rect class=\"value k%zu\" x=\"%.0f\" y=\"%zu\" width=\"%.0f\" height=\"1\">"
                "<title>",
                find_look(task->kind)->colour, x, find_timeline_line(timeline, i),
                fmax(1, scale * task->end_s - x));
        write_task_text(file, task);
        fputs("</title></rect>\n", file);
    }
    fprintf(file, "</svg><p class=\"axis\"><span>0 s</span><span>%s</span></p></div></section>\n",
            AR_SHOW_SECONDS(timeline->end_s));
}

void answer_tasks(struct page_parts *parts, const struct ar_csv *csv)
{
    parts->timeline = read_timeline(csv, parts->arena);
}
