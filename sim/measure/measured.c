#include "ar_measured.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_measured_set.h"
#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_text.h"

const char *const ar_measured_left_texts[AR_LEFT_REASONS] = {
    [AR_LEFT_OPERATION] = "operations that are not modelled",
    [AR_LEFT_ALGORITHM] = "algorithms that are not modelled",
    [AR_LEFT_ON_GPUS] = "buffers on GPUs in tables of MPI",
    [AR_LEFT_RANKS] = "algorithms that are not modelled on so many ranks",
    [AR_LEFT_MACHINE] = "shapes of nodes that no cluster here can have",
    [AR_LEFT_SYSTEM] = "other machines, or ranks per node"};

/* --- runs: calls or messages --------------------------------------------------------------- */

/* A run is left out for a reason, or it is one of these. */
enum { RUN_CALL = AR_LEFT_REASONS, RUN_MESSAGES };

/* The algorithm that a run names, in our words. */
struct named_algorithm {
    const struct ar_algorithm *algorithm; /* NULL: there is none here */
    const char *shape;
    uint32_t channels;
};

/* NULL: there is none of the name. */
static const struct ar_algorithm *algorithm_of(const struct ar_operation *operation,
                                               const char *name)
{
    const struct ar_algorithm *algorithm = NULL;
    (void)ar_algorithm_find("algorithm", operation, name, &algorithm, AR_IGNORED);
    return algorithm;
}

/* Whether a run is a call that the library's model has: an all-to-all is one in a node, where the
 * release and its rings' rates are known. Other libraries' are messages; to engine nccl all are. */
static bool is_library_call(const struct ar_measured_request *request, const struct ar_log *run,
                            const struct ar_operation *operation,
                            const struct ar_cluster_facts *facts)
{
    enum ar_library_call call;
    bool has_rings = facts->library_node_bus_Bps > 0 &&
                     (facts->nodes_count == 1 || facts->library_net_bus_Bps > 0);
    bool has_release = request->scenario->release != NULL || facts->library_release[0] != '\0';
    return ar_library_call_find(operation, &call) &&
           (call < AR_PRICED_CALLS ||
            (!ar_engine_lacks_call(request->scenario->engine, call) && has_rings && has_release &&
             run->format != AR_LOG_OSU && run->nodes <= facts->nvlink_domain_nodes));
}

/* Sorts a run: a call, messages of an algorithm, or left out. */
static int classify_run(const struct ar_measured_request *request, const struct ar_log *run,
                        const struct ar_cluster_facts *facts, struct named_algorithm *named)
{
    const struct ar_operation *operation = ar_log_operation(run->collective);
    bool has_name = run->algorithm[0] != '\0';
    if (operation == NULL) {
        return AR_LEFT_OPERATION;
    }
    if (has_name && run->format == AR_LOG_HARNESS) {
        /* A grid made of NCCL's calls is none of our algorithms. */
        bool is_nccl = strcmp(run->tool, "nccl") == 0;
        *named = (struct named_algorithm){is_nccl ? NULL : algorithm_of(operation, run->algorithm),
                                          run->shape, run->channels};
        return named->algorithm != NULL ? (int)RUN_MESSAGES : AR_LEFT_ALGORITHM;
    }
    if (!has_name && !request->is_messages && is_library_call(request, run, operation, facts)) {
        return RUN_CALL;
    }
    bool is_asked = !has_name && request->is_messages && request->algorithm_name != NULL;
    const char *name = has_name ? run->algorithm : is_asked ? request->algorithm_name : "linear";
    const struct ar_called *called =
        request->called != NULL ? ar_called_find(request->called, operation->command, name) : NULL;
    *named = called != NULL ? (struct named_algorithm){algorithm_of(operation, called->algorithm),
                                                       called->shape, called->channels}
                            : (struct named_algorithm){algorithm_of(operation, name), "", 0};
    if (is_asked && ar_scenario_has(request->scenario, AR_KEY_CHANNELS)) {
        named->channels = request->scenario->channels;
    } else if (named->channels == 0) { /* a ring of NCCL for each HCA */
        named->channels = is_asked && facts->hcas_per_node > 0 ? facts->hcas_per_node : 1;
    }
    return has_name && run->has_gpu_buffers ? AR_LEFT_ON_GPUS
           : named->algorithm == NULL       ? AR_LEFT_ALGORITHM
                                            : (int)RUN_MESSAGES;
}

