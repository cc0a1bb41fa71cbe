#include "cuda_kernels.h"

#include <sched.h>
#include <time.h>

#include "cuda_share.h"

static const int THREADS = 512;
static const uint64_t BLOCKS_MAX = 2048;

/* --- flags and the clock, on a GPU and, for tests, on a processor -------------------------- */

__device__ static inline uint32_t read_flag(const uint32_t *flag)
{
#ifdef __CUDA_ARCH__
    uint32_t value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
#else
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
#endif
}

__device__ static inline void write_flag(uint32_t *flag, uint32_t value)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
#else
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
#endif
}

__device__ static inline uint64_t read_clock_ns(void)
{
#ifdef __CUDA_ARCH__
    uint64_t now_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns) : : "memory");
    return now_ns;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/* Lets whoever is waited for go on, where that needs the same processor. */
__device__ static inline void pause_thread(uint32_t pauses)
{
#ifndef __CUDA_ARCH__
    const struct timespec nap = {0, 20000};
    pauses % 32 == 31 ? nanosleep(&nap, NULL) : sched_yield();
#else
    (void)pauses;
#endif
}

/* --- lanes --------------------------------------------------------------------------------- */

/* Waits until a block of a rank is as far as `value`. If that takes too long, the result says for
 * whom it waited, and the return value is false. */
__device__ static bool await_flag(const struct kernel_lane *lane, uint32_t rank, uint32_t block,
                                  uint32_t value, uint64_t timeout_ns, uint64_t *result)
{
    const uint32_t *flag = lane->flags[lane->rank] + rank * KERNEL_BLOCKS_MAX + block;
    uint64_t begin_ns = read_clock_ns();
    for (uint32_t looks = 0; (int32_t)(read_flag(flag) - value) < 0; looks++) {
        if (read_clock_ns() - begin_ns > timeout_ns) {
            *result = KERNEL_STUCK + rank;
            return false;
        }
        pause_thread(looks);
    }
    return true;
}

__device__ static void tell_rank(const struct kernel_lane *lane, uint32_t rank, uint32_t block,
                                 uint32_t value)
{
    write_flag(lane->flags[rank] + lane->rank * KERNEL_BLOCKS_MAX + block, value);
}

/* Waits until all blocks of all lanes have come here; false for all threads of a block if one of
 * them waited in vain. */
__device__ static bool meet_lanes(const struct kernel_lane *lane, uint32_t block, uint32_t blocks,
                                  uint32_t value, uint64_t timeout_ns, uint64_t *result)
{
    bool is_stuck = false;
    for (uint32_t rank = threadIdx.x; rank < lane->ranks; rank += blockDim.x) {
        tell_rank(lane, rank, block, value);
    }
    for (uint32_t k = threadIdx.x; k < lane->ranks * blocks && !is_stuck; k += blockDim.x) {
        is_stuck = !await_flag(lane, k / blocks, k % blocks, value, timeout_ns, result);
    }
    return !__syncthreads_or(is_stuck);
}

/* A group of `blocks` blocks for each lane. The flags of an iteration count from its base: 1 when a
 * block has begun it, 1 more for each operation. A kernel ends when all lanes have done all, for
 * then its process may change memory that lanes of other processes read. */
