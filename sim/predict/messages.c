/* Messages between stages: those that begin and end alike within nodes are one work, which is timed
 * between the first two such stages. */
#include "timer.h"

struct pair {
    uint32_t from, to; /* roles */
};

/* Are the GPUs of two roles at the same places of their nodes as those of two others, as far from
 * each other? */
static bool pairs_are_alike(const struct ar_job *job, const struct ar_graph *graph, struct pair one,
                            struct pair other)
{
    const struct ar_cluster *cluster = job->collective.cluster;
    uint32_t gpus_per_node = ar_cluster_facts(cluster)->gpus_per_node;
    uint32_t places = ar_job_ranks(job) / graph->roles_count;
    if ((one.from * places - other.from * places) % gpus_per_node != 0 ||
        (one.to * places - other.to * places) % gpus_per_node != 0) {
        return false;
    }
    for (uint32_t i = 0; i < places; i++) {
        struct ar_path path, compared;
        ar_cluster_path(cluster, one.from * places + i, one.to * places + i, &path);
        ar_cluster_path(cluster, other.from * places + i, other.to * places + i, &compared);
        if (path.tier != compared.tier || path.latency_s != compared.latency_s ||
            path.bandwidth_Bps != compared.bandwidth_Bps) {
            return false;
        }
    }
    return true;
}

/* The pair that stands for a pair, and for those before it that are alike; or itself. */
static struct pair find_pair(const struct ar_job *job, const struct ar_graph *graph,
                             const uint32_t *known, uint32_t number)
{
    uint32_t roles = graph->roles_count;
    struct pair own = {number / roles, number % roles};
    for (uint32_t i = 0; i < roles * roles; i++) {
        struct pair other = {i / roles, i % roles};
        if (known[i] == i + 1 && pairs_are_alike(job, graph, own, other)) {
            return other;
        }
    }
    return own;
}

static bool is_between_stages(const struct ar_work *work)
{
    return work->kind == AR_TASK_MESSAGE && work->time_s == AR_GRAPH_UNTIMED;
}

/* The work of a message between two roles; the first pair takes the work that there is. */
static uint32_t work_between(struct ar_graph *graph, uint32_t number, struct pair pair)
{
    struct ar_work *work = &graph->works[number];
    if (work->from == work->to) {
        work->from = pair.from;
        work->to = pair.to;
    }
    struct ar_work wanted = *work;
    wanted.from = pair.from;
    wanted.to = pair.to;
    return ar_graph_work(graph, &wanted);
}

static uint32_t pair_number(const struct ar_graph *graph, const struct ar_task *task)
{
    return task->role * graph->roles_count + task->to;
}

void graph_part_messages(const struct ar_job *job, struct ar_timing *timing)
{
    struct ar_graph *graph = timing->graph;
    uint32_t roles = graph->roles_count;
    bool has_messages = false;
    /* 0: no such message; else the number of the pair that stands for it, and 1 */
    uint32_t *known = ar_arena_alloc(timing->arena, (size_t)roles * roles, sizeof *known);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        if (is_between_stages(&graph->works[graph->tasks[i].work])) {
            known[pair_number(graph, &graph->tasks[i])] = UINT32_MAX;
            has_messages = true;
        }
    }
    for (uint32_t i = 0; has_messages && i < roles * roles; i++) {
        if (known[i] != 0) {
            struct pair found = find_pair(job, graph, known, i);
            known[i] = found.from * roles + found.to + 1;
        }
    }
    for (uint32_t i = 0; has_messages && i < graph->tasks_count; i++) {
        struct ar_task *task = &graph->tasks[i];
        if (is_between_stages(&graph->works[task->work])) {
            uint32_t found = known[pair_number(graph, task)] - 1;
            task->work =
                work_between(graph, task->work, (struct pair){found / roles, found % roles});
        }
    }
}

/* --- messages between any two GPUs ----------------------------------------------------------- */

static struct ar_hop_time find_hop(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct ar_cluster *cluster = context;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_path path;
    (void)ar_cluster_path(cluster, from, to, &path);
    return (struct ar_hop_time){
        .time_s = (double)bytes / path.bandwidth_Bps + ar_message_gap_s(&facts->message, path.tier),
        .latency_s = facts->collective_setup_s + path.latency_s +
                     ar_message_extra_s(&facts->message, path.tier, (double)bytes)};
}

struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster)
{
    return (struct ar_hops){.find = find_hop, .context = cluster};
}
