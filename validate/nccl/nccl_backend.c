/* NCCL: its own all-reduce as the reference, and the 2D torus made of its collectives. One process
 * drives all GPUs of the machine; under mpirun each process drives one. */
#include <stdlib.h>

#include "backend.h"
#include "cuda_device.h"
#include "memory_device.h"
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

/* One run of all ranks of this process: fill, run, check. */
static enum ar_status repeat(struct nccl_ranks *ranks, const struct nccl_place *place,
                             const struct payload *payload, double timeout_s,
                             unsigned char *capacity, double *time_s, struct mismatch *mismatch,
                             struct ar_error *err)
{
    for (uint32_t i = 0; i < place->count; i++) {
        unsigned char *pattern;
        AR_TRY(payload_pattern(payload, place->first + i, &pattern, err));
        payload_fill(payload, pattern, capacity);
        free(pattern);
        AR_TRY(nccl_ranks_write(ranks, i, capacity, err));
    }
    AR_TRY(nccl_ranks_run(ranks, timeout_s, time_s, err));
    for (uint32_t i = 0; i < place->count; i++) {
        AR_TRY(nccl_ranks_read(ranks, i, capacity, err));
        payload_check(payload, place->first + i, capacity, mismatch);
    }
    return AR_OK;
}

static enum ar_status run_here(const struct run_config *config, const struct nccl_place *place,
                               const struct payload *payload, struct measurement *measurement,
                               struct ar_error *err)
{
    struct nccl_ranks *ranks;
    unsigned char *capacity;
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    enum ar_status status = memory_host.allocate(measurement_bytes(measurement), &capacity, err);
    if (status != AR_OK) {
        return status;
    }
    status = nccl_ranks_create(&library, measurement, place, &ranks, err);
    bool is_made = status == AR_OK;
    for (uint32_t i = 0; status == AR_OK && i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        status = repeat(ranks, place, payload, config->timeout_s, capacity, &time_s,
                        &measurement->mismatch, err);
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    if (is_made && status == AR_OK) { /* else the program ends, and a hang would be waited for */
        nccl_ranks_destroy(ranks);
    }
    memory_host.release(capacity);
    return status;
}

static enum ar_status run(const struct run_config *config, struct measurement *measurement,
                          struct ar_error *err)
{
    struct payload payload;
    struct nccl_place place;
    enum ar_status status =
        payload_create(measurement->type, measurement->ranks, measurement->elements, &payload, err);
    if (status != AR_OK) {
        return status;
    }
    status = find_place(measurement, &place, err);
    if (status == AR_OK && place.count > 0) {
        status = run_here(config, &place, &payload, measurement, err);
    }
    payload_destroy(&payload);
    measurement->nodes = 1;
#ifdef VALIDATE_HAS_MPI
    if (status == AR_OK) {
        measurement->nodes = mpi_world_nodes(world, is_alone() ? 1 : measurement->ranks);
        mpi_world_collect(measurement->ranks, measurement);
    }
#endif
    return status;
}

const struct backend backend_nccl = {
    .name = "nccl",
    .summary = "ncclAllReduce, and torus2d made of NCCL's collectives; one GPU per rank",
    .memories = {&memory_device},
    .library_collective = "nccl-allreduce",
    .can_run = can_run,
    .start = start,
    .stop = stop,
    .describe = describe,
    .run = run,
};
