#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_reproduction.h"
#include "plot_script.h"

enum {
    PANEL_WIDTH = 180,
    NAME_SIZE = 170,
    TITLE_MAX = 38,
    PANELS_MAX = 6,
    ASSUMPTIONS_MAX = 6,
    BARS_MAX = 18,
    LINE = 15,
    TITLE_SIZE = 78,
    VALUE_MAX = 13,
    NAME_GAP = 10 /* from a name to a value, and from there to the axis */
};

/* Pixels, on average, of a character of the font of names and values. */
#define CHARACTER_WIDTH 5.5

/* The values of one assumption of one row. */
struct group {
    const struct ar_plot_change *first;
    double max; /* largest change of them */
};

/* The bars of one row, the assumptions that change most at the top. */
struct panel {
    const char *row, *title;
    const struct ar_plot_change *bars[BARS_MAX];
    double name_lines[BARS_MAX]; /* where the name of its assumption stands; NAN: elsewhere */
    size_t bars_count;
};

struct layout {
    struct panel panels[PANELS_MAX];
    size_t panels_count;
    double x_min, x_max, x_step;
    double panel_height, height;
    size_t bars_max;
    bool is_cut;
};

static size_t count_changes(const struct ar_plot_reproduction *reproduction)
{
    return reproduction->changes_count;
}

static bool is_same_group(const struct ar_plot_change *a, const struct ar_plot_change *b)
{
    return strcmp(a->row, b->row) == 0 && strcmp(a->assumption, b->assumption) == 0;
}

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    if (a->max != b->max) {
        return a->max > b->max ? -1 : 1;
    }
    return (a->first > b->first) - (a->first < b->first);
}

static void add_bars(struct panel *panel, const struct ar_plot_reproduction *reproduction,
                     const struct group *group, bool *is_cut)
{
    size_t before = panel->bars_count;
    for (size_t i = 0; i < reproduction->changes_count; i++) {
        const struct ar_plot_change *change = &reproduction->changes[i];
        if (!is_same_group(group->first, change)) {
            continue;
        }
        if (panel->bars_count == BARS_MAX) {
            *is_cut = true;
            break;
        }
        panel->name_lines[panel->bars_count] = NAN;
        panel->bars[panel->bars_count++] = change;
    }
    if (panel->bars_count > before) {
        panel->name_lines[before] = ((double)before + (double)panel->bars_count - 1) / 2;
    }
}

static void fill_panel(struct panel *panel, const struct ar_plot_reproduction *reproduction,
                       struct group *groups, bool *is_cut)
{
    size_t count = 0;
    for (size_t i = 0; i < reproduction->changes_count; i++) {
        const struct ar_plot_change *change = &reproduction->changes[i];
        size_t k = 0;
        if (strcmp(change->row, panel->row) != 0) {
            continue;
        }
        while (k < count && !is_same_group(groups[k].first, change)) {
            k++;
        }
        if (k == count) {
            groups[count++] = (struct group){change, 0};
        }
        groups[k].max = fmax(groups[k].max, fabs(change->change_frac));
    }
    qsort(groups, count, sizeof *groups, compare_groups);
    for (size_t k = 0; k < count && k < ASSUMPTIONS_MAX; k++) {
        add_bars(panel, reproduction, &groups[k], is_cut);
    }
    *is_cut = *is_cut || count > ASSUMPTIONS_MAX;
}

/* The title of a row if there is room for it, else its name. */
static const char *title_of(const struct ar_plot_reproduction *reproduction, const char *row)
{
    for (size_t i = 0; i < reproduction->rows_count; i++) {
        const char *title = reproduction->rows[i].title;
        if (strcmp(reproduction->rows[i].row, row) == 0 && title[0] != '\0' &&
            strlen(title) <= TITLE_MAX) {
            return title;
        }
    }
    return row;
}

/* The largest change of a row. */
static double max_of(const struct ar_plot_reproduction *reproduction, const char *row)
{
    double max = 0;
    for (size_t i = 0; i < reproduction->changes_count; i++) {
        if (strcmp(reproduction->changes[i].row, row) == 0) {
            max = fmax(max, fabs(reproduction->changes[i].change_frac));
        }
    }
    return max;
}