/* The machine of a run of messages. Ranks fill the nodes of a collective: a run that leaves GPUs
 * idle is of the cluster with fewer GPUs per node, and those HCAs and switches that are theirs
 * alone. Tables of published measurements may have such runs. A run on a torus of lengths that
 * cannot be built is left out: *kind is AR_LEFT_MACHINE, and no machine is found. */
static enum ar_status find_machine(const struct ar_measured_request *request,
                                   const struct ar_log *run, struct ar_cluster *cluster,
                                   struct ar_arena *arena, struct ar_measured *measured, int *kind,
                                   const struct ar_cluster **found, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "rows", .status = AR_BAD_DATA};
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_scenario scenario = *request->scenario;
    const char *settings[5], *asked = "";
    size_t count = 0;
    uint32_t gpus = run->nodes > 1 ? run->ranks / run->nodes : facts->gpus_per_node;
    uint32_t hcas = ar_common_divisor(facts->hcas_per_node, gpus); /* that its GPUs use */
    if (measured->machines_count == 0) {
        measured->machines[measured->machines_count++] = (struct ar_measured_machine){
            .cluster = cluster, .gpus_per_node = facts->gpus_per_node, .grid = ""};
    }
    AR_EACH(const struct ar_measured_machine, machine, measured->machines,
            measured->machines_count) {
        if (machine->gpus_per_node == gpus && strcmp(machine->grid, run->grid) == 0) {
            *found = machine->cluster;
            return AR_OK;
        }
    }
    settings[count++] = ar_arena_format(arena, "gpus_per_node=%" PRIu32, gpus);
    if (facts->has_hcas_on_switches) {
        settings[count++] = ar_arena_format(arena, "pcie.switches=%" PRIu32, hcas);
    }
    settings[count++] = ar_arena_format(arena, "hcas=%" PRIu32, hcas);
    if (run->grid[0] != '\0') {
        settings[count++] = ar_arena_format(arena, "torus.lengths=%s", run->grid);
        settings[count++] = ar_arena_format(arena, "nodes=%" PRIu32, run->nodes);
    }
    if (run->format != AR_LOG_PUBLISHED) {
        for (size_t i = 0; i < count; i++) {
            asked = ar_arena_format(arena, "%s%s--set %s", asked, i > 0 ? " " : "", settings[i]);
        }
        return ar_error_in_line(err, run->path, run->first_line,
                                "found %" PRIu32 " ranks on %" PRIu32 " nodes of %" PRIu32
                                " GPUs; expected full nodes (%s?)",
                                run->ranks, run->nodes, facts->gpus_per_node, asked);
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(ar_scenario_replace(&scenario, AR_KEY_SET, &origin, settings[i], err));
    }
    struct ar_measured_machine made = {.gpus_per_node = gpus,
                                       .grid = ar_arena_text(arena, run->grid)};
    enum ar_status status = ar_scenario_make_cluster(&scenario, &made.cluster, err);
    if (status == AR_BAD_DATA && run->grid[0] != '\0') {
        *kind = AR_LEFT_MACHINE;
        if (measured->left[*kind].first == NULL) {
            measured->left[*kind].why = ar_arena_text(arena, err->text);
        }
        return AR_OK;
    }
    AR_TRY(status);
    measured->machines[measured->machines_count++] = made;
    *found = made.cluster;
    return AR_OK;
}

