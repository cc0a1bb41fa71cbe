#include "cuda_schedule.h"

#include <inttypes.h>

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

static enum ar_status make_rank(struct cuda_schedule *schedule, uint32_t gpus, uint32_t rank,
                                struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    struct cuda_rank *made = &schedule->ranks[rank];
    made->device = cuda_device_of(gpus, measurement->ranks, rank);
    made->links = ar_arena_alloc(arena, schedule->ports[rank].count + 1, sizeof *made->links);
    if (made->links == NULL) {
        return ar_error_no_memory(err, "connections");
    }
    CUDA_TRY(cudaSetDevice, made->device);
    AR_TRY(
        cuda_allocate(arena, measurement_bytes(measurement), &schedule->crew.buffers[rank], err));
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        AR_TRY(cuda_make_stream(arena, &made->streams[channel], err));
        AR_TRY(cuda_make_event(arena, false, &made->done[channel], err));
    }
    return AR_OK;
}

static enum ar_status make_link(const struct cuda_schedule *schedule, struct cuda_link *link,
                                struct ar_arena *arena, struct ar_error *err)
{
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
                                 struct ar_arena *arena, struct ar_error *err)
{
    for (uint32_t i = 0; i < schedule->ports[from].count; i++) {
        struct port port = schedule->ports[from].ports[i];
        if (port.sends) {
            uint32_t other = ports_other_end(schedule->ports, from, i);
            uint32_t index = schedule->links_count++;
            struct cuda_link *link = &schedule->links[index];
            *link = (struct cuda_link){.channel = port.channel, .from = from, .to = port.peer};
            schedule->ranks[from].links[i] = index;
            schedule->ranks[port.peer].links[other] = index;
            AR_TRY(make_link(schedule, link, arena, err));
        }
    }
    return AR_OK;
}

static enum ar_status make_all(struct cuda_schedule *schedule, uint32_t gpus,
                               struct ar_arena *arena, struct ar_error *err)
{
    uint32_t ranks = schedule->measurement->ranks;
    uint32_t ports = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_rank(schedule, gpus, rank, arena, err));
        ports += schedule->ports[rank].count;
    }
    schedule->links = ar_arena_alloc(arena, ports + 1, sizeof *schedule->links);
    if (schedule->links == NULL) {
        return ar_error_no_memory(err, "connections");
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_links(schedule, rank, arena, err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    AR_TRY(cuda_make_event(arena, false, &schedule->fork, err));
    AR_TRY(cuda_make_event(arena, true, &schedule->begin, err));
    return cuda_make_event(arena, true, &schedule->end, err);
}

static void destroy_graph(void *graph)
{
    cudaGraphDestroy(graph);
}

static void destroy_executable(void *executable)
{
    cudaGraphExecDestroy(executable);
}

static enum ar_status capture(struct cuda_schedule *schedule, struct ar_arena *arena,
                              struct ar_error *err)
{
    cudaStream_t first = schedule->ranks[0].streams[0];
    cudaGraph_t graph = NULL;
    struct ar_error later;
    CUDA_TRY(cudaStreamBeginCapture, first, cudaStreamCaptureModeThreadLocal);
    enum ar_status status = cuda_schedule_lay_out(schedule, err);
    enum ar_status ended = cuda_check(cudaStreamEndCapture(first, &graph), "cudaStreamEndCapture",
                                      status == AR_OK ? err : &later);
    if (graph != NULL && ar_arena_own(arena, graph, destroy_graph) == NULL) {
        return ar_error_no_memory(err, "a graph");
    }
    AR_TRY(status);
    AR_TRY(ended);
    CUDA_TRY(cudaGraphInstantiateWithFlags, &schedule->executable, graph, 0);
    schedule->executable = ar_arena_own(arena, schedule->executable, destroy_executable);
    return schedule->executable != NULL ? AR_OK : ar_error_no_memory(err, "a graph");
}

static enum ar_status await_end(const struct cuda_schedule *schedule, struct ar_error *err)
{
    cudaError_t code = cuda_await(schedule->end, schedule->config->timeout_s);
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

static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct cuda_schedule *schedule = (struct cuda_schedule *)(void *)crew; /* its first member */
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

enum ar_status cuda_schedule_create(const struct measurement *measurement,
                                    const struct run_config *config, uint32_t gpus,
                                    struct ar_arena *arena, struct crew **crew,
                                    struct ar_error *err)
{
    uint32_t ranks = measurement->ranks;
    struct cuda_schedule *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct cuda_rank *members = ar_arena_alloc(arena, ranks, sizeof *members);
    unsigned char **buffers = ar_arena_alloc(arena, ranks, sizeof *buffers);
    if (made == NULL || members == NULL || buffers == NULL) {
        return ar_error_no_memory(err, "a schedule");
    }
    *made = (struct cuda_schedule){
        .crew = {.memory = &memory_device, .count = ranks, .buffers = buffers, .run = run},
        .measurement = measurement,
        .config = config,
        .ranks = members,
        .slot_bytes = slot_capacity(measurement),
    };
    AR_TRY(ports_create_all(measurement, arena, &made->ports, err));
    AR_TRY(make_all(made, gpus, arena, err));
    if (config->uses_graph) {
        AR_TRY(capture(made, arena, err));
    }
    *crew = &made->crew;
    return AR_OK;
}
