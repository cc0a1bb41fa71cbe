/* The backend `cuda`: ranks on GPUs, which execute a collective without the host. */
#include <inttypes.h>
#include <string.h>

#include "backend.h"
#include "cuda_device.h"
#include "cuda_program.h"
#include "host.h"
#include "mpi_world.h"
#include "runner.h"

enum {
    RANKS_STANDARD = 4,
    CALLS = 20,          /* timed at once; as many as nccl-tests */
    BLOCK_BYTES = 16384, /* of the longest message for a block; chosen: below, one more block costs
                            more flags than it copies */
    SHARED_BYTES =
        2 << 20, /* CUDA's units of memory: what is shared with a process is all of one */
};

static const struct mpi_world *world;
static uint32_t devices; /* that this process sees */
static uint32_t gpus;  /* which run ranks: the devices, or one of each process if there are more */
static bool are_peers; /* each reads the memory of each */

/* Ranks of a node take its devices in turn. */
static int device_of(uint32_t gpu)
{
    return (int)((world->ranks == 1 ? gpu : world->local_rank) % devices);
}

/* The lanes of a GPU. */
struct gpu {
    cudaStream_t stream;
    cudaEvent_t end;
    struct kernel_lane *lanes; /* in its memory, as are */
    unsigned char *results;    /* [lane][KERNEL_BLOCKS_MAX]: uint64_t */
    uint32_t lanes_count;
};

struct cuda_ranks {
    struct crew crew;
    const struct measurement *measurement;
    struct gpu *gpus;              /* that have ranks; filled in for */
    uint32_t gpus_first, gpus_end; /* those of this process */
    uint64_t *results;             /* of a GPU, where the host reads them */
    uint32_t blocks;               /* of a lane */
    uint32_t iterations;
    double timeout_s;
};

/* --- running ------------------------------------------------------------------------------ */

/* Waits for a GPU, reads the results of its lanes and keeps the longest time. */
static enum ar_status await_gpu(const struct cuda_ranks *ranks, uint32_t index, double *time_s,
                                struct ar_error *err)
{
    const struct gpu *gpu = &ranks->gpus[index];
    const char *name = ranks->measurement->name;
    uint32_t count = gpu->lanes_count * KERNEL_BLOCKS_MAX;
    double timeout_s = 2 * ranks->timeout_s; /* before, lanes that wait in vain have ended */
    cudaError_t code = cuda_await(gpu->end, timeout_s);
    AR_REFUSE(code == cudaErrorNotReady, err, AR_INTERNAL,
              "%s: GPU %" PRIu32 " has not ended after %g s; expected it to", name, index,
              timeout_s);
    AR_TRY(cuda_check(code, "the collective", err));
    AR_TRY(memory_device.copy((unsigned char *)ranks->results, gpu->results,
                              count * sizeof *ranks->results, err));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t result = ranks->results[i];
        if (result >= KERNEL_STUCK) {
            uint32_t local = i / KERNEL_BLOCKS_MAX / ranks->measurement->channels;
            return ar_error_set(
                err, AR_INTERNAL,
                "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 "; expected progress", name,
                index + local * gpus, ranks->timeout_s, (uint32_t)(result - KERNEL_STUCK));
        }
        *time_s = 1e-9 * (double)result > *time_s ? 1e-9 * (double)result : *time_s;
    }
    return AR_OK;
}

static enum ar_status run_on_gpus(struct crew *crew, uint32_t calls, double *time_s,
                                  struct ar_error *err)
{
    struct cuda_ranks *ranks = (struct cuda_ranks *)(void *)crew; /* its first member */
    const struct measurement *measurement = ranks->measurement;
    for (uint32_t i = ranks->gpus_first; i < ranks->gpus_end; i++) {
        const struct gpu *gpu = &ranks->gpus[i];
        CUDA_TRY(cudaSetDevice, device_of(i));
        CUDA_TRY(kernels_execute, gpu->lanes, gpu->lanes_count, ranks->blocks,
                 measurement->type->bytes, ranks->iterations, calls, ranks->timeout_s, gpu->stream);
        CUDA_TRY(cudaEventRecord, gpu->end, gpu->stream);
    }
    ranks->iterations += calls;
    for (uint32_t i = ranks->gpus_first; i < ranks->gpus_end; i++) {
        AR_TRY(await_gpu(ranks, i, time_s, err));
    }
    *time_s /= calls * (measurement->probe == PROBE_LATENCY ? (double)PROGRAM_MESSAGES : 1);
    return AR_OK;
}

/* --- making lanes ------------------------------------------------------------------------- */

