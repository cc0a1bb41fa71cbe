/* From a job to its timing: the graph of its kind, what it sends timed by the engine, scheduled
 * step by step. Read from the end: job_time(). */
#include <math.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_numbers.h"
#include "ar_text.h"
#include "kinds.h"

const char *const ar_baseline_names[] = {
    [AR_BASELINE_GPU] = "gpu", [AR_BASELINE_NODE] = "node", NULL};

uint32_t ar_job_ranks(const struct ar_job *job)
{
    uint32_t ranks = ar_collective_ranks(&job->collective);
    return ranks > 0 ? ranks : ar_layout_gpus(&job->layout);
}

struct ar_mesh ar_layout_mesh(const struct ar_layout *layout, uint32_t axes)
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

bool job_is_uneven(const struct ar_job *job)
{
    return job->jitter_frac > 0 || job->stragglers_count > 0 || job->iterations_count > 1;
}

/* --- what is sent ----------------------------------------------------------------------------- */

/* Whether a work is the collective of the job itself, which may have a shape of its own. */
static bool work_is_own(const struct ar_job *job, const struct ar_work *work)
{
    return ar_shape_ranks(&job->collective.shape) > 0 &&
           work->operation == job->collective.operation;
}

/* Whether an engine of calls has a price of a work. It has one of an all-to-all within a node (or
 * NVLink domain), on the whole of it where GPUs are joined pair by pair, unless the cluster's table
 * was fitted to other calls alone. */
static bool work_is_call(const struct ar_job *job, const struct ar_work *work)
{
    enum ar_library_call call;
    bool is_known = ar_library_call_find(work->operation, &call);
    if (!is_known || call < AR_PRICED_CALLS) {
        return is_known;
    }
    const struct ar_cluster_facts *facts = ar_cluster_facts(job->collective.cluster);
    struct ar_mesh mesh = ar_layout_mesh(&job->layout, work->axes);
    uint32_t gpus = facts->gpus_per_node * facts->nvlink_domain_nodes;
    uint32_t members = ar_mesh_node_members(&mesh, gpus);
    uint32_t measured = job->library != NULL ? job->library->calls : 0; /* 0: not known which */
    return !ar_engine_lacks_call(job->engine, call) &&
           (measured == 0 || (measured >> call & 1) != 0) &&
           (facts->has_nvswitch || members == gpus) && members == ar_mesh_group_ranks(&mesh);
}

/* The job's engine times a work, but messages for which a library's model has no calls take the
 * engine that follows them over the links. */
const struct ar_engine *work_engine(const struct ar_job *job, const struct ar_work *work)
{
    bool is_timed = work_is_own(job, work) || work_is_call(job, work);
    return is_timed ? job->engine : ar_engine_of_messages(job->engine);
}

struct ar_collective work_collective(const struct ar_job *job, const struct ar_layout *layout,
                                     const struct ar_work *work)
{
    struct ar_collective collective = job->collective;
    collective.element_bytes =
        work->element_bytes > 0 ? work->element_bytes : collective.element_bytes;
    if (work_is_own(job, work)) {
        return collective;
    }
    uint32_t lanes = collective.channels / ar_algorithm_channels(collective.algorithm);
    bool is_own =
        collective.algorithm != NULL && collective.algorithm->operation == work->operation;
    collective.operation = work->operation;
    if (!is_own) { /* the first one of the operation; NULL: the choice of a library */
        collective.algorithm = ar_engine_algorithm(work_engine(job, work), work->operation);
    }
    collective.channels = lanes * ar_algorithm_channels(collective.algorithm);
    collective.mesh = ar_layout_mesh(layout, work->axes);
    collective.root = 0;
    if (work->kind == AR_TASK_MESSAGE) { /* to the stage before the root, or back */
        bool goes_on = (work->to + 1) % layout->sizes[AR_AXIS_PP] == work->from;
        collective.root = goes_on ? work->from : work->to;
    }
    collective.shape = ar_algorithm_default_shape(
        collective.algorithm, ar_mesh_group_ranks(&collective.mesh),
        ar_mesh_node_members(&collective.mesh,
                             ar_cluster_facts(collective.cluster)->gpus_per_node));
    return collective;
}

