/* From the lists of the command line to measurements: collectives, and probes. */
#include "cases.h"

#include <inttypes.h>
#include <string.h>

#include "lists.h"

enum { REMAINDERS = 6, PRIME = 10007, ALL_PAIRS_RANKS = 16, LATENCY_BYTES = 8 };

/* The lists of the command line. */
struct lists {
    const struct ar_operation **operations;
    size_t operations_count;
    const struct ar_algorithm **algorithms;
    size_t algorithms_count;
    uint64_t *ranks;
    size_t ranks_count;
    uint64_t *channels;
    size_t channels_count;
    uint64_t *elements; /* NULL: remainders */
    size_t elements_count;
};

/* Reads sizes as elements: `--payload` as it was given, or `standard`. */
static enum ar_status parse_elements(const struct arguments *arguments,
                                     const struct element_type *type, const char *standard,
                                     struct ar_arena *arena, uint64_t **elements, size_t *count,
                                     struct ar_error *err)
{
    uint64_t *sizes;
    const char *text = arguments->payload != NULL ? arguments->payload : standard;
    AR_TRY(list_sizes(arena, "--payload", text, &sizes, count, err));
    for (size_t i = 0; i < *count; i++) {
        AR_REFUSE(sizes[i] % type->bytes != 0, err, AR_USAGE,
                  "--payload: found %" PRIu64 " bytes; expected a multiple of %" PRIu32
                  ", the bytes of an element",
                  sizes[i], type->bytes);
        sizes[i] /= type->bytes;
    }
    *elements = sizes;
    return AR_OK;
}

/* Appends a row; its times are the cases'. */
static void add_case(struct cases *cases, struct measurement row)
{
    row.times_s = ar_arena_alloc(cases->arena, row.repetitions, sizeof *row.times_s);
    *AR_ARENA_ADD(cases->arena, cases->rows, cases->count) = row;
}

/* --- collectives -------------------------------------------------------------------------- */

/* Adds a row, which is complete but for its channels and elements, with all numbers of channels and
 * all sizes, rounded down to a multiple. */
static void add_sizes(const struct lists *lists, uint64_t multiple, struct measurement row,
                      struct cases *cases)
{
    const uint64_t around[REMAINDERS] = {0, 1, row.ranks - 1, row.ranks, row.ranks + 1, PRIME};
    const uint64_t *elements = lists->elements != NULL ? lists->elements : around;
    size_t count = lists->elements != NULL ? lists->elements_count : REMAINDERS;
    for (size_t i = 0; i < lists->channels_count * count; i++) {
        size_t size = i % count;
        bool is_again = false;
        for (size_t j = 0; j < size; j++) {
            is_again = is_again || elements[j] / multiple == elements[size] / multiple;
        }
        row.channels = (uint32_t)lists->channels[i / count];
        row.elements = elements[size] - elements[size] % multiple;
        if (!is_again) {
            add_case(cases, row);
        }
    }
}

/* Adds an algorithm on those shapes of the list that it runs. Its default shape is added if it runs
 * none of them, or if all shapes are meant. An algorithm that does not run so many ranks, or wants
 * switches that sum, is left out, unless it was asked for by name. */
static enum ar_status add_algorithm(const struct arguments *arguments, const struct lists *lists,
                                    struct measurement row, struct cases *cases,
                                    struct ar_error *err)
{
    struct ar_shape *shapes;
    size_t shapes_count;
    size_t found = 0;
    bool has_standard = false;
    bool are_all = strcmp(arguments->shapes, "all") == 0;
    bool are_all_algorithms = strcmp(arguments->algorithms, "all") == 0;
    if (row.algorithm->wants_sums) {
        AR_REFUSE(!are_all_algorithms, err, AR_USAGE,
                  "--algorithms: found \"%s\", in which switches sum; expected algorithms in which "
                  "ranks do",
                  row.algorithm->name);
        return AR_OK;
    }
    AR_TRY(list_shapes(cases->arena, arguments->shapes, row.ranks, row.ranks_per_node, &shapes,
                       &shapes_count, err));
    struct ar_shape standard =
        ar_algorithm_default_shape(row.algorithm, row.ranks, row.ranks_per_node);
    for (size_t i = 0; i < shapes_count; i++) {
        if (ar_algorithm_check_shape(row.algorithm, &shapes[i], err) == AR_OK) {
            found++;
            has_standard = has_standard || ar_shape_equal(&shapes[i], &standard);
            row.shape = shapes[i];
            add_sizes(lists, 1, row, cases);
        }
    }
    if ((found > 0 && !are_all) || has_standard) {
        return AR_OK;
    }
    enum ar_status status = ar_algorithm_check_shape(row.algorithm, &standard, err);
    if (status != AR_OK) {
        return found > 0 || are_all_algorithms ? AR_OK : status;
    }
    row.shape = standard;
    add_sizes(lists, 1, row, cases);
    return AR_OK;
}

