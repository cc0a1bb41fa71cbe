#include "ar_step.h"

#include <assert.h>
#include <math.h>

#include "ar_draw.h"
#include "step_jobs.h"

const char *const ar_baseline_names[] = {
    [AR_BASELINE_GPU] = "gpu", [AR_BASELINE_NODE] = "node", NULL};

/* Ranks differ from each other, if only in when they begin the second step. */
static bool has_uneven_ranks(const struct ar_step *step)
{
    return step->jitter_frac > 0 || step->stragglers_count > 0 || step->iterations_count > 1;
}

/* Ranks that negotiate start a bucket together. */
static bool is_agreed(const struct ar_step *step)
{
    return has_uneven_ranks(step) &&
           step_workload(step, ar_shape_ranks(&step->collective.shape)).cycle.time_s > 0;
}

static enum ar_status make_ranks(struct ar_step *step, uint32_t ranks, struct ar_error *err)
{
    struct ar_trial *trial = &step->trial;
    trial->rank_finish_s = ar_arena_alloc(&step->memory, ranks, sizeof(double));
    bool is_made = trial->rank_finish_s != NULL;
    if (has_uneven_ranks(step)) {
        step->rank_start_s = ar_arena_alloc(&step->memory, ranks, sizeof(double));
        step->rank_factor = ar_arena_alloc(&step->memory, ranks, sizeof(double));
        step->rank_end_s = ar_arena_alloc(&step->memory, ranks, sizeof(double));
        is_made = is_made && step->rank_start_s != NULL && step->rank_factor != NULL &&
                  step->rank_end_s != NULL;
    }
    if (is_agreed(step)) {
        step->agreed_s = ar_arena_alloc(&step->memory, trial->jobs_count, sizeof(double));
        is_made = is_made && step->agreed_s != NULL;
    }
    trial->rank_start_s = step->rank_start_s;
    trial->rank_factor = step->rank_factor;
    return is_made ? AR_OK : ar_error_no_memory(err, "the ranks of a step");
}

static void destroy_plan(void *plan)
{
    ar_closed_destroy(plan);
}

static enum ar_status make_plan(struct ar_step *step, struct ar_error *err)
{
    struct ar_closed *plan;
    AR_TRY(ar_closed_create(&step->collective, &plan, err));
    step->trial.plan = ar_arena_own(&step->memory, plan, destroy_plan);
    return step->trial.plan != NULL ? AR_OK : ar_error_no_memory(err, "the plan of a step");
}

/* What is made here the caller ends with ar_step_destroy(), also after a failure. */
static enum ar_status prepare(struct ar_step *step, struct ar_error *err)
{
    uint32_t ranks = ar_shape_ranks(&step->collective.shape);
    step->trial = (struct ar_trial){.collective = step->collective,
                                    .timeline = step->timeline,
                                    .library = step->library,
                                    .band = step->band};
    step->memory = (struct ar_arena){.last = NULL};
    step->rank_start_s = step->rank_factor = step->agreed_s = step->rank_end_s = NULL;
    step->workload = NULL;
    AR_TRY(step_jobs_make(step, err));
    if (ranks > 1 && !step->engine->needs_library) {
        AR_TRY(make_plan(step, err));
    }
    AR_TRY(step_jobs_contend(step, err));
    AR_TRY(step_statistics(step, &step->statistics_s, err));
    return make_ranks(step, ranks, err);
}

static void draw_factors(struct ar_step *step, struct ar_draw *draw)
{
    uint32_t ranks = ar_shape_ranks(&step->collective.shape);
    ar_jitter_factors(draw, step->jitter_frac, ranks, step->rank_factor);
    for (uint32_t i = 0; i < step->stragglers_count; i++) {
        step->rank_factor[step->stragglers[i].rank] *= step->stragglers[i].factor;
    }
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
    trial->agreed_s = step->agreed_s;
}

/* How long some rank's stream was busy. The first rank may begin a bucket before the last one has
 * finished the one before. */
static double busy_time(const struct ar_trial *trial)
{
    double last_s = 0;
    double busy_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        double start_s = trial->times[i].start_s > last_s ? trial->times[i].start_s : last_s;
        busy_s += trial->times[i].finish_s - start_s;
        last_s = trial->times[i].finish_s;
    }
    return busy_s;
}

static double copy_time(const struct ar_trial *trial)
{
    double copy_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        copy_s += trial->jobs[i].copy_s;
    }
    return copy_s;
}

/* What a step took beyond the compute time, where all ranks are alike. */
static double exposed_time(const struct ar_step *step)
{
    const struct ar_trial *trial = &step->trial;
    double exposed_s =
        trial->times[trial->jobs_count - 1].finish_s - step->workload->backward_end_s;
    return (exposed_s > 0 ? exposed_s : 0) + step->workload->stretch_s + step->statistics_s;
}

/* The same where they are not. Notes when each rank ends the step. */
static double end_ranks(struct ar_step *step)
{
    const struct ar_trial *trial = &step->trial;
    double begin_s = 0;
    double end_s = 0;
    for (uint32_t rank = 0; rank < ar_shape_ranks(&step->collective.shape); rank++) {
        double factor = trial->rank_factor[rank];
        double backward_s = trial->rank_start_s[rank] + factor * step->workload->backward_end_s;
        step->rank_end_s[rank] = fmax(trial->rank_finish_s[rank], backward_s) + step->statistics_s +
                                 factor * step->trace->optimizer_s;
        begin_s = fmax(begin_s, trial->rank_start_s[rank]);
        end_s = fmax(end_s, step->rank_end_s[rank]);
    }
    return end_s - begin_s - ar_trace_compute_s(step->trace);
}

