#include "ar_machine_factors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_inputs.h"

/* --- classes ------------------------------------------------------------------------------- */

/* Classes that a parameter has in common: those of GPUs, HCAs or releases. */
enum class_sort { OF_GPUS, OF_HCAS, OF_RELEASES };

static const struct ar_machine_classes sorts[] = {
    [OF_GPUS] = {ar_gpu_generation_names, AR_GPU_GENERATIONS_COUNT},
    [OF_HCAS] = {ar_hca_kind_names, AR_HCA_KINDS_COUNT},
    [OF_RELEASES] = {(const char *const[]){"nccl below 2.19", "nccl from 2.19", "rccl"}, 3}};

/* Links in a node are those of the GPUs' generation, and so are the costs of a GPU. */
bool ar_machine_is_of_net(enum ar_learnt_part part, size_t parameter)
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
    return ar_machine_is_of_net(part, parameter)     ? OF_HCAS
           : part == AR_LEARNT_CALLS && is_of_kernel ? OF_RELEASES
                                                     : OF_GPUS;
}

const struct ar_machine_classes *ar_machine_classes(enum ar_learnt_part part, size_t parameter)
{
    return &sorts[sort_of(part, parameter)];
}

uint32_t ar_machine_class(enum ar_learnt_part part, size_t parameter,
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

const char *const ar_learnt_part_names[AR_LEARNT_PARTS] = {"calls", "messages"};

const char *ar_machine_parameter_name(enum ar_learnt_part part, size_t parameter)
{
    return part == AR_LEARNT_CALLS ? ar_library_parameters[parameter].name
                                   : ar_link_cost_key((enum ar_link_cost)parameter);
}

size_t ar_machine_place(uint32_t nodes, double bytes, enum ar_hca_kind hcas)
{
    size_t network = nodes == 1 ? 0 : hcas == AR_HCA_INFINIBAND ? 2 : 4;
    return network + (bytes >= AR_LIBRARY_LARGE_BYTES ? 1 : 0);
}

/* --- as records ---------------------------------------------------------------------------- */

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
    KIND(number, weight, "weight", "of the logarithms of the factors, 0 to 1, as predicts best",
         .max = 1),
    KIND(number, reach, "reach",
         "half of the 95 % band, a logarithm, of calls and messages; empty: below 19 rows",
         .may_be_empty = true),
};

const struct ar_columns ar_learnt_kind_columns = AR_COLUMNS(kind_columns);

/* --- as they are shipped ------------------------------------------------------------------- */

/* The logarithm of the factor of a parameter on a machine; 0: the file has none. */
static double find_log(const struct ar_learnt_factor *rows, size_t count, enum ar_learnt_part part,
                       size_t parameter, const struct ar_cluster_facts *facts,
                       const struct ar_release *release)
{
    const char *name = ar_machine_classes(part, parameter)
                           ->names[ar_machine_class(part, parameter, facts, release)];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].part, ar_learnt_part_names[part]) == 0 &&
            strcmp(rows[i].parameter, ar_machine_parameter_name(part, parameter)) == 0 &&
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
    struct ar_machine_factors found = {.told.sets_count = 0};
    for (size_t i = 0; i < count; i++) { /* those of all classes */
        bool is_first = strcmp(rows[i].parameter, ar_library_parameters[0].name) == 0;
        found.told.sets_count += is_first ? rows[i].sets : 0;
    }
    for (size_t k = 0; k < AR_LIBRARY_PARAMETERS_COUNT; k++) {
        found.calls[k] = find_log(rows, count, AR_LEARNT_CALLS, k, facts, release);
        found.told.factors[k] = exp(found.calls[k]);
    }
    for (size_t k = 0; k < AR_LINK_COSTS_COUNT; k++) {
        found.messages[k] = find_log(rows, count, AR_LEARNT_MESSAGES, k, facts, release);
    }
    return found;
}

/* Whether rows of a kind, such as calls in a node, take the factors, and how wide their band is. */
static struct ar_told find_kind(const struct ar_csv_list *kinds, const char *name)
{
    AR_EACH(const struct ar_learnt_kind, row, kinds->rows, kinds->count) {
        if (strcmp(row->kind, name) == 0) {
            return (struct ar_told){.weight = row->weight,
                                    .reach = row->reach > 0 ? row->reach : NAN};
        }
    }
    return (struct ar_told){.weight = 0, .reach = NAN};
}

enum ar_status ar_machine_factors_read(const struct ar_cluster_facts *facts,
                                       const struct ar_release *release,
                                       struct ar_machine_factors *factors, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv_list *read, *kinds;
    char path[RESOURCE_PATH];
    AR_TRY(resource_find(RESOURCE_SETS, "engine library", "factors", path, err));
    AR_TRY(ar_csv_load_list(path, &arena, ar_learnt_factor_columns, &read, err));
    AR_TRY(resource_find(RESOURCE_SETS, "engine library", "kinds", path, err));
    AR_TRY(ar_csv_load_list(path, &arena, ar_learnt_kind_columns, &kinds, err));
    *factors = ar_learnt_machine_factors(read->rows, read->count, facts, release);
    for (uint32_t i = 0; i < 4; i++) {
        size_t place = ar_machine_place(1 + i / 2, i % 2 * AR_LIBRARY_LARGE_BYTES, facts->hca_kind);
        factors->told.kinds[i / 2][i % 2] = find_kind(kinds, ar_learnt_kind_names[place]);
        factors->message_kinds[i / 2][i % 2] =
            find_kind(kinds, ar_learnt_kind_names[AR_MACHINE_PLACES + place]);
    }
    return AR_OK;
}
