#include "test_cuda_runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGNMENT = 256, NEVER = -1, HOST = -1 };

/* Bytes to copy. */
struct copy {
    unsigned char *to;
    const unsigned char *from; /* NULL: `value` in each byte */
    int value;
    size_t bytes;
};

/* A kernel, or a function of the host, which is one of one thread. */
struct launch {
    dim3 grid, block;
    bool is_cooperative;
    void (*call)(void *);
    void (*end)(void *); /* NULL: nothing to free */
    void *arguments;
};

/* The next work of a stream. */
struct work {
    enum { COPY, KERNEL, EVENT } kind;
    union {
        struct copy copy;
        struct launch launch;
        cudaEvent_t event;
    };
    struct work *next;
};

struct CUstream_st {
    int device;
    pthread_t thread;
    struct work *first, **last;
    uint64_t given, done; /* works so far */
    bool is_ending, hangs;
    pthread_cond_t changes;
};

struct CUevent_st {
    _Atomic uint64_t recorded, reached; /* as was asked for, and by the stream */
    struct timespec at;
};

struct device {
    _Atomic cudaError_t error;               /* cudaSuccess, or what it returns from now on */
    int operations, kernels;                 /* so far */
    _Atomic bool reads[STANDIN_DEVICES_MAX]; /* the memory of other devices */
    struct CUstream_st *default_stream;
};

struct allocation {
    unsigned char *at; /* NULL: free */
    size_t bytes;
    int device;
    unsigned char *pages; /* mappings are used again */
    size_t pages_bytes;   /* without the guard page behind them; 0: nothing is mapped */
    int file;             /* that other processes may open, and is mapped */
    bool is_foreign;      /* the file is another process's */
    struct allocation *next;
};

/* A device, and the number of its operation or kernel. */
struct mishap {
    int device, number;
};

/* One mutex guards what is shared by threads and not atomic. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int devices_count;
    bool has_peers;
    struct mishap fails, hangs;
    struct device devices[STANDIN_DEVICES_MAX];
    struct allocation *allocations;
    _Atomic int alive;
} standin = {.has_peers = true};

/* Declares a function that does what another does. */
#define ALIAS_OF(function) __attribute__((alias(#function)))

static __thread int current;
static __thread cudaError_t last_error;
__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
/* Where the threads of a block meet, and whether one of them came with a value, in each of three
 * meetings in turn. */
struct block_barrier {
    pthread_barrier_t barrier;
    _Atomic int any[3];
};
static __thread struct block_barrier *barrier; /* NULL: the threads of the block run in turn */
static __thread unsigned meetings;

/* Remembers an error as cudaGetLastError() wants it. */
static cudaError_t result(cudaError_t code)
{
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        last_error = code;
    }
    return code;
}

/* --- the machine -------------------------------------------------------------------------- */

static struct mishap read_mishap(const char *name)
{
    const char *text = getenv(name);
    struct mishap read = {.device = NEVER};
    if (text != NULL && sscanf(text, "%d:%d", &read.device, &read.number) != 2) {
        fprintf(stderr, "%s: found \"%s\"; expected DEVICE:OPERATION\n", name, text);
        abort();
    }
    return read;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *devices = getenv("CUDA_STANDIN_DEVICES");
    standin.devices_count = devices != NULL ? atoi(devices) : 2;
    standin.fails = read_mishap("CUDA_STANDIN_FAIL");
    standin.hangs = read_mishap("CUDA_STANDIN_HANG");
}

void standin_start(int devices, bool are_peers)
{
    standin.devices_count = devices;
    standin.has_peers = are_peers;
    current = 0;
}

int standin_alive(void)
{
    return standin.alive;
}

/* --- streams ------------------------------------------------------------------------------ */

