#include "cuda_schedule.h"

#include "crew.h"
#include "cuda_device.h"
#include "cuda_kernels.h"

enum { ROUND_TRIPS = 100, LAUNCHES = 1000, ENDS = 2 };

/* One end: a buffer on a GPU, and a stream with an event that tells the other end. */
struct end {
    int device;
    unsigned char *buffer;
    cudaStream_t stream;
    cudaEvent_t sent;
};

/* Both ends of a probe, which may be on one GPU; the first one keeps the time. */
struct prober {
    struct crew crew;
    const struct measurement *measurement;
    struct end ends[ENDS];
    cudaEvent_t begin;
    cudaEvent_t finish;
};

static enum ar_status make_end(struct ar_arena *arena, size_t bytes, struct end *end,
                               struct ar_error *err)
{
    CUDA_TRY(cudaSetDevice, end->device);
    AR_TRY(cuda_allocate(arena, bytes, &end->buffer, err));
    CUDA_TRY(cudaMemset, end->buffer, 0, bytes);
    AR_TRY(cuda_make_stream(arena, &end->stream, err));
    return cuda_make_event(arena, false, &end->sent, err);
}

/* Copies from one end to the other; the other end's stream goes on when it is there. */
static enum ar_status pass(struct end *from, struct end *to, size_t bytes, struct ar_error *err)
{
    CUDA_TRY(cudaSetDevice, from->device);
    if (from->device == to->device) {
        CUDA_TRY(cudaMemcpyAsync, to->buffer, from->buffer, bytes, cudaMemcpyDeviceToDevice,
                 from->stream);
    } else {
        CUDA_TRY(cudaMemcpyPeerAsync, to->buffer, to->device, from->buffer, from->device, bytes,
                 from->stream);
    }
    CUDA_TRY(cudaEventRecord, from->sent, from->stream);
    return cuda_check(cudaStreamWaitEvent(to->stream, from->sent, 0), "cudaStreamWaitEvent", err);
}

static enum ar_status perform_latency(struct prober *prober, struct ar_error *err)
{
    size_t bytes = measurement_bytes(prober->measurement);
    for (uint32_t i = 0; i < 2 * ROUND_TRIPS; i++) {
        AR_TRY(pass(&prober->ends[i % 2], &prober->ends[1 - i % 2], bytes, err));
    }
    return AR_OK;
}

static enum ar_status perform_launches(struct prober *prober, struct ar_error *err)
{
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        AR_TRY(cuda_check(kernels_nothing(prober->ends[0].stream), "an empty launch", err));
    }
    return AR_OK;
}

/* Lays out what is timed; `times` says how often it is what the row is about. */
static enum ar_status perform(struct prober *prober, double *times, struct ar_error *err)
{
    const struct measurement *measurement = prober->measurement;
    struct end *ends = prober->ends;
    size_t bytes = measurement_bytes(measurement);
    *times = 1;
    switch (measurement->probe) {
    case PROBE_LATENCY:
        *times = 2 * ROUND_TRIPS;
        return perform_latency(prober, err);
    case PROBE_BANDWIDTH:
        return pass(&ends[0], &ends[1], bytes, err);
    case PROBE_COPY:
        return cuda_check(cudaMemcpyAsync(ends[0].buffer, ends[1].buffer, bytes,
                                          cudaMemcpyDeviceToDevice, ends[0].stream),
                          "cudaMemcpyAsync", err);
    case PROBE_REDUCE:
        return cuda_check(kernels_reduce(measurement->type->bytes, ends[0].buffer, ends[1].buffer,
                                         measurement->elements, ends[0].stream),
                          "the launch of a sum", err);
    case PROBE_LAUNCH:
        *times = LAUNCHES;
        return perform_launches(prober, err);
    case PROBE_NONE:
        break;
    }
    return AR_OK;
}

/* The first end's stream waits for the last message back, so its events enclose everything. */
static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct prober *prober = (struct prober *)(void *)crew; /* its first member */
    cudaStream_t stream = prober->ends[0].stream;
    double times;
    float time_ms;
    CUDA_TRY(cudaSetDevice, prober->ends[0].device);
    CUDA_TRY(cudaEventRecord, prober->begin, stream);
    AR_TRY(perform(prober, &times, err));
    CUDA_TRY(cudaSetDevice, prober->ends[0].device);
    CUDA_TRY(cudaEventRecord, prober->finish, stream);
    AR_TRY(cuda_check(cudaEventSynchronize(prober->finish), "a probe", err));
    CUDA_TRY(cudaEventElapsedTime, &time_ms, prober->begin, prober->finish);
    *time_s = 1e-3 * (double)time_ms / times;
    return AR_OK;
}

static enum ar_status make_prober(const struct measurement *measurement, uint32_t gpus,
                                  struct ar_arena *arena, struct prober *prober,
                                  struct ar_error *err)
{
    uint32_t other = probe_is_of_link(measurement->probe) ? measurement->to : measurement->from;
    *prober = (struct prober){.crew = {.run = run}, .measurement = measurement};
    prober->ends[0].device = cuda_device_of(gpus, measurement->ranks, measurement->from);
    prober->ends[1].device = cuda_device_of(gpus, measurement->ranks, other);
    for (uint32_t i = ENDS; i-- > 0;) { /* ends on the first one's GPU */
        AR_TRY(make_end(arena, measurement_bytes(measurement), &prober->ends[i], err));
    }
    AR_TRY(cuda_make_event(arena, true, &prober->begin, err));
    return cuda_make_event(arena, true, &prober->finish, err);
}

enum ar_status cuda_probe_run(const struct run_config *config, uint32_t gpus,
                              struct ar_arena *arena, struct measurement *measurement,
                              struct ar_error *err)
{
    struct prober prober;
    AR_TRY(make_prober(measurement, gpus, arena, &prober, err));
    return crew_repeat(&prober.crew, config, NULL, arena, measurement, err);
}
