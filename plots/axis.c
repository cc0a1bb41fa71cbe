#include "plot_script.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double tick_distance(const struct ar_plot_tick *a, const struct ar_plot_tick *b)
{
    return fabs(log2(a->value) - log2(b->value));
}

static bool is_crowded(const struct ar_plot_tick *ticks, const bool *kept, size_t count, size_t i,
                       double min_gap)
{
    for (size_t j = 0; j < count; j++) {
        if (kept[j] && tick_distance(&ticks[i], &ticks[j]) < min_gap) {
            return true;
        }
    }
    return false;
}

void ar_plot_write_ticks(FILE *file, const char *axis, const struct ar_plot_tick *ticks,
                         size_t ticks_count, size_t first, size_t max_count)
{
    bool *kept = calloc(ticks_count, sizeof *kept);
    double gap = tick_distance(&ticks[0], &ticks[ticks_count - 1]) / (double)max_count;
    if (kept != NULL) {
        kept[first] = true;
    }
    fprintf(file, "set %s (", axis);
    for (size_t i = 0, written = 0; i < ticks_count; i++) {
        /* Without memory every tick is written: crowded, and still right. */
        if (kept != NULL && i != first && is_crowded(ticks, kept, ticks_count, i, gap)) {
            continue;
        }
        if (kept != NULL) {
            kept[i] = true;
        }
        fputs(written++ == 0 ? "" : ", ", file);
        ar_plot_write_quoted(file, ticks[i].label);
        fprintf(file, " %.9g", ticks[i].value);
    }
    fputs(")\n", file);
    free(kept);
}

static int compare_gpus(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static size_t list_gpus(const struct ar_plot_pick *pick, uint64_t *gpus)
{
    for (size_t i = 0; i < pick->rows_count; i++) {
        gpus[i] = pick->rows[i]->gpus;
    }
    qsort(gpus, pick->rows_count, sizeof *gpus, compare_gpus);
    size_t count = 0;
    for (size_t i = 0; i < pick->rows_count; i++) {
        if (count == 0 || gpus[count - 1] != gpus[i]) {
            gpus[count++] = gpus[i];
        }
    }
    return count;
}

static bool is_power(uint64_t count)
{
    return (count & (count - 1)) == 0;
}

void ar_plot_write_gpu_ticks(FILE *file, const struct ar_plot_scene *scene)
{
    uint64_t *gpus = calloc(scene->pick->rows_count, sizeof *gpus);
    struct ar_plot_tick *ticks = calloc(scene->pick->rows_count, sizeof *ticks);
    if (gpus != NULL && ticks != NULL) {
        size_t gpus_count = list_gpus(scene->pick, gpus);
        size_t powers = 0;
        for (size_t i = 0; i < gpus_count; i++) {
            powers += is_power(gpus[i]);
        }
        bool powers_only = 2 * powers > gpus_count;
        size_t count = 0;
        for (size_t i = 0; i < gpus_count; i++) {
            if (!powers_only || is_power(gpus[i])) {
                ticks[count].value = (double)gpus[i];
                snprintf(ticks[count].label, sizeof ticks->label, "%" PRIu64, gpus[i]);
                count++;
            }
        }
        ar_plot_write_ticks(file, "xtics", ticks, count, count - 1, 12);
    }
    free(gpus);
    free(ticks);
}

static void label_decade(double value, const char *unit, char *label, size_t label_size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    if (unit == NULL) {
        snprintf(label, label_size, "%.6g", value);
        return;
    }
    size_t prefix = 0;
    while (prefix + 1 < sizeof prefixes / sizeof prefixes[0] && value >= 999.5) {
        value /= 1000;
        prefix++;
    }
    const char *space = unit[0] == '\0' ? "" : " ";
    snprintf(label, label_size, "%.6g%s%s%s", value, space, prefixes[prefix], unit);
}

enum { TICKS_MAX = 64 };

static size_t add_tick(struct ar_plot_tick *ticks, size_t count, double value, const char *unit)
{
    if (count == TICKS_MAX) {
        return count;
    }
    ticks[count].value = value;
    label_decade(value, unit, ticks[count].label, sizeof ticks->label);
    return count + 1;
}

/* Multiples of a round step, about five of them. */
static size_t add_even_ticks(struct ar_plot_tick *ticks, double min, double max, const char *unit)
{
    double decade = pow(10, floor(log10((max - min) / 5)));
    double digit = (max - min) / 5 / decade;
    double step = decade * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    size_t count = 0;
    for (double i = ceil(min / step); i * step <= max; i++) {
        count = add_tick(ticks, count, i * step, unit);
    }
    return count;
}

static size_t add_decade_ticks(struct ar_plot_tick *ticks, double min, double max, const char *unit)
{
    static const double steps[] = {1, 2, 5};
    size_t steps_count = max / min > 1600 ? 1 : 3;
    size_t count = 0;
    for (double decade = floor(log10(min)); decade <= log10(max); decade++) {
        for (size_t i = 0; i < steps_count; i++) {
            double value = steps[i] * pow(10, decade);
            if (value >= min && value <= max) {
                count = add_tick(ticks, count, value, unit);
            }
        }
    }
    return count;
}

void ar_plot_write_few_log_ticks(FILE *file, const char *axis, double min, double max,
                                 const char *unit, size_t max_count)
{
    struct ar_plot_tick ticks[TICKS_MAX];
    size_t count = max / min < 12 ? add_even_ticks(ticks, min, max, unit)
                                  : add_decade_ticks(ticks, min, max, unit);
    if (count > 0) {
        ar_plot_write_ticks(file, axis, ticks, count, 0, max_count);
    }
}

void ar_plot_write_log_ticks(FILE *file, const char *axis, double min, double max, const char *unit)
{
    ar_plot_write_few_log_ticks(file, axis, min, max, unit, 12);
}

void ar_plot_write_range(FILE *file, const char *axis, double min, double max, double stretch)
{
    double factor = max > min ? stretch : 2 * stretch;
    fprintf(file, "%s_min = %.9g\n%s_max = %.9g\n", axis, min / factor, axis, max * factor);
}