/* Counts an operation of a device; false if it has failed. A kernel that hangs stays here. */
static bool device_works(struct CUstream_st *stream, bool is_kernel)
{
    pthread_mutex_lock(&mutex);
    struct device *device = &standin.devices[stream->device];
    if (stream->device == standin.fails.device && device->operations == standin.fails.number) {
        device->error = cudaErrorECCUncorrectable;
    }
    stream->hangs = is_kernel && stream->device == standin.hangs.device &&
                    device->kernels == standin.hangs.number;
    device->operations++;
    device->kernels += is_kernel;
    while (stream->hangs) {
        pthread_cond_wait(&stream->changes, &mutex);
    }
    bool works = device->error == cudaSuccess;
    pthread_mutex_unlock(&mutex);
    return works;
}

static void run_launch(const struct launch *launch);

static void run_work(struct CUstream_st *stream, const struct work *work)
{
    const struct copy *copy = &work->copy;
    bool works = device_works(stream, work->kind == KERNEL);
    if (work->kind == KERNEL && works) {
        run_launch(&work->launch);
    } else if (work->kind == COPY && works && copy->from != NULL) {
        memmove(copy->to, copy->from, copy->bytes);
    } else if (work->kind == COPY && works) {
        memset(copy->to, copy->value, copy->bytes);
    } else if (work->kind == EVENT) {
        clock_gettime(CLOCK_MONOTONIC, &work->event->at);
        work->event->reached++;
    }
    if (work->kind == KERNEL && work->launch.end != NULL) {
        work->launch.end(work->launch.arguments);
    }
}

static void *run_stream(void *argument)
{
    struct CUstream_st *stream = argument;
    pthread_mutex_lock(&mutex);
    while (stream->first != NULL || !stream->is_ending) {
        struct work *work = stream->first;
        if (work == NULL) {
            pthread_cond_wait(&stream->changes, &mutex);
            continue;
        }
        pthread_mutex_unlock(&mutex);
        run_work(stream, work);
        pthread_mutex_lock(&mutex);
        stream->first = work->next;
        stream->last = stream->first == NULL ? &stream->first : stream->last;
        stream->done++;
        free(work);
        pthread_cond_broadcast(&stream->changes);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static struct CUstream_st *make_stream(void)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    stream->device = current;
    stream->last = &stream->first;
    pthread_cond_init(&stream->changes, NULL);
    if (pthread_create(&stream->thread, NULL, run_stream, stream) != 0) {
        abort();
    }
    return stream;
}

/* The stream behind a handle, which may be the default stream of the device. */
static struct CUstream_st *find_stream(cudaStream_t handle)
{
    if (handle != NULL && handle != cudaStreamLegacy && handle != cudaStreamPerThread) {
        return handle;
    }
    pthread_mutex_lock(&mutex);
    struct CUstream_st **stream = &standin.devices[current].default_stream;
    *stream = *stream == NULL ? make_stream() : *stream;
    pthread_mutex_unlock(&mutex);
    return *stream;
}

static cudaError_t give_work(cudaStream_t handle, struct work given)
{
    struct CUstream_st *stream = find_stream(handle);
    struct work *work = malloc(sizeof *work);
    *work = given;
    pthread_mutex_lock(&mutex);
    *stream->last = work;
    stream->last = &work->next;
    stream->given++;
    pthread_cond_broadcast(&stream->changes);
    pthread_mutex_unlock(&mutex);
    return result(standin.devices[stream->device].error);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    (void)flags;
    cudaError_t error = result(standin.devices[current].error);
    *stream = error == cudaSuccess ? make_stream() : NULL;
    standin.alive += error == cudaSuccess;
    return error;
}

/* Waits for what was asked of the stream; one that hangs is left as it is. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&mutex);
    bool hangs = stream->hangs;
    stream->is_ending = true;
    pthread_cond_broadcast(&stream->changes);
    pthread_mutex_unlock(&mutex);
    if (!hangs) {
        pthread_join(stream->thread, NULL);
        free(stream);
    }
    standin.alive--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    struct CUstream_st *stream = find_stream(handle);
    pthread_mutex_lock(&mutex);
    uint64_t until = stream->given;
    while (stream->done < until) {
        pthread_cond_wait(&stream->changes, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return result(standin.devices[stream->device].error);
}

/* Streams of programs here end before anyone asks for this, but for that of the device. */
cudaError_t cudaDeviceSynchronize(void)
{
    return cudaStreamSynchronize(NULL);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    return give_work(stream, (struct work){.kind = KERNEL,
                                           .launch = {.grid = {1, 1, 1},
                                                      .block = {1, 1, 1},
                                                      .call = function,
                                                      .arguments = data}});
}

/* --- events ------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    (void)flags;
    cudaError_t error = result(standin.devices[current].error);
    *event = error == cudaSuccess ? calloc(1, sizeof **event) : NULL;
    standin.alive += error == cudaSuccess;
    return error;
}

/* An event that a stream has yet to come to stays, as nobody may wait for it any more. */
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (event->reached == event->recorded) {
        free(event);
    }
    standin.alive--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    event->recorded++;
    return give_work(stream, (struct work){.kind = EVENT, .event = event});
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    bool is_reached = event->reached == event->recorded;
    cudaError_t error = cudaSuccess;
    if (!is_reached) {
        usleep(20); /* callers ask again and again; threads that stand for GPUs go first */
    }
    for (int i = 0; i < standin.devices_count; i++) {
        error = standin.devices[i].error != cudaSuccess ? standin.devices[i].error : error;
    }
    return result(is_reached ? error : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t from, cudaEvent_t to)
{
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec);
    *time_ms = (float)(1e3 * seconds + 1e-6 * (double)(to->at.tv_nsec - from->at.tv_nsec));
    return cudaSuccess;
}

