#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "lists.h"

enum { REMAINDERS = 6, PRIME = 10007, COUNT_MAX = 1000000, SLOT_MAX = 1 << 30 };

/* What the loops over lists go through. */
struct lists {
    const struct ar_algorithm **algorithms;
    size_t algorithms_count;
    uint64_t *ranks;
    size_t ranks_count;
    uint64_t *channels;
    size_t channels_count;
    uint64_t *elements; /* NULL: remainders */
    size_t elements_count;
};

static enum ar_status parse_memory(const struct arguments *arguments, const struct backend *backend,
                                   struct run_config *config, struct ar_error *err)
{
    for (size_t i = 0; i < BACKEND_MEMORIES && backend->memories[i] != NULL; i++) {
        const struct memory *memory = backend->memories[i];
        if (arguments->memory == NULL || strcmp(arguments->memory, memory->name) == 0) {
            config->memory = memory;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "--memory: found \"%.60s\"; expected what backend %s has in this build, "
                        "such as %s",
                        arguments->memory, backend->name, backend->memories[0]->name);
}

static enum ar_status parse_slot(const char *text, uint32_t *slot_bytes, struct ar_error *err)
{
    uint64_t bytes;
    AR_TRY(ar_parse_bytes("--slot", text, &bytes, err));
    if (bytes < sizeof(float) || bytes > SLOT_MAX) {
        return ar_error_set(err, AR_USAGE, "--slot: found \"%.60s\"; expected 4B to 1GiB", text);
    }
    *slot_bytes = (uint32_t)bytes;
    return AR_OK;
}

static enum ar_status parse_timeout(const char *text, double *timeout_s, struct ar_error *err)
{
    AR_TRY(ar_parse_seconds("--timeout", text, timeout_s, err));
    if (*timeout_s < 1e-3 || *timeout_s > 1e6) {
        return ar_error_set(err, AR_USAGE, "--timeout: found \"%.60s\"; expected 1ms to 1000000s",
                            text);
    }
    return AR_OK;
}

static enum ar_status parse_count(const char *where, const char *text, uint64_t min, uint64_t max,
                                  uint32_t *count, struct ar_error *err)
{
    uint64_t value;
    AR_TRY(ar_parse_count(where, text, min, max, &value, err));
    *count = (uint32_t)value;
    return AR_OK;
}

static enum ar_status parse_config(const struct arguments *arguments, const struct backend *backend,
                                   struct run_config *config, struct ar_error *err)
{
    *config = (struct run_config){.uses_graph = arguments->graph};
    AR_TRY(parse_count("--repetitions", arguments->repetitions, 1, COUNT_MAX, &config->repetitions,
                       err));
    AR_TRY(parse_count("--warmup", arguments->warmup, 0, COUNT_MAX, &config->warmup, err));
    AR_TRY(parse_count("--window", arguments->window, 1, AR_WINDOW_MAX, &config->window, err));
    AR_TRY(parse_slot(arguments->slot, &config->slot_bytes, err));
    AR_TRY(parse_timeout(arguments->timeout, &config->timeout_s, err));
    AR_TRY(parse_memory(arguments, backend, config, err));
    if (config->uses_graph && !backend->has_graphs) {
        return ar_error_set(err, AR_USAGE, "--graph: found with backend %s; expected backend cuda",
                            backend->name);
    }
    if (arguments->check_only && arguments->probes) {
        return ar_error_set(err, AR_USAGE, "found --check-only and --probes; expected one");
    }
    return AR_OK;
}

enum ar_status run_config_parse(const struct arguments *arguments, const struct backend *backend,
                                struct run_config *config, struct ar_error *err)
{
    return ar_error_as_usage(parse_config(arguments, backend, config, err), err);
}

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
    struct measurement *larger = realloc(cases->rows, (cases->count + 1) * sizeof *larger);
    if (larger == NULL) {
        return ar_error_no_memory(err, "the list of cases");
    }
    cases->rows = larger;
    cases->rows[cases->count] = *row;
    AR_TRY(measurement_create(row->repetitions, &cases->rows[cases->count], err));
    cases->count++;
    return AR_OK;
}

void cases_destroy(struct cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        measurement_destroy(&cases->rows[i]);
    }
    free(cases->rows);
    ar_arena_end(&cases->arena);
    *cases = (struct cases){.rows = NULL, .count = 0};
}

