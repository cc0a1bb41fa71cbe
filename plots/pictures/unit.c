#include "ar_plot_unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot_quote.h"

enum { SCALES_MAX = 5 };

/* The first ending that fits; scales from large to small. */
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
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const struct ending *ending = &endings[i];
        size_t tail = strlen(ending->text);
        if (size <= tail || strcmp(column + size - tail, ending->text) != 0) {
            continue;
        }
        size_t k = 0;
        while (k + 1 < SCALES_MAX && ending->scales[k + 1].unit != NULL &&
               fabs(max) * ending->scales[k].factor < 1 && max != 0) {
            k++;
        }
        k = max == 0 ? 0 : k;
        const char *unit = ending->scales[k].unit;
        return (struct ar_plot_unit){unit[0] == '\0' ? size : size - tail, unit,
                                     ending->scales[k].factor};
    }
    return (struct ar_plot_unit){size, "", 1};
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
    if (isnan(value) || (unit.name[0] == '\0' && cell[strspn(cell, "+-0123456789")] == '\0')) {
        ar_plot_write_html(file, cell);
    } else {
        fprintf(file, fabs(value) >= 1e4 && fabs(value) < 1e15 ? "%.0f" : "%.4g", value);
    }
}