template <typename Element, typename Vector>
__global__ static void execute(const struct kernel_lane *lanes, uint32_t blocks, uint32_t first,
                               uint32_t iterations, uint64_t timeout_ns)
{
    const struct kernel_lane *lane = lanes + blockIdx.x / blocks;
    const uint32_t block = blockIdx.x % blocks, thread = threadIdx.x, threads = blockDim.x;
    uint64_t *result = lane->results + block, spent_ns = 0;
    for (uint32_t i = 0; i < iterations; i++) {
        const uint32_t base = (first + i) * lane->stride + 1;
        bool is_stuck = false;
        if (!meet_lanes(lane, block, blocks, base, timeout_ns, result)) {
            return;
        }
        uint64_t begin_ns = read_clock_ns();
        for (uint32_t index = 0; index < lane->ops_count; index++) {
            const struct kernel_op *op = &lane->ops[index];
            for (uint32_t k = thread; k < op->waits_count * blocks && !is_stuck; k += threads) {
                const struct kernel_wait *wait = &op->waits[k / blocks];
                is_stuck = !await_flag(lane, wait->rank, k % blocks, base + wait->done, timeout_ns,
                                       result);
            }
            if (__syncthreads_or(is_stuck)) {
                return;
            }
            const uint64_t number = (uint64_t)block * threads + thread;
            const uint64_t stride = (uint64_t)blocks * threads;
            if (op->sums) {
                share_run<Element, Vector, true>(op->to, op->from, op->count, number, stride);
            } else {
                share_run<Element, Vector, false>(op->to, op->from, op->count, number, stride);
            }
            __syncthreads();
            for (uint32_t rank = thread; rank < lane->ranks; rank += threads) {
                if (lane->listeners >> rank & 1) {
                    tell_rank(lane, rank, block, base + index + 1);
                }
            }
        }
        __syncthreads();
        spent_ns += read_clock_ns() - begin_ns;
    }
    const uint32_t end = (first + iterations) * lane->stride;
    if (meet_lanes(lane, block, blocks, end, timeout_ns, result) && thread == 0) {
        *result = spent_ns;
    }
}

/* --- launches ------------------------------------------------------------------------------ */

static unsigned threads_of_block(void)
{
    int device, threads_max;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&threads_max, cudaDevAttrMaxThreadsPerBlock, device);
    return (unsigned)(THREADS < threads_max ? THREADS : threads_max);
}

extern "C" cudaError_t kernels_capacity(uint32_t *processors_count, uint32_t *blocks)
{
    int device, processors = 0, blocks_each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks_each, (const void *)execute<__half, struct share_halves>, (int)threads_of_block(),
        0);
    *processors_count = (uint32_t)processors;
    *blocks = (uint32_t)(processors * blocks_each);
    return code;
}

extern "C" cudaError_t kernels_execute(const struct kernel_lane *lanes, uint32_t lanes_count,
                                       uint32_t blocks, uint32_t element_bytes, uint32_t first,
                                       uint32_t iterations, double timeout_s, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(lanes_count * blocks);
    config.blockDim = dim3(threads_of_block());
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config,
                              element_bytes == sizeof(float) ? execute<float, float4>
                                                             : execute<__half, struct share_halves>,
                              lanes, blocks, first, iterations, (uint64_t)(1e9 * timeout_s));
}

template <typename Element, typename Vector>
__global__ static void reduce(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    share_run<Element, Vector, true>(sum, addend, count,
                                     (uint64_t)blockIdx.x * blockDim.x + threadIdx.x,
                                     (uint64_t)gridDim.x * blockDim.x);
}

template <typename Bits>
__global__ static void compare(const unsigned char *found, const unsigned char *expected,
                               uint64_t count, uint32_t *differs)
{
    const Bits *is = (const Bits *)found, *should_be = (const Bits *)expected;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        if (should_be[i] != (Bits)~0u && is[i] != should_be[i]) {
            *differs = 1;
        }
    }
}

/* Enough threads for so many items. */
static cudaLaunchConfig_t launch_for(uint64_t items, cudaStream_t stream)
{
    const unsigned threads = threads_of_block();
    const uint64_t blocks = (items + threads) / threads;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX));
    config.blockDim = dim3(threads);
    config.stream = stream;
    return config;
}

extern "C" cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum,
                                      const unsigned char *addend, uint64_t count,
                                      cudaStream_t stream)
{
    if (count == 0) {
        return cudaSuccess;
    }
    cudaLaunchConfig_t config = launch_for(count * element_bytes / SHARE_VECTOR_BYTES, stream);
    return cudaLaunchKernelEx(&config,
                              element_bytes == sizeof(float) ? reduce<float, float4>
                                                             : reduce<__half, struct share_halves>,
                              sum, addend, count);
}

extern "C" cudaError_t kernels_compare(uint32_t element_bytes, const unsigned char *found,
                                       const unsigned char *expected, uint64_t count,
                                       uint32_t *differs, cudaStream_t stream)
{
    cudaLaunchConfig_t config = launch_for(count, stream);
    return cudaLaunchKernelEx(
        &config, element_bytes == sizeof(float) ? compare<uint32_t> : compare<uint16_t>, found,
        expected, count, differs);
}