/* The shape of a run: its own, or that which its algorithm has by default. */
static enum ar_status find_shape(const struct ar_log *run, const char *text, uint32_t gpus,
                                 const struct ar_algorithm *algorithm, struct ar_shape *shape,
                                 struct ar_error *err)
{
    struct ar_error why;
    if (text[0] == '\0') {
        *shape = ar_algorithm_default_shape(algorithm, run->ranks, gpus);
        return AR_OK;
    }
    AR_LOG_REFUSE(ar_shape_parse("shape", text, shape, &why) != AR_OK, run, run->first_line, err,
                  "%s", why.text);
    AR_LOG_REFUSE(ar_shape_ranks(shape) != run->ranks, run, run->first_line, err,
                  "found shape %.40s of %" PRIu32 " ranks; expected X*Y = %" PRIu32, text,
                  run->ranks, run->ranks);
    return AR_OK;
}

/* The collective of a run of messages, on a machine that `measured` then has. A table's run that
 * the algorithm cannot do, since a library has its own way with such ranks, is left out. */
static enum ar_status find_collective(const struct ar_measured_request *request,
                                      const struct ar_logs *logs, const struct ar_log *run,
                                      const struct named_algorithm *named,
                                      struct ar_cluster *cluster, struct ar_arena *arena,
                                      struct ar_measured *measured, int *kind,
                                      struct ar_collective *collective, struct ar_error *err)
{
    struct ar_error why;
    bool is_of_harness = run->format == AR_LOG_HARNESS;
    if (run->ranks == 0) {
        return ar_log_check(run, err);
    }
    /* `window: 8 slots of at most 262144 bytes` at the head of a file of the harness. */
    const struct ar_csv_directive *line =
        logs->csv != NULL ? ar_csv_find_directive(logs->csv, "window") : NULL;
    unsigned long window =
        line != NULL && isdigit((unsigned char)line->value[0]) ? strtoul(line->value, NULL, 10) : 0;
    bool has_window =
        window > 0 && window <= AR_WINDOW_MAX && !ar_scenario_has(request->scenario, AR_KEY_WINDOW);
    *collective = (struct ar_collective){
        .operation = ar_log_operation(run->collective),
        .algorithm = named->algorithm,
        .channels = named->channels * (is_of_harness ? 1 : ar_algorithm_channels(named->algorithm)),
        .window = has_window ? (uint32_t)window : request->scenario->window,
        .element_bytes = 4,
        .has_plain_orders = is_of_harness};
    AR_TRY(find_machine(request, run, cluster, arena, measured, kind, &collective->cluster, err));
    if (*kind != RUN_MESSAGES) {
        return AR_OK;
    }
    AR_TRY(find_shape(run, named->shape, ar_cluster_facts(collective->cluster)->gpus_per_node,
                      named->algorithm, &collective->shape, err));
    /* The size of an element. A log of nccl-tests counts the elements of one part. */
    bool is_of_parts =
        run->format != AR_LOG_HARNESS && ar_log_operation(run->collective)->has_parts;
    uint64_t parts = is_of_parts ? run->ranks : 1;
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        uint64_t bytes =
            row->count > 0 ? row->payload_bytes / parts / row->count : collective->element_bytes;
        bool is_known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        AR_LOG_REFUSE(!is_known || (i > 0 && bytes != collective->element_bytes), run, row->line,
                      err,
                      "found elements of %" PRIu64
                      " bytes; expected 1, 2, 4 or 8, the same in all rows of a run",
                      bytes);
        collective->element_bytes = (uint32_t)bytes;
    }
    if (ar_collective_check(collective, &why) == AR_OK) {
        return AR_OK;
    }
    *kind = AR_LEFT_RANKS;
    AR_LOG_REFUSE(run->format != AR_LOG_PUBLISHED, run, run->first_line, err, "%s", why.text);
    return AR_OK;
}

/* --- one run ------------------------------------------------------------------------------- */

