#include "ar_link_fit.h"

#include <math.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_closed.h"
#include "ar_scenario.h"

#define RESIDUAL_MAX 10.0 /* beyond this the best fit is no fit */
#define USED_FACTOR  3.0  /* a number is used if this factor up or down changes a row */

/* All fits of links (ar_fit.h): priors within a factor of three, ln 3; other attempts start half a
 * logarithm around them; identified below 25 %. Choices, not measurements. */
#define PRIOR_SPREAD   AR_LINK_PRIOR_SPREAD
#define START_SPREAD   0.5
#define IDENTIFIED_MAX 0.25

/* --- rows by closed form ------------------------------------------------------------------ */

bool ar_link_is_same(const struct ar_collective *a, const struct ar_collective *b)
{
    return a->cluster == b->cluster && a->operation == b->operation &&
           a->algorithm == b->algorithm && ar_shape_equal(&a->shape, &b->shape) &&
           a->root == b->root && a->channels == b->channels && a->window == b->window &&
           a->element_bytes == b->element_bytes && a->has_plain_orders == b->has_plain_orders;
}

/* The rows of one collective that follow each other share a closed form. */
static size_t group_end(const struct ar_link_row *rows, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && ar_link_is_same(&rows[first].collective, &rows[end].collective)) {
        end++;
    }
    return end;
}

/* Writes the times of marked rows (NULL: all); rows of one size are marked alike. */
static void evaluate_rows(const struct ar_flows *closed, const struct ar_link_row *rows,
                          size_t count, const bool *is_asked, double *times_s)
{
    for (size_t i = 0; i < count; i++) {
        size_t like = 0; /* a size is often measured several times */
        if (is_asked != NULL && !is_asked[i]) {
            continue;
        }
        while (rows[like].elements != rows[i].elements) {
            like++;
        }
        if (like == i) {
            struct ar_closed_time time;
            ar_closed_evaluate(closed, rows[i].elements, &time);
            times_s[i] = time.time_s;
        }
        times_s[i] = times_s[like];
    }
}

enum ar_status ar_link_predict(const struct ar_link_row *rows, size_t count, double *times_s,
                               struct ar_error *err)
{
    for (size_t i = 0; i < count;) {
        size_t end = group_end(rows, count, i);
        struct ar_flows *closed;
        AR_TRY(ar_flows_create(&rows[i].collective, &closed, err));
        evaluate_rows(closed, &rows[i], end - i, NULL, &times_s[i]);
        ar_flows_destroy(closed);
        i = end;
    }
    return AR_OK;
}

/* --- priors ------------------------------------------------------------------------------- */

/* Priors of numbers that few files have. */
static const struct opened {
    enum ar_link_cost cost;
    double of_host; /* where messages lie in the memory of a host, */
    double of_gpu;  /* or of a GPU; 0: not fitted there */
} all_opened[] = {{AR_LINK_SETUP, 1e-6, 1e-6},           {AR_LINK_MESSAGE_GAP, 0.2e-6, 2.7e-6},
                  {AR_LINK_LATENCY_1K, 0.5e-6, 0.5e-6},  {AR_LINK_LATENCY_8K, 1e-6, 1e-6},
                  {AR_LINK_LATENCY_64K, 3e-6, 3e-6},     {AR_LINK_LATENCY_512K, 3e-6, 3e-6},
                  {AR_LINK_COPY_COST, 0.1e-9, 0},        {AR_LINK_FRESH_COST, 0.25e-9, 0},
                  {AR_LINK_REDUCE_COST_LARGE, 0.1e-9, 0}};

const struct ar_setting *ar_link_setting(const struct ar_settings *settings, enum ar_link_cost cost)
{
    char text[64];
    snprintf(text, sizeof text, "%s=", ar_link_cost_key(cost));
    return ar_settings_find(settings, text);
}

void ar_link_fit_open(struct ar_cluster *cluster, const struct ar_settings *settings)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    bool is_of_gpus = facts->has_gpu_generation || facts->device_cost[0] != '\0';
    AR_EACH(const struct opened, opened, all_opened, sizeof all_opened / sizeof all_opened[0]) {
        double prior = is_of_gpus ? opened->of_gpu : opened->of_host;
        if (prior > 0 && ar_link_setting(settings, opened->cost) == NULL &&
            ar_cluster_link_cost(cluster, opened->cost) == 0) {
            /* a number that a machine can have */
            (void)ar_cluster_set_link_cost(cluster, opened->cost, prior, AR_IGNORED);
        }
    }
}

/* --- a fit to collectives ------------------------------------------------------------------ */

enum {
    SLOTS = 2,      /* values of paths whose closed forms are kept */
    STARTS_FEW = 1, /* attempt that takes long: others led to the same values */
    ROWS_MANY = 100
};

/* Tolerances where the values have errors of per cents (many rows) or attempts creep along edges
 * (few rows); and of rows of trees, whose shares are found anew for each value. */
#define TOLERANCE_WIDE  1e-4
#define TOLERANCE_TREES 1e-3