/* Every rank begins the next step where it ended the last one; the first of them at 0. */
static void advance_ranks(struct ar_step *step)
{
    uint32_t ranks = ar_shape_ranks(&step->collective.shape);
    double first_s = INFINITY;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        first_s = fmin(first_s, step->rank_end_s[rank]);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        step->rank_start_s[rank] = step->rank_end_s[rank] - first_s;
    }
}

/* Runs the next step. */
static enum ar_status run_once(struct ar_step *step, struct ar_draw *draw, bool is_first,
                               double *exposed_s, struct ar_error *err)
{
    bool is_uneven = has_uneven_ranks(step);
    if (is_uneven) {
        draw_factors(step, draw);
    }
    if (is_uneven && !is_first) {
        advance_ranks(step);
    }
    agree(step);
    AR_TRY(ar_trial_run(&step->trial, step->engine, err));
    *exposed_s = is_uneven ? end_ranks(step) : exposed_time(step);
    return AR_OK;
}

static enum ar_status run_iterations(struct ar_step *step, struct ar_draw *draw,
                                     struct ar_error *err)
{
    uint32_t ranks = ar_shape_ranks(&step->collective.shape);
    double mean_s = 0; /* of exposed_s, and the squared deviations from it, after Welford */
    double deviations = 0;
    double busy_sum_s = 0;
    double wall_s = step->trial.wall_s; /* of what was run to prepare it */
    for (uint32_t i = 0; i < step->iterations_count; i++) {
        double exposed_s;
        AR_TRY(run_once(step, draw, i == 0, &exposed_s, err));
        double before_s = exposed_s - mean_s;
        mean_s += before_s / (i + 1);
        deviations += before_s * (exposed_s - mean_s);
        busy_sum_s += busy_time(&step->trial);
        wall_s += step->trial.wall_s;
    }
    step->trial.wall_s = wall_s;
    step->compute_s = ar_trace_compute_s(step->trace);
    step->exposed_s = mean_s;
    step->input_wait_s = fmax(0, step_input_s(step) - (step->compute_s + step->exposed_s));
    step->iteration_s = step->compute_s + step->exposed_s + step->input_wait_s;
    step->iteration_ci95_s = ar_confidence95(deviations, step->iterations_count);
    step->allreduce_s = busy_sum_s / step->iterations_count + step->statistics_s;
    step->copy_s = copy_time(&step->trial);
    step->contention_s = step->workload->stretch_s;
    step->payload_bytes = ar_trace_gradient_elements(step->trace) * step->collective.element_bytes;
    step->samples_per_s = (double)step->trace->batch * ranks / step->iteration_s;
    return AR_OK;
}

static enum ar_status run_prepared(struct ar_step *step, struct ar_error *err)
{
    struct ar_draw *draw;
    AR_TRY(ar_draw_create(step->seed, NULL, &draw, err));
    enum ar_status status = run_iterations(step, draw, err);
    ar_draw_destroy(draw);
    return status;
}

static enum ar_status run_alone(struct ar_step *step, struct ar_error *err)
{
    enum ar_status status = prepare(step, err);
    if (status == AR_OK) {
        status = run_prepared(step, err);
    }
    if (status != AR_OK) {
        ar_step_destroy(step);
    }
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
    struct ar_step base = *step;
    base.stragglers_count = 0;
    base.timeline = NULL;
    base.collective.algorithm = &ar_algorithm_ring;
    base.collective.shape = (struct ar_shape){.x = gpus, .y = 1};
    base.collective.channels = (step->collective.channels + channels_each - 1) / channels_each;
    AR_TRY(run_alone(&base, err));
    *samples_per_s_gpu = base.samples_per_s / gpus;
    ar_step_destroy(&base);
    return AR_OK;
}

static enum ar_status run_in_band(const struct ar_step *step, enum ar_band band,
                                  double *iteration_s, struct ar_error *err)
{
    struct ar_step end = *step;
    end.band = band;
    end.timeline = NULL;
    AR_TRY(run_alone(&end, err));
    *iteration_s = end.iteration_s;
    ar_step_destroy(&end);
    return AR_OK;
}

enum ar_status ar_step_run(struct ar_step *step, struct ar_error *err)
{
    double full = 0;
    assert(step->iterations_count > 0);
    AR_TRY(ar_engine_check(step->engine, &step->collective, step->library, err));
    AR_TRY(run_baseline(step, &full, err));
    step->low_s = step->high_s = NAN;
    if (step->engine->is_fitted) {
        AR_TRY(run_in_band(step, AR_BAND_LOW, &step->low_s, err));
        AR_TRY(run_in_band(step, AR_BAND_HIGH, &step->high_s, err));
    }
    AR_TRY(run_alone(step, err));
    step->efficiency_frac = step->samples_per_s / ar_shape_ranks(&step->collective.shape) / full;
    return AR_OK;
}

void ar_step_destroy(struct ar_step *step)
{
    ar_arena_end(&step->memory);
    step->workload = NULL;
    step->rank_start_s = step->rank_factor = step->agreed_s = step->rank_end_s = NULL;
    step->trial = (struct ar_trial){.jobs = NULL};
}