/* Refuses a run whose results are wrong, or that the cluster cannot have run. */
static enum ar_status check_run(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                struct ar_error *err)
{
    AR_TRY(ar_log_check(run, err));
    AR_LOG_REFUSE(run->nodes == 0, run, run->first_line, err,
                  "the log does not say on how many nodes it ran; expected it to");
    AR_LOG_REFUSE(run->nodes > facts->nodes_count, run, run->first_line, err,
                  "found %" PRIu32 " nodes; expected at most %" PRIu32 ", all that cluster %s has",
                  run->nodes, facts->nodes_count, facts->name);
    AR_LOG_REFUSE(run->ranks % run->nodes != 0 || run->ranks / run->nodes > facts->gpus_per_node,
                  run, run->first_line, err,
                  "found %" PRIu32 " ranks on %" PRIu32
                  " node%s; expected equally many on each, at most %" PRIu32
                  ", the GPUs of a node of cluster %s",
                  run->ranks, run->nodes, run->nodes == 1 ? "" : "s", facts->gpus_per_node,
                  facts->name);
    return AR_OK;
}

/* All runs that name a library, a GPU or a backend must name the same one. */
static enum ar_status check_same(const struct ar_log *run, const char *what, const char *found,
                                 char known[AR_LOG_TEXT], struct ar_error *err)
{
    if (found[0] == '\0' || strcmp(found, known) == 0) {
        return AR_OK;
    }
    if (known[0] == '\0') {
        ar_copy_text(known, AR_LOG_TEXT, found);
        return AR_OK;
    }
    return ar_error_in_line(err, run->path, run->first_line,
                            "found %s \"%.80s\"; expected \"%.80s\", as in the runs before", what,
                            found, known);
}

/* Adds the rows of a run: calls, or messages of a collective. Rows of no bytes, which cost only the
 * call, are counted and left out. */
static enum ar_status add_run_rows(const struct ar_measured_request *request,
                                   const struct ar_log *run, bool is_call, bool is_known,
                                   const struct ar_collective *collective,
                                   struct ar_measured *measured, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(request->scenario->cluster);
    const struct ar_algorithm *asked = NULL; /* NULL: everything, as of an operation without it */
    uint32_t hcas = ar_common_divisor(facts->hcas_per_node, run->ranks / run->nodes);
    struct ar_measured_row made = {.run = run,
                                   .operation = ar_log_operation(run->collective),
                                   .is_call = is_call,
                                   .is_known = is_known};
    if (request->algorithm_name != NULL) {
        (void)ar_algorithm_find_or_auto("algorithm", made.operation, request->algorithm_name,
                                        &asked, AR_IGNORED);
    }
    made.call.calls = ar_algorithm_calls(asked);
    made.call.run.nodes = run->nodes;
    made.call.run.ranks = run->ranks;
    made.call.run.sharers = run->nodes > 1 && hcas > 0 ? facts->hcas_per_node / hcas : 1;
    (void)ar_library_call_find(made.operation, &made.call.run.call);
    bool is_of_part = run->format == AR_LOG_OSU && made.operation->has_parts &&
                      run->collective != AR_LOG_REDUCE_SCATTER;
    if (is_of_part) {
        ar_note(request->notes,
                "%s:%" PRIu64 ": sizes of OSU's test of %s are those of one rank's part; payloads "
                "are of all %" PRIu32 " parts",
                run->path, run->first_line, ar_log_collective_name(run->collective), run->ranks);
    }
    if (run->is_graph) {
        ar_note(request->notes,
                "%s:%" PRIu64 ": calls in a CUDA graph (-G): small ones take less time than those "
                "that a process launches, which are predicted",
                run->path, run->first_line);
    }
    AR_EACH(const struct ar_log_row, row, run->rows, run->rows_count) {
        double time_s = row->out_of_place.time_s;
        uint64_t payload_bytes = row->payload_bytes * (is_of_part ? run->ranks : 1);
        if (payload_bytes == 0) {
            measured->empty_count++;
            continue;
        }
        AR_LOG_REFUSE(!(time_s > 0) || !isfinite(time_s), run, row->line, err,
                      "found no time; expected one in every row");
        made.call.time_s = time_s;
        made.call.run.bytes = (double)payload_bytes;
        uint32_t element_bytes = collective->element_bytes > 0 ? collective->element_bytes : 4;
        made.messages = (struct ar_link_row){
            .collective = *collective,
            .elements = (payload_bytes + collective->element_bytes - 1) / element_bytes,
            .bytes = made.call.run.bytes,
            .time_s = time_s};
        if (!is_call && run->algorithm[0] == '\0' && collective->algorithm->nccl_chunks != NULL) {
            made.messages.collective.shape.parts = collective->algorithm->nccl_chunks(
                &collective->shape, payload_bytes, collective->channels);
        }
        measured->rows[measured->rows_count++] = made;
        measured->calls_count += is_call;
    }
    AR_TRY(ar_library_nodes_add(&measured->nodes, run->nodes, err));
    return ar_library_nodes_add(&measured->gpus, run->ranks, err);
}

