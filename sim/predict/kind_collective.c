/* One collective, or the same one in all groups of a mesh at once. */

#include "ar_closed.h"
#include "ar_row.h"
#include "ar_text.h"
#include "kinds.h"

/* A mesh says how many GPUs there are, and along which axis if it has one only. */
static enum ar_status collective_load(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_mesh *mesh = &scenario->mesh;
    AR_TRY(ar_scenario_take_mesh(scenario, err));
    AR_SCENARIO_REFUSE(
        mesh->axes_count > 1 && !ar_scenario_has(scenario, AR_KEY_ALONG), scenario, AR_KEY_MESH,
        err, "found %s without --along; expected the axes along which it runs", AR_SHOW_MESH(mesh));
    AR_SCENARIO_REFUSE(!ar_precision_is_sent(scenario->precision), scenario, AR_KEY_PRECISION, err,
                       "found %s, of products alone; expected what --gradients takes",
                       ar_precision_names[scenario->precision]);
    mesh->axes[0].is_along = mesh->axes[0].is_along || mesh->axes_count == 1;
    bool has_payload = scenario->payload_bytes > 0;
    AR_TRY(has_payload ? ar_scenario_check_payload(scenario, err) : AR_OK);
    bool is_known = has_payload || ar_scenario_has(scenario, AR_KEY_ALGORITHM);
    return is_known && scenario->gpus > 0 ? ar_scenario_settle(scenario, err) : AR_OK;
}

static void collective_complete_job(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->elements = scenario->payload_bytes / ar_precisions[scenario->precision].unit_bytes;
    job->framework = NULL; /* nothing is computed beside it */
    job->jitter_frac = 0;
    job->iterations_count = 1;
    job->stragglers_count = 0;
}

static void collective_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    row->payload_bytes = scenario->payload_bytes;
    ar_copy_text(row->operation, sizeof row->operation, scenario->operation->command);
    if (scenario->mesh.axes_count > 0) {
        ar_mesh_format(&scenario->mesh, row->mesh);
        ar_mesh_format_along(&scenario->mesh, row->along);
        row->groups = ar_scenario_groups(scenario);
    }
    row->root = scenario->operation->has_root ? scenario->root : row->root;
}

void fill_trial(const struct ar_trial *trial, struct ar_row *row)
{
    bool is_alone = ar_shape_ranks(&trial->collective.shape) == 1;
    ar_copy_text(row->engine_options, sizeof row->engine_options, trial->options);
    if (trial->library != NULL || (trial->flows == NULL && !is_alone)) {
        return; /* no closed form: the parts are not known */
    }
    row->setup_s = row->latency_s = row->bandwidth_s = row->reduction_s = 0;
    for (uint32_t i = 0; i < trial->calls_count && !is_alone; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(trial->flows, trial->calls[i].elements, &time);
        row->setup_s += time.setup_s;
        for (uint32_t phase = 0; phase < time.phases_count; phase++) {
            row->reduction_s += time.phases[phase].reduction_s;
            for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
                row->latency_s += time.phases[phase].latency_s[tier];
                row->bandwidth_s += time.phases[phase].bandwidth_s[tier];
            }
        }
    }
}

static void collective_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                            struct ar_row *row)
{
    row->allreduce_s = timing->iteration_s;
    row->low_s = timing->low_s;
    row->high_s = timing->high_s;
    if (row->allreduce_s > 0) {
        row->algbw_Bps = (double)scenario->payload_bytes / row->allreduce_s;
        row->busbw_Bps = ar_operation_busbw_Bps(scenario->operation, row->algbw_Bps,
                                                ar_shape_ranks(&timing->trial.collective.shape));
    }
    if (timing->trial.flows != NULL) {
        row->energy_j = (double)(timing->job->elements * timing->job->collective.element_bytes) /
                        timing->job->collective.channels * timing->trial.flows->energy_j_per_byte;
    }
    fill_trial(&timing->trial, row);
}

static enum ar_status collective_make_graph(const struct ar_job *job,
                                            const struct ar_slowdown *slowdown,
                                            struct ar_timing *timing, struct ar_error *err)
{
    (void)slowdown; /* nothing is computed */
    (void)err;
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = job->collective.operation,
                                 .bytes = job->elements * job->collective.element_bytes};
    timing->graph = ar_graph_create(timing->arena, 1);
    const struct ar_task task = {
        .work = ar_graph_work(timing->graph, &work), .stream = AR_STREAM_COMPUTE, .count = 1};
    ar_graph_add(timing->graph, &task);
    return AR_OK;
}

const struct ar_kind ar_kind_collective = {.name = "a collective",
                                           .keys = AR_KEY_OF_STEP | AR_KEY_OF_BARE,
                                           .is_collective = true,
                                           .load = collective_load,
                                           .job = collective_complete_job,
                                           .graph = collective_make_graph,
                                           .describe = collective_describe,
                                           .fill = collective_fill,
                                           .note = collective_note,
                                           .cost_s = collective_cost_s};
