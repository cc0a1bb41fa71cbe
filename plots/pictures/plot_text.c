#include "ar_plot_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

/* --- quoting ------------------------------------------------------------------------------ */

/* Writes `instead[i]` for each `marks[i]` within the text; ]]> is nowhere allowed in an SVG. */
static void write_replaced(FILE *file, const char *text, const char *marks,
                           const char *const *instead)
{
    while (*text != '\0') {
        size_t size = ar_utf8_size(text);
        const char *mark = strchr(marks, *text);
        if (size == 0) {
            fputc('?', file);
        } else if (mark != NULL) {
            fputs(instead[mark - marks], file);
        } else if ((unsigned char)text[0] < ' ' || text[0] == 0x7f ||
                   (text[0] == '\xc2' && (unsigned char)text[1] < 0xa0)) {
            fputc(' ', file); /* terminals obey the second set of control characters, too */
        } else if (strncmp(text, "]]>", 3) == 0 && strchr(marks, '>') == NULL) {
            fputs("]] ", file);
            size = 2;
        } else {
            fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
}

void ar_plot_write_text(FILE *file, const char *text)
{
    static const char *const instead[] = {"’"};
    fputc('\'', file);
    write_replaced(file, text, "'", instead);
    fputc('\'', file);
}

void ar_plot_write_cell(FILE *file, const char *text)
{
    static const char *const instead[] = {"'", ";"};
    write_replaced(file, text, "\",", instead);
}

void ar_plot_write_html(FILE *file, const char *text)
{
    static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "\n", "\t"};
    write_replaced(file, text, "&<>\"'\n\t", instead);
}

void ar_plot_write_between(FILE *file, const char *before, const char *text, const char *after)
{
    fputs(before, file);
    ar_plot_write_html(file, text);
    fputs(after, file);
}

/* --- units -------------------------------------------------------------------------------- */

enum { SCALES_MAX = 5 };

/* The first ending that fits counts; scales go from large to small. */
static const struct ending {
    const char *text;
    struct {
        const char *unit;
        double factor;
    } scales[SCALES_MAX]; /* ended by an empty unit */
} endings[] = {
    {"_per_s", {{"", 1}}},
    {"_s", {{"s", 1}, {"ms", 1e3}, {"µs", 1e6}, {"ns", 1e9}}},
    {"_bytes", {{"GB", 1e-9}, {"MB", 1e-6}, {"kB", 1e-3}, {"B", 1}}},
    {"_Bps", {{"GB/s", 1e-9}, {"MB/s", 1e-6}, {"kB/s", 1e-3}, {"B/s", 1}}},
    {"_frac", {{"%", 100}}},
};

struct ar_plot_unit ar_plot_unit_of(const char *column, double max)
{
    size_t size = strlen(column);
    AR_EACH(const struct ending, ending, endings, sizeof endings / sizeof endings[0]) {
        size_t tail = strlen(ending->text);
        if (size <= tail || strcmp(column + size - tail, ending->text) != 0) {
            continue;
        }
        size_t k = 0;
        while (max != 0 && k + 1 < SCALES_MAX && ending->scales[k + 1].unit != NULL &&
               fabs(max) * ending->scales[k].factor < 1) {
            k++;
        }
        const char *unit = ending->scales[k].unit;
        return (struct ar_plot_unit){unit[0] == '\0' ? size : size - tail, unit,
                                     ending->scales[k].factor};
    }
    return (struct ar_plot_unit){size, "", 1};
}

void ar_plot_write_name(FILE *file, const char *column, struct ar_plot_unit unit)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)unit.name_size, column);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '_' ? ' ' : *at;
    }
    ar_plot_write_html(file, text);
}

double ar_plot_number_of(const char *cell)
{
    char *end;
    if (cell[0] == '\0' || strspn(cell, "+-.0123456789e") != strlen(cell)) {
        return NAN;
    }
    double value = strtod(cell, &end);
    return *end == '\0' ? value : NAN;
}

void ar_plot_write_value(FILE *file, const char *cell, struct ar_plot_unit unit)
{
    double value = ar_plot_number_of(cell) * unit.factor;
    ar_plot_write_html(file, isnan(value) ? cell : AR_SHOW_NUMBER(value));
}

void ar_plot_write_measure(FILE *file, const char *cell, struct ar_plot_unit unit)
{
    ar_plot_write_value(file, cell, unit);
    fprintf(file, "%s%s", unit.name[0] != '\0' ? " " : "", unit.name);
}
