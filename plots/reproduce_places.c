#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_reproduction.h"
#include "plot_script.h"

/* --- axes --------------------------------------------------------------------------------- */

double ar_plot_axis_pixel(const struct ar_plot_axis *axis, double value)
{
    double part = axis->is_log ? log(value / axis->min) / log(axis->max / axis->min)
                               : (value - axis->min) / (axis->max - axis->min);
    return axis->from + part * axis->size;
}

double ar_plot_axis_value(const struct ar_plot_axis *axis, double pixel)
{
    double part = (pixel - axis->from) / axis->size;
    return axis->is_log ? axis->min * pow(axis->max / axis->min, part)
                        : axis->min + part * (axis->max - axis->min);
}

/* --- labels ------------------------------------------------------------------------------- */

enum { LABEL_HEIGHT = 12, MARK_SIZE = 10, DIRECTIONS = 16, RINGS = 8 };

struct box {
    double x, y, width, height; /* its middle and its size */
};

/* Area that two boxes share. */
static double overlap(const struct box *a, const struct box *b)
{
    double width = (a->width + b->width) / 2 - fabs(a->x - b->x);
    double height = (a->height + b->height) / 2 - fabs(a->y - b->y);
    return width > 0 && height > 0 ? width * height : 0;
}

static double outside(const struct box *box, const struct ar_plot_axis *x,
                      const struct ar_plot_axis *y)
{
    double left = x->from - (box->x - box->width / 2);
    double right = box->x + box->width / 2 - (x->from + x->size);
    double below = y->from - (box->y - box->height / 2);
    double above = box->y + box->height / 2 - (y->from + y->size);
    return fmax(0, left) + fmax(0, right) + fmax(0, below) + fmax(0, above);
}

/* How bad a place is: labels on labels are worst, then those on marks, then those on bars. */
static double price(const struct box *box, const struct ar_plot_spot *spots, size_t count,
                    size_t placed, const struct ar_plot_axis *x, const struct ar_plot_axis *y)
{
    double sum = 1000 * outside(box, x, y);
    for (size_t i = 0; i < count; i++) {
        const struct ar_plot_spot *spot = &spots[i];
        struct box mark = {spot->x, spot->y, MARK_SIZE, MARK_SIZE};
        struct box bar = {spot->x, (spot->bar_low + spot->bar_high) / 2, 4,
                          fabs(spot->bar_high - spot->bar_low)};
        sum += 20 * overlap(box, &mark) + 3 * overlap(box, &bar);
        if (i < placed) {
            struct box label = {spot->label_x, spot->label_y, spot->width, LABEL_HEIGHT};
            sum += 40 * overlap(box, &label);
        }
    }
    return sum;
}

/* From the edge of a label to the middle of a mark. */
static double gap(const struct box *box, const struct ar_plot_spot *spot)
{
    return hypot(fmax(0, fabs(box->x - spot->x) - box->width / 2),
                 fmax(0, fabs(box->y - spot->y) - box->height / 2));
}

/* Whether a reader could take the label for that of another mark. */
static bool is_ambiguous(const struct box *box, const struct ar_plot_spot *spots, size_t count,
                         size_t own)
{
    for (size_t i = 0; i < count; i++) {
        if (i != own && gap(box, &spots[i]) < 1.25 * gap(box, &spots[own])) {
            return true;
        }
    }
    return false;
}

static void place(struct ar_plot_spot *spots, size_t count, size_t i, const struct ar_plot_axis *x,
                  const struct ar_plot_axis *y)
{
    static const double turn = 6.283185307179586 / DIRECTIONS;
    struct ar_plot_spot *spot = &spots[i];
    double best = INFINITY;
    for (size_t ring = 0; ring < RINGS; ring++) {
        double distance = 4 + 7.0 * (double)(ring * ring + 2 * ring) / 3;
        for (size_t k = 0; k < DIRECTIONS; k++) {
            double angle = turn * (double)k;
            struct box box = {spot->x + cos(angle) * (distance + MARK_SIZE / 2.0 + spot->width / 2),
                              spot->y +
                                  sin(angle) * (distance + MARK_SIZE / 2.0 + LABEL_HEIGHT / 2.0),
                              spot->width, LABEL_HEIGHT};
            bool is_doubtful = is_ambiguous(&box, spots, count, i);
            double sum = distance + (is_doubtful ? 20 : 0) + price(&box, spots, count, i, x, y);
            if (sum < best - 1e-9) {
                best = sum;
                spot->label_x = box.x;
                spot->label_y = box.y;
                spot->has_leader = ring > 1 || is_doubtful;
            }
        }
    }
}

void ar_plot_spots_place(struct ar_plot_spot *spots, size_t count, const struct ar_plot_axis *x,
                         const struct ar_plot_axis *y)
{
    for (size_t i = 0; i < count; i++) {
        place(spots, count, i, x, y);
    }
}

double ar_plot_number_width(size_t number)
{
    return number < 10 ? 9 : number < 100 ? 16 : 23;
}

double ar_plot_name_width(const char *name)
{
    return 4 + 6.2 * (double)strlen(name);
}

/* --- texts -------------------------------------------------------------------------------- */

static const char *const units[AR_PLOT_QUANTITIES] = {" %", " s", " s", " /s"};

/* Digits behind the point are for small values. */
static double round_whole(double value)
{
    return value < 1000 ? value : round(value);
}

static void format_value(const struct ar_plot_published *row, double value, char *text, size_t size)
{
    if (!isfinite(value)) {
        snprintf(text, size, "-");
    } else if (row->quantity == AR_PLOT_EFFICIENCY) {
        snprintf(text, size, "%.1f", 100 * value);
    } else {
        bool is_large = value >= 1e5;
        int digits = value < 1 ? 3 : value < 1000 ? 4 : 6;
        snprintf(text, size, "%.*g%s", digits, is_large ? round(value / 1000) : round_whole(value),
                 is_large ? "k" : "");
    }
}

