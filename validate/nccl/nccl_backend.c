/* NCCL: its own collectives as the reference, and the 2D torus made of them. One process
 * drives all GPUs of the machine; under mpirun each process drives one. */
#include "backend.h"
#include "cuda_device.h"
#include "nccl_ranks.h"

#ifdef VALIDATE_HAS_MPI
#include "mpi_world.h"
#endif

static struct nccl_library library;
static uint32_t gpus;

#ifdef VALIDATE_HAS_MPI
static const struct mpi_world *world;

static bool is_alone(void)
{
    return world->ranks == 1;
}
#else
static bool is_alone(void)
{
    return true;
}
#endif

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    (void)config;
    *machine = (struct machine){.is_first = true};
#ifdef VALIDATE_HAS_MPI
    AR_TRY(mpi_world_start(&world, err));
    *machine = mpi_world_machine(world);
#endif
    AR_TRY(cuda_count(&gpus, err));
    if (is_alone()) {
        machine->ranks_max = gpus;
        machine->ranks_standard = gpus;
        machine->ranks_per_node = gpus;
    }
    return nccl_library_load(&library, err);
}

static void stop(int code)
{
#ifdef VALIDATE_HAS_MPI
    mpi_world_stop(code);
#else
    (void)code;
#endif
}

static void describe(FILE *file)
{
    int version = 0;
    library.get_version(&version);
    fprintf(file, "# nccl: %d.%d.%d\n", version / 10000, version % 10000 / 100, version % 100);
    cuda_describe(file, gpus);
#ifdef VALIDATE_HAS_MPI
    mpi_world_describe(world, file);
#endif
}

static bool can_run(const struct ar_algorithm *algorithm)
{
    return algorithm->calls == AR_CALLS_TORUS;
}

/* Whose ranks are here. With MPI, process 0 draws an id and all processes hear of it. */
static enum ar_status find_place(const struct measurement *measurement, struct nccl_place *place,
                                 struct ar_error *err)
{
    *place = (struct nccl_place){.count = measurement->ranks, .is_alone = is_alone()};
#ifdef VALIDATE_HAS_MPI
    if (!is_alone()) {
        if (world->rank == 0) {
            AR_TRY(nccl_check(&library, library.get_unique_id(&place->id), "ncclGetUniqueId", err));
        }
        mpi_world_broadcast((unsigned char *)&place->id, sizeof place->id);
        place->first = world->rank;
        place->count = world->rank < measurement->ranks;
        place->device = (int)(world->local_rank % gpus);
    }
#endif
    (void)err;
    return AR_OK;
}

static enum ar_status run(const struct run_config *config, struct ar_arena *arena,
                          struct measurement *measurement, struct ar_error *err)
{
    struct payload payload;
    struct nccl_place place;
    struct crew *crew;
    AR_TRY(payload_create(measurement, arena, &payload, err));
    AR_TRY(find_place(measurement, &place, err));
    if (place.count > 0) {
        AR_TRY(
            nccl_ranks_create(&library, measurement, &place, config->timeout_s, arena, &crew, err));
        AR_TRY(crew_repeat(crew, config, &payload, arena, measurement, err));
    }
    measurement->nodes = 1;
#ifdef VALIDATE_HAS_MPI
    measurement->nodes = mpi_world_nodes(world, is_alone() ? 1 : measurement->ranks);
    mpi_world_collect(measurement->ranks, measurement);
#endif
    return AR_OK;
}

const struct backend backend_nccl = {
    .name = "nccl",
    .summary = "NCCL's collectives, and torus2d made of them; one GPU per rank",
    .memories = {&memory_device},
    .is_library = true,
    .can_run = can_run,
    .start = start,
    .stop = stop,
    .describe = describe,
    .run = run,
};
