/* The parameters of the fitted model and where they start from. */
#include "ar_library_model.h"

/* Simple chains send a slot of each channel at a time: NVIDIA/nccl, 4 MiB of buffer, 8 steps. */
#define SLOT 524288.0

const struct ar_library_parameter_facts ar_library_parameters[AR_LIBRARY_PARAMETERS_COUNT] = {
#define X(symbol, name, unit, prior, choice, given, spread, source)                                \
    {name, unit, AR_PRIOR_##prior, AR_##choice, given, spread, source},
    AR_LIBRARY_PARAMETER_LIST(X)
#undef X
};

/* A hop of simple rings across the network pays its latency on the plateau: they are of large
 * messages. */
static double net_latency(const struct ar_tuning *tuning, enum ar_choice choice)
{
    double plateau = choice == AR_RING_SIMPLE ? ar_tuning_caps(tuning)->plateau : 1;
    return ar_tuning_net_latency(tuning, choice) * plateau * 1e-6;
}

/* 0 where nothing says. */
static double read_prior(const struct ar_tuning *tuning,
                         const struct ar_library_parameter_facts *facts)
{
    const struct ar_release *release = tuning->release;
    switch (facts->prior) {
    case AR_PRIOR_BASE:
        return release->latency[facts->choice].base * 1e-6;
    case AR_PRIOR_NODE: /* ll hops of one node are as those of several */
        return ar_tuning_node_latency(tuning, facts->choice, facts->choice == AR_RING_LL) * 1e-6;
    case AR_PRIOR_NET:
        return net_latency(tuning, facts->choice);
    case AR_PRIOR_LL_SHARE:
        return 1 / release->ll_divisor;
    case AR_PRIOR_LL128_SHARE:
        return release->ll128_share;
    case AR_PRIOR_TREE_SHARE:
        return release->tree_share;
    case AR_PRIOR_CHUNK:
        return tuning->channels * SLOT;
    case AR_PRIOR_NODE_BUS:
        return tuning->node_bus_Bps;
    case AR_PRIOR_NET_BUS: /* NCCL knows classes of speeds, which hold nothing back */
        return tuning->net_payload_Bps > 0 ? tuning->net_payload_Bps : tuning->net_bus_Bps;
    default:
        return 0;
    }
}

double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter)
{
    const struct ar_library_parameter_facts *facts = &ar_library_parameters[parameter];
    double prior = read_prior(tuning, facts);
    return prior > 0 ? prior : facts->given;
}

const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter)
{
    const char *source = ar_library_parameters[parameter].source;
    return source[0] != '\0' ? source : tuning->release->source;
}