static void leave_run(struct ar_measured_left *left, const struct ar_log *run)
{
    left->first = left->first != NULL ? left->first : run;
    left->rows_count += run->rows_count;
}

/* Takes a run or leaves it out. Operations that are not modelled are left out of any log, other
 * runs of tables alone, which are of several libraries. */
static enum ar_status take_run(const struct ar_measured_request *request, size_t path,
                               const struct ar_log *run, struct ar_cluster *cluster,
                               struct ar_arena *arena, struct ar_measured *measured,
                               struct ar_error *err)
{
    bool is_table = run->format == AR_LOG_PUBLISHED;
    bool is_known = path < request->known_count;
    bool has_end = run->format == AR_LOG_NCCL_TEXT || run->format == AR_LOG_NCCL_JSON;
    struct ar_collective collective = {.algorithm = NULL};
    struct named_algorithm named = {NULL, "", 1};
    if (has_end && !run->is_complete) {
        ar_note(request->notes,
                "%s:%" PRIu64 ": the run has no closing lines (cut off, or copied in part); "
                "rows that are used: %zu",
                run->path, run->first_line, run->rows_count);
        if (run->rows_count == 0) {
            return AR_OK;
        }
    }
    int kind = classify_run(request, run, ar_cluster_facts(cluster), &named);
    if (kind == RUN_MESSAGES) {
        AR_TRY(find_collective(request, measured->logs[path], run, &named, cluster, arena, measured,
                               &kind, &collective, err));
    }
    bool may_be_left = is_table || run->format == AR_LOG_HARNESS ||
                       (kind == AR_LEFT_OPERATION && run->rows_count > 0);
    if (kind < AR_LEFT_REASONS && may_be_left) {
        if (!is_known || request->known_count == request->paths_count) {
            leave_run(&measured->left[kind], run);
        }
        return AR_OK;
    }
    AR_TRY(
        check_run(run, ar_cluster_facts(kind == RUN_MESSAGES ? collective.cluster : cluster), err));
    AR_LOG_REFUSE(kind < AR_LEFT_REASONS, run, run->first_line, err,
                  "found rows of %s; expected those of an operation with algorithm \"%.40s\"",
                  ar_log_operation(run->collective)->command,
                  request->algorithm_name != NULL ? request->algorithm_name : "linear");
    if (kind == RUN_MESSAGES && run->format == AR_LOG_HARNESS) {
        AR_TRY(check_same(run, "backend", run->tool, measured->backend, err));
    }
    if (!is_table) {
        AR_TRY(check_same(run, "library", run->library, measured->library, err));
        AR_TRY(check_same(run, "GPU", run->gpu, measured->gpu, err));
    }
    return add_run_rows(request, run, kind == RUN_CALL, is_known, &collective, measured, err);
}

/* --- all logs ------------------------------------------------------------------------------ */

/* Reads the logs, once, since they may be pipes. Gives runs the nodes and ranks that the request
 * knows and the log does not say. */
