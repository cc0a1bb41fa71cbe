/* What a run of a log is: the call of a library, or messages of an algorithm on a machine. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_measured.h"
#include "ar_measured_set.h"
#include "ar_numbers.h"
#include "ar_text.h"

const struct ar_operation *measured_operation(const struct ar_log *run)
{
    static const struct ar_operation *const operations[] = {
        [AR_LOG_OTHER] = NULL,
        [AR_LOG_ALL_REDUCE] = &ar_operation_all_reduce,
        [AR_LOG_REDUCE_SCATTER] = &ar_operation_reduce_scatter,
        [AR_LOG_ALL_GATHER] = &ar_operation_all_gather,
        [AR_LOG_REDUCE] = &ar_operation_reduce,
        [AR_LOG_BROADCAST] = &ar_operation_broadcast,
        [AR_LOG_ALL_TO_ALL] = &ar_operation_all_to_all,
        [AR_LOG_SEND_RECV] = NULL, /* each rank sends and receives: no operation here */
        [AR_LOG_GATHER] = &ar_operation_gather,
        [AR_LOG_SCATTER] = &ar_operation_scatter,
        [AR_LOG_LATENCY] = NULL,
        [AR_LOG_BANDWIDTH] = NULL};
    return operations[run->collective];
}

/* NULL: there is none of the name. */
static const struct ar_algorithm *find_algorithm(const struct ar_operation *operation,
                                                 const char *name)
{
    const struct ar_algorithm *algorithm = NULL;
    struct ar_error ignored;
    (void)ar_algorithm_find("algorithm", operation, name, &algorithm, &ignored);
    return algorithm;
}

/* `window: 8 slots of at most 262144 bytes` at the head of a file of the harness; 0: not said. */
static uint32_t said_window(const struct ar_logs *logs)
{
    const struct ar_csv_directive *said =
        logs->csv != NULL ? ar_csv_find_directive(logs->csv, "window") : NULL;
    const char *text = said != NULL ? said->value : "";
    unsigned long window = isdigit((unsigned char)text[0]) ? strtoul(text, NULL, 10) : 0;
    return window <= AR_WINDOW_MAX ? (uint32_t)window : 0;
}

static enum ar_status find_shape(const struct ar_log *run, const char *text, uint32_t gpus,
                                 const struct ar_algorithm *algorithm, struct ar_shape *shape,
                                 struct ar_error *err)
{
    struct ar_error why;
    if (text[0] == '\0') {
        *shape = ar_algorithm_default_shape(algorithm, run->ranks, gpus);
        return AR_OK;
    }
    if (ar_shape_parse("shape", text, shape, &why) != AR_OK) {
        return ar_log_refuse(run, run->first_line, err, "%s", why.text);
    }
    return ar_shape_ranks(shape) == run->ranks
               ? AR_OK
               : ar_log_refuse(run, run->first_line, err,
                               "found shape %.40s of %" PRIu32 " ranks; expected X*Y = %" PRIu32,
                               text, run->ranks, run->ranks);
}

/* A log of nccl-tests counts the elements of one part. */
static enum ar_status find_element_bytes(const struct ar_log *run, uint32_t *element_bytes,
                                         struct ar_error *err)
{
    bool is_of_parts = run->format != AR_LOG_HARNESS && measured_operation(run)->has_parts;
    uint64_t parts = is_of_parts ? run->ranks : 1;
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        uint64_t bytes = row->count > 0 ? row->payload_bytes / parts / row->count : *element_bytes;
        if ((bytes != 2 && bytes != 4) || (i > 0 && bytes != *element_bytes)) {
            return ar_log_refuse(run, row->line, err,
                                 "found elements of %" PRIu64 " bytes; expected 2 or 4, the same "
                                 "in all rows of a run",
                                 bytes);
        }
        *element_bytes = (uint32_t)bytes;
    }
    return AR_OK;
}

/* --- machines ------------------------------------------------------------------------------ */

uint32_t measured_hcas(const struct ar_cluster_facts *facts, uint32_t gpus)
{
    return ar_common_divisor(facts->hcas_per_node, gpus);
}

/* The cluster of the request with some more settings: of nodes with fewer GPUs (or more processes)
 * those HCAs and switches that are theirs alone. */
