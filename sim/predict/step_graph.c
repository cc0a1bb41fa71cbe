/* The graph of a step: made by its strategy, what it sends timed by the engine. */
#include <string.h>

#include "ar_graph_trial.h"
#include "ar_text.h"
#include "step_parts.h"

uint32_t ar_step_ranks(const struct ar_step *step)
{
    return step->trace != NULL ? ar_shape_ranks(&step->collective.shape)
                               : ar_layout_gpus(&step->layout);
}

struct ar_mesh ar_step_mesh(const struct ar_layout *layout, uint32_t axes)
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

/* --- what is sent ----------------------------------------------------------------------------- */

static const struct ar_algorithm *find_algorithm(const struct ar_step *step,
                                                 const struct ar_operation *operation)
{
    const struct ar_algorithm *algorithm = step->collective.algorithm;
    if (algorithm != NULL && algorithm->operation == operation) {
        return algorithm;
    }
    for (size_t i = 0; i < ar_algorithms_count && !step->engine->needs_library; i++) {
        if (ar_algorithms[i]->operation == operation) {
            return ar_algorithms[i];
        }
    }
    return NULL;
}

/* Whether a work is a collective of the step itself, which may have a shape of its own. */
static bool is_own(const struct ar_step *step, const struct ar_work *work)
{
    return step->trace != NULL && work->operation == step->collective.operation;
}

/* The root of a send: it goes to the place before the root. Back it takes as long. */
static uint32_t root_of(const struct ar_work *work, uint32_t stages)
{
    return (work->to + 1) % stages == work->from ? work->from : work->to;
}

struct ar_collective step_collective(const struct ar_step *step, const struct ar_work *work)
{
    struct ar_collective collective = step->collective;
    collective.element_bytes =
        work->element_bytes > 0 ? work->element_bytes : collective.element_bytes;
    if (is_own(step, work)) {
        return collective;
    }
    uint32_t lanes = collective.channels / ar_algorithm_channels(collective.algorithm);
    collective.operation = work->operation;
    collective.algorithm = find_algorithm(step, work->operation);
    collective.channels = lanes * ar_algorithm_channels(collective.algorithm);
    collective.mesh = ar_step_mesh(&step->layout, work->axes);
    collective.root =
        work->kind == AR_TASK_MESSAGE ? root_of(work, step->layout.sizes[AR_AXIS_PP]) : 0;
    collective.shape = ar_algorithm_default_shape(
        collective.algorithm, ar_mesh_group_ranks(&collective.mesh),
        ar_mesh_node_members(&collective.mesh,
                             ar_cluster_facts(collective.cluster)->gpus_per_node));
    return collective;
}

uint64_t step_elements(const struct ar_work *work, const struct ar_collective *collective)
{
    uint32_t element = collective->element_bytes;
    return (work->bytes + element - 1) / element;
}

static void destroy_plan(void *plan)
{
    ar_closed_destroy(plan);
}

enum ar_status step_create_plan(struct ar_step *step, const struct ar_collective *collective,
                                const struct ar_closed **plan, struct ar_error *err)
{
    struct ar_closed *made;
    AR_TRY(ar_closed_create(collective, &made, err));
    *plan = ar_arena_own(&step->memory, made, destroy_plan);
    return *plan != NULL ? AR_OK : ar_error_no_memory(err, "the plan of a step");
}

struct step_plan {
    struct ar_work work; /* the first one that has it */
    const struct ar_closed *plan;
};

/* Works that differ in their bytes alone have the same plan. */
static bool has_plan_of(const struct ar_work *one, const struct ar_work *other)
{
    return one->kind == other->kind && one->operation == other->operation &&
           one->axes == other->axes && one->element_bytes == other->element_bytes &&
           one->from == other->from && one->to == other->to;
}

enum ar_status step_find_plan(struct ar_step *step, uint32_t work, const struct ar_closed **plan,
                              struct ar_error *err)
{
    const struct ar_work *searched = &step->graph->works[work];
    struct ar_collective collective = step_collective(step, searched);
    *plan = NULL;
    if (!step->engine->needs_plan || ar_shape_ranks(&collective.shape) <= 1) {
        return AR_OK;
    }
    for (size_t i = 0; i < step->plans_count; i++) {
        if (has_plan_of(&step->plans[i].work, searched)) {
            *plan = step->plans[i].plan;
            return AR_OK;
        }
    }
    struct step_plan *plans =
        ar_arena_grow(&step->memory, step->plans, step->plans_count, 1, sizeof *plans);
    AR_NEED(plans, err, "the plans of a step");
    step->plans = plans;
    AR_TRY(ar_collective_check(&collective, err));
    AR_TRY(step_create_plan(step, &collective, plan, err));
    plans[step->plans_count++] = (struct step_plan){*searched, *plan};
    return AR_OK;
}

