/* Choices, calls and hops of a communication library. */
#include "ar_library.h"

#include "ar_gpu_generation.h"

#define CHOICE(symbol, algorithm, protocol, name)                                                  \
    {AR_CHOICE_##algorithm, AR_PROTOCOL_##protocol, name},
const struct ar_choice_facts ar_choices[AR_CHOICES_COUNT] = {AR_CHOICE_LIST(CHOICE)};

const char *const ar_gpu_generation_names[] = {AR_GPU_GENERATION_LIST(AR_LIST_SECOND) NULL};

const char *const ar_cpu_vendor_names[] = {
    [AR_CPU_INTEL] = "intel", [AR_CPU_AMD] = "amd", [AR_CPU_OTHER] = "other", NULL};

const char *const ar_hca_kind_names[] = {[AR_HCA_INFINIBAND] = "infiniband",
                                         [AR_HCA_ROCE] = "roce",
                                         [AR_HCA_SLINGSHOT] = "slingshot",
                                         [AR_HCA_EFA] = "efa",
                                         [AR_HCA_TCPX] = "tcpx",
                                         [AR_HCA_SOCKETS] = "sockets",
                                         NULL};

struct ar_library_hops ar_library_ring_hops(const struct ar_library_run *run)
{
    bool is_chain = ar_library_is_chain(run->call);
    double rounds = is_chain ? 1 : ar_library_operations[run->call]->rounds;
    double net = rounds * (run->nodes - 1);
    double all = rounds * (run->ranks - 1);
    return (struct ar_library_hops){
        .node = all - net, .net = net, .parts = is_chain ? run->ranks : all};
}

/* --- calls ----------------------------------------------------------------------------------- */

const struct ar_operation *const ar_library_operations[AR_LIBRARY_CALLS_COUNT] = {
    [AR_ALL_REDUCE] = &ar_operation_all_reduce, [AR_REDUCE_SCATTER] = &ar_operation_reduce_scatter,
    [AR_ALL_GATHER] = &ar_operation_all_gather, [AR_REDUCE] = &ar_operation_reduce,
    [AR_BROADCAST] = &ar_operation_broadcast,   [AR_ALL_TO_ALL] = &ar_operation_all_to_all};

bool ar_library_call_find(const struct ar_operation *operation, enum ar_library_call *call)
{
    for (int i = 0; i < AR_LIBRARY_CALLS_COUNT; i++) {
        if (ar_library_operations[i] == operation) {
            *call = (enum ar_library_call)i;
            return true;
        }
    }
    return false;
}

static void list_run_of_call(struct ar_library_run run, struct ar_library_run *runs, size_t *count)
{
    if (run.ranks > 1) {
        runs[(*count)++] = run;
    }
}

size_t ar_library_calls(enum ar_calls calls, enum ar_library_call call,
                        const struct ar_shape *shape, uint32_t gpus_per_node, double bytes,
                        struct ar_library_run runs[AR_LIBRARY_CALLS_MAX])
{
    uint32_t ranks = ar_shape_ranks(shape), gpus = gpus_per_node, x = shape->x, y = shape->y;
    if (calls != AR_CALLS_TORUS && calls != AR_CALLS_LEADERS) {
        runs[0] = (struct ar_library_run){
            .nodes = (ranks + gpus - 1) / gpus, .ranks = ranks, .bytes = bytes, .call = call};
        return 1;
    }
    bool is_torus = calls == AR_CALLS_TORUS;
    bool rows_meet = y > 1 && x % gpus != 0 && gpus % x != 0;
    size_t count = 0;
    struct ar_library_run row = {.nodes = 1, /* of the longest row */
                                 .ranks = x,
                                 .bytes = bytes,
                                 .call = is_torus ? AR_REDUCE_SCATTER : AR_REDUCE,
                                 .sharers = rows_meet ? 2 : 1};
    struct ar_library_run column = {.nodes = y,
                                    .ranks = y,
                                    .bytes = is_torus ? bytes / x : bytes,
                                    .call = AR_ALL_REDUCE,
                                    .sharers = 1};
    for (uint32_t i = 0; i < y && i < gpus; i++) { /* then they begin in a node as before */
        uint64_t first = (uint64_t)i * x;
        uint32_t nodes = (uint32_t)((first + x - 1) / gpus - first / gpus) + 1;
        row.nodes = nodes > row.nodes ? nodes : row.nodes;
    }
    if (x < gpus) {
        column.nodes = (uint32_t)((uint64_t)(y - 1) * x / gpus) + 1;
    }
    if (is_torus) {
        column.sharers = x < gpus ? x : gpus;
    }
    list_run_of_call(row, runs, &count);
    list_run_of_call(column, runs, &count);
    row.call = is_torus ? AR_ALL_GATHER : AR_BROADCAST;
    list_run_of_call(row, runs, &count);
    return count;
}