static enum ar_status make_cluster(const struct ar_calibrate_request *request,
                                   const struct ar_cluster_facts *facts, const struct ar_log *run,
                                   uint32_t gpus, struct ar_arena *arena,
                                   struct ar_cluster **cluster, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "rows", .status = AR_BAD_DATA};
    struct ar_scenario scenario = *request->scenario;
    char texts[5][64];
    size_t count = 0;
    uint32_t hcas = measured_hcas(facts, gpus);
    snprintf(texts[count++], sizeof texts[0], "gpus_per_node=%" PRIu32, gpus);
    snprintf(texts[count++], sizeof texts[0], "hcas=%" PRIu32, hcas);
    if (facts->has_hcas_on_switches) {
        snprintf(texts[count++], sizeof texts[0], "pcie.switches=%" PRIu32, hcas);
    }
    if (run->grid[0] != '\0') {
        snprintf(texts[count++], sizeof texts[0], "torus.lengths=%s", run->grid);
        snprintf(texts[count++], sizeof texts[0], "nodes=%" PRIu32, run->nodes);
    }
    for (size_t i = 0; i < count; i++) {
        char *text = ar_arena_text(arena, texts[i]);
        AR_NEED(text, err, "a cluster");
        AR_TRY(ar_scenario_replace(&scenario, AR_KEY_SET, &origin, text, err));
    }
    return ar_scenario_make_cluster(&scenario, request->inputs, cluster, err);
}

/* What makes the cluster one of such nodes. */
static void write_settings(char *text, size_t size, const struct ar_cluster_facts *facts,
                           uint32_t gpus)
{
    uint32_t hcas = measured_hcas(facts, gpus);
    int used = snprintf(text, size, "--set gpus_per_node=%" PRIu32, gpus);
    if (hcas != facts->hcas_per_node && facts->has_hcas_on_switches) {
        used += snprintf(text + used, size - (size_t)used, " --set pcie.switches=%" PRIu32, hcas);
    }
    if (hcas != facts->hcas_per_node) {
        snprintf(text + used, size - (size_t)used, " --set hcas=%" PRIu32, hcas);
    }
}

/* Ranks fill the nodes of a collective: a run that leaves GPUs idle is of another machine. */
static enum ar_status find_machine(const struct ar_calibrate_request *request,
                                   const struct ar_log *run, struct ar_cluster *cluster,
                                   struct ar_arena *arena, struct ar_measured *measured,
                                   const struct ar_cluster **found, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    uint32_t gpus = run->nodes > 1 ? run->ranks / run->nodes : facts->gpus_per_node;
    if (measured->machines_count == 0) {
        measured->machines[measured->machines_count++] = (struct ar_measured_machine){
            .cluster = cluster, .gpus_per_node = facts->gpus_per_node, .grid = ""};
    }
    for (size_t i = 0; i < measured->machines_count; i++) {
        const struct ar_measured_machine *machine = &measured->machines[i];
        if (machine->gpus_per_node == gpus && strcmp(machine->grid, run->grid) == 0) {
            *found = machine->cluster;
            return AR_OK;
        }
    }
    if (run->format != AR_LOG_PUBLISHED || request->inputs == NULL) {
        char settings[128];
        write_settings(settings, sizeof settings, facts, gpus);
        return ar_log_refuse(run, run->first_line, err,
                             "found %" PRIu32 " ranks on %" PRIu32 " nodes of %" PRIu32
                             " GPUs; expected full nodes (%s?)",
                             run->ranks, run->nodes, facts->gpus_per_node, settings);
    }
    struct ar_measured_machine *made = &measured->machines[measured->machines_count];
    *made = (struct ar_measured_machine){.gpus_per_node = gpus,
                                         .grid = ar_arena_text(arena, run->grid)};
    AR_NEED(made->grid, err, "a cluster");
    AR_TRY(make_cluster(request, facts, run, gpus, arena, &made->cluster, err));
    measured->machines_count++;
    *found = made->cluster;
    return AR_OK;
}

/* --- the kind of a run ---------------------------------------------------------------------- */

/* What a run says of its algorithm, in our words. */
struct said {
    const struct ar_algorithm *algorithm;
    const char *shape;
    uint32_t channels;
};

/* What a name stands for in the tables of libraries and benchmarks, else among ours. */
static struct said find_called(const struct ar_calibrate_request *request,
                               const struct ar_operation *operation, const char *name)
{
    const struct ar_called *called =
        request->called != NULL ? ar_called_find(request->called, operation->command, name) : NULL;
    return called != NULL ? (struct said){find_algorithm(operation, called->algorithm),
                                          called->shape, called->channels}
                          : (struct said){find_algorithm(operation, name), "", 0};
}

