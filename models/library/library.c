#include "ar_tuning.h"

#include <math.h>

const struct ar_choice_facts ar_choices[AR_CHOICES_COUNT] = {
#define X(symbol, algorithm, protocol, name) {AR_CHOICE_##algorithm, AR_PROTOCOL_##protocol, name},
    AR_CHOICE_LIST(X)
#undef X
};

const struct ar_library_parameter_facts ar_library_parameters[AR_LIBRARY_PARAMETERS_COUNT] = {
#define X(symbol, name, unit, start, choice, latency, source)                                      \
    {name, unit, start, AR_##choice, AR_LATENCY_##latency, source},
    AR_LIBRARY_PARAMETER_LIST(X)
#undef X
};

/* The data of a tree's ll chunk, see the header. */
#define TREE_LL_CHUNK 65536.0

bool ar_choice_is_fitted(enum ar_choice choice, const struct ar_library_run *run)
{
    const struct ar_choice_facts *facts = &ar_choices[choice];
    if (facts->algorithm == AR_CHOICE_RING) {
        return facts->protocol != AR_PROTOCOL_LL128 || run->nodes == 1;
    }
    return facts->algorithm == AR_CHOICE_TREE && facts->protocol != AR_PROTOCOL_LL128 &&
           run->nodes > 1 && run->call == AR_ALL_REDUCE;
}

struct ar_library_hops ar_library_ring_hops(const struct ar_library_run *run)
{
    const struct ar_library_call_facts *call = &ar_library_call_facts[run->call];
    double rounds = call->rounds;
    double net = rounds * (run->nodes - 1);
    double all = rounds * (run->ranks - 1);
    return (struct ar_library_hops){
        .node = all - net, .net = net, .parts = call->is_chain ? run->ranks : all};
}

static struct ar_library_hops tree_hops(const struct ar_library_run *run)
{
    return (struct ar_library_hops){.node = 2 * ((double)run->ranks / run->nodes - 1),
                                    .net = 2 * log2(run->nodes)};
}

static double ramp(const double *values, double bytes)
{
    return values[AR_LL_RAMP] * bytes / (bytes + values[AR_LL_HALF]);
}

static double over(const double *values, double bytes)
{
    return fmax(0, bytes - values[AR_LL_KNEE]);
}

/* Of a run on one node or on several, there by as many as share it. */
static double bandwidth(const double *values, const struct ar_library_run *run,
                        enum ar_library_parameter node, enum ar_library_parameter net)
{
    return run->nodes > 1 ? values[net] / ar_library_sharers(run) : values[node];
}

static double ring_ll(const double *values, const struct ar_library_run *run)
{
    struct ar_library_hops hops = ar_library_ring_hops(run);
    double bytes = run->bytes / run->ranks;
    double part_s =
        over(values, bytes) / bandwidth(values, run, AR_LL_NODE_BANDWIDTH, AR_LL_NET_BANDWIDTH);
    double all = hops.node + hops.net;
    return values[AR_LL_BASE] + hops.node * values[AR_LL_NODE_LATENCY] +
           hops.net * values[AR_LL_NET_LATENCY] + all * (ramp(values, bytes) + part_s) +
           (hops.parts - all) * part_s;
}

static double ring_simple(const double *values, const struct ar_library_run *run)
{
    struct ar_library_hops hops = ar_library_ring_hops(run);
    return values[AR_SIMPLE_BASE] + hops.node * values[AR_SIMPLE_NODE_LATENCY] +
           hops.net * values[AR_SIMPLE_NET_LATENCY] +
           hops.parts * run->bytes / run->ranks /
               bandwidth(values, run, AR_SIMPLE_NODE_BANDWIDTH, AR_SIMPLE_NET_BANDWIDTH);
}

static double tree_ll(const double *values, const struct ar_library_run *run)
{
    struct ar_library_hops hops = tree_hops(run);
    double chunk = fmin(run->bytes, TREE_LL_CHUNK);
    double more = run->bytes / chunk - 1;
    double s_per_byte =
        2 / (values[AR_LL_NET_BANDWIDTH] / ar_library_sharers(run)); /* two children */
    return values[AR_LL_BASE] +
           hops.node * (values[AR_TREE_LL_NODE_LATENCY] + ramp(values, chunk)) +
           hops.net * (values[AR_TREE_LL_NET_LATENCY] + ramp(values, chunk) +
                       over(values, chunk) * s_per_byte) +
           2 * more * (ramp(values, chunk) + chunk * s_per_byte);
}

double ar_library_time(const double values[AR_LIBRARY_PARAMETERS_COUNT], enum ar_choice choice,
                       const struct ar_library_run *run)
{
    struct ar_library_hops hops =
        ar_choices[choice].algorithm == AR_CHOICE_TREE ? tree_hops(run) : ar_library_ring_hops(run);
    switch (choice) {
    case AR_RING_LL:
        return ring_ll(values, run);
    case AR_RING_LL128:
        return values[AR_LL128_BASE] + hops.node * values[AR_LL128_LATENCY] +
               hops.parts * run->bytes / run->ranks / values[AR_LL128_BANDWIDTH];
    case AR_RING_SIMPLE:
        return ring_simple(values, run);
    case AR_TREE_LL:
        return tree_ll(values, run);
    default:
        return hops.node * values[AR_TREE_SIMPLE_NODE_LATENCY] +
               hops.net * values[AR_TREE_SIMPLE_NET_LATENCY] +
               run->bytes / (values[AR_TREE_SIMPLE_BANDWIDTH] / ar_library_sharers(run) *
                             ar_tuning_tree_efficiency(run->bytes));
    }
}
