/* Times of a graph: its works by the engine, alone or in series, then begin and end of its tasks.
 * Read from the end: timer_schedule(). */
#include "timer.h"

#include <math.h>
#include <string.h>

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
    struct ar_flows *made;
    AR_EACH(const struct work_known, known, timer->known->works, timer->known->works_count) {
        if (known->flows != NULL && work_has_flows_of(&known->work, searched)) {
            *flows = known->flows;
            return AR_OK;
        }
    }
    struct ar_collective collective = work_collective(timer->job, &timer->timing->layout, searched);
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

/* Copies the values of one role to all roles, which act alike, if there are several. */
static const double *spread_role(const struct timer *timer, const double *of_role, double *of_all)
{
    uint32_t each = timer->role_ranks, roles = timer->timing->graph->roles_count;
    for (uint32_t role = 0; of_role != NULL && roles > 1 && role < roles; role++) {
        memcpy(of_all + (size_t)role * each, of_role, each * sizeof *of_all);
    }
    return of_role != NULL && roles > 1 ? of_all : of_role;
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
    trial->flows = work_is_own(timer->job, work) ? timer->flows : NULL; /* for fill_trial() */
    for (uint32_t i = 0; i < series->count; i++) {
        tasks[series->tasks[i]].start_s = trial->times[i].start_s;
        tasks[series->tasks[i]].end_s = trial->times[i].finish_s;
    }
    memcpy(finish_s,
           trial->rank_finish_s + (size_t)tasks[series->tasks[0]].role * timer->role_ranks,
           timer->role_ranks * sizeof *finish_s);
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
    uint32_t tasks = timing->graph->tasks_count, roles = timing->graph->roles_count;
    timer->role_ranks = ar_job_ranks(timer->job) / roles;
    timer->runs_ranks =
        ar_engine_simulates(timer->job->engine) && !timing->graph->has_series && tasks > 1;
    timer->calls = ar_arena_alloc(timing->arena, tasks, sizeof *timer->calls);
    timer->call_times = ar_arena_alloc(timing->arena, tasks, sizeof *timer->call_times);
    /* Messages get a work for each two stages that are unlike: those that begin and end alike
     * within nodes are one work, which is timed between the first two such stages. */
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t pairs = roles * roles;
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
        !timer.runs_ranks) {
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
                                             .ranks_count = has_clocks ? timer->role_ranks : 0,
                                             .sizes = timing->layout.sizes,
                                             .start_s = has_ranks ? timing->rank_start_s : NULL,
                                             .factor = has_ranks ? timing->rank_factor : NULL,
                                             .end_s = has_ranks ? timing->rank_end_s : NULL,
                                             .time_series = time_series,
                                             .context = timer};
    if (!timer->runs_ranks) {
        /* Works without a time are timed, except collectives of series: those beside computations
         * where ranks are looked at one by one. */
        uint32_t alone = 0;
        AR_EACH(const struct ar_task, task, timing->graph->tasks, timing->graph->tasks_count) {
            const struct ar_work *work = &timing->graph->works[task->work];
            bool may_be_of_series = has_clocks && overlap->sendings == NULL &&
                                    ar_task_may_be_of_series(timing->graph, task);
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
