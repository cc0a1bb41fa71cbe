/* Parent side of actors. */
#include "ar_actors.h"

#include "ar_clock.h"
#include "simgrid_child.h"

enum ar_status ar_actors_run(struct ar_actors *actors, struct ar_error *err)
{
    double began_s = ar_clock_s();
    struct actors_task own = {.actors = actors};
    const struct iovec results[] = {{actors->results, actors->results_size},
                                    {&own.end_s, sizeof own.end_s},
                                    {&own.messages_count, sizeof own.messages_count}};
    own.simulation =
        (struct simgrid_simulation){.task = {.kind = SIMGRID_ACTORS, .actors_count = actors->count},
                                    .cluster = actors->cluster,
                                    .pairs = actors->pairs,
                                    .pairs_count = actors->pairs_count,
                                    .results = results,
                                    .results_count = sizeof results / sizeof results[0]};
    for (uint32_t i = 0; i < actors->count; i++) {
        uint32_t ranks = actors->gpus[i] + 1;
        own.simulation.ranks = ranks > own.simulation.ranks ? ranks : own.simulation.ranks;
    }
    AR_TRY(simgrid_simulate(&own.simulation, err));
    AR_TRY(simgrid_describe(actors->options, sizeof actors->options, err));
    actors->end_s = own.end_s;
    actors->messages_count = own.messages_count;
    actors->memory_bytes = own.simulation.memory_bytes;
    actors->wall_s = ar_clock_s() - began_s;
    return AR_OK;
}
