#include "test_fake_cuda.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_kernels.h"

enum { STREAMS_MAX = 512, THREADS = 32 };

enum kind { COPY, REDUCE, RECORD, WAIT };

struct operation {
    enum kind kind;
    unsigned char *to;
    const unsigned char *from;
    size_t count;           /* bytes, or elements of a sum */
    uint32_t element_bytes; /* of a sum */
    cudaEvent_t event;
    uint64_t turn; /* of the event */
};

struct CUevent_st {
    int device;
    uint64_t recorded; /* as laid out */
    uint64_t reached;  /* as run */
};

struct CUstream_st {
    int device;
    struct operation *operations;
    size_t count;
    size_t done;
};

struct CUgraph_st {
    struct CUstream_st copies[STREAMS_MAX];
};

static struct {
    int devices;
    int current;
    uint64_t random;
    bool ignores_waits;
    bool is_capturing;
    int alive;
    uint64_t peer_bytes;
    cudaStream_t streams[STREAMS_MAX];
} fake;

void fake_cuda_start(int devices, uint64_t seed)
{
    memset(&fake, 0, sizeof fake);
    fake.devices = devices;
    fake.random = seed;
}

void fake_cuda_ignore_waits(bool ignores)
{
    fake.ignores_waits = ignores;
}

int fake_cuda_leaks(void)
{
    return fake.alive;
}

uint64_t fake_cuda_peer_bytes(void)
{
    return fake.peer_bytes;
}

static void run_operation(const struct operation *next)
{
    switch (next->kind) {
    case COPY:
        memmove(next->to, next->from, next->count);
        break;
    case REDUCE:
        kernels_reduce_on_host(next->element_bytes, next->to, next->from, next->count, THREADS);
        break;
    case RECORD:
        next->event->reached = next->turn;
        break;
    case WAIT:
        break;
    }
}

/* The stream of a thread, which is always waited for, does all at once. */
static cudaError_t push(cudaStream_t stream, struct operation operation)
{
    if (stream == cudaStreamPerThread) {
        run_operation(&operation);
        return cudaSuccess;
    }
    if (stream->device != fake.current) {
        return cudaErrorInvalidResourceHandle;
    }
    stream->operations =
        realloc(stream->operations, (stream->count + 1) * sizeof *stream->operations);
    cr_assert_not_null(stream->operations);
    stream->operations[stream->count++] = operation;
    return cudaSuccess;
}

static bool can_run(const struct CUstream_st *stream)
{
    const struct operation *next = &stream->operations[stream->done];
    return stream->done < stream->count &&
           (next->kind != WAIT || fake.ignores_waits || next->event->reached >= next->turn);
}

/* Runs until nothing can run: each time some stream, by chance. */
static void run_all(void)
{
    for (;;) {
        uint32_t ready[STREAMS_MAX];
        uint32_t count = 0;
        for (uint32_t i = 0; i < STREAMS_MAX; i++) {
            if (fake.streams[i] != NULL && can_run(fake.streams[i])) {
                ready[count++] = i;
            }
        }
        if (count == 0) {
            return;
        }
        fake.random = fake.random * 6364136223846793005u + 1442695040888963407u;
        struct CUstream_st *stream = fake.streams[ready[(fake.random >> 33) % count]];
        run_operation(&stream->operations[stream->done++]);
    }
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = fake.devices;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    cr_assert(device >= 0 && device < fake.devices);
    fake.current = device;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    cr_assert_not(fake.is_capturing);
    *memory = aligned_alloc(256, (size / 256 + 1) * 256);
    cr_assert_not_null(*memory);
    memset(*memory, 0x5a, size);
    fake.alive++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    fake.alive -= memory != NULL;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t count)
{
    memset(memory, value, count);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    cr_expect_eq(flags, cudaStreamNonBlocking);
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        if (fake.streams[i] == NULL) {
            fake.streams[i] = calloc(1, sizeof *fake.streams[i]);
            cr_assert_not_null(fake.streams[i]);
            fake.streams[i]->device = fake.current;
            *stream = fake.streams[i];
            fake.alive++;
            return cudaSuccess;
        }
    }
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        if (fake.streams[i] == stream) {
            fake.streams[i] = NULL;
        }
    }
    free(stream->operations);
    free(stream);
    fake.alive--;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    cr_assert_not_null(*event);
    (*event)->device = fake.current;
    fake.alive++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    fake.alive--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (event->device != stream->device) {
        return cudaErrorInvalidResourceHandle;
    }
    event->recorded++;
    return push(stream,
                (struct operation){.kind = RECORD, .event = event, .turn = event->recorded});
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    (void)flags;
    cr_expect_gt(event->recorded, 0, "an event is waited for before it is recorded");
    int current = fake.current;
    fake.current = stream->device; /* CUDA takes waits from any device */
    cudaError_t code =
        push(stream, (struct operation){.kind = WAIT, .event = event, .turn = event->recorded});
    fake.current = current;
    return code;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    run_all();
    return event->reached >= event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return cudaEventQuery(event);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    run_all();
    return stream == cudaStreamPerThread || stream->done == stream->count ? cudaSuccess
                                                                          : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    run_all();
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t begin, cudaEvent_t end)
{
    *time_ms = 1;
    return begin->reached > 0 && end->reached > 0 ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind;
    return push(stream, (struct operation){.kind = COPY, .to = to, .from = from, .count = count});
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t count, cudaStream_t stream)
{
    cr_expect_neq(to_device, from_device);
    fake.peer_bytes += count;
    return push(stream, (struct operation){.kind = COPY, .to = to, .from = from, .count = count});
}

cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                           uint64_t count, cudaStream_t stream)
{
    cr_expect_eq((uintptr_t)sum % 16, (uintptr_t)addend % 16, "no vectors: runs lie differently");
    return push(stream, (struct operation){.kind = REDUCE,
                                           .to = sum,
                                           .from = addend,
                                           .count = count,
                                           .element_bytes = element_bytes});
}

cudaError_t kernels_nothing(cudaStream_t stream)
{
    static unsigned char nowhere;
    return push(stream, (struct operation){.kind = COPY, .to = &nowhere, .from = &nowhere});
}

/* Work that is laid out from here on goes to the graph. All earlier work has run. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    run_all();
    fake.is_capturing = true;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream;
    *graph = calloc(1, sizeof **graph);
    cr_assert_not_null(*graph);
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        if (fake.streams[i] != NULL) {
            struct CUstream_st *from = fake.streams[i];
            size_t count = from->count - from->done;
            struct operation *copies = calloc(count + 1, sizeof *copies);
            cr_assert_not_null(copies);
            if (count > 0) {
                memcpy(copies, from->operations + from->done, count * sizeof *copies);
            }
            (*graph)->copies[i] = (struct CUstream_st){.operations = copies, .count = count};
            from->count = from->done;
        }
    }
    fake.is_capturing = false;
    fake.alive++;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          unsigned long long flags)
{
    (void)flags;
    *executable = (cudaGraphExec_t)(void *)graph;
    fake.alive++;
    return cudaSuccess;
}

/* Events within a graph begin anew with each launch. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const struct CUgraph_st *graph = (const struct CUgraph_st *)(void *)executable;
    int current = fake.current;
    (void)stream;
    run_all();
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        const struct CUstream_st *copies = &graph->copies[i];
        for (size_t j = 0; j < copies->count; j++) {
            if (copies->operations[j].kind == RECORD) {
                copies->operations[j].event->reached = 0;
            }
            fake.current = fake.streams[i]->device;
            cr_assert_eq(push(fake.streams[i], copies->operations[j]), cudaSuccess);
        }
    }
    fake.current = current;
    run_all();
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    (void)executable;
    fake.alive--;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        free(graph->copies[i].operations);
    }
    free(graph);
    fake.alive--;
    return cudaSuccess;
}

/* --- devices and errors; pairs of devices are linked by NVLink ---------------------------- */

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    *can_access = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)peer;
    (void)flags;
    return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    *value = attribute == cudaDevP2PAttrAccessSupported || (from / 2 == to / 2);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorInvalidResourceHandle ? "invalid resource handle" : "an error";
}

const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorInvalidResourceHandle ? "cudaErrorInvalidResourceHandle" : "cudaError";
}
