/* boxing: what turns one placement of a tensor into another. */
#include <inttypes.h>

#include "ar_boxing.h"
#include "ar_text.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"

#define BOXING_LIST(X)                                                                             \
    X(word, axis, "axis of the mesh along which it runs", .heading = "along")                      \
    X(word, operation, "what a group does; empty: nothing is sent", .heading = "operation")        \
    X(count, groups, "groups that do it at once", .heading = "groups")                             \
    X(count, payload_bytes, "of a group, as nccl-tests counts it", .heading = "payload (B)")       \
    X(number, sent_bytes, "sent by all GPUs of all groups", .heading = "sent (B)", .decimals = 0)  \
    X(number, time_s, "on the cluster, by the engine", .heading = "time (us)", .factor = 1e6,      \
      .decimals = 2, .is_rare = true)

struct boxing_row {
#define X(kind, name, help, ...) ar_cell_##kind name;
    BOXING_LIST(X)
#undef X
};

static const struct ar_column columns[] = {
#define X(kind, field, ...) AR_COLUMN(kind, struct boxing_row, field, #field, __VA_ARGS__),
    BOXING_LIST(X)
#undef X
};

/* The mesh of the command line, or one axis of all GPUs. */
static enum ar_status read_mesh(const struct options *options, struct ar_mesh *mesh,
                                struct ar_error *err)
{
    char text[32];
    const char *given = option_key(options, AR_KEY_MESH);
    if (given == NULL) {
        uint64_t gpus;
        AR_TRY(option_require_key(options, AR_KEY_GPUS, err));
        AR_TRY(ar_error_as_usage(
            ar_parse_count("--gpus", option_key(options, AR_KEY_GPUS), 1, UINT32_MAX, &gpus, err),
            err));
        snprintf(text, sizeof text, "gpus=%" PRIu64, gpus);
        given = text;
    }
    return ar_mesh_parse("--mesh", given, mesh, err);
}

static enum ar_status read_placements(const char *where, const char *text,
                                      const struct ar_mesh *mesh, struct ar_placements *placements,
                                      struct ar_error *err)
{
    AR_TRY(ar_placements_parse(where, text, placements, err));
    return placements->axes_count == mesh->axes_count
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "%s: found %s for %" PRIu32 " axes; expected a placement for each "
                              "axis of the mesh",
                              where, text, mesh->axes_count);
}

/* The time of a step on the cluster, as of the collective alone. */
static enum ar_status time_step(const struct options *options, const struct ar_mesh *mesh,
                                const struct ar_boxing_step *step, double *time_s,
                                struct ar_error *err)
{
    const uint64_t own = KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_GPUS);
    char text[AR_MESH_TEXT];
    struct ar_inputs *inputs;
    struct ar_scenario scenario;
    struct ar_row row;
    AR_TRY(options_inputs(options, &inputs, err));
    AR_TRY(options_scenario(options, own, &scenario, err));
    scenario.operation = step->operation;
    scenario.payload_bytes = step->payload_bytes;
    const struct ar_origin origin = {.where = "--mesh", .status = AR_USAGE};
    AR_TRY(ar_scenario_set(&scenario, AR_KEY_MESH, &origin, ar_mesh_format(mesh, text), err));
    AR_TRY(ar_scenario_set(&scenario, AR_KEY_ALONG, &origin, mesh->axes[step->axis].name, err));
    AR_TRY(ar_scenario_load(&scenario, inputs, err));
    AR_TRY(ar_scenario_check_payload(&scenario, err));
    AR_TRY(ar_scenario_settle(&scenario, err));
    AR_TRY(ar_run(&scenario, &row, err));
    *time_s = row.allreduce_s;
    return AR_OK;
}

static enum ar_status fill_rows(const struct options *options, const struct ar_mesh *mesh,
                                const struct ar_boxing *boxing, struct boxing_row *rows,
                                struct ar_error *err)
{
    for (uint32_t i = 0; i < boxing->steps_count; i++) {
        const struct ar_boxing_step *step = &boxing->steps[i];
        ar_record_clear(AR_COLUMNS(columns), &rows[i]);
        ar_copy_text(rows[i].axis, sizeof rows[i].axis, mesh->axes[step->axis].name);
        rows[i].sent_bytes = step->bytes;
        if (step->operation == NULL) {
            continue;
        }
        ar_copy_text(rows[i].operation, sizeof rows[i].operation, step->operation->command);
        rows[i].groups = step->groups;
        rows[i].payload_bytes = step->payload_bytes;
        if (option_key(options, AR_KEY_CLUSTER) != NULL) {
            AR_TRY(time_step(options, mesh, step, &rows[i].time_s, err));
        }
    }
    return AR_OK;
}

enum ar_status command_boxing(const struct options *options, struct ar_error *err)
{
    struct ar_mesh mesh;
    struct ar_placements from, to;
    struct ar_boxing boxing;
    struct boxing_row rows[AR_BOXING_AXES_MAX];
    struct ar_view view;
    uint32_t sizes[AR_BOXING_AXES_MAX];
    uint64_t tensor_bytes;
    if (options->arguments_count != 2) {
        return ar_error_set(err, AR_USAGE,
                            "boxing: found %zu placement%s; expected two, such as P S0",
                            options->arguments_count, options->arguments_count == 1 ? "" : "s");
    }
    AR_TRY(option_required(options, "payload", options->payloads, err));
    AR_TRY(
        ar_error_as_usage(ar_parse_bytes("--payload", options->payloads, &tensor_bytes, err), err));
    AR_TRY(option_view(options, AR_COLUMNS(columns), &view, err));
    AR_TRY(read_mesh(options, &mesh, err));
    AR_TRY(read_placements(options->arguments[0], options->arguments[0], &mesh, &from, err));
    AR_TRY(read_placements(options->arguments[1], options->arguments[1], &mesh, &to, err));
    for (uint32_t i = 0; i < mesh.axes_count; i++) {
        sizes[i] = mesh.axes[i].size;
    }
    ar_boxing_make(&from, &to, sizes, tensor_bytes, &boxing);
    AR_TRY(fill_rows(options, &mesh, &boxing, rows, err));
    return ar_records_write(stdout, &view, AR_COLUMNS(columns), rows, boxing.steps_count,
                            sizeof rows[0], err);
}
