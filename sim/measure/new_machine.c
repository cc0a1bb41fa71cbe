#include "ar_new_machine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_library_engine.h"

_Static_assert((int)AR_LIBRARY_PARAMETERS_COUNT <= (int)AR_HIERARCHY_PARAMETERS_MAX &&
                   (int)AR_LINK_COSTS_COUNT <= (int)AR_HIERARCHY_PARAMETERS_MAX,
               "a hierarchy has room for the parameters");

/* Classes that a parameter has in common: those of GPUs, HCAs or releases. */
enum class_sort { OF_GPUS, OF_HCAS, OF_RELEASES };

static const struct {
    const char *const *names;
    uint32_t count;
} sorts[] = {
    [OF_GPUS] = {ar_gpu_generation_names, AR_GPU_GENERATIONS_COUNT},
    [OF_HCAS] = {ar_hca_kind_names, AR_HCA_KINDS_COUNT},
    [OF_RELEASES] = {(const char *const[]){"nccl below 2.19", "nccl from 2.19", "rccl"}, 3}};

_Static_assert((int)AR_GPU_GENERATIONS_COUNT <= (int)AR_HIERARCHY_CLASSES &&
                   (int)AR_HCA_KINDS_COUNT <= (int)AR_HIERARCHY_CLASSES,
               "a hierarchy has room for the classes");

enum { ROUNDS = 10, BYTES_MIN = 1024 };

/* Chosen by the errors of machines that were left out (README.md). */
#define ROWS_MAX     100.0 /* a set counts as at most so many */
#define RESIDUAL     0.08  /* of a row of calls; Huber's bound, too */
#define CLASS_SPREAD 0.2   /* of factors in a node, */
#define OWN_SPREAD   0.02  /* where what is a machine's own is left to the residuals; */
#define NET_HELD     0.05  /* of the network: of the spread of a prior, */
#define NET_CLASS    0.02
#define NET_OWN      0.3
#define LINK_SPREAD  0.3 /* of numbers of messages: between classes and between machines */
#define FREEDOM      4   /* of Student's t of machines' own deviations of calls (2 to 5: as good) */
#define SPREAD_WHOLE 0.3 /* priors narrower than this narrow all spreads */
#define STEP         1e-4 /* of a logarithm, for slopes */

static size_t parameters_of(enum ar_learnt_part part)
{
    return part == AR_LEARNT_CALLS ? AR_LIBRARY_PARAMETERS_COUNT : AR_LINK_COSTS_COUNT;
}

/* Links in a node are those of the GPUs' generation, and so are the costs of a GPU. */
static bool is_of_net(enum ar_learnt_part part, size_t parameter)
{
    static const enum ar_link_cost in_node[] = {
        AR_LINK_SETUP,        AR_LINK_NVLINK_LATENCY, AR_LINK_NVLINK_BANDWIDTH,
        AR_LINK_PCIE_LATENCY, AR_LINK_PCIE_BANDWIDTH, AR_LINK_REDUCE_COST};
    bool is_in_node = false;
    for (size_t i = 0; i < sizeof in_node / sizeof in_node[0]; i++) {
        is_in_node = is_in_node || in_node[i] == (enum ar_link_cost)parameter;
    }
    return part == AR_LEARNT_CALLS
               ? ar_library_parameter_is_of_net((enum ar_library_parameter)parameter)
               : !is_in_node;
}

/* Kernels changed with releases: an A100 has three times the ramp by 2.8 that it has by 2.27. */
static enum class_sort sort_of(enum ar_learnt_part part, size_t parameter)
{
    bool is_of_kernel = parameter == AR_RAMP || parameter == AR_HALF || parameter == AR_FILL ||
                        parameter == AR_FILL_HALF;
    return is_of_net(part, parameter)                ? OF_HCAS
           : part == AR_LEARNT_CALLS && is_of_kernel ? OF_RELEASES
                                                     : OF_GPUS;
}

static uint32_t class_of(enum ar_learnt_part part, size_t parameter,
                         const struct ar_cluster_facts *facts, const struct ar_release *release)
{
    switch (sort_of(part, parameter)) {
    case OF_HCAS:
        return (uint32_t)facts->hca_kind;
    case OF_RELEASES: /* a set without calls has none */
        return release == NULL                          ? 0
               : strncmp(release->name, "rccl", 4) == 0 ? 2
                                                        : release->has_tuner;
    default:
        return (uint32_t)facts->gpu_generation;
    }
}