/* --- memory ------------------------------------------------------------------------------- */

/* NULL if it is in none. */
static struct allocation *find_allocation(const unsigned char *at)
{
    struct allocation *found = standin.allocations;
    while (found != NULL &&
           (found->at == NULL || at < found->at || at >= found->at + found->bytes)) {
        found = found->next;
    }
    return found;
}

/* Maps a file, or a new one for -1, with a page behind it that nobody may touch. */
static void map_pages(struct allocation *allocation, int file, size_t bytes)
{
    allocation->pages_bytes = bytes;
    allocation->is_foreign = file >= 0;
    allocation->file = file >= 0 ? file : memfd_create("device", MFD_CLOEXEC);
    allocation->pages = mmap(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (allocation->file < 0 || (file < 0 && ftruncate(allocation->file, (off_t)bytes) != 0) ||
        allocation->pages == MAP_FAILED ||
        mmap(allocation->pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             allocation->file, 0) == MAP_FAILED) {
        abort();
    }
}

/* Memory ends where the guard page begins, but for what alignment leaves. */
static unsigned char *map_memory(int file, size_t bytes, int device)
{
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t pages_bytes = (rounded + PAGE - 1) / PAGE * PAGE, wanted = file < 0 ? pages_bytes : 0;
    pthread_mutex_lock(&mutex);
    struct allocation *found = standin.allocations;
    while (found != NULL && (found->at != NULL || found->pages_bytes != wanted)) {
        found = found->next;
    }
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        found->next = standin.allocations;
        standin.allocations = found;
    }
    if (found->pages_bytes == 0) {
        map_pages(found, file, pages_bytes);
    }
    found->at = found->pages + pages_bytes - rounded;
    found->bytes = bytes;
    found->device = device;
    standin.alive++;
    pthread_mutex_unlock(&mutex);
    return found->at;
}

static cudaError_t allocate(void **memory, size_t bytes, int device)
{
    cudaError_t error = result(standin.devices[current].error);
    *memory = NULL;
    if (error == cudaSuccess) {
        *memory = map_memory(-1, bytes, device);
        memset(*memory, 0x5a, bytes);
    }
    return error;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    return allocate(memory, size, current);
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned int flags)
{
    (void)flags;
    return allocate(memory, size, HOST);
}

