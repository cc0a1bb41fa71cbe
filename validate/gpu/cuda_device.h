/** ile cuda_device.h
 * GPUs of this process: which there are, and one place that turns CUDA's codes into errors.
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_error.h"

/** AR_OK, or AR_INTERNAL (AR_NO_MEMORY) with what CUDA says about `call`. */
enum ar_status cuda_check(cudaError_t code, const char *call, struct ar_error *err);

/** Calls a function of CUDA, and leaves the function that calls it with its error. */
#define CUDA_TRY(function, ...) AR_TRY(cuda_check(function(__VA_ARGS__), #function, err))

/** Make memory (at least a byte), streams, events on the current GPU; they end with the arena. */
enum ar_status cuda_allocate(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                             struct ar_error *err);
enum ar_status cuda_make_stream(struct ar_arena *arena, cudaStream_t *stream, struct ar_error *err);
enum ar_status cuda_make_event(struct ar_arena *arena, cudaEvent_t *event, struct ar_error *err);

/** Waits for an event and notices a hang: cudaErrorNotReady after `timeout_s`. */
cudaError_t cuda_await(cudaEvent_t event, double timeout_s);

/** Counts the GPUs; AR_UNAVAILABLE if there is none, or no driver. */
enum ar_status cuda_count(uint32_t *gpus, struct ar_error *err);

/** Writes GPUs, driver and runtime as lines "# key: value". */
void cuda_describe(FILE *file, uint32_t gpus);
