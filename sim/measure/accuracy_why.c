#include "accuracy_why.h"

#include <math.h>
#include <string.h>

#include "ar_numbers.h"

enum { ROWS_MIN = 4, GROUPS = 2 };

/* What the rows of a group have in common, besides a range of sizes. */
enum kind { OF_NODES, OF_OPERATION, OF_ALGORITHM, KINDS };

struct group {
    const struct why_row *like;
    enum kind kind;
};

/* Sizes where what dominates differs: latency, both, bandwidth and memory. */
static const struct {
    double end_bytes;
    const char *text;
} ranges[] = {{65536, "below 64KiB"}, {8388608, "from 64KiB to 8MiB"}, {INFINITY, "from 8MiB on"}};

static size_t range_of(const struct ar_measured_row *row)
{
    size_t range = 0;
    while (row->call.run.bytes >= ranges[range].end_bytes) {
        range++;
    }
    return range;
}

static bool has(struct group group, const struct why_row *row)
{
    const struct ar_measured_row *a = group.like->row;
    const struct ar_measured_row *b = row->row;
    bool is_like = group.kind == OF_NODES ? a->call.run.nodes == b->call.run.nodes
                                          : a->operation == b->operation;
    return range_of(a) == range_of(b) && is_like &&
           (group.kind != OF_ALGORITHM || strcmp(a->run->algorithm, b->run->algorithm) == 0);
}

bool accuracy_scatters(const struct ar_measured_row *row)
{
    return row->row->time_p90_s > ACCURACY_SCATTER * row->row->time_p10_s;
}

static double ratio_of(const struct why_row *row)
{
    return row->predicted_s / row->row->call.time_s;
}

static double law_of(const struct why_row *row)
{
    return row->law_s / row->row->call.time_s;
}

static double fit_of(const struct why_row *row)
{
    return row->fitted_s / row->row->call.time_s;
}

/* NAN of no values; sorts them. */
static double median(double *values, size_t count)
{
    ar_sort(values, count);
    return count > 0 ? ar_quantile(values, count, 0.5) : NAN;
}

/* The median of the ratios inside a group, or of the errors outside of it. */
static double median_of(const struct why_row *rows, size_t count, struct group group,
                        bool is_inside, double *values, size_t *used)
{
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (has(group, &rows[i]) == is_inside) {
            double ratio = ratio_of(&rows[i]);
            values[(*used)++] = is_inside ? ratio : fabs(ratio - 1);
        }
    }
    return median(values, *used);
}

/* The group without which the median falls most; groups of less than ROWS_MIN rows say little,
 * and of more than two thirds everything. */
static struct group worst_group(const struct why_row *rows, size_t count, double *values,
                                double *least)
{
    struct group worst = {NULL, OF_NODES};
    bool has_counts = false;
    for (size_t i = 1; i < count; i++) {
        has_counts = has_counts || rows[i].row->call.run.nodes != rows[0].row->call.run.nodes;
    }
    for (size_t i = 0; i < KINDS * count; i++) {
        struct group group = {&rows[i / KINDS], (enum kind)(i % KINDS)};
        if (group.kind == OF_NODES && !has_counts) {
            continue;
        }
        size_t others;
        double rest = median_of(rows, count, group, false, values, &others);
        size_t own = count - others;
        if (own >= ROWS_MIN && 3 * own <= 2 * count && rest < *least) {
            worst = group;
            *least = rest;
        }
    }
    return worst;
}

static const char *text_of(struct group group, double ratio, size_t count, double rest_frac,
                           struct ar_arena *arena)
{
    const struct ar_measured_row *row = group.like->row;
    const char *name = group.kind == OF_ALGORITHM ? row->run->algorithm : "";
    const char *what = group.kind == OF_NODES
                           ? ar_arena_format(arena, "%u nodes", (unsigned)row->call.run.nodes)
                           : ar_arena_format(arena, "%s%s%s", row->operation->command,
                                             name[0] != 0 ? " " : "", name);
    return what == NULL
               ? NULL
               : ar_arena_format(arena, "%s %s: %.2f times measured (%zu rows; others: %.1f %%)",
                                 what, ranges[range_of(row)].text, ratio, count, rest_frac * 100);
}

/* Moves those of the group behind the others; returns how many others there are. */
static size_t part(struct why_row *rows, size_t count, struct group group)
{
    struct why_row like = *group.like;
    size_t others = 0;
    group.like = &like;
    for (size_t i = 0; i < count; i++) {
        if (!has(group, &rows[i])) {
            struct why_row row = rows[i];
            rows[i] = rows[others];
            rows[others++] = row;
        }
    }
    return others;
}

/* Adds the median error of one of the estimates of rows, if it has one of half of them. */
static const char *add_other(const char *text, const char *what, const struct why_row *rows,
                             size_t count, double (*ratio)(const struct why_row *row),
                             double *values, struct ar_arena *arena)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(ratio(&rows[i]))) {
            values[used++] = fabs(ratio(&rows[i]) - 1);
        }
    }
    return text == NULL || 2 * used < count
               ? text
               : ar_arena_format(arena, "%s; %s: %.1f %%", text, what, median(values, used) * 100);
}

const char *accuracy_why(struct why_row *rows, size_t count, double goal_frac,
                         struct ar_arena *arena)
{
    double *values = ar_arena_alloc(arena, count + 1, sizeof *values);
    const char *text = "";
    size_t scattered = 0, left = count;
    if (values == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = fabs(ratio_of(&rows[i]) - 1);
        scattered += accuracy_scatters(rows[i].row);
    }
    double rest = median(values, count);
    if (count == 0 || rest <= goal_frac) {
        return "";
    }
    for (int i = 0; i < GROUPS && text != NULL; i++) {
        struct group group = worst_group(rows, left, values, &rest);
        if (group.like == NULL) {
            break;
        }
        size_t own;
        double ratio = median_of(rows, left, group, true, values, &own);
        const char *more = text_of(group, ratio, own, rest, arena);
        text =
            more == NULL ? NULL : ar_arena_format(arena, "%s%s%s", text, i > 0 ? "; " : "", more);
        left = part(rows, left, group);
    }
    if (text != NULL && text[0] == '\0') { /* no group is worse than the others */
        for (size_t i = 0; i < count; i++) {
            values[i] = ratio_of(&rows[i]);
        }
        text = ar_arena_format(arena, "all: %.2f times measured (%zu rows)", median(values, count),
                               count);
    }
    if (text != NULL && scattered > 0) {
        text = ar_arena_format(arena, "%s; %zu rows scatter by more than %.0f %%", text, scattered,
                               (ACCURACY_SCATTER - 1) * 100);
    }
    text = add_other(text, "power law of the counts below", rows, count, law_of, values, arena);
    return add_other(text, "these rows fitted", rows, count, fit_of, values, arena);
}