/* Of a run that names what it ran. Of the backend nccl of the harness only what the library chose
 * by itself can be compared with its choice. */
static enum measured_kind sort_named(const struct ar_calibrate_request *request,
                                     const struct ar_log *run, const struct ar_operation *operation,
                                     struct said *said)
{
    static const char by_nccl[] = "nccl-allreduce";
    if (run->format == AR_LOG_HARNESS) {
        bool is_nccl = strcmp(run->tool, "nccl") == 0;
        *said = (struct said){is_nccl ? NULL : find_algorithm(operation, run->algorithm),
                              run->shape, run->channels};
        return is_nccl && strcmp(run->algorithm, by_nccl) == 0 ? MEASURED_CALL
               : said->algorithm != NULL                       ? MEASURED_MESSAGES
                                                               : MEASURED_UNUSED;
    }
    *said = find_called(request, operation, run->algorithm);
    said->channels = said->channels > 0 ? said->channels : 1;
    return run->has_gpu_buffers      ? MEASURED_ON_GPUS
           : said->algorithm == NULL ? MEASURED_NO_ALGORITHM
                                     : MEASURED_MESSAGES;
}

static enum measured_kind sort(const struct ar_calibrate_request *request, const struct ar_log *run,
                               const struct ar_cluster *cluster, struct said *said)
{
    const struct ar_operation *operation = measured_operation(run);
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    enum ar_library_call call;
    const char *name = request->algorithm_name;
    if (operation == NULL) {
        return MEASURED_NO_OPERATION;
    }
    if (run->algorithm[0] != '\0') {
        return sort_named(request, run, operation, said);
    }
    if (!request->is_messages && ar_library_call_find(operation, &call)) {
        return MEASURED_CALL;
    }
    bool is_asked = request->is_messages && name != NULL;
    *said = find_called(request, operation, is_asked ? name : "linear");
    if (is_asked && ar_scenario_has(request->scenario, AR_KEY_CHANNELS)) {
        said->channels = request->scenario->channels;
    } else if (said->channels == 0) { /* a ring of NCCL for each HCA */
        said->channels = is_asked && facts->hcas_per_node > 0 ? facts->hcas_per_node : 1;
    }
    return said->algorithm != NULL ? MEASURED_MESSAGES : MEASURED_NO_ALGORITHM;
}

enum ar_status measured_collective(const struct ar_calibrate_request *request,
                                   const struct ar_logs *logs, const struct ar_log *run,
                                   struct ar_cluster *cluster, struct ar_arena *arena,
                                   struct ar_measured *measured, enum measured_kind *kind,
                                   struct ar_collective *collective, struct ar_error *err)
{
    struct ar_error why;
    struct said said = {NULL, "", 1};
    uint32_t window = said_window(logs);
    *kind = sort(request, run, cluster, &said);
    if (*kind != MEASURED_MESSAGES) {
        return AR_OK;
    }
    if (run->ranks == 0) {
        return ar_log_check(run, run->collective, 1, err);
    }
    if (window == 0 || ar_scenario_has(request->scenario, AR_KEY_WINDOW)) {
        window = request->scenario->window; /* what is asked for, else the standard one */
    }
    struct ar_collective made = {.operation = measured_operation(run),
                                 .algorithm = said.algorithm,
                                 .channels = said.channels * ar_algorithm_channels(said.algorithm),
                                 .window = window,
                                 .element_bytes = 4,
                                 .has_plain_orders = run->format == AR_LOG_HARNESS};
    if (run->format == AR_LOG_HARNESS) { /* says all of them */
        made.channels = said.channels;
    }
    AR_TRY(find_machine(request, run, cluster, arena, measured, &made.cluster, err));
    AR_TRY(find_shape(run, said.shape, ar_cluster_facts(made.cluster)->gpus_per_node,
                      made.algorithm, &made.shape, err));
    AR_TRY(find_element_bytes(run, &made.element_bytes, err));
    if (ar_collective_check(&made, &why) != AR_OK) {
        if (run->format == AR_LOG_PUBLISHED) {
            *kind = MEASURED_OTHER_RANKS; /* a library had its own way with these ranks */
            return AR_OK;
        }
        return ar_log_refuse(run, run->first_line, err, "%s", why.text);
    }
    *collective = made;
    return AR_OK;
}