static struct ar_hierarchy hierarchy_begin(enum ar_learnt_part part)
{
    struct ar_hierarchy hierarchy = {.parameters_count = parameters_of(part),
                                     .freedom = part == AR_LEARNT_CALLS ? FREEDOM : 1e9};
    for (size_t k = 0; k < hierarchy.parameters_count; k++) {
        bool is_call = part == AR_LEARNT_CALLS, is_held = is_call && is_of_net(part, k);
        double prior = is_call ? ar_library_parameters[k].spread : AR_LINK_PRIOR_SPREAD;
        double whole = fmin(1, prior / SPREAD_WHOLE);
        hierarchy.mean_spread[k] = prior * (is_held ? NET_HELD : 1);
        hierarchy.class_spread[k] = whole * (is_held   ? NET_CLASS
                                             : is_call ? CLASS_SPREAD
                                                       : LINK_SPREAD);
        hierarchy.own_spread[k] = whole * (is_held ? NET_OWN : is_call ? OWN_SPREAD : LINK_SPREAD);
    }
    return hierarchy;
}

/* --- what sets say ------------------------------------------------------------------------- */

static uint32_t set_class(const struct ar_learnt_set *set, enum ar_learnt_part part,
                          size_t parameter)
{
    return class_of(part, parameter, ar_cluster_facts(set->rows->scenario.cluster),
                    set->tuning.release);
}

static bool is_used(const struct ar_measured_row *row)
{
    return row->is_call && row->call.run.bytes >= BYTES_MIN;
}

enum ar_status ar_learnt_add(struct ar_learnt *learnt, const struct ar_set_rows *rows,
                             const struct ar_estimate *unfitted, const struct ar_estimate *fitted,
                             struct ar_error *err)
{
    enum { LINKS = AR_LINK_COSTS_COUNT };
    double logs[LINKS] = {0}, spreads[LINKS];
    bool is_fitted[LINKS];
    const struct ar_link_fit *links = &fitted->links;
    if (rows->set->machine[0] == '\0') {
        return AR_OK;
    }
    struct ar_learnt_set *set = &learnt->sets[learnt->sets_count++];
    *set = (struct ar_learnt_set){
        .rows = rows, .tuning = unfitted->library.tuning, .has_messages = fitted->has_links};
    for (size_t i = 0; i < rows->measured->rows_count; i++) {
        set->calls_count += is_used(&rows->measured->rows[i]);
    }
    for (size_t k = 0; k < LINKS; k++) {
        set->groups[AR_LEARNT_MESSAGES].classes[k] = set_class(set, AR_LEARNT_MESSAGES, k);
        spreads[k] = AR_LINK_PRIOR_SPREAD;
        is_fitted[k] = fitted->has_links && links->numbers[k].state >= AR_LINK_UNIDENTIFIED;
        if (is_fitted[k]) {
            logs[k] = log(links->numbers[k].value / links->numbers[k].prior);
        }
    }
    return ar_hierarchy_group(LINKS, logs, &links->covariance[0][0], spreads, is_fitted,
                              &set->groups[AR_LEARNT_MESSAGES], err);
}

/* Makes the equations of the calls of a set, linearised at its present factors. */
static void linearise_calls(const struct ar_hierarchy *factors, struct ar_learnt_set *set)
{
    enum { COUNT = AR_LIBRARY_PARAMETERS_COUNT };
    const struct ar_measured *measured = set->rows->measured;
    struct ar_hierarchy_group *group = &set->groups[AR_LEARNT_CALLS];
    double logs[COUNT], slopes[COUNT], values[COUNT], stepped[COUNT];
    memset(group->precision, 0, sizeof group->precision);
    memset(group->pull, 0, sizeof group->pull);
    for (size_t k = 0; k < COUNT; k++) {
        group->classes[k] = set_class(set, AR_LEARNT_CALLS, k);
        double prior = ar_library_parameter_prior(&set->tuning, (enum ar_library_parameter)k);
        logs[k] = factors->factors[k][group->classes[k]] + group->own[k];
        values[k] = prior * exp(logs[k]);
        stepped[k] = prior * exp(logs[k] + STEP);
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (!is_used(&measured->rows[i])) {
            continue;
        }
        struct ar_library_row row =
            ar_library_engine_row(set->rows->scenario.cluster, &measured->rows[i].call);
        enum ar_choice choice = ar_tuning_choose(&set->tuning, row.calls, &row.run);
        double predicted = log(ar_library_time(&set->tuning, values, choice, &row.run));
        double error = log(row.time_s) - predicted, seen = error;
        for (size_t k = 0; k < COUNT; k++) {
            double value = values[k];
            values[k] = stepped[k];
            double time_s = ar_library_time(&set->tuning, values, choice, &row.run);
            values[k] = value;
            slopes[k] = (log(time_s) - predicted) / STEP;
            seen += slopes[k] * logs[k];
        }
        double weight = fmin(1, ROWS_MAX / (double)set->calls_count) / (RESIDUAL * RESIDUAL) /
                        fmax(1, fabs(error) / RESIDUAL);
        for (size_t a = 0; a < COUNT; a++) {
            group->pull[a] += weight * slopes[a] * seen;
            for (size_t b = 0; b < COUNT; b++) {
                group->precision[a][b] += weight * slopes[a] * slopes[b];
            }
        }
    }
}

