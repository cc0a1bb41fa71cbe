/* boxing: what turns one placement of a tensor into another. */
#include <inttypes.h>

#include "ar_boxing.h"
#include "ar_row.h"
#include "ar_text.h"
#include "ar_units.h"
#include "commands.h"

#define BOXING_LIST(X)                                                                             \
    X(word, axis, "axis of the mesh along which it runs, or to other GPUs", .heading = "along")    \
    X(word, operation, "what a group does", .heading = "operation")                                \
    X(count, groups, "groups that do it at once, or messages", .heading = "groups")                \
    X(count, payload_bytes, "of a group, as nccl-tests counts it", .heading = "payload (B)")       \
    X(number, sent_bytes, "sent by all GPUs of all groups", .heading = "sent (B)", .decimals = 0)  \
    X(number, time_s, "on the cluster, by the engine", .heading = "time (us)", .factor = 1e6,      \
      .decimals = 2, .is_rare = true)

struct boxing_row {
    BOXING_LIST(AR_LIST_FIELD)
};

#define COLUMN(kind, field, ...) AR_COLUMN(kind, struct boxing_row, field, #field, __VA_ARGS__),
static const struct ar_column columns[] = {BOXING_LIST(COLUMN)};

static enum ar_status read_placements(const char *where, const char *text,
                                      const struct ar_mesh *mesh, struct ar_placements *placements,
                                      struct ar_error *err)
{
    AR_TRY(ar_placements_parse(where, text, placements, err));
    AR_REFUSE(placements->axes_count != mesh->axes_count, err, AR_USAGE,
              "%s: found %s for %" PRIu32 " axes; expected a placement for each axis of the mesh",
              where, text, mesh->axes_count);
    return AR_OK;
}

/* The request: two placements of a tensor on a mesh, or from p GPUs to q others. */
struct boxing_request {
    const struct options *options;
    struct ar_mesh mesh; /* of other GPUs: their only axis */
    struct ar_placements from, to;
    uint64_t tensor_bytes;
    uint32_t p, q; /* from p GPUs to q others; q 0: on the mesh */
};

/* Times a step on the cluster, as the collective alone. */
static enum ar_status time_collective(const struct boxing_request *request,
                                      const struct ar_boxing_step *step, double *time_s,
                                      struct ar_error *err)
{
    const key_set own = KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_GPUS);
    const struct ar_mesh *mesh = &request->mesh;
    struct ar_scenario scenario;
    struct ar_row row;
    AR_TRY(options_scenario(request->options, own, &scenario, err));
    scenario.operation = step->operation;
    scenario.payload_bytes = step->payload_bytes;
    const char *axes = AR_SHOW_MESH(mesh); /* the scenario borrows it */
    AR_TRY(ar_scenario_set(&scenario, AR_KEY_MESH, NULL, axes, err));
    AR_TRY(ar_scenario_set(&scenario, AR_KEY_ALONG, NULL, mesh->axes[step->axis].name, err));
    AR_TRY(ar_scenario_load(&scenario, err));
    AR_TRY(ar_scenario_check_payload(&scenario, err));
    AR_TRY(ar_scenario_settle(&scenario, err));
    AR_TRY(ar_run(&scenario, &row, err));
    *time_s = row.allreduce_s;
    return AR_OK;
}

/* Times the messages to other GPUs, one at a time through each port. */
static enum ar_status time_messages(const struct boxing_request *request, double *time_s,
                                    struct ar_error *err)
{
    struct ar_scenario scenario;
    const key_set own = KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_GPUS);
    AR_TRY(options_scenario(request->options, own, &scenario, err));
    AR_TRY(option_check_messages(request->options, &scenario, err));
    AR_TRY(ar_scenario_load_cluster(&scenario, err));
    scenario.gpus = request->p + request->q;
    AR_TRY(ar_scenario_check_gpus(&scenario, err));
    /* The messages are operators: one sends each message, one on each GPU needs those to it. */
    uint64_t count = (uint64_t)request->p * request->q;
    struct ar_arena *arena = request->options->arena;
    struct ar_operators *operators;
    AR_TRY(ar_operators_create("--to-gpus", count + request->q, arena, &operators, err));
    uint32_t *devices = ar_arena_alloc(arena, count + request->q, sizeof *devices);
    uint32_t *targets = ar_arena_alloc(arena, count, sizeof *targets);
    for (uint64_t k = 0; k < count; k++) { /* first each to its own place, then to the next */
        uint32_t i = (uint32_t)(k % request->p), j = (uint32_t)((k / request->p + i) % request->q);
        double bytes =
            ar_boxing_message_bytes(&request->from.axes[0], request->p, &request->to.axes[0],
                                    request->q, request->tensor_bytes, i, j);
        devices[k] = i;
        targets[k] = bytes > 0 ? j : request->q;
        ar_operators_add(operators, &(struct ar_operator){.output_bytes = (uint64_t)bytes});
    }
    for (uint32_t j = 0; j < request->q; j++) {
        devices[operators->count] = request->p + j;
        ar_operators_add(operators, &(struct ar_operator){.time_s = 0});
        for (uint64_t k = 0; k < count; k++) {
            if (targets[k] == j) {
                ar_operators_need(operators, (uint32_t)k);
            }
        }
    }
    AR_TRY(ar_operators_settle(operators, arena, err));
    const struct ar_hops hops = ar_cluster_hops(scenario.cluster);
    struct ar_graph *graph = ar_operators_graph(operators, devices, scenario.gpus, &hops, arena);
    AR_TRY(ar_graph_schedule(graph, err));
    *time_s = ar_graph_end_s(graph);
    return AR_OK;
}