AR_DESTROYER(free_host, cudaFreeHost)

/* Where the parts of a rank's memory begin, in bytes. */
struct memory_sizes {
    size_t window, flags, all;
};

static struct rank_memory place_memory(const struct memory_sizes *sizes, unsigned char *begin)
{
    return (struct rank_memory){.buffer = begin,
                                .window = begin + sizes->window,
                                .flags = (uint32_t *)(void *)(begin + sizes->flags)};
}

/* Makes memory for elements, messages and flags on the current GPU: of one piece, so that other
 * processes open it with one handle. Where GPUs do not read each other's, messages and flags are in
 * memory of the host. */
static enum ar_status make_memory(const struct memory_sizes *sizes, struct ar_arena *arena,
                                  struct rank_memory *memory, struct ar_error *err)
{
    size_t flags_bytes = sizes->all - sizes->flags;
    size_t shared = (sizes->all + SHARED_BYTES - 1) / SHARED_BYTES * SHARED_BYTES;
    AR_TRY(cuda_allocate(arena, world->ranks == 1 ? sizes->all : shared, &memory->buffer, err));
    *memory = place_memory(sizes, memory->buffer);
    if (!are_peers) {
        void *allocated = NULL;
        CUDA_TRY(cudaHostAlloc, &allocated, sizes->all - sizes->window, cudaHostAllocPortable);
        memory->window = ar_arena_own(arena, allocated, free_host);
        memory->flags = (uint32_t *)(void *)(memory->window + sizes->flags - sizes->window);
    }
    CUDA_TRY(cudaMemset, memory->flags, 0, flags_bytes);
    return cuda_check(cudaDeviceSynchronize(), "cudaMemset", err); /* streams here do not wait */
}

/* Opens the memory of ranks of other processes; all of them come here. */
static enum ar_status open_memory(const struct cuda_ranks *ranks, const struct memory_sizes *sizes,
                                  struct ar_arena *arena, struct rank_memory *memory,
                                  struct ar_error *err)
{
    cudaIpcMemHandle_t own, *all = ar_arena_alloc(arena, world->ranks, sizeof *all);
    bool is_member = ranks->gpus_first < ranks->gpus_end;
    memset(&own, 0, sizeof own);
    if (is_member) {
        CUDA_TRY(cudaIpcGetMemHandle, &own, memory[world->rank].buffer);
    }
    mpi_world_gather(&own, sizeof own, all);
    for (uint32_t rank = 0; is_member && rank < ranks->measurement->ranks; rank++) {
        void *opened = NULL;
        if (rank != world->rank) {
            CUDA_TRY(cudaIpcOpenMemHandle, &opened, all[rank], cudaIpcMemLazyEnablePeerAccess);
            memory[rank] = place_memory(sizes, opened);
        }
    }
    return AR_OK;
}

/* Closes it, before its owner may free it. */
static enum ar_status close_memory(const struct cuda_ranks *ranks, struct rank_memory *memory,
                                   struct ar_error *err)
{
    for (uint32_t rank = 0; rank < ranks->measurement->ranks; rank++) {
        if (ranks->gpus_first < ranks->gpus_end && rank != world->rank) {
            CUDA_TRY(cudaIpcCloseMemHandle, memory[rank].buffer);
        }
    }
    return AR_OK;
}

/* Copies an array to the current GPU. */
static enum ar_status upload_array(const void *array, size_t bytes, struct ar_arena *arena,
                                   unsigned char **uploaded, struct ar_error *err)
{
    AR_TRY(cuda_allocate(arena, bytes, uploaded, err));
    return memory_device.copy(*uploaded, array, bytes, err);
}