static enum ar_status add_ranks(const struct arguments *arguments, const struct backend *backend,
                                const struct lists *lists, struct measurement row,
                                struct cases *cases, struct ar_error *err)
{
    row.root = arguments->root;
    AR_REFUSE(row.root >= row.ranks, err, AR_USAGE,
              "--root: found %" PRIu32 "; expected a rank of %" PRIu32 ", which begin with 0",
              row.root, row.ranks);
    /* Operations that the library runs in one call, with channels of its own. */
    for (size_t i = 0; i < lists->operations_count && backend->is_library; i++) {
        row.shape = (struct ar_shape){.x = row.ranks, .y = 1};
        row.operation = lists->operations[i];
        row.name = ar_arena_format(cases->arena, "%s-%s", backend->name, row.operation->command);
        uint64_t multiple = row.operation->has_parts ? row.ranks : 1; /* parts of equal size */
        add_sizes(lists, multiple, row, cases);
    }
    for (size_t i = 0; i < lists->algorithms_count; i++) {
        row.algorithm = lists->algorithms[i];
        row.operation = row.algorithm->operation;
        row.name = row.algorithm->name;
        bool is_meant = false;
        for (size_t k = 0; k < lists->operations_count; k++) {
            is_meant = is_meant || lists->operations[k] == row.operation;
        }
        if (is_meant && (backend->can_run == NULL || backend->can_run(row.algorithm))) {
            AR_TRY(add_algorithm(arguments, lists, row, cases, err));
        }
    }
    return AR_OK;
}

/* --- probes ------------------------------------------------------------------------------- */

/* Adds a probe with every size. */
static void add_probe(struct measurement row, enum probe probe, const uint64_t *elements,
                      size_t count, struct cases *cases)
{
    row.probe = probe;
    row.name = probe_name(probe);
    for (size_t i = 0; i < count; i++) {
        row.elements = elements[i];
        add_case(cases, row);
    }
}

/* Adds the probes of links. In the column tier the ranks follow the tier: "node:0-3". */
static void add_pair_probes(const struct backend *backend, struct measurement row,
                            const uint64_t *elements, size_t count, struct cases *cases)
{
    const uint64_t small = LATENCY_BYTES / row.type->bytes;
    uint32_t starts = row.ranks <= ALL_PAIRS_RANKS ? row.ranks : 1;
    for (row.from = 0; row.from < starts; row.from++) {
        for (row.to = row.from + 1; row.to < row.ranks; row.to++) {
            snprintf(row.tier, sizeof row.tier, "%s:%" PRIu32 "-%" PRIu32,
                     backend->tier(row.from, row.to), row.from, row.to);
            add_probe(row, PROBE_LATENCY, &small, 1, cases);
            add_probe(row, PROBE_BANDWIDTH, elements, count, cases);
        }
    }
}

/* Adds the probes of `ranks` ranks: pairs, then the memory and the start of rank 0. */
static enum ar_status add_probes(const struct arguments *arguments, const struct backend *backend,
                                 uint32_t ranks, struct cases *cases, struct ar_error *err)
{
    static const uint64_t nothing = 0;
    struct measurement row = {.ranks = ranks,
                              .ranks_per_node = ranks,
                              .channels = 1,
                              .shape = {.x = ranks, .y = 1},
                              .repetitions = arguments->config.repetitions};
    uint64_t *elements = NULL;
    size_t count = 0;
    AR_REFUSE(backend->tier == NULL, err, AR_USAGE,
              "--probes: found with backend %s; expected another one", backend->name);
    AR_TRY(element_find("--datatype", arguments->datatype, &row.type, err));
    AR_TRY(parse_elements(arguments, row.type, "64MiB", cases->arena, &elements, &count, err));
    add_pair_probes(backend, row, elements, count, cases);
    snprintf(row.tier, sizeof row.tier, "%s", arguments->config.memory->name);
    add_probe(row, PROBE_COPY, elements, count, cases);
    add_probe(row, PROBE_REDUCE, elements, count, cases);
    add_probe(row, PROBE_LAUNCH, &nothing, 1, cases);
    return AR_OK;
}

