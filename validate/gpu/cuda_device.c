/* GPUs and their memory. */
#include "cuda_device.h"

#include <sched.h>

#include "ar_numbers.h"
#include "backend.h"
#include "cuda_kernels.h"

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

AR_DESTROYER(free_memory, cudaFree)
AR_DESTROYER(destroy_stream, cudaStreamDestroy)
AR_DESTROYER(destroy_event, cudaEventDestroy)

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
    AR_REFUSE(code != cudaSuccess || count == 0, err, AR_UNAVAILABLE,
              "found no GPU (%s); expected at least one",
              code != cudaSuccess ? cudaGetErrorString(code) : "none is visible");
    *found = (uint32_t)count;
    return AR_OK;
}

void cuda_describe(FILE *file, uint32_t count)
{
    int driver = 0, runtime = 0;
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

/* Both are memory of the current GPU. */
static enum ar_status device_reduce(const struct element_type *type, unsigned char *sum,
                                    const unsigned char *addend, uint64_t count,
                                    struct ar_error *err)
{
    CUDA_TRY(kernels_reduce, type->bytes, sum, addend, count, cudaStreamPerThread);
    return cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "a sum", err);
}

static enum ar_status enter_gpu(const unsigned char *at, struct ar_error *err)
{
    struct cudaPointerAttributes attributes;
    CUDA_TRY(cudaPointerGetAttributes, &attributes, at);
    CUDA_TRY(cudaSetDevice, attributes.device);
    return AR_OK;
}

/* All are memory of the current GPU. */
static enum ar_status device_compare(const struct element_type *type, const unsigned char *found,
                                     const unsigned char *expected, uint64_t count,
                                     unsigned char *verdict, bool *is_equal, struct ar_error *err)
{
    uint32_t differs = 0;
    CUDA_TRY(cudaMemsetAsync, verdict, 0, sizeof differs, cudaStreamPerThread);
    CUDA_TRY(kernels_compare, type->bytes, found, expected, count, (uint32_t *)(void *)verdict,
             cudaStreamPerThread);
    AR_TRY(device_copy((unsigned char *)&differs, verdict, sizeof differs, err));
    *is_equal = differs == 0;
    return AR_OK;
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
    .enter = enter_gpu,
    .compare = device_compare,
};
