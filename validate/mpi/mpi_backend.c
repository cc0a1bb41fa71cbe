/* Ranks as processes of MPI. Their buffers are in GPU memory too, if the program was built with
 * CUDA and the library says that it is CUDA-aware. */
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "backend.h"
#include "mpi_world.h"
#include "rank.h"

static const struct mpi_world *world;

/* MPICH has no such question; it is taken at its word that it was built for the GPUs. */
static bool is_cuda_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#elif defined(OPEN_MPI)
    return false;
#else
    return true;
#endif
}

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    const struct memory *memory = config->memory;
    AR_TRY(mpi_world_start(&world, err));
    *machine = mpi_world_machine(world);
    if (!memory->is_host && !is_cuda_aware()) {
        return ar_error_set(
            err, AR_UNAVAILABLE,
            "--memory %s: this MPI library is not CUDA-aware; expected one that is, "
            "or --memory host",
            memory->name);
    }
    return memory->select != NULL ? memory->select(world->local_rank, err) : AR_OK;
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
static enum ar_status run_rank(const struct run_config *config, struct ar_arena *arena,
                               struct measurement *measurement, struct ar_error *err)
{
    struct ports ports;
    struct payload payload;
    struct execution execution = {.measurement = measurement, .config = config, .ports = &ports};
    uint32_t ranks = measurement->ranks;
    AR_TRY(ports_create(measurement, world->rank, arena, &ports, err));
    AR_TRY(payload_create(measurement, arena, &payload, err));
    AR_TRY(mpi_transport_create(&ports, ranks, config, execution_slot_bytes(measurement, config),
                                arena, &execution.transport, err));
    return rank_run(&execution, &payload, arena, measurement, err);
}

static enum ar_status run(const struct run_config *config, struct ar_arena *arena,
                          struct measurement *measurement, struct ar_error *err)
{
    if (world->rank < measurement->ranks) {
        AR_TRY(run_rank(config, arena, measurement, err));
    }
    measurement->nodes = mpi_world_nodes(world, measurement->ranks);
    mpi_world_collect(measurement->ranks, measurement);
    return AR_OK;
}

const struct backend backend_mpi = {
    .name = "mpi",
    .summary = "processes of MPI, one rank each; start with mpirun",
#ifdef VALIDATE_HAS_CUDA
    .memories = {&memory_host, &memory_device},
#else
    .memories = {&memory_host},
#endif
    .start = start,
    .stop = mpi_world_stop,
    .describe = describe,
    .tier = tier,
    .run = run,
};
