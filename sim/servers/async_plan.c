#include "async_plan.h"

#include <math.h>
#include <string.h>

const char *const ar_servers_at_names[] = {[AR_SERVERS_AT_NODES] = "nodes",
                                           [AR_SERVERS_AT_WORKERS] = "workers",
                                           [AR_SERVERS_AT_BOTH] = "both",
                                           NULL};
const char *const ar_worker_names[] = {[AR_WORKER_GPU] = "gpu", [AR_WORKER_NODE] = "node", NULL};
const char *const ar_pull_names[] = {[AR_PULL_WHOLE] = "whole", [AR_PULL_SLICED] = "sliced", NULL};
static uint32_t count_worker_nodes(const struct ar_async *run)
{
    return (run->workers * run->gpus_each - 1) / ar_cluster_facts(run->cluster)->gpus_per_node + 1;
}

/* --- before a run ----------------------------------------------------------------------------- */

enum { PAIRS_MAX = 100000000 }; /* simulated, each is four actors, which 32 bits number */

enum ar_status ar_async_check(const char *where, const struct ar_async *run, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(run->cluster);
    uint64_t there = ar_cluster_gpus_count(run->cluster) / facts->gpus_per_node;
    uint64_t nodes = count_worker_nodes(run);
    AR_REFUSE(run->servers_at != AR_SERVERS_AT_WORKERS && nodes + run->servers > there, err,
              AR_USAGE,
              "%s: found %u servers on nodes of their own beside %u nodes of workers; expected at "
              "most the %u nodes of cluster %s in all, or --servers-at workers",
              where, run->servers, (uint32_t)nodes, (uint32_t)there, facts->name);
    uint64_t gpus = (uint64_t)run->workers * run->gpus_each;
    uint64_t shards = run->servers + (run->servers_at == AR_SERVERS_AT_BOTH ? nodes : 0);
    AR_REFUSE(gpus * shards > PAIRS_MAX, err, AR_USAGE,
              "%s: found %llu shards for %llu GPUs; expected at most %d pairs of a shard and a GPU",
              where, (unsigned long long)shards, (unsigned long long)gpus, PAIRS_MAX);
    return AR_OK;
}

void ar_async_prepare(struct ar_async *run, struct ar_arena *arena)
{
    size_t splits = run->workers * sizeof *run->splits;
    run->results_size = splits + run->workers * sizeof *run->end_s;
    char *results = ar_arena_alloc(arena, run->results_size, 1);
    run->results = results;
    run->splits = (struct ar_async_split *)results;
    run->end_s = (double *)(results + splits);
}

void async_plan_begin(struct ar_async *run)
{
    memset(run->results, 0, run->results_size);
    run->messages_count = 0;
}

/* --- servers ---------------------------------------------------------------------------------- */

static void place_shards(const struct ar_async *run, struct async_plan *plan)
{
    double n = count_worker_nodes(run);
    double k = fmin(run->servers, n);
    bool is_both = run->servers_at == AR_SERVERS_AT_BOTH;
    double parts = n * n + k * n - 2 * k;
    bool is_alone = run->servers > k || parts == 0; /* nothing is left for the workers' nodes */
    double frac = is_both && !is_alone ? 2 * (n - 1) / parts : 1.0 / run->servers;
    bool is_beside = run->servers_at == AR_SERVERS_AT_WORKERS;
    for (uint32_t i = 0; i < run->servers; i++) {
        uint32_t node = is_beside ? i % count_worker_nodes(run) : count_worker_nodes(run) + i;
        plan->shards[plan->shards_count++] = (struct async_shard){node, frac};
    }
    for (uint32_t i = 0; is_both && !is_alone && n > k && i < count_worker_nodes(run); i++) {
        plan->shards[plan->shards_count++] = (struct async_shard){i, (n - k) / parts};
    }
}

/* A server has a place for each HCA of its node: the first GPU on it. */
uint32_t async_plan_place(const struct ar_async *run, const struct async_shard *shard, uint32_t gpu)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(run->cluster);
    uint32_t gpus = facts->gpus_per_node;
    uint32_t hcas = facts->hcas_per_node > 0 ? facts->hcas_per_node : 1;
    uint32_t hca = gpu % gpus * hcas / gpus;
    return shard->node * gpus + (hca * gpus + hcas - 1) / hcas;
}

