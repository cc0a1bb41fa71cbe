#include "test_cuda_runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGNMENT = 256, ALLOCATIONS_MAX = 4096, NEVER = -1, HOST = -1 };

/* The next work of a stream: `run` is called with `context`. */
struct work {
    void (*run)(struct CUstream_st *stream, void *context);
    void *context;
    struct work *next;
};

struct CUstream_st {
    int device;
    pthread_t thread;
    struct work *first, **last;
    uint64_t given, done; /* works so far */
    bool is_ending, hangs;
    pthread_cond_t has_work, is_done;
};

struct CUevent_st {
    uint64_t recorded, reached; /* records that were asked for, and that the stream came to */
    double at_s;
};

struct device {
    cudaError_t error;               /* cudaSuccess, or what it returns from now on */
    long operations, kernels;        /* so far */
    bool reads[STANDIN_DEVICES_MAX]; /* the memory of other devices */
    struct CUstream_st *null_stream;
};

struct allocation {
    unsigned char *at; /* NULL: free */
    size_t bytes;
    int device;
    unsigned char *pages; /* NULL: nothing is mapped; mappings are used again */
    size_t pages_bytes;   /* without the guard page behind them */
    int file;             /* that other processes may open, and is mapped */
    bool is_foreign;      /* the file is another process's */
};

/* One mutex guards all that is shared. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t never; /* what a kernel that hangs waits for */
    pthread_once_t once;
    int devices_count;
    bool has_peers;
    int fails, fails_at, hangs, hangs_at; /* device, and number of its operation or kernel */
    struct device devices[STANDIN_DEVICES_MAX];
    struct allocation allocations[ALLOCATIONS_MAX];
    size_t allocations_count; /* that were ever used */
    int alive;
    pthread_key_t thread_streams; /* struct CUstream_st *[STANDIN_DEVICES_MAX] */
} standin = {.mutex = PTHREAD_MUTEX_INITIALIZER,
             .never = PTHREAD_COND_INITIALIZER,
             .once = PTHREAD_ONCE_INIT};

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

static void lock(void)
{
    pthread_mutex_lock(&standin.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&standin.mutex);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Remembers an error as cudaGetLastError() wants it. */
static cudaError_t result(cudaError_t code)
{
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        last_error = code;
    }
    return code;
}

/* --- the machine -------------------------------------------------------------------------- */

static void end_stream(struct CUstream_st *stream);

static void end_thread_streams(void *streams)
{
    struct CUstream_st **all = streams;
    for (int i = 0; i < STANDIN_DEVICES_MAX; i++) {
        if (all[i] != NULL) {
            end_stream(all[i]);
        }
    }
    free(all);
}

static void read_pair(const char *name, int *device, int *operation)
{
    const char *text = getenv(name);
    *device = NEVER;
    if (text != NULL && sscanf(text, "%d:%d", device, operation) != 2) {
        fprintf(stderr, "%s: found \"%s\"; expected DEVICE:OPERATION\n", name, text);
        abort();
    }
}

static void read_environment(void)
{
    const char *devices = getenv("CUDA_STANDIN_DEVICES");
    standin.devices_count = devices != NULL ? atoi(devices) : 2;
    standin.has_peers = true;
    read_pair("CUDA_STANDIN_FAIL", &standin.fails, &standin.fails_at);
    read_pair("CUDA_STANDIN_HANG", &standin.hangs, &standin.hangs_at);
    pthread_key_create(&standin.thread_streams, end_thread_streams);
}

static void begin(void)
{
    pthread_once(&standin.once, read_environment);
}

void standin_start(int devices, bool are_peers)
{
    begin();
    lock();
    standin.devices_count = devices;
    standin.has_peers = are_peers;
    unlock();
    current = 0;
}

int standin_alive(void)
{
    lock();
    int alive = standin.alive;
    unlock();
    return alive;
}

static void count_alive(int more)
{
    lock();
    standin.alive += more;
    unlock();
}

/* The error of the current device. */
static cudaError_t device_error(void)
{
    begin();
    lock();
    cudaError_t error = standin.devices[current].error;
    unlock();
    return result(error);
}

/* --- streams ------------------------------------------------------------------------------ */

