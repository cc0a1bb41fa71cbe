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

enum ar_status run_config_parse(const struct arguments *arguments, const struct backend *backend,
                                struct run_config *config, struct ar_error *err)
{
    struct run_config read = {.uses_graph = arguments->graph};
    enum ar_status status =
        parse_count("--repetitions", arguments->repetitions, 1, COUNT_MAX, &read.repetitions, err);
    if (status == AR_OK) {
        status = parse_count("--warmup", arguments->warmup, 0, COUNT_MAX, &read.warmup, err);
    }
    if (status == AR_OK) {
        status = parse_count("--window", arguments->window, 1, AR_WINDOW_MAX, &read.window, err);
    }
    if (status == AR_OK) {
        status = parse_slot(arguments->slot, &read.slot_bytes, err);
    }
    if (status == AR_OK) {
        status = parse_timeout(arguments->timeout, &read.timeout_s, err);
    }
    if (status == AR_OK) {
        status = parse_memory(arguments, backend, &read, err);
    }
    if (status == AR_OK && read.uses_graph && !backend->has_graphs) {
        status = ar_error_set(
            err, AR_USAGE, "--graph: found with backend %s; expected backend cuda", backend->name);
    }
    if (status == AR_OK && arguments->check_only && arguments->probes) {
        status = ar_error_set(err, AR_USAGE, "found --check-only and --probes; expected one");
    }
    *config = read;
    return ar_error_as_usage(status, err);
}

enum ar_status cases_elements(const struct arguments *arguments, const struct element_type *type,
                              const char *standard, uint64_t **elements, size_t *count,
                              struct ar_error *err)
{
    uint64_t *sizes;
    size_t sizes_count;
    const char *text = arguments->payload != NULL ? arguments->payload : standard;
    enum ar_status status = list_sizes("--payload", text, &sizes, &sizes_count, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; i < sizes_count; i++) {
        if (sizes[i] % type->bytes != 0) {
            status =
                ar_error_set(err, AR_USAGE,
                             "--payload: found %" PRIu64 " bytes; expected a multiple of %" PRIu32
                             ", the bytes of an element",
                             sizes[i], type->bytes);
            free(sizes);
            return status;
        }
        sizes[i] /= type->bytes;
    }
    *elements = sizes;
    *count = sizes_count;
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
    enum ar_status status = measurement_create(row->repetitions, &cases->rows[cases->count], err);
    cases->count += status == AR_OK;
    return status;
}

void cases_destroy(struct cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        measurement_destroy(&cases->rows[i]);
    }
    free(cases->rows);
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
    enum ar_status status = list_shapes("--shapes", arguments->shapes, row.ranks,
                                        row.ranks_per_node, &shapes, &shapes_count, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; status == AR_OK && i < shapes_count; i++) {
        if (ar_algorithm_check_shape(row.algorithm, &shapes[i], &ignored) == AR_OK) {
            has_run = true;
            status = add_shape(lists, row, shapes[i], cases, err);
        }
    }
    free(shapes);
    if (status == AR_OK && !has_run) {
        struct ar_shape shape =
            ar_algorithm_default_shape(row.algorithm, row.ranks, row.ranks_per_node);
        status = add_shape(lists, row, shape, cases, err);
    }
    return status;
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
                                  const struct element_type *type, struct lists *lists,
                                  struct ar_error *err)
{
    char standard[16];
    snprintf(standard, sizeof standard, "%" PRIu32, machine->ranks_standard);
    const char *payload = arguments->payload != NULL ? arguments->payload : "";
    bool wants_remainders =
        strcmp(payload, "remainders") == 0 || (arguments->check_only && arguments->payload == NULL);
    enum ar_status status = list_algorithms("--algorithms", arguments->algorithms,
                                            &lists->algorithms, &lists->algorithms_count, err);
    if (status == AR_OK) {
        status = list_counts("--ranks", arguments->ranks != NULL ? arguments->ranks : standard,
                             machine->ranks_max, &lists->ranks, &lists->ranks_count, err);
    }
    if (status == AR_OK) {
        status = list_counts("--channels", arguments->channels, AR_CHANNELS_MAX, &lists->channels,
                             &lists->channels_count, err);
    }
    if (status == AR_OK && !wants_remainders && !arguments->probes) {
        status =
            cases_elements(arguments, type, "1MiB", &lists->elements, &lists->elements_count, err);
    }
    if (status == AR_OK) {
        status =
            list_shapes_check("--shapes", arguments->shapes, lists->ranks, lists->ranks_count, err);
    }
    return ar_error_as_usage(status, err);
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
                              const struct lists *lists, struct cases *cases, struct ar_error *err)
{
    struct measurement row = {.is_check = arguments->check_only};
    enum ar_status status = element_find("--datatype", arguments->datatype, &row.type, err);
    row.repetitions = row.is_check ? 1 : config->repetitions;
    for (size_t i = 0; status == AR_OK && i < lists->ranks_count; i++) {
        row.ranks = (uint32_t)lists->ranks[i];
        status = ranks_per_node(arguments, machine, row.ranks, &row.ranks_per_node, err);
        if (status == AR_OK && arguments->probes) {
            status = cases_add_probes(arguments, backend, config, row.ranks, cases, err);
        } else if (status == AR_OK) {
            status = add_ranks(arguments, backend, lists, row, cases, err);
        }
    }
    return ar_error_as_usage(status, err);
}

enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct run_config *config, const struct machine *machine,
                            struct cases *cases, struct ar_error *err)
{
    struct lists lists = {.algorithms = NULL};
    struct cases made = {.rows = NULL};
    const struct element_type *type;
    enum ar_status status = element_find("--datatype", arguments->datatype, &type, err);
    if (status == AR_OK) {
        status = parse_lists(arguments, machine, type, &lists, err);
    }
    if (status == AR_OK && backend->library_collective != NULL) {
        lists.channels[0] = 1; /* the library has channels of its own */
        lists.channels_count = 1;
    }
    if (status == AR_OK) {
        status = add_all(arguments, backend, config, machine, &lists, &made, err);
    }
    free(lists.algorithms);
    free(lists.ranks);
    free(lists.channels);
    free(lists.elements);
    if (status != AR_OK) {
        cases_destroy(&made);
        return status;
    }
    *cases = made;
    return AR_OK;
}