double ar_async_deal_s(const struct ar_async *run)
{
    bool is_beside = run->servers_at == AR_SERVERS_AT_WORKERS;
    const struct async_shard first = {.node = is_beside ? 0 : count_worker_nodes(run)};
    uint32_t last = run->workers * run->gpus_each - 1;
    uint32_t place = async_plan_place(run, &first, last);
    struct ar_path path = {.latency_s = 0};
    if (place != last) {
        ar_cluster_path(run->cluster, last, place, &path);
    }
    return 2 * path.latency_s;
}

/* In exchanges. */
static uint32_t find_staleness(const struct ar_async *run)
{
    return run->staleness == AR_ASYNC_FREE ? AR_ASYNC_FREE : run->staleness / run->every;
}

bool ar_async_is_loose(const struct ar_async *run)
{
    return find_staleness(run) > 0;
}

/* --- the plan --------------------------------------------------------------------------------- */

void async_plan_make(const struct ar_async *run, struct ar_arena *arena, struct async_plan *plan)
{
    *plan = (struct async_plan){
        .rounds = run->steps_count / run->every,
        .staleness = find_staleness(run),
        .end_pulls = run->pull == AR_PULL_SLICED ? 1 : run->slices_count,
        .segments =
            ar_arena_alloc(arena, 2 * (size_t)run->slices_count + 2, sizeof(struct async_segment)),
        .shards = ar_arena_alloc(arena, (size_t)run->servers + count_worker_nodes(run),
                                 sizeof(struct async_shard))};
    /* The forward pass, by slices if they are pulled so: as long as they are large. */
    uint32_t count = run->slices_count;
    double bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += (double)run->slices[i].bytes;
    }
    for (uint32_t i = 0; i < count && run->pull == AR_PULL_SLICED; i++) {
        double part = (double)run->slices[async_plan_pulled(run, i)].bytes / bytes;
        plan->segments[plan->segments_count++] = (struct async_segment){
            .time_s = part * run->forward_s, .pulled = i + 1, .is_forward = true};
    }
    if (run->pull == AR_PULL_WHOLE) {
        plan->segments[plan->segments_count++] =
            (struct async_segment){.time_s = run->forward_s, .pulled = count};
    }
    /* Steps without an exchange, and the backward pass of the last one up to each slice. */
    double last_s = -((run->every - 1) * (run->forward_s + run->backward_s));
    for (uint32_t i = 0; i < count; i++) {
        plan->segments[plan->segments_count++] = (struct async_segment){
            .time_s = run->slices[i].ready_s - last_s, .pulled = count, .pushes = true};
        last_s = run->slices[i].ready_s;
    }
    plan->segments[plan->segments_count++] =
        (struct async_segment){.time_s = fmax(0, run->backward_s - last_s), .pulled = count};
    place_shards(run, plan);
    /* The factor of an exchange is the mean over its steps. */
    plan->factors = run->factors;
    if (run->factors != NULL && run->every > 1) {
        double *factors =
            ar_arena_alloc(arena, (size_t)plan->rounds * run->workers, sizeof *plan->factors);
        for (size_t step = 0; step < (size_t)plan->rounds * run->every; step++) {
            for (uint32_t worker = 0; worker < run->workers; worker++) {
                factors[step / run->every * run->workers + worker] +=
                    run->factors[step * run->workers + worker] / run->every;
            }
        }
        plan->factors = factors;
    }
}

/* --- where the time went ---------------------------------------------------------------------- */

void async_plan_waited(struct ar_async *run, uint32_t worker, double from_s, double to_s,
                       struct async_cause cause)
{
    struct ar_async_split *split = &run->splits[worker];
    double pushed_s = fmin(fmax(cause.pushed_s, from_s), to_s);
    double allowed_s = fmin(fmax(cause.allowed_s, pushed_s), to_s);
    split->push_s += pushed_s - from_s;
    split->wait_s += allowed_s - pushed_s;
    split->pull_s += to_s - allowed_s;
}

double ar_async_iteration_s(const struct ar_async *run)
{
    double steps_per_s = 0;
    for (uint32_t i = 0; i < run->workers; i++) {
        steps_per_s += run->steps_count / run->end_s[i];
    }
    return run->workers / steps_per_s;
}

struct ar_async_split ar_async_split_mean(const struct ar_async *run)
{
    struct ar_async_split mean = {0, 0, 0, 0};
    double iteration_s = ar_async_iteration_s(run);
    for (uint32_t i = 0; i < run->workers; i++) {
        double part = iteration_s / run->end_s[i] / run->workers;
        mean.compute_s += run->splits[i].compute_s * part;
        mean.push_s += run->splits[i].push_s * part;
        mean.wait_s += run->splits[i].wait_s * part;
        mean.pull_s += run->splits[i].pull_s * part;
    }
    return mean;
}
