/* The links in a step: how long the busiest one is busy, which is its bytes over its bandwidth
 * whatever hides them, and the energy of all links. */
#include <math.h>

#include "ar_link_load.h"
#include "timer.h"

double timer_busiest_s(const struct timer *timer, double *moved_j)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_graph *graph = timer->timing->graph;
    const struct ar_cluster *cluster = timer->job->collective.cluster;
    uint32_t links = ar_cluster_links_among(cluster, ar_job_ranks(timer->job));
    bool knows_links = timer->job->library == NULL;
    double busiest_s = NAN, energy_j = 0;
    struct ar_link_load *loads = ar_arena_alloc(&arena, links, sizeof *loads);
    /* How often each role does a work: [work][role]. */
    size_t roles = graph->roles_count;
    double *times = ar_arena_alloc(&arena, graph->works_count * roles + 1, sizeof *times);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        times[task->work * roles + task->role] += task->count * ar_task_times(graph, i);
    }
    /* Flows are of all stages at once, which differ in what they send: the busiest one counts. */
    for (size_t i = 0; knows_links && i < timer->known->works_count; i++) {
        const struct work_known *known = &timer->known->works[i];
        double most = 0;
        double *elements = ar_arena_alloc(&arena, roles, sizeof *elements); /* [role] */
        for (uint32_t j = 0; j < graph->works_count && known->flows != NULL; j++) {
            const struct ar_work *work = &graph->works[j];
            if (work->kind != AR_TASK_COMPUTE && work_has_flows_of(&known->work, work)) {
                struct ar_collective collective =
                    work_collective(timer->job, &timer->timing->layout, work);
                double each =
                    (double)work_elements(work, &collective) / (work->every > 0 ? work->every : 1);
                double each_j = each * collective.element_bytes / collective.channels *
                                known->flows->energy_j_per_byte /
                                (work->kind == AR_TASK_MESSAGE ? 1 : (double)roles);
                for (size_t role = 0; role < roles; role++) {
                    energy_j += times[j * roles + role] * each_j;
                    elements[role] += times[j * roles + role] * each;
                    most = fmax(most, elements[role]);
                }
                busiest_s = 0;
            }
        }
        if (most >= 1) { /* else it is of another job */
            ar_link_load_add_flows(known->flows, (uint64_t)most, loads);
        }
    }
    for (uint32_t i = 0; i < links; i++) {
        double busy_s = (double)loads[i].bytes / ar_cluster_link_bandwidth(cluster, i);
        busiest_s = busy_s > busiest_s ? busy_s : busiest_s;
    }
    *moved_j = isnan(busiest_s) && ar_job_ranks(timer->job) > 1 ? NAN : energy_j;
    return busiest_s;
}