/* All sizes of a row that is complete but for its elements. */
static enum ar_status add_sizes(const struct lists *lists, struct measurement row,
                                struct cases *cases, struct ar_error *err)
{
    const uint64_t around[REMAINDERS] = {0, 1, row.ranks - 1, row.ranks, row.ranks + 1, PRIME};
    const uint64_t *elements = lists->elements != NULL ? lists->elements : around;
    size_t count = lists->elements != NULL ? lists->elements_count : REMAINDERS;
    for (size_t i = 0; i < count; i++) {
        bool is_again = false;
        for (size_t j = 0; j < i; j++) {
            is_again = is_again || elements[j] == elements[i];
        }
        row.elements = elements[i];
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
        AR_TRY(add_sizes(lists, row, cases, err));
    }
    return AR_OK;
}

/* The shapes named that the algorithm runs; if that is none, the one it runs by default. */
static enum ar_status add_algorithm(const struct arguments *arguments, const struct lists *lists,
                                    struct measurement row, struct cases *cases,
                                    struct ar_error *err)
{
    struct ar_shape *shapes;
    size_t shapes_count;
    bool has_run = false;
    struct ar_error ignored;
    AR_TRY(list_shapes(&cases->arena, "--shapes", arguments->shapes, row.ranks, row.ranks_per_node,
                       &shapes, &shapes_count, err));
    for (size_t i = 0; i < shapes_count; i++) {
        if (ar_algorithm_check_shape(row.algorithm, &shapes[i], &ignored) == AR_OK) {
            has_run = true;
            AR_TRY(add_shape(lists, row, shapes[i], cases, err));
        }
    }
    if (has_run) {
        return AR_OK;
    }
    struct ar_shape shape =
        ar_algorithm_default_shape(row.algorithm, row.ranks, row.ranks_per_node);
    return add_shape(lists, row, shape, cases, err);
}

static enum ar_status add_ranks(const struct arguments *arguments, const struct backend *backend,
                                const struct lists *lists, struct measurement row,
                                struct cases *cases, struct ar_error *err)
{
    if (backend->library_collective != NULL) {
        struct measurement library = row;
        library.name = backend->library_collective;
        library.channels = 1;
        library.shape = (struct ar_shape){.x = row.ranks, .y = 1};
        AR_TRY(add_sizes(lists, library, cases, err));
    }
    for (size_t i = 0; i < lists->algorithms_count; i++) {
        row.algorithm = lists->algorithms[i];
        row.name = row.algorithm->name;
        if (backend->can_run == NULL || backend->can_run(row.algorithm)) {
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
    AR_TRY(list_algorithms(arena, "--algorithms", arguments->algorithms, &lists->algorithms,
                           &lists->algorithms_count, err));
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

static enum ar_status ranks_per_node(const struct arguments *arguments,
                                     const struct machine *machine, uint32_t ranks,
                                     uint32_t *per_node, struct ar_error *err)
{
    if (arguments->ranks_per_node != NULL) {
        return parse_count("--ranks-per-node", arguments->ranks_per_node, 1, UINT32_MAX, per_node,
                           err);
    }
    bool is_one_node = machine->ranks_per_node == 0 || machine->ranks_per_node > ranks;
    *per_node = is_one_node ? ranks : machine->ranks_per_node;
    return AR_OK;
}

static enum ar_status add_all(const struct arguments *arguments, const struct backend *backend,
                              const struct run_config *config, const struct machine *machine,
                              struct cases *cases, struct ar_error *err)
{
    struct lists lists = {.algorithms = NULL};
    struct measurement row = {.is_check = arguments->check_only,
                              .repetitions = arguments->check_only ? 1 : config->repetitions};
    AR_TRY(element_find("--datatype", arguments->datatype, &row.type, err));
    AR_TRY(parse_lists(arguments, machine, row.type, &cases->arena, &lists, err));
    if (backend->library_collective != NULL) {
        lists.channels[0] = 1; /* the library has channels of its own */
        lists.channels_count = 1;
    }
    for (size_t i = 0; i < lists.ranks_count; i++) {
        row.ranks = (uint32_t)lists.ranks[i];
        AR_TRY(ranks_per_node(arguments, machine, row.ranks, &row.ranks_per_node, err));
        AR_TRY(arguments->probes
                   ? cases_add_probes(arguments, backend, config, row.ranks, cases, err)
                   : add_ranks(arguments, backend, &lists, row, cases, err));
    }
    return AR_OK;
}

enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct run_config *config, const struct machine *machine,
                            struct cases *cases, struct ar_error *err)
{
    struct cases made = {.rows = NULL};
    enum ar_status status = add_all(arguments, backend, config, machine, &made, err);
    if (status != AR_OK) {
        cases_destroy(&made);
        return ar_error_as_usage(status, err);
    }
    *cases = made;
    return AR_OK;
}