/* Makes all lanes of a GPU: of every gpus-th rank. */
static enum ar_status make_gpu(const struct cuda_ranks *ranks, const struct program *programs,
                               const struct rank_memory *memory, uint32_t index,
                               struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = ranks->measurement;
    uint32_t count = measurement->ranks, channels = measurement->channels, stride = 0;
    struct gpu *gpu = &ranks->gpus[index];
    struct kernel_lane *lanes = ar_arena_alloc(arena, count * channels, sizeof *lanes);
    size_t results_bytes = count * channels * KERNEL_BLOCKS_MAX * sizeof *ranks->results;
    unsigned char *uploaded;
    CUDA_TRY(cudaSetDevice, device_of(index));
    AR_TRY(cuda_make_stream(arena, &gpu->stream, err));
    AR_TRY(cuda_make_event(arena, &gpu->end, err));
    AR_TRY(upload_array(ranks->results, results_bytes, arena, &gpu->results, err));
    for (uint32_t i = 0; i < count * channels; i++) {
        stride = programs[i].ops_count + 2 > stride ? programs[i].ops_count + 2 : stride;
    }
    for (uint32_t i = index * channels; i < count * channels; i++) {
        uint32_t rank = i / channels, channel = i % channels;
        if (rank % gpus != index) {
            continue;
        }
        const struct program *program = &programs[i];
        struct kernel_lane *lane = &lanes[gpu->lanes_count];
        AR_TRY(upload_array(program->ops, program->ops_count * sizeof *program->ops, arena,
                            &uploaded, err));
        *lane = (struct kernel_lane){.ops = (const struct kernel_op *)(void *)uploaded,
                                     .results = (uint64_t *)(void *)gpu->results +
                                                gpu->lanes_count++ * KERNEL_BLOCKS_MAX,
                                     .listeners = program->listeners,
                                     .ops_count = program->ops_count,
                                     .rank = rank,
                                     .ranks = count,
                                     .stride = stride};
        for (uint32_t k = 0; k < count; k++) {
            lane->flags[k] = memory[k].flags + (size_t)channel * count * KERNEL_BLOCKS_MAX;
        }
    }
    AR_TRY(upload_array(lanes, gpu->lanes_count * sizeof *lanes, arena, &uploaded, err));
    gpu->lanes = (struct kernel_lane *)(void *)uploaded;
    return AR_OK;
}

/* Blocks of a lane: those that its longest message keeps busy, with a multiprocessor for each if
 * the GPU has as many. */
static enum ar_status choose_blocks(const struct measurement *measurement, uint32_t *blocks,
                                    struct ar_error *err)
{
    uint32_t lanes = (measurement->ranks + gpus - 1) / gpus * measurement->channels;
    uint32_t processors, capacity;
    CUDA_TRY(kernels_capacity, &processors, &capacity);
    AR_REFUSE(lanes > capacity, err, AR_USAGE,
              "found %" PRIu32 " ranks with %" PRIu32 " channels on %" PRIu32
              " GPUs; expected at most %" PRIu32 " channels of ranks on one",
              measurement->ranks, measurement->channels, gpus, capacity);
    uint64_t wanted =
        measurement_message_max(measurement) * measurement->type->bytes / BLOCK_BYTES + 1;
    uint64_t most = processors / lanes > 1 ? processors / lanes : 1;
    most = most < KERNEL_BLOCKS_MAX ? most : KERNEL_BLOCKS_MAX;
    *blocks = (uint32_t)(wanted < most ? wanted : most);
    return AR_OK;
}

/* --- the backend -------------------------------------------------------------------------- */

static enum ar_status enable_peer_access(int from, int to, struct ar_error *err)
{
    int can_access = 0;
    CUDA_TRY(cudaDeviceCanAccessPeer, &can_access, from, to);
    are_peers = are_peers && (can_access || from == to);
    if (!can_access) { /* or both are the same */
        return AR_OK;
    }
    CUDA_TRY(cudaSetDevice, from);
    cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError(); /* else the next launch would report it */
        return AR_OK;
    }
    return cuda_check(code, "cudaDeviceEnablePeerAccess", err);
}

static enum ar_status cuda_start(const struct run_config *config, struct machine *machine,
                                 struct ar_error *err)
{
    (void)config;
    world = mpi_world_start(false);
    *machine = mpi_world_machine(world);
    AR_TRY(cuda_count(&devices, err));
    gpus = world->ranks == 1 ? devices : world->ranks;
    are_peers = true;
    uint32_t nodes = mpi_world_nodes(world, world->ranks);
    AR_REFUSE(nodes > 1 || world->ranks > KERNEL_RANKS_MAX, err, AR_USAGE,
              "--backend cuda: found %" PRIu32 " processes on %" PRIu32
              " nodes; expected at most %d on one, or --backend nccl",
              world->ranks, nodes, KERNEL_RANKS_MAX);
    if (world->ranks == 1) {
        machine->ranks_max = KERNEL_RANKS_MAX;
        machine->ranks_standard = RANKS_STANDARD;
        machine->ranks_per_node = 0;
    }
    for (uint32_t i = 0; world->ranks == 1 && i < gpus * gpus; i++) {
        AR_TRY(enable_peer_access((int)(i / gpus), (int)(i % gpus), err));
    }
    return AR_OK;
}

static void cuda_describe_run(FILE *file)
{
    cuda_describe(file, devices);
    fprintf(file, "# ranks: one per GPU; of more than %u, several VIRTUAL RANKS share a GPU\n",
            devices);
    mpi_world_describe(file);
}

