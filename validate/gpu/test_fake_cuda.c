#include "test_fake_cuda.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_kernels.h"

enum { HEAD_BYTES = 256, THREADS = 32, ALLOCATIONS_MAX = 4096 };

static struct {
    int devices;
    bool ignores_sums;
    _Atomic int alive;
    _Atomic uint64_t peer_bytes;
    pthread_mutex_t mutex; /* of the allocations */
    struct {
        const unsigned char *at;
        size_t bytes;
        int device;
    } allocations[ALLOCATIONS_MAX];
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current;

void fake_cuda_start(int devices)
{
    fake.devices = devices;
    fake.ignores_sums = false;
    fake.alive = 0;
    fake.peer_bytes = 0;
    current = 0;
}

void fake_cuda_ignore_sums(bool ignores)
{
    fake.ignores_sums = ignores;
}

int fake_cuda_leaks(void)
{
    return fake.alive;
}

uint64_t fake_cuda_peer_bytes(void)
{
    return fake.peer_bytes;
}

/* The device of an address; -1: it is host memory. */
static int device_at(const void *at)
{
    int device = -1;
    pthread_mutex_lock(&fake.mutex);
    for (size_t i = 0; i < ALLOCATIONS_MAX; i++) {
        const unsigned char *begin = fake.allocations[i].at;
        bool is_in = begin != NULL && (const unsigned char *)at >= begin &&
                     (const unsigned char *)at < begin + fake.allocations[i].bytes;
        device = is_in ? fake.allocations[i].device : device;
    }
    pthread_mutex_unlock(&fake.mutex);
    return device;
}

/* Changes the entry of `from`, NULL for a free one. */
static void set_allocation(const void *from, const void *to, size_t bytes)
{
    size_t i = 0;
    pthread_mutex_lock(&fake.mutex);
    while (i < ALLOCATIONS_MAX && fake.allocations[i].at != from) {
        i++;
    }
    cr_assert_lt(i, ALLOCATIONS_MAX);
    fake.allocations[i].at = to;
    fake.allocations[i].bytes = bytes;
    fake.allocations[i].device = current;
    pthread_mutex_unlock(&fake.mutex);
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    *memory = aligned_alloc(HEAD_BYTES, (size / HEAD_BYTES + 1) * HEAD_BYTES);
    cr_assert_not_null(*memory);
    memset(*memory, 0x5a, size);
    set_allocation(NULL, *memory, size);
    fake.alive++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    set_allocation(memory, NULL, 0);
    free(memory);
    fake.alive--;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t size, cudaStream_t stream)
{
    (void)stream;
    return cudaMalloc(memory, size);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(memory);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at)
{
    attributes->device = device_at(at);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    int to_device = device_at(to), from_device = device_at(from);
    (void)stream;
    cr_expect_eq(kind, cudaMemcpyDefault);
    fake.peer_bytes += to_device >= 0 && from_device >= 0 && to_device != from_device ? count : 0;
    memmove(to, from, count);
    return cudaSuccess;
}

cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                           uint64_t count, cudaStream_t stream)
{
    (void)stream;
    cr_expect(device_at(sum) == current && device_at(addend) == current,
              "a sum reads another device");
    if (!fake.ignores_sums) {
        kernels_reduce_on_host(element_bytes, sum, addend, count, THREADS);
    }
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t count)
{
    memset(memory, value, count);
    return cudaSuccess;
}

/* --- devices, streams and events ---------------------------------------------------------- */

cudaError_t cudaSetDevice(int device)
{
    cr_assert(device >= 0 && device < fake.devices);
    current = device;
    return cudaSuccess;
}

static cudaError_t make_thing(void **thing)
{
    *thing = malloc(1);
    cr_assert_not_null(*thing);
    fake.alive++;
    return cudaSuccess;
}

static cudaError_t destroy_thing(void *thing)
{
    free(thing);
    fake.alive--;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    cr_expect_eq(flags, cudaStreamNonBlocking);
    return make_thing((void **)stream);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    (void)flags;
    return make_thing((void **)event);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return destroy_thing(stream);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return destroy_thing(event);
}

cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t begin, cudaEvent_t end)
{
    (void)begin;
    (void)end;
    *time_ms = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = fake.devices;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    *can_access = device != peer;
    return cudaSuccess;
}

/* Pairs of devices are linked by NVLink. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    *value = attribute == cudaDevP2PAttrAccessSupported || (from / 2 == to / 2);
    return cudaSuccess;
}

/* Functions that have nothing to do, or are not asked in tests. */
#define DONE(function, arguments, result)                                                          \
    cudaError_t function arguments                                                                 \
    {                                                                                              \
        return result;                                                                             \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
DONE(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), cudaSuccess)
DONE(cudaEventQuery, (cudaEvent_t event), cudaSuccess)
DONE(cudaStreamSynchronize, (cudaStream_t stream), cudaSuccess)
DONE(cudaDeviceSynchronize, (void), cudaSuccess)
DONE(cudaDeviceEnablePeerAccess, (int peer, unsigned flags), cudaErrorPeerAccessAlreadyEnabled)
DONE(cudaDriverGetVersion, (int *version), cudaErrorNotSupported)
DONE(cudaRuntimeGetVersion, (int *version), cudaErrorNotSupported)
DONE(cudaGetDeviceProperties, (struct cudaDeviceProp * all, int device), cudaErrorNotSupported)
DONE(cudaGetLastError, (void), cudaSuccess)

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaSuccess ? "no error" : "an error";
}

const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaSuccess ? "cudaSuccess" : "cudaError";
}
