/** \file test_fake_cuda.h
 * A CUDA runtime without a GPU, for tests of what the host lays out: "devices" are host memory, and
 * streams are queues. Nothing runs until somebody waits or asks; then the heads of the queues run
 * in random order, as far as events allow. So a missing event shows as a wrong sum, sooner or
 * later. As in CUDA, work must be given to a stream of the current device, and an event be recorded
 * on its own device.
 */
#ifndef AR_VALIDATE_TEST_FAKE_CUDA_H
#define AR_VALIDATE_TEST_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

/** Begins anew with so many devices and another order. */
void fake_cuda_start(int devices, uint64_t seed);

/** Waits for events are forgotten: what the schedule would be without them. */
void fake_cuda_ignore_waits(bool ignores);

/** The sum of the kernels, run by so many threads in turn (test_kernels_host.cpp). The fake runs it
 * in place of a launch. */
void kernels_reduce_on_host(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                            uint64_t count, uint64_t threads);

/** Streams, events, allocations and graphs that have not been destroyed. */
int fake_cuda_leaks(void);

/** Bytes copied between devices. */
uint64_t fake_cuda_peer_bytes(void);

#endif
