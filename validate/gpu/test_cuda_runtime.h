/** \file test_cuda_runtime.h
 * A CUDA runtime of threads, for tests where there is no GPU: the functions of the runtime API that
 * validate/gpu uses, with their order and their rules, on the processor.
 *
 * A stream is a thread with a queue; a device has one default stream. A kernel is compiled for the
 * processor (test_cuda_kernels.cpp) and called for each thread of its grid: one after the other,
 * or, where the launch is cooperative, by a thread of the system for each, with __syncthreads() as
 * a barrier. Memory of a device is a mapping with a guard page behind it, which other processes
 * open by its IPC handle. A device that fails returns its error from then on.
 *
 * The environment says what machine this is, so that programs can be tested as a whole:
 *
 * | variable | is | default |
 * |---|---|---|
 * | CUDA_STANDIN_DEVICES | number of devices, 0 to 16 | 2 |
 * | CUDA_STANDIN_FAIL | D:N: device D fails at its operation number N | none |
 * | CUDA_STANDIN_HANG | D:N: kernel number N of device D, or host function, never ends | none |
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STANDIN_DEVICES_MAX = 16,
    STANDIN_SMS = 2,
    STANDIN_BLOCKS_OF_SM = 16,
    STANDIN_BLOCK_THREADS_MAX = 2, /**< threads of a block */
};

/** Begins anew with so many devices, which read each other's memory or not, instead of what the
 * environment says. */
void standin_start(int devices, bool are_peers);

/** Streams, events and allocations that have not been destroyed; those of threads do not count. */
int standin_alive(void);

/** Communicators of the NCCL of test_nccl_standin.c that have not been destroyed. */
int standin_communicators(void);

/** Where in its grid the calling thread of a kernel is. */
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;

/** Launches a kernel: `call(arguments)` is its call for one thread; `end` frees the arguments. */
cudaError_t standin_launch(const cudaLaunchConfig_t *config, void (*call)(void *),
                           void (*end)(void *), void *arguments);

/** Stands for __syncthreads_or(value). */
int standin_meet(int value);

#ifdef __cplusplus
}
#endif
