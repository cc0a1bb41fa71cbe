/* From a job to its timing: the graph of its kind, scheduled step by step by a timer, and where the
 * time goes. Read from the end: job_time(). */
#include <math.h>

#include "ar_draw.h"
#include "ar_numbers.h"
#include "timer.h"

/* --- where the time goes ---------------------------------------------------------------------- */

/* The split of a step, mean over its roles. */
static struct ar_graph_split split_step(const struct ar_timing *timing)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t roles = timing->graph->roles_count;
    struct ar_graph_split *splits = ar_arena_alloc(&arena, roles, sizeof *splits);
    ar_graph_split(timing->graph, splits);
    struct ar_graph_split split = ar_graph_split_mean(splits, roles);
    if (roles == 1 && timing->rank_end_s != NULL) {
        split.bubble_s = 0; /* waiting for its own slower ranks */
    }
    return split;
}

static double find_compute(const struct ar_timing *timing, const struct ar_graph_split *split)
{
    double compute_s = 0;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        compute_s += split->duty_s[i];
    }
    return timing->graph->has_series ? ar_trace_compute_s(timing->job->trace) : compute_s;
}

/* Time of a step beyond computations and the bubble; where ranks are uneven, all that is left. */
static double find_exposed(const struct ar_timing *timing, const struct ar_graph_split *split)
{
    double exposed_s = split->longer_s;
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        exposed_s += split->axis_s[i];
    }
    if (timing->rank_end_s == NULL) {
        return exposed_s;
    }
    uint32_t ranks = ar_job_ranks(timing->job);
    double begin_s = ar_last_s(timing->rank_start_s, ranks);
    return ar_last_s(timing->rank_end_s, ranks) - begin_s - find_compute(timing, split) -
           split->bubble_s;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Makes what the steps need: the graph, the flows of the job's collective, room for ranks. */
static enum ar_status prepare_timer(struct timer *timer, struct ar_error *err)
{
    const struct ar_job *job = timer->job;
    struct ar_timing *timing = timer->timing;
    AR_TRY(timer_make_graph(timer, NULL, err));
    const struct ar_strategy *strategy = timing->layout.strategy;
    bool ends_once = strategy != NULL && strategy->ends_runs && job->iterations_count > 1;
    for (uint32_t i = 0; ends_once && i < timing->graph->works_count; i++) {
        if (timing->graph->works[i].operation == &ar_operation_gather) {
            timing->graph->works[i].every = job->iterations_count; /* once after all steps */
        }
    }
    bool has_flows = ar_shape_ranks(&job->collective.shape) > 1 && job->library == NULL;
    if (has_flows && timer->known->flows == NULL) {
        struct ar_flows *made;
        AR_TRY(ar_flows_create(&job->collective, &made, err));
        timer->known->flows = ar_arena_own(timer->known->arena, made, ar_flows_destroy);
    }
    timer->flows = has_flows ? timer->known->flows : NULL;
    uint32_t ranks = ar_job_ranks(job);
    bool is_uneven = job_is_uneven(job);
    double **const of_ranks[] = {&timing->rank_start_s, &timing->rank_factor, &timing->rank_end_s,
                                 &timer->series_start_s, &timer->series_factor};
    for (size_t i = 0; is_uneven && i < sizeof of_ranks / sizeof of_ranks[0]; i++) {
        *of_ranks[i] = ar_arena_alloc(timing->arena, ranks, sizeof(double));
    }
    if (is_uneven || timing->graph->has_series) {
        timer->rank_finish_s = ar_arena_alloc(timing->arena, ranks, sizeof(double));
    }
    if (is_uneven && job_has_cycles(job)) {
        timer->agreed_s = ar_arena_alloc(timing->arena, job->trace->tensors_count, sizeof(double));
    }
    return AR_OK;
}

/* The time of a step whose input is there in time. */
static double wanted_s(const struct ar_timing *timing)
{
    return timing->compute_s + timing->exposed_s + timing->bubble_s;
}

/* Finds how long GPUs wait for the slowest one where compute times spread and no jitter is drawn;
 * beside stragglers, only what they do not wait for these anyway. */
static enum ar_status find_slowest(const struct ar_job *job, struct ar_timing *timing,
                                   struct ar_error *err)
{
    if (!job_is_uneven(job)) {
        double slowest = ar_jitter_slowest(job->spread_frac, ar_job_ranks(job));
        timing->slowest_s = timing->compute_s * (slowest - 1);
    } else {
        struct ar_job usual = *job;
        struct ar_timing other;
        usual.stragglers_count = 0;
        usual.iterations_count = 1;
        usual.timeline = NULL;
        AR_TRY(job_time(&usual, timing->arena, &other, err));
        timing->slowest_s = fmax(0, wanted_s(&other) - wanted_s(timing));
    }
    return AR_OK;
}