static enum ar_status load_logs(const struct ar_measured_request *request, struct ar_arena *arena,
                                struct ar_measured **measured, struct ar_error *err)
{
    uint32_t gpus = ar_cluster_facts(request->scenario->cluster)->gpus_per_node;
    size_t runs = 0;
    struct ar_measured *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_REFUSE(
        request->paths_count == 0, err, AR_USAGE,
        "%s: no log; expected files of nccl-tests, of the harness or of published measurements",
        request->command);
    for (size_t i = request->known_count; i < request->paths_count; i++) {
        for (size_t j = request->known_count; j < i; j++) {
            AR_REFUSE(strcmp(request->paths[i], request->paths[j]) == 0, err, AR_USAGE,
                      "%s: found log \"%.200s\" twice; expected once", request->command,
                      request->paths[i]);
        }
    }
    made->request = request;
    made->logs = ar_arena_alloc(arena, request->paths_count, sizeof *made->logs);
    for (size_t i = 0; i < request->paths_count; i++) {
        struct ar_logs *logs;
        uint32_t nodes =
            request->log_nodes != NULL ? (uint32_t)request->log_nodes[i] : request->nodes;
        AR_TRY(ar_logs_load(request->paths[i], arena, &logs, err));
        made->logs[i] = logs;
        AR_EACH(struct ar_log, run, logs->runs, logs->runs_count) {
            run->nodes = run->nodes > 0 ? run->nodes : nodes;
            run->ranks = run->ranks > 0 ? run->ranks : nodes * gpus;
            made->rows_capacity += run->rows_count;
        }
        runs += logs->runs_count;
    }
    made->rows = ar_arena_alloc(arena, made->rows_capacity + 1, sizeof *made->rows);
    made->machines = ar_arena_alloc(arena, runs + 1, sizeof *made->machines);
    *measured = made;
    return AR_OK;
}

/* Where no row was taken: names a reason. */
static enum ar_status refuse_empty(const struct ar_measured_request *request,
                                   const struct ar_measured *measured, struct ar_error *err)
{
    static const char expected[] =
        "expected calls of a library (of the harness: algorithms nccl-allreduce, ...), or "
        "algorithms of 'allreckon list algorithms', on the machine of the cluster or set";
    for (int i = 0; i < AR_LEFT_REASONS; i++) {
        const struct ar_log *first = measured->left[i].first;
        if (first != NULL) {
            const char *name = i == AR_LEFT_ALGORITHM   ? first->algorithm
                               : i != AR_LEFT_OPERATION ? ""
                               : first->collective_name[0] != '\0'
                                   ? first->collective_name
                                   : ar_log_collective_name(first->collective);
            return ar_error_in_line(err, first->path, first->first_line, "found %s%s%.40s; %s",
                                    ar_measured_left_texts[i], name[0] != '\0' ? ": " : "", name,
                                    expected);
        }
    }
    return ar_error_set(err, AR_BAD_DATA, "%s: found no row; %s", request->command, expected);
}

/* Says what logs leave open and a default decides, of the rows that were taken. */
static void note_assumed(const struct ar_measured_request *request,
                         const struct ar_measured *measured)
{
    const struct ar_log *inferred = NULL, *foreign = NULL;
    size_t inferred_count = 0, foreign_count = 0;
    AR_EACH(const struct ar_measured_row, row, measured->rows, measured->rows_count) {
        const struct ar_log *run = row->run;
        bool is_foreign =
            row->is_call && run->format == AR_LOG_OSU && strstr(run->library, "NCCL") == NULL;
        inferred = inferred == NULL && run->is_inferred ? run : inferred;
        inferred_count += run->is_inferred;
        foreign = foreign == NULL && is_foreign ? run : foreign;
        foreign_count += is_foreign;
    }
    if (inferred != NULL) {
        ar_note(request->notes,
                "%zu rows (first %s:%" PRIu64 ") do not say of which collective they are: these "
                "are taken for %s, as their rates are (those of all-to-all and all-gather look "
                "alike; a file's name such as alltoall_perf.log tells)",
                inferred_count, inferred->path, inferred->first_line,
                ar_log_collective_name(inferred->collective));
    }
    if (foreign != NULL) {
        ar_note(request->notes,
                "%zu rows (first %s:%" PRIu64 ") are of OSU's test of %s, not of NCCL: they are "
                "priced as calls of NCCL",
                foreign_count, foreign->path, foreign->first_line, foreign->library);
    }
}