/* Runs a work alone, in all its groups. */
static enum ar_status time_work(struct ar_step *step, uint32_t number, struct ar_error *err)
{
    struct ar_work *work = &step->graph->works[number];
    struct ar_call_time time;
    struct ar_trial trial = {.collective = step_collective(step, work),
                             .jobs_count = 1,
                             .times = &time,
                             .library = step->library,
                             .band = step->band};
    const struct ar_call job = {.elements = step_elements(work, &trial.collective)};
    trial.jobs = &job;
    AR_TRY(step_find_plan(step, number, &trial.plan, err));
    AR_TRY(ar_trial_run(&trial, step->engine, err));
    work->time_s = (time.finish_s - time.start_s) / (work->every > 0 ? work->every : 1);
    step->works_messages += trial.messages_count;
    step->exact = step->exact && (trial.exact || work->every > 0);
    return AR_OK;
}

/* Whether ranks are looked at one by one. */
static bool has_clocks(const struct ar_step *step, const struct step_clocks *clocks)
{
    return clocks->has_ranks || step->graph->has_series;
}

/* Times what is not sent in series and has no time yet. */
static enum ar_status time_works(struct ar_step *step, const struct step_clocks *clocks,
                                 struct ar_error *err)
{
    struct ar_graph *graph = step->graph;
    uint32_t timed = 0;
    while (timed < graph->works_count && graph->works[timed].time_s != AR_GRAPH_UNTIMED) {
        timed++;
    }
    for (uint32_t i = 0; timed < graph->works_count && i < graph->tasks_count; i++) {
        struct ar_work *work = &graph->works[graph->tasks[i].work];
        bool may_be_of_series = has_clocks(step, clocks) && clocks->overlap.sendings == NULL &&
                                work->kind == AR_TASK_COLLECTIVE && work->every == 0 &&
                                graph->tasks[i].stream != AR_STREAM_COMPUTE;
        if (work->time_s == AR_GRAPH_UNTIMED && !may_be_of_series) {
            AR_TRY(time_work(step, graph->tasks[i].work, err));
        }
    }
    return AR_OK;
}

/* --- series ----------------------------------------------------------------------------------- */

struct series_context {
    struct ar_step *step;
    struct ar_timeline *timeline;
};

/* Gives the ranks of all roles what those of one have: they do the same at once. */
static const double *spread(const struct ar_step *step, const double *of_role, double *of_all)
{
    uint32_t each = ar_step_ranks(step) / step->graph->roles_count;
    for (uint32_t role = 0; of_role != NULL && role < step->graph->roles_count; role++) {
        memcpy(of_all + (size_t)role * each, of_role, each * sizeof *of_all);
    }
    return of_role != NULL ? of_all : NULL;
}

/* A negotiation ends on all ranks at once, after the slowest has what it is about. */
static void agree(struct ar_step *step)
{
    struct ar_trial *trial = &step->trial;
    bool is_even;
    trial->agreed_s = NULL;
    for (uint32_t job = 0; step->agreed_s != NULL && job < trial->jobs_count; job++) {
        step->agreed_s[job] = ar_trial_ready_on_all(trial, job, &is_even);
    }
    trial->agreed_s = trial->rank_factor != NULL ? step->agreed_s : NULL;
}

static enum ar_status time_series(void *context, const struct ar_graph_series *series,
                                  double *finish_s, struct ar_error *err)
{
    const struct series_context *own = context;
    struct ar_step *step = own->step;
    struct ar_task *tasks = step->graph->tasks;
    const struct ar_work *work = &step->graph->works[tasks[series->tasks[0]].work];
    struct ar_trial *trial = &step->trial;
    *trial = (struct ar_trial){.collective = step_collective(step, work),
                               .jobs = step->jobs,
                               .jobs_count = series->count,
                               .plan = is_own(step, work) ? step->plan : NULL,
                               .rank_start_s = spread(step, series->start_s, step->series_start_s),
                               .rank_factor = spread(step, series->factor, step->series_factor),
                               .library = step->library,
                               .band = step->band,
                               .times = step->job_times,
                               .rank_finish_s = step->rank_finish_s,
                               .timeline = own->timeline};
    for (uint32_t i = 0; i < series->count; i++) {
        const struct ar_task *task = &tasks[series->tasks[i]];
        step->jobs[i] = (struct ar_call){
            .ready_s = series->ready_s[i],
            .elements = step_elements(&step->graph->works[task->work], &trial->collective),
            .wait_s = task->wait_s,
            .copy_s = task->copy_s};
    }
    agree(step);
    AR_TRY(ar_trial_run(trial, step->engine, err));
    for (uint32_t i = 0; i < series->count; i++) {
        tasks[series->tasks[i]].start_s = trial->times[i].start_s;
        tasks[series->tasks[i]].end_s = trial->times[i].finish_s;
    }
    uint32_t each = ar_step_ranks(step) / step->graph->roles_count;
    memcpy(finish_s, trial->rank_finish_s + (size_t)tasks[series->tasks[0]].role * each,
           each * sizeof *finish_s);
    step->messages_count += trial->messages_count;
    step->exact = step->exact && trial->exact;
    return AR_OK;
}