/* The closed forms of all groups of rows, for some rates of links. */
struct forms {
    struct ar_arena memory;
    double rates_Bps[AR_LINK_COSTS_COUNT]; /* other numbers are 0 */
    struct ar_flows **closed;              /* [first row of a group]; NULL: not made yet */
};

/* The rows and the numbers that are fitted to them. */
struct link_data {
    struct ar_cluster *const *clusters;
    size_t clusters_count;
    const struct ar_link_row *rows;
    size_t count;
    double *scratch_s; /* times of rows, two of each */
    struct forms slots[SLOTS];
    struct ar_arena *arena;
    struct flows_scratch **kept; /* [first row of a group]: what no number changes */
    ptrdiff_t next;              /* slot to be made anew */
    enum ar_link_cost costs[AR_LINK_COSTS_COUNT];
    double priors[AR_LINK_COSTS_COUNT];
    size_t costs_count;
};

/* Gives the clusters a value of one number. */
static enum ar_status set_cost(const struct link_data *data, enum ar_link_cost cost, double value,
                               struct ar_error *err)
{
    for (size_t i = 0; i < data->clusters_count; i++) {
        AR_TRY(ar_cluster_set_link_cost(data->clusters[i], cost, value, err));
    }
    return AR_OK;
}

/* Gives the clusters these values of the numbers. */
static enum ar_status set_costs(const struct link_data *data, const double *values,
                                struct ar_error *err)
{
    for (size_t i = 0; i < data->costs_count; i++) {
        AR_TRY(set_cost(data, data->costs[i], values[i], err));
    }
    return AR_OK;
}

/* Closed forms know the bandwidths and look the other numbers up when they are evaluated, but for
 * shares of trees and lines of sums, which hang on all. */
static bool hangs_on_all(const struct ar_flows *closed)
{
    bool does = false;
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        does = does || closed->patterns[i].tree != NULL || closed->patterns[i].line_sums != NULL;
    }
    return does;
}

/* Finds or makes room for the closed forms of the clusters as they are. */
static struct forms *find_forms(struct link_data *data)
{
    double rates_Bps[AR_LINK_COSTS_COUNT] = {0};
    for (enum ar_link_cost cost = 0; cost < AR_LINK_COSTS_COUNT; cost++) {
        bool is_rate = ar_link_cost_unit(cost) == AR_LINK_RATE;
        rates_Bps[cost] = is_rate ? ar_cluster_link_cost(data->clusters[0], cost) : 0;
    }
    struct forms *forms = data->slots, *end = data->slots + SLOTS;
    while (forms < end &&
           (forms->closed == NULL || memcmp(forms->rates_Bps, rates_Bps, sizeof rates_Bps) != 0)) {
        forms++;
    }
    if (forms == end) {
        forms = &data->slots[data->next];
        ar_arena_end(&forms->memory);
        forms->closed = ar_arena_alloc(&forms->memory, data->count + 1, sizeof(struct ar_flows *));
        memcpy(forms->rates_Bps, rates_Bps, sizeof rates_Bps);
    }
    data->next = (forms - data->slots + 1) % SLOTS;
    return forms;
}

/* The times of marked rows (NULL: all) on the clusters as they are. */
static enum ar_status predict_groups(struct link_data *data, const bool *is_asked, double *times_s,
                                     struct ar_error *err)
{
    struct forms *forms = find_forms(data);
    for (size_t first = 0, count; first < data->count; first += count) {
        struct ar_flows **closed = &forms->closed[first];
        count = group_end(data->rows, data->count, first) - first;
        const bool *asked = is_asked != NULL ? is_asked + first : NULL;
        if (asked != NULL && memchr(asked, true, count) == NULL) {
            continue;
        }
        if (*closed == NULL) {
            AR_TRY(ar_flows_create_kept(&data->rows[first].collective, data->arena,
                                        &data->kept[first], closed, err));
            ar_arena_own(&forms->memory, *closed, ar_flows_destroy);
        }
        if (hangs_on_all(*closed)) {
            AR_TRY(ar_link_predict(&data->rows[first], count, &times_s[first], err));
        } else {
            evaluate_rows(*closed, &data->rows[first], count, asked, &times_s[first]);
        }
    }
    return AR_OK;
}

static bool predict_collectives(const double *values, const bool *is_asked, double *times_s,
                                void *context)
{
    struct link_data *data = context;
    return set_costs(data, values, AR_IGNORED) == AR_OK && /* rows were predicted before */
           predict_groups(data, is_asked, times_s, AR_IGNORED) == AR_OK;
}

/* Says so if the time of a row depends on a number, within the reach of its prior. */
static enum ar_status cost_use(struct link_data *data, enum ar_link_cost cost, bool *is_used,
                               struct ar_error *err)
{
    double prior = ar_cluster_link_cost(data->clusters[0], cost);
    double *low_s = data->scratch_s, *high_s = data->scratch_s + data->count;
    AR_TRY(set_cost(data, cost, prior / USED_FACTOR, err));
    AR_TRY(predict_groups(data, NULL, low_s, err));
    AR_TRY(set_cost(data, cost, prior * USED_FACTOR, err));
    AR_TRY(predict_groups(data, NULL, high_s, err));
    AR_TRY(set_cost(data, cost, prior, err));
    for (size_t i = 0; i < data->count; i++) {
        *is_used = *is_used || fabs(low_s[i] / high_s[i] - 1) > 1e-9;
    }
    return AR_OK;
}

