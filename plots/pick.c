#include "plot_pick.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A rule picks, among the rows it admits, the best of each group of rows with equal keys. */
struct rule {
    bool (*admits)(const struct ar_plot_row *row, uint64_t gpus);
    int (*compare_keys)(const struct ar_plot_row *a, const struct ar_plot_row *b);
    double (*time_s)(const struct ar_plot_row *row);
};

struct order {
    const struct rule *rule;
    const struct ar_plot_names *engines;
};

static int compare_counts(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The more detailed engine goes first; engines unknown here go last. */
static uint32_t engine_rank(const struct ar_plot_names *engines, uint32_t engine)
{
    static const char *const ranking[] = {"simgrid", "recurrence", "closed"};
    uint32_t rank = 0;
    while (rank < 3 && strcmp(engines->names[engine], ranking[rank]) != 0) {
        rank++;
    }
    return rank;
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct ar_plot_row *a = *(const struct ar_plot_row *const *)left;
    const struct ar_plot_row *b = *(const struct ar_plot_row *const *)right;
    const struct order *order = data;
    int keys = order->rule->compare_keys(a, b);
    if (keys != 0) {
        return keys;
    }
    double a_s = order->rule->time_s(a);
    double b_s = order->rule->time_s(b);
    if (a_s != b_s) {
        return a_s < b_s ? -1 : 1;
    }
    uint32_t a_rank = engine_rank(order->engines, a->engine);
    uint32_t b_rank = engine_rank(order->engines, b->engine);
    return a_rank != b_rank ? compare_counts(a_rank, b_rank) : compare_counts(a->line, b->line);
}

static enum ar_status apply(const struct rule *rule, uint64_t gpus,
                            const struct ar_plot_table *table, const struct ar_plot_names *engines,
                            struct ar_plot_pick *pick, struct ar_error *err)
{
    const struct ar_plot_row **rows = calloc(table->rows_count + 1, sizeof(*rows));
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a picture");
    }
    size_t count = 0;
    for (size_t i = 0; i < table->rows_count; i++) {
        if (rule->admits(&table->rows[i], gpus)) {
            rows[count++] = &table->rows[i];
        }
    }
    struct order order = {rule, engines};
    qsort_r(rows, count, sizeof(*rows), compare_rows, &order);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || rule->compare_keys(rows[kept - 1], rows[i]) != 0) {
            rows[kept++] = rows[i];
        }
    }
    pick->rows = rows;
    pick->rows_count = kept;
    return AR_OK;
}

static double iteration_s(const struct ar_plot_row *row)
{
    return row->iteration_s;
}

static double allreduce_s(const struct ar_plot_row *row)
{
    return row->allreduce_s;
}

/* --- curves ------------------------------------------------------------------------------- */

static bool admits_any(const struct ar_plot_row *row, uint64_t gpus)
{
    (void)row;
    (void)gpus;
    return true;
}

static int compare_algorithm_gpus(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int algorithm = compare_counts(a->algorithm, b->algorithm);
    return algorithm != 0 ? algorithm : compare_counts(a->gpus, b->gpus);
}

static const struct rule curves_rule = {admits_any, compare_algorithm_gpus, iteration_s};

enum ar_status ar_plot_pick_curves(const struct ar_plot_table *table,
                                   const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                   struct ar_error *err)
{
    return apply(&curves_rule, 0, table, engines, pick, err);
}

/* --- shapes ------------------------------------------------------------------------------- */

static bool admits_timed(const struct ar_plot_row *row, uint64_t gpus)
{
    return (gpus == 0 || row->gpus == gpus) && row->allreduce_s > 0;
}

static int compare_grids(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int keys = compare_algorithm_gpus(a, b);
    if (keys == 0) {
        keys = compare_counts(a->grid_x, b->grid_x);
    }
    return keys != 0 ? keys : compare_counts(a->grid_y, b->grid_y);
}

static const struct rule shapes_rule = {admits_timed, compare_grids, allreduce_s};

