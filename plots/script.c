#include "plot_script.h"

#include <inttypes.h>
#include <string.h>

#include "ar_text.h"

enum { SUBTITLE_WIDTH = 76, SUBTITLE_LINES = 8 };

/* Within single quotes gnuplot knows one escape, '' for ', and substitutes nothing. */
void ar_plot_write_quoted(FILE *file, const char *text)
{
    fputc('\'', file);
    while (*text != '\0') {
        size_t size = ar_utf8_size(text);
        if (size == 0) {
            fputc('?', file);
        } else if ((unsigned char)*text < ' ' || *text == 0x7f) {
            fputc(' ', file);
        } else {
            fputs(*text == '\'' ? "'" : "", file);
            fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
    fputc('\'', file);
}

void ar_plot_cut_text(char *text, size_t max)
{
    if (strlen(text) <= max) {
        return;
    }
    size_t end = max - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) {
        end--;
    }
    memcpy(text + end, "...", 4);
}

void ar_plot_write_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, "%s = ", name);
    ar_plot_write_quoted(file, text);
    fputc('\n', file);
}

void ar_plot_write_texts(FILE *file, const char *name, const char *const *texts, size_t count)
{
    fprintf(file, "%s_count = %zu\n", name, count);
    fprintf(file, "array %s[%zu] = [", name, count == 0 ? 1 : count);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : ", ", file);
        ar_plot_write_quoted(file, texts[i]);
    }
    fputs(count == 0 ? "'']\n" : "]\n", file);
}

void ar_plot_write_lead(FILE *file, const struct ar_plot_scene *scene,
                        const struct ar_plot_row *row)
{
    fprintf(file, "%" PRIu64 ",%s,%s,%s", row->gpus, scene->algorithms->names[row->algorithm],
            row->shape, scene->engines->names[row->engine]);
}

const char *ar_plot_baseline_text(const struct ar_plot_scene *scene,
                                  char text[AR_PLOT_BASELINE_TEXT])
{
    const char *baseline = scene->subject->baseline;
    snprintf(text, AR_PLOT_BASELINE_TEXT, "100 %% = one %s",
             strcmp(baseline, "gpu") == 0 ? "GPU" : baseline);
    return text;
}

void ar_plot_write_key(FILE *file, size_t entries_count, size_t longest)
{
    /* The key may be 79 letters wide; an entry has a sample of seven beside its letters. */
    size_t columns = 79 / (longest + 7);
    columns = columns == 0 ? 1 : columns > entries_count ? entries_count : columns;
    fprintf(file, "key_columns = %zu\nkey_rows = %zu\n", columns,
            (entries_count + columns - 1) / columns);
}

/* --- algorithms and engines --------------------------------------------------------------- */

struct series {
    const char *names[AR_PLOT_NAMES_MAX];
    uint32_t styles[AR_PLOT_NAMES_MAX]; /* from 1 */
    size_t count;
};

static void write_one_series(FILE *file, const struct series *series, const char *names,
                             const char *styles)
{
    ar_plot_write_texts(file, names, series->names, series->count);
    fprintf(file, "array %s[%zu] = [", styles, series->count == 0 ? 1 : series->count);
    for (size_t i = 0; i < series->count; i++) {
        fprintf(file, "%s%" PRIu32, i == 0 ? "" : ", ", series->styles[i]);
    }
    fputs(series->count == 0 ? "1]\n" : "]\n", file);
}

static bool has_grid(const struct ar_plot_pick *pick, uint32_t algorithm)
{
    for (size_t i = 0; i < pick->rows_count; i++) {
        if (pick->rows[i]->algorithm == algorithm && pick->rows[i]->grid_x > 0) {
            return true;
        }
    }
    return false;
}

static bool uses(const struct ar_plot_pick *pick, size_t member, uint32_t index)
{
    for (size_t i = 0; i < pick->rows_count; i++) {
        const char *row = (const char *)pick->rows[i];
        if (*(const uint32_t *)(const void *)(row + member) == index) {
            return true;
        }
    }
    return false;
}

static size_t list_engines(const struct ar_plot_scene *scene, const char *names[AR_PLOT_NAMES_MAX])
{
    size_t count = 0;
    for (uint32_t i = 0; i < scene->engines->count; i++) {
        if (uses(scene->pick, offsetof(struct ar_plot_row, engine), i)) {
            names[count++] = scene->engines->names[i];
        }
    }
    return count;
}

static size_t longest_name(const char *const *names, size_t count, size_t longest)
{
    for (size_t i = 0; i < count; i++) {
        longest = strlen(names[i]) > longest ? strlen(names[i]) : longest;
    }
    return longest;
}

