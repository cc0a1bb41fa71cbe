#include "cases.h"

#include <inttypes.h>
#include <string.h>

#include "lists.h"

enum { REMAINDERS = 6, PRIME = 10007 };

/* What the loops over lists go through. */
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

enum ar_status cases_elements(const struct arguments *arguments, const struct element_type *type,
                              const char *standard, struct ar_arena *arena, uint64_t **elements,
                              size_t *count, struct ar_error *err)
{
    uint64_t *sizes;
    const char *text = arguments->payload != NULL ? arguments->payload : standard;
    AR_TRY(list_sizes(arena, "--payload", text, &sizes, count, err));
    for (size_t i = 0; i < *count; i++) {
        if (sizes[i] % type->bytes != 0) {
            return ar_error_set(err, AR_USAGE,
                                "--payload: found %" PRIu64
                                " bytes; expected a multiple of %" PRIu32
                                ", the bytes of an element",
                                sizes[i], type->bytes);
        }
        sizes[i] /= type->bytes;
    }
    *elements = sizes;
    return AR_OK;
}

enum ar_status cases_add(struct cases *cases, const struct measurement *row, struct ar_error *err)
{
    struct measurement *rows =
        ar_arena_grow(cases->arena, cases->rows, cases->count, 1, sizeof *rows);
    double *times_s = ar_arena_alloc(cases->arena, row->repetitions, sizeof *times_s);
    AR_NEED(rows && times_s, err, "the list of cases");
    cases->rows = rows;
    rows[cases->count] = *row;
    rows[cases->count++].times_s = times_s;
    return AR_OK;
}

/* All sizes of a row that is complete but for its elements, rounded down to a multiple. */
static enum ar_status add_sizes(const struct lists *lists, uint64_t multiple,
                                struct measurement row, struct cases *cases, struct ar_error *err)
{
    const uint64_t around[REMAINDERS] = {0, 1, row.ranks - 1, row.ranks, row.ranks + 1, PRIME};
    const uint64_t *elements = lists->elements != NULL ? lists->elements : around;
    size_t count = lists->elements != NULL ? lists->elements_count : REMAINDERS;
    for (size_t i = 0; i < count; i++) {
        bool is_again = false;
        for (size_t j = 0; j < i; j++) {
            is_again = is_again || elements[j] / multiple == elements[i] / multiple;
        }
        row.elements = elements[i] - elements[i] % multiple;
        AR_TRY(is_again ? AR_OK : cases_add(cases, &row, err));
    }
    return AR_OK;
}

/* All numbers of channels and sizes of an algorithm on a shape. */
static enum ar_status add_shape(const struct lists *lists, struct measurement row,
                                struct ar_shape shape, struct cases *cases, struct ar_error *err)
{
    row.shape = shape;
    for (size_t i = 0; i < lists->channels_count; i++) {
        row.channels = (uint32_t)lists->channels[i];
        AR_TRY(add_sizes(lists, 1, row, cases, err));
    }
    return AR_OK;
}

static bool has_shape(const struct ar_shape *shapes, size_t count, const struct ar_shape *shape)
{
    size_t i = 0;
    while (i < count && !ar_shape_equal(&shapes[i], shape)) {
        i++;
    }
    return i < count;
}

/* The shapes named that the algorithm runs; of all shapes, or if it runs none of them, the one it
 * runs by default. An algorithm that does not run so many ranks, or wants switches that sum, is
 * left out, unless it was asked for by name. */