/* Counts an operation of a device; false if it has failed. A kernel that hangs stays here. */
static bool device_works(struct CUstream_st *stream, bool is_kernel)
{
    lock();
    struct device *device = &standin.devices[stream->device];
    if (stream->device == standin.fails && device->operations == standin.fails_at) {
        device->error = cudaErrorECCUncorrectable;
    }
    stream->hangs =
        is_kernel && stream->device == standin.hangs && device->kernels == standin.hangs_at;
    device->operations++;
    device->kernels += is_kernel;
    while (stream->hangs) {
        pthread_cond_wait(&standin.never, &standin.mutex);
    }
    bool works = device->error == cudaSuccess;
    unlock();
    return works;
}

static void *run_stream(void *argument)
{
    struct CUstream_st *stream = argument;
    lock();
    for (;;) {
        while (stream->first == NULL && !stream->is_ending) {
            pthread_cond_wait(&stream->has_work, &standin.mutex);
        }
        struct work *work = stream->first;
        if (work == NULL) {
            break;
        }
        unlock();
        work->run(stream, work->context);
        lock();
        stream->first = work->next;
        stream->last = stream->first == NULL ? &stream->first : stream->last;
        stream->done++;
        free(work);
        pthread_cond_broadcast(&stream->is_done);
    }
    unlock();
    return NULL;
}

static struct CUstream_st *make_stream(void)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    stream->device = current;
    stream->last = &stream->first;
    pthread_cond_init(&stream->has_work, NULL);
    pthread_cond_init(&stream->is_done, NULL);
    if (pthread_create(&stream->thread, NULL, run_stream, stream) != 0) {
        abort();
    }
    return stream;
}

/* Waits for what was asked of a stream; one that hangs is left as it is. */
static void end_stream(struct CUstream_st *stream)
{
    lock();
    bool hangs = stream->hangs;
    stream->is_ending = true;
    pthread_cond_signal(&stream->has_work);
    unlock();
    if (!hangs) {
        pthread_join(stream->thread, NULL);
        free(stream);
    }
}

/* The stream behind a handle, which may be that of the thread or of the device. */
static struct CUstream_st *find_stream(cudaStream_t handle)
{
    begin();
    if (handle != NULL && handle != cudaStreamLegacy && handle != cudaStreamPerThread) {
        return handle;
    }
    if (handle != cudaStreamPerThread) {
        lock();
        struct CUstream_st **null_stream = &standin.devices[current].null_stream;
        *null_stream = *null_stream == NULL ? make_stream() : *null_stream;
        unlock();
        return *null_stream;
    }
    struct CUstream_st **streams = pthread_getspecific(standin.thread_streams);
    if (streams == NULL) {
        streams = calloc(STANDIN_DEVICES_MAX, sizeof *streams);
        pthread_setspecific(standin.thread_streams, streams);
    }
    streams[current] = streams[current] == NULL ? make_stream() : streams[current];
    return streams[current];
}

static cudaError_t give_work(cudaStream_t handle,
                             void (*run)(struct CUstream_st *stream, void *context), void *context)
{
    struct CUstream_st *stream = find_stream(handle);
    struct work *work = malloc(sizeof *work);
    *work = (struct work){.run = run, .context = context};
    lock();
    *stream->last = work;
    stream->last = &work->next;
    stream->given++;
    pthread_cond_signal(&stream->has_work);
    cudaError_t error = standin.devices[stream->device].error;
    unlock();
    return result(error);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    (void)flags;
    *stream = NULL;
    cudaError_t error = device_error();
    if (error == cudaSuccess) {
        *stream = make_stream();
        count_alive(1);
    }
    return error;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    end_stream(stream);
    count_alive(-1);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    struct CUstream_st *stream = find_stream(handle);
    lock();
    uint64_t until = stream->given;
    while (stream->done < until) {
        pthread_cond_wait(&stream->is_done, &standin.mutex);
    }
    cudaError_t error = standin.devices[stream->device].error;
    unlock();
    return result(error);
}

/* Streams of programs here end before anyone asks for this, but for that of the device. */
cudaError_t cudaDeviceSynchronize(void)
{
    return cudaStreamSynchronize(NULL);
}

struct host_function {
    cudaHostFn_t function;
    void *data;
};

static void run_host_function(struct CUstream_st *stream, void *context)
{
    struct host_function *host = context;
    if (device_works(stream, true)) {
        host->function(host->data);
    }
    free(host);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    struct host_function *host = malloc(sizeof *host);
    *host = (struct host_function){.function = function, .data = data};
    return give_work(stream, run_host_function, host);
}

