/* GPUs, their memory, and the backend `cuda`: threads whose buffers lie there. */
#include "cuda_device.h"

#include <sched.h>

#include "ar_numbers.h"
#include "backend.h"
#include "cuda_kernels.h"
#include "host.h"

enum { RANKS_MAX = 256, RANKS_STANDARD = 4 };

static uint32_t gpus; /* that the backend has found */

enum ar_status cuda_check(cudaError_t code, const char *call, struct ar_error *err)
{
    if (code == cudaSuccess) {
        return AR_OK;
    }
    bool is_memory = code == cudaErrorMemoryAllocation;
    return ar_error_set(err, is_memory ? AR_NO_MEMORY : AR_INTERNAL, "%s: %s (%s)%s", call,
                        cudaGetErrorString(code), cudaGetErrorName(code),
                        is_memory ? "; try a smaller --payload" : "");
}

static void free_memory(void *memory)
{
    cudaFree(memory);
}

static void destroy_stream(void *stream)
{
    cudaStreamDestroy(stream);
}

static void destroy_event(void *event)
{
    cudaEventDestroy(event);
}

enum ar_status cuda_allocate(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                             struct ar_error *err)
{
    void *allocated = NULL;
    CUDA_TRY(cudaMalloc, &allocated, bytes + 1);
    *memory = ar_arena_own(arena, allocated, free_memory);
    return AR_OK;
}

enum ar_status cuda_make_stream(struct ar_arena *arena, cudaStream_t *stream, struct ar_error *err)
{
    CUDA_TRY(cudaStreamCreateWithFlags, stream, cudaStreamNonBlocking);
    ar_arena_own(arena, *stream, destroy_stream);
    return AR_OK;
}

enum ar_status cuda_make_event(struct ar_arena *arena, cudaEvent_t *event, struct ar_error *err)
{
    CUDA_TRY(cudaEventCreateWithFlags, event, cudaEventDefault);
    ar_arena_own(arena, *event, destroy_event);
    return AR_OK;
}

cudaError_t cuda_await(cudaEvent_t event, double timeout_s)
{
    double until_s = ar_clock_s() + timeout_s;
    cudaError_t code;
    while ((code = cudaEventQuery(event)) == cudaErrorNotReady && ar_clock_s() < until_s) {
        sched_yield();
    }
    return code;
}

enum ar_status cuda_count(uint32_t *found, struct ar_error *err)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        return ar_error_set(err, AR_UNAVAILABLE, "found no GPU (%s); expected at least one",
                            code != cudaSuccess ? cudaGetErrorString(code) : "none is visible");
    }
    *found = (uint32_t)count;
    return AR_OK;
}

static enum ar_status enable_peer_access(int from, int to, struct ar_error *err)
{
    int can_access = 0;
    CUDA_TRY(cudaDeviceCanAccessPeer, &can_access, from, to);
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

const char *cuda_tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    int from_gpu = (int)(from % gpus), to_gpu = (int)(to % gpus);
    int can_access = 0, has_atomics = 0;
    if (from_gpu == to_gpu) {
        return "device";
    }
    cudaDeviceGetP2PAttribute(&can_access, cudaDevP2PAttrAccessSupported, from_gpu, to_gpu);
    cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported, from_gpu, to_gpu);
    return !can_access ? "staged" : has_atomics ? "nvlink" : "pcie";
}

void cuda_describe(FILE *file, uint32_t count)
{
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    for (uint32_t gpu = 0; gpu < count; gpu++) {
        struct cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, (int)gpu) == cudaSuccess) {
            fprintf(file, "# gpu %u: %s, sm_%d%d, %d SMs, %zu bytes\n", gpu, properties.name,
                    properties.major, properties.minor, properties.multiProcessorCount,
                    properties.totalGlobalMem);
        }
    }
    fprintf(file, "# cuda: driver for %d.%d, runtime %d.%d\n", driver / 1000, driver % 1000 / 10,
            runtime / 1000, runtime % 1000 / 10);
    /* The version of the driver itself, where Linux tells it. */
    char line[160];
    FILE *version = fopen("/proc/driver/nvidia/version", "re");
    if (version != NULL) {
        if (fgets(line, sizeof line, version) != NULL) {
            fprintf(file, "# driver: %s", line);
        }
        fclose(version);
    }
}

/* CUDA finds out direction and GPUs. Waits, since MPI may send what was written. */
static enum ar_status device_copy(unsigned char *to, const unsigned char *from, size_t bytes,
                                  struct ar_error *err)
{
    CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, cudaStreamPerThread);
    return cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "a copy", err);
}

/* A sum reads the memory of its own GPU: elements of another one are copied to it first. */
static enum ar_status device_reduce(const struct element_type *type, unsigned char *sum,
                                    const unsigned char *addend, uint64_t count,
                                    struct ar_error *err)
{
    struct cudaPointerAttributes own, other;
    size_t bytes = count * type->bytes;
    void *copied = NULL;
    CUDA_TRY(cudaPointerGetAttributes, &own, sum);
    CUDA_TRY(cudaPointerGetAttributes, &other, addend);
    if (own.device != other.device) {
        CUDA_TRY(cudaMallocAsync, &copied, bytes + 1, cudaStreamPerThread);
        CUDA_TRY(cudaMemcpyAsync, copied, addend, bytes, cudaMemcpyDefault, cudaStreamPerThread);
        addend = copied;
    }
    AR_TRY(cuda_check(kernels_reduce(type->bytes, sum, addend, count, cudaStreamPerThread),
                      "the launch of a sum", err));
    if (copied != NULL) {
        CUDA_TRY(cudaFreeAsync, copied, cudaStreamPerThread);
    }
    return cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "a sum", err);
}

/* Ranks of a node take its GPUs in turn. */
static enum ar_status select_gpu(uint32_t local_rank, struct ar_error *err)
{
    uint32_t count = 1;
    AR_TRY(cuda_count(&count, err));
    CUDA_TRY(cudaSetDevice, (int)(local_rank % count));
    return AR_OK;
}

const struct memory memory_device = {
    .name = "device",
    .select = select_gpu,
    .allocate = cuda_allocate,
    .copy = device_copy,
    .reduce = device_reduce,
};

/* --- the backend -------------------------------------------------------------------------- */

static enum ar_status cuda_start(const struct run_config *config, struct machine *machine,
                                 struct ar_error *err)
{
    (void)config;
    *machine = (struct machine){
        .is_first = true, .ranks_max = RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    AR_TRY(cuda_count(&gpus, err));
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

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "GPUs of this machine, several virtual ranks on one if asked for more",
    .memories = {&memory_device},
    .start = cuda_start,
    .describe = cuda_describe_run,
    .tier = cuda_tier,
    .run = host_run,
};
