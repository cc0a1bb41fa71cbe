#include "rank.h"

#include "ar_clock.h"
#include "crew.h"

struct rank {
    struct crew crew;
    struct execution execution;
};

static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    const struct execution *execution = &((struct rank *)(void *)crew)->execution;
    struct transport *transport = execution->transport;
    AR_TRY(
        transport->calls->barrier(transport, barrier_timeout_s(execution->config->timeout_s), err));
    double begin_s = ar_clock_s();
    AR_TRY(execution_run(execution, err));
    *time_s = ar_clock_s() - begin_s;
    return AR_OK;
}

enum ar_status rank_run(const struct execution *execution, const struct payload *payload,
                        struct ar_arena *arena, struct measurement *own, struct ar_error *err)
{
    const struct run_config *config = execution->config;
    struct rank rank = {.execution = *execution};
    if (own->probe != PROBE_NONE) {
        return probe_run(execution, arena, own, err);
    }
    AR_TRY(execution_create(arena, &rank.execution, err));
    rank.crew = (struct crew){.memory = config->memory,
                              .first = execution->transport->rank,
                              .count = 1,
                              .buffers = &rank.execution.buffer,
                              .run = run};
    AR_TRY(crew_repeat(&rank.crew, config, payload, arena, own, err));
    return execution_end(&rank.execution, err);
}