cudaError_t cudaFree(void *memory)
{
    pthread_mutex_lock(&mutex);
    struct allocation *allocation = find_allocation(memory);
    bool is_there = allocation != NULL && allocation->at == memory;
    if (is_there) {
        standin.alive--;
        allocation->at = NULL;
        if (allocation->is_foreign) {
            munmap(allocation->pages, allocation->pages_bytes + PAGE);
            close(allocation->file);
            allocation->pages_bytes = 0;
        }
    }
    pthread_mutex_unlock(&mutex);
    return result(is_there ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at)
{
    pthread_mutex_lock(&mutex);
    const struct allocation *allocation = find_allocation(at);
    memset(attributes, 0, sizeof *attributes);
    attributes->device = allocation != NULL ? allocation->device : HOST;
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

ALIAS_OF(cudaFree) cudaError_t cudaFreeHost(void *memory);
ALIAS_OF(cudaFree) cudaError_t cudaIpcCloseMemHandle(void *memory);

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (kind != cudaMemcpyDefault) {
        return result(cudaErrorInvalidMemcpyDirection);
    }
    return give_work(stream,
                     (struct work){.kind = COPY, .copy = {.to = to, .from = from, .bytes = count}});
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, count, kind, NULL);
    return error != cudaSuccess ? error : cudaStreamSynchronize(NULL);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t count, cudaStream_t stream)
{
    return give_work(stream, (struct work){.kind = COPY,
                                           .copy = {.to = memory, .value = value, .bytes = count}});
}

cudaError_t cudaMemset(void *memory, int value, size_t count)
{
    return cudaMemsetAsync(memory, value, count, NULL);
}

/* --- memory of other processes ------------------------------------------------------------ */

/* The handle that other processes open: a file of this process. */
struct ipc_handle {
    pid_t process;
    int file, device;
    size_t bytes;
};

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    memset(handle, 0, sizeof *handle);
    pthread_mutex_lock(&mutex);
    const struct allocation *allocation = find_allocation(memory);
    bool is_there = allocation != NULL && allocation->at == memory && allocation->device != HOST;
    if (is_there) {
        struct ipc_handle made = {.process = getpid(),
                                  .file = allocation->file,
                                  .device = allocation->device,
                                  .bytes = allocation->bytes};
        memcpy(handle, &made, sizeof made);
    }
    pthread_mutex_unlock(&mutex);
    return result(is_there ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned int flags)
{
    struct ipc_handle other;
    char path[64];
    memcpy(&other, &handle, sizeof other);
    *memory = NULL;
    if (other.process == getpid() || flags != cudaIpcMemLazyEnablePeerAccess) {
        return result(cudaErrorInvalidValue);
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)other.process, other.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return result(cudaErrorMapBufferObjectFailed);
    }
    *memory = map_memory(file, other.bytes, other.device);
    return cudaSuccess;
}

/* --- kernels ------------------------------------------------------------------------------ */

/* A thread of a cooperative kernel. */
struct lane {
    const struct launch *launch;
    unsigned number;
    struct block_barrier *barrier;
    pthread_t thread;
};

int standin_meet(int value)
{
    if (barrier == NULL) {
        fputs("__syncthreads() in a kernel whose launch is not cooperative\n", stderr);
        abort();
    }
    unsigned meeting = meetings++;
    atomic_fetch_or(&barrier->any[meeting % 3], value);
    pthread_barrier_wait(&barrier->barrier);
    barrier->any[(meeting + 2) % 3] = 0; /* which nobody comes to before the next meeting */
    return barrier->any[meeting % 3];
}

static void call_thread(const struct launch *launch, unsigned number)
{
    blockDim = launch->block;
    gridDim = launch->grid;
    threadIdx = (uint3){.x = number % launch->block.x};
    blockIdx = (uint3){.x = number / launch->block.x};
    launch->call(launch->arguments);
}

static void *run_lane(void *argument)
{
    struct lane *lane = argument;
    barrier = lane->barrier;
    call_thread(lane->launch, lane->number);
    return NULL;
}