static const char *cuda_tier(uint32_t from, uint32_t to)
{
    int from_gpu = (int)(from % devices), to_gpu = (int)(to % devices), has_atomics = 0;
    if (devices < gpus) { /* processes that see each its own */
        return "node";
    }
    if (from_gpu == to_gpu) {
        return "device";
    }
    cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported, from_gpu, to_gpu);
    return !are_peers ? "staged" : has_atomics ? "nvlink" : "pcie";
}

static enum ar_status run_ranks(const struct run_config *config, struct ar_arena *arena,
                                struct measurement *measurement, struct ar_error *err)
{
    uint32_t count = measurement->ranks;
    uint32_t used = count < gpus ? count : gpus;
    struct rank_memory *memory = ar_arena_alloc(arena, count, sizeof *memory);
    unsigned char **buffers = ar_arena_alloc(arena, count, sizeof *buffers);
    size_t bytes = (measurement_bytes(measurement) + 255) / 256 * 256; /* flags begin aligned */
    size_t flags_count = (size_t)measurement->channels * measurement->ranks * KERNEL_BLOCKS_MAX;
    struct memory_sizes sizes = {
        .window = bytes, .flags = 2 * bytes, .all = 2 * bytes + flags_count * sizeof(uint32_t)};
    struct payload payload;
    struct cuda_ranks ranks = {
        .crew = {.memory = &memory_device,
                 .first = world->ranks == 1 ? 0 : world->rank,
                 .count = measurement->probe != PROBE_NONE ? 0
                          : world->ranks == 1              ? count
                                                           : 1,
                 .buffers = buffers,
                 .calls = measurement->probe == PROBE_LATENCY ? 1 : CALLS,
                 .run = run_on_gpus},
        .measurement = measurement,
        .gpus = ar_arena_alloc(arena, gpus, sizeof *ranks.gpus),
        .gpus_first = world->ranks == 1 ? 0 : world->rank,
        .gpus_end = world->ranks == 1 || world->rank >= used ? used : world->rank + 1,
        .results = ar_arena_alloc(arena, (size_t)count * measurement->channels * KERNEL_BLOCKS_MAX,
                                  sizeof *ranks.results),
        .timeout_s = config->timeout_s};
    AR_TRY(ranks.crew.count == 0 ? AR_OK : payload_create(measurement, arena, &payload, err));
    CUDA_TRY(cudaSetDevice, device_of(ranks.gpus_first));
    AR_TRY(choose_blocks(measurement, &ranks.blocks, err));
    for (uint32_t rank = 0, own = 0; rank < count; rank++) {
        uint32_t gpu = rank % gpus;
        if (gpu >= ranks.gpus_first && gpu < ranks.gpus_end) {
            CUDA_TRY(cudaSetDevice, device_of(gpu));
            AR_TRY(make_memory(&sizes, arena, &memory[rank], err));
            buffers[own++] = memory[rank].buffer;
        }
    }
    AR_TRY(world->ranks == 1 ? AR_OK : open_memory(&ranks, &sizes, arena, memory, err));
    if (ranks.gpus_first >= ranks.gpus_end) {
        return AR_OK; /* this process has no rank */
    }
    const struct program *programs =
        programs_create(measurement, memory, !are_peers, ranks.blocks, arena);
    for (uint32_t i = ranks.gpus_first; i < ranks.gpus_end; i++) {
        AR_TRY(make_gpu(&ranks, programs, memory, i, arena, err));
    }
    AR_TRY(crew_repeat(&ranks.crew, config, &payload, arena, measurement, err));
    return world->ranks == 1 ? AR_OK : close_memory(&ranks, memory, err);
}

/* Copies, sums and starts are those of a thread per rank, all in the first process. */
static enum ar_status cuda_run(const struct run_config *config, struct ar_arena *arena,
                               struct measurement *measurement, struct ar_error *err)
{
    if (measurement->probe == PROBE_NONE || probe_is_of_link(measurement->probe)) {
        AR_TRY(run_ranks(config, arena, measurement, err));
    } else if (world->rank == 0) {
        AR_TRY(host_run(config, arena, measurement, err));
    }
    measurement->nodes = 1;
    mpi_world_collect(measurement->ranks, measurement);
    return AR_OK;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "GPUs here, several virtual ranks on one, or one per process of MPI",
    .memories = {&memory_device},
    .start = cuda_start,
    .stop = mpi_world_stop,
    .describe = cuda_describe_run,
    .tier = cuda_tier,
    .run = cuda_run,
};
