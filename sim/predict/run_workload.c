/* Steps of workloads run: from a scenario to a row. */
#include <inttypes.h>
#include <math.h>

#include "ar_note.h"
#include "ar_run.h"
#include "ar_text.h"
#include "ar_units.h"

void ar_run_describe_layout(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_layout *layout = &scenario->layout;
    struct ar_mesh mesh = ar_layout_mesh(layout, 0);
    ar_copy_text(row->trace, sizeof row->trace, scenario->workload_name);
    ar_mesh_format(&mesh, row->mesh);
    if (ar_scenario_is_uneven(scenario)) {
        row->jitter_frac = scenario->jitter_frac;
        row->seed = scenario->seed;
        row->iterations_count = scenario->iterations_count;
    }
    if (layout->recorded != NULL) {
        return;
    }
    row->global_batch = layout->global_batch;
    row->micro_batch = layout->micro_batch;
    snprintf(row->schedule, sizeof row->schedule, "%s", layout->schedule->name);
    if (layout->schedule->has_chunks) {
        snprintf(row->schedule, sizeof row->schedule, "%s:%u", layout->schedule->name,
                 layout->chunks);
    }
    ar_copy_text(row->recompute, sizeof row->recompute, ar_recompute_names[layout->recompute]);
    row->sequence_parallel = layout->is_sequence_parallel;
    ar_copy_text(row->attention, sizeof row->attention, ar_attention_names[layout->attention]);
    row->overlap = layout->overlaps;
    row->prefetch = layout->strategy->shards_all ? layout->prefetch : AR_ROW_NO_COUNT;
    row->imbalance = layout->model->experts > 0 ? layout->model->imbalance : NAN;
    ar_copy_text(row->wire, sizeof row->wire, ar_precision_names[layout->gradients]);
    struct ar_layout_memory memory = ar_layout_memory(layout);
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    row->memory_bytes = memory.states_bytes + memory.activations_bytes;
    row->fits = there > 0 ? row->memory_bytes <= there : AR_NO_FLAG;
}

void ar_run_fill_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                        struct ar_row *row)
{
    const struct ar_layout *layout = &timing->layout;
    const struct ar_graph_split *split = &timing->split;
    row->iteration_s = timing->iteration_s;
    row->forward_s = split->duty_s[AR_DUTY_FORWARD];
    row->backward_s = split->duty_s[AR_DUTY_BACKWARD];
    row->optimizer_s = split->duty_s[AR_DUTY_OPTIMIZER];
    row->compute_s = row->forward_s + row->backward_s + row->optimizer_s;
    row->bubble_s = timing->bubble_s;
    row->bubble_frac = timing->bubble_frac;
    row->exposed_pp_s = split->axis_s[AR_AXIS_PP];
    row->exposed_dp_s = split->axis_s[AR_AXIS_DP];
    row->exposed_ep_s = split->axis_s[AR_AXIS_EP];
    row->exposed_tp_s = split->axis_s[AR_AXIS_TP];
    row->exposed_s = timing->exposed_s;
    if (layout->recorded != NULL && layout->recorded->pp > 1) { /* one of the stages, alone */
        row->bubble_s = row->bubble_frac = row->exposed_pp_s = NAN;
    }
    row->contention_s = timing->contention_s > 0 ? timing->contention_s : NAN;
    row->iteration_ci95_s = ar_scenario_is_uneven(scenario) ? timing->iteration_ci95_s : NAN;
    if (layout->model == NULL) { /* recorded, or placed operators */
        return;
    }
    double gpus_s = timing->iteration_s * scenario->gpus;
    double peak = ar_device_peak_flops(scenario->cost, layout->precision);
    row->tokens_per_s = (double)layout->global_batch * layout->model->seq / timing->iteration_s;
    row->tflops_per_gpu = ar_layout_hardware_flop(layout) / gpus_s / 1e12;
    row->mfu_frac = ar_layout_model_flop(layout) / gpus_s / peak;
}

static void note_recorded(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_recorded *recorded = scenario->layout.recorded;
    ar_note(notes,
            "%.200s: %" PRIu32 " tasks of %s on each GPU; computations take the time that "
            "the file says, whatever the GPUs of the cluster; collectives by %s",
            recorded->path, recorded->tasks_count, recorded->form,
            scenario->engine->needs_library ? "the choice of the library"
            : scenario->algorithm != NULL   ? scenario->algorithm->name
                                            : "rings");
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
}

void ar_note_workload(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    if (layout->recorded != NULL) {
        note_recorded(notes, scenario);
        return;
    }
    struct ar_layout_memory memory = ar_layout_memory(layout);
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    char parameters[AR_UNIT_TEXT], states[AR_UNIT_TEXT], activations[AR_UNIT_TEXT],
        room[AR_UNIT_TEXT];
    snprintf(parameters, sizeof parameters, "%.4g", ar_transformer_parameters(layout->model) / 1e9);
    ar_note(notes,
            "%s: %s billion parameters; kernels by cost table %s: what a framework adds "
            "between them is left out",
            scenario->workload_name, parameters, scenario->cost->name);
    if (scenario->rates != NULL) {
        ar_note(notes, "kernels take %.4g times as long, by the measured rate of one replica",
                scenario->compute_factor);
    }
    bool has_replicas = ar_layout_replicas(layout) > 1;
    ar_note(notes,
            "as options or defaults have it: %s, attention %s, recompute %s, strategy %s with "
            "gradients in %s%s, collectives by %s",
            layout->schedule->name, ar_attention_names[layout->attention],
            ar_recompute_names[layout->recompute], layout->strategy->name,
            ar_precision_names[layout->gradients],
            has_replicas && layout->overlaps ? " beside the backward pass" : "",
            scenario->engine->needs_library ? "the choice of the library"
            : scenario->algorithm != NULL   ? scenario->algorithm->name
                                            : "rings");
    if (there > 0 && memory.states_bytes + memory.activations_bytes > there) {
        ar_note(notes,
                "does not fit: %s of parameters, gradients and optimizer and %s of activations on "
                "the fullest GPU; expected at most %s, gpu.memory",
                ar_format_bytes((uint64_t)memory.states_bytes, states),
                ar_format_bytes((uint64_t)memory.activations_bytes, activations),
                ar_format_bytes((uint64_t)there, room));
    }
}