static enum ar_status add_algorithm(const struct arguments *arguments, const struct lists *lists,
                                    struct measurement row, struct cases *cases,
                                    struct ar_error *err)
{
    struct ar_shape *shapes;
    size_t shapes_count;
    size_t found = 0;
    bool are_all = strcmp(arguments->shapes, "all") == 0;
    bool are_all_algorithms = strcmp(arguments->algorithms, "all") == 0;
    if (row.algorithm->wants_sums) {
        return are_all_algorithms
                   ? AR_OK
                   : ar_error_set(err, AR_USAGE,
                                  "--algorithms: found \"%s\", in which switches sum; expected "
                                  "algorithms in which ranks do",
                                  row.algorithm->name);
    }
    AR_TRY(list_shapes(cases->arena, "--shapes", arguments->shapes, row.ranks, row.ranks_per_node,
                       &shapes, &shapes_count, err));
    for (size_t i = 0; i < shapes_count; i++) {
        if (ar_algorithm_check_shape(row.algorithm, &shapes[i], err) == AR_OK) {
            shapes[found++] = shapes[i];
            AR_TRY(add_shape(lists, row, shapes[i], cases, err));
        }
    }
    struct ar_shape standard =
        ar_algorithm_default_shape(row.algorithm, row.ranks, row.ranks_per_node);
    if ((found > 0 && !are_all) || has_shape(shapes, found, &standard)) {
        return AR_OK;
    }
    enum ar_status status = ar_algorithm_check_shape(row.algorithm, &standard, err);
    if (status != AR_OK) {
        return found > 0 || are_all_algorithms ? AR_OK : status;
    }
    return add_shape(lists, row, standard, cases, err);
}

/* What the library does in one call, with channels of its own. */
static enum ar_status add_library(const struct backend *backend, const struct lists *lists,
                                  struct measurement row, struct cases *cases, struct ar_error *err)
{
    enum { NAME_SIZE = 32 };
    row.channels = 1;
    row.shape = (struct ar_shape){.x = row.ranks, .y = 1};
    for (size_t i = 0; i < lists->operations_count; i++) {
        char *name = ar_arena_alloc(cases->arena, NAME_SIZE, 1);
        AR_NEED(name, err, "the list of cases");
        snprintf(name, NAME_SIZE, "%s-%s", backend->name, lists->operations[i]->command);
        row.name = name;
        row.operation = lists->operations[i];
        uint64_t multiple = row.operation->has_parts ? row.ranks : 1; /* parts of equal size */
        AR_TRY(add_sizes(lists, multiple, row, cases, err));
    }
    return AR_OK;
}

static bool has_operation(const struct lists *lists, const struct ar_operation *operation)
{
    size_t i = 0;
    while (i < lists->operations_count && lists->operations[i] != operation) {
        i++;
    }
    return i < lists->operations_count;
}

static enum ar_status add_ranks(const struct arguments *arguments, const struct backend *backend,
                                const struct lists *lists, struct measurement row,
                                struct cases *cases, struct ar_error *err)
{
    row.root = arguments->root;
    if (row.root >= row.ranks) {
        return ar_error_set(err, AR_USAGE,
                            "--root: found %" PRIu32 "; expected a rank of %" PRIu32
                            ", which begin with 0",
                            row.root, row.ranks);
    }
    if (backend->is_library) {
        AR_TRY(add_library(backend, lists, row, cases, err));
    }
    for (size_t i = 0; i < lists->algorithms_count; i++) {
        row.algorithm = lists->algorithms[i];
        row.operation = row.algorithm->operation;
        row.name = row.algorithm->name;
        bool is_meant = has_operation(lists, row.operation);
        if (is_meant && (backend->can_run == NULL || backend->can_run(row.algorithm))) {
            AR_TRY(add_algorithm(arguments, lists, row, cases, err));
        }
    }
    return AR_OK;
}

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
        AR_TRY(cases_elements(arguments, type, "1MiB", arena, &lists->elements,
                              &lists->elements_count, err));
    }
    return list_shapes_check("--shapes", arguments->shapes, lists->ranks, lists->ranks_count, err);
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
        AR_TRY(arguments->probes ? cases_add_probes(arguments, backend, row.ranks, cases, err)
                                 : add_ranks(arguments, backend, &lists, row, cases, err));
    }
    return cases->count > 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "--algorithms: found \"%.60s\" with --operation %.60s; expected "
                              "algorithms that these have",
                              arguments->algorithms, arguments->operation);
}

enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct machine *machine, struct ar_arena *arena,
                            struct cases *cases, struct ar_error *err)
{
    *cases = (struct cases){.arena = arena};
    return ar_error_as_usage(add_all(arguments, backend, machine, cases, err), err);
}
