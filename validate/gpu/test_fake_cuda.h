/** \file test_fake_cuda.h
 * A CUDA runtime without a GPU, for tests of what the host asks for: "devices" are host memory, and
 * all is done at once, by whichever thread asks. A device is that of the thread; a sum of memory
 * that lies on another device fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Begins anew with so many devices. */
void fake_cuda_start(int devices);

/** Sums are forgotten: the results are wrong then. */
void fake_cuda_ignore_sums(bool ignores);

/** The sum of the kernels, run by so many threads in turn (test_kernels_host.cpp). The fake runs it
 * in place of a launch. */
void kernels_reduce_on_host(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                            uint64_t count, uint64_t threads);

/** Streams, events and allocations that have not been destroyed. */
int fake_cuda_leaks(void);

/** Bytes copied between devices. */
uint64_t fake_cuda_peer_bytes(void);