/* `pick` holds a row per algorithm, GPU count and grid, in that order. */
static uint64_t largest_with_grids(const struct ar_plot_pick *pick)
{
    uint64_t gpus = 0;
    for (size_t i = 1; i < pick->rows_count; i++) {
        const struct ar_plot_row *a = pick->rows[i - 1];
        const struct ar_plot_row *b = pick->rows[i];
        if (a->grid_x > 0 && b->grid_x > 0 && compare_algorithm_gpus(a, b) == 0 && b->gpus > gpus) {
            gpus = b->gpus;
        }
    }
    return gpus;
}

enum ar_status ar_plot_pick_shapes(const struct ar_plot_table *table,
                                   const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                   struct ar_error *err)
{
    struct ar_plot_pick all = {NULL, 0};
    enum ar_status status = apply(&shapes_rule, 0, table, engines, &all, err);
    if (status != AR_OK) {
        return status;
    }
    uint64_t gpus = largest_with_grids(&all);
    ar_plot_pick_clear(&all);
    if (gpus == 0) {
        *pick = (struct ar_plot_pick){NULL, 0};
        return AR_OK;
    }
    return apply(&shapes_rule, gpus, table, engines, pick, err);
}

const struct ar_plot_row *ar_plot_pick_best_grid(const struct ar_plot_pick *pick)
{
    const struct ar_plot_row *best = NULL;
    for (size_t i = 0; i < pick->rows_count; i++) {
        const struct ar_plot_row *row = pick->rows[i];
        if (row->grid_x > 0 && (best == NULL || row->allreduce_s < best->allreduce_s)) {
            best = row;
        }
    }
    return best;
}

/* Whether group `group` of `groups` is one of `wanted` that are spread evenly, ends included. */
static bool is_spread(size_t group, size_t groups, size_t wanted)
{
    if (groups <= wanted) {
        return true;
    }
    for (size_t i = 0; i < wanted; i++) {
        size_t place =
            wanted == 1 ? groups - 1 : (2 * i * (groups - 1) + wanted - 1) / (2 * (wanted - 1));
        if (place == group) {
            return true;
        }
    }
    return false;
}

/* Keeps so many GPU counts of a pick that is in order of them, spread evenly. */
static void spread_groups(struct ar_plot_pick *pick, size_t groups, size_t wanted)
{
    size_t group = 0;
    size_t kept = 0;
    uint64_t gpus = pick->rows_count == 0 ? 0 : pick->rows[0]->gpus;
    for (size_t i = 0; i < pick->rows_count; i++) {
        group += pick->rows[i]->gpus != gpus;
        gpus = pick->rows[i]->gpus;
        if (is_spread(group, groups, wanted)) {
            pick->rows[kept++] = pick->rows[i];
        }
    }
    pick->rows_count = kept;
}

/* --- shapes of several counts ------------------------------------------------------------- */

static int compare_gpus_grids(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int gpus = compare_counts(a->gpus, b->gpus);
    return gpus != 0 ? gpus : compare_grids(a, b);
}

static const struct rule shapes_counts_rule = {admits_timed, compare_gpus_grids, allreduce_s};

/* Whether an algorithm has several grids among the rows of one count, which `pick` has in order of
 * algorithm. */
static bool has_grids(const struct ar_plot_row *const *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (rows[i - 1]->grid_x > 0 && rows[i]->grid_x > 0 &&
            rows[i - 1]->algorithm == rows[i]->algorithm) {
            return true;
        }
    }
    return false;
}

/* Keeps the counts with several grids; returns how many there are. */
static size_t keep_counts_with_grids(struct ar_plot_pick *pick)
{
    size_t kept = 0;
    size_t groups = 0;
    for (size_t i = 0, end; i < pick->rows_count; i = end) {
        for (end = i; end < pick->rows_count && pick->rows[end]->gpus == pick->rows[i]->gpus;) {
            end++;
        }
        if (has_grids(pick->rows + i, end - i)) {
            memmove(pick->rows + kept, pick->rows + i, (end - i) * sizeof(*pick->rows));
            kept += end - i;
            groups++;
        }
    }
    pick->rows_count = kept;
    return groups;
}

