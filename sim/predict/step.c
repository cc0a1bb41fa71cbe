#include <assert.h>
#include <math.h>

#include "ar_clock.h"
#include "ar_draw.h"
#include "step_parts.h"

const char *const ar_baseline_names[] = {
    [AR_BASELINE_GPU] = "gpu", [AR_BASELINE_NODE] = "node", NULL};

/* Ranks differ from each other, if only in when they begin the second step. */
static bool has_uneven_ranks(const struct ar_step *step)
{
    return step->jitter_frac > 0 || step->stragglers_count > 0 || step->iterations_count > 1;
}

static double *make_numbers(struct ar_step *step, uint32_t count, bool *is_made)
{
    double *numbers = ar_arena_alloc(&step->memory, count, sizeof *numbers);
    *is_made = *is_made && numbers != NULL;
    return numbers;
}

static enum ar_status make_ranks(struct ar_step *step, struct ar_error *err)
{
    uint32_t ranks = ar_step_ranks(step);
    bool is_made = true;
    if (has_uneven_ranks(step)) {
        step->rank_start_s = make_numbers(step, ranks, &is_made);
        step->rank_factor = make_numbers(step, ranks, &is_made);
        step->rank_end_s = make_numbers(step, ranks, &is_made);
        step->series_start_s = make_numbers(step, ranks, &is_made);
        step->series_factor = make_numbers(step, ranks, &is_made);
    }
    if (has_uneven_ranks(step) || step->graph->has_series) {
        step->rank_finish_s = make_numbers(step, ranks, &is_made);
    }
    if (has_uneven_ranks(step) && step_has_cycles(step)) {
        step->agreed_s = make_numbers(step, step->trace->tensors_count, &is_made);
    }
    return is_made ? AR_OK : ar_error_no_memory(err, "the ranks of a step");
}

static enum ar_status make_plan(struct ar_step *step, struct ar_error *err)
{
    return step->trace == NULL || ar_step_ranks(step) == 1 || step->engine->needs_library
               ? AR_OK
               : step_create_plan(step, &step->collective, &step->plan, err);
}

static void forget(struct ar_step *step)
{
    step->graph = NULL;
    step->workload = NULL;
    step->plan = NULL;
    step->plans = NULL;
    step->plans_count = 0;
    step->jobs = NULL;
    step->job_times = NULL;
    step->rank_start_s = step->rank_factor = step->series_start_s = step->series_factor = NULL;
    step->rank_finish_s = step->agreed_s = step->rank_end_s = NULL;
    step->trial = (struct ar_trial){.jobs = NULL};
}

/* What is sent once after all steps is a part of each, which no rank waits for. */
static void spread_ends(const struct ar_step *step)
{
    struct ar_graph *graph = step->graph;
    bool is_spread = step->layout.strategy->ends_runs && step->iterations_count > 1;
    for (uint32_t i = 0; i < graph->works_count && is_spread; i++) {
        if (graph->works[i].operation == &ar_operation_gather) {
            graph->works[i].every = step->iterations_count;
        }
    }
}

/* What is made here ends with ar_step_destroy(), also after a failure. */
static enum ar_status prepare(struct ar_step *step, struct step_overlap *overlap,
                              struct ar_error *err)
{
    step->works_messages = 0;
    step->exact = true;
    AR_TRY(step_make_graph(step, NULL, err));
    spread_ends(step);
    AR_TRY(make_plan(step, err));
    AR_TRY(make_ranks(step, err));
    return step_find_overlap(step, overlap, err);
}

static void draw_factors(struct ar_step *step, struct ar_draw *draw)
{
    ar_jitter_factors(draw, step->jitter_frac, ar_step_ranks(step), step->rank_factor);
    for (uint32_t i = 0; i < step->stragglers_count; i++) {
        step->rank_factor[step->stragglers[i].rank] *= step->stragglers[i].factor;
    }
}

/* Every rank begins the next step where it ended the last one; the first of them at 0. Those of a
 * pipeline begin it together. */
static void advance_ranks(struct ar_step *step)
{
    uint32_t ranks = ar_step_ranks(step);
    double first_s = INFINITY;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        first_s = fmin(first_s, step->rank_end_s[rank]);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        bool is_alone = step->graph->roles_count == 1;
        step->rank_start_s[rank] = is_alone ? step->rank_end_s[rank] - first_s : 0;
    }
}

static double compute_of(const struct ar_step *step, const struct ar_graph_split *split)
{
    double compute_s = 0;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        compute_s += split->duty_s[i];
    }
    return step->graph->has_series ? ar_trace_compute_s(step->trace) : compute_s;
}

/* What a step took beyond computations and the bubble: of one role that waits for itself alone all
 * of it, however it came about. */
