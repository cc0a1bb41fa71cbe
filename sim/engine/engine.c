#include "ar_engine.h"

#include <math.h>

enum ar_status ar_engine_check(const struct ar_engine *engine,
                               const struct ar_collective *collective,
                               const struct ar_library *library, struct ar_error *err)
{
    if (engine->check != NULL) {
        return engine->check(engine, collective, library, err);
    }
    if (collective->algorithm == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "algorithm auto: engine %s makes no choice; expected an algorithm by "
                            "name, or --engine library or nccl",
                            engine->name);
    }
    return AR_OK;
}

double ar_engine_cost_s(const struct ar_engine *engine, double ranks, double channels,
                        double collectives, double messages, bool is_even)
{
    const struct ar_engine_cost *cost = &engine->cost;
    double computed = collectives * ranks * channels * cost->messages;
    messages = is_even && cost->messages > 0 && messages > computed ? computed : messages;
    double growth = cost->ranks > 0 && ranks > cost->ranks ? sqrt(ranks / cost->ranks) : 1;
    return cost->trial_s + messages * cost->message_s * growth +
           collectives * ranks * channels * cost->rank_s;
}