enum ar_status command_boxing(const struct options *options, struct ar_error *err)
{
    struct boxing_request request = {.options = options};
    struct ar_boxing boxing;
    struct boxing_row rows[AR_BOXING_AXES_MAX];
    struct ar_view view;
    AR_TRY(option_required(options, "payload", options->payloads, err));
    AR_TRY(ar_error_blame(
        ar_parse_bytes("--payload", options->payloads, &request.tensor_bytes, err), AR_USAGE, err));
    AR_TRY(option_view(options, AR_COLUMNS(columns), &view, err));
    const char *mesh = option_key(options, AR_KEY_MESH), *where = "--mesh";
    uint32_t sizes[AR_BOXING_AXES_MAX];
    uint64_t p = 0, q = 0;
    char text[32];
    AR_REFUSE(options->to_gpus != NULL && mesh != NULL, err, AR_USAGE,
              "--to-gpus: found with --mesh; expected --gpus, the GPUs that have the tensor");
    if (mesh == NULL) {
        uint64_t max = options->to_gpus != NULL ? AR_BOXING_GPUS_MAX : UINT32_MAX;
        AR_TRY(option_require_key(options, AR_KEY_GPUS, err));
        AR_TRY(option_count("--gpus", option_key(options, AR_KEY_GPUS), 1, max, &p, err));
        AR_TRY(option_count("--to-gpus", options->to_gpus, 1, max, &q, err));
        where = q > 0 ? "--to-gpus" : "--mesh";
        snprintf(text, sizeof text, "%s=%" PRIu64, q > 0 ? "others" : "gpus", q > 0 ? q : p);
        mesh = text;
    }
    request.p = (uint32_t)p;
    request.q = (uint32_t)q;
    AR_TRY(ar_mesh_parse(where, mesh, &request.mesh, err));
    const char *const *names = options->arguments;
    AR_TRY(read_placements(names[0], names[0], &request.mesh, &request.from, err));
    AR_TRY(read_placements(names[1], names[1], &request.mesh, &request.to, err));
    for (uint32_t i = 0; i < request.mesh.axes_count; i++) {
        sizes[i] = request.mesh.axes[i].size;
    }
    if (request.q > 0) {
        ar_boxing_between(&request.from.axes[0], request.p, &request.to.axes[0], request.q,
                          request.tensor_bytes, &boxing);
    } else {
        ar_boxing_make(&request.from, &request.to, sizes, request.tensor_bytes, &boxing);
    }
    for (uint32_t i = 0; i < boxing.steps_count; i++) {
        const struct ar_boxing_step *step = &boxing.steps[i];
        bool is_between = step->operation == &ar_operation_send;
        ar_record_clear(AR_COLUMNS(columns), &rows[i]);
        ar_copy_text(rows[i].axis, sizeof rows[i].axis,
                     is_between ? "gpus to others" : request.mesh.axes[step->axis].name);
        rows[i].sent_bytes = step->bytes;
        if (step->operation == NULL) {
            ar_copy_text(rows[i].operation, sizeof rows[i].operation, "nothing to send");
            continue;
        }
        ar_copy_text(rows[i].operation, sizeof rows[i].operation, step->operation->command);
        rows[i].groups = step->groups;
        rows[i].payload_bytes = step->payload_bytes;
        if (option_key(options, AR_KEY_CLUSTER) != NULL) {
            AR_TRY(is_between ? time_messages(&request, &rows[i].time_s, err)
                              : time_collective(&request, step, &rows[i].time_s, err));
        }
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, AR_COLUMNS(columns), rows, boxing.steps_count);
    return AR_OK;
}