/* Fits; the clusters then have the numbers of some attempt. */
static enum ar_status solve_links(struct link_data *data, struct ar_fit *found,
                                  struct ar_error *err)
{
    bool has_many = data->count >= ROWS_MANY;
    bool has_few = data->count < 2 * data->costs_count;
    bool are_trees = false;
    for (size_t i = 0; i < data->count; i++) {
        const struct ar_flows *closed = data->slots[0].closed[i];
        are_trees = are_trees || (closed != NULL && hangs_on_all(closed));
    }
    struct ar_fit_problem problem = {.parameters_count = data->costs_count,
                                     .priors = data->priors,
                                     .prior_spread = PRIOR_SPREAD,
                                     .start_spread = START_SPREAD,
                                     .identified_max = IDENTIFIED_MAX,
                                     .starts_count = has_many || are_trees ? STARTS_FEW : 0,
                                     .tolerance = are_trees             ? TOLERANCE_TREES
                                                  : has_many || has_few ? TOLERANCE_WIDE
                                                                        : 0,
                                     .rows_count = data->count,
                                     .times_s = &data->rows->time_s,
                                     .bytes = &data->rows->bytes,
                                     .stride = sizeof *data->rows / sizeof(double),
                                     .predict = predict_collectives,
                                     .data = data,
                                     .expected = "collectives that resemble the closed form"};
    AR_TRY(ar_fit_solve(&problem, found, err));
    AR_REFUSE(found->residual_frac > RESIDUAL_MAX, err, AR_BAD_DATA,
              "fit: found a residual of %.0f %% over %zu rows; expected less than %.0f %%, %s, and "
              "values in the file that are not far off",
              found->residual_frac * 100, data->count, RESIDUAL_MAX * 100, problem.expected);
    return AR_OK;
}

static enum ar_status fit_rows(struct link_data *data, struct ar_link_fit *fit,
                               struct ar_error *err)
{
    double values[AR_LINK_COSTS_COUNT];
    double covariance[AR_LINK_COSTS_COUNT * AR_LINK_COSTS_COUNT];
    bool is_identified[AR_LINK_COSTS_COUNT];
    struct ar_fit found = {values, covariance, is_identified, 0};
    struct ar_link_fit made = {.rows_count = data->count};
    /* Lists the numbers of the clusters, and those that can be fitted. */
    for (enum ar_link_cost cost = 0; cost < AR_LINK_COSTS_COUNT; cost++) {
        double value = ar_cluster_link_cost(data->clusters[0], cost);
        bool is_used = false;
        made.numbers[cost] = (struct ar_link_number){
            .state = value > 0                                           ? AR_LINK_UNUSED
                     : ar_cluster_has_link_cost(data->clusters[0], cost) ? AR_LINK_ZERO
                                                                         : AR_LINK_ABSENT,
            .prior = value,
            .value = value,
            .error_frac = NAN};
        AR_TRY(value > 0 ? cost_use(data, cost, &is_used, err) : AR_OK);
        if (is_used) {
            data->costs[data->costs_count] = cost;
            data->priors[data->costs_count++] = value;
        }
    }
    AR_REFUSE(data->costs_count == 0, err, AR_BAD_DATA,
              "fit: found no number of the cluster, above zero, that a row depends on; expected at "
              "least one latency or bandwidth");
    enum ar_status status = solve_links(data, &found, err);
    status = status == AR_OK ? set_costs(data, values, err) : status;
    if (status != AR_OK) {
        (void)set_costs(data, data->priors, AR_IGNORED); /* numbers of the file */
        return status;
    }
    for (size_t i = 0; i < data->costs_count; i++) {
        struct ar_link_number *number = &made.numbers[data->costs[i]];
        number->value = values[i];
        number->error_frac = sqrt(covariance[i * (data->costs_count + 1)]);
        for (size_t j = 0; j < data->costs_count; j++) {
            made.covariance[data->costs[i]][data->costs[j]] = covariance[i * data->costs_count + j];
        }
        number->state = is_identified[i] ? AR_LINK_IDENTIFIED : AR_LINK_UNIDENTIFIED;
    }
    made.residual_frac = found.residual_frac;
    *fit = made;
    return AR_OK;
}

enum ar_status ar_link_fit(struct ar_cluster *const *clusters, size_t clusters_count,
                           const struct ar_link_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct link_data data = {.clusters = clusters,
                             .clusters_count = clusters_count,
                             .rows = rows,
                             .count = count,
                             .arena = &arena};
    data.scratch_s = ar_arena_alloc(&arena, 2 * count + 1, sizeof *data.scratch_s);
    data.kept = ar_arena_alloc(&arena, count + 1, sizeof(struct flows_scratch *));
    enum ar_status status = fit_rows(&data, fit, err);
    for (int i = 0; i < SLOTS; i++) {
        ar_arena_end(&data.slots[i].memory);
    }
    return status;
}
