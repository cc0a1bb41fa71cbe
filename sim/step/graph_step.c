#include "ar_graph_step.h"

#include <stdlib.h>

#include "ar_clock.h"
#include "ar_text.h"
#include "ar_trial.h"

struct ar_mesh ar_graph_step_mesh(const struct ar_layout *layout, uint32_t axes)
{
    struct ar_mesh mesh = {.axes_count = 0};
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        bool is_along = (axes >> axis & 1) != 0;
        if (layout->sizes[axis] > 1 || is_along) {
            struct ar_mesh_axis *made = &mesh.axes[mesh.axes_count++];
            ar_copy_text(made->name, sizeof made->name, ar_axis_names[axis]);
            made->size = layout->sizes[axis];
            made->is_along = is_along;
        }
    }
    return mesh;
}

static const struct ar_algorithm *find_algorithm(const struct ar_graph_step *step,
                                                 const struct ar_operation *operation)
{
    if (step->algorithm != NULL && step->algorithm->operation == operation) {
        return step->algorithm;
    }
    for (size_t i = 0; i < ar_algorithms_count && !step->engine->needs_library; i++) {
        if (ar_algorithms[i]->operation == operation) {
            return ar_algorithms[i];
        }
    }
    return NULL;
}

/* A message goes from one stage to the next: two stages stand for all. */
static struct ar_collective collective_of(const struct ar_graph_step *step,
                                          const struct ar_work *work)
{
    struct ar_layout layout = step->layout;
    if (work->kind == AR_TASK_MESSAGE) {
        layout.sizes[AR_AXIS_PP] = 2;
    }
    const struct ar_algorithm *algorithm = find_algorithm(step, work->operation);
    struct ar_collective collective = {
        .cluster = step->cluster,
        .operation = work->operation,
        .algorithm = algorithm,
        .mesh = ar_graph_step_mesh(&layout, work->axes),
        .channels = step->channels * ar_algorithm_channels(algorithm),
        .window = step->window,
        .element_bytes = ar_precision_bytes(ar_precision_stored(layout.precision))};
    collective.shape = ar_algorithm_default_shape(
        algorithm, ar_mesh_group_ranks(&collective.mesh),
        ar_mesh_node_members(&collective.mesh, ar_cluster_facts(step->cluster)->gpus_per_node));
    return collective;
}

/* Runs a work alone, in all its groups. */
static enum ar_status time_work(struct ar_graph_step *step, struct ar_work *work,
                                struct ar_error *err)
{
    struct ar_job_time time;
    struct ar_trial trial = {.collective = collective_of(step, work),
                             .jobs_count = 1,
                             .times = &time,
                             .library = step->library};
    uint32_t element = trial.collective.element_bytes;
    const struct ar_job job = {.elements = (work->bytes + element - 1) / element};
    trial.jobs = &job;
    AR_TRY(ar_trial_run(&trial, step->engine, err));
    work->time_s = time.finish_s - time.start_s;
    step->messages_count += trial.messages_count;
    step->exact = step->exact && trial.exact;
    return AR_OK;
}

static enum ar_status run(struct ar_graph_step *step, struct ar_error *err)
{
    struct ar_graph *graph = step->graph;
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].kind != AR_TASK_COMPUTE) {
            AR_TRY(time_work(step, &graph->works[i], err));
        }
    }
    AR_TRY(ar_graph_schedule(graph, err));
    struct ar_graph_split *splits = malloc(graph->roles_count * sizeof *splits);
    if (splits == NULL) {
        return ar_error_no_memory(err, "the stages of a step");
    }
    ar_graph_split(graph, splits);
    step->split = ar_graph_split_mean(splits, graph->roles_count);
    free(splits);
    double compute_s = 0;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        compute_s += step->split.duty_s[i];
    }
    step->iteration_s = ar_graph_end_s(graph);
    step->bubble_frac = step->split.bubble_s / compute_s;
    return AR_OK;
}

enum ar_status ar_graph_step_run(struct ar_graph_step *step, struct ar_error *err)
{
    double began_s = ar_clock_s();
    step->messages_count = 0;
    step->exact = true;
    AR_TRY(ar_strategy_graph(&step->layout, &step->times, &step->graph, err));
    enum ar_status status = run(step, err);
    if (status != AR_OK) {
        ar_graph_step_destroy(step);
    }
    step->wall_s = ar_clock_s() - began_s;
    return status;
}

void ar_graph_step_destroy(struct ar_graph_step *step)
{
    ar_graph_destroy(step->graph);
    step->graph = NULL;
}
