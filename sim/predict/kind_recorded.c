/* A step that another program wrote down: its tasks are as they are, laid out on a mesh. */
#include <inttypes.h>

#include "ar_row.h"
#include "kinds.h"

/* The sizes that the file says, unless --mesh does. --gpus makes more or fewer replicas. */
static enum ar_status take_recorded_mesh(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_layout *layout = &scenario->layout;
    const struct ar_recorded *recorded = layout->recorded;
    uint32_t gpus = scenario->gpus > 0 ? scenario->gpus : recorded->gpus;
    if (scenario->mesh.axes_count > 0 || gpus == 0 || (recorded->gpus == 0 && recorded->tp == 0)) {
        return layout_take_mesh(scenario, err);
    }
    const uint32_t sizes[AR_AXES_COUNT] = {[AR_AXIS_PP] = recorded->pp > 0 ? recorded->pp : 1,
                                           [AR_AXIS_REP] = 1,
                                           [AR_AXIS_DP] = 1,
                                           [AR_AXIS_EP] = recorded->ep > 0 ? recorded->ep : 1,
                                           [AR_AXIS_CP] = 1,
                                           [AR_AXIS_TP] = recorded->tp > 0 ? recorded->tp : 1};
    uint64_t each = 1;
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        layout->sizes[axis] = sizes[axis];
        each *= each > UINT32_MAX ? 1 : sizes[axis];
    }
    AR_SCENARIO_REFUSE(gpus % each != 0, scenario, AR_KEY_WORKLOAD, err,
                       "found pp=%" PRIu32 ", ep=%" PRIu32 ", tp=%" PRIu32 " in %.100s on %" PRIu32
                       " GPUs; expected a multiple of their product, or --mesh",
                       sizes[AR_AXIS_PP], sizes[AR_AXIS_EP], sizes[AR_AXIS_TP], recorded->path,
                       gpus);
    layout->sizes[AR_AXIS_DP] = (uint32_t)(gpus / each);
    scenario->gpus = gpus;
    return AR_OK;
}

static enum ar_status recorded_load(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_input *input;
    const char *where = ar_scenario_where(scenario, AR_KEY_WORKLOAD);
    AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_RECORDED, where, scenario->workload_name,
                          &input, err));
    scenario->layout.recorded = input->recorded;
    const struct ar_recorded *recorded = input->recorded;
    for (int i = 0; i < AR_KEYS_COUNT; i++) { /* none that lays out a model: its tasks are made */
        enum ar_key key = (enum ar_key)i;
        bool lays_out = key == AR_KEY_STRATEGY ||
                        (ar_key_is(key, AR_KEY_OF_LAYOUT) && !ar_key_is(key, AR_KEY_OF_PLACED));
        AR_SCENARIO_REFUSE(lays_out && ar_scenario_has(scenario, key), scenario, key, err,
                           "found with the workload of a file, whose tasks are made; expected it "
                           "with a name of 'allreckon list workloads'");
    }
    AR_TRY(take_recorded_mesh(scenario, err));
    scenario->layout.precision = scenario->precision;
    if (scenario->gpus == 0) {
        AR_TRY(ar_scenario_require(scenario, AR_KEY_GPUS, err));
    }
    /* A step that sends along axes of one GPU each is none of this mesh. */
    const uint32_t *sizes = scenario->layout.sizes;
    AR_SCENARIO_REFUSE(
        sizes[AR_AXIS_PP] > 1 && recorded->pp <= 1, scenario, AR_KEY_MESH, err,
        "found pp=%" PRIu32
        " for %.100s, which has no stages of a pipeline; expected dp, ep and tp alone",
        sizes[AR_AXIS_PP], recorded->path);
    enum ar_axis unknown = sizes[AR_AXIS_REP] > 1 ? AR_AXIS_REP : AR_AXIS_CP;
    AR_SCENARIO_REFUSE(sizes[unknown] > 1, scenario, AR_KEY_MESH, err,
                       "found %s=%" PRIu32
                       " for %.100s, whose groups are not along it; expected dp, ep and tp alone",
                       ar_axis_names[unknown], sizes[unknown], recorded->path);
    for (uint32_t i = 0; i < recorded->tasks_count && scenario->gpus > 1 && recorded->gpus == 0;
         i++) {
        const struct ar_recorded_task *task = &recorded->tasks[i];
        uint32_t axes = ar_recorded_axes(task->groups), ranks = 1;
        for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
            ranks *= (axes >> axis & 1) != 0 ? sizes[axis] : 1;
        }
        if (task->operation != NULL && ranks == 1) {
            const char *axis =
                ar_axis_names[__builtin_ctz(axes | 1u << AR_AXIS_TP)]; /* the first */
            const char *line = ar_arena_format(scenario->arena, ":%" PRIu64, task->line);
            return ar_scenario_refuse(scenario, AR_KEY_WORKLOAD, err,
                                      "%.100s%s: found %s along %s, which has one GPU; expected "
                                      "more, by --mesh dp=N,%s=M",
                                      recorded->path, task->line > 0 ? line : "", task->operation,
                                      axis, axis[0] == 'd' ? "tp" : axis);
        }
    }
    return ar_scenario_check_gpus(scenario, err);
}

static void recorded_note(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_recorded *recorded = scenario->layout.recorded;
    ar_note(notes,
            "%.200s: %" PRIu32 " tasks of %s on each GPU; computations take the time that "
            "the file says, whatever the GPUs of the cluster; collectives by %s",
            recorded->path, recorded->tasks_count, recorded->form,
            ar_engine_choice(scenario->engine, scenario->algorithm, "rings"));
    uint32_t tp = scenario->layout.sizes[AR_AXIS_TP];
    if (recorded->tp > 0 && tp != recorded->tp) {
        ar_note(notes,
                "computations are those of tp=%" PRIu32
                ", as the file says; the mesh has tp=%" PRIu32,
                recorded->tp, tp);
    }
    for (const char *const *note = recorded->notes; *note != NULL; note++) {
        ar_note(notes, "%s", *note);
    }
    ar_note_links(notes, scenario, scenario->gpus);
}

const struct ar_kind ar_kind_recorded = {.name = "a recorded workload",
                                         .keys = AR_KEY_OF_LAYOUT,
                                         .has_layout = true,
                                         .load = recorded_load,
                                         .graph = layout_make_graph,
                                         .describe = layout_describe,
                                         .fill = layout_fill,
                                         .note = recorded_note,
                                         .cost_s = layout_cost_s};