void ar_plot_write_series(FILE *file, const struct ar_plot_scene *scene, bool grids_only)
{
    struct series curves = {.count = 0};
    struct series references = {.count = 0};
    for (uint32_t i = 0; i < scene->algorithms->count; i++) {
        if (!uses(scene->pick, offsetof(struct ar_plot_row, algorithm), i)) {
            continue;
        }
        bool is_grid = has_grid(scene->pick, i);
        struct series *series = grids_only && !is_grid ? &references : &curves;
        series->names[series->count] = scene->algorithms->names[i];
        series->styles[series->count++] = i + 1;
    }
    write_one_series(file, &curves, "algorithms", "styles");
    if (grids_only) {
        write_one_series(file, &references, "references", "reference_styles");
    }
    const char *engines[AR_PLOT_NAMES_MAX];
    size_t engines_count = list_engines(scene, engines);
    ar_plot_write_texts(file, "engines", engines, engines_count);
    size_t marks_count = engines_count > 1 ? engines_count : 0;
    size_t longest = longest_name(engines, marks_count, strlen("ideal"));
    longest = longest_name(curves.names, curves.count, longest);
    longest = longest_name(references.names, references.count, longest);
    ar_plot_write_key(file, curves.count + references.count + marks_count + 1, longest);
}

/* --- subtitle ----------------------------------------------------------------------------- */

struct lines {
    char texts[SUBTITLE_LINES][SUBTITLE_WIDTH + 8];
    size_t count;
};

static void add_piece(struct lines *lines, const char *piece)
{
    char *line = lines->count == 0 ? NULL : lines->texts[lines->count - 1];
    if (line != NULL && strlen(line) + 2 + strlen(piece) <= SUBTITLE_WIDTH) {
        strcat(strcat(line, ", "), piece);
        return;
    }
    if (lines->count == SUBTITLE_LINES) {
        return;
    }
    if (line != NULL) {
        strcat(line, ",");
    }
    line = lines->texts[lines->count++];
    char cut[512];
    ar_copy_text(cut, sizeof cut, piece);
    ar_plot_cut_text(cut, SUBTITLE_WIDTH);
    ar_copy_text(line, sizeof lines->texts[0], cut);
}

void ar_plot_write_subtitle(FILE *file, const struct ar_plot_scene *scene,
                            const char *const *pieces, size_t pieces_count)
{
    struct lines lines = {.count = 0};
    for (size_t i = 0; i < pieces_count; i++) {
        if (pieces[i] != NULL && pieces[i][0] != '\0') {
            add_piece(&lines, pieces[i]);
        }
    }
    const char *engines[AR_PLOT_NAMES_MAX];
    size_t engines_count = list_engines(scene, engines);
    char text[AR_PLOT_NAMES_MAX * (AR_PLOT_NAME + 3)];
    size_t length = (size_t)snprintf(text, sizeof text, "engine%s ", engines_count > 1 ? "s" : "");
    for (size_t i = 0; i < engines_count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i == 0 ? "" : " + ",
                                   engines[i]);
    }
    add_piece(&lines, text);
    const char *texts[SUBTITLE_LINES];
    for (size_t i = 0; i < lines.count; i++) {
        texts[i] = lines.texts[i];
    }
    ar_plot_write_texts(file, "subtitle", texts, lines.count);
}

const char *ar_plot_grid_note(const struct ar_plot_scene *scene)
{
    for (uint32_t i = 0; i < scene->algorithms->count; i++) {
        if (has_grid(scene->pick, i)) {
            return "grids at their best shape";
        }
    }
    return NULL;
}

void ar_plot_write_step_subtitle(FILE *file, const struct ar_plot_scene *scene, const char *note,
                                 const char *other_note)
{
    const struct ar_plot_subject *subject = scene->subject;
    const struct ar_plot_row *row = scene->pick->rows[0]; /* all are of one condition */
    char batch[48];
    char scale[64];
    snprintf(batch, sizeof batch, "batch of %" PRIu64 " per GPU", row->batch_per_gpu);
    snprintf(scale, sizeof scale, "gradients %g times as large", row->gradient_scale);
    const char *pieces[] = {subject->cluster,
                            subject->trace,
                            batch,
                            row->precision,
                            row->gradient_scale == 1 ? NULL : scale,
                            note,
                            other_note};
    ar_plot_write_subtitle(file, scene, pieces, sizeof pieces / sizeof pieces[0]);
}
