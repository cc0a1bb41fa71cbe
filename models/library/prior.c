/* Where a fit starts from, by release. */
#include "tuning.h"

/* What a parameter is the latency of. */
struct meaning {
    bool is_latency;
    enum ar_choice choice;
    enum ar_tuning_hop hop;
};

static const struct meaning meanings[AR_LIBRARY_PARAMETERS_COUNT] = {
    [AR_LL_BASE] = {true, AR_RING_LL, AR_TUNING_BASE},
    [AR_LL_NODE_LATENCY] = {true, AR_RING_LL, AR_TUNING_NODE},
    [AR_LL_NET_LATENCY] = {true, AR_RING_LL, AR_TUNING_NET},
    [AR_LL128_BASE] = {true, AR_RING_LL128, AR_TUNING_BASE},
    [AR_LL128_LATENCY] = {true, AR_RING_LL128, AR_TUNING_NODE},
    [AR_SIMPLE_BASE] = {true, AR_RING_SIMPLE, AR_TUNING_BASE},
    [AR_SIMPLE_NODE_LATENCY] = {true, AR_RING_SIMPLE, AR_TUNING_NODE},
    [AR_SIMPLE_NET_LATENCY] = {true, AR_RING_SIMPLE, AR_TUNING_NET},
    [AR_TREE_LL_NODE_LATENCY] = {true, AR_TREE_LL, AR_TUNING_NODE},
    [AR_TREE_LL_NET_LATENCY] = {true, AR_TREE_LL, AR_TUNING_NET},
    [AR_TREE_SIMPLE_NODE_LATENCY] = {true, AR_TREE_SIMPLE, AR_TUNING_NODE},
    [AR_TREE_SIMPLE_NET_LATENCY] = {true, AR_TREE_SIMPLE, AR_TUNING_NET},
};

double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter)
{
    const struct meaning *meaning = &meanings[parameter];
    double start = ar_library_parameter_start(parameter);
    return meaning->is_latency ? start * ar_tuning_hop_ratio(tuning, meaning->choice, meaning->hop)
                               : start;
}

const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter)
{
    double start = ar_library_parameter_start(parameter);
    return ar_library_parameter_prior(tuning, parameter) == start
               ? ar_library_parameter_source(parameter)
               : tuning->release->source;
}