/* Whether a change is the first one of its row. */
static bool begins_row(const struct ar_plot_reproduction *reproduction, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(reproduction->changes[i].row, reproduction->changes[index].row) == 0) {
            return false;
        }
    }
    return true;
}

/* Rows that change more than the one that begins at `index`. */
static size_t count_ahead(const struct ar_plot_reproduction *reproduction, size_t index)
{
    double max = max_of(reproduction, reproduction->changes[index].row);
    size_t count = 0;
    for (size_t i = 0; i < reproduction->changes_count; i++) {
        if (begins_row(reproduction, i)) {
            double other = max_of(reproduction, reproduction->changes[i].row);
            count += other > max || (other == max && i < index);
        }
    }
    return count;
}

/* The rows that change most, in the order of the file. */
static void list_panels(const struct ar_plot_reproduction *reproduction, struct layout *layout)
{
    for (size_t i = 0; i < reproduction->changes_count; i++) {
        const char *row = reproduction->changes[i].row;
        if (!begins_row(reproduction, i)) {
            continue;
        }
        if (count_ahead(reproduction, i) >= PANELS_MAX) {
            layout->is_cut = true;
        } else {
            layout->panels[layout->panels_count++] =
                (struct panel){.row = row, .title = title_of(reproduction, row)};
        }
    }
}

/* Room for the texts at the ends of the bars; two ticks on each side of zero. */
static void set_scale(struct layout *layout)
{
    double max = 0.1;
    for (size_t p = 0; p < layout->panels_count; p++) {
        const struct panel *panel = &layout->panels[p];
        for (size_t i = 0; i < panel->bars_count; i++) {
            max = fmax(max, 100 * fabs(panel->bars[i]->change_frac));
        }
        layout->bars_max =
            panel->bars_count > layout->bars_max ? panel->bars_count : layout->bars_max;
    }
    double decade = pow(10, floor(log10(max / 1.5)));
    double digit = max / 1.5 / decade;
    layout->x_step = decade * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    layout->x_max = 1.95 * max;
    layout->x_min = -1.95 * max;
    layout->panel_height = (double)layout->bars_max * LINE + 6;
    layout->height =
        TITLE_SIZE + 8 + (layout->panel_height + 62) * (double)((layout->panels_count + 1) / 2);
}

/* Freed by the caller; NULL without memory. */
static struct layout *make_layout(const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = calloc(1, sizeof *layout);
    struct group *groups = calloc(reproduction->changes_count + 1, sizeof *groups);
    if (layout != NULL && groups != NULL) {
        list_panels(reproduction, layout);
        for (size_t p = 0; p < layout->panels_count; p++) {
            fill_panel(&layout->panels[p], reproduction, groups, &layout->is_cut);
        }
        set_scale(layout);
    } else {
        free(layout);
        layout = NULL;
    }
    free(groups);
    return layout;
}

static void write_bars(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = make_layout(reproduction);
    size_t number = 0;
    fputs("panel,bar,line,percent,x_min,name_line\n", file);
    for (size_t p = 0; layout != NULL && p < layout->panels_count; p++) {
        const struct panel *panel = &layout->panels[p];
        for (size_t i = 0; i < panel->bars_count; i++) {
            double name_line = isfinite(panel->name_lines[i]) ? panel->name_lines[i] : (double)i;
            fprintf(file, "%zu,%zu,%zu,%.9g,%.9g,%.9g\n", p + 1, ++number, i,
                    100 * panel->bars[i]->change_frac, layout->x_min, name_line);
        }
    }
    free(layout);
}

enum text { NAMES, VALUES, CHANGES };

/* Characters of the name at bar i: what the longest value of its assumption leaves of the room. */
static size_t name_max(const struct panel *panel, size_t i)
{
    size_t longest = 0;
    for (size_t k = 0; k < panel->bars_count; k++) {
        size_t length = strlen(panel->bars[k]->value);
        if (is_same_group(panel->bars[k], panel->bars[i]) && length > longest) {
            longest = length < VALUE_MAX ? length : VALUE_MAX;
        }
    }
    return (size_t)((NAME_SIZE - NAME_GAP) / CHARACTER_WIDTH) - longest;
}

