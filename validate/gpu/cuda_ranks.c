/* The backend `cuda`: ranks on GPUs, which execute a collective without the host. */
#include <inttypes.h>
#include <string.h>

#include "backend.h"
#include "cuda_device.h"
#include "cuda_program.h"
#include "host.h"
#include "runner.h"

enum {
    RANKS_STANDARD = 4,
    CALLS = 20,          /* timed at once; as many as nccl-tests */
    BLOCK_BYTES = 16384, /* of the longest message for a block; chosen: below, one more block costs
                            more flags than it copies */
};

static uint32_t gpus;  /* that the backend has found */
static bool are_peers; /* each reads the memory of each */

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
    struct gpu *gpus; /* that have ranks */
    uint32_t gpus_count;
    uint64_t *results; /* of a GPU, where the host reads them */
    uint32_t blocks;   /* of a lane */
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
    if (code == cudaErrorNotReady) {
        return ar_error_set(err, AR_INTERNAL,
                            "%s: GPU %" PRIu32 " has not ended after %g s; expected it to", name,
                            index, timeout_s);
    }
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
    for (uint32_t i = 0; i < ranks->gpus_count; i++) {
        const struct gpu *gpu = &ranks->gpus[i];
        CUDA_TRY(cudaSetDevice, (int)i);
        CUDA_TRY(kernels_execute, gpu->lanes, gpu->lanes_count, ranks->blocks,
                 measurement->type->bytes, ranks->iterations, calls, ranks->timeout_s, gpu->stream);
        CUDA_TRY(cudaEventRecord, gpu->end, gpu->stream);
    }
    ranks->iterations += calls;
    for (uint32_t i = 0; i < ranks->gpus_count; i++) {
        AR_TRY(await_gpu(ranks, i, time_s, err));
    }
    *time_s /= calls * (measurement->probe == PROBE_LATENCY ? (double)PROGRAM_MESSAGES : 1);
    return AR_OK;
}

/* --- making lanes ------------------------------------------------------------------------- */

static void free_host(void *memory)
{
    cudaFreeHost(memory);
}

/* Makes memory for messages and flags: that of the host where GPUs do not read each other's. */
static enum ar_status make_memory(const struct measurement *measurement, struct ar_arena *arena,
                                  struct rank_memory *memory, struct ar_error *err)
{
    size_t flags_bytes =
        (size_t)measurement->channels * measurement->ranks * KERNEL_BLOCKS_MAX * sizeof(uint32_t);
    size_t bytes = (measurement_bytes(measurement) + 255) / 256 * 256; /* flags begin aligned */
    AR_TRY(cuda_allocate(arena, bytes, &memory->buffer, err));
    if (are_peers) {
        AR_TRY(cuda_allocate(arena, bytes + flags_bytes, &memory->window, err));
    } else {
        void *allocated = NULL;
        CUDA_TRY(cudaHostAlloc, &allocated, bytes + flags_bytes, cudaHostAllocPortable);
        memory->window = ar_arena_own(arena, allocated, free_host);
    }
    memory->flags = (uint32_t *)(void *)(memory->window + bytes);
    CUDA_TRY(cudaMemset, memory->flags, 0, flags_bytes);
    return cuda_check(cudaDeviceSynchronize(), "cudaMemset", err); /* streams here do not wait */
}