double ar_plot_table_line(size_t lines, size_t i)
{
    return 14 + (double)((lines - 1 - i) * AR_PLOT_TABLE_LINE);
}

double ar_plot_table_top(size_t lines)
{
    return 14 + (double)((lines + 1) * AR_PLOT_TABLE_LINE) + 6;
}

/* Names of rows are for readers of the file, who are spared quotes. */
static void write_plain(FILE *file, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        fputc(byte == '"' || byte == ',' || byte < ' ' ? '_' : byte, file);
    }
}

void ar_plot_write_table_cells(FILE *file, const struct ar_plot_published *row, size_t line,
                               size_t lines)
{
    char measured[32];
    char predicted[32];
    char low[32];
    char high[32];
    char error[32] = "no model";
    char number[24] = "";
    bool is_measured = isfinite(row->measured);
    bool is_predicted = isfinite(row->predicted);
    const char *unit = units[row->quantity];
    format_value(row, row->measured, measured, sizeof measured);
    format_value(row, row->predicted, predicted, sizeof predicted);
    format_value(row, row->low, low, sizeof low);
    format_value(row, row->high, high, sizeof high);
    if (is_predicted) {
        snprintf(number, sizeof number, "%zu", row->number);
        snprintf(error, sizeof error, "-");
    }
    if (is_predicted && is_measured) {
        snprintf(error, sizeof error, "%+.1f %%%s", 100 * (row->predicted / row->measured - 1),
                 row->is_inside ? "" : " out");
    }
    fprintf(file, "%.9g,%zu,%s,%.9g,%s%s,%s%s,", ar_plot_table_line(lines, line), line + 1, number,
            row->gpus, measured, is_measured ? unit : "", predicted, is_predicted ? unit : "");
    if (row->has_band) {
        fprintf(file, "%s .. %s", low, high);
    } else {
        fputc('-', file);
    }
    fprintf(file, ",%s,", error);
    write_plain(file, row->row);
}

static void write_cut_texts(FILE *file, const char *name,
                            const struct ar_plot_published *const *rows, size_t count,
                            bool are_titles)
{
    fprintf(file, "array %s[%zu] = [", name, count);
    for (size_t i = 0; i < count; i++) {
        char text[AR_PLOT_TITLE];
        const char *title = rows[i]->title[0] == '\0' ? rows[i]->row : rows[i]->title;
        snprintf(text, sizeof text, "%s", are_titles ? title : rows[i]->algorithm);
        ar_plot_cut_text(text, are_titles ? 54 : 12);
        fputs(i == 0 ? "" : ", ", file);
        ar_plot_write_quoted(file, text);
    }
    fputs("]\n", file);
}

void ar_plot_write_table_texts(FILE *file, const struct ar_plot_published *const *rows,
                               size_t count)
{
    write_cut_texts(file, "table_titles", rows, count, true);
    write_cut_texts(file, "table_algorithms", rows, count, false);
    fprintf(file, "head_y = %.9g\n", ar_plot_table_line(count, 0) + AR_PLOT_TABLE_LINE);
}

void ar_plot_write_curve_styles(FILE *file, const struct ar_plot_curve_point *const *curves,
                                size_t count)
{
    const char *names[AR_PLOT_CURVES_MAX];
    size_t colours[AR_PLOT_CURVES_MAX];
    size_t colours_count = 0;
    char colour_list[4 * AR_PLOT_CURVES_MAX] = "";
    char dash_list[4 * AR_PLOT_CURVES_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        colours[i] = colours_count;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(curves[k]->algorithm, curves[i]->algorithm) == 0) {
                colours[i] = colours[k];
                same++;
            }
        }
        colours_count += colours[i] == colours_count;
        names[i] = curves[i]->curve;
        snprintf(colour_list + strlen(colour_list), 4, "%u ", (unsigned)(colours[i] + 1) % 100);
        snprintf(dash_list + strlen(dash_list), 4, "%u ", (unsigned)(same + 1) % 100);
    }
    ar_plot_write_texts(file, "curves_names", names, count);
    ar_plot_write_text(file, "curves_colours", colour_list);
    ar_plot_write_text(file, "curves_dashes", dash_list);
    fprintf(file, "curves_count = %zu\n", count);
}

void ar_plot_write_settings_text(FILE *file, const char *name, size_t index, const char *text)
{
    fprintf(file, "%s[%zu] = ", name, index);
    ar_plot_write_quoted(file, text);
    fputc('\n', file);
}

void ar_plot_write_axis(FILE *file, const char *axis, const struct ar_plot_axis *range,
                        size_t max_count)
{
    char *text = NULL;
    size_t size = 0;
    fprintf(file, "set %stics nomirror; ", axis);
    fprintf(file, "set %srange [%.9g:%.9g]; ", axis, range->min, range->max);
    if (!range->is_log) {
        fprintf(file, "unset logscale %s; set %stics auto; ", axis, axis);
        return;
    }
    fprintf(file, "set logscale %s 10; ", axis);
    FILE *ticks = open_memstream(&text, &size);
    if (ticks == NULL) {
        return;
    }
    char name[16];
    snprintf(name, sizeof name, "%stics", axis);
    ar_plot_write_few_log_ticks(ticks, name, range->min, range->max, range->max < 1e5 ? NULL : "",
                                max_count);
    fclose(ticks);
    fprintf(file, "%.*s; ", (int)strcspn(text, "\n"), text);
    free(text);
}