enum ar_status ar_plot_pick_shapes_counts(const struct ar_plot_table *table,
                                          const struct ar_plot_names *engines,
                                          struct ar_plot_pick *pick, struct ar_error *err)
{
    enum ar_status status = apply(&shapes_counts_rule, 0, table, engines, pick, err);
    if (status == AR_OK) {
        size_t groups = keep_counts_with_grids(pick);
        spread_groups(pick, groups, AR_PLOT_PANELS_MAX);
        pick->rows_count = groups < 2 ? 0 : pick->rows_count;
    }
    return status;
}

/* --- breakdown ---------------------------------------------------------------------------- */

static int compare_gpus_algorithm(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int gpus = compare_counts(a->gpus, b->gpus);
    return gpus != 0 ? gpus : compare_counts(a->algorithm, b->algorithm);
}

static const struct rule bars_rule = {admits_any, compare_gpus_algorithm, iteration_s};

enum { BARS_MAX = 16, GROUPS_MAX = 4 };

/* How many GPU counts `pick`, in order of GPUs, has, and how many bars the fullest of them. */
static size_t count_groups(const struct ar_plot_pick *pick, size_t *bars_max)
{
    size_t groups = 0;
    size_t bars = 0;
    *bars_max = 0;
    for (size_t i = 0; i < pick->rows_count; i++) {
        bool is_new = i == 0 || pick->rows[i]->gpus != pick->rows[i - 1]->gpus;
        groups += is_new;
        bars = is_new ? 1 : bars + 1;
        *bars_max = bars > *bars_max ? bars : *bars_max;
    }
    return groups;
}

enum ar_status ar_plot_pick_breakdown(const struct ar_plot_table *table,
                                      const struct ar_plot_names *engines,
                                      struct ar_plot_pick *pick, struct ar_error *err)
{
    enum ar_status status = apply(&bars_rule, 0, table, engines, pick, err);
    if (status != AR_OK) {
        return status;
    }
    size_t bars;
    size_t groups = count_groups(pick, &bars);
    size_t wanted = BARS_MAX / bars;
    wanted = wanted < 1 ? 1 : wanted > GROUPS_MAX ? GROUPS_MAX : wanted;
    spread_groups(pick, groups, wanted);
    return AR_OK;
}

/* --- crossover ---------------------------------------------------------------------------- */

static int compare_crossing(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int keys = strcmp(a->precision, b->precision);
    keys = keys != 0 ? keys : compare_counts(a->payload_bytes, b->payload_bytes);
    keys = keys != 0 ? keys : compare_counts(a->batch_per_gpu, b->batch_per_gpu);
    return keys != 0 ? keys : compare_gpus_algorithm(a, b);
}

static const struct rule crossing_rule = {admits_any, compare_crossing, iteration_s};

enum ar_status ar_plot_pick_crossing(const struct ar_plot_table *table,
                                     const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                     struct ar_error *err)
{
    return apply(&crossing_rule, 0, table, engines, pick, err);
}

/* --- payloads ----------------------------------------------------------------------------- */

static bool admits_payload(const struct ar_plot_row *row, uint64_t gpus)
{
    return row->gpus == gpus && row->payload_bytes > 0 && row->allreduce_s > 0;
}

static int compare_payloads(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    int algorithm = compare_counts(a->algorithm, b->algorithm);
    return algorithm != 0 ? algorithm : compare_counts(a->payload_bytes, b->payload_bytes);
}

static const struct rule payloads_rule = {admits_payload, compare_payloads, allreduce_s};

enum ar_status ar_plot_pick_payloads(const struct ar_plot_table *table,
                                     const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                     struct ar_error *err)
{
    uint64_t gpus = 0;
    for (size_t i = 0; i < table->rows_count; i++) {
        gpus = table->rows[i].gpus > gpus ? table->rows[i].gpus : gpus;
    }
    return apply(&payloads_rule, gpus, table, engines, pick, err);
}

void ar_plot_pick_clear(struct ar_plot_pick *pick)
{
    free(pick->rows);
    pick->rows = NULL;
    pick->rows_count = 0;
}