/* --- factors ------------------------------------------------------------------------------- */

enum ar_status ar_learnt_solve(struct ar_learnt *learnt, const char *without,
                               struct ar_learnt_factors *factors, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_hierarchy_group **groups =
        ar_arena_alloc(&arena, learnt->sets_count + 1, sizeof(struct ar_hierarchy_group *));
    for (int part = 0; part < AR_LEARNT_PARTS; part++) {
        bool is_calls = part == AR_LEARNT_CALLS;
        struct ar_hierarchy *found = &factors->parts[part];
        *found = hierarchy_begin((enum ar_learnt_part)part);
        for (int round = 0; round < (is_calls ? ROUNDS : 1); round++) {
            size_t count = 0;
            for (size_t i = 0; i < learnt->sets_count; i++) {
                struct ar_learnt_set *set = &learnt->sets[i];
                bool has = is_calls ? set->calls_count > 0 : set->has_messages;
                if (has && (without == NULL || strcmp(set->rows->set->machine, without) != 0)) {
                    if (round == 0) {
                        memset(set->groups[part].own, 0, sizeof set->groups[part].own);
                    }
                    if (is_calls) {
                        linearise_calls(found, set);
                    }
                    groups[count++] = &set->groups[part];
                }
            }
            AR_TRY(ar_hierarchy_solve(groups, count, found, err));
        }
    }
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

static const char *const part_names[] = {"calls", "messages"};

static const char *parameter_name(enum ar_learnt_part part, size_t parameter)
{
    return part == AR_LEARNT_CALLS ? ar_library_parameters[parameter].name
                                   : ar_link_cost_key((enum ar_link_cost)parameter);
}

struct ar_learnt_factor *ar_learnt_list(const struct ar_learnt *learnt,
                                        const struct ar_learnt_factors *factors,
                                        struct ar_arena *arena, size_t *count)
{
    struct ar_learnt_factor *list = ar_arena_alloc(
        arena, AR_LEARNT_PARTS * AR_HIERARCHY_PARAMETERS_MAX * AR_HIERARCHY_CLASSES, sizeof *list);
    *count = 0;
    for (int i = 0; i < AR_LEARNT_PARTS; i++) {
        enum ar_learnt_part part = (enum ar_learnt_part)i;
        bool is_calls = part == AR_LEARNT_CALLS;
        for (size_t k = 0; k < parameters_of(part); k++) {
            enum class_sort sort = sort_of(part, k);
            uint64_t sets[AR_HIERARCHY_CLASSES] = {0};
            for (size_t m = 0; m < learnt->sets_count; m++) {
                const struct ar_learnt_set *set = &learnt->sets[m];
                sets[set_class(set, part, k)] +=
                    is_calls ? set->calls_count > 0 : set->has_messages;
            }
            for (uint32_t c = 0; c < sorts[sort].count; c++) {
                list[(*count)++] =
                    (struct ar_learnt_factor){.part = part_names[i],
                                              .parameter = parameter_name(part, k),
                                              .class = sorts[sort].names[c],
                                              .factor = exp(factors->parts[i].factors[k][c]),
                                              .error_frac = factors->parts[i].errors[k][c],
                                              .sets = sets[c]};
            }
        }
    }
    return list;
}

#define FACTOR(kind, field, name, ...)                                                             \
    AR_COLUMN(kind, struct ar_learnt_factor, field, name, __VA_ARGS__)

static const struct ar_column factor_columns[] = {
    FACTOR(string, part, "part", "calls of the library, or messages (all-to-all)"),
    FACTOR(string, parameter, "parameter", "what it multiplies"),
    FACTOR(string, class, "class", "GPUs or HCAs of the machines, or releases of the library"),
    FACTOR(number, factor, "factor", "a number above zero", .min = DBL_MIN, .max = 1e6),
    FACTOR(number, error_frac, "relative_standard_error", "of it"),
    FACTOR(count, sets, "sets", "measured ones of the class"),
};

const struct ar_columns ar_learnt_factor_columns = AR_COLUMNS(factor_columns);

#define PLACE(rows, place) rows " " place " below 1 MiB", rows " " place " from 1 MiB on"

const char *const ar_learnt_kind_names[AR_MACHINE_KINDS] = {
    PLACE("calls", "in a node"),
    PLACE("calls", "across InfiniBand"),
    PLACE("calls", "across other networks"),
    PLACE("messages", "in a node"),
    PLACE("messages", "across InfiniBand"),
    PLACE("messages", "across other networks")};

#define KIND(kind_, field, name, ...)                                                              \
    AR_COLUMN(kind_, struct ar_learnt_kind, field, name, __VA_ARGS__)

static const struct ar_column kind_columns[] = {
    KIND(string, kind, "kind", "of rows of at least 1 KiB"),
    KIND(count, machines, "machines", "that have rows of the kind, each left out once"),
    KIND(count, rows, "rows", "of them"),
    KIND(number, unfitted_frac, "zero_shot_median_frac",
         "median of |predicted / measured - 1|, nothing fitted", .may_be_empty = true),
    KIND(number, factors_frac, "factors_median_frac", "the same by the factors of other machines",
         .may_be_empty = true),
    KIND(flag, has_factors, "has_factors",
         "yes: the factors are better, in the mean of machines, too, and predict; or no"),
    KIND(number, reach, "reach",
         "half of the 95 % band, a logarithm, of calls and messages together; empty: fewer than "
         "19 rows",
         .may_be_empty = true),
};

const struct ar_columns ar_learnt_kind_columns = AR_COLUMNS(kind_columns);

/* --- as they are shipped ------------------------------------------------------------------- */

/* The logarithm of the factor of a parameter on a machine; 0: the file has none. */
static double find_log(const struct ar_learnt_factor *rows, size_t count, enum ar_learnt_part part,
                       size_t parameter, const struct ar_cluster_facts *facts,
                       const struct ar_release *release)
{
    const char *name =
        sorts[sort_of(part, parameter)].names[class_of(part, parameter, facts, release)];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].part, part_names[part]) == 0 &&
            strcmp(rows[i].parameter, parameter_name(part, parameter)) == 0 &&
            strcmp(rows[i].class, name) == 0) {
            return log(rows[i].factor);
        }
    }
    return 0;
}