/* --- the graph -------------------------------------------------------------------------------- */

enum ar_status step_make_graph(struct ar_step *step, const struct ar_slowdown *slowdown,
                               struct ar_error *err)
{
    if (step->trace != NULL) {
        AR_TRY(step_take_trace(step, slowdown, err));
    }
    AR_TRY(ar_strategy_graph(&step->layout, &step->times, &step->memory, &step->graph, err));
    uint32_t tasks = step->graph->tasks_count;
    step->jobs = ar_arena_alloc(&step->memory, tasks, sizeof *step->jobs);
    step->job_times = ar_arena_alloc(&step->memory, tasks, sizeof *step->job_times);
    AR_NEED(step->jobs && step->job_times, err, "the tasks of a step");
    AR_TRY(step_part_messages(step, err));
    step->plans_count = 0;
    return AR_OK;
}

/* --- rank by rank ----------------------------------------------------------------------------- */

bool step_runs_ranks(const struct ar_step *step)
{
    return step->engine->run_graph != NULL && !step->graph->has_series;
}

enum ar_status ar_step_graph_trial(struct ar_step *step, struct ar_graph_trial *trial,
                                   struct ar_error *err)
{
    struct ar_graph *graph = step->graph;
    struct ar_graph_sending *sendings =
        ar_arena_alloc(&step->memory, graph->works_count, sizeof *sendings);
    AR_NEED(sendings, err, "what a step sends");
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].kind != AR_TASK_COMPUTE) {
            sendings[i].collective = step_collective(step, &graph->works[i]);
            sendings[i].elements = step_elements(&graph->works[i], &sendings[i].collective);
        }
    }
    *trial =
        (struct ar_graph_trial){.graph = graph,
                                .cluster = step->collective.cluster,
                                .ranks = ar_step_ranks(step),
                                .sendings = sendings,
                                .rank_factor = step->rank_end_s != NULL ? step->rank_factor : NULL};
    return AR_OK;
}

double ar_step_ranks_messages(const struct ar_step *step)
{
    struct ar_step own = *step;
    struct ar_graph_trial trial;
    struct ar_error ignored;
    double messages = 0;
    own.memory = (struct ar_arena){.last = NULL};
    if (!step->layout.strategy->is_asynchronous && step->layout.strategy->operators == NULL &&
        step_make_graph(&own, NULL, &ignored) == AR_OK && step_runs_ranks(&own) &&
        ar_step_graph_trial(&own, &trial, &ignored) == AR_OK) {
        messages = (double)step->iterations_count * (double)ar_graph_trial_messages(&trial);
    }
    ar_arena_end(&own.memory);
    return messages;
}

/* Lets the engine run all ranks, with all that they send at once. */
static enum ar_status run_ranks(struct ar_step *step, const struct step_clocks *clocks,
                                struct ar_error *err)
{
    struct ar_graph *graph = step->graph;
    struct ar_graph_trial trial;
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].every > 0 && graph->works[i].time_s == AR_GRAPH_UNTIMED) {
            AR_TRY(time_work(step, i, err));
        }
    }
    AR_TRY(ar_step_graph_trial(step, &trial, err));
    if (clocks->has_ranks) {
        trial.rank_start_s = step->rank_start_s;
        trial.rank_factor = step->rank_factor;
        trial.rank_end_s = step->rank_end_s;
    }
    AR_TRY(step_find_speed(step, &trial.speed_frac, err));
    AR_TRY(step->engine->run_graph(&trial, err));
    step->messages_count = trial.messages_count;
    return AR_OK;
}

enum ar_status step_schedule(struct ar_step *step, const struct step_clocks *clocks,
                             struct ar_error *err)
{
    struct series_context context = {.step = step, .timeline = clocks->timeline};
    const struct ar_graph_request request = {
        .slowdowns = clocks->overlap.slowdowns,
        .sendings = clocks->overlap.sendings,
        .speeds = clocks->overlap.speeds,
        .ranks_count =
            has_clocks(step, clocks) ? ar_step_ranks(step) / step->graph->roles_count : 0,
        .sizes = step->layout.sizes,
        .start_s = clocks->has_ranks ? step->rank_start_s : NULL,
        .factor = clocks->has_ranks ? step->rank_factor : NULL,
        .end_s = clocks->has_ranks ? step->rank_end_s : NULL,
        .time_series = time_series,
        .context = &context};
    if (step_runs_ranks(step)) {
        return run_ranks(step, clocks, err);
    }
    AR_TRY(time_works(step, clocks, err));
    step->messages_count = step->works_messages;
    return ar_graph_schedule_with(step->graph, &request, err);
}
