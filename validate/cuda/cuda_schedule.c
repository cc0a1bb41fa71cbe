#include "cuda_schedule.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include "ar_clock.h"
#include "cuda_schedule_parts.h"

/* Largest message: a part of a channel, rounded up; the first ones are at least as large. */
static size_t slot_capacity(const struct measurement *measurement)
{
    uint64_t max = measurement_part(measurement, measurement->channels - 1).count;
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = measurement->algorithm->phases(&measurement->shape, phases);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t share = (max + phases[i].parts - 1) / phases[i].parts;
        largest = phases[i].steps > 0 && share > largest ? share : largest;
    }
    size_t bytes = (largest + 1) * measurement->type->bytes;
    return (bytes / SLOT_ALIGNMENT + 2) * SLOT_ALIGNMENT;
}

static void destroy_ports(void *ports)
{
    ports_destroy(ports);
}

static enum ar_status make_rank(struct cuda_schedule *schedule, uint32_t gpus, uint32_t rank,
                                struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    struct ar_arena *arena = &schedule->arena;
    struct cuda_rank *made = &schedule->ranks[rank];
    made->device = cuda_device_of(gpus, measurement->ranks, rank);
    AR_TRY(ports_create(measurement, rank, &made->ports, err));
    if (ar_arena_own(arena, &made->ports, destroy_ports) == NULL) {
        return ar_error_no_memory(err, "connections");
    }
    made->links = ar_arena_alloc(arena, made->ports.count + 1, sizeof *made->links);
    if (made->links == NULL) {
        return ar_error_no_memory(err, "connections");
    }
    CUDA_TRY(cudaSetDevice, made->device);
    AR_TRY(cuda_allocate(arena, measurement_bytes(measurement), &made->buffer, err));
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        AR_TRY(cuda_make_stream(arena, &made->streams[channel], err));
        AR_TRY(cuda_make_event(arena, false, &made->done[channel], err));
    }
    return AR_OK;
}

static enum ar_status make_link(struct cuda_schedule *schedule, struct cuda_link *link,
                                struct ar_error *err)
{
    struct ar_arena *arena = &schedule->arena;
    uint32_t window = schedule->config->window;
    CUDA_TRY(cudaSetDevice, schedule->ranks[link->from].device);
    for (uint32_t i = 0; i < window; i++) {
        AR_TRY(cuda_make_event(arena, false, &link->sent[i], err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[link->to].device);
    for (uint32_t i = 0; i < window; i++) {
        AR_TRY(cuda_make_event(arena, false, &link->taken[i], err));
    }
    return cuda_allocate(arena, window * schedule->slot_bytes, &link->slots, err);
}

/* Gives every sending port a link, and the receiving port at its other end the same. */
static enum ar_status make_links(struct cuda_schedule *schedule, uint32_t from,
                                 struct ar_error *err)
{
    struct cuda_rank *sender = &schedule->ranks[from];
    for (uint32_t i = 0; i < sender->ports.count; i++) {
        struct port port = sender->ports.ports[i];
        if (!port.sends) {
            continue;
        }
        struct cuda_rank *receiver = &schedule->ranks[port.peer];
        struct port other = {.channel = port.channel, .peer = from, .sends = false};
        uint32_t index = schedule->links_count++;
        schedule->links[index] =
            (struct cuda_link){.channel = port.channel, .from = from, .to = port.peer};
        sender->links[i] = index;
        receiver->links[ports_find(&receiver->ports, other)] = index;
        AR_TRY(make_link(schedule, &schedule->links[index], err));
    }
    return AR_OK;
}

static enum ar_status make_all(struct cuda_schedule *schedule, uint32_t gpus, struct ar_error *err)
{
    uint32_t ranks = schedule->measurement->ranks;
    uint32_t ports = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_rank(schedule, gpus, rank, err));
        ports += schedule->ranks[rank].ports.count;
    }
    schedule->links = ar_arena_alloc(&schedule->arena, ports + 1, sizeof *schedule->links);
    if (schedule->links == NULL) {
        return ar_error_no_memory(err, "connections");
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_links(schedule, rank, err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    AR_TRY(cuda_make_event(&schedule->arena, false, &schedule->fork, err));
    AR_TRY(cuda_make_event(&schedule->arena, true, &schedule->begin, err));
    return cuda_make_event(&schedule->arena, true, &schedule->end, err);
}

static void destroy_graph(void *graph)
{
    cudaGraphDestroy(graph);
}

static void destroy_executable(void *executable)
{
    cudaGraphExecDestroy(executable);
}

static enum ar_status capture(struct cuda_schedule *schedule, struct ar_error *err)
{
    cudaStream_t first = schedule->ranks[0].streams[0];
    cudaGraph_t graph = NULL;
    struct ar_error later;
    CUDA_TRY(cudaStreamBeginCapture, first, cudaStreamCaptureModeThreadLocal);
    enum ar_status status = cuda_schedule_lay_out(schedule, err);
    enum ar_status ended = cuda_check(cudaStreamEndCapture(first, &graph), "cudaStreamEndCapture",
                                      status == AR_OK ? err : &later);
    if (graph != NULL && ar_arena_own(&schedule->arena, graph, destroy_graph) == NULL) {
        return ar_error_no_memory(err, "a graph");
    }
    AR_TRY(status);
    AR_TRY(ended);
    CUDA_TRY(cudaGraphInstantiateWithFlags, &schedule->executable, graph, 0);
    schedule->executable = ar_arena_own(&schedule->arena, schedule->executable, destroy_executable);
    return schedule->executable != NULL ? AR_OK : ar_error_no_memory(err, "a graph");
}

enum ar_status cuda_schedule_create(const struct measurement *measurement,
                                    const struct run_config *config, uint32_t gpus,
                                    struct cuda_schedule **schedule, struct ar_error *err)
{
    struct cuda_schedule *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "a schedule");
    }
    made->measurement = measurement;
    made->config = config;
    made->slot_bytes = slot_capacity(measurement);
    made->ranks = ar_arena_alloc(&made->arena, measurement->ranks, sizeof *made->ranks);
    enum ar_status status =
        made->ranks != NULL ? make_all(made, gpus, err) : ar_error_no_memory(err, "ranks");
    if (status == AR_OK && config->uses_graph) {
        status = capture(made, err);
    }
    if (status != AR_OK) {
        cuda_schedule_destroy(made);
        return status;
    }
    *schedule = made;
    return AR_OK;
}