uint64_t work_elements(const struct ar_work *work, const struct ar_collective *collective)
{
    uint32_t element = collective->element_bytes;
    return (work->bytes + element - 1) / element;
}

bool work_has_flows_of(const struct ar_work *known, const struct ar_work *work)
{
    return known->kind == work->kind && known->operation == work->operation &&
           known->axes == work->axes && known->element_bytes == work->element_bytes &&
           known->from == work->from && known->to == work->to;
}

struct work_known *timer_find_known(struct timer *timer, const struct ar_work *work)
{
    struct ar_known *known = timer->known;
    for (size_t i = 0; i < known->works_count; i++) {
        const struct ar_work *other = &known->works[i].work;
        if (work_has_flows_of(other, work) && other->bytes == work->bytes &&
            other->share == work->share && other->every == work->every) {
            return &known->works[i];
        }
    }
    struct work_known *made = AR_ARENA_ADD(known->arena, known->works, known->works_count);
    *made = (struct work_known){.work = *work, .time_s = AR_GRAPH_UNTIMED};
    return made;
}

enum ar_status timer_find_flows(struct timer *timer, uint32_t work, const struct ar_flows **flows,
                                struct ar_error *err)
{
    const struct ar_work *searched = &timer->timing->graph->works[work];
    struct ar_collective collective = work_collective(timer->job, &timer->timing->layout, searched);
    struct ar_flows *made;
    AR_EACH(const struct work_known, known, timer->known->works, timer->known->works_count) {
        if (known->flows != NULL && work_has_flows_of(&known->work, searched)) {
            *flows = known->flows;
            return AR_OK;
        }
    }
    AR_TRY(ar_engine_make_flows(work_engine(timer->job, searched), &collective, &made, err));
    *flows = made != NULL ? ar_arena_own(timer->known->arena, made, ar_flows_destroy) : NULL;
    timer_find_known(timer, searched)->flows = *flows;
    return AR_OK;
}

/* Runs a work alone, in all its groups. */
static enum ar_status time_work(struct timer *timer, uint32_t number, struct ar_error *err)
{
    const struct ar_job *job = timer->job;
    struct ar_timing *timing = timer->timing;
    struct ar_work *work = &timing->graph->works[number];
    bool is_all = timing->graph->tasks_count == 1; /* a bare collective */
    struct ar_trial trial = {.collective = work_collective(job, &timing->layout, work),
                             .calls = timer->calls,
                             .calls_count = 1,
                             .times = timer->call_times,
                             .library = job->library,
                             .band = job->band};
    double share = work->share > 0 ? work->share : 1;
    struct work_known *known = timer_find_known(timer, work);
    if (known->time_s == AR_GRAPH_UNTIMED || is_all) {
        timer->calls[0] = (struct ar_call){
            .elements = (uint64_t)ceil((double)work_elements(work, &trial.collective) / share)};
        trial.flows = timer->flows;
        AR_TRY(is_all ? AR_OK : timer_find_flows(timer, number, &trial.flows, err));
        AR_TRY(ar_trial_run(&trial, work_engine(job, work), err));
        known->time_s = share * (trial.times->finish_s - trial.times->start_s) /
                        (work->every > 0 ? work->every : 1);
        known->messages_count = trial.messages_count;
        known->exact = trial.exact || work->every > 0;
    }
    work->time_s = known->time_s;
    timer->works_messages += known->messages_count;
    timing->exact = timing->exact && known->exact;
    if (is_all) {
        timing->trial = trial;
    }
    return AR_OK;
}

/* --- series ----------------------------------------------------------------------------------- */

/* Ranks of a role. */
static uint32_t count_places(const struct timer *timer)
{
    return ar_job_ranks(timer->job) / timer->timing->graph->roles_count;
}

/* Copies the values of one role to all roles, which act alike. */
static const double *spread_role(const struct timer *timer, const double *of_role, double *of_all)
{
    uint32_t each = count_places(timer);
    for (uint32_t role = 0; of_role != NULL && role < timer->timing->graph->roles_count; role++) {
        memcpy(of_all + (size_t)role * each, of_role, each * sizeof *of_all);
    }
    return of_role != NULL ? of_all : NULL;
}