static void run_all_at_once(const struct launch *launch)
{
    enum { BLOCKS_MAX = STANDIN_SMS * STANDIN_BLOCKS_OF_SM };
    unsigned count = launch->grid.x * launch->block.x;
    struct block_barrier barriers[BLOCKS_MAX] = {0};
    struct lane lanes[BLOCKS_MAX * STANDIN_BLOCK_THREADS_MAX];
    for (unsigned i = 0; i < launch->grid.x; i++) {
        pthread_barrier_init(&barriers[i].barrier, NULL, launch->block.x);
    }
    for (unsigned i = 0; i < count; i++) {
        lanes[i] =
            (struct lane){.launch = launch, .number = i, .barrier = &barriers[i / launch->block.x]};
        if (pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]) != 0) {
            abort();
        }
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(lanes[i].thread, NULL);
    }
    for (unsigned i = 0; i < launch->grid.x; i++) {
        pthread_barrier_destroy(&barriers[i].barrier);
    }
}

static void run_launch(const struct launch *launch)
{
    if (launch->is_cooperative) {
        run_all_at_once(launch);
        return;
    }
    for (unsigned i = 0; i < launch->grid.x * launch->block.x; i++) {
        call_thread(launch, i);
    }
}

cudaError_t standin_launch(const cudaLaunchConfig_t *config, void (*call)(void *),
                           void (*end)(void *), void *arguments)
{
    dim3 grid = config->gridDim, block = config->blockDim;
    struct launch launch = {
        .grid = grid, .block = block, .call = call, .end = end, .arguments = arguments};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        launch.is_cooperative =
            launch.is_cooperative || (config->attrs[i].id == cudaLaunchAttributeCooperative &&
                                      config->attrs[i].val.cooperative != 0);
    }
    bool is_flat = grid.y * grid.z * block.y * block.z == 1 && grid.x > 0 && block.x > 0;
    bool is_large = launch.is_cooperative && grid.x > STANDIN_SMS * STANDIN_BLOCKS_OF_SM;
    if (!is_flat || block.x > STANDIN_BLOCK_THREADS_MAX || is_large) {
        end(arguments);
        return result(is_large ? cudaErrorCooperativeLaunchTooLarge
                               : cudaErrorInvalidConfiguration);
    }
    return give_work(config->stream, (struct work){.kind = KERNEL, .launch = launch});
}

/* --- devices ------------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = standin.devices_count;
    return result(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= standin.devices_count) {
        return result(cudaErrorInvalidDevice);
    }
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    *can_access = standin.has_peers && device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    if (!standin.has_peers || peer == current) {
        return result(cudaErrorInvalidDevice);
    }
    bool is_again = atomic_exchange(&standin.devices[current].reads[peer], true);
    return result(is_again ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

/* Pairs of devices are linked by NVLink. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    *value =
        standin.has_peers && (attribute == cudaDevP2PAttrAccessSupported || from / 2 == to / 2);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrMultiProcessorCount  ? STANDIN_SMS
             : attribute == cudaDevAttrMaxThreadsPerBlock ? STANDIN_BLOCK_THREADS_MAX
                                                          : 1;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t shared_bytes)
{
    (void)kernel;
    (void)shared_bytes;
    *blocks = threads <= STANDIN_BLOCK_THREADS_MAX ? STANDIN_BLOCKS_OF_SM : 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    *properties = (struct cudaDeviceProp){.name = "stand-in of threads",
                                          .multiProcessorCount = STANDIN_SMS,
                                          .maxThreadsPerBlock = STANDIN_BLOCK_THREADS_MAX};
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

ALIAS_OF(cudaDriverGetVersion) cudaError_t cudaRuntimeGetVersion(int *version);

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorECCUncorrectable ? "uncorrectable ECC error encountered"
           : code == cudaErrorNoDevice       ? "no CUDA-capable device is detected"
                                             : "an error of the stand-in";
}

const char *cudaGetErrorName(cudaError_t code)
{
    static __thread char name[32];
    snprintf(name, sizeof name, "cudaError %d", (int)code);
    return name;
}