struct ar_machine_factors ar_learnt_machine_factors(const struct ar_learnt_factor *rows,
                                                    size_t count,
                                                    const struct ar_cluster_facts *facts,
                                                    const struct ar_release *release)
{
    struct ar_machine_factors found = {.sets_count = 0};
    for (size_t i = 0; i < count; i++) { /* those of all classes */
        bool is_first = strcmp(rows[i].parameter, ar_library_parameters[0].name) == 0;
        found.sets_count += is_first ? rows[i].sets : 0;
    }
    for (size_t k = 0; k < AR_LIBRARY_PARAMETERS_COUNT; k++) {
        found.calls[k] = find_log(rows, count, AR_LEARNT_CALLS, k, facts, release);
    }
    for (size_t k = 0; k < AR_LINK_COSTS_COUNT; k++) {
        found.messages[k] = find_log(rows, count, AR_LEARNT_MESSAGES, k, facts, release);
    }
    return found;
}

enum ar_status ar_machine_factors_read(const char *folder, const struct ar_cluster_facts *facts,
                                       const struct ar_release *release,
                                       struct ar_machine_factors *factors, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv_list *read, *kinds;
    AR_TRY(ar_csv_load_list(ar_arena_format(&arena, "%sfactors.csv", folder), &arena,
                            ar_learnt_factor_columns, sizeof(struct ar_learnt_factor), &read, err));
    AR_TRY(ar_csv_load_list(ar_arena_format(&arena, "%skinds.csv", folder), &arena,
                            ar_learnt_kind_columns, sizeof(struct ar_learnt_kind), &kinds, err));
    struct ar_machine_factors found =
        ar_learnt_machine_factors(read->rows, read->count, facts, release);
    for (size_t k = 0; k < AR_MACHINE_KINDS; k++) {
        found.kinds[k] = (struct ar_machine_kind){.has_factors = false, .reach = NAN};
        for (size_t i = 0; i < kinds->count; i++) {
            const struct ar_learnt_kind *row = (const struct ar_learnt_kind *)kinds->rows + i;
            if (strcmp(row->kind, ar_learnt_kind_names[k]) == 0) {
                found.kinds[k].has_factors = row->has_factors == 1;
                found.kinds[k].reach = row->reach > 0 ? row->reach : NAN;
            }
        }
    }
    *factors = found;
    return AR_OK;
}