static enum ar_status time_series(void *context, const struct ar_graph_series *series,
                                  double *finish_s, struct ar_error *err)
{
    struct timer *timer = context;
    struct ar_timing *timing = timer->timing;
    struct ar_task *tasks = timing->graph->tasks;
    const struct ar_work *work = &timing->graph->works[tasks[series->tasks[0]].work];
    const struct ar_workload *workload = timing->workload;
    bool has_parts = workload != NULL && workload->buckets_count == series->count;
    struct ar_trial *trial = &timing->trial;
    *trial = (struct ar_trial){
        .collective = work_collective(timer->job, &timing->layout, work),
        .calls = timer->calls,
        .calls_count = series->count,
        .flows = work_is_own(timer->job, work) ? timer->flows : NULL,
        .parts_end_s = has_parts ? workload->parts_end_s : NULL,
        .rank_start_s = spread_role(timer, series->start_s, timer->series_start_s),
        .rank_factor = spread_role(timer, series->factor, timer->series_factor),
        .library = timer->job->library,
        .band = timer->job->band,
        .times = timer->call_times,
        .rank_finish_s = timer->rank_finish_s,
        .timeline = timer->timeline,
        .usage = timer->job->usage};
    if (trial->flows == NULL) {
        AR_TRY(timer_find_flows(timer, tasks[series->tasks[0]].work, &trial->flows, err));
    }
    for (uint32_t i = 0; i < series->count; i++) {
        const struct ar_task *task = &tasks[series->tasks[i]];
        timer->calls[i] = (struct ar_call){
            .ready_s = series->ready_s[i],
            .parts = has_parts ? workload->buckets[i].parts : 0,
            .elements = work_elements(&timing->graph->works[task->work], &trial->collective),
            .wait_s = task->wait_s,
            .copy_s = task->copy_s};
    }
    for (uint32_t i = 0; timer->agreed_s != NULL && i < trial->calls_count; i++) {
        bool is_even; /* a negotiation ends on all ranks at once, after the slowest is ready */
        timer->agreed_s[i] = ar_trial_ready_on_all(trial, i, &is_even);
    }
    trial->agreed_s = trial->rank_factor != NULL ? timer->agreed_s : NULL;
    AR_TRY(ar_trial_run(trial, timer->job->engine, err));
    trial->flows =
        work_is_own(timer->job, work) ? timer->flows : NULL; /* fill_trial() reads these */
    for (uint32_t i = 0; i < series->count; i++) {
        tasks[series->tasks[i]].start_s = trial->times[i].start_s;
        tasks[series->tasks[i]].end_s = trial->times[i].finish_s;
    }
    uint32_t each = count_places(timer);
    memcpy(finish_s, trial->rank_finish_s + (size_t)tasks[series->tasks[0]].role * each,
           each * sizeof *finish_s);
    timing->messages_count += trial->messages_count;
    timing->exact = timing->exact && trial->exact;
    return AR_OK;
}

/* --- the graph -------------------------------------------------------------------------------- */

/* Are the GPUs of two roles at the same places of their nodes as those of two others, as far from
 * each other? A pair of roles has the number from * roles + to. */
static bool pairs_are_alike(const struct ar_job *job, uint32_t roles, uint32_t one, uint32_t other)
{
    const struct ar_cluster *cluster = job->collective.cluster;
    uint32_t gpus_per_node = ar_cluster_facts(cluster)->gpus_per_node;
    uint32_t places = ar_job_ranks(job) / roles;
    uint32_t from = one / roles * places, to = one % roles * places;
    uint32_t other_from = other / roles * places, other_to = other % roles * places;
    if ((from - other_from) % gpus_per_node != 0 || (to - other_to) % gpus_per_node != 0) {
        return false;
    }
    for (uint32_t i = 0; i < places; i++) {
        struct ar_path path, compared;
        ar_cluster_path(cluster, from + i, to + i, &path);
        ar_cluster_path(cluster, other_from + i, other_to + i, &compared);
        if (path.tier != compared.tier || path.latency_s != compared.latency_s ||
            path.bandwidth_Bps != compared.bandwidth_Bps) {
            return false;
        }
    }
    return true;
}