/* --- all ---------------------------------------------------------------------------------- */

static enum ar_status parse_lists(const struct arguments *arguments, const struct machine *machine,
                                  const struct element_type *type, struct ar_arena *arena,
                                  struct lists *lists, struct ar_error *err)
{
    char standard[16];
    snprintf(standard, sizeof standard, "%" PRIu32, machine->ranks_standard);
    const char *payload = arguments->payload != NULL ? arguments->payload : "";
    bool wants_remainders =
        strcmp(payload, "remainders") == 0 || (arguments->check_only && arguments->payload == NULL);
    AR_TRY(list_operations(arena, "--operation", arguments->operation, &lists->operations,
                           &lists->operations_count, err));
    const struct ar_operation *only = lists->operations_count == 1 ? lists->operations[0] : NULL;
    AR_TRY(list_algorithms(arena, "--algorithms", only, arguments->algorithms, false,
                           &lists->algorithms, &lists->algorithms_count, err));
    AR_TRY(list_counts(arena, "--ranks", arguments->ranks != NULL ? arguments->ranks : standard,
                       machine->ranks_max, &lists->ranks, &lists->ranks_count, err));
    AR_TRY(list_counts(arena, "--channels", arguments->channels, AR_CHANNELS_MAX, &lists->channels,
                       &lists->channels_count, err));
    if (!wants_remainders && !arguments->probes) {
        AR_TRY(parse_elements(arguments, type, "1MiB", arena, &lists->elements,
                              &lists->elements_count, err));
    }
    return list_shapes_check(arguments->shapes, lists->ranks, lists->ranks_count, err);
}

static uint32_t ranks_per_node(const struct arguments *arguments, const struct machine *machine,
                               uint32_t ranks)
{
    if (arguments->ranks_per_node > 0) {
        return arguments->ranks_per_node;
    }
    bool is_one_node = machine->ranks_per_node == 0 || machine->ranks_per_node > ranks;
    return is_one_node ? ranks : machine->ranks_per_node;
}

static enum ar_status add_all(const struct arguments *arguments, const struct backend *backend,
                              const struct machine *machine, struct cases *cases,
                              struct ar_error *err)
{
    struct lists lists = {.algorithms = NULL};
    struct measurement row = {.is_check = arguments->check_only,
                              .repetitions =
                                  arguments->check_only ? 1 : arguments->config.repetitions};
    AR_TRY(element_find("--datatype", arguments->datatype, &row.type, err));
    AR_TRY(parse_lists(arguments, machine, row.type, cases->arena, &lists, err));
    if (backend->is_library) {
        lists.channels[0] = 1; /* the library has channels of its own */
        lists.channels_count = 1;
    }
    for (size_t i = 0; i < lists.ranks_count; i++) {
        row.ranks = (uint32_t)lists.ranks[i];
        row.ranks_per_node = ranks_per_node(arguments, machine, row.ranks);
        AR_TRY(arguments->probes ? add_probes(arguments, backend, row.ranks, cases, err)
                                 : add_ranks(arguments, backend, &lists, row, cases, err));
    }
    AR_REFUSE(
        cases->count == 0, err, AR_USAGE,
        "--algorithms: found \"%.60s\" with --operation %.60s; expected algorithms that these have",
        arguments->algorithms, arguments->operation);
    return AR_OK;
}

enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct machine *machine, struct ar_arena *arena,
                            struct cases *cases, struct ar_error *err)
{
    *cases = (struct cases){.arena = arena};
    return ar_error_blame(add_all(arguments, backend, machine, cases, err), AR_USAGE, err);
}