/* --- events ------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    (void)flags;
    *event = NULL;
    cudaError_t error = device_error();
    if (error == cudaSuccess) {
        *event = calloc(1, sizeof **event);
        count_alive(1);
    }
    return error;
}

/* An event that a stream has yet to come to stays, as nobody may wait for it any more. */
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    lock();
    bool is_pending = event->reached < event->recorded;
    unlock();
    if (!is_pending) {
        free(event);
    }
    count_alive(-1);
    return cudaSuccess;
}

static void reach_event(struct CUstream_st *stream, void *context)
{
    cudaEvent_t event = context;
    device_works(stream, false);
    lock();
    event->at_s = now_s();
    event->reached++;
    unlock();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    lock();
    event->recorded++;
    unlock();
    return give_work(stream, reach_event, event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    lock();
    bool is_reached = event->reached == event->recorded;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < standin.devices_count; i++) {
        error = standin.devices[i].error != cudaSuccess ? standin.devices[i].error : error;
    }
    unlock();
    return result(is_reached ? error : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t from, cudaEvent_t to)
{
    lock();
    *time_ms = (float)(1e3 * (to->at_s - from->at_s));
    unlock();
    return cudaSuccess;
}

/* --- memory ------------------------------------------------------------------------------- */

static struct allocation *find_allocation(const void *at)
{
    for (size_t i = 0; i < standin.allocations_count; i++) {
        struct allocation *allocation = &standin.allocations[i];
        if (allocation->at != NULL && (const unsigned char *)at >= allocation->at &&
            (const unsigned char *)at < allocation->at + allocation->bytes) {
            return allocation;
        }
    }
    return NULL;
}

/* Maps a file, or a new one for -1, with a page behind it that nobody may touch. */
static void map_pages(struct allocation *allocation, int file)
{
    size_t bytes = allocation->pages_bytes;
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
    size_t pages_bytes = (rounded + PAGE - 1) / PAGE * PAGE;
    struct allocation *found = NULL;
    lock();
    for (size_t i = 0; i <= standin.allocations_count && i < ALLOCATIONS_MAX; i++) {
        struct allocation *allocation = &standin.allocations[i];
        bool is_like = allocation->pages != NULL && allocation->pages_bytes == pages_bytes;
        if (allocation->at == NULL && (is_like ? file < 0 : allocation->pages == NULL)) {
            found = allocation;
            if (is_like) {
                break;
            }
        }
    }
    if (found == NULL) {
        abort();
    }
    if (found->pages == NULL) {
        size_t count = (size_t)(found - standin.allocations) + 1;
        standin.allocations_count =
            count > standin.allocations_count ? count : standin.allocations_count;
        found->pages_bytes = pages_bytes;
        map_pages(found, file);
    }
    found->at = found->pages + pages_bytes - rounded;
    found->bytes = bytes;
    found->device = device;
    standin.alive++;
    unlock();
    return found->at;
}

static cudaError_t allocate(void **memory, size_t bytes, int device)
{
    enum { BYTES_MAX = 1 << 30 };
    cudaError_t error = device_error();
    *memory = NULL;
    if (error != cudaSuccess || bytes > BYTES_MAX) {
        return error != cudaSuccess ? error : result(cudaErrorMemoryAllocation);
    }
    *memory = map_memory(-1, bytes, device);
    memset(*memory, 0x5a, bytes);
    return cudaSuccess;
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
    begin();
    lock();
    struct allocation *allocation = find_allocation(memory);
    bool is_there = allocation != NULL && allocation->at == memory;
    if (is_there) {
        standin.alive--;
        allocation->at = NULL;
        if (allocation->is_foreign) {
            munmap(allocation->pages, allocation->pages_bytes + PAGE);
            close(allocation->file);
            allocation->pages = NULL;
        }
    }
    unlock();
    return result(is_there ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at)
{
    begin();
    lock();
    const struct allocation *allocation = find_allocation(at);
    memset(attributes, 0, sizeof *attributes);
    attributes->device = allocation != NULL ? allocation->device : HOST;
    unlock();
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
}

struct copy {
    unsigned char *to;
    const unsigned char *from; /* NULL: `value` in each byte */
    int value;
    size_t bytes;
};

static void run_copy(struct CUstream_st *stream, void *context)
{
    struct copy *copy = context;
    if (device_works(stream, false)) {
        if (copy->from == NULL) {
            memset(copy->to, copy->value, copy->bytes);
        } else {
            memmove(copy->to, copy->from, copy->bytes);
        }
    }
    free(copy);
}

static cudaError_t give_copy(void *to, const void *from, int value, size_t bytes,
                             cudaStream_t stream)
{
    struct copy *copy = malloc(sizeof *copy);
    *copy = (struct copy){.to = to, .from = from, .value = value, .bytes = bytes};
    return give_work(stream, run_copy, copy);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (kind != cudaMemcpyDefault) {
        return result(cudaErrorInvalidMemcpyDirection);
    }
    return give_copy(to, from, 0, count, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, count, kind, NULL);
    return error != cudaSuccess ? error : cudaStreamSynchronize(NULL);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t count, cudaStream_t stream)
{
    return give_copy(memory, NULL, value, count, stream);
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
    begin();
    memset(handle, 0, sizeof *handle);
    lock();
    const struct allocation *allocation = find_allocation(memory);
    bool is_there = allocation != NULL && allocation->at == memory && allocation->device != HOST;
    if (is_there) {
        struct ipc_handle made = {.process = getpid(),
                                  .file = allocation->file,
                                  .device = allocation->device,
                                  .bytes = allocation->bytes};
        memcpy(handle, &made, sizeof made);
    }
    unlock();
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

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    return cudaFree(memory);
}

/* --- kernels ------------------------------------------------------------------------------ */

struct launch {
    dim3 grid, block;
    bool is_cooperative;
    void (*call)(void *);
    void (*end)(void *);
    void *arguments;
};

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
    unsigned count = launch->grid.x * launch->block.x;
    struct block_barrier *barriers = calloc(launch->grid.x, sizeof *barriers);
    struct lane *lanes = calloc(count, sizeof *lanes);
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
    free(barriers);
    free(lanes);
}

static void run_in_turn(const struct launch *launch)
{
    for (unsigned i = 0; i < launch->grid.x * launch->block.x; i++) {
        call_thread(launch, i);
    }
}

static void run_launch(struct CUstream_st *stream, void *context)
{
    struct launch *launch = context;
    if (device_works(stream, true)) {
        if (launch->is_cooperative) {
            run_all_at_once(launch);
        } else {
            run_in_turn(launch);
        }
    }
    launch->end(launch->arguments);
    free(launch);
}

cudaError_t standin_launch(const cudaLaunchConfig_t *config, void (*call)(void *),
                           void (*end)(void *), void *arguments)
{
    dim3 grid = config->gridDim, block = config->blockDim;
    struct launch *launch = malloc(sizeof *launch);
    *launch = (struct launch){
        .grid = grid, .block = block, .call = call, .end = end, .arguments = arguments};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        launch->is_cooperative =
            launch->is_cooperative || (config->attrs[i].id == cudaLaunchAttributeCooperative &&
                                       config->attrs[i].val.cooperative != 0);
    }
    bool is_flat = grid.y * grid.z * block.y * block.z == 1 && grid.x > 0 && block.x > 0;
    bool is_large = launch->is_cooperative && grid.x > STANDIN_SMS * STANDIN_BLOCKS_OF_SM;
    if (!is_flat || block.x > STANDIN_BLOCK_THREADS_MAX || is_large) {
        end(arguments);
        free(launch);
        return result(is_large ? cudaErrorCooperativeLaunchTooLarge
                               : cudaErrorInvalidConfiguration);
    }
    return give_work(config->stream, run_launch, launch);
}

/* --- devices ------------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int *count)
{
    begin();
    *count = standin.devices_count;
    return result(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    begin();
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
    begin();
    *can_access = standin.has_peers && device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    begin();
    if (!standin.has_peers || peer == current) {
        return result(cudaErrorInvalidDevice);
    }
    lock();
    bool is_again = standin.devices[current].reads[peer];
    standin.devices[current].reads[peer] = true;
    unlock();
    return result(is_again ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

/* Pairs of devices are linked by NVLink. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    begin();
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
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "stand-in of threads");
    properties->multiProcessorCount = STANDIN_SMS;
    properties->maxThreadsPerBlock = STANDIN_BLOCK_THREADS_MAX;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorECCUncorrectable   ? "uncorrectable ECC error encountered"
           : code == cudaErrorMemoryAllocation ? "out of memory"
           : code == cudaErrorNoDevice         ? "no CUDA-capable device is detected"
           : code == cudaSuccess               ? "no error"
                                               : "an error of the stand-in";
}

const char *cudaGetErrorName(cudaError_t code)
{
    static __thread char name[32];
    snprintf(name, sizeof name, "cudaError %d", (int)code);
    return name;
}