static void write_text(FILE *file, const struct panel *panel, size_t i, enum text kind)
{
    const struct ar_plot_change *bar = panel->bars[i];
    char text[AR_PLOT_SHORT] = "";
    if (kind == CHANGES) {
        snprintf(text, sizeof text, "%+.2g %%", 100 * bar->change_frac);
    } else if (kind == VALUES) {
        snprintf(text, sizeof text, "%s", bar->value);
        ar_plot_cut_text(text, VALUE_MAX);
    } else if (isfinite(panel->name_lines[i])) {
        snprintf(text, sizeof text, "%s", bar->assumption);
        ar_plot_cut_text(text, name_max(panel, i));
    }
    ar_plot_write_quoted(file, text);
}

/* Names of assumptions, once for all bars of each, their values and what they change. */
static void write_texts(FILE *file, const struct layout *layout, const char *name, enum text kind)
{
    size_t count = 0;
    for (size_t p = 0; p < layout->panels_count; p++) {
        count += layout->panels[p].bars_count;
    }
    fprintf(file, "array %s[%zu] = [", name, count);
    for (size_t p = 0, number = 0; p < layout->panels_count; p++) {
        for (size_t i = 0; i < layout->panels[p].bars_count; i++) {
            fputs(number++ == 0 ? "" : ", ", file);
            write_text(file, &layout->panels[p], i, kind);
        }
    }
    fputs("]\n", file);
}

static void write_panel(FILE *file, const struct layout *layout, size_t p)
{
    const struct panel *panel = &layout->panels[p];
    double left = p % 2 == 0 ? 176 : 532;
    double top = layout->height - TITLE_SIZE - 20 - (layout->panel_height + 62) * (double)(p / 2);
    char *text = NULL;
    size_t size = 0;
    char title[AR_PLOT_TITLE];
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return;
    }
    snprintf(title, sizeof title, "%s", panel->title);
    ar_plot_cut_text(title, TITLE_MAX);
    fprintf(stream, "set lmargin at screen %.6f; set rmargin at screen %.6f; ",
            left / AR_PLOT_WIDTH, (left + PANEL_WIDTH) / AR_PLOT_WIDTH);
    fprintf(stream, "set tmargin at screen %.6f; set bmargin at screen %.6f; ",
            top / layout->height, (top - layout->panel_height) / layout->height);
    /* gnuplot does not take an empty text within another one. */
    fprintf(stream, "set yrange [%.9g:-0.7]; set xlabel '%s' font ',11' offset 0, 0.6; set title ",
            (double)panel->bars_count - 0.3,
            p + 2 >= layout->panels_count ? "change of the prediction (%)" : " ");
    ar_plot_write_quoted(stream, title);
    fclose(stream);
    ar_plot_write_settings_text(file, "panel_setup", p + 1, text);
    free(text);
}

static void write_sensitivity_settings(FILE *file, const struct ar_plot_reproduction *reproduction)
{
    struct layout *layout = make_layout(reproduction);
    if (layout == NULL) {
        return;
    }
    const char *subtitle[] = {
        "change of the prediction of a row when one assumption has another value",
        "the largest changes of the rows that change most; sensitivity.csv has all"};
    ar_plot_write_texts(file, "subtitle", subtitle, layout->is_cut ? 2 : 1);
    fprintf(file, "picture_height = %.0f\nkey_columns = 1\nkey_rows = 0\n", layout->height);
    fprintf(file, "x_min = %.9g\nx_max = %.9g\nx_step = %.9g\n", layout->x_min, layout->x_max,
            layout->x_step);
    /* Names begin so far before the axis, in parts of its length. */
    fprintf(file, "name_offset = %.6f\n", -(double)NAME_SIZE / PANEL_WIDTH);
    fprintf(file, "panels_count = %zu\narray panel_setup[%zu]\n", layout->panels_count,
            layout->panels_count);
    write_texts(file, layout, "bar_names", NAMES);
    write_texts(file, layout, "bar_values", VALUES);
    write_texts(file, layout, "bar_changes", CHANGES);
    for (size_t p = 0; p < layout->panels_count; p++) {
        write_panel(file, layout, p);
    }
    free(layout);
}

const struct ar_plot_reproduced ar_plot_sensitivity = {
    .name = "sensitivity",
    .data_name = "sensitivity_bars", /* sensitivity.csv is its input */
    .template_name = "sensitivity",
    .empty_reason = "no sensitivity.csv with rows",
    .count = count_changes,
    .write_data = write_bars,
    .write_settings = write_sensitivity_settings,
};