enum ar_status job_time(const struct ar_job *job, struct ar_arena *arena, struct ar_timing *timing,
                        struct ar_error *err)
{
    double began_s = ar_clock_s();
    bool is_uneven = job_is_uneven(job);
    uint32_t count = job->iterations_count, ranks = ar_job_ranks(job);
    *timing = (struct ar_timing){.job = job,
                                 .arena = arena,
                                 .exact = true,
                                 .layout = job->layout,
                                 .samples_per_s = NAN,
                                 .efficiency_frac = NAN,
                                 .busiest_s = NAN,
                                 .moved_j = NAN,
                                 .low_s = NAN,
                                 .high_s = NAN};
    if (job->kind->graph == NULL) {
        AR_TRY(servers_run(job, timing, err));
        timing->wall_s = ar_clock_s() - began_s;
        return AR_OK;
    }
    struct timer timer = {.job = job, .timing = timing, .own_known = {.arena = arena}};
    timer.known = job->known != NULL ? job->known : &timer.own_known;
    AR_TRY(prepare_timer(&timer, err));
    AR_TRY(timer_find_overlap(&timer, err));
    timing->contention_s = timer.overlap.slowdowns != NULL ? split_step(timing).longer_s : 0;
    /* Run the steps one after the other; in the timing are then means over them. */
    struct ar_draw *draw = is_uneven ? ar_draw_create(job->seed, NULL, arena) : NULL;
    struct ar_graph_split *splits = ar_arena_alloc(arena, count, sizeof *splits);
    double busy_sum_s = 0, deviations = 0; /* squared ones from the mean exposed_s, after Welford */
    timer.timeline = job->timeline;
    for (uint32_t i = 0; i < count; i++) {
        if (is_uneven) {
            /* Draw how fast ranks are, and let each begin where it ended the last step, the first
             * of them at 0. Those of a pipeline begin it together. */
            double first_s = INFINITY;
            ar_jitter_factors(draw, job->jitter_frac, ranks, timing->rank_factor);
            for (uint32_t j = 0; j < job->stragglers_count; j++) {
                timing->rank_factor[job->stragglers[j].rank] *= job->stragglers[j].factor;
            }
            for (uint32_t rank = 0; i > 0 && rank < ranks; rank++) {
                double end_s = timing->rank_end_s[rank];
                first_s = end_s < first_s ? end_s : first_s;
            }
            for (uint32_t rank = 0; i > 0 && rank < ranks; rank++) {
                bool is_alone = timing->graph->roles_count == 1;
                timing->rank_start_s[rank] = is_alone ? timing->rank_end_s[rank] - first_s : 0;
            }
        }
        if (is_uneven || job->timeline != NULL || !timer.overlap.is_scheduled) {
            AR_TRY(timer_schedule(&timer, is_uneven, err));
        }
        splits[i] = split_step(timing);
        double exposed_s = find_exposed(timing, &splits[i]);
        double before_s = exposed_s - timing->exposed_s;
        timing->exposed_s += before_s / (i + 1);
        deviations += before_s * (exposed_s - timing->exposed_s);
        /* Time for which any rank of the first role sends gradients. The first rank may begin a
         * bucket before the last one has finished the one before. */
        double last_s = 0, busy_s = 0;
        for (uint32_t j = timing->graph->first[AR_STREAM_GRADIENTS]; j != AR_NO_TASK;
             j = timing->graph->tasks[j].after) {
            busy_s +=
                ar_task_times(timing->graph, j) *
                (timing->graph->tasks[j].end_s - fmax(timing->graph->tasks[j].start_s, last_s));
            last_s = timing->graph->tasks[j].end_s;
        }
        busy_sum_s += busy_s;
    }
    timing->split = ar_graph_split_mean(splits, count);
    timing->allreduce_s = busy_sum_s / count;
    timing->iteration_ci95_s = is_uneven ? ar_confidence95(deviations, count) : 0;
    if (timer.runs_ranks && !is_uneven) {
        timing->contention_s = timing->split.longer_s;
    }
    timing->compute_s = find_compute(timing, &timing->split);
    timing->bubble_s = timing->split.bubble_s;
    timing->bubble_frac = timing->bubble_s / timing->compute_s;
    AR_TRY(job->spread_frac > 0 ? find_slowest(job, timing, err) : AR_OK);
    timing->bubble_s += timing->slowest_s;
    timing->input_wait_s = fmax(0, job_input_s(job) - wanted_s(timing));
    timing->iteration_s = wanted_s(timing) + timing->input_wait_s;
    AR_EACH(const struct ar_task, task, timing->graph->tasks, timing->graph->tasks_count) {
        const struct ar_work *work = &timing->graph->works[task->work];
        timing->copy_s += task->copy_s;
        bool is_busy = task->stream == AR_STREAM_GRADIENTS; /* counted there */
        timing->statistics_s += work->every > 0 && !is_busy ? work->time_s : 0;
    }
    timing->allreduce_s += timing->statistics_s;
    timing->payload_bytes = job->elements * job->collective.element_bytes;
    if (job->layout.model != NULL && job->band == AR_BAND_MIDDLE) {
        timing->busiest_s = timer_busiest_s(&timer, &timing->moved_j);
    }
    if (job->kind->has_baseline) {
        timing->samples_per_s = (double)job->trace->batch * ranks / timing->iteration_s;
    }
    if (timer.is_unsteady) { /* it left out periods that are not equal */
        struct ar_job whole = *job;
        whole.is_row_alone = false;
        AR_TRY(job_time(&whole, arena, timing, err));
    }
    timing->job = job;
    timing->wall_s = ar_clock_s() - began_s;
    return AR_OK;
}
