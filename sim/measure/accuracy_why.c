#include <math.h>
#include <string.h>

#include "ar_accuracy.h"
#include "ar_numbers.h"

enum { ROWS_MIN = 4, GROUPS = 2 };

/* Rows of a group are alike in this, and in their range of sizes. */
enum kind { BY_NODES, BY_OPERATION, BY_ALGORITHM, KINDS };

struct group {
    const struct ar_measured_row *like;
    enum kind kind;
};

/* Sizes where different costs dominate: latency, both, bandwidth and memory. */
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

static bool group_has(struct group group, const struct ar_measured_row *row)
{
    bool is_like = group.kind == BY_NODES ? group.like->call.run.nodes == row->call.run.nodes
                                          : group.like->operation == row->operation;
    return range_of(group.like) == range_of(row) && is_like &&
           (group.kind != BY_ALGORITHM ||
            strcmp(group.like->run->algorithm, row->run->algorithm) == 0);
}

bool ar_accuracy_scatters(const struct ar_measured_row *row)
{
    return row->row->time_p90_s > AR_ACCURACY_SCATTER * row->row->time_p10_s;
}

static double ratio_of(const struct ar_accuracy_row *row)
{
    return row->predicted_s / row->row->call.time_s;
}

/* NAN of no values; sorts them. */
static double median_sorted(double *values, size_t count)
{
    ar_sort(values, count);
    return count > 0 ? ar_quantile(values, count, 0.5) : NAN;
}

/* The median of the ratios inside a group, or of the errors outside of it. */
static double group_median(const struct ar_accuracy_row *rows, size_t count, struct group group,
                           bool is_inside, double *values, size_t *used)
{
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (group_has(group, rows[i].row) == is_inside) {
            values[(*used)++] = is_inside ? ratio_of(&rows[i]) : fabs(ratio_of(&rows[i]) - 1);
        }
    }
    return median_sorted(values, *used);
}

/* The group without which the median falls most, below `*least`; a group of less than ROWS_MIN rows
 * says little, and one of more than two thirds of the rows everything. */
static struct group worst_group(const struct ar_accuracy_row *rows, size_t count, double *values,
                                double *least)
{
    struct group worst = {NULL, BY_NODES};
    bool has_counts = false;
    for (size_t i = 1; i < count; i++) {
        has_counts = has_counts || rows[i].row->call.run.nodes != rows[0].row->call.run.nodes;
    }
    for (size_t i = 0; i < KINDS * count; i++) {
        struct group group = {rows[i / KINDS].row, (enum kind)(i % KINDS)};
        size_t others;
        if (group.kind == BY_NODES && !has_counts) {
            continue;
        }
        double rest = group_median(rows, count, group, false, values, &others);
        size_t own = count - others;
        if (own >= ROWS_MIN && 3 * own <= 2 * count && rest < *least) {
            worst = group;
            *least = rest;
        }
    }
    return worst;
}

/* Adds the median error of another estimate of rows, if half of them have one. */
static const char *add_estimate_text(const char *text, const char *what,
                                     const struct ar_accuracy_row *rows, size_t count,
                                     bool is_of_law, double *values, struct ar_arena *arena)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        double time_s = is_of_law ? rows[i].law_s : rows[i].fitted_s;
        double ratio = time_s / rows[i].row->call.time_s;
        if (isfinite(ratio)) {
            values[used++] = fabs(ratio - 1);
        }
    }
    return 2 * used < count ? text
                            : ar_arena_format(arena, "%s; %s: %.1f %%", text, what,
                                              median_sorted(values, used) * 100);
}

const char *ar_accuracy_why(struct ar_accuracy_row *rows, size_t count, double goal_frac,
                            struct ar_arena *arena)
{
    double *values = ar_arena_alloc(arena, count + 1, sizeof *values);
    const char *text = "";
    size_t scattered = 0, left = count;
    for (size_t i = 0; i < count; i++) {
        values[i] = fabs(ratio_of(&rows[i]) - 1);
        scattered += ar_accuracy_scatters(rows[i].row);
    }
    double rest = median_sorted(values, count);
    if (count == 0 || rest <= goal_frac) {
        return "";
    }
    for (int i = 0; i < GROUPS; i++) {
        struct group group = worst_group(rows, left, values, &rest);
        if (group.like == NULL) {
            break;
        }
        size_t own, others = 0;
        double ratio = group_median(rows, left, group, true, values, &own);
        bool has_name = group.kind == BY_ALGORITHM && group.like->run->algorithm[0] != '\0';
        const char *what =
            group.kind == BY_NODES
                ? ar_arena_format(arena, "%u nodes", (unsigned)group.like->call.run.nodes)
                : ar_arena_format(arena, "%s%s%s", group.like->operation->command,
                                  has_name ? " " : "", has_name ? group.like->run->algorithm : "");
        text = ar_arena_format(arena, "%s%s%s %s: %.2f times measured (%zu rows; others: %.1f %%)",
                               text, i > 0 ? "; " : "", what, ranges[range_of(group.like)].text,
                               ratio, own, rest * 100);
        for (size_t k = 0; k < left; k++) { /* the next group is one of the others */
            if (!group_has(group, rows[k].row)) {
                struct ar_accuracy_row row = rows[k];
                rows[k] = rows[others];
                rows[others++] = row;
            }
        }
        left = others;
    }
    if (text[0] == '\0') { /* no group is worse than the others */
        for (size_t i = 0; i < count; i++) {
            values[i] = ratio_of(&rows[i]);
        }
        text = ar_arena_format(arena, "all: %.2f times measured (%zu rows)",
                               median_sorted(values, count), count);
    }
    if (scattered > 0) {
        text = ar_arena_format(arena, "%s; %zu rows scatter by more than %.0f %%", text, scattered,
                               (AR_ACCURACY_SCATTER - 1) * 100);
    }
    text =
        add_estimate_text(text, "power law of the counts below", rows, count, true, values, arena);
    return add_estimate_text(text, "these rows fitted", rows, count, false, values, arena);
}