static double exposed_of(const struct ar_step *step, const struct ar_graph_split *split)
{
    double exposed_s = split->longer_s;
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        exposed_s += split->axis_s[i];
    }
    if (step->rank_end_s == NULL) {
        return exposed_s;
    }
    double begin_s = 0, end_s = 0;
    for (uint32_t rank = 0; rank < ar_step_ranks(step); rank++) {
        begin_s = fmax(begin_s, step->rank_start_s[rank]);
        end_s = fmax(end_s, step->rank_end_s[rank]);
    }
    return end_s - begin_s - compute_of(step, split) - split->bubble_s;
}

static enum ar_status split_of(const struct ar_step *step, struct ar_graph_split *split,
                               struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t roles = step->graph->roles_count;
    struct ar_graph_split *splits = ar_arena_alloc(&arena, roles, sizeof *splits);
    AR_NEED(splits, err, "the stages of a step");
    ar_graph_split(step->graph, splits);
    *split = ar_graph_split_mean(splits, roles);
    if (roles == 1 && step->rank_end_s != NULL) {
        split->bubble_s = 0; /* waiting for its own slower ranks */
    }
    return AR_OK;
}

/* How long some rank's second stream was busy, of the first role. The first rank may begin a bucket
 * before the last one has finished the one before. */
static double busy_time(const struct ar_graph *graph)
{
    double last_s = 0;
    double busy_s = 0;
    for (uint32_t i = graph->first[AR_STREAM_GRADIENTS]; i != AR_NO_TASK;
         i = graph->tasks[i].after) {
        busy_s += graph->tasks[i].end_s - fmax(graph->tasks[i].start_s, last_s);
        last_s = graph->tasks[i].end_s;
    }
    return busy_s;
}

/* Copies of all tasks, and what is not done in each step. */
static void sum_tasks(struct ar_step *step)
{
    bool has_any = step->trace != NULL;
    step->copy_s = step->statistics_s = 0;
    for (uint32_t i = 0; i < step->graph->works_count; i++) {
        has_any = has_any || step->graph->works[i].every > 0;
    }
    for (uint32_t i = 0; has_any && i < step->graph->tasks_count; i++) {
        const struct ar_task *task = &step->graph->tasks[i];
        const struct ar_work *work = &step->graph->works[task->work];
        step->copy_s += task->copy_s;
        bool is_busy = task->stream == AR_STREAM_GRADIENTS; /* counted there */
        step->statistics_s += work->every > 0 && !is_busy ? work->time_s : 0;
    }
}

/* Means over the steps that were run, and squared deviations from that of exposed_s, after Welford.
 */
struct means {
    uint32_t count;
    double exposed_s, deviations;
    double busy_sum_s;
    struct ar_graph_split *splits; /* [step] */
};

/* Runs the next step. */
static enum ar_status run_once(struct ar_step *step, const struct step_clocks *clocks,
                               struct ar_draw *draw, struct means *means, struct ar_error *err)
{
    struct ar_graph_split *split = &means->splits[means->count];
    if (clocks->has_ranks) {
        draw_factors(step, draw);
    }
    if (clocks->has_ranks && means->count > 0) {
        advance_ranks(step);
    }
    if (clocks->has_ranks || clocks->timeline != NULL || !clocks->overlap.is_scheduled) {
        AR_TRY(step_schedule(step, clocks, err));
    }
    AR_TRY(split_of(step, split, err));
    double exposed_s = exposed_of(step, split);
    double before_s = exposed_s - means->exposed_s;
    means->exposed_s += before_s / (means->count + 1);
    means->deviations += before_s * (exposed_s - means->exposed_s);
    means->busy_sum_s += busy_time(step->graph);
    means->count++;
    return AR_OK;
}

static void fill(struct ar_step *step, const struct means *means)
{
    uint32_t ranks = ar_step_ranks(step);
    step->split = ar_graph_split_mean(means->splits, means->count);
    step->compute_s = compute_of(step, &step->split);
    step->exposed_s = means->exposed_s;
    step->bubble_s = step->split.bubble_s;
    step->bubble_frac = step->bubble_s / step->compute_s;
    double wanted_s = step->compute_s + step->exposed_s + step->bubble_s;
    step->input_wait_s = fmax(0, step_input_s(step) - wanted_s);
    step->iteration_s = wanted_s + step->input_wait_s;
    step->iteration_ci95_s = ar_confidence95(means->deviations, means->count);
    sum_tasks(step);
    step->allreduce_s = means->busy_sum_s / means->count + step->statistics_s;
    if (step->trace != NULL) {
        step->payload_bytes =
            ar_trace_gradient_elements(step->trace) * step->collective.element_bytes;
        step->samples_per_s = (double)step->trace->batch * ranks / step->iteration_s;
    }
}

