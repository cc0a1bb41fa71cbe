/* Ranks as processes of MPI. */
#include "backend.h"
#include "mpi_memory.h"
#include "mpi_transport.h"
#include "mpi_world.h"
#include "probes.h"
#include "rank.h"

static const struct mpi_world *world;

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    AR_TRY(mpi_world_start(&world, err));
    *machine = mpi_world_machine(world);
    return mpi_memory_check(config->memory, world->local_rank, err);
}

static void describe(FILE *file)
{
    mpi_world_describe(world, file);
}

static const char *tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    return world->first_on_node[from] == world->first_on_node[to] ? "node" : "network";
}

/* This process as one of the ranks. */
static enum ar_status run_rank(const struct run_config *config, struct measurement *measurement,
                               const struct ports *ports, struct ar_error *err)
{
    struct mpi_transport *transport;
    struct payload payload;
    struct rank_result result = {.times_s = measurement->times_s};
    enum ar_status status =
        payload_create(measurement->type, measurement->ranks, measurement->elements, &payload, err);
    if (status != AR_OK) {
        return status;
    }
    status = mpi_transport_create(ports, measurement->ranks, config,
                                  execution_slot_bytes(measurement, config), &transport, err);
    if (status == AR_OK) {
        struct transport *base = mpi_transport_base(transport);
        status = measurement->probe != PROBE_NONE
                     ? probe_run(measurement, config, base, &result, err)
                     : rank_run(measurement, config, &payload, ports, base, &result, err);
    }
    if (status == AR_OK) { /* else the whole run is ended, and messages would be waited for */
        mpi_transport_destroy(transport);
        measurement->mismatch = result.mismatch;
    }
    payload_destroy(&payload);
    return status;
}

static enum ar_status run(const struct run_config *config, struct measurement *measurement,
                          struct ar_error *err)
{
    struct ports ports;
    enum ar_status status = AR_OK;
    if (world->rank < measurement->ranks) {
        status = measurement->probe != PROBE_NONE
                     ? probe_ports(measurement, world->rank, &ports, err)
                     : ports_create(measurement, world->rank, &ports, err);
        if (status == AR_OK) {
            status = run_rank(config, measurement, &ports, err);
            ports_destroy(&ports);
        }
    }
    if (status == AR_OK) {
        measurement->nodes = mpi_world_nodes(world, measurement->ranks);
        mpi_world_collect(measurement->ranks, measurement);
    }
    return status;
}

const struct backend backend_mpi = {
    .name = "mpi",
    .summary = "processes of MPI, one rank each; start with mpirun",
    .memories = MPI_MEMORIES,
    .start = start,
    .stop = mpi_world_stop,
    .describe = describe,
    .tier = tier,
    .run = run,
};