void cuda_schedule_destroy(struct cuda_schedule *schedule)
{
    ar_arena_end(&schedule->arena);
    free(schedule);
}

/* In the rank's own stream, which does not wait for others, and then waited for. */
static enum ar_status move_buffer(const struct cuda_schedule *schedule, uint32_t rank,
                                  unsigned char *to, const unsigned char *from,
                                  struct ar_error *err)
{
    const struct cuda_rank *member = &schedule->ranks[rank];
    size_t bytes = measurement_bytes(schedule->measurement);
    CUDA_TRY(cudaSetDevice, member->device);
    CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, member->streams[0]);
    return cuda_check(cudaStreamSynchronize(member->streams[0]), "a copy", err);
}

enum ar_status cuda_schedule_write(struct cuda_schedule *schedule, uint32_t rank,
                                   const unsigned char *from, struct ar_error *err)
{
    return move_buffer(schedule, rank, schedule->ranks[rank].buffer, from, err);
}

enum ar_status cuda_schedule_read(struct cuda_schedule *schedule, uint32_t rank, unsigned char *to,
                                  struct ar_error *err)
{
    return move_buffer(schedule, rank, to, schedule->ranks[rank].buffer, err);
}

/* Waits for the end without blocking, so that a hang is noticed. */
static enum ar_status await_end(const struct cuda_schedule *schedule, struct ar_error *err)
{
    double until_s = ar_clock_s() + schedule->config->timeout_s;
    cudaError_t code = cudaEventQuery(schedule->end);
    while (code == cudaErrorNotReady && ar_clock_s() < until_s) {
        sched_yield();
        code = cudaEventQuery(schedule->end);
    }
    if (code == cudaErrorNotReady) {
        char text[MEASUREMENT_TEXT];
        return ar_error_set(err, AR_INTERNAL,
                            "%s: the host waited %g s for %" PRIu32
                            " ranks on the GPUs; expected them to end",
                            measurement_text(schedule->measurement, text),
                            schedule->config->timeout_s, schedule->measurement->ranks);
    }
    return cuda_check(code, "the collective", err);
}

enum ar_status cuda_schedule_run(struct cuda_schedule *schedule, double *time_s,
                                 struct ar_error *err)
{
    cudaStream_t first = schedule->ranks[0].streams[0];
    float time_ms;
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->begin, first);
    if (schedule->executable != NULL) {
        CUDA_TRY(cudaGraphLaunch, schedule->executable, first);
    } else {
        AR_TRY(cuda_schedule_lay_out(schedule, err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->end, first);
    AR_TRY(await_end(schedule, err));
    CUDA_TRY(cudaEventElapsedTime, &time_ms, schedule->begin, schedule->end);
    *time_s = 1e-3 * (double)time_ms;
    return AR_OK;
}