static enum ar_status run_iterations(struct ar_step *step, const struct step_overlap *overlap,
                                     struct ar_draw *draw, struct ar_error *err)
{
    const struct step_clocks clocks = {
        .overlap = *overlap, .has_ranks = has_uneven_ranks(step), .timeline = step->timeline};
    struct means means = {
        .splits = ar_arena_alloc(&step->memory, step->iterations_count, sizeof *means.splits)};
    AR_NEED(means.splits, err, "a step");
    while (means.count < step->iterations_count) {
        AR_TRY(run_once(step, &clocks, draw, &means, err));
    }
    fill(step, &means);
    return AR_OK;
}

static enum ar_status run_prepared(struct ar_step *step, const struct step_overlap *overlap,
                                   struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_draw *draw;
    AR_TRY(ar_draw_create(step->seed, NULL, &arena, &draw, err));
    return run_iterations(step, overlap, draw, err);
}

static bool is_asynchronous(const struct ar_step *step)
{
    return step->layout.strategy != NULL && step->layout.strategy->is_asynchronous;
}

static enum ar_status run_graph(struct ar_step *step, struct ar_error *err)
{
    struct step_overlap overlap;
    struct ar_graph_split split = {.longer_s = 0};
    AR_TRY(prepare(step, &overlap, err));
    if (overlap.slowdowns != NULL) {
        AR_TRY(split_of(step, &split, err));
    }
    step->contention_s = split.longer_s;
    AR_TRY(run_prepared(step, &overlap, err));
    if (step_runs_ranks(step) && !has_uneven_ranks(step)) {
        step->contention_s = step->split.longer_s;
    }
    return AR_OK;
}

static enum ar_status run_alone(struct ar_step *step, struct ar_error *err)
{
    double began_s = ar_clock_s();
    step->memory = (struct ar_arena){.last = NULL};
    forget(step);
    bool has_servers = is_asynchronous(step);
    enum ar_status status = has_servers ? step_async_run(step, err) : run_graph(step, err);
    if (status != AR_OK) {
        ar_step_destroy(step);
    }
    step->wall_s = has_servers ? step->wall_s : ar_clock_s() - began_s;
    return status;
}

/* Samples per second and GPU at 100 %. */
static enum ar_status run_baseline(const struct ar_step *step, double *samples_per_s_gpu,
                                   struct ar_error *err)
{
    if (step->baseline == AR_BASELINE_GPU) {
        *samples_per_s_gpu = step->trace->batch / ar_trace_compute_s(step->trace);
        return AR_OK;
    }
    uint32_t gpus = ar_cluster_facts(step->collective.cluster)->gpus_per_node;
    uint32_t channels_each = ar_algorithm_channels(step->collective.algorithm);
    struct ar_step base AR_STEP_ENDS_HERE = *step;
    base.stragglers_count = 0;
    if (is_asynchronous(step)) {
        base.layout.strategy = &ar_strategy_data;
    }
    base.timeline = NULL;
    base.collective.algorithm = &ar_algorithm_ring;
    base.collective.shape = (struct ar_shape){.x = gpus, .y = 1};
    base.collective.channels = (step->collective.channels + channels_each - 1) / channels_each;
    AR_TRY(run_alone(&base, err));
    *samples_per_s_gpu = base.samples_per_s / gpus;
    return AR_OK;
}

static enum ar_status run_in_band(const struct ar_step *step, enum ar_band band,
                                  double *iteration_s, struct ar_error *err)
{
    struct ar_step end AR_STEP_ENDS_HERE = *step;
    end.band = band;
    end.timeline = NULL;
    AR_TRY(run_alone(&end, err));
    *iteration_s = end.iteration_s;
    return AR_OK;
}

enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err)
{
    double full = 0;
    assert(step->iterations_count > 0);
    step->low_s = step->high_s = step->efficiency_frac = NAN;
    if (step->trace == NULL) {
        return run_alone(step, err);
    }
    AR_TRY(ar_engine_check(step->engine, &step->collective, step->library, err));
    AR_TRY(run_baseline(step, &full, err));
    if (step->engine->is_fitted) {
        AR_TRY(run_in_band(step, AR_BAND_LOW, &step->low_s, err));
        AR_TRY(run_in_band(step, AR_BAND_HIGH, &step->high_s, err));
    }
    AR_TRY(run_alone(step, err));
    step->efficiency_frac = step->samples_per_s / ar_step_ranks(step) / full;
    return AR_OK;
}

void ar_step_destroy(struct ar_step *step)
{
    ar_arena_end(&step->memory);
    forget(step);
}