static bool is_between_stages(const struct ar_work *work)
{
    return work->kind == AR_TASK_MESSAGE && work->time_s == AR_GRAPH_UNTIMED;
}

enum ar_status timer_make_graph(struct timer *timer, const struct ar_slowdown *slowdown,
                                struct ar_error *err)
{
    struct ar_timing *timing = timer->timing;
    AR_TRY(timer->job->kind->graph(timer->job, slowdown, timing, err));
    uint32_t tasks = timing->graph->tasks_count;
    timer->calls = ar_arena_alloc(timing->arena, tasks, sizeof *timer->calls);
    timer->call_times = ar_arena_alloc(timing->arena, tasks, sizeof *timer->call_times);
    /* Messages get a work for each two stages that are unlike: those that begin and end alike
     * within nodes are one work, which is timed between the first two such stages. */
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t roles = timing->graph->roles_count, pairs = roles * roles;
    bool has_messages = false;
    /* [pair]: 0: no such message; else 1 and the number of the first pair that is alike */
    uint32_t *known = ar_arena_alloc(&arena, pairs, sizeof *known);
    AR_EACH(const struct ar_task, task, timing->graph->tasks, timing->graph->tasks_count) {
        if (is_between_stages(&timing->graph->works[task->work])) {
            known[task->role * roles + task->to] = UINT32_MAX;
            has_messages = true;
        }
    }
    for (uint32_t i = 0; has_messages && i < pairs; i++) {
        uint32_t first = 0;
        while (known[i] != 0 && first < i &&
               (known[first] != first + 1 || !pairs_are_alike(timer->job, roles, i, first))) {
            first++;
        }
        known[i] = known[i] != 0 ? first + 1 : 0;
    }
    for (uint32_t i = 0; has_messages && i < timing->graph->tasks_count; i++) {
        struct ar_task *task = &timing->graph->tasks[i];
        struct ar_work *work = &timing->graph->works[task->work];
        if (is_between_stages(work)) {
            uint32_t pair = known[task->role * roles + task->to] - 1;
            if (work->from == work->to) { /* the first pair takes the work that there is */
                work->from = pair / roles;
                work->to = pair % roles;
            }
            struct ar_work wanted = *work;
            wanted.from = pair / roles;
            wanted.to = pair % roles;
            task->work = ar_graph_work(timing->graph, &wanted);
        }
    }
    return AR_OK;
}

bool timer_runs_ranks(const struct timer *timer)
{
    return ar_engine_simulates(timer->job->engine) && !timer->timing->graph->has_series &&
           timer->timing->graph->tasks_count > 1;
}

void ar_timing_graph_trial(const struct ar_timing *timing, struct ar_graph_trial *trial)
{
    const struct ar_job *job = timing->job;
    struct ar_graph *graph = timing->graph;
    struct ar_graph_sending *sendings =
        ar_arena_alloc(timing->arena, graph->works_count, sizeof *sendings);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].kind != AR_TASK_COMPUTE) {
            sendings[i].collective = work_collective(job, &timing->layout, &graph->works[i]);
            sendings[i].elements = work_elements(&graph->works[i], &sendings[i].collective);
        }
    }
    *trial = (struct ar_graph_trial){.graph = graph,
                                     .cluster = job->collective.cluster,
                                     .ranks = ar_job_ranks(job),
                                     .sendings = sendings,
                                     .usage = job->usage,
                                     .rank_factor =
                                         timing->rank_end_s != NULL ? timing->rank_factor : NULL};
}