enum ar_status ar_measured_load(const struct ar_measured_request *request,
                                struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_measured **loaded, struct ar_error *err)
{
    const struct ar_log *first = NULL; /* of a system: rows of several are not of one cluster */
    struct ar_measured *measured = NULL;
    AR_TRY(load_logs(request, arena, &measured, err));
    *loaded = measured;
    for (size_t i = 0; i < request->paths_count; i++) {
        AR_EACH(const struct ar_log, run, measured->logs[i]->runs, measured->logs[i]->runs_count) {
            /* Beside the rows of a set a run has to name the system, else it need not. */
            bool may_be_any = run->system[0] == '\0' && request->known_count == 0;
            bool is_other =
                request->system != NULL && !may_be_any && strcmp(run->system, request->system) != 0;
            if (is_other || (request->ranks_per_node != 0 &&
                             run->ranks != run->nodes * request->ranks_per_node)) {
                if (i >= request->known_count) {
                    leave_run(&measured->left[AR_LEFT_SYSTEM], run);
                }
                continue;
            }
            first = first == NULL && run->system[0] != '\0' ? run : first;
            AR_LOG_REFUSE(run->system[0] != '\0' && strcmp(run->system, first->system) != 0, run,
                          run->first_line, err,
                          "found system \"%.60s\" behind \"%.60s\"; expected one, or the shipped "
                          "cluster or measured set of one ('allreckon list sets')",
                          run->system, first->system);
            AR_TRY(take_run(request, i, run, cluster, arena, measured, err));
        }
    }
    note_assumed(request, measured);
    measured->is_by_gpus = measured->calls_count == 0 && measured->nodes.count == 1;
    for (int i = 0; i < AR_LEFT_REASONS; i++) {
        const struct ar_log *run = measured->left[i].first;
        if (run != NULL) {
            ar_note(request->notes,
                    "%s: %zu rows not used (first %s:%" PRIu64 ", %s%s%.40s on %" PRIu32
                    " ranks): of %s%s%s",
                    request->command, measured->left[i].rows_count, run->path, run->first_line,
                    ar_log_collective_name(run->collective), run->algorithm[0] != '\0' ? " " : "",
                    run->algorithm, run->ranks, ar_measured_left_texts[i],
                    i == AR_LEFT_ALGORITHM ? " (validate/data/called.csv has those that are)" : "",
                    measured->left[i].why != NULL
                        ? ar_arena_format(arena, " (%s)", measured->left[i].why)
                        : "");
        }
    }
    return measured->rows_count > 0 ? AR_OK : refuse_empty(request, measured, err);
}

/* --- properties ----------------------------------------------------------------- */

const struct ar_library_nodes *ar_measured_groups(const struct ar_measured *measured)
{
    return measured->is_by_gpus ? &measured->gpus : &measured->nodes;
}

uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_measured_row *row)
{
    return measured->is_by_gpus ? row->call.run.ranks : row->call.run.nodes;
}

const char *ar_measured_unit(const struct ar_measured *measured)
{
    return measured->is_by_gpus ? "GPU" : "node";
}

const char *ar_measured_algorithm(const struct ar_measured_row *row,
                                  char text[AR_MEASURED_ALGORITHM])
{
    snprintf(text, AR_MEASURED_ALGORITHM, "%s/%s", row->operation->command,
             row->messages.collective.algorithm->name);
    return text;
}

void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes)
{
    if (release != NULL && measured->library[0] != '\0' &&
        strstr(measured->library, release) == NULL) {
        ar_note(notes, "the logs are of %s; choices and priors are those of NCCL %s",
                measured->library, release);
    }
}