/* Copies an array to the current GPU. */
static enum ar_status upload(const void *array, size_t bytes, struct ar_arena *arena,
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
    CUDA_TRY(cudaSetDevice, (int)index);
    AR_TRY(cuda_make_stream(arena, &gpu->stream, err));
    AR_TRY(cuda_make_event(arena, &gpu->end, err));
    AR_TRY(upload(ranks->results, results_bytes, arena, &gpu->results, err));
    for (uint32_t i = 0; i < count * channels; i++) {
        stride = programs[i].ops_count + 1 > stride ? programs[i].ops_count + 1 : stride;
    }
    for (uint32_t i = index * channels; i < count * channels; i++) {
        uint32_t rank = i / channels, channel = i % channels;
        if (rank % gpus != index) {
            continue;
        }
        const struct program *program = &programs[i];
        struct kernel_lane *lane = &lanes[gpu->lanes_count];
        AR_TRY(
            upload(program->ops, program->ops_count * sizeof *program->ops, arena, &uploaded, err));
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
    AR_TRY(upload(lanes, gpu->lanes_count * sizeof *lanes, arena, &uploaded, err));
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
    if (lanes > capacity) {
        return ar_error_set(err, AR_USAGE,
                            "found %" PRIu32 " ranks with %" PRIu32 " channels on %" PRIu32
                            " GPUs; expected at most %" PRIu32 " channels of ranks on one",
                            measurement->ranks, measurement->channels, gpus, capacity);
    }
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
    *machine = (struct machine){
        .is_first = true, .ranks_max = KERNEL_RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    AR_TRY(cuda_count(&gpus, err));
    are_peers = true;
    for (uint32_t i = 0; i < gpus * gpus; i++) {
        AR_TRY(enable_peer_access((int)(i / gpus), (int)(i % gpus), err));
    }
    return AR_OK;
}

static void cuda_describe_run(FILE *file)
{
    cuda_describe(file, gpus);
    fprintf(file, "# ranks: one per GPU; of more than %u, several VIRTUAL RANKS share a GPU\n",
            gpus);
}

static const char *cuda_tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    int from_gpu = (int)(from % gpus), to_gpu = (int)(to % gpus), has_atomics = 0;
    if (from_gpu == to_gpu) {
        return "device";
    }
    cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported, from_gpu, to_gpu);
    return !are_peers ? "staged" : has_atomics ? "nvlink" : "pcie";
}

/* Copies, sums and starts are those of a thread per rank. */
static enum ar_status cuda_run(const struct run_config *config, struct ar_arena *arena,
                               struct measurement *measurement, struct ar_error *err)
{
    bool is_probe = measurement->probe != PROBE_NONE;
    if (is_probe && !probe_is_of_link(measurement->probe)) {
        return host_run(config, arena, measurement, err);
    }
    uint32_t count = measurement->ranks;
    struct rank_memory *memory = ar_arena_alloc(arena, count, sizeof *memory);
    unsigned char **buffers = ar_arena_alloc(arena, count, sizeof *buffers);
    struct cuda_ranks ranks = {
        .crew = {.memory = &memory_device,
                 .count = is_probe ? 0 : count,
                 .buffers = buffers,
                 .calls = measurement->probe == PROBE_LATENCY ? 1 : CALLS,
                 .run = run_on_gpus},
        .measurement = measurement,
        .gpus = ar_arena_alloc(arena, gpus, sizeof *ranks.gpus),
        .gpus_count = count < gpus ? count : gpus,
        .results = ar_arena_alloc(arena, (size_t)count * measurement->channels * KERNEL_BLOCKS_MAX,
                                  sizeof *ranks.results),
        .timeout_s = config->timeout_s};
    struct payload payload;
    AR_TRY(is_probe ? AR_OK : payload_create(measurement, arena, &payload, err));
    AR_TRY(choose_blocks(measurement, &ranks.blocks, err));
    for (uint32_t rank = 0; rank < count; rank++) {
        CUDA_TRY(cudaSetDevice, (int)(rank % gpus));
        AR_TRY(make_memory(measurement, arena, &memory[rank], err));
        buffers[rank] = memory[rank].buffer;
    }
    const struct program *programs =
        programs_create(measurement, memory, !are_peers, ranks.blocks, arena);
    for (uint32_t i = 0; i < ranks.gpus_count; i++) {
        AR_TRY(make_gpu(&ranks, programs, memory, i, arena, err));
    }
    measurement->nodes = 1;
    return crew_repeat(&ranks.crew, config, &payload, arena, measurement, err);
}

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "GPUs of this machine, several virtual ranks on one if asked for more",
    .memories = {&memory_device},
    .start = cuda_start,
    .describe = cuda_describe_run,
    .tier = cuda_tier,
    .run = cuda_run,
};