double ar_job_ranks_messages(const struct ar_job *job)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_job row_alone = *job;
    row_alone.is_row_alone = true;
    struct ar_timing timing = {.job = &row_alone, .arena = &arena, .layout = job->layout};
    struct timer timer = {.job = &row_alone, .timing = &timing};
    struct ar_graph_trial trial;
    if (job->kind->graph == NULL || timer_make_graph(&timer, NULL, AR_IGNORED) != AR_OK ||
        !timer_runs_ranks(&timer)) {
        return 0;
    }
    timing.graph->periods = NULL;
    ar_timing_graph_trial(&timing, &trial);
    return (double)job->iterations_count *
           (double)ar_graph_trial_messages(&trial, AR_ENGINE_EXCHANGE_WEIGHT);
}

enum ar_status timer_schedule(struct timer *timer, bool has_ranks, struct ar_error *err)
{
    struct ar_timing *timing = timer->timing;
    const struct overlap *overlap = &timer->overlap;
    bool has_clocks = has_ranks || timing->graph->has_series;
    const struct ar_graph_request request = {.slowdowns = overlap->slowdowns,
                                             .sendings = overlap->sendings,
                                             .speeds = overlap->speeds,
                                             .ranks_count = has_clocks ? count_places(timer) : 0,
                                             .sizes = timing->layout.sizes,
                                             .start_s = has_ranks ? timing->rank_start_s : NULL,
                                             .factor = has_ranks ? timing->rank_factor : NULL,
                                             .end_s = has_ranks ? timing->rank_end_s : NULL,
                                             .time_series = time_series,
                                             .context = timer};
    if (!timer_runs_ranks(timer)) {
        /* Works without a time are timed, except collectives of series: those beside computations
         * where ranks are looked at one by one. */
        uint32_t alone = 0;
        AR_EACH(const struct ar_task, task, timing->graph->tasks, timing->graph->tasks_count) {
            const struct ar_work *work = &timing->graph->works[task->work];
            bool may_be_of_series = has_clocks && overlap->sendings == NULL &&
                                    work->kind == AR_TASK_COLLECTIVE && work->every == 0 &&
                                    work->share == 0 && task->stream != AR_STREAM_COMPUTE;
            bool is_sent = work->kind != AR_TASK_COMPUTE && work->every == 0;
            alone += is_sent && !may_be_of_series ? 1 : 0;
            if (work->time_s == AR_GRAPH_UNTIMED && !may_be_of_series) {
                AR_TRY(time_work(timer, task->work, err));
            }
        }
        timing->messages_count = timer->works_messages;
        /* Neglected: ranks end a message at different times; here all wait for the last one. */
        timing->exact = timing->exact && (timing->graph->has_series || alone <= 1);
        AR_TRY(ar_graph_schedule_with(timing->graph, &request, err));
        timer->is_unsteady = timing->graph->periods != NULL && !ar_periods_find(timing->graph);
        return AR_OK;
    }
    /* The engine runs all ranks, with all that they send at once. */
    struct ar_graph_trial trial;
    for (uint32_t i = 0; i < timing->graph->works_count; i++) {
        const struct ar_work *work = &timing->graph->works[i];
        if (work->every > 0 && work->time_s == AR_GRAPH_UNTIMED) {
            AR_TRY(time_work(timer, i, err));
        }
    }
    ar_timing_graph_trial(timing, &trial);
    if (has_ranks) {
        trial.rank_start_s = timing->rank_start_s;
        trial.rank_factor = timing->rank_factor;
        trial.rank_end_s = timing->rank_end_s;
    }
    AR_TRY(job_find_speed(timer->job, &trial.speed_frac, err));
    AR_TRY(timer->job->engine->run_graph(&trial, err));
    timer->is_unsteady = trial.graph->periods != NULL && isnan(trial.graph->periods->period_s);
    timing->messages_count = trial.messages_count;
    return AR_OK;
}

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
    double begin_s = 0, end_s = 0;
    for (uint32_t rank = 0; rank < ar_job_ranks(timing->job); rank++) {
        begin_s = fmax(begin_s, timing->rank_start_s[rank]);
        end_s = fmax(end_s, timing->rank_end_s[rank]);
    }
    return end_s - begin_s - find_compute(timing, split) - split->bubble_s;
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
                first_s = fmin(first_s, timing->rank_end_s[rank]);
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
    if (timer_runs_ranks(&timer) && !is_uneven) {
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
