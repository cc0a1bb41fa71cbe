#include "ar_new_machine.h"

#include <math.h>
#include <string.h>

#include "ar_library_engine.h"

_Static_assert((int)AR_LIBRARY_PARAMETERS_COUNT <= (int)AR_HIERARCHY_PARAMETERS_MAX &&
                   (int)AR_LINK_COSTS_COUNT <= (int)AR_HIERARCHY_PARAMETERS_MAX,
               "a hierarchy has room for the parameters");

_Static_assert((int)AR_GPU_GENERATIONS_COUNT <= (int)AR_HIERARCHY_CLASSES &&
                   (int)AR_HCA_KINDS_COUNT <= (int)AR_HIERARCHY_CLASSES,
               "a hierarchy has room for the classes");

enum { ROUNDS = 10, BYTES_MIN = 1024 };

/* Chosen by the errors of machines that were left out (README.md). */
#define RESIDUAL     0.06 /* of a row of calls */
#define CLASS_SPREAD 0.2  /* of factors in a node, */
#define OWN_SPREAD   0.02 /* where what is a machine's own is left to the residuals; */
#define NET_CLASS    0.02 /* of the network */
#define NET_OWN      1
#define LINK_SPREAD  0.3  /* of numbers of messages: between classes and between machines */
#define FREEDOM      4    /* of Student's t of calls: machines' own deviations, and rows */
#define SPREAD_WHOLE 0.3  /* priors narrower than this narrow all spreads */
#define STEP         1e-4 /* of a logarithm, for slopes */

static size_t parameters_of(enum ar_learnt_part part)
{
    return part == AR_LEARNT_CALLS ? AR_LIBRARY_PARAMETERS_COUNT : AR_LINK_COSTS_COUNT;
}

static struct ar_hierarchy hierarchy_begin(enum ar_learnt_part part)
{
    struct ar_hierarchy hierarchy = {.parameters_count = parameters_of(part),
                                     .freedom = part == AR_LEARNT_CALLS ? FREEDOM : 1e9};
    for (size_t k = 0; k < hierarchy.parameters_count; k++) {
        bool is_call = part == AR_LEARNT_CALLS, is_held = is_call && ar_machine_is_of_net(part, k);
        double prior = is_call ? ar_library_parameters[k].spread : AR_LINK_PRIOR_SPREAD;
        double whole = fmin(1, prior / SPREAD_WHOLE);
        hierarchy.class_spread[k] = whole * (is_held   ? NET_CLASS
                                             : is_call ? CLASS_SPREAD
                                                       : LINK_SPREAD);
        /* of calls means are as near the constants as classes are to means */
        hierarchy.mean_spread[k] = is_call ? hierarchy.class_spread[k] : prior;
        hierarchy.own_spread[k] = whole * (is_held ? NET_OWN : is_call ? OWN_SPREAD : LINK_SPREAD);
    }
    return hierarchy;
}

/* --- what sets say ------------------------------------------------------------------------- */

static uint32_t set_class(const struct ar_learnt_set *set, enum ar_learnt_part part,
                          size_t parameter)
{
    return ar_machine_class(part, parameter, ar_cluster_facts(set->rows->scenario.cluster),
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
        logs[k] = is_fitted[k] ? log(links->numbers[k].value / links->numbers[k].prior) : 0;
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
        double base_s = ar_library_time(&set->tuning, values, choice, &row.run);
        double predicted = log(base_s);
        double error = log(row.time_s) - predicted, seen = error;
        for (size_t k = 0; k < COUNT; k++) {
            double value = values[k];
            values[k] = stepped[k];
            double time_s = ar_library_time(&set->tuning, values, choice, &row.run);
            values[k] = value;
            slopes[k] = time_s == base_s ? 0 : (log(time_s) - predicted) / STEP; /* most are 0 */
            seen += slopes[k] * logs[k];
        }
        double weight = (FREEDOM + 1) / (FREEDOM * RESIDUAL * RESIDUAL + error * error);
        for (size_t a = 0; a < COUNT; a++) {
            group->pull[a] += weight * slopes[a] * seen;
            for (size_t b = 0; slopes[a] != 0 && b < COUNT; b++) {
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
        found->leaves_errors = without != NULL;
        for (int round = 0; round < (is_calls ? ROUNDS : 1); round++) {
            size_t count = 0;
            AR_EACH(struct ar_learnt_set, set, learnt->sets, learnt->sets_count) {
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

struct ar_learnt_factor *ar_learnt_list(const struct ar_learnt *learnt,
                                        const struct ar_learnt_factors *factors,
                                        struct ar_arena *arena, size_t *count)
{
    struct ar_learnt_factor *list = ar_arena_alloc(
        arena, AR_LEARNT_PARTS * AR_HIERARCHY_PARAMETERS_MAX * AR_HIERARCHY_CLASSES, sizeof *list);
    *count = 0;
    for (enum ar_learnt_part part = 0; part < AR_LEARNT_PARTS; part++) {
        bool is_calls = part == AR_LEARNT_CALLS;
        for (size_t k = 0; k < parameters_of(part); k++) {
            const struct ar_machine_classes *classes = ar_machine_classes(part, k);
            uint64_t sets[AR_HIERARCHY_CLASSES] = {0};
            AR_EACH(const struct ar_learnt_set, set, learnt->sets, learnt->sets_count) {
                sets[set_class(set, part, k)] +=
                    is_calls ? set->calls_count > 0 : set->has_messages;
            }
            for (uint32_t c = 0; c < classes->count; c++) {
                list[(*count)++] =
                    (struct ar_learnt_factor){.part = ar_learnt_part_names[part],
                                              .parameter = ar_machine_parameter_name(part, k),
                                              .class = classes->names[c],
                                              .factor = exp(factors->parts[part].factors[k][c]),
                                              .error_frac = factors->parts[part].errors[k][c],
                                              .sets = sets[c]};
            }
        }
    }
    return list;
}
